#!/bin/bash
# SPDX-License-Identifier: GPL-3.0-or-later
# dlsim report: the page says what the results say, loads nothing, and works in a browser.
. "$DLSIM_SOURCE/tests/support/cli.sh"
export DLSIM_PLOTS=$source/plots

expect 2 report
expect 2 report --nonsense x.h5
python=$(sh "$source/plots/python.sh" h5py numpy plotly) || {
    echo "skipped: no Python with plotly"
    exit 77
}
for scheduler in fifo dlas-gpu; do
    expect 0 --config="$source/configs/quickstart.cfg" --trace="$sample" --scheduler=$scheduler -q \
        --set 'cluster.nodes[0].count=2' -o $scheduler.h5
done
expect 0 report fifo.h5 dlas-gpu.h5 -o page.html
expect 5 report fifo.h5 -o page.html
says err.txt "is there already"
cp page.html before.html
expect 0 report fifo.h5 dlas-gpu.h5 -o page.html --force
cmp before.html page.html || fail "the same runs give another page"
grep -Eq '(src|href)="?https?:' page.html && fail "the page loads something"
says page.html "fifo/consolidated against dlas-gpu/consolidated"
jct=$("$python" - fifo.h5 <<'END'
import h5py, sys
print(f"{h5py.File(sys.argv[1])['runs/0/summary/parts'][0]['jct_mean_s'] / 60:.1f} min")
END
)
says page.html "$jct"
"$python" -c 'import h5py, sys
name = h5py.File("fifo.h5")["runs/0/cluster/groups"]["name"][0]
sys.exit(name != b"v100")' || fail "the name of the nodes"

# The curves are over the jobs that the tables beside them are over.
expect 0 --config="$source/configs/quickstart.cfg" --trace="$sample" -q --set results.warmup=10min --set results.cooldown=10min -o warm.h5
"$python" - <<'END' || fail "curves of jobs that the statistics leave out"
import os, sys
sys.path.insert(0, os.environ["DLSIM_PLOTS"])
import h5py, report
run = h5py.File("warm.h5")["runs/0"]
part, drawn = run["summary/parts"][0], report.of_run(run, "")
assert 2 < len(drawn["jct"]) == part["jct_n"] < part["completed"], (len(drawn["jct"]), part)
assert abs(drawn["jct"][-1] - part["jct_max_s"]) < 1e-6 and abs(drawn["queue"][-1] - max(1, part["queue_max_s"])) < 1e-6
END

# What makes runs less comparable is on the page; all their GPUs and gang sizes are. A name is no mark of the page.
expect 0 --config="$source/configs/quickstart.cfg" --trace="$sample" -q --set trace.max_jobs=2 --until=5 -o @BODY@.h5
expect 0 report @BODY@.h5 fifo.h5 -o odd.html
says odd.html "; 16 or 256 GPUs; "
says odd.html "<p>dlas-gpu/consolidated was stopped early.</p>"
says odd.html "<p>dlas-gpu/consolidated and fifo/consolidated replay different numbers of jobs.</p>"
says odd.html "<p>dlas-gpu/consolidated and fifo/consolidated have clusters of different numbers of GPUs.</p>"
says odd.html "<td>0 to "
cp "$sample" @BODY@.csv
expect 0 --config="$source/configs/quickstart.cfg" --trace=@BODY@.csv -q -o marks.h5
expect 0 report marks.h5 -o marks.html
says marks.html "<p>Trace @BODY@.csv; 256 GPUs"
[ "$(grep -c 'id="gantt"' marks.html)" -eq 1 ] || fail "a name became a part of the page"

# With less memory than it needs it says so, and leaves nothing. (Of its Python before: no Python that has what it needs.)
out_of_memory=0
if [ "${DLSIM_SANITIZE:-0}" = 0 ]; then
    mkdir less
    code=1
    for ((kib = 60000; code != 0 && kib < 1000000; kib += kib / 5)); do
        code=0
        (ulimit -v "$kib" && exec "$dlsim" report fifo.h5 -o less/page.html) >out.txt 2>err.txt || code=$?
        test $code -eq 0 || test ! -e less/page.html || fail "a page without the memory for it"
        test "$(ls -A less)" = "" || test "$(ls -A less)" = page.html || fail "left: $(ls -A less)"
        test $code -ne 1 || out_of_memory=$((out_of_memory + 1))
        case $code in
        0) grep -q '</html>' less/page.html || fail "a part of a page" ;;
        1) says err.txt "out of memory" ;;
        esac
        rm -f less/page.html
    done
    test $code -eq 0 && test $out_of_memory -gt 0 || fail "exit code $code with $kib KiB"
    echo "$out_of_memory limits were too low for the page"
fi

# Two at once write one page, whole, and nothing else.
mkdir two
"$dlsim" report fifo.h5 -o two/page.html --force &
expect 0 report fifo.h5 -o two/page.html --force
wait $! || fail "the other of two reports failed"
test "$(ls -A two)" = page.html || fail "left: $(ls -A two)"

# What it cannot show it says.
expect 4 report missing.h5 -o x.html
says err.txt "missing.h5: cannot be opened: No such file"
echo text >bad.h5
expect 4 report bad.h5 -o x.html
says err.txt "bad.h5: not an HDF5 file"
"$python" - <<'END'
import h5py, shutil
shutil.copy("fifo.h5", "torn.h5")
with h5py.File("fifo.h5") as f:
    at = h5py.h5o.get_info(f["runs/0/allocations/node"].id).addr
with open("torn.h5", "r+b") as f:
    f.seek(at + 20)
    f.write(b"????")
END
expect 4 report torn.h5 -o x.html
says err.txt "torn.h5: "
"$python" - "$source/plots" <<'END' || fail "what is not there, or something else"
import contextlib, io, shutil, sys
sys.path.insert(0, sys.argv[1])
import h5py, numpy, report, results
def cut(name):
    return lambda run: run.__delitem__(name)
def put(name, value):
    def change(run):
        del run[name]
        run[name] = value
    return change
def attribute(name, value):
    return lambda run: run.attrs.__setitem__(name, value)
cases = [(cut(name), name.split("/")[-1]) for name in (
    "jobs/state", "jobs/start_us", "allocations/job", "allocations/gpu_mask", "allocations/start_us",
    "series/cluster/busy_gpus", "series/cluster/t_us", "cluster/groups")]
cases += [(put("jobs/id", numpy.array([b"a"])), "of different lengths"), (put("cluster/groups", [1, 2]), "cluster/groups"),
          (attribute("scheduler", 7), "cut.h5: /runs/0: the attribute 'scheduler' is 7"),
          (attribute("placement", numpy.bytes_(b"\xff")), "the attribute 'placement' is"),
          (attribute("total_gpus", b"many"), "the attribute 'total_gpus' is 'many'"),
          (lambda run: run.attrs.__delitem__("seed"), "the attribute 'seed' is missing"),
          (lambda run: run["summary"].attrs.__setitem__("span_s", float("nan")), "/runs/0/summary: the attribute 'span_s' is"),
          (lambda run: put("cluster/groups", run["cluster/groups"][:0])(run), "of 0 in cluster/groups")]
for change, wanted in cases:
    shutil.copy("fifo.h5", "cut.h5")
    with h5py.File("cut.h5", "a") as f:
        change(f["runs/0"])
    with contextlib.redirect_stderr(io.StringIO()) as said:
        code = results.attempt("report", lambda: report.page(["cut.h5"], "x.html", [], None))
    assert code == 4 and wanted in said.getvalue() and said.getvalue().count("\n") == 1, (wanted, code, said.getvalue())
# Of too many stretches the longest are drawn, with their jobs alone.
with h5py.File("fifo.h5") as f:
    run, report.MAX_STRETCHES = f["runs/0"], 20
    (found, _, _, note), _ = report.stretches(run, report.end_of(run))
    assert 0 < len(found) <= 20 and "are left out" in note, note
    shown = report.of_run(run, "fifo")["gantt"]
    ids = run["jobs/id"].asstr()[:]
    assert shown["jobs"]["id"] == [ids[j] for j in sorted(set(found.job))]
    # Plotly reads names as HTML.
    drawn = report.of_run(run, "<b>fifo</b>")
    assert (drawn["name"], drawn["label"]) == ("<b>fifo</b>", "&lt;b&gt;fifo&lt;/b&gt;")
    table = {name: column[:1] for name, column in results.arrays(run["jobs"]).items()}
    assert report.job_columns(run, {**table, "id": numpy.array(["<i>&amp;"])})["id"] == ["&lt;i&gt;&amp;amp;"]
shutil.copy("fifo.h5", "edited.h5")
with h5py.File("edited.h5", "a") as f:
    f["runs/0/allocations/start_us"][0] += 1
END
for command in report compare; do # what fits no digest is drawn by neither
    expect 4 $command edited.h5 -o x.html
    says err.txt "edited.h5: allocations and series of run '0' do not have the digest"
done
expect 4 report fifo.h5 --run=7 -o x.html
says err.txt "no run named 7"
expect 5 report fifo.h5 -o missing/x.html
test ! -e x.html || fail "a page in spite of an error"
code=0
DLSIM_PYTHON=/bin/false "$dlsim" report fifo.h5 -o x.html 2>err.txt || code=$?
test $code -eq 6 || fail "exit code $code without a Python"
says err.txt "apt install"
# One without the modules, and one that is none, are passed over.
printf '#!/bin/sh\nexec %s -S "$@"\n' "$python" >bare-python && chmod +x bare-python
DLSIM_PYTHON="/bin/false ./bare-python $python" expect 0 report fifo.h5 -o other.html
test -s other.html || fail "no page by the third Python"
code=0
DLSIM_PYTHON="./bare-python" "$dlsim" report fifo.h5 -o x.html 2>err.txt || code=$?
test $code -eq 6 && test ! -e x.html || fail "exit code $code without modules"
says err.txt "apt install"
expect 0 --config="$source/configs/quickstart.cfg" --trace="$sample" -q -o bare.h5 \
    --set results.allocations=false --set results.series=false
expect 0 report bare.h5 -o bare.html

# Runs that were stopped, before anything ended or while a job waits, of jobs that take no time or fit nowhere, and with a
# far zero: the last row of a series holds to the end, and what is shown begins with the first job.
printf 'schema_version = 1;\ncluster: { nodes = ({ count = 2; gpus = 4; gpu_type = "V100"; }); };\nscheduler: { name = "fifo"; };\n' >two.cfg
odd() { # odd NAME JOBS [OPTION]...
    printf 'num_gpu,submit_time,duration\n%s' "$2" >"$1.csv"
    expect 0 --config=two.cfg --trace="$1.csv" -q -o "$1.h5" "${@:3}"
}
queue=$'8,1700000000,100\n8,1700000010,100\n'
odd stopped "$queue" --until=1700000050s
odd waiting "$queue"$'8,1700000020,9\n' --until=1700000150s
odd instant $'1,0,0\n1,0,0\n' --set trace.zero_duration=keep
odd nowhere $'9,0,1\n'
"$python" - "$source/plots" <<'END' || fail "odd runs"
import sys
sys.path.insert(0, sys.argv[1])
import numpy as np, report, results
runs = {name: results.open_results(name + ".h5")["runs/0"] for name in ("stopped", "waiting", "instant", "nowhere")}
shown = {name: report.of_run(run, name) for name, run in runs.items()}
assert [shown[name]["until"] for name in runs] == [1700000050, 1700000150, 1e-6, 1e-6], shown
assert shown["stopped"]["jct"] == [] and len(shown["waiting"]["jct"]) == 1
assert shown["stopped"]["gantt"]["since"] == 1.7e9 and shown["nowhere"]["no_gantt"] == "No job ran."
edges = np.linspace(1.7e15, 1.7e15 + 150e6, 16)
series = results.arrays(runs["waiting"]["series/cluster"])
assert list(results.averaged(series, "pending_jobs", edges)) == [0, 1, *[2] * 8, *[1] * 5]
assert report.shown(float("nan"), "f") == "-"
try:
    import picture, style
except ImportError:
    sys.exit()
drawn = []
style.save = lambda fig, *_: drawn.append([(ax.get_xlim(), ax.get_ylim()) for ax in fig.axes])
for name in ("stopped", "waiting", "instant"):
    picture.picture([name + ".h5"], "x.png", [])
begin, hundred = 1.7e9 / 86400, 100 / 86400
assert np.allclose([x for run in drawn[:2] for x, _ in run], [(begin, begin + k * hundred) for k in (0.5, 0.5, 1.5, 1.5)], 0, 1e-9), drawn
assert [run[1][1] for run in drawn[1:]] == [(0, 2.1), (0, 1)], drawn  # also where nobody waits
assert [round(style.student(n), 2) for n in (2, 9, 11, 15, 20, 31)] == [12.71, 2.31, 2.23, 2.14, 2.09, 2.04]
END
checks=$((checks + 1))

# The comparison as text and page; the same as a picture.
expect 0 compare fifo.h5 dlas-gpu.h5 -o both.html
says out.txt "dlas-gpu/consolidated"
cmp both.html page.html || fail "dlsim compare draws another page than dlsim report"
expect 5 compare fifo.h5 dlas-gpu.h5 -o both.html
says err.txt "is there already"
if sh "$source/plots/python.sh" h5py numpy matplotlib >/dev/null 2>&1; then
    expect 0 report fifo.h5 dlas-gpu.h5 -o jobs.png
    expect 0 compare fifo.h5 dlas-gpu.h5 -o again.png
    cmp jobs.png again.png || fail "the same runs give another picture"
    test "$(head -c 4 jobs.png | tail -c 3)" = PNG || fail "no picture"
    expect 4 report bare.h5 -o bare.png
    says err.txt "no record of where its jobs ran"
    expect 5 report fifo.h5 -o nowhere/jobs.png
fi

# What `make run` does after the build: at most 15 lines, and a page. A make that runs this test is not its concern.
(cd "$source" && env -u MAKEFLAGS -u MAKELEVEL -u MFLAGS make -n run BUILD="$work/made" |
    sed -n '/dlsim study/,$p') >recipe.sh
mkdir made && ln -s "$dlsim" made/dlsim
(cd "$source" && sh "$work/recipe.sh") >out.txt 2>err.txt || fail "make run: $(cat err.txt)"
test "$(cat out.txt err.txt | wc -l)" -le 15 || fail "make run says more than 15 lines: $(cat out.txt err.txt)"
says out.txt "open $work/made/run.html"
says out.txt "Next: "
grep -q "4 runs" made/run.html || fail "make run makes no page of its four runs"

# In a browser: curves and jobs are there, zoom and hover work, no script fails.
browser=$(command -v chromium || command -v chromium-browser || command -v google-chrome || true)
if [ -z "$browser" ]; then
    printf '%s checks\nskipped: no chromium\n' "$checks"
    exit 0
fi
look() {
    { cat "$1"; echo '<script>'; cat "$source/tests/support/report_probe.js"; echo '</script>'; } >probe.html
    timeout 100 "$browser" --headless=new --no-sandbox --disable-gpu --window-size=1240,2200 \
        --user-data-dir="$work/browser" --virtual-time-budget=60000 --dump-dom "file://$work/probe.html" \
        >dom.html 2>browser.txt || fail "the browser: $(tail -3 browser.txt)"
    grep -o '<body[^>]*>' dom.html >body.txt || fail "the browser shows nothing"
}
look page.html
says body.txt 'data-ready="yes"'
says body.txt 'data-probed="yes"'
grep -q data-errors body.txt && fail "$(cat body.txt)"
says body.txt 'data-loads="0"'
says body.txt 'data-curves="8"'
says body.txt 'data-bars="4"'
says body.txt 'data-first="Comparison"'
says body.txt 'data-image="1"'
says body.txt 'data-zoomed-rows="4"'
grep -Eq 'data-hover="job [0-9]+' body.txt || fail "no hover: $(cat body.txt)"
grep -Eq 'data-cells="[1-9][0-9]{3}' body.txt || fail "no jobs over GPUs: $(cat body.txt)"
grep -Eq 'data-last-cells="[1-9][0-9]{3}' body.txt || fail "the second run is not shown: $(cat body.txt)"
expect 0 report fifo.h5 -o one.html
look one.html
says body.txt 'data-first="Jobs over GPUs"'
says body.txt 'data-bars="1"'
grep -q data-errors body.txt && fail "$(cat body.txt)"
echo "$checks checks"
