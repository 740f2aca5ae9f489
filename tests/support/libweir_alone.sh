#!/bin/bash
# SPDX-License-Identifier: GPL-3.0-or-later
# libweir_alone.sh ROOT BUILD COMPILER: the folder sched/, lifted out, builds and installs, and a
# program finds the installed library through pkg-config.
set -euo pipefail
root=$1 build=$2 compiler=$3
rm -rf "$build"
mkdir -p "$build"
cp -r "$root/sched" "$build/sched"
logged() {
    "$@" >"$build/log" 2>&1 && return 0
    cat "$build/log"
    exit 1
}
logged cmake -S "$build/sched" -B "$build/build" -DCMAKE_C_COMPILER="$compiler" \
    -DCMAKE_C_COMPILER_LAUNCHER="$(command -v ccache || true)" \
    -DCMAKE_INSTALL_PREFIX="$build/prefix" -DCMAKE_INSTALL_LIBDIR=lib
logged cmake --build "$build/build" -j2
logged cmake --install "$build/build"
cat >"$build/program.c" <<'C'
#include "weir/status.h"
int main(void)
{
    return weir_status_text(WEIR_OK) == 0;
}
C
# An installation that was moved still says where it is.
mv "$build/prefix" "$build/moved"
export PKG_CONFIG_PATH=$build/moved/lib/pkgconfig
read -r -a flags <<<"$(pkg-config --cflags --libs weir)"
"$compiler" -o "$build/program" "$build/program.c" "${flags[@]}"
LD_LIBRARY_PATH=$build/moved/lib "$build/program"
major=$(sed -n 's/^#define WEIR_ABI_MAJOR //p' "$root/sched/include/weir/version.h")
objdump -p "$build/moved/lib/libweir.so" >"$build/log"
grep -q "SONAME  *libweir.so.$major\$" "$build/log" && grep -q "WEIR_$major\$" "$build/log" ||
    { echo "SONAME or symbol version is not of interface $major"; cat "$build/log"; exit 1; }
echo "libweir $(pkg-config --modversion weir) builds and installs alone"
