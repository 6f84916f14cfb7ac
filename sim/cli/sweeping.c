/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * The steps of a study, with reports on stderr.
 */
#include "cli/sweeping.h"

#include "cli/signals.h"

#include <unistd.h>

/* Workers are processes: more only cost memory. */
enum { WORKERS_MAX = 1024 };

const dls_arg dls_sweeping_args[] = {
    DLS_INT(dls_sweeping, workers, "jobs", 'j', 1, WORKERS_MAX,
            "processes at a time; as many as there are processors if left out"),
    DLS_INT(dls_sweeping, replicas, "replicas", 0, 1, DLS_STUDY_POINTS_MAX,
            "so many seeds a design, the same for all, in place of the file's"),
    DLS_INCLUDE(dls_sweeping, o, dls_replay_args), DLS_ARGS_END};

void dls_sweeping_fini(void *sweeping)
{
    dls_sweeping *s = sweeping;
    dls_study_destroy(s->study);
    dls_replay_fini(&s->o);
}

/* ---- what a study asks and tells ------------------------------------------------------------- */

static void tell_trace(void *user, const dls_trace *trace)
{
    dls_sweeping *s = user;
    if (!s->o.quiet && !s->told) {
        dls_trace_print_notes(stderr, trace, true);
        s->told = true;
    }
}

static dls_status run_point(void *user, dls_simulation *sim, dls_error *err)
{
    const dls_sweeping *s = user;
    return dls_replay_run(&s->o, true, sim, err);
}

static void progress(void *user, const dls_study_progress *now)
{
    dls_sweeping *s = user;
    const size_t done = now->finished + now->failed - now->skipped, all = now->n - now->skipped;
    char detail[100], failed[40] = "";
    if (now->failed) {
        snprintf(failed, sizeof failed, ", %zu failed", now->failed);
    }
    snprintf(detail, sizeof detail, "%zu of %zu points%s", now->finished, now->n, failed);
    dls_progress_draw(&s->bar, all ? (double)done / (double)all : 1, detail);
}

/* ---- the steps ------------------------------------------------------------------------------- */

dls_status dls_sweeping_load(dls_sweeping *s, const char *path, dls_error *err)
{
    return dls_replay_tell(s->o.setup, dls_study_load(s->o.setup, path, &s->study, err));
}

dls_status dls_sweeping_plan(dls_sweeping *s, dls_error *err)
{
    dls_replay_watch(&s->o);
    const dls_study_watch watch = {tell_trace, run_point, dls_signals_interrupted, progress, s};
    dls_study_set_watch(s->study, &watch);
    if (s->replicas) {
        dls_study_replicas(s->study, (size_t)s->replicas);
    }
    return dls_replay_tell(s->o.setup, dls_study_plan(s->study, s->output, s->first, s->n, err));
}

dls_study_state dls_sweeping_tell(const dls_sweeping *s, size_t i, FILE *to)
{
    char failure[DLS_STUDY_FAILURE];
    const dls_study_state state = dls_study_state_of(s->study, i, failure);
    if (state == DLS_STUDY_FAILED && to) {
        const dls_study_point point = dls_study_point_at(s->study, i);
        fprintf(to, "point %zu (%s) failed: %s\n", point.number, point.label, failure);
    }
    return state;
}

/* The first of the points that failed, and why. */
static void report_failures(const dls_sweeping *s, size_t n_failed)
{
    enum { SHOWN = 5 };
    const size_t n = dls_study_about(s->study).n;
    size_t shown = 0;
    for (size_t i = 0; i < n && shown < SHOWN; i++) {
        shown += dls_sweeping_tell(s, i, stderr) == DLS_STUDY_FAILED;
    }
    if (n_failed > shown) {
        fprintf(stderr, "... and %zu more\n", n_failed - shown);
    }
}

dls_status dls_sweeping_run(dls_sweeping *s, dls_error *err)
{
    const long processors = sysconf(_SC_NPROCESSORS_ONLN);
    const int workers = s->workers ? (int)s->workers : processors > 0 ? (int)processors : 1;
    dls_signals_catch();
    dls_progress_start(&s->bar, s->o.progress, s->o.quiet, dls_study_about(s->study).name);
    const dls_status status = dls_study_run(s->study, workers, &s->done, err);
    dls_progress_stop(&s->bar);
    dls_signals_release();
    if (status == DLS_OK && s->done.failed > 0) {
        report_failures(s, s->done.failed);
        return dls_fail(err, DLS_ERUN, NULL, "%zu of %zu points failed", s->done.failed, s->done.n);
    }
    return status;
}

void dls_sweeping_file(const dls_sweeping *s, char *buf, size_t n)
{
    const dls_study_facts about = dls_study_about(s->study);
    snprintf(buf, n, "%s/%s.h5", about.folder, about.name);
}

dls_status dls_sweeping_merge(dls_sweeping *s, const char *file, bool link, dls_error *err)
{
    char own[4200];
    size_t n;
    dls_sweeping_file(s, own, sizeof own);
    const char *path = file ? file : own;
    /* One in the study's own folder is the study's to replace. */
    DLS_TRY(dls_output_check(path, s->o.force || !file, err));
    DLS_TRY(dls_study_merge(s->study, path, link, &n, err));
    if (!s->o.quiet) {
        fprintf(stderr, "results: %s (%zu of %zu points)\n", path, n, dls_study_about(s->study).n);
    }
    return DLS_OK;
}
