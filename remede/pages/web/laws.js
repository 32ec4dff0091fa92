// Cells with laws (remede/model/cells.h): their numbers as lists of terms, and their step. Terms of weight zero are left out.

const CELL_BOUND = f32(1e30);

// Terms [place, weight], in the order of the places. where: what a name or number stands for.
function compileTerms(pairs, where) {
  return pairs.map(([what, weight]) => [where(what), f32(weight)]).filter(([, weight]) => weight !== 0).sort((a, b) => a[0] - b[0]);
}

// The terms of an answer are places in one list: inputs, outputs, levels.
function compileLaws(json, numberOf, tree) {
  const { nX, nM } = tree, input = (name) => numberOf.get(name), cell = (k) => k;
  const answer = (row) => compileTerms(row.inputs, input).concat(compileTerms(row.outputs, (k) => nX + k), compileTerms(row.levels, (k) => nX + nM + k));
  const cells = json.cells.map((c) => ({
    law: c.law, store: c.law === 'store', cut: c.law !== 'average', first: c.first,
    bias: f32(c.bias), inputs: compileTerms(c.inputs, input), earlier: compileTerms(c.earlier, cell),
    tap: f32(c.tap), tapInputs: compileTerms(c.tap_inputs, input), tapLevel: f32(c.tap_level),
  }));
  const tapLeaf = new Float32Array(json.leaves.length * nM);
  json.leaves.forEach((leaf, j) => {
    for (const [k, shift] of leaf.taps) tapLeaf[j * nM + k] = shift === 'closed' ? -Infinity : shift === 'open' ? Infinity : shift;
  });
  return {
    cells, tapLeaf, anyFirst: cells.some((c) => c.first),
    answer: json.answer.map(answer),
    leafAnswer: json.leaves.map((leaf) => (leaf.answer ? leaf.answer.map(answer) : null)),
  };
}

function addTerms(sum, terms, values, at) {
  for (const [place, weight] of terms) sum = f32(sum + f32(weight * values[at + place]));
  return sum;
}

function bounded(a) {
  return a > CELL_BOUND ? CELL_BOUND : a < -CELL_BOUND ? -CELL_BOUND : a === a ? a : 0;
}

function tapShare(arithmetic, cell, shift, known, xAt, level) {
  if (shift === -Infinity) return 0;
  if (shift === Infinity) return 1;
  let sum = addTerms(cell.tap, cell.tapInputs, known, xAt);
  if (cell.tapLevel !== 0) sum = f32(sum + f32(cell.tapLevel * level));
  if (shift !== 0) sum = f32(sum + shift);
  return arithmetic.sigmoid(bounded(sum));
}

// As runTree() in model.js; beside it what each cell gave out, its tap's share, and what came in, for the pictures.
function runLaws(tree, arithmetic, x, known, steps, state) {
  const { nX, nM, nY, laws } = tree;
  const run = {
    leaf: new Int32Array(steps),
    memory: new Float32Array((steps + 1) * nM),
    output: new Float32Array(steps * nY),
    wrote: new Int32Array((steps + 1) * nM).fill(-1),
    given: new Float32Array(steps * nM),
    share: new Float32Array(steps * nM),
    came: new Float32Array(steps * nM), // what a store took in; what an average moved towards
  };
  run.memory.set(state.subarray(0, nM));
  let begun = laws.anyFirst && state[nM] !== 0;
  const last = Float32Array.from({ length: nY }, (_, o) => (tree.first ? state[tree.memorySize + o] : 0));
  const values = new Float32Array(nX + 2 * nM); // inputs, outputs, levels of the step
  for (let t = 0; t < steps; ++t) {
    const xAt = t * nX, m = run.memory, mAt = t * nM;
    const leaf = findLeaf(tree, x, xAt, m, mAt);
    run.leaf[t] = leaf;
    for (let i = 0; i < nX; ++i) values[i] = known[xAt + i];
    for (let k = 0; k < nM; ++k) {
      const cell = laws.cells[k], before = m[mAt + k];
      const share = tapShare(arithmetic, cell, laws.tapLeaf[leaf * nM + k], known, xAt, before);
      let a = bounded(addTerms(addTerms(cell.bias, cell.inputs, values, 0), cell.earlier, values, nX));
      if (cell.cut) a = a > 0 ? a : 0;
      let after, given;
      if (cell.store) {
        const sum = f32(before + a);
        given = f32(share * sum);
        after = f32(sum - given);
      } else {
        after = given = cell.first && !begun ? a : f32(before + f32(share * f32(a - before)));
      }
      m[mAt + nM + k] = after;
      values[nX + k] = run.given[mAt + k] = given;
      values[nX + nM + k] = after;
      run.share[mAt + k] = share;
      run.came[mAt + k] = a;
      run.wrote[mAt + nM + k] = t;
    }
    begun = true;
    for (let o = 0; o < nY; ++o) {
      let y = addTerms(tree.output[leaf * nY + o], laws.answer[o], values, 0);
      const own = laws.leafAnswer[leaf];
      if (own) y = addTerms(y, own[o], values, 0);
      if (tree.first) y = f32(last[o] + y);
      run.output[t * nY + o] = last[o] = y;
    }
  }
  return run;
}
