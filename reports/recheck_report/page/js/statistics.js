// the ratio of two cases with its interval: statistics/paired.py, on the samples in this page, so
// that any row can be the baseline. Tests hold both to the same numbers.

const ROUNDS = new Map();
const WEIGHTS = new Map();
const LEVEL = 0.05;

function median(values) {
  const sorted = Float64Array.from(values).sort();
  const half = sorted.length >> 1;
  return sorted.length % 2 ? sorted[half] : (sorted[half - 1] + sorted[half]) / 2;
}

// the value below which a share of the samples lies: the smallest with at least that many
function quantile(sorted, share) {
  return sorted[Math.max(0, Math.ceil(share * sorted.length) - 1)];
}

// the median of each block's samples, by the round that it was taken in
function roundsOf(each) {
  if (!ROUNDS.has(each.id)) {
    const found = new Map();
    for (const { round, first, count } of blocksOf(each)) {
      found.set(round, median(SAMPLES.values.subarray(first, first + count)));
    }
    ROUNDS.set(each.id, found);
  }
  return ROUNDS.get(each.id);
}

function choose(n, k) {
  let found = 1;
  for (let at = 1; at <= k; at++) found *= (n - k + at) / at;
  return found;
}

// the chance that at least `half` of n draws land in a part of this share
function atLeast(half, n, share) {
  let found = 0;
  for (let k = half; k <= n; k++) found += choose(n, k) * share ** k * (1 - share) ** (n - k);
  return found;
}

// of a resample of n from n, the chance that its middle two are the i-th and j-th smallest
function weightsOf(n) {
  if (WEIGHTS.has(n)) return WEIGHTS.get(n);
  const half = (n >> 1) + (n % 2);
  const below = Array.from({ length: n + 1 }, (_, i) => atLeast(half, n, i / n));
  const ways = choose(n, half);
  const found = [];
  for (let i = 0; i < n; i++) {
    if (n % 2) {
      found.push([i, i, below[i + 1] - below[i]]);
      continue;
    }
    const lower = ((i + 1) / n) ** half - (i / n) ** half;
    for (let j = i + 1; j < n; j++) {
      found.push([i, j, ways * lower * (((n - j) / n) ** half - ((n - j - 1) / n) ** half)]);
    }
    // both are the i-th: neither half lies below it, nor above it
    const split = ways * (i / n) ** half * ((n - 1 - i) / n) ** half;
    found.push([i, i, 1 - below[i] - below[n - 1 - i] + split]);
  }
  const kept = found.filter((each) => each[2] > 1e-15);
  WEIGHTS.set(n, kept);
  return kept;
}

// the value at which the chances, summed from the first on, reach the share
function reached(distribution, share) {
  let total = 0;
  let last = NaN;
  for (const [value, weight] of distribution) {
    last = value;
    total += weight;
    if (total >= share) break;
  }
  return last;
}

// the median of values and the percentile interval of its exact bootstrap
function bootstrap(values) {
  const sorted = Float64Array.from(values).sort();
  const found = weightsOf(sorted.length).map(([i, j, w]) => [(sorted[i] + sorted[j]) / 2, w]);
  found.sort((a, b) => a[0] - b[0]);
  const low = reached(found, LEVEL / 2);
  return { value: median(sorted), low, high: reached(found.reverse(), LEVEL / 2) };
}

// of very many rounds neighbours are pooled, as the chances of so many would underflow
function pooled(values) {
  const size = Math.ceil(values.length / 400);
  if (size <= 1) return values;
  const found = [];
  for (let at = 0; at < values.length; at += size) found.push(median(values.slice(at, at + size)));
  return found;
}

// how many times as fast `other` is as `base`, round by round; null where that cannot be
function paired(base, other) {
  const key = (each) => [each.experiment, each.row.target, each.regime, each.shape].join();
  if (!SAMPLES.ready || key(base) !== key(other)) return null;
  const [a, b] = [roundsOf(base), roundsOf(other)];
  const rounds = [...a.keys()].filter((each) => b.has(each)).sort((x, y) => x - y);
  if (rounds.length < DATA.enough) return null;
  const { value, low, high } = bootstrap(pooled(rounds.map((r) => Math.log(a.get(r) / b.get(r)))));
  return { value: Math.exp(value), low: Math.exp(low), high: Math.exp(high), rounds: rounds.length };
}

// the far ends of the two medians' intervals: right whatever the two have in common
function farEnds(base, other) {
  return {
    value: base.median / other.median,
    low: base.low / other.high,
    high: base.high / other.low,
    rounds: 0,
    mark: "ᵉ",
  };
}

function compared(base, other) {
  return paired(base, other) ?? farEnds(base, other);
}

function scaled(ratio, factor) {
  const { value, low, high } = ratio;
  return { ...ratio, value: value * factor, low: low * factor, high: high * factor };
}

// beyond what the self-audit and other processes on one GPU allow to be told apart, within what the self-audit resolves, or neither
function outcome({ low, high }, cases) {
  if (DATA.resolution > DATA.coarsest) return "no difference";
  const limit = 1 + Math.max(DATA.resolution, DATA.variation.processes ? Math.expm1(differsBy(cases)) : 0);
  if (low > limit) return "faster";
  if (high < 1 / limit) return "slower";
  const alike = 1 + DATA.resolution;
  return low >= 1 / alike && high <= alike ? "same" : "no difference";
}

function rate(each, seconds = each.median) {
  const { work, scale } = EXPERIMENTS.get(each.experiment).metric;
  return each[work] / seconds / scale;
}

// the bytes per second of a case against those of its experiment's roof
function shareOfRoof(each) {
  const roof = find(each.experiment, EXPERIMENTS.get(each.experiment).roof, each.shape, each.regime);
  if (!roof?.median || !roof.bytes || !each.bytes) return null;
  return scaled(compared(roof, each), each.bytes / roof.bytes);
}

// as statistics/variation.py has it: by target, threads, regime and the shortest of the medians
function classOf(...cases) {
  const { regime } = cases[0];
  const host = cases.map((each) => each.row).filter((row) => row?.target === "cpu"); // another record's have none
  const threads = host.some((row) => row.role === "baseline" || row.name.includes("openmp"));
  if (host.length) return threads ? "CPU, several threads" : "CPU, one thread";
  if (regime !== "cold" && regime !== "hot") return regime.replaceAll("_", " ");
  const shortest = Math.min(...cases.map((each) => each.median));
  const [, name] = DATA.variation.durations.find(([below]) => below === null || shortest < below);
  return `${regime}, ${name}`;
}

// by what factor, in logarithms, a ratio of two cases differs in another process
function differsBy(cases) {
  const { ratios, medians } = DATA.variation;
  const turns = new Set(cases.map((each) => [each.experiment, each.row.target, each.regime, each.shape].join(" ")));
  const found = cases.length === 2 && turns.size === 1 ? [ratios[classOf(...cases)]] : cases.map((each) => medians[classOf(each)]);
  return found.reduce((sum, each) => sum + Math.log1p(each ?? 0), 0);
}
