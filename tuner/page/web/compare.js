'use strict';
// Draws the section that compares the winners of two databases.

const noise = 0.01;  // two runs of the same code may differ by this share, even if each run has a smaller spread

function comparedRows(report, selection) {
  return report.against.winners.filter((each) => each.device === report.devices[selection.device].name && each.problem.startsWith(`${selection.kind} `)).map((each) => {
    const ratio = each.theirs.us / each.ours.us;
    const bounds = each.ours.interval && each.theirs.interval
      ? [each.theirs.interval[0] / each.ours.interval[1], each.theirs.interval[1] / each.ours.interval[0]] : [ratio, ratio];
    const verdict = bounds[0] > 1 + noise ? 'faster' : bounds[1] < 1 - noise ? 'slower' : 'equal within noise';
    return { ...each, size: each.problem.slice(selection.kind.length + 1), ratio, low: bounds[0], high: bounds[1], verdict };
  });
}

// Returns the parameters in which the winners of both databases differ, as text.
function changeText({ ours, theirs }) {
  if (ours.template !== theirs.template) return 'another template';
  const values = (text) => new Map(text.split(',').map((each) => each.split('=')));
  const [here, there] = [values(ours.configuration), values(theirs.configuration)];
  const changes = [...here].filter(([name, value]) => there.get(name) !== value).map(([name, value]) => `${name} ${there.get(name) ?? '–'}→${value}`);
  return changes.join(' ') || 'the same configuration';
}

function comparisonSection(report, selection) {
  const rows = comparedRows(report, selection);
  const title = `Compared with ${report.against.name}`;
  if (!rows.length) return section('compared', title, 'The databases share no problem of this selection.');
  const count = (verdict) => rows.filter((row) => row.verdict === verdict).length;
  const mean = Math.exp(rows.reduce((sum, row) => sum + Math.log(row.ratio), 0) / rows.length);
  const shown = [...rows].sort((a, b) => b.ratio - a.ratio).slice(0, 40);
  const colours = { domain: ['faster', 'equal within noise', 'slower'], range: [palette()[2], cssColour('--muted'), palette()[1]] };
  return section('compared', title,
    `${counted(rows.length, 'problem')} in both: ${count('faster')} faster here, ${count('slower')} slower, ${count('equal within noise')} equal within noise; the geometric mean of the ratios is ${timesText(mean)}.`,
    plot({
      id: 'ratios', title: 'Their time / ours', height: Math.max(120, 18 * shown.length + 60),
      sentence: `Right of the line, ${report.database} is faster. A bar is the 95 % confidence interval of the medians of both runs; a difference below ${100 * noise} % counts as noise.`,
      make: () => ({
        data: { values: shown },
        encoding: { y: { field: 'size', type: 'nominal', sort: null, title: null, axis: { ticks: false, labelLimit: 140 } }, color: { field: 'verdict', type: 'nominal', scale: colours } },
        layer: [
          { data: { values: [{}] }, mark: { type: 'rule', color: cssColour('--muted') }, encoding: { x: { datum: 1 }, y: null, color: null } },
          { mark: { type: 'rule', strokeWidth: 2 }, encoding: { x: { field: 'low', type: 'quantitative' }, x2: { field: 'high' } } },
          { mark: { type: 'point', size: 40, filled: true }, encoding: { x: { field: 'ratio', type: 'quantitative', scale: { type: 'log', nice: false, padding: 15 }, title: 'Their time / ours', axis: logAxis(shown.map((each) => each.ratio)) } } },
        ],
      }),
    }),
    dataTable({
      id: 'comparison', caption: 'Winners of both databases', rows, sorted: [3, 'down'], wide: true,
      columns: [
        { label: 'Size', value: (row) => row.size },
        { label: 'Here', numeric: true, value: (row) => row.ours.us, text: (row) => timeText(row.ours.us) },
        { label: 'There', numeric: true, value: (row) => row.theirs.us, text: (row) => timeText(row.theirs.us) },
        { label: 'There / here', numeric: true, value: (row) => row.ratio, text: (row) => row.ratio.toFixed(3) },
        { label: 'Verdict', value: (row) => row.verdict },
        { label: 'Template here', value: (row) => row.ours.template },
        { label: 'Template there', value: (row) => row.theirs.template },
        { label: 'From there to here', code: true, value: changeText },
      ],
    }));
}
