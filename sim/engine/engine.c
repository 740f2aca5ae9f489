/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The event engine: slab of events with generation handles, pending set, run loop, digest.
 *
 * A pending event lives in exactly one of two places: the heap (event_queue.h), or, when it was
 * scheduled for the present instant, the ready list of its phase. A heap event at the present
 * instant was scheduled before the clock came here and therefore precedes every ready event of its
 * phase; so the choice between heap root and ready lists needs time and phase only, and the clock
 * cannot advance while a ready list holds something.
 *
 * While a handler runs on an event that came from the heap, the root of the heap is a hole that
 * still names the slot of that event (`hole`): the first event scheduled for later takes root and
 * slot, with one sift instead of two. Until then the stale record is the least key of the heap, as
 * everything pending comes after the event being handled, so all other operations work around it.
 *
 * The event that closes an instant is a word, neither slot nor record: it is due when nothing else
 * is at this instant. Behind an event from the heap it finds the hole still open, and what it
 * schedules takes the root.
 *
 * A slot is free, pending or named by the hole. Its generation grows when its event dies, so a
 * handle given out earlier never fits again. Fresh slots are taken only when none is free: the
 * slots ever used are the peak of the pending set.
 *
 * With two events pending half of the cost of an event is how fast instructions arrive after a
 * mispredicted branch: what is rare stays out of the short paths.
 */
#include "sim/engine/engine.h"

#include "sim/engine/apart.h"
#include "sim/engine/digest.h"
#include "sim/engine/event_queue.h"
#include "sim/engine/time.h"

#include <assert.h>
#include <stdlib.h>

enum { PHASES = SIM_PHASE_SAMPLE + 1, FIRST_CAPACITY = 64, WHAT_PHASE_SHIFT = 48 };

static const uint32_t NO_SLOT = UINT32_MAX;
static const uint32_t CLOSING_SLOT = UINT32_MAX - 1; /* of no node: the event that closes */
static const uint32_t CLOSING_BIT = UINT32_C(1) << PHASES;
static const uint32_t IN_READY_LIST = UINT32_MAX; /* as a position */
static const uint32_t SLOT_LIMIT = UINT32_C(1) << EVENT_QUEUE_SLOT_BITS;
static const sim_handle GENERATION = UINT64_C(1) << 32;
static const uint64_t SEQUENCE_STEP = UINT64_C(1) << EVENT_QUEUE_SLOT_BITS;
static const unsigned PHASE_SHIFT = EVENT_QUEUE_SLOT_BITS + EVENT_QUEUE_SEQUENCE_BITS;

/* One slot. The time is in the heap record, or is now. 32 bytes: two to a cache line. The small
 * fields are one word, written and read as one: a wide load of narrow stores stalls. */
struct node {
    uint64_t argument;
    sim_handle handle; /* of the event here or, in a free slot, of the next one */
    uint64_t what;     /* phase << WHAT_PHASE_SHIFT | kind << 32 | target */
    uint32_t next;     /* in a ready list or in the free list */
    uint32_t previous; /* in a ready list */
};

static inline unsigned node_phase(const struct node *node)
{
    return (unsigned)(node->what >> WHAT_PHASE_SHIFT);
}

struct ready_list {
    uint32_t head, tail;
};

struct sim_engine {
    int64_t now_ns;
    struct event_queue queue;
    sim_foresight soon;              /* NULL = nobody looks ahead */
    uint32_t told[EVENT_QUEUE_WAYS]; /* slots of those it heard of last, by place in the heap */
    struct node *nodes;
    uint32_t node_count; /* slots ever used */
    uint32_t free_head;
    uint64_t sequence; /* of the next event, in its place of the order word */
    uint64_t digest;
    uint64_t ready_count;
    uint64_t cancelled, rescheduled, stale_handles;
    uint64_t closing;      /* what closes this instant; counts while CLOSING_BIT is set */
    uint32_t ready_phases; /* bit p: ready[p] is not empty; CLOSING_BIT */
    bool hole;             /* the heap root has been taken and not yet replaced */
    bool halted;           /* leave the run loop after this event */
    bool running;
    weir_status fault; /* sticky; ends every run */
    struct ready_list ready[PHASES];
};

/* --- slots ------------------------------------------------------------------------------- */

/* Heap, back pointers and slab grow together, so a slot always has its room in the heap. */
SIM_COLD static weir_status slots_grow(struct sim_engine *engine)
{
    if (engine->queue.capacity >= SLOT_LIMIT)
        return WEIR_EINVARIANT;
    const uint32_t capacity = engine->queue.capacity ? 2 * engine->queue.capacity : FIRST_CAPACITY;
    struct node *nodes = realloc(engine->nodes, capacity * sizeof *nodes);
    if (!nodes)
        return WEIR_ENOMEM;
    engine->nodes = nodes;
    uint32_t *position = realloc(engine->queue.position, capacity * sizeof *position);
    if (!position)
        return WEIR_ENOMEM;
    engine->queue.position = position;
    return event_queue_grow(&engine->queue, capacity) ? WEIR_OK : WEIR_ENOMEM;
}

SIM_COLD static void engine_fail(struct sim_engine *engine, weir_status fault)
{
    if (engine->fault == WEIR_OK)
        engine->fault = fault;
    engine->halted = true;
}

/* Every handle given out for the slot is dead from here on. */
static inline void slot_expire(struct sim_engine *engine, uint32_t slot)
{
    engine->nodes[slot].handle += GENERATION;
}

static inline void slot_free(struct sim_engine *engine, uint32_t slot)
{
    engine->nodes[slot].next = engine->free_head;
    engine->free_head = slot;
}

/* Gives up the heap root of the event being handled, and its slot to the caller. */
static uint32_t hole_take_slot(struct sim_engine *engine)
{
    const uint32_t slot = event_record_slot(engine->queue.records[0]);
    engine->hole = false;
    event_queue_remove(&engine->queue, 0);
    return slot;
}

static inline void hole_close(struct sim_engine *engine)
{
    if (engine->hole)
        slot_free(engine, hole_take_slot(engine));
}

/* A slot when the free list is empty: that of the event being handled, else one never used
 * before; NO_SLOT and a fault when there is none. */
SIM_COLD static uint32_t slot_fresh(struct sim_engine *engine)
{
    if (engine->hole)
        return hole_take_slot(engine);
    if (engine->node_count == engine->queue.capacity) {
        const weir_status status = slots_grow(engine);
        if (status != WEIR_OK) {
            engine_fail(engine, status);
            return NO_SLOT;
        }
    }
    engine->nodes[engine->node_count].handle = GENERATION | (engine->node_count + 1);
    return engine->node_count++;
}

static inline uint32_t slot_take(struct sim_engine *engine)
{
    const uint32_t slot = engine->free_head;
    if (slot == NO_SLOT)
        return slot_fresh(engine);
    engine->free_head = engine->nodes[slot].next;
    return slot;
}

/* The slot of a live handle, NO_SLOT for any other. */
static uint32_t slot_of_handle(const struct sim_engine *engine, sim_handle handle)
{
    const uint32_t slot = (uint32_t)handle - 1;
    if (slot >= engine->node_count || engine->nodes[slot].handle != handle)
        return NO_SLOT;
    return slot;
}

struct sim_engine *sim_engine_create(void)
{
    struct sim_engine *engine = calloc(1, sizeof *engine);
    if (!engine)
        return NULL;
    engine->free_head = NO_SLOT;
    engine->digest = SIM_DIGEST_START;
    for (unsigned phase = 0; phase < PHASES; phase++)
        engine->ready[phase] = (struct ready_list){ NO_SLOT, NO_SLOT };
    if (slots_grow(engine) != WEIR_OK) {
        sim_engine_destroy(engine);
        return NULL;
    }
    return engine;
}

void sim_engine_destroy(struct sim_engine *engine)
{
    if (!engine)
        return;
    event_queue_free(&engine->queue);
    free(engine->queue.position);
    free(engine->nodes);
    free(engine);
}

int64_t sim_engine_now(const struct sim_engine *engine)
{
    return engine->now_ns;
}

/* --- ready lists: events at the present instant ------------------------------------------- */

SIM_APART static void ready_append(struct sim_engine *engine, uint32_t slot)
{
    struct node *node = &engine->nodes[slot];
    struct ready_list *list = &engine->ready[node_phase(node)];
    node->next = NO_SLOT;
    node->previous = list->tail;
    if (list->tail == NO_SLOT)
        list->head = slot;
    else
        engine->nodes[list->tail].next = slot;
    list->tail = slot;
    engine->ready_phases |= UINT32_C(1) << node_phase(node);
    engine->queue.position[slot] = IN_READY_LIST;
    engine->ready_count++;
}

static void ready_remove(struct sim_engine *engine, uint32_t slot)
{
    const struct node *node = &engine->nodes[slot];
    struct ready_list *list = &engine->ready[node_phase(node)];
    if (node->previous == NO_SLOT)
        list->head = node->next;
    else
        engine->nodes[node->previous].next = node->next;
    if (node->next == NO_SLOT)
        list->tail = node->previous;
    else
        engine->nodes[node->next].previous = node->previous;
    engine->ready_count--;
    if (list->head == NO_SLOT)
        engine->ready_phases &= ~(UINT32_C(1) << node_phase(node));
}

/* Only when a ready list holds something. */
static inline unsigned ready_first_phase(const struct sim_engine *engine)
{
    return (unsigned)__builtin_ctz(engine->ready_phases);
}

/* --- scheduling --------------------------------------------------------------------------- */

static inline bool sequence_is_used_up(const struct sim_engine *engine)
{
    return engine->sequence >> PHASE_SHIFT != 0;
}

static inline struct event_record record_make(struct sim_engine *engine, uint32_t slot,
                                              uint64_t what, int64_t time_ns)
{
    const uint64_t order = (what >> WHAT_PHASE_SHIFT) << PHASE_SHIFT | engine->sequence | slot;
    engine->sequence += SEQUENCE_STEP;
    return (struct event_record){ (uint64_t)time_ns, order };
}

/* Field by field: merged into one wide load, it would wait for the caller's narrow stores. */
static inline uint64_t event_what(const struct sim_event *event)
{
    const volatile struct sim_event *fields = event;
    const uint64_t phase = fields->phase;
    const uint64_t kind = fields->kind;
    return phase << WHAT_PHASE_SHIFT | kind << 32 | fields->target;
}

static inline sim_handle slot_fill(struct sim_engine *engine, uint32_t slot, uint64_t what,
                                   uint64_t argument)
{
    struct node *node = &engine->nodes[slot];
    node->argument = argument;
    node->what = what;
    return node->handle;
}

/* Schedules in a slot of its own: now, or with the root of the heap in its place. */
SIM_APART static sim_handle schedule_apart(struct sim_engine *engine, uint64_t what,
                                           const struct sim_event *event)
{
    const uint32_t slot = slot_take(engine);
    if (slot == NO_SLOT)
        return SIM_NO_HANDLE;
    const sim_handle handle = slot_fill(engine, slot, what, event->argument);
    const struct event_record record = record_make(engine, slot, what, event->time_ns);
    if (event->time_ns == engine->now_ns)
        ready_append(engine, slot);
    else
        event_queue_push(&engine->queue, record);
    return handle;
}

/* Two words instead of a record, which would travel through a vector register and memory. */
SIM_APART static void heap_sink(struct sim_engine *engine, uint64_t time, uint64_t order)
{
    event_queue_sift_down(&engine->queue, 0, (struct event_record){ time, order });
}

sim_handle sim_engine_schedule(struct sim_engine *engine, const struct sim_event *event)
{
    const uint64_t what = event_what(event);
    if (event->time_ns < engine->now_ns || what >> WHAT_PHASE_SHIFT >= PHASES ||
        sequence_is_used_up(engine)) {
        engine_fail(engine, WEIR_EINVARIANT);
        return SIM_NO_HANDLE;
    }
    if (!engine->hole || event->time_ns == engine->now_ns)
        return schedule_apart(engine, what, event);
    const uint32_t slot = event_record_slot(engine->queue.records[0]);
    const sim_handle handle = slot_fill(engine, slot, what, event->argument);
    engine->hole = false;
    const struct event_record record = record_make(engine, slot, what, event->time_ns);
    if (engine->queue.size > 2)
        heap_sink(engine, record.time, record.order);
    else
        event_queue_replace_root_of_two(&engine->queue, record);
    return handle;
}

void sim_engine_close_instant(struct sim_engine *engine, uint16_t kind, uint32_t target)
{
    if ((engine->ready_phases & CLOSING_BIT) != 0)
        return;
    engine->closing =
        (uint64_t)SIM_PHASE_SAMPLE << WHAT_PHASE_SHIFT | (uint64_t)kind << 32 | target;
    engine->ready_phases |= CLOSING_BIT;
    engine->sequence += SEQUENCE_STEP;
}

static bool handle_is_dead(struct sim_engine *engine, uint32_t slot)
{
    if (slot != NO_SLOT)
        return false;
    engine->stale_handles++;
    return true;
}

static void pending_remove(struct sim_engine *engine, uint32_t slot)
{
    if (engine->queue.position[slot] == IN_READY_LIST)
        ready_remove(engine, slot);
    else
        event_queue_remove(&engine->queue, engine->queue.position[slot]);
}

bool sim_engine_reschedule(struct sim_engine *engine, sim_handle handle, int64_t time_ns)
{
    const uint32_t slot = slot_of_handle(engine, handle);
    if (handle_is_dead(engine, slot))
        return false;
    if (time_ns < engine->now_ns || sequence_is_used_up(engine)) {
        engine_fail(engine, WEIR_EINVARIANT);
        return false;
    }
    const struct event_record record = record_make(engine, slot, engine->nodes[slot].what, time_ns);
    const uint32_t position = engine->queue.position[slot];
    if (time_ns > engine->now_ns && position != IN_READY_LIST) {
        event_queue_replace(&engine->queue, position, record);
    } else {
        pending_remove(engine, slot);
        if (time_ns == engine->now_ns)
            ready_append(engine, slot);
        else
            event_queue_push(&engine->queue, record);
    }
    engine->rescheduled++;
    return true;
}

bool sim_engine_cancel(struct sim_engine *engine, sim_handle handle)
{
    if (handle == SIM_NO_HANDLE)
        return false;
    const uint32_t slot = slot_of_handle(engine, handle);
    if (handle_is_dead(engine, slot))
        return false;
    pending_remove(engine, slot);
    slot_expire(engine, slot);
    slot_free(engine, slot);
    engine->cancelled++;
    return true;
}

/* --- run loop ----------------------------------------------------------------------------- */

/* The next event in order: the heap root, unless a ready event comes first. NO_SLOT when nothing
 * is due by `until_ns`, now <= until_ns < SIM_TIME_MAX (an empty heap has a root beyond that).
 * Leaves the root open as a hole. */
static inline uint32_t slot_next(struct sim_engine *engine, int64_t until_ns)
{
    const struct event_record root = event_record_load(&engine->queue.records[0]);
    if (engine->ready_phases) {
        const unsigned phase = ready_first_phase(engine);
        if (root.time != (uint64_t)engine->now_ns || event_record_phase(root) > phase) {
            if (phase == PHASES)
                return CLOSING_SLOT;
            const uint32_t slot = engine->ready[phase].head;
            ready_remove(engine, slot);
            slot_free(engine, slot);
            return slot;
        }
    }
    if (root.time > (uint64_t)until_ns)
        return NO_SLOT;
    engine->now_ns = (int64_t)root.time;
    engine->hole = true;
    return event_record_slot(root);
}

/* Digests the event. The words are folded apart from the running digest, so that the chain from
 * event to event is one step long. */
static inline struct sim_event event_read(struct sim_engine *engine, uint64_t what,
                                          uint64_t argument)
{
    const int64_t now_ns = engine->now_ns;
    const uint64_t own = ((uint64_t)now_ns ^ argument * UINT64_C(0x94D049BB133111EB)) *
                             UINT64_C(0xBF58476D1CE4E5B9) +
                         what;
    engine->digest = sim_digest_word(engine->digest, own);
    return (struct sim_event){
        .time_ns = now_ns,
        .argument = argument,
        .target = (uint32_t)what,
        .kind = (uint16_t)(what >> 32),
        .phase = (uint16_t)(what >> WHAT_PHASE_SHIFT),
    };
}

/* Its handle dies. */
static inline struct sim_event event_take(struct sim_engine *engine, uint32_t slot)
{
    if (slot == CLOSING_SLOT) {
        engine->ready_phases &= ~CLOSING_BIT;
        return event_read(engine, engine->closing, 0);
    }
    slot_expire(engine, slot);
    return event_read(engine, engine->nodes[slot].what, engine->nodes[slot].argument);
}

/* How many of the children of the root come before this one. */
static uint32_t children_before(const struct event_queue *queue, uint32_t child)
{
    uint32_t before = 0;
    for (uint32_t i = 1; i <= EVENT_QUEUE_WAYS; i++)
        before += event_queue_second_wins(&queue->records[child], &queue->records[i]);
    return before;
}

static void tell_of(const struct sim_engine *engine, void *world, uint32_t child, uint32_t before)
{
    const struct event_record *record = &engine->queue.records[child];
    const struct node *node = &engine->nodes[event_record_slot(*record)];
    const struct sim_event event = { .time_ns = (int64_t)record->time,
                                     .argument = node->argument,
                                     .target = (uint32_t)node->what,
                                     .kind = (uint16_t)(node->what >> 32),
                                     .phase = (uint16_t)(node->what >> WHAT_PHASE_SHIFT) };
    engine->soon(world, &event, before);
}

/* Pending events. Fewer have all in the cache that they touch; of up to MANY the next one is told
 * of, whose memory is there in time; beyond that one event ahead is too late. */
enum { LOOK_AHEAD_FROM = 1 << 9, LOOK_AHEAD_MANY = 1 << 12 };

/* The root is out. One of its children comes next, and the least child of that one takes its place
 * among them: what is far from the root is fetched step by step, each of them an event ahead. */
static void look_ahead(struct sim_engine *engine, void *world)
{
    const struct event_queue *queue = &engine->queue;
    const uint32_t next = event_queue_first_child(queue, 1);
    if (queue->size <= LOOK_AHEAD_MANY) {
        tell_of(engine, world, next, 0);
        return;
    }
    const uint32_t after = event_queue_first_child(queue, EVENT_QUEUE_WAYS * next + 1);
    __builtin_prefetch(&engine->nodes[event_record_slot(queue->records[after])]);
    for (uint32_t i = 1; i <= EVENT_QUEUE_WAYS; i++) {
        const uint32_t slot = event_record_slot(queue->records[i]);
        const uint32_t before = children_before(queue, i);
        if (before < 2 || engine->told[i - 1] != slot) /* near, or not told of yet */
            tell_of(engine, world, i, before);
        engine->told[i - 1] = slot;
    }
}

/* Whether the event that closes the instant comes next and finds the root of the heap open. */
static inline bool closes_at_hole(const struct sim_engine *engine)
{
    if (engine->ready_phases != CLOSING_BIT || !engine->hole || engine->halted)
        return false;
    const uint32_t next = event_queue_first_child(&engine->queue, 1);
    return engine->queue.records[next].time != (uint64_t)engine->now_ns;
}

/* Fires what is due by `until_ns`, which slot_next limits. */
static weir_status run_until(struct sim_engine *engine, sim_handler handler, void *world,
                             int64_t until_ns)
{
    while (!engine->halted) {
        const uint32_t slot = slot_next(engine, until_ns);
        if (slot == NO_SLOT)
            break;
        struct sim_event event = event_take(engine, slot);
        if (engine->hole && engine->queue.size > LOOK_AHEAD_FROM && engine->soon != NULL)
            look_ahead(engine, world);
        weir_status status = handler(world, &event);
        if (status == WEIR_OK && closes_at_hole(engine)) {
            event = event_take(engine, CLOSING_SLOT);
            status = handler(world, &event);
        }
        hole_close(engine);
        if (status != WEIR_OK)
            return status;
    }
    return WEIR_OK;
}

weir_status sim_engine_run(struct sim_engine *engine, sim_handler handler, void *world,
                           int64_t until_ns)
{
    assert(!engine->running);
    if (engine->fault != WEIR_OK || until_ns < engine->now_ns)
        return engine->fault;
    engine->running = true;
    engine->halted = false;
    const int64_t last_ns = until_ns < SIM_TIME_MAX ? until_ns : SIM_TIME_MAX - 1;
    const weir_status status = run_until(engine, handler, world, last_ns);
    engine->running = false;
    if (status != WEIR_OK)
        return status;
    if (!engine->halted && engine->queue.size > 0) {
        engine->now_ns = last_ns;
        if (until_ns == SIM_TIME_MAX) /* only events at "never" are left */
            engine_fail(engine, WEIR_EINVARIANT);
    }
    return engine->fault;
}

void sim_engine_foresee(struct sim_engine *engine, sim_foresight soon)
{
    engine->soon = soon;
}

void sim_engine_stop(struct sim_engine *engine)
{
    engine->halted = true;
}

uint64_t sim_engine_digest(const struct sim_engine *engine)
{
    return engine->digest;
}

struct sim_engine_stats sim_engine_stats(const struct sim_engine *engine)
{
    const uint64_t scheduled = engine->sequence / SEQUENCE_STEP - engine->rescheduled;
    const uint64_t pending = engine->queue.size - (engine->hole ? 1U : 0U) + engine->ready_count +
                             ((engine->ready_phases & CLOSING_BIT) != 0 ? 1U : 0U);
    return (struct sim_engine_stats){
        .scheduled = scheduled,
        .fired = scheduled - engine->cancelled - pending,
        .cancelled = engine->cancelled,
        .rescheduled = engine->rescheduled,
        .stale_handles = engine->stale_handles,
        .pending = pending,
        .pending_peak = engine->node_count,
    };
}

/* --- self-check --------------------------------------------------------------------------- */

static weir_status check_heap(const struct sim_engine *engine, struct weir_error *error)
{
    const struct event_queue *queue = &engine->queue;
    for (uint32_t i = engine->hole ? 1 : 0; i < queue->size; i++) {
        const uint32_t slot = event_record_slot(queue->records[i]);
        if (slot >= engine->node_count || queue->position[slot] != i)
            return weir_fail(error, WEIR_EINVARIANT, "heap record %u: slot %u points elsewhere", i,
                             slot);
        if ((int64_t)queue->records[i].time < engine->now_ns)
            return weir_fail(error, WEIR_EINVARIANT, "heap record %u lies in the past", i);
        const uint32_t parent = i > 0 ? (i - 1) / EVENT_QUEUE_WAYS : 0;
        if (i > 0 && !(parent == 0 && engine->hole) &&
            !event_record_before(queue->records[parent], queue->records[i]))
            return weir_fail(error, WEIR_EINVARIANT, "heap record %u comes before its parent", i);
    }
    for (uint32_t i = 0; i < EVENT_QUEUE_WAYS; i++) {
        if (queue->records[queue->size + i].time != UINT64_MAX)
            return weir_fail(error, WEIR_EINVARIANT, "heap record %u beyond the end is not empty",
                             queue->size + i);
    }
    return WEIR_OK;
}

static weir_status check_ready(const struct sim_engine *engine, uint64_t *count,
                               struct weir_error *error)
{
    for (unsigned phase = 0; phase < PHASES; phase++) {
        uint32_t previous = NO_SLOT;
        uint32_t slot = engine->ready[phase].head;
        for (; slot != NO_SLOT && *count <= engine->node_count; slot = engine->nodes[slot].next) {
            const struct node *node = &engine->nodes[slot];
            if (node_phase(node) != phase || node->previous != previous ||
                engine->queue.position[slot] != IN_READY_LIST)
                return weir_fail(error, WEIR_EINVARIANT, "ready slot %u is linked wrongly", slot);
            previous = slot;
            ++*count;
        }
        const bool marked = engine->ready_phases >> phase & 1;
        if (engine->ready[phase].tail != previous || marked != (previous != NO_SLOT))
            return weir_fail(error, WEIR_EINVARIANT, "ready list %u has a wrong end", phase);
    }
    return WEIR_OK;
}

weir_status sim_engine_check(const struct sim_engine *engine, struct weir_error *error)
{
    WEIR_TRY(check_heap(engine, error));
    uint64_t pending = engine->queue.size - (engine->hole ? 1U : 0U) +
                       ((engine->ready_phases & CLOSING_BIT) != 0 ? 1U : 0U);
    WEIR_TRY(check_ready(engine, &pending, error));
    if (pending != sim_engine_stats(engine).pending)
        return weir_fail(error, WEIR_EINVARIANT, "%llu events are stored, %llu are counted",
                         (unsigned long long)pending,
                         (unsigned long long)sim_engine_stats(engine).pending);
    uint64_t slots = engine->queue.size + engine->ready_count;
    for (uint32_t slot = engine->free_head; slot != NO_SLOT; slot = engine->nodes[slot].next) {
        if (slot >= engine->node_count || ++slots > engine->node_count)
            return weir_fail(error, WEIR_EINVARIANT, "the free list is broken at slot %u", slot);
    }
    if (slots != engine->node_count)
        return weir_fail(error, WEIR_EINVARIANT, "%u slots are used, %llu are accounted for",
                         engine->node_count, (unsigned long long)slots);
    return WEIR_OK;
}
