'use strict';
// Draws the section `Which parameters mattered`: the times for each value of one parameter or of two, the importance of
// each parameter, and how the winners of neighbouring sizes differ.

// Returns the measured trials of a template. Each has its time relative to the best time of its problem.
function relativeTrials(report, selection) {
  const problems = selection.scope === 'kind'
    ? report.problems.filter((each) => each.kind === selection.kind).map((each) => each.index) : [selection.problem];
  const rows = [];
  for (const problem of problems) {
    const trials = report.trialsOf(selection.device, problem).filter((trial) => report.trials.template[trial] === selection.template && report.isMeasured(trial));
    const best = least(trials.map((trial) => report.time(trial)));
    for (const trial of trials) rows.push({ trial, ratio: report.time(trial) / best });
  }
  return rows;
}

// For each value of parameter `p`, the quantiles of the relative times of the trials with this value.
function overValues(report, rows, p) {
  const byValue = new Map();
  for (const { trial, ratio } of rows) {
    const value = report.value(trial, p);
    if (!byValue.has(value)) byValue.set(value, []);
    byValue.get(value).push(ratio);
  }
  return [...byValue].sort((a, b) => a[0] - b[0]).map(([value, ratios]) => {
    ratios.sort((a, b) => a - b);
    return { value, trials: ratios.length, best: ratios[0], low: quantile(ratios, 0.25), middle: quantile(ratios, 0.5), high: quantile(ratios, 0.75) };
  });
}

// Says which values the best trials of all sizes have, the most frequent value first: `41 % have 16, 22 % have 32`.
function amongBest(report, rows, p) {
  const counts = new Map();
  const best = rows.filter((each) => each.ratio === 1);
  for (const { trial } of best) counts.set(report.value(trial, p), (counts.get(report.value(trial, p)) || 0) + 1);
  return [...counts].sort((a, b) => b[1] - a[1]).slice(0, 3).map(([value, count]) => `${percentText(count / best.length, 0).replace(' ', '\u00a0')} have\u00a0${value}`).join(', ');
}

function parameterPlots(report, selection, template, rows, varied, byParameter) {
  const ofKind = selection.scope === 'kind';
  const all = varied.flatMap((p) => byParameter.get(p));
  const top = Math.max(1.2, ...all.map((each) => each.high)) * 1.05;
  return element('div', { class: 'multiples' }, ...varied.map((p) => {
    const { name } = template.parameters[p];
    const values = byParameter.get(p);
    const best = values.reduce((a, b) => (b.best < a.best ? b : a));
    const y = (field) => ({ field, type: 'quantitative', scale: { type: 'log', domain: [1, top], nice: false, clamp: true }, title: null, axis: { values: logTicks(1, top), format: '~g', labelOverlap: true } });
    const tooltip = [{ field: 'value', title: name }, { field: 'trials', title: 'Trials' }, { field: 'best', title: 'Best', format: '.3f' }, { field: 'low', title: 'Lower quartile', format: '.3f' }, { field: 'middle', title: 'Median', format: '.3f' }, { field: 'high', title: 'Upper quartile', format: '.3f' }];
    return plot({
      id: `parameter-${name}`, small: true, title: name, height: 130, sentence: ofKind ? `Of the best of each size, ${amongBest(report, rows, p)}.` : `Best with ${best.value}.`,
      make: () => ({
        data: { values },
        encoding: { x: { field: 'value', type: 'ordinal', title: null, axis: { labelAngle: 0, ticks: false, labelSeparation: 4 } } },
        layer: [
          { mark: { type: 'bar', width: { band: 0.5 }, opacity: 0.3 }, encoding: { y: y('low'), y2: { field: 'high' }, tooltip } },
          { mark: { type: 'tick', thickness: 2, width: { band: 0.5 }, color: cssColour('--muted') }, encoding: { y: y('middle'), tooltip } },
          ...(ofKind ? [] : [{ mark: { type: 'point', size: 36, filled: true, color: accent(), opacity: 1 }, encoding: { y: y('best'), tooltip } }]),
        ],
      }),
    });
  }));
}

// Plots the relative time for each pair of values of two parameters. For one size, the plot shows the best time of each
// pair. For several sizes, it shows the median: the best trial of each size has a relative time of 1, so the best time
// of many pairs would be 1.
function pairPlot(report, selection, template, rows, [p, q]) {
  const ofKind = selection.scope === 'kind';
  const cells = new Map();
  for (const { trial, ratio } of rows) {
    const [x, y] = [report.value(trial, p), report.value(trial, q)];
    const key = `${x} ${y}`;
    const cell = cells.get(key) || { x, y, ratios: [] };
    cell.ratios.push(ratio);
    cells.set(key, cell);
  }
  const values = [...cells.values()];
  for (const each of values) {
    each.trials = each.ratios.length;
    each.best = ofKind ? median(each.ratios) : Math.min(...each.ratios);
    each.text = each.best.toFixed(2);
    delete each.ratios;
  }
  const best = values.reduce((a, b) => (b.best < a.best ? b : a));
  const [first, second] = [template.parameters[p].name, template.parameters[q].name];
  const ramp = isDark() ? ['#5fd38d', '#2b3a4a'] : ['#15803d', '#e7eef6'];
  const slowest = Math.max(1.05, ...values.map((each) => each.best));
  for (const each of values) each.ink = inkOn(mixed(ramp[0], ramp[1], Math.log(each.best) / Math.log(slowest)));
  return plot({
    id: 'pair', title: `${first} and ${second}`, height: 300,
    sentence: `Each cell is ${ofKind ? 'the median time of the trials with these two values, relative to the best of their size' : 'the fastest trial with these two values, relative to the fastest of all'}; ${first}=${best.x} with ${second}=${best.y} is the lowest. An empty cell was not tried.`,
    make: (width) => ({
      data: { values },
      encoding: {
        x: { field: 'x', type: 'ordinal', title: first, axis: { labelAngle: 0 } }, y: { field: 'y', type: 'ordinal', title: second, sort: 'descending' },
        tooltip: [{ field: 'x', title: first }, { field: 'y', title: second }, { field: 'best', title: ofKind ? 'Median' : 'Best', format: '.3f' }, { field: 'trials', title: 'Trials' }],
      },
      layer: [
        { mark: { type: 'rect', cornerRadius: 2 }, encoding: { color: { field: 'best', type: 'quantitative', scale: { type: 'log', domain: [1, slowest], range: ramp, interpolate: 'rgb', nice: false }, legend: null } } },
        ...(width > 50 * new Set(values.map((each) => each.x)).size ? [{
          mark: { type: 'text', fontSize: 11 },
          encoding: { text: { field: 'text' }, color: { condition: { test: "datum.ink === '#ffffff'", value: '#ffffff' }, value: '#000000' } },
        }] : []),
      ],
    }),
  });
}

// The share of the variance of the logarithms of the times that one parameter explains by itself. The method is one-way
// analysis of variance, corrected for the number of values (epsilon squared), so that a parameter without effect has a
// share near 0. Each logarithm is compared with the mean of the logarithms at the same size.
function explainedShare(report, rows, p) {
  const bySize = new Map();
  for (const { trial, ratio } of rows) {
    const sums = bySize.get(report.trials.problem[trial]) || { sum: 0, count: 0 };
    sums.sum += Math.log(ratio);
    ++sums.count;
    bySize.set(report.trials.problem[trial], sums);
  }
  const groups = new Map();
  let total = 0;
  for (const { trial, ratio } of rows) {
    const { sum, count } = bySize.get(report.trials.problem[trial]);
    const deviation = Math.log(ratio) - sum / count;
    total += deviation * deviation;
    const group = groups.get(report.value(trial, p)) || { sum: 0, count: 0 };
    group.sum += deviation;
    ++group.count;
    groups.set(report.value(trial, p), group);
  }
  let between = 0;
  for (const { sum, count } of groups.values()) between += (sum * sum) / count;
  const free = rows.length - bySize.size - (groups.size - 1);
  if (free < 1 || total === 0) return 0;
  return Math.max(0, (between - (groups.size - 1) * (total - between) / free) / total);
}

const leastForImportance = 40;  // the least number of trials; with fewer, chance decides the order

// The result of tuner/analysis for the selected problem and template. Undefined if the selection has several sizes, or
// if this problem was not analysed because the page has too many trials in all.
function analysisOf(report, selection) {
  if (selection.scope === 'kind') return undefined;
  return report.importance.find((each) => each.device === selection.device && each.problem === selection.problem && each.template === selection.template);
}

function importancePlot(report, selection, template, rows, varied) {
  const analysis = analysisOf(report, selection);
  if (analysis?.too_little) return note(`Importance: ${analysis.too_little}`);
  if (!analysis && rows.length < leastForImportance) return note(`Importance: ${counted(rows.length, 'trial')} ${rows.length === 1 ? 'is' : 'are'} too few to tell; ${leastForImportance} are the least.`);
  const shares = analysis ? analysis.shares : varied.map((p) => ({ name: template.parameters[p].name, share: explainedShare(report, rows, p) }));
  const values = shares.map((each) => ({ ...each, what: template.summaries?.[each.name] || '' })).sort((a, b) => b.share - a.share);
  const sentence = ['The share of the variance of the logarithm of the time that each parameter explains alone.'];
  if (analysis) {
    sentence.push(`Method: ${analysis.method}, from ${counted(analysis.measured, 'measured trial')}${analysis.exact ? '' : `; the model explains ${percentText(analysis.explained, 0)} of the variance at configurations that it has not seen`}.`);
    const strong = analysis.pairs.filter((each) => each.share >= 0.01).slice(0, 3).map((each) => `${each.first} with ${each.second} (${percentText(each.share, 0)})`);
    if (strong.length) sentence.push(`Pairs explain more than the sum of their parts: ${strong.join(', ')}.`);
  } else {
    sentence.push(`Method: one-way analysis of variance of ${counted(rows.length, 'trial')}. A search tries good values, and good combinations, more often than others, which shifts these shares.`);
  }
  return plot({
    id: 'importance', title: 'Importance of each parameter', height: Math.max(110, 19 * values.length + 45), sentence: sentence.join(' '),
    make: () => ({
      data: { values },
      mark: { type: 'bar', height: { band: 0.65 } },
      encoding: {
        y: { field: 'name', type: 'nominal', sort: null, title: null, axis: { labelLimit: 220, ticks: false } },
        x: { field: 'share', type: 'quantitative', title: 'Share of the variance', axis: { format: '.0%', tickCount: 5 } },
        tooltip: [{ field: 'name', title: 'Parameter' }, { field: 'share', title: 'Share', format: '.1%' }, { field: 'what', title: 'It is' }],
      },
    }),
  });
}

// Sorts the parameters `varied`, the most important first.
function byImportance(report, selection, template, rows, varied) {
  const analysis = analysisOf(report, selection);
  const known = new Map((analysis?.shares || []).map((each) => [each.name, each.share]));
  const shares = new Map(varied.map((p) => [p, analysis?.shares ? known.get(template.parameters[p].name) || 0 : explainedShare(report, rows, p)]));
  return [...varied].sort((a, b) => shares.get(b) - shares.get(a));
}

// Makes a table that compares the winner of each size with the winner of the nearest other size.
function neighbourTable(report, selection) {
  const winners = winnersOf(report, selection);
  if (winners.length < 2) return null;
  const place = (trial) => report.problem(trial).extents.map(([, value]) => Math.log2(Math.max(1, value)));
  const places = new Map(winners.map((trial) => [trial, place(trial)]));
  const distance = (a, b) => Math.hypot(...places.get(a).map((value, i) => value - places.get(b)[i]));
  const rows = winners.map((trial) => {
    const near = winners.filter((each) => each !== trial).reduce((a, b) => (distance(trial, b) < distance(trial, a) ? b : a));
    const [template, other] = [report.template(trial), report.template(near)];
    const changes = template !== other ? undefined : template.parameters
      .map((each, p) => [each.name, report.value(near, p), report.value(trial, p)]).filter(([, a, b]) => a !== b);
    return { trial, near, changes };
  });
  return dataTable({
    id: 'neighbours', caption: 'What differs between the winners of neighbouring sizes', rows, shown: 8, wide: true,
    columns: [
      { label: 'Size', value: (row) => report.problem(row.trial).size },
      { label: 'Nearest size', value: (row) => report.problem(row.near).size, title: 'By the distance of the logarithms of the extents' },
      { label: 'Template', value: (row) => report.template(row.trial).label },
      { label: 'Its template', value: (row) => report.template(row.near).label },
      { label: 'Differ in', numeric: true, value: (row) => row.changes?.length, text: (row) => (row.changes ? row.changes.length : 'all') },
      { label: 'From the nearest size to this one', code: true, value: (row) => (row.changes ? row.changes.map(([name, a, b]) => `${name}=${a}→${b}`).join(' ') || 'the same configuration' : 'another template') },
    ],
  });
}

function parametersSection(report, selection, change) {
  const template = report.templates[selection.template];
  const rows = relativeTrials(report, selection);
  const scope = selectBox('scope', 'Trials of', [['problem', report.problems[selection.problem].size], ['kind', `all sizes of ${selection.kind}`]],
    selection.scope, (value) => change({ scope: value }));
  const intro = `The trials of ${template.label}: ${selection.scope === 'kind' ? 'a' : 'a point is the best time with a value, a'} bar spans the quartiles of the times with a value, a tick is the median. Times are relative to the best of the same size; a search tries good values more often, so bars of rarely tried values say little.`;
  const parts = report.problems.some((each) => each.kind === selection.kind && each.index !== selection.problem) ? [element('div', { class: 'row' }, scope)] : [];
  if (rows.length < 2) {
    parts.push(note(`${template.label} has too few measured trials here to compare values.`));
    return section('parameters', 'Which parameters mattered', intro, ...parts, neighbourTable(report, selection));
  }
  const byParameter = new Map(template.parameters.map((each, p) => [p, overValues(report, rows, p)]));
  const varied = template.parameters.map((each, p) => p).filter((p) => byParameter.get(p).length > 1);
  const fixed = template.parameters.filter((each, p) => byParameter.get(p).length === 1).map((each) => each.name);
  const order = byImportance(report, selection, template, rows, varied);
  parts.push(importancePlot(report, selection, template, rows, varied), parameterPlots(report, selection, template, rows, order, byParameter));
  if (fixed.length) parts.push(note(`Only one value was tried of ${fixed.join(', ')}.`));
  if (order.length >= 2) {
    const holder = element('div');
    const chosen = [order[0], order[1]];
    const names = varied.map((p) => [p, template.parameters[p].name]);
    const show = () => { holder.replaceChildren(pairPlot(report, selection, template, rows, chosen)); };
    const choose = (index, label) => selectBox(`pair-${index}`, label, names, chosen[index], (value) => { chosen[index] = Number(value); show(); drawPlots(); });
    show();
    parts.push(element('div', { class: 'row' }, choose(0, 'Across'), choose(1, 'Up')), holder);
  }
  return section('parameters', 'Which parameters mattered', intro, ...parts, neighbourTable(report, selection));
}
