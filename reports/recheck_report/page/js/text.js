// the report's sentences are Markdown: its inline forms become elements, all else is text

const INLINE = /`([^`]*)`|\*\*((?:[^*\\]|\\.|\*(?!\*))+)\*\*|\*([^*\s](?:[^*\\]|\\.)*)\*|\[((?:[^[\]\\]|\\.)*)\]\(([^)\s]*)\)|(<br>)|<a id="[^"]*"><\/a>|&(amp|lt|gt|#64);|\\([^a-zA-Z0-9\s])/g;
// what signs behind a number or a name mean, told where a pointer rests on them
const SIGNS = {
  "ᵉ": "By the far ends of two intervals: the two have too few rounds in common to be paired.",
  "≈": "No significant difference, after correction for the number of comparisons.",
  "±": "The larger half of the 95 % interval of the median.",
  "§": "Split inputs on tensor cores: not IEEE fp32, within a bound of its own.",
  "†": "Not fp32-accurate: it rounds its inputs.",
  "‡": "Another problem with these bytes: no equal of the rest.",
};
const ENTITIES = { amp: "&", lt: "<", gt: ">", "#64": "@" };

// nodes for one cell or sentence; `bare`: without links, for what is a control itself
function rich(text, bare = false) {
  const found = [];
  let last = 0;
  for (const match of text.matchAll(INLINE)) {
    if (match.index > last) found.push(...signed(text.slice(last, match.index)));
    found.push(...inline(match, bare));
    last = match.index + match[0].length;
  }
  if (last < text.length) found.push(...signed(text.slice(last)));
  return found;
}

// text whose signs say what they mean
function signed(text) {
  return text.split(/([ᵉ≈±§†‡])/).filter(Boolean).map((part) => (SIGNS[part] ? el("abbr", { title: SIGNS[part] }, part) : part));
}

function inline([, verbatim, strong, emphasis, label, target, newline, entity, escaped], bare) {
  if (verbatim !== undefined) return [named(verbatim.replaceAll("\\|", "|"), bare)];
  if (strong !== undefined) return [el("strong", {}, rich(strong, bare))];
  if (emphasis !== undefined) return [el("em", {}, rich(emphasis, bare))];
  if (label !== undefined) return bare ? rich(label, bare) : linked(label, target);
  if (newline) return [el("br")];
  if (entity) return [ENTITIES[entity]];
  return escaped ? [escaped] : [];
}

// the Markdown's places within the page; other links are their text
function linked(label, target) {
  const place = target.split("#")[1] ?? "";
  const known = /^(claim|erratum)-/.test(place) ? place : /^method|#without-a-time$/.test(target) && "view=evidence";
  // a link in a link there is none
  const inner = rich(label, Boolean(known));
  return known ? [el("a", { href: `#${known}` }, inner)] : inner;
}

// code that is a case's id leads to its samples
function named(text, bare) {
  return code(text, !bare && BY_ID.has(text) ? hrefOfCase(text) : null);
}

// the same without its forms, for searching
function plain(text) {
  return text.replace(INLINE, (...match) => {
    const [, verbatim, strong, emphasis, label, , newline, entity, escaped] = match;
    if (verbatim !== undefined) return verbatim.replaceAll("\\|", "|");
    const inner = strong ?? emphasis ?? label;
    if (inner !== undefined) return plain(inner);
    return newline ? "; " : entity ? ENTITIES[entity] : (escaped ?? "");
  });
}

// a web address in a text of the collection becomes a link; no other scheme does
function withAddresses(text) {
  return text.split(/(https?:\/\/[^\s,;)>\]]+)/).map((part, at) =>
    at % 2 ? el("a", { href: part, rel: "noreferrer noopener" }, part) : part,
  );
}
