#!/bin/bash
# SPDX-License-Identifier: GPL-3.0-or-later
# The parts of an experiment, made apart, are put together: the same database as that of one program,
# whatever the order of the parts and however often one is named; a part that is missing is said and
# made by --resume alone; the same run with other results is an error.
. "$WEIR_SOURCE_DIR/tests/support/cli.sh"
command -v python3 >/dev/null || skip 'no python3'
unset WEIR_CHECK_INVARIANTS
two_variants 40 >small.yaml
sed -i 's/^name: small/&\nreplications: 2/' small.yaml
axis=(--axis cluster.nodes.n.count=1,2)

# All tables but those of the wall clock, and what a command line says of files, in the order of rows.
dump() {
    python3 - "$1" <<'PY'
import sqlite3, sys
db = sqlite3.connect(sys.argv[1])
for name, in db.execute("select name from sqlite_master where type = 'table' order by name").fetchall():
    if name.endswith('_wall') or name.startswith('sqlite_') or name == 'expectation': continue
    columns = [c[1] for c in db.execute(f'pragma table_info("{name}")') if c[1] != 'command_line']
    for row in db.execute(f'select {", ".join(columns)} from "{name}"'): print(name, row)
for name, sql in db.execute("select name, sql from sqlite_master where type = 'view' order by name"): print(name, sql)
PY
}
expect 0 "$WEIR_BIN" compare small.yaml -q "${axis[@]}" -o whole.db
for part in 1 2 3; do
    expect 0 "$WEIR_BIN" compare small.yaml -q "${axis[@]}" --shard $part/3 -o part$part.db
    has stdout "part$part.db: part $part of 3"
done
expect 0 "$WEIR_BIN" merge part1.db part2.db part3.db -o all.db
has stdout 'all.db: 8 of 8 runs, from 3 files.'
dump whole.db >whole
dump all.db >all
same whole all
expect 0 "$WEIR_BIN" merge part3.db part1.db part3.db part2.db all.db -o again.db
dump again.db >again
same whole again
expect 0 "$WEIR_BIN" compare all.db
has stdout '2 points, 2 replications each'

# A part that is missing: it is said, and no other run is made again.
expect 0 "$WEIR_BIN" merge part3.db part1.db -o some.db
matches stdout 'some.db: [0-9] of 8 runs, from 2 files.'
has stdout 'go on with: weir compare small.yaml -q --axis cluster.nodes.n.count=1,2'
python3 -c "import sqlite3; db = sqlite3.connect('some.db'); db.execute('update run_wall set wall_s = 12345'); db.commit()"
expect 0 "$WEIR_BIN" compare small.yaml -q "${axis[@]}" --resume -o some.db
python3 - <<'PY' || fail 'other runs than those of the missing part were made'
import sqlite3
n = lambda name, what='1': sqlite3.connect(name).execute(f'select count(*) from run_wall where {what}').fetchone()[0]
assert n('some.db') == 8 and n('some.db', 'wall_s = 12345') == n('part1.db') + n('part3.db')
PY

# The same run with other results; another experiment; mistakes.
cp part2.db other.db
python3 -c "import sqlite3; db = sqlite3.connect('other.db'); db.execute(\"update run set result_digest = '00000000000000ff'\"); db.commit()"
expect 5 "$WEIR_BIN" merge part1.db part2.db other.db -o bad.db
has stderr 'other.db: variant'
has stderr 'came out otherwise than in a file before it'
[ ! -e bad.db ] || fail 'a database was made of what does not agree'
expect 0 "$WEIR_BIN" compare small.yaml -q --seed 9 "${axis[@]}" --shard 1/3 -o seed.db
expect 3 "$WEIR_BIN" merge part1.db seed.db -o bad.db
has stderr 'seed.db: is of another experiment than part1.db'
expect 3 "$WEIR_BIN" merge part1.db -o all.db
has stderr '--force replaces it'
expect 2 "$WEIR_BIN" merge part1.db
expect 2 "$WEIR_BIN" compare small.yaml --shard 4/3 -o x.db
has stderr 'I from 1 to N'
expect 2 "$WEIR_BIN" compare small.yaml --shard 1/3
has stderr 'needs a database of its own'
