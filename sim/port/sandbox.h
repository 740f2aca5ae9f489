/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * A process for code that weir did not build: a module, or the program of a policy.
 *
 *   weir's process ---- keeper (own session, takes in orphans) ---- the code (own session, limits)
 *
 * The keeper ends when the code ends, when it is told to, or when weir's process is gone, however
 * that ended; before it ends it kills everything that the code has started and waits until nothing
 * is left, also of what left its session or lost its parent.
 *
 * The code never holds a descriptor or a shared page of ours but those that it is given. A process
 * that signals one of weir's processes, or everybody, is killed. Code that is a module may moreover
 * start no process and no program, trace nobody, open no file but for reading and no socket; its
 * descriptors, its time on the processor and what it prints are limited. Against mistakes and
 * rudeness, not against an attacker: it may read what the user may read.
 */
#ifndef SIM_PORT_SANDBOX_H
#define SIM_PORT_SANDBOX_H

#include "weir/status.h"

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

enum { SIM_SANDBOX_TEXT = 256 };

/* What runs. `main` is called in the new process; what it returns is its exit code. */
struct sim_sandbox_task {
    int (*main)(void *state);
    void *state;
    int kept[2];          /* descriptors that stay open, -1 = none */
    const void *pages[2]; /* shared memory that stays, NULL = none */
    bool keeps_output;    /* of a module: it is not ours to keep */
    bool is_module;       /* the rules for modules hold; else those for programs */
    uint64_t memory_mib;  /* of a module; 0 = three quarters of the machine's */
    uint64_t cpu_s;       /* of a module, over its whole life; 0 = a day */
    uint32_t files;       /* of a module, open at once; 0 = 64 */
};

struct sim_sandbox_end;
struct sim_sandbox {
    pid_t keeper; /* 0 = none */
    int life;     /* open as long as it is to live */
    int output;   /* what a module printed */
    struct sim_sandbox_end *end;
};

/* WEIR_EPOLICY when no process can be had. A zeroed sandbox is one that has ended. */
weir_status sim_sandbox_start(const struct sim_sandbox_task *task, struct sim_sandbox *sandbox,
                              struct weir_error *error);
/* The process of the code; 0 = it is not there. */
pid_t sim_sandbox_code(const struct sim_sandbox *sandbox);
/* Whether the code has ended by itself. */
bool sim_sandbox_is_over(const struct sim_sandbox *sandbox);
/* Waits until it has, for so long at most. */
bool sim_sandbox_await(const struct sim_sandbox *sandbox, int64_t patience_ms);
/* Waits for its own end for so long, then ends it and all it started. Returns what waitpid() says
 * of the code. */
int sim_sandbox_stop(struct sim_sandbox *sandbox, int64_t patience_ms);
/* Why a process ended, as a part of a sentence: "it was killed by signal 11 (...)". */
void sim_sandbox_sentence(int wait_state, char text[SIM_SANDBOX_TEXT]);

/* For processes of weir that run a module themselves: no core files, and at most so much memory. */
void sim_sandbox_limit(uint64_t memory_mib);
/* For the process of a run: address space, and time on the processor, behind which SIGXCPU ends it;
 * 0 = as it was. */
void sim_sandbox_limit_run(uint64_t memory_mib, uint64_t cpu_s);

#endif
