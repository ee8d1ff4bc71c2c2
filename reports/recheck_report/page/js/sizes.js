// how rows do over the sizes: throughput, share of the roof, or against a baseline

VIEWS.push({ name: "sizes", title: "Sizes", samples: true, show: showSizes });

const MOST_LINES = 8;

function measuresOf(experiment, base) {
  const { unit } = experiment.metric;
  const found = {
    rate: { name: unit, of: (each) => ({ value: rate(each), low: rate(each, each.high), high: rate(each, each.low) }), text: ({ value }) => significant(value) },
  };
  if (experiment.roof) found.roof = { name: `share of ${experiment.roof}`, of: shareOfRoof, text: percentText };
  if (base) {
    const of = (each) => {
      const own = find(experiment.name, base, each.shape, each.regime);
      return own?.median ? compared(own, each) : null;
    };
    found.ratio = { name: `times as fast as ${base}`, of, text: ratioText };
  }
  return found;
}

// the rows that tell the story: the vendor's, the first, and whatever is fastest at some size
function tellingRows(experiment, regime) {
  const found = new Set([experiment.vendor, experiment.first].filter(Boolean));
  for (const shape of experiment.squares.map(([, each]) => each).reverse()) {
    const { rivals } = rankingOf({ experiment: experiment.name, shape, regime });
    for (const kind of ["fp32", "split"]) {
      const best = rivals.find((each) => each.row.arithmetic === kind && each.regime === regime);
      if (best && found.size < MOST_LINES - 1) found.add(best.row.name);
    }
  }
  return experiment.rows.filter((each) => found.has(each));
}

function showSizes(root, state) {
  const experiment = EXPERIMENTS.get(chosen(state.experiment, ordinary().map((each) => each.name)));
  add(root, el("h1", {}, "Sizes"));
  if (!experiment) return;
  const timed = CASES.filter((each) => each.experiment === experiment.name && each.median);
  const regimes = Object.keys(REGIMES).filter((regime) => timed.some((each) => each.regime === regime));
  const regime = chosen(state.regime, regimes);
  const here = timed.filter((each) => each.regime === regime);
  const names = experiment.rows.filter((name) => here.some((each) => each.row.name === name));
  const bases = names.filter((name) => rowOf(experiment.name, name).contends);
  const baseline = chosen(state.baseline, bases, chosen(experiment.vendor, bases, chosen(experiment.first, bases)));
  const measures = measuresOf(experiment, baseline);
  const measure = chosen(state.measure, Object.keys(measures));
  const asked = state.rows?.split(",").filter((name) => names.includes(name));
  const rows = asked?.length ? asked : tellingRows(experiment, regime).filter((name) => names.includes(name));
  const now = { view: "sizes", experiment: experiment.name, regime, measure, baseline, rows: asked?.length ? rows.join(",") : null };
  add(
    root,
    el(
      "form",
      { class: "controls", onsubmit: (event) => event.preventDefault() },
      select("experiment", "Experiment", ordinary().map((each) => [each.name, each.title]), experiment.name, (value) => go({ view: "sizes", experiment: value })),
      select("regime", "Regime", regimes.map((each) => [each, REGIMES[each]]), regime, (value) => go({ ...now, regime: value })),
      select("measure", "Measure", Object.entries(measures).map(([key, each]) => [key, each.name]), measure, (value) => go({ ...now, measure: value })),
      select("baseline", "Baseline", bases.map((each) => [each, each]), baseline, (value) => go({ ...now, baseline: value })),
    ),
    sizesPlot(experiment, here, rows, measures[measure], measure, regime, baseline),
    rowsChoice(names, rows, (chosenRows) => go({ ...now, rows: chosenRows.join(",") })),
    sizesTable(experiment, here, names, measures[measure], regime),
    chartsOf(experiment),
  );
}

function rowsChoice(names, rows, changed) {
  const boxes = names.map((name) => checkbox(`row-${name}`, name, rows.includes(name), (on) => changed(on ? names.filter((each) => rows.includes(each) || each === name) : rows.filter((each) => each !== name))));
  const fold = el("details", { class: "fold", id: "choice" }, el("summary", {}, `Choose rows: ${rows.length} of ${names.length} are drawn`), el("div", { class: "boxes" }, boxes));
  // while rows are chosen one by one, the list stays open
  fold.open = OPEN.has("choice");
  fold.addEventListener("toggle", () => OPEN[fold.open ? "add" : "delete"]("choice"));
  return fold;
}

const OPEN = new Set();

function sizesPlot(experiment, here, rows, measure, key, regime, baseline) {
  const series = rows.map((name, at) => ({
    name,
    tone: at,
    shape: SHAPES[at % SHAPES.length],
    line: true,
    points: experiment.squares.flatMap(([edge, shape]) => {
      const each = here.find((other) => other.row.name === name && other.shape === shape);
      const value = each && measure.of(each);
      if (!value) return [];
      return [{ x: edge, y: value.value, low: value.low, high: value.high, text: `${name} at ${shapeLabel(shape)}: ${measure.text(value)}, ${duration(each.median)}`, go: { view: "samples", case: each.id } }];
    }),
  })).filter((each) => each.points.length);
  const points = series.flatMap((each) => each.points);
  if (!points.length) return el("p", { class: "note" }, "No row has times at sizes that a line may connect; the table has them all.");
  const log = key !== "roof" && !(key === "ratio" && Math.max(...points.map((p) => p.y)) / Math.min(...points.map((p) => p.y)) < 6);
  const edges = [...new Set(points.map((p) => p.x))].sort((a, b) => a - b);
  const text = key === "roof" ? (value) => `${+(100 * value).toPrecision(3)} %` : undefined;
  const caption = crossingOf(experiment, here, rows, regime, baseline);
  const limits = key === "ratio" ? [{ name: baseline, level: 1 }] : ceilingOf(experiment, key);
  return figure({
    wide: true,
    caption,
    alt: `${experiment.title}, ${REGIMES[regime]}: ${measure.name} of ${rows.join(", ")} over sizes. ${caption}`,
    x: { ...extent(edges, { log: true, room: 0.03 }), ticks: edges.map((edge) => [edge, String(edge)]), label: `${experiment.axes.join(" = ")} (elements, log)` },
    y: { ...extent([...points.map((p) => p.y), ...limits.map((each) => each.level)], { log, from: log ? undefined : 0 }), text, label: `${measure.name}${log ? " (log)" : ""}` },
    series,
    limits,
  });
}

function ceilingOf(experiment, key) {
  const name = experiment.metric.work === "flops" ? "fp32_flops" : "dram_bytes_per_second";
  const ceiling = DATA.ceilings[name];
  if (key !== "rate" || !ceiling) return [];
  const value = ceiling.value / experiment.metric.scale;
  const said = name === "fp32_flops" ? "fp32 limit" : "DRAM limit";
  return [{ name: `${said}, ${significant(value)} ${experiment.metric.unit}`, level: value }];
}

// where the fastest row of the largest size, of those that are drawn, stands against the baseline, size by size
function crossingOf(experiment, here, rows, regime, baseline) {
  const sizes = experiment.squares.map(([, shape]) => shape).filter((shape) => here.some((each) => each.shape === shape && each.row.name === baseline));
  const { rivals } = rankingOf({ experiment: experiment.name, shape: sizes.at(-1), regime });
  const best = rivals.find((each) => each.row.arithmetic === "fp32" && each.row.name !== baseline && rows.includes(each.row.name));
  if (!sizes.length || !best) return `${experiment.title}, ${REGIMES[regime]}`;
  const by = { faster: [], slower: [], even: [] };
  for (const shape of sizes) {
    const [own, base] = [best.row.name, baseline].map((name) => find(experiment.name, name, shape, regime));
    if (!own?.median || !base?.median) continue;
    (by[outcome(compared(base, own), [base, own])] ?? by.even).push(shapeLabel(shape));
  }
  const parts = [["faster", "faster than"], ["even", "not told from"], ["slower", "slower than"]].filter(([key]) => by[key].length);
  return `${best.row.name} is ${parts.map(([key, words], at) => `${words}${at ? " it" : ` ${baseline}`} at ${by[key].join(", ")}`).join("; ")}`;
}

function sizesTable(experiment, here, names, measure, regime) {
  const shapes = experiment.shapes.filter((shape) => here.some((each) => each.shape === shape));
  const known = new Map(here.map((each) => [`${each.row.name}/${each.shape}`, each]));
  const columns = [
    { name: "row", value: (name) => name, cell: (name) => [code(name), rowOf(experiment.name, name).marks] },
    ...shapes.map((shape) => {
      const of = (name) => {
        const each = known.get(`${name}/${shape}`);
        return each ? measure.of(each) : null;
      };
      return { name: shapeLabel(shape), number: true, largestFirst: true, value: (name) => of(name)?.value ?? null, cell: (name) => (of(name) ? measure.text(of(name)) : "·") };
    }),
  ];
  return table({ caption: `${experiment.title}, ${REGIMES[regime]}: ${measure.name}, every row and shape`, columns, rows: names, file: `sizes-${experiment.name}-${regime}.csv`, page: 24 });
}

// the report's own charts of this experiment, unpacked when they are asked for
function chartsOf({ name, title }) {
  const holder = el("div", { class: "charts" });
  const fold = el("details", { class: "fold" }, el("summary", {}, `${title}: the report’s charts`), holder);
  fold.addEventListener("toggle", async () => {
    if (!fold.open || holder.hasChildNodes()) return;
    try {
      const charts = JSON.parse(new TextDecoder().decode(await unpacked("charts")));
      const own = charts.filter((each) => each.name.startsWith(`${name}_`));
      holder.append(...own.map(chartOf));
      if (!own.length) holder.append(el("p", { class: "note" }, "The report has no chart of it."));
    } catch (problem) {
      holder.append(el("p", { class: "warning" }, `The charts could not be unpacked: ${problem.message}`));
    }
  });
  return fold;
}

// as an image no script of it could run
function chartOf({ svg, alt, caption }) {
  const bytes = new TextEncoder().encode(svg);
  let text = "";
  for (const byte of bytes) text += String.fromCharCode(byte);
  const said = caption ? el("figcaption", {}, rich(caption)) : null;
  return el("figure", {}, el("img", { src: `data:image/svg+xml;base64,${btoa(text)}`, alt }), said);
}
