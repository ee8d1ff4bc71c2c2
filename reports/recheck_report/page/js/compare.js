// another run's record beside this one: what became slower or faster by more than both can tell

VIEWS.push({ name: "compare", title: "Compare", show: showCompare });

// what was dropped; it is kept while the page is open, and goes nowhere
const OTHER = { record: null, verdicts: null, problems: [] };
const MOST_BYTES = 64e6; // a full record has a few MB

class Refused extends Error {}

function refuseUnless(right, why) {
  if (!right) throw new Refused(why);
}

async function take(files) {
  OTHER.problems = [];
  for (const file of files) {
    try {
      refuseUnless(file.size <= MOST_BYTES, `has ${bytesText(file.size)}; a record has a few MB: choose record.json`);
      understood(await parsed(file));
    } catch (problem) {
      const why = problem instanceof Refused ? problem.message : `cannot be read: ${problem.message}`;
      OTHER.problems.push(`${file.name}: ${why}`);
    }
  }
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

function understood(found) {
  const object = typeof found === "object" && found !== null && !Array.isArray(found);
  refuseUnless(object && "schema" in found, "has no field schema: it is no record of Recheck");
  if (Array.isArray(found.claims)) OTHER.verdicts = verdictsOf(found);
  else OTHER.record = recordOf(found);
}

function verdictsOf(found) {
  refuseUnless(found.schema === 1, `has schema ${String(found.schema).slice(0, 40)}; this page reads verdicts of schema 1`);
  const claims = found.claims.filter((each) => typeof each?.id === "string" && VERDICTS.includes(each.verdict));
  refuseUnless(claims.length === found.claims.length, "has a claim without an id or a verdict");
  return { gpu: String(found.record?.gpu ?? "no GPU"), claims: new Map(claims.map((each) => [each.id, each])) };
}

// of a record only what is compared: the times of its cases, by their ids
function recordOf(found) {
  const [oldest, newest] = DATA.schemas;
  const reads = Number.isInteger(found.schema) && oldest <= found.schema && found.schema <= newest;
  refuseUnless(reads, `has schema ${String(found.schema).slice(0, 40)}; this page reads schemas ${oldest} to ${newest}`);
  refuseUnless(Array.isArray(found.cases) && typeof found.environment === "object" && found.environment, "has no list of cases: it is no record of Recheck");
  const cases = new Map();
  for (const each of found.cases) {
    refuseUnless(typeof each?.id === "string", "has a case without an id");
    cases.set(each.id, { id: each.id, status: String(each.status ?? ""), reason: String(each.reason ?? ""), disturbed: Boolean(each.disturbed), ...timesOf(each) });
  }
  const { gpu, git, started, driver, cuda_runtime: cuda } = found.environment;
  const known = { commit: git?.commit, started, driver, cuda };
  for (const name of Object.keys(known)) known[name] = known[name] === undefined || known[name] === null ? null : String(known[name]);
  return { gpu: gpu ? String(gpu.name) : null, cases, ...known };
}

// an odd time is none
function timesOf({ seconds }) {
  if (seconds === null || seconds === undefined) return { median: null };
  const { median: middle, low, high } = seconds;
  const right = [low, middle, high].every((each) => typeof each === "number") && 0 < low && low <= middle && middle <= high && high < 1e9;
  return right ? { median: middle, low, high } : { median: null };
}

// every case that has a time in both, and what became of it
function changes(record) {
  return CASES.flatMap((old) => {
    const other = record.cases.get(old.id);
    if (!old.median || !other?.median) return [];
    const ratio = { ...farEnds(old, other), mark: "" }; // all of them are
    const margin = DATA.variation.margins[classOf(old, other)] ?? Infinity;
    const unsure = old.unsure || other.disturbed;
    const changed = unsure ? "disturbed" : ratio.low > 1 + margin ? "faster" : ratio.high < 1 / (1 + margin) ? "slower" : "no difference";
    return [{ old, other, ratio, margin, changed, size: Math.abs(Math.log(ratio.value)) }];
  });
}

function showCompare(root) {
  const { record, verdicts, problems } = OTHER;
  add(root, el("h1", { class: record || verdicts ? "unseen" : null }, "Compare with another run"), ...problems.map((text) => el("p", { class: "warning", role: "alert" }, text)));
  if (record) add(root, ...comparison(record));
  if (verdicts) add(root, turned(verdicts));
  add(root, dropZone(Boolean(record || verdicts)));
}

function dropZone(again) {
  const input = el("input", { type: "file", id: "files", accept: ".json,application/json", multiple: true, onchange: () => take([...input.files]) });
  return el(
    "div",
    { class: "drop" },
    el("p", {}, again ? "Another record, or its verdicts:" : "Drop another run’s record.json on this page, and its verdicts.json if you like, or choose them."),
    el("label", { for: "files" }, "Files: ", input),
    el("p", { class: "note" }, "They are read by this page and go nowhere. A case became slower or faster if the whole interval of its ratio lies beyond its margin: what two runs of the same code on GPUs of one model stay within in 999 of 1000 cases."),
  );
}

function comparison(record) {
  const found = changes(record);
  const of = (kind) => found.filter((each) => each.changed === kind).sort((a, b) => b.size - a.size);
  const [slower, faster] = [of("slower"), of("faster")];
  const absent = CASES.filter((each) => each.median && !record.cases.get(each.id)?.median);
  const who = [record.gpu ?? "no GPU", record.commit && `commit ${record.commit.slice(0, 7)}`, record.started?.slice(0, 10), record.driver && `driver ${record.driver}`].filter(Boolean).join(" · ");
  const said = `${slower.length} of ${plural(found.length, "case")} became slower, ${faster.length} faster; ${found.length - slower.length - faster.length} differ by no more than both runs can tell.`;
  announce(said);
  const about = record.gpu === DATA.about.gpu ? "" : ` Another GPU: what differs is the machine’s as well.`;
  return [
    el("p", { class: "eyebrow" }, `${who}, against this report’s ${DATA.title}`),
    el("p", { class: "answer", id: "answer" }, found.length ? said : "The two records have no timed case in common."),
    el("p", { class: "second" }, typically(found), about),
    slower.length ? changesTable("Slower than in this report", slower) : "",
    faster.length ? changesTable("Faster than in this report", faster) : "",
    absent.length ? lostTable(absent, record) : "",
    found.length ? allChanges(found) : "",
  ];
}

// half of the cases of each experiment are above this, half below
function typically(found) {
  const parts = ordinary().flatMap(({ name, title }) => {
    const values = found.filter((each) => each.old.experiment === name).map((each) => each.ratio.value);
    return values.length ? [`${title.toLowerCase()} ${median(values).toFixed(3)} times as fast`] : [];
  });
  return parts.length ? `By the median of its cases: ${parts.join(", ")}.` : "";
}

const CHANGE_COLUMNS = [
  { name: "case", value: (each) => each.old.id, cell: (each) => code(each.old.id, hrefOf({ view: "samples", case: each.old.id })) },
  { name: "times as fast", number: true, value: (each) => each.ratio.value, cell: (each) => ratioText(each.ratio), saved: (each) => ratioText(each.ratio) },
  { name: "this report", number: true, value: (each) => each.old.median, cell: (each) => durations(each.old.median, each.other.median)[0] },
  { name: "the other run", number: true, value: (each) => each.other.median, cell: (each) => durations(each.old.median, each.other.median)[1] },
  { name: "margin", number: true, value: (each) => each.margin, cell: (each) => marginText(each.margin) },
  { name: "change", value: (each) => each.changed },
];

function marginText(margin) {
  if (margin === Infinity) return "not known";
  return margin < 1 ? `${significant(100 * margin, 2)} %` : `a factor of ${+(1 + margin).toPrecision(3)}`;
}

function changesTable(caption, rows) {
  return table({ caption, columns: CHANGE_COLUMNS.slice(0, 5), rows, file: "changes.csv", page: 50 });
}

function allChanges(found) {
  const fold = el("details", { class: "fold" }, el("summary", {}, `All ${found.length} cases that both have`));
  fold.addEventListener("toggle", () => {
    if (fold.open && fold.children.length < 2) fold.append(table({ caption: "All cases in both runs", columns: CHANGE_COLUMNS, rows: [...found].sort((a, b) => a.ratio.value - b.ratio.value), file: "all-changes.csv" }));
  });
  return fold;
}

function lostTable(absent, record) {
  const status = (each) => record.cases.get(each.id)?.status.replaceAll("_", " ") ?? "not in it";
  const columns = [
    { name: "case", value: (each) => each.id, cell: (each) => code(each.id) },
    { name: "there", value: status },
    { name: "reason", wide: true, value: (each) => record.cases.get(each.id)?.reason ?? "" },
  ];
  return table({ caption: `Without a time in the other run: ${absent.length}`, columns, rows: absent, file: "lost.csv", page: 10 });
}

function turned({ gpu, claims }) {
  const rows = DATA.claims.flatMap((each) => {
    const other = claims.get(each.id);
    return other && other.verdict !== each.verdict ? [{ claim: each, other }] : [];
  });
  const columns = [
    { name: "claim", value: ({ claim }) => claim.id, cell: ({ claim }) => [link(claim.id, { view: "claims", claim: claim.id }), " ", rich(claim.title)] },
    { name: "this report", value: ({ claim }) => DATA.words[claim.verdict], cell: ({ claim }) => verdictOf(claim.verdict) },
    { name: "the other run", value: ({ other }) => DATA.words[other.verdict], cell: ({ other }) => verdictOf(other.verdict) },
    { name: "measured here", value: ({ claim }) => claim.measured },
    { name: "measured there", value: ({ other }) => otherMeasured(other) },
  ];
  const said = `${plural(rows.length, "verdict")} turned on ${gpu}${rows.length ? "" : ": all are the same"}.`;
  return section("Verdicts", el("p", {}, said), rows.length ? table({ caption: "Verdicts that turned", columns, rows, file: "turned.csv" }) : "");
}

function otherMeasured({ measured, reason }) {
  if (!measured || typeof measured.value !== "number") return String(reason ?? NONE);
  const { value, low, high, unit } = measured;
  if (unit === "×" && typeof low === "number" && typeof high === "number") return ratioText({ value, low, high });
  return `${+value.toPrecision(6)} ${unit ?? ""}`.trim();
}

// anywhere on the page
document.addEventListener("dragover", (event) => event.preventDefault());
document.addEventListener("drop", (event) => {
  event.preventDefault();
  if (event.dataTransfer.files.length) take([...event.dataTransfer.files]);
});
