// every claim: what was said, what is so here, and why; and the errata

VIEWS.push({ name: "claims", title: "Claims", show: showClaims });

function showClaims(root, state) {
  const choices = {
    document: DATA.documents.map((each) => [each.id, `${each.id}, ${each.name}`]),
    verdict: VERDICTS.filter(count).map((each) => [each, each]),
    kind: [...new Set(DATA.claims.map((each) => each.kind))].map((each) => [each, each]),
  };
  for (const [name, known] of Object.entries(choices)) state[name] = chosen(state[name], ["", ...known.map(([each]) => each)]);
  const shown = el("div");
  if (state.claim && !CLAIMS.has(state.claim)) ABSENT.push(`There is no claim ${state.claim}.`);
  if (state.erratum && !DATA.errata.some(({ id }) => id === state.erratum)) ABSENT.push(`There is no erratum ${state.erratum}.`);
  const change = (more) => go({ ...state, claim: null, erratum: null, ...more });
  const search = el("input", {
    type: "search",
    id: "search",
    value: state.search ?? "",
    placeholder: `${DATA.claims[0]?.id ?? "an id"}, or words of it`,
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
      el("p", { class: "count" }, found),
      claimList(claims, claims.length === 1 ? claims[0].id : state.claim),
      errata.length ? erratumList(errata, state.erratum) : "",
    );
  }

  const choice = (name, label) => select(name, label, [["", "all"], ...choices[name]], state[name], (value) => change({ [name]: value }));
  add(
    root,
    el("h1", {}, "Claims"),
    controls(
      el("label", { class: "field grow", for: "search" }, el("span", {}, "Search"), search),
      choice("document", "Document"),
      choice("verdict", "Verdict"),
      choice("kind", "Decided by"),
    ),
    shown,
  );
  list();
}

// every word that is searched for stands somewhere in it
function holds(texts, search) {
  const all = texts.map(plain).join(" ").toLowerCase();
  return (search ?? "").toLowerCase().split(/\s+/).every((word) => all.includes(word));
}

function claimFits(each, { document: source, verdict, kind, search }) {
  const texts = [each.id, each.title, each.quote, each.english, each.asked, each.place, each.hardware, each.why, ...each.facts];
  return (!source || each.document === source) && (!verdict || each.verdict === verdict) && (!kind || each.kind === kind) && holds(texts, search);
}

function erratumFits(each, { document: source, verdict, kind, search }) {
  if (verdict || kind || (source && each.document !== source)) return false;
  return holds([each.id, each.place, each.written, each.english, each.right, each.proof, ...each.concerns], search);
}

function documentNote(id) {
  const own = DATA.documents.find((each) => each.id === id);
  if (!own) return null;
  const name = (own.title || own.name) + (own.english ? ` (${own.english})` : "");
  const where = own.url ? withAddresses(own.url) : own.found;
  return el("p", { class: "note" }, el("b", {}, name), own.by ? `, ${own.by}. ` : ". ", where);
}

function claimList(claims, open) {
  const heads = ["", "id", "verdict", "they said", "here"].map((text) => el("span", {}, text));
  const head = el("li", { class: "claim heads", "aria-hidden": "true" }, heads);
  const list = el("ul", { class: "claims" }, head, claims.map((each) => claimItem(each, each.id === open)));
  list.style.setProperty("--id", `${(0.6 * Math.min(20, Math.max(3, ...claims.map(({ id }) => id.length))) + 0.8).toFixed(1)}rem`);
  return list;
}

function claimItem(claim, open) {
  const body = el("div", { class: "body" });
  const here = claim.measured === "–" ? claim.why : claim.measured;
  const summary = el(
    "summary",
    { class: "claim" },
    el("span", { class: "opens", "aria-hidden": "true" }, "▸"),
    el("span", { class: "id" }, claim.id),
    verdictOf(claim.verdict),
    el("span", { class: "what" }, rich(claim.title, true), el("small", {}, claim.document, " · ", claim.kind)),
    el("span", { class: "here" }, rich(here, true), claim.because && here !== claim.why ? el("small", {}, rich(claim.because, true)) : ""),
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
  return el("span", { class: `verdict ${verdictClass(verdict)}` }, verdict);
}

function verdictClass(verdict) {
  return `v-${verdict.replaceAll(" ", "-")}`;
}

function claimBody(claim) {
  const cases = claim.evidence.map((id) => BY_ID.get(id)).filter((each) => each?.median);
  const listed = (texts) => el("ul", { class: "facts" }, texts.map((text) => el("li", {}, rich(text))));
  return [
    claim.why ? el("p", { class: "why" }, el("b", {}, "Why: "), rich(claim.why)) : null,
    el(
      "blockquote",
      {},
      el("p", {}, `“${claim.quote}”`),
      claim.english ? el("p", {}, el("i", {}, "In English: "), `“${claim.english}”`) : null,
      el("footer", {}, rich(claim.place)),
    ),
    listed(claim.facts),
    claim.more.length ? fold(`${plural(claim.more.length, "check")} that the verdict does not rest on`, () => listed(claim.more)) : null,
    cases.length ? evidenceTable(claim, cases) : null,
    el("p", { class: "note" }, link(`Link to ${claim.id}`, { view: "claims", claim: claim.id })),
  ].filter(Boolean);
}

function evidenceTable(claim, cases) {
  const columns = [
    { name: "case", value: (each) => each.id, cell: (each) => code(each.id, hrefOfCase(each.id)) },
    { name: "median", number: true, value: (each) => each.median, cell: (each) => duration(each.median) },
    { name: "95 % interval", number: true, value: (each) => each.high - each.low, cell: spread },
    { name: "samples", number: true, minor: true, value: (each) => each.samples },
    { name: "kernel", wide: true, minor: true, value: (each) => each.row.source },
  ];
  return table({ caption: `Cases that ${claim.id} rests on`, columns, rows: cases, page: 12 });
}

function erratumList(errata, open) {
  const claimLink = (id, at) => [at ? ", " : "", CLAIMS.has(id) ? link(id, { view: "claims", claim: id }) : id];
  const columns = [
    { name: "erratum", value: (each) => each.id, cell: (each) => el("span", { id: each.id }, each.id) },
    { name: "where", value: (each) => `${each.document} ${plain(each.place)}` },
    { name: "as printed", wide: true, value: (each) => each.written, cell: (each) => [`“${each.written}”`, each.english ? ` (“${each.english}”)` : ""] },
    { name: "what is right", wide: true, value: (each) => plain(each.right), cell: (each) => rich(each.right) },
    { name: "concerns", value: (each) => each.concerns.join(" "), cell: (each) => each.concerns.map(claimLink) },
    { name: "proof", wide: true, value: (each) => plain(each.proof), cell: (each) => rich(each.proof) },
  ];
  const mark = (each) => (each.id === open ? "chosen" : null);
  return section(
    "Errata",
    el("p", { class: "note" }, "Where the documents are wrong as printed, and what proves it."),
    table({ caption: "Errata", columns, rows: errata, mark }),
  );
}
