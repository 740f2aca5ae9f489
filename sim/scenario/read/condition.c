/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Conditions; see the header. */
#include "sim/scenario/read/condition.h"

#include "sim/scenario/read/quantity.h"

#include <math.h>
#include <string.h>

/* The parts of a condition, without blanks around them; length 0 = not there. */
struct part {
    const char *text;
    int length;
};

struct parts {
    struct part variant, window, metric, of, op, bound, tolerance;
};

static struct part trimmed(const char *from, const char *to)
{
    while (from < to && *from == ' ')
        from++;
    while (to > from && to[-1] == ' ')
        to--;
    return (struct part){ from, (int)(to - from) };
}

/* The operator: its first character and where what follows begins; NULL = there is none. */
static const char *find_op(const char *text, const char **after)
{
    const char *op = strpbrk(text, "<>=");
    const char *near_op = strstr(text, " near ");
    if (near_op != NULL && (op == NULL || near_op < op)) {
        *after = near_op + 6;
        return near_op + 1;
    }
    if (op != NULL)
        *after = op + (op[0] != '=' && op[1] == '=' ? 2 : 1);
    return op;
}

static bool split(const char *text, struct parts *parts)
{
    const char *after = NULL;
    const char *op = find_op(text, &after);
    if (op == NULL)
        return false;
    const char *colon = memchr(text, ':', (size_t)(op - text));
    const char *second = colon == NULL ? NULL : memchr(colon + 1, ':', (size_t)(op - colon - 1));
    const char *name = second != NULL ? second + 1 : colon != NULL ? colon + 1 : text;
    const char *open = memchr(name, '[', (size_t)(op - name));
    const char *close = open == NULL ? NULL : memchr(open, ']', (size_t)(op - open));
    const char *tolerance = strstr(after, "+-");
    const char *end = after + strlen(after);
    *parts = (struct parts){ .metric = trimmed(name, open == NULL ? op : open),
                             .op = trimmed(op, after),
                             .bound = trimmed(after, tolerance == NULL ? end : tolerance) };
    if (colon != NULL)
        parts->variant = trimmed(text, colon);
    if (second != NULL)
        parts->window = trimmed(colon + 1, second);
    if (close != NULL)
        parts->of = trimmed(open + 1, close);
    if (tolerance != NULL)
        parts->tolerance = trimmed(tolerance + 2, end);
    return parts->metric.length > 0 && parts->bound.length > 0 && (open == NULL) == (close == NULL);
}

static char *copy_of(const struct sim_resolver *resolver, struct part part)
{
    return part.length == 0 ? NULL
                            : sim_arena_text(resolver->arena, part.text, (size_t)part.length);
}

static uint32_t op_of(struct part op)
{
    static const struct {
        const char *text;
        enum sim_expect_op op;
    } ops[] = { { "<", SIM_EXPECT_LT },  { "<=", SIM_EXPECT_LE }, { ">", SIM_EXPECT_GT },
                { ">=", SIM_EXPECT_GE }, { "=", SIM_EXPECT_EQ },  { "near", SIM_EXPECT_NEAR } };
    for (size_t i = 0; i < sizeof ops / sizeof ops[0]; i++)
        if ((int)strlen(ops[i].text) == op.length &&
            strncmp(ops[i].text, op.text, (size_t)op.length) == 0)
            return ops[i].op;
    return SIM_ABSENT_COUNT;
}

static const char *plain_id(const struct sim_resolver *resolver, const struct sim_yaml *node,
                            const char *name, const char **unit)
{
    const char *near = NULL;
    *unit = "";
    if (resolver->metric_named == NULL)
        return name;
    const char *id = resolver->metric_named(name, unit, &near);
    if (strchr(id, '.') == NULL && (*unit)[0] == '\0') /* not all ids with a dot are known here */
        sim_report_near(resolver->report, node, SIM_AT_VALUE, near, "there is no metric '%s'",
                        name);
    return id; /* cppcheck-suppress returnDanglingLifetime ; it is not in `near` */
}

static const char *of_window(const struct sim_resolver *resolver, const struct sim_yaml *node,
                             const char *id, const char *window)
{
    if (sim_window_find(resolver->scenario, window) == NULL)
        sim_report_near(resolver->report, node, SIM_AT_VALUE, sim_window_near(resolver, window),
                        resolver->scenario->windows_count == 0
                            ? "there is no window '%s': the scenario has no windows"
                            : "there is no window '%s'",
                        window);
    return sim_arena_printf(resolver->arena, "%s@%s", id, window);
}

const char *sim_metric_id(const struct sim_resolver *resolver, const struct sim_yaml *node,
                          const char *name, const char **unit)
{
    const char *end = name + strlen(name);
    const char *colon = strchr(name, ':');
    const char *sign = strrchr(name, '@');
    if (colon == NULL && sign == NULL)
        return plain_id(resolver, node, name, unit);
    const struct part metric = colon != NULL ? trimmed(colon + 1, end) : trimmed(name, sign);
    const struct part window = colon != NULL ? trimmed(name, colon) : trimmed(sign + 1, end);
    const char *id = plain_id(
        resolver, node, sim_arena_text(resolver->arena, metric.text, (size_t)metric.length), unit);
    return of_window(resolver, node, id,
                     sim_arena_text(resolver->arena, window.text, (size_t)window.length));
}

static bool is_variant(const struct sim_resolver *resolver, const char *name)
{
    const struct sim_scenario *scenario = resolver->scenario;
    for (size_t i = 0; i < scenario->variants_count; i++)
        if (scenario->variants[i].label != NULL && strcmp(scenario->variants[i].label, name) == 0)
            return true;
    return false;
}

/* A number with a sign and a percent is a change against the baseline. */
static bool is_change(const char *bound)
{
    const size_t length = strlen(bound);
    return (bound[0] == '+' || bound[0] == '-') && bound[length - 1] == '%';
}

static bool read_bound(struct sim_resolver *resolver, struct draft_expect *draft, char *bound,
                       const char *unit)
{
    const struct sim_scenario *scenario = resolver->scenario;
    struct weir_error error = { .phase = -1 };
    double value = 0;
    if (is_variant(resolver, bound)) {
        draft->to.than_variant = bound;
        return true;
    }
    if (sim_quantity_parse(bound, SIM_UNIT_ANY, &value, &error) != WEIR_OK)
        return sim_report_error(resolver->report, draft->head.node,
                                "'%s' is neither a value nor a variant (%s)", bound, error.text);
    if (is_change(bound)) {
        if (scenario->variants_count < 2)
            return sim_report_error(resolver->report, draft->head.node,
                                    "'%s' is a change against the baseline, and there are no "
                                    "variants under compare",
                                    bound);
        draft->to.than_variant = scenario->variants[0].label;
        draft->to.times = 1 + value;
        return true;
    }
    const bool is_percent = strcmp(unit, "%") == 0 && strchr(bound, '%') != NULL;
    draft->to.value = is_percent ? 100 * value : value;
    return true;
}

/* One name in front is that of a variant or of a window. */
static bool settle_names(struct sim_resolver *resolver, const struct draft_expect *draft,
                         const char **variant, const char **window)
{
    if (*variant == NULL || *window != NULL || is_variant(resolver, *variant))
        return true;
    if (sim_window_find(resolver->scenario, *variant) != NULL) {
        *window = *variant;
        *variant = NULL;
        return true;
    }
    const char *near = sim_window_near(resolver, *variant);
    if (near == NULL)
        return true; /* who looks for variants says it */
    sim_report_near(resolver->report, draft->head.node, SIM_AT_VALUE, near,
                    "there is no variant and no window '%s'", *variant);
    return false;
}

bool sim_condition_read(struct sim_resolver *resolver, struct draft_expect *draft)
{
    struct parts parts;
    const char *text = draft->that;
    const char *unit = "";
    if (text == NULL)
        return true;
    draft->that = NULL;
    if (draft->to.metric != NULL || draft->to.op != SIM_ABSENT_COUNT)
        return sim_report_error(resolver->report, draft->head.node,
                                "a condition says metric and op itself");
    if (!split(text, &parts) || op_of(parts.op) == SIM_ABSENT_COUNT)
        return sim_report_error(resolver->report, draft->head.node,
                                "expected a condition as \"latency p95 <= 30 min\" or \"fix: "
                                "throughput > broken\", found '%s'",
                                text);
    const char *variant = copy_of(resolver, parts.variant);
    const char *window = copy_of(resolver, parts.window);
    if (!settle_names(resolver, draft, &variant, &window))
        return false;
    draft->to.op = op_of(parts.op);
    draft->to.variant = variant == NULL ? NULL : sim_arena_copy(resolver->arena, variant);
    draft->to.of = copy_of(resolver, parts.of);
    draft->tol = copy_of(resolver, parts.tolerance);
    const char *id =
        sim_metric_id(resolver, draft->head.node, copy_of(resolver, parts.metric), &unit);
    draft->to.metric = sim_arena_copy(
        resolver->arena, window == NULL ? id : of_window(resolver, draft->head.node, id, window));
    return read_bound(resolver, draft, copy_of(resolver, parts.bound), unit);
}
