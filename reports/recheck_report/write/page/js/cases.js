// every case of the record, with or without a time

VIEWS.evidence = (root) => {
  const shown = el("div");
  const input = el("input", { type: "search", id: "cases", placeholder: CASES[0]?.id.replaceAll("/", " "), oninput: () => list(input.value) });
  const part = (each) => (each.error === null ? null : each.error / (each.bound || 1));
  const columns = [
    { name: "case", value: (each) => each.id, cell: (each) => code(each.id, hrefOfCase(each.id)) },
    { name: "status", value: (each) => each.status.replaceAll("_", " ") },
    { name: "median", number: true, value: (each) => each.median, cell: (each) => (each.median ? duration(each.median) : NONE) },
    { name: "±", number: true, value: (each) => each.median && Math.max(each.high - each.median, each.median - each.low) / each.median, cell: (each) => (each.median ? spread(each).slice(1) : NONE) },
    { name: "samples", number: true, value: (each) => each.samples },
    { name: "error / bound", number: true, largestFirst: true, value: part, cell: (each) => (each.error === null ? NONE : `${scientific(each.error)} / ${scientific(each.bound)}`) },
    { name: "reason", wide: true, value: (each) => each.reason ?? "" },
  ];
  function list(text) {
    const words = text.toLowerCase().split(/\s+/);
    const rows = CASES.filter((each) => words.every((word) => `${each.id} ${each.status} ${each.reason ?? ""}`.toLowerCase().includes(word)));
    shown.replaceChildren(table({ caption: `Every case: ${rows.length} of ${CASES.length}`, columns, rows, page: 25 }));
  }
  list("");
  add(root, section("Every case", el("label", { class: "field grow", for: "cases" }, el("span", {}, "Search"), input), shown));
};
