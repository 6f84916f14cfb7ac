/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Per-job equality with the published simulator of Muri: start, end, executed and pending time of
 * every job of golden/muri/<trace>-<schedule>.csv, to 1e-3 s.
 */
#include "base/alloc.h"
#include "muri/core.h"
#include "support/json.h"
#include "support/shared.h"
#include "support/test.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const dls_muri_cluster cluster = {1, 8, 8};

static const dls_muri_job *find(const dls_muri_trace *trace, const char *id)
{
    for (size_t j = 0; j < trace->n; j++) {
        if (strcmp(trace->job[j].id, id) == 0) {
            return &trace->job[j];
        }
    }
    fail_msg("no job %s", id);
    return NULL;
}

static void compare(const char *name, const char *golden, const dls_muri_trace *trace)
{
    FILE *f = fopen(golden, "r");
    char line[512], id[32];
    size_t rows = 0, wrong = 0;
    double most = 0;
    assert_non_null(f);
    assert_non_null(fgets(line, sizeof line, f));
    while (fgets(line, sizeof line, f)) {
        double v[6]; /* GPUs, submission, start, end, executed, pending */
        assert_int_equal(7, sscanf(line, "%31[^,],%lf,%lf,%lf,%lf,%lf,%lf", id, &v[0], &v[1], &v[2],
                                   &v[3], &v[4], &v[5]));
        const dls_muri_job *j = find(trace, id);
        const double got[6] = {j->gpus,  j->submit_s,   j->start_s,
                               j->end_s, j->executed_s, j->pending_s};
        double far = 0;
        for (int i = 0; i < 6; i++) {
            far = fmax(far, fabs(got[i] - v[i]));
        }
        most = fmax(most, far);
        if (!(far <= 1e-3) && wrong++ < 3) {
            print_error("%s: job %s: start %.6f, end %.6f, executed %.6f, expected %s", name, id,
                        j->start_s, j->end_s, j->executed_s, line);
        }
        rows++;
    }
    fclose(f);
    printf("%s: %zu of %zu jobs, largest difference %.2e s\n", name, rows - wrong, rows, most);
    assert_int_equal(trace->n, rows);
    assert_int_equal(0, wrong);
}

static void check(const char *trace_path, const char *name, const char *schedule)
{
    char golden[512], path[512], file[128];
    DLS_OWN(dls_muri_trace_fini) dls_muri_trace trace = {0};
    dls_error err;
    snprintf(file, sizeof file, "golden/muri/%s-%s.csv", name, schedule);
    if (!shared_path(file, golden, sizeof golden) || !shared_path(trace_path, path, sizeof path)) {
        skip();
    }
    assert_int_equal(DLS_OK, dls_muri_load(path, &trace, &err));
    assert_int_equal(DLS_OK, dls_muri_run(&cluster, &(dls_muri_setting){.schedule = schedule},
                                          &trace, NULL, NULL, &err));
    compare(file, golden, &trace);
}

#define TESTBED "golden/muri/testbed/cluster_trace.csv"
#define TRACE1 "data/muri_philly_vcs/trace1.csv"
#define TRACE4 "data/muri_philly_vcs/trace4.csv"
#define CASE(function, trace, name, schedule)                                                      \
    TEST(function)                                                                                 \
    {                                                                                              \
        check(trace, name, schedule);                                                              \
    }
CASE(cluster_srtf, TESTBED, "cluster", "srtf")
CASE(cluster_srsf, TESTBED, "cluster", "srsf")
CASE(cluster_tiresias, TESTBED, "cluster", "tiresias")
CASE(cluster_muri_s, TESTBED, "cluster", "muri-s")
CASE(cluster_muri_l, TESTBED, "cluster", "muri-l")
CASE(cluster_antman, TESTBED, "cluster", "antman")
CASE(trace1_srtf, TRACE1, "trace1", "srtf")
CASE(trace1_srsf, TRACE1, "trace1", "srsf")
CASE(trace1_tiresias, TRACE1, "trace1", "tiresias")

/* ---- the testbed's logs, which are hardware: constants fitted to these two ------------------- */

static int by_size(const void *a, const void *b)
{
    const double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

static double off(double got, double expected)
{
    return 100 * (got / expected - 1);
}

static void check_testbed(const char *schedule)
{
    char name[64], log[512], path[512], line[512], id[32];
    DLS_OWN(dls_muri_trace_fini) dls_muri_trace trace = {0};
    dls_error err;
    double jct[2] = {0}, last[2] = {0}, wrong[400];
    long starts[2] = {0};
    size_t rows = 0;
    snprintf(name, sizeof name, "golden/muri/testbed/%s.csv", schedule);
    if (!shared_path(name, log, sizeof log) || !shared_path(TESTBED, path, sizeof path)) {
        skip();
    }
    assert_int_equal(DLS_OK, dls_muri_load(path, &trace, &err));
    assert_int_equal(
        DLS_OK, dls_muri_run(&cluster, &(dls_muri_setting){.schedule = schedule, .testbed = true},
                             &trace, NULL, NULL, &err));
    FILE *f = fopen(log, "r");
    assert_non_null(f);
    assert_non_null(fgets(line, sizeof line, f));
    for (; fgets(line, sizeof line, f); rows++) {
        double submit, end;
        long n;
        assert_int_equal(
            4, sscanf(line, "%31[^,],%*d,%lf,%*f,%lf,%*f,%*f,%ld", id, &submit, &end, &n));
        const dls_muri_job *j = find(&trace, id);
        assert_true(rows < 400);
        wrong[rows] = fabs(off(j->end_s - j->submit_s, end - submit));
        jct[0] += j->end_s - j->submit_s;
        jct[1] += end - submit;
        last[0] = fmax(last[0], j->end_s);
        last[1] = fmax(last[1], end);
        starts[0] += j->starts;
        starts[1] += n;
    }
    fclose(f);
    assert_int_equal(trace.n, rows);
    qsort(wrong, rows, sizeof *wrong, by_size);
    printf("testbed, %s: average JCT %+.2f %%, makespan %+.2f %%, per job %.2f %% in the median "
           "and %.2f %% at "
           "p90, %ld starts for %ld\n",
           schedule, off(jct[0], jct[1]), off(last[0], last[1]), wrong[rows / 2],
           wrong[rows * 9 / 10], starts[0], starts[1]);
    assert_true(fabs(off(jct[0], jct[1])) < 3);
    assert_true(fabs(off(last[0], last[1])) < 1);
    assert_true(wrong[rows / 2] < 3);
    assert_true(fabs(off((double)starts[0], (double)starts[1])) < 3);
}

/* The average JCT of a trace, or with all its jobs there at the start. */
static double average(const char *name, const dls_muri_setting *setting, bool at_once)
{
    char path[512];
    dls_muri_trace trace;
    dls_error err;
    double sum = 0;
    SHARED_OR_SKIP(name, path);
    assert_int_equal(DLS_OK, dls_muri_load(path, &trace, &err));
    for (size_t j = 0; at_once && j < trace.n; j++) {
        trace.job[j].submit_s = 0;
    }
    assert_int_equal(DLS_OK, dls_muri_run(&cluster, setting, &trace, NULL, NULL, &err));
    for (size_t j = 0; j < trace.n; j++) {
        sum += trace.job[j].end_s - trace.job[j].submit_s;
    }
    sum /= (double)trace.n;
    dls_muri_trace_fini(&trace);
    return sum;
}

/* The averages that Muri's authors print (draw_fig9-10.py and draw_fig11-13.py of their
 * repository), in seconds: of the traces, and with all jobs there at the start, where ends,
 * demotions and bookings hang on the last bit of sums. */
TEST(averages)
{
    static const struct {
        const char *path, *schedule;
        double jct_s, at_once_s;
    } published[] = {
        {TRACE1, "srtf", 1370603, 2303544},     {TRACE1, "srsf", 980141, 1801860},
        {TRACE1, "tiresias", 3330371, 6921683}, {TRACE1, "antman", 5476391, 9808251},
        {TRACE4, "srtf", 581983, 1430856},      {TRACE4, "srsf", 487167, 1218502},
        {TRACE4, "tiresias", 1319383, 2674023}, {TRACE4, "antman", 2212463, 4676093},
    };
    for (size_t i = 0; i < 2 * sizeof published / sizeof published[0]; i++) {
        const dls_muri_setting setting = {.schedule = published[i / 2].schedule};
        assert_int_equal(i % 2 ? published[i / 2].at_once_s : published[i / 2].jct_s,
                         llround(average(published[i / 2].path, &setting, i % 2)));
    }
}

/* Likewise of Muri and of its ablations, which are those of groups that stay together. */
TEST(averages_together)
{
    static const struct {
        const char *schedule;
        int32_t most;
        bool at_once;
        double jct_s;
    } published[] = {
        {"muri-s", 4, false, 867705.7941},       {"muri-l", 4, false, 1072009.71},
        {"muri-s", 4, true, 1467191.905},        {"muri-l", 4, true, 2141936.535},
        {"muri-l-worst", 4, false, 1482465.078}, {"muri-l", 2, true, 2624732.58},
        {"muri-l", 3, true, 2738962.215},        {"muri-l-in-order", 4, false, 1192784.955}};
    for (size_t i = 0; i < sizeof published / sizeof *published; i++) {
        const dls_muri_setting setting = {published[i].schedule, published[i].most, true, false};
        assert_true(fabs(average(TRACE1, &setting, published[i].at_once) - published[i].jct_s) <
                    1e-3);
    }
}

/* Groups without a matching, of at most two, three and four: averages by a second implementation,
 * from the same description, to whose starts, ends and executed times each of the 400 jobs is equal
 * within 5e-7 s. */
TEST(in_order)
{
    static const double jct_s[] = {356504.787214, 294634.759194, 140677.135007};
    for (int32_t most = 2; most <= 4; most++) {
        const dls_muri_setting setting = {.schedule = "muri-l-in-order", .group_max = most};
        assert_true(fabs(average("golden/muri/testbed/cluster_trace.csv", &setting, false) -
                         jct_s[most - 2]) < 1e-5);
    }
}

/* The averages that Muri's authors print for Themis, whose program has many optima: within 10 %. */
TEST(themis)
{
    static const struct {
        const char *path;
        double jct_s;
    } published[] = {{TRACE1, 1823179}, {TRACE4, 994971}};
    for (size_t i = 0; i < 2; i++) {
        const dls_muri_setting setting = {.schedule = "themis"};
        const double jct_s = average(published[i].path, &setting, false);
        printf("themis, %s: average JCT %+.2f %%\n", published[i].path,
               off(jct_s, published[i].jct_s));
        assert_true(fabs(off(jct_s, published[i].jct_s)) < 10);
    }
}

TEST(testbed_srsf)
{
    check_testbed("srsf");
}

TEST(testbed_tiresias)
{
    check_testbed("tiresias");
}

/* ---- golden/muri/matching.json --------------------------------------------------------------- */

static json_object *read_instances(void)
{
    char path[512];
    SHARED_OR_SKIP("golden/muri/matching.json", path);
    json_object *all = json_object_from_file(path);
    assert_non_null(all);
    return all;
}

static dls_stages stages_of(json_object *all, const char *model, int gpus)
{
    char name[64];
    snprintf(name, sizeof name, "%s/%d", model, gpus);
    json_object *p = member(member(all, "profiles_s"), name);
    double v[4];
    for (size_t i = 0; i < 4; i++) {
        v[i] = json_object_get_double(json_object_array_get_idx(p, i));
    }
    return (dls_stages){v[0], v[1], v[2], v[3]};
}

/* To the last bit. */
TEST(group_times)
{
    DLS_HOLD(json_object_put) json_object *all = read_instances();
    json_object *list = member(all, "interleaving");
    for (size_t i = 0; i < json_object_array_length(list); i++) {
        json_object *one = json_object_array_get_idx(list, i), *models = member(one, "models");
        dls_stages stages[4];
        const dls_stages *job[4];
        const size_t k = json_object_array_length(models);
        for (size_t j = 0; j < k; j++) {
            stages[j] = stages_of(all, json_object_get_string(json_object_array_get_idx(models, j)),
                                  json_object_get_int(member(one, "gpus")));
            job[j] = &stages[j];
        }
        const double time =
            dls_stages_group_time(job, (int32_t)k, dls_stages_overhead, false, false);
        assert_true(time == strtod(json_object_get_string(member(one, "best_s")), NULL));
        assert_true(dls_stages_group_time(job, (int32_t)k, dls_stages_overhead, false, true) ==
                    strtod(json_object_get_string(member(one, "worst_s")), NULL));
    }
    printf("%zu groups\n", json_object_array_length(list));
}

/* The jobs of an instance, as a trace. */
static void read_jobs(json_object *all, json_object *one, dls_muri_trace *trace, dls_muri_job *jobs)
{
    json_object *classes = member(one, "classes_in_order");
    *trace = (dls_muri_trace){.job = jobs};
    for (size_t c = 0; c < json_object_array_length(classes); c++) {
        json_object *class = json_object_array_get_idx(classes, c);
        json_object *models = json_object_array_get_idx(class, 1);
        const int gpus = json_object_get_int(json_object_array_get_idx(class, 0));
        for (size_t i = 0; i < json_object_array_length(models); i++) {
            const char *model = json_object_get_string(json_object_array_get_idx(models, i));
            assert_in_range(trace->n, 0, 255);
            jobs[trace->n] = (dls_muri_job){
                .gpus = gpus, .profile = (int32_t)trace->n, .stages = stages_of(all, model, gpus)};
            trace->n++;
        }
    }
    trace->n_profiles = (int32_t)trace->n;
}

TEST(groups)
{
    DLS_HOLD(json_object_put) json_object *all = read_instances();
    json_object *list = member(all, "matching");
    size_t wrong = 0;
    for (size_t i = 0; i < json_object_array_length(list); i++) {
        json_object *one = json_object_array_get_idx(list, i);
        dls_muri_job jobs[256];
        int32_t group_of[256], n = 0;
        dls_muri_trace trace;
        dls_error err;
        bool equal = true;
        read_jobs(all, one, &trace, jobs);
        const dls_muri_cluster gpus = {1, 1, json_object_get_int(member(one, "capacity"))};
        assert_int_equal(DLS_OK, dls_muri_group(&gpus, &trace, group_of, &err));
        struct json_object_iter it;
        json_object_object_foreachC(member(one, "groups"), it)
        {
            json_object *of_class = it.val;
            for (size_t g = 0; g < json_object_array_length(of_class); g++, n++) {
                json_object *members = json_object_array_get_idx(of_class, g);
                for (size_t k = 0; k < json_object_array_length(members); k++) {
                    const int job = json_object_get_int(json_object_array_get_idx(members, k));
                    equal &= group_of[job] == n;
                }
            }
        }
        wrong += !equal;
        if (!equal) {
            print_error("instance %zu: %s\n", i, json_object_to_json_string(one));
            for (size_t j = 0; j < trace.n; j++) {
                print_error(" %d", group_of[j]);
            }
        }
    }
    printf("%zu instances, %zu wrong\n", json_object_array_length(list), wrong);
    assert_int_equal(0, wrong);
}
