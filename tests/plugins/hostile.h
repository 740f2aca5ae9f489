/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The frame of the hostile modules: each hostile_*.c breaks one rule and is otherwise sound. A
 * scaling policy is its decide(); HOSTILE_SCALING(decide) makes the module around it.
 */
#ifndef TESTS_PLUGINS_HOSTILE_H
#define TESTS_PLUGINS_HOSTILE_H

#include "weir/capacity.h"
#include "weir/job.h"

#define HOSTILE_MODULE(placement_list, scaling_list)                                               \
    HOSTILE_MODULE_OF(.placements = (placement_list), .scalings = (scaling_list))

#define HOSTILE_MODULE_OF(...)                                                                     \
    static const struct weir_module module = {                                                     \
        .size = sizeof(struct weir_module),                                                        \
        .abi_major = WEIR_ABI_MAJOR,                                                               \
        .abi_minor = WEIR_ABI_MINOR,                                                               \
        .name = "hostile",                                                                         \
        .version = "1",                                                                            \
        .licence = "GPL-3.0-or-later",                                                             \
        __VA_ARGS__                                                                                \
    };                                                                                             \
    WEIR_API const struct weir_module *weir_policy_module_v2(void);                                \
    const struct weir_module *weir_policy_module_v2(void)                                          \
    {                                                                                              \
        return &module;                                                                            \
    }

#define HOSTILE_SCALING_OPS(...)                                                                   \
    static const struct weir_scaling_ops ops = { .size = sizeof(struct weir_scaling_ops),          \
                                                 .abi = WEIR_ABI_MAJOR,                            \
                                                 .name = "hostile",                                \
                                                 .summary = "breaks a rule",                       \
                                                 __VA_ARGS__ };                                    \
    static const struct weir_scaling_ops *const scalings[] = { &ops, NULL };                       \
    HOSTILE_MODULE(NULL, scalings)

#define HOSTILE_PLACEMENT_OPS(...)                                                                 \
    static const struct weir_placement_ops ops = { .size = sizeof(struct weir_placement_ops),      \
                                                   .abi = WEIR_ABI_MAJOR,                          \
                                                   .name = "hostile",                              \
                                                   .summary = "breaks a rule",                     \
                                                   __VA_ARGS__ };                                  \
    static const struct weir_placement_ops *const placements[] = { &ops, NULL };                   \
    HOSTILE_MODULE(placements, NULL)

#define HOSTILE_QUEUEING_OPS(...)                                                                  \
    static const struct weir_queueing_ops ops = { .size = sizeof(struct weir_queueing_ops),        \
                                                  .abi = WEIR_ABI_MAJOR,                           \
                                                  .name = "hostile",                               \
                                                  .summary = "breaks a rule",                      \
                                                  __VA_ARGS__ };                                   \
    static const struct weir_queueing_ops *const queueings[] = { &ops, NULL };                     \
    HOSTILE_MODULE_OF(.queueings = queueings)

#define HOSTILE_CAPACITY_OPS(...)                                                                  \
    static const struct weir_capacity_ops ops = { .size = sizeof(struct weir_capacity_ops),        \
                                                  .abi = WEIR_ABI_MAJOR,                           \
                                                  .name = "hostile",                               \
                                                  .summary = "breaks a rule",                      \
                                                  __VA_ARGS__ };                                   \
    static const struct weir_capacity_ops *const capacities[] = { &ops, NULL };                    \
    HOSTILE_MODULE_OF(.capacities = capacities)

/* The head of the decide() of a capacity policy; all arguments count as used. */
#define HOSTILE_SUPPLY                                                                             \
    static weir_status decide(void *state, const struct weir_view *view, struct weir_plan *plan,   \
                              struct weir_error *error)
#define HOSTILE_SUPPLY_UNUSED ((void)state, (void)view, (void)plan, (void)error)

/* The head of a decide(); all arguments count as used. */
#define HOSTILE_DECIDE                                                                             \
    static weir_status decide(void *state, const struct weir_view *view,                           \
                              struct weir_placer *placer, struct weir_plan *plan,                  \
                              struct weir_error *error)
#define HOSTILE_UNUSED ((void)state, (void)view, (void)placer, (void)plan, (void)error)

/* What one worker of stage 0 needs, on node 0 and its first GPU. */
static inline struct weir_alloc hostile_alloc(const struct weir_view *view)
{
    const struct weir_shape *shape = &weir_view_pool(view, 0)->shape;
    struct weir_alloc alloc = {
        .node = 0, .device_count = 1, .cpu_units = shape->cpu_units, .ram_bytes = shape->ram_bytes
    };
    alloc.devices[0] = (struct weir_device){ .units = shape->gpu_units,
                                             .nvdec_mask = 1,
                                             .mem_bytes = shape->gpu_mem_bytes };
    return alloc;
}

static inline weir_status hostile_start(struct weir_plan *plan, const struct weir_alloc *alloc)
{
    return weir_plan_start(plan, weir_pool_owner(0), weir_plan_new_worker(plan), alloc, NULL);
}

/* One worker of stage 0, once: a run with it is complete. */
static inline weir_status hostile_sound(const struct weir_view *view, struct weir_plan *plan)
{
    const struct weir_alloc alloc = hostile_alloc(view);

    return view->decision == 0 ? hostile_start(plan, &alloc) : WEIR_OK;
}

#endif
