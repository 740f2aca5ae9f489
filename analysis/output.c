/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Files that are written; see the header. */
#include "analysis/output.h"

#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

weir_status an_output_status(int reason)
{
    const bool is_full = reason == ENOSPC || reason == EDQUOT || reason == EFBIG;
    return is_full ? WEIR_ENOMEM : WEIR_EIO;
}

weir_status an_output_open(const char *path, FILE **file, struct weir_error *error)
{
    FILE *opened = fopen(path, "w");
    if (opened == NULL)
        return weir_fail(error, an_output_status(errno), "%s: cannot be written: %s", path,
                         strerror(errno));
    *file = opened;
    return WEIR_OK;
}

weir_status an_output_open_in(const char *folder, const char *name, const char *end, FILE **file,
                              struct weir_error *error)
{
    char *path = NULL;
    if (asprintf(&path, "%s/%s.%s", folder, name, end) < 0)
        return weir_fail(error, WEIR_ENOMEM, "out of memory");
    const weir_status status = an_output_open(path, file, error);
    free(path);
    return status;
}

weir_status an_output_close(FILE *file, const char *where, weir_status status,
                            struct weir_error *error)
{
    const bool is_broken = ferror(file) != 0;
    errno = 0; /* what was not written yet is tried again, and tells why it cannot be */
    const bool is_closed = fclose(file) == 0;
    if (is_closed && !is_broken)
        return status;
    const int reason = is_closed || errno == 0 ? EIO : errno;
    return weir_fail(error, an_output_status(reason), "%s: cannot be written to: %s", where,
                     strerror(reason));
}
