# SPDX-License-Identifier: GPL-3.0-or-later
# Commands that write folders, for refuse.sh: in $in.

# A failed sweep keeps the points that it has.
refuse_sweep() {
    cat >base.cfg <<END
schema_version = 1;
cluster: { nodes = ({ count = 2; gpus = 4; gpu_type = "V100"; }); };
trace: { path = "$sample"; assign = "zoo"; max_jobs = 12; };
END
    cat >sweep.cfg <<END
sweep: { base = "base.cfg"; axes = ({ key = "scheduler.restore_cost"; values = ["0 s", "9 s"]; }); };
END
    (
        what_is_left() { find out -name '.?*'; }
        same_as_whole() { diff <(cd whole && find . -type f | sort) <(cd out && find . -type f | sort); }
        refuse sweep run "$in/sweep.cfg" -o s -q -j 1
        echo $checks >checks.txt
    ) || exit 1
    checks=$(cat checks.txt)
}

# A failed import leaves tables, but not the configuration that they belong to. What it makes stays in $in/site.
refuse_site() {
    local from=$source/tests/slurm/policies
    (
        what_is_left() { find out -name '.?*' -o -name cluster.cfg; }
        same_as_whole() { diff -r whole out; }
        refuse import slurm --sacct="$from/sacct.txt.gz" --nodes="$from/nodes.txt" --conf="$from/config.txt" \
            --partitions="$from/partitions.txt" --qos="$from/qos.txt" --events="$from/events.txt" \
            --reservations="$from/reservations.txt" --log="$from/slurmctld.log.gz" -o site
        echo $checks >checks.txt
    ) || exit 1
    checks=$(cat checks.txt)
    cp -r whole/site "$in/site"
}
