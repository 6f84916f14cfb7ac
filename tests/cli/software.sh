# SPDX-License-Identifier: GPL-3.0-or-later
# What predictors are told of the programs that train (predictor.software): who goes by it, by how much, and what is refused.
. "$DLSIM_SOURCE/tests/support/cli.sh"
cat >mine.cfg <<'END'
schema_version = 1;
cluster: { nodes = ( { name = "t4"; count = 2; gpus = 4; gpu_type = "T4"; nic = "5 Gb/s"; } ); };
placement: { name = "driple"; };
perf: { model = "speeds"; };
END
printf 'job_id,num_gpu,submit_time,duration,model,batch_size\n0,1,0,1000,bert,12\n1,2,0,1000,cifar10,256\n2,1,0,1000,vgg16,8\n' >jobs.csv
# answers SOURCE OPTIONS...: what was predicted of the three jobs, milliseconds.
answers() {
    "$dlsim" run --config=mine.cfg --trace=jobs.csv --predictor="$@" -q --force -o run.h5 2>err.txt || fail "$*: $(cat err.txt)"
    "$dlsim" export --csv --table=starts -q run.h5 | awk -F, 'NR == 1 { for (i = 1; i <= NF; i++) at[$i] = i; next }
        { step[$at["job"]] = 1000 * $at["predicted_iteration_s"] } END { printf "%.3f %.3f %.3f\n", step[0], step[1], step[2] }'
}
bert='bert: pytorch sequence=384'
loop="$bert backward=13,96 after=28,104 alone=41,212"
for source in operator driple; do
    read -r bert0 cifar0 vgg0 <<<"$(answers $source)"
    read -r bert1 cifar1 vgg1 <<<"$(answers $source --set "predictor.software=$bert")"
    read -r bert2 cifar2 vgg2 <<<"$(answers $source --set "predictor.software=$loop; cifar10: after=100,0")"
    read -r bert3 cifar3 vgg3 <<<"$(answers $source --set "predictor.software=$loop; cifar10: after=100,0" --set perf.host=pytorch-server)"
    awk "BEGIN { exit !($bert1 > 2.5 * $bert0 && $bert2 > 1.03 * $bert1 && $bert3 > $bert2) }" ||
        fail "$source: bert $bert0 $bert1 $bert2 $bert3"
    # 62 tensors and 100 launches of 5 us each, of 18 us on the host
    awk "BEGIN { exit !($cifar1 == $cifar0 && $cifar2 > 20 + $cifar0 && $cifar3 > 60 + $cifar2) }" ||
        fail "$source: cifar10 $cifar0 $cifar1 $cifar2 $cifar3"
    test "$vgg0 $vgg0" = "$vgg1 $vgg2" || fail "$source: vgg16 $vgg0 $vgg1 $vgg2 of which nothing is said"
    checks=$((checks + 3))
done
expect 3 run --config=mine.cfg --trace=jobs.csv --predictor=operator --set 'predictor.software=bert: torch'
says err.txt 'predictor.software'
says err.txt '"torch"'
