/* SPDX-License-Identifier: GPL-3.0-or-later */
/* See keys_table.h. */
#include "tests/support/keys_table.h"

#include "tests/support/check.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char *const bases[TEST_KEYS_BASES] = {
    "schema: 2\nname: t\nhorizon: 10 min\n"
    "catalog: {node_types: {m: {cpus: 16, ram: 64 GB, gpus: {h100: 2}}}}\n"
    "cluster: {nodes: [{name: n, type: m, count: 2}]}\n"
    "sched: {placement: fgd, scaling: {policy: xenna, interval: 30 s, window: 60 s}}\n"
    "pipelines:\n"
    "  - name: p\n"
    "    input: {items: 600}\n"
    "    stages:\n"
    "      - {name: a, cpus: 1, service: exp(3 s), setup: 2 s}\n"
    "      - {name: b, cpus: 1, gpus: 0.5, service: exp(2 s), setup: 5 s}\n",
    "schema: 2\nname: t\nhorizon: 2 h\n"
    "catalog: {node_types: {m: {cpus: 16, ram: 64 GB, gpus: {h100: 2}}}}\n"
    "cluster: {nodes: [{name: n, type: m, count: 2}]}\n"
    "jobs:\n"
    "  - name: w\n"
    "    run_time: exp(5 min)\n"
    "    arrivals: {rate: 0.02}\n"
    "    classes:\n"
    "      - {name: a, request: {cpus: 2, gpus: 1}}\n"
    "      - {name: b, request: {cpus: 4, gpus: 2}}\n",
    "schema: 2\nname: t\n"
    "catalog: {node_types: {m: {cpus: 16, ram: 64 GB, gpus: {h100: 2}}}}\n"
    "cluster: {nodes: [{name: n, type: m, count: 8}]}\n"
    "fill:\n"
    "  - name: w\n"
    "    count: 12\n"
    "    classes:\n"
    "      - {name: a, request: {cpus: 2, gpus: 0.6}}\n"
    "      - {name: b, request: {cpus: 4, gpus: 1}}\n",
    "schema: 2\nname: t\nhorizon: 10 min\n"
    "catalog: {node_types: {m: {cpus: 16, ram: 64 GB, gpus: {h100: 2}}}}\n"
    "cluster: {nodes: [{name: n, type: m, count: 2}]}\n"
    "sched: {placement: fgd, scaling: {policy: fixed, interval: 30 s}}\n"
    "actors:\n"
    "  - name: s\n"
    "    roles:\n"
    "      rollout_worker: {count: 6}\n"
    "      trainer: {count: 2, cpus: 2, gpus: 1, concurrency: 1}\n"
    "      trajectory_pool: {count: 1, group: main}\n"
    "      weight_sync_controller: {count: 1, group: main}\n"
    "      data_loader: {count: 1, concurrency: 10}\n"
    "      validator: {count: 2}\n"
    "    groups: {main: {concurrency: 2}}\n"
    "    calls: [{from: validator, to: trajectory_pool, think: exp(2 s), service: exp(4 s)}]\n"
    "    training: {batch: 4, repeat: 3, rollout: exp(5 s), step: exp(8 s), transfer: 2 s}\n",
    "schema: 2\nname: t\nhorizon: 10 min\n"
    "catalog: {node_types: {m: {cpus: 16, ram: 64 GB, gpus: {h100: 2}}}}\n"
    "cluster: {nodes: [{name: n, type: m, count: 3}]}\n"
    "sched: {placement: fgd, scaling: {policy: xenna, interval: 30 s, window: 60 s}}\n"
    "pipelines:\n"
    "  - name: p\n"
    "    input: {items: 60}\n"
    "    stages:\n"
    "      - {name: a, cpus: 1, service: exp(3 s), setup: 2 s}\n"
    "      - {name: b, cpus: 1, gpus: 0.5, service: exp(2 s), setup: 5 s}\n"
    "  - name: q\n"
    "    input: {items: 20}\n"
    "    stages: [{name: c, cpus: 1, gpus: 0.3, service: 4 s}]\n"
    "jobs:\n"
    "  - name: w\n"
    "    run_time: exp(1 min)\n"
    "    arrivals: {rate: 0.05}\n"
    "    classes:\n"
    "      - {name: a, request: {cpus: 2, gpus: 1}}\n"
    "      - {name: b, request: {cpus: 4, gpus: 2}}\n"
    "  - name: v\n"
    "    run_time: exp(1 min)\n"
    "    arrivals: {process: renewal, gap: 20 s}\n"
    "    classes: [{name: c, request: {cpus: 1, gpus: 0.5}}]\n"
    "  - name: u\n"
    "    run_time: 30 s\n"
    "    arrivals: {process: renewal, gap: 40 s}\n"
    "    classes: [{name: d, request: {cpus: 2, gpus: 1}}]\n"
};

char *test_keys_part(char **rest)
{
    static char none[1];
    char *part = strsep(rest, ";");
    if (part == NULL)
        return none;
    part += strspn(part, " ");
    for (size_t end = strlen(part); end > 0 && strchr(" \n", part[end - 1]) != NULL; end--)
        part[end - 1] = '\0';
    return part;
}

struct test_keys *test_keys_read(void)
{
    struct test_keys *keys = calloc(1, sizeof *keys);
    FILE *file = fopen(test_data("property/keys.table"), "r");
    CHECK(file != NULL && keys != NULL);
    if (file == NULL || keys == NULL) {
        free(keys);
        if (file != NULL)
            (void)fclose(file);
        return NULL;
    }
    struct test_keys_line *line = keys->lines;
    while (keys->count < TEST_KEYS_LINES && fgets(line->text, TEST_KEYS_LINE, file) != NULL) {
        char *rest = line->text;
        if (rest[0] == '#' || rest[0] == '\n')
            continue;
        line->key = test_keys_part(&rest);
        line->kind = test_keys_part(&rest);
        line->given = test_keys_part(&rest);
        line->change = test_keys_part(&rest);
        line->refusal = test_keys_part(&rest);
        if (strcmp(line->given, "\"") == 0)
            line->given = line[-1].given;
        line++;
        keys->count++;
    }
    (void)fclose(file);
    return keys;
}

size_t test_keys_split(char *text, const char **sets)
{
    size_t count = 0;
    for (char *set = strsep(&text, "|"); set != NULL && count < TEST_KEYS_SETS;
         set = strsep(&text, "|")) {
        set += strspn(set, " ");
        for (size_t end = strlen(set); end > 0 && set[end - 1] == ' '; end--)
            set[end - 1] = '\0';
        if (set[0] != '\0')
            sets[count++] = set;
    }
    return count;
}

bool test_keys_is_for(const struct test_keys_line *line, int base)
{
    return base == TEST_KEYS_TOGETHER ? strpbrk(line->kind, "PJ") != NULL
                                      : strchr(line->kind, test_keys_letters[base]) != NULL;
}

/* Files are given relative to the folder of this test's data. */
struct sim_scenario *test_keys_load(int base, const char *text, const char *const *sets,
                                    size_t count, struct sim_diagnostics *said)
{
    const struct sim_scenario_source source = { .path = test_data("property/keys/keys.yaml"),
                                                .text = text != NULL ? text : bases[base],
                                                .sets = sets,
                                                .sets_count = count };
    struct sim_scenario *scenario = NULL;
    *said = (struct sim_diagnostics){ .items = NULL };
    (void)sim_scenario_load(&source, &scenario, said);
    return scenario;
}
