// the claims and errata of the page, filtered by the address

const CLAIMS = [...document.querySelectorAll(".claims details")];
const ERRATA = [...document.querySelectorAll("#errata tbody tr")];
const FILTERS = ["document", "verdict", "kind"].map((name) => document.getElementById(name));

VIEWS.claims = (_, state) => {
  for (const each of FILTERS) {
    state[each.id] = chosen(state[each.id], [...each.options].map(({ value }) => value));
    each.value = state[each.id];
  }
  for (const name of ["claim", "erratum"]) {
    if (state[name] && !document.getElementById(`${name}-${state[name].toLowerCase()}`)) ABSENT.push(`There is no ${name} ${state[name]}.`);
  }
  const search = document.getElementById("search");
  if (document.activeElement !== search) search.value = state.search ?? "";
  filterClaims(state);
  const named = state.claim && document.getElementById(`claim-${state.claim.toLowerCase()}`);
  const shown = CLAIMS.filter((each) => !each.parentElement.hidden);
  for (const each of CLAIMS) each.open = each === named || (shown.length === 1 && each === shown[0]);
};

function filterClaims(state) {
  for (const each of CLAIMS) each.parentElement.hidden = !fits(each, state, FILTERS);
  for (const each of ERRATA) {
    each.hidden = Boolean(state.verdict || state.kind) || !fits(each, state, FILTERS.slice(0, 1));
    each.className = state.erratum && each.querySelector("a").id === `erratum-${state.erratum.toLowerCase()}` ? "chosen" : "";
  }
  const errata = document.getElementById("errata");
  if (errata) errata.hidden = ERRATA.every((each) => each.hidden);
  const shown = CLAIMS.filter((each) => !each.parentElement.hidden).length;
  const found = `${shown} of ${plural(CLAIMS.length, "claim")}`;
  document.querySelector(".count").textContent = found;
  announce(found);
}

// every word that is searched for stands somewhere in it
function fits(each, state, filters) {
  const words = (state.search ?? "").toLowerCase().split(/\s+/);
  each.words ??= each.textContent.toLowerCase();
  return filters.every(({ id }) => !state[id] || each.dataset[id] === state[id]) && words.every((word) => each.words.includes(word));
}

function startClaims() {
  if (!CLAIMS.length) return;
  const change = (more, replace) => go({ ...address(), view: "claims", claim: null, erratum: null, ...more }, replace);
  for (const each of FILTERS) each.addEventListener("change", () => change({ [each.id]: each.value }));
  const search = document.getElementById("search");
  search.addEventListener("input", () => {
    change({ search: search.value }, true);
    show();
  });
  search.form.addEventListener("submit", (event) => event.preventDefault());
  for (const each of CLAIMS) {
    each.firstElementChild.addEventListener("click", () => {
      // the address names what was opened last
      if (!each.open) go({ ...address(), view: "claims", claim: each.dataset.id }, true);
    });
  }
}
