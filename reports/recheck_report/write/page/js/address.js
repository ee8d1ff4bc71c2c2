// what is shown stands in the address, so that it can be linked, and the back button works

// by name, what fills a view or filters it: (root, state), where `root` holds what scripts made
const VIEWS = {};

// `#claim=c14`, and as in the Markdown `#claim-c14` and `#erratum-e08`, are of the view of the claims
function address() {
  const written = location.hash.slice(1).replace(/^(claim|erratum)-/, "$1=");
  const state = Object.fromEntries(new URLSearchParams(written));
  if ("claim" in state || "erratum" in state) state.view ??= "claims";
  return state;
}

function hrefOf(parameters) {
  const written = (text) => encodeURIComponent(text).replaceAll("%2F", "/").replaceAll("%2C", ",");
  const known = Object.entries(parameters).filter(([, value]) => value !== "" && value !== null && value !== undefined);
  return `#${known.map(([name, value]) => `${name}=${written(value)}`).join("&")}`;
}

// shows what the parameters say; `replace`: as the same entry of the history, as for each letter
// that is typed
function go(parameters, replace = false) {
  const target = hrefOf(parameters);
  if (replace) history.replaceState(null, "", target);
  else location.hash = target;
}

// what an address says that is not there; show() tells it
const ABSENT = [];

// the state, with the first of the allowed values where it has none of them
function chosen(value, allowed, fallback = allowed[0]) {
  if (allowed.includes(value)) return value;
  if (value) ABSENT.push(`There is no ${value} here; this is ${fallback || "all"}.`);
  return fallback;
}
