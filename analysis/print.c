/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * A page on paper; see the header. The page is the one that people open, with its style for paper
 * (report.css): a second layout would say the same in other words.
 */
#include "analysis/print.h"

#include "analysis/program.h"

#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>

static const double print_timeout_s = 120.0;

/* They print with the same options. */
static const char *const browsers[] = { "chromium", "chromium-browser", "google-chrome",
                                        "google-chrome-stable" };

static const char *find_browser(void)
{
    char path[1024];
    for (size_t i = 0; i < sizeof browsers / sizeof browsers[0]; i++)
        if (an_program_find(browsers[i], path, sizeof path))
            return browsers[i];
    return NULL;
}

weir_status an_print_check(struct weir_error *error)
{
    if (find_browser() != NULL)
        return WEIR_OK;
    return weir_fail(error, WEIR_EIO,
                     "a PDF is printed by a browser, and none is found that can: install the "
                     "package chromium, or write FILE.html and print it from any browser");
}

weir_status an_print(const char *folder, const char *name, struct weir_error *error)
{
    WEIR_TRY(an_print_check(error));
    const char *browser = find_browser();
    const struct an_program program = { browser, browser, folder, print_timeout_s };
    char page[256];
    char to[256];
    (void)snprintf(page, sizeof page, "%s.html", name);
    (void)snprintf(to, sizeof to, "--print-to-pdf=%s.pdf", name);
    /* Its sandbox cannot be started by root. The page is weir's own and loads nothing. */
    const char *const sandbox = geteuid() == 0 ? "--no-sandbox" : "--disable-extensions";
    const char *const arguments[] = {
        "--headless", "--disable-gpu", sandbox, "--no-pdf-header-footer", to, page, NULL
    };
    WEIR_TRY(an_program_run(&program, arguments, error));
    char path[1200];
    struct stat found;
    (void)snprintf(path, sizeof path, "%s/%s.pdf", folder, name);
    if (stat(path, &found) != 0 || found.st_size == 0)
        return weir_fail(error, WEIR_EIO, "%s printed nothing", browser);
    return WEIR_OK;
}

static void remove_one(const char *folder, const char *name, const char *ending)
{
    char path[1200];
    (void)snprintf(path, sizeof path, "%s/%s.%s", folder, name, ending);
    (void)unlink(path);
}

void an_print_clear(const char *folder, const char *name)
{
    remove_one(folder, name, "html");
    remove_one(folder, name, "pdf");
    for (size_t i = 0; i < sizeof browsers / sizeof browsers[0]; i++)
        remove_one(folder, browsers[i], "log");
}
