/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The environment of a process: bytes that go out to it before it is made. A variable takes
 * NAME=value and the byte behind it; in its value {rank} is the number of the actor in its role,
 * {local_rank} that among those which are on its node, {size} how many there are, {node} the name
 * of its node.
 */
#include "sim/actors/actors.h"

#include <stdio.h>
#include <string.h>

static uint32_t local_rank(const struct sim_actor *actor)
{
    uint32_t rank = 0;
    for (uint32_t i = 0; i < actor->set->count; i++) {
        const struct sim_actor *other = actor->set->actors[i];
        rank +=
            other != actor && other->worker != NULL && other->worker->node == actor->worker->node;
    }
    return rank;
}

/* Of the word that `text` begins with; 0 = of none. */
static size_t print_word(const struct sim_actor *actor, const char *text, char *value,
                         size_t capacity)
{
    if (strncmp(text, SIM_ENVIRONMENT_NODE, strlen(SIM_ENVIRONMENT_NODE)) == 0) {
        sim_scenario_node_name(actor->set->run->config.scenario, actor->worker->node, value,
                               capacity);
        return strlen(SIM_ENVIRONMENT_NODE);
    }
    const struct {
        const char *word;
        uint32_t number;
    } words[] = { { SIM_ENVIRONMENT_RANK, actor->number },
                  { SIM_ENVIRONMENT_LOCAL_RANK, local_rank(actor) },
                  { SIM_ENVIRONMENT_SIZE, actor->set->count } };
    for (size_t i = 0; i < sizeof words / sizeof words[0]; i++)
        if (strncmp(text, words[i].word, strlen(words[i].word)) == 0) {
            (void)snprintf(value, capacity, "%u", words[i].number);
            return strlen(words[i].word);
        }
    return 0;
}

static int64_t value_bytes(const struct sim_actor *actor, const char *value)
{
    int64_t bytes = 0;
    char text[256];
    while (*value != '\0') {
        const size_t length = *value == '{' ? print_word(actor, value, text, sizeof text) : 0;
        bytes += length > 0 ? (int64_t)strlen(text) : 1;
        value += length > 0 ? length : 1;
    }
    return bytes;
}

int64_t sim_actor_environment(struct sim_actor *actor)
{
    struct sim_set_run *set = actor->set;
    int64_t bytes = set->run->spec->environment_bytes;
    for (size_t i = 0; i < set->spec->variables_count; i++) {
        const struct sim_variable *variable = &set->spec->variables[i];
        bytes += (int64_t)strlen(variable->name) + 2 + value_bytes(actor, variable->value);
    }
    if (bytes > set->environment_most)
        set->environment_most = bytes;
    return bytes;
}

bool sim_actor_lacks_variable(const struct sim_actor *actor)
{
    const struct sim_actor_set *spec = actor->set->spec;
    char text[160];
    if (spec->missing == NULL)
        return false;
    (void)snprintf(text, sizeof text, "%s %u has no %s in its environment", spec->name,
                   actor->number, spec->missing);
    sim_actors_end(actor->set->run, text);
    return true;
}
