/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The schema's tables of hardware, innermost mappings first. The order of fields is the canonical
 * order of keys and the order of the documentation.
 */
#include "sim/scenario/catalog/catalog_cpus.h"
#include "sim/scenario/schema/schema_parts.h"

static const struct sim_field quantum_fields[] = {
    { CHOICE("step", draft_quantum, step, "exact|xenna|ray|kubernetes"), DEFAULT("exact"),
      HELP("grid that CPU and GPU requests are rounded to: xenna 1/65536, ray 1/10000, kubernetes "
           "1/1000, exact 1/40960000") },
    { CHOICE("round", draft_quantum, round, "nearest|floor"), DEFAULT("nearest"),
      HELP("how a request is rounded to the grid") },
};
const struct sim_section sim_schema_quantum = {
    MAPPING("resource_quantum", draft_quantum, quantum_fields), SCALAR("step"),
    HELP("How requests become amounts.")
};

#define SHOWS_POWER SHOWS("power is measured, and slows nothing")

static const struct sim_field gpu_type_fields[] = {
    { BYTES("memory", draft_gpu_type, to.mem_bytes), ABSENT("built-in value, else 0"),
      MOST(LARGEST_BYTES), ACTS(SIM_ACTS_WORK), HELP("memory of one GPU") },
    { COUNT("nvdec", draft_gpu_type, to.nvdecs), ABSENT("built-in value, else 0"),
      MOST(WEIR_MAX_ENGINES), ACTS(SIM_ACTS_WORK), HELP("video decoders of one GPU") },
    { COUNT("nvenc", draft_gpu_type, to.nvencs), ABSENT("built-in value, else 0"),
      MOST(WEIR_MAX_ENGINES), ACTS(SIM_ACTS_WORK), HELP("video encoders of one GPU") },
    { NUMBER("idle", draft_gpu_type, to.idle_w), UNIT(POWER), ABSENT("built-in value, else 0 W"),
      MOST(1e6), SHOWS_POWER, HELP("power drawn when nothing runs") },
    { NUMBER("limit", draft_gpu_type, to.limit_w), UNIT(POWER), ABSENT("built-in value, else 0 W"),
      MOST(1e6), SHOWS_POWER, HELP("power drawn at full load") },
    { NUMBER("price", draft_gpu_type, to.price), ABSENT("0"), MOST(1e9), ACTS(SIM_ACTS_IN_TIME),
      SHOWS("it is reckoned afterwards"),
      HELP("price of one for an hour, a part of it in proportion; with prices") },
    { NUMBER("speed", draft_gpu_type, to.speed),
      ABSENT("by the kind of work, from the built-in types"), RANGE(1e-6, 1e6),
      ACTS(SIM_ACTS_TIMED),
      HELP("speed relative to the GPU the times were measured on, whatever the kind of work") },
    { TEXT("mig", draft_gpu_type, mig), ABSENT("that of the built-in type of this name, else none"),
      ACTS(SIM_ACTS_WORK),
      HELP("table of MIG profiles: a100-40, a100-80, h100, h200, b200, a30, or none") },
    { TEXT("codecs", draft_gpu_type, codecs), ABSENT("its own name"), ACTS(SIM_ACTS_PIPELINES),
      HELP("built-in GPU type whose codec engines it has") },
    { COUNT("nvenc_sessions", draft_gpu_type, to.nvenc_sessions),
      ABSENT("rtx4090: 8, else any number"), MOST(1e6), ACTS(SIM_ACTS_TIMED),
      HELP("encode sessions at a time on all GPUs of a node that have such a limit (GeForce): a "
           "worker opens one for every encoder it uses, and does not start without") },
};
static const struct sim_section gpu_type_section = {
    MAPPING("catalog.gpu_types.NAME", draft_gpu_type, gpu_type_fields), SOURCES,
    HELP("A GPU type. Built-in types may be changed key by key.")
};
static const struct sim_section gpu_truth_section = {
    MAPPING("truth.gpu_types.NAME", draft_gpu_type, gpu_type_fields), SOURCES,
    HELP("What a GPU type really has, where it differs from what the scheduler is told.")
};

static const struct sim_field gpu_count_fields[] = {
    { COUNT("count", draft_gpu_count, count), REQUIRED, RANGE(1, WEIR_MAX_NODE_GPUS),
      HELP("GPUs of this type in one node") },
};
static const struct sim_section gpu_count_section = {
    MAPPING("gpus.TYPE", draft_gpu_count, gpu_count_fields), SCALAR("count"),
    HELP("How many GPUs of a type.")
};

static const struct sim_field thermal_fields[] = {
    { NUMBER("ambient", draft_thermal, to.ambient_c), ABSENT("30"), RANGE(-50, 100),
      HELP("°C of the air that cools the GPUs") },
    { NUMBER("rise", draft_thermal, to.rise_c), ABSENT("45"), RANGE(1e-3, 1000),
      HELP("°C above ambient that a GPU reaches in the long run at its power limit") },
    { NUMBER("limit", draft_thermal, to.limit_c), ABSENT("87"), RANGE(-50, 1000),
      HELP("°C at which a GPU is throttled so that it becomes no hotter") },
    { TIME("tau", draft_thermal, to.tau_ns), ABSENT("60 s"), RANGE(1e-6, LARGEST_TIME),
      HELP("time constant: after so long 63 % of the way to the temperature of its power") },
};
static const struct sim_section thermal_section = {
    MAPPING("thermal", draft_thermal, thermal_fields), SOURCES,
    HELP("Temperature of each GPU: of first order, it goes to ambient + rise x power / limit.")
};

#define NODE_HARDWARE(type)                                                                        \
    { NUMBER("cpus", type, cpus), MOST(LARGEST_COUNT), HELP("CPUs of one node") },                 \
        { BYTES("ram", type, ram_bytes), ABSENT("0: stages must not ask for any"),                 \
          MOST(LARGEST_BYTES), HELP("memory of one node") },                                       \
        { NUMBER("power_cap", type, power_cap_w),                                                  \
          UNIT(POWER),                                                                             \
          ABSENT("none"),                                                                          \
          MOST(1e9),                                                                               \
          ACTS(SIM_ACTS_TIMED),                                                                    \
          HELP("most that the GPUs of one node draw together; what runs on them is throttled") },  \
        { SECTION("thermal", type, thermal, &thermal_section),                                     \
          ABSENT("temperatures are not modelled"), ACTS(SIM_ACTS_TIMED),                           \
          HELP("temperature of the GPUs, and throttling at its limit") },                          \
        { NUMBER("nic", type, nic_per_s),                                                          \
          UNIT(BANDWIDTH),                                                                         \
          ABSENT("bytes to and from the node take no time there; for jobs with step.sync that "    \
                 "of nodes with such GPUs"),                                                       \
          RANGE(1, LARGEST_BANDWIDTH),                                                             \
          ACTS(SIM_ACTS_TIMED),                                                                    \
          NEEDS_SYNC,                                                                              \
          HELP("bandwidth of a node's network interface, so much in and so much out") },           \
        { COUNT("sockets", type, topology.sockets), ABSENT("1"), RANGE(1, SIM_MAX_SOCKETS),        \
          ACTS(SIM_ACTS_TIMED),                                                                    \
          HELP("sockets with memory of their own: CPUs and GPUs are divided over them evenly and " \
               "in order; a worker's CPUs come from the sockets of its GPUs first") },             \
        { NUMBER("numa_penalty", type, topology.numa_penalty),                                     \
          ABSENT("1.15 where there are sockets"), RANGE(1, 100), ACTS(SIM_ACTS_TIMED),             \
          HELP(                                                                                    \
              "a worker with CPUs on another socket than its GPUs takes so many times as long") }, \
        { COUNT("islands", type, topology.island_gpus),                                            \
          ABSENT("all GPUs of a node are one island"), RANGE(1, WEIR_MAX_NODE_GPUS),               \
          ACTS(SIM_ACTS_TIMED),                                                                    \
          HELP("GPUs of one NVLink island, neighbours in their order: 4 makes 4+4 of 8; whole "    \
               "GPUs of a worker come from as few islands as there is room for") },                \
        { NUMBER("nvlink", type, nvlink_per_s),                                                    \
          UNIT(BANDWIDTH),                                                                         \
          ABSENT("that of the GPU type"),                                                          \
          MOST(LARGEST_BANDWIDTH),                                                                 \
          ACTS(SIM_ACTS_JOBS),                                                                     \
          NEEDS_SYNC,                                                                              \
          HELP("of one GPU to the others of its island, one way, for jobs with step.sync; 0: the " \
               "GPUs of an island share a PCIe switch") },                                         \
        { NUMBER("pcie", type, pcie_per_s),                                                        \
          UNIT(BANDWIDTH),                                                                         \
          ABSENT("that of the GPU type"),                                                          \
          RANGE(1, LARGEST_BANDWIDTH),                                                             \
          ACTS(SIM_ACTS_JOBS),                                                                     \
          NEEDS_SYNC,                                                                              \
          HELP("of one GPU to its PCIe switch, and of one island of a node to the others, one "    \
               "way, for jobs with step.sync") },                                                  \
    {                                                                                              \
        NAMED("gpus", type, gpus, &gpu_count_section), HELP("GPUs of one node by type: {h100: 8}") \
    }

static const struct sim_field node_type_fields[] = { NODE_HARDWARE(draft_node_group) };
static const struct sim_section node_type_section = { MAPPING("catalog.node_types.NAME",
                                                              draft_node_group, node_type_fields),
                                                      SOURCES, HELP("A node type.") };

static const struct sim_field catalog_fields[] = {
    { NAMED("gpu_types", draft_catalog, gpu_types, &gpu_type_section),
      HELP("GPU types by name, beside the built-in ones") },
    { NAMED("node_types", draft_catalog, node_types, &node_type_section),
      HELP("node types by name") },
    { NAMED("models", draft_catalog, models, &sim_schema_model), ACTS(SIM_ACTS_PIPELINES),
      HELP("models by name: what a stage with `model` does not say itself") },
};
const struct sim_section sim_schema_catalog = {
    MAPPING("catalog", draft_catalog, catalog_fields),
    HELP("Hardware as the scheduler is told, and models that stages run.")
};

static const struct sim_field truth_fields[] = {
    { NAMED("gpu_types", draft_truth, gpu_types, &gpu_truth_section),
      HELP("GPU types whose reality differs from the catalogue") },
};
const struct sim_section sim_schema_truth = {
    MAPPING("truth", draft_truth, truth_fields),
    HELP("Hardware as it is, where that differs from the catalogue.")
};

static const struct sim_field instance_fields[] = {
    { TEXT("profile", draft_instance, profile), REQUIRED,
      HELP("profile of one instance: 1g.10gb, 1g, or 1/7") },
};
static const struct sim_section instance_section = {
    MAPPING("partition[]", draft_instance, instance_fields), SCALAR("profile"),
    HELP("One MIG instance of each GPU.")
};

static const struct sim_field timeslice_fields[] = {
    { TIME("quantum", draft_timeslice, to.quantum_ns), ABSENT("100 ms"), RANGE(1e-6, 3600),
      HELP("time one worker has the GPU before the next one gets it") },
    { TIME("switch", draft_timeslice, to.switch_ns), ABSENT("1 ms"), MOST(3600),
      HELP("time a switch takes when nothing is resident") },
    { TIME("switch_memory", draft_timeslice, to.switch_memory_ns), ABSENT("9 ms"), MOST(3600),
      HELP("time a switch takes more when all of the GPU's memory is resident") },
};
static const struct sim_section timeslice_section = {
    MAPPING("cluster.nodes[].timeslice", draft_timeslice, timeslice_fields), SOURCES,
    HELP("Turns on a GPU (share: timeslice). A switch costs switch + switch_memory x share of the "
         "memory that is resident.")
};

static const struct sim_field spot_fields[] = {
    { NUMBER("hazard", draft_spot, to.hazard_per_s), UNIT(RATE), ABSENT("0: never"), RANGE(0, 1),
      HELP("how often a node that is there is taken away, at the mean of the logarithm of the "
           "price") },
    { NUMBER("pressure", draft_spot, to.pressure), ABSENT("1"), RANGE(0, 10),
      HELP("the hazard goes with the price to this power; 0: it does not") },
    { NUMBER("volatility", draft_spot, to.volatility), ABSENT("0: the price stands"), RANGE(0, 3),
      HELP("standard deviation of the logarithm of the price, which all nodes of the group have") },
    { NUMBER("correlation", draft_spot, to.correlation), UNIT(FRACTION), ABSENT("0.9"), RANGE(0, 1),
      HELP("of that logarithm in neighbouring steps") },
    { TIME("step", draft_spot, to.step_ns), ABSENT("10 min"), RANGE(1, LARGEST_TIME),
      HELP("time between two changes of the price") },
    { TIME("notice", draft_spot, to.notice_ns), ABSENT("0 s: none"), RANGE(0, LARGEST_TIME),
      HELP("so long before a node is taken away its owner says so: nobody starts there any more, "
           "and jobs save what they have done and leave") },
    { NUMBER("price", draft_spot, to.price), UNIT(FRACTION), ABSENT("100%"), RANGE(0, 10),
      SHOWS("it is reckoned afterwards"),
      HELP("of its GPUs in the mean, as a part of the prices of their types; with prices") },
};
static const struct sim_section spot_section = {
    MAPPING("cluster.nodes[].supply.spot", draft_spot, spot_fields), SCALAR("hazard"), SOURCES,
    HELP("Nodes that their owner takes back, the more often the higher their price is. What is "
         "paid is the mean.")
};

static const struct sim_field supply_fields[] = {
    { COUNT("min", draft_supply, to.min), ABSENT("0"), MOST(100000),
      HELP("no node is given back while there are so few") },
    { COUNT("max", draft_supply, to.max), REQUIRED, RANGE(1, 100000),
      HELP("nodes there may be; `count` of them are there at the start") },
    { LAW("boot", draft_supply, to.boot), UNIT(TIME), ABSENT("0 s: at once"),
      HELP("time from the request of a node until it is there") },
    { NUMBER("launch_failure", draft_supply, to.launch_failure), UNIT(FRACTION), ABSENT("0"),
      RANGE(0, 1),
      HELP("probability that a node does not come; the scheduler hears of it when it "
           "would have been there") },
    { SECTION("spot", draft_supply, spot, &spot_section), ABSENT("nobody takes nodes back"),
      HELP("how often their owner takes nodes back, and what they cost") },
};
static const struct sim_section supply_section = {
    MAPPING("cluster.nodes[].supply", draft_supply, supply_fields), SCALAR("max"), SOURCES,
    HELP("Nodes of the group come and go as sched.capacity decides. One that is not there holds "
         "nothing, costs nothing and does not fail; it is paid from when it is there.")
};

/* enum sim_sharing */
#define SHARE_CHOICES "fraction|mig|timeslice|exclusive|mps"

static const struct sim_field node_group_fields[] = {
    { TEXT("name", draft_node_group, head.name), A_NAME, ABSENT("the name of the type"),
      HELP("nodes are called NAME-0, NAME-1 ...; NAME alone when a name is given and count is 1") },
    { TEXT("type", draft_node_group, type), ABSENT("the hardware is given here"),
      HELP("a node type of the catalogue") },
    { COUNT("count", draft_node_group, count), DEFAULT("1"), MOST(100000),
      HELP("equal nodes; with `supply` those that are there at the start") },
    NODE_HARDWARE(draft_node_group),
    { CHOICE("share", draft_node_group, share, SHARE_CHOICES), ABSENT("that of the cluster"),
      WORD("timeslice|mps", SIM_ACTS_TIMED),
      HELP("how workers share a GPU: by parts of it; by MIG instances, which do not disturb each "
           "other; in turn; not at all (exclusive: a stage or class that asks for a part takes "
           "the whole, on all nodes that are not mig alike); or by parts that nobody exceeds, at a "
           "price while several are there (mps)") },
    { LIST("partition", draft_node_group, partition, &instance_section),
      ABSENT("instances are made on demand"), ACTS(SIM_ACTS_WORK),
      HELP("share: mig: the instances every GPU is cut into, [3g, 2g, 1g, 1g]") },
    { SECTION("timeslice", draft_node_group, timeslice, &timeslice_section),
      ABSENT("quantum 100 ms"), ACTS(SIM_ACTS_TIMED),
      HELP("share: timeslice: how long turns are and what a switch costs") },
    { NUMBER("mps_overhead", draft_node_group, mps_overhead), ABSENT("1.05 (a guess)"),
      RANGE(1, 100), ACTS(SIM_ACTS_TIMED),
      HELP("share: mps: work on a GPU takes so many times as long while others work there too") },
    { TEXT("labels", draft_node_group, labels), WORDS, ABSENT("its name, and those of its nodes"),
      ACTS(SIM_ACTS_IN_TIME),
      HELP("labels that work can ask for with node_selector and node_preference, beside the names: "
           "[storage, ssd]") },
    { FLAG("kept", draft_node_group, kept), ABSENT("false"), ACTS(SIM_ACTS_IN_TIME),
      HELP("its nodes take only work that asks for one of their labels, or borrows (a taint, in "
           "Kubernetes)") },
    { SECTION("supply", draft_node_group, supply, &supply_section),
      ABSENT("all nodes are there for good"), ACTS(SIM_ACTS_TIMED),
      HELP("how many there may be, and how they come") },
};
static const struct sim_section node_group_section = {
    MAPPING("cluster.nodes[]", draft_node_group, node_group_fields), SOURCES,
    HELP("Equal nodes: of a type, or with their hardware written here.")
};

#define OF_FAULT(which, law) to.of[SIM_FAULT_##which].law

static const struct sim_field failures_fields[] = {
    { CHOICE("rates", draft_failures, rates, "none|default"), DEFAULT("none"),
      HELP("of nodes, GPUs, switches, racks and links that are not written below: never, or "
           "published "
           "rates (docs/model/failures.md)") },
    { LAW("node_between", draft_failures, OF_FAULT(NODE, between)), UNIT(TIME),
      ABSENT("nodes never fail"), HELP("time a node stays up") },
    { LAW("node_repair", draft_failures, OF_FAULT(NODE, repair)), UNIT(TIME), ABSENT("never"),
      HELP("time until a failed node is back") },
    { LAW("gpu_between", draft_failures, OF_FAULT(GPU, between)), UNIT(TIME),
      ABSENT("GPUs never fail"), HELP("time one GPU works; who is on it when it fails is lost") },
    { LAW("gpu_repair", draft_failures, OF_FAULT(GPU, repair)), UNIT(TIME), ABSENT("never"),
      HELP("time until a failed GPU is back; the others of its node go on") },
    { LAW("switch_between", draft_failures, OF_FAULT(SWITCH, between)), UNIT(TIME),
      ABSENT("switches never fail"),
      HELP("time a switch works; all nodes behind it fail with it") },
    { LAW("switch_repair", draft_failures, OF_FAULT(SWITCH, repair)), UNIT(TIME), ABSENT("never"),
      HELP("time until a failed switch is back") },
    { COUNT("switch_nodes", draft_failures, to.switch_nodes), ABSENT("16"), RANGE(1, LARGEST_COUNT),
      HELP("nodes behind one switch: neighbours in the order of the cluster") },
    { LAW("rack_between", draft_failures, OF_FAULT(RACK, between)), UNIT(TIME),
      ABSENT("racks never fail"), HELP("time a rack works; all nodes in it fail with it") },
    { LAW("rack_repair", draft_failures, OF_FAULT(RACK, repair)), UNIT(TIME), ABSENT("never"),
      HELP("time until a failed rack is back") },
    { COUNT("rack_nodes", draft_failures, to.rack_nodes), ABSENT("4"), RANGE(1, LARGEST_COUNT),
      HELP("nodes in one rack: neighbours in the order of the cluster") },
    { LAW("link_between", draft_failures, OF_FAULT(LINK, between)), UNIT(TIME),
      ABSENT("links never fail"), ACTS(SIM_ACTS_PIPELINES),
      HELP("time the network interface of a node works (nodes with a nic); what moves over it "
           "stands still until it is back, the node goes on") },
    { LAW("link_repair", draft_failures, OF_FAULT(LINK, repair)), UNIT(TIME), ABSENT("never"),
      ACTS(SIM_ACTS_PIPELINES), HELP("time until such an interface is back") },
    { LAW("store_between", draft_failures, OF_FAULT(STORE, between)), UNIT(TIME),
      ABSENT("stores never fail"), ACTS(SIM_ACTS_TIMED),
      HELP("time a store of the cluster works; what is read and written stands still until it is "
           "back") },
    { LAW("store_repair", draft_failures, OF_FAULT(STORE, repair)), UNIT(TIME), ABSENT("never"),
      ACTS(SIM_ACTS_TIMED), HELP("time until such a store is back") },
    { LAW("slow_between", draft_failures, OF_FAULT(SLOW, between)), UNIT(TIME),
      ABSENT("nodes never become slow"), HELP("time a node is as fast as it should be") },
    { LAW("slow_for", draft_failures, OF_FAULT(SLOW, repair)), UNIT(TIME), ABSENT("for good"),
      HELP("how long a straggler stays slow") },
    { LAW("gpu_slow_between", draft_failures, OF_FAULT(GPU_SLOW, between)), UNIT(TIME),
      ABSENT("GPUs never become slow"), HELP("time one GPU is as fast as it should be") },
    { LAW("gpu_slow_for", draft_failures, OF_FAULT(GPU_SLOW, repair)), UNIT(TIME),
      ABSENT("for good"), HELP("how long such a GPU stays slow") },
    { LAW("slow_factor", draft_failures, to.slow_factor), ABSENT("const(2)"),
      HELP("what runs on a straggler takes so many times as long") },
    { LAW("detection", draft_failures, to.detection), UNIT(TIME), ABSENT("const(0)"),
      HELP("the scheduler hears so much later of a node or GPU that was lost; until then it may "
           "place there, and is refused") },
};
static const struct sim_section failures_section = {
    MAPPING("cluster.failures", draft_failures, failures_fields), SCALAR("rates"), SOURCES,
    HELP("Random failures: nothing fails but what is written here, or all by `default` rates.")
};

static const struct sim_field drift_fields[] = {
    { CHOICE("of", draft_drift, to.of, "node|cluster"), DEFAULT("node"),
      HELP("node: every node has a factor of its own; cluster: one for all. One entry of each") },
    { TIME("step", draft_drift, to.step_ns), REQUIRED, RANGE(1e-3, LARGEST_TIME),
      HELP("time between two changes") },
    { NUMBER("cv", draft_drift, to.cv), UNIT(FRACTION), REQUIRED, RANGE(1e-6, 10),
      HELP("standard deviation of the factor, whose mean is 1") },
    { NUMBER("correlation", draft_drift, to.correlation), UNIT(FRACTION), DEFAULT("0"), RANGE(0, 1),
      HELP("of the factors of neighbouring steps; 1 = it stays as it is drawn at the start") },
};
static const struct sim_section drift_section = {
    MAPPING("cluster.drift[]", draft_drift, drift_fields), SOURCES,
    HELP("All service and run times on a node times a factor that wanders.")
};

#define IN_TIME NEEDS("rule: oom_killer|memory_monitor")

static const struct sim_field memory_fields[] = {
    { CHOICE("rule", draft_memory, to.rule, "admit|oom_killer|memory_monitor"), ABSENT("admit"),
      OTHERWISE("admit"),
      HELP(
          "admit: a worker whose own memory is not free does not start, and items need none; "
          "oom_killer: items need memory too, and where a node has too little the worker with "
          "most dies; memory_monitor: one dies a little earlier, at every look, as in Ray: workers "
          "of pipelines before those of jobs, the newest first") },
    { NUMBER("threshold", draft_memory, to.threshold), UNIT(FRACTION), ABSENT("95%"),
      RANGE(0.01, 1), NEEDS("rule: memory_monitor"),
      HELP("a worker dies above max(threshold x memory, memory - min_free) of a node") },
    { BYTES("min_free", draft_memory, to.min_free_bytes), ABSENT("1 GiB"), MOST(LARGEST_BYTES),
      NEEDS("rule: memory_monitor"), HELP("see threshold") },
    { TIME("refresh", draft_memory, to.refresh_ns), ABSENT("250 ms"), RANGE(1e-3, 3600),
      NEEDS("rule: memory_monitor"), HELP("time between two looks; at each one worker dies") },
    { NUMBER("store", draft_memory, to.store_frac), UNIT(FRACTION), ABSENT("30%"), RANGE(0, 1),
      ACTS(SIM_ACTS_PIPELINES), IN_TIME,
      HELP("share of a node's memory for outputs that wait; more is written to disk, which takes "
           "no time and is counted (store.spill_bytes)") },
};
static const struct sim_section memory_section = {
    MAPPING("cluster.memory", draft_memory, memory_fields), SCALAR("rule"), SOURCES,
    HELP("When the memory of nodes is looked at, and who dies where it runs out.")
};

static const struct sim_field power_fields[] = {
    { CHOICE("gpu", draft_power, to.gpu, "allocated|used"),
      ABSENT("used where a power_cap or thermal is given, else allocated"), ACTS(SIM_ACTS_TIMED),
      SHOWS("power is measured, and slows nothing"),
      HELP("what a GPU draws: its limit once something lies on it, else idle (allocated); or "
           "idle + (limit - idle) x the compute in use x its throttle (used)") },
    { TIME("control_period", draft_power, to.control_ns), ABSENT("0 s: at once"), MOST(3600),
      ACTS(SIM_ACTS_TIMED),
      HELP("throttles of power_cap and thermal change at multiples of this only") },
    { CHOICE("cpu", draft_power, cpu, SIM_CATALOG_CPU_CHOICES), DEFAULT("xeon-8163"), SHOWS_POWER,
      HELP("processor of all nodes: gives cores and watts of a socket") },
    { NUMBER("cpus_per_core", draft_power, to.cpus_per_core), DEFAULT("2"), RANGE(1, 64),
      SHOWS_POWER, HELP("CPUs (hardware threads) that one core is") },
    { NUMBER("cores_per_socket", draft_power, to.cores_per_socket), ABSENT("that of the processor"),
      RANGE(1, 4096), SHOWS_POWER, HELP("cores of one socket") },
    { NUMBER("socket_idle", draft_power, to.socket_idle_w), UNIT(POWER),
      ABSENT("that of the processor"), MOST(1e6), SHOWS_POWER,
      HELP("power of a socket without allocated cores") },
    { NUMBER("socket_full", draft_power, to.socket_full_w), UNIT(POWER),
      ABSENT("that of the processor"), MOST(1e6), SHOWS_POWER,
      HELP("power of a socket with allocated cores") },
};
static const struct sim_section power_section = {
    MAPPING("cluster.power", draft_power, power_fields), SCALAR("cpu"),
    HELP("Electric power of CPUs, for the power metrics; that of GPUs is idle "
         "and limit of their types.")
};

static const struct sim_field traffic_fields[] = {
    { NUMBER("guarantee", draft_traffic, to.guarantee), UNIT(FRACTION), ABSENT("0: what is left"),
      RANGE(0, 1),
      HELP("share of the bandwidth it has at least while it wants it; what nobody wants goes to "
           "the others in proportion to their shares") },
    { NUMBER("limit", draft_traffic, to.limit_per_s), UNIT(BANDWIDTH), ABSENT("none"),
      RANGE(1, LARGEST_BANDWIDTH), HELP("bandwidth it never exceeds, all of it together") },
};
static const struct sim_section traffic_section = {
    MAPPING("cluster.stores.NAME.traffic.CLASS", draft_traffic, traffic_fields),
    SCALAR("guarantee"), SOURCES, HELP("A class of what is read and written.")
};

static const struct sim_field store_fields[] = {
    { NUMBER("bandwidth", draft_store, to.bytes_per_s), UNIT(BANDWIDTH), REQUIRED,
      RANGE(1, LARGEST_BANDWIDTH), HELP("bytes a second, shared by all who write and read") },
    { TIME("latency", draft_store, to.latency_ns), ABSENT("0 s"), MOST(LARGEST_TIME),
      HELP("time before the first byte of every read or write") },
    { TIME("per_item", draft_store, to.per_item_ns), ABSENT("0 s"), MOST(LARGEST_TIME),
      HELP("time that every item of a read or write takes beside its bytes") },
    { BYTES("window", draft_store, to.window_bytes), ABSENT("any"), RANGE(1, LARGEST_MOVED),
      HELP("bytes of one read or write that may be on their way, not acknowledged: it never goes "
           "faster than window / latency") },
    { NAMED("traffic", draft_store, traffic, &traffic_section), ABSENT("none"),
      HELP("classes by name; what has no class shares what they leave") },
};
static const struct sim_section store_section = {
    MAPPING("cluster.stores.NAME", draft_store, store_fields), SCALAR("bandwidth"), SOURCES,
    HELP("A store outside the nodes. Readers and writers share its bandwidth fairly (max-min, with "
         "the network interfaces of their nodes).")
};

static const struct sim_field racks_fields[] = {
    { COUNT("nodes", draft_racks, to.nodes), REQUIRED, RANGE(1, 100000),
      HELP("nodes of a rack, in their order") },
    { NUMBER("uplink", draft_racks, to.uplink_per_s), UNIT(BANDWIDTH), ABSENT("never scarce"),
      RANGE(1, LARGEST_BANDWIDTH), ACTS(SIM_ACTS_TIMED),
      HELP("bandwidth between a rack and everything outside it, so much in and so much out") },
};
static const struct sim_section racks_section = {
    MAPPING("cluster.racks", draft_racks, racks_fields), SOURCES,
    HELP("Racks of nodes. What leaves a rack, or comes from a store, passes its uplink.")
};

static const struct sim_field cluster_fields[] = {
    { LIST("nodes", draft_cluster, nodes, &node_group_section),
      ABSENT("those of nodes_file; one of the two is needed"),
      HELP("groups of equal nodes, in the order that decides ties") },
    { TEXT("nodes_file", draft_cluster, nodes_file), ABSENT("none"),
      HELP("more nodes, from a table with the columns sn, cpu_milli, memory_mib, gpu, model "
           "(openb; plain or gzip)") },
    { COUNT("nodes_every", draft_cluster, nodes_every), ABSENT("1: all of them"),
      RANGE(1, LARGEST_COUNT),
      HELP("of the table only every so many: a smaller cluster of the same mixture (nodes by "
           "model, GPUs, CPUs and memory, beginning with the first), by name") },
    { SECTION("failures", draft_cluster, failures, &failures_section), ACTS(SIM_ACTS_IN_TIME),
      HELP("random failures of nodes, GPUs, switches and racks, and stragglers") },
    { LIST("drift", draft_cluster, drifts, &drift_section), ABSENT("none"), ACTS(SIM_ACTS_IN_TIME),
      HELP("service times that wander, on each node or on all together") },
    { SECTION("memory", draft_cluster, memory, &memory_section), ABSENT("admit"),
      ACTS(SIM_ACTS_POOLS), HELP("memory of nodes in time") },
    { SECTION("power", draft_cluster, power, &power_section), HELP("electric power of CPUs") },
    { CHOICE("share", draft_cluster, share, SHARE_CHOICES),
      ABSENT("exclusive, or fraction when somebody asks for a part of a GPU"),
      WORD("timeslice|mps", SIM_ACTS_TIMED),
      HELP("how workers share the GPUs of all nodes; groups of nodes may say otherwise") },
    { NAMED("stores", draft_cluster, stores, &store_section), ABSENT("none"), ACTS(SIM_ACTS_TIMED),
      HELP("stores outside the nodes by name") },
    { SECTION("racks", draft_cluster, racks, &racks_section), ABSENT("the network is never scarce"),
      ACTS(SIM_ACTS_TIMED), HELP("racks and their uplinks") },
    { CHOICE("gpu_addresses", draft_cluster, gpu_addresses, "paged|first_fit|best_fit"),
      ABSENT("paged"), ACTS(SIM_ACTS_TIMED),
      HELP("how free memory of a GPU is found: wherever it lies, or in one piece, the first that "
           "is large enough or the smallest such; then it may fall apart (frag.gpumem)") },
    { TIME("gpu_reap", draft_cluster, gpu_reap_ns), ABSENT("0 s"), MOST(3600),
      ACTS(SIM_ACTS_PIPELINES),
      HELP("memory of GPUs that a worker had which was killed (crashed, out of memory, or its "
           "teardown took longer than teardown_limit) is in use for so long, and the scheduler "
           "does not know it") },
    { CHOICE("exchange", draft_cluster, exchange, "alone|aligned|clashing"), ABSENT("alone"),
      ACTS(SIM_ACTS_JOBS), NEEDS_SYNC,
      HELP("what jobs in steps do to one another that exchange over the way out of one node: "
           "nothing; wait when a step cannot hold the exchanges of all whose steps are as long; "
           "begin all at once") },
};
const struct sim_section sim_schema_cluster = { MAPPING("cluster", draft_cluster, cluster_fields),
                                                HELP("The nodes there are.") };
