/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The policy weir: what a node loses worked out by hand, kept values and grades against plain ones,
 * prices of scarce room, and independence of the order of the nodes.
 */
#include "sched/placement/parts/candidates.h"
#include "sched/placement/parts/scarce.h"
#include "sched/placement/policies.h"
#include "sim/lab/lab.h"
#include "tests/support/check.h"
#include "tests/support/oracle_plain.h"
#include "tests/support/runs.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define MILLI (WEIR_ONE / 1000)

static struct weir_shape job(int64_t cpu_milli, uint32_t gpus, int64_t gpu_milli)
{
    const bool is_share = gpus == 1 && gpu_milli < 1000;
    return (struct weir_shape){ .kind = gpus == 0  ? WEIR_SHAPE_CPU
                                        : is_share ? WEIR_SHAPE_FRACTIONAL
                                                   : WEIR_SHAPE_WHOLE,
                                .gpu_count = gpus,
                                .cpu_units = cpu_milli * MILLI,
                                .gpu_units = gpu_milli * MILLI };
}

static struct weir_shape typed(struct weir_shape shape, uint32_t types)
{
    shape.gpu_type = WEIR_GPU_TYPE_SET | types;
    return shape;
}

static struct weir_lookahead *look(double keep, double large, bool is_plain)
{
    struct weir_lookahead_rules rules = { .lines = 8, .depth = 100, .supply = 1.25, .beyond = 12 };
    struct weir_lookahead *ahead = NULL;
    rules.keep = keep;
    rules.large = large;
    rules.is_plain = is_plain;
    CHECK_I64(weir_lookahead_create(&rules, NULL, &ahead), WEIR_OK);
    return ahead;
}

/* Lost on a node with 8 CPUs and GPUs of which `left` thousandths are free, when jobs of one shape
 * arrive. */
static double lost_of(struct weir_shape shape, double keep, double large, const int64_t left[2])
{
    const double frequency = 0.5;
    const struct weir_mix mix = { .shapes = &shape, .frequencies = &frequency, .count = 1 };
    struct weir_lookahead *const ahead = look(keep, large, true);
    struct weir_outlook node = { .cpu_free = 8 * WEIR_ONE, .gpu_count = 2, .types = { 0, 1 } };
    for (int g = 0; g < 2; g++)
        node.left[g] = left[g] * MILLI;
    CHECK_I64(weir_lookahead_follow(ahead, &mix), WEIR_OK);
    const double lost = weir_lookahead_lost(ahead, &node);
    weir_lookahead_destroy(ahead);
    return lost;
}

/* covers: S0.27 S1.14 */
static void a_node_loses_what_is_left_when_jobs_went_on_arriving(void)
{
    static const int64_t free[2] = { 1000, 1000 };
    static const int64_t part[2] = { 1000, 500 };
    const double none = 0;
    CHECK_NEAR(lost_of(job(1000, 1, 1000), none, none, free), 0, 1e-12);
    CHECK_NEAR(lost_of(job(1000, 1, 1000), none, none, part), 0.5, 1e-12);
    CHECK_NEAR(lost_of(job(1000, 1, 300), none, none, free), 0.2, 1e-12); /* 3 on each */
    CHECK_NEAR(lost_of(job(1000, 1, 300), none, none, part), 0.3, 1e-12);
    CHECK_NEAR(lost_of(job(6000, 1, 1000), none, none, free), 1, 1e-12); /* CPUs for one alone */
    CHECK_NEAR(lost_of(job(9000, 1, 1000), none, none, free), 2, 1e-12);
    CHECK_NEAR(lost_of(job(1000, 2, 1000), none, none, part), 1.5, 1e-12);
    CHECK_NEAR(lost_of(job(1000, 0, 0), none, none, part), 1.5, 1e-12); /* nobody asks for GPUs */
    CHECK_NEAR(lost_of(typed(job(1000, 1, 1000), 2), none, none, free), 1, 1e-12);
    /* Two free GPUs are room for a job of two: frequency 0.5, then 0.1 more. */
    CHECK_NEAR(lost_of(job(1000, 2, 1000), 3, none, free), -3, 1e-12);
    CHECK_NEAR(lost_of(job(1000, 2, 1000), 3, 0.1, free), -3.6, 1e-12);
    CHECK_NEAR(lost_of(job(1000, 1, 1000), 3, 0.1, free), -0.6, 1e-12);
    CHECK_NEAR(lost_of(job(5000, 1, 1000), 3, 0.1, free), 1, 1e-12); /* not the usual CPUs */
    CHECK_NEAR(lost_of(job(1000, 1, 1000), 3, 0.1, part), 0.5, 1e-12);
}

/* A mix asks for 2 CPUs a GPU on average: half of it 1 for one GPU, a quarter 6 for two. Room for
 * two GPUs at once is room with the usual CPUs for both, and counts by `large` alone. */
static void the_usual_cpus_are_those_of_the_whole_mix(void)
{
    static const struct {
        int64_t cpu_milli;
        double room;
    } cases[] = { { 3999, 0 }, { 4000, 2 }, { 7999, 2 }, { 8000, 6 } };
    const struct weir_shape shapes[] = { job(1000, 1, 1000), job(6000, 2, 1000) };
    const double parts[] = { 0.5, 0.25 };
    const struct weir_mix mix = { .shapes = shapes, .frequencies = parts, .count = 2 };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        double lost[2];
        for (int l = 0; l < 2; l++) {
            struct weir_lookahead *const ahead = look(3, 0.1 * l, true);
            struct weir_outlook node = { .cpu_free = cases[i].cpu_milli * MILLI, .gpu_count = 4 };
            for (int g = 0; g < 4; g++)
                node.left[g] = WEIR_ONE;
            CHECK_I64(weir_lookahead_follow(ahead, &mix), WEIR_OK);
            lost[l] = weir_lookahead_lost(ahead, &node);
            weir_lookahead_destroy(ahead);
        }
        CHECK_NEAR(lost[0] - lost[1], 3 * 0.1 * cases[i].room, 1e-9);
    }
}

/* ---- kept values ---- */

static uint32_t next_draw(uint64_t *state, uint32_t count)
{
    *state = *state * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
    return (uint32_t)(*state >> 33) % count;
}

enum { NODES = 12, SHAPES = 8 };

static void fill_shapes(struct weir_shape shapes[SHAPES])
{
    const struct weir_shape made[SHAPES] = {
        job(1000, 0, 0),    job(500, 1, 250),   typed(job(2000, 1, 500), 3),
        job(500, 1, 810),   job(1000, 1, 1000), typed(job(3000, 1, 1000), 4),
        job(4000, 2, 1000), job(8000, 4, 1000)
    };
    memcpy(shapes, made, sizeof made);
    shapes[3].ram_bytes = 300;
}

static const double frequencies[SHAPES] = { 0.1, 0.2, 0.1, 0.1, 0.2, 0.1, 0.1, 0.1 };

static struct weir_outlook random_outlook(uint64_t *draws)
{
    struct weir_outlook node = { .cpu_free = next_draw(draws, 32) * WEIR_ONE,
                                 .gpu_count = next_draw(draws, 10) };
    for (uint32_t g = 0; g < node.gpu_count; g++) {
        node.left[g] = next_draw(draws, 5) * 250 * MILLI;
        node.types[g] = next_draw(draws, 3);
    }
    return node;
}

static void swap_gpus(struct weir_outlook *node, uint32_t a, uint32_t b)
{
    const int64_t left = node->left[a];
    const uint32_t type = node->types[a];
    node->left[a] = node->left[b];
    node->types[a] = node->types[b];
    node->left[b] = left;
    node->types[b] = type;
}

static void kept_values_equal_plain_ones(void)
{
    struct weir_shape shapes[SHAPES];
    struct weir_mix mix = { shapes, frequencies, SHAPES, 0 };
    struct weir_lookahead *const kept = look(0.5, 0.03, false);
    struct weir_lookahead *const plain = look(0.5, 0.03, true);
    uint64_t draws = 5;
    fill_shapes(shapes);
    for (int i = 0; i < 3000; i++) {
        struct weir_outlook node = random_outlook(&draws);
        mix.count = i % 500 < 250 ? SHAPES : SHAPES - 1; /* the mix changes now and then */
        CHECK_I64(weir_lookahead_follow(kept, &mix), WEIR_OK);
        CHECK_I64(weir_lookahead_follow(plain, &mix), WEIR_OK);
        const double lost = weir_lookahead_lost(plain, &node);
        CHECK_NEAR(weir_lookahead_lost(kept, &node), lost, 0.0);
        if (node.gpu_count > 1)
            swap_gpus(&node, 0, next_draw(&draws, node.gpu_count));
        CHECK_NEAR(weir_lookahead_lost(kept, &node), lost, 0.0); /* as GPUs have no order */
        CHECK_NEAR(weir_lookahead_lost(plain, &node), lost, 0.0);
    }
    weir_lookahead_destroy(kept);
    weir_lookahead_destroy(plain);
}

/* ---- the policy against its plain form ---- */

static void add_node(struct weir_cluster *cluster, uint32_t id, uint64_t *draws)
{
    struct weir_gpu_spec gpus[8] = { 0 };
    const uint32_t count = next_draw(draws, 3) * 4;
    const uint32_t type = next_draw(draws, 3);
    for (uint32_t g = 0; g < count; g++)
        gpus[g] = (struct weir_gpu_spec){ .type = type, .units = WEIR_ONE };
    const struct weir_node_spec spec = { .size = sizeof(struct weir_node_spec),
                                         .id = id,
                                         .gpu_count = count,
                                         .cpu_units = 32 * WEIR_ONE,
                                         .ram_bytes = 1000,
                                         .gpus = gpus };
    CHECK_I64(weir_cluster_add_node(cluster, &spec, NULL, NULL), WEIR_OK);
}

/* `is_broken`: of GPUs of which a part is taken alone. */
static double free_of(const struct weir_outlook *node, bool is_broken)
{
    double sum = 0;
    for (uint32_t g = 0; g < node->gpu_count; g++)
        sum += is_broken && node->left[g] == WEIR_ONE ? 0 : (double)node->left[g];
    return sum / (double)WEIR_ONE;
}

/* Steps of what is not lost, less what is left free costs, of the GPU of a share `on_gpu` too; a
 * little for nodes that are full. */
static double plain_grade(const struct weir_ahead_rules *rules, const struct weir_outlook *before,
                          const struct weir_outlook *after, int64_t ram_free_bytes, int64_t on_gpu)
{
    const double shrinks =
        weir_lookahead_lost(rules->ahead, before) - weir_lookahead_lost(rules->ahead, after);
    const double gain = fmin(shrinks, rules->prevent) - rules->consolidate * free_of(after, false) -
                        rules->broken * (free_of(after, true) - free_of(before, true)) -
                        rules->tight * weir_units_amount(on_gpu);
    const double free = (double)after->cpu_free / (double)WEIR_ONE + free_of(after, false) / 64 +
                        (double)ram_free_bytes / 0x1p46;
    return rint(gain / rules->step) + 0.5 / (1 + free / 8);
}

static void a_grade_is_its_plain_sum(void)
{
    struct weir_shape shapes[SHAPES];
    const struct weir_mix mix = { shapes, frequencies, SHAPES, 0 };
    const struct weir_ahead_rules rules = { look(0.2, 0.03, true), 0.05, 0.3, 0.4, 0.5, 0.1 };
    struct weir_cluster *cluster = NULL;
    struct weir_chooser *policy = NULL;
    uint64_t draws = 9;
    fill_shapes(shapes);
    CHECK_I64(weir_lookahead_follow(rules.ahead, &mix), WEIR_OK);
    CHECK_I64(weir_cluster_create(NULL, &cluster), WEIR_OK);
    for (uint32_t n = 0; n < NODES; n++)
        add_node(cluster, n, &draws);
    CHECK_I64(weir_chooser_create(&weir_placement_weir, NULL, NULL, &policy, NULL), WEIR_OK);
    uint32_t fits = 0;
    for (uint32_t i = 0; i < 40 * NODES; i++) {
        const struct weir_shape *const shape = &shapes[next_draw(&draws, SHAPES)];
        const struct weir_grade_site site = {
            .cluster = cluster, .shape = shape, .mix = &mix, .node = i % NODES
        };
        struct weir_outlook before;
        weir_outlook_load(cluster, site.node, &before);
        if (weir_candidates_reason(cluster, shape, site.node) != WEIR_REASON_NONE)
            continue;
        const struct weir_grade grade = weir_ahead_grade(&rules, &site);
        struct weir_outlook after = before;
        after.cpu_free -= shape->cpu_units;
        for (uint32_t g = 0, left = shape->gpu_count; g < before.gpu_count && left > 0; g++)
            if (weir_shape_is_share(shape)
                    ? g == grade.gpu
                    : weir_gpu_usable(weir_cluster_gpu(cluster, site.node, g), shape)) {
                after.left[g] -= shape->gpu_units;
                left--;
            }
        CHECK_NEAR(grade.value,
                   plain_grade(&rules, &before, &after,
                               weir_cluster_node(cluster, site.node)->ram_free_bytes,
                               weir_shape_is_share(shape) ? before.left[grade.gpu] : 0),
                   1e-12);
        const struct weir_place_query query = { .size = sizeof(struct weir_place_query),
                                                .cluster = cluster,
                                                .mix = &mix,
                                                .shape = shape,
                                                .owner = weir_job_owner(0, i) };
        struct weir_place_answer answer;
        if (fits++ % 3 == 0 && weir_chooser_place(policy, &query, &answer, NULL) == WEIR_OK)
            CHECK_I64(weir_cluster_add_worker(cluster, i, weir_pool_owner(0), &answer.alloc, NULL),
                      WEIR_OK);
    }
    CHECK(fits > 50);
    weir_chooser_destroy(policy);
    weir_lookahead_destroy(rules.ahead);
    weir_cluster_destroy(cluster);
}

/* The plain form keeps nothing of nodes: grades and rooms are worked out for every question. */
struct duel {
    struct weir_cluster *cluster;
    struct weir_chooser *policy;
    struct weir_ahead_rules plain;
    struct weir_scarce *scarce;
    struct weir_mix mix;
    uint64_t next_worker;
    uint32_t dear; /* questions at which something had a price */
};

static struct weir_grade priced_grade(const void *rules, const struct weir_grade_site *site)
{
    const struct duel *const duel = rules;
    struct weir_grade grade = weir_ahead_grade(&duel->plain, site);
    grade.value -= rint(weir_scarce_cost(duel->scarce, site, grade.gpu) / duel->plain.step);
    return grade;
}

static void ask_both(struct duel *duel, const struct weir_shape *shape)
{
    const struct weir_grader grader = { .grade = priced_grade, .rules = duel, .uses_mix = true };
    const struct weir_place_query query = { .size = sizeof(struct weir_place_query),
                                            .cluster = duel->cluster,
                                            .mix = &duel->mix,
                                            .shape = shape,
                                            .owner = weir_job_owner(0, duel->next_worker) };
    struct weir_place_answer kept, plain;
    CHECK_I64(weir_lookahead_follow(duel->plain.ahead, &duel->mix), WEIR_OK);
    CHECK_I64(weir_scarce_follow(duel->scarce, &query), WEIR_OK);
    const double departures = weir_scarce_departures(duel->scarce);
    const double large = weir_scarce_large(duel->scarce) * weir_scarce_slack(duel->scarce);
    duel->plain.consolidate = 4 * departures * large;
    duel->plain.broken = departures * weir_lookahead_whole(duel->plain.ahead);
    duel->plain.tight = departures * 0.3;
    weir_scarce_reserve(duel->scarce, duel->plain.ahead);
    weir_lookahead_set_depth(duel->plain.ahead, (uint32_t)(100 + departures * (2 - 100)));
    CHECK_I64(weir_lookahead_share(duel->plain.ahead, duel->cluster, departures), WEIR_OK);
    duel->dear += weir_scarce_is_dear(duel->scarce) ? 1 : 0;
    const weir_status status = weir_chooser_place(duel->policy, &query, &kept, NULL);
    CHECK_I64(status, plain_grades_place(&grader, &query, &plain, NULL));
    weir_scarce_note_answer(duel->scarce, &query, status == WEIR_OK);
    if (status != WEIR_OK)
        return;
    CHECK_I64(kept.alloc.node, plain.alloc.node);
    CHECK_I64(kept.alloc.device_count, plain.alloc.device_count);
    CHECK_I64(memcmp(kept.alloc.devices, plain.alloc.devices,
                     kept.alloc.device_count * sizeof kept.alloc.devices[0]),
              0);
    CHECK_NEAR(kept.choice.primary, plain.choice.primary, 0.0);
    CHECK_I64(weir_cluster_add_worker(duel->cluster, duel->next_worker++, weir_pool_owner(0),
                                      &kept.alloc, NULL),
              WEIR_OK);
}

static void duel_once(uint64_t seed)
{
    struct weir_shape shapes[SHAPES];
    uint64_t draws = seed;
    const struct weir_scarce_rules rules = { 2, 100, 0.25, 0.1 };
    struct duel duel = { .plain = { look(0.2, 0.03, true), 0.05, .prevent = 1000 },
                         .mix = { shapes, frequencies, SHAPES, 0 },
                         .next_worker = 1 };
    fill_shapes(shapes);
    CHECK_I64(weir_cluster_create(NULL, &duel.cluster), WEIR_OK);
    CHECK_I64(weir_chooser_create(&weir_placement_weir, NULL, NULL, &duel.policy, NULL), WEIR_OK);
    CHECK_I64(weir_scarce_create(&rules, NULL, &duel.scarce), WEIR_OK);
    for (uint32_t n = 0; n < NODES; n++)
        add_node(duel.cluster, n, &draws);
    for (int i = 0; i < 600; i++) {
        ask_both(&duel, &shapes[next_draw(&draws, SHAPES)]);
        const uint64_t leaver = next_draw(&draws, (uint32_t)duel.next_worker);
        if (leaver > 0 && next_draw(&draws, i < 300 ? 2 : 1) == 0)
            (void)weir_cluster_remove_worker(duel.cluster, leaver, NULL);
        if (i == 100)
            add_node(duel.cluster, NODES, &draws); /* the rooms are counted anew */
        if (i == 200)
            duel.mix.count = SHAPES - 1;
    }
    CHECK(duel.next_worker > 50);
    CHECK(duel.dear > 50);
    CHECK(weir_scarce_departures(duel.scarce) > 0.8);
    weir_lookahead_destroy(duel.plain.ahead);
    weir_scarce_destroy(duel.scarce);
    weir_chooser_destroy(duel.policy);
    weir_cluster_destroy(duel.cluster);
}

/* covers: S0.25 S0.28 */
static void the_policy_equals_its_plain_form(void)
{
    for (uint64_t seed = 1; seed <= 5; seed++)
        duel_once(seed);
}

/* ---- scarce room ---- */

static struct weir_cluster *nodes_of(uint32_t count, uint32_t typed_count)
{
    struct weir_cluster *cluster = NULL;
    CHECK_I64(weir_cluster_create(NULL, &cluster), WEIR_OK);
    for (uint32_t n = 0; n < count; n++) {
        struct weir_gpu_spec gpus[4];
        for (int g = 0; g < 4; g++)
            gpus[g] = (struct weir_gpu_spec){ .type = n < typed_count ? 0 : 1, .units = WEIR_ONE };
        const struct weir_node_spec spec = { .size = sizeof(struct weir_node_spec),
                                             .id = n,
                                             .gpu_count = 4,
                                             .cpu_units = 16 * WEIR_ONE,
                                             .ram_bytes = 1000,
                                             .gpus = gpus };
        CHECK_I64(weir_cluster_add_node(cluster, &spec, NULL, NULL), WEIR_OK);
    }
    return cluster;
}

static struct weir_scarce *scarce_of(double prior)
{
    const struct weir_scarce_rules rules = { 3, prior, 1, 1 };
    struct weir_scarce *scarce = NULL;
    CHECK_I64(weir_scarce_create(&rules, NULL, &scarce), WEIR_OK);
    return scarce;
}

static struct weir_place_query question(const struct weir_cluster *cluster,
                                        const struct weir_mix *mix, const struct weir_shape *shape,
                                        uint64_t id)
{
    return (struct weir_place_query){ .size = sizeof(struct weir_place_query),
                                      .cluster = cluster,
                                      .mix = mix,
                                      .shape = shape,
                                      .owner = weir_job_owner(0, id) };
}

static void room_is_what_a_node_would_give(void)
{
    const struct weir_claim pairs = { .gpu_count = 2, .cpu_units = 4 * WEIR_ONE, .ram_bytes = 100 };
    const struct weir_claim shares = { .types = WEIR_GPU_TYPE_SET | 2,
                                       .cpu_units = 2 * WEIR_ONE,
                                       .need_units = WEIR_ONE / 4 };
    struct weir_outlook node = { .cpu_free = 16 * WEIR_ONE, .gpu_count = 4, .types = { 1, 1, 1 } };
    for (int g = 0; g < 4; g++)
        node.left[g] = WEIR_ONE;
    CHECK_I64(weir_claim_room(&pairs, &node, 1000), 4000);
    CHECK_I64(weir_claim_room(&pairs, &node, 199), 2000); /* memory for one */
    CHECK_I64(weir_claim_room(&shares, &node, 0), 3000);  /* the fourth is of type 0 */
    node.left[0] = WEIR_ONE / 2;
    CHECK_I64(weir_claim_room(&pairs, &node, 1000), 2000); /* three whole ones */
    CHECK_I64(weir_claim_room(&shares, &node, 0), 2500);
    node.left[1] = WEIR_ONE / 5;
    CHECK_I64(weir_claim_room(&shares, &node, 0), 1500); /* too little is none */
    node.cpu_free = 2 * WEIR_ONE;
    CHECK_I64(weir_claim_room(&shares, &node, 0), 1000); /* CPUs for one GPU */
    CHECK_I64(weir_claim_room(&pairs, &node, 1000), 0);
}

/* Two types of eight GPUs; half of what is asked for insists on type 0, or none of it. */
static void who_can_go_elsewhere_pays_for_what_others_need(void)
{
    const struct weir_shape any = job(1000, 1, 1000);
    const struct weir_shape shapes[2] = { any, typed(any, 1) };
    const double halves[2] = { 0.5, 0.5 };
    const double one = 1;
    const struct weir_mix both = { shapes, halves, 2, 0 };
    const struct weir_mix free_ones = { &any, &one, 1, 0 };
    struct weir_cluster *const cluster = nodes_of(4, 2);
    struct weir_scarce *const scarce = scarce_of(1000);
    struct weir_scarce *const other = scarce_of(1000);
    struct weir_grade_site site = { .cluster = cluster, .shape = &any, .mix = &both };
    struct weir_place_query query = question(cluster, &both, &any, 1);
    CHECK_I64(weir_scarce_follow(scarce, &query), WEIR_OK);
    /* 16 free GPUs, so 16 arrivals, 8 of them insisting, on 8: an even chance. */
    CHECK_NEAR(weir_scarce_cost(scarce, &site, 0), 1.5, 0.01);
    site.shape = &shapes[1];
    CHECK_NEAR(weir_scarce_cost(scarce, &site, 0), 0, 0); /* its own */
    site.shape = &any;
    site.node = 2;
    CHECK_NEAR(weir_scarce_cost(scarce, &site, 0), 0, 0); /* of the other type */
    query.mix = &free_ones;
    CHECK_I64(weir_scarce_follow(other, &query), WEIR_OK);
    CHECK(!weir_scarce_is_dear(other));
    weir_scarce_destroy(scarce);
    weir_scarce_destroy(other);
    weir_cluster_destroy(cluster);
}

/* Whoever asks for as many GPUs, CPUs and bytes of types that are all among the other's can go
 * nowhere but where the other can; what is counted in amounts asks for types alone. */
static bool goes_nowhere_else(const struct weir_claim *who, const struct weir_claim *other)
{
    const bool is_amount = other->gpu_count == 0;
    const uint32_t types = other->types == 0 ? UINT32_MAX : other->types;
    if ((who->gpu_count == 0) != is_amount || who->gpu_count < other->gpu_count ||
        (who->types == 0 && other->types != 0) || (who->types & ~types) != 0)
        return false;
    return is_amount || (who->cpu_units >= other->cpu_units && who->ram_bytes >= other->ram_bytes);
}

/* By the header: 24 GPUs are free, so many arrivals fill them as ask for 24 together. */
static double plain_price(const struct weir_claim *claims, uint32_t count, uint32_t which,
                          double gpus)
{
    const struct weir_claim *const claim = &claims[which];
    double mean = 0;
    double variance = 0;
    for (uint32_t k = 0; k < count; k++) {
        mean += goes_nowhere_else(&claims[k], claim) ? claims[k].gpus * 24 / gpus : 0;
        variance += goes_nowhere_else(&claims[k], claim) ? claims[k].squares * 24 / gpus : 0;
    }
    const double deviation = sqrt(variance + 0.2 * 0.2 * mean * mean);
    const double missing = mean + claim->gpu_count / 2.0 - (double)claim->room / 1000;
    const double price = 3 * erfc(-missing / deviation / sqrt(2.0)) / 2;
    return price < 0.02 ? 0 : price;
}

/* Whoever asks for the same is one claim, in which all of them are counted. */
static void check_claims(const struct weir_claim *claims, uint32_t count, double several,
                         double choosy)
{
    for (uint32_t k = 0; k < count; k++) {
        const struct weir_claim *const claim = &claims[k];
        several -= claim->gpu_count > 0 ? claim->jobs : 0;
        choosy -= claim->gpu_count > 0 ? 0 : claim->jobs;
        for (uint32_t j = 0; j < k; j++)
            CHECK(claims[j].gpu_count != claim->gpu_count || claims[j].types != claim->types ||
                  (claim->gpu_count > 0 && (claims[j].cpu_units != claim->cpu_units ||
                                            claims[j].ram_bytes != claim->ram_bytes)));
    }
    CHECK_NEAR(several, 0, 1e-9);
    CHECK_NEAR(choosy, 0, 1e-9);
}

static void prices_are_those_of_a_plain_sum(void)
{
    struct weir_shape shapes[] = { job(1000, 1, 1000),  job(8000, 2, 1000), job(2000, 2, 1000),
                                   job(4000, 4, 1000),  job(4000, 2, 1000), job(4000, 2, 1000),
                                   job(1000, 1, 500),   job(1000, 1, 1000), job(6000, 3, 1000),
                                   job(12000, 4, 1000), job(2000, 4, 1000), job(1000, 1, 1000) };
    const double none = 0;
    const struct weir_mix mix = { shapes, &none, 1, 0 };
    uint64_t draws = 3;
    uint32_t dear = 0;
    uint32_t count = 0;
    shapes[4] = typed(shapes[4], 1);
    shapes[5].ram_bytes = 300;
    shapes[6] = typed(shapes[6], 1);
    shapes[7] = typed(shapes[7], 2);
    shapes[10] = typed(shapes[10], 3);
    shapes[11] = typed(shapes[11], 3);
    struct weir_cluster *const cluster = nodes_of(6, 3);
    struct weir_scarce *const scarce = scarce_of(0);
    double gpus = 0, several = 0, choosy = 0;
    for (uint64_t id = 1; id <= 100; id++) {
        const struct weir_shape *const shape = &shapes[next_draw(&draws, 12)];
        const struct weir_place_query query = question(cluster, &mix, shape, id);
        gpus += shape->gpu_count * weir_units_amount(shape->gpu_units);
        several += shape->gpu_count > 1 ? 1 : 0;
        choosy += shape->gpu_type != 0 ? 1 : 0;
        CHECK_I64(weir_scarce_follow(scarce, &query), WEIR_OK);
        const struct weir_claim *const claims = weir_scarce_claims(scarce, &count);
        for (uint32_t k = 0; k < count; k++) {
            CHECK_NEAR(claims[k].price, plain_price(claims, count, k, gpus), 1e-9);
            dear += claims[k].price > 0.01 && claims[k].price < 2.99 ? 1 : 0;
        }
    }
    check_claims(weir_scarce_claims(scarce, &count), count, several, choosy);
    CHECK(count >= 8);
    CHECK(dear > 100);
    weir_scarce_destroy(scarce);
    weir_cluster_destroy(cluster);
}

/* The room of a job of four GPUs is whole nodes: the first share on one takes all of it. */
static void a_share_pays_for_the_node_it_breaks(void)
{
    const struct weir_shape share = job(1000, 1, 500);
    const struct weir_shape four = job(4000, 4, 1000);
    const double none = 0;
    const struct weir_mix mix = { &share, &none, 1, 0 };
    struct weir_cluster *const cluster = nodes_of(2, 0);
    struct weir_scarce *const scarce = scarce_of(0);
    const struct weir_grade_site site = { .cluster = cluster, .shape = &share, .mix = &mix };
    for (uint64_t id = 1; id <= 50; id++) {
        const struct weir_place_query query = question(cluster, &mix, &four, id);
        CHECK_I64(weir_scarce_follow(scarce, &query), WEIR_OK);
        CHECK_I64(weir_scarce_follow(scarce, &query), WEIR_OK); /* waits, and asks again */
    }
    uint32_t count = 0;
    const struct weir_claim *const claims = weir_scarce_claims(scarce, &count);
    CHECK_I64(count, 1);
    CHECK_NEAR(claims[0].jobs, 50, 1e-12);
    CHECK_I64(claims[0].room, 8000);
    /* Two to come, two nodes: mean 8 GPUs, variance 32 and a fifth of 8 squared. */
    const double chance = 0.5 * erfc(-(8 + 2 - 8) / sqrt(32 + 1.6 * 1.6) / sqrt(2.0));
    CHECK_NEAR(weir_scarce_cost(scarce, &site, 0), 4 * 3 * chance, 1e-9);
    weir_scarce_destroy(scarce);
    weir_cluster_destroy(cluster);
}

/* covers: S0.8 */
static void what_was_learned_is_saved_and_restored(void)
{
    enum { NUMBERS = 500 };
    struct weir_shape shapes[SHAPES];
    const struct weir_mix mix = { shapes, frequencies, SHAPES, 0 };
    struct weir_cluster *const cluster = nodes_of(4, 2);
    struct weir_scarce *const first = scarce_of(100);
    struct weir_scarce *const second = scarce_of(100);
    double numbers[NUMBERS];
    fill_shapes(shapes);
    for (uint64_t id = 1; id < 40; id++) {
        const struct weir_place_query query = question(cluster, &mix, &shapes[id % SHAPES], id);
        CHECK_I64(weir_scarce_follow(first, &query), WEIR_OK);
        weir_scarce_note_answer(first, &query, id % 9 != 0);
    }
    const uint32_t count = weir_scarce_save(first, numbers, NUMBERS);
    CHECK(count > 0 && count <= NUMBERS);
    CHECK_I64(weir_scarce_restore(second, numbers, count, NULL), WEIR_OK);
    for (uint64_t id = 30; id < 50; id++) { /* some of them known */
        const struct weir_place_query query = question(cluster, &mix, &shapes[id % SHAPES], id);
        const struct weir_grade_site site = { cluster, &shapes[1], &mix, { .index = 0 }, 0 };
        CHECK_I64(weir_scarce_follow(first, &query), WEIR_OK);
        CHECK_I64(weir_scarce_follow(second, &query), WEIR_OK);
        CHECK_NEAR(weir_scarce_cost(second, &site, 0), weir_scarce_cost(first, &site, 0), 0.0);
    }
    CHECK_NEAR(weir_scarce_large(second), weir_scarce_large(first), 0.0);
    CHECK_NEAR(weir_scarce_slack(second), weir_scarce_slack(first), 0.0);
    for (uint32_t less = 1; less < 9; less++)
        CHECK_I64(weir_scarce_restore(second, numbers, count - less, NULL), WEIR_EFORMAT);
    numbers[0] = -1;
    CHECK_I64(weir_scarce_restore(second, numbers, count, NULL), WEIR_EFORMAT);
    weir_scarce_destroy(first);
    weir_scarce_destroy(second);
    weir_cluster_destroy(cluster);
}

/* ---- the order of the nodes ---- */

static double used_milli(const char *policy, const char *ranks, uint64_t replication)
{
    char sets[2048];
    char folder[512];
    (void)snprintf(folder, sizeof folder, "%s", test_data("golden/fgd_small"));
    (void)snprintf(sets, sizeof sets,
                   "cluster.nodes_file=%s/nodes.csv fill[0].trace=%s/pods.csv "
                   "fill[0].node_order=%s sched.placement=%s",
                   folder, folder, ranks, policy);
    struct sim_scenario *const scenario = test_scenario(
        "schema: 2\nname: t\ncluster: {nodes_file: x}\nsched: {placement: fgd}\n"
        "fill: [{name: a, trace: x, order: shuffled, demand: 130%, node_order: shuffled}]\n",
        sets);
    const struct sim_run_options options = { .seed = 3,
                                             .replication = (uint32_t)replication,
                                             .export_at_s = (double)NAN };
    struct sim_lab *run = NULL;
    CHECK(scenario != NULL);
    if (scenario == NULL)
        return -1;
    CHECK_I64(sim_lab_create(scenario, &options, &run, NULL), WEIR_OK);
    CHECK_I64(sim_lab_arrive(run, NULL), WEIR_OK);
    const double used = sim_lab_counts(run)->used_milli;
    sim_lab_destroy(run);
    sim_scenario_destroy(scenario);
    return used;
}

static void the_order_of_the_nodes_changes_nothing(void)
{
    uint32_t fgd_differs = 0;
    for (uint64_t r = 0; r < 10; r++) {
        CHECK_NEAR(used_milli("weir", "shuffled", r), used_milli("weir", "as_given", r), 0);
        if (fabs(used_milli("fgd", "shuffled", r) - used_milli("fgd", "as_given", r)) > 0)
            fgd_differs++;
    }
    CHECK(fgd_differs > 0); /* the test can tell */
}

/* Two GPUs with all their compute free, of which the first has no engine left. */
static void a_share_passes_a_gpu_that_lacks_an_engine(void)
{
    const struct weir_shape share = {
        .kind = WEIR_SHAPE_FRACTIONAL, .gpu_count = 1, .gpu_units = WEIR_ONE / 2, .nvdecs = 1
    };
    const double one = 1;
    const struct weir_mix mix = { &share, &one, 1, 0 };
    const struct weir_gpu_spec gpus[2] = { { .units = WEIR_ONE, .nvdecs = 1 },
                                           { .units = WEIR_ONE, .nvdecs = 1 } };
    const struct weir_node_spec spec = {
        .size = sizeof(struct weir_node_spec), .id = 1, .gpu_count = 2, .gpus = gpus
    };
    const struct weir_alloc engine = { .device_count = 1, .devices = { { .nvdec_mask = 1 } } };
    struct weir_cluster *cluster = NULL;
    struct weir_place_answer answer = { .reused = 0 };
    void *state = NULL;

    CHECK_I64(weir_cluster_create(NULL, &cluster), WEIR_OK);
    CHECK_I64(weir_cluster_add_node(cluster, &spec, NULL, NULL), WEIR_OK);
    CHECK_I64(weir_cluster_add_worker(cluster, 1, weir_pool_owner(0), &engine, NULL), WEIR_OK);
    CHECK_I64(weir_placement_weir.create(NULL, NULL, &state, NULL), WEIR_OK);
    const struct weir_place_query query = {
        .size = sizeof(struct weir_place_query), .cluster = cluster, .mix = &mix, .shape = &share
    };
    CHECK_I64(weir_placement_weir.place(state, &query, &answer, NULL), WEIR_OK);
    CHECK_I64(answer.alloc.device_count, 1);
    CHECK_I64(answer.alloc.devices[0].gpu, 1);
    weir_placement_weir.destroy(state);
    weir_cluster_destroy(cluster);
}

/* ---- removal and memory ---- */

static void the_worker_whose_place_is_worth_least_goes(void)
{
    /* Jobs take whole GPUs. A half on a GPU of its own blocks one, a half beside another none. */
    const struct weir_shape half = job(0, 1, 500), whole = job(0, 1, 1000);
    const double one = 1;
    const struct weir_mix mix = { &whole, &one, 1, 0 };
    struct weir_cluster *cluster = NULL;
    struct weir_alloc alloc = { .device_count = 1, .devices = { { .units = half.gpu_units } } };
    const struct weir_gpu_spec gpu = { .units = WEIR_ONE };
    void *state = NULL;
    uint64_t victim = 0;
    CHECK_I64(weir_cluster_create(NULL, &cluster), WEIR_OK);
    for (uint32_t n = 0; n < 2; n++) {
        const struct weir_node_spec spec = {
            .size = sizeof(struct weir_node_spec), .id = n, .gpu_count = 1, .gpus = &gpu
        };
        CHECK_I64(weir_cluster_add_node(cluster, &spec, NULL, NULL), WEIR_OK);
    }
    CHECK_I64(weir_cluster_add_worker(cluster, 1, weir_pool_owner(0), &alloc, NULL), WEIR_OK);
    CHECK_I64(weir_cluster_add_worker(cluster, 2, weir_pool_owner(0), &alloc, NULL), WEIR_OK);
    alloc.node = 1;
    CHECK_I64(weir_cluster_add_worker(cluster, 3, weir_pool_owner(0), &alloc, NULL), WEIR_OK);
    CHECK_I64(weir_placement_weir.create(NULL, NULL, &state, NULL), WEIR_OK);
    const struct weir_evict_query query = { .size = sizeof(struct weir_evict_query),
                                            .cluster = cluster,
                                            .mix = &mix };
    CHECK_I64(weir_placement_weir.evict(state, &query, &victim, NULL), WEIR_OK);
    CHECK_I64(victim, 3); /* afterwards its GPU is whole: nothing lost, where 0.5 was */
    weir_placement_weir.destroy(state);
    weir_cluster_destroy(cluster);
}

struct failing {
    int64_t calls_left, blocks;
};

static void *failing_resize(void *state, void *block, size_t size)
{
    struct failing *const failing = state;
    if (size == 0) {
        failing->blocks -= block != NULL;
        free(block);
        return NULL;
    }
    if (failing->calls_left-- <= 0)
        return NULL;
    failing->blocks += block == NULL;
    return realloc(block, size);
}

static weir_status use_once(const struct weir_cluster *cluster, struct failing *failing)
{
    const struct weir_allocator allocator = { .state = failing, .resize = failing_resize };
    struct weir_shape shapes[SHAPES];
    const struct weir_mix mix = { shapes, frequencies, SHAPES, 0 };
    const struct weir_place_query query = { .size = sizeof(struct weir_place_query),
                                            .cluster = cluster,
                                            .mix = &mix,
                                            .shape = &shapes[4] };
    struct weir_place_answer answer;
    void *state = NULL;
    weir_status status = weir_placement_weir.create(NULL, &allocator, &state, NULL);
    fill_shapes(shapes);
    if (status != WEIR_OK)
        return status;
    /* Twice: a state that ran out of memory must still be usable. */
    for (int i = 0; i < 2; i++)
        status = weir_placement_weir.place(state, &query, &answer, NULL);
    weir_placement_weir.destroy(state);
    return status;
}

static void weir_survives_running_out_of_memory(void)
{
    struct weir_cluster *cluster = NULL;
    uint64_t draws = 1;
    weir_status status = WEIR_ENOMEM;
    CHECK_I64(weir_cluster_create(NULL, &cluster), WEIR_OK);
    for (uint32_t n = 0; n < NODES; n++)
        add_node(cluster, n, &draws);
    for (int64_t calls = 0; status != WEIR_OK && calls < 100; calls++) {
        struct failing failing = { .calls_left = calls };
        status = use_once(cluster, &failing);
        CHECK(status == WEIR_OK || status == WEIR_ENOMEM);
        CHECK_I64(failing.blocks, 0);
    }
    CHECK_I64(status, WEIR_OK);
    weir_cluster_destroy(cluster);
}

static const struct test tests[] = {
    { "a node loses what is left when jobs went on arriving",
      a_node_loses_what_is_left_when_jobs_went_on_arriving },
    { "the usual CPUs are those of the whole mix", the_usual_cpus_are_those_of_the_whole_mix },
    { "kept values equal plain ones, GPUs have no order", kept_values_equal_plain_ones },
    { "a grade is its plain sum", a_grade_is_its_plain_sum },
    { "the policy equals its plain form", the_policy_equals_its_plain_form },
    { "room is what a node would give", room_is_what_a_node_would_give },
    { "who can go elsewhere pays for what others need",
      who_can_go_elsewhere_pays_for_what_others_need },
    { "prices are those of a plain sum", prices_are_those_of_a_plain_sum },
    { "a share pays for the node it breaks", a_share_pays_for_the_node_it_breaks },
    { "what was learned is saved and restored", what_was_learned_is_saved_and_restored },
    { "the order of the nodes changes nothing", the_order_of_the_nodes_changes_nothing },
    { "a share passes a GPU that lacks an engine", a_share_passes_a_gpu_that_lacks_an_engine },
    { "the worker whose place is worth least goes", the_worker_whose_place_is_worth_least_goes },
    { "weir survives running out of memory", weir_survives_running_out_of_memory },
};
TEST_MAIN(tests)
