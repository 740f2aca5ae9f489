#!/bin/bash
# SPDX-License-Identifier: GPL-3.0-or-later
# arrows.sh ROOT: which room may include which. Prints each include that breaks an arrow; fails
# when there is one.
set -euo pipefail
cd "$1"
faults=0

# forbid WHY REGEX PATH... : no #include line below PATH may match REGEX.
forbid() {
    local why=$1 regex=$2 found
    shift 2
    found=$(grep -rnE --include='*.[ch]' "^[[:space:]]*#[[:space:]]*include[[:space:]]+$regex" "$@" ||
        true)
    [ -n "$found" ] || return 0
    printf '%s:\n%s\n' "$why" "$found"
    faults=$((faults + 1))
}

forbid 'libweir knows no other room' '"(sim|analysis|workloads|tests)/' sched
forbid 'libweir knows no file, clock, thread or library' \
    '<(stdio|time|unistd|fcntl|pthread|locale|signal|sys/.*|gsl/.*|sqlite3|csv|libfyaml|jansson|zlib|zstd)\.?h?>' \
    sched/include
forbid 'libweir uses libc and libm only' \
    '<(time|unistd|fcntl|pthread|locale|signal|sys/.*|gsl/.*|sqlite3|csv|libfyaml|jansson|zlib|zstd)\.?h?>' \
    sched
forbid 'analysis reads result databases, never a scenario or the simulator' \
    '"(sim/(engine|cluster|worker|queue|pipeline|jobs|services|actors|scenario|record|cli)/|workloads/)' \
    analysis
forbid 'workloads know no simulator and no report' '"(sim/cli|sim/record|analysis)/' workloads
forbid 'the engine stands alone' \
    '"(sim/(cluster|worker|queue|pipeline|jobs|services|actors|scenario|record|cli)/|analysis/|workloads/)' \
    sim/engine
drivers_below=(/dev/null)
for room in sim/worker sim/queue; do
    [ ! -d "$room" ] || drivers_below+=("$room")
done
forbid 'worker and queue know no driver' '"sim/(pipeline|jobs|services|actors)/' \
    "${drivers_below[@]}"
rooms=()
for room in sim/*/; do
    [ "$room" = sim/cli/ ] || rooms+=("$room")
done
forbid 'only the command line may call analysis' '"(analysis|sim/cli)/' "${rooms[@]}"

# weir decide prints the formulas of libweir itself; everybody else uses the public headers.
users=$(grep -rlE --include='*.[ch]' '#[[:space:]]*include[[:space:]]+"sched/' sim workloads analysis |
    grep -vE '^sim/cli/decide' || true)
if [ -n "$users" ]; then
    printf 'only weir decide includes the insides of libweir:\n%s\n' "$users"
    faults=$((faults + 1))
fi
forbid 'the memory and plans of libweir are its own' '"sched/(internal|cluster)/' sim workloads analysis
others=$(grep -rlE --include='*.[ch]' '#[[:space:]]*include[[:space:]]+"weir/host.h"' sim |
    grep -vE '^sim/(port/|cli/)' || true)
if [ -n "$others" ]; then
    printf 'only sim/port includes weir/host.h:\n%s\n' "$others"
    faults=$((faults + 1))
fi
[ "$faults" -eq 0 ] || exit 1
echo "every include follows the arrows"
