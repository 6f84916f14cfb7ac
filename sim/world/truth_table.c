/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Measured throughputs as the truth (table.h says what is taken where nothing was measured). A table
 * knows no bytes. What a spread job takes longer than a packed one is therefore put down to its
 * exchange, as the curve of dls_solo with the constants of measured clusters has it:
 *
 *      exchange = ((spread - packed / 3)^4 - (2/3 packed)^4)^(1/4)
 *
 * and all of it to the network, at the full bandwidth of the job's links: alone the job runs as measured,
 * and with half the bandwidth its exchange takes twice as long. A model that is not in the table runs as
 * the trace says, wherever it is placed.
 */
#include "world/table.h"
#include "world/truth.h"

#include "base/own.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#define HIDING (2.0 / 3.0)
#define GAMMA 4.0
#define WORD_BYTES 4.0
#define GIB (1024.0 * 1024 * 1024)

typedef struct state {
    dls_speed_table table;
    dls_gpu_type type[DLS_TYPES_MAX + 1];
    int32_t gpu[DLS_TYPES_MAX + 1]; /* code in the table */
    int32_t n_types;
    double knee, slope;             /* of shared GPUs */
} state;

static void table_close(void *opaque)
{
    state *s = opaque;
    if (s) {
        dls_table_fini(&s->table);
        dls_free(s);
    }
}

static dls_status find_types(state *s, const char *path, dls_error *err)
{
    for (int32_t t = 0; t < s->n_types; t++) {
        s->gpu[t] = dls_table_gpu(&s->table, s->type[t].name);
        if (s->gpu[t] < 0) {
            char have[256] = "";
            for (size_t i = 0; i < s->table.gpus.n; i++) {
                const size_t used = strlen(have);
                snprintf(have + used, sizeof have - used, "%s%s", i ? ", " : "",
                         dls_strdict_get(&s->table.gpus, (int32_t)i));
            }
            return dls_fail(err, DLS_ECONFIG, path,
                            "nothing in the table was measured on the GPU type \"%s\"; it has %s",
                            s->type[t].name, have);
        }
    }
    return DLS_OK;
}

DLS_OWNER(state, table_close)

static dls_status table_open(const dls_world_params *p, const dls_gpu_type *types, int32_t n_types,
                             void **out, dls_error *err)
{
    if (!p->table_path || !*p->table_path) {
        return dls_fail(err, DLS_ECONFIG, "perf.table", "the truth model \"table\" needs a table");
    }
    DLS_HOLD(table_close) state *s = NULL;
    DLS_TRY(dls_alloc_array(&s, 1, sizeof *s, "table", err));
    s->n_types = n_types;
    s->knee = p->interference_knee;
    s->slope = p->interference_slope;
    memcpy(s->type, types, (size_t)n_types * sizeof *types);
    DLS_TRY(dls_table_load(p->table_path, &s->table, err));
    DLS_TRY(find_types(s, p->table_path, err));
    *out = dls_take(&s);
    return DLS_OK;
}

/* A model that was not measured on the type: as on the first type on which it was, by the ratio of
 * their rates. */
static bool elsewhere(const state *s, int32_t type, dls_table_ask ask, dls_table_answer *out)
{
    for (int32_t t = 0; t < s->n_types; t++) {
        ask.gpu = s->gpu[t];
        if (t != type && dls_table_find(&s->table, &ask, out)) {
            const double slower = s->type[type].fp32_flops > 0 && s->type[t].fp32_flops > 0
                                      ? s->type[t].fp32_flops / s->type[type].fp32_flops
                                      : 1;
            out->iteration_s *= slower;
            out->beside_s *= slower;
            out->unmeasured = true;
            return true;
        }
    }
    return false;
}

/* Equal jobs on the same GPUs tell how much of a GPU one of them uses: the utilisation at which the
 * interference of two is the one measured; 1 if it was not. */
static double utilisation(const state *s, const dls_table_answer *a)
{
    if (!(a->beside_s > 0) || !isfinite(a->beside_s) || !(s->slope > 0)) {
        return 1;
    }
    const double lost = fmax(0, 1 - a->iteration_s / a->beside_s);
    return lost > 0 ? fmin(1, 0.5 * (s->knee + lost / s->slope)) : 0.5 * fmin(1, s->knee);
}

/* Weights and optimiser state, where the model is known: tables do not have them. */
static dls_status add_checkpoint(const dls_kind *kind, dls_solo *out, dls_error *err)
{
    dls_workload w;
    if (kind->names.match == DLS_MODEL_UNKNOWN) {
        return DLS_OK;
    }
    DLS_TRY(dls_model_workload(&kind->names, DLS_NUMERIC_FP32, &w, err));
    out->checkpoint_bytes = WORD_BYTES * (1 + dls_optimiser_words(w.optimiser)) * w.params;
    dls_workload_fini(&w);
    return DLS_OK;
}

static dls_status table_solo(void *opaque, const dls_truth_ask *ask, dls_solo *out,
                             dls_truth_note *note, dls_error *err)
{
    const state *s = opaque;
    dls_table_answer now, packed;
    dls_table_ask q = {.model = dls_table_model(&s->table, ask->kind),
                       .gpu = s->gpu[ask->type],
                       .batch = ask->kind->batch,
                       .gpus = ask->gpus,
                       .nodes = ask->n_nodes,
                       .spread = ask->spread};
    *out = (dls_solo){.gamma = GAMMA, .compute_s = 1, .gpu_util = 1};
    note->unknown = q.model < 0 || (!dls_table_find(&s->table, &q, &now) &&
                                    !elsewhere(s, ask->type, q, &now));
    out->measured = !note->unknown;
    if (note->unknown) {
        return DLS_OK;
    }
    note->unmeasured = now.unmeasured;
    note->extrapolated = now.extrapolated;
    note->each = s->table.each;
    out->compute_s = now.iteration_s;
    out->gpu_util = utilisation(s, &now);
    if (isinf(now.beside_s)) {
        out->mem_bytes = 0.51 * GIB * s->type[ask->type].mem_gib; /* two do not fit */
    }
    q.nodes = 1;
    q.spread = false;
    if (ask->n_nodes > 1 && ask->line_bps > 0 &&
        dls_table_find(&s->table, &q, &packed) && packed.iteration_s < now.iteration_s) {
        out->compute_s = packed.iteration_s;
        out->overlap_s = HIDING * packed.iteration_s;
        const double exposed = now.iteration_s - (1 - HIDING) * packed.iteration_s;
        const double exchange =
            pow(pow(exposed, GAMMA) - pow(out->overlap_s, GAMMA), 1 / GAMMA);
        out->link_bytes = exchange * ask->line_bps;
    }
    return add_checkpoint(ask->kind, out, err);
}

const dls_truth_ops dls_truth_ops_table = {
    .name = "table",
    .summary = "measured throughputs: of Gavel, Pollux, ElasticFlow, or our own HDF5",
    .open = table_open,
    .close = table_close,
    .solo = table_solo,
};
