/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Both ends of the talk (see lab_apart.h). */
#include "sim/world/lab_apart.h"

#include "sim/lab/lab.h"
#include "sim/port/module.h"
#include "sim/port/told.h"
#include "sim/record/run_options.h"

#include <string.h>

enum kind { OPEN, CHOOSE, PUT, TAKE };

/* What is told; OPEN and CHOOSE are answered. */
struct told {
    uint32_t kind; /* enum kind; PUT: then the place */
    uint32_t reserved;
    uint64_t row;
    uint64_t id; /* CHOOSE: seed; PUT, TAKE: worker */
};
/* Then the places, one a member, or the error. */
struct answer {
    int32_t status;
    uint32_t members;
};

/* ---- places over a line: devices that are in use alone ---- */

static weir_status put_place(struct sim_line *line, const struct weir_alloc *alloc)
{
    const uint32_t count =
        alloc->device_count < WEIR_MAX_DEVICES ? alloc->device_count : WEIR_MAX_DEVICES;
    WEIR_TRY(sim_line_put(line, alloc, offsetof(struct weir_alloc, devices)));
    return sim_line_put(line, alloc->devices, count * sizeof alloc->devices[0]);
}

static weir_status get_place(struct sim_line *line, struct weir_alloc *alloc)
{
    memset(alloc, 0, sizeof *alloc);
    WEIR_TRY(sim_line_get(line, alloc, offsetof(struct weir_alloc, devices)));
    if (alloc->device_count > WEIR_MAX_DEVICES)
        return WEIR_EPOLICY;
    return sim_line_get(line, alloc->devices, alloc->device_count * sizeof alloc->devices[0]);
}

/* ---- there ---- */

struct child {
    struct sim_lab_apart *apart;
    weir_status failed; /* of what was told */
    struct weir_error error;
};

static weir_status answer(struct child *child, weir_status status, uint64_t row)
{
    struct sim_lab *lab = child->apart->lab;
    struct sim_line *line = &child->apart->process.line;
    const bool is_open = row == UINT64_MAX;
    const struct answer said = { status, status != WEIR_OK || is_open
                                             ? 0
                                             : sim_lab_copy_members(lab, row) };
    sim_line_speak(line);
    WEIR_TRY(sim_line_put(line, &said, sizeof said));
    for (uint32_t m = 0; m < said.members; m++)
        WEIR_TRY(put_place(line, sim_lab_copy_place(lab, m)));
    if (status != WEIR_OK)
        WEIR_TRY(sim_line_put(line, &child->error, sizeof child->error));
    return sim_line_pass(line);
}

static weir_status open_policy(struct child *child)
{
    struct sim_lab_apart *apart = child->apart;
    weir_status status =
        sim_placement_load(&apart->scenario->sched.placement.placement, &child->error);
    if (status == WEIR_OK)
        status = sim_lab_copy_open(apart->lab, &child->error);
    return answer(child, status, UINT64_MAX);
}

static weir_status serve(struct child *child, const struct told *told)
{
    struct sim_lab *lab = child->apart->lab;
    struct weir_alloc place;
    weir_status status = child->failed;
    switch ((enum kind)told->kind) {
    case OPEN:
        return open_policy(child);
    case CHOOSE:
        if (status == WEIR_OK)
            status = sim_lab_copy_choose(lab, told->row, told->id, &child->error);
        return answer(child, status, told->row);
    case PUT:
        WEIR_TRY(get_place(&child->apart->process.line, &place));
        status = sim_lab_copy_put(lab, told->id, &place, &child->error);
        break;
    case TAKE:
        status = sim_lab_copy_take(lab, told->id, &child->error);
        break;
    }
    child->failed = child->failed == WEIR_OK ? status : child->failed;
    return WEIR_OK;
}

static int child_main(void *state)
{
    struct child child = { .apart = state, .error = { .phase = -1, .pool = -1 } };
    struct sim_line *line = &child.apart->process.line;
    struct told told;
    sim_policy_process_turn(&child.apart->process);
    weir_status status = sim_line_listen(line);
    while (status == WEIR_OK) {
        status = sim_line_get(line, &told, sizeof told);
        if (status == WEIR_OK)
            status = serve(&child, &told);
    }
    return 0;
}

/* ---- here ---- */

static void tell(struct sim_lab_apart *apart, struct told told)
{
    if (sim_line_put(&apart->process.line, &told, sizeof told) != WEIR_OK)
        apart->is_lost = true;
}

static weir_status lose(struct sim_lab_apart *apart, struct weir_error *error)
{
    const weir_status status = sim_policy_process_lost(&apart->process, error);
    weir_error_wrap(error, "placement policy %s", apart->name);
    return status;
}

static weir_status hear(struct sim_lab_apart *apart, uint32_t members, struct weir_alloc *places,
                        struct weir_error *error)
{
    struct sim_line *line = &apart->process.line;
    struct answer said;
    bool is_heard = true;
    weir_status status = WEIR_OK;
    if (apart->is_lost || sim_line_pass(line) != WEIR_OK ||
        sim_line_get(line, &said, sizeof said) != WEIR_OK || !sim_policy_is_status(said.status) ||
        said.members != (said.status == WEIR_OK ? members : 0))
        return lose(apart, error);
    for (uint32_t m = 0; m < said.members; m++)
        if (get_place(line, &places[m]) != WEIR_OK)
            return lose(apart, error);
    if (said.status != WEIR_OK)
        status =
            sim_policy_process_failure(&apart->process, (weir_status)said.status, error, &is_heard);
    if (!is_heard)
        return lose(apart, error);
    sim_line_speak(line);
    return status;
}

static weir_status ask(void *state, const struct sim_lab_question *question,
                       struct weir_alloc *places, struct weir_error *error)
{
    struct sim_lab_apart *apart = state;
    tell(apart, (struct told){ .kind = CHOOSE, .row = question->row, .id = question->seed });
    return hear(apart, question->job->members, places, error);
}

static void put(void *state, uint64_t worker, const struct weir_alloc *place)
{
    struct sim_lab_apart *apart = state;
    tell(apart, (struct told){ .kind = PUT, .id = worker });
    if (put_place(&apart->process.line, place) != WEIR_OK)
        apart->is_lost = true;
}

static void take(void *state, uint64_t worker)
{
    tell(state, (struct told){ .kind = TAKE, .id = worker });
}

weir_status sim_lab_apart_start(struct sim_lab_apart *apart, struct sim_scenario *scenario,
                                struct sim_lab *lab, const struct sim_run_options *options,
                                struct weir_error *error)
{
    const struct sim_policy_work work = { .main = child_main, .state = apart };
    *apart = (struct sim_lab_apart){ .elsewhere = { apart, ask, put, take },
                                     .scenario = scenario,
                                     .lab = lab,
                                     .name = scenario->sched.placement.placement->name };
    WEIR_TRY(sim_told_start(&apart->process, work, options, error));
    sim_lab_turn(lab, &apart->elsewhere);
    tell(apart, (struct told){ .kind = OPEN });
    return hear(apart, 0, NULL, error);
}

void sim_lab_apart_stop(struct sim_lab_apart *apart)
{
    sim_policy_process_stop(&apart->process);
}
