/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Requests to shapes: the reference's table of known answers with its slips mended, error texts,
 * sums and print.
 */
#include "weir/shape.h"

#include "tests/support/check.h"

#include <math.h>
#include <string.h>

/* One row: a request and what it becomes. kind -1 = refused with a text that contains `says`. */
struct row {
    double cpus, gpus;
    int64_t nvdecs, nvencs;
    int entire;
    int kind;
    uint32_t gpu_count;
    const char *says;
};

/* The reference's table (29 rows). Where it differs from the reference the comment says how. */
static const struct row ROWS[] = {
    { 0, 0, 0, 0, 0, -1, 0, "nothing is requested" },
    { 1, 0, 0, 0, 0, WEIR_SHAPE_CPU, 0, NULL },
    { -1, 1, 0, 0, 0, -1, 0, "cpus must be >= 0, got -1" },
    { 0.5, 0, 0, 0, 0, WEIR_SHAPE_CPU, 0, NULL },
    { 0, 0, 1, 0, 0, WEIR_SHAPE_CODEC, 0, NULL },
    { 1, 0, 2, 1, 0, WEIR_SHAPE_CODEC, 0, NULL },
    { 0, 0, 0, 1, 0, WEIR_SHAPE_CODEC, 0, NULL },
    { 0, 0.5, 0, 0, 0, WEIR_SHAPE_FRACTIONAL, 1, NULL },
    { 1, 0.5, 2, 0, 0, WEIR_SHAPE_FRACTIONAL, 1, NULL },
    { 1, 0.5, 1, 1, 0, WEIR_SHAPE_FRACTIONAL, 1, NULL },
    /* truncated to 0 GPUs there */
    { 0, 0.9999995, 0, 0, 0, WEIR_SHAPE_WHOLE, 1, NULL },
    { 0, 0.999998, 0, 0, 0, WEIR_SHAPE_FRACTIONAL, 1, NULL },
    { 0, 1, 0, 0, 0, WEIR_SHAPE_WHOLE, 1, NULL },
    { 0, 1.0000005, 0, 0, 0, WEIR_SHAPE_WHOLE, 1, NULL },
    { 0, 1.00001, 0, 0, 0, -1, 0, "gpus must be a whole number >= 1 or below 1, got 1.00001" },
    { 1, 1.5, 0, 0, 0, -1, 0, "gpus must be a whole number >= 1 or below 1, got 1.5" },
    { 0, 2, 3, 1, 0, WEIR_SHAPE_WHOLE, 2, NULL },
    /* truncated to 1 GPU there */
    { 0, 1.9999999, 0, 0, 0, WEIR_SHAPE_WHOLE, 2, NULL },
    /* a share that holds nothing there */
    { 0, 1e-9, 0, 0, 0, -1, 0, "gpus rounds to 0" },
    { 0, 1e-9, 1, 0, 0, -1, 0, "gpus rounds to 0" },
    { 0, 1, 0, 0, 1, WEIR_SHAPE_ENTIRE, 1, NULL },
    { 3, 2, 0, 0, 1, WEIR_SHAPE_ENTIRE, 2, NULL },
    /* 0, 1 and 0 GPUs there: its test is an "or" */
    { 0, 0.5, 0, 0, 1, -1, 0, "gpus must be a whole number >= 1 with entire_gpu, got 0.5" },
    { 0, 1.7, 0, 0, 1, -1, 0, "with entire_gpu, got 1.7" },
    { 1, 0, 0, 0, 1, -1, 0, "with entire_gpu, got 0" },
    { 0, 1, 1, 0, 1, -1, 0, "nvdecs and nvencs must be 0, got 1 and 0" },
    { 0, 0, 0, 1, 0, WEIR_SHAPE_CODEC, 0, NULL },
    { 0, -0.1, 0, 0, 0, -1, 0, "gpus must be >= 0, got -0.1" },
    { 1, 0, -1, 0, 0, -1, 0, "nvdecs must be >= 0, got -1" },
    { 1, 0, 0, -2, 0, -1, 0, "nvencs must be >= 0, got -2" },
    /* a CPU worker that holds nothing there */
    { 1e-12, 0, 0, 0, 0, -1, 0, "cpus rounds to 0" },
    { (double)NAN, 0, 0, 0, 0, -1, 0, "cpus is not a number" },
    { 0, 0, 0, 0, 1, -1, 0, "nothing is requested" },
    { 0, 3e8, 0, 0, 0, -1, 0, "gpus must be <= 100000000" },
};

static void check_row(const struct row *row)
{
    const struct weir_request request = { .cpus = row->cpus,
                                          .gpus = row->gpus,
                                          .nvdecs = row->nvdecs,
                                          .nvencs = row->nvencs,
                                          .entire_gpu = row->entire != 0 };
    const struct weir_shape untouched = { .kind = 77 };
    struct weir_shape shape = untouched;
    struct weir_error error = { .phase = 0 };
    const weir_status status =
        weir_shape_from_request(&request, WEIR_QUANTUM_EXACT, &shape, &error);

    if (row->kind < 0) {
        CHECK(status != WEIR_OK);
        CHECK_I64(shape.kind, untouched.kind);
        if (!CHECK(strstr(error.text, row->says) != NULL))
            CHECK_STR(error.text, row->says);
        return;
    }
    CHECK_I64(status, WEIR_OK);
    CHECK_I64(shape.kind, row->kind);
    CHECK_I64(shape.gpu_count, row->gpu_count);
    CHECK_NEAR(weir_units_amount(shape.cpu_units), row->cpus, 1e-7);
    if (row->kind == WEIR_SHAPE_FRACTIONAL)
        CHECK_NEAR(weir_units_amount(shape.gpu_units), row->gpus, 1e-7);
    CHECK_I64(shape.nvdecs, row->nvdecs);
    CHECK_I64(shape.nvencs, row->nvencs);
    CHECK_I64(weir_shape_check(&shape, NULL), WEIR_OK);
}

/* covers: S0.11 S0.18 */
static void requests_become_the_reference_shapes(void)
{
    for (size_t i = 0; i < sizeof ROWS / sizeof ROWS[0]; i++)
        check_row(&ROWS[i]);
}

/* covers: S0.10 */
static void amounts_round_to_the_quantum(void)
{
    static const int64_t quanta[] = { WEIR_ONE / 65536, WEIR_ONE / 10000, WEIR_ONE / 1000 };

    for (size_t q = 0; q < 3; q++) {
        const struct weir_quantum quantum = { quanta[q], WEIR_ROUND_NEAREST };
        struct weir_request request = { .cpus = 1.0 / 3 };
        struct weir_shape shape;
        CHECK_I64(weir_shape_from_request(&request, quantum, &shape, NULL), WEIR_OK);
        CHECK(3 * shape.cpu_units <= WEIR_ONE);
        CHECK_I64(shape.cpu_units % quanta[q], 0);
        request.cpus = 0.143;
        CHECK_I64(weir_shape_from_request(&request, quantum, &shape, NULL), WEIR_OK);
        CHECK(7 * shape.cpu_units > WEIR_ONE);
        request.cpus = 0.25;
        CHECK_I64(weir_shape_from_request(&request, quantum, &shape, NULL), WEIR_OK);
        CHECK_I64(4 * shape.cpu_units, WEIR_ONE);
    }
}

static void a_coarse_grid_may_make_a_share_whole(void)
{
    const struct weir_request request = { .gpus = 0.9999, .nvdecs = 1 };
    const struct weir_quantum thousandths = { WEIR_ONE / 1000, WEIR_ROUND_NEAREST };
    struct weir_shape shape;

    CHECK_I64(weir_shape_from_request(&request, thousandths, &shape, NULL), WEIR_OK);
    CHECK_I64(shape.kind, WEIR_SHAPE_WHOLE);
    CHECK_I64(shape.gpu_count, 1);
    CHECK_I64(weir_shape_check(&shape, NULL), WEIR_OK);
}

static void memory_needs_a_device(void)
{
    struct weir_request request = { .cpus = 1, .ram_bytes = 5, .gpu_mem_bytes = 7 };
    struct weir_shape shape;

    CHECK_I64(weir_shape_from_request(&request, WEIR_QUANTUM_EXACT, &shape, NULL), WEIR_EINVAL);
    request.nvdecs = 1;
    request.codec_same_gpu = true;
    CHECK_I64(weir_shape_from_request(&request, WEIR_QUANTUM_EXACT, &shape, NULL), WEIR_OK);
    CHECK_I64(shape.ram_bytes, 5);
    CHECK_I64(shape.gpu_mem_bytes, 7);
    CHECK_I64(shape.codec_same_gpu, 1);
}

static void broken_shapes_are_refused(void)
{
    static const struct weir_shape broken[] = {
        { .kind = WEIR_SHAPE_CPU },
        { .kind = WEIR_SHAPE_CPU, .cpu_units = -1 },
        { .kind = WEIR_SHAPE_CPU, .cpu_units = 1, .nvdecs = 1 },
        { .kind = WEIR_SHAPE_CPU, .cpu_units = 1, .gpu_mem_bytes = 1 },
        { .kind = WEIR_SHAPE_CODEC, .cpu_units = 1 },
        { .kind = WEIR_SHAPE_CODEC, .nvdecs = 1, .gpu_count = 1 },
        { .kind = WEIR_SHAPE_FRACTIONAL, .gpu_count = 1, .gpu_units = WEIR_ONE },
        { .kind = WEIR_SHAPE_FRACTIONAL, .gpu_count = 2, .gpu_units = 5 },
        { .kind = WEIR_SHAPE_FRACTIONAL, .gpu_count = 1 },
        { .kind = WEIR_SHAPE_WHOLE, .gpu_units = WEIR_ONE },
        { .kind = WEIR_SHAPE_WHOLE, .gpu_count = 1, .gpu_units = 5 },
        { .kind = WEIR_SHAPE_ENTIRE, .gpu_count = 1, .gpu_units = WEIR_ONE, .nvencs = 1 },
        { .kind = WEIR_SHAPE_ENTIRE },
        { .kind = WEIR_SHAPE_FRACTIONAL, .gpu_count = 1, .gpu_units = 5, .ram_bytes = -1 },
        { .kind = WEIR_SHAPE_FRACTIONAL, .gpu_count = 1, .gpu_units = 5, .gpu_mem_bytes = -1 },
        { .kind = WEIR_SHAPE_CODEC, .nvdecs = 1, .gpu_units = 5 },
        { .kind = WEIR_SHAPE_SPMD_SMALL, .gpu_count = 1, .gpu_units = WEIR_ONE, .nvdecs = 1 },
        { .kind = WEIR_SHAPE_SPMD_MULTI, .gpu_count = 1, .gpu_units = WEIR_ONE },
        { .kind = WEIR_SHAPE_SPMD_MULTI, .gpu_units = WEIR_ONE, .node_count = 2 },
        { .kind = WEIR_SHAPE_SLICE, .gpu_count = 2, .gpu_units = 5, .mig_slices = 1 },
        { .kind = WEIR_SHAPE_SLICE, .gpu_count = 1, .mig_slices = 1 },
        { .kind = WEIR_SHAPE_SLICE, .gpu_count = 1, .gpu_units = WEIR_ONE + 1, .mig_slices = 1 },
        { .kind = WEIR_SHAPE_SLICE, .gpu_count = 1, .gpu_units = 5 },
        { .kind = WEIR_SHAPE_SLICE, .gpu_count = 1, .gpu_units = 5, .mig_slices = 9 },
        { .kind = WEIR_SHAPE_SLICE, .gpu_count = 1, .gpu_units = 5, .mig_slices = 1, .nvencs = 1 },
        { .kind = WEIR_SHAPE_KIND_COUNT, .cpu_units = 1 },
    };

    for (size_t i = 0; i < sizeof broken / sizeof broken[0]; i++) {
        struct weir_error error = { .phase = 0 };
        CHECK_I64(weir_shape_check(&broken[i], &error), WEIR_EINVAL);
        CHECK(strlen(error.text) > 20);
    }
}

static void amounts_count_engines_by_kind(void)
{
    const struct weir_shape codec = { .kind = WEIR_SHAPE_CODEC, .nvdecs = 3, .nvencs = 1 };
    const struct weir_shape whole = { .kind = WEIR_SHAPE_WHOLE,
                                      .gpu_count = 2,
                                      .cpu_units = WEIR_ONE,
                                      .gpu_units = WEIR_ONE,
                                      .nvdecs = 3,
                                      .gpu_mem_bytes = 10 };
    const struct weir_shape entire = { .kind = WEIR_SHAPE_ENTIRE,
                                       .gpu_count = 2,
                                       .gpu_units = WEIR_ONE };

    CHECK_I64(weir_shape_amounts(&codec, 7, 5).nvdecs, 3);
    CHECK_I64(weir_shape_amounts(&codec, 7, 5).gpu_units, 0);
    CHECK_I64(weir_shape_amounts(&whole, 7, 5).nvdecs, 6);
    CHECK_I64(weir_shape_amounts(&whole, 7, 5).nvencs, 0);
    CHECK_I64(weir_shape_amounts(&whole, 7, 5).gpu_units, 2 * WEIR_ONE);
    CHECK_I64(weir_shape_amounts(&whole, 7, 5).cpu_units, WEIR_ONE);
    CHECK_I64(weir_shape_amounts(&whole, 7, 5).gpu_mem_bytes, 20);
    CHECK_I64(weir_shape_amounts(&entire, 7, 5).nvdecs, 14);
    CHECK_I64(weir_shape_amounts(&entire, 7, 5).nvencs, 10);
}

static void shapes_print(void)
{
    const struct weir_shape share = { .kind = WEIR_SHAPE_FRACTIONAL,
                                      .cpu_units = WEIR_ONE,
                                      .gpu_count = 1,
                                      .gpu_units = WEIR_ONE / 4,
                                      .nvdecs = 1 };
    const struct weir_shape whole = {
        .kind = WEIR_SHAPE_WHOLE, .gpu_count = 2, .gpu_units = WEIR_ONE, .nvencs = 3
    };
    static const struct {
        int64_t bytes;
        const char *text;
    } amounts[] = { { 8000000000, "8 GB" },
                    { INT64_C(64) << 30, "64 GiB" },
                    { INT64_C(3) << 29, "1.5 GiB" },
                    { 1500000000, "1.5 GB" } };
    char text[64];

    CHECK_I64(weir_shape_print(&share, text, sizeof text), 26);
    CHECK_STR(text, "1 CPU + 0.25 GPU + 1 NVDEC");
    (void)weir_shape_print(&whole, text, sizeof text);
    CHECK_STR(text, "2 GPU + 3 NVENC per GPU");
    for (size_t i = 0; i < sizeof amounts / sizeof amounts[0]; i++) {
        const struct weir_shape memory = { .kind = WEIR_SHAPE_CPU, .ram_bytes = amounts[i].bytes };
        (void)weir_shape_print(&memory, text, sizeof text);
        CHECK_STR(text, amounts[i].text);
    }
    CHECK_I64(weir_shape_print(&share, NULL, 0), 26);
    CHECK_STR(weir_shape_kind_name(WEIR_SHAPE_ENTIRE), "entire_gpu");
    CHECK_STR(weir_shape_kind_name(WEIR_SHAPE_KIND_COUNT), "?");
}

/* What is printed into any room is the beginning of the whole, and ends in it. */
static void a_printed_shape_is_cut_where_its_room_ends(void)
{
    const struct weir_shape shapes[] = {
        { .kind = WEIR_SHAPE_CPU },
        { .kind = WEIR_SHAPE_CPU, .ram_bytes = 1 << 30 },
        { .kind = WEIR_SHAPE_SLICE, .gpu_count = 1, .cpu_units = WEIR_ONE, .mig_slices = 2 },
        { .kind = WEIR_SHAPE_WHOLE,
          .gpu_count = 2,
          .gpu_units = WEIR_ONE,
          .nvdecs = 1,
          .nvencs = 3 },
    };
    for (size_t s = 0; s < sizeof shapes / sizeof shapes[0]; s++) {
        char whole[128] = "before";
        const size_t length = weir_shape_print(&shapes[s], whole, sizeof whole);
        CHECK_I64(strlen(whole), length);
        for (size_t room = 0; room <= length + 2; room++) {
            char part[sizeof whole];
            const size_t kept = room == 0 ? 0 : room - 1 < length ? room - 1 : length;
            memset(part, '#', sizeof part);
            CHECK_I64(weir_shape_print(&shapes[s], part, room), length);
            CHECK(memcmp(part, whole, kept) == 0 && part[room] == '#');
            CHECK_I64(part[kept], room == 0 ? '#' : '\0');
        }
    }
}

static const struct test tests[] = {
    { "a printed shape is cut where its room ends", a_printed_shape_is_cut_where_its_room_ends },
    { "requests become the reference's shapes", requests_become_the_reference_shapes },
    { "amounts round to the quantum", amounts_round_to_the_quantum },
    { "a coarse grid may make a share whole", a_coarse_grid_may_make_a_share_whole },
    { "GPU memory needs a GPU or an engine", memory_needs_a_device },
    { "broken shapes are refused with the rule", broken_shapes_are_refused },
    { "amounts count engines by kind", amounts_count_engines_by_kind },
    { "shapes print", shapes_print },
};
TEST_MAIN(tests)
