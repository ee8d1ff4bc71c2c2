// numbers as the Markdown report writes them: what formatting.py does

const NONE = "–";
// as in tables: "end to end"
const regimeLabel = (regime) => regime.replaceAll("_", " ");

function significant(value, digits = 3) {
  if (value === 0) return "0";
  const exponent = Math.floor(Math.log10(Math.abs(value)));
  return value.toFixed(Math.min(100, Math.max(0, digits - 1 - exponent)));
}

function duration(seconds, digits = 3) {
  for (const [scale, unit] of [[1, "s"], [1e-3, "ms"], [1e-6, "µs"]]) {
    if (seconds >= 0.9995 * scale) return `${significant(seconds / scale, digits)} ${unit}`;
  }
  return `${significant(seconds / 1e-9, digits)} ns`;
}

// the larger half of the interval, relative to the median
function spread({ median, low, high }) {
  const percent = (100 * Math.max(high - median, median - low)) / median;
  return percent < 0.01 ? "±<0.01 %" : `±${significant(percent, 2)} %`;
}

function shapeLabel(shape) {
  const extents = shape.split("x");
  const alike = new Set(extents).size === 1;
  if (alike && extents.length === 2) return `${extents[0]}²`;
  if (alike && extents.length === 3) return `${extents[0]}³`;
  return extents.join("×");
}

// one digit of the interval's half and two of the value, and more where a bound that is not 1 would
// read as it: as in formatting.py
function ratioText({ value, low, high, mark, open }) {
  const exponent = (size) => (size > 0 && size < Infinity ? Math.floor(Math.log10(size)) : 0);
  const half = (high - low) / 2 || Math.abs(high) * 1e-3;
  let decimals = Math.min(6, Math.max(0, -exponent(half), -exponent(value / 10)));
  const misread = (bound) => Number(bound.toFixed(decimals)) === 1 && bound !== 1;
  while (decimals < 6 && (misread(low) || misread(high))) decimals++;
  const [middle, ...ends] = [value, low, high].map((each) => each.toFixed(decimals));
  return `${middle}× [${ends.join(", ")}]${mark ?? ""}${open ? " ≈" : ""}`;
}

// times with enough digits to differ
function durations(...seconds) {
  let digits = 3;
  const texts = () => seconds.map((each) => duration(each, digits));
  while (digits < 5 && new Set(texts()).size < new Set(seconds).size) digits++;
  return texts();
}

function scientific(value) {
  if (value === null || value === undefined) return NONE;
  // two digits of exponent, as Python writes them
  return value.toExponential(1).replace(/e([+-])(\d)$/, "e$10$2");
}

function plural(count, one, many = `${one}s`) {
  return `${count.toLocaleString("en")} ${count === 1 ? one : many}`;
}
