/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Jobs that wait, kept in order from pass to pass: those that ask for the same stand in one line, of which only the first
 * has to be looked at when there is no room for it. What a pass costs is then what it starts and how many lines there are,
 * not how many wait.
 *
 *      dls_lines_begin(lines, view, ask, state, err);
 *      for (int32_t job; (job = dls_lines_first(lines, view, 0)) >= 0;) {
 *          if (starts(job) || !is_true_of_its_line) dls_lines_take(lines, job);
 *          else dls_lines_close(lines, job);
 *      }
 */
#ifndef DLS_SCHED_LINES_H
#define DLS_SCHED_LINES_H

#include "dlsim/policy.h"

/* What a job asks for, which does not change while it waits. */
typedef struct dls_line_ask {
    int32_t group; /* lines are looked at by groups, from 0 */
    int32_t gpus, least, pool;
    uint32_t types;
    int64_t part, more; /* whatever else tells lines apart */
    int64_t key;        /* order of the group: by key, then by job */
} dls_line_ask;

/* `out` is preset by gang, least gang, part of a GPU, pool and types: what room depends on. */
typedef void (*dls_line_ask_fn)(void *user, const dls_view *view, int32_t job, dls_line_ask *out);

typedef struct dls_line_node { /* of a pairing heap */
    int64_t key;
    int32_t tie;                  /* -1: a job that stands in no line, -2: and has been seen */
    int32_t child, next, before; /* before: the elder sibling, or the parent */
} dls_line_node;

typedef struct dls_line {
    dls_line_ask ask;
    int32_t first; /* its jobs, a heap; -1: none */
    int64_t jobs;
} dls_line;

typedef struct dls_lines {
    dls_line *line;
    dls_line_node *head; /* [n] where a line stands in its group, by its first */
    dls_line_node *job;  /* [n_jobs] where a job stands in its line */
    int32_t *line_of;    /* [n_jobs] -1: not known yet */
    int32_t *group;      /* [n_groups] the lines that are open and not empty, a heap */
    int32_t *bucket;     /* [n_buckets] of a hash of what is asked for; -1: free */
    int32_t *out;        /* [n_out] that stand in no line: taken, skipped; has room for all that stand, too */
    int32_t *closed;     /* [n_closed] */
    size_t n, cap, head_cap, n_jobs, n_groups, group_cap, n_buckets, standing, n_out, out_cap, n_closed, closed_cap;
    int32_t next; /* whose submission has not been seen */
    int64_t delay_us; /* the policy's, before the first begin, as is the next: from submission until it gets in line */
    bool running;     /* those that run stand in line, too, to be looked at with the others */
} dls_lines;

/* Jobs that have come, or wait again, get in line; all lines are open. O(those +
 * those that run), each times log jobs. */
dls_status dls_lines_begin(dls_lines *l, const dls_view *view, dls_line_ask_fn ask, void *user,
                           dls_error *err) DLS_MUST_CHECK;
/* When the next of those that have come gets in line; DLS_NEVER: they all have. */
int64_t dls_lines_next_us(const dls_lines *l, const dls_view *view);
/* The first of a group's open lines; -1: none. O(1), and log jobs for each whom the placement made a guest of another job's
 * GPUs meanwhile: it stands in no line any more. */
int32_t dls_lines_first(dls_lines *l, const dls_view *view, int32_t group);
/* It stands in a line. */
bool dls_lines_has(const dls_lines *l, int32_t job);
/* One that stands in an open line has been given GPUs, or is passed over: it stands in none until the next begin. O(log jobs). */
void dls_lines_take(dls_lines *l, int32_t job);
/* Its line is not looked at any more, until dls_lines_open or the next begin. */
void dls_lines_close(dls_lines *l, int32_t job);
/* One that was taken stands in line again; all lines are open. */
dls_status dls_lines_again(dls_lines *l, const dls_view *view, dls_line_ask_fn ask, void *user, int32_t job,
                           dls_error *err) DLS_MUST_CHECK;
void dls_lines_open(dls_lines *l);

/* Of dls_lines; `fini` and `clone` of a policy whose state begins with them and owns nothing else.
 */
void dls_lines_fini(void *lines);
dls_status dls_lines_clone(void *lines, const void *from, const dls_view *view,
                           dls_error *err) DLS_MUST_CHECK;

#endif
