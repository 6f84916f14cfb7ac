/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Ways to place a job: for each GPU type packed on few nodes, spread over many, and into what
 * others left; each with its shape and what the predictor says of the job on it.
 */
#include "env.h"

#include <math.h>

enum { PACKED, SPREAD, FILLED, WAYS };

/* Among nodes with free GPUs that are not in the candidate yet, the one that this way takes next.
 */
static int32_t next_node(const dls_place_index *index, const env_candidate *c, int way,
                         int32_t want)
{
    int32_t best = -1, best_free = 0;
    for (int32_t i = 0; i < dls_place_nodes(index); i++) {
        const int32_t spare = dls_place_free(index, i);
        bool taken = spare == 0 || dls_place_type(index, i) != c->type;
        for (int32_t k = 0; k < c->n_parts && !taken; k++) {
            taken = c->part[k].node == i;
        }
        if (taken) {
            continue;
        }
        bool better = best < 0;
        if (best >= 0 && way == PACKED) { /* the tightest that holds the rest, else the largest */
            const bool holds = spare >= want, held = best_free >= want;
            better = holds != held ? holds : holds ? spare < best_free : spare > best_free;
        } else if (best >= 0) {
            better = way == SPREAD ? spare > best_free : spare < best_free;
        }
        if (better) {
            best = i;
            best_free = spare;
        }
    }
    return best;
}

static bool compose(const dls_place_index *index, env_candidate *c, int32_t type, int way,
                    int32_t gpus)
{
    *c = (env_candidate){.type = type};
    for (int32_t left = gpus; left > 0;) {
        const int32_t node = c->n_parts < PARTS_MAX ? next_node(index, c, way, left) : -1;
        if (node < 0) {
            return false;
        }
        const int32_t spare = dls_place_free(index, node),
                      share = way == SPREAD ? (gpus + 1) / 2 : left;
        int32_t here = spare < left ? spare : left;
        here = here < share ? here : share;
        c->part[c->n_parts++] = (dls_place_part){node, here};
        left -= here;
    }
    return true;
}

static bool same(const env_candidate *a, const env_candidate *b)
{
    return a->type == b->type && a->n_parts == b->n_parts &&
           memcmp(a->part, b->part, (size_t)a->n_parts * sizeof *a->part) == 0;
}

static float small(double x)
{
    return isfinite(x) ? (float)x : 0;
}

static void describe(const dls_view *v, const dls_place_index *index, int32_t job,
                     const env_candidate *c, float row[CANDIDATE_NUMBERS])
{
    const dls_shape shape = dls_place_shape(index, c->part, (size_t)c->n_parts);
    dls_prediction p;
    memset(row, 0, CANDIDATE_NUMBERS * sizeof *row);
    row[0] = 1;
    row[1] = (float)c->type;
    row[2] = (float)shape.gpus / (float)v->total_gpus;
    row[3] = (float)shape.n_nodes;
    row[4] = (float)shape.n_racks;
    if (dls_view_predict(v, job, &shape, &p)) {
        row[5] = small(log1p(p.remaining_s) / 15);
        for (int i = 0; i < 12; i++) {
            row[6 + i] = small(p.metric[i]);
        }
    } else {
        row[5] = small(log1p((double)v->duration_us[job] / 1e6) / 15);
    }
}

bool env_place(env_episode *e, const dls_view *v, int32_t job, const env_output *out)
{
    const dls_place_index *index = dls_simulation_index(e->sim);
    const int32_t gpus = v->gpus[job];
    e->n_candidates = 0;
    for (uint32_t left = e->window->types[job]; left && e->n_candidates < CANDIDATES;
         left &= left - 1) {
        const int32_t type = __builtin_ctz(left);
        for (int way = 0; way < WAYS && e->n_candidates < CANDIDATES; way++) {
            env_candidate *c = &e->candidate[e->n_candidates];
            bool known =
                dls_view_quota_gpus(v, job, type) < gpus || !compose(index, c, type, way, gpus);
            for (int32_t k = 0; k < e->n_candidates && !known; k++) {
                known = same(c, &e->candidate[k]);
            }
            e->n_candidates += !known;
        }
    }
    for (int32_t k = 0; k < CANDIDATES; k++) {
        float *row = out->jobs + k * CANDIDATE_NUMBERS;
        out->mask[k] = k < e->n_candidates;
        if (k < e->n_candidates) {
            describe(v, index, job, &e->candidate[k], row);
        } else {
            memset(row, 0, CANDIDATE_NUMBERS * sizeof *row);
        }
    }
    return e->n_candidates > 0;
}
