/* SPDX-License-Identifier: Apache-2.0 */
/*
 * FGD by grades, as published (Weng et al., ATC 2023): a node's grade is the logistic function of
 * how much its fragmentation falls, in GPUs, cut to whole steps. See fgd.h.
 *
 * F is summed here the way the published program does: thousandths of a GPU, each entry of the mix
 * into one of six sums by what it lacks, these in a fixed order. The grades are then equal bit for
 * bit, which matters because nearly all decisions are ties.
 */
#include "sched/placement/fgd.h"

#include "sched/cluster/state.h"

#include <math.h>

/* What an entry of the mix lacks on a node, in the order of summation. */
enum lack { LACK_BOTH, LACK_GPU, LACK_CPU, LACK_NONE, NO_DEMAND_CPU, NO_DEMAND, LACK_TYPE, LACKS };

static const double units_per_milli = (double)WEIR_ONE / 1000;

/* A node as far as the metric sees it. */
struct books {
    const struct weir_gpu *gpus;
    uint32_t gpu_count;
    int64_t cpu_free;
    int64_t all;  /* free compute */
    bool is_even; /* all GPUs are of one type, and none is cut */
    int64_t left[WEIR_MAX_NODE_GPUS];
    weir_mig_layout held[WEIR_MAX_NODE_GPUS]; /* of those that are cut */
};

static struct books open_books(const struct weir_grade_site *site)
{
    const struct weir_node *const node = &site->cluster->nodes[site->node];
    struct books books;

    books.gpus = site->cluster->gpus + node->gpu_first;
    books.gpu_count = node->gpu_count;
    books.cpu_free = node->cpu_free;
    books.all = 0;
    books.is_even = true;
    for (uint32_t g = 0; g < node->gpu_count; g++) {
        books.is_even &= books.gpus[g].type == books.gpus[0].type && books.gpus[g].mig == NULL;
        books.left[g] = books.gpus[g].units_free;
        books.all += books.left[g];
        books.held[g] = books.gpus[g].mig_state.held;
    }
    return books;
}

/* Whether one GPU can host one device, its type aside; what of it the shape cannot use. */
static bool has_room(const struct books *books, uint32_t gpu, const struct weir_shape *shape,
                     int64_t *lost)
{
    bool has_room = books->left[gpu] >= shape->gpu_units;
    int64_t rest = 0;

    if (books->gpus[gpu].mig != NULL || shape->kind == WEIR_SHAPE_SLICE) {
        struct weir_gpu now = books->gpus[gpu];
        now.mig_state.held = books->held[gpu];
        has_room = weir_slice_usable(&now, shape);
        rest = has_room ? weir_shape_dead_units(shape, now.mig, now.mig_state) : 0;
    }
    *lost = has_room ? rest : books->left[gpu];
    return has_room;
}

/* Free compute of GPUs that are alike, ascending, and the sums up to each in thousandths. */
struct ladder {
    int64_t left[WEIR_MAX_NODE_GPUS];
    double below[WEIR_MAX_NODE_GPUS + 1];
    uint32_t open; /* those that have any */
};

static double milli_of(int64_t units)
{
    return (double)units / units_per_milli;
}

static void sort_left(const struct books *books, struct ladder *ladder)
{
    int64_t below = 0;

    ladder->open = 0;
    for (uint32_t g = 0; g < books->gpu_count; g++) {
        uint32_t place = g;
        for (; place > 0 && ladder->left[place - 1] > books->left[g]; place--)
            ladder->left[place] = ladder->left[place - 1];
        ladder->left[place] = books->left[g];
    }
    ladder->below[0] = 0;
    for (uint32_t g = 0; g < books->gpu_count; g++) {
        below += ladder->left[g];
        ladder->below[g + 1] = milli_of(below);
        ladder->open += ladder->left[g] > 0;
    }
}

/* `ladder`: of a node whose GPUs are alike, else NULL; `unusable`: in thousandths. */
static enum lack lack_of(const struct books *books, const struct ladder *ladder,
                         const struct weir_shape *shape, double *unusable)
{
    const bool has_cpus = books->cpu_free >= shape->cpu_units;
    uint32_t usable = 0;
    bool has_type = books->gpu_count == 0;

    *unusable = 0;
    if (shape->gpu_count == 0)
        return has_cpus ? NO_DEMAND_CPU : NO_DEMAND;
    if (ladder != NULL && shape->kind != WEIR_SHAPE_SLICE) {
        has_type = weir_shape_takes_type(shape, books->gpus[0].type);
        usable = shape->gpu_units > 0 ? ladder->open : books->gpu_count;
        while (usable > 0 && ladder->left[books->gpu_count - usable] < shape->gpu_units)
            usable--;
        *unusable = ladder->below[books->gpu_count - usable];
    } else {
        int64_t all_lost = 0;
        for (uint32_t g = 0; g < books->gpu_count; g++) {
            const bool is_type = weir_shape_takes_type(shape, books->gpus[g].type);
            int64_t lost = books->left[g];
            has_type |= is_type;
            usable += is_type && has_room(books, g, shape, &lost);
            all_lost += lost;
        }
        *unusable = milli_of(all_lost);
    }
    if (!has_type)
        return LACK_TYPE;
    if (usable < shape->gpu_count)
        return has_cpus ? LACK_GPU : LACK_BOTH;
    return has_cpus ? LACK_NONE : LACK_CPU;
}

/* F in thousandths of a GPU. */
static double frag_of(const struct books *books, const struct weir_mix *mix)
{
    const double all_milli = milli_of(books->all);
    double sums[LACKS] = { 0 };
    double all = 0;
    struct ladder ladder;

    if (books->gpu_count == 0)
        return 0;
    if (books->is_even)
        sort_left(books, &ladder);
    for (uint32_t i = 0; i < mix->count; i++) {
        double unusable = 0;
        const enum lack lack =
            lack_of(books, books->is_even ? &ladder : NULL, &mix->shapes[i], &unusable);
        const double milli = lack == LACK_NONE ? unusable : all_milli;
        sums[lack == LACK_NONE ? LACK_GPU : lack] += mix->frequencies[i] * milli;
    }
    for (int i = 0; i < LACKS; i++)
        all += sums[i];
    return all;
}

/* Uncut grades lie on a fine grid all the same, so that rounding noise never decides. */
static double grade_change(const struct weir_fgd_rules *rules, double before, double after,
                           bool is_cut)
{
    const double value = 1 / (1 + exp(-(before - after) / 1000));

    return is_cut && rules->steps > 0 ? weir_grade_cut(value, rules->steps, 1)
                                      : rint(value * 0x1p40) * 0x1p-40;
}

static void take_cpus(struct books *books, const struct weir_shape *shape)
{
    books->cpu_free -= shape->cpu_units;
}

static void take_gpu(struct books *books, uint32_t gpu, int64_t units)
{
    books->left[gpu] -= units;
    books->all -= units;
}

/* Whether a GPU before it, where the share fits too, has as much left: F would be the same. */
static bool is_tried(const struct books *books, uint32_t gpu, const struct weir_shape *shape)
{
    for (uint32_t g = 0; books->is_even && g < gpu; g++)
        if (books->left[g] == books->left[gpu] && weir_gpu_usable(&books->gpus[g], shape))
            return true;
    return false;
}

/* Every GPU that can host the share is tried; the first of the best is taken. */
static struct weir_grade grade_share(const struct weir_fgd_rules *rules,
                                     const struct weir_grade_site *site, struct books *books,
                                     double before)
{
    const struct weir_shape *const shape = site->shape;
    const bool is_cut = rules->device_score == WEIR_FGD_DEVICE_CUT;
    struct weir_grade best = { .value = -1, .gpu = 0 };
    double best_after = 0;

    for (uint32_t g = 0; g < books->gpu_count; g++) {
        if (!weir_gpu_usable(&books->gpus[g], shape) || is_tried(books, g, shape))
            continue;
        take_gpu(books, g, shape->gpu_units);
        const double after = frag_of(books, site->mix);
        const double value = grade_change(rules, before, after, is_cut);
        take_gpu(books, g, -shape->gpu_units);
        if (!(value > best.value))
            continue;
        best = (struct weir_grade){ .value = value, .gpu = g };
        best_after = after;
    }
    best.value = grade_change(rules, before, best_after, true);
    return best;
}

/* F once an instance is given out. */
static double frag_with(const struct weir_grade_site *site, struct books *books, uint32_t gpu,
                        struct weir_slice_place place)
{
    const int64_t units = weir_mig_units(books->gpus[gpu].mig, place.profile);

    take_gpu(books, gpu, units);
    books->held[gpu] |= weir_mig_instance(place.profile, place.start);
    const double after = frag_of(books, site->mix);
    take_gpu(books, gpu, -units);
    books->held[gpu] = books->gpus[gpu].mig_state.held;
    return after;
}

/* Every free instance that will do is tried; the first that leaves least is taken. A slice is too
 * small a change for whole steps to tell slots apart: those are for nodes alone. */
static struct weir_grade grade_slice(const struct weir_fgd_rules *rules,
                                     const struct weir_grade_site *site, struct books *books,
                                     double before)
{
    struct weir_grade best = { .gpu = 0 };
    double least = (double)INFINITY;

    for (uint32_t g = 0; g < books->gpu_count; g++) {
        struct weir_slice_place places[WEIR_MIG_SLOTS];
        if (!weir_gpu_usable(&books->gpus[g], site->shape))
            continue;
        const uint32_t count = weir_slice_places(&books->gpus[g], site->shape, false, places);
        for (uint32_t i = 0; i < count; i++) {
            const double after = frag_with(site, books, g, places[i]);
            if (!(after < least - 1e-6))
                continue;
            least = after;
            best.gpu = g;
            best.mig = weir_device_instance(places[i].profile, places[i].start);
        }
    }
    best.value = grade_change(rules, before, least, true);
    return best;
}

static struct weir_grade grade_whole(const struct weir_fgd_rules *rules,
                                     const struct weir_grade_site *site, struct books *books,
                                     double before)
{
    const struct weir_shape *const shape = site->shape;
    uint32_t missing = shape->gpu_count;

    for (uint32_t g = 0; g < books->gpu_count && missing > 0; g++) {
        if (!weir_gpu_usable(&books->gpus[g], shape))
            continue;
        take_gpu(books, g, shape->gpu_units);
        missing--;
    }
    return (struct weir_grade){ .value =
                                    grade_change(rules, before, frag_of(books, site->mix), true) };
}

struct weir_grade weir_fgd_grade(const void *rules_given, const struct weir_grade_site *site)
{
    const struct weir_fgd_rules *const rules = rules_given;
    struct books books = open_books(site);
    const double before = frag_of(&books, site->mix);
    struct weir_grade grade;

    take_cpus(&books, site->shape);
    if (site->shape->kind == WEIR_SHAPE_FRACTIONAL)
        grade = grade_share(rules, site, &books, before);
    else if (site->shape->kind == WEIR_SHAPE_SLICE)
        grade = grade_slice(rules, site, &books, before);
    else
        grade = grade_whole(rules, site, &books, before);
    return grade;
}

struct weir_grader weir_fgd_grader(const struct weir_fgd_rules *rules)
{
    static const uint32_t ties[WEIR_FGD_TIE_COUNT] = {
        [WEIR_FGD_MOST_FREE] = WEIR_TIE_MOST_FREE,   [WEIR_FGD_MOST_USED] = WEIR_TIE_MOST_USED,
        [WEIR_FGD_FIRST] = WEIR_TIE_FIRST,           [WEIR_FGD_RANDOM] = WEIR_TIE_RANDOM,
        [WEIR_FGD_BEST_FIT] = WEIR_TIE_BEST_FIT,     [WEIR_FGD_LEAST_GPUS] = WEIR_TIE_LEAST_GPUS,
        [WEIR_FGD_LEAST_CPUS] = WEIR_TIE_LEAST_CPUS, [WEIR_FGD_MOST_CPUS] = WEIR_TIE_MOST_CPUS,
        [WEIR_FGD_LEAST_FRAG] = WEIR_TIE_LEAST_FRAG,
    };

    return (struct weir_grader){ .grade = weir_fgd_grade,
                                 .rules = rules,
                                 .uses_mix = true,
                                 .tie = ties[rules->tie],
                                 .order_seed = rules->order_seed };
}
