/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Elastic jobs: ranges of the trace and of a table, speeds between the points, what is wrong with a table.
 */
#define OWN_MAIN
#include "base/alloc.h"
#include "support/refuse.h"
#include "support/sim_case.h"
#include "support/trace_of.h"
#include "workload/elastic.h"

#include <errno.h>
#include <sys/stat.h>
#include <unistd.h>

static const char path[] = "test_elastic.csv";

static void write_table(const char *text)
{
    FILE *f = fopen(path, "w");
    assert_non_null(f);
    fputs(text, f);
    fclose(f);
}

/* Jobs of the models A, A, B and none; the second says its range itself. */
static dls_trace *make_trace(bool ranges)
{
    static const struct {
        const char *model;
        int64_t gpus, min, max, batch;
    } jobs[] = {{"A", 4, -1, -1, 64}, {"A", 2, 1, 3, -1}, {"B", 2, -1, -1, 256}, {NULL, 2, -1, -1, -1}};
    dls_trace *trace;
    EACH_JOB(job, 4, &trace) {
        job.rec.duration_us = 1000000;
        job.rec.gpus_milli = jobs[job.i].gpus * 1000;
        job.rec.model = jobs[job.i].model;
        job.rec.batch = jobs[job.i].batch;
        if (ranges) {
            job.rec.min_gpus = jobs[job.i].min;
            job.rec.max_gpus = jobs[job.i].max;
        }
    }
    return trace;
}

static dls_cluster_spec cluster;

static double speed(const dls_elastic_jobs *e, int32_t job, int32_t type, int32_t gpus, int64_t batch)
{
    const dls_shape shape = {.type = type, .gpus = gpus, .n_nodes = 1, .n_racks = 1};
    return dls_elastic_speed(e, job, &shape, batch);
}

static void near(double value, double want)
{
    if (!(fabs(value - want) < 1e-12)) {
        fail_msg("%.15g and not %.15g", value, want);
    }
}

TEST(test_rigid)
{
    DLS_HOLD(dls_trace_destroy) dls_trace *trace = make_trace(false);
    dls_elastic_jobs *e;
    assert_int_equal(dls_elastic_create(NULL, trace, &cluster, &e, NULL), DLS_OK);
    assert_null(e);
}

TEST(test_without_table)
{
    DLS_HOLD(dls_trace_destroy) dls_trace *trace = make_trace(true);
    DLS_HOLD(dls_elastic_destroy) dls_elastic_jobs *e = NULL;
    assert_int_equal(dls_elastic_create(NULL, trace, &cluster, &e, NULL), DLS_OK);
    static const int32_t least[] = {4, 1, 2, 2}, most[] = {4, 3, 2, 2};
    assert_memory_equal(dls_elastic_min_gpus(e), least, sizeof least);
    assert_memory_equal(dls_elastic_max_gpus(e), most, sizeof most);
    near(speed(e, 1, 0, 3, DLS_ABSENT), 1.5);
    near(speed(e, 1, 0, 2, 999), 1);
}

TEST(test_table)
{
    write_table("model,gpus,speed,gpu,batch,restore_s\n"
                "a,8,6,,64,30\na,2,2,,64,10.5\na,4,3.5,,64,\n"
                "a,1,3,P100,64,\na,2,5,P100,64,\n"
                "a,2,1,,128,\na,4,4,,128,\n"
                "a,2,1,K80,64,\n"
                "B,1,1,,,\nB,16,8,,,\n");
    DLS_HOLD(dls_trace_destroy) dls_trace *trace = make_trace(true);
    DLS_HOLD(dls_elastic_destroy) dls_elastic_jobs *e = NULL;
    dls_error err;
    if (dls_elastic_create(path, trace, &cluster, &e, &err) != DLS_OK) {
        fail_msg("%s: %s", err.where, err.msg);
    }
    static const int32_t least[] = {1, 1, 1, 2}, most[] = {8, 3, 16, 2};
    assert_memory_equal(dls_elastic_min_gpus(e), least, sizeof least);
    assert_memory_equal(dls_elastic_max_gpus(e), most, sizeof most);
    /* Job 0: 4 GPUs and a batch of 64; its own speed on a V100 is 3.5, on a P100 5 (beyond the last). */
    near(speed(e, 0, 0, 4, DLS_ABSENT), 1);
    near(speed(e, 0, 0, 2, DLS_ABSENT), 2 / 3.5);
    near(speed(e, 0, 0, 1, DLS_ABSENT), 1 / 3.5);
    near(speed(e, 0, 0, 6, 64), (3.5 + 2.5 / 2) / 3.5);
    near(speed(e, 0, 0, 8, 64), 6 / 3.5);
    near(speed(e, 0, 0, 3, 128), 2.5 / 3.5);
    near(speed(e, 0, 0, 3, 100), 2.5 / 3.5);
    near(speed(e, 0, 0, 4, 80), 1);
    near(speed(e, 0, 1, 1, 64), 3.0 / 5);
    near(speed(e, 2, 0, 16, 9), 8 / (1 + 7.0 / 15));
    near(speed(e, 3, 0, 1, DLS_ABSENT), 0.5); /* no model, no row */
    const dls_shape small = {.type = 0, .gpus = 1}, large = {.type = 0, .gpus = 7};
    assert_int_equal(dls_elastic_restore_us(e, 0, &small), 10500000);
    assert_int_equal(dls_elastic_restore_us(e, 0, &large), 30000000);
    assert_int_equal(dls_elastic_restore_us(e, 2, &large), -1);
    assert_int_equal(dls_elastic_restore_us(e, 3, &large), -1);
    dls_elastic_destroy(e);
    EACH_REFUSED_THEN(6, dls_elastic_create(path, trace, &cluster, &e, &err), assert_null(e));
}

static void write_throughputs(const char *folder, const char *text)
{
    char file[256];
    snprintf(file, sizeof file, "test_elastic.d/%s", folder);
    assert_true(mkdir("test_elastic.d", 0777) == 0 || errno == EEXIST);
    assert_true(mkdir(file, 0777) == 0 || errno == EEXIST);
    strcat(file, "/a.csv");
    FILE *f = fopen(file, "w");
    assert_non_null(f);
    fputs(text, f);
    fclose(f);
}

static void remove_throughputs(void)
{
    unlink("test_elastic.d/throughputs_v100/a.csv");
    rmdir("test_elastic.d/throughputs_v100");
    unlink("test_elastic.d/throughputs_K80/a.csv");
    rmdir("test_elastic.d/throughputs_K80");
    rmdir("test_elastic.d");
}

/* A folder as ElasticFlow publishes it; types are told by name, whatever the case. */
TEST(test_folder)
{
    DLS_HOLD(dls_trace_destroy) dls_trace *trace = make_trace(true);
    dls_elastic_jobs *e;
    dls_error err;
    int32_t gpus[4];
    double points[4];
    write_throughputs("throughputs_K80", "global_batch_size,1,64\n64,1,60\n");
    write_throughputs("throughputs_v100", "global_batch_size,1,2,4,8\n64,1.5,2.5,4.5,nan\n128,1,2,3,0\n");
    if (dls_elastic_create("test_elastic.d", trace, &cluster, &e, &err) != DLS_OK) {
        fail_msg("%s: %s", err.where, err.msg);
    }
    assert_int_equal(dls_elastic_min_gpus(e)[0], 1);
    assert_int_equal(dls_elastic_max_gpus(e)[0], 4);
    near(speed(e, 0, 0, 2, DLS_ABSENT), 2.5 / 4.5);
    near(speed(e, 0, 0, 2, 128), 2 / 4.5);
    assert_int_equal(dls_elastic_curve(e, 0, 0, gpus, points, 2), 3);
    assert_int_equal(gpus[1], 2);
    assert_true(points[1] == 2.5);                                    /* as in the file, to the last bit */
    assert_int_equal(dls_elastic_curve(e, 0, 1, gpus, points, 4), 0); /* not measured there */
    assert_int_equal(dls_elastic_curve(e, 2, 0, gpus, points, 4), 0); /* another model */
    dls_elastic_destroy(e);
    write_throughputs("throughputs_v100", "global_batch_size,1\n64\n");
    assert_int_equal(dls_elastic_create("test_elastic.d", trace, &cluster, &e, &err), DLS_EINPUT);
    assert_string_equal(err.where, "test_elastic.d/throughputs_v100/a.csv:2");
    remove_throughputs();
    assert_int_equal(mkdir("test_elastic.d", 0777), 0);
    assert_int_equal(dls_elastic_create("test_elastic.d", trace, &cluster, &e, &err), DLS_EINPUT);
    assert_non_null(strstr(err.msg, "throughputs_<GPU>"));
    remove_throughputs();
}

TEST(test_bad_tables)
{
    static const struct {
        const char *text, *where, *what;
    } bad[] = {
        {"model,gpus\na,1\n", "test_elastic.csv:1", "speed"},
        {"model,gpus,speed\na,0,1\n", "test_elastic.csv:2:3", "GPUs"},
        {"model,gpus,speed\na,1,0\n", "test_elastic.csv:2:5", "speed"},
        {"model,gpus,speed\na,1,-1\n", "test_elastic.csv:2:5", "speed"},
        {"model,gpus,speed\na,1,nan\n", "test_elastic.csv:2:5", "speed"},
        {"model,gpus,speed\n,1,1\n", "test_elastic.csv:2:1", "model"},
        {"model,gpus,speed\na,1,1\na,1,2\n", "test_elastic.csv", "two speeds on 1 GPUs"},
        {"model,gpus,speed,restore_s\na,1,1,-2\n", "test_elastic.csv:2:7", "seconds"},
    };
    dls_trace *trace = make_trace(true);
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
        dls_elastic_jobs *e;
        dls_error err;
        write_table(bad[i].text);
        assert_int_equal(dls_elastic_create(path, trace, &cluster, &e, &err), DLS_EINPUT);
        if (strncmp(err.where, bad[i].where, strlen(bad[i].where)) != 0 || !strstr(err.msg, bad[i].what)) {
            fail_msg("%s: %s", err.where, err.msg);
        }
        assert_null(e);
    }
    dls_elastic_jobs *e;
    assert_int_equal(dls_elastic_create("no/such/file", trace, &cluster, &e, NULL), DLS_EINPUT);
    dls_trace_destroy(trace);
    unlink(path);
}

int main(void)
{
    cluster = case_cluster(1, 4, 0);
    cluster.n_types = 2;
    snprintf(cluster.types[0].name, sizeof cluster.types[0].name, "V100");
    snprintf(cluster.types[1].name, sizeof cluster.types[1].name, "P100");
    const int failed = run_listed();
    free(cluster.groups);
    return failed;
}
