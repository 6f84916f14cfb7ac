/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Inside the predictions: the table of rows and answers that predictions.c sets up and
 * predictions_ask.c fills and reads.
 */
#ifndef DLS_SOURCES_PREDICTIONS_IMPL_H
#define DLS_SOURCES_PREDICTIONS_IMPL_H

#include "predictor/sources/calibration.h"
#include "predictor/sources/candidates.h"
#include "predictor/sources/gpu_memory.h"
#include "predictor/sources/keep.h"
#include "predictor/sources/predictions.h"

/* Jobs of one kind and gang that may use the same GPU types: their answers are the same. */
typedef struct dls_prediction_row {
    int32_t kind, gpus;
    int32_t first_job;
    uint32_t types;
    int32_t n;       /* candidates; -1: not asked for yet */
    int64_t first;   /* of its cells */
    int32_t other;   /* the next row of the same jobs on another number of GPUs, -1 */
    uint64_t sorted; /* calibration's version by which its cells are sorted */
} dls_prediction_row;

enum { DLS_KIND_UNSEEN, DLS_KIND_UNKNOWN, DLS_KIND_KNOWN };

struct dls_predictions {
    dls_prediction_params p;
    const dls_prediction_source *ops;
    void *source; /* NULL when answers are replayed */
    dls_kinds own_kinds;
    const dls_kinds *kinds;
    dls_candidates candidates;
    int32_t *row_of;         /* [jobs] */
    dls_prediction_row *row; /* first those of the gangs of the trace */
    int32_t n_rows;
    size_t row_cap;
    uint8_t *kind_seen; /* [kinds] DLS_KIND_... */
    /* The candidates of all answered rows, those of a row side by side. */
    dls_shape *shape;
    dls_kept_answer *cell;
    float *mem_bytes; /* per GPU */
    size_t n_cells, shape_cap, cell_cap, mem_cap;
    /* What the present call asks for. */
    dls_predictions_ask *ask;
    dls_prediction *reply;
    int64_t *ask_cell; /* where the answers go */
    size_t n_asks, ask_cap, reply_cap, ask_cell_cap;
    dls_answers *answers; /* the cache on disk and the recording; NULL: neither */
    uint64_t *kind_sum;   /* [kinds] dls_prediction_source.kind_checksum; 0: not yet */
    dls_gpu_memory memory;
    dls_calibration *calibration; /* NULL: none */
    char identity[256];
    dls_predictions_stats stats;
};

/* A recording is replayed without the source: it goes by names alone. */
static inline bool dls_predictions_by_name(const dls_predictions *f)
{
    return f->p.record_path || f->p.replay_path;
}

#endif
