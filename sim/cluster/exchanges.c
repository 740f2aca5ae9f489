/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Exchanges that meet; see the header. */
#include "sim/cluster/exchanges.h"

#include "sim/engine/slab.h"

#include <math.h>
#include <stdlib.h>

/* A job on a node; links are slots + 1. */
struct entry {
    uint32_t slot;
    uint32_t node;
    uint32_t next_of_job, next_on_node;
    const uint32_t *chain; /* whose it is */
    struct sim_exchanging job;
};

struct sim_exchanges {
    struct sim_slab entries;
    uint32_t *on_node;
};

weir_status sim_exchanges_open(struct sim_cluster *cluster)
{
    if (cluster->scenario->exchange == SIM_EXCHANGE_ALONE)
        return WEIR_OK;
    cluster->exchanges = calloc(1, sizeof(*cluster->exchanges));
    if (cluster->exchanges == NULL)
        return WEIR_ENOMEM;
    cluster->exchanges->entries.size = sizeof(struct entry);
    cluster->exchanges->on_node = calloc((size_t)cluster->node_count + 1, sizeof(uint32_t));
    return cluster->exchanges->on_node == NULL ? WEIR_ENOMEM : WEIR_OK;
}

void sim_exchanges_close(struct sim_cluster *cluster)
{
    if (cluster->exchanges == NULL)
        return;
    sim_slab_clear(&cluster->exchanges->entries);
    free(cluster->exchanges->on_node);
    free(cluster->exchanges);
}

static struct entry *entry_at(const struct sim_exchanges *exchanges, uint32_t link)
{
    return sim_slab_at(&exchanges->entries, link - 1);
}

weir_status sim_exchanges_enter(struct sim_cluster *cluster, uint32_t node,
                                const struct sim_exchanging *job, uint32_t *chain)
{
    struct sim_exchanges *exchanges = cluster->exchanges;
    void *record = NULL;
    const uint32_t first = exchanges->on_node[node];
    if (first != 0 && entry_at(exchanges, first)->chain == chain)
        return WEIR_OK; /* nobody came between: if it is there it is the first */
    WEIR_TRY(sim_slab_take(&exchanges->entries, &record));
    struct entry *entry = record;
    entry->node = node;
    entry->chain = chain;
    entry->job = *job;
    entry->next_of_job = *chain;
    entry->next_on_node = first;
    *chain = exchanges->on_node[node] = entry->slot + 1;
    return WEIR_OK;
}

bool sim_exchanges_leave(struct sim_cluster *cluster, uint32_t *chain, uint32_t *node)
{
    struct sim_exchanges *exchanges = cluster->exchanges;
    if (*chain == 0)
        return false;
    struct entry *entry = entry_at(exchanges, *chain);
    uint32_t *link = &exchanges->on_node[entry->node];
    while (*link != *chain)
        link = &entry_at(exchanges, *link)->next_on_node;
    *link = entry->next_on_node;
    *node = entry->node;
    *chain = entry->next_of_job;
    sim_slab_give(&exchanges->entries, entry);
    return true;
}

static bool are_as_long(const struct sim_exchanging *a, const struct sim_exchanging *b)
{
    return fabs(a->step_s - b->step_s) <= 0.01 * fmax(a->step_s, b->step_s);
}

/* On one node. */
static double takes_s(const struct sim_exchanges *exchanges, const struct entry *own,
                      bool is_aligned)
{
    const struct sim_exchanging *job = &own->job;
    double side_by_side = 0;
    double clash = 0;
    for (uint32_t link = exchanges->on_node[own->node]; link != 0;) {
        const struct entry *entry = entry_at(exchanges, link);
        if (is_aligned && are_as_long(job, &entry->job))
            side_by_side += entry->job.exchange_s;
        else
            clash += fmin(job->exchange_s, entry->job.exchange_s);
        link = entry->next_on_node;
    }
    return is_aligned ? clash + job->exchange_s + fmax(0, side_by_side - job->step_s) : clash;
}

double sim_exchanges_s(const struct sim_cluster *cluster, uint32_t chain)
{
    const struct sim_exchanges *exchanges = cluster->exchanges;
    const bool is_aligned = cluster->scenario->exchange == SIM_EXCHANGE_ALIGNED;
    double most = 0;
    while (chain != 0) {
        const struct entry *own = entry_at(exchanges, chain);
        most = fmax(most, takes_s(exchanges, own, is_aligned));
        chain = own->next_of_job;
    }
    return most;
}
