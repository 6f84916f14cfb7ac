// SPDX-License-Identifier: GPL-3.0-or-later
// The page of `dlsim report`. Library and data lie in the page, compressed; nothing is loaded.
"use strict";

const COLOURS = ["#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9", "#8C564B", "#7F7F7F",
    "#BCBD22", "#9467BD"];
const RESTORING = COLOURS.length; // a colour of its own
const COLUMNS = 1000, ROWS = 256; // cells that the Gantt draws at most
const LAYOUT = {
    font: {size: 12}, margin: {l: 60, r: 15, t: 30, b: 45}, hovermode: "closest", paper_bgcolor: "white",
    legend: {orientation: "h", y: 1.02, yanchor: "bottom"},
};
const CONFIG = {responsive: true, displaylogo: false};

function fail(what) {
    document.getElementById("failure").textContent = what;
    document.body.dataset.errors = (document.body.dataset.errors || "") + what + "\n";
}
window.addEventListener("error", (e) => fail(e.message));
window.addEventListener("unhandledrejection", (e) => fail(String(e.reason)));

async function unpack(id) {
    const element = document.getElementById(id);
    const bytes = Uint8Array.from(atob(element.textContent), (c) => c.charCodeAt(0));
    element.remove();
    return new Response(new Blob([bytes]).stream().pipeThrough(new DecompressionStream("gzip"))).text();
}

function array(packed) {
    const bytes = Uint8Array.from(atob(packed.base64), (c) => c.charCodeAt(0)).buffer;
    return packed.type === "i4" ? new Int32Array(bytes) : new Float64Array(bytes);
}

function duration(s) {
    if (!(s >= 0)) return "-";
    const d = Math.floor(s / 86400), h = Math.floor(s / 3600) % 24, m = Math.floor(s / 60) % 60;
    if (d) return d + " d " + h + " h " + m + " min";
    if (h) return h + " h " + m + " min";
    return m ? m + " min " + Math.floor(s % 60) + " s" : s.toFixed(s < 10 ? 2 : 0) + " s";
}

function distribution(id, what, runs) {
    Plotly.newPlot(id, runs.map((r, i) => ({
        x: r[id], y: r.quantiles, name: r.label, mode: "lines", line: {color: COLOURS[i % 10]},
        text: r[id].map(duration), hovertemplate: "%{y:.1%} within %{text}",
    })), {...LAYOUT, height: 330, xaxis: {type: "log", title: {text: what + " (s)"}, exponentformat: "power"},
        yaxis: {title: {text: "part of jobs"}, range: [0, 1.02]}}, CONFIG);
}

function overTime(runs, unit) {
    const traces = [];
    runs.forEach((r, i) => {
        if (!r.series) return;
        const x = array(r.series.t).map((t) => t / unit.s);
        const line = {color: COLOURS[i % 10], width: 1.3};
        traces.push({x, y: array(r.series.busy), name: r.label, mode: "lines", line, legendgroup: i,
            hovertemplate: "%{y:.1f} % in use"});
        traces.push({x, y: array(r.series.waiting), name: r.label, mode: "lines", line, legendgroup: i,
            showlegend: false, yaxis: "y2", hovertemplate: "%{y:.1f} jobs waiting"});
    });
    if (!traces.length) {
        document.getElementById("series").textContent = "The runs have no record of it (results.series).";
        return;
    }
    Plotly.newPlot("series", traces, {...LAYOUT, height: 420,
        xaxis: {title: {text: "time (" + unit.name + ")"}, anchor: "y2"},
        yaxis: {title: {text: "GPUs in use (%)"}, domain: [0.54, 1], range: [0, 103]},
        yaxis2: {title: {text: "jobs waiting"}, domain: [0, 0.46], rangemode: "tozero"}}, CONFIG);
}

// Bars begin at 0, unless that would hide all but the longest. rows: {name, value: [a run each], shown: [the same as text]}
function bars(id, rows, runs, axis) {
    if (!document.getElementById(id)) return;
    const all = rows.flatMap((row) => row.value).filter((v) => v > 0).sort((a, b) => a - b);
    const type = all[all.length - 1] > 20 * all[all.length >> 1] ? "log" : "linear";
    Plotly.newPlot(id, runs.map((r, i) => ({
        type: "bar", orientation: "h", name: r.label, marker: {color: COLOURS[i % 10]},
        y: rows.map((row) => row.name), x: rows.map((row) => row.value[i]),
        text: rows.map((row) => row.shown[i]), hovertemplate: "%{y}: %{text}", textposition: "none",
    })), {...LAYOUT, height: 120 + rows.length * (18 + 12 * runs.length), margin: {...LAYOUT.margin, l: 150},
        xaxis: {title: {text: axis}, type},
        yaxis: {autorange: "reversed"}, showlegend: runs.length > 1}, CONFIG);
}

// ---- Gantt: only what the window shows is drawn, as an image of at most COLUMNS x ROWS cells -----

const gantt = {run: null, unit: null};

function prepare(run) {
    const g = run.gantt;
    if (g.start instanceof Float64Array) return;
    for (const key of ["first", "start", "end", "job", "rate"]) g[key] = array(g[key]);
    for (const key of ["submit", "begin", "finish", "gpus"]) g.jobs[key] = array(g.jobs[key]);
    g.label = new Array(g.jobs.id.length);
}

function label(run, job) {
    const j = run.gantt.jobs;
    if (!run.gantt.label[job]) {
        run.gantt.label[job] = "job " + j.id[job] + (j.model ? ", " + j.models[j.model[job]] : "") + "<br>" +
            j.gpus[job] + " GPUs<br>submitted at " + duration(j.submit[job]) +
            "<br>waited " + duration(j.begin[job] - j.submit[job]) + " for its start<br>" +
            (j.finish[job] >= 0 ? "done after " + duration(j.finish[job] - j.submit[job]) : "not finished");
    }
    return run.gantt.label[job];
}

// First stretch of a lane that starts after t.
function after(g, lane, t) {
    let low = g.first[lane], high = g.first[lane + 1];
    while (low < high) {
        const middle = (low + high) >> 1;
        if (g.start[middle] <= t) low = middle + 1; else high = middle;
    }
    return low;
}

function cells(run, x0, x1, lane0, lane1) {
    const g = run.gantt, step = Math.max(1, Math.ceil((lane1 - lane0) / ROWS));
    const dx = (x1 - x0) / COLUMNS, z = [], text = [];
    for (let lane = lane0; lane < lane1; lane += step) {
        const row = new Array(COLUMNS).fill(null), words = new Array(COLUMNS).fill("");
        // A few steps back for jobs that share a GPU and started earlier.
        let i = Math.max(g.first[lane], after(g, lane, x0) - 4);
        for (; i < g.first[lane + 1] && g.start[i] < x1; i++) {
            const from = Math.max(0, Math.floor((g.start[i] - x0) / dx));
            const to = Math.min(COLUMNS, Math.max(from + 1, Math.round((g.end[i] - x0) / dx)));
            const colour = g.rate[i] > 0 ? g.job[i] % 10 : RESTORING;
            for (let c = from; c < to && g.end[i] > x0; c++) {
                row[c] = colour;
                words[c] = label(run, g.job[i]) + "<br>" +
                    (g.rate[i] > 0 ? "speed " + g.rate[i].toPrecision(3) : "restoring");
            }
        }
        z.push(row);
        text.push(words);
    }
    return {z, text, step, dx};
}

function ticks(run, lane0, lane1) {
    const nodes = run.gantt.nodes.filter((n) => n.lane >= lane0 && n.lane < lane1);
    const shown = nodes.filter((_, i) => i % Math.max(1, Math.ceil(nodes.length / 16)) === 0);
    return {tickvals: shown.map((n) => n.lane), ticktext: shown.map((n) => n.name)};
}

function drawGantt(window) {
    const run = gantt.run, s = gantt.unit.s, started = performance.now();
    const lanes = run.gantt.first.length - 1;
    const lane0 = Math.max(0, Math.floor(window.y0 + 0.5));
    const lane1 = Math.max(lane0 + 1, Math.min(lanes, Math.ceil(window.y1 + 0.5)));
    const {z, text, step, dx} = cells(run, window.x0 * s, window.x1 * s, lane0, lane1);
    const shades = [...COLOURS, "#333333"], n = shades.length;
    const trace = {
        type: "heatmap", z, text, x0: window.x0 + dx / s / 2, dx: dx / s, y0: lane0 + (step - 1) / 2, dy: step,
        zmin: -0.5, zmax: n - 0.5, showscale: false, hoverongaps: false, hovertemplate: "%{text}<extra></extra>",
        colorscale: shades.flatMap((c, i) => [[i / n, c], [(i + 1) / n, c]]),
    };
    const layout = {...LAYOUT, margin: {...LAYOUT.margin, l: 90}, height: 620, dragmode: "zoom",
        xaxis: {title: {text: "time (" + gantt.unit.name + ")"}, range: [window.x0, window.x1]},
        yaxis: {title: {text: ""}, range: [window.y0, window.y1], showgrid: false, zeroline: false,
            ...ticks(run, lane0, lane1)}};
    const drawn = Plotly.react("gantt", [trace], layout, CONFIG);
    document.body.dataset.redrawMs = Math.round(performance.now() - started);
    return drawn;
}

function whole() {
    const g = gantt.run.gantt;
    return {x0: g.since / gantt.unit.s, x1: g.until / gantt.unit.s, y0: -0.5, y1: g.first.length - 1.5};
}

function onZoom(change) {
    const axes = document.getElementById("gantt").layout;
    if (change["xaxis.autorange"] || change["yaxis.autorange"]) {
        drawGantt(whole());
    } else if (Object.keys(change).some((k) => /^[xy]axis\.range/.test(k))) {
        const [x0, x1] = axes.xaxis.range, [y0, y1] = axes.yaxis.range;
        drawGantt({x0, x1, y0, y1});
    }
}

async function showGantt(run) {
    const note = document.getElementById("gantt-note");
    if (!run.gantt) {
        note.textContent = run.no_gantt;
        Plotly.purge("gantt");
        return;
    }
    note.textContent = "Drag to zoom, double click to see all, point at a job for its data. Colours tell " +
        "neighbours apart; black: restoring. " + run.gantt.note;
    prepare(run);
    gantt.run = run;
    await drawGantt(whole());
    const element = document.getElementById("gantt");
    element.removeAllListeners("plotly_relayout");
    element.on("plotly_relayout", onZoom);
}

function draw(data) {
    const runs = data.runs;
    const unit = data.until_s > 3 * 86400 ? {name: "days", s: 86400} :
        data.until_s > 3 * 3600 ? {name: "hours", s: 3600} : {name: "s", s: 1};
    gantt.unit = unit;
    bars("ratio", data.bars.ratio, runs, "ratio to " + runs[0].label);
    bars("size", data.bars.size, runs, "mean completion time (h)");
    distribution("jct", "job completion time", runs);
    distribution("queue", "time waiting, at least 1 s", runs);
    overTime(runs, unit);
    const which = document.getElementById("which");
    runs.forEach((r) => which.add(new Option(r.name)));
    which.addEventListener("change", () => showGantt(runs[which.selectedIndex]));
    return showGantt(runs[0]);
}

(async () => {
    if (typeof DecompressionStream === "undefined") {
        fail("This browser cannot unpack the page's data; any browser since 2023 can.");
        return;
    }
    const script = document.createElement("script");
    script.src = URL.createObjectURL(new Blob([await unpack("library")], {type: "text/javascript"}));
    await new Promise((loaded, failed) => {
        script.onload = loaded;
        script.onerror = () => failed("the plotting library did not load");
        document.head.append(script);
    });
    await draw(JSON.parse(await unpack("data")));
    document.body.dataset.ready = "yes";
})();
