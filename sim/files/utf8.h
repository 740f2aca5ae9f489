/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * What a text of strangers is made of, and which of it may be shown. One rule for names that are
 * read and for texts that are printed.
 */
#ifndef SIM_FILES_UTF8_H
#define SIM_FILES_UTF8_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Length of the UTF-8 sequence at `text` and its code point; 0 when it is not one (RFC 3629). */
size_t sim_utf8_decode(const char *text, uint32_t *point);
/* Control characters, separators of lines, marks of direction, joining and order, whatever else
 * Unicode has shown as nothing, and what is no character, which XML refuses. */
bool sim_utf8_is_unseen(uint32_t point);

#endif
