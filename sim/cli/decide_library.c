/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * libweir-json: the session of `weir decide --serve` as a library (weir/json.h).
 *
 * It is made of the same files as the program's; policies of modules are the program's alone, so
 * what loads them there is nothing here.
 */
#include "weir/json.h"

#include "sim/cli/decide_document.h"
#include "sim/cli/decide_session.h"
#include "sim/engine/law.h"
#include "sim/port/module.h"

#include <stdlib.h>
#include <string.h>

struct weir_json {
    struct decide_session *session;
    char *text; /* what was answered last */
};

struct weir_json *weir_json_open(void)
{
    struct weir_json *const made = calloc(1, sizeof *made);

    if (made == NULL)
        return NULL;
    made->session = decide_session_open(NULL);
    if (made->session == NULL) {
        free(made);
        return NULL;
    }
    return made;
}

void weir_json_close(struct weir_json *session)
{
    if (session == NULL)
        return;
    decide_session_close(session->session);
    free(session->text);
    free(session);
}

/* Where the next answer is written. */
static FILE *begin_text(struct weir_json *session, size_t *length)
{
    free(session->text);
    session->text = NULL;
    return open_memstream(&session->text, length);
}

static const char *end_text(struct weir_json *session, FILE *out)
{
    const bool is_whole = ferror(out) == 0;

    return fclose(out) == 0 && is_whole ? session->text : NULL;
}

const char *weir_json_answer(struct weir_json *session, const char *document)
{
    size_t length = 0;

    if (session == NULL || document == NULL)
        return NULL;
    json_t *const answer = decide_session_answer(session->session, document, strlen(document));
    FILE *const out = begin_text(session, &length);
    if (out != NULL)
        decide_print(answer, true, out);
    json_decref(answer);
    const char *const text = out == NULL ? NULL : end_text(session, out);
    if (text != NULL)
        session->text[strcspn(session->text, "\n")] = '\0';
    return text;
}

static weir_status append(void *state, const char *text, size_t length)
{
    return fwrite(text, 1, length, state) == length ? WEIR_OK : WEIR_ENOMEM;
}

const char *weir_json_state(struct weir_json *session)
{
    size_t length = 0;
    FILE *const out = session == NULL ? NULL : begin_text(session, &length);

    if (out == NULL)
        return NULL;
    const struct weir_sink sink = { .write = append, .state = out };
    const weir_status status = decide_session_export(session->session, &sink);
    const char *const text = end_text(session, out);
    for (char *at = session->text; text != NULL && *at != '\0'; at++)
        if (*at == '\n') /* between words: texts of JSON have none */
            *at = ' ';
    return status == WEIR_OK ? text : NULL;
}

/* ---- in place of what the program has besides: modules, and laws of times ---- */

weir_status sim_placement_load(const struct weir_placement_ops **ops, struct weir_error *error)
{
    (void)ops;
    (void)error;
    return WEIR_OK;
}

weir_status sim_scaling_load(const struct weir_scaling_ops **ops, struct weir_error *error)
{
    (void)ops;
    (void)error;
    return WEIR_OK;
}

weir_status sim_queueing_load(const struct weir_queueing_ops **ops, struct weir_error *error)
{
    (void)ops;
    (void)error;
    return WEIR_OK;
}

void sim_law_destroy(struct sim_law *law)
{
    (void)law;
}
