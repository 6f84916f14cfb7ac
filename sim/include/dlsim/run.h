/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Running simulations.
 *
 *      dls_setup        cluster and policies: a configuration, keys set over it, policies added
 *      dls_trace        the jobs, from a file or built in memory (dlsim/trace.h)
 *      dls_simulation   one run of the two: run it, or step through its decisions, look at it, clone
 *                       it, read its columns and numbers, write its results file
 *
 * A complete program that schedules from outside, first come, first served; arguments: a
 * configuration and a trace. dls_simulation_run in place of the loop runs a scheduler of dlsim's.
 *
 *      #include <dlsim/run.h>
 *      #include <stdio.h>
 *
 *      int main(int argc, char **argv)
 *      {
 *          dls_setup *setup = NULL;
 *          dls_trace *trace = NULL;
 *          dls_simulation *sim = NULL;
 *          dls_actions *act = NULL;
 *          dls_error err;
 *          dls_status status = argc == 3 ? dls_setup_create(&setup, &err) : DLS_EUSAGE;
 *          status = status ? status : dls_setup_file(setup, argv[1], &err);
 *          status = status ? status : dls_setup_set(setup, "placement.name", "first-fit", &err);
 *          status = status ? status : dls_setup_outside(setup, &err);
 *          status = status ? status : dls_trace_load(argv[2], NULL, NULL, &trace, &err);
 *          status = status ? status : dls_simulation_create(setup, trace, &sim, &err);
 *          while (!status && !(status = dls_simulation_step(sim, DLS_NEVER, &act, &err)) && act) {
 *              const dls_view *view = dls_simulation_view(sim);
 *              for (int32_t j; (j = dls_view_first_waiting(view)) >= 0;) {
 *                  if (view->gpus[j] > dls_view_room(view, j) || !dls_act_start(act, j)) {
 *                      break;
 *                  }
 *              }
 *          }
 *          dls_result_column end;
 *          if (!status && dls_simulation_column(sim, DLS_TABLE_JOBS, "end_us", &end)) {
 *              const int64_t *end_us = (const int64_t *)end.data;
 *              double jct_s = 0;
 *              dls_simulation_number(sim, "jct_mean_s", &jct_s);
 *              printf("%zu jobs, mean JCT %.0f s, the first ends at %.0f s\n", end.n, jct_s,
 *                     (double)end_us[0] / 1e6);
 *          }
 *          dls_simulation_destroy(sim);
 *          dls_trace_destroy(trace);
 *          dls_setup_destroy(setup);
 *          return dls_status_exit_code(status);
 *      }
 *
 * The library prints nothing, installs no handler, keeps no state between calls but one lock, and
 * reads and writes numbers with a point whatever the locale. The same set-up, trace and actions give
 * the same results, byte for byte.
 *
 * Threads: a set-up and a simulation belong to one thread at a time; simulations that share a
 * set-up or a trace may run in several, while neither is changed. HDF5 can be built without thread
 * safety (Debian's has it): the library calls it under a lock of its own. A program that uses such an
 * HDF5 in another thread must keep the two apart itself.
 *
 * Errors come as a status with a dls_error (dlsim/error.h). EUSAGE: a call that is not allowed now.
 * After any other error of run, run_until or step a simulation can only be destroyed.
 */
#ifndef DLSIM_RUN_H
#define DLSIM_RUN_H

#include "dlsim/error.h"
#include "dlsim/policy.h"
#include "dlsim/trace.h"

#ifdef __cplusplus
extern "C" {
#endif

/* "0.2.0", of the library that is linked. */
DLS_API const char *dls_version(void);

/* ---- set-up ------------------------------------------------------------------------------------ */

/* Everything that a run needs but its jobs. Texts are copied. What a set-up says is checked as a whole,
 * when a simulation or a trace is made of it. */
typedef struct dls_setup dls_setup;

DLS_API dls_status dls_setup_create(dls_setup **out, dls_error *err) DLS_MUST_CHECK;
/* NULL-safe. It must outlive the simulations made from it. */
DLS_API void dls_setup_destroy(dls_setup *setup);
/* The configuration (docs/config.md): a file, read when it is needed, or a text, whose paths are
 * relative to the working directory. The last of them counts; one must be given, as nothing else
 * describes a cluster. */
DLS_API dls_status dls_setup_file(dls_setup *setup, const char *path, dls_error *err) DLS_MUST_CHECK;
DLS_API dls_status dls_setup_text(dls_setup *setup, const char *text, dls_error *err) DLS_MUST_CHECK;
/* Set a key over it, as `dlsim --set KEY=VALUE` does: "scheduler.name", "cluster.nodes[0].count",
 * options of policies as "scheduler.quantum". In the order of the calls. */
DLS_API dls_status dls_setup_set(dls_setup *setup, const char *key, const char *value,
                                 dls_error *err) DLS_MUST_CHECK;
/* The same; problems call the place `origin`, such as "--seed", and not the key. key NULL: the value is
 * "KEY=VALUE". */
DLS_API dls_status dls_setup_set_from(dls_setup *setup, const char *key, const char *value,
                                      const char *origin, dls_error *err) DLS_MUST_CHECK;
/* Make the policies of a plug-in known by name. Errors: EINPUT. */
DLS_API dls_status dls_setup_plugin(dls_setup *setup, const char *path, dls_error *err) DLS_MUST_CHECK;
/* Add a policy of the program's own, borrowed for the set-up's life, and choose it. Errors: EINPUT (a
 * name that is taken, a table that is wrong). */
DLS_API dls_status dls_setup_sched(dls_setup *setup, const dls_sched_ops *ops,
                                   dls_error *err) DLS_MUST_CHECK;
DLS_API dls_status dls_setup_placement(dls_setup *setup, const dls_placement_ops *ops,
                                       dls_error *err) DLS_MUST_CHECK;
/* Schedule from outside: the decisions are the caller's (dls_simulation_step). In results the
 * scheduler is called "outside". */
DLS_API dls_status dls_setup_outside(dls_setup *setup, dls_error *err) DLS_MUST_CHECK;
/* Check it. Errors: ECONFIG; every problem is then listed, as "file:line: what", but for a file that cannot be read,
 * which err alone tells. */
DLS_API dls_status dls_setup_check(dls_setup *setup, dls_error *err) DLS_MUST_CHECK;
/* The i-th problem of the last check; NULL past the last, which says how many more there are if they are
 * too many. Borrowed until the next call on setup. */
DLS_API const char *dls_setup_problem(const dls_setup *setup, size_t i);
/* What a run would take: the value of a key, as --set writes it ("62 s", "3250.0,7200.0", "" for none),
 * borrowed until the next question. A set-up with problems has no answers. Errors: EUSAGE (no such
 * key, or a group), those of dls_setup_check. */
DLS_API dls_status dls_setup_get(dls_setup *setup, const char *key, const char **value,
                                 dls_error *err) DLS_MUST_CHECK;
/* The trace that trace.path names, read and given models as the keys under trace say; the caller's. */
DLS_API dls_status dls_setup_trace(dls_setup *setup, dls_trace **out, dls_error *err) DLS_MUST_CHECK;
/* The same of a text in the native format, whatever trace.path and trace.format say; text[len] is '\0',
 * `name` is what messages and results call it. */
DLS_API dls_status dls_setup_trace_of_text(dls_setup *setup, const char *name, const char *text, size_t len,
                                           dls_trace **out, dls_error *err) DLS_MUST_CHECK;

/* ---- what a set-up can say ----------------------------------------------------------------------- */

typedef enum dls_text {
    DLS_TEXT_RESOLVED, /* the configuration as a run takes it: every key; loads to an equal one */
    DLS_TEXT_DEFAULTS, /* one with every key at its default and what it means; can be loaded */
    DLS_TEXT_MARKDOWN, /* all keys and options of policies, as docs/config.md */
    DLS_TEXT_JSON,     /* the same for programs */
    DLS_TEXT_KEY       /* what one key means */
} dls_text;
/* Only DLS_TEXT_RESOLVED looks at more than the plug-ins and policies of the set-up; key is of
 * DLS_TEXT_KEY. *text is borrowed until the next question. Errors: EUSAGE (no such key), those of
 * dls_setup_check. */
DLS_API dls_status dls_setup_text_of(dls_setup *setup, dls_text what, const char *key,
                                     const char **text, dls_error *err) DLS_MUST_CHECK;
/* Policies that can be named, ended by NULL: dlsim's (dls_scheds), behind them those added. Valid until
 * one is added. */
DLS_API const dls_sched_ops *const *dls_setup_scheds(const dls_setup *setup);
DLS_API const dls_placement_ops *const *dls_setup_placements(const dls_setup *setup);
/* The plug-in that a policy of the set-up comes from; "" if from none. */
DLS_API const char *dls_setup_origin(const dls_setup *setup, const void *policy);
/* What else a configuration can name: the i-th and its summary ("" if there is none; may be NULL);
 * NULL past the last. Keys are those outside lists. */
typedef enum dls_known_list { DLS_KNOWN_PREDICTORS, DLS_KNOWN_FORMATS, DLS_KNOWN_KEYS } dls_known_list;
DLS_API const char *dls_known_name(dls_known_list of, size_t i, const char **summary);

/* For a watchdog: told before the policies of a simulation, or of a study's, are set up, which calls `init` and `place`
 * on the empty cluster, and when they are, or have failed. NULL: nobody is. The configuration is read anew. */
typedef void (*dls_policies_fn)(void *user, const char *sched, const char *placement, bool begins);
DLS_API void dls_setup_watch(dls_setup *setup, dls_policies_fn told, void *user);

/* ---- simulation -------------------------------------------------------------------------------- */

typedef struct dls_simulation dls_simulation;

/* At time 0, nothing submitted. Set-up and trace are borrowed for its life. Errors: ECONFIG
 * (dls_setup_problem says all), EINPUT, EPOLICY, EPREDICTOR, ENOMEM. */
DLS_API dls_status dls_simulation_create(dls_setup *setup, const dls_trace *trace,
                                         dls_simulation **out, dls_error *err) DLS_MUST_CHECK;
DLS_API void dls_simulation_destroy(dls_simulation *sim); /* NULL-safe */
/* Names of its policies, borrowed. */
DLS_API const char *dls_simulation_scheduler(const dls_simulation *sim);
DLS_API const char *dls_simulation_placement(const dls_simulation *sim);

/* Called now and then while it runs, never less than every 1024 instants at which something happens;
 * returning false stops the run with EINTERRUPTED, after which it may be continued or finished. */
typedef bool (*dls_watch_fn)(void *user, int64_t now_us, size_t jobs_done, size_t n_jobs);
DLS_API void dls_simulation_watch(dls_simulation *sim, dls_watch_fn watch, void *user);

/* For a run that will be written to `path`: tables whose length only the run knows (allocations, series,
 * starts, world) are kept in files without a name on the disk of that file once they exceed a million
 * rows, so that memory does not grow with them; columns stay what they are. Where the disk has no room,
 * in memory as without. Not for a process that forks and goes on in both. At most once, before the end.
 * Errors: ENOMEM. */
DLS_API dls_status dls_simulation_stream(dls_simulation *sim, const char *path,
                                         dls_error *err) DLS_MUST_CHECK;

/* Run to the end, or to the configuration's run.until, and finish. Not for decisions from outside. */
DLS_API dls_status dls_simulation_run(dls_simulation *sim, dls_error *err) DLS_MUST_CHECK;
/* Let everything up to and including time_us happen; now is then time_us, or the end, which finishes.
 * Where a run is stopped makes no difference to what comes of it. */
DLS_API dls_status dls_simulation_run_until(dls_simulation *sim, int64_t time_us,
                                            dls_error *err) DLS_MUST_CHECK;
/* After dls_setup_outside: go on to the next decision, an instant at which a scheduling program would
 * be called. *actions is then for dls_act_*, and the view for the walks over waiting and running jobs,
 * until the next step; deciding nothing is allowed. NULL: there is none up to and including
 * until_us, or the end is reached. Errors: EPOLICY (an action of the last decision was illegal). */
DLS_API dls_status dls_simulation_step(dls_simulation *sim, int64_t until_us, dls_actions **actions,
                                       dls_error *err) DLS_MUST_CHECK;
/* Those of the decision at which it stands, NULL at none: a clone stands where its original does. */
DLS_API dls_actions *dls_simulation_actions(dls_simulation *sim);
/* Another simulation in the same state, to see what would be if: both go on independently, and equally if
 * nothing is done differently. It is not watched, and what its predictor learns is not kept on disk.
 * Errors: EUSAGE (it is finished), EPOLICY (a policy of a plug-in whose memory cannot be copied: it has no
 * `clone`). O(jobs + GPUs). */
DLS_API dls_status dls_simulation_clone(const dls_simulation *sim, dls_simulation **out,
                                        dls_error *err) DLS_MUST_CHECK;
/* Close the accounts of all jobs as of now, so that results can be had: they are marked incomplete.
 * Does nothing when the end was reached. */
DLS_API dls_status dls_simulation_finish(dls_simulation *sim, dls_error *err) DLS_MUST_CHECK;
DLS_API bool dls_simulation_is_finished(const dls_simulation *sim);

/* ---- the live state ---------------------------------------------------------------------------- */

typedef struct dls_counts {
    size_t jobs;       /* of the trace */
    size_t submitted;  /* so far, infeasible ones not counted */
    size_t waiting, running, finished;
    size_t declined;   /* turned away by the scheduler */
    size_t infeasible; /* can never run on this cluster */
    size_t first_infeasible; /* the first of them, or `jobs` */
    uint64_t events, passes;
    bool complete;     /* finished, and everything has happened */
} dls_counts;
DLS_API dls_counts dls_simulation_counts(const dls_simulation *sim);
/* The i-th of the reasons why jobs can never run, in words: what they want and do not get; how many *jobs it
 * keeps from running, and the *first of them. NULL: there are not so many. A job of several is counted where
 * it gets furthest. O(1). */
DLS_API const char *dls_simulation_infeasible(const dls_simulation *sim, size_t i, size_t *jobs, size_t *first);
/* As a scheduling policy sees it: time, GPUs, jobs, walks (dlsim/policy.h). Borrowed; it shows the
 * present whenever the simulation stands still. */
DLS_API const dls_view *dls_simulation_view(const dls_simulation *sim);
/* Free GPUs by type and by node: dls_place_free_gpus, dls_place_free and their kind. Borrowed. */
DLS_API const dls_place_index *dls_simulation_index(const dls_simulation *sim);

/* ---- results ----------------------------------------------------------------------------------- */

typedef enum dls_table {
    DLS_TABLE_JOBS,        /* a row per job of the trace, in its order */
    DLS_TABLE_ALLOCATIONS, /* a row per job, stretch of constant rate and node */
    DLS_TABLE_SERIES,      /* the cluster, piecewise constant */
    DLS_TABLE_STARTS,      /* what was predicted at each start, and what came of it */
    DLS_TABLE_WORLD,       /* links, failures and sharing, piecewise constant */
    DLS_TABLE_COUNT
} dls_table;

typedef enum dls_value_type {
    DLS_VALUE_I64,
    DLS_VALUE_U64,
    DLS_VALUE_I32,
    DLS_VALUE_U32,
    DLS_VALUE_F32,
    DLS_VALUE_F64,
    DLS_VALUE_U8
} dls_value_type;

typedef struct dls_result_column {
    const char *name;        /* as in a results file (docs/results.md) */
    const char *unit;        /* "us", "gpus"; "" for pure numbers */
    const char *description;
    dls_value_type type;
    size_t n;                /* values */
    const void *data;        /* [n], the simulation's own: nothing is copied */
} dls_result_column;

/* Columns that the run has, and one of them by number or name; false: there is none. Names of jobs
 * are dls_trace_id. They may be read while a simulation stands still: a job's times and counts are
 * then as of the last change of its state. data is valid until the simulation goes on. O(columns). */
DLS_API size_t dls_simulation_n_columns(const dls_simulation *sim, dls_table table);
DLS_API bool dls_simulation_column_at(const dls_simulation *sim, dls_table table, size_t i,
                                      dls_result_column *out);
DLS_API bool dls_simulation_column(const dls_simulation *sim, dls_table table, const char *name,
                                   dls_result_column *out);

/* What a value of a column of jobs means whose values are codes: "state", "outcome", "model", "vc", "user",
 * "class", "gpu_types". Codes count from 0; NULL: past the last, or another column. Borrowed from the trace. */
DLS_API const char *dls_simulation_name(const dls_simulation *sim, const char *column, uint32_t code);

/* Sum up a live simulation as if it were finished now; it goes on as before. Numbers and reports are then as
 * of now until it is called again, or the end is reached. Errors: those of dls_simulation_clone. O(jobs). */
DLS_API dls_status dls_simulation_sum_up(dls_simulation *sim, dls_error *err) DLS_MUST_CHECK;

/* Numbers of the summary, of all jobs: "jct_mean_s", "makespan_s", "utilisation", ...; false: no such
 * number, or the simulation is neither finished nor summed up. NaN: nothing to take it of. */
typedef struct dls_result_number {
    const char *name, *unit, *description;
    double value;
} dls_result_number;
DLS_API size_t dls_simulation_n_numbers(const dls_simulation *sim);
DLS_API bool dls_simulation_number_at(const dls_simulation *sim, size_t i, dls_result_number *out);
DLS_API bool dls_simulation_number(const dls_simulation *sim, const char *name, double *value);
/* The summary as a text: a table for people, or JSON. Borrowed until the next report. Errors: EUSAGE
 * (neither finished nor summed up), ENOMEM. */
DLS_API dls_status dls_simulation_report(dls_simulation *sim, bool json, const char **text,
                                         dls_error *err) DLS_MUST_CHECK;
/* What went wrong beside the run: CPUs or memory that jobs ask for and not every node is said to have,
 * recorded predictions without a predictor, a predictor's cache that could not be kept; NULL: nothing. */
DLS_API const char *dls_simulation_warning(const dls_simulation *sim);
/* Of the job columns: two runs with the same digest did the same. 0 unless finished. */
DLS_API uint64_t dls_simulation_digest(const dls_simulation *sim);
/* Whether `path` is a file that the run reads: its configuration, its trace or what these name. */
DLS_API bool dls_simulation_reads(const dls_simulation *sim, const char *path);
/* Write the results file (docs/results.md) of a finished simulation, whole or not at all, replacing
 * what is there but what the run read. command, how the program was called, is kept in it; may be NULL.
 * Errors: EOUTPUT. */
DLS_API dls_status dls_simulation_write(const dls_simulation *sim, const char *path,
                                        const char *command, dls_error *err) DLS_MUST_CHECK;

#ifdef __cplusplus
}
#endif
#endif
