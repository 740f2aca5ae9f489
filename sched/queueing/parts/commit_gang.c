/* SPDX-License-Identifier: Apache-2.0 */
/* Prepare and commit on the side of the gang (see weir/commit.h). */
#include "weir/commit.h"

#include "sched/internal/alloc.h"
#include "sched/internal/made.h"

#include <stddef.h>

struct member {
    uint32_t node;
    uint32_t answer; /* enum weir_commit_verb; PREPARE = none yet, COMMIT = not done yet */
    uint32_t verb;   /* to be sent, NOTHING = no message */
};

static const uint32_t NOTHING = UINT32_MAX;

struct weir_commit_gang {
    struct weir_allocator allocator;
    struct weir_commit_config config;
    uint64_t id;
    uint32_t attempt, state, slots;
    int64_t until_ns;   /* PREPARING: the time for answers is over */
    int64_t aborted_ns; /* the latest attempt */
    struct member *members;
    uint32_t count, capacity;
};

weir_status weir_commit_check(const struct weir_commit_config *config, struct weir_error *error)
{
    if (config == NULL || config->size < sizeof *config)
        return weir_fail(error, WEIR_EINVAL, "no times, or of another version");
    if (config->prepare_ns <= 0 || config->backoff_ns < 0 || config->max_delay_ns < 0)
        return weir_fail(error, WEIR_EINVAL, "times must not be negative, that to prepare be > 0");
    if (config->lease_ns - config->prepare_ns < 2 * config->max_delay_ns)
        return weir_fail(error, WEIR_EINVAL,
                         "a lease must last the time to prepare and two delays: at least %lld ns, "
                         "got %lld",
                         (long long)config->prepare_ns + 2 * (long long)config->max_delay_ns,
                         (long long)config->lease_ns);
    return WEIR_OK;
}

weir_status weir_commit_gang_create(const struct weir_commit_config *config, uint64_t id,
                                    const struct weir_allocator *allocator,
                                    struct weir_commit_gang **gang, struct weir_error *error)
{
    static const struct weir_made bare = WEIR_MADE_BARE(struct weir_commit_gang);
    void *block = NULL;

    WEIR_TRY(weir_commit_check(config, error));
    WEIR_TRY(weir_made_create(&bare, NULL, allocator, &block, error));
    struct weir_commit_gang *const made = block;
    made->config = *config;
    made->id = id;
    *gang = made;
    return WEIR_OK;
}

void weir_commit_gang_destroy(struct weir_commit_gang *gang)
{
    if (gang == NULL)
        return;
    weir_free(&gang->allocator, gang->members);
    weir_made_destroy(gang);
}

weir_status weir_commit_gang_begin(struct weir_commit_gang *gang, const uint32_t *nodes,
                                   uint32_t count, uint32_t slots, int64_t now_ns)
{
    if (count == 0 || (gang->state != WEIR_COMMIT_IDLE && gang->state != WEIR_COMMIT_ABORTED))
        return WEIR_EINVAL;
    WEIR_ROOM(&gang->allocator, gang->members, gang->capacity, count);
    for (uint32_t i = 0; i < count; i++)
        gang->members[i] = (struct member){ nodes[i], WEIR_COMMIT_PREPARE, WEIR_COMMIT_PREPARE };
    gang->count = count;
    gang->slots = slots;
    gang->attempt++;
    gang->state = WEIR_COMMIT_PREPARING;
    gang->until_ns = now_ns + gang->config.prepare_ns;
    return WEIR_OK;
}

/* The same message to all; what was not sent yet need not be. */
static void tell_all(struct weir_commit_gang *gang, uint32_t verb, uint32_t answer)
{
    for (uint32_t i = 0; i < gang->count; i++) {
        gang->members[i].verb = verb;
        gang->members[i].answer = answer;
    }
}

static void abort_all(struct weir_commit_gang *gang, int64_t now_ns)
{
    tell_all(gang, WEIR_COMMIT_ABORT, WEIR_COMMIT_ABORT);
    gang->state = WEIR_COMMIT_ABORTED;
    gang->aborted_ns = now_ns;
}

static bool have_all_said(const struct weir_commit_gang *gang, uint32_t verb)
{
    for (uint32_t i = 0; i < gang->count; i++)
        if (gang->members[i].answer != verb)
            return false;
    return true;
}

static void note(struct weir_commit_gang *gang, uint32_t node, uint32_t verb)
{
    for (uint32_t i = 0; i < gang->count; i++)
        if (gang->members[i].node == node)
            gang->members[i].answer = verb;
}

void weir_commit_gang_hear(struct weir_commit_gang *gang, const struct weir_commit_message *message,
                           int64_t now_ns)
{
    const bool is_open =
        gang->state == WEIR_COMMIT_PREPARING || gang->state == WEIR_COMMIT_COMMITTING;

    if (!is_open || message->gang != gang->id || message->attempt != gang->attempt)
        return;
    if (message->verb == WEIR_COMMIT_NO || message->verb == WEIR_COMMIT_EXPIRED) {
        abort_all(gang, now_ns);
        return;
    }
    note(gang, message->node, message->verb);
    if (gang->state == WEIR_COMMIT_PREPARING && have_all_said(gang, WEIR_COMMIT_YES)) {
        tell_all(gang, WEIR_COMMIT_COMMIT, WEIR_COMMIT_COMMIT);
        gang->state = WEIR_COMMIT_COMMITTING;
    } else if (gang->state == WEIR_COMMIT_COMMITTING && have_all_said(gang, WEIR_COMMIT_DONE)) {
        gang->state = WEIR_COMMIT_RUNNING;
    }
}

void weir_commit_gang_lost(struct weir_commit_gang *gang, uint32_t node, int64_t now_ns)
{
    bool is_member = false;

    for (uint32_t i = 0; i < gang->count; i++)
        is_member = is_member || gang->members[i].node == node;
    if (is_member &&
        (gang->state == WEIR_COMMIT_PREPARING || gang->state == WEIR_COMMIT_COMMITTING))
        abort_all(gang, now_ns);
}

void weir_commit_gang_time(struct weir_commit_gang *gang, int64_t now_ns)
{
    if (gang->state == WEIR_COMMIT_PREPARING && now_ns >= gang->until_ns)
        abort_all(gang, now_ns);
}

int64_t weir_commit_gang_next_ns(const struct weir_commit_gang *gang)
{
    return gang->state == WEIR_COMMIT_PREPARING ? gang->until_ns : INT64_MAX;
}

bool weir_commit_gang_send(struct weir_commit_gang *gang, struct weir_commit_message *message)
{
    for (uint32_t i = 0; i < gang->count; i++) {
        struct member *const member = &gang->members[i];
        if (member->verb == NOTHING)
            continue;
        *message = (struct weir_commit_message){ .verb = member->verb,
                                                 .node = member->node,
                                                 .gang = gang->id,
                                                 .attempt = gang->attempt,
                                                 .slots = gang->slots };
        member->verb = NOTHING;
        return true;
    }
    return false;
}

uint32_t weir_commit_gang_state(const struct weir_commit_gang *gang)
{
    return gang->state;
}

int64_t weir_commit_gang_retry_ns(const struct weir_commit_gang *gang, uint32_t rank)
{
    return gang->aborted_ns + gang->config.backoff_ns * (1 + (int64_t)rank);
}
