/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Claims of a capacity review. Their figures are over many runs (review.h), or over the weeks to
 * come; who has them gives them.
 */
#include "analysis/claims/claims.h"

#include <math.h>
#include <string.h>

/* Behind the name of the option, where there are several. */
static const char *colon(const struct an_claim *claim)
{
    return an_claim_word(claim, "option")[0] == '\0' ? "" : ": ";
}

static struct an_word number_of(const struct an_claim *claim, const char *key)
{
    return an_word_number(an_claim_number(claim, key));
}

static bool is_demand(const struct an_claim *claim)
{
    return an_claim_number(claim, "is_demand") > 0.5;
}

/* The values of the axis as its reader wrote them. */
static void say_choice(struct an_claim *claim)
{
    an_claim_say(claim, "%s%s%s %s keeps %s", an_claim_word(claim, "option"), colon(claim),
                 an_claim_word(claim, "axis"), an_claim_word(claim, "value"),
                 an_claim_word(claim, "goal"));
}

static void say_nearly(struct an_claim *claim)
{
    an_claim_say(claim, "%s%s%s %s keeps %s by its mean, not for certain",
                 an_claim_word(claim, "option"), colon(claim), an_claim_word(claim, "axis"),
                 an_claim_word(claim, "value"), an_claim_word(claim, "goal"));
}

static void say_nothing(struct an_claim *claim)
{
    an_claim_say(claim, "No %s that was run keeps %s", an_claim_word(claim, "axis"),
                 an_claim_word(claim, "goal"));
}

static void say_safe(struct an_claim *claim)
{
    const double runs = an_claim_number(claim, "runs");
    an_claim_say(
        claim, "%s%s%s %s %s %s for certain: %s in %.0f run%s", an_claim_word(claim, "option"),
        colon(claim), an_claim_word(claim, "path"), an_claim_word(claim, "value"),
        is_demand(claim) ? "is the most work that keeps" : "is the least that keeps",
        an_claim_word(claim, "goal"), an_claim_word(claim, "means"), runs, an_plural(runs));
}

static void say_likely(struct an_claim *claim)
{
    an_claim_say(claim, "%s%s%s %s keeps %s by its mean, not for certain: %s",
                 an_claim_word(claim, "option"), colon(claim), an_claim_word(claim, "path"),
                 an_claim_word(claim, "value"), an_claim_word(claim, "goal"),
                 an_claim_word(claim, "means"));
}

static void say_none(struct an_claim *claim)
{
    an_claim_say(claim, "%s%sno value of %s that was run keeps %s; at %s, the easiest, %s",
                 an_claim_word(claim, "option"), colon(claim), an_claim_word(claim, "path"),
                 an_claim_word(claim, "goal"), an_claim_word(claim, "value"),
                 an_claim_word(claim, "means"));
}

static void say_cost(struct an_claim *claim)
{
    an_claim_say(claim, "%s%s%s costs %s $ in %s", an_claim_word(claim, "option"), colon(claim),
                 an_claim_word(claim, "value"), number_of(claim, "cost").text,
                 an_word_duration(an_claim_number(claim, "span")).text);
}

static void say_cheaper(struct an_claim *claim)
{
    const struct an_word cost = number_of(claim, "cost");
    const struct an_word other_cost = number_of(claim, "other_cost");
    const char *option = an_claim_word(claim, "option");
    const char *value = an_claim_word(claim, "value");
    const char *other = an_claim_word(claim, "other");
    const char *other_value = an_claim_word(claim, "other_value");
    if (strcmp(cost.text, other_cost.text) == 0)
        an_claim_say(claim, "%s at %s and %s at %s cost the same, %s $", option, value, other,
                     other_value, cost.text);
    else
        an_claim_say(claim, "%s at %s is cheaper than %s at %s: %s $ against %s $", option, value,
                     other, other_value, cost.text, other_cost.text);
}

/* What one step harder would be: nodes that are lost, more work than was thought. */
static void say_loss(struct an_claim *claim)
{
    const char *harder = an_claim_word(claim, "harder");
    if (harder[0] == '\0')
        an_claim_say(claim,
                     "%s%s%s is the hardest value that was run: what it has to spare is not "
                     "known",
                     an_claim_word(claim, "option"), colon(claim), an_claim_word(claim, "value"));
    else
        an_claim_say(claim, "%s%s%s has nothing to spare: %s %s, %s",
                     an_claim_word(claim, "option"), colon(claim), an_claim_word(claim, "value"),
                     harder, an_claim_word(claim, "verdict"), an_claim_word(claim, "harder_means"));
}

static void say_weeks(struct an_claim *claim)
{
    const double weeks = an_claim_number(claim, "weeks");
    an_claim_say(claim, "%s%sat %s more work a month that is reached in %.0f week%s",
                 an_claim_word(claim, "option"), colon(claim),
                 an_word_percent(an_claim_number(claim, "growth")).text, floor(weeks),
                 an_plural(floor(weeks)));
}

static void say_growth(struct an_claim *claim)
{
    an_claim_say(claim,
                 "All of this is of the work there is now, which grows %s a month: weir search "
                 "SCENARIO --largest WORK.arrivals.scale=1..2:0.1 says for how long a size will do",
                 an_word_percent(an_claim_number(claim, "growth")).text);
}

static void say_exhaustion(struct an_claim *claim)
{
    const double weeks = an_claim_number(claim, "weeks");
    if (weeks > 0.0)
        an_claim_say(claim,
                     "Growing %s a month, one hour in twenty asks for all %s GPUs within "
                     "%.0f week%s",
                     an_word_percent(an_claim_number(claim, "growth")).text,
                     number_of(claim, "installed").text, ceil(weeks), an_plural(ceil(weeks)));
    else
        an_claim_say(claim, "One hour in twenty asks for %s GPUs or more already; there are %s",
                     number_of(claim, "p95").text, number_of(claim, "installed").text);
}

static void say_busy(struct an_claim *claim)
{
    const double weeks = an_claim_number(claim, "weeks");
    if (weeks > 0.0)
        an_claim_say(claim,
                     "Growing %s a month, one hour in twenty keeps all %s %s busy within "
                     "%.0f week%s",
                     an_word_percent(an_claim_number(claim, "growth")).text,
                     number_of(claim, "installed").text, an_claim_word(claim, "devices"),
                     ceil(weeks), an_plural(ceil(weeks)));
    else
        an_claim_say(claim, "One hour in twenty keeps all %s %s busy already",
                     number_of(claim, "installed").text, an_claim_word(claim, "devices"));
}

static const struct an_claim_ops rows[] = {
    { .name = "review.choice",
      .threshold =
          "one option is safe, or of several it is the cheapest; where none has a price and all "
          "are of one size, the best",
      .say = say_choice },
    { .name = "review.nearly",
      .threshold = "no option is safe; the best of those that hold by their means",
      .say = say_nearly },
    { .name = "review.nothing",
      .threshold = "no option holds by its means at any value",
      .say = say_nothing },
    { .name = "review.safe",
      .threshold = "the 95 % interval of every condition holds there, and no easier value that was "
                   "run fails by its mean",
      .say = say_safe },
    { .name = "review.likely",
      .threshold = "it is harder than what is safe, and the means hold there and at all that is "
                   "easier",
      .say = say_likely },
    { .name = "review.none",
      .threshold = "the means hold nowhere, or not at the easiest value",
      .say = say_none },
    { .name = "review.cost", .threshold = "it is safe and has a price", .say = say_cost },
    { .name = "review.cheaper",
      .threshold = "two options are safe and have a price; the cheapest and the next",
      .say = say_cheaper },
    { .name = "review.loss",
      .threshold = "it is safe; the next harder value that was run",
      .say = say_loss },
    { .name = "review.weeks",
      .threshold = "more work than today is safe, and the scenario says how fast it grows",
      .say = say_weeks },
    { .name = "review.growth",
      .threshold = "something was sized, not along the work, and the scenario says that it grows",
      .say = say_growth },
    { .name = "review.exhaustion",
      .threshold = "the scenario says that its work grows, and jobs were kept",
      .say = say_exhaustion },
    { .name = "review.busy",
      .threshold =
          "the scenario says that its work grows, and no jobs were kept but stages; of the "
          "kind of device with the largest 95 % quantile of what is busy after the warm-up",
      .say = say_busy },
};

AN_CLAIM_FAMILY(review, rows);
