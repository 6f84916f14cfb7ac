/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * The CUDA backend against the CPU's float64: check_cuda MODULE [--quick | --scarce]
 *
 * MODULE is dlsim-cuda.so, or the emulated one of the same source (tests/gpu/cuda_emu.h), for which
 * --quick keeps graphs shallow, and --scarce (with $DLS_EMU_BYTES) demands that memory runs out.
 * Needs no HDF5, GSL or libconfig. Exit status 77: no device here.
 */
#include "predictor/driple/model.h"
#include "tests/inspector_graphs.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#define F32_BOUND 1e-5 /* max |error| over max |output| */

static bool quick;
static int failures;
static bool reduced, moved; /* smaller batches, the CPU instead: for want of memory */

typedef struct task {
    const char *name;
    dls_arch arch;
    int32_t n_settings;
    int32_t n_nodes[6]; /* ended by 0 */
    int32_t copies;     /* graphs of each size */
    graph_kind kind;
    dls_precision precision;
    bool plain;
    size_t memory_bytes;
    double bound;
} task;

static void die(const char *what, const dls_error *e)
{
    fprintf(stderr, "%s: %s\n", what, e->msg);
    exit(1);
}

static void predict(const dls_inspector *insp, const dls_predictor_options *o, const dls_graph *g,
                    size_t n_graphs, const dls_query *q, size_t n, dls_profile *out, char *notes,
                    size_t notes_size)
{
    dls_error e = {0};
    dls_predictor *p = NULL;
    if (dls_predictor_create(insp, o, &p, &e) != DLS_OK) {
        if (o->backend == DLS_BACKEND_CUDA && strstr(e.msg, "no CUDA device")) {
            printf("skipped: %s\n", e.msg);
            exit(77);
        }
        die("create", &e);
    }
    if (dls_predict(p, g, n_graphs, q, n, out, &e) != DLS_OK) {
        die("predict", &e);
    }
    snprintf(notes, notes_size, "%s", dls_predictor_notes(p));
    dls_predictor_destroy(p);
}

static void run(const task *t, const char *module)
{
    dls_error e = {0};
    dls_inspector *insp = NULL;
    if (dls_inspector_create(&t->arch, &insp, &e) != DLS_OK ||
        dls_inspector_randomise(insp, 11, t->n_settings, 64, &e) != DLS_OK) {
        die(t->name, &e);
    }
    if (t->n_settings > 2 && insp->settings[1].has_conv) {
        /* one setting that shares all layers: keep its MLP only */
        dls_setting *s = &insp->settings[1];
        size_t kept = 0;
        for (size_t i = 0; i < s->tensors.n; i++) {
            if (strncmp(s->tensors.t[i].spec.name, "conv_layers", 11) == 0) {
                free(s->tensors.t[i].data);
            } else {
                s->tensors.t[kept++] = s->tensors.t[i];
            }
        }
        s->tensors.n = kept;
        s->has_conv = false;
    }
    dls_graph g[64];
    size_t n_graphs = 0;
    for (int i = 0; t->n_nodes[i]; i++) {
        for (int c = 0; c < t->copies; c++, n_graphs++) {
            random_graph(&g[n_graphs], t->n_nodes[i], t->arch.n_features, 100 + n_graphs, t->kind);
        }
    }
    const size_t per_graph = (size_t)t->n_settings + 1;
    const size_t n = n_graphs * per_graph;
    dls_query *q = malloc(n * sizeof *q);
    dls_profile *want = malloc(n * sizeof *want);
    dls_profile *got = malloc(n * sizeof *got);
    if (!q || !want || !got) {
        abort();
    }
    for (size_t i = 0; i < n; i++) {
        /* the reverse order, so that sorting is exercised */
        q[n - 1 - i] = (dls_query){(int32_t)(i / per_graph), (int32_t)(i % per_graph) - 1};
    }
    char notes[1024];
    const dls_predictor_options cpu = {.backend = DLS_BACKEND_CPU, .precision = DLS_PRECISION_F64};
    const dls_predictor_options cuda = {.backend = DLS_BACKEND_CUDA,
                                        .precision = t->precision,
                                        .memory_bytes = t->memory_bytes,
                                        .module_path = module};
    setenv("DLSIM_CUDA_PATH", t->plain ? "plain" : "fused", 1);
    predict(insp, &cpu, g, n_graphs, q, n, want, notes, sizeof notes);
    predict(insp, &cuda, g, n_graphs, q, n, got, notes, sizeof notes);
    double error = 0;
    double top = 0;
    double square = 0;
    double energy = 0;
    for (size_t i = 0; i < n; i++) {
        for (int k = 0; k < DLS_METRICS; k++) {
            const double d = got[i].metric[k] - want[i].metric[k];
            error = fabs(d) > error || isnan(d) ? fabs(d) : error;
            top = fabs(want[i].metric[k]) > top ? fabs(want[i].metric[k]) : top;
            square += d * d;
            energy += want[i].metric[k] * want[i].metric[k];
        }
    }
    const bool ok = error / top <= t->bound && top > 1e-3;
    failures += !ok;
    printf("{\"check\": \"%s\", \"predictions\": %zu, \"max_error\": %.3g, \"nmse\": %.3g, "
           "\"bound\": %.3g, \"ok\": %s}\n",
           t->name, n, error / top, square / energy, t->bound, ok ? "true" : "false");
    reduced |= strstr(notes, "batches reduced") != NULL;
    moved |= strstr(notes, "cpu for") != NULL;
    if (notes[0]) {
        printf("  %s", notes);
    }
    fflush(stdout);
    for (size_t i = 0; i < n_graphs; i++) {
        random_graph_free(&g[i]);
    }
    free(q);
    free(want);
    free(got);
    dls_inspector_destroy(insp);
}

static dls_arch shallow(dls_depth depth, int32_t n_layers)
{
    dls_arch a = dls_arch_default();
    a.depth = quick ? DLS_DEPTH_FIXED : depth;
    a.n_layers = n_layers;
    a.set2set_steps = quick ? 3 : 0;
    return a;
}

int main(int argc, char **argv)
{
    if (argc < 2) {
        fprintf(stderr, "usage: check_cuda MODULE [--quick | --scarce]\n");
        return 2;
    }
    const bool scarce = argc > 2 && strcmp(argv[2], "--scarce") == 0;
    quick = scarce || (argc > 2 && strcmp(argv[2], "--quick") == 0);
    const char *module = argv[1];
    const graph_kind sparse = {.density = 0.055};
    const graph_kind dense = {.density = 0.5};
    const graph_kind odd = {.density = 0.2, .asymmetric = true, .weighted = true};
    task t[16];
    int n = 0;
    const task usual = {.arch = shallow(DLS_DEPTH_N_OVER_2, 5),
                        .n_nodes = {1, 2, 7, 20, 33},
                        .copies = 2,
                        .kind = sparse,
                        .bound = F32_BOUND};
    t[n] = usual;
    t[n++].name = "f32 fused, small";
    t[n] = usual;
    t[n].name = "f32 fused, large";
    t[n].copies = quick ? 1 : 4;
    memcpy(t[n++].n_nodes, (int32_t[6]){65, 100, 105, 144, 145}, sizeof usual.n_nodes);
    t[n] = usual;
    t[n].name = "f32 fused, settings";
    t[n].n_settings = 4;
    t[n++].n_nodes[4] = 0;
    t[n] = usual;
    t[n].name = "f32 fused, little memory";
    t[n].memory_bytes = 400000;
    t[n].n_settings = 3;
    t[n++].n_nodes[4] = 0;
    t[n] = usual;
    t[n].name = "f32 fused, dense weighted asymmetric";
    t[n].kind = odd;
    t[n++].n_nodes[4] = 0;
    t[n] = usual;
    t[n].name = "f32 fused, dense";
    t[n].kind = dense;
    t[n++].n_nodes[3] = 0;
    t[n] = usual;
    t[n].name = "f32 plain";
    t[n].plain = true;
    t[n++].n_settings = 3;
    t[n] = usual;
    t[n].name = "f32 plain, hidden 32, no gru, own layers, mean";
    t[n].arch.hidden = 32;
    t[n].arch.gru = false;
    t[n].arch.shared = false;
    t[n].arch.depth = DLS_DEPTH_FIXED;
    t[n].arch.n_layers = 4;
    t[n++].arch.pool = DLS_POOL_MEAN;
    t[n] = usual;
    t[n].name = "f32 plain, hidden 48, max";
    t[n].arch.hidden = 48;
    t[n].n_settings = 2;
    t[n++].arch.pool = DLS_POOL_MAX;
    t[n] = usual;
    t[n].name = "f32 fused, attention";
    t[n++].arch.pool = DLS_POOL_ATTENTION;
    t[n] = usual;
    t[n].name = "f32 fused, one layer, settings";
    t[n].n_settings = 3;
    t[n].arch.depth = DLS_DEPTH_FIXED;
    t[n++].arch.n_layers = 1;
    t[n] = usual;
    t[n].name = "bf16 fused, small";
    t[n].precision = DLS_PRECISION_FAST;
    t[n].n_settings = 3;
    t[n++].bound = 5e-3;
    t[n] = usual;
    t[n].name = "bf16 fused, large";
    t[n].precision = DLS_PRECISION_FAST;
    t[n].bound = 5e-3;
    t[n].copies = quick ? 1 : 4;
    memcpy(t[n++].n_nodes, (int32_t[6]){65, 100, 128, 129}, sizeof usual.n_nodes);
    n = scarce ? 3 : n;
    for (int i = 0; i < n; i++) {
        run(&t[i], module);
    }
    if (scarce && !(reduced && moved)) {
        printf("memory did not run out as it should: reduced %d, moved %d\n", reduced, moved);
        failures++;
    }
    printf("%d of %d checks failed\n", failures, n);
    return failures ? 1 : 0;
}
