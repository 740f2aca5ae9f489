/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The programme of node_pack.h. Columns of GLPK count from 1: first the workers, kind by kind and
 * node by node, then the patterns, node by node.
 */
#include "sim/scenario/node_pack.h"

#include <glpk.h>
#include <stdlib.h>
#include <string.h>

enum { MOST_PATTERNS = 400, MOST_PARTS = 8, WORK_OF_ONE = 10 };

struct patterns {
    uint32_t kinds[MOST_PARTS]; /* that take a part of a GPU */
    uint32_t kind_count;
    uint32_t (*parts)[MOST_PARTS]; /* of a pattern, by kind in `kinds` */
    uint32_t count;
    bool is_full; /* there are more than are kept */
};

struct pack {
    const struct sim_pack_question *question;
    struct patterns patterns;
    glp_prob *lp;
    int *indices;
    double *values;
    int work;
};

/* ---- patterns of a GPU ---- */

static bool lists_parts(struct pack *pack)
{
    struct patterns *patterns = &pack->patterns;
    for (size_t i = 0; i < pack->question->count; i++) {
        if (pack->question->items[i].part == 0 || !(pack->question->workers[i] > 0))
            continue;
        if (patterns->kind_count == MOST_PARTS)
            return false;
        patterns->kinds[patterns->kind_count++] = (uint32_t)i;
    }
    return true;
}

/* All ways to go on from `chosen` with the kinds from `kind` on, where nothing more would fit. */
static void extend(struct pack *pack, uint32_t kind, uint32_t left, uint32_t chosen[MOST_PARTS])
{
    struct patterns *patterns = &pack->patterns;
    if (patterns->is_full)
        return;
    if (kind < patterns->kind_count) {
        const uint32_t part = pack->question->items[patterns->kinds[kind]].part;
        const bool is_last = kind + 1 == patterns->kind_count; /* only all that fit of it */
        for (uint32_t n = left / part + 1; n-- > (is_last ? left / part : 0);) {
            chosen[kind] = n;
            extend(pack, kind + 1, left - n * part, chosen);
        }
        return;
    }
    for (uint32_t k = 0; k < patterns->kind_count; k++)
        if (pack->question->items[patterns->kinds[k]].part <= left)
            return; /* another pattern holds it, too */
    patterns->is_full = patterns->count == MOST_PATTERNS;
    if (!patterns->is_full)
        memcpy(patterns->parts[patterns->count++], chosen, MOST_PARTS * sizeof *chosen);
}

/* ---- rows ---- */

static int worker_at(const struct pack *pack, size_t kind, size_t node)
{
    return (int)(kind * pack->question->node_count + node + 1);
}

static int pattern_at(const struct pack *pack, size_t node, uint32_t pattern)
{
    return worker_at(pack, pack->question->count, 0) + (int)(node * pack->patterns.count + pattern);
}

static void add_row(struct pack *pack, int count, int kind, double bound)
{
    const int row = glp_add_rows(pack->lp, 1);
    glp_set_row_bnds(pack->lp, row, kind, bound, bound);
    glp_set_mat_row(pack->lp, row, count, pack->indices, pack->values);
}

static void add_columns(struct pack *pack)
{
    const struct sim_pack_question *question = pack->question;
    glp_add_cols(pack->lp, pattern_at(pack, question->node_count, 0) - 1);
    for (size_t i = 0; i < question->count; i++)
        for (size_t b = 0; b < question->node_count; b++) {
            const int column = worker_at(pack, i, b);
            const bool has_any = question->nodes[b].may_stand[i] && question->workers[i] > 0;
            glp_set_col_kind(pack->lp, column, GLP_IV);
            glp_set_col_bnds(pack->lp, column, has_any ? GLP_DB : GLP_FX, 0,
                             has_any ? question->workers[i] : 0);
        }
    for (size_t b = 0; b < question->node_count; b++)
        for (uint32_t q = 0; q < pack->patterns.count; q++) {
            const uint32_t gpus = question->nodes[b].room.gpus;
            glp_set_col_kind(pack->lp, pattern_at(pack, b, q), GLP_IV);
            glp_set_col_bnds(pack->lp, pattern_at(pack, b, q), gpus > 0 ? GLP_DB : GLP_FX, 0, gpus);
        }
}

/* All workers stand somewhere. */
static void add_demand(struct pack *pack)
{
    for (size_t i = 0; i < pack->question->count; i++) {
        for (size_t b = 0; b < pack->question->node_count; b++) {
            pack->indices[b + 1] = worker_at(pack, i, b);
            pack->values[b + 1] = 1;
        }
        add_row(pack, (int)pack->question->node_count, GLP_FX, pack->question->workers[i]);
    }
}

static void add_node(struct pack *pack, size_t node)
{
    const struct sim_pack_question *question = pack->question;
    int cpus = 0;
    for (size_t i = 0; i < question->count; i++) {
        pack->indices[++cpus] = worker_at(pack, i, node);
        pack->values[cpus] = question->items[i].cpus;
    }
    add_row(pack, cpus, GLP_UP, question->nodes[node].room.cpus);
    int gpus = 0;
    for (size_t i = 0; i < question->count; i++)
        if (question->items[i].gpus > 0) {
            pack->indices[++gpus] = worker_at(pack, i, node);
            pack->values[gpus] = question->items[i].gpus;
        }
    for (uint32_t q = 0; q < pack->patterns.count; q++) {
        pack->indices[++gpus] = pattern_at(pack, node, q);
        pack->values[gpus] = 1;
    }
    add_row(pack, gpus, GLP_UP, question->nodes[node].room.gpus);
    for (uint32_t k = 0; k < pack->patterns.kind_count; k++) {
        pack->indices[1] = worker_at(pack, pack->patterns.kinds[k], node);
        pack->values[1] = 1;
        for (uint32_t q = 0; q < pack->patterns.count; q++) {
            pack->indices[q + 2] = pattern_at(pack, node, q);
            pack->values[q + 2] = -(double)pack->patterns.parts[q][k];
        }
        add_row(pack, (int)pack->patterns.count + 1, GLP_UP, 0);
    }
}

/* Of nodes that are alike the first carries most, by a weight that tells kinds apart. */
static void add_order(struct pack *pack, size_t node)
{
    const struct sim_pack_question *question = pack->question;
    int count = 0;
    if (node + 1 == question->node_count ||
        question->nodes[node].type != question->nodes[node + 1].type)
        return;
    for (size_t i = 0; i < question->count; i++)
        for (size_t b = node; b <= node + 1; b++) {
            pack->indices[++count] = worker_at(pack, i, b);
            pack->values[count] = (b == node ? 1 : -1) * (double)(i + 1);
        }
    add_row(pack, count, GLP_LO, 0);
}

/* ---- solving ---- */

static void count_work(glp_tree *tree, void *state)
{
    struct pack *pack = state;
    if (glp_ios_reason(tree) == GLP_ISELECT && pack->work-- <= 0)
        glp_ios_terminate(tree);
}

static enum sim_pack_answer solve(struct pack *pack)
{
    glp_iocp control;
    glp_init_iocp(&control);
    control.msg_lev = GLP_MSG_OFF;
    control.presolve = GLP_ON;
    control.gmi_cuts = GLP_ON;
    control.mir_cuts = GLP_ON;
    control.cb_func = count_work;
    control.cb_info = pack;
    const int end = glp_intopt(pack->lp, &control);
    const int status = glp_mip_status(pack->lp);
    if (status == GLP_OPT || status == GLP_FEAS)
        return SIM_PACK_FITS;
    return (end == 0 && status == GLP_NOFEAS) || end == GLP_ENOPFS ? SIM_PACK_NEVER
                                                                   : SIM_PACK_UNSURE;
}

static enum sim_pack_answer ask(struct pack *pack)
{
    const struct sim_pack_question *question = pack->question;
    uint32_t chosen[MOST_PARTS] = { 0 };
    if (!lists_parts(pack))
        return SIM_PACK_UNSURE;
    if (pack->patterns.kind_count > 0)
        extend(pack, 0, question->nodes[0].room.steps, chosen);
    if (pack->patterns.is_full)
        return SIM_PACK_UNSURE;
    (void)glp_term_out(GLP_OFF);
    pack->lp = glp_create_prob();
    add_columns(pack);
    add_demand(pack);
    for (size_t b = 0; b < question->node_count; b++) {
        add_node(pack, b);
        add_order(pack, b);
    }
    const enum sim_pack_answer answer = solve(pack);
    glp_delete_prob(pack->lp);
    return answer;
}

enum sim_pack_answer sim_node_pack(const struct sim_pack_question *question, int *work)
{
    const size_t room = question->count * question->node_count + MOST_PATTERNS + 2;
    struct pack pack = { .question = question,
                         .patterns.parts = calloc(MOST_PATTERNS, sizeof *pack.patterns.parts),
                         .indices = calloc(room, sizeof *pack.indices),
                         .values = calloc(room, sizeof *pack.values),
                         .work = *work };
    enum sim_pack_answer answer = SIM_PACK_UNSURE;
    if (pack.patterns.parts != NULL && pack.indices != NULL && pack.values != NULL && *work > 0)
        answer = ask(&pack);
    *work = pack.work - WORK_OF_ONE;
    free(pack.patterns.parts);
    free(pack.indices);
    free(pack.values);
    return answer;
}
