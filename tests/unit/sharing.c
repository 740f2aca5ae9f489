/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Workers on one true GPU: instances that do not disturb each other, and turns; and what a scenario
 * says about both.
 */
#include "sim/cluster/sharing.h"
#include "sim/scenario/belief.h"
#include "sim/scenario/scenario.h"
#include "tests/support/check.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* A scenario with one node like `node` and stages `stages`, or NULL. */
static struct sim_scenario *load(const char *node, const char *stages)
{
    char *text = NULL;
    struct sim_diagnostics diagnostics = { .items = NULL };
    struct sim_scenario *scenario = NULL;
    if (asprintf(&text,
                 "schema: 1\nname: t\ncluster:\n  nodes:\n    - {name: n, cpus: 64, %s}\n"
                 "pipelines:\n  - name: p\n    input: {items: 1}\n    stages:\n%s",
                 node, stages) < 0)
        abort();
    const struct sim_scenario_source source = { .path = "t.yaml", .text = text };
    if (sim_scenario_load(&source, &scenario, &diagnostics) != WEIR_OK)
        sim_diagnostics_print(&diagnostics, stdout);
    CHECK(scenario != NULL);
    sim_diagnostics_clear(&diagnostics);
    free(text);
    return scenario;
}

enum { LEASES = 16 };

struct lab {
    struct sim_scenario *scenario;
    struct sim_cluster *truth;
    struct weir_cluster *belief;
    struct sim_part *parts;   /* of leases, in order */
    struct sim_claim *claims; /* the same */
    uint32_t leases;
};

static struct lab open_lab(const char *node, const char *stages)
{
    struct lab lab = { .scenario = load(node, stages),
                       .parts = calloc((size_t)LEASES * WEIR_MAX_DEVICES, sizeof(struct sim_part)),
                       .claims = calloc(LEASES, sizeof(struct sim_claim)) };
    struct weir_gpu_spec gpus[WEIR_MAX_NODE_GPUS];
    struct weir_node_spec spec;
    CHECK_I64(sim_belief_node(lab.scenario, 0, gpus, &spec, NULL), WEIR_OK);
    CHECK_I64(sim_cluster_create(lab.scenario, &lab.truth), WEIR_OK);
    CHECK_I64(weir_cluster_create(NULL, &lab.belief), WEIR_OK);
    CHECK_I64(weir_cluster_add_node(lab.belief, &spec, NULL, NULL), WEIR_OK);
    return lab;
}

static void close_lab(struct lab *lab)
{
    struct weir_error error;
    CHECK_I64(sim_cluster_check(lab->truth, &error), WEIR_OK);
    CHECK_I64(weir_cluster_check(lab->belief, &error), WEIR_OK);
    sim_cluster_destroy(lab->truth);
    weir_cluster_destroy(lab->belief);
    sim_scenario_destroy(lab->scenario);
    free(lab->parts);
    free(lab->claims);
}

/* Starts a worker of a stage at its first place; why the truth refuses it. */
static uint32_t start(struct lab *lab, uint32_t stage, uint64_t id, struct sim_lease *lease)
{
    const struct sim_stage *spec = sim_scenario_stage(lab->scenario, stage);
    struct weir_alloc alloc;
    CHECK_I64(weir_place_first(lab->belief, 0, &spec->shape, &alloc), WEIR_OK);
    CHECK_I64(weir_cluster_add_worker(lab->belief, id, weir_pool_owner(stage), &alloc, NULL),
              WEIR_OK);
    const uint32_t n = lab->leases++ % LEASES;
    lab->claims[n].parts = lab->parts + (size_t)n * WEIR_MAX_DEVICES;
    *lease = sim_lease_fill(&lab->claims[n], lab->truth, &alloc, &spec->uses_shape);
    const uint32_t reason = sim_cluster_acquire(lab->truth, lease);
    if (reason == WEIR_REASON_NONE)
        sim_cluster_run(lab->truth, lease, true);
    return reason;
}

/* The same lease, with parts of its own; of one device. */
static struct sim_lease copy_of(struct lab *lab, const struct sim_lease *lease)
{
    struct sim_claim *claim = &lab->claims[lab->leases % LEASES];
    *claim = *lease->claim;
    claim->parts = lab->parts + (size_t)(lab->leases++ % LEASES) * WEIR_MAX_DEVICES;
    claim->parts[0] = lease->claim->parts[0];
    return (struct sim_lease){ .claim = claim, .node = lease->node };
}

/* ---- instances ---- */

/* covers: S1.70 */
static void a_noisy_neighbour_on_another_instance_is_not_noticed(void)
{
    static const char stages[] =
        "      - {name: victim, mig: 1g, service: 1 s}\n"
        "      - {name: noise, mig: 3g, uses: {gpus: 0.8}, service: 1 s}\n";
    struct lab lab = open_lab("gpus: {h100: 1}, share: mig", stages);
    struct sim_lease victim;
    struct sim_lease noise;
    CHECK_I64(start(&lab, 0, 1, &victim), WEIR_REASON_NONE);
    const double alone = sim_cluster_slowdown(lab.truth, &victim);
    CHECK_I64(start(&lab, 1, 2, &noise), WEIR_REASON_NONE);
    CHECK_NEAR(sim_cluster_slowdown(lab.truth, &victim), alone, 0.01 * alone);
    CHECK_NEAR(alone, 1, 0);
    /* The noise pays for itself: 0.8 of a GPU on 48 of 132 SMs. */
    CHECK_NEAR(sim_cluster_slowdown(lab.truth, &noise), 0.8 * 132 / 48, 1e-9);
    sim_cluster_release(lab.truth, &noise);
    sim_cluster_release(lab.truth, &victim);
    close_lab(&lab);
}

/* Who asked for no GPU works on the idlest, of equally idle ones on the first; engines that a
 * worker uses lie in equal parts on all its GPUs. */
static void hidden_work_goes_to_the_idlest_gpu_and_engines_to_all(void)
{
    static const uint32_t on[] = { 0, 1, 2, 0 };
    struct lab lab = open_lab(
        "gpus: {l40s: 3}", "      - {name: hidden, cpus: 1, uses: {gpus: 0.5}, service: 1 s}\n"
                           "      - {name: pair, cpus: 1, gpus: 2, uses: {gpus: 0.5, nvdecs: 3}, "
                           "service: 1 s}\n");
    struct sim_lease leases[4];
    for (uint32_t i = 0; i < 4; i++) {
        CHECK_I64(start(&lab, 0, 1 + i, &leases[i]), WEIR_REASON_NONE);
        CHECK_I64(leases[i].claim->parts[0].use.gpu, on[i]);
    }
    struct sim_lease pair;
    CHECK_I64(start(&lab, 1, 9, &pair), WEIR_REASON_NONE);
    CHECK_I64(pair.claim->use_count, 2);
    CHECK_NEAR(pair.claim->parts[0].use.nvdecs, 1.5, 0);
    CHECK_NEAR(pair.claim->parts[1].use.nvdecs, 1.5, 0);
    sim_cluster_release(lab.truth, &pair);
    for (uint32_t i = 0; i < 4; i++)
        sim_cluster_release(lab.truth, &leases[i]);
    close_lab(&lab);
}

static void the_same_noise_on_a_shared_gpu_is_noticed(void)
{
    static const char stages[] =
        "      - {name: victim, gpus: 0.2, service: 1 s}\n"
        "      - {name: noise, gpus: 0.5, uses: {gpus: 0.95}, service: 1 s}\n";
    struct lab lab = open_lab("gpus: {h100: 4}", stages);
    struct sim_lease victim;
    struct sim_lease noise;
    CHECK_I64(start(&lab, 0, 1, &victim), WEIR_REASON_NONE);
    CHECK_I64(start(&lab, 1, 2, &noise), WEIR_REASON_NONE);
    CHECK(sim_cluster_slowdown(lab.truth, &victim) > 1.1);
    close_lab(&lab);
}

/* covers: S1.72 */
static void an_instance_bounds_memory_and_decoders_of_its_worker_alone(void)
{
    static const char stages[] =
        "      - {name: fits, mig: 1g, uses: {gpu_memory: 10240 MiB, nvdecs: 1}, service: 1 s}\n"
        "      - {name: large, mig: 1g, uses: {gpu_memory: 10241 MiB}, service: 1 s}\n"
        "      - {name: eager, mig: 1g, uses: {nvdecs: 3}, service: 1 s}\n";
    struct lab lab = open_lab("gpus: {h100: 1}, share: mig", stages);
    struct sim_lease leases[3];
    CHECK_I64(start(&lab, 0, 1, &leases[0]), WEIR_REASON_NONE);
    CHECK_I64(start(&lab, 1, 2, &leases[1]), WEIR_REASON_GPU_MEM);
    CHECK_I64(start(&lab, 2, 3, &leases[2]), WEIR_REASON_NONE);
    CHECK_NEAR(sim_cluster_slowdown(lab.truth, &leases[0]), 1, 0);
    CHECK_NEAR(sim_cluster_slowdown(lab.truth, &leases[2]), 3, 0);
    close_lab(&lab);
    /* The smallest instance of an A100-40 has no decoder at all. */
    lab = open_lab("gpus: {a100-40: 1}, share: mig",
                   "      - {name: decode, mig: 1g, uses: {nvdecs: 1}, service: 1 s}\n");
    CHECK_I64(start(&lab, 0, 1, &leases[0]), WEIR_REASON_NVDEC);
    close_lab(&lab);
}

static void the_truth_refuses_instances_that_are_not_free_on_its_own(void)
{
    struct lab lab = open_lab("gpus: {h100: 2}, share: mig, partition: [4g, 3g]",
                              "      - {name: s, mig: 3g, service: 1 s}\n");
    struct sim_lease first;
    struct sim_lease second;
    CHECK_I64(start(&lab, 0, 1, &first), WEIR_REASON_NONE);
    CHECK_I64(weir_device_start(&first.claim->parts[0].device), 4);
    second = copy_of(&lab, &first);
    CHECK_I64(sim_cluster_acquire(lab.truth, &second), WEIR_REASON_MIG); /* held */
    second.claim->parts[0].device.mig =
        weir_device_instance(weir_device_profile(&first.claim->parts[0].device), 0);
    CHECK_I64(sim_cluster_acquire(lab.truth, &second), WEIR_REASON_MIG); /* not of the cut */
    second.claim->parts[0].device.mig = 0;
    CHECK_I64(sim_cluster_acquire(lab.truth, &second), WEIR_REASON_MIG); /* none is named */
    sim_cluster_release(lab.truth, &first);
    CHECK_I64(sim_cluster_acquire(lab.truth, &first), WEIR_REASON_NONE);
    close_lab(&lab);
}

static void the_truth_makes_no_more_instances_than_a_profile_allows(void)
{
    struct lab lab = open_lab("gpus: {h100: 1}, share: mig",
                              "      - {name: s, mig: 1g.10gb+me, service: 1 s}\n");
    struct sim_lease first;
    CHECK_I64(start(&lab, 0, 1, &first), WEIR_REASON_NONE);
    /* Slots are free, but only one instance of a GPU has the media engines. */
    struct sim_lease second = copy_of(&lab, &first);
    const struct weir_device *device = &first.claim->parts[0].device;
    second.claim->parts[0].device.mig =
        weir_device_instance(weir_device_profile(device), (weir_device_start(device) + 1) % 7);
    CHECK_I64(sim_cluster_acquire(lab.truth, &second), WEIR_REASON_MIG);
    sim_cluster_release(lab.truth, &first);
    CHECK_I64(sim_cluster_acquire(lab.truth, &second), WEIR_REASON_NONE);
    close_lab(&lab);
}

/* ---- what the truth refuses whatever the scheduler believes ---- */

static void the_truth_gives_no_encoder_twice(void)
{
    struct lab lab =
        open_lab("gpus: {l40s: 1}", "      - {name: encode, nvencs: 1, service: 1 s}\n");
    struct sim_lease first;
    CHECK_I64(start(&lab, 0, 1, &first), WEIR_REASON_NONE);
    struct sim_lease second = copy_of(&lab, &first);
    CHECK_I64(sim_cluster_acquire(lab.truth, &second), WEIR_REASON_NVENC);
    second.claim->parts[0].device.nvenc_mask = UINT32_C(1) << 3; /* it has three */
    CHECK_I64(sim_cluster_acquire(lab.truth, &second), WEIR_REASON_NVENC);
    second.claim->parts[0].device.nvenc_mask = first.claim->parts[0].device.nvenc_mask << 1;
    CHECK_I64(sim_cluster_acquire(lab.truth, &second), WEIR_REASON_NONE);
    close_lab(&lab);
}

/* Two workers that each want all three encoders, of which they told nobody. */
static void encoders_used_beyond_what_there_is_slow_their_users_down(void)
{
    struct lab lab = open_lab("gpus: {l40s: 1}",
                              "      - {name: s, gpus: 0.5, uses: {nvencs: 3}, service: 1 s}\n");
    struct sim_lease leases[2];
    CHECK_I64(start(&lab, 0, 1, &leases[0]), WEIR_REASON_NONE);
    CHECK_NEAR(sim_cluster_slowdown(lab.truth, &leases[0]), 1, 0);
    CHECK_I64(start(&lab, 0, 2, &leases[1]), WEIR_REASON_NONE);
    CHECK_NEAR(sim_cluster_slowdown(lab.truth, &leases[0]), 2, 1e-12);
    close_lab(&lab);
}

static void the_memory_of_a_node_is_what_it_is(void)
{
    struct lab lab =
        open_lab("ram: 16 GB", "      - {name: s, cpus: 1, uses: {ram: 10 GB}, service: 1 s}\n");
    struct sim_lease leases[2];
    CHECK_I64(start(&lab, 0, 1, &leases[0]), WEIR_REASON_NONE);
    CHECK_I64(start(&lab, 0, 2, &leases[1]), WEIR_REASON_RAM);
    sim_cluster_release(lab.truth, &leases[0]);
    CHECK_I64(sim_cluster_acquire(lab.truth, &leases[1]), WEIR_REASON_NONE);
    close_lab(&lab);
}

/* covers: S1.71 */
static void truth_may_be_cut_by_another_table_than_the_scheduler_believes(void)
{
    struct lab lab =
        open_lab("gpus: {h100: 1}, share: mig", "      - {name: s, mig: 1g.20gb, service: 1 s}\n"
                                                "truth: {gpu_types: {h100: {mig: a30}}}\n");
    struct sim_lease lease;
    CHECK_I64(start(&lab, 0, 1, &lease), WEIR_REASON_MIG);
    close_lab(&lab);
}

/* Four decoders are one of a GPU and three of the other, and two more are of the first: nobody is
 * in anybody's way. */
static void engines_are_used_where_they_were_given(void)
{
    struct lab lab = open_lab("gpus: {l40s: 2}", "      - {name: s, nvdecs: 4, service: 1 s}\n"
                                                 "      - {name: r, nvdecs: 2, service: 1 s}\n");
    struct sim_lease leases[2];
    CHECK_I64(start(&lab, 0, 1, &leases[0]), WEIR_REASON_NONE);
    CHECK_NEAR(lab.truth->gpus[0].nvdec_load, 1, 0);
    CHECK_NEAR(lab.truth->gpus[1].nvdec_load, 3, 0);
    CHECK_I64(start(&lab, 1, 2, &leases[1]), WEIR_REASON_NONE);
    CHECK_NEAR(lab.truth->gpus[0].nvdec_load, 3, 0);
    CHECK_NEAR(sim_cluster_slowdown(lab.truth, &leases[0]), 1, 0);
    CHECK_NEAR(sim_cluster_slowdown(lab.truth, &leases[1]), 1, 0);
    close_lab(&lab);
}

/* ---- turns ---- */

static const struct sim_timeslice TURNS = { .quantum_ns = 100000000,
                                            .switch_ns = 1000000,
                                            .switch_memory_ns = 9000000 };

/* covers: S1.66, S1.68 */
static void turns_cost_what_the_rules_say(void)
{
    /* A switch takes 1 ms with nothing resident and 10 ms with all of the memory. */
    CHECK_NEAR(sim_turns_slowdown(&TURNS, 2, 0), 2 * 101.0 / 100, 1e-12);
    CHECK_NEAR(sim_turns_slowdown(&TURNS, 2, 1), 2 * 110.0 / 100, 1e-12);
    /* 5 ms: two equal jobs each progress at 0.5 x 100 / 105. */
    const double two = sim_turns_slowdown(&TURNS, 2, 4.0 / 9);
    CHECK_NEAR(1 / two, 0.476, 0.0005);
    /* 60 s of compute are 600 turns: 63 s of the GPU's time are its own. */
    CHECK_NEAR(60 * two / 2, 63.0, 1e-9);
    CHECK_NEAR(sim_turns_slowdown(&TURNS, 1, 1), 1, 0);
}

/* covers: S1.66 S1.68 */
static void workers_of_a_node_take_turns_whatever_part_they_asked_for(void)
{
    static const char stages[] = "      - {name: s, gpus: 0.25, gpu_memory: 10 GB, service: 1 s}\n";
    struct lab lab = open_lab("gpus: {h100: 1}, share: timeslice", stages);
    struct sim_lease leases[3];
    CHECK_I64(start(&lab, 0, 1, &leases[0]), WEIR_REASON_NONE);
    CHECK_NEAR(sim_cluster_slowdown(lab.truth, &leases[0]), 1, 0);
    CHECK_I64(start(&lab, 0, 2, &leases[1]), WEIR_REASON_NONE);
    CHECK_NEAR(sim_cluster_slowdown(lab.truth, &leases[0]), 2 * (100 + 1 + 9 * 20.0 / 80) / 100,
               1e-12);
    CHECK_I64(start(&lab, 0, 3, &leases[2]), WEIR_REASON_NONE);
    CHECK_NEAR(sim_cluster_slowdown(lab.truth, &leases[1]), 3 * (100 + 1 + 9 * 30.0 / 80) / 100,
               1e-12);
    sim_cluster_run(lab.truth, &leases[2], false);
    sim_cluster_run(lab.truth, &leases[1], false);
    CHECK_NEAR(sim_cluster_slowdown(lab.truth, &leases[0]), 1, 0);
    close_lab(&lab);
}

/* ---- scenarios ---- */

static void a_scenario_says_how_gpus_are_cut(void)
{
    struct sim_scenario *scenario =
        load("gpus: {h100: 2}, share: mig, partition: [3g, 2g, 1g, 1g]",
             "      - {name: s, mig: 1/7, gpu_memory: 8 GB, service: 1 s}\n"
             "      - {name: n, mig_slices: 2, service: 1 s}\n");
    struct weir_gpu_spec gpus[WEIR_MAX_NODE_GPUS];
    struct weir_node_spec spec;
    CHECK_I64(sim_belief_node(scenario, 0, gpus, &spec, NULL), WEIR_OK);
    CHECK_I64(spec.gpu_count, 2);
    CHECK_STR(gpus[1].mig->name, "h100");
    CHECK_I64(weir_mig_slices(gpus[1].mig, gpus[1].mig_cut), 0x7f);
    CHECK_STR(scenario->pipelines[0].stages[0].shape.mig_profile, "1g.10gb");
    CHECK_I64(scenario->pipelines[0].stages[1].shape.mig_slices, 2);
    CHECK(strstr(scenario->resolved, "mig: 1g.10gb") != NULL);
    CHECK(strstr(scenario->resolved, "share: mig") != NULL);
    sim_scenario_destroy(scenario);
}

static void a_scenario_without_these_keys_does_not_mention_them(void)
{
    struct sim_scenario *scenario =
        load("gpus: {h100: 2}", "      - {name: s, gpus: 1, service: 1 s}\n");
    CHECK(strstr(scenario->resolved, "mig") == NULL);
    CHECK(strstr(scenario->resolved, "share") == NULL);
    sim_scenario_destroy(scenario);
}

static const struct test tests[] = {
    { "engines are used where they were given", engines_are_used_where_they_were_given },
    { "a noisy neighbour on another instance is not noticed",
      a_noisy_neighbour_on_another_instance_is_not_noticed },
    { "hidden work goes to the idlest GPU and engines to all",
      hidden_work_goes_to_the_idlest_gpu_and_engines_to_all },
    { "the same noise on a shared GPU is noticed", the_same_noise_on_a_shared_gpu_is_noticed },
    { "an instance bounds memory and decoders of its worker alone",
      an_instance_bounds_memory_and_decoders_of_its_worker_alone },
    { "the truth refuses instances that are not free on its own",
      the_truth_refuses_instances_that_are_not_free_on_its_own },
    { "the truth makes no more instances than a profile allows",
      the_truth_makes_no_more_instances_than_a_profile_allows },
    { "the truth gives no encoder twice", the_truth_gives_no_encoder_twice },
    { "encoders used beyond what there is slow their users down",
      encoders_used_beyond_what_there_is_slow_their_users_down },
    { "the memory of a node is what it is", the_memory_of_a_node_is_what_it_is },
    { "truth may be cut by another table than the scheduler believes",
      truth_may_be_cut_by_another_table_than_the_scheduler_believes },
    { "turns cost what the rules say", turns_cost_what_the_rules_say },
    { "workers of a node take turns, whatever part they asked for",
      workers_of_a_node_take_turns_whatever_part_they_asked_for },
    { "a scenario says how GPUs are cut", a_scenario_says_how_gpus_are_cut },
    { "a scenario without these keys does not mention them",
      a_scenario_without_these_keys_does_not_mention_them },
};

TEST_MAIN(tests)
