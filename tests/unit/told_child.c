/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The process of a policy (sim/port/told_child.c), here a thread at the other end of a line: what
 * goes otherwise there than on weir's side is an answer that names the policy.
 */
#include "sim/port/port_state.h"
#include "sim/port/told.h"
#include "tests/support/check.h"
#include "tests/support/runs.h"

#include <pthread.h>
#include <string.h>

#define SCENARIO                                                                                   \
    "schema: 2\nname: t\ncluster: {nodes: [{name: n, count: 1, cpus: 8, gpus: {h100: 1}}]}\n"      \
    "jobs: [{name: w, run_time: 60 s, classes: [{name: a, count: 1, request: {gpus: 1}}]}]\n"

struct talk {
    struct sim_context context;
    struct sim_port port;
    struct sim_line line; /* weir's end */
    struct sim_scenario *scenario;
    pthread_t child;
};

static void *live(void *port)
{
    (void)sim_told_child(port);
    return NULL;
}

static void put(struct talk *talk, const void *bytes, size_t size)
{
    CHECK_I64(sim_line_put(&talk->line, bytes, size), WEIR_OK);
}

/* The status of the answer; its error, if it failed. */
static int32_t ask(struct talk *talk, uint32_t kind, const struct weir_call *call,
                   struct weir_error *error)
{
    const struct sim_told told = { .kind = kind };
    struct sim_told_answer answer = { .status = -1 };
    put(talk, &told, sizeof told);
    put(talk, call, call == NULL ? 0 : sizeof *call);
    CHECK_I64(sim_line_pass(&talk->line), WEIR_OK);
    CHECK_I64(sim_line_get(&talk->line, &answer, sizeof answer), WEIR_OK);
    if (answer.status != WEIR_OK)
        CHECK_I64(sim_line_get(&talk->line, error, sizeof *error), WEIR_OK);
    sim_told_blame(&talk->port, error); /* as weir's side does with all that it hears */
    sim_line_speak(&talk->line);
    return answer.status;
}

static void begin(struct talk *talk)
{
    struct weir_error error = { .text = "" };
    *talk = (struct talk){ .scenario = test_scenario(SCENARIO, "") };
    talk->port.config.context = &talk->context;
    talk->port.memory = sim_command_allocator(&talk->port.commands);
    talk->port.config.scenario = talk->scenario;
    talk->port.sched = &talk->scenario->sched;
    CHECK_I64(sim_line_open(&talk->port.process.line), WEIR_OK);
    talk->line = talk->port.process.line;
    CHECK_I64(pthread_create(&talk->child, NULL, live, &talk->port), 0);
    CHECK_I64(ask(talk, SIM_TOLD_BEGIN, NULL, &error), WEIR_OK);
}

static void end(struct talk *talk)
{
    sim_line_end(&talk->line);
    CHECK_I64(pthread_join(talk->child, NULL), 0);
    sim_line_close(&talk->line);
    sim_scenario_destroy(talk->scenario);
}

/* One telling, whose end weir's side says was `status`, then the question, and once more after
 * another that fails in other words: what failed first stays the answer. */
static void check_blame(uint32_t kind, weir_status status, const char *said)
{
    const struct weir_call call = { .size = sizeof call, .causes = WEIR_CAUSE_TIMER };
    const struct sim_told told = { .kind = kind, .status = status, .id = 7 };
    const struct sim_told other = { .kind = SIM_TOLD_NODE }; /* the second: it is there already */
    struct weir_error first = { .text = "" };
    struct weir_error again = { .text = "" };
    struct talk talk;
    begin(&talk);
    put(&talk, &told, sizeof told);
    CHECK(ask(&talk, SIM_TOLD_DECIDE, &call, &first) != WEIR_OK);
    put(&talk, &other, sizeof other);
    put(&talk, &other, sizeof other);
    CHECK(ask(&talk, SIM_TOLD_DECIDE, &call, &again) != WEIR_OK);
    CHECK(strstr(first.text, "policy ") == first.text + strlen("placement "));
    CHECK_STR(strrchr(first.text, ':'), said);
    CHECK_STR(again.text, first.text);
    end(&talk);
}

static void test_refusal_names_the_policy(void)
{
    check_blame(SIM_TOLD_ENDED, WEIR_OK, ": job 7 does not run");
    check_blame(SIM_TOLD_STATE, WEIR_OK, ": not found");
}

static void test_acceptance_names_the_policy(void)
{
    check_blame(SIM_TOLD_LIMIT, WEIR_EINVAL, ": not found");
}

static void test_bad_call_names_the_policy(void)
{
    const struct weir_call none = { 0 };
    struct weir_error error = { .text = "" };
    struct talk talk;
    begin(&talk);
    CHECK(ask(&talk, SIM_TOLD_DECIDE, &none, &error) != WEIR_OK);
    CHECK(strstr(error.text, "policy ") != NULL);
    end(&talk);
}

static const struct test tests[] = {
    { "what it refuses of what it is told names the policy", test_refusal_names_the_policy },
    { "what it takes of what weir refused names it, too", test_acceptance_names_the_policy },
    { "a question it refuses names it, too", test_bad_call_names_the_policy },
};
TEST_MAIN(tests)
