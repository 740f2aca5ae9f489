/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Labels of nodes: words that work asks for become numbers, and nodes get those that they have.
 *
 * A node has the labels of its group, the group's name and its own name; so to ask for one node is
 * to ask for a label that it alone has. Only words that somebody asks for are numbered.
 */
#include "sim/scenario/resolve/resolve.h"

#include <stdio.h>
#include <string.h>

enum { NEAR_MOST = 256, NAME = 160 };

static const char *name_of(const struct sim_scenario *scenario, const struct sim_node_group *group)
{
    return group->name != NULL ? group->name : scenario->node_types[group->type].name;
}

/* Whether "a|b" has the word. */
static bool has_word(const char *words, const char *word)
{
    const size_t length = strlen(word);
    for (const char *at = words; at != NULL; at = strchr(at, '|')) {
        at += *at == '|';
        if (strncmp(at, word, length) == 0 && (at[length] == '\0' || at[length] == '|'))
            return true;
    }
    return false;
}

/* ---- words ---- */

static uint32_t find_node(const struct sim_scenario *scenario, const char *name)
{
    const uint32_t count = sim_scenario_node_count(scenario);
    char text[NAME];
    for (uint32_t n = 0; n < count; n++) {
        sim_scenario_node_name(scenario, n, text, sizeof text);
        if (strcmp(text, name) == 0)
            return n;
    }
    return WEIR_NO_INDEX;
}

static bool is_label(const struct sim_scenario *scenario, const char *word)
{
    for (size_t g = 0; g < scenario->node_groups_count; g++) {
        const struct sim_node_group *group = &scenario->node_groups[g];
        if (has_word(group->labels, word) || strcmp(name_of(scenario, group), word) == 0)
            return true;
    }
    return find_node(scenario, word) != WEIR_NO_INDEX;
}

/* Of labels and of names of groups. */
static const char *near_label(struct sim_resolver *resolver, const char *word)
{
    const struct sim_scenario *scenario = resolver->scenario;
    const char *names[NEAR_MOST];
    size_t count = 0;
    for (size_t g = 0; g < scenario->node_groups_count && count < NEAR_MOST; g++) {
        const struct sim_node_group *group = &scenario->node_groups[g];
        char *rest = group->labels == NULL ? NULL : sim_arena_copy(resolver->arena, group->labels);
        names[count++] = name_of(scenario, group);
        while (rest != NULL && count < NEAR_MOST)
            names[count++] = strsep(&rest, "|");
    }
    return sim_near_name(word, names, count);
}

static uint32_t bit_of(struct sim_resolver *resolver, const struct sim_yaml *at, const char *word)
{
    for (uint32_t i = 0; i < resolver->labels_count; i++)
        if (strcmp(resolver->labels[i], word) == 0)
            return UINT32_C(1) << i;
    if (!is_label(resolver->scenario, word)) {
        sim_report_near(resolver->report, at, SIM_AT_VALUE, near_label(resolver, word),
                        "no node has the label '%s'", word);
        return 0;
    }
    if (resolver->labels_count == WEIR_LABELS_MOST) {
        sim_report_error(resolver->report, at,
                         "work can ask for %d labels of nodes, this is one "
                         "more",
                         WEIR_LABELS_MOST);
        return 0;
    }
    resolver->labels[resolver->labels_count] = word;
    return UINT32_C(1) << resolver->labels_count++;
}

static uint32_t bits_of(struct sim_resolver *resolver, const struct sim_yaml *at, const char *words)
{
    char *rest = words == NULL ? NULL : sim_arena_copy(resolver->arena, words);
    uint32_t bits = 0;
    while (rest != NULL)
        bits |= bit_of(resolver, at, strsep(&rest, "|"));
    return bits;
}

static bool keeps_nodes(const struct sim_scenario *scenario)
{
    for (size_t g = 0; g < scenario->node_groups_count; g++)
        if (scenario->node_groups[g].is_kept)
            return true;
    return false;
}

uint32_t sim_resolve_nodes(struct sim_resolver *resolver, const struct sim_yaml *at,
                           const struct draft_nodes *draft, struct weir_shape *shape)
{
    if (resolver->is_hardware_unclear)
        return 0;
    shape->labels = bits_of(resolver, sim_yaml_get(at, "node_selector"), draft->selector);
    const uint32_t soft = bits_of(resolver, sim_yaml_get(at, "node_preference"), draft->preference);
    if (draft->borrows == 1 && !keeps_nodes(resolver->scenario))
        sim_report_error(resolver->report, sim_yaml_get(at, "borrow"),
                         "no nodes are kept for anybody (kept: true in cluster.nodes)");
    if (draft->borrows == 1)
        shape->labels |= WEIR_LABEL_KEPT;
    return soft & ~shape->labels;
}

uint32_t sim_resolve_named_node(const struct sim_resolver *resolver,
                                const struct draft_nodes *draft)
{
    char *rest = draft->selector == NULL ? NULL : sim_arena_copy(resolver->arena, draft->selector);
    uint32_t node = WEIR_NO_INDEX;
    while (rest != NULL && node == WEIR_NO_INDEX)
        node = find_node(resolver->scenario, strsep(&rest, "|"));
    return node;
}

/* ---- nodes ---- */

static uint32_t labels_of(const struct sim_resolver *resolver, uint32_t node)
{
    const struct sim_scenario *scenario = resolver->scenario;
    const struct sim_node_group *group =
        &scenario->node_groups[sim_scenario_node_group(scenario, node)];
    uint32_t labels = group->is_kept ? WEIR_LABEL_KEPT : 0;
    char name[NAME];
    sim_scenario_node_name(scenario, node, name, sizeof name);
    for (uint32_t i = 0; i < resolver->labels_count; i++) {
        const char *word = resolver->labels[i];
        if (has_word(group->labels, word) || strcmp(name_of(scenario, group), word) == 0 ||
            strcmp(name, word) == 0)
            labels |= UINT32_C(1) << i;
    }
    return labels;
}

void sim_resolve_labels(struct sim_resolver *resolver)
{
    struct sim_scenario *scenario = resolver->scenario;
    if (resolver->is_hardware_unclear || (resolver->labels_count == 0 && !keeps_nodes(scenario)))
        return;
    const uint32_t nodes = sim_scenario_node_count(scenario);
    scenario->labels_count = resolver->labels_count;
    scenario->labels =
        sim_arena_alloc(resolver->arena, resolver->labels_count + 1, sizeof *scenario->labels);
    for (uint32_t i = 0; i < resolver->labels_count; i++)
        scenario->labels[i] = resolver->labels[i];
    scenario->node_labels =
        sim_arena_alloc(resolver->arena, nodes + 1, sizeof *scenario->node_labels);
    for (uint32_t n = 0; n < nodes; n++)
        scenario->node_labels[n] = labels_of(resolver, n);
}
