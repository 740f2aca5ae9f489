/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Windows: their moments, found once and written back as time since the start, so that the
 * canonical text means the same whatever a variant does to the timeline. See windows.h.
 */
#include "sim/engine/time.h"
#include "sim/scenario/read/quantity.h"
#include "sim/scenario/resolve/resolve.h"

#include <math.h>
#include <string.h>

/* One side of a span: a moment is a stretch of no length. */
struct stretch {
    int64_t from_ns, to_ns;
};

/* ---- entries of the timeline ---- */

/* What is down for good comes back with an `up` of the same thing. */
static bool is_back(const struct draft_event *down, const struct draft_event *up)
{
    static const uint32_t pairs[][2] = { { SIM_ACTION_NODE_DOWN, SIM_ACTION_NODE_UP },
                                         { SIM_ACTION_NIC_DOWN, SIM_ACTION_NIC_UP },
                                         { SIM_ACTION_STORE_DOWN, SIM_ACTION_STORE_UP } };
    const char *a = down->node != NULL ? down->node : down->store;
    const char *b = up->node != NULL ? up->node : up->store;
    for (size_t i = 0; i < sizeof pairs / sizeof pairs[0]; i++)
        if (down->to.action == pairs[i][0] && up->to.action == pairs[i][1])
            return a != NULL && b != NULL && strcmp(a, b) == 0;
    return false;
}

static bool is_moment(uint32_t action)
{
    return action == SIM_ACTION_BURST || action == SIM_ACTION_NODE_UP ||
           action == SIM_ACTION_NIC_UP || action == SIM_ACTION_STORE_UP;
}

static int64_t end_of(const struct draft_event *events, size_t count, size_t index)
{
    const struct draft_event *event = &events[index];
    if (event->to.for_ns != SIM_ABSENT_TIME)
        return event->to.at_ns + event->to.for_ns;
    if (is_moment(event->to.action))
        return event->to.at_ns;
    int64_t end_ns = SIM_TIME_MAX; /* entries are in the order of the file, not of time */
    for (size_t i = 0; i < count; i++)
        if (is_back(event, &events[i]) && events[i].to.at_ns > event->to.at_ns &&
            events[i].to.at_ns < end_ns)
            end_ns = events[i].to.at_ns;
    return end_ns;
}

/* "node_down n-3" is called so, and node_down too. */
static bool is_called(struct sim_resolver *resolver, const struct draft_event *event,
                      const char *word)
{
    const char *name = sim_event_name(resolver->arena, event);
    const size_t length = strcspn(name, " ");
    return strcmp(word, "timeline") == 0 || strcmp(name, word) == 0 ||
           (strlen(word) == length && strncmp(name, word, length) == 0);
}

static bool find_entries(struct sim_resolver *resolver, const char *word, struct stretch *found)
{
    const struct draft_list *list = &resolver->draft->timeline;
    const struct draft_event *events = list->items;
    bool is_found = false;
    for (size_t i = 0; i < list->count; i++) {
        if (events[i].to.action == SIM_ABSENT_COUNT || events[i].to.at_ns == SIM_ABSENT_TIME ||
            !is_called(resolver, &events[i], word))
            continue;
        const int64_t end_ns = end_of(events, list->count, i);
        if (!is_found || events[i].to.at_ns < found->from_ns)
            found->from_ns = events[i].to.at_ns;
        if (!is_found || end_ns > found->to_ns)
            found->to_ns = end_ns;
        is_found = true;
    }
    return is_found;
}

static const char *near_entry(struct sim_resolver *resolver, const char *word)
{
    const struct draft_list *list = &resolver->draft->timeline;
    const struct draft_event *events = list->items;
    const char **names = sim_arena_alloc(resolver->arena, 2 * list->count + 1, sizeof *names);
    size_t count = 0;
    for (size_t i = 0; i < list->count; i++) {
        if (events[i].to.action == SIM_ABSENT_COUNT)
            continue;
        const char *name = sim_event_name(resolver->arena, &events[i]);
        names[count++] = name;
        names[count++] = sim_arena_text(resolver->arena, name, strcspn(name, " "));
    }
    names[count++] = "timeline";
    return sim_near_name(word, names, count);
}

/* ---- moments ---- */

static weir_status read_moment(const struct sim_resolver *resolver, const char *text, double *at_s,
                               struct weir_error *error)
{
    if (resolver->moment_since != NULL)
        return resolver->moment_since(text, resolver->scenario->start_unix_s, at_s, error);
    return sim_quantity_parse(text, SIM_UNIT_TIME, at_s, error);
}

static bool is_word(const char *text)
{
    return (text[0] >= 'a' && text[0] <= 'z') || (text[0] >= 'A' && text[0] <= 'Z');
}

static bool read_side(struct sim_resolver *resolver, const struct sim_yaml *at, const char *text,
                      struct stretch *side)
{
    struct weir_error error = { .phase = -1 };
    double at_s = 0;
    if (find_entries(resolver, text, side))
        return true;
    if (is_word(text)) {
        sim_report_near(resolver->report, at, SIM_AT_VALUE, near_entry(resolver, text),
                        "no entry of the timeline is called '%s' (action, or action and target)",
                        text);
        return false;
    }
    if (read_moment(resolver, text, &at_s, &error) != WEIR_OK)
        return sim_report_error(resolver->report, at, "%s", error.text);
    if (at_s < 0 || !isfinite(at_s))
        return sim_report_error(resolver->report, at, "'%s' lies before the start of the run",
                                text);
    side->from_ns = side->to_ns = sim_time_from_s(at_s);
    return true;
}

/* ---- spans ---- */

static char *trimmed(struct sim_resolver *resolver, const char *from, const char *to)
{
    while (from < to && *from == ' ')
        from++;
    while (to > from && to[-1] == ' ')
        to--;
    return sim_arena_text(resolver->arena, from, (size_t)(to - from));
}

static bool read_span(struct sim_resolver *resolver, const struct sim_yaml *at, const char *span,
                      struct sim_window *window)
{
    const char *dots = strstr(span, "..");
    const char *end = span + strlen(span);
    const char *left = trimmed(resolver, span, dots == NULL ? end : dots);
    const char *right = dots == NULL ? "" : trimmed(resolver, dots + 2, end);
    struct stretch first = { resolver->scenario->warmup_ns, resolver->scenario->warmup_ns };
    struct stretch last = { SIM_TIME_MAX, SIM_TIME_MAX };
    if (left[0] == '\0' && right[0] == '\0')
        return sim_report_error(resolver->report, at,
                                "expected a span as \"11:03..11:43\", \"..11:03\" or \"11:43..\", "
                                "found '%s'",
                                span);
    if (left[0] != '\0' && !read_side(resolver, at, left, &first))
        return false;
    if (right[0] != '\0' && !read_side(resolver, at, right, &last))
        return false;
    if (dots == NULL && first.from_ns == first.to_ns)
        return sim_report_error(resolver->report, at,
                                "'%s' is a moment; a window is a span, as \"%s..\"", span, span);
    window->from_ns = right[0] == '\0' && dots != NULL ? first.to_ns : first.from_ns;
    window->to_ns = dots == NULL ? first.to_ns : left[0] == '\0' ? last.from_ns : last.to_ns;
    return true;
}

static const char *moment_text(struct sim_resolver *resolver, int64_t at_ns)
{
    return at_ns == SIM_TIME_MAX
               ? ""
               : sim_arena_printf(resolver->arena, "%ss",
                                  sim_quantity_number(resolver->arena, sim_time_s(at_ns)));
}

static bool check_window(struct sim_resolver *resolver, const struct draft_window *draft,
                         const struct sim_window *window)
{
    const struct sim_scenario *scenario = resolver->scenario;
    const struct sim_yaml *at = draft->head.node;
    if (window->from_ns >= window->to_ns)
        return sim_report_error(resolver->report, at, "'%s' ends before it begins, or is empty",
                                draft->span);
    if (window->from_ns < scenario->warmup_ns)
        return sim_report_error(resolver->report, at,
                                "begins in the warm-up, which results leave out (until %s)",
                                sim_quantity_time(resolver->arena, scenario->warmup_ns));
    if (window->from_ns >= scenario->horizon_ns ||
        (window->to_ns != SIM_TIME_MAX && window->to_ns > scenario->horizon_ns))
        return sim_report_error(resolver->report, at, "lies outside the run, which ends at %s",
                                sim_quantity_time(resolver->arena, scenario->horizon_ns));
    return true;
}

static bool check_name(struct sim_resolver *resolver, const struct draft_window *draft)
{
    const char *name = draft->head.name;
    if (strpbrk(name, "@:[]") != NULL)
        return sim_report_error(resolver->report, draft->head.node,
                                "the name of a window has none of @ : [ ]");
    for (size_t i = 0; i < resolver->draft->compare.count; i++) {
        const struct draft_variant *variants = resolver->draft->compare.items;
        if (variants[i].label != NULL && strcmp(variants[i].label, name) == 0)
            return sim_report_error(resolver->report, draft->head.node,
                                    "a variant is called '%s' too; conditions could not tell them "
                                    "apart",
                                    name);
    }
    return true;
}

/* In the order of the file, which is that of time. */
static bool check_order(struct sim_resolver *resolver, const struct draft_window *draft,
                        const struct sim_window *before, const struct sim_window *window)
{
    if (window->from_ns >= before->to_ns)
        return true;
    return sim_report_error(resolver->report, draft->head.node,
                            window->to_ns <= before->from_ns
                                ? "stands behind '%s', which is later: windows are listed in the "
                                  "order of time"
                                : "overlaps '%s'",
                            before->name);
}

static void resolve_window(struct sim_resolver *resolver, struct draft_window *draft)
{
    struct sim_scenario *scenario = resolver->scenario;
    struct sim_window *window = &scenario->windows[scenario->windows_count];
    if (draft->span == NULL || !check_name(resolver, draft) ||
        !read_span(resolver, draft->head.node, draft->span, window))
        return;
    window->name = draft->head.name;
    if (!check_window(resolver, draft, window) ||
        (scenario->windows_count > 0 && !check_order(resolver, draft, window - 1, window)))
        return;
    draft->span =
        sim_arena_printf(resolver->arena, "%s..%s", moment_text(resolver, window->from_ns),
                         moment_text(resolver, window->to_ns));
    scenario->windows_count++;
}

/* A variant that changes the timeline is measured over the moments of the baseline. */
static bool take_baseline(struct sim_resolver *resolver)
{
    struct sim_scenario *scenario = resolver->scenario;
    const struct sim_scenario *baseline = resolver->baseline;
    struct draft_list *list = &resolver->draft->windows;
    struct draft_window *drafts = list->items;
    if (baseline == NULL || baseline->windows_count != list->count)
        return false;
    for (size_t i = 0; i < list->count; i++)
        if (strcmp(drafts[i].head.name, baseline->windows[i].name) != 0)
            return false;
    for (size_t i = 0; i < list->count; i++) {
        scenario->windows[i] = baseline->windows[i];
        scenario->windows[i].name = drafts[i].head.name;
        drafts[i].span = sim_arena_printf(resolver->arena, "%s..%s",
                                          moment_text(resolver, baseline->windows[i].from_ns),
                                          moment_text(resolver, baseline->windows[i].to_ns));
    }
    scenario->windows_count = list->count;
    return true;
}

void sim_resolve_windows(struct sim_resolver *resolver)
{
    struct sim_scenario *scenario = resolver->scenario;
    struct draft_list *list = &resolver->draft->windows;
    struct draft_window *drafts = list->items;
    scenario->windows =
        sim_arena_alloc(resolver->arena, list->count + 1, sizeof *scenario->windows);
    if (list->count > SIM_WINDOWS_MOST) {
        sim_report_error(resolver->report, drafts[SIM_WINDOWS_MOST].head.node,
                         "there are at most %d windows", SIM_WINDOWS_MOST);
        return;
    }
    if (list->count > 0 && take_baseline(resolver))
        return;
    for (size_t i = 0; i < list->count; i++)
        resolve_window(resolver, &drafts[i]);
}

const struct sim_window *sim_window_find(const struct sim_scenario *scenario, const char *name)
{
    for (size_t i = 0; i < scenario->windows_count; i++)
        if (strcmp(scenario->windows[i].name, name) == 0)
            return &scenario->windows[i];
    return NULL;
}

const char *sim_window_near(const struct sim_resolver *resolver, const char *name)
{
    const struct sim_scenario *scenario = resolver->scenario;
    const char *names[SIM_WINDOWS_MOST];
    for (size_t i = 0; i < scenario->windows_count; i++)
        names[i] = scenario->windows[i].name;
    return sim_near_name(name, names, scenario->windows_count);
}
