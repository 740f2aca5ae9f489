/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Claims whose figures are not in a run of the database: of the points of an axis, which many runs
 * share, and of curves that were measured elsewhere. Who has the figures gives them.
 */
#include "analysis/claims/claims.h"

static struct an_word value_of(const struct an_claim *claim, const char *key)
{
    return an_word_value(an_claim_number(claim, key), an_claim_word(claim, "unit"));
}

static const char *bound_of(const struct an_claim *claim, const char *key)
{
    return an_claim_number(claim, key) > 0.5 ? "at least " : "";
}

static const char *partial_of(const struct an_claim *claim, const char *key)
{
    return an_claim_number(claim, key) > 0.5 ? " so far" : "";
}

static void say_ends(struct an_claim *claim)
{
    const char *line = an_claim_word(claim, "line");
    an_claim_say(claim, "%s%s%s %s%s%s at %s %s, %s%s%s at %s", line, line[0] == '\0' ? "" : ": ",
                 an_claim_word(claim, "label"), bound_of(claim, "first_is_bound"),
                 value_of(claim, "first").text, partial_of(claim, "first_is_partial"),
                 an_claim_word(claim, "axis"), an_claim_word(claim, "from"),
                 bound_of(claim, "last_is_bound"), value_of(claim, "last").text,
                 partial_of(claim, "last_is_partial"), an_claim_word(claim, "to"));
}

static void say_off(struct an_claim *claim)
{
    const char *stage = an_claim_word(claim, "stage");
    const double points = an_claim_number(claim, "points");
    an_claim_say(claim, "%s%s%s: simulated %s, measured %s on average; %s off at %.0f point%s",
                 an_claim_word(claim, "metric"), stage[0] == '\0' ? "" : " of ", stage,
                 value_of(claim, "found").text, value_of(claim, "measured").text,
                 an_word_percent(an_claim_number(claim, "error")).text, points,
                 points < 1.5 ? "" : "s");
}

static void say_most(struct an_claim *claim)
{
    an_claim_say(claim, "%s moves %s most: from %s to %s, %s as it is",
                 an_claim_word(claim, "path"), an_claim_word(claim, "label"),
                 value_of(claim, "low").text, value_of(claim, "high").text,
                 value_of(claim, "base").text);
}

static void say_unsure(struct an_claim *claim)
{
    an_claim_say(
        claim, "No value that was tried moves %s, which is %s, for certain; %s most: from %s to %s",
        an_claim_word(claim, "label"), value_of(claim, "base").text, an_claim_word(claim, "path"),
        value_of(claim, "low").text, value_of(claim, "high").text);
}

static void say_unmoved(struct an_claim *claim)
{
    an_claim_say(claim, "Nothing that was varied moves %s, which is %s",
                 an_claim_word(claim, "label"), value_of(claim, "base").text);
}

static struct an_word time_of(struct an_claim *claim, const char *key)
{
    return an_word_duration(an_claim_number(claim, key));
}

static void say_unknown(struct an_claim *claim)
{
    an_claim_say(claim, "The run is too short to tell its start from the rest");
}

static void say_no_start(struct an_claim *claim)
{
    an_claim_say(claim, "Nothing tells the start from the rest");
}

static void say_over(struct an_claim *claim)
{
    an_claim_say(claim, "The start is over after %s, and the warm-up of %s covers it",
                 time_of(claim, "cut").text, time_of(claim, "warmup").text);
}

static void say_counted(struct an_claim *claim)
{
    if (an_claim_number(claim, "warmup") > 0.0)
        an_claim_say(claim, "The start lasts %s, the warm-up %s: results hold some of it",
                     time_of(claim, "cut").text, time_of(claim, "warmup").text);
    else
        an_claim_say(claim, "The start lasts %s, and there is no warm-up: results hold all of it",
                     time_of(claim, "cut").text);
}

static const struct an_claim_ops rows[] = {
    { .name = "start.unknown",
      .threshold = "MSER-5 cuts at the half: no warm-up can be told from the rest",
      .say = say_unknown },
    { .name = "start.none", .threshold = "MSER-5 cuts nothing", .say = say_no_start },
    { .name = "start.over", .threshold = "MSER-5 cuts within the warm-up", .say = say_over },
    { .name = "start.counted",
      .threshold = "MSER-5 cuts half a bin and more behind the warm-up",
      .say = say_counted },
    { .name = "vary.most",
      .threshold = "of the values with the widest bar one differs from the scenario as it is, for "
                   "certain or in its only run",
      .say = say_most },
    { .name = "vary.unsure",
      .threshold = "none of the values with the widest bar differs for certain",
      .say = say_unsure },
    { .name = "vary.unmoved", .threshold = "all means are the same", .say = say_unmoved },
    { .name = "axis.ends",
      .threshold = "two values of the axis at which the first line has a mean",
      .say = say_ends },
    { .name = "observed.error",
      .threshold = "one measured point within the run, and something above 0 measured",
      .say = say_off },
};

AN_CLAIM_FAMILY(given, rows);
