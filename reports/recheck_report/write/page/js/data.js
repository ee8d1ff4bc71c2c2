"use strict";
// the record as the page holds it: cases as objects

const DATA = JSON.parse(document.getElementById("data").textContent);
const EXPERIMENTS = new Map(DATA.experiments.map((each) => [each.name, each]));
const CASES = casesOf(DATA);

// one object for each case, from the table's columns; each text stands there once
function casesOf({ rows, texts, cases }) {
  const names = Object.keys(cases);
  const spelled = new Set(["shape", "regime", "status", "reason", "doubt", "unsure", "suspect"]);
  const made = (cases.row ?? []).map((_, at) => {
    const found = {};
    for (const name of names) {
      const value = cases[name][at];
      found[name] = spelled.has(name) && value !== null ? texts[value] : value;
    }
    found.row = rows[found.row];
    found.experiment = found.row.experiment;
    found.id = [found.experiment, found.row.name, found.shape, found.regime].join("/");
    return found;
  });
  for (const each of made) {
    each.base = each.base === null ? null : made[each.base];
    // how many times as fast it is as its base, as the report has it
    const { ratio: value, ratio_low: low, ratio_high: high, mark, outcome } = each;
    each.speedup = value === null ? null : { value, low, high, mark, open: outcome === 0 };
  }
  return made;
}

// the experiments whose rows are compared; those of the audit and the machine are evidence
function ordinary() {
  return DATA.experiments.filter((each) => each.ordinary);
}
