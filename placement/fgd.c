/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * fgd: jobs that ask for parts of GPUs (cluster.gpu_parts), and gangs, where they leave the others
 * most: FGD (Weng et al., "Beware of Fragmentation", ATC 2023) and the policies that it was
 * compared with (fgd_score.h).
 *
 *      what nodes have left ─> score of each that the job fits on, remembered by kind of request
 *      until the node changes ─> the greatest, the first of equals
 *
 * Typical requests are those of the whole trace. Gangs that no node holds go to the fewest nodes.
 * A placement looks at every node once after GPUs were taken or given back, and scores those that have changed.
 */
#include "dlsim/memory.h"
#include "placement/fgd_score.h"
#include "placement/fit.h"

#include <math.h>
#include <string.h>

enum { OPT_SCORE, OPT_EXACT };
static const dls_option options[] = {
    {"score", DLS_OPT_STR, 0, 5, "fgd", "", "what a node is worth",
     "fgd|bestfit|dotproduct|gpupacking|gpuclustering|random"},
    {"exact", DLS_OPT_BOOL, 0, 0, "true", "", "scores of fgd are not cut to whole numbers", NULL},
    {0},
};

typedef struct score_memo {
    double value;     /* -HUGE_VAL: does not fit */
    int32_t gpu;      /* -1: the tightest, or whole ones */
    uint32_t version; /* of the node, + 1; 0: nothing */
} score_memo;

typedef struct fgd_node {
    dls_fgd_left left;
    dls_fgd_held held;
    uint64_t free;    /* GPUs */
    uint32_t version;
    bool unused;      /* all of its GPUs are free */
} fgd_node;

/* A job on one node. */
typedef struct fgd_job {
    int32_t node, gpus, milli; /* gpus 0: it has none, or is on several nodes */
} fgd_job;

typedef struct fgd {
    const dls_fgd_scheme *scheme;
    dls_fgd_world world;
    dls_fgd_typical *typical;
    dls_fgd_request *kind; /* [n_kinds] different requests so far */
    score_memo **known;    /* [n_kinds][nodes] */
    uint64_t *known_at;    /* [n_kinds] of `versions`, + 1: no node has changed since; 0: nothing is known */
    fgd_node *node;        /* [n_nodes] as they were when last looked at */
    fgd_job *job;          /* [n_jobs] that have started so far */
    size_t n_kinds, kinds_cap, known_cap, known_at_cap, n_nodes, n_jobs, n_typical;
    bool parts;        /* some job asks for a part of a GPU */
    uint64_t versions; /* how often nodes have changed */
    uint64_t looked;   /* how often GPUs had changed hands when all nodes were looked at, + 1; 0: never */
} fgd;

/* ---- set-up ---------------------------------------------------------------------------------- */

static dls_fgd_request request_of(const dls_request *r)
{
    dls_fgd_request of;
    memset(&of, 0, sizeof of); /* compared as bytes */
    of.cpu_milli = r->gpus * r->cpu_milli_per_gpu;
    of.mem_mib = r->gpus * r->mem_mib_per_gpu;
    of.gpus = r->gpus;
    of.gpu_milli = r->gpu_milli;
    of.models = r->types;
    of.spec = (int32_t)r->types;
    return of;
}

static dls_status find_typical(fgd *f, const dls_place_index *index, dls_error *err)
{
    dls_fgd_counted *counted = NULL;
    dls_request r;
    size_t n = 0;
    while (dls_place_demand(index, n, &r) > 0) {
        n++;
    }
    DLS_TRY(dls_alloc_array(&f->typical, n + 1, sizeof *f->typical, "requests", err));
    DLS_TRY(dls_alloc_array(&counted, n + 1, sizeof *counted, "requests", err));
    for (size_t i = 0; i < n; i++) {
        const int64_t jobs = dls_place_demand(index, i, &r);
        f->parts = f->parts || r.gpu_milli < DLS_FGD_MILLI;
        counted[i] = (dls_fgd_counted){.request = request_of(&r), .spec = "", .pods = jobs};
    }
    f->n_typical = dls_fgd_pick_typical(counted, n, f->typical);
    dls_free(counted);
    return DLS_OK;
}

static dls_status init(void *state, const dls_place_index *index, const dls_option_value *values,
                       dls_error *err)
{
    fgd *f = state;
    f->scheme = dls_fgd_find_scheme(values[OPT_SCORE].s);
    f->world.exact = values[OPT_EXACT].b;
    f->n_nodes = (size_t)dls_place_nodes(index);
    for (size_t i = 0; i < f->n_nodes; i++) {
        if (dls_place_capacity(index, (int32_t)i) > DLS_FGD_GPUS) {
            dls_policy_fail(index, "node %zu has %d GPUs: fgd looks at no more than %d", i,
                            (int)dls_place_capacity(index, (int32_t)i), DLS_FGD_GPUS);
            return DLS_OK;
        }
    }
    DLS_TRY(dls_alloc_array(&f->node, f->n_nodes + 1, sizeof *f->node, "nodes", err));
    return find_typical(f, index, err);
}

static void fini(void *state)
{
    fgd *f = state;
    for (size_t k = 0; k < f->n_kinds; k++) {
        dls_free(f->known[k]);
    }
    void *const owned[] = {f->typical, f->kind, f->known, f->known_at, f->node, f->job};
    for (size_t i = 0; i < sizeof owned / sizeof *owned; i++) {
        dls_free(owned[i]);
    }
}

static dls_status clone(void *state, const void *from, const dls_place_index *index, dls_error *err)
{
    fgd *f = state;
    f->kind = NULL; /* of scores nothing is kept */
    f->known = NULL;
    f->known_at = NULL;
    f->n_kinds = f->kinds_cap = f->known_cap = f->known_at_cap = 0;
    return DLS_COPY_ALL(err, DLS_COPY(f->typical, f->n_typical, f->n_typical + 1),
                        DLS_COPY(f->job, f->n_jobs, f->n_jobs), DLS_COPY(f->node, f->n_nodes, f->n_nodes + 1));
}

/* ---- nodes ----------------------------------------------------------------------------------- */

/* How often GPUs have been taken or given back, + 1. */
static uint64_t changes(const dls_place_index *index)
{
    uint64_t sum = 1;
    for (int32_t t = 0; t < dls_place_types(index); t++) {
        sum += dls_place_changes(index, t);
    }
    return sum;
}

/* Most nodes of a large cluster: nothing to look at GPU by GPU. */
static bool still_unused(const fgd_node *n, const dls_place_index *index, int32_t at)
{
    return n->unused && dls_place_free_mask(index, at) == n->free &&
           dls_place_free_cpu(index, at) == n->left.cpu_milli && dls_place_free_mem(index, at) == n->left.mem_mib;
}

/* What all nodes have left now; those that are as they were keep their version. */
static void look_at_nodes(fgd *f, const dls_place_index *index)
{
    const uint64_t now_changes = changes(index);
    if (f->looked == now_changes && !f->parts) {
        return;
    }
    f->looked = now_changes;
    for (size_t i = 0; i < f->n_nodes; i++) {
        fgd_node *n = &f->node[i];
        const int32_t at = (int32_t)i;
        dls_fgd_left now;
        if (still_unused(n, index, at)) {
            continue;
        }
        memset(&now, 0, sizeof now);
        now.gpus = dls_place_capacity(index, at);
        now.model = dls_place_type(index, at);
        now.cpu_milli = dls_place_free_cpu(index, at);
        now.mem_mib = dls_place_free_mem(index, at);
        const uint64_t free = dls_place_free_mask(index, at);
        n->free = free;
        n->unused = true;
        for (int32_t g = 0; g < now.gpus; g++) {
            n->unused = n->unused && free >> g & 1;
            now.milli[g] = free >> g & 1 ? DLS_FGD_MILLI : dls_place_gpu_left(index, at, g);
        }
        if (n->version == 0 || memcmp(&now, &n->left, sizeof now) != 0) {
            n->left = now;
            n->version++;
            f->versions++;
            if (f->scheme->fragmentation) {
                n->held.fragmentation = dls_fgd_fragmentation(&now, f->typical, f->n_typical);
            }
        }
    }
}

static void hold_job(fgd *f, const fgd_job *j, int32_t sign)
{
    fgd_node *n = &f->node[j->node];
    if (j->milli < DLS_FGD_MILLI) {
        n->held.shares += sign;
    } else {
        n->held.gangs[j->gpus <= DLS_FGD_GPUS ? j->gpus : DLS_FGD_GPUS] += sign;
    }
    n->version++;
    f->versions++;
}

static void started(void *state, const dls_place_index *index, const dls_request *r,
                    const int32_t *nodes, const int32_t *gpus, size_t n)
{
    fgd *f = state;
    if (dls_grow(&f->job, &f->n_jobs, (size_t)r->job + 1, sizeof *f->job, NULL) != DLS_OK) {
        dls_policy_fail(index, "out of memory");
        return;
    }
    f->job[r->job] = (fgd_job){nodes[0], n == 1 ? r->gpus : 0, r->gpu_milli};
    if (n == 1) {
        hold_job(f, &f->job[r->job], 1);
    }
}

static void stopped(void *state, const dls_place_index *index, int32_t job, int64_t now_us,
                    int64_t worked_us)
{
    fgd *f = state;
    if ((size_t)job < f->n_jobs && f->job[job].gpus > 0) {
        hold_job(f, &f->job[job], -1);
        f->job[job].gpus = 0;
    }
}

/* ---- requests -------------------------------------------------------------------------------- */

/* The scores of all nodes for a kind of request, brought up to date; NULL: out of memory. */
static const score_memo *scores(fgd *f, const dls_place_index *index, const dls_fgd_request *r)
{
    size_t k = 0;
    f->world.typical = f->typical;
    f->world.n_typical = f->n_typical;
    look_at_nodes(f, index);
    while (k < f->n_kinds && memcmp(&f->kind[k], r, sizeof *r) != 0) {
        k++;
    }
    if (k == f->n_kinds) {
        if (dls_grow(&f->kind, &f->kinds_cap, k + 1, sizeof *f->kind, NULL) != DLS_OK ||
            dls_grow(&f->known, &f->known_cap, k + 1, sizeof *f->known, NULL) != DLS_OK ||
            dls_grow(&f->known_at, &f->known_at_cap, k + 1, sizeof *f->known_at, NULL) != DLS_OK ||
            dls_alloc_array(&f->known[k], f->n_nodes + 1, sizeof **f->known, "scores", NULL) !=
                DLS_OK) {
            dls_policy_fail(index, "out of memory");
            return NULL;
        }
        f->known_at[k] = 0;
        f->kind[f->n_kinds++] = *r;
    }
    score_memo *m = f->known[k];
    for (size_t i = 0; i < f->n_nodes && f->known_at[k] != f->versions + 1; i++) {
        const fgd_node *n = &f->node[i];
        if (m[i].version == n->version + 1) {
            continue;
        }
        dls_fgd_score score = {-HUGE_VAL, -1};
        if (dls_fgd_fits(&n->left, r)) {
            score = f->scheme->drawn ? (dls_fgd_score){0, -1}
                                     : f->scheme->score(&f->world, &n->left, &n->held, r);
        }
        m[i] = (score_memo){score.value, score.gpu, n->version + 1};
    }
    f->known_at[k] = f->versions + 1;
    return m;
}

/* The greatest score on the type, the first node of equals (one of the type at random, if scores
 * are drawn); -1: none. */
static int32_t choose_node(const fgd *f, const score_memo *m, const dls_request *r, double *value)
{
    double least = HUGE_VAL, most = -HUGE_VAL;
    int32_t best = -1;
    uint64_t n_fit = 0;
    dls_rng rng = dls_place_random(r);
    for (size_t i = 0; i < f->n_nodes && f->scheme->stretched; i++) {
        if (m[i].value > -HUGE_VAL) {
            least = fmin(least, m[i].value);
            most = fmax(most, m[i].value);
        }
    }
    *value = -HUGE_VAL;
    for (size_t i = 0; i < f->n_nodes; i++) {
        if (m[i].value == -HUGE_VAL || f->node[i].left.model != r->type) {
            continue;
        }
        const double at = !f->scheme->stretched ? m[i].value
                          : most > least        ? floor((m[i].value - least) * 100 / (most - least))
                                                : 0;
        if (f->scheme->drawn ? dls_rng_below(&rng, ++n_fit) == 0 : at > *value) {
            *value = at;
            best = (int32_t)i;
        }
    }
    if (f->scheme->drawn && best >= 0) { /* so that every node of any type is as likely */
        for (int32_t t = 0; t <= r->type; t++) {
            *value = pow(dls_rng_unit(&rng), 1 / (double)n_fit);
        }
    }
    return best;
}

/* Does the gang fit on any node of the type, were it empty? */
static bool on_one_node(const dls_place_index *index, const dls_request *r)
{
    return r->gpus <= dls_place_max_gpus(index, r->type);
}

static double cost(void *state, const dls_place_index *index, const dls_request *r)
{
    fgd *f = state;
    const dls_fgd_request of = request_of(r);
    const score_memo *m = on_one_node(index, r) ? scores(f, index, &of) : NULL;
    double value;
    return m && choose_node(f, m, r, &value) >= 0 ? -value : 1e300; /* others may have to leave */
}

static bool place(void *state, const dls_place_index *index, const dls_request *r, dls_grant *grant)
{
    fgd *f = state;
    if (!on_one_node(index, r)) {
        return dls_fit_consolidated(index, r, grant);
    }
    const dls_fgd_request of = request_of(r);
    const score_memo *m = scores(f, index, &of);
    double value;
    const int32_t node = m ? choose_node(f, m, r, &value) : -1;
    if (node < 0) {
        return false;
    }
    const dls_fgd_left *left = &f->node[node].left;
    uint32_t gpus = m[node].gpu >= 0 ? UINT32_C(1) << m[node].gpu : dls_fgd_choose_gpus(left, &of);
    if (f->scheme->drawn && of.gpu_milli < DLS_FGD_MILLI) {
        dls_rng rng = dls_place_random(r);
        uint64_t n_fit = 0;
        for (int32_t g = 0; g < left->gpus; g++) {
            if (left->milli[g] >= of.gpu_milli && dls_rng_below(&rng, ++n_fit) == 0) {
                gpus = UINT32_C(1) << g;
            }
        }
    }
    dls_grant_add_gpus(grant, node, gpus);
    return true;
}

const dls_placement_ops dls_placement_ops_fgd = {
    .abi = DLS_POLICY_ABI,
    .name = "fgd",
    .summary = "gangs and parts of GPUs where least is left that nobody can use (FGD)",
    .options = options,
    .parts = true,
    .state_bytes = sizeof(fgd),
    .init = init,
    .fini = fini,
    .place = place,
    .cost = cost,
    .started = started,
    .stopped = stopped,
    .clone = clone,
};
