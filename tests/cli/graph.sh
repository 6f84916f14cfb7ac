# SPDX-License-Identifier: GPL-3.0-or-later
# dlsim graph, every command of docs/graphs.md, and that dlsim predict takes what it writes.
. "$DLSIM_SOURCE/tests/support/cli.sh"

cp "$source/tests/golden/graphdef/cnn.pb" train.pb
cp "$source/tests/fuzz/corpus/onnx/image.onnx" model.onnx
ln -s "$source/predictor" predictor
run_page "$source/docs/graphs.md"
test -s resnet50.h5 && test -s resnet50.dot && test -s grouped.h5 || fail "files are missing"
head -1 resnet50.dot | grep -q '^graph grouped {' || fail "no picture"
test "$(grep -c 'fillcolor' resnet50.dot)" -eq 100 || fail "not 100 groups in the picture"
if command -v dot >/dev/null; then
    dot -Tcanon resnet50.dot >/dev/null || fail "Graphviz does not read the picture"
fi

expect 0 graph show resnet50.h5
says out.txt "parameters  25557032 in 161 tensors"
mv out.txt from_file.txt
expect 0 graph show resnet50 --batch=64
cmp out.txt from_file.txt || fail "a file and its model differ"
expect 0 graph show bert_base --precision=fp16 --sequence=384 --optimiser=sgd --json
for member in '"sequence": 384' '"precision": "fp16"' '"optimiser": "sgd"'; do
    says out.txt "$member"
done

# The same input gives the same bytes.
expect 0 graph zoo resnet50 -o again.h5
cmp resnet50.h5 again.h5 || fail "two graphs of one model differ"
expect 0 graph group resnet50.h5 vgg16 lenet --force -o again.h5
cmp grouped.h5 again.h5 || fail "two groupings differ"
expect 0 graph group lenet alexnet -o x.h5 --grouping=proportional --features=2
says out.txt "groups"

expect 0 predict --weights="$source/tests/golden/inspector/weights.h5" --input=grouped.h5 \
    --backend=cpu --setting=base --json -q
says out.txt "resnet50"

# Files of TensorFlow and ONNX.
expect 0 graph import train.pb -o a.h5
expect 0 graph import train.pb -o b.h5
cmp a.h5 b.h5 || fail "two imports differ"
says err.txt "2 operations have no known shape" # zeros in place of gradients that nobody reads
expect 0 graph show train.pb --batch=64
says out.txt "batch       64"
says out.txt "parameters  463872 in 11 tensors"
says out.txt "optimiser   adam"
expect 0 graph show model.onnx --batch=4
grep -q '^backward  *0 ' out.txt || fail "a backward pass without --training"
expect 0 graph show model.onnx --batch=4 --training --optimiser=adam
grep -q '^backward  *13 ' out.txt || fail "no backward pass: $(cat out.txt)"
expect 0 graph show "$source/tests/fuzz/corpus/onnx/moves.onnx"
says err.txt "1 operations of 1 unknown kinds count as no work: Mystery (1)"
expect 4 graph show "$source/tests/fuzz/corpus/onnx/cycle.onnx"
says err.txt "on a cycle"
expect 4 graph show "$source/tests/fuzz/corpus/graphdef/cut.pbtxt"
says err.txt "cut.pbtxt:"
expect 4 graph import missing.pb -o never.h5
expect 2 graph import train.pb
expect 2 graph import train.pb -o never.h5 --device=tpu
head -c 5000 train.pb >half.pb
expect 4 graph import half.pb -o half.h5
test ! -e half.h5 || fail "half a graph was written"

# Graphs of operations are no input of an inspector, and say how they become one: grouped and
# described by the inspector's own recipe, whatever else is in the file.
weights=predictor/inspectors/dlsim.h5
expect 4 predict --weights=$weights --input=resnet50.h5 -q
says err.txt "dlsim graph group --weights=W.h5"
expect 0 graph group resnet50.h5 --weights=$weights -o alone.h5
expect 0 graph group lenet resnet50.h5 bert_base --weights=$weights -o among.h5
for file in alone among; do
    expect 0 predict --weights=$weights --input=$file.h5 --setting=V100-w1 -q
    grep '^/resnet50 ' out.txt >$file.txt || fail "no prediction of resnet50"
done
cmp alone.txt among.txt || fail "a graph's input depends on its company"
expect 2 graph group resnet50.h5 --weights=$weights --groups=10 -o never.h5
expect 4 graph group resnet50.h5 --weights=resnet50.h5 -o never.h5

expect 2 graph
expect 2 graph zoo resnet50
expect 2 graph group resnet50
expect 2 graph show resnet50 --precision=fp12
expect 2 graph show resnet50 --grouping=random
expect 2 graph show resnet50 --groups=0
expect 4 graph show resnet51
says err.txt "did you mean 'resnet50'?"
expect 4 graph show missing.h5
expect 4 graph show resnet50 --sequence=10
expect 4 graph group lenet -o never.h5 --groups=1000
says err.txt "1000 groups of"
echo garbage >bad.h5
expect 4 graph show bad.h5
expect 5 graph zoo lenet -o missing/lenet.h5
test ! -e missing || fail "a folder appeared"
echo "$checks checks"
