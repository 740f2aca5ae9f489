/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Prepare and commit, worked out by hand: two gangs and three nodes of one slot, messages that take
 * 10 each way. Late and lost messages, nodes and gangs that die.
 */
#include "weir/commit.h"

#include "tests/support/check.h"

#include <stdio.h>
#include <string.h>

enum { GANGS = 2, NODES = 4, EVENTS = 128, DELAY = 10, NEVER = 1 << 20, NONE = -1 };

static const struct weir_commit_config times = { sizeof times, 0, 100, 150, 50, DELAY };

/* This message of this gang to or from this node takes so much longer, once. */
struct late {
    uint32_t gang, node, verb;
    int64_t by;
};

struct plan {
    int64_t begins[GANGS]; /* NONE = this gang does not try */
    uint32_t nodes[GANGS][2];
    int64_t dies[NODES]; /* a node; 0 = never */
    int64_t notice;      /* after its death; 0 = nobody says */
    int64_t gang_dies;   /* the first gang; 0 = never */
    bool gives_up;       /* the first gang, after one attempt */
    struct late late[2];
};

struct event {
    int64_t at;
    bool is_to_gang;
    struct weir_commit_message message;
};

struct seen {
    int64_t runs[GANGS], aborts[GANGS],
        freed[NODES]; /* the first run and abort, the last freeing */
};

struct world {
    struct plan plan;
    struct weir_commit_gang *gangs[GANGS];
    struct weir_commit_node *nodes[NODES];
    int64_t retry[GANGS];
    uint32_t done[GANGS];
    struct event events[EVENTS];
    uint32_t count;
    struct seen seen;
};

static bool is_dead(const struct world *world, uint32_t node, int64_t now)
{
    return world->plan.dies[node] > 0 && now >= world->plan.dies[node];
}

static void post(struct world *world, int64_t now, bool is_to_gang,
                 const struct weir_commit_message *message)
{
    int64_t at = now + DELAY;
    for (size_t i = 0; i < 2; i++) {
        struct late *late = &world->plan.late[i];
        if (late->by == 0 || late->gang != message->gang || late->node != message->node ||
            late->verb != message->verb)
            continue;
        at += late->by;
        late->by = 0;
    }
    if (CHECK(world->count < EVENTS))
        world->events[world->count++] = (struct event){ at, is_to_gang, *message };
}

static void send_all(struct world *world, uint32_t gang, int64_t now)
{
    struct weir_commit_message message;
    const bool is_dead_gang =
        gang == 0 && world->plan.gang_dies > 0 && now >= world->plan.gang_dies;
    while (!is_dead_gang && weir_commit_gang_send(world->gangs[gang], &message))
        post(world, now, false, &message);
    if (weir_commit_gang_state(world->gangs[gang]) != WEIR_COMMIT_ABORTED ||
        world->retry[gang] > now)
        return;
    if (world->seen.aborts[gang] == NONE)
        world->seen.aborts[gang] = now;
    world->done[gang] = 0;
    world->retry[gang] = weir_commit_gang_retry_ns(world->gangs[gang], gang);
}

static void tell_node(struct world *world, const struct weir_commit_message *message, int64_t now)
{
    struct weir_commit_message answer;
    const uint32_t node = message->node;
    const uint32_t before = weir_commit_node_free(world->nodes[node]);
    if (is_dead(world, node, now))
        return;
    if (weir_commit_node_hear(world->nodes[node], message, now, &answer))
        post(world, now, true, &answer);
    if (weir_commit_node_free(world->nodes[node]) > before)
        world->seen.freed[node] = now;
    if (message->verb == WEIR_COMMIT_COMMIT && answer.verb == WEIR_COMMIT_DONE &&
        ++world->done[message->gang] == 2)
        world->seen.runs[message->gang] = now;
}

static void tell_gang(struct world *world, const struct weir_commit_message *message, int64_t now)
{
    const uint32_t gang = (uint32_t)message->gang;
    if (gang == 0 && world->plan.gang_dies > 0 && now >= world->plan.gang_dies)
        return;
    weir_commit_gang_hear(world->gangs[gang], message, now);
    send_all(world, gang, now);
}

/* All messages of this instant: to nodes by their verbs, then to gangs. */
static void deliver(struct world *world, int64_t now)
{
    for (uint32_t verb = 0; verb <= WEIR_COMMIT_PREPARE; verb++)
        for (uint32_t i = 0; i < world->count; i++)
            if (world->events[i].at == now && !world->events[i].is_to_gang &&
                world->events[i].message.verb == verb)
                tell_node(world, &world->events[i].message, now);
    for (uint32_t i = 0; i < world->count; i++)
        if (world->events[i].at == now && world->events[i].is_to_gang)
            tell_gang(world, &world->events[i].message, now);
}

static void begin(struct world *world, uint32_t gang, int64_t now)
{
    CHECK_I64(weir_commit_gang_begin(world->gangs[gang], world->plan.nodes[gang], 2, 1, now),
              WEIR_OK);
    send_all(world, gang, now);
}

static void step(struct world *world, int64_t now)
{
    for (uint32_t n = 1; n < NODES; n++) {
        const uint32_t before = weir_commit_node_free(world->nodes[n]);
        weir_commit_node_time(world->nodes[n], now);
        if (weir_commit_node_free(world->nodes[n]) > before)
            world->seen.freed[n] = now;
        if (world->plan.notice > 0 && world->plan.dies[n] > 0 &&
            world->plan.dies[n] + world->plan.notice == now)
            for (uint32_t g = 0; g < GANGS; g++) {
                weir_commit_gang_lost(world->gangs[g], n, now);
                send_all(world, g, now);
            }
    }
    deliver(world, now);
    for (uint32_t g = 0; g < GANGS; g++) {
        const bool tries_again = weir_commit_gang_state(world->gangs[g]) == WEIR_COMMIT_ABORTED &&
                                 world->retry[g] == now && !(g == 0 && world->plan.gives_up);
        if (g == 0 && world->plan.gang_dies > 0 && now >= world->plan.gang_dies)
            continue;
        weir_commit_gang_time(world->gangs[g], now);
        send_all(world, g, now);
        if (world->plan.begins[g] == now || tries_again)
            begin(world, g, now);
    }
}

/* Gang 0 is before gang 1 and backs off less. */
static struct seen run(const struct plan *plan)
{
    struct world world = { .plan = *plan };
    memset(&world.seen, 0xff, sizeof world.seen); /* NONE */
    for (uint32_t g = 0; g < GANGS; g++)
        CHECK_I64(weir_commit_gang_create(&times, g, NULL, &world.gangs[g], NULL), WEIR_OK);
    for (uint32_t n = 0; n < NODES; n++)
        CHECK_I64(weir_commit_node_create(&times, 1, NULL, &world.nodes[n], NULL), WEIR_OK);
    for (int64_t now = 0; now <= 200; now++)
        step(&world, now);
    for (uint32_t g = 0; g < GANGS; g++)
        weir_commit_gang_destroy(world.gangs[g]);
    for (uint32_t n = 0; n < NODES; n++)
        weir_commit_node_destroy(world.nodes[n]);
    return world.seen;
}

#define PREPARE WEIR_COMMIT_PREPARE
#define BOTH                                                                                       \
    {                                                                                              \
        { 1, 2 },                                                                                  \
        {                                                                                          \
            1, 2                                                                                   \
        }                                                                                          \
    }

/* Runs and first aborts of both gangs, the last time at which nodes 1 and 2 were freed. */
static const struct {
    const char *what;
    struct plan plan;
    int64_t runs[GANGS], aborts[GANGS], freed[2];
} cases[] = {
    { "alone",
      { { 0, NONE }, BOTH, { 0 }, 0, 0, false, { { 0 } } },
      { 30, NONE },
      { NONE, NONE },
      { NONE, NONE } },
    { "a tick later",
      { { 0, 1 }, BOTH, { 0 }, 0, 0, false, { { 0 } } },
      { 30, NONE },
      { NONE, 21 },
      { NONE, NONE } },
    { "crossed",
      { { 0, 0 }, BOTH, { 0 }, 0, 0, false, { { 0, 2, PREPARE, 5 }, { 1, 1, PREPARE, 5 } } },
      { 105, NONE },
      { 25, 25 },
      { 35, 35 } },
    { "a dead node",
      { { 0, NONE }, BOTH, { 0, 0, 1 }, 0, 0, false, { { 0 } } },
      { NONE, NONE },
      { 100, NONE },
      { 110, NONE } },
    { "it dies",
      { { 0, NONE }, BOTH, { 0, 0, 25 }, 30, 0, false, { { 0 } } },
      { NONE, NONE },
      { 55, NONE },
      { 65, 160 } },
    { "a late YES",
      { { 0, NONE }, BOTH, { 0 }, 0, 0, false, { { 0, 2, WEIR_COMMIT_YES, 95 } } },
      { 180, NONE },
      { 100, NONE },
      { 110, 110 } },
    { "a late COMMIT",
      { { 0, NONE }, BOTH, { 0 }, 0, 0, false, { { 0, 2, WEIR_COMMIT_COMMIT, 140 } } },
      { NONE, NONE },
      { 180, NONE },
      { 190, 160 } },
    { "the gang dies",
      { { 0, NONE }, BOTH, { 0 }, 0, 15, false, { { 0 } } },
      { NONE, NONE },
      { NONE, NONE },
      { 160, 160 } },
    { "one waits for a dead node",
      { { 0, 30 }, { { 1, 3 }, { 1, 2 } }, { 0, 0, 0, 1 }, 0, 0, true, { { 0 } } },
      { NONE, 180 },
      { 100, 50 },
      { 110, 60 } },
    { "PREPARE after ABORT",
      { { 0, NONE }, BOTH, { 0 }, 0, 0, false, { { 0, 2, PREPARE, 105 } } },
      { 180, NONE },
      { 100, NONE },
      { 110, NONE } },
};

/* covers: S1.20 */
static void ten_cases_end_as_they_should(void)
{
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        const struct seen seen = run(&cases[i].plan);
        bool is_right = true;
        for (size_t g = 0; g < GANGS; g++) {
            is_right &= CHECK_I64(seen.runs[g], cases[i].runs[g]);
            is_right &= CHECK_I64(seen.aborts[g], cases[i].aborts[g]);
            is_right &= CHECK_I64(seen.freed[g + 1], cases[i].freed[g]);
        }
        if (!is_right)
            printf("%s\n", cases[i].what);
    }
}

/* Volcano's 100 pods: of two gangs that ask for every node at once exactly one runs. */
static void of_two_gangs_on_all_nodes_one_runs(void)
{
    enum { MANY = 100 };
    struct weir_commit_node *nodes[MANY];
    struct weir_commit_gang *gangs[2];
    uint32_t all[2][MANY];
    uint32_t running = 0;
    for (uint32_t n = 0; n < MANY; n++) {
        all[0][n] = n;
        all[1][n] = MANY - 1 - n;
        CHECK_I64(weir_commit_node_create(&times, 1, NULL, &nodes[n], NULL), WEIR_OK);
    }
    for (uint32_t g = 0; g < 2; g++) {
        CHECK_I64(weir_commit_gang_create(&times, g, NULL, &gangs[g], NULL), WEIR_OK);
        CHECK_I64(weir_commit_gang_begin(gangs[g], all[g], MANY, 1, 0), WEIR_OK);
    }
    for (int64_t now = 1; now < 2000; now++) {
        for (uint32_t g = 0; g < 2; g++) {
            struct weir_commit_message message;
            struct weir_commit_message answer;
            weir_commit_gang_time(gangs[g], now);
            if (weir_commit_gang_state(gangs[g]) == WEIR_COMMIT_ABORTED &&
                weir_commit_gang_retry_ns(gangs[g], g) <= now)
                CHECK_I64(weir_commit_gang_begin(gangs[g], all[g], MANY, 1, now), WEIR_OK);
            /* eight messages each in turn, in opposite directions: both get about a half */
            for (int sent = 0; sent < 8 && weir_commit_gang_send(gangs[g], &message); sent++) {
                if (weir_commit_node_hear(nodes[message.node], &message, now, &answer))
                    weir_commit_gang_hear(gangs[g], &answer, now);
            }
        }
    }
    for (uint32_t g = 0; g < 2; g++) {
        running += weir_commit_gang_state(gangs[g]) == WEIR_COMMIT_RUNNING;
        weir_commit_gang_destroy(gangs[g]);
    }
    CHECK_I64(running, 1);
    for (uint32_t n = 0; n < MANY; n++)
        weir_commit_node_destroy(nodes[n]);
}

static void times_that_contradict_each_other_are_refused(void)
{
    struct weir_commit_config config = times;
    struct weir_error error = { .phase = -1 };
    struct weir_commit_node *node = NULL;

    config.lease_ns = config.prepare_ns + 2 * config.max_delay_ns;
    CHECK_I64(weir_commit_check(&config, &error), WEIR_OK);
    config.lease_ns--;
    CHECK_I64(weir_commit_node_create(&config, 1, NULL, &node, &error), WEIR_EINVAL);
    CHECK(strstr(error.text, "at least 120 ns, got 119") != NULL);
}

/* What a node keeps of a gang, said plainly. */
struct plain {
    uint32_t attempt, aborted, slots;
    int64_t until;
};

static uint32_t plain_free(const struct plain plain[GANGS])
{
    return 3 - plain[0].slots - plain[1].slots;
}

/* Nothing of an attempt that is over; what is asked again is as before; a later attempt takes the
 * place of one before, but for one that is committed. */
static uint32_t plain_prepare(struct plain plain[GANGS], const struct weir_commit_message *asked,
                              int64_t now)
{
    struct plain *own = &plain[asked->gang];
    if (asked->attempt <= own->aborted)
        return WEIR_COMMIT_NO;
    if (own->slots > 0 && own->attempt == asked->attempt)
        return WEIR_COMMIT_YES;
    if (own->slots > 0 && (own->attempt > asked->attempt || own->until == INT64_MAX))
        return WEIR_COMMIT_NO;
    own->slots = 0;
    if (asked->slots > plain_free(plain))
        return WEIR_COMMIT_NO;
    *own = (struct plain){ asked->attempt, own->aborted, asked->slots, now + times.lease_ns };
    return WEIR_COMMIT_YES;
}

static uint32_t plain_answer(struct plain plain[GANGS], const struct weir_commit_message *asked,
                             int64_t now)
{
    struct plain *own = &plain[asked->gang];
    for (int g = 0; g < GANGS; g++)
        plain[g].slots = plain[g].until <= now ? 0 : plain[g].slots;
    if (asked->verb == WEIR_COMMIT_PREPARE)
        return plain_prepare(plain, asked, now);
    if (asked->verb == WEIR_COMMIT_COMMIT) {
        if (own->slots == 0 || own->attempt != asked->attempt)
            return WEIR_COMMIT_EXPIRED;
        own->until = INT64_MAX;
        return WEIR_COMMIT_DONE;
    }
    own->slots = own->attempt <= asked->attempt ? 0 : own->slots;
    own->aborted = asked->attempt > own->aborted ? asked->attempt : own->aborted;
    return WEIR_COMMIT_ABORT;
}

/* Whatever comes, in whatever order: messages may be late, there twice, or never come. */
static void a_node_answers_as_the_plain_one_does(void)
{
    static const uint32_t verbs[] = { WEIR_COMMIT_PREPARE, WEIR_COMMIT_PREPARE, WEIR_COMMIT_COMMIT,
                                      WEIR_COMMIT_ABORT };
    uint64_t state = 7;
    uint32_t counts[WEIR_COMMIT_EXPIRED + 8] = { 0 };
    for (int round = 0; round < 200; round++) {
        struct plain plain[GANGS] = { 0 };
        struct weir_commit_node *node = NULL;
        CHECK_I64(weir_commit_node_create(&times, 3, NULL, &node, NULL), WEIR_OK);
        for (int64_t now = 0, i = 0; i < 60; i++) {
            state = state * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
            const uint32_t draw = (uint32_t)(state >> 33);
            now += draw % 40;
            const struct weir_commit_message asked = { .verb = verbs[draw / 40 % 4],
                                                       .gang = draw / 160 % GANGS,
                                                       .attempt =
                                                           1 + (uint32_t)i / 12 + draw / 320 % 3,
                                                       .slots = 1 + draw / 960 % 3 };
            struct weir_commit_message answer = { .verb = 0 };
            const bool is_answered = weir_commit_node_hear(node, &asked, now, &answer);
            const uint32_t wanted = plain_answer(plain, &asked, now);
            CHECK_I64(is_answered, asked.verb != WEIR_COMMIT_ABORT);
            if (is_answered)
                CHECK_I64(answer.verb, wanted);
            counts[wanted]++;
            CHECK_I64(weir_commit_node_free(node), plain_free(plain));
            int64_t next = INT64_MAX;
            for (int g = 0; g < GANGS; g++)
                next = plain[g].slots > 0 && plain[g].until < next ? plain[g].until : next;
            CHECK_I64(weir_commit_node_next_ns(node), next);
        }
        weir_commit_node_destroy(node);
    }
    CHECK(counts[WEIR_COMMIT_YES] > 500 && counts[WEIR_COMMIT_NO] > 500 &&
          counts[WEIR_COMMIT_DONE] > 100 && counts[WEIR_COMMIT_EXPIRED] > 500);
}

static const struct test tests[] = {
    { "a node answers as the plain one does", a_node_answers_as_the_plain_one_does },
    { "ten cases end as they should", ten_cases_end_as_they_should },
    { "of two gangs on all nodes one runs", of_two_gangs_on_all_nodes_one_runs },
    { "times that contradict each other are refused",
      times_that_contradict_each_other_are_refused },
};
TEST_MAIN(tests)
