// The script of `stan view`. Reads the data element, draws the treemap that was laid out in Rust, and answers clicks. Names
// of the repository reach the page as text nodes and canvas text alone, never as markup.
'use strict';
(() => {
  const data = JSON.parse(document.getElementById('data').textContent);
  const element = (id) => document.getElementById(id);
  const [NAME, FOLDER, X, Y, W, H, TOKENS, BYTES, IMPORTS, PACKAGES, TESTS, EXPORTS, ABOUT, WHY] = Array(14).keys();
  const [D_NAME, D_PARENT, D_X, D_Y, D_W, D_H, D_TOKENS, D_FILES] = Array(8).keys();
  const { files, folders, packages, missing, cycles } = data;
  const LISTED = 300; // entries of one list; the rest is counted
  const number = new Intl.NumberFormat('en').format;

  // --- what is derived once
  const folderPath = folders.map(() => '');
  for (let i = 1; i < folders.length; i++) folderPath[i] = folderPath[folders[i][D_PARENT]] + folders[i][D_NAME] + '/';
  const path = (i) => folderPath[files[i][FOLDER]] + files[i][NAME];
  const importers = files.map(() => []);
  files.forEach((file, i) => file[IMPORTS].forEach((packed) => importers[packed >>> 3].push(i * 8 + (packed & 7))));
  const subfolders = folders.map(() => []);
  folders.forEach((folder, i) => i && subfolders[folder[D_PARENT]].push(i));
  const ownFiles = folders.map(() => []);
  files.forEach((file, i) => ownFiles[file[FOLDER]].push(i));
  const cycleOf = new Map();
  cycles.forEach(([members], at) => members.forEach((i) => cycleOf.set(i, at)));
  const selected = files.map((_, i) => i).filter((i) => files[i][WHY] !== 0);
  // For each folder, the one right below the folder in view that holds it: what colours tell apart.
  let branch = [];
  function findBranches() {
    branch = folders.map((_, at) => at);
    for (let at = 1; at < folders.length; at++) { const parent = folders[at][D_PARENT]; if (at !== folder && parent !== folder && parent) branch[at] = branch[parent]; }
  }
  const extension = files.map((file) => (/\.([A-Za-z0-9]{1,8})$/.exec(file[NAME]) || ['', 'other'])[1].toLowerCase());
  // Files by how many others depend on them.
  const byUse = files.map((_, i) => i).filter((i) => importers[i].length).sort((a, b) => importers[b].length - importers[a].length || a - b);
  const mostUsed = byUse.length ? importers[byUse[0]].length : 1;

  // --- state
  let folder = 0; // the folder that fills the canvas
  let chosen = -1; // a file
  let hops = 0; // 0: treemap, 1 or 2: links of the chosen file
  let tab = 'folder';
  let hovered = -1;

  // --- colours
  const palette = [210, 150, 30, 280, 0, 185, 60, 325, 100, 250];
  const rank = (keys, isIn) => { const count = new Map(); keys.forEach((key, i) => files[i][TOKENS] >= 0 && isIn(i) && count.set(key, (count.get(key) || 0) + files[i][TOKENS]));
    return new Map([...count].sort((a, b) => b[1] - a[1] || (a[0] < b[0] ? -1 : 1)).map(([key], i) => [key, i])); };
  let folderRank = new Map();
  const languageRank = rank(extension, () => true);
  const isDark = () => document.documentElement.dataset.theme === 'dark';
  const hue = (position, light) => position === undefined || position >= palette.length ? `hsl(0 0% ${light}%)` : `hsl(${palette[position]} 45% ${light}%)`;
  const light = () => (isDark() ? 32 : 78);
  function colour(i) {
    const mode = element('colour').value;
    if (mode === 'language') return hue(languageRank.get(extension[i]), light());
    if (mode === 'dependents') {
      const share = Math.log(1 + importers[i].length) / Math.log(1 + mostUsed);
      return isDark() ? `hsl(10 ${20 + 55 * share}% ${22 + 30 * share}%)` : `hsl(10 ${20 + 65 * share}% ${93 - 40 * share}%)`;
    }
    return hue(folderRank.get(branch[files[i][FOLDER]]), light());
  }
  const variable = (name) => getComputedStyle(document.documentElement).getPropertyValue(name).trim();

  // --- treemap
  const canvas = element('map');
  const context = canvas.getContext('2d');
  function frame() {
    const ratio = window.devicePixelRatio || 1;
    const { width, height } = canvas.getBoundingClientRect();
    if (canvas.width !== Math.round(width * ratio)) canvas.width = Math.round(width * ratio);
    if (canvas.height !== Math.round(height * ratio)) canvas.height = Math.round(height * ratio);
    const [x, y, w, h] = folder ? folders[folder].slice(D_X, D_H + 1) : [0, 0, ...data.size];
    return { ratio, x, y, scaleX: (width * ratio) / Math.max(1, w), scaleY: (height * ratio) / Math.max(1, h) };
  }
  function draw() {
    const view = frame();
    const shown = { fg: variable('--fg'), soft: variable('--soft'), line: variable('--line'), panel: variable('--panel'), pick: variable('--pick'), warn: variable('--warn'), accent: variable('--accent') };
    context.fillStyle = variable('--bg');
    context.fillRect(0, 0, canvas.width, canvas.height);
    context.textBaseline = 'top';
    const box = (entry, at) => [(entry[at] - view.x) * view.scaleX, (entry[at + 1] - view.y) * view.scaleY, entry[at + 2] * view.scaleX, entry[at + 3] * view.scaleY];
    const label = (text, x, y, w, h, size) => {
      if (w < 34 * view.ratio || h < size + 2) return;
      context.save();
      context.beginPath();
      context.rect(x, y, w - 2, h);
      context.clip();
      context.fillStyle = shown.fg;
      context.font = `${size}px system-ui, sans-serif`;
      context.fillText(text, x + 3 * view.ratio, y + 1);
      context.restore();
    };
    const drawFolder = (at) => {
      const [x, y, w, h] = box(folders[at], D_X);
      if (w < 1 || h < 1) return;
      if (at !== folder) {
        context.fillStyle = shown.panel;
        context.fillRect(x, y, w, h);
        context.strokeStyle = shown.line;
        context.strokeRect(x + 0.5, y + 0.5, w - 1, h - 1);
        label(folders[at][D_NAME] + '/', x, y, w, h, Math.min(13 * view.ratio, Math.max(8 * view.ratio, (h / 8) * 0.8)));
      }
      subfolders[at].forEach(drawFolder);
      ownFiles[at].forEach(drawFile);
    };
    const drawFile = (i) => {
      if (files[i][TOKENS] < 0) return;
      const [x, y, w, h] = box(files[i], X);
      if (w < 0.4 || h < 0.4) return;
      context.fillStyle = colour(i);
      context.fillRect(x, y, Math.max(1, w - 1), Math.max(1, h - 1));
      const edge = (style, width) => { context.strokeStyle = style; context.lineWidth = width * view.ratio; context.strokeRect(x + width, y + width, Math.max(1, w - 2 * width - 1), Math.max(1, h - 2 * width - 1)); context.lineWidth = 1; };
      if (cycleOf.has(i) && w > 4) edge(shown.warn, 1);
      if (files[i][WHY] !== 0) edge(shown.pick, 2);
      if (i === chosen) edge(shown.accent, 3);
      label(files[i][NAME], x, y, w, h, 11 * view.ratio);
    };
    drawFolder(folder);
    document.body.dataset.drawn = 'yes';
  }
  let pending = 0;
  const redraw = () => { if (!pending) pending = requestAnimationFrame(() => { pending = 0; if (!hops) draw(); }); };
  function under(event) {
    const view = frame();
    const bounds = canvas.getBoundingClientRect();
    const x = ((event.clientX - bounds.left) * view.ratio) / view.scaleX + view.x;
    const y = ((event.clientY - bounds.top) * view.ratio) / view.scaleY + view.y;
    const inside = (entry, at) => x >= entry[at] && x < entry[at] + entry[at + 2] && y >= entry[at + 1] && y < entry[at + 1] + entry[at + 3];
    let at = folder;
    for (;;) {
      const file = ownFiles[at].find((i) => files[i][TOKENS] >= 0 && inside(files[i], X));
      if (file !== undefined) return { file, folder: at };
      const next = subfolders[at].find((i) => inside(folders[i], D_X));
      if (next === undefined) return { file: -1, folder: at };
      at = next;
    }
  }
  canvas.addEventListener('mousemove', (event) => {
    const found = under(event);
    if (found.file === hovered) return;
    hovered = found.file;
    element('tip').textContent = found.file >= 0 ? `${path(found.file)} · ${number(files[found.file][TOKENS])} tokens · ${number(importers[found.file].length)} dependents` : folderPath[found.folder] || 'the root';
  });
  canvas.addEventListener('click', (event) => { const found = under(event); if (found.file >= 0) choose(found.file); else open(found.folder); });
  canvas.addEventListener('dblclick', (event) => open(under(event).folder));
  canvas.addEventListener('keydown', (event) => {
    const steps = { ArrowRight: 1, ArrowDown: 1, ArrowLeft: -1, ArrowUp: -1 };
    if (event.key === 'Backspace') { open(folders[folder][D_PARENT]); event.preventDefault(); return; }
    if (event.key === 'Enter' && chosen >= 0) { showLinks(1); return; }
    if (!(event.key in steps)) return;
    event.preventDefault();
    const around = everyFile(folder);
    if (!around.length) return;
    const position = around.indexOf(chosen);
    choose(around[(position + steps[event.key] + around.length) % around.length]);
  });
  function everyFile(at) {
    const found = [];
    const walk = (one) => { ownFiles[one].forEach((i) => files[i][TOKENS] >= 0 && found.push(i)); subfolders[one].forEach(walk); };
    walk(at);
    return found.sort((a, b) => files[b][TOKENS] - files[a][TOKENS] || a - b);
  }

  // --- pieces of the page
  const make = (tag, text, attributes = {}) => {
    const made = document.createElement(tag);
    if (text !== undefined) made.textContent = text;
    for (const [name, value] of Object.entries(attributes)) made.setAttribute(name, value);
    return made;
  };
  const button = (text, act) => { const made = make('button', text, { type: 'button', class: 'link' }); made.addEventListener('click', act); return made; };
  const fileButton = (i) => button(path(i), () => choose(i, true));
  function list(entries, row) {
    const made = make('ol');
    entries.slice(0, LISTED).forEach((entry) => { const item = make('li'); item.append(...row(entry)); made.append(item); });
    const parts = [made];
    if (entries.length > LISTED) parts.push(make('p', `and ${number(entries.length - LISTED)} more`));
    return parts;
  }
  const tokens = (i) => (files[i][TOKENS] < 0 ? `${number(files[i][BYTES])} bytes` : `${number(files[i][TOKENS])} tokens`);

  // --- lists
  const tabs = {
    folder: { title: 'Folder', count: () => undefined, show: () => {
      const inside = [...subfolders[folder].map((at) => ({ at, weight: folders[at][D_TOKENS] })), ...ownFiles[folder].map((i) => ({ i, weight: Math.max(0, files[i][TOKENS]) }))];
      inside.sort((a, b) => b.weight - a.weight);
      return list(inside, (one) => one.at !== undefined
        ? [button(folders[one.at][D_NAME] + '/', () => open(one.at)), make('span', `${number(folders[one.at][D_TOKENS])} tokens, ${number(folders[one.at][D_FILES])} files`)]
        : [button(files[one.i][NAME], () => choose(one.i, true)), make('span', tokens(one.i))]);
    } },
    selected: { title: 'Selected', count: () => selected.length, show: () => selected.length
      ? list(selected, (i) => [fileButton(i), make('span', files[i][WHY])])
      : [make('p', 'Nothing is selected. `stan suggest --about "…"` proposes a selection.')] },
    dependents: { title: 'Dependents', count: () => byUse.length, show: () => list(byUse, (i) => [fileButton(i), make('span', `${number(importers[i].length)} files`)]) },
    cycles: { title: 'Cycles', count: () => cycles.length, show: () => cycles.length ? list(cycles, ([members, ring]) => {
      const parts = make('div');
      parts.append(make('span', `${number(members.length)} files: `));
      ring.slice(0, 12).forEach((i) => { parts.append(fileButton(i), make('span', ' → ')); });
      parts.append(make('span', ring.length > 12 ? `… ${number(ring.length - 12)} more` : ring.length ? files[ring[0]][NAME] : ''));
      return [parts];
    }) : [make('p', 'There are no import cycles.')] },
    missing: { title: 'Missing', count: () => missing.length, show: () => missing.length ? list(missing, ([name, users]) => {
      const parts = make('div');
      parts.append(make('span', name + ' ', { class: 'warn' }));
      users.slice(0, 3).forEach((i) => parts.append(fileButton(i), make('span', ' ')));
      if (users.length > 3) parts.append(make('span', `and ${number(users.length - 3)} more`));
      return [parts];
    }) : [make('p', 'Every import has a target.')] },
    packages: { title: 'Packages', count: () => packages.length, show: () => list(packages, ([name, version, users]) => [make('div', `${name} ${version || '(not installed)'}`), make('span', `${number(users)} files`)]) },
    found: { title: 'Found', count: () => undefined, show: () => {
      const typed = element('search').value.trim().toLowerCase();
      if (!typed) return [make('p', 'Type a part of a path or of an exported name.')];
      const score = (i) => {
        const whole = path(i).toLowerCase();
        const name = files[i][NAME].toLowerCase();
        if (name === typed || whole === typed) return 0;
        if (name.startsWith(typed)) return 1;
        if (name.includes(typed)) return 2;
        if (files[i][EXPORTS].some((one) => one.toLowerCase().includes(typed))) return 3;
        return whole.includes(typed) ? 4 : 9;
      };
      const found = files.map((_, i) => [score(i), i]).filter(([points]) => points < 9).sort((a, b) => a[0] - b[0] || a[1] - b[1]);
      return [make('p', `${number(found.length)} files`), ...list(found, ([, i]) => [fileButton(i), make('span', tokens(i))])];
    } },
  };
  const strip = element('tabs');
  Object.keys(tabs).forEach((name) => {
    const made = make('button', '', { type: 'button', role: 'tab', id: `tab-${name}`, 'aria-controls': 'panel' });
    made.addEventListener('click', () => { tab = name; showTab(); });
    strip.append(made);
  });
  strip.addEventListener('keydown', (event) => {
    const names = Object.keys(tabs);
    const step = { ArrowRight: 1, ArrowLeft: -1 }[event.key];
    if (!step) return;
    tab = names[(names.indexOf(tab) + step + names.length) % names.length];
    showTab();
    element(`tab-${tab}`).focus();
  });
  function showTab() {
    for (const [name, one] of Object.entries(tabs)) {
      const made = element(`tab-${name}`);
      const count = one.count();
      made.textContent = count === undefined ? one.title : `${one.title} ${number(count)}`;
      made.setAttribute('aria-selected', String(name === tab));
      made.tabIndex = name === tab ? 0 : -1;
    }
    element('panel').setAttribute('aria-labelledby', `tab-${tab}`);
    element('panel').replaceChildren(...tabs[tab].show());
  }

  // --- details of a file
  function neighbours(title, packed) {
    if (!packed.length) return [];
    const made = make('ul');
    packed.slice(0, 40).forEach((one) => { const item = make('li'); item.append(fileButton(one >>> 3)); const kinds = ['runtime', 'type', 'dynamic'].filter((_, bit) => (one & 7) >> bit & 1); if (kinds.join() !== 'runtime') item.append(make('span', ` ${kinds.join(', ')}`)); made.append(item); });
    if (packed.length > 40) made.append(make('li', `and ${number(packed.length - 40)} more`));
    return [make('h3', `${title} (${number(packed.length)})`), made];
  }
  function showDetail() {
    const detail = element('detail');
    detail.hidden = chosen < 0;
    if (chosen < 0) return;
    const file = files[chosen];
    const actions = make('p');
    [['Links', 1], ['Two hops', 2], ['Treemap', 0]].forEach(([text, count]) => { const made = make('button', text, { type: 'button', id: `hops-${count}` }); made.addEventListener('click', () => showLinks(count)); actions.append(made, ' '); });
    const parts = [make('h2', path(chosen)), make('p', tokens(chosen) + (file[ABOUT] ? ` · ${file[ABOUT]}` : ''))];
    if (file[WHY] !== 0) parts.push(make('p', `Selected: ${file[WHY]}`, { class: 'why' }));
    if (cycleOf.has(chosen)) parts.push(make('p', `In a cycle of ${number(cycles[cycleOf.get(chosen)][0].length)} files`, { class: 'warn' }));
    parts.push(actions);
    if (file[EXPORTS].length) parts.push(make('p', `Exports ${file[EXPORTS].join(', ')}`));
    parts.push(...neighbours('Imports', file[IMPORTS]), ...neighbours('Imported by', importers[chosen]));
    parts.push(...neighbours('Tests', file[TESTS].map((i) => i * 8 + 1)));
    if (file[PACKAGES].length) parts.push(make('h3', 'Packages'), make('p', file[PACKAGES].map((i) => packages[i][0]).join(', ')));
    const command = make('p', 'Context for this file: ');
    command.append(make('code', `stan pack --focus '${path(chosen).replaceAll("'", "'\\''")}'`));
    parts.push(command);
    detail.replaceChildren(...parts);
  }

  // --- one or two hops as columns: importers on the left, imports on the right
  const COLUMN = 25;
  function showLinks(count) {
    hops = count;
    canvas.hidden = count > 0;
    canvas.style.display = count > 0 ? 'none' : '';
    element('links').hidden = count === 0;
    if (!count) { draw(); return; }
    const columns = new Map([[0, [chosen]]]);
    const seen = new Set([chosen]);
    const cut = new Map();
    for (const side of [1, -1]) {
      for (let hop = 1; hop <= count; hop++) {
        const found = [];
        for (const from of columns.get(side * (hop - 1)) || []) for (const packed of side > 0 ? files[from][IMPORTS] : importers[from]) { const to = packed >>> 3; if (!seen.has(to)) { seen.add(to); found.push(to); } }
        found.sort((a, b) => importers[b].length - importers[a].length || a - b);
        cut.set(side * hop, Math.max(0, found.length - COLUMN));
        columns.set(side * hop, found.slice(0, COLUMN));
      }
    }
    drawLinks(columns, cut, count);
  }
  const svg = (tag, attributes) => { const made = document.createElementNS('http://www.w3.org/2000/svg', tag); for (const [name, value] of Object.entries(attributes)) made.setAttribute(name, value); return made; };
  function drawLinks(columns, cut, count) {
    const [width, rowHeight, boxWidth] = [260, 30, 200];
    const tallest = Math.max(...[...columns.values()].map((column) => column.length)) + 1;
    const height = Math.max(tallest * rowHeight + 40, 200);
    const root = svg('svg', { width: (2 * count + 1) * width, height, role: 'group', 'aria-label': `Links of ${path(chosen)}` });
    const position = new Map();
    for (const [column, entries] of columns) entries.forEach((i, row) => position.set(i, [(column + count) * width + 20, (height - entries.length * rowHeight) / 2 + row * rowHeight]));
    for (const [from, [x, y]] of position) for (const packed of files[from][IMPORTS]) {
      const target = position.get(packed >>> 3);
      if (!target || target[0] - x !== width) continue; // links inside a column and back only hide the others
      const [x1, y1, x2, y2] = [x + boxWidth, y + 11, target[0], target[1] + 11];
      const kind = packed & 1 ? 'runtime' : packed & 2 ? 'type' : 'dynamic';
      const bend = x2 >= x1 ? (x2 - x1) / 2 : 40;
      root.append(svg('path', { class: kind, d: `M${x1} ${y1}C${x1 + bend} ${y1} ${x2 - bend} ${y2} ${x2} ${y2}` }));
    }
    for (const [i, [x, y]] of position) {
      const group = svg('g', { role: 'button', tabindex: 0, class: [i === chosen ? 'centre' : '', cycleOf.has(i) ? 'cycle' : ''].join(' ').trim(), 'aria-label': path(i) });
      group.append(svg('rect', { x, y, width: boxWidth, height: 22, rx: 3 }));
      const text = svg('text', { x: x + 6, y: y + 15 });
      const name = files[i][NAME];
      text.textContent = name.length > 30 ? `${name.slice(0, 29)}…` : name;
      const hint = svg('title', {});
      hint.textContent = path(i);
      group.append(text, hint);
      const go = () => { choose(i); showLinks(hops); };
      group.addEventListener('click', go);
      group.addEventListener('keydown', (event) => { if (event.key === 'Enter' || event.key === ' ') { event.preventDefault(); go(); } });
      root.append(group);
    }
    for (const column of columns.keys()) {
      const text = svg('text', { x: (column + count) * width + 20, y: 14 });
      text.textContent = column === 0 ? '' : `${Math.abs(column) === 2 ? 'two hops: ' : ''}${column < 0 ? 'imported by' : 'imports'}`;
      root.append(text);
    }
    for (const [column, left] of cut) if (left) {
      const text = svg('text', { x: (column + count) * width + 26, y: height - 6 });
      text.textContent = `+ ${number(left)} more`;
      root.append(text);
    }
    element('links').replaceChildren(root);
    element('links').scrollLeft = Math.max(0, (2 * count + 1) * width / 2 - element('links').clientWidth / 2);
  }

  // --- moving about
  function open(at) {
    folder = at;
    if (hops) showLinks(0);
    const crumbs = element('crumbs');
    const way = [];
    for (let one = at; ; one = folders[one][D_PARENT]) { way.unshift(one); if (!one) break; }
    findBranches();
    const below = folderPath[at];
    folderRank = rank(files.map((file) => branch[file[FOLDER]]), (i) => folderPath[files[i][FOLDER]].startsWith(below));
    legend();
    crumbs.replaceChildren();
    way.forEach((one) => crumbs.append(button(one ? folders[one][D_NAME] : 'root', () => open(one)), ' / '));
    if (tab === 'folder') showTab();
    redraw();
  }
  function choose(i, isFromList) {
    chosen = i;
    if (isFromList && !folderPath[files[i][FOLDER]].startsWith(folderPath[folder])) open(0);
    location.replace('#' + encodeURIComponent(path(i)));
    showDetail();
    if (hops) showLinks(hops); else redraw();
  }
  function legend() {
    const parts = [];
    const entry = (paint, text) => { const item = make('li'); const swatch = make('i'); swatch.style.background = paint; item.append(swatch, make('span', text)); parts.push(item); };
    const mode = element('colour').value;
    if (mode === 'folder') [...folderRank].slice(0, 8).forEach(([at, position]) => entry(hue(position, light()), at === folder ? '(here)' : folders[at][D_NAME]));
    if (mode === 'language') [...languageRank].slice(0, 8).forEach(([name, position]) => entry(hue(position, light()), name));
    if (mode === 'dependents') { entry(isDark() ? 'hsl(10 20% 22%)' : 'hsl(10 20% 93%)', 'few'); entry(isDark() ? 'hsl(10 75% 52%)' : 'hsl(10 85% 53%)', `up to ${number(mostUsed)}`); }
    entry('var(--pick)', 'selected');
    entry('var(--warn)', 'in a cycle');
    element('legend').replaceChildren(...parts);
  }
  element('colour').addEventListener('change', () => { legend(); redraw(); });
  element('search').addEventListener('input', () => { tab = element('search').value.trim() ? 'found' : 'folder'; showTab(); });
  element('search').addEventListener('keydown', (event) => { if (event.key === 'Enter') { const first = element('panel').querySelector('ol button'); if (first) first.click(); } });
  document.addEventListener('keydown', (event) => {
    if (event.key === '/' && document.activeElement !== element('search')) { element('search').focus(); event.preventDefault(); }
    if (event.key === 'Escape') { if (hops) showLinks(0); else if (chosen >= 0) { chosen = -1; showDetail(); redraw(); } }
  });
  function theme(isDarkNow) {
    document.documentElement.dataset.theme = isDarkNow ? 'dark' : 'light';
    element('theme').textContent = isDarkNow ? 'Light' : 'Dark';
    legend();
    redraw();
  }
  element('theme').addEventListener('click', () => theme(!isDark()));
  new ResizeObserver(redraw).observe(canvas);

  // --- start
  const code = files.filter((file) => file[TOKENS] >= 0);
  element('totals').textContent = `${number(files.length)} files, ${number(code.length)} of code with ${number(folders[0][D_TOKENS])} ${data.tokenizer} tokens · ${number(cycles.length)} cycles · ${number(missing.length)} missing · ${number(selected.length)} selected`;
  element('tip').textContent = data.notes.join(' · ');
  theme(matchMedia('(prefers-color-scheme: dark)').matches);
  showTab();
  open(0);
  const fromAddress = () => { try { return decodeURIComponent(location.hash.slice(1)); } catch { return ''; } };
  const wanted = fromAddress() || data.focus;
  if (wanted) {
    const file = files.findIndex((_, i) => path(i) === wanted);
    const at = folderPath.indexOf(wanted.endsWith('/') ? wanted : wanted + '/');
    if (file >= 0) { open(files[file][FOLDER]); choose(file); } else if (at > 0) open(at);
  }
  draw();
})();
