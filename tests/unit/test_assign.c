/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Assignment of models to traces that name none: parsing, drawing by weight, errors, failing
 * allocations.
 */

#include "base/alloc.h"
#include "support/must.h"
#include "support/refuse.h"
#include "traces/assign.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

static const char two_groups[] = "\xef\xbb\xbf" "# from GPUs on, model, batch per GPU, weight\n"
                                 "4 large 8 1\n"
                                 "\n"
                                 "1 small 32 3   # three quarters\n"
                                 "1 tiny 64 1\n";

static dls_assign_table parse(const char *text)
{
    dls_assign_table table;
    MUST(dls_assign_table_parse(text, "table", &table, &e));
    return table;
}

TEST(text_round_trip)
{
    DLS_OWN(dls_assign_table_fini) dls_assign_table table = parse(two_groups);
    char text[256];
    const size_t len = dls_assign_table_print(&table, text, sizeof text);
    assert_string_equal(text, "1 small 32 3\n1 tiny 64 1\n4 large 8 1\n");
    assert_int_equal(len, strlen(text));
    char cut[5];
    assert_int_equal(dls_assign_table_print(&table, cut, sizeof cut), len);
    assert_string_equal(cut, "1 sm");
    assert_int_equal(dls_assign_table_print(&table, NULL, 0), len);
}

TEST(builtin_tables)
{
    assert_string_equal(dls_assign_builtin_name(0), "tiresias");
    assert_null(dls_assign_builtin_text("nobody"));
    for (int i = 0; dls_assign_builtin_name(i); i++) {
        const char *name = dls_assign_builtin_name(i);
        dls_assign_table table = parse(dls_assign_builtin_text(name)), again;
        char text[2048];
        assert_in_range(dls_assign_table_print(&table, text, sizeof text), 1, sizeof text - 1);
        again = parse(text);
        assert_int_equal(again.n, table.n);
        for (size_t k = 0; k < table.n; k++) {
            assert_string_equal(again.entries[k].model, table.entries[k].model);
            assert_true(again.entries[k].weight == table.entries[k].weight);
        }
        dls_assign_table_fini(&table);
        dls_assign_table_fini(&again);
    }
}

static void refused(const char *text, const char *where, const char *part)
{
    dls_assign_table table;
    dls_error err;
    assert_int_equal(dls_assign_table_parse(text, "f", &table, &err), DLS_ECONFIG);
    assert_string_equal(err.where, where);
    if (!strstr(err.msg, part)) {
        fail_msg("\"%s\" does not say \"%s\"", err.msg, part);
    }
    assert_null(table.entries);
}

TEST(bad_text)
{
    char long_line[400];
    memset(long_line, 'x', sizeof long_line - 1);
    long_line[sizeof long_line - 1] = '\0';
    refused("", "f", "without entries");
    refused("# nothing\n\n", "f", "without entries");
    refused("1 a 32 1\n1 a 32\n", "f:2", "expected");
    refused("1 a 32 1 9\n", "f:1", "expected");
    refused("0 a 32 1\n", "f:1", "GPUs \"0\"");
    refused("1.5 a 32 1\n", "f:1", "GPUs");
    refused("2147483648 a 32 1\n", "f:1", "GPUs");
    refused("1 a -3 1\n", "f:1", "batch");
    refused("1 a 32 0\n", "f:1", "weight");
    refused("1 a 32 nan\n", "f:1", "weight");
    refused("1 a 32 inf\n", "f:1", "weight");
    refused(long_line, "f:1", "too long");
    refused("1 abcdefghijabcdefghijabcdefghijabcdefghijabcdefghijabcdefghij 32 1\n", "f:1",
            "too long");
}

/* GPU counts 1, 2, 3, 8 in turn; every tenth job has a model of its own, zero durations happen. */
static dls_trace *sample(int n)
{
    const dls_trace_options opts = {.keep_zero_duration = true};
    static const int64_t gpus[] = {1, 2, 3, 8};
    dls_trace_builder *b;
    dls_trace *trace;
    assert_int_equal(dls_trace_builder_create(&opts, &b, NULL), DLS_OK);
    for (int i = 0; i < n; i++) {
        dls_job_rec rec;
        char id[16];
        dls_job_rec_init(&rec);
        snprintf(id, sizeof id, "j%d", i);
        rec.id = id;
        rec.submit_us = (n - i) * DLS_US_PER_S; /* sorting turns the rows around */
        rec.duration_us = i % 7 * DLS_US_PER_S;
        rec.gpus_milli = gpus[i % 4] * 1000 - (i % 4 == 1 ? 500 : 0);
        rec.model = i % 10 == 0 ? "own" : NULL;
        rec.user = i % 3 ? "u" : NULL;
        rec.batch = i % 10 == 5 ? 77 : DLS_ABSENT;
        rec.priority = i;
        assert_int_equal(dls_trace_builder_add(b, &rec, "row", NULL), DLS_OK);
    }
    dls_trace_builder_skipped(b, "for the test");
    assert_int_equal(dls_trace_builder_finish(b, &trace, NULL), DLS_OK);
    return trace;
}

TEST(assigns)
{
    enum { N = 4000 };
    dls_trace *in = sample(N), *out, *again, *other;
    DLS_OWN(dls_assign_table_fini) dls_assign_table table = parse(two_groups);
    assert_int_equal(dls_trace_assign(in, &table, 3, &out, NULL), DLS_OK);
    assert_int_equal(dls_trace_assign(in, &table, 3, &again, NULL), DLS_OK);
    assert_int_equal(dls_trace_assign(in, &table, 4, &other, NULL), DLS_OK);
    const dls_trace_columns *a = dls_trace_cols(in), *z = dls_trace_cols(out);
    assert_int_equal(z->n, N);
    int small = 0, drawn = 0, differ = 0;
    for (size_t i = 0; i < N; i++) {
        const char *model = dls_trace_model(out, z->model[i]);
        assert_string_equal(dls_trace_id(out, i), dls_trace_id(in, i));
        assert_int_equal(z->submit_us[i], a->submit_us[i]);
        assert_int_equal(z->duration_us[i], a->duration_us[i]);
        assert_int_equal(z->gpus[i], a->gpus[i]);
        assert_int_equal(z->gpus_milli[i], a->gpus_milli[i]);
        assert_int_equal(z->row[i], a->row[i]);
        assert_int_equal(z->priority[i], a->priority[i]);
        assert_int_equal(z->user[i] >= 0, a->user[i] >= 0);
        assert_string_equal(model, dls_trace_model(again, dls_trace_cols(again)->model[i]));
        differ += strcmp(model, dls_trace_model(other, dls_trace_cols(other)->model[i])) != 0;
        const bool own = a->model[i] >= 0;
        assert_int_equal(z->flags[i], a->flags[i] | (own ? 0 : DLS_JOB_ASSIGNED_MODEL));
        if (own) {
            assert_string_equal(model, "own");
            continue;
        }
        const bool large = z->gpus[i] >= 4;
        assert_int_equal(strcmp(model, "large") == 0, large);
        const int64_t per_gpu = large ? 8 : strcmp(model, "small") == 0 ? 32 : 64;
        assert_int_equal(z->batch[i], a->batch[i] != DLS_ABSENT ? 77 : per_gpu * z->gpus[i]);
        drawn += !large;
        small += !large && strcmp(model, "small") == 0;
    }
    /* three quarters, within four standard errors */
    assert_true(fabs(small - .75 * drawn) < 4 * sqrt(.75 * .25 * drawn));
    assert_true(differ > N / 10);
    const dls_trace_info *info = dls_trace_about(out);
    assert_int_equal(info->rows_skipped, 1);
    assert_int_equal(info->flag_count[7], N - N / 10);
    dls_trace_destroy(in);
    dls_trace_destroy(out);
    dls_trace_destroy(again);
    dls_trace_destroy(other);
}

TEST(below_the_smallest_count)
{
    dls_trace *in = sample(8), *out;
    DLS_OWN(dls_assign_table_fini) dls_assign_table table = parse("4 four 1 1\n16 sixteen 1 1\n"), none = {0};
    assert_int_equal(dls_trace_assign(in, &none, 1, &out, NULL), DLS_ECONFIG);
    assert_int_equal(dls_trace_assign(in, &table, 1, &out, NULL), DLS_OK);
    const dls_trace_columns *c = dls_trace_cols(out);
    for (size_t i = 0; i < c->n; i++) {
        assert_string_not_equal(dls_trace_model(out, c->model[i]), "sixteen");
    }
    dls_trace_destroy(in);
    dls_trace_destroy(out);
}

static dls_status parse_and_assign(const dls_trace *in, dls_trace **out)
{
    dls_assign_table table;
    DLS_TRY(dls_assign_table_parse(two_groups, "t", &table, NULL));
    const dls_status status = dls_trace_assign(in, &table, 1, out, NULL);
    dls_assign_table_fini(&table);
    return status;
}

TEST(failed_allocations)
{
    dls_trace *in = sample(40), *out;
    EACH_REFUSED(4, parse_and_assign(in, &out));
    dls_trace_destroy(in);
    dls_trace_destroy(out);
}
