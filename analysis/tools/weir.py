# SPDX-License-Identifier: GPL-3.0-or-later
"""Result databases of weir in a notebook; needs nothing but Python's own library.

    import weir
    with weir.open("run.db") as db:
        for run in db.runs():
            print(run["variant"], run["replication"], db.result("thr.pipeline", run=run["run_id"]))
        t, gpus = db.series("v_cluster", "gpu_assigned_pct")
        db.to_csv("v_stage", "stages.csv")

A metric has its id or the name that tables print, "throughput"; the program `weir` knows those. Rows
are dicts. A run is chosen by run=RUN_ID or by variant= and replication=; without one rows of all
runs come, and series are of the first run. The file is opened to be read only.
"""
import builtins
import csv
import difflib
import json
import pathlib
import sqlite3
import subprocess
import urllib.parse


class Error(Exception):
    """What is wrong, in a sentence."""


def open(path, program="weir"):
    """The database at a path."""
    return Database(path, program)


def run(scenario, output, *options, program="weir"):
    """Simulates a scenario into a database, and opens it: run("a.yaml", "a.db", "-n", "10")."""
    done = subprocess.run([program, "run", str(scenario), "-o", str(output), "--quiet", *options],
                          capture_output=True, text=True)
    if done.returncode not in (0, 1):  # 1: an expectation is not met; the results are there
        raise Error(done.stderr.strip() or f"{program} ended with {done.returncode}")
    return Database(output, program)


def _near(kind, word, names):
    near = difflib.get_close_matches(word, names, 1)
    there = ", ".join(sorted(set(names))) if len(set(names)) <= 12 else ""
    way = f"did you mean '{near[0]}'?" if near else there and f"there are: {there}"
    return Error(f"there is no {kind} '{word}'" + (f"; {way}" if way else ""))


class Database:
    def __init__(self, path, program="weir"):
        self._program = program
        if not pathlib.Path(path).is_file():
            raise Error(f"{path}: there is no such file")
        place = urllib.parse.quote(str(pathlib.Path(path).resolve()))
        self._db = sqlite3.connect(f"file:{place}?mode=ro", uri=True)
        self._db.row_factory = sqlite3.Row
        try:
            is_ours = self._db.execute("PRAGMA application_id").fetchone()[0] == 0x77656972
        except sqlite3.DatabaseError:
            is_ours = False
        if not is_ours:
            self.close()
            raise Error(f"{path}: this is no result database of weir")

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.close()

    def close(self):
        self._db.close()

    def query(self, sql, **values):
        """Rows of a statement; query("... WHERE run_id = :run", run=1)."""
        return [dict(row) for row in self._db.execute(sql, values)]

    def views(self):
        """Names of the views and tables."""
        return [row["name"] for row in self.query(
            "SELECT name FROM sqlite_schema WHERE type IN ('view', 'table') ORDER BY name DESC")]

    def columns(self, view):
        """Names of the columns of a view."""
        if view not in self.views():
            raise _near("view", view, self.views())
        return [column[0] for column in self._db.execute(f'SELECT * FROM "{view}" LIMIT 0').description]

    def runs(self):
        return self.query("SELECT * FROM v_run ORDER BY run_id")

    def rows(self, view, run=None, variant=None, replication=None):
        """Rows of a view, of one run or of all."""
        known = {"run_id": run, "variant": variant, "replication": replication}
        given = {name: value for name, value in known.items() if value is not None}
        for name in given:
            if name not in self.columns(view):
                raise Error(f"{view} has no {name}")
        if variant is not None and variant not in {row["variant"] for row in self.runs()}:
            raise _near("variant", variant, [row["variant"] for row in self.runs()])
        self.columns(view)
        where = " AND ".join(f"{name} = :{name}" for name in given)
        return self.query(f'SELECT * FROM "{view}"' + (f" WHERE {where}" if where else ""), **given)

    def _metric(self, word):
        """The id of a metric, from it or from the name that tables print; @WINDOW may follow."""
        ids = {row["metric"] for row in self.query("SELECT DISTINCT metric FROM result")}
        if word in ids:
            return word
        try:
            asked = subprocess.run([self._program, "list", "metrics", "--format", "json"],
                                   capture_output=True, text=True, check=True)
            names = {row["label"]: row["id"] for row in json.loads(asked.stdout)["rows"]}
        except (OSError, subprocess.CalledProcessError):
            raise Error(f"no run has a result '{word}'; the names that tables print are asked of "
                        f"{self._program}, which cannot be run: open(path, program=...)") from None
        name, at, window = word.partition("@")
        metric = names.get(name, name) + at + window
        if metric in ids:
            return metric
        if metric in names.values():
            raise Error(f"no run has a result '{metric}'")
        raise _near("metric", word, ids | set(names))

    def result(self, metric, label="", run=None, variant=None, replication=None):
        """The value of a metric: of the run that is chosen, else the mean over all of the variant."""
        metric = self._metric(metric)
        rows = [row for row in self.rows("v_result", run, variant, replication)
                if row["metric"] == metric and row["label"] == label and row["value"] is not None]
        if not rows:
            raise Error(f"{metric} has no value with the label '{label}'")
        return sum(row["value"] for row in rows) / len(rows)

    def series(self, view, column, run=None, variant=None, replication=None, **where):
        """Times in seconds and values of a column: series("v_stage", "queue_items", stage_name="a")."""
        names = self.columns(view)
        for name in (column, "t_s", *where):
            if name not in names:
                raise _near(f"column of {view}", name, names)
        if run is None and variant is None and replication is None:
            run = self.runs()[0]["run_id"]
        rows = [row for row in self.rows(view, run, variant, replication)
                if all(row[name] == value for name, value in where.items())]
        rows.sort(key=lambda row: row["t_s"])
        return [row["t_s"] for row in rows], [row[column] for row in rows]

    def to_csv(self, view, path, **chosen):
        """Writes a view, with a head; refuses a file that is there."""
        rows = self.rows(view, **chosen)
        with builtins.open(path, "x", newline="", encoding="utf-8") as out:
            writer = csv.DictWriter(out, self.columns(view))
            writer.writeheader()
            writer.writerows(rows)
