/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * The frozen model error of (model, GPU, link): a log-normal factor drawn from a stream keyed by a
 * hash of the names; what several share is keyed by what they have in common.
 */
#include "workload/operator/residual.h"

#include "base/fnv.h"
#include "base/rng.h"

#include <ctype.h>
#include <math.h>

/* Over the text in small letters and its terminator. */
static uint64_t hash_text(uint64_t h, const char *text)
{
    for (;; text++) {
        h = dls_fnv_byte(h, (unsigned char)tolower((unsigned char)*text));
        if (!*text) {
            return h;
        }
    }
}

static double normal(uint64_t seed, const char *a, const char *b, const char *c)
{
    uint64_t h = hash_text(DLS_FNV_START, a);
    h = hash_text(h, b);
    h = hash_text(h, c);
    dls_rng rng = dls_rng_stream(seed, DLS_RNG_PERF, dls_mix64(h));
    return dls_rng_normal(&rng);
}

double dls_residual(uint64_t seed, const char *model, const char *gpu, const char *link,
                    double sigma)
{
    return exp(sigma * normal(seed, model, gpu, link));
}

double dls_residual_shared(uint64_t seed, const dls_residual_key *key, double sigma, double shared)
{
    const double own = normal(seed, key->model, key->gpu, key->link);
    if (!(shared > 0)) {
        return exp(sigma * own);
    }
    const double common = normal(seed, key->family, key->gpu, "models alike") +
                          normal(seed, "", key->gpu, "all models") +
                          normal(seed, key->framework, key->gpu, "framework");
    return exp(sigma * (sqrt(1 - shared) * own + sqrt(shared / 3) * common));
}
