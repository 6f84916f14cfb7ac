/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Puts measured steps to the sources as what-if questions, and sums the answers up by groups.
 */
#include "predictor/measured/judge.h"

#include "base/alloc.h"
#include "base/own.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

void dls_verdicts_fini(dls_verdicts *v)
{
    DLS_FREE_ALL(v->predicted, v->why, v->fits, v->group_of, v->errors);
    dls_strdict_fini(&v->reasons);
    dls_strdict_fini(&v->groups);
    *v = (dls_verdicts){0};
}

/* ---- questions ------------------------------------------------------------------------------- */

/* Code of the row's job: all but GPU, batch and number of GPUs. */
static dls_status job_of(dls_strdict *jobs, const dls_measured_step *row, int32_t *code,
                         dls_error *err)
{
    char text[512];
    const int n = snprintf(text, sizeof text, "%s|%d|%d|%d|%d|%d|%d|%d|%s|%s|%s", row->model,
                           (int)row->image, (int)row->sequence, (int)row->numeric, row->forward,
                           row->update, row->compiled, row->fused_attention, row->layout, row->source,
                           row->line ? row->host : "");
    return dls_strdict_put(jobs, text, (size_t)n, code, err);
}

/* Steps on one GPU that stand for others of their job on that GPU and of that batch: the first ones
 * of the file, in lists by job. */
typedef struct first_steps {
    dls_strdict jobs, known;
    int32_t *job;        /* [rows] of each row */
    size_t *next, *head; /* [rows + 1] by row and by job: a row's number from 1 on, 0: none */
} first_steps;

static void first_steps_fini(first_steps *f)
{
    dls_strdict_fini(&f->jobs);
    dls_strdict_fini(&f->known);
    DLS_FREE_ALL(f->job, f->next, f->head);
}

static dls_status first_steps_find(first_steps *f, const dls_measured_steps *s, dls_error *err)
{
    DLS_TRY(dls_alloc_array(&f->job, s->n + 1, sizeof *f->job, "rows", err));
    DLS_TRY(dls_alloc_array(&f->next, s->n + 1, sizeof *f->next, "rows", err));
    DLS_TRY(dls_alloc_array(&f->head, s->n + 1, sizeof *f->head, "rows", err));
    for (size_t i = 0; i < s->n; i++) {
        DLS_TRY(job_of(&f->jobs, &s->row[i], &f->job[i], err));
    }
    for (size_t i = 0; i < s->n; i++) {
        char text[DLS_HW_NAME + 32];
        int32_t code;
        const size_t before = f->known.n;
        const int n = snprintf(text, sizeof text, "%d|%d|%s", (int)f->job[i], (int)s->row[i].batch,
                               s->row[i].gpu);
        if (s->row[i].gpus == 1) {
            DLS_TRY(dls_strdict_put(&f->known, text, (size_t)n, &code, err));
        }
        if (f->known.n > before) {
            f->next[i + 1] = f->head[f->job[i]];
            f->head[f->job[i]] = i + 1;
        }
    }
    return DLS_OK;
}

/* What Habitat is given: the step of the same job on one other GPU, of the nearest batch, the first
 * one of several as near. */
static const dls_measured_step *elsewhere(const first_steps *f, const dls_measured_steps *s,
                                          size_t at)
{
    const dls_measured_step *row = &s->row[at], *best = NULL;
    double least = HUGE_VAL;
    for (size_t i = f->head[f->job[at]]; i > 0; i = f->next[i]) { /* the last one comes first */
        const dls_measured_step *other = &s->row[i - 1];
        const double times = (double)other->batch / row->batch, off = fmax(times, 1 / times);
        if (off <= least && strcmp(other->gpu, row->gpu) != 0) {
            best = other;
            least = off;
        }
    }
    return best;
}

/* "tp4": every layer in 4 parts; "pp4_2": 4 stages and 2 micro-batches; by all GPUs of a node. */
static bool split_of(const dls_measured_step *row, dls_whatif_question *q)
{
    int n = 0, micro = 1, end = 0;
    if (strcmp(row->parallelism, "dp") == 0) {
        return true;
    }
    if (sscanf(row->parallelism, "tp%d%n", &n, &end) == 1) {
        q->shards = n;
    } else if (sscanf(row->parallelism, "pp%d_%d%n", &n, &micro, &end) == 2) {
        q->stages = n;
        q->micro_batches = micro;
    }
    if (n != row->gpus || n < 2 || row->nodes != 1 || micro < 1 || row->parallelism[end] ||
        row->batch > INT32_MAX / n) {
        return false;
    }
    q->batch *= n;
    return true;
}

bool dls_measured_step_asked(const dls_measured_step *row, const dls_whatif *w,
                             dls_whatif_question *q)
{
    const dls_hw_gpu *gpu = dls_hardware_gpu_variant(dls_whatif_hardware(w), row->gpu);
    *q = (dls_whatif_question){
        .model = row->model,
        .image = row->image,
        .sequence = row->sequence,
        .numeric = row->numeric,
        .setting = {.workers = row->gpus, .servers = row->servers, .nodes = row->nodes},
        .batch = row->batch,
        .part = row->forward  ? DLS_STEP_FORWARD
                : row->update ? DLS_STEP_WHOLE
                              : DLS_STEP_NO_UPDATE,
        .step_only = true,
        .host = row->host,
        .compiled = row->compiled,
        .fused_attention = row->fused_attention,
        .pytorch = row->pytorch,
        .channels_first = strcmp(row->layout, "nchw") == 0};
    snprintf(q->setting.gpu, sizeof q->setting.gpu, "%s", row->gpu);
    snprintf(q->setting.exchange, sizeof q->setting.exchange, "%s", row->exchange);
    snprintf(q->setting.network, sizeof q->setting.network, "%s", row->network);
    snprintf(q->setting.link, sizeof q->setting.link, "%s",
             row->link[0] ? row->link
             : gpu        ? gpu->link
                          : "");
    return split_of(row, q);
}

static dls_status refuse(dls_verdicts *v, size_t at, const char *why, dls_error *err)
{
    v->predicted[at] = (double)NAN;
    return dls_strdict_put(&v->reasons, why, strlen(why), &v->why[at], err);
}

/* known: for Habitat. */
static dls_status ask_row(dls_verdicts *v, dls_whatif *w, const first_steps *known, size_t i,
                          size_t source, dls_error *err)
{
    const dls_measured_step *row = &v->steps->row[i];
    const size_t at = i * v->n_sources + source;
    dls_whatif_question q;
    dls_whatif_answer a;
    if (!dls_measured_step_asked(row, w, &q)) {
        char why[96];
        snprintf(why, sizeof why, "parallelism \"%s\" on %d GPUs", row->parallelism, (int)row->gpus);
        return refuse(v, at, why, err);
    }
    if (strcmp(v->source[source], "habitat") == 0) {
        const dls_measured_step *other = elsewhere(known, v->steps, i);
        if (!other) {
            return refuse(v, at, "not measured on another GPU", err);
        }
        q.measured_gpu = other->gpu;
        q.measured_s = other->step_s;
        q.measured_batch = other->batch;
    }
    DLS_TRY(dls_whatif_ask(w, &q, &a, err));
    if (v->steps->memory && a.prediction.mem_bytes > 0) { /* known of all whose time is refused */
        a.prediction.iteration_s = a.prediction.mem_bytes;
        a.refused[0] = '\0';
    }
    if (a.refused[0]) {
        char *hint = strstr(a.refused, " ("); /* for who asks by hand */
        if (hint) {
            *hint = '\0';
        }
        return refuse(v, at, a.refused, err);
    }
    v->predicted[at] = a.prediction.iteration_s;
    v->fits[at] = a.fits;
    v->why[at] = -1;
    return DLS_OK;
}

/* ---- the ceiling ----------------------------------------------------------------------------- */

static const char again[] = "again";

/* Code of what is asked of the row. */
static dls_status question_of(dls_strdict *questions, const dls_measured_step *row, int32_t *code,
                              dls_error *err)
{
    char text[512];
    const int n =
        snprintf(text, sizeof text, "%s|%s|%d|%d|%d|%d|%d|%d|%d|%d|%d|%d|%d|%s|%s", row->model,
                 row->gpu, (int)row->gpus, (int)row->nodes, (int)row->servers, (int)row->batch,
                 (int)row->image, (int)row->sequence, (int)row->numeric, row->forward, row->update,
                 row->compiled, row->fused_attention, row->layout, row->parallelism);
    return dls_strdict_put(questions, text, (size_t)n, code, err);
}

typedef struct logs {
    double sum;
    size_t n;
} logs;

/* What others measured of the same job: the geometric mean, whatever framework and host. */
static dls_status ask_others(dls_verdicts *v, size_t source, dls_error *err)
{
    const dls_measured_steps *s = v->steps;
    int32_t code;
    DLS_OWN(dls_strdict_fini) dls_strdict questions = {0};
    DLS_FREED logs *all = NULL;
    DLS_TRY(dls_alloc_array(&all, s->n + 1, sizeof *all, "questions", err));
    for (size_t i = 0; i < s->n; i++) {
        DLS_TRY(question_of(&questions, &s->row[i], &code, err));
        all[code].sum += log(s->row[i].step_s);
        all[code].n++;
    }
    for (size_t i = 0; i < s->n; i++) {
        const size_t at = i * v->n_sources + source;
        DLS_TRY(question_of(&questions, &s->row[i], &code, err));
        if (all[code].n < 2) {
            DLS_TRY(refuse(v, at, "measured once", err));
            continue;
        }
        v->predicted[at] =
            exp((all[code].sum - log(s->row[i].step_s)) / (double)(all[code].n - 1));
        v->fits[at] = true;
        v->why[at] = -1;
    }
    return DLS_OK;
}

/* ---- asking ---------------------------------------------------------------------------------- */

/* Is it the first row of its GPU? */
static bool first_of_gpu(const dls_measured_steps *s, size_t row)
{
    size_t i = 0;
    while (strcmp(s->row[i].gpu, s->row[row].gpu) != 0) {
        i++;
    }
    return i == row;
}

/* All rows, or those of the GPU that is left out. */
static dls_status ask_rows(dls_verdicts *v, const dls_whatif_params *p, dls_whatif *known,
                           size_t source, dls_error *err)
{
    DLS_HOLD(dls_whatif_destroy) dls_whatif *own = NULL;
    DLS_OWN(first_steps_fini) first_steps first = {0};
    if (strcmp(v->source[source], "habitat") == 0) {
        DLS_TRY(first_steps_find(&first, v->steps, err));
    }
    if (!known) {
        DLS_TRY(dls_whatif_create(p, &own, err));
    }
    for (size_t i = 0; i < v->steps->n; i++) {
        if (!p->left_out || strcmp(v->steps->row[i].gpu, p->left_out) == 0) {
            DLS_TRY(ask_row(v, known ? known : own, &first, i, source, err));
        }
    }
    return DLS_OK;
}

static dls_status ask_source(dls_verdicts *v, const dls_verdict_options *o, size_t source,
                             dls_error *err)
{
    const bool justus = strcmp(v->source[source], "justus") == 0;
    const dls_whatif_params p = {.source = v->source[source],
                                 .hardware_dir = o->hardware_dir,
                                 .memo = o->memo,
                                 .weights = justus ? o->networks : o->weights};
    if (v->source[source] == again) {
        return ask_others(v, source, err);
    }
    for (size_t i = 0; justus && !o->networks && i < v->steps->n; i++) {
        DLS_TRY(refuse(v, i * v->n_sources + source, "no networks were given", err));
    }
    for (size_t i = 0; o->left_out && !(justus && !o->networks) && i < v->steps->n; i++) {
        dls_whatif_params without = p;
        without.left_out = v->steps->row[i].gpu;
        if (first_of_gpu(v->steps, i)) {
            DLS_TRY(ask_rows(v, &without, NULL, source, err));
        }
    }
    dls_whatif *known = strcmp(p.source, "operator") == 0 ? o->known : NULL;
    return o->left_out || (justus && !o->networks) ? DLS_OK : ask_rows(v, &p, known, source, err);
}

/* ---- sums ------------------------------------------------------------------------------------ */

static dls_status name_groups(dls_verdicts *v, bool by_gpu, dls_error *err)
{
    for (size_t i = 0; i < v->steps->n; i++) {
        const dls_measured_step *row = &v->steps->row[i];
        char name[160];
        const char *scale = row->gpus == 1 ? "one GPU" : row->nodes == 1 ? "one node" : "nodes";
        const int n =
            by_gpu ? snprintf(name, sizeof name, "%s, %s, %s, %s", row->source, scale,
                              dls_numeric_name((int)row->numeric), row->gpu)
                   : snprintf(name, sizeof name, "%s, %s, %s%s%s", row->source, scale,
                              dls_numeric_name((int)row->numeric), row->forward ? ", forward" : "",
                              row->fitted ? ", fitted" : "");
        DLS_TRY(dls_strdict_put(&v->groups, name, (size_t)n, &v->group_of[i], err));
    }
    return DLS_OK;
}

static dls_status judged_of(const dls_measured_step *row, dls_strdict *keys, dls_judged *out,
                            dls_error *err)
{
    char text[512];
    int n =
        snprintf(text, sizeof text, "%s/%d/%d", row->model, (int)row->image, (int)row->sequence);
    DLS_TRY(dls_strdict_put(keys, text, (size_t)n, &out->network, err));
    DLS_TRY(dls_strdict_put(keys, row->gpu, strlen(row->gpu), &out->gpu, err));
    n = snprintf(text, sizeof text, "%s|%d|%d|%d|%d|%d|%d|%d|%d|%s|%s|%s", row->source, row->gpus,
                 row->nodes, row->servers, (int)row->numeric, row->forward, row->update,
                 row->compiled, row->fused_attention, row->layout, row->parallelism,
                 row->line ? row->host : "");
    DLS_TRY(dls_strdict_put(keys, text, (size_t)n, &out->peers, err));
    out->batch = row->batch;
    out->measured = row->step_s / row->batch;
    return DLS_OK;
}

const char *dls_verdicts_group_name(const dls_verdicts *v, size_t group)
{
    static const char *const sums[DLS_VERDICT_SUMS] = {"all that fitted nothing", "- one GPU",
                                                       "- one node", "- several nodes"};
    return group < v->groups.n ? dls_strdict_get(&v->groups, (int32_t)group)
                               : sums[group - v->groups.n];
}

bool dls_verdicts_in(const dls_verdicts *v, size_t i, size_t group)
{
    const dls_measured_step *row = &v->steps->row[i];
    const size_t scale = row->gpus == 1 ? 1 : row->nodes == 1 ? 2 : 3;
    return group < v->groups.n
               ? (size_t)v->group_of[i] == group
               : !row->fitted && (group == v->groups.n || group == v->groups.n + scale);
}

/* Errors of a source over the rows of one group. */
static dls_status sum_group(const dls_verdicts *v, const dls_judged *key, size_t source,
                            size_t group, dls_judged *work, dls_errors *out, dls_error *err)
{
    size_t n = 0;
    for (size_t i = 0; i < v->steps->n; i++) {
        const size_t at = i * v->n_sources + source;
        if (dls_verdicts_in(v, i, group)) {
            work[n] = key[i];
            work[n].predicted = v->predicted[at] / v->steps->row[i].batch;
            work[n++].unfit = v->why[at] < 0 && !v->fits[at];
        }
    }
    return dls_errors_of(work, n, out, err);
}

static dls_status sum_up(dls_verdicts *v, dls_judged *key, dls_judged *work, dls_error *err)
{
    DLS_OWN(dls_strdict_fini) dls_strdict keys = {0};
    for (size_t i = 0; i < v->steps->n; i++) {
        DLS_TRY(judged_of(&v->steps->row[i], &keys, &key[i], err));
    }
    for (size_t g = 0; g < v->n_groups; g++) {
        for (size_t k = 0; k < v->n_sources; k++) {
            DLS_TRY(sum_group(v, key, k, g, work, &v->errors[g][k], err));
        }
    }
    return DLS_OK;
}

static dls_status choose_sources(dls_verdicts *v, const dls_verdict_options *o, dls_error *err)
{
    const char *const *all = dls_whatif_sources();
    for (size_t i = 0; o->sources ? i < o->n_sources : all[i] != NULL; i++) {
        const char *name = o->sources ? o->sources[i] : all[i];
        size_t k = 0;
        while (all[k] && strcmp(all[k], name) != 0) {
            k++;
        }
        const char *chosen = strcmp(name, again) == 0 ? again : all[k];
        if (!chosen || v->n_sources == DLS_VERDICT_SOURCES) {
            return dls_fail(err, DLS_EINPUT, "source",
                            "\"%s\" is not driple, operator, paleo, habitat, justus or again",
                            name);
        }
        v->source[v->n_sources++] = chosen;
    }
    return DLS_OK;
}

dls_status dls_verdicts_ask(const dls_measured_steps *steps, const dls_verdict_options *o,
                            dls_verdicts *v, dls_error *err)
{
    *v = (dls_verdicts){.steps = steps};
    DLS_TRY(choose_sources(v, o, err));
    const size_t cells = steps->n * v->n_sources + 1;
    v->predicted = dls_alloc_zero(cells, sizeof *v->predicted);
    v->why = dls_alloc_zero(cells, sizeof *v->why);
    v->fits = dls_alloc_zero(cells, sizeof *v->fits);
    v->group_of = dls_alloc_zero(steps->n + 1, sizeof *v->group_of);
    if (!v->predicted || !v->why || !v->fits || !v->group_of) {
        return dls_nomem(err, "verdicts", cells * sizeof *v->predicted);
    }
    DLS_TRY(name_groups(v, o->left_out, err));
    for (size_t s = 0; s < v->n_sources; s++) {
        DLS_TRY(ask_source(v, o, s, err));
    }
    v->n_groups = v->groups.n + DLS_VERDICT_SUMS;
    v->errors = dls_alloc_zero(v->n_groups, sizeof *v->errors);
    DLS_FREED dls_judged *key = dls_alloc_zero(2 * steps->n + 1, sizeof *key);
    return v->errors && key ? sum_up(v, key, key + steps->n, err)
                            : dls_nomem(err, "verdicts", steps->n * sizeof *key);
}
