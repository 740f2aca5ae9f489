/* SPDX-License-Identifier: Apache-2.0 */
/* Jobs grouped by what they need (see weir/needs.h). */
#include "weir/needs.h"

#include "sched/internal/alloc.h"
#include "sched/internal/size.h"

#include <math.h>
#include <string.h>

enum { MOST_ROUNDS = 100 };

struct grouping {
    const struct weir_needs *needs;
    double *scaled;  /* vectors */
    double *centres; /* of groups; the last is that of all */
    double *nearest; /* by vector: squared distance from the nearest centre */
    uint32_t *group;
    uint32_t found;
};

static double distance(const double *a, const double *b, uint32_t dims)
{
    double sum = 0;

    for (uint32_t d = 0; d < dims; d++)
        sum += (a[d] - b[d]) * (a[d] - b[d]);
    return sum;
}

static const double *vector(const struct grouping *work, uint32_t index)
{
    return work->scaled + (size_t)index * work->needs->dims;
}

/* To [0, 1]; a number that is the same of all says nothing. */
static void scale(struct grouping *work)
{
    const struct weir_needs *const needs = work->needs;

    for (uint32_t d = 0; d < needs->dims; d++) {
        double least = HUGE_VAL;
        double most = -HUGE_VAL;
        for (uint32_t i = 0; i < needs->count; i++) {
            least = fmin(least, needs->values[(size_t)i * needs->dims + d]);
            most = fmax(most, needs->values[(size_t)i * needs->dims + d]);
        }
        for (uint32_t i = 0; i < needs->count; i++) {
            const size_t at = (size_t)i * needs->dims + d;
            work->scaled[at] = most > least ? (needs->values[at] - least) / (most - least) : 0;
        }
    }
}

/* The mean of a group, or of all where `group` is WEIR_NO_INDEX. */
static void find_centre(const struct grouping *work, uint32_t group, double *centre)
{
    const uint32_t dims = work->needs->dims;
    double members = 0;

    memset(centre, 0, dims * sizeof *centre);
    for (uint32_t i = 0; i < work->needs->count; i++) {
        if (group != WEIR_NO_INDEX && work->group[i] != group)
            continue;
        members++;
        for (uint32_t d = 0; d < dims; d++)
            centre[d] += vector(work, i)[d];
    }
    for (uint32_t d = 0; d < dims && members > 0; d++)
        centre[d] /= members;
}

static uint32_t farthest(const struct grouping *work)
{
    uint32_t best = 0;

    for (uint32_t i = 1; i < work->needs->count; i++)
        if (work->nearest[i] > work->nearest[best])
            best = i;
    return best;
}

/* The vector that is farthest from all centres becomes one, until there are enough or none is away
 * from them. */
static void choose_centres(struct grouping *work)
{
    const struct weir_needs *const needs = work->needs;
    double *const mean = work->centres;

    find_centre(work, WEIR_NO_INDEX, mean);
    for (uint32_t i = 0; i < needs->count; i++)
        work->nearest[i] = distance(vector(work, i), mean, needs->dims);
    while (work->found < needs->groups) {
        const uint32_t next = farthest(work);
        if (work->found > 0 && !(work->nearest[next] > 0))
            return;
        double *const centre = work->centres + (size_t)work->found * needs->dims;
        memcpy(centre, vector(work, next), needs->dims * sizeof *centre);
        for (uint32_t i = 0; i < needs->count; i++) {
            const double away = distance(vector(work, i), centre, needs->dims);
            work->nearest[i] = work->found == 0 ? away : fmin(work->nearest[i], away);
        }
        work->found++;
    }
}

/* Everybody to the nearest centre; whether somebody changed his group. */
static bool assign(struct grouping *work)
{
    const uint32_t dims = work->needs->dims;
    bool has_changed = false;

    for (uint32_t i = 0; i < work->needs->count; i++) {
        uint32_t best = 0;
        double least = HUGE_VAL;
        for (uint32_t g = 0; g < work->found; g++) {
            const double away = distance(vector(work, i), work->centres + (size_t)g * dims, dims);
            best = away < least ? g : best;
            least = fmin(least, away);
        }
        has_changed = has_changed || work->group[i] != best;
        work->group[i] = best;
    }
    return has_changed;
}

static void group_all(struct grouping *work)
{
    scale(work);
    choose_centres(work);
    for (uint32_t i = 0; i < work->needs->count; i++)
        work->group[i] = WEIR_NO_INDEX;
    for (uint32_t round = 0; round < MOST_ROUNDS && assign(work); round++)
        for (uint32_t g = 0; g < work->found; g++)
            find_centre(work, g, work->centres + (size_t)g * work->needs->dims);
}

static weir_status check(const struct weir_needs *needs, struct weir_error *error)
{
    if (needs == NULL)
        return weir_fail(error, WEIR_EINVAL, "no needs");
    WEIR_TRY(weir_size_check(needs->size, sizeof *needs, "the needs", error));
    if (needs->count == 0 || needs->dims == 0 || needs->groups == 0 || needs->values == NULL)
        return weir_fail(error, WEIR_EINVAL, "%u vectors of %u numbers in %u groups", needs->count,
                         needs->dims, needs->groups);
    for (size_t i = 0; i < (size_t)needs->count * needs->dims; i++)
        if (!isfinite(needs->values[i]))
            return weir_fail(error, WEIR_EINVAL, "vector %zu: %g is no need", i / needs->dims,
                             needs->values[i]);
    return WEIR_OK;
}

weir_status weir_needs_group(const struct weir_needs *needs, const struct weir_allocator *allocator,
                             uint32_t *group, uint32_t *found, struct weir_error *error)
{
    const struct weir_allocator memory = weir_allocator_copy(allocator);
    struct grouping work = { .needs = needs };

    WEIR_TRY(check(needs, error));
    const size_t groups = needs->groups < needs->count ? needs->groups : needs->count;
    work.scaled = weir_alloc(&memory, (size_t)needs->count * needs->dims, sizeof(double));
    work.centres = weir_alloc(&memory, groups * needs->dims, sizeof(double));
    work.nearest = weir_alloc(&memory, needs->count, sizeof(double));
    const bool has_all = work.scaled != NULL && work.centres != NULL && work.nearest != NULL;
    if (has_all) {
        struct weir_needs fewer = *needs;
        fewer.groups = (uint32_t)groups;
        work.needs = &fewer;
        work.group = group;
        group_all(&work);
        *found = work.found;
    }
    weir_free(&memory, work.scaled);
    weir_free(&memory, work.centres);
    weir_free(&memory, work.nearest);
    return has_all ? WEIR_OK : weir_fail(error, WEIR_ENOMEM, "out of memory");
}
