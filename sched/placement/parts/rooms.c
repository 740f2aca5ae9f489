/* SPDX-License-Identifier: Apache-2.0 */
/* The kept answers of nodes to shapes; see rooms.h. */
#include "sched/placement/parts/rooms.h"

#include "sched/cluster/state.h"
#include "sched/internal/alloc.h"
#include "sched/internal/invariant.h"
#include "sched/internal/shape_hash.h"
#include "sched/placement/parts/candidates.h"

#include <string.h>

enum {
    GROUP = 64,   /* nodes of a group, groups of a span: bits of a word */
    ANSWERS = 16, /* different ones of all nodes; there are fewer reasons why a node has no room */
    RECENT = 256,
    LOG_LEAST = 64,
    KEPT_LEAST = 16,
    KEPT_MOST = 1024,
    BYTES_MOST = 1 << 25 /* for all shapes, but for the least number of them */
};

struct room_group {
    uint64_t open; /* nodes that have room */
    uint8_t count[ANSWERS];
};

struct room_span {
    uint64_t open; /* groups with such a node */
    uint16_t count[ANSWERS];
};

/* Of one shape. */
struct weir_room_kept {
    struct weir_shape shape;
    uint64_t followed; /* changes of the log */
    uint64_t asked;    /* when, in questions */
    uint32_t node_count, group_count, span_count;
    uint32_t answers;         /* different ones so far */
    uint8_t reasons[ANSWERS]; /* by answer; 0 = WEIR_REASON_NONE */
    uint8_t *answer;          /* by node */
    struct room_group *groups;
    struct room_span *spans;
};

struct weir_rooms {
    struct weir_room_kept **kept;
    struct weir_room_kept *last; /* asked about */
    uint64_t *hashes;            /* of shapes, by kept */
    uint32_t recent[RECENT];     /* number + 1 of a shape with a hash that ends so */
    uint32_t count, capacity, hash_capacity;
    uint64_t questions;
};

static void free_kept(const struct weir_allocator *memory, struct weir_room_kept *kept)
{
    if (kept == NULL)
        return;
    weir_free(memory, kept->answer);
    weir_free(memory, kept->groups);
    weir_free(memory, kept->spans);
    weir_free(memory, kept);
}

void weir_rooms_forget(struct weir_cluster *cluster)
{
    const struct weir_allocator *const memory = &cluster->allocator;
    struct weir_rooms *const rooms = cluster->log->rooms;

    for (uint32_t i = 0; rooms != NULL && i < rooms->count; i++)
        free_kept(memory, rooms->kept[i]);
    if (rooms != NULL) {
        weir_free(memory, rooms->kept);
        weir_free(memory, rooms->hashes);
    }
    weir_free(memory, rooms);
    weir_free(memory, cluster->log->nodes);
    *cluster->log = (struct weir_change_log){ .nodes = NULL };
}

/* ---- the answers of one shape ---- */

static uint32_t answer_of(struct weir_room_kept *kept, uint32_t reason)
{
    uint32_t answer = 0;

    while (answer < kept->answers && kept->reasons[answer] != reason)
        answer++;
    if (answer == kept->answers)
        kept->reasons[kept->answers++] = (uint8_t)reason;
    return answer;
}

static void count_answer(struct weir_room_kept *kept, uint32_t node, uint32_t answer)
{
    struct room_group *const group = &kept->groups[node / GROUP];
    struct room_span *const span = &kept->spans[node / GROUP / GROUP];
    const uint64_t group_bit = UINT64_C(1) << (node / GROUP % GROUP);

    group->count[answer]++;
    span->count[answer]++;
    kept->answer[node] = (uint8_t)answer;
    if (answer != 0)
        return;
    group->open |= UINT64_C(1) << (node % GROUP);
    span->open |= group_bit;
}

static void drop_answer(struct weir_room_kept *kept, uint32_t node)
{
    struct room_group *const group = &kept->groups[node / GROUP];
    struct room_span *const span = &kept->spans[node / GROUP / GROUP];
    const uint32_t answer = kept->answer[node];

    group->count[answer]--;
    span->count[answer]--;
    group->open &= ~(UINT64_C(1) << (node % GROUP));
    if (group->open == 0)
        span->open &= ~(UINT64_C(1) << (node / GROUP % GROUP));
}

static void ask_node(const struct weir_cluster *cluster, struct weir_room_kept *kept, uint32_t node)
{
    const uint32_t reason = weir_candidates_reason(cluster, &kept->shape, node);

    if (kept->reasons[kept->answer[node]] == reason)
        return;
    drop_answer(kept, node);
    count_answer(kept, node, answer_of(kept, reason));
}

/* All nodes anew. */
static bool ask_all(const struct weir_cluster *cluster, struct weir_room_kept *kept)
{
    const struct weir_allocator *const memory = &cluster->allocator;
    const uint32_t nodes = cluster->node_count;

    weir_free(memory, kept->answer);
    weir_free(memory, kept->groups);
    weir_free(memory, kept->spans);
    kept->node_count = 0;
    kept->group_count = (nodes + GROUP - 1) / GROUP;
    kept->span_count = (kept->group_count + GROUP - 1) / GROUP;
    kept->answer = weir_alloc(memory, nodes, sizeof *kept->answer);
    kept->groups = weir_alloc(memory, kept->group_count, sizeof *kept->groups);
    kept->spans = weir_alloc(memory, kept->span_count, sizeof *kept->spans);
    if (kept->answer == NULL || kept->groups == NULL || kept->spans == NULL)
        return false;
    kept->answers = 1;
    kept->node_count = nodes;
    for (uint32_t n = 0; n < nodes; n++)
        count_answer(kept, n, answer_of(kept, weir_candidates_reason(cluster, &kept->shape, n)));
    return true;
}

/* Works in what changed; false when out of memory. */
static bool follow(const struct weir_cluster *cluster, struct weir_change_log *log,
                   struct weir_room_kept *kept)
{
    const bool is_far = log->count - kept->followed > log->capacity;

    if (kept->node_count != cluster->node_count || is_far) {
        if (!ask_all(cluster, kept))
            return false;
        kept->followed = log->count;
    }
    for (; kept->followed < log->count; kept->followed++)
        ask_node(cluster, kept, log->nodes[kept->followed & (log->capacity - 1)]);
    log->read = log->count;
    return true;
}

/* ---- the shapes ---- */

static bool is_of(const struct weir_room_kept *kept, const struct weir_shape *shape)
{
    return memcmp(&kept->shape, shape, sizeof *shape) == 0;
}

/* So many shapes are kept. */
static uint32_t most_kept(const struct weir_cluster *cluster)
{
    const uint32_t most = (uint32_t)(BYTES_MOST / (2 * (size_t)cluster->node_count));

    return most > KEPT_MOST ? KEPT_MOST : most < KEPT_LEAST ? KEPT_LEAST : most;
}

/* The one that was asked about longest ago. */
static uint32_t oldest(const struct weir_rooms *rooms)
{
    uint32_t found = 0;

    for (uint32_t i = 1; i < rooms->count; i++)
        if (rooms->kept[i]->asked < rooms->kept[found]->asked)
            found = i;
    return found;
}

/* A number for one more shape, or WEIR_NO_INDEX. */
static uint32_t make_room(const struct weir_cluster *cluster, struct weir_rooms *rooms)
{
    const struct weir_allocator *const memory = &cluster->allocator;

    if (rooms->count >= most_kept(cluster))
        return oldest(rooms);
    void *const kept = weir_grow(memory, rooms->kept, &rooms->capacity, rooms->count + 1,
                                 sizeof(struct weir_room_kept *));
    if (kept == NULL)
        return WEIR_NO_INDEX;
    rooms->kept = kept;
    void *const hashes = weir_grow(memory, rooms->hashes, &rooms->hash_capacity, rooms->count + 1,
                                   sizeof *rooms->hashes);
    struct weir_room_kept *const made = weir_alloc(memory, 1, sizeof *made);
    if (hashes != NULL)
        rooms->hashes = hashes;
    if (hashes == NULL || made == NULL) {
        weir_free(memory, made);
        return WEIR_NO_INDEX;
    }
    rooms->kept[rooms->count] = made;
    return rooms->count++;
}

static uint32_t find_number(const struct weir_rooms *rooms, const struct weir_shape *shape,
                            uint64_t hash)
{
    const uint32_t recent = rooms->recent[hash % RECENT];

    if (recent != 0 && is_of(rooms->kept[recent - 1], shape))
        return recent - 1;
    for (uint32_t i = 0; i < rooms->count; i++)
        if (rooms->hashes[i] == hash && is_of(rooms->kept[i], shape))
            return i;
    return WEIR_NO_INDEX;
}

static struct weir_room_kept *find_kept(const struct weir_cluster *cluster,
                                        struct weir_rooms *rooms, const struct weir_shape *shape)
{
    if (rooms->last != NULL && is_of(rooms->last, shape))
        return rooms->last;
    const uint64_t hash = weir_shape_hash(shape);
    uint32_t number = find_number(rooms, shape, hash);
    if (number == WEIR_NO_INDEX) {
        number = make_room(cluster, rooms);
        if (number == WEIR_NO_INDEX)
            return NULL;
        rooms->kept[number]->shape = *shape;
        rooms->kept[number]->node_count = 0; /* knows nothing */
        rooms->hashes[number] = hash;
    }
    rooms->recent[hash % RECENT] = number + 1;
    rooms->last = rooms->kept[number];
    return rooms->last;
}

/* Somebody follows from now on: room for as many changes as there are nodes. */
static bool open_log(const struct weir_cluster *cluster, struct weir_change_log *log)
{
    uint32_t capacity = LOG_LEAST;

    while (capacity < cluster->node_count && capacity <= UINT32_MAX / 4)
        capacity *= 2;
    if (log->rooms == NULL)
        log->rooms = weir_alloc(&cluster->allocator, 1, sizeof *log->rooms);
    if (log->rooms == NULL || log->capacity >= capacity)
        return log->rooms != NULL;
    uint32_t *const nodes = weir_alloc(&cluster->allocator, capacity, sizeof *nodes);
    if (nodes == NULL)
        return false;
    weir_free(&cluster->allocator, log->nodes);
    log->nodes = nodes;
    log->capacity = capacity;
    log->count += (uint64_t)capacity + 1; /* nobody has followed up to here */
    log->read = log->count;
    return true;
}

/* Brought up to date; NULL = ask every node. */
static const struct weir_room_kept *look_up(const struct weir_cluster *cluster,
                                            const struct weir_shape *shape)
{
    struct weir_change_log *const log = cluster->log;

    if (cluster->node_count < WEIR_ROOMS_FROM || !open_log(cluster, log))
        return NULL;
    struct weir_room_kept *const kept = find_kept(cluster, log->rooms, shape);
    if (kept == NULL || !follow(cluster, log, kept))
        return NULL;
    kept->asked = ++log->rooms->questions;
    return kept;
}

/* ---- walks ---- */

struct weir_room_walk weir_rooms_begin(const struct weir_cluster *cluster,
                                       const struct weir_shape *shape)
{
    return (struct weir_room_walk){ .cluster = cluster,
                                    .shape = shape,
                                    .kept = look_up(cluster, shape) };
}

static uint64_t bits_from(uint64_t bits, uint32_t first)
{
    return bits & UINT64_MAX << first;
}

/* The first node from `from` on that has room, or the number of nodes. */
static uint32_t first_open(const struct weir_room_kept *kept, uint32_t from)
{
    uint32_t group = from / GROUP;

    if (from >= kept->node_count)
        return kept->node_count;
    const uint64_t here = bits_from(kept->groups[group].open, from % GROUP);
    if (here != 0)
        return group * GROUP + (uint32_t)__builtin_ctzll(here);
    if (++group >= kept->group_count)
        return kept->node_count;
    uint32_t span = group / GROUP;
    uint64_t groups = bits_from(kept->spans[span].open, group % GROUP);
    while (groups == 0 && ++span < kept->span_count)
        groups = kept->spans[span].open;
    if (groups == 0)
        return kept->node_count;
    group = span * GROUP + (uint32_t)__builtin_ctzll(groups);
    return group * GROUP + (uint32_t)__builtin_ctzll(kept->groups[group].open);
}

/* What nodes `from` .. `to` - 1 say, of which none has room: nodes, whole groups, whole spans, and
 * down again. */
static void count_closed(const struct weir_room_kept *kept, uint32_t from, uint32_t to,
                         uint32_t *counts)
{
    if (kept->answers == 2) { /* they all say the same */
        counts[1] += to - from;
        return;
    }
    while (from < to) {
        const uint32_t group = from / GROUP;
        if (from % (GROUP * GROUP) == 0 && to - from >= GROUP * GROUP) {
            for (uint32_t a = 1; a < kept->answers; a++)
                counts[a] += kept->spans[group / GROUP].count[a];
            from += GROUP * GROUP;
        } else if (from % GROUP == 0 && to - from >= GROUP) {
            for (uint32_t a = 1; a < kept->answers; a++)
                counts[a] += kept->groups[group].count[a];
            from += GROUP;
        } else {
            counts[kept->answer[from++]]++;
        }
    }
}

static uint32_t next_kept(struct weir_room_walk *walk, struct weir_choice *choice)
{
    const struct weir_room_kept *const kept = walk->kept;
    const uint32_t node = first_open(kept, walk->next);
    uint32_t counts[ANSWERS] = { 0 };

    count_closed(kept, walk->next, node, counts);
    for (uint32_t a = 1; a < kept->answers; a++)
        choice->rejected[kept->reasons[a]] += counts[a];
    choice->nodes_seen += node - walk->next + (node < kept->node_count);
    walk->next = node + 1;
    return node < kept->node_count ? node : WEIR_NO_INDEX;
}

uint32_t weir_rooms_next(struct weir_room_walk *walk, struct weir_choice *choice)
{
    if (walk->kept != NULL)
        return next_kept(walk, choice);
    while (walk->next < walk->cluster->node_count) {
        const uint32_t node = walk->next++;
        const uint32_t reason = weir_candidates_reason(walk->cluster, walk->shape, node);
        choice->nodes_seen++;
        if (reason == WEIR_REASON_NONE)
            return node;
        choice->rejected[reason]++;
    }
    return WEIR_NO_INDEX;
}

/* ---- of all nodes ---- */

uint32_t weir_rooms_survey(const struct weir_room_walk *walk, struct weir_choice *choice)
{
    const struct weir_room_kept *const kept = walk->kept;
    struct weir_room_walk step = *walk;
    uint32_t open = 0;

    if (kept == NULL) {
        while (weir_rooms_next(&step, choice) != WEIR_NO_INDEX)
            open++;
        return open;
    }
    for (uint32_t s = 0; s < kept->span_count; s++) {
        open += kept->spans[s].count[0];
        for (uint32_t a = 1; a < kept->answers; a++)
            choice->rejected[kept->reasons[a]] += kept->spans[s].count[a];
    }
    choice->nodes_seen += kept->node_count;
    return open;
}

uint32_t weir_rooms_at(const struct weir_room_walk *walk, uint32_t place)
{
    const struct weir_room_kept *const kept = walk->kept;
    struct weir_room_walk step = *walk;
    struct weir_choice nothing = { .candidates = 0 };
    uint32_t group = 0;

    if (kept == NULL) {
        while (place-- > 0)
            (void)weir_rooms_next(&step, &nothing);
        return weir_rooms_next(&step, &nothing);
    }
    for (uint32_t s = 0; place >= kept->spans[s].count[0]; s++, group += GROUP)
        place -= kept->spans[s].count[0];
    for (; place >= kept->groups[group].count[0]; group++)
        place -= kept->groups[group].count[0];
    uint64_t open = kept->groups[group].open;
    while (place-- > 0)
        open &= open - 1;
    return group * GROUP + (uint32_t)__builtin_ctzll(open);
}
