// Play, pause, step, and the marks of mistakes over the slider.

const SPEEDS = [1, 2, 4, 8, 15, 30, 60, 120];

class Player {
  constructor(app) {
    this.app = app;
    this.playing = false;
    const speed = byId('speed');
    speed.append(...SPEEDS.map((n) => make('option', { value: n }, `${n}/s`)));
    byId('play').addEventListener('click', () => this.toggle());
    byId('back').addEventListener('click', () => this.by(-1));
    byId('on').addEventListener('click', () => this.by(1));
    byId('before').addEventListener('click', () => app.toMark(-1));
    byId('after').addEventListener('click', () => app.toMark(1));
    byId('time').addEventListener('input', (event) => {
      app.pause();
      app.goTo(Number(event.target.value));
    });
    new ResizeObserver(() => this.drawMarks()).observe(byId('marks').parentNode);
  }

  by(steps) {
    this.pause();
    this.app.goTo(this.app.step + steps);
  }

  toggle() {
    if (this.playing) return this.pause();
    const { app } = this;
    if (app.step >= app.sequence.steps - 1) app.goTo(0);
    this.playing = true;
    document.body.classList.add('is-playing');
    byId('play').setAttribute('aria-label', 'Pause');
    let last = performance.now(), owed = 0;
    const tick = (now) => {
      if (!this.playing) return;
      owed += (Math.max(0, now - last) / 1000) * Number(byId('speed').value);
      last = now;
      const steps = Math.floor(owed);
      owed -= steps;
      if (steps > 0) app.goTo(app.step + steps);
      if (app.step >= app.sequence.steps - 1) return this.pause();
      requestAnimationFrame(tick);
    };
    requestAnimationFrame(tick);
  }

  pause() {
    this.playing = false;
    document.body.classList.remove('is-playing');
    byId('play').setAttribute('aria-label', 'Play');
  }

  // A new sequence: about twenty seconds for a long one, two steps a second for a short one.
  reset() {
    const { sequence } = this.app;
    byId('time').max = sequence.steps - 1;
    const fitting = SPEEDS.find((n) => n >= Math.max(2, sequence.steps / 20)) ?? SPEEDS.at(-1);
    byId('speed').value = fitting;
    this.drawMarks();
  }

  update() {
    const { app } = this, time = byId('time'), name = app.data.stepName(app.sequence, app.step);
    time.value = app.step;
    time.setAttribute('aria-valuetext', `${app.data.json.time_name} ${name}`);
    const part = app.sequence.of ? ` (part of ${grouped(app.sequence.of)})` : '';
    byId('clock').textContent = `${grouped(app.step + 1)} / ${grouped(app.sequence.steps)}${part}`;
  }

  drawMarks() {
    const canvas = byId('marks'), { app } = this;
    if (!app.run) return;
    const width = canvas.parentNode.clientWidth, height = 10, ratio = devicePixelRatio || 1, thumb = 14;
    canvas.width = Math.round(width * ratio);
    canvas.height = height * ratio;
    const c = canvas.getContext('2d');
    c.scale(ratio, ratio);
    c.fillStyle = getComputedStyle(document.body).getPropertyValue('--rm-wrong');
    const per = (width - thumb) / Math.max(1, app.sequence.steps - 1);
    for (const t of app.run.marked) c.fillRect(thumb / 2 + t * per - 1, 1, 2, height - 2);
  }
}
