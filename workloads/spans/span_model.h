/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * From a log of spans to a model of one linear pipeline: service, set-up, fan-out and batch of each
 * stage, arrivals, items and the nodes that were seen. Method and limits: docs/fit.md.
 */
#ifndef WORKLOADS_SPAN_MODEL_H
#define WORKLOADS_SPAN_MODEL_H

#include "workloads/spans/law_fit.h"
#include "workloads/spans/span_log.h"

enum wl_input { WL_INPUT_AUTO, WL_INPUT_BACKLOG, WL_INPUT_ARRIVALS };

struct wl_model_options {
    double confidence; /* of the intervals */
    enum wl_input input;
    const char *stages; /* "a,b,c": their order; NULL = by first start */
};

/* Service on one GPU type (or on none). */
struct wl_service_model {
    uint32_t gpu; /* WL_NO_NAME = none */
    size_t tasks;
    struct wl_law_choice law;
    double factor; /* mean relative to the first of the stage */
};

struct wl_stage_model {
    const char *name; /* of the log */
    size_t tasks, failed, items;
    struct wl_service_model *services; /* most tasks first: the reference */
    size_t service_count;
    bool scales_by_size;
    bool uses_gpu;
    bool has_setup;
    struct wl_law_choice setup;
    uint32_t batch;
    double batch_share; /* of the tasks have this batch */
    double returns;     /* mean */
    bool returns_vary;  /* more than the two neighbours of the mean: the sample is kept */
    struct wl_law_choice returns_sample;
    uint32_t workers_seen, workers_peak;
};

struct wl_node_model {
    const char *name;       /* of the log, or "seen" */
    uint32_t workers;       /* at once */
    uint32_t *gpus;         /* workers with a GPU at once, by type */
    uint32_t *gpus_for_all; /* the same, had all stages been at their most at the same time */
};

struct wl_model {
    const struct wl_span_log *log;
    struct wl_stage_model *stages; /* in the order of the pipeline */
    size_t stage_count;
    struct wl_node_model *nodes;
    size_t node_count;
    size_t items;
    bool is_backlog;
    const char *busiest;  /* the stage whose workers had least time to spare; NULL = not known */
    double busiest_share; /* of their time they worked */
    bool arrivals_from_starts;
    struct wl_law_choice arrivals; /* n 0 = none */
    struct wl_law_choice size;     /* n 0 = not known */
    uint32_t workers_peak;         /* sum over the stages */
};

/* `log` must outlive the model. The model is to be cleared, also on failure. */
weir_status wl_model_fit(const struct wl_span_log *log, const struct wl_model_options *options,
                         struct wl_model *model, struct weir_error *error);
void wl_model_clear(struct wl_model *model);

/* Some stage was never short of work: arrivals alone do not limit the log. */
bool wl_model_shows_capacity(const struct wl_model *model);

/* model_yaml.c: the scenario as text; samples of empirical laws go to CSV files beside `path`. */
struct wl_yaml_options {
    const char *name, *path; /* path NULL or "-": samples go to the working folder */
    const char *source;      /* the log, for the description */
    bool fixes_workers;
};
/* A law in quotes: the fitted one, or the sample in a file of its own, "FOLDER/NAME.WHAT.csv"
 * beside `path`. */
struct wl_law_place {
    const char *path, *what, *unit; /* unit: " s" or "" */
    bool is_sample;                 /* the sample is kept whatever law is near */
    bool is_absolute;               /* the law names the file with its folder */
};
weir_status wl_law_write(const struct wl_law_choice *choice, const struct wl_law_place *place,
                         FILE *out, struct weir_error *error);

/* What a file name does not take becomes '-', as in names of samples. */
void wl_law_file_name(char *text);

weir_status wl_model_write(const struct wl_model *model, const struct wl_yaml_options *options,
                           FILE *out, struct weir_error *error);

#endif
