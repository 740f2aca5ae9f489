/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Refused jobs asked again with one thing changed; see unallocated.h. */
#include "sim/lab/unallocated.h"

#include <stdio.h>
#include <stdlib.h>

#define GIB INT64_C(1073741824)

/* Amounts a change may be made of: powers of two up to these; enough for every job of a node. */
enum { MOST_CPUS = 64, MOST_GIB = 512, PLENTY_CPUS = 1024, PLENTY_GIB = 16384 };

/* Improvements smaller than this are residues of sums. */
static const double least_gpus = 1e-6;

struct asker {
    const struct sim_unallocated_question *question;
    uint32_t *nodes; /* those with free GPU that the question is about: others take no job */
    uint32_t node_count;
    struct weir_shape *refused; /* what none of them has room for, in one question */
    uint32_t refused_count;
    struct sim_free_room *room;
    struct sim_unallocated *answer;
};

/* What is changed for one question. */
struct trial {
    int64_t cpu_units, ram_bytes; /* more on each node */
    bool takes_any_model, splits_gangs, joins_parts;
};

/* A node with GPUs of the model, WEIR_NO_INDEX = of any. */
static bool is_of(const struct asker *asker, uint32_t model, uint32_t node)
{
    const struct sim_node *host = &asker->room->cluster->nodes[node];
    return host->gpu_count > 0 &&
           (model == WEIR_NO_INDEX || asker->room->cluster->gpus[host->gpu_first].type == model);
}

/* Only nodes of this model take jobs; how many there are. */
static uint32_t ask_about(struct asker *asker, uint32_t model)
{
    uint32_t count = 0;
    asker->node_count = 0;
    for (uint32_t i = 0; i < asker->room->open_count; i++)
        if (is_of(asker, model, asker->room->open[i]))
            asker->nodes[asker->node_count++] = asker->room->open[i];
    for (uint32_t n = 0; n < asker->room->cluster->node_count; n++)
        count += is_of(asker, model, n) ? 1 : 0;
    return count;
}

static void apply(struct asker *asker, const struct trial *trial)
{
    for (uint32_t i = 0; i < asker->node_count; i++) {
        const uint32_t n = asker->nodes[i];
        sim_free_room_reset(asker->room, n);
        asker->room->cpu_units[n] += trial->cpu_units;
        asker->room->ram_bytes[n] += trial->ram_bytes;
        if (trial->joins_parts)
            sim_free_room_join(asker->room, n);
    }
}

static struct weir_shape changed_shape(const struct trial *trial, const struct weir_shape *shape)
{
    struct weir_shape changed = *shape;
    if (trial->takes_any_model)
        changed.gpu_type = 0;
    if (trial->splits_gangs && shape->gpu_count > 1) {
        changed.gpu_count = 1;
        changed.cpu_units = shape->cpu_units / shape->gpu_count;
        changed.ram_bytes = shape->ram_bytes / shape->gpu_count;
    }
    return changed;
}

/* Room only shrinks: who asks for no less than somebody whom no node has room for gets none. */
static bool is_hopeless(const struct asker *asker, const struct weir_shape *shape)
{
    for (uint32_t i = 0; i < asker->refused_count; i++) {
        const struct weir_shape *less = &asker->refused[i];
        if (less->cpu_units <= shape->cpu_units && less->ram_bytes <= shape->ram_bytes &&
            less->gpu_units <= shape->gpu_units && less->gpu_count <= shape->gpu_count &&
            less->gpu_mem_bytes <= shape->gpu_mem_bytes &&
            (less->gpu_type == 0 || less->gpu_type == shape->gpu_type))
            return true;
    }
    return false;
}

/* GPUs that jobs of one kind get: room only shrinks, so a node that is full for it stays full. */
static double fill_kind(struct asker *asker, const struct trial *trial, uint32_t kind)
{
    const struct weir_shape *shape = &asker->question->kinds->shapes[kind];
    const struct weir_shape changed = changed_shape(trial, shape);
    const uint64_t parts = changed.gpu_count == 0 ? 1 : shape->gpu_count / changed.gpu_count;
    const uint64_t wanted = asker->question->refused[kind] * parts;
    uint64_t placed = 0;
    if (is_hopeless(asker, &changed))
        return 0;
    for (uint32_t i = 0; i < asker->node_count && placed < wanted; i++)
        while (placed < wanted && sim_free_room_take(asker->room, asker->nodes[i], &changed))
            placed++;
    if (placed < wanted)
        asker->refused[asker->refused_count++] = changed;
    /* A gang of which only some found room does not run; what it took is not given back, so the
     * answer is on the low side. */
    const uint64_t jobs = placed / parts;
    return (double)jobs * sim_kind_gpus(shape);
}

static double ask(struct asker *asker, const struct trial *trial)
{
    double gpus = 0;
    asker->refused_count = 0;
    apply(asker, trial);
    for (uint32_t k = 0; k < asker->question->kinds->count; k++)
        if (asker->question->refused[k] > 0 && asker->question->kinds->shapes[k].gpu_count > 0)
            gpus += fill_kind(asker, trial, k);
    return gpus;
}

/* Without a change nobody fits, unless the policy refused somebody who would have. */
static double ask_before(struct asker *asker, const struct trial *trial)
{
    return asker->answer->gpus[SIM_CAUSE_POLICY] > 0 ? ask(asker, trial) : 0;
}

static struct sim_change *add_change(struct asker *asker, uint32_t nodes, double gpus_freed)
{
    struct sim_unallocated *answer = asker->answer;
    if (!(gpus_freed > least_gpus) || answer->change_count == SIM_CHANGES)
        return NULL;
    struct sim_change *change = &answer->changes[answer->change_count++];
    *change = (struct sim_change){ .nodes = nodes, .gpus_freed = gpus_freed };
    return change;
}

/* ---- more CPUs or memory on the nodes of one model ---- */

static void set_amount(struct trial *trial, bool is_cpu, int64_t amount)
{
    trial->cpu_units = is_cpu ? amount * WEIR_ONE : 0;
    trial->ram_bytes = is_cpu ? 0 : amount * GIB;
}

static void try_more(struct asker *asker, uint32_t model, bool is_cpu)
{
    struct trial trial = { .cpu_units = 0 };
    const uint32_t nodes = ask_about(asker, model);
    const double before = ask_before(asker, &trial);
    set_amount(&trial, is_cpu, is_cpu ? PLENTY_CPUS : PLENTY_GIB);
    const double most = nodes == 0 ? 0 : ask(asker, &trial) - before;
    if (!(most > least_gpus))
        return;
    const int64_t limit = is_cpu ? MOST_CPUS : MOST_GIB;
    double freed = 0;
    int64_t amount = 1;
    for (;; amount *= 2) {
        set_amount(&trial, is_cpu, amount);
        freed = ask(asker, &trial) - before;
        if (freed >= 0.9 * most || amount >= limit)
            break;
    }
    struct sim_change *change = add_change(asker, nodes, freed);
    if (change != NULL)
        (void)snprintf(change->text, sizeof(change->text), "+%lld %s on %u %s nodes",
                       (long long)amount, is_cpu ? (amount == 1 ? "CPU" : "CPUs") : "GiB of memory",
                       nodes, asker->question->scenario->gpu_types[model].name);
}

/* ---- other rules for the jobs ---- */

static void try_rules(struct asker *asker)
{
    static const struct {
        const char *text;
        struct trial trial;
    } rules[] = { { "jobs that accept any GPU model", { .takes_any_model = true } },
                  { "jobs of several GPUs that may span nodes", { .splits_gangs = true } },
                  { "the free parts of each node's GPUs joined", { .joins_parts = true } } };
    const struct trial nothing = { .cpu_units = 0 };
    const uint32_t nodes = ask_about(asker, WEIR_NO_INDEX);
    const double before = ask_before(asker, &nothing);
    for (size_t i = 0; i < sizeof(rules) / sizeof(rules[0]); i++) {
        struct sim_change *change = add_change(asker, nodes, ask(asker, &rules[i].trial) - before);
        if (change != NULL)
            (void)snprintf(change->text, sizeof(change->text), "%s", rules[i].text);
    }
}

/* Most first; of equals the order of asking. */
static void sort_changes(struct sim_unallocated *answer)
{
    for (uint32_t i = 1; i < answer->change_count; i++) {
        const struct sim_change change = answer->changes[i];
        uint32_t at = i;
        for (; at > 0 && answer->changes[at - 1].gpus_freed < change.gpus_freed; at--)
            answer->changes[at] = answer->changes[at - 1];
        answer->changes[at] = change;
    }
}

weir_status sim_placement_changes(const struct sim_unallocated_question *question,
                                  struct sim_free_room *room, struct sim_unallocated *unallocated)
{
    struct asker asker = { .question = question, .room = room, .answer = unallocated };
    asker.nodes = calloc((size_t)room->open_count + 1, sizeof(*asker.nodes));
    asker.refused = calloc((size_t)question->kinds->count + 1, sizeof(*asker.refused));
    const bool has_memory = asker.nodes != NULL && asker.refused != NULL;
    for (uint32_t t = 0; has_memory && t < question->scenario->gpu_types_count; t++) {
        try_more(&asker, t, true);
        try_more(&asker, t, false);
    }
    if (has_memory)
        try_rules(&asker);
    sort_changes(unallocated);
    free(asker.nodes);
    free(asker.refused);
    return has_memory ? WEIR_OK : WEIR_ENOMEM;
}
