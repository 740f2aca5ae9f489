/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Status texts and the error box.
 *
 * Invariant: after any call here the text of a box is terminated. A failure that names no numbered
 * phase or pool leaves -1 in both; a policy that has them sets them after weir_fail.
 */
#include "weir/status.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

const char *weir_status_text(weir_status status)
{
#define WEIR_STATUS_CASE(name, value, text)                                                        \
    case name:                                                                                     \
        return text;
    switch (status) {
        WEIR_STATUSES(WEIR_STATUS_CASE)
    }
#undef WEIR_STATUS_CASE
    return "unknown status";
}

weir_status weir_fail(struct weir_error *error, weir_status status, const char *format, ...)
{
    if (!error)
        return status;
    error->phase = -1;
    error->pool = -1;
    va_list arguments;
    va_start(arguments, format);
    const int length = vsnprintf(error->text, sizeof error->text, format, arguments);
    va_end(arguments);
    if (length < 0)
        error->text[0] = '\0';
    return status;
}

void weir_error_wrap(struct weir_error *error, const char *format, ...)
{
    if (!error)
        return;
    char inner[WEIR_ERROR_TEXT];
    memcpy(inner, error->text, sizeof inner);
    inner[sizeof inner - 1] = '\0';
    va_list arguments;
    va_start(arguments, format);
    const int length = vsnprintf(error->text, sizeof error->text, format, arguments);
    va_end(arguments);
    /* A context that fills the box leaves no room for the message: what there is stays. */
    const size_t used = length < 0 ? 0 : (size_t)length;
    if (used >= sizeof error->text)
        return;
    const int rest = snprintf(error->text + used, sizeof error->text - used, ": %s", inner);
    if (rest < 0)
        error->text[used] = '\0';
}
