/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Compares designs that were run with several seeds: means with 95 % intervals (Student's t), and
 * paired ratios to a baseline design with the same seeds.
 */
#include "base/alloc.h"
#include "base/own.h"
#include "base/printable.h"
#include "base/suggest.h"
#include "results/compare_impl.h"
#include "results/json_out.h"

#include <gsl/gsl_cdf.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* ---- estimates ------------------------------------------------------------------------------- */

/* Mean and half width of the 95 % interval of a sample, taken in one value at a time (Welford). */
typedef struct estimate {
    size_t n, missing; /* missing: runs, or pairs, that have no such number */
    double mean, squares;
} estimate;

static void take(estimate *e, double value)
{
    e->missing += isnan(value);
    if (!isnan(value)) {
        const double from = value - e->mean;
        e->n++;
        e->mean += from / (double)e->n;
        e->squares += from * (value - e->mean);
    }
}

static double mean_of(const estimate *e)
{
    return e->n > 0 ? e->mean : (double)NAN;
}

/* NaN for fewer than two values. */
static double half_width(const estimate *e)
{
    if (e->n < 2) {
        return (double)NAN;
    }
    const double df = (double)(e->n - 1);
    return gsl_cdf_tdist_Pinv(0.975, df) * sqrt(e->squares / df / (double)e->n);
}

/* The runs by design. */
typedef struct set {
    const dls_compare_run *runs;
    const dls_compare_options *options;
    size_t *order; /* runs of design d: order[start[d]] to order[start[d + 1] - 1], by replica */
    size_t *start; /* [n_designs + 1] */
    size_t n_designs;
    int shown;   /* figures for people */
    bool marked; /* one of them is of a part of the runs */
    bool differ; /* one of them is not the same for all seeds */
} set;

static const dls_compare_run *member(const set *s, size_t at)
{
    return &s->runs[s->order[at]];
}

static size_t n_runs(const set *s, size_t design)
{
    return s->start[design + 1] - s->start[design];
}

static double value(const set *s, size_t at, int figure)
{
    return dls_figure_value(&dls_figures[figure], member(s, at)->summary, 0);
}

static estimate estimate_of(const set *s, size_t design, int figure)
{
    estimate e = {0, 0, 0, 0};
    for (size_t i = s->start[design]; i < s->start[design + 1]; i++) {
        take(&e, value(s, i, figure));
    }
    return e;
}

static estimate ratio_of(const set *s, size_t design, size_t base, int figure)
{
    estimate e = {0, 0, 0, 0};
    size_t i = s->start[design], k = s->start[base];
    while (i < s->start[design + 1] && k < s->start[base + 1]) {
        const int64_t a = member(s, i)->replica, b = member(s, k)->replica;
        if (a == b) {
            take(&e, dls_figure_ratio(value(s, i, figure), value(s, k, figure)));
        } else {
            e.missing++;
        }
        i += a <= b;
        k += b <= a;
    }
    e.missing += s->start[design + 1] - i + s->start[base + 1] - k;
    return e;
}

static void set_fini(set *s)
{
    DLS_FREE_ALL(s->order, s->start);
}

static int by_design(const void *a, const void *b, void *user)
{
    const dls_compare_run *runs = user;
    const size_t i = *(const size_t *)a, k = *(const size_t *)b;
    const dls_compare_run *one = &runs[i], *other = &runs[k];
    int order = DLS_ORDER(one->design, other->design);
    order = order ? order : DLS_ORDER(one->replica, other->replica);
    return order ? order : DLS_ORDER(i, k);
}

static dls_status set_init(set *s, const dls_compare_run *runs, size_t n,
                           const dls_compare_options *options, dls_error *err)
{
    *s = (set){.runs = runs, .options = options};
    for (size_t i = 0; i < n; i++) {
        s->n_designs = runs[i].design >= s->n_designs ? runs[i].design + 1 : s->n_designs;
    }
    DLS_TRY(DLS_ALLOC_ALL("comparison", err, DLS_ARRAY(s->order, n ? n : 1),
                          DLS_ARRAY(s->start, s->n_designs + 1)));
    for (size_t i = 0; i < n; i++) {
        s->order[i] = i;
        s->start[runs[i].design + 1]++;
    }
    for (size_t d = 0; d < s->n_designs; d++) {
        s->start[d + 1] += s->start[d];
    }
    qsort_r(s->order, n, sizeof *s->order, by_design, (void *)(uintptr_t)runs);
    return DLS_OK;
}

/* ---- designs and baselines ------------------------------------------------------------------- */

/* Its label, NULL if it has no run. */
static const char *label_of(const set *s, size_t design)
{
    return n_runs(s, design) ? member(s, s->start[design])->label : NULL;
}

/* Whether the text goes on with ", KEY=". */
static bool key_follows(const char *text)
{
    static const char letters[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_.[]";
    const size_t len = strncmp(text, ", ", 2) == 0 ? strspn(text + 2, letters) : 0;
    return len > 0 && text[2 + len] == '=';
}

/* The next part of a label: its length; *at moves past it and what divides it from the next. Policies are
 * divided by '/', which the value of a key may have in it. */
static size_t next_part(const char **at)
{
    const char *p = *at;
    size_t len = 0;
    bool value = false;
    while (p[len] && (value || p[len] != '/') && !key_follows(p + len)) {
        value = value || p[len] == '=';
        len++;
    }
    *at = p + len + (p[len] == '\0' ? 0 : p[len] == ',' ? 2 : 1);
    return len;
}

bool dls_compare_label_has(const char *label, const char *name)
{
    bool has = strcmp(label, name) == 0;
    for (const char *rest = label; *rest && !has;) {
        const char *part = rest;
        const size_t len = next_part(&rest);
        has = len == strlen(name) && memcmp(part, name, len) == 0;
    }
    return has;
}

/* Whether `label` is `other` with one part of it, or none, replaced by `part`. */
static bool replaces(const char *label, const char *other, const char *part)
{
    bool has = false;
    size_t differ = 0;
    while (*label && *other) {
        const char *a = label, *b = other;
        const size_t len_a = next_part(&label), len_b = next_part(&other);
        const bool is = len_a == strlen(part) && memcmp(a, part, len_a) == 0;
        const bool same = len_a == len_b && memcmp(a, b, len_a) == 0;
        has = has || is;
        if (!same) {
            differ += is ? 1 : 2;
        }
    }
    return has && differ <= 1 && !*label && !*other;
}

/* The design that stands for the k-th baseline beside `design`, n_designs if none does; what the
 * baseline is called in *name. */
static size_t baseline_of(const set *s, size_t design, size_t k, const char **name)
{
    const char *own = label_of(s, design), *wanted = *name = s->options->n_baselines
                                                                 ? s->options->baselines[k]
                                                                 : s->runs[0].label;
    if (s->options->n_baselines == 0) {
        return s->runs[0].design;
    }
    size_t stands = s->n_designs;
    for (size_t d = 0; d < s->n_designs; d++) {
        const char *label = label_of(s, d);
        if (label && strcmp(label, wanted) == 0) {
            return d;
        }
        if (label && stands == s->n_designs && replaces(label, own, wanted)) {
            stands = d;
        }
    }
    return stands;
}

static dls_status check_baselines(const set *s, dls_error *err)
{
    for (size_t k = 0; k < s->options->n_baselines; k++) {
        const char *name = s->options->baselines[k], *near = NULL;
        bool found = false;
        for (size_t d = 0; d < s->n_designs && !found; d++) {
            const char *const candidate[] = {label_of(s, d), NULL};
            near = near || !candidate[0] ? near : dls_suggest(name, candidate);
            found = candidate[0] && baseline_of(s, d, k, &name) < s->n_designs;
        }
        if (!found) {
            return dls_fail(err, DLS_EUSAGE, NULL, "no run is called '%s', wholly or in part%s",
                            name, DLS_DID_YOU_MEAN(near));
        }
    }
    return DLS_OK;
}

/* ---- the table ------------------------------------------------------------------------------- */

/* Half widths, as parts of the means. */
static void print_widths(FILE *out, const set *s, size_t design, int width)
{
    fprintf(out, "%-*s  %5s", width, "", "");
    for (int f = 0; f < s->shown; f++) {
        const estimate e = estimate_of(s, design, f);
        const double part = dls_figure_ratio(half_width(&e), fabs(mean_of(&e)));
        if (isnan(part)) {
            fprintf(out, "  %10s", "-");
        } else {
            fprintf(out, "  +-%6.2f %%", 100 * part);
        }
    }
    fputc('\n', out);
}

/* Whether some have no part in the mean; noted, for what is said below the table. */
static bool in_part(set *s, const estimate *e)
{
    const bool is = e->n > 0 && e->missing > 0;
    s->marked = s->marked || is;
    return is;
}

static void print_ratios(FILE *out, set *s, size_t design, size_t base, const char *name, int width)
{
    char text[DLS_PRINTABLE_BYTES + 4], label[DLS_PRINTABLE_BYTES];
    bool widths = false;
    snprintf(text, sizeof text, "  / %s", dls_printable(name, label));
    dls_printable_cell(out, text, width);
    fprintf(out, "  %5s", "");
    for (int f = 0; f < s->shown; f++) {
        const estimate e = ratio_of(s, design, base, f);
        widths = widths || e.n > 1;
        dls_figure_ratio_cell(out, mean_of(&e), in_part(s, &e));
    }
    fputc('\n', out);
    if (!widths) {
        return;
    }
    fprintf(out, "%-*s  %5s", width, "", "");
    for (int f = 0; f < s->shown; f++) {
        const estimate e = ratio_of(s, design, base, f);
        if (e.n < 2) {
            fprintf(out, "  %10s", "-");
        } else {
            fprintf(out, "  +-%7.3f ", half_width(&e));
        }
    }
    fputc('\n', out);
}

static size_t n_baselines(const set *s)
{
    return s->options->n_baselines ? s->options->n_baselines : 1;
}

static void print_design(FILE *out, set *s, size_t design, int width)
{
    dls_printable_cell(out, label_of(s, design), width);
    fprintf(out, "  %5zu", n_runs(s, design));
    for (int f = 0; f < s->shown; f++) {
        const estimate e = estimate_of(s, design, f);
        s->differ = s->differ || e.squares > 0;
        dls_figure_cell(out, &dls_figures[f], mean_of(&e), in_part(s, &e));
    }
    fputc('\n', out);
    if (n_runs(s, design) > 1) {
        print_widths(out, s, design, width);
    }
    for (size_t k = 0; k < n_baselines(s); k++) {
        const char *name;
        const size_t base = baseline_of(s, design, k, &name);
        if (base < s->n_designs && base != design) {
            print_ratios(out, s, design, base, name, width);
        }
    }
}

dls_status dls_compare_designs_print(FILE *out, const dls_compare_run *runs, size_t n,
                                     const dls_compare_options *options, dls_error *err)
{
    DLS_OWN(set_fini) set s = {0};
    DLS_TRY(set_init(&s, runs, n, options, err));
    DLS_TRY(check_baselines(&s, err));
    int width = 20;
    bool several = false;
    s.shown = DLS_PLAIN_FIGURES;
    for (size_t i = 0; i < n; i++) {
        width = dls_printable_width(runs[i].label, width);
        s.shown = runs[i].summary->has_world ? DLS_FIGURES : s.shown;
    }
    fprintf(out, "%-*s  %5s", width, "design", "runs");
    dls_figure_heads(out, s.shown);
    for (size_t d = 0; d < s.n_designs; d++) {
        if (n_runs(&s, d) > 0) {
            print_design(out, &s, d, width);
            several = several || n_runs(&s, d) > 1;
        }
    }
    fputs(several ? "\nMeans over seeds; +- is half of the 95 % confidence interval, of a ratio "
                    "that of its pairs of\nruns with the same seed.\n"
                  : "",
          out);
    fputs(several && !s.differ ? "\nAll seeds gave the same numbers: nothing that is drawn had an effect.\n" : "", out);
    fputs(s.marked ? "\n* Of some of the runs or pairs only: the others have no such number, 0 below the ratio, "
                     "or no partner.\n"
                   : "",
          out);
    return DLS_OK;
}

/* ---- JSON ------------------------------------------------------------------------------------ */

static void add_estimate(json_object *to, int figure, const estimate *e)
{
    DLS_JSON(dls_json_object(to, dls_figures[figure].name), "n", e->n, "mean", mean_of(e),
             "half_width", half_width(e));
}

static void add_design(json_object *to, const set *s, size_t design)
{
    DLS_JSON(to, "label", label_of(s, design), "runs", n_runs(s, design));
    json_object *figures = dls_json_object(to, "figures"), *ratios = dls_json_list(to, "ratios");
    for (int f = 0; f < DLS_FIGURES; f++) {
        const estimate e = estimate_of(s, design, f);
        add_estimate(figures, f, &e);
    }
    for (size_t k = 0; k < n_baselines(s); k++) {
        const char *name;
        const size_t base = baseline_of(s, design, k, &name);
        if (base == s->n_designs) {
            continue;
        }
        json_object *one = dls_json_next(ratios);
        DLS_JSON(one, "baseline", name, "label", label_of(s, base));
        json_object *values = dls_json_object(one, "figures");
        for (int f = 0; f < DLS_FIGURES; f++) {
            const estimate e = ratio_of(s, design, base, f);
            add_estimate(values, f, &e);
        }
    }
}

dls_status dls_compare_designs_json(FILE *out, const dls_compare_run *runs, size_t n,
                                    const dls_compare_options *options, dls_error *err)
{
    DLS_OWN(set_fini) set s = {0};
    DLS_TRY(set_init(&s, runs, n, options, err));
    DLS_TRY(check_baselines(&s, err));
    json_object *top = json_object_new_object(), *list = dls_json_list(top, "designs");
    for (size_t d = 0; d < s.n_designs; d++) {
        if (n_runs(&s, d) > 0) {
            add_design(dls_json_next(list), &s, d);
        }
    }
    return dls_json_print(out, top, err);
}
