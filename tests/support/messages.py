# SPDX-License-Identifier: GPL-3.0-or-later
"""Every message of sim/scenario is expected by a test: messages.py SOURCE_DIR.

A message is the format of a call that reports one (CALLS), or each of two formats that a condition
chooses from. It is expected where
    a line that tests/golden keeps (broken/*.expected, printed/*.txt) is the whole message, or
    a test of tests/cli or tests/unit holds its longest fixed piece in one of its texts.
So a message that is no longer given, or is given where its condition does not hold, fails a test.
Formats without fixed words ("%s: %s") say what another call made, and are left out.
"""
import pathlib
import re
import sys

# What reports, and which of its arguments is the format.
CALLS = {"sim_report_error": 2, "sim_report_warning": 2, "sim_report_near": 4, "sim_report_at": 2,
         "weir_fail": 2}
# Messages that no test can see, and why.
EXCEPTIONS = {
    "%s '%s' and %s '%s' would share their random numbers (their names have one hash); give one another name":
        "no two names of one 64-bit hash are known; the search for them is tested in tests/unit",
    "'%s' is too large": "whole numbers of 2^64 and more: all bounds are below that, those of a plug-in need not be",
    "is not YAML": "the YAML library fails without a word; it always has one",
    "in the words of today, line %d: %s": "a rewriting of the words that loses something; none is known",
    "cannot be put into the words of today word by word": "as above",
}
SHORTEST = 4  # letters of a fixed piece

TEXT = r'"(?:[^"\\]|\\.)*"'
TEXTS = re.compile(rf"{TEXT}(?:\s*(?:PRI\w+\s*)?{TEXT})*")
CONVERSION = re.compile(r"%[-+ 0#]*(?:\*|\d+)?(?:\.(?:\*|\d+))?(?:hh|h|ll|l|z|j)?[a-zA-Z]|%%")


def arguments(source, start):
    """The arguments of a call whose '(' stands before `start`."""
    found, depth, begin, at = [], 1, start, start
    while depth:
        text = re.compile(TEXT + r"|'(?:[^'\\]|\\.)'").match(source, at)
        if text:
            at = text.end()
            continue
        depth += (source[at] in "([{") - (source[at] in ")]}")
        if depth == 0 or (depth == 1 and source[at] == ","):
            found.append(source[begin:at])
            begin = at + 1
        at += 1
    return found


def plain(literals):
    """The text of literals that stand side by side."""
    joined = re.sub(r"PRI\w+", '"d"', literals)
    inside = "".join(part[1:-1] for part in re.findall(TEXT, joined))
    return inside.replace('\\"', '"').replace("\\\\", "\\")


def messages(source):
    """(line, format) of each message of a file."""
    for call in re.finditer(rf"^[ \t].*?\b({'|'.join(CALLS)})\(", source, re.M):
        given = arguments(source, call.end())
        at = CALLS[call[1]]
        if at < len(given):
            for literals in TEXTS.findall(given[at]):
                yield source.count("\n", 0, call.end()) + 1, plain(literals)


def main():
    top = pathlib.Path(sys.argv[1])
    kept = "\n".join(path.read_text(errors="replace") for pattern in ("broken/*.expected", "printed/*.txt")
                     for path in (top / "tests/golden").glob(pattern))
    tests = "\n".join(path.read_text(errors="replace") for path in (top / "tests/cli").glob("*.sh"))
    tests += "\n".join(plain(text) for path in (top / "tests/unit").glob("*.c")
                       for text in TEXTS.findall(path.read_text()))
    count, lacking, unused = 0, 0, set(EXCEPTIONS)
    for path in sorted((top / "sim/scenario").rglob("*.c")):
        for line, message in messages(path.read_text()):
            pieces = CONVERSION.split(message)
            longest = max(pieces, key=len)
            if len(longest.strip()) < SHORTEST:
                continue
            count += 1
            pattern = ".*".join(re.escape(piece) for piece in pieces)
            is_kept = re.search(rf": {pattern}(?:; did you mean '.*'\?)?$", kept, re.M)
            if message in EXCEPTIONS:
                unused.discard(message)
            elif not is_kept and longest.strip() not in tests:
                lacking += 1
                print(f"{path.relative_to(top)}:{line}: no test expects: {message}")
    for message in sorted(unused):
        print(f"no such message any more: {message}")
    print(f"{count} messages, {lacking} of them expected by no test")
    return lacking > 0 or len(unused) > 0


sys.exit(main())
