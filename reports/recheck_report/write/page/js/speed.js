// which row is fastest at a shape, against the library; over all sizes; and the samples of a case

VIEWS.speed = showSpeed;

const ARITHMETIC = {
  fp32: "IEEE fp32",
  split: "split inputs on tensor cores (§: not IEEE fp32, within a bound of their own)",
  tf32: "TF32 (†: rounds its inputs, far less accurate)",
};

// the cases that the address names, with the first choice where it names none
function chosenCases(state) {
  const one = BY_ID.get(state.case) ?? null;
  const known = DATA.experiments.filter((each) => each.ordinary || each.name === one?.experiment);
  const experiment = EXPERIMENTS.get(one?.experiment ?? chosen(state.experiment, known.map((each) => each.name)));
  if (!experiment) return null;
  const timed = CASES.filter((each) => each.experiment === experiment.name && each.median);
  const shapes = experiment.shapes.filter((shape) => timed.some((each) => each.shape === shape));
  const shape = one?.shape ?? chosen(state.shape, shapes, shapes.includes(experiment.headline) ? experiment.headline : shapes[0]);
  const here = timed.filter((each) => each.shape === shape);
  const regimes = [...new Set(here.map((each) => each.regime))];
  const regime = one?.regime ?? chosen(state.regime, regimes);
  const cases = here.filter((each) => each.regime === regime).sort((a, b) => a.median - b.median);
  const base = cases.find((each) => each.base)?.base ?? null;
  return { known, experiment, timed, shapes, shape, regimes, regime, cases, base, one };
}

function showSpeed(root, state) {
  const now = chosenCases(state);
  if (state.case && !BY_ID.has(state.case)) ABSENT.push(`There is no case ${state.case}.`);
  if (!now) {
    add(root, el("p", { class: "answer" }, "The record has no experiment to rank."));
    return;
  }
  const { known, experiment, shapes, shape, regimes, regime } = now;
  const kept = { experiment: experiment.name, shape, regime, all: state.all, measure: state.measure };
  const change = (more) => go({ view: "speed", ...kept, ...more });
  const answer = answerOf(`${experiment.name}/${shape}`) ?? el("p", { class: "answer small", id: "answer" }, `${experiment.title} at ${shapeLabel(shape)}`);
  announce(answer.textContent);
  add(
    root,
    answer,
    shape === experiment.headline && answerOf(`${experiment.name}/beyond`, { class: "beyond" }),
    controls(
      select("experiment", "Experiment", known.map((each) => [each.name, each.title]), experiment.name, (value) => go({ view: "speed", experiment: value })),
      select("shape", `Shape (${experiment.axes.join("×")})`, shapes.map((each) => [each, shapeLabel(each)]), shape, (value) => change({ shape: value })),
      select("regime", "Regime", regimes.map((each) => [each, regimeLabel(each)]), regime, (value) => change({ regime: value })),
      checkbox("all", "sweeps, parts and other problems", state.all === "1", (on) => change({ all: on ? "1" : null })),
    ),
    ranking(now, state),
    overSizes(now, state, change),
    samplesPart(now, state),
  );
}

// the report's answer, where it has one
function answerOf(name, attributes = { id: "answer" }) {
  const found = document.querySelector(`[data-answer="${CSS.escape(name)}"]`)?.cloneNode(true);
  return found && fill(found, attributes, []);
}

function ranking(now, state) {
  const { experiment, base, shape, regime } = now;
  const shown = now.cases.filter((each) => state.all === "1" || (!each.row.sweep && each.row.contends) || each === now.one);
  const groups = groupsOf(shown);
  // a bar is a share of the fastest of its own kind
  const fastest = new Map(groups.flatMap(({ rows }) => rows.map((each) => [each, rows[0].median])));
  const time = { name: "time", number: true, value: (each) => each.median, cell: (each) => duration(each.median) };
  const columns = [
    { name: "row", value: (each) => each.row.name, cell: rowCell },
    { name: "speed", minor: true, cell: (each) => speedBar(fastest.get(each) / each.median) },
    time,
    base && speedupColumn(base),
    { name: "±", number: true, minor: true, value: (each) => Math.max(each.high - each.median, each.median - each.low) / each.median, cell: (each) => spread(each).slice(1) },
    { name: experiment.unit, number: true, minor: true, largestFirst: true, value: (each) => each.rate, cell: (each) => (each.rate === null ? NONE : significant(each.rate)) },
    experiment.roof && { name: `of ${experiment.roof}`, number: true, minor: true, largestFirst: true, value: (each) => (each.share ? Number.parseFloat(each.share) : null), cell: (each) => each.share ?? NONE },
    { name: "error", number: true, minor: true, value: (each) => each.error, cell: (each) => scientific(each.error) },
    { name: "bound", number: true, minor: true, value: (each) => each.bound, cell: (each) => scientific(each.bound) },
    { name: "source", wide: true, minor: true, value: (each) => each.row.source },
  ].filter(Boolean);
  return table({
    caption: `${experiment.title} at ${shapeLabel(shape)}, ${regimeLabel(regime)}: fastest first`,
    columns,
    groups,
    sort: { by: time },
    mark: (each) => (each === base || each === now.one ? "chosen" : null),
  });
}

function groupsOf(shown) {
  const kinds = Object.entries(ARITHMETIC).map(([kind, name]) => ({ name, fits: (row) => row.contends && row.arithmetic === kind }));
  kinds.push({ name: "other arithmetic", fits: (row) => row.contends && !(row.arithmetic in ARITHMETIC) });
  kinds.push({ name: "parts, copies and other problems (‡: never an equal)", fits: (row) => !row.contends });
  const groups = kinds.map(({ name, fits }) => ({ name, rows: shown.filter((each) => fits(each.row)) })).filter((each) => each.rows.length);
  if (groups.length === 1) groups[0].name = "";
  return groups;
}

function speedupColumn(base) {
  const text = (each) => (each === base ? "base" : each.speedup ? ratioText(each.speedup) : NONE);
  return { name: `times as fast as ${base.row.name}`, number: true, largestFirst: true, value: (each) => each.speedup?.value ?? null, cell: text };
}

function rowCell(each) {
  const { row } = each;
  const tags = [row.target === "cpu" && "CPU", row.sweep && "sweep", row.part_of && `part of ${row.part_of}`, each.id in DATA.suspects && "suspect", each.unsure && "disturbed"];
  return [code(row.name, hrefOfCase(each.id)), signed(row.marks), tags.filter(Boolean).map((tag) => [" ", el("small", { class: "tag" }, tag)])];
}

function speedBar(share) {
  const bar = el("span", {});
  bar.style.width = `${(100 * share).toFixed(1)}%`;
  return el("span", { class: "speed", "aria-hidden": "true" }, bar);
}

const MEASURES = {
  rate: { of: (each) => each.rate && { value: each.rate, low: (each.rate * each.median) / each.high, high: (each.rate * each.median) / each.low }, text: ({ value }) => significant(value) },
  ratio: { of: (each) => each.speedup, text: ratioText },
  error: { of: (each) => each.error && { value: each.error }, text: ({ value }) => scientific(value), tick: (value) => value.toExponential(0) },
};

function overSizes(now, state, change) {
  const { experiment, timed, regime, one } = now;
  if (!experiment.ordinary) return "";
  const here = timed.filter((each) => each.regime === regime);
  const measure = chosen(state.measure, ["rate", "ratio"]);
  const names = { rate: experiment.unit, ratio: `times as fast as ${experiment.vendor ?? "the first row"}` };
  const rows = [...new Set([...experiment.drawn, one?.row.name].filter(Boolean))].filter((name) => here.some((each) => each.row.name === name));
  return section(
    "Over all sizes",
    controls(select("measure", "Measure", Object.entries(names), measure, (value) => change({ measure: value }))),
    sizesPlot(experiment, here, rows, measure, names[measure], experiment.findings[regime], limitOfSizes(experiment, measure)),
    fold("Every row and shape", () => sizesTable(experiment, here, measure, names[measure])),
  );
}

// the library has the same colour in every plot, and so has what is compared with it first
function toneOf({ vendor }, name, at) {
  return name === vendor ? 1 : at + (at > 0 ? 1 : 0);
}

// what rates are limited by; or the library, over which ratios are
function limitOfSizes({ limit, unit, vendor }, measure) {
  if (measure === "ratio") return { name: vendor, level: 1 };
  return limit && { name: `${limit[0]}, ${significant(limit[1])} ${unit}`, level: limit[1] };
}

function sizesPlot(experiment, here, rows, measure, name, caption, limit = null) {
  const { of, text, tick } = MEASURES[measure];
  const others = rows.filter((each) => each !== experiment.vendor);
  const series = rows.map((row) => ({
    name: row,
    tone: toneOf(experiment, row, others.indexOf(row)),
    shape: row === experiment.vendor ? "diamond" : SHAPES[others.indexOf(row) % 3],
    line: true,
    points: experiment.squares.flatMap(([edge, shape]) => {
      const each = here.find((other) => other.row.name === row && other.shape === shape);
      const value = each && of(each);
      if (!value) return [];
      return [{ x: edge, y: value.value, low: value.low, high: value.high, text: `${row} at ${shapeLabel(shape)}: ${text(value)}${each.median ? `, ${duration(each.median)}` : ""}`, go: { view: "speed", case: each.id } }];
    }),
  })).filter((each) => each.points.length);
  const points = series.flatMap((each) => each.points);
  if (!points.length) return el("p", { class: "note" }, "No row has times at sizes that a line may connect; the table has them all.");
  const limits = limit ? [limit] : [];
  const edges = [...new Set(points.map((p) => p.x))].sort((a, b) => a - b);
  return figure({
    wide: true,
    caption,
    alt: `${caption}. ${name} of ${rows.join(", ")} over sizes`,
    x: { ...extent(edges, { log: true, room: 0.03 }), ticks: edges.map((edge) => [edge, String(edge)]), label: experiment.axes.length > 1 ? `${experiment.axes.join(" = ")} (elements, log)` : `${experiment.axes[0]} (log)` },
    y: { ...extent([...points.flatMap((p) => [p.y, p.low ?? p.y, p.high ?? p.y]), ...limits.map((each) => each.level)], { log: true }), text: tick, label: `${name} (log)` },
    series,
    limits,
  });
}

function sizesTable(experiment, here, measure, name) {
  const { of, text } = MEASURES[measure];
  const known = new Map(here.map((each) => [`${each.row.name}/${each.shape}`, each]));
  const value = (row, shape) => (known.has(`${row}/${shape}`) ? of(known.get(`${row}/${shape}`)) : null);
  const library = (row) => row !== experiment.vendor;
  const rows = experiment.rows.filter((row) => here.some((each) => each.row.name === row)).sort((a, b) => library(a) - library(b));
  const shapes = experiment.shapes.filter((shape) => here.some((each) => each.shape === shape));
  const columns = [
    { name: "row", value: (row) => row, cell: (row) => code(row) },
    ...shapes.map((shape) => ({
      name: shapeLabel(shape),
      number: true,
      largestFirst: true,
      value: (row) => value(row, shape)?.value ?? null,
      cell: (row) => (value(row, shape) ? text(value(row, shape)) : "·"),
    })),
  ];
  return table({ caption: `${experiment.title}: ${name}, every row and shape`, columns, rows, page: 24 });
}
