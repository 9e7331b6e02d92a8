/**
 * What the HTML report does in a browser. A text, because it must reach the page as it is: a bundler may not touch it.
 * Captured content is only ever set as text.
 */
export const pageScript: string = String.raw`
'use strict';
(() => {
const $ = (id) => document.getElementById(id);
const rowHeight = 26, laneHeight = 18, axisTop = 20, nameWidth = 190;
const list = $('list'), space = $('space'), search = $('search'), count = $('count'), detail = $('detail');
const lanesBox = $('lanes'), canvas = $('axis'), lanesSpace = $('lanes-space'), span = $('span'), scaleBox = $('scale');
const info = JSON.parse($('info').textContent);
const rows = [], bySeq = new Map(), lanes = info.lanes.map((name) => ({ name, items: [] }));
let shown = [], chosen = -1, instants = [], view = { from: 0, to: 1 }, waiting = 0;

// Loading: a few blocks at a time, so that the page stays responsive.
const blocks = [...document.querySelectorAll('script[data-rows]')];
const load = () => {
  const end = performance.now() + 25;
  while (blocks.length > 0 && performance.now() < end) {
    const block = blocks.shift();
    for (const row of JSON.parse(block.textContent)) {
      const moment = new Date(row.at).toISOString();
      row.date = moment.slice(0, -14); row.time = moment.slice(-13, -1);
      row.id = (row.entry.messageId ?? '').toLowerCase();
      row.place = rows.length;
      bySeq.set(row.seq, row.place);
      for (const lane of row.lanes) lanes[lane].items.push(row.place);
      rows.push(row);
    }
    block.remove();
  }
  if (blocks.length > 0) { count.textContent = 'Loading: ' + rows.length + ' of ' + info.size + ' entries'; setTimeout(load); return; }
  for (const row of rows) { instants.push(row.at); if (row.end !== undefined) instants.push(row.end); if (row.until !== undefined) instants.push(row.until); }
  instants = [...new Set(instants)].sort((a, b) => a - b);
  lanesSpace.style.height = Math.max(0, lanes.length * laneHeight + axisTop - lanesBox.clientHeight) + 'px';
  filter();
  fit();
  document.documentElement.dataset.ready = 'true';
};

// The list.
const textOf = (row) => row.text ??= (row.head + ' ' + row.details.join(' ')).toLowerCase();
const filter = () => {
  const types = new Set([...document.querySelectorAll('input[name=type]:checked')].map((box) => box.value));
  const words = search.value.toLowerCase().split(/\s+/).filter((word) => word !== '');
  const before = chosen >= 0 ? rows[chosen] : undefined;
  shown = [];
  for (const row of rows) if (types.has(row.type) && words.every((word) => textOf(row).includes(word) || (row.id !== '' && row.id === word))) shown.push(row.place);
  count.textContent = shown.length === rows.length ? rows.length + ' entries' : shown.length + ' of ' + rows.length + ' entries';
  space.style.height = shown.length * rowHeight + 'px';
  if (before !== undefined && !shown.includes(before.place)) { chosen = -1; list.removeAttribute('aria-activedescendant'); }
  drawn.clear(); space.replaceChildren();
  drawRows(); drawAxis();
};
const drawn = new Map();
const drawRows = () => {
  const first = Math.max(0, Math.floor(list.scrollTop / rowHeight) - 8);
  const last = Math.min(shown.length, Math.ceil((list.scrollTop + list.clientHeight) / rowHeight) + 8);
  for (const [place, element] of drawn) if (place < first || place >= last) { element.remove(); drawn.delete(place); }
  const fresh = document.createDocumentFragment();
  for (let place = first; place < last; place++) {
    if (drawn.has(place)) continue;
    const row = rows[shown[place]], element = document.createElement('div');
    element.className = 'row ' + row.look; element.id = 'row-' + row.seq; element.setAttribute('role', 'option');
    element.setAttribute('aria-setsize', shown.length); element.setAttribute('aria-posinset', place + 1);
    element.setAttribute('aria-selected', row.place === chosen); element.style.top = place * rowHeight + 'px'; element.dataset.place = row.place;
    const part = (name, text) => { const piece = document.createElement('span'); piece.className = name; piece.textContent = text; element.append(piece); };
    part('n', ('#' + row.seq).padStart(info.digits + 1) + '  '); part('t', row.time + '  '); part('h', '  '.repeat(row.depth) + row.head);
    drawn.set(place, element); fresh.append(element);
  }
  space.append(fresh);
};
const choose = (place, follow) => {
  if (place === undefined || place < 0 || place >= rows.length) return;
  chosen = place;
  const at = shown.indexOf(place);
  if (at >= 0 && follow !== false) {
    const top = at * rowHeight;
    if (top < list.scrollTop) list.scrollTop = top;
    else if (top + rowHeight > list.scrollTop + list.clientHeight) list.scrollTop = top + rowHeight - list.clientHeight;
  }
  drawRows();
  for (const element of drawn.values()) element.setAttribute('aria-selected', Number(element.dataset.place) === chosen);
  if (at >= 0) list.setAttribute('aria-activedescendant', 'row-' + rows[place].seq);
  showDetail(rows[place]); drawAxis();
};
list.addEventListener('scroll', () => requestAnimationFrame(drawRows), { passive: true });
list.addEventListener('click', (event) => { const element = event.target.closest('.row'); if (element) choose(Number(element.dataset.place)); });
list.addEventListener('keydown', (event) => {
  const at = shown.indexOf(chosen), page = Math.max(1, Math.floor(list.clientHeight / rowHeight) - 1);
  const to = { ArrowDown: at + 1, ArrowUp: at < 0 ? shown.length - 1 : at - 1, PageDown: at + page, PageUp: at - page, Home: 0, End: shown.length - 1 }[event.key];
  if (to !== undefined && !event.ctrlKey && !event.metaKey) { event.preventDefault(); choose(shown[Math.min(shown.length - 1, Math.max(0, to))]); }
  else if (event.key === 'Enter' && chosen >= 0) detail.focus();
});
detail.addEventListener('keydown', (event) => { if (event.key === 'Escape') list.focus(); });
const later = (work) => { clearTimeout(waiting); waiting = setTimeout(work, 80); };
search.addEventListener('input', () => later(filter));
for (const box of document.querySelectorAll('input[name=type]')) box.addEventListener('change', filter);
$('clear').addEventListener('click', () => { search.value = ''; for (const box of document.querySelectorAll('input[name=type]')) box.checked = true; filter(); search.focus(); });

// Details of one entry.
const make = (name, text) => { const element = document.createElement(name); if (text !== undefined) element.textContent = text; return element; };
const isBody = (name) => name === 'body';
const isHeaders = (name, value) => name === 'headers' && Array.isArray(value) && value.every(Array.isArray);
const plain = (value) => typeof value === 'string' ? value : JSON.stringify(value);
const headersTable = (value) => {
  const table = make('table'), body = make('tbody');
  for (const [name, text] of value) { const line = make('tr'), cell = make('th', name); cell.scope = 'row'; line.append(cell, make('td', text)); body.append(line); }
  table.append(body); return table;
};
const bodyBlock = (value) => {
  const block = make('pre', typeof value === 'string' ? value : value.cut !== undefined ? plain(value.cut) + '\n… cut: ' + value.size + ' bytes' : 'base64: ' + value.base64);
  block.tabIndex = 0; return block;
};
const section = (into, title, fields, level) => {
  const names = Object.entries(fields), facts = make('dl');
  if (title) into.append(make(level, title));
  for (const [name, value] of names) if (!isBody(name) && !isHeaders(name, value) && (typeof value !== 'object' || value === null || Array.isArray(value))) facts.append(make('dt', name), make('dd', plain(value)));
  if (facts.children.length > 0) into.append(facts);
  for (const [name, value] of names) {
    if (isHeaders(name, value)) { if (value.length > 0) into.append(make(level === 'h3' ? 'h4' : 'h3', (title ? title + ': ' : '') + 'headers'), headersTable(value)); }
    else if (isBody(name)) { if (value !== '' && value !== null) { const block = bodyBlock(value); block.setAttribute('aria-label', (title ? title + ' ' : '') + 'body'); into.append(make(level === 'h3' ? 'h4' : 'h3', (title ? title + ': ' : '') + 'body'), block); } }
    else if (typeof value === 'object' && value !== null && !Array.isArray(value)) section(into, (title ? title + ': ' : '') + name, value, 'h3');
  }
};
const showDetail = (row) => {
  const body = $('detail-body'), links = make('div'), reasons = make('ul');
  $('detail-title').textContent = '#' + row.seq + ' ' + row.type + ', ' + row.date + ' ' + row.time;
  body.replaceChildren(make('p', row.head));
  for (const reason of row.details) reasons.append(make('li', reason));
  if (row.details.length > 0) body.append(reasons);
  links.className = 'tools';
  const link = (text, go) => { const button = make('button', text); button.type = 'button'; button.addEventListener('click', go); links.append(button); };
  const go = (place) => { if (!shown.includes(place)) $('clear').click(); choose(place); list.focus(); };
  if (row.cause !== undefined && bySeq.has(row.cause)) link('Cause: #' + row.cause, () => go(bySeq.get(row.cause)));
  for (const seq of row.effects) if (bySeq.has(seq)) link('Led to: #' + seq, () => go(bySeq.get(seq)));
  if (row.id !== '') link('Only this message', () => { search.value = row.entry.messageId; filter(); choose(row.place); search.focus(); });
  link('Show on the time axis', () => { lookAt(row); });
  body.append(links);
  section(body, '', row.entry, 'h3');
};

// The time axis.
const place = (at) => {
  const first = instants[0], last = instants[instants.length - 1];
  if (instants.length < 2) return 0.5;
  if (scaleBox.value === 'time') return (at - first) / (last - first);
  let low = 0, high = instants.length - 1;
  while (high - low > 1) { const middle = (low + high) >> 1; if (instants[middle] <= at) low = middle; else high = middle; }
  return (low + (at - instants[low]) / (instants[high] - instants[low])) / (instants.length - 1);
};
const instantAt = (part) => {
  if (instants.length < 2) return instants[0] ?? 0;
  const clipped = Math.min(1, Math.max(0, part));
  if (scaleBox.value === 'time') return instants[0] + clipped * (instants[instants.length - 1] - instants[0]);
  const step = clipped * (instants.length - 1), low = Math.min(instants.length - 2, Math.floor(step));
  return instants[low] + (step - low) * (instants[low + 1] - instants[low]);
};
const clock = (at) => { const text = new Date(at).toISOString(); return info.oneDay ? text.slice(11, 23) : text.slice(5, 10) + ' ' + text.slice(11, 23); };
const width = () => canvas.clientWidth - nameWidth - 16;
const x = (at) => nameWidth + 4 + (place(at) - view.from) / (view.to - view.from) * width();
let colours = {};
const readColours = () => { const style = getComputedStyle(document.documentElement); for (const name of ['paper', 'ink', 'soft', 'line', 'shade', 'pick', 'ok', 'bad', 'wait', 'call', 'store', 'move', 'focus']) colours[name] = style.getPropertyValue('--' + name).trim(); };
let asked = false;
const drawAxis = () => { if (!asked) { asked = true; requestAnimationFrame(() => { asked = false; paint(); }); } };
const paint = () => {
  const ratio = devicePixelRatio || 1, wide = lanesBox.clientWidth, high = lanesBox.clientHeight;
  if (canvas.width !== Math.round(wide * ratio) || canvas.height !== Math.round(high * ratio)) { canvas.width = Math.round(wide * ratio); canvas.height = Math.round(high * ratio); canvas.style.height = high + 'px'; }
  const pen = canvas.getContext('2d'); pen.setTransform(ratio, 0, 0, ratio, 0, 0); pen.fillStyle = colours.paper; pen.fillRect(0, 0, wide, high);
  pen.font = '11px ui-monospace, monospace'; pen.textBaseline = 'middle';
  const top = lanesBox.scrollTop, firstLane = Math.floor(top / laneHeight), lastLane = Math.min(lanes.length, Math.ceil((top + high) / laneHeight) + 1);
  pen.save(); pen.beginPath(); pen.rect(0, axisTop, wide, high - axisTop); pen.clip();
  for (let lane = firstLane; lane < lastLane; lane++) {
    const y = axisTop + lane * laneHeight - top;
    if (lane % 2 === 0) { pen.fillStyle = colours.shade; pen.fillRect(0, y, wide, laneHeight); }
  }
  pen.save(); pen.beginPath(); pen.rect(nameWidth - 6, axisTop, wide, high); pen.clip();
  let drawnAt = new Map();
  for (let lane = firstLane; lane < lastLane; lane++) {
    const middle = axisTop + lane * laneHeight - top + laneHeight / 2;
    drawnAt = new Map();
    for (const index of lanes[lane].items) {
      const row = rows[index], from = x(row.at), to = row.end === undefined ? from : x(row.end), until = row.until === undefined ? to : x(row.until);
      if (until < nameWidth || from > wide) continue;
      const chosenHere = index === chosen, spot = Math.round(from) + ' ' + Math.round(until) + row.look + row.type;
      if (drawnAt.has(spot) && !chosenHere) continue;
      drawnAt.set(spot, true);
      pen.strokeStyle = pen.fillStyle = colours[row.look] || colours.soft; pen.lineWidth = 1;
      if (until > to) { pen.strokeStyle = colours.wait; pen.setLineDash([3, 3]); pen.beginPath(); pen.moveTo(to, middle); pen.lineTo(until, middle); pen.stroke(); pen.setLineDash([]); pen.strokeStyle = pen.fillStyle; }
      if (row.type === 'attempt') {
        const long = Math.max(5, to - from);
        if (row.look === 'bad') { pen.strokeRect(from + 0.5, middle - 4.5, long - 1, 9); pen.beginPath(); pen.moveTo(from, middle - 4); pen.lineTo(from + 5, middle + 4); pen.stroke(); }
        else pen.fillRect(from, middle - 5, long, 10);
      } else if (row.type === 'published') { pen.beginPath(); pen.moveTo(from, middle - 5); pen.lineTo(from + 5, middle); pen.lineTo(from, middle + 5); pen.lineTo(from - 5, middle); pen.fill(); }
      else if (to > from + 2) pen.fillRect(from, middle - 2, to - from, 4);
      else { pen.beginPath(); pen.arc(from, middle, 3, 0, 7); pen.fill(); }
      if (row.from !== undefined && row.type === 'published') {
        const source = axisTop + row.from * laneHeight - top + laneHeight / 2;
        pen.strokeStyle = colours.call; pen.beginPath(); pen.moveTo(from, source); pen.lineTo(from, middle); pen.stroke();
      }
      if (chosenHere) { pen.strokeStyle = colours.focus; pen.lineWidth = 2; pen.strokeRect(from - 6, middle - 8, Math.max(12, to - from + 12), 16); }
    }
  }
  pen.restore();
  for (let lane = firstLane; lane < lastLane; lane++) {
    pen.fillStyle = colours.ink; pen.fillText(lanes[lane].name, 6, axisTop + lane * laneHeight - top + laneHeight / 2, nameWidth - 12);
  }
  pen.restore();
  pen.strokeStyle = colours.line; pen.lineWidth = 1; pen.beginPath(); pen.moveTo(0, axisTop - 0.5); pen.lineTo(wide, axisTop - 0.5); pen.moveTo(nameWidth - 6.5, 0); pen.lineTo(nameWidth - 6.5, high); pen.stroke();
  pen.fillStyle = colours.soft;
  const steps = Math.max(1, Math.floor(width() / 130));
  for (let step = 0; step <= steps; step++) {
    const part = view.from + (view.to - view.from) * step / steps, left = nameWidth + 4 + width() * step / steps;
    pen.textAlign = step === 0 ? 'left' : step === steps ? 'right' : 'center'; pen.fillText(clock(instantAt(part)), left, 10);
  }
  pen.textAlign = 'left';
};
const tell = () => { span.textContent = clock(instantAt(view.from)) + ' to ' + clock(instantAt(view.to)); drawAxis(); };
const zoom = (factor, around = 0.5) => {
  const size = Math.min(1, Math.max(1e-9, (view.to - view.from) * factor)), middle = view.from + (view.to - view.from) * around;
  view.from = Math.min(1 - size, Math.max(0, middle - size * around)); view.to = view.from + size; tell();
};
const pan = (by) => { const size = view.to - view.from; view.from = Math.min(1 - size, Math.max(0, view.from + by * size)); view.to = view.from + size; tell(); };
const fit = () => { view = { from: 0, to: 1 }; tell(); };
const lookAt = (row) => {
  const middle = place(row.at), size = Math.min(0.1, view.to - view.from);
  view.from = Math.min(1 - size, Math.max(0, middle - size / 2)); view.to = view.from + size;
  if (row.lanes.length > 0) lanesBox.scrollTop = row.lanes[0] * laneHeight - lanesBox.clientHeight / 2;
  tell();
};
$('zoom-in').addEventListener('click', () => zoom(0.5)); $('zoom-out').addEventListener('click', () => zoom(2));
$('earlier').addEventListener('click', () => pan(-0.25)); $('later').addEventListener('click', () => pan(0.25));
$('fit').addEventListener('click', fit); scaleBox.addEventListener('change', fit);
lanesBox.addEventListener('scroll', drawAxis, { passive: true });
canvas.addEventListener('wheel', (event) => { if (!event.ctrlKey && !event.altKey) return; event.preventDefault(); zoom(event.deltaY > 0 ? 1.25 : 0.8, Math.min(1, Math.max(0, (event.offsetX - nameWidth) / width()))); }, { passive: false });
let drag;
canvas.addEventListener('pointerdown', (event) => { drag = { x: event.offsetX, moved: false }; canvas.setPointerCapture(event.pointerId); });
canvas.addEventListener('pointermove', (event) => { if (!drag) return; const by = event.offsetX - drag.x; if (Math.abs(by) < 4 && !drag.moved) return; drag.moved = true; drag.x = event.offsetX; pan(-by / width()); });
canvas.addEventListener('pointerup', (event) => {
  const was = drag; drag = undefined;
  if (!was || was.moved) return;
  const lane = lanes[Math.floor((event.offsetY - axisTop + lanesBox.scrollTop) / laneHeight)];
  let best, distance = 12;
  for (const index of lane ? lane.items : []) { const row = rows[index], from = x(row.at), to = row.end === undefined ? from : x(row.end); const away = event.offsetX < from ? from - event.offsetX : event.offsetX > to ? event.offsetX - to : 0; if (away < distance) { best = index; distance = away; } }
  if (best !== undefined) { if (!shown.includes(best)) $('clear').click(); choose(best); }
});
addEventListener('resize', () => { drawRows(); drawAxis(); });
matchMedia('(prefers-color-scheme: dark)').addEventListener('change', () => { readColours(); drawAxis(); });
readColours(); load();
})();
`
