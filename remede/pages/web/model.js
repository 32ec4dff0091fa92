// The model file (docs/file-format.md) as arrays, and the reference predictor (remede/model/predict.cpp) over them.

function compileTree(json, inputs) {
  const laws = Array.isArray(json.cells);
  const nX = inputs.length, nM = laws ? json.cells.length : json.cells, nY = json.leaves[0].output.length;
  const inner = json.nodes.length, leaves = json.leaves.length;
  const nV = nX + nM, nW = json.write_reads === 'inputs and memory' ? nV : nX;
  const tree = {
    nX, nM, nY, nV, nW, inner, leaves,
    blends: json.write_rule === 'blend',
    first: json.output_order === 'first',
    feature: new Int32Array(inner), // below nX: an input; else a cell
    threshold: new Float32Array(inner),
    missingRight: new Uint8Array(inner),
    left: new Int32Array(inner), // below 0: leaf ~child
    right: new Int32Array(inner),
    output: new Float32Array(leaves * nY),
    linear: json.leaf_output === 'linear' ? new Float32Array(leaves * nY * nV) : null,
    gate: new Uint8Array(leaves * nM),
    write: new Float32Array(leaves * nM * nW),
    bias: new Float32Array(leaves * nM), // 0 where the form has none
    blend: new Float32Array(leaves * nM),
  };
  const numberOf = new Map(inputs.map((name, i) => [name, i]));
  const child = (number) => (number < inner ? number : ~(number - inner));
  json.nodes.forEach((node, i) => {
    tree.feature[i] = 'input' in node ? numberOf.get(node.input) : nX + node.cell;
    tree.threshold[i] = node.threshold;
    tree.missingRight[i] = node.missing === 'right' ? 1 : 0;
    tree.left[i] = child(node.left);
    tree.right[i] = child(node.right);
  });
  json.leaves.forEach((leaf, j) => {
    tree.output.set(leaf.output, j * nY);
    if (tree.linear) leaf.linear.forEach((row, o) => tree.linear.set(row, (j * nY + o) * nV));
    for (const write of leaf.writes ?? []) {
      const at = j * nM + write.cell;
      tree.gate[at] = 1;
      tree.write.set(write.weights, at * nW);
      tree.bias[at] = write.bias ?? 0;
      tree.blend[at] = write.blend ?? 0;
    }
  });
  if (laws) tree.laws = compileLaws(json, numberOf, tree);
  tree.memorySize = nM + (tree.laws && tree.laws.anyFirst ? 1 : 0); // the levels, and whether the sequence has begun
  return tree;
}

function compileModel(json, constants) {
  const trees = json.trees.map((tree) => compileTree(tree, json.inputs));
  const arithmetic = makeArithmetic(constants), classifies = json.task === 'classification', quantiles = json.objective?.quantiles;
  return {
    classifies, link: arithmetic.makeLink(classifies, json.objective), linked: ['poisson', 'quantile'].includes(json.objective?.name),
    inputs: json.inputs, classes: json.classes,
    targets: quantiles ? quantiles.map((q) => `${json.targets[0]} q${q}`) : json.targets, // the names of the outputs
    nX: json.inputs.length, nY: trees[0].nY,
    fill: Float32Array.from(json.fill),
    trees,
    arithmetic,
  };
}

// constant + row v: inputs, then `cells` cells of m; each product and each sum rounded once.
function weightedSum(constant, row, at, x, xAt, nX, m, mAt, cells) {
  let sum = constant;
  for (let i = 0; i < nX; ++i) sum = f32(sum + f32(row[at + i] * x[xAt + i]));
  for (let k = 0; k < cells; ++k) sum = f32(sum + f32(row[at + nX + k] * m[mAt + k]));
  return sum;
}

// The leaf that step reaches. x as it is, with NaN where missing; path: takes the nodes passed, if given.
function findLeaf(tree, x, xAt, m, mAt, path) {
  let node = tree.inner === 0 ? ~0 : 0;
  while (node >= 0) {
    if (path) path.push(node);
    const feature = tree.feature[node];
    const v = feature < tree.nX ? x[xAt + feature] : m[mAt + feature - tree.nX];
    const right = v !== v ? tree.missingRight[node] === 1 : v >= tree.threshold[node];
    node = right ? tree.right[node] : tree.left[node];
  }
  return ~node;
}

// One tree over a sequence. x: (steps, nX) with NaN; known: the same with missing values filled.
// state: memory (and in the first-order form the last output) before the first step.
function runTree(tree, tanh, x, known, steps, state) {
  const { nX, nM, nY, nV, nW } = tree;
  const run = {
    leaf: new Int32Array(steps),
    memory: new Float32Array((steps + 1) * nM), // row t: before step t
    output: new Float32Array(steps * nY), // scores or values
    wrote: new Int32Array((steps + 1) * nM).fill(-1), // row t: the step that last wrote the cell before step t
  };
  run.memory.set(state.subarray(0, nM));
  const last = Float32Array.from({ length: nY }, (_, o) => (tree.first ? state[nM + o] : 0));
  for (let t = 0; t < steps; ++t) {
    const xAt = t * nX, m = run.memory, mAt = t * nM;
    const leaf = findLeaf(tree, x, xAt, m, mAt);
    run.leaf[t] = leaf;
    for (let o = 0; o < nY; ++o) {
      const at = leaf * nY + o;
      let y = tree.output[at];
      if (tree.linear) y = weightedSum(y, tree.linear, at * nV, known, xAt, nX, m, mAt, nM);
      if (tree.first) y = f32(last[o] + y);
      run.output[t * nY + o] = last[o] = y;
    }
    for (let k = 0; k < nM; ++k) {
      const at = leaf * nM + k, before = m[mAt + k];
      m[mAt + nM + k] = before;
      run.wrote[mAt + nM + k] = run.wrote[mAt + k];
      if (tree.gate[at] === 0) continue;
      const u = tanh(weightedSum(tree.bias[at], tree.write, at * nW, known, xAt, nX, m, mAt, nW - nX));
      m[mAt + nM + k] = tree.blends ? f32(before + f32(tree.blend[at] * f32(u - before))) : f32(before + u);
      run.wrote[mAt + nM + k] = t;
    }
  }
  return run;
}

// A whole sequence: what predict() gives, and everything on the way.
function runModel(model, x, steps, state) {
  const { nX, nY } = model;
  const known = x.slice();
  for (let i = 0; i < known.length; ++i) if (known[i] !== known[i]) known[i] = model.fill[i % nX];
  const output = new Float32Array(steps * nY), one = new Float32Array(nY);
  let at = 0;
  const trees = model.trees.map((tree, number) => {
    const size = tree.memorySize + (tree.first ? nY : 0), part = state.subarray(at, at + size);
    const run = tree.laws ? runLaws(tree, model.arithmetic, x, known, steps, part) : runTree(tree, model.arithmetic.tanh, x, known, steps, part);
    at += size;
    for (let t = 0; t < steps; ++t) {
      for (let o = 0; o < nY; ++o) one[o] = run.output[t * nY + o];
      model.link(one);
      for (let o = 0; o < nY; ++o) output[t * nY + o] = number === 0 ? one[o] : output[t * nY + o] + one[o];
    }
    return run;
  });
  for (let i = 0; i < output.length; ++i) output[i] = output[i] / f32(model.trees.length);
  return { x, steps, output, trees };
}

function stateSize(model) {
  return model.trees.reduce((sum, tree) => sum + tree.memorySize + (tree.first ? model.nY : 0), 0);
}

// One number for all leaves and answers; the library wrote the one it found.
function checkNumber(model, run) {
  const words = new Int32Array(run.output.buffer, run.output.byteOffset, run.output.length);
  let number = 2166136261 | 0;
  const add = (word) => { number = Math.imul(number ^ word, 16777619); };
  for (let t = 0; t < run.steps; ++t) {
    for (const tree of run.trees) add(tree.leaf[t]);
    for (let i = t * model.nY; i < (t + 1) * model.nY; ++i) add(run.output[i] !== run.output[i] ? NO_NUMBER : words[i]);
  }
  return number >>> 0;
}
