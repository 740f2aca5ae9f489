/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Places of workers by id and by node, against plain lists. */
#include "sim/worker/hold.h"
#include "tests/support/check.h"
#include "tests/support/draws.h"

#include <stdlib.h>

enum { NODES = 3, LIVING = 400, STEPS = 60000 };

struct model {
    struct sim_workers workers;
    struct sim_hold *living[LIVING]; /* by age */
    uint32_t count;
};

/* Ids that collide: near each other, far apart, and with the same lower half. */
static uint64_t draw_id(struct draws *draws)
{
    switch (draws_below(draws, 3)) {
    case 0:
        return draws_below(draws, 500);
    case 1:
        return draws_below(draws, 500) << 32;
    default:
        return draws_below(draws, UINT64_MAX);
    }
}

static void enter(struct model *model, uint64_t id, uint32_t node)
{
    struct sim_hold *hold = calloc(1, sizeof(*hold));
    CHECK(hold != NULL);
    CHECK_I64(sim_key_reserve(&model->workers.holds), WEIR_OK);
    if (hold == NULL)
        return;
    hold->id = id;
    hold->lease.node = node;
    sim_hold_enter(&model->workers, hold);
    model->living[model->count++] = hold;
}

static void leave(struct model *model, uint32_t index)
{
    struct sim_hold *hold = model->living[index];
    sim_hold_leave(&model->workers, hold);
    for (model->count--; index < model->count; index++)
        model->living[index] = model->living[index + 1];
    CHECK(sim_key_find(&model->workers.holds, hold->id) == NULL);
    free(hold);
}

/* How many ids are not found, or stand in the wrong order on their node. */
static int faults(const struct model *model)
{
    int wrong = 0;
    for (uint32_t i = 0; i < model->count; i++)
        wrong += sim_key_find(&model->workers.holds, model->living[i]->id) != model->living[i];
    for (uint32_t n = 0; n < NODES; n++) {
        const struct sim_hold *hold = model->workers.on_node[n].first;
        const struct sim_hold *last = NULL;
        for (uint32_t i = 0; i < model->count; i++) {
            if (model->living[i]->lease.node != n)
                continue;
            wrong += hold != model->living[i] || hold->before != last;
            last = hold;
            hold = hold == NULL ? NULL : hold->after;
        }
        wrong += hold != NULL || model->workers.on_node[n].last != last;
    }
    return wrong;
}

static void places_are_found_by_id_and_node_whatever_comes_and_goes(void)
{
    struct draws draws = draws_seeded(20261122);
    struct node_holds on_node[NODES] = { { .first = NULL } };
    struct model *model = calloc(1, sizeof(*model));
    CHECK(model != NULL);
    if (model == NULL)
        return;
    model->workers.on_node = on_node;
    for (int step = 0; step < STEPS; step++) {
        const uint64_t id = draw_id(&draws);
        const bool is_new = sim_key_find(&model->workers.holds, id) == NULL;
        if (model->count < LIVING && is_new && draws_below(&draws, 5) < 3)
            enter(model, id, (uint32_t)draws_below(&draws, NODES));
        else if (model->count > 0)
            leave(model, (uint32_t)draws_below(&draws, model->count));
        if (step % 100 == 0)
            CHECK_I64(faults(model), 0);
    }
    /* at most half full, and no larger than what lived at once asks for, whatever the ids */
    CHECK(model->workers.holds.capacity <= 4 * LIVING);
    while (model->count > 0)
        leave(model, model->count - 1);
    CHECK_I64(model->workers.holds.count, 0);
    free(model->workers.holds.slots);
    free(model);
}

/* A claim of two devices whose second one is used in part. */
static const struct sim_claim *share(struct sim_workers *workers, uint32_t gpu, double used)
{
    workers->fresh = (struct sim_claim){ .device_count = 2, .use_count = 2, .cpu_units = 7 };
    workers->fresh.parts = workers->parts;
    for (uint32_t d = 0; d < 2; d++)
        workers->parts[d] = (struct sim_part){ .device = { .gpu = gpu + d, .units = WEIR_ONE } };
    workers->parts[1].use.gpu_share = used;
    return sim_claim_share(workers);
}

static void equal_claims_are_kept_once_while_somebody_uses_them(void)
{
    struct sim_workers *workers = calloc(1, sizeof(*workers));
    if (!CHECK(workers != NULL))
        return;
    const struct sim_claim *first = share(workers, 0, 0.5);
    const struct sim_claim *other = share(workers, 0, 0.25);
    const struct sim_claim *moved = share(workers, 1, 0.5);
    CHECK(share(workers, 0, 0.5) == first);
    CHECK(other != first && moved != first && moved != other);
    CHECK_I64(workers->claims.count, 3);
    CHECK_I64(first->parts[1].device.gpu, 1);
    CHECK_NEAR(other->parts[1].use.gpu_share, 0.25, 0);
    sim_claim_let_go(workers, first);
    CHECK(share(workers, 0, 0.5) == first); /* one user is left, and this one */
    sim_claim_let_go(workers, first);
    sim_claim_let_go(workers, first);
    CHECK_I64(workers->claims.count, 2);
    sim_claim_let_go(workers, other);
    sim_claim_let_go(workers, moved);
    CHECK_I64(workers->claims.count, 0);
    free(workers->claims.slots);
    free(workers);
}

static const struct test tests[] = {
    { "places are found by id and node whatever comes and goes",
      places_are_found_by_id_and_node_whatever_comes_and_goes },
    { "equal claims are kept once while somebody uses them",
      equal_claims_are_kept_once_while_somebody_uses_them },
};

TEST_MAIN(tests)
