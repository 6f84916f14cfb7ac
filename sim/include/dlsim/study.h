/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Many simulations that differ in a few keys, and how their results compare.
 *
 *      dls_study        the points of a sweep (docs/sweeps.md): planned, run in processes of their own,
 *                       merged into one results file; resumable
 *      dls_comparison   runs of results files side by side
 *
 *      #include <dlsim/study.h>
 *
 *      dls_status three(dls_setup *setup, size_t *n_finished, dls_error *err)
 *      {
 *          static const char *const names[] = {"fifo", "srtf", "gittins"};
 *          dls_study_progress done;
 *          dls_study *study;
 *          DLS_TRY(dls_study_create(setup, "cluster.cfg", &study, err));
 *          dls_status status = dls_study_vary(study, "scheduler.name", names, 3, "three", err);
 *          status = status ? status : dls_study_plan(study, "folder", 0, 0, err);
 *          status = status ? status : dls_study_run(study, 4, &done, err);
 *          status = status ? status : dls_study_merge(study, "all.h5", false, n_finished, err);
 *          dls_study_destroy(study);
 *          return status;
 *      }
 *
 * A study belongs to one thread at a time.
 */
#ifndef DLSIM_STUDY_H
#define DLSIM_STUDY_H

#include "dlsim/run.h"

#include <stdio.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef struct dls_study dls_study;

#define DLS_STUDY_POINTS_MAX 1000000

/* Read a sweep's file. The keys and policies of the set-up, which is borrowed for the study's life, are
 * set over every point; its own configuration is not used. Errors: ECONFIG, of load and plan, every problem
 * is then one of the set-up (dls_setup_problem); ENOMEM. */
DLS_API dls_status dls_study_load(dls_setup *setup, const char *path, dls_study **out,
                                  dls_error *err) DLS_MUST_CHECK;
/* One without axes over a configuration, for dls_study_vary. */
DLS_API dls_status dls_study_create(dls_setup *setup, const char *config_path, dls_study **out,
                                    dls_error *err) DLS_MUST_CHECK;
DLS_API void dls_study_destroy(dls_study *study); /* NULL-safe */
/* Vary one key more: n > 0 values. where names the axis in problems. What was planned is forgotten. Errors:
 * EUSAGE (no values), ENOMEM. */
DLS_API dls_status dls_study_vary(dls_study *study, const char *key, const char *const *values,
                                  size_t n, const char *where, dls_error *err) DLS_MUST_CHECK;
/* n seeds a design, run.seed and those that follow it, in place of the file's; 0: one run. What was planned is
 * forgotten. */
DLS_API void dls_study_replicas(dls_study *study, size_t n);

/* What a study asks and tells while it goes on; members may be NULL. */
typedef struct dls_study_progress {
    size_t n, finished, failed, running; /* of the points planned; finished: earlier ones too */
    size_t skipped;                      /* finished before, or by another process */
} dls_study_progress;
typedef struct dls_study_watch {
    void (*trace)(void *user, const dls_trace *trace); /* one has been read */
    /* Run a point, in a worker process, which runs several; NULL: dls_simulation_run. */
    dls_status (*run)(void *user, dls_simulation *sim, dls_error *err);
    bool (*interrupted)(void *user); /* true: stop */
    void (*progress)(void *user, const dls_study_progress *now);
    void *user;
} dls_study_watch;
DLS_API void dls_study_set_watch(dls_study *study, const dls_study_watch *watch);

/* Resolve points first..first+n-1 (n 0: all), and check them before anything runs. folder: where their
 * results are kept; NULL: the file's, or NAME.sweep. Errors: ECONFIG, EINPUT (a trace), ENOMEM. O(points x
 * size of the configuration), about 40 us a point. */
DLS_API dls_status dls_study_plan(dls_study *study, const char *folder, size_t first, size_t n,
                                  dls_error *err) DLS_MUST_CHECK;
/* Run what is not finished, at most `workers` processes at a time. They are forked: the calling process
 * must have no threads. Failed points are no error. Errors: EUSAGE (nothing is planned, no worker), EOUTPUT, ERUN (no
 * process can be started), EINTERRUPTED (points in flight are lost). */
DLS_API dls_status dls_study_run(dls_study *study, int workers, dls_study_progress *done,
                                 dls_error *err) DLS_MUST_CHECK;
/* Put the finished points into one results file, with a table of all, by copies or by links. Errors: EUSAGE
 * (nothing is planned), EINPUT, EOUTPUT, ENOMEM; ERUN if none is finished. */
DLS_API dls_status dls_study_merge(dls_study *study, const char *path, bool link, size_t *n_finished,
                                   dls_error *err) DLS_MUST_CHECK;

/* Texts are the study's. */
typedef struct dls_study_facts {
    const char *name;
    const char *folder; /* "" until it is planned */
    size_t n_points, n_keys;
    size_t first, n;    /* the points that are planned */
    bool has_seeds;
} dls_study_facts;
DLS_API dls_study_facts dls_study_about(const dls_study *study);
DLS_API const char *dls_study_key(const dls_study *study, size_t k);
/* Of the k-th key in a design: as --set takes it. */
DLS_API const char *dls_study_value(const dls_study *study, size_t design, size_t k);

typedef enum dls_study_state {
    DLS_STUDY_MISSING,
    DLS_STUDY_FINISHED,
    DLS_STUDY_FAILED,
    DLS_STUDY_RUNNING
} dls_study_state;
/* "missing", "finished", "failed", "running" */
DLS_API const char *dls_study_state_name(dls_study_state state);

typedef struct dls_study_point {
    size_t number, design, replica;
    int64_t seed;       /* has_seeds */
    const char *id;     /* of its file */
    char label[300];    /* what a person calls the design */
} dls_study_point;
/* The i-th of those planned. */
DLS_API dls_study_point dls_study_point_at(const dls_study *study, size_t i);
/* EUSAGE unless something is planned and a design of it is called so, wholly or in part, as
 * dls_comparison_baseline takes it. */
DLS_API dls_status dls_study_find(const dls_study *study, const char *label,
                                  dls_error *err) DLS_MUST_CHECK;
/* What has become of it, in the folder; failure: why it failed, "" if it has not. */
#define DLS_STUDY_FAILURE 1200
DLS_API dls_study_state dls_study_state_of(const dls_study *study, size_t i,
                                           char failure[DLS_STUDY_FAILURE]);

/* ---- a study as a job array of Slurm: task t runs points t * chunk to (t + 1) * chunk - 1 --------- */

typedef struct dls_slurm_array {
    const char *name;             /* of the job */
    const char *program;          /* dlsim, the whole path */
    const char *folder;           /* where the tasks start */
    const char *sweep, *results;  /* file and folder of the sweep, from there */
    const char *options;          /* of 'sweep run', as a shell wants them; "" none */
    const char *time, *partition; /* NULL: the cluster's default */
    const char *const *extra;     /* further options of sbatch, a line each */
    size_t n_extra;
    size_t chunk, n_points;
    int workers;        /* processes, and processors, of a task */
    const size_t *task; /* [n_tasks] those to run, ascending */
    size_t n_tasks;
} dls_slurm_array;

/* The batch script. Errors: EUSAGE (a text with a line end in it), EOUTPUT. */
DLS_API dls_status dls_slurm_script(FILE *out, const dls_slurm_array *array,
                                    dls_error *err) DLS_MUST_CHECK;

/* How many tasks are in which state, in order of first mention. */
enum { DLS_SLURM_STATES_MAX = 24 };
typedef struct dls_slurm_states {
    char name[DLS_SLURM_STATES_MAX][24];
    size_t tasks[DLS_SLURM_STATES_MAX];
    size_t n;
} dls_slurm_states;

/* Count a line of sacct ("12_3|CANCELLED by 0") or squeue ("12_3 RUNNING"). Tasks of an array that
 * have not started share one: "12_[0-3,7,10-20:2%4]|PENDING" is 11 tasks. A line that is none of
 * these, and a 25th state, is passed over. */
DLS_API void dls_slurm_count(dls_slurm_states *states, const char *line);

/* ---- comparing ----------------------------------------------------------------------------------- */

typedef struct dls_comparison dls_comparison;

DLS_API dls_status dls_comparison_create(dls_comparison **out, dls_error *err) DLS_MUST_CHECK;
DLS_API void dls_comparison_destroy(dls_comparison *c); /* NULL-safe */
/* Add the runs of a results file, run_id alone or all (NULL). Runs that are points of a study are told
 * apart by design and seed. Errors: EINPUT. */
DLS_API dls_status dls_comparison_add(dls_comparison *c, const char *path, const char *run_id,
                                      dls_error *err) DLS_MUST_CHECK;
/* Ratios are to this run, or to the one that has `label` as a part of its own and shares the rest; may be
 * repeated. Without any: a study's own, else the first run. */
DLS_API dls_status dls_comparison_baseline(dls_comparison *c, const char *label,
                                           dls_error *err) DLS_MUST_CHECK;
/* Completion times, queueing, makespan, GPU use side by side: a table for people, or JSON. Runs that differ
 * in their seed alone are averaged, with 95 % confidence intervals. Errors: EUSAGE (no such baseline). */
DLS_API dls_status dls_comparison_print(dls_comparison *c, FILE *to, bool json,
                                        dls_error *err) DLS_MUST_CHECK;
/* The i-th thing that makes it less than it seems: a run that was stopped early, different traces; NULL past
 * the last. Borrowed until the comparison is printed again. */
DLS_API const char *dls_comparison_warning(const dls_comparison *c, size_t i);

#ifdef __cplusplus
}
#endif
#endif
