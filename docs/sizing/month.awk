# SPDX-License-Identifier: GPL-3.0-or-later
# Makes the list of jobs of docs/tutorial-sizing.md, the same on every machine: 30 000 jobs of five
# weeks, eight teams, three GPU models and MIG instances. More by day than by night, fewer at weekends.
#   awk -f month.awk >month.csv
function uniform() {
    state = (state * 16807) % 2147483647 # exact in doubles (Park and Miller)
    return state / 2147483647
}
function pick(list, weights,    words, parts, n, i, all, point) {
    n = split(list, words, " ")
    split(weights, parts, " ")
    for (i = 1; i <= n; i++)
        all += parts[i]
    point = uniform() * all
    for (i = 1; i < n && point >= parts[i]; i++)
        point -= parts[i]
    return words[i]
}
function row(at_s,    day, kind, gpus, mig, model, minutes, user) {
    kind = pick("debug train large serve", "40 38 6 16")
    user = pick("ana ben chi dev eva fay gus hal", "8 7 5 4 3 2 2 1")
    mig = ""
    if (kind == "debug") {
        gpus = pick("0.5 1 2", "3 5 2")
        minutes = 3 + 60 * uniform() ^ 3
        model = pick("- A100 H100", "60 30 10")
    } else if (kind == "train") {
        gpus = pick("1 2 4 8", "30 25 25 20")
        minutes = 60 + 4200 * uniform() ^ 4
        model = pick("A100|H100 A100 H100", "40 35 25")
    } else if (kind == "large") {
        gpus = pick("16 32 64", "60 30 10")
        minutes = 120 + 2400 * uniform() ^ 2
        model = pick("A100 H100", "60 40")
    } else {
        gpus = 0
        mig = pick("1g.5gb 2g.10gb 3g.20gb", "50 30 20")
        minutes = 60 + 2000 * uniform() ^ 2
        model = "-"
    }
    day = int(at_s / 86400)
    printf "j%05d;%s;%s;%s;%s;%d;2026-%02d-%02dT%02d:%02d:%02d;%.1f;%d\n", ++count, user,
        model == "-" ? "" : model, gpus, mig, gpus < 1 ? 2 : 8 * gpus, day < 31 ? 3 : 4,
        day < 31 ? day + 1 : day - 30, int(at_s / 3600) % 24, int(at_s / 60) % 60, at_s % 60,
        minutes, int(minutes / 60 * (1.5 + 2 * uniform())) + 1
}
BEGIN {
    state = 20260301
    print "id;user;model;gpus;instance;cpus;submitted;took_min;asked_h"
    for (day = 0; day < 35; day++) { # the 1st of March 2026 is a Sunday
        weekend = day % 7 == 0 || day % 7 == 6
        for (hour = 0; hour < 24; hour++) {
            jobs = (weekend ? 22 : 41.2) * (hour >= 9 && hour < 19 ? 1.5 : 0.643)
            whole = int(jobs)
            if (uniform() < jobs - whole)
                whole++
            delete at
            for (i = 1; i <= whole; i++)
                at[i] = int(3600 * uniform())
            for (i = 2; i <= whole; i++) # in order
                for (k = i; k > 1 && at[k - 1] > at[k]; k--) {
                    swap = at[k]; at[k] = at[k - 1]; at[k - 1] = swap
                }
            for (i = 1; i <= whole && count < 30000; i++)
                row(86400 * day + 3600 * hour + at[i])
        }
    }
}
