// another run's record beside this one: what became slower or faster by more than both can tell, by
// the rule of `recheck-report compare` (statistics/changes.py)

VIEWS.compare = showCompare;

// what was dropped together; it is kept until the next drop, and goes nowhere
let OTHER = { record: null, verdicts: null, problems: [] };
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
  if (address().view === "compare") show();
  else go({ view: "compare" });
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
  refuseUnless(object && "schema" in read, "has no field schema: it is no record of Recheck");
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
  refuseUnless(Array.isArray(cases) && typeof environment === "object" && environment, "has no list of cases: it is no record of Recheck");
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

// an odd time is none
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

function showCompare(root) {
  const { record, verdicts, problems } = OTHER;
  const heading = el("h1", { class: record || verdicts ? "unseen" : null }, "Compare with another run");
  add(root, heading, ...problems.map((text) => el("p", { class: "warning", role: "alert" }, text)));
  if (record) add(root, ...comparison(record));
  if (verdicts) add(root, turned(verdicts));
  add(root, dropZone(Boolean(record || verdicts)));
}

function dropZone(again) {
  const input = el("input", { type: "file", id: "files", accept: ".json,application/json", multiple: true, onchange: () => take([...input.files]) });
  return el(
    "div",
    { class: "drop" },
    el("p", {}, again ? "Another record, with its verdicts if you like:" : "Drop another run’s record.json on this page, with its verdicts.json if you like, or choose them."),
    el("label", { for: "files" }, "Files: ", input),
    el("p", { class: "note" }, "They are read by this page and go nowhere. A case became slower or faster if the whole interval of its ratio lies beyond the noise of its class: what two runs of the same code on GPUs of one model stay within in 999 of 1000 cases."),
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
  const said = `${slower.length} of ${plural(found.length, "case")} became slower, ${faster.length} faster; ${rest} differ by no more than both runs can tell.`;
  announce(said);
  const leading = found.filter((each) => leads(each.old));
  return [
    el("p", { class: "eyebrow" }, `${who.filter(Boolean).join(" · ")}, against this report’s ${DATA.title}`),
    el("p", { class: "answer", id: "answer" }, found.length ? said : "The two records have no timed case in common."),
    record.gpu === DATA.gpu ? "" : el("p", { class: "second" }, "Another GPU: what differs is the machine’s as well."),
    leading.length ? changesTable("The library, the first kernel, the fastest", leading, true) : "",
    slower.length ? changesTable("Slower than in this report", slower) : "",
    faster.length ? changesTable("Faster than in this report", faster) : "",
    absent.length ? el("p", {}, `${plural(absent.length, "case")} of this report ${absent.length === 1 ? "has" : "have"} no time there.`) : "",
    found.length ? fold(`All ${found.length} cases that both have`, () => changesTable("All cases in both runs", found, true)) : "",
  ];
}

// a row that is drawn over sizes, at the shape that its experiment is told by
function leads(each) {
  const { drawn, headline } = EXPERIMENTS.get(each.experiment);
  return each.shape === headline && drawn.slice(0, 4).includes(each.row.name) && stands(each);
}

const CHANGE_COLUMNS = [
  { name: "case", value: (each) => each.old.id, cell: (each) => code(each.old.id, hrefOfCase(each.old.id)) },
  { name: "times as fast", number: true, value: (each) => each.ratio.value, cell: (each) => ratioText(each.ratio) },
  { name: "this report", number: true, minor: true, value: (each) => each.old.median, cell: (each) => durations(each.old.median, each.other.median)[0] },
  { name: "the other run", number: true, minor: true, value: (each) => each.other.median, cell: (each) => durations(each.old.median, each.other.median)[1] },
  { name: "noise", number: true, minor: true, value: (each) => each.noise, cell: (each) => noiseText(each.noise) },
  { name: "change", value: (each) => each.changed },
];

function noiseText(noise) {
  if (noise === Infinity) return "not known";
  return noise < 1 ? `${significant(100 * noise, 2)} %` : `a factor of ${+(1 + noise).toPrecision(3)}`;
}

function changesTable(caption, rows, change = false) {
  return table({ caption, columns: CHANGE_COLUMNS.slice(0, change ? 6 : 5), rows, page: 50 });
}

function turned({ gpu, claims }) {
  const rows = CLAIMS.map((claim) => ({ claim, other: claims.get(claim.dataset.id) })).filter(({ claim, other }) => other && other.verdict !== claim.dataset.verdict);
  const part = ({ claim }, name) => claim.querySelector(`.${name}`);
  const columns = [
    { name: "claim", value: ({ claim }) => claim.dataset.id, cell: ({ claim }) => [link(claim.dataset.id, { view: "claims", claim: claim.dataset.id }), " ", part({ claim }, "what").firstChild.cloneNode()] },
    { name: "this report", value: ({ claim }) => claim.dataset.verdict, cell: ({ claim }) => part({ claim }, "verdict").cloneNode(true) },
    { name: "the other run", value: ({ other }) => other.verdict, cell: ({ other }) => el("span", { class: `verdict v-${other.verdict.replaceAll(" ", "-")}` }, other.verdict) },
    { name: "measured here", value: ({ claim }) => part({ claim }, "here").textContent },
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
