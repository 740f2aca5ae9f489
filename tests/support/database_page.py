# SPDX-License-Identifier: GPL-3.0-or-later
"""database_page.py [--check]: writes docs/database.md from sim/record/schema.sql, or says that it is
out of date. What a table or view is stands in the comment before it; what a column means behind it,
in a line `--   column: meaning` before its table, or in the list of columns that mean the same
everywhere at the head of the file. A table, view or column without a meaning is an error."""
import pathlib
import re
import sqlite3
import sys

root = pathlib.Path(__file__).resolve().parents[2]
page = root / "docs" / "database.md"
source = (root / "sim" / "record" / "schema.sql").read_text()
UNITS = (("_per_s", "1/s"), ("_bytes_per_s", "bytes/s"), ("_unix_s", "s since 1970"), ("_s", "s"), ("_ms", "ms"),
         ("_mib", "MiB"), ("_bytes", "bytes"), ("_pct", "%"), ("_w", "W"), ("_c", "°C"), ("_utc", "UTC"))


def unit(name):
    ends = [end for end in UNITS if name.endswith(end[0])]
    return max(ends, key=lambda end: len(end[0]))[1] if ends else ""


def split_notes(lines):
    """Sentences, and {column: meaning} of the lines `--   column: meaning`."""
    text, columns, last = [], {}, None
    for line in lines:
        note = re.match(r"--   (\w+(?:, \w+)*): (.*)", line)
        more = re.match(r"--     (.*)", line)
        if note:
            last = note[1].split(", ")
            columns.update((name, note[2]) for name in last)
        elif more and last:
            for name in last:
                columns[name] += " " + more[1]
        else:
            text.append(line[3:])
    return " ".join(text).strip(), columns


def trailing(body):
    """{column: comment behind it}; a comment is of the last column of its line."""
    found = {}
    for line in body.splitlines():
        code, _, comment = line.partition("--")
        names = [part.split()[0] for part in code.split(",") if part.split() and part.split()[0].islower()]
        if comment and names:
            found[names[-1]] = comment.strip()
        elif comment and found:
            found[list(found)[-1]] += " " + comment.strip()
    return found


def cell(text):
    return text.replace("|", "\\|")


def columns_of(db, name):
    return [(row[1], row[2].lower(), row[3] or row[5]) for row in db.execute(f"PRAGMA table_info({name})")]


def main():
    db = sqlite3.connect(":memory:")
    db.executescript(source)
    head = source.split("PRAGMA application_id")[0].splitlines()
    start = next(i for i, line in enumerate(head) if line.startswith("-- Columns that mean the same"))
    end = next(i for i, line in enumerate(head) if line.startswith("-- Version 2"))
    _, common = split_notes(head[start:end])
    out, lacking = [], []
    tables, views, meanings = [], [], dict(common)
    for match in re.finditer(r"((?:^--[^\n]*\n)*)^CREATE (TABLE|VIEW) (\w+)(.*?);\s*$", source, re.M | re.S):
        text, notes = split_notes(match[1].splitlines())
        if match[2] == "TABLE":
            notes = {**trailing(match[4]), **notes}
        (tables if match[2] == "TABLE" else views).append((match[3], text, notes))
        if not text:
            lacking.append(match[3])
    out.append("## Tables\n")
    for name, text, notes in tables:
        out.append(f"### `{name}`\n{text}\n\n| column | type | unit | meaning |\n|---|---|---|---|")
        for column, kind, needed in columns_of(db, name):
            meaning = notes.get(column) or common.get(column)
            if meaning is None:
                lacking.append(f"{name}.{column}")
                continue
            meanings.setdefault(column, meaning)
            null = "" if needed or "NULL" in meaning else ", or NULL"
            out.append(f"| `{column}` | {kind}{null} | {unit(column)} | {cell(meaning)} |")
        for column in notes:
            if column not in [c[0] for c in columns_of(db, name)]:
                lacking.append(f"{name} has no column {column}")
        out.append("")
    out.append("## Views\n")
    for name, text, notes in views:
        columns = [c[0].split(":")[0] for c in columns_of(db, name)]
        lacking += [f"{name}.{c}" for c in columns if c not in notes and c not in meanings]
        out.append(f"### `{name}`\n{text}\n\nColumns: {', '.join(f'`{c}`' for c in columns)}.\n")
        if notes:
            out.append("| column | unit | meaning |\n|---|---|---|")
            out += [f"| `{c}` | {unit(c)} | {cell(m)} |" for c, m in notes.items()]
            out.append("")
    if lacking:
        sys.exit("sim/record/schema.sql says nothing of: " + " ".join(lacking))
    made = INTRODUCTION + "\n".join(out).rstrip() + "\n"
    if "--check" not in sys.argv:
        page.write_text(made)
        print(f"docs/database.md: {len(tables)} tables, {len(views)} views")
    elif not page.exists() or page.read_text() != made:
        sys.exit("docs/database.md is out of date: ./dev docs")


INTRODUCTION = """<!-- SPDX-License-Identifier: GPL-3.0-or-later -->
<!-- Made by ./dev docs from sim/record/schema.sql: change that. -->
# The result database

Every run, comparison and search writes one SQLite file. It can be read by anything that reads SQLite; the views `v_*` are the interface that stays, with names joined in. `weir export DB --to csv --view v_stage` writes one, [weir.py](../analysis/tools/weir.py) reads them in a notebook, and so does the program `sqlite3`:

    sqlite3 my.db "SELECT variant, avg(value) FROM v_result WHERE metric = 'thr.pipeline' GROUP BY variant"

What `metric` may be is in [metrics.md](metrics.md). Samples are means over `[t_s, t_s + dt_s)`, exact at events and weighted by time, never values of an instant. Wall-clock times stand in tables of their own, whose names end in `_wall`: all else is the same bit for bit when a run is repeated. Units are in the names of columns; where there is none, the meaning says what is counted.

The number of the version is `PRAGMA user_version`, and `weir check DB` says what an older one lacks. A comparison over axes adds the view `v_point`, with a column for each axis ([harness.md](harness.md)).

"""
main()
