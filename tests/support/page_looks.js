/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Looks at any page of weir from inside: window.looks = { lines: [what was seen, and what is WRONG] }.
 * For tests/cli/page.sh and tests/cli/looks.sh. */
'use strict';
window.looks = (function () {
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
  var texts = 0;
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

  var ids = {};
  document.querySelectorAll('[id]').forEach(function (n) {
    if (ids[n.id]) wrong('two things are called ' + n.id);
    ids[n.id] = true;
  });
  /* Sentences: nothing that only a program would say, one unit, no blank twice, no plural of one. */
  document.querySelectorAll('h1,h2,h3,p,figcaption,li,td,th,.tile,small').forEach(function (n) {
    if (!shown(n) || n.closest('pre')) return;
    var text = n.textContent;
    var odd = /\b(NaN|undefined|null|-?inf)\b|\{[a-z]+\}|%s|%\.[0-9*]|  +[a-z]|\(\)|, ,|;;| ;| ,[^ ]|(?:^|[^.\d])1 (items|jobs|nodes|GPUs|stages|runs|points|replications)\b/.exec(text);
    if (odd) wrong('an odd text "' + odd[0] + '" in ' + n.tagName + ' "' + text.trim().slice(0, 90) + '"');
  });
  return { lines: out, wrong: wrong, texts: texts, color: color, contrast: contrast, shown: shown };
}());
