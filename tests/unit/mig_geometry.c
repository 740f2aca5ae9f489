/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * What fits beside what on a GPU that is cut: counts of layouts known from enumeration by hand, and
 * the names of profiles.
 */
#include "sim/scenario/catalog/catalog_mig.h"
#include "tests/support/check.h"

#include <stdio.h>
#include <string.h>

static uint32_t named(const struct weir_mig *table, const char *name)
{
    uint32_t profile = UINT32_MAX;
    CHECK_I64(weir_mig_find(table, name, &profile, NULL), WEIR_OK);
    return profile;
}

static uint32_t mask_of(const struct weir_mig *table, const char *names)
{
    char copy[128];
    uint32_t mask = 0;
    (void)snprintf(copy, sizeof copy, "%s", names);
    for (const char *name = strtok(copy, " "); name != NULL; name = strtok(NULL, " "))
        mask |= UINT32_C(1) << named(table, name);
    return mask;
}

/* ---- enumeration ---- */

struct multisets {
    const struct weir_mig *table;
    uint64_t seen[128]; /* counts by profile, four bits each */
    uint32_t count;
};

static bool collect(void *state, weir_mig_layout layout)
{
    struct multisets *sets = state;
    uint64_t counts = 0;
    for (uint32_t s = 0; s < sets->table->slots; s++)
        if (weir_mig_at(layout, s) >= 0)
            counts += UINT64_C(1) << (4 * weir_mig_at(layout, s));
    for (uint32_t i = 0; i < sets->count; i++)
        if (sets->seen[i] == counts)
            return true;
    sets->seen[sets->count++] = counts;
    return sets->count < 128;
}

/* covers: S1.73 */
static void a_gpu_of_seven_slices_has_19_layouts_and_78_with_1g_20gb(void)
{
    const struct weir_mig *table = sim_catalog_mig_find("h100");
    struct multisets plain = { .table = table };
    struct multisets wide = { .table = table };
    const uint32_t five = mask_of(table, "1g 2g 3g 4g 7g");
    CHECK_I64(weir_mig_maximal(table, five, collect, &plain), 19);
    CHECK_I64(plain.count, 14);
    const uint32_t six = five | mask_of(table, "1g.20gb");
    CHECK_I64(weir_mig_maximal(table, six, collect, &wide), 78);
    CHECK_I64(wide.count, 38);
}

static bool stop_at_once(void *state, weir_mig_layout layout)
{
    (void)state;
    (void)layout;
    return false;
}

static void the_enumeration_stops_when_it_is_told(void)
{
    const struct weir_mig *table = sim_catalog_mig_find("h100");
    CHECK_I64(weir_mig_maximal(table, mask_of(table, "1g 2g 3g"), stop_at_once, NULL), 1);
}

/* covers: S1.73 */
static void one_multiset_alone_has_too_few_slots_though_its_slices_would_do(void)
{
    const struct weir_mig *table = sim_catalog_mig_find("h100");
    uint32_t counts[WEIR_MIG_PROFILES] = { 0 };
    uint32_t *one = &counts[named(table, "1g")];
    uint32_t *two = &counts[named(table, "2g")];
    uint32_t *three = &counts[named(table, "3g")];
    uint32_t *four = &counts[named(table, "4g")];
    uint32_t *seven = &counts[named(table, "7g")];
    uint32_t refused = 0;
    for (*one = 0; *one <= 7; ++*one)
        for (*two = 0; *two <= 3; ++*two)
            for (*three = 0; *three <= 2; ++*three)
                for (*four = 0; *four <= 1; ++*four)
                    for (*seven = 0; *seven <= 1; ++*seven) {
                        const uint32_t sum = *one + 2 * *two + 3 * *three + 4 * *four + 7 * *seven;
                        struct weir_error error;
                        weir_mig_layout layout = 99;
                        if (sum > 7 || weir_mig_arrange(table, counts, &layout, &error) == WEIR_OK)
                            continue;
                        refused++;
                        CHECK(*one == 1 && *three == 2 && *two + *four + *seven == 0);
                        CHECK(strstr(error.text, "no place side by side") != NULL);
                        CHECK(layout == 99);
                    }
    CHECK_I64(refused, 1);
}

static void too_many_slices_are_told_apart_from_too_few_slots(void)
{
    const struct weir_mig *table = sim_catalog_mig_find("h100");
    uint32_t counts[WEIR_MIG_PROFILES] = { 0 };
    struct weir_error error;
    weir_mig_layout layout;
    counts[named(table, "4g")] = 2;
    CHECK_I64(weir_mig_arrange(table, counts, &layout, &error), WEIR_EINFEASIBLE);
    CHECK_STR(error.text, "8 slices are asked for, h100 has 7");
}

/* ---- neighbours ---- */

static uint32_t room_for(const struct weir_mig *table, weir_mig_layout layout, const char *name)
{
    const uint32_t profile = named(table, name);
    uint32_t count = 0;
    for (uint32_t s = 0; s < table->slots; s++)
        if (weir_mig_fits(table, layout, profile, s)) {
            layout |= weir_mig_instance(profile, s);
            count++;
        }
    return count;
}

/* covers: S1.73 */
static void a_small_instance_at_a_low_slot_costs_the_large_ones(void)
{
    const struct weir_mig *table = sim_catalog_mig_find("h100");
    for (uint32_t s = 0; s < 7; s++) {
        const weir_mig_layout layout = weir_mig_instance(named(table, "1g"), s);
        CHECK_I64(room_for(table, layout, "4g"), s < 4 ? 0 : 1);
        CHECK_I64(weir_mig_fits(table, layout, named(table, "3g"), 0), s >= 4);
        CHECK_I64(weir_mig_fits(table, layout, named(table, "7g"), 0), false);
    }
}

/* covers: S1.73 */
static void beside_3g_at_slot_0_are_three_1g_and_at_slot_4_four(void)
{
    const struct weir_mig *table = sim_catalog_mig_find("h100");
    const uint32_t three = named(table, "3g");
    CHECK_I64(room_for(table, weir_mig_instance(three, 0), "1g"), 3);
    CHECK_I64(room_for(table, weir_mig_instance(three, 4), "1g"), 4);
    CHECK(!weir_mig_fits(table, 0, three, 2));
}

static void no_more_than_the_largest_count_fit(void)
{
    const struct weir_mig *table = sim_catalog_mig_find("a100-40");
    CHECK_I64(room_for(table, 0, "1g.5gb+me"), 1);
    CHECK_I64(room_for(table, weir_mig_instance(named(table, "1g.5gb+me"), 0), "1g"), 6);
    CHECK_I64(room_for(table, 0, "1g.10gb"), 4);
}

static void arranging_fills_from_the_high_slots(void)
{
    const struct weir_mig *table = sim_catalog_mig_find("h100");
    uint32_t counts[WEIR_MIG_PROFILES] = { 0 };
    weir_mig_layout layout;
    counts[named(table, "1g")] = 2;
    CHECK_I64(weir_mig_arrange(table, counts, &layout, NULL), WEIR_OK);
    CHECK_I64(weir_mig_slots(table, layout), 0x60);
    counts[named(table, "3g")] = 1;
    counts[named(table, "1g")] = 4;
    CHECK_I64(weir_mig_arrange(table, counts, &layout, NULL), WEIR_OK);
    CHECK_I64(weir_mig_slots(table, layout), 0xff);
    CHECK_I64(weir_mig_slices(table, layout), 0x7f);
}

/* ---- dead slices ---- */

/* covers: S1.73 */
static void slices_no_wanted_profile_can_reach_are_dead(void)
{
    const struct weir_mig *table = sim_catalog_mig_find("h100");
    const struct {
        const char *held;
        uint32_t start;
        const char *wanted;
        uint32_t dead;
    } rows[] = {
        { "3g", 0, "1g 3g", 1 },   { "3g", 4, "1g 3g", 0 }, { "1g", 2, "4g 3g", 3 },
        { "1g", 6, "4g 3g", 2 },   { "1g", 6, "1g 4g", 0 }, { "7g", 0, "1g", 0 },
        { "1g.20gb", 0, "1g", 1 }, { "2g", 0, "4g", 5 },
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        const struct weir_mig_state state = { .held = weir_mig_instance(named(table, rows[i].held),
                                                                        rows[i].start) };
        CHECK_I64(weir_mig_dead(table, state, mask_of(table, rows[i].wanted)), rows[i].dead);
    }
    CHECK_I64(weir_mig_dead(table, (struct weir_mig_state){ 0, 0 }, mask_of(table, "3g")), 1);
}

static void a_fixed_cut_gives_out_only_what_it_has(void)
{
    const struct weir_mig *table = sim_catalog_mig_find("h100");
    const uint32_t three = named(table, "3g");
    const struct weir_mig_state state = { .cut = weir_mig_instance(three, 0) |
                                                 weir_mig_instance(three, 4) };
    const struct weir_mig_state half = { .held = weir_mig_instance(three, 4), .cut = state.cut };
    CHECK(weir_mig_free(table, state, three, 0) && weir_mig_free(table, half, three, 0));
    CHECK(!weir_mig_free(table, half, three, 4));
    CHECK(!weir_mig_free(table, state, named(table, "1g"), 0));
    CHECK_I64(weir_mig_dead(table, state, mask_of(table, "1g 3g")), 1);
    CHECK_I64(weir_mig_dead(table, half, mask_of(table, "1g")), 4);
}

/* ---- tables ---- */

static void every_built_in_table_is_sound_and_its_slices_hold_their_share(void)
{
    for (size_t i = 0; i < sim_catalog_mig_count(); i++) {
        const struct weir_mig *table = sim_catalog_mig_at(i);
        struct weir_error error = { .phase = -1 };
        CHECK_I64(weir_mig_check(table, &error), WEIR_OK);
        CHECK(sim_catalog_mig_find(table->name) == table);
        const struct weir_mig_profile *all = &table->profiles[table->profile_count - 1];
        CHECK_I64(all->slices, table->slices);
        CHECK_I64(weir_mig_units(table, table->profile_count - 1), WEIR_ONE);
        CHECK(all->sms <= table->sms);
        CHECK(weir_mig_memory(table) >= all->mem_bytes);
        for (uint32_t p = 0; p < table->profile_count; p++)
            CHECK_I64(table->profiles[p].sms * table->slices, all->sms * table->profiles[p].slices);
    }
}

static const struct {
    const char *gpu, *name;
    uint32_t slices, slots, mib, sms, nvdecs, max_count;
} known[] = {
    { "h100", "1g.10gb", 1, 1, 10240, 16, 1, 7 },
    { "h100", "1g.20gb", 1, 2, 20480, 16, 1, 4 },
    { "h100", "2g.20gb", 2, 2, 20480, 32, 2, 3 },
    { "h100", "3g.40gb", 3, 4, 40960, 48, 3, 2 },
    { "h100", "4g.40gb", 4, 4, 40960, 64, 4, 1 },
    { "h100", "7g.80gb", 7, 8, 81920, 112, 7, 1 },
    { "a100-40", "1g.5gb", 1, 1, 4864, 14, 0, 7 },
    { "a100-40", "3g.20gb", 3, 4, 19968, 42, 2, 2 },
    { "a100-40", "7g.40gb", 7, 8, 40192, 98, 5, 1 },
    { "a30", "2g.12gb", 2, 2, 12288, 28, 2, 2 },
};

/* covers: S1.71 */
static void the_profiles_are_those_of_the_documents(void)
{
    for (size_t i = 0; i < sizeof known / sizeof known[0]; i++) {
        const struct weir_mig *table = sim_catalog_mig_find(known[i].gpu);
        const struct weir_mig_profile *profile = &table->profiles[named(table, known[i].name)];
        CHECK_I64(profile->slices, known[i].slices);
        CHECK_I64(profile->slots, known[i].slots);
        CHECK_I64(profile->mem_bytes, known[i].mib * INT64_C(1048576));
        CHECK_I64(profile->sms, known[i].sms);
        CHECK_I64(profile->nvdecs, known[i].nvdecs);
        CHECK_I64(profile->max_count, known[i].max_count);
    }
    /* H100 switched to MIG has lost 15.2 % of its SMs, A100 9.3 %. */
    const struct weir_mig *h100 = sim_catalog_mig_find("h100");
    CHECK_NEAR(1 - 112.0 / h100->sms, 0.152, 0.0005);
    CHECK_NEAR(1 - 98.0 / sim_catalog_mig_find("a100-40")->sms, 0.093, 0.0005);
}

/* covers: S1.71 */
static void a_share_names_a_profile_and_half_exists_on_four_slices_alone(void)
{
    const struct weir_mig *h100 = sim_catalog_mig_find("h100");
    const struct weir_mig *a30 = sim_catalog_mig_find("a30");
    struct weir_error error;
    uint32_t profile = 77;
    CHECK_STR(h100->profiles[named(h100, "1/7")].name, "1g.10gb");
    CHECK_STR(h100->profiles[named(h100, "4/7")].name, "4g.40gb");
    CHECK_STR(h100->profiles[named(h100, "1")].name, "7g.80gb");
    CHECK_STR(a30->profiles[named(a30, "1/2")].name, "2g.12gb");
    CHECK_STR(a30->profiles[named(a30, "2/4")].name, "2g.12gb");
    CHECK_I64(weir_mig_find(h100, "1/2", &profile, &error), WEIR_ENOTFOUND);
    CHECK_STR(error.text, "h100 has no MIG profile '1/2'; it has 1g.10gb, 1g.10gb+me, 1g.20gb, "
                          "2g.20gb, 3g.40gb, 4g.40gb, 7g.80gb");
    CHECK_I64(profile, 77);
    static const char *const unknown[] = { "", "g", "5g", "1g.11gb", "2/", "/7", "1/7x", "0", "x" };
    for (size_t i = 0; i < sizeof unknown / sizeof unknown[0]; i++)
        CHECK_I64(weir_mig_find(h100, unknown[i], &profile, NULL), WEIR_ENOTFOUND);
}

static void a_broken_table_is_refused_with_the_rule(void)
{
    struct weir_mig table = *sim_catalog_mig_find("h100");
    struct weir_error error;
    table.profiles[0].starts = 0x80;
    CHECK_I64(weir_mig_check(&table, &error), WEIR_EINVAL);
    CHECK(strstr(error.text, "sticks out") != NULL);
    table = *sim_catalog_mig_find("h100");
    table.profile_count = 0;
    CHECK_I64(weir_mig_check(&table, &error), WEIR_EINVAL);
    table = *sim_catalog_mig_find("h100");
    memset(table.profiles[2].name, 'x', sizeof table.profiles[2].name);
    CHECK_I64(weir_mig_check(&table, &error), WEIR_EINVAL);
    CHECK(strstr(error.text, "profile 2 needs a name") != NULL);
}

static const struct test tests[] = {
    { "a GPU of seven slices has 19 layouts, and 78 with 1g.20gb",
      a_gpu_of_seven_slices_has_19_layouts_and_78_with_1g_20gb },
    { "the enumeration stops when it is told", the_enumeration_stops_when_it_is_told },
    { "one multiset alone has too few slots though its slices would do",
      one_multiset_alone_has_too_few_slots_though_its_slices_would_do },
    { "too many slices are told apart from too few slots",
      too_many_slices_are_told_apart_from_too_few_slots },
    { "a small instance at a low slot costs the large ones",
      a_small_instance_at_a_low_slot_costs_the_large_ones },
    { "beside 3g at slot 0 are three 1g, and at slot 4 four",
      beside_3g_at_slot_0_are_three_1g_and_at_slot_4_four },
    { "no more than the largest count fit", no_more_than_the_largest_count_fit },
    { "arranging fills from the high slots", arranging_fills_from_the_high_slots },
    { "slices no wanted profile can reach are dead", slices_no_wanted_profile_can_reach_are_dead },
    { "a fixed cut gives out only what it has", a_fixed_cut_gives_out_only_what_it_has },
    { "every built-in table is sound, and its slices hold their share",
      every_built_in_table_is_sound_and_its_slices_hold_their_share },
    { "the profiles are those of the documents", the_profiles_are_those_of_the_documents },
    { "a share names a profile, and half exists on four slices alone",
      a_share_names_a_profile_and_half_exists_on_four_slices_alone },
    { "a broken table is refused with the rule", a_broken_table_is_refused_with_the_rule },
};

TEST_MAIN(tests)
