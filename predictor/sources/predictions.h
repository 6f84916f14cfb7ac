/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * What policies may know in advance: for a job and a shape of placement, a prediction. One file per
 * source: oracle (asks the truth), noisy (oracle times a seeded error), operator, paleo, habitat,
 * justus, driple (the graph neural network), table, profiles (what somebody measured).
 *
 * Jobs of one kind, the same model with the same batch per GPU, get the same answers, so answers
 * are kept by (kind, candidates); all that a scheduling pass lacks is asked for in one batch. What
 * does not depend on the job, remaining work, is put in when a policy asks.
 *
 *      job -> row (kind, gang, GPU types) -> cells, one a candidate shape, best first
 *
 * An unknown model is never asked about: nothing is predicted of it, and its run time is expected
 * to be that at the reference. With `calibrate` answers are scaled by what jobs that ran have shown
 * (calibration.h), and of an unknown model of which a job ran the time at the reference is.
 */
#ifndef DLS_SOURCES_PREDICTIONS_H
#define DLS_SOURCES_PREDICTIONS_H

#include "base/own.h"
#include "dlsim/policy.h"
#include "world/world.h"

typedef struct dls_prediction_params {
    const dls_cluster_spec *cluster;
    const dls_trace *trace;
    dls_world *world; /* for the oracle and for units of work; borrowed. NULL: jobs run as the
                         trace says, the best candidate at the rate 1 */
    uint64_t seed;
    const char *source;  /* "oracle", "noisy", "table", "profiles", "operator", "paleo", "habitat",
                            "justus", "driple" */
    bool sized;          /* operator, habitat: as in dls_world_params */
    double sigma;        /* noisy: standard deviation of the logarithm of the error */
    const char *weights; /* driple: weights file; NULL: the shipped one. justus, habitat: networks;
                            NULL: none, which habitat does without */
    const char *table;   /* table: measured throughputs; profiles: measured profiles */
    const char *backend; /* driple: "auto", "cpu", "cuda" */
    int32_t threads;     /* driple; 0: all cores */
    int32_t max_candidates;                /* shapes per job, >= 1 */
    const char *cache_path;                /* answers kept on disk; NULL: none */
    const char *record_path, *replay_path; /* --predictions=record:F|replay:F; NULL */
    const char *settings_map; /* text of the explicit table (shape -> setting); NULL: nearest */
    const char *software; /* operator, driple: as in dls_world_params */
    bool calibrate;           /* scale answers by what was seen */
    /* As in dls_world_params. */
    const char *stand_ins, *exchange, *allreduce, *numeric, *host, *fabric, *hardware_dir;
    dls_memo *memo; /* where there is no world */
} dls_prediction_params;

typedef struct dls_predictions dls_predictions;

/* All that p points to must outlive *out. EINPUT (unknown source, a recording that cannot be read),
 * ECONFIG, EPREDICTOR (weights that say nothing of their features, a setting that is not there,
 * ...). O(jobs log jobs). */
dls_status dls_predictions_create(const dls_prediction_params *p, dls_predictions **out,
                                  dls_error *err) DLS_MUST_CHECK;
void dls_predictions_destroy(dls_predictions *f); /* NULL-safe */
DLS_OWNER(dls_predictions, dls_predictions_destroy)
/* *out: others that know the same and ask a source of their own, about another world. What they
 * learn is neither recorded nor kept on disk. Errors: as dls_predictions_create. */
dls_status dls_predictions_copy(const dls_predictions *from, dls_world *world,
                                dls_predictions **out, dls_error *err) DLS_MUST_CHECK;

/* Make every candidate of the jobs known: one batch for what is not yet cached. The engine calls it
 * with the jobs submitted since the last pass. EPREDICTOR; EINPUT: a recording without the answer.
 */
dls_status dls_predictions_prepare(dls_predictions *f, const int32_t *jobs, size_t n,
                                   dls_error *err) DLS_MUST_CHECK;
/* The same for a prepared job on another number of GPUs than its gang; each GPU with as many
 * samples a step as in the gang. O(1) after the first time for jobs of its kind. */
dls_status dls_predictions_prepare_size(dls_predictions *f, int32_t job, int32_t gpus,
                                        dls_error *err) DLS_MUST_CHECK;
/* Write the cache and the recording, if there are to be any: once, after the last question. A cache
 * that cannot be written is not a failure: *unkept (may be NULL) says why. Errors: EOUTPUT,
 * ENOMEM. */
dls_status dls_predictions_finish(dls_predictions *f, dls_error *unkept,
                                  dls_error *err) DLS_MUST_CHECK;

/* The candidate shapes of a job on a prepared number of GPUs (0: its gang), by predicted iteration
 * time, least first; borrowed until the next dls_predictions_prepare. */
const dls_shape *dls_predictions_shapes(dls_predictions *f, int32_t job, int32_t gpus, size_t *n);
/* Prediction for a prepared job on a shape of a prepared number of GPUs; for a shape that is not a
 * candidate, that of the nearest one (candidates.h). work_us: work left at the reference;
 * remaining_s counts as many samples a step as the gang's. Never fails: nothing known is NAN.
 * O(max_candidates). */
void dls_predictions_get(const dls_predictions *f, int32_t job, const dls_shape *shape,
                         int64_t work_us, dls_prediction *out);
/* Predicted run time of the whole job on its best candidate: for schedulers. */
int64_t dls_predictions_estimate_us(dls_predictions *f, int32_t job);
/* A prepared job ran for executed_us on a shape with steps of iteration_s (NAN: not known). */
void dls_predictions_seen(dls_predictions *f, int32_t job, const dls_shape *shape,
                          double iteration_s, int64_t executed_us);

dls_predictions_stats dls_predictions_about(const dls_predictions *f);

/* ---- a source -------------------------------------------------------------------------------- */

typedef struct dls_predictions_ask {
    int32_t kind; /* in the table given to open */
    dls_shape shape;
} dls_predictions_ask;

/* One file under predictor/sources that defines `const dls_prediction_source dls_prediction_source_X
 * = {` is found by the build. */
typedef struct dls_prediction_source {
    const char *name;
    const char *summary;
    bool keeps; /* answers may be kept on disk: they depend on nothing but what identity says */
    /* kinds is borrowed. */
    dls_status (*open)(const dls_prediction_params *p, const dls_kinds *kinds, void **state,
                       dls_error *err);
    void (*close)(void *state);
    /* Fill iteration_s, metric, link_bps and distance of out[n]; the rest follows from them.
     * Questions come ordered by kind; a time that is not positive is replaced and counted. */
    dls_status (*answer)(void *state, const dls_predictions_ask *ask, size_t n, dls_prediction *out,
                         dls_error *err);
    /* Optional, for keeps: what the answers depend on beside kind and shape, and a checksum of what
     * the source knows of a kind (its graph). */
    void (*identity)(const void *state, char *text, size_t size);
    dls_status (*kind_checksum)(void *state, int32_t kind, uint64_t *sum, dls_error *err);
    void (*about)(const void *state, dls_predictions_stats *stats); /* optional: backend, notes */
    /* Optional, for a source that knows models by what was measured of them: does it know one that is in no
     * zoo, asked of a shape? Without it such a model is unknown and not asked about. */
    dls_status (*knows)(void *state, const dls_predictions_ask *ask, bool *known, dls_error *err);
    /* Optional: memory of a kind on each GPU of a shape; NAN: not known. Such a source is a recording, of which
     * none is made. */
    double (*memory)(void *state, int32_t kind, const dls_shape *shape);
} dls_prediction_source;

/* By name, ended by NULL. */
const dls_prediction_source *const *dls_prediction_sources(void);

#endif
