#include "digest/html_assets.h"

namespace rapideye::digest {

const char kPageStyle[] = R"css(
:root { color-scheme: light dark; --line: #8886; --bad: #d32f2f; --missing: #111; }
body { font: 15px/1.45 system-ui, sans-serif; margin: 0 auto; max-width: 76rem; padding: 1rem; }
h1 { font-size: 1.25rem; } h2 { font-size: 1.05rem; margin-top: 1.6rem; }
.verdict { border-left: .4rem solid var(--bad); padding: .1rem 1rem; }
.verdict.fine { border-color: #2e7d32; }
.facts span { display: inline-block; margin-right: 1.4rem; }
code, td.data, th, .names { font-family: ui-monospace, monospace; font-size: .85rem; }
.names, td.data { overflow-wrap: anywhere; }
table { border-collapse: collapse; width: 100%; }
th, td { border-bottom: 1px solid var(--line); padding: .2rem .5rem; text-align: left; vertical-align: top; }
th { cursor: pointer; user-select: none; white-space: nowrap; }
tr.culprit td:first-child { border-left: .3rem solid var(--bad); }
#map { max-width: 100%; overflow: auto; max-height: 70vh; border: 1px solid var(--line); }
#map canvas { display: block; }
#tip { position: fixed; pointer-events: none; display: none; white-space: pre; z-index: 1; padding: .3rem .5rem;
       background: #222; color: #fff; font: .8rem ui-monospace, monospace; border-radius: .2rem; }
.legend span { display: inline-block; margin: .1rem 1rem .1rem 0; }
.legend i { display: inline-block; width: .8rem; height: .8rem; margin-right: .3rem; vertical-align: -.1rem; }
.strength { font-size: .75rem; border: 1px solid var(--line); border-radius: .2rem; padding: 0 .3rem; }
)css";

const char kPageScript[] = R"js(
'use strict';
(() => {
  const data = JSON.parse(document.getElementById('map-data').textContent);
  const TYPES = ['core', 'TensorCore', 'SparseCore', 'SparseCore'];
  const PALETTE = ['#7da7d9', '#f5a623', '#8e6bbf', '#3fa796', '#c2b280', '#e377c2', '#6b8e23', '#8c564b'];
  const IDLE = '#c9c9c9', BAD = '#d32f2f', MISSING = '#111';
  const colour = (state) => {
    if (data.states[state][2] === 1) return IDLE;
    return state < PALETTE.length ? PALETTE[state] : `hsl(${40 + (state * 47) % 280} 45% 55%)`;
  };

  // One box a host: a column a chip, its cores below one another; a line holds
  // at most as many hosts of one slice as fit.
  const CELL = data.workers.length > 2000 ? 5 : data.workers.length > 200 ? 9 : 14, GAP = 3, LABEL = 64;
  const boxes = [];
  let columns = 1, rows = 1;
  for (const worker of data.workers) {
    const cells = [], byChip = new Map();
    for (let i = 0; i < worker[5].length; i += 5) {
      const core = worker[5].slice(i, i + 5);
      if (!byChip.has(core[0])) byChip.set(core[0], []);
      byChip.get(core[0]).push(core);
    }
    [...byChip.keys()].sort((a, b) => a - b).forEach((chip, column) => {
      const cores = byChip.get(chip).sort((a, b) => a[1] - b[1] || a[2] - b[2]);
      cores.forEach((core, row) => cells.push({core, column, row}));
      rows = Math.max(rows, cores.length);
    });
    columns = Math.max(columns, byChip.size);
    boxes.push({worker, cells});
  }
  const width = columns * CELL + GAP, height = rows * CELL + GAP;
  const holder = document.getElementById('map');
  const perLine = Math.max(1, Math.floor((Math.max(holder.clientWidth, 400) - LABEL) / width));
  let x = 0, y = -1, slice = null;
  const labels = [];
  for (const box of boxes) {
    if (box.worker[0] !== slice || x === perLine) {
      if (box.worker[0] !== slice) labels.push([y + 1, 'slice ' + box.worker[0]]);
      slice = box.worker[0];
      x = 0;
      ++y;
    }
    box.x = x++;
    box.y = y;
  }
  const canvas = document.createElement('canvas');
  canvas.width = LABEL + perLine * width;
  canvas.height = (y + 1) * height + GAP;
  holder.appendChild(canvas);
  const pen = canvas.getContext('2d');
  const at = new Map();
  for (const box of boxes) {
    const left = LABEL + box.x * width, top = box.y * height + GAP;
    at.set(box.x + ',' + box.y, box);
    if (box.worker[3] === 0) {
      pen.fillStyle = MISSING;
      pen.fillRect(left, top, columns * CELL - 1, rows * CELL - 1);
    }
    for (const {core, column, row} of box.cells) {
      pen.fillStyle = core[4] ? BAD : colour(core[3]);
      pen.fillRect(left + column * CELL, top + row * CELL, CELL - 1, CELL - 1);
    }
    if (box.worker[4]) {
      pen.strokeStyle = BAD;
      pen.lineWidth = 2;
      pen.strokeRect(left - 2, top - 2, columns * CELL + 3, rows * CELL + 3);
    }
  }
  pen.fillStyle = getComputedStyle(document.body).color;
  pen.font = '11px sans-serif';
  for (const [line, text] of labels) pen.fillText(text, 2, line * height + GAP + 10, LABEL - 6);

  const tip = document.getElementById('tip');
  canvas.addEventListener('mousemove', (event) => {
    const left = event.offsetX - LABEL, top = event.offsetY - GAP;
    const box = at.get(Math.floor(left / width) + ',' + Math.floor(top / height));
    tip.style.display = box && left >= 0 ? 'block' : 'none';
    if (!box) return;
    const [slice, task, host, reported, accused] = box.worker;
    const column = Math.floor((left % width) / CELL), row = Math.floor((top % height) / CELL);
    const cell = box.cells.find((c) => c.column === column && c.row === row);
    const lines = [`${host} (slice ${slice} task ${task})` + (accused ? ' CULPRIT' : '')];
    if (!reported) lines.push('missing: did not report');
    if (cell) {
      const [chip, type, index, state] = cell.core;
      lines.push(`${chip < 0 ? 'chip ?' : 'chip ' + chip} ${TYPES[type]} ${index}`, data.states[state][0]);
    }
    tip.textContent = lines.join('\n');
    tip.style.left = Math.min(event.clientX + 14, innerWidth - tip.offsetWidth - 4) + 'px';
    tip.style.top = Math.min(event.clientY + 14, innerHeight - tip.offsetHeight - 4) + 'px';
  });
  canvas.addEventListener('mouseleave', () => { tip.style.display = 'none'; });

  const legend = document.getElementById('legend');
  const entry = (fill, text) => {
    const span = document.createElement('span'), box = document.createElement('i');
    box.style.background = fill;
    span.append(box, text);
    legend.append(span);
  };
  if (data.workers.some((worker) => worker[4])) entry(BAD, 'culprit');
  if (data.workers.some((worker) => !worker[3])) entry(MISSING, 'missing');
  data.states.forEach((state, i) => { if (i < PALETTE.length) entry(colour(i), `${state[0]} (${state[1]})`); });
  if (data.states.length > PALETTE.length) entry('transparent', `… and ${data.states.length - PALETTE.length} more`);

  const table = document.getElementById('states');
  table.querySelectorAll('th').forEach((head, column) => {
    let sign = -1;
    head.addEventListener('click', () => {
      sign = -sign;
      const key = (row) => row.cells[column].textContent;
      const rows = [...table.tBodies[0].rows];
      rows.sort((a, b) => sign * key(a).localeCompare(key(b), 'en', {numeric: true}));
      table.tBodies[0].append(...rows);
    });
  });
})();
)js";

}  // namespace rapideye::digest
