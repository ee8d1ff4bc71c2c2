// what is shown stands in the address, so that it can be linked, and the back button works

const VIEWS = [];

function address() {
  return Object.fromEntries(new URLSearchParams(location.hash.slice(1)));
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
  if (!replace) {
    location.hash = target;
    return;
  }
  history.replaceState(null, "", target);
}

function hrefOfCase(id) {
  return hrefOf({ view: "speed", case: id });
}

// the state, with the first of the allowed values where it has none of them
function chosen(value, allowed, fallback = allowed[0]) {
  return allowed.includes(value) ? value : fallback;
}
