// The picture of a tree, drawn by the library: lights the active path, zooms, pans, follows.

const SVG = 'http://www.w3.org/2000/svg';

// The nodes from the root to each leaf; the leaf itself, as ~leaf, comes last.
function pathsOf(tree) {
  const paths = new Array(tree.leaves);
  const walk = [[tree.inner === 0 ? ~0 : 0, []]];
  while (walk.length > 0) {
    const [node, above] = walk.pop();
    const path = [...above, node];
    if (node < 0) paths[~node] = path;
    else walk.push([tree.left[node], path], [tree.right[node], path]);
  }
  return paths;
}

class TreeView {
  // jump(node): called when a node is clicked; describe(node): title and rows of its tooltip.
  constructor(host, minimap, { jump, describe, framed }) {
    Object.assign(this, { host, minimap, jump, describe, framed });
    this.svg = null;
    this.following = false;
    this.lit = [];
    this.listen();
    new ResizeObserver(() => this.reframe(false)).observe(host);
  }

  // Returns whether there is a picture.
  show(svgText) {
    this.svg?.remove();
    this.svg = null;
    if (!svgText) return false;
    const holder = document.createElement('template');
    holder.innerHTML = svgText;
    this.svg = holder.content.querySelector('svg');
    this.width = Number(this.svg.getAttribute('width'));
    this.height = Number(this.svg.getAttribute('height'));
    this.svg.removeAttribute('width');
    this.svg.removeAttribute('height');
    this.svg.querySelectorAll('title').forEach((title) => title.remove());
    this.svg.querySelector('rect').remove(); // the paper
    this.nodes = new Map();
    this.edges = new Map(); // by child
    for (const g of this.svg.querySelectorAll('g.node')) {
      const rect = g.querySelector('rect');
      const [x, y, width, height] = ['x', 'y', 'width', 'height'].map((name) => Number(rect.getAttribute(name)));
      this.nodes.set(Number(g.dataset.node), { g, x, y, width, height });
    }
    for (const g of this.svg.querySelectorAll('g.edge')) this.edges.set(Number(g.dataset.child), g);
    this.values = document.createElementNS(SVG, 'g');
    this.svg.append(this.values);
    this.host.prepend(this.svg);
    this.lit = [];
    this.view = null;
    this.following = !this.isSmall();
    this.reframe(false);
    return true;
  }

  // The whole tree is legible at once.
  isSmall() {
    return this.scaleFor(this.width, this.height) >= 0.6;
  }

  scaleFor(width, height) {
    const { clientWidth, clientHeight } = this.host;
    return Math.min(clientWidth / width, clientHeight / height, 1.3);
  }

  // path: numbers of nodes from the root, the leaf last; values: texts for them, as the tests saw them.
  light(path, values) {
    if (!this.svg) return;
    for (const number of this.lit) {
      this.nodes.get(number).g.classList.remove('lit');
      this.edges.get(number)?.classList.remove('lit');
    }
    this.lit = path.filter((number) => this.nodes.has(number)); // passed-through splits have no box
    this.values.replaceChildren();
    for (const number of this.lit) {
      const node = this.nodes.get(number), edge = this.edges.get(number);
      node.g.classList.add('lit');
      if (edge) {
        edge.classList.add('lit');
        edge.parentNode.insertBefore(edge, this.firstNode()); // on top of the other lines
      }
      const text = values.get(number);
      if (text !== undefined) this.values.append(this.valueBadge(node, text));
    }
    if (this.following) this.reframe(true); else this.drawMinimap();
  }

  firstNode() {
    return this.nodes.values().next().value.g.parentNode.querySelector('g.node');
  }

  valueBadge(node, text) {
    const width = 6.6 * text.length + 12, x = node.x + node.width / 2, y = node.y + node.height;
    const g = document.createElementNS(SVG, 'g');
    g.setAttribute('class', 'value');
    const rect = document.createElementNS(SVG, 'rect');
    for (const [name, value] of Object.entries({ x: x - width / 2, y: y - 6.5, width, height: 15, rx: 7.5 })) rect.setAttribute(name, value);
    const label = document.createElementNS(SVG, 'text');
    label.setAttribute('x', x);
    label.setAttribute('y', y + 4.8);
    label.textContent = text;
    g.append(rect, label);
    return g;
  }

  // Framing. A frame is the part of the picture shown: x, y, and the scale.
  target() {
    let box = { x: 0, y: 0, width: this.width, height: this.height }, least = 0;
    if (this.following && this.lit.length > 0) {
      const nodes = this.lit.map((number) => this.nodes.get(number));
      const x = Math.min(...nodes.map((n) => n.x)) - 24, y = Math.min(...nodes.map((n) => n.y)) - 20;
      box = {
        x, y,
        width: Math.max(...nodes.map((n) => n.x + n.width)) + 24 - x,
        height: Math.max(...nodes.map((n) => n.y + n.height)) + 24 - y,
      };
      least = 0.55;
    }
    const scale = Math.max(least, this.scaleFor(box.width, box.height));
    const leaf = this.following && this.lit.length > 0 ? this.nodes.get(this.lit.at(-1)) : null;
    return this.centred(box, scale, leaf);
  }

  // What must be seen, when not all of the box fits, is the leaf.
  centred(box, scale, leaf) {
    const width = this.host.clientWidth / scale, height = this.host.clientHeight / scale;
    let x = box.x + (box.width - width) / 2, y = box.y + (box.height - height) / 2;
    if (leaf) {
      x = Math.max(Math.min(x, leaf.x - 16), leaf.x + leaf.width + 16 - width);
      y = Math.max(Math.min(y, leaf.y - 16), leaf.y + leaf.height + 16 - height);
    }
    return { x, y, scale };
  }

  reframe(smooth) {
    if (!this.svg || this.host.clientWidth === 0) return;
    if (this.moved && !this.following) return this.setView(this.view);
    const target = this.target();
    if (smooth && this.following && this.view && this.holds(this.view, target)) return this.drawMinimap();
    this.moveTo(target, smooth);
  }

  // The path is in view and about as large as it could be: moving would only be unrest.
  holds(view, target) {
    if (view.scale < target.scale * 0.7 || view.scale > target.scale * 1.02) return false;
    const width = this.host.clientWidth / view.scale, height = this.host.clientHeight / view.scale;
    return this.lit.every((number) => {
      const n = this.nodes.get(number);
      return n.x > view.x && n.y > view.y && n.x + n.width < view.x + width && n.y + n.height < view.y + height;
    });
  }

  moveTo(target, smooth) {
    cancelAnimationFrame(this.frame);
    const from = this.view;
    if (!smooth || !from || matchMedia('(prefers-reduced-motion: reduce)').matches) return this.setView(target);
    const begin = performance.now(), duration = 260;
    const move = (now) => {
      const part = Math.min(1, Math.max(0, (now - begin) / duration)), ease = 1 - (1 - part) ** 3;
      const mix = (a, b) => a + (b - a) * ease;
      this.setView({ x: mix(from.x, target.x), y: mix(from.y, target.y), scale: mix(from.scale, target.scale) });
      if (part < 1) this.frame = requestAnimationFrame(move);
    };
    this.frame = requestAnimationFrame(move);
  }

  setView(view) {
    this.view = view;
    const { clientWidth, clientHeight } = this.host;
    this.svg.setAttribute('viewBox', `${view.x} ${view.y} ${clientWidth / view.scale} ${clientHeight / view.scale}`);
    this.drawMinimap();
    this.framed?.();
  }

  follow(on) {
    this.following = on;
    this.moved = false;
    this.reframe(true);
    this.framed?.();
  }

  zoom(factor, clientX, clientY) {
    if (!this.svg) return;
    const box = this.host.getBoundingClientRect(), { x, y, scale } = this.view;
    const atX = (clientX ?? box.left + box.width / 2) - box.left, atY = (clientY ?? box.top + box.height / 2) - box.top;
    const next = Math.min(4, Math.max(0.08, scale * factor));
    this.letGo();
    this.setView({ x: x + atX / scale - atX / next, y: y + atY / scale - atY / next, scale: next });
  }

  letGo() {
    cancelAnimationFrame(this.frame);
    this.following = false;
    this.moved = true;
  }

  listen() {
    const pointers = new Map();
    let travelled = 0;
    this.host.addEventListener('wheel', (event) => {
      event.preventDefault();
      this.zoom(Math.exp(-event.deltaY * (event.deltaMode === 1 ? 0.05 : 0.0016)), event.clientX, event.clientY);
    }, { passive: false });
    this.host.addEventListener('pointerdown', (event) => {
      if (pointers.size === 0) travelled = 0;
      pointers.set(event.pointerId, [event.clientX, event.clientY]);
    });
    this.host.addEventListener('pointermove', (event) => {
      const last = pointers.get(event.pointerId);
      if (!last || !this.svg) return this.hover(event);
      tip.hide();
      const other = [...pointers].find(([id]) => id !== event.pointerId)?.[1];
      const move = [event.clientX - last[0], event.clientY - last[1]];
      travelled += Math.hypot(...move);
      if (travelled > 4) this.host.setPointerCapture(event.pointerId);
      if (other) {
        const distance = (p) => Math.hypot(p[0] - other[0], p[1] - other[1]);
        const now = [event.clientX, event.clientY];
        this.zoom(distance(now) / Math.max(1, distance(last)), (now[0] + other[0]) / 2, (now[1] + other[1]) / 2);
      } else if (travelled > 4) {
        this.letGo();
        this.setView({ ...this.view, x: this.view.x - move[0] / this.view.scale, y: this.view.y - move[1] / this.view.scale });
      }
      pointers.set(event.pointerId, [event.clientX, event.clientY]);
    });
    for (const name of ['pointerup', 'pointercancel']) this.host.addEventListener(name, (event) => pointers.delete(event.pointerId));
    this.host.addEventListener('pointerleave', () => tip.hide());
    this.host.addEventListener('click', (event) => {
      const node = event.target.closest('g.node');
      if (node && travelled <= 4) this.jump(Number(node.dataset.node));
    });
  }

  hover(event) {
    const node = event.target.closest?.('g.node');
    if (!node || event.pointerType === 'touch') return tip.hide();
    const [title, rows] = this.describe(Number(node.dataset.node));
    tip.show(event, title, rows);
  }

  // In the corner where it hides least of the path.
  placeMinimap(width, height) {
    const { clientWidth, clientHeight } = this.host, { x, y, scale } = this.view, gap = 10, border = 10;
    const hidden = ([left, top]) => this.lit.reduce((sum, number) => {
      const n = this.nodes.get(number);
      const wide = Math.min(left + width + border, (n.x + n.width - x) * scale) - Math.max(left, (n.x - x) * scale);
      const high = Math.min(top + height + border, (n.y + n.height - y) * scale) - Math.max(top, (n.y - y) * scale);
      return sum + Math.max(0, wide) * Math.max(0, high);
    }, 0);
    const right = clientWidth - width - border - gap, low = clientHeight - height - border - gap;
    const corners = [[right, low], [gap, low], [right, gap], [gap, gap]];
    const [left, top] = corners.reduce((best, corner) => (hidden(corner) < hidden(best) ? corner : best));
    this.minimap.style.left = `${left}px`;
    this.minimap.style.top = `${top}px`;
  }

  // The whole tree in a corner, when only a part of it is shown.
  drawMinimap() {
    const part = this.view && (this.host.clientWidth / this.view.scale < this.width * 0.9 || this.host.clientHeight / this.view.scale < this.height * 0.9);
    this.minimap.hidden = !part || this.host.clientWidth < 500;
    if (this.minimap.hidden) return;
    const ratio = devicePixelRatio || 1, scale = Math.min(150 / this.width, 120 / this.height);
    const width = Math.ceil(this.width * scale), height = Math.ceil(this.height * scale);
    Object.assign(this.minimap, { width: width * ratio, height: height * ratio });
    this.minimap.style.width = `${width}px`;
    this.minimap.style.height = `${height}px`;
    const c = this.minimap.getContext('2d'), ink = getComputedStyle(document.body);
    c.scale(ratio * scale, ratio * scale);
    for (const lit of [false, true]) {
      c.fillStyle = ink.getPropertyValue(lit ? '--rm-lit' : '--rm-line');
      for (const n of lit ? this.lit.map((number) => this.nodes.get(number)) : this.nodes.values()) c.fillRect(n.x, n.y, n.width, n.height);
    }
    this.placeMinimap(width, height);
    c.strokeStyle = ink.getPropertyValue('--rm-soft');
    c.lineWidth = 1.5 / scale;
    c.strokeRect(this.view.x, this.view.y, this.host.clientWidth / this.view.scale, this.host.clientHeight / this.view.scale);
  }
}
