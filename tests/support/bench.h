/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * What benchmarks share: clocks, an end for what fails, cases named on the command line.
 */
#ifndef DLS_TESTS_BENCH_H
#define DLS_TESTS_BENCH_H

#include "dlsim/error.h"

#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

static inline double clock_s(clockid_t clock)
{
    struct timespec t;
    clock_gettime(clock, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static inline double wall_s(void)
{
    return clock_s(CLOCK_MONOTONIC);
}

/* Processor time of all threads: on a machine that is shared, the fairer figure. */
static inline double cpu_s(void)
{
    return clock_s(CLOCK_PROCESS_CPUTIME_ID);
}

static inline void must(dls_status status, const dls_error *err)
{
    if (status != DLS_OK) {
        fprintf(stderr, "%s: %s: %s\n", dls_status_name(status), err->where, err->msg);
        exit(1);
    }
}

/* Words that are no options name cases; without any, all are wanted. */
static inline bool is_wanted(const char *name, int argc, char **argv)
{
    bool any = false;
    for (int i = 1; i < argc; i++) {
        any |= argv[i][0] != '-';
        if (strcmp(argv[i], name) == 0) {
            return true;
        }
    }
    return !any;
}

#endif
