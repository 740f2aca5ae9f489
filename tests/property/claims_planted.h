/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What tests/property/claims.c plants: name, scenario, claims with their words, claims that would
 * be false. Included in the middle of a table. */
#define TWO(input, a, b)                                                                           \
    "pipelines: [{name: p, input: {" input "}, stages: [{name: a, " a "}, {name: b, " b "}]}]\n"
#define ARMS(b, c)                                                                                 \
    "compare: [{label: a, set: {}}, {label: b, set: {" b "}}, {label: c, set: {" c "}}]\n"
#define STAGE_B "\"pipelines[0].stages.b."
{ "a backlog that b limits",
  HEAD CPUS FIXED TWO("items: 600", "workers: 3, service: 2 s", "workers: 1, service: 1 s"),
  { { "limit.stage", "b limits" },
    { "flow.rate", "items per second" },
    { "workers.still", "4 stay" } },
  "limit.arrivals flow.piles_up workers.lost" },
    { "arrivals, and what was there before the warm-up ended",
      HEAD CPUS FIXED
      "warmup: 100 s\nhorizon: 500 s\n"
      "timeline: [{at: 10 s, action: burst, items: 300}]\n" TWO(
          "arrivals: {gap: 2 s}", "workers: 3, service: 1 s", "workers: 2, service: 2 s"),
      { { "flow.keeps_up", "more than the 0.5 that arrive" }, { "limit.stage", "b limits" } },
      "limit.arrivals flow.piles_up" },
    { "arrivals, and what was there before for a fifth of the time",
      HEAD CPUS FIXED
      "warmup: 100 s\nhorizon: 1100 s\n"
      "timeline: [{at: 10 s, action: burst, items: 150}]\n" TWO(
          "arrivals: {gap: 2 s}", "workers: 3, service: 1 s", "workers: 2, service: 2 s"),
      { { "flow.keeps_up", "more than the 0.5 that arrive" } },
      "limit.stage limit.arrivals flow.piles_up" },
    { "a backlog that a limits",
      HEAD CPUS FIXED TWO("items: 200", "workers: 1, service: 2 s", "workers: 4, service: 1 s"),
      { { "limit.stage", "a limits" }, { "queue.longest", "before a" } },
      "limit.arrivals limit.room" },
    { "arrivals that limit",
      HEAD CPUS "horizon: 30 min\n" TWO("arrivals: {gap: 4 s}", "workers: 2, service: 1 s",
                                        "workers: 2, service: 3 s"),
      { { "limit.arrivals", "What arrives limits it: b" },
        { "flow.keeps_up", "as many as arrive" } },
      "limit.stage flow.piles_up run.grows" },
    { "random arrivals that limit",
      HEAD CPUS "horizon: 2 h\n" TWO("arrivals: {gap: exp(4 s)}", "workers: 2, service: exp(1 s)",
                                     "workers: 2, service: exp(3 s)"),
      { { "limit.arrivals", "b, the slowest stage" }, { "flow.keeps_up", "as many as arrive" } },
      "limit.stage" },
    { "a stage that is the slowest, and at work at the end only",
      HEAD CPUS "horizon: 1 h\ntimeline: [{at: 45 min, for: 15 min, action: stage_slow, stage: b, "
                "factor: 1000}]\n" TWO("arrivals: {gap: 20 s}", "workers: 2, service: 1 s",
                                       "workers: 1, service: 2 s"),
      { { "flow.piles_up", "the rest piles up" }, { "limit.slowest", "b is the slowest stage" } },
      "limit.stage limit.arrivals" },
    { "more arrives than b can do",
      HEAD CPUS "horizon: 1 h\n" TWO("arrivals: {gap: 1 s}", "workers: 4, service: 1 s",
                                     "workers: 1, service: 2 s"),
      { { "limit.stage", "b limits" }, { "flow.piles_up", "the rest piles up" } },
      "limit.arrivals flow.keeps_up" },
    { "free GPUs and a stage that limits",
      HEAD GPUS FIXED TWO("items: 1500", "workers: 5, service: 4 s, request: {cpus: 1}",
                          "workers: 2, service: 2 s, request: {gpus: 1}"),
      { { "limit.room", "b could grow: 6 GPUs" },
        { "use.unassigned", "75" },
        { "tile.throughput", "plans could give 1/s at most, one that stands still 1/s" },
        { "limit.stage", "b limits" } },
      "free.hardly use.well" },
    { "no free GPU",
      HEAD GPUS FIXED TWO("items: 300", "workers: 4, service: 0.1 s, request: {cpus: 1}",
                          "workers: 8, service: 2 s, request: {gpus: 1}"),
      { { "free.hardly", "of 8 on average" }, { "use.well", "GPUs are well used: 100" } },
      "free.lost tile.fragments use.unassigned limit.room" },
    { "nodes that are used alike",
      HEAD GPUS FIXED "horizon: 10 min\n" TWO("items: 9000", "workers: 8, service: 0.1 s",
                                              "workers: 8, service: 2 s, request: {gpus: 1}"),
      { { "nodes.even", "Both nodes are used alike, 100\u00a0% of their GPUs" } },
      "nodes.one" },
    { "held and idle",
      HEAD GPUS FIXED "horizon: 30 min\n" TWO("arrivals: {gap: 10 s}",
                                              "workers: 1, service: 1 s, request: {cpus: 1}",
                                              "workers: 6, service: 2 s, request: {gpus: 1}"),
      { { "use.idle", "sits idle" } },
      "use.well use.unassigned" },
    { "no GPU is fragmented",
      HEAD GPUS FIXED TWO("items: 100", "workers: 1, service: 1 s, request: {gpus: 1}",
                          "workers: 2, service: 2 s, request: {gpus: 1}"),
      { { "free.whole", "No free GPU is fragmented" } },
      "free.hardly free.lost" },
    { "workers whose stage is done",
      HEAD CPUS FIXED TWO("items: 40", "workers: 2, service: 1 s",
                          "workers: 2, service: 1 s") "horizon: 1 h\n",
      { { "workers.still", "4 stay" } },
      "workers.lost" },
    { "stages of a batch end",
      HEAD CPUS "pipelines: [{name: p, execution: batch, input: {items: 40}, stages: [{name: a, "
                "workers: 2, service: 1 s}, {name: b, workers: 2, service: 1 s}]}]\n",
      { { "flow.rate", "items per second" }, { "limit.turns", "Stages take turns: " } },
      "workers.lost limit.stage limit.slowest limit.room tile.slowest" },
    { "a node is lost",
      HEAD "cluster: {nodes: [{name: n, count: 2, cpus: 2}]}\n" FIXED TWO(
          "items: 400", "workers: 2, service: 1 s",
          "workers: 2, service: 1 s") "timeline: [{at: 50 s, action: node_down, node: n-1}]\n",
      { { "workers.lost", "2 lost" } },
      "workers.still workers.changes" },
    { "workers that are renewed for their age",
      HEAD CPUS FIXED
      "horizon: 200 s\npipelines: [{name: p, input: {items: 400}, stages: [{name: a, "
      "workers: 2, service: 1 s, max_lifetime: 60 s}]}]\n",
      { { "workers.changes", "0 stopped, 3 renewed" } },
      "workers.still workers.lost" },
    { "workers that are renewed, and one that is lost",
      HEAD "cluster: {nodes: [{name: n, count: 3, cpus: 2}]}\n" FIXED
           "horizon: 200 s\npipelines: [{name: p, input: {items: 400}, stages: [{name: a, "
           "workers: 6, service: 1 s, max_lifetime: 60 s}]}]\n"
           "timeline: [{at: 50 s, action: node_down, node: n-1}]\n",
      { { "workers.lost", " renewed" } },
      "workers.still workers.changes" },
    { "two pipelines",
      HEAD CPUS
      "pipelines: [{name: p, input: {items: 100}, stages: [{name: a, workers: 1, service: 1 "
      "s}, {name: b, workers: 1, service: 2 s}]}, {name: q, input: {items: 100}, stages: "
      "[{name: c, workers: 1, service: 3 s}, {name: d, workers: 1, service: 1 s}]}]\n",
      { { "limit.pipelines", " of q" }, { "tile.throughput", "2 pipelines" } },
      "limit.stage limit.arrivals" },
    { "a stage is starved",
      HEAD CPUS TWO("items: 200", "workers: 1, service: 2 s", "workers: 1, service: 0.5 s"),
      { { "workers.busiest", "a works" } },
      "workers.one workers.idle" },
    { "one stage",
      HEAD CPUS FIXED
      "pipelines: [{name: p, input: {items: 2000}, stages: [{name: a, workers: 2, service: 1 "
      "s}]}]\n",
      { { "workers.one", "a workers are busy 100" }, { "limit.stage", "a limits the pipeline" } },
      "workers.busiest limit.arrivals" },
    { "nothing is finished",
      HEAD CPUS
      "horizon: 10 s\n" TWO("items: 5", "workers: 1, service: 1 min", "workers: 1, service: 1 s"),
      { { "flow.nothing", "No item is finished" } },
      "flow.rate flow.keeps_up" },
    { "jobs in a queue",
      HEAD GPUS JOBS(
          "run_time: 10 min, count: 60, arrivals: {rate: 60/h}, classes: {one: {request: "
          "{gpus: 2}}}"),
      { { "jobs.wait", "jobs wait on average" },
        { "jobs.rate", "jobs per hour" },
        { "waits.longest", "one" },
        { "use.jobs_wait", "Jobs hold" } },
      "use.well jobs.hardly_wait jobs.all_refused waits.none" },
    { "jobs that do not wait",
      HEAD GPUS JOBS(
          "run_time: 1 min, count: 40, arrivals: {process: renewal, gap: 2 min}, classes: "
          "{one: {request: {gpus: 1}}}"),
      { { "jobs.hardly_wait", "hardly a job" },
        { "waits.none", "No job that starts waits" },
        { "jobs.rate", "do not wait" } },
      "jobs.wait use.jobs_wait use.well" },
    { "a loss system",
      HEAD GPUS JOBS(
          "run_time: 10 min, count: 100, queue_limit: 0, arrivals: {rate: 120/h}, classes: "
          "{one: {request: {gpus: 2}}}"),
      { { "tile.accepted", "of the jobs are accepted" }, { "jobs.hardly_wait", "hardly" } },
      "jobs.wait jobs.all_refused" },
    { "a loss system with two policies",
      HEAD GPUS REPEAT
      "horizon: 20 h\n" JOBS("queue_limit: 0, arrivals: {rate: 60/h}, classes: {small: {weight: 3, "
                             "run_time: exp(8 min), request: "
                             "{gpus: 1}}, large: {weight: 1, run_time: exp(20 min), request: "
                             "{gpus: 4}}}") "compare: [{label: a, set: {sched.placement: spread}}, "
                                            "{label: b, set: "
                                            "{sched.placement: best_fit}}]\n",
      { { "verdict.better", "GPU time accepted" },
        { "tile.time_accepted", "in the long run any scheduler accepts" } },
      "verdict.alone" },
    { "all are refused",
      HEAD GPUS JOBS(
          "run_time: 10 min, count: 20, queue_limit: 0, arrivals: {rate: 120/h}, classes: "
          "{one: {request: {gpus: 1, cpus: 17}}}"),
      { { "jobs.all_refused", "All 20 jobs" } },
      "jobs.rate jobs.none_done" },
    { "no job is done",
      HEAD GPUS
      "horizon: 5 min\n" JOBS("run_time: 1 h, count: 10, arrivals: {rate: 600/h}, classes: "
                              "{one: {request: {gpus: 1}}}"),
      { { "jobs.none_done", "None of" } },
      "jobs.rate jobs.all_refused" },
    { "a fill of small and large",
      HEAD GPUS
      "fill: {w: {demand: 150%, classes: {small: {count: 20, request: {gpus: 0.5}}, large: "
      "{count: 4, request: {gpus: 4}}}}}\n",
      { { "fill.rate", "of the GPUs are allocated" }, { "fill.placed", "of the jobs of" } },
      "jobs.rate flow.rate" },
    { "a fill with two policies",
      HEAD GPUS
      "fill: {w: {demand: 130%, node_order: shuffled, classes: {small: {weight: 3, request: {gpus: "
      "0.4}}, large: {weight: 1, request: {gpus: 3}}}}}\n" REPEAT
      "compare: [{label: a, set: {sched.placement: best_fit}}, {label: b, set: "
      "{sched.placement: random}}]\n",
      { { "fill.curve", "of the GPUs unallocated" },
        { "fill.unallocated", "a leaves" },
        { "verdict.same", "% GPU allocated" } },
      "verdict.once verdict.alone" },
    { "one arm is slower",
      HEAD CPUS REPEAT TWO("items: 300", "workers: 4, service: exp(1 s)",
                           "workers: 4, service: exp(2 s)")
          ARMS(STAGE_B "service\": exp(3 s)", STAGE_B "service\": exp(2.1 s)"),
      { { "winner.worse", "a is not beaten at throughput; next c" }, { "verdict.worse", "c " } },
      "winner.better winner.none winner.once" },
    { "one arm is faster",
      HEAD CPUS REPEAT TWO("items: 300", "workers: 4, service: exp(1 s)",
                           "workers: 2, service: exp(2 s)")
          ARMS(STAGE_B "workers\": 4", STAGE_B "workers\": 1"),
      { { "winner.better", "b is better than a at throughput" }, { "verdict.better", "b " } },
      "winner.worse winner.none" },
    { "arms that are the same",
      HEAD CPUS REPEAT TWO(
          "items: 300", "workers: 4, service: exp(1 s)",
          "workers: 2, service: exp(2 s)") "compare: [{label: a, set: {}}, {label: b, set: {}}]\n",
      { { "winner.same", "No run differs from a" },
        { "verdict.same", "; the same difference in all 5 replications" } },
      "winner.better winner.worse" },
    { "an arm that is the same and one that is worse",
      HEAD CPUS REPEAT TWO("items: 300", "workers: 4, service: 1 s",
                           "workers: 2, service: 2 s") "compare: [{label: a, set: {}}, {label: b, "
                                                       "set: {}}, {label: c, set: {" STAGE_B
                                                       "workers\": 1}}]\n",
      { { "winner.same", "a is not beaten in any run at throughput; next b: the same" } },
      "winner.better winner.worse" },
    { "arms that always differ by the same",
      HEAD CPUS REPEAT TWO(
          "items: 300", "workers: 4, service: 1 s",
          "workers: 2, service: 2 s") "compare: [{label: a, set: {}}, {label: b, set: {" STAGE_B
                                      "workers\": 4}}]\n",
      { { "winner.same", "In every run: b +" },
        { "verdict.same", "; the same difference in all 5 replications" } },
      "verdict.tie verdict.better winner.none" },
    { "a tie",
      HEAD CPUS REPEAT TWO("items: 300, arrivals: {gap: exp(3 s)}", "workers: 8, service: exp(1 s)",
                           "workers: 6, service: exp(2 s)") "goal: {max: throughput}\n"
                                                            "compare: [{label: a, set: {}}, "
                                                            "{label: b, set: {" STAGE_B
                                                            "workers\": 7}}]\n",
      { { "flow.keeps_up", "as many as arrive" } },
      "winner.better winner.worse" },
    { "one replication",
      HEAD CPUS TWO("items: 300", "workers: 4, service: exp(1 s)", "workers: 2, service: exp(2 s)")
          ARMS(STAGE_B "workers\": 4", STAGE_B "workers\": 1"),
      { { "winner.once", "In one run: b" }, { "verdict.once", "no statement about chance" } },
      "winner.better verdict.better winner.same" },
    { "items that arrive want to be soon through",
      HEAD CPUS REPEAT TWO("items: 400, arrivals: {gap: exp(3 s)}", "workers: 2, service: exp(1 s)",
                           "workers: 1, service: exp(2.5 s)") "compare: [{label: a, set: {}}, "
                                                              "{label: b, set: {" STAGE_B
                                                              "workers\": 3}}]\n",
      { { "winner.better", "b is better than a at latency p95" }, { "latency.two", "with “b”" } },
      "winner.worse" },
    { "a condition of the goal decides",
      HEAD CPUS REPEAT TWO("items: 400, arrivals: {gap: exp(3 s)}", "workers: 2, service: exp(1 s)",
                           "workers: 1, service: exp(2.5 s)") "goal: {max: throughput, while: "
                                                              "[\"latency p95 <= 20 s\"]}\n"
                                                              "compare: [{label: a, set: {}}, "
                                                              "{label: b, set: {" STAGE_B
                                                              "workers\": 3}}]\n",
      { { "winner.keeps", "b keeps the goal's conditions; a misses latency p95 <= 20" } },
      "winner.open" },
    { "two queueing policies",
      HEAD GPUS REPEAT JOBS(
          "count: 150, arrivals: {rate: 80/h}, classes: {short: {weight: 3, run_time: "
          "exp(4 min), request: {gpus: 2}}, long: {weight: 1, run_time: exp(30 min), "
          "request: {gpus: 4}}}") "compare: [{label: a, set: {sched.queueing.policy: fcfs}}, "
                                  "{label: b, set: "
                                  "{sched.queueing.policy: sjf}}]\n",
      { { "verdict.better", "slowdown mean" }, { "waits.two", "Longest mean wait" } },
      "verdict.once verdict.alone" },
    { "a pipeline and jobs",
      HEAD GPUS "horizon: 1 h\n" TWO("arrivals: {gap: 10 s}", "workers: 1, service: 1 s",
                                     "workers: 2, service: 2 s, request: {gpus: 1}")
          JOBS("run_time: 5 min, arrivals: {rate: 30/h}, classes: {one: {request: {gpus: 1}}}"),
      { { "flow.keeps_up", "as many as arrive" } },
      "use.jobs use.jobs_wait jobs.rate workers.lost" },
    { "rules inside a policy",
      HEAD CPUS TWO(
          "items: 300", "workers: 4, service: exp(1 s)",
          "workers: 2, service: exp(2 s)") "compare: [{label: xenna, set: {}}, {label: xenna "
                                           "more, set: {" STAGE_B "workers\": 4}}, {label: c, "
                                           "set: {" STAGE_B "workers\": 3}}]\n",
      { { "families.rules", "Rules inside xenna move" } },
      NULL },
#define DYING(more)                                                                                \
    HEAD "cluster: {nodes: [{name: n, count: 2, cpus: 4}]}\nhorizon: 10 min\n"                     \
         "sched: {placement: first_fit, scaling: fixed}\ntimeline: " DEAD                          \
         "\npipelines: [{name: p, restart: same_place, input: {items: 9000}, stages: [{name: a, "  \
         "workers: 2, service: 1 s}, {name: b, workers: 2, service: 1 s}]}]\n" more
#define DEAD "[{at: 1 min, action: node_down, node: n-0}]"
    { "a run that ended early", DYING(""), { { "workers.lost", "4 lost" } }, "verdict.alone" },
    { "arms of one run that ended early",
      DYING("compare: [{label: a, set: {}}, {label: b, set: {timeline: []}}]\n"),
      { { "workers.lost", "4 lost" }, { "verdict.alone", "b 1.99/s throughput; no variant left" } },
      "limit.stage flow.keeps_up winner.better winner.worse winner.once verdict.once "
      "verdict.same" },
    { "arms all of which ended early",
      DYING("compare: [{label: a, set: {}}, {label: b, set: {" STAGE_B "service\": 2 s}}]\n"),
      { { "workers.lost", "4 lost" } },
      "verdict.alone verdict.once winner.once verdict.same verdict.better verdict.worse" },
    { "an arm of three that ended early would be the best",
      DYING("goal: {min: util.cpu.assigned}\ncompare: [{label: a, set: {timeline: []}}, {label: b, "
            "set: {}}, {label: c, set: {timeline: [], " STAGE_B "workers\": 1}}]\n"),
      { { "verdict.once", "-12.5 points against a" }, { "winner.once", "c -12.5 points" } },
      "verdict.alone verdict.open" },
#define SMALL                                                                                      \
    HEAD "cluster: {nodes: [{name: n, count: 3, cpus: 32, gpus: {h100: 4}}]}\n"                    \
         "metrics: {sample: 1 s}\nhorizon: 900 s\n"
#define XENNA "scheduler: {scaling: {policy: xenna, interval: 20 s}}\n"
#define WARM  "warmup: 100 s\n"
#define DIES                                                                                       \
    "timeline: [{at: 300 s, for: 200 s, action: node_down, node: n-2}]\n"                          \
    "windows: {before: ..300, outage: 300..500, after: 500..}\n"
#define FLOW(gap)                                                                                  \
    TWO("arrivals: {gap: " gap "}", "service: 1 s, request: {cpus: 1}",                            \
        "service: 10 s, setup: 5 s, request: {gpus: 1}")
    { "a node dies, and jobs take what comes back",
      SMALL XENNA FLOW("1.4 s") DIES
      "jobs: {w: {run_time: 10 h, classes: {old: {count: 1, request: {cpus: 1, gpus: 4}}, young: "
      "{count: 1, at: 200 s, request: {cpus: 1, gpus: 4}}}}}\n",
      { { "incident.faults", "n-2 down for" },
        { "incident.latency", "came in outage" },
        { "incident.not_back", "after outage had ended" },
        { "incident.binding", "b was the slowest stage" },
        { "incident.holders", "w/old held 4" },
        { "incident.taken", "w/young took 4" } },
      "incident.back incident.slower incident.wait" },
    { "a node dies, and two sorts of jobs have what is left",
      SMALL XENNA FLOW("1.6 s") DIES
      "jobs: {w: {run_time: 10 h, classes: {less: {count: 1, request: {cpus: 1, gpus: 2}}, most: "
      "{count: 1, request: {cpus: 1, gpus: 3}}}}}\n",
      { { "incident.holders", "w/most held 3" } },
      "incident.taken" },
#define BURST(items)                                                                               \
    SMALL XENNA TWO(                                                                               \
        "items: " items, "service: 1 s, request: {cpus: 1}",                                       \
        "service: 10 s, setup: 5 s, request: {gpus: 1}") "timeline: [{at: 400 s, action: burst, "  \
                                                         "jobs: w, items: 8}]\n"                   \
                                                         "windows: {before: ..300, burst: "        \
                                                         "300..600, after: 600..}\n"               \
                                                         "jobs: {w: {run_time: 10 min, arrivals: " \
                                                         "{rate: 0.1/h}, classes: {j: {request: "  \
                                                         "{gpus: 1}}}}}\n"
    { "a burst of jobs that finds all GPUs held by a stage",
      BURST("9000"),
      { { "waits.holders", "“stages of p” holds 1" } },
      "incident.wait incident.holders" },
    { "a burst of jobs that starts after its window",
      BURST("900"),
      { { "incident.waiting", "8 of the 8 jobs that came in burst" } },
      "incident.wait" },
    { "a node comes back while the store of its models is slow",
      HEAD XENNA
      "metrics: {sample: 1 s}\nhorizon: 900 s\n"
      "cluster: {nodes: [{name: n, count: 3, cpus: 32, gpus: {h100: 4}}], stores: {nfs: 10 "
      "GB/s}}\n" TWO("arrivals: {gap: 1.2 s}", "service: 1 s, request: {cpus: 1}",
                     "service: 10 s, setup: {weights: {bytes: 4 GB, store: nfs}}, request: {gpus: "
                     "1}") "timeline: [{at: 300 s, action: store_slow, store: nfs, factor: 200, "
                           "for: 300 s}, {at: 310 s, "
                           "for: 20 s, action: node_down, node: n-2}]\n"
                           "windows: {before: ..300, outage: 300..600, after: 600..}\n",
      { { "incident.faults", "store nfs slowed x200" },
        { "incident.link", "Store nfs gave all it could" },
        { "links.full", "Store nfs is full" } },
      "links.free" },
    { "a node dies, and comes back",
      SMALL XENNA WARM FLOW("1.1 s") DIES
      "compare: [{label: a, set: {}}, {label: b, set: {timeline: []}}]\n",
      { { "incident.backlog", "The backlog rose to" },
        { "incident.back", "back at its usual level" } },
      "incident.not_back incident.taken incident.slower" },
    { "a stage stands still, and is slow meanwhile",
      HEAD CPUS FIXED
      "horizon: 400 s\ntimeline: [{at: 100 s, for: 50 s, action: stage_stall, stage: a}, {at: 110 "
      "s, "
      "for: 10 s, action: stage_slow, stage: a, factor: 2}]\n"
      "windows: {before: ..100, outage: stage_stall, after: 150..}\n"
      "pipelines: [{name: p, input: {arrivals: {gap: 2 s}}, stages: [{name: a, workers: 1, "
      "service: 1 s}]}]\n",
      { { "incident.unfinished", "0 items per second were finished in outage, and 0.5 came" },
        { "incident.faults", "; 00:01:50: a " } },
      "incident.slower" },
    { "a node dies that nobody needs",
      SMALL XENNA WARM FLOW("9 s") DIES,
      { { "incident.faults", "n-2 down for" } },
      "incident.latency incident.backlog incident.back incident.holders incident.unfinished "
      "incident.binding" },
    { "a backlog slows down when a node dies",
      SMALL XENNA WARM TWO("items: 9000", "service: 1 s, request: {cpus: 1}",
                           "service: 10 s, setup: 5 s, request: {gpus: 1}") DIES,
      { { "incident.slower", "finished in outage" }, { "use.shares", "is at work" } },
      "use.well incident.unfinished incident.back incident.not_back" },
    { "jobs wait when a node dies",
      SMALL
      "timeline: [{at: 300 s, for: 200 s, action: node_down, node: n-1}, {at: 300 s, for: 200 s,"
      " action: node_down, node: n-2}]\nwindows: {before: ..300, outage: node_down, after: "
      "500..}\n" JOBS(
          "run_time: 100 s, count: 200, arrivals: {process: renewal, gap: 10 s}, classes: {one: "
          "{request: {gpus: 1}}}"),
      { { "incident.wait", "Jobs that came in outage" },
        { "incident.faults", "n-1 down for" },
        { "incident.lost", "lost a node under" } },
      "incident.latency incident.binding" },
    { "workers that wait for a store that is out",
      HEAD "cluster: {nodes: [{name: n, count: 3, cpus: 32, gpus: {h100: 4}}], stores: {nfs: 2 "
           "GB/s}}\nmetrics: {sample: 1 s}\nhorizon: 900 s\n" XENNA WARM REPEAT TWO(
               "arrivals: {gap: exp(0.95 s)}", "service: 1 s, request: {cpus: 1}",
               "service: 10 s, setup: {weights: {bytes: 4 GB, store: nfs}}, request: {gpus: "
               "1}") "timeline: [{at: 300 s, action: store_down, store: nfs}, {at: 310 s, "
                     "for: 20 s, action: "
                     "node_down, node: n-2}, {at: 500 s, action: store_up, store: nfs}]\n"
                     "windows: {before: ..store_down nfs, outage: store_down nfs, after: "
                     "store_down nfs..}\n"
                     "compare: [{label: a, set: {}}, {label: b, set: {\"timeline[2].at\": "
                     "470 s}}]\n",
      { { "incident.setup", "workers of b were in set-up on average in outage" },
        { "incident.faults", "store nfs out" },
        { "winner.window", "b helps, not enough" } },
      "incident.slower incident.taken" },
    { "five runs with a window",
      SMALL XENNA WARM REPEAT TWO("arrivals: {gap: exp(1.4 s)}", "service: 1 s, request: {cpus: 1}",
                                  "service: exp(10 s), setup: 5 s, request: {gpus: 1}") DIES
      "compare: [{label: a, set: {}}, {label: b, set: {timeline: []}}]\n",
      { { "winner.window", "b works" } },
      NULL },
    { "one run with a window",
      SMALL XENNA WARM TWO("arrivals: {gap: exp(1.4 s)}", "service: 1 s, request: {cpus: 1}",
                           "service: exp(10 s), setup: 5 s, request: {gpus: 1}") DIES
      "compare: [{label: a, set: {}}, {label: b, set: {timeline: []}}]\n",
      { { "winner.window", "(one run: no statement about chance)" } },
      NULL },
    { "gangs that wait",
      HEAD GPUS
      "jobs: {w: {run_time: 10 min, classes: {half: {count: 1, members: 2, request: {gpus: "
      "2}}, all: {count: 1, at: 1 min, members: 2, request: {gpus: 4}}, one: {count: 20, at: "
      "2 min, every: 10 s, request: {gpus: 1}}}}}\nsched: {queueing: fcfs}\n",
      { { "gangs.wait", "1 of 2 gangs waits, longest w/all-0: 9m" },
        { "waits.holders", "“one” waits longest" },
        { "spread.jobs", "Half of the jobs wait" } },
      "gangs.start tenants.dominant spread.tenant spread.halves" },
    { "gangs that do not wait",
      HEAD GPUS "horizon: 1 h\njobs: {w: {run_time: 10 min, classes: {half: {count: 2, members: 2, "
                "request: {gpus: 2}}}}}\n",
      { { "gangs.start", "Each of 2 gangs starts" } },
      "gangs.wait waits.holders spread.jobs spread.halves" },
    { "a tenant that has less than its guarantee",
      HEAD
      "cluster: {nodes: [{name: n, count: 2, cpus: 16, ram: 64 GB, gpus: {h100: 4}}]}\nhorizon: "
      "2 h\ntenants: [{name: a}, {name: b, guarantee: 4}]\n"
      "jobs: {w: {run_time: 10 min, classes: {a: {tenant: a, count: 50, request: {gpus: 1}}, "
      "b: {tenant: b, count: 30, at: 1 min, request: {gpus: 1, ram: 1 GB}}}}}\n"
      "sched: {queueing: fcfs}\n",
      { { "tenants.short", "“b” has less than its guaranteed 4 GPUs" },
        { "tenants.dominant", "“a” has a dominant share" },
        { "spread.tenant", "Half of the jobs of “a” wait" },
        { "spread.class", "half of “b”" } },
      "gangs.start" },
    { "a tenant that has its guarantee",
      HEAD GPUS "horizon: 2 h\ntenants: [{name: a}, {name: b, guarantee: 2}]\n"
                "jobs: {w: {run_time: 10 min, classes: {b: {tenant: b, count: 30, request: {gpus: "
                "1}}, a: {tenant: a, count: 30, request: {gpus: 1}}}}}\nsched: {queueing: fcfs}\n",
      { { "tenants.dominant", "a dominant share" }, { "tenants.most", "of the GPU time of " } },
      "tenants.short" },
    { "a trace of two users",
      HEAD "cluster: {nodes: [{name: n, count: 1, cpus: 64, gpus: {h100: 4}}, {name: m, count: 1, "
           "cpus: 64, gpus: {a100-80: 8}}]}\njobs: {w: {trace: t.csv}}\nsched: {queueing: "
           "first_fit}\ncompare: [{label: a, set: "
           "{}}, {label: b, set: {sched.queueing: fcfs}}]\n",
      { { "spread.user", "“late”" },
        { "spread.model", "“a100-80”" },
        { "spread.gpu_types", "“a100-80”" },
        { "spread.variant", "Half of the jobs of “a”" },
        { "spread.halves", "Half of the jobs of the first half" },
        { "variants.undone", "Every job is done" } },
      "spread.tenant" },
    { "a stage that shrinks",
      HEAD CPUS "horizon: 30 min\nscheduler: {scaling: {policy: xenna, interval: 20 s}}\n" TWO(
          "items: 3000", "service: 1 s",
          "service: 1 s, workers: 2") "timeline: [{at: 5 min, action: "
                                      "stage_slow, stage: a, for: 10 min, "
                                      "factor: 5}]\n",
      { { "workers.range", "a has" } },
      "workers.same" },
    { "jobs most of which never start",
      HEAD GPUS
      "horizon: 30 min\njobs: {w: {run_time: 20 min, classes: {small: {count: 8, request: "
      "{gpus: 1}}, big: {count: 10, at: 1 min, request: {gpus: 4}}}}}\n",
      { { "spread.class", "most of “big” never start" } },
      "gangs.start spread.jobs" },
    { "a store that is full",
      HEAD "cluster: {nodes: [{name: n, count: 2, cpus: 16, nic: 400 Gb/s}], stores: {nfs: 1 "
           "GB/s}}\n" FIXED "pipelines: [{name: p, input: {items: 8}, stages: [{name: a, workers: "
           "8, service: 1 s, setup: {weights: {bytes: 50 GB, store: nfs}}}]}]\n",
      { { "links.full", "Store nfs is full" }, { "workers.setup", "in set-up 99" } },
      "links.free power.idle memory.suffices workers.idle workers.one" },
    { "a store that is not full",
      HEAD "cluster: {nodes: [{name: n, count: 2, cpus: 16, nic: 1 Gb/s}], stores: {nfs: 100 "
           "GB/s}}\nhorizon: 10 min\n" FIXED
           "pipelines: [{name: p, input: {arrivals: {gap: 1 s}, bytes_per_item: 100 MB, store: "
           "nfs}, stages: [{name: a, workers: 8, service: 1 s}]}]\n",
      { { "links.free", "No link is full" } },
      "links.full" },
    { "a service whose requests expire",
      HEAD CPUS "horizon: 10 min\n" FIXED
                "services: [{name: m, requests: {arrivals: exp(1 s)}, replicas: 1, batching: "
                "{max_batch: 1, timeout: 5 s}, service: {law: const(2 s), source: guess}}]\n",
      { { "flow.lost", "leave before" } },
      "flow.piles_up flow.keeps_up limit.slowest limit.pipelines tile.slowest" },
    { "callers that wait for an answer",
      HEAD CPUS "horizon: 10 min\n" FIXED
                "actors: [{name: s, roles: {caller: {count: 4}, keeper: {count: 1}}, calls: "
                "[{from: caller, to: keeper, think: 1 s, service: 1 s}]}]\n",
      { { "workers.blocked", "those of caller wait with work in hand" } },
      "workers.idle limit.slowest" },
    { "memory that runs out",
      HEAD "cluster: {nodes: [{name: n, count: 2, cpus: 32, ram: 64 GB}], memory: oom_killer}\n"
           "horizon: 20 min\n" FIXED
           "pipelines: [{name: p, semantics: event, backpressure: none, input: {arrivals: "
           "{process: poisson, rate: 3/s}, bytes_per_item: 8 GB}, stages: [{name: a, workers: 22, "
           "ram: 4 GB, uses: {ram: 0 B}, service: exp(6 s)}]}]\n",
      { { "memory.killed", "Memory ran out: " } },
      "memory.suffices" },
    { "memory that suffices",
      HEAD "cluster: {nodes: [{name: n, cpus: 32, ram: 64 GB}], memory: oom_killer}\n" FIXED
           "pipelines: [{name: p, semantics: event, backpressure: none, input: {items: 20, "
           "bytes_per_item: 1 GB}, stages: [{name: a, workers: 2, ram: 4 GB, service: 2 s}]}]\n",
      { { "memory.suffices", "Memory suffices: the fullest node, n" } },
      "memory.killed memory.spilled" },
    { "outputs that go to disk",
      HEAD "cluster: {nodes: [{name: n, count: 2, cpus: 32, ram: 64 GB}], memory: "
           "memory_monitor}\nhorizon: 20 min\n" FIXED
           "pipelines: [{name: p, semantics: event, backpressure: none, input: {items: 2000}, "
           "stages: [{name: a, workers: 2, ram: 6 GB, uses: {ram: 0 B}, service: 1 s, bytes_out: "
           "const(1 GB)}, {name: b, workers: 2, ram: 6 GB, uses: {ram: 0 B}, service: 8 s}]}]\n",
      { { "memory.spilled", "What waits goes to disk: " } },
      "memory.suffices memory.killed" },
    { "a cap on one node",
      HEAD "cluster: {power: {gpu: used}, nodes: [{name: n, cpus: 16, gpus: {h100: 8}, power_cap: "
           "4 kW}]}\n" FIXED "pipelines: [{name: p, input: {items: 40}, stages: [{name: a, "
           "workers: 8, gpus: 1, service: 100 s}]}]\n",
      { { "power.node", "capped at 4 kW" } },
      "power.free power.nodes power.idle" },
    { "a cap on one node of two",
      HEAD "cluster: {power: {gpu: used}, nodes: [{name: n, cpus: 16, gpus: {h100: 8}, power_cap: "
           "4 kW}, {name: m, cpus: 16, gpus: {h100: 8}}]}\n" FIXED
           "pipelines: [{name: p, input: {items: 90}, stages: [{name: a, workers: 16, gpus: 1, "
           "service: 100 s}]}]\n",
      { { "power.nodes", "n loses most" } },
      "power.free power.node power.idle" },
    { "a cap that nobody feels",
      HEAD "cluster: {power: {gpu: used}, nodes: [{name: n, cpus: 16, gpus: {h100: 8}, power_cap: "
           "9 kW}]}\n" FIXED "pipelines: [{name: p, input: {items: 40}, stages: [{name: a, "
           "workers: 8, gpus: 1, service: 10 s}]}]\n",
      { { "power.free", "No GPU is held back: those of n draw 5.6 kW" } },
      "power.node power.nodes power.idle" },
    { "a cap on GPUs that do nothing",
      HEAD "cluster: {power: {gpu: used}, nodes: [{name: n, cpus: 16, gpus: {h100: 8}, power_cap: "
           "9 kW}]}\n" FIXED "pipelines: [{name: p, input: {items: 40}, stages: [{name: a, "
           "workers: 4, cpus: 1, service: 10 s}]}]\n",
      { { "power.idle", "No GPU computes" } },
      "power.node power.nodes power.free" },
    { "nodes that come and go",
      HEAD "horizon: 24 h\ncluster: {nodes: [{name: n, count: 2, cpus: 16, gpus: {h100: "
           "8}, supply: {max: 5, boot: const(5 min), spot: {hazard: 0.3/h}}}, {name: f, cpus: 16, "
           "gpus: {h100: 8}}]}\nsched: {capacity: {policy: demand}}\n"
           "timeline: [{at: 5 h, for: 2 h, action: node_down, node: f}]\n" JOBS(
               "arrivals: {rate: 1/h}, classes: {a: {run_time: 2 h, request: {gpus: 8}}}"),
      { { "use.jobs", "of the GPUs of nodes that are up" },
        { "tile.held", " of 48 on average) are held by jobs" },
        { "supply.group", " nodes of n are there on average, " },
        { "nodes.uneven", "; 5 nodes were away at times, 1 down" } },
      "use.unassigned supply.groups" },
    { "nodes of two groups come and go",
      HEAD
      "horizon: 24 h\ncluster: {nodes: [{name: n, count: 2, cpus: 16, gpus: {h100: 8}, supply: "
      "{max: 5, boot: const(5 min)}}, {name: m, count: 1, cpus: 16, gpus: {h100: 8}, supply: "
      "{max: 2, boot: const(5 min), launch_failure: 0.3}}]}\n"
      "sched: {capacity: {policy: demand}}\n" JOBS(
          "arrivals: {rate: 1/h}, classes: {a: {run_time: 4 h, request: {gpus: 8}}}"),
      { { "supply.groups", " nodes of 2 groups are there on average, " } },
      "use.unassigned supply.group" },
