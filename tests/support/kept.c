/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Kept results; see the header. */
#include "tests/support/kept.h"

#include "sim/engine/digest.h"
#include "tests/support/check.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { NAME = 160, LINES = 1024, METRICS = 1024 };

struct line {
    char name[NAME];
    char digests[40];
    bool is_met;
};

struct test_kept {
    const char *relative;
    bool is_update;
    struct line lines[LINES];
    size_t count;
    char metrics[METRICS][NAME];
    size_t metrics_count;
};

static size_t metric_at(const struct test_kept *kept, const char *name)
{
    size_t at = 0;
    while (at < kept->metrics_count && strcmp(kept->metrics[at], name) != 0)
        at++;
    return at;
}

static void keep_metric(struct test_kept *kept, const char *name)
{
    if (metric_at(kept, name) == kept->metrics_count && kept->metrics_count < METRICS)
        (void)snprintf(kept->metrics[kept->metrics_count++], NAME, "%s", name);
}

static void read_line(struct test_kept *kept, const char *text)
{
    char name[NAME];
    char digest[20];
    char hash[20];
    if (text[0] == '#')
        return;
    if (strncmp(text, "metric ", 7) == 0) {
        if (sscanf(text + 7, "%159s", name) == 1)
            keep_metric(kept, name);
    } else if (sscanf(text, "%159s %19s %19s", name, digest, hash) == 3 && kept->count < LINES) {
        struct line *line = &kept->lines[kept->count++];
        memcpy(line->name, name, sizeof name);
        (void)snprintf(line->digests, sizeof line->digests, "%s %s", digest, hash);
    }
}

struct test_kept *test_kept_open(const char *relative)
{
    struct test_kept *kept = calloc(1, sizeof *kept);
    char text[512];
    if (kept == NULL)
        abort();
    kept->relative = relative;
    kept->is_update = getenv("WEIR_UPDATE_GOLDEN") != NULL;
    FILE *file = kept->is_update ? NULL : fopen(test_data(relative), "r");
    while (file != NULL && fgets(text, sizeof text, file) != NULL)
        read_line(kept, text);
    if (file != NULL)
        (void)fclose(file);
    return kept;
}

/* In no order: a result that moves to another place of the list is the same. Nine digits are more
 * than anybody reads, and fewer than another order of adding up changes. */
uint64_t test_kept_hash(struct test_kept *kept, const struct sim_run_summary *summary)
{
    uint64_t hash = 0;
    const struct test_value *value = NULL;
    for (size_t i = 0; (value = test_value_at(summary, i)) != NULL; i++) {
        char text[sizeof value->metric + sizeof value->label + 32];
        if (kept->is_update)
            keep_metric(kept, value->metric);
        if (metric_at(kept, value->metric) == kept->metrics_count)
            continue;
        (void)snprintf(text, sizeof text, "%s %s %.9g", value->metric, value->label, value->value);
        uint64_t one = SIM_DIGEST_START;
        for (const char *c = text; *c != '\0'; c++)
            one = sim_digest_word(one, (uint64_t)(unsigned char)*c);
        hash += one;
    }
    return hash;
}

static struct line *line_of(struct test_kept *kept, const char *name)
{
    for (size_t i = 0; i < kept->count; i++)
        if (strcmp(kept->lines[i].name, name) == 0)
            return &kept->lines[i];
    return NULL;
}

void test_kept_check(struct test_kept *kept, const char *name, uint64_t digest, uint64_t hash)
{
    char digests[40];
    struct line *line = line_of(kept, name);
    (void)snprintf(digests, sizeof digests, "%016" PRIx64 " %016" PRIx64, digest, hash);
    if (kept->is_update && line == NULL && kept->count < LINES) {
        line = &kept->lines[kept->count++];
        (void)snprintf(line->name, sizeof line->name, "%s", name);
        memcpy(line->digests, digests, sizeof digests);
    }
    const bool is_same = line != NULL && strcmp(line->digests, digests) == 0;
    if (!is_same)
        printf("    %s of tests/%s: %s, kept %s\n", name, kept->relative, digests,
               line == NULL ? "is nothing" : line->digests);
    CHECK(is_same);
    if (line != NULL)
        line->is_met = true;
}

static void write_all(const struct test_kept *kept)
{
    FILE *file = fopen(test_data(kept->relative), "w");
    CHECK(file != NULL);
    if (file == NULL)
        return;
    (void)fputs("# SPDX-License-Identifier: GPL-3.0-or-later\n"
                "# Results when they were last reviewed; see tests/support/kept.h.\n",
                file);
    for (size_t i = 0; i < kept->metrics_count; i++)
        (void)fprintf(file, "metric %s\n", kept->metrics[i]);
    for (size_t i = 0; i < kept->count; i++)
        (void)fprintf(file, "%s %s\n", kept->lines[i].name, kept->lines[i].digests);
    CHECK_I64(fclose(file), 0);
}

void test_kept_close(struct test_kept *kept)
{
    for (size_t i = 0; i < kept->count; i++) {
        if (!kept->lines[i].is_met)
            printf("    %s of tests/%s is no run any more\n", kept->lines[i].name, kept->relative);
        CHECK(kept->lines[i].is_met);
    }
    if (kept->is_update)
        write_all(kept);
    free(kept);
}
