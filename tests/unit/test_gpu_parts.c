/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Parts of GPUs: slices of MIG at their places, the fullest GPU first; and in a simulation eighths
 * of one GPU run as gangs on a node of eight GPUs do, under every order that does not count GPUs.
 */
#include "run_util.h"

#include "cluster/index.h"

#include <stdio.h>
#include <string.h>

/* ---- the index ------------------------------------------------------------------------------- */

static dls_place_index *index_of(bool mig, int32_t nodes, int32_t gpus)
{
    dls_node_group group = {.nodes = nodes, .gpus_per_node = gpus, .type = 0};
    dls_cluster_spec spec = {.n_types = 1, .groups = &group, .n_groups = 1};
    dls_place_index *index;
    spec.types[0] = *dls_gpu_find("A100");
    must(dls_place_index_create(&spec, &index, &err));
    must(dls_parts_create(index, mig, &err));
    return index;
}

static bool take(dls_place_index *index, int32_t gpu, int32_t job, int32_t milli)
{
    const dls_part part = {.job = job, .gpu = gpu, .milli = milli};
    const bool taken = dls_parts_take(index, &part);
    must(dls_place_index_check(index, &err));
    return taken;
}

static void give(dls_place_index *index, int32_t gpu, int32_t job, int32_t milli)
{
    const dls_part part = {.job = job, .gpu = gpu, .milli = milli};
    dls_parts_give(index, &part);
    must(dls_place_index_check(index, &err));
}

TEST(sizes)
{
    assert_int_equal(dls_parts_size(false, 460), 460);
    assert_int_equal(dls_parts_size(false, 1000), 1000);
    const struct {
        int64_t asked;
        int32_t given;
    } mig[] = {{1, 142},   {142, 142}, {143, 285},  {285, 285},  {286, 428},
               {430, 571}, {571, 571}, {572, 1000}, {999, 1000}, {1000, 1000}};
    for (size_t i = 0; i < sizeof mig / sizeof *mig; i++) {
        assert_int_equal(dls_parts_size(true, mig[i].asked), mig[i].given);
    }
}

enum { G1 = 142, G2 = 285, G3 = 428, G4 = 571 };

/* NVIDIA's table of places: 4g + 3g, 3g + 3g, 2g + 2g + 2g + 1g and seven of 1g are whole GPUs. */
TEST(mig)
{
    const struct {
        int32_t slice[8], refused; /* the last does not fit */
    } cases[] = {{{G4, G3, 0}, G1},         {{G3, G3, 0}, G1},
                 {{G3, G4, 0}, G1},         {{G2, G2, G2, G1, 0}, G1},
                 {{G3, G2, G2, 0}, G1},     {{G3, G3, 0}, G2},
                 {{G1, G4, G2, 0}, G1},     {{G4, 0}, G4},
                 {{G1, G1, G1, G4, 0}, G1}, {{G1, G1, G1, G1, G1, G1, G1}, G1}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        DLS_HOLD(dls_place_index_destroy) dls_place_index *index = index_of(true, 1, 1);
        int32_t n = 0;
        for (; n < 8 && cases[i].slice[n] > 0; n++) {
            if (!take(index, 0, n, cases[i].slice[n])) {
                fail_msg("case %zu: slice %d", i, n);
            }
        }
        assert_false(take(index, 0, n, cases[i].refused));
        while (n-- > 0) {
            give(index, 0, n, cases[i].slice[n]);
        }
        assert_int_equal(dls_place_gpu_left(index, 0, 0), 1000);
        assert_int_equal(dls_place_free(index, 0), 1);
    }
    /* Where slices lie decides: 2g that is left alone in the midst lets no 4g in, though 5/7 are
     * free. */
    DLS_HOLD(dls_place_index_destroy) dls_place_index *index = index_of(true, 1, 1);
    assert_true(take(index, 0, 0, G2));
    assert_true(take(index, 0, 1, G2));
    assert_true(take(index, 0, 2, G2));
    give(index, 0, 0, G2);
    give(index, 0, 2, G2);
    assert_int_equal(dls_place_gpu_left(index, 0, 0), G3);
    assert_false(take(index, 0, 3, G4));
    assert_true(take(index, 0, 3, G3));
}

TEST(tightest)
{
    DLS_HOLD(dls_place_index_destroy) dls_place_index *index = index_of(false, 1, 4);
    assert_int_equal(dls_parts_tightest(index, 0, 1, -1), -1);
    assert_true(take(index, 0, 0, 300));
    assert_true(take(index, 1, 1, 600));
    assert_true(take(index, 2, 2, 600));
    assert_int_equal(dls_place_free(index, 0), 1);
    assert_int_equal(dls_parts_tightest(index, 0, 400, -1), 1);
    assert_int_equal(dls_parts_tightest(index, 0, 401, -1), 0);
    assert_int_equal(dls_parts_tightest(index, 0, 0, 1), 2);
    assert_int_equal(dls_parts_tightest(index, 0, 701, -1), -1);
    assert_false(take(index, 0, 3, 701));
    assert_true(take(index, 0, 3, 700)); /* nothing left */
    assert_int_equal(dls_parts_tightest(index, 0, 1, 2), -1);
    /* As many jobs as a GPU may have, and memory. */
    for (int32_t k = 0; k < DLS_GROUP_MAX; k++) {
        assert_true(take(index, 3, 10 + k, 10));
    }
    assert_int_equal(dls_place_gpu_left(index, 0, 3), 0);
    dls_part part = {.gpu = 1, .milli = 100, .bytes = INT64_C(30) << 30};
    assert_true(dls_parts_take(index, &part));
    assert_false(dls_parts_take(index, &part)); /* 60 GiB of 40 */
}

/* ---- simulations ----------------------------------------------------------------------------- */

static int64_t gangs_like_eighths(uint32_t seed)
{
    return 8 * eighths_of_gpu(seed);
}

static dls_simulation *run_of(const char *gpus, const char *scheduler, const dls_trace *trace,
                              dls_setup **setup)
{
    char text[256];
    snprintf(text, sizeof text,
             "schema_version = 1; cluster: { gpu_parts = \"any\"; nodes = ({ name = \"a\"; "
             "count = 1; gpus = %s; gpu_type = \"V100\"; }); };",
             gpus);
    *setup = setup_of(text, scheduler);
    must(dls_setup_set(*setup, "run.audit", "true", &err));
    dls_simulation *sim = simulation_of(*setup, trace);
    must(dls_simulation_run(sim, &err));
    return sim;
}

TEST(eighths)
{
    static const char *const schedulers[] = {"fifo", "fjf", "sjf-duration", "srtf", "easy"};
    for (uint32_t seed = 0; seed < 60; seed++) {
        const char *name = schedulers[seed % 5];
        dls_trace *part = trace_sized(seed, 120, 100, 150, false, eighths_of_gpu),
                  *gang = trace_sized(seed, 120, 100, 150, false, gangs_like_eighths);
        dls_setup *setup[2];
        dls_simulation *a = run_of("1", name, part, &setup[0]),
                       *b = run_of("8", name, gang, &setup[1]);
        dls_result_column x, y;
        static const char *const columns[] = {"start_us", "end_us", "pending_us", "preempts"};
        for (size_t i = 0; i < sizeof columns / sizeof *columns; i++) {
            assert_true(dls_simulation_column(a, DLS_TABLE_JOBS, columns[i], &x));
            assert_true(dls_simulation_column(b, DLS_TABLE_JOBS, columns[i], &y));
            if (memcmp(x.data, y.data, x.n * (i == 3 ? 4 : 8)) != 0) {
                fail_msg("seed %u, %s: %s differs", seed, name, columns[i]);
            }
        }
        assert_true(dls_simulation_view(a)->now_us > 0);
        dls_simulation_destroy(a);
        dls_simulation_destroy(b);
        dls_setup_destroy(setup[0]);
        dls_setup_destroy(setup[1]);
        dls_trace_destroy(part);
        dls_trace_destroy(gang);
    }
}
