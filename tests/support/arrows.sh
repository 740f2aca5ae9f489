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
    '"(sim/(engine|cluster|worker|queue|pipeline|jobs|services|actors|lab|scenario|record|cli)/|workloads/)' \
    analysis
forbid 'workloads know no simulator and no report' '"(sim/cli|sim/record|analysis)/' workloads
forbid 'the engine stands alone' \
    '"(sim/(cluster|worker|queue|pipeline|jobs|services|actors|lab|scenario|record|cli)/|analysis/|workloads/)' \
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

# may_include WHY ROOM REGEX: of the project's own headers files below ROOM include only these.
may_include() {
    local why=$1 room=$2 regex=$3 found
    found=$(grep -rnE --include='*.[ch]' '^[[:space:]]*#[[:space:]]*include[[:space:]]+"' "$room" |
        grep -vE "\"($regex)" || true)
    [ -n "$found" ] || return 0
    printf '%s:\n%s\n' "$why" "$found"
    faults=$((faults + 1))
}
may_include 'the lab has no clock, no worker and no host' sim/lab \
    'sim/(lab|scenario|record|cluster|engine)/|sim/belief\.h"|workloads/|weir/[^h]'
may_include 'the meter and the recorder stand below whatever runs' sim/record \
    'sim/(record|engine)/|weir/|weir_text\.h"'
forbid 'a scenario stands below whatever runs' \
    '"sim/(cluster|worker|queue|pipeline|jobs|services|actors|lab|record|cli)/' sim/scenario
# Jobs in time ask the same placer until libweir's host places jobs.
users=$(grep -rnE --include='*.[ch]' '#[[:space:]]*include[[:space:]]+"sim/lab/' sim workloads analysis |
    grep -vE '^sim/(lab/|run\.c|cli/|jobs/.*/job_placer\.h)' || true)
if [ -n "$users" ]; then
    printf 'only a run and the command line include the lab:\n%s\n' "$users"
    faults=$((faults + 1))
fi

forbid 'everybody but the tests uses the public headers of libweir' '"sched/' sim workloads analysis
forbid 'the memory and plans of libweir are its own' '"sched/(internal|cluster)/' sim workloads analysis
others=$(grep -rlE --include='*.[ch]' '#[[:space:]]*include[[:space:]]+"weir/host.h"' sim |
    grep -vE '^sim/(scheduler_port\.[ch]|cli/)' || true)
if [ -n "$others" ]; then
    printf 'only sim/scheduler_port.c includes weir/host.h:\n%s\n' "$others"
    faults=$((faults + 1))
fi
[ "$faults" -eq 0 ] || exit 1
echo "every include follows the arrows"
