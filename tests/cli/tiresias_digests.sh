#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-3.0-or-later
# Every schedule and scheme of dlsim tiresias on 300 jobs of our own sample trace and 16 GPUs: digests of
# the job and cluster tables, which agreed with an independent implementation when they were written.
# Usage: tiresias_digests.sh DLSIM [--print]
set -eu
dlsim=$(readlink -f "$1")
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"
{
    echo job_id,num_gpu,submit_time,iterations,model_name,duration,interval
    awk -F, 'BEGIN { split("vgg16 resnet50 inception3 alexnet googlenet", model, " ") }
        /^[0-9]/ && $2 <= 16 && n < 300 {
            n++
            print $1 "," $2 "," int($3 / 10) "," 1 "," model[n % 5 + 1] "," $4 ",10"
        }' "$DLSIM_SOURCE/traces/samples/philly_like_5000.csv"
} >jobs.csv
printf 'num_switch,num_node_p_switch,num_gpu_p_node,num_cpu_p_node,mem_p_node\n2,2,4,64,256\n' >cluster.csv
{ echo duration; awk -F, 'NR > 1 { print $2 * $6 }' jobs.csv; } >samples.csv
digest() { # SCHEDULE SCHEME
    "$dlsim" tiresias --trace_file=jobs.csv --cluster_spec=cluster.csv --samples=samples.csv \
        --schedule="$1" --scheme="$2" --log_path="logs/$1-$2" >out 2>&1 || { cat out; exit 1; }
    cat "logs/$1-$2/job.csv" "logs/$1-$2/cluster.csv" | sha256sum | cut -c1-16
}
"$dlsim" tiresias --help | sed -n '/^Schedules:/,$p' >schedules
for scheme in count yarn gandiva; do
    awk -v scheme=$scheme 'NR > 1 { for (i = 2; i <= NF; i++) if ($i == scheme) { print $1, scheme; break } }' \
        schedules
done | sort -u >runs
while read -r schedule scheme; do
    echo "$schedule $scheme $(digest "$schedule" "$scheme")"
done <runs >got
if [ "${2:-}" = --print ]; then cat got; exit; fi
cat >want <<'EOF'
dlas count c95a9ebd84fce962
dlas yarn b1bced14f685ddfe
dlas-gpu count 2098b66e2b36c5a4
dlas-gpu yarn 8784a67f971ad7a4
dlas-gpu-05 count ec7ef61161edfa6e
dlas-gpu-05 yarn 8be0e78cfcde71fa
dlas-gpu-1 count 44ccd94def065dd4
dlas-gpu-1 yarn b6113039a98339a8
dlas-gpu-10 count 735230ffdccf9444
dlas-gpu-10 yarn 10bd17a86406304f
dlas-gpu-100 count 2098b66e2b36c5a4
dlas-gpu-100 yarn 8784a67f971ad7a4
dlas-gpu-1000 count 2098b66e2b36c5a4
dlas-gpu-1000 yarn 8784a67f971ad7a4
dlas-gpu-2 count 1000ed64c353a9d0
dlas-gpu-2 yarn 0a56c5ce66aeb1d2
dlas-gpu-4 count 8370bd9d5c558cbf
dlas-gpu-4 yarn ca152bc9361a82b2
dlas-gpu-8 count 08a2e2d5011a98dc
dlas-gpu-8 yarn 2687680aa6efafb7
dlas-gpu-gittins count 2173766c37a16924
dlas-gpu-gittins yarn 0e1d316d054dd09c
dlas-gpu-gittins-1 count 44ccd94def065dd4
dlas-gpu-gittins-1 yarn b6113039a98339a8
dlas-gpu-gittins-2 count 1000ed64c353a9d0
dlas-gpu-gittins-2 yarn 0a56c5ce66aeb1d2
dlas-gpu-gittins-4 count 8370bd9d5c558cbf
dlas-gpu-gittins-4 yarn ca152bc9361a82b2
dlas-gpu-gittins-8 count 08a2e2d5011a98dc
dlas-gpu-gittins-8 yarn 2687680aa6efafb7
dlas-gpu-pack count 2098b66e2b36c5a4
dlas-gpu-pack yarn 8784a67f971ad7a4
fifo count 61088760ec9d8643
fifo yarn 2defb62412ab5d92
fjf count 2c99975f8b84d6fa
fjf yarn 95241db95b602def
gandiva gandiva e1b5a83db578f3df
lpjf count c8b8703631296c18
lpjf yarn 4ecd1cb6257cb10b
multi-dlas-gpu count dbe2db45729f5545
shortest count 08bfd14bc9ff48ec
shortest yarn df3965f5016311c4
shortest-expected count 59c87a16df88fe8a
shortest-expected yarn 13a88c2b950ab997
shortest-gpu count 4fa63f9e28b5223b
shortest-gpu yarn 28992f3f6fe42d35
sjf count 9961b9311071381b
sjf yarn 04f2068050d43a79
EOF
diff want got
echo "$(wc -l <got) runs"
