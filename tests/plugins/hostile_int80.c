/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Removes a file through the door of 32-bit programs, whose calls have other numbers. */
#include "hostile.h"
#include <stdlib.h>

HOSTILE_DECIDE
{
    HOSTILE_UNUSED;
#ifdef __x86_64__
    static const char name[] = "two.yaml";
    long answer = 10; /* unlink */
    __asm__ volatile("int $0x80" : "+a"(answer) : "b"(name) : "memory");
#else
    abort();
#endif
    return hostile_sound(view, plan);
}

HOSTILE_SCALING_OPS(.decide = decide)
