/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Any text is either questions of known cases or refused with a message; every question is answered
 * or refused with a message: no crash, no leak, no endless work.
 */
#include "sim/cli/decide/decide_document.h"
#include "tests/replay/replay.h"
#include "tests/support/reached.h"

#include <stdlib.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void answer(const json_t *input)
{
    struct weir_error error = { .phase = -1, .pool = -1 };
    json_t *given = NULL;
    const weir_status status = replay_answer(input, &given, &error);

    if ((status == WEIR_OK) != (given != NULL) || (status != WEIR_OK && error.text[0] == '\0'))
        abort();
    if (status == WEIR_OK)
        fuzz_reached();
    json_decref(given);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct weir_error error = { .phase = -1, .pool = -1 };
    struct decide_documents documents;
    const weir_status status =
        decide_documents_parse("fuzz.json", (const char *)data, size, &documents, &error);

    if (status != WEIR_OK && error.text[0] == '\0')
        abort();
    for (size_t i = 0; status == WEIR_OK && i < json_array_size(documents.list); i++)
        answer(json_array_get(documents.list, i));
    decide_documents_clear(&documents);
    return 0;
}
