/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * The truth of the simulated world, for all running jobs at once: how fast each progresses on the
 * GPUs it holds, with who shares its links and its GPUs.
 *
 *      job + where it sits --> truth model: time of an iteration alone (trace, table, operator)
 *                          --> GPUs shared with another job: interference
 *                          --> links shared with other jobs: max-min fair bandwidth, solved with
 *                              the rates to their fixed point
 *                          --> rate: work seconds per second
 *
 * Work is counted in seconds at the reference: what the trace says a job takes, or its iterations
 * times its iteration time at the configured reference setting. A rate is the reference iteration
 * time over the present one, in fixed point (perf.h).
 *
 * The engine tells the world who starts and stops and asks once per instant which rates changed.
 * Only jobs whose share of a link or GPU a change can move are looked at. Deterministic: the same
 * calls in the same order give the same rates. One world belongs to one run and one thread.
 */
#ifndef DLS_WORLD_WORLD_H
#define DLS_WORLD_WORLD_H

#include "dlsim/policy.h"
#include "dlsim/trace.h"
#include "cluster/power.h"
#include "record/facts.h"
#include "workload/kinds.h"
#include "world/perf.h"

/* One node's part of the GPUs that a job holds. */
typedef struct dls_seat {
    uint64_t mask; /* GPUs of the node */
    int32_t node;
} dls_seat;

typedef struct dls_rate_change {
    int32_t job;
    int64_t rate; /* > 0 */
} dls_rate_change;

/* What a truth model says of a job alone on a shape: all that contention needs. With a bandwidth of
 * x bytes per second on each node's link an iteration takes
 *
 *      exchange = fixed_s + link_bytes / x
 *      time     = compute_s - overlap_s + (overlap_s^gamma + exchange^gamma)^(1/gamma)
 *
 * which is iteration_s for x = line_bps. The residual is in all of it. */
typedef struct dls_solo {
    double iteration_s;  /* with every link to itself */
    double compute_s;    /* of it, what does not depend on the exchange */
    double overlap_s;    /* of compute_s, behind which the exchange can hide */
    double gamma;        /* how well it hides: 1 not at all, large: perfectly */
    double fixed_s;      /* of the exchange, what does not depend on the network's bandwidth */
    double link_bytes;   /* per iteration over each node's link, one direction; 0: no network */
    double line_bps;     /* of the slowest link on the way when it is free; 0: no network */
    double gpu_util;     /* 0..1, mean over an iteration; 0 unknown */
    double mem_util;     /* 0..1, GPU memory bandwidth; 0 unknown */
    double mem_bytes;    /* GPU memory held on each GPU; 0 unknown */
    double checkpoint_bytes; /* weights and optimiser state; 0 unknown */
    bool measured;       /* table: the model is in it; else all of this means nothing */
} dls_solo;

typedef struct dls_world_params {
    const dls_cluster_spec *cluster;
    const dls_trace *trace;
    const char *stand_ins;      /* for unknown models (dls_model_lookup_among); may be NULL */
    const dls_kinds *kinds;     /* of the trace with these stand-ins, borrowed; NULL: the world finds them */
    dls_memo *memo;             /* of kinds that it finds; borrowed, may be NULL */
    uint64_t seed;
    const char *model;          /* "trace", "table", "operator", ...: one of dls_truths() (truth.h) */
    const dls_energy_params *power; /* speeds: for its power limit; NULL: none */
    const char *speeds;         /* speeds: "H100=2.3; A100=1.4" */
    const char *table_path;     /* table: measured throughputs */
    const char *hardware_dir;   /* operator: gpus.cfg, links.cfg, operator.cfg; NULL: built in or the
                                   usual places */
    const char *host, *fabric;  /* operator: constants of the cluster, names in operator.cfg; may be
                                   NULL */
    const char *software;       /* operator: what is said of the programs that train (workload/software.h); NULL:
                                   nothing */
    const char *exchange;       /* "allreduce", "ps-sync", "ps-async" */
    const char *allreduce;      /* one of dls_allreduce_names (operator/topology.h) */
    const char *numeric;        /* "fp32", "tf32", "fp16" */
    const char *reference_gpu;  /* of work in seconds; NULL: the first GPU type of the cluster */
    bool sized; /* operator: its version that knows sizes (docs/operator.md) */
    double residual_sigma;      /* of a job in one node: log-normal, per (model, GPU); 0: none */
    double network_residual_sigma; /* in several: per (model, GPU, link) */
    double residual_shared;     /* part of its variance that like jobs have in common (residual.h) */
    bool contention;            /* links are shared; false: each job has its own */
    double jitter;    /* standard deviation of an iteration's length over its mean, which takes jobs out of step
                         whose bursts were shifted (interleave.h); 0: none */
    double pull_back; /* so far off, in iterations, a job is pulled back; above 0.5: nobody is */
    const char *stages_path;    /* profiles of stages for jobs that share GPUs (stage_table.h); NULL: none */
    double stages_overlap;      /* of the stages of jobs that share GPUs: 0 none, 1 all that can */
    double interference_knee, interference_slope; /* of GPUs that jobs share: speed = 1 - slope *
                                   max(0, U - knee), U the sum of their solo GPU utilisations, at least
                                   1 / jobs; fit to 1,388 measured pairs: 0.80, 0.310 */
    bool memory_bandwidth; /* GPUs that are shared have one memory: no job is faster than 1 / sum of use */
    bool guests_yield; /* of jobs that share a GPU the eldest is not slowed down, the others have what the
                          elder ones leave */
    const char *variability_path, *variability_classes; /* how GPUs of a type differ (variability.h);
                                                           NULL: not at all */
    double interference_sigma; /* what of it no law knows: each model beside each other on a type of GPU
                                  is faster or slower by a normal number of its own; 0: none */
} dls_world_params;

void dls_world_params_init(dls_world_params *p);

typedef struct dls_world dls_world;

/* Cluster, trace and strings are borrowed for the world's life. Errors: ECONFIG (unknown truth model,
 * reference GPU, exchange, precision, host or fabric; files of the operator model), EINPUT (a table
 * that cannot be read, a job with neither duration nor iterations), ENOMEM. What is guessed instead of refused is counted (dls_world_about). O(jobs log jobs). */
dls_status dls_world_create(const dls_world_params *p, dls_world **out, dls_error *err) DLS_MUST_CHECK;
void dls_world_destroy(dls_world *w); /* NULL-safe */
/* *out: another world in the same state, with a truth model of its own. Errors: as dls_world_create. */
dls_status dls_world_copy(const dls_world *from, dls_world **out, dls_error *err) DLS_MUST_CHECK;

/* Kind of each job, for whoever else wants to keep something by kind. */
const dls_kinds *dls_world_kinds(const dls_world *w);

/* Work of a job in seconds at the reference, as whole microseconds: its iterations where the trace has
 * them and the model is known, else its duration, which is then taken as measured at the reference;
 * always the duration for model `trace`. */
int64_t dls_world_work_us(const dls_world *w, int32_t job);
/* Iteration time at the reference, residual included; 1 for model `trace`. */
double dls_world_reference_s(const dls_world *w, int32_t job);
/* Has a GPU of the type memory for the job, if need be with one sample at a time? O(1). */
bool dls_world_fits(const dls_world *w, int32_t job, int32_t type);

/* The job alone on a shape: what an oracle knows. O(1) after the first question of its kind. */
dls_status dls_world_solo(dls_world *w, int32_t job, const dls_shape *shape, dls_solo *out,
                          dls_error *err) DLS_MUST_CHECK;
/* Rate of the job alone on a shape, as dls_world_solo has it: at the fastest link that nodes of its type have. */
int64_t dls_world_solo_rate(dls_world *w, int32_t job, const dls_solo *solo);
/* Rate of a running job were it alone on the GPUs and links that it has. */
int64_t dls_world_alone_rate(const dls_world *w, int32_t job);
/* The shape of some seats: node count, rack count. */
dls_shape dls_world_shape(const dls_world *w, int32_t type, const dls_seat *seats, size_t n);

/* Speed of a job on a GPU of a node over that on the fastest, 0 < speed <= 1: what profiles of GPUs show.
 * O(1). */
double dls_world_gpu_speed(const dls_world *w, int32_t job, int32_t node, int32_t gpu);

/* A job starts on seats (borrowed for the call; a node once), type that of the first; of several types the
 * one on which it takes longest decides how fast it is. GPUs that another
 * running job holds are shared with it. A job stops. Rates follow with dls_world_settle. Errors:
 * EPOLICY (a GPU without memory for the job, or for all that share it), EINPUT, ENOMEM; the job is then
 * not running. */
dls_status dls_world_start(dls_world *w, int32_t job, int32_t type, const dls_seat *seats, size_t n,
                           dls_error *err) DLS_MUST_CHECK;
void dls_world_stop(dls_world *w, int32_t job);
/* Would the jobs on those GPUs still fit into their memory with one more? */
bool dls_world_shares(dls_world *w, int32_t job, int32_t type, const dls_seat *seats, size_t n);
/* When in its iterations a running job bursts, seconds after a time that all share (CASSINI): it and its
 * neighbours contend for what their bursts really meet (interleave.h). NAN, after a start: at any time. */
void dls_world_set_shift(dls_world *w, int32_t job, double shift_s);
/* The path between racks that a running job takes, and its priority on links, both as dls_place_route has
 * them: jobs of a level share what those of the levels before leave on average, a thousandth of a link at
 * least. Bursts of other levels are met at any time, whatever their shifts. Errors: ENOMEM. */
dls_status dls_world_set_route(dls_world *w, int32_t job, int32_t path, int32_t level,
                               dls_error *err) DLS_MUST_CHECK;
/* Part of its bandwidth that a node's network link has left, 0 < part <= 1; one of rails keeps all. */
void dls_world_link_scale(dls_world *w, int32_t node, double part);
/* Solve what was touched since the last call. *changed (borrowed until the next call): every running
 * job whose rate is not what it was, jobs just started included, ascending. Cost: that of
 * dls_shares_settle and the jobs that it moves, independent of all others. */
dls_status dls_world_settle(dls_world *w, const dls_rate_change **changed, size_t *n,
                            dls_error *err) DLS_MUST_CHECK;

/* Load of the network now, for the series: mean and greatest part of the capacity in use, over nodes'
 * links and rack uplinks that any job crosses. O(1). */
typedef struct dls_link_load {
    float nic_mean, nic_max, uplink_mean, uplink_max;
} dls_link_load;
dls_link_load dls_world_link_load(const dls_world *w);

/* Do phases drift at all? */
bool dls_world_drifts(const dls_world *w);
/* What it takes now to keep jobs in step whose bursts were shifted (interleave.h). O(1). */
typedef struct dls_pull_backs {
    double per_s; /* pull-backs a second, of all running jobs */
    double gpus;  /* that stand still for it, on average */
} dls_pull_backs;
dls_pull_backs dls_world_pull_backs(const dls_world *w);

/* For the results; of the shapes asked for so far. */
dls_world_notes dls_world_about(const dls_world *w);

/* Work done by settling since the start, for tests of locality: jobs looked at, links solved. */
typedef struct dls_world_cost {
    uint64_t settles, jobs, links;
} dls_world_cost;
dls_world_cost dls_world_cost_so_far(const dls_world *w);

#endif
