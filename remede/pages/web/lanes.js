// The lanes of the traces: what they hold, and how one is drawn on a canvas.

const LANE = { words: 19, value: 80, probability: 46, says: 17, target: 17, state: 17, marks: 9, gap: 5, axis: 20, low: 24, high: 46 };
const isStrip = (lane) => lane.kind === 'says' || lane.kind === 'target' || lane.kind === 'marks';

// Inputs, the cells of the tree shown, and the answers; from top to bottom. room: the height there is.
function planLanes(app, room) {
  const { model, data, words, tree } = app, lanes = [];
  const values = app.allShown ? model.nY : Math.min(model.nY, 4);
  const valueHeight = model.nY > 1 ? LANE.high : LANE.value;
  const answers = (model.classifies ? LANE.probability + 2 * LANE.says + 12 : values * (valueHeight + LANE.gap)) + LANE.marks + LANE.gap;
  const left = room - answers - LANE.axis - 4 - (app.states ? LANE.state + LANE.gap : 0);
  const { inputs, cells } = app.shownFeatures(Math.floor(left / (LANE.low + LANE.gap)));
  const fitting = left / Math.max(1, inputs.length + cells.length) - LANE.gap;
  const height = Math.round(Math.min(LANE.high, Math.max(LANE.low, fitting)));
  let y = 4;
  const add = (kind, more) => {
    lanes.push({ kind, y, height: kind === 'value' ? valueHeight : LANE[kind] ?? height, ...more });
    y += lanes.at(-1).height + LANE.gap;
  };
  const ribbons = app.columns.filter((column) => column.inputs.some((i) => inputs.includes(i)));
  for (const i of inputs) if (!ribbons.some((column) => column.inputs.includes(i))) add('input', { index: i, name: words.features[i] });
  for (const column of ribbons) add('words', { column, name: column.name });
  for (const k of cells) add('cell', { index: k, name: words.features[tree.nX + k] });
  if (app.states) add('state', { name: 'state' });
  if (model.classifies) {
    add('probability', { name: 'probability' });
    y -= LANE.gap - 2;
    add('says', { name: 'says' });
    if (data.label) {
      y -= LANE.gap - 2;
      add('target', { name: 'target' });
    }
  } else {
    for (let o = 0; o < values; ++o) add('value', { index: o, name: model.targets[o] });
  }
  if (data.hasTargets) {
    y -= LANE.gap - 2;
    add('marks', { name: model.classifies ? 'mistakes' : 'large error' });
  }
  return { lanes, height: y + LANE.axis };
}

// Draws for one sequence. view: { from, to } in steps; left and right: where the plot begins and ends.
class LanePainter {
  constructor(context, app, ink, view, left, right) {
    Object.assign(this, { c: context, app, ink, view, left, right });
    this.column = (right - left) / (view.to - view.from);
    this.first = Math.max(0, Math.floor(view.from) - 1);
    this.last = Math.min(app.sequence.steps - 1, Math.ceil(view.to));
  }

  x(step) {
    return this.left + (step + 0.5 - this.view.from) * this.column;
  }

  // Where a value stands in a lane, whose scale is lane.low .. lane.high.
  y(lane, value) {
    return lane.y + lane.height - 4 - ((value - lane.low) / (lane.high - lane.low)) * (lane.height - 8);
  }

  paint(lane) {
    const { c } = this;
    c.save();
    c.fillStyle = this.ink('grid');
    c.globalAlpha = 0.45;
    if (!isStrip(lane) && lane.kind !== 'words') c.fillRect(this.left, lane.y, this.right - this.left, lane.height);
    c.globalAlpha = 1;
    c.beginPath();
    c.rect(this.left, lane.y - 2, this.right - this.left, lane.height + 4);
    c.clip();
    this[lane.kind](lane);
    c.restore();
  }

  // lane.low and lane.high from the values in the sequence and the thresholds near them.
  static scale(lane, values, thresholds) {
    let low = Infinity, high = -Infinity;
    for (const list of values)
      for (const v of list) {
        if (v < low && v > -Infinity) low = v;
        if (v > high && v < Infinity) high = v;
      }
    if (low > high) [low, high] = [0, 0];
    const room = high - low || 1;
    for (const t of thresholds) if (t > low - room && t < high + room) [low, high] = [Math.min(low, t), Math.max(high, t)];
    if (high - low < 1e-30) [low, high] = [low - 1, high + 1];
    lane.low = low;
    lane.high = high;
  }

  thresholds(lane, list) {
    const { c } = this;
    c.setLineDash([2, 3]);
    c.lineWidth = 1;
    c.strokeStyle = this.ink('soft');
    for (const t of list) {
      const y = Math.round(this.y(lane, t)) + 0.5;
      if (y < lane.y || y > lane.y + lane.height) continue;
      c.beginPath();
      c.moveTo(this.left, y);
      c.lineTo(this.right, y);
      c.stroke();
    }
    c.setLineDash([]);
  }

  // A polyline over the steps with a value; a lone value between missing ones is a dot.
  line(lane, valueOf, colour, width, dots) {
    const { c } = this;
    c.strokeStyle = c.fillStyle = colour;
    c.lineWidth = width;
    c.lineJoin = 'round';
    c.beginPath();
    let open = false;
    for (let t = this.first; t <= this.last; ++t) {
      const v = valueOf(t);
      if (!Number.isFinite(v)) { open = false; continue; }
      if (open) c.lineTo(this.x(t), this.y(lane, v)); else c.moveTo(this.x(t), this.y(lane, v));
      if (!open && !Number.isFinite(valueOf(t + 1))) c.lineTo(this.x(t) + 1.5, this.y(lane, v));
      open = true;
    }
    c.stroke();
    if (!dots || this.column < 9) return;
    for (let t = this.first; t <= this.last; ++t) if (Number.isFinite(valueOf(t))) this.dot(this.x(t), this.y(lane, valueOf(t)), 2.4);
  }

  dot(x, y, radius) {
    this.c.beginPath();
    this.c.arc(x, y, radius, 0, 7);
    this.c.fill();
  }

  input(lane) {
    const { app, c } = this, { nX } = app.model, i = lane.index;
    const at = (x) => (t) => (t < app.sequence.steps ? x[t * nX + i] : NaN);
    const now = at(app.run.x), before = at(app.data.inputs(app.sequence));
    const list = app.thresholdsOf(i);
    LanePainter.scale(lane, [app.column(app.run.x, nX, i), app.column(app.data.inputs(app.sequence), nX, i)], list);
    if (app.heldScale && app.heldScale.index === i) Object.assign(lane, { low: app.heldScale.low, high: app.heldScale.high });
    this.thresholds(lane, list);
    if (app.sequence.edited) {
      c.globalAlpha = 0.4;
      this.line(lane, before, this.ink('soft'), 1.2, false);
      c.globalAlpha = 1;
    }
    this.line(lane, now, this.ink('input-line'), 1.7, true);
    c.fillStyle = this.ink('soft');
    for (let t = this.first; t <= this.last; ++t)
      if (Number.isNaN(now(t))) c.fillRect(this.x(t) - Math.max(0.5, this.column / 4), lane.y + lane.height - 3, Math.max(1, this.column / 2), 3);
    if (!app.sequence.edited) return;
    c.fillStyle = this.ink('lit');
    for (let t = this.first; t <= this.last; ++t)
      if (app.data.isEdited(app.sequence, t, i)) this.dot(this.x(t), Number.isNaN(now(t)) ? lane.y + lane.height - 3 : this.y(lane, now(t)), 3.6);
  }

  // A cell enters the column of a step as it was and leaves it as the step left it.
  cell(lane) {
    const { app, c } = this, { nM } = app.tree, k = lane.index, { memory } = app.treeRun;
    const list = app.thresholdsOf(app.tree.nX + k), original = app.originalTreeRun;
    LanePainter.scale(lane, [app.column(memory, nM, k), app.column(original.memory, nM, k)], [...list, 0]);
    this.thresholds(lane, list);
    if (app.sequence.edited) {
      c.globalAlpha = 0.4;
      this.stairs(lane, original.memory, nM, k, this.ink('soft'), 1.2);
      c.globalAlpha = 1;
    }
    this.stairs(lane, memory, nM, k, this.ink('cell-line'), 1.9);
    if (this.column < 5) return;
    for (let t = this.first; t <= this.last; ++t) {
      const before = this.y(lane, memory[t * nM + k]), after = this.y(lane, memory[(t + 1) * nM + k]);
      c.lineWidth = 1.4;
      c.strokeStyle = this.ink('cell-line');
      c.fillStyle = this.ink('paper');
      if (app.reads(t, k)) {
        c.beginPath();
        c.arc(this.x(t) - Math.min(7, this.column / 4), before, 2.6, 0, 7);
        c.fill();
        c.stroke();
      }
      c.fillStyle = this.ink('write-text');
      if (app.writes(t, k)) this.dot(this.x(t), after, 3);
    }
  }

  stairs(lane, memory, nM, k, colour, width) {
    const { c } = this;
    c.strokeStyle = colour;
    c.lineWidth = width;
    c.beginPath();
    for (let t = this.first; t <= this.last; ++t) {
      const before = this.y(lane, memory[t * nM + k]), after = this.y(lane, memory[(t + 1) * nM + k]), x = this.x(t);
      if (t === this.first) c.moveTo(x - this.column / 2, before);
      c.lineTo(x, before);
      c.lineTo(x, after);
      if (t === this.last) c.lineTo(x + this.column / 2, after);
    }
    c.stroke();
  }

  // A column of words: neighbours alike are one box.
  words(lane) {
    const { app, c } = this, { nX } = app.model, word = (t) => wordAt(lane.column, app.run.x, t * nX);
    c.font = `10.5px ${app.font}`;
    c.textAlign = 'center';
    c.textBaseline = 'middle';
    for (let t = this.first, end; t <= this.last; t = end) {
      const text = word(t), place = lane.column.words.indexOf(text);
      for (end = t + 1; end <= this.last && word(end) === text;) ++end;
      const x = this.x(t) - this.column / 2, width = (end - t) * this.column;
      c.fillStyle = place < 0 ? this.ink('line') : this.ink(`c${place % 10}`);
      c.globalAlpha = place < 0 ? 0.5 : 0.75;
      c.fillRect(x, lane.y, Math.max(0.5, width - (width > 3 ? 1 : 0)), lane.height);
      c.globalAlpha = 1;
      c.fillStyle = this.ink('paper');
      if (c.measureText(text).width < width - 6) c.fillText(text, x + width / 2, lane.y + lane.height / 2 + 0.5);
    }
  }

  // The state of the machine before each step; neighbours alike are one box.
  state(lane) {
    const { app, c } = this, { states } = app;
    c.font = `600 10.5px ${app.font}`;
    c.textAlign = 'center';
    c.textBaseline = 'middle';
    for (let t = this.first, end; t <= this.last; t = end) {
      for (end = t + 1; end <= this.last && states[end] === states[t];) ++end;
      if (states[t] < 0) continue;
      const x = this.x(t) - this.column / 2, width = (end - t) * this.column;
      c.fillStyle = this.ink(states[t] % 2 ? 'cell-line' : 'cell');
      c.fillRect(x, lane.y, Math.max(width - 1, 0.6), lane.height);
      const { name } = app.page.machine.states[states[t]];
      if (width < 8 + 6 * name.length) continue;
      c.fillStyle = this.ink(states[t] % 2 ? 'paper' : 'text');
      c.fillText(name, Math.min(Math.max(x + width / 2, this.left + 8), this.right - 8), lane.y + lane.height / 2 + 0.5);
    }
  }

  probability(lane) {
    const { app, c } = this, { nY } = app.model, width = Math.max(this.column + (this.column < 4 ? 0.4 : -1), 0.6);
    for (let t = this.first; t <= this.last; ++t) {
      let y = lane.y + lane.height;
      for (let o = 0; o < nY; ++o) {
        const part = app.run.output[t * nY + o] * lane.height;
        if (!(part > 0)) continue;
        c.fillStyle = this.ink(`c${o % 10}`);
        c.fillRect(this.x(t) - width / 2, y - part, width, part);
        y -= part;
      }
    }
  }

  says(lane) {
    const { app } = this, { nY } = app.model;
    this.strip(lane, (t) => argMax(app.run.output, t * nY, nY));
  }

  target(lane) {
    const { app } = this, first = app.sequence.first;
    this.strip(lane, (t) => app.data.label[first + t]);
  }

  // Boxes in the colours of the classes, with their names where there is room.
  strip(lane, classOf) {
    const { app, c } = this, width = Math.max(this.column + (this.column < 4 ? 0.4 : -1), 0.6);
    c.font = `600 10.5px ${app.font}`;
    c.textAlign = 'center';
    c.textBaseline = 'middle';
    for (let t = this.first; t <= this.last; ++t) {
      const o = classOf(t);
      if (o < 0) continue;
      c.fillStyle = this.ink(`c${o % 10}`);
      c.fillRect(this.x(t) - width / 2, lane.y, width, lane.height);
      const name = app.model.classes[o];
      if (this.column < 10 || name.length * 6.4 + 3 > width) continue;
      c.fillStyle = this.ink('paper');
      c.fillText(name, this.x(t), lane.y + lane.height / 2 + 0.5);
    }
  }

  // One red mark for each mistake, never too narrow to be seen.
  marks(lane) {
    const { app, c } = this, size = Math.min(9, Math.max(this.column - 1, 2.4));
    c.fillStyle = this.ink('wrong');
    for (const t of app.run.marked) {
      c.beginPath();
      c.roundRect(this.x(t) - size / 2, lane.y, size, lane.height, Math.min(4.5, size / 2));
      c.fill();
    }
  }

  value(lane) {
    const { app, c } = this, { nY } = app.model, o = lane.index, first = app.sequence.first, { steps } = app.sequence;
    const output = (t) => (t < steps ? app.run.output[t * nY + o] : NaN);
    const target = (t) => (app.data.value && t < steps ? app.data.value[(first + t) * nY + o] : NaN);
    const targets = app.data.value ? app.column(app.data.value.subarray(first * nY, (first + steps) * nY), nY, o) : [];
    LanePainter.scale(lane, [app.column(app.run.output, nY, o), targets], []);
    c.globalAlpha = 0.22;
    c.strokeStyle = this.ink('wrong');
    c.lineWidth = Math.max(1, this.column * 0.8);
    for (let t = this.first; t <= this.last; ++t) {
      if (!Number.isFinite(target(t)) || !Number.isFinite(output(t))) continue;
      c.beginPath();
      c.moveTo(this.x(t), this.y(lane, target(t)));
      c.lineTo(this.x(t), this.y(lane, output(t)));
      c.stroke();
    }
    c.globalAlpha = 1;
    this.line(lane, target, this.ink('c1'), 1.6, true);
    if (app.sequence.edited) {
      c.globalAlpha = 0.4;
      this.line(lane, (t) => (t < steps ? app.original.output[t * nY + o] : NaN), this.ink('c0'), 1.2, false);
      c.globalAlpha = 1;
    }
    this.line(lane, output, this.ink('c0'), 1.9, true);
  }
}
