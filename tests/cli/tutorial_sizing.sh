#!/bin/bash
# SPDX-License-Identifier: GPL-3.0-or-later
# The commands of docs/tutorial-sizing.md print what the page says, and the list of jobs that they are
# about is the same on every machine.
# covers: S1.28
. "$WEIR_SOURCE_DIR/tests/support/cli.sh"
. "$WEIR_SOURCE_DIR/tests/support/tutorial.sh"
unset WEIR_CHECK_INVARIANTS # 60 runs of 40 000 jobs

cp "$WEIR_SOURCE_DIR"/docs/sizing/month.* .
awk -f month.awk >month.csv
[ "$(sha256sum <month.csv)" = "ed3b0c0798c98a9dc2c664216b55d2808abf077966a6c4f0e67a4e6fd8cef864  -" ] || fail 'another list of jobs'

if [ -z "${WEIR_SLOW:-}" ] || ! command -v gnuplot >/dev/null; then
    tutorial docs/tutorial-sizing.md 6 1
    expect 0 weir check month.yaml
    skip_part 'the searches and the page need gnuplot and a minute: WEIR_SLOW=1'
    exit 0
fi
tutorial docs/tutorial-sizing.md 6

# What the page says of the page.
while IFS= read -r sentence; do
    has plan.html "$sentence"
done < <(sed -n 's/^> //p' "$WEIR_SOURCE_DIR/docs/tutorial-sizing.md")
for id in frag-time cdf-user cdf-model; do
    has plan.html "id=\"$id\""
done
