/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Inside the replay of Pollux's simulator: jobs at work, and what a policy does in a round.
 */
#ifndef DLS_POLLUX_CORE_H
#define DLS_POLLUX_CORE_H

#include "pollux/goodput.h"
#include "pollux/pollux.h"
#include "sched/sia_rows.h"

typedef struct dls_pollux_nodes {
    int32_t of[DLS_POLLUX_REPLICAS]; /* [n] the node of each GPU, in the order of taking */
    int32_t n;
} dls_pollux_nodes;

/* A job on a GPU type: its profile and the model of what it has seen. */
typedef struct dls_pollux_on {
    const dls_pollux_app *app; /* NULL: it was not profiled there */
    int32_t gpus_per_node;
    dls_goodput_model model;
    dls_goodput_seen *seen; /* [n_seen] */
    size_t n_seen, cap_seen;
} dls_pollux_on;

typedef struct dls_pollux_run_job {
    dls_pollux_job *job;
    const dls_pollux_app *app;  /* of `type` */
    dls_pollux_nodes now, next; /* next: what the policy gives */
    int32_t type, next_type;    /* type: where it is or was last */
    dls_pollux_on on[DLS_POLLUX_TYPES];
    dls_pollux_where where;
    int32_t local, accum; /* batch of a GPU, steps of accumulation before it is exchanged */
    int64_t restore_s;    /* left */
    double progress;
    bool done, sia;
    int32_t batch;     /* in all; 0: what the model says is best */
    int32_t most_seen; /* replicas it has run on, of any type */
    double sqr, var;   /* latest statistics of gradients */
} dls_pollux_run_job;

typedef struct dls_pollux dls_pollux;

typedef struct dls_pollux_policy {
    dls_pollux_schedule schedule;
    bool sia;    /* in the world of Sia's simulator, which has several GPU types */
    bool learns; /* step times are observed and fitted, and batches chosen by that */
    bool rigid;  /* a job runs on the GPUs that it asks for */
    dls_status (*open)(dls_pollux *p, dls_error *err);   /* optional */
    void (*close)(dls_pollux *p);                        /* optional */
    dls_status (*decide)(dls_pollux *p, dls_error *err); /* fill `next` of the active jobs */
} dls_pollux_policy;

struct dls_pollux {
    const dls_pollux_params *params;
    const dls_pollux_policy *policy;
    dls_pollux_trace *trace;
    dls_pollux_run_job *job; /* [trace->n] */
    int32_t *active;         /* [n_active] submitted and not done, in the order of the trace */
    int32_t n_active;
    int64_t now;
    int32_t gpus;  /* of the cluster, or of its largest type */
    int32_t types; /* nodes of type t: from first[t], below first[t + 1] */
    int32_t first[DLS_POLLUX_TYPES + 1], per_node[DLS_POLLUX_TYPES];
    int32_t most_nodes[DLS_POLLUX_TYPES]; /* of a job: so many were measured */
    int32_t *free;                        /* [nodes of all types] scratch */
    void *state;                          /* of the policy */
};

/* Batch of a GPU and steps of accumulation there. always: one replica accumulates even where the
 * batch is the least one. */
void dls_pollux_choose(const dls_pollux_run_job *j, const dls_pollux_where *where, bool always,
                       int32_t *local, int32_t *accum);
/* What the job's model of where this profile is from is asked with. */
dls_goodput_job dls_pollux_goodput_job(const dls_pollux_run_job *j, const dls_pollux_app *app);
/* A job's row of Sia's programme, and what a change of its allocation is worth then. */
void dls_pollux_sia_row(const dls_pollux_run_job *j, const dls_sia_config *config, int32_t n,
                        double *value);
double dls_pollux_sia_factor(const dls_pollux_run_job *j, int64_t now_s);
/* Jobs without `next` get `count` GPUs each, in this order, from the node with most free ones. */
void dls_pollux_place(dls_pollux *p, const int32_t *order, int32_t n, const int32_t *count);
/* An error of a batch that was not measured where the job is. */
dls_status dls_pollux_unmeasured(const dls_pollux_run_job *j, const dls_pollux_where *where,
                                 int32_t local, dls_error *err);

extern const dls_pollux_policy dls_pollux_tiresias, dls_pollux_optimus, dls_pollux_pollux,
    dls_pollux_siasim;

#endif
