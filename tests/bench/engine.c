/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Speed of the engine: CPU time, best of several repetitions.
 *
 * M/M/1 (lambda 0.9, mu 1, FIFO) runs twice on the same random numbers: through sim_engine with
 * handles, digest and checks, and through a minimal loop (same heap shape, same sampler, a switch,
 * no handles, no digest). Both must give the same total sojourn to the nanosecond, and a mean near
 * 10, or the program exits with 1. Two events a customer: an arrival and a departure.
 *
 * The other rows are single operations: hold at 100 to 10^6 pending events, hold with tied times,
 * timeouts that are moved, or taken back and planned anew; opening a stream and drawing its first
 * number. The exponent of a row says how its cost grows with what is pending.
 *
 *     engine [--format table|json] [--quick]
 */
#include "sim/engine/engine.h"
#include "sim/engine/random.h"
#include "sim/engine/time.h"
#include "sim/engine/ziggurat.h"
#include "tests/support/clock.h"

#include <assert.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { RING = 1 << 14, ROWS_MAX = 40, DELAYS = 8192 };

/* xoshiro256** 1.0 (Blackman and Vigna), the light generator of both M/M/1 loops. */
struct xoshiro {
    uint64_t s[4];
};

static inline uint64_t rotate(uint64_t word, int by)
{
    return word << by | word >> (64 - by);
}

static uint64_t xoshiro_next(void *source)
{
    uint64_t *s = ((struct xoshiro *)source)->s;
    const uint64_t result = rotate(s[1] * 5, 7) * 9;
    const uint64_t t = s[1] << 17;
    s[2] ^= s[0];
    s[3] ^= s[1];
    s[1] ^= s[2];
    s[0] ^= s[3];
    s[2] ^= t;
    s[3] = rotate(s[3], 45);
    return result;
}

static struct xoshiro xoshiro_open(uint64_t seed)
{
    return (struct xoshiro){ { seed, 0x9E3779B97F4A7C15, 0xBF58476D1CE4E5B9, ~seed } };
}

static inline int64_t exponential_ns(struct xoshiro *source, double mean_ns)
{
    return (int64_t)(sim_ziggurat_exponential(xoshiro_next, source) * mean_ns + 0.5);
}

/* --- the queue both loops simulate -------------------------------------------------------- */

enum event_kind { ARRIVAL, DEPARTURE };

static const double ARRIVAL_MEAN_NS = 1e9 / 0.9;
static const double SERVICE_MEAN_NS = 1e9;

struct mm1 {
    struct xoshiro arrivals, services;
    uint64_t arrived, served, customers;
    int64_t sojourn_ns;
    int64_t entered_ns[RING]; /* arrival times of those inside, oldest at `served` */
};

static void mm1_open(struct mm1 *line, uint64_t customers)
{
    line->arrivals = xoshiro_open(1);
    line->services = xoshiro_open(2);
    line->arrived = line->served = 0;
    line->customers = customers;
    line->sojourn_ns = 0;
}

/* True when the customer finds the server idle. */
static inline bool mm1_enter(struct mm1 *line, int64_t now_ns)
{
    line->entered_ns[line->arrived++ % RING] = now_ns;
    return line->arrived - line->served == 1;
}

/* True when somebody waits. */
static inline bool mm1_leave(struct mm1 *line, int64_t now_ns)
{
    line->sojourn_ns += now_ns - line->entered_ns[line->served++ % RING];
    return line->arrived != line->served;
}

/* --- (a) through the engine --------------------------------------------------------------- */

struct mm1_world {
    struct sim_engine *engine;
    struct mm1 line;
};

static weir_status mm1_plan(struct mm1_world *world, enum event_kind kind, int64_t time_ns)
{
    const struct sim_event event = {
        .time_ns = time_ns,
        .kind = (uint16_t)kind,
        .phase = kind == ARRIVAL ? SIM_PHASE_ARRIVAL : SIM_PHASE_COMPLETION,
    };
    return sim_engine_schedule(world->engine, &event) ? WEIR_OK : WEIR_EINVARIANT;
}

static weir_status mm1_handle(void *context, const struct sim_event *event)
{
    struct mm1_world *world = context;
    struct mm1 *line = &world->line;
    const int64_t now_ns = event->time_ns;
    switch ((enum event_kind)event->kind) {
    case ARRIVAL:
        if (mm1_enter(line, now_ns))
            WEIR_TRY(mm1_plan(world, DEPARTURE,
                              now_ns + exponential_ns(&line->services, SERVICE_MEAN_NS)));
        if (line->arrived < line->customers)
            return mm1_plan(world, ARRIVAL,
                            now_ns + exponential_ns(&line->arrivals, ARRIVAL_MEAN_NS));
        return WEIR_OK;
    case DEPARTURE:
        if (mm1_leave(line, now_ns))
            return mm1_plan(world, DEPARTURE,
                            now_ns + exponential_ns(&line->services, SERVICE_MEAN_NS));
        return WEIR_OK;
    }
    return WEIR_EINVARIANT;
}

static double mm1_by_engine(uint64_t customers, int64_t *sojourn_ns)
{
    static struct mm1_world world;
    mm1_open(&world.line, customers);
    world.engine = sim_engine_create();
    const double start = test_cpu_ns();
    weir_status status = mm1_plan(&world, ARRIVAL, 1);
    if (status == WEIR_OK)
        status = sim_engine_run(world.engine, mm1_handle, &world, SIM_TIME_MAX);
    const double spent = test_cpu_ns() - start;
    if (status != WEIR_OK || sim_engine_stats(world.engine).fired != 2 * customers)
        exit(EXIT_FAILURE);
    sim_engine_destroy(world.engine);
    *sojourn_ns = world.line.sojourn_ns;
    return spent / (double)customers;
}

/* --- (b) the minimal loop ----------------------------------------------------------------- */

struct plain_record {
    int64_t time_ns;
    uint64_t sequence_kind;
};

struct plain_heap {
    struct plain_record *records;
    unsigned size, capacity;
    uint64_t sequence;
};

static void plain_grow(struct plain_heap *heap)
{
    heap->capacity = heap->capacity ? 2 * heap->capacity : 64;
    struct plain_record *records = realloc(heap->records, heap->capacity * sizeof *heap->records);
    if (!records)
        exit(EXIT_FAILURE);
    heap->records = records;
}

static inline bool plain_before(struct plain_record a, struct plain_record b)
{
    return a.time_ns < b.time_ns || (a.time_ns == b.time_ns && a.sequence_kind < b.sequence_kind);
}

static inline void plain_push(struct plain_heap *heap, enum event_kind kind, int64_t time_ns)
{
    const struct plain_record record = { time_ns, heap->sequence++ << 1 | (uint64_t)kind };
    if (heap->size == heap->capacity)
        plain_grow(heap);
    unsigned at = heap->size++;
    for (; at > 0 && plain_before(record, heap->records[(at - 1) / 4]); at = (at - 1) / 4)
        heap->records[at] = heap->records[(at - 1) / 4];
    heap->records[at] = record;
}

static inline struct plain_record plain_pop(struct plain_heap *heap)
{
    const struct plain_record top = heap->records[0];
    const struct plain_record last = heap->records[--heap->size];
    unsigned at = 0;
    for (;;) {
        const unsigned group = 4 * at + 1;
        if (group >= heap->size)
            break;
        const unsigned end = group + 4 < heap->size ? group + 4 : heap->size;
        unsigned best = group;
        for (unsigned child = group + 1; child < end; child++)
            best = plain_before(heap->records[child], heap->records[best]) ? child : best;
        if (!plain_before(heap->records[best], last))
            break;
        heap->records[at] = heap->records[best];
        at = best;
    }
    heap->records[at] = last;
    return top;
}

static double mm1_by_minimal_loop(uint64_t customers, int64_t *sojourn_ns)
{
    static struct mm1 line;
    mm1_open(&line, customers);
    struct plain_heap heap = { .size = 0 };
    const double start = test_cpu_ns();
    plain_push(&heap, ARRIVAL, 1);
    while (heap.size > 0) {
        const struct plain_record event = plain_pop(&heap);
        const int64_t now_ns = event.time_ns;
        switch ((enum event_kind)(event.sequence_kind & 1)) {
        case ARRIVAL:
            if (mm1_enter(&line, now_ns))
                plain_push(&heap, DEPARTURE,
                           now_ns + exponential_ns(&line.services, SERVICE_MEAN_NS));
            if (line.arrived < customers)
                plain_push(&heap, ARRIVAL,
                           now_ns + exponential_ns(&line.arrivals, ARRIVAL_MEAN_NS));
            break;
        case DEPARTURE:
            if (mm1_leave(&line, now_ns))
                plain_push(&heap, DEPARTURE,
                           now_ns + exponential_ns(&line.services, SERVICE_MEAN_NS));
            break;
        }
    }
    const double spent = test_cpu_ns() - start;
    free(heap.records);
    *sojourn_ns = line.sojourn_ns;
    return spent / (double)customers;
}

/* --- single operations -------------------------------------------------------------------- */

struct hold_world {
    struct sim_engine *engine;
    uint64_t left;
    uint64_t step;
    int64_t delays_ns[DELAYS];
    sim_handle *timeouts; /* NULL: plain hold */
    bool cancels;         /* a timeout is taken back and planned anew, not moved */
};

static sim_handle hold_plan(struct hold_world *world, uint32_t target, int64_t time_ns)
{
    return sim_engine_schedule(world->engine, &(struct sim_event){
                                                  .time_ns = time_ns,
                                                  .target = target,
                                                  .phase = SIM_PHASE_COMPLETION,
                                              });
}

/* 30 s from now on. */
static bool hold_timeout(struct hold_world *world, const struct sim_event *event)
{
    sim_handle *const timeout = &world->timeouts[event->target];
    const int64_t time_ns = event->time_ns + 30 * SIM_NS_PER_S;
    if (!world->cancels)
        return sim_engine_reschedule(world->engine, *timeout, time_ns);
    if (!sim_engine_cancel(world->engine, *timeout))
        return false;
    *timeout = hold_plan(world, event->target, time_ns);
    return *timeout != 0;
}

static weir_status hold_handle(void *context, const struct sim_event *event)
{
    struct hold_world *world = context;
    if (--world->left == 0)
        sim_engine_stop(world->engine);
    const int64_t delay_ns = world->delays_ns[world->step++ % DELAYS];
    if (world->timeouts && !hold_timeout(world, event))
        return WEIR_EINVARIANT;
    return hold_plan(world, event->target, event->time_ns + delay_ns) ? WEIR_OK : WEIR_EINVARIANT;
}

static double hold_cost(struct hold_world *world, uint32_t pending, uint64_t holds)
{
    world->engine = sim_engine_create();
    world->step = 0;
    sim_handle *timeouts = world->timeouts ? calloc(pending, sizeof *timeouts) : NULL;
    world->timeouts = timeouts;
    for (uint32_t i = 0; i < pending; i++) {
        if (timeouts)
            timeouts[i] = hold_plan(world, i, 30 * SIM_NS_PER_S);
        (void)hold_plan(world, i, 1 + world->delays_ns[world->step++ % DELAYS]);
    }
    world->left = 2 * pending; /* reach the steady state first */
    weir_status status = sim_engine_run(world->engine, hold_handle, world, SIM_TIME_MAX);
    world->left = holds;
    const double start = test_cpu_ns();
    if (status == WEIR_OK)
        status = sim_engine_run(world->engine, hold_handle, world, SIM_TIME_MAX);
    const double spent = test_cpu_ns() - start;
    if (status != WEIR_OK)
        exit(EXIT_FAILURE);
    free(timeouts);
    sim_engine_destroy(world->engine);
    return spent / (double)holds;
}

static void delays_exponential(struct hold_world *world)
{
    struct xoshiro source = xoshiro_open(3);
    for (unsigned i = 0; i < DELAYS; i++)
        world->delays_ns[i] = exponential_ns(&source, 1e9);
}

/* Half zero, three tenths exactly one second, the rest whole seconds 1 to 10. */
static void delays_tied(struct hold_world *world)
{
    struct xoshiro source = xoshiro_open(4);
    for (unsigned i = 0; i < DELAYS; i++) {
        const uint64_t percent = xoshiro_next(&source) >> 33;
        const int64_t whole = (int64_t)(1 + (xoshiro_next(&source) >> 33) % 10);
        world->delays_ns[i] = SIM_NS_PER_S * (percent % 100 < 50   ? 0
                                              : percent % 100 < 80 ? 1
                                                                   : whole);
    }
}

static double stream_cost(uint64_t draws)
{
    const struct sim_random root = { .seed = 1 };
    double sum = 0.0;
    const double start = test_cpu_ns();
    for (uint64_t item = 0; item < draws; item++) {
        struct sim_stream stream;
        sim_stream_open(&stream, &root, SIM_DRAW_SERVICE, (struct sim_stream_key){ .item = item });
        sum += sim_stream_exponential(&stream);
    }
    const double spent = test_cpu_ns() - start;
    if (fabs(sum / (double)draws - 1.0) > 0.02)
        exit(EXIT_FAILURE);
    return spent / (double)draws;
}

static double stream_draw_cost(uint64_t draws)
{
    const struct sim_random root = { .seed = 1 };
    struct sim_stream stream;
    sim_stream_open(&stream, &root, SIM_DRAW_ARRIVAL, (struct sim_stream_key){ .item = 1 });
    double sum = 0.0;
    const double start = test_cpu_ns();
    for (uint64_t i = 0; i < draws; i++)
        sum += sim_stream_exponential(&stream);
    const double spent = test_cpu_ns() - start;
    if (fabs(sum / (double)draws - 1.0) > 0.02)
        exit(EXIT_FAILURE);
    return spent / (double)draws;
}

/* --- report ------------------------------------------------------------------------------- */

struct row {
    char name[48];
    double ns;
    double million_events_per_s; /* 0: not a rate of events */
};

struct report {
    struct row rows[ROWS_MAX];
    unsigned count;
};

static void report_add(struct report *report, const char *name, double ns, double events)
{
    struct row *row = &report->rows[report->count++];
    snprintf(row->name, sizeof row->name, "%s", name);
    row->ns = ns;
    row->million_events_per_s = events > 0.0 ? events * 1e3 / ns : 0.0;
}

static double minimum(double a, double b)
{
    return a < b ? a : b;
}

/* True when both loops simulate the same, real queue. */
static bool measure_mm1(struct report *report, uint64_t customers, int repetitions)
{
    double engine_ns = HUGE_VAL;
    double minimal_ns = HUGE_VAL;
    int64_t engine_sojourn_ns = 0;
    int64_t minimal_sojourn_ns = 0;
    for (int i = 0; i < repetitions; i++) { /* interleaved, so that both see the same machine */
        engine_ns = minimum(engine_ns, mm1_by_engine(customers, &engine_sojourn_ns));
        minimal_ns = minimum(minimal_ns, mm1_by_minimal_loop(customers, &minimal_sojourn_ns));
    }
    report_add(report, "mm1 engine, per customer", engine_ns, 2.0);
    report_add(report, "mm1 minimal loop, per customer", minimal_ns, 2.0);
    const double mean_s = sim_time_s(engine_sojourn_ns) / (double)customers;
    fprintf(stderr, "mm1: mean sojourn %.3f s (theory 10), engine speed %.2f of the minimal loop\n",
            mean_s, minimal_ns / engine_ns);
    return engine_sojourn_ns == minimal_sojourn_ns && fabs(mean_s - 10.0) < 1.0;
}

/* Cost by size goes as its power `exponent`; 0 = it is the same at any size. */
static double exponent(double first, double last, double sizes)
{
    return log(last / first) / log(sizes);
}

enum { PENDING_FEWEST = 100, PENDING_MOST = 1000000 };

static void measure_holds(struct report *report, uint64_t holds, int repetitions)
{
    static struct hold_world world;
    static sim_handle marker;
    for (int kind = 0; kind < 4; kind++) {
        static const char *const names[] = { "hold exponential", "hold tied", "hold with timeout",
                                             "hold, cancel and push" };
        double first = 0;
        double best = 0;
        if (kind == 1)
            delays_tied(&world);
        else
            delays_exponential(&world);
        world.cancels = kind == 3;
        for (uint32_t pending = PENDING_FEWEST; pending <= PENDING_MOST; pending *= 10) {
            best = HUGE_VAL;
            for (int i = 0; i < repetitions; i++) {
                world.timeouts = kind >= 2 ? &marker : NULL;
                best = minimum(best, hold_cost(&world, pending, holds));
            }
            char name[48];
            snprintf(name, sizeof name, "%s, %" PRIu32, names[kind], pending);
            report_add(report, name, best, 1.0);
            first = pending == PENDING_FEWEST ? best : first;
        }
        fprintf(stderr, "%s: exponent %.2f over pending events\n", names[kind],
                exponent(first, best, (double)PENDING_MOST / PENDING_FEWEST));
    }
}

static void print_table(const struct report *report)
{
    printf("%-34s %8s %12s\n", "what", "ns", "M events/s");
    for (unsigned i = 0; i < report->count; i++) {
        const struct row *row = &report->rows[i];
        printf("%-34s %8.1f", row->name, row->ns);
        if (row->million_events_per_s > 0.0)
            printf(" %12.1f", row->million_events_per_s);
        putchar('\n');
    }
}

static void print_json(const struct report *report)
{
    printf("{\"schema\": 1, \"benchmark\": \"engine\", \"rows\": [");
    for (unsigned i = 0; i < report->count; i++)
        printf("%s\n  {\"name\": \"%s\", \"ns\": %.2f, \"million_events_per_s\": %.3f}",
               i > 0 ? "," : "", report->rows[i].name, report->rows[i].ns,
               report->rows[i].million_events_per_s);
    printf("\n]}\n");
}

int main(int count, char **arguments)
{
    bool json = false;
    bool quick = false;
    for (int i = 1; i < count; i++) {
        if (strcmp(arguments[i], "--quick") == 0) {
            quick = true;
        } else if (strcmp(arguments[i], "--format") == 0 && i + 1 < count) {
            json = strcmp(arguments[++i], "json") == 0;
        } else {
            fprintf(stderr, "usage: %s [--format table|json] [--quick]\n", arguments[0]);
            return 2;
        }
    }
    struct report report = { .count = 0 };
    const int repetitions = quick ? 2 : 5;
    const bool real = measure_mm1(&report, quick ? 500000 : 2000000, repetitions);
    measure_holds(&report, quick ? 200000 : 1000000, quick ? 1 : 3);
    const uint64_t draws = quick ? 200000 : 5000000;
    report_add(&report, "stream open + first exponential", stream_cost(draws), 0.0);
    report_add(&report, "stream exponential, next", stream_draw_cost(draws), 0.0);
    if (json)
        print_json(&report);
    else
        print_table(&report);
    if (!real)
        fprintf(stderr, "mm1: the two loops disagree or the mean is off\n");
    return real ? 0 : 1;
}
