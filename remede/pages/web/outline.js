// The tree as indented lines: legible on any screen, for a tree of any size.

class Outline {
  constructor(host, { jump, describe }) {
    Object.assign(this, { host, jump, describe });
    this.lit = [];
    host.addEventListener('click', (event) => {
      const row = event.target.closest('.row');
      if (row) this.jump(Number(row.dataset.node));
    });
    host.addEventListener('pointermove', (event) => {
      const row = event.target.closest('.row');
      if (!row || event.pointerType === 'touch') return tip.hide();
      const [title, rows] = this.describe(Number(row.dataset.node));
      tip.show(event, title, rows);
    });
    host.addEventListener('pointerleave', () => tip.hide());
  }

  // words: of the tree; isCell(node): the node tests the memory; ink(leaf): the colour of what it says, or null.
  show(words, isCell, ink) {
    this.rows = new Map();
    this.lit = [];
    const rows = words.view.map(([id, parent, side, depth]) => {
      const row = make('div', { class: `row ${id < 0 ? 'leaf' : isCell(id) ? 'split cell' : 'split'}`, 'data-node': id, style: `--depth:${depth}` });
      if (parent >= 0) row.append(make('em', {}, side ? 'yes' : 'no'));
      if (id < 0) {
        const leaf = words.leaves[~id], colour = ink(~id);
        if (colour) row.append(make('i', { style: `background:var(${colour})` }));
        row.append(make('b', {}, leaf.say.map((line) => line.replace(/^say /, '').trim()).join('  ')));
        for (const write of leaf.writes) row.append(make('span', { class: 'write' }, write.text));
      } else {
        row.append(make('b', {}, words.tests[id]), make('u', {}));
      }
      this.rows.set(id, row);
      return row;
    });
    const stories = words.cells.map((story) => make('div', { class: 'story', title: `${story.gain}; share ${story.share}` },
      make('b', {}, words.features[words.features.length - words.used.length + story.cell]), `${story.kind}: ${story.words}`, make('small', {}, story.facts)));
    this.host.replaceChildren(...stories, ...rows);
  }

  light(path, values) {
    for (const id of this.lit) {
      const row = this.rows.get(id);
      row.classList.remove('lit');
      if (id >= 0) row.querySelector('u').textContent = '';
    }
    this.lit = path.filter((id) => this.rows.has(id));
    for (const id of this.lit) {
      const row = this.rows.get(id);
      row.classList.add('lit');
      if (id >= 0) row.querySelector('u').textContent = values.get(id) ?? '';
    }
    this.keepInView();
  }

  keepInView() {
    const leaf = this.rows?.get(this.lit.at(-1));
    if (!leaf || this.host.hidden) return;
    const top = leaf.offsetTop - this.host.offsetTop, { scrollTop, clientHeight } = this.host;
    if (top < scrollTop || top + leaf.offsetHeight > scrollTop + clientHeight)
      this.host.scrollTop = Math.max(0, top - clientHeight / 2);
  }
}
