/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Claims: every title, headline, lead and verdict is one. A claim has a name, a query, a threshold
 * and a sentence. The query yields one row where the claim holds and none where it does not, so
 * that the threshold stands in its WHERE; the sentence is written from that row alone. Charts, the
 * page and the command line ask for a claim by name and print what comes back, or nothing.
 *
 * Claims about several variants that need a test of chance are judged by an_compare, which takes
 * the place of the query.
 */
#ifndef ANALYSIS_CLAIM_H
#define ANALYSIS_CLAIM_H

#include "analysis/database/query.h"
#include "analysis/text.h"
#include "weir/version.h"

enum { AN_CLAIM_VALUES = 20, AN_CLAIM_TEXT = 400 };

/* A column of the row: a number, or a word (then the number is NAN). */
struct an_claim_value {
    char key[32];
    double number;
    char word[96];
};

struct an_claim {
    const char *name;         /* NULL = none was made */
    char text[AN_CLAIM_TEXT]; /* "" = none was made */
    struct an_claim_value values[AN_CLAIM_VALUES];
    size_t count;
};

/* What a claim is about. */
struct an_claim_about {
    struct an_db *db;
    const struct an_run *run;
    double from_s;                          /* end of the warm-up, as the facts have it */
    double at_s;                            /* a moment; NAN = the busiest one */
    const struct an_comparison *comparison; /* NULL = asked for where a claim needs it */
};

struct an_claim_ops {
    const char *name;
    const char *threshold;          /* from where on it is said, and why */
    const struct an_shared *shared; /* what its query reads, with others; NULL = nothing */
    /* Parameters :run, :id (its replication), :from, :to (the moment; NULL = none). */
    const char *sql;
    /* Instead of sql: fills the values; false = it does not hold. */
    bool (*judge)(const struct an_comparison *comparison, struct an_claim *claim);
    void (*say)(struct an_claim *claim);
}; /* without sql and judge: figures that are given, see an_claim_give() */

/* The workers that hold GPUs at :to: weir_moment (node, stage, worker, gpu_mask, gpu_amount). */
extern const struct an_shared an_share_moment;
/* Who waits, and what others hold meanwhile: weir_waits (waiter, place, waits, wait_s, holder,
 * gpus). place 1 waits longest in all; gpus is the mean over the time in which jobs of the waiter
 * wait, weighted by how many do; holder NULL = the GPUs there are. At most 8 waiters, none who
 * waits less than a second at a time, which a decision takes. */
extern const struct an_shared an_share_waits;
/* What tenants hold: weir_shares (tenant, t, next, gpus, waits, dominant, gpu), one row from a
 * change to the next; the last two are parts of the cluster. */
extern const struct an_shared an_share_tenants;

/* Groups whose nodes are asked for and given back, from a change to the next: weir_supply (type,
 * t_s, next_s, there, coming, taken), taken back by their owner at t_s; where there are
 * several, type '' is all of them together. Nothing where no node comes or goes. */
extern const struct an_shared an_share_supply;

size_t an_claim_count(void);
const struct an_claim_ops *an_claim_at(size_t index);

/* claim->text is "" when it does not hold. WEIR_ENOTFOUND: there is no claim of this name. */
weir_status an_claim_make(const struct an_claim_about *about, const char *name,
                          struct an_claim *claim, struct weir_error *error);
/* The first that holds of names split by blanks. */
weir_status an_claim_first(const struct an_claim_about *about, const char *names,
                           struct an_claim *claim, struct weir_error *error);

/* Says a claim of whose name and values the caller is sure. */
void an_claim_give(const char *name, struct an_claim *claim);

/* ---- for sentences ---- */

double an_claim_number(const struct an_claim *claim, const char *key);
const char *an_claim_word(const struct an_claim *claim, const char *key);
/* A name in its sentence: whole where a word has room for it, else not to be taken for another word
 * of the claim. */
struct an_word an_claim_name(const struct an_claim *claim, const char *key);
void an_claim_say(struct an_claim *claim, const char *format, ...) WEIR_PRINTF(2, 3);
void an_claim_put(struct an_claim *claim, const char *key, double number);
void an_claim_put_word(struct an_claim *claim, const char *key, const char *word);

/* ---- for programs ---- */

/* All claims that hold for a run, as JSON: name, sentence, threshold and values. */
weir_status an_claims_print(struct an_db *db, const struct an_plot_options *options, FILE *out,
                            struct weir_error *error);

#endif
