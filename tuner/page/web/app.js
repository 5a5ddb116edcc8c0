'use strict';
// Draws the page for the user's selection, and loads newer data.

let report;
let selection = remembered('selection') || {};

// Returns a selection that the data can show. Each choice of `wanted` that the data lacks is replaced, usually by the
// choice with the most trials.
function checkedSelection(wanted) {
  const chosen = { ...wanted };
  if (!report.devices[chosen.device]) {
    const counts = report.devices.map((_, device) => report.trials.device.reduce((sum, each) => sum + (each === device), 0));
    chosen.device = counts.indexOf(greatest(counts));
  }
  const tried = report.problems.filter((each) => report.trialsOf(chosen.device, each.index).length);
  const kinds = kindsOf(chosen.device);
  if (!kinds.includes(chosen.kind)) {
    const trials = (kind) => tried.filter((each) => each.kind === kind).reduce((sum, each) => sum + report.trialsOf(chosen.device, each.index).length, 0);
    chosen.kind = kinds.reduce((a, b) => (trials(b) > trials(a) ? b : a));
  }
  const problems = tried.filter((each) => each.kind === chosen.kind);
  if (!problems.some((each) => each.index === chosen.problem)) {
    // Chooses the problem with the most trials. Problems with a winner come before problems without one.
    const weight = (each) => report.trialsOf(chosen.device, each.index).length + (report.winner(chosen.device, each.index) === undefined ? 0 : 1e9);
    chosen.problem = problems.reduce((a, b) => (weight(b) > weight(a) ? b : a)).index;
    delete chosen.template;
  }
  const trials = report.trialsOf(chosen.device, chosen.problem);
  const templates = [...new Set(trials.map((trial) => report.trials.template[trial]))];
  if (!templates.includes(chosen.template)) {
    const winner = report.winner(chosen.device, chosen.problem);
    chosen.template = winner === undefined ? templates[0] : report.trials.template[winner];
  }
  if (chosen.scope !== 'kind' && chosen.scope !== 'problem') {
    chosen.scope = trials.filter((trial) => report.trials.template[trial] === chosen.template).length < 200 && problems.length > 1 ? 'kind' : 'problem';
  }
  return chosen;
}

function kindsOf(device) {
  return [...new Set(report.problems.filter((each) => report.trialsOf(device, each.index).length).map((each) => each.kind))];
}

function selectionForm() {
  const form = document.getElementById('selection');
  const problems = report.problems.filter((each) => each.kind === selection.kind && report.trialsOf(selection.device, each.index).length)
    .sort((a, b) => (a.operations || 0) - (b.operations || 0));
  const templates = [...new Set(report.trialsOf(selection.device, selection.problem).map((trial) => report.trials.template[trial]))];
  form.replaceChildren(
    selectBox('device', 'Device', report.devices.map((each, i) => [i, each.name]), selection.device, (value) => change({ device: Number(value) })),
    selectBox('kind', 'Operation', kindsOf(selection.device).map((kind) => [kind, kind]), selection.kind, (value) => change({ kind: value, problem: undefined, scope: undefined })),
    selectBox('problem', 'Size', problems.map((each) => [each.index, each.size]), selection.problem, (value) => change({ problem: Number(value), template: undefined })),
    selectBox('template', 'Template', templates.map((each) => [each, report.templates[each].label]), selection.template, (value) => change({ template: Number(value) })),
  );
}

function subject() {
  const parts = [`${report.database}: ${counted(report.count, 'trial')} of ${counted(report.problems.length, 'problem')}`];
  if (report.count) parts.push(`the last at ${dateText(report.trials.begin + greatest(report.trials.at))} UTC`);
  if (report.unfinished) parts.push('a run is going on');
  return parts.join(', ');
}

function show() {
  if (!report.count) {
    document.getElementById('subject').textContent = subject();
    document.getElementById('content').replaceChildren(note('No trial is stored yet.'));
    document.documentElement.dataset.state = 'complete';
    return;
  }
  selection = checkedSelection(selection);
  remember('selection', selection);
  document.documentElement.dataset.state = 'drawing';
  document.getElementById('subject').textContent = subject();
  selectionForm();
  const compared = report.against ? [comparisonSection(report, selection)] : [];
  document.querySelector('nav a[href="#compared"]').hidden = !compared.length;
  document.getElementById('content').replaceChildren(overviewSection(report, selection, change), triedSection(report, selection),
    parametersSection(report, selection, change), whySection(report, selection), runsSection(report, selection), ...compared);
  drawPlots();
}

// Draws the page again. The element that had the focus before has the focus afterwards.
function redrawn(drawIt) {
  const focused = document.activeElement?.id;
  drawIt();
  if (focused) document.getElementById(focused)?.focus({ preventScroll: true });
}

function change(changes) {
  selection = { ...selection, ...changes };
  redrawn(show);
}

function start(raw) {
  report = new Report(raw);
  redrawn(show);
}

function followServer() {
  let first = true;
  const events = new EventSource('/events');
  events.onmessage = async () => {
    if (first) { first = false; return; }  // the first event is the state of the loaded page
    const answer = await fetch('/data.json');
    if (answer.ok) start(await answer.json());
  };
}

// Reloads a page from disk every 10 seconds while a run rewrites its file. Such a page cannot ask for newer data.
function reloadLater() {
  setTimeout(() => {
    if (document.visibilityState === 'visible' && document.activeElement?.tagName !== 'INPUT') location.reload();
    else reloadLater();
  }, 10000);
}

{
  const data = document.getElementById('data');
  start(JSON.parse(data.textContent));
  data.remove();
  performance.mark('interactive');
  if (document.documentElement.dataset.source === 'server') followServer();
  else if (report.unfinished) reloadLater();
  for (const query of ['(prefers-color-scheme: dark)', 'print']) matchMedia(query).addEventListener('change', drawPlots);
  let resized;
  addEventListener('resize', () => { clearTimeout(resized); resized = setTimeout(redrawResized, 150); });
}
