// what the numbers rest on: the self-audit, the proofs, what is suspect, what was not run, counters

VIEWS.push({ name: "trust", title: "Trust", show: showTrust });

function showTrust(root) {
  const { counts, trust, suspects, family } = DATA;
  const bad = (counts.incorrect ?? 0) + (counts.failed ?? 0);
  const timed = CASES.filter((each) => each.median);
  const discarded = timed.reduce((sum, each) => sum + each.discarded, 0);
  const kept = timed.reduce((sum, each) => sum + each.samples, 0);
  const [audit, absent, dropped, best, levels] = trust.tables;
  const suspicious = Object.entries(suspects);
  add(
    root,
    el("h1", {}, "Trust"),
    ...trust.brands.map((text) => el("p", { class: "warning" }, rich(text))),
    section("What this run can tell", el("p", { class: "lead" }, rich(trust.audit)), el("p", {}, `Claims, stories and listings make ${family} comparisons; their p-values are corrected for that number (Holm).`), ...tablesOf([audit])),
    section(
      "Proofs",
      el("p", { class: "lead" }, `${counts.passed ?? 0} of ${plural(CASES.length, "case")} passed the proof of their results and have a time; ${bad || "none"} failed it. ${kept} samples were kept, ${discarded} discarded or set aside: the method says why.`),
      trust.throttled ? el("p", { class: "note" }, "Throttled while power was measured: ", rich(trust.throttled)) : "",
      testsTable(),
    ),
    section("Suspect times", suspicious.length ? suspectTable(suspicious) : el("p", {}, "None: no cold time is faster than the machine can be.")),
    section("Not run, and why", absent.rows.length ? "" : el("p", {}, "Every case was run."), ...tablesOf([absent, dropped])),
    section("The machine at its best", ...tablesOf([best, levels])),
    countersPart(),
  );
}

function tablesOf(tables) {
  return tables.filter((each) => each.rows.length).map((each) => plainTable(each, `${each.title.toLowerCase().replace(/[^a-z]+/g, "-")}.csv`));
}

function suspectTable(suspicious) {
  const columns = [
    { name: "case", value: ([id]) => id, cell: ([id]) => code(id, hrefOf({ view: "samples", case: id })) },
    { name: "why", value: ([, why]) => plain(why), cell: ([, why]) => rich(why) },
  ];
  return table({ caption: "Suspect times", columns, rows: suspicious, file: "suspects.csv" });
}

function testsTable() {
  const rows = Object.entries(DATA.probes?.tests ?? {});
  if (!rows.length) return el("p", { class: "note" }, "No tests’ outcomes stand beside the record.");
  const columns = [
    { name: "test", value: ([name]) => name, cell: ([name]) => code(name) },
    { name: "outcome", value: ([, each]) => each.outcome ?? "not measured" },
    { name: "hazards", number: true, value: ([, each]) => each.count },
    { name: "reason", wide: true, value: ([, each]) => each.reason ?? "" },
  ];
  return table({ caption: "Tests that claims ask for", columns, rows, file: "tests.csv", page: 15 });
}

// what Nsight Compute counted, a case a line
function countersPart() {
  const rows = Object.entries(DATA.probes?.counters ?? {});
  const heading = "Counters";
  if (!rows.length) return section(heading, el("p", {}, "No counters: there is no probes.json beside the record."));
  const names = [...new Set(rows.flatMap(([, each]) => Object.keys(each.values)))];
  const columns = [
    { name: "case", value: ([id]) => id, cell: ([id]) => code(id, BY_ID.has(id) ? hrefOf({ view: "samples", case: id }) : null) },
    ...names.map((name) => ({ name: name.replaceAll("_", " "), number: true, largestFirst: true, value: ([, each]) => each.values[name] ?? null, cell: ([, each]) => each.values[name]?.toLocaleString("en") ?? NONE })),
    { name: "why not", value: ([, each]) => each.reason ?? "" },
  ];
  return section(heading, el("p", { class: "note" }, "Of one call, all its kernels together, as Nsight Compute counted."), table({ caption: "Counters by case", columns, rows, file: "counters.csv", page: 15 }));
}
