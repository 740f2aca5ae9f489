/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What a name may be; see the header. */
#include "sim/scenario/read/name_rule.h"

#include "sim/files/utf8.h"

#include <stdio.h>
#include <string.h>

static bool has_bad_character(const char *name, char fault[SIM_NAME_FAULT])
{
    uint32_t point = 0;
    for (size_t length = 0; *name != '\0'; name += length) {
        length = sim_utf8_decode(name, &point);
        if (length == 0)
            (void)snprintf(fault, SIM_NAME_FAULT, "is UTF-8, found the byte 0x%02X",
                           (unsigned)(unsigned char)*name);
        else if (point == '\t' || point == '\n')
            (void)snprintf(fault, SIM_NAME_FAULT, "has only characters that are seen, found a %s",
                           point == '\t' ? "tab" : "line break");
        else if (sim_utf8_is_unseen(point))
            (void)snprintf(fault, SIM_NAME_FAULT, "has only characters that are seen, found U+%04X",
                           (unsigned)point);
        else if (point < 0x80 && strchr("/\\'\"`<>|$;", (int)point) != NULL)
            (void)snprintf(fault, SIM_NAME_FAULT,
                           "has none of / \\ ' \" ` < > | $ ; in it, found %c", (char)point);
        else
            continue;
        return true;
    }
    return false;
}

bool sim_name_is_fine(const char *name, char fault[SIM_NAME_FAULT])
{
    const size_t length = strlen(name);
    if (length == 0 || length > SIM_NAME_MOST)
        (void)snprintf(fault, SIM_NAME_FAULT, "has 1 to %d bytes, found %zu", (int)SIM_NAME_MOST,
                       length);
    else if (strchr(".-=@", name[0]) != NULL)
        (void)snprintf(fault, SIM_NAME_FAULT, "does not begin with %c", name[0]);
    else if (name[0] == ' ' || name[length - 1] == ' ')
        (void)snprintf(fault, SIM_NAME_FAULT, "has no blank at its ends");
    else
        return !has_bad_character(name, fault);
    return false;
}
