/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * What this program was built from: the facts behind `weir --version` and the provenance rows of a
 * result database. The definitions are generated at build time (cmake/build_info.cmake).
 * No build date: the same source gives the same bytes.
 */
#ifndef SIM_CLI_BUILD_INFO_H
#define SIM_CLI_BUILD_INFO_H

#include <stdbool.h>

/* The program's version, for example "0.1.0". */
const char *sim_build_version(void);

/* The first 12 digits of the git commit, or "unknown" when built outside a repository. */
const char *sim_build_commit(void);

/* True when tracked files differed from that commit. */
bool sim_build_dirty(void);

/* Compiler and its version, for example "GNU 12.2.0". */
const char *sim_build_compiler(void);

/* The compiler flags of the build type, for example "-O2 -g -flto". */
const char *sim_build_flags(void);

#endif
