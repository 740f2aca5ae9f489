/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Kept orders of arrival; see openb.h. */
#include "workloads/openb.h"

#include "workloads/lines.h"

#include <ctype.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

enum { LINE_BYTES = 1 << 26 };

/* Where the reader is, for messages. */
struct place {
    const char *path;
    size_t line;
    struct weir_error *error;
};

static weir_status fail(const struct place *place, const char *message)
{
    return weir_fail(place->error, WEIR_EFORMAT, "%s:%zu:1: %s", place->path, place->line, message);
}

/* Reads a number and moves behind it; false when there is none. */
static bool next_number(char **rest, uint32_t *value)
{
    char *end = NULL;
    *rest += strspn(*rest, " \t");
    if (!isdigit((unsigned char)**rest))
        return false;
    const unsigned long long read = strtoull(*rest, &end, 10);
    *rest = end;
    *value = (uint32_t)read;
    return read < UINT32_MAX;
}

static weir_status read_list(const struct place *place, char *rest, uint32_t **list, size_t *count)
{
    uint32_t announced = 0;
    if (!next_number(&rest, &announced))
        return fail(place, "expected how many numbers follow");
    if (announced > strlen(rest)) /* before room is asked for */
        return fail(place, "fewer numbers than announced");
    uint32_t *numbers = malloc(((size_t)announced + 1) * sizeof *numbers);
    if (numbers == NULL)
        return weir_fail(place->error, WEIR_ENOMEM, "out of memory");
    size_t read = 0;
    while (read < announced && next_number(&rest, &numbers[read]))
        read++;
    rest += strspn(rest, " \t\r\n");
    if (read < announced || *rest != '\0') {
        free(numbers);
        return fail(place, read < announced ? "fewer numbers than announced"
                                            : "more behind the announced numbers");
    }
    free(*list);
    *list = numbers;
    *count = announced;
    return WEIR_OK;
}

static weir_status check_ranks(const struct place *place, const struct wl_openb_order *order)
{
    bool *is_taken = calloc(order->rank_count + 1, sizeof *is_taken);
    weir_status status = WEIR_OK;
    if (is_taken == NULL)
        return weir_fail(place->error, WEIR_ENOMEM, "out of memory");
    for (size_t i = 0; i < order->rank_count && status == WEIR_OK; i++) {
        if (order->ranks[i] >= order->rank_count || is_taken[order->ranks[i]])
            status = fail(place, "the ranks are not 0 to n - 1, each once");
        else
            is_taken[order->ranks[i]] = true;
    }
    free(is_taken);
    return status;
}

/* Behind "TRACE SEED " when the line is of this order, else NULL. */
static char *behind_key(char *line, const char *key)
{
    const char *colon = strrchr(key, ':');
    const size_t trace = colon == NULL ? strlen(key) : (size_t)(colon - key);
    const char *seed = colon == NULL ? "" : colon + 1;
    const size_t length = strlen(seed);
    if (strncmp(line, key, trace) != 0 || line[trace] != ' ')
        return NULL;
    line += trace + 1;
    return strncmp(line, seed, length) == 0 && line[length] == ' ' ? line + length + 1 : NULL;
}

static weir_status read_order(struct wl_lines *lines, struct place *place, const char *key,
                              struct wl_openb_order *order)
{
    struct weir_error error = { .phase = -1, .pool = -1 };
    struct wl_line line;
    while (order->arrivals == NULL || order->ranks == NULL) {
        const weir_status status = wl_lines_next(lines, &line, &error);
        if (status != WEIR_OK)
            return weir_fail(place->error, status, "%s: %s (behind line %zu)", place->path,
                             error.text, place->line);
        if (line.text == NULL)
            return weir_fail(place->error, WEIR_EINVAL, "%s: has no order '%s'", place->path, key);
        place->line = line.number;
        if (line.is_cut)
            return fail(place, "a line of more than 64 MiB");
        char *rest = behind_key(line.text, key);
        if (rest == NULL)
            continue;
        if (strncmp(rest, "P ", 2) == 0)
            WEIR_TRY(read_list(place, rest + 2, &order->arrivals, &order->arrival_count));
        else if (strncmp(rest, "N ", 2) == 0)
            WEIR_TRY(read_list(place, rest + 2, &order->ranks, &order->rank_count));
        else
            return fail(place, "expected P (pods) or N (nodes) behind trace and seed");
    }
    return check_ranks(place, order);
}

weir_status wl_openb_read_order(const char *path, const char *key, struct wl_openb_order *order,
                                struct weir_error *error)
{
    struct place place = { .path = path, .error = error };
    struct wl_openb_order read = { .arrivals = NULL };
    struct wl_source *source = NULL;
    struct wl_lines *lines = NULL;
    WEIR_TRY(wl_source_open(path, &source, error));
    WEIR_TRY(wl_lines_open(source, LINE_BYTES, &lines, error));
    const weir_status status = read_order(lines, &place, key, &read);
    wl_lines_close(lines);
    if (status != WEIR_OK)
        wl_openb_order_clear(&read);
    else
        *order = read;
    return status;
}

void wl_openb_order_clear(struct wl_openb_order *order)
{
    free(order->arrivals);
    free(order->ranks);
    *order = (struct wl_openb_order){ .arrivals = NULL };
}
