# SPDX-License-Identifier: GPL-3.0-or-later
"""A page about one run, or several to compare: tables, distributions, the cluster over time, jobs over GPUs.
One HTML file that needs no network."""

import base64
import gzip
import heapq
import html
import json
import os
import re
import shlex

import numpy as np

import results
from results import BadInput, arrays, attribute, averaged, open_results, text

HERE = os.path.dirname(os.path.abspath(__file__))
MAX_RUNS = 16  # more are a table's or a figure's work
SERIES_POINTS = 1500
MAX_STRETCHES = 400_000  # per run, over all GPUs; beyond, what is short is left out
COARSE = 2000  # then: so many instants, or a half, a quarter, .. of them
QUANTILES = 500
ZIP_LEVEL = 6

# attribute of summary/parts' first row, what it is called, unit
FIGURES = (
    ("completed", "jobs completed", "n"), ("unfinished", "jobs not finished", "n"),
    ("infeasible", "jobs that fit nowhere", "n"),
    ("jct_mean_s", "JCT, mean", "s"), ("jct_median_s", "JCT, median", "s"), ("jct_p95_s", "JCT, 95th percentile", "s"),
    ("jct_p99_s", "JCT, 99th percentile", "s"), ("queue_mean_s", "waiting, mean", "s"),
    ("queue_p95_s", "waiting, 95th percentile", "s"), ("slowdown_mean", "slowdown, mean", "f"),
    ("preemptions", "preemptions", "n"),
)
WHOLE = (("makespan_s", "makespan", "s"), ("utilisation", "GPUs in use", "%"),
         ("useful_utilisation", "GPUs at work", "%"), ("waiting_mean", "jobs waiting, mean", "f"))


def packed(values, kind="f8"):
    return {"type": kind, "base64": base64.b64encode(np.ascontiguousarray(values, "<" + kind)).decode()}


def zipped(words):
    return base64.b64encode(gzip.compress(words.encode("utf-8"), ZIP_LEVEL, mtime=0)).decode()


def plain(name):
    """For Plotly, which reads its texts as HTML."""
    return html.escape(name, quote=False)


def duration(s):
    if s is None or not np.isfinite(s):
        return "-"
    if s < 0:
        return "-" + duration(-s)
    if s < 120:
        return f"{s:.3g} s"
    if s < 7200:
        return f"{s / 60:.1f} min"
    return f"{s / 3600:.1f} h" if s < 172800 else f"{s / 86400:.2f} d"


def shown(value, unit):
    if unit == "s" or not np.isfinite(value):
        return duration(value)
    return f"{100 * value:.1f} %" if unit == "%" else f"{value:,.0f}" if unit == "n" else f"{value:.3g}"


# ---- jobs over GPUs -------------------------------------------------------------------------------


def bits(mask, gpu):
    return (mask >> np.uint64(gpu)) & np.uint64(1) == 1


def on_gpus(rows, first_lane):
    """A row per (stretch, GPU) of the rows whose node is known: lane and index of the row."""
    lanes, index = [], []
    mask = rows["gpu_mask"].astype(np.uint64)
    base = first_lane[rows["node"]]
    for gpu in range(64):
        at = np.flatnonzero(bits(mask, gpu))
        if len(at) == 0 and not np.any(mask >> np.uint64(gpu)):
            break
        lanes.append(base[at] + gpu)
        index.append(at)
    return np.concatenate(lanes), np.concatenate(index)


def on_any(rows):
    """The same where a placement only counts GPUs: whichever is free."""
    free, busy, lanes, index, n = [], [], [], [], 0
    for i, (start, end, gpus) in enumerate(zip(*(rows[c].tolist() for c in ("start_us", "end_us", "gpus")))):
        while busy and busy[0][0] <= start:
            heapq.heappush(free, heapq.heappop(busy)[1])
        for _ in range(gpus):
            if free:
                lane = heapq.heappop(free)
            else:
                lane, n = n, n + 1
            heapq.heappush(busy, (end, lane))
            lanes.append(lane)
            index.append(i)
    return np.array(lanes), np.array(index)


def coarse(start, end, since, until):
    """Of too many stretches those that cover one of so many instants, as long as they cover them: which, from when to
    when, and the time between two instants."""
    instants = COARSE
    while True:
        width = (until - since) / instants
        first, last = np.ceil((start - since) / width - 0.5), np.ceil((end - since) / width - 0.5)
        keep = last > first
        if keep.sum() <= MAX_STRETCHES or instants < 2:
            return keep, since + first[keep] * width, since + last[keep] * width, width
        instants //= 2


def stretches(run, until):
    """What ran on each GPU (a lane) when, as records ordered by lane and start, and the nodes' names; or why that is
    not known."""
    none = (run["jobs/start_us"][:] < 0).all()
    if none or "allocations" not in run or not len(run["allocations/start_us"]):
        return None, "No job ran." if none else "This run has no record of where its jobs ran (results.allocations)."
    rows = arrays(run["allocations"])
    order = np.argsort(rows["start_us"], kind="stable")
    rows = {name: column[order] for name, column in rows.items()}
    nodes, first, note = [], [0], ""
    for g in results.rows(run, "cluster/groups", ("name", "nodes", "gpus_per_node")):
        for i in range(g["nodes"]):
            nodes.append({"lane": first[-1], "name": f"{text(g['name'])} {i}"})
            first.append(first[-1] + int(g["gpus_per_node"]))
    n_lanes = first[-1]
    if (rows["node"] < 0).any():
        lane, index = on_any(rows)
        nodes = [{"lane": i, "name": f"GPU {i}"} for i in range(n_lanes)]
        n_lanes = max(n_lanes, int(lane.max()) + 1)
        note = "The placement only counts GPUs; which ones is made up."
    elif rows["node"].max() >= len(nodes):
        raise BadInput(f"{run.file.filename}: {run.name}/allocations/node: node {rows['node'].max()} of {len(nodes)} in cluster/groups")
    else:
        lane, index = on_gpus(rows, np.array(first[:-1]))
    start, end = (rows[c][index] / 1e6 for c in ("start_us", "end_us"))
    if len(lane) > MAX_STRETCHES:
        keep, start, end, width = coarse(start, end, start_of(run), until)
        lane, index = lane[keep], index[keep]
        note += f" Stretches shorter than {duration(width)} are left out where they are many."
    order = np.lexsort((start, lane))
    found = np.rec.fromarrays([column[order] for column in (lane, start, end, rows["job"][index], rows["rate"][index])],
                              names="lane,start,end,job,rate")
    return (found, n_lanes, nodes, note), None


def gantt(run, table, until):
    """Stretches by lane and the jobs that they are of, packed, or why there is no Gantt."""
    known, why = stretches(run, until)
    if not known:
        return None, why
    found, n_lanes, nodes, note = known
    counts = np.bincount(found.lane, minlength=n_lanes)
    drawn, job = np.unique(found.job, return_inverse=True)
    return {"nodes": [{**node, "name": plain(node["name"])} for node in nodes], "note": note, "since": start_of(run), "until": until, "start": packed(found.start), "end": packed(found.end),
            "first": packed(np.concatenate([[0], np.cumsum(counts)]), "i4"),
            "job": packed(job, "i4"), "rate": packed(found.rate),
            "jobs": job_columns(run, {name: column[drawn] for name, column in table.items()})}, None


def job_columns(run, table):
    seconds = {k: packed(np.where(table[c] >= 0, table[c] / 1e6, -1))
               for k, c in (("submit", "submit_us"), ("begin", "start_us"), ("finish", "end_us"))}
    data = {"id": [plain(name) for name in table["id"]], "gpus": packed(table["gpus"], "i4"), **seconds}
    if "model" in table and "model" in run["dicts"]:
        data["models"] = [plain(text(t)) for t in run["dicts/model"][:]] + ["no model"]
        data["model"] = [len(data["models"]) - 1 if m < 0 else int(m) for m in table["model"]]
    return data


# ---- a run ----------------------------------------------------------------------------------------


def over_time(run):
    if "series" not in run or len(run["series/cluster/t_us"]) < 2:
        return None
    series = arrays(run["series/cluster"])
    edges = np.linspace(series["t_us"][0], max(series["t_us"][-1], 1e6 * end_of(run)), SERIES_POINTS + 1)
    return {"t": packed((edges[:-1] + edges[1:]) / 2e6),
            "busy": packed(100 * averaged(series, "busy_gpus", edges) / attribute(run, "total_gpus", np.number)),
            "waiting": packed(averaged(series, "pending_jobs", edges))}


def start_of(run):
    """When the first job was submitted, s."""
    return run["jobs/submit_us"][:].min() / 1e6


def end_of(run):
    """When the last job ended, or a run was stopped before, s; after its start."""
    return start_of(run) + max(attribute(run["summary"], "span_s", np.number), 1e-6)


def of_run(run, name):
    table = arrays(run["jobs"])
    trimmed = [1e6 * attribute(run["summary"], key, np.number) for key in ("warmup_s", "cooldown_s")]
    since, until = table["submit_us"].min() + trimmed[0], table["submit_us"].max() - trimmed[1]
    done = (table["state"] == 3) & (table["submit_us"] >= since) & (table["submit_us"] <= until)
    q = np.linspace(0, 1, min(QUANTILES, done.sum()))

    def quantiles(values, least):
        return np.maximum(np.percentile(values[done] / 1e6, 100 * q), least).tolist() if len(q) else []

    until = end_of(run)
    drawn, why = gantt(run, table, until)
    return {"name": name, "label": plain(name), "until": until, "quantiles": q.tolist(), "series": over_time(run), "gantt": drawn, "no_gantt": why,
            "jct": quantiles(table["end_us"] - table["submit_us"], 1e-3), "queue": quantiles(table["pending_us"], 1)}


def seed_of(run):
    return attribute(run, "seed", np.number)


def name_of(run, several):
    parts = [attribute(run, k) for k in ("scheduler", "placement", "predictor")]
    return "/".join(parts[:2 if parts[2] in ("", "none") else 3]) + (f" (seed {seed_of(run)})" if several else "")


def gather(paths, wanted):
    found = []
    for path in paths:
        f = open_results(path)
        for key in f["runs"]:
            if not wanted or key in wanted:
                found.append((f["runs"][key], path, key))
    if not found:
        raise BadInput(f"{', '.join(paths)}: no run" + (f" named {', '.join(wanted)}" if wanted else ""))
    if len(found) > MAX_RUNS:
        raise BadInput(f"{len(found)} runs are too many for one page; --run=NAME picks up to {MAX_RUNS}")
    seeds = {seed_of(r) for r, _, _ in found}
    names = [name_of(r, len(seeds) > 1) for r, _, _ in found]
    return [(r, n if names.count(n) == 1 else f"{n} [{os.path.basename(p)} {k}]")
            for (r, p, k), n in zip(found, names)]


# ---- the page -------------------------------------------------------------------------------------


def table(head, rows):
    cells = "".join(f"<th>{html.escape(h)}</th>" for h in head)
    lines = "".join("<tr>" + "".join(f"<td>{c}</td>" for c in row) + "</tr>" for row in rows)
    return f'<div class="wide"><table><thead><tr>{cells}</tr></thead><tbody>{lines}</tbody></table></div>'


def beside(values, unit):
    """A value for each run, and from the second on the factor over the first."""
    row = []
    for i, v in enumerate(values):
        cell = shown(v, unit)
        if i > 0 and unit != "n" and values[0] > 0 and np.isfinite(v):
            cell += f' <span class="ratio">&times; {v / values[0]:.3g}</span>'
        row.append(cell)
    return row


def section(title, *inside):
    return f"<h2>{title}</h2>\n" + "\n".join(inside)


def chart(name, beside=""):
    """Where the script draws; a table beside it."""
    drawn = f'<div id="{name}" class="chart"></div>'
    return f'<div class="beside">{drawn}{beside}</div>' if beside else drawn


def figures(runs):
    """The numbers of the runs: what the bars show, and the tables beside them."""
    names = [n for _, n in runs]
    parts = [r["summary/parts"][:] for r, _ in runs]
    rows = [(what, [p[key][0] for p in parts], unit) for key, what, unit in FIGURES]
    rows += [(what, [r["summary"].attrs[key] for r, _ in runs], unit) for key, what, unit in WHOLE]
    sizes = []
    for size in parts[0]["name"][parts[0]["kind"] == 1]:
        each = [p[(p["kind"] == 1) & (p["name"] == size)][0] for p in parts]
        name, jobs = text(size), sorted({int(p["jobs"]) for p in each})
        if jobs[-1] > 0:
            sizes.append((f"{name} GPU{'' if name == '1' else 's'}", " to ".join(f"{n:,}" for n in {jobs[0]: 0, jobs[-1]: 0}),
                          [p["jct_mean_s"] for p in each]))
    ratio = [(what, values, unit) for what, values, unit in rows
             if unit in "s%" and all(np.isfinite(v) and v > 0 for v in values)]
    bars = {"ratio": [{"name": what, "value": [v / values[0] for v in values], "shown": [shown(v, unit) for v in values]}
                      for what, values, unit in ratio],
            "size": [{"name": name, "value": [v / 3600 if np.isfinite(v) else None for v in values],
                      "shown": [shown(v, "s") for v in values]} for name, _, values in sizes]}
    summary = table(["", *names], [[what, *beside(values, unit)] for what, values, unit in rows])
    by_size = table(["", "jobs", *names], [[name, jobs, *beside(values, "s")] for name, jobs, values in sizes])
    return bars, summary, by_size


def remarks(runs):
    """What makes runs less comparable than they seem, as dlsim compare says it."""
    def of(run):
        counted = run["summary"].attrs
        return (attribute(run, "trace_sha256"), run["summary/parts"]["jobs"][0],
                (counted["warmup_s"], counted["cooldown_s"]), attribute(run, "total_gpus", np.number))

    said = [f"{name} was stopped early." for run, name in runs if not attribute(run, "complete", np.number)]
    kinds = [of(run) for run, _ in runs]
    for i, what in enumerate(("replay different traces", "replay different numbers of jobs", "count other jobs (results.warmup, "
                              "results.cooldown)", "have clusters of different numbers of GPUs")):
        other = next((k for k, kind in enumerate(kinds) if kind[i] != kinds[0][i] and (i != 1 or kind[0] == kinds[0][0])), None)
        if other is not None:
            said.append(f"{runs[0][1]} and {runs[other][1]} {what}.")
    return said


def body(summary, by_size, several):
    """The page's sections: several runs open on their comparison, one on its jobs."""
    compared = section("Comparison", chart("ratio", summary))
    jobs = section('Jobs over GPUs <select id="which" aria-label="run"></select>',
                   '<p id="gantt-note">Drag to zoom, double click to see all, point at a job for its data.</p>',
                   chart("gantt"))
    spread = section("Completion and waiting", f'<div class="pair">{chart("jct")}{chart("queue")}</div>')
    over = section("The cluster over time", chart("series", "" if several else summary))
    sizes = section("Mean JCT by gang size", chart("size", by_size))
    return "\n".join([compared, spread, over, jobs, sizes] if several else [jobs, spread, over, sizes])


# ---- the answer of dlsim whatif -------------------------------------------------------------------


def bounded(x):
    """A number of seconds with its interval."""
    if x["value_s"] is None:
        return "-"
    bounds = "" if x["low_s"] is None else f" [{duration(x['low_s'])}, {duration(x['high_s'])}]"
    return duration(x["value_s"]) + bounds


def answered(path):
    """The tables of a what-if: grade, both sides, speeds, target, waits and energy by group."""
    with open(path, encoding="utf-8") as f:
        a = json.load(f)
    why = f" ({html.escape(a['ungraded'])})" if a["ungraded"] else ""
    asked = " ".join(f"--{o['name']}={shlex.quote(o['value'])}" for o in a["options"])
    out = [f"<h2>What if</h2><p>Changed: {f'<code>{html.escape(asked)}</code>' if asked else 'nothing'}</p>",
           f"<p>Grade of the replay as it was: <b>{a['grade']}</b>{why}. ",
           f"Intervals: 95 %, {a['blocks']} blocks of {duration(a['block_s'])} drawn with replacement.</p>"
           if any(g["before"]["wait_mean"]["low_s"] is not None for g in a["groups"]) else
           "No intervals: the history is too short.</p>"]
    out.append(table(["", "as it was", "changed"], [[name, show(a["before"][key]), show(a["after"][key])] for name, key, show in (
        ("GPUs", "gpus", str), ("in use", "utilisation", lambda part: "-" if part is None else shown(part, "%")), ("completion, mean", "jct_mean_s", duration),
        ("makespan", "makespan_s", duration))]))
    if a["load"] != 1:
        out.append(f"<p>Load: {a['load']:.3f} times the GPU time, as drawn.</p>")
    for s in a["speeds"]:
        how = "as given" if s["given"] else f"predicted, {s['least']:.2f} to {s['most']:.2f} over models"
        out.append(f"<p>{html.escape(s['type'])}: {s['speed']:.2f} times {html.escape(s['reference'])} ({how})</p>")
    if "target" in a:
        t = a["target"]
        found = (f"{t['fewest_nodes']} nodes of {html.escape(t['group'])}, {bounded(t['wait'])}"
                 if "fewest_nodes" in t else f"no number of nodes of {html.escape(t['group'])} holds it")
        tried = ", ".join(f"{x['nodes']}: {'never' if x['wait_s'] is None else duration(x['wait_s'])}{', holds' if x['holds'] else ''}"
                          for x in t["tried"])
        out.append(f"<p>Target {html.escape(t['text'])}: <b>{found}</b></p><p>Nodes that were tried: {tried}.</p>")
    for key, name in (("wait_mean", "Wait, mean"), ("wait_p95", "Wait, 95th percentile")):
        never = any(g[side]["never_started"] for g in a["groups"] for side in ("before", "after"))
        out.append(table([name, "jobs", "changed", "as it was", "changed", "difference", *(["never started", "changed"] if never else [])],
                         [[html.escape(f"{g['kind']} {g['name']}"), g["before"]["jobs"], g["after"]["jobs"],
                           *map(bounded, (g["before"][key], g["after"][key], g[f"{key}_change"])),
                           *([g[side]["never_started"] for side in ("before", "after")] if never else [])] for g in a["groups"]]))
    if all("energy_kwh" in g[side] for g in a["groups"] for side in ("before", "after")):
        keys = ("energy_kwh", "cost", "carbon_kg")
        out.append(table(["Energy of jobs", "kWh as it was", "changed", "cost as it was", "changed", "kg CO2 as it was", "changed"],
                         [[html.escape(f"{g['kind']} {g['name']}"),
                           *(f"{g[side].get(key, 0):.5g}" for key in keys for side in ("before", "after"))] for g in a["groups"]]))
    return "\n".join(out)


def page(paths, output, wanted, answer=None):
    from plotly.offline import get_plotlyjs  # not for a picture

    runs = gather(paths, wanted)
    bars, summary, by_size = figures(runs)
    data = {"runs": [of_run(r, n) for r, n in runs], "bars": bars}
    data["until_s"] = max(r["until"] for r in data["runs"])
    gpus = sorted({int(attribute(r, "total_gpus", np.number)) for r, _ in runs})
    traces = sorted({os.path.basename(attribute(r, "trace_path")) for r, _ in runs})
    version = attribute(runs[0][0], "dlsim_version")
    said = "".join(f"<p>{html.escape(line)}</p>\n" for line in remarks(runs)) if not answer else ""
    fill = {
        "TITLE": html.escape(" against ".join(n for _, n in runs) if len(runs) < 3 else f"{len(runs)} runs"),
        "SUBTITLE": html.escape(f"Trace {', '.join(traces)}; {' or '.join(map(str, gpus))} GPUs; dlsim {version}"),
        "BODY": (answered(answer) if answer else said) + body(summary, by_size, len(runs) > 1), "LIBRARY": zipped(get_plotlyjs()),
        "DATA": zipped(json.dumps(data, separators=(",", ":"), allow_nan=False)),
    }
    with open(os.path.join(HERE, "report.html"), encoding="utf-8") as f:
        out = f.read()
    with open(os.path.join(HERE, "report.js"), encoding="utf-8") as f:
        fill["SCRIPT"] = f.read()
    out = re.sub("@(%s)@" % "|".join(fill), lambda mark: fill[mark[1]], out)  # once: names may have such marks in them
    with results.whole(output) as part, open(part, "w", encoding="utf-8") as f:
        f.write(out)


def parser(description):
    """Of the command line of a page or picture."""
    made = results.parser(description)
    made.add_argument("files", nargs="+", metavar="RUN.h5")
    made.add_argument("-o", "--output", default="report.html", metavar="FILE")
    made.add_argument("--run", action="append", default=[], metavar="NAME")
    return made


def main():
    words = parser(__doc__)
    words.add_argument("--answer", metavar="FILE", help="of dlsim whatif: what it says comes first")
    return results.command(lambda a: page(a.files, a.output, a.run, a.answer), words)


if __name__ == "__main__":
    raise SystemExit(main())
