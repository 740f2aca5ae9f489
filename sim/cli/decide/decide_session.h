/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * A session: documents in, answers out, one for one.
 *
 * A whole document begins it: its host stays. A document of the command `next` says what happened
 * since, and asks that host again, whose policies remember. A text that is wrong is answered by
 * what is wrong with it; nothing of it is told to the host but what its answer counts.
 */
#ifndef SIM_CLI_DECIDE_SESSION_H
#define SIM_CLI_DECIDE_SESSION_H

#include "weir/host.h"

#include <jansson.h>

struct decide_session;
struct sim_policies;

/* `policies` are those of plug-ins, or NULL. NULL = no memory. */
struct decide_session *decide_session_open(const struct sim_policies *policies);
void decide_session_close(struct decide_session *session);
/* The answer to one document, whose text ends with a zero; the caller releases it. */
json_t *decide_session_answer(struct decide_session *session, const char *text, size_t length);
/* The answer to one that is not even read, being longer than `most`. */
json_t *decide_session_refuse_length(struct decide_session *session, size_t length, size_t most);
/* The document that begins such a session. WEIR_ENOTFOUND before there is one. */
weir_status decide_session_export(struct decide_session *session, const struct weir_sink *sink);

#endif
