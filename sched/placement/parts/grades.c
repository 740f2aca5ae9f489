/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Graded placement with kept grades; see grades.h.
 *
 * Which nodes changed is noted in a log that every class reads on its own, from the inventory's
 * ring, or, when that does not reach back far enough, for all nodes. A kept grade is valid while
 * the node is in the state it was found for; nodes come into the same states again and again, and
 * what was found for a state is looked up for the next node that comes into it.
 *
 * Nodes lie in blocks of 8, these in larger ones of 4, and so on up to one that has all. A class
 * keeps the best node of each block. A change goes up only as far as it changes who is best, and
 * those of one question together. So a question costs O(1) and at most O(log nodes) for every node
 * that changed, not O(nodes). How many nodes take part and why the others do not is counted for all
 * of a class, and follows each grade that changes.
 *
 * Invariant: after read_changes every grade of the class equals what a grader would say, and every
 * block what comparing its nodes would give.
 */
#include "sched/placement/parts/grade_search.h"

#include "sched/cluster/state.h"
#include "sched/internal/alloc.h"
#include "sched/internal/hash.h"
#include "sched/placement/parts/candidates.h"

#include <math.h>
#include <stddef.h>
#include <string.h>

enum {
    CLASSES_MOST = 1024, /* beyond that everything is forgotten */
    BLOCK_NODES = 8,     /* of the smallest blocks */
    BLOCK_PARTS = 4,     /* of all others */
    LEVELS_MOST = 16,    /* more than 2^32 nodes need */
    WORD_BITS = 64,
    LOG_LEAST = 64,
    FAR_BEHIND = 4, /* that part of the nodes has changed */
    MEMO_MOST = 8192
};

/* ---- kept grades ---- */

/* Who is best of some nodes that have room. */
struct grade_block {
    double value, tie;
    int64_t ram_least; /* free on the node with the least of them */
    uint32_t node;     /* WEIR_NO_INDEX = none has room: the value is -INFINITY, the memory most */
    uint32_t ties;
};

/* The grades of one shape, or of one that somebody asks for. */
struct grade_class {
    struct weir_shape shape;         /* without memory, unless grades depend on it */
    struct weir_owner owner;         /* who asks, if they depend on that */
    uint64_t read;                   /* changes of the log; 0 = nothing is kept */
    struct weir_kept_grade *kept;    /* per node */
    struct weir_grade_counts counts; /* of those kept */
    struct grade_block *blocks;
};

struct weir_grades {
    struct weir_allocator allocator;
    struct weir_change_mark mark;
    uint32_t node_count;
    uint32_t level_count, block_count;
    uint32_t level_first[LEVELS_MOST + 1]; /* the first block of each level, the smallest first */
    uint32_t *log;                         /* node of change n at n % log_capacity */
    uint64_t *marked;                      /* bits of blocks to compare again */
    struct weir_kept_grade *memo;          /* by state and class: one takes another one's place */
    uint32_t log_capacity, memo_capacity;  /* powers of two */
    uint64_t changes;                      /* noted so far */
    struct weir_shape *mix_shapes;
    double *mix_frequencies;
    uint32_t mix_count, mix_capacity, frequency_capacity;
    struct grade_class *classes;
    uint32_t class_count, class_capacity;
};

weir_status weir_grades_create(const struct weir_allocator *allocator, struct weir_grades **grades)
{
    const struct weir_allocator memory = weir_allocator_copy(allocator);
    struct weir_grades *const made = weir_alloc(&memory, 1, sizeof *made);

    if (made == NULL)
        return WEIR_ENOMEM;
    made->allocator = memory;
    *grades = made;
    return WEIR_OK;
}

static void forget_classes(struct weir_grades *grades)
{
    for (uint32_t c = 0; c < grades->class_count; c++) {
        weir_free(&grades->allocator, grades->classes[c].kept);
        weir_free(&grades->allocator, grades->classes[c].blocks);
    }
    grades->class_count = 0;
    if (grades->memo != NULL)
        memset(grades->memo, 0, grades->memo_capacity * sizeof *grades->memo);
}

void weir_grades_destroy(struct weir_grades *grades)
{
    if (grades == NULL)
        return;
    const struct weir_allocator memory = grades->allocator;
    forget_classes(grades);
    weir_free(&memory, grades->classes);
    weir_free(&memory, grades->log);
    weir_free(&memory, grades->marked);
    weir_free(&memory, grades->memo);
    weir_free(&memory, grades->mix_shapes);
    weir_free(&memory, grades->mix_frequencies);
    weir_free(&memory, grades);
}

/* ---- what changed ---- */

/* More than the log holds: every class looks at every node. */
static void note_all(struct weir_grades *grades)
{
    grades->changes += (uint64_t)grades->log_capacity + 1;
}

/* At least one block, and one alone on the last level. */
static void lay_out_blocks(struct weir_grades *grades, uint32_t nodes)
{
    uint32_t blocks = nodes / BLOCK_NODES + 1;

    grades->level_count = 0;
    grades->level_first[0] = 0;
    for (;; blocks = (blocks - 1) / BLOCK_PARTS + 1) {
        grades->level_first[grades->level_count + 1] =
            grades->level_first[grades->level_count] + blocks;
        grades->level_count++;
        if (blocks == 1)
            break;
    }
    grades->block_count = grades->level_first[grades->level_count];
}

static uint32_t power_of_two(uint32_t least, uint32_t wanted, uint32_t most)
{
    while (least < wanted && least < most)
        least *= 2;
    return least;
}

/* Another number of nodes: starts over. */
static weir_status restart(struct weir_grades *grades, const struct weir_cluster *cluster)
{
    const struct weir_allocator *const memory = &grades->allocator;
    const uint32_t nodes = cluster->node_count;

    forget_classes(grades);
    weir_free(memory, grades->log);
    weir_free(memory, grades->marked);
    weir_free(memory, grades->memo);
    grades->node_count = 0;
    lay_out_blocks(grades, nodes);
    grades->log_capacity = power_of_two(LOG_LEAST, nodes, UINT32_C(1) << 31);
    grades->memo_capacity = power_of_two(LOG_LEAST, 4 * nodes, MEMO_MOST);
    grades->log = weir_alloc(memory, grades->log_capacity, sizeof *grades->log);
    grades->marked =
        weir_alloc(memory, grades->block_count / WORD_BITS + 1, sizeof *grades->marked);
    grades->memo = weir_alloc(memory, grades->memo_capacity, sizeof *grades->memo);
    if (grades->log == NULL || grades->marked == NULL || grades->memo == NULL)
        return WEIR_ENOMEM;
    grades->node_count = nodes;
    note_all(grades);
    return WEIR_OK;
}

static weir_status follow_nodes(struct weir_grades *grades, const struct weir_cluster *cluster)
{
    const uint32_t changes = weir_cluster_changes(cluster, &grades->mark);
    uint32_t last = WEIR_NO_INDEX;

    if (grades->node_count != cluster->node_count || grades->marked == NULL) {
        WEIR_TRY(restart(grades, cluster));
    } else if (changes == WEIR_NO_INDEX) {
        note_all(grades);
    } else {
        for (uint32_t back = changes; back > 0; back--) {
            const uint32_t node = weir_cluster_change_node(cluster, back - 1);
            if (node != last) /* tried, taken back and done: one change */
                grades->log[grades->changes++ & (grades->log_capacity - 1)] = node;
            last = node;
        }
    }
    grades->mark = weir_cluster_change_mark(cluster);
    return WEIR_OK;
}

/* Bytes are compared: the structs have no padding. */
static bool same_mix(const struct weir_grades *grades, const struct weir_mix *mix)
{
    const size_t count = mix->count;

    return count == grades->mix_count &&
           (count == 0 ||
            (memcmp(mix->frequencies, grades->mix_frequencies, count * sizeof(double)) == 0 &&
             memcmp(mix->shapes, grades->mix_shapes, count * sizeof mix->shapes[0]) == 0));
}

static weir_status follow_mix(struct weir_grades *grades, const struct weir_mix *mix)
{
    const struct weir_allocator *const memory = &grades->allocator;

    if (same_mix(grades, mix))
        return WEIR_OK;
    forget_classes(grades);
    grades->mix_count = 0;
    WEIR_ROOM(memory, grades->mix_shapes, grades->mix_capacity, mix->count + 1);
    WEIR_ROOM(memory, grades->mix_frequencies, grades->frequency_capacity, mix->count + 1);
    if (mix->count > 0) { /* an empty one has no arrays */
        memcpy(grades->mix_shapes, mix->shapes, mix->count * sizeof *grades->mix_shapes);
        memcpy(grades->mix_frequencies, mix->frequencies,
               mix->count * sizeof *grades->mix_frequencies);
    }
    grades->mix_count = mix->count;
    return WEIR_OK;
}

static struct grade_class *class_of(struct weir_grades *grades, const struct weir_shape *shape,
                                    struct weir_owner owner)
{
    for (uint32_t c = 0; c < grades->class_count; c++) {
        if (memcmp(&grades->classes[c].shape, shape, sizeof *shape) == 0 &&
            weir_owner_is(&grades->classes[c].owner, &owner))
            return &grades->classes[c];
    }
    if (grades->class_count == CLASSES_MOST)
        forget_classes(grades);
    struct grade_class *const classes =
        weir_grow(&grades->allocator, grades->classes, &grades->class_capacity,
                  grades->class_count + 1, sizeof *classes);
    if (classes == NULL)
        return NULL;
    grades->classes = classes;
    struct grade_class *const added = &classes[grades->class_count];
    *added = (struct grade_class){ .shape = *shape, .owner = owner };
    added->kept = weir_alloc(&grades->allocator, grades->node_count, sizeof *added->kept);
    added->blocks = weir_alloc(&grades->allocator, grades->block_count, sizeof *added->blocks);
    if (added->kept == NULL || added->blocks == NULL) {
        weir_free(&grades->allocator, added->kept);
        weir_free(&grades->allocator, added->blocks);
        return NULL;
    }
    grades->class_count++;
    return added;
}

/* ---- grades ---- */

/* A class, where a question is asked. */
struct class_site {
    const struct weir_grades *grades;
    struct grade_class *class;
    const struct weir_grader *grader;
    const struct weir_place_query *query;
};

/* Counts a kept grade, or takes it off (-1). */
static void count_grade(struct grade_class *class, const struct weir_kept_grade *kept,
                        int32_t change)
{
    if (isinf(kept->value))
        class->counts.rejected[kept->gpu] += (uint32_t)change;
    else
        class->counts.candidates += (uint32_t)change;
}

/* What grades of a node depend on. */
static uint64_t state_of(const struct class_site *site, uint32_t node)
{
    const struct weir_cluster *const cluster = site->query->cluster;
    const uint64_t version = cluster->nodes[node].version;

    return site->grader->uses_workers ? weir_hash_add(cluster->lists[node].stamp, version)
                                      : version;
}

static struct weir_kept_grade ask_grader(const struct class_site *site, uint32_t node)
{
    const struct weir_grade_site asked = { .cluster = site->query->cluster,
                                           .shape = &site->class->shape,
                                           .mix = site->query->mix,
                                           .owner = site->class->owner,
                                           .node = node };
    const uint32_t reason = weir_candidates_reason(asked.cluster, asked.shape, node);

    if (reason != WEIR_REASON_NONE)
        return (struct weir_kept_grade){ .value = -(double)INFINITY,
                                         .ram_free = INT64_MAX,
                                         .gpu = (uint16_t)reason };
    const struct weir_grade grade = weir_grader_ask(site->grader, &asked);
    return (struct weir_kept_grade){
        .value = grade.value,
        .tie = grade.tie,
        .ram_free = asked.cluster->nodes[node].ram_free_bytes,
        .gpu = (uint16_t)grade.gpu, /* below WEIR_MAX_NODE_GPUS, or of no meaning */
        .mig = (uint16_t)grade.mig
    };
}

/* A grade that depends on the mix takes longer to find than to look up. */
static struct weir_kept_grade find_grade(const struct class_site *site, uint32_t node,
                                         uint64_t state)
{
    const struct weir_grades *const grades = site->grades;
    const uint64_t number = (uint64_t)(site->class - grades->classes) + 1;
    const uint64_t name = state + number * UINT64_C(0x9e3779b97f4a7c15);
    struct weir_kept_grade *const known = &grades->memo[name & (grades->memo_capacity - 1)];

    if (!site->grader->uses_mix)
        return ask_grader(site, node);
    if (known->state != name) {
        *known = ask_grader(site, node);
        known->state = name;
    }
    return *known;
}

/* ---- blocks ---- */

static bool is_better(const struct grade_block *a, const struct grade_block *b)
{
    return a->value > b->value || (!(a->value < b->value) && a->tie > b->tie);
}

/* Of equals the first of the order of nodes. */
static inline void meet(const struct class_site *site, struct grade_block *best,
                        const struct grade_block *other)
{
    const int64_t ram_least =
        other->ram_least < best->ram_least ? other->ram_least : best->ram_least;

    if (other->node == WEIR_NO_INDEX)
        return;
    if (best->node == WEIR_NO_INDEX || is_better(other, best)) {
        *best = *other;
    } else if (!is_better(best, other)) {
        best->ties += other->ties;
        if (weir_grade_goes_before(site->grader->order_seed, site->query->cluster, other->node,
                                   best->node))
            best->node = other->node;
    }
    best->ram_least = ram_least;
}

static struct grade_block block_of_node(const struct class_site *site, uint32_t node)
{
    const struct weir_kept_grade *const kept = &site->class->kept[node];

    return (struct grade_block){ .value = kept->value,
                                 .tie = kept->tie,
                                 .ram_least = kept->ram_free,
                                 .node = isinf(kept->value) ? WEIR_NO_INDEX : node,
                                 .ties = 1 };
}

/* Parts `from` .. `to` - 1 of a block: nodes, or blocks of the level below. */
struct part_range {
    uint32_t from, to;
};

static struct part_range parts_of(const struct weir_grades *grades, uint32_t level, uint32_t place)
{
    const uint32_t size = level == 0 ? BLOCK_NODES : BLOCK_PARTS;
    const uint32_t *const first = &grades->level_first[level == 0 ? 0 : level - 1];
    const uint32_t count = level == 0 ? grades->node_count : first[1] - first[0];
    const uint32_t from = place * size;

    return (struct part_range){ from, count - from < size ? count : from + size };
}

static struct grade_block *block_at(const struct class_site *site, uint32_t level, uint32_t place)
{
    return &site->class->blocks[site->grades->level_first[level] + place];
}

static const struct grade_block no_block = { .value = -(double)INFINITY,
                                             .ram_least = INT64_MAX,
                                             .node = WEIR_NO_INDEX };

static struct grade_block compare_parts(const struct class_site *site, uint32_t level,
                                        uint32_t place)
{
    const struct part_range parts = parts_of(site->grades, level, place);
    const struct grade_block *const below = level > 0 ? block_at(site, level - 1, 0) : NULL;
    struct grade_block best = no_block;

    for (uint32_t i = parts.from; below != NULL && i < parts.to; i++)
        meet(site, &best, &below[i]);
    for (uint32_t i = parts.from; below == NULL && i < parts.to; i++) {
        const struct grade_block node = block_of_node(site, i);
        meet(site, &best, &node);
    }
    return best;
}

static void mark_block(const struct weir_grades *grades, uint32_t block)
{
    grades->marked[block / WORD_BITS] |= UINT64_C(1) << block % WORD_BITS;
}

/* Compares marked blocks again, small ones first; one that changes marks the one it is a part of,
 * which stands behind it. */
static void compare_marked(const struct class_site *site)
{
    const struct weir_grades *const grades = site->grades;
    const uint32_t *const first = grades->level_first;
    uint32_t level = 0;

    for (uint32_t w = 0; w <= grades->block_count / WORD_BITS; w++) {
        while (grades->marked[w] != 0) {
            const uint32_t block = w * WORD_BITS + (uint32_t)__builtin_ctzll(grades->marked[w]);
            grades->marked[w] &= grades->marked[w] - 1;
            while (block >= first[level + 1])
                level++;
            const uint32_t place = block - first[level];
            const struct grade_block best = compare_parts(site, level, place);
            struct grade_block *const kept = block_at(site, level, place);
            /* NOLINTNEXTLINE(*-memory-comparison,cert-exp42-c,cert-flp37-c): bits, and no holes */
            const bool is_same = memcmp(kept, &best, sizeof best) == 0;
            if (level + 1 < grades->level_count && !is_same)
                mark_block(grades, first[level + 1] + place / BLOCK_PARTS);
            *kept = best;
        }
    }
}

/* Grades a node again that is in another state than before. */
static void look_again(const struct class_site *site, uint32_t node)
{
    struct grade_class *const class = site->class;
    struct weir_kept_grade *const kept = &class->kept[node];
    const uint64_t state = state_of(site, node);
    const struct weir_kept_grade before = *kept;

    if (class->read > 0 && before.state == state)
        return;
    *kept = find_grade(site, node, state);
    kept->state = state;
    count_grade(class, kept, 1);
    if (class->read > 0)
        count_grade(class, &before, -1);
    if (class->read == 0 || memcmp(kept, &before, offsetof(struct weir_kept_grade, state)) != 0)
        mark_block(site->grades, node / BLOCK_NODES); /* it meets others in another way */
}

/* Brings a class up to date; far behind it is less work to look at all nodes. */
static void read_changes(const struct class_site *site)
{
    const struct weir_grades *const grades = site->grades;
    struct grade_class *const class = site->class;
    const uint64_t behind = grades->changes - class->read;
    const bool is_far = class->read == 0 || behind > grades->node_count / FAR_BEHIND ||
                        behind > grades->log_capacity;

    for (uint32_t b = 0; class->read == 0 && b < grades->level_first[1]; b++)
        mark_block(grades, b); /* one without nodes too */
    for (uint32_t n = 0; is_far && n < grades->node_count; n++)
        look_again(site, n);
    for (uint64_t c = class->read; !is_far && c < grades->changes; c++)
        look_again(site, grades->log[c & (grades->log_capacity - 1)]);
    compare_marked(site);
    class->read = grades->changes;
}

/* The class of a question, up to date; NULL = out of memory. */
static struct grade_class *follow(struct weir_grades *grades, const struct weir_grader *grader,
                                  const struct weir_place_query *query)
{
    struct weir_shape shape = *query->shape;
    struct weir_owner owner = { .index = 0 };

    if (!grader->uses_ram)
        shape.ram_bytes = 0;
    if (grader->uses_owner)
        owner = (struct weir_owner){ .kind = query->owner.kind, .index = query->owner.index };
    if (follow_nodes(grades, query->cluster) != WEIR_OK)
        return NULL;
    if ((grader->uses_mix || grader->tie == WEIR_TIE_LEAST_FRAG) &&
        follow_mix(grades, query->mix) != WEIR_OK)
        return NULL;
    struct grade_class *const class = class_of(grades, &shape, owner);
    if (class == NULL)
        return NULL;
    const struct class_site site = {
        .grades = grades, .class = class, .grader = grader, .query = query
    };
    read_changes(&site);
    return class;
}

const struct weir_kept_grade *weir_grades_all(struct weir_grades *grades,
                                              const struct weir_grader *grader,
                                              const struct weir_place_query *query)
{
    const struct grade_class *const class = follow(grades, grader, query);

    return class == NULL ? NULL : class->kept;
}

/* ---- a question ---- */

static struct weir_grade grade_of(const struct weir_kept_grade *kept)
{
    return (struct weir_grade){
        .value = kept->value, .tie = kept->tie, .gpu = kept->gpu, .mig = kept->mig
    };
}

static void meet_loser(struct grade_block *best, const struct grade_block *other)
{
    if (other->node != WEIR_NO_INDEX && (best->node == WEIR_NO_INDEX || is_better(other, best)))
        *best = *other;
}

/* The node that is worse than the best of a block alone, of equals the first, or WEIR_NO_INDEX: it
 * lost on the way of the best from its node up. */
static uint32_t runner_up(const struct class_site *site, uint32_t level, uint32_t best)
{
    struct grade_block second = no_block;
    uint32_t place = best / BLOCK_NODES;
    struct part_range parts = parts_of(site->grades, 0, place);

    for (uint32_t n = parts.from; n < parts.to; n++) {
        const struct grade_block node = block_of_node(site, n);
        if (n != best)
            meet_loser(&second, &node);
    }
    for (uint32_t l = 1; l <= level; l++) {
        const struct grade_block *const below = block_at(site, l - 1, 0);
        struct grade_block loser = no_block;
        place /= BLOCK_PARTS;
        parts = parts_of(site->grades, l, place);
        for (uint32_t i = parts.from; i < parts.to; i++)
            meet_loser(&loser, below[i].node == best ? &second : &below[i]);
        second = loser;
    }
    return second.node;
}

static void join_nodes(const struct class_site *site, struct part_range range,
                       struct weir_grade_search *search)
{
    for (uint32_t n = range.from; n < range.to; n++) {
        const struct weir_kept_grade *const kept = &site->class->kept[n];
        if (isinf(kept->value))
            continue;
        if (kept->ram_free < site->query->shape->ram_bytes)
            weir_grade_search_lack_ram(search);
        else
            weir_grade_search_meet(search, n, grade_of(kept), 1);
    }
}

/* Lets those of a block take part that have the memory. */
static void join_block(const struct class_site *site, uint32_t level, uint32_t place,
                       struct weir_grade_search *search)
{
    const struct weir_kept_grade *const kept = site->class->kept;
    const struct grade_block *const block = block_at(site, level, place);
    const struct part_range parts = parts_of(site->grades, level, place);

    if (block->node == WEIR_NO_INDEX)
        return;
    if (site->query->shape->ram_bytes <= block->ram_least) {
        weir_grade_search_meet(search, block->node, grade_of(&kept[block->node]), block->ties);
        const uint32_t second =
            search->tally.node == block->node ? runner_up(site, level, block->node) : WEIR_NO_INDEX;
        if (second != WEIR_NO_INDEX)
            weir_grade_search_offer_second(search, second, grade_of(&kept[second]));
    } else if (level == 0) {
        join_nodes(site, parts, search);
    } else {
        for (uint32_t i = parts.from; i < parts.to; i++)
            join_block(site, level - 1, i, search);
    }
}

weir_status weir_grades_place(struct weir_grades *grades, const struct weir_grader *grader,
                              const struct weir_place_query *query,
                              struct weir_place_answer *answer, struct weir_error *error)
{
    struct weir_grade_search search = weir_grade_search_begin(grader, query);
    struct grade_class *const class = follow(grades, grader, query);

    if (class == NULL)
        return weir_fail(error, WEIR_ENOMEM, "out of memory");
    const struct class_site site = {
        .grades = grades, .class = class, .grader = grader, .query = query
    };
    search.counts = class->counts;
    if (grader->tie == WEIR_TIE_RANDOM) /* every node that takes part in it draws */
        join_nodes(&site, (struct part_range){ 0, grades->node_count }, &search);
    else
        join_block(&site, grades->level_count - 1, 0, &search);
    return weir_grade_search_end(&search, answer, error);
}
