#!/bin/bash
# SPDX-License-Identifier: GPL-3.0-or-later
# `weir new`: every file has at most 25 lines, and the printed commands, run as they are, lead to a
# report; an existing file is left alone.
. "$WEIR_SOURCE_DIR/tests/support/cli.sh"
unset WEIR_CHECK_INVARIANTS
mkdir bin
ln -s "$WEIR_BIN" bin/weir
export PATH="$PWD/bin:$PATH"
draws=yes
command -v gnuplot >/dev/null || draws=

# follow FILE WORD...: weir new WORD... writes FILE and prints commands, which are run.
follow() {
    local file=$1
    shift
    expect 0 weir new "$@"
    cp stdout steps
    [ "$(wc -l <"$file")" -le 25 ] || fail "$file has $(wc -l <"$file") lines"
    ! grep -qE 'template|SPDX' "$file" || fail "$file calls itself a template"
    matches steps '^# .*\?$'
    while IFS= read -r command; do
        [ -n "$draws" ] || [[ $command != 'weir report'* ]] || continue
        expect 0 bash -c "$command"
    done < <(grep -v '^#' steps)
}

for kind in pipeline jobs incident; do
    follow "my-$kind.yaml" "$kind" "my-$kind.yaml"
    [ "$(sed '/^#/,$d' steps | wc -l)" -eq 2 ] || fail "$kind: not three commands to a report"
    [ -z "$draws" ] || [ -s "my-$kind.html" ] || fail "$kind: no report"
    cp "my-$kind.yaml" before
    expect 3 weir new "$kind" "my-$kind" # the ending is added
    has stderr "my-$kind.yaml"
    same before "my-$kind.yaml"
done

if command -v gcc >/dev/null; then
    for kind in placement queueing scaling capacity; do
        follow "$kind.c" policy "$kind" --kind "$kind"
    done
fi
if command -v python3 >/dev/null; then
    follow rule.py policy rule.py
    follow put.py policy put --kind placement --language python
    follow order.py policy order.py --kind queueing
    # same_rule KIND NAME PARAMETERS: the program and the module of that kind have one rule.
    same_rule() {
        weir run "$2.yaml" -n 1 --no-db --set "sched.$1={policy: command, argv: [python3, $2.py]$3}" >python
        weir run "$2.yaml" -n 1 --no-db --plugin "./$1.so" --set "sched.$1=$1" >module
        [ "$(sed -n 's/^digest//p' python)" = "$(sed -n 's/^digest//p' module)" ] || fail "$2.py decides otherwise than $1.c"
        [ -n "$(sed -n 's/^digest//p' python)" ] || fail "no digest of $2"
    }
    [ ! -f placement.so ] || same_rule placement put ''
    [ ! -f queueing.so ] || same_rule queueing order ', passes: true'
    [ ! -f scaling.so ] || {
        # The program and the module have one rule.
        weir run rule.yaml -n 1 --no-db --set 'sched.scaling={policy: command, argv: [python3, rule.py]}' >python
        weir run rule.yaml -n 1 --no-db --plugin ./scaling.so --set sched.scaling=scaling >module
        [ "$(sed -n 's/.* result //p' python)" = "$(sed -n 's/.* result //p' module)" ] ||
            fail 'scaling.py decides otherwise than scaling.c'
    }
fi

expect 2 weir new
has stderr 'begin what? pipeline, jobs, incident or policy'
expect 2 weir new pipelin a
has stderr "did you mean 'pipeline'?"
expect 2 weir new jobs
has stderr 'weir new pipeline my.yaml'
expect 2 weir new jobs a.c
expect 2 weir new jobs a --kind scaling
expect 2 weir new policy a.yaml
expect 2 weir new policy a.c --language python
expect 2 weir new policy a.py --kind all
has stderr 'weir new policy NAME.c --kind all'
for name in '9a' 'a b' '-a' 'A'; do
    expect 2 weir new policy -- "$name"
done
