/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Windows: parts of a run that results are also given for, as before, during and after an outage.
 *
 *   before: "..11:03"            up to a moment
 *   outage: "11:03..11:43"       between two
 *   after: "11:43.."             from a moment on
 *   outage: "node_down n-3"      an entry of the timeline, from its beginning to its end
 *   after: "timeline.."          from the end of the last entry on
 *
 * A moment is whatever the one reader of moments takes: since the start, a time of day, a stamp. A
 * side may name an entry of the timeline instead, by its action and, where that is not enough, its
 * target, or all of them by the word timeline: "..X" ends where X begins, "X.." begins where X
 * ends, "X..Y" goes from the beginning of X to the end of Y.
 *
 * Invariant: windows lie in the order of time, do not overlap, begin after the warm-up and are the
 * same moments in every variant.
 */
#ifndef SIM_SCENARIO_WINDOWS_H
#define SIM_SCENARIO_WINDOWS_H

#include <stddef.h>
#include <stdint.h>

enum { SIM_WINDOWS_MOST = 16 };

struct sim_window {
    char *name;
    int64_t from_ns, to_ns; /* SIM_TIME_MAX = to the end of the run */
};

struct sim_resolver;
struct sim_scenario;
struct sim_yaml;

/* After the timeline and the end of the warm-up. */
void sim_resolve_windows(struct sim_resolver *resolver);
const struct sim_window *sim_window_find(const struct sim_scenario *scenario, const char *name);

/* Which names there are, for a message about another one: a near one, or NULL. */
const char *sim_window_near(const struct sim_resolver *resolver, const char *name);

#endif
