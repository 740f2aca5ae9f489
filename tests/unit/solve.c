/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Small linear programmes against GLPK, and shares of types against published optima and examples
 * by hand.
 */
#include "sched/internal/alloc.h"
#include "sched/queueing/parts/type_rounds.h"
#include "sched/solve/type_shares.h"
#include "tests/support/check.h"

#include <glpk.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

static double draw(uint64_t *state)
{
    *state = *state * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
    return (double)(*state >> 11) / 9007199254740992.0;
}

/* ---- programmes ---- */

enum { MOST = 9 };

struct example {
    uint32_t rows, columns;
    double a[MOST][MOST], b[MOST], c[MOST];
};

/* Many of them degenerate: entries are small whole numbers, bounds often 0. */
static void make(struct example *example, uint64_t *state)
{
    memset(example, 0, sizeof *example);
    example->rows = 1 + (uint32_t)(draw(state) * MOST);
    example->columns = 1 + (uint32_t)(draw(state) * MOST);
    for (uint32_t i = 0; i < example->rows; i++) {
        for (uint32_t j = 0; j < example->columns; j++)
            example->a[i][j] = draw(state) < 0.3 ? 0 : floor(draw(state) * 8) - 2;
        example->b[i] = draw(state) < 0.3 ? 0 : floor(draw(state) * 12) - 3;
    }
    for (uint32_t j = 0; j < example->columns; j++)
        example->c[j] = floor(draw(state) * 9) - 2;
}

/* GLP_OPT, GLP_NOFEAS or GLP_UNBND. */
static int ask_glpk(const struct example *example, double *most)
{
    int indices[MOST + 1];
    double values[MOST + 1];
    glp_prob *lp = glp_create_prob();
    glp_smcp options;
    glp_init_smcp(&options);
    options.msg_lev = GLP_MSG_OFF;
    glp_set_obj_dir(lp, GLP_MAX);
    glp_add_rows(lp, (int)example->rows);
    glp_add_cols(lp, (int)example->columns);
    for (uint32_t j = 0; j < example->columns; j++) {
        glp_set_col_bnds(lp, (int)j + 1, GLP_LO, 0, 0);
        glp_set_obj_coef(lp, (int)j + 1, example->c[j]);
        indices[j + 1] = (int)j + 1;
    }
    for (uint32_t i = 0; i < example->rows; i++) {
        for (uint32_t j = 0; j < example->columns; j++)
            values[j + 1] = example->a[i][j];
        glp_set_row_bnds(lp, (int)i + 1, GLP_UP, 0, example->b[i]);
        glp_set_mat_row(lp, (int)i + 1, (int)example->columns, indices, values);
    }
    (void)glp_simplex(lp, &options);
    const int status = glp_get_status(lp);
    *most = glp_get_obj_val(lp);
    const int said = status == GLP_OPT ? GLP_OPT : status == GLP_UNBND ? GLP_UNBND : GLP_NOFEAS;
    glp_delete_prob(lp);
    return said;
}

static weir_status ask_ours(struct weir_program *program, const struct example *example,
                            double *most)
{
    CHECK_I64(weir_program_begin(program, example->rows, example->columns), WEIR_OK);
    for (uint32_t i = 0; i < example->rows; i++) {
        *weir_program_bound(program, i) = example->b[i];
        for (uint32_t j = 0; j < example->columns; j++)
            *weir_program_at(program, i, j) = example->a[i][j];
    }
    for (uint32_t j = 0; j < example->columns; j++)
        *weir_program_goal(program, j) = example->c[j];
    return weir_program_solve(program, most);
}

static void check_answer(const struct weir_program *program, const struct example *example)
{
    for (uint32_t i = 0; i < example->rows; i++) {
        double sum = 0;
        for (uint32_t j = 0; j < example->columns; j++)
            sum += example->a[i][j] * program->x[j];
        CHECK(sum <= example->b[i] + 1e-6);
    }
    for (uint32_t j = 0; j < example->columns; j++)
        CHECK(program->x[j] >= -1e-9);
}

static void small_programmes_are_solved_as_glpk_does(void)
{
    struct weir_program program;
    uint64_t state = 1;
    unsigned said[3] = { 0 };
    const struct weir_allocator memory = weir_allocator_copy(NULL);
    weir_program_open(&program, &memory);
    (void)glp_term_out(GLP_OFF);
    for (unsigned n = 0; n < 3000; n++) {
        struct example example;
        double ours = 0;
        double theirs = 0;
        make(&example, &state);
        const int glpk = ask_glpk(&example, &theirs);
        const weir_status status = ask_ours(&program, &example, &ours);
        said[glpk == GLP_OPT ? 0 : glpk == GLP_UNBND ? 1 : 2]++;
        const weir_status wanted = glpk == GLP_OPT     ? WEIR_OK
                                   : glpk == GLP_UNBND ? WEIR_ERANGE
                                                       : WEIR_EINFEASIBLE;
        if (!CHECK_I64(status, wanted))
            printf("programme %u\n", n);
        if (status != WEIR_OK || glpk != GLP_OPT)
            continue;
        if (!CHECK_NEAR(ours, theirs, 1e-6))
            printf("programme %u\n", n);
        check_answer(&program, &example);
    }
    CHECK(said[0] > 500 && said[1] > 300 && said[2] > 100);
    weir_program_close(&program);
}

/* By the steepest column alone it goes round in circles at its first corner (Beale 1955). */
static void a_programme_that_may_go_in_circles_ends(void)
{
    const struct example example = {
        .rows = 3,
        .columns = 4,
        .a = { { .25, -60, -.04, 9 }, { .5, -90, -.02, 3 }, { [2] = 1 } },
        .b = { [2] = 1 },
        .c = { .75, -150, .02, -6 }
    };
    const struct weir_allocator memory = weir_allocator_copy(NULL);
    struct weir_program program;
    double most = 0;

    weir_program_open(&program, &memory);
    CHECK_I64(ask_ours(&program, &example, &most), WEIR_OK);
    CHECK_NEAR(most, 0.05, 1e-9);
    weir_program_close(&program);
}

/* Prices of workers against ways to fill a node, as of a configuration programme: with the smallest
 * variable entering they take more than three times as many. */
static void prices_are_found_in_few_pivots(void)
{
    enum { WAYS = 150, KINDS = 30 };
    const struct weir_allocator memory = weir_allocator_copy(NULL);
    struct weir_program program;
    uint64_t state = 7;
    uint32_t pivots = 0;

    weir_program_open(&program, &memory);
    for (uint32_t n = 0; n < 20; n++) {
        double most = 0;
        CHECK_I64(weir_program_begin(&program, WAYS, KINDS), WEIR_OK);
        for (uint32_t i = 0; i < WAYS * KINDS; i++)
            *weir_program_at(&program, i / KINDS, i % KINDS) =
                draw(&state) < 0.8 ? 0 : floor(draw(&state) * 8);
        for (uint32_t i = 0; i < WAYS; i++)
            *weir_program_bound(&program, i) = 1;
        for (uint32_t j = 0; j < KINDS; j++)
            *weir_program_goal(&program, j) = 1 + floor(draw(&state) * 30);
        CHECK_I64(weir_program_solve(&program, &most), WEIR_OK);
        pivots += program.pivots;
    }
    CHECK(pivots < 2000);
    printf("    %u pivots\n", pivots);
    weir_program_close(&program);
}

/* ---- shares of types ---- */

struct shares {
    uint32_t jobs, types;
    double throughput[12], supply[3], devices[4];
    double most; /* the first level */
};

static weir_status solve(const struct shares *shares, bool is_filled, double *share, double *level)
{
    struct weir_type_job jobs[4];
    struct weir_program program;
    const struct weir_allocator memory = weir_allocator_copy(NULL);
    for (uint32_t j = 0; j < shares->jobs; j++)
        jobs[j] =
            (struct weir_type_job){ .devices = shares->devices[j] > 0 ? shares->devices[j] : 1,
                                    .weight = 1 };
    const struct weir_type_problem problem = { .jobs = shares->jobs,
                                               .types = shares->types,
                                               .job = jobs,
                                               .throughput = shares->throughput,
                                               .supply = shares->supply,
                                               .is_filled = is_filled };
    weir_program_open(&program, &memory);
    const weir_status status = weir_type_shares(&program, &problem, share, level);
    weir_program_close(&program);
    return status;
}

static void published_optima_are_reached(void)
{
    static const struct shares all[] = {
        { 2, 3, { 2, 1, .5, 3, 2, 1 }, { 1, 2, 3 }, { 0 }, 1.548387 },
        { 3, 3, { 4, 2, 1, 3, 2, 1, 2, 1.5, 1 }, { 1, 1, 1 }, { 0 }, 1.016949 },
        { 3, 2, { 4, 1, 3, 1, 1.5, 1 }, { 1, 1 }, { 0 }, 0.780488 },
        { 3, 2, { 1, 1, 1, 1, 1, 1 }, { 1, 1 }, { 0 }, 0.666667 },
        { 2, 2, { 4, 1, 3, 1 }, { 2, 2 }, { 1, 2 }, 1.6 },
    };
    for (size_t i = 0; i < sizeof all / sizeof all[0]; i++) {
        double share[12];
        double level[4];
        CHECK_I64(solve(&all[i], false, share, level), WEIR_OK);
        const double devices = all[i].devices[0] > 0 ? all[i].devices[0] : 1;
        if (!CHECK_NEAR(level[0] * devices, all[i].most, 1e-6))
            printf("problem %zu\n", i);
    }
}

/* Two jobs that are as fast everywhere are done at 1; the two that are faster on the first type go
 * on to 10/7. */
static void levels_rise_one_after_the_other(void)
{
    static const struct shares two = { 4, 2, { 1, 1, 4, 1, 4, 1, 2, 2 }, { 1, 3 }, { 0 }, 1 };
    double share[12];
    double level[4];
    CHECK_I64(solve(&two, true, share, level), WEIR_OK);
    CHECK_NEAR(level[0], 1, 1e-6);
    CHECK_NEAR(level[3], 1, 1e-6);
    CHECK_NEAR(level[1], 10. / 7, 1e-6);
    CHECK_NEAR(level[2], 10. / 7, 1e-6);
    for (uint32_t t = 0; t < 2; t++) {
        double sum = 0;
        for (uint32_t j = 0; j < 4; j++)
            sum += share[j * 2 + t];
        CHECK(sum <= two.supply[t] + 1e-6);
    }
}

/* Two pairs that are alike: each pair has the same, and both supplies are used up, as with four. */
static void those_that_are_alike_have_the_same(void)
{
    static const struct shares pairs = { 4, 2, { 4, 1, 2, 2, 4, 1, 2, 2 }, { 1, 2 }, { 0 }, 0 };
    double share[12];
    double level[4];
    CHECK_I64(solve(&pairs, true, share, level), WEIR_OK);
    for (uint32_t t = 0; t < 2; t++) {
        double sum = 0;
        for (uint32_t j = 0; j < 2; j++)
            CHECK_NEAR(share[j * 2 + t], share[(j + 2) * 2 + t], 0);
        for (uint32_t j = 0; j < 4; j++)
            sum += share[j * 2 + t];
        CHECK_NEAR(sum, pairs.supply[t], 1e-6);
    }
    for (uint32_t j = 0; j < 4; j++)
        CHECK_NEAR(level[j] * 2, /* with an equal part each has a throughput of 2 */
                   share[j * 2] * pairs.throughput[j * 2] +
                       share[j * 2 + 1] * pairs.throughput[j * 2 + 1],
                   1e-6);
}

/* A job that can run nowhere has no level, and holds nobody up. */
static void a_job_without_a_type_holds_nobody_up(void)
{
    static const struct shares none = { 2, 1, { 0, 1 }, { 1 }, { 0 }, 0 };
    double share[12];
    double level[4];
    CHECK_I64(solve(&none, true, share, level), WEIR_OK);
    CHECK_NEAR(share[1], 1, 1e-6);
    CHECK_NEAR(level[0], 0, 0);
}

/* ---- other goals ---- */

enum { SOME = 3, KINDS = 2 };

/* Three jobs on two types, as the programme: the largest c with c x need at most what each has. */
static double most_of_need(const struct weir_type_problem *problem, const double *need)
{
    struct example example = { .rows = 2 * SOME + KINDS, .columns = SOME * KINDS + 1 };
    double most = 0;
    for (uint32_t j = 0; j < SOME; j++) {
        for (uint32_t t = 0; t < KINDS; t++) {
            example.a[j][j * KINDS + t] = 1;
            example.a[SOME + t][j * KINDS + t] = problem->job[j].devices;
            example.a[SOME + KINDS + j][j * KINDS + t] = -problem->throughput[j * KINDS + t];
        }
        example.b[j] = 1;
        example.a[SOME + KINDS + j][SOME * KINDS] = need[j];
    }
    for (uint32_t t = 0; t < KINDS; t++)
        example.b[SOME + t] = problem->supply[t];
    example.c[SOME * KINDS] = 1;
    CHECK_I64(ask_glpk(&example, &most), GLP_OPT);
    return most;
}

static void check_supply(const struct weir_type_problem *problem, const double *share)
{
    for (uint32_t t = 0; t < KINDS; t++) {
        double used = 0;
        for (uint32_t j = 0; j < SOME; j++)
            used += share[j * KINDS + t] * problem->job[j].devices;
        CHECK(used <= problem->supply[t] + 1e-6);
    }
}

/* Random ones: the makespan is that of GLPK; with the ratio that was found GLPK gives every job
 * exactly what it needs, so none smaller is possible. */
static void times_are_as_short_as_glpk_says(void)
{
    struct weir_program program;
    const struct weir_allocator memory = weir_allocator_copy(NULL);
    uint64_t state = 9;
    weir_program_open(&program, &memory);
    (void)glp_term_out(GLP_OFF);
    for (unsigned n = 0; n < 300; n++) {
        struct weir_type_job jobs[SOME];
        double throughput[SOME * KINDS];
        double share[SOME * KINDS];
        double level[SOME];
        double need[SOME];
        const double supply[] = { 1 + floor(draw(&state) * 3), 1 + floor(draw(&state) * 3) };
        for (uint32_t j = 0; j < SOME; j++) {
            const double total = 100 + 900 * draw(&state);
            jobs[j] = (struct weir_type_job){ .devices = 1,
                                              .weight = 1,
                                              .left = total * (.1 + .9 * draw(&state)),
                                              .spent_s = 300 * draw(&state),
                                              .total = total };
            for (uint32_t t = 0; t < KINDS; t++)
                throughput[j * KINDS + t] = .5 + 4 * draw(&state);
        }
        struct weir_type_problem problem = { .jobs = SOME,
                                             .types = KINDS,
                                             .job = jobs,
                                             .throughput = throughput,
                                             .supply = supply,
                                             .goal = WEIR_TYPE_MAKESPAN };
        for (uint32_t j = 0; j < SOME; j++)
            need[j] = jobs[j].left;
        CHECK_I64(weir_type_shares(&program, &problem, share, level), WEIR_OK);
        CHECK_NEAR(level[0] / most_of_need(&problem, need), 1, 1e-6);
        check_supply(&problem, share);
        problem.goal = WEIR_TYPE_FINISH_TIME;
        CHECK_I64(weir_type_shares(&program, &problem, share, level), WEIR_OK);
        for (uint32_t j = 0; j < SOME; j++) {
            const double equal =
                (supply[0] * throughput[j * KINDS] + supply[1] * throughput[j * KINDS + 1]) /
                (supply[0] + supply[1]);
            need[j] = jobs[j].left / (level[0] * jobs[j].total / equal - jobs[j].spent_s);
            CHECK(need[j] > 0);
        }
        CHECK_NEAR(most_of_need(&problem, need), 1, 1e-6);
        check_supply(&problem, share);
    }
    weir_program_close(&program);
}

/* Two entities of weights 2 and 1 with three jobs and one, or one and three: their weight is
 * divided over the jobs that may still rise; or the first has it. */
static void entities_divide_their_weight(void)
{
    static const double weights[] = { 2, 1 };
    static const double ones[] = { 1, 1, 1, 1 };
    static const struct {
        double supply;
        uint32_t first, hierarchy; /* jobs of the first entity */
        double level[4];
    } cases[] = {
        { 2, 3, WEIR_TYPE_FAIR, { 4. / 9, 4. / 9, 4. / 9, 2. / 3 } },
        { 3, 1, WEIR_TYPE_FAIR, { 1, 2. / 3, 2. / 3, 2. / 3 } },
        { 2, 3, WEIR_TYPE_FIRST, { 1, 1. / 3, 0, 2. / 3 } },
    };
    struct weir_program program;
    const struct weir_allocator memory = weir_allocator_copy(NULL);
    weir_program_open(&program, &memory);
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        struct weir_type_job jobs[4];
        double share[4];
        double level[4];
        for (uint32_t j = 0; j < 4; j++)
            jobs[j] =
                (struct weir_type_job){ .devices = 1, .weight = 1, .entity = j >= cases[i].first };
        const struct weir_type_problem problem = { .jobs = 4,
                                                   .types = 1,
                                                   .job = jobs,
                                                   .throughput = ones,
                                                   .supply = &cases[i].supply,
                                                   .is_filled = true,
                                                   .hierarchy = cases[i].hierarchy,
                                                   .entities = weights };
        CHECK_I64(weir_type_shares(&program, &problem, share, level), WEIR_OK);
        for (uint32_t j = 0; j < 4; j++)
            if (!CHECK_NEAR(level[j], cases[i].level[j], 1e-6))
                printf("case %zu job %u\n", i, j);
    }
    weir_program_close(&program);
}

/* ---- rounds ---- */

/* Two types of one device, six rounds of 360 s: who runs, and the priorities of the third. */
static void rounds_give_jobs_their_shares(void)
{
    static const uint32_t first[] = { 0, 1, 0, 1, 0, 1 };
    static const uint32_t second[] = { 2, 2, 1, 2, 2, 2 };
    static const double supply[] = { 1, 1 };
    struct weir_round_job jobs[3] = {
        { .devices = 1, .share = { .5, 0 }, .may_use = 3 },
        { .devices = 1, .share = { .5, .25 }, .may_use = 3 },
        { .devices = 1, .share = { 0, .75 }, .may_use = 3 },
    };
    uint32_t order[3];
    struct weir_type_round round = {
        .jobs = jobs, .order = order, .job_count = 3, .type_count = 2, .supply = supply
    };
    for (uint32_t r = 0; r < 6; r++) {
        if (r == 2) {
            CHECK_NEAR(weir_round_priority(&round, 0, 0), 1.1667, 5e-5);
            CHECK_NEAR(weir_round_priority(&round, 1, 0), 1.1667, 5e-5);
            CHECK_NEAR(weir_round_priority(&round, 1, 1), 1.75, 5e-5);
            CHECK_NEAR(weir_round_priority(&round, 2, 1), 1.05, 5e-5);
        }
        weir_round_choose(&round);
        CHECK_I64(jobs[first[r]].type, 0);
        CHECK_I64(jobs[second[r]].type, 1);
        for (uint32_t j = 0; j < 3; j++)
            if (jobs[j].type != WEIR_NO_INDEX)
                jobs[j].had_s[jobs[j].type] += 360;
    }
}

/* A job of two devices lets one of one pass when there is one left; who has no share gets what
 * nobody else wants. */
static void a_round_leaves_nothing_idle(void)
{
    static const double supply[] = { 3 };
    struct weir_round_job jobs[4] = {
        { .devices = 2, .share = { .9 }, .may_use = 1 },
        { .devices = 2, .share = { .8 }, .may_use = 1 },
        { .devices = 1, .share = { 0 }, .may_use = 1 },
        { .devices = 1, .share = { 1 }, .may_use = 0 },
    };
    uint32_t order[4];
    struct weir_type_round round = {
        .jobs = jobs, .order = order, .job_count = 4, .type_count = 1, .supply = supply
    };
    weir_round_choose(&round);
    CHECK_I64(jobs[0].type, 0);
    CHECK_I64(jobs[1].type, WEIR_NO_INDEX);
    CHECK_I64(jobs[2].type, 0);
    CHECK_I64(jobs[3].type, WEIR_NO_INDEX);
}

static const struct test tests[] = {
    { "small programmes are solved as GLPK does", small_programmes_are_solved_as_glpk_does },
    { "a programme that may go in circles ends", a_programme_that_may_go_in_circles_ends },
    { "prices are found in few pivots", prices_are_found_in_few_pivots },
    { "published optima are reached", published_optima_are_reached },
    { "levels rise one after the other", levels_rise_one_after_the_other },
    { "those that are alike have the same", those_that_are_alike_have_the_same },
    { "a job without a type holds nobody up", a_job_without_a_type_holds_nobody_up },
    { "times are as short as GLPK says", times_are_as_short_as_glpk_says },
    { "entities divide their weight", entities_divide_their_weight },
    { "rounds give jobs their shares", rounds_give_jobs_their_shares },
    { "a round leaves nothing idle", a_round_leaves_nothing_idle },
};
TEST_MAIN(tests)
