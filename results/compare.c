/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "results/compare.h"

#include "base/alloc.h"
#include "results/json_out.h"

#include <inttypes.h>
#include <math.h>
#include <string.h>

/* What runs are compared by. */
typedef struct figure {
    const char *name;  /* in JSON */
    const char *title; /* above the column */
    size_t offset;     /* of a double in dls_summary_part; ignored if whole is set */
    double (*whole)(const dls_summary *s);
    enum { SECONDS, PERCENT, COUNT } shown;
} figure;

static double makespan(const dls_summary *s)
{
    return s->makespan_s;
}

static double utilisation(const dls_summary *s)
{
    return s->utilisation;
}

static double preemptions(const dls_summary *s)
{
    return (double)s->part[0].preemptions;
}

#define PART(member) offsetof(dls_summary_part, member)
static const figure figures[] = {
    {"jct_mean", "JCT mean", PART(jct.mean_s), NULL, SECONDS},
    {"jct_median", "JCT median", PART(jct.median_s), NULL, SECONDS},
    {"jct_p95", "JCT p95", PART(jct.p95_s), NULL, SECONDS},
    {"jct_p99", "JCT p99", PART(jct.p99_s), NULL, SECONDS},
    {"queue_mean", "queueing", PART(queue.mean_s), NULL, SECONDS},
    {"makespan", "makespan", 0, makespan, SECONDS},
    {"utilisation", "GPU use", 0, utilisation, PERCENT},
    {"preemptions", "preempts", 0, preemptions, COUNT},
};
enum { N_FIGURES = sizeof figures / sizeof figures[0], N_PART_FIGURES = 5 };
#undef PART

static double value_of(const figure *f, const dls_summary *s, int part)
{
    if (f->whole) {
        return f->whole(s);
    }
    double value;
    memcpy(&value, (const char *)&s->part[part] + f->offset, sizeof value);
    return value;
}

/* value / first; NaN where that says nothing. */
static double ratio(double value, double first)
{
    return first > 0 || first < 0 ? value / first : (double)NAN;
}

static void value_cell(FILE *out, const figure *f, double value)
{
    char text[DLS_SECONDS_TEXT];
    if (f->shown == SECONDS) {
        dls_format_seconds(text, value);
    } else if (f->shown == PERCENT) {
        snprintf(text, sizeof text, "%.1f %%", 100 * value);
    } else {
        snprintf(text, sizeof text, "%.0f", value);
    }
    fprintf(out, "  %10s", text);
}

static int label_width(const dls_compare_run *runs, size_t n)
{
    size_t width = 10;
    for (size_t i = 0; i < n; i++) {
        const size_t len = strlen(runs[i].label);
        width = len > width ? len : width;
    }
    return width < 60 ? (int)width : 60;
}

/* Two lines per run but the first: values, and below them the ratios to the first run. */
static void print_rows(FILE *out, const dls_compare_run *runs, size_t n, int part, int n_figures,
                       int width)
{
    for (size_t i = 0; i < n; i++) {
        const dls_summary_part *p = &runs[i].summary->part[part];
        fprintf(out, "%-*s  %9" PRIu64, width, runs[i].label, p->completed);
        for (int k = 0; k < n_figures; k++) {
            value_cell(out, &figures[k], value_of(&figures[k], runs[i].summary, part));
        }
        fputc('\n', out);
        if (i == 0) {
            continue;
        }
        fprintf(out, "%-*s  %9s", width, "", "");
        for (int k = 0; k < n_figures; k++) {
            const double r = ratio(value_of(&figures[k], runs[i].summary, part),
                                   value_of(&figures[k], runs[0].summary, part));
            if (isnan(r)) {
                fprintf(out, "  %10s", "-");
            } else {
                fprintf(out, "  %9.3fx", r);
            }
        }
        fputc('\n', out);
    }
}

static void print_head(FILE *out, const char *title, int n_figures, int width)
{
    fprintf(out, "%-*s  %9s", width, title, "completed");
    for (int k = 0; k < n_figures; k++) {
        fprintf(out, "  %10s", figures[k].title);
    }
    fputc('\n', out);
}

void dls_compare_print(FILE *out, const dls_compare_run *runs, size_t n)
{
    if (n == 0) {
        return;
    }
    const int width = label_width(runs, n);
    print_head(out, "run", N_FIGURES, width);
    print_rows(out, runs, n, 0, N_FIGURES, width);
    for (int part = 1; part < DLS_SUMMARY_PARTS; part++) {
        const dls_summary_part *p = &runs[0].summary->part[part];
        uint64_t jobs = 0;
        for (size_t i = 0; i < n; i++) {
            jobs += runs[i].summary->part[part].jobs;
        }
        if (p->kind == DLS_PART_GPUS && jobs > 0) {
            char title[48];
            snprintf(title, sizeof title, "%s GPU%s", p->name,
                     strcmp(p->name, "1") == 0 ? "" : "s");
            fputc('\n', out);
            print_head(out, title, N_PART_FIGURES, width);
            print_rows(out, runs, n, part, N_PART_FIGURES, width);
        }
    }
}

dls_status dls_compare_json(FILE *out, const dls_compare_run *runs, size_t n, dls_error *err)
{
    json_object *top = json_object_new_object(), *list = json_object_new_array();
    if (!top || !list) {
        json_object_put(top);
        json_object_put(list);
        return dls_nomem(err, "JSON", 0);
    }
    json_object_object_add(top, "runs", list);
    for (size_t i = 0; i < n; i++) {
        const char *sha = runs[i].trace_sha256;
        json_object *run = json_object_new_object(), *ratios = json_object_new_object();
        json_object_object_add(run, "label", json_object_new_string(runs[i].label));
        json_object_object_add(run, "trace_sha256", json_object_new_string(sha ? sha : ""));
        for (int k = 0; k < N_FIGURES; k++) {
            const double r = ratio(value_of(&figures[k], runs[i].summary, 0),
                                   value_of(&figures[k], runs[0].summary, 0));
            json_object_object_add(ratios, figures[k].name, dls_json_number(r));
        }
        json_object_object_add(run, "ratio", ratios);
        json_object_object_add(run, "summary", dls_json_summary(runs[i].summary));
        json_object_array_add(list, run);
    }
    DLS_TRY(dls_json_print(out, top, err));
    return fputc('\n', out) == EOF ? dls_fail(err, DLS_EOUTPUT, NULL, "JSON cannot be written")
                                   : DLS_OK;
}

size_t dls_compare_other_trace(const dls_compare_run *runs, size_t n)
{
    const char *first = n ? runs[0].trace_sha256 : NULL;
    for (size_t i = 1; i < n; i++) {
        const char *sha = runs[i].trace_sha256;
        if (first && *first && sha && *sha && strcmp(first, sha) != 0) {
            return i;
        }
    }
    return 0;
}
