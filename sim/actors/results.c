/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Metrics of actors, calls and training loops: rows of `result`. */
#include "sim/actors/actors.h"

#include "sim/record/record.h"

#include <math.h>
#include <stdio.h>

struct writer {
    struct sim_actors_run *run;
    struct sim_results *out;
    int64_t from_ns, to_ns;
    char label[200];
    uint64_t n;
};

static void put(struct writer *writer, const char *metric, const char *unit, double value)
{
    const struct sim_result_row row = {
        .metric = metric, .label = writer->label, .unit = unit, .value = value, .n = writer->n
    };
    if (!isnan(value))
        sim_results_add(writer->out, &row);
}

static double ratio(double part, double whole)
{
    return whole > 0 ? part / whole : (double)NAN;
}

/* Of the only system nothing, else its name; of a set its own name behind that. */
static void label(struct writer *writer, const char *set)
{
    const bool is_only = writer->run->config.scenario->actors_count == 1;
    (void)snprintf(writer->label, sizeof writer->label, "%s%s%s",
                   is_only ? "" : writer->run->spec->name, is_only || set == NULL ? "" : ".",
                   set == NULL ? "" : set);
}

/* After the warm-up, in value * ns. */
static double since_warm(const struct writer *writer, const struct sim_gauge *gauge, double warm)
{
    return sim_gauge_integral(gauge, writer->to_ns) - warm;
}

static double per_time(const struct writer *writer, double integral)
{
    return ratio(integral, (double)(writer->to_ns - writer->from_ns));
}

static double percentile(struct sim_percentiles *values, double share,
                         const struct sim_censored *censored)
{
    bool is_lower_bound = false;
    const int64_t value = sim_percentiles_at(values, share, censored, &is_lower_bound);
    return value < 0 ? (double)NAN : sim_time_s(value);
}

/* ---- sets ---- */

static void put_latency(struct writer *writer, struct sim_set_run *set)
{
    struct sim_percentiles *latency = &set->latency;
    const struct sim_censored none = { .count = 0 };
    writer->n = latency->count;
    put(writer, "rpc.calls", "calls", (double)set->calls);
    put(writer, "rpc.timeouts", "calls", (double)set->timeouts);
    put(writer, "rpc.repeated", "calls", (double)set->repeated);
    put(writer, "rpc.queue.max", "calls", set->queue_most);
    if (latency->count == 0)
        return;
    put(writer, "rpc.lat.mean", "s", latency->sum_ns / 1e9 / (double)latency->count);
    put(writer, "rpc.lat.p50", "s", percentile(latency, 0.5, &none));
    put(writer, "rpc.lat.p95", "s", percentile(latency, 0.95, &none));
    put(writer, "rpc.lat.max", "s", sim_time_s(latency->max_ns));
}

/* Who is not ready yet took so long at least. */
static void put_creation(struct writer *writer, struct sim_set_run *set)
{
    struct sim_ages ages = { .list = NULL };
    for (uint32_t i = 0; i < set->count && !writer->run->is_over; i++)
        if (!set->actors[i]->is_ready && set->spec->count >= 0)
            (void)sim_ages_add(&ages, writer->to_ns - set->actors[i]->wanted_ns);
    const struct sim_censored censored = sim_ages_censored(&ages);
    writer->n = set->creation.count + censored.count;
    put(writer, "actor.create_p95", "s", percentile(&set->creation, 0.95, &censored));
    sim_ages_clear(&ages);
    writer->n = 1;
}

/* Where the memory of a process is, and whether it sees what it holds. */
static void put_devices(struct writer *writer, const struct sim_set_run *set)
{
    const struct sim_actor_set *spec = set->spec;
    if (spec->model_bytes == 0 && spec->context_bytes == 0 && spec->sees == spec->shape.gpu_count)
        return;
    put(writer, "actor.gpus.seen", "GPUs", spec->sees);
    put(writer, "actor.gpu_bytes", "B", (double)set->gpu_bytes);
    put(writer, "actor.host_bytes", "B", (double)set->host_bytes);
}

static void put_set(struct writer *writer, struct sim_set_run *set)
{
    label(writer, set->spec->name);
    put_creation(writer, set);
    put(writer, "actor.pending", "actors",
        per_time(writer, since_warm(writer, &set->pending, set->warm_pending)));
    put(writer, "actor.pending.final", "actors", set->pending.value);
    put_devices(writer, set);
    if (set->spec->variables_count > 0)
        put(writer, "actor.env_bytes", "B", (double)set->environment_most);
    if (set->calls == 0)
        return;
    put(writer, "conc.util", "1",
        ratio(since_warm(writer, &set->in_service, set->warm_in_service),
              since_warm(writer, &set->limit, set->warm_limit)));
    put(writer, "conc.max", "calls", set->service_most);
    put_latency(writer, set);
}

/* What the system asks for, placed or not; of a role that a policy counts, what it has. */
static void put_total(struct writer *writer)
{
    struct sim_actors_run *run = writer->run;
    double cpus = 0;
    double gpus = 0;
    double pending = 0;
    double timeouts = (double)run->loop.health_failures;
    for (size_t s = 0; s < run->spec->sets_count; s++) {
        const struct sim_set_run *set = &run->sets[s];
        const struct weir_amounts one = weir_shape_amounts(&set->spec->shape, 0, 0);
        const double count = set->spec->count < 0 ? (double)set->placed : (double)set->spec->count;
        cpus += count * weir_units_amount(one.cpu_units);
        gpus += count * weir_units_amount(one.gpu_units);
        pending += set->pending.value;
        timeouts += (double)set->timeouts;
    }
    label(writer, NULL);
    put(writer, "actor.cpus", "CPUs", round(cpus * 1e6) * 1e-6); /* the least of a CPU is none */
    put(writer, "actor.gpus", "GPUs", gpus);
    put(writer, "actor.pending.final", "actors", pending);
    put(writer, "rpc.timeouts", "calls", timeouts);
}

/* ---- training ---- */

static void put_training(struct writer *writer)
{
    const struct sim_loop *loop = &writer->run->loop;
    const double clients = since_warm(writer, &loop->clients, loop->warm_clients);
    const double resting = since_warm(writer, &loop->resting, loop->warm_resting);
    writer->n = loop->steps;
    put(writer, "rl.steps", "steps", (double)loop->steps);
    put(writer, "rl.validations", "1", (double)loop->validations);
    put(writer, "rl.cycle_s", "s",
        ratio(sim_time_s(loop->last_end_ns - loop->first_end_ns), (double)loop->steps - 1));
    put(writer, "rl.rollout_util", "1",
        ratio(since_warm(writer, &loop->working, loop->warm_working), clients));
    put(writer, "rl.barrier_idle_s", "s",
        ratio(resting * 1e-9, clients / (double)(writer->to_ns - writer->from_ns)) /
            fmax(1, (double)loop->steps));
    put(writer, "rl.pool.mean", "B",
        per_time(writer, since_warm(writer, &loop->bytes, loop->warm_bytes)));
    put(writer, "rl.pool.max", "B", loop->bytes_most);
    if (loop->lost > 0)
        put(writer, "rl.lost", "trajectories", (double)loop->lost);
    writer->n = loop->used;
    put(writer, "rl.staleness.mean", "versions", ratio(loop->staleness_sum, (double)loop->used));
    if (loop->used > 0)
        put(writer, "rl.staleness.max", "versions", (double)loop->staleness_max);
    writer->n = loop->syncs;
    put(writer, "rl.syncs", "1", (double)loop->syncs);
    put(writer, "rl.sync_s", "s", ratio(loop->sync_sum_s, (double)loop->syncs));
}

void sim_actors_note_warm(struct sim_actors_run *run)
{
    const int64_t now_ns = sim_actors_now(run);
    struct sim_loop *loop = &run->loop;
    for (size_t s = 0; s < run->spec->sets_count; s++) {
        struct sim_set_run *set = &run->sets[s];
        sim_percentiles_reset(&set->latency);
        set->warm_in_service = sim_gauge_integral(&set->in_service, now_ns);
        set->warm_limit = sim_gauge_integral(&set->limit, now_ns);
        set->warm_pending = sim_gauge_integral(&set->pending, now_ns);
    }
    loop->warm_bytes = sim_gauge_integral(&loop->bytes, now_ns);
    loop->bytes_most = loop->bytes.value;
    loop->warm_working = sim_gauge_integral(&loop->working, now_ns);
    loop->warm_resting = sim_gauge_integral(&loop->resting, now_ns);
    loop->warm_clients = sim_gauge_integral(&loop->clients, now_ns);
}

weir_status sim_actors_results(struct sim_actors_run *run, int64_t end_ns, struct sim_results *out)
{
    const int64_t warmup_ns = run->config.scenario->warmup_ns;
    struct writer writer = { .run = run,
                             .out = out,
                             .from_ns = warmup_ns < end_ns ? warmup_ns : end_ns,
                             .to_ns = end_ns,
                             .n = 1 };
    if (warmup_ns >= end_ns) /* it ends with the run */
        sim_actors_note_warm(run);
    put_total(&writer);
    for (size_t s = 0; s < run->spec->sets_count; s++)
        put_set(&writer, &run->sets[s]);
    label(&writer, NULL);
    if (run->spec->training.is_there)
        put_training(&writer);
    return out->status;
}
