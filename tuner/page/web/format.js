'use strict';
// Formats numbers as text, with units.

const grouped = new Intl.NumberFormat('en-US', { maximumFractionDigits: 0 });

function countText(value) { return grouped.format(value); }
function counted(count, thing) { return `${countText(count)} ${thing}${count === 1 ? '' : 's'}`; }

function digitsText(value, count) {
  if (!Number.isFinite(value)) return '–';
  if (value !== 0 && Math.abs(value) >= 10 ** count) return grouped.format(value);
  return Number(value).toPrecision(count).replace(/e\+?(-?\d+)$/, 'e$1');
}

// Formats a time that is given in microseconds.
function timeText(us) {
  if (!(us > 0)) return '–';
  if (us < 1e3) return `${digitsText(us, 4)} µs`;
  return us < 1e6 ? `${digitsText(us / 1e3, 4)} ms` : `${digitsText(us / 1e6, 4)} s`;
}

function secondsText(seconds) {
  if (!Number.isFinite(seconds)) return '–';
  if (seconds < 100) return `${seconds.toFixed(seconds < 10 ? 2 : 1)} s`;
  const whole = Math.round(seconds);
  const two = (value) => String(value).padStart(2, '0');
  if (whole < 3600) return `${Math.floor(whole / 60)}:${two(whole % 60)} min`;
  return `${Math.floor(whole / 3600)}:${two(Math.floor(whole / 60) % 60)} h`;
}

// The unit of all rates of a page: TFLOP/s, or GFLOP/s where no rate reaches 0.1 TFLOP/s.
const rateUnit = { divisor: 1e12, name: 'TFLOP/s' };
function chooseRateUnit(rates) {
  const large = Math.max(0, ...rates) >= 1e11;
  Object.assign(rateUnit, large ? { divisor: 1e12, name: 'TFLOP/s' } : { divisor: 1e9, name: 'GFLOP/s' });
}
function rateText(flops) {
  if (!(flops > 0)) return '–';
  const rate = flops / rateUnit.divisor;
  return rate.toFixed(rate < 0.1 ? 3 : 2);
}
function percentText(share, places = 1) { return Number.isFinite(share) ? `${(100 * share).toFixed(places)} %` : '–'; }
function timesText(ratio) { return Number.isFinite(ratio) ? `${ratio.toFixed(2)}×` : '–'; }
function bytesText(bytes) {
  if (!(bytes > 0)) return '0';
  return bytes < 1024 ? `${bytes} B` : `${(bytes / 1024).toFixed(1)} KiB`;
}
// Formats milliseconds since 1970 as a date in UTC, such as `2026-11-23 01:30`.
function dateText(ms) { return ms > 0 ? new Date(ms).toISOString().slice(0, 16).replace('T', ' ') : '–'; }

// The two functions below take any number of values. Math.min and Math.max accept only a limited number of arguments.
function least(values) { return values.reduce((a, b) => (b < a ? b : a), Infinity); }
function greatest(values) { return values.reduce((a, b) => (b > a ? b : a), -Infinity); }

// Returns the ticks of a logarithmic axis. They are powers of ten, and multiples of these if there are fewer than four
// powers. If the axis is so short that multiples are too few as well, the ticks have equal steps.
function logTicks(low, high) {
  if (!(low > 0 && high < Infinity)) return [];
  const ticks = (steps) => {
    const found = [];
    for (let power = Math.floor(Math.log10(low)); power <= Math.ceil(Math.log10(high)); ++power) {
      for (const step of steps) if (step * 10 ** power >= low * 0.999 && step * 10 ** power <= high * 1.001) found.push(Number((step * 10 ** power).toPrecision(6)));
    }
    return found;
  };
  const choices = [[1], [1, 3], [1, 2, 5], [1, 1.5, 2, 3, 5, 7]].map(ticks);
  return choices.find((each) => each.length >= 4) || vega.scale('linear')().domain([low, high]).ticks(5);
}
// Returns the options of a logarithmic axis that covers all of `values`.
function logAxis(values, options = {}) {
  return { values: logTicks(least(values), greatest(values)), format: '~g', labelOverlap: true, labelSeparation: 6, ...options };
}

function quantile(sorted, fraction) {
  if (!sorted.length) return NaN;
  const at = fraction * (sorted.length - 1);
  const low = Math.floor(at);
  const high = Math.min(low + 1, sorted.length - 1);
  return sorted[low] + (at - low) * (sorted[high] - sorted[low]);
}
function median(values) { return quantile([...values].sort((a, b) => a - b), 0.5); }
