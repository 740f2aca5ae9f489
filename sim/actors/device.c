/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * What processes have in memory, on their GPUs and on their node, and what they compute on.
 *
 * A trainer that works on no GPU has one of three causes, told apart by what it holds, what it sees
 * and where its model lies: it asked for none; it holds some and sees none of them
 * (CUDA_VISIBLE_DEVICES); or it sees them, and the model was left on the CPU.
 */
#include "sim/actors/actors.h"

#include "sim/record/record.h"

#include <stdio.h>

/* ---- memory ---- */

static const struct sim_training *training_of(const struct sim_actor *actor)
{
    return &actor->set->run->spec->training;
}

static bool works_on_gpu(const struct sim_set_run *set)
{
    return set->spec->uses.gpu_units > 0;
}

void sim_actor_note_memory(struct sim_actor *actor)
{
    struct sim_workers *workers = actor->set->run->config.workers;
    if (actor->worker == NULL || !sim_workers_memory_is_timed(workers))
        return;
    const double kept = actor->has_activations && !works_on_gpu(actor->set)
                            ? (double)training_of(actor)->activation_bytes
                            : 0;
    sim_worker_take_bytes(workers, actor->worker,
                          (double)actor->trajectories *
                                  (double)training_of(actor)->trajectory_bytes +
                              (double)actor->calls * (double)actor->set->spec->leak_bytes + kept);
}

void sim_actor_note_devices(struct sim_actor *actor)
{
    struct sim_set_run *set = actor->set;
    set->gpu_bytes = sim_worker_gpu_memory(actor->worker);
    set->host_bytes = sim_worker_memory(actor->worker, actor->worker->node);
}

/* ---- a step ---- */

static const char *why_on_cpu(const struct sim_actor_set *spec)
{
    if (spec->shape.gpu_count == 0)
        return "it asked for no GPU";
    return spec->sees == 0 ? "it sees none of the GPUs that it holds (CUDA_VISIBLE_DEVICES)"
                           : "it sees its GPU, and its model lies in the memory of the node";
}

/* Once a run, as its log would say. */
static weir_status tell_device(struct sim_actor *actor)
{
    struct sim_set_run *set = actor->set;
    const struct sim_context *context = set->run->context;
    char text[320];
    if (works_on_gpu(set) || set->is_told)
        return WEIR_OK;
    set->is_told = true;
    (void)snprintf(text, sizeof text, "%s computes on CPUs, a step takes %g times as long: %s",
                   set->spec->name, training_of(actor)->without_gpu, why_on_cpu(set->spec));
    return sim_recorder_happening(context->recorder, sim_engine_now(context->engine), -1, "on_cpu",
                                  set->spec->name, text, context->error);
}

/* CUDA reports an error to the process that asks, and nobody catches it: the system ends. */
static weir_status say_short(struct sim_actor *actor, const struct sim_gpu_grant *grant)
{
    struct sim_actors_run *run = actor->set->run;
    char text[160];
    (void)snprintf(text, sizeof text, "%s %u: %.4g GB for a step", actor->set->spec->name,
                   actor->number, (double)training_of(actor)->activation_bytes / 1e9);
    WEIR_TRY(sim_worker_note_short(run->config.workers, actor->worker, text, grant,
                                   "not free on its GPU"));
    (void)snprintf(text, sizeof text, "a step of %s found too little memory on its GPU",
                   actor->set->spec->name);
    sim_actors_end(run, text);
    return WEIR_OK;
}

/* A process keeps what its first step took: its allocator does not give it back. */
weir_status sim_actor_begins_step(struct sim_actor *actor)
{
    struct sim_actors_run *run = actor->set->run;
    const int64_t bytes = training_of(actor)->activation_bytes;
    struct sim_gpu_grant grant = { .is_taken = true };
    WEIR_TRY(tell_device(actor));
    if (bytes == 0 || actor->has_activations)
        return WEIR_OK;
    if (works_on_gpu(actor->set))
        WEIR_TRY(
            sim_worker_take_gpu_bytes(run->config.workers, actor->worker, bytes, false, &grant));
    if (!grant.is_taken)
        return say_short(actor, &grant);
    actor->has_activations = true;
    sim_actor_note_memory(actor);
    sim_actor_note_devices(actor);
    return WEIR_OK;
}
