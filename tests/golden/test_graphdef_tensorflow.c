/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Static shapes against TensorFlow's own: training graphs that TensorFlow wrote, and what it found
 * for each operation (tests/golden/graphdef/make.py). Driple's tensor_size comes from these shapes.
 */
#include "support/must.h"
#include "workload/graph/grouping.h"
#include "workload/graph/import.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static char path[2][1200];

static void names_of(const char *name)
{
    const char *source = getenv("DLSIM_SOURCE");
    for (int i = 0; i < 2; i++) {
        snprintf(path[i], sizeof path[i], "%s/tests/golden/graphdef/%s.%s", source ? source : ".",
                 name, i ? "shapes" : "pb");
    }
}

static dls_opgraph *load(const char *name, dls_import_report *report)
{
    dls_opgraph *g = NULL;
    names_of(name);
    MUST(dls_graph_import(path[0], NULL, &g, report, &e));
    return g;
}

static int64_t size_of(char *dims)
{
    int64_t dim[16];
    int n = 0;
    if (strcmp(dims, "-") == 0 || strcmp(dims, "?") == 0 || strcmp(dims, "()") == 0) {
        return 0;
    }
    for (char *word = strtok(dims, ","); word; word = strtok(NULL, ",")) {
        dim[n++] = strtoll(word, NULL, 10);
    }
    return dls_driple_tensor_size(dim, n);
}

/* Every node; in the graph with a loop not those of which TensorFlow knows less than this reader.
 */
static int compare(const dls_opgraph *g, bool loop)
{
    FILE *f = fopen(path[1], "r");
    assert_non_null(f);
    char name[512], dims[128];
    int n = 0;
    while (fscanf(f, "%511s %127s", name, dims) == 2) {
        const int32_t i = dls_strdict_find(&g->names, name, strlen(name));
        assert_true(i >= 0);
        const bool open = strcmp(dims, "?") == 0 || strstr(dims, "-1");
        const int64_t want = size_of(dims);
        if (g->nodes[i].tensor_size != want && !(loop && open)) {
            fail_msg("%s: %lld, TensorFlow has %lld", name, (long long)g->nodes[i].tensor_size,
                     (long long)want);
        }
        n++;
    }
    fclose(f);
    assert_int_equal(n, g->n_nodes);
    return n;
}

/* Parameters by hand: 5 5 1 32 + 32, 3 3 32 64, 3 3 64, 2 (64 + 64), 6 6 96 128 + 128, 1280. */
TEST(cnn)
{
    dls_import_report report;
    DLS_HOLD(dls_opgraph_destroy) dls_opgraph *g = load("cnn", &report);
    dls_opgraph_totals t;
    assert_int_equal(compare(g, false), g->n_nodes);
    dls_opgraph_sum(g, &t);
    assert_int_equal(t.n_params, 832 + 18432 + 576 + 256 + 442496 + 1280);
    assert_int_equal(t.n_param_tensors, 11);
    assert_int_equal(report.n_unknown, 0);
    assert_int_equal(g->info.optimiser, DLS_OPTIMISER_ADAM);
    double forward = 0, backward = 0;
    for (int32_t i = 0; i < g->n_nodes; i++) {
        const dls_op_node *x = &g->nodes[i];
        const dls_op_family family = dls_op_family_of(x->kind);
        if (family == DLS_FAMILY_CONV || family == DLS_FAMILY_MATMUL) {
            *(x->phase == DLS_PHASE_FORWARD ? &forward : &backward) += x->flops;
        }
    }
    assert_true(forward == 2.0 * 28 * 28 * 32 * 25 + 2.0 * 49 * 64 * 288 + 2.0 * 49 * 64 * 9 +
                               2.0 * (3456.0 * 128 + 1280));
    assert_true(backward == 2 * forward); /* TensorFlow makes the image's gradient, too */
}

TEST(lstm)
{
    dls_import_report report;
    DLS_HOLD(dls_opgraph_destroy) dls_opgraph *g = load("lstm", &report);
    dls_opgraph_totals t;
    assert_int_equal(compare(g, true), g->n_nodes);
    dls_opgraph_sum(g, &t);
    assert_int_equal(t.n_params, 64000 + 128 * 256 + 256 + 64 + 64000);
    assert_int_equal(report.n_unknown, 0);
    double product[2] = {0, 0};
    int n_repeated = 0;
    for (int32_t i = 0; i < g->n_nodes; i++) {
        const dls_op_node *x = &g->nodes[i];
        if (dls_op_family_of(x->kind) == DLS_FAMILY_MATMUL) {
            product[x->phase == DLS_PHASE_BACKWARD] += x->flops * x->repeat;
            n_repeated += x->repeat == 20;
        }
    }
    assert_int_equal(n_repeated, 3); /* the cell's, and its two gradients */
    assert_true(product[0] ==
                20 * 2.0 * 16 * 128 * 256 + 2 * 2.0 * 16 * 20 * 20 * 64 + 2.0 * 320 * 64 * 1000);
    assert_true(product[1] == 2 * product[0]);
}
