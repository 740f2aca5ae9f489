/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Profiles of models: read and written, and what they do to the rows of a trace. */
#include "workloads/profiles.h"

#include "sim/record/record.h"
#include "sim/world/run.h"
#include "tests/support/check.h"
#include "tests/support/runs.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { TEXT = 2048, JOBS = 4 };

static void write_file(char path[], const char *text)
{
    const int handle = mkstemp(path);
    FILE *file = handle < 0 ? NULL : fdopen(handle, "w");
    if (!CHECK(file != NULL))
        return;
    (void)fputs(text, file);
    CHECK_I64(fclose(file), 0);
}

/* As the file that they were read from, to the last bit. */
static char *written(const struct wl_profiles *profiles)
{
    char *text = NULL;
    size_t size = 0;
    FILE *out = open_memstream(&text, &size);
#define COLUMN(field, column, least, most, meaning) "," column
#define CELL(field, column, least, most, meaning)                                                  \
    (void)fprintf(out, isnan(profile->field) ? "," : ",%.17g", profile->field);
    (void)fputs("model" WL_PROFILE_NUMBERS(COLUMN) ",speeds\n", out);
    for (size_t i = 0; i < profiles->count; i++) {
        const struct wl_profile *profile = &profiles->profiles[i];
        const bool is_quoted = strpbrk(profile->model, ",") != NULL;
        (void)fprintf(out, is_quoted ? "\"%s\"" : "%s", profile->model);
        WL_PROFILE_NUMBERS(CELL)
        (void)fprintf(out, profile->speeds[0] == '\0' ? ",\n" : ",\"%s\"\n", profile->speeds);
    }
    (void)fclose(out);
    return text;
}

/* covers: S1.111 */
static void thirteen_fields_come_back_as_they_went(void)
{
    static const char text[] =
        "model,gpus,cpus,ram_bytes,gpu_memory_bytes,activation_bytes,bandwidth,bound,step_s,"
        "sync_bytes,latency_s,spread,speeds\n"
        "\"LM, large\",8,3.5,64000000000,20000000000,1000000000,0.40000000000000002,0.25,"
        "0.10000000000000001,4290000000,0.001,0.29999999999999999,\"h100=2.4|a100-80=1\"\n"
        "ResNet-18,,,,,,,,,,,,\n";
    char path[] = "/tmp/weir_profiles_XXXXXX";
    struct wl_profiles profiles = { NULL, 0 };
    struct weir_error error = { .phase = -1 };
    write_file(path, text);
    CHECK_I64(wl_profiles_read(path, NULL, &profiles, &error), WEIR_OK);
    CHECK_STR(error.text, "");
    char *again = written(&profiles);
    CHECK_STR(again, text);
    CHECK(wl_profiles_find(&profiles, "LM, large", 4) == NULL);
    CHECK(wl_profiles_find(&profiles, "ResNet-18", 4) == &profiles.profiles[1]);
    CHECK_NEAR(wl_profile_speed(&profiles.profiles[0], "h100"), 2.4, 0);
    CHECK_NEAR(wl_profile_speed(&profiles.profiles[0], "a100-80"), 1, 0);
    CHECK(isnan(wl_profile_speed(&profiles.profiles[0], "a100")));
    free(again);
    wl_profiles_clear(&profiles);
    (void)unlink(path);
}

static void a_wrong_cell_is_named(void)
{
    static const char *const cases[][2] = {
        { "model,gpus\n,1\n", ":2:1: column 'model': a profile needs the name of its model" },
        { "model,gpus\na,1.5\n", ":2:2: column 'gpus': must be a whole number, got 1.5" },
        { "model,bound\na,2\n", ":2:2: column 'bound': must be within 0 and 1, got 2" },
        { "model,speeds\na,h100=fast\n",
          ":2:2: column 'speeds': 'h100=fast' is no list of speeds by GPU type: "
          "h100=2.4|a100-80=1" },
        { "models\na\n", ":1:1: no column 'model'; did you mean 'models'?" },
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        char path[] = "/tmp/weir_profiles_XXXXXX";
        struct wl_profiles profiles = { NULL, 0 };
        struct weir_error error = { .phase = -1 };
        write_file(path, cases[i][0]);
        CHECK(wl_profiles_read(path, NULL, &profiles, &error) != WEIR_OK);
        CHECK_STR(error.text + strlen(path), cases[i][1]);
        (void)unlink(path);
    }
}

struct times {
    double start_s[JOBS], end_s[JOBS];
};

static void see(void *state, const struct sim_job_row *job)
{
    struct times *times = state;
    if (job->job >= JOBS)
        return;
    times->start_s[job->job] = 1e-9 * (double)job->start_ns;
    times->end_s[job->job] = 1e-9 * (double)job->end_ns;
}

/* A100 and H100 of two nodes, so many each; profiles_text NULL = no profiles. */
static struct sim_scenario *open_rows(const char *profiles_text, const char *rows,
                                      const char *queueing, int gpus)
{
    char profiles[] = "/tmp/weir_profiles_XXXXXX";
    char trace[] = "/tmp/weir_profiles_XXXXXX";
    char map[] = "/tmp/weir_profiles_XXXXXX";
    char text[TEXT];
    write_file(profiles, profiles_text == NULL ? "" : profiles_text);
    write_file(trace, rows);
    write_file(map, "{\"name\": \"m\", \"fields\": {\"submit\": {\"column\": \"at\", \"unit\": "
                    "\"s\"}, \"run\": {\"column\": \"run\", \"unit\": \"s\"}, \"gpus\": "
                    "{\"column\": \"gpus\"}, \"model\": {\"column\": \"what\"}}}");
    (void)snprintf(text, sizeof text,
                   "schema: 2\nname: x\ncluster:\n  nodes:\n    - {name: a, cpus: 8, gpus: "
                   "{a100-80: %d}}\n    - {name: h, cpus: 8, gpus: {h100: %d}}\n"
                   "sched: {placement: first_fit, queueing: %s}\n"
                   "jobs: [{name: w, trace: %s, format: table, columns: %s, %s%s%s"
                   "measured_on: a100-80, preemption: all, estimate: 1}]\n",
                   gpus, gpus, queueing, trace, map,
                   profiles_text == NULL ? "" : "profiles: ", profiles_text == NULL ? "" : profiles,
                   profiles_text == NULL ? "" : ", ");
    struct sim_scenario *scenario = test_scenario(text, NULL);
    CHECK(scenario != NULL);
    (void)unlink(profiles);
    (void)unlink(trace);
    (void)unlink(map);
    return scenario;
}

static struct times run_on(const char *profiles, const char *rows, const char *queueing, int gpus)
{
    struct times times = { { 0 }, { 0 } };
    struct sim_scenario *scenario = open_rows(profiles, rows, queueing, gpus);
    const struct sim_observer observer = { .state = &times, .job = see };
    struct sim_run_summary *summary = scenario == NULL ? NULL : test_run(scenario, 0, &observer);
    CHECK(summary != NULL && summary->status == WEIR_OK);
    free(summary);
    sim_scenario_destroy(scenario);
    return times;
}

static struct times run(const char *profiles, const char *rows, const char *queueing)
{
    return run_on(profiles, rows, queueing, 1);
}

/* What a profile says stands for what the row and the scenario say, all else stays; numbers are of
 * a GPU, but memory and traffic of GPUs. */
static void what_a_profile_leaves_open_stays(void)
{
    static const char rows[] = "at,run,gpus,what\n0,600,2,full\n1,60,2,none\n2,60,1,cpus\n";
    struct sim_scenario *plain = open_rows(NULL, rows, "fcfs", 2);
    struct sim_scenario *told =
        open_rows("model,gpus,cpus,ram_bytes,gpu_memory_bytes,activation_bytes,bandwidth,bound\n"
                  "full,2,3,1000,500,70,0.25,0.5\nnone,2,,,,,,\ncpus,1,5,,,,,\n",
                  rows, "fcfs", 2);
    if (plain == NULL || told == NULL)
        return;
    CHECK_I64(plain->workloads[0].jobs_count, 3);
    for (size_t j = 0; j < 3; j++) {
        const struct sim_job_spec *said = &told->workloads[0].jobs[j];
        struct sim_job_spec wanted = plain->workloads[0].jobs[j];
        wanted.shape.cpu_units = j == 0   ? 6 * WEIR_ONE
                                 : j == 2 ? 5 * WEIR_ONE
                                          : wanted.shape.cpu_units;
        if (j == 0) {
            wanted.shape.ram_bytes = 2000;
            wanted.shape.gpu_mem_bytes = 500;
            wanted.activation_bytes = 70;
            wanted.traffic.bandwidth = 0.25;
            wanted.traffic.bound = 0.5;
        }
        CHECK_I64(said->shape.kind, wanted.shape.kind);
        CHECK_I64(said->shape.cpu_units, wanted.shape.cpu_units);
        CHECK_I64(said->shape.ram_bytes, wanted.shape.ram_bytes);
        CHECK_I64(said->shape.gpu_mem_bytes, wanted.shape.gpu_mem_bytes);
        CHECK_NEAR(said->traffic.bandwidth, wanted.traffic.bandwidth, 0);
        CHECK_NEAR(said->traffic.bound, wanted.traffic.bound, 0);
        CHECK_I64(said->activation_bytes, wanted.activation_bytes);
    }
    sim_scenario_destroy(plain);
    sim_scenario_destroy(told);
}

/* 600 s of work on an A100 take 240 s where it is 2.5 times as fast; a model of eight CPUs has its
 * node for itself; of a model without a profile times are as recorded. */
static void rows_are_as_their_profiles_say(void)
{
    const struct times times =
        run("model,cpus,speeds\nquick,8,h100=5|a100-80=2\nbroad,8,\n",
            "at,run,gpus,what\n0,1000,1,broad\n1,600,1,quick\n2,50,1,other\n", "fcfs");
    CHECK_NEAR(times.end_s[0], 1000, 1e-6);
    CHECK_NEAR(times.start_s[1], 1, 1e-6);
    CHECK_NEAR(times.end_s[1], 241, 1e-6);
    CHECK_NEAR(times.start_s[2], 241, 1e-6);
}

/* In rounds of 360 s the first does three steps of 100 s, the second five of 70 s: a round is 350 s
 * long, the first rests for 50 s of it and ends 300 s after the next has begun. */
static void gavels_rounds_have_whole_steps(void)
{
    static const char profiles[] = "model,step_s,speeds\na,100,h100=1|a100-80=1\n"
                                   "b,70,h100=1|a100-80=1\n";
    static const char rows[] = "at,run,gpus,what\n0,600,1,a\n0,400,1,b\n";
    const struct times whole =
        run(profiles, rows, "{policy: gavel, goal: fifo, whole_steps: true}");
    const struct times any = run(profiles, rows, "{policy: gavel, goal: fifo}");
    CHECK_NEAR(whole.end_s[0], 650, 1e-6);
    CHECK_NEAR(whole.end_s[1], 400, 1e-6);
    CHECK_NEAR(any.end_s[0], 600, 1e-6);
    CHECK_NEAR(any.end_s[1], 400, 1e-6);
}

/* All three are chosen for the three A100, but the CPUs of that node are enough for two, and the
 * third is asked for at every pass. After its three steps the first rests all the same: from 300 s
 * until the round ends at 350 s. */
static void who_rests_in_gavel_is_not_asked_for(void)
{
    static const char profiles[] = "model,cpus,step_s,speeds\na,3,100,h100=0.5|a100-80=1\n"
                                   "b,3,350,h100=0.5|a100-80=1\nc,6,70,h100=0.5|a100-80=1\n";
    static const char rows[] = "at,run,gpus,what\n0,600,1,a\n0,700,1,b\n0,400,1,c\n";
    const struct times times =
        run_on(profiles, rows, "{policy: gavel, goal: fifo, whole_steps: true}", 3);
    CHECK_NEAR(times.end_s[0], 650, 1e-6);
    CHECK(times.start_s[2] > 350);
}

static const struct test tests[] = {
    { "thirteen fields come back as they went", thirteen_fields_come_back_as_they_went },
    { "a wrong cell is named", a_wrong_cell_is_named },
    { "what a profile leaves open stays", what_a_profile_leaves_open_stays },
    { "rows are as their profiles say", rows_are_as_their_profiles_say },
    { "Gavel's rounds have whole steps", gavels_rounds_have_whole_steps },
    { "who rests in Gavel is not asked for", who_rests_in_gavel_is_not_asked_for },
};
TEST_MAIN(tests)
