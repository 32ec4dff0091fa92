// The state of the page, and what connects its parts.

class App {
  constructor(modelJson, page) {
    this.page = page;
    this.model = compileModel(modelJson, page.arithmetic);
    this.data = new Data(this.model, page.data);
    this.columns = wordColumns(modelJson);
    this.paths = this.model.trees.map(pathsOf);
    this.font = getComputedStyle(document.body).fontFamily;
    this.treeNumber = 0;
    this.step = 0;
    this.editing = false;
    this.allShown = false;
    const node = { jump: (number) => this.nextAt(number), describe: (number) => this.describe(number) };
    this.treeView = new TreeView(byId('tree'), byId('minimap'), { ...node, framed: () => byId('follow').setAttribute('aria-pressed', this.treeView.following) });
    this.outline = new Outline(byId('outline'), node);
    this.machine = new MachineView(byId('machine'), page.machine);
    this.panel = new StepPanel(byId('step'), this);
    this.player = new Player(this);
    this.traces = new Traces(this);
  }

  get sequence() { return this.data.sequences[this.number]; }
  get tree() { return this.model.trees[this.treeNumber]; }
  get words() { return this.page.words[this.treeNumber]; }
  get run() { return this.number === undefined ? null : this.data.run(this.sequence); }
  get original() { return this.data.original(this.sequence); }
  get treeRun() { return this.run.trees[this.treeNumber]; }
  get originalTreeRun() { return this.original.trees[this.treeNumber]; }
  get leaf() { return this.treeRun.leaf[this.step]; }
  get path() { return this.paths[this.treeNumber][this.leaf]; }

  // The states of the machine before each step and after the last; null without a machine to follow.
  get states() {
    if (!this.page.machine || this.page.machine.states.length < 2) return null; // one state is none
    if (this.walked?.run !== this.run) {
      const { run } = this, many = this.model.trees.length > 1;
      const memoryAt = this.page.machine.slots.map((slot) => {
        for (const [t, tree] of this.model.trees.entries())
          for (let k = 0; k < tree.nM; ++k)
            if (slot === `${many ? `tree ${t + 1} ` : ''}${this.page.words[t].features[tree.nX + k]}`) return (step) => run.trees[t].memory[step * tree.nM + k];
        return null;
      });
      this.walked = { run, states: this.machine.walk(run.x, this.model.nX, run.steps, this.sequence.before, memoryAt) };
    }
    return this.walked.states;
  }

  // One column of a (rows, width) array.
  column(array, width, index) {
    const list = new Float32Array(array.length / width);
    for (let r = 0; r < list.length; ++r) list[r] = array[r * width + index];
    return list;
  }

  // What the test at this node of the tree shown sees in this step.
  valueAt(node) {
    const { tree } = this, feature = tree.feature[node];
    return feature < tree.nX ? this.run.x[this.step * tree.nX + feature] : this.treeRun.memory[this.step * tree.nM + feature - tree.nX];
  }

  goesRight(node) {
    const v = this.valueAt(node);
    return Number.isNaN(v) ? this.tree.missingRight[node] === 1 : v >= this.tree.threshold[node];
  }

  // Does a step ask for a cell: in a test on its way, in a linear answer, or in a write that reads the memory?
  reads(step, cell) {
    const { tree } = this, leaf = this.treeRun.leaf[step], feature = tree.nX + cell;
    if (this.paths[this.treeNumber][leaf].some((node) => node >= 0 && tree.feature[node] === feature)) return true;
    if (tree.laws) return true; // what it holds goes on into the next step
    for (let o = 0; tree.linear && o < tree.nY; ++o) if (tree.linear[(leaf * tree.nY + o) * tree.nV + feature] !== 0) return true;
    if (tree.nW === tree.nX) return false;
    for (let k = 0; k < tree.nM; ++k)
      if (tree.gate[leaf * tree.nM + k] && tree.write[(leaf * tree.nM + k) * tree.nW + feature] !== 0) return true;
    return false;
  }

  writes(step, cell) {
    return Boolean(this.tree.laws) || this.tree.gate[this.treeRun.leaf[step] * this.tree.nM + cell] === 1;
  }

  // What a store gives out is called its release; an average gives out its level.
  outputName(cell) {
    const name = this.words.features[this.tree.nX + cell];
    return this.tree.laws.cells[cell].store ? `${name} released` : name;
  }

  // Thresholds on a feature of the tree shown, each once.
  thresholdsOf(feature) {
    const list = new Set();
    for (const [id] of this.words.view) if (id >= 0 && this.tree.feature[id] === feature) list.add(this.tree.threshold[id]);
    return [...list];
  }

  // Inputs in the order of their use: tested ones, then those with weights, then the rest, which is shown on request.
  inputsByUse() {
    this.use ??= new Map();
    if (this.use.has(this.treeNumber)) return this.use.get(this.treeNumber);
    const { tree, words } = this, count = new Float64Array(tree.nX);
    for (const [id] of words.view) {
      if (id >= 0 && tree.feature[id] < tree.nX) count[tree.feature[id]] += 1000;
      if (id >= 0) continue;
      for (let i = 0; i < tree.nX; ++i) {
        for (let k = 0; !tree.laws && k < tree.nM; ++k) if (tree.write[(~id * tree.nM + k) * tree.nW + i] !== 0) count[i] += 1;
        for (let o = 0; tree.linear && o < tree.nY; ++o) if (tree.linear[(~id * tree.nY + o) * tree.nV + i] !== 0) count[i] += 1;
      }
    }
    if (tree.laws) {
      const use = (terms) => { for (const [place] of terms) if (place < tree.nX) count[place] += 1; };
      for (const cell of tree.laws.cells) [cell.inputs, cell.tapInputs].forEach(use);
      tree.laws.answer.forEach(use);
      for (const own of tree.laws.leafAnswer) own?.forEach(use);
    }
    const order = [...count.keys()].filter((i) => count[i] > 0).sort((a, b) => count[b] - count[a] || a - b);
    const answer = { order, rest: [...count.keys()].filter((i) => count[i] === 0) };
    this.use.set(this.treeNumber, answer);
    return answer;
  }

  // The inputs and cells to show where there is room for so many lanes: the most used inputs, and at least as many cells.
  // The inputs of a column of words take one lane together.
  shownFeatures(lanes) {
    const { order, rest } = this.inputsByUse(), used = this.words.order; // the most important first
    const every = order.length > 0 ? order : rest;
    const wanted = every.filter((i) => this.withColumns(every, [i])[0] === i);
    const cells = this.allShown ? used : used.slice(0, Math.max(2, Math.min(6, lanes - Math.min(wanted.length, lanes >> 1))));
    const inputs = this.allShown ? [...order, ...rest] : this.withColumns(every, wanted.slice(0, Math.max(2, Math.min(6, lanes - cells.length))));
    byId('more').hidden = !this.allShown && inputs.length === order.length + rest.length && cells.length === used.length && (this.model.classifies || this.model.nY <= 4);
    return { inputs: inputs.sort((a, b) => a - b), cells: [...cells].sort((a, b) => a - b) };
  }

  // Of `every` input those of `some`, and those that belong to the same columns of words.
  withColumns(every, some) {
    const together = (i, j) => i === j || this.columns.some((c) => c.inputs.includes(i) && c.inputs.includes(j));
    return every.filter((i) => some.some((j) => together(i, j)));
  }

  shownInputs() {
    return this.shownFeatures(12).inputs;
  }

  // For sliders: what the data hold, and the thresholds.
  inputRange(i) {
    this.ranges ??= new Map();
    if (!this.ranges.has(i)) {
      let low = Infinity, high = -Infinity;
      for (let at = i; at < this.data.x.length; at += this.model.nX) {
        low = Math.min(low, this.data.x[at] || 0);
        high = Math.max(high, this.data.x[at] || 0);
      }
      for (const t of this.thresholdsOf(i)) [low, high] = [Math.min(low, t), Math.max(high, t)];
      const room = (high - low || 1) * 0.1;
      this.ranges.set(i, { low: low - room, high: high + room });
    }
    return this.ranges.get(i);
  }

  // Moving about.
  select(number, step = 0) {
    this.number = Math.min(this.data.sequences.length - 1, Math.max(0, number));
    this.step = Math.min(this.sequence.steps - 1, Math.max(0, step));
    this.player.reset();
    this.traces.reset();
    this.showSequence();
    this.showStep();
  }

  goTo(step) {
    this.step = Math.min(this.sequence.steps - 1, Math.max(0, step));
    this.showStep();
  }

  pause() {
    this.player.pause();
  }

  // The next (1) or previous (-1) mistake, in this sequence or in another one.
  toMark(direction) {
    this.pause();
    const { sequences } = this.data;
    const inside = this.run.marked.filter((t) => (direction > 0 ? t > this.step : t < this.step));
    if (inside.length > 0) return this.goTo(direction > 0 ? inside[0] : inside.at(-1));
    for (let i = 1; i <= sequences.length; ++i) {
      const number = (this.number + direction * i + sequences.length * i) % sequences.length;
      const { marked } = this.data.run(sequences[number]);
      if (marked.length === 0) continue;
      const step = direction > 0 ? marked[0] : marked.at(-1);
      return number === this.number ? this.goTo(step) : this.select(number, step);
    }
  }

  // The next step, from the start again after the last, whose path passes this node.
  nextAt(node) {
    this.pause();
    for (let i = 1; i <= this.sequence.steps; ++i) {
      const t = (this.step + i) % this.sequence.steps;
      if (this.paths[this.treeNumber][this.treeRun.leaf[t]].includes(node)) return this.goTo(t);
    }
  }

  toWriter() {
    const { tree, step } = this;
    let latest = -1;
    for (let k = 0; k < tree.nM; ++k) if (this.reads(step, k)) latest = Math.max(latest, this.treeRun.wrote[step * tree.nM + k]);
    if (latest >= 0) this.goTo(latest);
  }

  // Editing.
  setEditing(on) {
    this.editing = on;
    document.body.classList.toggle('is-editing', on);
    byId('edit').setAttribute('aria-pressed', on);
    this.panel.update();
    this.hint();
  }

  edit(step, input, value) {
    this.data.edit(this.sequence, step, input, value);
    this.changed();
  }

  takeBack() {
    this.data.takeBack(this.sequence);
    this.changed();
  }

  changed() {
    this.traces.draw();
    this.player.drawMarks();
    this.showSequence();
    this.showStep();
    this.hint();
  }

  hint() {
    const { nY, classifies } = this.model;
    let text = '';
    if (this.sequence.edited) {
      let changed = 0;
      for (let t = 0; t < this.sequence.steps; ++t) {
        const at = t * nY, now = this.run.output, before = this.original.output;
        changed += classifies ? argMax(now, at, nY) !== argMax(before, at, nY) : now.subarray(at, at + nY).some((y, o) => y !== before[at + o]);
      }
      text = `${plural(this.sequence.edited.cells.size, 'value')} changed: ${changed === 0 ? 'no answer is' : plural(changed, 'answer')} ${changed === 0 ? '' : changed === 1 ? 'is ' : 'are '}different`;
    } else if (this.editing) {
      text = 'Drag an input up or down, or type a number';
    }
    byId('lanehint').textContent = text;
  }

  // Showing.
  showStep() {
    const { path } = this, values = new Map();
    for (const node of path) if (node >= 0) values.set(node, short(this.valueAt(node), 3));
    this.treeView.light(path, values);
    this.fillTanks();
    this.outline.light(path, values);
    this.panel.update();
    this.player.update();
    this.traces.follow();
    if (this.page.machine) this.machine.light(this.states?.[this.step] ?? 0, this.states?.[this.step + 1] ?? 0);
    this.remember();
  }

  // The tanks of the picture hold what the cells hold after this step, on the scale of the sequence.
  fillTanks() {
    const { tree, treeRun } = this, { nM } = tree;
    if (!tree.laws || !this.treeView.svg) return;
    if (this.tankScale?.run !== treeRun) {
      const scale = [...Array(nM).keys()].map((k) => {
        let low = 0, high = 0;
        for (let t = 1; t <= this.sequence.steps; ++t) {
          const v = treeRun.memory[t * nM + k];
          low = Math.min(low, v);
          high = Math.max(high, v);
        }
        return { low, high: high > low ? high : low + 1 };
      });
      this.tankScale = { run: treeRun, scale };
    }
    for (const tank of this.treeView.svg.querySelectorAll('g.tank')) {
      const k = Number(tank.dataset.cell), top = Number(tank.dataset.top), height = Number(tank.dataset.height);
      const { low, high } = this.tankScale.scale[k], held = treeRun.memory[(this.step + 1) * nM + k];
      const full = Math.min(1, Math.max(0, (held - low) / (high - low))) * height, level = tank.querySelector('[data-part=level]');
      level.setAttribute('y', top + height - full);
      level.setAttribute('height', full);
      let label = tank.querySelector('text');
      if (!label) {
        label = document.createElementNS(SVG, 'text');
        label.setAttribute('class', 'held');
        label.setAttribute('x', Number(level.getAttribute('x')) + Number(level.getAttribute('width')) / 2);
        label.setAttribute('y', top + height + 19);
        tank.append(label);
      }
      label.textContent = short(held, 3);
    }
  }

  showSequence() {
    byId('pick').value = this.number;
    const list = byId('list');
    for (const row of list.children) {
      const own = this.data.sequences[row.dataset.number], current = own === this.sequence;
      row.classList.toggle('current', current);
      row.classList.toggle('changed', Boolean(own.edited));
      if (current) row.setAttribute('aria-current', 'true'); else row.removeAttribute('aria-current');
      if (!current) continue;
      const top = row.offsetTop - list.offsetTop;
      if (top < list.scrollTop || top + row.offsetHeight > list.scrollTop + list.clientHeight) list.scrollTop = top - list.clientHeight / 3;
    }
    const some = this.data.sequences.some((s) => s.marked > 0);
    for (const id of ['before', 'after']) byId(id).disabled = !some && this.run.marked.length === 0;
  }

  showTree(number) {
    this.treeNumber = number;
    byId('whichtree').value = number;
    const { words, tree } = this;
    const drawn = this.treeView.show(words.svg);
    byId('views').querySelector('[data-view=tree]').hidden = !drawn;
    const outputs = (leaf) => tree.output.subarray(leaf * tree.nY, (leaf + 1) * tree.nY);
    this.outline.show(words, (node) => tree.feature[node] >= tree.nX,
      (leaf) => (this.model.classifies && !tree.linear && !tree.laws && !tree.first ? classInk(argMax(outputs(leaf))) : null));
    this.panel.key = null;
    if (this.number !== undefined) {
      this.traces.reset(true);
      this.showStep();
    }
  }

  showView(view) {
    this.view = view;
    for (const tab of byId('views').children) tab.setAttribute('aria-selected', tab.dataset.view === view);
    for (const id of ['tree', 'outline', 'machine']) byId(id).hidden = id !== view;
    byId('zoom').hidden = view !== 'tree';
    if (view === 'tree') this.treeView.reframe(false);
    if (view === 'outline') this.outline.keepInView();
  }

  // The place in the address, for a reload or a link; not while it changes all the time.
  remember() {
    clearTimeout(this.remembering);
    this.remembering = setTimeout(() => {
      try { history.replaceState(null, '', `#${this.number + 1}.${this.step + 1}`); } catch { /* a browser that forbids it for files */ }
    }, 400);
  }
}

// Texts of tooltips.
Object.assign(App.prototype, {
  describe(node) {
    const { tree, words } = this, here = this.treeRun.leaf.reduce((n, leaf) => n + this.paths[this.treeNumber][leaf].includes(node), 0);
    const visits = `${plural(here, 'step')} of this sequence${here > 0 ? '; click for the next' : ''}`;
    if (node < 0) {
      const leaf = words.leaves[~node];
      return [(leaf.full ?? leaf.say).join('\n'), [...leaf.writes.map((w) => w.full), `all data: ${words.counts[~node]}`, visits]];
    }
    const name = words.features[tree.feature[node]], onPath = this.path.includes(node);
    return [words.tests[node], [
      ['threshold', exact(tree.threshold[node])],
      ...(onPath ? [[`${name} now`, exact(this.valueAt(node)), '--rm-lit']] : []),
      ...(tree.feature[node] < tree.nX ? [['a missing value', `goes ${tree.missingRight[node] ? 'yes' : 'no'}`]] : []),
      visits,
    ]];
  },

  laneTip(lane, step) {
    const { model, data, sequence, run, treeRun, tree } = this, { nY } = model;
    if (lane.kind === 'input') {
      const rows = [[lane.name, exact(run.x[step * model.nX + lane.index]), '--rm-input-line']];
      if (data.isEdited(sequence, step, lane.index)) rows.push(['in the data', exact(data.inputs(sequence)[step * model.nX + lane.index])]);
      return rows;
    }
    if (lane.kind === 'cell') {
      const k = lane.index, wrote = treeRun.wrote[step * tree.nM + k];
      return [
        [`${lane.name} before`, exact(treeRun.memory[step * tree.nM + k]), '--rm-cell-line'],
        ...(this.writes(step, k) ? [['after', exact(treeRun.memory[(step + 1) * tree.nM + k]), '--rm-write-text']] : []),
        this.reads(step, k) ? `read here${wrote >= 0 ? `, written at ${data.stepName(sequence, wrote)}` : ''}` : 'not read here',
      ];
    }
    if (lane.kind === 'words') return [[lane.name, wordAt(lane.column, run.x, step * model.nX)]];
    if (lane.kind === 'state') {
      const state = this.page.machine.states[this.states[step]];
      return state ? [[`state ${state.name}`, ''], state.memory] : ['no state of the machine'];
    }
    const first = (sequence.first + step) * nY;
    if (lane.kind === 'value') {
      const o = lane.index, rows = [[`${lane.name} predicted`, exact(run.output[step * nY + o]), '--rm-c0']];
      if (data.hasTarget(sequence, step))
        rows.push(['target', exact(data.value[first + o]), '--rm-c1'], ['off by', exact(f32(run.output[step * nY + o] - data.value[first + o]))]);
      return rows;
    }
    const order = [...Array(nY).keys()].sort((a, b) => run.output[step * nY + b] - run.output[step * nY + a] || a - b);
    const rows = order.slice(0, 6).map((o) => [model.classes[o], exact(run.output[step * nY + o]), classInk(o)]);
    if (data.hasTarget(sequence, step)) rows.push(['target', model.classes[data.label[sequence.first + step]] ?? 'a class that training did not know']);
    return rows;
  },
});
