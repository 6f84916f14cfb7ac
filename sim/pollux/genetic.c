/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * NSGA-II over allocations (genetic.h).
 */
#include "pollux/genetic.h"

#include "base/alloc.h"
#include "base/rng.h"

#include <math.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

enum {
    POPULATION = 100,
    GENERATIONS = 100,
    TRIES = 100, /* to make as many new individuals as wanted */
    ROOM = 2 * POPULATION + 2
};

typedef struct individual {
    double fitness, utility; /* both to be great */
    double crowding;
    int32_t rank;
    uint8_t *gene; /* [jobs][nodes] */
} individual;

struct dls_genetic {
    const dls_genetic_problem *p;
    int32_t nodes;
    size_t row, size; /* bytes of a row, of all rows */
    individual one[ROOM];
    uint32_t hash[ROOM]; /* of their genes, while there are children */
    int32_t n;       /* individuals */
    uint8_t *genes;  /* [ROOM] of `size` */
    double *speedup; /* [jobs][SPAN][REPLICAS], -1: not asked yet */
    int32_t *id;     /* [jobs] whose rows the population has */
    int32_t jobs;
    size_t cap_genes, cap_speedup, cap_id, cap_old;
    uint8_t *old;                       /* the population of the last round, meanwhile */
    int32_t *order, *column, *positive; /* [nodes] scratch */
    uint8_t *used;                      /* [nodes] scratch */
};

dls_status dls_genetic_create(int32_t nodes, dls_genetic **out, dls_error *err)
{
    dls_genetic *g = *out = dls_alloc_zero(1, sizeof *g);
    if (!g) {
        return dls_nomem(err, "search", sizeof *g);
    }
    const size_t n = (size_t)nodes;
    g->nodes = nodes;
    return DLS_ALLOC_ALL("search", err, DLS_ARRAY(g->order, n), DLS_ARRAY(g->column, n),
                         DLS_ARRAY(g->positive, n), DLS_ARRAY(g->used, n));
}

void dls_genetic_destroy(dls_genetic *g)
{
    if (g) {
        DLS_FREE_ALL(g->genes, g->old, g->speedup, g->id, g->order, g->column, g->positive, g->used, g);
    }
}

/* The search draws a hundred times for each matrix: a counter through the mixing function of
 * SplitMix64 (Steele, Lea and Flood, OOPSLA 2014), 16 bits for each chance. */
typedef struct dice {
    uint64_t state, bits;
    int left;
} dice;

static inline uint64_t draw_bits(dice *d)
{
    const uint64_t bits = dls_mix64(d->state);
    d->state += UINT64_C(0x9e3779b97f4a7c15);
    return bits;
}

/* p as a threshold for 16 bits. */
static inline uint32_t likely(double p)
{
    return (uint32_t)(p * 65536);
}

static inline bool chance(dice *d, uint32_t threshold)
{
    if (d->left-- == 0) {
        d->bits = draw_bits(d);
        d->left = 3;
    }
    const bool hit = (d->bits & 0xffff) < threshold;
    d->bits >>= 16;
    return hit;
}

/* Below n, n < 2^16: the bias is at most n / 2^32. */
static inline int32_t below(dice *d, int32_t n)
{
    return (int32_t)((draw_bits(d) >> 32) * (uint64_t)n >> 32);
}

/* ---- what an allocation is worth ------------------------------------------------------------- */

static double speedup_of(dls_genetic *g, int32_t job, int32_t nodes, int32_t gpus)
{
    double *s =
        &g->speedup[((size_t)job * DLS_GENETIC_SPAN + (size_t)nodes - 1) * DLS_GENETIC_REPLICAS +
                    (size_t)gpus - 1];
    if (*s < 0) {
        *s = g->p->speedup(g->p->user, job, nodes, gpus);
    }
    return *s;
}

static void count_row(const uint8_t *row, size_t n, int32_t *nodes, int32_t *gpus)
{
    int32_t on = 0, sum = 0;
    for (size_t i = 0; i < n; i++) {
        on += row[i] > 0;
        sum += row[i];
    }
    *nodes = on;
    *gpus = sum;
}

static void measure(dls_genetic *g, individual *of)
{
    const dls_genetic_problem *p = g->p;
    const uint8_t *gene = of->gene;
    const double share = 1. / p->gpus_per_node; /* nodes over GPUs of the cluster */
    double inverse = 0, sum = 0;
    uint8_t *restrict used = g->used;
    int32_t on = 0, all;
    memset(used, 0, g->row);
    for (int32_t j = 0; j < p->jobs; j++) {
        const uint8_t *row = gene + (size_t)j * g->row;
        int32_t nodes, gpus;
        count_row(row, g->row, &nodes, &gpus);
        const double s = gpus > 0 ? speedup_of(g, j, nodes, gpus) : 0;
        const bool same = memcmp(row, p->present + (size_t)j * g->row, g->row) == 0;
        inverse += 1 / (s * share * (same ? 1 : p->factor[j]) + 1e-3);
        sum += s;
        for (size_t i = 0, n = g->row; i < n; i++) {
            used[i] |= row[i];
        }
    }
    count_row(used, g->row, &on, &all);
    of->fitness = p->jobs / inverse;
    of->utility = on > 0 ? sum / (on * p->gpus_per_node) : 0;
}

static uint32_t hash_of(const uint8_t *gene, size_t size)
{
    uint64_t hash = size;
    for (size_t i = 0; i < size; i += sizeof hash) {
        uint64_t word = 0;
        memcpy(&word, gene + i, size - i < sizeof word ? size - i : sizeof word);
        hash = (hash ^ word) * UINT64_C(0x9e3779b97f4a7c15);
        hash ^= hash >> 32;
    }
    return (uint32_t)hash;
}

/* Among the first n. */
static bool is_there(const dls_genetic *g, int32_t n, const uint8_t *gene, uint32_t hash)
{
    int32_t equal = 0;
    for (int32_t i = 0; i < n; i++) {
        equal += g->hash[i] == hash;
    }
    for (int32_t i = 0; i < n && equal > 0; i++) {
        if (g->hash[i] == hash && memcmp(g->one[i].gene, gene, g->size) == 0) {
            return true;
        }
    }
    return false;
}

/* ---- who survives ---------------------------------------------------------------------------- */

DLS_BY(by_value, individual, DLS_DOWN(fitness), DLS_DOWN(utility));

/* In order of rank, within it of value. */
DLS_BY(by_rank, individual, DLS_UP(rank), by_value(x, y));

DLS_BY(by_survival, individual, DLS_UP(rank), DLS_DOWN(crowding), by_value(x, y));

/* Of those of one rank, in order of value: the sum of the relative distances of neighbours. */
static void crowd(individual *of, int32_t n)
{
    const double fitness = of[0].fitness - of[n - 1].fitness;
    const double utility = of[n - 1].utility - of[0].utility;
    for (int32_t i = 0; i < n; i++) {
        of[i].crowding = (double)INFINITY;
        if (i > 0 && i + 1 < n) {
            of[i].crowding = (fitness > 0 ? (of[i - 1].fitness - of[i + 1].fitness) / fitness : 0) +
                             (utility > 0 ? (of[i + 1].utility - of[i - 1].utility) / utility : 0);
        }
    }
}

/* Ranks: 0 is dominated by none. In order of falling fitness an individual is dominated by a rank
 * if the last of it has at least its utility, unless both are equal. */
static void survive(dls_genetic *g)
{
    double last_u[ROOM], last_f[ROOM];
    int32_t ranks = 0;
    qsort(g->one, (size_t)g->n, sizeof *g->one, by_value);
    for (int32_t i = 0; i < g->n; i++) {
        individual *x = &g->one[i];
        int32_t k = 0;
        while (k < ranks && last_u[k] >= x->utility &&
               !(last_u[k] == x->utility && last_f[k] == x->fitness)) {
            k++;
        }
        ranks = k == ranks ? ranks + 1 : ranks;
        last_u[k] = x->utility;
        last_f[k] = x->fitness;
        x->rank = k;
    }
    qsort(g->one, (size_t)g->n, sizeof *g->one, by_rank);
    for (int32_t i = 0, end; i < g->n; i = end) {
        for (end = i; end < g->n && g->one[end].rank == g->one[i].rank; end++) {
        }
        crowd(&g->one[i], end - i);
    }
    qsort(g->one, (size_t)g->n, sizeof *g->one, by_survival);
    g->n = g->n < POPULATION ? g->n : POPULATION;
}

/* ---- new individuals ------------------------------------------------------------------------- */

/* Those that stand together in random orders of the population meet: the better one is a parent. */
static void choose_parents(const dls_genetic *g, dice *rng, int32_t *parent, int32_t n)
{
    int32_t who[POPULATION], at = 0, left = 0;
    for (int32_t k = 0; k < n; k++) {
        int32_t pair[2];
        for (int i = 0; i < 2; i++) {
            if (left == 0) {
                for (int32_t j = 0; j < g->n; j++) {
                    const int32_t other = below(rng, j + 1);
                    who[j] = who[other];
                    who[other] = j;
                }
                left = g->n;
                at = 0;
            }
            pair[i] = who[at++];
            left--;
        }
        const individual *x = &g->one[pair[0]], *y = &g->one[pair[1]];
        const bool x_dominates = x->fitness >= y->fitness && x->utility >= y->utility;
        const bool y_dominates = y->fitness >= x->fitness && y->utility >= x->utility;
        if (x_dominates != y_dominates) {
            parent[k] = pair[x_dominates ? 0 : 1];
        } else if (x->crowding != y->crowding) {
            parent[k] = pair[x->crowding > y->crowding ? 0 : 1];
        } else {
            parent[k] = pair[draw_bits(rng) & 1];
        }
    }
}

static void count_columns(dls_genetic *g, const uint8_t *gene)
{
    const size_t row = g->row;
    int32_t *restrict column = g->column, *restrict positive = g->positive;
    memset(column, 0, row * sizeof *column);
    memset(positive, 0, row * sizeof *positive);
    for (int32_t j = 0; j < g->p->jobs; j++) {
        const uint8_t *of = gene + (size_t)j * row;
        for (size_t i = 0; i < row; i++) {
            column[i] += of[i];
            positive[i] += of[i] > 0;
        }
    }
}

/* Rows go back to what is, rows are thinned, and where a GPU is free elements grow. */
static void mutate(dls_genetic *g, uint8_t *gene, dice *rng)
{
    const dls_genetic_problem *p = g->p;
    const size_t row = g->row;
    const int32_t jobs = p->jobs, most = p->gpus_per_node;
    dice d = *rng; /* a byte that is written may be any memory but this */
    for (int32_t j = 0; j < jobs; j++) {
        uint8_t *of = gene + (size_t)j * row;
        if (chance(&d, likely(0.1))) {
            memcpy(of, p->present + (size_t)j * row, row);
        }
        if (chance(&d, likely(0.1))) {
            for (size_t i = 0; i < row; i++) {
                of[i] = chance(&d, likely(0.1)) ? 0 : of[i];
            }
        }
    }
    count_columns(g, gene);
    const double p1 = 1. / jobs;
    const uint32_t zero = likely(p1);
    for (size_t i = 0; i < row; i++) {
        if (g->column[i] >= most) {
            continue;
        }
        const double p2 = g->positive[i] > 0 ? 1. / g->positive[i] : 0;
        const uint32_t positive = likely(p1 + p2 - p1 * p2);
        for (int32_t j = 0; j < jobs; j++) {
            uint8_t *at = gene + (size_t)j * row + i;
            if (chance(&d, *at > 0 ? positive : zero) && *at <= most) {
                *at = (uint8_t)(*at + below(&d, most - *at + 1));
            }
        }
    }
    *rng = d;
}

/* A job's replicas and nodes beyond what it may have, nodes in this order. */
static void cut_row(dls_genetic *g, uint8_t *row, int32_t most)
{
    int32_t on = 0, sum = 0;
    for (int32_t k = 0; k < g->nodes; k++) {
        uint8_t *at = &row[g->order[k]];
        *at = (uint8_t)(*at < most - sum ? *at : most - sum);
        sum += *at;
    }
    for (int32_t k = 0; k < g->nodes; k++) {
        on += row[k] > 0;
        row[k] = on > DLS_GENETIC_SPAN ? 0 : row[k];
    }
}

static bool shuffle(dls_genetic *g, dice *rng)
{
    for (int32_t i = 0; i < g->nodes; i++) {
        const int32_t other = below(rng, i + 1);
        g->order[i] = g->order[other];
        g->order[other] = i;
    }
    return true;
}

static void repair(dls_genetic *g, uint8_t *gene, dice *rng)
{
    const dls_genetic_problem *p = g->p;
    const size_t n = g->row;
    uint8_t *restrict used = g->used;
    bool shuffled = false;
    memset(used, 0, n);
    for (int32_t j = 0; j < p->jobs; j++) { /* one job that spans nodes on a node */
        uint8_t *restrict row = gene + (size_t)j * n;
        int32_t nodes, gpus;
        count_row(row, n, &nodes, &gpus);
        for (size_t i = 0; i < n && nodes > 1; i++) {
            const uint8_t was = row[i];
            row[i] = used[i] ? 0 : was;
            used[i] |= was;
        }
    }
    memset(used, 0, n); /* GPUs from here on */
    for (int32_t j = 0; j < p->jobs; j++) {
        uint8_t *restrict row = gene + (size_t)j * n;
        int32_t nodes, gpus;
        count_row(row, n, &nodes, &gpus);
        if (gpus > p->most[j] || nodes > DLS_GENETIC_SPAN) {
            shuffled = shuffled || shuffle(g, rng);
            cut_row(g, row, p->most[j]);
        }
        const uint8_t most = (uint8_t)p->gpus_per_node;
        for (size_t i = 0; i < n; i++) {
            const uint8_t left = (uint8_t)(most - used[i]);
            row[i] = row[i] < left ? row[i] : left;
            used[i] = (uint8_t)(used[i] + row[i]);
        }
    }
}

static void cross(dls_genetic *g, const int32_t *parent, individual *a, individual *b, dice *rng)
{
    const uint8_t *x = g->one[parent[0]].gene, *y = g->one[parent[1]].gene;
    const size_t at = chance(rng, likely(0.9)) ? (size_t)below(rng, g->p->jobs) * g->row : 0;
    memcpy(a->gene, y, at);
    memcpy(a->gene + at, x + at, g->size - at);
    memcpy(b->gene, x, at);
    memcpy(b->gene + at, y + at, g->size - at);
}

/* A generation; children stand behind their parents. What is not kept leaves its room to the next.
 */
static void breed(dls_genetic *g, dice *rng)
{
    int32_t parent[2 * POPULATION + 2];
    const int32_t parents = g->n, most = g->n + POPULATION;
    int32_t n = g->n;
    for (int32_t i = 0; i < n; i++) {
        g->hash[i] = hash_of(g->one[i].gene, g->size);
    }
    for (int32_t tries = 0; tries < TRIES && n < most; tries++) {
        const int32_t wanted = (most - n + 1) / 2;
        g->n = parents;
        choose_parents(g, rng, parent, 2 * wanted);
        for (int32_t k = 0; k < wanted; k++) {
            cross(g, &parent[2 * k], &g->one[n], &g->one[n + 1], rng);
            for (int i = 0; i < 2; i++) {
                individual *child = &g->one[n];
                mutate(g, child->gene, rng);
                repair(g, child->gene, rng);
                g->hash[n] = hash_of(child->gene, g->size);
                if (n < most && !is_there(g, n, child->gene, g->hash[n])) {
                    measure(g, child);
                    n++;
                } else if (i == 0) { /* the second moves up */
                    uint8_t *gene = child[0].gene;
                    child[0].gene = child[1].gene;
                    child[1].gene = gene;
                }
            }
        }
    }
    g->n = n;
}

/* ---- a round --------------------------------------------------------------------------------- */

/* Rows of the jobs that are still there, zeros for those that are new. */
static void inherit(dls_genetic *g, int32_t old_n, int32_t old_jobs)
{
    const dls_genetic_problem *p = g->p;
    for (int32_t k = 0; k < old_n; k++) {
        for (int32_t j = 0; j < p->jobs; j++) {
            uint8_t *to = g->one[k].gene + (size_t)j * g->row;
            int32_t i = 0;
            while (i < old_jobs && g->id[i] != p->id[j]) {
                i++;
            }
            if (i < old_jobs) {
                memcpy(to, g->old + ((size_t)k * (size_t)old_jobs + (size_t)i) * g->row, g->row);
            } else {
                memset(to, 0, g->row);
            }
        }
    }
}

static dls_status begin(dls_genetic *g, dls_error *err)
{
    const int32_t old_n = g->n, old_jobs = g->jobs;
    const size_t jobs = (size_t)g->p->jobs, answers = DLS_GENETIC_SPAN * DLS_GENETIC_REPLICAS;
    DLS_TRY(dls_grow(&g->old, &g->cap_old, (size_t)old_n * g->size + 1, 1, err));
    for (int32_t k = 0; k < old_n; k++) {
        memcpy(g->old + (size_t)k * g->size, g->one[k].gene, g->size);
    }
    g->row = (size_t)g->nodes;
    g->size = jobs * g->row;
    DLS_TRY(dls_grow(&g->genes, &g->cap_genes, ROOM * g->size, 1, err));
    DLS_TRY(dls_grow(&g->speedup, &g->cap_speedup, jobs * answers, sizeof *g->speedup, err));
    for (size_t i = 0; i < jobs * answers; i++) {
        g->speedup[i] = -1;
    }
    for (int32_t k = 0; k < ROOM; k++) {
        g->one[k].gene = g->genes + (size_t)k * g->size;
    }
    inherit(g, old_n, old_jobs);
    if (old_n == 0) {
        memcpy(g->one[0].gene, g->p->present, g->size);
        g->n = 1;
    }
    DLS_TRY(dls_grow(&g->id, &g->cap_id, jobs, sizeof *g->id, err));
    memcpy(g->id, g->p->id, jobs * sizeof *g->id);
    g->jobs = g->p->jobs;
    for (int32_t k = 0; k < g->n; k++) {
        measure(g, &g->one[k]);
    }
    return DLS_OK;
}

dls_status dls_genetic_search(dls_genetic *g, const dls_genetic_problem *problem, uint64_t seed,
                              const uint8_t **best, double *fitness, dls_error *err)
{
    int32_t first = 0;
    dice rng = {.state = seed};
    g->p = problem;
    DLS_TRY(begin(g, err));
    survive(g);
    for (int32_t i = 0; i < GENERATIONS; i++) {
        breed(g, &rng);
        survive(g);
    }
    for (int32_t k = 1; k < g->n; k++) {
        first = by_value(&g->one[k], &g->one[first]) < 0 ? k : first;
    }
    *best = g->one[first].gene;
    *fitness = g->one[first].fitness;
    return DLS_OK;
}
