// one plot for all views: points with intervals, lines, limits, names at the ends of lines.
// It is drawn again at each width, so that text keeps its size; a table has the same data.

const MARKS = {
  dot: (r) => `M${-r},0a${r},${r} 0 1 0 ${2 * r},0a${r},${r} 0 1 0 ${-2 * r},0`,
  square: (r) => `M${-r},${-r}h${2 * r}v${2 * r}h${-2 * r}z`,
  triangle: (r) => `M0,${-1.2 * r}L${1.15 * r},${0.9 * r}H${-1.15 * r}z`,
  diamond: (r) => `M0,${-1.35 * r}L${1.35 * r},0L0,${1.35 * r}L${-1.35 * r},0z`,
};
const SHAPES = Object.keys(MARKS);
const LETTER = 6.6; // pixels, the width of a letter of a name at most
const LINE = 15; // pixels from name to name

// spec: {alt, caption, height, x, y, series, limits}; an axis: {label, log, low, high, ticks, text};
// a series: {name, tone, shape, line, points: [{x, y, low, high, text, go}]}; a limit: {name, level, tone}
function figure(spec) {
  const holder = el("div", { class: "plot" });
  const hint = el("p", { class: "hint", "aria-hidden": "true", hidden: true });
  let width = 0;
  new ResizeObserver(() => {
    if (Math.abs(holder.clientWidth - width) < 2) return;
    width = holder.clientWidth;
    holder.replaceChildren(picture(spec, width, hint), hint);
  }).observe(holder);
  const named = spec.series.filter((each) => each.name);
  const key = named.length > 1 ? el("ul", { class: "key" }, named.map(keyOf)) : null;
  const said = spec.caption ? el("figcaption", {}, spec.caption) : null;
  return el("figure", { class: spec.wide ? "ended" : null }, said, holder, key);
}

function keyOf(each) {
  const sign = draw("svg", { width: 18, height: 12, "aria-hidden": "true" }, markOf(each, 9, 6, 4.5));
  return el("li", {}, sign, each.name);
}

function markOf({ tone, shape = "dot" }, x, y, size) {
  return draw("path", { d: MARKS[shape](size), transform: `translate(${x.toFixed(1)},${y.toFixed(1)})`, class: `mark t${tone % 8}` });
}

// where values lie between two ends, in pixels
function scaleOf({ log, low, high }, from, to) {
  const place = log ? Math.log : Number;
  const [a, b] = [place(low), place(high)];
  return (value) => from + ((place(value) - a) / (b - a || 1)) * (to - from);
}

// the ends of an axis that hold all values, with a little room
function extent(values, { log = false, from, room = 0.04 } = {}) {
  const known = values.filter((each) => Number.isFinite(each) && (!log || each > 0));
  if (!known.length) return log ? { low: 1, high: 10, log } : { low: 0, high: 1, log };
  let low = known.reduce((a, b) => Math.min(a, b));
  let high = known.reduce((a, b) => Math.max(a, b));
  if (from !== undefined) low = Math.min(low, from);
  if (log) {
    const factor = Math.max((high / low) ** room, 1.02);
    return { low: low / factor, high: high * factor, log };
  }
  const more = room * (high - low) || 0.05 * Math.abs(high) || 1;
  return { low: low === from ? low : low - more, high: high + more, log };
}

function ticksOf({ ticks, log, low, high, text = (value) => String(+value.toPrecision(6)) }, most) {
  if (ticks) return ticks.filter(([value]) => value >= low * 0.999 && value <= high * 1.001);
  return (log ? powers(low, high, most) : steps(low, high, most)).map((value) => [value, text(value)]);
}

function steps(low, high, most) {
  const rough = (high - low) / most;
  const scale = 10 ** Math.floor(Math.log10(rough));
  const step = [1, 2, 5, 10].find((each) => each * scale >= rough) * scale;
  const found = [];
  for (let at = Math.ceil(low / step); at * step <= high * (1 + 1e-9); at++) found.push(at * step);
  return found;
}

function powers(low, high, most) {
  const found = (digits) => {
    const values = [];
    for (let power = Math.floor(Math.log10(low)); power <= Math.log10(high); power++) values.push(...digits.map((digit) => digit * 10 ** power));
    return values.filter((value) => value >= low && value <= high);
  };
  const best = [[1, 2, 5], [1, 3], [1]].map(found).find((each) => each.length > 1 && each.length <= most);
  return best ?? steps(low, high, most);
}

function picture(spec, width, hint) {
  const height = spec.height ?? Math.round(Math.min(440, Math.max(280, 0.5 * width)));
  const ended = spec.wide && width >= 600 ? spec.series.filter((each) => each.name && each.points.length) : [];
  const yTicks = ticksOf(spec.y, height / 44);
  const left = 14 + LETTER * Math.max(...yTicks.map(([, text]) => text.length), 2);
  const right = ended.length ? 22 + LETTER * Math.max(...ended.map((each) => each.name.length)) : 14;
  const box = { left, right: width - right, top: 24, bottom: height - 42 };
  const x = scaleOf(spec.x, box.left, box.right);
  const y = scaleOf(spec.y, box.bottom, box.top);
  const svg = draw(
    "svg",
    { role: "img", "aria-label": spec.alt, viewBox: `0 0 ${width} ${height}`, width, height },
    axes(spec, box, x, y, yTicks),
    spec.series.map((each) => seriesOf(each, box, x, y)),
    (spec.limits ?? []).map((each) => limitOf(each, box, y)),
    endNames(ended, box, x, y),
  );
  watch(svg, spec, x, y, hint);
  return svg;
}

function axes({ x: across, y: up }, box, x, y, yTicks) {
  const found = [draw("text", { x: 2, y: 12, class: "axis" }, up.label)];
  for (const [value, text] of yTicks) {
    const at = y(value).toFixed(1);
    found.push(draw("line", { x1: box.left, x2: box.right, y1: at, y2: at, class: "grid" }));
    found.push(draw("text", { x: box.left - 6, y: +at + 4, class: "tick end" }, text));
  }
  let free = -Infinity;
  for (const [value, text] of ticksOf(across, (box.right - box.left) / 70)) {
    const at = x(value);
    const half = (LETTER * text.length) / 2;
    found.push(draw("line", { x1: at.toFixed(1), x2: at.toFixed(1), y1: box.top, y2: box.bottom, class: "grid" }));
    // a name that would touch its neighbour is left out
    if (at - half < free) continue;
    free = at + half + 4;
    found.push(draw("text", { x: at.toFixed(1), y: box.bottom + 17, class: "tick middle" }, text));
  }
  found.push(draw("text", { x: box.right, y: box.bottom + 36, class: "axis end" }, across.label));
  return found;
}

// a limit is a level line across the plot, with its name at the right end
function limitOf({ name, level, tone }, box, y) {
  const at = y(level);
  return [
    draw("line", { x1: box.left, y1: at, x2: box.right, y2: at, class: `limit${tone ?? ""}` }),
    draw("text", { x: box.right - 4, y: at + (tone ? 14 : -5), class: "axis end" }, name),
  ];
}

function seriesOf(each, box, x, y) {
  const { tone, points } = each;
  const look = `t${tone % 8}`;
  const found = [];
  if (each.line && points.length > 1) {
    const path = points.map((p, at) => `${at ? "L" : "M"}${x(p.x).toFixed(1)},${y(p.y).toFixed(1)}`).join("");
    found.push(draw("path", { d: path, class: `line ${look}` }));
  }
  const bars = points.filter((p) => p.low !== undefined && Math.abs(y(p.low) - y(p.high)) > 2);
  if (bars.length) {
    const path = bars.map((p) => `M${x(p.x).toFixed(1)},${y(p.low).toFixed(1)}V${y(p.high).toFixed(1)}`).join("");
    found.push(draw("path", { d: path, class: `line ${look}` }));
  }
  if (each.size === 0) return found;
  if (points.length > 400) {
    // very many points are one path
    const r = each.size ?? 2;
    const path = points.map((p) => `M${(x(p.x) - r).toFixed(1)},${y(p.y).toFixed(1)}a${r},${r} 0 1 0 ${2 * r},0a${r},${r} 0 1 0 ${-2 * r},0`).join("");
    return [...found, draw("path", { d: path, class: `mark ${look}` })];
  }
  return [...found, points.map((p) => markOf(each, x(p.x), y(p.y), each.size ?? 4))];
}

// names next to the last points, moved apart so that none overlap
function endNames(ended, box, x, y) {
  const names = ended.map((each) => {
    const last = each.points[each.points.length - 1];
    return { name: each.name, tone: each.tone, from: [x(last.x), y(last.y)], at: y(last.y) };
  });
  names.sort((a, b) => a.at - b.at);
  for (let at = 1; at < names.length; at++) names[at].at = Math.max(names[at].at, names[at - 1].at + LINE);
  let free = box.bottom + 6;
  for (const each of names.reverse()) {
    each.at = Math.min(each.at, free);
    free = each.at - LINE;
  }
  return names.map(({ name, tone, from, at }) => [
    draw("path", { d: `M${from[0] + 5},${from[1]}L${box.right + 12},${at}`, class: `lead t${tone % 8}` }),
    draw("text", { x: box.right + 16, y: at + 4, class: "name" }, name),
  ]);
}

// the nearest point, next to the pointer
function watch(svg, { series }, x, y, hint) {
  const places = series.flatMap((each) => each.points.filter((p) => p.text).map((p) => [x(p.x), y(p.y), p]));
  if (!places.length) return;
  const nearest = (event) => {
    const frame = svg.getBoundingClientRect();
    const [px, py] = [event.clientX - frame.left, event.clientY - frame.top];
    let [best, least] = [null, 18];
    for (const each of places) {
      const distance = Math.hypot(each[0] - px, each[1] - py);
      if (distance < least) [best, least] = [each, distance];
    }
    return best;
  };
  svg.addEventListener("pointermove", (event) => {
    const found = nearest(event);
    hint.hidden = !found;
    svg.classList.toggle("hit", Boolean(found?.[2].go));
    if (!found) return;
    hint.textContent = found[2].text;
    const room = svg.clientWidth - hint.offsetWidth;
    hint.style.left = `${Math.max(0, Math.min(found[0] + 12, room))}px`;
    hint.style.top = `${found[1] + 12}px`;
  });
  svg.addEventListener("pointerleave", () => (hint.hidden = true));
  svg.addEventListener("click", (event) => {
    const found = nearest(event);
    if (found?.[2].go) go(found[2].go);
  });
}
