// which row is fastest at a shape, against the library; over all shapes; and all about a case

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
  const regimes = Object.keys(REGIMES).filter((regime) => here.some((each) => each.regime === regime));
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
  const answer = copyOf(`${experiment.name}/${shape}`) ?? el("p", { class: "answer small" }, `${experiment.title} at ${shapeLabel(shape)}`);
  answer.id = "answer";
  announce(answer.textContent);
  add(
    root,
    answer,
    shape === experiment.headline && copyOf(`${experiment.name}/beyond`),
    controls(
      select("experiment", "Experiment", known.map((each) => [each.name, each.title]), experiment.name, (value) => go({ view: "speed", experiment: value })),
      select("shape", `Shape (${experiment.axes.join("×")})`, shapes.map((each) => [each, shapeLabel(each)]), shape, (value) => change({ shape: value })),
      select("regime", "Regime", regimes.map((each) => [each, REGIMES[each]]), regime, (value) => change({ regime: value })),
      checkbox("all", "sweeps, parts and other problems", state.all === "1", (on) => change({ all: on ? "1" : null })),
    ),
    ranking(now, state),
    now.one && factsOf(now.one),
    overShapes(now, state, change),
    copyOf(`${experiment.name}/charts`),
  );
}

// what the report says or draws under this name, where it does
function copyOf(name) {
  return document.querySelector(`[data-copy="${CSS.escape(name)}"]`)?.cloneNode(true);
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
    caption: `${experiment.title} at ${shapeLabel(shape)}, ${REGIMES[regime] ?? regime}: fastest first`,
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
  if (groups.length === 1 && groups[0].name === ARITHMETIC.fp32) groups[0].name = "";
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

function factsOf(each) {
  const facts = [
    !each.median && [each.status.replaceAll("_", " "), each.reason],
    each.median && ["median", `${duration(each.median, 4)} [${duration(each.low, 4)}, ${duration(each.high, 4)}]`],
    each.speedup && [`times as fast as ${each.base.row.name}`, signed(ratioText(each.speedup))],
    each.median && ["samples", `${each.samples} in ${plural(each.blocks, "round")}; ${each.discarded} discarded`],
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
  const part = section(each.id, el("dl", { class: "facts" }, facts.map(([name, value]) => el("div", {}, el("dt", {}, name), el("dd", {}, value)))));
  part.id = "of-a-case";
  return part;
}

const MEASURES = {
  rate: { value: (each) => each.rate, text: (each) => significant(each.rate) },
  ratio: { value: (each) => each.speedup?.value ?? null, text: (each) => ratioText(each.speedup) },
};

// every row and shape in one table, the library first
function overShapes(now, state, change) {
  const { experiment, timed, regime } = now;
  const measure = chosen(state.measure, Object.keys(MEASURES));
  const names = { rate: experiment.unit, ratio: `times as fast as ${experiment.vendor ?? "the first row"}` };
  const { value, text } = MEASURES[measure];
  const here = new Map(timed.filter((each) => each.regime === regime).map((each) => [`${each.row.name}/${each.shape}`, each]));
  const caseOf = (row, shape) => here.get(`${row}/${shape}`);
  const valueOf = (row, shape) => (caseOf(row, shape) ? value(caseOf(row, shape)) : null);
  const shapes = experiment.shapes.filter((shape) => experiment.rows.some((row) => caseOf(row, shape)));
  const rows = experiment.rows.filter((row) => shapes.some((shape) => caseOf(row, shape)));
  rows.sort((a, b) => (a !== experiment.vendor) - (b !== experiment.vendor));
  const columns = [
    { name: "row", value: (row) => row, cell: (row) => code(row) },
    ...shapes.map((shape) => ({
      name: shapeLabel(shape),
      number: true,
      minor: shape !== now.shape,
      largestFirst: true,
      value: (row) => valueOf(row, shape),
      cell: (row) => (valueOf(row, shape) === null ? "·" : text(caseOf(row, shape))),
    })),
  ];
  return section(
    "Every row and shape",
    controls(select("measure", "Measure", Object.entries(names), measure, (name) => change({ measure: name }))),
    table({ caption: `${experiment.title}, ${REGIMES[regime] ?? regime}: ${names[measure]}`, columns, rows, page: 12 }),
  );
}
