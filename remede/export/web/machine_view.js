// The state machine behind the memory: walks it beside the model and lights where it is.

class MachineView {
  constructor(host, note, json) {
    Object.assign(this, { host, note, json });
    if (!json) return;
    const holder = document.createElement('template');
    holder.innerHTML = json.svg;
    this.svg = holder.content.querySelector('svg');
    host.append(this.svg);
    note.textContent = json.note;
    this.states = new Map();
    for (const g of this.svg.querySelectorAll('[data-state]')) this.states.set(Number(g.dataset.state), g);
    this.ways = [...this.svg.querySelectorAll('[data-from]')];
  }

  // The states before each step and after the last, for these inputs.
  walk(x, nX, steps) {
    const states = [0];
    for (let t = 0; t < steps; ++t) states.push(this.next(states[t], x, t * nX));
    return states;
  }

  next(state, x, at) {
    if (state < 0) return -1;
    const rules = this.json.rules[state];
    let node = 0;
    while (rules[node].length > 1) {
      const [input, threshold, left, right] = rules[node];
      node = x[at + input] >= threshold ? right : left; // a missing value goes left
    }
    return rules[node][0];
  }

  light(from, to) {
    if (!this.svg) return;
    for (const [number, g] of this.states) g.classList.toggle('lit', number === from);
    for (const way of this.ways) way.classList.toggle('lit', Number(way.dataset.from) === from && Number(way.dataset.to) === to);
  }
}
