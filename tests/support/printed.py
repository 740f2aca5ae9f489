# SPDX-License-Identifier: GPL-3.0-or-later
"""What commands print, word for word: printed.py [--write] TRANSCRIPT...

A transcript is commands and what they print:
    $ weir show small.yaml      a shell command; its next lines begin with '> '
    ...                         its standard output
    ! weir: no such file        its standard error
    [2]                         its exit code, unless 0
Of what is long there is the beginning, and a digest of the rest. The commands of a transcript run one
after the other in the current folder. What differs says so and
fails; --write puts what is printed now in its place. Folders, versions and what the clock or the
machine decides are printed as words in <>.
"""
import difflib
import hashlib
import os
import re
import subprocess
import sys

FOLDERS = [(os.path.realpath(os.environ[name]), f"<{word}>") for name, word in
           (("WEIR_PLUGINS", "plugins"), ("WEIR_SOURCE_DIR", "source")) if name in os.environ]
HERE = os.path.realpath(".")
WORDS = [(re.compile(pattern), word) for pattern, word in (
    (r"\bweir [0-9]+\.[0-9]+\.[0-9]+ \(.*\)", "weir <version>"),
    (r"-I \S*include\b", "-I <headers>"),
    (r"(simulated|arrivals) in .*", r"\1 in <time>"),
    (r"[0-9.e+]+ us\b", "<n> us"),
    (r"(?m)\([0-9.]+ s\)$", "(<time>)"),
    (r'("[a-z_.]*(?:wall_s|cpu_s|rss_mib|_ms|events_per_s)(?:\.[a-z0-9]+)?": ?)[0-9.e-]+', r"\1<n>"),
)]


def plain(text):
    text = text.replace(HERE + "/", "").replace(HERE, ".")
    for folder, word in FOLDERS:
        text = text.replace(folder, word)
    for pattern, word in WORDS:
        text = pattern.sub(word, text)
    return "".join(line.rstrip() + "\n" for line in text.splitlines())


LONG, SHOWN, WIDE = 60, 40, 400


def digest(text):
    return hashlib.sha1(text.encode()).hexdigest()[:12]


def shortened(text):
    lines = [line if len(line) <= WIDE else f"{line[:WIDE // 2]}<{len(line)} letters: {digest(line)}>"
             for line in text.splitlines()]
    if len(lines) > LONG:
        lines[SHOWN:] = [f"<{len(lines) - SHOWN} lines: {digest(' '.join(lines[SHOWN:]))}>"]
    return "".join(line + "\n" for line in lines)


def printed(command):
    ran = subprocess.run(["bash", "-c", command], capture_output=True, text=True, errors="replace",
                         stdin=subprocess.DEVNULL, timeout=120)
    said = shortened(plain(ran.stdout)) + "".join(f"! {line}\n" for line in plain(ran.stderr).splitlines())
    return said + (f"[{ran.returncode}]\n" if ran.returncode else "")


def read(path):
    """The lines before the first command, and (command, what it printed) of each."""
    head, *parts = re.split(r"^\$ ", open(path).read(), flags=re.M)
    entries = []
    for part in parts:
        first, *lines = part.splitlines()
        while lines and lines[0].startswith("> "):
            first += "\n" + lines.pop(0)[2:]
        while lines and not lines[-1]:
            lines.pop()
        entries.append((first, "".join(line + "\n" for line in lines)))
    return head, entries


def main():
    is_written, paths = "--write" in sys.argv, [a for a in sys.argv[1:] if a != "--write"]
    count = wrong = 0
    for path in paths:
        head, entries = read(path)
        text = head
        for command, kept in entries:
            now = printed(command).rstrip("\n")
            now += "\n" * bool(now)
            count += 1
            if now != kept and not is_written:
                wrong += 1
                print(f"{os.path.basename(path)}: $ {command}")
                sys.stdout.writelines(difflib.unified_diff(kept.splitlines(1), now.splitlines(1), "kept", "now", n=1))
            text += "$ " + command.replace("\n", "\n> ") + "\n" + now + "\n"
        if is_written:
            open(path, "w").write(text.rstrip("\n") + "\n")
    print(f"{count} commands, {wrong} print something else")
    return wrong > 0


sys.exit(main())
