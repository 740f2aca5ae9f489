#!/bin/bash
# SPDX-License-Identifier: GPL-3.0-or-later
# The Debian packages: five, with what belongs into each, what they need, and a man page for every
# command that lists the options which the command has.
. "$WEIR_SOURCE_DIR/tests/support/cli.sh"
build=$(dirname "$WEIR_BIN")
! grep -qE '^WEIR_(SANITIZE:STRING=.|COVERAGE:BOOL=ON)' "$build/CMakeCache.txt" ||
    skip 'what sanitizers or gcov are built into is not packed'
command -v cpack >/dev/null && command -v dpkg-deb >/dev/null || skip 'no cpack or no dpkg-deb'
command -v file >/dev/null || skip 'no file, which cpack asks what to strip'

expect 0 cpack -G DEB --config "$build/CPackConfig.cmake" -B "$PWD/made"
version=$(sed -n 's/^#define WEIR_VERSION *"\(.*\)"/\1/p' "$WEIR_SOURCE_DIR/sched/include/weir/version.h")-1
major=$(sed -n 's/^#define WEIR_ABI_MAJOR //p' "$WEIR_SOURCE_DIR/sched/include/weir/version.h")
(cd made && echo *.deb | tr ' ' '\n' | sed 's/_.*//') | LC_ALL=C sort >names
printf '%s\n' "libweir$major" "libweir-json$major" libweir-dev weir weir-doc | LC_ALL=C sort >wanted
same names wanted
for name in $(cat names); do
    dpkg-deb -x made/"${name}"_*.deb "$name"
    dpkg-deb -f made/"${name}"_*.deb >"$name.control"
    has "$name.control" "Version: $version"
    [ -s "$name/usr/share/doc/$name/copyright" ] || fail "$name does not say who holds the rights"
    find "$name" -mindepth 1 -type d -empty >empty
    [ ! -s empty ] || fail "$name has an empty folder: $(cat empty)"
done

# Nothing is in two packages.
for name in $(cat names); do (cd "$name" && find . ! -type d); done | LC_ALL=C sort | uniq -d >twice
[ ! -s twice ] || fail "in two packages: $(head -1 twice)"

library=$(find "libweir$major" -name 'libweir.so.*' -type f)
objdump -p "$library" >object
matches object "SONAME +libweir\.so\.$major\$"
[ "$(find "libweir$major/usr/lib" ! -type d | wc -l)" -eq 2 ] || fail 'libweir has more than its library'
matches "libweir$major.control" '^Depends: libc6 \([^,]*\)$'
dpkg-deb -e made/libweir"$major"_*.deb control
matches control/shlibs "^libweir $major libweir$major \(>= $version\)"
matches control/postinst ldconfig
for name in libweir-dev "libweir-json$major"; do has "$name.control" "libweir$major (= $version)"; done
has libweir-dev.control "libweir-json$major (= $version)"
matches "libweir-json$major.control" '^Depends: .*libjansson4'
[ -s "libweir-json$major/usr/lib/python3/dist-packages/weir_json.py" ] || fail 'no module for Python'
[ -n "$(find libweir-dev -name libweir.a)" ] && [ -n "$(find libweir-dev -name weir.pc)" ] || fail 'libweir-dev'
for needed in libgsl27 libjansson4 libsqlite3-0 libfyaml0; do has weir.control "$needed"; done
hasnt weir.control "libweir$major"
[ -s weir/usr/share/bash-completion/completions/weir ] || fail 'no completion'
[ -s weir-doc/usr/share/doc/weir-doc/embed.md ] || fail 'no documentation'
matches weir-doc.control '^Architecture: all'

# Man pages say what the tables of options say.
pages=weir/usr/share/man/man1
"$WEIR_BIN" --help | awk '/^  [a-z]/ { print $1 }' >commands
[ "$(wc -l <commands)" -gt 10 ] || fail 'weir --help lists no commands'
zcat "$pages/weir.1.gz" >weir.1
while read -r command; do
    has weir.1 "weir\\-$command"
    zcat "$pages/weir-$command.1.gz" >page || fail "no page of weir $command"
    { "$WEIR_BIN" "$command" --list-options; echo --usage; } | LC_ALL=C sort -u >options
    awk '/^[.]TP/ { getline; getline; print }' page | sed 's/\\-/-/g' |
        grep -oE -- '--[a-z][a-z0-9-]*' | LC_ALL=C sort -u >listed
    same options listed
    if command -v man >/dev/null; then
        MANROFFSEQ='' man --warnings -E UTF-8 -l page >/dev/null 2>warned || true
        [ ! -s warned ] || fail "the page of weir $command: $(head -1 warned)"
    fi
done <commands
