/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Replayers through the public header alone: their tables, settings that are refused, a run.
 */

#include "dlsim/replayer.h"
#include "support/test.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* A table's first choice, needed and repeated options are there. */
TEST(tables)
{
    size_t n = 0;
    for (const dls_replayer *const *all = dls_replayers(); all[n]; n++) {
        const dls_replayer *r = all[n];
        const char *summary, *names[] = {r->chosen, r->needs, r->repeats};
        assert_non_null(r->choice(0, &summary));
        assert_true(*summary != '\0');
        for (size_t i = 0; i < 3; i++) {
            const dls_option *o = r->options;
            while (names[i] && o->name && strcmp(o->name, names[i]) != 0) {
                o++;
            }
            assert_true(!names[i] || o->name);
        }
    }
    assert_int_equal(n, 7);
}

static void expect(dls_status want, const char *says, const char *replayer, dls_setting setting,
                   const char *input)
{
    const dls_replayer_output to = {.rows = stdout};
    dls_error err;
    assert_int_equal(dls_replayer_run(replayer, &setting, 1, input, &to, &err), want);
    assert_non_null(strstr(err.msg, says));
}

TEST(refused)
{
    expect(DLS_EUSAGE, "did you mean 'muri'", "murri", (dls_setting){"nodes", "1"}, "x");
    expect(DLS_EUSAGE, "no option 'node'", "muri", (dls_setting){"node", "1"}, "x");
    expect(DLS_EUSAGE, "1..16384", "muri", (dls_setting){"nodes", "0"}, "x");
    expect(DLS_EUSAGE, "is empty", "muri", (dls_setting){"schedule", ""}, "x");
    expect(DLS_EUSAGE, "muri has no schedule 'srft' (did you mean 'srtf'?)", "muri",
           (dls_setting){"schedule", "srft"}, "x");
    for (const dls_replayer *const *r = dls_replayers(); *r; r++) {
        if (!(*r)->needs) {
            expect(DLS_EUSAGE, "'none at all'", (*r)->name, (dls_setting){(*r)->chosen, "none at all"},
                   (*r)->input ? "x" : NULL);
        }
    }
    expect(DLS_EUSAGE, "needs the option 'throughputs'", "gavel", (dls_setting){"v100", "4"}, "x");
    expect(DLS_EUSAGE, "reads TRACE.csv", "muri", (dls_setting){"nodes", "1"}, NULL);
    expect(DLS_EUSAGE, "options name", "tiresias", (dls_setting){"num_switch", "1"}, "x");
    expect(DLS_EINPUT, "", "muri", (dls_setting){"nodes", "1"}, "/nowhere.csv");
}

/* One GPU, two jobs, one after the other: tests/cli/muri.sh has it worked out. */
TEST(run)
{
    static const char trace[] =
        "job_id,num_gpu,submit_time,iterations,model_name,batch_size,duration,interval,"
        "iteration_time,resource_time_0,resource_time_1,resource_time_2,priority\n"
        "a,1,0,10,reader,8,10000,0,1000,800,100,100,0\n"
        "b,1,0,10,counter,8,10000,0,1000,100,800,100,0\n";
    const dls_setting settings[] = {
        {"nodes", "2"}, {"gpus", "1"}, {"schedule", "srtf"}, {"nodes", "1"}};
    char path[] = "/tmp/test_replayer_XXXXXX";
    const int fd = mkstemp(path);
    assert_true(fd >= 0 && write(fd, trace, sizeof trace - 1) == sizeof trace - 1);
    close(fd);
    char *rows = NULL, *report = NULL;
    size_t n_rows, n_report;
    const dls_replayer_output to = {.rows = open_memstream(&rows, &n_rows),
                                    .report = open_memstream(&report, &n_report)};
    assert_true(to.rows && to.report);
    assert_int_equal(dls_replayer_run("muri", settings, 4, path, &to, NULL), DLS_OK);
    fclose(to.rows);
    fclose(to.report);
    unlink(path);
    assert_string_equal(rows, "job_id,num_gpu,submit,start,end,executed,pending\n"
                              "a,1,0.000000,0.000000,10.150000,10.150000,0.000000\n"
                              "b,1,0.000000,10.150000,20.300000,10.150000,10.150000\n");
    assert_non_null(strstr(report, "jobs ended   2 of 2\n"));
    free(rows);
    free(report);
}
