/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Profiles of models; see the header. */
#include "workloads/profiles.h"

#include "workloads/csv_table.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { NUMBERS = 11, COLUMNS = NUMBERS + 2, MODEL = 0, SPEEDS = COLUMNS - 1 };

struct number {
    const char *column;
    double least, most;
    size_t offset;
};
#define NUMBER(field, column, least, most, meaning)                                                \
    { column, least, most, offsetof(struct wl_profile, field) },
static const struct number numbers[NUMBERS] = { WL_PROFILE_NUMBERS(NUMBER) };
#undef NUMBER

static double *at(struct wl_profile *profile, size_t number)
{
    return (double *)(void *)((char *)profile + numbers[number].offset);
}

void wl_profiles_clear(struct wl_profiles *profiles)
{
    for (size_t i = 0; i < profiles->count; i++) {
        free(profiles->profiles[i].model);
        free(profiles->profiles[i].speeds);
    }
    free(profiles->profiles);
    *profiles = (struct wl_profiles){ NULL, 0 };
}

static weir_status read_numbers(const struct wl_csv_row *row, struct wl_profile *profile,
                                struct weir_error *error)
{
    for (size_t n = 0; n < NUMBERS; n++) {
        double *value = at(profile, n);
        *value = (double)NAN;
        WEIR_TRY(wl_csv_number(row, n + 1, value, error));
        if (*value < numbers[n].least || *value > numbers[n].most)
            return wl_csv_fail(row, n + 1, error, "must be within %g and %g, got %g",
                               numbers[n].least, numbers[n].most, *value);
    }
    if (profile->gpus > floor(profile->gpus))
        return wl_csv_fail(row, 1, error, "must be a whole number, got %g", profile->gpus);
    return WEIR_OK;
}

/* The next "type=number" of a list; false at its end. *length 0 = it is none. */
static bool next_speed(const char **list, const char **type, size_t *length, double *speed)
{
    char *end = NULL;
    if (**list == '\0')
        return false;
    *type = *list;
    *length = strcspn(*list, "=|");
    const char *number = *list + *length;
    *speed = *number == '=' ? strtod(number + 1, &end) : 0;
    if (end == NULL || end == number + 1 || (*end != '|' && *end != '\0') || !(*speed > 0) ||
        isinf(*speed))
        *length = 0;
    else
        *list = *end == '|' ? end + 1 : end;
    return true;
}

double wl_profile_speed(const struct wl_profile *profile, const char *type)
{
    const char *list = profile->speeds;
    const char *name = NULL;
    size_t length = 0;
    double speed = 0;
    while (next_speed(&list, &name, &length, &speed) && length > 0)
        if (strlen(type) == length && strncmp(name, type, length) == 0)
            return speed;
    return (double)NAN;
}

static weir_status check_speeds(const struct wl_csv_row *row, const char *list,
                                struct weir_error *error)
{
    const char *name = NULL;
    size_t length = 0;
    double speed = 0;
    while (next_speed(&list, &name, &length, &speed))
        if (length == 0)
            return wl_csv_fail(row, SPEEDS, error,
                               "'%.40s' is no list of speeds by GPU type: h100=2.4|a100-80=1",
                               name);
    return WEIR_OK;
}

static weir_status read_row(void *state, const struct wl_csv_row *row, struct weir_error *error)
{
    struct wl_profiles *profiles = state;
    struct wl_profile profile = { .model = NULL };
    const char *speeds = row->cells[SPEEDS] == NULL ? "" : row->cells[SPEEDS];
    if (row->cells[MODEL] == NULL)
        return wl_csv_fail(row, MODEL, error, "a profile needs the name of its model");
    WEIR_TRY(read_numbers(row, &profile, error));
    WEIR_TRY(check_speeds(row, speeds, error));
    struct wl_profile *grown =
        reallocarray(profiles->profiles, profiles->count + 1, sizeof *profiles->profiles);
    if (grown == NULL)
        return weir_fail(error, WEIR_ENOMEM, "out of memory");
    profiles->profiles = grown;
    profile.model = strdup(row->cells[MODEL]);
    profile.speeds = strdup(speeds);
    profiles->profiles[profiles->count++] = profile;
    return profile.model == NULL || profile.speeds == NULL
               ? weir_fail(error, WEIR_ENOMEM, "out of memory")
               : WEIR_OK;
}

weir_status wl_profiles_read(const char *path, const struct wl_limits *limits,
                             struct wl_profiles *profiles, struct weir_error *error)
{
    struct wl_csv_column columns[COLUMNS] = {
        [MODEL] = { .name = "model", .is_required = true }, [SPEEDS] = { .name = "speeds" }
    };
    struct wl_profiles read = { NULL, 0 };
    struct wl_csv_counts counts = { 0 };
    for (size_t n = 0; n < NUMBERS; n++)
        columns[n + 1].name = numbers[n].column;
    const struct wl_csv_options options = {
        .path = path, .columns = columns, .column_count = COLUMNS, .limits = limits
    };
    const struct wl_csv_sink sink = { .row = read_row, .state = &read };
    const weir_status status = wl_csv_read(&options, &sink, &counts, error);
    if (status != WEIR_OK)
        wl_profiles_clear(&read);
    else
        *profiles = read;
    return status;
}

const struct wl_profile *wl_profiles_find(const struct wl_profiles *profiles, const char *model,
                                          uint32_t gpus)
{
    const struct wl_profile *any = NULL;
    for (size_t i = 0; i < profiles->count; i++) {
        const struct wl_profile *profile = &profiles->profiles[i];
        if (strcmp(profile->model, model) != 0)
            continue;
        if (llround(profile->gpus) == gpus && !isnan(profile->gpus))
            return profile;
        if (isnan(profile->gpus) && any == NULL)
            any = profile;
    }
    return any;
}
