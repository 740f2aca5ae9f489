#!/bin/bash
# SPDX-License-Identifier: GPL-3.0-or-later
# An experiment on a terminal, killed twice at random and resumed, makes the database that undisturbed
# programs with one, two and four workers make, and shows a live line meanwhile. In full (WEIR_SLOW=1):
# six policies, eight sizes and twenty seeds of the stochastic video pipeline.
. "$WEIR_SOURCE_DIR/tests/support/cli.sh"
command -v python3 >/dev/null || skip 'no python3 program'
unset WEIR_CHECK_INVARIANTS

cp "$WEIR_SOURCE_DIR/scenarios/examples/video_pipeline.yaml" video.yaml
cat >experiment.py <<'PY'
import os, pty, random, re, select, signal, sqlite3, subprocess, sys, time
weir = os.environ['WEIR_BIN']
policies, sizes, seeds, minutes, seed = sys.argv[1], sys.argv[2], sys.argv[3], sys.argv[4], int(sys.argv[5])
print(f'kills by seed {seed}')
command = [weir, 'compare', 'video.yaml', '--set', 'compare=-', '--set', 'expect=-', '--set', f'horizon={minutes} min',
           '--set', 'warmup=2 min', '--set', 'pipelines.filtering.input.items=300', '--axis', 'sched.scaling.policy=' + policies,
           '--axis', f'cluster.nodes[0].count={sizes}', '-n', seeds]

def dump(path):
    db = sqlite3.connect(path)
    rows = []
    for name, in db.execute("select name from sqlite_master where type = 'table' order by name").fetchall():
        if name.endswith('_wall') or name.startswith('sqlite_'): continue
        columns = [c[1] for c in db.execute(f'pragma table_info("{name}")') if c[1] not in ('command_line', 'created_utc', 'host')]
        rows += [(name, *row) for row in db.execute(f'select {", ".join(columns)} from "{name}"') if row[0] not in ('command_line',)]
    return [row for row in rows if row[0] != 'experiment']

def undisturbed(workers):
    begun = time.time()
    subprocess.run([*command, '-q', '-j', str(workers), '-o', f'j{workers}.db'], check=True, stdout=subprocess.DEVNULL)
    return dump(f'j{workers}.db'), time.time() - begun

def disturbed(kill_at, resume):
    """On a terminal, killed when its line says that so many runs are done; returns what it showed."""
    pid, terminal = pty.fork()
    if pid == 0:
        os.execv(weir, [*command, '-j', '2', '-o', 'killed.db', *(['--resume'] if resume else [])])
    shown, status = b'', None
    while status is None:
        if select.select([terminal], [], [], 0.01)[0]:
            try:
                shown += os.read(terminal, 65536)
            except OSError:
                status = os.waitpid(pid, 0)[1]
                break
        done = re.findall(rb'\r\[(\d+)/', shown[-400:])
        if kill_at is not None and done and int(done[-1]) >= kill_at:
            os.kill(pid, signal.SIGKILL)
            kill_at = None
    os.close(terminal)
    return shown.decode(errors='replace'), status

def runs_of(path):
    return sqlite3.connect(path).execute("select count(*) from run where status in ('complete', 'horizon')").fetchone()[0]

whole, took = undisturbed(2)
total = runs_of('j2.db')
draw, shown, counts = random.Random(seed), '', []
for attempt in range(2):
    text, status = disturbed(int(draw.uniform(.1 + .4 * attempt, .4 + .4 * attempt) * total), attempt > 0)
    assert os.WIFSIGNALED(status), 'it was over before it was killed'
    shown += text
    counts.append(runs_of('killed.db'))
text, status = disturbed(None, True)
assert os.WIFEXITED(status) and os.WEXITSTATUS(status) == 0, text[-400:]
assert runs_of('killed.db') == total
assert '\r[' in shown + text and ' ETA ' in shown + text, 'no live line'
assert 0 <= counts[0] <= counts[1] < total, counts
assert dump('killed.db') == whole, 'resumed, it is another database'
for workers in (1, 4):
    assert undisturbed(workers)[0] == whole, f'{workers} workers make another database'
print(f'{total} runs, killed after {counts}; undisturbed {took:.1f} s with two workers')
PY
if [ -n "${WEIR_SLOW:-}" ]; then
    expect 0 python3 experiment.py xenna,equal_split,inverse_speed,pool_optimum,xenna_n,weir 1..8 20 20 "${WEIR_KILL_SEED:-$RANDOM}"
    cat stdout
else
    expect 0 python3 experiment.py equal_split,inverse_speed 1..2 10 3 7
    skip_part '960 runs, four times over, take ten minutes: WEIR_SLOW=1'
fi
