/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Forecasts of a number that is watched: a demand, a share, a queue.
 *
 * An *outlook* watches one number and says what it will be. It is made for one of three horizons,
 * each with an interval of its own, and says nothing of what lies beyond: who scales within
 * minutes, who brings nodes within hours and who plans for weeks each have their own outlook and
 * read no other one. The most in an interval is one value of a series; forecasters are pure
 * functions of it.
 *
 * Its *features* are what the number may depend on: what was asked for before, the queue, the time,
 * whose work it is, what the work needs. The forecaster `regression` reads them, group by group as
 * it is told, and whoever forecasts with a program of his own exports them.
 */
#ifndef WEIR_FORECAST_H
#define WEIR_FORECAST_H

#include "weir/work.h"

WEIR_BEGIN_DECLS

/* ---- features; from 2.3 on ---- */

/* Append-only. */
#define WEIR_FEATURE_GROUPS(X)                                                                     \
    X(WEIR_FEATURE_HISTORY, "history")                                                             \
    X(WEIR_FEATURE_QUEUE, "queue")                                                                 \
    X(WEIR_FEATURE_TIME, "time")                                                                   \
    X(WEIR_FEATURE_TEAMS, "teams")                                                                 \
    X(WEIR_FEATURE_NEEDS, "needs")

/* id, group, name, what it is. Asked for: held by anybody, or waited for by jobs. */
#define WEIR_FEATURES(X)                                                                           \
    X(GPUS_ASKED, HISTORY, "gpus_asked", "GPUs asked for")                                         \
    X(GPUS_ASKED_HOUR, HISTORY, "gpus_asked_hour", "their mean, that of an hour ago counts 1/e")   \
    X(GPUS_ASKED_DAY, HISTORY, "gpus_asked_day", "their mean, that of a day ago counts 1/e")       \
    X(CPUS_ASKED, HISTORY, "cpus_asked", "CPUs asked for")                                         \
    X(JOBS_WAITING, QUEUE, "jobs_waiting", "jobs that wait")                                       \
    X(GPUS_WAITING, QUEUE, "gpus_waiting", "GPUs that they ask for")                               \
    X(JOBS_RUNNING, QUEUE, "jobs_running", "jobs that start or run")                               \
    X(TASKS_WAITING, QUEUE, "tasks_waiting", "tasks in front of stages, services and roles")       \
    X(DAY_SIN, TIME, "day_sin", "sine of the time of day")                                         \
    X(DAY_COS, TIME, "day_cos", "cosine of the time of day")                                       \
    X(HALF_DAY_SIN, TIME, "half_day_sin", "sine of its half")                                      \
    X(HALF_DAY_COS, TIME, "half_day_cos", "cosine of its half")                                    \
    X(WEEK_SIN, TIME, "week_sin", "sine of the time of the week")                                  \
    X(WEEK_COS, TIME, "week_cos", "cosine of the time of the week")                                \
    X(TEAMS_ACTIVE, TEAMS, "teams_active", "tenants whose jobs wait or run")                       \
    X(TEAM_SHARE, TEAMS, "team_share", "part of all GPUs asked for that is its largest tenant's")  \
    X(TEAM_SPREAD, TEAMS, "team_spread", "sum of the squares of these parts")                      \
    X(JOB_GPUS, NEEDS, "job_gpus", "GPUs a job asks for, mean")                                    \
    X(JOB_CPUS, NEEDS, "job_cpus", "CPUs a job asks for, mean")                                    \
    X(JOB_GPU_GIB, NEEDS, "job_gpu_gib", "GPU memory a job asks for in GiB, mean")

#define WEIR_GROUP_ENUM(id, text) id,
enum weir_feature_group { WEIR_FEATURE_GROUPS(WEIR_GROUP_ENUM) WEIR_FEATURE_GROUP_COUNT };
#undef WEIR_GROUP_ENUM
#define WEIR_FEATURE_ENUM(id, group, name, text) WEIR_FEATURE_##id,
enum weir_feature_index { WEIR_FEATURES(WEIR_FEATURE_ENUM) WEIR_FEATURE_COUNT };
#undef WEIR_FEATURE_ENUM

/* Frozen. */
struct weir_feature {
    const char *name;
    const char *help;
    uint32_t group; /* enum weir_feature_group */
    uint32_t reserved;
};
WEIR_API uint32_t weir_feature_count(void);
WEIR_API const struct weir_feature *weir_feature_at(uint32_t index); /* NULL = none */
WEIR_API const char *weir_feature_group_name(uint32_t group);

/* What is remembered from one look to the next; zeros at first. Frozen. */
struct weir_feature_past {
    int64_t at_ns;
    double asked, hour, day;
    uint32_t is_known;
    uint32_t reserved;
};
/* As things are in this view: weir_feature_count() numbers. The day begins when the clock is a
 * multiple of it. O(pools + tenants). */
WEIR_API void weir_view_features(const struct weir_view *view, struct weir_feature_past *past,
                                 double *values);

/* ---- outlooks; from 2.3 on ---- */

enum weir_forecast_kind {
    WEIR_FORECAST_LAST,         /* the latest value */
    WEIR_FORECAST_SEASONAL,     /* that of a season before */
    WEIR_FORECAST_EWMA,         /* a moving average */
    WEIR_FORECAST_HOLT_WINTERS, /* level, trend and season; of a season of one value: no season */
    WEIR_FORECAST_AR,           /* autoregression */
    WEIR_FORECAST_REGRESSION    /* least squares on features */
};
#define WEIR_FORECAST_WORDS "last|seasonal|ewma|holt_winters|ar|regression"

enum weir_horizon {
    WEIR_HORIZON_REACTIVE,     /* minutes: who scales */
    WEIR_HORIZON_PROVISIONING, /* hours: who brings nodes */
    WEIR_HORIZON_PLANNING,     /* days to weeks: who buys them */
    WEIR_HORIZON_COUNT
};
/* How far ahead an outlook for it says anything, and the interval that is usual for it. Frozen. */
struct weir_horizon_info {
    const char *name;
    int64_t reach_ns, interval_ns;
};
WEIR_API const struct weir_horizon_info *weir_horizon_at(uint32_t horizon); /* NULL = none */

struct weir_outlook;

struct weir_outlook_spec {
    uint32_t size;                 /* sizeof */
    uint32_t horizon;              /* enum weir_horizon */
    uint32_t kind;                 /* enum weir_forecast_kind */
    uint32_t order;                /* of ar: 1 to 32 */
    int64_t interval_ns;           /* 0 = that of its horizon */
    int64_t season_ns;             /* at most 4096 intervals count */
    double level, trend, seasonal; /* weights of what is new, 0 to 1 */
    uint32_t groups;               /* that regression reads: bits by enum weir_feature_group */
    uint32_t reserved;
};
/* Errors: WEIR_EINVAL (no such horizon or kind, a number out of its range), WEIR_ENOMEM. */
WEIR_API weir_status weir_outlook_create(const struct weir_outlook_spec *spec,
                                         const struct weir_allocator *allocator,
                                         struct weir_outlook **outlook, struct weir_error *error);
WEIR_API void weir_outlook_destroy(struct weir_outlook *outlook);
/* The number now. `features`: weir_feature_count() of them; only regression wants them, NULL =
 * zeros. Times never go back. O(1); at the end of an interval O(values), of ar O(values x order).
 */
WEIR_API void weir_outlook_observe(struct weir_outlook *outlook, int64_t now_ns, double value,
                                   const double *features);
/* What is forecast for the interval that holds this time, from the present one on; NAN beyond the
 * reach of its horizon, or before anything was observed. Cost as of the end of an interval. */
WEIR_API double weir_outlook_at(const struct weir_outlook *outlook, int64_t at_ns);
/* It is judged by what it says of values so much later; at first by the next one. */
WEIR_API void weir_outlook_judge(struct weir_outlook *outlook, int64_t ahead_ns);
/* Mean part by which it was wrong about them, of those that were not 0; NAN = none yet. */
WEIR_API double weir_outlook_error(const struct weir_outlook *outlook);

WEIR_END_DECLS

#endif
