/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * What policies may know in advance: for a job and a shape of placement, a forecast. One file per
 * source: oracle (asks the truth), noisy (oracle times a seeded error), operator, paleo, habitat,
 * driple (the graph neural network).
 *
 * Jobs of one kind, the same model with the same batch per GPU, get the same answers, so answers are
 * kept by (kind, shape); all that a scheduling pass lacks is asked for in one batch. What does not
 * depend on the job, remaining work, is put in when a policy asks.
 */
#ifndef DLS_FORESIGHT_FORESIGHT_H
#define DLS_FORESIGHT_FORESIGHT_H

#include "dlsim/policy.h"
#include "perf/world.h"

typedef struct dls_foresight_params {
    const dls_cluster_spec *cluster;
    const dls_trace *trace;
    dls_world *world;          /* for the oracle and for units of work; borrowed */
    uint64_t seed;
    const char *source;        /* "oracle", "noisy", "operator", "paleo", "habitat", "driple" */
    double sigma;              /* noisy: standard deviation of the logarithm of the error */
    const char *weights;       /* driple: weights file; NULL: the shipped one */
    const char *backend;       /* driple: "auto", "cpu", "cuda" */
    int32_t threads;           /* driple; 0: all cores */
    int32_t max_candidates;    /* shapes per job, >= 1 */
    const char *cache_path;    /* answers kept on disk; NULL: none */
    const char *record_path, *replay_path; /* --predictions=record:F|replay:F; NULL */
    const char *settings_map;  /* text of the explicit table (shape -> setting); NULL: nearest */
    const char *exchange, *numeric, *host, *fabric, *hardware_dir; /* as in dls_world_params */
} dls_foresight_params;

void dls_foresight_params_init(dls_foresight_params *p);

typedef struct dls_foresight dls_foresight;

/* EINPUT, ECONFIG, EPREDICTOR (weights for other features, a setting without an inspector, ...). */
dls_status dls_foresight_create(const dls_foresight_params *p, dls_foresight **out,
                                dls_error *err) DLS_MUST_CHECK;
void dls_foresight_destroy(dls_foresight *f); /* NULL-safe */

/* Make every candidate of the jobs known: one batch for what is not yet cached. The engine calls it
 * with the jobs submitted since the last pass. */
dls_status dls_foresight_prepare(dls_foresight *f, const int32_t *jobs, size_t n,
                                 dls_error *err) DLS_MUST_CHECK;

/* The candidate shapes of a prepared job; borrowed. */
const dls_shape *dls_foresight_shapes(const dls_foresight *f, int32_t job, size_t *n);
/* Forecast for a prepared job on a shape; a shape that is no candidate gets the forecast of the
 * nearest one. work_us: work left at the reference. Never fails. O(1). */
void dls_foresight_get(const dls_foresight *f, int32_t job, const dls_shape *shape,
                       int64_t work_us, dls_forecast *out);
/* Predicted run time of the whole job on its best candidate: for schedulers. */
int64_t dls_foresight_estimate_us(const dls_foresight *f, int32_t job);

typedef struct dls_foresight_stats {
    uint64_t batches, questions, answers, cache_hits, disk_hits, fallbacks, nearest;
    uint64_t distinct_kinds, unknown_kinds;
    double seconds; /* wall time in the source: not part of the digest */
    char backend[128];
    char notes[512];
} dls_foresight_stats;
dls_foresight_stats dls_foresight_about(const dls_foresight *f);

/* ---- a source ----------------------------------------------------------------------------------- */

/* A question: kind (dls_foresight_kind) and shape. */
typedef struct dls_foresight_kind {
    const char *model;     /* as in the trace; "" unknown */
    int64_t batch_per_gpu; /* DLS_ABSENT unknown */
    int32_t first_job;     /* of the kind, in the trace */
} dls_foresight_kind;

typedef struct dls_foresight_ask {
    int32_t kind;
    dls_shape shape;
} dls_foresight_ask;

/* One file under sim/foresight that defines `const dls_foresight_ops dls_foresight_ops_X = {` is found
 * by the build. answer fills iteration_s, metric and distance of out[n]; the rest follows from them. */
typedef struct dls_foresight_ops {
    const char *name;
    const char *summary;
    dls_status (*open)(const dls_foresight_params *p, const dls_foresight_kind *kinds, int32_t n_kinds,
                       void **state, dls_error *err);
    void (*close)(void *state);
    dls_status (*answer)(void *state, const dls_foresight_ask *ask, size_t n, dls_forecast *out,
                         dls_error *err);
    /* Identity of the answers for the cache on disk: weights checksum, options. */
    void (*identity)(const void *state, char *text, size_t size);
    void (*about)(const void *state, dls_foresight_stats *stats); /* optional */
} dls_foresight_ops;

const dls_foresight_ops *const *dls_foresights(void);

#endif
