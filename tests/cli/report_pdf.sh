#!/bin/bash
# SPDX-License-Identifier: GPL-3.0-or-later
# A page whose name ends in .pdf is printed by a browser: the same page, as a whole or not at all,
# with nothing left beside it. Without a browser, or with one that fails, a sentence says so.
. "$WEIR_SOURCE_DIR/tests/support/cli.sh"
command -v gnuplot >/dev/null || skip 'no gnuplot'

two_variants 100 >small.yaml
expect 0 "$WEIR_BIN" run small.yaml -q -o small.db
mkdir tools plain none
ln -s "$(command -v gnuplot)" none/gnuplot
ln -s "$(command -v gnuplot)" plain/gnuplot

# One that copies the page it is told to print, and says how it was called.
cat >tools/chromium <<'S'
#!/bin/bash
printf '%s\n' "$@" >"$CALLED"
for word; do case $word in --print-to-pdf=*) to=${word#*=} ;; esac; done
{ printf '%%PDF-1.4\n' && cat "$word"; } >"$to"
S
chmod +x tools/chromium
before=$(ls)
CALLED=$PWD/../called PATH="$PWD/tools:$PATH" expect 0 "$WEIR_BIN" report small.db -o small.pdf
has stdout small.pdf
[ "$(head -c 5 small.pdf)" = %PDF- ] && grep -q '</html>' small.pdf || fail 'not the whole page'
[ "$(tail -1 ../called)" = page.html ] && grep -qx -e --headless ../called || fail 'another call'
[ "$(ls)" = "$(printf '%s\n' $before small.pdf stderr stdout | sort -u)" ] || fail "left: $(ls)"
if [ "$(id -u)" = 0 ]; then grep -qx -e --no-sandbox ../called; else ! grep -q sandbox ../called; fi ||
    fail 'its sandbox'

echo theirs >small.pdf
# What is there is kept, unless told otherwise, and kept too when nothing can be printed.
CALLED=/dev/null PATH="$PWD/tools:$PATH" expect 3 "$WEIR_BIN" report small.db -o small.pdf
has stderr 'small.pdf is there already'
sum=$(cksum <small.pdf)
printf '#!/bin/sh\necho "no usable display" >&2\nexit 1\n' >tools/chromium
PATH="$PWD/tools:$PATH" expect 3 "$WEIR_BIN" report small.db -o small.pdf --force
has stderr 'chromium failed: no usable display'
printf '#!/bin/sh\nexit 0\n' >tools/chromium
PATH="$PWD/tools:$PATH" expect 3 "$WEIR_BIN" report small.db -o small.pdf --force
has stderr 'chromium printed nothing'
PATH=$PWD/none expect 3 "$WEIR_BIN" report small.db -o small.pdf --force
has stderr 'install the package chromium, or write FILE.html'
[ "$(cksum <small.pdf)" = "$sum" ] || fail 'the old one is gone'
[ -z "$(find . -name '*.pdf.*')" ] || fail 'a folder is left'

# A real one, where there is one.
command -v chromium >/dev/null && command -v pdftotext >/dev/null || { skip_part 'no chromium, or no pdftotext'; exit 0; }
expect 0 "$WEIR_BIN" report small.db -o real.pdf
pdftotext real.pdf - | grep -q 'How to repeat' || fail 'the page has no end'
