// what the address says is shown; everything else hangs on that

let shownView = null;

function show() {
  const state = address();
  const sections = [...document.querySelectorAll("main > section")];
  const view = sections.find(({ dataset }) => dataset.view === state.view) ?? sections[0];
  const { view: name } = view.dataset;
  ABSENT.length = 0;
  if (location.hash.length > 1 && name !== state.view) ABSENT.push(`This page has no view ${state.view ?? location.hash}; this is the summary.`);
  const main = document.getElementById("main");
  const focused = document.activeElement?.id;
  for (const each of document.querySelectorAll(".made")) each.replaceChildren();
  for (const each of sections) each.hidden = each !== view;
  main.dataset.view = name;
  try {
    VIEWS[name]?.(view.querySelector(".made"), { ...state, view: name });
  } catch (problem) {
    ABSENT.push(`This view could not be shown: ${problem.message}. The others can.`);
    console.error(problem);
  }
  document.getElementById("absent").replaceChildren(...ABSENT.map((text) => el("p", { class: "warning" }, text)));
  for (const each of document.querySelectorAll("a[data-view]")) {
    if (each.dataset.view === name) each.setAttribute("aria-current", "page");
    else each.removeAttribute("aria-current");
  }
  document.title = `${name[0].toUpperCase()}${name.slice(1)} · Recheck: ${DATA.title}`;
  const moved = shownView !== null && shownView !== name;
  shownView = name;
  if (moved) {
    main.focus({ preventScroll: true });
    scrollTo(0, 0);
  } else if (focused) document.getElementById(focused)?.focus({ preventScroll: true });
  // what the address names
  const of = (kind) => state[kind] && `${kind}-${state[kind].toLowerCase()}`;
  const named = of("claim") ?? of("erratum") ?? state.section;
  const place = named && document.getElementById(named);
  place?.closest("details")?.setAttribute("open", "");
  place?.scrollIntoView();
}

function start() {
  document.querySelector(".skip").addEventListener("click", (event) => {
    // the address names a view, not a place
    event.preventDefault();
    document.getElementById("main").focus();
  });
  document.querySelectorAll("main table").forEach(adopt);
  startClaims();
  addEventListener("hashchange", show);
  show();
  document.documentElement.dataset.ready = "true";
  performance.mark("ready");
}

start();
