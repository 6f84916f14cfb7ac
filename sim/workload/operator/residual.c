/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * The frozen model error of (model, GPU, link): a log-normal factor drawn from a stream keyed by a
 * hash of the names.
 */
#include "workload/operator/residual.h"

#include "base/rng.h"

#include <ctype.h>
#include <math.h>

/* FNV-1a over the text and its terminator. */
static uint64_t hash_text(uint64_t h, const char *text)
{
    for (;; text++) {
        h = (h ^ (uint64_t)(unsigned char)tolower((unsigned char)*text)) * 0x100000001b3u;
        if (!*text) {
            return h;
        }
    }
}

double dls_residual(uint64_t seed, const char *model, const char *gpu, const char *link,
                    double sigma)
{
    uint64_t h = 0xcbf29ce484222325u;
    h = hash_text(h, model);
    h = hash_text(h, gpu);
    h = hash_text(h, link);
    dls_rng rng = dls_rng_stream(seed, DLS_RNG_PERF, dls_mix64(h));
    return exp(sigma * dls_rng_normal(&rng));
}
