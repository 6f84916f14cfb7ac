# SPDX-License-Identifier: GPL-3.0-or-later
# Every file that a command reads may be unreadable, endless, a folder, a device or a pipe: an error
# that names it and says why, in bounded memory, and no output left behind.
. "$DLSIM_SOURCE/tests/support/cli.sh"

quick=$source/configs/quickstart.cfg
run="run -q -o out.h5 --config=$quick --trace=$sample"
mkdir folder
printf 'num_switch,num_node_p_switch,num_gpu_p_node,num_cpu_p_node,mem_p_node\n1,4,4,8,64\n' >spec.csv
printf 'job_id,num_gpu,submit_time,iterations,model_name,duration,interval\n0,1,0,9,a,60,0\n' >trace.csv
tiresias="tiresias --trace_file=trace.csv --log_path=logs --schedule=dlas-gpu-gittins"

# reads FILE TEXT WORDS...: dlsim with these words, FILE in them, complains of it with TEXT.
reads() {
    local file=$1 text=$2 code=0
    shift 2
    timeout 60 "$dlsim" "${@//FILE/$file}" >out.txt 2>err.txt || code=$?
    case $code in 3 | 4 | 6) ;; *) fail "$* of $file: exit code $code: $(head -c 2000 err.txt)" ;; esac
    says err.txt "$file"
    grep -qE -- "$text" err.txt || fail "$* of $file: no \"$text\" in: $(head -c 2000 err.txt)"
    test ! -e out.h5 || fail "$* of $file: an output is left"
    test -z "$(find . -name '*.part*')" || fail "$* of $file: a temporary file is left"
}

# any WORDS...: the words with each kind of bad file.
any() {
    reads /proc/self/mem 'Input/output error|not a regular file|not an HDF5 file' "$@"
    # An import would read 2 GiB of zeros; a pipe's limit is met below.
    test "$1" = graph || reads /dev/zero 'NUL byte|is larger than|not a regular file' "$@"
    reads "$work/folder" 'a (directory|folder)|not a regular file|expected <application>' "$@"
    reads "$work/none" 'No such file|cannot be (opened|read)' "$@"
}

# shellcheck disable=SC2086
{
    any run -q -o out.h5 --config="$quick" --trace=FILE
    any run -q -o out.h5 --config=FILE --trace="$sample"
    any $run --scheduler=gittins --set scheduler.samples=FILE
    any $run --set failures.trace=FILE
    any $run --set perf.model=table --set perf.table=FILE --set trace.assign=gavel
    any $run --set trace.assign=FILE
    any $run --set perf.model=operator --set trace.assign=tiresias --placement=driple --predictor=driple \
        --set predictor.weights=FILE
    any $run --set perf.model=operator --set trace.assign=tiresias --placement=driple --predictor=operator \
        --predictions=replay:FILE
    any $tiresias --cluster_spec=FILE
    any $tiresias --cluster_spec=spec.csv --samples=FILE
    any graph import FILE -o out.h5
    any inspect FILE
    any study FILE
}

# A folder of tables in which one cannot be read, or is missing only by name.
mkdir -p pollux/bert pollux/empty
ln -s /proc/self/mem pollux/bert/placements.csv
# shellcheck disable=SC2086
reads "$work/pollux" 'placements.csv.*Input/output error' $run --set perf.model=table \
    --set perf.table=FILE --set trace.assign=gavel
mkdir hardware
cp "$source"/configs/hardware/*.cfg hardware/
rm hardware/gpus.cfg
ln -s /proc/self/mem hardware/gpus.cfg
# shellcheck disable=SC2086
reads "$work/hardware" 'gpus.cfg.*Input/output error' $run --set perf.model=operator \
    --set perf.hardware=FILE --set trace.assign=tiresias

# No durations at all, a missing one, one that is no number: three errors.
printf 'job_id,num_gpu,submit_time\na,1,0\n' >none.csv
printf 'job_id,num_gpu,submit_time,duration\na,1,0,5\nb,2,5,\n' >empty.csv
printf 'job_id,num_gpu,submit_time,duration\na,1,0,5\nb,2,5,nan\n' >nan.csv
expect 4 run -q --config="$quick" --trace=none.csv
says err.txt "none.csv: the file (format native) has no durations, in 'native' the column 'duration'"
expect 4 run -q --config="$quick" --trace=empty.csv
says err.txt "empty.csv: data row 2: the duration of job 'b' is empty"
expect 4 run -q --config="$quick" --trace=nan.csv
says err.txt "nan.csv:3:7: column 'duration': 'nan' is not a number, expected a duration"

# A pipe is read to its end, or to the limit.
mkfifo pipe
timeout 60 sh -c "cat $sample >pipe" &
expect 0 run -q --config="$quick" --trace=pipe -o piped.h5
expect 0 run -q --config="$quick" --trace="$sample" -o file.h5
test "$("$dlsim" inspect --json piped.h5 | grep -o '"digest": *"[0-9a-f]*"')" = \
    "$("$dlsim" inspect --json file.h5 | grep -o '"digest": *"[0-9a-f]*"')" || fail "a trace from a pipe differs"
timeout 60 sh -c 'yes "run.seed = 1;" >pipe' 2>/dev/null &
reads pipe 'is larger than 16 MiB' run -q -o out.h5 --config=FILE --trace="$sample"
if [ "${DLSIM_SANITIZE:-0}" = 0 ]; then # 33 million numbers
    timeout 60 sh -c 'yes 1 | head -c 70000000 >pipe' 2>/dev/null &
    # shellcheck disable=SC2086
    reads "$work/pipe" 'more than 33554432 samples' $run --scheduler=gittins --set scheduler.samples=FILE
fi
timeout 60 sh -c 'yes 1 >pipe' 2>/dev/null &
# shellcheck disable=SC2086
reads "$work/pipe" 'is larger than 256 MiB' $run --scheduler=gittins --set scheduler.samples=FILE
truncate -s 5G sparse
reads "$work/sparse" 'is larger than 2048 MiB' graph import FILE -o out.h5
reads "$work/sparse" 'is larger than 4096 MiB' run -q -o out.h5 --config="$quick" --trace=FILE

# What is written is none of the files that are read, by whatever name: all stay as they are.
mkdir keep
cp "$sample" keep/trace.csv
cp "$quick" keep/run.cfg
echo 'results: { path = "keep/own.cfg"; };' | cat "$quick" - >keep/own.cfg
printf '100\n200\n' >keep/past.txt
ln -s trace.csv keep/soft.csv
ln keep/trace.csv keep/hard.csv
cp file.h5 keep/run.h5
expect 0 graph zoo lenet -o keep/graph.h5
expect 0 model random -o keep/model.h5 --arch=hidden=16
tar -cf kept.tar keep
keeps() {
    expect "$@"
    says err.txt "is also an input: it would be replaced"
    tar -df kept.tar || fail "dlsim ${*:2}: an input changed"
}
keeps 3 run --force -q -c keep/run.cfg --trace=keep/trace.csv -o keep/run.cfg
keeps 3 run --force -q -c keep/run.cfg --trace=keep/soft.csv -o keep/hard.csv
keeps 3 run --force -q -c keep/own.cfg --trace=keep/trace.csv
keeps 3 run --force -q -c keep/run.cfg --trace=keep/trace.csv --scheduler=gittins \
    --set scheduler.samples=keep/past.txt -o keep/past.txt
keeps 5 trace convert keep/trace.csv -o keep/soft.csv
keeps 5 export --csv keep/run.h5 -o keep/run.h5 --force
keeps 5 graph group keep/graph.h5 -o keep/graph.h5
keeps 5 predict --weights=keep/model.h5 --input=keep/graph.h5 --output keep/model.h5
keeps 5 evaluate --weights=keep/model.h5 --dataset=keep/graph.h5 --rows=keep/graph.h5

echo "$checks checks"
