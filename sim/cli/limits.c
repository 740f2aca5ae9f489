/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The limits by name (see limits.h). */
#include "sim/cli/limits.h"

#include "sim/scenario/read/diagnostic.h"

#include <argp.h>
#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>

static const struct limit {
    const char *name;
    size_t offset;
    uint64_t least, most;
} limits[] = {
    { "unpacked", offsetof(struct sim_limits, files.unpacked_mib), 1, 1 << 30 },
    { "scenario", offsetof(struct sim_limits, files.scenario_mib), 1, 1024 },
    { "policy_cpu", offsetof(struct sim_limits, policy_cpu_s), 1, 1 << 30 },
    { "policy_files", offsetof(struct sim_limits, policy_files), 8, 1 << 20 },
    { "run_cpu", offsetof(struct sim_limits, run_cpu_s), 1, 1 << 30 },
    { "line", offsetof(struct sim_limits, line_mib), 1, 1 << 20 },
    { "run_memory", offsetof(struct sim_limits, run_memory_mib), 16, 1 << 30 },
};
enum { LIMITS = sizeof limits / sizeof limits[0] };

static const struct limit *find(const char *word)
{
    const size_t length = strcspn(word, "=");
    for (size_t i = 0; i < LIMITS; i++)
        if (strlen(limits[i].name) == length && strncmp(limits[i].name, word, length) == 0)
            return &limits[i];
    return NULL;
}

/* The number behind the sign; 0 when it is none that is allowed. */
static uint64_t number_of(const struct limit *limit, const char *word)
{
    const char *text = strchr(word, '=') == NULL ? "" : strchr(word, '=') + 1;
    char *end = NULL;
    errno = 0;
    const unsigned long long number = strtoull(text, &end, 10);
    const bool is_number = text[0] >= '0' && text[0] <= '9' && *end == '\0' && errno == 0;
    return is_number && number >= limit->least && number <= limit->most ? number : 0;
}

static void check(const void *arguments, const struct argp_state *state)
{
    const struct sim_words *words = arguments;
    for (size_t i = 0; i < words->count; i++) {
        const char *word = words->items[i];
        const struct limit *limit = find(word);
        const char *names[LIMITS];
        for (size_t n = 0; n < LIMITS; n++)
            names[n] = limits[n].name;
        char name[64];
        (void)snprintf(name, sizeof name, "%.*s", (int)strcspn(word, "="), word);
        const char *near = sim_near_name(name, names, LIMITS);
        if (limit == NULL)
            argp_error(state, "--limit: there is no limit '%s'%s%s%s", name,
                       near == NULL ? "" : ": did you mean '", near == NULL ? "" : near,
                       near == NULL ? "" : "'?");
        else if (number_of(limit, word) == 0)
            argp_error(state, "--limit: '%s' is not %s=N with N from %llu to %llu", word,
                       limit->name, (unsigned long long)limit->least,
                       (unsigned long long)limit->most);
    }
}

struct sim_limits sim_limits_of(const struct sim_words *words)
{
    struct sim_limits made = { .policy_cpu_s = 0 };
    for (size_t i = 0; i < words->count; i++) {
        const struct limit *limit = find(words->items[i]);
        const uint64_t number = limit == NULL ? 0 : number_of(limit, words->items[i]);
        if (number > 0)
            memcpy((char *)&made + limit->offset, &number, sizeof number);
    }
    return made;
}

bool sim_limits_judge(const struct sim_limits *given, int wait_state, weir_status status,
                      char sentence[SIM_LIMIT_SENTENCE])
{
    const bool is_killed = WIFSIGNALED(wait_state);
    sentence[0] = '\0';
    if (given->run_cpu_s > 0 && is_killed && WTERMSIG(wait_state) == SIGXCPU)
        (void)snprintf(sentence, SIM_LIMIT_SENTENCE,
                       "it took more than %llu s on the processor (--limit run_cpu)",
                       (unsigned long long)given->run_cpu_s);
    else if (given->run_memory_mib > 0 && status == WEIR_ENOMEM && !is_killed)
        (void)snprintf(sentence, SIM_LIMIT_SENTENCE,
                       "it wanted more than %llu MiB (--limit run_memory)",
                       (unsigned long long)given->run_memory_mib);
    return sentence[0] != '\0';
}

static const struct sim_option rows[] = {
    { "limit", 0, "NAME=N", .kind = SIM_OPTION_WORDS,
      .help =
          "Another limit than the default: unpacked=32 (MiB that any compressed file may give), "
          "scenario=8 (MiB of its text), policy_cpu=86400 (s of a module on the processor), "
          "policy_files=64 (that it has open), line=64 (MiB of a line of a session of decisions), "
          "run_cpu (s of a run on the processor) and "
          "run_memory "
          "(MiB it may address; both without a limit); may be repeated or joined by commas",
      .is_list = true },
};
const struct sim_option_table sim_limit_table = { SIM_OPTION_ROWS(rows), .check = check };
