#!/bin/bash
# SPDX-License-Identifier: GPL-3.0-or-later
# Same scenario, same seed, same digests: in every build, under every locale, however many run at
# once, and the same as when tests/golden/digests.txt was last reviewed.
# Update after an intended change of behaviour: WEIR_UPDATE_GOLDEN=1 (and say why in the commit).
. "$WEIR_SOURCE_DIR/tests/support/cli.sh"

golden=$WEIR_SOURCE_DIR/tests/golden/digests.txt

digests() { # label, scenario, options ...
    local label=$1 scenario=$2
    shift 2
    "$WEIR_BIN" run "$WEIR_SOURCE_DIR/scenarios/$scenario" --format json --quiet "$@" |
        awk -v label="$label" -F'"' '$2 == "result_digest" && !seen++ { print label, $4 }'
}

all() {
    digests plain reference/xenna_plain_n2.yaml --no-db
    digests nvdec reference/xenna_nvdec_n2.yaml --no-db
    digests nvdec_tick reference/xenna_nvdec_n2.yaml --no-db --set 'pipelines[0].semantics=tick'
    digests video examples/video_pipeline.yaml --no-db -n 1 --set horizon=2h
    digests timeline examples/timeline.yaml --no-db --set horizon=7h
    digests mm1 queueing/mm1.yaml --no-db -n 1 --set horizon=20000s
    digests tandem queueing/tandem3.yaml --no-db -n 1
}

all >now.txt
if [ -n "${WEIR_UPDATE_GOLDEN:-}" ]; then
    cp now.txt "$golden"
fi
[ "$(wc -l <now.txt)" -eq 7 ] || fail "a run printed no digest"
same now.txt "$golden"

# The invariants were checked once; the repetitions below compare results only.
export WEIR_CHECK_INVARIANTS=0

# A locale with a decimal comma must not matter.
if command -v localedef >/dev/null && [ -f /usr/share/i18n/locales/de_DE ]; then
    localedef -i de_DE -f UTF-8 "$PWD/de_DE.UTF-8" >/dev/null 2>&1 || true
    (export LOCPATH=$PWD LC_ALL=de_DE.UTF-8; all >comma.txt) 2>/dev/null
    same comma.txt now.txt
else
    LC_ALL=C.UTF-8 all >comma.txt
    same comma.txt now.txt
    skip_part "no source of a locale with a decimal comma (package locales)"
fi

# Databases of one process and of four hold the same rows.
for jobs in 1 4; do
    expect 0 "$WEIR_BIN" compare "$WEIR_SOURCE_DIR/scenarios/examples/video_pipeline.yaml" -n 2 \
        --set horizon=40min --set warmup=5min -j "$jobs" -o "jobs$jobs.db" --quiet
done
for table in result worker decision_stage cluster_sample; do
    for jobs in 1 4; do
        sqlite3 "jobs$jobs.db" "SELECT * FROM $table ORDER BY 1, 2, 3, 4" >"$table.$jobs" 2>/dev/null ||
            skip "no sqlite3 program"
    done
    same "$table.1" "$table.4"
done
