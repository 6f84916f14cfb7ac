/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * What the engine asks of the world (sim/world) and of a predictor (predictor/sources): two tables of
 * functions, so that the engine knows neither, and tests put worlds and oracles of their own in place.
 *
 * A run without a pace goes as the trace says: rate 1 wherever a job is placed.
 */
#ifndef DLS_ENGINE_PACE_H
#define DLS_ENGINE_PACE_H

#include "predictor/sources/predictions.h"
#include "world/world.h"

/* How fast jobs run. What is not called optional must be there. */
typedef struct dls_pace {
    dls_world *world; /* a test has one of its own */
    /* Seconds of work of a job at the reference, as whole microseconds, >= 0. */
    int64_t (*work_us)(const dls_world *w, int32_t job);
    /* Optional: can the job run on GPUs of the type at all? NULL: yes. */
    bool (*fits)(const dls_world *w, int32_t job, int32_t type);
    /* A job starts on its seats, or stops; seats are borrowed for the call. */
    dls_status (*start)(dls_world *w, int32_t job, int32_t type, const dls_seat *seats, size_t n,
                        dls_error *err);
    void (*stop)(dls_world *w, int32_t job);
    /* Part of its bandwidth that a node's network link has left, 0 < part <= 1. */
    void (*link_scale)(dls_world *w, int32_t node, double part);
    /* Every running job whose rate is not what it was, jobs just started included, ascending. */
    dls_status (*settle)(dls_world *w, const dls_rate_change **changed, size_t *n, dls_error *err);
    /* Optional: the job alone on a shape, and its rate then. */
    dls_status (*solo)(dls_world *w, int32_t job, const dls_shape *shape, dls_solo *out, int64_t *rate,
                       dls_error *err);
    /* Optional: the rate that a running job would have where it is were it alone. */
    int64_t (*alone)(const dls_world *w, int32_t job);
    /* Optional: have the GPUs of those seats memory for this job beside those that run there? */
    bool (*shares)(dls_world *w, int32_t job, int32_t type, const dls_seat *seats, size_t n);
    /* Optional: when in its iterations a job that has just started bursts, as its placement wants
     * (dls_grant_shift). */
    void (*set_shift)(dls_world *w, int32_t job, double shift_s);
    /* Optional: the path between racks that a running job uses, and its priority on links
     * (dls_place_route). */
    dls_status (*set_route)(dls_world *w, int32_t job, int32_t path, int32_t level, dls_error *err);
    /* Optional: time of a training step at the reference. */
    double (*reference_s)(const dls_world *w, int32_t job);
    /* Optional: load of the network now. */
    dls_link_load (*link_load)(const dls_world *w);
    /* Optional: what it takes now to keep jobs in step; NULL: nothing ever. */
    dls_pull_backs (*pull_backs)(const dls_world *w);
    /* Optional: speed of a job on a GPU over that on the fastest; NULL: all are alike. */
    double (*gpu_speed)(const dls_world *w, int32_t job, int32_t node, int32_t gpu);
    /* Of the engine's copy alone, which requests lead to: what a placement says of bursts and links
     * (dls_place_turn, dls_place_route). */
    void (*turn)(void *engine, int32_t job, double shift_s);
    void (*route)(void *engine, int32_t job, int32_t path, int32_t level);
    void *engine;
} dls_pace;

/* Jobs that can use more or fewer GPUs than the trace asks for. */
typedef struct dls_elastic {
    void *user;
    const int32_t *min_gpus, *max_gpus; /* [jobs], around the gang of the trace */
    /* How fast the job does its work on a shape and with a global batch (DLS_ABSENT: its own), over what
     * the world's rate for the shape says, which is that of a training step: throughput in samples and
     * statistical efficiency. 1 for the gang and the batch of the trace; > 0. */
    double (*speed)(void *user, int32_t job, const dls_shape *shape, int64_t batch);
    /* Optional: restoring time on a shape; < 0: as configured for all. */
    int64_t (*restore_us)(void *user, int32_t job, const dls_shape *shape);
} dls_elastic;

/* What may be known in advance. What is not called optional must be there. */
typedef struct dls_prediction_ops {
    dls_predictions *from;
    /* Make every candidate of the jobs known. */
    dls_status (*prepare)(dls_predictions *f, const int32_t *jobs, size_t n, dls_error *err);
    /* The rest is asked about prepared jobs only. */
    const dls_shape *(*shapes)(dls_predictions *f, int32_t job, int32_t gpus, size_t *n);
    void (*get)(const dls_predictions *f, int32_t job, const dls_shape *shape, int64_t work_us, dls_prediction *out);
    int64_t (*estimate_us)(dls_predictions *f, int32_t job);
    /* Optional: make another number of GPUs than the gang known; NULL: nothing is known of others. */
    dls_status (*prepare_size)(dls_predictions *f, int32_t job, int32_t gpus, dls_error *err);
    /* Optional: a job ran so long on a shape, with steps of iteration_s (NAN: not known). */
    void (*seen)(dls_predictions *f, int32_t job, const dls_shape *shape, double iteration_s,
                 int64_t executed_us);
} dls_prediction_ops;

/* What a placement may ask of the predictor during one request (dls_place_predict,
 * dls_place_candidates). */
struct dls_place_predictor {
    /* false: nothing is known of the job. */
    bool (*prediction)(void *user, int32_t job, const dls_shape *shape, dls_prediction *out);
    /* The candidate shapes of a job, best first; borrowed until the next request. */
    const dls_shape *(*candidates)(void *user, int32_t job, int32_t gpus, size_t *n);
    void *user;
};

/* The tables of a world and of a predictions, which are borrowed. */
dls_pace dls_pace_of(dls_world *world);
dls_prediction_ops dls_prediction_ops_of(dls_predictions *predictions);

#endif
