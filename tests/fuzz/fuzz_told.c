/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Whatever the process of a policy leaves on the shared page: it becomes a plan that holds against
 * the view it is followed in, or is refused with a status; the inventory adds up afterwards, and no
 * byte beyond the page is read.
 *
 * The input is what the other side does at each of its turns: four bytes of length and one of
 * "that was all", as it writes them to the page (they may lie), then a byte that says how much of
 * the page it fills (times 64), and that much. When nothing is left it says that it ends.
 */
#include "sim/port/line.h"
#include "sim/port/told.h"
#include "tests/support/pipeline.h"
#include "tests/support/reached.h"

#include <linux/futex.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

/* As line.c has it; a stranger would find it out, too. */
enum { TURN, ASLEEP = 1, LENGTH = 3, IS_LAST, HEAD_WORDS };
enum { HEAD_BYTES = 6, UNIT = 64 };

struct stranger {
    uint32_t *page;
    const uint8_t *bytes;
    size_t left;
    bool is_over;
};

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void act(struct stranger *stranger)
{
    uint32_t *page = stranger->page;
    page[LENGTH] = 0;
    page[IS_LAST] = 1;
    if (stranger->left < HEAD_BYTES)
        return;
    const uint8_t *head = stranger->bytes;
    memcpy(&page[LENGTH], head, sizeof page[LENGTH]);
    page[IS_LAST] = head[4];
    const size_t most = (size_t)head[5] * UNIT;
    stranger->bytes += HEAD_BYTES;
    stranger->left -= HEAD_BYTES;
    const size_t count = most < stranger->left ? most : stranger->left;
    memcpy(&page[HEAD_WORDS], stranger->bytes, count);
    stranger->bytes += count;
    stranger->left -= count;
}

static void *live(void *state)
{
    struct stranger *stranger = state;
    uint32_t *turn = &stranger->page[TURN];
    while (!__atomic_load_n(&stranger->is_over, __ATOMIC_SEQ_CST)) {
        if (__atomic_load_n(turn, __ATOMIC_SEQ_CST) == SIM_LINE_WEIR) {
            (void)sched_yield();
            continue;
        }
        act(stranger);
        __atomic_store_n(turn, SIM_LINE_WEIR, __ATOMIC_SEQ_CST);
        (void)syscall(SYS_futex, turn, FUTEX_WAKE, 1, NULL, NULL, 0);
    }
    return NULL;
}

static struct weir_host *open_host(void)
{
    static const struct test_stage stages[] = {
        { .name = "a", .cpus = 1, .speed_per_s = 1 },
        { .name = "b", .cpus = 1, .gpus = 0.25, .speed_per_s = 2 },
        { .name = "c", .cpus = 2, .gpus = 1, .nvdecs = 1, .speed_per_s = 1, .batch = 4 },
    };
    const struct test_pipeline pipeline = {
        .nodes = 2, .gpus = 2, .nvdecs = 2, .cpus = 16, .stages = stages, .stage_count = 3
    };
    const struct weir_host_config config = test_config("first_fit", "xenna");
    struct weir_host *host = test_host(&config, &pipeline);
    if (host == NULL)
        abort();
    return host;
}

/* What is only told is kept, too: it names nodes that there are. */
static void look_at_choices(const struct weir_host *host, const struct weir_plan *plan)
{
    const uint32_t nodes = weir_cluster_node_count(weir_host_cluster(host));
    const struct weir_choice *choice = NULL;
    for (uint32_t i = 0; (choice = weir_plan_choice(plan, i)) != NULL; i++)
        if (choice->runner_up_node != WEIR_NO_INDEX && choice->runner_up_node >= nodes)
            abort();
    for (uint32_t i = 0; i < weir_plan_candidate_count(plan); i++)
        if (weir_plan_candidate_at(plan, i)->node >= nodes)
            abort();
}

/* As sim_told_decide() does with an answer; the rest of a talk is of the same words. */
static void follow(struct weir_host *host, const struct weir_plan_lists *lists, int64_t now_ns)
{
    struct weir_error error = { .phase = -1, .pool = -1 };
    const struct weir_plan *plan = NULL;
    const struct weir_call call = { .size = sizeof call,
                                    .causes = WEIR_CAUSE_TIMER,
                                    .now_ns = now_ns };
    const weir_status status = weir_host_follow(host, &call, lists, &plan, &error);
    if ((status == WEIR_OK) != (plan != NULL) || (status != WEIR_OK && error.text[0] == '\0'))
        abort();
    if (status == WEIR_OK && weir_plan_count(plan) > 0)
        fuzz_reached();
    if (status == WEIR_OK)
        look_at_choices(host, plan);
    if (status == WEIR_OK && test_carry_out(host, plan) != WEIR_OK)
        abort();
    if (weir_cluster_check(weir_host_cluster(host), NULL) != WEIR_OK)
        abort();
}

static void talk(struct sim_line *line, struct weir_host *host)
{
    struct sim_told_lists *lists = NULL;
    struct weir_plan_lists plan = { .size = sizeof plan };
    weir_status status = WEIR_OK;
    for (int64_t i = 1; i <= 8 && status == WEIR_OK; i++) {
        sim_line_speak(line);
        status = sim_line_pass(line);
        if (status == WEIR_OK)
            status = sim_told_plan_get(line, &lists, &plan);
        if (status == WEIR_OK)
            follow(host, &plan, i * 1000000000);
    }
    if (status != WEIR_OK && status != WEIR_EPOLICY && status != WEIR_ENOMEM)
        abort();
    sim_told_lists_destroy(lists);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct stranger stranger = { .bytes = data, .left = size };
    struct sim_line line;
    struct weir_host *host = open_host();
    pthread_t thread;
    if (sim_line_open(&line) != WEIR_OK)
        abort();
    stranger.page = (void *)line.page;
    if (pthread_create(&thread, NULL, live, &stranger) != 0)
        abort();
    talk(&line, host);
    __atomic_store_n(&stranger.is_over, true, __ATOMIC_SEQ_CST);
    if (pthread_join(thread, NULL) != 0)
        abort();
    sim_line_close(&line);
    weir_host_destroy(host);
    return 0;
}
