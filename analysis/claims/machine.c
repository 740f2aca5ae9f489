/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Claims about what the machine delivered: links and stores against their bandwidth, memory of
 * nodes against its limit, GPUs against their speed. From the whole run, warm-up or not, as their
 * samples and charts are.
 */
#include "analysis/claims/claims.h"

#include <math.h>

static struct an_word bytes_of(const struct an_claim *claim, const char *key)
{
    return an_word_bytes(an_claim_number(claim, key));
}

static struct an_word percent_of(const struct an_claim *claim, const char *key)
{
    return an_word_percent(an_claim_number(claim, key));
}

static struct an_word watts_of(const struct an_claim *claim, const char *key)
{
    const double watts = an_claim_number(claim, key);
    return watts >= 999.5 ? an_word_value(watts / 1e3, "kW") : an_word_value(watts, "W");
}

/* ---- links and stores ---- */

/* A link gave 99 % or more of what it could in all of a sample; less while it is slow or down. */
#define LINKS                                                                                      \
    "k AS (SELECT l.link, l.name, " AN_LINK_KIND_SQL " AS kind,"                                   \
    " sum(s.capacity_bytes_per_s * s.dt_s) / sum(s.dt_s) AS most,"                                 \
    " sum(s.delivered_bytes_per_s * s.dt_s) / sum(s.dt_s) AS mean, total(CASE WHEN " AN_FULL_SQL   \
    " THEN s.dt_s END) / sum(s.dt_s) AS 'full'"                                                    \
    " FROM link l JOIN link_sample s ON s.run_id = l.run_id AND s.link = l.link"                   \
    " WHERE l.run_id = :run GROUP BY l.link)"

static void say_full(struct an_claim *claim)
{
    an_claim_say(claim, "%s %s is full %s of the time; mean %s/s of %s/s",
                 an_claim_word(claim, "kind"), an_claim_name(claim, "name").text,
                 percent_of(claim, "full").text, bytes_of(claim, "mean").text,
                 bytes_of(claim, "most").text);
}

static void say_no_link_full(struct an_claim *claim)
{
    an_claim_say(claim, "No link is full; the most used, %s, gives %s of what it can on average",
                 an_claim_name(claim, "name").text, percent_of(claim, "share").text);
}

/* ---- memory ---- */

#define MEMORY                                                                                     \
    "m AS (SELECT n.node, n.name, n.ram_limit_bytes AS 'limit', max(s.in_use_max_bytes) AS most,"  \
    " total(s.spilled_bytes) AS spilled, (SELECT count(*) FROM happening h WHERE h.run_id ="       \
    " n.run_id AND h.kind = 'oom' AND h.target = n.name) AS killed FROM node n JOIN"               \
    " memory_sample s ON s.run_id = n.run_id AND s.node = n.node WHERE n.run_id = :run"            \
    " GROUP BY n.node)"

static void say_killed(struct an_claim *claim)
{
    const double killed = an_claim_number(claim, "killed");
    const bool is_all = an_claim_number(claim, "here") >= killed;
    an_claim_say(claim, "Memory ran out: %s worker%s killed, %s%s on %s",
                 an_word_number(killed).text, killed > 1.5 ? "s were" : " was",
                 is_all ? "all" : an_word_number(an_claim_number(claim, "here")).text,
                 is_all ? "" : " of them", an_claim_name(claim, "name").text);
}

static void say_spilled(struct an_claim *claim)
{
    const bool is_all = an_claim_number(claim, "here") >= an_claim_number(claim, "spilled");
    an_claim_say(claim, "What waits goes to disk: %s, %s of it from %s",
                 bytes_of(claim, "spilled").text, is_all ? "all" : bytes_of(claim, "here").text,
                 an_claim_name(claim, "name").text);
}

static void say_memory(struct an_claim *claim)
{
    if (isnan(an_claim_number(claim, "limit")))
        an_claim_say(claim, "Nobody is killed and nothing goes to disk: %s holds %s at most",
                     an_claim_name(claim, "name").text, bytes_of(claim, "most").text);
    else
        an_claim_say(claim, "Memory suffices: the fullest node, %s, holds %s of %s at most",
                     an_claim_name(claim, "name").text, bytes_of(claim, "most").text,
                     bytes_of(claim, "limit").text);
}

/* ---- power and heat ---- */

#define POWER                                                                                      \
    "p AS (SELECT n.node, n.name, max(s.gpu_power_w) AS most_w, min(s.cap_w) AS cap_w,"            \
    " count(s.cap_w) = count(*) AS always, max(s.temperature_max_c) AS hottest,"                   \
    " sum(s.gpu_power_w * s.dt_s) AS joules, sum(s.gpu_computing * s.dt_s) AS computing,"          \
    " sum(s.gpu_delivered * s.dt_s) AS delivered FROM node n JOIN power_sample s ON s.run_id ="    \
    " n.run_id AND s.node = n.node WHERE n.run_id = :run AND n.gpus > 0 GROUP BY n.node),"         \
    " t AS (SELECT count(*) AS nodes, sum(delivered) / nullif(sum(computing), 0) AS speed,"        \
    " sum(computing) AS computing FROM p HAVING count(*) > 0)"
#define HELD_BACK "t.speed < 0.9995"

static void say_no_compute(struct an_claim *claim)
{
    an_claim_say(claim, "No GPU computes in this run");
}

static void say_full_speed(struct an_claim *claim)
{
    an_claim_say(claim, "No GPU is held back: those of %s draw %s at most",
                 an_claim_name(claim, "name").text, watts_of(claim, "most_w").text);
}

/* Of one node it is known what holds its GPUs back, unless both do. */
static void say_one_node(struct an_claim *claim)
{
    const double hottest = an_claim_number(claim, "hottest");
    const bool is_capped = !isnan(an_claim_number(claim, "cap_w"));
    struct an_word why = { "" };
    if (is_capped && isnan(hottest))
        (void)snprintf(why.text, sizeof why.text, "; capped at %.16s%s",
                       watts_of(claim, "cap_w").text,
                       an_claim_number(claim, "always") > 0.5 ? "" : " at times");
    else if (!is_capped && !isnan(hottest))
        (void)snprintf(why.text, sizeof why.text, "; they reach %.16s",
                       an_word_value(hottest, "°C").text);
    an_claim_say(claim, "GPUs of %s that compute have %s of their speed%s",
                 an_claim_name(claim, "name").text, percent_of(claim, "speed").text, why.text);
}

static void say_held_back(struct an_claim *claim)
{
    an_claim_say(claim, "GPUs that compute have %s of their speed; %s loses most: %s",
                 percent_of(claim, "speed").text, an_claim_name(claim, "name").text,
                 percent_of(claim, "worst").text);
}

static const struct an_claim_ops rows[] = {
    { .name = "links.full",
      .threshold = "99 % of its bandwidth in all of a sample: less may be the end of a transfer",
      .sql = "WITH " LINKS " SELECT kind, name, \"full\", mean, most FROM k WHERE \"full\" > 0"
             " ORDER BY \"full\" DESC, mean / most DESC, link LIMIT 1",
      .say = say_full },
    { .name = "links.free",
      .threshold = "no link gave 99 % of its bandwidth in all of a sample",
      .sql = "WITH " LINKS " SELECT name, mean / most AS share FROM k WHERE"
             " (SELECT max(\"full\") FROM k) <= 0 ORDER BY share DESC, link LIMIT 1",
      .say = say_no_link_full },
    { .name = "memory.killed",
      .threshold = "one worker: it is counted, not sampled",
      .sql = "WITH " MEMORY " SELECT (SELECT sum(killed) FROM m) AS killed, killed AS here, name"
             " FROM m WHERE killed > 0 ORDER BY killed DESC, node LIMIT 1",
      .say = say_killed },
    { .name = "memory.spilled",
      .threshold = "a byte, and nobody is killed, which matters more",
      .sql = "WITH " MEMORY " SELECT (SELECT sum(spilled) FROM m) AS spilled, spilled AS here,"
             " name FROM m WHERE spilled > 0 AND (SELECT sum(killed) FROM m) = 0"
             " ORDER BY m.spilled DESC, node LIMIT 1",
      .say = say_spilled },
    { .name = "memory.suffices",
      .threshold = "nobody is killed and nothing goes to disk",
      .sql = "WITH " MEMORY " SELECT name, most, \"limit\" FROM m WHERE (SELECT sum(killed) +"
             " sum(spilled) FROM m) = 0 ORDER BY most / coalesce(\"limit\", 1) DESC, node LIMIT 1",
      .say = say_memory },
    { .name = "power.idle",
      .threshold = "no compute at all",
      .sql = "WITH " POWER " SELECT nodes FROM t WHERE NOT computing > 0",
      .say = say_no_compute },
    { .name = "power.free",
      .threshold = "less than 0.05 % of the speed is lost: that is how exactly it is measured",
      .sql = "WITH " POWER " SELECT name, most_w FROM p, t WHERE t.computing > 0 AND NOT " HELD_BACK
             " ORDER BY most_w DESC, node LIMIT 1",
      .say = say_full_speed },
    { .name = "power.node",
      .threshold = "0.05 % of the speed is lost, on the one node there is",
      .sql = "WITH " POWER " SELECT name, speed, cap_w, hottest, always FROM p, t WHERE " HELD_BACK
             " AND nodes = 1",
      .say = say_one_node },
    { .name = "power.nodes",
      .threshold = "0.05 % of the speed is lost, on several nodes together",
      .sql = "WITH " POWER " SELECT speed, name, delivered / p.computing AS worst FROM p, t WHERE"
             " " HELD_BACK " AND nodes > 1 ORDER BY p.computing - delivered DESC, joules DESC,"
             " node LIMIT 1",
      .say = say_held_back },
};

AN_CLAIM_FAMILY(machine, rows);
