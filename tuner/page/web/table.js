'use strict';
// Makes tables that the user can sort by a column, filter by text, and copy as CSV or JSON.

// The order and the filter of each table, by the table's id. They are kept when the page is drawn again.
const tableStates = new Map(Object.entries(remembered('tables') || {}));

// `columns` is a list of {label, value(row), text(row), numeric, code, wraps, title}. Rows are sorted by `value`, and
// copied as `value`; `text` is shown. With `tight`, headings may take two lines. `explanation` is shown below.
function dataTable({ id, caption, columns, rows, shown = 12, sorted, wide = false, tight = false, explanation }) {
  const state = tableStates.get(id) || { column: sorted ? sorted[0] : -1, down: sorted ? sorted[1] === 'down' : false, filter: '' };
  tableStates.set(id, state);
  const textOf = (column, row) => String(column.text ? column.text(row) : column.value(row) ?? '–');
  const valueOf = (column, row) => column.value ? column.value(row) : column.text(row);
  let limit = shown;
  let matching = [];

  const body = element('tbody');
  const status = element('span', { class: 'count', role: 'status' });
  const more = element('button', { type: 'button', class: 'quiet', onclick: () => { limit = Infinity; draw(); } });
  const headings = columns.map((column, index) => {
    const button = element('button', { type: 'button', title: column.title, onclick: () => sort(index) }, column.label.replace('× ', '×\u00a0'));
    return element('th', { scope: 'col', class: column.numeric ? 'number' : '' }, button);
  });
  const filter = element('input', {
    type: 'search', id: `${id}-filter`, placeholder: 'Filter', value: state.filter, 'aria-label': `Filter: ${caption}`,
    oninput: () => { state.filter = filter.value; draw(); },
  });
  const copy = (format, make) => {
    const button = element('button', {
      type: 'button', class: 'quiet', 'aria-label': `Copy as ${format}: ${caption}`,
      onclick: async () => {
        const done = await copyText(make());
        button.textContent = done ? 'Copied' : 'Not copied';
        setTimeout(() => { button.textContent = format; }, 1500);
      },
    }, format);
    return button;
  };

  function sort(index) {
    // The first click sorts numbers from the largest down, and texts from A to Z. Another click reverses the order.
    if (state.column === index) state.down = !state.down;
    else Object.assign(state, { column: index, down: Boolean(columns[index].numeric) });
    draw();
  }
  function select() {
    const words = state.filter.toLowerCase().split(/\s+/).filter(Boolean);
    matching = rows.filter((row) => {
      if (!words.length) return true;
      const text = columns.map((column) => textOf(column, row)).join(' ').toLowerCase();
      return words.every((word) => text.includes(word));
    });
    const column = columns[state.column];
    if (!column) return;
    const order = (a, b) => {
      const [x, y] = [valueOf(column, a), valueOf(column, b)];
      const [noX, noY] = [x === undefined || x === null || Number.isNaN(x), y === undefined || y === null || Number.isNaN(y)];
      if (noX || noY) return noX - noY;  // unknown values come last in both orders
      const sign = typeof x === 'number' && typeof y === 'number' ? x - y : String(x).localeCompare(String(y), 'en', { numeric: true });
      return state.down ? -sign : sign;
    };
    matching = [...matching].sort(order);
  }
  function draw() {
    select();
    remember('tables', Object.fromEntries(tableStates));
    headings.forEach((heading, index) => {
      const direction = state.column !== index ? 'none' : state.down ? 'descending' : 'ascending';
      heading.setAttribute('aria-sort', direction);
    });
    body.replaceChildren(...matching.slice(0, limit).map((row) => element('tr', {}, ...columns.map((column) => {
      const made = column.cell ? column.cell(row) : textOf(column, row);
      return element('td', { class: [column.numeric && 'number', column.code && 'code', column.wraps && 'wraps'].filter(Boolean).join(' ') || undefined }, made);
    }))));
    if (!matching.length) body.append(element('tr', {}, element('td', { colspan: columns.length, class: 'none' }, 'No row matches the filter.')));
    status.textContent = matching.length === rows.length ? counted(rows.length, 'row') : `${countText(matching.length)} of ${counted(rows.length, 'row')}`;
    more.hidden = matching.length <= limit;
    more.textContent = `Show all ${countText(matching.length)}`;
  }
  function csv() {
    const quoted = (value) => {
      const text = String(value ?? '');
      return /[",\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
    };
    const lines = [columns.map((column) => quoted(column.label))];
    for (const row of matching) lines.push(columns.map((column) => quoted(valueOf(column, row))));
    return `${lines.map((line) => line.join(',')).join('\n')}\n`;
  }
  function json() {
    return JSON.stringify(matching.map((row) => Object.fromEntries(columns.map((column) => [column.label, valueOf(column, row) ?? null]))), null, 1);
  }

  draw();
  const tools = element('div', { class: 'tools' }, element('h3', { 'aria-hidden': 'true' }, caption), status, element('span', { class: 'buttons' },
    element('span', { class: 'muted', 'aria-hidden': 'true' }, 'Copy'), copy('CSV', csv), copy('JSON', json)));
  if (rows.length > 5) status.before(filter);
  return element('div', { class: `table${wide ? ' wide' : ''}${tight ? ' tight' : ''}`, id },
    tools,
    element('div', { class: 'scroll', tabindex: '0', role: 'region', 'aria-label': caption },
      element('table', {}, element('caption', {}, caption), element('thead', {}, element('tr', {}, ...headings)), body)),
    more, explanation && note(explanation));
}
