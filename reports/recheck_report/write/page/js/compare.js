// another run's record next to this one: what is slower or faster by more than both can tell, by the
// rule of `recheck-report compare` (statistics/changes.py); and any two kernels of this record

VIEWS.compare = showCompare;

// what was dropped together; it is kept until the next drop, and goes nowhere
let OTHER = { record: null, verdicts: null, problems: [] };
const FILE = "a file";
const MOST_BYTES = 64e6; // a full record has a few MB

class Refused extends Error {}

function refuseUnless(right, why) {
  if (!right) throw new Refused(why);
}

async function take(files) {
  const found = { record: null, verdicts: null, problems: [] };
  for (const file of files) {
    try {
      refuseUnless(file.size <= MOST_BYTES, `has ${Math.round(file.size / 1e6)} MB; a record has a few MB: choose record.json`);
      understood(await parsed(file), found);
    } catch (problem) {
      const why = problem instanceof Refused ? problem.message : `cannot be read: ${problem.message}`;
      found.problems.push(`${file.name}: ${why}`);
    }
  }
  OTHER = found.record || found.verdicts ? found : { ...OTHER, problems: found.problems };
  const dropped = { view: "compare", other: FILE };
  if (location.hash === hrefOf(dropped)) show();
  else go(dropped);
}

async function parsed(file) {
  const text = await file.text();
  try {
    return JSON.parse(text);
  } catch {
    throw new Refused("is not JSON, or was cut off: choose the record.json of another run");
  }
}

function understood(read, found) {
  const object = typeof read === "object" && read !== null && !Array.isArray(read);
  refuseUnless(object && "schema" in read, "has no field schema: it is not a record of Recheck");
  if (Array.isArray(read.claims)) found.verdicts = verdictsOf(read);
  else found.record = recordOf(read);
}

function verdictsOf(read) {
  const known = DATA.verdicts_schema;
  refuseUnless(read.schema === known, `has schema ${String(read.schema).slice(0, 40)}; this page reads verdicts of schema ${known}`);
  const right = read.claims.every((each) => typeof each?.id === "string" && DATA.verdicts.includes(each.verdict));
  refuseUnless(right, "has a claim without an id or a verdict");
  return { gpu: String(read.record?.gpu ?? "no GPU"), claims: new Map(read.claims.map((each) => [each.id, each])) };
}

// of a record only what is compared: the times of its cases, by their ids
function recordOf(read) {
  const [oldest, newest] = DATA.schemas;
  const reads = Number.isInteger(read.schema) && oldest <= read.schema && read.schema <= newest;
  refuseUnless(reads, `has schema ${String(read.schema).slice(0, 40)}; this page reads schemas ${oldest} to ${newest}`);
  const { cases, environment } = read;
  refuseUnless(Array.isArray(cases) && typeof environment === "object" && environment, "has no list of cases: it is not a record of Recheck");
  refuseUnless(cases.every((each) => typeof each?.id === "string"), "has a case without an id");
  const said = (value) => (value === undefined || value === null ? null : String(value));
  return {
    gpu: environment.gpu ? said(environment.gpu.name) : null,
    commit: said(environment.git?.commit),
    started: said(environment.started),
    driver: said(environment.driver),
    cases: new Map(cases.map((each) => [each.id, { unsure: Boolean(each.disturbed), ...timesOf(each) }])),
  };
}

// ignores an odd time
function timesOf({ seconds }) {
  const { median, low, high } = seconds ?? {};
  const right = [low, median, high].every((each) => typeof each === "number") && 0 < low && low <= median && median <= high && high < 1e9;
  return right ? { median, low, high } : { median: null };
}

// what became of one case: its ratio by the far ends of the medians' intervals, held to its noise
function changeOf(old, other) {
  const ratio = { value: old.median / other.median, low: old.low / other.high, high: old.high / other.low };
  const shorter = Math.min(old.median, other.median);
  const noise = old.noise.find(([below]) => below === null || shorter < below)[1] ?? Infinity;
  const looks = ratio.low > 1 + noise ? "faster" : ratio.high < 1 / (1 + noise) ? "slower" : "no difference";
  return { old, other, ratio, noise, changed: old.unsure || other.unsure ? "disturbed" : looks };
}

// every case that has a time in both; those of the audit are one kernel many times over
function changes(record) {
  const both = CASES.filter((old) => old.median && record.cases.get(old.id)?.median && !isAudit(old));
  return both.map((old) => changeOf(old, record.cases.get(old.id)));
}

// a record that the page holds: its times stand in the order of CASES
function heldRecord({ median, low, high, unsure, verdicts, ...about }) {
  const open = new Set(unsure);
  const cases = CASES.map(({ id }, at) => [id, { median: median[at], low: low[at], high: high[at], unsure: open.has(at) }]);
  const claims = new Map(Object.entries(verdicts).map(([id, verdict]) => [id, { id, verdict }]));
  return { record: { ...about, cases: new Map(cases) }, verdicts: { gpu: about.gpu, claims }, problems: [] };
}

function showCompare(root, state) {
  const dropped = OTHER.record || OTHER.verdicts || OTHER.problems.length;
  const runs = [...DATA.others.map(({ name }) => name), ...(dropped ? [FILE] : [])];
  const name = chosen(state.other, runs, dropped ? FILE : (runs[0] ?? ""));
  const held = DATA.others.find((each) => each.name === name);
  const { record, verdicts, problems } = held ? heldRecord(held) : OTHER;
  const heading = el("h1", { class: record || verdicts ? "unseen" : null }, "Compare with another run");
  const choice = runs.length ? controls(select("other", "Other run", runs.map((each) => [each, each]), name, (value) => go({ ...state, view: "compare", other: value }))) : "";
  add(root, heading, choice, ...problems.map((text) => el("p", { class: "warning", role: "alert" }, text)));
  const zone = dropZone(Boolean(record || verdicts));
  if (record || verdicts) add(root, zone);
  if (record) add(root, ...comparison(record));
  if (verdicts) add(root, turned(verdicts));
  add(root, twoKernels(state), record || verdicts ? "" : zone);
}

const MEDIAN_OF = (sorted) => (sorted[(sorted.length - 1) >> 1] + sorted[sorted.length >> 1]) / 2;
const ascending = (values) => [...values].sort((a, b) => a - b);

// the logarithms of a case's blocks' medians, by round
function logsByRound(each) {
  const blocks = new Map();
  for (const { round, value } of samplesOf(each)) blocks.set(round, [...(blocks.get(round) ?? []), value]);
  return new Map([...blocks].map(([round, values]) => [round, Math.log(MEDIAN_OF(ascending(values)))]));
}

// how many times faster `each` is than `other`: by their common rounds as in statistics/paired.py;
// by the far ends of their intervals if they share too few
function ratioOf(each, other) {
  if (each.base === other && each.speedup) return each.speedup;
  const [own, theirs] = SAMPLES.ready && each.row.target === other.row.target ? [logsByRound(each), logsByRound(other)] : [new Map(), new Map()];
  const logs = ascending([...own].filter(([round]) => theirs.has(round)).map(([round, log]) => theirs.get(round) - log));
  const n = logs.length;
  let ratio = { value: other.median / each.median, low: other.low / each.high, high: other.high / each.low, mark: "ᵉ" };
  if (n >= 6 && n <= 400) {
    const outside = [1]; // by k, the chance that the median is not between the k-th values
    for (let below = 0, ways = 1, total = 0; below < n >> 1; ways = (ways * (n - below)) / ++below) {
      total += ways / 2 ** n;
      outside.push(2 * total);
    }
    outside.push(1);
    let k = 1;
    while (k < n >> 1 && outside[k + 1] <= 0.05) k++;
    const part = (0.05 - outside[k]) / (outside[k + 1] - outside[k]);
    const weight = ((n - k) * part) / (k + (n - 2 * k) * part);
    const between = (outer, inner) => Math.exp((1 - weight) * logs[outer] + weight * logs[inner]);
    ratio = { value: Math.exp(MEDIAN_OF(logs)), low: between(k - 1, k), high: between(n - k, n - k - 1), mark: "" };
  }
  return { ...ratio, open: ratio.low <= 1 && ratio.high >= 1 };
}

// any two kernels of an experiment where both have times
function twoKernels(state) {
  const known = ordinary();
  const experiment = EXPERIMENTS.get(chosen(state.experiment, known.map((each) => each.name)));
  const timed = CASES.filter((each) => each.experiment === experiment?.name && each.median);
  const names = (experiment?.rows ?? []).filter((name) => timed.some((each) => each.row.name === name));
  if (names.length < 2) return "";
  const lead = experiment.drawn.find((name) => name !== experiment.vendor && names.includes(name)) ?? names[0];
  const first = chosen(state.kernel, names, lead);
  const second = chosen(state.against, names, names.includes(experiment.vendor) ? experiment.vendor : names.find((name) => name !== first));
  const where = ({ shape, regime }) => `${shape}/${regime}`;
  const others = new Map(timed.filter((each) => each.row.name === second).map((each) => [where(each), each]));
  const pairs = timed.filter((each) => each.row.name === first && others.has(where(each))).map((each) => ({ each, other: others.get(where(each)) }));
  const rows = pairs.map(({ each, other }) => ({ each, other, ratio: ratioOf(each, other) }));
  const change = (more) => go({ view: "compare", other: state.other, experiment: experiment.name, kernel: first, against: second, ...more });
  const options = names.map((name) => [name, name]);
  const columns = [
    { name: "shape", value: ({ each }) => each.shape, cell: ({ each }) => shapeLabel(each.shape) },
    { name: "regime", value: ({ each }) => regimeLabel(each.regime) },
    { name: first, number: true, value: ({ each }) => each.median, cell: ({ each, other }) => durations(each.median, other.median)[0] },
    { name: second, number: true, value: ({ other }) => other.median, cell: ({ each, other }) => durations(each.median, other.median)[1] },
    { name: `${first} against ${second}`, number: true, value: ({ ratio }) => ratio.value, cell: ({ ratio }) => signed(ratioText(ratio)) },
  ];
  return section(
    "Two kernels of this report",
    controls(
      select("experiment", "Experiment", known.map((each) => [each.name, each.title]), experiment.name, (value) => go({ view: "compare", other: state.other, experiment: value })),
      select("kernel", "Kernel", options, first, (value) => change({ kernel: value })),
      select("against", "Against", options, second, (value) => change({ against: value })),
    ),
    rows.length ? table({ caption: `${first} against ${second}`, columns, rows, page: 50 }) : el("p", {}, "The two have no shape and regime in common."),
  );
}

function dropZone(again) {
  const input = el("input", { type: "file", id: "files", accept: ".json,application/json", multiple: true, onchange: () => take([...input.files]) });
  return el(
    "div",
    { class: "drop" },
    el("p", {}, again ? "Another record, with its verdicts if you like:" : "Drop another run’s record.json on this page, with its verdicts.json if you like, or choose them."),
    el("label", { for: "files" }, "Files: ", input),
    el("p", { class: "note" }, "Files stay in your browser. A case counts as slower or faster if the whole interval of its ratio lies beyond the noise of its class: what two runs of the same code on GPUs of one model stay within in 999 of 1000 cases."),
  );
}

function comparison(record) {
  const found = changes(record);
  const size = (each) => Math.abs(Math.log(each.ratio.value));
  const of = (kind) => found.filter((each) => each.changed === kind).sort((a, b) => size(b) - size(a));
  const [slower, faster] = [of("slower"), of("faster")];
  const absent = CASES.filter((each) => each.median && !isAudit(each) && !record.cases.get(each.id)?.median);
  const who = [record.gpu ?? "no GPU", record.commit && `commit ${record.commit.slice(0, 7)}`, record.started?.slice(0, 10), record.driver && `driver ${record.driver}`];
  const rest = found.length - slower.length - faster.length;
  const differ = record.gpu !== DATA.gpu;
  const bothGpus = record.gpu && DATA.gpu;
  const where = differ && bothGpus ? "on the other GPU" : "in the other run";
  const said = `${where[0].toUpperCase()}${where.slice(1)}, ${faster.length} of ${plural(found.length, "shared case")} are faster, ${slower.length} slower and ${rest.toLocaleString("en")} indistinguishable.`;
  announce(said);
  const leading = found.filter((each) => leads(each.old));
  return [
    el("p", { class: "eyebrow" }, `${who.filter(Boolean).join(" · ")}, against this report’s ${DATA.title}`),
    el("p", { class: "answer", id: "answer" }, found.length ? said : "The two records have no timed case in common."),
    differ ? el("p", { class: "second" }, bothGpus ? "The other record is from a different GPU model, so differences include the hardware." : "One of the two records has no GPU: only programs on the CPU compare.") : "",
    leading.length ? changesTable("The library, the first kernel, the fastest", leading, true) : "",
    slower.length ? changesTable(`Slower ${where}`, slower) : "",
    faster.length ? changesTable(`Faster ${where}`, faster) : "",
    absent.length ? el("p", {}, `${plural(absent.length, "case")} of this report ${absent.length === 1 ? "has" : "have"} no time there.`) : "",
    found.length ? fold(`All ${found.length} cases that both have`, () => changesTable("All cases in both runs", found, true)) : "",
  ];
}

// a row that is drawn over sizes, at the headline shape of its experiment
function leads(each) {
  const { drawn, headline } = EXPERIMENTS.get(each.experiment);
  return each.shape === headline && drawn.slice(0, 4).includes(each.row.name) && stands(each);
}

const CHANGE_COLUMNS = [
  { name: "case", value: (each) => each.old.id, cell: (each) => code(each.old.id, hrefOfCase(each.old.id)) },
  { name: "speed-up", number: true, value: (each) => each.ratio.value, cell: (each) => ratioText(each.ratio) },
  { name: "this report", number: true, minor: true, value: (each) => each.old.median, cell: (each) => durations(each.old.median, each.other.median)[0] },
  { name: "the other run", number: true, minor: true, value: (each) => each.other.median, cell: (each) => durations(each.old.median, each.other.median)[1] },
  { name: "noise", number: true, minor: true, value: (each) => each.noise, cell: (each) => noiseText(each.noise) },
  { name: "change", value: (each) => each.changed },
];

function noiseText(noise) {
  if (noise === Infinity) return "not known";
  return noise < 1 ? `${significant(100 * noise, 2)} %` : noise < 9 ? `a factor of ${+(1 + noise).toPrecision(3)}` : "more than tenfold";
}

function changesTable(caption, rows, change = false) {
  return table({ caption, columns: CHANGE_COLUMNS.slice(0, change ? 6 : 5), rows, page: change ? 50 : 10 });
}

function turned({ gpu, claims }) {
  const rows = CLAIMS.map((claim) => ({ claim, other: claims.get(claim.dataset.id) })).filter(({ claim, other }) => other && other.verdict !== claim.dataset.verdict && [other.verdict, claim.dataset.verdict].every((each) => each !== "not measured"));
  const part = ({ claim }, name) => claim.querySelector(`.${name}`);
  const columns = [
    { name: "claim", value: ({ claim }) => claim.dataset.id, cell: ({ claim }) => [link(claim.dataset.id, { view: "claims", claim: claim.dataset.id }), " ", part({ claim }, "what").firstChild.cloneNode()] },
    { name: "this report", value: ({ claim }) => claim.dataset.verdict, cell: ({ claim }) => part({ claim }, "verdict").cloneNode(true) },
    { name: "the other run", value: ({ other }) => other.verdict, cell: ({ other }) => el("span", { class: `verdict v-${other.verdict.replaceAll(" ", "-")}` }, other.verdict) },
    { name: "measured here", value: ({ claim }) => part({ claim }, "here").textContent, cell: ({ claim }) => [...part({ claim }, "here").cloneNode(true).childNodes] },
  ];
  const said = `${plural(rows.length, "verdict")} turned on ${gpu}${rows.length ? "" : ": all are the same"}.`;
  return section("Verdicts", el("p", {}, said), rows.length ? table({ caption: "Verdicts that turned", columns, rows }) : "");
}

// anywhere on the page
document.addEventListener("dragover", (event) => event.preventDefault());
document.addEventListener("drop", (event) => {
  event.preventDefault();
  if (event.dataTransfer.files.length) take([...event.dataTransfer.files]);
});
