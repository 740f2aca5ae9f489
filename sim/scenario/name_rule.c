/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What a name may be; see the header. */
#include "sim/scenario/name_rule.h"

#include <stdio.h>
#include <string.h>

size_t sim_utf8_decode(const char *text, uint32_t *point)
{
    static const uint32_t least[] = { 0, 0, 0x80, 0x800, 0x10000 };
    const unsigned char *bytes = (const unsigned char *)text;
    const unsigned char first = bytes[0];
    const size_t length = first < 0x80             ? 1
                          : (first & 0xE0) == 0xC0 ? 2
                          : (first & 0xF0) == 0xE0 ? 3
                          : (first & 0xF8) == 0xF0 ? 4
                                                   : 0;
    if (length == 0)
        return 0;
    *point = length == 1 ? first : first & (0xFFU >> (length + 1));
    for (size_t i = 1; i < length; i++) {
        if ((bytes[i] & 0xC0) != 0x80)
            return 0;
        *point = *point << 6 | (bytes[i] & 0x3F);
    }
    const bool is_surrogate = *point >= 0xD800 && *point <= 0xDFFF;
    return *point < least[length] || *point > 0x10FFFF || is_surrogate ? 0 : length;
}

/* Control characters, line and paragraph separators, marks of direction, the byte order mark. */
static bool is_unseen(uint32_t point)
{
    return point < 0x20 || (point >= 0x7F && point < 0xA0) || point == 0x61C ||
           (point >= 0x200B && point <= 0x200F) || (point >= 0x2028 && point <= 0x202E) ||
           (point >= 0x2060 && point <= 0x206F) || point == 0xFEFF;
}

static bool has_bad_character(const char *name, char fault[SIM_NAME_FAULT])
{
    uint32_t point = 0;
    for (size_t length = 0; *name != '\0'; name += length) {
        length = sim_utf8_decode(name, &point);
        if (length == 0)
            (void)snprintf(fault, SIM_NAME_FAULT, "is UTF-8, found the byte 0x%02X",
                           (unsigned)(unsigned char)*name);
        else if (is_unseen(point))
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
