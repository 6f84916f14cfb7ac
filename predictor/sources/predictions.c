/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Predictions for policies, set up: finds the source, groups jobs into rows with equal answers,
 * opens caches and recordings and saves them at the end.
 */
#include "predictor/sources/predictions_impl.h"

#include "base/alloc.h"
#include "base/own.h"
#include "base/sha256.h"
#include "base/suggest.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- set-up ---------------------------------------------------------------------------------- */

static const dls_prediction_source *find_source(const char *name, dls_error *err)
{
    const char *names[64];
    size_t n = 0;
    for (const dls_prediction_source *const *ops = dls_prediction_sources(); *ops && n < 63;
         ops++) {
        if (strcmp((*ops)->name, name) == 0) {
            return *ops;
        }
        names[n++] = (*ops)->name;
    }
    names[n] = NULL;
    (void)!dls_fail(err, DLS_EINPUT, "predictor.source", "unknown predictor \"%s\"%s", name,
                    DLS_DID_YOU_MEAN(dls_suggest(name, names)));
    return NULL;
}

/* Jobs in an order in which those of one row are neighbours. */
typedef struct by_row {
    int32_t kind, gpus, job;
    uint32_t types;
} by_row;

DLS_BY(compare_rows, by_row, DLS_UP(kind), DLS_UP(gpus), DLS_UP(types), DLS_UP(job));

static void number_rows(dls_predictions *f, by_row *job, size_t n)
{
    const dls_trace_columns *col = dls_trace_cols(f->p.trace);
    for (size_t j = 0; j < n; j++) {
        const char *names = dls_trace_gpu_types(f->p.trace, col->gpu_types[j]);
        job[j] = (by_row){.kind = f->kinds->of[j],
                          .gpus = col->gpus[j],
                          .job = (int32_t)j,
                          .types = dls_cluster_types(f->p.cluster, names)};
    }
    qsort(job, n, sizeof *job, compare_rows);
    for (size_t i = 0; i < n; i++) {
        const bool same = i > 0 && job[i].kind == job[i - 1].kind &&
                          job[i].gpus == job[i - 1].gpus && job[i].types == job[i - 1].types;
        if (!same) {
            f->row[f->n_rows++] = (dls_prediction_row){.kind = job[i].kind,
                                                       .gpus = job[i].gpus,
                                                       .first_job = job[i].job,
                                                       .types = job[i].types,
                                                       .other = -1,
                                                       .n = -1};
        }
        f->row_of[job[i].job] = f->n_rows - 1;
    }
}

static dls_status make_rows(dls_predictions *f, dls_error *err)
{
    const size_t n = dls_trace_cols(f->p.trace)->n;
    DLS_FREED by_row *job = dls_alloc_zero(n + 1, sizeof *job);
    f->row_of = dls_alloc_zero(n + 1, sizeof *f->row_of);
    f->row = dls_alloc_zero(n + 1, sizeof *f->row);
    f->row_cap = n + 1;
    if (!job || !f->row_of || !f->row) {
        return dls_nomem(err, "predictions", n * sizeof *f->row);
    }
    number_rows(f, job, n);
    dls_prediction_row *fitted = dls_realloc(f->row, ((size_t)f->n_rows + 1) * sizeof *f->row);
    f->row = fitted ? fitted : f->row;
    f->row_cap = fitted ? (size_t)f->n_rows + 1 : f->row_cap;
    return DLS_OK;
}

/* A cache that cannot be read is ignored and written again; a recording that cannot be read is an
 * error. */
static dls_status open_answers(dls_predictions *f, dls_error *err)
{
    const char *cache = f->p.cache_path;
    const bool caches = cache && *cache && f->ops->keeps;
    if (!caches && !f->p.record_path && !f->p.replay_path) {
        return DLS_OK;
    }
    if (f->ops->memory) {
        return dls_fail(err, DLS_ECONFIG, "predictor.predictions",
                        "the source \"%s\" is a recording already", f->ops->name);
    }
    if (f->p.record_path) {
        DLS_TRY(dls_answers_check_place(f->p.record_path, err));
    }
    DLS_TRY(dls_answers_create(&f->answers, err));
    if (f->p.replay_path) {
        return dls_answers_load(f->answers, f->p.replay_path, err);
    }
    dls_error why;
    if (caches && dls_answers_load(f->answers, cache, &why) != DLS_OK) {
        if (why.status == DLS_ENOMEM) {
            return dls_fail(err, DLS_ENOMEM, why.where, "%s", why.msg);
        }
        snprintf(f->stats.notes, sizeof f->stats.notes,
                 "cache %.200s: %.200s; starting an empty one\n", cache, why.msg);
    }
    return DLS_OK;
}

/* The table of settings says whose answer was recorded, so it is part of the names. */
static void name_map(dls_predictions *f)
{
    const char *map = f->p.settings_map;
    char sha[DLS_SHA256_HEX];
    if (map && *map && f->ops->keeps) {
        dls_sha256_hex(map, strlen(map), sha);
        snprintf(f->identity, sizeof f->identity, "map %.16s", sha);
    }
}

static dls_status open_source(dls_predictions *f, dls_error *err)
{
    if (!f->p.replay_path) {
        DLS_TRY(f->ops->open(&f->p, f->kinds, &f->source, err));
    }
    if (dls_predictions_by_name(f)) {
        name_map(f);
    } else if (f->ops->identity) {
        f->ops->identity(f->source, f->identity, sizeof f->identity);
    }
    return open_answers(f, err);
}

static dls_status create(dls_predictions *f, dls_error *err)
{
    f->ops = find_source(f->p.source, err);
    if (!f->ops) {
        return DLS_EINPUT;
    }
    if (!dls_numeric_find(f->p.numeric, &f->memory.numeric)) {
        return dls_fail(err, DLS_ECONFIG, "perf.numeric", "unknown precision \"%s\"", f->p.numeric);
    }
    f->memory.software = f->p.software;
    f->memory.runner = f->p.sized ? DLS_RUN_EAGER : DLS_RUN_GRAPH;
    if (f->p.world) {
        f->kinds = dls_world_kinds(f->p.world);
    } else {
        DLS_TRY(dls_kinds_of_trace(f->p.trace, f->p.stand_ins, f->p.memo, &f->own_kinds, err));
        f->kinds = &f->own_kinds;
    }
    const size_t n_kinds = (size_t)f->kinds->n + 1;
    DLS_TRY(DLS_ALLOC_ALL("predictions", err, DLS_ARRAY(f->kind_seen, n_kinds),
                          DLS_ARRAY(f->kind_sum, n_kinds)));
    dls_candidates_init(&f->candidates, f->p.cluster);
    DLS_TRY(make_rows(f, err));
    if (f->p.calibrate && f->p.world) {
        DLS_TRY(dls_calibration_create(f->kinds, f->p.trace, f->p.cluster->n_types, &f->calibration,
                                       err));
    }
    return open_source(f, err);
}

dls_status dls_predictions_create(const dls_prediction_params *p, dls_predictions **out,
                                  dls_error *err)
{
    DLS_HOLD(dls_predictions_destroy) dls_predictions *f = NULL;
    DLS_TRY(dls_alloc_array(&f, 1, sizeof *f, "predictions", err));
    f->p = *p;
    f->p.max_candidates = p->max_candidates > 0 ? p->max_candidates : 1;
    DLS_TRY(create(f, err));
    *out = dls_take(&f);
    return DLS_OK;
}

static dls_status copy_answers(dls_predictions *f, const dls_predictions *from, dls_error *err)
{
    const size_t n_kinds = (size_t)from->kinds->n;
    if (!f->p.replay_path) {
        dls_answers_destroy(f->answers);
        f->answers = NULL;
        f->p.record_path = f->p.cache_path = NULL;
    }
    dls_free(f->row);
    DLS_TRY(dls_duplicate(&f->row, from->row, (size_t)from->n_rows, from->row_cap, sizeof *f->row,
                          err));
    f->row_cap = from->row_cap;
    f->n_rows = from->n_rows; /* questions about other gangs have added some */
    memcpy(f->kind_seen, from->kind_seen, n_kinds * sizeof *f->kind_seen);
    if (f->kind_sum && from->kind_sum) {
        memcpy(f->kind_sum, from->kind_sum, n_kinds * sizeof *f->kind_sum);
    }
    f->stats = from->stats;
    if (f->calibration && from->calibration) {
        dls_calibration_copy(f->calibration, from->calibration);
    }
    DLS_TRY(dls_duplicate(&f->shape, from->shape, from->n_cells, from->shape_cap, sizeof *f->shape,
                          err));
    f->shape_cap = from->shape_cap;
    DLS_TRY(
        dls_duplicate(&f->cell, from->cell, from->n_cells, from->cell_cap, sizeof *f->cell, err));
    f->cell_cap = from->cell_cap;
    DLS_TRY(dls_duplicate(&f->mem_bytes, from->mem_bytes, from->n_cells, from->mem_cap, sizeof *f->mem_bytes, err));
    f->mem_cap = from->mem_cap;
    f->n_cells = from->n_cells;
    return DLS_OK;
}

dls_status dls_predictions_copy(const dls_predictions *from, dls_world *world,
                                dls_predictions **out, dls_error *err)
{
    dls_prediction_params params = from->p;
    DLS_HOLD(dls_predictions_destroy) dls_predictions *f = NULL;
    params.world = world;
    DLS_TRY(dls_predictions_create(&params, &f, err));
    DLS_TRY(copy_answers(f, from, err));
    *out = dls_take(&f);
    return DLS_OK;
}

void dls_predictions_destroy(dls_predictions *f)
{
    if (!f) {
        return;
    }
    if (f->source) {
        f->ops->close(f->source);
    }
    dls_kinds_fini(&f->own_kinds);
    dls_answers_destroy(f->answers);
    dls_gpu_memory_fini(&f->memory);
    dls_calibration_destroy(f->calibration);
    DLS_FREE_ALL(f->row_of, f->row, f->kind_seen, f->kind_sum, f->shape, f->cell, f->mem_bytes, f->ask, f->reply,
                 f->ask_cell);
    dls_free(f);
}

dls_status dls_predictions_finish(dls_predictions *f, dls_error *unkept, dls_error *err)
{
    if (f->p.record_path) {
        return dls_answers_save(f->answers, f->p.record_path, err);
    }
    if (f->answers && !f->p.replay_path && f->stats.answers > 0) {
        const dls_status status = dls_answers_save(f->answers, f->p.cache_path, unkept);
        (void)status; /* in *unkept */
    }
    return DLS_OK;
}

dls_predictions_stats dls_predictions_about(const dls_predictions *f)
{
    dls_predictions_stats s = f->stats;
    if (f->p.replay_path) {
        snprintf(s.backend, sizeof s.backend, "replayed");
    } else if (f->ops->about) {
        f->ops->about(f->source, &s);
    }
    return s;
}
