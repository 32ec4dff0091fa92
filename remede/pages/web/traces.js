// The traces over time: two canvases, one for the lanes and one, on top, for what moves with the step and the pointer.

class Traces {
  constructor(app) {
    this.app = app;
    this.lanesCanvas = byId('traces');
    this.cursorCanvas = byId('cursor');
    this.host = byId('lanes');
    this.view = { from: 0, to: 1 };
    this.hoverAt = null;
    this.listen();
    new ResizeObserver(() => this.resize()).observe(this.host);
  }

  ink = (name) => {
    this.inks ??= new Map();
    if (!this.inks.has(name)) this.inks.set(name, getComputedStyle(document.body).getPropertyValue(`--rm-${name}`).trim());
    return this.inks.get(name);
  };

  // A new sequence, tree or theme.
  reset(keepView = false) {
    this.inks = null;
    this.plan = null;
    if (!keepView) this.view = { from: 0, to: this.app.sequence.steps };
    this.resize();
  }

  resize() {
    if (!this.app.run) return;
    this.plan = planLanes(this.app, this.room());
    const width = this.host.clientWidth, { height } = this.plan, ratio = devicePixelRatio || 1;
    this.width = width;
    this.left = width < 520 ? 66 : 112;
    this.right = width - 12;
    byId('lanesize').style.height = `${height}px`;
    for (const canvas of [this.lanesCanvas, this.cursorCanvas]) {
      canvas.width = Math.round(width * ratio);
      canvas.height = Math.round(height * ratio);
      canvas.style.width = `${width}px`;
      canvas.style.height = `${height}px`;
    }
    this.draw();
  }

  // What the layout would give the lanes: on a phone any height, else what is left of the timeline's share.
  room() {
    const timeline = byId('timeline'), style = getComputedStyle(timeline);
    const most = style.maxHeight === 'none' ? Infinity : parseFloat(style.maxHeight);
    return most - (timeline.offsetHeight - this.host.clientHeight);
  }

  context(canvas) {
    const c = canvas.getContext('2d'), ratio = devicePixelRatio || 1;
    c.setTransform(ratio, 0, 0, ratio, 0, 0);
    c.clearRect(0, 0, this.width, this.plan.height);
    return c;
  }

  painter(c) {
    return new LanePainter(c, this.app, this.ink, this.view, this.left, this.right);
  }

  draw() {
    if (!this.plan || !this.width) return;
    const c = this.context(this.lanesCanvas), painter = this.painter(c);
    for (const lane of this.plan.lanes) {
      painter.paint(lane);
      this.name(c, lane);
    }
    this.axis(c, painter);
    this.drawCursor();
  }

  name(c, lane) {
    const size = isStrip(lane) ? 10.5 : 12, most = this.left - 14;
    c.font = `${lane.kind === 'cell' || lane.kind === 'input' || lane.kind === 'value' ? 600 : 400} ${size}px ${this.app.font}`;
    c.textAlign = 'right';
    c.textBaseline = 'middle';
    c.fillStyle = this.ink(lane.kind === 'cell' || lane.kind === 'state' ? 'cell-line' : lane.kind === 'input' ? 'input-line' : lane.kind === 'marks' ? 'wrong' : 'soft');
    let text = lane.kind === 'probability' && most < 70 ? 'prob.' : lane.name;
    // The middle goes: names often differ at the end.
    const full = text;
    for (let kept = full.length - 1; kept > 1 && c.measureText(text).width > most; --kept)
      text = `${full.slice(0, Math.ceil(kept / 2))}…${full.slice(full.length - Math.floor(kept / 2))}`;
    c.fillText(text, this.left - 8, lane.y + lane.height / 2);
    if (lane.low === undefined || lane.height < 40) return;
    c.font = `9.5px ${this.app.font}`;
    c.fillStyle = this.ink('soft');
    c.globalAlpha = 0.8;
    c.fillText(short(lane.high, 3), this.left - 8, lane.y + 6);
    c.fillText(short(lane.low, 3), this.left - 8, lane.y + lane.height - 5);
    c.globalAlpha = 1;
  }

  axis(c, painter) {
    const { app } = this, y = this.plan.height - LANE.axis + 4;
    c.font = `10px ${app.font}`;
    c.fillStyle = this.ink('soft');
    c.textAlign = 'center';
    c.textBaseline = 'top';
    const widest = Math.max(app.data.stepName(app.sequence, app.sequence.steps - 1).length * 6 + 14, 34);
    const every = [1, 2, 5, 10, 20, 50, 100, 200, 500, 1000, 2000, 5000].find((n) => n * painter.column >= widest) ?? 10000;
    for (let t = Math.ceil(painter.first / every) * every; t <= painter.last; t += every) {
      const x = painter.x(t);
      if (x >= this.left && x <= this.right) c.fillText(app.data.stepName(app.sequence, t), x, y);
    }
  }

  // The band of the step, the curves from its reads back to the writes, the line under the pointer.
  drawCursor() {
    if (!this.plan || !this.width) return;
    const { app } = this, c = this.context(this.cursorCanvas), painter = this.painter(c);
    c.beginPath();
    c.rect(this.left - 4, 0, this.right - this.left + 8, this.plan.height);
    c.clip();
    const x = painter.x(app.step), width = Math.max(painter.column, 2), bottom = this.plan.height - LANE.axis;
    c.fillStyle = this.ink('lit');
    const strips = this.plan.lanes.find(isStrip)?.y ?? bottom; // classes keep their colours: a frame, no veil
    c.globalAlpha = 0.13;
    c.fillRect(x - width / 2, 0, width, strips - 2);
    c.globalAlpha = 1;
    c.fillRect(x - 0.75, 0, 1.5, strips - 2);
    c.strokeStyle = this.ink('lit');
    c.lineWidth = 2;
    if (strips < bottom) c.strokeRect(x - width / 2, strips - 1, width, bottom - strips);
    c.font = `700 10px ${app.font}`;
    const label = app.data.stepName(app.sequence, app.step), wide = c.measureText(label).width + 10;
    const at = Math.min(Math.max(x, this.left + wide / 2 - 4), this.right - wide / 2 + 4);
    c.fillStyle = this.ink('paper');
    c.fillRect(at - wide / 2 - 16, bottom + 1, wide + 32, 17); // over the numbers beside it
    c.fillStyle = this.ink('lit');
    c.beginPath();
    c.roundRect(at - wide / 2, bottom + 1, wide, 16, 5);
    c.fill();
    c.fillStyle = this.ink('paper');
    c.textAlign = 'center';
    c.textBaseline = 'middle';
    c.fillText(label, at, bottom + 9.5);
    for (const lane of this.plan.lanes) if (lane.kind === 'cell') this.readCurve(c, painter, lane);
    if (this.hoverAt === null) return;
    c.strokeStyle = this.ink('soft');
    c.setLineDash([3, 3]);
    c.lineWidth = 1;
    c.beginPath();
    c.moveTo(painter.x(this.hoverAt), 0);
    c.lineTo(painter.x(this.hoverAt), bottom);
    c.stroke();
    c.setLineDash([]);
  }

  readCurve(c, painter, lane) {
    const { app } = this, { nM } = app.tree, wrote = app.treeRun.wrote[app.step * nM + lane.index];
    if (wrote < 0 || !app.reads(app.step, lane.index)) return;
    const from = painter.x(wrote), to = painter.x(app.step);
    const y1 = painter.y(lane, app.treeRun.memory[(wrote + 1) * nM + lane.index]), y2 = painter.y(lane, app.treeRun.memory[app.step * nM + lane.index]);
    const lift = y1 > lane.y + lane.height / 2 ? -1 : 1;
    const bend = lift * Math.min(18, 8 + (to - from) / 12);
    c.strokeStyle = c.fillStyle = this.ink('lit');
    c.lineWidth = 1.8;
    c.beginPath();
    c.moveTo(from, y1);
    c.bezierCurveTo(from + (to - from) * 0.25, y1 + bend, from + (to - from) * 0.75, y2 + bend, to, y2);
    c.stroke();
    c.beginPath();
    c.arc(from, y1, 3.4, 0, 7);
    c.arc(to, y2, 3.4, 0, 7);
    c.fill();
  }

  stepAt(event) {
    const box = this.cursorCanvas.getBoundingClientRect();
    const step = Math.floor(this.view.from + ((event.clientX - box.left - this.left) / (this.right - this.left)) * (this.view.to - this.view.from));
    return Math.min(this.app.sequence.steps - 1, Math.max(0, step));
  }

  laneAt(event) {
    const y = event.clientY - this.cursorCanvas.getBoundingClientRect().top;
    return this.plan.lanes.find((lane) => y >= lane.y - LANE.gap / 2 && y < lane.y + lane.height + LANE.gap / 2);
  }

  valueAt(event, lane) {
    const y = event.clientY - this.cursorCanvas.getBoundingClientRect().top;
    return f32(lane.low + ((lane.y + lane.height - 4 - y) / (lane.height - 8)) * (lane.high - lane.low));
  }

  listen() {
    const canvas = this.cursorCanvas, { app } = this;
    let dragging = null; // 'time', or the lane and step whose input is being changed
    canvas.addEventListener('pointerdown', (event) => {
      if (event.button !== 0) return;
      const lane = this.laneAt(event), step = this.stepAt(event);
      app.pause();
      app.goTo(step);
      dragging = app.editing && lane?.kind === 'input' ? { lane, step } : 'time';
      if (dragging !== 'time') {
        app.heldScale = { index: lane.index, low: lane.low, high: lane.high };
        app.edit(step, lane.index, this.valueAt(event, lane));
      }
      canvas.setPointerCapture(event.pointerId);
    });
    canvas.addEventListener('pointermove', (event) => {
      if (dragging === 'time') app.goTo(this.stepAt(event));
      else if (dragging) app.edit(dragging.step, dragging.lane.index, this.valueAt(event, dragging.lane));
      this.hover(event);
    });
    for (const name of ['pointerup', 'pointercancel']) canvas.addEventListener(name, () => {
      if (app.heldScale) {
        app.heldScale = null;
        this.draw();
      }
      dragging = null;
    });
    canvas.addEventListener('pointerleave', () => {
      this.hoverAt = null;
      tip.hide();
      this.drawCursor();
    });
    canvas.addEventListener('wheel', (event) => {
      if (!event.ctrlKey && !event.metaKey) return;
      event.preventDefault();
      this.zoom(Math.exp(event.deltaY * 0.002), this.stepAt(event));
    }, { passive: false });
  }

  hover(event) {
    const lane = this.laneAt(event), step = this.stepAt(event);
    if (event.pointerType === 'touch') return;
    this.hoverAt = step;
    this.drawCursor();
    if (!lane) return tip.hide();
    tip.show(event, `${this.app.data.json.time_name} ${this.app.data.stepName(this.app.sequence, step)}`, this.app.laneTip(lane, step));
  }

  // factor below 1: fewer steps.
  zoom(factor, around = this.app.step) {
    const { steps } = this.app.sequence, length = this.view.to - this.view.from;
    const next = Math.min(steps, Math.max(Math.min(8, steps), length * factor));
    const share = Math.min(1, Math.max(0, (around + 0.5 - this.view.from) / length));
    const from = Math.min(steps - next, Math.max(0, around + 0.5 - share * next));
    this.view = { from, to: from + next };
    this.draw();
  }

  fit() {
    this.view = { from: 0, to: this.app.sequence.steps };
    this.draw();
  }

  // Called when the step changes: the window follows it.
  follow() {
    const { step, sequence } = this.app, length = this.view.to - this.view.from;
    if (length < sequence.steps && (step < this.view.from || step + 1 > this.view.to)) {
      const from = Math.min(sequence.steps - length, Math.max(0, step - length * (step < this.view.from ? 0.75 : 0.25)));
      this.view = { from, to: from + length };
      return this.draw();
    }
    this.drawCursor();
  }
}
