/* SPDX-License-Identifier: GPL-3.0-or-later */
/* A session line by line (see decide_serve.h). */
#include "sim/cli/decide/decide_serve.h"

#include "sim/cli/decide/decide_document.h"
#include "sim/cli/decide/decide_session.h"
#include "sim/cli/options.h"

#include <stdlib.h>

struct line {
    char *text; /* ends with a zero, while it is not too long */
    size_t capacity, length;
};

static bool grow(struct line *line)
{
    const size_t capacity = line->capacity == 0 ? 1 << 12 : line->capacity * 2;
    char *const larger = realloc(line->text, capacity);
    if (larger == NULL)
        return false;
    line->text = larger;
    line->capacity = capacity;
    return true;
}

/* The next line, without what is beyond `most`; `length` counts that, too. False at the end of the
 * input. */
static bool read_line(FILE *in, size_t most, struct line *line)
{
    int byte = 0;

    line->length = 0;
    while ((byte = getc_unlocked(in)) != EOF && byte != '\n') {
        if (line->length < most) {
            if (line->length + 1 >= line->capacity && !grow(line))
                return false;
            line->text[line->length] = (char)byte;
        }
        line->length++;
    }
    if (line->text == NULL && !grow(line))
        return false;
    line->text[line->length < most ? line->length : most] = '\0';
    return byte != EOF || line->length > 0;
}

int decide_serve(const struct sim_policies *policies, size_t most, FILE *in, FILE *out)
{
    struct decide_session *const session = decide_session_open(policies);
    struct line line = { .text = NULL };

    for (json_int_t number = 1; session != NULL && read_line(in, most, &line); number++) {
        json_t *const answer = line.length > most
                                   ? decide_session_refuse_length(session, line.length, most)
                                   : decide_session_answer(session, line.text, line.length);
        json_object_set_new(answer, "line", json_integer(number));
        decide_print(answer, true, out);
        (void)fflush(out);
        json_decref(answer);
    }
    decide_session_close(session);
    free(line.text);
    if (session == NULL || ferror(in) != 0)
        (void)fprintf(stderr, "weir decide: standard input cannot be read\n");
    return session == NULL ? SIM_EXIT_RESOURCE : ferror(in) != 0 ? SIM_EXIT_INPUT : SIM_EXIT_OK;
}
