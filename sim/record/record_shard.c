/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Shards: the file of one run of an experiment, and the bytes that all of them begin with.
 *
 * What a shard says before its run is the same for all of an experiment. So it is made once, in
 * memory, and a shard begins as a copy: to make some forty tables costs more than a short run. It
 * has the tables alone, since nobody asks it but those who join it.
 */
#include "sim/record/record_state.h"

#include "weir_text.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* ---- the blank ---- */

static weir_status write_tables(struct sim_recorder *recorder, struct weir_error *error)
{
    WEIR_TRY(record_connect(recorder, ":memory:", error));
    const char *views = strstr(weir_text_schema_sql, "\nCREATE VIEW"); /* they come last */
    char *tables = views == NULL
                       ? NULL
                       : strndup(weir_text_schema_sql, (size_t)(views - weir_text_schema_sql));
    if (tables == NULL)
        return weir_fail(error, WEIR_ENOMEM, "out of memory");
    weir_status status = record_begin(recorder, error);
    if (status == WEIR_OK)
        status = record_execute(recorder, tables, error);
    free(tables);
    WEIR_TRY(status);
    WEIR_TRY(record_execute(recorder, weir_text_manifest_sql, error));
    return record_write_meta(recorder, error);
}

weir_status sim_recorder_open_blank(struct sim_recorder **recorder, struct weir_error *error)
{
    return record_open(":memory:", write_tables, recorder, error);
}

static weir_status take_bytes(struct sim_recorder *recorder, struct sim_shard_blank *blank,
                              struct weir_error *error)
{
    sqlite3_int64 size = 0;
    WEIR_TRY(record_commit(recorder, error));
    record_finalize_statements(recorder);
    blank->bytes = sqlite3_serialize(recorder->database, "main", &size, 0);
    if (blank->bytes == NULL)
        return weir_fail(error, WEIR_ENOMEM, "out of memory");
    blank->size = (size_t)size;
    return WEIR_OK;
}

weir_status sim_recorder_close_blank(struct sim_recorder *recorder, struct sim_shard_blank *blank,
                                     struct weir_error *error)
{
    const weir_status status = take_bytes(recorder, blank, error);
    record_discard(recorder);
    return status;
}

void sim_shard_blank_clear(struct sim_shard_blank *blank)
{
    sqlite3_free(blank->bytes);
    *blank = (struct sim_shard_blank){ .bytes = NULL };
}

/* ---- a shard ---- */

static weir_status write_bytes(const char *path, const struct sim_shard_blank *blank,
                               struct weir_error *error)
{
    FILE *file = fopen(path, "wb");
    bool is_whole = file != NULL && fwrite(blank->bytes, 1, blank->size, file) == blank->size;
    int reason = errno;
    if (file != NULL && fclose(file) != 0 && is_whole) {
        reason = errno;
        is_whole = false;
    }
    return is_whole ? WEIR_OK
                    : weir_fail(error, record_is_full(reason) ? WEIR_ENOMEM : WEIR_EIO,
                                "%s: cannot write the shard: %s", path, strerror(reason));
}

/* Nothing is waited for: until its run is over nobody needs the file. */
static weir_status copy(const char *path, const char *whole, const struct sim_shard_blank *blank,
                        struct weir_error *error)
{
    char *made = NULL;
    if (asprintf(&made, "%s.new", path) < 0)
        return weir_fail(error, WEIR_ENOMEM, "%s: out of memory", path);
    sim_record_remove(made);
    weir_status status = record_create_empty(made, whole, error);
    if (status == WEIR_OK)
        status = write_bytes(made, blank, error);
    if (status == WEIR_OK)
        status = record_give_name(made, path, error);
    if (status != WEIR_OK)
        (void)unlink(made);
    free(made);
    return status;
}

/* Nobody reads along, so it needs no log beside it. */
static weir_status begin(struct sim_recorder *recorder, struct weir_error *error)
{
    recorder->is_shard = true;
    WEIR_TRY(record_connect(recorder, recorder->path, error));
    return record_set_synchronous(recorder, false, error);
}

weir_status sim_recorder_open_shard(const char *path, const char *whole,
                                    const struct sim_shard_blank *blank,
                                    struct sim_recorder **recorder, struct weir_error *error)
{
    WEIR_TRY(record_check_target(path, true, error));
    WEIR_TRY(copy(path, whole, blank, error));
    return record_open(path, begin, recorder, error);
}
