/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Predictions for policies: groups jobs into rows with equal answers, asks the source for all that
 * is missing in one batch, keeps the answers, and replays recordings.
 */
#include "predictor/sources/predictions.h"

#include "base/alloc.h"
#include "base/clock.h"
#include "base/sha256.h"
#include "base/suggest.h"
#include "dlsim/predictor.h"
#include "predictor/sources/candidates.h"
#include "predictor/sources/gpu_memory.h"
#include "predictor/sources/keep.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Jobs of one kind and gang that may use the same GPU types: their answers are the same. */
typedef struct row {
    int32_t kind, gpus;
    int32_t first_job;
    uint32_t types;
    int32_t n;       /* candidates; -1: not asked for yet */
    int64_t first;   /* of its cells */
    int32_t other;   /* the next row of the same jobs on another number of GPUs, -1 */
    float mem_bytes; /* per GPU */
} row;

struct dls_predictions {
    dls_prediction_params p;
    const dls_prediction_source *ops;
    void *source; /* NULL when answers are replayed */
    dls_kinds own_kinds;
    const dls_kinds *kinds;
    dls_candidates candidates;
    int32_t *row_of; /* [jobs] */
    row *row; /* first those of the gangs of the trace */
    int32_t n_rows;
    size_t row_cap;
    uint8_t *kind_seen; /* [kinds] */
    /* The candidates of all answered rows, those of a row side by side. */
    dls_shape *shape;
    dls_kept_answer *cell;
    size_t n_cells, shape_cap, cell_cap;
    /* What the present call asks for. */
    dls_predictions_ask *ask;
    dls_prediction *reply;
    int64_t *ask_cell; /* where the answers go */
    size_t n_asks, ask_cap, reply_cap, ask_cell_cap;
    dls_answers *answers; /* the cache on disk and the recording; NULL: neither */
    uint64_t *kind_sum;   /* [kinds] dls_prediction_source.kind_checksum; 0: not yet */
    dls_gpu_memory memory;
    char identity[256];
    dls_predictions_stats stats;
};

void dls_prediction_params_init(dls_prediction_params *p)
{
    dls_world_params world;
    dls_world_params_init(&world);
    *p = (dls_prediction_params){.source = "oracle",
                                .seed = 1,
                                .sigma = 0.2,
                                .backend = "auto",
                                .max_candidates = 16,
                                .exchange = world.exchange,
                                .numeric = world.numeric};
}

/* ---- set-up ------------------------------------------------------------------------------------
 */

static const dls_prediction_source *find_source(const char *name, dls_error *err)
{
    const char *names[64];
    size_t n = 0;
    for (const dls_prediction_source *const *ops = dls_prediction_sources(); *ops && n < 63; ops++) {
        if (strcmp((*ops)->name, name) == 0) {
            return *ops;
        }
        names[n++] = (*ops)->name;
    }
    names[n] = NULL;
    const char *near = dls_suggest(name, names);
    (void)!dls_fail(err, DLS_EINPUT, "predictor.source", "unknown predictor \"%s\"%s%s%s", name,
                    near ? " (did you mean \"" : "", near ? near : "", near ? "\"?)" : "");
    return NULL;
}

/* Jobs in an order in which those of one row are neighbours. */
typedef struct by_row {
    int32_t kind, gpus, job;
    uint32_t types;
} by_row;

static int compare_rows(const void *a, const void *b)
{
    const by_row *x = a, *y = b;
    if (x->kind != y->kind) {
        return x->kind < y->kind ? -1 : 1;
    }
    if (x->gpus != y->gpus) {
        return x->gpus < y->gpus ? -1 : 1;
    }
    if (x->types != y->types) {
        return x->types < y->types ? -1 : 1;
    }
    return x->job < y->job ? -1 : x->job > y->job;
}

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
            f->row[f->n_rows++] = (row){.kind = job[i].kind,
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
    by_row *job = dls_alloc_zero(n + 1, sizeof *job);
    f->row_of = dls_alloc_zero(n + 1, sizeof *f->row_of);
    f->row = dls_alloc_zero(n + 1, sizeof *f->row);
    f->row_cap = n + 1;
    dls_status status = DLS_OK;
    if (!job || !f->row_of || !f->row) {
        status = dls_nomem(err, "predictions", n * sizeof *f->row);
    } else {
        number_rows(f, job, n);
        row *fitted = dls_realloc(f->row, ((size_t)f->n_rows + 1) * sizeof *f->row);
        f->row = fitted ? fitted : f->row;
        f->row_cap = fitted ? (size_t)f->n_rows + 1 : f->row_cap;
    }
    dls_free(job);
    return status;
}

/* A cache that cannot be read is no reason to stop: it is written anew. A recording is. */
static dls_status open_answers(dls_predictions *f, dls_error *err)
{
    const char *cache = f->p.cache_path;
    const bool caches = cache && *cache && f->ops->keeps;
    if (!caches && !f->p.record_path && !f->p.replay_path) {
        return DLS_OK;
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

/* A recording is replayed without the source: it goes by names alone. */
static bool names_only(const dls_predictions *f)
{
    return f->p.record_path || f->p.replay_path;
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
    if (names_only(f)) {
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
    if (f->p.world) {
        f->kinds = dls_world_kinds(f->p.world);
    } else {
        DLS_TRY(dls_kinds_of_trace(f->p.trace, &f->own_kinds, err));
        f->kinds = &f->own_kinds;
    }
    const size_t n_kinds = (size_t)f->kinds->n + 1;
    f->kind_seen = dls_alloc_zero(n_kinds, sizeof *f->kind_seen);
    f->kind_sum = dls_alloc_zero(n_kinds, sizeof *f->kind_sum);
    if (!f->kind_seen || !f->kind_sum) {
        return dls_nomem(err, "predictions", n_kinds * sizeof *f->kind_sum);
    }
    dls_candidates_init(&f->candidates, f->p.cluster);
    DLS_TRY(make_rows(f, err));
    return open_source(f, err);
}

dls_status dls_predictions_create(const dls_prediction_params *p, dls_predictions **out, dls_error *err)
{
    dls_predictions *f = dls_alloc_zero(1, sizeof *f);
    if (!f) {
        return dls_nomem(err, "predictions", sizeof *f);
    }
    f->p = *p;
    f->p.max_candidates = p->max_candidates > 0 ? p->max_candidates : 1;
    const dls_status status = create(f, err);
    if (status != DLS_OK) {
        dls_predictions_destroy(f);
        return status;
    }
    *out = f;
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
    memcpy(f->row, from->row, (size_t)from->n_rows * sizeof *f->row);
    memcpy(f->kind_seen, from->kind_seen, n_kinds * sizeof *f->kind_seen);
    if (f->kind_sum && from->kind_sum) {
        memcpy(f->kind_sum, from->kind_sum, n_kinds * sizeof *f->kind_sum);
    }
    f->stats = from->stats;
    DLS_TRY(dls_duplicate(&f->shape, from->shape, from->n_cells, from->shape_cap, sizeof *f->shape, err));
    f->shape_cap = from->shape_cap;
    DLS_TRY(dls_duplicate(&f->cell, from->cell, from->n_cells, from->cell_cap, sizeof *f->cell, err));
    f->cell_cap = from->cell_cap;
    f->n_cells = from->n_cells;
    return DLS_OK;
}

dls_status dls_predictions_copy(const dls_predictions *from, dls_world *world, dls_predictions **out,
                                dls_error *err)
{
    dls_prediction_params params = from->p;
    params.world = world;
    DLS_TRY(dls_predictions_create(&params, out, err));
    const dls_status status = copy_answers(*out, from, err);
    if (status != DLS_OK) {
        dls_predictions_destroy(*out);
        *out = NULL;
    }
    return status;
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
    void *const owned[] = {f->row_of, f->row, f->kind_seen, f->kind_sum, f->shape,
                           f->cell,   f->ask, f->reply,     f->ask_cell};
    for (size_t i = 0; i < sizeof owned / sizeof owned[0]; i++) {
        dls_free(owned[i]);
    }
    dls_free(f);
}

/* ---- keys of kept answers ----------------------------------------------------------------------
 */

/* Everything an answer depends on; returns the length as snprintf does. */
static int question(const dls_predictions *f, int32_t kind, const dls_shape *s, char *text,
                    size_t size)
{
    const dls_kind *k = &f->kinds->kind[kind];
    const dls_gpu_type *gpu = &f->p.cluster->types[s->type];
    return snprintf(
        text, size, "%s|%s|%016llx|%s|%lld|%s|%s|%s|%s|%s %.17g %.17g|%d %d %d|%.17g %.17g",
        f->ops->name, f->identity, names_only(f) ? 0ULL : (unsigned long long)f->kind_sum[kind],
        k->model, (long long)k->batch, f->p.numeric, f->p.exchange, f->p.host ? f->p.host : "",
        f->p.fabric ? f->p.fabric : "", gpu->name, gpu->mem_gib, gpu->peer_bps, (int)s->gpus,
        (int)s->n_nodes, (int)s->n_racks, f->candidates.type[s->type].nic_bps,
        f->p.cluster->rack_uplink_bps);
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
        text = dls_alloc(size);
        if (!text) {
            return dls_nomem(err, "name of a question", size);
        }
        question(f, kind, s, text, size);
    }
    *key = dls_answer_key_of(text);
    if (text != brief) {
        dls_free(text);
    }
    return DLS_OK;
}

/* ---- questions and answers ---------------------------------------------------------------------
 */

/* Iteration time at the reference, in whose units work is counted. */
static double reference_s(const dls_predictions *f, int32_t job)
{
    return f->p.world ? dls_world_reference_s(f->p.world, job) : 1;
}

/* An answer that is no time leaves the cell as it is: as at the reference. */
static void take(dls_predictions *f, dls_kept_answer *cell, const dls_kept_answer *answer)
{
    if (answer->iteration_s > 0) {
        *cell = *answer;
        f->stats.nearest += answer->distance > 0;
    } else {
        f->stats.fallbacks++;
    }
}

/* A row's cells, with what is kept of them; the rest becomes questions. */
static dls_status open_row(dls_predictions *f, row *r, dls_error *err)
{
    dls_shape shape[DLS_TYPES_MAX * DLS_SPREADS];
    const dls_kind *kind = &f->kinds->kind[r->kind];
    double mem_bytes;
    const int32_t n =
        dls_candidates_list(&f->candidates, r->gpus, r->types, f->p.max_candidates, shape);
    const bool unknown = kind->names.match == DLS_MODEL_UNKNOWN;
    const size_t need = f->n_cells + (size_t)n;
    DLS_TRY(dls_grow(&f->shape, &f->shape_cap, need, sizeof *f->shape, err));
    DLS_TRY(dls_grow(&f->cell, &f->cell_cap, need, sizeof *f->cell, err));
    DLS_TRY(dls_gpu_memory_of(&f->memory, kind, &mem_bytes, err));
    if (!f->kind_seen[r->kind]) {
        f->kind_seen[r->kind] = 1;
        f->stats.distinct_kinds++;
        f->stats.unknown_kinds += unknown;
    }
    r->mem_bytes = (float)mem_bytes;
    r->first = (int64_t)f->n_cells;
    for (int32_t i = 0; i < n; i++) {
        dls_kept_answer *cell = &f->cell[f->n_cells];
        const dls_kept_answer *kept = NULL;
        f->stats.questions++;
        *cell = (dls_kept_answer){.iteration_s = reference_s(f, r->first_job), .link_bps = NAN};
        for (int k = 0; k < DLS_METRICS; k++) {
            cell->metric[k] = NAN;
        }
        if (f->answers && !unknown) {
            dls_answer_key key;
            DLS_TRY(key_of(f, r->kind, &shape[i], &key, err));
            kept = dls_answers_find(f->answers, &key);
        }
        if (kept) {
            f->stats.disk_hits++;
            take(f, cell, kept);
        } else if (!unknown && f->p.replay_path) {
            return dls_fail(err, DLS_EINPUT, f->p.replay_path,
                            "has no prediction of \"%s\" (batch %lld) for %d x %s in %d nodes%s",
                            kind->model, (long long)kind->batch, (int)r->gpus,
                            f->p.cluster->types[shape[i].type].name, (int)shape[i].n_nodes,
                            *f->identity ? " under this predictor.settings_map" : "");
        } else if (!unknown) {
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
    f->stats.seconds += dls_clock_s() - start;
    f->stats.batches++;
    f->stats.answers += f->n_asks;
    DLS_TRY(status);
    return take_answers(f, err);
}

/* Least iteration time first; of equal ones the order of the candidates. */
static void sort_row(dls_predictions *f, const row *r)
{
    dls_shape *shape = f->shape + r->first;
    dls_kept_answer *cell = f->cell + r->first;
    for (int32_t i = 1; i < r->n; i++) {
        const dls_shape s = shape[i];
        const dls_kept_answer c = cell[i];
        int32_t k = i;
        for (; k > 0 && cell[k - 1].iteration_s > c.iteration_s; k--) {
            shape[k] = shape[k - 1];
            cell[k] = cell[k - 1];
        }
        shape[k] = s;
        cell[k] = c;
    }
}

static int by_number(const void *a, const void *b)
{
    return *(const int32_t *)a < *(const int32_t *)b ? -1
                                                     : *(const int32_t *)a > *(const int32_t *)b;
}

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
        sort_row(f, &f->row[rows[i]]);
    }
    return DLS_OK;
}

dls_status dls_predictions_prepare(dls_predictions *f, const int32_t *jobs, size_t n, dls_error *err)
{
    enum { ASKED = -1, LISTED = -2 };
    int32_t few[64], *rows = n <= 64 ? few : dls_alloc(n * sizeof *rows);
    size_t n_new = 0;
    if (!rows) {
        return dls_nomem(err, "predictions", n * sizeof *rows);
    }
    for (size_t i = 0; i < n; i++) {
        row *r = &f->row[f->row_of[jobs[i]]];
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

dls_status dls_predictions_prepare_size(dls_predictions *f, int32_t job, int32_t gpus, dls_error *err)
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

/* ---- what is known -----------------------------------------------------------------------------
 */

const dls_shape *dls_predictions_shapes(const dls_predictions *f, int32_t job, int32_t gpus, size_t *n)
{
    const int32_t at = row_for(f, job, gpus);
    const row *r = &f->row[at >= 0 ? at : 0];
    *n = at >= 0 && r->n > 0 ? (size_t)r->n : 0;
    return *n > 0 ? f->shape + r->first : NULL;
}

/* Index of the row's cell for a shape, else of the nearest one; -1: the row has none of the type.
 */
static int64_t cell_for(const dls_predictions *f, const row *r, const dls_shape *shape,
                        double *distance)
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

void dls_predictions_get(const dls_predictions *f, int32_t job, const dls_shape *shape, int64_t work_us,
                       dls_prediction *out)
{
    const row *own = &f->row[f->row_of[job]];
    const int32_t sized = row_for(f, job, shape->gpus);
    const row *r = &f->row[sized >= 0 ? sized : 0];
    double distance;
    const int64_t at = sized >= 0 && r->n > 0 ? cell_for(f, r, shape, &distance) : -1;
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
    out->iteration_s = c->iteration_s;
    out->remaining_s = (double)work_us / 1e6 * (c->iteration_s / per_s);
    for (int k = 0; k < DLS_METRICS; k++) {
        out->metric[k] = (double)c->metric[k];
    }
    out->link_bps = (double)c->link_bps;
    out->mem_bytes = (double)r->mem_bytes;
    out->distance = (double)c->distance + distance;
}

int64_t dls_predictions_estimate_us(const dls_predictions *f, int32_t job)
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
