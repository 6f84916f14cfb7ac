/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Damaged weights files, plain tensor files and graph files. The first byte says which, the rest
 * are edits (h5_damage.h) of a good file that is made here. A reader that accepts the result has an
 * inspector that passes its checks, saves, loads and predicts, or graphs that can be read to the
 * end.
 */
#include "base/alloc.h"
#include "h5_damage.h"
#include "predictor/driple/arch_text.h"
#include "dlsim/predictor.h"
#include "predictor/driple/h5io.h"
#include "predictor/driple/weights.h"

#include <unistd.h>

enum { WEIGHTS, PLAIN, GRAPHS, TOLD, KINDS };

static const double numbers[] = {0.5, -1};

static bytes good[KINDS];
static char path[64], again[64];

static dls_inspector *small_inspector(void)
{
    dls_arch a = dls_arch_default();
    a.n_features = 2;
    a.hidden = 3;
    a.mlp_layers = 2;
    dls_inspector *insp = NULL;
    must(dls_inspector_create(&a, &insp, NULL) == DLS_OK);
    must(dls_inspector_randomise(insp, 1, 1, 1, NULL) == DLS_OK);
    return insp;
}

/* One of all settings, with a setting of it. */
static dls_inspector *told_inspector(void)
{
    dls_inspector *insp = small_inspector();
    dls_setting *s;
    dls_inspector_remove_setting(insp, 0);
    must(dls_inspector_partition(insp, 0.25, NULL) == DLS_OK);
    must(dls_inspector_condition(insp, "speed\nlink", 2, NULL) == DLS_OK);
    insp->condition.trained_on = dls_strdup("here\nthere");
    must(dls_inspector_settle(insp, "here", numbers, &s, NULL) == DLS_OK);
    return insp;
}

static void put(hid_t file, const char *name, int rank, const hsize_t *dim, const double *data)
{
    const hid_t space = H5Screate_simple(rank, dim, NULL);
    const hid_t set =
        H5Dcreate2(file, name, H5T_IEEE_F64LE, space, H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT);
    must(H5Dwrite(set, H5T_NATIVE_DOUBLE, H5S_ALL, H5S_ALL, H5P_DEFAULT, data) >= 0);
    H5Dclose(set);
    H5Sclose(space);
}

static void make_good_files(void)
{
    snprintf(path, sizeof path, "fuzz_inspector.%d.h5", (int)getpid());
    snprintf(again, sizeof again, "fuzz_inspector.%d.again.h5", (int)getpid());
    dls_inspector *insp = small_inspector();
    must(dls_inspector_save(insp, path, NULL) == DLS_OK);
    good[WEIGHTS] = slurp(path);
    hid_t f = H5Fcreate(path, H5F_ACC_TRUNC, H5P_DEFAULT, H5P_DEFAULT);
    for (size_t i = 0; i < insp->base.n; i++) {
        const dls_weight *t = &insp->base.t[i];
        const hsize_t dim[2] = {(hsize_t)t->spec.rows, (hsize_t)t->spec.cols};
        put(f, t->spec.name, t->spec.cols ? 2 : 1, dim, t->data);
    }
    H5Fclose(f);
    good[PLAIN] = slurp(path);
    dls_inspector_destroy(insp);
    insp = told_inspector();
    must(dls_inspector_save(insp, path, NULL) == DLS_OK);
    good[TOLD] = slurp(path);
    dls_inspector_destroy(insp);
    double adj[2 * 4 * 4] = {0};
    double x[2 * 4 * 2];
    for (int i = 0; i < 2 * 4 * 2; i++) {
        x[i] = i / 7.0;
        adj[i % 3 * 4 + i % 3 + 1] = 1;
    }
    f = H5Fcreate(path, H5F_ACC_TRUNC, H5P_DEFAULT, H5P_DEFAULT);
    H5Gclose(H5Gcreate2(f, "jobs", H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT));
    put(f, "jobs/adj", 3, (const hsize_t[]){2, 4, 4}, adj);
    put(f, "jobs/x", 3, (const hsize_t[]){2, 4, 2}, x);
    H5Fclose(f);
    good[GRAPHS] = slurp(path);
    unlink(path);
}

/* What was accepted is whole. */
static void use_inspector(dls_inspector *insp)
{
    dls_inspector *copy = NULL;
    must(dls_inspector_check(insp, NULL) == DLS_OK);
    must(dls_inspector_save(insp, again, NULL) == DLS_OK);
    must(dls_inspector_load(again, &copy, NULL) == DLS_OK);
    char text[2][DLS_ARCH_TEXT_MAX];
    dls_arch_format(&insp->arch, text[0]);
    dls_arch_format(&copy->arch, text[1]);
    must(strcmp(text[0], text[1]) == 0);
    dls_inspector_destroy(copy);
    dls_setting *made;
    if (insp->arch.n_conditions == 2 && dls_inspector_find(insp, "new") == -2) {
        must(dls_inspector_settle(insp, "new", numbers, &made, NULL) == DLS_OK);
    }
    const double x[4] = {0.5, 1, 0, 2};
    const int64_t row_start[3] = {0, 1, 2};
    const int32_t col[2] = {1, 0};
    const dls_graph g = {2, 2, x, row_start, col, NULL};
    const dls_query q = {0, (int32_t)insp->n_settings - 1};
    const dls_predictor_options o = {.backend = DLS_BACKEND_CPU, .threads = 1};
    dls_predictor *p = NULL;
    dls_profile profile;
    if (insp->arch.n_features == 2 && insp->arch.hidden == 3) {
        must(dls_predictor_create(insp, &o, &p, NULL) == DLS_OK);
        const dls_status status = dls_predict(p, &g, 1, &q, 1, &profile, NULL);
        must(status == DLS_OK || status == DLS_EPREDICTOR);
        dls_predictor_destroy(p);
    }
}

static void use_graphs(dls_graph_reader *r)
{
    for (size_t i = 0; i < dls_graph_reader_n_groups(r); i++) {
        dls_group_shape shape;
        dls_error e = {0};
        if (dls_graph_reader_shape(r, i, &shape, &e) != DLS_OK) {
            must(e.msg[0]);
            continue;
        }
        const size_t most = dls_graph_reader_fit(&shape, 1 << 20);
        if (most > 1 || (size_t)shape.n_nodes * (size_t)shape.n_nodes < (1 << 20)) {
            const dls_graph *g = NULL;
            const size_t n = most < shape.n_graphs ? most : shape.n_graphs;
            const dls_status status = dls_graph_reader_read(r, i, &shape, 0, n, &g, &e);
            must(status == DLS_OK || e.msg[0]);
        }
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    if (!good[0].at) {
        make_good_files();
    }
    if (size < 1) {
        return 0;
    }
    const int kind = data[0] % KINDS;
    write_damaged(path, &good[kind], data + 1, size - 1);
    dls_error e = {0};
    dls_inspector *insp = NULL;
    dls_graph_reader *reader = NULL;
    if (kind == GRAPHS) {
        if (dls_graph_reader_open(path, &reader, &e) == DLS_OK) {
            use_graphs(reader);
        } else {
            must(e.msg[0]);
        }
        dls_graph_reader_close(reader);
    } else {
        const dls_status status = kind != PLAIN ? dls_inspector_load(path, &insp, &e)
                                                : dls_inspector_import(path, NULL, NULL, &insp, &e);
        if (status == DLS_OK) {
            use_inspector(insp);
        } else {
            must(e.msg[0] && !insp);
        }
        dls_inspector_destroy(insp);
    }
    unlink(path);
    unlink(again);
    return 0;
}
