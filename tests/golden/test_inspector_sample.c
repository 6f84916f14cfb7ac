/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * The shipped weights and graphs give the shipped predictions (tests/golden/inspector/make.sh):
 * float64 to 1e-12, float32 within 1e-5 of the largest, for the three settings of each graph.
 */

#include "dlsim/predictor.h"
#include "predictor/driple/h5io.h"
#include "support/must.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

enum { SETTINGS = 3, GRAPHS_MAX = 8 };

static const char *file(const char *name)
{
    static char path[3][1024];
    static int turn;
    const char *source = getenv("DLSIM_SOURCE");
    turn = (turn + 1) % 3;
    snprintf(path[turn], sizeof path[turn], "%s/tests/golden/inspector/%s", source ? source : ".",
             name);
    return path[turn];
}

static void check_group(dls_predictor *p, dls_graph_reader *r, size_t group, hid_t expected,
                        double tolerance)
{
    dls_group_shape shape;
    const dls_graph *graphs = NULL;
    MUST(dls_graph_reader_shape(r, group, &shape, &e));
    MUST(dls_graph_reader_read(r, group, &shape, 0, shape.n_graphs, &graphs, &e));
    const size_t n = shape.n_graphs * SETTINGS;
    dls_query q[GRAPHS_MAX * SETTINGS];
    dls_profile got[GRAPHS_MAX * SETTINGS];
    double want[GRAPHS_MAX * SETTINGS * DLS_METRICS];
    assert_true(shape.n_graphs <= GRAPHS_MAX);
    for (size_t i = 0; i < n; i++) {
        q[i] = (dls_query){(int32_t)(i / SETTINGS), (int32_t)(i % SETTINGS)};
    }
    MUST(dls_predict(p, graphs, shape.n_graphs, q, n, got, &e));
    char name[256];
    snprintf(name, sizeof name, "%s/output", dls_graph_reader_group(r, group));
    const hid_t set = H5Dopen2(expected, name, H5P_DEFAULT);
    const hid_t space = H5Dget_space(set);
    assert_int_equal(H5Sget_simple_extent_npoints(space), n * DLS_METRICS);
    assert_true(H5Dread(set, H5T_NATIVE_DOUBLE, H5S_ALL, H5S_ALL, H5P_DEFAULT, want) >= 0);
    H5Sclose(space);
    H5Dclose(set);
    double top = 0;
    for (size_t i = 0; i < n * DLS_METRICS; i++) {
        top = fabs(want[i]) > top ? fabs(want[i]) : top;
    }
    assert_true(top > 0.01);
    for (size_t i = 0; i < n * DLS_METRICS; i++) {
        const double g = got[i / DLS_METRICS].metric[i % DLS_METRICS];
        if (!(fabs(g - want[i]) <= tolerance * top)) {
            fail_msg("%s[%zu]: %.17g, expected %.17g", name, i, g, want[i]);
        }
    }
}

TEST(test_sample)
{
    DLS_HOLD(dls_inspector_destroy) dls_inspector *insp = NULL;
    MUST(dls_inspector_load(file("weights.h5"), &insp, &e));
    assert_int_equal(dls_inspector_n_settings(insp), SETTINGS);
    hid_t expected = -1;
    MUST(dls_h5_open(file("expected.h5"), &expected, &e));
    for (int f64 = 0; f64 < 2; f64++) {
        const dls_predictor_options o = {.backend = DLS_BACKEND_CPU,
                                         .precision = f64 ? DLS_PRECISION_F64 : DLS_PRECISION_F32};
        DLS_HOLD(dls_predictor_destroy) dls_predictor *p = NULL;
        dls_graph_reader *r = NULL;
        MUST(dls_predictor_create(insp, &o, &p, &e));
        MUST(dls_graph_reader_open(file("graphs.h5"), &r, &e));
        assert_int_equal(dls_graph_reader_n_groups(r), 4);
        for (size_t g = 0; g < 4; g++) {
            check_group(p, r, g, expected, f64 ? 1e-12 : 1e-5);
        }
        dls_graph_reader_close(r);
    }
    H5Fclose(expected);
}
