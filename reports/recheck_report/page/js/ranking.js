// which row is fastest at a shape, against a baseline, and how accurate it is

VIEWS.push({ name: "ranking", title: "Ranking", samples: true, show: showRanking });

const ARITHMETIC = {
  fp32: "IEEE fp32",
  split: "split inputs on tensor cores (§: not IEEE fp32, within a bound of their own)",
  tf32: "TF32 (†: rounds its inputs, far less accurate)",
};

// the cases that a ranking is of, with the first choice where the state has none
function rankingOf(state) {
  const experiment = EXPERIMENTS.get(chosen(state.experiment, ordinary().map((each) => each.name)));
  if (!experiment) return null;
  const timed = CASES.filter((each) => each.experiment === experiment.name && each.median);
  const shapes = experiment.shapes.filter((shape) => timed.some((each) => each.shape === shape));
  const shape = chosen(state.shape, shapes, chosen(experiment.headline, shapes));
  const here = timed.filter((each) => each.shape === shape);
  const regimes = Object.keys(REGIMES).filter((regime) => here.some((each) => each.regime === regime));
  const regime = chosen(state.regime, regimes);
  const cases = here.filter((each) => each.regime === regime).sort((a, b) => a.median - b.median);
  const bases = cases.map((each) => each.row.name);
  const usual = [experiment.vendor, experiment.first, cases.find((each) => each.row.role === "baseline")?.row.name];
  const baseline = chosen(state.baseline, bases, usual.find((each) => bases.includes(each)) ?? bases.at(-1));
  const kind = fastestOf(experiment);
  const base = cases.find((each) => each.row.name === baseline);
  // equals take the matrix in one way, as the baseline does, and a row that picks a rung is none
  const able = cases.filter((each) => each.row.contends && !each.row.sweep && !(each.id in DATA.suspects) && !each.unsure);
  const rivals = able.filter((each) => byColumns(each) === byColumns(base));
  const others = able.filter((each) => byColumns(each) !== byColumns(base));
  return { experiment, shapes, shape, regimes, regime, cases, bases, base, rivals, others, kind };
}

// where all rows have one arithmetic it goes without saying, and may be that of integers
function fastestOf({ name, rows }) {
  const kinds = new Set(rows.map((row) => rowOf(name, row).arithmetic));
  return kinds.size > 1 ? "fastest IEEE fp32 row" : "fastest row";
}

function byColumns({ row }) {
  return row.layout === "column_major";
}

const ROWS = new Map(DATA.rows.map((each) => [`${each.experiment}/${each.name}`, each]));

function rowOf(experiment, name) {
  return ROWS.get(`${experiment}/${name}`);
}

// the sentence that answers, as nodes
function answerOf(ranking) {
  if (!ranking?.base) return [`Not measured: ${DATA.about.why_no_gpu ?? "no case has a time"}.`];
  const { shape, regime, rivals, base, kind } = ranking;
  const rows = rivals.filter((each) => each.row.arithmetic === "fp32");
  if (!rows.length) return [`At ${shapeLabel(shape)} no row was measured.`];
  const [best, next] = rows;
  const when = regime === "cold" ? "" : `, ${REGIMES[regime]},`;
  const where = ranking.others.length ? ` on a matrix by ${byColumns(base) ? "columns" : "rows"}` : "";
  const found = [`At ${shapeLabel(shape)}${when} the ${kind}${where} is `, code(best.row.name)];
  if (best === base) {
    found.push(", the baseline itself");
    if (next) found.push("; next is ", code(next.row.name), `, which ${ratioPhrase(compared(base, next))}`);
  } else found.push(": ", ...againstBase(best, base));
  found.push(".");
  if (next && best !== base && !["faster"].includes(outcome(compared(next, best), [next, best]))) {
    found.push(" ", code(next.row.name), " cannot be told from it.");
  }
  return found;
}

function againstBase(each, base) {
  const [times, interval] = ratioWords(compared(base, each));
  return [el("strong", {}, `${times} as `, code(base.row.name)), ` ${interval}`];
}

// the fastest of each other arithmetic and layout, apart: never an equal
function othersOf({ rivals, others, base }) {
  const apart = ["split", "tf32"].map((kind) => [ARITHMETIC[kind], rivals.find((each) => each.row.arithmetic === kind)]);
  apart.push([`on a matrix by ${base && byColumns(base) ? "rows" : "columns"}`, others.find((each) => each.row.arithmetic === "fp32")]);
  return apart
    .filter(([, best]) => best)
    .map(([name, best]) => el("p", { class: "second" }, `Apart, ${name}: `, code(best.row.name), ", ", ...againstBase(best, base), "."));
}

function showRanking(root, state) {
  const ranking = rankingOf(state);
  add(root, el("h1", { class: "unseen" }, "Ranking"));
  if (!ranking) {
    add(root, el("p", { class: "answer" }, "The record has no experiment to rank."));
    return;
  }
  const { experiment, shapes, shape, regimes, regime, bases, base } = ranking;
  const change = (more) => go({ view: "ranking", experiment: experiment.name, shape, regime, baseline: base?.row.name, sweeps: state.sweeps, others: state.others, ...more });
  const answer = el("p", { class: "answer", id: "answer" }, answerOf(ranking));
  announce(answer.textContent);
  add(
    root,
    answer,
    ...othersOf(ranking),
    SAMPLES.why ? el("p", { class: "warning" }, SAMPLES.why) : "",
    el(
      "form",
      { class: "controls", onsubmit: (event) => event.preventDefault() },
      select("experiment", "Experiment", ordinary().map((each) => [each.name, each.title]), experiment.name, (value) => go({ view: "ranking", experiment: value, sweeps: state.sweeps, others: state.others })),
      select("shape", `Shape (${experiment.axes.join("×")})`, shapes.map((each) => [each, shapeLabel(each)]), shape, (value) => change({ shape: value })),
      select("regime", "Regime", regimes.map((each) => [each, REGIMES[each]]), regime, (value) => change({ regime: value })),
      select("baseline", "Baseline", bases.map((each) => [each, each]), base?.row.name, (value) => change({ baseline: value })),
      el(
        "div",
        {},
        checkbox("sweeps", "points of sweeps", state.sweeps === "1", (on) => change({ sweeps: on ? "1" : null })),
        checkbox("others", "parts and other problems", state.others === "1", (on) => change({ others: on ? "1" : null })),
      ),
    ),
    base ? rankingTable(ranking, state) : "",
    el("p", { class: "note" }, "Ratios pair the rounds in which both rows were measured, with their 95 % interval; ᵉ: by the far ends of two intervals, where nothing can be paired. An error is of this shape’s real inputs, against float64, beside the bound of the proof."),
    storyOf(experiment),
  );
}

function rankingTable(ranking, state) {
  const { experiment, cases, base, shape, regime } = ranking;
  const shown = cases.filter((each) => (state.sweeps === "1" || !each.row.sweep) && (state.others === "1" || each.row.contends));
  const ratios = new Map(shown.map((each) => [each, compared(base, each)]));
  const shares = new Map(shown.map((each) => [each, shareOfRoof(each)]));
  const kinds = Object.entries(ARITHMETIC).map(([kind, name]) => ({
    name,
    rows: shown.filter((each) => each.row.arithmetic === kind && each.row.contends),
  }));
  const known = new Set(Object.keys(ARITHMETIC));
  kinds.push({ name: "other arithmetic", rows: shown.filter((each) => !known.has(each.row.arithmetic) && each.row.contends) });
  kinds.push({ name: "parts, copies and other problems (‡: never an equal)", rows: shown.filter((each) => !each.row.contends) });
  const groups = kinds.filter((each) => each.rows.length);
  // a bar is a share of the fastest of its own kind
  const fastest = new Map(groups.flatMap(({ rows }) => rows.map((each) => [each, rows[0].median])));
  if (groups.length === 1) groups[0].name = "";
  const time = { name: "time", number: true, value: (each) => each.median, cell: (each) => duration(each.median) };
  const columns = [
    { name: "row", value: (each) => each.row.name, cell: rowCell },
    { name: "speed", cell: (each) => speedBar(fastest.get(each) / each.median) },
    time,
    { name: "±", number: true, value: (each) => Math.max(each.high - each.median, each.median - each.low) / each.median, cell: (each) => spread(each).slice(1) },
    { name: experiment.metric.unit, number: true, largestFirst: true, value: (each) => rate(each), cell: (each) => significant(rate(each)) },
    { name: `times as fast as ${base.row.name}`, number: true, largestFirst: true, value: (each) => ratios.get(each).value, cell: (each) => (each === base ? "baseline" : ratioText(ratios.get(each))), saved: (each) => ratioText(ratios.get(each)) },
    experiment.roof && { name: `of ${experiment.roof}`, number: true, largestFirst: true, value: (each) => shares.get(each)?.value ?? null, cell: (each) => (shares.get(each) ? percentText(shares.get(each)) : NONE) },
    { name: "error", number: true, value: (each) => each.error, cell: (each) => scientific(each.error) },
    { name: "bound", number: true, value: (each) => each.bound, cell: (each) => scientific(each.bound) },
    { name: "source", wide: true, value: (each) => each.row.source },
  ].filter(Boolean);
  const caption = `${experiment.title} at ${shapeLabel(shape)}, ${REGIMES[regime]}: fastest first`;
  const metrics = [...new Set(shown.map((each) => each.error_metric).filter(Boolean))];
  return [
    table({ caption, columns, groups, file: `ranking-${experiment.name}-${shape}-${regime}.csv`, sort: { by: time }, mark: (each) => (each === base ? "chosen" : null) }),
    metrics.length ? el("p", { class: "note" }, `Error: ${metrics.join(" or ")}.`) : null,
  ];
}

function rowCell(each) {
  const { row } = each;
  const tags = [row.target === "cpu" && "CPU", row.sweep && "sweep", row.part_of && `part of ${row.part_of}`, each.id in DATA.suspects && "suspect", each.unsure && "disturbed"];
  return [
    code(row.name, hrefOf({ view: "samples", case: each.id })),
    row.marks,
    tags.filter(Boolean).map((tag) => [" ", el("small", { class: "tag" }, tag)]),
  ];
}

function speedBar(share) {
  const bar = el("span", {});
  bar.style.width = `${(100 * share).toFixed(1)}%`;
  return el("span", { class: "speed", "aria-hidden": "true" }, bar);
}

function storyOf({ name }) {
  const found = DATA.stories[name];
  if (!found) return "";
  const notes = [found.absent, found.uncounted].filter(Boolean).map((text) => el("p", { class: "note" }, rich(text)));
  const items = found.steps.map((each) => [
    el("h2", {}, rich(each.title)),
    el("p", {}, rich(each.text)),
    el("ul", { class: "facts" }, each.lines.map((line) => el("li", {}, rich(line)))),
  ]);
  return el("details", { class: "fold" }, el("summary", {}, rich(found.title)), notes, items);
}
