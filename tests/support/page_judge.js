/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Judges a page of weir from inside, for tests/cli/page.sh: lines with WRONG are what is not right. */
'use strict';
(function () {
  var out = [];
  function wrong(text) { out.push('WRONG ' + text); }
  function color(text) {
    var m = /rgba?\(([\d.]+), ([\d.]+), ([\d.]+)(?:, ([\d.]+))?\)/.exec(text);
    return m ? [+m[1], +m[2], +m[3], m[4] === undefined ? 1 : +m[4]] : null;
  }
  function light(c) {
    var v = c.slice(0, 3).map(function (x) { x /= 255; return x <= 0.03928 ? x / 12.92 : Math.pow((x + 0.055) / 1.055, 2.4); });
    return 0.2126 * v[0] + 0.7152 * v[1] + 0.0722 * v[2];
  }
  function contrast(a, b) {
    var x = light(a), y = light(b);
    return (Math.max(x, y) + 0.05) / (Math.min(x, y) + 0.05);
  }
  function ground(node) {
    for (; node; node = node.parentElement) {
      var c = color(getComputedStyle(node).backgroundColor);
      if (c && c[3] > 0.5) return c;
    }
    return [255, 255, 255, 1];
  }
  function shown(node) {
    var r = node.getBoundingClientRect();
    return r.width > 0 && r.height > 0 && node.textContent.trim() !== '';
  }

  var body = color(getComputedStyle(document.body).backgroundColor);
  out.push('width ' + innerWidth);
  out.push('theme ' + (light(body) < 0.2 ? 'dark' : 'light'));

  /* Contrast: text of the page, and of pictures on the page's own ground. */
  document.querySelectorAll('h1,h2,p,a,td,th,small,li,figcaption,summary,nav a,b,span,pre,label').forEach(function (n) {
    var own = Array.prototype.some.call(n.childNodes, function (c) { return c.nodeType === 3 && c.textContent.trim(); });
    if (!own || !shown(n) || n.closest('svg')) return;
    var ratio = contrast(color(getComputedStyle(n).color), ground(n));
    if (ratio < 4.5) wrong('contrast ' + ratio.toFixed(2) + ' of ' + n.tagName + ' "' + n.textContent.slice(0, 40) + '"');
  });
  var texts = 0, shades = 0;
  document.querySelectorAll('figure svg').forEach(function (svg) {
    var boxes = [], name = svg.closest('figure').id;
    svg.querySelectorAll('text').forEach(function (t) {
      if (!shown(t)) return;
      texts++;
      var fill = color(getComputedStyle(t.querySelector('tspan') || t).fill);
      if (fill && contrast(fill, body) < 4.5)
        wrong('contrast ' + contrast(fill, body).toFixed(2) + ' in ' + name + ' "' + t.textContent + '"');
      var r = t.getBoundingClientRect(), s = svg.getBoundingClientRect();
      if (r.left < s.left - 1 || r.right > s.right + 1 || r.top < s.top - 2 || r.bottom > s.bottom + 2)
        wrong('cut in ' + name + ' "' + t.textContent + '"');
      if (r.height < 10) wrong('small in ' + name + ' "' + t.textContent + '" ' + r.height.toFixed(1) + ' px');
      boxes.push([r, t.textContent]);
    });
    for (var i = 0; i < boxes.length; i++)
      for (var k = i + 1; k < boxes.length; k++) {
        var a = boxes[i][0], b = boxes[k][0];
        var x = Math.min(a.right, b.right) - Math.max(a.left, b.left);
        var y = Math.min(a.bottom, b.bottom) - Math.max(a.top, b.top);
        if (x > 2 && y > 0.35 * Math.min(a.height, b.height))
          wrong('overlap in ' + name + ' "' + boxes[i][1] + '" and "' + boxes[k][1] + '"');
      }
  });
  /* Shades of windows lie below all that is drawn, and their names above it. */
  document.querySelectorAll('figure svg.timed').forEach(function (svg) {
    var paths = Array.prototype.slice.call(svg.querySelectorAll('path[fill],path[stroke],image')), top = 0;
    paths.forEach(function (p, i) {
      if (p.getAttribute('fill') !== 'var(--tint)') return;
      shades++;
      top = p.getBoundingClientRect().top;
      if (i > 0 && paths[i - 1].getAttribute('fill') !== 'var(--tint)')
        wrong('a shade covers what is drawn in ' + svg.closest('figure').id);
    });
    svg.querySelectorAll('text').forEach(function (t) {
      if (t.textContent === 'outage' && t.getBoundingClientRect().top + 4 > top && svg.closest('figure').id !== 'variants')
        wrong('the name of a window lies in ' + svg.closest('figure').id);
    });
  });
  out.push(shades + ' shades');
  if (shades < 4) wrong('too few shades of windows');
  out.push(texts + ' texts');
  if (texts < 60) wrong('too few texts to have judged');

  /* Nothing is wider than the window but what scrolls. */
  if (document.documentElement.scrollWidth > document.documentElement.clientWidth + 1)
    wrong('the page is ' + document.documentElement.scrollWidth + ' px wide in a window of ' + document.documentElement.clientWidth);
  if (innerWidth >= 1280)
    document.querySelectorAll('.scroll,.wide').forEach(function (box) {
      if (!box.closest('details') && box.scrollWidth > box.clientWidth + 1)
        wrong('a table or chart is cut at the right: ' + box.textContent.trim().slice(0, 40));
    });
  performance.getEntriesByType('resource').forEach(function (r) { if (!/^data:/.test(r.name)) wrong('loads ' + r.name); });
  document.querySelectorAll('nav a').forEach(function (a) {
    if (!document.querySelector(a.getAttribute('href'))) wrong('no ' + a.getAttribute('href'));
  });

  /* The cursor stands in all charts over time, with values; a part of the time shows in all. */
  function send(svg, type, share, extra) {
    var r = svg.getBoundingClientRect(), event = { clientX: r.left + share * r.width, clientY: r.top + 0.4 * r.height, bubbles: true, pointerId: 1, pointerType: 'mouse', button: 0 };
    for (var key in extra) event[key] = extra[key];
    svg.setPointerCapture = function () {};
    svg.dispatchEvent(new (/^pointer/.test(type) ? PointerEvent : MouseEvent)(type, event));
  }
  var timed = document.querySelectorAll('svg.timed');
  out.push(timed.length + ' charts over time');
  if (timed.length < 4) wrong('too few charts over time');
  var first = document.querySelector('#throughput svg');
  send(first, 'pointermove', 0.45);
  timed.forEach(function (svg) {
    var words = svg.querySelector('.cursor').textContent;
    if (!/\d\d:\d\d/.test(words)) wrong('no moment in ' + svg.closest('figure').id + ': ' + words);
  });
  if (!/finished [\d.]+\/s/.test(first.querySelector('.cursor').textContent)) wrong('no value in throughput');
  var pick = document.querySelector('#bar select');
  pick.value = '0'; pick.dispatchEvent(new Event('change'));
  if (!first.querySelector('.over .other')) wrong('the other variant is not laid over');
  send(first, 'pointermove', 0.45);
  if (!/fewer [\d.]+\/s/.test(first.querySelector('.cursor').textContent)) wrong('no value of the other variant');
  send(first, 'pointerdown', 0.3); send(first, 'pointermove', 0.5); send(first, 'pointerup', 0.5);
  timed.forEach(function (svg) {
    if (!svg.querySelector('.over svg')) wrong('no zoom in ' + svg.closest('figure').id);
  });
  if (!/ to /.test(document.querySelector('#bar span').textContent)) wrong('the part of the time is not named');
  send(first, 'dblclick', 0.4);
  if (document.querySelector('.over svg')) wrong('double click does not show all');
  send(first, 'pointerdown', 0.47); send(first, 'pointerup', 0.47);
  var ids = {};
  document.querySelectorAll('[id]').forEach(function (n) {
    if (ids[n.id]) wrong('two things are called ' + n.id);
    ids[n.id] = true;
  });
  var why = document.querySelector('#moment');
  if (why.hidden || !/fails|n-1|started|nothing changed/.test(why.textContent)) wrong('a click gives no reason: ' + why.textContent);

  /* Tables sort by number and back. */
  var table = document.querySelector('#stages ~ .scroll table') || document.querySelector('table');
  var th = Array.prototype.filter.call(document.querySelectorAll('th[tabindex]'), function (h) { return h.closest('table').tBodies[0].rows.length > 2; })[0];
  if (!th) wrong('no table can be sorted');
  else {
    th.click();
    if (th.getAttribute('aria-sort') !== 'ascending') wrong('a click does not sort');
    th.click();
    if (th.getAttribute('aria-sort') !== 'descending') wrong('a second click does not turn it');
  }
  if (!table) wrong('no table');
  var pre = document.createElement('pre');
  pre.id = 'judge';
  out.push('judged');
  pre.textContent = '\n' + out.join('\n') + '\n';
  document.body.appendChild(pre);
}());
