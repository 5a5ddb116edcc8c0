'use strict';
// Draws plots. A plot has a sentence that says what the plot shows, and a Vega-Lite specification. Plots are drawn one
// after another, so that the page can handle clicks in between.

const lightColours = ['#1f6feb', '#c2410c', '#15803d', '#7e22ce', '#a16207', '#0e7490', '#be185d', '#52525b'];
const darkColours = ['#6cb0ff', '#ff9559', '#5fd38d', '#c79bff', '#e3b341', '#56d0e0', '#ff8fc0', '#b4b4bd'];
const shapes = ['circle', 'square', 'triangle-up', 'diamond', 'cross', 'triangle-down', 'triangle-left', 'triangle-right'];

const plots = [];  // the plots on the page: {figure, holder, make, height, title}
let drawing = false;
let queue = [];

function cssColour(name) { return getComputedStyle(document.documentElement).getPropertyValue(name).trim(); }
function isDark() { return matchMedia('(prefers-color-scheme: dark)').matches && !matchMedia('print').matches; }
function palette() { return isDark() ? darkColours : lightColours; }
function accent() { return palette()[0]; }

// Mixes two colours of the form '#rrggbb'. If `t` is 0, the result is `first`; if `t` is 1, it is `second`.
function mixed(first, second, t) {
  const part = (colour, at) => parseInt(colour.slice(at, at + 2), 16);
  return `#${[1, 3, 5].map((at) => Math.round(part(first, at) * (1 - t) + part(second, at) * t).toString(16).padStart(2, '0')).join('')}`;
}
// The relative luminance of a colour, as WCAG 2 defines it.
function luminance(colour) {
  const linear = (value) => (value <= 0.04045 ? value / 12.92 : ((value + 0.055) / 1.055) ** 2.4);
  const [red, green, blue] = [1, 3, 5].map((at) => linear(parseInt(colour.slice(at, at + 2), 16) / 255));
  return 0.2126 * red + 0.7152 * green + 0.0722 * blue;
}
// Returns white or black, whichever has the higher contrast on `colour`. The contrast is then at least 4.5.
function inkOn(colour) { return (luminance(colour) + 0.05) ** 2 > (luminance('#000000') + 0.05) * 1.05 ? '#000000' : '#ffffff'; }

// A template has the same colour and shape in every plot.
function templateColour(report) {
  const labels = report.templates.map((each) => each.label);
  return { domain: labels, range: labels.map((_, i) => palette()[i % palette().length]) };
}
function templateShape(report) {
  const labels = report.templates.map((each) => each.label);
  return { domain: labels, range: labels.map((_, i) => shapes[i % shapes.length]) };
}
// Restricts a scale to the templates that occur in `values`, so that the legend lists no others.
function occurring(scale, values, field) {
  const present = new Set(values.map((each) => each[field]));
  const kept = scale.domain.map((label, i) => [label, scale.range[i]]).filter(([label]) => present.has(label));
  return { domain: kept.map(([label]) => label), range: kept.map(([, value]) => value) };
}

function theme() {
  const [text, muted, line] = [cssColour('--text'), cssColour('--muted'), cssColour('--line')];
  const font = 'system-ui, -apple-system, "Segoe UI", Roboto, sans-serif';
  return {
    background: 'transparent', font, padding: { left: 2, right: 10, top: 6, bottom: 2 },
    view: { stroke: null },
    axis: {
      labelColor: muted, titleColor: muted, gridColor: line, domain: false, tickColor: line, tickSize: 4, labelFontSize: 11,
      titleFontSize: 11, titleFontWeight: 'normal', titlePadding: 8, labelOverlap: true, labelPadding: 4,
    },
    legend: { labelColor: text, titleColor: muted, orient: 'top', direction: 'horizontal', title: null, labelFontSize: 11, symbolSize: 60, symbolOpacity: 1, offset: 4, padding: 0 },
    text: { color: text, fontSize: 11, font },
    point: { filled: true }, bar: { color: accent() },
    line: { strokeWidth: 1.5 },
  };
}

// Returns the element of a plot, which drawPlots() draws later. `make(width)` returns the specification without a size.
function plot({ id, title, sentence, height = 280, make, small = false }) {
  const holder = element('div', { class: 'canvas', role: 'img', 'aria-label': `${title}. ${sentence || ''}` });
  holder.style.minHeight = `${height}px`;
  const figure = element('figure', { id, class: small ? 'plot small' : 'plot', 'data-plot': 'waiting' },
    element(small ? 'h4' : 'h3', {}, title), holder, sentence && element('figcaption', {}, sentence));
  plots.push({ figure, holder, make, height, title });
  return figure;
}

// Counts the marks of a drawn plot, without axes and legends.
function markCount(group) {
  let count = 0;
  for (const item of group.items || []) {
    if (item.items && item.marktype && item.role === 'mark') count += item.items.length;
    if (item.items) count += markCount(item);
  }
  return count;
}

async function draw({ figure, holder, make, height, title }) {
  const width = Math.floor(holder.clientWidth);
  if (!width) return;
  try {
    const configuration = theme();
    // A legend that is wider than the plot gets several rows.
    configuration.legend.columns = Math.max(1, Math.floor((width - 50) / 125));
    const specification = { width, height, autosize: { type: 'fit', contains: 'padding' }, ...make(width), config: configuration };
    const compiled = vegaLite.compile(specification).spec;
    const view = new vega.View(vega.parse(compiled, null, { ast: true }), { expr: vega.expressionInterpreter, renderer: 'svg', hover: false });
    // Vega changes the role of the element that it draws into. So it draws into a child of `holder`, and `holder` keeps
    // its role for screen readers: an image with a description.
    const inner = element('div');
    holder.replaceChildren(inner);
    await view.initialize(inner).runAsync();
    figure.view = view;
    figure.dataset.width = width;
    const root = view.scenegraph().root;
    figure.dataset.marks = markCount({ items: [root] });
    figure.dataset.plot = 'drawn';
  } catch (error) {
    figure.dataset.plot = 'failed';
    holder.replaceChildren(note('This plot could not be drawn.'));
    console.error(`${title}: ${error.stack || error}`);
  }
}

async function drawQueued() {
  if (drawing) return;
  drawing = true;
  while (queue.length) {
    const next = queue.shift();
    if (next.figure.isConnected) await draw(next);
    await new Promise((resolve) => { setTimeout(resolve); });
  }
  drawing = false;
  document.documentElement.dataset.state = 'complete';
  performance.mark('complete');
}

// Draws all plots. Those on the screen come first.
function drawPlots() {
  const rank = ({ figure }) => {
    const { top, bottom } = figure.getBoundingClientRect();
    return bottom < 0 || top > innerHeight ? 1 : 0;
  };
  for (const each of plots.filter((one) => !one.figure.isConnected)) {
    if (each.figure.view) each.figure.view.finalize();
  }
  plots.splice(0, plots.length, ...plots.filter((one) => one.figure.isConnected));
  queue = [...plots].map((each) => [rank(each), each]).sort((a, b) => a[0] - b[0]).map(([, each]) => each);
  drawQueued();
}

// Draws the plots whose width has changed.
function redrawResized() {
  for (const each of plots) {
    const width = Math.floor(each.holder.clientWidth);
    if (width && each.figure.dataset.width !== String(width) && !queue.includes(each)) queue.push(each);
  }
  drawQueued();
}
