/* SPDX-License-Identifier: GPL-3.0-or-later */
/* zlib behind stdio; see the header. */
#include "sim/files/gzip_stream.h"

#include <errno.h>
#include <stdint.h>
#include <stdlib.h>
#include <zlib.h>

struct gzip_stream {
    gzFile zip;
    int reason; /* of the first write that failed */
};

static ssize_t write_some(void *cookie, const char *text, size_t size)
{
    struct gzip_stream *stream = cookie;
    if (size == 0 || size > INT32_MAX)
        return 0;
    errno = 0;
    const int written = gzwrite(stream->zip, text, (unsigned)size);
    if (written <= 0 && stream->reason == 0)
        stream->reason = errno == 0 ? EIO : errno;
    return written <= 0 ? 0 : written;
}

static int end(void *cookie)
{
    struct gzip_stream *stream = cookie;
    errno = 0;
    if (gzclose(stream->zip) != Z_OK && stream->reason == 0)
        stream->reason = errno == 0 ? EIO : errno;
    const int reason = stream->reason;
    free(stream);
    errno = reason;
    return reason == 0 ? 0 : EOF;
}

FILE *gzip_stream_open(int file)
{
    const cookie_io_functions_t functions = { .write = write_some, .close = end };
    struct gzip_stream *stream = calloc(1, sizeof(*stream));
    FILE *out = stream == NULL ? NULL : fopencookie(stream, "w", functions);
    if (out != NULL)
        stream->zip = gzdopen(file, "wb6");
    if (out != NULL && stream->zip != NULL)
        return out;
    if (out != NULL)
        (void)fclose(out);
    else
        free(stream);
    errno = ENOMEM;
    return NULL;
}
