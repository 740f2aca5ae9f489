/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Decisions as JSON, for controllers in any language: a small second library, libweir-json, over
 * libweir and jansson (docs/embed.md, docs/decide.md).
 *
 * A session answers documents one after the other: a whole one begins it, those of the command
 * `next` say what happened since. What is wrong with a document is its answer. One thread a
 * session; several sessions may live side by side. A session in which memory ended answers nothing
 * more (NULL): it can be closed, and what it held is not given back.
 */
#ifndef WEIR_JSON_H
#define WEIR_JSON_H

#include "weir/version.h"

WEIR_BEGIN_DECLS

struct weir_json;

/* NULL = no memory. */
WEIR_API struct weir_json *weir_json_open(void);
WEIR_API void weir_json_close(struct weir_json *session);
/* The answer to one document, a line without its end. It lives until the next call with this
 * session; NULL = no memory. */
WEIR_API const char *weir_json_answer(struct weir_json *session, const char *document);
/* The document of the state as it is, which begins a session like this one; as above, and NULL
 * before a session has begun. */
WEIR_API const char *weir_json_state(struct weir_json *session);

WEIR_END_DECLS

#endif
