/* SPDX-License-Identifier: GPL-3.0-or-later */
/* A session line by line (see decide_serve.h). */
#include "sim/cli/decide/decide_serve.h"

#include "sim/cli/decide/decide_document.h"
#include "sim/cli/decide/decide_session.h"
#include "sim/cli/options.h"

#include <stdlib.h>

int decide_serve(const struct sim_policies *policies, FILE *in, FILE *out)
{
    struct decide_session *const session = decide_session_open(policies);
    char *text = NULL;
    size_t capacity = 0;
    ssize_t length = 0;

    for (json_int_t number = 1; session != NULL && (length = getline(&text, &capacity, in)) > 0;
         number++) {
        if (text[length - 1] == '\n')
            text[--length] = '\0';
        json_t *const answer = decide_session_answer(session, text, (size_t)length);
        json_object_set_new(answer, "line", json_integer(number));
        decide_print(answer, true, out);
        (void)fflush(out);
        json_decref(answer);
    }
    decide_session_close(session);
    free(text);
    if (session == NULL || ferror(in) != 0)
        (void)fprintf(stderr, "weir decide: standard input cannot be read\n");
    return session == NULL ? SIM_EXIT_RESOURCE : ferror(in) != 0 ? SIM_EXIT_INPUT : SIM_EXIT_OK;
}
