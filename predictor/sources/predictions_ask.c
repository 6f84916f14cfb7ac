/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Predictions for policies, asked: all that is missing is asked of the source in one batch and kept
 * by a digest of the question; a policy is answered from the table.
 */
#include "predictor/sources/predictions_impl.h"

#include "base/alloc.h"
#include "base/clock.h"
#include "dlsim/predictor.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- keys of kept answers -------------------------------------------------------------------- */

/* Everything an answer depends on; returns the length as snprintf does. */
static int question(const dls_predictions *f, int32_t kind, const dls_shape *s, char *text,
                    size_t size)
{
    const dls_kind *k = &f->kinds->kind[kind];
    const dls_gpu_type *gpu = &f->p.cluster->types[s->type];
    const dls_candidate_type *of = &f->candidates.type[s->type];
    const bool plain = of->rails == 0 && !(f->candidates.domain_bps > 0);
    const double nic =
        plain || s->n_nodes < 2 ? of->nic_bps : dls_candidates_link_bps(&f->candidates, s);
    const double inner = dls_candidates_inner_bps(&f->candidates, s);
    char between[32] = "";
    if (inner > 0) {
        snprintf(between, sizeof between, "|%.17g", inner);
    }
    return snprintf(text, size,
                    "%s|%s|%016llx|%s|%lld|%s|%s%s|%s|%s|%s %.17g %.17g|%d %d %d|%.17g %.17g%s",
                    f->ops->name, f->identity,
                    dls_predictions_by_name(f) ? 0ULL : (unsigned long long)f->kind_sum[kind],
                    k->model, (long long)k->batch, f->p.numeric, f->p.exchange,
                    strcmp(f->p.allreduce, "hierarchical") == 0 ? "" : f->p.allreduce,
                    f->p.host ? f->p.host : "", f->p.fabric ? f->p.fabric : "", gpu->name,
                    gpu->mem_gib, gpu->peer_bps, (int)s->gpus, (int)s->n_nodes, (int)s->n_racks,
                    nic, f->p.cluster->rack_uplink_bps, between);
}

static dls_status key_of(dls_predictions *f, int32_t kind, const dls_shape *s, dls_answer_key *key,
                         dls_error *err)
{
    char brief[1024], *text = brief;
    if (f->source && f->ops->kind_checksum && f->kind_sum[kind] == 0) {
        DLS_TRY(f->ops->kind_checksum(f->source, kind, &f->kind_sum[kind], err));
    }
    const size_t size = (size_t)question(f, kind, s, brief, sizeof brief) + 1;
    if (size > sizeof brief) {
        DLS_TRY(dls_alloc_array(&text, size, 1, "name of a question", err));
        question(f, kind, s, text, size);
    }
    *key = dls_answer_key_of(text);
    if (text != brief) {
        dls_free(text);
    }
    return DLS_OK;
}

/* ---- questions and answers ------------------------------------------------------------------- */

/* Iteration time at the reference, in whose units work is counted. */
static double reference_s(const dls_predictions *f, int32_t job)
{
    return f->p.world ? dls_world_reference_s(f->p.world, job) : 1;
}

/* An answer without a positive iteration time leaves the cell at its default, the time at the
 * reference. */
static void take(dls_predictions *f, dls_kept_answer *cell, const dls_kept_answer *answer)
{
    if (answer->iteration_s > 0) {
        *cell = *answer;
        f->stats.nearest += answer->distance > 0;
    } else {
        f->stats.fallbacks++;
    }
}

/* Is there anybody to say something of the row's model? Of one that is in no zoo, a source or a recording that
 * has it, asked of the first of n shapes. */
static dls_status is_known(dls_predictions *f, const dls_prediction_row *r, const dls_shape *shape,
                           int32_t n, bool *known, dls_error *err)
{
    *known = f->kinds->kind[r->kind].names.match != DLS_MODEL_UNKNOWN;
    if (!*known && n > 0 && f->p.replay_path) {
        dls_answer_key key;
        DLS_TRY(key_of(f, r->kind, shape, &key, err));
        *known = dls_answers_find(f->answers, &key) != NULL;
    } else if (!*known && n > 0 && f->ops->knows) {
        DLS_TRY(f->ops->knows(f->source, &(dls_predictions_ask){r->kind, *shape}, known, err));
    }
    uint8_t *seen = &f->kind_seen[r->kind];
    f->stats.kinds += *seen == DLS_KIND_UNSEEN;
    f->stats.unknown_kinds += *seen == DLS_KIND_UNSEEN && !*known;
    f->stats.unknown_kinds -= *seen == DLS_KIND_UNKNOWN && *known;
    *seen = *known || *seen == DLS_KIND_KNOWN ? DLS_KIND_KNOWN : DLS_KIND_UNKNOWN;
    return DLS_OK;
}

/* A row's cells, with what is kept of them; the rest becomes questions. */
static dls_status open_row(dls_predictions *f, dls_prediction_row *r, dls_error *err)
{
    dls_shape shape[DLS_TYPES_MAX * DLS_SPREADS];
    const dls_kind *kind = &f->kinds->kind[r->kind];
    double mem_bytes;
    const int32_t n =
        dls_candidates_list(&f->candidates, r->gpus, r->types, f->p.max_candidates, shape);
    bool known;
    const size_t need = f->n_cells + (size_t)n;
    DLS_TRY(dls_grow(&f->shape, &f->shape_cap, need, sizeof *f->shape, err));
    DLS_TRY(dls_grow(&f->cell, &f->cell_cap, need, sizeof *f->cell, err));
    DLS_TRY(dls_grow(&f->mem_bytes, &f->mem_cap, need, sizeof *f->mem_bytes, err));
    DLS_TRY(dls_gpu_memory_of(&f->memory, kind, &mem_bytes, err));
    DLS_TRY(is_known(f, r, shape, n, &known, err));
    r->first = (int64_t)f->n_cells;
    for (int32_t i = 0; i < n; i++) {
        dls_kept_answer *cell = &f->cell[f->n_cells];
        const dls_kept_answer *kept = NULL;
        const double said = f->ops->memory ? f->ops->memory(f->source, r->kind, &shape[i]) : (double)NAN;
        f->mem_bytes[f->n_cells] = (float)(isnan(said) ? mem_bytes : said);
        f->stats.questions++;
        *cell = (dls_kept_answer){.iteration_s = reference_s(f, r->first_job), .link_bps = NAN};
        for (int k = 0; k < DLS_METRICS; k++) {
            cell->metric[k] = NAN;
        }
        if (f->answers && known) {
            dls_answer_key key;
            DLS_TRY(key_of(f, r->kind, &shape[i], &key, err));
            kept = dls_answers_find(f->answers, &key);
        }
        if (kept) {
            f->stats.disk_hits++;
            take(f, cell, kept);
        } else if (known && f->p.replay_path) {
            return dls_fail(err, DLS_EINPUT, f->p.replay_path,
                            "has no prediction of \"%s\" (batch %lld) for %d x %s in %d nodes%s",
                            kind->model, (long long)kind->batch, (int)r->gpus,
                            f->p.cluster->types[shape[i].type].name, (int)shape[i].n_nodes,
                            *f->identity ? " under this predictor.settings_map" : "");
        } else if (known) {
            const size_t asks = f->n_asks + 1;
            DLS_TRY(dls_grow(&f->ask, &f->ask_cap, asks, sizeof *f->ask, err));
            DLS_TRY(dls_grow(&f->reply, &f->reply_cap, asks, sizeof *f->reply, err));
            DLS_TRY(dls_grow(&f->ask_cell, &f->ask_cell_cap, asks, sizeof *f->ask_cell, err));
            f->ask[f->n_asks] = (dls_predictions_ask){r->kind, shape[i]};
            f->ask_cell[f->n_asks++] = (int64_t)f->n_cells;
        }
        f->shape[f->n_cells++] = shape[i];
    }
    r->n = n;
    return DLS_OK;
}

static dls_kept_answer kept_of(const dls_prediction *reply)
{
    const bool good = reply->iteration_s > 0 && isfinite(reply->iteration_s);
    dls_kept_answer kept = {.iteration_s = good ? reply->iteration_s : 0,
                            .link_bps = (float)reply->link_bps,
                            .distance = (float)reply->distance};
    for (int k = 0; k < DLS_METRICS; k++) {
        kept.metric[k] = (float)reply->metric[k];
    }
    return kept;
}

static dls_status take_answers(dls_predictions *f, dls_error *err)
{
    for (size_t i = 0; i < f->n_asks; i++) {
        const dls_kept_answer answer = kept_of(&f->reply[i]);
        take(f, &f->cell[f->ask_cell[i]], &answer);
        if (f->answers) {
            dls_answer_key key;
            DLS_TRY(key_of(f, f->ask[i].kind, &f->ask[i].shape, &key, err));
            DLS_TRY(dls_answers_put(f->answers, &key, &answer, err));
        }
    }
    return DLS_OK;
}

static dls_status ask_source(dls_predictions *f, dls_error *err)
{
    if (f->n_asks == 0) {
        return DLS_OK;
    }
    const double start = dls_clock_s();
    const dls_status status = f->ops->answer(f->source, f->ask, f->n_asks, f->reply, err);
    f->stats.predictor_s += dls_clock_s() - start;
    f->stats.batches++;
    f->stats.answers += f->n_asks;
    DLS_TRY(status);
    return take_answers(f, err);
}

/* An answer as what was seen since scales it. */
static double calibrated_s(const dls_predictions *f, int32_t job, int64_t cell)
{
    const double s = f->cell[cell].iteration_s;
    return f->calibration ? s * dls_calibration_factor(f->calibration, job, &f->shape[cell]) : s;
}

/* Least iteration time first; of equal ones the order so far. */
static void sort_row(dls_predictions *f, dls_prediction_row *r, int32_t job)
{
    dls_shape *shape = f->shape + r->first;
    dls_kept_answer *cell = f->cell + r->first;
    float *mem_bytes = f->mem_bytes + r->first;
    double key[DLS_TYPES_MAX * DLS_SPREADS];
    for (int32_t i = 0; i < r->n; i++) {
        const dls_shape s = shape[i];
        const dls_kept_answer c = cell[i];
        const float bytes = mem_bytes[i];
        const double least = calibrated_s(f, job, r->first + i);
        int32_t k = i;
        for (; k > 0 && key[k - 1] > least; k--) {
            shape[k] = shape[k - 1];
            cell[k] = cell[k - 1];
            mem_bytes[k] = mem_bytes[k - 1];
            key[k] = key[k - 1];
        }
        shape[k] = s;
        cell[k] = c;
        mem_bytes[k] = bytes;
        key[k] = least;
    }
    r->sorted = f->calibration ? dls_calibration_version(f->calibration) : 0;
}

DLS_BY(by_number, int32_t, DLS_ORDER(*x, *y));

/* Rows are numbered by kind, so in ascending order the questions of a kind are side by side. */
static dls_status prepare_rows(dls_predictions *f, int32_t *rows, size_t n, dls_error *err)
{
    qsort(rows, n, sizeof *rows, by_number);
    f->n_asks = 0;
    for (size_t i = 0; i < n; i++) {
        DLS_TRY(open_row(f, &f->row[rows[i]], err));
    }
    DLS_TRY(ask_source(f, err));
    for (size_t i = 0; i < n; i++) {
        sort_row(f, &f->row[rows[i]], f->row[rows[i]].first_job);
    }
    return DLS_OK;
}

dls_status dls_predictions_prepare(dls_predictions *f, const int32_t *jobs, size_t n,
                                   dls_error *err)
{
    enum { ASKED = -1, LISTED = -2 };
    int32_t few[64], *rows = n <= 64 ? few : dls_alloc(n * sizeof *rows);
    size_t n_new = 0;
    if (!rows) {
        return dls_nomem(err, "predictions", n * sizeof *rows);
    }
    for (size_t i = 0; i < n; i++) {
        dls_prediction_row *r = &f->row[f->row_of[jobs[i]]];
        if (r->n == ASKED) {
            r->n = LISTED;
            rows[n_new++] = f->row_of[jobs[i]];
        } else {
            f->stats.cache_hits += r->n > 0 ? (uint64_t)r->n : 0;
        }
    }
    const dls_status status = n_new > 0 ? prepare_rows(f, rows, n_new, err) : DLS_OK;
    if (rows != few) {
        dls_free(rows);
    }
    return status;
}

/* The row of a job on so many GPUs, -1: there is none yet. */
static int32_t row_for(const dls_predictions *f, int32_t job, int32_t gpus)
{
    int32_t at = f->row_of[job];
    while (at >= 0 && gpus > 0 && f->row[at].gpus != gpus) {
        at = f->row[at].other;
    }
    return at;
}

dls_status dls_predictions_prepare_size(dls_predictions *f, int32_t job, int32_t gpus,
                                        dls_error *err)
{
    if (row_for(f, job, gpus) >= 0) {
        return DLS_OK;
    }
    const int32_t own = f->row_of[job];
    int32_t added = f->n_rows;
    DLS_TRY(dls_grow(&f->row, &f->row_cap, (size_t)f->n_rows + 1, sizeof *f->row, err));
    f->row[added] = f->row[own];
    f->row[added].gpus = gpus;
    f->row[added].n = -1;
    DLS_TRY(prepare_rows(f, &added, 1, err));
    f->row[own].other = f->n_rows++;
    return DLS_OK;
}

/* ---- what is known --------------------------------------------------------------------------- */

/* Neither the source nor, with calibrate, a job that ran has said anything. */
static bool is_unknown(const dls_predictions *f, int32_t job)
{
    return f->kind_seen[f->kinds->of[job]] != DLS_KIND_KNOWN &&
           !(f->calibration && dls_calibration_knows(f->calibration, job));
}

const dls_shape *dls_predictions_shapes(dls_predictions *f, int32_t job, int32_t gpus, size_t *n)
{
    const int32_t at = row_for(f, job, gpus);
    dls_prediction_row *r = &f->row[at >= 0 ? at : 0];
    *n = at >= 0 && r->n > 0 && !is_unknown(f, job) ? (size_t)r->n : 0;
    /* Of models without a name every user's jobs have an order of their own. */
    if (*n > 0 && f->calibration &&
        (r->sorted != dls_calibration_version(f->calibration) || !*f->kinds->kind[r->kind].model)) {
        sort_row(f, r, job);
    }
    return *n > 0 ? f->shape + r->first : NULL;
}

/* Index of the row's cell for a shape, else of the nearest one; -1: the row has none of the type.
 */
static int64_t cell_for(const dls_predictions *f, const dls_prediction_row *r,
                        const dls_shape *shape, double *distance)
{
    const int64_t end = r->first + r->n;
    int64_t best = -1;
    *distance = 0;
    for (int64_t i = r->first; i < end; i++) {
        if (dls_shape_is(&f->shape[i], shape)) {
            return i;
        }
    }
    *distance = (double)INFINITY;
    for (int64_t i = r->first; i < end; i++) {
        const double d = dls_shape_distance(&f->shape[i], shape);
        if (d < *distance) {
            *distance = d;
            best = i;
        }
    }
    return best;
}

void dls_predictions_get(const dls_predictions *f, int32_t job, const dls_shape *shape,
                         int64_t work_us, dls_prediction *out)
{
    const dls_prediction_row *own = &f->row[f->row_of[job]];
    const int32_t sized = row_for(f, job, shape->gpus);
    const dls_prediction_row *r = &f->row[sized >= 0 ? sized : 0];
    double distance;
    const int64_t at =
        sized >= 0 && r->n > 0 && !is_unknown(f, job) ? cell_for(f, r, shape, &distance) : -1;
    if (at < 0) {
        *out = (dls_prediction){.iteration_s = (double)NAN,
                                .remaining_s = (double)NAN,
                                .link_bps = (double)NAN,
                                .mem_bytes = (double)NAN,
                                .distance = (double)NAN};
        for (int k = 0; k < DLS_METRICS; k++) {
            out->metric[k] = (double)NAN;
        }
        return;
    }
    const dls_kept_answer *c = &f->cell[at];
    /* Without a world, work is counted at the best candidate. */
    const double per_s = f->p.world ? reference_s(f, job) : f->cell[own->first].iteration_s;
    out->iteration_s = calibrated_s(f, job, at);
    out->remaining_s = (double)work_us / 1e6 * (out->iteration_s / per_s);
    for (int k = 0; k < DLS_METRICS; k++) {
        out->metric[k] = (double)c->metric[k];
    }
    out->link_bps = (double)c->link_bps;
    out->mem_bytes = (double)f->mem_bytes[at];
    out->distance = (double)c->distance + distance;
}

int64_t dls_predictions_estimate_us(dls_predictions *f, int32_t job)
{
    const int64_t work_us = f->p.world ? dls_world_work_us(f->p.world, job)
                                       : dls_trace_cols(f->p.trace)->duration_us[job];
    size_t n;
    const dls_shape *best = dls_predictions_shapes(f, job, 0, &n);
    if (n == 0) {
        return work_us;
    }
    dls_prediction prediction;
    dls_predictions_get(f, job, best, work_us, &prediction);
    const double us = prediction.remaining_s * 1e6;
    return us < 9e18 ? (int64_t)(us + 0.5) : INT64_MAX / 2;
}

/* ---- what was seen --------------------------------------------------------------------------- */

#define LEAST_US 1000000 /* of a run whose steps were worth timing */

void dls_predictions_seen(dls_predictions *f, int32_t job, const dls_shape *shape,
                          double iteration_s, int64_t executed_us)
{
    const int32_t at = row_for(f, job, shape->gpus);
    double distance;
    if (!f->calibration || at < 0 || f->row[at].n <= 0 || executed_us < LEAST_US) {
        return;
    }
    const int64_t cell = cell_for(f, &f->row[at], shape, &distance);
    if (cell >= 0 && iteration_s > 0) {
        dls_calibration_see(f->calibration, job, shape, iteration_s / f->cell[cell].iteration_s);
        f->stats.observed++;
    }
}
