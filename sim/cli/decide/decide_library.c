/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * libweir-json: the session of `weir decide --serve` as a library (weir/json.h).
 *
 * It is made of the same files as the program's; policies of modules are the program's alone, so
 * what loads them there is nothing here.
 */
#include "weir/json.h"

#include "sim/cli/decide/decide_document.h"
#include "sim/cli/decide/decide_memory.h"
#include "sim/cli/decide/decide_session.h"
#include "sim/engine/law.h"
#include "sim/port/module.h"

#include <stdlib.h>
#include <string.h>

struct weir_json {
    struct decide_session *session;
    char *text;     /* what was answered last */
    bool is_broken; /* memory ended within a call: what the session holds is as it was just then */
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
    if (!session->is_broken)
        decide_session_close(session->session);
    free(session->text);
    free(session);
}

/* ---- calls, which end where memory does ---- */

struct call {
    struct weir_json *in;
    const char *document;
    const char *text; /* NULL = there is none */
    size_t length;    /* of what the session keeps of it */
    bool is_short;    /* of memory */
};

/* Memory streams of the C library lose letters when there is no memory, and call it well. */
static ssize_t take(void *state, const char *bytes, size_t size)
{
    struct call *const call = state;
    char *const larger = (realloc)(call->in->text, call->length + size + 1);

    if (larger == NULL)
        return 0;
    call->in->text = larger;
    memcpy(larger + call->length, bytes, size);
    call->length += size;
    larger[call->length] = '\0';
    return (ssize_t)size;
}

/* Where the next answer is written. */
static FILE *begin_text(struct call *call)
{
    FILE *const out = fopencookie(call, "w", (cookie_io_functions_t){ .write = take });

    call->is_short = out == NULL;
    return out;
}

static void end_text(struct call *call, FILE *out)
{
    const bool is_whole = ferror(out) == 0;

    call->is_short = fclose(out) != 0 || !is_whole;
    call->text = call->in->text;
}

static const char *ended(struct call *call, void (*made)(void *))
{
    struct weir_json *const session = call->in;

    if (session == NULL || session->is_broken)
        return NULL;
    free(session->text);
    session->text = NULL;
    if (!decide_memory_try(made, call) || call->is_short) {
        session->is_broken = true;
        return NULL;
    }
    return call->text;
}

static void make_answer(void *state)
{
    struct call *const call = state;
    json_t *const answer =
        decide_session_answer(call->in->session, call->document, strlen(call->document));
    const char *const reason = json_string_value(json_object_get(answer, "error_type"));
    FILE *const out =
        reason != NULL && strcmp(reason, "WEIR_ENOMEM") == 0 ? NULL : begin_text(call);

    if (out != NULL) {
        decide_print(answer, true, out);
        end_text(call, out);
    } else {
        call->is_short = true;
    }
    if (call->text != NULL)
        call->in->text[strcspn(call->text, "\n")] = '\0';
    json_decref(answer);
}

const char *weir_json_answer(struct weir_json *session, const char *document)
{
    struct call call = { .in = session, .document = document };

    return document == NULL ? NULL : ended(&call, make_answer);
}

static weir_status append(void *state, const char *text, size_t length)
{
    return fwrite(text, 1, length, state) == length ? WEIR_OK : WEIR_ENOMEM;
}

static void make_state(void *state)
{
    struct call *const call = state;
    FILE *const out = begin_text(call);

    if (out == NULL)
        return;
    const struct weir_sink sink = { .write = append, .state = out };
    const weir_status status = decide_session_export(call->in->session, &sink);
    end_text(call, out);
    call->is_short |= status == WEIR_ENOMEM;
    for (char *at = call->in->text; call->text != NULL && *at != '\0'; at++)
        if (*at == '\n') /* between words: texts of JSON have none */
            *at = ' ';
    if (status != WEIR_OK)
        call->text = NULL;
}

const char *weir_json_state(struct weir_json *session)
{
    struct call call = { .in = session };

    return ended(&call, make_state);
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

weir_status sim_capacity_load(const struct weir_capacity_ops **ops, struct weir_error *error)
{
    (void)ops;
    (void)error;
    return WEIR_OK;
}

void sim_law_destroy(struct sim_law *law)
{
    (void)law;
}
