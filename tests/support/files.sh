#!/bin/bash
# SPDX-License-Identifier: GPL-3.0-or-later
# files.sh ROOT: every source file opens with its licence and none is above 800 lines; no folder holds
# more sources than one takes in; files that the documentation names exist; the top level holds what
# it is meant to hold, and nothing that a test or a run left there.
set -euo pipefail
cd "$1"
faults=0
count=0
fault() {
    echo "$1"
    faults=$((faults + 1))
}

while IFS= read -r file; do
    count=$((count + 1))
    licence=GPL-3.0-or-later
    case $file in sched/*) licence=Apache-2.0 ;; esac
    head -n 2 "$file" | grep -qE "SPDX-License-Identifier: ${licence//./\\.}( (\*/|-->))?\$" ||
        fault "$file: the first lines lack 'SPDX-License-Identifier: $licence'"
    case $file in
    *.[ch])
        lines=$(wc -l <"$file")
        [ "$lines" -le 800 ] || fault "$file: $lines lines, at most 800 are allowed"
        ;;
    esac
done < <(find CMakeLists.txt dev cmake sched sim workloads analysis tests -type f \
    \( -name '*.[ch]' -o -name '*.sh' -o -name '*.sql' -o -name '*.cmake' -o -name CMakeLists.txt \
    -o -name dev \) -not -path 'tests/fuzz/corpus/*' | LC_ALL=C sort)
# More than a newcomer can take in want an inner wall. Charts are one file each, and alike.
while read -r sources folder; do
    [ "$sources" -le 32 ] || [ "$folder" = analysis/plots ] ||
        fault "$folder: $sources sources side by side, at most 32 are allowed: build a wall"
done < <(find sched sim workloads analysis -name '*.c' | sed 's|/[^/]*$||' | sort | uniq -c)
# Files only: folders may be named where they are still to come.
named=$(grep -ohE '`(sim|sched|tests|analysis|workloads|scenarios)/[A-Za-z0-9_/.-]+\.[a-z]+`' \
    README.md CONTRIBUTING.md CHANGELOG.md docs/*.md docs/model/*.md | tr -d '`' | LC_ALL=C sort -u)
for file in $named; do
    [ -e "$file" ] || fault "$file: the documentation names it, and it is not there"
done
top='.clang-format .clang-tidy .gitignore CHANGELOG.md CMakeLists.txt CMakePresets.json
    CONTRIBUTING.md README.md dev packages.txt .ci LICENSES analysis cmake docs scenarios sched sim
    tests workloads'
for entry in $(git ls-files 2>/dev/null | cut -d/ -f1 | LC_ALL=C sort -u); do
    case " $(echo $top) " in
    *" $entry "*) ;;
    *) fault "$entry: the top level is not the place of this" ;;
    esac
done

[ "$faults" -eq 0 ] || exit 1
echo "$count files, each with its licence and at most 800 lines"
