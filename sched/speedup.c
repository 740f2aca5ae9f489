/* SPDX-License-Identifier: Apache-2.0 */
/* Laws of speed by ranks; see weir/speedup.h. */
#include "weir/speedup.h"

#include <math.h>
#include <stdbool.h>
#include <stddef.h>

/* ---- goodput ---- */

/* Batches that are tried, evenly in their logarithm. */
enum { BATCHES = 50 };

static double exchange_s(const double *law, uint32_t ranks, uint32_t nodes)
{
    const uint32_t more = ranks > 2 ? ranks - 2 : 0;

    if (ranks <= 1)
        return 0;
    return nodes > 1 ? law[WEIR_GOODPUT_NODES] + law[WEIR_GOODPUT_NODES_RANK] * more
                     : law[WEIR_GOODPUT_NODE] + law[WEIR_GOODPUT_NODE_RANK] * more;
}

/* Computing and exchanging overlap: a norm between their sum and the longer of the two. */
static double step_s(const double *law, double compute_s, double all_s)
{
    const double overlap = law[WEIR_GOODPUT_OVERLAP];

    if (!(all_s > 0))
        return compute_s;
    return pow(pow(compute_s, overlap) + pow(all_s, overlap), 1 / overlap);
}

/* What an example of a larger batch is worth, by the noise of the gradient. */
static double efficiency(const double *law, double batch)
{
    const double scale = batch / law[WEIR_GOODPUT_BATCH];
    const double norm = law[WEIR_GOODPUT_NORM];
    const double variance = law[WEIR_GOODPUT_VARIANCE];

    return (variance + norm) / (variance / scale + norm) / scale;
}

/* Batches between which the best is looked for; false = there is none. */
static bool batches(const double *law, uint32_t ranks, double *least, double *most)
{
    *least = fmax(law[WEIR_GOODPUT_BATCH], law[WEIR_GOODPUT_RANK_LEAST] * ranks);
    *most = fmin(law[WEIR_GOODPUT_BATCH_MOST], law[WEIR_GOODPUT_RANK_MOST] * ranks);
    return *least <= *most;
}

double weir_speedup_goodput(const struct weir_speedup *speedup, uint32_t ranks, uint32_t nodes,
                            double *batch)
{
    const double *const law = speedup->numbers;
    double best = 0;
    double least = 0;
    double most = 0;

    if (ranks == 0 || speedup->law != WEIR_SPEEDUP_GOODPUT || !batches(law, ranks, &least, &most))
        return 0;
    const double all_s = exchange_s(law, ranks, nodes);
    for (uint32_t i = 0; i < BATCHES; i++) {
        const double all = least * pow(most / least, (double)i / (BATCHES - 1));
        const double compute_s =
            law[WEIR_GOODPUT_COMPUTE] + law[WEIR_GOODPUT_COMPUTE_BATCH] * all / ranks;
        const double good = all / step_s(law, compute_s, all_s) * efficiency(law, all);
        if (good > best && batch != NULL)
            *batch = all;
        best = good > best ? good : best;
    }
    return best;
}

/* ---- all laws ---- */

static double table_at(const struct weir_speedup *speedup, uint32_t ranks)
{
    const uint32_t last = ranks < speedup->count ? ranks : speedup->count;

    return speedup->numbers[last - 1] / speedup->numbers[0];
}

double weir_speedup_at(const struct weir_speedup *speedup, uint32_t ranks, uint32_t nodes)
{
    const double *const law = speedup->numbers;

    if (ranks == 0)
        return 0;
    switch ((enum weir_speedup_law)speedup->law) {
    case WEIR_SPEEDUP_AMDAHL:
        return 1 / (law[0] + (1 - law[0]) / ranks);
    case WEIR_SPEEDUP_TABLE:
        return table_at(speedup, ranks);
    case WEIR_SPEEDUP_STEP:
        return (law[0] + law[1] + law[2]) / (law[0] / ranks + law[1] + law[2] * ranks);
    case WEIR_SPEEDUP_GOODPUT:
        return weir_speedup_goodput(speedup, ranks, nodes, NULL) /
               weir_speedup_goodput(speedup, 1, 1, NULL);
    }
    return 0;
}

double weir_speedup_efficiency(const struct weir_speedup *speedup, uint32_t ranks, uint32_t nodes)
{
    return ranks == 0 ? 0 : weir_speedup_at(speedup, ranks, nodes) / ranks;
}

/* ---- whether it is one ---- */

static uint32_t needed(const struct weir_speedup *speedup)
{
    switch ((enum weir_speedup_law)speedup->law) {
    case WEIR_SPEEDUP_AMDAHL:
    case WEIR_SPEEDUP_TABLE:
        return 1;
    case WEIR_SPEEDUP_STEP:
        return 3;
    case WEIR_SPEEDUP_GOODPUT:
        return WEIR_GOODPUT_COUNT;
    }
    return UINT32_MAX;
}

static weir_status check_goodput(const struct weir_speedup *speedup, struct weir_error *error)
{
    const double *const law = speedup->numbers;
    double least = 0;
    double most = 0;

    if (!(law[WEIR_GOODPUT_BATCH] > 0) || !(law[WEIR_GOODPUT_NORM] > 0) ||
        !(law[WEIR_GOODPUT_RANK_MOST] > 0) ||
        !(law[WEIR_GOODPUT_COMPUTE] + law[WEIR_GOODPUT_COMPUTE_BATCH] > 0))
        return weir_fail(error, WEIR_EINVAL,
                         "batches, the norm of the gradient and the time to compute must be > 0");
    if (law[WEIR_GOODPUT_OVERLAP] < 1)
        return weir_fail(error, WEIR_EINVAL, "the overlap must be at least 1, got %g",
                         law[WEIR_GOODPUT_OVERLAP]);
    if (!batches(law, 1, &least, &most) || !batches(law, speedup->least, &least, &most) ||
        !batches(law, speedup->most, &least, &most))
        return weir_fail(error, WEIR_EINVAL, "no batch is possible with 1, %u or %u ranks",
                         speedup->least, speedup->most);
    return WEIR_OK;
}

weir_status weir_speedup_check(const struct weir_speedup *speedup, struct weir_error *error)
{
    const uint32_t count = needed(speedup);

    if (speedup->least == 0 || speedup->least > speedup->usual || speedup->usual > speedup->most)
        return weir_fail(error, WEIR_EINVAL, "%u ranks must be within [%u, %u]", speedup->usual,
                         speedup->least, speedup->most);
    if (count == UINT32_MAX)
        return weir_fail(error, WEIR_EINVAL, "unknown law %u", speedup->law);
    if (speedup->numbers == NULL || speedup->count < count)
        return weir_fail(error, WEIR_EINVAL, "%u numbers are needed, got %u", count,
                         speedup->count);
    for (uint32_t i = 0; i < speedup->count; i++)
        if (!(speedup->numbers[i] >= 0) || isinf(speedup->numbers[i]))
            return weir_fail(error, WEIR_EINVAL, "number %u must be at least 0, got %g", i + 1,
                             speedup->numbers[i]);
    if (speedup->law == WEIR_SPEEDUP_GOODPUT)
        return check_goodput(speedup, error);
    if (!(weir_speedup_at(speedup, speedup->least, 1) > 0) || isinf(weir_speedup_at(speedup, 1, 1)))
        return weir_fail(error, WEIR_EINVAL, "with %u ranks it must be faster than nothing",
                         isinf(weir_speedup_at(speedup, 1, 1)) ? 1 : speedup->least);
    return WEIR_OK;
}
