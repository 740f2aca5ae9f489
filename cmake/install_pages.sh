#!/bin/bash
# SPDX-License-Identifier: GPL-3.0-or-later
# install_pages.sh WEIR PREFIX: man pages and completions of a program weir, below PREFIX/share. All of
# it is what the program says by itself: the commands of `weir --help`, the tables behind
# `weir COMMAND --help-all`, and `weir completion SHELL` for each shell it knows.
set -euo pipefail
weir=$1 share=$2/share
export LC_ALL=C ARGP_HELP_FMT='rmargin=16000,opt-doc-col=200'
version=$("$weir" --version | sed -n '1s/^\(weir [^ ]*\).*/\1/p')
mkdir -p "$share/man/man1"

commands() { "$weir" --help | awk '/^  [a-z]/ { print $1 }'; }
# What --help says, for roff: an option a line, paragraphs as they are.
roff() {
    sed 's/\\/\\e/g; s/-/\\-/g' | awk '
        function text(line) { if (line ~ /^[.\047]/) line = "\\&" line; print line }
        /^Usage: / {
            sub(/^Usage: /, "")
            print ".SH SYNOPSIS"; print ".B"; text($0); print ".SH DESCRIPTION"; next
        }
        sub(/^ +or: +/, "") { print ".br"; text($0); next }
        /^ *\\-[^ ]/ && match($0, /  +[^ ]/) {
            if (!options++) print ".SH OPTIONS"
            line = $0; sub(/^ +/, "", line)
            doc = ""
            if (match(line, /  +/)) {
                doc = substr(line, RSTART + RLENGTH)
                line = substr(line, 1, RSTART - 1)
            }
            print ".TP"; print ".B"; text(line); text(doc); next
        }
        /^Mandatory or optional arguments/ { next }
        /^  [a-z]/ {
            if (!listed++) print ".SH COMMANDS"
            name = $1; sub(/^ +[^ ]+ +/, "")
            print ".TP"; print ".BR weir\\-" name " (1)"; text($0); next
        }
        /^$/ { blank = 1; next }
        {
            if ((options || listed) && !after++) print ".SH NOTES"
            if (blank) print ".PP"
            blank = 0; text($0)
        }'
}
# page NAME SUMMARY: of what comes in.
page() {
    {
        printf '.TH "%s" 1 "" "%s" "User commands"\n.SH NAME\n' "${1^^}" "$version"
        printf '%s \\- %s\n' "${1//-/\\-}" "$(sed 's/\\/\\e/g; s/-/\\-/g' <<<"$2")"
        roff
        printf '.SH "SEE ALSO"\n'
        [ "$1" = weir ] || printf '.BR weir (1),\n'
        printf 'the folder of the documentation, /usr/share/doc/weir\\-doc\n'
    } | gzip -9n >"$share/man/man1/$1.1.gz"
}

"$weir" --help | page weir "$("$weir" --help | sed -n '3s/[.]$//p')"
for command in $(commands); do
    summary=$("$weir" --help | sed -n "s/^  $command  *//p")
    "$weir" "$command" --help-all | page "weir-$command" "$summary"
done

made=$(mktemp)
trap 'rm -f "$made"' EXIT
completion() {
    "$weir" completion "$1" >"$made" 2>/dev/null || return 0
    install -Dm644 "$made" "$share/$2"
}
completion bash bash-completion/completions/weir
completion zsh zsh/vendor-completions/_weir
completion fish fish/vendor_completions.d/weir.fish
