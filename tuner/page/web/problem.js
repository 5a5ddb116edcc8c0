'use strict';
// Draws two sections about one problem: what was tried, and why the winner is fast.

const mostPoints = 3000;  // drawing more points takes longer than a second

function stateText(report, trial) {
  if (trial === report.winner(report.trials.device[trial], report.trials.problem[trial])) return report.isDecided(trial) ? 'winner' : 'fastest';
  return stateNames[report.trials.state[trial]];
}

function landscapePlot(report, selection, trials) {
  const measured = trials.filter((trial) => report.isMeasured(trial));
  const winner = report.winner(selection.device, selection.problem);
  const points = [];
  const steps = [];
  let bestSoFar = Infinity;
  const step = Math.max(1, Math.ceil(trials.length / mostPoints));
  const slowest = greatest(measured.map((trial) => report.time(trial)));
  trials.forEach((trial, index) => {
    const time = report.isMeasured(trial) ? report.time(trial) : undefined;
    const better = time !== undefined && report.trials.state[trial] !== 's' && time < bestSoFar;
    if (better) { bestSoFar = time; steps.push({ trial: index + 1, time }); }
    if (index % step && !better && trial !== winner) return;
    points.push({
      trial: index + 1, time: time ?? slowest * 1.15, template: report.template(trial).label,
      kind: trial === winner ? 'winner' : time === undefined ? 'rejected' : report.isVerified(trial) ? 'verified' : 'not verified in full',
      about: `Trial ${report.trials.id[trial]}, ${stateText(report, trial)}: ${time ? timeText(time) : report.trials.reasons[report.trials.reason[trial]]}, ${report.template(trial).label} ${report.differences(trial)}`,
    });
  });
  if (steps.length) steps.push({ trial: trials.length, time: bestSoFar });
  const rejected = trials.length - measured.length;
  const colour = occurring(templateColour(report), points, 'template');
  const shape = occurring(templateShape(report), points, 'template');
  const sentence = [
    `Time of each trial in the order in which it was tried; the line is the best so far, the ring is the winner.`,
    `Solid points passed every check; faint ones were cut short, or were not the best of their template when they were tried.`,
    rejected && `Crosses at the top were rejected.`,
    step > 1 && `Shown are ${countText(points.length)} of ${countText(trials.length)} trials, evenly spaced, and every improvement.`,
  ].filter(Boolean).join(' ');
  const axes = {
    x: { field: 'trial', type: 'quantitative', title: 'Evaluation', scale: { domain: [0, trials.length + 1], nice: false }, axis: { format: ',d', tickCount: Math.min(8, trials.length) } },
    y: { field: 'time', type: 'quantitative', title: 'Time, µs', scale: { type: 'log', nice: false, padding: 12 }, axis: logAxis(points.map((each) => each.time)) },
  };
  const layer = (kind, mark, encoding = {}) => ({
    transform: [{ filter: `datum.kind === '${kind}'` }], mark: { type: 'point', ...mark },
    encoding: { ...axes, tooltip: { field: 'about', type: 'nominal' }, ...encoding },
  });
  const byTemplate = { color: { field: 'template', type: 'nominal', scale: colour }, shape: { field: 'template', type: 'nominal', scale: shape } };
  return plot({
    id: 'landscape', title: `Trials of ${report.problems[selection.problem].size}`, sentence, height: 360,
    make: () => ({
      data: { values: points },
      layer: [
        layer('not verified in full', { size: 22, opacity: isDark() ? 0.6 : 0.45, filled: true }, byTemplate),
        layer('rejected', { shape: 'M-1,-1L1,1M-1,1L1,-1', size: 14, filled: false, strokeWidth: 1.5, opacity: 0.8, color: cssColour('--bad') }),
        layer('verified', { size: 32, opacity: 0.95, filled: true }, byTemplate),
        { data: { values: steps }, mark: { type: 'line', interpolate: 'step-after', color: cssColour('--text'), strokeWidth: 1.2, opacity: 0.75 }, encoding: axes },
        layer('winner', { shape: 'circle', size: 170, filled: false, strokeWidth: 2, color: cssColour('--text') }),
        layer('winner', { size: 45, filled: true }, byTemplate),
      ],
    }),
  });
}

function distributionPlot(report, selection, trials) {
  const measured = trials.filter((trial) => report.isMeasured(trial));
  if (measured.length < 2) return null;
  const best = least(measured.map((trial) => report.time(trial)));
  const worst = greatest(measured.map((trial) => report.time(trial))) / best;
  const bins = 24;
  const width = Math.max(Math.log10(worst), 0.01) / bins;
  const counts = new Map();
  for (const trial of measured) {
    const bin = Math.min(bins - 1, Math.floor(Math.log10(report.time(trial) / best) / width));
    const key = `${bin} ${report.trials.template[trial]}`;
    counts.set(key, (counts.get(key) || 0) + 1);
  }
  const heights = new Map();  // height of the bars in each bin so far; bars of several templates are stacked
  const bars = [...counts].map(([key, count]) => {
    const [bin, template] = key.split(' ').map(Number);
    const base = heights.get(bin) || 0;
    heights.set(bin, base + count);
    return { from: 10 ** (bin * width), to: 10 ** ((bin + 1) * width), count, base, top: base + count, template: report.templates[template].label };
  });
  const near = measured.filter((trial) => report.time(trial) <= 1.1 * best).length;
  const colour = occurring(templateColour(report), bars, 'template');
  return plot({
    id: 'distribution', title: 'Distribution of times', height: 240,
    sentence: `${counted(measured.length, 'trial')} by their time relative to the fastest: ${countText(near)} within 10 %, the median ${timesText(median(measured.map((trial) => report.time(trial) / best)))}, the slowest ${timesText(worst)}.`,
    make: () => ({
      data: { values: bars },
      mark: { type: 'rect', stroke: cssColour('--page'), strokeWidth: 1 },
      encoding: {
        x: { field: 'from', type: 'quantitative', scale: { type: 'log', nice: false }, title: 'Time / fastest', axis: logAxis([1, worst], { grid: false }) },
        x2: { field: 'to' },
        y: { field: 'base', type: 'quantitative', title: 'Trials', scale: { zero: true }, axis: { format: ',d', tickCount: Math.min(6, greatest(bars.map((each) => each.top))) } }, y2: { field: 'top' },
        color: { field: 'template', type: 'nominal', scale: colour },
        tooltip: [{ field: 'template', title: 'Template' }, { field: 'count', title: 'Trials' }, { field: 'from', title: 'From', format: '.2f' }, { field: 'to', title: 'To', format: '.2f' }],
      },
    }),
  });
}

function rejectionTable(report, trials) {
  const groups = new Map();
  for (const trial of trials) {
    if (report.isMeasured(trial)) continue;
    const key = `${report.trials.state[trial]} ${report.trials.template[trial]} ${report.trials.reason[trial]}`;
    if (!groups.has(key)) groups.set(key, { first: trial, count: 0 });
    ++groups.get(key).count;
  }
  if (!groups.size) return note('No trial of this problem was rejected.');
  return dataTable({
    id: 'rejections', caption: 'Rejections by stage and reason', rows: [...groups.values()], sorted: [3, 'down'],
    columns: [
      { label: 'Stage', value: (row) => stateNames[report.trials.state[row.first]] },
      { label: 'Template', value: (row) => report.template(row.first).label },
      { label: 'Reason', value: (row) => report.trials.reasons[report.trials.reason[row.first]] },
      { label: 'Trials', numeric: true, value: (row) => row.count },
      { label: 'Example', numeric: true, value: (row) => report.trials.id[row.first], title: 'A trial’s number, for smemtune db show' },
      { label: 'Its configuration', code: true, value: (row) => report.differences(row.first) },
    ],
  });
}

function trialTable(report, trials) {
  const best = least(trials.filter((trial) => report.isMeasured(trial)).map((trial) => report.time(trial)));
  // Columns of resources without any value are left out. The host's compiler reports no resources.
  const column = (name) => (trial) => report.trials[name][trial];
  const resources = [['Registers', column('registers'), String], ['Spilled', column('spill'), bytesText], ['Shared', (trial) => report.shared(trial), bytesText]]
    .filter(([, of]) => trials.some((trial) => of(trial) > 0))
    .map(([label, of, text]) => ({ label, numeric: true, value: of, text: (trial) => (of(trial) ? text(of(trial)) : '–') }));
  const measured = (trial, value) => (report.isMeasured(trial) ? value : undefined);
  return dataTable({
    id: 'trials', caption: 'Trials', rows: trials, sorted: [2, 'up'], shown: 10, wide: true,
    explanation: 'Verified: passed every check. Checked once: right so far, and too slow to win, so not checked further. Cut short: clearly slower, so timing ended early. A trial’s number is for smemtune db show.',
    columns: [
      { label: 'Trial', numeric: true, value: (trial) => report.trials.id[trial] },
      { label: 'Template', value: (trial) => report.template(trial).label },
      { label: 'Time', numeric: true, value: (trial) => measured(trial, report.time(trial)), text: (trial) => timeText(report.time(trial)) },
      { label: '× fastest', numeric: true, value: (trial) => measured(trial, report.time(trial) / best), text: (trial) => (report.isMeasured(trial) ? (report.time(trial) / best).toFixed(3) : '–') },
      { label: 'Outcome', value: (trial) => stateText(report, trial) },
      ...resources,
      { label: 'Configuration', code: true, value: (trial) => report.differences(trial) },
    ],
  });
}

function triedSection(report, selection) {
  const trials = report.trialsOf(selection.device, selection.problem);
  const problem = report.problems[selection.problem];
  if (!trials.length) return section('tried', 'What was tried', `${problem.size} was not tried on this device.`);
  const count = (test) => trials.filter(test).length;
  const state = report.trials.state;
  const parts = [
    `${counted(trials.length, 'trial')} of ${problem.text}`,
    count((trial) => state[trial] === 'u') ? `${countText(count((trial) => state[trial] === 'u'))} NOT CHECKED, because the operation has no reference`
      : `${countText(count((trial) => state[trial] === 'v'))} verified in full`,
    ...[['m', 'checked once because they were too slow to win'], ['s', 'cut short because they were clearly slower']]
      .map(([letter, what]) => [count((trial) => state[trial] === letter), what]).filter(([number]) => number).map(([number, what]) => `${countText(number)} ${what}`),
    `${countText(count((trial) => !report.isMeasured(trial)))} rejected`,
  ];
  return section('tried', 'What was tried', `${parts.join(', ')}.`, trials.some((trial) => report.isMeasured(trial)) && landscapePlot(report, selection, trials),
    distributionPlot(report, selection, trials), rejectionTable(report, trials), trialTable(report, trials));
}

// Makes a table of how much of a multiprocessor's resources the winner and the next fastest trials use.
function resourceTable(report, selection) {
  const leaders = report.leaders(selection.device, selection.problem, 6);
  const facts = (trial) => report.launchOf.get(trial);
  const best = report.time(leaders[0]);
  const columns = [
    { label: 'Template', value: (trial) => report.template(trial).label },
    { label: 'Time', numeric: true, value: (trial) => report.time(trial), text: (trial) => timeText(report.time(trial)) },
    { label: 'Outcome', value: (trial) => stateText(report, trial) },
    { label: '× winner', numeric: true, value: (trial) => report.time(trial) / best, text: (trial) => (report.time(trial) / best).toFixed(3) },
    ...(leaders.some((trial) => report.trials.registers[trial]) ? [
      { label: 'Registers', numeric: true, value: (trial) => report.trials.registers[trial] }] : []),
    ...(leaders.some((trial) => report.trials.spill[trial]) ? [
      { label: 'Spilled', numeric: true, value: (trial) => report.trials.spill[trial], text: (trial) => bytesText(report.trials.spill[trial]) }] : []),
    { label: 'Shared', numeric: true, value: (trial) => facts(trial).shared, text: (trial) => bytesText(facts(trial).shared) },
    { label: 'Block', value: (trial) => facts(trial).block.filter((extent, i) => extent > 1 || i === 0).join('×') },
    { label: 'Grid', value: (trial) => facts(trial).grid.filter((extent, i) => extent > 1 || i === 0).join('×') },
  ];
  if (leaders.some((trial) => facts(trial).resident)) {
    columns.push(
      { label: 'Blocks per SM', numeric: true, value: (trial) => facts(trial).resident, title: 'Resident blocks of a multiprocessor' },
      { label: 'Limited by', wraps: true, value: (trial) => report.limiters(facts(trial)) },
      { label: 'Waves', numeric: true, value: (trial) => facts(trial).waves, text: (trial) => (facts(trial).waves ? facts(trial).waves.toFixed(2) : '–'), title: 'Blocks of the grid divided by the blocks that run at once' },
    );
  }
  columns.push({ label: 'Configuration', code: true, value: (trial) => report.differences(trial) });
  return dataTable({ id: 'resources', caption: 'Resources of the winner and of those that came next', columns, rows: leaders, wide: true, tight: true });
}

// Makes a table of the trials that differ from the winner in exactly one parameter. Values without such a trial are
// not listed.
function stepTable(report, selection, winner) {
  const template = report.template(winner);
  const code = report.code(winner);
  const rows = [];
  const met = new Set();
  for (const trial of report.trialsOf(selection.device, selection.problem)) {
    if (report.trials.template[trial] !== report.trials.template[winner] || trial === winner) continue;
    const other = report.code(trial);
    let different = -1;
    let count = 0;
    for (let p = 0; p < template.parameters.length && count < 2; ++p) {
      const at = p * template.width;
      if (code.slice(at, at + template.width) !== other.slice(at, at + template.width)) { different = p; ++count; }
    }
    if (count !== 1) continue;
    met.add(different);
    rows.push({ parameter: template.parameters[different].name, from: report.value(winner, different), to: report.value(trial, different), trial });
  }
  const silent = template.parameters.filter((each, p) => !met.has(p) && each.values.length > 1).map((each) => each.name);
  const cost = (row) => (report.isMeasured(row.trial) ? report.time(row.trial) / report.time(winner) - 1 : undefined);
  const explanation = silent.length ? note(`No stored trial differs from the winner in ${silent.join(', ')} alone.`) : null;
  if (!rows.length) return element('div', {}, note('No stored trial differs from the winner in exactly one parameter.'));
  return element('div', {}, dataTable({
    id: 'steps', caption: 'One step from the winner: trials that differ in one parameter', rows, sorted: [3, 'down'],
    columns: [
      { label: 'Parameter', code: true, value: (row) => row.parameter, title: 'See the template’s manifest' },
      { label: 'Winner', numeric: true, value: (row) => row.from },
      { label: 'Instead', numeric: true, value: (row) => row.to },
      { label: 'Slower by', numeric: true, value: cost, text: (row) => percentText(cost(row)) },
      { label: 'Outcome', value: (row) => stateText(report, row.trial) },
      ...(rows.some((row) => report.trials.registers[row.trial]) ? [{ label: 'Registers', numeric: true, value: (row) => report.trials.registers[row.trial] }] : []),
      { label: 'Trial', numeric: true, value: (row) => report.trials.id[row.trial] },
    ],
  }), explanation);
}

function whySection(report, selection) {
  const winner = report.winner(selection.device, selection.problem);
  if (winner === undefined) return section('why', 'Why this configuration', 'This problem has no verified trial.');
  const facts = report.launchOf.get(winner);
  const parts = [`${report.template(winner).label} runs ${report.problem(winner).size} in ${timeText(report.time(winner))}`];
  if (report.trials.registers[winner]) parts.push(`with ${report.trials.registers[winner]} registers per thread`);
  if (facts?.resident) {
    parts.push(`and ${counted(facts.resident, 'block')} per multiprocessor, limited by ${report.limiters(facts)} (${Object.entries(facts.by).map(([name, blocks]) => `${name}: ${blocks > 1e6 ? 'no limit' : blocks}`).join(', ')})`);
  }
  return section('why', 'Why this configuration', `${parts.join(' ')}.`, facts && resourceTable(report, selection), stepTable(report, selection, winner));
}
