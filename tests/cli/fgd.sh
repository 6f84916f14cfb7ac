#!/bin/bash
# SPDX-License-Identifier: GPL-3.0-or-later
# dlsim fgd: pods worked by hand, the published experiment in small, and what it refuses. Usage: fgd.sh DLSIM
. "$DLSIM_SOURCE/tests/support/cli.sh"

cat >nodes.csv <<END
sn,cpu_milli,memory_mib,gpu,model
b,64000,65536,2,T4
a,64000,65536,1,P100
END
header=name,cpu_milli,memory_mib,num_gpu,gpu_milli,gpu_spec

# Nodes by name: a before b. 600 and 600 do not fit one GPU; p3 may only use the T4s; p4 fits nowhere; p5 wants no GPU.
cat >pods.csv <<END
$header
p1,1000,1024,1,600,
p2,1000,1024,1,600,
p3,1000,1024,1,1000,T4|V100
p4,1000,1024,2,1000,
p5,1000,1024,0,0,
END
"$dlsim" fgd --policy=bestfit --nodes=nodes.csv pods.csv >out 2>err || fail "bestfit: $(cat err)"
cat >expected <<END
pod,node,gpus
p1,a,0
p2,b,0
p3,b,1
p4,,
p5,a,
END
cmp -s expected out || { fail "bestfit"; diff expected out; }
grep -q 'pods placed     4 of 5' err || fail "report: $(cat err)"
grep -q 'GPU allocated   73.33 %' err || fail "report: $(cat err)"
checks=$((checks + 3))

# Typical: halves (2 of 4 pods) and quarters. A half beside a quarter leaves 250: of no use to halves; on an empty GPU
# it leaves another half.
cat >halves.csv <<END
$header
q,1000,1024,1,250,
h1,1000,1024,1,500,
h2,1000,1024,1,500,
r,1000,1024,1,250,
END
printf 'sn,cpu_milli,memory_mib,gpu,model\na,64000,65536,2,T4\n' >one.csv
"$dlsim" fgd --nodes=one.csv -q halves.csv -o placed.csv || fail "fgd"
printf 'pod,node,gpus\nq,a,0\nh1,a,1\nh2,a,1\nr,a,0\n' >expected
cmp -s expected placed.csv || { fail "fgd"; diff expected placed.csv; }
"$dlsim" fgd --nodes=one.csv -q halves.csv -o placed.csv 2>err && fail "replaced without --force"
checks=$((checks + 2))

# The experiment: the same seeds, the same table; 130 % arrive; nobody allocates more than there is.
"$dlsim" fgd --sweep=3 --nodes=nodes.csv pods.csv >first 2>err || fail "sweep: $(cat err)"
"$dlsim" fgd --sweep=2 --seed=43 -q --nodes=nodes.csv pods.csv >second || fail "sweep"
[ "$(sed -n 3,4p first)" = "$(sed -n 2,3p second)" ] || fail "seeds"
grep -q 'mean of 3 runs' err || fail "sweep: $(cat err)"
awk -F, 'NR > 1 && !($9 <= 100 && $9 > 0) { exit 1 }' first || fail "more than there is: $(cat first)"
for policy in fgd dotproduct gpupacking gpuclustering random; do
    "$dlsim" fgd --policy=$policy --sweep=1 -q --nodes=nodes.csv pods.csv >out || fail "$policy"
done
"$dlsim" fgd --exact -q --nodes=nodes.csv pods.csv >out || fail "exact"
checks=$((checks + 9))

# refused NAME TEXT ROW
refused() {
    printf '%s\n%s\n' "$header" "$3" >bad.csv
    "$dlsim" fgd --nodes=nodes.csv bad.csv >out 2>err && fail "$1: accepted"
    grep -qF -- "$2" err || fail "$1: '$2' not in: $(cat err)"
    checks=$((checks + 1))
}
refused "more than a GPU" "at most 1000" "p,1,1,1,1001,"
refused "parts of several" "several GPUs must be whole" "p,1,1,2,500,"
refused "a part of none" "must both be 0" "p,1,1,0,500,"
refused "none of a GPU" "must both be 0" "p,1,1,1,0,"
refused "negative" "thousandths of a core" "p,-1,1,1,100,"
"$dlsim" fgd pods.csv 2>err && fail "no nodes"
grep -q -- "--nodes" err || fail "no nodes: $(cat err)"
"$dlsim" fgd --nodes=nodes.csv --policy=best pods.csv 2>err && fail "unknown policy"
grep -q best err || fail "unknown policy: $(cat err)"
echo "$checks checks"
