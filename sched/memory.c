/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Numbers out and in by one walk; see memory.h.
 */
#include "sched/internal/memory.h"

#include <math.h>
#include <string.h>

static const int64_t LAST_WHOLE = INT64_C(1) << 53; /* up to which all numbers are doubles */
static const int64_t LAST_NS = INT64_C(1) << 62;    /* of a document; its bits are those of 2 */

double weir_memory_of_time(int64_t time_ns)
{
    double number = (double)time_ns;

    if (time_ns <= LAST_WHOLE || time_ns >= LAST_NS)
        return number;
    memcpy(&number, &time_ns, sizeof number);
    return -number;
}

int64_t weir_memory_to_time(double number)
{
    const bool is_whole = number >= -1 && number <= -1;
    const double bits = -number;
    int64_t time_ns = INT64_MAX;

    if (number > -2 && number < 0 && !is_whole)
        memcpy(&time_ns, &bits, sizeof time_ns);
    else if (number < 0x1p63)
        time_ns = number > -0x1p63 ? (int64_t)number : INT64_MIN;
    return time_ns;
}

void weir_memory_number(struct weir_memory *memory, double *value)
{
    const uint32_t at = memory->used++;

    if (memory->from != NULL)
        *value = at < memory->size ? memory->from[at] : (double)NAN;
    else if (at < memory->size)
        memory->to[at] = *value;
}

int64_t weir_memory_count(struct weir_memory *memory, int64_t value, int64_t least)
{
    double number = (double)value;

    weir_memory_number(memory, &number);
    if (number >= (double)least && number <= 0x1p53)
        return (int64_t)number;
    memory->is_broken = true;
    return least;
}

uint32_t weir_memory_length(struct weir_memory *memory, uint32_t length)
{
    const int64_t saved = weir_memory_count(memory, length, 0);

    if (saved <= length)
        return (uint32_t)saved;
    memory->is_broken = true;
    return 0;
}

void weir_memory_amount(struct weir_memory *memory, int64_t *amount)
{
    const int64_t high = weir_memory_count(memory, *amount >> 32, 0);
    const int64_t low = weir_memory_count(memory, *amount & UINT32_MAX, 0);

    *amount = (high & INT32_MAX) << 32 | (low & UINT32_MAX);
}

void weir_memory_amounts(struct weir_memory *memory, struct weir_amounts *amounts)
{
    weir_memory_amount(memory, &amounts->cpu_units);
    weir_memory_amount(memory, &amounts->gpu_units);
    weir_memory_amount(memory, &amounts->nvdecs);
    weir_memory_amount(memory, &amounts->nvencs);
    weir_memory_amount(memory, &amounts->ram_bytes);
    weir_memory_amount(memory, &amounts->gpu_mem_bytes);
}

weir_status weir_memory_end(const struct weir_memory *memory, struct weir_error *error)
{
    if (memory->is_broken || memory->used != memory->size)
        return weir_fail(error, WEIR_EFORMAT, "its memory is %u numbers, got %u", memory->used,
                         memory->size);
    return WEIR_OK;
}
