'use strict';
// Makes HTML elements. Text from the database becomes text nodes and attributes, never markup.

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
    // Some browsers deny the clipboard to a page from disk. The older command copies the selected text of a field.
    const field = element('textarea', { class: 'offscreen', 'aria-hidden': 'true' });
    field.value = text;
    document.body.append(field);
    field.select();
    const done = document.execCommand('copy');
    field.remove();
    return done;
  }
}

// The key has the path of the page, because all pages from disk share one storage.
function storageKey(name) { return `smemtune ${location.pathname}${location.search} ${name}`; }

// remembered() returns a value that remember() stored before a reload. For a page from disk, a browser may refuse to
// store values.
function remembered(name) {
  try { return JSON.parse(sessionStorage.getItem(storageKey(name))) ?? undefined; } catch { return undefined; }
}
function remember(name, value) {
  try { sessionStorage.setItem(storageKey(name), JSON.stringify(value)); } catch { /* a reload forgets the value */ }
}
