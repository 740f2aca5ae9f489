/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Loads of a set-up; see the header. */
#include "sim/worker/load.h"

#include "sim/engine/room.h"
#include "sim/worker/hold.h"
#include "sim/worker/move.h"

#include <stdlib.h>

enum place_state { PLACE_WAITS, PLACE_READS, PLACE_HAS };

/* One place of a worker, at the present load. */
struct loading_place {
    uint32_t node;
    enum place_state state;
    struct sim_move move;
};

struct sim_loading {
    struct sim_worker *worker;
    struct sim_loading *next; /* all that load, the latest first */
    uint32_t count, at;       /* loads; the present one */
    uint32_t place_count;
    struct sim_load_spec loads[SIM_LOADS_MAX];
    struct loading_place places[];
};

/* What is there on a node, or is being read. */
struct kept {
    uint64_t key;
    bool is_there;
};
struct node_kept {
    struct kept *items;
    uint32_t count, capacity;
};

/* ---- what nodes keep ---- */

static struct kept *find_kept(const struct sim_workers *workers, uint32_t node, uint64_t key)
{
    struct node_kept *list = workers->kept == NULL ? NULL : &workers->kept[node];
    for (uint32_t i = 0; list != NULL && i < list->count; i++)
        if (list->items[i].key == key)
            return &list->items[i];
    return NULL;
}

static weir_status note_reading(struct sim_workers *workers, uint32_t node, uint64_t key)
{
    if (workers->kept == NULL)
        workers->kept = calloc((size_t)workers->node_count + 1, sizeof(*workers->kept));
    if (workers->kept == NULL)
        return WEIR_ENOMEM;
    struct node_kept *list = &workers->kept[node];
    SIM_ROOM(list->items, list->capacity, list->count + 1);
    list->items[list->count++] = (struct kept){ .key = key };
    return WEIR_OK;
}

static void forget(struct sim_workers *workers, uint32_t node, uint64_t key)
{
    struct kept *gone = find_kept(workers, node, key);
    if (gone != NULL)
        *gone = workers->kept[node].items[--workers->kept[node].count];
}

void sim_workers_forget_kept(struct sim_workers *workers, uint32_t node)
{
    if (workers->kept != NULL)
        workers->kept[node].count = 0;
}

void sim_workers_clear_loads(struct sim_workers *workers)
{
    for (uint32_t n = 0; workers->kept != NULL && n < workers->node_count; n++)
        free(workers->kept[n].items);
    free(workers->kept);
    while (workers->loading != NULL) {
        struct sim_loading *gone = workers->loading;
        workers->loading = gone->next;
        free(gone);
    }
}

/* ---- one place ---- */

/* A load has bytes and a store is a link, so it is under way then. */
static weir_status read_there(struct sim_workers *workers, struct sim_loading *loading,
                              struct loading_place *place)
{
    const struct sim_load_spec *load = &loading->loads[loading->at];
    place->state = PLACE_READS;
    place->move = (struct sim_move){ .from = WEIR_NO_INDEX,
                                     .to = place->node,
                                     .store = load->store,
                                     .traffic = load->traffic,
                                     .bytes = load->bytes,
                                     .items = 1,
                                     .owner = loading->worker->slot };
    return sim_move_begin(workers->context, &place->move);
}

static weir_status begin_place(struct sim_workers *workers, struct sim_loading *loading,
                               struct loading_place *place)
{
    const uint64_t key = loading->loads[loading->at].key;
    const struct kept *kept = key == 0 ? NULL : find_kept(workers, place->node, key);
    if (kept != NULL) {
        place->state = kept->is_there ? PLACE_HAS : PLACE_WAITS;
        return WEIR_OK;
    }
    if (key != 0)
        WEIR_TRY(note_reading(workers, place->node, key));
    return read_there(workers, loading, place);
}

static bool has_all(const struct sim_loading *loading)
{
    for (uint32_t p = 0; p < loading->place_count; p++)
        if (loading->places[p].state != PLACE_HAS)
            return false;
    return true;
}

/* Goes on with the next load as long as the present one is everywhere. */
static weir_status go_on(struct sim_workers *workers, struct sim_loading *loading)
{
    while (loading->at < loading->count && has_all(loading)) {
        loading->at++;
        for (uint32_t p = 0; loading->at < loading->count && p < loading->place_count; p++)
            WEIR_TRY(begin_place(workers, loading, &loading->places[p]));
    }
    return WEIR_OK;
}

/* ---- workers ---- */

static void take_out(struct sim_workers *workers, struct sim_loading *loading)
{
    struct sim_loading **link = &workers->loading;
    while (*link != loading)
        link = &(*link)->next;
    *link = loading->next;
}

weir_status sim_worker_load(struct sim_workers *workers, struct sim_worker *worker,
                            const struct sim_load_spec *loads, uint32_t count, bool *is_there)
{
    struct sim_loading *made = calloc(1, sizeof(*made) + worker->places * sizeof(made->places[0]));
    if (made == NULL)
        return WEIR_ENOMEM;
    made->worker = worker;
    made->count = count;
    made->next = workers->loading;
    workers->loading = made;
    for (uint32_t i = 0; i < count; i++)
        made->loads[i] = loads[i];
    for (const struct sim_hold *hold = sim_first_of(worker); hold != NULL; hold = hold->next)
        made->places[made->place_count++].node = hold->lease.node;
    for (uint32_t p = 0; p < made->place_count; p++)
        WEIR_TRY(begin_place(workers, made, &made->places[p]));
    WEIR_TRY(go_on(workers, made));
    *is_there = made->at == made->count;
    if (*is_there) {
        take_out(workers, made);
        free(made);
    }
    return WEIR_OK;
}

static struct sim_loading *loading_of(const struct sim_workers *workers, uint32_t slot)
{
    struct sim_loading *loading = workers->loading;
    while (loading != NULL && loading->worker->slot != slot)
        loading = loading->next;
    return loading;
}

/* Those that waited for it on the node have it now. */
static weir_status tell_waiting(struct sim_workers *workers, uint32_t node, uint64_t key)
{
    struct kept *kept = find_kept(workers, node, key);
    if (kept != NULL)
        kept->is_there = true;
    for (struct sim_loading *one = workers->loading; one != NULL; one = one->next) {
        if (one->at == one->count || one->loads[one->at].key != key)
            continue;
        for (uint32_t p = 0; p < one->place_count; p++)
            if (one->places[p].node == node && one->places[p].state == PLACE_WAITS)
                one->places[p].state = PLACE_HAS;
        WEIR_TRY(go_on(workers, one));
    }
    return WEIR_OK;
}

weir_status sim_workers_load_worked(struct sim_workers *workers, uint32_t slot, sim_handle work)
{
    struct sim_loading *loading = loading_of(workers, slot);
    for (uint32_t p = 0; loading != NULL && p < loading->place_count; p++) {
        struct loading_place *place = &loading->places[p];
        if (place->state != PLACE_READS || place->move.work != work)
            continue;
        WEIR_TRY(sim_move_worked(workers->context, &place->move));
        if (sim_move_is_under_way(&place->move))
            return WEIR_OK;
        const uint64_t key = loading->loads[loading->at].key;
        place->state = PLACE_HAS;
        if (key != 0)
            WEIR_TRY(tell_waiting(workers, place->node, key));
        return go_on(workers, loading);
    }
    return WEIR_OK; /* one that ended at the same instant took its worker along */
}

struct sim_worker *sim_workers_take_loaded(struct sim_workers *workers)
{
    struct sim_loading *oldest = NULL;
    for (struct sim_loading *one = workers->loading; one != NULL; one = one->next)
        if (one->at == one->count)
            oldest = one;
    if (oldest == NULL)
        return NULL;
    struct sim_worker *worker = oldest->worker;
    take_out(workers, oldest);
    free(oldest);
    return worker;
}

/* The one that has waited longest for it on the node reads it now. */
static weir_status pass_on(struct sim_workers *workers, uint32_t node, uint64_t key)
{
    struct sim_loading *heir = NULL;
    struct loading_place *place = NULL;
    for (struct sim_loading *one = workers->loading; one != NULL; one = one->next)
        for (uint32_t p = 0; one->at < one->count && p < one->place_count; p++)
            if (one->places[p].node == node && one->places[p].state == PLACE_WAITS &&
                one->loads[one->at].key == key) {
                heir = one;
                place = &one->places[p];
            }
    if (heir == NULL)
        return WEIR_OK;
    WEIR_TRY(note_reading(workers, node, key));
    return read_there(workers, heir, place);
}

weir_status sim_worker_drop_loads(struct sim_workers *workers, const struct sim_worker *worker)
{
    struct sim_loading *gone = loading_of(workers, worker->slot);
    weir_status status = WEIR_OK;
    if (gone == NULL)
        return WEIR_OK;
    take_out(workers, gone);
    for (uint32_t p = 0; gone->at < gone->count && p < gone->place_count; p++) {
        const uint64_t key = gone->loads[gone->at].key;
        struct loading_place *place = &gone->places[p];
        if (place->state != PLACE_READS)
            continue;
        if (status == WEIR_OK)
            status = sim_move_drop(workers->context, &place->move);
        if (key == 0)
            continue;
        forget(workers, place->node, key);
        if (status == WEIR_OK)
            status = pass_on(workers, place->node, key);
    }
    free(gone);
    return status;
}
