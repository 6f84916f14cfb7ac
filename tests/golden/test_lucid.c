/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Per-job equality with the published simulator of Lucid: start, end, queue, checkpoints, node and
 * GPUs of every job of golden/lucid, and for lucid when it shared and how fast it was at the end.
 */
#include "lucid/lucid.h"
#include "support/must.h"
#include "support/shared.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void print_gpus(uint32_t gpus, char *out, size_t size)
{
    size_t n = 0;
    *out = '\0';
    for (int g = 0; g < DLS_LUCID_GPUS; g++) {
        if (gpus >> g & 1) {
            n += (size_t)snprintf(out + n, size - n, n ? "-%d" : "%d", g);
        }
    }
}

/* As a row of the reference. */
static void print_job(const dls_lucid_trace *t, const dls_lucid_job *j, bool lucid, char *out,
                      size_t size)
{
    char gpus[32], at[32] = "";
    size_t n = (size_t)snprintf(out, size, "%s,%lld,%lld,%lld,%d,", dls_strdict_get(&t->ids, j->id),
                                (long long)j->start_s, (long long)j->end_s, (long long)j->queue_s,
                                j->checkpoints);
    print_gpus(j->gpu_mask, gpus, sizeof gpus);
    if (lucid) {
        if (j->shared_s >= 0) {
            snprintf(at, sizeof at, "%lld", (long long)j->shared_s);
        }
        n += (size_t)snprintf(out + n, size - n, "%d,%d,%s,%.6g,", j->profiled, j->done_in_profiler,
                              at, j->rate);
    }
    snprintf(out + n, size - n, "%d,%s", j->first_node, gpus);
}

static void compare(const dls_lucid_trace *t, const char *file, bool lucid)
{
    char path[512], line[512], mine[512];
    size_t rows = 0, wrong = 0;
    assert_true(shared_path(file, path, sizeof path));
    FILE *f = fopen(path, "r");
    assert_non_null(f);
    assert_non_null(fgets(line, sizeof line, f));
    for (; fgets(line, sizeof line, f); rows++) {
        line[strcspn(line, "\r\n")] = '\0';
        const int32_t id = dls_strdict_find(&t->ids, line, strcspn(line, ","));
        assert_true(id >= 0);
        size_t j = 0;
        while (t->job[j].id != id) {
            j++;
        }
        print_job(t, &t->job[j], lucid, mine, sizeof mine);
        if (strcmp(mine, line) != 0 && wrong++ < 3) {
            print_error("%s: %s, expected %s\n", file, mine, line);
        }
    }
    fclose(f);
    printf("%s: %zu of %zu jobs\n", file, rows - wrong, t->n);
    assert_int_equal(t->n, rows);
    assert_int_equal(0, wrong);
}

static void check(const char *name, const char *schedule, const dls_lucid_cluster *cluster)
{
    char file[128], jobs[512], pairs[512], forecast[512];
    DLS_OWN(dls_lucid_trace_fini) dls_lucid_trace trace = {0};
    dls_error err;
    snprintf(file, sizeof file, "golden/lucid/%s_jobs.csv", name);
    if (!shared_path(file, jobs, sizeof jobs) ||
        !shared_path("golden/lucid/colocate_info.csv", pairs, sizeof pairs) ||
        !shared_path("golden/lucid/forecast.csv", forecast, sizeof forecast)) {
        skip();
    }
    assert_int_equal(DLS_OK, dls_lucid_load(jobs, &trace, &err));
    assert_int_equal(DLS_OK, dls_lucid_load_pairs(pairs, &trace, &err));
    assert_int_equal(DLS_OK, dls_lucid_load_forecast(forecast, &trace, &err));
    MUST(dls_lucid_run(cluster, schedule, &trace, &e));
    snprintf(file, sizeof file, "golden/lucid/%s-%s.csv", name, schedule);
    compare(&trace, file, strcmp(schedule, "lucid") == 0);
}

static const dls_lucid_vc mini[] = {{"vcvGl", 20}, {"vcvlY", 2}};
static const dls_lucid_vc july[] = {{"va", 9}, {"vb", 4}, {"vc", 2}};
static const dls_lucid_cluster mini_cluster = {mini, 2, 0, 2, 200, 8},
                               july_cluster = {july, 3, 0, 2, 200, 8};

#define CASE(case_name, schedule)                                                                  \
    TEST(case_name##_##schedule)                                                                   \
    {                                                                                              \
        check(#case_name, #schedule, &case_name##_cluster);                                        \
    }
CASE(mini, fifo)
CASE(mini, sjf)
CASE(mini, srtf)
CASE(mini, tiresias)
CASE(mini, qssf)
CASE(mini, lucid)
CASE(july, qssf)
CASE(july, lucid)
