/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Runs another program: fork and exec, no shell, nothing on its standard input, a time limit.
 */
#ifndef ANALYSIS_PROGRAM_H
#define ANALYSIS_PROGRAM_H

#include "weir/status.h"

#include <signal.h>
#include <stdbool.h>
#include <stddef.h>

/* While files are about that must not stay, signals that would end the program (INT, HUP, TERM) are
 * held: work stops when one is pending, the caller removes its files, and release takes the
 * signals away and returns WEIR_EINTERRUPTED; without any it returns `status`. */
struct an_held {
    sigset_t before;
};
void an_signals_hold(struct an_held *held);
bool an_signals_pending(void);
weir_status an_signals_release(const struct an_held *held, weir_status status,
                               struct weir_error *error);

enum { AN_PROGRAM_ARGUMENTS = 64 };

struct an_program {
    const char
        *name; /* as in PATH; what it says goes to "folder/NAME.log", gone when it ends well */
    const char *package; /* that has it */
    const char *folder;  /* it works in */
    double timeout_s;
};

/* Full path of a program as a shell would find it; false, and a word for people, when there is
 * none. */
bool an_program_find(const char *name, char *path, size_t capacity);

/* Runs it with these arguments, ending with NULL. WEIR_EIO with the program's own message when it
 * fails, is missing, or takes longer than it may. */
weir_status an_program_run(const struct an_program *program, const char *const *arguments,
                           struct weir_error *error);

#endif
