// What happens in one step, in words and exact numbers: the answer, the walk, the memory, the inputs.

class StepPanel {
  // app: the state of the page (main.js).
  constructor(host, app) {
    this.app = app;
    const part = (name) => {
      const body = make('div', { class: name });
      host.append(body);
      return body;
    };
    this.head = part('answer');
    this.parts = part('madeof');
    this.walk = part('walk');
    this.memory = part('memory');
    this.inputs = part('inputs');
    this.rows = [];
  }

  update() {
    this.showAnswer();
    this.parts.replaceChildren(...answerBars(this.app));
    this.parts.hidden = this.parts.childElementCount === 0;
    this.showWalk();
    this.showMemory();
    this.showInputs();
  }

  showAnswer() {
    const { app } = this, { model, data, sequence, step, run } = app, nY = model.nY;
    const known = data.hasTarget(sequence, step), marked = known && data.isMarked(sequence, run, step);
    const verdict = known ? make('span', { class: marked ? 'verdict wrong' : 'verdict right' }, marked ? (model.classifies ? '✗ mistake' : '✗ far off') : '✓') : null;
    const output = run.output.subarray(step * nY, (step + 1) * nY);
    const name = make('h2', {}, `${data.json.time_name} ${data.stepName(sequence, step)}`, verdict);
    const lines = model.classifies ? this.classLines(output, known) : this.valueLines(output, known);
    this.head.replaceChildren(name, ...lines);
  }

  classLines(output, known) {
    const { model, data, sequence, step } = this.app;
    const said = argMax(output), target = known ? data.label[sequence.first + step] : -1;
    const order = [...output.keys()].sort((a, b) => output[b] - output[a] || a - b);
    const shown = model.nY <= 6 ? [...output.keys()] : order.slice(0, 5);
    if (target >= 0 && !shown.includes(target)) shown.push(target);
    return [make('div', { class: 'bars' }, ...shown.map((o) => make('div', { class: `bar${o === said ? ' said' : ''}${o === target ? ' target' : ''}`, title: `${model.classes[o]}: ${exact(output[o])}` },
      make('span', { class: 'name' }, model.classes[o]),
      make('span', { class: 'rail' }, make('i', { style: `width:${100 * (output[o] || 0)}%;background:var(${classInk(o)})` })),
      make('span', { class: 'share' }, percent(output[o])),
      make('span', { class: 'role' }, o === target ? 'target' : ''))))];
  }

  valueLines(output, known) {
    const { model, data, sequence, step } = this.app;
    return [...output.keys()].flatMap((o) => {
      const target = known ? data.value[(sequence.first + step) * model.nY + o] : NaN;
      const line = make('div', { class: 'value' }, make('span', { class: 'name' }, model.targets[o]), make('b', { title: exact(output[o]) }, short(output[o], 5)));
      if (!known) return [line];
      const off = f32(output[o] - target);
      line.append(make('span', { class: 'target', title: exact(target) }, `target ${short(target, 5)}`),
        make('span', { class: 'off', title: exact(off) }, `${off >= 0 ? '+' : ''}${short(off, 3)}`));
      return [line];
    });
  }

  showWalk() {
    const { app } = this, { tree, words, step } = app;
    const items = app.path.slice(0, -1).map((node) => {
      const cell = tree.feature[node] - tree.nX, value = app.valueAt(node), right = app.goesRight(node);
      const wrote = cell >= 0 ? app.treeRun.wrote[step * tree.nM + cell] : null;
      return make('li', { class: cell >= 0 ? 'cell' : 'input' },
        make('b', {}, words.tests[node]),
        make('span', { title: `${words.features[tree.feature[node]]} = ${exact(value)}; threshold ${exact(tree.threshold[node])}` },
          `${cell >= 0 ? short(value, 4) : this.wordOf(tree.feature[node]) ?? short(value, 4)} → `, make('em', {}, right ? 'yes' : 'no')),
        wrote === null ? null : this.writerButton(wrote));
    });
    const leaf = words.leaves[app.leaf];
    this.walk.hidden = !this.parts.hidden && items.length === 0; // the bars say it all
    const says = (leaf.say.length > 1 ? leaf.say : leaf.say.map((line) => line.replace(/^say /, ''))).map((line) => line.trim());
    const text = this.parts.hidden ? says.join('\n') : `answers as above${leaf.writes.length > 0 && tree.laws ? `; ${leaf.writes.map((w) => w.text).join('; ')}` : ''}`;
    items.push(make('li', { class: 'leaf', title: (leaf.full ?? leaf.say).join('\n') }, make('b', {}, text)));
    this.walk.replaceChildren(make('h3', {}, 'Path'), make('ol', {}, ...items));
  }

  // The column of words that input i was made of.
  columnOf(i) { return this.app.columns.find((column) => column.inputs.includes(i)); }

  // The word that this step has in the column of input i; null: the input is a number.
  wordOf(i) {
    const { app } = this, column = this.columnOf(i);
    return column ? wordAt(column, app.run.x, app.step * app.model.nX) : null;
  }

  writerButton(wrote) {
    const { app } = this;
    if (wrote < 0) return make('small', {}, app.sequence.before ? 'written before the part shown' : 'never written so far');
    return make('button', { type: 'button', class: 'link', title: 'Go to the step that wrote it (W)', onclick: () => app.goTo(wrote) },
      `written at ${app.data.json.time_name} ${app.data.stepName(app.sequence, wrote)}`);
  }

  showMemory() {
    const { app } = this, { tree, words, step, treeRun } = app;
    const cells = [...words.used.keys()].filter((k) => words.used[k]);
    this.memory.hidden = cells.length === 0;
    if (cells.length === 0) return;
    const rows = cells.map((k) => {
      const before = treeRun.memory[step * tree.nM + k], after = treeRun.memory[(step + 1) * tree.nM + k];
      if (tree.laws) return this.lawRow(k, before, after);
      const write = words.leaves[app.leaf].writes.find((w) => w.cell === k);
      return make('div', { class: write ? 'cellrow written' : 'cellrow' },
        make('span', { class: 'name' }, words.features[tree.nX + k]),
        make('b', { title: write ? `${exact(before)} → ${exact(after)}` : exact(before) }, write ? `${short(before, 4)} → ${short(after, 4)}` : short(before, 4)),
        write ? make('span', { class: 'write', title: write.full }, write.text) : null);
    });
    this.memory.replaceChildren(make('h3', {}, 'Memory'), ...rows);
  }

  // A cell with a law: what it held and holds, and what came and went.
  lawRow(k, before, after) {
    const { app } = this, { tree, words, step, treeRun } = app, at = step * tree.nM + k, cell = tree.laws.cells[k];
    const story = words.cells.find((c) => c.cell === k);
    const moved = cell.store ? `in ${short(treeRun.came[at], 3)}, out ${short(treeRun.given[at], 3)} (${percent(treeRun.share[at])})`
      : `${percent(treeRun.share[at])} of the way to ${short(treeRun.came[at], 3)}`;
    return make('div', { class: 'cellrow written', title: story ? `${story.words}\n${story.gain}; share ${story.share}` : '' },
      make('span', { class: 'name' }, words.features[tree.nX + k]),
      make('b', { title: `${exact(before)} → ${exact(after)}` }, `${short(before, 4)} → ${short(after, 4)}`),
      make('span', { class: 'write' }, moved));
  }

  // Rows are made once and then updated, so that a field keeps its focus while the model runs again. A column of words is
  // one row, unless its inputs are edited.
  showInputs() {
    const { app } = this, all = app.shownInputs();
    const first = (i) => all.find((other) => other === i || (this.columnOf(i)?.inputs.includes(other) ?? false)) === i;
    const shown = app.editing ? all : all.filter(first), key = `${app.editing} ${shown.join()}`;
    if (this.key !== key) {
      this.key = key;
      this.rows = shown.map((i) => this.inputRow(i));
      const title = make('h3', {}, 'Inputs');
      if (app.editing) title.append(make('button', { type: 'button', class: 'link', id: 'takeback', onclick: () => app.takeBack() }, 'take all changes back'));
      this.inputs.replaceChildren(title, ...this.rows.map((row) => row.line));
    }
    for (const row of this.rows) this.updateRow(row);
  }

  inputRow(i) {
    const { app } = this, name = app.words.features[i];
    if (!app.editing) {
      const value = make('b'), name = this.columnOf(i)?.name ?? app.words.features[i];
      return { i, value, line: make('div', { class: 'cellrow' }, make('span', { class: 'name' }, name), value) };
    }
    const field = make('input', {
      type: 'text', inputmode: 'decimal', 'aria-label': name, 'data-input': i, placeholder: 'missing', autocomplete: 'off', spellcheck: false,
      oninput: () => this.typed(i, field), onblur: () => this.updateRow(row, true),
    });
    const range = app.inputRange(i);
    const slide = make('input', {
      type: 'range', 'aria-label': `${name}, slider`, min: range.low, max: range.high, step: 'any', tabindex: -1,
      oninput: () => { app.edit(app.step, i, f32(Number(slide.value))); },
    });
    const ticks = app.thresholdsOf(i).map((t) => make('i', { style: `left:${100 * (t - range.low) / (range.high - range.low)}%`, title: `threshold ${exact(t)}` }));
    const line = make('div', { class: 'editrow' }, make('span', { class: 'name' }, name), field, make('div', { class: 'slide' }, slide, ...ticks));
    const row = { i, field, slide, line };
    return row;
  }

  // Numbers may be written with a decimal comma or a minus sign of print; nothing is a missing value.
  typed(i, field) {
    const text = field.value.trim().replace('−', '-').replace(',', '.');
    const value = text === '' || text === 'missing' ? NaN : f32(Number(text));
    const bad = text !== '' && text !== 'missing' && !Number.isFinite(value);
    field.classList.toggle('bad', bad);
    if (!bad) this.app.edit(this.app.step, i, value);
  }

  updateRow(row, left = false) {
    const { app } = this, value = app.run.x[app.step * app.model.nX + row.i];
    if (row.value) {
      row.value.textContent = this.wordOf(row.i) ?? short(value, 5);
      row.value.title = exact(value);
      return;
    }
    row.line.classList.toggle('changed', app.data.isEdited(app.sequence, app.step, row.i));
    if (left || document.activeElement !== row.field) {
      row.field.value = Number.isNaN(value) ? '' : exact(value);
      row.field.classList.remove('bad');
    }
    if (document.activeElement !== row.slide && !Number.isNaN(value)) row.slide.value = value;
  }
}
