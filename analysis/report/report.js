/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The page reads without this. One moment for all charts over time: a cursor with values, a part of
   the time, other variants, and why what was decided then. Data stand in the page as JSON. */
'use strict';
(function () {
  var NS = 'http://www.w3.org/2000/svg';
  var parse = function (node) { return node ? JSON.parse(node.textContent) : null; };
  var page = parse(document.getElementById('weir-run')) || {};
  var end = page.end || 0, from = 0, to = end, other = -1;
  function make(name, attributes, parent, text) {
    var svg = /^(g|line|path|rect|text|svg|clipPath|use)$/.test(name);
    var node = svg ? document.createElementNS(NS, name) : document.createElement(name);
    for (var key in attributes) node.setAttribute(key, attributes[key]);
    if (text !== undefined) node.textContent = text;
    if (parent) parent.appendChild(node);
    return node;
  }
  function two(n) { return (n < 10 ? '0' : '') + n; }
  function clock(t) {
    if (page.unix) {
      var d = new Date((page.unix + t) * 1000).toISOString();
      return (end > 86400 ? d.slice(5, 10) + ' ' : '') + d.slice(11, 19);
    }
    var s = Math.round(t), day = Math.floor(s / 86400);
    return (day ? day + 'd ' : '') + two(Math.floor(s / 3600) % 24) + ':' +
      two(Math.floor(s / 60) % 60) + ':' + (end < 60 ? (t % 60).toFixed(2) : two(s % 60));
  }
  function number(v) {
    if (v === null || v === undefined) return '–';
    var a = Math.abs(v);
    return a >= 1e9 || (a > 0 && a < 1e-3) ? v.toExponential(2)
      : a >= 1000 ? Math.round(v).toLocaleString('en').replace(/,/g, '\u202f')
      : String(+v.toPrecision(3));
  }
  function value(v, unit) {
    if (unit === ' s' && v >= 60) {
      var s = Math.round(v), h = Math.floor(s / 3600), m = Math.floor(s / 60) % 60;
      return h ? h + 'h' + two(m) + 'm' : m + 'm' + two(s % 60) + 's';
    }
    if (unit === ' B') {
      for (var i = 0; v >= 999.5 && i < 5; i++) v /= 1000;
      return number(v) + ['', ' kB', ' MB', ' GB', ' TB', ' PB'][i];
    }
    return number(v) + unit;
  }
  function at(panel, series, t) {
    var i = Math.floor((t - panel.t[0]) / panel.t[1] + 1e-9);
    return i < 0 ? null : panel.s[series][1][Math.min(i, panel.s[series][1].length - 1)];
  }

  /* ---- charts ---- */
  var charts = [];
  function px(panel, t) { return panel.b[0] + (panel.b[2] - panel.b[0]) * (t - from) / (to - from); }
  function time(panel, x) { return from + (to - from) * (x - panel.b[0]) / (panel.b[2] - panel.b[0]); }

  function Chart(figure, sets) {
    var svg = figure.querySelector('svg'), self = this;
    this.svg = svg;
    this.panels = sets[0];
    this.sets = sets;
    this.box = [1e9, 1e9, 0, 0];
    this.panels.forEach(function (p) {
      self.box = [Math.min(self.box[0], p.b[0]), Math.min(self.box[1], p.b[1]),
                  Math.max(self.box[2], p.b[2]), Math.max(self.box[3], p.b[3])];
    });
    this.drawn = svg.querySelector('g');
    this.over = make('g', { 'class': 'over' }, svg);
    this.cursor = make('g', { 'class': 'cursor' }, svg);
    svg.setAttribute('class', 'timed');
    svg.setAttribute('tabindex', '0');
  }
  Chart.prototype.moment = function (event) {
    var r = this.svg.getBoundingClientRect(), view = this.svg.viewBox.baseVal;
    var x = (event.clientX - r.left) * view.width / r.width;
    return Math.max(from, Math.min(to, time(this.panels[0], Math.max(this.box[0], Math.min(this.box[2], x)))));
  };
  /* Values stand beside the cursor, on the side that has room; series of a panel share a line. */
  Chart.prototype.show = function (t) {
    this.cursor.textContent = '';
    if (t === null) return;
    var self = this, x = px(this.panels[0], t), left = x > (this.box[0] + this.box[2]) / 2, last = {};
    make('line', { x1: x, x2: x, y1: this.box[1], y2: this.box[3] }, this.cursor);
    make('text', { x: x, y: this.box[1] - 4, 'text-anchor': 'middle', 'class': 'when' }, this.cursor, clock(t));
    this.panels.forEach(function (p) {
      var words = p.s.map(function (s, k) {
        return (p.s.length > 1 || !p.n ? s[0] + ' ' : '') + value(at(p, k, t), p.u);
      });
      var mate = self.mate(p);
      if (mate) words.push(page.variants[other] + ' ' + value(at(mate, 0, t), p.u));
      var row = last[p.b[1]] = (last[p.b[1]] || 0) + 1;
      make('text', { x: x + (left ? -6 : 6), y: p.b[1] + 11 + 14 * (row - 1),
        'text-anchor': left ? 'end' : 'start' }, self.cursor, words.join(' · '));
    });
  };
  Chart.prototype.mate = function (panel) {
    var set = other < 0 ? null : this.sets[other + 1];
    if (!set || panel.k) return null;
    for (var i = 0; i < set.length; i++) if (set[i].n === panel.n && !set[i].k) return set[i];
    return null;
  };
  /* The first series of a panel in the other variant; above the frame it is cut off. */
  Chart.prototype.line = function (p, mate) {
    var d = '', v = mate.s[0][1], on = false;
    for (var i = 0; i < v.length; i++) {
      var a = mate.t[0] + i * mate.t[1], b = a + mate.t[1];
      if (v[i] === null || b < from || a > to) { on = false; continue; }
      var y = p.b[3] - (p.b[3] - p.b[1]) * (v[i] - p.y[0]) / (p.y[1] - p.y[0]);
      y = Math.max(p.b[1], Math.min(p.b[3], y)).toFixed(1);
      d += (on ? 'L' : 'M') + px(p, Math.max(a, from)).toFixed(1) + ' ' + y + 'H' + px(p, Math.min(b, to)).toFixed(1);
      on = true;
    }
    if (d) make('path', { d: d, 'class': 'other' }, this.over);
  };
  function step(span) {
    var steps = [0.001, 0.01, 0.1, 1, 2, 5, 10, 30, 60, 120, 300, 600, 1800, 3600, 7200, 10800, 21600, 43200, 86400, 172800, 604800];
    for (var i = 0; i < steps.length; i++) if (span / steps[i] <= 7) return steps[i];
    return span / 6;
  }
  /* A part of the time: the picture itself, wider, behind a window; and a time axis of its own. */
  Chart.prototype.draw = function () {
    var self = this, b = this.box, wide = b[2] - b[0], scale = end / (to - from);
    this.over.textContent = '';
    if (to - from < end) {
      var height = b[3] - b[1] + 2;
      make('rect', { x: b[0] - 1, y: b[1] - 2, width: this.svg.viewBox.baseVal.width - b[0], height: height + 20, 'class': 'paper' }, this.over);
      var inner = make('svg', { x: b[0], y: b[1] - 1, width: wide, height: height,
        viewBox: (b[0] + wide * from / end) + ' ' + (b[1] - 1) + ' ' + wide / scale + ' ' + height,
        preserveAspectRatio: 'none' }, this.over);
      var copy = this.drawn.cloneNode(true);
      copy.querySelectorAll('text').forEach(function (text) { text.remove(); });
      inner.appendChild(copy);
      for (var s = step(to - from), t = Math.ceil(from / s) * s; t <= to; t += s)
        make('text', { x: px(this.panels[0], t), y: b[3] + 15, 'text-anchor': 'middle', 'class': 'tick' }, this.over, clock(t));
    }
    this.panels.forEach(function (p) { var mate = self.mate(p); if (mate) self.line(p, mate); });
  };

  function all(method, argument) { charts.forEach(function (chart) { chart[method](argument); }); }
  function zoom(a, b) {
    from = Math.max(0, Math.min(a, b)); to = Math.min(end, Math.max(a, b));
    if (!(to - from > end / 1e5)) { from = 0; to = end; }
    all('show', null); all('draw');
    note.textContent = to - from < end ? clock(from) + ' to ' + clock(to) + ', double click: all of it'
      : 'Drag over a chart to zoom, click for what was decided then.';
  }

  /* ---- why ---- */
  var why = make('aside', { id: 'moment', hidden: '', 'aria-live': 'polite' }, document.body);
  function reason(t) {
    var near = (to - from) / 100, index = -1, moments = page.decisions || [];
    why.textContent = '';
    make('button', { type: 'button', 'aria-label': 'close' }, why, '×').onclick = function () { why.hidden = true; };
    make('b', {}, why, clock(t));
    (page.marks || []).forEach(function (m) {
      if (Math.abs(m[0] - t) <= near || (m[1] !== null && m[0] <= t && t <= m[1]))
        make('p', { 'class': 'mark' }, why, clock(m[0]) + (m[1] !== null ? ' to ' + clock(m[1]) : '') + ': ' + m[2]);
    });
    moments.forEach(function (d, i) { if (d[0] <= t + near / 10) index = i; });
    if (index >= 0) make('p', {}, why, clock(moments[index][0]) + ': ' + moments[index][1]);
    else make('p', {}, why, moments.length ? 'Nothing was decided before.' : 'No decisions are recorded.');
    why.hidden = false;
  }

  /* ---- what one does ---- */
  function listen(chart) {
    var svg = chart.svg, start = null, now = end / 2, shade = null;
    svg.addEventListener('pointermove', function (e) {
      now = chart.moment(e);
      all('show', now);
      if (shade) {
        var a = px(chart.panels[0], start), b = px(chart.panels[0], now);
        shade.setAttribute('x', Math.min(a, b)); shade.setAttribute('width', Math.abs(a - b));
      }
    });
    svg.addEventListener('pointerleave', function () { if (start === null) all('show', null); });
    svg.addEventListener('pointerdown', function (e) {
      if (e.button || e.pointerType === 'touch') return;
      start = chart.moment(e);
      shade = make('rect', { y: chart.box[1], height: chart.box[3] - chart.box[1], width: 0, 'class': 'shade' }, svg);
      svg.setPointerCapture(e.pointerId);
      e.preventDefault(); svg.focus({ preventScroll: true });
    });
    svg.addEventListener('pointerup', function (e) {
      if (start === null) return;
      var stop = chart.moment(e), wide = Math.abs(stop - start) > (to - from) / 100;
      shade.remove(); shade = null;
      if (wide) zoom(start, stop); else reason(stop);
      start = null;
    });
    svg.addEventListener('click', function (e) { if (e.pointerType === 'touch') reason(chart.moment(e)); });
    svg.addEventListener('dblclick', function () { zoom(0, end); });
    svg.addEventListener('keydown', function (e) {
      var move = { ArrowLeft: -1, ArrowRight: 1 }[e.key];
      if (move) { now = Math.max(from, Math.min(to, now + move * (to - from) / 60)); all('show', now); e.preventDefault(); }
      if (e.key === 'Enter') reason(now);
      if (e.key === 'Escape') { why.hidden = true; zoom(0, end); }
    });
  }

  /* ---- tables ---- */
  function key(row, k) {
    var cell = row.cells[k], raw = cell ? cell.getAttribute('data-v') : null;
    if (raw !== null) return +raw;
    var text = cell && cell.firstChild ? cell.firstChild.textContent.trim() : '';
    var n = parseFloat(text.replace(/[\u202f\u2009 ](?=\d)/g, '').replace('≥', '').replace('−', '-'));
    return isNaN(n) ? text.toLowerCase() : n;
  }
  function sortable(table) {
    var head = table.tHead && table.tHead.rows[0], body = table.tBodies[0];
    if (!head || !body || body.rows.length < 3) return;
    Array.prototype.forEach.call(head.cells, function (th, k) {
      var sort = function () {
        var up = th.getAttribute('aria-sort') !== 'ascending';
        Array.prototype.forEach.call(head.cells, function (c) { c.removeAttribute('aria-sort'); });
        th.setAttribute('aria-sort', up ? 'ascending' : 'descending');
        Array.prototype.slice.call(body.rows).map(function (row, i) { return [key(row, k), i, row]; })
          .sort(function (a, b) {
            var ta = typeof a[0], tb = typeof b[0];
            var c = ta !== tb ? (ta === 'number' ? -1 : 1) : a[0] < b[0] ? -1 : a[0] > b[0] ? 1 : 0;
            return c ? (up ? c : -c) : a[1] - b[1];
          }).forEach(function (x) { body.appendChild(x[2]); });
      };
      th.setAttribute('tabindex', '0');
      th.addEventListener('click', sort);
      th.addEventListener('keydown', function (e) { if (e.key === 'Enter' || e.key === ' ') { e.preventDefault(); sort(); } });
    });
  }

  var bar = make('div', { id: 'bar' }), note = make('span', {}, bar);
  document.querySelectorAll('figure').forEach(function (figure) {
    var sets = parse(figure.querySelector('script'));
    if (sets && sets[0].length && end > 0) charts.push(new Chart(figure, sets));
  });
  if (charts.length) {
    if ((page.variants || []).length) {
      var pick = make('select', { 'aria-label': 'another variant' }), label = make('label', {}, bar, 'Over it ');
      make('option', { value: -1 }, pick, 'nothing');
      page.variants.forEach(function (name, i) { make('option', { value: i }, pick, name); });
      label.appendChild(pick);
      pick.onchange = function () { other = +pick.value; all('draw'); };
    }
    charts.forEach(listen);
    document.querySelector('figure').before(bar);
    zoom(0, end);
  }
  document.querySelectorAll('table').forEach(sortable);
}());
