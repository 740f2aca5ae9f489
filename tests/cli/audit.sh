#!/bin/bash
# SPDX-License-Identifier: GPL-3.0-or-later
# Operations on models: who did what and who was not allowed to, in the database and in words.
# covers: S3.39
. "$WEIR_SOURCE_DIR/tests/support/cli.sh"

command -v sqlite3 >/dev/null || skip 'no sqlite3 program'
scenario=$WEIR_SOURCE_DIR/scenarios/services/permissions.yaml

expect 0 "$WEIR_BIN" run "$scenario" -q -o kept.db
sqlite3 kept.db 'SELECT t_s, subject, operation, model, is_allowed, text FROM audit ORDER BY t_s' >rows
cat >wanted <<'ROWS'
120.0|mallory|unload|model|0|mallory may not unload model
240.0|alice|load|model|1|model loaded by alice
300.5|alice|deploy|model|1|model in another version by alice
ROWS
same rows wanted
expect 0 "$WEIR_BIN" explain kept.db --stage model
has stdout 'what was done to it (table audit):'
has stdout '00:02:00     mallory may not unload model'
expect 0 "$WEIR_BIN" explain kept.db --stage model --from 3min --to 5min
has stdout 'model loaded by alice'
hasnt stdout 'mallory'
hasnt stdout 'another version'

# With the right she may; who is not named did it as the administrator.
expect 0 "$WEIR_BIN" run "$scenario" --set permissions.mallory.may=unload -q -o open.db
[ "$(sqlite3 open.db 'SELECT count(*), min(is_allowed) FROM audit')" = '3|1' ] || fail 'somebody is denied'
sed '/action: unload/s/, subject: mallory//' "$scenario" >plain.yaml
expect 0 "$WEIR_BIN" run plain.yaml -q -o plain.db
[ "$(sqlite3 plain.db "SELECT operation, is_allowed FROM audit WHERE subject = ''")" = 'unload|1' ] ||
    fail 'the administrator is denied'
# Kept at the lowest level, too.
expect 0 "$WEIR_BIN" run "$scenario" -q -o least.db --set metrics.keep=results
[ "$(sqlite3 least.db 'SELECT count(*) FROM audit')" = 3 ] || fail 'the audit is not kept'
