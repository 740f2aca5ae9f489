# SPDX-License-Identifier: GPL-3.0-or-later
"""What hostile files are made of: bytes flipped, cut and moved, and values that no run writes.

Everything follows from the generator that is given; nothing else is random.
"""

NAMES = ["", "'", "''a", '"', "a\nb", "a\tb", "\x1b[31mred", "\u202egnp", "../../x", "/etc/passwd",
         "<script>alert(1)</script>", "=1+1", "%s%n%d", "$(id)", "`id`", "\\", "a,b", "|", "\ud7ff",
         "x" * 10000, "\U0001d11e", "NaN", "a b", "#", "@", "{", "a\rb", "\x7f"]
NUMBERS = [0, 1, -1, 2, 3, 63, 64, 65, 255, 2**31 - 1, 2**31, 2**32, 2**53, 2**63 - 1, -2**63, 0.5,
           -0.0, 1e-9, 1e-300, 1e9, 1e18, 1e300, 1.7e308, float("inf"), float("-inf"), 9.2e9]


def damage_bytes(rng, data):
    """Bytes changed, cut, doubled, moved, or cleared, a few times."""
    data = bytearray(data)
    for _ in range(rng.choice([1, 1, 1, 2, 4, 16])):
        if not data:
            break
        at = rng.randrange(len(data))
        length = rng.choice([1, 1, 2, 8, 100, 4096])
        how = rng.randrange(8)
        if how <= 2:
            data[at] ^= 1 << rng.randrange(8)
        elif how == 3:
            data[at] = rng.choice([0, 255, 127, 128, 10, 44, 34])
        elif how == 4:
            data[at:at + length] = bytes(len(data[at:at + length]))
        elif how == 5:
            data[at:at + length] = data[at:at + length] * 2
        elif how == 6:
            there = rng.randrange(len(data))
            data[at:at + length] = data[there:there + length]
        else:
            del data[at:]
    return bytes(data)


def damage_rows(rng, db):
    """One statement on a database whose tables take any value. Errors of SQLite are no news."""
    tables = [row[0] for row in db.execute(
        "SELECT name FROM sqlite_schema WHERE type = 'table' AND name NOT LIKE 'sqlite%'")]
    table = rng.choice(sorted(tables))
    columns = [row[1] for row in db.execute(f"PRAGMA table_info({table})")]
    rows = [row[0] for row in db.execute(f"SELECT {columns[0]} FROM {table}")]
    column = rng.choice(columns)
    where = rng.choice(["", "", f" WHERE abs(random()) % 3 = 0"])
    if table != "meta":
        where = rng.choice(["", f" WHERE rowid % {rng.randrange(1, 9)} = 0", " WHERE rowid = 1",
                            f" WHERE rowid = {rng.randrange(1, len(rows) + 2)}"])
    how = rng.randrange(14)
    if how <= 2:
        db.execute(f"UPDATE {table} SET {column} = ?{where}", (rng.choice(NUMBERS),))
    elif how == 3:
        db.execute(f"UPDATE {table} SET {column} = ?{where}", (rng.choice(NAMES),))
    elif how == 4:
        db.execute(f"UPDATE {table} SET {column} = ?{where}", (rng.choice([None, b"\x00\xff", b""]),))
    elif how <= 6:  # within what a run may give, and yet wrong
        change = rng.choice(["+ 1", "- 1", "* 1000", "* 0", "* -1", "/ 1e6", "* 1e6", "+ 1e-9"])
        db.execute(f"UPDATE {table} SET {column} = {column} {change}{where} ")
    elif how == 7:
        other = rng.choice(columns)
        db.execute(f"UPDATE {table} SET {column} = {other}{where}")
    elif how == 8:
        db.execute(f"DELETE FROM {table}{where}")
    elif how == 9:
        db.execute(f"INSERT INTO {table} SELECT * FROM {table}{where}")
    elif how == 10:
        views = [row[0] for row in db.execute("SELECT name FROM sqlite_schema WHERE type = 'view'")]
        db.execute(rng.choice([f"DROP TABLE {table}", f"DROP VIEW {rng.choice(sorted(views))}"]))
    elif how == 11:
        db.execute(f"ALTER TABLE {table} " + rng.choice(
            [f"DROP COLUMN {column}", "ADD COLUMN more TEXT", f"RENAME COLUMN {column} TO other"]))
    elif how == 12:
        db.execute(f"UPDATE {table} SET {column} = (SELECT {column} FROM {table} ORDER BY random() LIMIT 1)"
                   .replace("random()", "rowid * 7919 % 101"))
    else:
        db.execute(rng.choice([
            "CREATE TRIGGER hostile AFTER DELETE ON run BEGIN DELETE FROM stage; END",
            "PRAGMA user_version = 10", "PRAGMA user_version = 0", "PRAGMA user_version = 1",
            "PRAGMA user_version = 4", "PRAGMA application_id = 5"]))


TOKEN_NUMBERS = ["0", "-1", "1e308", "1e-300", "9223372036854775807", "18446744073709551616", ".inf",
                 ".nan", "0x10", "1_000", "3.5", "100000000000", "1000 TiB", "0 s", "1 ns", "300 y",
                 "-5 s", "50 %", "exp(0 s)", "exp(1 h)", "normal(1 s, 5)", "lognormal(1 s, 0)"]
TOKEN_WORDS = ["null", "~", "true", "[]", "{}", "[1, 2]", "{a: 1}", "''", "'\\x00'", "auto", "nobody",
               "&a", "*a", "<<", "|", ">", "!!binary x", "- -", "? :", "@", "\t", "xenna", "h100"]


def damage_scenario(rng, text):
    """Tokens and lines of a scenario deleted, doubled, swapped and put in another's place."""
    import re
    for _ in range(rng.choice([1, 1, 1, 2, 3, 8])):
        lines = text.split("\n")
        at = rng.randrange(len(lines))
        how = rng.randrange(10)
        if how == 0:
            del lines[at]
        elif how == 1:
            lines.insert(at, lines[rng.randrange(len(lines))])
        elif how == 2:
            other = rng.randrange(len(lines))
            lines[at], lines[other] = lines[other], lines[at]
        elif how == 3:
            lines[at] = rng.choice(["  ", " ", "\t", "- "]) + lines[at]
        text = "\n".join(lines)
        tokens = re.findall(r"[A-Za-z_][\w.]*|[\d.]+|\s+|.", text, re.S)
        if how <= 3 or not tokens:
            continue
        numbers = [i for i, token in enumerate(tokens) if token[0].isdigit()]
        words = [i for i, token in enumerate(tokens) if token[0].isalpha()]
        if how <= 5 and numbers:
            tokens[rng.choice(numbers)] = rng.choice(TOKEN_NUMBERS)
        elif how == 6 and words:
            tokens[rng.choice(words)] = rng.choice(TOKEN_WORDS + TOKEN_NUMBERS)
        elif how == 7 and words:
            tokens[rng.choice(words)] += rng.choice(["x", "s", "_", ".a", ": 1", " 7"])
        elif how == 8 and words:
            tokens[rng.choice(words)] = tokens[rng.choice(words)]
        else:
            del tokens[rng.randrange(len(tokens))]
        text = "".join(tokens)
    return text


CELLS = ["", "nan", "inf", "-1", "1e308", "0x1", "9223372036854775808", '"', '"a', "a" * 5000, "\0",
         "None", "1;2", "2020-13-45 25:61:61", "1,5", "-0", "\u202e", "=1", "gpu:", "cpu=4,gres/gpu=9e9"]


def damage_trace(rng, text):
    """Cells of a table, or of lines of words, that nobody wrote."""
    for _ in range(rng.choice([1, 1, 2, 5])):
        lines = text.split("\n")
        at = rng.randrange(len(lines))
        delimiter = next((d for d in ",|\t;" if d in lines[at]), " ")
        cells = lines[at].split(delimiter)
        cell = rng.randrange(len(cells))
        how = rng.randrange(6)
        if how <= 2:
            cells[cell] = rng.choice(CELLS)
        elif how == 3:
            del cells[cell]
        elif how == 4:
            cells.insert(cell, rng.choice(cells))
        else:
            rng.shuffle(cells)
        lines[at] = delimiter.join(cells)
        text = "\n".join(lines)
    return text
