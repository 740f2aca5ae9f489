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
    static const uint32_t ranges[][2] = {
        { 0, 0x1F },        { 0x7F, 0x9F },       { 0xAD, 0xAD },       { 0x34F, 0x34F },
        { 0x61C, 0x61C },   { 0x115F, 0x1160 },   { 0x17B4, 0x17B5 },   { 0x180B, 0x180F },
        { 0x200B, 0x200F }, { 0x2028, 0x202E },   { 0x2060, 0x206F },   { 0x3164, 0x3164 },
        { 0xFDD0, 0xFDEF }, { 0xFE00, 0xFE0F },   { 0xFEFF, 0xFEFF },   { 0xFFA0, 0xFFA0 },
        { 0xFFF0, 0xFFFB }, { 0x1BCA0, 0x1BCA3 }, { 0x1D173, 0x1D17A }, { 0xE0000, 0xE0FFF },
    };
    for (size_t i = 0; i < sizeof ranges / sizeof ranges[0]; i++)
        if (point >= ranges[i][0] && point <= ranges[i][1])
            return true;
    return (point & 0xFFFE) == 0xFFFE;
}
