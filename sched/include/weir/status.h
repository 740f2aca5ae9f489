/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Status codes and the error box.
 *
 * Every function that can fail returns a weir_status and takes an optional error box as last
 * argument. On failure the out-parameters are untouched and the box says what, where, value and
 * bound, in one sentence without a full stop. Context is added once per level from the inside out
 * ("pool caption: shape: gpus must be > 0, got -1"). The library never prints and never exits.
 *
 * Infeasible (can never fit on this cluster) is not busy (does not fit now).
 */
#ifndef WEIR_STATUS_H
#define WEIR_STATUS_H

#include "weir/version.h"

#include <stdint.h>

WEIR_BEGIN_DECLS

/* Append-only: name, value, meaning. */
#define WEIR_STATUSES(X)                                                                           \
    X(WEIR_OK, 0, "ok")                                                                            \
    X(WEIR_ENOMEM, -1, "out of memory")                                                            \
    X(WEIR_EINVAL, -2, "invalid argument")                                                         \
    X(WEIR_EINFEASIBLE, -3, "can never fit")                                                       \
    X(WEIR_EBUSY, -4, "does not fit now")                                                          \
    X(WEIR_EDUPLICATE, -5, "exists already")                                                       \
    X(WEIR_ENOTFOUND, -6, "not found")                                                             \
    X(WEIR_EOVERCOMMIT, -7, "more than there is")                                                  \
    X(WEIR_EPOLICY, -8, "the policy broke its contract")                                           \
    X(WEIR_EABI, -9, "built for another interface version")                                        \
    X(WEIR_ERANGE, -10, "outside the representable range")                                         \
    X(WEIR_EIO, -11, "input or output failed")                                                     \
    X(WEIR_EFORMAT, -12, "malformed input")                                                        \
    X(WEIR_EINVARIANT, -13, "an invariant is broken")                                              \
    X(WEIR_EINTERRUPTED, -14, "interrupted")                                                       \
    X(WEIR_EMANUAL, -15, "a requested worker count cannot be met")                                 \
    X(WEIR_EMINIMUM, -16, "a stage cannot get its first worker")                                   \
    X(WEIR_EUNSUPPORTED, -17, "not supported")

#define WEIR_STATUS_ENUM(name, value, text) name = value,
typedef enum weir_status { WEIR_STATUSES(WEIR_STATUS_ENUM) } weir_status;
#undef WEIR_STATUS_ENUM

enum { WEIR_ERROR_TEXT = 480 };

/* The error box; the caller owns it, a zeroed one is valid. `phase` and `pool` are set (not -1)
 * only by scaling policies that work in numbered phases over pools. */
struct weir_error {
    int32_t phase;
    int32_t pool;
    char text[WEIR_ERROR_TEXT];
};

/* The meaning of a status as a constant string; never NULL. */
WEIR_API const char *weir_status_text(weir_status status);

/* Writes a message (printf rules) into the box, truncating at its end, and returns `status`, so
 * that a failing function is one line. `error` may be NULL. */
WEIR_API weir_status weir_fail(struct weir_error *error, weir_status status, const char *format,
                               ...) WEIR_PRINTF(3, 4);

/* Puts "context: " in front of the message that is there. `error` may be NULL. */
WEIR_API void weir_error_wrap(struct weir_error *error, const char *format, ...) WEIR_PRINTF(2, 3);

/* Returns early with the status of `call` when it failed. */
#define WEIR_TRY(call)                                                                             \
    do {                                                                                           \
        const weir_status try_status = (call);                                                     \
        if (try_status != WEIR_OK)                                                                 \
            return try_status;                                                                     \
    } while (0)

WEIR_END_DECLS

#endif
