/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * fair-share: virtual clusters that lend each other what they do not use, as Philly's (Jeon et al.,
 * USENIX ATC 2019, section 2.2) and the queues of YARN's capacity scheduler do. Each has a quota of
 * GPUs; its jobs are guaranteed what fits into it, in order of priority, then of submission. What
 * is left goes to the virtual cluster that holds least over its quota, which borrows it, and is
 * taken back, from whom it was lent last, when the owner's jobs need it. Inside a virtual cluster
 * nobody is preempted.
 *
 * With queues (quota_tree.h) it has its quota first, then a share of what the quotas leave, then what nobody needs.
 *
 * Quotas are the policy's: those of the cluster (`cluster.virtual_clusters`) are limits.
 */
#include "dlsim/memory.h"
#include "sched/gangs.h"
#include "sched/lines.h"
#include "sched/quota_tree.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { OPT_QUOTAS, OPT_QUEUES, OPT_INTERVAL, OPT_RECLAIM };

static const dls_option options[] = {
    [OPT_QUOTAS] = {"quotas", DLS_OPT_STR, 0, 0, "", "GPUs",
                    "\"NAME:GPUS,...\"; who is not named only borrows; empty: equal parts", NULL},
    [OPT_QUEUES] = {"queues", DLS_OPT_PATH, 0, 0, "", "",
                    "table name,parent,gpus,limit,weight,priority of virtual clusters and queues above them, in place of "
                    "quotas; what the quotas leave is divided by priority, then by weight",
                    NULL},
    [OPT_INTERVAL] = {"interval", DLS_OPT_TIME, 1, 1e7, "10 min", "",
                      "longest time between two looks; there is one whenever jobs come or end",
                      NULL},
    [OPT_RECLAIM] = {"reclaim", DLS_OPT_BOOL, 0, 0, "true", "",
                     "lent GPUs are taken back; false: they come back when their jobs end", NULL},
    {0},
};

typedef struct owner { /* a virtual cluster, or the jobs that name none */
    int32_t queue;     /* in the tree; -1: it is not there */
    double quota, used;
    bool over;        /* holds more than it may at this step */
} owner;

struct fair_share {
    dls_ledger ledger;
    const char *quotas; /* borrowed */
    bool reclaim;
    dls_quota_tree tree;
    owner *owner; /* [n], owned */
    int32_t *of_vc; /* [n_vcs + 1], owned: the owner of a code, behind those of jobs that name none */
    size_t n, cap, n_vcs;
    dls_lines lines;  /* a group for each owner, by priority */
    int32_t *running; /* in a round, as all below */
    bool *taken;      /* of the running ones */
    size_t n_running;
};

/* ---- quotas ---------------------------------------------------------------------------------- */

/* The first entry of a name; NULL: there is none. */
static const char *entry_of(const char *quotas, const char *name, size_t length)
{
    for (const char *at = quotas; *at;) {
        const size_t word = strcspn(at, ",");
        const size_t colon = strcspn(at, ":");
        if (colon == length && colon < word && strncmp(at, name, length) == 0) {
            return at;
        }
        at += word + (at[word] == ',');
    }
    return NULL;
}

/* What the option says of a name; -1: nothing. */
static double quota_of(const char *quotas, const char *name)
{
    const char *entry = entry_of(quotas, name, strlen(name));
    return entry ? strtod(entry + strlen(name) + 1, NULL) : -1;
}

static dls_status check_quotas(const char *quotas, int64_t total, dls_error *err)
{
    double sum = 0;
    for (const char *at = quotas; *at;) {
        char *end = NULL;
        const size_t word = strcspn(at, ","), colon = strcspn(at, ":");
        const double gpus = colon > 0 && colon < word ? strtod(at + colon + 1, &end) : -1;
        if (!(gpus >= 0) || !isfinite(gpus) || end == at + colon + 1 || end != at + word) {
            return dls_fail(err, DLS_ECONFIG, "scheduler.quotas",
                            "expected NAME:GPUS, found \"%.*s\"", (int)word, at);
        }
        if (entry_of(quotas, at, colon) != at) {
            return dls_fail(err, DLS_ECONFIG, "scheduler.quotas", "%.*s is there twice", (int)colon, at);
        }
        sum += gpus;
        at += word + (at[word] == ',');
    }
    if (sum > (double)total) {
        return dls_fail(err, DLS_ECONFIG, "scheduler.quotas",
                        "quotas of %.0f GPUs on a cluster of %lld", sum, (long long)total);
    }
    return DLS_OK;
}

static dls_status find_owners(struct fair_share *s, const dls_view *view, dls_error *err)
{
    for (int32_t j = 0; view->vc && j < view->n_jobs; j++) {
        s->n_vcs = view->vc[j] >= (int32_t)s->n_vcs ? (size_t)view->vc[j] + 1 : s->n_vcs;
    }
    DLS_TRY(dls_alloc_array(&s->of_vc, s->n_vcs + 1, sizeof *s->of_vc, "virtual clusters", err));
    memset(s->of_vc, -1, (s->n_vcs + 1) * sizeof *s->of_vc);
    for (int32_t j = 0; j < view->n_jobs; j++) {
        const int32_t vc = view->vc ? view->vc[j] : -1;
        if (s->of_vc[vc + 1] < 0) {
            DLS_TRY(dls_grow(&s->owner, &s->cap, s->n + 1, sizeof *s->owner, err));
            const char *name = dls_view_name(view, DLS_NAME_VC, vc);
            const int32_t queue = dls_quota_find(&s->tree, name);
            const double said = queue < 0 ? quota_of(s->quotas, name) : s->tree.at[queue].own;
            s->of_vc[vc + 1] = (int32_t)s->n;
            s->owner[s->n++] = (owner){.queue = queue, .quota = fmax(said, 0)};
        }
    }
    for (size_t i = 0; i < s->n && !*s->quotas && s->tree.n == 0; i++) {
        s->owner[i].quota = (double)view->total_gpus / (double)s->n;
    }
    return DLS_OK;
}

static dls_status init(void *state, const dls_view *view, const dls_option_value *values,
                       dls_error *err)
{
    struct fair_share *s = state;
    *s = (struct fair_share){
        .ledger = {.interval_us = llround(values[OPT_INTERVAL].f * 1e6), .on_events = true},
        .quotas = values[OPT_QUOTAS].s,
        .reclaim = values[OPT_RECLAIM].b};
    DLS_TRY(check_quotas(s->quotas, view->total_gpus, err));
    const char *queues = values[OPT_QUEUES].s;
    if (*queues && *s->quotas) {
        return dls_fail(err, DLS_ECONFIG, "scheduler.queues", "has the quotas: 'scheduler.quotas' is to be empty");
    }
    if (*queues) {
        DLS_TRY(dls_quota_shares_read(&s->tree, queues, err));
    }
    return find_owners(s, view, err);
}

static void fini(void *state)
{
    struct fair_share *s = state;
    dls_quota_tree_fini(&s->tree);
    dls_lines_fini(&s->lines);
    DLS_FREE_ALL(s->owner, s->of_vc);
    dls_scratch_fini(s);
}

static dls_status clone(void *state, const void *from, const dls_view *view, dls_error *err)
{
    const struct fair_share *of = from;
    struct fair_share *s = state;
    DLS_TRY(dls_scratch_clone(s, from, view, err));
    s->lines = (dls_lines){0};
    s->tree = (dls_quota_tree){0};
    s->cap = of->n;
    DLS_TRY(DLS_COPY_ALL(err, DLS_COPY(s->owner, of->n, of->n), DLS_COPY(s->of_vc, of->n_vcs + 1, of->n_vcs + 1)));
    DLS_TRY(dls_lines_clone(&s->lines, &of->lines, view, err));
    return dls_quota_tree_clone(&s->tree, &of->tree, err);
}

/* ---- a round --------------------------------------------------------------------------------- */

static owner *owner_of(struct fair_share *s, const dls_view *view, int32_t job)
{
    return &s->owner[s->of_vc[view->vc ? view->vc[job] + 1 : 0]];
}

static void ask(void *user, const dls_view *view, int32_t job, dls_line_ask *out)
{
    struct fair_share *s = user;
    out->group = (int32_t)(owner_of(s, view, job) - s->owner);
    out->key = view->priority ? ~view->priority[job] : 0;
}

static dls_status list_jobs(struct fair_share *s, const dls_view *view, dls_error *err)
{
    const size_t running = (size_t)view->running_jobs + 1;
    dls_scratch *scratch = &s->ledger.scratch;
    DLS_TRY(dls_scratch_array(scratch, 1, &s->running, running, sizeof *s->running, err));
    DLS_TRY(dls_scratch_array(scratch, 2, &s->taken, running, sizeof *s->taken, err));
    s->n_running = 0;
    for (int32_t j = dls_view_first_running(view); j >= 0; j = dls_view_next_running(view, j)) {
        s->taken[s->n_running] = false;
        s->running[s->n_running++] = j;
    }
    for (size_t i = 0; i < s->n; i++) {
        s->owner[i].used = 0;
    }
    return dls_lines_begin(&s->lines, view, ask, s, err);
}

/* What is more than the limits of its queue would wait for ever. */
static bool admit(void *state, const dls_view *view, int32_t job)
{
    struct fair_share *s = state;
    const owner *o = owner_of(s, view, job);
    return o->queue < 0 || view->gpus[job] <= dls_quota_most(&s->tree, o->queue);
}

/* How many GPUs more an owner may have: of its quota, of its share, up to its limit (dls_quota_free); one that is not in the tree
 * borrows from everybody in the last step. */
static double may_have(const struct fair_share *s, const owner *o, int32_t step)
{
    if (o->queue >= 0) {
        return step <= s->tree.steps ? dls_quota_free(&s->tree, o->queue, step) : 0;
    }
    return step == 0 ? o->quota - o->used : step > s->tree.steps ? (double)INFINITY : 0;
}

static void use(struct fair_share *s, owner *o, int32_t gpus)
{
    o->used += gpus;
    if (o->queue >= 0) {
        dls_quota_use(&s->tree, o->queue, gpus);
    }
}

/* Running jobs that may stay at that step, the eldest first; of a queue of a tree no younger one than one that may not. */
static void keep(struct fair_share *s, const dls_view *view, dls_plan *plan, int32_t step)
{
    for (size_t i = 0; i < s->n; i++) {
        s->owner[i].over = false;
    }
    for (size_t i = 0; i < s->n_running; i++) {
        const int32_t job = s->running[i], type = view->held_type[job],
                      gpus = view->held_gpus[job];
        owner *o = owner_of(s, view, job);
        if (!s->taken[i] && !(o->over && s->tree.shares) && (!s->reclaim || gpus <= may_have(s, o, step) + 1e-9) &&
            (step == 0 || dls_view_host(view, job) >= 0 || dls_ledger_room(&s->ledger, view, job, type) >= gpus)) {
            dls_ledger_keep(&s->ledger, view, job);
            use(s, o, gpus);
            dls_plan_keep(plan, job);
            s->taken[i] = true;
        }
        o->over |= !s->taken[i];
    }
}

/* Start the first of an owner's waiting jobs that fits; false: none does at this step. */
static dls_status start(struct fair_share *s, const dls_view *view, dls_plan *plan, owner *o,
                        int32_t step, bool *starts, dls_error *err)
{
    *starts = false;
    for (int32_t job; !*starts && (job = dls_lines_first(&s->lines, view, (int32_t)(o - s->owner))) >= 0;) {
        const int32_t type = view->gpus[job] <= may_have(s, o, step) + 1e-9
                                 ? dls_ledger_type(&s->ledger, view, job)
                                 : -1;
        if (type >= 0) {
            const dls_want want = {.type = type};
            dls_ledger_take(&s->ledger, view, job, type, view->gpus[job]);
            dls_plan_set(plan, job, &want);
            use(s, o, view->gpus[job]);
            dls_lines_take(&s->lines, job);
            *starts = true;
        } else {
            dls_lines_close(&s->lines, job);
        }
    }
    return DLS_OK;
}

/* What part of its quota it holds; who has none comes last. */
static double part_of(const owner *o)
{
    return o->quota > 0 ? o->used / o->quota : 1e12 + o->used;
}

/* Who holds least over its quota, or of its share. */
static bool before(const struct fair_share *s, const owner *a, const owner *b)
{
    if (s->tree.shares && (a->queue >= 0 || b->queue >= 0)) {
        return a->queue >= 0 && (b->queue < 0 || dls_quota_before(&s->tree, a->queue, b->queue));
    }
    return part_of(a) < part_of(b);
}

static int by_part(const void *x, const void *y)
{
    owner *const *a = x, *const *b = y;
    const double p = part_of(*a), q = part_of(*b);
    return p != q ? (p < q ? -1 : 1) : (*a > *b) - (*a < *b);
}

static bool may_ask(struct fair_share *s, const dls_view *view, const owner *o, int32_t step)
{
    return !(o->over && step < s->tree.steps) && dls_lines_first(&s->lines, view, (int32_t)(o - s->owner)) >= 0;
}

/* What is left, one job at a time; who holds more than its share has none of it. In a tree what one gets moves others, too. */
static dls_status lend_shares(struct fair_share *s, const dls_view *view, dls_plan *plan, int32_t step, dls_error *err)
{
    for (owner *least = s->owner; least && dls_ledger_any(&s->ledger, view);) {
        bool starts;
        least = NULL;
        for (size_t i = 0; i < s->n; i++) {
            owner *o = &s->owner[i];
            least = may_ask(s, view, o, step) && (!least || before(s, o, least)) ? o : least;
        }
        if (least) {
            DLS_TRY(start(s, view, plan, least, step, &starts, err));
        }
    }
    return DLS_OK;
}

/* The same by quotas: who gets something goes back among those that have got more. */
static dls_status lend(struct fair_share *s, const dls_view *view, dls_plan *plan, int32_t step, dls_error *err)
{
    owner **asks;
    size_t n = 0;
    DLS_TRY(dls_scratch_array(&s->ledger.scratch, 3, &asks, s->n, sizeof *asks, err));
    for (size_t i = 0; i < s->n; i++) {
        if (may_ask(s, view, &s->owner[i], step)) {
            asks[n++] = &s->owner[i];
        }
    }
    dls_sort(asks, n, sizeof *asks, by_part);
    for (size_t i = 0; i < n && dls_ledger_any(&s->ledger, view);) {
        owner *o = asks[i];
        bool starts;
        DLS_TRY(start(s, view, plan, o, step, &starts, err));
        if (!starts) {
            i++;
            continue;
        }
        size_t k = i;
        for (; k + 1 < n && by_part(&o, &asks[k + 1]) > 0; k++) {
            asks[k] = asks[k + 1];
        }
        asks[k] = o;
    }
    return DLS_OK;
}

/* Everybody's share of the GPUs that work. Whom the placement made a guest runs, and waits in no line. */
static void divide(struct fair_share *s, const dls_view *view)
{
    double gpus = 0;
    for (int32_t t = 0; t < view->n_types; t++) {
        gpus += (double)s->ledger.left[t];
    }
    for (size_t i = 0; i < s->n_running; i++) {
        const int32_t job = s->running[i], queue = owner_of(s, view, job)->queue;
        if (dls_lines_has(&s->lines, job)) {
            dls_lines_take(&s->lines, job);
        }
        if (queue >= 0) {
            dls_quota_ask(&s->tree, queue, view->held_gpus[job]);
        }
    }
    for (size_t i = 0; i < s->lines.n; i++) {
        const dls_line *line = &s->lines.line[i];
        const int32_t queue = s->owner[line->ask.group].queue;
        if (queue >= 0 && line->jobs > 0) {
            dls_quota_ask(&s->tree, queue, (double)(line->jobs * line->ask.gpus));
        }
    }
    dls_quota_divide(&s->tree, gpus);
}

/* First everybody's own quota, then its share, then what is left. */
static dls_status round_(void *state, const dls_view *view, dls_plan *plan, dls_error *err)
{
    struct fair_share *s = state;
    DLS_TRY(dls_ledger_begin(&s->ledger, view, err));
    DLS_TRY(list_jobs(s, view, err));
    dls_quota_clear(&s->tree);
    if (s->tree.shares) {
        divide(s, view);
    }
    for (int32_t step = 0; step <= s->tree.steps + 1; step++) {
        dls_lines_open(&s->lines);
        keep(s, view, plan, step);
        for (size_t i = 0; i < s->n && step == 0 && !s->tree.shares; i++) {
            for (bool starts = !s->owner[i].over; starts;) { /* who holds more than its quota gets no more of it */
                DLS_TRY(start(s, view, plan, &s->owner[i], 0, &starts, err));
            }
        }
        if (step > 0 || s->tree.shares) {
            DLS_TRY((s->tree.shares ? lend_shares : lend)(s, view, plan, step, err));
        }
    }
    return DLS_OK;
}

const dls_sched_ops dls_sched_ops_fair_share = {
    .abi = DLS_POLICY_ABI,
    .name = "fair-share",
    .summary = "virtual clusters with quotas lend each other what is idle and take it back",
    .options = options,
    .state_bytes = sizeof(struct fair_share),
    .init = init,
    .fini = fini,
    .clone = clone,
    .round = round_,
    .timing = dls_ledger_timing,
    .rigid = true,
    .admit = admit,
};
