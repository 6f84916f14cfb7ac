# SPDX-License-Identifier: GPL-3.0-or-later
# dlsim import slurm on odd dumps: clocks that change, columns missing or renamed, steps, repeated ids and parts of
# jobs, names of all kinds, nodes that come and go, jobs without GPUs.
. "$DLSIM_SOURCE/tests/support/cli.sh"

header='JobID|User|Account|Partition|State|Submit|Eligible|Start|End|ElapsedRaw|Timelimit|NNodes|NCPUS|NodeList|AllocTRES'
# job ID START END ELAPSED [NODES CPUS LIST TRES]
job() { echo "$1|ann|ml|main|COMPLETED|2026-10-25T00:10:00|2026-10-25T00:10:00|$2|$3|$4|1-00:00:00|${5:-1}|${6:-8}|${7:-g1}|${8-gres/gpu=2}"; }
cat >nodes.txt <<'END'
NodeName=g1 CPUTot=64 Gres=gpu:a100:4 State=IDLE Partitions=main,gpu
NodeName=g2 CPUTot=64 Gres=gpu:a100:4 State=DOWN+DRAIN Partitions=main
NodeName=g2 CPUTot=64 Gres=gpu:a100:4 State=IDLE Partitions=main
NodeName=c1 CPUTot=32 Gres=(null) State=IDLE Partitions=main
END
# import: the rows of standard input
import() {
    { echo "$header"; cat; } >sacct.txt
    expect 0 import slurm --sacct=sacct.txt --nodes=nodes.txt -o site
}
# duration ID SECONDS
duration() { grep -q "^$1,2,[0-9.]*,$2," site/trace.csv || fail "$1 is not of $2 s: $(cat site/trace.csv)"; }

# What is written is none of what is read.
mkdir site
{ echo "$header"; job 1 2026-10-25T02:50:00 2026-10-25T02:55:00 300; } >site/trace.csv
cp site/trace.csv sacct.txt
printf 'Account|User|RawShares\n' >site/shares.csv
for words in --sacct=site/trace.csv "--sacct=sacct.txt --shares=site/shares.csv"; do
    # shellcheck disable=SC2086 # words
    expect 5 import slurm $words --nodes=nodes.txt -o site
    says err.txt "is also an input: it would be replaced"
    cmp sacct.txt site/trace.csv
done

# Clocks: set back and forward while a job ran, suspended, ended before it started, offsets with and without a colon.
{
    job 1 2026-10-25T02:50:00 2026-10-25T02:20:00 1800
    job 2 2026-10-25T01:00:00 2026-10-25T04:00:00 02:00:00
    job 3 2026-10-25T01:00:00 2026-10-25T04:00:00 6000
    job 4 2026-10-25T01:00:00 2026-10-25T00:50:00 77
    job 5 2026-10-25T02:50:00+0200 2026-10-25T02:20:00+01:00 1800
    job 6 Ystday2:50 2026-10-25T02:20:00 1800
} | import
duration 1 1800
duration 2 7200
duration 3 10800
duration 5 1800
for text in "ran over a change of the clock: as long as Elapsed says: 2, first in line 2" \
    "ended before it started: the clock was set back: 1, first in line 5" "a time that is none: 1, first in line 7"; do
    says err.txt "$text"
done

# Columns: a separator at the ends of lines too, JobIDRaw, no GPUs told, no header, another separator, nothing that remains.
{ echo "$header|" | sed s/JobID/JobIDRaw/; job 1 2026-10-25T02:00:00 2026-10-25T03:00:00 3600 | sed 's/$/|/'; } >sacct.txt
expect 0 import slurm --sacct=sacct.txt --nodes=nodes.txt -o site
duration 1 3600
printf 'JobID|Submit|Start|End|AllocGRES\n1|1000|1010|1100|gpu:2\n' >sacct.txt
expect 4 import slurm --sacct=sacct.txt --nodes=nodes.txt -o none
says err.txt "neither AllocTRES nor ReqTRES"
job 1 2026-10-25T02:00:00 2026-10-25T03:00:00 3600 >bare.txt
{ echo "$header"; cat bare.txt; } | tr '|' ';' >semicolons.txt
for file in bare semicolons; do
    expect 4 import slurm --sacct=$file.txt --nodes=nodes.txt -o none
    says err.txt "header"
done
{ echo "$header"; sed 's/2026-10-25T02/25.10.2026 02/' bare.txt; } >sacct.txt
expect 4 import slurm --sacct=sacct.txt --nodes=nodes.txt -o none
says err.txt "the first: a time that is none"
test ! -e none || fail "a site of nothing"
{ echo "$header" | sed 's/Eligible/Other/'; cat bare.txt; } >sacct.txt
expect 0 import slurm --sacct=sacct.txt --nodes=nodes.txt -o site
says err.txt "eligible when it was submitted, for Eligible is not known: 1, first in line 2"
{ sed 's/\(T00:10:00|\)[^|]*|/\1Unknown|/' bare.txt; sed s/^1/2/ bare.txt; } | import
says err.txt "eligible when it was submitted, for Eligible is not known: 1, first in line 2"

# Rows: steps, parts, runs of one job, numbers that are none; names of all kinds stay what they are.
{
    cat bare.txt
    sed 's/^1|/1.batch|/' bare.txt
    sed 's/^1|/1.0|/' bare.txt
    cat bare.txt
    sed 's/^1|/2+0|/' bare.txt
    job 3 2026-10-25T02:00:00 2026-10-25T03:00:00 3600 many 1,5
    printf '4|J\xf6rg, "x"|#ml|a b|FAILED|1000|1000|1010|1110|100|5|1|8|g1|gres/gpu=2\r\n'
} | import
says err.txt "a step of a job: 2, first in line 3"
says err.txt "an id again (sacct -D, or ids that wrapped): a run of its own: 1, first in line 5"
says err.txt "a part of a heterogeneous job, replayed on its own: 1, first in line 6"
says err.txt "a number of nodes, processors or priority that is none: 2, first in line 7"
python3 - <<'END' || fail "names: $(cat site/trace.csv)"
import csv
rows = {r["job_id"]: r for r in csv.DictReader(l for l in open("site/trace.csv", encoding="latin-1") if not l.startswith("# "))}
assert set(rows) == {"1", "1:4", "2+0", "3", "4"}, rows
assert (rows["4"]["user"], rows["4"]["class"], rows["4"]["vc"]) == ('J\xf6rg, "x"', "#ml", "a b"), rows["4"]
assert rows["3"]["num_cpu"] == rows["3"]["nodes"] == "", rows["3"]
END
expect 0 fidelity site --json
expect 0 --config=site/cluster.cfg -q

# A number of GPUs that none can be is not "no GPU".
{
    cat bare.txt
    for gpus in =-2 =1e11 :a100=-2 =x =; do job "9$gpus" 2026-10-25T02:00:00 2026-10-25T03:00:00 3600 1 8 g1 "gres/gpu$gpus"; done
} | import
says err.txt "a number of GPUs that is none: 5, first in line 3"

# Where all start at one instant there is no order: the waits alone are graded.
sed 's/T00:10:00/T02:00:00/g' bare.txt | import
expect 0 fidelity site --set scheduler.name=fifo --least=A
says out.txt "tau - over 1 jobs: all start at one instant"
expect 0 fidelity site --set scheduler.name=fifo --json
says out.txt '"tau": null'

# The type of GPU is what was asked for, where that is known: who asked for any may have any in a what-if.
{
    echo "$header|ReqTRES"
    job 1 2026-10-25T02:00:00 2026-10-25T03:00:00 3600 1 8 g1 gres/gpu=2,gres/gpu:a100=2 | sed 's/$/|gres\/gpu=2/'
    job 2 2026-10-25T02:00:00 2026-10-25T03:00:00 3600 1 8 g1 gres/gpu=2,gres/gpu:a100=2 | sed 's/$/|gres\/gpu:a100=2/'
    job 3 2026-10-25T02:00:00 2026-10-25T03:00:00 3600 1 8 g1 gres/gpu=2,gres/gpu:a100=2 | sed 's/$/|/'
    job 4 2026-10-25T02:00:00 2026-10-25T03:00:00 3600 1 8 g1 gres/gpu:a100=2,gres/gpu:v100=1 | sed 's/$/|/'
} >sacct.txt
expect 0 import slurm --sacct=sacct.txt --nodes=nodes.txt -o site
python3 - <<'END' || fail "types: $(cat site/trace.csv)"
import csv
rows = {r["job_id"]: (r["num_gpu"], r["gpu_type"]) for r in csv.DictReader(l for l in open("site/trace.csv") if not l.startswith("# "))}
assert rows == {"1": ("2", ""), "2": ("2", "a100"), "3": ("2", "a100"), "4": ("3", "")}, rows
END
# Nodes with GPUs of several types, or that name one several times, and with others before them.
printf 'NodeName=%s CPUTot=64 Gres=%s State=IDLE\n' g1 gpu:a100:4,gpu:1g.5gb:7 g2 'gpu:a100:1(S:0,1),gpu:a100:3(S:1)' g3 vgpu:2,gpu:v100:2,gpu:2 >several.txt
expect 0 import slurm --sacct=sacct.txt --nodes=several.txt -o site
for line in 'count = 1; gpus = 7; gpu_type = "1g.5gb"' 'count = 1; gpus = 4; gpu_type = "a100"' 'count = 1; gpus = 2; gpu_type = "v100"'; do
    grep -q "$line" site/cluster.cfg || fail "nodes: no $line: $(cat site/cluster.cfg)"
done
says err.txt "of a type that their node has fewer of than of another: 6, left out"

# Nodes that were renamed or are gone, named twice, down, in several partitions, unused; what jobs without GPUs hold of
# the others: 1 h of half of g1's processors beside 1 h of a quarter; a job on c1 holds none.
{
    job 1 2026-10-25T02:00:00 2026-10-25T03:00:00 3600 1 16
    job 2 2026-10-25T02:00:00 2026-10-25T03:00:00 3600 1 32 g1 cpu=32
    job 3 2026-10-25T02:00:00 2026-10-25T03:00:00 3600 1 32 c1 cpu=32
    job 4 2026-10-25T02:00:00 2026-10-25T03:00:00 3600 3 0 'old[08-09],g1'
} | import
for text in "2 nodes with 8 GPUs; 1 nodes without" "nodes named again: 1" "not in service when they were listed: 1" "in several partitions: 1" \
    "nodes with GPUs that no job ran on: 1" "not among the nodes: 1, first in line 5" \
    "jobs without GPUs: 2, first in line 3; on nodes with GPUs 1, which held 0.5 node-hours of their processors, 66.7 % of what all jobs held there; replayed: 1"; do
    says err.txt "$text"
done
# As the table of the scheduler: those that came before the first job with GPUs at negative times, the processors of each node, those that ran on other nodes left out.
{
    job 1 2026-10-25T02:00:00 2026-10-25T03:00:00 3600 1 16
    job 2 2026-10-25T00:05:00 2026-10-25T00:20:00 900 1 8 g1 cpu=8
    job 3 2026-10-25T00:20:00 2026-10-25T01:00:00 2400 3 72 g[1-2],c1 cpu=72
    job 4 2026-10-25T00:30:00 2026-10-25T01:00:00 1800 1 99 g2 cpu=99 | sed 's/ann/a,n/; s/1-00:00:00/UNLIMITED/'
    job 5 2026-10-25T00:00:00 2026-10-25T00:10:00 600 1 8 g2 cpu=8
    job 6 2026-10-25T00:30:00 2026-10-25T01:00:00 1800 1 8 c1 cpu=8
} | import
says err.txt "jobs without GPUs: 5, first in line 3; on nodes with GPUs 4"
says err.txt "replayed: 4"
says site/cluster.cfg 'cpu_jobs = "cpu_jobs.csv"'
cat >cpu_jobs.txt <<'END'
submit,duration,limit,nodes,cpus,mem_mib,user,account,partition
-600,600,86400,1,8,,ann,ml,main
-300,900,86400,1,8,,ann,ml,main
0,2400,86400,2,24,,ann,ml,main
0,1800,,1,64,,a_n,ml,main
END
printf 'partition,tier,factor,limit,most,first,last\nmain,1,1,,,0,1\ngpu,1,1,,,0,0\n' >partitions.txt
diff partitions.txt site/partitions.csv || fail "partitions"
says err.txt "partitions: 2; their tiers are not known (--partitions)"
diff cpu_jobs.txt site/cpu_jobs.csv || fail "jobs without GPUs"
expect 0 fidelity site
# A list of more nodes than there can be is not followed to its end.
job 1 2026-10-25T02:00:00 2026-10-25T03:00:00 3600 1 16 'a[1-99999]b[1-99999]c[1-99999],g1' | import
says err.txt "not among the nodes: 1"
gzip -k nodes.txt
{ printf '\xef\xbb\xbf'; cat nodes.txt; } >marked.txt
for file in nodes.txt.gz marked.txt; do
    expect 0 import slurm --sacct=sacct.txt --nodes=$file -o site2
    cmp site/cluster.cfg site2/cluster.cfg || fail "$file"
done

# Dumps that were cut off, in the midst of a row, of JSON or of the gzip stream; jobs that have no end; names that hold the separator; jobs that
# did not start: what is whole remains, what does not is counted with its line.
{
    job 1 2026-10-25T02:00:00 2026-10-25T03:00:00 3600
    job 2 2026-10-25T02:00:00 Unknown 3600
    job 3 Unknown Unknown 0
    job 4 2026-10-25T02:00:00 2026-10-25T03:00:00 3600 | sed 's/ann/an|n/'
    job 5 2026-10-25T02:00:00 2026-10-25T03:00:00 3600 | head -c 60
} | import
says err.txt "no end (still running, or lost): 1, first in line 3"
says err.txt "never started (pending, or cancelled while it was): 1, first in line 4"
says err.txt "a row with more or fewer cells than the header (a name with '|', or cut off): 2, first in line 5"
test "$(grep -c '^[0-9]*,2,' site/trace.csv)" = 1 || fail "rows that are whole: $(cat site/trace.csv)"
gzip -c sacct.txt | head -c 200 >cut.gz
expect 4 import slurm --sacct=cut.gz --nodes=nodes.txt -o none
printf '{"meta": {"slurm": {}}, "jobs": [{"job_id": 1, "time": {"submission": 10' >cut.json
expect 4 import slurm --sacct=cut.json --nodes=nodes.txt -o none
says err.txt "cut.json:1:"
head -c 20 nodes.txt >cut_nodes.txt
expect 4 import slurm --sacct=sacct.txt --nodes=cut_nodes.txt -o none
test ! -e none || fail "a site of what was cut off"

# The language and time zone of who imports change nothing.
{ job 1 2026-10-25T02:00:00 2026-10-25T03:00:00 3600 && job 2 2026-10-25T02:30:00+01:00 2026-10-25T02:40:00+01:00 600 1 1.5K; } | import
cp -r site plain
for zone in UTC America/New_York Asia/Kolkata; do
    for language in C C.UTF-8; do
        TZ=$zone LC_ALL=$language expect 0 import slurm --sacct=sacct.txt --nodes=nodes.txt -o site
        diff -r plain site || fail "in $language and $zone another site"
    done
done

# Memory is that of the text and a record of at most 200 bytes per job.
peak() {
    python3 - "$1" <<'END' >many.txt
import sys
print("JobID|User|Account|Partition|State|Submit|Start|End|NNodes|NCPUS|NodeList|AllocTRES")
for i in range(int(sys.argv[1])):
    print(f"{i}|u|a|p|COMPLETED|{i + 1}|{i + 1}|{i + 100}|1|8|g1|cpu=8,gres/gpu=1\n{i}.batch|||p|COMPLETED|{i + 1}|{i + 1}|{i + 100}|1|8|g1|cpu=8,mem=1000M,gres/gpu=1")
END
    python3 - "$dlsim" <<'END'
import resource, subprocess, sys
subprocess.run([sys.argv[1], "import", "slurm", "--sacct=many.txt", "--nodes=nodes.txt", "-o", "many", "-q"], check=True)
print(resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss)
END
}
if test "${DLSIM_SANITIZE:-0}" = 0; then
    one=$(peak 40000) more=$(stat -c %s many.txt) # a process has at least the memory of the Python that starts it
    two=$(peak 80000) more=$(($(stat -c %s many.txt) - more + 40000 * 200))
    test $((two - one)) -lt $((more / 1024)) || fail "memory: $one and $two KiB, with $((more / 1024)) more to hold"
    checks=$((checks + 1))
fi

# Where no job asks for processors it is the same whether nodes say how many they have.
for cpus in 0 64; do
    expect 0 --config="$source/configs/quickstart.cfg" --trace="$source/traces/samples/philly_like_5000.csv" --scheduler=slurm \
        --set="cluster.nodes[0].cpus=$cpus" --json -q
    grep '"digest"' out.txt >digest$cpus.txt
done
cmp digest0.txt digest64.txt || fail "processors that nobody asks for change the run"

echo "$checks checks"
