// elements, made without markup: strings of a record only ever become text

function fill(node, attributes, children) {
  for (const [name, value] of Object.entries(attributes ?? {})) {
    if (value === null || value === undefined || value === false) continue;
    if (name.startsWith("on")) node.addEventListener(name.slice(2), value);
    else node.setAttribute(name, value === true ? "" : value);
  }
  node.append(...children.flat(3).filter((each) => each !== null && each !== undefined && each !== false));
  return node;
}

function add(node, ...children) {
  return fill(node, null, children);
}

function el(name, attributes, ...children) {
  return fill(document.createElement(name), attributes, children);
}

function code(text) {
  return el("code", {}, text);
}

// a labelled <select>; `options` are [value, text], and `changed` gets the chosen value
function select(id, label, options, value, changed) {
  const chosen = el(
    "select",
    { id, onchange: (event) => changed(event.target.value) },
    options.map(([each, text]) => {
      const option = el("option", { value: each }, text);
      option.selected = each === value;
      return option;
    }),
  );
  return el("label", { class: "field", for: id }, el("span", {}, label), chosen);
}

function button(text, pressed, attributes = {}) {
  return el("button", { type: "button", ...attributes, onclick: pressed }, text);
}

// text whose signs say what they mean where a pointer rests on them
function signed(text) {
  return text.split(/([ᵉ≈±§†‡])/).filter(Boolean).map((part) => (DATA.marks[part] ? el("abbr", { title: DATA.marks[part] }, part) : part));
}

function controls(...children) {
  return el("form", { class: "controls", onsubmit: (event) => event.preventDefault() }, ...children);
}

function section(heading, ...children) {
  return el("section", {}, el("h2", {}, heading), ...children);
}

// for screen readers, in an element that stays when a view is drawn again
function announce(text) {
  const live = document.getElementById("live");
  if (live.textContent !== text) live.textContent = text;
}
