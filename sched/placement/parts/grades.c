/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Graded placement with kept grades; see grades.h.
 *
 * Every node has an epoch that grows when the node changes; a kept grade is valid while its epoch
 * is the node's. Changes come from the inventory's ring, or, when that does not reach back far
 * enough, from comparing every node's fingerprint.
 *
 * Nodes lie in blocks of 8, these in larger ones of 4, and so on up to one that has all. A class
 * keeps the outcome of each block, valid while nothing in it changed. So a question costs O(1) and
 * O(log nodes) for every node that changed, not O(nodes). How many nodes take part and why the
 * others do not is counted for all of a class, and follows each grade that changes.
 *
 * Invariant: the epoch of a block is the largest of its nodes.
 */
#include "sched/placement/parts/grade_search.h"

#include "sched/cluster/state.h"
#include "sched/internal/alloc.h"
#include "sched/internal/hash.h"
#include "sched/placement/parts/candidates.h"

#include <math.h>
#include <string.h>

enum {
    CLASSES_MOST = 1024, /* beyond that everything is forgotten */
    BLOCK_NODES = 8,     /* of the smallest blocks */
    BLOCK_PARTS = 4,     /* of all others */
    LEVELS_MOST = 16     /* more than 2^32 nodes need */
};

/* ---- kept grades ---- */

/* What came of comparing the nodes of one block. */
struct grade_block {
    uint32_t epoch;    /* 0 = nothing is kept */
    int64_t ram_least; /* free on the node with the least of those that have room */
    struct weir_grade_tally tally;
};

/* The grades of one shape. */
struct grade_class {
    struct weir_shape shape;         /* without memory, unless grades depend on it */
    struct weir_kept_grade *kept;    /* per node */
    struct weir_grade_counts counts; /* of those kept */
    struct grade_block *blocks;
};

struct weir_grades {
    struct weir_allocator allocator;
    struct weir_change_mark mark;
    uint32_t node_count, epoch;
    uint32_t level_count, block_count;
    uint32_t level_first[LEVELS_MOST + 1]; /* the first block of each level, the smallest first */
    uint32_t *epochs;                      /* per node */
    uint32_t *block_epochs;
    uint64_t *stamps; /* per node: state and workers */
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
}

void weir_grades_destroy(struct weir_grades *grades)
{
    if (grades == NULL)
        return;
    const struct weir_allocator memory = grades->allocator;
    forget_classes(grades);
    weir_free(&memory, grades->classes);
    weir_free(&memory, grades->epochs);
    weir_free(&memory, grades->block_epochs);
    weir_free(&memory, grades->stamps);
    weir_free(&memory, grades->mix_shapes);
    weir_free(&memory, grades->mix_frequencies);
    weir_free(&memory, grades);
}

static uint64_t stamp_of(const struct weir_cluster *cluster, uint32_t node)
{
    return weir_hash_add(cluster->lists[node].stamp, cluster->nodes[node].version);
}

static void touch(struct weir_grades *grades, const struct weir_cluster *cluster, uint32_t node)
{
    uint32_t place = node / BLOCK_NODES;

    grades->epochs[node] = ++grades->epoch;
    grades->stamps[node] = stamp_of(cluster, node);
    for (uint32_t level = 0; level < grades->level_count; level++, place /= BLOCK_PARTS)
        grades->block_epochs[grades->level_first[level] + place] = grades->epoch;
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

/* Another number of nodes, or epochs used up: starts over. */
static weir_status restart(struct weir_grades *grades, const struct weir_cluster *cluster)
{
    const struct weir_allocator *const memory = &grades->allocator;
    const uint32_t nodes = cluster->node_count;

    forget_classes(grades);
    weir_free(memory, grades->epochs);
    weir_free(memory, grades->block_epochs);
    weir_free(memory, grades->stamps);
    grades->node_count = 0;
    grades->epoch = 1;
    lay_out_blocks(grades, nodes);
    grades->epochs = weir_alloc(memory, nodes, sizeof *grades->epochs);
    grades->block_epochs = weir_alloc(memory, grades->block_count, sizeof *grades->block_epochs);
    grades->stamps = weir_alloc(memory, nodes, sizeof *grades->stamps);
    if (grades->epochs == NULL || grades->block_epochs == NULL || grades->stamps == NULL)
        return WEIR_ENOMEM;
    grades->node_count = nodes;
    for (uint32_t b = 0; b < grades->block_count; b++)
        grades->block_epochs[b] = grades->epoch; /* also of one without nodes */
    for (uint32_t n = 0; n < nodes; n++)
        touch(grades, cluster, n);
    return WEIR_OK;
}

static weir_status follow_nodes(struct weir_grades *grades, const struct weir_cluster *cluster)
{
    const uint32_t changes = weir_cluster_changes(cluster, &grades->mark);

    if (grades->node_count != cluster->node_count || grades->epochs == NULL ||
        grades->epoch > UINT32_MAX - WEIR_CHANGE_RING - cluster->node_count) {
        WEIR_TRY(restart(grades, cluster));
    } else if (changes == WEIR_NO_INDEX) {
        for (uint32_t n = 0; n < cluster->node_count; n++) {
            if (grades->stamps[n] != stamp_of(cluster, n))
                touch(grades, cluster, n);
        }
    } else {
        for (uint32_t back = 0; back < changes; back++)
            touch(grades, cluster, weir_cluster_change_node(cluster, back));
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

static struct grade_class *class_of(struct weir_grades *grades, const struct weir_shape *shape)
{
    for (uint32_t c = 0; c < grades->class_count; c++) {
        if (memcmp(&grades->classes[c].shape, shape, sizeof *shape) == 0)
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
    *added = (struct grade_class){ .shape = *shape };
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

/* Counts a kept grade, or takes it off (-1). */
static void count_grade(struct grade_class *class, const struct weir_kept_grade *kept,
                        int32_t change)
{
    if (isinf(kept->value))
        class->counts.rejected[kept->gpu] += (uint32_t)change;
    else
        class->counts.candidates += (uint32_t)change;
}

static void grade_again(struct weir_kept_grade *kept, const struct weir_grader *grader,
                        const struct weir_grade_site *site)
{
    const uint32_t reason = weir_candidates_reason(site->cluster, site->shape, site->node);

    if (reason != WEIR_REASON_NONE) {
        kept->value = -(double)INFINITY;
        kept->gpu = (uint16_t)reason;
        return;
    }
    const struct weir_grade grade = weir_grader_ask(grader, site);
    kept->value = grade.value;
    kept->tie = grade.tie;
    kept->gpu = (uint16_t)grade.gpu; /* below WEIR_MAX_NODE_GPUS, or of no meaning */
    kept->mig = (uint16_t)grade.mig;
}

/* Nodes `from` .. `to` - 1. */
struct node_range {
    uint32_t from, to;
};

/* Grades again what changed. */
static void update_nodes(const struct weir_grades *grades, struct grade_class *class,
                         const struct weir_grader *grader, const struct weir_place_query *query,
                         struct node_range range)
{
    struct weir_grade_site site = { .cluster = query->cluster,
                                    .shape = &class->shape,
                                    .mix = query->mix };

    for (uint32_t n = range.from; n < range.to; n++) {
        struct weir_kept_grade *const kept = &class->kept[n];
        if (kept->epoch == grades->epochs[n])
            continue;
        site.node = n;
        if (kept->epoch != 0)
            count_grade(class, kept, -1);
        grade_again(kept, grader, &site);
        count_grade(class, kept, 1);
        kept->epoch = grades->epochs[n];
    }
}

/* The class of a question, after following what changed; NULL = out of memory. */
static struct grade_class *follow(struct weir_grades *grades, const struct weir_grader *grader,
                                  const struct weir_place_query *query)
{
    struct weir_shape shape = *query->shape;

    if (!grader->uses_ram)
        shape.ram_bytes = 0;
    if (follow_nodes(grades, query->cluster) != WEIR_OK)
        return NULL;
    if ((grader->uses_mix || grader->tie == WEIR_TIE_LEAST_FRAG) &&
        follow_mix(grades, query->mix) != WEIR_OK)
        return NULL;
    return class_of(grades, &shape);
}

const struct weir_kept_grade *weir_grades_all(struct weir_grades *grades,
                                              const struct weir_grader *grader,
                                              const struct weir_place_query *query)
{
    struct grade_class *const class = follow(grades, grader, query);

    if (class == NULL)
        return NULL;
    update_nodes(grades, class, grader, query, (struct node_range){ 0, grades->node_count });
    return class->kept;
}

/* ---- blocks ---- */

/* A block of a class, where a question is asked. */
struct block_site {
    const struct weir_grades *grades;
    struct grade_class *class;
    const struct weir_grader *grader;
    const struct weir_place_query *query;
    uint32_t level, place; /* on its level */
};

static uint32_t block_of(const struct block_site *site)
{
    return site->grades->level_first[site->level] + site->place;
}

/* The first part of a block above the lowest level; *count: how many it has. */
static struct block_site parts_of(const struct block_site *site, uint32_t *count)
{
    const uint32_t *const first = &site->grades->level_first[site->level - 1];
    struct block_site part = *site;

    part.level--;
    part.place = site->place * BLOCK_PARTS;
    *count = first[1] - first[0] - part.place;
    if (*count > BLOCK_PARTS)
        *count = BLOCK_PARTS;
    return part;
}

/* The nodes of a block of the lowest level. */
static struct node_range range_of(const struct block_site *site)
{
    const uint32_t from = site->place * BLOCK_NODES;
    const uint32_t to = from + BLOCK_NODES;

    return (struct node_range){ from,
                                to < site->grades->node_count ? to : site->grades->node_count };
}

static void weigh_nodes(const struct block_site *site, struct weir_grade_search *search,
                        int64_t ram_bytes)
{
    const struct weir_node *const nodes = search->query->cluster->nodes;
    const struct node_range range = range_of(site);

    for (uint32_t n = range.from; n < range.to; n++) {
        const struct weir_kept_grade *const kept = &site->class->kept[n];
        if (isinf(kept->value))
            continue;
        if (nodes[n].ram_free_bytes < ram_bytes)
            weir_grade_search_lack_ram(search);
        else
            weir_grade_search_meet(
                search, n,
                (struct weir_grade){
                    .value = kept->value, .tie = kept->tie, .gpu = kept->gpu, .mig = kept->mig });
    }
}

static int64_t least_ram(const struct block_site *site, struct node_range range)
{
    int64_t least = INT64_MAX;

    for (uint32_t n = range.from; n < range.to; n++)
        if (!isinf(site->class->kept[n].value) &&
            site->query->cluster->nodes[n].ram_free_bytes < least)
            least = site->query->cluster->nodes[n].ram_free_bytes;
    return least;
}

static bool is_kept(const struct block_site *site)
{
    return site->class->blocks[block_of(site)].epoch == site->grades->block_epochs[block_of(site)];
}

static void compare_nodes(const struct block_site *site, struct weir_grade_search *search)
{
    update_nodes(site->grades, site->class, site->grader, site->query, range_of(site));
    weigh_nodes(site, search, INT64_MIN);
    site->class->blocks[block_of(site)].ram_least = least_ram(site, range_of(site));
}

static void compare_parts(const struct block_site *site, struct weir_grade_search *search)
{
    uint32_t count = 0;
    const struct block_site part = parts_of(site, &count);
    const struct grade_block *const parts = &site->class->blocks[block_of(&part)];
    int64_t least = INT64_MAX;

    for (uint32_t i = 0; i < count; i++) {
        weir_grade_search_join(search, &parts[i].tally);
        if (parts[i].ram_least < least)
            least = parts[i].ram_least;
    }
    site->class->blocks[block_of(site)].ram_least = least;
}

/* Brings the outcome of a block up to date; it holds for any question that asks for no more memory
 * than `ram_least`. What did not change is not looked at. `search` is for comparing. */
static void keep_block(const struct block_site *site, struct weir_grade_search *search)
{
    struct grade_block *const block = &site->class->blocks[block_of(site)];
    uint32_t count = 0;

    if (site->level > 0) {
        struct block_site part = parts_of(site, &count);
        for (; count > 0; count--, part.place++)
            if (!is_kept(&part))
                keep_block(&part, search);
    }
    weir_grade_search_restart(search);
    if (site->level == 0)
        compare_nodes(site, search);
    else
        compare_parts(site, search);
    block->tally = search->tally;
    block->epoch = site->grades->block_epochs[block_of(site)];
}

/* Lets a block that is up to date take part. A random tie looks at every node that takes part in
 * it. */
static void join_block(const struct block_site *site, struct weir_grade_search *search)
{
    const struct grade_block *const block = &site->class->blocks[block_of(site)];
    const int64_t ram_bytes = site->query->shape->ram_bytes;
    uint32_t count = 0;

    if (site->grader->tie != WEIR_TIE_RANDOM && ram_bytes <= block->ram_least) {
        weir_grade_search_join(search, &block->tally);
    } else if (site->level == 0) {
        weigh_nodes(site, search, ram_bytes);
    } else {
        struct block_site part = parts_of(site, &count);
        for (; count > 0; count--, part.place++)
            join_block(&part, search);
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
    const struct block_site all = { .grades = grades,
                                    .class = class,
                                    .grader = grader,
                                    .query = query,
                                    .level = grades->level_count - 1 };
    if (!is_kept(&all))
        keep_block(&all, &search);
    weir_grade_search_restart(&search);
    search.counts = class->counts;
    join_block(&all, &search);
    return weir_grade_search_end(&search, answer, error);
}
