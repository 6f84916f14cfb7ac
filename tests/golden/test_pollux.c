/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Per-job equality with the published simulator of Pollux: job completion times that it ships, and
 * first start, end, restarts and GPU time of every job of its deterministic schedules.
 */
#include "base/alloc.h"
#include "base/csv.h"
#include "pollux/pollux.h"
#include "support/shared.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

static dls_pollux_apps apps;

static int set_up(void **state)
{
    char folder[512], points[512];
    dls_error err;
    (void)state;
    if (!shared_path("data/pollux_aws_t4", folder, sizeof folder) ||
        !shared_path("golden/pollux/points.csv", points, sizeof points)) {
        exit(77);
    }
    return dls_pollux_apps_load(folder, points, &apps, &err) == DLS_OK ? 0 : -1;
}

static int tear_down(void **state)
{
    (void)state;
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
    const dls_pollux_params params = {16, 4, 60, schedule};
    char name[128], path[512];
    dls_pollux_trace t;
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
    dls_pollux_trace_fini(&t);
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

static void tiresias(void **state)
{
    (void)state;
    all_of("tiresias");
}

static void optimus(void **state)
{
    (void)state;
    all_of("optimus");
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(tiresias), cmocka_unit_test(optimus)};
    return cmocka_run_group_tests(tests, set_up, tear_down);
}
