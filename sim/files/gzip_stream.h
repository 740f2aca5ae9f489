/* SPDX-License-Identifier: GPL-3.0-or-later */
/* A FILE that compresses what is written to it. */
#ifndef FILES_GZIP_STREAM_H
#define FILES_GZIP_STREAM_H

#include <stdio.h>

/* Takes the descriptor, which is closed with the stream; NULL and errno when it cannot, and then
 * the descriptor is the caller's. */
FILE *gzip_stream_open(int file);

#endif
