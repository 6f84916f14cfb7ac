#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""The numbers of the documentation, run again; and its commands, options, keys and paths, looked up.

Usage: check.py DLSIM [--all] [--only NAME,...] [--keep] [--from LIST]

DLSIM is the program. claims.txt says which numbers: of each the page, its text there, the command that prints it
and how far the two may differ. --all takes the long ones, too; --only some; --keep leaves the folder of the
runs. Published data are looked for in $DLSIM_SHARED. Exit status: 0, or 1 if something differs.
"""
import argparse
import glob
import json
import os
import pathlib
import re
import shlex
import shutil
import subprocess
import sys
import tempfile

HERE = pathlib.Path(__file__).resolve().parent
SOURCE = HERE.parent.parent
PAGES = sorted(SOURCE.glob("docs/*.md")) + [SOURCE / "README.md", SOURCE / "configs/README.md"]
NUMBER = r"\{([^{}]*)\}"
problems = []


def wrong(message):
    problems.append(message)
    print("WRONG: " + message, flush=True)


def flat(text):
    return " ".join(text.split())


def read_list(path):
    """Runs: {name, words, command, claims: [{page, text, find, within}]}; what a claim leaves out is the last one's."""
    runs = []
    for number, line in enumerate(path.read_text().splitlines(), 1):
        key, _, value = line.partition(" ")
        value = value.strip()
        if not line or key.startswith("#"):
            continue
        if key == "run":
            name, *words = value.split()
            runs.append({"name": name, "words": words, "command": "", "claims": []})
        elif key == "$":
            runs[-1]["command"] += line[2:] + "\n"
        elif key == "claim":
            last = runs[-1]["claims"][-1] if runs[-1]["claims"] else {"within": "0"}
            runs[-1]["claims"].append({**last, "line": number, "page": value})
        elif key in ("text", "find", "within"):
            runs[-1]["claims"][-1][key] = value
        else:
            sys.exit("claims.txt:%d: unknown word %s" % (number, key))
    return runs


def number(text):
    return float(text.replace(",", ""))


def expected(claim):
    """The claim's numbers, if the page has them."""
    page = flat((SOURCE / claim["page"]).read_text())
    text = flat(claim["text"])
    plain = re.sub(NUMBER, r"\1", text)
    if plain not in page:
        wrong("claims.txt:%d: %s does not say \"%s\"" % (claim["line"], claim["page"], plain))
    return re.findall(NUMBER, text)


def compare(claim, numbers, output):
    where = "claims.txt:%d: %s: \"%s\"" % (claim["line"], claim["page"], flat(claim["text"]))
    found = re.search(claim["find"], output)
    if not found:
        wrong("%s: nothing in the output is /%s/" % (where, claim["find"]))
        return
    if len(found.groups()) != len(numbers):
        wrong("%s: %d numbers, /%s/ has %d" % (where, len(numbers), claim["find"], len(found.groups())))
        return
    within = claim["within"].split()
    for i, (page, now) in enumerate(zip(numbers, found.groups())):
        limit = within[min(i, len(within) - 1)]
        value = number(page)
        limit = abs(value) * number(limit[:-1]) / 100 if limit.endswith("%") else number(limit)
        if abs(number(now) - value) > limit * (1 + 1e-9):
            wrong("%s: now %s, which is not within %s of %s" % (where, now, claim["within"], page))


def check_numbers(options, environment):
    runs = read_list(options.list or HERE / "claims.txt")
    shared = environment.get("DLSIM_SHARED", "")
    n_claims = n_numbers = 0
    with tempfile.TemporaryDirectory() as folder:
        if options.keep:
            folder = tempfile.mkdtemp(prefix="claims.")
            print("runs are in " + folder)
        for name in ("configs", "traces", "predictor", "plots", "tests"):
            os.symlink(SOURCE / name, os.path.join(folder, name))
        for run in runs:
            numbers = [expected(claim) for claim in run["claims"]]
            if options.only and run["name"] not in options.only.split(","):
                continue
            if "long" in run["words"] and not (options.all or options.only):
                continue
            needs = [word for word in run["words"] if word.startswith(("data/", "golden/"))]
            if needs and not all(os.path.exists(os.path.join(shared, word)) for word in needs):
                print("skipped: no published data: numbers of " + run["name"])
                continue
            if "python" in run["words"] and subprocess.run(["sh", SOURCE / "plots/python.sh"], stdout=subprocess.DEVNULL,
                                                           stderr=subprocess.DEVNULL).returncode:
                print("skipped: no Python with matplotlib: numbers of " + run["name"])
                continue
            done = subprocess.run(["bash", "-e", "-c", ". tests/claims/lib.sh\n" + run["command"]], cwd=folder, env=environment,
                                  stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                                  stderr=subprocess.PIPE, text=True)
            if done.returncode:
                wrong("%s: exit code %d: %s" % (run["name"], done.returncode, done.stderr[-1000:]))
                continue
            for claim, values in zip(run["claims"], numbers):
                compare(claim, values, done.stdout)
                n_claims += 1
                n_numbers += len(values)
            print("%s: %d claims" % (run["name"], len(run["claims"])), flush=True)
    print("%d claims, %d numbers" % (n_claims, n_numbers))


def commands(text):
    """What a page shows as a command: lines of blocks, and text in backquotes."""
    start = r"(?:DLSIM_SHARED=\S+ )?((?:dlsim|(?:build/release/)?(?:tests/)?bench_\w+) [^`\n]*)"
    text = re.sub(r"\\\n\s*", " ", text)
    fenced = False
    for line in text.splitlines():
        if line.startswith("```"):
            fenced = not fenced
        found = re.match(r"(?: {4,}|\$ )?" + start, line) if fenced else re.match(" {4,}" + start, line)
        if found:
            yield found[1]
    for found in re.finditer("`" + start + "`", re.sub(r"\s*\n\s*", " ", text)):
        yield found[1]


def words_of(command):
    command = re.split(r" -- | \|| #| \(|;| >", command)[0]
    try:
        return shlex.split(command)
    except ValueError:
        return command.split()


def collect(tree, commands_of):
    """Names of options (they have a letter, or none) and of verbs anywhere below a command of help --json."""
    if isinstance(tree, list):
        for item in tree:
            collect(item, commands_of)
    elif isinstance(tree, dict):
        if "letter" in tree or " --" in tree.get("name", ""):  # an option, or a part like "predict --whatif"
            commands_of["options"].add("--" + tree["name"].split("--")[-1])
        for verb in tree.get("verbs", ()):
            commands_of["verbs"].add(verb["name"])
        for item in tree.values():
            collect(item, commands_of)


def check_command(dlsim, page, command, known, keys):
    """Command, verb and options are what help --json lists, a benchmark's in its source; keys that it sets exist."""
    words = words_of(command)
    options = {re.split(r"[=\[]", word)[0] for word in words if re.match(r"--[a-z]", word)} - {"--help"}
    if words[0] == "dlsim":
        name = words[1] if re.fullmatch(r"[a-z]+", words[1]) else "run"
        if name == "help":
            return
        if name not in known:
            wrong("%s: no command: %s" % (page, command))
            return
        verbs = known[name]["verbs"]
        if verbs and len(words) > 2 and re.fullmatch(r"[a-z]+", words[2]) and words[2] not in verbs:
            wrong("%s: no verb %s: %s" % (page, words[2], command))
        missing = options - known[name]["options"]
    else:
        source = SOURCE / "tests/bench" / (os.path.basename(words[0]) + ".c")
        if not source.exists():
            wrong("%s: no benchmark: %s" % (page, command))
            return
        text = source.read_text()
        missing = {option for option in options if option not in text}
    for option in sorted(missing):
        wrong("%s: no option %s: %s" % (page, option, command))
    for key in re.findall(r"--set[ =]'?\"?([\w.\[\]]+)=", command):
        if key not in keys:
            keys[key] = subprocess.run([dlsim, "config", "--explain", key], stdout=subprocess.DEVNULL,
                                       stderr=subprocess.DEVNULL).returncode
        if keys[key]:
            wrong("%s: no key %s: %s" % (page, key, command))


def check_pages(dlsim):
    known, keys = {}, {}
    for tree in json.loads(subprocess.run([dlsim, "help", "--json"], check=True, stdout=subprocess.PIPE).stdout):
        known[tree["name"]] = {"options": set(), "verbs": set()}
        collect(tree, known[tree["name"]])
    n_commands = n_paths = 0
    sources = "".join(path.read_text() for top in ("sim", "predictor", "placement", "traces", "results")
                      for path in SOURCE.glob(top + "/**/*.[ch]"))
    for path in PAGES:
        page = str(path.relative_to(SOURCE))
        text = path.read_text()
        for command in commands(text):
            check_command(dlsim, page, command, known, keys)
            n_commands += 1
        top = "sim|predictor|placement|traces|tests|configs|plots|cmake|docs"
        for found in re.findall(r"(?<![\w./~-])((?:%s)/[\w./*{}-]*)" % top, text):
            name = found.rstrip(".-")
            if not any(c in name for c in "{}") and "NAME" not in name and not glob.glob(str(SOURCE / name) + "*"):
                wrong("%s: no %s" % (page, name))
            n_paths += 1
        for name in sorted(set(re.findall(r"\b(?:dls_[a-z0-9_]+|DLS_[A-Z0-9_]+)", text))):
            if name not in sources:
                wrong("%s: no %s in the sources" % (page, name))
        for link in re.findall(r"\]\(([^):#]+)(?:#[^)]*)?\)", text):
            if not (path.parent / link).exists():
                wrong("%s: a link to %s" % (page, link))
    print("%d commands, %d paths" % (n_commands, n_paths))


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("dlsim")
    parser.add_argument("--all", action="store_true")
    parser.add_argument("--only")
    parser.add_argument("--keep", action="store_true")
    parser.add_argument("--from", dest="list", type=pathlib.Path)
    options = parser.parse_args()
    dlsim = shutil.which(options.dlsim) or sys.exit("no program " + options.dlsim)
    environment = dict(os.environ)
    with tempfile.TemporaryDirectory() as bin_folder:
        os.symlink(os.path.realpath(dlsim), os.path.join(bin_folder, "dlsim"))
        environment["PATH"] = bin_folder + os.pathsep + environment["PATH"]
        environment["BENCH"] = os.path.join(os.path.dirname(os.path.realpath(dlsim)), "tests")
        environment["DLSIM_PLOTS"] = str(SOURCE / "plots")
        environment.setdefault("DLSIM_SHARED", str(SOURCE.parent / "shared"))
        if not options.list:
            check_pages(os.path.realpath(dlsim))
        check_numbers(options, environment)
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main())
