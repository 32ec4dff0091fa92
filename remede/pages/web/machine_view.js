// The state machine behind the memory: walks it beside the model and lights where it is.

class MachineView {
  constructor(host, json) {
    Object.assign(this, { host, json });
    if (!json) return;
    const holder = document.createElement('template');
    holder.innerHTML = json.svg;
    this.svg = holder.content.querySelector('svg');
    host.append(this.svg);
    this.states = new Map();
    for (const g of this.svg.querySelectorAll('[data-state]')) this.states.set(Number(g.dataset.state), g);
    this.ways = [...this.svg.querySelectorAll('[data-from]')];
  }

  // The states before each step and after the last: by the rules of the machine, else by what the memory holds.
  // memoryAt: for each of its slots, a function of the step; null where the page does not know one.
  walk(x, nX, steps, before, memoryAt) {
    const byRules = this.json.rules.length > 0 && !before;
    if (!byRules && memoryAt.includes(null)) return null;
    const states = [byRules ? 0 : this.stateOf(memoryAt, 0)];
    for (let t = 0; t < steps; ++t) states.push(byRules ? this.next(states[t], x, t * nX) : this.stateOf(memoryAt, t + 1));
    return states;
  }

  stateOf(memoryAt, t) {
    return this.json.states.findIndex(({ range }) => range.every(([low, high], i) => memoryAt[i](t) >= low && memoryAt[i](t) <= high));
  }

  next(state, x, at) {
    if (state < 0) return -1;
    const rules = this.json.rules[state];
    let node = 0;
    while (rules[node].length === 4) {
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
