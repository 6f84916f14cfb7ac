/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Run the points of a plan in worker processes.
 *
 * The workers are forked: what the plan has loaded is theirs without a copy, and nothing that one
 * does, dying included, reaches another. Each takes the next point that nobody has until it has run a
 * few, so that they share the pages of its memory and HDF5's setting up; after a point that fails, or
 * whose policies are not dlsim's own and may remember it, another takes its place. Finished points
 * are left alone. A point that fails is remembered with its reason and the rest goes on; it is tried
 * again the next time. What another process has in hand is waited for, and run here if that one dies.
 * Workers die with the process that started them.
 */
#include "sweep/store.h"

#include "api/simulation.h"
#include "base/alloc.h"
#include "base/h5.h"
#include "base/owners.h"
#include "config/registry.h"

#include <errno.h>
#include <malloc.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum {
    POINTS = 64,          /* of a worker */
    KEPT_BYTES = 1 << 25, /* blocks below, and so much that is free, stay a worker's */
    NONE = -1             /* no point */
};

typedef enum state { OPEN, IN_HAND, FINISHED, SKIPPED, FAILED, TAKEN, STATES } state;

/* What all processes see. */
typedef struct board {
    atomic_size_t next;    /* point - plan->first that is taken next, if it is open */
    _Atomic uint8_t of[];  /* [plan->n] */
} board;

typedef struct worker {
    pid_t pid; /* 0: free */
    _Atomic int64_t hand; /* point - plan->first that it is at */
} worker;

typedef struct runner {
    const dls_sweep_plan *plan;
    const char *folder;
    board *points;
    worker *workers; /* shared, too */
    int n_workers;
    dls_study_progress now;
} runner;

/* ---- in the worker --------------------------------------------------------------------------- */

/* *foreign: a policy of the point is not built in. */
static dls_status run_point(const runner *r, size_t i, bool *foreign, dls_error *err)
{
    const dls_sweep_plan *plan = r->plan;
    const dls_study_watch *watch = plan->request.watch;
    const dls_sweep_trace *known = &plan->trace[plan->trace_of[i]];
    const dls_trace *trace = known->trace;
    DLS_OWN(dls_problems_fini) dls_problems problems = {0};
    DLS_HOLD(dls_config_destroy) dls_config *config = NULL;
    DLS_HOLD(dls_trace_destroy) dls_trace *read = NULL, *assigned = NULL;
    DLS_FREED char *command = NULL;
    DLS_HOLD(dls_simulation_destroy) dls_simulation *sim = NULL;
    char path[4200];
    DLS_TRY(dls_sweep_inputs_check(&plan->inputs, err));
    DLS_TRY(dls_sweep_config(plan, plan->first + i, &problems, &config, err));
    DLS_TRY(dls_sweep_command(plan, plan->first + i, config, &command, err));
    *foreign = !dls_registry_built_in(config->sim.sched) || !dls_registry_built_in(config->sim.placement);
    if (!trace) {
        DLS_TRY(dls_sweep_load_trace(plan, config, &read, err));
        if (strcmp(dls_trace_about(read)->sha256, known->sha256) != 0) {
            return dls_fail(err, DLS_EINPUT, config->trace_path,
                            "has changed since the sweep began");
        }
        trace = read;
    }
    if (*config->trace_assign) {
        DLS_TRY(dls_config_assign_models(config, trace, &assigned, err));
        trace = assigned;
    }
    dls_sweep_store_path(r->folder, plan->id[i], ".h5", path, sizeof path);
    DLS_TRY(dls_simulation_of(config, trace, &sim, err));
    DLS_TRY(dls_simulation_stream(sim, path, err));
    DLS_TRY(watch->run ? watch->run(watch->user, sim, err) : dls_simulation_run(sim, err));
    return dls_simulation_write_as(sim, path, command, plan->id[i], err);
}

/* The point's fate is on the board, or the process ends and the parent sees to it. True: go on. */
static bool do_point(const runner *r, size_t i)
{
    const char *id = r->plan->id[i];
    dls_sweep_lock lock;
    dls_error err = {0};
    bool taken, foreign = true;
    dls_status status = dls_sweep_lock_take(r->folder, id, &lock, &taken, &err);
    if (status != DLS_OK) {
        _exit(dls_status_exit_code(status));
    }
    if (!taken || dls_sweep_finished(r->folder, id)) {
        if (taken) {
            dls_sweep_lock_release(&lock);
        }
        atomic_store(&r->points->of[i], TAKEN);
        return true;
    }
    (void)!dls_sweep_failure_put(r->folder, id, NULL, NULL);
    status = run_point(r, i, &foreign, &err);
    if (status != DLS_OK && status != DLS_EINTERRUPTED) {
        char message[DLS_STUDY_FAILURE];
        snprintf(message, sizeof message, "%.150s%s%.1000s", err.where, *err.where ? ": " : "",
                 *err.msg ? err.msg : dls_status_str(status));
        (void)!dls_sweep_failure_put(r->folder, id, message, NULL);
    }
    dls_sweep_lock_release(&lock);
    if (status != DLS_OK) {
        _exit(dls_status_exit_code(status));
    }
    atomic_store(&r->points->of[i], FINISHED);
    return !foreign;
}

/* Never returns. */
static void work(const runner *r, worker *w, pid_t parent)
{
    /* Die with the parent, whatever it dies of; it may be dead already. */
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    if (getppid() != parent) {
        _exit(0);
    }
    signal(SIGINT, SIG_IGN); /* the parent decides */
    signal(SIGTERM, SIG_IGN);
    signal(SIGHUP, SIG_IGN);
    mallopt(M_MMAP_THRESHOLD, KEPT_BYTES);
    mallopt(M_TRIM_THRESHOLD, KEPT_BYTES);
    size_t i;
    for (int n = 0; n < POINTS && (i = atomic_fetch_add(&r->points->next, 1)) < r->plan->n;) {
        uint8_t open = OPEN;
        atomic_store(&w->hand, (int64_t)i);
        if (atomic_compare_exchange_strong(&r->points->of[i], &open, IN_HAND)) {
            n = do_point(r, i) ? n + 1 : POINTS;
        }
    }
    _exit(0);
}

/* ---- in the parent --------------------------------------------------------------------------- */

static dls_status start(runner *r, worker *w, dls_error *err)
{
    const pid_t parent = getpid();
    atomic_store(&w->hand, NONE);
    const pid_t pid = fork();
    if (pid < 0) {
        return dls_fail(err, DLS_ERUN, NULL, "no process can be started: %s", strerror(errno));
    }
    if (pid == 0) {
        work(r, w, parent);
    }
    w->pid = pid;
    return DLS_OK;
}

/* A worker has ended: what became of its point? */
static void note(runner *r, worker *w, int how)
{
    char message[DLS_STUDY_FAILURE];
    const int64_t i = atomic_load(&w->hand);
    w->pid = 0;
    if (i == NONE || atomic_load(&r->points->of[i]) != IN_HAND) {
        return;
    }
    const char *id = r->plan->id[i];
    /* One may be killed after its point is there. */
    const bool done = (WIFSIGNALED(how) || WEXITSTATUS(how) == 0) && dls_sweep_finished(r->folder, id);
    atomic_store(&r->points->of[i], done ? FINISHED : FAILED);
    if (done) {
        return;
    }
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

static void count(runner *r, size_t n[STATES])
{
    memset(n, 0, STATES * sizeof *n);
    for (size_t i = 0; i < r->plan->n; i++) {
        n[atomic_load_explicit(&r->points->of[i], memory_order_relaxed)]++;
    }
    r->now = (dls_study_progress){r->plan->n, n[FINISHED] + n[SKIPPED], n[FAILED], n[IN_HAND], n[SKIPPED]};
    if (r->plan->request.watch->progress) {
        r->plan->request.watch->progress(r->plan->request.watch->user, &r->now);
    }
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

/* Look again at what other processes had: finished, failed, theirs still, or left by one that died. */
static void ask_again(runner *r)
{
    static const state become[] = {[DLS_STUDY_MISSING] = OPEN, [DLS_STUDY_FINISHED] = SKIPPED,
                                   [DLS_STUDY_FAILED] = FAILED, [DLS_STUDY_RUNNING] = TAKEN};
    for (size_t i = 0; i < r->plan->n; i++) {
        if (atomic_load(&r->points->of[i]) == TAKEN) {
            atomic_store(&r->points->of[i], become[dls_sweep_state_of(r->folder, r->plan->id[i])]);
        }
    }
    atomic_store(&r->points->next, 0);
}

static dls_status run_all(runner *r, dls_error *err)
{
    size_t n[STATES];
    for (size_t i = 0; i < r->plan->n; i++) {
        atomic_store(&r->points->of[i], dls_sweep_finished(r->folder, r->plan->id[i]) ? SKIPPED : OPEN);
    }
    for (;;) {
        int running = 0;
        count(r, n);
        for (int k = 0; k < r->n_workers; k++) {
            worker *w = &r->workers[k];
            if (w->pid == 0 && n[OPEN] > 0 && atomic_load(&r->points->next) < r->plan->n) {
                DLS_TRY(start(r, w, err));
                n[OPEN]--;
            }
            running += w->pid > 0;
        }
        if (running == 0 && n[OPEN] + n[TAKEN] == 0) {
            return DLS_OK;
        }
        DLS_TRY(wait_for_one(r, err));
        if (running == 0) {
            ask_again(r);
        }
    }
}

static void *shared(size_t bytes)
{
    void *at = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    return at == MAP_FAILED ? NULL : at;
}

dls_status dls_sweep_run(const dls_sweep_plan *plan, const char *folder, int workers,
                         dls_study_progress *done, dls_error *err)
{
    const size_t board_bytes = sizeof(board) + plan->n, worker_bytes = (size_t)workers * sizeof(worker);
    runner r = {.plan = plan, .folder = folder, .n_workers = workers, .now = {.n = plan->n}};
    r.points = shared(board_bytes);
    r.workers = r.points ? shared(worker_bytes) : NULL;
    if (!r.workers) {
        return dls_nomem(err, "workers", board_bytes + worker_bytes);
    }
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
    munmap(r.workers, worker_bytes);
    munmap(r.points, board_bytes);
    return status;
}
