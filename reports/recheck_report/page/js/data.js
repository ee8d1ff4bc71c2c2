"use strict";
// the record as the page holds it: cases as objects, samples unpacked when a view first needs them

const DATA = JSON.parse(document.getElementById("data").textContent);
const EXPERIMENTS = new Map(DATA.experiments.map((each) => [each.name, each]));
const CASES = casesOf(DATA);
const BY_ID = new Map(CASES.map((each) => [each.id, each]));
const CLAIMS = new Map(DATA.claims.map((each) => [each.id, each]));
const SAMPLES = { ready: false, why: "" };

// one object for each case, from the table's columns; each text stands there once
function casesOf({ rows, texts, cases }) {
  const names = Object.keys(cases);
  const spelled = new Set(["shape", "regime", "status", "reason", "error_metric", "throttle", "unsure"]);
  let sample = 0;
  let block = 0;
  return (cases.row ?? []).map((_, at) => {
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
}

function find(experiment, row, shape, regime) {
  return BY_ID.get(`${experiment}/${row}/${shape}/${regime}`);
}

// what was packed by packing.py: gzip in base64
async function unpacked(id) {
  const text = atob(document.getElementById(id).textContent);
  const bytes = new Uint8Array(text.length);
  for (let at = 0; at < text.length; at++) bytes[at] = text.charCodeAt(at);
  const stream = new Blob([bytes]).stream().pipeThrough(new DecompressionStream("gzip"));
  return new Response(stream).arrayBuffer();
}

// the four lists of packing.samples; what a browser cannot unpack leaves ratios without pairs
async function loadSamples() {
  try {
    const buffer = await unpacked("samples");
    const [samples, rounds, counts, clocks] = new Uint32Array(buffer, 0, 4);
    let at = 16;
    const next = (Kind, length) => new Kind(buffer, (at += 4 * length) - 4 * length, length);
    SAMPLES.values = next(Float32Array, samples);
    SAMPLES.rounds = next(Uint32Array, rounds);
    SAMPLES.counts = next(Uint32Array, counts);
    SAMPLES.clocks = next(Float32Array, clocks);
    SAMPLES.ready = true;
  } catch (problem) {
    SAMPLES.why = `This browser could not unpack the samples (${problem.message}): ratios are by the ends of the medians’ intervals, marked ᵉ.`;
  }
}

function samplesOf(each) {
  return SAMPLES.values.subarray(each.firstSample, each.firstSample + each.samples);
}

// the blocks of a case: in which round, how many samples from where on, at which clock
function blocksOf(each) {
  const found = [];
  let first = each.firstSample;
  for (let at = each.firstBlock; at < each.firstBlock + each.blocks; at++) {
    const count = SAMPLES.counts[at];
    found.push({ round: SAMPLES.rounds[at], first, count, clock: SAMPLES.clocks[at] });
    first += count;
  }
  return found;
}
