/* SPDX-License-Identifier: Apache-2.0 */
/* Tenants, their sums and their limits (see tenants.h). What is told of them: told_tenants.c. */
#include "sched/host/tenants.h"

#include "sched/internal/alloc.h"

#include <math.h>

static const struct weir_quota none = { 0, 0, 0 };
static const struct weir_quota unlimited = { WEIR_NO_QUOTA, WEIR_NO_QUOTA, WEIR_NO_QUOTA };

weir_status weir_tenants_open(struct weir_tenants *tenants, const struct weir_allocator *allocator)
{
    *tenants = (struct weir_tenants){ .now_ns = WEIR_UNKNOWN_TIME };
    WEIR_ROOM(allocator, tenants->all, tenants->capacity, 1);
    tenants->all[tenants->count++] = (struct weir_tenant_entry){ .weight = 1,
                                                                 .tickets = 1,
                                                                 .guarantee = none,
                                                                 .hard = unlimited,
                                                                 .soft = unlimited,
                                                                 .borrow = unlimited,
                                                                 .lend = unlimited,
                                                                 .since_ns = WEIR_UNKNOWN_TIME,
                                                                 .first_kind = WEIR_NO_INDEX };
    return WEIR_OK;
}

void weir_tenants_close(struct weir_tenants *tenants, const struct weir_allocator *allocator)
{
    for (uint32_t i = 0; i < tenants->count; i++)
        weir_free(allocator, tenants->all[i].name);
    weir_free(allocator, tenants->all);
}

void weir_tenants_at(struct weir_tenants *tenants, int64_t now_ns)
{
    if (now_ns > tenants->now_ns)
        tenants->now_ns = now_ns;
}

int64_t weir_rank_group_devices(const struct weir_rank_group *groups, uint32_t count)
{
    int64_t units = 0;

    for (uint32_t g = 0; g < count; g++) {
        const int64_t rank = groups[g].shape.gpu_units * groups[g].shape.gpu_count;
        weir_sum_count(&units, rank > 0 ? rank : WEIR_ONE, groups[g].ranks);
    }
    return units;
}

/* ---- the past ---- */

/* As Slurm has it: at every whole period all that was counted is taken times (1 - 0.693 / h) for
 * each second of it, what came since the last one included. */
static double past_in_steps(const struct weir_tenants *tenants,
                            const struct weir_tenant_entry *entry, double devices)
{
    const int64_t period_ns = tenants->period_ns;
    const int64_t before = entry->since_ns / period_ns; /* times are not negative */
    const int64_t steps = tenants->now_ns / period_ns - before;
    const double half_s = 1e-9 * (double)tenants->half_life_ns;
    const double period_s = 1e-9 * (double)period_ns;
    const double left = pow(fmax(1 - 0.693 / half_s, 0), period_s);
    const double since_s = 1e-9 * (double)(entry->since_ns - before * period_ns);
    const double now_s = 1e-9 * (double)(tenants->now_ns % period_ns);

    if (steps == 0)
        return entry->device_s + devices * (now_s - since_s);
    const double first = (entry->device_s + devices * (period_s - since_s)) * left;
    const double more = pow(left, (double)steps - 1);
    return first * more + devices * (period_s * left * (1 - more) / (1 - left) + now_s);
}

static bool is_averaged(const struct weir_tenants *tenants)
{
    return tenants->rule == WEIR_USAGE_AVERAGE && tenants->half_life_ns > 0 &&
           tenants->period_ns > 0;
}

/* What is left of an average after a whole period. */
static double left_of_average(const struct weir_tenants *tenants)
{
    return exp2(-(double)tenants->period_ns / (double)tenants->half_life_ns);
}

/* At every whole period a sample comes to the average: U = left U + (1 - left) devices. */
static double average_use(const struct weir_tenants *tenants, const struct weir_tenant_entry *entry,
                          double devices)
{
    const int64_t samples =
        tenants->now_ns / tenants->period_ns - entry->since_ns / tenants->period_ns;
    const double left = pow(left_of_average(tenants), (double)samples);
    return left * entry->device_s + (1 - left) * devices;
}

/* U' = -(ln 2 / h) U + a, solved over the time in which a devices were in use. */
static double past_use(const struct weir_tenants *tenants, const struct weir_tenant_entry *entry)
{
    const double devices = weir_units_amount(entry->device_units);

    if (entry->since_ns == WEIR_UNKNOWN_TIME || tenants->now_ns <= entry->since_ns)
        return entry->device_s;
    const double passed_s = 1e-9 * (double)(tenants->now_ns - entry->since_ns);
    if (is_averaged(tenants))
        return average_use(tenants, entry, devices);
    if (tenants->half_life_ns == 0)
        return entry->device_s + devices * passed_s;
    if (tenants->period_ns > 0 && entry->since_ns >= 0)
        return past_in_steps(tenants, entry, devices);
    const double half_s = 1e-9 * (double)tenants->half_life_ns;
    const double left = exp2(-passed_s / half_s);
    return entry->device_s * left + devices * half_s / log(2.0) * (1 - left);
}

double weir_tenants_past(const struct weir_tenants *tenants, uint32_t number)
{
    return past_use(tenants, &tenants->all[number]);
}

static void count_past(const struct weir_tenants *tenants, struct weir_tenant_entry *entry)
{
    entry->device_s = past_use(tenants, entry);
    entry->since_ns = tenants->now_ns;
}

/* ---- sums ---- */

static void quota_list(const struct weir_quota *quota, int64_t list[TENANT_RESOURCES])
{
    list[TENANT_GPU] = quota->gpu_units;
    list[TENANT_CPU] = quota->cpu_units;
    list[TENANT_RAM] = quota->ram_bytes;
}

static void amounts_list(const struct weir_amounts *amounts, int64_t list[TENANT_RESOURCES])
{
    list[TENANT_GPU] = amounts->gpu_units;
    list[TENANT_CPU] = amounts->cpu_units;
    list[TENANT_RAM] = amounts->ram_bytes;
}

static int64_t larger(int64_t a, int64_t b)
{
    return a > b ? a : b;
}

/* What it does not lend and does not use, or more when those below it keep more. */
static void count_kept(struct weir_tenants *tenants, uint32_t number)
{
    struct weir_tenant_entry *const entry = &tenants->all[number];
    int64_t guarantee[TENANT_RESOURCES];
    int64_t lend[TENANT_RESOURCES];
    int64_t used[TENANT_RESOURCES];

    quota_list(&entry->guarantee, guarantee);
    quota_list(&entry->lend, lend);
    amounts_list(&entry->used, used);
    for (uint32_t r = 0; r < TENANT_RESOURCES; r++) {
        const int64_t own = lend[r] < guarantee[r] ? guarantee[r] - lend[r] - used[r] : 0;
        const int64_t kept = larger(entry->kept_below[r], larger(own, 0));
        tenants->all[entry->parent].kept_below[r] += kept - entry->kept[r];
        entry->kept[r] = kept;
    }
}

/* Parents come before their children. */
void weir_tenants_keep(struct weir_tenants *tenants)
{
    for (uint32_t t = 0; t < tenants->count; t++)
        for (uint32_t r = 0; r < TENANT_RESOURCES; r++)
            tenants->all[t].kept[r] = tenants->all[t].kept_below[r] = 0;
    for (uint32_t t = tenants->count; t-- > 1;)
        count_kept(tenants, t);
}

void weir_tenants_change(struct weir_tenants *tenants, uint32_t number,
                         const struct weir_tenant_change *change)
{
    for (uint32_t t = number;; t = tenants->all[t].parent) {
        struct weir_tenant_entry *const entry = &tenants->all[t];
        if (change->running != 0) {
            count_past(tenants, entry);
            weir_amounts_count(&entry->used, change->need, change->running);
            weir_sum_count(&entry->device_units, change->device_units, change->running);
            weir_sum_count(&entry->bandwidth_units, change->bandwidth_units, change->running);
            weir_sum_count(&entry->link_units, change->link_units, change->running);
        }
        if (change->waiting != 0)
            weir_amounts_count(&entry->wanted, change->need, change->waiting);
        if (change->running > 0 && is_averaged(tenants))
            entry->device_s += (1 - left_of_average(tenants)) * change->running *
                               weir_units_amount(change->device_units);
        entry->running += (uint32_t)change->running;
        entry->waiting += (uint32_t)change->waiting;
        if (t == 0)
            return;
        if (tenants->has_limits)
            count_kept(tenants, t);
    }
}

void weir_tenants_count(struct weir_tenants *tenants, uint32_t number,
                        const struct weir_amounts *need, int32_t by)
{
    for (uint32_t t = number; t != 0; t = tenants->all[t].parent) {
        weir_amounts_count(&tenants->all[t].used, need, by);
        count_kept(tenants, t);
    }
}

/* ---- limits ---- */

static bool is_more(const struct weir_amounts *used, const struct weir_amounts *need,
                    const struct weir_quota *base, const struct weir_quota *limit)
{
    int64_t has[TENANT_RESOURCES];
    int64_t wants[TENANT_RESOURCES];
    int64_t from[TENANT_RESOURCES];
    int64_t most[TENANT_RESOURCES];

    amounts_list(used, has);
    amounts_list(need, wants);
    quota_list(base, from);
    quota_list(limit, most);
    for (uint32_t r = 0; r < TENANT_RESOURCES; r++) {
        int64_t room = INT64_MAX;
        if (most[r] == WEIR_NO_QUOTA || __builtin_sub_overflow(from[r] + most[r], has[r], &room))
            continue;
        if (wants[r] > 0 && wants[r] > room)
            return true;
    }
    return false;
}

/* Whether what is free is enough for so much more and for what others are to find free. */
static bool leaves_too_little(const struct weir_tenants *tenants, uint32_t number,
                              const struct weir_amounts *need, const struct weir_amounts *free)
{
    int64_t kept[TENANT_RESOURCES] = { 0 };
    int64_t wants[TENANT_RESOURCES];
    int64_t has[TENANT_RESOURCES];

    for (uint32_t t = number, below = WEIR_NO_INDEX;; below = t, t = tenants->all[t].parent) {
        for (uint32_t r = 0; r < TENANT_RESOURCES; r++)
            kept[r] += tenants->all[t].kept_below[r] -
                       (below == WEIR_NO_INDEX ? 0 : tenants->all[below].kept[r]);
        if (t == 0)
            break;
    }
    amounts_list(need, wants);
    amounts_list(free, has);
    for (uint32_t r = 0; r < TENANT_RESOURCES; r++)
        if (kept[r] > 0 && wants[r] > 0 && wants[r] <= has[r] && has[r] - wants[r] < kept[r])
            return true;
    return false;
}

uint32_t weir_tenants_blocked(const struct weir_tenants *tenants, uint32_t number,
                              const struct weir_amounts *need, const struct weir_amounts *free)
{
    if (!tenants->has_limits)
        return WEIR_NO_INDEX;
    for (uint32_t t = number; t != 0; t = tenants->all[t].parent) {
        const struct weir_tenant_entry *const entry = &tenants->all[t];
        if (is_more(&entry->used, need, &none, &entry->hard) ||
            is_more(&entry->used, need, &entry->guarantee, &entry->borrow))
            return t;
    }
    return leaves_too_little(tenants, number, need, free) ? 0 : WEIR_NO_INDEX;
}

bool weir_tenants_is_beyond_soft(const struct weir_tenants *tenants, uint32_t number,
                                 const struct weir_amounts *need)
{
    for (uint32_t t = number; tenants->has_soft && t != 0; t = tenants->all[t].parent)
        if (is_more(&tenants->all[t].used, need, &none, &tenants->all[t].soft))
            return true;
    return false;
}

bool weir_tenants_is_within(const struct weir_tenants *tenants, uint32_t number, uint32_t above)
{
    while (number != above && number != 0)
        number = tenants->all[number].parent;
    return number == above;
}

uint32_t weir_tenants_pool(const struct weir_tenants *tenants, uint32_t number)
{
    while (number != 0 && tenants->all[number].gpu_pool_bytes == 0)
        number = tenants->all[number].parent;
    return number;
}

int64_t weir_tenants_pooled(const struct weir_tenants *tenants, uint32_t number)
{
    const uint32_t own = weir_tenants_pool(tenants, number);
    int64_t bytes = 0;

    for (uint32_t t = 1; tenants->has_pools && t < tenants->count; t++)
        bytes += t == own || bytes > INT64_MAX / 4 ? 0 : tenants->all[t].gpu_pool_bytes;
    return bytes;
}
