/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * A site's own records: they become a trace and a configuration, whose replay is graded, and replayed
 * with changes (docs/sites.md, docs/whatif.md).
 *
 *      #include <dlsim/site.h>
 *
 *      dls_status grade_of(const char *config, char *grade, dls_error *err)
 *      {
 *          dls_setup *setup;
 *          dls_fidelity f = {0};
 *          DLS_TRY(dls_setup_create(&setup, err));
 *          dls_status status = dls_setup_file(setup, config, err);
 *          status = status ? status : dls_fidelity_of(setup, &f, err);
 *          *grade = f.grade;
 *          dls_fidelity_fini(&f);
 *          dls_setup_destroy(setup);
 *          return status;
 *      }
 */
#ifndef DLSIM_SITE_H
#define DLSIM_SITE_H

#include "dlsim/run.h"

#include <stdio.h>

#ifdef __cplusplus
extern "C" {
#endif

/* ---- import: Slurm ------------------------------------------------------------------------------- */

typedef struct dls_site_slurm {
    const char *sacct, *nodes; /* files; needed */
    const char *conf;          /* slurm.conf or `scontrol show config`; NULL: Slurm's defaults */
    const char *partitions;    /* `scontrol show partitions -o`; NULL: all are of one tier */
    const char *qos;           /* `sacctmgr -P show qos`; NULL: of no account */
    const char *events;        /* `sacctmgr -P show event`: nodes out of service; NULL */
    const char *reservations;  /* `scontrol show reservations -o`; NULL */
    const char *shares;        /* `sshare -a -P`; NULL: every user has the same share */
    const char *log;           /* slurmctld's, for what is between seconds; NULL: there is none */
    const char *folder;        /* made if it is not there; files in it are replaced */
    const char *topology;      /* topology.conf, or `scontrol show topology`: racks; NULL */
    const char *gres;          /* gres.conf: types of GPUs that the nodes do not name; NULL */
} dls_site_slurm;

/* Write folder/trace.csv, folder/cluster.cfg, with shares and log folder/shares.csv and
 * folder/runs.csv, with jobs without GPUs folder/cpu_jobs.csv, with
 * partitions of other nodes than others folder/partitions.csv, with what is known of single jobs
 * folder/jobs.csv, with qos folder/qos.csv, with events and reservations folder/outages.csv, and report to `to`
 * what was read, left out and changed. O(bytes); the trace is in memory. Errors: EINPUT with file
 * and line, EOUTPUT, ENOMEM. */
DLS_API dls_status dls_site_import_slurm(const dls_site_slurm *site, FILE *to,
                                 dls_error *err) DLS_MUST_CHECK;

/* ---- import: Kubernetes, `kubectl get nodes,pods,workloads,clusterqueues,localqueues -A -o json` ---- */

/* Write folder/trace.csv, folder/cluster.cfg and folder/pods.csv, and report to `to` what was read and left out. The
 * text and one object are in memory, and a record per gang and pod. Errors: EINPUT with the place, EOUTPUT,
 * ENOMEM. */
DLS_API dls_status dls_site_import_kubernetes(const char *objects, const char *folder, FILE *to,
                                      dls_error *err) DLS_MUST_CHECK;

/* ---- import: what DCGM's exporter measured of GPUs --------------------------------------------------- */

typedef struct dls_site_dcgm {
    const char *metrics; /* needed: Prometheus's answer to a range query (JSON), or a table (CSV) */
    const char *sacct;   /* an accounting with NodeList: whose series are that name no job; NULL */
    const char *folder;  /* made if it is not there */
    const char *pods;    /* pods.csv of dls_site_import_kubernetes: which job a pod was of; NULL */
} dls_site_dcgm;

/* Write folder/profiles.csv, which energy.profiles takes: mean utilisation and power of a job's GPUs, the
 * most memory that one of them used; and report to `to` what was read and left out. The text and one series
 * are in memory, and a record per job. Errors: EINPUT with the place, EOUTPUT, ENOMEM. */
DLS_API dls_status dls_site_import_dcgm(const dls_site_dcgm *site, FILE *to,
                                dls_error *err) DLS_MUST_CHECK;

/* ---- how near a replay comes to what happened: start times of jobs, and a grade ------------------- */

/* Jobs that have something in common: all, a partition, an account, a size. */
typedef struct dls_fidelity_group {
    const char *kind; /* "all", "partition", "account", "GPUs" */
    char name[64];
    size_t n;
    double recorded_wait_s, replayed_wait_s; /* means */
    double median_s, p95_s;                  /* of |replayed start - recorded start| */
} dls_fidelity_group;

typedef struct dls_fidelity_job {
    size_t job;        /* of the trace */
    double recorded_s; /* start, from the trace's zero */
    double replayed_s; /* the median of the replays */
    double mean_s;     /* their mean */
} dls_fidelity_job;

typedef struct dls_fidelity {
    dls_fidelity_group *group; /* [n_groups], the first is that of all jobs */
    dls_fidelity_job *job;     /* [n_jobs] the farthest off first */
    size_t n_groups, group_cap, n_jobs;
    size_t unknown;  /* jobs without a recorded wait, or that the replay did not start */
    size_t replays;  /* 1, or more that differ by less than a second: see dls_fidelity_of */
    double tau;      /* Kendall's, of the order of starts; NaN, like the next two: all at one instant, there is none */
    double self_tau; /* of replays with each other, 1 for one: nobody can know the order better */
    double held_out_tau; /* of a replay, as were it the record, with the median of the others: what rules without an
                            error would have in the mean, 1 for one */
    size_t passed, passed_same; /* jobs that started before one that came earlier; also replayed */
    double recorded_busy,
        replayed_busy; /* GPUs in use over all, from the first submission to the last start */
    double recorded_queue, replayed_queue; /* jobs waiting, means over the same time */
    double queue_off;                      /* mean of the difference, whichever is larger */
    char grade;        /* 'A' .. 'D', by DLS_FIDELITY_RULE */
    double total_gpus;
    dls_trace *trace;
} dls_fidelity;

/* Where a job waited on when it had started on the other side, jobs held GPUs that did not there. */
typedef struct dls_fidelity_why {
    size_t jobs, ahead; /* how many; of these, which started before it on the one side alone: others ended later */
    int64_t gpus;       /* of all of them */
    size_t largest;     /* of the trace; where jobs > 0 */
} dls_fidelity_why;

/* A wait of which half the mean is 1 s cannot be graded by its ratio alone: the mean is off by less
 * than the part, or by 2 s. */
#define DLS_FIDELITY_RULE                                                                          \
    "A: order of starts (tau) >= 0.98 and mean wait within 3 %; B: 0.95 and 10 %; C: 0.90 and 25 " \
    "%; "                                                                                          \
    "D: less. A mean wait within 2 s counts as within 3 %."

/* Replay what the set-up names (its trace must say how long jobs waited) and compare. Where all
 * times are whole seconds the recorder has cut them; what a schedule becomes can hang on what was
 * cut, so histories of up to DLS_FIDELITY_MANY jobs are replayed DLS_FIDELITY_REPLAYS times with it
 * drawn at random, equally each time the function is called. A larger one is replayed once. Errors:
 * those of dls_simulation_run; EINPUT (no recorded wait). *out is to be released in any case. */
#define DLS_FIDELITY_REPLAYS 15
#define DLS_FIDELITY_MANY 5000
DLS_API dls_status dls_fidelity_of(dls_setup *setup, dls_fidelity *out, dls_error *err) DLS_MUST_CHECK;
/* Of f->job[i], at the earlier of its starts; all zero where the same jobs held GPUs: then it is nodes, limits or the
 * rounds of the scheduler. O(n_jobs). */
DLS_API dls_fidelity_why dls_fidelity_why_of(const dls_fidelity *f, size_t i);
DLS_API void dls_fidelity_fini(dls_fidelity *f);

/* ---- what would be with other nodes, quotas, policies or load: waits as it was and with the changes -- *
 *
 * Intervals (95 %) are of weeks drawn with replacement: the same weeks for both sides, so that a
 * change is compared under the same demand. Shorter histories have shorter blocks, and fewer than
 * DLS_WHATIF_BLOCKS blocks no intervals.
 */

#define DLS_WHATIF_BLOCKS 4 /* fewer blocks: no intervals */
#define DLS_WHATIF_LOAD_LEAST 0.01
#define DLS_WHATIF_LOAD_MOST 100

/* What is changed. Texts are borrowed; numbers of zero change nothing. */
typedef struct dls_whatif_asked {
    const char *const *add;     /* "TYPE: N x G": N nodes with G GPUs each */
    const char *const *removed; /* "NAME: N" or "NAME: all": of a group or a GPU type */
    const char *const *quota;   /* "VC=GPUS" or "VC:TYPE=GPUS" */
    const char *const *speed;   /* "TYPE=SPEED" in place of what the predictor says */
    const char *const *set;     /* "KEY=VALUE" */
    size_t n_add, n_removed, n_quota, n_speed, n_set;
    const char *scheduler, *placement; /* NULL: as it is */
    double load;                       /* 1.2: a fifth more jobs; 1 and 0: as it is */
    const char *target;                /* "p95 wait of 8 GPUs < 1h"; NULL: none */
    const char *vary; /* group of nodes whose number the target varies; NULL: the one that is
                         added, else the largest */
    uint64_t seed;
} dls_whatif_asked;

typedef struct dls_whatif_number {
    double value, low, high; /* NAN: nothing to take it of; no interval */
} dls_whatif_number;

typedef struct dls_whatif_side {
    size_t n, waiting;                  /* jobs; of them, never started: in no number below */
    dls_whatif_number mean, p95;        /* of the wait until the first start, seconds */
    double energy_kwh, cost, carbon_kg; /* of its jobs; NAN: not accounted for */
} dls_whatif_side;

typedef struct dls_whatif_group {
    const char *kind; /* "all", "partition", "account", "GPUs" */
    char name[64];
    dls_whatif_side before, after;
    dls_whatif_number mean_change, p95_change; /* after - before */
} dls_whatif_group;

/* The speed of a GPU type that the history does not know, against the one it does: over models. */
typedef struct dls_whatif_speed {
    char type[48], reference[48];
    double speed, least, most;
    bool given; /* by the caller */
} dls_whatif_speed;

typedef struct dls_whatif_try {
    int64_t nodes;
    double value_s; /* infinite: a job that it is of cannot start */
    bool holds;
} dls_whatif_try;

typedef struct dls_whatif_total {
    int64_t gpus;
    double utilisation, jct_mean_s, makespan_s;
} dls_whatif_total;

typedef struct dls_whatif {
    char grade;              /* of the replay as it was; '-': none can be given */
    const char *ungraded;    /* why */
    dls_whatif_group *group; /* [n_groups], the first is that of all jobs */
    size_t n_groups, group_cap;
    dls_whatif_total before, after;
    double block_s; /* of the intervals */
    size_t n_blocks;
    int64_t from_us, to_us; /* jobs submitted then count: the history without results.warmup and cooldown */
    dls_whatif_speed speed[8];
    size_t n_speeds;
    double load;           /* GPU time of the jobs as drawn, against the history's */
    char vary[64];         /* what the target varies; "" without a target */
    dls_whatif_try *tried; /* [n_tried] by nodes */
    size_t n_tried, tried_cap;
    int64_t fewest;                /* nodes that hold the target; -1: none do */
    dls_whatif_number target_s;    /* the target's number with them */
    dls_trace *trace, *loaded;     /* the history; with the load, NULL if that is as it was */
    dls_simulation *sim, *changed; /* of before and after; finished */
} dls_whatif;

/* before: the site as it is. after: a set-up with the same configuration, to which the changes are
 * made. Both must outlive *out, which is to be released in any case. Errors: EUSAGE (an option that
 * says nothing, a load out of range), ECONFIG (dls_setup_problem of either says why), those of a simulation. Two runs,
 * those of the grade, and some ten for a target. */
DLS_API dls_status dls_whatif_of(dls_setup *before, dls_setup *after, const dls_whatif_asked *asked,
                         dls_whatif *out, dls_error *err) DLS_MUST_CHECK;
DLS_API void dls_whatif_fini(dls_whatif *w);

#ifdef __cplusplus
}
#endif
#endif
