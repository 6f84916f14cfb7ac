#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""fidelity_runs.py CONFIGURATION FOLDER OUT.csv DLSIM JOBS [--small]: replay what a configuration lists.

Keys of the configuration are told in plots/fidelity.cfg; its paths are relative to FOLDER. A row of OUT.csv per
job: system, against, run, policy, job, submission, and completion time as published, replayed and, where it is
known, by the authors' simulator. A file of a section that is not there is told and left out."""

import configparser
import csv
import itertools
import os
import re
import shlex
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor

import results
from results import BadInput

COLUMNS = ("system", "against", "run", "policy", "job", "submit_s", "published_s", "here_s", "simulator_s")
IDS = ("job_id", "name")
SUBMITS = ("submit", "submit_time", "arrival")
ENDS = ("end", "completion", "end_time")


def rows_of(path):
    with open(path, encoding="utf-8", newline="") as f:
        return [{k.lower(): v for k, v in row.items() if k} for row in csv.DictReader(f)]


def number(row, names):
    for name in names:
        if row.get(name):
            return float(row[name])
    return None


def jobs_of(path, jct=None, keep=None, submit=None):
    """{job: (submission, completion time)}, None where it is not known."""
    jobs = {}
    for row in rows_of(path):
        if keep and row.get(keep[0]) != keep[1]:
            continue
        job = next((row[i] for i in IDS if i in row), None)
        if job is None:
            raise BadInput(f"{path}: no column {' or '.join(IDS)}")
        if jct and jct not in row:
            raise BadInput(f"{path}: no column {jct}")
        begin = submit.get(job, (None, None))[0] if submit else number(row, SUBMITS)
        end = number(row, ENDS)
        time = number(row, (jct or "jct",))
        if time is None and end is not None and begin is not None and not jct:
            time = end - begin
        if begin is None and end is not None and time is not None:
            begin = end - time
        jobs[job] = (begin, time)
    if not jobs:
        raise BadInput(f"{path}: no jobs")
    return jobs


def files_like(folder, pattern):
    """(path, groups) of the files below folder whose path matches."""
    fixed = re.match(r"(?:[\w-]+/)*", pattern).group()
    for at, _, names in sorted(os.walk(os.path.join(folder, fixed))):
        for name in sorted(names):
            path = os.path.relpath(os.path.join(at, name), folder)
            match = re.fullmatch(pattern, path)
            if match:
                yield path, match.groupdict()


def cut(section, folder, out):
    """The trace of a section, cut as it says."""
    rows = rows_of(os.path.join(folder, section["trace"]))
    if "match" in section:
        column, pattern = section["match"].split("=", 1)
        rows = [r for r in rows if re.fullmatch(pattern, r[column])]
    rows = rows[:section.getint("first", len(rows))]
    if "cycle" in section:
        column, values = section["cycle"].split(":")
        for row, value in zip(rows, itertools.cycle(values.split(","))):
            row[column] = value
    if not rows:
        raise BadInput(f"{section.name}: nothing of {section['trace']} is left")
    with open(out, "w", encoding="utf-8", newline="") as f:
        table = csv.DictWriter(f, list(rows[0]), lineterminator="\n")
        table.writeheader()
        table.writerows(rows)


class Run:
    """One replay and what it is compared with."""

    def __init__(self, section, path, groups, policy, number, context):
        self.section, self.folder, self.dlsim = section, context["folder"], context["dlsim"]
        self.own = os.path.join(context["work"], f"{number:04d}")
        short = groups.get("policy", policy)
        names = dict(pair.split(":") for pair in section.get("rename", "").split())
        self.words = {**groups, "policy": names.get(policy, policy), "out": self.own,
                      "settings": context["settings"], "trace": f"{self.own}.trace.csv"}
        self.policy, self.path = self.words["policy"], path
        self.name = f"{path} {short}" if "policies" in section else path

    def fill(self, key):
        return self.section[key].format(**self.words) if key in self.section else None

    def command(self):
        words = [w.format(**self.words) for w in shlex.split(self.section["command"])]
        return [self.dlsim, *words, *([] if words[0] == "tiresias" else ["--force", "-q"])]

    def do(self):
        section = self.section
        if "trace" in section:
            cut(section, self.folder, self.words["trace"])
        done = subprocess.run(self.command(), cwd=self.folder, capture_output=True, text=True, check=False)
        if done.returncode:
            raise BadInput(f"{section.name}: {shlex.join(self.command()[1:])}: {done.stderr.strip()}")
        at = os.path.join
        submit = jobs_of(at(self.folder, section["submit"])) if "submit" in section else None
        keep = (section["rows"], self.policy) if "rows" in section else None
        published = jobs_of(at(self.folder, self.path), self.fill("jct"), keep, submit)
        here = jobs_of(at(self.own, section["own"]) if "own" in section else self.own, submit=submit)
        theirs = {}
        if "simulator" in section:
            name = self.fill("simulator")
            theirs = (jobs_of(at(self.folder, name)) if os.path.exists(at(self.folder, name)) else
                      jobs_of(at(self.folder, self.path), name, keep, submit))
        if not set(published) & set(here):
            raise BadInput(f"{section.name}: {self.path} and the replay have no job in common")
        for job in [*published, *(j for j in here if j not in published)]:
            (begin, time), (own_begin, own) = published.get(job, (None, None)), here.get(job, (None, None))
            yield [section["system"], section["against"], self.name, self.policy, job,
                   *("" if v is None else f"{v:.6f}" for v in (begin if begin is not None else own_begin, time, own,
                                                               theirs.get(job, (None, None))[1]))]


def main(configuration, folder, out, dlsim, jobs, *options):
    config = configparser.ConfigParser(interpolation=None)
    try:
        if not config.read(configuration, encoding="utf-8"):
            raise BadInput(f"{configuration}: no such file")
    except configparser.Error as e:
        raise BadInput(f"{configuration}: {e}") from None
    folder = os.path.abspath(folder)
    context = {"folder": folder, "dlsim": dlsim, "work": f"{out}.replays",
               "settings": os.path.join(os.path.dirname(os.path.abspath(__file__)), "../configs/settings")}
    os.makedirs(context["work"], exist_ok=True)
    runs = []
    for section in (config[s] for s in config.sections()):
        for key in ("system", "against", "published", "command"):
            if key not in section:
                raise BadInput(f"{configuration}: [{section.name}] has no {key}")
        if section["against"] not in ("simulator", "hardware"):
            raise BadInput(f"{configuration}: [{section.name}] against: simulator or hardware")
        if "--small" in options and section.getboolean("slow", False):
            continue
        found = 0
        for path, groups in files_like(folder, section["published"]):
            for policy in section.get("policies", groups.get("policy", "")).split():
                runs.append(Run(section, path, groups, policy, len(runs), context))
                found += 1
        if not found:
            print(f"fidelity: [{section.name}] is left out: no file like {section['published']} in {folder}",
                  file=sys.stderr)
    if not runs:
        raise BadInput(f"{folder}: none of the published files that {configuration} lists "
                       "(DLSIM_SHARED names their folder)")
    with ThreadPoolExecutor(int(jobs)) as pool, open(f"{out}.part", "w", encoding="utf-8", newline="") as f:
        table = csv.writer(f, lineterminator="\n")
        table.writerow(COLUMNS)
        for rows in pool.map(lambda run: list(run.do()), runs):
            table.writerows(rows)
    os.replace(f"{out}.part", out)


if __name__ == "__main__":
    if len(sys.argv) not in (6, 7):
        sys.exit("usage: fidelity_runs.py CONFIGURATION FOLDER OUT.csv DLSIM JOBS [--small]")
    sys.exit(results.attempt("fidelity_runs.py", lambda: main(*sys.argv[1:])))
