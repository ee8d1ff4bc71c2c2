// how far results are from float64's: the proof of every case, on real inputs

const INEXACT = CASES.filter((each) => each.error && EXPERIMENTS.get(each.experiment).ordinary);
if (INEXACT.length) VIEWS.push({ name: "accuracy", title: "Accuracy", show: showAccuracy });

function showAccuracy(root, state) {
  const known = ordinary().filter(({ name }) => INEXACT.some((each) => each.experiment === name));
  const experiment = EXPERIMENTS.get(chosen(state.experiment, known.map(({ name }) => name)));
  const own = INEXACT.filter((each) => each.experiment === experiment.name);
  const choices = known.map(({ name, title }) => [name, title]);
  add(
    root,
    el("h1", {}, "Accuracy"),
    el("p", { class: "note" }, "The error of each case’s own results on real inputs, against float64. Evidence has each with the bound that it must keep before it is timed."),
    controls(select("experiment", "Experiment", choices, experiment.name, (name) => go({ view: "accuracy", experiment: name }))),
    errorsPlot(experiment, own),
    sizesTable(experiment, own, "error", "error"),
  );
}

// of the rows that are drawn over sizes
function errorsPlot(experiment, own) {
  const series = experiment.drawn.map((name, at) => ({
    name,
    tone: toneOf(experiment, name, at),
    shape: SHAPES[at % SHAPES.length],
    line: true,
    points: experiment.squares.flatMap(([edge, shape]) => {
      const each = own.find((other) => other.row.name === name && other.shape === shape);
      return each ? [{ x: edge, y: each.error, text: `${name} at ${shapeLabel(shape)}: ${scientific(each.error)}`, go: { view: "speed", case: each.id } }] : [];
    }),
  })).filter((each) => each.points.length);
  const points = series.flatMap((each) => each.points);
  if (!points.length) return "";
  const caption = `${experiment.title}: ${own[0].error_metric}`;
  const edges = [...new Set(points.map((p) => p.x))].sort((a, b) => a - b);
  return figure({
    wide: true,
    caption,
    alt: `${caption}, of ${series.map((each) => each.name).join(", ")} over sizes`,
    x: { ...extent(edges, { log: true, room: 0.03 }), ticks: edges.map((edge) => [edge, String(edge)]), label: `${experiment.axes.join(" = ")} (elements, log)` },
    y: { ...extent(points.map((p) => p.y), { log: true }), text: (value) => value.toExponential(0), label: "error (log)" },
    series,
  });
}
