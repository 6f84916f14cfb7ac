/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * The public comparison: collects runs of results files, groups them into designs when the files
 * are those of studies, and prints how they compare.
 */
#include "base/alloc.h"
#include "base/guard.h"
#include "base/own.h"
#include "base/printable.h"
#include "dlsim/study.h"
#include "results/compare.h"
#include "results/merge.h"
#include "results/read.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef struct compared {
    char *file_label;   /* "a.h5", or "a.h5:ID" when the file holds several runs */
    char *policy;       /* "dlas-gpu/consolidated" */
    char *design_label; /* of a merged study, NULL for others */
    char *sha256;
    size_t design;
    int64_t seed;
    dls_summary summary;
} compared;

typedef struct texts {
    char **at; /* [n] owned */
    size_t n, cap;
} texts;

struct dls_comparison {
    compared *runs;
    size_t n, cap, n_designs;
    bool several; /* runs of a design, which differ in their seed */
    bool seeded;  /* a file has designs with seeds, by which all runs are then paired */
    texts baseline;
    texts file_baseline; /* in its place, those that a study names */
    texts warning;
};

static dls_status put(texts *t, const char *text, size_t len, dls_error *err)
{
    DLS_TRY(dls_grow(&t->at, &t->cap, t->n + 1, sizeof *t->at, err));
    char *copy = NULL;
    DLS_TRY(dls_alloc_array(&copy, len + 1, 1, "comparison", err));
    memcpy(copy, text, len);
    copy[len] = '\0';
    t->at[t->n++] = copy;
    return DLS_OK;
}

static void texts_fini(texts *t)
{
    for (size_t i = 0; i < t->n; i++) {
        dls_free(t->at[i]);
    }
    dls_free(t->at);
    *t = (texts){0};
}

dls_status dls_comparison_create(dls_comparison **out, dls_error *err)
{
    *out = dls_alloc_zero(1, sizeof **out);
    return *out ? DLS_OK : dls_nomem(err, "comparison", sizeof **out);
}

void dls_comparison_destroy(dls_comparison *c)
{
    for (size_t i = 0; c && i < c->n; i++) {
        DLS_FREE_ALL(c->runs[i].file_label, c->runs[i].policy, c->runs[i].design_label,
                     c->runs[i].sha256);
    }
    if (c) {
        texts_fini(&c->baseline);
        texts_fini(&c->file_baseline);
        texts_fini(&c->warning);
        DLS_FREE_ALL(c->runs, c);
    }
}

dls_status dls_comparison_baseline(dls_comparison *c, const char *label, dls_error *err)
{
    return put(&c->baseline, label, strlen(label), err);
}

/* ---- reading --------------------------------------------------------------------------------- */

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
static dls_status add_run(dls_comparison *c, const char *path, const dls_run *run, bool several,
                          const dls_points *points, size_t point, size_t design, dls_error *err)
{
    DLS_TRY(dls_grow(&c->runs, &c->cap, c->n + 1, sizeof *c->runs, err));
    const char *scheduler = dls_run_attr(run, "scheduler");
    const char *placement = dls_run_attr(run, "placement");
    compared *e = &c->runs[c->n++];
    *e = (compared){.design = design};
    e->file_label = join(path, several ? ":" : "", several ? run->id : "");
    e->policy = join(scheduler, *scheduler && *placement ? "/" : "", placement);
    e->sha256 = dls_strdup(dls_run_attr(run, "trace_sha256"));
    e->seed = strtoll(dls_run_attr(run, "seed"), NULL, 10);
    e->summary = run->summary;
    bool good = e->file_label && e->policy && e->sha256;
    if (point < points->n) {
        e->design = design + (size_t)points->design[point];
        c->several = c->several || points->replica[point] > 0;
        c->seeded = c->seeded || points->seeded;
        e->design_label = dls_strdup(points->label + point * points->label_width);
        good = good && e->design_label;
    }
    c->n_designs = e->design >= c->n_designs ? e->design + 1 : c->n_designs;
    return good ? DLS_OK : dls_nomem(err, "labels", 0);
}

/* The baselines that a study names, a line each, unless there are some. */
static dls_status take_baselines(dls_comparison *c, const dls_points *points, dls_error *err)
{
    const char *line = points->baseline;
    if (c->file_baseline.n > 0 || !line || !*line) {
        return DLS_OK;
    }
    for (bool more = true; more;) {
        const size_t len = strcspn(line, "\n");
        DLS_TRY(put(&c->file_baseline, line, len, err));
        more = line[len] != '\0';
        line += len + 1;
    }
    return DLS_OK;
}

static dls_status add_runs(dls_comparison *c, const char *path, const dls_results *file,
                           const char *run_id, const dls_points *points, dls_error *err)
{
    const size_t n = file->ids.n, first = c->n_designs;
    for (size_t i = 0, point = 0; i < (run_id ? 1 : n); i++) {
        DLS_HOLD(dls_run_close) dls_run *run = NULL;
        DLS_TRY(dls_run_open(file, run_id ? run_id : dls_results_run_id(file, i), &run, err));
        point = point_of(points, run->id, point);
        DLS_TRY(dls_run_verify(run, err));
        DLS_TRY(add_run(c, path, run, n > 1, points, point, points->n ? first : c->n_designs, err));
        point++;
    }
    return take_baselines(c, points, err);
}

dls_status dls_comparison_add(dls_comparison *c, const char *path, const char *run_id,
                              dls_error *err)
{
    DLS_IN_C_LOCALE;
    DLS_HDF5_LOCKED;
    DLS_HOLD(dls_results_close) dls_results *file = NULL;
    DLS_OWN(dls_points_fini) dls_points points = {0};
    DLS_TRY(dls_results_open(path, &file, err));
    DLS_TRY(dls_points_read(file, &points, err));
    return add_runs(c, path, file, run_id, &points, err);
}

/* ---- showing --------------------------------------------------------------------------------- */

/* Whether the policies alone tell the runs apart. */
static bool policies_differ(const dls_comparison *c)
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

static dls_status warn(dls_comparison *c, dls_error *err, const char *format, ...) DLS_PRINTF(3, 4);

static dls_status warn(dls_comparison *c, dls_error *err, const char *format, ...)
{
    char text[3 * DLS_PRINTABLE_BYTES];
    va_list ap;
    va_start(ap, format);
    vsnprintf(text, sizeof text, format, ap);
    va_end(ap);
    return put(&c->warning, text, strlen(text), err);
}

/* What makes two runs less comparable than they seem; the first that holds. */
enum { SAME, TRACE, JOBS, WINDOW, CLUSTER, DIFFERENCES };

static int difference(const compared *a, const compared *b)
{
    const dls_summary *s = &a->summary, *t = &b->summary;
    if (*a->sha256 && *b->sha256 && strcmp(a->sha256, b->sha256) != 0) {
        return TRACE;
    }
    if (s->part[0].jobs != t->part[0].jobs) {
        return JOBS;
    }
    if (s->warmup_s != t->warmup_s || s->cooldown_s != t->cooldown_s) {
        return WINDOW;
    }
    /* A study says itself that its clusters differ. */
    return s->total_gpus != t->total_gpus && !a->design_label && !b->design_label ? CLUSTER : SAME;
}

static dls_status warn_of(dls_comparison *c, int difference, const compared *a, const compared *b,
                          dls_error *err)
{
    char buf[DLS_PRINTABLE_BYTES], other[DLS_PRINTABLE_BYTES];
    const char *one = dls_printable(a->file_label, buf), *two = dls_printable(b->file_label, other);
    switch (difference) {
    case TRACE:
        return warn(c, err, "%s and %s replay different traces", one, two);
    case JOBS:
        return warn(c, err, "%s and %s replay %" PRIu64 " and %" PRIu64 " jobs of one trace", one, two,
                    a->summary.part[0].jobs, b->summary.part[0].jobs);
    case WINDOW:
        return warn(c, err, "%s and %s count other jobs (results.warmup, results.cooldown)", one, two);
    default:
        return warn(c, err, "%s and %s have clusters of %" PRId64 " and %" PRId64 " GPUs", one, two,
                    a->summary.total_gpus, b->summary.total_gpus);
    }
}

static dls_status look(dls_comparison *c, const dls_compare_run *runs, dls_error *err)
{
    bool told[DIFFERENCES] = {true};
    size_t n_early = 0, early = 0; /* early: the first of them */
    char buf[DLS_PRINTABLE_BYTES], more[40] = "";
    texts_fini(&c->warning);
    for (size_t i = 0; i < c->n; i++) {
        size_t k = 0;
        while (runs[k].replica != runs[i].replica) { /* seeds may have traces of their own */
            k++;
        }
        const int differ = difference(&c->runs[k], &c->runs[i]);
        if (!c->runs[i].summary.complete) {
            early = n_early++ == 0 ? i : early;
        }
        if (!told[differ]) { /* of many runs, once */
            DLS_TRY(warn_of(c, differ, &c->runs[k], &c->runs[i], err));
            told[differ] = true;
        }
    }
    if (n_early == 0) {
        return DLS_OK;
    }
    if (n_early > 1) {
        snprintf(more, sizeof more, " and %zu more", n_early - 1);
    }
    return warn(c, err, "%s%s %s stopped early", dls_printable(c->runs[early].file_label, buf), more,
                n_early > 1 ? "were" : "was");
}

/* Run by run, or design by design. */
static dls_status show(const dls_comparison *c, const dls_compare_run *runs, bool by_design,
                       const texts *baseline, FILE *to, bool json, dls_error *err)
{
    const dls_compare_options options = {(const char *const *)baseline->at, baseline->n};
    if (by_design) {
        return json ? dls_compare_designs_json(to, runs, c->n, &options, err)
                    : dls_compare_designs_print(to, runs, c->n, &options, err);
    }
    if (json) {
        return dls_compare_json(to, runs, c->n, err);
    }
    dls_compare_print(to, runs, c->n);
    return DLS_OK;
}

dls_status dls_comparison_print(dls_comparison *c, FILE *to, bool json, dls_error *err)
{
    DLS_IN_C_LOCALE;
    DLS_FREED dls_compare_run *runs = NULL;
    DLS_TRY(dls_alloc_array(&runs, c->n, sizeof *runs, "comparison", err));
    const bool short_labels = policies_differ(c);
    for (size_t i = 0; i < c->n; i++) {
        const compared *e = &c->runs[i];
        const char *label = e->design_label ? e->design_label
                            : short_labels  ? e->policy
                                            : e->file_label;
        runs[i] = (dls_compare_run){label, e->sha256, &e->summary, e->design, c->seeded ? e->seed : 0};
    }
    static const texts none;
    const texts *baseline = c->baseline.n ? &c->baseline : &c->file_baseline;
    const bool by_design = c->several || baseline->n > 0;
    dls_error bad = {0};
    dls_status status = look(c, runs, err);
    DLS_THEN(status, show(c, runs, by_design, baseline, to, json, &bad));
    if (status == DLS_EUSAGE && c->baseline.n == 0) {
        /* A study's own baseline may not be among its finished points. */
        status = warn(c, err, "%s", bad.msg);
        DLS_THEN(status, show(c, runs, by_design, &none, to, json, &bad));
    }
    if (bad.status != DLS_OK && status == bad.status && err) {
        *err = bad;
    }
    return status;
}

const char *dls_comparison_warning(const dls_comparison *c, size_t i)
{
    return i < c->warning.n ? c->warning.at[i] : NULL;
}
