/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Any text is either documents for `weir decide` or refused with a message; every document is
 * either answered or refused with a message: no crash, no leak, no endless work.
 */
#include "sim/cli/decide/decide.h"
#include "sim/cli/decide/decide_format.h"
#include "tests/support/reached.h"

#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void answer(const struct decide_documents *documents, size_t index)
{
    const struct decide_question question = { .input = json_array_get(documents->list, index) };
    struct weir_error error = { .phase = -1, .pool = -1 };
    struct sim_diagnostics diagnostics = { .items = NULL };
    json_t *given = NULL;

    decide_format_check(documents, index, NULL, &diagnostics);
    if (diagnostics.errors == 0) {
        const weir_status status = decide_answer(&question, &given, &error);
        if ((status == WEIR_OK) != (given != NULL) || (status != WEIR_OK && error.text[0] == '\0'))
            abort();
        if (status == WEIR_OK)
            fuzz_reached();
        else
            decide_format_report(documents, index, error.text, &diagnostics);
    }
    for (size_t i = 0; i < diagnostics.count; i++) {
        if (diagnostics.items[i].line < 1 || diagnostics.items[i].message[0] == '\0')
            abort();
    }
    json_decref(given);
    sim_diagnostics_clear(&diagnostics);
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
        answer(&documents, i);
    decide_documents_clear(&documents);
    return 0;
}
