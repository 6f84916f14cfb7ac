/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * What the world and the predictor of a run say of themselves when it is over: what had to be guessed, and what it
 * took to know things in advance. Zero where it does not apply.
 */
#ifndef DLS_RECORD_FACTS_H
#define DLS_RECORD_FACTS_H

#include <stdint.h>

/* Jobs whose model is unknown (docs/world.md says what they are taken for) or is another's stand-in; of the
 * shapes asked for, those that a table has not measured, those taken from another GPU count, those that need
 * smaller micro-batches to fit. */
typedef struct dls_world_notes {
    uint64_t unknown_model_jobs, stand_in_jobs;
    uint64_t unmeasured_shapes, extrapolated_shapes, split_batch_shapes;
} dls_world_notes;

typedef struct dls_predictions_stats {
    uint64_t batches;    /* calls of the source */
    uint64_t questions;  /* candidates looked up */
    uint64_t answers;    /* given by the source */
    uint64_t cache_hits; /* known from an earlier job of the run */
    uint64_t disk_hits;  /* known from the cache on disk, or replayed */
    uint64_t fallbacks;  /* answers that were no times, replaced by the reference */
    uint64_t nearest;    /* answered, disk hits included, by a setting that is not quite the shape */
    uint64_t kinds, unknown_kinds; /* of jobs, that were asked for */
    uint64_t observed;   /* times that calibrated */
    double predictor_s;  /* wall time in the source: not part of the digest */
    char backend[128];   /* what evaluated it */
    char notes[512];
} dls_predictions_stats;

typedef struct dls_run_facts {
    dls_world_notes world;
    uint64_t unprofiled_jobs, other_batch_jobs; /* that perf.elastic has not, or not with their batch */
    dls_predictions_stats predictions;
} dls_run_facts;

#endif
