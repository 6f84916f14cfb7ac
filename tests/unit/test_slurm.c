/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * What Slurm says of tasks. The lines are what sacct and squeue of Slurm 22.05 printed for jobs
 * that were made to end so; only those of OUT_OF_MEMORY and NODE_FAIL are after its manual.
 */

#include "dlsim/study.h"
#include "support/test.h"

#include <stdio.h>
#include <string.h>

static void count(dls_slurm_states *s, const char *const *lines)
{
    *s = (dls_slurm_states){.n = 0};
    for (; *lines; lines++) {
        dls_slurm_count(s, *lines);
    }
}

static void expect(const dls_slurm_states *s, const char *want)
{
    char text[400] = "";
    for (size_t i = 0; i < s->n; i++) {
        snprintf(text + strlen(text), sizeof text - strlen(text), "%s%zu %s", i ? ", " : "",
                 s->tasks[i], s->name[i]);
    }
    assert_string_equal(text, want);
}

TEST(accounting)
{
    static const char *const lines[] = {
        "1_0|COMPLETED\n",      "1_1|FAILED\n",   "1_2|FAILED\n",  "1_3|COMPLETED\n",
        "1_6|CANCELLED by 0\n", "7_0|TIMEOUT\n",  "7_1|TIMEOUT\n", "13_0|REQUEUED\n",
        "14_0|OUT_OF_MEMORY\n", "15|NODE_FAIL\n", "16_1|RUNNING",  NULL};
    dls_slurm_states s;
    count(&s, lines);
    expect(&s, "2 COMPLETED, 2 FAILED, 1 CANCELLED, 2 TIMEOUT, 1 REQUEUED, 1 OUT_OF_MEMORY, "
               "1 NODE_FAIL, 1 RUNNING");
}

/* Tasks of an array share a line until they start, or when they never did. */
TEST(arrays)
{
    static const struct {
        const char *line, *want;
    } cases[] = {
        {"1_[2-7]|PENDING\n", "6 PENDING"},
        {"8_[0]|PENDING\n", "1 PENDING"},
        {"12_[0-48:2]|PENDING\n", "25 PENDING"},
        {"10_[0-48:2%2]|CANCELLED by 0\n", "25 CANCELLED"},
        {"11_[0,2,4,6,8,10,12,14,16,19,21-22,24,26,28,31-32,34,36,38,40,42,44,46,48,101,103,107%2]"
         "|PENDING\n",
         "28 PENDING"},
        {"11_[0,2,4,6,8,10,12,14,16,19,21-22,24,26,28,31-32,34,36,38,40,42...%2]|PENDING\n",
         "22 PENDING"},
        {"1_4 PENDING\n", "1 PENDING"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        dls_slurm_states s;
        count(&s, (const char *const[]){cases[i].line, NULL});
        expect(&s, cases[i].want);
    }
}

TEST(nonsense)
{
    static const char *const lines[] = {"",
                                        "\n",
                                        "slurm_load_jobs",
                                        "1_0|",
                                        "1_[|PENDING",
                                        "1_[5-2:0]|PENDING",
                                        "1_0|A_STATE_THAT_IS_LONGER_THAN_ANY",
                                        NULL};
    dls_slurm_states s;
    count(&s, lines);
    expect(&s, "0 PENDING");
    for (int i = 0; i < 40; i++) {
        char line[32];
        snprintf(line, sizeof line, "1_0|S%d\n", i);
        dls_slurm_count(&s, line);
    }
    assert_int_equal(s.n, DLS_SLURM_STATES_MAX);
}
