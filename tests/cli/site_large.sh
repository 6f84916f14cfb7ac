# SPDX-License-Identifier: GPL-3.0-or-later
# dlsim import slurm on a large accounting: memory is that of the text and a record per job. A job of many GPUs costs
# dlsim fidelity no more than another.
. "$DLSIM_SOURCE/tests/support/cli.sh"

printf 'NodeName=g1 CPUTot=64 Gres=gpu:4 State=IDLE\nNodeName=g2 CPUTot=64 Gres=gpu:4 State=IDLE\n' >nodes.txt
python3 - 'JobID|User|Account|Partition|State|Submit|Eligible|Start|End|ElapsedRaw|Timelimit|NNodes|NCPUS|NodeList|AllocTRES' <<'END'
import sys
with open("big.txt", "w") as f:
    f.write(sys.argv[1] + "\n")
    for i in range(1, 120001):
        t = 1772359200 + 20 * i
        for step in ("", ".batch"):
            f.write(f"{i}{step}|ann|ml|main|COMPLETED|{t}|{t}|{t}|{t+90}|90|60|1|8|g{i%2+1}|billing=8,cpu=8,gres/gpu=2,mem=32G\n")
END
python3 - "$dlsim" <<'END' || fail "memory"
import os, resource, subprocess, sys
subprocess.run([sys.argv[1], "import", "slurm", "--sacct=big.txt", "--nodes=nodes.txt", "-q", "-o", "big"], check=True)
peak, size = resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss * 1024, os.path.getsize("big.txt")
assert size > 20e6 and peak < 2 * size + 64e6, (peak, size)
END
sed '3s/^\([^,]*\),2,/\1,1000000,/' big/trace.csv >large.csv
cmp -s big/trace.csv large.csv && fail "no large job: $(head -4 large.csv)"
mv large.csv big/trace.csv
timeout 120 "$dlsim" fidelity big --set scheduler.name=fifo >out.txt || fail "fidelity with a large job"
says out.txt "over 119999 jobs"
echo "3 checks"
