/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * cassini: of up to `candidates` ways to place a gang that are as good by the prediction, the one
 * whose links suit each other best, with the bursts of all jobs that it shares links with, directly
 * or through others, turned together (CASSINI, NSDI 2024; rotation.h).
 *
 *      candidate -> crowded links that its job and those it meets send over -> rotation of each link
 *                -> affinity graph without a cycle? one shift for each job, score = mean of the links
 *                -> with a cycle: no candidate; if no other is left, only the newcomer is turned
 *
 * Links that the same jobs send over are one. Periods are rounded to parts of the shortest on the
 * link, as finely as leaves their common period short.
 */
#include "dlsim/memory.h"
#include "placement/choose.h"
#include "placement/rotation.h"

#include <math.h>
#include <string.h>

#define WAYS_MAX 16
#define FITS (1 - 1e-9) /* nobody waits for anybody */
#define WAITS (1 - 2e-9)
#define ENDS                                                                                       \
    96 /* of bursts on a link's circle, at most: periods are rounded until there are no more */
#define SEEN_MAX 256 /* links that a graph looks at */
#define MEMOS 2048   /* links whose rotation is remembered */

enum { CANDIDATES, RELAX, MODE, AGGREGATE, HOST };
enum { MODE_ALL, MODE_NEWCOMER };
enum { AGGREGATE_MEAN, AGGREGATE_MIN };

static const dls_option options[] = {
    {"candidates", DLS_OPT_I64, 1, WAYS_MAX, "10", "", "ways to place a gang that are compared",
     NULL},
    {"relax", DLS_OPT_F64, 0, 10, "0.02", "",
     "as good is what takes at most this part more than the best predicted run time", NULL},
    {"mode", DLS_OPT_STR, 0, 1, "all", "", "which jobs are turned", "all|newcomer"},
    {"aggregate", DLS_OPT_STR, 0, 1, "mean", "", "what the score of several links is", "mean|min"},
    {"host", DLS_OPT_STR, 0, 0, "consolidated", "",
     "the placement whose candidates are compared: that and as good ways in racks and leftovers; one that draws, as "
     "often as there are candidates; else its one way, in which jobs are turned",
     "consolidated|first-fit|spread|random|crandom"},
    {0}};

/* Placements without options and state, in the order of the choices above. */
extern const dls_placement_ops dls_placement_ops_first_fit, dls_placement_ops_spread,
    dls_placement_ops_random, dls_placement_ops_crandom;
static const struct {
    const dls_placement_ops *ops; /* NULL: dls_choose_fill */
    bool draws;
} hosts[] = {{NULL, false},
             {&dls_placement_ops_first_fit, false},
             {&dls_placement_ops_spread, false},
             {&dls_placement_ops_random, true},
             {&dls_placement_ops_crandom, true}};

/* What a link's jobs send, in the order of their pulses, and how they are turned. */
typedef struct link_key {
    int32_t n;
    double pulse[DLS_ROTORS][3]; /* period, part of it that is the burst, rate over capacity */
} link_key;

typedef struct link_memo {
    link_key key;                   /* n 0: empty */
    double part[DLS_ROTORS], score; /* shift over period; NAN: no common period is short */
} link_memo;

typedef struct cassini {
    dls_traffic traffic; /* first: dls_traffic_stopped */
    dls_grant *trial;
    int32_t candidates;
    int64_t host; /* of hosts */
    double relax;
    bool newcomer_only, worst;
    link_memo memo[MEMOS];  /* by a hash of the key */
    uint64_t *seen, graphs; /* [links] the last graph that looked at it; graphs so far */
} cassini;

/* The jobs that a newcomer meets, directly or not. Job 0 is the newcomer. */
typedef struct graph_link {
    double capacity_bps;
    int32_t job[DLS_ROTORS], n, weight; /* links that are this one */
} graph_link;

typedef struct graph {
    int32_t runner[DLS_AFFINITY_VERTICES], n_jobs;
    dls_pulse pulse[DLS_AFFINITY_VERTICES];
    int32_t n_seen; /* links of the cluster that were looked at */
    graph_link link[DLS_AFFINITY_VERTICES];
    int32_t n_links;
} graph;

static dls_status init(void *state, const dls_place_index *index, const dls_option_value *values,
                       dls_error *err)
{
    cassini *c = state;
    c->candidates = (int32_t)values[CANDIDATES].i;
    c->relax = values[RELAX].f;
    c->host = values[HOST].i;
    c->newcomer_only = values[MODE].i == MODE_NEWCOMER;
    c->worst = values[AGGREGATE].i == AGGREGATE_MIN;
    c->trial = dls_grant_create();
    DLS_TRY(
        dls_alloc_array(&c->seen, dls_traffic_link_count(index), sizeof *c->seen, "links", err));
    return c->trial ? dls_traffic_init(&c->traffic, index, err) : dls_nomem(err, "placement", 0);
}

static void fini(void *state)
{
    cassini *c = state;
    dls_traffic_fini(&c->traffic);
    dls_grant_destroy(c->trial);
    dls_free(c->seen);
}

static dls_status clone(void *state, const void *from, const dls_place_index *index, dls_error *err)
{
    cassini *c = state;
    const cassini *of = from;
    const size_t links = dls_traffic_link_count(index);
    c->seen = NULL;
    c->trial = dls_grant_create();
    DLS_TRY(dls_traffic_clone(&c->traffic, &of->traffic, index, err));
    DLS_TRY(dls_duplicate(&c->seen, of->seen, links, links, sizeof *c->seen, err));
    return c->trial ? DLS_OK : dls_nomem(err, "placement", 0);
}

/* ---- who meets whom -------------------------------------------------------------------------- */

/* The number of a running job in the graph; -1: no room. */
static int32_t vertex_of(graph *g, const dls_traffic *t, int32_t runner)
{
    for (int32_t j = 1; j < g->n_jobs; j++) {
        if (g->runner[j] == runner) {
            return j;
        }
    }
    if (g->n_jobs == DLS_AFFINITY_VERTICES) {
        return -1;
    }
    g->runner[g->n_jobs] = runner;
    g->pulse[g->n_jobs] = t->runner[runner].pulse;
    return g->n_jobs++;
}

/* A link with its jobs, one of which may be the newcomer; nothing if it can carry them all at once.
 * False: too much for a graph. */
static bool add_link(graph *g, const dls_traffic *t, const dls_place_index *index, int32_t link,
                     bool with_newcomer)
{
    graph_link l = {.capacity_bps = dls_traffic_capacity(t, index, link), .weight = 1};
    double sum = 0;
    if (!(l.capacity_bps > 0) || t->link[link] < 0) {
        return true;
    }
    if (with_newcomer) {
        l.job[l.n++] = 0;
        sum = g->pulse[0].bps;
    }
    int32_t jobs = l.n;
    for (int32_t at = t->link[link]; at >= 0; at = t->entry[at].next, jobs++) {
        sum += t->runner[t->entry[at].runner].pulse.bps;
    }
    if (jobs < 2 || sum <= l.capacity_bps) {
        return true;
    }
    if (jobs > DLS_ROTORS) {
        return false;
    }
    for (int32_t at = t->link[link]; at >= 0; at = t->entry[at].next) {
        const int32_t j = vertex_of(g, t, t->entry[at].runner);
        if (j < 0) {
            return false;
        }
        l.job[l.n++] = j;
    }
    for (int32_t i = 0; i < g->n_links; i++) {
        graph_link *o = &g->link[i];
        if (o->n == l.n && memcmp(o->job, l.job, (size_t)l.n * sizeof *l.job) == 0) {
            o->capacity_bps = fmin(o->capacity_bps, l.capacity_bps);
            o->weight++;
            return true;
        }
    }
    if (g->n_links == DLS_AFFINITY_VERTICES) {
        return false;
    }
    g->link[g->n_links++] = l;
    return true;
}

static bool add_links(cassini *c, graph *g, const dls_place_index *index,
                      const dls_place_part *part, size_t n, bool uplinks, bool newcomer)
{
    const dls_traffic *t = &c->traffic;
    int32_t link;
    for (size_t k = 0; (link = dls_traffic_link_of(t, index, part, n, uplinks, k)) >= 0; k++) {
        if (c->seen[link] == c->graphs) {
            continue;
        }
        if (g->n_seen++ == SEEN_MAX || !add_link(g, t, index, link, newcomer)) {
            return false;
        }
        c->seen[link] = c->graphs;
    }
    return true;
}

/* All that a newcomer on these parts meets; false: too much. */
static bool build(cassini *c, graph *g, const dls_place_index *index, const dls_place_part *part,
                  size_t n, const dls_shape *shape, const dls_pulse *mine)
{
    c->graphs++;
    g->n_jobs = 1;
    g->n_links = g->n_seen = 0;
    g->pulse[0] = *mine;
    g->runner[0] = -1;
    if (!add_links(c, g, index, part, n, shape->n_racks > 1, true)) {
        return false;
    }
    for (int32_t j = 1; j < g->n_jobs; j++) {
        const dls_runner *r = &c->traffic.runner[g->runner[j]];
        if (!add_links(c, g, index, r->part, r->n, r->uplinks, false)) {
            return false;
        }
    }
    return true;
}

/* ---- rotation -------------------------------------------------------------------------------- */

/* Periods in whole parts of the shortest; at last, in powers of two of it, at most 32. */
static void turn_link(link_memo *m)
{
    static const double parts[] = {24, 8, 2, 1};
    dls_rotor rotor[DLS_ROTORS];
    m->score = (double)NAN;
    for (size_t k = 0; k < sizeof parts / sizeof *parts && isnan(m->score); k++) {
        for (int32_t i = 0; i < m->key.n; i++) {
            const double *p = m->key.pulse[i]; /* the first has the shortest period */
            const double longer = p[0] / m->key.pulse[0][0] * parts[k];
            const double period = k + 1 < sizeof parts / sizeof *parts
                                      ? fmin(nearbyint(longer), 1e6)
                                      : exp2(fmin(nearbyint(log2(longer)), 5));
            rotor[i] = (dls_rotor){.period = (int64_t)period, .n = 1};
            rotor[i].phase[0] = (dls_rotor_phase){.length = p[1] * period, .rate = p[2]};
        }
        if (dls_rotation_ends(rotor, m->key.n) <= ENDS) {
            m->score = dls_rotation_turn(rotor, m->key.n);
        }
    }
    for (int32_t i = 0; i < m->key.n; i++) {
        m->part[i] = rotor[i].shift / (double)rotor[i].period;
    }
}

static int by_pulse(const double *a, const double *b)
{
    for (int k = 0; k < 3; k++) {
        if (a[k] != b[k]) {
            return a[k] < b[k] ? -1 : 1;
        }
    }
    return 0;
}

/* The rotation of a link; at[i]: the number in l->job of its i-th job. */
static const link_memo *rotation_of(cassini *c, const graph *g, const graph_link *l, int32_t *at)
{
    link_key key = {.n = l->n};
    uint64_t hash = (uint64_t)l->n;
    for (int32_t k = 0; k < l->n; k++) {
        const dls_pulse *p = &g->pulse[l->job[k]];
        const double v[3] = {p->period_s, fmin(1, p->burst_s / p->period_s),
                             p->bps / l->capacity_bps};
        int32_t i = k;
        for (; i > 0 && by_pulse(key.pulse[i - 1], v) > 0; i--) {
            memcpy(key.pulse[i], key.pulse[i - 1], sizeof v);
            at[i] = at[i - 1];
        }
        memcpy(key.pulse[i], v, sizeof v);
        at[i] = k;
    }
    for (int32_t i = 0; i < l->n; i++) {
        for (int32_t k = 0; k < 3; k++) {
            uint64_t bits;
            memcpy(&bits, &key.pulse[i][k], sizeof bits);
            hash =
                (hash ^ bits ^ hash >> 29) * UINT64_C(0x9e3779b97f4a7c15); /* Fibonacci hashing */
        }
    }
    link_memo *m = &c->memo[(hash >> 32) % MEMOS];
    if (memcmp(&m->key, &key, sizeof key) != 0) {
        m->key = key;
        turn_link(m);
    }
    return m;
}

/* Turn all jobs of the graph: shift_s of each; returns the score of its links, NAN: there is a
 * cycle. One that runs keeps its shift. */
static double turn_all(cassini *c, const graph *g, double *shift_s)
{
    dls_affinity_edge edge[DLS_AFFINITY_VERTICES * 4];
    double period[DLS_AFFINITY_VERTICES], sum = 0, least = 1;
    size_t n = 0;
    int32_t links = 0;
    const int32_t last = g->n_jobs - 1; /* who runs comes first: the newcomer is the last job */
    for (int32_t j = 0; j < g->n_jobs; j++) {
        period[last - j] = g->pulse[j].period_s;
        shift_s[last - j] = g->pulse[j].shift_s;
    }
    for (int32_t i = 0; i < g->n_links; i++) {
        const graph_link *l = &g->link[i];
        if (n + (size_t)l->n > sizeof edge / sizeof *edge) {
            return (double)NAN;
        }
        for (int32_t k = 0; k < l->n; k++) {
            edge[n++] = (dls_affinity_edge){.job = last - l->job[k], .link = i};
        }
    }
    if (!dls_affinity_is_forest(edge, n)) { /* before any link is turned, which costs most */
        return (double)NAN;
    }
    n = 0;
    for (int32_t i = 0; i < g->n_links; i++) {
        int32_t at[DLS_ROTORS];
        const graph_link *l = &g->link[i];
        const link_memo *m = rotation_of(c, g, l, at);
        if (isnan(m->score)) {
            return (double)NAN;
        }
        for (int32_t k = 0; k < l->n; k++) {
            const int32_t j = l->job[at[k]];
            edge[n++] = (dls_affinity_edge){last - j, i, m->part[k] * g->pulse[j].period_s};
        }
        sum += m->score * l->weight;
        links += l->weight;
        least = fmin(least, m->score);
    }
    dls_affinity_shifts(edge, n, period, g->n_jobs, shift_s);
    for (int32_t a = 0, b = last; a < b; a++, b--) {
        const double swap = shift_s[a];
        shift_s[a] = shift_s[b];
        shift_s[b] = swap;
    }
    return links == 0 ? 1 : c->worst ? least : sum / links;
}

/* ---- placement ------------------------------------------------------------------------------- */

/* Under the best shift of the newcomer, the others as they are; its links are those of c->trial. If
 * it is not above `above`, only that is known. */
static double score_alone(const cassini *c, const dls_place_index *index, const dls_shape *shape,
                          const dls_pulse *mine, double above, double *shift_s)
{
    dls_cassini_link links[DLS_CASSINI_LINKS];
    const size_t n = dls_traffic_links(&c->traffic, index, c->trial, shape, links);
    return dls_cassini_score(links, n, mine, above, shift_s);
}

/* NAN: no candidate. Where the newcomer finds room without others, nobody else need be turned. */
static double score_of(cassini *c, const dls_place_index *index, const dls_shape *shape,
                       const dls_pulse *mine)
{
    size_t n;
    graph g;
    double shift_s[DLS_AFFINITY_VERTICES];
    const dls_place_part *part = dls_grant_parts(c->trial, &n);
    const double above = c->newcomer_only ? -HUGE_VAL : WAITS;
    const double alone = score_alone(c, index, shape, mine, above, shift_s);
    if (c->newcomer_only || alone >= FITS) {
        return alone;
    }
    return build(c, &g, index, part, n, shape, mine) ? turn_all(c, &g, shift_s) : (double)NAN;
}

/* A way of the host, of `consolidated` as dls_choose_fill has them; else its n-th draw, the first of which is
 * what it does by itself. */
static bool fill_candidate(const cassini *c, const dls_place_index *index, const dls_request *r,
                           int32_t way, dls_grant *grant)
{
    dls_request drawn = *r;
    if (!hosts[c->host].ops) {
        return dls_choose_fill(index, r, way, grant);
    }
    drawn.seed += (uint64_t)way << 32;
    dls_grant_reset(grant);
    return hosts[c->host].ops->place(NULL, index, &drawn, grant);
}

typedef struct ways {
    int32_t way[WAYS_MAX], n;
    double remaining_s[WAYS_MAX], best_s;
} ways;

/* Enter a way if the gang fits so; false: nothing is known of the job. */
static bool consider(cassini *c, const dls_place_index *index, const dls_request *r, int32_t way,
                     ways *w)
{
    dls_shape shape;
    dls_prediction f;
    if (w->n == c->candidates || !fill_candidate(c, index, r, way, c->trial) ||
        !dls_grant_shape(c->trial, index, &shape)) {
        return true;
    }
    if (!dls_place_predict(r, r->job, &shape, &f)) {
        return false;
    }
    w->way[w->n] = way;
    w->remaining_s[w->n++] = f.remaining_s;
    w->best_s = fmin(w->best_s, f.remaining_s);
    return true;
}

/* Of the host's draws; or consolidated, each rack that has most nodes of some number of free GPUs, leftovers. */
static bool find_ways(cassini *c, const dls_place_index *index, const dls_request *r, ways *w)
{
    int32_t last = -1;
    *w = (ways){.best_s = (double)INFINITY};
    for (int32_t k = 0; hosts[c->host].draws && k < c->candidates; k++) {
        if (!consider(c, index, r, k, w)) {
            return false;
        }
    }
    if (hosts[c->host].ops) {
        return true;
    }
    if (!consider(c, index, r, DLS_WAY_CONSOLIDATED, w)) {
        return false;
    }
    for (int32_t f = dls_place_max_gpus(index, r->type); f >= 1 && w->n < c->candidates - 1; f--) {
        int32_t nodes;
        const int32_t rack = dls_place_fullest_rack(index, r->type, f, &nodes);
        if (rack >= 0 && rack != last) {
            if (!consider(c, index, r, rack, w)) {
                return false;
            }
            last = rack;
        }
    }
    return consider(c, index, r, DLS_WAY_LEFTOVERS, w);
}

static bool place(void *state, const dls_place_index *index, const dls_request *r, dls_grant *grant)
{
    cassini *c = state;
    ways w;
    int32_t best = hosts[c->host].ops ? 0 : DLS_WAY_CONSOLIDATED, first = -1;
    if (r->gpus < 2 || !r->predictor || !find_ways(c, index, r, &w) || w.n < 2) {
        return fill_candidate(c, index, r, best, grant);
    }
    double most = -(double)INFINITY;
    for (int32_t i = 0; i < w.n && most < FITS; i++) {
        dls_shape shape;
        dls_prediction f;
        if (w.remaining_s[i] > w.best_s * (1 + c->relax) ||
            !fill_candidate(c, index, r, w.way[i], c->trial) ||
            !dls_grant_shape(c->trial, index, &shape) ||
            !dls_place_predict(r, r->job, &shape, &f)) {
            continue;
        }
        const dls_pulse mine = dls_pulse_of(&f);
        const double score =
            mine.period_s > 0 && shape.n_nodes > 1 ? score_of(c, index, &shape, &mine) : 1;
        first = first < 0 ? i : first;
        if (score > most) {
            most = score;
            best = w.way[i];
        }
    }
    /* Without a score there are cycles everywhere: still no way that takes longer. */
    best = isinf(most) && first >= 0 ? w.way[first] : best;
    return fill_candidate(c, index, r, best, grant);
}

/* Where the job is, in c->trial. */
static void note_parts(cassini *c, const int32_t *nodes, const int32_t *gpus, size_t n)
{
    dls_grant_reset(c->trial);
    for (size_t i = 0; i < n; i++) {
        dls_grant_add(c->trial, nodes[i], gpus[i]);
    }
}

static void turn_jobs(cassini *c, const dls_place_index *index, const dls_request *r)
{
    graph g;
    dls_shape shape;
    dls_prediction f;
    size_t n;
    double shift_s[DLS_AFFINITY_VERTICES];
    if (!dls_grant_shape(c->trial, index, &shape) || shape.n_nodes < 2 ||
        !dls_place_predict(r, r->job, &shape, &f)) {
        return;
    }
    dls_pulse mine = dls_pulse_of(&f);
    if (!(mine.period_s > 0)) {
        return;
    }
    mine.shift_s = fmod((double)r->now_us / 1e6, mine.period_s);
    const dls_place_part *part = dls_grant_parts(c->trial, &n);
    double alone_s = mine.shift_s;
    if (c->newcomer_only || score_alone(c, index, &shape, &mine, WAITS, &alone_s) >= FITS ||
        !build(c, &g, index, part, n, &shape, &mine) || isnan(turn_all(c, &g, shift_s))) {
        score_alone(c, index, &shape, &mine, -HUGE_VAL, &alone_s);
        g.n_jobs = 1;
        shift_s[0] = alone_s;
    }
    dls_traffic_set_shift(&c->traffic, r->job, shift_s[0]);
    dls_place_turn(r, r->job, shift_s[0]);
    for (int32_t j = 1; j < g.n_jobs; j++) {
        dls_runner *other = &c->traffic.runner[g.runner[j]];
        if (other->pulse.shift_s != shift_s[j]) {
            other->pulse.shift_s = shift_s[j];
            dls_place_turn(r, other->job, shift_s[j]);
        }
    }
}

static void started(void *state, const dls_place_index *index, const dls_request *r,
                    const int32_t *nodes, const int32_t *gpus, size_t n)
{
    cassini *c = state;
    if (n > 1 && r->predictor) {
        note_parts(c, nodes, gpus, n);
        turn_jobs(c, index, r);
    }
    dls_traffic_started(&c->traffic, index, r, nodes, gpus, n);
}

const dls_placement_ops dls_placement_ops_cassini = {
    .abi = DLS_POLICY_ABI,
    .name = "cassini",
    .summary = "consolidated, among equals where network bursts of all jobs can be turned apart",
    .options = options,
    .needs_prediction = true,
    .state_bytes = sizeof(cassini),
    .init = init,
    .fini = fini,
    .clone = clone,
    .place = place,
    .started = started,
    .stopped = dls_traffic_stopped,
};
