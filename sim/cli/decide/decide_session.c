/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Documents that are answered one after the other (see decide_session.h). */
#include "sim/cli/decide/decide_session.h"

#include "sim/cli/decide/decide_format.h"
#include "sim/cli/decide/decide_host.h"

#include <stdlib.h>
#include <string.h>

struct decide_session {
    struct decide_question question;
    struct decide_documents opening; /* what the host was made of, which keeps names of it */
    struct decide_host host;
    bool is_open;
};

struct line {
    struct decide_documents documents;
    struct sim_diagnostics diagnostics;
    struct weir_error error;
};

static void end_session(struct decide_session *session)
{
    if (session->is_open)
        decide_host_close(&session->host);
    decide_documents_clear(&session->opening);
    session->is_open = false;
}

/* The host of a whole document takes the place of the one before, once it is there. */
static weir_status open_session(struct decide_session *session, struct line *line)
{
    struct decide_session next = { .question = session->question };

    next.question.input = json_array_get(line->documents.list, 0);
    const weir_status status = decide_host_open(&next.host, &next.question, &line->error);
    if (status != WEIR_OK) {
        decide_host_close(&next.host);
        return status;
    }
    end_session(session);
    next.opening = line->documents;
    next.is_open = true;
    line->documents = (struct decide_documents){ .path = line->documents.path };
    *session = next;
    session->host.question = NULL; /* read to the end; its place is not this one */
    return WEIR_OK;
}

static weir_status read_document(const struct decide_session *session, const char *text,
                                 size_t length, struct line *line)
{
    struct decide_documents *const documents = &line->documents;

    if (strlen(text) < length)
        return weir_fail(&line->error, WEIR_EFORMAT, "line:1:%zu: a byte 0", strlen(text) + 1);
    WEIR_TRY(decide_documents_parse("line", text, length, documents, &line->error));
    documents->is_session = true;
    if (documents->is_array)
        return weir_fail(&line->error, WEIR_EFORMAT, "line:1:1: must be one object");
    decide_format_check(documents, 0, session->question.policies, &line->diagnostics);
    return line->diagnostics.errors == 0 ? WEIR_OK : WEIR_EFORMAT;
}

static weir_status answer_line(struct decide_session *session, const char *text, size_t length,
                               struct line *line, json_t **answer)
{
    WEIR_TRY(read_document(session, text, length, line));
    const json_t *const document = json_array_get(line->documents.list, 0);
    const char *const command = json_string_value(json_object_get(document, "command"));
    weir_status status = WEIR_OK;

    if (strcmp(command, "next") != 0)
        status = open_session(session, line);
    else if (!session->is_open)
        status = weir_fail(&line->error, WEIR_EINVAL,
                           "command: a session begins with a document of the command autoscale");
    else
        status = decide_host_change(&session->host, document, &line->error);
    if (status == WEIR_OK)
        return decide_host_answer(&session->host, answer, &line->error);
    if (line->documents.list != NULL)
        decide_format_report(&line->documents, 0, line->error.text, &line->diagnostics);
    return status;
}

/* ---- what is wrong ---- */

static json_t *remark_json(const struct sim_diagnostic *remark)
{
    json_t *const json =
        json_pack("{s:i, s:s}", "column", remark->column, "message", remark->message);

    if (remark->suggestion != NULL)
        json_object_set_new(json, "did_you_mean", json_string(remark->suggestion));
    return json;
}

static json_t *fault_json(const struct decide_session *session, weir_status status,
                          struct line *line)
{
    static const char place[] = "line:1:";
    json_t *const errors = json_array();
    const char *const text = line->error.text;

    if (line->diagnostics.count == 0 && strncmp(text, place, sizeof place - 1) == 0) {
        char *end = NULL;
        const long column = strtol(text + sizeof place - 1, &end, 10);
        if (strncmp(end, ": ", 2) == 0)
            json_array_append_new(
                errors, json_pack("{s:i, s:s}", "column", (int)column, "message", end + 2));
    }
    for (size_t i = 0; i < line->diagnostics.count; i++)
        json_array_append_new(errors, remark_json(&line->diagnostics.items[i]));
    const json_t *const first = json_object_get(json_array_get(errors, 0), "message");
    struct weir_error error = line->error;
    if (first != NULL)
        (void)snprintf(error.text, sizeof error.text, "%s", json_string_value(first));
    json_t *const json = decide_error_json(status, &error);
    json_object_set_new(json, "format", json_string(DECIDE_FORMAT "-answer"));
    json_object_set_new(json, "version", json_integer(DECIDE_VERSION));
    json_object_set_new(json, "errors", errors);
    json_object_set_new(json, "changes",
                        json_integer(session->is_open ? (json_int_t)session->host.changes : 0));
    return json;
}

/* ---- a session ---- */

struct decide_session *decide_session_open(const struct sim_policies *policies)
{
    struct decide_session *const session = calloc(1, sizeof *session);

    if (session != NULL)
        session->question.policies = policies;
    return session;
}

void decide_session_close(struct decide_session *session)
{
    if (session != NULL)
        end_session(session);
    free(session);
}

json_t *decide_session_answer(struct decide_session *session, const char *text, size_t length)
{
    struct line line = { .error = { .phase = -1, .pool = -1 } };
    json_t *answer = NULL;

    if (session->is_open)
        session->host.changes = 0;
    const weir_status status = answer_line(session, text, length, &line, &answer);
    if (status != WEIR_OK)
        answer = fault_json(session, status, &line);
    sim_diagnostics_clear(&line.diagnostics);
    decide_documents_clear(&line.documents);
    return answer;
}

json_t *decide_session_refuse_length(struct decide_session *session, size_t length, size_t most)
{
    struct line line = { .error = { .phase = -1, .pool = -1 } };
    if (session->is_open)
        session->host.changes = 0;
    const weir_status status =
        weir_fail(&line.error, WEIR_ERANGE,
                  "a line of %zu bytes: more than %zu MiB are not read (--limit line=MIB)", length,
                  most >> 20);
    return fault_json(session, status, &line);
}

weir_status decide_session_export(struct decide_session *session, const struct weir_sink *sink)
{
    return session->is_open ? weir_host_export_call(session->host.host, &session->host.call, sink)
                            : WEIR_ENOTFOUND;
}
