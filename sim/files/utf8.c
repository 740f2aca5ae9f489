/* SPDX-License-Identifier: GPL-3.0-or-later */
/* See utf8.h. */
#include "sim/files/utf8.h"

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

bool sim_utf8_is_unseen(uint32_t point)
{
    return point < 0x20 || (point >= 0x7F && point < 0xA0) || point == 0x61C ||
           (point >= 0x200B && point <= 0x200F) || (point >= 0x2028 && point <= 0x202E) ||
           (point >= 0x2060 && point <= 0x206F) || point == 0xFEFF;
}
