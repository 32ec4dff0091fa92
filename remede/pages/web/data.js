// The sequences in the page, what the model does on them, and the changes a user makes to their inputs.

function decodeFloats(base64) {
  const text = atob(base64);
  const bytes = new Uint8Array(text.length);
  for (let i = 0; i < bytes.length; ++i) bytes[i] = text.charCodeAt(i);
  return new Float32Array(bytes.buffer);
}

function decodeIntegers(base64) {
  return new Int32Array(decodeFloats(base64).buffer);
}

class Data {
  constructor(model, json) {
    this.model = model;
    this.json = json;
    this.x = decodeFloats(json.x);
    this.label = json.label ? decodeIntegers(json.label) : null; // (steps) -1: no target, -2: a class that training did not know
    this.value = json.value ? decodeFloats(json.value) : null; // (steps, nY) NaN: no target
    this.farOff = json.far_off ? Float32Array.from(json.far_off) : null;
    this.hasTargets = Boolean(this.label || this.value);
    let first = 0;
    this.sequences = json.sequences.map((sequence, number) => {
      const own = { ...sequence, number, first, edited: null, run: null, original: null };
      first += sequence.steps;
      return own;
    });
    this.zero = new Float32Array(stateSize(model));
  }

  inputs(sequence) {
    const { nX } = this.model;
    return this.x.subarray(sequence.first * nX, (sequence.first + sequence.steps) * nX);
  }

  evaluate(sequence, x) {
    const run = runModel(this.model, x, sequence.steps, sequence.state ? decodeFloats(sequence.state) : this.zero);
    run.marked = this.marks(sequence, run);
    return run;
  }

  // What the model does on the data as they are.
  original(sequence) {
    if (!sequence.original) {
      sequence.original = this.evaluate(sequence, this.inputs(sequence));
      sequence.agrees = checkNumber(this.model, sequence.original) === sequence.check;
      this.forget(sequence);
    }
    return sequence.original;
  }

  // ... with the user's changes, where there are any.
  run(sequence) {
    if (!sequence.edited) return this.original(sequence);
    if (!sequence.run) sequence.run = this.evaluate(sequence, sequence.edited.x);
    return sequence.run;
  }

  // Runs are kept for the sequences looked at last only.
  forget(kept) {
    this.recent = (this.recent ?? []).filter((sequence) => sequence !== kept);
    this.recent.push(kept);
    while (this.recent.length > 24) this.recent.shift().original = null;
  }

  edit(sequence, step, input, value) {
    const { nX } = this.model, at = step * nX + input;
    const before = this.inputs(sequence);
    sequence.edited ??= { x: before.slice(), cells: new Set() };
    sequence.edited.x[at] = value;
    const same = Object.is(sequence.edited.x[at], before[at]); // NaN is NaN
    if (same) sequence.edited.cells.delete(at); else sequence.edited.cells.add(at);
    if (sequence.edited.cells.size === 0) sequence.edited = null;
    sequence.run = null;
  }

  takeBack(sequence) {
    sequence.edited = null;
    sequence.run = null;
  }

  isEdited(sequence, step, input) {
    return Boolean(sequence.edited && sequence.edited.cells.has(step * this.model.nX + input));
  }

  hasTarget(sequence, step) {
    const t = sequence.first + step;
    if (this.label) return this.label[t] !== -1;
    return Boolean(this.value) && !Number.isNaN(this.value[t * this.model.nY]);
  }

  // Classification: the wrong answers. Regression: the answers that are far off.
  isMarked(sequence, run, step) {
    if (!this.hasTarget(sequence, step)) return false;
    const { nY } = this.model, t = sequence.first + step;
    if (this.label) return argMax(run.output, step * nY, nY) !== this.label[t];
    for (let o = 0; o < nY; ++o)
      if (Math.abs(f32(run.output[step * nY + o] - this.value[t * nY + o])) > this.farOff[o]) return true;
    return false;
  }

  // How bad the answer of a step is: for comparing steps of one model.
  badness(sequence, run, step) {
    if (!this.hasTarget(sequence, step)) return -1;
    const { nY } = this.model, t = sequence.first + step;
    if (this.label) return this.label[t] < 0 ? 1 : 1 - run.output[step * nY + this.label[t]];
    let most = 0;
    for (let o = 0; o < nY; ++o) most = Math.max(most, Math.abs(run.output[step * nY + o] - this.value[t * nY + o]) / (this.farOff?.[o] || 1));
    return most;
  }

  // The step with the worst answer; 0 without targets.
  worstStep(sequence) {
    const run = this.run(sequence);
    let worst = 0, most = 0;
    for (let t = 0; this.hasTargets && t < sequence.steps; ++t) {
      const bad = this.badness(sequence, run, t);
      if (bad > most) [worst, most] = [t, bad];
    }
    return worst;
  }

  marks(sequence, run) {
    const steps = [];
    for (let t = 0; this.hasTargets && t < sequence.steps; ++t) if (this.isMarked(sequence, run, t)) steps.push(t);
    return steps;
  }

  // The name of a step, as it stands in the file; else its number from 1.
  stepName(sequence, step) {
    const number = (sequence.before ?? 0) + step, times = this.json.times;
    if (times === null) return String(number + 1);
    return typeof times === 'number' ? String(times + number) : times[sequence.first + step];
  }
}
