#!/bin/bash
# SPDX-License-Identifier: GPL-3.0-or-later
# Names: one rule for what a user may call things; and what a database that was made elsewhere holds in
# their place is text in every output: it steers no terminal, is no HTML, no formula and no script.
. "$WEIR_SOURCE_DIR/tests/support/cli.sh"

# scenario NAME WHERE: a scenario in which WHERE is called NAME (YAML, in double quotes).
scenario() {
    local -A is=([name]=t [node]=n [pipe]=p [stage]=s [variant]=v)
    is[$2]=$1
    printf '%s\n' 'schema: 2' "name: \"${is[name]}\"" \
        "cluster: {nodes: [{name: \"${is[node]}\", cpus: 4}]}" 'pipelines:' \
        "  - name: \"${is[pipe]}\"" '    input: {items: 20}' \
        "    stages: [{name: \"${is[stage]}\", cpus: 1, service: exp(1 s)}]" \
        "compare: [{label: base}, {label: \"${is[variant]}\", set: {name: other}}]" >names.yaml
}

refused=("'a" 'x\ny' 'e\x1b[31mred' '../x' '=cmd()' '<b>h</b>' 'a|b' 'r\u202etl' 'a`rm`' 'a$(b)'
    'a;b' 'a\\b' 'a\"b' ' a' 'a ' '' '.hidden' '-rf' '@x' '\x7f' '\u0085' '\u2028' '\u200b'
    'a\u00adb' 'a\ufffeb' 'a\U0001ffffb' '\u3164' 'a\U000e0041b'
    "$(printf 'a%.0s' {1..101})")
for name in "${refused[@]}"; do
    for where in name node pipe stage variant; do
        scenario "$name" "$where"
        expect 2 "$WEIR_BIN" validate names.yaml
        has stderr 'a name '
        ! LC_ALL=C grep -q $'\x1b\\[31' stderr || fail "an error steers the terminal"
    done
done

for name in 'a' '+40 %' 'größer als 1' 'h100 (4k), 2x' '任务' "$(printf 'a%.0s' {1..100})"; do
    for where in name node pipe stage variant; do
        scenario "$name" "$where"
        expect 0 "$WEIR_BIN" validate names.yaml
    done
done

# What comes from elsewhere. The label of a variant is where names meet every output.
scenario two variant
expect 0 "$WEIR_BIN" compare names.yaml -n 2 -o good.db
for name in "'a" $'e\x1b[31mred' '=cmd()' '<b>h</b>' 'a|b' $'r\xe2\x80\xaetl' $'\xff\xfe' 'a`rm`' '"q"' \
    $'a\nb' 'a\<b>h' 'a\fi' '{/:Bold' '%s%n' '../x' 'a]]>b' $'z\xe2\x80\x8bz' $'\xef\xbb\xbfb' $'a\xef\xbf\xbfb'; do
    cp good.db bad.db
    python3 - "$name" <<'PY'
import os, sqlite3, sys
name = os.fsencode(sys.argv[1]).decode("utf-8", "surrogateescape").encode("utf-8", "surrogateescape")
db = sqlite3.connect("bad.db")
for table, column in (("run", "variant"), ("stage", "name")):
    db.execute(f"UPDATE {table} SET {column} = CAST(? AS TEXT)" +
               (" WHERE variant = 'two'" if table == "run" else ""), (name,))
db.commit()
PY
    expect 0 "$WEIR_BIN" compare bad.db
    expect 0 "$WEIR_BIN" report bad.db -o page.html
    ! grep -qE '<b(>|&gt;)h' page.html || fail "$name: is HTML in the page"
    for file in stdout stderr page.html; do
        ! LC_ALL=C grep -qP '[\x00-\x08\x0b-\x1f\x7f]|\xe2\x80[\x8b\xae]|\xef\xbb|\xff' "$file" ||
            fail "$name: control characters in $file"
    done
    for format in csv md; do
        expect 0 "$WEIR_BIN" compare bad.db --format "$format"
        ! grep -qE '(^|,)=' stdout || fail "$name: a formula in $format"
    done
    ! grep -qE '(^|[^\\])(\\\\)*(<b>|\|b)' stdout || fail "$name: HTML, or the end of a cell, in Markdown"
    expect 0 "$WEIR_BIN" compare bad.db --format latex
    [ "$(grep -c '\\fi' stdout)" -eq 1 ] || fail "$name: ends what TeX passes over"
    expect 0 "$WEIR_BIN" plot bad.db policies -o picture.svg
    ! grep -q '<b>h' picture.svg || fail "$name: markup in the picture"
    python3 -c 'import xml.dom.minidom; xml.dom.minidom.parse("picture.svg")' 2>stderr ||
        fail "$name: the picture is no XML: $(tail -n 1 stderr)"
done

# Words of the command line, names of files among them, are said again in many places.
cp good.db $'a\x1b[31m.db'
for word in $'a\x1b[31m.db' $'a\x1b]0;t\x07' $'r\xe2\x80\xaetl' $'\x9b31m' $'z\xe2\x80\x8bz' $'a\rb'; do
    for words in report 'run names.yaml --set' 'plot good.db' 'explain good.db --stage' policies; do
        # shellcheck disable=SC2086
        expect 2 "$WEIR_BIN" $words "$word"
        matches stderr '^weir: word [2-4] of the command line has characters that are not seen'
        ! LC_ALL=C grep -qP '[\x00-\x08\x0b-\x1f\x7f]|\xe2\x80[\x8b\xae]|\x9b' stderr || fail "$words: the sentence steers"
    done
done
expect 0 "$WEIR_BIN" run names.yaml -n 1 -q -o 'größer als 任务.db'
