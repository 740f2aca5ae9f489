/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Parameter tables of policies: look-up by name, soundness of a table, defaults and ranges.
 */
#include "sched/internal/params.h"

#include <math.h>
#include <string.h>

uint32_t weir_param_find(const struct weir_param *params, uint32_t count, const char *name)
{
    for (uint32_t i = 0; i < count; i++) {
        if (strcmp(params[i].name, name) == 0)
            return i;
    }
    return WEIR_NO_INDEX;
}

/* Number of words in `choices`. */
static uint32_t param_choice_count(const char *choices)
{
    uint32_t count = 1;

    for (const char *at = choices; (at = strchr(at, '|')) != NULL; at++)
        count++;
    return count;
}

static bool is_list(const struct weir_param *param)
{
    return param->kind == WEIR_PARAM_LIST || param->kind == WEIR_PARAM_TEXT;
}

uint32_t weir_params_list(const struct weir_param *params, uint32_t count,
                          const struct weir_params *given, uint32_t index, const double **numbers)
{
    uint32_t first = count;

    *numbers = NULL;
    if (index >= count || !is_list(&params[index]) || given == NULL || given->count < count)
        return 0;
    for (uint32_t i = 0; i < index; i++)
        first += is_list(&params[i]) ? (uint32_t)given->values[i] : 0;
    *numbers = given->values + first;
    return (uint32_t)given->values[index];
}

static bool is_whole(double value)
{
    return !(fabs(value - nearbyint(value)) > 0);
}

static weir_status check_entry(const struct weir_param *param, struct weir_error *error)
{
    const bool has_choices = param->choices != NULL && param->choices[0] != '\0';

    if (param->kind > WEIR_PARAM_TEXT)
        return weir_fail(error, WEIR_EPOLICY, "unknown kind %u", param->kind);
    if (!(param->min <= param->initial && param->initial <= param->max))
        return weir_fail(error, WEIR_EPOLICY, "default %g is not within [%g, %g]", param->initial,
                         param->min, param->max);
    if (has_choices != (param->kind == WEIR_PARAM_CHOICE))
        return weir_fail(error, WEIR_EPOLICY, "choices belong to the kind CHOICE and to it alone");
    if (has_choices && (param->min < 0 || param->max > param_choice_count(param->choices) - 1))
        return weir_fail(error, WEIR_EPOLICY, "range [%g, %g] is not within its %u choices",
                         param->min, param->max, param_choice_count(param->choices));
    if (param->kind == WEIR_PARAM_FLAG && (param->min < 0 || param->max > 1))
        return weir_fail(error, WEIR_EPOLICY, "range of a flag must be within [0, 1]");
    if (is_list(param) && (param->min > 0 || param->initial > 0))
        return weir_fail(error, WEIR_EPOLICY, "a list is empty unless it is given");
    return WEIR_OK;
}

weir_status weir_params_check_table(const struct weir_param *table, uint32_t count,
                                    struct weir_error *error)
{
    if (count > 0 && table == NULL)
        return weir_fail(error, WEIR_EPOLICY, "%u parameters but no table", count);
    for (uint32_t i = 0; i < count; i++) {
        if (table[i].name == NULL || table[i].name[0] == '\0')
            return weir_fail(error, WEIR_EPOLICY, "parameter %u has no name", i);
        if (weir_param_find(table, i, table[i].name) != WEIR_NO_INDEX)
            return weir_fail(error, WEIR_EPOLICY, "parameter %s exists twice", table[i].name);
        const weir_status status = check_entry(&table[i], error);
        if (status != WEIR_OK) {
            weir_error_wrap(error, "parameter %s", table[i].name);
            return status;
        }
    }
    return WEIR_OK;
}

static weir_status check_value(const struct weir_param *param, double value,
                               struct weir_error *error)
{
    const bool whole = param->kind == WEIR_PARAM_COUNT || param->kind == WEIR_PARAM_FLAG ||
                       param->kind == WEIR_PARAM_CHOICE || is_list(param);

    if (!(value >= param->min && value <= param->max))
        return weir_fail(error, WEIR_EINVAL, "parameter %s must be within [%g, %g]%s%s, got %g",
                         param->name, param->min, param->max,
                         param->unit != NULL && param->unit[0] != '\0' ? " " : "",
                         param->unit != NULL ? param->unit : "", value);
    if (whole && !is_whole(value))
        return weir_fail(error, WEIR_EINVAL, "parameter %s must be whole, got %g", param->name,
                         value);
    return WEIR_OK;
}

void weir_params_read(const struct weir_param *table, uint32_t count,
                      const struct weir_params *given, double *values)
{
    const uint32_t given_count = given == NULL ? 0 : given->count;

    for (uint32_t i = 0; i < count; i++)
        values[i] = i < given_count ? given->values[i] : table[i].initial;
}

/* How many numbers lists add; each length is sound. */
static uint64_t listed(const struct weir_param *table, uint32_t count, const double *values)
{
    uint64_t sum = 0;

    for (uint32_t i = 0; i < count; i++)
        sum += is_list(&table[i]) ? (uint64_t)values[i] : 0;
    return sum;
}

weir_status weir_params_resolve(const struct weir_param *table, uint32_t count,
                                const struct weir_params *given, double *values,
                                struct weir_error *error)
{
    const bool is_default = given == NULL || given->count == 0;

    if (!is_default && given->count < count)
        return weir_fail(error, WEIR_EINVAL, "%u parameter values for %u parameters", given->count,
                         count);
    for (uint32_t i = 0; i < count; i++) {
        const double value = is_default ? table[i].initial : given->values[i];
        WEIR_TRY(check_value(&table[i], value, error));
        values[i] = value;
    }
    const uint64_t numbers = is_default ? 0 : listed(table, count, values);
    if (!is_default && given->count != count + numbers)
        return weir_fail(error, WEIR_EINVAL, "%u parameter values for %u parameters", given->count,
                         count);
    for (uint64_t i = 0; i < numbers; i++)
        if (!isfinite(given->values[count + i]))
            return weir_fail(error, WEIR_EINVAL, "a list of numbers must have finite ones");
    return WEIR_OK;
}
