/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Files that are there already; see the header. */
#include "sim/cli/in_the_way.h"

#include "sim/files/written.h"

#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

static const struct sim_option force_rows[] = {
    { "force", 0, NULL, .kind = SIM_OPTION_FLAG, .offset = 0,
      "Replace a file that is there and that weir did not make" },
};
const struct sim_option_table sim_force_option = { SIM_OPTION_ROWS(force_rows) };

int sim_in_the_way(const char *command, const char *path, bool is_forced)
{
    struct stat found;

    if (is_forced || path == NULL || strcmp(path, "-") == 0 || stat(path, &found) != 0 ||
        !S_ISREG(found.st_mode) || found.st_size == 0 || written_is_marked(path))
        return SIM_EXIT_OK;
    (void)fprintf(stderr,
                  "%s: %s is there already: --force replaces it, -o FILE writes elsewhere\n",
                  command, path);
    return SIM_EXIT_INPUT;
}
