'use strict';
// Draws the section `Where the time went`: the times of the runs, and how fast the searches converged.

function runRows(report, selection) {
  const rows = report.runs.map((run) => ({ run, trials: 0, rejected: 0, compile: 0, verify: 0, time: 0 }));
  for (let trial = 0; trial < report.count; ++trial) {
    if (report.trials.device[trial] !== selection.device) continue;
    const row = rows[report.trials.run[trial]];
    ++row.trials;
    if (!report.isMeasured(trial)) ++row.rejected;
    row.compile += report.trials.compile[trial] / 1e3;
    row.verify += report.trials.verify[trial] / 1e3;
    row.time += report.trials.time[trial] / 1e3;
  }
  for (const row of rows) {
    row.elapsed = row.run.finished > 0 ? (row.run.finished - row.run.started) / 1e3 : undefined;
    row.rest = row.elapsed === undefined ? undefined : row.elapsed - row.verify - row.time;
  }
  return rows.filter((row) => row.trials);
}

function runPlot(rows) {
  const shown = rows.slice(-24);
  const values = shown.flatMap((row) => {
    const parts = [['verifying', row.verify], ['timing', row.time]];
    // The times of several workers are added. If the sum exceeds the duration of the run, the rest is unknown.
    if (row.rest > 0) parts.push(['rest', row.rest]);
    return parts.map(([part, seconds]) => ({ run: `run ${row.run.id}`, part, seconds, about: `run ${row.run.id}, ${part}: ${secondsText(seconds)}` }));
  });
  return plot({
    id: 'effort', title: 'Time of each run', height: Math.max(120, 17 * shown.length + 70),
    sentence: `Seconds of each run${shown.length < rows.length ? `, the last ${shown.length}` : ''}: verifying and timing in the workers; the rest is waiting for the compiler, finals, and starting up.`,
    make: () => ({
      data: { values },
      mark: { type: 'bar', height: { band: 0.7 } },
      encoding: {
        y: { field: 'run', type: 'nominal', sort: null, title: null, axis: { ticks: false } },
        x: { field: 'seconds', type: 'quantitative', title: 'Seconds', axis: { tickCount: 8 } },
        color: { field: 'part', type: 'nominal', scale: { domain: ['verifying', 'timing', 'rest'], range: [palette()[1], palette()[0], cssColour('--line-strong')] } },
        order: { field: 'order' },
        tooltip: { field: 'about', type: 'nominal' },
      },
      transform: [{ calculate: "indexof(['verifying', 'timing', 'rest'], datum.part)", as: 'order' }],
    }),
  });
}

function runTable(rows) {
  const seconds = (name) => ({ numeric: true, value: (row) => row[name], text: (row) => secondsText(row[name]) });
  return dataTable({
    id: 'run-table', caption: 'Runs', rows, wide: true, shown: 8, sorted: [0, 'down'],
    columns: [
      { label: 'Run', numeric: true, value: (row) => row.run.id },
      { label: 'Started (UTC)', value: (row) => dateText(row.run.started) },
      { label: 'Ended', value: (row) => row.run.how || 'no end on record' },
      { label: 'Lasted', ...seconds('elapsed') },
      { label: 'Verifying', ...seconds('verify') },
      { label: 'Timing', ...seconds('time') },
      { label: 'Rest', ...seconds('rest'), title: 'Waiting for the compiler, finals, starting up' },
      { label: 'Compiling', ...seconds('compile'), title: 'Over all threads of the compiler, beside the rest' },
      { label: 'Trials', numeric: true, value: (row) => row.trials, text: (row) => countText(row.trials) },
      { label: 'Rejected', numeric: true, value: (row) => row.rejected },
      { label: 'Request', code: true, value: (row) => Object.entries(row.run.request ?? {}).filter(([, value]) => value !== '').map(([name, value]) => `${name}=${value}`).join(' ') },
    ],
  });
}

// Returns for each of a problem's trials the date and the run of its first attempt. `trials` has the order of the first
// attempts. If a trial was repeated, as finalists are, only the date of the repetition is stored. But its first attempt
// was not later than that of any following trial. So the function takes the earliest date among the trial and all
// following trials, and the run of the trial with this date.
function firstDates(report, trials) {
  const dates = new Array(trials.length);
  let earliest;
  for (let index = trials.length - 1; index >= 0; --index) {
    if (earliest === undefined || report.trials.at[trials[index]] < report.trials.at[earliest]) earliest = trials[index];
    dates[index] = earliest;
  }
  return dates.map((trial) => ({ at: report.trials.at[trial], run: report.trials.run[trial] }));
}

// For each of a problem's trials, the seconds since the problem's first trial began. The time between runs is left out.
function secondsOf(report, trials) {
  const dates = firstDates(report, trials);
  let before = 0;  // the sum of the durations of earlier runs
  let begin;
  return dates.map(({ at, run }, index) => {
    const previous = dates[index - 1];
    if (index === 0 || run !== previous.run) {
      if (index > 0) before += previous.at - begin;
      begin = at - report.trials.compile[trials[index]];
    }
    return (before + at - begin) / 1e3;
  });
}

// For each problem, the curve of the best time so far divided by the final best time, over `positions(trials)`.
// Rejected trials count as evaluations.
function convergence(report, selection, positions) {
  const curves = [];
  for (const problem of report.problems.filter((each) => each.kind === selection.kind)) {
    const trials = report.trialsOf(selection.device, problem.index);
    const measured = trials.filter((trial) => report.isMeasured(trial));
    if (measured.length < 2) continue;
    const final = report.time(report.fastest(measured));
    const at = positions(trials);
    let best = Infinity;
    const curve = [];
    trials.forEach((trial, index) => {
      if (!report.isMeasured(trial) || report.time(trial) >= best) return;
      best = report.time(trial);
      curve.push([at[index], best / final]);
    });
    curves.push({ problem: problem.index, curve, end: at[at.length - 1] });
  }
  return curves;
}

function convergencePlot(report, selection, { id, title, axis, unit, positions, first }) {
  const curves = convergence(report, selection, positions);
  if (!curves.length) return null;
  const end = Math.max(first * 1.1, ...curves.map((each) => each.end));
  const at = [];
  for (let x = first; x < end; x *= 1.12) at.push(x);
  at.push(end);
  const valueAt = (curve, x) => {
    let value = curve[0][1];
    for (const [position_, ratio] of curve) { if (position_ > x) break; value = ratio; }
    return value;
  };
  const band = at.map((x) => {
    const values = curves.map(({ curve }) => valueAt(curve, x)).sort((a, b) => a - b);
    return { x, low: quantile(values, 0.25), middle: quantile(values, 0.5), high: quantile(values, 0.75), series: 'median' };
  });
  const own = curves.find((each) => each.problem === selection.problem);
  const line = own ? at.map((x) => ({ x, middle: valueAt(own.curve, x), series: report.problems[selection.problem].size })) : [];
  const several = curves.length > 1;
  const top = Math.max(1.1, ...band.map((each) => each.high), ...line.map((each) => each.middle));
  // Finds where the median curve comes within 5 % of the final best. This can only happen where some curve improves.
  const improvements = curves.flatMap(({ curve }) => curve.map(([position]) => position)).sort((a, b) => a - b);
  const near = improvements.find((position) => median(curves.map(({ curve }) => valueAt(curve, position))) <= 1.05);
  const y = (field) => ({ field, type: 'quantitative', title: 'Best so far / final best', scale: { type: 'log', domain: [1, top], nice: false }, axis: logAxis([1, top]) });
  const x = { field: 'x', type: 'quantitative', title: axis, scale: { type: 'log', nice: false }, axis: logAxis([first, end]) };
  const names = [several && 'median', own && report.problems[selection.problem].size].filter(Boolean);
  const series = { field: 'series', type: 'nominal', scale: { domain: names, range: several ? [cssColour('--muted'), accent()] : [accent()] } };
  return plot({
    id, title, height: 240,
    sentence: `${several ? `The median of ${counted(curves.length, 'problem')} with its quartiles` : 'One problem'}${near === undefined ? '' : `; within 5 % of the final best after ${unit(near)}`}.`,
    make: () => ({
      data: { values: band },
      layer: [
        ...(several ? [
          { mark: { type: 'area', opacity: 0.15, interpolate: 'step-after', color: cssColour('--muted') }, encoding: { x, y: y('low'), y2: { field: 'high' } } },
          { mark: { type: 'line', interpolate: 'step-after' }, encoding: { x, y: y('middle'), color: series } }] : []),
        ...(own ? [{ data: { values: line }, mark: { type: 'line', interpolate: 'step-after', strokeWidth: 2 }, encoding: { x, y: y('middle'), color: series } }] : []),
      ],
    }),
  });
}

function runsSection(report, selection) {
  const rows = runRows(report, selection);
  const sum = (name) => rows.reduce((total, row) => total + (row[name] || 0), 0);
  const parts = [`${counted(rows.length, 'run')} on ${report.devices[selection.device].name}`, `${secondsText(sum('elapsed'))} from start to end, added up`,
    `${secondsText(sum('verify'))} of it verifying, ${secondsText(sum('time'))} timing`, `${secondsText(sum('compile'))} of compiling over all threads`];
  return section('runs', 'Where the time went', `${parts.join('; ')}.`, rows.length && runPlot(rows), runTable(rows),
    element('div', { class: 'pair' },
      convergencePlot(report, selection, { id: 'convergence-evaluations', title: 'Convergence against evaluations', axis: 'Evaluations', unit: (count) => counted(Math.ceil(count), 'evaluation'), first: 1, positions: (trials) => trials.map((_, index) => index + 1) }),
      convergencePlot(report, selection, { id: 'convergence-seconds', title: 'Convergence against time', axis: 'Seconds', unit: secondsText, first: 0.1, positions: (trials) => secondsOf(report, trials).map((seconds) => Math.max(0.1, seconds)) })));
}
