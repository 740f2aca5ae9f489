/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The maps of known traces, and opening one by name or path. One line a map; the texts are
 * maps/NAME.json. */
#include "workloads/column_map.h"

#include "sim/engine/nearest.h"
#include "weir_text.h"
#include "workloads/byte_source.h"

#include <stdlib.h>
#include <string.h>

enum { MAP_BYTES = 1 << 18 };

const struct wl_built_in_map wl_column_maps[] = {
    { "weir", weir_text_weir_json },     { "philly", weir_text_philly_json },
    { "helios", weir_text_helios_json }, { "tiresias", weir_text_tiresias_json },
    { "gavel", weir_text_gavel_json },   { "gavel_tsv", weir_text_gavel_tsv_json },
    { "slurm", weir_text_slurm_json },
};
const size_t wl_column_maps_count = sizeof wl_column_maps / sizeof wl_column_maps[0];

static weir_status read_all(struct wl_source *source, const char *path, char *text,
                            struct weir_error *error)
{
    size_t used = 0;
    size_t got = 1;
    while (got > 0 && used < MAP_BYTES) {
        WEIR_TRY(wl_source_read(source, text + used, MAP_BYTES - used, &got, error));
        used += got;
    }
    if (used == MAP_BYTES)
        return weir_fail(error, WEIR_EFORMAT, "%s: more than %d bytes are no column map", path,
                         MAP_BYTES);
    text[used] = '\0';
    return WEIR_OK;
}

static weir_status open_file(const char *path, struct wl_column_map **map, struct weir_error *error)
{
    struct wl_source *source = NULL;
    char *text = malloc(MAP_BYTES + 1);
    if (text == NULL)
        return weir_fail(error, WEIR_ENOMEM, "out of memory");
    weir_status status = wl_source_open(path, &source, error);
    if (status == WEIR_OK)
        status = read_all(source, path, text, error);
    wl_source_close(source);
    if (status == WEIR_OK)
        status = wl_column_map_parse(path, text, map, error);
    free(text);
    return status;
}

weir_status wl_column_map_open(const char *name, struct wl_column_map **map,
                               struct weir_error *error)
{
    const struct sim_word word = { name, strlen(name) };
    const char *near = NULL;
    for (size_t i = 0; i < wl_column_maps_count; i++) {
        if (strcmp(wl_column_maps[i].name, name) == 0)
            return wl_column_map_parse(name, wl_column_maps[i].text, map, error);
        near = sim_nearer(word, near, wl_column_maps[i].name);
    }
    const weir_status status = open_file(name, map, error);
    if (status == WEIR_EIO && near != NULL)
        return weir_fail(error, WEIR_EIO, "%s: there is no such map or file; did you mean '%s'?",
                         name, near);
    return status;
}

bool wl_column_map_is_of(const struct wl_column_map *map, const struct wl_trace_head *head)
{
    if (map->header_count > 0)
        return false; /* nothing to know it by */
    for (int f = 0; f < WL_FIELD_COUNT; f++) {
        const struct wl_map_entry *entry = &map->entries[f];
        const char *const column = entry->column;
        if (column != NULL && !entry->is_optional && !wl_trace_head_has(head, &column, 1))
            return false;
    }
    return true;
}
