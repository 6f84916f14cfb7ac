/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Cluster specifications and the table of GPUs.
 */

#include "cluster/cluster.h"
#include "support/test.h"

#include <math.h>
#include <string.h>

typedef struct fixture {
    dls_cluster_spec spec;
    dls_node_group groups[2];
    dls_vc_spec vcs[2];
} fixture;

/* Two groups of different types, two virtual clusters; everything in order. */
static void sound(fixture *f)
{
    memset(f, 0, sizeof *f);
    f->spec.n_types = 2;
    f->spec.types[0] = *dls_gpu_find("V100");
    f->spec.types[1] = *dls_gpu_find("P100");
    f->groups[0] = (dls_node_group){.name = "a", .nodes = 4, .gpus_per_node = 8, .type = 0};
    f->groups[1] = (dls_node_group){.name = "b", .nodes = 2, .gpus_per_node = 4, .type = 1};
    f->vcs[0] = (dls_vc_spec){.name = "x", .quota_gpus = {16, 4}};
    f->vcs[1] = (dls_vc_spec){.name = "y", .quota_gpus = {16, 4}};
    f->spec.groups = f->groups;
    f->spec.n_groups = 2;
    f->spec.vcs = f->vcs;
    f->spec.n_vcs = 2;
}

static void refused(const fixture *f, const char *says)
{
    dls_error err = {0};
    assert_int_equal(dls_cluster_spec_check(&f->spec, &err), DLS_ECONFIG);
    if (!strstr(err.msg, says)) {
        fail_msg("\"%s\" does not say \"%s\"", err.msg, says);
    }
}

TEST(specs)
{
    fixture f;
    sound(&f);
    assert_int_equal(dls_cluster_spec_check(&f.spec, NULL), DLS_OK);
#define WRONG(change, says)                                                                        \
    do {                                                                                           \
        sound(&f);                                                                                 \
        change;                                                                                    \
        refused(&f, says);                                                                         \
    } while (0)
    WRONG(f.spec.n_types = 0, "without GPUs");
    WRONG(f.spec.n_types = 17, "1..16 GPU types");
    WRONG(f.spec.types[1] = f.spec.types[0], "twice");
    WRONG(f.spec.types[0].mem_bps = -1, "negative");
    WRONG(f.spec.types[0].name[0] = '\0', "no name");
    WRONG(memset(f.spec.types[0].name, 'x', DLS_NAME_MAX), "no name");
    WRONG(f.spec.n_groups = 0, "at least one");
    WRONG(f.spec.groups = NULL, "at least one");
    WRONG(f.groups[1].name[0] = 'a', "twice");
    WRONG(f.groups[0].nodes = 0, "0 nodes");
    WRONG(f.groups[0].nodes = DLS_NODES_MAX + 1, "expected 1..");
    WRONG(f.groups[0].nodes = f.groups[1].nodes = DLS_NODES_MAX, "too many");
    WRONG(f.groups[0].gpus_per_node = 65, "65 GPUs per node");
    WRONG(f.groups[0].gpus_per_node = 0, "0 GPUs per node");
    WRONG(f.groups[0].nodes_per_rack = -1, "per rack");
    WRONG(f.groups[0].type = 2, "no known GPU type");
    WRONG(f.groups[0].type = -1, "no known GPU type");
    WRONG(f.groups[0].nic_bps = (double)NAN, "infinite");
    WRONG(f.groups[0].cpus_per_node = -1, "negative");
    WRONG(f.groups[0].domain_gpus = 3, "not NVLink domains of 3");
    WRONG(f.groups[0].domain_gpus = -1, "not NVLink domains of -1");
    WRONG(f.groups[0].domain_gpus = 4, "a link between them");
    WRONG(f.groups[0].domain_bps = 1e10, "their size");
    WRONG(f.groups[0].domain_bps = (double)NAN, "their size");
    WRONG(f.spec.rack_uplink_bps = (double)INFINITY, "uplink");
    WRONG(f.spec.core_bps = -1, "core");
    WRONG(f.vcs[1].name[0] = 'x', "twice");
    WRONG(f.vcs[0].quota_gpus[0] = 17, "promised 33 GPUs of type V100, but there are 32");
    WRONG(f.vcs[0].quota_gpus[2] = 1, "quota of 1 for GPU type 2");
    WRONG(f.vcs[0].quota_gpus[0] = -1, "quota of -1");
    WRONG(f.spec.vcs = NULL, "broken");
#undef WRONG
}

TEST(gpus)
{
    size_t n;
    const dls_gpu_type *table = dls_gpu_table(&n);
    assert_true(n >= 20);
    for (size_t i = 0; i < n; i++) {
        const dls_gpu_type *g = &table[i];
        assert_ptr_equal(dls_gpu_find(g->name), g); /* names are distinct, no alias hides one */
        assert_true(g->mem_gib >= 8 && g->mem_gib <= 256);
        assert_true(g->mem_bps >= 1e11 && g->mem_bps <= 1e13);
        assert_true(g->fp32_flops >= 1e12 && g->fp32_flops <= 2e14);
        assert_true(g->tensor_flops <= 0 || g->tensor_flops > g->fp32_flops);
        assert_true(g->peer_bps >= 1e10 && g->peer_bps <= 1e12);
    }
    assert_string_equal(dls_gpu_find("v100")->name, "V100");
    assert_string_equal(dls_gpu_find("V100M32")->name, "V100-32GB");
    assert_string_equal(dls_gpu_find("1080Ti")->name, "GTX1080TI");
    assert_null(dls_gpu_find("V1000"));
    assert_null(dls_gpu_find(""));
}
