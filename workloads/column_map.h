/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Column maps: which column of somebody's CSV file says what of a job, and in which unit.
 *
 * A map is a small JSON document:
 *
 *     { "name": "ours", "summary": "jobs of our cluster", "delimiter": ";", "unknown": ["N/A"],
 *       "fields": {
 *         "submit": { "column": "Submit", "unit": "date", "zone": "-08:00 us" },
 *         "run":    { "column": "elapsed", "unit": "ms" },
 *         "gpus":   { "column": "gpu_num" },
 *         "cpus":   { "value": 4 },
 *         "end":    { "column": "state", "words": { "done": ["Pass"], "failed": ["Failed"] } } } }
 *
 * `header` lists the columns of a file that has no header line. A field is a column or a constant
 * `value`; `optional` columns may be missing; `factor` multiplies. What the fields and units are:
 * wl_map_fields, wl_map_units. Maps of known traces are built in and called by name.
 */
#ifndef WORKLOADS_COLUMN_MAP_H
#define WORKLOADS_COLUMN_MAP_H

#include "workloads/timestamp.h"
#include "workloads/trace.h"

enum wl_map_kind {
    WL_MAP_TEXT,
    WL_MAP_MOMENT, /* a span since the trace's zero, or a date */
    WL_MAP_SPAN,
    WL_MAP_CPUS,
    WL_MAP_BYTES,
    WL_MAP_GPUS,
    WL_MAP_COUNT,
    WL_MAP_END
};

/* name, kind, meaning */
#define WL_MAP_FIELDS(X)                                                                           \
    X(WL_FIELD_NAME, "name", WL_MAP_TEXT, "name or number of the job")                             \
    X(WL_FIELD_USER, "user", WL_MAP_TEXT, "who submitted it")                                      \
    X(WL_FIELD_GROUP, "group", WL_MAP_TEXT, "tenant, virtual cluster, account")                    \
    X(WL_FIELD_MODELS, "models", WL_MAP_TEXT, "accepted GPU models, A|B; nothing = any")           \
    X(WL_FIELD_SUBMIT, "submit", WL_MAP_MOMENT, "when it was submitted")                           \
    X(WL_FIELD_START, "start", WL_MAP_MOMENT, "when it started; with submit: the wait")            \
    X(WL_FIELD_FINISH, "finish", WL_MAP_MOMENT, "when it ended; with start: the run time")         \
    X(WL_FIELD_WAIT, "wait", WL_MAP_SPAN, "from submission to start")                              \
    X(WL_FIELD_RUN, "run", WL_MAP_SPAN, "run time")                                                \
    X(WL_FIELD_ESTIMATE, "estimate", WL_MAP_SPAN, "run time as the user estimated it")             \
    X(WL_FIELD_PATIENCE, "patience", WL_MAP_SPAN, "leaves when it waited so long")                 \
    X(WL_FIELD_CPUS, "cpus", WL_MAP_CPUS, "CPUs of the whole job")                                 \
    X(WL_FIELD_MEMORY, "memory", WL_MAP_BYTES, "memory of the whole job")                          \
    X(WL_FIELD_GPUS, "gpus", WL_MAP_GPUS, "GPUs; below one = a share of one")                      \
    X(WL_FIELD_GPU_SHARE, "gpu_share", WL_MAP_GPUS, "share of each GPU; default 1")                \
    X(WL_FIELD_GPU_MEMORY, "gpu_memory", WL_MAP_BYTES, "memory of each GPU")                       \
    X(WL_FIELD_MIG, "mig", WL_MAP_TEXT, "a MIG instance by its profile, instead of a GPU")         \
    X(WL_FIELD_MODEL, "model", WL_MAP_TEXT, "what it trains: the name of a profile")               \
    X(WL_FIELD_PROCESSORS, "processors", WL_MAP_COUNT, "processors, where nothing more is said")   \
    X(WL_FIELD_PRIORITY, "priority", WL_MAP_COUNT, "higher = more important")                      \
    X(WL_FIELD_END, "end", WL_MAP_END,                                                             \
      "how it ended: words for done, failed, cancelled, "                                          \
      "never_started, running")
#define WL_MAP_ENUM(field, name, kind, help) field,
enum wl_map_field { WL_MAP_FIELDS(WL_MAP_ENUM) WL_FIELD_COUNT };
#undef WL_MAP_ENUM

struct wl_map_field_info {
    const char *name;
    enum wl_map_kind kind;
    const char *help;
};
extern const struct wl_map_field_info wl_map_fields[WL_FIELD_COUNT];

/* What 1 of the unit is in ns, bytes, or thousandths of a CPU or GPU. */
struct wl_map_unit {
    const char *name;
    int64_t scale;
    enum wl_map_kind kind;
    enum { WL_UNIT_PLAIN, WL_UNIT_DATE, WL_UNIT_SINCE_1970, WL_UNIT_TRES } form;
};
extern const struct wl_map_unit wl_map_units[]; /* the first of a kind is its default */
extern const size_t wl_map_units_count;

struct wl_map_entry {
    char *column; /* NULL = `value` */
    char *value;
    const struct wl_map_unit *unit; /* NULL = no amount */
    struct wl_zone zone;
    double factor;
    bool is_optional;
};

/* A cell that says something else than is meant. */
struct wl_map_word {
    char *word;
    enum wl_map_field field;
    enum wl_job_end end; /* of WL_FIELD_END */
    char *meant;         /* of texts */
};

struct wl_column_map {
    char *name, *summary;
    char delimiter; /* 0 = find it */
    char **header;  /* of files that have none */
    size_t header_count;
    char **unknown; /* cells that mean nothing */
    size_t unknown_count;
    struct wl_map_entry entries[WL_FIELD_COUNT]; /* neither column nor value = not there */
    struct wl_map_word *words;
    size_t word_count;
};

/* `name` of a built-in map, else the path of a file. WEIR_EFORMAT names every mistake. */
weir_status wl_column_map_open(const char *name, struct wl_column_map **map,
                               struct weir_error *error);
/* From text; `path` is for messages. */
weir_status wl_column_map_parse(const char *path, const char *text, struct wl_column_map **map,
                                struct weir_error *error);
void wl_column_map_destroy(struct wl_column_map *map);
/* Whether the head of a file has every column that is not optional. */
bool wl_column_map_is_of(const struct wl_column_map *map, const struct wl_trace_head *head);

struct wl_built_in_map {
    const char *name, *text;
};
extern const struct wl_built_in_map wl_column_maps[];
extern const size_t wl_column_maps_count;

/* The format `table` of trace.h: reads through options->map. */
weir_status wl_table_read(const struct wl_trace_options *options, struct wl_jobs *jobs,
                          struct weir_error *error);

/* The words of struct wl_job_end in maps and tables: "done", "failed" ... */
const char *wl_job_end_name(enum wl_job_end end);

#endif
