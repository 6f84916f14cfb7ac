# SPDX-License-Identifier: GPL-3.0-or-later
# Every command without the memory it asks for: the allocation of number n fails, for the first n and for some
# of all others (REFUSED_ALLOCATIONS=100000: for all). The command then ends with a message and an exit code of its own, and leaves no
# file behind; or it does without, and says and writes what it always does.
. "$DLSIM_SOURCE/tests/support/cli.sh"
. "$source/tests/support/refuse.sh"
refuse_with refuse_malloc.c
# Where libraries lie in a program that contains them: behind all that is dlsim's own.
REFUSE_NOT=$(nm "$dlsim" | sort | awk 'tolower($2) != "t" { next } $3 ~ /^dls_/ { own = NR }
    !from && $3 ~ /^(gsl_|cblas_|config_|adler32|array_list|H5)/ { from = $1; first = NR } { last = $1 }
    END { if (from && own < first) print from, last; else if (from) print "mixed" }')
test "$REFUSE_NOT" != mixed || fail "libraries lie among dlsim's own functions"
test -z "$REFUSE_NOT" || export REFUSE_NOT
hw=--hardware=$source/configs/hardware
first=${REFUSED_ALLOCATIONS:-24} others=12 least=6

expect 0 --config="$source/configs/quickstart.cfg" --trace="$sample" -o run.h5 -q
expect 0 graph zoo resnet50 -o zoo.h5
expect 0 dataset build -o d.h5 --graphs=34 --samples=20 --groups=4 --features=total "$hw" \
    --setting=V100-P1w2-ho-PCIe -q
expect 0 perf record -o perf.h5 --no-gpu --interval=5ms -- sleep 0.3
expect 0 model random -o model.h5 --arch=hidden=16
in=$work
refuse --config="$source/configs/quickstart.cfg" --trace="$sample" -o r.h5 -q
refuse inspect "$in/run.h5" --jobs
refuse compare "$in/run.h5" "$in/run.h5"
refuse export --perfetto "$in/run.h5" -o r.json
refuse config --check "$source/configs/quickstart.cfg"
refuse sweep plan "$source/configs/quickstart_sweep.cfg"
refuse trace stats "$sample"
refuse trace convert "$sample" -o t.csv
refuse graph zoo resnet50 -o g.h5
refuse graph import "$source/tests/golden/graphdef/cnn.pb" -o g.h5
refuse graph show "$in/zoo.h5"
refuse model show "$in/model.h5"
refuse dataset show "$in/d.h5"
refuse dataset build -o d.h5 --graphs=34 --samples=20 --groups=4 --features=total "$hw" \
    --setting=V100-P1w2-ho-PCIe -q
refuse perf analyze "$in/perf.h5"
refuse predict --whatif --model=vgg16 --batch=32 --gpu=V100 --workers=2 --source=operator
refuse evaluate --measured --sources=operator
refuse train --dataset="$in/d.h5" --setting=V100-P1w2-ho-PCIe --arch=hidden=16 --epochs=2 --threads=1 \
    -o w.h5 -q
cp whole/w.h5 .
expect 0 graph group --weights=w.h5 resnet50 -o grouped.h5
refuse predict --weights="$in/w.h5" --input="$in/grouped.h5" --threads=1 -o p.h5 -q
cat >two.csv <<'END'
job_id,vc,gpu_num,submit,duration,model,dataset,batchsize,amp,gmem,sharescore,pred_lucid,pred_qssf
a,v,8,0,100,A,d,1,0,1000,0,100,100
b,w,8,10,50,B,d,1,0,1000,0,60,60
END
cat >pair.csv <<'END'
job_id,num_gpu,submit_time,iterations,model_name,batch_size,duration,interval,iteration_time,resource_time_0,resource_time_1,resource_time_2,priority
a,1,0,10,reader,8,10000,0,1000,800,100,100,0
b,1,0,10,counter,8,10000,0,1000,100,800,100,0
END
first=1000 refuse muri --nodes=1 --gpus=1 "$in/pair.csv" -o m.csv -q
first=1000 refuse lucid --vcs=v:1,w:1 "$in/two.csv" -o l.csv -q
. "$source/tests/support/refuse_files.sh"
refuse_sweep
refuse_site
refuse fidelity "$in/site"
refuse whatif "$in/site" --load=1.2
echo "$checks checks"
