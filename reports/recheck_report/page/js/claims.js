// every claim, with its quote, its checks, and the samples that they rest on; and the errata

VIEWS.push({ name: "claims", title: "Claims", samples: true, show: showClaims });

function showClaims(root, state) {
  const documents = [["", "all"], ...DATA.documents.map((each) => [each.id, `${each.id}, ${each.name}`])];
  const kinds = [...new Set(DATA.claims.map((each) => each.kind))];
  const verdicts = VERDICTS.filter(count);
  const shown = el("div");
  const change = (more) => go({ ...state, claim: null, erratum: null, ...more });
  const search = el("input", {
    type: "search",
    id: "search",
    value: state.search ?? "",
    placeholder: "C14, shared memory, tile16 …",
    oninput: () => {
      state = { ...state, search: search.value, claim: null };
      go(state, true);
      list();
    },
  });

  function list() {
    const claims = DATA.claims.filter((each) => claimFits(each, state));
    const errata = DATA.errata.filter((each) => erratumFits(each, state));
    const found = `${claims.length} of ${plural(DATA.claims.length, "claim")}`;
    announce(found);
    shown.replaceChildren(
      documentNote(state.document) ?? "",
      el("div", { class: "under" }, el("p", { class: "count" }, found), saveClaims(claims)),
      claimList(claims, state.claim),
      errata.length ? erratumList(errata, state.erratum) : "",
    );
  }

  add(
    root,
    el("h1", {}, "Claims"),
    el(
      "form",
      { class: "controls", role: "search", onsubmit: (event) => event.preventDefault() },
      el("label", { class: "field grow", for: "search" }, el("span", {}, "Search"), search),
      select("document", "Document", documents, state.document ?? "", (value) => change({ document: value })),
      select("verdict", "Verdict", [["", "all"], ...verdicts.map((each) => [each, DATA.words[each]])], state.verdict ?? "", (value) => change({ verdict: value })),
      select("kind", "Decided by", [["", "all"], ...kinds.map((each) => [each, each])], state.kind ?? "", (value) => change({ kind: value })),
    ),
    shown,
  );
  if (DATA.changes.rows.length) add(root, section("Changed checks", el("p", { class: "note" }, "What decided a claim before, since the first evidence."), plainTable(DATA.changes, "changes.csv")));
  list();
  if (state.claim || state.erratum) document.getElementById(state.claim ?? state.erratum)?.scrollIntoView({ block: "start" });
}

// every word that is searched for stands somewhere in it
function holds(texts, search) {
  const all = texts.map(plain).join(" ").toLowerCase();
  return (search ?? "").toLowerCase().split(/\s+/).every((word) => all.includes(word));
}

function claimFits(each, state) {
  if (state.claim) return CLAIMS.has(state.claim) ? true : holds([each.id], state.claim);
  return (
    (!state.document || each.document === state.document) &&
    (!state.verdict || each.verdict === state.verdict) &&
    (!state.kind || each.kind === state.kind) &&
    holds([each.id, each.title, each.quote, each.english, each.asked, each.said, each.place, each.hardware, ...each.facts], state.search)
  );
}

function erratumFits(each, state) {
  if (state.verdict || state.kind) return false;
  if (state.document && each.document !== state.document) return false;
  return holds([each.id, each.place, each.written, each.english, each.right, each.proof, ...each.concerns], state.search);
}

function documentNote(id) {
  const own = DATA.documents.find((each) => each.id === id);
  if (!own) return null;
  const name = own.title + (own.english ? ` (${own.english})` : "");
  const by = [own.author, own.year].filter(Boolean).join(", ");
  return el("p", { class: "note" }, el("b", {}, name || own.name), by ? `, ${by}. ` : ". ", withAddresses(own.found));
}

function claimList(claims, open) {
  const head = el("li", { class: "claim heads", "aria-hidden": "true" }, ["id", "verdict", "claim", "asked", "measured"].map((text) => el("span", {}, text)));
  return el("ul", { class: "claims" }, head, claims.map((each) => claimItem(each, each.id === open)));
}

function claimItem(claim, open) {
  const body = el("div", { class: "body" });
  const summary = el(
    "summary",
    { class: "claim" },
    el("span", { class: "id" }, claim.id),
    verdictOf(claim.verdict),
    el("span", { class: "what" }, rich(claim.title, true), el("small", {}, claim.document, " · ", claim.kind)),
    el("span", { class: "asked" }, rich(claim.asked, true)),
    el("span", { class: "here" }, claim.verdict === "not_measured" ? el("small", {}, rich(claim.reason, true)) : rich(claim.measured, true)),
  );
  const item = el("details", { id: claim.id }, summary, body);
  const unfold = () => {
    if (item.open && !body.hasChildNodes()) body.append(...claimBody(claim));
  };
  item.addEventListener("toggle", unfold);
  summary.addEventListener("click", () => {
    // the address names what was opened last
    if (!item.open) go({ ...address(), claim: claim.id }, true);
  });
  item.open = open;
  unfold();
  return el("li", {}, item);
}

function verdictOf(verdict) {
  return el("span", { class: `verdict v-${verdict}` }, DATA.words[verdict]);
}

function claimBody(claim) {
  const cases = claim.evidence.map((id) => BY_ID.get(id)).filter((each) => each?.median);
  return [
    el(
      "blockquote",
      {},
      el("p", {}, `“${claim.quote}”`),
      claim.english ? el("p", {}, el("i", {}, "In English: "), `“${claim.english}”`) : null,
      el("footer", {}, rich(claim.place)),
    ),
    el("ul", { class: "facts" }, claim.facts.map((text) => el("li", {}, rich(text)))),
    probesOf(claim),
    cases.length ? evidenceTable(claim, cases) : null,
    el("p", { class: "note" }, link(`Link to ${claim.id}`, { view: "claims", claim: claim.id })),
  ].filter(Boolean);
}

function probesOf({ evidence }) {
  const tests = evidence.filter((name) => DATA.probes?.tests[name]);
  if (!tests.length) return null;
  return el("ul", { class: "facts" }, tests.map((name) => {
    const { outcome, reason, count: hazards } = DATA.probes.tests[name];
    return el("li", {}, code(name, hrefOf({ view: "trust" })), `: ${outcome ?? reason}${hazards ? `, ${plural(hazards, "hazard")}` : ""}`);
  }));
}

function evidenceTable(claim, cases) {
  const columns = [
    { name: "case", value: (each) => each.id, cell: (each) => code(each.id, hrefOf({ view: "samples", case: each.id })) },
    { name: "median", number: true, value: (each) => each.median, cell: (each) => duration(each.median) },
    { name: "95 % interval", number: true, value: (each) => each.high - each.low, cell: spread },
    { name: "samples", number: true, value: (each) => each.samples },
  ];
  if (SAMPLES.ready) columns.push({ name: "distribution", cell: (each) => strip(each) });
  return table({ caption: `Cases that ${claim.id} rests on`, columns, rows: cases, file: `${claim.id}.csv`, page: 12 });
}

function saveClaims(claims) {
  const text = (name) => ({ name, value: (each) => plain(String(each[name] ?? "")) });
  const names = ["id", "verdict", "document", "place", "kind", "title", "quote", "english", "said", "hardware", "asked", "measured", "reason"];
  const columns = [...names.map(text), { name: "evidence", value: (each) => each.evidence.join(" ") }];
  return button("CSV", () => download("claims.csv", csv(columns, claims)), { class: "quiet csv", "aria-label": "Save as CSV: claims" });
}

function erratumList(errata, open) {
  const columns = [
    { name: "erratum", value: (each) => each.id, cell: (each) => el("span", { id: each.id }, each.id) },
    { name: "where", value: (each) => `${each.document} ${plain(each.place)}` },
    { name: "as printed", wide: true, value: (each) => each.written, cell: (each) => [`“${each.written}”`, each.english ? ` (“${each.english}”)` : ""] },
    { name: "what is right", wide: true, value: (each) => plain(each.right), cell: (each) => rich(each.right) },
    { name: "concerns", value: (each) => each.concerns.join(" "), cell: (each) => each.concerns.map((id, at) => [at ? ", " : "", CLAIMS.has(id) ? link(id, { view: "claims", claim: id }) : id]) },
    { name: "proof", wide: true, value: (each) => plain(each.proof), cell: (each) => rich(each.proof) },
  ];
  const where = "Where the documents are wrong as printed, and what proves it.";
  return section("Errata", el("p", { class: "note" }, where), table({ caption: "Errata", columns, rows: errata, file: "errata.csv", mark: (each) => (each.id === open ? "chosen" : null) }));
}
