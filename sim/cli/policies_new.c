/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * weir policies new NAME: writes NAME.c, a module to start from: the template with its policies and
 * its module named after NAME. It builds, runs and passes the checker as it is.
 */
#include "sim/cli/policies_check.h"

#include "sim/cli/analysis_options.h"
#include "sim/files/written.h"
#include "weir_text.h"

#include <ctype.h>
#include <string.h>
#include <unistd.h>

enum { PATH = 4096 };

static bool is_identifier(const char *name)
{
    bool is_good = islower((unsigned char)name[0]) != 0 && strlen(name) < 64;
    for (const char *at = name; *at != '\0'; at++)
        is_good &= islower((unsigned char)*at) || isdigit((unsigned char)*at) || *at == '_';
    return is_good;
}

/* Names in the template are texts that begin with its own. */
static void write_named(const char *name, FILE *out)
{
    static const char mark[] = "\"template";
    const char *rest = weir_text_template_c;
    for (const char *at; (at = strstr(rest, mark)) != NULL; rest = at + sizeof mark - 1)
        (void)fprintf(out, "%.*s\"%s", (int)(at - rest), rest, name);
    (void)fputs(rest, out);
}

/* Where the public headers are, as seen from the program: installed, or in its source tree. */
static void find_headers(char folder[PATH])
{
    static const char *const places[] = { "../include", "../sched/include", "../../sched/include" };
    static const char header[] = "/weir/policy.h";
    char program[PATH / 2] = "";
    const ssize_t size = readlink("/proc/self/exe", program, sizeof program - 1);
    char *slash = size > 0 ? strrchr(program, '/') : NULL;
    for (size_t i = 0; slash != NULL && i < sizeof places / sizeof places[0]; i++) {
        *slash = '\0';
        const int length = snprintf(folder, PATH, "%s/%s%s", program, places[i], header);
        const bool is_there = access(folder, R_OK) == 0;
        folder[(size_t)length - (sizeof header - 1)] = '\0';
        if (is_there)
            return;
    }
    (void)snprintf(folder, PATH, "include");
}

int sim_policies_new(const char *name)
{
    char path[80];
    char headers[PATH];
    if (!is_identifier(name)) {
        (void)fprintf(stderr,
                      "weir policies new: '%s' is no name: small letters, digits and _ only, a "
                      "letter first\n",
                      name);
        return SIM_EXIT_USAGE;
    }
    (void)snprintf(path, sizeof path, "%s.c", name);
    struct written file;
    struct weir_error error = { .phase = -1, .pool = -1 };
    weir_status status = written_open_new(path, &file, &error);
    if (status == WEIR_OK) {
        write_named(name, file.out);
        status = written_close(&file, WEIR_OK, &error);
    }
    if (status != WEIR_OK)
        return sim_analysis_exit(status, &error);
    find_headers(headers);
    printf("gcc -std=c17 -O2 -shared -fPIC -I %s %s -o %s.so\n", headers, path, name);
    printf("weir policies check ./%s.so\n", name);
    printf("weir run SCENARIO --plugin ./%s.so --set sched.scaling=%s_queue_chaser\n", name, name);
    return SIM_EXIT_OK;
}
