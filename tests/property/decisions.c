/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * A decision of any run can be taken out and made again: decisions of random scenarios (pipelines,
 * jobs with gangs that hold what they find or nothing, placement groups, GPUs cut anew, node
 * failures, limits of queues, late plans, every kind of policy) are exported as they are about to
 * be made, and `weir decide`, a process of its own, plans the same, action by action.
 */
#include "sim/cli/decide/decide.h"
#include "sim/cli/decide/decide_document.h"
#include "sim/cli/decide/decide_host.h"
#include "tests/support/check.h"
#include "tests/support/job_scenarios.h"
#include "tests/support/runs.h"
#include "weir/plan.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { RUNS = 80, SLOW_RUNS = 600, PER_RUN = 6, LEAST = 200 };

/* What was seen of all plans, so that nothing is equal because it is empty. */
struct seen {
    uint32_t decisions, verbs[WEIR_VERB_COUNT], of_jobs, of_gangs, of_pools, instances, turned_away;
};

/* One run. */
struct taken {
    FILE *documents;
    char *expected[PER_RUN]; /* the actions of the plan; NULL = it failed */
    uint32_t count;
    bool is_open; /* a document was written, its plan is to come */
    uint64_t dice;
    uint32_t every;
    struct seen *seen;
};

static uint32_t roll(uint64_t *dice, uint32_t below)
{
    *dice = *dice * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
    return (uint32_t)((*dice >> 33) % below);
}

/* As `weir decide` writes; the caller frees it. */
static char *print(const json_t *actions)
{
    char *text = NULL;
    size_t size = 0;
    FILE *const out = open_memstream(&text, &size);

    decide_print(actions, true, out);
    (void)fclose(out);
    return text;
}

static weir_status take_document(void *self, const char *text, size_t length, bool *is_enough)
{
    struct taken *const taken = self;

    *is_enough = taken->count == PER_RUN;
    if (*is_enough || roll(&taken->dice, taken->every) != 0)
        return WEIR_OK;
    for (size_t i = 0; i < length; i++)
        if (text[i] != '\n')
            (void)fputc(text[i], taken->documents);
    (void)fputc('\n', taken->documents);
    taken->is_open = true;
    return WEIR_OK;
}

static void count_action(struct seen *seen, const struct weir_action *action)
{
    const bool is_start = action->verb == WEIR_VERB_START;
    const bool is_job = action->owner.kind == WEIR_OWNER_JOB;

    seen->verbs[action->verb]++;
    seen->of_jobs += is_start && is_job;
    seen->of_gangs += is_start && is_job && action->group != 0;
    seen->of_pools += is_start && !is_job;
    seen->instances += is_start && action->alloc.device_count > 0 && action->alloc.devices[0].mig;
    seen->turned_away += action->reason == WEIR_REASON_QUEUE_FULL;
}

static weir_status take_plan(void *self, const struct weir_plan *plan,
                             const struct weir_cluster *cluster)
{
    struct taken *const taken = self;
    json_t *const nodes = json_array();
    const struct decide_names names = { .nodes = nodes, .is_numbered = true };

    if (taken->is_open && plan != NULL) {
        for (uint32_t i = 0; i < weir_cluster_node_count(cluster); i++)
            json_array_append_new(nodes,
                                  json_sprintf("%" PRIu64, weir_cluster_node(cluster, i)->id));
        json_t *const actions = decide_actions_json(plan, &names);
        taken->expected[taken->count] = print(actions);
        json_decref(actions);
        for (uint32_t i = 0; i < weir_plan_count(plan); i++)
            count_action(taken->seen, weir_plan_action(plan, i));
    }
    taken->count += taken->is_open;
    taken->is_open = false;
    json_decref(nodes);
    return WEIR_OK;
}

/* ---- scenarios ---- */

static const char pipelines[] =
    "pipelines:\n"
    "  - name: video\n"
    "    input: {items: 400, arrivals: exp(0.5 s)}\n"
    "    stages:\n"
    "      - {name: split, cpus: 1, service: exp(2 s), setup: 5 s}\n"
    "      - {name: work, cpus: 2, %s, service: exp(4 s), setup: 20 s}\n"
    "  - name: audio\n"
    "    input: {items: 300, arrivals: exp(1 s)}\n"
    "    stages:\n"
    "      - {name: speech, cpus: 1, batch: 4, service: exp(9 s)}\n"
    "      - {name: store, cpus: 0.5, workers: 2, service: exp(1 s)}\n";

/* Where GPUs are cut anew all the time, also at the instant of a decision. */
static const char cuts[] =
    "schema: 2\nname: cuts\nseed: %" PRIu64 "\nhorizon: 20 min\ncluster:\n  nodes:\n"
    "    - {name: h, count: 2, cpus: 32, gpus: {h100: 2}, share: mig, partition: [7g]}\n"
    "    - {name: a, cpus: 32, gpus: {a100-80: 2}, share: mig, partition: [3g, 2g, 1g, 1g]}\n"
    "    - {name: f, cpus: 32, gpus: {h100: 1}, share: mig}\n"
    "  failures: {node_between: exp(10 min), node_repair: exp(1 min)}\n"
    "sched:\n  placement: first_fit\n  queueing: %s\n"
    "  repartition: {policy: demand, min_gain: 1, reconfigure: %s}\n"
    "jobs:\n  - name: w\n    count: 400\n    arrivals: {rate: 0.8/s}\n    queue_limit: 9\n"
    "    classes:\n"
    "      - {name: one, request: {cpus: 1, mig: 1g}, run_time: exp(20 s), weight: 3}\n"
    "      - {name: two, request: {mig: 2g}, run_time: exp(20 s), members: 2}\n"
    "      - {name: three, request: {mig: 3g.40gb}, run_time: exp(20 s), placement_group: spread}\n"
    "      - {name: seven, request: {mig: 7g}, run_time: exp(10 s)}\n";

/* Memory of GPUs that is kept for tenants, jobs that compete for its bandwidth, who gives way. */
static const char pools[] =
    "schema: 2\nname: pools\nseed: %" PRIu64 "\nhorizon: 20 min\ncluster:\n  nodes:\n"
    "    - {name: h, count: 2, cpus: 32, share: fraction, gpus: {h100: 2}}\n"
    "  failures: {node_between: exp(10 min), node_repair: exp(1 min)}\n"
    "sched:\n  placement: %s\n  queueing: %s\n"
    "tenants: [{name: x, gpu_memory: 30 GB}, {name: y, parent: x}, {name: z, weight: 3}]\n"
    "licences: {seat: 3, key: {limit: 2, priority_threshold: 2}}\n"
    "jobs:\n  - name: w\n    count: 400\n    arrivals: {rate: 0.5/s}\n    queue_limit: 20\n"
    "    run_time: exp(20 s)\n    classes:\n"
    "      - {name: a, tenant: x, request: {gpus: 0.2, gpu_memory: 25 GB}, memory_traffic: 70%%}\n"
    "      - {name: b, tenant: y, priority: 2, licences: {seat: 1, key: 1}, request: {gpus: 0.3, "
    "gpu_memory: 15 GB, node_preference: [h-1]}}\n"
    "      - {name: e, tenant: y, patience: 30 s, licences: {key: 1}, request: {gpus: 0.1}}\n"
    "      - {name: c, tenant: z, request: {gpus: 0.1, gpu_memory: 40 GB, node_selector: [h-0]}, "
    "memory_traffic: 90%%}\n"
    "      - {name: d, tenant: z, priority: 1, members: 2, licences: {seat: 2}, request: {gpus: "
    "0.2, gpu_memory: 9 GB}}\n";

static char *pools_of(uint64_t seed, uint64_t *dice)
{
    static const char *const placements[] = { "apart", "first_fit", "best_fit" };
    static const char *const queueings[] = {
        "strict_priority", "{policy: wfq, burst: 50, refill: 1}", "easy", "multifactor", "srtf",
        "first_fit"
    };
    char *text = NULL;
    return asprintf(&text, pools, seed, placements[roll(dice, 3)], queueings[roll(dice, 6)]) < 0
               ? NULL
               : text;
}

/* Long queues of jobs that say how long they run, of which places are kept in advance, and some
 * that fit nowhere. */
static const char reserved[] =
    "schema: 2\nname: reserved\nseed: %" PRIu64 "\nhorizon: 20 min\ncluster:\n  nodes:\n"
    "    - {name: h, count: 2, cpus: 32, gpus: {h100: 4}}\n"
    "sched:\n  placement: first_fit\n  infeasible: wait\n  queueing: %s\n"
    "jobs:\n  - name: w\n    count: 400\n    arrivals: {rate: 0.2/s}\n    estimate: \"uniform(1, "
    "3)\"\n"
    "    run_time: exp(40 s)\n    classes:\n"
    "      - {name: a, request: {gpus: 1}}\n      - {name: b, request: {gpus: 3}}\n"
    "      - {name: c, members: 2, request: {gpus: 3}}\n      - {name: d, request: {cpus: 20}}\n"
    "      - {name: e, request: {gpus: 2}, placement_group: pack, groups: {f: {request: {cpus: "
    "3}}}}\n"
    "      - {name: g, weight: 0.1, request: {gpus: 3}, placement_group: strict_pack,\n"
    "         groups: {h: {members: 2, request: {gpus: 1}}}}\n";

static char *reserved_of(uint64_t seed, uint64_t *dice)
{
    static const char *const queueings[] = { "conservative", "easy", "slurm", "conservative" };
    char *text = NULL;
    return asprintf(&text, reserved, seed, queueings[roll(dice, 4)]) < 0 ? NULL : text;
}

/* Ranks that come and go at a speed that is known, several types of GPUs, tenants with quotas,
 * nodes that are kept for somebody for a time or for good, preferences, steps: what policies that
 * share out everything keep in mind. */
static const char growing[] =
    "schema: 2\n"
    "name: growing\n"
    "seed: %" PRIu64 "\n"
    "horizon: 20 min\n"
    "cluster:\n"
    "  nodes:\n"
    "    - {name: h, count: 2, cpus: 32, gpus: {h100: 4}}\n"
    "    - {name: a, count: 2, cpus: 32, gpus: {a100-80: 4}}\n"
    "    - {name: k, cpus: 8, labels: [disk], kept: true}\n"
    "  failures: {node_between: exp(20 min), node_repair: exp(1 min)}\n"
    "sched: {placement: %s, queueing: %s}\n"
    "tenants: [{name: x, guarantee: 4, quota: {hard: 12}}, {name: y, parent: x, weight: "
    "2}, {name: z, guarantee: {gpus: 3, cpus: 20, ram: 1 TB}, borrow: 4, lend: 1}]\n"
    "reservations: {upgrade: {start: 8 min, duration: 3 min, nodes: 1}, own: {tenant: z, "
    "start: 2 min, duration: 2 min, gpus: 4, gpu_types: a100-80}}\n"
    "jobs:\n"
    "  - name: w\n"
    "    count: 200\n"
    "    measured_on: h100\n"
    "    arrivals: {rate: 0.15/s}\n"
    "    run_time: exp(1 min)\n"
    "    estimate: \"uniform(1, 3)\"\n"
    "    preemption: {keeps: all, restart: 3 s}\n"
    "    classes:\n"
    "      - {name: a, tenant: y, members: 2, request: {gpus: 1}, elastic: {least: 1, "
    "most: 6, speeds: [1, 1.8, 2.5, 3, 3.3, 3.5], resize: 2 s}}\n"
    "      - {name: b, tenant: z, members: 2, request: {gpus: 1}, elastic: {least: 1, "
    "most: 4, serial: 10%%, on_loss: heal}}\n"
    "      - {name: c, tenant: x, priority: 2, request: {gpus: 1, node_preference: [a]}, "
    "memory_traffic: 50%%}\n"
    "      - {name: k, tenant: x, request: {cpus: 2, node_selector: [disk]}}\n"
    "      - {name: l, tenant: y, members: 3, request: {cpus: 4, borrow: true}}\n"
    "      - {name: d, tenant: z, gpu_types: a100-80, request: {gpus: 2}}\n"
    "  - name: steps\n"
    "    count: 30\n"
    "    measured_on: h100\n"
    "    arrivals: {rate: 0.02/s}\n"
    "    run_time: exp(40 s)\n"
    "    deadline: 5 min\n"
    "    classes:\n"
    "      - {name: e, tenant: z, members: 4, request: {gpus: 1}, step: {time: 500 ms, "
    "sync: 100 MB}}\n";

static char *growing_of(uint64_t seed)
{
    static const char *const placements[] = { "first_fit", "weir", "weighted", "apart", "random" };
    static const char *const queueings[] = { "gavel",
                                             "optimus",
                                             "elastic",
                                             "pollux",
                                             "sia",
                                             "themis",
                                             "allox",
                                             "tesserae",
                                             "{policy: tesserae, round: 0, order: las}",
                                             "drf",
                                             "cohorts",
                                             "quota_queues",
                                             "stride",
                                             "lottery",
                                             "fair_share",
                                             "hold",
                                             "{policy: formula, name: f1}",
                                             "{policy: formula, name: f2}",
                                             "{policy: formula, name: f3}",
                                             "{policy: formula, name: wfp3}" };
    const uint64_t turn = seed / 4;
    char *text = NULL;
    return asprintf(&text, growing, seed, placements[turn % 5], queueings[turn % 20]) < 0 ? NULL
                                                                                          : text;
}

static char *jobs_of(uint64_t seed, uint64_t *dice)
{
    static const char *const queueings[] = { "fcfs",         "first_fit", "smallest",
                                             "priority",     "easy",      "srsf",
                                             "srtf",         "las_2d",    "las_promoted",
                                             "conservative", "gittins",   "committed",
                                             "slurm",        "hold",      "benefit" };
    char *text = NULL;

    if (seed % 8 == 6)
        return reserved_of(seed, dice);
    if (seed % 4 == 2)
        return pools_of(seed, dice);
    if (seed % 4 == 3)
        return growing_of(seed);
    if (seed % 4 != 0)
        return test_job_scenario(seed, "decisions_trace.csv");
    return asprintf(&text, cuts, seed, queueings[roll(dice, 14)], seed % 8 == 0 ? "0 s" : "3 s") < 0
               ? NULL
               : text;
}

static struct sim_scenario *scenario_of(uint64_t seed, uint64_t *dice)
{
    static const char *const scalings[] = { "xenna",        "saturation_aware", "xenna_n",
                                            "pool_optimum", "inverse_speed",    "equal_split",
                                            "fixed",        "xenna_c",          "" };
    static const char *const demanded[] = { "ds2", "contune", "raydata" };
    static const char *const latencies[] = { "0s", "0s", "3s" };
    char sets[256];
    char more[1024] = "";
    char *const jobs = jobs_of(seed, dice);
    char *text = NULL;

    if (roll(dice, 4) > 0)
        (void)snprintf(more, sizeof more, pipelines,
                       strstr(jobs, "share: mig") == NULL ? "gpus: 0.25" : "batch: 2");
    const char *const scaling = scalings[roll(dice, sizeof scalings / sizeof scalings[0])];
    (void)snprintf(sets, sizeof sets,
                   "sched.scaling.policy=%s sched.scaling.interval=%us sched.latency=%s",
                   scaling[0] != '\0' ? scaling : demanded[seed % 3], 10 + roll(dice, 3) * 10,
                   latencies[roll(dice, 3)]);
    const char *const holds = seed % 3 == 0 ? "sched.hold_mode=reserve" : NULL;
    if (holds != NULL && more[0] != '\0')
        (void)snprintf(sets + strlen(sets), sizeof sets - strlen(sets), " %s", holds);
    struct sim_scenario *scenario = NULL;
    if (asprintf(&text, "%s%s", jobs, more) >= 0)
        scenario = test_scenario(text, more[0] != '\0' ? sets : holds);
    free(text);
    free(jobs);
    return scenario;
}

/* ---- one run ---- */

static void explain_difference(uint64_t seed, uint32_t decision, const char *ours,
                               const char *theirs)
{
    size_t same = 0;

    while (ours[same] == theirs[same] && ours[same] != '\0')
        same++;
    const size_t from = same < 200 ? 0 : same - 200;
    fprintf(stderr, "seed %" PRIu64 ", decision %u of it:\n run    ...%.400s\n decide ...%.400s\n",
            seed, decision, ours + from, theirs + from);
}

/* What `weir decide` says to each line. */
static void compare_answers(uint64_t seed, const struct taken *taken, const char *path)
{
    const char *const weir = getenv("WEIR_BIN");
    char command[1024];
    char *line = NULL;
    size_t capacity = 0;

    if (taken->count == 0)
        return;
    (void)snprintf(command, sizeof command, "'%s' decide --compact %s", weir, path);
    FILE *const answers = popen(command, "r");
    if (!CHECK(answers != NULL))
        return;
    for (uint32_t i = 0; i < taken->count; i++) {
        const ssize_t length = getline(&line, &capacity, answers);
        json_t *const answer = length > 0 ? json_loadb(line, (size_t)length, 0, NULL) : NULL;
        json_t *const actions = json_object_get(answer, "actions");
        char *const said = actions != NULL ? print(actions) : NULL;
        const char *const theirs = said != NULL ? said : length > 0 ? line : "nothing";
        const char *const ours = taken->expected[i] != NULL ? taken->expected[i] : "an error";
        const bool is_error =
            taken->expected[i] == NULL && json_object_get(answer, "error_type") != NULL;
        if (!CHECK(is_error || strcmp(ours, theirs) == 0))
            explain_difference(seed, i, ours, theirs);
        free(said);
        json_decref(answer);
    }
    CHECK_I64(pclose(answers), 0);
    free(line);
}

/* ---- what is told is said again ---- */

static weir_status keep_text(void *state, const char *text, size_t length)
{
    return fwrite(text, 1, length, state) == length ? WEIR_OK : WEIR_EIO;
}

/* As a host that was told the document writes it; the caller releases it. */
static json_t *said_again(const json_t *document)
{
    const struct decide_question question = { .input = document };
    struct weir_error error = { .phase = -1, .pool = -1 };
    struct decide_host made;
    char *text = NULL;
    size_t size = 0;
    FILE *const out = open_memstream(&text, &size);
    const struct weir_sink sink = { .write = keep_text, .state = out };

    if (CHECK_I64(decide_host_open(&made, &question, &error), WEIR_OK))
        CHECK_I64(weir_host_export_call(made.host, &made.call, &sink), WEIR_OK);
    else
        printf("%s\n", error.text);
    decide_host_close(&made);
    (void)fclose(out);
    json_t *const said = json_loadb(text, size, 0, NULL);
    free(text);
    return said;
}

/* What `conservative` promised those who have left since (turned away by the plan before) is let go
 * when it is taken over, and all is looked at again. */
static bool is_without_left(const json_t *before, const json_t *after)
{
    enum { HEAD = 3, EACH = 3 };
    const size_t count = json_array_size(before);
    size_t at = HEAD;

    if (json_array_size(after) >= count || json_number_value(json_array_get(after, 1)) < 1)
        return false;
    for (size_t i = HEAD; i < count; i += EACH) {
        bool is_same = at < json_array_size(after);
        for (size_t part = 0; part < EACH && is_same; part++)
            is_same =
                json_equal(json_array_get(before, i + part), json_array_get(after, at + part));
        at += is_same ? EACH : 0;
    }
    return at == json_array_size(after);
}

static bool is_said_again(const char *key, const json_t *before, const json_t *after)
{
    static const char memory[] = "queueing_memory";

    if (json_equal(before, after) || strcmp(key, "policy") != 0)
        return json_equal(before, after);
    if (strcmp(json_string_value(json_object_get(before, "queueing")), "conservative") != 0 ||
        !is_without_left(json_object_get(before, memory), json_object_get(after, memory)))
        return false;
    json_t *const rest = json_copy((json_t *)(uintptr_t)before);
    json_object_set(rest, memory, json_object_get(after, memory));
    const bool is_same = json_equal(rest, after);
    json_decref(rest);
    return is_same;
}

/* Of a deadline the time that is left is written: it passes. */
static void compare_saying(uint64_t seed, uint32_t index, json_t *document)
{
    json_t *const said = said_again(document);
    const char *key = NULL;
    json_t *part = NULL;

    json_object_foreach(document, key, part)
    {
        if (CHECK(is_said_again(key, part, json_object_get(said, key))))
            continue;
        char *const before = json_dumps(part, JSON_ENCODE_ANY);
        char *const after = json_dumps(json_object_get(said, key), JSON_ENCODE_ANY);
        printf("seed %" PRIu64 ", decision %u, %s:\n  %s\n  %s\n", seed, index, key, before,
               after == NULL ? "nothing" : after);
        free(before);
        free(after);
    }
    json_decref(said);
}

static void compare_sayings(uint64_t seed, const char *path)
{
    struct weir_error error = { .phase = -1, .pool = -1 };
    struct decide_documents documents;

    CHECK_I64(decide_documents_load(path, &documents, &error), WEIR_OK);
    for (size_t i = 0; i < json_array_size(documents.list); i++)
        compare_saying(seed, (uint32_t)i, json_array_get(documents.list, i));
    decide_documents_clear(&documents);
}

static void check_run(uint64_t seed, struct seen *seen)
{
    static const char path[] = "decisions.jsonl";
    uint64_t dice = seed * UINT64_C(0x9E3779B97F4A7C15);
    struct sim_scenario *const scenario = scenario_of(seed, &dice);
    struct sim_run_summary *const summary = calloc(1, sizeof *summary);
    struct taken taken = {
        .documents = fopen(path, "w"), .dice = seed, .every = 1 + roll(&dice, 6), .seen = seen
    };
    const struct sim_witness witness = { &taken, take_document, take_plan };
    const struct sim_run_options options = { .seed = seed,
                                             .variant = "test",
                                             .experiment_id = 1,
                                             .run_id = 1,
                                             .export_at_s = roll(&dice, 400),
                                             .witness = &witness };

    if (CHECK(scenario != NULL && summary != NULL && taken.documents != NULL)) {
        (void)sim_run(scenario, &options, summary);
        (void)fclose(taken.documents);
        compare_answers(seed, &taken, path);
        if (taken.count > 0)
            compare_sayings(seed, path);
    }
    seen->decisions += taken.count;
    for (uint32_t i = 0; i < taken.count; i++)
        free(taken.expected[i]);
    free(summary);
    sim_scenario_destroy(scenario);
}

static void exported_decisions_give_the_same_plans_in_a_new_process(void)
{
    const uint64_t runs = getenv("WEIR_SLOW") != NULL ? SLOW_RUNS : RUNS;
    struct seen seen = { .decisions = 0 };

    if (getenv("WEIR_BIN") == NULL) {
        test_skip("WEIR_BIN does not say where the program is");
        return;
    }
    for (uint64_t seed = 1; seed <= runs; seed++)
        check_run(seed, &seen);
    (void)unlink("decisions.jsonl");
    (void)unlink("decisions_trace.csv");
    printf("%u decisions; starts: %u of jobs, %u of these in gangs, %u of pools, %u on instances; "
           "%u stops, %u slots, %u denied (%u turned away), %u cuts, %u reserved\n",
           seen.decisions, seen.of_jobs, seen.of_gangs, seen.of_pools, seen.instances,
           seen.verbs[WEIR_VERB_STOP], seen.verbs[WEIR_VERB_SET_SLOTS], seen.verbs[WEIR_VERB_DENY],
           seen.turned_away, seen.verbs[WEIR_VERB_CUT], seen.verbs[WEIR_VERB_RESERVE]);
    CHECK(seen.decisions >= LEAST);
    CHECK(seen.of_jobs > 0 && seen.of_gangs > 0 && seen.of_pools > 0 && seen.instances > 0);
    CHECK(seen.verbs[WEIR_VERB_STOP] > 0 && seen.verbs[WEIR_VERB_SET_SLOTS] > 0);
    CHECK(seen.verbs[WEIR_VERB_DENY] > 0 && seen.turned_away > 0);
    CHECK(seen.verbs[WEIR_VERB_CUT] > 0 && seen.verbs[WEIR_VERB_RESERVE] > 0);
}

static const struct test tests[] = {
    { "exported decisions give the same plans in a new process",
      exported_decisions_give_the_same_plans_in_a_new_process },
};

TEST_MAIN(tests)
