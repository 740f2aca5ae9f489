/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Links as resources; see the header. */
#include "sim/cluster/link.h"

#include "sim/engine/room.h"
#include "sim/engine/time.h"
#include "sim/record/meter/meter_physics.h"
#include "sim/record/record.h"

#include <assert.h>
#include <stdio.h>
#include <stdlib.h>

/* What the engine may forgive when a transfer ends or its weight changes: 2^20 quanta a unit of
 * weight, a 250th of a byte. It rounds what a flow takes of a link up, by less than a quantum
 * a ns. */
enum { WEIGHT_BITS = 18, WHOLE_WEIGHT = 1 << WEIGHT_BITS, REST_BITS = 20 + WEIGHT_BITS };

struct sim_link {
    uint32_t resource; /* WEIR_NO_INDEX = not modelled */
    uint64_t qpns;
    bool is_out;
    double slower; /* times, from 1 on; INFINITY = out */
    sim_quanta begun,
        over; /* work of transfers: with which they began, that they brought through */
};

/* Those under way of one class of a store. */
struct class_flows {
    sim_handle *items;
    uint32_t count, capacity;
};

/* All links in one list: interfaces out and in by node, uplinks out and in by rack, stores. */
struct sim_links {
    uint32_t nodes, racks, stores;
    uint32_t class_count;        /* of all stores */
    struct class_flows *classes; /* by store, then class */
    uint64_t settled;            /* ends of transfers, and changes of their weights */
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
    *link = (struct sim_link){ .resource = WEIR_NO_INDEX, .slower = 1.0 };
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
    for (uint32_t s = 0; s < size.stores; s++)
        cluster->links->class_count += (uint32_t)scenario->stores[s].traffic_count;
    cluster->links->classes =
        calloc((size_t)cluster->links->class_count + 1, sizeof(*cluster->links->classes));
    if (cluster->links->classes == NULL)
        return WEIR_ENOMEM;
    for (uint32_t i = 0; i < link_count(&size); i++)
        WEIR_TRY(add(cluster, &cluster->links->items[i], bandwidth_of(cluster, i)));
    return WEIR_OK;
}

void sim_links_close(struct sim_cluster *cluster)
{
    struct sim_links *links = cluster->links;
    for (uint32_t c = 0; links != NULL && links->classes != NULL && c < links->class_count; c++)
        free(links->classes[c].items);
    if (links != NULL)
        free(links->classes);
    free(links);
    cluster->links = NULL;
}

/* ---- failures ---- */

/* Never above what it has: rounded down. */
static uint64_t capacity_of(const struct sim_link *link)
{
    if (link->is_out || isinf(link->slower))
        return 0;
    return link->slower > 1.0 ? (uint64_t)((double)(link->qpns >> 16) / link->slower) << 16
                              : link->qpns;
}

static weir_status set_capacity(struct sim_cluster *cluster, const struct sim_link *link)
{
    return link->resource == WEIR_NO_INDEX
               ? WEIR_OK
               : sim_resource_set_capacity(cluster->activities, link->resource, capacity_of(link));
}

static weir_status set_out(struct sim_cluster *cluster, uint32_t index, bool is_out)
{
    cluster->links->items[index].is_out = is_out;
    return set_capacity(cluster, &cluster->links->items[index]);
}

static weir_status set_slower(struct sim_cluster *cluster, uint32_t index, double times)
{
    cluster->links->items[index].slower = times;
    return set_capacity(cluster, &cluster->links->items[index]);
}

weir_status sim_links_slow_node(struct sim_cluster *cluster, uint32_t node, double times)
{
    WEIR_TRY(set_slower(cluster, nic_of(node, false), times));
    return set_slower(cluster, nic_of(node, true), times);
}

weir_status sim_links_slow_store(struct sim_cluster *cluster, uint32_t store, double times)
{
    return set_slower(cluster, store_of(cluster->links, store), times);
}

weir_status sim_links_set_node(struct sim_cluster *cluster, uint32_t node, bool is_out)
{
    WEIR_TRY(set_out(cluster, nic_of(node, false), is_out));
    return set_out(cluster, nic_of(node, true), is_out);
}

weir_status sim_links_set_store(struct sim_cluster *cluster, uint32_t store, bool is_out)
{
    return set_out(cluster, store_of(cluster->links, store), is_out);
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

/* No more than a window in the time of one round trip (Jacobson, SIGCOMM 1988). */
static uint64_t window_qpns(const struct sim_cluster *cluster, const struct sim_way *way)
{
    const struct sim_store *store =
        way->store == WEIR_NO_INDEX ? NULL : &cluster->scenario->stores[way->store];
    if (store == NULL || store->window_bytes == 0)
        return SIM_UNCAPPED;
    const double bytes_per_s = (double)store->window_bytes / sim_time_s(store->latency_ns);
    return bytes_per_s < 1e13 ? (uint64_t)llround(fmax(1, bytes_per_s)) << 16 : SIM_UNCAPPED;
}

struct sim_activity_spec sim_transfer_spec(const struct sim_cluster *cluster,
                                           const struct sim_way *way, double bytes)
{
    struct sim_activity_spec spec = { .work = sim_bytes_work(bytes),
                                      .cap_qpns = window_qpns(cluster, way),
                                      .weight =
                                          cluster->links->class_count == 0 ? 1 : WHOLE_WEIGHT };
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

/* ---- classes ---- */

/* Those of a store, by class; NULL where it has none. */
static struct class_flows *classes_of(const struct sim_cluster *cluster, const struct sim_way *way)
{
    const struct sim_store *stores = cluster->scenario->stores;
    size_t index = 0;
    if (way->store == WEIR_NO_INDEX || stores[way->store].traffic_count == 0)
        return NULL;
    for (uint32_t s = 0; s < way->store; s++)
        index += stores[s].traffic_count;
    return &cluster->links->classes[index];
}

/* What one of a class has of its guarantee. */
static double share_of(const struct sim_traffic *traffic, const struct class_flows *class)
{
    return class->count == 0 ? 0 : traffic->guarantee / class->count;
}

static weir_status weigh(struct sim_cluster *cluster, const struct sim_way *way,
                         const struct sim_traffic *traffic, const struct class_flows *class,
                         double largest)
{
    const double part = largest > 0 ? share_of(traffic, class) / largest : 1;
    const uint32_t weight = (uint32_t)fmax(1, round(WHOLE_WEIGHT * part));
    const uint64_t limit_qpns = (uint64_t)llround(traffic->limit_per_s) << 16;
    const uint64_t own_qpns = window_qpns(cluster, way);
    uint64_t cap_qpns = limit_qpns == 0 || class->count == 0 ? own_qpns : limit_qpns / class->count;
    if (cap_qpns > own_qpns)
        cap_qpns = own_qpns;
    for (uint32_t i = 0; i < class->count; i++) {
        const weir_status status =
            sim_activity_set(cluster->activities, class->items[i], weight, cap_qpns);
        if (status != WEIR_OK && status != WEIR_ENOTFOUND) /* it ended at this instant, too */
            return status;
        cluster->links->settled++;
    }
    return WEIR_OK;
}

/* All of a class weigh its guarantee together, and have its limit together. Who has most of all
 * weighs WHOLE_WEIGHT, so that many who have little are not rounded. */
static weir_status weigh_all(struct sim_cluster *cluster, const struct sim_way *way,
                             const struct class_flows *classes)
{
    const struct sim_store *store = &cluster->scenario->stores[way->store];
    double largest = 0;
    for (size_t c = 0; c < store->traffic_count; c++)
        largest = fmax(largest, share_of(&store->traffic[c], &classes[c]));
    for (size_t c = 0; c < store->traffic_count; c++)
        WEIR_TRY(weigh(cluster, way, &store->traffic[c], &classes[c], largest));
    return WEIR_OK;
}

static weir_status join(struct sim_cluster *cluster, const struct sim_way *way, sim_handle work)
{
    struct class_flows *classes = classes_of(cluster, way);
    if (classes == NULL)
        return WEIR_OK;
    struct class_flows *class = &classes[way->traffic];
    SIM_ROOM(class->items, class->capacity, class->count + 1);
    class->items[class->count++] = work;
    return weigh_all(cluster, way, classes);
}

static weir_status leave(struct sim_cluster *cluster, const struct sim_way *way, sim_handle work)
{
    struct class_flows *classes = classes_of(cluster, way);
    uint32_t at = 0;
    if (classes == NULL)
        return WEIR_OK;
    struct class_flows *class = &classes[way->traffic];
    while (at < class->count && class->items[at] != work)
        at++;
    assert(at < class->count);
    class->items[at] = class->items[--class->count];
    return weigh_all(cluster, way, classes);
}

/* ---- books ---- */

weir_status sim_links_begun(struct sim_cluster *cluster, const struct sim_way *way, double bytes,
                            sim_handle work)
{
    uint32_t found[SIM_WAY_LINKS];
    for (uint32_t i = sim_links_on(cluster, way, found); i-- > 0;)
        cluster->links->items[found[i]].begun += sim_bytes_work(bytes);
    return join(cluster, way, work);
}

weir_status sim_links_over(struct sim_cluster *cluster, const struct sim_way *way, double bytes,
                           sim_handle work, sim_quanta left)
{
    uint32_t found[SIM_WAY_LINKS];
    for (uint32_t i = sim_links_on(cluster, way, found); i-- > 0;) {
        struct sim_link *link = &cluster->links->items[found[i]];
        link->over += sim_bytes_work(bytes) - left;
        link->begun -= left;
    }
    cluster->links->settled++;
    return leave(cluster, way, work);
}

/* ---- results ---- */

static double use_of(const struct sim_cluster *cluster, uint32_t index, int64_t now_ns)
{
    const struct sim_link *link = &cluster->links->items[index];
    const double most = (double)link->qpns * (double)now_ns;
    return link->resource == WEIR_NO_INDEX || now_ns == 0
               ? (double)NAN
               : (double)sim_resource_delivered(cluster->activities, link->resource) / most;
}

static void put(struct sim_results *out, const char *metric, const char *label, double value)
{
    const struct sim_result_row row = {
        .metric = metric, .label = label, .unit = "ratio", .value = value
    };
    if (!isnan(value))
        sim_results_add(out, &row);
}

enum { LINK_NAME = 144 };

/* Its kind, and its name: that of its node or rack and the direction, or that of the store. */
static const char *name_of(const struct sim_cluster *cluster, uint32_t index, char name[LINK_NAME])
{
    static const char *const kinds[] = { "nic out", "nic in", "uplink out", "uplink in" };
    const struct sim_links *links = cluster->links;
    const char *way = index % 2 == 0 ? "out" : "in";
    char node[LINK_NAME - 8];
    if (index >= store_of(links, 0)) {
        const uint32_t store = index - store_of(links, 0);
        (void)snprintf(name, LINK_NAME, "%s", cluster->scenario->stores[store].name);
        return "store";
    }
    if (index >= 2 * links->nodes) {
        (void)snprintf(name, LINK_NAME, "rack %u %s", (index - 2 * links->nodes) / 2, way);
        return kinds[2 + index % 2];
    }
    sim_scenario_node_name(cluster->scenario, index / 2, node, sizeof node);
    (void)snprintf(name, LINK_NAME, "%s %s", node, way);
    return kinds[index % 2];
}

void sim_links_results(const struct sim_cluster *cluster, int64_t now_ns, struct sim_results *out)
{
    const struct sim_links *links = cluster->links;
    double sum = 0;
    double most = (double)NAN;
    uint32_t count = 0;
    for (uint32_t s = 0; s < links->stores; s++)
        put(out, "store.use", cluster->scenario->stores[s].name,
            use_of(cluster, store_of(links, s), now_ns));
    for (uint32_t i = 0; i < link_count(links); i++) {
        const double use = use_of(cluster, i, now_ns);
        char name[LINK_NAME];
        if (!(use > 0))
            continue;
        (void)name_of(cluster, i, name);
        put(out, "link.use", name, use);
    }
    for (uint32_t i = 0; i < 2 * links->nodes; i++) {
        const double use = use_of(cluster, i, now_ns);
        if (isnan(use))
            continue;
        sum += use;
        most = fmax(most, use);
        count++;
    }
    put(out, "nic.use.mean", "", count == 0 ? (double)NAN : sum / count);
    put(out, "nic.use.max", "", most);
}

/* ---- over time ---- */

uint32_t sim_links_count(const struct sim_cluster *cluster)
{
    return link_count(cluster->links);
}

void sim_links_meter(const struct sim_cluster *cluster, struct sim_meter *meter, int64_t now_ns)
{
    const struct sim_links *links = cluster->links;
    for (uint32_t i = 0; i < link_count(links); i++) {
        const struct sim_link *link = &links->items[i];
        if (link->resource == WEIR_NO_INDEX)
            continue;
        const sim_quanta given = sim_resource_delivered(cluster->activities, link->resource);
        sim_meter_link(meter, now_ns, i, ldexp((double)given, -16) / 1e9,
                       ldexp((double)capacity_of(link), -16));
    }
}

weir_status sim_links_record(const struct sim_cluster *cluster, struct sim_recorder *recorder,
                             struct weir_error *error)
{
    const struct sim_links *links = cluster->links;
    for (uint32_t i = 0; i < link_count(links); i++) {
        char name[LINK_NAME];
        if (links->items[i].resource == WEIR_NO_INDEX)
            continue;
        const char *kind = name_of(cluster, i, name);
        const struct sim_link_row row = { .link = i,
                                          .node = i < 2 * links->nodes ? i / 2 : WEIR_NO_INDEX,
                                          .name = name,
                                          .kind = kind,
                                          .bytes_per_s = ldexp((double)links->items[i].qpns, -16) };
        WEIR_TRY(sim_recorder_link(recorder, &row, error));
    }
    return WEIR_OK;
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
        const sim_quanta rest = (sim_quanta)links->settled << REST_BITS;
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
