/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Run the points of a plan, each in a process of its own, several at a time.
 *
 * The processes are forked: what the plan has loaded is theirs without a copy, and nothing that one
 * does, dying included, reaches another. Finished points are left alone. A point that fails is
 * remembered with its reason and the rest goes on; it is tried again the next time. What another
 * process has in hand is waited for, and run here if that one dies. Workers die with the process
 * that started them.
 */
#include "sweep/store.h"

#include "api/simulation.h"
#include "base/alloc.h"
#include "base/h5.h"

#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

/* A worker's answer when it had nothing to do: another process has the point. */
enum { EXIT_TAKEN = 99 };

typedef struct worker {
    pid_t pid; /* 0: free */
    size_t i;  /* point - plan->first */
} worker;

typedef struct runner {
    const dls_sweep_plan *plan;
    const char *folder;
    worker *workers;
    int n_workers;
    size_t *taken; /* [n_taken] points that other processes had when a worker wanted them */
    size_t n_taken;
    dls_study_progress now;
} runner;

/* ---- in the worker --------------------------------------------------------------------------- */

/* The process ends here: what is on its heap goes with it. */
static dls_status run_point(const runner *r, size_t i, dls_error *err)
{
    const dls_sweep_plan *plan = r->plan;
    const dls_study_watch *watch = plan->request.watch;
    const dls_sweep_trace *known = &plan->trace[plan->trace_of[i]];
    const dls_trace *trace = known->trace;
    dls_problems problems = {0};
    dls_config *config;
    dls_trace *read;
    dls_simulation *sim;
    char path[4200], *command;
    DLS_TRY(dls_sweep_inputs_check(&plan->inputs, err));
    DLS_TRY(dls_sweep_config(plan, plan->first + i, &problems, &config, err));
    DLS_TRY(dls_sweep_command(plan, plan->first + i, config, &command, err));
    if (!trace) {
        DLS_TRY(dls_sweep_load_trace(plan, config, &read, err));
        if (strcmp(dls_trace_about(read)->sha256, known->sha256) != 0) {
            return dls_fail(err, DLS_EINPUT, config->trace_path,
                            "has changed since the sweep began");
        }
        trace = read;
    }
    if (*config->trace_assign) {
        DLS_TRY(dls_config_assign_models(config, trace, &read, err));
        trace = read;
    }
    dls_sweep_store_path(r->folder, plan->id[i], ".h5", path, sizeof path);
    DLS_TRY(dls_simulation_of(config, trace, &sim, err));
    DLS_TRY(dls_simulation_stream(sim, path, err));
    DLS_TRY(watch->run ? watch->run(watch->user, sim, err) : dls_simulation_run(sim, err));
    return dls_simulation_write_as(sim, path, command, plan->id[i], err);
}

/* Never returns. */
static void work(const runner *r, size_t i, pid_t parent)
{
    const char *id = r->plan->id[i];
    dls_sweep_lock lock;
    dls_error err = {0};
    bool taken;
    /* Die with the parent, whatever it dies of; it may be dead already. */
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    if (getppid() != parent) {
        _exit(EXIT_TAKEN);
    }
    signal(SIGINT, SIG_IGN); /* the parent decides */
    signal(SIGTERM, SIG_IGN);
    signal(SIGHUP, SIG_IGN);
    dls_status status = dls_sweep_lock_take(r->folder, id, &lock, &taken, &err);
    if (status == DLS_OK && (!taken || dls_sweep_finished(r->folder, id))) {
        if (taken) {
            dls_sweep_lock_release(&lock);
        }
        _exit(EXIT_TAKEN);
    }
    if (status == DLS_OK) {
        (void)!dls_sweep_failure_put(r->folder, id, NULL, NULL);
        status = run_point(r, i, &err);
        if (status != DLS_OK && status != DLS_EINTERRUPTED) {
            char message[DLS_STUDY_FAILURE];
            snprintf(message, sizeof message, "%.150s%s%.1000s", err.where, *err.where ? ": " : "",
                     *err.msg ? err.msg : dls_status_str(status));
            (void)!dls_sweep_failure_put(r->folder, id, message, NULL);
        }
        dls_sweep_lock_release(&lock);
    }
    _exit(dls_status_exit_code(status));
}

/* ---- in the parent --------------------------------------------------------------------------- */

static dls_status start(runner *r, worker *w, size_t i, dls_error *err)
{
    const pid_t parent = getpid();
    const pid_t pid = fork();
    if (pid < 0) {
        return dls_fail(err, DLS_ERUN, NULL, "no process can be started: %s", strerror(errno));
    }
    if (pid == 0) {
        work(r, i, parent);
    }
    *w = (worker){pid, i};
    r->now.running++;
    return DLS_OK;
}

/* A worker has ended. */
static void note(runner *r, worker *w, int how)
{
    const char *id = r->plan->id[w->i];
    char message[DLS_STUDY_FAILURE];
    w->pid = 0;
    r->now.running--;
    /* One may be killed after its point is there. */
    if ((WIFSIGNALED(how) || WEXITSTATUS(how) == 0) && dls_sweep_finished(r->folder, id)) {
        r->now.finished++;
        return;
    }
    if (WIFEXITED(how) && WEXITSTATUS(how) == EXIT_TAKEN) {
        r->taken[r->n_taken++] = w->i;
        return;
    }
    r->now.failed++;
    if (WIFSIGNALED(how)) {
        snprintf(message, sizeof message, "killed by signal %d (%s)", WTERMSIG(how),
                 strsignal(WTERMSIG(how)));
    } else {
        dls_sweep_failure_get(r->folder, id, message);
        if (*message) {
            return; /* it has said why */
        }
        /* A plug-in may end the process as it likes. */
        snprintf(message, sizeof message, "ended without a result, exit code %d", WEXITSTATUS(how));
    }
    (void)!dls_sweep_failure_put(r->folder, id, message, NULL);
}

/* Wait until a worker ends, or for a tenth of a second. */
static dls_status wait_for_one(runner *r, dls_error *err)
{
    const dls_study_watch *watch = r->plan->request.watch;
    sigset_t child;
    sigemptyset(&child);
    sigaddset(&child, SIGCHLD);
    const struct timespec tenth = {0, 100000000};
    bool any = false;
    for (int k = 0; k < r->n_workers; k++) {
        int how;
        if (r->workers[k].pid > 0 && waitpid(r->workers[k].pid, &how, WNOHANG) > 0) {
            note(r, &r->workers[k], how);
            any = true;
        }
    }
    if (watch->progress) {
        watch->progress(watch->user, &r->now);
    }
    if (!any) {
        sigtimedwait(&child, NULL, &tenth);
    }
    return watch->interrupted && watch->interrupted(watch->user)
               ? dls_fail(err, DLS_EINTERRUPTED, NULL,
                          "interrupted: %zu of %zu points are finished, the same command goes on",
                          r->now.finished, r->now.n)
               : DLS_OK;
}

static void stop_all(runner *r)
{
    for (int k = 0; k < r->n_workers; k++) {
        if (r->workers[k].pid > 0) {
            kill(r->workers[k].pid, SIGKILL);
            waitpid(r->workers[k].pid, NULL, 0);
            r->workers[k].pid = 0;
        }
    }
    r->now.running = 0;
}

static worker *free_worker(runner *r)
{
    for (int k = 0; k < r->n_workers; k++) {
        if (r->workers[k].pid == 0) {
            return &r->workers[k];
        }
    }
    return NULL;
}

/* Start a worker for the point when one is free, unless it is finished. */
static dls_status run_one(runner *r, size_t i, dls_error *err)
{
    worker *w;
    if (dls_sweep_finished(r->folder, r->plan->id[i])) {
        r->now.finished++;
        r->now.skipped++;
        return DLS_OK;
    }
    while (!(w = free_worker(r))) {
        DLS_TRY(wait_for_one(r, err));
    }
    return start(r, w, i, err);
}

/* Look again at what other processes had: finished, failed, theirs still, or left by one that died.
 */
static dls_status ask_again(runner *r, dls_error *err)
{
    const size_t n = r->n_taken;
    r->n_taken = 0;
    for (size_t k = 0; k < n; k++) {
        const size_t i = r->taken[k];
        const dls_study_state state = dls_sweep_state_of(r->folder, r->plan->id[i]);
        if (state == DLS_STUDY_RUNNING) {
            r->taken[r->n_taken++] = i;
        } else if (state == DLS_STUDY_FAILED) {
            r->now.failed++;
        } else {
            DLS_TRY(run_one(r, i, err));
        }
    }
    return DLS_OK;
}

static dls_status run_all(runner *r, dls_error *err)
{
    for (size_t i = 0; i < r->plan->n; i++) {
        DLS_TRY(run_one(r, i, err));
    }
    while (r->now.running > 0 || r->n_taken > 0) {
        if (r->now.running == 0) {
            DLS_TRY(ask_again(r, err));
        }
        DLS_TRY(wait_for_one(r, err));
    }
    return DLS_OK;
}

static void runner_fini(runner *r)
{
    dls_free(r->workers);
    dls_free(r->taken);
}

dls_status dls_sweep_run(const dls_sweep_plan *plan, const char *folder, int workers,
                         dls_study_progress *done, dls_error *err)
{
    DLS_OWN(runner_fini)
    runner r = {.plan = plan, .folder = folder, .n_workers = workers, .now = {.n = plan->n}};
    DLS_TRY(dls_alloc_array(&r.workers, (size_t)workers, sizeof *r.workers, "workers", err));
    DLS_TRY(dls_alloc_array(&r.taken, plan->n + 1, sizeof *r.taken, "workers", err));
    dls_sweep_store_clean(folder);
    (void)H5open(); /* once for all workers; where it fails, their own call does, too, and says so */
    /* Blocked, so that none is missed between a look and the wait for the next; the workers inherit
     * the mask and have no children of their own. */
    sigset_t child, old;
    sigemptyset(&child);
    sigaddset(&child, SIGCHLD);
    signal(SIGCHLD, SIG_DFL); /* one that is ignored tells nothing about how a worker ended */
    sigprocmask(SIG_BLOCK, &child, &old);
    const dls_status status = run_all(&r, err);
    stop_all(&r);
    sigprocmask(SIG_SETMASK, &old, NULL);
    *done = r.now;
    return status;
}
