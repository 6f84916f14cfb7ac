/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * GSL's distributions on dlsim's random streams: a gsl_rng_type whose state is a dls_rng. It stands
 * apart from sim/base so that code which does not link GSL can use the streams alone.
 */
#ifndef DLS_TRACES_GSL_PHILOX_H
#define DLS_TRACES_GSL_PHILOX_H

#include "base/rng.h"

#include <gsl/gsl_rng.h>

/* get: dls_rng_u32; get_double: dls_rng_unit (53 bits); set(seed): the stream (seed, TEST, 0). */
extern const gsl_rng_type *const dls_gsl_rng_philox;

/* A GSL generator that needs no heap. Initialise it in place and do not copy it: gsl points into
 * the same struct. */
typedef struct dls_gsl_rng {
    dls_rng stream;
    gsl_rng gsl;
} dls_gsl_rng;

void dls_gsl_rng_init(dls_gsl_rng *rng, uint64_t seed, dls_rng_purpose purpose, uint64_t entity);

#endif
