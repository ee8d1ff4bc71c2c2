// any two kernels of this record; how other records differ is text of the page

VIEWS.compare = (root, state) => {
  const known = ordinary();
  const experiment = EXPERIMENTS.get(chosen(state.experiment, known.map((each) => each.name)));
  const timed = CASES.filter((each) => each.experiment === experiment?.name && each.median);
  const names = (experiment?.rows ?? []).filter((name) => timed.some((each) => each.row.name === name));
  if (names.length < 2) return;
  const library = names.includes(experiment.vendor) ? experiment.vendor : names[1];
  const kernel = timed.find(({ row }) => row.target === "gpu" && row.contends && row.name !== library);
  const first = chosen(state.kernel, names, kernel?.row.name ?? names.find((name) => name !== library));
  const second = chosen(state.against, names, library);
  const caseOf = (name, { shape, regime }) => timed.find((each) => each.row.name === name && each.shape === shape && each.regime === regime);
  const pairs = timed.filter((each) => each.row.name === first).map((each) => ({ each, other: caseOf(second, each) }));
  const rows = pairs.filter(({ other }) => other).map(({ each, other }) => ({ each, other, ratio: ratioOf(each, other) }));
  const change = (more) => go({ view: "compare", experiment: experiment.name, kernel: first, against: second, ...more });
  const options = names.map((name) => [name, name]);
  const marks = (name) => timed.find(({ row }) => row.name === name).row.marks;
  const columns = [
    { name: "shape", value: ({ each }) => each.shape, cell: ({ each }) => shapeLabel(each.shape) },
    { name: "regime", value: ({ each }) => regimeLabel(each.regime) },
    { name: first + marks(first), number: true, minor: true, value: ({ each }) => each.median, cell: ({ each, other }) => durations(each.median, other.median)[0] },
    { name: second + marks(second), number: true, minor: true, value: ({ other }) => other.median, cell: ({ each, other }) => durations(each.median, other.median)[1] },
    { name: `speed-up over ${second}`, number: true, value: ({ ratio }) => ratio.value, cell: ({ ratio }) => signed(ratioText(ratio)) },
    { name: "doubt", value: ({ each, other }) => [each, other].filter(({ doubt }) => doubt).map(({ row, doubt }) => `${row.name}: ${doubt}`).join("; ") },
  ];
  add(
    root,
    section(
      "Two kernels",
      controls(
        select("experiment", "Experiment", known.map((each) => [each.name, each.title]), experiment.name, (value) => go({ view: "compare", experiment: value })),
        select("kernel", "Kernel", options, first, (value) => change({ kernel: value })),
        select("against", "Against", options, second, (value) => change({ against: value })),
      ),
      rows.length ? table({ caption: `${first} against ${second}`, columns, rows, page: 50 }) : el("p", {}, "The two have no shape and regime in common."),
    ),
  );
};

// how many times faster `each` is than `other`: as in the report where it has the pair, else by the
// far ends of the two medians' intervals
function ratioOf(each, other) {
  if (each.base === other && each.speedup) return each.speedup;
  const [low, high] = [other.low / each.high, other.high / each.low];
  return { value: other.median / each.median, low, high, open: low <= 1 && high >= 1 };
}
