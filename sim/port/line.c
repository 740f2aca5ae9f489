/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The shared page and its turns (see line.h). */
#include "sim/port/line.h"

#include <linux/futex.h>
#include <sched.h>
#include <stdatomic.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

enum { PAGE_BYTES = 1 << 20, LOOK_NS = 20000000 };

struct sim_line_page {
    _Atomic uint32_t turn;         /* enum sim_line_side */
    _Atomic uint32_t is_asleep[2]; /* by side: needs to be woken */
    _Atomic uint32_t length, is_last;
    unsigned char bytes[PAGE_BYTES];
};

weir_status sim_line_open(struct sim_line *line)
{
    void *page =
        mmap(NULL, sizeof *line->page, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (page == MAP_FAILED)
        return WEIR_ENOMEM;
    *line = (struct sim_line){ .page = page, .side = SIM_LINE_WEIR, .processor = -1 };
    return WEIR_OK;
}

void sim_line_close(struct sim_line *line)
{
    if (line->page != NULL)
        (void)munmap(line->page, sizeof *line->page);
    line->page = NULL;
}

static int64_t clock_ns(void)
{
    struct timespec now;
    (void)clock_gettime(CLOCK_MONOTONIC, &now);
    return (int64_t)now.tv_sec * 1000000000 + now.tv_nsec;
}

static bool is_mine(const struct sim_line *line)
{
    return atomic_load_explicit(&line->page->turn, memory_order_acquire) == line->side;
}

/* At most until the next look around. */
static void sleep_shortly(const struct sim_line *line)
{
    const struct timespec most = { .tv_nsec = LOOK_NS };
    const uint32_t other = 1 - line->side;
    atomic_store(&line->page->is_asleep[line->side], 1);
    if (!is_mine(line))
        (void)syscall(SYS_futex, &line->page->turn, FUTEX_WAIT, other,
                      line->is_over != NULL ? &most : NULL, NULL, 0);
    atomic_store(&line->page->is_asleep[line->side], 0);
}

static weir_status await_turn(struct sim_line *line)
{
    const int64_t begin_ns = line->timeout_s > 0 ? clock_ns() : 0;
    while (!is_mine(line)) {
        sleep_shortly(line);
        if (is_mine(line))
            break;
        if (line->is_over != NULL && line->is_over(line->state))
            return WEIR_EPOLICY;
        line->is_late =
            line->timeout_s > 0 && clock_ns() - begin_ns > (int64_t)line->timeout_s * 1000000000;
        if (line->is_late)
            return WEIR_EPOLICY;
    }
    return WEIR_OK;
}

/* To where this process is: one of the two sleeps always, and to wake a processor that sleeps takes
 * longer than to change over. */
static void call_near(struct sim_line *line)
{
    const int here = sched_getcpu();
    cpu_set_t set;
    if (line->peer == 0 || here < 0 || here == line->processor)
        return;
    line->processor = here;
    CPU_ZERO(&set);
    CPU_SET((unsigned)here, &set);
    (void)sched_setaffinity(line->peer, sizeof set, &set);
}

/* Gives the page away. */
static void give(struct sim_line *line, uint32_t length, bool is_last)
{
    struct sim_line_page *page = line->page;
    const uint32_t other = 1 - line->side;
    call_near(line);
    atomic_store_explicit(&page->length, length, memory_order_relaxed);
    atomic_store_explicit(&page->is_last, is_last, memory_order_relaxed);
    atomic_store(&page->turn, other);
    if (atomic_load(&page->is_asleep[other]) != 0)
        (void)syscall(SYS_futex, &page->turn, FUTEX_WAKE, 1, NULL, NULL, 0);
}

static weir_status hand_over(struct sim_line *line, uint32_t length, bool is_last)
{
    give(line, length, is_last);
    return await_turn(line);
}

void sim_line_end(struct sim_line *line)
{
    give(line, 0, true);
}

/* What the other one left on it. */
static void look_at(struct sim_line *line)
{
    const uint32_t length = atomic_load_explicit(&line->page->length, memory_order_relaxed);
    line->is_last = atomic_load_explicit(&line->page->is_last, memory_order_relaxed) != 0;
    line->length = length <= PAGE_BYTES ? length : PAGE_BYTES;
    line->place = 0;
}

void sim_line_speak(struct sim_line *line)
{
    line->place = 0;
}

weir_status sim_line_listen(struct sim_line *line)
{
    WEIR_TRY(await_turn(line));
    look_at(line);
    return WEIR_OK;
}

weir_status sim_line_put(struct sim_line *line, const void *bytes, size_t size)
{
    const unsigned char *from = bytes;
    if (line->page == NULL)
        return WEIR_EPOLICY;
    while (size > 0) {
        if (line->place == PAGE_BYTES) {
            WEIR_TRY(hand_over(line, line->place, false));
            line->place = 0;
        }
        const size_t room = PAGE_BYTES - line->place;
        const size_t part = size < room ? size : room;
        memcpy(line->page->bytes + line->place, from, part);
        line->place += (uint32_t)part;
        from += part;
        size -= part;
    }
    return WEIR_OK;
}

weir_status sim_line_pass(struct sim_line *line)
{
    if (line->page == NULL)
        return WEIR_EPOLICY;
    WEIR_TRY(hand_over(line, line->place, true));
    line->heard = 0;
    look_at(line);
    return WEIR_OK;
}

weir_status sim_line_get(struct sim_line *line, void *bytes, size_t size)
{
    unsigned char *to = bytes;
    if (line->page == NULL)
        return WEIR_EPOLICY;
    line->heard += size;
    while (size > 0) {
        if (line->place == line->length) {
            if (line->is_last)
                return WEIR_EPOLICY;
            WEIR_TRY(hand_over(line, 0, false));
            look_at(line);
            if (line->length == 0)
                return WEIR_EPOLICY;
        }
        const size_t left = line->length - line->place;
        const size_t part = size < left ? size : left;
        memcpy(to, line->page->bytes + line->place, part);
        line->place += (uint32_t)part;
        to += part;
        size -= part;
    }
    return WEIR_OK;
}
