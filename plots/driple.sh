# SPDX-License-Identifier: GPL-3.0-or-later
# What the figures of the inspector share, for their .run: graphs and labels of Driple's 14 settings,
# training and its errors. Labels are simulated (docs/dataset.md).
BASE=V100-P1w2-ho-PCIe
if [ $small = 1 ]; then graphs=40 groups=8 epochs=3; else graphs=102 groups=16 epochs=150; fi
# The recipe of the shipped inspectors, with gradients cut: convolutions that sum diverge without.
recipe="--log-floor=0.003 --lr=0.001 --lr-floor=0.05 --clip=1"
folder=$WORK/driple-$graphs-$epochs
mkdir -p "$folder"

# dataset NAME OPTION...: $folder/NAME.h5, made once, of all 14 settings unless options name one.
dataset() {
    name=$1
    shift
    [ -s "$folder/$name.h5" ] ||
        "$DLSIM" dataset build --settings=paper --graphs=$graphs -q "$@" -o "$folder/$name.h5"
}

# inspector NAME DATASET SETTING OPTION...: an inspector for a setting from $seed (1), its curves, its errors
# on the test split: NAME.h5, NAME.curves.h5, NAME.json.
inspector() {
    name=$1 data=$2 setting=$3
    shift 3
    # shellcheck disable=SC2086
    [ -s "$folder/$name.h5" ] && [ -s "$folder/$name.curves.h5" ] ||
        "$DLSIM" train --dataset="$folder/$data.h5" --setting="$setting" --epochs=$epochs --patience=0 $recipe \
            --seed="${seed:-1}" -q --progress=never "$@" --curves="$folder/$name.curves.h5" --force \
            -o "$folder/$name.h5"
    [ -s "$folder/$name.json" ] || {
        # Of a network that diverged no answer is taken; its error is infinite, which JSON has no number for.
        "$DLSIM" evaluate --weights="$folder/$name.h5" --dataset="$folder/$data.h5" --setting="$setting" --json \
            >"$folder/$name.json.part" 2>"$folder/$name.err" ||
            { grep -q 'is not finite' "$folder/$name.err" &&
                echo '{"settings": [{"inspector": {"nrmse": null}}]}' >"$folder/$name.json.part"; } ||
            { cat "$folder/$name.err" >&2; return 1; }
        mv "$folder/$name.json.part" "$folder/$name.json"
    }
}
