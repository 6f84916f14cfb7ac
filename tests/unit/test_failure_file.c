/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Files of failures: the three formats, what is wrong with them, failed allocations.
 */

#define OWN_MAIN
#include "base/alloc.h"
#include "cluster/failures.h"
#include "support/refuse.h"
#include "support/shared.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static char path[] = "/tmp/dlsim-failures-XXXXXX";

static dls_status load(const char *text, int32_t n_nodes, dls_failure_trace *out, dls_error *err)
{
    FILE *f = fopen(path, "w");
    assert_non_null(f);
    fputs(text, f);
    fclose(f);
    return dls_failure_trace_load(path, n_nodes, out, err);
}

static void expect(const dls_failure_trace *t, size_t i, int64_t t_s, int32_t node,
                   dls_failure_what what)
{
    assert_true(i < t->n);
    assert_int_equal(t->event[i].t_us, t_s * 1000000);
    assert_int_equal(t->event[i].node, node);
    assert_int_equal(t->event[i].what, what);
}

TEST(test_events)
{
    dls_failure_trace t;
    dls_error err;
    assert_int_equal(load("# a comment\ntime_s,node,event,part\n30, 1 ,repair\n10.5,1,fail\n"
                          "30,0,link,0.25\r\n30,1,fail\n40,0,drain\n",
                          2, &t, &err),
                     DLS_OK);
    assert_int_equal(t.n, 5);
    assert_int_equal(t.event[0].t_us, 10500000);
    expect(&t, 1, 30, 1, DLS_NODE_REPAIRED); /* within an instant as in the file */
    expect(&t, 2, 30, 0, DLS_LINK_SCALED);
    assert_true(t.event[2].part > 0.2499 && t.event[2].part < 0.2501);
    expect(&t, 3, 30, 1, DLS_NODE_FAILS);
    expect(&t, 4, 40, 0, DLS_NODE_DRAINS);
    dls_failure_trace_fini(&t);
    assert_null(t.event);
}

TEST(test_instances)
{
    DLS_OWN(dls_failure_trace_fini) dls_failure_trace t = {0};
    dls_error err;
    assert_int_equal(load("0,add,a\n0,add,b\n5000,remove,a\n6000,add,c\n7000,add,d\n8000,remove,x\n", 2,
                          &t, &err),
                     DLS_OK);
    assert_int_equal(t.n, 6);
    expect(&t, 0, 0, 0, DLS_NODE_FAILS);
    expect(&t, 1, 0, 1, DLS_NODE_FAILS);
    expect(&t, 2, 0, 0, DLS_NODE_REPAIRED);
    expect(&t, 3, 0, 1, DLS_NODE_REPAIRED);
    expect(&t, 4, 5, 0, DLS_NODE_FAILS);
    expect(&t, 5, 6, 0, DLS_NODE_REPAIRED);
    assert_int_equal(t.left_out, 2); /* d finds no node, x was none */
}

TEST(test_counts)
{
    DLS_OWN(dls_failure_trace_fini) dls_failure_trace t = {0};
    dls_error err;
    assert_int_equal(load("2021-12-31, 23:59:50, 3\n2022-01-01, 00:00:10, 1\n2022-01-01, 00:00:20, 9\n",
                          4, &t, &err),
                     DLS_OK);
    assert_int_equal(t.n, 6);
    expect(&t, 0, 0, 3, DLS_NODE_FAILS);
    expect(&t, 1, 20, 2, DLS_NODE_FAILS);
    expect(&t, 2, 20, 1, DLS_NODE_FAILS);
    expect(&t, 3, 30, 1, DLS_NODE_REPAIRED);
    expect(&t, 5, 30, 3, DLS_NODE_REPAIRED);
    assert_int_equal(t.left_out, 5);
}

TEST(test_bad)
{
    static const struct {
        const char *text, *says;
    } cases[] = {
        {"", "is empty"},
        {"# nothing\n\n", "is empty"},
        {"node,time\n1,2\n", "not a file of failures"},
        {"time_s,event,node\n1,fail,0\n", "expected the header time_s,node,event,part"},
        {"time_s\n1\n", "not a file of failures"},
        {"time_s,node,event\n1,2,fail\n", "no such node"},
        {"time_s,node,event\n1,-1,fail\n", "no such node"},
        {"time_s,node,event\n-1,0,fail\n", "expected time_s"},
        {"time_s,node,event\n1e300,0,fail\n", "expected time_s"},
        {"time_s,node,event\n1,0\n", "expected time_s"},
        {"time_s,node,event\n1,0,explode\n", "fail, drain, repair or link"},
        {"time_s,node,event,part\n1,0,link\n", "the part of its bandwidth"},
        {"time_s,node,event,part\n1,0,link,0\n", "the part of its bandwidth"},
        {"time_s,node,event,part\n1,0,link,1.5\n", "the part of its bandwidth"},
        {"time_s,node,event,part\n1,0,link,nan\n", "the part of its bandwidth"},
        {"5,add,a\n6,swap,b\n", "add or remove"},
        {"5,add,a\nx,add,b\n", "milliseconds"},
        {"5,add,a\n6,add,\n", "milliseconds"},
        {"2021-12-31, 23:59:50, 3\n2021-13-31, 23:59:50, 3\n", "expected date"},
        {"2021-12-31, 23:59:50, 3\n2021-12-31, 23:59:50, -3\n", "expected date"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        dls_failure_trace t;
        dls_error err = {0};
        assert_int_equal(load(cases[i].text, 2, &t, &err), DLS_EINPUT);
        if (!strstr(err.msg, cases[i].says)) {
            fail_msg("case %zu: %s", i, err.msg);
        }
        assert_null(t.event);
    }
    dls_failure_trace t;
    dls_error err;
    assert_int_equal(dls_failure_trace_load("/nowhere/at/all", 2, &t, &err), DLS_EINPUT);
    assert_int_equal(dls_failure_trace_load("/tmp", 2, &t, &err), DLS_EINPUT);
}

TEST(test_alloc)
{
    static const char *const texts[] = {"time_s,node,event\n1,0,fail\n2,0,repair\n", "0,add,a\n",
                                        "2021-12-31, 23:59:50, 1\n"};
    for (int k = 0; k < 3; k++) {
        DLS_OWN(dls_failure_trace_fini) dls_failure_trace t = {0};
        dls_error err;
        EACH_REFUSED_THEN(1, load(texts[k], 2, &t, &err), dls_failure_trace_fini(&t));
    }
}

TEST(test_published)
{
    static const char *const files[] = {"p3-trace.csv", "g4dn-trace.csv",
                                        "gcloud/a100x1-east1b.txt", "gcloud/v100x1-east1c.txt"};
    for (int i = 0; i < 4; i++) {
        char file[256], name[512];
        DLS_OWN(dls_failure_trace_fini) dls_failure_trace t = {0};
        dls_error err;
        snprintf(file, sizeof file, "data/spot_availability/%s", files[i]);
        SHARED_OR_SKIP(file, name);
        assert_int_equal(dls_failure_trace_load(name, 100, &t, &err), DLS_OK);
        assert_true(t.n > 100);
        for (size_t k = 1; k < t.n; k++) {
            assert_true(t.event[k - 1].t_us <= t.event[k].t_us);
        }
    }
}

int main(void)
{
    const int fd = mkstemp(path);
    if (fd < 0) {
        return 1;
    }
    close(fd);
    const int rc = run_listed();
    unlink(path);
    return rc;
}
