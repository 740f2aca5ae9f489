#!/bin/bash
# SPDX-License-Identifier: GPL-3.0-or-later
# `weir completion bash` gives a script that completes every command and its options; `weir upgrade`
# tells versions.
. "$WEIR_SOURCE_DIR/tests/support/cli.sh"

expect 0 "$WEIR_BIN" completion bash
cp stdout script
. ./script
complete -p weir >/dev/null || fail 'nothing is registered'
words() { # words of the line; the last one is completed
    COMP_WORDS=("$@")
    COMP_CWORD=$(($# - 1))
    _weir
    printf '%s\n' "${COMPREPLY[@]}"
}
words weir '' >all
"$WEIR_BIN" --help | sed -n 's/^  \([a-z]*\) .*/\1/p' >commands
[ "$(wc -l <commands)" -gt 14 ] || fail 'too few commands'
while read -r command; do
    grep -qx "$command" all || fail "no command $command"
    words weir "$command" -- >options
    grep -qx -- --help options || fail "no options of $command"
    "$WEIR_BIN" "$command" --help | sed -nE 's/^ +(-., )?(--[a-z-]+).*/\2/p' |
        grep -vxE -- '--(usage|version|help)' >own || true
    while read -r option; do
        grep -qx -- "$option" options || fail "$command lacks $option"
    done <own
done <commands
[ "$(words weir expl)" = explain ] || fail 'no prefix'
words weir run --repl | grep -qx -- --replications || fail 'no option by prefix'
[ -z "$(words weir run x)" ] || fail 'files are left to the shell'
expect 2 "$WEIR_BIN" completion
expect 2 "$WEIR_BIN" completion tcsh

# zsh: its own functions print what they are given.
expect 0 "$WEIR_BIN" completion zsh
cp stdout script.zsh
in_zsh() {
    zsh -fc 'compadd() { [ "$1" = -- ] && shift; print -l -- "$@"; }; _files() { print FILES; }
        compdef() { :; }; source ./script.zsh; words=("$@"); CURRENT=$#; PREFIX=${words[-1]}; _weir' zsh "$@"
}
expect 0 "$WEIR_BIN" completion fish
cp stdout script.fish
in_fish() {
    HOME=$PWD fish -N -c 'source script.fish; complete -C "$argv"' "$*" | cut -f1
}
for shell in zsh fish; do
    if ! command -v "$shell" >/dev/null; then
        skip_part "no $shell"
        continue
    fi
    "in_$shell" weir '' >all
    while read -r command; do
        grep -qx "$command" all || fail "$shell: no command $command"
        words weir "$command" -- | sort >ours
        "in_$shell" weir "$command" -- | sort -u >theirs
        same ours theirs
    done <commands
done

expect 0 "$WEIR_BIN" upgrade
has stdout 'scenario format'
scenario=$WEIR_SOURCE_DIR/scenarios/queueing/mm1.yaml
expect 0 "$WEIR_BIN" run "$scenario" -o a.db --quiet --set pipelines.0.input.items=1000
expect 0 "$WEIR_BIN" upgrade "$scenario" a.db --format json
has stdout '"version": "database 10"'
has stdout '"version": "scenario 2"'
sed 's/^schema: 2/schema: 3/' "$scenario" >new.yaml
expect 1 "$WEIR_BIN" upgrade new.yaml "$scenario"
has stdout 'needs a newer program'
expect 3 "$WEIR_BIN" upgrade missing.yaml
