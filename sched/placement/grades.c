/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Graded placement with kept grades; see grades.h.
 *
 * Every node has an epoch that grows when the node changes; a kept grade is valid while its epoch
 * is the node's. Changes come from the inventory's ring, or, when that does not reach back far
 * enough, from comparing every node's fingerprint.
 *
 * Nodes lie in about sqrt(nodes) blocks of as many; a class keeps the outcome of each block, valid
 * while nothing in it changed. So a question costs O(sqrt(nodes)) and one more block for every node
 * that changed, not O(nodes).
 */
#include "sched/placement/grade_search.h"

#include "sched/cluster/state.h"
#include "sched/internal/alloc.h"
#include "sched/internal/hash.h"
#include "sched/placement/candidates.h"

#include <math.h>
#include <string.h>

enum { CLASSES_MOST = 1024 }; /* beyond that everything is forgotten */

/* ---- kept grades ---- */

/* What came of comparing the nodes of one block. */
struct grade_block {
    uint32_t epoch;
    bool is_kept;
    int64_t ram_least; /* free on the node with the least of those that have room */
    struct weir_grade_tally tally;
};

/* The grades of one shape. */
struct grade_class {
    struct weir_shape shape;      /* without memory, unless grades depend on it */
    struct weir_kept_grade *kept; /* per node */
    struct grade_block *blocks;
};

struct weir_grades {
    struct weir_allocator allocator;
    struct weir_change_mark mark;
    uint32_t node_count, epoch;
    uint32_t block_size, block_count;
    uint32_t *epochs;       /* per node */
    uint32_t *block_epochs; /* the largest of its nodes */
    uint64_t *stamps;       /* per node: state and workers */
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
    grades->epochs[node] = ++grades->epoch;
    grades->block_epochs[node / grades->block_size] = grades->epoch;
    grades->stamps[node] = stamp_of(cluster, node);
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
    grades->epoch = 0;
    grades->block_size = (uint32_t)sqrt((double)nodes) + 1;
    grades->block_count = nodes / grades->block_size + 1;
    grades->epochs = weir_alloc(memory, nodes, sizeof *grades->epochs);
    grades->block_epochs = weir_alloc(memory, grades->block_count, sizeof *grades->block_epochs);
    grades->stamps = weir_alloc(memory, nodes, sizeof *grades->stamps);
    if (grades->epochs == NULL || grades->block_epochs == NULL || grades->stamps == NULL)
        return WEIR_ENOMEM;
    grades->node_count = nodes;
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
    added->shape = *shape;
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
static void update_nodes(struct weir_grades *grades, const struct grade_class *class,
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
        grade_again(kept, grader, &site);
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
    const struct grade_class *const class = follow(grades, grader, query);

    if (class == NULL)
        return NULL;
    update_nodes(grades, class, grader, query, (struct node_range){ 0, grades->node_count });
    return class->kept;
}

/* ---- blocks ---- */

static struct node_range range_of(const struct weir_grades *grades, uint32_t block)
{
    const uint32_t from = block * grades->block_size;
    const uint32_t to = from + grades->block_size;

    return (struct node_range){ from, to < grades->node_count ? to : grades->node_count };
}

static void weigh_nodes(const struct grade_class *class, struct weir_grade_search *search,
                        struct node_range range, int64_t ram_bytes)
{
    const struct weir_node *const nodes = search->query->cluster->nodes;

    for (uint32_t n = range.from; n < range.to; n++) {
        const struct weir_kept_grade *const kept = &class->kept[n];
        if (isinf(kept->value))
            weir_grade_search_reject(search, kept->gpu);
        else if (nodes[n].ram_free_bytes < ram_bytes)
            weir_grade_search_reject(search, WEIR_REASON_RAM);
        else
            weir_grade_search_weigh(
                search, n,
                (struct weir_grade){
                    .value = kept->value, .tie = kept->tie, .gpu = kept->gpu, .mig = kept->mig });
    }
}

static int64_t least_ram(const struct grade_class *class, const struct weir_place_query *query,
                         struct node_range range)
{
    int64_t least = INT64_MAX;

    for (uint32_t n = range.from; n < range.to; n++)
        if (!isinf(class->kept[n].value) && query->cluster->nodes[n].ram_free_bytes < least)
            least = query->cluster->nodes[n].ram_free_bytes;
    return least;
}

/* The outcome of a block for any question that asks for no more memory than `ram_least`. */
static void keep_block(struct weir_grades *grades, const struct grade_class *class, uint32_t b,
                       const struct weir_grader *grader, const struct weir_place_query *query)
{
    struct grade_block *const block = &class->blocks[b];
    const struct node_range range = range_of(grades, b);
    struct weir_grade_search search = weir_grade_search_begin(grader, query);

    update_nodes(grades, class, grader, query, range);
    weigh_nodes(class, &search, range, INT64_MIN);
    block->tally = search.tally;
    block->ram_least = least_ram(class, query, range);
    block->epoch = grades->block_epochs[b];
    block->is_kept = true;
}

weir_status weir_grades_place(struct weir_grades *grades, const struct weir_grader *grader,
                              const struct weir_place_query *query,
                              struct weir_place_answer *answer, struct weir_error *error)
{
    struct weir_grade_search search = weir_grade_search_begin(grader, query);
    const struct grade_class *const class = follow(grades, grader, query);

    if (class == NULL)
        return weir_fail(error, WEIR_ENOMEM, "out of memory");
    for (uint32_t b = 0; b < grades->block_count; b++) {
        const struct grade_block *const block = &class->blocks[b];
        if (!block->is_kept || block->epoch != grades->block_epochs[b])
            keep_block(grades, class, b, grader, query);
        /* A random tie looks at every node that takes part in it. */
        if (grader->tie != WEIR_TIE_RANDOM && query->shape->ram_bytes <= block->ram_least)
            weir_grade_search_join(&search, &block->tally);
        else
            weigh_nodes(class, &search, range_of(grades, b), query->shape->ram_bytes);
    }
    return weir_grade_search_end(&search, answer, error);
}
