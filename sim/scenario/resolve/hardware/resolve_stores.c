/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Resolving what bytes move over: stores, racks, and the way of a pipeline's items from stage to
 * stage.
 */
#include "sim/scenario/resolve/resolve.h"

#include <math.h>
#include <string.h>

/* The first is for what has no class: it has what they leave. */
static void resolve_traffic(struct sim_resolver *resolver, const struct draft_store *draft,
                            struct sim_store *store)
{
    const struct draft_traffic *drafts = draft->traffic.items;
    double left = 1;
    if (draft->traffic.count == 0)
        return;
    store->traffic_count = draft->traffic.count + 1;
    store->traffic = sim_arena_alloc(resolver->arena, store->traffic_count, sizeof *store->traffic);
    for (size_t i = 0; i < draft->traffic.count; i++) {
        struct sim_traffic *class = &store->traffic[i + 1];
        *class = drafts[i].to;
        class->name = drafts[i].head.name;
        class->guarantee = isnan(class->guarantee) ? 0 : class->guarantee;
        class->limit_per_s = isnan(class->limit_per_s) ? 0 : class->limit_per_s;
        left -= class->guarantee;
    }
    if (left < -1e-9)
        sim_report_error(resolver->report, sim_draft_at(&draft->head, "traffic"),
                         "guarantees of %g %% are more than there is", 100 * (1 - left));
    store->traffic[0].guarantee = left;
}

static void resolve_window(struct sim_resolver *resolver, const struct draft_store *draft,
                           struct sim_store *store)
{
    if (store->window_bytes == SIM_ABSENT_BYTES)
        store->window_bytes = 0;
    if (store->window_bytes > 0 && store->latency_ns == 0)
        sim_report_error(resolver->report, sim_draft_at(&draft->head, "window"),
                         "a window acts by the latency of its store, and that is 0");
}

static void resolve_list(struct sim_resolver *resolver, const struct draft_list *list)
{
    const struct draft_store *drafts = list->items;
    struct sim_store *stores = sim_arena_alloc(resolver->arena, list->count + 1, sizeof *stores);
    for (size_t i = 0; i < list->count; i++) {
        stores[i] = drafts[i].to;
        stores[i].name = drafts[i].head.name;
        if (stores[i].latency_ns == SIM_ABSENT_TIME)
            stores[i].latency_ns = 0;
        if (stores[i].per_item_ns == SIM_ABSENT_TIME)
            stores[i].per_item_ns = 0;
        resolve_window(resolver, &drafts[i], &stores[i]);
        if (isnan(stores[i].bytes_per_s))
            stores[i].bytes_per_s = 1; /* was not understood */
        resolve_traffic(resolver, &drafts[i], &stores[i]);
    }
    resolver->scenario->stores = stores;
    resolver->scenario->stores_count = list->count;
}

void sim_resolve_stores(struct sim_resolver *resolver)
{
    const struct draft_cluster *cluster = &resolver->draft->cluster;
    struct sim_scenario *scenario = resolver->scenario;
    resolve_list(resolver, &cluster->stores);
    if (cluster->racks.head.node != NULL && cluster->racks.to.nodes != SIM_ABSENT_COUNT)
        scenario->racks = cluster->racks.to;
    if (isnan(scenario->racks.uplink_per_s))
        scenario->racks.uplink_per_s = 0;
    scenario->exchange = cluster->exchange > SIM_EXCHANGE_CLASHING
                             ? SIM_EXCHANGE_ALONE /* not said */
                             : cluster->exchange;
}

uint32_t sim_resolve_store(struct sim_resolver *resolver, const struct sim_yaml *at,
                           const char *name)
{
    const struct sim_scenario *scenario = resolver->scenario;
    const char **names =
        sim_arena_alloc(resolver->arena, scenario->stores_count + 1, sizeof *names);
    for (uint32_t i = 0; i < scenario->stores_count; i++) {
        names[i] = scenario->stores[i].name;
        if (strcmp(names[i], name) == 0)
            return i;
    }
    sim_report_near(resolver->report, at, SIM_AT_VALUE,
                    sim_near_name(name, names, scenario->stores_count),
                    "there is no store '%s' in cluster.stores", name);
    return WEIR_NO_INDEX;
}

uint32_t sim_resolve_traffic(struct sim_resolver *resolver, const struct draft_head *head,
                             const char *name, uint32_t index)
{
    const struct sim_store *store =
        index == WEIR_NO_INDEX ? NULL : &resolver->scenario->stores[index];
    const size_t count = store == NULL ? 0 : store->traffic_count;
    const char **names = sim_arena_alloc(resolver->arena, count + 1, sizeof *names);
    if (name == NULL)
        return 0;
    for (uint32_t i = 1; i < count; i++) {
        names[i - 1] = store->traffic[i].name;
        if (strcmp(names[i - 1], name) == 0)
            return i;
    }
    sim_report_near(resolver->report, sim_draft_at(head, "traffic"), SIM_AT_VALUE,
                    sim_near_name(name, names, count > 0 ? count - 1 : 0),
                    "there is no traffic '%s' of its store", name);
    return 0;
}

void sim_resolve_transfers(struct sim_resolver *resolver, const struct draft_pipeline *draft,
                           struct sim_pipeline *pipeline)
{
    const char *way = draft->transfers;
    const bool has_ticks = pipeline->semantics == SIM_SEMANTICS_TICK;
    pipeline->transfer_store = WEIR_NO_INDEX;
    pipeline->input.store = WEIR_NO_INDEX;
    if (draft->input.store != NULL)
        pipeline->input.store = sim_resolve_store(
            resolver, sim_draft_at(&draft->input.head, "store"), draft->input.store);
    pipeline->transfers = has_ticks ? SIM_TRANSFERS_OFF : SIM_TRANSFERS_DIRECT;
    if (way != NULL && strcmp(way, "off") == 0) {
        pipeline->transfers = SIM_TRANSFERS_OFF;
    } else if (way != NULL && strcmp(way, "direct") != 0) {
        pipeline->transfers = SIM_TRANSFERS_STORE;
        pipeline->transfer_store =
            sim_resolve_store(resolver, sim_draft_at(&draft->head, "transfers"), way);
    }
    pipeline->traffic =
        sim_resolve_traffic(resolver, &draft->head, draft->traffic, pipeline->transfer_store);
    pipeline->input.traffic = sim_resolve_traffic(resolver, &draft->input.head,
                                                  draft->input.traffic, pipeline->input.store);
    if (has_ticks && way != NULL && strcmp(way, "off") != 0)
        sim_report_error(resolver->report, sim_draft_at(&draft->head, "transfers"),
                         "is not possible with semantics: tick");
    if (has_ticks && draft->input.store != NULL)
        sim_report_error(resolver->report, sim_draft_at(&draft->input.head, "store"),
                         "is not possible with semantics: tick");
    if (draft->input.store != NULL && pipeline->input.bytes == NULL)
        sim_report_error(resolver->report, sim_draft_at(&draft->input.head, "store"),
                         "has no meaning without bytes_per_item");
}

static void resolve_load(struct sim_resolver *resolver, const struct draft_load *draft,
                         bool is_kept, struct sim_load *load)
{
    *load = (struct sim_load){ .store = WEIR_NO_INDEX };
    if (draft->head.node == NULL)
        return;
    if (draft->bytes == SIM_ABSENT_BYTES || draft->store == NULL) {
        sim_report_error(resolver->report, draft->head.node, "needs bytes and a store");
        return;
    }
    load->store = sim_resolve_store(resolver, sim_draft_at(&draft->head, "store"), draft->store);
    load->traffic = sim_resolve_traffic(resolver, &draft->head, draft->traffic, load->store);
    load->bytes = draft->bytes;
    load->is_kept = draft->is_kept == SIM_ABSENT_COUNT ? is_kept : draft->is_kept == 1;
}

void sim_resolve_setup(struct sim_resolver *resolver, const struct draft_setup *draft,
                       struct sim_stage *stage)
{
    for (uint32_t i = 0; i < SIM_SETUP_LOADS; i++)
        resolve_load(resolver, &draft->loads[i], i != SIM_LOAD_WEIGHTS, &stage->loads[i]);
    stage->setup = draft->time;
    stage->compile = draft->compile;
    stage->warm_up = draft->warm_up;
}
