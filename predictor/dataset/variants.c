/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "predictor/dataset/variants.h"

#include "base/alloc.h"
#include "base/rng.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Streams of DLS_RNG_PREDICTOR: models count from 0, the divisions lie far behind them. */
#define STREAM_SPLIT ((uint64_t)1 << 32)

/* ---- drawing -----------------------------------------------------------------------------------
 */

#define BATCHES 6 /* an eighth to four times the usual batch */
#define PER_MODEL (BATCHES * 2 * DLS_OPTIMISER_COUNT)
#define UNUSUAL_LAST 0.5 /* how much later another optimiser comes */

typedef struct ticket {
    dls_variant variant;
    double key;
    int order; /* breaks ties */
} ticket;

static int by_key(const void *a, const void *b)
{
    const ticket *x = a, *y = b;
    return x->key != y->key ? (x->key > y->key) - (x->key < y->key) : x->order - y->order;
}

/* All variants of a model in the order in which they are drawn; how many. */
static size_t all_of(const dls_zoo_model *model, size_t idx, uint64_t seed, ticket *out)
{
    static const dls_numeric numerics[] = {DLS_NUMERIC_FP32, DLS_NUMERIC_FP16};
    dls_rng rng = dls_rng_stream(seed, DLS_RNG_PREDICTOR, idx);
    size_t n = 0;
    for (int b = 0; b < BATCHES; b++) {
        const int32_t batch = model->batch * (1 << b) / 8;
        for (int k = 0; k < 2 && batch >= 1; k++) {
            for (int o = 0; o < DLS_OPTIMISER_COUNT; o++) {
                const bool usual = o == (int)model->optimiser;
                out[n] = (ticket){.variant = {model, batch, numerics[k], (dls_optimiser)o},
                                  .key = dls_rng_unit(&rng) + (usual ? 0 : UNUSUAL_LAST),
                                  .order = (int)n};
                n++;
            }
        }
    }
    qsort(out, n, sizeof *out, by_key);
    return n;
}

/* How many of each model: one more in turn until there are n. */
static bool share_out(const size_t *available, size_t n_models, size_t n, size_t *take)
{
    memset(take, 0, n_models * sizeof *take);
    while (n > 0) {
        const size_t before = n;
        for (size_t m = 0; m < n_models && n > 0; m++) {
            if (take[m] < available[m]) {
                take[m]++;
                n--;
            }
        }
        if (n == before) {
            return false;
        }
    }
    return true;
}

static dls_status draw(size_t n, ticket *ticket_of, size_t *available, size_t *take, uint64_t seed,
                       dls_variant *out, dls_error *err)
{
    const size_t n_models = dls_zoo_size();
    size_t all = 0, at = 0;
    for (size_t m = 0; m < n_models; m++) {
        available[m] = all_of(dls_zoo_at(m), m, seed, ticket_of + m * PER_MODEL);
        all += available[m];
    }
    if (!share_out(available, n_models, n, take)) {
        return dls_fail(err, DLS_EINPUT, NULL, "%zu graphs: the zoo has %zu variants", n, all);
    }
    for (size_t m = 0; m < n_models; m++) {
        for (size_t i = 0; i < take[m]; i++) {
            out[at++] = ticket_of[m * PER_MODEL + i].variant;
        }
    }
    return DLS_OK;
}

dls_status dls_variants_draw(size_t n, uint64_t seed, dls_variant **out, dls_error *err)
{
    const size_t n_models = dls_zoo_size();
    ticket *ticket_of = dls_alloc_zero(n_models * PER_MODEL, sizeof *ticket_of);
    size_t *counts = dls_alloc_zero(2 * n_models, sizeof *counts);
    *out = dls_alloc_zero(n + 1, sizeof **out);
    dls_status status = ticket_of && counts && *out
                            ? draw(n, ticket_of, counts, counts + n_models, seed, *out, err)
                            : dls_nomem(err, "variants", n * sizeof **out);
    dls_free(ticket_of);
    dls_free(counts);
    if (status != DLS_OK) {
        dls_free(*out);
        *out = NULL;
    }
    return status;
}

/* ---- dividing ----------------------------------------------------------------------------------
 */

#define TRIES 2000
static const double shares[DLS_SPLITS] = {0.6, 0.2, 0.2};

dls_domain dls_variant_domain(const dls_zoo_model *model)
{
    if (strcmp(model->name, "ncf") == 0 || strcmp(model->name, "dlrm") == 0) {
        return DLS_DOMAIN_RECOMMENDATION;
    }
    return model->sequence > 0 ? DLS_DOMAIN_SEQUENCE : DLS_DOMAIN_IMAGE;
}

typedef struct family {
    const char *name;
    dls_domain domain;
    size_t n; /* variants */
    uint8_t split, best;
} family;

static size_t families_of(const dls_variant *variant, size_t n, family *out)
{
    size_t n_families = 0;
    for (size_t i = 0; i < n; i++) {
        size_t k = 0;
        while (k < n_families && strcmp(out[k].name, variant[i].model->family) != 0) {
            k++;
        }
        if (k == n_families) {
            out[n_families++] = (family){.name = variant[i].model->family,
                                         .domain = dls_variant_domain(variant[i].model)};
        }
        out[k].n++;
    }
    return n_families;
}

/* How far a division is from the shares, as a sum of parts of all variants; infinite if a split
 * lacks a domain that it must have. */
static double distance(const family *f, size_t n_families, size_t n)
{
    size_t in[DLS_SPLITS] = {0};
    unsigned domains[DLS_SPLITS] = {0};
    double sum = 0;
    for (size_t k = 0; k < n_families; k++) {
        in[f[k].split] += f[k].n;
        domains[f[k].split] |= 1u << f[k].domain;
    }
    const unsigned all =
        1u << DLS_DOMAIN_IMAGE | 1u << DLS_DOMAIN_SEQUENCE | 1u << DLS_DOMAIN_RECOMMENDATION;
    const unsigned most = 1u << DLS_DOMAIN_IMAGE | 1u << DLS_DOMAIN_SEQUENCE;
    if (domains[DLS_SPLIT_TRAIN] != all || domains[DLS_SPLIT_TEST] != all ||
        (domains[DLS_SPLIT_VAL] & most) != most) {
        return INFINITY;
    }
    for (int s = 0; s < DLS_SPLITS; s++) {
        sum += fabs((double)in[s] / (double)n - shares[s]);
    }
    return sum;
}

dls_status dls_variants_split_family(const dls_variant *variant, size_t n, uint64_t seed,
                                     uint8_t *split, dls_error *err)
{
    family *f = dls_alloc_zero(dls_zoo_size() + 1, sizeof *f);
    if (!f) {
        return dls_nomem(err, "families", dls_zoo_size() * sizeof *f);
    }
    const size_t n_families = families_of(variant, n, f);
    dls_rng rng = dls_rng_stream(seed, DLS_RNG_PREDICTOR, STREAM_SPLIT);
    double best = INFINITY;
    for (int t = 0; t < TRIES; t++) {
        for (size_t k = 0; k < n_families; k++) {
            const double u = dls_rng_unit(&rng);
            f[k].split = u < shares[0]               ? DLS_SPLIT_TRAIN
                         : u < shares[0] + shares[1] ? DLS_SPLIT_VAL
                                                     : DLS_SPLIT_TEST;
        }
        const double d = distance(f, n_families, n);
        if (d < best) {
            best = d;
            for (size_t k = 0; k < n_families; k++) {
                f[k].best = f[k].split;
            }
        }
    }
    for (size_t i = 0; i < n && isfinite(best); i++) {
        for (size_t k = 0; k < n_families; k++) {
            if (strcmp(f[k].name, variant[i].model->family) == 0) {
                split[i] = f[k].best;
            }
        }
    }
    dls_free(f);
    return isfinite(best) ? DLS_OK
                          : dls_fail(err, DLS_EINPUT, NULL,
                                     "%zu graphs are too few to divide them by family", n);
}

dls_status dls_variants_split_random(size_t n, uint64_t seed, uint8_t *split, dls_error *err)
{
    size_t *order = dls_alloc_zero(n + 1, sizeof *order);
    if (!order) {
        return dls_nomem(err, "split", n * sizeof *order);
    }
    dls_rng rng = dls_rng_stream(seed, DLS_RNG_PREDICTOR, STREAM_SPLIT);
    for (size_t i = 0; i < n; i++) {
        const size_t k = (size_t)dls_rng_below(&rng, i + 1);
        order[i] = order[k];
        order[k] = i;
    }
    const size_t train = (size_t)(shares[0] * (double)n);
    const size_t val = (size_t)((shares[0] + shares[1]) * (double)n);
    for (size_t i = 0; i < n; i++) {
        split[order[i]] = i < train ? DLS_SPLIT_TRAIN : i < val ? DLS_SPLIT_VAL : DLS_SPLIT_TEST;
    }
    dls_free(order);
    return DLS_OK;
}
