/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * How fast a pipeline could be at best, from the scenario alone; no simulation.
 *
 * The *fluid* bound lets workers be divided at will: each resource allows total / demand per item.
 * The *integer* bound is the largest rate that whole workers reach within the pools (max-min): for
 * a rate z stage i needs max(1, ceil(z / c_i)) workers, c_i being the source items a second one
 * worker of it can serve; the largest z that fits is found by bisection. Nodes are not looked at
 * one by one, set-up and waiting are left out, and mixed GPU types count with their mean speed.
 * Other pipelines keep their least number of workers. With `execution: batch` a stage has all that
 * its shape can take, and the times per item add up, with those that the store between them takes.
 *
 * Requests are held against the catalogue, real use against the truth; the tighter one counts.
 */
#ifndef SIM_SCENARIO_BOUND_H
#define SIM_SCENARIO_BOUND_H

#include "sim/scenario/scenario.h"

#define SIM_BOUND_RESOURCES(X)                                                                     \
    X(SIM_BOUND_CPU, "CPU")                                                                        \
    X(SIM_BOUND_GPU, "GPU")                                                                        \
    X(SIM_BOUND_NVDEC, "NVDEC")                                                                    \
    X(SIM_BOUND_NVENC, "NVENC")                                                                    \
    X(SIM_BOUND_RAM, "RAM")                                                                        \
    X(SIM_BOUND_GPU_MEM, "GPU memory")

#define SIM_BOUND_ENUM(name, text) name,
enum sim_bound_resource {
    SIM_BOUND_RESOURCES(SIM_BOUND_ENUM) SIM_BOUND_RESOURCE_COUNT,
    SIM_BOUND_FIXED = SIM_BOUND_RESOURCE_COUNT, /* a stage with a fixed number of workers */
    SIM_BOUND_ARRIVALS,                         /* no more comes in */
    SIM_BOUND_STORE                             /* what lies between the stages of a batch */
};
#undef SIM_BOUND_ENUM

enum sim_bound_view { SIM_BOUND_REQUESTED, SIM_BOUND_USED, SIM_BOUND_VIEWS };

struct sim_bound_stage {
    const struct sim_stage *stage;
    struct weir_request request; /* may differ from the stage's after sim_bound_set_request */
    double task_s;               /* mean service time of a task */
    double visits;               /* items of this stage for one item of the source */
    double rate_per_s;           /* source items a second one worker can serve */
    double store_s; /* to write what it works on and to read it, before it opens; of a batch */
    double needs[SIM_BOUND_VIEWS][SIM_BOUND_RESOURCE_COUNT]; /* of one worker */
};

/* The question: may be changed and solved again. */
struct sim_bound_problem {
    const struct sim_scenario *scenario;
    struct sim_bound_stage *stages;
    size_t stages_count;
    double totals[SIM_BOUND_VIEWS][SIM_BOUND_RESOURCE_COUNT]; /* what others leave */
    double gpus[SIM_BOUND_VIEWS];                             /* GPUs in the cluster */
    double arrivals_per_s;                                    /* INFINITY = all there at once */
    bool is_batch; /* what lies between two barriers has the cluster: times add up */
};

struct sim_bound {
    double fluid_per_s;   /* source items a second */
    double integer_per_s; /* 0 when not even one worker a stage fits */
    uint32_t binding;     /* of the fluid bound: enum sim_bound_resource */
    uint32_t slowest;     /* stage that sets the integer bound, index within the pipeline */
    double limit_per_s[SIM_BOUND_RESOURCE_COUNT]; /* fluid, INFINITY = not needed */
    uint32_t *workers;                            /* by stage, at the integer bound */
    size_t stages_count;
};

const char *sim_bound_resource_name(uint32_t resource);

/* The part of a GPU with this table (NULL = never cut) that a worker of the shape gets at most. */
struct sim_gpu_part sim_bound_best_part(const struct weir_mig *table,
                                        const struct weir_shape *shape);

/* The bounds of one pipeline; sim_bound_clear. Error: WEIR_ENOMEM. */
weir_status sim_bound_compute(const struct sim_scenario *scenario, uint32_t pipeline,
                              struct sim_bound *bound);
void sim_bound_clear(struct sim_bound *bound);

/* The same in two steps, for what-if questions. */
weir_status sim_bound_problem_create(const struct sim_scenario *scenario, uint32_t pipeline,
                                     struct sim_bound_problem *problem);
void sim_bound_problem_clear(struct sim_bound_problem *problem);
weir_status sim_bound_solve(const struct sim_bound_problem *problem, struct sim_bound *bound);

/* Whether no plan that stands still gives more than the bounds: they take means where GPUs differ
 * in speed, and look a service table up once; timelines and drifts change times on the way. */
bool sim_bound_is_known(const struct sim_bound_problem *problem);

/* The resource that stages compete for most: more workers of one stage are fewer of another, and
 * how many each should have is a question. SIM_BOUND_RESOURCE_COUNT = none: every stage can have
 * all the workers that its requests allow it alone. */
uint32_t sim_bound_shared(const struct sim_bound_problem *problem);

/* Another request for one stage; false when it is no valid request. */
bool sim_bound_set_request(struct sim_bound_problem *problem, uint32_t stage,
                           const struct weir_request *request);
/* `count` nodes more (negative: fewer) of a node type. */
void sim_bound_add_nodes(struct sim_bound_problem *problem, uint32_t node_type, int32_t count);

#endif
