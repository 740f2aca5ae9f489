/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Claims by name; see the header. */
#include "analysis/claim.h"

#include "analysis/claims/claims.h"
#include "analysis/facts.h"
#include "analysis/nan.h"

#include <jansson.h>
#include <math.h>
#include <stdarg.h>
#include <string.h>

static const struct an_claim_family *const families[] = {
    &an_claims_verdict, &an_claims_flow,     &an_claims_devices,  &an_claims_workers,
    &an_claims_jobs,    &an_claims_fill,     &an_claims_variants, &an_claims_change,
    &an_claims_tiles,   &an_claims_incident, &an_claims_waits,    &an_claims_spread,
    &an_claims_tenants, &an_claims_machine,  &an_claims_given,    &an_claims_review
};
enum { FAMILIES = sizeof families / sizeof families[0] };

size_t an_claim_count(void)
{
    size_t count = 0;
    for (size_t f = 0; f < FAMILIES; f++)
        count += families[f]->count;
    return count;
}

const struct an_claim_ops *an_claim_at(size_t index)
{
    size_t f = 0;
    while (index >= families[f]->count)
        index -= families[f++]->count;
    return &families[f]->claims[index];
}

static const struct an_claim_ops *find(const char *name, size_t length)
{
    for (size_t i = 0; i < an_claim_count(); i++)
        if (strlen(an_claim_at(i)->name) == length &&
            strncmp(an_claim_at(i)->name, name, length) == 0)
            return an_claim_at(i);
    return NULL;
}

/* ---- values ---- */

static struct an_claim_value *add(struct an_claim *claim, const char *key)
{
    if (claim->count == AN_CLAIM_VALUES)
        return NULL;
    struct an_claim_value *value = &claim->values[claim->count++];
    *value = (struct an_claim_value){ .number = AN_NAN };
    (void)snprintf(value->key, sizeof value->key, "%s", key);
    return value;
}

void an_claim_put(struct an_claim *claim, const char *key, double number)
{
    struct an_claim_value *value = add(claim, key);
    if (value != NULL)
        value->number = number;
}

void an_claim_put_word(struct an_claim *claim, const char *key, const char *word)
{
    struct an_claim_value *value = add(claim, key);
    if (value != NULL)
        (void)snprintf(value->word, sizeof value->word, "%s", word);
}

static const struct an_claim_value *value_of(const struct an_claim *claim, const char *key)
{
    for (size_t i = 0; i < claim->count; i++)
        if (strcmp(claim->values[i].key, key) == 0)
            return &claim->values[i];
    return NULL;
}

double an_claim_number(const struct an_claim *claim, const char *key)
{
    const struct an_claim_value *value = value_of(claim, key);
    return value == NULL ? AN_NAN : value->number;
}

const char *an_claim_word(const struct an_claim *claim, const char *key)
{
    const struct an_claim_value *value = value_of(claim, key);
    return value == NULL ? "" : value->word;
}

struct an_word an_claim_name(const struct an_claim *claim, const char *key)
{
    const char *words[AN_CLAIM_VALUES];
    for (size_t i = 0; i < claim->count; i++)
        words[i] = claim->values[i].word;
    return an_shorten_among(an_claim_word(claim, key), AN_NAME_MOST, words, claim->count);
}

void an_claim_say(struct an_claim *claim, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    (void)vsnprintf(claim->text, sizeof claim->text, format, arguments);
    va_end(arguments);
}

/* ---- making ---- */

static void take_row(struct an_claim *claim, const struct an_frame *frame)
{
    for (size_t c = 0; c < frame->column_count; c++) {
        if (an_text(frame, 0, c)[0] != '\0')
            an_claim_put_word(claim, an_column(frame, c), an_text(frame, 0, c));
        else
            an_claim_put(claim, an_column(frame, c), an_number(frame, 0, c));
    }
}

static weir_status ask_rows(const struct an_claim_about *about, const struct an_claim_ops *ops,
                            struct an_claim *claim, bool *holds, struct weir_error *error)
{
    const struct an_args args = { .run = about->run->run_id,
                                  .id = about->run->replication,
                                  .from = about->from_s,
                                  .to = about->at_s };
    struct an_frame *frame = NULL;
    struct weir_error why = { .phase = -1, .pool = -1 };
    weir_status status =
        ops->shared == NULL ? WEIR_OK : an_share(about->db, ops->shared, &args, &why);
    if (status == WEIR_OK)
        status = an_query(about->db, ops->sql, &args, &frame, &why);
    if (status == WEIR_EUNSUPPORTED) /* an older file cannot say it */
        return WEIR_OK;
    if (status != WEIR_OK)
        return weir_fail(error, status, "%s: %s", ops->name, why.text);
    *holds = frame->row_count > 0;
    if (*holds)
        take_row(claim, frame);
    an_frame_destroy(frame);
    return WEIR_OK;
}

static weir_status ask_comparison(const struct an_claim_about *about,
                                  const struct an_claim_ops *ops, struct an_claim *claim,
                                  bool *holds, struct weir_error *error)
{
    struct an_comparison *made = NULL;
    struct weir_error why = { .phase = -1, .pool = -1 };
    if (about->comparison != NULL) {
        *holds = ops->judge(about->comparison, claim);
        return WEIR_OK;
    }
    const weir_status status = an_compare(about->db, NULL, &made, &why);
    if (status == WEIR_EINVAL) /* not comparable */
        return WEIR_OK;
    if (status != WEIR_OK)
        return weir_fail(error, status, "%s: %s", ops->name, why.text);
    *holds = ops->judge(made, claim);
    an_comparison_destroy(made);
    return WEIR_OK;
}

static weir_status make(const struct an_claim_about *about, const struct an_claim_ops *ops,
                        struct an_claim *claim, struct weir_error *error)
{
    bool holds = false;
    *claim = (struct an_claim){ .name = NULL };
    if (ops->judge == NULL && ops->sql == NULL) /* its figures are given */
        return WEIR_OK;
    if (ops->judge != NULL)
        WEIR_TRY(ask_comparison(about, ops, claim, &holds, error));
    else
        WEIR_TRY(ask_rows(about, ops, claim, &holds, error));
    if (!holds)
        return WEIR_OK;
    claim->name = ops->name;
    ops->say(claim);
    return WEIR_OK;
}

void an_claim_give(const char *name, struct an_claim *claim)
{
    const struct an_claim_ops *ops = find(name, strlen(name));
    claim->name = ops->name;
    ops->say(claim);
}

weir_status an_claim_make(const struct an_claim_about *about, const char *name,
                          struct an_claim *claim, struct weir_error *error)
{
    const struct an_claim_ops *ops = find(name, strlen(name));
    *claim = (struct an_claim){ .name = NULL };
    if (ops == NULL)
        return weir_fail(error, WEIR_ENOTFOUND, "there is no claim \"%s\"", name);
    return make(about, ops, claim, error);
}

weir_status an_claim_first(const struct an_claim_about *about, const char *names,
                           struct an_claim *claim, struct weir_error *error)
{
    *claim = (struct an_claim){ .name = NULL };
    for (const char *name = names; *name != '\0' && claim->name == NULL;) {
        const size_t length = strcspn(name, " ");
        const struct an_claim_ops *ops = find(name, length);
        if (ops == NULL)
            return weir_fail(error, WEIR_ENOTFOUND, "there is no claim \"%.*s\"", (int)length,
                             name);
        WEIR_TRY(make(about, ops, claim, error));
        name += length + (name[length] == ' ' ? 1 : 0);
    }
    return WEIR_OK;
}

/* ---- for programs ---- */

static json_t *values_of(const struct an_claim *claim)
{
    json_t *all = json_object();
    for (size_t i = 0; i < claim->count; i++) {
        const struct an_claim_value *value = &claim->values[i];
        json_t *one = value->word[0] != '\0'    ? json_string(value->word)
                      : isfinite(value->number) ? json_real(value->number)
                                                : json_null();
        (void)json_object_set_new(all, value->key, one);
    }
    return all;
}

static weir_status print_all(const struct an_claim_about *about, FILE *out,
                             struct weir_error *error)
{
    json_t *claims = json_array();
    weir_status status = WEIR_OK;
    for (size_t i = 0; status == WEIR_OK && i < an_claim_count(); i++) {
        struct an_claim claim;
        status = make(about, an_claim_at(i), &claim, error);
        if (claim.name == NULL)
            continue;
        (void)json_array_append_new(
            claims, json_pack("{s:s, s:s, s:s, s:o}", "name", claim.name, "sentence", claim.text,
                              "said_from", an_claim_at(i)->threshold, "values", values_of(&claim)));
    }
    json_t *all = json_pack("{s:i, s:s, s:s, s:i, s:o}", "schema", 1, "version", WEIR_VERSION,
                            "variant", about->run->variant, "replication",
                            (int)about->run->replication, "claims", claims);
    if (status == WEIR_OK &&
        (all == NULL || json_dumpf(all, out, JSON_INDENT(2) | JSON_REAL_PRECISION(15)) != 0))
        status = weir_fail(error, WEIR_ENOMEM, "the claims cannot be written");
    (void)fputc('\n', out);
    json_decref(all);
    return status;
}

weir_status an_claims_print(struct an_db *db, const struct an_plot_options *options, FILE *out,
                            struct weir_error *error)
{
    struct an_run *run = NULL;
    struct an_facts *facts = NULL;
    struct an_comparison *comparison = NULL;
    WEIR_TRY(an_run_find(db, options->variant, options->replication, &run, error));
    weir_status status = an_facts_read(db, run, &facts, error);
    if (status == WEIR_OK) {
        struct weir_error why = { .phase = -1, .pool = -1 };
        (void)an_compare(db, NULL, &comparison, &why); /* without it there is no verdict */
        const struct an_claim_about about = { .db = db,
                                              .run = run,
                                              .from_s = facts->from_s,
                                              .at_s = options->at_s,
                                              .comparison = comparison };
        status = print_all(&about, out, error);
    }
    an_comparison_destroy(comparison);
    an_facts_destroy(facts);
    an_run_destroy(run);
    return status;
}
