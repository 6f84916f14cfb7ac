/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Weights and graph files: what is saved is loaded, and every kind of damage is refused with the
 * name of what is wrong.
 */

#define OWN_MAIN
#include "base/alloc.h"
#include "predictor/driple/arch_text.h"
#include "dlsim/predictor.h"
#include "predictor/driple/h5io.h"
#include "predictor/driple/weights.h"
#include "support/must.h"
#include "support/refuse.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static char folder[] = "/tmp/dlsim-inspector-XXXXXX";
static char path[128];
static char other[128];

static dls_inspector *make(const char *arch, int32_t n_settings)
{
    dls_inspector *insp = NULL;
    dls_arch a = dls_arch_default();
    MUST(dls_arch_parse(&a, arch, &e));
    MUST(dls_inspector_create(&a, &insp, &e));
    MUST(dls_inspector_randomise(insp, 3, n_settings, 8, &e));
    return insp;
}

static void same_tensors(const dls_tensors *a, const dls_tensors *b)
{
    assert_int_equal(a->n, b->n);
    for (size_t i = 0; i < a->n; i++) {
        const dls_weight *t = dls_tensors_find(b, a->t[i].spec.name);
        assert_non_null(t);
        assert_int_equal(t->spec.rows, a->t[i].spec.rows);
        assert_int_equal(t->spec.cols, a->t[i].spec.cols);
        assert_int_equal(t->is_f32, a->t[i].is_f32);
        assert_memory_equal(t->data, a->t[i].data,
                            (size_t)dls_tensor_len(&t->spec) * sizeof(double));
    }
}

TEST(test_round_trip)
{
    static const char *const archs[] = {"hidden=16", "conv=gin hidden=16", "conv=gat hidden=16",
                                        "conv=mpnn hidden=16 aggregators=sum,std",
                                        "hidden=16 gru=0 skip=1 depth=fixed n_layers=3"};
    for (int i = 0; i < 5; i++) {
        dls_inspector *a = make(archs[i], 12);
        DLS_HOLD(dls_inspector_destroy) dls_inspector *b = NULL;
        for (int k = 0; k < DLS_METRICS; k++) {
            a->labels.scale[k] = 1.0 / (k + 3);
            a->settings[4].labels.scale[k] = k + 0.1;
            a->settings[4].labels.floor[k] = k % 2 ? 0 : 1e-3;
        }
        a->feature_shift[1] = 0.25;
        a->feature_scale[2] = 1e7;
        snprintf(a->settings[4].gpu_type, sizeof a->settings[4].gpu_type, "V100");
        a->settings[4].n_workers = 10;
        a->settings[4].n_nodes = 3;
        a->features_text = dls_strdup("{\"version\": \"work\"}");
        assert_non_null(a->features_text);
        a->base.t[0].is_f32 = false; /* a tensor in double precision stays so */
        a->base.t[0].data[0] = 1.0 / 3;
        a->op_names = dls_strdup("Conv2D\nMatMul\nRelu");
        a->op_freq = dls_alloc(3 * sizeof(double));
        assert_true(a->op_names && a->op_freq);
        a->op_freq[0] = 0.5;
        a->op_freq[1] = 0.3;
        a->op_freq[2] = 0.2;
        a->n_ops = 3;
        MUST(dls_inspector_save(a, path, &e));
        MUST(dls_inspector_load(path, &b, &e));
        char one[DLS_ARCH_TEXT_MAX];
        char two[DLS_ARCH_TEXT_MAX];
        dls_arch_format(&a->arch, one);
        dls_arch_format(&b->arch, two);
        assert_string_equal(one, two);
        same_tensors(&a->base, &b->base);
        assert_int_equal(b->n_settings, 12);
        for (size_t k = 0; k < 12; k++) {
            assert_string_equal(a->settings[k].name, b->settings[k].name);
            assert_int_equal(a->settings[k].has_conv, b->settings[k].has_conv);
            assert_memory_equal(&a->settings[k].labels, &b->settings[k].labels, sizeof a->labels);
            same_tensors(&a->settings[k].tensors, &b->settings[k].tensors);
        }
        assert_memory_equal(&a->labels, &b->labels, sizeof a->labels);
        assert_true(b->feature_shift[1] == 0.25 && b->feature_scale[2] == 1e7);
        assert_string_equal(b->settings[4].gpu_type, "V100");
        assert_int_equal(b->settings[4].n_workers, 10);
        assert_int_equal(dls_inspector_setting(b, 4).n_nodes, 3);
        assert_string_equal(dls_inspector_features(b), "{\"version\": \"work\"}");
        assert_int_equal(b->n_ops, 3);
        assert_string_equal(b->op_names, a->op_names);
        assert_true(b->op_freq[2] == 0.2);
        dls_inspector_destroy(a);
    }
}

static void refused(const char *says)
{
    dls_error e = {0};
    dls_inspector *insp = NULL;
    assert_int_equal(dls_inspector_load(path, &insp, &e), DLS_EINPUT);
    assert_null(insp);
    if (!strstr(e.msg, says)) {
        fail_msg("\"%s\" does not say \"%s\"", e.msg, says);
    }
}

#define GRU "gru.gru.weight_hh_l0"

static void fresh(void)
{
    DLS_HOLD(dls_inspector_destroy) dls_inspector *a = make("hidden=16", 2);
    MUST(dls_inspector_save(a, path, &e));
}

/* Overwrite one element, optionally with the checksum that goes with it. */
static void poke(const char *name, double value, bool mend)
{
    const hid_t file = H5Fopen(path, H5F_ACC_RDWR, H5P_DEFAULT);
    const hid_t set = H5Dopen2(file, name, H5P_DEFAULT);
    const hid_t space = H5Dget_space(set);
    const size_t n = (size_t)H5Sget_simple_extent_npoints(space);
    double *data = malloc(n * sizeof *data);
    assert_true(data && H5Dread(set, H5T_NATIVE_DOUBLE, H5S_ALL, H5S_ALL, H5P_DEFAULT, data) >= 0);
    data[n / 2] = value;
    assert_true(H5Dwrite(set, H5T_NATIVE_DOUBLE, H5S_ALL, H5S_ALL, H5P_DEFAULT, data) >= 0);
    if (mend) {
        char hex[17];
        dls_h5io_checksum(data, n, true, hex);
        H5Adelete(set, "checksum");
        MUST(dls_h5_put_text(set, "checksum", hex, &e));
    }
    free(data);
    H5Sclose(space);
    H5Dclose(set);
    H5Fclose(file);
}

static void with_file(void (*change)(hid_t file))
{
    fresh();
    const hid_t file = H5Fopen(path, H5F_ACC_RDWR, H5P_DEFAULT);
    assert_true(file >= 0);
    change(file);
    H5Fclose(file);
}

static void drop_tensor(hid_t file)
{
    H5Ldelete(file, "/base/tensors/" GRU, H5P_DEFAULT);
}
static void drop_setting_tensor(hid_t file)
{
    H5Ldelete(file, "/settings/setting1/tensors/conv_layers.2.b", H5P_DEFAULT);
}
static void rename_tensor(hid_t file)
{
    H5Lmove(file, "/base/tensors/" GRU, file, "/base/tensors/gru.other", H5P_DEFAULT, H5P_DEFAULT);
}
static void add_tensor(hid_t file)
{
    H5Lcopy(file, "/base/tensors/" GRU, file, "/base/tensors/zz.other", H5P_DEFAULT, H5P_DEFAULT);
}
static void wrong_shape(hid_t file)
{
    H5Ldelete(file, "/base/tensors/" GRU, H5P_DEFAULT);
    H5Lcopy(file, "/base/tensors/conv_layers.1.W", file, "/base/tensors/" GRU, H5P_DEFAULT,
            H5P_DEFAULT);
}
static void drop_architecture(hid_t file)
{
    H5Adelete_by_name(file, "base", "architecture", H5P_DEFAULT);
}
static void other_architecture(hid_t file)
{
    const hid_t base = H5Gopen2(file, "base", H5P_DEFAULT);
    H5Adelete(base, "architecture");
    MUST(dls_h5_put_text(base, "architecture", "conv=gcn hidden=32", &e));
    H5Gclose(base);
}
static void drop_scale(hid_t file)
{
    H5Ldelete(file, "/settings/setting0/label_scale", H5P_DEFAULT);
}
static void drop_setting(hid_t file)
{
    H5Ldelete(file, "/settings/setting0", H5P_DEFAULT);
}
static void newer_version(hid_t file)
{
    H5Adelete(file, "format_version");
    MUST(dls_h5_put_i64(file, "format_version", 99, &e));
}
static void text_tensor(hid_t file)
{
    H5Ldelete(file, "/base/tensors/" GRU, H5P_DEFAULT);
    const hid_t type = H5Tcopy(H5T_C_S1);
    const hid_t space = H5Screate(H5S_SCALAR);
    H5Dclose(
        H5Dcreate2(file, "/base/tensors/" GRU, type, space, H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT));
    H5Sclose(space);
    H5Tclose(type);
}

TEST(test_damage)
{
    fresh();
    poke("/base/tensors/" GRU, 0.125, false);
    refused("tensor " GRU ": checksum");
    fresh();
    poke("/base/tensors/" GRU, (double)NAN, true);
    refused("tensor " GRU ": element 384 is NaN");
    fresh();
    poke("/settings/setting1/tensors/conv_layers.2.W", (double)INFINITY, true);
    refused("tensor conv_layers.2.W: element 128 is infinite");
    with_file(drop_tensor);
    refused("tensor " GRU " is missing");
    with_file(drop_setting_tensor);
    refused("tensor conv_layers.2.b is missing");
    with_file(rename_tensor);
    refused("tensor " GRU " is missing");
    with_file(add_tensor);
    refused("zz.other");
    with_file(wrong_shape);
    refused("tensor " GRU " has shape (16, 16), expected (48, 16)");
    with_file(text_tensor);
    refused("tensor " GRU);
    with_file(drop_architecture);
    refused("\"architecture\" is missing");
    with_file(other_architecture);
    refused("architecture: checksum");
    with_file(drop_scale);
    refused("label_scale is missing");
    with_file(drop_setting);
    refused("1 settings where the file says 2");
    with_file(newer_version);
    refused("format version 99");
    /* truncation at many places never crashes and is never accepted */
    fresh();
    FILE *f = fopen(path, "rb");
    assert_non_null(f);
    static char bytes[1 << 20];
    const size_t size = fread(bytes, 1, sizeof bytes, f);
    fclose(f);
    assert_true(size > 1000 && size < sizeof bytes);
    for (size_t cut = 0; cut < size; cut += size / 37) {
        f = fopen(path, "wb");
        assert_non_null(f);
        fwrite(bytes, 1, cut, f);
        fclose(f);
        dls_inspector *insp = NULL;
        dls_error e = {0};
        assert_int_equal(dls_inspector_load(path, &insp, &e), DLS_EINPUT);
    }
    remove(path);
    refused("No such file");
}

TEST(test_saving)
{
    DLS_HOLD(dls_inspector_destroy) dls_inspector *a = make("hidden=16", 1);
    dls_error e = {0};
    assert_int_equal(dls_inspector_save(a, "/nowhere/at/all.h5", &e), DLS_EOUTPUT);
    a->base.t[0].data[0] = (double)NAN;
    assert_int_equal(dls_inspector_save(a, path, &e), DLS_EINPUT);
    assert_int_not_equal(access(path, F_OK), 0);
    dls_setting *s = NULL;
    assert_int_equal(dls_inspector_add_setting(a, "base", &s, &e), DLS_EINPUT);
    assert_int_equal(dls_inspector_add_setting(a, "setting0", &s, &e), DLS_EINPUT);
    assert_int_equal(dls_inspector_add_setting(a, "a/b", &s, &e), DLS_EINPUT);
    assert_int_equal(dls_inspector_add_setting(a, "", &s, &e), DLS_EINPUT);
}

/* ---- graphs --------------------------------------------------------------------------------- */

static void write_pair(const char *group, int rank_a, const hsize_t *adj, int rank_x,
                       const hsize_t *x, double fill)
{
    const hid_t file = H5Fcreate(path, H5F_ACC_TRUNC, H5P_DEFAULT, H5P_DEFAULT);
    const hid_t g = H5Gcreate2(file, group, H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT);
    for (int i = 0; i < 2; i++) {
        const hid_t space = H5Screate_simple(i ? rank_x : rank_a, i ? x : adj, NULL);
        const hid_t set = H5Dcreate2(g, i ? "x" : "adj", H5T_NATIVE_DOUBLE, space, H5P_DEFAULT,
                                     H5P_DEFAULT, H5P_DEFAULT);
        const size_t n = (size_t)H5Sget_simple_extent_npoints(space);
        double *data = calloc(n + 1, sizeof *data);
        assert_non_null(data);
        for (size_t k = 0; k < n; k++) {
            data[k] = i ? fill : (double)(k % 3 == 1);
        }
        assert_true(n == 0 ||
                    H5Dwrite(set, H5T_NATIVE_DOUBLE, H5S_ALL, H5S_ALL, H5P_DEFAULT, data) >= 0);
        free(data);
        H5Dclose(set);
        H5Sclose(space);
    }
    H5Gclose(g);
    H5Fclose(file);
}

static void shape_refused(int rank_a, const hsize_t *adj, int rank_x, const hsize_t *x)
{
    dls_graph_reader *r = NULL;
    dls_group_shape shape;
    write_pair("/case", rank_a, adj, rank_x, x, 1);
    MUST(dls_graph_reader_open(path, &r, &e));
    dls_error e = {0};
    assert_int_equal(dls_graph_reader_shape(r, 0, &shape, &e), DLS_EINPUT);
    assert_non_null(strstr(e.where, "/case"));
    dls_graph_reader_close(r);
}

TEST(test_graph_files)
{
    const hsize_t square[3] = {5, 7, 7};
    const hsize_t features[3] = {5, 7, 3};
    write_pair("/case", 3, square, 3, features, 2);
    dls_graph_reader *r = NULL;
    dls_group_shape s;
    MUST(dls_graph_reader_open(path, &r, &e));
    assert_int_equal(dls_graph_reader_n_groups(r), 1);
    assert_string_equal(dls_graph_reader_group(r, 0), "/case");
    MUST(dls_graph_reader_shape(r, 0, &s, &e));
    assert_true(s.n_graphs == 5 && s.n_nodes == 7 && s.n_features == 3 && !s.single);
    const dls_graph *g = NULL;
    for (size_t first = 0; first < 5; first += 2) { /* in slices, as a large file is read */
        const size_t n = first == 4 ? 1 : 2;
        MUST(dls_graph_reader_read(r, 0, &s, first, n, &g, &e));
        for (size_t i = 0; i < n; i++) {
            int64_t edges = 0;
            for (size_t k = 0; k < 49; k++) {
                if (((first + i) * 49 + k) % 3 == 1) {
                    assert_int_equal(g[i].col[edges++], k % 7);
                }
            }
            assert_int_equal(g[i].row_start[7], edges);
            assert_null(g[i].weight);
            assert_true(g[i].x[20] == 2);
        }
    }
    dls_graph_reader_close(r);
    const hsize_t flat[2] = {7, 7};
    const hsize_t flat_x[2] = {7, 3};
    write_pair("/case", 2, flat, 2, flat_x, 1);
    MUST(dls_graph_reader_open(path, &r, &e));
    MUST(dls_graph_reader_shape(r, 0, &s, &e));
    assert_true(s.single && s.n_graphs == 1);
    MUST(dls_graph_reader_read(r, 0, &s, 0, 1, &g, &e));
    dls_graph_reader_close(r);
    shape_refused(3, (hsize_t[]){5, 7, 6}, 3, features);
    shape_refused(3, square, 3, (hsize_t[]){5, 6, 3});
    shape_refused(3, square, 3, (hsize_t[]){4, 7, 3});
    shape_refused(3, square, 2, flat_x);
    shape_refused(1, flat, 1, flat_x);
    shape_refused(2, (hsize_t[]){0, 0}, 2, (hsize_t[]){0, 3});
    dls_error e = {0};
    fresh(); /* an HDF5 file without graphs */
    assert_int_equal(dls_graph_reader_open(path, &r, &e), DLS_EINPUT);
    assert_int_equal(dls_graph_reader_open("/nowhere.h5", &r, &e), DLS_EINPUT);
}

/* A group of 24 links to itself is one group, and looked at once. */
TEST(test_links_in_circles)
{
    const hsize_t square[3] = {5, 7, 7};
    const hsize_t features[3] = {5, 7, 3};
    write_pair("/case", 3, square, 3, features, 2);
    const hid_t file = H5Fopen(path, H5F_ACC_RDWR, H5P_DEFAULT);
    for (int i = 0; i < 24; i++) {
        char name[32];
        snprintf(name, sizeof name, "/case/again%d", i);
        assert_true(H5Lcreate_hard(file, "/case", file, name, H5P_DEFAULT, H5P_DEFAULT) >= 0);
    }
    H5Fclose(file);
    dls_graph_reader *r = NULL;
    MUST(dls_graph_reader_open(path, &r, &e));
    assert_int_equal(dls_graph_reader_n_groups(r), 1);
    assert_string_equal(dls_graph_reader_group(r, 0), "/case");
    dls_graph_reader_close(r);
}

TEST(test_output)
{
    dls_output_writer *w = NULL;
    double rows[4 * DLS_METRICS] = {1, 2, 3};
    MUST(dls_output_writer_create(other, "w.h5", "cpu", &w, &e));
    MUST(dls_output_writer_begin(w, "/a/b", 2, 0, NULL, &e));
    MUST(dls_output_writer_rows(w, rows, 1, &e));
    MUST(dls_output_writer_rows(w, rows, 1, &e));
    MUST(dls_output_writer_begin(w, "/", 1, 4, "p\nq\nr\ns", &e));
    MUST(dls_output_writer_rows(w, rows, 1, &e));
    assert_int_not_equal(access(other, F_OK), 0); /* not before it is whole */
    MUST(dls_output_writer_finish(w, &e));
    dls_output_writer_destroy(w);
    hid_t file = -1;
    MUST(dls_h5_open(other, &file, &e));
    assert_true(dls_h5_has(file, "/a/b/output") && dls_h5_has(file, "output"));
    H5Fclose(file);
    remove(other);
    MUST(dls_output_writer_create(other, "w.h5", "cpu", &w, &e));
    dls_output_writer_destroy(w);
    assert_int_not_equal(access(other, F_OK), 0); /* given up: nothing there */
}

/* ---- failed allocations --------------------------------------------------------------------- */

static dls_status load_and_save(void)
{
    dls_inspector *insp = NULL;
    dls_status status = dls_inspector_load(path, &insp, NULL);
    DLS_THEN(status, dls_inspector_save(insp, other, NULL));
    dls_inspector_destroy(insp);
    return status;
}

TEST(test_out_of_memory)
{
    fresh();
    EACH_REFUSED(21, load_and_save());
    remove(other);
}

static int leave(void **state)
{
    remove(path);
    remove(other);
    return rmdir(folder);
}

int main(void)
{
    if (!mkdtemp(folder)) {
        return 1;
    }
    snprintf(path, sizeof path, "%s/w.h5", folder);
    snprintf(other, sizeof other, "%s/o.h5", folder);
    after_tests = leave;
    return run_listed();
}
