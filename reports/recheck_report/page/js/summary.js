// the first screen: what holds, what fails, what is fastest, whether it can be trusted

const VERDICTS = Object.keys(DATA.words);
VIEWS.push({ name: "summary", title: "Summary", show: showSummary });

function count(verdict) {
  return DATA.claims.filter((each) => each.verdict === verdict).length;
}

function showSummary(root) {
  const about = DATA.about;
  const facts = [
    about.commit && `commit ${about.commit.slice(0, 7)}${about.dirty ? " with uncommitted changes" : ""}`,
    about.started.slice(0, 10),
    about.driver && `driver ${about.driver}`,
    about.cuda && `CUDA ${about.cuda}`,
    `${about.build} build`,
  ];
  add(
    root,
    el("p", { class: "eyebrow" }, DATA.title, el("span", {}, ` · ${facts.filter(Boolean).join(" · ")}`)),
    headline(),
    ...DATA.brands.map((text) => el("p", { class: "warning" }, rich(text))),
    el(
      "div",
      { class: "cards" },
      fastestCard(),
      claimsCard("What fails", ["fails here", "wrong as printed"], DATA.failing),
      claimsCard("What holds", ["holds"], DATA.holding),
      trustCard(),
    ),
  );
}

function headline() {
  const all = DATA.claims.length - count("not judged");
  const answer = DATA.headline && `${DATA.headline[0].toUpperCase()}${DATA.headline.slice(1)}.`;
  const title = el("h1", { class: "answer" }, rich(answer || DATA.left_out || "What is fastest here"));
  if (!all) return title;
  const names = DATA.documents.map((each) => (each.title ? `“${each.english || each.title}”` : each.name));
  const one = names.length === 1;
  return el(
    "div",
    {},
    title,
    el("p", { class: "second" }, `What ${one ? "it" : `${names.length} documents`} claimed, measured again on ${DATA.title}${one ? "" : `: ${names.join("; ")}`}. `, rich(DATA.left_out)),
    verdictBar(all),
  );
}

// each part leads to its claims
function verdictBar(all) {
  const parts = VERDICTS.filter(count).map((verdict) => {
    const many = count(verdict);
    const word = DATA.words[verdict][many === 1 ? 0 : 1];
    const part = el("a", { href: hrefOf({ view: "claims", verdict }), class: verdictClass(verdict) }, `${many} ${word}`);
    const item = el("li", {}, part);
    item.style.flexGrow = many / all;
    return item;
  });
  return el("ul", { class: "bar", "aria-label": "Claims by verdict" }, parts);
}

function card(heading, more, ...children) {
  return el("section", { class: "card" }, el("h2", {}, heading), ...children, el("p", { class: "more" }, more));
}

function fastestCard() {
  const lines = ordinary().map(({ name, title, headline: shape, answers }) => {
    const topic = el("a", { class: "topic", href: hrefOf({ view: "speed", experiment: name }) }, title);
    return el("li", {}, topic, el("span", {}, rich(answers[shape] ?? `Not measured: ${DATA.about.why_no_gpu}`)), beyond(name));
  });
  return card("What is fastest", link("Every row, shape and sample", { view: "speed" }), el("ul", { class: "lines" }, lines));
}

// what the kernels beyond the documents reach, and the report that has it
function beyond(name) {
  const says = DATA.peak?.says[name];
  return says ? el("span", { class: "beyond" }, el("a", { href: `${DATA.peak.folder}report.html` }, "Beyond the documents"), ": ", rich(says)) : "";
}

function claimsCard(heading, verdicts, ids) {
  if (!ids.length) return "";
  const lines = ids.map((id) => {
    const claim = CLAIMS.get(id);
    const topic = el("a", { class: "topic", href: hrefOf({ view: "claims", claim: id }) }, `${id} ${plain(claim.title)}`);
    return el("li", {}, topic, el("span", {}, rich(claim.measured), "."));
  });
  const all = verdicts.filter(count).map((verdict, at) => [at ? " · " : "", link(`All ${count(verdict)}: ${verdict}`, { view: "claims", verdict })]);
  const total = verdicts.map(count).reduce((sum, many) => sum + many);
  return card(`${heading}: ${lines.length} of ${total}`, all, el("ul", { class: "lines" }, lines));
}

function trustCard() {
  const rows = DATA.trust.map(([word, text]) => el("div", {}, el("dt", {}, rich(word)), el("dd", {}, rich(text))));
  const more = [link("Evidence: self-audit, method, every case", { view: "evidence" }), " · ", link("Did my GPU differ?", { view: "compare" })];
  return card("Can it be trusted", more, el("dl", { class: "brief" }, rows), ...DATA.notes.map((text) => el("p", { class: "note" }, rich(text))));
}
