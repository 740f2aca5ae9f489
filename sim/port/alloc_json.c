/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Devices from JSON (see alloc_json.h). */
#include "sim/port/alloc_json.h"

#include <string.h>

/* The entry of a GPU in an allocation, put in its place when it is new. NULL = no room. */
static struct weir_device *device_of(struct weir_alloc *alloc, uint32_t gpu)
{
    uint32_t place = 0;

    while (place < alloc->device_count && alloc->devices[place].gpu < gpu)
        place++;
    if (place < alloc->device_count && alloc->devices[place].gpu == gpu)
        return &alloc->devices[place];
    if (alloc->device_count == WEIR_MAX_DEVICES)
        return NULL;
    memmove(&alloc->devices[place + 1], &alloc->devices[place],
            (alloc->device_count - place) * sizeof alloc->devices[0]);
    alloc->devices[place] = (struct weir_device){ .gpu = gpu };
    alloc->device_count++;
    return &alloc->devices[place];
}

/* A number of an object below `limit`. */
static weir_status read_index(const json_t *part, const char *key, uint32_t limit, uint32_t *index,
                              struct weir_error *error)
{
    const json_t *const value = json_object_get(part, key);
    const double number = json_number_value(value);

    if (value == NULL || json_is_null(value))
        return weir_fail(error, WEIR_EFORMAT, "%s is missing", key);
    if (!json_is_number(value))
        return weir_fail(error, WEIR_EFORMAT, "%s must be a number", key);
    if (!(number >= 0 && number < limit))
        return weir_fail(error, WEIR_EFORMAT, "%s must be within [0, %u], got %g", key, limit - 1,
                         number);
    *index = (uint32_t)number;
    return WEIR_OK;
}

static weir_status read_fraction(const json_t *part, const struct weir_shape *shape, int64_t *units,
                                 struct weir_error *error)
{
    const json_t *const value = json_object_get(part, "fraction");

    *units = shape != NULL ? shape->gpu_units : 0;
    if ((value == NULL || json_is_null(value)) && shape != NULL)
        return WEIR_OK;
    if (value == NULL || json_is_null(value))
        return weir_fail(error, WEIR_EFORMAT, "fraction is missing");
    if (!json_is_number(value))
        return weir_fail(error, WEIR_EFORMAT, "fraction must be a number");
    return weir_units_from_amount(json_number_value(value), WEIR_QUANTUM_EXACT, units, error);
}

static weir_status read_gpu(const json_t *part, const struct weir_shape *shape,
                            struct weir_device *device, struct weir_error *error)
{
    const json_t *const memory = json_object_get(part, "mem_bytes");
    int64_t units = 0;
    uint32_t profile = 0;
    uint32_t start = 0;

    WEIR_TRY(read_fraction(part, shape, &units, error));
    device->units += units;
    if (json_is_number(memory))
        device->mem_bytes += (int64_t)json_number_value(memory);
    else
        device->mem_bytes += shape != NULL ? shape->gpu_mem_bytes : 0;
    if (json_object_get(part, "profile") == NULL)
        return WEIR_OK;
    WEIR_TRY(read_index(part, "profile", WEIR_MIG_PROFILES, &profile, error));
    WEIR_TRY(read_index(part, "start", WEIR_MIG_SLOTS, &start, error));
    device->mig = weir_device_instance(profile, start);
    return WEIR_OK;
}

static weir_status read_part(const json_t *part, const char *kind, const struct weir_shape *shape,
                             struct weir_alloc *alloc, struct weir_error *error)
{
    uint32_t gpu = 0;
    uint32_t index = 0;

    WEIR_TRY(read_index(part, "gpu", WEIR_MAX_NODE_GPUS, &gpu, error));
    struct weir_device *const device = device_of(alloc, gpu);
    if (device == NULL)
        return weir_fail(error, WEIR_EUNSUPPORTED, "more than %d GPUs", WEIR_MAX_DEVICES);
    if (strcmp(kind, "gpus") == 0)
        return read_gpu(part, shape, device, error);
    WEIR_TRY(read_index(part, "index", WEIR_MAX_ENGINES, &index, error));
    *(strcmp(kind, "nvdecs") == 0 ? &device->nvdec_mask : &device->nvenc_mask) |= UINT32_C(1)
                                                                                  << index;
    return WEIR_OK;
}

weir_status sim_alloc_read_devices(const json_t *worker, const struct weir_shape *shape,
                                   struct weir_alloc *alloc, struct weir_error *error)
{
    static const char *const kinds[] = { "gpus", "nvdecs", "nvencs" };

    for (size_t k = 0; k < sizeof kinds / sizeof kinds[0]; k++) {
        const json_t *const list = json_object_get(worker, kinds[k]);
        for (size_t i = 0; i < json_array_size(list); i++) {
            const weir_status status =
                read_part(json_array_get(list, i), kinds[k], shape, alloc, error);
            if (status == WEIR_OK)
                continue;
            weir_error_wrap(error, "%s[%zu]", kinds[k], i);
            return status;
        }
    }
    return WEIR_OK;
}
