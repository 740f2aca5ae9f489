#!/bin/bash
# SPDX-License-Identifier: GPL-3.0-or-later
# What `cmake --install` puts on a machine, moved elsewhere afterwards: a C program finds libweir by
# pkg-config, a C++ one by find_package, both decide; the controller of docs/embed.md is built against
# it; nothing is installed that is not for users.
. "$WEIR_SOURCE_DIR/tests/support/cli.sh"
build=$(dirname "$WEIR_BIN")
! grep -qE '^WEIR_(SANITIZE:STRING=.|COVERAGE:BOOL=ON)' "$build/CMakeCache.txt" ||
    skip 'what sanitizers or gcov are built into is not installed'
command -v pkg-config >/dev/null || skip 'no pkg-config'

DESTDIR=$PWD/stage expect 0 cmake --install "$build" --prefix /usr
mv stage/usr moved
[ -z "$(find stage -type f)" ] || fail 'something is installed outside of the prefix'
root=$PWD/moved

# Only the public interface, and each of its headers.
(cd moved/include && find . -type f) | LC_ALL=C sort >headers
(cd "$WEIR_SOURCE_DIR/sched/include" && find . -type f) | LC_ALL=C sort >public
same headers public
! grep -rlE "$WEIR_SOURCE_DIR|$build|$PWD/stage" moved/lib --include='*.pc' --include='*.cmake' ||
    fail 'an installed file names the folder it was built in'

number() { sed -n "s/^#define WEIR_ABI_$1 //p" "$WEIR_SOURCE_DIR/sched/include/weir/version.h"; }
library=$(find moved -name "libweir.so.$(number MAJOR).$(number MINOR)")
[ -n "$library" ] || fail 'the name of the library does not follow its interface'
objdump -p "$library" >object
matches object "SONAME +libweir\.so\.$(number MAJOR)\$"
export LD_LIBRARY_PATH=$root/${library#moved/}
LD_LIBRARY_PATH=${LD_LIBRARY_PATH%/*}
export PKG_CONFIG_PATH=$LD_LIBRARY_PATH/pkgconfig
[ "$(pkg-config --variable=abi weir)" = "$(number MAJOR).$(number MINOR)" ] || fail 'abi of weir.pc'
[ "$(realpath "$(pkg-config --variable=prefix weir)")" = "$root" ] || fail 'weir.pc was not moved'

cat >program.c <<'C'
#include <weir/host.h>
#include <stdio.h>
int main(void)
{
    const struct weir_gpu_spec gpus[8] = { { .units = WEIR_ONE }, { .units = WEIR_ONE } };
    const struct weir_node_spec node = { sizeof node, .gpu_count = 2, .gpus = gpus,
                                         .cpu_units = 8 * WEIR_ONE };
    const struct weir_rank_group rank = { .ranks = 1, .ranks_min = 1, .ranks_max = 1,
        .shape = { .kind = WEIR_SHAPE_WHOLE, .gpu_count = 2, .gpu_units = WEIR_ONE } };
    const struct weir_job_spec job = { sizeof job, .groups = &rank, .group_count = 1,
                                       .deadline_ns = WEIR_UNKNOWN_TIME };
    const struct weir_host_config config = { sizeof config, .scaling = weir_scaling_find("fixed"),
                                             .placement = weir_placement_find("first_fit") };
    const struct weir_call call = { sizeof call, .causes = WEIR_CAUSE_JOBS };
    const struct weir_plan *plan = 0;
    struct weir_host *host = 0;
    if (weir_host_create(&config, &host, 0) || weir_host_add_node(host, &node, 0, 0) ||
        weir_host_add_workload(host, "w", 0, 0) || weir_host_submit(host, &job, 0) ||
        weir_host_decide(host, &call, &plan, 0))
        return 1;
    printf("%s on node %u\n", weir_verb_name(weir_plan_action(plan, 0)->verb),
           weir_plan_action(plan, 0)->alloc.node);
    weir_host_destroy(host);
}
C
read -r -a flags <<<"$(pkg-config --cflags --libs weir)"
expect 0 cc -std=c11 -Wall -Wextra -Werror program.c "${flags[@]}" -o program
expect 0 ./program
has stdout 'start on node 0'
read -r -a flags <<<"$(pkg-config --cflags --libs --static weir)"
expect 0 cc program.c "${flags[@]/-lweir/-l:libweir.a}" -o program_static
LD_LIBRARY_PATH='' expect 0 ./program_static
has stdout 'start on node 0'
read -r -a flags <<<"$(pkg-config --cflags --libs weir)"
expect 0 cc "$WEIR_SOURCE_DIR/sched/template/controller.c" "${flags[@]}" -o controller
printf 'node 64 8\njob 0 1000 1000 0 2 8 4\njob 5 1000 1000 0 1 8 4\n' >day.txt
expect 0 ./controller easy first_fit <day.txt
printf '0 0 0 0\n0 0 1 0\n1000 1 0 0\n' >wanted
same stdout wanted

# Decisions as JSON, from C, from Python and from Go: the same answers.
cat >documents.jsonl <<'J'
{"format":"weir-decision","version":3,"command":"autoscale","causes":["jobs"],"nodes":[{"id":"a","cpus":64,"gpus":8}],"stages":[],"workloads":[{"name":"d"}],"job_kinds":[{"groups":[{"ranks":1,"shape":{"type":"whole_gpu","gpus":8}}]}],"jobs":[{"workload":0,"id":1,"kind":0},{"workload":0,"id":2,"kind":0}],"policy":{"placement":"fgd","scaling":"fixed"}}
{"format":"weir-decision","version":3,"command":"next","times_ns":5}
{"format":"weir-decision","version":3,"command":"next","time_ns":5,"causes":["nodes"],"carried_out":true,"new_nodes":[{"id":"b","cpus":64,"gpus":8}]}
J
cat >json.c <<'C'
#include <weir/json.h>
#include <stdio.h>
#include <string.h>
int main(void)
{
    char line[4096];
    struct weir_json *session = weir_json_open();
    while (fgets(line, sizeof line, stdin) != NULL) {
        line[strcspn(line, "\n")] = 0;
        puts(weir_json_answer(session, line));
    }
    weir_json_close(session);
}
C
read -r -a flags <<<"$(pkg-config --cflags --libs weir-json)"
expect 0 cc -Wall -Wextra -Werror json.c "${flags[@]}" -o json
expect 0 ./json <documents.jsonl
mv stdout answers
expect 0 "$WEIR_BIN" decide --serve <documents.jsonl
sed 's/,"line":[0-9]*}$/}/' stdout >served
same answers served
matches answers "times_ns: unknown key.*did_you_mean\":\"time_ns"

if command -v python3 >/dev/null; then
    module=$(find moved -name weir_json.py)
    cat >session.py <<'P'
import json, weir_json
with weir_json.Session() as session:
    assert session.state() is None
    for line in open("documents.jsonl"):
        answer = session.answer(json.loads(line))
        print(json.dumps(answer, separators=(",", ":")))
        if answer["status"] != "ok":
            continue
        state = session.state()
        assert len(state["jobs"]) == 2 and state["command"] == "autoscale", state
        with weir_json.Session() as other:
            assert other.answer(state)["status"] == "ok"
    assert len(state["nodes"]) == 2, state
P
    PYTHONDONTWRITEBYTECODE=1 PYTHONPATH=${module%/*} expect 0 python3 session.py
    [ "$(wc -l <stdout)" -eq 3 ] || fail 'Python has not three answers'
    matches stdout '"job":2.*"node":"b"|"node":"b".*"job":2'
else
    skip_part 'no python3'
fi

if command -v go >/dev/null; then
    mkdir go
    cp "$WEIR_SOURCE_DIR/sched/template/decide.go" go/
    (cd go && GOFLAGS=-mod=mod GOCACHE=$PWD/cache GOPATH=$PWD/path GO111MODULE=off \
        expect 0 go build -o decide decide.go)
    expect 0 go/decide <documents.jsonl
    cat >wanted <<'W'
start n0 of job 1 on a
error: times_ns: unknown key <nil>
start n1 of job 2 on b
W
    same stdout wanted
else
    skip_part 'no go'
fi

command -v c++ >/dev/null || skip_part 'no C++ compiler'
command -v c++ >/dev/null || exit 0
mkdir cxx
cat >cxx/CMakeLists.txt <<'C'
cmake_minimum_required(VERSION 3.16)
project(user LANGUAGES CXX)
find_package(weir 0.1 REQUIRED)
if(NOT weir_ABI VERSION_GREATER_EQUAL 2.3)
    message(FATAL_ERROR "interface ${weir_ABI}")
endif()
foreach(kind weir weir_static weir_json)
    add_executable(with_${kind} user.cpp)
    target_link_libraries(with_${kind} weir::${kind})
endforeach()
C
cat >cxx/user.cpp <<'C'
#include <weir/host.h>
#include <iostream>
int main()
{
    weir_host_config config{};
    config.size = sizeof config;
    config.placement = weir_placement_find("fgd");
    config.scaling = weir_scaling_find("fixed");
    weir_host *host = nullptr;
    weir_error error{};
    if (weir_host_create(&config, &host, &error) != WEIR_OK)
        return 1;
    std::cout << "libweir " << weir_version() << ", nodes "
              << weir_cluster_node_count(weir_host_cluster(host)) << '\n';
    weir_host_destroy(host);
}
C
expect 0 cmake -S cxx -B cxx/build -DCMAKE_PREFIX_PATH="$root"
expect 0 cmake --build cxx/build
for kind in weir weir_static; do
    LD_LIBRARY_PATH='' expect 0 "cxx/build/with_$kind"
    matches stdout '^libweir [0-9.]+, nodes 0$'
done
sed -i 's/weir 0.1/weir 9.1/' cxx/CMakeLists.txt
expect 1 cmake -S cxx -B cxx/other -DCMAKE_PREFIX_PATH="$root"
has stderr 'version: 0.1.0'
