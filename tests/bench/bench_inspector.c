/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Speed of the inspector: bench_inspector [--smoke] [--threads] [--cuda MODULE] [--torch SCRIPT]
 *
 * Prints JSON. The standard case is the published inspector (GCN, 3 features, hidden 64, N/2
 * layers, GRU, Set2Set) on a batch of 32 random graphs of 100 nodes, mean degree 5.5; the shipped
 * ones have 23 features, 4 layers, 3 steps of Set2Set and settings that are told, on 64 graphs of 8
 * nodes, mean degree 2. Engines take turns within a run; the least of all turns counts. FLOP are
 * those that the method needs (sparse aggregation, no padding, merged Set2Set products, multiply
 * and add counted as two); transcendentals are not counted. The peak is measured here, with chains
 * of fused multiply-adds. Needs no HDF5, so it also serves the GPU machine.
 */
#include "base/alloc.h"
#include "predictor/driple/cpu_engine.h"
#include "support/bench.h"
#include "tests/inspector_graphs.h"

#include <math.h>
#include <pthread.h>
#include <stdio.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>
#if defined(__x86_64__)
#include <immintrin.h>
#endif

static bool smoke;

static double resident_mb(void)
{
    struct rusage r;
    getrusage(RUSAGE_SELF, &r);
    return (double)r.ru_maxrss / 1024;
}

/* ---- peak ----------------------------------------------------------------------------------- */

#if defined(__x86_64__)
/* Ten independent chains hide the latency; named one by one, they stay in registers whatever the
 * optimisation. */
#define PEAK(name, isa, type, set, fma, lanes)                                                     \
    __attribute__((target(isa))) static double name(void)                                          \
    {                                                                                              \
        type a = set(0), b = set(1), c = set(2), d = set(3), e = set(4), f = set(5), g = set(6),   \
             h = set(7), i = set(8), j = set(9);                                                   \
        const type x = set(0.999f), y = set(0.001f);                                               \
        double best = 0;                                                                           \
        for (int t = 0; t < (smoke ? 2 : 20); t++) {                                               \
            const double t0 = cpu_s();                                                             \
            for (int n = 0; n < 400000; n++) {                                                     \
                a = fma(a, x, y), b = fma(b, x, y), c = fma(c, x, y), d = fma(d, x, y);            \
                e = fma(e, x, y), f = fma(f, x, y), g = fma(g, x, y), h = fma(h, x, y);            \
                i = fma(i, x, y), j = fma(j, x, y);                                                \
            }                                                                                      \
            const double rate = 400000.0 * 10 * 2 * (lanes) / (cpu_s() - t0);                      \
            best = rate > best ? rate : best;                                                      \
        }                                                                                          \
        const type all = a + b + c + d + e + f + g + h + i + j;                                    \
        float keep[16];                                                                            \
        memcpy(keep, &all, sizeof all);                                                            \
        return keep[0] < 1e30f ? best * 1e-9 : 0;                                                  \
    }
PEAK(peak_avx512, "avx512f", __m512, _mm512_set1_ps, _mm512_fmadd_ps, 16)
PEAK(peak_avx2, "avx2,fma", __m256, _mm256_set1_ps, _mm256_fmadd_ps, 8)

static double peak_gflops(const char *isa)
{
    return strcmp(isa, "avx512") == 0 ? peak_avx512() : strcmp(isa, "avx2") == 0 ? peak_avx2() : 0;
}
#else
static double peak_gflops(const char *isa)
{
    return 0;
}
#endif

/* ---- work ----------------------------------------------------------------------------------- */

static double layer_flop(double n, double in, double h, double edges)
{
    return 2 * (edges + n) * in + 2 * n * in * h + 2 * n * (in + h) * 3 * h;
}

/* Prefix and suffix of one graph, its readout, in FLOP; settings that are told share all but the
 * MLP. */
static double graph_flop(const dls_arch *a, const dls_graph *g, double n_settings)
{
    const double n = g->n_nodes;
    const double h = a->hidden;
    const double edges = (double)g->row_start[g->n_nodes];
    const int32_t depth = dls_arch_layers(a, g->n_nodes);
    const int32_t split = dls_arch_prefix_layers(a, depth);
    const double one = layer_flop(n, h, h, edges);
    const double steps = a->set2set_steps ? a->set2set_steps : n;
    const double set2set = steps * (2 * 2 * h * 4 * h + 4 * n * h);
    const double mlp = 2 * (2 * h * h + (a->mlp_layers - 2) * h * h + 12 * h);
    return layer_flop(n, a->n_features, h, edges) + (split - 1) * one + n_settings * mlp +
           (a->n_conditions ? 1 : n_settings) * ((depth - split) * one + set2set);
}

typedef struct measured {
    double seconds; /* best of several calls */
    double cpu_s;   /* likewise, processor time */
    char backend[192];
    char notes[256];
} measured;

static dls_inspector *make_inspector(int32_t n_settings)
{
    dls_error e = {0};
    dls_inspector *insp = NULL;
    const dls_arch a = dls_arch_default();
    must(dls_inspector_create(&a, &insp, &e), &e);
    must(dls_inspector_randomise(insp, 1, n_settings, 64, &e), &e);
    return insp;
}

/* Of the shape of the inspectors that ship, with so many settings that it is told of. */
static dls_inspector *make_shipped(int32_t hidden, int n_settings)
{
    dls_error e = {0};
    dls_inspector *insp = NULL;
    dls_setting *setting;
    dls_arch a = dls_arch_default();
    a.n_features = 23;
    a.hidden = hidden;
    a.depth = DLS_DEPTH_FIXED;
    a.n_layers = 4;
    a.set2set_steps = 3;
    a.mlp_layers = 4;
    must(dls_inspector_create(&a, &insp, &e), &e);
    must(dls_inspector_randomise(insp, 1, 0, 64, &e), &e);
    must(dls_inspector_condition(insp, "a\nb", 2, &e), &e);
    for (int i = 0; i < n_settings; i++) {
        char name[16];
        const double number[2] = {i, -i};
        snprintf(name, sizeof name, "s%d", i);
        must(dls_inspector_settle(insp, name, number, &setting, &e), &e);
    }
    return insp;
}

static dls_graph *make_graphs(size_t n, int32_t n_nodes, int32_t n_features, double density)
{
    dls_graph *g = malloc(n * sizeof *g);
    if (!g) {
        abort();
    }
    for (size_t i = 0; i < n; i++) {
        random_graph(&g[i], n_nodes, n_features, 7 + i, (graph_kind){.density = density});
    }
    return g;
}

static void free_graphs(dls_graph *g, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        random_graph_free(&g[i]);
    }
    free(g);
}

/* Every graph under settings 0..n_settings-1, or the base when that is 0. keep may be NULL. */
static bool measure(const dls_inspector *insp, const dls_predictor_options *o, const dls_graph *g,
                    size_t n, int32_t n_settings, int repeat, measured *m, dls_profile *keep)
{
    dls_error e = {0};
    dls_predictor *p = NULL;
    if (dls_predictor_create(insp, o, &p, &e) != DLS_OK) {
        snprintf(m->notes, sizeof m->notes, "%.250s", e.msg);
        return false;
    }
    const size_t per = n_settings ? (size_t)n_settings : 1;
    dls_query *q = malloc(n * per * sizeof *q);
    dls_profile *out = malloc(n * per * sizeof *out);
    if (!q || !out) {
        abort();
    }
    for (size_t i = 0; i < n * per; i++) {
        q[i] = (dls_query){(int32_t)(i / per), n_settings ? (int32_t)(i % per) : -1};
    }
    m->seconds = 1e30;
    m->cpu_s = 1e30;
    for (int r = 0; r < repeat; r++) {
        const double t0 = wall_s();
        const double c0 = cpu_s();
        if (dls_predict(p, g, n, q, n * per, out, &e) != DLS_OK) {
            fprintf(stderr, "%s\n", e.msg);
            exit(1);
        }
        const double t = wall_s() - t0;
        const double c = cpu_s() - c0;
        m->seconds = t < m->seconds ? t : m->seconds;
        m->cpu_s = c < m->cpu_s ? c : m->cpu_s;
    }
    snprintf(m->backend, sizeof m->backend, "%s", dls_predictor_backend(p));
    snprintf(m->notes, sizeof m->notes, "%.250s", dls_predictor_notes(p));
    if (keep) {
        memcpy(keep, out, n * per * sizeof *out);
    }
    dls_predictor_destroy(p);
    free(q);
    free(out);
    return true;
}

/* ---- CPU ------------------------------------------------------------------------------------ */

/* Numbers of threads take turns, so that a busy spell of the machine meets all of them. */
static void bench_threads(const dls_inspector *insp, const dls_graph *g, size_t n)
{
    enum { COUNTS = 8 };
    measured best[COUNTS];
    const long cores = sysconf(_SC_NPROCESSORS_ONLN);
    int counts = 0;
    for (int round = 0; round < (smoke ? 1 : 6); round++) {
        counts = 0;
        for (int t = 1; t <= cores && counts < COUNTS; t *= 2, counts++) {
            const dls_predictor_options o = {.backend = DLS_BACKEND_CPU, .threads = t};
            measured m = {0};
            measure(insp, &o, g, n, 0, smoke ? 1 : 5, &m, NULL);
            measured *b = &best[counts];
            *b = round == 0 ? m : *b;
            b->seconds = m.seconds < b->seconds ? m.seconds : b->seconds;
            b->cpu_s = m.cpu_s < b->cpu_s ? m.cpu_s : b->cpu_s;
        }
    }
    printf("  \"threads\": [");
    for (int i = 0; i < counts; i++) {
        printf("%s{\"threads\": %d, \"ms_per_graph\": %.3f, \"cpu_ms_per_graph\": %.3f, "
               "\"speedup\": %.2f}",
               i ? ", " : "", 1 << i, best[i].seconds / (double)n * 1e3,
               best[i].cpu_s / (double)n * 1e3, best[0].seconds / best[i].seconds);
    }
    printf("],\n");
}

/* Every engine on the same graphs, by turns. Returns the best processor time of the first that is
 * here. */
static double bench_engines(const dls_inspector *insp, const dls_graph *g, size_t n,
                            int32_t n_settings)
{
    static const struct {
        const char *isa;
        dls_precision precision;
    } engine[] = {{"avx512", DLS_PRECISION_F32},
                  {"amx", DLS_PRECISION_FAST},
                  {"avx2", DLS_PRECISION_F32},
                  {"scalar", DLS_PRECISION_F32}};
    enum { ENGINES = sizeof engine / sizeof *engine };
    measured best[ENGINES];
    double peak[ENGINES] = {0};
    double flop = 0;
    for (size_t i = 0; i < n; i++) {
        flop += graph_flop(&insp->arch, &g[i], n_settings ? n_settings : 1);
    }
    for (int turn = 0; turn < (smoke ? 1 : 10); turn++) {
        for (int i = 0; i < ENGINES; i++) {
            measured m = {.cpu_s = 1e30, .seconds = 1e30};
            const dls_predictor_options o = {.backend = DLS_BACKEND_CPU,
                                             .precision = engine[i].precision,
                                             .threads = 1,
                                             .cpu_isa = engine[i].isa};
            const bool here =
                measure(insp, &o, g, n, n_settings, smoke || i == ENGINES - 1 ? 1 : 5, &m, NULL);
            best[i] = turn == 0 || m.cpu_s < best[i].cpu_s ? m : best[i];
            const double p = here ? peak_gflops(engine[i].isa) : 0;
            peak[i] = p > peak[i] ? p : peak[i];
        }
    }
    printf("\"mflop_per_graph\": %.2f, \"engines\": [", flop / (double)n * 1e-6);
    double first = 0;
    for (int i = 0, shown = 0; i < ENGINES; i++) {
        if (best[i].cpu_s >= 1e30) {
            continue; /* this machine has it not */
        }
        first = shown ? first : best[i].cpu_s;
        const double rate = flop / best[i].cpu_s * 1e-9;
        printf("%s\n    {\"engine\": \"%s\", \"ms_per_graph\": %.4f, \"cpu_ms_per_graph\": %.4f, "
               "\"gflops\": %.1f, \"peak_gflops\": %.1f, \"fraction_of_peak\": %.2f}",
               shown++ ? "," : "", best[i].backend, best[i].seconds / (double)n * 1e3,
               best[i].cpu_s / (double)n * 1e3, rate, peak[i], peak[i] > 0 ? rate / peak[i] : 0);
    }
    printf("]");
    return first;
}

/* The inspectors that ship: a graph in one setting that is told, and in 14. */
static void bench_shipped(void)
{
    const size_t n = smoke ? 4 : 64;
    dls_graph *g = make_graphs(n, 8, 23, 0.286);
    for (int hidden = 64; hidden <= 96; hidden += 32) {
        for (int settings = 1; settings <= 14; settings += 13) {
            DLS_HOLD(dls_inspector_destroy) dls_inspector *insp = make_shipped(hidden, settings);
            printf("  \"shipped_%d_settings_%d\": {\"batch\": %zu, \"nodes\": 8, ", hidden,
                   settings, n);
            bench_engines(insp, g, n, settings);
            printf("},\n");
        }
    }
    free_graphs(g, n);
}

static void bench_cpu(void)
{
    const size_t n = smoke ? 4 : 32;
    const double before_mb = resident_mb();
    dls_inspector *insp = make_inspector(0);
    dls_graph *g = make_graphs(n, 100, 3, 0.055);
    measured m = {0};
    printf("  \"standard\": {\"batch\": %zu, \"nodes\": 100, ", n);
    const double best_s = bench_engines(insp, g, n, 0);
    printf("},\n  \"resident_mb\": %.1f, \"resident_before_mb\": %.1f,\n", resident_mb(),
           before_mb);
    bench_threads(insp, g, n);
    const dls_predictor_options f64 = {
        .backend = DLS_BACKEND_CPU, .precision = DLS_PRECISION_F64, .threads = 1};
    measure(insp, &f64, g, smoke ? 1 : 4, 0, 1, &m, NULL);
    printf("  \"f64_ms_per_graph\": %.1f,\n", m.seconds / (smoke ? 1 : 4) * 1e3);
    dls_inspector_destroy(insp);
    insp = make_inspector(14);
    const dls_predictor_options one = {.backend = DLS_BACKEND_CPU, .threads = 1};
    /* fewer graphs a call, more calls: the best call of a busy machine is the undisturbed one */
    const size_t few = smoke ? 1 : 4;
    measure(insp, &one, g, few, 14, smoke ? 1 : 24, &m, NULL);
    const double settings_s = m.cpu_s / (double)few;
    printf("  \"settings_14\": {\"cpu_ms_per_graph\": %.3f, \"times_one\": %.2f},\n",
           settings_s * 1e3, settings_s / (best_s / (double)n));
    dls_inspector_destroy(insp);
    free_graphs(g, n);
}

/* Sparse against dense aggregation: the engine is asked for one or the other. */
static void bench_density(void)
{
    const dls_cpu_engine *engine = dls_cpu_engine_find(DLS_PRECISION_F32, NULL);
    DLS_HOLD(dls_inspector_destroy) dls_inspector *insp = make_inspector(0);
    dls_error e = {0};
    void *packed = NULL;
    if (engine->pack(insp, &packed, &e) != DLS_OK) {
        exit(1);
    }
    printf("  \"density\": [");
    static const double densities[] = {0.05, 0.2, 0.4, 0.6, 0.8, 1.0};
    const int count = smoke ? 1 : 6;
    for (int i = 0; i < count; i++) {
        dls_graph *g = make_graphs(1, 100, 3, densities[i]);
        double out[DLS_METRICS];
        const dls_pair pair = {0, DLS_SETTING_BASE};
        const dls_driple_job job = {g, &pair, 1, out};
        double best[2] = {1e30, 1e30};
        for (int dense = 0; dense < 2; dense++) {
            dls_cpu_work w = {.bytes = engine->work_bytes(packed, &job, 0, 1),
                              .dense_above = dense ? -1 : 2};
            w.memory = dls_alloc_aligned(w.bytes);
            for (int r = 0; w.memory && r < (smoke ? 1 : 30); r++) {
                const double t0 = wall_s();
                engine->run(packed, &w, &job, 0, 1);
                const double t = wall_s() - t0;
                best[dense] = t < best[dense] ? t : best[dense];
            }
            dls_free(w.memory);
        }
        printf("%s\n    {\"nonzeros\": %.2f, \"sparse_ms\": %.3f, \"dense_ms\": %.3f}",
               i ? "," : "", (double)g->row_start[100] / 1e4, best[0] * 1e3, best[1] * 1e3);
        free_graphs(g, 1);
    }
    printf("]");
    engine->unpack(packed);
}

/* ---- CUDA ----------------------------------------------------------------------------------- */

static void cuda_rate(const char *module, const char *name, dls_precision precision,
                      const char *path, const dls_graph *g, size_t n)
{
    DLS_HOLD(dls_inspector_destroy) dls_inspector *insp = make_inspector(0);
    const dls_predictor_options o = {
        .backend = DLS_BACKEND_CUDA, .precision = precision, .module_path = module};
    measured m = {0};
    setenv("DLSIM_CUDA_PATH", path, 1);
    if (!measure(insp, &o, g, n, 0, smoke ? 1 : 4, &m, NULL)) {
        printf("  \"cuda_%s\": {\"skipped\": \"%s\"},\n", name, m.notes);
    } else {
        double flop = 0;
        for (size_t i = 0; i < n; i++) {
            flop += graph_flop(&insp->arch, &g[i], 1);
        }
        printf("  \"cuda_%s\": {\"backend\": \"%s\", \"graphs\": %zu, \"graphs_per_s\": %.0f, "
               "\"tflops\": %.2f},\n",
               name, m.backend, n, (double)n / m.seconds, flop / m.seconds * 1e-12);
    }
}

/* What a placement study asks: many workloads in several settings each. The CPU does `sample` of
 * them on all cores. */
static void bench_many(const char *module, const char *name, const dls_inspector *insp,
                       const dls_graph *g, size_t n, size_t sample)
{
    const int32_t settings = (int32_t)insp->n_settings;
    measured cpu = {0}, f32 = {0}, fast = {0};
    const dls_predictor_options on_cpu = {.backend = DLS_BACKEND_CPU};
    dls_predictor_options on_device = {.backend = DLS_BACKEND_CUDA, .module_path = module};
    setenv("DLSIM_CUDA_PATH", "fused", 1);
    measure(insp, &on_cpu, g, sample, settings, 1, &cpu, NULL);
    printf("  \"many_%s\": {\"workloads\": %zu, \"settings\": %d, \"cpu_workloads\": %zu, "
           "\"cpu_s\": %.3f, \"cpu\": \"%s\"",
           name, n, (int)settings, sample, cpu.seconds, cpu.backend);
    if (measure(insp, &on_device, g, n, settings, smoke ? 1 : 2, &f32, NULL)) {
        printf(", \"cuda_f32_s\": %.3f", f32.seconds);
    }
    on_device.precision = DLS_PRECISION_FAST;
    if (measure(insp, &on_device, g, n, settings, smoke ? 1 : 2, &fast, NULL)) {
        printf(", \"cuda_fast_s\": %.3f", fast.seconds);
    }
    printf("},\n");
    fflush(stdout);
}

static void bench_cuda(const char *module)
{
    const size_t n = smoke ? 3 : 50000;
    const int32_t settings = smoke ? 2 : 14;
    dls_graph *g = make_graphs(n, smoke ? 20 : 100, 3, 0.055);
    cuda_rate(module, "f32_fused", DLS_PRECISION_F32, "fused", g, n);
    cuda_rate(module, "f32_plain", DLS_PRECISION_F32, "plain", g, n);
    cuda_rate(module, "fast_fused", DLS_PRECISION_FAST, "fused", g, n);
    cuda_rate(module, "fast_plain_tf32", DLS_PRECISION_FAST, "plain", g, n);
    DLS_HOLD(dls_inspector_destroy) dls_inspector *insp = make_inspector(settings);
    measured m = {0};
    for (int path = 0; path < 2; path++) {
        setenv("DLSIM_CUDA_PATH", path ? "plain" : "fused", 1);
        const dls_predictor_options o = {.backend = DLS_BACKEND_CUDA, .module_path = module};
        if (measure(insp, &o, g, 1, settings, smoke ? 1 : 50, &m, NULL)) {
            printf("  \"cuda_one_graph_14_settings_%s_ms\": %.3f,\n", path ? "plain" : "fused",
                   m.seconds * 1e3);
        }
    }
    fflush(stdout);
    bench_many(module, "100_nodes", insp, g, n, smoke ? 2 : 2000);
    free_graphs(g, n);
    g = make_graphs(n, smoke ? 8 : 24, 3, 0.23);
    bench_many(module, "24_nodes", insp, g, n, n);
    free_graphs(g, n);
    dls_inspector_destroy(insp);
    insp = make_shipped(64, settings);
    g = make_graphs(n, 8, 23, 0.286);
    bench_many(module, "shipped", insp, g, n, n);
    free_graphs(g, n);
}

/* The same work by PyTorch: the script prints one JSON object, or says why not. */
static void bench_torch(const char *script)
{
    char command[2048];
    char line[4096];
    snprintf(command, sizeof command, "python3 '%s'%s 2>/dev/null", script,
             smoke ? " --smoke" : "");
    fflush(stdout);
    FILE *pipe = popen(command, "r");
    printf(",\n  \"pytorch\": ");
    bool any = false;
    while (pipe && fgets(line, sizeof line, pipe)) {
        line[strcspn(line, "\n")] = '\0';
        fputs(line, stdout);
        any = true;
    }
    if (pipe) {
        pclose(pipe);
    }
    fputs(any ? "" : "null", stdout);
}

int main(int argc, char **argv)
{
    const char *module = NULL;
    const char *torch = NULL;
    bool only_threads = false;
    for (int i = 1; i < argc; i++) {
        if (strcmp(argv[i], "--smoke") == 0) {
            smoke = true;
        } else if (strcmp(argv[i], "--threads") == 0) {
            only_threads = true;
        } else if (strcmp(argv[i], "--cuda") == 0 && i + 1 < argc) {
            module = argv[++i];
        } else if (strcmp(argv[i], "--torch") == 0 && i + 1 < argc) {
            torch = argv[++i];
        } else {
            fprintf(
                stderr,
                "usage: bench_inspector [--smoke] [--threads] [--cuda MODULE] [--torch SCRIPT]\n"
                "  --threads: the scaling with threads and nothing else\n");
            return 2;
        }
    }
    printf("{\n");
    if (module) {
        bench_cuda(module);
    }
    if (only_threads) {
        const size_t n = smoke ? 4 : 32;
        DLS_HOLD(dls_inspector_destroy) dls_inspector *insp = make_inspector(0);
        dls_graph *g = make_graphs(n, 100, 3, 0.055);
        bench_threads(insp, g, n);
        free_graphs(g, n);
    } else {
        bench_cpu();
        bench_shipped();
        bench_density();
    }
    if (torch) {
        bench_torch(torch);
    }
    printf("%s  \"benchmark\": \"inspector\"\n}\n", only_threads ? "" : ",\n");
    return 0;
}
