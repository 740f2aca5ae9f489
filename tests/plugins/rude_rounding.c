/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Leaves other arithmetic behind, another locale, folder and mask, and no environment. */
#define _GNU_SOURCE
#include "hostile.h"
#include <fenv.h>
#include <locale.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

HOSTILE_DECIDE
{
    HOSTILE_UNUSED;
    static const char *const locales[] = { "de_DE.UTF-8", "tr_TR.UTF-8", "C" };
    static const int modes[] = { FE_DOWNWARD, FE_UPWARD, FE_TOWARDZERO };
    (void)fesetround(modes[view->decision % 3]);
    (void)setlocale(LC_ALL, locales[view->decision % 3]);
    (void)umask(0777);
    (void)clearenv();
    if (chdir("/") != 0)
        return weir_fail(error, WEIR_EPOLICY, "it may go nowhere");
    return hostile_sound(view, plan);
}

HOSTILE_SCALING_OPS(.decide = decide)
