#include "digest/html_assets.h"

namespace rapideye::digest {

// Colours: text on its ground is 4.5:1 at least, light and dark; what is drawn 3:1. What colour
// says, shape or words say, too.
const char kPageStyle[] = R"css(
:root { color-scheme: light dark; --bg: #f7f8fa; --card: #fff; --ink: #16202c; --soft: #4f5d6e; --line: #d9dee5;
        --red: #b3261e; --redbg: #fdecea; --blue: #1f5fbf; --greybg: #e6eaef; --green: #1d7a45; --greenbg: #dff3e6;
        --amber: #7a4f00; --amberbg: #fff1d1; --edge: #6b7a8b;
        --s0: #7b8ea3; --s1: #2f6fd0; --s2: #8a4fc4; --s3: #0f7f78; --s4: #8a6a1c; --cell: #c3cad3;
        --mono: ui-monospace, SFMono-Regular, Menlo, Consolas, monospace; }
@media (prefers-color-scheme: dark) {
  :root { --bg: #10151b; --card: #182029; --ink: #e8edf3; --soft: #a9b5c3; --line: #2c3743;
          --red: #ff8a80; --redbg: #4a1c1a; --blue: #8db8ff; --greybg: #2a343f; --green: #7fd6a2; --greenbg: #163a27;
          --amber: #ffcf70; --amberbg: #43330f; --edge: #8c9aaa;
          --s0: #74879b; --s1: #5f9bff; --s2: #b98aec; --s3: #3fb8ae; --s4: #d3ac4f; --cell: #465463; }
}
* { box-sizing: border-box; }
body { margin: 0; background: var(--bg); color: var(--ink); font: 15px/1.5 system-ui, sans-serif; }
main { max-width: 1180px; margin: 0 auto; padding: 16px; display: grid; gap: 16px; grid-template-columns: minmax(0, 1fr); }
.bar { background: var(--card); border-bottom: 1px solid var(--line); padding: 8px 16px; display: flex; gap: 4px 12px;
       flex-wrap: wrap; align-items: center; overflow-wrap: anywhere; }
.bar nav { margin-left: auto; display: flex; flex-wrap: wrap; gap: 4px 12px; }
a { color: var(--blue); }
h1 { font-size: 26px; line-height: 1.25; margin: 0 0 8px; overflow-wrap: anywhere; }
h1 span { display: block; }
h2 { font-size: 17px; margin: 0 0 4px; overflow-wrap: anywhere; } h3 { font-size: 14px; margin: 12px 0 4px; }
p { margin: 4px 0; } ul, ol { margin: 4px 0; padding-left: 20px; } li { margin: 3px 0; overflow-wrap: anywhere; }
.soft { color: var(--soft); } .small { font-size: 13px; } .bad { color: var(--red); }
code, .data, pre { font-family: var(--mono); font-size: 13px; overflow-wrap: anywhere; }
pre { margin: 6px 0; background: var(--bg); border: 1px solid var(--line); border-radius: 6px; padding: 8px; white-space: pre-wrap; }
mark { background: var(--redbg); color: var(--red); font-weight: 700; }
dl { display: grid; grid-template-columns: auto 1fr; gap: 2px 12px; margin: 4px 0; } dd { margin: 0; min-width: 0; }
section, .hero { background: var(--card); border: 1px solid var(--line); border-radius: 10px; padding: 16px; min-width: 0; }
.hero { border-left: 6px solid var(--red); display: grid; grid-template-columns: 1.4fr 1fr; gap: 20px; }
.hero.fine { border-left-color: var(--green); } .hero.open { border-left-color: var(--amber); }
.hero > div, .two > * { min-width: 0; }
.two { display: grid; grid-template-columns: 1fr 1fr; gap: 16px; } .two > :only-child { grid-column: 1 / -1; }
.pill { display: inline-block; border-radius: 999px; padding: 1px 10px; font-size: 13px; font-weight: 600; }
.pill.red { background: var(--redbg); color: var(--red); } .pill.grey { background: var(--greybg); color: var(--ink); }
.pill.green { background: var(--greenbg); color: var(--green); } .pill.amber { background: var(--amberbg); color: var(--amber); }
.facts, .legend, .commands, .evidence, .cards, .stacks { list-style: none; padding: 0; }
.facts { display: flex; flex-wrap: wrap; gap: 4px 22px; color: var(--soft); font-size: 13px; }
.facts b { color: var(--ink); } .facts.big { margin-top: 10px; } .facts.big b { display: block; font-size: 18px; line-height: 1.2; }
.cmd { display: flex; gap: 8px; align-items: stretch; margin-top: 2px; }
.cmd code { flex: 1; min-width: 0; background: var(--bg); border: 1px solid var(--line); border-radius: 6px; padding: 4px 8px; }
button { font: inherit; font-size: 13px; border: 1px solid var(--edge); background: var(--card); color: var(--ink);
         border-radius: 6px; padding: 2px 10px; cursor: pointer; min-height: 28px; }
button:focus-visible, a:focus-visible, summary:focus-visible, [tabindex]:focus-visible { outline: 3px solid var(--blue); outline-offset: 2px; }
.evidence li { display: grid; grid-template-columns: 72px 1fr; gap: 10px; padding: 5px 0; border-bottom: 1px solid var(--line); }
.evidence .pill { align-self: start; justify-self: start; }
summary { cursor: pointer; }
.chain, .lanes { margin-top: 10px; }
svg { max-width: 100%; height: auto; display: block; } svg path, svg line { display: block; } .narrow { display: none; }
.box { height: 100%; padding: 10px 11px; border: 2px solid var(--edge); border-radius: 8px; background: var(--bg); font-size: 13px; }
.box.head { border-color: var(--red); background: var(--redbg); }
.box div, .l span { line-height: 18px; white-space: nowrap; overflow: hidden; text-overflow: ellipsis; }
.box .t { font-size: 15px; font-weight: 700; } .box .m { font-family: var(--mono); } .box .s { color: var(--soft); }
.box .bad { color: var(--red); } .head .s { color: var(--ink); }
.l { font-size: 12px; display: flex; } .l.end { justify-content: flex-end; } .l.middle { justify-content: center; }
.l span { line-height: 16px; background: var(--card); padding: 0 2px; }
.edge { fill: none; stroke: var(--edge); stroke-width: 2; } .tip { fill: var(--edge); }
.edge.dead { stroke: var(--red); stroke-dasharray: 7 5; stroke-width: 2.5; } .tip.dead { fill: var(--red); }
.grid { stroke: var(--line); } .lane { stroke: var(--green); stroke-width: 3; } .step { stroke: var(--green); stroke-width: 2; fill: none; }
.lane.still { stroke: var(--edge); stroke-width: 2; stroke-dasharray: 2 5; } .lane.stuck { stroke: var(--red); stroke-width: 3; stroke-dasharray: 7 4; }
.stop { fill: var(--edge); } .stop.culprit { fill: var(--red); }
.mark { stroke: var(--amber); stroke-dasharray: 4 3; } .mark.culprit { stroke: var(--red); }
.legend { display: flex; flex-wrap: wrap; gap: 4px 16px; font-size: 13px; color: var(--soft); }
.legend i { display: inline-block; width: 13px; height: 13px; margin-right: 6px; vertical-align: -2px; }
i.s0, i.s1, i.s2, i.s3, i.s4, i.si, i.bad, i.gone, .strip i { border-radius: 2px; forced-color-adjust: none; print-color-adjust: exact; }
.s0 { background: var(--s0); } .s1 { background: var(--s1); } .s2 { background: var(--s2); } .s3 { background: var(--s3); }
.s4 { background: var(--s4); } .si { background: none; border: 1px solid var(--edge); }
i.bad { background: var(--red); transform: rotate(45deg) scale(.8); }
i.gone { border: 2px dashed var(--amber); }
.slices { display: grid; grid-template-columns: minmax(0, 1fr); gap: 10px; margin-top: 10px; }
.slice { border: 1px solid var(--line); border-radius: 8px; padding: 8px 10px; min-width: 0; } .slice h3 { margin-top: 0; }
.slice.calm { background: var(--greybg); border-color: transparent; } .slice.calm .soft { color: var(--ink); }
.cards { display: flex; flex-wrap: wrap; gap: 8px; }
.card { border: 2px solid var(--red); border-radius: 8px; padding: 6px 10px; }
.fine .card { border-color: var(--edge); }
.chips { display: flex; flex-wrap: wrap; gap: 6px; margin-top: 4px; }
.chip { border: 1px solid var(--line); border-radius: 6px; padding: 2px 8px; font-size: 13px; }
.chip code { display: block; } .chip.bad { background: var(--redbg); border-color: var(--red); font-weight: 700; }
.hosts { display: grid; gap: 4px; grid-template-columns: repeat(auto-fill, minmax(34px, 1fr)); margin-top: 8px; }
.hosts.many { grid-template-columns: repeat(auto-fill, minmax(18px, 1fr)); gap: 3px; }
.hosts h4 { grid-column: 1 / -1; margin: 4px 0 0; font-size: 13px; }
.hosts button { display: grid; grid-template-columns: 1fr 1fr; gap: 1px; padding: 2px; min-height: 0; border: 1px solid transparent; background: none; border-radius: 4px; }
.hosts button i { display: block; aspect-ratio: 1; }
.hosts button i:only-child { grid-column: 1 / -1; } .late { background: var(--amber); border-radius: 50%; forced-color-adjust: none; }
.hosts button.culprit { border: 2px solid var(--red); } .hosts button.gone { border: 2px dashed var(--amber); min-height: 20px; }
.hosts button[aria-expanded=true] { background: var(--greybg); }
#host:not(:empty) { border: 1px solid var(--edge); border-radius: 8px; padding: 8px 12px; margin-top: 10px; }
.scroll { overflow-x: auto; }
table { border-collapse: collapse; width: 100%; font-size: 14px; }
th, td { text-align: left; padding: 5px 10px 5px 0; border-bottom: 1px solid var(--line); vertical-align: top; }
th { color: var(--soft); font-weight: 600; white-space: nowrap; } th button { border: 0; padding: 0; color: inherit; font-weight: inherit; background: none; }
th[aria-sort=ascending] button::after { content: " ▲"; } th[aria-sort=descending] button::after { content: " ▼"; }
tr.culprit td:first-child { border-left: 4px solid var(--red); padding-left: 8px; } .log td:first-child { white-space: nowrap; } .log td:last-child { min-width: 16em; }
.stages i { display: inline-block; width: 11px; height: 11px; margin-right: 3px; border: 2px solid var(--green); border-radius: 50%; } .stages i.on { background: var(--green); }
#live { display: grid; gap: 16px; grid-template-columns: minmax(0, 1fr); } #live > :empty, #stale:empty { display: none; } .hero > :only-child { grid-column: 1 / -1; }
.strip { display: flex; align-items: flex-end; gap: 2px; height: 72px; margin-top: 8px; border-bottom: 1px solid var(--edge); }
.strip span { flex: 1; display: flex; align-items: flex-end; height: 100%; min-width: 0; } .strip i { display: block; flex: 1; min-height: 2px; background: var(--s1); }
.strip i.late { border-radius: 6px 6px 0 0; background: var(--amber); } .strip .none { border-bottom: 4px dotted var(--edge); }
.ends { display: flex; justify-content: space-between; } .filter { display: flex; flex-wrap: wrap; gap: 8px 16px; align-items: end; margin: 8px 0; }
.filter label { display: grid; font-size: 13px; color: var(--soft); } input, select { font: inherit; font-size: 14px; color: var(--ink); background: var(--bg);
  border: 1px solid var(--edge); border-radius: 6px; padding: 3px 8px; min-height: 30px; max-width: 100%; }
input:focus-visible, select:focus-visible { outline: 3px solid var(--blue); outline-offset: 2px; }
.tally { list-style: none; padding: 0; display: flex; flex-wrap: wrap; gap: 6px; } [aria-current=page] { color: var(--ink); font-weight: 700; text-decoration: none; }
.unseen { position: absolute; width: 1px; height: 1px; overflow: hidden; clip-path: inset(50%); }
@media (max-width: 820px) {
  main { padding: 10px; } section, .hero { padding: 12px; } h1 { font-size: 21px; }
  .hero, .two { grid-template-columns: minmax(0, 1fr); } .wide { display: none; } .narrow { display: block; }
  .evidence li { grid-template-columns: 1fr; gap: 2px; } .bar nav { margin-left: 0; } dl { grid-template-columns: 1fr; }
  table, tbody, tr, td, th { display: block; } thead tr { display: flex; flex-wrap: wrap; gap: 2px 14px; }
  tr { padding: 6px 0; border-bottom: 1px solid var(--line); } td, th { border: 0; padding: 0; }
  td[data-name]:not(:empty)::before { content: attr(data-name) ": "; color: var(--soft); font-size: 13px; }
  tr.culprit { border-left: 4px solid var(--red); padding-left: 8px; } tr.culprit td:first-child { border: 0; padding: 0; }
}
@media print {
  :root { color-scheme: light; } body { background: #fff; } button.copy { display: none; } .hosts:empty { display: none; }
  section, .hero { break-inside: avoid-page; border-color: #999; } .scroll { overflow: visible; }
  .slices, .two, .hero { break-inside: auto; }
}
)css";

const char kPageScript[] = R"js(
'use strict';
(() => {
  const say = (text) => { document.getElementById('said').textContent = text; };

  // A coordinator serves the documents of an incident under its name, not in a folder of its own.
  if (location.protocol.startsWith('http')) {
    const id = location.pathname.split('/').pop().replace(/\.html$/, '');
    for (const link of document.querySelectorAll('a[data-served]')) {
      if (link.dataset.served) link.setAttribute('href', id + link.dataset.served);
      else link.hidden = true;
    }
  }

  // Without a secure origin there is no clipboard but that of the selection.
  const copy = async (code) => {
    try {
      await navigator.clipboard.writeText(code.textContent);
    } catch {
      getSelection().selectAllChildren(code);
      document.execCommand('copy');
    }
    say('Copied: ' + code.textContent);
  };
  for (const button of document.querySelectorAll('button.copy')) {
    button.addEventListener('click', async () => {
      await copy(button.previousElementSibling);
      button.textContent = 'Copied';
      setTimeout(() => { button.textContent = 'Copy'; }, 2000);
    });
  }

  for (const button of document.querySelectorAll('th button')) {
    const head = button.parentElement, table = head.closest('table'), column = head.cellIndex;
    button.addEventListener('click', () => {
      const up = head.getAttribute('aria-sort') !== 'ascending';
      for (const other of table.querySelectorAll('th')) other.removeAttribute('aria-sort');
      head.setAttribute('aria-sort', up ? 'ascending' : 'descending');
      const key = (row) => row.cells[column].textContent;
      const rows = [...table.tBodies[0].rows];
      rows.sort((a, b) => (up ? 1 : -1) * key(a).localeCompare(key(b), 'en', {numeric: true}));
      table.tBodies[0].append(...rows);
    });
  }

  // A live page has its map drawn anew whenever its data has changed.
  const drawMap = () => {
  const holder = document.getElementById('map-data');
  if (!holder) return;
  const data = JSON.parse(holder.textContent);
  const TYPES = ['core', 'TensorCore', 'SparseCore', 'SparseCore'], COLOURS = 4;
  // A map of more is drawn in part: each host is an element.
  const MOST_HOSTS = 8192;
  let rank = 0;
  const styles = data.states.map((state) => state[3] ? state[3] : state[2] === 1 ? 'si' : 's' + Math.min(rank++, COLOURS));

  // Of a worker: its chips, each with the core that tells most of it.
  const chipsOf = (worker) => {
    const chips = new Map();
    for (let i = 0; i < worker[5].length; i += 5) {
      const [chip, type, index, state, culprit] = worker[5].slice(i, i + 5);
      const idle = data.states[state][2] === 1;
      const weight = culprit ? 4 : type === 1 && !idle ? 3 : !idle ? 2 : type === 1 ? 1 : 0;
      const cell = chips.get(chip) || {weight: -1, cores: []};
      cell.cores.push({type, index, state, culprit, idle});
      if (weight > cell.weight) Object.assign(cell, {weight, style: culprit ? 'bad' : styles[state]});
      chips.set(chip, cell);
    }
    return [...chips].sort((a, b) => a[0] - b[0]);
  };
  const nameOf = (worker) => `${worker[2]}, slice ${worker[0]} task ${worker[1]}` +
      (worker[4] ? ', culprit' : '') + (worker[7] ? ': ' + worker[7] : worker[3] ? '' : ', did not report');

  const panel = document.getElementById('host');
  const show = (worker, button) => {
    const was = button.getAttribute('aria-expanded') === 'true';
    for (const other of document.querySelectorAll('.hosts button[aria-expanded=true]')) other.setAttribute('aria-expanded', 'false');
    panel.replaceChildren();
    if (was) return;
    button.setAttribute('aria-expanded', 'true');
    const title = document.createElement('b'), list = document.createElement('ul');
    title.textContent = nameOf(worker);
    if (!worker[7]) for (const [chip, cell] of chipsOf(worker)) {
      const working = cell.cores.filter((core) => core.culprit || core.type === 1 || !core.idle);
      for (const core of working) {
        const item = document.createElement('li');
        item.textContent = `${chip < 0 ? 'chip ?' : 'chip ' + chip} ${TYPES[core.type]} ${core.index}: ` +
            data.states[core.state][0] + (core.culprit ? ' (culprit)' : '');
        if (core.culprit) item.className = 'bad';
        list.append(item);
      }
    }
    panel.append(title, list);
  };

  // Neighbours in the torus stand side by side.
  const inOrder = (a, b) => {
    if (!a[6] || !b[6]) return a[1] - b[1];
    return a[6][2] - b[6][2] || a[6][1] - b[6][1] || a[6][0] - b[6][0];
  };
  const bySlice = new Map();
  for (const worker of data.workers) {
    if (!bySlice.has(worker[0])) bySlice.set(worker[0], []);
    bySlice.get(worker[0]).push(worker);
  }
  const slicesOf = (text) => text.split(',').flatMap((range) => {
    const [first, last = first] = range.split('-').map(Number);
    return Array.from({length: last - first + 1}, (_, i) => first + i);
  });

  const draw = (box) => {
    if (box.childElementCount) return;
    const slices = slicesOf(box.dataset.slices).filter((slice) => bySlice.has(slice));
    const total = slices.reduce((sum, slice) => sum + bySlice.get(slice).length, 0);
    box.classList.toggle('many', total > 128);
    let drawn = 0, focus = null;
    for (const slice of slices) {
      if (drawn >= MOST_HOSTS) break;
      if (slices.length > 1) {
        const head = document.createElement('h4');
        head.textContent = 'Slice ' + slice;
        box.append(head);
      }
      for (const worker of [...bySlice.get(slice)].sort(inOrder)) {
        if (drawn++ >= MOST_HOSTS) break;
        const button = document.createElement('button');
        button.type = 'button';
        button.tabIndex = -1;
        button.dataset.worker = worker[0] + '/' + worker[1];
        button.title = nameOf(worker);
        button.setAttribute('aria-label', nameOf(worker));
        button.setAttribute('aria-expanded', 'false');
        button.classList.toggle('culprit', worker[4] === 1);
        button.classList.toggle('gone', worker[3] === 0 && !worker[4]);
        const cells = chipsOf(worker).map(([, cell]) => cell.style);
        if (!cells.length && (worker[3] || worker[4])) cells.push(worker[4] ? 'bad' : 'si');
        for (const style of cells) {
          const chip = document.createElement('i');
          chip.className = style;
          button.append(chip);
        }
        button.addEventListener('click', () => show(worker, button));
        if (!focus || (worker[4] && !focus.classList.contains('culprit'))) focus = button;
        box.append(button);
      }
    }
    if (focus) focus.tabIndex = 0;
    // One stop of the Tab key; arrows go on from there.
    box.addEventListener('keydown', (event) => {
      const buttons = [...box.querySelectorAll('button')], at = buttons.indexOf(document.activeElement);
      if (at < 0) return;
      const top = buttons[at].offsetTop, row = buttons.filter((b) => b.offsetTop === top).length;
      const step = {ArrowRight: 1, ArrowLeft: -1, ArrowDown: row, ArrowUp: -row, Home: -at, End: buttons.length - 1 - at}[event.key];
      const next = step === undefined ? undefined : buttons[at + step];
      if (!next) return;
      event.preventDefault();
      buttons[at].tabIndex = -1;
      next.tabIndex = 0;
      next.focus();
    });
  };
  for (const box of document.querySelectorAll('.slice:not(.calm) .hosts')) draw(box);
  for (const fold of document.querySelectorAll('details.calm')) {
    fold.addEventListener('toggle', () => { if (fold.open) draw(fold.querySelector('.hosts')); });
    if (fold.open) draw(fold.querySelector('.hosts'));
  }
  };
  drawMap();
  document.addEventListener('map-changed', drawMap);

  // What is folded on the screen is read on paper.
  addEventListener('beforeprint', () => {
    for (const fold of document.querySelectorAll('details:not(.calm):not([open])')) {
      fold.open = true;
      fold.dataset.printed = '';
    }
  });
  addEventListener('afterprint', () => {
    for (const fold of document.querySelectorAll('details[data-printed]')) {
      fold.open = false;
      delete fold.dataset.printed;
    }
  });
})();
)js";

}  // namespace rapideye::digest
