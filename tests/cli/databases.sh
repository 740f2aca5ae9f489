#!/bin/bash
# SPDX-License-Identifier: GPL-3.0-or-later
# Whatever command opens a result database looks it over first: a file of a newer program, of another
# program, cut off, with an index that counts nothing or a table that is none is refused with a
# sentence, and not a byte of it is another one.
. "$WEIR_SOURCE_DIR/tests/support/cli.sh"
command -v sqlite3 >/dev/null || skip 'no sqlite3 program'
export WEIR_CHECK_INVARIANTS=0

two_variants 300 >small.yaml
expect 0 "$WEIR_BIN" compare small.yaml -n 2 -q -o good.db

# Every command says here how it opens a database, so that a new one cannot be forgotten.
readers='compare report plot export explain diff rerun snapshot check upgrade run merge show'
strangers='validate trace import decide'
without='policies doctor schema completion new list help'
older='validate upgrade doctor policies rerun trace snapshot schema completion' # not in the help
like_run='search' # goes on with what it began, in the same way
("$WEIR_BIN" --help | sed -n 's/^  \([a-z]\+\) .*/\1/p'; printf '%s\n' $older) | sort >commands
printf '%s\n' $readers $strangers $without $like_run | sort | diff - commands || fail 'which commands open databases?'

# open_with READER FILE: the words of each command that is to read the file.
open_with() {
    case $1 in
    compare) echo "compare $2" ;;
    report) echo "report $2 -o out.html" ;;
    plot) echo "plot $2 queues -o out.svg" ;;
    export) echo "export $2 --to openmetrics" ;;
    explain) echo "explain $2 --at 1s" ;;
    diff) echo "diff good.db $2" ;;
    rerun) echo "rerun $2" ;;
    snapshot) echo "snapshot $2 --at 1s" ;;
    check | upgrade | show) echo "$1 $2" ;;
    merge) echo "merge $2 --force -o merged.db" ;;
    run) echo "compare small.yaml -n 2 -q --resume -o $2" ;;
    esac
}

# refused SENTENCE [BUT]: every reader but those refuses x.db.
refused() {
    local before reader words
    before=$(sha256sum <x.db)
    for reader in $readers; do
        [[ " ${2:-} " != *" $reader "* ]] || continue
        read -ra words <<<"$(open_with "$reader" x.db)"
        expect 3 timeout 60 "$WEIR_BIN" "${words[@]}"
        matches stderr "^weir: ([a-z ]+: )?x.db: .*($1)"
        [ "$(wc -l <stderr)" = 1 ] || fail "$reader: more than a sentence"
        [ "$(sha256sum <x.db)" = "$before" ] || fail "$reader: x.db was changed"
    done
    if [ -z "${2:-}" ]; then
        expect 3 "$WEIR_BIN" explain x.db --at 1s --decide
        expect 3 "$WEIR_BIN" diff x.db good.db
    fi
}

# damaged SENTENCE SQL: refused after that was done to it.
damaged() {
    cp good.db x.db
    sqlite3 x.db "$2" >stdout 2>&1 || fail "$2: $(cat stdout)"
    refused "$1"
}

cp good.db x.db
for reader in $readers; do # as it is, each takes it
    read -ra words <<<"$(open_with "$reader" x.db)"
    expect 0 timeout 60 "$WEIR_BIN" "${words[@]}"
done

cp good.db x.db
sqlite3 x.db 'PRAGMA user_version = 99'
refused 'newer program|schema version 99' 'check upgrade'
for reader in check upgrade; do # they are asked for the version, and say it
    expect 1 "$WEIR_BIN" $reader x.db
    has stdout 'needs a newer program'
done
damaged 'no known version|schema version 0' 'PRAGMA user_version = 0'

rm x.db
sqlite3 x.db 'CREATE TABLE run (run_id)'
refused 'is not a weir database|is not a result database' 'check upgrade compare'
expect 3 "$WEIR_BIN" compare x.db
expect 3 "$WEIR_BIN" upgrade x.db
expect 2 "$WEIR_BIN" check x.db
has stderr 'this is a database, not a scenario'
head -c 20000 good.db >x.db
refused 'cannot (be )?read|is damaged|is not a weir database'
head -c $(($(stat -c %s good.db) / 2)) good.db >x.db
refused 'cannot (be )?read|is damaged|is not a weir database'

damaged 'table worker column stage is out of range' 'UPDATE worker SET stage = 99 WHERE rowid = 3'
# A number that is good in a larger run is none in a smaller one.
damaged 'table worker column stage is out of range' "DELETE FROM stage WHERE stage = 1 AND run_id = 2;
    DELETE FROM worker WHERE stage = 1 AND run_id = 2; DELETE FROM stage_sample WHERE stage = 1 AND
    run_id = 2; DELETE FROM decision_stage WHERE stage = 1 AND run_id = 2; DELETE FROM action WHERE
    stage = 1 AND run_id = 2; INSERT INTO worker SELECT 2, worker, 1, node, devices, gpu_mask,
    gpu_amount, created_s, ready_s, ended_s, end_reason, tasks, busy_s, workload, job FROM worker
    WHERE run_id = 1 AND stage = 1 LIMIT 1"
damaged 'table node_sample column node is out of range' 'UPDATE node_sample SET node = -1'
damaged 'table stage does not number them' 'DELETE FROM stage WHERE stage = 0 AND run_id = 1'
damaged 'column t_s is not a finite number' 'UPDATE cluster_sample SET t_s = 9e999'
damaged 'column dt_s is out of range' 'UPDATE cluster_sample SET dt_s = 0'
damaged 'column gpus is out of range' 'UPDATE node SET gpus = 65'
damaged 'has no table worker' 'DROP TABLE worker'
damaged 'table stage has no column mix' 'PRAGMA writable_schema = 1; ALTER TABLE stage DROP COLUMN mix'
damaged 'its worker is not the table' 'DROP TABLE worker; CREATE TABLE worker (run_id, stage)'
damaged 'its worker is not the table' 'DROP TABLE worker; CREATE VIEW worker AS SELECT * FROM stage'
damaged 'non-TEXT value in stage.stage' "PRAGMA writable_schema = 1; UPDATE sqlite_schema
    SET sql = replace(sql, 'stage INTEGER', 'stage TEXT') WHERE name = 'stage'"
damaged 'has a trigger' 'CREATE TRIGGER t AFTER DELETE ON run BEGIN DELETE FROM stage; END'

# An experiment with axes says of itself which points it has; they are those of its runs.
expect 0 "$WEIR_BIN" compare small.yaml -n 2 -q --axis pipelines.p.input.items=30,60 -o axes.db
# of_points SENTENCE SQL: who compares points refuses the file; others do not ask for them.
of_points() {
    cp axes.db x.db
    sqlite3 x.db "UPDATE meta SET value = $2 WHERE key = 'axes'" || fail "$2"
    for words in 'compare x.db' 'compare x.db --format csv' 'report x.db -o out.html' \
        'plot x.db axis -o out.svg' 'plot x.db queues -o out.svg'; do
        read -ra words <<<"$words"
        expect 3 "$WEIR_BIN" "${words[@]}"
        matches stderr "^weir: x.db.*$1"
    done
}
wrong='the points of its axes are not those of its runs'
of_points "$wrong" "json_replace(value, '\$.points', json('[]'))"
of_points "$wrong" "json_replace(value, '\$.points[0]', json_extract(value, '\$.points[1]'))"
of_points "$wrong" "json_remove(value, '\$.points[0]')"
of_points "$wrong" "json_replace(value, '\$.points[1].point', 7)"
of_points "$wrong" "json_replace(value, '\$.points[1].point', 0.5)"
of_points "$wrong" "json_replace(value, '\$.points[1].label', NULL)"
of_points "$wrong" "json_replace(value, '\$.points[1].variant', 3)"
of_points 'its points are not all there' "json_replace(value, '\$.points[1].values', json('[]'))"
of_points 'malformed JSON' "'{'"
# Two such files are compared by one variant of each.
cp axes.db again.db
expect 0 "$WEIR_BIN" compare axes.db again.db
has stdout 'no difference'
# No results: there is nothing to compare.
cp axes.db x.db
sqlite3 x.db 'DELETE FROM result'
expect 2 "$WEIR_BIN" compare x.db
has stderr 'weir: not comparable: the runs have no results'

# A view of the file is not run, whatever it says.
cp good.db x.db
sqlite3 x.db 'DROP VIEW v_denial; CREATE VIEW v_denial AS WITH RECURSIVE c(n) AS
    (SELECT 1 UNION ALL SELECT n + 1 FROM c) SELECT n AS run_id FROM c'
expect 0 timeout 20 "$WEIR_BIN" explain x.db --stage b

# A scenario that is not the one that was stored is not repeated.
cp good.db x.db
sqlite3 x.db "UPDATE run SET resolved_yaml = replace(resolved_yaml, '300', '301')"
for words in 'rerun x.db' 'snapshot x.db --at 1s' 'explain x.db --at 1s --decide'; do
    read -ra words <<<"$words"
    expect 3 "$WEIR_BIN" "${words[@]}"
    has stderr 'the scenario of run 1 is not the one that was stored'
done

# Commands for other files say what it is, or that they do not know it.
for reader in $strangers; do
    words=("$reader" good.db)
    [ "$reader" != trace ] || words=(trace info good.db)
    code=0
    timeout 20 "$WEIR_BIN" "${words[@]}" >stdout 2>stderr || code=$?
    [ "$code" = 2 ] || [ "$code" = 3 ] || fail "$reader good.db: exit code $code"
    matches stderr 'good.db'
done
