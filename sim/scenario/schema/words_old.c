/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * What changed its place or its meaning since schema 1.
 *
 * `workloads` were static or in time: today they are `fill` and `jobs`. Their `kind` is the format
 * of the trace, or nothing when there are classes. A policy of placement had other defaults beside
 * jobs than beside pipelines: what it would have taken is written down. Keys that a fill or jobs in
 * time never looked at were let through, and are left out.
 */
#include "sim/scenario/schema/acts.h"
#include "sim/scenario/schema/schema_parts.h"
#include "sim/scenario/schema/words_parts.h"

#include <string.h>

static void drop(struct sim_words *words, struct sim_yaml *node)
{
    sim_rewrite_drop(words->rewrite, node);
    sim_yaml_remove(node);
}

/* A child of our own making, at the place of another node. */
static struct sim_yaml *make(struct sim_words *words, const struct sim_yaml *at, const char *key,
                             const char *text)
{
    struct sim_yaml *child =
        sim_yaml_new(words->arena, text == NULL ? SIM_YAML_MAPPING : SIM_YAML_SCALAR, text);
    child->key = sim_arena_copy(words->arena, key);
    child->mark = child->key_mark = at->mark;
    child->origin = at->origin;
    child->file = at->file;
    return child;
}

static struct sim_yaml *add(struct sim_words *words, struct sim_yaml *parent, const char *key,
                            const char *text)
{
    struct sim_yaml *child = make(words, parent, key, text);
    sim_yaml_append(parent, child);
    return child;
}

/* A further entry behind a single value; in the text too. */
static void add_behind(struct sim_words *words, struct sim_yaml *node, const char *key,
                       const char *text)
{
    sim_rewrite_insert(words->rewrite, node, sim_arena_printf(words->arena, "%s: %s", key, text));
    sim_yaml_insert(node, make(words, node, key, text));
}

static void set_text(struct sim_words *words, struct sim_yaml *node, const char *text)
{
    sim_rewrite_value(words->rewrite, node, text);
    node->text = sim_arena_copy(words->arena, text);
}

static struct sim_yaml *list_at(const struct sim_yaml *root, const char *key)
{
    struct sim_yaml *list = sim_yaml_get(root, key);
    return list != NULL && list->kind == SIM_YAML_LIST ? list : NULL;
}

/* ---- workloads ---- */

/* Index of the word, or of the first when it is none of them, which is said. */
static uint32_t take_word(struct sim_words *words, const struct sim_yaml *node, const char *choices)
{
    enum { MOST = 4 };
    const char *names[MOST];
    const char *list = "";
    size_t count = 0;
    const char *text = node->kind == SIM_YAML_SCALAR ? node->text : "";
    char name[16];
    const uint32_t found = sim_choice_find(choices, text);
    if (found != SIM_ABSENT_COUNT)
        return found;
    for (; count < MOST && sim_choice_word(choices, (uint32_t)count, name, sizeof name); count++) {
        names[count] = sim_arena_copy(words->arena, name);
        list = sim_arena_printf(words->arena, "%s%s%s", list, count == 0 ? "" : ", ", name);
    }
    sim_report_near(words->report, node, SIM_AT_VALUE, sim_near_name(text, names, count),
                    "'%s' is not known (choose from %s)", text, list);
    return 0;
}

/* What the entry asks to be, else what it is. */
static bool is_timed(struct sim_words *words, struct sim_yaml *entry, bool is_now)
{
    struct sim_yaml *mode = sim_yaml_get(entry, "mode");
    if (mode == NULL)
        return is_now;
    const bool is_time = take_word(words, mode, "static|time") == 1;
    drop(words, mode);
    return is_time;
}

static void settle_kind(struct sim_words *words, struct sim_yaml *entry)
{
    struct sim_yaml *kind = sim_yaml_get(entry, "kind");
    struct sim_yaml *pods = sim_yaml_get(entry, "pods");
    if (kind != NULL && take_word(words, kind, "generated|openb|swf|table") == 0)
        drop(words, kind);
    else if (kind != NULL)
        sim_words_rename(words, kind, "format");
    if (pods != NULL && sim_yaml_get(entry, "file") != NULL)
        sim_report_error(words->report, pods, "is another name of file; give one of them");
    else if (pods != NULL)
        sim_words_rename(words, pods, "trace");
}

static void move_entry(struct sim_words *words, struct sim_yaml *entry, const char *key)
{
    struct sim_yaml *from = entry->parent;
    struct sim_yaml *to = list_at(words->root, key);
    if (to == NULL) {
        to = add(words, words->root, key, NULL);
        to->kind = SIM_YAML_LIST;
        to->written = from->written;
        to->mark = from->mark;
        to->key_mark = from->key_mark;
    }
    sim_rewrite_fail(words->rewrite, entry, "belongs below another key now: move it by hand");
    sim_yaml_remove(entry);
    sim_yaml_append(to, entry);
    if (from->count == 0)
        sim_yaml_remove(from);
}

static void settle_entries(struct sim_words *words, const char *key, const char *other)
{
    const struct sim_yaml *list = list_at(words->root, key);
    for (struct sim_yaml *entry = list == NULL ? NULL : list->first, *next; entry != NULL;
         entry = next) {
        const bool is_now = strcmp(key, "jobs") == 0;
        next = entry->next;
        if (entry->kind != SIM_YAML_MAPPING)
            continue;
        settle_kind(words, entry);
        if (is_timed(words, entry, is_now) != is_now)
            move_entry(words, entry, other);
    }
}

void sim_words_settle_work(struct sim_words *words)
{
    struct sim_yaml *list = sim_yaml_get(words->root, "workloads");
    if (list != NULL) {
        struct sim_yaml *mode = sim_yaml_get(list->first, "mode");
        const bool is_time =
            mode != NULL && mode->kind == SIM_YAML_SCALAR && strcmp(mode->text, "time") == 0;
        sim_words_rename(words, list, is_time ? "jobs" : "fill");
    }
    settle_entries(words, "fill", "jobs");
    settle_entries(words, "jobs", "fill");
}

/* ---- placement ---- */

static bool has_jobs(const struct sim_words *words)
{
    const struct sim_yaml *jobs = sim_yaml_get(words->root, "jobs");
    const struct sim_yaml *fill = sim_yaml_get(words->root, "fill");
    return (jobs != NULL && jobs->count > 0) || (fill != NULL && fill->count > 0);
}

/* What the policy of this name took beside jobs: one parameter and its value. */
static const char *const *rule_of(const char *policy)
{
    static const char *const rules[][3] = { { "best_fit", "measure", "amounts" },
                                            { "worst_fit", "measure", "amounts" },
                                            { "first_fit", "device", "tightest" } };
    for (size_t i = 0; i < sizeof rules / sizeof rules[0]; i++)
        if (strcmp(rules[i][0], policy) == 0)
            return rules[i];
    return NULL;
}

static struct sim_yaml *policy_of(struct sim_yaml *placement)
{
    struct sim_yaml *policy = sim_yaml_get(placement, "policy");
    struct sim_yaml *value = sim_yaml_get(placement, "value");
    policy = policy == NULL ? value : policy;
    return policy != NULL && policy->kind == SIM_YAML_SCALAR ? policy : NULL;
}

/* A mapping {policy: ..., parameters} with what its policy took. */
static void settle_policy(struct sim_words *words, struct sim_yaml *placement)
{
    struct sim_yaml *policy = policy_of(placement);
    const char *const *rule = policy == NULL ? NULL : rule_of(policy->text);
    if (!has_jobs(words)) {
        if (policy == NULL && sim_yaml_get(placement, "policy") == NULL) {
            sim_rewrite_insert_first(words->rewrite, placement, "policy: fgd_xenna");
            (void)add(words, placement, "policy", "fgd_xenna");
        } else if (policy != NULL && strcmp(policy->text, "fgd") == 0) {
            set_text(words, policy, "fgd_xenna");
        }
        return;
    }
    if (rule == NULL || sim_yaml_get(placement, rule[1]) != NULL)
        return;
    add_behind(words, policy, rule[1], rule[2]);
}

/* sched.placement of the scenario itself. */
static void settle_placement(struct sim_words *words, struct sim_yaml *placement)
{
    const char *const *rule = placement->kind != SIM_YAML_SCALAR ? NULL : rule_of(placement->text);
    if (placement->kind == SIM_YAML_MAPPING) {
        settle_policy(words, placement);
    } else if (placement->kind == SIM_YAML_SCALAR && !has_jobs(words)) {
        if (strcmp(placement->text, "fgd") == 0)
            set_text(words, placement, "fgd_xenna");
    } else if (rule != NULL && has_jobs(words)) {
        struct sim_yaml *policy = sim_yaml_new(words->arena, SIM_YAML_SCALAR, placement->text);
        policy->key = sim_arena_copy(words->arena, "policy");
        policy->mark = placement->mark;
        policy->key_mark = placement->mark;
        sim_rewrite_value(
            words->rewrite, placement,
            sim_arena_printf(words->arena, "{policy: %s, %s: %s}", rule[0], rule[1], rule[2]));
        placement->kind = SIM_YAML_MAPPING;
        placement->text = NULL;
        sim_yaml_append(placement, policy);
        (void)add(words, placement, rule[1], rule[2]);
    }
}

/* Nothing said was fgd: beside pipelines the scheduler's. */
static void settle_sched(struct sim_words *words)
{
    struct sim_yaml *sched = sim_yaml_get(words->root, "sched");
    struct sim_yaml *placement = sim_yaml_get(sched, "placement");
    if (placement != NULL) {
        settle_placement(words, placement);
        return;
    }
    if (has_jobs(words) || (sched != NULL && sched->kind == SIM_YAML_SCALAR) ||
        (sched != NULL && sched->kind == SIM_YAML_LIST))
        return;
    if (sched == NULL) {
        const struct sim_yaml *pipelines = sim_yaml_get(words->root, "pipelines");
        sim_rewrite_insert_before(words->rewrite, pipelines, "sched: {placement: fgd_xenna}");
        sched = add(words, words->root, "sched", NULL);
    } else {
        sim_rewrite_insert_first(words->rewrite, sched, "placement: fgd_xenna");
    }
    sched->kind = SIM_YAML_MAPPING;
    (void)add(words, sched, "placement", "fgd_xenna");
}

/* ---- paths ---- */

static bool is_work(const struct sim_section *section)
{
    return section == &sim_schema_jobs || section == &sim_schema_fill;
}

bool sim_words_is_gone(const struct sim_yaml *root, const struct sim_section *section,
                       const char *component)
{
    return sim_words_are_old(root) && is_work(section) &&
           (strcmp(component, "mode") == 0 || strcmp(component, "kind") == 0);
}

const char *sim_words_today(const struct sim_yaml *root, const struct sim_section *section,
                            const char *component)
{
    const struct sim_field *field = sim_schema_find_old(section, component);
    if (!sim_words_are_old(root))
        return component;
    if (section == &sim_schema_scenario && strcmp(component, "workloads") == 0)
        return list_at(root, "fill") != NULL ? "fill" : "jobs";
    if (is_work(section) && strcmp(component, "pods") == 0)
        return "trace";
    return field == NULL ? component : field->key;
}

/* A path as far as it was followed. */
struct path {
    const char *rest;
    char *today;                       /* the same in the words of today */
    const struct sim_section *section; /* of the last component, NULL = none that is known */
    const struct sim_field *field;     /* of the last component, NULL = an entry of a list */
};

/* "a" of "a.b", or "[0]". */
static char *next_component(struct sim_arena *arena, struct path *path)
{
    const char *start = path->rest;
    const size_t length = *start == '[' ? strcspn(start, "]") + 1 : strcspn(start, ".[");
    const size_t most = strlen(start);
    const size_t used = length < most ? length : most;
    path->rest = start + used + (start[used] == '.' ? 1 : 0);
    return sim_arena_text(arena, start, used);
}

static void append(struct sim_arena *arena, struct path *path, const char *component)
{
    const bool has_dot = path->today[0] != '\0' && component[0] != '[';
    path->today = sim_arena_printf(arena, "%s%s%s", path->today, has_dot ? "." : "", component);
}

static void follow(const struct sim_words *words, struct path *path)
{
    const struct sim_section *section = &sim_schema_scenario;
    while (path->rest[0] != '\0' && section != NULL) {
        const char *name =
            sim_words_today(words->root, section, next_component(words->arena, path));
        const struct sim_field *field = sim_schema_find(section, name);
        append(words->arena, path, name);
        path->section = section;
        path->field = field;
        section = field == NULL ? NULL : field->section;
        if (field == NULL || (field->kind != SIM_FIELD_LIST && field->kind != SIM_FIELD_NAMED) ||
            path->rest[0] == '\0')
            continue;
        append(words->arena, path, next_component(words->arena, path));
        path->section = section;
        path->field = NULL;
    }
    while (path->rest[0] != '\0') /* it leads nowhere, or to a parameter of a policy */
        append(words->arena, path, next_component(words->arena, path));
}

static bool is_placement(const struct sim_section *section)
{
    return section != NULL && section->policy == SIM_POLICY_PLACEMENT;
}

/* `sched.placement: best_fit`, and with its own parameter beside it. */
static void settle_named_policy(struct sim_words *words, struct sim_yaml *set, const char *place)
{
    const char *const *rule = rule_of(set->text);
    const char *key = rule == NULL ? "" : sim_arena_printf(words->arena, "%s.%s", place, rule[1]);
    if (!has_jobs(words) && strcmp(set->text, "fgd") == 0)
        set_text(words, set, "fgd_xenna");
    if (has_jobs(words) && rule != NULL && sim_yaml_get(set->parent, key) == NULL)
        add_behind(words, set, key, rule[2]);
}

static void settle_set(struct sim_words *words, struct sim_yaml *set)
{
    struct path path = { .rest = set->key, .today = sim_arena_copy(words->arena, "") };
    follow(words, &path);
    if (strcmp(path.today, set->key) != 0)
        sim_words_rename(words, set, path.today);
    if (path.field != NULL)
        sim_words_settle_field(words, set, path.field);
    else if (path.section != NULL && set->kind == SIM_YAML_MAPPING)
        sim_words_settle_section(words, set, path.section);
    const bool is_whole = path.field != NULL && is_placement(path.field->section);
    const bool is_name = path.field != NULL && is_placement(path.section);
    if (is_whole && set->kind == SIM_YAML_MAPPING)
        settle_policy(words, set);
    else if (is_whole && set->kind == SIM_YAML_SCALAR)
        settle_named_policy(words, set, set->key);
    else if (is_name && set->kind == SIM_YAML_SCALAR)
        settle_named_policy(words, set, "sched.placement");
}

void sim_words_settle_sets(struct sim_words *words, struct sim_yaml *sets)
{
    if (sets->kind != SIM_YAML_MAPPING)
        return;
    for (struct sim_yaml *set = sets->first, *next; set != NULL; set = next) {
        next = set->next; /* what is added behind it needs nothing */
        settle_set(words, set);
    }
}

/* ---- keys that did nothing ---- */

/* Those that only the other kind of work knows. */
static void drop_strange(struct sim_words *words, struct sim_yaml *node,
                         const struct sim_section *section)
{
    for (struct sim_yaml *child = node->first, *next; child != NULL; child = next) {
        next = child->next;
        if (sim_schema_find(section, child->key) == NULL &&
            sim_schema_find_old(section->other, child->key) != NULL)
            drop(words, child);
    }
}

static void settle_classes(struct sim_words *words, const struct sim_yaml *entry)
{
    const struct sim_yaml *classes = list_at(entry, "classes");
    const struct sim_field *field = sim_schema_find(&sim_schema_fill, "classes");
    for (struct sim_yaml *class = classes == NULL ? NULL : classes->first; class != NULL;
         class = class->next)
        if (class->kind == SIM_YAML_MAPPING)
            drop_strange(words, class, field->section);
}

static void drop_found(void *state, struct sim_yaml *node, const char *sentence)
{
    (void)sentence;
    drop(state, node);
}

/* A fill refused what only jobs in time know; jobs took what a fill alone looks at. */
void sim_words_settle_rest(struct sim_words *words)
{
    const struct sim_yaml *fill = list_at(words->root, "fill");
    const struct sim_yaml *jobs = list_at(words->root, "jobs");
    for (const struct sim_yaml *entry = fill == NULL ? NULL : fill->first; entry != NULL;
         entry = entry->next)
        settle_classes(words, entry);
    for (struct sim_yaml *entry = jobs == NULL ? NULL : jobs->first; entry != NULL;
         entry = entry->next)
        if (entry->kind == SIM_YAML_MAPPING)
            drop_strange(words, entry, &sim_schema_jobs);
    settle_sched(words);
    const struct sim_acts_walk walk = {
        .arena = words->arena, .root = words->root, .found = drop_found, .state = words
    };
    sim_acts_visit(&walk);
}
