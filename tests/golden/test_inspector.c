/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * The inspector against the published implementation: every golden case and variant, float64 to
 * 1e-9 relative and float32 within 1e-5 of the largest output, with the states in between; CUDA
 * where the build has an emulated device ($DLSIM_CUDA_EMULATED).
 */

#define OWN_MAIN
#include "base/alloc.h"
#include "base/h5.h"
#include "dlsim/predictor.h"
#include "predictor/driple/cpu_engine.h"
#include "predictor/driple/h5io.h"
#include "predictor/driple/weights.h"
#include "support/must.h"
#include "support/shared.h"
#include "tests/inspector_golden.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static char folder[1024];
/* CUDA's kernels on an emulated device, slow: only graphs of up to so many nodes, two of each case
 */
static const char *emulated;
static int32_t emulated_nodes = 7;

static const char *golden(const char *file)
{
    static char path[2][1200];
    static int turn;
    turn = !turn;
    snprintf(path[turn], sizeof path[turn], "%s/%s", folder, file);
    return path[turn];
}

static dls_inspector *import(const char *file, const char *group, const char *arch)
{
    dls_inspector *insp = NULL;
    dls_error e = {0};
    if (dls_inspector_import(golden(file), group, arch, &insp, &e) != DLS_OK) {
        fail_msg("%s %s: %s", file, group ? group : "/", e.msg);
    }
    return insp;
}

/* ---- states in between ---------------------------------------------------------------------- */

typedef struct watch {
    hid_t file;
    const char *group;
    bool f64;
    int32_t layers;
    double worst;
    int seen;
} watch;

static void observe(void *user, const char *stage, int32_t layer, const void *data, int32_t rows,
                    int32_t cols, int32_t ld)
{
    watch *w = user;
    const char *what = strcmp(stage, "pooled") == 0                            ? "set2set"
                       : strcmp(stage, "conv") == 0 && layer == 0              ? "conv0"
                       : strcmp(stage, "layer") == 0 && layer == w->layers - 1 ? "after_all_layers"
                       : strcmp(stage, "layer") == 0 && layer < 2
                           ? (layer ? "after_layer1" : "after_layer0")
                           : NULL;
    char name[512];
    snprintf(name, sizeof name, "%s/f64/%s", w->group, what ? what : "");
    if (!what || H5Lexists(w->file, name, H5P_DEFAULT) <= 0) {
        return;
    }
    size_t n = 0;
    double *expected = golden_doubles(w->file, name, &n);
    /* the first graph of the case */
    assert_true(n >= (size_t)rows * (size_t)cols);
    double *mine = malloc((size_t)rows * (size_t)cols * sizeof *mine);
    assert_non_null(mine);
    for (int32_t i = 0; i < rows; i++) {
        for (int32_t k = 0; k < cols; k++) {
            mine[i * cols + k] = w->f64 ? ((const double *)data)[i * ld + k]
                                        : (double)((const float *)data)[i * ld + k];
        }
    }
    const double d = golden_distance(mine, expected, (size_t)rows * (size_t)cols);
    w->worst = d > w->worst || isnan(d) ? d : w->worst;
    w->seen++;
    free(mine);
    free(expected);
}

static void check_states(const dls_inspector *insp, const dls_cpu_engine *engine, hid_t file,
                         const char *group, const dls_graph *graph, double limit)
{
    dls_error e = {0};
    void *packed = NULL;
    assert_int_equal(engine->pack(insp, &packed, &e), DLS_OK);
    const dls_pair pair = {0, DLS_SETTING_BASE};
    double out[DLS_METRICS];
    const dls_driple_job job = {graph, &pair, 1, out};
    watch w = {.file = file,
               .group = group,
               .f64 = engine->f64,
               .layers = dls_arch_layers(&insp->arch, graph->n_nodes)};
    dls_cpu_work work = {.bytes = engine->work_bytes(packed, &job, 0, 1),
                         .probe = observe,
                         .probe_user = &w,
                         .dense_above = DLS_CPU_DENSE_ABOVE};
    work.memory = dls_alloc_aligned(work.bytes);
    assert_non_null(work.memory);
    engine->run(packed, &work, &job, 0, 1);
    if (!(w.worst <= limit) || w.seen < 2) {
        fail_msg("%s: %s %s: states off by %.3g (limit %.3g), %d seen", group, engine->isa,
                 engine->f64 ? "f64" : "f32", w.worst, limit, w.seen);
    }
    dls_free(work.memory);
    engine->unpack(packed);
}

/* ---- outputs -------------------------------------------------------------------------------- */

static double predict_all(const dls_inspector *insp, const dls_graph *graphs, size_t n,
                          const dls_predictor_options *o, const double *expected)
{
    dls_predictor *p = NULL;
    MUST(dls_predictor_create(insp, o, &p, &e));
    dls_query *q = malloc(n * sizeof *q);
    dls_profile *profile = malloc(n * sizeof *profile);
    double *out = malloc(n * DLS_METRICS * sizeof *out);
    assert_true(q && profile && out);
    for (size_t i = 0; i < n; i++) {
        q[i] = (dls_query){(int32_t)i, DLS_SETTING_BASE};
    }
    MUST(dls_predict(p, graphs, n, q, n, profile, &e));
    for (size_t i = 0; i < n; i++) {
        memcpy(out + i * DLS_METRICS, profile[i].metric, sizeof profile[i].metric);
    }
    const double d = golden_distance(out, expected, n * DLS_METRICS);
    free(out);
    free(profile);
    free(q);
    dls_predictor_destroy(p);
    return d;
}

/* Every case of the file below `root`, but not beyond; under the sanitizers every fourth: returns how many. */
static int check_cases(const char *file_name, const char *root, const dls_inspector *insp)
{
    dls_graph_reader *r = NULL;
    MUST(dls_graph_reader_open(golden(file_name), &r, &e));
    hid_t file; /* in the same way as the reader, or HDF5 refuses to open it twice */
    MUST(dls_h5_open(golden(file_name), &file, &e));
    int n = 0;
    for (size_t g = 0; g < dls_graph_reader_n_groups(r); g++) {
        const char *name = dls_graph_reader_group(r, g);
        char expected_name[600];
        snprintf(expected_name, sizeof expected_name, "%s/f64/output", name);
        if (strncmp(name, root, strlen(root)) != 0 ||
            H5Oexists_by_name(file, expected_name, H5P_DEFAULT) <= 0 || n++ % (4 / FEWER(4)) > 0) {
            continue;
        }
        dls_group_shape shape;
        const dls_graph *graphs = NULL;
        MUST(dls_graph_reader_shape(r, g, &shape, &e));
        MUST(dls_graph_reader_read(r, g, &shape, 0, shape.n_graphs, &graphs, &e));
        size_t len = 0;
        double *expected = golden_doubles(file, expected_name, &len);
        assert_int_equal(len, shape.n_graphs * DLS_METRICS);
        dls_predictor_options o = {.backend = DLS_BACKEND_CPU, .precision = DLS_PRECISION_F64};
        const double d64 = predict_all(insp, graphs, shape.n_graphs, &o, expected);
        if (!(d64 <= 1e-9)) {
            fail_msg("%s: float64 off by %.3g", name, d64);
        }
        check_states(insp, dls_cpu_engine_find(DLS_PRECISION_F64, NULL), file, name, graphs, 1e-9);
        static const char *const isas[] = {"scalar", "avx2", "avx512"};
        char line[160] = "";
        for (int i = 0; i < 3; i++) {
            if (!dls_cpu_engine_find(DLS_PRECISION_F32, isas[i])) {
                continue;
            }
            o = (dls_predictor_options){.backend = DLS_BACKEND_CPU, .cpu_isa = isas[i]};
            const double d32 = predict_all(insp, graphs, shape.n_graphs, &o, expected);
            const size_t used = strlen(line);
            snprintf(line + used, sizeof line - used, " %s %.1e", isas[i], d32);
            if (!(d32 <= 1e-5)) {
                fail_msg("%s: float32 %s off by %.3g", name, isas[i], d32);
            }
        }
        if (emulated && insp->arch.conv == DLS_CONV_GCN && insp->arch.gru && insp->arch.shared &&
            shape.n_nodes <= emulated_nodes) {
            o = (dls_predictor_options){.backend = DLS_BACKEND_CUDA, .module_path = emulated};
            const size_t n_some = shape.n_graphs < 2 ? shape.n_graphs : 2;
            const double d32 = predict_all(insp, graphs, n_some, &o, expected);
            const size_t used = strlen(line);
            snprintf(line + used, sizeof line - used, " cuda %.1e", d32);
            if (!(d32 <= 1e-5)) {
                fail_msg("%s: float32 CUDA off by %.3g", name, d32);
            }
        }
        printf("%s: f64 %.1e, f32%s\n", name, d64, line);
        free(expected);
    }
    H5Fclose(file);
    dls_graph_reader_close(r);
    return n;
}

TEST(test_published)
{
    DLS_HOLD(dls_inspector_destroy) dls_inspector *insp = import("pretrain_weights.h5", NULL, NULL);
    assert_int_equal(check_cases("driple_gcn.h5", "/", insp), 14);
}

TEST(test_variants)
{
    static const struct {
        const char *name;
        const char *arch;
    } variant[] = {
        {"gcn_random", NULL},
        {"gcn_nogru_skip_fixed4", NULL},
        {"gcn_unfixed4_is5convs", NULL},
        {"gat_h1", "reference=1"},
        {"gat_h4", "reference=1"},
        {"gin_fc2", NULL},
        {"mpnn_sum", "reference=1"},
        {"mpnn_sum", NULL},
        {"mpnn_max_selfloop", "reference=1 aggregators=max self_loop=1"},
        {"mpnn_pna", "reference=1 aggregators=mean,max,min,std "
                     "scalers=identity,amplification,attenuation avg_d_lin=3 avg_d_log=1.3"},
    };
    for (size_t i = 0; i < sizeof variant / sizeof *variant; i++) {
        char group[64];
        char root[64];
        snprintf(group, sizeof group, "/%s/weights", variant[i].name);
        snprintf(root, sizeof root, "/%s/", variant[i].name);
        DLS_HOLD(dls_inspector_destroy) dls_inspector *insp = import("driple_variants.h5", group, variant[i].arch);
        assert_int_equal(check_cases("driple_variants.h5", root, insp), 3);
    }
}

int main(void)
{
    if (!shared_path("golden/driple", folder, sizeof folder)) {
        return 77;
    }
    emulated = getenv("DLSIM_CUDA_EMULATED");
    if (getenv("DLSIM_CUDA_EMULATED_NODES")) {
        emulated_nodes = (int32_t)strtol(getenv("DLSIM_CUDA_EMULATED_NODES"), NULL, 10);
    }
    return run_listed();
}
