/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * libweir-json in a process whose memory ends: the n-th allocation fails, its own, libweir's and
 * jansson's alike, for some n, and with WEIR_SLOW for every one. An answer is what it is
 * undisturbed or NULL; after that there is none; the process lives on.
 */
#include "tests/support/check.h"
#include "weir/json.h"

#include <dlfcn.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#ifdef __SANITIZE_ADDRESS__ /* it has an allocator of its own */

static void memory_ends(void)
{
    test_skip("a sanitizer has an allocator of its own");
}

#else

/* ---- memory that ends ---- */

#define FOR_ALL __attribute__((visibility("default"))) /* libraries find them first */

extern void *__libc_malloc(size_t size);
extern void *__libc_calloc(size_t count, size_t size);
extern void *__libc_realloc(void *old, size_t size);

static struct {
    uint64_t count, fails; /* so many were asked for; this one fails, 0 = none does */
    bool goes_on;          /* and all later ones */
} memory;

static bool is_short(void)
{
    const uint64_t now = ++memory.count;
    const bool fails =
        memory.fails > 0 && (now == memory.fails || (memory.goes_on && now > memory.fails));
    if (fails)
        errno = ENOMEM;
    return fails;
}

FOR_ALL void *malloc(size_t size)
{
    return is_short() ? NULL : __libc_malloc(size);
}

FOR_ALL void *calloc(size_t count, size_t size)
{
    return is_short() ? NULL : __libc_calloc(count, size);
}

FOR_ALL void *realloc(void *old, size_t size)
{
    return is_short() ? NULL : __libc_realloc(old, size);
}

/* ---- a session ---- */

#define HEAD "{\"format\":\"weir-decision\",\"version\":3,\"command\":"
#define NODES                                                                                      \
    "\"nodes\":[{\"id\":\"first-node-with-a-long-name\",\"cpus\":64,\"gpus\":8},{\"id\":\"n-1\","  \
    "\"cpus\":64,\"gpus\":8}]"
static const char *const documents[] = {
    HEAD "\"autoscale\"," NODES ",\"stages\":[{\"name\":\"read\",\"batch_size\":1,\"shape\":{"
         "\"type\":\"cpu_only\",\"cpus\":1}},"
         "{\"name\":\"infer\",\"batch_size\":1,\"shape\":{\"type\":\"fractional_gpu\",\"gpus\":0."
         "25,\"cpus\":1}}],"
         "\"estimates\":[{\"batches_per_s\":1},{\"batches_per_s\":0.5}],"
         "\"policy\":{\"placement\":\"fgd\",\"scaling\":\"xenna\"}}",
    HEAD "\"autoscale\"," NODES ",\"stages\":[],\"workloads\":[{\"name\":\"day\"}],"
         "\"job_kinds\":[{\"groups\":[{\"ranks\":2,\"shape\":{\"type\":\"whole_gpu\",\"gpus\":2,"
         "\"cpus\":4}}]}],"
         "\"policy\":{\"placement\":\"best_fit\",\"scaling\":\"fixed\",\"queueing\":\"easy\"}}",
    HEAD "\"next\",\"time_ns\":1000,\"causes\":[\"jobs\"],\"submitted\":[{\"workload\":0,\"id\":1,"
         "\"kind\":0,"
         "\"estimate_ns\":1000000000},{\"workload\":0,\"id\":2,\"kind\":0}]}",
    HEAD "\"autoscale\",\"nods\":[],\"stages\":7}",
    HEAD
    "\"next\",\"time_ns\":2000,\"carried_out\":true,\"new_nodes\":[{\"id\":\"late\",\"cpus\":8,"
    "\"gpus\":1}],"
    "\"job_kinds\":[{\"groups\":[{\"ranks\":1,\"shape\":{\"type\":\"cpu_only\",\"cpus\":2}}]}],"
    "\"submitted\":[{\"workload\":0,\"id\":3,\"kind\":1}]}",
    HEAD "\"next\",\"time_ns\":1}",
};
enum { DOCUMENTS = sizeof documents / sizeof documents[0], TEXTS = DOCUMENTS + 1, STEPS = 40 };

static struct {
    struct weir_json *(*open)(void);
    void (*close)(struct weir_json *session);
    const char *(*answer)(struct weir_json *session, const char *document);
    const char *(*state)(struct weir_json *session);
} library;

/* The shared library itself: what the program has besides is not in it. */
static bool load(void)
{
    const char *program = getenv("WEIR_BIN");
    char path[4096];
    if (program == NULL)
        return false;
    (void)snprintf(path, sizeof path, "%.*s/lib/libweir-json.so",
                   (int)(strrchr(program, '/') - program), program);
    void *opened = dlopen(path, RTLD_NOW | RTLD_LOCAL);
    if (opened == NULL)
        return false;
    *(void **)&library.open = dlsym(opened, "weir_json_open");
    *(void **)&library.close = dlsym(opened, "weir_json_close");
    *(void **)&library.answer = dlsym(opened, "weir_json_answer");
    *(void **)&library.state = dlsym(opened, "weir_json_state");
    return true;
}

/* All that a session says, told to `take`: the answers and the state at the end. */
static void hold_session(uint64_t fails, bool goes_on, void (*take)(size_t at, const char *text))
{
    memory.count = 0;
    memory.goes_on = goes_on;
    memory.fails = fails;
    struct weir_json *session = library.open();
    for (size_t i = 0; session != NULL && i < TEXTS; i++) {
        const char *text =
            i < DOCUMENTS ? library.answer(session, documents[i]) : library.state(session);
        const uint64_t fails_now = memory.fails;
        memory.fails = 0;
        take(i, text);
        memory.fails = fails_now;
    }
    library.close(session);
    memory.fails = 0;
}

static char *good[TEXTS];
static size_t wrong, none;
static bool has_ended;

static void keep(size_t at, const char *text)
{
    good[at] = text == NULL ? NULL : strdup(text);
}

static void compare(size_t at, const char *text)
{
    none += text == NULL;
    wrong += text == NULL ? 0 : has_ended || strcmp(text, good[at]) != 0;
    has_ended |= text == NULL;
}

static void memory_ends(void)
{
    const bool is_loaded = load();
    if (!is_loaded || memory.count == 0) {
        test_skip(is_loaded ? "valgrind has an allocator of its own"
                            : "no libweir-json beside the program");
        return;
    }
    hold_session(0, false, keep);
    const uint64_t count = memory.count;
    CHECK(count > 1000);
    for (size_t i = 0; i < TEXTS; i++) {
        CHECK(good[i] != NULL);
        CHECK(i == 3 || i == 5 || strstr(good[i], "error") == NULL);
    }
    for (uint64_t n = 1; n <= count; n += test_is_slow() ? 1 : 1 + n / STEPS) {
        has_ended = false;
        hold_session(n, n % 2 == 0, compare);
    }
    CHECK_I64(wrong, 0);
    CHECK(none >= TEXTS);
    has_ended = false;
    hold_session(0, false, compare);
    CHECK(!has_ended && wrong == 0);
    for (size_t i = 0; i < TEXTS; i++)
        free(good[i]);
}

#endif

static const struct test tests[] = {
    { "a session of libweir-json tells nothing wrong when memory ends, and ends nothing",
      memory_ends },
};
TEST_MAIN(tests)
