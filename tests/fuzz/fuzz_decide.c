/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Any text is either documents for `weir decide` or refused with a message; every document is
 * either answered or refused with a message: no crash, no leak, no endless work.
 */
#include "sim/cli/decide.h"

#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void answer(const json_t *document)
{
    struct weir_error error = { .phase = -1, .pool = -1 };
    json_t *given = NULL;
    const weir_status status = decide_answer(document, &given, &error);

    if ((status == WEIR_OK) != (given != NULL) || (status != WEIR_OK && error.text[0] == '\0'))
        abort();
    json_decref(given);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct weir_error error = { .phase = -1, .pool = -1 };
    json_t *documents = NULL;
    char *text = malloc(size + 1);

    if (text == NULL)
        return 0;
    if (size > 0)
        memcpy(text, data, size);
    text[size] = '\0';
    if (decide_parse("fuzz.json", text, size, &documents, &error) != WEIR_OK) {
        if (error.text[0] == '\0' || documents != NULL)
            abort();
    }
    for (size_t i = 0; i < json_array_size(documents); i++)
        answer(json_array_get(documents, i));
    json_decref(documents);
    free(text);
    return 0;
}
