/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Requests to shapes: validation, classification, sums and text.
 *
 * The order of the rules is the reference's (xenna, codec version). Three of its slips are mended:
 * `entire_gpu` needs whole GPUs above 0 (its test is an "or" that nearly everything passes), counts
 * round instead of truncating (1.9999999 is 2 GPUs, 0.9999995 is 1), and an amount too small for
 * the grid is an error, not a shape that holds nothing.
 */
#include "weir/shape.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

/* How far from a whole number a GPU count may be written. */
static const double WHOLE_TOLERANCE = 1e-6;

enum { MAX_ENGINES_WANTED = 1000000 };

const char *weir_shape_kind_name(uint32_t kind)
{
#define SHAPE_NAME(name, text) text,
    static const char *const names[] = { WEIR_SHAPE_KINDS(SHAPE_NAME) };
#undef SHAPE_NAME
    return kind < WEIR_SHAPE_KIND_COUNT ? names[kind] : "?";
}

static weir_status check_amount(const char *name, double value, struct weir_error *error)
{
    if (isnan(value))
        return weir_fail(error, WEIR_EINVAL, "%s is not a number", name);
    if (value < 0)
        return weir_fail(error, WEIR_EINVAL, "%s must be >= 0, got %.10g", name, value);
    return WEIR_OK;
}

static weir_status check_count(const char *name, int64_t value, int64_t most,
                               struct weir_error *error)
{
    if (value < 0)
        return weir_fail(error, WEIR_EINVAL, "%s must be >= 0, got %" PRId64, name, value);
    if (value > most)
        return weir_fail(error, WEIR_ERANGE, "%s must be <= %" PRId64 ", got %" PRId64, name, most,
                         value);
    return WEIR_OK;
}

static weir_status check_request(const struct weir_request *request, struct weir_error *error)
{
    WEIR_TRY(check_amount("cpus", request->cpus, error));
    WEIR_TRY(check_amount("gpus", request->gpus, error));
    WEIR_TRY(check_count("nvdecs", request->nvdecs, MAX_ENGINES_WANTED, error));
    WEIR_TRY(check_count("nvencs", request->nvencs, MAX_ENGINES_WANTED, error));
    WEIR_TRY(check_count("ram_bytes", request->ram_bytes, INT64_MAX, error));
    WEIR_TRY(check_count("gpu_mem_bytes", request->gpu_mem_bytes, INT64_MAX, error));
    if (!(request->cpus > 0) && !(request->gpus > 0) && request->nvdecs == 0 &&
        request->nvencs == 0 && request->mig_slices == 0)
        return weir_fail(error, WEIR_EINVAL,
                         "nothing is requested: cpus, gpus, nvdecs and nvencs are all 0");
    return WEIR_OK;
}

/* Units of an amount > 0 that must not vanish on the grid. */
static weir_status amount_units(const char *name, double amount, struct weir_quantum quantum,
                                int64_t *units, struct weir_error *error)
{
    const weir_status status = weir_units_from_amount(amount, quantum, units, error);

    if (status != WEIR_OK)
        weir_error_wrap(error, "%s", name);
    else if (amount > 0 && *units == 0)
        return weir_fail(error, WEIR_EINVAL, "%s rounds to 0 on a grid of %.10g, got %.10g", name,
                         weir_units_amount(quantum.units), amount);
    return status;
}

/* A number of GPUs that must be whole; `rule` says who wants that. */
static weir_status whole_gpus(double gpus, const char *rule, uint32_t *count,
                              struct weir_error *error)
{
    const double rounded = round(gpus);

    if (fabs(gpus - rounded) >= WHOLE_TOLERANCE || rounded < 1)
        return weir_fail(error, WEIR_EINVAL, "gpus must be a whole number >= 1 %s, got %.10g", rule,
                         gpus);
    if (rounded > 1e8)
        return weir_fail(error, WEIR_ERANGE, "gpus must be <= 100000000, got %.10g", gpus);
    *count = (uint32_t)rounded;
    return WEIR_OK;
}

static weir_status shape_entire(const struct weir_request *request, struct weir_shape *shape,
                                struct weir_error *error)
{
    if (request->nvdecs > 0 || request->nvencs > 0)
        return weir_fail(error, WEIR_EINVAL,
                         "entire_gpu takes all codec engines: nvdecs and nvencs must be 0, got "
                         "%" PRId64 " and %" PRId64,
                         request->nvdecs, request->nvencs);
    WEIR_TRY(whole_gpus(request->gpus, "with entire_gpu", &shape->gpu_count, error));
    shape->kind = WEIR_SHAPE_ENTIRE;
    shape->gpu_units = WEIR_ONE;
    return WEIR_OK;
}

/* One process a GPU: part of a node, or all GPUs of whole nodes. */
static weir_status shape_spmd(const struct weir_request *request, struct weir_shape *shape,
                              struct weir_error *error)
{
    const uint32_t node_gpus = request->node_gpus;
    uint32_t gpus = 0;

    if (request->nvdecs > 0 || request->nvencs > 0)
        return weir_fail(error, WEIR_EINVAL, "spmd must not ask for codecs");
    WEIR_TRY(whole_gpus(request->gpus, "with spmd", &gpus, error));
    shape->gpu_units = WEIR_ONE;
    shape->node_gpus = node_gpus;
    if (gpus < node_gpus) {
        shape->kind = WEIR_SHAPE_SPMD_SMALL;
        shape->gpu_count = gpus;
    } else if (node_gpus > 0 && gpus % node_gpus == 0) {
        shape->kind = WEIR_SHAPE_SPMD_MULTI;
        shape->gpu_count = node_gpus;
        shape->node_count = gpus / node_gpus;
    } else {
        return weir_fail(error, WEIR_EINVAL,
                         "gpus must be below or a multiple of a node's %u GPUs with spmd, got %u",
                         node_gpus, gpus);
    }
    shape->cpu_units *= shape->gpu_count;
    return WEIR_OK;
}

static weir_status shape_gpus(const struct weir_request *request, struct weir_quantum quantum,
                              struct weir_shape *shape, struct weir_error *error)
{
    shape->nvdecs = (uint32_t)request->nvdecs;
    shape->nvencs = (uint32_t)request->nvencs;
    if (request->gpus >= 1 - WHOLE_TOLERANCE) {
        WEIR_TRY(whole_gpus(request->gpus, "or below 1", &shape->gpu_count, error));
        shape->kind = WEIR_SHAPE_WHOLE;
        shape->gpu_units = WEIR_ONE;
        if (request->cpus_per_gpu)
            shape->cpu_units *= shape->gpu_count;
        return WEIR_OK;
    }
    shape->gpu_count = 1;
    WEIR_TRY(amount_units("gpus", request->gpus, quantum, &shape->gpu_units, error));
    /* A coarse grid may round a large share up to the whole GPU. */
    shape->kind = shape->gpu_units == WEIR_ONE ? WEIR_SHAPE_WHOLE : WEIR_SHAPE_FRACTIONAL;
    return WEIR_OK;
}

static weir_status shape_slice(const struct weir_request *request, struct weir_shape *shape,
                               struct weir_error *error)
{
    const uint32_t all = request->mig_slices_all;

    if (request->gpus > 0 || request->entire_gpu || request->spmd)
        return weir_fail(error, WEIR_EINVAL, "a MIG instance excludes gpus, entire_gpu and spmd");
    if (request->nvencs > 0)
        return weir_fail(error, WEIR_EINVAL, "a MIG instance has no NVENC, got %" PRId64,
                         request->nvencs);
    if (request->mig_slices > all || all > WEIR_MIG_SLOTS)
        return weir_fail(error, WEIR_EINVAL, "%u of %u MIG slices are not possible",
                         request->mig_slices, all);
    shape->kind = WEIR_SHAPE_SLICE;
    shape->gpu_count = 1;
    shape->gpu_units = request->mig_slices == all ? WEIR_ONE : WEIR_ONE / all * request->mig_slices;
    shape->nvdecs = (uint32_t)request->nvdecs;
    shape->mig_slices = request->mig_slices;
    memcpy(shape->mig_profile, request->mig_profile, WEIR_MIG_NAME);
    return WEIR_OK;
}

/* No GPU compute is asked for: engines, or CPUs alone. */
static weir_status shape_without_gpus(const struct weir_request *request, struct weir_shape *shape,
                                      struct weir_error *error)
{
    if (request->nvdecs > 0 || request->nvencs > 0) {
        shape->kind = WEIR_SHAPE_CODEC;
        shape->nvdecs = (uint32_t)request->nvdecs;
        shape->nvencs = (uint32_t)request->nvencs;
        shape->codec_same_gpu = request->codec_same_gpu;
        return WEIR_OK;
    }
    if (request->gpu_mem_bytes > 0)
        return weir_fail(error, WEIR_EINVAL,
                         "gpu_mem_bytes must be 0 without GPUs and codecs, got %" PRId64,
                         request->gpu_mem_bytes);
    shape->kind = WEIR_SHAPE_CPU;
    return WEIR_OK;
}

weir_status weir_shape_from_request(const struct weir_request *request, struct weir_quantum quantum,
                                    struct weir_shape *shape, struct weir_error *error)
{
    struct weir_shape made = { .ram_bytes = request->ram_bytes,
                               .gpu_mem_bytes = request->gpu_mem_bytes };

    WEIR_TRY(check_request(request, error));
    WEIR_TRY(amount_units("cpus", request->cpus, quantum, &made.cpu_units, error));
    if (request->mig_slices > 0)
        WEIR_TRY(shape_slice(request, &made, error));
    else if (request->spmd)
        WEIR_TRY(shape_spmd(request, &made, error));
    else if (request->entire_gpu)
        WEIR_TRY(shape_entire(request, &made, error));
    else if (request->gpus > 0)
        WEIR_TRY(shape_gpus(request, quantum, &made, error));
    else
        WEIR_TRY(shape_without_gpus(request, &made, error));
    *shape = made;
    return WEIR_OK;
}

static bool wants_engines(const struct weir_shape *shape)
{
    return shape->nvdecs > 0 || shape->nvencs > 0;
}

static const char *broken_cpu_rule(const struct weir_shape *shape)
{
    if (shape->cpu_units == 0)
        return "cpu_only needs CPUs > 0";
    if (shape->gpu_units != 0 || shape->gpu_count != 0 || shape->gpu_mem_bytes != 0 ||
        wants_engines(shape))
        return "cpu_only must not ask for GPUs, GPU memory or codecs";
    return NULL;
}

static const char *broken_codec_rule(const struct weir_shape *shape)
{
    if (!wants_engines(shape))
        return "codec needs at least one engine";
    if (shape->gpu_units != 0 || shape->gpu_count != 0)
        return "codec must not ask for GPUs";
    return NULL;
}

static const char *broken_share_rule(const struct weir_shape *shape)
{
    if (shape->gpu_count != 1 || shape->gpu_units <= 0 || shape->gpu_units >= WEIR_ONE)
        return "fractional_gpu needs one GPU and a share within (0, 1)";
    return NULL;
}

static const char *broken_whole_rule(const struct weir_shape *shape)
{
    if (shape->gpu_count == 0 || shape->gpu_units != WEIR_ONE)
        return "needs at least one GPU, whole";
    if (shape->kind == WEIR_SHAPE_ENTIRE && wants_engines(shape))
        return "entire_gpu must not name codecs";
    return NULL;
}

static const char *broken_spmd_rule(const struct weir_shape *shape)
{
    if (wants_engines(shape))
        return "spmd must not ask for codecs";
    if (shape->kind == WEIR_SHAPE_SPMD_MULTI && shape->node_count == 0)
        return "spmd_multi needs at least one node";
    return broken_whole_rule(shape);
}

static const char *broken_slice_rule(const struct weir_shape *shape)
{
    if (shape->gpu_count != 1 || shape->gpu_units <= 0 || shape->gpu_units > WEIR_ONE)
        return "mig_slice needs one GPU and a share within (0, 1]";
    if (shape->mig_slices == 0 || shape->mig_slices > WEIR_MIG_SLOTS)
        return "mig_slice needs 1 to 8 slices";
    if (shape->nvencs > 0 || shape->mig_profile[WEIR_MIG_NAME - 1] != '\0')
        return "mig_slice has no NVENC, and a name of at most 15 bytes";
    return NULL;
}

/* The rule a shape breaks, or NULL. */
static const char *broken_rule(const struct weir_shape *shape)
{
    static const char *(*const rules[])(const struct weir_shape *) = {
        [WEIR_SHAPE_CPU] = broken_cpu_rule,          [WEIR_SHAPE_CODEC] = broken_codec_rule,
        [WEIR_SHAPE_FRACTIONAL] = broken_share_rule, [WEIR_SHAPE_WHOLE] = broken_whole_rule,
        [WEIR_SHAPE_ENTIRE] = broken_whole_rule,     [WEIR_SHAPE_SPMD_SMALL] = broken_spmd_rule,
        [WEIR_SHAPE_SPMD_MULTI] = broken_spmd_rule,  [WEIR_SHAPE_SLICE] = broken_slice_rule,
    };

    if (shape->cpu_units < 0 || shape->ram_bytes < 0 || shape->gpu_mem_bytes < 0)
        return "amounts must be >= 0";
    return shape->kind < WEIR_SHAPE_KIND_COUNT ? rules[shape->kind](shape) : "unknown kind";
}

weir_status weir_shape_check(const struct weir_shape *shape, struct weir_error *error)
{
    const char *const rule = broken_rule(shape);

    if (rule == NULL)
        return WEIR_OK;
    return weir_fail(
        error, WEIR_EINVAL, "%s: %s, got %.10g CPUs, %u x %.10g GPUs, %u NVDECs, %u NVENCs",
        weir_shape_kind_name(shape->kind), rule, weir_units_amount(shape->cpu_units),
        shape->gpu_count, weir_units_amount(shape->gpu_units), shape->nvdecs, shape->nvencs);
}

uint32_t weir_shape_profiles(const struct weir_shape *shape, const struct weir_mig *table,
                             bool is_cut)
{
    uint32_t profiles = 0;

    for (uint32_t p = 0; shape->kind == WEIR_SHAPE_SLICE && p < table->profile_count; p++) {
        if (!weir_shape_takes_profile(shape, &table->profiles[p]))
            continue;
        profiles |= UINT32_C(1) << p;
        if (!is_cut)
            break;
    }
    return profiles;
}

int64_t weir_shape_dead_units(const struct weir_shape *shape, const struct weir_mig *table,
                              struct weir_mig_state state)
{
    const uint32_t profiles = weir_shape_profiles(shape, table, state.cut != 0);

    return WEIR_ONE / table->slices * weir_mig_dead(table, state, profiles);
}

struct weir_amounts weir_shape_amounts(const struct weir_shape *shape, int64_t nvdecs_per_gpu,
                                       int64_t nvencs_per_gpu)
{
    const int64_t nodes = weir_shape_members(shape);
    const int64_t gpus = nodes * shape->gpu_count;
    /* Engines are per GPU for WHOLE and ENTIRE; the others name the worker's own. */
    const int64_t times = gpus > 0 ? gpus : 1;
    const bool entire = shape->kind == WEIR_SHAPE_ENTIRE;

    return (struct weir_amounts){ .cpu_units = nodes * shape->cpu_units,
                                  .gpu_units = gpus * shape->gpu_units,
                                  .nvdecs = times * (entire ? nvdecs_per_gpu : shape->nvdecs),
                                  .nvencs = times * (entire ? nvencs_per_gpu : shape->nvencs),
                                  .ram_bytes = nodes * shape->ram_bytes,
                                  .gpu_mem_bytes = times * shape->gpu_mem_bytes };
}

/* Appends one term; `length` counts what a large enough text would hold. */
static void print_term(char *text, size_t capacity, size_t *length, double amount, const char *unit)
{
    char *const end = *length < capacity ? text + *length : NULL;
    const int written = snprintf(end, end != NULL ? capacity - *length : 0, "%s%.10g %s",
                                 *length > 0 ? " + " : "", amount, unit);

    if (written > 0)
        *length += (size_t)written;
}

/* "8 GB" or "64 GiB": in the unit in which it has no more than three decimals. */
static void print_bytes(char *text, size_t capacity, size_t *length, double bytes, const char *of)
{
    const double gib = bytes / (1024.0 * 1024.0 * 1024.0);
    const double gb = bytes / 1e9;
    const bool is_even = fabs(1e3 * gib - round(1e3 * gib)) <= 1e-6;
    const bool is_decimal = !is_even && fabs(1e3 * gb - round(1e3 * gb)) <= 1e-6;
    char unit[40];

    (void)snprintf(unit, sizeof unit, "%s%s", is_decimal ? "GB" : "GiB", of);
    print_term(text, capacity, length, is_decimal ? gb : gib, unit);
}

/* "1 1g.10gb", or "2 MIG slices". */
static void print_slice(const struct weir_shape *shape, char *text, size_t capacity, size_t *length)
{
    const bool is_named = shape->mig_profile[0] != '\0';

    print_term(text, capacity, length, is_named ? 1 : shape->mig_slices,
               is_named                ? shape->mig_profile
               : shape->mig_slices > 1 ? "MIG slices"
                                       : "MIG slice");
}

size_t weir_shape_print(const struct weir_shape *shape, char *text, size_t capacity)
{
    const bool per_gpu = shape->kind == WEIR_SHAPE_WHOLE && shape->gpu_count > 1;
    const double nodes = weir_shape_members(shape);
    const double gpus = nodes * shape->gpu_count * weir_units_amount(shape->gpu_units);
    size_t length = 0;

    if (capacity > 0)
        text[0] = '\0';
    if (shape->cpu_units > 0)
        print_term(text, capacity, &length, nodes * weir_units_amount(shape->cpu_units), "CPU");
    if (shape->kind == WEIR_SHAPE_SLICE)
        print_slice(shape, text, capacity, &length);
    else if (shape->gpu_count > 0)
        print_term(text, capacity, &length, gpus,
                   shape->kind == WEIR_SHAPE_ENTIRE ? "entire GPU" : "GPU");
    if (shape->nvdecs > 0)
        print_term(text, capacity, &length, shape->nvdecs, per_gpu ? "NVDEC per GPU" : "NVDEC");
    if (shape->nvencs > 0)
        print_term(text, capacity, &length, shape->nvencs, per_gpu ? "NVENC per GPU" : "NVENC");
    if (shape->ram_bytes > 0)
        print_bytes(text, capacity, &length, nodes * (double)shape->ram_bytes, "");
    if (shape->gpu_mem_bytes > 0)
        print_bytes(text, capacity, &length, (double)shape->gpu_mem_bytes,
                    per_gpu ? " of GPU memory per GPU" : " of GPU memory");
    return length;
}
