/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What a place leaves over, as shares: of the GPUs that are touched, and of the node. */
#include "sched/placement/parts/leftover.h"
#include "tests/support/check.h"

static void shares_are_of_all_that_is_touched(void)
{
    struct weir_cluster *cluster = NULL;
    const struct weir_gpu_spec gpus[4] = {
        { .units = WEIR_ONE }, { .units = WEIR_ONE }, { .units = WEIR_ONE }, { .units = WEIR_ONE }
    };
    const struct weir_node_spec node = { .size = sizeof(struct weir_node_spec),
                                         .gpu_count = 4,
                                         .cpu_units = 8 * WEIR_ONE,
                                         .gpus = gpus };
    struct weir_alloc alloc = { .device_count = 3, .cpu_units = 2 * WEIR_ONE };
    for (uint32_t d = 0; d < 3; d++)
        alloc.devices[d] = (struct weir_device){ .gpu = d, .units = WEIR_ONE * (d + 1) / 4 };

    CHECK_I64(weir_cluster_create(NULL, &cluster), WEIR_OK);
    CHECK_I64(weir_cluster_add_node(cluster, &node, NULL, NULL), WEIR_OK);
    const struct weir_score score = weir_leftover(cluster, &alloc);
    CHECK_NEAR(score.primary, (0.75 + 0.5 + 0.25) / 3, 1e-12);
    CHECK_NEAR(score.secondary, (6.0 / 8 + (4 - 1.5) / 4) / 2, 1e-12);
    weir_cluster_destroy(cluster);
}

static const struct test tests[] = {
    { "shares are of all that is touched", shares_are_of_all_that_is_touched },
};

TEST_MAIN(tests)
