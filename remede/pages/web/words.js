// Numbers and small pieces of page.

// The shortest decimal that reads back as the same float.
function exact(value) {
  if (Number.isNaN(value)) return 'missing';
  if (!Number.isFinite(value)) return value > 0 ? '∞' : '-∞';
  for (let digits = 1; digits < 9; ++digits) {
    const text = value.toPrecision(digits);
    if (f32(Number(text)) === value) return tidy(text);
  }
  return tidy(value.toPrecision(9));
}

// At most so many significant digits; whole digits stay.
function short(value, digits = 3) {
  if (Number.isNaN(value)) return 'missing';
  if (!Number.isFinite(value)) return value > 0 ? '∞' : '-∞';
  const size = Math.abs(value);
  if (size < 1e-30) return '0'; // what is left of a store that halved a hundred times
  if (size >= 10 ** digits && size < 1e7) return tidy(value.toFixed(0));
  return tidy(value.toPrecision(digits));
}

function tidy(text) {
  return String(Number(text)).replace('e+', 'e');
}

// A share as a percentage that never rounds a doubt away.
function percent(share) {
  if (Number.isNaN(share)) return '–';
  if (share > 0.999 && share < 1) return '>99.9%';
  if (share > 0 && share < 0.001) return '<0.1%';
  const text = share > 0.99 || share < 0.01 ? (100 * share).toFixed(1) : (100 * share).toFixed(0);
  return `${text.replace(/\.0$/, '')}%`;
}

function grouped(count) {
  return String(count).replace(/\B(?=(\d{3})+$)/g, ',');
}

function plural(count, word) {
  return `${grouped(count)} ${word}${count === 1 ? '' : 's'}`;
}

// An element with attributes (on...: listeners) and children. Texts never become markup.
function make(tag, attributes = {}, ...children) {
  const element = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes)) {
    if (name.startsWith('on')) element.addEventListener(name.slice(2), value);
    else if (value === true) element.setAttribute(name, '');
    else if (value !== false && value !== null && value !== undefined) element.setAttribute(name, value);
  }
  element.append(...children.filter((child) => child !== null && child !== undefined && child !== false));
  return element;
}

const byId = (id) => document.getElementById(id);

function classInk(number) {
  return `--rm-c${number % 10}`;
}

// The box beside the pointer. rows: texts, or [name, value, ink] of the page's colours.
const tip = {
  show(event, title, rows) {
    const box = byId('tip');
    const lines = rows.map((row) => (typeof row === 'string'
      ? make('p', {}, row)
      : make('p', { class: 'pair' }, row[2] ? make('i', { style: `background:var(${row[2]})` }) : null,
        make('span', {}, row[0]), make('b', {}, row[1]))));
    box.replaceChildren(make('h3', {}, title), ...lines);
    box.hidden = false;
    const width = box.offsetWidth, height = box.offsetHeight, gap = 14;
    const right = event.clientX + gap + width > innerWidth - 4;
    const low = event.clientY + gap + height > innerHeight - 4;
    box.style.left = `${Math.max(4, right ? event.clientX - gap - width : event.clientX + gap)}px`;
    box.style.top = `${Math.max(4, low ? event.clientY - gap - height : event.clientY + gap)}px`;
  },
  hide() {
    byId('tip').hidden = true;
  },
};
