/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * The steps of a sweep, with reports on stderr.
 */
#include "cli/sweeping.h"

#include "api/write_results.h"
#include "base/alloc.h"
#include "base/shell.h"
#include "cli/signals.h"
#include "cli/trace_print.h"
#include "config/prepare.h"
#include "sweep/merge.h"

#include <string.h>
#include <unistd.h>

/* Workers are processes: more only cost memory. */
enum { WORKERS_MAX = 1024 };

/* ---- what the points ask for -------------------------------------------------------------------
 */

static dls_status load_trace(void *user, const dls_config *config, dls_trace **out, dls_error *err)
{
    dls_sweeping *s = user;
    DLS_TRY(dls_config_load_trace(config, out, err));
    if (!s->o.quiet && !s->told) {
        dls_trace_print_notes(stderr, *out, true);
        s->told = true;
    }
    return DLS_OK;
}

static dls_status run_point(void *user, const dls_sweep_point *point, dls_error *err)
{
    dls_sweeping *s = user;
    const dls_config *config = point->config;
    const dls_trace *trace = point->trace;
    dls_trace *assigned = NULL;
    dls_record *rec;
    dls_summary summary;
    double wall_s;
    s->o.quiet = true;
    s->o.progress = DLS_UI_NEVER;
    if (*config->trace_assign) {
        DLS_TRY(dls_config_assign_models(config, trace, &assigned, err));
        trace = assigned;
    }
    DLS_TRY(dls_replay_run(&s->o, config, trace, &rec, &wall_s, err));
    if (dls_signals_noted()) { /* by the parent, just before this process began */
        return dls_fail(err, DLS_EINTERRUPTED, NULL, "interrupted");
    }
    DLS_TRY(dls_summary_make(trace, rec, config->warmup_us, config->cooldown_us, wall_s, &summary,
                             err));
    const dls_written_by by = {.command = point->command, .run_id = point->id};
    return dls_config_write_results(config, point->path, &by, trace, rec, &summary, err);
}

static bool interrupted(void *user)
{
    (void)user;
    return dls_signals_noted();
}

static void progress(void *user, const dls_sweep_progress *now)
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

/* ---- the steps ---------------------------------------------------------------------------------
 */

const dls_arg dls_sweeping_args[] = {
    DLS_INT(dls_sweeping, workers, "jobs", 'j', 1, WORKERS_MAX,
            "processes at a time; as many as there are processors if left out"),
    DLS_INT(dls_sweeping, replicas, "replicas", 0, 1, DLS_SWEEP_POINTS_MAX,
            "so many seeds a design, the same for all, in place of the file's"),
    DLS_INCLUDE(dls_sweeping, o, dls_replay_args), DLS_ARGS_END};

dls_status dls_sweeping_init(void *sweeping, dls_call *call, dls_error *err)
{
    dls_sweeping *s = sweeping;
    s->host = (dls_sweep_host){load_trace, run_point, interrupted, progress, s};
    return dls_replay_init(&s->o, call, err);
}

void dls_sweeping_fini(void *sweeping)
{
    dls_sweeping *s = sweeping;
    dls_sweep_plan_destroy(s->plan);
    dls_sweep_destroy(s->sweep);
    dls_replay_fini(&s->o);
}

dls_status dls_sweeping_load(dls_sweeping *s, const char *path, dls_error *err)
{
    dls_problems problems = {0};
    const dls_status status = dls_sweep_load(path, &problems, &s->sweep, err);
    dls_replay_problems(&problems);
    return status;
}

dls_status dls_sweeping_plan(dls_sweeping *s, dls_error *err)
{
    dls_problems problems = {0};
    if (s->output || *s->sweep->output) {
        snprintf(s->folder, sizeof s->folder, "%s", s->output ? s->output : s->sweep->output);
    } else {
        snprintf(s->folder, sizeof s->folder, "%s.sweep", s->sweep->name);
    }
    if (s->replicas) {
        s->sweep->n_seeds = (size_t)s->replicas;
        dls_free(s->sweep->seed);
        s->sweep->seed = NULL;
    }
    const dls_sweep_request request = {.sweep = s->sweep,
                                       .overrides = s->o.overrides,
                                       .n_overrides = s->o.n_overrides,
                                       .registry = s->o.registry,
                                       .host = &s->host,
                                       .first = s->first,
                                       .n = s->n};
    const dls_status status = dls_sweep_plan_make(&request, &problems, &s->plan, err);
    dls_replay_problems(&problems);
    return status;
}

void dls_sweeping_tell_failure(const dls_sweeping *s, size_t i, FILE *to)
{
    const size_t point = s->plan->first + i;
    char label[300], message[DLS_SWEEP_MESSAGE];
    dls_sweep_failure_get(s->folder, s->plan->id[i], message);
    fprintf(to, "point %zu (%s) failed: %s\n", point,
            dls_sweep_label(s->plan, dls_sweep_design(s->plan, point), label, sizeof label),
            message);
}

/* The first of the points that failed, and why. */
static void report_failures(const dls_sweeping *s, size_t n_failed)
{
    enum { SHOWN = 5 };
    size_t shown = 0;
    for (size_t i = 0; i < s->plan->n && shown < SHOWN; i++) {
        if (dls_sweep_state_of(s->folder, s->plan->id[i]) == DLS_SWEEP_FAILED) {
            dls_sweeping_tell_failure(s, i, stderr);
            shown++;
        }
    }
    if (n_failed > shown) {
        fprintf(stderr, "... and %zu more\n", n_failed - shown);
    }
}

dls_status dls_sweeping_run(dls_sweeping *s, dls_error *err)
{
    const long processors = sysconf(_SC_NPROCESSORS_ONLN);
    const int workers = s->workers ? (int)s->workers : processors > 0 ? (int)processors : 1;
    dls_status status = dls_sweep_store_open(s->folder, err);
    if (status == DLS_OK) {
        dls_signals_catch();
        dls_progress_start(&s->bar, s->o.progress, s->o.quiet, s->sweep->name);
        status = dls_sweep_run(s->plan, s->folder, workers, &s->done, err);
        dls_progress_stop(&s->bar);
        dls_signals_release();
    }
    if (status == DLS_OK && s->done.failed > 0) {
        report_failures(s, s->done.failed);
        status =
            dls_fail(err, DLS_ERUN, NULL, "%zu of %zu points failed", s->done.failed, s->done.n);
    }
    return status;
}

dls_status dls_sweeping_merge(dls_sweeping *s, const char *file, bool link, dls_error *err)
{
    char path[4200];
    size_t n;
    if (file) {
        snprintf(path, sizeof path, "%s", file);
    } else {
        snprintf(path, sizeof path, "%s/%s.h5", s->folder, s->sweep->name);
    }
    /* One in the sweep's own folder is the sweep's to replace. */
    dls_status status = dls_replay_check_output(path, s->o.force || !file, err);
    if (status == DLS_OK) {
        status = dls_sweep_merge(s->plan, s->folder, path, link, &n, err);
    }
    if (status == DLS_OK && !s->o.quiet) {
        fprintf(stderr, "results: %s (%zu of %zu points)\n", path, n, s->plan->n);
    }
    return status;
}
