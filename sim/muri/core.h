/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Inside the replay of Muri's simulator: the loop, and what a policy does in it.
 */
#ifndef DLS_MURI_CORE_H
#define DLS_MURI_CORE_H

#include "muri/muri.h"

typedef struct dls_muri_run_job {
    double left; /* iterations */
    double executed, pending, checked;
    double iteration; /* at present, in its group */
    double key;
    int32_t startup; /* at present, of its group */
    int32_t group;   /* see packing.c; -1 */
    bool running, ever;
} dls_muri_run_job;

typedef struct dls_muri dls_muri;

typedef struct dls_muri_policy {
    dls_muri_schedule schedule;
    bool by_gpus;      /* sorted: key x GPUs; muri: attained instead of remaining service */
    bool worst;        /* muri: members take their turns in the worst order */
    bool in_order;     /* muri: groups as the jobs stand in the list, without a matching */
    double together_s; /* an arrival and an end this close are one event; 0: at the same time */
    bool exact_ends;   /* only ends at exactly the same time are one event */
    dls_status (*open)(dls_muri *m, dls_error *err);   /* optional */
    void (*close)(dls_muri *m);                        /* optional */
    void (*arrived)(dls_muri *m, int32_t job);         /* optional */
    void (*ended)(dls_muri *m, int32_t job);           /* optional */
    dls_status (*decide)(dls_muri *m, dls_error *err); /* who runs from now on */
    double (*jump)(const dls_muri *m);   /* optional: when to decide even if nothing happens */
    bool (*restless)(const dls_muri *m); /* optional: would it decide otherwise now? */
} dls_muri_policy;

struct dls_muri {
    const dls_muri_policy *policy;
    dls_muri_cluster cluster;
    dls_muri_trace *trace;
    const dls_muri_job *job; /* [n] */
    dls_muri_run_job *run;   /* [n] */
    int32_t n, next;         /* jobs; the next to arrive */
    int32_t *list;           /* [n_list] pending and running jobs, in the policy's order */
    int32_t n_list;
    int32_t *ending; /* [n_ending] who ends next, */
    int32_t n_ending;
    double end_s; /* and when */
    double now;
    int32_t *free; /* [nodes] GPUs */
    int32_t n_nodes;
    int32_t group_max; /* muri: jobs in a group */
    bool together;     /* muri: no group is taken apart */
    bool testbed;      /* as on the testbed, where policies differ in details */
    void *state;       /* of the policy */
};

static inline bool dls_muri_close(double a, double b)
{
    const double x = a < 0 ? -a : a, y = b < 0 ? -b : b, d = a < b ? b - a : a - b;
    return d <= 1e-9 * (x > y ? x : y);
}

/* All GPUs are free. */
void dls_muri_empty(dls_muri *m);
/* Take GPUs in one switch: a node with room, lowest first; whole nodes, lowest first, and one for
 * the rest. */
bool dls_muri_place(dls_muri *m, int32_t gpus);
void dls_muri_start(dls_muri *m, int32_t job);
/* Those of the list that have a place run, the others do not. */
void dls_muri_start_in_order(dls_muri *m);
/* Stable, ascending by key. */
dls_status dls_muri_sort(int32_t *job, int32_t n, const double *key, dls_error *err) DLS_MUST_CHECK;

/* The testbed's clock around the policy; *n_completed is counted up. */
dls_status dls_muri_run_testbed(dls_muri *m, int32_t *completed, size_t *n_completed,
                                dls_error *err) DLS_MUST_CHECK;
void dls_muri_find_hardware(const char *model, double *ratio, double *restart_s);

/* The groups that muri-s would form of all jobs of a trace, in its order and all of them
 * candidates: group_of[n], numbered through the classes in order. For tests of the matching. */
dls_status dls_muri_group(const dls_muri_cluster *cluster, dls_muri_trace *trace, int32_t *group_of,
                          dls_error *err) DLS_MUST_CHECK;

extern const dls_muri_policy dls_muri_srtf, dls_muri_srsf, dls_muri_tiresias, dls_muri_s,
    dls_muri_l, dls_muri_l_worst, dls_muri_l_in_order, dls_muri_antman, dls_muri_themis;

#endif
