/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The schema's tables of services: their requests, how these become batches, and how long a batch
 * takes; innermost mappings first. The order of fields is the canonical order of keys and of the
 * documentation.
 */
#include "sim/scenario/schema/schema_parts.h"

static const struct sim_field class_fields[] = {
    NAME_FIELD(draft_class, "name of the class"),
    { NUMBER("weight", draft_class, to.weight), WEIGHT,
      HELP("share of the requests, relative to the other classes") },
    { COUNT("items", draft_class, to.items), DEFAULT("1"), RANGE(1, LARGEST_COUNT),
      HELP("items of a request: what it counts for in a batch") },
    { COUNT("priority", draft_class, to.priority), ABSENT("the default level"), MOST(100),
      NEEDS("batching.levels > 1"),
      HELP("0 to 100, 100 is the most urgent; the bands of the batching policy make a level of "
           "it") },
    { TEXT("shape", draft_class, shape), ABSENT("one for all that do not say"),
      HELP("of its inputs, as 512x512: only requests of one shape go together") },
    { TIME("timeout", draft_class, to.timeout_ns), ABSENT("that of the batching policy"),
      RANGE(1e-9, LARGEST_TIME),
      HELP("how long a request may wait, where that is less than the policy says") },
    { TEXT("subject", draft_class, subject), ABSENT("somebody who may"), NEEDS("permissions"),
      HELP(
          "who calls: where `permissions` do not let this subject call the model, its requests are "
          "turned away as unauthorised") },
};
static const struct sim_section class_section = { MAPPING("services[].requests.classes[]",
                                                          draft_class, class_fields),
                                                  SOURCES, HELP("A kind of requests.") };

static const struct sim_field rate_limit_fields[] = {
    { NUMBER("rate", draft_rate_limit, to.per_s), UNIT(RATE), REQUIRED, RANGE(1e-6, 1e9),
      HELP("calls or requests in the long run: 60/min") },
    { COUNT("burst", draft_rate_limit, to.burst), ABSENT("1"), RANGE(1, LARGEST_COUNT),
      HELP("at once after a rest") },
};
const struct sim_section sim_schema_rate_limit = {
    MAPPING("rate_limit", draft_rate_limit, rate_limit_fields), SCALAR("rate"),
    HELP("A token bucket, as remote interfaces have: so much in the long run, and so many at "
         "once.")
};

static const struct sim_field requests_fields[] = {
    { COUNT64("count", draft_input, to.items), DEFAULT("0"), MOST(1e12),
      HELP("requests that come; 0 = all of the file, else no end (then `horizon` is needed)") },
    { TEXT("file", draft_input, file), ABSENT("requests are drawn"),
      HELP("recorded requests, a CSV file with the columns `time` (seconds) and `class`, each of "
           "which may be missing (docs/traces.md)") },
    { SECTION("arrivals", draft_input, arrivals, &sim_schema_item_arrivals),
      ABSENT("as the file says"),
      HELP("time between arrivals, or a process; with a file its times give way to it") },
    { LIST("classes", draft_input, classes, &class_section), HELP("kinds of requests") },
    { TIME("overhead", draft_input, to.overhead_ns), DEFAULT("0 s"), MOST(3600),
      HELP("from the caller until it waits: TLS, authentication, decoding; on top of what it waits "
           "and takes") },
    { NUMBER("unauthorised", draft_input, to.unauthorised), UNIT(FRACTION), DEFAULT("0"), MOST(1),
      HELP("share of the requests whose callers are not let in: turned away behind the overhead, "
           "and counted") },
    { SECTION("rate_limit", draft_input, rate_limit, &sim_schema_rate_limit), ABSENT("none"),
      HELP("requests that are let in; those beyond it are turned away, and counted") },
};
static const struct sim_section requests_section = {
    MAPPING("services[].requests", draft_input, requests_fields), SOURCES, HELP("The requests.")
};

static const struct sim_field batching_fields[] = {
    { TEXT("policy", draft_policy, head.name), DEFAULT("dynamic"),
      HELP("name of a batching policy (`weir list policies`); its parameters stand beside it") },
};
static const struct sim_section batching_section = {
    MAPPING("services[].batching", draft_policy, batching_fields), SCALAR("policy"),
    POLICY(BATCHING),
    HELP("Which requests that wait go together, and when. The name of a policy, or a mapping with "
         "its parameters.")
};

static const struct sim_field time_fields[] = {
    { LAW("law", draft_service, to.law), UNIT(TIME), ABSENT("const(0), with a table const(1)"),
      HELP("random part of the time a batch takes; with a table a factor without unit") },
    { NUMBER("base", draft_service, to.base_s), UNIT(TIME), DEFAULT("0"), MOST(LARGEST_TIME),
      HELP("fixed part of a batch") },
    { NUMBER("per_item", draft_service, to.per_item_s), UNIT(TIME), DEFAULT("0"),
      MOST(LARGEST_TIME), HELP("for every item of the batch") },
    { TEXT("table", draft_service, table), ABSENT("none"),
      HELP("CSV file with columns gpu_type, batch, size, seconds: replaces base and per_item") },
};
static const struct sim_section time_section = {
    MAPPING("services[].service", draft_service, time_fields), SCALAR("law"), SOURCES,
    HELP("Time one batch takes on one replica. A law, or a mapping.")
};

static const struct sim_field served_fields[] = {
    NAME_FIELD(draft_served, "name of the service: the model that its replicas serve"),
    { SECTION("requests", draft_served, requests, &requests_section), REQUIRED,
      HELP("the requests") },
    AMOUNT_FIELDS(draft_served, own., "1", "0 or false"),
    DEVICE_FIELDS(draft_served, own.),
    NODES_FIELDS(draft_served, own.),
    { COUNT("replicas", draft_served, replicas), KNOB, ABSENT("the scaling policy decides"),
      RANGE(1, LARGEST_COUNT),
      HELP("fixed number of replicas; each works on one batch at a time") },
    { SECTION("batching", draft_served, batching, &batching_section), ABSENT("dynamic"),
      HELP("which requests go together, and when") },
    { SECTION("service", draft_served, service, &time_section), REQUIRED,
      HELP("time one batch takes: a law or a mapping") },
    { LAW("setup", draft_served, setup), UNIT(TIME), ABSENT("0 s"),
      HELP("from the start of a replica until it is ready") },
    { NUMBER("miscount", draft_served, miscount), UNIT(FRACTION), DEFAULT("0"), MOST(1),
      NEEDS("batching.max_batch > 1"),
      HELP(
          "a fault of the batcher, with a time-out: probability with which it takes the replica of "
          "a batch of several requests for busy for good, until the model is deployed anew") },
};
static const struct sim_field permission_fields[] = {
    { TEXT("may", draft_permission, may), WORDS, ABSENT("all"),
      HELP(
          "what the subject may do: load, unload, scale and deploy (actions of the timeline), call "
          "(`subject` of a class of requests)") },
    { TEXT("models", draft_permission, models), WORDS, ABSENT("all"),
      HELP("to these services alone") },
};
const struct sim_section sim_schema_permission = {
    MAPPING("permissions.NAME", draft_permission, permission_fields), SCALAR("may"),
    HELP("What a subject may do to which model. Who is not listed may do nothing; what names no "
         "subject is the administrator's. Every operation is kept in the table `audit`.")
};

const struct sim_section sim_schema_served = {
    MAPPING("services[]", draft_served, served_fields), SOURCES,
    HELP("A service: equal replicas of a model and the requests they serve. The scheduler sizes "
         "and places replicas as workers of a stage of that name.")
};
