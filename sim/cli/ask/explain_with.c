/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Plans of other policies; see the header. */
#include "sim/cli/ask/explain_with.h"

#include "analysis/text.h"
#include "sim/cli/decide/decide.h"
#include "sim/cli/decide/decide_format.h"
#include "sim/cli/plugin.h"
#include "sim/cli/table.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { MOST_POLICIES = 16, NAME = 128 };

struct plans {
    json_t *state; /* the document */
    const struct sim_policies *policies;
    struct {
        char name[NAME];
        json_t *answer;
    } list[MOST_POLICIES];
    size_t count;
};

/* ---- the state ---- */

static char *read_all(FILE *file, size_t *length)
{
    const long size = fseek(file, 0, SEEK_END) == 0 ? ftell(file) : -1;
    char *text = size < 0 ? NULL : malloc((size_t)size + 1);
    *length =
        text != NULL && fseek(file, 0, SEEK_SET) == 0 ? fread(text, 1, (size_t)size, file) : 0;
    if (text == NULL || ferror(file) != 0 || *length < (size_t)size) {
        perror("weir explain: what is to be decided cannot be read back");
        free(text);
        return NULL;
    }
    text[*length] = '\0';
    return text;
}

/* A file, not memory: with a module the run is repeated in another process. */
static int read_state(const struct sim_decide_question *question, const struct sim_options *options,
                      json_t **state)
{
    struct sim_decide_question asked = *question;
    size_t length = 0;
    asked.count = 1;
    asked.out = tmpfile();
    if (asked.out == NULL) {
        perror("weir explain: a temporary file");
        return SIM_EXIT_RESOURCE;
    }
    int code = sim_explain_decide(&asked, options);
    char *text = code == SIM_EXIT_OK ? read_all(asked.out, &length) : NULL;
    (void)fclose(asked.out);
    if (code != SIM_EXIT_OK)
        return code;
    *state = text == NULL ? NULL : json_loadb(text, length, 0, NULL);
    free(text);
    return *state == NULL ? SIM_EXIT_RESOURCE : SIM_EXIT_OK;
}

/* ---- policies ---- */

static const char *const kinds[] = { "placement", "scaling", "queueing", "capacity" };
enum { KINDS = sizeof kinds / sizeof kinds[0] };

static bool is_of_kind(const struct sim_policies *policies, size_t kind, const char *name)
{
    bool is_there = false;
    for (size_t i = 0; kind == 0 && i < policies->placements_count; i++)
        is_there = is_there || strcmp(policies->placements[i]->name, name) == 0;
    for (size_t i = 0; kind == 1 && i < policies->scalings_count; i++)
        is_there = is_there || strcmp(policies->scalings[i]->name, name) == 0;
    for (size_t i = 0; kind == 2 && i < policies->queueings_count; i++)
        is_there = is_there || strcmp(policies->queueings[i]->name, name) == 0;
    for (size_t i = 0; kind == 3 && i < policies->capacities_count; i++)
        is_there = is_there || strcmp(policies->capacities[i]->name, name) == 0;
    return is_there;
}

/* The kind of a policy that is named as NAME or KIND=NAME, and its name; NULL = there is none, or a
 * bare name is that of several (is_several). */
static const char *kind_of(const struct sim_policies *policies, const char **name, bool *is_several)
{
    const char *found = NULL;
    const size_t length = strcspn(*name, "=");
    const char *rest = (*name)[length] == '=' ? *name + length + 1 : NULL;
    *is_several = false;
    for (size_t kind = 0; kind < KINDS; kind++) {
        const bool is_meant = rest == NULL || (strlen(kinds[kind]) == length &&
                                               strncmp(kinds[kind], *name, length) == 0);
        if (!is_meant || !is_of_kind(policies, kind, rest == NULL ? *name : rest))
            continue;
        *is_several = found != NULL;
        found = kinds[kind];
    }
    if (rest != NULL && found != NULL)
        *name = rest;
    return *is_several ? NULL : found;
}

/* What the other one knew and had is no other policy's. */
static void replace(json_t *policy, const char *kind, const char *name)
{
    char key[64];
    (void)json_object_set_new(policy, kind, json_string(name));
    (void)snprintf(key, sizeof key, "%s_params", kind);
    (void)json_object_del(policy, key);
    (void)snprintf(key, sizeof key, "%s_memory", kind);
    (void)json_object_del(policy, key);
}

/* Decisions about stages alone leave the queue of jobs as it is. */
static bool starts_jobs(const json_t *document)
{
    return json_array_size(json_object_get(document, "jobs")) > 0 &&
           !json_is_false(json_object_get(document, "may_start_jobs"));
}

static int put_policy(const struct plans *plans, json_t *document, const char *name)
{
    bool is_several = false;
    const char *kind = kind_of(plans->policies, &name, &is_several);
    const bool has_stages = json_array_size(json_object_get(document, "stages")) > 0;
    const bool has_jobs = starts_jobs(document);
    if (is_several) {
        fprintf(stderr,
                "weir explain: policies of several kinds are called '%s': write placement=%s, "
                "queueing=%s or scaling=%s\n",
                name, name, name, name);
        return SIM_EXIT_USAGE;
    }
    if (kind == NULL) {
        sim_policies_refuse("weir explain", plans->policies, name);
        return SIM_EXIT_USAGE;
    }
    const bool has_offers = json_array_size(json_object_get(document, "offers")) > 0;
    const char *missing = strcmp(kind, "scaling") == 0 && !has_stages  ? "stages"
                          : strcmp(kind, "queueing") == 0 && !has_jobs ? "jobs that wait"
                          : strcmp(kind, "capacity") == 0 && !has_offers
                              ? "nodes that may be asked for"
                              : NULL;
    if (missing != NULL) {
        fprintf(stderr, "weir explain: %s is a %s policy, and this decision is about no %s\n", name,
                kind, missing);
        return SIM_EXIT_USAGE;
    }
    replace(json_object_get(document, "policy"), kind, name);
    return SIM_EXIT_OK;
}

/* ---- plans ---- */

static int answer(struct plans *plans, const char *name, const json_t *document)
{
    struct weir_error error = { .phase = -1, .pool = -1 };
    struct sim_diagnostics diagnostics = { .items = NULL };
    struct decide_documents documents = { .text = NULL };
    char *text = json_dumps(document, JSON_REAL_PRECISION(17));
    weir_status status =
        text == NULL ? WEIR_ENOMEM
                     : decide_documents_parse("(state)", text, strlen(text), &documents, &error);
    if (status == WEIR_OK) {
        decide_format_check(&documents, 0, plans->policies, &diagnostics);
        const struct decide_question question = { .input = json_array_get(documents.list, 0),
                                                  .policies = plans->policies };
        if (diagnostics.errors == 0)
            status = decide_answer(&question, &plans->list[plans->count].answer, &error);
    }
    const bool is_wrong = status != WEIR_OK || diagnostics.errors > 0;
    if (is_wrong)
        fprintf(stderr, "weir explain: %s: %s\n", name,
                status != WEIR_OK ? error.text : diagnostics.items[0].message);
    else
        (void)snprintf(plans->list[plans->count++].name, NAME, "%s", name);
    sim_diagnostics_clear(&diagnostics);
    decide_documents_clear(&documents);
    free(text);
    return is_wrong ? SIM_EXIT_USAGE : SIM_EXIT_OK;
}

static int answer_with(struct plans *plans, const char *word)
{
    char part[NAME];
    json_t *document = json_deep_copy(plans->state);
    int code = document == NULL ? SIM_EXIT_RESOURCE : SIM_EXIT_OK;
    for (const char *at = word; code == SIM_EXIT_OK && *at != '\0';) {
        const size_t length = strcspn(at, "+");
        (void)snprintf(part, sizeof part, "%.*s", (int)length, at);
        code = put_policy(plans, document, part);
        at += length + (at[length] == '+' ? 1 : 0);
    }
    if (code == SIM_EXIT_OK)
        code = answer(plans, word, document);
    json_decref(document);
    return code;
}

static int answer_all(struct plans *plans, const char *with)
{
    int code = answer(plans, "as it was", plans->state);
    for (const char *at = with; code == SIM_EXIT_OK && *at != '\0';) {
        char word[NAME];
        const size_t length = strcspn(at, ",");
        if (plans->count == MOST_POLICIES) {
            fprintf(stderr, "weir explain: --with takes at most %d policies\n", MOST_POLICIES - 1);
            return SIM_EXIT_USAGE;
        }
        (void)snprintf(word, sizeof word, "%.*s", (int)length, at);
        code = answer_with(plans, word);
        at += length + (at[length] == ',' ? 1 : 0);
    }
    return code;
}

/* ---- side by side ---- */

static const struct sim_column columns[] = {
    { "of", "of", NULL, false, false },
    { "policy", "policy", NULL, false, false },
    { "before", "before", NULL, true, true },
    { "after", "after", NULL, true, true },
    { "started", "started", NULL, true, true },
    { "stopped", "stopped", NULL, true, true },
    { "bound by", "bound_by", NULL, false, false },
};

static long long integer_of(const json_t *object, const char *key)
{
    return (long long)json_integer_value(json_object_get(object, key));
}

static void add_stage(struct sim_table *table, const struct plans *plans, size_t stage)
{
    for (size_t p = 0; p < plans->count; p++) {
        const json_t *row = json_array_get(json_object_get(plans->list[p].answer, "stages"), stage);
        const char *binding = json_string_value(json_object_get(row, "binding"));
        if (row == NULL)
            continue;
        sim_table_add(table, p == 0 ? json_string_value(json_object_get(row, "name")) : "");
        sim_table_add(table, plans->list[p].name);
        sim_table_addf(table, "%lld", integer_of(row, "workers_before"));
        sim_table_addf(table, "%lld", integer_of(row, "workers_after"));
        sim_table_addf(table, "%lld", integer_of(row, "num_new"));
        sim_table_addf(table, "%lld", integer_of(row, "num_deleted"));
        sim_table_add(table, binding == NULL || strcmp(binding, "none") == 0 ? "" : binding);
    }
}

/* Actions with that verb, about jobs or not. */
static size_t count_actions(const json_t *answer, const char *verb, bool is_of_jobs,
                            const char **reason)
{
    size_t count = 0;
    size_t i = 0;
    const json_t *action = NULL;
    json_array_foreach(json_object_get(answer, "actions"), i, action)
    {
        const char *its = json_string_value(json_object_get(action, "verb"));
        if (its == NULL || strcmp(its, verb) != 0 ||
            (json_object_get(action, "job") != NULL) != is_of_jobs)
            continue;
        count++;
        if (*reason == NULL)
            *reason = json_string_value(json_object_get(action, "reason"));
    }
    return count;
}

static void add_jobs(struct sim_table *table, const struct plans *plans)
{
    for (size_t p = 0; p < plans->count; p++) {
        const json_t *answer = plans->list[p].answer;
        const char *reason = NULL;
        const char *ignored = NULL;
        const size_t denied = count_actions(answer, "deny", true, &reason);
        sim_table_add(table, p == 0 ? "jobs" : "");
        sim_table_add(table, plans->list[p].name);
        sim_table_add(table, "-");
        sim_table_add(table, "-");
        sim_table_addf(table, "%zu", count_actions(answer, "start", true, &ignored));
        sim_table_addf(table, "%zu", count_actions(answer, "preempt", true, &ignored));
        if (denied > 0)
            sim_table_addf(table, "%zu denied: %s", denied, reason == NULL ? "" : reason);
        else
            sim_table_add(table, "");
    }
}

/* Nodes asked for and given back. */
static void add_nodes(struct sim_table *table, const struct plans *plans)
{
    for (size_t p = 0; p < plans->count; p++) {
        const json_t *answer = plans->list[p].answer;
        const char *ignored = NULL;
        sim_table_add(table, p == 0 ? "nodes" : "");
        sim_table_add(table, plans->list[p].name);
        sim_table_add(table, "-");
        sim_table_add(table, "-");
        sim_table_addf(table, "%zu", count_actions(answer, "request_node", false, &ignored));
        sim_table_addf(table, "%zu", count_actions(answer, "release_node", false, &ignored));
        sim_table_add(table, "");
    }
}

static void print_table(const struct plans *plans, FILE *out)
{
    struct sim_table *table = sim_table_create(columns, sizeof columns / sizeof columns[0]);
    const size_t stages = json_array_size(json_object_get(plans->list[0].answer, "stages"));
    for (size_t s = 0; s < stages; s++)
        add_stage(table, plans, s);
    if (starts_jobs(plans->state))
        add_jobs(table, plans);
    if (json_array_size(json_object_get(plans->state, "offers")) > 0)
        add_nodes(table, plans);
    sim_table_print(table, SIM_FORMAT_TABLE, out);
    sim_table_destroy(table);
}

static double state_s(const struct plans *plans)
{
    return (double)json_integer_value(json_object_get(plans->state, "time_ns")) / 1e9;
}

static int print_json(const struct plans *plans, FILE *out)
{
    json_t *list = json_array();
    for (size_t p = 0; p < plans->count; p++)
        (void)json_array_append_new(list, json_pack("{s:s, s:O}", "policy", plans->list[p].name,
                                                    "answer", plans->list[p].answer));
    json_t *all = json_pack("{s:i, s:s, s:f, s:o}", "schema", 1, "version", WEIR_VERSION, "at_s",
                            state_s(plans), "plans", list);
    const int failed = all == NULL ? -1 : json_dumpf(all, out, JSON_INDENT(2));
    (void)fputc('\n', out);
    json_decref(all);
    return failed == 0 ? SIM_EXIT_OK : SIM_EXIT_RESOURCE;
}

static int show(const struct plans *plans, bool as_json, FILE *out)
{
    if (as_json)
        return print_json(plans, out);
    (void)fprintf(out,
                  "the decision %s after the start, and what others would have decided there\n",
                  an_word_duration(state_s(plans)).text);
    print_table(plans, out);
    (void)fputs("Plans for one state, each without a memory of its own: not what would have come "
                "of them; a variant shows that.\n",
                out);
    return SIM_EXIT_OK;
}

int sim_explain_with(const struct sim_decide_question *question, const char *with, bool as_json,
                     const struct sim_options *options)
{
    struct sim_policies policies = { 0 };
    struct plans plans = { .policies = &policies };
    int code = sim_plugins_load(&options->plugins, options->in_process, &policies);
    if (code == SIM_EXIT_OK)
        code = read_state(question, options, &plans.state);
    if (code == SIM_EXIT_OK)
        code = answer_all(&plans, with);
    if (code == SIM_EXIT_OK)
        code = show(&plans, as_json, question->out);
    for (size_t p = 0; p < plans.count; p++)
        json_decref(plans.list[p].answer);
    json_decref(plans.state);
    sim_plugins_clear(&policies);
    return code;
}
