/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Waits of a run by groups of jobs, with intervals over blocks of time drawn with replacement.
 */
#include "site/whatif_impl.h"

#include "base/alloc.h"
#include "base/rng.h"
#include "base/units.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { DRAWS = 400, NEVER_DRAWN = -1 };

typedef struct wait {
    double s; /* INFINITY: never started */
    int32_t block;
} wait;

/* Waits of one group on one side, ascending. */
typedef struct waits {
    wait *at;
    size_t n, started;
} waits;

/* How often each block is drawn: [DRAWS][n_blocks]. */
typedef struct draws {
    uint16_t *times;
    size_t n_blocks;
} draws;

/* A key's time, 0 if it says none. */
static dls_status time_of(dls_setup *setup, const char *key, int64_t *us, dls_error *err)
{
    const char *text;
    double s = 0;
    DLS_TRY(dls_setup_get(setup, key, &text, err));
    DLS_TRY(dls_units_parse(text, DLS_QUANTITY_TIME, &s, err));
    *us = llround(1e6 * s);
    return DLS_OK;
}

dls_status dls_whatif_blocks(dls_whatif *w, dls_setup *before, dls_error *err)
{
    static const double lengths[] = {7 * 86400.0, 86400, 3600, 300};
    const dls_trace_columns *c = dls_trace_cols(w->trace);
    DLS_TRY(time_of(before, "results.warmup", &w->from_us, err));
    DLS_TRY(time_of(before, "results.cooldown", &w->to_us, err));
    w->from_us = (c->n ? c->submit_us[0] : 0) + w->from_us;
    w->to_us = (c->n ? c->submit_us[c->n - 1] : 0) - w->to_us;
    size_t counted = 0;
    for (size_t j = 0; j < c->n; j++) {
        counted += c->submit_us[j] >= w->from_us && c->submit_us[j] <= w->to_us;
    }
    if (counted == 0) {
        return dls_fail(err, DLS_EUSAGE, NULL, "the history has no job that counts (results.warmup, results.cooldown)");
    }
    const double span_s = w->to_us > w->from_us ? 1e-6 * (double)(w->to_us - w->from_us) : 0;
    size_t i = 0;
    while (i < 3 && span_s < DLS_WHATIF_BLOCKS * lengths[i]) {
        i++;
    }
    w->block_s = lengths[i];
    w->n_blocks = (size_t)(span_s / w->block_s) + 1;
    return DLS_OK;
}

static dls_status draw(draws *d, size_t n_blocks, uint64_t seed, dls_error *err)
{
    d->n_blocks = n_blocks;
    DLS_TRY(dls_alloc_array(&d->times, DRAWS * n_blocks, sizeof *d->times, "draws", err));
    for (size_t r = 0; r < DRAWS; r++) {
        dls_rng rng = dls_rng_stream(seed, DLS_RNG_RESAMPLE, UINT64_MAX - r);
        for (size_t i = 0; i < n_blocks; i++) {
            const size_t block = (size_t)(dls_rng_unit(&rng) * (double)n_blocks);
            d->times[r * n_blocks + (block < n_blocks ? block : n_blocks - 1)]++;
        }
    }
    return DLS_OK;
}

/* ---- waits of a group ------------------------------------------------------------------------ */

DLS_BY(ascending, wait, DLS_UP(s));

/* Jobs whose code is `which` (code NULL: all). out->at: [jobs of the trace], the caller's. */
static void collect(const dls_whatif *w, const dls_whatif_run *run, const int32_t *code,
                    int32_t which, waits *out)
{
    const dls_trace_columns *c = dls_trace_cols(run->trace);
    dls_result_column start = {0};
    (void)dls_simulation_column(run->sim, DLS_TABLE_JOBS, "start_us", &start);
    const int64_t *start_us = start.data;
    out->n = out->started = 0;
    for (size_t j = 0; j < c->n; j++) {
        const int64_t submit_us = c->submit_us[j];
        if ((code && code[j] != which) || submit_us < w->from_us || submit_us > w->to_us) {
            continue;
        }
        const bool started = start_us[j] >= 0;
        out->started += started;
        out->at[out->n++] =
            (wait){started ? 1e-6 * (double)(start_us[j] - submit_us) : (double)INFINITY,
                   (int32_t)(1e-6 * (double)(submit_us - w->from_us) / w->block_s)};
    }
    qsort(out->at, out->n, sizeof *out->at, ascending);
}

/* Sum of a column over the group, NAN without the column. */
static double sum_of(const dls_whatif_run *run, const char *column, const int32_t *code,
                     int32_t which)
{
    dls_result_column cells;
    double sum = 0;
    if (!dls_simulation_column(run->sim, DLS_TABLE_JOBS, column, &cells)) {
        return (double)NAN;
    }
    for (size_t j = 0; j < cells.n; j++) {
        sum += !code || code[j] == which ? ((const double *)cells.data)[j] : 0;
    }
    return sum;
}

static void add_energy(const dls_whatif_run *run, const int32_t *code, int32_t which,
                       dls_whatif_side *to)
{
    to->energy_kwh = sum_of(run, "energy_j", code, which) / 3.6e6;
    to->cost = sum_of(run, "cost", code, which);
    to->carbon_kg = sum_of(run, "carbon_g", code, which) / 1000;
}

/* quantile < 0: the mean. times: of each block, NULL: once. The first n waits count. */
static double figure(const waits *of, size_t n, double quantile, const uint16_t *times)
{
    double total = 0, sum = 0;
    for (size_t i = 0; i < n; i++) {
        const double k = times ? times[of->at[i].block] : 1;
        total += k;
        sum += k > 0 ? k * of->at[i].s : 0;
    }
    if (!(total > 0)) {
        return (double)NAN;
    }
    if (quantile < 0) {
        return sum / total;
    }
    double seen = 0;
    size_t i = 0;
    for (; i + 1 < n; i++) {
        seen += times ? times[of->at[i].block] : 1;
        if (seen >= quantile * total) {
            break;
        }
    }
    return of->at[i].s;
}

static int by_value(const void *a, const void *b)
{
    const double x = *(const double *)a, y = *(const double *)b;
    return isnan(x) || isnan(y) ? isnan(x) - isnan(y) : (x > y) - (x < y);
}

/* The middle 95 % of the draws that say something. */
static void interval(double drawn[DRAWS], dls_whatif_number *out)
{
    qsort(drawn, DRAWS, sizeof *drawn, by_value);
    size_t n = 0;
    while (n < DRAWS && !isnan(drawn[n])) {
        n++;
    }
    out->low = n ? drawn[(size_t)(0.025 * (double)n)] : (double)NAN;
    out->high = n ? drawn[(size_t)(0.975 * (double)n)] : (double)NAN;
}

static dls_whatif_number number_of(const waits *of, size_t n, double quantile, const draws *d,
                                   double kept[DRAWS])
{
    dls_whatif_number out = {figure(of, n, quantile, NULL), (double)NAN, (double)NAN};
    if (d->n_blocks < DLS_WHATIF_BLOCKS) {
        return out;
    }
    double drawn[DRAWS];
    for (size_t r = 0; r < DRAWS; r++) {
        kept[r] = drawn[r] = figure(of, n, quantile, d->times + r * d->n_blocks);
    }
    interval(drawn, &out);
    return out;
}

/* b - a; draws are of the same blocks. */
static dls_whatif_number change_of(const dls_whatif_number *a, const dls_whatif_number *b,
                                   double from[DRAWS], const double to[DRAWS], const draws *d)
{
    dls_whatif_number out = {b->value - a->value, (double)NAN, (double)NAN};
    if (d->n_blocks >= DLS_WHATIF_BLOCKS) {
        for (size_t r = 0; r < DRAWS; r++) {
            from[r] = to[r] - from[r];
        }
        interval(from, &out);
    }
    return out;
}

/* ---- the comparison -------------------------------------------------------------------------- */

typedef struct comparing {
    dls_whatif *w;
    const dls_whatif_run *before, *after;
    draws draws;
    waits a, b;
} comparing;

static dls_status add_group(comparing *c, const char *kind, const char *name, const int32_t *code_a,
                            int32_t a, const int32_t *code_b, int32_t b, dls_error *err)
{
    dls_whatif_group g = {.kind = kind};
    double from[DRAWS] = {0}, to[DRAWS] = {0};
    snprintf(g.name, sizeof g.name, "%s", name);
    collect(c->w, c->before, code_a, a, &c->a);
    collect(c->w, c->after, code_b, b, &c->b);
    if (c->a.n == 0 && c->b.n == 0) {
        return DLS_OK;
    }
    g.before.n = c->a.n;
    g.after.n = c->b.n;
    add_energy(c->before, code_a, a, &g.before);
    add_energy(c->after, code_b, b, &g.after);
    g.before.waiting = c->a.n - c->a.started;
    g.after.waiting = c->b.n - c->b.started;
    g.before.mean = number_of(&c->a, c->a.started, -1, &c->draws, from);
    g.after.mean = number_of(&c->b, c->b.started, -1, &c->draws, to);
    g.mean_change = change_of(&g.before.mean, &g.after.mean, from, to, &c->draws);
    g.before.p95 = number_of(&c->a, c->a.started, 0.95, &c->draws, from);
    g.after.p95 = number_of(&c->b, c->b.started, 0.95, &c->draws, to);
    g.p95_change = change_of(&g.before.p95, &g.after.p95, from, to, &c->draws);
    DLS_TRY(dls_grow(&c->w->group, &c->w->group_cap, c->w->n_groups + 1, sizeof g, err));
    c->w->group[c->w->n_groups++] = g;
    return DLS_OK;
}

/* What the groups of a kind are called. */
typedef struct naming {
    const char *kind;
    size_t (*count)(const dls_trace *trace);
    const char *(*name)(const dls_trace *trace, int32_t code);
} naming;
static const naming partitions = {"partition", dls_trace_n_vcs, dls_trace_vc};
static const naming accounts = {"account", dls_trace_n_classes, dls_trace_class};

static const int32_t *codes_of(const naming *by, const dls_trace *trace)
{
    const dls_trace_columns *c = dls_trace_cols(trace);
    return by == &partitions ? c->vc : c->job_class;
}

/* The code of a name; NEVER_DRAWN - 1, which no job has, if it has none. */
static int32_t code_of(const naming *by, const dls_trace *trace, const char *name)
{
    const size_t n = by->count(trace);
    for (size_t k = 0; k < n; k++) {
        if (strcmp(by->name(trace, (int32_t)k), name) == 0) {
            return (int32_t)k;
        }
    }
    return NEVER_DRAWN - 1;
}

static dls_status add_named(comparing *c, const naming *by, dls_error *err)
{
    const dls_trace *a = c->before->trace, *b = c->after->trace;
    for (size_t k = 0; codes_of(by, a) && codes_of(by, b) && k < by->count(a); k++) {
        const char *name = by->name(a, (int32_t)k);
        DLS_TRY(add_group(c, by->kind, name, codes_of(by, a), (int32_t)k, codes_of(by, b),
                          code_of(by, b, name), err));
    }
    return DLS_OK;
}

DLS_BY(whole, int32_t, DLS_ORDER(*x, *y));

static dls_status add_sizes(comparing *c, dls_error *err)
{
    const dls_trace_columns *a = dls_trace_cols(c->before->trace),
                            *b = dls_trace_cols(c->after->trace);
    DLS_FREED int32_t *sizes = NULL;
    DLS_TRY(dls_alloc_array(&sizes, a->n + 1, sizeof *sizes, "sizes", err));
    memcpy(sizes, a->gpus, a->n * sizeof *sizes);
    qsort(sizes, a->n, sizeof *sizes, whole);
    for (size_t i = 0; i < a->n; i++) {
        char name[16];
        if (i == 0 || sizes[i] != sizes[i - 1]) {
            snprintf(name, sizeof name, "%d", (int)sizes[i]);
            DLS_TRY(add_group(c, "GPUs", name, a->gpus, sizes[i], b->gpus, sizes[i], err));
        }
    }
    return DLS_OK;
}

static void comparing_fini(comparing *c)
{
    DLS_FREE_ALL(c->a.at, c->b.at, c->draws.times);
}

dls_status dls_whatif_compare(dls_whatif *w, const dls_whatif_run *before,
                              const dls_whatif_run *after, uint64_t seed, dls_error *err)
{
    DLS_OWN(comparing_fini) comparing c = {.w = w, .before = before, .after = after};
    const size_t n_before = dls_trace_cols(before->trace)->n;
    const size_t n_after = dls_trace_cols(after->trace)->n;
    DLS_TRY(draw(&c.draws, w->n_blocks, seed, err));
    DLS_TRY(dls_alloc_array(&c.a.at, n_before + 1, sizeof *c.a.at, "waits", err));
    DLS_TRY(dls_alloc_array(&c.b.at, n_after + 1, sizeof *c.b.at, "waits", err));
    DLS_TRY(add_group(&c, "all", "jobs", NULL, 0, NULL, 0, err));
    DLS_TRY(add_named(&c, &partitions, err));
    DLS_TRY(add_named(&c, &accounts, err));
    return add_sizes(&c, err);
}

/* ---- the target ------------------------------------------------------------------------------ */

static dls_status wrong(const char *text, dls_error *err)
{
    return dls_fail(err, DLS_EUSAGE, NULL,
                    "--target is \"%s\": expected \"mean wait < TIME\" or \"p95 wait [of N GPUs | "
                    "of partition NAME | of account NAME] < TIME\"",
                    text);
}

dls_status dls_whatif_target_of(const char *text, dls_whatif_target *out, dls_error *err)
{
    char what[8], name[64] = "", kind[16] = "";
    const char *less = strrchr(text, '<');
    int used = 0;
    dls_error unused;
    *out = (dls_whatif_target){.quantile = -1};
    if (!less || dls_units_parse(less + 1 + strspn(less + 1, " ="), DLS_QUANTITY_TIME,
                                 &out->limit_s, &unused) != DLS_OK || !(out->limit_s > 0)) {
        return wrong(text, err);
    }
    if (sscanf(text, "%7s wait %n", what, &used) < 1 || used == 0) {
        return wrong(text, err);
    }
    if (strcmp(what, "mean") != 0) {
        double percent;
        if (what[0] != 'p' || !dls_units_f64(what + 1, &percent) || percent < 0 || percent > 100) {
            return wrong(text, err);
        }
        out->quantile = percent / 100;
    }
    const char *rest = text + used;
    if (rest == less) {
        return DLS_OK;
    }
    int n = 0;
    if (sscanf(rest, "of %15s %63[^<]%n", kind, name, &n) < 2 || rest + n != less) {
        return wrong(text, err);
    }
    for (size_t end = strlen(name); end > 0 && name[end - 1] == ' '; end--) {
        name[end - 1] = '\0';
    }
    const bool gpus = strcmp(name, "GPUs") == 0 || strcmp(name, "GPU") == 0;
    if (gpus && kind[strspn(kind, "0123456789")]) {
        return wrong(text, err); /* 8x, 8.5 */
    }
    if (!gpus && strcmp(kind, "partition") != 0 && strcmp(kind, "account") != 0) {
        return wrong(text, err);
    }
    snprintf(out->kind, sizeof out->kind, "%s", gpus ? "GPUs" : kind);
    snprintf(out->name, sizeof out->name, "%s", gpus ? kind : name);
    return DLS_OK;
}

dls_status dls_whatif_measure(const dls_whatif *w, const dls_whatif_run *run,
                              const dls_whatif_target *target, bool want_draws, uint64_t seed,
                              dls_whatif_number *out, dls_error *err)
{
    const int32_t *code = NULL;
    int32_t which = 0;
    DLS_OWN(comparing_fini) comparing own = {.w = NULL};
    draws *d = &own.draws;
    waits *of = &own.a;
    double unused[DRAWS];
    if (strcmp(target->kind, "GPUs") == 0) {
        code = dls_trace_cols(run->trace)->gpus;
        which = (int32_t)strtol(target->name, NULL, 10);
    } else if (*target->kind) {
        const naming *by = strcmp(target->kind, "account") == 0 ? &accounts : &partitions;
        code = codes_of(by, run->trace);
        which = code ? code_of(by, run->trace, target->name) : NEVER_DRAWN - 1;
    }
    DLS_TRY(
        dls_alloc_array(&of->at, dls_trace_cols(run->trace)->n + 1, sizeof *of->at, "waits", err));
    if (want_draws) {
        DLS_TRY(draw(d, w->n_blocks, seed, err));
    }
    if (code || !*target->kind) {
        collect(w, run, code, which, of);
    }
    if (of->n == 0) {
        return dls_fail(err, DLS_EUSAGE, NULL, "--target: the history has no jobs of %s %s",
                        target->kind, target->name);
    }
    *out = number_of(of, of->n, target->quantile, d, unused);
    return DLS_OK;
}
