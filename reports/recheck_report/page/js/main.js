// what the address says is shown; everything else hangs on that

let shownView = null;

function show() {
  const state = address();
  const view = VIEWS.find((each) => each.name === state.view) ?? VIEWS[0];
  ABSENT.length = 0;
  if (location.hash.length > 1 && view.name !== state.view) ABSENT.push(`This page has no view ${state.view ?? location.hash}; this is the summary.`);
  const main = document.getElementById("main");
  const focused = document.activeElement?.id;
  main.replaceChildren();
  main.dataset.view = view.name;
  try {
    view.show(main, { ...state, view: view.name });
    main.prepend(...ABSENT.map((text) => el("p", { class: "warning" }, text)));
  } catch (problem) {
    main.replaceChildren(el("p", { class: "warning" }, `This view could not be shown: ${problem.message}. The others can.`));
    console.error(problem);
  }
  document.title = `${view.title} · Recheck: ${DATA.title}`;
  for (const each of document.querySelectorAll("a[data-view]")) {
    if (each.dataset.view === view.name) each.setAttribute("aria-current", "page");
    else each.removeAttribute("aria-current");
  }
  const moved = shownView !== null && shownView !== view.name;
  shownView = view.name;
  if (moved) {
    main.focus({ preventScroll: true });
    scrollTo(0, 0);
  } else if (focused) document.getElementById(focused)?.focus({ preventScroll: true });
  // what the address names, once the plots above it have their heights
  const named = state.claim ?? state.erratum ?? (state.case && "of-a-case");
  if (named) requestAnimationFrame(() => requestAnimationFrame(() => document.getElementById(named)?.scrollIntoView()));
}

function start() {
  const nav = document.getElementById("views");
  nav.append(...VIEWS.filter((each) => !each.aside).map(({ name, title }) => el("li", {}, el("a", { href: hrefOf({ view: name }), "data-view": name }, title))));
  document.querySelector(".skip").addEventListener("click", (event) => {
    // the address names a view, not a place
    event.preventDefault();
    document.getElementById("main").focus();
  });
  document.getElementById("origin").textContent = `Made by Recheck from one record; all of it is in this file. ${plural(CASES.length, "case")}, ${plural(DATA.claims.length, "claim")}.`;
  addEventListener("hashchange", show);
  show();
  loadSamples().then(() => {
    if (shownView === "speed") show();
    document.documentElement.dataset.ready = "true";
    performance.mark("ready");
  });
}

start();
