#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""Apply the mutants of mutants.txt one at a time and demand that a test notices each.

Usage: run.py BUILD [--quick] [--only NAME,...] [--list] [--from LIST] [-j N]

BUILD is a built folder (Ninja, no sanitizers), which is left as it is: a mutated copy of a source file is
compiled as BUILD compiles the file, and linked into a copy of each test program before the library, so
that it stands for the library's own. Exit status: 0 if every mutant was noticed, 1 if one survived, 2 if
the list is stale or a test fails without a mutant, 77 if this build cannot do it.
"""
import argparse
import concurrent.futures
import json
import os
import pathlib
import shlex
import subprocess
import sys
import time

HERE = pathlib.Path(__file__).resolve().parent
SOURCE = HERE.parent.parent
LIMIT_S = 600  # of a test of what is not mutated; of a mutant: ten times as long as that took


def stale(message):
    print("stale list of mutants: " + message, file=sys.stderr)
    sys.exit(2)


def read_list(path):
    """A row: `mutant NAME`, then `what`, `file`, `compile`, `tests`, `under`, `quick` lines, `-` and `+` text."""
    rows = []
    for number, line in enumerate(path.read_text().splitlines(), 1):
        key, _, value = line.partition(" ")
        if key == "mutant":
            rows.append({"mutant": value, "line": number, "-": [], "+": [], "quick": False})
        elif not line or key.startswith("#"):
            continue
        elif not rows:
            stale("line %d: no mutant yet" % number)
        elif key in "-+":
            rows[-1][key].append(value)
        elif key == "quick":
            rows[-1]["quick"] = True
        elif key in ("what", "file", "compile", "tests", "under"):
            rows[-1][key] = value
        else:
            stale("line %d: unknown word %s" % (number, key))
    names = [row["mutant"] for row in rows]
    if len(set(names)) != len(names):
        stale("a name is there twice")
    return rows


def mutate(row):
    """The mutated text of the row's file."""
    where = "line %d: mutant %s: " % (row["line"], row["mutant"])
    for key in ("what", "file", "tests"):
        if key not in row:
            stale(where + "no " + key)
    path = SOURCE / row["file"]
    if not path.is_file():
        stale(where + "there is no file %s" % row["file"])
    text, old = path.read_text(), "\n".join(row["-"])
    if not old or text.count(old) != 1:
        stale(where + "its text is %d times in %s, not once" % (text.count(old) if old else 0,
                                                                row["file"]))
    return text.replace(old, "\n".join(row["+"]))


def target(test):
    """What is linked for a test: itself, or the program that a script of tests/cli tests."""
    return "dlsim" if test.startswith("cli.") else test


class Build:
    def __init__(self, folder):
        self.folder = pathlib.Path(folder).resolve()
        self.own = self.folder / "mutants"
        try:
            commands = json.loads((self.folder / "compile_commands.json").read_text())
        except OSError as e:
            print("skipped: %s" % e)
            sys.exit(77)
        self.compile = {os.path.realpath(c["file"]): c["command"] for c in commands
                        if "-fsanitize" not in c["command"]}
        self.link = {}

    def program(self, test):
        return self.folder / "tests" / test if target(test) == test else self.folder / target(test)

    def link_command(self, test):
        """How BUILD links a test's program, its last command for it."""
        test = target(test)
        if test not in self.link:
            done = subprocess.run(["ninja", "-C", str(self.folder), "-t", "commands", test],
                                  capture_output=True, text=True)
            if done.returncode:
                print("skipped: %s" % (done.stderr or done.stdout).strip())
                sys.exit(77)
            words = shlex.split(done.stdout.splitlines()[-1])
            while words[0] in (":", "&&"):
                words.pop(0)
            self.link[test] = words[:words.index("&&")] if "&&" in words else words
        return self.link[test]


def sanitizer(row):
    """Flags of what the row's files run under; they are the only ones that are looked at."""
    return ["-O1", "-fsanitize=" + row["under"], "-fno-sanitize-recover=all"] if "under" in row else []


def run(command, folder):
    return subprocess.run(command, cwd=folder, stdout=subprocess.PIPE,
                          stderr=subprocess.STDOUT, text=True, errors="replace")


def passes(test, program, folder, limit_s, row):
    """Does the test pass with this program? One that takes too long does not."""
    script = SOURCE / "tests" / "cli" / (test[4:] + ".sh")
    command = [str(program)] if target(test) == test else ["bash", str(script), str(program)]
    if row.get("under") == "thread":  # which bears no more random addresses than there were when it was made
        command = ["setarch", "-R"] + command
    environment = dict(os.environ, DLSIM_SOURCE=str(SOURCE),
                       LSAN_OPTIONS="suppressions=%s" % (SOURCE / "tests" / "support" / "lsan.supp"))
    try:
        done = subprocess.run(command, cwd=folder, env=environment, timeout=limit_s,
                              stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    except subprocess.TimeoutExpired:
        return False
    return done.returncode == 0


def compile_one(build, row, overlay, source):
    """Object of a source file as it is in the overlay, whose headers come first."""
    original = SOURCE / source
    command = build.compile.get(os.path.realpath(original))
    if not command:
        stale("mutant %s: %s is not compiled in %s" % (row["mutant"], source, build.folder))
    words = shlex.split(command)
    target = overlay / (source.replace("/", "_") + ".o")
    words[words.index("-o") + 1] = str(target)
    words = [w for w in words if w not in ("-MD", "ccache")]
    for flag in ("-MT", "-MF"):
        if flag in words:
            at = words.index(flag)
            del words[at:at + 2]
    words[words.index("-c") + 1] = str(overlay / source)
    at = next(i for i, w in enumerate(words) if w.startswith(("-I", "-D")))
    words[at:at] = ["-I%s" % overlay, "-I%s" % (overlay / "sim"), "-iquote", str(original.parent)]
    done = run(words + ["-w", "-Wno-error"] + sanitizer(row), build.folder)
    if done.returncode:
        stale("mutant %s does not compile:\n%s" % (row["mutant"], done.stdout))
    return target


def first_failing(build, row, text, limit_s=LIMIT_S):
    """The first of the row's tests that fails with this text of the file; None: all pass."""
    overlay = build.own / row["mutant"]
    sources = row.get("compile", row["file"]).split()
    for path, content in [(s, (SOURCE / s).read_text()) for s in sources] + [(row["file"], text)]:
        (overlay / path).parent.mkdir(parents=True, exist_ok=True)
        (overlay / path).write_text(content)
    objects = [str(compile_one(build, row, overlay, s)) for s in sources]
    for test in row["tests"].split():
        words = list(build.link_command(test))
        at = words.index("-o")
        program = build.own / (row["mutant"] + "-" + target(test))  # finds its data from there
        words[at + 1] = str(program)
        words[1:1] = ["-Wl,-z,muldefs"] + sanitizer(row) + objects  # before all others: the first counts
        done = run(words, build.folder)
        if done.returncode:
            stale("mutant %s: %s does not link:\n%s" % (row["mutant"], test, done.stdout))
        if not passes(test, program, overlay, limit_s, row):
            return test
    return None


def try_mutant(build, row, text):
    """The test that noticed the mutant, None: none did; seconds. The same way, the file as it is must
    pass: else a test fails for another reason."""
    began = time.monotonic()
    broken = first_failing(build, row, (SOURCE / row["file"]).read_text())
    if broken:
        stale("mutant %s: %s fails without it" % (row["mutant"], broken))
    limit_s = max(30, 10 * (time.monotonic() - began))
    return first_failing(build, row, text, limit_s), time.monotonic() - began


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("build")
    parser.add_argument("--quick", action="store_true", help="only the mutants marked so")
    parser.add_argument("--only", help="names, commas between them")
    parser.add_argument("--list", action="store_true", help="say what there is, and stop")
    parser.add_argument("--from", dest="source", default=HERE / "mutants.txt",
                        help="another list than mutants.txt")
    parser.add_argument("-j", type=int, default=1)
    options = parser.parse_args()
    rows = read_list(pathlib.Path(options.source))
    texts = {row["mutant"]: mutate(row) for row in rows}  # all of them: a stale row never hides
    if options.only:
        wanted = options.only.split(",")
        if set(wanted) - set(texts):
            stale("no mutant " + ", ".join(sorted(set(wanted) - set(texts))))
        rows = [row for row in rows if row["mutant"] in wanted]
    elif options.quick:
        rows = [row for row in rows if row["quick"]]
    if options.list:
        for row in rows:
            print("%-28s %s" % (row["mutant"], row["what"]))
        return 0
    build = Build(options.build)
    build.own.mkdir(exist_ok=True)
    tests = sorted({test for row in rows for test in row["tests"].split()})
    for test in tests:
        build.link_command(test)  # not for the first time in a thread
        if not build.program(test).exists():
            print("skipped: %s is not built" % test)
            return 77
    with concurrent.futures.ThreadPoolExecutor(options.j) as pool:
        running = [pool.submit(try_mutant, build, row, texts[row["mutant"]]) for row in rows]
        survivors = []
        for row, job in zip(rows, running):
            test, seconds = job.result()
            print("%-28s %-40s %5.1f s" % (row["mutant"], test or "SURVIVES: " + row["what"], seconds),
                  flush=True)
            if not test:
                survivors.append(row["mutant"])
    print("%d mutants, %d noticed, %d survived" % (len(rows), len(rows) - len(survivors),
                                                   len(survivors)))
    return 1 if survivors else 0


if __name__ == "__main__":
    sys.exit(main())
