/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Draws the (model, batch, precision, optimiser) variants of a corpus and divides their model
 * families into train, validation and test (rules: corpus.h).
 */
#include "predictor/dataset/variants.h"

#include "base/alloc.h"
#include "base/own.h"
#include "base/rng.h"
#include "workload/operator/from_graph.h"
#include "workload/operator/model.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Streams of DLS_RNG_PREDICTOR: models count from 0, the divisions lie far behind them. */
#define STREAM_SPLIT ((uint64_t)1 << 32)

/* ---- drawing --------------------------------------------------------------------------------- */

#define BATCHES 6 /* an eighth to four times the usual batch */
#define PER_MODEL (BATCHES * N_NUMERICS * DLS_OPTIMISER_COUNT)
#define UNUSUAL_LAST 0.5 /* how much later another optimiser comes */
#define LARGE_LAST 2.0   /* and one that needs much memory */

typedef struct ticket {
    dls_variant variant;
    double key;
    int order; /* breaks ties */
} ticket;

DLS_BY(by_key, ticket, DLS_UP(key), DLS_UP(order));

static const dls_numeric numerics[] = {DLS_NUMERIC_FP32, DLS_NUMERIC_FP16};
#define N_NUMERICS 2

static dls_status workload_of(const dls_zoo_model *model, dls_numeric numeric, dls_workload *w,
                              dls_error *err)
{
    DLS_HOLD(dls_opgraph_destroy) dls_opgraph *g = NULL;
    dls_zoo_options options = dls_zoo_defaults(model);
    options.numeric = numeric;
    DLS_TRY(dls_zoo_build(model, &options, &g, err));
    return dls_workload_from_graph(g, w, err);
}

/* All variants of a model in one precision. */
static void variants_of(const dls_zoo_model *model, dls_numeric numeric, dls_workload *w,
                        dls_rng *rng, ticket *out, size_t *n)
{
    for (int b = 0; b < BATCHES; b++) {
        const int32_t batch = model->batch * (1 << b) / 8;
        for (int o = 0; batch >= 1 && o < DLS_OPTIMISER_COUNT; o++) {
            w->optimiser = (dls_optimiser)o;
            dls_variant v = {.model = model,
                             .batch = batch,
                             .numeric = numeric,
                             .optimiser = w->optimiser,
                             .memory_bytes = dls_step_memory_bytes(w, numeric, batch),
                             .params = w->params};
            const double late = (w->optimiser == model->optimiser ? 0 : UNUSUAL_LAST) +
                                (v.memory_bytes <= DLS_VARIANT_MEMORY_BYTES ? 0 : LARGE_LAST);
            out[*n] = (ticket){v, dls_rng_unit(rng) + late, (int)*n};
            ++*n;
        }
    }
}

/* In the order in which they are drawn; how many. */
static dls_status all_of(size_t model_idx, uint64_t seed, ticket *out, size_t *n, dls_error *err)
{
    const dls_zoo_model *model = dls_zoo_at(model_idx);
    dls_rng rng = dls_rng_stream(seed, DLS_RNG_PREDICTOR, model_idx);
    *n = 0;
    for (int k = 0; k < N_NUMERICS; k++) {
        dls_workload w;
        DLS_TRY(workload_of(model, numerics[k], &w, err));
        variants_of(model, numerics[k], &w, &rng, out, n);
        dls_workload_fini(&w);
    }
    qsort(out, *n, sizeof *out, by_key);
    return DLS_OK;
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
    const size_t n_models = dls_zoo_drawn();
    size_t all = 0, at = 0;
    for (size_t m = 0; m < n_models; m++) {
        DLS_TRY(all_of(m, seed, ticket_of + m * PER_MODEL, &available[m], err));
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
    const size_t n_models = dls_zoo_drawn();
    DLS_FREED ticket *ticket_of = NULL;
    DLS_FREED size_t *counts = NULL;
    DLS_FREED dls_variant *drawn = NULL;
    *out = NULL;
    DLS_TRY(DLS_ALLOC_ALL("variants", err, DLS_ARRAY(ticket_of, n_models * PER_MODEL),
                          DLS_ARRAY(counts, 2 * n_models), DLS_ARRAY(drawn, n + 1)));
    DLS_TRY(draw(n, ticket_of, counts, counts + n_models, seed, drawn, err));
    *out = dls_take(&drawn);
    return DLS_OK;
}

/* ---- dividing -------------------------------------------------------------------------------- */

#define TRIES 50000
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
    size_t n;           /* variants that fit */
    double least, most; /* parameters of these */
    bool anchored;      /* must be in train */
    uint8_t split, best;
} family;

static size_t families_of(const dls_variant *variant, size_t n, family *out)
{
    size_t n_families = 0;
    for (size_t i = 0; i < n; i++) {
        const dls_variant *v = &variant[i];
        size_t k = 0;
        while (k < n_families && strcmp(out[k].name, v->model->family) != 0) {
            k++;
        }
        if (k == n_families) {
            out[n_families++] = (family){.name = v->model->family,
                                         .domain = dls_variant_domain(v->model),
                                         .least = (double)INFINITY};
        }
        if (v->memory_bytes <= DLS_VARIANT_MEMORY_BYTES) {
            out[k].n++;
            out[k].least = fmin(out[k].least, v->params);
            out[k].most = fmax(out[k].most, v->params);
        }
    }
    return n_families;
}

/* The families of the smallest and the largest model of a domain. */
static void anchor(family *f, size_t n_families, dls_domain domain)
{
    size_t least = n_families, most = n_families;
    for (size_t k = 0; k < n_families; k++) {
        if (f[k].domain == domain && f[k].n > 0) {
            least = least == n_families || f[k].least < f[least].least ? k : least;
            most = most == n_families || f[k].most > f[most].most ? k : most;
        }
    }
    if (least < n_families) {
        f[least].anchored = f[most].anchored = true;
    }
}

/* How far the shares of some domains (a set of bits) are from those wanted. */
static double share_distance(const family *f, size_t n_families, unsigned domains)
{
    size_t in[DLS_SPLITS] = {0}, n = 0;
    double sum = 0;
    for (size_t k = 0; k < n_families; k++) {
        const size_t counted = domains & 1u << f[k].domain ? f[k].n : 0;
        in[f[k].split] += counted;
        n += counted;
    }
    for (int s = 0; s < DLS_SPLITS && n > 0; s++) {
        sum += fabs((double)in[s] / (double)n - shares[s]);
    }
    return sum;
}

/* Infinite if a split lacks a domain that it must have. */
static double distance(const family *f, size_t n_families)
{
    const unsigned image = 1u << DLS_DOMAIN_IMAGE, sequence = 1u << DLS_DOMAIN_SEQUENCE;
    const unsigned all = image | sequence | 1u << DLS_DOMAIN_RECOMMENDATION;
    unsigned domains[DLS_SPLITS] = {0};
    for (size_t k = 0; k < n_families; k++) {
        domains[f[k].split] |= f[k].n > 0 ? 1u << f[k].domain : 0;
    }
    if (domains[DLS_SPLIT_TRAIN] != all || domains[DLS_SPLIT_TEST] != all ||
        (domains[DLS_SPLIT_VAL] & (image | sequence)) != (image | sequence)) {
        return (double)INFINITY;
    }
    return share_distance(f, n_families, all) + share_distance(f, n_families, image) +
           share_distance(f, n_families, sequence);
}

static uint8_t throw_split(dls_rng *rng)
{
    const double u = dls_rng_unit(rng);
    return u < shares[0]               ? DLS_SPLIT_TRAIN
           : u < shares[0] + shares[1] ? DLS_SPLIT_VAL
                                       : DLS_SPLIT_TEST;
}

dls_status dls_variants_split_family(const dls_variant *variant, size_t n, uint64_t seed,
                                     uint8_t *split, dls_error *err)
{
    family *f;
    DLS_TRY(dls_alloc_array(&f, dls_zoo_drawn() + 1, sizeof *f, "families", err));
    const size_t n_families = families_of(variant, n, f);
    dls_rng rng = dls_rng_stream(seed, DLS_RNG_PREDICTOR, STREAM_SPLIT);
    double best = (double)INFINITY;
    anchor(f, n_families, DLS_DOMAIN_IMAGE);
    anchor(f, n_families, DLS_DOMAIN_SEQUENCE);
    for (int t = 0; t < TRIES; t++) {
        for (size_t k = 0; k < n_families; k++) {
            f[k].split = throw_split(&rng);
            if (f[k].anchored) {
                f[k].split = DLS_SPLIT_TRAIN;
            }
        }
        const double d = distance(f, n_families);
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
    DLS_FREED size_t *order = NULL;
    DLS_TRY(dls_alloc_array(&order, n + 1, sizeof *order, "split", err));
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
    return DLS_OK;
}
