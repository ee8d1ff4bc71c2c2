// every raw sample of a case by rounds, with another case of its shape and regime next to it

function samplesPart(now, state) {
  const { cases, base } = now;
  if (!SAMPLES.ready) return section("Samples", el("p", { class: "note" }, SAMPLES.why || "Unpacking the samples …"));
  const drawn = (each) => each !== base && each.row.arithmetic === "fp32" && now.experiment.drawn.includes(each.row.name);
  const one = now.one ?? cases.find(drawn) ?? cases[0];
  if (!one) return "";
  const others = cases.filter((each) => each !== one);
  const two = others.find((each) => each.row.name === state.with) ?? (state.with === "none" ? null : (others.find((each) => each === base) ?? null));
  const named = (each) => [each.row.name, each.row.name];
  const change = (more) => go({ view: "speed", all: state.all, measure: state.measure, case: one.id, with: state.with, ...more });
  const own = cases.includes(one) ? cases : [one, ...cases];
  const shown = [one, two].filter(Boolean);
  const part = section(
    "Samples of a case",
    controls(
      select("case", "Case", own.map(named), one.row.name, (name) => change({ case: own.find((each) => each.row.name === name).id })),
      select("with", "Next to it", [["none", "none"], ...others.map(named)], two?.row.name ?? "none", (name) => change({ with: name })),
    ),
    el("div", { class: "pair" }, shown.map((each) => casePanel(each, shown))),
  );
  part.id = "of-a-case";
  return part;
}

function casePanel(each, shown) {
  const head = el("h3", {}, code(each.id));
  if (!each.median) return el("div", { class: "panel" }, head, el("p", { class: "warning" }, `${each.status.replaceAll("_", " ")}: ${each.reason}`));
  return el("div", { class: "panel" }, head, roundsPlot(each, shown.filter((other) => other.median)), caseFacts(each));
}

// one axis for both, unless they are too far apart to share it
function timeAxis(each, shown) {
  const medians = shown.map((other) => other.median);
  const near = Math.max(...medians) < 4 * Math.min(...medians);
  const values = (near ? shown : [each]).flatMap((other) => samplesOf(other).map(({ value }) => value));
  const [low, high] = [values.reduce((a, b) => Math.min(a, b)), values.reduce((a, b) => Math.max(a, b))];
  // a tail that is far out would press all else to the floor
  const log = high > 6 * low;
  const [scale, unit] = [[1, "s"], [1e-3, "ms"], [1e-6, "µs"], [1e-9, "ns"]].find(([size]) => each.median >= 0.9995 * size) ?? [1e-9, "ns"];
  const text = (value) => String(+(value / scale).toPrecision(5));
  return { ...extent([low, high], { log }), text, label: `time, ${unit}${log ? " (log)" : ""}` };
}

function roundsPlot(each, shown) {
  const said = (round, value) => (each.samples <= 4000 ? `round ${round}: ${duration(value, 5)}` : null);
  const points = samplesOf(each).map(({ round, within, value }) => ({ x: round + 0.8 * within, y: value, text: said(round, value) }));
  return figure({
    height: 300,
    alt: `${each.id}: ${plural(each.samples, "sample")} by round; median ${duration(each.median)}`,
    x: { low: -0.3, high: points.at(-1).x + 0.5, label: "round (samples of a round in their order)" },
    y: timeAxis(each, shown),
    series: [{ name: "sample", tone: shown.indexOf(each) ? 1 : 0, size: each.samples > 1000 ? 1.6 : 2.6, points }],
    limits: [{ name: `median ${duration(each.median)}`, tone: " thin", level: each.median }],
  });
}

function caseFacts(each) {
  const facts = [
    ["median", `${duration(each.median, 4)} [${duration(each.low, 4)}, ${duration(each.high, 4)}]`],
    each.speedup && [`times as fast as ${each.base.row.name}`, signed(ratioText(each.speedup))],
    ["samples", `${each.samples} in ${plural(each.blocks, "round")}; ${each.discarded} discarded`],
    each.rate && ["rate", `${significant(each.rate)} ${EXPERIMENTS.get(each.experiment).unit}`],
    each.error !== null && ["error / bound", `${scientific(each.error)} / ${scientific(each.bound)}, ${each.error_metric}`],
    each.clock && ["SM clock held", `${(each.clock / 1e9).toFixed(3)} GHz`],
    each.watts && ["power", `${significant(each.watts)} W`],
    ["source", each.row.source],
    each.row.note && ["note", each.row.note],
    each.row.problem && ["solves", each.row.problem],
    each.id in DATA.suspects && ["suspect", DATA.suspects[each.id]],
    each.unsure && ["disturbed", each.unsure],
    ...Object.entries(DATA.counters[each.id]?.values ?? {}).map(([name, value]) => [name.includes("__") ? name : name.replaceAll("_", " "), value.toLocaleString("en")]),
  ].filter(Boolean);
  return el("dl", { class: "facts" }, facts.map(([name, value]) => el("div", {}, el("dt", {}, name), el("dd", {}, value))));
}
