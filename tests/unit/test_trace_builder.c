/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * The builder: checks, sorting, flags, options, optional columns.
 */
#include "trace_util.h"

#include "support/must.h"
#include "traces/trace_impl.h"

static dls_trace_builder *new_builder(const dls_trace_options *opts)
{
    dls_trace_builder *b = NULL;
    assert_int_equal(dls_trace_builder_create(opts, &b, NULL), DLS_OK);
    return b;
}

static dls_job_rec job(int64_t submit_us, int64_t gpus, int64_t duration_us)
{
    dls_job_rec rec;
    dls_job_rec_init(&rec);
    rec.submit_us = submit_us;
    rec.gpus_milli = gpus * 1000;
    rec.duration_us = duration_us;
    return rec;
}

TEST(sorts_by_time_then_row)
{
    dls_trace_builder *b = new_builder(NULL);
    static const int64_t submit_s[] = {5, 3, 5, 0, 3, 5};
    for (int i = 0; i < 6; i++) {
        dls_job_rec rec = job(S(submit_s[i]), i + 1, S(10 + i));
        char model[16];
        snprintf(model, sizeof model, "m%d", i);
        rec.model = model;
        rec.iterations = i == 4 ? 77 : DLS_ABSENT;
        assert_int_equal(dls_trace_builder_add(b, &rec, "x:1", NULL), DLS_OK);
    }
    DLS_HOLD(dls_trace_destroy) dls_trace *t = NULL;
    assert_int_equal(dls_trace_builder_finish(b, &t, NULL), DLS_OK);
    const dls_trace_columns *c = dls_trace_cols(t);
    static const uint32_t rows[] = {3, 1, 4, 0, 2, 5};
    for (size_t i = 0; i < 6; i++) {
        const uint32_t row = rows[i];
        char text[8];
        assert_int_equal(c->row[i], row);
        assert_true(c->submit_us[i] == S(submit_s[row]));
        assert_true(c->duration_us[i] == S(10 + row));
        assert_int_equal(c->gpus[i], row + 1);
        snprintf(text, sizeof text, "m%u", row);
        assert_string_equal(dls_trace_model(t, c->model[i]), text);
        snprintf(text, sizeof text, "%u", row);
        assert_string_equal(dls_trace_id(t, i), text); /* no id in the file: the row */
        assert_int_equal(dls_trace_i64(c->iterations, i), row == 4 ? 77 : -1);
        assert_int_equal(dls_trace_i64(c->nodes, i), -1);
    }
    assert_null(c->nodes);
    assert_null(c->user);
    assert_null(c->gpus_milli);
    assert_int_equal(dls_trace_n_models(t), 6);
    assert_string_equal(dls_trace_id(t, 6), "");
    assert_string_equal(dls_trace_vc(t, c->vc[0]), "");
}

TEST(raises_keeps_or_drops_zero_durations)
{
    static const dls_trace_options opts[] = {
        {0}, {.keep_zero_duration = true}, {.drop_zero_duration = true}};
    for (int i = 0; i < 3; i++) {
        dls_trace_builder *b = new_builder(&opts[i]);
        const dls_job_rec zero = job(0, 1, 0), one = job(S(1), 1, S(9)), none = job(S(2), 1, -1);
        assert_int_equal(dls_trace_builder_add(b, &zero, NULL, NULL), DLS_OK);
        assert_int_equal(dls_trace_builder_add(b, &one, NULL, NULL), DLS_OK);
        assert_int_equal(dls_trace_builder_add(b, &none, NULL, NULL), DLS_OK);
        DLS_HOLD(dls_trace_destroy) dls_trace *t = NULL;
        assert_int_equal(dls_trace_builder_finish(b, &t, NULL), DLS_OK);
        const dls_trace_columns *c = dls_trace_cols(t);
        const dls_trace_info *info = dls_trace_about(t);
        const size_t n = i == 2 ? 2 : 3;
        assert_int_equal(c->n, n);
        assert_int_equal(info->rows_read, 3);
        assert_int_equal(info->rows_skipped, i == 2);
        assert_int_equal(info->rows_changed, i == 0);
        assert_int_equal(info->flag_count[1], i == 2 ? 0 : 1); /* ZERO_DURATION */
        assert_int_equal(info->flag_count[8], 1);              /* NO_DURATION */
        assert_true(c->duration_us[n - 1] == DLS_ABSENT);
        assert_int_equal(c->flags[n - 1], DLS_JOB_NO_DURATION);
        assert_int_equal(c->row[n - 1], 2);
        if (i < 2) {
            assert_true(c->duration_us[0] == (i == 0 ? S(1) : 0));
            assert_int_equal(c->flags[0], DLS_JOB_ZERO_DURATION);
        } else {
            assert_non_null(strstr(info->notes, "zero or negative duration: 1\n"));
        }
    }
}

TEST(rounds_fractions_of_gpus_up)
{
    dls_trace_builder *b = new_builder(NULL);
    static const int64_t milli[] = {2000, 460, 1000, 2001};
    for (int i = 0; i < 4; i++) {
        dls_job_rec rec = job(S(i), 1, S(1));
        rec.gpus_milli = milli[i];
        assert_int_equal(dls_trace_builder_add(b, &rec, NULL, NULL), DLS_OK);
    }
    DLS_HOLD(dls_trace_destroy) dls_trace *t = NULL;
    assert_int_equal(dls_trace_builder_finish(b, &t, NULL), DLS_OK);
    const dls_trace_columns *c = dls_trace_cols(t);
    static const int32_t gpus[] = {2, 1, 1, 3};
    for (int i = 0; i < 4; i++) {
        assert_int_equal(c->gpus[i], gpus[i]);
        assert_int_equal(c->gpus_milli[i], milli[i]);
        assert_int_equal(c->flags[i], milli[i] % 1000 ? DLS_JOB_FRACTIONAL_GPUS : 0);
    }
}

TEST(refuses_bad_records)
{
    struct {
        dls_job_rec rec;
        const char *part;
    } cases[18];
    for (int i = 0; i < 18; i++) {
        cases[i].rec = job(0, 1, S(1));
    }
    int n = 0;
    cases[n].rec.gpus_milli = 0, cases[n++].part = "at least one GPU";
    cases[n].rec.gpus_milli = -1, cases[n++].part = "negative";
    cases[n].rec.gpus_milli = INT64_C(1000) * DLS_GPUS_MAX + 1, cases[n++].part = "GPUs for one";
    cases[n].rec.submit_us = -1, cases[n++].part = "submission time is negative";
    cases[n].rec.submit_us = DLS_TIME_MAX_US + 1, cases[n++].part = "1000 years";
    cases[n].rec.duration_us = -2, cases[n++].part = "duration is negative";
    cases[n].rec.duration_us = INT64_MAX, cases[n++].part = "1000 years";
    cases[n].rec.deadline_us = INT64_MIN, cases[n++].part = "deadline is negative";
    cases[n].rec.limit_us = -2, cases[n++].part = "limit is negative";
    cases[n].rec.estimate_us = -2, cases[n++].part = "estimate is negative";
    cases[n].rec.queue_us = -2, cases[n++].part = "wait is negative";
    cases[n].rec.iterations = -2, cases[n++].part = "iterations is negative";
    cases[n].rec.priority = -2, cases[n++].part = "priority is negative";
    cases[n].rec.batch = DLS_AMOUNT_MAX + 1, cases[n++].part = "batch size is too large";
    cases[n].rec.cpu_milli = INT64_MAX, cases[n++].part = "CPU request is too large";
    cases[n].rec.mem_mib = INT64_MAX, cases[n++].part = "memory request is too large";
    cases[n].rec.outcome = DLS_OUTCOME_COUNT, cases[n++].part = "outcome";
    cases[n].rec.flags = 1u << DLS_JOB_FLAG_COUNT, cases[n++].part = "flags";
    for (int i = 0; i < n; i++) {
        DLS_HOLD(dls_trace_builder_destroy) dls_trace_builder *b = new_builder(NULL);
        dls_error err = {0};
        assert_int_equal(dls_trace_builder_add(b, &cases[i].rec, "f:7", &err), DLS_EINPUT);
        assert_string_equal(err.where, "f:7");
        if (!strstr(err.msg, cases[i].part)) {
            fail_msg("case %d: '%s' lacks '%s'", i, err.msg, cases[i].part);
        }
        dls_trace *t = NULL;
        assert_int_equal(dls_trace_builder_finish(b, &t, &err), DLS_EINPUT); /* no job in it */
    }
}

/* As long as a cell of a CSV file may be, quotes counted once there. */
TEST(texts_have_the_length_of_cells)
{
    enum { MOST = 65536 };
    static char text[MOST + 2], csv[2 * MOST + 128];
    memset(text, '"', MOST + 1);
    for (int over = 0; over < 2; over++) {
        text[MOST] = over ? '"' : '\0';
        dls_job_rec rec = job(0, 1, S(1));
        const char **const member[] = {&rec.id,   &rec.model,     &rec.vc,
                                       &rec.user, &rec.job_class, &rec.gpu_types};
        for (size_t i = 0; i < sizeof member / sizeof member[0]; i++) {
            DLS_HOLD(dls_trace_builder_destroy) dls_trace_builder *b = new_builder(NULL);
            dls_error err = {0};
            *member[i] = text;
            assert_int_equal(dls_trace_builder_add(b, &rec, "f:7", &err), over ? DLS_EINPUT : DLS_OK);
            assert_true(!over || strstr(err.msg, "has 65537 bytes (at most 65536)"));
            *member[i] = NULL;
        }
        size_t n = (size_t)snprintf(csv, sizeof csv, "job_id,num_gpu,submit_time,duration\n\"");
        memset(csv + n, '"', 2 * strlen(text));
        n += 2 * strlen(text);
        n += (size_t)snprintf(csv + n, sizeof csv - n, "\",1,0,1\n");
        DLS_HOLD(dls_trace_destroy) dls_trace *t = NULL;
        dls_error err = {0};
        assert_int_equal(dls_trace_parse("t", csv, n, "native", NULL, &t, &err),
                         over ? DLS_EINPUT : DLS_OK);
        assert_true(over ? strstr(err.msg, "a cell of 65537 bytes (at most 65536)") != NULL
                         : strcmp(dls_trace_id(t, 0), text) == 0);
    }
}

TEST(ids_are_unique_unless_allowed)
{
    for (int allow = 0; allow < 2; allow++) {
        const dls_trace_options opts = {.allow_duplicate_ids = allow};
        dls_trace_builder *b = new_builder(&opts);
        dls_job_rec rec = job(0, 1, S(1));
        dls_error err = {0};
        rec.id = "a";
        assert_int_equal(dls_trace_builder_add(b, &rec, "f:2", &err), DLS_OK);
        rec.id = "b";
        assert_int_equal(dls_trace_builder_add(b, &rec, "f:3", &err), DLS_OK);
        rec.id = "a";
        assert_int_equal(dls_trace_builder_add(b, &rec, "f:4", &err), allow ? DLS_OK : DLS_EINPUT);
        if (!allow) {
            assert_string_equal(err.where, "f:4");
            assert_non_null(strstr(err.msg, "'a' is not unique (data row 1 has it)"));
            dls_trace_builder_destroy(b);
            continue;
        }
        DLS_HOLD(dls_trace_destroy) dls_trace *t = NULL;
        assert_int_equal(dls_trace_builder_finish(b, &t, &err), DLS_OK);
        assert_string_equal(dls_trace_id(t, 0), "a");
        assert_string_equal(dls_trace_id(t, 1), "b");
        assert_string_equal(dls_trace_id(t, 2), "a");
    }
}

TEST(counts_reasons)
{
    dls_trace_builder *b = new_builder(NULL);
    const dls_job_rec rec = job(0, 1, S(1));
    assert_int_equal(dls_trace_builder_add(b, &rec, NULL, NULL), DLS_OK);
    for (int i = 0; i < 100; i++) {
        char reason[32];
        snprintf(reason, sizeof reason, "reason %d", i % 40);
        dls_trace_builder_skipped(b, reason);
    }
    dls_trace_builder_changed(b, "reason 0");
    DLS_HOLD(dls_trace_destroy) dls_trace *t = NULL;
    assert_int_equal(dls_trace_builder_finish(b, &t, NULL), DLS_OK);
    const dls_trace_info *info = dls_trace_about(t);
    assert_int_equal(info->rows_read, 101);
    assert_int_equal(info->rows_skipped, 100);
    assert_int_equal(info->rows_changed, 1);
    assert_non_null(strstr(info->notes, "reason 0: 4\n")); /* 0, 40, 80 and the change */
    assert_non_null(strstr(info->notes, "other reasons: "));
}

TEST(all_rows_left_out_is_an_error)
{
    dls_trace_builder *b = new_builder(NULL);
    dls_trace_builder_skipped(b, "no GPU");
    dls_trace *t = NULL;
    MUST_FAIL(DLS_EINPUT, "all 1 rows were left out", dls_trace_builder_finish(b, &t, &e));
    dls_trace_builder_destroy(b);
    dls_trace_builder_destroy(NULL);
    dls_trace_destroy(NULL);
}
