/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Every rule that chooses ranks, on random jobs: nobody has fewer than his least, more than his
 * most or a type that he does not take, and all together have no more than there is; speeds are
 * those of the law on the fewest nodes; optimus against the plain sentence that says what it does;
 * who runs grows only where that pays. What all of them choose is kept (joint_rules.txt).
 */
#include "sched/joint/joint.h"
#include "sched/joint/pollux.h"

#include "sched/internal/alloc.h"
#include "sim/engine/digest.h"
#include "tests/support/check.h"
#include "tests/support/kept.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { JOBS = 8, ROUNDS = 400 };

struct asked {
    struct weir_joint *joint;
    struct weir_speedup laws[JOBS];
    double numbers[JOBS][3];
    uint64_t state;
};

static uint32_t draw(struct asked *asked, uint32_t from, uint32_t to)
{
    asked->state = asked->state * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
    return from + (uint32_t)(asked->state >> 33) % (to - from + 1);
}

static void fill_job(struct asked *asked, uint32_t j)
{
    struct weir_joint_job *const job = &asked->joint->jobs[j];
    double *const numbers = asked->numbers[j];
    const uint32_t least = draw(asked, 1, 3);
    const uint32_t most = least + draw(asked, 0, 12);
    numbers[0] = draw(asked, 5, 20);
    numbers[1] = draw(asked, 1, 100) * .01;
    numbers[2] = draw(asked, 1, 60) * .01;
    asked->laws[j] = (struct weir_speedup){ .size = sizeof(struct weir_speedup),
                                            .law = WEIR_SPEEDUP_STEP,
                                            .least = least,
                                            .most = most,
                                            .usual = least,
                                            .count = 3,
                                            .numbers = numbers };
    const double total_s = draw(asked, 1, 1000) * 100;
    *job = (struct weir_joint_job){ .id = j,
                                    .may_use = draw(asked, 0, 9) == 0 ? 0 : 1,
                                    .speedup = &asked->laws[j],
                                    .least = least,
                                    .most = most,
                                    .usual = least,
                                    .gpus = draw(asked, 0, 2) == 0 ? draw(asked, 2, 4) : 1,
                                    .more_gpus = draw(asked, 0, 4) == 0 ? 1 : 0,
                                    .on_type = { 1 },
                                    .total_s = total_s,
                                    .left_s = total_s * draw(asked, 1, 10) / 10,
                                    .age_s = draw(asked, 0, 10000) };
}

/* Some run, with more or fewer than they may have by now, on GPUs of several types. */
static void let_some_run(struct asked *asked)
{
    struct weir_joint *const joint = asked->joint;
    double left = joint->devices;
    joint->types = draw(asked, 1, 3);
    for (uint32_t t = 1; t < joint->types; t++) {
        joint->supply[t] = joint->node_gpus * draw(asked, 1, 3);
        joint->devices += joint->supply[t];
    }
    for (uint32_t j = 0; j < joint->count; j++) {
        struct weir_joint_job *const job = &joint->jobs[j];
        const uint32_t held = draw(asked, job->least, job->most + 2);
        job->restart_s = draw(asked, 0, 1) * draw(asked, 10, 900);
        for (uint32_t t = 1; t < joint->types && job->may_use != 0; t++) {
            job->on_type[t] = draw(asked, 0, 4) * .5;
            job->may_use |= job->on_type[t] > 0 ? UINT32_C(1) << t : 0;
        }
        if (draw(asked, 0, 1) == 0 || weir_joint_devices(job, held) > left)
            continue;
        job->state = WEIR_JOB_RUNNING;
        job->held = held;
        job->held_type = job->may_use != 0 ? 1 : 0;
        left -= weir_joint_devices(job, held);
    }
}

static void open_round_as(struct asked *asked, const struct weir_joint_rule *rule, uint64_t round,
                          bool is_running)
{
    const struct weir_allocator memory = weir_allocator_copy(NULL);
    struct weir_error error = { .phase = -1, .pool = -1 };
    void *state = NULL;
    memset(asked, 0, sizeof *asked);
    asked->state = round * 77 + 5;
    CHECK_I64(weir_joint_create(rule, NULL, &memory, &state, &error), WEIR_OK);
    struct weir_joint *const joint = asked->joint = state;
    joint->jobs = weir_alloc(&memory, JOBS, sizeof *joint->jobs);
    memset(joint->jobs, 0, JOBS * sizeof *joint->jobs);
    joint->job_capacity = joint->count = JOBS;
    joint->count = draw(asked, 1, JOBS);
    joint->types = 1;
    joint->node_gpus = draw(asked, 4, 8);
    joint->devices = joint->supply[0] = joint->node_gpus * draw(asked, 1, 6);
    for (uint32_t j = 0; j < joint->count; j++)
        fill_job(asked, j);
    if (is_running)
        let_some_run(asked);
    CHECK_I64(weir_joint_measure(joint), WEIR_OK);
    CHECK_I64(rule->choose(joint, &error), WEIR_OK);
}

static void open_round(struct asked *asked, const struct weir_joint_rule *rule, uint64_t round)
{
    open_round_as(asked, rule, round, false);
}

static void check_bounds(const struct asked *asked, const char *name)
{
    double used = 0;
    for (uint32_t j = 0; j < asked->joint->count; j++) {
        const struct weir_joint_job *const job = &asked->joint->jobs[j];
        used += weir_joint_devices(job, job->ranks);
        if (!CHECK(job->ranks == 0 || (job->ranks >= job->least && job->ranks <= job->most)) ||
            !CHECK(job->may_use != 0 || job->ranks == 0) ||
            !CHECK(job->type == 0 || ((job->may_use >> (job->type - 1)) & 1) != 0))
            printf("%s, job %u: %u ranks of type %u\n", name, j, job->ranks, job->type);
    }
    if (!CHECK(used <= asked->joint->devices + 1e-9))
        printf("%s: %g of %g GPUs\n", name, used, asked->joint->devices);
}

static const struct {
    const struct weir_joint_rule *rule;
    const char *name;
} rules[] = { { &weir_rule_optimus, "optimus" },
              { &weir_rule_elastic, "elastic" },
              { &weir_rule_themis, "themis" },
              { &weir_rule_allox, "allox" },
              { &weir_rule_sia, "sia" } };

static void nobody_has_more_or_less_than_he_may(void)
{
    for (size_t r = 0; r < sizeof rules / sizeof rules[0]; r++)
        for (uint64_t round = 0; round < ROUNDS / 8; round++) {
            struct asked asked;
            open_round(&asked, rules[r].rule, round);
            check_bounds(&asked, rules[r].name);
            weir_joint_destroy(asked.joint);
        }
}

/* Who grows ends earlier, with the restart that it costs. */
static void who_runs_grows_where_it_pays(void)
{
    uint32_t grown = 0;
    uint32_t stayed = 0;
    for (uint64_t round = 0; round < ROUNDS; round++) {
        struct asked asked;
        open_round_as(&asked, &weir_rule_elastic, round, true);
        for (uint32_t j = 0; j < asked.joint->count; j++) {
            const struct weir_joint_job *const job = &asked.joint->jobs[j];
            const bool grows = job->held > 0 && job->held <= job->most && job->ranks > job->held;
            stayed += job->held > 0 && job->ranks == job->held;
            grown += grows;
            CHECK(!grows || weir_joint_time(asked.joint, j, job->ranks) + job->restart_s <
                                weir_joint_time(asked.joint, j, job->held));
        }
        weir_joint_destroy(asked.joint);
    }
    CHECK(grown > 20 && stayed > 20);
}

static void what_they_choose_is_kept(void)
{
    struct test_kept *kept = test_kept_open("property/joint_rules.txt");
    for (size_t r = 0; r < sizeof rules / sizeof rules[0]; r++) {
        uint64_t digest = SIM_DIGEST_START;
        for (uint64_t round = 0; round < ROUNDS; round++) {
            struct asked asked;
            open_round_as(&asked, rules[r].rule, round, true);
            for (uint32_t j = 0; j < asked.joint->count; j++) {
                const struct weir_joint_job *const job = &asked.joint->jobs[j];
                digest = sim_digest_word(digest, job->ranks);
                digest = sim_digest_word(digest, job->type);
                digest = sim_digest_word(digest, job->moves ? 1 : 0);
            }
            weir_joint_destroy(asked.joint);
        }
        test_kept_check(kept, rules[r].name, digest, 0);
    }
    test_kept_close(kept);
}

static double law_at(const struct asked *asked, uint32_t j, uint32_t ranks)
{
    const struct weir_joint_job *const job = &asked->joint->jobs[j];
    uint32_t nodes = 1;
    while (nodes * asked->joint->node_gpus < job->gpus * ranks)
        nodes++;
    return weir_speedup_at(job->speedup, ranks, nodes);
}

/* Pollux' law knows nodes: what is asked of it is asked with the fewest that hold the ranks. */
static void speeds_are_those_on_the_fewest_nodes(void)
{
    static const double pollux[] = { .121,   .00568,  .0236, .00634, .0118, .00317, 1.14,
                                     .00136, .000502, 128,   1280,   64,    256 };
    uint32_t several = 0;
    for (uint64_t round = 0; round < 60; round++) {
        struct asked asked;
        open_round(&asked, &weir_rule_optimus, round);
        for (uint32_t j = 0; j < asked.joint->count; j++)
            asked.laws[j] = (struct weir_speedup){ .size = sizeof(struct weir_speedup),
                                                   .law = WEIR_SPEEDUP_GOODPUT,
                                                   .least = 1,
                                                   .most = 16,
                                                   .usual = 1,
                                                   .count = WEIR_GOODPUT_COUNT,
                                                   .numbers = pollux };
        CHECK_I64(weir_joint_measure(asked.joint), WEIR_OK);
        for (uint32_t j = 0; j < asked.joint->count; j++)
            for (uint32_t n = 1; n <= asked.joint->jobs[j].most; n++) {
                CHECK_NEAR(weir_joint_speed(asked.joint, j, n), law_at(&asked, j, n), 1e-12);
                several += asked.joint->jobs[j].gpus * n > asked.joint->node_gpus ? 1 : 0;
            }
        weir_joint_destroy(asked.joint);
    }
    CHECK(several > 100);
}

static double seconds(const struct asked *asked, uint32_t j, uint32_t ranks)
{
    const struct weir_joint_job *const job = &asked->joint->jobs[j];
    return job->left_s * law_at(asked, j, job->usual) / law_at(asked, j, ranks);
}

/* In order everybody gets his least where it fits; then whom one more rank makes shorter by most,
 * for each of its GPUs, has it, as long as anybody is made shorter. */
static void plain_optimus(const struct asked *asked, uint32_t ranks[JOBS])
{
    double left = asked->joint->devices;
    for (uint32_t j = 0; j < asked->joint->count; j++) {
        const struct weir_joint_job *const job = &asked->joint->jobs[j];
        const double least = job->gpus * job->least + job->more_gpus;
        ranks[j] = job->may_use != 0 && least <= left ? job->least : 0;
        left -= ranks[j] > 0 ? least : 0;
    }
    for (;;) {
        uint32_t best = JOBS;
        double most = 1e-12;
        for (uint32_t j = 0; j < asked->joint->count; j++) {
            const struct weir_joint_job *const job = &asked->joint->jobs[j];
            if (ranks[j] == 0 || ranks[j] == job->most || job->gpus > left)
                continue;
            const double each = (seconds(asked, j, ranks[j]) - seconds(asked, j, ranks[j] + 1)) *
                                asked->joint->devices / job->gpus;
            best = each > most ? j : best;
            most = each > most ? each : most;
        }
        if (best == JOBS)
            return;
        ranks[best]++;
        left -= asked->joint->jobs[best].gpus;
    }
}

static void optimus_is_its_plain_sentence(void)
{
    uint32_t refused = 0;
    for (uint64_t round = 0; round < ROUNDS; round++) {
        struct asked asked;
        uint32_t wanted[JOBS];
        open_round(&asked, &weir_rule_optimus, round);
        plain_optimus(&asked, wanted);
        for (uint32_t j = 0; j < asked.joint->count; j++) {
            CHECK_I64(asked.joint->jobs[j].ranks, wanted[j]);
            refused += wanted[j] == 0 && asked.joint->jobs[j].may_use != 0 ? 1 : 0;
        }
        weir_joint_destroy(asked.joint);
    }
    CHECK(refused > 20);
}

/* ---- the search of Pollux ---- */

enum { NODES = 6 };

struct field {
    uint32_t room[NODES], least[JOBS], most[JOBS], gpus[JOBS], now[JOBS * NODES],
        ranks[JOBS * NODES];
    double exponents[JOBS];
};

static double by_power(const void *state, uint32_t job, uint32_t ranks, uint32_t nodes)
{
    const struct field *const field = state;
    return pow(ranks, field->exponents[job]) * (nodes > 1 ? .98 : 1);
}

/* Jobs of which some run on one node each. */
static void fill_field(struct asked *dice, struct field *field, uint32_t jobs, uint32_t nodes)
{
    memset(field, 0, sizeof *field);
    for (uint32_t n = 0; n < nodes; n++)
        field->room[n] = draw(dice, 2, 8);
    for (uint32_t j = 0; j < jobs; j++) {
        field->least[j] = draw(dice, 1, 3);
        field->most[j] = field->least[j] + draw(dice, 0, 12);
        field->gpus[j] = draw(dice, 1, 2);
        field->exponents[j] = draw(dice, 5, 10) * .1;
        if (j < nodes && field->least[j] * field->gpus[j] <= field->room[j])
            field->now[j * nodes + j] = draw(dice, 0, 1) * field->least[j];
    }
}

static void check_field(const struct field *field, uint32_t jobs, uint32_t nodes)
{
    uint32_t spread[NODES] = { 0 };
    uint32_t used[NODES] = { 0 };
    for (uint32_t j = 0; j < jobs; j++) {
        uint32_t on = 0;
        uint32_t ranks = 0;
        for (uint32_t n = 0; n < nodes; n++) {
            const uint32_t here = field->ranks[j * nodes + n];
            on += here > 0 ? 1 : 0;
            ranks += here;
            used[n] += here * field->gpus[j];
        }
        CHECK(ranks == 0 || (ranks >= field->least[j] && ranks <= field->most[j]));
        for (uint32_t n = 0; n < nodes; n++)
            spread[n] += on > 1 && field->ranks[j * nodes + n] > 0 ? 1 : 0;
    }
    for (uint32_t n = 0; n < nodes; n++) {
        CHECK(used[n] <= field->room[n]);
        CHECK(spread[n] <= 1);
    }
}

/* No more than there is, at most one job of several nodes on any of them, and never worse than now.
 */
static void pollux_keeps_to_what_there_is(void)
{
    const struct weir_allocator memory = weir_allocator_copy(NULL);
    struct asked dice = { .state = 3 };
    for (uint32_t round = 0; round < ROUNDS; round++) {
        struct field field;
        const uint32_t jobs = draw(&dice, 2, JOBS);
        const uint32_t nodes = draw(&dice, 2, NODES);
        fill_field(&dice, &field, jobs, nodes);
        const struct weir_pollux_problem problem = { .jobs = jobs,
                                                     .nodes = nodes,
                                                     .room = field.room,
                                                     .least = field.least,
                                                     .most = field.most,
                                                     .gpus = field.gpus,
                                                     .now = field.now,
                                                     .speedup = by_power,
                                                     .state = &field,
                                                     .power = round % 2 == 0 ? 1 : -1,
                                                     .changed = .9 };
        double found = 0;
        CHECK_I64(weir_pollux_search(&memory, &problem, field.ranks, &found), WEIR_OK);
        check_field(&field, jobs, nodes);
        CHECK_NEAR(found, weir_pollux_fitness(&problem, field.ranks), 1e-12 * fabs(found));
        CHECK(found >= weir_pollux_fitness(&problem, field.now) - 1e-9);
    }
}

static const struct test tests[] = {
    { "Pollux keeps to what there is", pollux_keeps_to_what_there_is },
    { "nobody has more or less than he may", nobody_has_more_or_less_than_he_may },
    { "who runs grows where it pays", who_runs_grows_where_it_pays },
    { "what they choose is kept", what_they_choose_is_kept },
    { "speeds are those on the fewest nodes", speeds_are_those_on_the_fewest_nodes },
    { "optimus is its plain sentence", optimus_is_its_plain_sentence },
};
TEST_MAIN(tests)
