/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Option values of policies; the registry; every built-in policy's own table.
 */

#include "base/alloc.h"
#include "base/options.h"
#include "config/registry.h"
#include "config/schema.h"
#include "support/must.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const dls_option table[] = {
    {"flag", DLS_OPT_BOOL, 0, 0, "false", "", "a switch", NULL},
    {"count", DLS_OPT_I64, 1, 64, "8", "", "a number of things", NULL},
    {"slice", DLS_OPT_TIME, 0.5, 3600, "60 s", "", "a time", NULL},
    {"limits", DLS_OPT_TIME_LIST, 0, 1e6, "10,20", "", "ascending times", NULL},
    {"mode", DLS_OPT_STR, 0, 0, "fast", "", "a word", "fast|slow"},
    {"file", DLS_OPT_STR, 0, 0, "", "", "any text", NULL},
    {"size", DLS_OPT_BYTES, 1, 1e12, "80 GiB", "", "a size", NULL},
    {"rate", DLS_OPT_RATE, 0, 1e12, "100 Gb/s", "", "a rate", NULL},
    {"speed", DLS_OPT_FLOPS, 0, 1e15, "15.7 TFLOP/s", "", "a speed", NULL},
    {"steps", DLS_OPT_F64_LIST, 0, 1e6, "0.5", "GPU-s", "ascending numbers", NULL},
    {"end", DLS_OPT_TIME, 1, 3600, "never", "", "a time that may be infinite", NULL},
    {"short", DLS_OPT_STR, 1, 3, "abc", "", "a text of bounded length", NULL},
    {"level", DLS_OPT_STR, -1, 0, "own", "", "a word that is counted from -1", "own|low|high"},
    {0},
};

static dls_status parse(const char *name, const char *text, dls_option_value *out, dls_error *err)
{
    const dls_option *option = dls_options_find(table, name);
    assert_non_null(option);
    return dls_option_parse(option, text, out, err);
}

TEST(good_values)
{
    dls_option_value v;
    assert_int_equal(parse("flag", "true", &v, NULL), DLS_OK);
    assert_true(v.b);
    assert_int_equal(parse("count", "64", &v, NULL), DLS_OK);
    assert_int_equal(v.i, 64);
    assert_int_equal(parse("count", "2.0", &v, NULL), DLS_OK);
    assert_int_equal(v.i, 2);
    assert_int_equal(parse("slice", "1.5 min", &v, NULL), DLS_OK);
    assert_true(v.f > 89.999 && v.f < 90.001);
    assert_int_equal(parse("limits", "[1, 2.5 ,1 h]", &v, NULL), DLS_OK);
    assert_int_equal(v.n_list, 3);
    assert_true(v.list[2] > 3599.9 && v.list[2] < 3600.1);
    assert_int_equal(parse("limits", " ( 1, 2 ) ", &v, NULL), DLS_OK);
    assert_int_equal(v.n_list, 2);
    assert_int_equal(parse("limits", "", &v, NULL), DLS_OK);
    assert_int_equal(v.n_list, 0);
    assert_int_equal(parse("limits", "[ ]", &v, NULL), DLS_OK);
    assert_int_equal(v.n_list, 0);
    assert_int_equal(parse("mode", "slow", &v, NULL), DLS_OK);
    assert_string_equal(v.s, "slow");
    assert_int_equal(v.i, 1);
    assert_int_equal(parse("level", "own", &v, NULL), DLS_OK);
    assert_int_equal(v.i, -1);
    assert_int_equal(parse("file", "a b|c", &v, NULL), DLS_OK);
    assert_int_equal(parse("size", "2 KiB", &v, NULL), DLS_OK);
    assert_true(v.f > 2047.9 && v.f < 2048.1);
    assert_int_equal(parse("rate", "8 kb/s", &v, NULL), DLS_OK);
    assert_true(v.f > 999.9 && v.f < 1000.1);
    assert_int_equal(parse("speed", "1 GFLOP/s", &v, NULL), DLS_OK);
    assert_true(v.f > 0.99e9 && v.f < 1.01e9);
    assert_int_equal(parse("end", "never", &v, NULL), DLS_OK);
    assert_true(isinf(v.f));
}

TEST(bad_values)
{
    static const char *const bad[][3] = {
        {"flag", "yes", "true or false"},
        {"count", "0", "integer 1..64"},
        {"count", "65", "integer 1..64"},
        {"count", "1.5", "integer"},
        {"count", "", "integer"},
        {"slice", "0.4", "expected 0.5 s to 3600 s"},
        {"slice", "never", "expected 0.5 s to 3600 s"},
        {"slice", "5 parsecs", "unknown unit 'parsecs'"},
        {"size", "64", "has no unit"},
        {"size", "2 TiB", "expected "},
        {"rate", "5 GB", "unit"},
        {"speed", "fast", "FLOP/s"},
        {"steps", "1 h", "ascending numbers 0..1000000 GPU-s"},
        {"end", "0.5 s", "expected 1 s"},
        {"end", "2 h", "expected 1 s"},
        {"short", "", "not empty, at most 3 bytes"},
        {"short", "abcd", "at most 3 bytes"},
        {"limits", "20,10", "ascending"},
        {"limits", "10,10", "ascending"},
        {"limits", "1,,2", "ascending"},
        {"limits", "1)20,30", "ascending"},
        {"limits", "[1]20", "ascending"},
        {"limits", "[1,20", "ascending"},
        {"limits", "(1,20]", "ascending"},
        {"limits", "-1", "ascending"},
        {"mode", "fas", "fast|slow"},
        {"mode", "fast|slow", "fast|slow"},
        {"mode", "", "fast|slow"},
        {"limits",
         "1,2,3,4,5,6,7,8,9,10,11,12,13,14,15,16,17,18,19,20,21,22,23,24,25,26,27,28,29,30,"
         "31,32,33",
         "ascending"},
    };
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
        dls_option_value v;
        dls_error err = {0};
        if (parse(bad[i][0], bad[i][1], &v, &err) == DLS_OK) {
            fail_msg("%s = \"%s\" was accepted", bad[i][0], bad[i][1]);
        }
        if (!strstr(err.msg, bad[i][2])) {
            fail_msg("%s", err.msg);
        }
    }
}

TEST(defaults)
{
    DLS_FREED dls_option_value *v = NULL;
    assert_int_equal(dls_options_count(table), 13);
    assert_int_equal(dls_options_count(NULL), 0);
    assert_int_equal(dls_options_defaults(table, &v, NULL), DLS_OK);
    assert_int_equal(v[1].i, 8);
    assert_int_equal(v[3].n_list, 2);
    assert_string_equal(v[4].s, "fast");
    dls_free(v);
    assert_int_equal(dls_options_defaults(NULL, &v, NULL), DLS_OK);
    assert_non_null(v);
}

TEST(broken_tables)
{
    static const dls_option broken[][3] = {
        {{"Upper", DLS_OPT_BOOL, 0, 0, "true", "", "doc", NULL}, {0}},
        {{NULL, DLS_OPT_BOOL, 0, 0, "true", "", "doc", NULL}, {0}},
        {{"a", DLS_OPT_F64, 2, 1, "1", "", "doc", NULL}, {0}},
        {{"a", DLS_OPT_F64, 0, 1, "2", "", "doc", NULL}, {0}},
        {{"a", DLS_OPT_F64, 0, 1, NULL, "", "doc", NULL}, {0}},
        {{"a", DLS_OPT_F64, 0, 1, "1", "", NULL, NULL}, {0}},
        {{"a", DLS_OPT_F64, 0, 1, "1", NULL, "doc", NULL}, {0}},
        {{"a", (dls_option_type)77, 0, 1, "1", "", "doc", NULL}, {0}},
        {{"a", DLS_OPT_GROUP, 0, 1, "", "", "doc", NULL}, {0}},
        {{"a", DLS_OPT_RATE, 0, 1, "1", "", "doc", NULL}, {0}},
        {{"a", DLS_OPT_BOOL, 0, 0, "true", "", "doc", NULL},
         {"a", DLS_OPT_BOOL, 0, 0, "true", "", "doc", NULL},
         {0}},
    };
    assert_int_equal(dls_options_check(table, NULL), DLS_OK);
    for (size_t i = 0; i < sizeof broken / sizeof broken[0]; i++) {
        dls_error err = {0};
        assert_int_equal(dls_options_check(broken[i], &err), DLS_EINPUT);
        assert_true(strlen(err.msg) > 10);
        assert_int_equal(i == 6, strstr(err.msg, "needs a unit, \"\" if it has none") != NULL);
    }
}

/* What is written reads back to the same. */
TEST(there_and_back)
{
    for (const dls_option *o = table; o->type != DLS_OPT_END; o++) {
        char *text[2] = {NULL, NULL};
        dls_option_value v;
        assert_int_equal(dls_option_parse(o, o->def, &v, NULL), DLS_OK);
        for (int i = 0; i < 2; i++) {
            size_t len = 0;
            FILE *out = open_memstream(&text[i], &len);
            assert_non_null(out);
            dls_option_put(out, o, &v);
            assert_int_equal(fclose(out), 0);
            char *bare = text[i] + (*text[i] == '"');
            if (*text[i] == '"') {
                bare[strlen(bare) - 1] = '\0';
            }
            assert_int_equal(dls_option_parse(o, bare, &v, NULL), DLS_OK);
        }
        assert_string_equal(text[0], text[1]);
        free(text[0]);
        free(text[1]);
    }
}

static dls_status do_nothing(void *state, const dls_view *view, dls_actions *out, dls_error *err)
{
    return DLS_OK;
}

/* Every key of the groups of policies is refused as an option of a policy, of either kind. */
TEST(reserved_names)
{
    DLS_HOLD(dls_registry_destroy) dls_registry *reg = NULL;
    size_t n = 0;
    assert_int_equal(dls_registry_create(&reg, NULL), DLS_OK);
    for (int key = 0; key < DLS_CFG_COUNT; key++) {
        if (strncmp(dls_schema[key].o.name, "scheduler.", 10) != 0) {
            continue;
        }
        const dls_option options[] = {
            {dls_schema_leaf(key), DLS_OPT_BOOL, 0, 0, "true", "", "doc", NULL}, {0}};
        const dls_sched_ops ops = {.abi = DLS_POLICY_ABI,
                                   .name = "odd",
                                   .summary = "odd",
                                   .options = options,
                                   .pass = do_nothing};
        MUST_FAIL(DLS_EINPUT, "an option cannot be called", dls_registry_add(reg, &ops, NULL, &e));
        n++;
    }
    assert_int_equal(n, 6);
}

/* What is built in passes the checks that plug-ins must pass. */
TEST(built_in)
{
    dls_registry *reg = NULL;
    assert_int_equal(dls_registry_create(&reg, NULL), DLS_OK);
    size_t n = 0;
    dls_error err = {0};
    for (const dls_sched_ops *const *s = dls_registry_scheds(reg); *s; s++, n++) {
        const dls_sched_ops *found = NULL;
        if (dls_options_check((*s)->options, &err) != DLS_OK) {
            fail_msg("%s: %s", (*s)->name, err.msg);
        }
        assert_int_equal((*s)->abi, DLS_POLICY_ABI);
        assert_int_equal(1, !!(*s)->priority + !!(*s)->pass + !!(*s)->round);
        assert_non_null((*s)->summary);
        /* Found by name, and so names are distinct. */
        assert_int_equal(dls_registry_sched(reg, (*s)->name, &found, NULL), DLS_OK);
        assert_ptr_equal(found, *s);
        assert_string_equal(dls_registry_origin(reg, *s), "");
    }
    assert_true(n >= 14);
    n = 0;
    for (const dls_placement_ops *const *p = dls_registry_placements(reg); *p; p++, n++) {
        const dls_placement_ops *found = NULL;
        if (dls_options_check((*p)->options, &err) != DLS_OK) {
            fail_msg("%s: %s", (*p)->name, err.msg);
        }
        assert_int_equal((*p)->abi, DLS_POLICY_ABI);
        assert_int_equal(dls_registry_placement(reg, (*p)->name, &found, NULL), DLS_OK);
        assert_ptr_equal(found, *p);
    }
    assert_true(n >= 7);
    const dls_sched_ops *sched;
    MUST_FAIL(DLS_ECONFIG, "did you mean 'fifo'?", dls_registry_sched(reg, "fiof", &sched, &e));
    assert_int_equal(dls_registry_load(reg, "/dev/null", &err), DLS_EINPUT);
    assert_int_equal(dls_registry_load(reg, "./no-such-file.so", &err), DLS_EINPUT);
    dls_registry_destroy(reg);
    dls_registry_destroy(NULL);
}
