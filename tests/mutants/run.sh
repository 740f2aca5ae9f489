#!/bin/bash
# SPDX-License-Identifier: GPL-3.0-or-later
# run.sh ROOT FOLDER [NAME...]: puts the bugs of tests/mutants/list.txt, each alone, into a copy of the
# sources in FOLDER, and expects the test that goes with it to fail. A bug that no test notices, and
# one whose place is no longer found, is a failure. `./dev test --mutants` runs it.
# run.sh --places ROOT: builds nothing, only looks for the place and the test of every bug, and whether
# every folder of code has enough of them. A bug that may go unnoticed has `spared REASON` in place of
# `test`; it is only looked for, and does not count.
set -euo pipefail
try_one=one
if [ "$1" = --places ]; then
    try_one=find_place
    set -- "$2" /nowhere
fi
root=$1 folder=$(realpath -m "$2")
shift 2
copy=$folder/source built=$folder/release log=$folder/log
rooms=(CMakeLists.txt cmake sched sim workloads analysis scenarios tests docs LICENSES README.md
    CHANGELOG.md)

# list FOLDER: the files of all rooms there.
list() { (cd "$1" && { find "${rooms[@]}" -type f 2>/dev/null || true; } | LC_ALL=C sort); }

# Only what differs is copied, so that little is built anew; what is gone goes. A new copy has no room.
# It is built as what is shipped, but for what makes the link slow: a bug is to cost its file and a link.
prepare() {
    mkdir -p "$copy"
    list "$root" >"$folder/files"
    list "$copy" | LC_ALL=C comm -13 "$folder/files" - | while read -r file; do rm "$copy/$file"; done
    while read -r file; do
        cmp -s "$root/$file" "$copy/$file" && continue
        mkdir -p "$copy/$(dirname "$file")"
        cp "$root/$file" "$copy/$file"
    done <"$folder/files"
    ln -sfn source/sched "$folder/sched" # where the program looks for headers
    cmake -S "$copy" -B "$built" -DCMAKE_C_FLAGS_RELWITHDEBINFO=-O2 >"$log" 2>&1 ||
        { cat "$log"; exit 1; }
}

# As ctest runs them: what is written beyond a block ends the program.
guarded=()
for file in /lib/*/libc_malloc_debug.so.0; do
    [ ! -e "$file" ] || guarded=("LD_PRELOAD=$file" MALLOC_CHECK_=3)
done

# build TEST: the programs a test needs; try TEST [SECONDS]: runs it. A run without an end is noticed,
# too; one that leaves a slow part out (77) has found nothing wrong.
build() {
    local -a targets=(weir cli_helpers)
    case $1 in
    *.sh) ;;
    *) # Some ask the program, too.
        targets=("$1")
        ! grep -qs WEIR_BIN "$copy"/tests/*/"${1#test_*_}.c" || targets+=(weir)
        ;;
    esac
    cmake --build "$built" --target "${targets[@]}" >"$log" 2>&1
}

try() {
    local -x WEIR_BIN=$built/weir WEIR_PLUGINS=$built/plugins WEIR_SOURCE_DIR=$copy
    local -x WEIR_CHECK_INVARIANTS=1 WEIR_CONTROLLER=$built/tests/controller
    case $1 in
    *.sh) timeout -s KILL "${2:-900}" bash "$copy/tests/cli/run.sh" "$copy/$1" ;;
    *) (cd "$built/tests" && env "${guarded[@]}" timeout -s KILL "${2:-900}" "./$1") ;;
    esac >"$log" 2>&1 || [ $? -eq 77 ]
}

# Takes the bug out, also when this script is interrupted; the new time has the file built anew.
broken=
restore() {
    [ -z "$broken" ] || cp "$folder/kept" "$broken"
    broken=
}
trap restore EXIT

# one NAME FILE TEST EDIT...: 0 when the test passes without the bug and fails with it. limit_s: the
# seconds a test has that passes without any bug.
declare -A limit_s=()
one() {
    local name=$1 file=$2 test=$3 status=0 start=$SECONDS
    shift 3
    if [ -z "${limit_s[$test]:-}" ]; then
        if ! build "$test" || ! try "$test"; then
            tail -n 20 "$log"
            echo "FAILED  $test fails without any bug"
            return 1
        fi
        limit_s[$test]=$((30 + 5 * (SECONDS - start)))
    fi
    cp "$copy/$file" "$folder/kept"
    broken=$copy/$file
    sed -E -i "$@" "$broken"
    if cmp -s "$folder/kept" "$broken"; then
        echo "FAILED  $name: its place in $file is not found"
        status=1
    elif ! build "$test"; then
        tail -n 20 "$log"
        echo "FAILED  $name: it does not build"
        status=1
    elif try "$test" "${limit_s[$test]}"; then
        echo "FAILED  $name: $test does not notice"
        status=1
    else
        echo "ok      $name: noticed by $test"
    fi
    restore
    return $status
}

# enough: 0 when every folder of sim/ and sched/ with a function in a .c file has bugs enough, and all
# together have.
declare -A bugs_of=()
enough() {
    local folder all=0 lacking=0
    while read -r folder; do
        [ "${bugs_of[$folder]:-0}" -ge 5 ] && continue
        echo "FAILED  $folder has ${bugs_of[$folder]:-0} bugs, 5 are wanted"
        lacking=1
    done < <(cd "$root" && grep -rl --include='*.c' '^{' sched sim | sed 's|/[^/]*$||' |
        LC_ALL=C sort -u)
    for folder in "${!bugs_of[@]}"; do
        all=$((all + bugs_of[$folder]))
    done
    [ "$all" -ge 80 ] || { echo "FAILED  $all bugs, 80 are wanted"; lacking=1; }
    return $lacking
}

# find_place NAME FILE TEST EDIT...: 0 when there is something to edit, and such a test.
find_place() {
    local name=$1 file=$2 test=$3 source=$3
    shift 3
    if [[ $test =~ ^test_([a-z]+)_(.*)$ ]]; then
        source=tests/${BASH_REMATCH[1]}/${BASH_REMATCH[2]}.c
    fi
    if [ -n "$test" ] && { [[ $test != *.sh && $test == "$source" ]] || [ ! -e "$root/$source" ]; }; then
        echo "FAILED  $name: there is no test $test"
    elif [ ! -e "$root/$file" ] || sed -E "$@" "$root/$file" | cmp -s - "$root/$file"; then
        echo "FAILED  $name: its place in $file is not found"
    else
        return 0
    fi
    return 1
}

[ "$try_one" = find_place ] || prepare
failed=0 count=0 name='' test=''
arguments=()
finish() {
    if [ -n "$name" ] && { [ -z "$wanted" ] || [[ ,$wanted, == *",$name,"* ]]; } &&
        { [ -n "$test" ] || [ "$try_one" = find_place ]; }; then
        count=$((count + 1))
        [ -z "$test" ] || bugs_of[${file%/*}]=$((${bugs_of[${file%/*}]:-0} + 1))
        "$try_one" "$name" "$file" "$test" "${arguments[@]}" || failed=$((failed + 1))
    fi
    name='' test=''
    arguments=()
}
wanted=$(IFS=,; echo "$*")
while read -r word rest; do
    case $word in
    name) finish && name=$rest ;;
    file) file=$rest ;;
    test) test=$rest ;;
    spared) test='' ;;
    edit) arguments+=(-e "$rest") ;;
    esac
done <"$root/tests/mutants/list.txt"
finish
[ "$count" -gt 0 ] || { echo "no such mutant: $*"; exit 1; }
[ "$try_one" != find_place ] || enough || failed=$((failed + 1))
[ "$try_one" = find_place ] || echo "$count bugs, $((count - failed)) noticed"
[ "$failed" -eq 0 ]
