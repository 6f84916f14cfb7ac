/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * A gsl_rng_type over dlsim's Philox streams, so that GSL's distributions draw from them.
 */
#include "traces/gsl_philox.h"

static void philox_set(void *state, unsigned long seed)
{
    *(dls_rng *)state = dls_rng_stream(seed, DLS_RNG_TEST, 0);
}

static unsigned long philox_get(void *state)
{
    return dls_rng_u32(state);
}

static double philox_get_double(void *state)
{
    return dls_rng_unit(state);
}

static const gsl_rng_type philox_type = {
    .name = "philox4x32-10",
    .max = UINT32_MAX,
    .min = 0,
    .size = sizeof(dls_rng),
    .set = philox_set,
    .get = philox_get,
    .get_double = philox_get_double,
};

const gsl_rng_type *const dls_gsl_rng_philox = &philox_type;

void dls_gsl_rng_init(dls_gsl_rng *rng, uint64_t seed, dls_rng_purpose purpose, uint64_t entity)
{
    rng->stream = dls_rng_stream(seed, purpose, entity);
    rng->gsl.type = &philox_type;
    rng->gsl.state = &rng->stream;
}
