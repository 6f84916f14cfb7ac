/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * fgd: requests for parts of GPUs (gpus_milli < 1000) beside gangs, each where it leaves the others
 * most: FGD (Weng et al., "Beware of Fragmentation", ATC 2023) and the policies that it was
 * compared with (fgd_score.h), in order of submission, skipping what does not fit. Jobs on one GPU
 * have parts of it that add up to at most a whole; nobody is interrupted.
 *
 *      a pass      what the nodes have left, from who runs -> for each waiting job the score of
 * every node that it fits on, remembered by kind of request until the node changes -> the greatest
 *                  score: join who runs on the GPU, or take free ones
 *
 * Typical requests are those of the whole trace. A gang that no node holds goes where the placement
 * wants it. A GPU has at most DLS_GROUP_MAX jobs. A pass costs nodes and running jobs, and each
 * start the nodes once.
 */
#include "dlsim/memory.h"
#include "sched/fgd_score.h"
#include "sched/gangs.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { OPT_SCORE, OPT_EXACT, OPT_STRICT, OPT_MIG };
static const dls_option options[] = {
    {"score", DLS_OPT_STR, 0, 5, "fgd", "", "what a node is worth",
     "fgd|bestfit|dotproduct|gpupacking|gpuclustering|random"},
    {"exact", DLS_OPT_BOOL, 0, 0, "true", "", "scores of fgd are not cut to whole numbers", NULL},
    {"strict", DLS_OPT_BOOL, 0, 0, "false", "", "nobody overtakes who does not fit", NULL},
    {"mig", DLS_OPT_BOOL, 0, 0, "false", "",
     "parts are slices: rounded up to 1, 2, 3, 4 or 7 sevenths of a GPU", NULL},
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
    int32_t host[DLS_FGD_GPUS],
        jobs[DLS_FGD_GPUS]; /* who has the GPU, -1: free; how many share it */
    uint32_t version;
} fgd_node;

typedef struct fgd {
    const dls_fgd_scheme *scheme;
    dls_fgd_world world;
    bool strict, mig;
    dls_fgd_typical *typical;
    dls_fgd_request *kind; /* [n_kinds] different requests */
    int32_t *kind_of;      /* [jobs] */
    bool *stuck;           /* [n_kinds] it fits nowhere in this pass */
    score_memo **known;    /* [n_kinds][nodes], NULL until asked for */
    fgd_node *node, *was;  /* [nodes] now; scratch */
    size_t n_kinds, n_nodes, n_jobs;
    uint64_t draws;
} fgd;

/* ---- requests -------------------------------------------------------------------------------- */

static int32_t part_of(const fgd *f, const dls_view *view, int32_t job)
{
    static const int32_t sevenths[] = {1, 2, 3, 4, 7};
    const int64_t milli = view->gpus_milli ? view->gpus_milli[job] : DLS_FGD_MILLI;
    if (view->gpus[job] > 1 || milli >= DLS_FGD_MILLI) {
        return DLS_FGD_MILLI;
    }
    for (int k = 0; k < 5 && f->mig; k++) {
        if (7 * milli <= DLS_FGD_MILLI * sevenths[k]) {
            return DLS_FGD_MILLI * sevenths[k] / 7; /* cut: seven of them fit */
        }
    }
    return (int32_t)milli;
}

static dls_fgd_request request_of(const fgd *f, const dls_view *view, int32_t job)
{
    const int32_t gpus = view->gpus[job];
    dls_fgd_request r;
    memset(&r, 0, sizeof r); /* compared as bytes */
    r.cpu_milli = gpus * dls_view_cpu_per_gpu(view, job);
    r.mem_mib = gpus * dls_view_mem_per_gpu(view, job);
    r.gpus = gpus;
    r.gpu_milli = part_of(f, view, job);
    r.models = dls_view_types(view, job);
    r.spec = (int32_t)r.models;
    return r;
}

typedef struct keyed_request {
    dls_fgd_request r;
    int32_t job;
} keyed_request;

static int by_request(const void *a, const void *b)
{
    const keyed_request *x = a, *y = b;
    const int order = memcmp(&x->r, &y->r, sizeof x->r);
    return order ? order : (x->job > y->job) - (x->job < y->job);
}

static dls_status find_kinds(fgd *f, const dls_view *view, dls_error *err)
{
    keyed_request *all = NULL;
    dls_fgd_counted *counted = NULL;
    const size_t n = f->n_jobs;
    dls_status status = dls_alloc_array(&all, n + 1, sizeof *all, "requests", err);
    status = status == DLS_OK ? dls_alloc_array(&counted, n + 1, sizeof *counted, "requests", err)
                              : status;
    for (size_t j = 0; j < n && status == DLS_OK; j++) {
        all[j] = (keyed_request){request_of(f, view, (int32_t)j), (int32_t)j};
    }
    if (status == DLS_OK) {
        qsort(all, n, sizeof *all, by_request);
        for (size_t i = 0; i < n; i++) {
            if (i == 0 || memcmp(&all[i - 1].r, &all[i].r, sizeof all[i].r) != 0) {
                f->kind[f->n_kinds] = all[i].r;
                counted[f->n_kinds++] = (dls_fgd_counted){.request = all[i].r, .spec = ""};
            }
            f->kind_of[all[i].job] = (int32_t)f->n_kinds - 1;
            counted[f->n_kinds - 1].pods++;
        }
        f->world.n_typical = dls_fgd_pick_typical(counted, f->n_kinds, f->typical);
        f->world.typical = f->typical;
    }
    dls_free(all);
    dls_free(counted);
    return status;
}

static dls_status init(void *state, const dls_view *view, const dls_option_value *values,
                       dls_error *err)
{
    fgd *f = state;
    const dls_place_index *index = dls_view_index(view);
    f->scheme = dls_fgd_find_scheme(values[OPT_SCORE].s);
    f->world.exact = values[OPT_EXACT].b;
    f->strict = values[OPT_STRICT].b;
    f->mig = values[OPT_MIG].b;
    f->n_nodes = (size_t)dls_place_nodes(index);
    f->n_jobs = (size_t)view->n_jobs;
    for (size_t i = 0; i < f->n_nodes; i++) {
        if (dls_place_capacity(index, (int32_t)i) > DLS_FGD_GPUS) {
            dls_policy_fail(index, "node %zu has %d GPUs: fgd looks at no more than %d", i,
                            (int)dls_place_capacity(index, (int32_t)i), DLS_FGD_GPUS);
            return DLS_OK;
        }
    }
    DLS_TRY(dls_alloc_array(&f->kind, f->n_jobs + 1, sizeof *f->kind, "requests", err));
    DLS_TRY(dls_alloc_array(&f->kind_of, f->n_jobs + 1, sizeof *f->kind_of, "requests", err));
    DLS_TRY(dls_alloc_array(&f->typical, f->n_jobs + 1, sizeof *f->typical, "requests", err));
    DLS_TRY(find_kinds(f, view, err));
    DLS_TRY(dls_alloc_array(&f->stuck, f->n_kinds + 1, sizeof *f->stuck, "requests", err));
    DLS_TRY(dls_alloc_array(&f->known, f->n_kinds + 1, sizeof *f->known, "scores", err));
    DLS_TRY(dls_alloc_array(&f->node, f->n_nodes + 1, sizeof *f->node, "nodes", err));
    return dls_alloc_array(&f->was, f->n_nodes + 1, sizeof *f->was, "nodes", err);
}

static void fini(void *state)
{
    fgd *f = state;
    for (size_t k = 0; f->known && k < f->n_kinds; k++) {
        dls_free(f->known[k]);
    }
    void *const owned[] = {f->typical, f->kind, f->kind_of, f->stuck, f->known, f->node, f->was};
    for (size_t i = 0; i < sizeof owned / sizeof *owned; i++) {
        dls_free(owned[i]);
    }
}

static dls_status clone(void *state, const void *from, const dls_view *view, dls_error *err)
{
    fgd *f = state;
    const fgd *of = from;
    (void)view;
    f->typical = NULL;
    f->kind = NULL;
    f->kind_of = NULL;
    f->stuck = NULL;
    f->known = NULL; /* of scores nothing is kept */
    f->node = f->was = NULL;
    const size_t jobs = of->n_jobs, kinds = of->n_kinds;
    DLS_TRY(dls_duplicate(&f->kind, of->kind, kinds, jobs + 1, sizeof *f->kind, err));
    DLS_TRY(dls_duplicate(&f->kind_of, of->kind_of, jobs, jobs + 1, sizeof *f->kind_of, err));
    DLS_TRY(dls_duplicate(&f->typical, of->typical, of->world.n_typical, jobs + 1,
                          sizeof *f->typical, err));
    f->world.typical = f->typical;
    DLS_TRY(dls_alloc_array(&f->stuck, kinds + 1, sizeof *f->stuck, "requests", err));
    DLS_TRY(dls_alloc_array(&f->known, kinds + 1, sizeof *f->known, "scores", err));
    DLS_TRY(dls_alloc_array(&f->was, f->n_nodes + 1, sizeof *f->was, "nodes", err));
    return dls_duplicate(&f->node, of->node, f->n_nodes, f->n_nodes + 1, sizeof *f->node, err);
}

/* ---- nodes ----------------------------------------------------------------------------------- */

static void hold(fgd_node *n, const dls_fgd_request *r)
{
    n->left.pods++;
    if (r->gpu_milli < DLS_FGD_MILLI) {
        n->held.shares++;
    } else {
        n->held.gangs[r->gpus <= DLS_FGD_GPUS ? r->gpus : DLS_FGD_GPUS]++;
    }
}

/* A full GPU takes no more, a part of it is left or not. */
static void share_gpu(fgd_node *n, int32_t g, int32_t milli)
{
    n->left.milli[g] = ++n->jobs[g] < DLS_GROUP_MAX ? n->left.milli[g] - milli : 0;
}

/* The GPU of a node that a job has; -1: none. */
static int32_t gpu_of(const fgd_node *n, int32_t host)
{
    for (int32_t g = 0; g < n->left.gpus; g++) {
        if (n->host[g] == host) {
            return g;
        }
    }
    return -1;
}

static void add_host(fgd *f, const dls_view *view, int32_t job)
{
    const dls_fgd_request *r = &f->kind[f->kind_of[job]];
    dls_place_part part[64];
    size_t n = dls_view_nodes(view, job, part, 64);
    for (size_t i = 0; i < n && i < 64; i++) {
        fgd_node *at = &f->node[part[i].node];
        for (int32_t k = 0; k < part[i].gpus; k++) {
            const int32_t g = gpu_of(at, -1);
            at->host[g] = job;
            share_gpu(at, g, r->gpu_milli);
        }
        hold(at, r);
    }
}

static void changed(const fgd *f, fgd_node *n)
{
    n->version++;
    if (f->scheme->fragmentation) {
        n->held.fragmentation = dls_fgd_fragmentation(&n->left, f->typical, f->world.n_typical);
    }
}

/* What all nodes have left now; those that are as they were keep their version. */
static void look(fgd *f, const dls_view *view)
{
    const dls_place_index *index = dls_view_index(view);
    memcpy(f->was, f->node, f->n_nodes * sizeof *f->node);
    for (size_t i = 0; i < f->n_nodes; i++) {
        fgd_node *n = &f->node[i];
        const int32_t at = (int32_t)i;
        memset(n, 0, sizeof *n);
        n->left.gpus = dls_place_capacity(index, at);
        n->left.model = dls_place_type(index, at);
        n->left.cpu_milli = dls_place_free_cpu(index, at);
        n->left.mem_mib = dls_place_free_mem(index, at);
        for (int32_t g = 0; g < n->left.gpus; g++) {
            n->left.milli[g] = DLS_FGD_MILLI;
            n->host[g] = -1;
        }
    }
    for (int32_t j = dls_view_first_running(view); j >= 0; j = dls_view_next_running(view, j)) {
        if (dls_view_host(view, j) < 0) {
            add_host(f, view, j);
        }
    }
    for (int32_t j = dls_view_first_running(view); j >= 0; j = dls_view_next_running(view, j)) {
        const int32_t host = dls_view_host(view, j);
        dls_place_part part;
        if (host >= 0 && dls_view_nodes(view, host, &part, 1) == 1) {
            fgd_node *n = &f->node[part.node];
            share_gpu(n, gpu_of(n, host), f->kind[f->kind_of[j]].gpu_milli);
            hold(n, &f->kind[f->kind_of[j]]);
        }
    }
    for (size_t i = 0; i < f->n_nodes; i++) {
        fgd_node *n = &f->node[i];
        /* GPUs that failed are neither free nor anybody's. */
        int32_t lost = -dls_place_free(index, (int32_t)i);
        for (int32_t g = 0; g < n->left.gpus; g++) {
            lost += n->host[g] < 0;
        }
        for (int32_t g = n->left.gpus - 1; g >= 0 && lost > 0; g--) {
            if (n->host[g] < 0) {
                n->left.milli[g] = 0;
                lost--;
            }
        }
        n->version = f->was[i].version;
        n->held.fragmentation = f->was[i].held.fragmentation;
        if (memcmp(n, &f->was[i], sizeof *n) != 0) {
            changed(f, n);
        }
    }
}

/* ---- who goes where -------------------------------------------------------------------------- */

static dls_status bring_up(fgd *f, int32_t kind, dls_error *err)
{
    const dls_fgd_request *r = &f->kind[kind];
    if (!f->known[kind]) {
        DLS_TRY(dls_alloc_array(&f->known[kind], f->n_nodes + 1, sizeof **f->known, "scores", err));
    }
    score_memo *m = f->known[kind];
    for (size_t i = 0; i < f->n_nodes; i++) {
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
    return DLS_OK;
}

static uint64_t draw(fgd *f, const dls_view *view, uint64_t n)
{
    const dls_request r = {.seed = view->seed,
                           .job = (int32_t)(f->draws % INT32_MAX),
                           .attempt = (int32_t)(f->draws / INT32_MAX)};
    dls_rng rng = dls_place_random(&r);
    f->draws++;
    return dls_rng_below(&rng, n);
}

/* May the job have GPUs of its own on the node, or a part of one that others share? */
static bool allowed(const fgd *f, const dls_view *view, int32_t job, int32_t node, int32_t gpu)
{
    const fgd_node *n = &f->node[node];
    int64_t cap;
    if (gpu >= 0 && n->host[gpu] >= 0) {
        return dls_view_pool(view, job, n->left.model, &cap) ==
               dls_view_pool(view, n->host[gpu], n->left.model, &cap);
    }
    return dls_view_quota_gpus(view, job, n->left.model) >= view->gpus[job];
}

/* The GPU whose part a job would have; -1: it wants whole ones. */
static int32_t gpu_for(fgd *f, const dls_view *view, const fgd_node *n, const dls_fgd_request *r,
                       int32_t scored)
{
    int32_t fit[DLS_FGD_GPUS], n_fit = 0;
    if (r->gpu_milli == DLS_FGD_MILLI) {
        return -1;
    }
    for (int32_t g = 0; g < n->left.gpus && f->scheme->drawn; g++) {
        if (n->left.milli[g] >= r->gpu_milli) {
            fit[n_fit++] = g;
        }
    }
    return f->scheme->drawn ? fit[draw(f, view, (uint64_t)n_fit)]
           : scored >= 0    ? scored
                            : __builtin_ctz(dls_fgd_choose_gpus(&n->left, r));
}

/* The greatest score of those nodes that the job's virtual cluster allows, the first of equals, or
 * one that is drawn; -1: none. */
static int32_t choose_node(fgd *f, const dls_view *view, int32_t job)
{
    const dls_fgd_request *r = &f->kind[f->kind_of[job]];
    score_memo *m = f->known[f->kind_of[job]];
    double least = HUGE_VAL, most = -HUGE_VAL, best_value = -HUGE_VAL;
    int32_t best = -1, n_fit = 0;
    for (size_t i = 0; i < f->n_nodes; i++) {
        if (m[i].value > -HUGE_VAL) {
            least = fmin(least, m[i].value);
            most = fmax(most, m[i].value);
        }
    }
    for (size_t i = 0; i < f->n_nodes && most > -HUGE_VAL; i++) {
        const fgd_node *n = &f->node[i];
        const int32_t gpu = m[i].gpu >= 0 || r->gpu_milli == DLS_FGD_MILLI || f->scheme->drawn ||
                                    m[i].value == -HUGE_VAL
                                ? m[i].gpu
                                : __builtin_ctz(dls_fgd_choose_gpus(&n->left, r));
        if (m[i].value == -HUGE_VAL || !allowed(f, view, job, (int32_t)i, gpu)) {
            continue;
        }
        double value = m[i].value;
        if (f->scheme->stretched) {
            value = most > least ? floor((value - least) * 100 / (most - least)) : 0;
        }
        if (f->scheme->drawn ? draw(f, view, (uint64_t)++n_fit) == 0 : value > best_value) {
            best_value = value;
            best = (int32_t)i;
        }
    }
    return best;
}

static bool go_to(fgd *f, const dls_view *view, dls_actions *out, int32_t job, int32_t node)
{
    const dls_fgd_request *r = &f->kind[f->kind_of[job]];
    fgd_node *n = &f->node[node];
    const int32_t gpu = gpu_for(f, view, n, r, f->known[f->kind_of[job]][node].gpu);
    const dls_place_part part = {node, r->gpus};
    const dls_want want = {.type = n->left.model, .gpus = r->gpus, .nodes = &part, .n_nodes = 1};
    if (gpu >= 0 && n->host[gpu] >= 0) {
        if (!dls_act_join(out, job, n->host[gpu])) {
            return false; /* not the memory */
        }
        share_gpu(n, gpu, r->gpu_milli);
    } else {
        if (!dls_act_allocate(out, job, &want)) {
            return false;
        }
        for (int32_t k = 0; k < r->gpus; k++) { /* the engine takes the lowest that are free */
            const int32_t g = gpu_of(n, -1);
            n->host[g] = job;
            share_gpu(n, g, r->gpu_milli);
        }
    }
    hold(n, r);
    n->left.cpu_milli -= r->cpu_milli;
    n->left.mem_mib -= r->mem_mib;
    changed(f, n);
    return true;
}

/* Gangs that no node could hold are the placement's. */
static bool too_wide(const dls_view *view, int32_t job)
{
    const uint32_t types = dls_view_types(view, job);
    int32_t most = 0;
    for (int32_t t = 0; t < view->n_types; t++) {
        const int32_t size = types >> t & 1 ? dls_place_max_gpus(dls_view_index(view), t) : 0;
        most = size > most ? size : most;
    }
    return view->gpus[job] > most;
}

/* Does any node have what requests of the kind need? */
static bool fits_somewhere(const fgd *f, int32_t kind)
{
    size_t i = 0;
    while (i < f->n_nodes && f->known[kind][i].value == -HUGE_VAL) {
        i++;
    }
    return i < f->n_nodes;
}

static dls_status pass(void *state, const dls_view *view, dls_actions *out, dls_error *err)
{
    fgd *f = state;
    look(f, view);
    memset(f->stuck, 0, f->n_kinds * sizeof *f->stuck);
    for (int32_t j = dls_view_first_waiting(view), next; j >= 0; j = next) {
        const int32_t kind = f->kind_of[j];
        bool runs = false;
        next = dls_view_next_waiting(view, j);
        if (too_wide(view, j)) {
            runs = dls_start_gang(view, out, j);
            if (runs) {
                look(f, view);
            }
        } else if (!f->stuck[kind]) {
            DLS_TRY(bring_up(f, kind, err));
            const int32_t node = choose_node(f, view, j);
            runs = node >= 0 && go_to(f, view, out, j, node);
            f->stuck[kind] = !runs && !fits_somewhere(f, kind);
        }
        if (!runs && f->strict) {
            break;
        }
    }
    return DLS_OK;
}

const dls_sched_ops dls_sched_ops_fgd = {
    .abi = DLS_POLICY_ABI,
    .name = "fgd",
    .summary = "in order of submission, gangs and parts of GPUs where least is left that nobody "
               "can use (FGD)",
    .options = options,
    .state_bytes = sizeof(fgd),
    .init = init,
    .fini = fini,
    .clone = clone,
    .pass = pass,
    .admit = dls_admit_gang,
    .joins = true,
    .parts = true,
};
