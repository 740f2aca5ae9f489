/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The policy "topology": the workers of a job in as few racks, and on as few nodes, as there is
 * room for; on a node near one another, as every policy has it (near.h).
 *
 * Each worker goes to a rack, and in it to a node, where its job is already. Else to the tightest
 * that holds all the job still wants; when none does to the one with most room: taken greedily like
 * this, a job with workers of one shape needs as few as it can. Who comes alone goes where least is
 * left, rack before node, so that empty racks stay whole for those that need them. Of equals the
 * first; racks that nobody told are one.
 *
 * How many workers of a shape a node has room for is its grade, which is kept until the node
 * changes; a question costs O(nodes).
 */
#include "sched/placement/parts/grade_search.h"
#include "sched/placement/parts/room.h"
#include "sched/placement/policies.h"

#include "sched/cluster/state.h"
#include "sched/internal/alloc.h"
#include "sched/internal/id_map.h"
#include "sched/internal/made.h"

#include <math.h>
#include <string.h>

/* Ranks are whole numbers below 2^32, so that two of them fit a double. */
static const double ROOM_MOST = 0x1p24;
static const double ELSEWHERE = 0x1p26;

struct rack {
    double room; /* workers */
    bool is_ours;
};

struct topology {
    struct weir_allocator allocator;
    struct weir_grades *grades;
    struct weir_id_map numbers; /* of racks, by their names */
    struct rack *racks;
    uint32_t rack_count, rack_capacity;
};

static struct weir_grade grade(const void *rules, const struct weir_grade_site *site)
{
    const double room = (double)weir_node_room(site->cluster, site->node, site->shape);

    (void)rules; /* there are none */
    return (struct weir_grade){ .value = fmin(room, ROOM_MOST),
                                .gpu = weir_grade_pick_gpu(site, WEIR_GRADE_TIGHTEST) };
}

static const struct weir_grader grader = { .grade = grade, .uses_ram = true };

static void destroy(void *state)
{
    struct topology *const topology = state;

    weir_grades_destroy(topology->grades);
    weir_id_map_free(&topology->allocator, &topology->numbers);
    weir_free(&topology->allocator, topology->racks);
    weir_made_destroy(state);
}

static const struct weir_made made = WEIR_MADE_BARE(struct topology);

static weir_status create(const struct weir_params *given, const struct weir_allocator *allocator,
                          void **state, struct weir_error *error)
{
    WEIR_TRY(weir_made_create(&made, given, allocator, state, error));
    struct topology *const own = *state;
    return weir_made_end(weir_grades_create(&own->allocator, &own->grades), destroy, state, error);
}

/* ---- racks ---- */

static bool is_ours(const struct weir_place_query *query, uint32_t node)
{
    const struct weir_cluster *const cluster = query->cluster;

    if (query->owner.kind != WEIR_OWNER_JOB)
        return false;
    for (uint32_t s = weir_first_peer(cluster, node, &query->owner); s != WEIR_NO_INDEX;
         s = cluster->slots[s].peer_next)
        if (weir_owner_is(&cluster->slots[s].owner, &query->owner))
            return true;
    return false;
}

/* The number of a node's rack; WEIR_NO_INDEX without memory. */
static uint32_t number_of(struct topology *topology, const struct weir_cluster *cluster,
                          uint32_t node)
{
    const uint32_t name = weir_topology_of(cluster, node)->rack;
    const uint32_t known = weir_id_map_get(&topology->numbers, name);

    if (known != WEIR_NO_INDEX)
        return known;
    struct rack *const racks =
        weir_grow(&topology->allocator, topology->racks, &topology->rack_capacity,
                  topology->rack_count + 1, sizeof *racks);
    if (racks == NULL)
        return WEIR_NO_INDEX;
    topology->racks = racks;
    if (weir_id_map_put(&topology->allocator, &topology->numbers, name, topology->rack_count) !=
        WEIR_OK)
        return WEIR_NO_INDEX;
    racks[topology->rack_count] = (struct rack){ .room = 0 };
    return topology->rack_count++;
}

static weir_status survey(struct topology *topology, const struct weir_place_query *query,
                          const struct weir_kept_grade *kept)
{
    topology->rack_count = 0;
    weir_id_map_clear(&topology->numbers);
    for (uint32_t n = 0; n < query->cluster->node_count; n++) {
        const uint32_t number = number_of(topology, query->cluster, n);
        if (number == WEIR_NO_INDEX)
            return WEIR_ENOMEM;
        struct rack *const rack = &topology->racks[number];
        rack->room = fmin(rack->room + (isinf(kept[n].value) ? 0 : kept[n].value), ROOM_MOST);
        rack->is_ours = rack->is_ours || is_ours(query, n);
    }
    return WEIR_OK;
}

/* ---- choosing ---- */

/* Smaller is better: the tightest that holds all that is coming, then the one with most room. */
static double rank_of(double room, double coming, bool is_ours)
{
    return (room >= coming ? room : 2 * ROOM_MOST - room) + (is_ours ? 0 : ELSEWHERE);
}

static struct weir_grade weigh(const struct topology *topology,
                               const struct weir_place_query *query,
                               const struct weir_kept_grade *kept, uint32_t node)
{
    const uint32_t name = weir_topology_of(query->cluster, node)->rack;
    const struct rack *const rack = &topology->racks[weir_id_map_get(&topology->numbers, name)];
    const double coming = query->together > 1 ? query->together : 1;
    const double here = fmin(coming, rack->room);

    return (struct weir_grade){ .value = -rank_of(rack->room, coming, rack->is_ours),
                                .tie = -rank_of(kept->value, here, is_ours(query, node)),
                                .gpu = kept->gpu };
}

static weir_status place(void *state, const struct weir_place_query *query,
                         struct weir_place_answer *answer, struct weir_error *error)
{
    struct topology *const topology = state;
    struct weir_grade_search search = weir_grade_search_begin(&grader, query);
    const struct weir_kept_grade *const all = weir_grades_all(topology->grades, &grader, query);

    if (all == NULL || survey(topology, query, all) != WEIR_OK)
        return weir_fail(error, WEIR_ENOMEM, "out of memory");
    for (uint32_t n = 0; n < query->cluster->node_count; n++) {
        if (isinf(all[n].value))
            weir_grade_search_reject(&search, all[n].gpu);
        else
            weir_grade_search_weigh(&search, n, weigh(topology, query, &all[n], n));
    }
    return weir_grade_search_end(&search, answer, error);
}

const struct weir_placement_ops weir_placement_topology = {
    .size = sizeof weir_placement_topology,
    .abi = WEIR_ABI_MAJOR,
    .name = "topology",
    .summary = "the workers of a job in the fewest racks, then on the fewest nodes",
    .flags = WEIR_PLACEMENT_WITHOUT_MIX,
    .create = create,
    .destroy = destroy,
    .place = place,
};
