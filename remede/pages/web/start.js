// Starts the page: lists, buttons, keys, light and dark.

function fillSequences(app) {
  const { data, model } = app, list = byId('list'), pick = byId('pick');
  const verdict = (s) => {
    if (s.targets === 0) return 'no targets';
    if (model.classifies) return s.marked > 0 ? plural(s.marked, 'mistake') : 'no mistakes';
    return `RMSE ${short(s.loss, 3)}`;
  };
  const worst = Math.max(1e-30, ...data.sequences.map((s) => (model.classifies ? s.marked / Math.max(1, s.targets) : s.loss) || 0));
  for (const s of data.sequences) {
    const part = ((model.classifies ? s.marked / Math.max(1, s.targets) : s.loss) || 0) / worst;
    const text = `${plural(s.steps, 'step')}${s.of ? ` of ${grouped(s.of)}` : ''}`;
    list.append(make('li', { 'data-number': s.number },
      make('button', { type: 'button', onclick: () => { app.pause(); app.select(s.number, data.worstStep(s)); } },
        make('span', { class: 'id' }, s.id), make('span', { class: 'length' }, text),
        make('span', { class: s.marked > 0 ? 'verdict some' : 'verdict' }, verdict(s)),
        make('i', { style: `width:${100 * part}%` }))));
    pick.append(make('option', { value: s.number }, `${s.id} · ${verdict(s)} · ${text}`));
  }
  pick.addEventListener('change', () => { app.pause(); app.select(Number(pick.value), 0); });
  byId('find').addEventListener('input', (event) => {
    const words = event.target.value.toLowerCase();
    for (const row of list.children) row.hidden = !data.sequences[row.dataset.number].id.toLowerCase().includes(words);
  });
  byId('find').hidden = data.sequences.length < 12;
  document.body.classList.toggle('single', data.sequences.length === 1);
  byId('sample').textContent = `${data.json.note}${data.hasTargets && data.sequences.length > 1 ? ', those with the largest loss first' : ''}`;
}

function fillLegend(app) {
  const { model, page } = app, items = [];
  const tests = page.words.some((words) => words.view.some(([id]) => id >= 0));
  items.push(['--rm-input', '--rm-input-line', tests ? 'asks an input' : 'an input']);
  if (model.trees.some((tree, t) => page.words[t].view.some(([id]) => id >= 0 && tree.feature[id] >= tree.nX))) items.push(['--rm-cell', '--rm-cell-line', 'asks the memory']);
  if (page.words.some((words) => words.leaves.some((leaf) => leaf.writes.length > 0))) items.push(['--rm-write', '--rm-write-text', model.trees[0].laws ? 'sets taps' : 'writes to the memory']);
  if (!model.classifies) items.push(['--rm-c0', '--rm-c0', 'the answer']);
  if (!model.classifies && app.data.value) items.push(['--rm-c1', '--rm-c1', 'the target']);
  model.classes.slice(0, 10).forEach((name, o) => items.push([classInk(o), classInk(o), name]));
  byId('legend').append(...items.map(([fill, line, text]) => make('span', {}, make('i', { style: `background:var(${fill});border-color:var(${line})` }), text)));
}

// Dark rules stand in media queries, for readers who set nothing; the button rewrites the queries.
function setTheme(theme) {
  for (const sheet of document.styleSheets)
    for (const rule of sheet.cssRules)
      if (rule instanceof CSSMediaRule && (rule.isTheme ??= rule.media.mediaText.includes('prefers-color-scheme')))
        rule.media.mediaText = theme === 'dark' ? 'all' : theme === 'light' ? 'not all' : '(prefers-color-scheme: dark)';
  document.documentElement.style.colorScheme = theme ?? 'light dark';
}

function isDark() {
  return document.documentElement.style.colorScheme === 'dark'
    || (document.documentElement.style.colorScheme !== 'light' && matchMedia('(prefers-color-scheme: dark)').matches);
}

// All sequences against the library's numbers, a few at a time, while nothing else happens.
function verify(app) {
  const badge = byId('agreement'), { sequences } = app.data;
  let number = 0, steps = 0, wrong = 0;
  const some = () => {
    const until = performance.now() + 12;
    while (number < sequences.length && performance.now() < until) {
      const s = sequences[number++];
      if (s.agrees === undefined) s.agrees = checkNumber(app.model, app.data.evaluate(s, app.data.inputs(s))) === s.check;
      steps += s.steps;
      wrong += s.agrees ? 0 : 1;
    }
    badge.classList.toggle('bad', wrong > 0);
    badge.dataset.state = wrong > 0 ? 'bad' : number === sequences.length ? 'good' : 'checking';
    badge.textContent = wrong > 0 ? `✗ ${plural(wrong, 'sequence')} not as in the library` : number < sequences.length ? 'checking …' : '✓ same bits';
    if (badge.dataset.state === 'good') badge.append(make('span', {}, ' as the library'));
    badge.title = `This page computes the model itself. On ${plural(steps, 'step')} of ${plural(number, 'sequence')} its leaves and answers were compared with the library's.`;
    if (number < sequences.length) setTimeout(some, 16);
  };
  setTimeout(some, 50);
}

function listen(app) {
  const press = (id, action) => byId(id).addEventListener('click', action);
  const theme = () => { setTheme(isDark() ? 'light' : 'dark'); repaint(); };
  const repaint = () => { app.traces.reset(true); app.player.drawMarks(); app.treeView.drawMinimap(); };
  const views = ['tree', 'outline', 'machine'];
  const nextView = () => {
    const open = views.filter((view) => !byId('views').querySelector(`[data-view=${view}]`).hidden);
    app.showView(open[(open.indexOf(app.view) + 1) % open.length]);
  };
  press('theme', theme);
  press('help', () => byId('keys').showModal());
  press('edit', () => app.setEditing(!app.editing));
  press('follow', () => app.treeView.follow(!app.treeView.following));
  press('zoomin', () => app.treeView.zoom(1.3));
  press('zoomout', () => app.treeView.zoom(1 / 1.3));
  press('fit', () => app.treeView.follow(false));
  press('timein', () => app.traces.zoom(0.6));
  press('timeout', () => app.traces.zoom(1 / 0.6));
  press('timefit', () => app.traces.fit());
  press('more', () => {
    app.allShown = !app.allShown;
    byId('more').textContent = app.allShown ? 'the most used only' : 'all inputs and cells';
    app.traces.reset(true);
    app.panel.update();
  });
  byId('more').textContent = 'all inputs and cells';
  byId('views').addEventListener('click', (event) => { if (event.target.dataset.view) app.showView(event.target.dataset.view); });
  byId('whichtree').addEventListener('change', (event) => app.showTree(Number(event.target.value)));
  matchMedia('(prefers-color-scheme: dark)').addEventListener('change', repaint);

  let held = null; // the timeline's lower edge while its upper one is dragged
  byId('split').addEventListener('pointerdown', (event) => {
    held = byId('timeline').getBoundingClientRect().bottom;
    byId('split').setPointerCapture(event.pointerId);
  });
  byId('split').addEventListener('pointermove', (event) => {
    if (held !== null) byId('timeline').style.setProperty('--time', `${Math.min(innerHeight - 260, Math.max(140, held - event.clientY))}px`);
  });
  byId('split').addEventListener('pointerup', () => { held = null; });

  const keys = {
    ' ': () => app.player.toggle(),
    ArrowLeft: (event) => app.player.by(event.shiftKey ? -10 : -1),
    ArrowRight: (event) => app.player.by(event.shiftKey ? 10 : 1),
    Home: () => app.player.by(-Infinity),
    End: () => app.player.by(Infinity),
    ArrowUp: () => app.select(app.number - 1),
    ArrowDown: () => app.select(app.number + 1),
    n: () => app.toMark(1), p: () => app.toMark(-1), w: () => app.toWriter(),
    e: () => app.setEditing(!app.editing), r: () => app.takeBack(),
    v: nextView, t: () => app.showTree((app.treeNumber + 1) % app.model.trees.length),
    f: () => app.treeView.follow(!app.treeView.following),
    '+': () => app.traces.zoom(0.6), '=': () => app.traces.zoom(0.6), '-': () => app.traces.zoom(1 / 0.6), 0: () => app.traces.fit(),
    d: theme, '?': () => byId('keys').showModal(),
  };
  document.addEventListener('keydown', (event) => {
    const { target } = event, typing = target.matches?.('input[type=text], input[type=search], .slide input, select');
    if (typing && event.key === 'Escape') target.blur();
    if (typing || byId('keys').open || event.ctrlKey || event.metaKey || event.altKey) return;
    if (event.key === ' ' && target.matches?.('button, [role=tab]')) return; // a focused button is pressed instead
    const action = keys[event.key] ?? keys[event.key.toLowerCase()];
    if (!action) return;
    event.preventDefault();
    action(event);
  });
}

function start() {
  const read = (id) => JSON.parse(byId(id).textContent);
  const app = new App(read('model-json'), read('page-json'));
  byId('title').textContent = app.page.title;
  byId('subtitle').textContent = [app.page.data.name, app.page.data.score].filter(Boolean).join(' · ');
  byId('treepick').hidden = app.model.trees.length < 2;
  byId('whichtree').append(...app.model.trees.map((_, t) => make('option', { value: t }, `${t + 1} of ${app.model.trees.length}`)));
  byId('views').querySelector('[data-view=machine]').hidden = !app.page.machine;
  if (app.model.trees[0].laws) byId('views').querySelector('[data-view=tree]').textContent = 'Model';
  fillSequences(app);
  fillLegend(app);
  listen(app);
  app.showTree(0);
  app.showView(app.words.svg && innerWidth >= 700 ? 'tree' : 'outline');
  const [number, step] = (/^#(\d+)\.(\d+)$/.exec(location.hash) ?? [0, 1, 0]).slice(1).map(Number);
  const first = step === 0 ? app.data.worstStep(app.data.sequences[0]) : step - 1;
  app.select(number - 1, first);
  verify(app);
  app.compute = { compileModel, runModel, stateSize };
  window.remede = app; // for tests, and for the curious
}

start();
