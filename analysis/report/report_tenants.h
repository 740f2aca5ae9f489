/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The tables of the page about those who share a cluster; each is left out where it has no rows. */
#ifndef ANALYSIS_REPORT_TENANTS_H
#define ANALYSIS_REPORT_TENANTS_H

#include "analysis/report/report_tables.h"

/* By tenant: its part, its guarantee, its waits. Then who waits, and who holds GPUs meanwhile. */
weir_status an_page_tenants(const struct an_page *page, struct weir_error *error);

#endif
