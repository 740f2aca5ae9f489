/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The memory that this process shares with others. */
#ifndef TESTS_PLUGINS_PAGES_H
#define TESTS_PLUGINS_PAGES_H

#include <stddef.h>
#include <stdio.h>

static inline void hostile_pages(void (*act)(void *page, size_t size))
{
    FILE *maps = fopen("/proc/self/maps", "r");
    char line[512];
    while (maps != NULL && fgets(line, sizeof line, maps) != NULL) {
        unsigned long begin = 0;
        unsigned long end = 0;
        char rights[5] = "";
        if (sscanf(line, "%lx-%lx %4s", &begin, &end, rights) == 3 && rights[3] == 's')
            act((void *)begin, end - begin);
    }
    if (maps != NULL)
        (void)fclose(maps);
}

#endif
