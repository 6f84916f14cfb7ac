/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * The native format: every column, and that writing and reading back is the identity.
 */
#include "trace_util.h"

#include "base/rng.h"
#include "traces/trace_impl.h"

#include <stdlib.h>
#include <unistd.h>

static char *temp_path(void)
{
    static char path[64];
    snprintf(path, sizeof path, "/tmp/dlsim-trace-XXXXXX");
    const int fd = mkstemp(path);
    assert_true(fd >= 0);
    close(fd);
    return path;
}

static void assert_same_text(const char *(*get)(const dls_trace *, int32_t), const dls_trace *s,
                             int32_t a, const dls_trace *t, int32_t b)
{
    assert_string_equal(get(s, a), get(t, b));
}

static int32_t code_of(const int32_t *column, size_t job)
{
    return column ? column[job] : -1;
}

static void assert_same(const dls_trace *s, const dls_trace *t)
{
    const dls_trace_columns *a = dls_trace_cols(s), *b = dls_trace_cols(t);
    assert_int_equal(a->n, b->n);
    for (size_t i = 0; i < a->n; i++) {
        assert_string_equal(dls_trace_id(s, i), dls_trace_id(t, i));
        assert_true(a->submit_us[i] == b->submit_us[i]);
        assert_true(a->duration_us[i] == b->duration_us[i]);
        assert_int_equal(a->gpus[i], b->gpus[i]);
        assert_int_equal(a->outcome[i], b->outcome[i]);
        assert_int_equal(a->flags[i], b->flags[i]);
        assert_same_text(dls_trace_model, s, a->model[i], t, b->model[i]);
        assert_same_text(dls_trace_vc, s, a->vc[i], t, b->vc[i]);
        assert_same_text(dls_trace_gpu_types, s, a->gpu_types[i], t, b->gpu_types[i]);
        assert_same_text(dls_trace_user, s, code_of(a->user, i), t, code_of(b->user, i));
        assert_same_text(dls_trace_class, s, code_of(a->job_class, i), t, code_of(b->job_class, i));
        const int64_t *const numbers[][2] = {
            {a->gpus_milli, b->gpus_milli},
            {a->iterations, b->iterations},
            {a->batch, b->batch},
            {a->queue_us, b->queue_us},
            {a->nodes, b->nodes},
            {a->cpu_milli, b->cpu_milli},
            {a->mem_mib, b->mem_mib},
            {a->priority, b->priority},
            {a->deadline_us, b->deadline_us},
            {a->limit_us, b->limit_us},
            {a->estimate_us, b->estimate_us},
            {a->attempts, b->attempts},
        };
        for (size_t k = 0; k < sizeof numbers / sizeof numbers[0]; k++) {
            assert_true(dls_trace_i64(numbers[k][0], i) == dls_trace_i64(numbers[k][1], i));
        }
    }
    assert_string_equal(dls_trace_about(s)->epoch, dls_trace_about(t)->epoch);
    for (int bit = 0; bit < DLS_JOB_FLAG_COUNT; bit++) {
        assert_int_equal(dls_trace_about(s)->flag_count[bit], dls_trace_about(t)->flag_count[bit]);
    }
}

static void assert_round_trip(const dls_trace *trace, const dls_trace_options *opts)
{
    dls_error err = {0};
    const char *path = temp_path();
    DLS_HOLD(dls_trace_destroy) dls_trace *back = NULL;
    if (dls_trace_save_csv(trace, path, &err) != DLS_OK ||
        dls_trace_load(path, NULL, opts, &back, &err) != DLS_OK) {
        unlink(path);
        fail_msg("%s: %s", err.where, err.msg);
    }
    unlink(path);
    assert_string_equal(dls_trace_about(back)->format, "native");
    assert_same(trace, back);
}

TEST(reads_every_column)
{
    DLS_HOLD(dls_trace_destroy) dls_trace *t = must_parse(
        "# epoch: 2020-01-02 03:04:05\n"
        "job_id,num_gpu,submit_time,duration,model_name,iterations,batch_size,user,vc,status,"
        "gpu_type,num_cpu,mem_mib,priority,class,deadline,limit,estimate,queue,nodes,attempts,"
        "flags,colour\n"
        "j1, 2 ,1.5,10.25,resnet50,500,64,u1,vc1,Completed,V100|A100,1.5,2048,3,gold,100,20,11,"
        "0.5,2,1,CLAMPED|CENSORED,red\n"
        "# a remark, no row\n"
        "\"a,\"\"b\"\"\",0.25,0,7,,,,,,,,,,,,,,,,,,,\n"
        " #c,1,0,7,,,,,,,,,,,,,,,,,,,\n"
        "#d,1,0,7,,,,,,,,,,,,,,,,,,,",
        NULL, NULL);
    const dls_trace_columns *c = dls_trace_cols(t);
    const dls_trace_info *info = dls_trace_about(t);
    assert_non_null(strstr(info->notes, "rows that begin with '#', taken for comments: 2\n"));
    assert_string_equal(info->format, "native");
    assert_string_equal(info->epoch, "2020-01-02 03:04:05");
    assert_non_null(strstr(info->notes, "column 'colour' not used: 1"));
    assert_int_equal(c->n, 2);
    assert_string_equal(dls_trace_id(t, 0), "a,\"b\"");
    assert_int_equal(c->gpus[0], 1);
    assert_int_equal(c->gpus_milli[0], 250);
    assert_true(c->duration_us[0] == S(7));
    assert_int_equal(c->outcome[0], DLS_OUTCOME_UNKNOWN);
    assert_int_equal(c->user[0], -1);
    assert_int_equal(c->nodes[0], -1);

    assert_string_equal(dls_trace_id(t, 1), "j1");
    assert_int_equal(c->row[1], 0);
    assert_true(c->submit_us[1] == S(1.5));
    assert_true(c->duration_us[1] == S(10.25));
    assert_int_equal(c->gpus_milli[1], 2000);
    assert_string_equal(dls_trace_model(t, c->model[1]), "resnet50");
    assert_string_equal(dls_trace_vc(t, c->vc[1]), "vc1");
    assert_string_equal(dls_trace_gpu_types(t, c->gpu_types[1]), "V100|A100");
    assert_string_equal(dls_trace_user(t, c->user[1]), "u1");
    assert_string_equal(dls_trace_class(t, c->job_class[1]), "gold");
    assert_int_equal(c->outcome[1], DLS_OUTCOME_COMPLETED);
    assert_int_equal(c->flags[1], DLS_JOB_CLAMPED | DLS_JOB_CENSORED);
    assert_int_equal(c->iterations[1], 500);
    assert_int_equal(c->batch[1], 64);
    assert_int_equal(c->cpu_milli[1], 1500);
    assert_int_equal(c->mem_mib[1], 2048);
    assert_int_equal(c->priority[1], 3);
    assert_true(c->deadline_us[1] == S(100));
    assert_true(c->limit_us[1] == S(20));
    assert_true(c->estimate_us[1] == S(11));
    assert_true(c->queue_us[1] == S(0.5));
    assert_int_equal(c->nodes[1], 2);
    assert_int_equal(c->attempts[1], 1);
    assert_round_trip(t, NULL);
}

TEST(only_two_columns_are_needed)
{
    DLS_HOLD(dls_trace_destroy) dls_trace *t = must_parse("num_gpu,submit_time\n1,0\n2,0\n", NULL, NULL);
    const dls_trace_columns *c = dls_trace_cols(t);
    assert_string_equal(dls_trace_id(t, 1), "1");
    assert_true(c->duration_us[1] == DLS_ABSENT);
    assert_int_equal(dls_trace_about(t)->flag_count[8], 2);
    assert_round_trip(t, NULL);
}

/* Random traces, with odd strings and every column now and then. */
TEST(writing_and_reading_is_the_identity)
{
    static const char *const words[] = {
        "resnet50", "a b",      " lead", "tail ", "#hash", "\"q\"", "x,y", "two\nlines",
        "cr\r",     "\xc3\xa9", "-1",    "nan",   "None",  "0",     "'",   "a|b",
    };
    const size_t n_words = sizeof words / sizeof words[0];
    for (uint64_t seed = 0; seed < 40; seed++) {
        dls_rng rng = dls_rng_stream(seed, DLS_RNG_TEST, 1);
        const dls_trace_options opts = {.keep_zero_duration = seed % 2,
                                        .allow_duplicate_ids = true};
        dls_trace_builder *b = NULL;
        assert_int_equal(dls_trace_builder_create(&opts, &b, NULL), DLS_OK);
        if (seed % 3 == 0) {
            dls_trace_builder_rebase(b, "Z");
        }
        const uint64_t kinds = dls_rng_u64(&rng); /* which columns this trace has */
        for (int i = 0; i < 100; i++) {
            dls_job_rec rec;
            dls_job_rec_init(&rec);
            rec.submit_us = (int64_t)dls_rng_below(&rng, 1u << 30) * (seed % 5 ? 1 : 1000003);
            rec.gpus_milli = (int64_t)(1 + dls_rng_below(&rng, 64)) * (kinds & 1 ? 1000 : 77);
            if (dls_rng_below(&rng, 4)) {
                rec.duration_us = (int64_t)dls_rng_below(&rng, 3) * (int64_t)dls_rng_u32(&rng);
            }
            int64_t *const numbers[] = {&rec.iterations,  &rec.batch,       &rec.queue_us,
                                        &rec.nodes,       &rec.cpu_milli,   &rec.mem_mib,
                                        &rec.priority,    &rec.deadline_us, &rec.limit_us,
                                        &rec.estimate_us, &rec.attempts};
            for (size_t k = 0; k < sizeof numbers / sizeof numbers[0]; k++) {
                if (kinds >> (k + 1) & 1 && dls_rng_below(&rng, 2)) {
                    *numbers[k] = (int64_t)dls_rng_u32(&rng);
                }
            }
            const char **const texts[] = {&rec.id, &rec.model,     &rec.user,
                                          &rec.vc, &rec.gpu_types, &rec.job_class};
            for (size_t k = 0; k < sizeof texts / sizeof texts[0]; k++) {
                if (kinds >> (k + 20) & 1 && dls_rng_below(&rng, 2)) {
                    *texts[k] = words[dls_rng_below(&rng, n_words)];
                }
            }
            if (kinds >> 30 & 1) {
                rec.outcome = (dls_outcome)dls_rng_below(&rng, DLS_OUTCOME_COUNT);
                rec.flags = (uint32_t)dls_rng_below(&rng, 1u << DLS_JOB_FLAG_COUNT) &
                            ~(uint32_t)(DLS_JOB_ZERO_DURATION | DLS_JOB_FRACTIONAL_GPUS);
            }
            assert_int_equal(dls_trace_builder_add(b, &rec, NULL, NULL), DLS_OK);
        }
        DLS_HOLD(dls_trace_destroy) dls_trace *t = NULL;
        assert_int_equal(dls_trace_builder_finish(b, &t, NULL), DLS_OK);
        assert_round_trip(t, &opts);
    }
}

TEST(says_why_it_cannot_write)
{
    DLS_HOLD(dls_trace_destroy) dls_trace *t = must_parse("num_gpu,submit_time\n1,0\n", NULL, NULL);
    dls_error err = {0};
    assert_int_equal(dls_trace_save_csv(t, "/nonexistent/x.csv", &err), DLS_EOUTPUT);
    assert_int_equal(dls_trace_save_csv(t, "/tmp", &err), DLS_EOUTPUT);
    if (access("/dev/full", W_OK) == 0) {
        assert_int_equal(dls_trace_save_csv(t, "/dev/full", &err), DLS_EOUTPUT);
    }
    assert_int_equal(dls_trace_save_csv(t, "/dev/null", &err), DLS_OK);
}
