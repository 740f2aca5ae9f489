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
forbid 'files that are written are below all but libweir' \
    '"(sched|sim/[a-eg-z]|analysis|workloads)/?' sim/files
forbid 'workloads know no simulator and no report' '"(sim/cli|sim/record|analysis)/' workloads
forbid 'the engine stands alone' \
    '"(sim/(cluster|worker|queue|pipeline|jobs|services|actors|lab|scenario|record|cli)/|analysis/|workloads/)' \
    sim/engine

# The world: cli -> world -> drivers, port, lab; drivers, port -> worker -> cluster -> engine.
include='^[[:space:]]*#[[:space:]]*include[[:space:]]+'
driver_rooms='sim/(pipeline|jobs|services|actors)/'

# forbid_lines WHY REGEX BUT PATH... : no line below PATH may match REGEX, unless its grep line
# (file:number:text) matches BUT.
forbid_lines() {
    local why=$1 regex=$2 but=$3 found path paths=(/dev/null)
    shift 3
    for path in "$@"; do
        [ ! -e "$path" ] || paths+=("$path")
    done
    found=$(grep -rnE --include='*.[ch]' "$regex" "${paths[@]}" | grep -vE "$but" || true)
    [ -n "$found" ] || return 0
    printf '%s:\n%s\n' "$why" "$found"
    faults=$((faults + 1))
}

none='^$'
drivers=(sim/pipeline sim/jobs sim/services sim/actors)
forbid_lines 'worker, queue and cluster know nothing above them' \
    "$include\"(sim/(world|port|lab|cli)/|$driver_rooms)" "$none" sim/worker sim/queue sim/cluster
forbid_lines 'cluster and queue know no worker' "$include\"sim/worker/" "$none" sim/cluster sim/queue
forbid_lines 'scenario and record know no part of a run' \
    "$include\"(sim/(world|port|lab|worker|cluster|queue|cli)/|$driver_rooms)" "$none" sim/scenario \
    sim/record
forbid_lines 'world and port know no driver: sim/drivers.c lists them' "$include\"$driver_rooms" \
    "$none" sim/world sim/port
forbid_lines 'world and port call no driver by its name' \
    '\b(sim_pipeline_|sim_job_|sim_service_|sim_actor_)' "$none" sim/world sim/port
forbid_lines 'drivers and port include sim/world/driver.h and nothing else of the world' \
    "$include\"sim/world/" '"sim/world/driver\.h"' "${drivers[@]}" sim/port
forbid_lines 'drivers touch no device and no scheduler' "$include\"sim/(cluster|port|lab|cli)/" \
    "$none" "${drivers[@]}"
for room in pipeline jobs services actors; do
    forbid_lines "sim/$room knows no other driver" "$include\"$driver_rooms" "\"sim/$room/" "sim/$room"
done
forbid_lines 'only workers and the lab take devices and give them back' \
    '\bsim_cluster_(acquire|release|cut|run)\(' '^sim/(cluster|worker|lab)/' sim
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
    'sim/(lab|scenario|record|cluster|engine)/|workloads/|weir/[^h]'
may_include 'the meter and the recorder stand below whatever runs' sim/record \
    'sim/(record|engine)/|weir/|weir_text\.h"'
forbid 'a scenario stands below whatever is recorded' '"sim/record/' sim/scenario
users=$(grep -rnE --include='*.[ch]' '#[[:space:]]*include[[:space:]]+"sim/lab/' sim workloads analysis |
    grep -vE '^sim/(lab/|world/(bounds|run|lab_apart)\.[ch]|cli/)' || true)
if [ -n "$users" ]; then
    printf 'only a run and the command line include the lab:\n%s\n' "$users"
    faults=$((faults + 1))
fi

forbid 'everybody but the tests uses the public headers of libweir' '"sched/' sim workloads analysis
forbid 'the memory and plans of libweir are its own' '"sched/(internal|cluster)/' sim workloads analysis
others=$(grep -rlE --include='*.[ch]' '#[[:space:]]*include[[:space:]]+"weir/host.h"' sim |
    grep -vE '^sim/(port/|cli/)' || true)
if [ -n "$others" ]; then
    printf 'only sim/port includes weir/host.h:\n%s\n' "$others"
    faults=$((faults + 1))
fi
[ "$faults" -eq 0 ] || exit 1
echo "every include follows the arrows"
