// how near each row comes to what the machine could do with the problem's compulsory work and bytes

VIEWS.push({ name: "roofline", title: "Roofline", show: showRoofline });

function showRoofline(root, state) {
  const known = ordinary().filter((each) => roofCases(each).length);
  const experiment = known.find((each) => each.name === state.experiment) ?? known[0];
  add(root, el("h1", {}, "Roofline"));
  if (!experiment) {
    add(root, el("p", {}, `No roofline: ${DATA.about.why_no_gpu ?? "no cold GPU case was measured"}.`));
    return;
  }
  const cases = roofCases(experiment);
  const ceilings = ceilingsOf();
  const intensities = cases.map((each) => each.flops / each.bytes);
  const flat = Math.max(...intensities) < 2 * Math.min(...intensities) || !Math.min(...intensities);
  add(
    root,
    el(
      "form",
      { class: "controls", onsubmit: (event) => event.preventDefault() },
      select("experiment", "Experiment", known.map((each) => [each.name, each.title]), experiment.name, (value) => go({ view: "roofline", experiment: value })),
    ),
    el("p", { class: "note" }, flat ? flatNote(intensities) : "Across: the operations that a product needs for each byte that it must move; so a column of points is a shape. A row can be no higher than the lower of the two roofs, unless the cache still holds its data or, § and †, tensor cores compute."),
    flat ? bytesPlot(experiment, cases, ceilings) : roofPlot(experiment, cases, ceilings),
    roofTable(experiment, cases, ceilings),
  );
}

function flatNote(intensities) {
  const most = Math.max(...intensities);
  const work = most ? `At every shape it needs ${significant(most, 2)} operations for each byte` : "It moves bytes and computes nothing";
  return `${work}: the memory’s speed is its only roof, so the bytes that it must move are set against their rate.`;
}

function roofCases({ name }) {
  return CASES.filter((each) => each.experiment === name && each.median && each.bytes && each.regime === "cold" && each.row.target === "gpu" && !each.row.sweep && each.row.contends);
}

// what the specification says, and what the machine's own rows reached; rates in SI units
function ceilingsOf() {
  const best = (work, names) => {
    const found = CASES.filter((each) => each.experiment === "machine" && names.includes(each.row.name) && each.median);
    return found.length ? Math.max(...found.map((each) => each[work] / each.median)) : null;
  };
  return {
    bytes: { specified: DATA.ceilings.dram_bytes_per_second?.value ?? null, measured: best("bytes", ["read", "copy"]) },
    flops: { specified: DATA.ceilings.fp32_flops?.value ?? null, measured: best("flops", ["ffma"]) },
  };
}

// every row faint, and by name the fastest of each arithmetic and the vendor's
function roofSeries(experiment, cases, x, y, unit) {
  const point = (each) => ({ x: x(each), y: y(each), text: `${each.row.name}${each.row.marks} at ${shapeLabel(each.shape)}: ${significant(y(each))} ${unit}`, go: { view: "samples", case: each.id } });
  const best = (fits) => experiment.shapes.flatMap((shape) => {
    const found = cases.filter((each) => each.shape === shape && fits(each)).sort((a, b) => a.median - b.median)[0];
    return found ? [point(found)] : [];
  });
  return [
    { name: "every row", tone: 7, faint: true, size: 2.5, points: cases.map(point) },
    experiment.vendor && { name: experiment.vendor, tone: 1, shape: "square", points: best((each) => each.row.name === experiment.vendor) },
    { name: fastestOf(experiment), tone: 0, points: best((each) => each.row.arithmetic === "fp32" && each.row.name !== experiment.vendor) },
    { name: "fastest split row §", tone: 2, shape: "triangle", points: best((each) => each.row.arithmetic === "split") },
  ].filter((each) => each?.points.length);
}

function roofPlot(experiment, cases, { bytes, flops }) {
  const intensity = (each) => each.flops / each.bytes;
  const speed = (each) => each.flops / each.median / 1e12;
  const series = roofSeries(experiment, cases, intensity, speed, "TFLOP/s");
  const x = extent(cases.map(intensity), { log: true, room: 0.08 });
  const limits = [];
  for (const [kind, words] of [["specified", "specified"], ["measured", "measured"]]) {
    const dashed = kind === "measured" ? " thin" : "";
    if (bytes[kind]) limits.push({ name: `memory, ${words}`, tone: dashed, points: [x.low, x.high].map((at) => [at, (at * bytes[kind]) / 1e12]) });
    if (flops[kind]) limits.push({ name: `fp32, ${words}: ${significant(flops[kind] / 1e12)} TFLOP/s`, tone: dashed, points: [x.low, x.high].map((at) => [at, flops[kind] / 1e12]) });
  }
  const y = extent([...cases.map(speed), ...[flops.specified].filter(Boolean).map((each) => each / 1e12)], { log: true, room: 0.05 });
  return figure({
    caption: nearest(experiment, cases, { bytes, flops }),
    alt: `Roofline of ${experiment.title}, cold: TFLOP/s against operations for each byte. ${nearest(experiment, cases, { bytes, flops })}`,
    x: { ...x, label: "flop for each byte (log)" },
    y: { ...y, label: "TFLOP/s (log)" },
    series,
    limits,
  });
}

function bytesPlot(experiment, cases, { bytes }) {
  const speed = (each) => each.bytes / each.median / 1e9;
  const series = roofSeries(experiment, cases, (each) => each.bytes, speed, "GB/s");
  const x = extent(cases.map((each) => each.bytes), { log: true, room: 0.05 });
  const limits = ["specified", "measured"].filter((kind) => bytes[kind]).map((kind) => ({
    name: `DRAM, ${kind}: ${significant(bytes[kind] / 1e9)} GB/s`,
    tone: kind === "measured" ? " thin" : "",
    points: [x.low, x.high].map((at) => [at, bytes[kind] / 1e9]),
  }));
  return figure({
    caption: nearest(experiment, cases, { bytes, flops: {} }),
    alt: `Roofline of ${experiment.title}, cold: GB/s against the bytes that must move. ${nearest(experiment, cases, { bytes, flops: {} })}`,
    x: { ...x, text: bytesTick, label: "bytes that must move (log)" },
    y: { ...extent([...cases.map(speed), ...limits.map((each) => each.points[0][1])], { log: true }), label: "GB/s (log)" },
    series,
    limits,
  });
}

// 5e7 -> "50 MB"
function bytesTick(bytes) {
  const [scale, unit] = bytes >= 1e9 ? [1e9, "GB"] : bytes >= 1e6 ? [1e6, "MB"] : [1e3, "kB"];
  return `${+(bytes / scale).toPrecision(3)} ${unit}`;
}

// the most that the specification allows a case, in operations or bytes per second, and what binds
function attainable(each, { bytes, flops }) {
  const memory = bytes.specified ?? Infinity;
  const compute = each.flops ? (flops.specified ?? Infinity) * (each.bytes / each.flops) : Infinity;
  if (memory === Infinity && compute === Infinity) return null;
  return { seconds: each.bytes / Math.min(memory, compute), binds: compute < memory ? "fp32 units" : "memory" };
}

function nearest(experiment, cases, ceilings) {
  const shape = chosen(experiment.headline, experiment.shapes);
  const best = cases.filter((each) => each.shape === shape && each.row.arithmetic === "fp32").sort((a, b) => a.median - b.median)[0];
  const limit = best && attainable(best, ceilings);
  if (!limit) return experiment.title;
  return `At ${shapeLabel(shape)} ${best.row.name} reaches ${significant((100 * limit.seconds) / best.median)} % of what the ${limit.binds} allow${limit.binds === "memory" ? "s" : ""}`;
}

function roofTable(experiment, cases, ceilings) {
  const rows = experiment.shapes.flatMap((shape) => {
    const best = cases.filter((each) => each.shape === shape && each.row.arithmetic === "fp32").sort((a, b) => a.median - b.median)[0];
    return best ? [{ shape, best, limit: attainable(best, ceilings) }] : [];
  });
  const unit = experiment.metric.unit;
  const columns = [
    { name: "shape", value: ({ shape }) => shape, cell: ({ shape }) => shapeLabel(shape) },
    { name: "bytes", number: true, value: ({ best }) => best.bytes, cell: ({ best }) => bytesText(best.bytes) },
    { name: "flop for each byte", number: true, value: ({ best }) => best.flops / best.bytes, cell: ({ best }) => significant(best.flops / best.bytes) },
    { name: "bound by", value: ({ limit }) => limit?.binds ?? NONE },
    { name: `attainable, ${unit}`, number: true, value: ({ best, limit }) => (limit ? rate(best, limit.seconds) : null), cell: ({ best, limit }) => (limit ? significant(rate(best, limit.seconds)) : NONE) },
    { name: fastestOf(experiment), value: ({ best }) => best.row.name, cell: ({ best }) => code(best.row.name, hrefOf({ view: "samples", case: best.id })) },
    { name: unit, number: true, value: ({ best }) => rate(best), cell: ({ best }) => significant(rate(best)) },
    { name: "of attainable", number: true, value: ({ best, limit }) => (limit ? limit.seconds / best.median : null), cell: ({ best, limit }) => (limit ? `${significant((100 * limit.seconds) / best.median)} %` : NONE) },
  ];
  return table({ caption: `${experiment.title}, cold: the ${fastestOf(experiment)} of each shape against the specified limits`, columns, rows, file: `roofline-${experiment.name}.csv` });
}
