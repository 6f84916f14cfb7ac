# SPDX-License-Identifier: GPL-3.0-or-later
# dlsim import slurm --topology --gres: racks of switches and blocks, types of GPUs; nodes and lines that fit nowhere are counted.
. "$DLSIM_SOURCE/tests/support/cli.sh"

for n in 01 02 03 04 05 06 07 08; do
    echo "NodeName=n$n CPUTot=64 Gres=gpu:8 RealMemory=1000 State=IDLE Partitions=main"
done >nodes.txt
echo "NodeName=h1 CPUTot=64 Gres=gpu:h100:8 RealMemory=1000 State=IDLE Partitions=main" >>nodes.txt
echo "NodeName=c1 CPUTot=64 Gres=(null) RealMemory=1000 State=IDLE Partitions=main" >>nodes.txt
cat >sacct.txt <<'END'
JobID|User|Account|Partition|State|Submit|Eligible|Start|End|ElapsedRaw|TimelimitRaw|NNodes|NCPUS|ReqTRES|AllocTRES
1|u|a|main|COMPLETED|2026-03-01T10:00:00|2026-03-01T10:00:00|2026-03-01T10:00:05|2026-03-01T10:01:05|60|2|1|8|gres/gpu=2|gres/gpu=2
2|u|a|main|COMPLETED|2026-03-01T10:00:01|2026-03-01T10:00:01|2026-03-01T10:00:05|2026-03-01T10:01:05|60|2|1|8|gres/gpu:a100=2|gres/gpu:a100=2
END
import() { expect 0 import slurm --sacct=sacct.txt --nodes=nodes.txt -o site "$@"; }

import
says site/cluster.cfg 'name = "n01"; count = 8; gpus = 8; gpu_type = "GPU"; cpus = 64; },'
cat >topology.conf <<'END'
# racks of three, three and two
SwitchName=leaf1 Nodes=n[01-03] LinkSpeed=100
switchname=leaf2 \
    nodes=n[04-06]
SwitchName=leaf3 Nodes=n[07-08,99],c1   # and what is not there
SwitchName=spine Switches=leaf[1-3] Nodes=n[01-08]
SwitchNode=x Nodes=n01
END
cat >gres.conf <<'END'
AutoDetect=off
NodeName=n[01-06] Name=gpu Type=a100 File=/dev/nvidia[0-7]
Name=GPU Type=v100 File=/dev/nvidia[0-7]
Name=nic Type=mlx5 Count=2
nonsense
END
import --topology=topology.conf
says site/cluster.cfg 'name = "n01"; count = 8; gpus = 8; gpu_type = "GPU"; cpus = 64; rack_size = 3; },'
for text in "racks: 3, of 3 switches" "nodes behind no switch: 1" "no GPU in the list of nodes: 2" \
    "not understood: 1, the first topology.conf:7"; do says err.txt "$text"; done
import --topology=topology.conf --gres=gres.conf
says site/cluster.cfg 'name = "n01"; count = 6; gpus = 8; gpu_type = "a100"; cpus = 64; rack_size = 3; },'
says site/cluster.cfg 'name = "n07"; count = 2; gpus = 8; gpu_type = "v100"; cpus = 64; },'
says site/cluster.cfg 'name = "h1"; count = 1; gpus = 8; gpu_type = "h100"; cpus = 64; }'
says err.txt "not understood: 2, the first topology.conf:7"
expect 0 fidelity site
expect 0 --config=site/cluster.cfg --set=run.audit=true -q

# Blocks; nodes of a block that do not follow each other; a node in two; a node of two types has none that is known.
printf 'BlockName=b1 Nodes=n[01-02,05-06]\nBlockName=b2 Nodes=n[03-04,06-08],h1\nBlockSizes=4,8\n' >blocks.conf
printf 'NodeName=n01 Name=gpu Type=a\nNodeName=n01 Name=gpu Type=b\n' >two.conf
import --topology=blocks.conf --gres=two.conf
for text in "racks: 5, of 2 switches; nodes of a switch that do not follow each other or differ are in several" \
    "nodes behind two switches: 1, in the first's rack"; do says err.txt "$text"; done
says site/cluster.cfg 'name = "n01"; count = 8; gpus = 8; gpu_type = "GPU"; cpus = 64; rack_size = 2; },'

expect 4 import slurm --sacct=sacct.txt --nodes=nodes.txt --topology=missing.conf -o none
test ! -e none || fail "a site of nothing"
printf 'SwitchName=s Nodes=n[01-' >odd.conf
import --topology=odd.conf
# Another file in its place is refused, also where nothing of it would count.
printf '\\' >nothing.conf
for option in topology=nothing.conf gres=odd.conf partitions=odd.conf partitions=missing.txt; do
    expect 4 import slurm --sacct=sacct.txt --nodes=nodes.txt --$option -o none
done
says err.txt "missing.txt"
test ! -e none || fail "a site of another file"
echo "$checks checks"
