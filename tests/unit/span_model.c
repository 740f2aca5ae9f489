/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Models of small logs written by hand: order, workers, fan-out, batches, arrivals, sizes. */
#include "workloads/spans/span_model.h"
#include "tests/support/check.h"
#include "workloads/spans/span_lives.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct fitted {
    struct wl_span_log log;
    struct wl_model model;
    struct weir_error error;
    weir_status status;
};

static void fit_text(const char *text, const struct wl_model_options *wanted, struct fitted *fitted)
{
    *fitted = (struct fitted){ .error = { .phase = -1, .pool = -1 } };
    const struct wl_span_options options = { .path = "t.csv",
                                             .bytes = (const uint8_t *)text,
                                             .byte_count = strlen(text) };
    struct wl_model_options fit = { .confidence = 0.95 };
    if (wanted != NULL)
        fit = *wanted;
    fitted->status = wl_span_log_read(&options, &fitted->log, &fitted->error);
    if (fitted->status == WEIR_OK)
        fitted->status = wl_model_fit(&fitted->log, &fit, &fitted->model, &fitted->error);
}

static void fitted_clear(struct fitted *fitted)
{
    wl_model_clear(&fitted->model);
    wl_span_log_clear(&fitted->log);
}

static void stages_are_ordered_by_first_start_or_as_asked(void)
{
    const char *text = "stage,start,end\nb,2,3\na,0,2\na,2,4\nb,4,5\n";
    struct fitted f;
    fit_text(text, NULL, &f);
    CHECK_STR(f.error.text, "");
    CHECK_STR(f.model.stages[0].name, "a");
    fitted_clear(&f);
    const struct wl_model_options asked = { .confidence = 0.95, .stages = "b,a" };
    fit_text(text, &asked, &f);
    CHECK_STR(f.model.stages[0].name, "b");
    fitted_clear(&f);
    const struct wl_model_options wrong = { .confidence = 0.95, .stages = "b,b" };
    fit_text(text, &wrong, &f);
    CHECK_I64(f.status, WEIR_EINVAL);
    fitted_clear(&f);
}

static void workers_are_counted_at_once_and_in_all(void)
{
    struct fitted f;
    fit_text("stage,worker,node,start,end\ns,u,n1,0,2\ns,v,n1,1,3\ns,w,n2,3,5\ns,u,n1,2,3\n", NULL,
             &f);
    CHECK_I64(f.model.stages[0].workers_seen, 3);
    CHECK_I64(f.model.stages[0].workers_peak, 2); /* w begins when u and v are gone */
    CHECK_I64(f.model.node_count, 2);
    CHECK_I64(f.model.nodes[0].workers, 2);
    CHECK_I64(f.model.nodes[1].workers, 1);
    fitted_clear(&f);
    fit_text("stage,start,end\ns,0,2\ns,1,3\ns,1,4\ns,3,5\n", NULL, &f);
    CHECK_I64(f.model.stages[0].workers_peak, 3);
    fitted_clear(&f);
}

static void lives_of_no_length_count_at_their_instant(void)
{
    const struct wl_life lives[] = { { 0, 0, 0, 0, 1, 1 }, { 0, 1, 0, 0, 1, 1 } };
    const struct wl_life_count count =
        wl_lives_count(lives, 2, (struct wl_life_filter){ 0, WL_ANY, WL_ANY });
    CHECK_I64(count.seen, 2);
    CHECK_I64(count.peak, 2);
}

static void fan_out_is_a_mean_or_a_sample(void)
{
    struct fitted f;
    fit_text("stage,start,end,n_out\ns,0,1,1\ns,1,2,2\ns,2,3,2\ns,3,4,1\n", NULL, &f);
    CHECK_NEAR(f.model.stages[0].returns, 1.5, 1e-12);
    CHECK(!f.model.stages[0].returns_vary);
    fitted_clear(&f);
    fit_text("stage,start,end,n_out\ns,0,1,0\ns,1,2,4\n", NULL, &f);
    CHECK_NEAR(f.model.stages[0].returns, 2.0, 1e-12);
    CHECK(f.model.stages[0].returns_vary);
    fitted_clear(&f);
    /* Without the column: three items of b for two of a. */
    fit_text("stage,start,end\na,0,1\na,1,2\nb,1,2\nb,2,3\nb,3,4\n", NULL, &f);
    CHECK_NEAR(f.model.stages[0].returns, 1.5, 1e-12);
    fitted_clear(&f);
}

static void batches_and_failures_are_counted_by_task(void)
{
    struct fitted f;
    fit_text("stage,worker,start,end,failed\ns,w,0,2,0\ns,w,0,2,0\ns,w,2,4,0\ns,w,2,4,0\n"
             "s,w,4,5,1\ns,w,4,5,1\ns,w,5,7,0\n",
             NULL, &f);
    const struct wl_stage_model *stage = &f.model.stages[0];
    CHECK_I64(stage->batch, 2);
    CHECK_NEAR(stage->batch_share, 0.75, 1e-12);
    CHECK_I64(stage->tasks, 3);
    CHECK_I64(stage->failed, 1);
    CHECK_I64(stage->items, 5);
    CHECK_I64(stage->services[0].law.fit.family, WL_CONST); /* the failed one second is left out */
    fitted_clear(&f);
    /* One row a task, the batch in a column; n_out is of the whole row. */
    fit_text("stage,start,end,batch,n_out\ns,0,1,4,8\ns,1,2,4,8\n", NULL, &f);
    CHECK_I64(f.model.stages[0].batch, 4);
    CHECK_I64(f.model.items, 8);
    CHECK_NEAR(f.model.stages[0].returns, 2.0, 1e-12);
    fitted_clear(&f);
}

static void backlog_and_arrivals_are_told_apart(void)
{
    struct fitted f;
    fit_text("stage,worker,start,end\ns,w,0,1\ns,w,1,3\ns,w,3,3.5\n", NULL, &f);
    CHECK(f.model.is_backlog);
    fitted_clear(&f);
    fit_text("stage,worker,start,end\ns,w,0,1\ns,w,1.5,3\ns,w,3.25,3.5\n", NULL, &f);
    CHECK(!f.model.is_backlog && f.model.arrivals_from_starts);
    CHECK_NEAR(f.model.arrivals.mean, 1.625, 1e-12);
    fitted_clear(&f);
    fit_text("stage,queued_at,start,end\ns,0,0,1\ns,0.5,1,3\ns,2,3,3.5\n", NULL, &f);
    CHECK(!f.model.is_backlog && !f.model.arrivals_from_starts);
    CHECK_NEAR(f.model.arrivals.mean, 1.0, 1e-12);
    fitted_clear(&f);
    fit_text("stage,queued_at,start,end\ns,0,0,1\ns,0,1,3\ns,0,3,3.5\n", NULL, &f);
    CHECK(f.model.is_backlog);
    fitted_clear(&f);
}

static void sizes_scale_the_service_when_they_explain_it(void)
{
    struct fitted f;
    fit_text("stage,start,end,size,gpu\ns,0,1,1,x\ns,1,3,2,x\ns,3,6,3,x\ns,6,8,1,y\n", NULL, &f);
    CHECK(f.model.stages[0].scales_by_size);
    CHECK_I64(f.model.stages[0].services[0].law.fit.family, WL_CONST);
    CHECK_I64(f.model.stages[0].service_count, 2);
    CHECK_NEAR(f.model.stages[0].services[1].factor, 2.0, 1e-9);
    fitted_clear(&f);
    fit_text("stage,start,end,size\ns,0,2,1\ns,2,4,2\ns,4,6,3\n", NULL, &f);
    CHECK(!f.model.stages[0].scales_by_size);
    fitted_clear(&f);
}

static const struct test tests[] = {
    { "stages are ordered by first start, or as asked",
      stages_are_ordered_by_first_start_or_as_asked },
    { "workers are counted at once and in all", workers_are_counted_at_once_and_in_all },
    { "lives of no length count at their instant", lives_of_no_length_count_at_their_instant },
    { "fan-out is a mean or a sample", fan_out_is_a_mean_or_a_sample },
    { "batches and failures are counted by task", batches_and_failures_are_counted_by_task },
    { "backlog and arrivals are told apart", backlog_and_arrivals_are_told_apart },
    { "sizes scale the service when they explain it",
      sizes_scale_the_service_when_they_explain_it },
};
TEST_MAIN(tests)
