/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * The CUDA backend against the CPU's float64: check_cuda MODULE [--quick | --scarce | --table]
 *
 * MODULE is dlsim-cuda.so, or the emulated one of the same source (tests/gpu/cuda_emu.h), for which
 * --quick keeps graphs shallow, and --scarce (with $DLS_EMU_BYTES) demands that memory runs out.
 * --table prints the error of each precision against the number of nodes and checks nothing else;
 * MODULE may then be "cpu".
 * Needs no HDF5, GSL or libconfig. Exit status 77: no device here.
 */
#include "predictor/driple/arch_text.h"
#include "predictor/driple/model.h"
#include "tests/inspector_graphs.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

/* max |error| over max |output| */
#define F32_BOUND 1e-5
#define FAST_BOUND 5e-3

static bool quick;
static bool reduced, moved; /* smaller batches, the CPU instead: for want of memory */

typedef struct task {
    const char *name;
    const char *arch; /* what differs from the published one, NULL: nothing */
    int32_t n_settings;
    int32_t n_nodes[6]; /* ended by 0 */
    int32_t copies;     /* graphs of each size */
    graph_kind kind;
    dls_precision precision;
    bool plain;
    size_t memory_bytes;
} task;

#define SPARSE .kind = {.density = 0.055}
#define DENSE .kind = {.density = 0.5}
#define ODD .kind = {.density = 0.2, .asymmetric = true, .weighted = true}
#define FAST .precision = DLS_PRECISION_FAST
#define SMALL                                                                                      \
    {                                                                                              \
        1, 2, 7, 20, 33                                                                            \
    }
/* clang-format off */
static const task tasks[] = {
    {"f32 fused, small", NULL, 0, SMALL, 2, SPARSE},
    {"f32 fused, settings", NULL, 4, {1, 2, 7, 20}, 2, SPARSE},
    {"f32 fused, little memory", NULL, 3, {1, 2, 7, 20}, 2, SPARSE, .memory_bytes = 400000},
    {"f32 fused, large", NULL, 0, {65, 100, 105, 144, 145}, 1, SPARSE},
    {"f32 fused, dense weighted asymmetric", NULL, 0, {1, 2, 7, 20}, 2, ODD},
    {"f32 fused, dense", NULL, 0, {1, 2, 7}, 2, DENSE},
    {"f32 fused, one layer, settings", "depth=fixed n_layers=1", 3, SMALL, 2, SPARSE},
    {"f32 plain", NULL, 3, SMALL, 2, SPARSE, .plain = true},
    {"f32, hidden 48", "hidden=48", 2, SMALL, 2, SPARSE},
    {"f32, hidden 27", "hidden=27 n_features=24", 2, {1, 9}, 2, SPARSE},
    {"bf16 fused, small", NULL, 3, SMALL, 2, SPARSE, FAST},
    {"bf16 fused, large", NULL, 0, {65, 100, 128, 129}, 1, SPARSE, FAST},
    {"tf32 plain", NULL, 3, {7, 20}, 2, SPARSE, FAST, .plain = true},
};
/* clang-format on */
#define N_TASKS (sizeof tasks / sizeof *tasks)

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
    DLS_HOLD(dls_predictor_destroy) dls_predictor *p = NULL;
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
}

/* One setting that shares all layers: keep its MLP only. */
static void share_layers(dls_setting *s)
{
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

static dls_inspector *inspector(const task *t)
{
    dls_error e = {0};
    dls_inspector *insp = NULL;
    dls_arch a = dls_arch_default();
    if (quick) {
        a.depth = DLS_DEPTH_FIXED;
        a.n_layers = 5;
        a.set2set_steps = 3;
    }
    if (dls_arch_parse(&a, t->arch ? t->arch : "", &e) != DLS_OK ||
        dls_arch_check(&a, &e) != DLS_OK || dls_inspector_create(&a, &insp, &e) != DLS_OK ||
        dls_inspector_randomise(insp, 11, t->n_settings, 64, &e) != DLS_OK) {
        die(t->name, &e);
    }
    if (t->n_settings > 2 && insp->settings[1].has_conv) {
        share_layers(&insp->settings[1]);
    }
    return insp;
}

typedef struct distance {
    double max, nmse; /* over the largest output; over the outputs' energy */
    size_t n;
    char notes[1024];
} distance;

static distance run(const task *t, const char *module)
{
    dls_inspector *insp = inspector(t);
    dls_graph g[64];
    size_t n_graphs = 0;
    const int32_t copies = quick || t->precision ? t->copies : 4;
    for (int i = 0; i < 6 && t->n_nodes[i]; i++) {
        for (int c = 0; c < copies; c++, n_graphs++) {
            random_graph(&g[n_graphs], t->n_nodes[i], insp->arch.n_features, 100 + n_graphs,
                         t->kind);
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
    const dls_predictor_options cpu = {.backend = DLS_BACKEND_CPU, .precision = DLS_PRECISION_F64};
    const bool on_cpu = strcmp(module, "cpu") == 0;
    const dls_predictor_options cuda = {.backend = on_cpu ? DLS_BACKEND_CPU : DLS_BACKEND_CUDA,
                                        .precision = t->precision,
                                        .memory_bytes = t->memory_bytes,
                                        .module_path = module};
    setenv("DLSIM_CUDA_PATH", t->plain ? "plain" : "fused", 1);
    distance d = {.n = n};
    predict(insp, &cpu, g, n_graphs, q, n, want, d.notes, sizeof d.notes);
    predict(insp, &cuda, g, n_graphs, q, n, got, d.notes, sizeof d.notes);
    double error = 0;
    double top = 0;
    double square = 0;
    double energy = 0;
    for (size_t i = 0; i < n; i++) {
        for (int k = 0; k < DLS_METRICS; k++) {
            const double off = got[i].metric[k] - want[i].metric[k];
            error = fabs(off) > error || isnan(off) ? fabs(off) : error;
            top = fabs(want[i].metric[k]) > top ? fabs(want[i].metric[k]) : top;
            square += off * off;
            energy += want[i].metric[k] * want[i].metric[k];
        }
    }
    d.max = top > 1e-5 ? error / top : HUGE_VAL; /* outputs of nothing prove nothing */
    d.nmse = square / energy;
    for (size_t i = 0; i < n_graphs; i++) {
        random_graph_free(&g[i]);
    }
    free(q);
    free(want);
    free(got);
    dls_inspector_destroy(insp);
    return d;
}

static bool check(const task *t, const char *module)
{
    const distance d = run(t, module);
    const double bound = t->precision == DLS_PRECISION_FAST ? FAST_BOUND : F32_BOUND;
    const bool ok = d.max <= bound;
    printf("{\"check\": \"%s\", \"predictions\": %zu, \"max_error\": %.3g, \"nmse\": %.3g, "
           "\"bound\": %.3g, \"ok\": %s}\n",
           t->name, d.n, d.max, d.nmse, bound, ok ? "true" : "false");
    reduced |= strstr(d.notes, "batches reduced") != NULL;
    moved |= strstr(d.notes, "cpu for") != NULL;
    if (d.notes[0]) {
        printf("  %s", d.notes);
    }
    fflush(stdout);
    return ok;
}

/* What the shipped networks do not have is the CPU's, by name. */
static bool check_refused(const char *module)
{
    static const char *const other[] = {
        "conv=gin", "conv=gat",  "conv=mpnn", "pool=mean", "pool=max", "pool=attention",
        "gru=0",    "shared=0 depth=fixed n_layers=3", "skip=1 depth=fixed n_layers=3",
        "hidden=200"};
    bool ok = true;
    for (size_t i = 0; i < sizeof other / sizeof *other; i++) {
        const task t = {.name = other[i], .arch = other[i]};
        DLS_HOLD(dls_inspector_destroy) dls_inspector *insp = inspector(&t);
        dls_predictor_options o = {.backend = DLS_BACKEND_CUDA, .module_path = module};
        dls_error e = {0};
        DLS_HOLD(dls_predictor_destroy) dls_predictor *p = NULL;
        ok = dls_predictor_create(insp, &o, &p, &e) == DLS_EPREDICTOR &&
             strstr(e.msg, "computed by the CPU only") && ok;
        o.backend = DLS_BACKEND_AUTO;
        ok = dls_predictor_create(insp, &o, &p, &e) == DLS_OK &&
             strstr(dls_predictor_notes(p), "computed by the CPU only") && ok;
    }
    printf("{\"check\": \"other networks are refused\", \"ok\": %s}\n", ok ? "true" : "false");
    return ok;
}

static void table(const char *module)
{
    static const int32_t sizes[] = {5, 10, 20, 50, 100, 128, 129, 200, 300, 512};
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
        const double density = sizes[i] > 6 ? 5.5 / sizes[i] : 0.5;
        task t = {
            .name = "table", .n_nodes = {sizes[i]}, .copies = 4, .kind = {.density = density}};
        const distance f32 = run(&t, module);
        t.precision = DLS_PRECISION_FAST;
        const distance fast = run(&t, module);
        t.plain = true;
        const distance tf32 = run(&t, module);
        printf("{\"n_nodes\": %d, \"f32\": {\"nmse\": %.2g, \"max\": %.2g}, \"fast\": {\"nmse\": "
               "%.2g, \"max\": %.2g}, \"fast_plain\": {\"nmse\": %.2g, \"max\": %.2g}}\n",
               (int)sizes[i], f32.nmse, f32.max, fast.nmse, fast.max, tf32.nmse, tf32.max);
        fflush(stdout);
    }
}

int main(int argc, char **argv)
{
    if (argc < 2) {
        fprintf(stderr, "usage: check_cuda MODULE [--quick | --scarce | --table]\n");
        return 2;
    }
    const char *mode = argc > 2 ? argv[2] : "";
    const bool scarce = strcmp(mode, "--scarce") == 0;
    quick = scarce || strcmp(mode, "--quick") == 0;
    if (strcmp(mode, "--table") == 0) {
        table(argv[1]);
        return 0;
    }
    const size_t n = scarce ? 4 : N_TASKS;
    int failures = 0;
    for (size_t i = 0; i < n; i++) {
        failures += !check(&tasks[i], argv[1]);
    }
    failures += !check_refused(argv[1]);
    if (scarce && !(reduced && moved)) {
        printf("memory did not run out as it should: reduced %d, moved %d\n", reduced, moved);
        failures++;
    }
    printf("%d of %zu checks failed\n", failures, n + 1);
    return failures ? 1 : 0;
}
