'use strict';
// Makes elements. Text from the database becomes text nodes and attributes, never markup.

function element(tag, attributes = {}, ...children) {
  const made = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes)) {
    if (value === undefined || value === false) continue;
    if (name.startsWith('on')) made.addEventListener(name.slice(2), value);
    else made.setAttribute(name, value === true ? '' : String(value));
  }
  made.append(...children.filter((child) => child !== undefined && child !== null).map((child) =>
    child instanceof Node ? child : document.createTextNode(String(child))));
  return made;
}

function section(id, title, introduction, ...children) {
  return element('section', { id, 'aria-labelledby': `${id}-title` },
    element('h2', { id: `${id}-title` }, title), introduction && element('p', { class: 'lead' }, introduction), ...children);
}

function selectBox(id, label, choices, chosen, onChange) {
  const select = element('select', { id, onchange: () => onChange(select.value) },
    ...choices.map(([value, text]) => element('option', { value, selected: String(value) === String(chosen) }, text)));
  return element('label', { class: 'choice', for: id }, element('span', {}, label), select);
}

function note(text) { return element('p', { class: 'note' }, text); }

async function copyText(text) {
  try {
    await navigator.clipboard.writeText(text);
    return true;
  } catch {
    // Some browsers give a page from disk no clipboard; the older way needs a selected field.
    const field = element('textarea', { class: 'offscreen', 'aria-hidden': 'true' });
    field.value = text;
    document.body.append(field);
    field.select();
    const done = document.execCommand('copy');
    field.remove();
    return done;
  }
}

// Pages from disk share their storage.
function storageKey(name) { return `smemtune ${location.pathname}${location.search} ${name}`; }

// What a reload keeps. A browser may refuse to store for a page from disk.
function remembered(name) {
  try { return JSON.parse(sessionStorage.getItem(storageKey(name))) ?? undefined; } catch { return undefined; }
}
function remember(name, value) {
  try { sessionStorage.setItem(storageKey(name), JSON.stringify(value)); } catch { /* then a reload forgets it */ }
}
