/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Per-job equality with the published simulator of Pollux: job completion times that it ships, and
 * first start, end, restarts and GPU time of every job of its deterministic schedules.
 */
#include "base/alloc.h"
#include "base/csv.h"
#include "pollux/goodput.h"
#include "pollux/pollux.h"
#include "support/json.h"
#include "support/must.h"
#include "support/shared.h"

#include <math.h>

static dls_pollux_apps apps;

static int set_up(void **state)
{
    char folder[512], points[512];
    dls_error err;
    if (!shared_path("data/pollux_aws_t4", folder, sizeof folder) ||
        !shared_path("golden/pollux/points.csv", points, sizeof points)) {
        exit(77);
    }
    return dls_pollux_apps_load(folder, points, &apps, &err) == DLS_OK ? 0 : -1;
}

static int tear_down(void **state)
{
    dls_pollux_apps_fini(&apps);
    return 0;
}

/* Columns of a golden file against results; returns rows that differ. */
static size_t compare(const char *path, const char *schedule, const dls_pollux_trace *t,
                      const char *const *name, size_t n_names)
{
    dls_csv csv;
    dls_error err;
    bool more;
    size_t wrong = 0, row = 0;
    assert_int_equal(DLS_OK, dls_csv_open(&csv, path, &err));
    assert_int_equal(DLS_OK, dls_csv_header(&csv, &err));
    for (; dls_csv_next(&csv, &more, &err) == DLS_OK && more; row++) {
        const dls_pollux_job *j = &t->job[row];
        const int64_t got[] = {j->end_s - j->submit_s, j->first_s, j->end_s, j->restarts, j->gpu_s};
        bool equal = dls_csv_is(&csv, dls_csv_find(&csv, "name"), j->id);
        for (size_t i = 0; i < n_names; i++) {
            char column[64];
            int64_t want;
            snprintf(column, sizeof column, "%s_%s", schedule, name[i]);
            assert_int_equal(DLS_OK, dls_csv_i64(&csv, dls_csv_find(&csv, column), "a number", 0, 0,
                                                 INT64_MAX, &want, &err));
            equal = equal && want == got[n_names == 1 ? 0 : i + 1];
        }
        if (!equal && wrong++ < 3) {
            print_error("%s: %s: job %s ends at %lld\n", path, schedule, j->id,
                        (long long)j->end_s);
        }
    }
    dls_csv_fini(&csv);
    assert_int_equal(t->n, row);
    return wrong;
}

static void replay(const char *load, int workload, const char *schedule)
{
    static const char *const jct[] = {"jct"};
    static const char *const all[] = {"first", "completion", "restarts", "gpu_seconds"};
    const dls_pollux_params params = {
        .nodes = 16, .gpus_per_node = 4, .interval_s = 60, .schedule = schedule};
    char name[128], path[512];
    DLS_OWN(dls_pollux_trace_fini) dls_pollux_trace t = {0};
    dls_error err;
    snprintf(name, sizeof name, "golden/pollux/workloads/%s/workload-%d.csv", load, workload);
    assert_true(shared_path(name, path, sizeof path));
    assert_int_equal(DLS_OK, dls_pollux_load(path, &apps, &t, &err));
    if (dls_pollux_run(&params, &t, NULL, &err) != DLS_OK) {
        fail_msg("%s: %s: %s", name, err.where, err.msg);
    }
    snprintf(name, sizeof name, "golden/pollux/published/%s/workload-%d.csv", load, workload);
    assert_true(shared_path(name, path, sizeof path));
    assert_int_equal(0, compare(path, schedule, &t, jct, 1));
    snprintf(name, sizeof name, "golden/pollux/runs/%s/workload-%d.csv", load, workload);
    assert_true(shared_path(name, path, sizeof path));
    assert_int_equal(0, compare(path, schedule, &t, all, 4));
    printf("%s, workload %d, %s: all %zu jobs equal\n", load, workload, schedule, t.n);
}

static const char *const loads[] = {"load-0.5", "load-1.0", "load-1.5", "load-2.0"};
static const int workloads[] = {1, 3, 4, 6, 7};

static void all_of(const char *schedule)
{
    for (size_t l = 0; l < 4; l++) {
        for (size_t w = 0; w < 5; w++) {
            replay(loads[l], workloads[w], schedule);
        }
    }
}

TEST(tiresias)
{
    all_of("tiresias");
}

TEST(optimus)
{
    all_of("optimus");
}

/* Its search is random: their average of this workload is a draw as ours is. All workloads:
 * docs/schedulers-elastic.md. */
TEST(pollux)
{
    const dls_pollux_params params = {
        .nodes = 16, .gpus_per_node = 4, .interval_s = 60, .schedule = "pollux", .seed = 1};
    const double published = 1310.525;
    char path[512];
    DLS_OWN(dls_pollux_trace_fini) dls_pollux_trace t = {0};
    dls_error err;
    double jct = 0;
    assert_true(shared_path("golden/pollux/workloads/load-0.5/workload-3.csv", path, sizeof path));
    assert_int_equal(DLS_OK, dls_pollux_load(path, &apps, &t, &err));
    MUST(dls_pollux_run(&params, &t, NULL, &e));
    for (size_t i = 0; i < t.n; i++) {
        assert_int_equal(t.job[i].epochs, t.job[i].app->epochs);
        jct += (double)(t.job[i].end_s - t.job[i].submit_s) / (double)t.n;
    }
    printf("average JCT %.1f s, published %.1f s\n", jct, published);
    assert_true(fabs(jct / published - 1) < 0.03);
}

/* ---- goodput_units.json: the model alone ----------------------------------------------------- */

/* Our fit is no worse than theirs; optima given their parameters are equal. */
static void unit(const char *app, json_object *limits, json_object *one, dls_goodput_seen *seen,
                 size_t *n, size_t *optima)
{
    json_object *list = member(one, "observations"), *params = member(one, "params");
    dls_goodput_model theirs = {0}, ours = {0};
    if (json_object_is_type(list, json_type_array)) {
        *n = json_object_array_length(list);
        for (size_t i = 0; i < *n; i++) {
            json_object *o = json_object_array_get_idx(list, i);
            seen[i] = (dls_goodput_seen){(int32_t)number(o, 0), (int32_t)number(o, 1),
                                         (int32_t)number(o, 2), number(o, 3), number(o, 4)};
        }
    }
    for (size_t k = 0; k < DLS_GOODPUT_PARAMS; k++) {
        theirs.p[k] = number(params, k);
    }
    const double want = json_object_get_double(member(one, "objective_after_prior"));
    assert_true(fabs(dls_goodput_error(seen, *n, theirs.p, NULL) - want) <= 1e-9);
    dls_goodput_fit(&ours, seen, *n);
    const double got = dls_goodput_error(seen, *n, ours.p, NULL);
    if (!(got <= want + 1e-6)) {
        fail_msg("%s, %s: error %.9f, theirs %.9f", app, json_object_get_string(member(one, "set")),
                 got, want);
    }
    const dls_goodput_job job = {
        .least = json_object_get_int(member(limits, "b0")),
        .most = json_object_get_int(member(limits, "b_max")),
        .local_min = json_object_get_int(member(limits, "l_min")),
        .local_max = json_object_get_int(member(limits, "l_max")),
        .sqr = json_object_get_double(member(one, "grad_sqr")),
        .var = json_object_get_double(member(one, "grad_var")),
    };
    list = member(one, "optimum");
    for (size_t i = 0; i < json_object_array_length(list); i++, ++*optima) {
        json_object *o = json_object_array_get_idx(list, i);
        int32_t local, accum;
        const double best = dls_goodput_best(&theirs, &job, (int32_t)number(o, 0),
                                             (int32_t)number(o, 1), &local, &accum);
        assert_true(fabs(best / number(o, 2) - 1) <= 1e-9);
        assert_int_equal((int)number(o, 3), local);
        assert_int_equal((int)number(o, 4), accum);
    }
}

TEST(goodput)
{
    char path[512];
    size_t fits = 0, optima = 0, n = 0;
    static dls_goodput_seen seen[4096];
    assert_true(shared_path("golden/pollux/goodput_units.json", path, sizeof path));
    DLS_HOLD(json_object_put) json_object *all = json_object_from_file(path);
    assert_non_null(all);
    const struct json_object_iterator end = json_object_iter_end(all);
    struct json_object_iterator at = json_object_iter_begin(all);
    for (; !json_object_iter_equal(&at, &end); json_object_iter_next(&at)) {
        json_object *limits = json_object_iter_peek_value(&at), *cases = member(limits, "cases");
        for (size_t i = 0; i < json_object_array_length(cases); i++, fits++) {
            unit(json_object_iter_peek_name(&at), limits, json_object_array_get_idx(cases, i), seen,
                 &n, &optima);
        }
    }
    printf("%zu fits, %zu optima\n", fits, optima);
}

GROUP(set_up, tear_down)
