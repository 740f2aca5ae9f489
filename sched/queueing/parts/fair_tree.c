/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Fair shares as Slurm works them out (see fair_tree.h; fair_tree.c and priority_multifactor.c
 * there). Accounts that are equally far from their shares are merged, as its manual has it; the
 * code of some versions does not.
 */
#include "sched/queueing/parts/fair_tree.h"

#include <math.h>

static struct weir_tenant look_up(const struct weir_view *view, uint32_t number)
{
    struct weir_tenant tenant = { .size = sizeof tenant };

    (void)weir_view_tenant(view, number, &tenant);
    return tenant;
}

static void fill(const struct weir_view *view, struct weir_fair_branch *branches)
{
    const uint32_t count = weir_view_tenants(view);

    for (uint32_t t = 0; t < count; t++)
        branches[t] = (struct weir_fair_branch){ .tenant = look_up(view, t), .is_user = true };
    for (uint32_t t = 1; t < count; t++) { /* by parent, then by who is below it */
        branches[branches[t].tenant.parent].used += branches[t].tenant.device_s;
        branches[branches[t].tenant.parent].is_user = false;
    }
    for (uint32_t t = 1; t < count; t++) {
        struct weir_fair_branch *const at = &branches[t];
        const double level = branches[at->tenant.parent].used;
        if (at->tenant.share > 0)
            at->fairness = at->tenant.device_s > 0
                               ? at->tenant.share / (at->tenant.device_s / level)
                               : HUGE_VAL;
    }
}

/* Those that have parts get the most that one of these gets. */
static void raise_to_parts(const struct weir_fair_branch *branches, uint32_t count, double *shares)
{
    for (uint32_t t = count; t-- > 1;) { /* parts come after their whole */
        const uint32_t parent = branches[t].tenant.parent;
        if (parent != 0 && shares[t] > shares[parent])
            shares[parent] = shares[t];
    }
}

/* ---- the tree ---- */

struct walk {
    struct weir_fair_branch *branches;
    double *shares;
    uint32_t count, listed; /* tenants; numbers in the lists that are open, one after the other */
    double users, next;     /* all; the rank of the next */
};

static const struct weir_fair_branch *at(const struct walk *walk, uint32_t place)
{
    return &walk->branches[walk->branches[place].number];
}

/* -1: the left is first. Without parts before those that have some. */
static int compare(const struct weir_fair_branch *left, const struct weir_fair_branch *right)
{
    if (left->fairness > right->fairness || left->fairness < right->fairness)
        return left->fairness > right->fairness ? -1 : 1;
    return (int)right->is_user - (int)left->is_user;
}

/* Behind all that are listed and not behind it, from `first` on. */
static void list(struct walk *walk, uint32_t first, uint32_t number)
{
    uint32_t place = walk->listed++;

    for (; place > first && compare(&walk->branches[number], at(walk, place - 1)) < 0; place--)
        walk->branches[place].number = walk->branches[place - 1].number;
    walk->branches[place].number = number;
}

/* The parts of those at [first, first + count), in one list of their own; how many there are. */
static uint32_t list_parts(struct walk *walk, uint32_t first, uint32_t count)
{
    const uint32_t begin = walk->listed;

    for (uint32_t t = 1; t < walk->count; t++)
        for (uint32_t p = first; p < first + count; p++)
            if (walk->branches[t].tenant.parent == walk->branches[p].number)
                list(walk, begin, t);
    return walk->listed - begin;
}

/* The list that was opened last, of `count`; it closes it. As deep as the tree. */
static void visit(struct walk *walk, uint32_t count)
{
    const uint32_t first = walk->listed - count;
    const uint32_t end = walk->listed;
    uint32_t ties;

    for (uint32_t place = first; place < end; place += ties) {
        ties = 1;
        while (place + ties < end && compare(at(walk, place), at(walk, place + ties)) == 0)
            ties++;
        if (!at(walk, place)->is_user) {
            visit(walk, list_parts(walk, place, ties));
            continue;
        }
        for (uint32_t i = place; i < place + ties; i++)
            walk->shares[walk->branches[i].number] = walk->next / walk->users;
        walk->next -= ties;
    }
    walk->listed = first;
}

void weir_fair_tree(const struct weir_view *view, double *shares, struct weir_fair_branch *branches)
{
    struct walk walk = { .branches = branches, .shares = shares, .count = weir_view_tenants(view) };

    fill(view, branches);
    for (uint32_t t = 0; t < walk.count; t++) {
        shares[t] = 0;
        walk.users += t > 0 && branches[t].is_user ? 1 : 0;
    }
    walk.next = walk.users;
    walk.listed = 1; /* place 0 has the root */
    visit(&walk, list_parts(&walk, 0, 1));
    raise_to_parts(branches, walk.count, shares);
}

/* ---- 2^(-U/S) ---- */

void weir_fair_classic(const struct weir_view *view, double *shares)
{
    const uint32_t count = weir_view_tenants(view);
    double all = 0;

    for (uint32_t t = 1; t < count; t++) {
        const struct weir_tenant tenant = look_up(view, t);
        all += tenant.parent == 0 ? tenant.device_s : 0;
    }
    for (uint32_t t = 0; t < count; t++) {
        double share = 1;
        double used = 0;
        uint32_t path[WEIR_MAX_TENANT_DEPTH + 1];
        uint32_t depth = 0;
        for (uint32_t up = t; up != 0 && depth <= WEIR_MAX_TENANT_DEPTH;
             up = look_up(view, up).parent)
            path[depth++] = up;
        for (uint32_t i = depth; i-- > 0;) {
            const struct weir_tenant tenant = look_up(view, path[i]);
            const double own = all > 0 ? tenant.device_s / all : 0;
            share *= tenant.share;
            used = i + 1 == depth ? own : own + (used - own) * tenant.share;
        }
        shares[t] = t > 0 && share > 0 ? exp2(-used / share) : 0;
    }
}
