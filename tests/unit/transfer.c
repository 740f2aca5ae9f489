/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Bytes that move, by hand: between nodes, over racks, from and to stores; when tasks end that need
 * them. Invariants (links, what lies in a store) hold at every event.
 */
#include "tests/support/check.h"
#include "tests/support/runs.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { SPANS = 48 };

struct spans {
    struct sim_span list[SPANS];
    size_t count;
};

static void add_span(void *state, const struct sim_span *span)
{
    struct spans *spans = state;
    if (spans->count < SPANS)
        spans->list[spans->count++] = *span;
}

/* `cluster` and `pipelines` as in a file. */
static struct sim_run_summary *run(const char *cluster, const char *pipelines, struct spans *spans)
{
    char text[3000];
    (void)snprintf(text, sizeof text,
                   "schema: 2\nname: t\nhorizon: 100000 s\ncluster: %s\n"
                   "sched: {placement: first_fit, scaling: {policy: fixed, interval: 10 s}}\n"
                   "%s",
                   cluster, pipelines);
    spans->count = 0;
    const struct sim_observer observer = { .span = add_span, .state = spans };
    return test_watch_text(text, &observer);
}

static double end_s(const struct spans *spans, size_t index)
{
    return CHECK(index < spans->count) ? sim_time_s(spans->list[index].end_ns) : 0;
}

#define PIPELINE(input, more, stages)                                                              \
    "pipelines:\n  - name: p\n    semantics: event\n    backpressure: none\n" more                 \
    "    input: {" input "}\n    stages:\n" stages

/* The stages of a pair: the first runs on the node with many CPUs, the other where GPUs are. */
#define FAR_APART                                                                                  \
    "      - {name: a, cpus: 8, service: 1 s, workers: 1, bytes_out: 4 GB}\n"                      \
    "      - {name: b, cpus: 1, gpus: 1, service: 1 s, workers: 1}\n"
#define TWO_NODES(nic_a, nic_b, more)                                                              \
    "{nodes: [{name: a, cpus: 8" nic_a "}, {name: b, cpus: 1, gpus: {l40s: 1}" nic_b "}]" more "}"

/* covers: S1.91 */
static void flows_of_one_store_share_it_equally(void)
{
    static const struct {
        const char *pipelines;
        size_t readers;
    } cases[] = {
        { PIPELINE("items: 1, bytes_per_item: 6 GB, store: s", "",
                   "      - {name: a, cpus: 1, workers: 1, service: 1 s}\n"),
          1 },
        { PIPELINE("items: 3, bytes_per_item: 6 GB, store: s", "",
                   "      - {name: a, cpus: 1, workers: 3, service: 1 s}\n"),
          3 },
        { PIPELINE("items: 17, bytes_per_item: 6 GB, store: s", "",
                   "      - {name: a, cpus: 1, workers: 17, service: 1 s}\n"),
          17 },
    };
    for (size_t c = 0; c < sizeof cases / sizeof cases[0]; c++) {
        struct spans spans;
        free(
            run("{nodes: [{name: n, cpus: 32}], stores: {s: 2 GB/s}}", cases[c].pipelines, &spans));
        CHECK_I64(spans.count, cases[c].readers);
        for (size_t i = 0; i < spans.count; i++)
            CHECK_NEAR(end_s(&spans, i), 3.0 * (double)cases[c].readers + 1, 1e-6);
    }
}

/* One reads alone for 1 s, both share until it is done after 5 s, and the other is alone again: it
 * reads 4 of its 6 GB until then. */
static void who_comes_later_shares_from_then_on(void)
{
    struct spans spans;
    free(run("{nodes: [{name: n, cpus: 32}], stores: {s: 2 GB/s}}",
             PIPELINE("items: 2, arrivals: const(1 s), bytes_per_item: 6 GB, store: s", "",
                      "      - {name: a, cpus: 1, workers: 2, service: 1 s}\n"),
             &spans));
    CHECK_I64(spans.count, 2);
    CHECK_NEAR(end_s(&spans, 0), 1 + 5 + 1, 1e-6);
    CHECK_NEAR(end_s(&spans, 1), 1 + 6 + 1, 1e-6);
}

/* covers: S2.8 */
static void a_store_between_stages_is_written_and_read(void)
{
    struct spans spans;
    struct sim_run_summary *summary =
        run("{nodes: [{name: n, cpus: 32}], stores: {s: 2 GB/s}}",
            PIPELINE("items: 1", "    transfers: s\n",
                     "      - {name: a, cpus: 1, workers: 1, service: 7 s, bytes_out: 50 GB}\n"
                     "      - {name: b, cpus: 1, workers: 1, service: 3 s}\n"),
            &spans);
    CHECK_NEAR(end_s(&spans, 0), 7 + 25, 1e-6);
    CHECK_NEAR(end_s(&spans, 1), 7 + 50 + 3, 1e-6);
    CHECK_NEAR(test_value(summary, "store.write_bytes", ""), 50e9, 0);
    CHECK_NEAR(test_value(summary, "store.read_bytes", ""), 50e9, 0);
    CHECK_NEAR(test_value(summary, "net.wait_s", ""), 50, 1e-6);
    CHECK_NEAR(test_value(summary, "store.use", "s"), 50.0 / 60, 1e-6);
    free(summary);
}

/* 0.5 s + 4 items of 0.25 s, to write and to read, and 2 GB each way. */
static void a_store_takes_time_for_itself_and_for_items(void)
{
    struct spans spans;
    free(run("{nodes: [{name: n, cpus: 32}], stores: {s: {bandwidth: 2 GB/s, latency: 0.5 s, "
             "per_item: 250 ms}}}",
             PIPELINE("items: 1", "    transfers: s\n",
                      "      - {name: a, cpus: 1, workers: 1, service: 1 s, returns: const(4), "
                      "bytes_out: 500 MB}\n"
                      "      - {name: b, cpus: 1, workers: 1, service: 1 s, batch: 4}\n"),
             &spans));
    CHECK_NEAR(end_s(&spans, 0), 1 + 1.5 + 1, 1e-6);
    CHECK_NEAR(end_s(&spans, 1), 3.5 + 1.5 + 1 + 1, 1e-6);
}

/* 4 GB: the slower of the two interfaces decides; without any, or switched off, no time. */
static void bytes_go_from_node_to_node(void)
{
    static const struct {
        const char *cluster, *pipelines;
        double moving_s;
    } cases[] = {
        { TWO_NODES(", nic: 1 GB/s", ", nic: 2 GB/s", ""), PIPELINE("items: 1", "", FAR_APART), 4 },
        { TWO_NODES(", nic: 8 Gb/s", "", ""), PIPELINE("items: 1", "", FAR_APART), 4 },
        { TWO_NODES(", nic: 4 GB/s", ", nic: 2 GB/s", ""), PIPELINE("items: 1", "", FAR_APART), 2 },
        { TWO_NODES("", "", ""), PIPELINE("items: 1", "", FAR_APART), 0 },
        { TWO_NODES(", nic: 1 GB/s", ", nic: 2 GB/s", ""),
          PIPELINE("items: 1", "    transfers: off\n", FAR_APART), 0 },
        { TWO_NODES(", nic: 4 GB/s", ", nic: 4 GB/s", ", racks: {nodes: 1, uplink: 500 MB/s}"),
          PIPELINE("items: 1", "", FAR_APART), 8 },
        { TWO_NODES(", nic: 4 GB/s", ", nic: 4 GB/s", ", racks: {nodes: 2, uplink: 500 MB/s}"),
          PIPELINE("items: 1", "", FAR_APART), 1 },
        { TWO_NODES("", "", ", racks: {nodes: 1, uplink: 500 MB/s}"),
          PIPELINE("items: 1", "", FAR_APART), 8 },
    };
    for (size_t c = 0; c < sizeof cases / sizeof cases[0]; c++) {
        struct spans spans;
        free(run(cases[c].cluster, cases[c].pipelines, &spans));
        CHECK_NEAR(end_s(&spans, 1), 1 + cases[c].moving_s + 1, 1e-6);
    }
}

/* The GPU works 1 of 6 s, whether its worker waits for a node or for a store. Beside one that waits
 * for 4 s another has all of the GPU, and half of it from then on: 4 + 6 x 2. */
static void who_waits_for_bytes_uses_nothing(void)
{
    struct spans spans;
    struct sim_run_summary *summary = run(TWO_NODES(", nic: 1 GB/s", ", nic: 2 GB/s", ""),
                                          PIPELINE("items: 1", "", FAR_APART), &spans);
    CHECK_NEAR(test_value(summary, "util.gpu.active", ""), 1.0 / 6, 1e-6);
    CHECK_NEAR(test_value(summary, "util.cpu.active", ""), (8.0 + 1) / (9 * 6), 1e-6);
    CHECK_NEAR(test_value(summary, "nic.use.max", ""), 4.0 / 6, 1e-6); /* out of the first */
    CHECK_NEAR(test_value(summary, "nic.use.mean", ""), (4 + 2) / 6.0 / 4, 1e-6);
    free(summary);
    summary = run("{nodes: [{name: n, cpus: 8, gpus: {l40s: 1}}], stores: {s: 1 GB/s}}",
                  PIPELINE("items: 1, bytes_per_item: 4 GB, store: s", "",
                           "      - {name: a, cpus: 1, gpus: 0.5, uses: {gpus: 1}, workers: 1, "
                           "service: 20 s}\n") "  - name: q\n    semantics: event\n    input: "
                                               "{items: 1}\n    stages: [{name: b, "
                                               "cpus: 1, gpus: 0.5, uses: {gpus: 1}, workers: 1, "
                                               "service: 10 s}]\n",
                  &spans);
    CHECK_NEAR(end_s(&spans, 0), 4 + 12, 1e-6);
    CHECK_NEAR(end_s(&spans, 1), 16 + 14, 1e-6);
    CHECK_NEAR(test_value(summary, "util.gpu.active", ""), 1, 1e-6);
    free(summary);
}

/* Eight workers take 1 GB each from one node of 1 GB/s at once: 8 s, not 1 s. */
static void transfers_share_an_interface(void)
{
    struct spans spans;
    free(run("{nodes: [{name: a, cpus: 8, nic: 1 GB/s}, "
             "{name: b, cpus: 1, count: 8, gpus: {l40s: 1}, nic: 10 GB/s}]}",
             PIPELINE("items: 1", "",
                      "      - {name: a, cpus: 8, workers: 1, service: 1 s, returns: const(8), "
                      "bytes_out: 1 GB}\n"
                      "      - {name: b, cpus: 1, gpus: 1, workers: 8, service: 1 s}\n"),
             &spans));
    CHECK_I64(spans.count, 9);
    for (size_t i = 1; i < spans.count; i++)
        CHECK_NEAR(end_s(&spans, i), 1 + 8 + 1, 1e-6);
}

/* Two workers are idle; the item is on the node of the one that came later. */
static void the_idle_worker_on_the_node_of_the_bytes_is_chosen(void)
{
    struct spans spans;
    struct sim_run_summary *summary =
        run("{nodes: [{name: b, cpus: 1, nic: 1 GB/s}, {name: a, cpus: 9, nic: 1 GB/s}]}",
            PIPELINE("items: 3", "",
                     "      - {name: a, cpus: 8, workers: 1, service: 5 s, bytes_out: 4 GB}\n"
                     "      - {name: b, cpus: 1, workers: 2, service: 1 s}\n"),
            &spans);
    CHECK_I64(spans.count, 6);
    CHECK_NEAR(end_s(&spans, 5), 16, 1e-6);
    CHECK_NEAR(test_value(summary, "makespan", ""), 16, 1e-6);
    free(summary);
}

/* The node that reads is lost after 1 of 4 s; the item waits for another, which reads it all. */
static void a_transfer_that_is_cut_off_begins_anew(void)
{
    struct spans spans;
    free(run(TWO_NODES(", nic: 1 GB/s", ", nic: 2 GB/s", ""),
             PIPELINE("items: 1", "",
                      FAR_APART) "timeline: [{at: 2 s, for: 5 s, action: node_down, node: b}]\n",
             &spans));
    CHECK_I64(spans.count, 2);
    CHECK_NEAR(end_s(&spans, 1), 10 + 4 + 1, 1e-6);
}

/* A class with a guarantee against sixteen others that never stop, and alone. A store of 10 GB/s;
 * `many` readers of 100 GB, `one` reader of 60 GB at 60 %, a second at the rest of it. */
#define CLASSES(more)                                                                              \
    "{nodes: [{name: n, cpus: 64}], stores: {s: {bandwidth: 10 GB/s, traffic: {ckpt: 60%" more     \
    "}}}}"
#define CKPT(items, workers)                                                                       \
    PIPELINE("items: " items ", bytes_per_item: 60 GB, store: s, traffic: ckpt", "",               \
             "      - {name: c, cpus: 1, workers: " workers ", service: 1 ns}\n")
#define BULK                                                                                       \
    "  - name: q\n    semantics: event\n    backpressure: none\n"                                  \
    "    input: {items: 16, bytes_per_item: 100 GB, store: s}\n    stages:\n"                      \
    "      - {name: q, cpus: 1, workers: 16, service: 1 ns}\n"

/* covers: S1.89 S1.123 */
static void a_class_has_its_guarantee_and_what_others_leave(void)
{
    static const struct {
        const char *cluster, *pipelines;
        double first_s, last_s;
    } cases[] = {
        { CLASSES(""), CKPT("1", "1"), 6, 6 },         /* alone: all of it */
        { CLASSES(""), CKPT("1", "1") BULK, 10, 166 }, /* 6 of 10 GB/s; then 1560 GB are left */
        { CLASSES(""), CKPT("3", "3") BULK, 30, 178 }, /* three together have 60 % */
        { CLASSES(", load: 40%"), CKPT("1", "1") BULK, 6, 166 }, /* the rest has no share */
    };
    for (size_t c = 0; c < sizeof cases / sizeof cases[0]; c++) {
        struct spans spans;
        free(run(cases[c].cluster, cases[c].pipelines, &spans));
        CHECK_NEAR(end_s(&spans, 0), cases[c].first_s, 0.002 * cases[c].first_s);
        CHECK_NEAR(end_s(&spans, spans.count - 1), cases[c].last_s, 1e-3);
    }
}

/* covers: S1.92 */
/* 120 GB at no more than 4 GB/s, however many read, and whoever else does not. */
static void a_class_never_exceeds_its_limit(void)
{
    static const char *const pipelines[] = { CKPT("2", "1"), CKPT("2", "2"), CKPT("2", "2") BULK };
    for (size_t c = 0; c < sizeof pipelines / sizeof pipelines[0]; c++) {
        struct spans spans;
        free(run("{nodes: [{name: n, cpus: 64}], stores: {s: {bandwidth: 10 GB/s, traffic: "
                 "{ckpt: {guarantee: 60%, limit: 4 GB/s}}}}}",
                 pipelines[c], &spans));
        CHECK_NEAR(end_s(&spans, 1), 30, 1e-3);
    }
}

/* window / latency: 10 MB in 10 ms are 1 GB/s for each of them, of 10 GB/s, until there are more
 * than ten; with a class its limit counts too. covers: S1.92 */
static void a_window_bounds_the_rate_of_a_transfer(void)
{
    static const struct {
        const char *more, *pipelines;
        double end_s;
    } cases[] = {
        { "window: 10 MB, latency: 10 ms", CKPT("1", "1"), 60 + 0.01 },
        { "window: 10 MB, latency: 5 ms", CKPT("1", "1"), 30 + 0.005 },
        { "window: 10 MB, latency: 10 ms", CKPT("5", "5"), 60 + 0.01 },
        { "window: 10 MB, latency: 10 ms", CKPT("20", "20"), 120 + 0.01 },
        { "window: 1 GB, latency: 10 ms", CKPT("1", "1"), 6 + 0.01 },
        { "window: 40 MB, latency: 10 ms, traffic: {ckpt: {guarantee: 60%, limit: 3 GB/s}}",
          CKPT("1", "1"), 20 + 0.01 },
        { "window: 10 MB, latency: 10 ms, traffic: {ckpt: {guarantee: 60%, limit: 3 GB/s}}",
          CKPT("2", "2"), 60 + 0.01 },
    };
    for (size_t c = 0; c < sizeof cases / sizeof cases[0]; c++) {
        struct spans spans;
        char cluster[256];
        const bool has_class = strstr(cases[c].more, "traffic") != NULL;
        (void)snprintf(cluster, sizeof cluster,
                       "{nodes: [{name: n, cpus: 64}], stores: {s: {bandwidth: 10 GB/s, %s%s}}}",
                       cases[c].more, has_class ? "" : ", traffic: {ckpt: 100%}");
        free(run(cluster, cases[c].pipelines, &spans));
        CHECK_NEAR(end_s(&spans, spans.count - 1), cases[c].end_s, 1e-5);
    }
}

/* A link or a store that works for 2 s and is out for 3: 6 GB at 2 GB/s have to wait for the second
 * time it is there; the node itself goes on. */
static void what_moves_over_what_is_out_stands_still(void)
{
    static const struct {
        const char *cluster;
        double end_s, failures;
        const char *kind;
    } cases[] = {
        { "stores: {s: 2 GB/s}, failures: {store_between: const(2 s), store_repair: const(3 s)}}",
          7, 1, "store" },
        { "stores: {s: 2 GB/s}, failures: {store_between: const(2 s)}}", 0, 1, "store" },
        { "stores: {s: 20 GB/s}, failures: {link_between: const(2 s), link_repair: const(3 s)}}", 7,
          1, "link" },
        { "stores: {s: 20 GB/s}, failures: {node_between: const(1000 s)}}", 4, 0, "node" },
    };
    for (size_t c = 0; c < sizeof cases / sizeof cases[0]; c++) {
        struct spans spans;
        char cluster[256];
        (void)snprintf(cluster, sizeof cluster, "{nodes: [{name: n, cpus: 4, nic: 2 GB/s}], %s",
                       cases[c].cluster);
        struct sim_run_summary *summary =
            run(cluster,
                PIPELINE("items: 1, bytes_per_item: 6 GB, store: s", "",
                         "      - {name: a, cpus: 1, workers: 1, service: 1 s}\n"),
                &spans);
        CHECK_I64(spans.count, cases[c].end_s > 0 ? 1 : 0);
        if (cases[c].end_s > 0)
            CHECK_NEAR(end_s(&spans, 0), cases[c].end_s, 1e-6);
        CHECK_NEAR(test_value(summary, "failures", cases[c].kind), cases[c].failures, 0);
        free(summary);
    }
}

/* 6 GB at 2 GB/s and 1 s of work are over at 4 s; the timeline stops or slows what they move over
 * from 2 s on, when 4 GB are there. */
static void the_timeline_acts_on_stores_and_interfaces(void)
{
    static const struct {
        const char *timeline;
        double end_s;
    } cases[] = {
        { "{at: 2 s, action: store_down, store: s, for: 3 s}", 7 },
        { "{at: 2 s, action: store_down, store: s}, {at: 5 s, action: store_up, store: s}", 7 },
        { "{at: 2 s, action: store_slow, store: s, factor: 4}", 7 },
        { "{at: 2 s, action: store_slow, store: s, factor: 4, for: 2 s}", 5.5 },
        { "{at: 2 s, action: store_slow, store: s, factor: 2}, {at: 2 s, action: nic_slow, node: "
          "n, factor: 4}",
          7 },
        { "{at: 2 s, action: nic_down, node: n, for: 3 s}", 7 },
        { "{at: 2 s, action: nic_down, node: n}, {at: 3 s, action: nic_slow, node: n, factor: 2}, "
          "{at: 5 s, action: nic_up, node: n}",
          8 },
        { "{at: 2 s, action: store_down, store: t}", 4 },
    };
    for (size_t c = 0; c < sizeof cases / sizeof cases[0]; c++) {
        struct spans spans;
        char cluster[512];
        (void)snprintf(cluster, sizeof cluster,
                       "{nodes: [{name: n, cpus: 4, nic: 2 GB/s}], stores: {s: 2 GB/s, t: 2 "
                       "GB/s}}\ntimeline: [%s]",
                       cases[c].timeline);
        free(run(cluster,
                 PIPELINE("items: 1, bytes_per_item: 6 GB, store: s", "",
                          "      - {name: a, cpus: 1, workers: 1, service: 1 s}\n"),
                 &spans));
        CHECK_I64(spans.count, 1);
        CHECK_NEAR(end_s(&spans, 0), cases[c].end_s, 1e-6);
    }
}

static void the_fixed_step_loop_moves_nothing(void)
{
    static const char text[] =
        "schema: 2\nname: t\ncluster: {nodes: [{name: n, cpus: 4}], stores: {s: 1 GB/s}}\n"
        "pipelines:\n  - {name: p, semantics: tick, transfers: s, input: {items: 1}, stages: "
        "[{name: a, service: 1 s, bytes_out: 1 GB}, {name: b, service: 1 s}]}\n";
    CHECK(test_scenario(text, NULL) == NULL);
    struct sim_scenario *scenario = test_scenario(text, "pipelines[0].transfers=off");
    CHECK(scenario != NULL);
    sim_scenario_destroy(scenario);
    static const char loads[] = "pipelines[0].transfers=off pipelines[0].semantics=%s "
                                "pipelines[0].stages.a.setup.weights.bytes=1 "
                                "pipelines[0].stages.a.setup.weights.store=s";
    char sets[256];
    (void)snprintf(sets, sizeof sets, loads, "tick");
    CHECK(test_scenario(text, sets) == NULL);
    (void)snprintf(sets, sizeof sets, loads, "event");
    scenario = test_scenario(text, sets);
    CHECK(scenario != NULL);
    sim_scenario_destroy(scenario);
}

static const struct test tests[] = {
    { "flows of one store share it equally", flows_of_one_store_share_it_equally },
    { "who comes later shares from then on", who_comes_later_shares_from_then_on },
    { "a store between stages is written and read", a_store_between_stages_is_written_and_read },
    { "a store takes time for itself and for items", a_store_takes_time_for_itself_and_for_items },
    { "bytes go from node to node", bytes_go_from_node_to_node },
    { "who waits for bytes uses nothing", who_waits_for_bytes_uses_nothing },
    { "transfers share an interface", transfers_share_an_interface },
    { "the idle worker on the node of the bytes is chosen",
      the_idle_worker_on_the_node_of_the_bytes_is_chosen },
    { "a transfer that is cut off begins anew", a_transfer_that_is_cut_off_begins_anew },
    { "a class has its guarantee and what others leave",
      a_class_has_its_guarantee_and_what_others_leave },
    { "a class never exceeds its limit", a_class_never_exceeds_its_limit },
    { "a window bounds the rate of a transfer", a_window_bounds_the_rate_of_a_transfer },
    { "what moves over what is out stands still", what_moves_over_what_is_out_stands_still },
    { "the timeline acts on stores and interfaces", the_timeline_acts_on_stores_and_interfaces },
    { "the fixed step loop moves nothing", the_fixed_step_loop_moves_nothing },
};
TEST_MAIN(tests)
