# shellcheck shell=bash
# SPDX-License-Identifier: GPL-3.0-or-later
# Pages in a browser, looked at from inside. To be sourced behind cli.sh; skips without a browser.
browser=$(command -v chromium || command -v chromium-browser || command -v google-chrome) ||
    skip 'no browser: what the page does in one is not looked at'

# judged PAGE.html JUDGE.js...: judged.html, the page with page_looks.js and other judges in it.
judged() {
    local page=$1
    shift
    python3 - "$page" "$WEIR_SOURCE_DIR/tests/support/page_looks.js" "$@" <<'PY'
import sys
page = open(sys.argv[1], encoding="utf-8").read()
judges = "".join("<script>\n" + open(name, encoding="utf-8").read() + "</script>" for name in sys.argv[2:])
tell = """<script>(function () { var pre = document.createElement('pre'); pre.id = 'judge';
pre.textContent = '\\n' + window.looks.lines.concat(['judged']).join('\\n') + '\\n';
document.body.appendChild(pre); }());</script>"""
open("judged.html", "w", encoding="utf-8").write(page.replace("</body>", judges + tell + "</body>"))
PY
}

# looked NAME WIDTH [FLAG...]: judged.html in that width; the words of its judges in NAME.txt.
looked() {
    local name=$1 width=$2
    shift 2
    HOME=$PWD timeout 60 "$browser" --headless --no-sandbox --disable-gpu --hide-scrollbars \
        --user-data-dir="$PWD/profile" --virtual-time-budget=4000 --window-size="$width,900" "$@" \
        --dump-dom "file://$PWD/judged.html" >"$name.html" 2>"$name.log" || skip 'the browser does not start'
    sed -n '/<pre id="judge">/,/<\/pre>/p' "$name.html" >"$name.txt"
    has "$name.txt" 'judged'
    ! grep -q 'WRONG' "$name.txt" || { grep WRONG "$name.txt"; fail "the page is wrong ($name)"; }
}
