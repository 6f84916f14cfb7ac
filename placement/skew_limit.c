/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Learns the skew above which spreading a model over nodes slows it down: a threshold classifier
 * over cells of equal skew, GPU type and gang (Tiresias, NSDI 2019, section 4.3).
 */
#include "placement/skew_limit.h"

#include "dlsim/memory.h"

#include <math.h>
#include <string.h>

enum { CONSOLIDATED, SPREAD };

void dls_skew_limit_fini(dls_skew_limit *l)
{
    dls_free(l->cell);
    l->cell = NULL;
    l->n = l->cap = 0;
}

static bool skew_before(const dls_skew_cell *a, const dls_skew_cell *b)
{
    if (a->skew < b->skew || a->skew > b->skew) {
        return a->skew < b->skew;
    }
    return a->type != b->type ? a->type < b->type : a->gpus < b->gpus;
}

/* The cell of a key, made if there is none; NULL: out of memory. */
static dls_skew_cell *cell_of(dls_skew_limit *l, const dls_skew_cell *key)
{
    size_t low;
    DLS_BISECT(low, l->n, skew_before(&l->cell[low], key));
    if (low < l->n && !skew_before(key, &l->cell[low])) {
        return &l->cell[low];
    }
    if (dls_grow(&l->cell, &l->cap, l->n + 1, sizeof *l->cell, NULL) != DLS_OK) {
        return NULL;
    }
    memmove(l->cell + low + 1, l->cell + low, (l->n - low) * sizeof *l->cell);
    l->cell[low] = *key;
    l->n++;
    return &l->cell[low];
}

static bool tells(const dls_skew_cell *c)
{
    return c->runs[CONSOLIDATED] > 0 && c->runs[SPREAD] > 0;
}

static bool suffers(const dls_skew_cell *c, double loss)
{
    return c->rates[SPREAD] / (double)c->runs[SPREAD] <
           (1 - loss) * c->rates[CONSOLIDATED] / (double)c->runs[CONSOLIDATED];
}

/* Thresholds lie halfway between neighbouring skews, below the least halfway to 0 and above the
 * greatest halfway to 1. Walking up, a cell changes from "predicted to suffer" to "not". Of equally
 * good thresholds the one nearest to the present limit is taken; one skew alone decides nothing. */
static void fit(dls_skew_limit *l)
{
    int64_t wrong = 0, fewest = INT64_MAX;
    double low = 0, best = l->limit;
    int32_t skews = 0;
    for (size_t i = 0; i < l->n; i++) {
        if (tells(&l->cell[i]) && !suffers(&l->cell[i], l->loss)) {
            wrong += l->cell[i].runs[SPREAD];
        }
    }
    for (size_t i = 0;;) {
        while (i < l->n && !tells(&l->cell[i])) {
            i++;
        }
        const double high = i < l->n ? l->cell[i].skew : 1, middle = low + (high - low) / 2;
        if (wrong < fewest ||
            (wrong == fewest && fabs(middle - l->limit) < fabs(best - l->limit))) {
            fewest = wrong;
            best = middle;
        }
        if (i == l->n) {
            break;
        }
        skews++;
        /* All cells of this skew leave the upper side together. */
        for (low = high; i < l->n && l->cell[i].skew <= low; i++) {
            if (tells(&l->cell[i])) {
                const int64_t runs = l->cell[i].runs[SPREAD];
                wrong += suffers(&l->cell[i], l->loss) ? runs : -runs;
            }
        }
    }
    if (skews >= 2) {
        l->limit = best;
    }
}

void dls_skew_limit_observe(dls_skew_limit *l, double skew, int32_t type, int32_t gpus, bool spread,
                            double rate)
{
    const dls_skew_cell key = {.skew = skew, .type = type, .gpus = gpus};
    dls_skew_cell *c = cell_of(l, &key);
    if (!c) {
        return;
    }
    const int kind = spread ? SPREAD : CONSOLIDATED;
    c->runs[kind]++;
    c->rates[kind] += rate;
    if (tells(c)) {
        fit(l);
    }
}
