/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The geometry of multi-instance GPUs: what fits beside what. Knows no inventory.
 */
#include "weir/mig.h"
#include "sched/internal/bits.h"

#include <stdio.h>
#include <string.h>

/* ---- tables ---- */

static bool is_name(const char *name)
{
    return name[0] != '\0' && memchr(name, '\0', WEIR_MIG_NAME) != NULL;
}

static uint32_t range(uint32_t start, uint32_t count)
{
    return ((UINT32_C(1) << count) - 1) << start;
}

/* The rule a profile breaks, or NULL. */
static const char *broken_rule(const struct weir_mig *table, const struct weir_mig_profile *profile)
{
    if (!is_name(profile->name))
        return "needs a name of at most 15 bytes";
    if (profile->slices == 0 || profile->slices > table->slices)
        return "must have 1 to all of the GPU's slices";
    if (profile->slots == 0 || profile->slots > table->slots || profile->slots < profile->slices)
        return "must have as many slots as slices and at most all of the GPU's";
    if (profile->mem_bytes < 0 || profile->max_count == 0 || profile->starts == 0)
        return "needs memory >= 0, a largest count and a start";
    if (profile->nvdecs > 32)
        return "has at most 32 NVDECs";
    for (uint32_t start = 0; start < 32; start++) {
        const bool is_allowed = ((profile->starts >> start) & 1) != 0;
        if (is_allowed &&
            (start + profile->slots > table->slots || start + profile->slices > table->slices))
            return "begins at a slot from which it sticks out of the GPU";
    }
    return NULL;
}

weir_status weir_mig_check(const struct weir_mig *table, struct weir_error *error)
{
    if (!is_name(table->name))
        return weir_fail(error, WEIR_EINVAL, "a MIG table needs a name of at most 15 bytes");
    if (table->slots == 0 || table->slots > WEIR_MIG_SLOTS || table->slices == 0 ||
        table->slices > table->slots || table->profile_count == 0 ||
        table->profile_count > WEIR_MIG_PROFILES)
        return weir_fail(error, WEIR_EINVAL,
                         "MIG table %s: %u slices, %u slots and %u profiles are not possible",
                         table->name, table->slices, table->slots, table->profile_count);
    for (uint32_t p = 0; p < table->profile_count; p++) {
        const char *const rule = broken_rule(table, &table->profiles[p]);
        if (rule != NULL)
            return weir_fail(error, WEIR_EINVAL, "MIG table %s: profile %u %s", table->name, p,
                             rule);
    }
    return WEIR_OK;
}

/* ---- names ---- */

/* "2g" names the first profile with two slices and nothing added ("+me"). */
static bool is_short_name(const struct weir_mig_profile *profile, const char *text)
{
    const size_t length = strlen(text);

    return length > 1 && text[length - 1] == 'g' && length < sizeof profile->name &&
           strncmp(profile->name, text, length) == 0 && profile->name[length] == '.' &&
           strchr(profile->name, '+') == NULL;
}

/* A whole number of one or two digits; NULL when there is none, else what follows it. */
static const char *read_count(const char *text, uint32_t *count)
{
    const char *at = text;

    *count = 0;
    for (; *at >= '0' && *at <= '9' && at < text + 2; at++)
        *count = *count * 10 + (uint32_t)(*at - '0');
    return at == text ? NULL : at;
}

/* "3/7" and "1": the first profile with exactly this share of the slices. */
static bool is_share(const struct weir_mig *table, const struct weir_mig_profile *profile,
                     const char *text)
{
    uint32_t part;
    uint32_t whole = 1;
    const char *rest = read_count(text, &part);

    if (rest != NULL && *rest == '/')
        rest = read_count(rest + 1, &whole);
    return rest != NULL && *rest == '\0' && part * table->slices == whole * profile->slices;
}

static weir_status report_unknown(const struct weir_mig *table, const char *text,
                                  struct weir_error *error)
{
    char names[WEIR_MIG_PROFILES * (WEIR_MIG_NAME + 2)];
    size_t length = 0;

    for (uint32_t p = 0; p < table->profile_count; p++)
        length += (size_t)snprintf(names + length, sizeof names - length, "%s%s",
                                   p == 0 ? "" : ", ", table->profiles[p].name);
    return weir_fail(error, WEIR_ENOTFOUND, "%s has no MIG profile '%s'; it has %s", table->name,
                     text, names);
}

weir_status weir_mig_find(const struct weir_mig *table, const char *text, uint32_t *profile,
                          struct weir_error *error)
{
    for (uint32_t p = 0; p < table->profile_count; p++) {
        if (strcmp(table->profiles[p].name, text) == 0) {
            *profile = p;
            return WEIR_OK;
        }
    }
    for (uint32_t p = 0; p < table->profile_count; p++) {
        if (is_short_name(&table->profiles[p], text) ||
            is_share(table, &table->profiles[p], text)) {
            *profile = p;
            return WEIR_OK;
        }
    }
    return report_unknown(table, text, error);
}

/* ---- layouts ---- */

/* The lowest slot at which an instance of a layout (not 0) begins. */
static uint32_t first_slot(weir_mig_layout layout)
{
    return (uint32_t)__builtin_ctzll(layout) / 8;
}

static weir_mig_layout without(weir_mig_layout layout, uint32_t slot)
{
    return layout & ~((weir_mig_layout)0xff << (8 * slot));
}

uint32_t weir_mig_slots(const struct weir_mig *table, weir_mig_layout layout)
{
    uint32_t slots = 0;

    for (weir_mig_layout rest = layout; rest != 0; rest = without(rest, first_slot(rest))) {
        const uint32_t s = first_slot(rest);
        slots |= range(s, table->profiles[weir_mig_at(rest, s)].slots);
    }
    return slots;
}

uint32_t weir_mig_slices(const struct weir_mig *table, weir_mig_layout layout)
{
    uint32_t slices = 0;

    for (weir_mig_layout rest = layout; rest != 0; rest = without(rest, first_slot(rest))) {
        const uint32_t s = first_slot(rest);
        slices |= range(s, table->profiles[weir_mig_at(rest, s)].slices);
    }
    return slices;
}

/* Bits of the slots at which an instance of a profile begins. */
static uint32_t begins_of(weir_mig_layout layout, uint32_t profile)
{
    uint32_t begins = 0;

    for (weir_mig_layout rest = layout; rest != 0; rest = without(rest, first_slot(rest))) {
        const uint32_t s = first_slot(rest);
        begins |= (weir_mig_at(rest, s) == (int)profile ? UINT32_C(1) : 0) << s;
    }
    return begins;
}

/* Bits of the slots at which one more can be made. */
static uint32_t room_for(const struct weir_mig *table, weir_mig_layout layout, uint32_t profile)
{
    const struct weir_mig_profile *const wanted = &table->profiles[profile];
    const uint32_t taken = weir_mig_slots(table, layout);
    uint32_t blocked = 0;

    for (uint32_t i = 0; i < wanted->slots; i++)
        blocked |= taken >> i;
    const uint32_t room = wanted->starts & ~blocked & range(0, table->slots);
    return room != 0 && weir_bit_count(begins_of(layout, profile)) < wanted->max_count ? room : 0;
}

bool weir_mig_fits(const struct weir_mig *table, weir_mig_layout layout, uint32_t profile,
                   uint32_t start)
{
    return start < table->slots && (room_for(table, layout, profile) >> start & 1) != 0;
}

bool weir_mig_is_sound(const struct weir_mig *table, weir_mig_layout layout)
{
    weir_mig_layout built = 0;

    for (uint32_t s = 0; s < WEIR_MIG_SLOTS; s++) {
        const int profile = weir_mig_at(layout, s);
        if (profile < 0)
            continue;
        if ((uint32_t)profile >= table->profile_count ||
            !weir_mig_fits(table, built, (uint32_t)profile, s))
            return false;
        built |= weir_mig_instance((uint32_t)profile, s);
    }
    return true;
}

int64_t weir_mig_units(const struct weir_mig *table, uint32_t profile)
{
    const uint32_t slices = table->profiles[profile].slices;

    return slices == table->slices ? WEIR_ONE : WEIR_ONE / table->slices * slices;
}

int64_t weir_mig_memory(const struct weir_mig *table)
{
    int64_t most = 0;

    for (uint32_t p = 0; p < table->profile_count; p++) {
        const struct weir_mig_profile *const profile = &table->profiles[p];
        const int64_t per_slot = (profile->mem_bytes + profile->slots - 1) / profile->slots;
        if (per_slot > most)
            most = per_slot;
    }
    return most * table->slots;
}

uint32_t weir_mig_nvdecs(const struct weir_mig *table)
{
    uint32_t most = 0;

    for (uint32_t p = 0; p < table->profile_count; p++) {
        if (table->profiles[p].nvdecs > most)
            most = table->profiles[p].nvdecs;
    }
    return most;
}

/* ---- arranging ---- */

/* The profile still wanted that takes most slots, of equals most slices; -1 = none. */
static int largest_wanted(const struct weir_mig *table, const uint32_t *wanted)
{
    int best = -1;

    for (uint32_t p = 0; p < table->profile_count; p++) {
        const struct weir_mig_profile *const profile = &table->profiles[p];
        if (wanted[p] == 0)
            continue;
        if (best < 0 || profile->slots > table->profiles[best].slots ||
            (profile->slots == table->profiles[best].slots &&
             profile->slices > table->profiles[best].slices))
            best = (int)p;
    }
    return best;
}

/* Depth is at most the number of slots. */
static bool arrange_rest(const struct weir_mig *table, uint32_t *wanted, weir_mig_layout *layout)
{
    const int profile = largest_wanted(table, wanted);
    bool is_arranged = false;

    if (profile < 0)
        return true;
    wanted[profile]--;
    for (uint32_t start = table->slots; start-- > 0 && !is_arranged;) {
        if (!weir_mig_fits(table, *layout, (uint32_t)profile, start))
            continue;
        weir_mig_layout with = *layout | weir_mig_instance((uint32_t)profile, start);
        is_arranged = arrange_rest(table, wanted, &with);
        if (is_arranged)
            *layout = with;
    }
    wanted[profile]++;
    return is_arranged;
}

weir_status weir_mig_arrange(const struct weir_mig *table, const uint32_t *counts,
                             weir_mig_layout *layout, struct weir_error *error)
{
    uint32_t wanted[WEIR_MIG_PROFILES] = { 0 };
    weir_mig_layout made = 0;
    uint64_t slices = 0;

    for (uint32_t p = 0; p < table->profile_count; p++) {
        wanted[p] = counts[p];
        slices += (uint64_t)counts[p] * table->profiles[p].slices;
    }
    if (slices > table->slices)
        return weir_fail(error, WEIR_EINFEASIBLE, "%llu slices are asked for, %s has %u",
                         (unsigned long long)slices, table->name, table->slices);
    if (!arrange_rest(table, wanted, &made))
        return weir_fail(error, WEIR_EINFEASIBLE,
                         "%llu of %u slices, but the instances find no place side by side on the "
                         "%u memory slots of %s",
                         (unsigned long long)slices, table->slices, table->slots, table->name);
    *layout = made;
    return WEIR_OK;
}

/* One enumeration in progress. */
struct enumeration {
    const struct weir_mig *table;
    weir_mig_visit visit;
    void *state;
    uint32_t profiles;
    uint32_t visited;
    bool is_stopped;
};

static bool can_grow(const struct enumeration *walk, weir_mig_layout layout)
{
    for (uint32_t p = 0; p < walk->table->profile_count; p++) {
        if (((walk->profiles >> p) & 1) == 0)
            continue;
        for (uint32_t s = 0; s < walk->table->slots; s++) {
            if (weir_mig_fits(walk->table, layout, p, s))
                return true;
        }
    }
    return false;
}

/* Decides on what begins at `slot`, then on the slots above. */
static void enumerate(struct enumeration *walk, weir_mig_layout layout, uint32_t slot)
{
    if (slot == walk->table->slots) {
        if (can_grow(walk, layout))
            return;
        walk->visited++;
        walk->is_stopped = !walk->visit(walk->state, layout);
        return;
    }
    for (uint32_t p = 0; p < walk->table->profile_count && !walk->is_stopped; p++) {
        if (((walk->profiles >> p) & 1) != 0 && weir_mig_fits(walk->table, layout, p, slot))
            enumerate(walk, layout | weir_mig_instance(p, slot), slot + 1);
    }
    if (!walk->is_stopped)
        enumerate(walk, layout, slot + 1);
}

uint32_t weir_mig_maximal(const struct weir_mig *table, uint32_t profiles, weir_mig_visit visit,
                          void *state)
{
    struct enumeration walk = {
        .table = table, .visit = visit, .state = state, .profiles = profiles
    };

    enumerate(&walk, 0, 0);
    return walk.visited;
}

/* ---- one GPU ---- */

/* Bits of the slots at which an instance can be given out now. */
static uint32_t starts_of(const struct weir_mig *table, struct weir_mig_state state,
                          uint32_t profile)
{
    uint32_t starts =
        state.cut == 0 ? room_for(table, state.held, profile) : begins_of(state.cut, profile);

    for (uint32_t s = 0; state.cut != 0 && starts >> s != 0; s++)
        if (weir_mig_at(state.held, s) >= 0)
            starts &= ~(UINT32_C(1) << s);
    return starts;
}

bool weir_mig_free(const struct weir_mig *table, struct weir_mig_state state, uint32_t profile,
                   uint32_t start)
{
    return start < table->slots && (starts_of(table, state, profile) >> start & 1) != 0;
}

bool weir_mig_any_free(const struct weir_mig *table, struct weir_mig_state state, uint32_t wanted)
{
    for (uint32_t p = 0; p < table->profile_count; p++)
        if ((wanted >> p & 1) != 0 && starts_of(table, state, p) != 0)
            return true;
    return false;
}

uint32_t weir_mig_dead(const struct weir_mig *table, struct weir_mig_state state, uint32_t wanted)
{
    const uint32_t held = weir_mig_slices(table, state.held);
    uint32_t covered = 0;

    for (uint32_t p = 0; p < table->profile_count; p++) {
        const uint32_t starts = (wanted >> p & 1) != 0 ? starts_of(table, state, p) : 0;
        for (uint32_t i = 0; starts != 0 && i < table->profiles[p].slices; i++)
            covered |= starts << i;
    }
    return weir_bit_count(range(0, table->slices) & ~held & ~covered);
}
