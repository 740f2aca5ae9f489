/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Prepare and commit on the side of a node (see weir/commit.h). What is known of a gang is one row:
 * the slots it has, until when, and the latest attempt that was aborted. A row without slots stays
 * as the memory of that attempt.
 */
#include "weir/commit.h"

#include "sched/internal/alloc.h"
#include "sched/internal/made.h"

#include <stddef.h>

struct row {
    uint64_t gang;
    uint32_t attempt; /* that the slots are of */
    uint32_t aborted; /* every attempt up to this one is over */
    uint32_t slots;
    int64_t until_ns; /* the lease; INT64_MAX = committed */
};

struct weir_commit_node {
    struct weir_allocator allocator;
    struct weir_commit_config config;
    uint32_t free;
    struct row *rows;
    uint32_t count, capacity;
};

weir_status weir_commit_node_create(const struct weir_commit_config *config, uint32_t slots,
                                    const struct weir_allocator *allocator,
                                    struct weir_commit_node **node, struct weir_error *error)
{
    static const struct weir_made bare = WEIR_MADE_BARE(struct weir_commit_node);
    void *block = NULL;

    WEIR_TRY(weir_commit_check(config, error));
    WEIR_TRY(weir_made_create(&bare, NULL, allocator, &block, error));
    struct weir_commit_node *const made = block;
    made->config = *config;
    made->free = slots;
    *node = made;
    return WEIR_OK;
}

void weir_commit_node_destroy(struct weir_commit_node *node)
{
    if (node == NULL)
        return;
    weir_free(&node->allocator, node->rows);
    weir_made_destroy(node);
}

static struct row *find(struct weir_commit_node *node, uint64_t gang)
{
    for (uint32_t i = 0; i < node->count; i++)
        if (node->rows[i].gang == gang)
            return &node->rows[i];
    return NULL;
}

static weir_status reserve_row(struct weir_commit_node *node)
{
    WEIR_ROOM(&node->allocator, node->rows, node->capacity, node->count + 1);
    return WEIR_OK;
}

/* Its row, made when there is none; NULL = out of memory. */
static struct row *row_of(struct weir_commit_node *node, uint64_t gang)
{
    struct row *const found = find(node, gang);

    if (found != NULL)
        return found;
    if (reserve_row(node) != WEIR_OK)
        return NULL;
    node->rows[node->count] = (struct row){ .gang = gang };
    return &node->rows[node->count++];
}

static void give_back(struct weir_commit_node *node, struct row *row)
{
    node->free += row->slots;
    row->slots = 0;
}

static uint32_t prepare(struct weir_commit_node *node, const struct weir_commit_message *message,
                        int64_t now_ns)
{
    struct row *const row = row_of(node, message->gang);

    if (row == NULL || message->attempt <= row->aborted)
        return WEIR_COMMIT_NO;
    if (row->slots > 0 && message->attempt == row->attempt)
        return WEIR_COMMIT_YES; /* the same message again */
    if (row->slots > 0 && (message->attempt < row->attempt || row->until_ns == INT64_MAX))
        return WEIR_COMMIT_NO;
    give_back(node, row); /* of an attempt before, whose ABORT was lost */
    if (message->slots > node->free)
        return WEIR_COMMIT_NO;
    row->attempt = message->attempt;
    row->slots = message->slots;
    row->until_ns = now_ns + node->config.lease_ns;
    node->free -= row->slots;
    return WEIR_COMMIT_YES;
}

static uint32_t commit(struct weir_commit_node *node, const struct weir_commit_message *message)
{
    struct row *const row = find(node, message->gang);

    if (row == NULL || row->slots == 0 || row->attempt != message->attempt)
        return WEIR_COMMIT_EXPIRED;
    row->until_ns = INT64_MAX;
    return WEIR_COMMIT_DONE;
}

static void abort_attempt(struct weir_commit_node *node, const struct weir_commit_message *message)
{
    struct row *const row = row_of(node, message->gang);

    if (row == NULL)
        return;
    if (row->slots > 0 && row->attempt <= message->attempt)
        give_back(node, row);
    if (row->aborted < message->attempt)
        row->aborted = message->attempt;
}

bool weir_commit_node_hear(struct weir_commit_node *node, const struct weir_commit_message *message,
                           int64_t now_ns, struct weir_commit_message *answer)
{
    weir_commit_node_time(node, now_ns);
    *answer = *message;
    switch (message->verb) {
    case WEIR_COMMIT_PREPARE:
        answer->verb = prepare(node, message, now_ns);
        return true;
    case WEIR_COMMIT_COMMIT:
        answer->verb = commit(node, message);
        return true;
    case WEIR_COMMIT_ABORT:
        abort_attempt(node, message);
        return false;
    default:
        return false;
    }
}

void weir_commit_node_time(struct weir_commit_node *node, int64_t now_ns)
{
    for (uint32_t i = 0; i < node->count; i++)
        if (node->rows[i].slots > 0 && node->rows[i].until_ns <= now_ns)
            give_back(node, &node->rows[i]);
}

int64_t weir_commit_node_next_ns(const struct weir_commit_node *node)
{
    int64_t next_ns = INT64_MAX;

    for (uint32_t i = 0; i < node->count; i++)
        if (node->rows[i].slots > 0 && node->rows[i].until_ns < next_ns)
            next_ns = node->rows[i].until_ns;
    return next_ns;
}

/* Nobody will speak of it any more. */
void weir_commit_node_release(struct weir_commit_node *node, uint64_t gang)
{
    struct row *const row = find(node, gang);

    if (row == NULL)
        return;
    give_back(node, row);
    *row = node->rows[--node->count];
}

uint32_t weir_commit_node_free(const struct weir_commit_node *node)
{
    return node->free;
}
