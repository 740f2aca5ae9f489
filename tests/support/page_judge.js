/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What the script of a page does, judged from inside for tests/cli/page.sh, behind page_looks.js: lines
 * with WRONG are what is not right. */
'use strict';
(function () {
  var out = window.looks.lines, wrong = window.looks.wrong, shades = 0;

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
  if (window.looks.texts < 60) wrong('too few texts to have judged');

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
}());
