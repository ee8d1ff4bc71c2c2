"use strict";
// the record as the page holds it: cases as objects, samples unpacked once

const DATA = JSON.parse(document.getElementById("data").textContent);
const EXPERIMENTS = new Map(DATA.experiments.map((each) => [each.name, each]));
const CASES = casesOf(DATA);
const BY_ID = new Map(CASES.map((each) => [each.id, each]));
const SAMPLES = { ready: false, why: "" };

// one object for each case, from the table's columns; each text stands there once
function casesOf({ rows, texts, noises, cases }) {
  const names = Object.keys(cases);
  const spelled = new Set(["shape", "regime", "status", "reason", "error_metric", "unsure", "paired", "share"]);
  let sample = 0;
  let block = 0;
  const made = (cases.row ?? []).map((_, at) => {
    const found = {};
    for (const name of names) {
      const value = cases[name][at];
      found[name] = spelled.has(name) && value !== null ? texts[value] : value;
    }
    found.row = rows[found.row];
    found.experiment = found.row.experiment;
    found.id = [found.experiment, found.row.name, found.shape, found.regime].join("/");
    found.firstSample = sample;
    found.firstBlock = block;
    sample += found.samples;
    block += found.blocks;
    return found;
  });
  for (const each of made) {
    each.base = each.base === null ? null : made[each.base];
    each.speedup = each.ratio === null ? null : speedupOf(each);
    each.noise = noises[each.noise];
  }
  return made;
}

// how many times as fast a case is as its base, as the report has it
function speedupOf({ ratio, ratio_low: low, ratio_high: high, paired, outcome }) {
  return { value: ratio, low, high, mark: paired === "ends" ? "ᵉ" : "", open: outcome === 0 };
}

// the experiments whose rows are compared; those of the audit and the machine are evidence
function ordinary() {
  return DATA.experiments.filter((each) => each.ordinary);
}

// the regime whose error and rate stand for a row at a shape, as in the Markdown report
function stands({ row, regime, experiment }) {
  return regime === (row.target === "gpu" ? EXPERIMENTS.get(experiment).ranked : "hot");
}

function isAudit({ experiment }) {
  return EXPERIMENTS.get(experiment).audit;
}

// the three lists of packing.py: zlib in base64
async function loadSamples() {
  try {
    const text = atob(document.getElementById("samples").textContent);
    const bytes = Uint8Array.from(text, (each) => each.charCodeAt(0));
    const stream = new Blob([bytes]).stream().pipeThrough(new DecompressionStream("deflate"));
    const buffer = await new Response(stream).arrayBuffer();
    const [samples, rounds, counts] = new Uint32Array(buffer, 0, 3);
    SAMPLES.values = new Float32Array(buffer, 12, samples);
    SAMPLES.rounds = new Uint32Array(buffer, 12 + 4 * samples, rounds);
    SAMPLES.counts = new Uint32Array(buffer, 12 + 4 * (samples + rounds), counts);
    SAMPLES.ready = true;
  } catch (problem) {
    SAMPLES.why = `This browser could not unpack the samples: ${problem.message}.`;
  }
}

// the samples of a case in their order, each with its round
function samplesOf(each) {
  const found = [];
  let first = each.firstSample;
  for (let at = each.firstBlock; at < each.firstBlock + each.blocks; at++) {
    const count = SAMPLES.counts[at];
    for (let own = 0; own < count; own++) {
      found.push({ round: SAMPLES.rounds[at], within: own / count, value: SAMPLES.values[first + own] });
    }
    first += count;
  }
  return found;
}
