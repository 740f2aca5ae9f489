/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Files and what compresses them; see the header. */
#include "workloads/byte_source.h"

#include "workloads/limits.h"

#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <zlib.h>
#include <zstd.h>

enum { INPUT = 65536 };

enum coding { CODING_PLAIN, CODING_GZIP, CODING_ZSTD };

struct wl_source {
    FILE *file;
    enum coding coding;
    bool is_standard, has_started, is_at_end;
    bool is_inside; /* of a compressed frame that is not complete yet */
    z_stream inflate;
    ZSTD_DStream *zstd;
    size_t used, filled;
    uint64_t packed, unpacked; /* bytes so far */
    uint64_t free_mib;         /* that may come of any file */
    unsigned char input[INPUT];
};

static weir_status refill(struct wl_source *source, struct weir_error *error)
{
    if (source->used < source->filled || source->is_at_end)
        return WEIR_OK;
    source->used = 0;
    source->filled = fread(source->input, 1, INPUT, source->file);
    if (source->filled == 0 && ferror(source->file))
        return weir_fail(error, WEIR_EIO, "cannot be read: %s", strerror(errno));
    source->is_at_end = source->filled == 0;
    source->packed += source->filled;
    return WEIR_OK;
}

static weir_status start(struct wl_source *source, struct weir_error *error)
{
    static const unsigned char gzip_magic[] = { 0x1f, 0x8b };
    static const unsigned char zstd_magic[] = { 0x28, 0xb5, 0x2f, 0xfd };
    WEIR_TRY(refill(source, error));
    source->has_started = true;
    if (source->filled >= sizeof zstd_magic &&
        memcmp(source->input, zstd_magic, sizeof zstd_magic) == 0) {
        source->coding = CODING_ZSTD;
        source->zstd = ZSTD_createDStream();
        return source->zstd == NULL ? weir_fail(error, WEIR_ENOMEM, "out of memory") : WEIR_OK;
    }
    if (source->filled >= sizeof gzip_magic &&
        memcmp(source->input, gzip_magic, sizeof gzip_magic) == 0) {
        if (inflateInit2(&source->inflate, 15 + 16) != Z_OK)
            return weir_fail(error, WEIR_ENOMEM, "out of memory");
        source->coding = CODING_GZIP;
    }
    return WEIR_OK;
}

static weir_status make(FILE *file, struct wl_source **source, struct weir_error *error)
{
    struct wl_source *made = calloc(1, sizeof(*made));
    if (made == NULL) {
        if (file != stdin)
            (void)fclose(file);
        return weir_fail(error, WEIR_ENOMEM, "out of memory");
    }
    made->file = file;
    made->free_mib = WL_UNPACKED_MIB;
    made->is_standard = file == stdin;
    *source = made;
    return WEIR_OK;
}

weir_status wl_source_open(const char *path, struct wl_source **source, struct weir_error *error)
{
    FILE *file = strcmp(path, "-") == 0 ? stdin : fopen(path, "rb");
    if (file == NULL)
        return weir_fail(error, WEIR_EIO, "%s: %s", path, strerror(errno));
    return make(file, source, error);
}

weir_status wl_source_open_memory(const uint8_t *bytes, size_t length, struct wl_source **source,
                                  struct weir_error *error)
{
    FILE *file = length == 0 ? fopen("/dev/null", "rb") : tmpfile();
    if (file == NULL)
        return weir_fail(error, WEIR_EIO, "no temporary file: %s", strerror(errno));
    if (length > 0 && (fwrite(bytes, 1, length, file) != length || fflush(file) != 0)) {
        (void)fclose(file);
        return weir_fail(error, WEIR_EIO, "no room for a temporary file");
    }
    rewind(file);
    return make(file, source, error);
}

void wl_source_limit(struct wl_source *source, const struct wl_limits *limits)
{
    if (limits != NULL)
        source->free_mib = wl_limit(limits->unpacked_mib, WL_UNPACKED_MIB);
}

void wl_source_close(struct wl_source *source)
{
    if (source == NULL)
        return;
    if (source->coding == CODING_GZIP)
        (void)inflateEnd(&source->inflate);
    (void)ZSTD_freeDStream(source->zstd);
    if (!source->is_standard)
        (void)fclose(source->file);
    free(source);
}

static weir_status inflate_some(struct wl_source *source, char *buffer, size_t capacity,
                                size_t *length, struct weir_error *error)
{
    z_stream *stream = &source->inflate;
    if (!source->is_inside && inflateReset(stream) != Z_OK) /* files may be put together */
        return weir_fail(error, WEIR_EINVARIANT, "inflateReset failed");
    stream->next_in = source->input + source->used;
    stream->avail_in = (uInt)(source->filled - source->used);
    stream->next_out = (Bytef *)buffer;
    stream->avail_out = (uInt)capacity;
    const int result = inflate(stream, Z_NO_FLUSH);
    source->used = source->filled - stream->avail_in;
    if (result != Z_OK && result != Z_STREAM_END && result != Z_BUF_ERROR)
        return weir_fail(error, WEIR_EFORMAT, "damaged gzip data: %s",
                         stream->msg == NULL ? "unknown" : stream->msg);
    source->is_inside = result != Z_STREAM_END;
    *length = capacity - stream->avail_out;
    return WEIR_OK;
}

/* NOLINTNEXTLINE(readability-non-const-parameter): zstd writes to the buffer */
static weir_status zstd_some(struct wl_source *source, char *buffer, size_t capacity,
                             size_t *length, struct weir_error *error)
{
    ZSTD_inBuffer in = { source->input, source->filled, source->used };
    ZSTD_outBuffer out = { buffer, capacity, 0 };
    const size_t result = ZSTD_decompressStream(source->zstd, &out, &in);
    if (ZSTD_isError(result))
        return weir_fail(error, WEIR_EFORMAT, "damaged zstd data: %s", ZSTD_getErrorName(result));
    source->used = in.pos;
    source->is_inside = result != 0;
    *length = out.pos;
    return WEIR_OK;
}

static size_t copy_some(struct wl_source *source, char *buffer, size_t capacity)
{
    const size_t left = source->filled - source->used;
    const size_t count = left < capacity ? left : capacity;
    memcpy(buffer, source->input + source->used, count);
    source->used += count;
    return count;
}

/* A few bytes may stand for any number of rows, and all of them would be held in memory. */
static weir_status check_unpacked(const struct wl_source *source, struct weir_error *error)
{
    if (source->coding == CODING_PLAIN ||
        source->unpacked / (UINT64_C(1) << 20) < source->free_mib ||
        source->unpacked / WL_UNPACKED_TIMES <= source->packed)
        return WEIR_OK;
    return weir_fail(
        error, WEIR_EFORMAT,
        "unpacks to more than %llu MiB and %d times its size: if this is meant, unpack "
        "it first (%s -d), a plain file may be of any size, or allow it with --limit "
        "unpacked=MIB",
        (unsigned long long)source->free_mib, WL_UNPACKED_TIMES,
        source->coding == CODING_GZIP ? "gzip" : "zstd");
}

weir_status wl_source_read(struct wl_source *source, char *buffer, size_t capacity, size_t *length,
                           struct weir_error *error)
{
    if (!source->has_started)
        WEIR_TRY(start(source, error));
    size_t count = 0;
    while (count == 0) {
        WEIR_TRY(refill(source, error));
        /* A decoder may still hold output when all input was read. */
        if (source->is_at_end && !source->is_inside)
            break;
        if (source->coding == CODING_PLAIN)
            count = copy_some(source, buffer, capacity);
        else if (source->coding == CODING_GZIP)
            WEIR_TRY(inflate_some(source, buffer, capacity, &count, error));
        else
            WEIR_TRY(zstd_some(source, buffer, capacity, &count, error));
        if (count == 0 && source->is_at_end && source->is_inside)
            return weir_fail(error, WEIR_EFORMAT, "the compressed file ends early");
    }
    source->unpacked += count;
    WEIR_TRY(check_unpacked(source, error));
    *length = count;
    return WEIR_OK;
}
