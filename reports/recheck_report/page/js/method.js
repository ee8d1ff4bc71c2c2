// how it was measured, on what, what the words mean, and how to do it again

VIEWS.push({ name: "method", title: "Method", show: showMethod });

function showMethod(root) {
  const { about: run, method } = DATA;
  const confidence = method.confidence ? `${+(100 * method.confidence).toPrecision(3)} %` : "95 %";
  const [numbers, environment, spent, listed, code] = method.tables;
  add(
    root,
    el("h1", {}, "Method"),
    el(
      "ul",
      { class: "facts" },
      [
        ["The gate.", "A time is recorded only for a case whose result passed its check on the same binary, device and shape; what was timed is checked again."],
        ["Clocks.", "GPU: events around the launch alone, queued so that launch latency stays outside. CPU, and end to end: the host’s steady clock around the whole call."],
        ["Order.", "Rows of one shape and regime take turns in rounds of random order."],
        ["Numbers.", `A time is the median of its samples with the nonparametric ${confidence} interval of the median. Units are SI. Rates count the problem’s compulsory work. No outlier is removed; samples under a throttled clock are discarded and counted.`],
        ["Ratios.", "Two cases are compared round by round; this page computes them from the raw samples in it, as the report does."],
      ].map(([name, text]) => el("li", {}, el("b", {}, name), " ", text)),
    ),
    el("p", { class: "note" }, "Words of the documents without a figure are read as bounds: ", rich(DATA.policy), "."),
    section("Glossary", el("dl", { class: "glossary" }, method.glossary.map(([word, text]) => el("div", {}, el("dt", {}, rich(word)), el("dd", {}, rich(text)))))),
    section("Environment", ...tablesOf([environment])),
    section("Reproduce it", reproduce(run)),
    section("In numbers", ...tablesOf([numbers, spent])),
    section("The documents", ...tablesOf([DATA.sources, listed])),
    code.rows.length ? section("Device code", ...tablesOf([code])) : "",
  );
}

function reproduce({ commit, command, command_known: known, dirty, schema }) {
  const target = command.split(/\s+/)[0];
  const again = command.startsWith("recheck") ? "cmake --workflow --preset report" : `cmake --build FOLDER --target ${target}_report`;
  const lines = [known ? `git checkout ${commit}` : null, again].filter(Boolean).join("\n");
  return [
    el("pre", {}, el("code", {}, lines)),
    el("p", {}, "This record was made by ", el("code", {}, command), dirty ? ", with uncommitted changes." : "."),
    el("p", { class: "note" }, `record.json${schema > 3 ? " and samples.jsonl.bz2" : ""} beside this page hold the same data for programs; the same files always render to the same bytes.`),
  ];
}
