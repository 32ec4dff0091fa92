// What the answer of a step is made of: the leaf's constant and every term of its sum, in the units of the answer.

// The terms of output o of the tree shown: [name, value]. Null where the leaf's answer is a constant alone.
function answerParts(app, o) {
  const { tree, words, step, treeRun } = app, leaf = treeRun.leaf[step], { nX, nM, nY } = tree;
  const parts = new Map();
  const add = (name, value) => parts.set(name, (parts.get(name) ?? 0) + value);
  const known = (i) => { const x = app.run.x[step * nX + i]; return Number.isNaN(x) ? app.model.fill[i] : x; };
  if (tree.laws) {
    const own = tree.laws.leafAnswer[leaf];
    for (const terms of [tree.laws.answer[o], own ? own[o] : []])
      for (const [place, weight] of terms) {
        if (place < nX) add(words.features[place], weight * known(place));
        else if (place < nX + nM) add(app.outputName(place - nX), weight * treeRun.given[step * nM + place - nX]);
        else add(words.features[place - nM], weight * treeRun.memory[(step + 1) * nM + place - nX - nM]);
      }
  } else if (tree.linear) {
    for (let f = 0; f < tree.nV; ++f) {
      const weight = tree.linear[(leaf * nY + o) * tree.nV + f];
      if (weight !== 0) add(words.features[f], weight * (f < nX ? known(f) : treeRun.memory[step * nM + f - nX]));
    }
  }
  if (parts.size === 0) return null;
  return { constant: tree.output[leaf * nY + o], before: tree.first && step > 0 ? treeRun.output[(step - 1) * nY + o] : 0, parts };
}

// In classification: why the class said rather than the next best.
function answerRows(app) {
  const { model, step, run } = app, { nY } = model;
  if (!model.classifies) {
    return [...Array(Math.min(nY, 3)).keys()].map((o) => {
      const sum = answerParts(app, o);
      const before = model.linked ? ', before its link' : ''; // e.g. the exponential of a rate
      return sum && { title: nY > 1 ? `What ${model.targets[o]} is made of${before}` : `What the answer is made of${before}`, ...sum };
    }).filter(Boolean);
  }
  const order = [...Array(nY).keys()].sort((a, b) => run.output[step * nY + b] - run.output[step * nY + a] || a - b);
  const [said, other] = order, one = answerParts(app, said), two = answerParts(app, other);
  if (nY < 2 || (!one && !two)) return [];
  const parts = new Map(one?.parts ?? []);
  for (const [name, value] of two?.parts ?? []) parts.set(name, (parts.get(name) ?? 0) - value);
  return [{ title: `Why “${model.classes[said]}” rather than “${model.classes[other]}”`, constant: (one?.constant ?? 0) - (two?.constant ?? 0), before: (one?.before ?? 0) - (two?.before ?? 0), parts, inks: [classInk(said), classInk(other)] }];
}

// Bars to the right for what raises the answer, to the left for what lowers it; the strongest first. Those of classes have
// the colours of the classes.
function answerBars(app) {
  const most = 8;
  return answerRows(app).flatMap(({ title, constant, before, parts, inks }) => {
    const rows = [...parts].sort((a, b) => Math.abs(b[1]) - Math.abs(a[1]));
    const rest = rows.splice(most).reduce((sum, [, value]) => sum + value, 0);
    if (rest !== 0) rows.push(['the rest', rest]);
    if (constant !== 0) rows.push(['always', constant]);
    if (before !== 0) rows.push(['the answer before', before]);
    const largest = Math.max(1e-30, ...rows.map(([, value]) => Math.abs(value)));
    return [make('h3', {}, title), make('div', { class: 'parts' }, ...rows.map(([name, value]) => make('div', { class: `part ${value < 0 ? 'down' : 'up'}`, title: `${name}: ${exact(value)}` },
      make('span', { class: 'name' }, name),
      make('span', { class: 'rail' }, make('i', { style: `width:${50 * Math.abs(value) / largest}%${inks ? `;background:var(${inks[value < 0 ? 1 : 0]})` : ''}` })),
      make('span', { class: 'share' }, `${value >= 0 ? '+' : '−'}${short(Math.abs(value), 3)}`))))];
  });
}
