/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Measured iteration times: which model, with which batch per GPU, on how many GPUs of which type,
 * over how many nodes. Read from what others have published or from our own HDF5 (docs/world.md):
 *
 *      Gavel        throughputs.json: steps per second, consolidated or not, alone or in pairs
 *      Pollux, Sia  a folder with <application>/placements.csv and scalability.csv
 *      ElasticFlow  a folder with throughputs_<GPU>/<model>.csv
 *      dlsim        "dlsim-throughputs"
 */
#ifndef DLS_WORLD_TABLE_H
#define DLS_WORLD_TABLE_H

#include "base/strdict.h"
#include "workload/kinds.h"

/* How a measurement was spread, where the number of nodes is not known. */
enum { DLS_TABLE_PACKED = 0, DLS_TABLE_SPREAD = -1 };

typedef struct dls_table_row {
    int32_t model, gpu; /* codes */
    int32_t batch;      /* per GPU; 0: whatever it is */
    int32_t gpus;
    int32_t nodes;      /* >= 1, DLS_TABLE_PACKED: as few as possible, DLS_TABLE_SPREAD: more */
    double iteration_s; /* > 0; of all GPUs together */
    double beside_s; /* the same with an equal job on the same GPUs; 0 unknown, INFINITY: does not
                        fit */
    double weight;   /* measurements in it */
} dls_table_row;

typedef struct dls_speed_table {
    bool each; /* jobs count the iterations of every GPU, as Gavel's do: g of them each time */
    dls_table_row *row; /* [n], ascending by model, gpu, gpus, nodes, batch; owned */
    size_t n, cap;
    dls_strdict models; /* keys (dls_model_key) */
    dls_strdict gpus;   /* as written */
} dls_speed_table;

/* Whatever of the above path is. *out needs dls_table_fini only on success. Errors: EINPUT (with
 * the place), ENOMEM. */
dls_status dls_table_load(const char *path, dls_speed_table *out, dls_error *err) DLS_MUST_CHECK;
void dls_table_fini(dls_speed_table *table); /* NULL-safe */

/* Code of the GPU type: its name without case, or as much as stands before a dash; -1. */
int32_t dls_table_gpu(const dls_speed_table *table, const char *name);
/* Code of the model: by key, else any other spelling of the same model; -1. */
int32_t dls_table_model(const dls_speed_table *table, const dls_kind *kind);

typedef struct dls_table_ask {
    int32_t model, gpu;
    int64_t batch;
    int32_t gpus, nodes;
    bool spread; /* over more nodes than needed */
} dls_table_ask;

typedef struct dls_table_answer {
    double iteration_s, beside_s;
    bool unmeasured;   /* other nodes or another batch */
    bool extrapolated; /* from another number of GPUs */
} dls_table_answer;

/* Nearest number of GPUs (by ratio, of equals the smaller), then of nodes, then linear in the batch
 * between the two measured around it, in proportion to it beyond them. false: nothing of this model
 * on this GPU. O(rows of the model). */
bool dls_table_find(const dls_speed_table *table, const dls_table_ask *ask, dls_table_answer *out);

/* ---- for readers ----------------------------------------------------------------------------- */

/* model as written. Rows with a time that is not a positive number are passed over. */
dls_status dls_table_add(dls_speed_table *table, const char *model, const char *gpu, dls_table_row row,
                         dls_error *err) DLS_MUST_CHECK;
/* A text; path names it. */
dls_status dls_table_read_gavel(const char *path, const char *text, size_t len, dls_speed_table *out,
                                dls_error *err) DLS_MUST_CHECK;
/* Of a folder; *found: it had such files. */
dls_status dls_table_read_pollux(const char *path, dls_speed_table *out, bool *found,
                                 dls_error *err) DLS_MUST_CHECK;
dls_status dls_table_read_elasticflow(const char *path, dls_speed_table *out, bool *found,
                                      dls_error *err) DLS_MUST_CHECK;
dls_status dls_table_read_h5(const char *path, dls_speed_table *out, dls_error *err) DLS_MUST_CHECK;

#endif
