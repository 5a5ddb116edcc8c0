'use strict';
// Draws the section `What won`: the winners, and how much faster they are than the baseline and the vendor's libraries.

// The winners of the chosen device and kind of problem.
function winnersOf(report, selection) {
  return report.problems.filter((each) => each.kind === selection.kind)
    .map((each) => report.winner(selection.device, each.index)).filter((trial) => trial !== undefined)
    .sort((a, b) => (report.problem(a).operations || 0) - (report.problem(b).operations || 0));
}

// The best time of the baseline template at the problem of `trial`. Undefined if this template was not tried.
function baselineTime(report, trial) {
  const times = report.bestByTemplate(report.trials.device[trial], report.trials.problem[trial])
    .filter((each) => report.template(each).baseline).map((each) => report.time(each));
  return times.length ? Math.min(...times) : undefined;
}

// The times of the vendor's libraries at the trial's problem, as `smemtune bench` measured them. Times with a cold
// cache are preferred, because tuning measures with a cold cache, too.
function vendorTimes(report, trial) {
  if (!report.bench || report.bench.device !== report.device(trial).name) return [];
  const text = report.problem(trial).text;
  const times = report.bench.times.filter((each) => each.problem === text);
  const cold = times.filter((each) => each.cache === 'cold');
  return cold.length ? cold : times;
}

function winnerTable(report, trials, change) {
  const vendors = [...new Set(trials.flatMap((trial) => vendorTimes(report, trial).map((each) => each.name)))];
  const peak = trials.length ? report.device(trials[0]).peak_flops : 0;
  const runnerUp = (trial) => {
    const of = report.bestByTemplate(report.trials.device[trial], report.trials.problem[trial]);
    return of.find((each) => report.trials.template[each] !== report.trials.template[trial]);
  };
  const behind = (trial) => { const other = runnerUp(trial); return other === undefined ? undefined : report.time(other) / report.time(trial) - 1; };
  const sizeButton = (trial) => element('button', {
    type: 'button', class: 'link', title: 'Show what was tried of this size',
    onclick: () => { change({ problem: report.trials.problem[trial], template: undefined }); location.hash = 'tried'; },
  }, report.problem(trial).size);
  const columns = [
    { label: 'Size', value: (trial) => report.problem(trial).size, title: report.problem(trials[0]).extents.map(([name]) => name).join('×'), cell: sizeButton },
    { label: 'Template', value: (trial) => `${report.template(trial).label}${report.isUnchecked(trial) ? ' (NOT CHECKED)' : ''}` },
    { label: 'Time', numeric: true, value: (trial) => report.time(trial), text: (trial) => timeText(report.time(trial)), title: 'Median time of one launch' },
    { label: '± %', numeric: true, value: (trial) => 100 * report.trials.spread[trial] / report.time(trial), text: (trial) => (100 * report.trials.spread[trial] / report.time(trial)).toFixed(2), title: 'Half the distance between the quartiles of the samples, as a share of the time' },
  ];
  if (trials.some((trial) => report.rate(trial))) {
    columns.push({ label: rateUnit.name, numeric: true, value: (trial) => (report.rate(trial) || NaN) / rateUnit.divisor, text: (trial) => rateText(report.rate(trial)) });
  }
  if (peak > 0) columns.push({ label: 'Of peak', numeric: true, value: (trial) => report.rate(trial) / peak, text: (trial) => percentText(report.rate(trial) / peak), title: 'Share of the FP32 peak of the device' });
  if (trials.some((trial) => baselineTime(report, trial))) {
    columns.push({ label: '× baseline', numeric: true, value: (trial) => baselineTime(report, trial) / report.time(trial), text: (trial) => timesText(baselineTime(report, trial) / report.time(trial)) });
  }
  for (const name of vendors) {
    const of = (trial) => vendorTimes(report, trial).find((each) => each.name === name)?.ratio;
    columns.push({ label: `× ${name}`, numeric: true, value: of, text: (trial) => timesText(of(trial)), title: `Time of ${name} divided by ours, measured in pairs by smemtune bench` });
  }
  if (trials.some((trial) => runnerUp(trial) !== undefined)) {
    columns.push({ label: 'Next template', value: (trial) => (runnerUp(trial) === undefined ? undefined : report.template(runnerUp(trial)).label), title: 'The template whose best configuration comes second' });
    columns.push({ label: 'Behind by', numeric: true, value: behind, text: (trial) => percentText(behind(trial)), title: 'How much longer its best configuration takes' });
  }
  columns.push(
    { label: 'Tried', numeric: true, value: (trial) => report.trialsOf(report.trials.device[trial], report.trials.problem[trial]).length, text: (trial) => countText(report.trialsOf(report.trials.device[trial], report.trials.problem[trial]).length), title: 'Trials of this problem' },
    { label: 'Configuration', code: true, value: (trial) => report.differences(trial), title: 'The parameters that differ from the template’s defaults' },
  );
  const alone = trials.some((trial) => runnerUp(trial) === undefined) && trials.some((trial) => runnerUp(trial) !== undefined);
  return dataTable({
    id: 'winners', caption: 'Winners', columns, rows: trials, wide: true,
    explanation: `The time is the median of one launch, ± half the distance between the quartiles of its samples. A configuration lists what differs from the template’s defaults.${alone ? ' Where there is no next template, only one was tried.' : ''}`,
  });
}

// Plots operations per second over operations per byte, with a line for the peak and a line for the bandwidth.
function rooflinePlot(report, selection, trials) {
  const device = report.devices[selection.device];
  const points = [];
  const add = (trial, role) => {
    const { operations, bytes } = report.problem(trial);
    if (!(operations > 0 && bytes > 0)) return;
    points.push({
      intensity: operations / bytes, rate: report.rate(trial) / rateUnit.divisor, template: report.template(trial).label, role,
      about: `${report.problem(trial).size}: ${timeText(report.time(trial))}, ${rateText(report.rate(trial))} ${rateUnit.name}, ${report.template(trial).label} ${report.differences(trial)}`,
    });
  };
  for (const trial of trials) {
    add(trial, 'winner');
    const others = report.bestByTemplate(selection.device, report.trials.problem[trial]);
    for (const other of others) if (report.trials.template[other] !== report.trials.template[trial]) add(other, 'runner-up');
  }
  if (!points.length) return note('There is no roofline: the operation declares no arithmetic or no bytes.');

  const roofs = [];
  const peak = device.peak_flops / rateUnit.divisor;
  const [low, high] = [least(points.map((each) => each.intensity)) / 1.5, greatest(points.map((each) => each.intensity)) * 1.5];
  // The bandwidth is that of a copy measured by `smemtune bench`. Without this measurement, the stored kernels give a
  // lower bound: the highest bandwidth that one of them reached at a problem whose data exceeds the L2 cache.
  let bandwidth = report.bench?.device === device.name ? report.bench.copy_bytes_per_second : undefined;
  const measured = Boolean(bandwidth);
  let origin = 'as a copy measured by bench';
  if (!measured) {
    origin = 'the fastest that a stored kernel moved data larger than the L2 cache, so a lower bound';
    for (const trial of trials) {
      const { bytes } = report.problem(trial);
      if (device.l2_bytes > 0 && bytes > device.l2_bytes) bandwidth = Math.max(bandwidth || 0, bytes / (report.time(trial) * 1e-6));
    }
  }
  if (bandwidth) {
    const ridge = peak > 0 ? Math.min(high, peak * rateUnit.divisor / bandwidth) : high;
    for (const intensity of [low, Math.max(low, ridge)]) roofs.push({ intensity, rate: intensity * bandwidth / rateUnit.divisor, roof: 'memory' });
  }
  if (peak > 0) for (const intensity of [bandwidth ? Math.max(low, peak * rateUnit.divisor / bandwidth) : low, high]) {
    if (intensity <= high) roofs.push({ intensity, rate: peak, roof: 'peak' });
  }
  const parts = [`Winners are filled, the best of other templates are outlines.`];
  if (peak > 0) parts.push(`The level line is the FP32 peak, ${peak.toFixed(1)} ${rateUnit.name}.`);
  if (bandwidth) parts.push(`The ${measured ? '' : 'dashed '}slope is ${digitsText(bandwidth / 1e12, 3)} TB/s of memory: ${origin}. Points above it have data that fits in the L2 cache.`);
  if (!peak && !bandwidth) parts.push('The peak and the bandwidth of this device are not known.');
  const colour = occurring(templateColour(report), points, 'template');
  const shape = occurring(templateShape(report), points, 'template');
  const axes = {
    x: { field: 'intensity', type: 'quantitative', scale: { type: 'log', domain: [low, high], nice: false }, title: 'Operations per byte, each operand moved once', axis: logAxis([low, high]) },
    y: { field: 'rate', type: 'quantitative', scale: { type: 'log', nice: false, padding: 10 }, title: rateUnit.name, axis: logAxis([...points, ...roofs].map((each) => each.rate)) },
  };
  const points_ = (role, mark) => ({
    transform: [{ filter: `datum.role === '${role}'` }], mark: { type: 'point', ...mark },
    encoding: { ...axes, color: { field: 'template', type: 'nominal', scale: colour }, shape: { field: 'template', type: 'nominal', scale: shape }, tooltip: { field: 'about', type: 'nominal' } },
  });
  return plot({
    id: 'roofline', title: roofs.length ? 'Roofline' : 'Rate over operations per byte', sentence: parts.join(' '), height: 340,
    make: () => ({
      data: { values: points },
      layer: [
        ...(roofs.length ? [{
          data: { values: roofs }, mark: { type: 'line', color: cssColour('--muted'), strokeWidth: 1.5 },
          encoding: { ...axes, detail: { field: 'roof' }, strokeDash: { condition: { test: `datum.roof === 'memory' && ${!measured}`, value: [5, 4] }, value: [1, 0] } },
        }] : []),
        points_('runner-up', { filled: false, size: 30, opacity: isDark() ? 0.9 : 0.75, strokeWidth: 1.2 }),
        points_('winner', { filled: true, size: 45, opacity: 0.9 }),
      ],
    }),
  });
}

function rateOverSizePlot(report, selection, trials) {
  const points = [];
  for (const trial of trials) {
    const extents = report.problem(trial).extents.map(([, value]) => value);
    const size = Math.exp(extents.reduce((sum, value) => sum + Math.log(value), 0) / extents.length);
    for (const best of report.bestByTemplate(selection.device, report.trials.problem[trial])) {
      if (!report.rate(best)) continue;
      points.push({
        size, rate: report.rate(best) / rateUnit.divisor, template: report.template(best).label,
        about: `${report.problem(best).size}: ${rateText(report.rate(best))} ${rateUnit.name}, ${report.template(best).label} ${report.differences(best)}`,
      });
    }
  }
  if (!points.length) return null;
  // Points are joined by a line only if all sizes are cubes. Between sizes of different shapes, a line has no meaning.
  const cubes = trials.every((trial) => new Set(report.problem(trial).extents.map(([, value]) => value)).size === 1);
  const colour = occurring(templateColour(report), points, 'template');
  const shape = occurring(templateShape(report), points, 'template');
  const sizes = [...new Set(points.map((each) => each.size))];
  const several = sizes.length > 1;
  const sizeAxis = cubes && sizes.length <= 12 ? { values: sizes, format: 'd', labelOverlap: true } : logAxis(sizes, { format: '~s' });
  return plot({
    id: 'rate-over-size', title: `${rateUnit.name} over size, by template`, height: 340,
    sentence: `Each point is the best configuration of a template at a size${cubes ? '' : '; the horizontal position is the geometric mean of the extents'}.`,
    make: () => ({
      data: { values: points },
      encoding: {
        x: { field: 'size', type: 'quantitative', scale: several ? { type: 'log', nice: false, padding: 12 } : { zero: false }, title: cubes ? 'Extent' : 'Geometric mean of the extents', axis: sizeAxis },
        y: { field: 'rate', type: 'quantitative', title: rateUnit.name },
        color: { field: 'template', type: 'nominal', scale: colour },
      },
      layer: [
        ...(cubes && several ? [{ mark: { type: 'line', opacity: 0.5 } }] : []),
        { mark: { type: 'point', size: 36, opacity: 0.8, filled: true }, encoding: { shape: { field: 'template', type: 'nominal', scale: shape }, tooltip: { field: 'about', type: 'nominal' } } },
      ],
    }),
  });
}

function overviewSection(report, selection, change) {
  const trials = winnersOf(report, selection);
  chooseRateUnit(trials.map((trial) => report.rate(trial) || 0));
  if (!trials.length) return section('won', 'What won', 'No problem of this selection has a verified trial.');
  const peak = report.devices[selection.device].peak_flops;
  const extents = report.problem(trials[0]).extents.map(([name]) => name).join('×');
  const parts = [`${counted(trials.length, 'problem')} of ${selection.kind} on ${report.devices[selection.device].name}, sizes as ${extents}`];
  const unchecked = trials.filter((trial) => report.isUnchecked(trial)).length;
  if (unchecked) parts.push(`${counted(unchecked, 'winner')} NOT CHECKED: the operation has no reference, so a wrong kernel may have won`);
  const best = trials.filter((trial) => report.rate(trial)).sort((a, b) => report.rate(b) - report.rate(a))[0];
  if (best !== undefined) parts.push(`the highest rate is ${rateText(report.rate(best))} ${rateUnit.name}${peak > 0 ? ` (${percentText(report.rate(best) / peak)} of the FP32 peak)` : ''} at ${report.problem(best).size}`);
  const gains = trials.map((trial) => baselineTime(report, trial) / report.time(trial)).filter(Number.isFinite);
  if (gains.length) parts.push(`the median winner is ${timesText(median(gains))} as fast as the baseline template`);
  for (const name of new Set(trials.flatMap((trial) => vendorTimes(report, trial).map((each) => each.name)))) {
    const ratios = trials.map((trial) => vendorTimes(report, trial).find((each) => each.name === name)?.ratio).filter(Number.isFinite);
    const mean = Math.exp(ratios.reduce((sum, each) => sum + Math.log(each), 0) / ratios.length);
    parts.push(`${timesText(mean)} as fast as ${name} in the geometric mean of ${counted(ratios.length, 'problem')}`);
  }
  return section('won', 'What won', `${parts.join('; ')}.`, winnerTable(report, trials, change),
    element('div', { class: 'pair' }, rooflinePlot(report, selection, trials), rateOverSizePlot(report, selection, trials)));
}
