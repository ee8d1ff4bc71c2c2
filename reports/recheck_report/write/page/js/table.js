// tables: sorted by a press on a heading and drawn a page at a time

const PAGE = 100;

// columns: {name, number, value(row) to sort, cell(row) to show; both may be left out}.
// `wide`: of sentences; `minor`: on narrow screens behind a button, and not on paper
function table({ caption, columns, rows, sort, page = PAGE }) {
  const holder = el("table", {}, el("caption", {}, caption), el("thead", {}, el("tr")));
  const more = el("p", { class: "more" });
  live(holder, columns, rows, { sort, page, more, line: (row) => lineOf(row, columns) });
  const rest = button("All columns", () => rest.setAttribute("aria-pressed", holder.classList.toggle("whole")), { class: "rest", "aria-pressed": "false" });
  return el(
    "div",
    { class: "tabled" },
    columns.some((each) => each.minor) && rest,
    el("div", { class: "scroll", tabindex: 0, role: "region", "aria-label": caption }, holder),
    more,
  );
}

// a table of the report: its rows stay what they are, and can be sorted
function adopt(holder) {
  const rows = [...holder.tBodies[0].rows];
  const columns = [...holder.tHead.rows[0].cells].map((head, at) => {
    const number = head.classList.contains("number");
    const value = ({ cells }) => (number ? leading : String)(cells[at].textContent);
    return { name: [...head.childNodes], kind: head.className, value };
  });
  if (rows.length > 1) live(holder, columns, rows, { line: (row) => row });
}

// the number that a cell begins with
function leading(text) {
  const found = /^[±<]?(-?[\d.]+(?:e[+-]\d+)?)/.exec(text);
  return found ? Number(found[1]) : null;
}

// keeps a table sorted by the heading that was pressed last, and shows the first `page` rows
function live(holder, columns, rows, { sort, page = Infinity, more, line }) {
  const state = { by: sort?.by ?? null, down: sort?.down ?? false, shown: page };
  const head = holder.tHead.rows[0];

  function heading(column) {
    const order = state.by === column ? (state.down ? "descending" : "ascending") : null;
    const label = column.value && column.name.length && rows.length > 1 ? button(column.name, () => sortBy(column), { class: "sort" }) : column.name;
    return el(column.name.length ? "th" : "td", { scope: column.name.length ? "col" : null, class: kindOf(column), "aria-sort": order }, label);
  }

  function sortBy(column) {
    if (state.by === column) state.down = !state.down;
    else [state.by, state.down] = [column, Boolean(column.number && column.largestFirst)];
    drawn();
    head.children[columns.indexOf(column)].querySelector("button").focus();
  }

  function drawn() {
    head.replaceChildren(...columns.map(heading));
    for (const body of [...holder.tBodies]) body.remove();
    const shown = sorted(rows, state).slice(0, state.shown);
    holder.append(el("tbody", {}, shown.map(line)));
    const hidden = rows.length - shown.length;
    const show = () => {
      state.shown += 5 * page;
      drawn();
    };
    more?.replaceChildren(...(hidden ? [button(`Show more: ${hidden} of ${rows.length} rows are left`, show)] : []));
  }

  drawn();
}

function kindOf(column) {
  return column.kind || [column.number && "number", column.wide && "wide", column.minor && "minor"].filter(Boolean).join(" ") || null;
}

function lineOf(row, columns) {
  const cells = columns.map((column, at) => {
    const kind = at === 0 ? "th" : "td";
    const cell = column.cell ? column.cell(row) : String(column.value(row) ?? NONE);
    const shown = column.number && typeof cell === "string" ? unbroken(cell) : cell;
    return el(kind, { scope: at === 0 ? "row" : null, class: kindOf(column) }, shown);
  });
  return el("tr", {}, cells);
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
