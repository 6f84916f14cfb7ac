/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * oracle: the truth itself, of the job alone on the shape, residual included. What nobody can know
 * in advance, the neighbours that a job will have, it does not know either. table: the same of a
 * world of its own, of what somebody measured before.
 */
#include "predictor/sources/from_solo.h"

#include "base/alloc.h"
#include "base/own.h"
#include "predictor/sources/predictions.h"

typedef struct oracle {
    dls_world *world; /* NULL: every shape runs as the trace says */
    const dls_kinds *kinds;
    dls_world *own; /* of `table` */
} oracle;

static void oracle_close(void *state)
{
    if (state) {
        dls_world_destroy(((oracle *)state)->own);
        dls_free(state);
    }
}
DLS_OWNER(oracle, oracle_close)

static dls_status oracle_open(const dls_prediction_params *p, const dls_kinds *kinds, void **state,
                              dls_error *err)
{
    oracle *o;
    DLS_TRY(dls_alloc_array(&o, 1, sizeof *o, "oracle", err));
    *o = (oracle){.world = p->world, .kinds = kinds};
    *state = o;
    return DLS_OK;
}

static dls_status table_open(const dls_prediction_params *p, const dls_kinds *kinds, void **state,
                             dls_error *err)
{
    DLS_HOLD(oracle_close) oracle *o = NULL;
    dls_world_params w;
    dls_world_params_init(&w);
    w.cluster = p->cluster;
    w.trace = p->trace;
    w.stand_ins = p->stand_ins;
    w.model = "table";
    w.table_path = p->table;
    if (!p->table || !*p->table) {
        return dls_fail(err, DLS_ECONFIG, "predictor.table", "the source \"table\" needs a table");
    }
    DLS_TRY(dls_alloc_array(&o, 1, sizeof *o, "oracle", err));
    o->kinds = kinds;
    DLS_TRY(dls_world_create(&w, &o->own, err));
    o->world = o->own;
    *state = dls_take(&o);
    return DLS_OK;
}

static dls_status oracle_answer(void *state, const dls_predictions_ask *ask, size_t n,
                                dls_prediction *out, dls_error *err)
{
    const oracle *o = state;
    for (size_t i = 0; i < n; i++) {
        dls_solo solo = {.iteration_s = 1, .gamma = 1};
        if (o->world) {
            DLS_TRY(dls_world_solo(o->world, o->kinds->kind[ask[i].kind].first_job, &ask[i].shape,
                                   &solo, err));
        }
        if (o->own && !solo.measured) {
            solo.iteration_s = 0; /* no answer */
        }
        dls_prediction_of_solo(&solo, &out[i]);
    }
    return DLS_OK;
}

/* A model that is in no zoo has a truth only where it was measured. */
static dls_status oracle_knows(void *state, const dls_predictions_ask *ask, bool *known,
                               dls_error *err)
{
    const oracle *o = state;
    dls_solo solo = {.measured = false};
    if (o->world) {
        DLS_TRY(dls_world_solo(o->world, o->kinds->kind[ask->kind].first_job, &ask->shape, &solo, err));
    }
    *known = solo.measured;
    return DLS_OK;
}

const dls_prediction_source dls_prediction_source_oracle = {
    .name = "oracle",
    .summary = "the truth of the job alone on the placement: the best that a prediction can be",
    .open = oracle_open,
    .close = oracle_close,
    .answer = oracle_answer,
    .knows = oracle_knows,
};

const dls_prediction_source dls_prediction_source_table = {
    .name = "table",
    .summary = "measured throughputs (predictor.table), of this cluster or of another",
    .open = table_open,
    .close = oracle_close,
    .answer = oracle_answer,
    .knows = oracle_knows,
};
