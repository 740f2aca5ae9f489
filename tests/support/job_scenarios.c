/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Random scenarios of jobs; see the header. */
#include "tests/support/job_scenarios.h"

#include <inttypes.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct writer {
    FILE *out;
    uint64_t state;
    const char *trace;
    bool is_grid, is_mig;
};

static uint64_t next(struct writer *writer)
{
    uint64_t *state = &writer->state;
    *state ^= *state << 13;
    *state ^= *state >> 7;
    *state ^= *state << 17;
    return *state >> 11;
}

static bool chance(struct writer *writer, uint64_t percent)
{
    return next(writer) % 100 < percent;
}

static const char *pick(struct writer *writer, const char *const *words, size_t count)
{
    return words[next(writer) % count];
}
#define PICK(writer, ...)                                                                          \
    pick((writer), (const char *const[]){ __VA_ARGS__ },                                           \
         sizeof((const char *const[]){ __VA_ARGS__ }) / sizeof(const char *))

static void put(struct writer *writer, const char *text)
{
    (void)fputs(text, writer->out);
}

/* ---- the cluster ---- */

/* The first group has what classes and policies name: H100, cut when GPUs are. */
static const char *node_of(struct writer *writer, bool is_first)
{
    if (writer->is_mig)
        return is_first ? PICK(writer, "cpus: 32, gpus: {h100: 2}, share: mig, partition: [7g]",
                               "cpus: 32, gpus: {h100: 2}, share: mig, partition: [3g, 2g, 1g, 1g]")
                        : PICK(writer, "cpus: 32, gpus: {h100: 1}, share: mig",
                               "cpus: 32, gpus: {a100-80: 2}, share: mig, partition: [1g, 1g, 1g, "
                               "1g, 1g, 1g, 1g]",
                               "cpus: 16, gpus: {l4: 2}");
    if (is_first)
        return PICK(writer, "cpus: 32, ram: 256 GB, gpus: {h100: 8}",
                    "cpus: 16, ram: 128 GB, gpus: {h100: 4}");
    return PICK(writer, "cpus: 32, ram: 128 GB, gpus: {a100-80: 4}",
                "cpus: 16, ram: 64 GB, gpus: {t4: 2}", "cpus: 16, ram: 64 GB, gpus: {t4: 1, l4: 2}",
                "cpus: 24, ram: 64 GB");
}

static void put_nodes(struct writer *writer)
{
    const uint64_t groups = 1 + next(writer) % 3;
    if (!writer->is_mig && chance(writer, 15))
        put(writer, "  share: exclusive\n");
    put(writer, "  nodes:\n");
    for (uint64_t g = 0; g < groups; g++)
        (void)fprintf(writer->out, "    - {name: n%d, count: %d, %s%s}\n", (int)g,
                      1 + (int)(next(writer) % 4), node_of(writer, g == 0),
                      g == 0 ? "" : PICK(writer, "", "", ", kept: true"));
    if (chance(writer, 35))
        (void)fprintf(writer->out, "  failures: {node_between: %s, node_repair: %s}\n",
                      writer->is_grid ? PICK(writer, "const(97 s)", "const(240 s)")
                                      : PICK(writer, "exp(5 min)", "exp(20 min)"),
                      writer->is_grid ? "const(30 s)" : "exp(1 min)");
}

/* No policy that learns: the oracle takes the ranks of a gang one by one, the host all at once. */
static void put_scheduler(struct writer *writer)
{
    (void)fprintf(
        writer->out, "sched:\n  placement: %s\n  queueing: %s\n",
        writer->is_mig
            ? PICK(writer, "first_fit", "best_fit", "random", "{policy: first_fit, slots: low}")
            : PICK(writer, "first_fit", "best_fit", "worst_fit", "random", "fgd", "fgd_n", "fgd_p",
                   "dot_product", "alignment", "gpu_packing", "gpu_clustering", "power", "weighted",
                   "ray_hybrid", "fgd_c"),
        PICK(writer, "fcfs", "first_fit", "sjf", "smallest", "priority",
             "{policy: priority, ageing: 3600}"));
    if (chance(writer, 50))
        put(writer, "  groups: placement\n");
    if (writer->is_mig && chance(writer, 60))
        (void)fprintf(writer->out,
                      "  repartition: {policy: demand, min_gain: %s, reconfigure: %s}\n",
                      PICK(writer, "1", "2", "4"), PICK(writer, "10 s", "1 s", "45 s"));
}

/* ---- the jobs ---- */

static const char *request_of(struct writer *writer)
{
    if (writer->is_mig)
        return PICK(writer, "{mig: 1g}", "{mig: 2g}", "{mig: 3g}", "{mig: 7g}", "{cpus: 2}",
                    "{cpus: 1, mig: 1g}");
    return PICK(writer, "{cpus: 2}", "{cpus: 1, ram: 8 GB}", "{cpus: 1, gpus: 0.25}",
                "{cpus: 1, gpus: 0.5, gpu_memory: 6 GB}", "{gpus: 0.7}", "{cpus: 1, gpus: 1}",
                "{cpus: 4, ram: 16 GB, gpus: 2}", "{cpus: 2, gpus: 4}",
                "{cpus: 1, gpus: 1, entire_gpu: true}", "{cpus: 1, gpus: 0.2, nvdecs: 1}");
}

static const char *length_of(struct writer *writer)
{
    return writer->is_grid
               ? PICK(writer, "const(10 s)", "const(30 s)", "const(97 s)", "const(7 s)")
               : PICK(writer, "exp(30 s)", "\"lognormal(60 s, 1)\"", "\"uniform(5 s, 90 s)\"");
}

/* With or without words about nodes; a borrower would be asked for twice. */
static void put_request(struct writer *writer)
{
    const char *request = request_of(writer);
    (void)fprintf(writer->out, "%.*s%s}", (int)strlen(request) - 1, request,
                  PICK(writer, "", "", "", ", node_selector: [n0]"));
}

static void put_class(struct writer *writer, int number, bool is_counted)
{
    (void)fprintf(writer->out, "      - {name: c%d, request: ", number);
    put_request(writer);
    (void)fprintf(writer->out, ", service: %s", length_of(writer));
    if (is_counted)
        (void)fprintf(writer->out, ", count: %d, at: %s, every: %s", 5 + (int)(next(writer) % 30),
                      PICK(writer, "0 s", "10 s", "97 s"), PICK(writer, "0 s", "5 s", "10 s"));
    else
        put(writer, PICK(writer, "", ", weight: 3", ", weight: 0.5"));
    if (chance(writer, 45))
        put(writer, PICK(writer, ", members: 2", ", members: 3", ", members: 5"));
    if (chance(writer, 30))
        put(writer, PICK(writer, ", group: pack", ", group: spread", ", group: strict_pack",
                         ", group: strict_spread"));
    put(writer, PICK(writer, "", "", ", priority: 4", ", priority: -2"));
    put(writer, PICK(writer, "", "", ", estimate: 0.5", ", estimate: 3"));
    if (!writer->is_mig)
        put(writer, PICK(writer, "", "", "", ", models: h100"));
    if (chance(writer, 20))
        (void)fprintf(writer->out, ", patience: %s",
                      writer->is_grid ? "const(20 s)" : "exp(1 min)");
    put(writer, "}\n");
}

static void put_arrivals(struct writer *writer)
{
    static const char *const processes[] = {
        "{rate: 0.2/s}",
        "{rate: 0.05/s, batch: \"uniform(1, 5)\"}",
        "{process: hyperexponential, rate: 0.1/s, cv: 3}",
        "{process: modulated, rate: 0.1/s, burst: 5, burst_share: 10%, dwell: 1 min}",
        "{process: diurnal, rate: 0.1/s, amplitude: 80%, period: 10 min, peak: 3 min}",
    };
    const char *process = writer->is_grid
                              ? PICK(writer, "{process: renewal, gap: const(5 s)}",
                                     "{process: renewal, gap: const(10 s), batch: const(3)}")
                              : pick(writer, processes, sizeof processes / sizeof processes[0]);
    (void)fprintf(writer->out, "    arrivals: %s\n", process);
}

/* Rows of a trace in the columns of Tiresias; half of them are drawn by a process instead. */
static void put_trace(struct writer *writer)
{
    FILE *csv = fopen(writer->trace, "w");
    const int rows = 20 + (int)(next(writer) % 60);
    if (csv == NULL)
        abort();
    (void)fputs("job_id,num_gpu,submit_time,iterations,model_name,duration,interval\n", csv);
    for (int row = 0; row < rows; row++) {
        const int gpus = 1 << next(writer) % 4;
        const int submit_s = (int)(next(writer) % 600) / (writer->is_grid ? 10 : 1) * 10;
        (void)fprintf(csv, "%d,%d,%d,1,vgg11,%d,30\n", row, gpus, submit_s,
                      10 * (1 + (int)(next(writer) % 12)));
    }
    (void)fclose(csv);
    (void)fprintf(writer->out, "    kind: table\n    map: tiresias\n    file: %s\n", writer->trace);
    if (chance(writer, 50))
        put_arrivals(writer);
    else if (chance(writer, 30))
        put(writer, "    from: 100 s\n");
    if (chance(writer, 20))
        (void)fprintf(writer->out, "    service: %s\n", length_of(writer));
}

static void put_classes(struct writer *writer)
{
    const int classes = 1 + (int)(next(writer) % 5);
    const bool has_process = chance(writer, 70);
    put(writer, "    kind: generated\n");
    if (has_process)
        put_arrivals(writer);
    put(writer, "    classes:\n");
    for (int c = 0; c < classes; c++)
        put_class(writer, c, !has_process || (c > 0 && chance(writer, 40)));
}

static void put_workload(struct writer *writer)
{
    put(writer, "workloads:\n  - name: w\n    mode: time\n");
    (void)fprintf(writer->out, "    jobs: %d\n", 30 + (int)(next(writer) % 150));
    if (chance(writer, 35))
        (void)fprintf(writer->out, "    queue_limit: %s\n", PICK(writer, "0", "1", "4", "20"));
    if (chance(writer, 40))
        (void)fprintf(writer->out, "    retries: %s\n    retry_delay: %s\n",
                      PICK(writer, "1", "2", "5"), writer->is_grid ? "const(10 s)" : "exp(20 s)");
    if (chance(writer, 35))
        (void)fprintf(writer->out, "    patience: %s\n",
                      writer->is_grid ? PICK(writer, "const(30 s)", "const(0 s)") : "exp(90 s)");
    put(writer, PICK(writer, "", "", "", "    service_limit: 40 s\n"));
    if (!writer->is_mig && chance(writer, 20))
        put_trace(writer);
    else
        put_classes(writer);
}

char *test_job_scenario(uint64_t seed, const char *trace)
{
    char *text = NULL;
    size_t size = 0;
    struct writer writer = { .out = open_memstream(&text, &size),
                             .state = seed * UINT64_C(0x9E3779B97F4A7C15) + 1,
                             .trace = trace };
    for (int i = 0; i < 8; i++)
        (void)next(&writer);
    writer.is_grid = chance(&writer, 50);
    writer.is_mig = chance(&writer, 20);
    (void)fprintf(writer.out,
                  "schema: 1\nname: random\nseed: %" PRIu64 "\nhorizon: %s\nwarmup: %s\n"
                  "catalog: {gpu_types: {h100: {speed: 1}, a100-80: {speed: 1}, t4: {speed: 1}, "
                  "l4: {speed: 1}}}\ncluster:\n",
                  seed, PICK(&writer, "10 min", "1 h", "3 h"), PICK(&writer, "0 s", "1 min"));
    put_nodes(&writer);
    put_scheduler(&writer);
    put_workload(&writer);
    (void)fclose(writer.out);
    return text;
}
