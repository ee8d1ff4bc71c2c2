// every raw sample of any case: by rounds, and how they are distributed; two cases side by side

VIEWS.push({ name: "samples", title: "Samples", samples: true, show: showSamples });

function showSamples(root, state) {
  const timed = CASES.filter((each) => each.median);
  add(root, el("h1", {}, "Samples"));
  if (!SAMPLES.ready) {
    add(root, el("p", { class: "note" }, SAMPLES.why || "Unpacking the samples …"));
    return;
  }
  if (!timed.length) {
    add(root, el("p", {}, "No case has a time."));
    return;
  }
  const one = BY_ID.get(state.case) ?? firstCase(timed);
  const two = BY_ID.get(state.with) ?? null;
  const change = (more) => go({ view: "samples", case: one.id, with: two?.id, ...more });
  add(
    root,
    caseChoice("case", "Case", one, (id) => change({ case: id })),
    two ? caseChoice("with", "Beside it", two, (id) => change({ with: id })) : button("Set another case beside it", () => change({ with: rivalOf(one).id }), { id: "beside", class: "after" }),
    two ? button("Show one case", () => change({ with: null }), { id: "alone", class: "quiet after" }) : "",
  );
  const both = [one, two].filter(Boolean);
  const sentence = two?.median && one.median ? pairSentence(one, two) : null;
  if (sentence) {
    add(root, sentence);
    announce(sentence.textContent);
  }
  const measured = both.filter((each) => each.median);
  add(
    root,
    el("div", { class: "pair" }, both.map((each) => casePanel(each, measured))),
    measured.length ? distribution(measured) : "",
    rawTable(measured),
    caseTable(state),
  );
}

function firstCase(timed) {
  const ranking = rankingOf({});
  return ranking?.rivals.find((each) => each.row.arithmetic === "fp32") ?? timed[0];
}

// what a reader most likely sets beside a case: the baseline, else the next
function rivalOf(one) {
  const { cases = [], base } = rankingOf({ experiment: one.experiment, shape: one.shape, regime: one.regime }) ?? {};
  const alike = cases.filter((each) => each.shape === one.shape && each.regime === one.regime && each !== one);
  return (base !== one && alike.includes(base) ? base : alike[0]) ?? CASES.find((each) => each.median && each !== one) ?? one;
}

// four lists, each of what the record has at the choice of those before it
function caseChoice(id, label, each, changed) {
  const { experiment, shape, regime, row } = each;
  const own = CASES.filter((other) => other.experiment === experiment);
  const nearest = (fits) => {
    const found = CASES.filter(fits);
    const like = (other) => 4 * (other.row.name === row.name) + 2 * (other.shape === shape) + (other.regime === regime) + 0.5 * Boolean(other.median);
    return found.reduce((a, b) => (like(b) > like(a) ? b : a)).id;
  };
  const unique = (values) => [...new Set(values)];
  const rows = EXPERIMENTS.get(experiment).rows;
  const shapes = unique(own.filter((other) => other.row === row).map((other) => other.shape));
  const regimes = unique(own.filter((other) => other.row === row && other.shape === shape).map((other) => other.regime));
  return el(
    "fieldset",
    { class: "controls" },
    el("legend", {}, label),
    select(`${id}-experiment`, "Experiment", DATA.experiments.filter((other) => other.shapes.length).map((other) => [other.name, other.title]), experiment, (value) => changed(nearest((other) => other.experiment === value))),
    select(`${id}-row`, "Row", rows.map((name) => [name, name]), row.name, (value) => changed(nearest((other) => other.experiment === experiment && other.row.name === value))),
    select(`${id}-shape`, "Shape", shapes.map((value) => [value, shapeLabel(value)]), shape, (value) => changed(nearest((other) => other.row === row && other.shape === value))),
    select(`${id}-regime`, "Regime", regimes.map((value) => [value, REGIMES[value] ?? value]), regime, (value) => changed(nearest((other) => other.row === row && other.shape === shape && other.regime === value))),
  );
}

function pairSentence(one, two) {
  const ratio = compared(one, two);
  const how = ratio.rounds ? `by ${plural(ratio.rounds, "common round")}` : "by the far ends of their intervals, as they have too few rounds in common";
  const said = { faster: "faster", slower: "slower", same: "the same within what this run can tell", "no difference": "not told apart" }[outcome(ratio, [one, two])];
  return el("p", { class: "answer small" }, code(two.row.name), ` ${ratioPhrase(ratio)} as `, code(one.row.name), `: ${said}, ${how}.`);
}

function casePanel(each, measured) {
  if (!each.median) return el("section", { class: "panel" }, el("h2", {}, code(each.id)), el("p", { class: "warning" }, `${each.status.replaceAll("_", " ")}: ${each.reason}`));
  return el("section", { class: "panel" }, el("h2", {}, code(each.id)), roundsPlot(each, measured), caseFacts(each));
}

// one axis for both, unless they are too far apart to share it
function timeAxis(each, measured) {
  const ends = measured.map((other) => [...samplesOf(other)]).map((values) => [Math.min(...values), Math.max(...values)]);
  const near = ends.length > 1 && Math.max(...measured.map((o) => o.median)) < 4 * Math.min(...measured.map((o) => o.median));
  const own = ends[measured.indexOf(each)];
  const [low, high] = near ? [Math.min(...ends.map((e) => e[0])), Math.max(...ends.map((e) => e[1]))] : own;
  // a tail that is far out would press all else to the floor
  const log = high > 6 * low;
  const [scale, unit] = [[1, "s"], [1e-3, "ms"], [1e-6, "µs"], [1e-9, "ns"]].find(([size]) => each.median >= 0.9995 * size) ?? [1e-9, "ns"];
  const text = (value) => String(+(value / scale).toPrecision(5));
  return { ...extent([low, high], { log }), text, label: `time, ${unit}${log ? " (log)" : ""}` };
}

function roundsPlot(each, measured) {
  const points = blocksOf(each).flatMap(({ round, first, count }) =>
    Array.from(SAMPLES.values.subarray(first, first + count), (value, at) => ({ x: round + (0.8 * at) / count, y: value, text: each.samples <= 4000 ? `round ${round}: ${duration(value, 5)}` : null })),
  );
  const last = Math.max(...points.map((p) => p.x));
  const x = { low: -0.3, high: last + 0.5, label: "round (samples of a round in their order)" };
  return figure({
    bare: true,
    height: 300,
    caption: null,
    alt: `${each.id}: ${plural(each.samples, "sample")} by round; median ${duration(each.median)}, from ${duration(Math.min(...samplesOf(each)))} to ${duration(Math.max(...samplesOf(each)))}`,
    x,
    y: timeAxis(each, measured),
    series: [{ name: "sample", tone: measured.indexOf(each), size: each.samples > 1000 ? 1.6 : 2.6, points }],
    limits: [{ name: `median ${duration(each.median)}`, tone: " thin", level: each.median }],
  });
}

function distribution(measured) {
  const series = measured.map((each, tone) => {
    const sorted = Float64Array.from(samplesOf(each)).sort();
    const points = Array.from(sorted, (value, at) => ({ x: value, y: (100 * (at + 1)) / sorted.length }));
    return { name: each.row.name, tone, line: true, size: 0, points };
  });
  const values = measured.flatMap((each) => [...samplesOf(each)]);
  const log = Math.max(...values) > 6 * Math.min(...values);
  const text = (value) => duration(value, 4).replace(/\.?0+ /, " ");
  const whole = (value) => duration(value, 4);
  return figure({
    wide: measured.length > 1,
    bare: measured.length < 2,
    height: 260,
    caption: "Distribution: the share of samples that took at most so long",
    alt: `Distribution of the samples of ${measured.map((each) => each.id).join(" and ")}`,
    x: { ...extent(values, { log, room: 0.01 }), text: (value) => (whole(value).includes(".") ? text(value) : whole(value)), label: `time${log ? " (log)" : ""}` },
    y: { low: 0, high: 102, ticks: [0, 25, 50, 75, 95].map((each) => [each, `${each} %`]), label: "share of samples" },
    series,
  });
}

function caseFacts(each) {
  const sortedValues = Float64Array.from(samplesOf(each)).sort();
  const tail = quantile(sortedValues, 0.95);
  const facts = [
    ["median", `${duration(each.median, 4)} [${duration(each.low, 4)}, ${duration(each.high, 4)}]`],
    ["5th to 95th percentile", `${duration(quantile(sortedValues, 0.05), 4)} to ${duration(tail, 4)}`],
    ["least, most", `${duration(sortedValues[0], 4)}, ${duration(sortedValues.at(-1), 4)}`],
    ["samples", `${each.samples} in ${plural(each.blocks, "round")}; ${each.discarded} discarded`],
    each.batch > 1 && ["launches per sample", String(each.batch)],
    ["rate", `${significant(rate(each))} ${EXPERIMENTS.get(each.experiment).metric.unit}`],
    each.error !== null && ["error / bound", `${scientific(each.error)} / ${scientific(each.bound)}, ${each.error_metric}`],
    each.clock && ["SM clock held", `${(each.clock / 1e9).toFixed(3)} GHz`],
    each.watts && ["hot launches draw", `${significant(each.watts)} W${each.throttle ? `, throttled: ${each.throttle}` : ""}`],
    ["source", each.row.source],
    each.row.note && ["note", each.row.note],
    each.row.problem && ["solves", each.row.problem],
    each.id in DATA.suspects && ["suspect", plain(DATA.suspects[each.id])],
    each.unsure && ["disturbed", each.unsure],
    ...Object.entries(DATA.probes?.counters[each.id]?.values ?? {}).map(([name, value]) => [name.replaceAll("_", " "), value.toLocaleString("en")]),
  ].filter(Boolean);
  return el("dl", { class: "facts" }, facts.map(([name, value]) => el("div", {}, el("dt", {}, name), el("dd", {}, value))));
}

function rawTable(measured) {
  const rows = measured.flatMap((each) => blocksOf(each).flatMap(({ round, first, count, clock }) => Array.from({ length: count }, (_, at) => ({ each, round, clock, at: first + at - each.firstSample + 1, value: SAMPLES.values[first + at] }))));
  const columns = [
    { name: "case", value: (row) => row.each.id, cell: (row) => code(row.each.id) },
    { name: "sample", number: true, value: (row) => row.at },
    { name: "round", number: true, value: (row) => row.round },
    { name: "seconds", number: true, value: (row) => Number(row.value.toPrecision(7)), cell: (row) => duration(row.value, 5) },
    { name: "SM clock, GHz", number: true, value: (row) => row.clock || null, cell: (row) => (row.clock ? (row.clock / 1e9).toFixed(3) : NONE) },
  ];
  const fold = el("details", { class: "fold" }, el("summary", {}, `Raw samples: ${rows.length}`));
  fold.addEventListener("toggle", () => {
    if (fold.open && fold.children.length < 2) fold.append(table({ caption: "Raw samples", columns, rows, file: "samples.csv" }));
  });
  return fold;
}

// every case of the record, with or without a time
function caseTable(state) {
  const shown = el("div");
  const input = el("input", { type: "search", id: "cases", value: state.search ?? "", placeholder: "matmul tile16 cold …", oninput: () => list(input.value) });
  const tail = new Map();
  const tailOf = (each) => {
    if (each.samples < 20) return null;
    if (!tail.has(each)) tail.set(each, quantile(Float64Array.from(samplesOf(each)).sort(), 0.95) / each.median);
    return tail.get(each);
  };
  const columns = [
    { name: "case", value: (each) => each.id, cell: (each) => code(each.id, hrefOf({ view: "samples", case: each.id })) },
    { name: "status", value: (each) => each.status.replaceAll("_", " ") },
    { name: "median", number: true, value: (each) => each.median, cell: (each) => (each.median ? duration(each.median) : NONE) },
    { name: "±", number: true, largestFirst: true, value: (each) => (each.median ? Math.max(each.high - each.median, each.median - each.low) / each.median : null), cell: (each) => (each.median ? spread(each).slice(1) : NONE) },
    { name: "95th percentile / median", number: true, largestFirst: true, value: tailOf, cell: (each) => (tailOf(each) ? significant(tailOf(each)) : NONE) },
    { name: "samples", number: true, value: (each) => each.samples },
    { name: "discarded", number: true, largestFirst: true, value: (each) => each.discarded },
    { name: "error / bound", number: true, largestFirst: true, value: (each) => (each.error === null ? null : each.error / (each.bound || 1)), cell: (each) => (each.error === null ? NONE : `${scientific(each.error)} / ${scientific(each.bound)}`) },
    { name: "reason", wide: true, value: (each) => each.reason ?? "" },
  ];
  function list(text) {
    const words = text.toLowerCase().split(/\s+/);
    const rows = CASES.filter((each) => words.every((word) => `${each.id} ${each.status} ${each.reason ?? ""}`.toLowerCase().includes(word)));
    shown.replaceChildren(table({ caption: `Every case: ${rows.length} of ${CASES.length}`, columns, rows, file: "cases.csv", page: 25 }));
  }
  list(input.value);
  return el("section", {}, el("h2", {}, "Every case"), el("label", { class: "field grow", for: "cases" }, el("span", {}, "Search"), input), shown);
}
