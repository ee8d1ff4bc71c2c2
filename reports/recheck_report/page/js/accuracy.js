// how far results are from float64: the study of products of matrices, and the proof of every case

const INEXACT = CASES.filter((each) => each.error && EXPERIMENTS.get(each.experiment).ordinary);
if (DATA.accuracy.length || INEXACT.length) VIEWS.push({ name: "accuracy", title: "Accuracy", show: showAccuracy });

const ERRORS = {
  frobenius: ["by norm: ‖C − R‖ / ‖R‖", 5],
  componentwise: ["by element: max |C − R| / (|A||B|)", 6],
  median: ["median of |C − R| / |R|", 7],
  absolute: ["largest |C − R|", 8],
  promise: ["part of its bound: max |C − R| / (b |A||B|)", 9],
};

function showAccuracy(root, state) {
  add(root, el("h1", {}, "Accuracy"), DATA.accurate.map((text) => el("p", {}, rich(text))));
  if (DATA.accuracy.length) add(root, studyParts(state));
  add(root, gateTable());
}

function studyParts(state) {
  const at = Math.min(Number(state.study) || 0, DATA.accuracy.length - 1);
  const study = DATA.accuracy[at];
  const ordinaryInputs = study.inputs.filter(([, , special]) => !special);
  const inputs = chosen(state.inputs, ordinaryInputs.map(([name]) => name));
  const measure = chosen(state.measure, Object.keys(ERRORS));
  const [says, column] = ERRORS[measure];
  const distribution = study.inputs.findIndex(([name]) => name === inputs);
  const own = study.results.filter((each) => each[1] === distribution && each[column] !== null);
  const ks = [...new Set(own.map((each) => each[2]))].sort((a, b) => a - b);
  const caption = `A (${study.m}×K) by B (K×${study.n}), ${study.inputs[distribution]?.[1]}: ${says}`;
  const change = (more) => go({ view: "accuracy", study: at ? String(at) : null, inputs, measure, ...more });
  const products = DATA.accuracy.map((each, index) => [String(index), `${each.m}×K by K×${each.n}`]);
  return [
    controls(
      products.length > 1 ? select("study", "Product", products, String(at), (value) => change({ study: value })) : null,
      select("inputs", "Inputs", ordinaryInputs.map(([name, text]) => [name, text]), inputs, (value) => change({ inputs: value })),
      select("measure", "Error", Object.entries(ERRORS).map(([key, [text]]) => [key, text]), measure, (value) => change({ measure: value })),
    ),
    studyPlot(study, own, column, ks, caption),
    studyTable(study, own, column, ks, caption),
  ];
}

function studyPlot(study, own, column, ks, caption) {
  const names = study.rows.map(([name]) => name);
  const series = studied(study).map((name, at) => ({
    name,
    tone: name === study.library ? 1 : at + 1,
    shape: SHAPES[at % SHAPES.length],
    line: true,
    points: own
      .filter((each) => names[each[0]] === name && each[column] > 0)
      .map((each) => ({ x: each[2], y: each[column], text: `${name}, K = ${each[2]}: ${scientific(each[column])}` }))
      .sort((a, b) => a.x - b.x),
  })).filter((each) => each.points.length);
  if (!series.length) return el("p", { class: "note" }, "None of these rows has such an error.");
  const values = series.flatMap((each) => each.points.map((p) => p.y));
  return figure({
    wide: true,
    caption,
    alt: `${caption}, against K, of ${series.map((each) => each.name).join(", ")}`,
    x: { ...extent(ks, { log: true, room: 0.03 }), ticks: ks.map((k) => [k, String(k)]), label: "K: products in a sum (log)" },
    y: { ...extent(values, { log: true }), text: (value) => value.toExponential(0), label: "error (log)" },
    series,
  });
}

// the library, what is drawn over sizes, and of each arithmetic the first row
function studied({ rows, library }) {
  const drawn = new Set(DATA.experiments.flatMap((each) => each.drawn));
  const first = rows.filter(([, arithmetic, target, sweep], at) => !sweep && rows.findIndex((row) => row[1] === arithmetic && row[2] === target && !row[3]) === at);
  const named = rows.filter(([name]) => drawn.has(name));
  return [...new Set([library, ...[...named, ...first].map(([name]) => name)])].slice(0, 8);
}

function studyTable(study, own, column, ks, caption) {
  const known = new Map(own.map((each) => [`${each[0]}/${each[2]}`, each]));
  const library = study.rows.findIndex(([name]) => name === study.library);
  const columns = [
    { name: "row", value: (row) => study.rows[row][0], cell: (row) => code(study.rows[row][0]) },
    { name: "arithmetic", value: (row) => study.rows[row][1] },
    ...ks.map((k) => ({ name: `K = ${k}`, number: true, value: (row) => known.get(`${row}/${k}`)?.[column] ?? null, cell: (row) => scientific(known.get(`${row}/${k}`)?.[column]) })),
  ];
  const last = ks.at(-1);
  const base = known.get(`${library}/${last}`)?.[column];
  if (base) columns.push({ name: `of ${study.library}’s at K = ${last}`, number: true, value: (row) => (known.has(`${row}/${last}`) ? known.get(`${row}/${last}`)[column] / base : null), cell: (row) => (known.has(`${row}/${last}`) ? `${significant(known.get(`${row}/${last}`)[column] / base)}×` : NONE) });
  const rows = study.rows.map((_, at) => at).filter((row) => ks.some((k) => known.has(`${row}/${k}`)));
  return table({ caption, columns, rows, file: "accuracy.csv", page: 25 });
}

function gateTable() {
  const columns = [
    { name: "case", value: (each) => each.id, cell: (each) => code(each.id, hrefOfCase(each.id)) },
    { name: "error", number: true, largestFirst: true, value: (each) => each.error, cell: (each) => scientific(each.error) },
    { name: "bound", number: true, value: (each) => each.bound, cell: (each) => scientific(each.bound) },
    { name: "of the bound", number: true, largestFirst: true, value: (each) => (each.bound ? each.error / each.bound : each.error), cell: (each) => (each.bound ? `${significant((100 * each.error) / each.bound, 2)} %` : NONE) },
    { name: "error is", value: (each) => each.error_metric ?? "" },
    { name: "status", value: (each) => each.status.replaceAll("_", " ") },
  ];
  const says = "The error of each case’s own results on real inputs, against float64, and the bound that it must keep before it is timed.";
  const sort = { by: columns[3], down: true };
  return section("The proof of every case", el("p", { class: "note" }, says), table({ caption: "Errors of all cases", columns, rows: INEXACT, file: "errors.csv", page: 25, sort }));
}
