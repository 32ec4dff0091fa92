// The model's one arithmetic, as in remede/base/arithmetic.h: every operation is rounded to float once. A product, sum or
// quotient of two floats computed in double and rounded to float is the same as computed in float.
const f32 = Math.fround;
const NO_NUMBER = 0x7fc00000; // every NaN counts as this one
const wordOf = new Int32Array(1);
const floatOf = new Float32Array(wordOf.buffer);

// constants: the page's "arithmetic", written by the library from its own.
function makeArithmetic(constants) {
  const { limit, p: tanhP, q: tanhQ } = constants.tanh;
  const c = constants.exp;

  function tanh(x) {
    x = x > limit ? limit : x;
    x = x < -limit ? -limit : x;
    const s = f32(x * x);
    let p = tanhP[5];
    for (let i = 4; i >= 0; --i) p = f32(f32(p * s) + tanhP[i]);
    let q = tanhQ[3];
    for (let i = 2; i >= 0; --i) q = f32(f32(q * s) + tanhQ[i]);
    const r = f32(f32(x * p) / q);
    return r > 1 ? 1 : r < -1 ? -1 : r;
  }

  function exp(x) {
    if (x < c.lowest) return 0;
    x = x > c.highest ? c.highest : x;
    const n = f32(f32(f32(x * c.log2e) + c.round) - c.round);
    if (n !== n) return n;
    let r = f32(x - f32(n * c.ln2_high));
    r = f32(r - f32(n * c.ln2_low));
    let p = c.p[5];
    for (let i = 4; i >= 0; --i) p = f32(f32(p * r) + c.p[i]);
    p = f32(f32(p * r) * r);
    p = f32(p + r);
    p = f32(p + 1);
    wordOf[0] = (n + 127) << 23;
    return f32(p * floatOf[0]);
  }

  function sigmoid(x) {
    const e = exp(x < 0 ? x : -x);
    return f32((x < 0 ? e : 1) / f32(1 + e));
  }

  // Scores to probabilities, in place. The first of equals is the largest, and NaN is never larger, as in C++.
  function softmax(y) {
    let most = y[0];
    for (let o = 1; o < y.length; ++o) if (most < y[o]) most = y[o];
    let sum = 0;
    for (let o = 0; o < y.length; ++o) {
      y[o] = exp(f32(y[o] - most));
      sum = f32(sum + y[o]);
    }
    for (let o = 0; o < y.length; ++o) y[o] = y[o] / sum; // a Float32Array rounds
  }

  // Kept positive and finite (remede/objective/formulas.inc).
  const expLink = (y) => exp(y < -80 ? -80 : y > 80 ? 80 : y);

  // Raw outputs of a tree to its answer, in place, by the model's objective.
  function makeLink(classifies, objective) {
    if (classifies) return softmax;
    if (objective?.name === 'poisson') return (y) => { for (let o = 0; o < y.length; ++o) y[o] = expLink(y[o]); };
    if (objective?.name !== 'quantile') return () => {};
    const quantiles = Float32Array.from(objective.quantiles), away = (k) => Math.abs(f32(quantiles[k] - 0.5));
    let middle = 0; // the others are counted from the one nearest to the median
    for (let k = 1; k < quantiles.length; ++k) if (away(k) < away(middle)) middle = k;
    return (y) => {
      for (let k = middle + 1; k < y.length; ++k) y[k] = f32(y[k - 1] + expLink(y[k]));
      for (let k = middle - 1; k >= 0; --k) y[k] = f32(y[k + 1] - expLink(y[k]));
    };
  }

  return { tanh, exp, sigmoid, makeLink };
}

function argMax(y, from = 0, count = y.length) {
  let best = 0;
  for (let o = 1; o < count; ++o) if (y[from + best] < y[from + o]) best = o;
  return best;
}
