/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Collects runs of results files for `compare` and `study`, groups them into designs when the files
 * are sweeps, and prints the comparison.
 */
#include "cli/comparing.h"

#include "base/alloc.h"
#include "base/printable.h"
#include "results/compare.h"
#include "results/merge.h"
#include "results/read.h"

#include <stdio.h>
#include <string.h>

void dls_comparing_fini(dls_comparing *c)
{
    for (size_t i = 0; i < c->n; i++) {
        dls_free(c->runs[i].file_label);
        dls_free(c->runs[i].policy);
        dls_free(c->runs[i].design_label);
        dls_free(c->runs[i].sha256);
    }
    dls_free(c->runs);
    dls_free(c->file_baseline.at);
    dls_free(c->file_baseline.text);
}

/* ---- reading -----------------------------------------------------------------------------------
 */

/* "a<between>b" on the heap. */
static char *join(const char *a, const char *between, const char *b)
{
    const size_t n = strlen(a) + strlen(between) + strlen(b) + 1;
    char *text = dls_alloc(n);
    if (text) {
        snprintf(text, n, "%s%s%s", a, between, b);
    }
    return text;
}

/* The point that a run is; points->n if the table does not have it. */
static size_t point_of(const dls_points *points, const char *run_id, size_t guess)
{
    size_t i = guess;
    if (i < points->n && strcmp(points->run + i * points->run_width, run_id) == 0) {
        return i;
    }
    for (i = 0; i < points->n; i++) {
        if (strcmp(points->run + i * points->run_width, run_id) == 0) {
            break;
        }
    }
    return i;
}

/* design: of a run that is no point of a sweep. */
static dls_status add_run(dls_comparing *c, const char *path, const dls_run *run, bool several,
                          const dls_points *points, size_t point, size_t design, dls_error *err)
{
    DLS_TRY(dls_grow(&c->runs, &c->cap, c->n + 1, sizeof *c->runs, err));
    const char *scheduler = dls_run_attr(run, "scheduler");
    const char *placement = dls_run_attr(run, "placement");
    dls_comparing_run *e = &c->runs[c->n++];
    *e = (dls_comparing_run){.design = design};
    e->file_label = join(path, several ? ":" : "", several ? dls_run_id(run) : "");
    e->policy = join(scheduler, *scheduler && *placement ? "/" : "", placement);
    e->sha256 = dls_strdup(dls_run_attr(run, "trace_sha256"));
    e->summary = *dls_run_summary(run);
    bool good = e->file_label && e->policy && e->sha256;
    if (point < points->n) {
        e->design = design + (size_t)points->design[point];
        e->replica = points->replica[point];
        e->design_label = dls_strdup(points->label + point * points->label_width);
        good = good && e->design_label;
    }
    c->n_designs = e->design >= c->n_designs ? e->design + 1 : c->n_designs;
    return good ? DLS_OK : dls_nomem(err, "labels", 0);
}

/* The baselines that a sweep names, a line each, unless there are some. */
static dls_status take_baselines(dls_comparing *c, const dls_points *points, dls_error *err)
{
    dls_words *w = &c->file_baseline;
    if (c->baseline.n > 0 || w->n > 0 || !points->baseline || !*points->baseline) {
        return DLS_OK;
    }
    w->text = dls_strdup(points->baseline);
    if (!w->text) {
        return dls_nomem(err, "labels", 0);
    }
    for (char *s = w->text; s;) {
        char *end = strchr(s, '\n');
        if (end) {
            *end++ = '\0';
        }
        DLS_TRY(dls_words_add(w, s, NULL, err));
        s = end;
    }
    return DLS_OK;
}

static dls_status add_runs(dls_comparing *c, const char *path, const dls_results *file,
                           const char *run_id, const dls_points *points, dls_error *err)
{
    const size_t n = dls_results_n_runs(file), first = c->n_designs;
    for (size_t i = 0, point = 0; i < (run_id ? 1 : n); i++) {
        dls_run *run;
        DLS_TRY(dls_run_open(file, run_id ? run_id : dls_results_run_id(file, i), &run, err));
        point = point_of(points, dls_run_id(run), point);
        dls_status status = dls_run_verify(run, err);
        if (status == DLS_OK) {
            status =
                add_run(c, path, run, n > 1, points, point, points->n ? first : c->n_designs, err);
        }
        point++;
        dls_run_close(run);
        DLS_TRY(status);
    }
    return take_baselines(c, points, err);
}

dls_status dls_comparing_add(dls_comparing *c, const char *path, const char *run_id, dls_error *err)
{
    dls_results *file = NULL;
    dls_points points = {0};
    DLS_TRY(dls_results_open(path, &file, err));
    dls_status status = dls_points_read(file, &points, err);
    if (status == DLS_OK) {
        status = add_runs(c, path, file, run_id, &points, err);
    }
    dls_points_fini(&points);
    dls_results_close(file);
    return status;
}

/* ---- showing -----------------------------------------------------------------------------------
 */

/* Whether the policies alone tell the runs apart. */
static bool policies_differ(const dls_comparing *c)
{
    for (size_t i = 0; i < c->n; i++) {
        if (!c->runs[i].policy[0]) {
            return false;
        }
        for (size_t k = 0; k < i; k++) {
            if (strcmp(c->runs[i].policy, c->runs[k].policy) == 0) {
                return false;
            }
        }
    }
    return true;
}

static void warn(const dls_comparing *c, const dls_compare_member *members)
{
    for (size_t i = 0; i < c->n; i++) {
        const char *sha = members[i].run.trace_sha256, *first = members[0].run.trace_sha256;
        char label[DLS_PRINTABLE_BYTES], other[DLS_PRINTABLE_BYTES];
        if (!c->runs[i].summary.complete) {
            fprintf(stderr, "dlsim: warning: %s was stopped early\n",
                    dls_printable(c->runs[i].file_label, label));
        }
        if (*sha && *first && strcmp(sha, first) != 0) {
            fprintf(stderr, "dlsim: warning: %s and %s replay different traces\n",
                    dls_printable(c->runs[0].file_label, label),
                    dls_printable(c->runs[i].file_label, other));
            break;
        }
    }
}

static dls_status show_runs(const dls_comparing *c, const dls_compare_member *members, bool json,
                            dls_error *err)
{
    dls_compare_run *runs = dls_alloc(c->n * sizeof *runs);
    if (!runs) {
        return dls_nomem(err, "comparison", c->n * sizeof *runs);
    }
    for (size_t i = 0; i < c->n; i++) {
        runs[i] = members[i].run;
    }
    dls_status status = DLS_OK;
    if (json) {
        status = dls_compare_json(stdout, runs, c->n, err);
    } else {
        dls_compare_print(stdout, runs, c->n);
    }
    dls_free(runs);
    return status;
}

static dls_status show_designs(const dls_comparing *c, const dls_compare_member *members,
                               const dls_compare_options *options, bool json, dls_error *err)
{
    return json ? dls_compare_designs_json(stdout, members, c->n, options, err)
                : dls_compare_designs_print(stdout, members, c->n, options, err);
}

dls_status dls_comparing_show(const dls_comparing *c, bool json, dls_error *err)
{
    dls_compare_member *members = dls_alloc(c->n * sizeof *members);
    if (!members) {
        return dls_nomem(err, "comparison", c->n * sizeof *members);
    }
    const bool short_labels = policies_differ(c);
    bool several = false;
    for (size_t i = 0; i < c->n; i++) {
        const dls_comparing_run *e = &c->runs[i];
        const char *label = e->design_label ? e->design_label
                            : short_labels  ? e->policy
                                            : e->file_label;
        members[i] = (dls_compare_member){{label, e->sha256, &e->summary}, e->design, e->replica};
        several = several || e->replica > 0;
    }
    warn(c, members);
    const dls_words *baseline = c->baseline.n ? &c->baseline : &c->file_baseline;
    dls_compare_options options = {baseline->at, baseline->n};
    dls_status status = !several && baseline->n == 0
                            ? show_runs(c, members, json, err)
                            : show_designs(c, members, &options, json, err);
    if (status == DLS_EUSAGE && c->file_baseline.n > 0) {
        /* The sweep's own baseline may not be among its finished points. */
        fprintf(stderr, "dlsim: warning: %s\n", err->msg);
        options.n_baselines = 0;
        status = show_designs(c, members, &options, json, err);
    }
    dls_free(members);
    return status;
}
