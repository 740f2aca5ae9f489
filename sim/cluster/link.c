/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Links as resources; see the header. */
#include "sim/cluster/link.h"

#include "sim/engine/time.h"

#include <stdlib.h>

/* What the engine may forgive at an end: 2^20 quanta a unit of weight, here less than 2^22 units;
 * a fifteenth of a byte. It rounds what a flow takes of a link up, by less than a quantum a ns. */
enum { REST_BITS = 42 };

struct sim_link {
    uint32_t resource; /* WEIR_NO_INDEX = not modelled */
    uint64_t qpns;
    sim_quanta begun,
        over; /* work of transfers: with which they began, that they brought through */
    uint64_t ended;
};

/* All links in one list: interfaces out and in by node, uplinks out and in by rack, stores. */
struct sim_links {
    uint32_t nodes, racks, stores;
    struct sim_link items[];
};

static uint32_t link_count(const struct sim_links *links)
{
    return 2 * links->nodes + 2 * links->racks + links->stores;
}

static uint32_t nic_of(uint32_t node, bool is_in)
{
    return 2 * node + is_in;
}

static uint32_t uplink_of(const struct sim_cluster *cluster, uint32_t node, bool is_in)
{
    return 2 * cluster->links->nodes + 2 * (node / cluster->scenario->racks.nodes) + is_in;
}

static uint32_t store_of(const struct sim_links *links, uint32_t store)
{
    return 2 * links->nodes + 2 * links->racks + store;
}

/* ---- opening ---- */

static weir_status add(struct sim_cluster *cluster, struct sim_link *link, double bytes_per_s)
{
    *link = (struct sim_link){ .resource = WEIR_NO_INDEX };
    if (!(bytes_per_s > 0))
        return WEIR_OK;
    link->qpns = (uint64_t)llround(bytes_per_s) << 16;
    return sim_resource_add(cluster->activities, SIM_SHARE_WEIGHTS, link->qpns, &link->resource);
}

static double bandwidth_of(const struct sim_cluster *cluster, uint32_t index)
{
    const struct sim_scenario *scenario = cluster->scenario;
    const struct sim_links *links = cluster->links;
    if (index < 2 * links->nodes)
        return sim_scenario_node_type(scenario, index / 2)->nic_per_s;
    index -= 2 * links->nodes;
    return index < 2 * links->racks ? scenario->racks.uplink_per_s
                                    : scenario->stores[index - 2 * links->racks].bytes_per_s;
}

weir_status sim_links_open(struct sim_cluster *cluster, struct sim_activities *activities)
{
    const struct sim_scenario *scenario = cluster->scenario;
    const uint32_t per_rack = scenario->racks.nodes;
    const struct sim_links size = { .nodes = cluster->node_count,
                                    .racks = per_rack == 0
                                                 ? 0
                                                 : (cluster->node_count + per_rack - 1) / per_rack,
                                    .stores = (uint32_t)scenario->stores_count };
    cluster->activities = activities;
    cluster->links = calloc(1, sizeof(size) + link_count(&size) * sizeof(size.items[0]));
    if (cluster->links == NULL)
        return WEIR_ENOMEM;
    cluster->links->nodes = size.nodes;
    cluster->links->racks = size.racks;
    cluster->links->stores = size.stores;
    for (uint32_t i = 0; i < link_count(&size); i++)
        WEIR_TRY(add(cluster, &cluster->links->items[i], bandwidth_of(cluster, i)));
    return WEIR_OK;
}

void sim_links_close(struct sim_cluster *cluster)
{
    free(cluster->links);
    cluster->links = NULL;
}

/* ---- ways ---- */

static bool crosses_racks(const struct sim_cluster *cluster, const struct sim_way *way)
{
    const uint32_t per_rack = cluster->scenario->racks.nodes;
    return cluster->links->racks > 0 && (way->from == WEIR_NO_INDEX || way->to == WEIR_NO_INDEX ||
                                         way->from / per_rack != way->to / per_rack);
}

static void note(const struct sim_links *links, uint32_t index, uint32_t found[SIM_WAY_LINKS],
                 uint32_t *count)
{
    if (links->items[index].resource != WEIR_NO_INDEX)
        found[(*count)++] = index;
}

uint32_t sim_links_on(const struct sim_cluster *cluster, const struct sim_way *way,
                      uint32_t found[SIM_WAY_LINKS])
{
    const struct sim_links *links = cluster->links;
    uint32_t count = 0;
    if (way->from == way->to)
        return 0;
    if (way->store != WEIR_NO_INDEX)
        note(links, store_of(links, way->store), found, &count);
    if (way->from != WEIR_NO_INDEX)
        note(links, nic_of(way->from, false), found, &count);
    if (way->to != WEIR_NO_INDEX)
        note(links, nic_of(way->to, true), found, &count);
    if (!crosses_racks(cluster, way))
        return count;
    if (way->from != WEIR_NO_INDEX)
        note(links, uplink_of(cluster, way->from, false), found, &count);
    if (way->to != WEIR_NO_INDEX)
        note(links, uplink_of(cluster, way->to, true), found, &count);
    return count;
}

bool sim_way_is_modelled(const struct sim_cluster *cluster, const struct sim_way *way)
{
    uint32_t found[SIM_WAY_LINKS];
    return sim_links_on(cluster, way, found) > 0;
}

struct sim_activity_spec sim_transfer_spec(const struct sim_cluster *cluster,
                                           const struct sim_way *way, double bytes)
{
    struct sim_activity_spec spec = { .work = sim_bytes_work(bytes),
                                      .cap_qpns = SIM_UNCAPPED,
                                      .weight = 1 };
    uint32_t found[SIM_WAY_LINKS];
    spec.resources = (uint8_t)sim_links_on(cluster, way, found);
    for (uint32_t i = 0; i < spec.resources; i++)
        spec.resource[i] = cluster->links->items[found[i]].resource;
    return spec;
}

int64_t sim_way_delay_ns(const struct sim_cluster *cluster, const struct sim_way *way,
                         uint64_t items)
{
    if (way->store == WEIR_NO_INDEX)
        return 0;
    const struct sim_store *store = &cluster->scenario->stores[way->store];
    return sim_time_from_s(sim_time_s(store->latency_ns) +
                           (double)items * sim_time_s(store->per_item_ns));
}

/* ---- books ---- */

void sim_links_begun(struct sim_cluster *cluster, const struct sim_way *way, double bytes)
{
    uint32_t found[SIM_WAY_LINKS];
    for (uint32_t i = sim_links_on(cluster, way, found); i-- > 0;)
        cluster->links->items[found[i]].begun += sim_bytes_work(bytes);
}

void sim_links_over(struct sim_cluster *cluster, const struct sim_way *way, double bytes,
                    sim_quanta left)
{
    uint32_t found[SIM_WAY_LINKS];
    for (uint32_t i = sim_links_on(cluster, way, found); i-- > 0;) {
        struct sim_link *link = &cluster->links->items[found[i]];
        link->over += sim_bytes_work(bytes) - left;
        link->begun -= left;
        link->ended++;
    }
}

weir_status sim_links_check(const struct sim_cluster *cluster, int64_t now_ns,
                            struct weir_error *error)
{
    const struct sim_links *links = cluster->links;
    for (uint32_t i = 0; links != NULL && i < link_count(links); i++) {
        const struct sim_link *link = &links->items[i];
        if (link->resource == WEIR_NO_INDEX)
            continue;
        const sim_quanta given = sim_resource_delivered(cluster->activities, link->resource);
        const sim_quanta rest = (sim_quanta)link->ended << REST_BITS;
        if (given > (sim_quanta)(uint64_t)now_ns * link->qpns ||
            given > link->begun + rest + ((sim_quanta)(uint64_t)now_ns << 8) ||
            given + rest < link->over)
            return weir_fail(error, WEIR_EINVARIANT,
                             "link %u gave %.0f bytes of %.0f that began and %.0f that arrived", i,
                             ldexp((double)given, -16) / 1e9, ldexp((double)link->begun, -16) / 1e9,
                             ldexp((double)link->over, -16) / 1e9);
    }
    return WEIR_OK;
}
