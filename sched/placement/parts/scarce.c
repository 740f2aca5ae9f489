/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Learning who is hard to place, and what their room is worth; see scarce.h.
 *
 * Sums of arrivals are halved when many were seen, so what was long ago counts less. The averages
 * of a claim on types are taken over by its rooms only when they have moved by an eighth, because
 * all nodes must be counted again then.
 */
#include "sched/placement/parts/scarce_state.h"

#include "sched/internal/alloc.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum {
    SEEN_MOST = 1 << 15, /* arrivals; then all sums are halved */
    LIVES = 2,           /* of a job, for which ends are remembered */
    DEPARTURE_STEPS = 8, /* in which it is told */
    CLAIM_NUMBERS = 9,   /* saved of a claim */
    OWN_NUMBERS = 5 + WEIR_CLAIM_WORKLOADS,
    LAST_NUMBERS = 10 /* behind the claims */
};

static const double doubt = 0.2;                         /* about the demand, relative */
static const double price_least = 0.02;                  /* GPUs; cheaper is nothing */
static const double price_closed = 1.25, price_open = 1; /* GPUs: nobody could gain as much */
static const double price_elsewhere = 8;  /* GPUs: more than consolidation is worth on a node */
static const double open_crowded = 0.005; /* share lost, at which it is not asked any more */
static const struct weir_slack nobody_lost = { .told = 1 };

weir_status weir_scarce_create(const struct weir_scarce_rules *rules,
                               const struct weir_allocator *allocator, struct weir_scarce **scarce)
{
    const struct weir_allocator memory = weir_allocator_copy(allocator);
    struct weir_scarce *const made = weir_alloc(&memory, 1, sizeof *made);

    if (made == NULL)
        return WEIR_ENOMEM;
    made->allocator = memory;
    made->rules = *rules;
    made->small = made->open = nobody_lost;
    *scarce = made;
    return WEIR_OK;
}

void weir_scarce_destroy(struct weir_scarce *scarce)
{
    if (scarce == NULL)
        return;
    const struct weir_allocator memory = scarce->allocator;
    weir_scarce_forget_rooms(scarce);
    weir_free(&memory, scarce);
}

const struct weir_claim *weir_scarce_claims(const struct weir_scarce *scarce, uint32_t *count)
{
    *count = scarce->count;
    return scarce->claims;
}

/* ---- arrivals ---- */

/* The averages of all that insist on these types, as far as rooms know them: half the usual share,
 * since the smaller ones of them can use what is left of a GPU. */
static void settle_amounts(struct weir_claim *claim)
{
    const double each = fmin(claim->gpus / claim->jobs, 1);
    const int64_t cpu_units = (int64_t)(claim->cpus / claim->gpus);
    const int64_t need_units = (int64_t)(each / 2 * (double)WEIR_ONE);

    if (llabs(cpu_units - claim->cpu_units) * 8 <= claim->cpu_units &&
        llabs(need_units - claim->need_units) * 8 <= claim->need_units)
        return;
    claim->cpu_units = cpu_units;
    claim->need_units = need_units;
    claim->room = -1;
}

static struct weir_claim *claim_like(struct weir_scarce *scarce, const struct weir_claim *wanted)
{
    for (uint32_t k = 0; k < scarce->count; k++) {
        struct weir_claim *const claim = &scarce->claims[k];
        if (claim->gpu_count == wanted->gpu_count && claim->types == wanted->types &&
            (wanted->gpu_count == 0 ||
             (claim->cpu_units == wanted->cpu_units && claim->ram_bytes == wanted->ram_bytes)))
            return claim;
    }
    if (scarce->count == WEIR_CLAIMS_MOST)
        return NULL; /* the first seen are the most frequent ones */
    struct weir_claim *const added = &scarce->claims[scarce->count++];
    *added = *wanted;
    added->room = -1;
    return added;
}

static void count_job(struct weir_scarce *scarce, const struct weir_claim *wanted,
                      const struct weir_shape *shape, double weight)
{
    struct weir_claim *const claim = claim_like(scarce, wanted);
    const double gpus = weir_units_amount(shape->gpu_units) * shape->gpu_count;

    if (claim == NULL)
        return;
    claim->jobs += weight;
    claim->gpus += weight * gpus;
    claim->squares += weight * gpus * gpus;
    claim->cpus += weight * (double)shape->cpu_units;
    if (claim->gpu_count == 0)
        settle_amounts(claim);
}

static void note_arrival(struct weir_scarce *scarce, const struct weir_shape *shape, double weight)
{
    const double gpus = weir_units_amount(shape->gpu_units) * shape->gpu_count;

    scarce->seen += weight;
    scarce->gpus += weight * gpus;
    if (!(gpus > 0) || !(weight > 0) || shape->kind == WEIR_SHAPE_SLICE)
        return;
    if (shape->gpu_count > 1)
        count_job(scarce,
                  &(struct weir_claim){ .gpu_count = shape->gpu_count,
                                        .types = shape->gpu_type,
                                        .cpu_units = shape->cpu_units,
                                        .ram_bytes = shape->ram_bytes },
                  shape, weight);
    if (shape->gpu_type != 0)
        count_job(scarce, &(struct weir_claim){ .types = shape->gpu_type }, shape, weight);
}

static void age_sums(struct weir_scarce *scarce)
{
    if (scarce->seen < SEEN_MOST)
        return;
    scarce->seen /= 2;
    scarce->gpus /= 2;
    for (uint32_t k = 0; k < scarce->count; k++) {
        struct weir_claim *const claim = &scarce->claims[k];
        claim->jobs /= 2;
        claim->gpus /= 2;
        claim->squares /= 2;
        claim->cpus /= 2;
    }
}

/* A job is asked for again while it waits; jobs of a workload come in the order of their ids. */
static bool is_new(struct weir_scarce *scarce, const struct weir_owner *owner)
{
    uint64_t *const last = &scarce->last_ids[owner->index % WEIR_CLAIM_WORKLOADS];

    if (owner->kind != WEIR_OWNER_JOB)
        return true;
    if (owner->id < *last)
        return false;
    *last = owner->id + 1;
    return true;
}

static void learn(struct weir_scarce *scarce, const struct weir_place_query *query)
{
    const struct weir_mix *const mix = query->mix;

    for (uint32_t i = 0; i < mix->count && !scarce->is_primed; i++)
        note_arrival(scarce, &mix->shapes[i], mix->frequencies[i] * scarce->rules.prior);
    scarce->is_primed = true;
    scarce->is_known = !is_new(scarce, &query->owner);
    if (scarce->is_known)
        return;
    note_arrival(scarce, query->shape, query->together > 1 ? query->together : 1);
    age_sums(scarce);
}

/* ---- departures ---- */

static void follow_departures(struct weir_scarce *scarce, const struct weir_cluster *cluster)
{
    const bool is_same = scarce->is_following && cluster->begun >= scarce->begun_before &&
                         cluster->ended >= scarce->ended_before;
    const double begun = is_same ? (double)(cluster->begun - scarce->begun_before) : 0;
    const double ended = is_same ? (double)(cluster->ended - scarce->ended_before) : 0;

    scarce->is_following = true;
    scarce->begun_before = cluster->begun;
    scarce->ended_before = cluster->ended;
    if (!(begun + ended > 0))
        return;
    const double residents = fmax(cluster->worker_count, 1);
    scarce->ended = scarce->ended * exp(-begun / (LIVES * residents)) + ended;
    const double share = fmin(scarce->ended / residents, 1);
    if (fabs(share - scarce->departures) * DEPARTURE_STEPS > 0.75)
        scarce->departures = rint(share * DEPARTURE_STEPS) / DEPARTURE_STEPS;
}

double weir_scarce_departures(const struct weir_scarce *scarce)
{
    return scarce->departures;
}

/* ---- jobs of several GPUs ---- */

static void follow_large(struct weir_scarce *scarce)
{
    double gpus = 0;

    for (uint32_t k = 0; k < scarce->count; k++)
        gpus += scarce->claims[k].gpu_count > 0 ? scarce->claims[k].gpus : 0;
    const double share = scarce->gpus > 0 ? fmin(gpus / scarce->gpus, 1) : 0;
    if (fabs(share - scarce->large) * 4 > scarce->large)
        scarce->large = share;
}

double weir_scarce_large(const struct weir_scarce *scarce)
{
    return scarce->large;
}

/* ---- jobs that find no place ---- */

/* GPUs that a job asked for, and that it did not get; what of older ones still counts. */
struct answer {
    double gpus, lost, kept;
};

/* `crowded` of what is asked for is lost where there is no slack. Who asks again waited: nothing is
 * lost by that. */
static void note_slack(struct weir_slack *slack, const struct weir_scarce *scarce,
                       const struct answer *answer, double crowded)
{
    const double kept = scarce->is_known ? 1 : answer->kept;

    slack->asked = slack->asked * kept + (scarce->is_known ? 0 : answer->gpus);
    slack->lost = fmax(0, slack->lost * kept + (scarce->is_known ? -answer->gpus : answer->lost));
    const double found = slack->lost > 0 ? fmax(0, 1 - slack->lost / (crowded * slack->asked)) : 1;
    if (fabs(found - slack->told) * DEPARTURE_STEPS > 0.75)
        slack->told = rint(found * DEPARTURE_STEPS) / DEPARTURE_STEPS;
}

void weir_scarce_note_answer(struct weir_scarce *scarce, const struct weir_place_query *query,
                             bool is_placed)
{
    const struct weir_shape *const shape = query->shape;
    const double gpus = weir_units_amount(shape->gpu_units) * shape->gpu_count;
    const double residents = fmax(query->cluster->worker_count, 1);
    const struct answer answer = { .gpus = gpus,
                                   .lost = is_placed ? 0 : gpus,
                                   .kept = exp(-1 / (LIVES * residents)) };

    if (query->owner.kind != WEIR_OWNER_JOB || shape->gpu_type != 0 || !(gpus > 0))
        return;
    note_slack(&scarce->open, scarce, &answer, open_crowded);
    if (shape->gpu_count == 1)
        note_slack(&scarce->small, scarce, &answer, scarce->rules.crowded);
}

double weir_scarce_slack(const struct weir_scarce *scarce)
{
    return scarce->small.told;
}

/* ---- prices ---- */

/* Whether whoever has `claim` can go nowhere but where `other` can. */
static bool is_as_hard(const struct weir_claim *claim, const struct weir_claim *other)
{
    return (claim->gpu_count == 0) == (other->gpu_count == 0) &&
           weir_types_within(claim->types, other->types) && claim->gpu_count >= other->gpu_count &&
           (other->gpu_count == 0 ||
            (claim->cpu_units >= other->cpu_units && claim->ram_bytes >= other->ram_bytes));
}

/* Arrivals to be expected while a place stays taken. */
static double arrivals_ahead(const struct weir_scarce *scarce, const struct weir_cluster *cluster)
{
    const double free = weir_units_amount(cluster->free.gpu_units);
    const double fill = scarce->gpus > 0 ? free * scarce->seen / scarce->gpus : 0;

    return (1 - scarce->departures) * fill +
           scarce->departures * scarce->rules.horizon * cluster->worker_count;
}

static double price_of(const struct weir_scarce *scarce, const struct weir_claim *claim,
                       double arrivals)
{
    double demand = 0;
    double variance = 0;

    for (uint32_t k = 0; k < scarce->count; k++) {
        if (!is_as_hard(&scarce->claims[k], claim))
            continue;
        demand += scarce->claims[k].gpus;
        variance += scarce->claims[k].squares;
    }
    demand *= arrivals / scarce->seen;
    variance *= arrivals / scarce->seen;
    const double deviation = sqrt(variance + doubt * doubt * demand * demand);
    const double half_job = claim->gpu_count / 2.0; /* of what comes in whole jobs */
    if (!(deviation > 0))
        return 0;
    const double beyond = (demand + half_job - (double)claim->room / 1000) / deviation;
    const double missed = scarce->rules.price; /* for good */
    const double crowded = 1 + (missed - 1) * scarce->small.told;
    const double later =
        claim->gpu_count == 0 ? crowded + (price_elsewhere - crowded) * scarce->open.told : 1;
    const double each = missed + scarce->departures * (later - missed);
    const double price = each * erfc(-beyond / sqrt(2.0)) / 2;
    return price < price_least ? 0 : price;
}

static void set_prices(struct weir_scarce *scarce, const struct weir_cluster *cluster)
{
    const double arrivals = arrivals_ahead(scarce, cluster);

    scarce->is_dear = false;
    for (uint32_t k = 0; k < scarce->count; k++) {
        struct weir_claim *const claim = &scarce->claims[k];
        claim->price = claim->room > 0 ? price_of(scarce, claim, arrivals) : 0;
        claim->is_closed = claim->gpu_count == 0 && scarce->departures < 1 &&
                           claim->price >= (claim->is_closed ? price_open : price_closed);
        scarce->is_dear = scarce->is_dear || claim->price > 0;
    }
}

bool weir_scarce_is_dear(const struct weir_scarce *scarce)
{
    return scarce->is_dear;
}

void weir_scarce_reserve(const struct weir_scarce *scarce, struct weir_lookahead *ahead)
{
    uint32_t types[WEIR_CLAIMS_MOST];
    uint32_t count = 0;

    for (uint32_t k = 0; k < scarce->count; k++)
        if (scarce->claims[k].is_closed)
            types[count++] = scarce->claims[k].types;
    weir_lookahead_reserve(ahead, types, count);
}

weir_status weir_scarce_follow(struct weir_scarce *scarce, const struct weir_place_query *query)
{
    learn(scarce, query);
    follow_departures(scarce, query->cluster);
    follow_large(scarce);
    WEIR_TRY(weir_scarce_count_rooms(scarce, query->cluster));
    set_prices(scarce, query->cluster);
    return WEIR_OK;
}

/* ---- from one decision to the next ---- */

static void put_claim(const struct weir_claim *claim, double *numbers)
{
    const double all[CLAIM_NUMBERS] = { claim->gpu_count,
                                        (double)claim->types,
                                        (double)claim->cpu_units,
                                        (double)claim->ram_bytes,
                                        (double)claim->need_units,
                                        claim->jobs,
                                        claim->gpus,
                                        claim->squares,
                                        claim->cpus };
    memcpy(numbers, all, sizeof all);
}

uint32_t weir_scarce_save(const struct weir_scarce *scarce, double *numbers, uint32_t capacity)
{
    const uint32_t claims = OWN_NUMBERS + scarce->count * CLAIM_NUMBERS;
    const uint32_t count = claims + LAST_NUMBERS;
    double last[LAST_NUMBERS] = { scarce->large,
                                  scarce->small.asked,
                                  scarce->small.lost,
                                  scarce->small.told,
                                  0,
                                  scarce->open.asked,
                                  scarce->open.lost,
                                  scarce->open.told,
                                  (double)scarce->begun_before,
                                  (double)scarce->ended_before };
    const double own[5] = { scarce->seen, scarce->gpus, scarce->ended, scarce->departures,
                            scarce->is_primed + 2 * scarce->is_following };

    if (capacity < count)
        return count;
    for (uint32_t k = 0; k < scarce->count; k++)
        last[4] += scarce->claims[k].is_closed ? ldexp(1, (int)k) : 0;
    memcpy(numbers, own, sizeof own);
    for (uint32_t i = 0; i < WEIR_CLAIM_WORKLOADS; i++)
        numbers[5 + i] = (double)scarce->last_ids[i];
    for (uint32_t k = 0; k < scarce->count; k++)
        put_claim(&scarce->claims[k], numbers + OWN_NUMBERS + (size_t)k * CLAIM_NUMBERS);
    memcpy(numbers + claims, last, sizeof last);
    return count;
}

static struct weir_claim take_claim(const double *numbers)
{
    return (struct weir_claim){ .gpu_count = (uint32_t)numbers[0],
                                .types = (uint32_t)numbers[1],
                                .cpu_units = (int64_t)numbers[2],
                                .ram_bytes = (int64_t)numbers[3],
                                .need_units = (int64_t)numbers[4],
                                .jobs = numbers[5],
                                .gpus = numbers[6],
                                .squares = numbers[7],
                                .cpus = numbers[8],
                                .room = -1 };
}

static bool are_sound(const double *numbers, uint32_t count)
{
    const uint32_t claims = count - OWN_NUMBERS - LAST_NUMBERS;
    const double *const last = numbers + count - LAST_NUMBERS;

    if (count < OWN_NUMBERS + LAST_NUMBERS || claims % CLAIM_NUMBERS != 0 ||
        claims / CLAIM_NUMBERS > WEIR_CLAIMS_MOST)
        return false;
    for (uint32_t i = 0; i < count; i++)
        if (!(numbers[i] >= 0 && numbers[i] <= 0x1p62))
            return false;
    for (uint32_t i = OWN_NUMBERS; i + LAST_NUMBERS < count; i += CLAIM_NUMBERS)
        if (numbers[i] > WEIR_MAX_NODE_GPUS || numbers[i + 1] > UINT32_MAX || !(numbers[i + 5] > 0))
            return false;
    return numbers[3] <= 1 && last[3] <= 1 && last[7] <= 1;
}

weir_status weir_scarce_restore(struct weir_scarce *scarce, const double *numbers, uint32_t count,
                                struct weir_error *error)
{
    if (!are_sound(numbers, count))
        return weir_fail(error, WEIR_EFORMAT, "%u numbers are not what this policy remembers",
                         count);
    scarce->seen = numbers[0];
    scarce->gpus = numbers[1];
    scarce->ended = numbers[2];
    scarce->departures = numbers[3];
    scarce->is_primed = fmod(numbers[4], 2) > 0;
    scarce->is_following = numbers[4] >= 2;
    for (uint32_t i = 0; i < WEIR_CLAIM_WORKLOADS; i++)
        scarce->last_ids[i] = (uint64_t)numbers[5 + i];
    scarce->count = (count - OWN_NUMBERS - LAST_NUMBERS) / CLAIM_NUMBERS;
    const double *const last = numbers + count - LAST_NUMBERS;
    scarce->large = last[0];
    scarce->small = (struct weir_slack){ last[1], last[2], last[3] };
    scarce->open = (struct weir_slack){ last[5], last[6], last[7] };
    scarce->begun_before = (uint64_t)last[8];
    scarce->ended_before = (uint64_t)last[9];
    for (uint32_t k = 0; k < scarce->count; k++) {
        scarce->claims[k] = take_claim(numbers + OWN_NUMBERS + (size_t)k * CLAIM_NUMBERS);
        scarce->claims[k].is_closed = fmod(floor(ldexp(last[4], -(int)k)), 2) > 0;
    }
    return WEIR_OK;
}
