// SPDX-License-Identifier: GPL-3.0-or-later
// Added to a report by tests/cli/report.sh: uses the page as a reader would, and writes what it finds
// into the body's data attributes.
"use strict";
(async () => {
    const note = document.body.dataset;
    try {
        for (let i = 0; i < 300 && !note.ready && !note.errors; i++) {
            await new Promise((r) => setTimeout(r, 50));
        }
        const gantt = document.getElementById("gantt"), page = document.documentElement.outerHTML;
        note.loads = (page.match(/(src|href)="https?:/g) || []).length;
        note.curves = document.querySelectorAll("#jct .trace, #queue .trace, #series .trace").length;
        note.bars = document.querySelectorAll("#ratio .trace, #size .trace").length;
        note.first = document.querySelector("h2").firstChild.textContent.trim();
        note.cells = gantt.data[0].z.flat().filter((v) => v !== null).length;
        note.image = document.querySelectorAll("#gantt .heatmaplayer image").length;
        const far = gantt.layout.xaxis.range[1];
        await Plotly.relayout("gantt", {"xaxis.range[0]": far / 4, "xaxis.range[1]": far / 2,
            "yaxis.range[0]": 3.5, "yaxis.range[1]": 7.5});
        await new Promise((r) => setTimeout(r, 200));
        const zoomed = gantt.data[0];
        note.zoomedRows = zoomed.z.length;
        note.zoomedFrom = (zoomed.x0 / far).toFixed(2);
        const row = zoomed.z.findIndex((r) => r.some((v) => v !== null));
        const column = zoomed.z[row].findIndex((v) => v !== null);
        Plotly.Fx.hover("gantt", [{curveNumber: 0, pointNumber: [row, column]}]);
        await new Promise((r) => setTimeout(r, 300));
        note.hover = [...document.querySelectorAll("#gantt .hoverlayer text")].map((t) => t.textContent).join(" ");
        const which = document.getElementById("which");
        which.selectedIndex = which.length - 1;
        which.dispatchEvent(new Event("change"));
        await new Promise((r) => setTimeout(r, 500));
        note.lastCells = gantt.data[0].z.flat().filter((v) => v !== null).length;
    } catch (e) {
        note.errors = (note.errors || "") + e.stack;
    }
    note.probed = "yes";
})();
