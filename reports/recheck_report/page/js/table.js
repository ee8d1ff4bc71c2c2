// tables: sorted by a press on a heading and drawn a page at a time

const PAGE = 100;

// columns: {name, number, value(row) to sort, cell(row) to show; both may be left out}.
// `wide`: of sentences; `minor`: on narrow screens behind a button, and not on paper. `groups` keep rows apart whatever they are sorted by: {name, rows}
function table({ caption, columns, rows, groups, sort, mark, page = PAGE }) {
  const parts = groups ?? [{ name: "", rows }];
  const state = { by: sort?.by ?? null, down: sort?.down ?? false, shown: page };
  const head = el("tr");
  const body = [];
  const holder = el("table", {}, el("caption", {}, caption), el("thead", {}, head));
  const more = el("p", { class: "more" });
  const total = parts.reduce((sum, part) => sum + part.rows.length, 0);

  function heading(column) {
    const own = state.by === column;
    const order = own ? (state.down ? "descending" : "ascending") : null;
    const sorts = column.value && total > 1;
    const label = sorts ? button(column.name, () => sortBy(column), { class: "sort" }) : column.name;
    return el("th", { scope: "col", class: kindOf(column), "aria-sort": order }, label);
  }

  function sortBy(column) {
    if (state.by === column) state.down = !state.down;
    else [state.by, state.down] = [column, Boolean(column.number && column.largestFirst)];
    const at = columns.indexOf(column);
    drawn();
    head.children[at].querySelector("button").focus();
  }

  function drawn() {
    head.replaceChildren(...columns.map(heading));
    for (const each of body.splice(0)) each.remove();
    let left = state.shown;
    for (const part of parts) {
      const rest = sorted(part.rows, state).slice(0, Math.max(0, left));
      left -= rest.length;
      if (rest.length) body.push(bodyOf(part, rest));
    }
    holder.append(...body);
    const hidden = total - Math.min(total, state.shown);
    const show = () => {
      state.shown += 5 * page;
      drawn();
    };
    more.replaceChildren(...(hidden ? [button(`Show more: ${hidden} of ${total} rows are left`, show)] : []));
  }

  function bodyOf(part, rest) {
    const name = part.name && el("tr", { class: "group" }, el("th", { colspan: columns.length, scope: "rowgroup" }, part.name));
    return el("tbody", {}, name || null, rest.map((row) => lineOf(row, columns, mark)));
  }

  drawn();
  const rest = button("All columns", () => rest.setAttribute("aria-pressed", holder.classList.toggle("whole")), { class: "rest", "aria-pressed": "false" });
  return el(
    "div",
    { class: "tabled" },
    columns.some((each) => each.minor) && rest,
    el("div", { class: "scroll", tabindex: 0, role: "region", "aria-label": caption }, holder),
    more,
  );
}

function kindOf(column) {
  return [column.number && "number", column.wide && "wide", column.minor && "minor"].filter(Boolean).join(" ") || null;
}

function lineOf(row, columns, mark) {
  const cells = columns.map((column, at) => {
    const kind = at === 0 ? "th" : "td";
    const cell = column.cell ? column.cell(row) : String(column.value(row) ?? NONE);
    const shown = column.number && typeof cell === "string" ? unbroken(cell) : cell;
    return el(kind, { scope: at === 0 ? "row" : null, class: kindOf(column) }, shown);
  });
  return el("tr", { class: mark?.(row) ?? null }, cells);
}

// on a narrow screen a line may end before an interval, and nowhere else
function unbroken(text) {
  return text.split(/ (?=\[)/).map((part, at) => [at ? " " : "", el("span", { class: "keep" }, signed(part))]);
}

function sorted(rows, { by, down }) {
  if (!by) return rows;
  const values = new Map(rows.map((row) => [row, by.value(row)]));
  const sign = down ? -1 : 1;
  return [...rows].sort((a, b) => {
    const [x, y] = [values.get(a), values.get(b)];
    // what has no value comes last, whichever way
    if (x === null || x === undefined) return y === null || y === undefined ? 0 : 1;
    if (y === null || y === undefined) return -1;
    if (typeof x === "number" && typeof y === "number") return sign * (x - y);
    return sign * String(x).localeCompare(String(y), "en", { numeric: true });
  });
}

// a table of the report as it is: cells are Markdown
function plainTable({ title, columns, rows, numbers }) {
  return table({
    caption: title,
    rows,
    page: 15,
    columns: columns.map((name, at) => ({
      name: plain(name),
      wide: rows.some((row) => row[at].length > 60),
      number: numbers.includes(at),
      value: (row) => (numbers.includes(at) ? leading(plain(row[at])) : plain(row[at])),
      cell: (row) => rich(row[at]),
    })),
  });
}

// the number that a cell begins with, by which it is sorted
function leading(text) {
  const found = /^[±<]?(-?[\d.]+(?:e[+-]\d+)?)/.exec(text);
  return found ? Number(found[1]) : null;
}
