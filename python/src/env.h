/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Inside environments: episodes over windows of a trace, stepped in C (python/dlsim/envs.py is the
 * other half).
 */
#ifndef DLSIM_PYTHON_ENV_H
#define DLSIM_PYTHON_ENV_H

#include "ext.h"

enum { JOB_NUMBERS = 4, CANDIDATES = 12, CANDIDATE_NUMBERS = 18, PARTS_MAX = 256 };

/* Consecutive jobs as a trace of their own, from time 0, and a simulation of them that nobody
 * advances. */
typedef struct env_window {
    dls_trace *trace;
    dls_simulation *fresh;
    float *gpus, *run; /* [jobs] numbers that do not change */
    uint32_t *types;   /* [jobs] bits: GPU types that a job may use */
    size_t n;
} env_window;

/* One way to place a job. */
typedef struct env_candidate {
    int32_t type, n_parts;
    dls_place_part part[PARTS_MAX];
} env_candidate;

typedef struct env_episode {
    dls_simulation *sim;
    dls_actions *act;
    const env_window *window;
    int32_t *shown; /* [visible] waiting jobs, what the actions mean */
    int32_t n_shown, was_shown;
    int32_t *tried; /* [jobs of a window] 1 + the instant at which the job was refused or skipped */
    int32_t instant;
    env_candidate *candidate; /* [CANDIDATES] in Place */
    int32_t n_candidates;
    double cost_s; /* job seconds since the last action */
    uint64_t random;
} env_episode;

/* Where an episode's observation goes. */
typedef struct env_output {
    float *jobs, *nodes,
        *types; /* Schedule: [visible][JOB_NUMBERS]; Place: [CANDIDATES][CANDIDATE_NUMBERS] */
    int8_t *mask;
} env_output;

/* Jobs first..first+n-1 of a trace. */
dls_status env_window_make(size_t n, dls_setup *setup, const dls_trace *all, size_t first,
                           env_window *w, dls_error *err);
/* The candidates for a job, with what the predictor says of them; false: there is none. */
bool env_place(env_episode *e, const dls_view *view, int32_t job, const env_output *out);

#endif
