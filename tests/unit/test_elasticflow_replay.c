/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * What the replay of ElasticFlow's simulator cannot run is refused with the job's name.
 */
#define OWN_MAIN
#include "elasticflow/replay.h"
#include "support/sim_setup.h"
#include "support/test.h"
#include "support/trace_of.h"

#include <unistd.h>

static const char path[] = "test_elasticflow.csv";

typedef struct one_job {
    int64_t submit_us, iterations, batch, deadline_us;
    const char *model;
} one_job;

static dls_status replay(const one_job *of, size_t n, dls_record **rec, size_t *late,
                         dls_error *err)
{
    dls_trace *trace;
    dls_elastic_jobs *speeds;
    dls_cluster_spec cluster = case_cluster(2, 2, 0);
    EACH_JOB(job, n, &trace) {
        job.rec.id = job.i == 0 ? "first" : "other";
        job.rec.submit_us = of[job.i].submit_us;
        job.rec.duration_us = S(10);
        job.rec.gpus_milli = 1000;
        job.rec.iterations = of[job.i].iterations;
        job.rec.batch = of[job.i].batch;
        job.rec.deadline_us = of[job.i].deadline_us;
        job.rec.model = of[job.i].model;
    }
    assert_int_equal(dls_elastic_create(path, trace, &cluster, &speeds, err), DLS_OK);
    assert_int_equal(dls_record_create(n, rec, NULL), DLS_OK);
    const dls_elasticflow_params p = {
        .nodes = 2, .gpus_per_node = 2, .slot_s = 60, .speeds = speeds, .gpu = "A100"};
    const dls_status status = dls_elasticflow_replay(&p, trace, *rec, late, err);
    dls_elastic_destroy(speeds);
    dls_trace_destroy(trace);
    free(cluster.groups);
    return status;
}

static void write_table(void)
{
    FILE *f = fopen(path, "w");
    assert_non_null(f);
    fputs("model,gpus,speed,batch\na,1,1,64\na,2,2,64\na,4,4,64\n", f);
    fclose(f);
}

/* 600 iterations at 1, 2, 4 a second. The job gets all four GPUs: 150 s, planned until 180 s, and 8
 * s for its start. The arrival at 1 s is put off to 60 s, when 208 iterations are done: 98 s more,
 * planned until 180 s, and 2 s because something has happened. The second job's deadline is past.
 * The specification's own program gives the same. */
TEST(test_two)
{
    const one_job of[] = {{0, 600, 64, S(3600), "a"}, {S(1), 600, 64, S(0), "a"}};
    DLS_HOLD(dls_record_destroy) dls_record *rec = NULL;
    dls_error err;
    size_t late;
    assert_int_equal(replay(of, 2, &rec, &late, &err), DLS_OK);
    assert_int_equal(rec->state[0], DLS_JOB_FINISHED);
    assert_int_equal(rec->state[1], DLS_JOB_DECLINED);
    assert_int_equal(rec->start_us[0], 0);
    assert_int_equal(rec->end_us[0], S(182));
    assert_int_equal(late, 0);
}

TEST(test_bad)
{
    const struct {
        one_job job;
        const char *what;
    } bad[] = {
        {{0, DLS_ABSENT, 64, S(9), "a"}, "no iterations"},
        {{0, 1, 64, DLS_ABSENT, "a"}, "no deadline"},
        {{0, 1, 64, S(9), "b"}, "does not have"},
        {{0, 1, 65, S(9), "a"}, "does not have"},
        {{S(0.5), 1, 64, S(9), "a"}, "whole seconds"},
        {{0, 1, 64, S(9.5), "a"}, "whole seconds"},
    };
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        DLS_HOLD(dls_record_destroy) dls_record *rec = NULL;
        dls_error err = {0};
        size_t late;
        assert_int_equal(replay(&bad[i].job, 1, &rec, &late, &err), DLS_EINPUT);
        if (!strstr(err.msg, bad[i].what) || !strstr(err.msg, "first")) {
            fail_msg("'%s' and not '%s'", err.msg, bad[i].what);
        }
    }
}

int main(void)
{
    write_table();
    const int failed = run_listed();
    unlink(path);
    return failed;
}
