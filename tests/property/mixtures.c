/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Many keys at once: scenarios that are put together by chance from the sets of keys.table and the
 * policies there are, for each kind of work and for several pipelines and workloads together. All
 * invariants hold after every event, the scenario written out in full comes to the same digests,
 * nothing is allocated beyond the bound, and the results are those last reviewed (mixtures.txt):
 * what two mechanisms do to one another is in no test of either.
 *
 * A scenario takes the sets and the policies that lie first in an order of its own, by a hash of
 * its number and their names; what is refused beside those before it is left out. So a line more
 * in the table changes only the few scenarios in which it comes to lie first.
 */
#include "sim/engine/digest.h"
#include "sim/world/run.h"
#include "tests/support/check.h"
#include "tests/support/kept.h"
#include "tests/support/keys_table.h"
#include "tests/support/runs.h"
#include "weir/job.h"
#include "weir/policy.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
    SCENARIOS = 120 /* a base */,
    SLOW_SCENARIOS = 1000,
    SPARSE = 4,
    KEYS = 6,
    SETS = 128,
    NAME = 96
};

#define HORIZON "horizon=10 min"

/* One scenario in the making. */
struct mixture {
    uint64_t number;
    int kind;
    const char *sets[SETS];
    size_t count;
    char *texts[KEYS];
    char policies[3][NAME];
};

static uint64_t rank_of(const struct mixture *mixture, const char *name)
{
    uint64_t hash = sim_digest_word(SIM_DIGEST_START, mixture->number);
    for (; *name != '\0'; name++)
        hash = sim_digest_word(hash, (uint64_t)(unsigned char)*name);
    return hash;
}

static bool is_accepted(const struct mixture *mixture)
{
    struct sim_diagnostics said;
    struct sim_scenario *scenario =
        test_keys_load(mixture->kind, NULL, mixture->sets, mixture->count, &said);
    const bool is_there = scenario != NULL;
    sim_diagnostics_clear(&said);
    sim_scenario_destroy(scenario);
    return is_there;
}

/* The sets of a line join those before them, unless they are refused there. */
static void add_line(struct mixture *mixture, const struct test_keys_line *line, char **text)
{
    const size_t before = mixture->count;
    if (before + TEST_KEYS_SETS + 1 > SETS || (*text = strdup(line->given)) == NULL)
        return;
    mixture->count += test_keys_split(*text, &mixture->sets[before]);
    mixture->sets[mixture->count++] = line->change;
    if (!is_accepted(mixture))
        mixture->count = before;
}

/* The line of the kind that comes next after `past` in the order of the scenario. */
static const struct test_keys_line *line_behind(const struct test_keys *keys,
                                                const struct mixture *mixture, uint64_t past)
{
    const struct test_keys_line *next = NULL;
    for (size_t i = 0; i < keys->count; i++) {
        const struct test_keys_line *line = &keys->lines[i];
        const uint64_t rank = rank_of(mixture, line->key);
        if (!test_keys_is_for(line, mixture->kind) || line->refusal[0] != '\0' || rank <= past)
            continue;
        if (next == NULL || rank < rank_of(mixture, next->key))
            next = line;
    }
    return next;
}

static void add_policy(struct mixture *mixture, const char *key, char *set, const char *first)
{
    (void)snprintf(set, NAME, "sched.%s.policy=%s", key, first);
    mixture->sets[mixture->count++] = set;
    if (!is_accepted(mixture))
        mixture->count--;
}

#define FIRST_POLICY(mixture, kind, first)                                                         \
    for (uint32_t i = 0; i < weir_##kind##_count(); i++)                                           \
        if ((first) == NULL ||                                                                     \
            rank_of((mixture), weir_##kind##_at(i)->name) < rank_of((mixture), (first)))           \
            (first) = weir_##kind##_at(i)->name;

static void add_policies(struct mixture *mixture)
{
    const char *placement = NULL;
    const char *scaling = NULL;
    const char *queueing = NULL;
    FIRST_POLICY(mixture, placement, placement)
    FIRST_POLICY(mixture, scaling, scaling)
    FIRST_POLICY(mixture, queueing, queueing)
    add_policy(mixture, "placement", mixture->policies[0], placement);
    add_policy(mixture, "scaling", mixture->policies[1], scaling);
    add_policy(mixture, "queueing", mixture->policies[2], queueing);
}

static struct sim_scenario *compose(const struct test_keys *keys, struct mixture *mixture)
{
    uint64_t past = 0;
    mixture->sets[mixture->count++] = HORIZON; /* of a fill: refused */
    if (!is_accepted(mixture))
        mixture->count--;
    add_policies(mixture);
    for (size_t i = 0; i < KEYS; i++) {
        const struct test_keys_line *line = line_behind(keys, mixture, past);
        if (line == NULL)
            break;
        past = rank_of(mixture, line->key);
        add_line(mixture, line, &mixture->texts[i]);
    }
    struct sim_diagnostics said;
    struct sim_scenario *scenario =
        test_keys_load(mixture->kind, NULL, mixture->sets, mixture->count, &said);
    sim_diagnostics_clear(&said);
    return scenario;
}

/* What is asked for cannot be: no plan would do, workers are given where they do not fit, a file is
 * about more nodes. Nothing is wrong with the program. */
static bool is_said(weir_status status)
{
    return status == WEIR_EMINIMUM || status == WEIR_EINFEASIBLE || status == WEIR_EMANUAL ||
           status == WEIR_EBUSY || status == WEIR_EFORMAT;
}

/* The scenario as it says itself when all of it is written out. */
static struct sim_run_summary *run_written(int kind, const struct sim_scenario *scenario)
{
    struct sim_diagnostics said;
    struct sim_scenario *written = test_keys_load(kind, scenario->resolved, NULL, 0, &said);
    CHECK(written != NULL);
    if (written == NULL)
        sim_diagnostics_print(&said, stdout);
    sim_diagnostics_clear(&said);
    struct sim_run_summary *summary =
        written == NULL ? test_summary() : test_run_fast(written, 0, NULL);
    sim_scenario_destroy(written);
    return summary;
}

/* Of what arrived in a fill. */
static bool is_beyond_bound(const struct sim_run_summary *summary)
{
    return test_value(summary, "alloc.gap_pp", "") < -1e-6 ||
           test_value(summary, "alloc.gap_pp", "100 % arrived") < -1e-6;
}

static void check_run(struct test_kept *kept, const struct mixture *mixture,
                      const struct sim_scenario *scenario)
{
    char name[32];
    struct sim_run_summary *first = test_run(scenario, 0, NULL);
    struct sim_run_summary *again = run_written(mixture->kind, scenario);
    (void)snprintf(name, sizeof name, "%c%" PRIu64, test_keys_letters[mixture->kind],
                   mixture->number);
    if (!CHECK(first->status == WEIR_OK || is_said(first->status)) ||
        !CHECK(first->digest == again->digest && first->result_digest == again->result_digest) ||
        !CHECK(!is_beyond_bound(first))) {
        printf("    %s: %s\n", name, first->message);
        for (size_t i = 0; i < mixture->count; i++)
            printf("        --set '%s'\n", mixture->sets[i]);
    }
    if (kept != NULL)
        test_kept_check(kept, name, first->result_digest, test_kept_hash(kept, first));
    free(first);
    free(again);
}

static void mixtures_keep_what_holds(void)
{
    const bool is_slow = getenv("WEIR_SLOW") != NULL;
    struct test_keys *keys = test_keys_read();
    struct test_kept *kept = test_kept_open("property/mixtures.txt");
    size_t sets = 0;
    size_t scenarios = 0;
    for (uint64_t n = 0; keys != NULL && n < (is_slow ? SLOW_SCENARIOS : SCENARIOS); n++)
        for (int kind = 0; kind < TEST_KEYS_BASES; kind++) {
            if (kind == TEST_KEYS_TOGETHER && n % SPARSE != 0)
                continue; /* ten times as long */
            struct mixture mixture = { .number = n, .kind = kind };
            struct sim_scenario *scenario = compose(keys, &mixture);
            CHECK(scenario != NULL);
            if (scenario != NULL)
                check_run(n < SCENARIOS ? kept : NULL, &mixture, scenario);
            sets += mixture.count;
            scenarios++;
            sim_scenario_destroy(scenario);
            for (size_t i = 0; i < KEYS; i++)
                free(mixture.texts[i]);
        }
    printf("\n    %zu scenarios of %zu sets\n", scenarios, sets);
    CHECK(sets > 5 * scenarios); /* not all are refused beside one another */
    test_kept_close(kept);
    free(keys);
}

static const struct test tests[] = {
    { "mixtures keep what holds", mixtures_keep_what_holds },
};
TEST_MAIN(tests)
