/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Tables through column maps: units, constants, what mistakes of maps and rows say. */
#include "tests/support/check.h"
#include "tests/support/traces.h"
#include "workloads/column_map.h"
#include "workloads/tres.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define S INT64_C(1000000000)

static void units_and_constants_are_exact(void)
{
    struct test_trace t = test_trace_text(
        "{\"delimiter\": \";\", \"unknown\": [\"N/A\"], \"fields\": {"
        "\"name\": {\"column\": \"id\"}, \"group\": {\"value\": \"lab\"},"
        "\"submit\": {\"column\": \"at\", \"unit\": \"ms\"},"
        "\"run\": {\"column\": \"took\", \"unit\": \"min\"},"
        "\"estimate\": {\"column\": \"limit\", \"unit\": \"h\", \"factor\": 0.5},"
        "\"cpus\": {\"value\": 4}, \"memory\": {\"column\": \"mem\", \"unit\": "
        "\"GiB\"}, \"gpus\": {\"column\": \"g\", \"unit\": \"percent\"},"
        "\"models\": {\"column\": \"m\", \"optional\": true},"
        "\"priority\": {\"column\": \"p\"}}}",
        "id;at;took;limit;mem;g;p\na;1500;2.5;3;1.5;50;-2\nb;N/A;;N/A;;400;7\n", false);
    CHECK_STR(t.error.text, "");
    CHECK_I64(t.jobs.count, 2);
    if (t.jobs.count == 2) {
        const struct wl_job *job = t.jobs.jobs;
        CHECK_STR(job[0].name, "a");
        CHECK_STR(job[0].group, "lab");
        CHECK_I64(job[0].submit_ns, 3 * S / 2);
        CHECK_I64(job[0].run_ns, 150 * S);
        CHECK_I64(job[0].estimate_ns, 5400 * S);
        CHECK_I64(job[0].cpu_milli, 4000);
        CHECK_I64(job[0].memory_bytes, INT64_C(1610612736));
        CHECK_I64(job[0].gpus, 1);
        CHECK_I64(job[0].gpu_milli, 500);
        CHECK_I64(job[0].priority, -2);
        CHECK_I64(job[1].submit_ns, WL_UNKNOWN);
        CHECK_I64(job[1].run_ns, WL_UNKNOWN);
        CHECK_I64(job[1].gpus, 4);
        CHECK_I64(job[1].gpu_milli, 1000);
    }
    wl_jobs_clear(&t.jobs);
}

/* A row that names a profile asks for one instance; a single GPU beside it is the same said twice.
 */
static void a_row_asks_for_a_mig_instance(void)
{
    static const char map[] =
        "{\"fields\": {\"submit\": {\"column\": \"s\"}, \"run\": {\"column\": "
        "\"r\"}, \"gpus\": {\"column\": \"g\"}, \"models\": {\"column\": "
        "\"m\"}, \"mig\": {\"column\": \"i\"}}}";
    struct test_trace t = test_trace_text(
        map, "s,r,g,m,i\n0,60,0,A100,1g.5gb\n1,60,1,,2g.10gb\n2,60,2,H100,\n", false);
    CHECK_STR(t.error.text, "");
    CHECK_I64(t.jobs.count, 3);
    if (t.jobs.count == 3) {
        const struct wl_job *job = t.jobs.jobs;
        CHECK_STR(job[0].mig, "1g.5gb");
        CHECK_STR(job[0].models, "A100");
        CHECK_I64(job[0].gpus, 0);
        CHECK_STR(job[1].mig, "2g.10gb");
        CHECK_I64(job[1].gpus, 0);
        CHECK_I64(job[1].gpu_milli, 0);
        CHECK_STR(job[2].mig, "");
        CHECK_I64(job[2].gpus, 2);
    }
    wl_jobs_clear(&t.jobs);
    t = test_trace_text(map, "s,r,g,m,i\n0,60,2,,1g.5gb\n", false);
    CHECK(strstr(t.error.text, "'2' GPUs beside the MIG instance 1g.5gb") != NULL);
    wl_jobs_clear(&t.jobs);
}

/* As a driver calls a model; what no word is for stays, and so do the words of other columns. */
static void words_say_what_texts_stand_for(void)
{
    static const char map[] =
        "{\"fields\": {\"submit\": {\"column\": \"s\"}, \"run\": {\"column\": \"r\"},"
        "\"gpus\": {\"value\": 1}, \"models\": {\"column\": \"m\", \"words\": {"
        "\"h200\": [\"NVIDIA H200\", \"H200-SXM\"], \"v100m32\": [\"Tesla V100-SXM2-32GB\"]}},"
        "\"user\": {\"column\": \"u\", \"words\": {\"ana\": [\"root\"]}},"
        "\"end\": {\"column\": \"e\", \"words\": {\"done\": [\"root\"]}}}}";
    struct test_trace t = test_trace_text(map,
                                          "s,r,m,u,e\n0,60,NVIDIA H200,root,root\n"
                                          "1,60,H200-SXM,ben,x\n2,60,Tesla V100-SXM2-32GB,,\n"
                                          "3,60,NVIDIA H2000,NVIDIA H200,root 7\n",
                                          false);
    static const char *const models[] = { "h200", "h200", "v100m32", "NVIDIA H2000" };
    static const char *const users[] = { "ana", "ben", "", "NVIDIA H200" };
    static const int ends[] = { WL_JOB_DONE, WL_JOB_END_UNKNOWN, WL_JOB_END_UNKNOWN, WL_JOB_DONE };
    CHECK_STR(t.error.text, "");
    CHECK_I64(t.jobs.count, 4);
    for (size_t i = 0; i < t.jobs.count; i++) {
        CHECK_STR(t.jobs.jobs[i].models, models[i]);
        CHECK_STR(t.jobs.jobs[i].user, users[i]);
        CHECK_I64(t.jobs.jobs[i].end, ends[i]);
    }
    wl_jobs_clear(&t.jobs);
    t = test_trace_text(
        "{\"fields\": {\"submit\": {\"column\": \"s\"}, \"models\": {\"column\": \"m\","
        "\"words\": [\"a\"]}, \"user\": {\"column\": \"u\", \"words\": {\"a\": \"b\"}},"
        "\"cpus\": {\"column\": \"c\", \"words\": {}}}}",
        "s,m,u,c\n", false);
    CHECK(strstr(t.error.text, "fields.models: words: a mapping of lists is expected") != NULL);
    CHECK(strstr(t.error.text, "fields.user: words.a: a list of texts is expected") != NULL);
    CHECK(strstr(t.error.text, "fields.cpus: there is no key 'words'") != NULL);
    wl_jobs_clear(&t.jobs);
}

static void every_unit_has_its_size(void)
{
    static const struct {
        const char *unit;
        int64_t scale;
    } units[] = { { "s", S },        { "ms", 1000000 }, { "us", 1000 },    { "ns", 1 },
                  { "min", 60 * S }, { "h", 3600 * S }, { "d", 86400 * S } };
    for (size_t i = 0; i < sizeof units / sizeof units[0]; i++) {
        char map[160];
        (void)snprintf(map, sizeof map,
                       "{\"fields\": {\"submit\": {\"column\": \"s\", \"unit\": \"%s\"}, "
                       "\"run\": {\"column\": \"r\", \"unit\": \"%s\"}}}",
                       units[i].unit, units[i].unit);
        struct test_trace t = test_trace_text(map, "s,r\n2,1\n", false);
        CHECK_STR(t.error.text, "");
        CHECK_I64(t.jobs.count, 1);
        if (t.jobs.count == 1) {
            CHECK_I64(t.jobs.jobs[0].submit_ns, 2 * units[i].scale);
            CHECK_I64(t.jobs.jobs[0].run_ns, units[i].scale);
        }
        wl_jobs_clear(&t.jobs);
    }
}

static void dates_count_from_the_first_submission(void)
{
    struct test_trace t = test_trace_text(
        "{\"fields\": {\"submit\": {\"column\": \"s\", \"unit\": \"date\", \"zone\": \"-08:00 "
        "us\"}, \"start\": {\"column\": \"b\", \"unit\": \"date\", \"zone\": \"-08:00 us\"},"
        "\"finish\": {\"column\": \"e\", \"unit\": \"date\", \"zone\": \"-08:00 us\"}}}",
        "s,b,e\n2017-11-05 03:00:00,2017-11-05 03:00:10,2017-11-05 04:00:10\n"
        "2017-11-05 00:30:00,,2017-11-05 00:31:00\n",
        false);
    CHECK_STR(t.error.text, "");
    CHECK_I64(t.jobs.count, 2);
    if (t.jobs.count == 2) {
        /* 2.5 hours on the clock, one more because the clock was set back. */
        CHECK_I64(t.jobs.jobs[0].submit_ns, 12600 * S);
        CHECK_I64(t.jobs.jobs[0].wait_ns, 10 * S);
        CHECK_I64(t.jobs.jobs[0].run_ns, 3600 * S);
        CHECK_I64(t.jobs.jobs[1].submit_ns, 0);
        CHECK_I64(t.jobs.jobs[1].end, WL_JOB_NEVER_STARTED);
        CHECK_I64(t.jobs.jobs[1].patience_ns, 60 * S);
        CHECK_I64(t.jobs.zero_unix_ns, 1509867000 * S);
    }
    wl_jobs_clear(&t.jobs);
}

#define SMALL                                                                                      \
    "{\"fields\": {\"submit\": {\"column\": \"s\"}, \"run\": {\"column\": \"r\"}, "                \
    "\"gpus\": {\"column\": \"g\"}}}"

static void every_bad_row_has_its_place(void)
{
    static const struct {
        const char *map, *text, *message;
    } cases[] = {
        { SMALL, "s,r,g\n1,2\n", "t:2:2: 2 fields, the header has 3" },
        { SMALL, "s,r,g\nnan,2,1\n", "t:2:1: column 's': 'nan' is not a time" },
        { SMALL, "s,r,g\n1,-2,1\n", "t:2:2: column 'r': must be >= 0, got '-2'" },
        { SMALL, "s,r,g\n1,1e30,1\n", "t:2:2: column 'r': '1e30' is not a time" },
        { SMALL, "s,r,g\n1,2,1.5\n",
          "t:2:3: column 'g': '1.5': several GPUs are taken whole, at most 1000000" },
        { SMALL, "s,r,g\n1,2,9000000\n",
          "t:2:3: column 'g': '9000000': several GPUs are taken whole, at most 1000000" },
        { SMALL, "s,r,g\n4000000000,2,1\n",
          "t:2:1: column 's': '4000000000' is more than 90 "
          "years; is it a date (unix_s, unix_ms)?" },
        { SMALL, "s,g\n", "t:1:1: no column 'r'" },
        { SMALL, "x,r,g\n", "t:1:1: no column 's'" },
        { "philly", "timestamp,duration,num_gpus\n2017-02-30 00:00:00,1,1\n",
          "t:2:1: column 'timestamp': '2017-02-30 00:00:00' is not a date (YYYY-MM-DD HH:MM:SS)" },
        { "philly", "timestamp,duration,num_gpus\n1970-01-01,1,1\n2199-01-01,1,1\n",
          "t:3: submitted 90 years after the first job" },
        { "slurm",
          "JobIDRaw|State|Submit|Start|End|ReqTRES\n1|COMPLETED|2026-04-12T05:50:02|"
          "2026-04-12T05:50:01|2026-04-12T06:00:00|cpu=1\n",
          "t:2:4: column 'Start': '2026-04-12T05:50:01' is before submit '2026-04-12T05:50:02': a "
          "negative duration" },
        { "slurm",
          "JobIDRaw|State|Submit|Start|End|ReqTRES\n1|COMPLETED|2026-04-12T05:50:02|||cpu=x\n",
          "t:2:6: column 'ReqTRES': 'cpu=x' is not a list of resources (cpu=8,gres/gpu=2,mem=1G)" },
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        struct test_trace t = test_trace_text(cases[i].map, cases[i].text, false);
        CHECK_I64(t.status, WEIR_EFORMAT);
        CHECK_STR(t.error.text, cases[i].message);
        CHECK(t.jobs.jobs == NULL);
        wl_jobs_clear(&t.jobs);
    }
}

static void every_mistake_of_a_map_is_named(void)
{
    static const struct {
        const char *map, *message;
    } cases[] = {
        { "{\"fields\": }", "map:1:12: unexpected token near '}'" },
        { "[]", "map: the map: must be a mapping" },
        { "{}", "map: fields: no field has a column" },
        { "{\"feilds\": {}, \"name\": 3}",
          "map: feilds: there is no key 'feilds'; did you mean 'fields'?; name: a text is "
          "expected; fields: no field has a column" },
        { "{\"fields\": {\"sumbit\": {\"column\": \"s\"}, \"run\": {\"column\": \"r\", \"unit\": "
          "\"sec\"}}}",
          "map: fields.sumbit: there is no key 'sumbit'; did you mean 'submit'?; fields.run: unit "
          "'sec' is none of its units: s ms us ns min h d" },
        { "{\"fields\": {\"run\": {\"column\": \"r\", \"value\": 3}}}",
          "map: fields.run: needs either a column or a value" },
        { "{\"fields\": {\"run\": {\"colum\": \"r\"}}}",
          "map: fields.run: there is no key 'colum'; did you mean 'column'?; fields.run: needs "
          "either a column or a value; fields: no field has a column" },
        { "{\"fields\": {\"submit\": {\"column\": \"s\", \"unit\": \"date\", \"zone\": \"PST\"},"
          " \"finish\": {\"column\": \"f\"}}}",
          "map: fields.submit: zone: expected an offset like +01:00, or one with a summer time "
          "like '+01:00 eu' or '-08:00 us'; fields: finish and submit: one is a date, the other "
          "counts from zero" },
        { "{\"fields\": {\"end\": {\"column\": \"e\", \"words\": {\"dune\": [\"ok\"]}}}}",
          "map: fields.end: there is no key 'dune'; did you mean 'done'?" },
        { "{\"delimiter\": \"::\", \"unknown\": 3, \"fields\": {\"run\": {\"column\": \"r\", "
          "\"factor\": -1}}}",
          "map: delimiter: expected one of , ; | tab; unknown: a list of texts is expected; "
          "fields.run: factor: a number > 0 is expected" },
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        struct test_trace t = test_trace_text(cases[i].map, "", false);
        CHECK_I64(t.status, WEIR_EFORMAT);
        CHECK_STR(t.error.text, cases[i].message);
    }
    struct test_trace t = test_trace_text(
        "{\"fields\": {\"run\": {\"column\": \"r\"}, \"gpus\": {\"value\": \"two\"}}}", "r\n1\n",
        false);
    CHECK_STR(t.error.text, "map: fields.gpus: value 'two' is not a number");
    t = test_trace_text("phily", "", false);
    CHECK_STR(t.error.text, "phily: there is no such map or file; did you mean 'philly'?");
}

static void files_without_a_header_are_read(void)
{
    struct test_trace t = test_trace_text(
        "gavel_tsv",
        "\xEF\xBB\xBFResNet-18 (batch size 64)\tpython3 main.py --data_dir=%s/cifar10\tgpus\t"
        "--num_steps\t1\t1646636\t4\t1.000000\t-1.000000\t978.344\n"
        "A3C\tpython3 main.py\trl\t--max-steps\t0\t5\t1\t1.000000\t-1.000000\t2000\n",
        false);
    CHECK_STR(t.error.text, "");
    CHECK_I64(t.jobs.count, 2);
    if (t.jobs.count == 2) {
        CHECK_I64(t.jobs.jobs[0].submit_ns, 978344000000);
        CHECK_I64(t.jobs.jobs[0].gpus, 4);
        CHECK_I64(t.jobs.jobs[0].run_ns, WL_UNKNOWN);
        CHECK_STR(t.jobs.jobs[1].group, "A3C");
        CHECK_I64(t.jobs.jobs[1].line, 2);
    }
    wl_jobs_clear(&t.jobs);
}

static void slurm_is_read(void)
{
    struct test_trace t = test_trace_text(
        "slurm",
        "JobIDRaw|User|Account|Partition|State|Submit|Start|End|TimelimitRaw|ReqTRES|Priority\n"
        "44727703|ana|vision|gpu|COMPLETED|2026-04-12T05:50:02|2026-04-12T05:52:31|"
        "2026-04-12T17:52:49|720|billing=8,cpu=8,gres/gpu:h100=2,gres/gpu=2,mem=63000M,node=1|4021"
        "\n"
        "44727704|ana|vision|gpu|CANCELLED by 1001|2026-04-12T05:51:02|None|2026-04-12T06:00:02|"
        "UNLIMITED|cpu=8,gres/gpu:a100=2,gres/gpu:h100=1,mem=1.5G|4294967295\n"
        "44727705|bo|vision|gpu|RUNNING|2026-04-12T05:52:02|2026-04-12T05:52:31|Unknown|720|"
        "cpu=1|1\n",
        false);
    CHECK_STR(t.error.text, "");
    CHECK_I64(t.jobs.count, 3);
    if (t.jobs.count == 3) {
        const struct wl_job *job = t.jobs.jobs;
        CHECK_I64(job[0].wait_ns, 149 * S);
        CHECK_I64(job[0].run_ns, 43218 * S);
        CHECK_I64(job[0].estimate_ns, 43200 * S);
        CHECK_I64(job[0].cpu_milli, 8000);
        CHECK_I64(job[0].gpus, 2);
        CHECK_I64(job[0].memory_bytes, 63000 * INT64_C(1048576));
        CHECK_I64(job[0].end, WL_JOB_DONE);
        CHECK_I64(job[1].gpus, 3);
        CHECK_I64(job[1].memory_bytes, INT64_C(1610612736));
        CHECK_I64(job[1].end, WL_JOB_NEVER_STARTED);
        CHECK_I64(job[1].patience_ns, 540 * S);
        CHECK_I64(job[1].estimate_ns, WL_UNKNOWN);
        CHECK_I64(job[1].priority, INT32_MAX);
        CHECK_I64(job[2].end, WL_JOB_RUNNING);
        CHECK_I64(job[2].run_ns, WL_UNKNOWN);
        CHECK_I64(job[2].gpus, 0);
    }
    wl_jobs_clear(&t.jobs);
}

static void every_built_in_map_is_valid_and_known_by_name(void)
{
    for (size_t i = 0; i < wl_column_maps_count; i++) {
        struct wl_column_map *map = NULL;
        struct weir_error error = { .phase = -1, .pool = -1 };
        CHECK_I64(wl_column_map_open(wl_column_maps[i].name, &map, &error), WEIR_OK);
        CHECK_STR(error.text, "");
        if (map == NULL)
            continue;
        CHECK_STR(map->name, wl_column_maps[i].name);
        CHECK(map->summary != NULL);
        wl_column_map_destroy(map);
    }
}

static void shared_tables_are_recognised(void)
{
    static const struct {
        const char *path;
        size_t count;
        int64_t submit_ns, run_ns; /* of the second job */
        uint32_t gpus;
    } traces[] = {
        { "traces/philly/philly_jobs_sia.csv.gz", 82247, 0, 2951 * S, 1 },
        { "traces/tiresias/60_job.csv", 60, 30 * S, 147 * S, 8 },
        { "traces/gavel/continuous_multi_seed0.csv.gz", 8000, 978344290800, 31016609146000, 1 },
    };
    for (size_t i = 0; i < sizeof traces / sizeof traces[0]; i++) {
        struct test_trace t;
        if (!test_trace_shared(traces[i].path, &t))
            return;
        CHECK_I64(t.jobs.count, traces[i].count);
        CHECK_I64(t.jobs.jobs[1].run_ns, traces[i].run_ns);
        CHECK_I64(t.jobs.jobs[1].gpus, traces[i].gpus);
        if (i > 0)
            CHECK_I64(t.jobs.jobs[1].submit_ns, traces[i].submit_ns);
        else
            CHECK_STR(t.jobs.jobs[1].group, "6214e9");
        wl_jobs_clear(&t.jobs);
    }
}

static void what_is_no_trace_is_refused(void)
{
    static const struct {
        const char *text, *message;
    } cases[] = {
        { "", "t: empty" },
        { "\n \n", "t: empty" },
        { "hello world\n", "t:1: this is no trace that is known by its head; name its format, or "
                           "give a column map" },
        { "\na,b\n", "t:2: this is no trace that is known by its head; name its format, or give a "
                     "column map" },
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        const struct wl_trace_options options = { .path = "t",
                                                  .bytes = (const uint8_t *)cases[i].text,
                                                  .byte_count = strlen(cases[i].text) };
        const struct wl_trace_format *format = NULL;
        const char *map = NULL;
        struct weir_error error = { .phase = -1, .pool = -1 };
        CHECK_I64(wl_trace_recognise(&options, &format, &map, &error), WEIR_EFORMAT);
        CHECK_STR(error.text, cases[i].message);
    }
}

static const struct test tests[] = {
    { "units, constants, factors and shares are exact", units_and_constants_are_exact },
    { "a row asks for a MIG instance", a_row_asks_for_a_mig_instance },
    { "words say what texts stand for", words_say_what_texts_stand_for },
    { "every unit of time has its size", every_unit_has_its_size },
    { "dates count from the first submission, summer time included",
      dates_count_from_the_first_submission },
    { "every bad row has its place", every_bad_row_has_its_place },
    { "every mistake of a map is named", every_mistake_of_a_map_is_named },
    { "files without a header are read", files_without_a_header_are_read },
    { "Slurm's accounting is read", slurm_is_read },
    { "every built-in map is valid and called as it calls itself",
      every_built_in_map_is_valid_and_known_by_name },
    { "shared tables are recognised and read", shared_tables_are_recognised },
    { "what is no trace is refused", what_is_no_trace_is_refused },
};
TEST_MAIN(tests)
