/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Sums of observed over answered step times by model, GPU type, spread and batch, and the shrunken
 * estimate from them.
 */
#include "predictor/sources/calibration.h"

#include "base/alloc.h"
#include "base/own.h"
#include "base/strdict.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

/* One GPU, one node, one rack, several racks. */
#define SPREADS 4
#define PRIOR 1.0 /* observations that the coarser level's opinion counts for */

typedef struct tally {
    double sum; /* of logarithms */
    double n;
} tally;

enum { MODEL, TYPE, SPREAD, BATCH, LEVELS };

struct dls_calibration {
    const dls_kinds *kinds;
    int32_t *of; /* [jobs] number of the model, or of the user */
    size_t n_ids, n_types;
    tally *level[LEVELS]; /* [ids], [ids][types], [ids][types][spreads], [kinds][types][spreads] */
    uint64_t version;
};

static size_t length(const dls_calibration *c, int level)
{
    const size_t places = c->n_types * SPREADS;
    return level == MODEL    ? c->n_ids
           : level == TYPE   ? c->n_ids * c->n_types
           : level == SPREAD ? c->n_ids * places
                             : (size_t)c->kinds->n * places;
}

static dls_status name_jobs(dls_calibration *c, const dls_trace *trace, dls_strdict *names,
                            dls_error *err)
{
    const dls_trace_columns *col = dls_trace_cols(trace);
    for (size_t j = 0; j < col->n; j++) {
        char name[DLS_MODEL_KEY + 32];
        int n;
        const char *model = c->kinds->kind[c->kinds->of[j]].model;
        if (*model) {
            dls_model_key(model, name);
            n = (int)strlen(name);
        } else {
            n = snprintf(name, sizeof name, "(user %d", col->user ? (int)col->user[j] : -1);
        }
        DLS_TRY(dls_strdict_put(names, name, (size_t)n, &c->of[j], err));
    }
    c->n_ids = names->n;
    return DLS_OK;
}

static dls_status fill(dls_calibration *c, const dls_trace *trace, dls_error *err)
{
    const size_t n = dls_trace_cols(trace)->n;
    dls_strdict names = {0};
    DLS_TRY(dls_alloc_array(&c->of, n + 1, sizeof *c->of, "calibration", err));
    const dls_status status = name_jobs(c, trace, &names, err);
    dls_strdict_fini(&names);
    DLS_TRY(status);
    for (int k = 0; k < LEVELS; k++) {
        DLS_TRY(dls_alloc_array(&c->level[k], length(c, k) + 1, sizeof *c->level[k], "calibration",
                                err));
    }
    return DLS_OK;
}

dls_status dls_calibration_create(const dls_kinds *kinds, const dls_trace *trace, int32_t n_types,
                                  dls_calibration **out, dls_error *err)
{
    DLS_HOLD(dls_calibration_destroy) dls_calibration *c = NULL;
    DLS_TRY(dls_alloc_array(&c, 1, sizeof *c, "calibration", err));
    c->kinds = kinds;
    c->n_types = (size_t)n_types;
    DLS_TRY(fill(c, trace, err));
    *out = dls_take(&c);
    return DLS_OK;
}

void dls_calibration_destroy(dls_calibration *c)
{
    if (c) {
        for (int k = 0; k < LEVELS; k++) {
            dls_free(c->level[k]);
        }
        DLS_FREE_ALL(c->of, c);
    }
}

void dls_calibration_copy(dls_calibration *to, const dls_calibration *from)
{
    for (int k = 0; k < LEVELS; k++) {
        memcpy(to->level[k], from->level[k], length(from, k) * sizeof *to->level[k]);
    }
    to->version = from->version;
}

static void tallies(const dls_calibration *c, int32_t job, const dls_shape *s, tally *out[LEVELS])
{
    const size_t id = (size_t)c->of[job], type = (size_t)s->type;
    const size_t spread = s->gpus == 1 ? 0 : s->n_nodes == 1 ? 1 : s->n_racks == 1 ? 2 : 3;
    const size_t place = type * SPREADS + spread;
    out[MODEL] = &c->level[MODEL][id];
    out[TYPE] = &c->level[TYPE][id * c->n_types + type];
    out[SPREAD] = &c->level[SPREAD][id * c->n_types * SPREADS + place];
    out[BATCH] = &c->level[BATCH][(size_t)c->kinds->of[job] * c->n_types * SPREADS + place];
}

void dls_calibration_see(dls_calibration *c, int32_t job, const dls_shape *shape, double ratio)
{
    tally *at[LEVELS];
    if (!(ratio > 0) || !isfinite(ratio)) {
        return;
    }
    tallies(c, job, shape, at);
    for (int k = 0; k < LEVELS; k++) {
        at[k]->sum += log(ratio);
        at[k]->n += 1;
    }
    c->version++;
}

double dls_calibration_factor(const dls_calibration *c, int32_t job, const dls_shape *shape)
{
    tally *at[LEVELS];
    double estimate = 0;
    tallies(c, job, shape, at);
    for (int k = 0; k < LEVELS; k++) {
        estimate += (at[k]->sum - at[k]->n * estimate) / (at[k]->n + PRIOR);
    }
    return exp(estimate);
}

bool dls_calibration_knows(const dls_calibration *c, int32_t job)
{
    return c->level[MODEL][c->of[job]].n > 0;
}

uint64_t dls_calibration_version(const dls_calibration *c)
{
    return c->version;
}
