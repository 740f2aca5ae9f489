/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The schema's tables of actor systems, innermost mappings first. */
#include "sim/scenario/schema/schema_parts.h"

static const struct sim_field role_uses_fields[] = {
    { NUMBER("cpus", draft_amounts, cpus), ABSENT("as requested"), MOST(LARGEST_COUNT),
      HELP("CPUs that a process takes while it computes") },
    { NUMBER("gpus", draft_amounts, gpus), ABSENT("as requested"), MOST(LARGEST_COUNT),
      HELP("GPUs that it works on; 0: it holds what it asked for and computes on the CPU") },
};
static const struct sim_section role_uses_section = {
    MAPPING("actors[].roles[].uses", draft_amounts, role_uses_fields),
    HELP("What a process really takes while it computes.")
};

static const struct sim_field variable_fields[] = {
    { TEXT("value", draft_variable, value), REQUIRED,
      HELP("text; {rank} in it is the number of the actor in its role, {local_rank} that among "
           "those "
           "on its node when it starts, {size} their count, {node} its node") },
};
static const struct sim_section variable_section = {
    MAPPING("actors[].variables.NAME", draft_variable, variable_fields), SCALAR("value"),
    HELP("A variable of the environment. It takes NAME=value and one byte.")
};

static const struct sim_field role_fields[] = {
    NAME_FIELD(draft_role, "name of the role, unique in its system"),
    { COUNT("count", draft_role, count), ABSENT("the scaling policy decides"),
      RANGE(1, LARGEST_COUNT), HELP("actors of the role") },
    { NUMBER("cpus", draft_role, asks.cpus), DEFAULT("1"), MOST(LARGEST_COUNT),
      HELP("CPUs that an actor asks for") },
    { NUMBER("gpus", draft_role, asks.gpus), DEFAULT("0"), MOST(LARGEST_COUNT),
      HELP("GPUs that an actor asks for, or a share of one") },
    { BYTES("ram", draft_role, ram_bytes), DEFAULT("0 B"), MOST(LARGEST_BYTES),
      HELP("memory that an actor asks for") },
    { COUNT("visible_gpus", draft_role, visible_gpus), ABSENT("all that it holds"),
      RANGE(0, LARGEST_COUNT),
      HELP("GPUs that the process sees (CUDA_VISIBLE_DEVICES): it works on these alone") },
    { BYTES("model", draft_role, model_bytes), DEFAULT("0 B"), MOST(LARGEST_BYTES),
      HELP("memory of its model: on each GPU that it works on, else on its node, beside `ram`") },
    { BYTES("gpu_context", draft_role, context_bytes), DEFAULT("0 B"), MOST(LARGEST_BYTES),
      HELP("memory of each GPU that the process sees, whatever it computes on (CUDA: 262 to 308 "
           "MiB)") },
    { BYTES("leak", draft_role, leak_bytes), DEFAULT("0 B"), MOST(LARGEST_MOVED),
      NEEDS("cluster.memory.rule: oom_killer|memory_monitor"),
      HELP("memory of its node that a process never gives back of each call that it served, and of "
           "each piece of its own work (cluster.memory)") },
    { SECTION("uses", draft_role, uses, &role_uses_section), ABSENT("as requested"),
      HELP("what it really takes; of actors that share a process, the group's request counts") },
    NODES_FIELDS(draft_role, ),
    { COUNT("concurrency", draft_role, concurrency), ABSENT("100, in a group that of the group"),
      RANGE(1, LARGEST_COUNT),
      HELP("calls that an actor has in service at once; the rest wait in their order") },
    { SECTION("rate_limit", draft_role, rate_limit, &sim_schema_rate_limit), ABSENT("none"),
      HELP("calls that an actor takes into service; those beyond it wait in their order; of roles "
           "that stand alone") },
    { TEXT("group", draft_role, group), ABSENT("it stands alone"),
      HELP("roles of one group share a process: the n-th actors of all of them are one, so their "
           "counts are equal") },
    { NAMED("variables", draft_role, variables, &variable_section), ABSENT("those of the system"),
      HELP("variables that its actors are given beside them, or in "
           "place of those of the same name") },
    { TEXT("needs", draft_role, needs), WORDS, ABSENT("none"),
      HELP("names of variables without which a process cannot begin, and ends the system: "
           "[LOCAL_RANK, MASTER_ADDR]") },
    { LAW("creation", draft_role, creation), UNIT(TIME), ABSENT("0 s"),
      HELP("from the placement of an actor to its readiness, behind its environment") },
};
static const struct sim_section role_section = {
    MAPPING("actors[].roles[]", draft_role, role_fields),
    HELP("Equal actors. What they ask for is logical: it decides who is placed where. Names that a "
         "training loop knows: rollout_worker, trainer, trajectory_pool, weight_sync_controller, "
         "data_loader, validator.")
};

static const struct sim_field group_fields[] = {
    { NUMBER("cpus", draft_role_group, asks.cpus),
      ABSENT("the most that one of its roles asks for"), MOST(LARGEST_COUNT),
      HELP("CPUs that the process asks for") },
    { NUMBER("gpus", draft_role_group, asks.gpus),
      ABSENT("the most that one of its roles asks for"), MOST(LARGEST_COUNT),
      HELP("GPUs that the process asks for") },
    { COUNT("concurrency", draft_role_group, concurrency), DEFAULT("10"), RANGE(1, LARGEST_COUNT),
      HELP("calls of all its roles that the process has in service at once") },
};
static const struct sim_section group_section = {
    MAPPING("actors[].groups.NAME", draft_role_group, group_fields),
    HELP("Roles that share a process, and what that costs.")
};

static const struct sim_field calls_fields[] = {
    { TEXT("from", draft_role_calls, from), REQUIRED,
      HELP("role that calls, each actor in turns") },
    { TEXT("to", draft_role_calls, to), REQUIRED,
      HELP("role that is called: the n-th actor calls the n-th, and round again") },
    { LAW("think", draft_role_calls, to_be.think), UNIT(TIME), ABSENT("0 s"),
      HELP("what the caller waits for before a call, such as a model that answers") },
    { LAW("work", draft_role_calls, to_be.work), UNIT(TIME), ABSENT("0 s"),
      HELP("what it computes behind that") },
    { LAW("service", draft_role_calls, to_be.service), UNIT(TIME), ABSENT("0 s"),
      HELP("what the one that is called waits for; others are served meanwhile") },
    { LAW("cpu", draft_role_calls, to_be.cpu), UNIT(TIME), ABSENT("0 s"),
      HELP("what it computes before that: one call after the other, an actor is one interpreter") },
    { TIME("limit", draft_role_calls, to_be.limit_ns), ABSENT("none"), RANGE(1e-9, LARGEST_TIME),
      HELP("a call that takes longer has failed and is made again") },
};
static const struct sim_section calls_section = { MAPPING("actors[].calls[]", draft_role_calls,
                                                          calls_fields),
                                                  HELP("Who calls whom, round after round.") };

static const struct sim_field health_fields[] = {
    { TIME("interval", draft_health, interval_ns), REQUIRED, RANGE(1e-3, LARGEST_TIME),
      HELP("time between two checks") },
    { TIME("probe", draft_health, probe_ns), ABSENT("80 ms"), MOST(LARGEST_TIME),
      HELP("what an actor takes to answer") },
    { COUNT("probes", draft_health, probes), ABSENT("2"), RANGE(1, 1000),
      HELP("questions to every actor") },
    { CHOICE("order", draft_health, order, "sequential|parallel"), ABSENT("sequential"),
      HELP("one actor after the other, or all at once") },
};
static const struct sim_section health_section = {
    MAPPING("actors[].training.health", draft_health, health_fields), SCALAR("interval"),
    HELP("A check of all actors, itself a call inside the system.")
};

static const struct sim_field training_fields[] = {
    { COUNT64("steps", draft_training, to.steps), ABSENT("up to the horizon"), RANGE(1, 1e12),
      HELP("training steps until the system is done") },
    { COUNT("batch", draft_training, to.batch), ABSENT("32"), RANGE(1, LARGEST_COUNT),
      HELP("prompts of a batch") },
    { COUNT("repeat", draft_training, to.repeat), ABSENT("8"), RANGE(1, 10000),
      HELP("rollouts of a prompt") },
    { FLAG("keep_order", draft_training, keeps_order), ABSENT("true"),
      HELP(
          "the next batch is handed out when the loop unlocks it; else when the last is through") },
    { LAW("rollout", draft_training, to.rollout), UNIT(TIME), REQUIRED,
      HELP("what a rollout waits for: calls of the model") },
    { LAW("rollout_cpu", draft_training, to.rollout_cpu), UNIT(TIME), ABSENT("0 s"),
      HELP("what it computes behind that") },
    { LAW("get", draft_training, to.get), UNIT(TIME), ABSENT("0 s"),
      HELP("a call of data_loader for the next item") },
    { LAW("put", draft_training, to.put), UNIT(TIME), ABSENT("2 ms"),
      HELP("a call of trajectory_pool that brings a trajectory") },
    { TIME("poll", draft_training, to.poll_ns), ABSENT("100 ms"), RANGE(1e-3, LARGEST_TIME),
      HELP("a worker that found no item asks again so much later") },
    { BYTES("trajectory", draft_training, to.trajectory_bytes), ABSENT("0 B"), MOST(LARGEST_MOVED),
      HELP("bytes of one in the pool, in the memory of its process (cluster.memory)") },
    { COUNT("pool_limit", draft_training, to.pool_limit), ABSENT("any"), RANGE(1, 1e9),
      HELP("trajectories that the pool holds at most; workers that bring more wait for a step") },
    { CHOICE("ready", draft_training, to.ready, "loaded_batch_finished|batch_size_reached|both"),
      ABSENT("loaded_batch_finished"),
      HELP("when a step may begin: the batch is handed out and every worker idle; the pool holds "
           "ready_count; both") },
    { COUNT("ready_count", draft_training, to.ready_count), ABSENT("batch x repeat"), RANGE(1, 1e9),
      NEEDS("ready: batch_size_reached|both"),
      HELP("trajectories that are enough, and that a step takes") },
    { LAW("step", draft_training, to.step), UNIT(TIME), REQUIRED,
      HELP("a training step, which all trainers make together") },
    { BYTES("activations", draft_training, to.activation_bytes), ABSENT("0 B"), MOST(LARGEST_BYTES),
      HELP("memory that a step takes where the trainer computes: on each of its GPUs, or on its "
           "node; the process keeps it") },
    { COUNT("checkpointed_layers", draft_training, checkpointed_layers),
      ABSENT("all activations are kept"), RANGE(1, 100000),
      HELP("gradient checkpointing of a model of n layers: about the square root of n of their "
           "activations are kept and the others computed again, another forward pass; one pass "
           "forward and one back take 3, so a step takes 4/3 of the time (Chen et al. 2016)") },
    { NUMBER("without_gpu", draft_training, to.without_gpu), ABSENT("30"), RANGE(1, 1e6),
      HELP("a step takes so many times longer where trainers work on no GPU") },
    { CHOICE("sync", draft_training, to.sync, "sync|batch_async|fully_async"), ABSENT("sync"),
      HELP("weights go to the rollouts after every step; when they would be more than `threshold` "
           "steps old; never") },
    { COUNT("threshold", draft_training, to.threshold), ABSENT("0"), RANGE(0, 1e9),
      NEEDS("sync: batch_async"), HELP("steps that weights may be old") },
    { LAW("transfer", draft_training, to.transfer), UNIT(TIME), ABSENT("0 s"),
      HELP("the weights on their way, a call of weight_sync_controller") },
    { COUNT("validate_every", draft_training, to.validate_every), ABSENT("0"), RANGE(0, 1e9),
      HELP("versions from one validation to the next; 0 = none") },
    { LAW("validation", draft_training, to.validation), UNIT(TIME), ABSENT("0 s"),
      HELP("a validation, a call of validator") },
    { TIME("turn", draft_training, to.turn_ns), ABSENT("1 s"), RANGE(1e-6, LARGEST_TIME),
      HELP("the loop looks so often whether a step may begin") },
    { TIME("call_limit", draft_training, to.call_limit_ns), ABSENT("none"),
      RANGE(1e-9, LARGEST_TIME),
      HELP("a transfer or health check that takes longer has failed, and the system ends") },
    { TIME("client_limit", draft_training, to.client_limit_ns), ABSENT("none"),
      RANGE(1e-9, LARGEST_TIME),
      HELP("a rollout that waits longer for weights has failed, and the system ends") },
    { SECTION("health", draft_training, health, &health_section), ABSENT("none"),
      HELP("health checks") },
};
static const struct sim_section training_section = {
    MAPPING("actors[].training", draft_training, training_fields),
    HELP("A loop of reinforcement learning, as NexRL has it: a batch of prompts, rollouts, a pool "
         "of trajectories, a training step, new weights.")
};

static const struct sim_field system_fields[] = {
    NAME_FIELD(draft_actor_system, "name of the system"),
    { LIST("roles", draft_actor_system, roles, &role_section),
      .flags = SIM_FIELD_REQUIRED | SIM_FIELD_BY_NAME, HELP("what actors there are") },
    { NAMED("groups", draft_actor_system, groups, &group_section),
      ABSENT("what `group` of roles names, at its usual cost"),
      HELP("roles that share a process") },
    { LIST("calls", draft_actor_system, calls, &calls_section), ABSENT("none"),
      HELP("who calls whom") },
    { SECTION("training", draft_actor_system, training, &training_section), ABSENT("none"),
      HELP("a training loop") },
    { CHOICE("on_loss", draft_actor_system, on_loss, "restart|stop"), DEFAULT("restart"),
      HELP("an actor whose process is lost starts anew, or the system ends") },
    { BYTES("environment", draft_actor_system, environment_bytes), DEFAULT("1 KB"),
      MOST(LARGEST_MOVED),
      HELP("bytes of the environment that every actor is given, beside the `variables`") },
    { NAMED("variables", draft_actor_system, variables, &variable_section), ABSENT("none"),
      HELP("variables of the environment that every actor is given") },
    { BYTES("creation_bandwidth", draft_actor_system, creation_bytes), DEFAULT("1 MB"),
      RANGE(1, LARGEST_BYTES),
      HELP("bytes a second at which environments go out, one actor after the other") },
    { TIME("ready_limit", draft_actor_system, ready_limit_ns), ABSENT("none"),
      RANGE(1e-9, LARGEST_TIME),
      HELP("the system ends where an actor is not ready so long after it began") },
    { TIME("group_ready_limit", draft_actor_system, group_limit_ns), ABSENT("none"),
      RANGE(1e-9, LARGEST_TIME), HELP("the same for actors that share a process") },
};
const struct sim_section sim_schema_actors = {
    MAPPING("actors[]", draft_actor_system, system_fields),
    HELP("A system of actors, as on Ray: roles, and what they do.")
};
