/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The schema's tables of tenants and what each may have. */
#include "sim/scenario/schema/schema_parts.h"

#define LARGEST_AMOUNT 1e9

static const struct sim_field quota_fields[] = {
    { NUMBER("gpus", draft_quota, gpus), ABSENT("no limit"), MOST(LARGEST_AMOUNT),
      HELP("GPUs, parts of one as such") },
    { NUMBER("cpus", draft_quota, cpus), ABSENT("no limit"), MOST(LARGEST_AMOUNT), HELP("CPUs") },
    { BYTES("ram", draft_quota, ram_bytes), ABSENT("no limit"), MOST(LARGEST_BYTES / 8),
      HELP("memory of the nodes") },
};
static const struct sim_section hard_section = {
    MAPPING("tenants[].quota.hard", draft_quota, quota_fields), SCALAR("gpus"),
    HELP("More than this a tenant never has: its jobs wait, whatever is free.")
};
static const struct sim_section soft_section = {
    MAPPING("tenants[].quota.soft", draft_quota, quota_fields), SCALAR("gpus"),
    HELP("Jobs beyond this come after all others.")
};
static const struct sim_section borrow_section = {
    MAPPING("tenants[].borrow", draft_quota, quota_fields), SCALAR("gpus"),
    HELP("What a tenant may have above its guarantee.")
};
static const struct sim_section lend_section = {
    MAPPING("tenants[].lend", draft_quota, quota_fields), SCALAR("gpus"),
    HELP("What others may have of a tenant's guarantee while it does not use it; the rest stays "
         "free for it.")
};

static const struct sim_field guarantee_fields[] = {
    { NUMBER("gpus", draft_quota, gpus), ABSENT("0"), MOST(LARGEST_AMOUNT),
      HELP("GPUs, parts of one as such") },
    { NUMBER("cpus", draft_quota, cpus), ABSENT("0"), MOST(LARGEST_AMOUNT), HELP("CPUs") },
    { BYTES("ram", draft_quota, ram_bytes), ABSENT("0 B"), MOST(LARGEST_BYTES / 8),
      HELP("memory of the nodes") },
};
static const struct sim_section guarantee_section = {
    MAPPING("tenants[].guarantee", draft_quota, guarantee_fields), SCALAR("gpus"),
    HELP("What belongs to a tenant. Others may use it as long as it does not (see lend).")
};

static const struct sim_field limits_fields[] = {
    { SECTION("hard", draft_limits, hard, &hard_section), ABSENT("no limit"),
      HELP("never more than this") },
    { SECTION("soft", draft_limits, soft, &soft_section), ABSENT("no limit"),
      HELP("beyond this after all others") },
};
static const struct sim_section limits_section = {
    MAPPING("tenants[].quota", draft_limits, limits_fields), SCALAR("hard"),
    HELP("Limits of a tenant, whatever the queueing policy.")
};

static const struct sim_field gpu_memory_fields[] = {
    { BYTES("pool", draft_gpu_memory, pool_bytes), ABSENT("nothing is kept"),
      RANGE(1, LARGEST_BYTES),
      HELP("of the memory of every GPU, kept for its jobs: what they do not use of it nobody else "
           "finds free; they may use more") },
    { BYTES("process", draft_gpu_memory, process_bytes), ABSENT("no limit"),
      RANGE(1, LARGEST_BYTES),
      HELP(
          "what a process (a rank of a job) may have of the memory of one GPU; one that takes more "
          "fails, and nobody else does") },
    { CHOICE("reuse", draft_gpu_memory, reuse, "event|none"), ABSENT("event"),
      HELP("memory that a step gives back (`activations`) is kept and the next step has it as soon "
           "as the work on it is done, or goes back to the GPU, which stands still for it") },
    { TIME("free", draft_gpu_memory, free_ns), ABSENT("1 ms"), RANGE(1e-9, 3600),
      NEEDS("reuse: none"), HELP("for so long, once a step") },
};
static const struct sim_section gpu_memory_section = {
    MAPPING("tenants[].gpu_memory", draft_gpu_memory, gpu_memory_fields), SCALAR("pool"),
    HELP("Memory of GPUs of a tenant; what it does not say is that of the nearest above it which "
         "does.")
};

static const struct sim_field tenant_fields[] = {
    NAME_FIELD(draft_tenant, "what jobs say in `tenant`"),
    { TEXT("parent", draft_tenant, parent), ABSENT("none"), A_NAME,
      HELP("tenant that it is a part of: limits hold for all below, shares are divided level by "
           "level") },
    { NUMBER("weight", draft_tenant, weight), DEFAULT("1"), RANGE(0, 1e9),
      HELP("its claim beside its siblings (drf, wfq, fair_share, quota_queues, cohorts)") },
    { NUMBER("tickets", draft_tenant, tickets), ABSENT("its weight"), RANGE(1e-9, 1e9),
      HELP("for lottery and stride") },
    { WHOLE("priority", draft_tenant, priority), DEFAULT("0"), RANGE(-1e6, 1e6),
      HELP("its band: beyond guarantees siblings of a higher one come first (quota_queues)") },
    { SECTION("guarantee", draft_tenant, guarantee, &guarantee_section), ABSENT("nothing"),
      HELP("what belongs to it") },
    { SECTION("quota", draft_tenant, quota, &limits_section), ABSENT("no limit"),
      HELP("hard and soft limits") },
    { SECTION("borrow", draft_tenant, borrow, &borrow_section), ABSENT("no limit"),
      HELP("above its guarantee") },
    { SECTION("lend", draft_tenant, lend, &lend_section), ABSENT("all of its guarantee"),
      HELP("of its guarantee, to others") },
    { SECTION("gpu_memory", draft_tenant, gpu_memory, &gpu_memory_section), ABSENT("as free"),
      HELP("pool, limit of a process, and reuse of memory of GPUs") },
};
const struct sim_section sim_schema_tenant = {
    MAPPING("tenants[]", draft_tenant, tenant_fields),
    HELP("A team, project or customer. Jobs say `tenant`; tenants that a trace names and this list "
         "does not are added, without limits.")
};
