/* SPDX-License-Identifier: GPL-3.0-or-later */
/* See the header. */
#include "workloads/tres.h"

#include "workloads/timestamp.h"

#include <stdio.h>
#include <string.h>

enum { VALUE = 40, MILLI = 1000 };

#define KIB INT64_C(1024)

/* The next "key=value" of the list; false at its end. */
static bool next_part(const char **rest, size_t *key_length, char value[VALUE])
{
    const char *part = *rest;
    const size_t length = strcspn(part, ",");
    if (*part == '\0')
        return false;
    *key_length = strcspn(part, "=,");
    const char *text = part + *key_length + (part[*key_length] == '=' ? 1 : 0);
    (void)snprintf(value, VALUE, "%.*s", (int)(length - (size_t)(text - part)), text);
    *rest = part + length + (part[length] == ',' ? 1 : 0);
    return true;
}

bool wl_tres_gpus(const char *tres, int64_t *milli)
{
    static const char key[] = "gres/gpu";
    char text[VALUE];
    size_t length = 0;
    int64_t typed = 0;
    int64_t all = -1;
    const char *part = tres;
    for (const char *rest = tres; next_part(&rest, &length, text); part = rest) {
        int64_t value = 0;
        if (strncmp(part, key, sizeof key - 1) != 0)
            continue;
        const bool is_typed = part[sizeof key - 1] == ':';
        if (!is_typed && length != sizeof key - 1)
            continue; /* gres/gpumem, gres/gpuutil */
        if (!wl_time_scan(text, MILLI, &value) || value < 0 || value > INT32_MAX)
            return false;
        if (is_typed)
            typed += value;
        else
            all = value;
    }
    *milli = all >= 0 ? all : typed;
    return true;
}

bool wl_tres_cpus(const char *tres, int64_t *milli)
{
    char text[VALUE];
    size_t length = 0;
    const char *part = tres;
    for (const char *rest = tres; next_part(&rest, &length, text); part = rest)
        if (length == 3 && strncmp(part, "cpu", 3) == 0)
            return wl_time_scan(text, MILLI, milli) && *milli >= 0;
    return true;
}

bool wl_tres_memory(const char *tres, int64_t *bytes)
{
    static const char units[] = "KMGT";
    char text[VALUE];
    size_t length = 0;
    const char *part = tres;
    for (const char *rest = tres; next_part(&rest, &length, text); part = rest) {
        if (length != 3 || strncmp(part, "mem", 3) != 0)
            continue;
        int64_t scale = KIB * KIB;
        const size_t end = strlen(text);
        const char *unit = end == 0 ? NULL : strchr(units, text[end - 1]);
        if (unit != NULL) {
            text[end - 1] = '\0';
            scale = KIB;
            for (const char *u = units; u < unit; u++)
                scale *= KIB;
        }
        return wl_time_scan(text, scale, bytes) && *bytes >= 0;
    }
    return true;
}
