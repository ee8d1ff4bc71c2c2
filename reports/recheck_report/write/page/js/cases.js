// every case of the record, with or without a time; the address has what is searched for

VIEWS.cases = (root, state) => {
  const shown = el("div");
  const input = el("input", { type: "search", id: "cases", value: state.search, placeholder: CASES[0]?.id.replaceAll("/", " "), oninput: () => list(input.value) });
  const time = { name: "median", number: true, value: (each) => each.median, cell: (each) => (each.median ? duration(each.median) : NONE) };
  const half = (each) => each.median && Math.max(each.high - each.median, each.median - each.low) / each.median;
  const remark = (each) => [each.status === "passed" ? "" : each.status.replaceAll("_", " "), each.reason, each.doubt && [each.doubt, each.suspect ?? each.unsure].filter(Boolean).join(": "), each.row.source].filter(Boolean).join("; ");
  const columns = [
    { name: "case", value: (each) => each.id, cell: (each) => [code(each.id), signed(each.row.marks)] },
    time,
    { name: "±", number: true, minor: true, value: half, cell: (each) => (each.median ? spread(each).slice(1) : NONE) },
    { name: "speed-up over the library", number: true, largestFirst: true, value: (each) => each.speedup?.value, cell: (each) => (each.speedup ? ratioText(each.speedup) : NONE) },
    { name: "rate", number: true, minor: true, largestFirst: true, value: (each) => each.rate, cell: (each) => (each.rate ? `${significant(each.rate)} ${EXPERIMENTS.get(each.experiment).unit}` : NONE) },
    { name: "error / bound", number: true, minor: true, largestFirst: true, value: (each) => each.error, cell: (each) => (each.error === null ? NONE : `${scientific(each.error)} / ${scientific(each.bound)}`) },
    { name: "remark, source", wide: true, minor: true, value: remark },
  ];
  function list(text) {
    const words = text.toLowerCase().split(/\s+/);
    const rows = CASES.filter((each) => words.every((word) => `${each.id} ${each.status} ${each.reason ?? ""}`.toLowerCase().includes(word)));
    const caption = `${rows.length.toLocaleString("en")} of ${plural(CASES.length, "case")}`;
    shown.replaceChildren(table({ caption, columns, rows, sort: text ? { by: time } : null, page: 25 }));
    announce(caption);
  }
  list(state.search ?? "");
  add(
    root,
    el("p", { class: "note" }, "A kernel is compared with the library of its shape and regime; without one, with the first kernel."),
    controls(el("label", { class: "field grow", for: "cases" }, el("span", {}, "Search for a kernel, a shape and a regime"), input)),
    shown,
  );
};
