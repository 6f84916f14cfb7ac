/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Damaged training graphs, recordings and datasets. The first byte says which, the
 * rest are edits (h5_damage.h) of a good file that is made here. What a reader accepts can be used
 * and written again.
 */
#include "h5_damage.h"
#include "predictor/dataset/dataset.h"
#include "workload/graph/grouping.h"
#include "workload/graph/zoo.h"
#include "predictor/measure/recording.h"

#include "base/alloc.h"

#include <math.h>
#include <unistd.h>

enum { GRAPH, RECORDING, DATASET, KINDS };

static bytes good[KINDS];
static char path[64], again[64];

static void make_graph(void)
{
    const dls_zoo_model *m = dls_zoo_find("lenet");
    must(m != NULL);
    const dls_zoo_options options = dls_zoo_defaults(m);
    dls_opgraph *g = NULL;
    must(dls_zoo_build(m, &options, &g, NULL) == DLS_OK);
    must(dls_opgraph_save(g, path, NULL) == DLS_OK);
    good[GRAPH] = slurp(path);
    dls_opgraph_destroy(g);
}

static void make_recording(void)
{
    dls_column columns[2] = {{"net.x.rx_bytes", DLS_COLUMN_COUNTER, 1e6},
                             {"gpu0.util_percent", DLS_COLUMN_LEVEL, 100}};
    int64_t time_ns[8];
    double value[16];
    for (int i = 0; i < 8; i++) {
        time_ns[i] = (int64_t)i * 10000000;
        value[2 * i] = 100 * i;
        value[2 * i + 1] = 10 * (i % 3);
    }
    const dls_recording r = {.command = "a command",
                             .interval_s = 0.01,
                             .columns = columns,
                             .time_ns = time_ns,
                             .value = value,
                             .n_columns = 2,
                             .n = 8};
    must(dls_recording_save(&r, path, NULL) == DLS_OK);
    good[RECORDING] = slurp(path);
}

/* Two graphs of three nodes in one setting. */
static void make_dataset(void)
{
    const double x[9] = {0, 0.5, 1, 0.25, 0.125, 0, 1, 1, 0};
    const int64_t row_start[4] = {0, 1, 3, 4};
    const int32_t col[4] = {1, 0, 2, 1};
    dls_graph graphs[2];
    dls_dataset_origin origin[2] = {{.model = "lenet",
                                     .family = "lenet",
                                     .data = "mnist",
                                     .numeric = "fp32",
                                     .optimiser = "sgd",
                                     .batch = 32},
                                    {.model = "vgg16",
                                     .family = "vgg",
                                     .data = "imagenet",
                                     .numeric = "fp32",
                                     .optimiser = "sgd",
                                     .batch = 16}};
    int32_t index[2] = {0, 1};
    uint8_t split[2] = {DLS_SPLIT_TRAIN, DLS_SPLIT_TEST};
    double label[2 * DLS_METRICS];
    double seconds[2] = {0.1, 0.2};
    for (int i = 0; i < 2 * DLS_METRICS; i++) {
        label[i] = 0.1 * (i + 1);
    }
    graphs[0] = graphs[1] = (dls_graph){3, 3, x, row_start, col, NULL};
    dls_dataset_setting setting = {.name = "s",
                                   .gpu_type = "V100",
                                   .topology = "one",
                                   .n_workers = 1,
                                   .n_nodes = 1,
                                   .n = 2,
                                   .graph = index,
                                   .split = split,
                                   .label = label,
                                   .iteration_s = seconds,
                                   .truth = label,
                                   .model_s = seconds};
    const dls_dataset set = {.graph = graphs,
                             .origin = origin,
                             .n_graphs = 2,
                             .setting = &setting,
                             .n_settings = 1,
                             .n_features = 3,
                             .feature_version = "driple",
                             .seed = 1,
                             .command = "made here"};
    dls_error err = {0};
    if (dls_dataset_save(&set, path, &err) != DLS_OK) {
        fprintf(stderr, "%s: %s\n", err.where, err.msg);
        abort();
    }
    good[DATASET] = slurp(path);
}

static void use_graph(dls_opgraph *g)
{
    dls_opgraph *copy = NULL;
    dls_opgraph_totals totals;
    dls_kept kept;
    must(dls_opgraph_validate(g, NULL) == DLS_OK);
    dls_opgraph_sum(g, &totals);
    if (dls_kept_create(g, &kept, NULL) == DLS_OK) {
        dls_kept_fini(&kept);
    }
    must(dls_opgraph_save(g, again, NULL) == DLS_OK);
    must(dls_opgraph_load(again, &copy, NULL) == DLS_OK);
    must(copy->n_nodes == g->n_nodes && copy->n_edges == g->n_edges);
    dls_opgraph_destroy(copy);
}

static void use_recording(const dls_recording *r)
{
    for (size_t i = 0; i < r->n_columns; i++) {
        double *x;
        size_t n;
        if (r->n > 1 && r->time_ns[r->n - 1] < 1000000000 &&
            dls_recording_series(r, i, 0.01, &x, &n, NULL) == DLS_OK) {
            dls_free(x);
        }
    }
    must(dls_recording_save(r, again, NULL) == DLS_OK);
}

static void use_dataset(const dls_dataset *set)
{
    for (size_t i = 0; i < set->n_settings; i++) {
        const dls_dataset_setting *s = &set->setting[i];
        for (size_t k = 0; k < s->n; k++) {
            must(s->graph[k] >= 0 && (size_t)s->graph[k] < set->n_graphs);
            must(s->split[k] < DLS_SPLITS && isfinite(s->label[k * DLS_METRICS]));
        }
    }
    for (size_t i = 0; i < set->n_graphs; i++) {
        const dls_graph *g = &set->graph[i];
        for (int64_t e = 0; e < g->row_start[g->n_nodes]; e++) {
            must(g->col[e] >= 0 && g->col[e] < g->n_nodes);
        }
        must(g->n_features == set->n_features);
    }
}

static dls_status read_one(int kind, dls_error *err)
{
    dls_opgraph *g = NULL;
    dls_dataset *set = NULL;
    dls_recording r;
    dls_status status;
    switch (kind) {
    case GRAPH:
        status = dls_opgraph_load(path, &g, err);
        must((status == DLS_OK) == (g != NULL));
        if (g) {
            use_graph(g);
        }
        dls_opgraph_destroy(g);
        return status;
    case RECORDING:
        status = dls_recording_load(path, &r, err);
        if (status == DLS_OK) {
            use_recording(&r);
        }
        dls_recording_fini(&r);
        return status;
    default:
        status = dls_dataset_load(path, NULL, 0, &set, err);
        must((status == DLS_OK) == (set != NULL));
        if (set) {
            use_dataset(set);
        }
        dls_dataset_destroy(set);
        return status;
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    if (!good[0].at) {
        snprintf(path, sizeof path, "fuzz_files.%d.h5", (int)getpid());
        snprintf(again, sizeof again, "fuzz_files.%d.again.h5", (int)getpid());
        make_graph();
        make_recording();
        make_dataset();
    }
    if (size < 1) {
        return 0;
    }
    dls_error err = {0};
    write_damaged(path, &good[data[0] % KINDS], data + 1, size - 1);
    must(read_one(data[0] % KINDS, &err) == DLS_OK || err.msg[0]);
    unlink(path);
    unlink(again);
    return 0;
}
