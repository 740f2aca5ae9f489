/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * A QQ plot: quantiles of a sample against those of the law fitted to it, in the style of the other
 * charts. On the diagonal the two agree.
 */
#ifndef ANALYSIS_QQ_H
#define ANALYSIS_QQ_H

#include "weir/status.h"

#include <stddef.h>

enum { AN_QQ_POINTS = 400 };

struct an_qq {
    const char *title;    /* the finding */
    const char *subtitle; /* law, sample size, goodness */
    const char *unit;     /* of the axes */
    const double *fitted; /* quantiles of the law, ascending */
    const double *seen;   /* of the sample at the same probabilities */
    size_t count;
};

/* Writes FOLDER/NAME.dat, NAME.gp and draws NAME.svg. The folder is made when it is missing. */
weir_status an_qq_plot(const char *folder, const char *name, const struct an_qq *qq,
                       struct weir_error *error);

#endif
