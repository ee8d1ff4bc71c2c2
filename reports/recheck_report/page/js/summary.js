// the first screen: what holds, what is fastest, what surprises, whether it can be trusted

VIEWS.push({ name: "summary", title: "Summary", samples: true, show: showSummary });

const VERDICTS = ["holds", "fails", "inconclusive", "not_measured"];

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
    ...DATA.trust.brands.map((text) => el("p", { class: "warning" }, rich(text))),
    el("div", { class: "cards" }, fastestCard(), DATA.claims.length ? surprisesCard() : "", trustCard(), compareCard()),
  );
}

function headline() {
  const all = DATA.claims.length;
  if (!all) return el("h1", { class: "answer" }, DATA.left_out ? plain(DATA.left_out) : "What is fastest here");
  const [holds, fails, open, none] = VERDICTS.map(count);
  const verb = (many, one, more) => `${many} ${many === 1 ? one : more}`;
  const rest = [
    open && `${verb(open, "is", "are")} inconclusive`,
    none && `${verb(none, "was", "were")} not measured`,
  ].filter(Boolean);
  return el(
    "div",
    {},
    el("h1", { class: "answer" }, `${holds} of ${plural(all, "claim")} ${holds === 1 ? "holds" : "hold"}, ${verb(fails, "fails", "fail")}.`),
    el("p", { class: "second" }, rest.length ? `${rest.join(", ")}. ` : "", rich(DATA.left_out)),
    verdictBar(all),
  );
}

const MANY = { holds: "hold", fails: "fail" };

// each part leads to its claims
function verdictBar(all) {
  const parts = VERDICTS.filter(count).map((verdict) => {
    const many = count(verdict);
    const part = el("a", { href: hrefOf({ view: "claims", verdict }), class: `v-${verdict}` }, `${many} ${many === 1 ? DATA.words[verdict] : (MANY[verdict] ?? DATA.words[verdict])}`);
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
  const lines = ordinary().map((experiment) => {
    const state = { experiment: experiment.name };
    return el("li", {}, el("a", { class: "topic", href: hrefOf({ view: "ranking", ...state }) }, experiment.title), el("span", {}, answerOf(rankingOf(state))));
  });
  return card("What is fastest", link("All rows, shapes and baselines", { view: "ranking" }), el("ul", { class: "lines" }, lines));
}

function ordinary() {
  return DATA.experiments.filter((each) => !each.special && each.shapes.length);
}

function surprisesCard() {
  const lines = DATA.surprises.map((id) => {
    const claim = CLAIMS.get(id);
    return el(
      "li",
      {},
      el("a", { class: "topic", href: hrefOf({ view: "claims", claim: id }) }, `${id} ${plain(claim.title)}`),
      el("span", {}, claim.said ? "Said: " : "Asked: ", rich(claim.said || claim.asked), ". Measured: ", rich(claim.found), "."),
    );
  });
  const none = el("p", {}, count("fails") ? "Nothing that was timed or tested fails." : "No claim fails.");
  const heading = lines.length < count("fails") ? `What fails: ${lines.length} of ${count("fails")}` : "What fails";
  return card(heading, link("All claims, with quote, check and evidence", { view: "claims" }), lines.length ? el("ul", { class: "lines" }, lines) : none);
}

function trustCard() {
  const { sentence, rows } = DATA.trust;
  return card(
    "Can it be trusted",
    link("Self-audit, proofs, what was not run, counters", { view: "trust" }),
    el("p", {}, rich(sentence)),
    el("dl", { class: "brief" }, rows.map(([word, text]) => el("div", {}, el("dt", {}, rich(word)), el("dd", {}, rich(text))))),
  );
}

function compareCard() {
  return card(
    "Did something change",
    link("Compare", { view: "compare" }),
    el("p", {}, "Drop the record.json of another run, or of another GPU, anywhere on this page: what became slower or faster by more than both runs can tell comes first. Nothing leaves this computer."),
  );
}
