/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Reading column maps; see the header. jansson knows no lines of values: mistakes name the key. */
#include "workloads/column_map.h"

#include "sim/engine/nearest.h"

#include <jansson.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#define KIB INT64_C(1024)
#define KB  INT64_C(1000)

#define MAP_FIELD(field, name, kind, help) { name, kind, help },
const struct wl_map_field_info wl_map_fields[WL_FIELD_COUNT] = { WL_MAP_FIELDS(MAP_FIELD) };
#undef MAP_FIELD

#define TIMES(kind)                                                                                \
    { "s", 1000000000, kind, WL_UNIT_PLAIN }, { "ms", 1000000, kind, WL_UNIT_PLAIN },              \
        { "us", 1000, kind, WL_UNIT_PLAIN }, { "ns", 1, kind, WL_UNIT_PLAIN },                     \
        { "min", 60000000000, kind, WL_UNIT_PLAIN }, { "h", 3600000000000, kind, WL_UNIT_PLAIN },  \
    {                                                                                              \
        "d", 86400000000000, kind, WL_UNIT_PLAIN                                                   \
    }
const struct wl_map_unit wl_map_units[] = {
    TIMES(WL_MAP_MOMENT),
    { "date", 1, WL_MAP_MOMENT, WL_UNIT_DATE },
    { "unix_s", 1000000000, WL_MAP_MOMENT, WL_UNIT_SINCE_1970 },
    { "unix_ms", 1000000, WL_MAP_MOMENT, WL_UNIT_SINCE_1970 },
    TIMES(WL_MAP_SPAN),
    { "core", 1000, WL_MAP_CPUS, WL_UNIT_PLAIN },
    { "milli", 1, WL_MAP_CPUS, WL_UNIT_PLAIN },
    { "percent", 10, WL_MAP_CPUS, WL_UNIT_PLAIN },
    { "tres", 1000, WL_MAP_CPUS, WL_UNIT_TRES },
    { "B", 1, WL_MAP_BYTES, WL_UNIT_PLAIN },
    { "KB", KB, WL_MAP_BYTES, WL_UNIT_PLAIN },
    { "MB", KB *KB, WL_MAP_BYTES, WL_UNIT_PLAIN },
    { "GB", KB *KB *KB, WL_MAP_BYTES, WL_UNIT_PLAIN },
    { "KiB", KIB, WL_MAP_BYTES, WL_UNIT_PLAIN },
    { "MiB", KIB *KIB, WL_MAP_BYTES, WL_UNIT_PLAIN },
    { "GiB", KIB *KIB *KIB, WL_MAP_BYTES, WL_UNIT_PLAIN },
    { "tres", KIB *KIB, WL_MAP_BYTES, WL_UNIT_TRES },
    { "gpu", 1000, WL_MAP_GPUS, WL_UNIT_PLAIN },
    { "milli", 1, WL_MAP_GPUS, WL_UNIT_PLAIN },
    { "percent", 10, WL_MAP_GPUS, WL_UNIT_PLAIN },
    { "tres", 1000, WL_MAP_GPUS, WL_UNIT_TRES },
};
const size_t wl_map_units_count = sizeof wl_map_units / sizeof wl_map_units[0];

static const char *const end_names[] = {
    [WL_JOB_END_UNKNOWN] = "",
    [WL_JOB_DONE] = "done",
    [WL_JOB_FAILED] = "failed",
    [WL_JOB_CANCELLED] = "cancelled",
    [WL_JOB_NEVER_STARTED] = "never_started",
    [WL_JOB_RUNNING] = "running",
};
enum { ENDS = sizeof end_names / sizeof end_names[0] };

const char *wl_job_end_name(enum wl_job_end end)
{
    return end_names[end];
}

static bool job_end_find(const char *name, enum wl_job_end *end)
{
    for (int e = 1; e < ENDS; e++)
        if (strcmp(end_names[e], name) == 0) {
            *end = (enum wl_job_end)e;
            return true;
        }
    return false;
}

/* ---- mistakes ---- */

/* All mistakes of a map, joined; `where` is the key that is being read. */
struct reading {
    const char *path;
    struct wl_column_map *map;
    char where[96];
    char mistakes[WEIR_ERROR_TEXT];
    size_t length;
    bool is_out_of_memory;
};

WEIR_PRINTF(2, 3)
static void mistake(struct reading *reading, const char *format, ...)
{
    char message[160];
    va_list arguments;
    va_start(arguments, format);
    (void)vsnprintf(message, sizeof message, format, arguments);
    va_end(arguments);
    if (reading->length >= sizeof reading->mistakes)
        return;
    const int written =
        snprintf(reading->mistakes + reading->length, sizeof reading->mistakes - reading->length,
                 "%s%s: %s", reading->length == 0 ? "" : "; ", reading->where, message);
    reading->length += written > 0 ? (size_t)written : 0;
}

static void unknown_key(struct reading *reading, const char *key, const char *const *names,
                        size_t count)
{
    const struct sim_word word = { key, strlen(key) };
    const char *near = NULL;
    for (size_t i = 0; i < count; i++)
        near = sim_nearer(word, near, names[i]);
    mistake(reading, "there is no key '%.30s'%s%s%s", key, near == NULL ? "" : "; did you mean '",
            near == NULL ? "" : near, near == NULL ? "" : "'?");
}

/* ---- texts ---- */

static char *copy_text(struct reading *reading, const json_t *value)
{
    char *copy = NULL;
    if (!json_is_string(value) || json_string_value(value)[0] == '\0') {
        mistake(reading, "a text is expected");
        return NULL;
    }
    copy = strdup(json_string_value(value));
    reading->is_out_of_memory = reading->is_out_of_memory || copy == NULL;
    return copy;
}

static void read_list(struct reading *reading, const json_t *list, char ***texts, size_t *count)
{
    if (!json_is_array(list) || json_array_size(list) == 0) {
        mistake(reading, "a list of texts is expected");
        return;
    }
    *texts = calloc(json_array_size(list), sizeof **texts);
    if (*texts == NULL) {
        reading->is_out_of_memory = true;
        return;
    }
    for (size_t i = 0; i < json_array_size(list); i++) {
        (*texts)[*count] = copy_text(reading, json_array_get(list, i));
        *count += (*texts)[*count] != NULL ? 1 : 0;
    }
}

static void read_delimiter(struct reading *reading, const json_t *value)
{
    static const char signs[] = ",;\t| ";
    const char *text = json_is_string(value) ? json_string_value(value) : "";
    if (strcmp(text, "tab") == 0)
        text = "\t";
    if (strlen(text) != 1 || strchr(signs, text[0]) == NULL)
        mistake(reading, "expected one of , ; | tab");
    else
        reading->map->delimiter = text[0];
}

/* ---- fields ---- */

static void read_unit(struct reading *reading, const json_t *value, enum wl_map_kind kind,
                      struct wl_map_entry *entry)
{
    const char *name = json_is_string(value) ? json_string_value(value) : "";
    char known[96] = "";
    size_t length = 0;
    for (size_t i = 0; i < wl_map_units_count; i++) {
        if (wl_map_units[i].kind != kind)
            continue;
        if (strcmp(wl_map_units[i].name, name) == 0) {
            entry->unit = &wl_map_units[i];
            return;
        }
        length +=
            (size_t)snprintf(known + length, sizeof known - length, " %s", wl_map_units[i].name);
    }
    mistake(reading, "unit '%.20s' is none of its units:%s", name, length == 0 ? " none" : known);
}

static void read_zone(struct reading *reading, const json_t *value, struct wl_map_entry *entry)
{
    if (!json_is_string(value) || !wl_zone_scan(json_string_value(value), &entry->zone))
        mistake(reading, "zone: expected an offset like +01:00, or one with a summer time like "
                         "'+01:00 eu' or '-08:00 us'");
}

static void read_value(struct reading *reading, const json_t *value, struct wl_map_entry *entry)
{
    char text[40];
    if (json_is_string(value)) {
        entry->value = copy_text(reading, value);
        return;
    }
    if (!json_is_number(value)) {
        mistake(reading, "value: a number or a text is expected");
        return;
    }
    if (json_is_integer(value))
        (void)snprintf(text, sizeof text, "%lld", (long long)json_integer_value(value));
    else
        (void)snprintf(text, sizeof text, "%.17g", json_real_value(value));
    entry->value = strdup(text);
    reading->is_out_of_memory = reading->is_out_of_memory || entry->value == NULL;
}

static void read_factor(struct reading *reading, const json_t *value, struct wl_map_entry *entry)
{
    const double factor = json_is_number(value) ? json_number_value(value) : 0.0;
    if (factor > 0.0 && factor < 1e15)
        entry->factor = factor;
    else
        mistake(reading, "factor: a number > 0 is expected");
}

static void read_words(struct reading *reading, json_t *words, enum wl_map_field field)
{
    struct wl_column_map *map = reading->map;
    const bool is_end = wl_map_fields[field].kind == WL_MAP_END;
    const char *key = NULL;
    json_t *list = NULL;
    size_t room = map->word_count;
    json_object_foreach(words, key, list) room += json_array_size(list);
    struct wl_map_word *grown = reallocarray(map->words, room + 1, sizeof *grown);
    reading->is_out_of_memory = reading->is_out_of_memory || grown == NULL;
    if (!json_is_object(words))
        mistake(reading, "words: a mapping of lists is expected");
    if (grown == NULL)
        return;
    map->words = grown;
    json_object_foreach(words, key, list)
    {
        struct wl_map_word known = { .field = field };
        const bool is_known = !is_end || job_end_find(key, &known.end);
        if (!is_known)
            unknown_key(reading, key, end_names + 1, ENDS - 1);
        else if (!json_is_array(list))
            mistake(reading, "words.%s: a list of texts is expected", key);
        for (size_t i = 0; is_known && i < json_array_size(list); i++) {
            known.word = copy_text(reading, json_array_get(list, i));
            known.meant = is_end || known.word == NULL ? NULL : strdup(key);
            if (known.word != NULL)
                map->words[map->word_count++] = known;
            reading->is_out_of_memory =
                reading->is_out_of_memory || (!is_end && known.meant == NULL);
        }
    }
}

static void read_entry_key(struct reading *reading, enum wl_map_field field, const char *key,
                           json_t *value)
{
    static const char *const keys[] = { "column", "value", "unit",    "zone",
                                        "factor", "words", "optional" };
    struct wl_map_entry *entry = &reading->map->entries[field];
    const enum wl_map_kind kind = wl_map_fields[field].kind;
    if (strcmp(key, "column") == 0)
        entry->column = copy_text(reading, value);
    else if (strcmp(key, "value") == 0)
        read_value(reading, value, entry);
    else if (strcmp(key, "unit") == 0)
        read_unit(reading, value, kind, entry);
    else if (strcmp(key, "zone") == 0)
        read_zone(reading, value, entry);
    else if (strcmp(key, "factor") == 0)
        read_factor(reading, value, entry);
    else if (strcmp(key, "words") == 0 && (kind == WL_MAP_END || kind == WL_MAP_TEXT))
        read_words(reading, value, field);
    else if (strcmp(key, "optional") == 0 && json_is_boolean(value))
        entry->is_optional = json_is_true(value);
    else
        unknown_key(reading, key, keys, sizeof keys / sizeof keys[0]);
}

static const struct wl_map_unit *default_unit(enum wl_map_kind kind)
{
    for (size_t i = 0; i < wl_map_units_count; i++)
        if (wl_map_units[i].kind == kind)
            return &wl_map_units[i];
    return NULL;
}

static void read_entry(struct reading *reading, enum wl_map_field field, json_t *value)
{
    struct wl_map_entry *entry = &reading->map->entries[field];
    const char *key = NULL;
    json_t *child = NULL;
    *entry =
        (struct wl_map_entry){ .unit = default_unit(wl_map_fields[field].kind), .factor = 1.0 };
    if (!json_is_object(value)) {
        mistake(reading, "a mapping is expected: {\"column\": \"...\"}");
        return;
    }
    json_object_foreach(value, key, child)
    {
        read_entry_key(reading, field, key, child);
    }
    if ((entry->column == NULL) == (entry->value == NULL))
        mistake(reading, "needs either a column or a value");
}

static void read_fields(struct reading *reading, json_t *fields)
{
    const char *names[WL_FIELD_COUNT];
    const char *key = NULL;
    json_t *value = NULL;
    for (int f = 0; f < WL_FIELD_COUNT; f++)
        names[f] = wl_map_fields[f].name;
    if (!json_is_object(fields)) {
        mistake(reading, "a mapping of fields is expected");
        return;
    }
    json_object_foreach(fields, key, value)
    {
        int field = 0;
        while (field < WL_FIELD_COUNT && strcmp(names[field], key) != 0)
            field++;
        (void)snprintf(reading->where, sizeof reading->where, "fields.%.40s", key);
        if (field == WL_FIELD_COUNT)
            unknown_key(reading, key, names, WL_FIELD_COUNT);
        else
            read_entry(reading, (enum wl_map_field)field, value);
    }
}

/* ---- the whole ---- */

static void read_root_key(struct reading *reading, const char *key, json_t *value)
{
    static const char *const keys[] = { "name",   "summary", "delimiter",
                                        "header", "unknown", "fields" };
    struct wl_column_map *map = reading->map;
    (void)snprintf(reading->where, sizeof reading->where, "%.40s", key);
    if (strcmp(key, "name") == 0)
        map->name = copy_text(reading, value);
    else if (strcmp(key, "summary") == 0)
        map->summary = copy_text(reading, value);
    else if (strcmp(key, "delimiter") == 0)
        read_delimiter(reading, value);
    else if (strcmp(key, "header") == 0)
        read_list(reading, value, &map->header, &map->header_count);
    else if (strcmp(key, "unknown") == 0)
        read_list(reading, value, &map->unknown, &map->unknown_count);
    else if (strcmp(key, "fields") == 0)
        read_fields(reading, value);
    else
        unknown_key(reading, key, keys, sizeof keys / sizeof keys[0]);
}

static bool is_there(const struct wl_map_entry *entry)
{
    return entry->column != NULL || entry->value != NULL;
}

/* Moments must count from the same zero. */
static void check_moments(struct reading *reading)
{
    const struct wl_map_entry *submit = &reading->map->entries[WL_FIELD_SUBMIT];
    for (int f = 0; f < WL_FIELD_COUNT; f++) {
        const struct wl_map_entry *entry = &reading->map->entries[f];
        if (wl_map_fields[f].kind == WL_MAP_MOMENT && is_there(entry) && is_there(submit) &&
            (entry->unit->form == WL_UNIT_PLAIN) != (submit->unit->form == WL_UNIT_PLAIN))
            mistake(reading, "%s and submit: one is a date, the other counts from zero",
                    wl_map_fields[f].name);
    }
}

static void check_map(struct reading *reading)
{
    const struct wl_map_entry *entries = reading->map->entries;
    (void)snprintf(reading->where, sizeof reading->where, "fields");
    size_t count = 0;
    for (int f = 0; f < WL_FIELD_COUNT; f++)
        count += entries[f].column != NULL ? 1 : 0;
    if (count == 0)
        mistake(reading, "no field has a column");
    check_moments(reading);
}

static void read_root(struct reading *reading, json_t *root)
{
    const char *key = NULL;
    json_t *value = NULL;
    if (!json_is_object(root)) {
        (void)snprintf(reading->where, sizeof reading->where, "the map");
        mistake(reading, "must be a mapping");
        return;
    }
    json_object_foreach(root, key, value)
    {
        read_root_key(reading, key, value);
    }
    check_map(reading);
    if (reading->map->name == NULL)
        reading->map->name = strdup(reading->path);
    reading->is_out_of_memory = reading->is_out_of_memory || reading->map->name == NULL;
}

weir_status wl_column_map_parse(const char *path, const char *text, struct wl_column_map **map,
                                struct weir_error *error)
{
    json_error_t place;
    json_t *root = json_loads(text, JSON_REJECT_DUPLICATES, &place);
    if (root == NULL)
        return weir_fail(error, WEIR_EFORMAT, "%s:%d:%d: %.200s", path, place.line, place.column,
                         place.text);
    struct reading reading = { .path = path, .map = calloc(1, sizeof *reading.map) };
    if (reading.map != NULL)
        read_root(&reading, root);
    json_decref(root);
    weir_status status = WEIR_OK;
    if (reading.map == NULL || reading.is_out_of_memory)
        status = weir_fail(error, WEIR_ENOMEM, "out of memory");
    else if (reading.length > 0)
        status = weir_fail(error, WEIR_EFORMAT, "%.120s: %s", path, reading.mistakes);
    if (status != WEIR_OK)
        wl_column_map_destroy(reading.map);
    else
        *map = reading.map;
    return status;
}

void wl_column_map_destroy(struct wl_column_map *map)
{
    if (map == NULL)
        return;
    for (size_t i = 0; i < map->header_count; i++)
        free(map->header[i]);
    for (size_t i = 0; i < map->unknown_count; i++)
        free(map->unknown[i]);
    for (size_t i = 0; i < map->word_count; i++) {
        free(map->words[i].word);
        free(map->words[i].meant);
    }
    for (int f = 0; f < WL_FIELD_COUNT; f++) {
        free(map->entries[f].column);
        free(map->entries[f].value);
    }
    free(map->header);
    free(map->unknown);
    free(map->words);
    free(map->name);
    free(map->summary);
    free(map);
}
