/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * kueue: the queueing of Kubernetes' Kueue (https://kueue.sigs.k8s.io). Virtual clusters are ClusterQueues in Cohorts, of one resource, GPUs.
 * In cycles the first of every queue is looked at: those that borrow least first, then by priority and submission, or by
 * fair sharing whose queue would borrow least for its weight; who fits is admitted, who does not preempts by the policies
 * of its queue (sched/kueue_preempt.h), or lets others of its queue pass (BestEffortFIFO) or not. Who has been admitted
 * has its quota until it ends or is preempted, whatever others have then.
 */
#include "dlsim/memory.h"
#include "sched/gangs.h"
#include "sched/kueue_preempt.h"
#include "sched/lines.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { OPT_COHORTS, OPT_FAIR, OPT_INTERVAL };

static const dls_option options[] = {
    [OPT_COHORTS] = {"cohorts", DLS_OPT_PATH, 0, 0, "", "",
                     "table name,parent,gpus,borrow,lend[,weight,within,reclaim,borrowing,order] of virtual clusters and "
                     "cohorts; who is not named gets what is left, in order of priority and submission",
                     NULL},
    [OPT_FAIR] = {"fair_sharing", DLS_OPT_STR, 0, 0, "none", "",
                  "none, or preemption by LessThanOrEqualToFinalShare, LessThanInitialShare or both, in this order",
                  "none|final|initial|both"},
    [OPT_INTERVAL] = {"interval", DLS_OPT_TIME, 1, 1e7, "10 min", "",
                      "longest time between two looks; there is one whenever jobs come or end", NULL},
    {0},
};

typedef struct line { /* of the jobs of a ClusterQueue that wait */
    dls_kueue_load first; /* of them */
    bool done;          /* all have been passed over */
    int32_t level;      /* height of the cohort in which its first needs not borrow, 0: it needs not borrow */
    bool fits, hopes;   /* its first, when the cycle began; would if others gave way */
    bool stuck;         /* found that it cannot start, and nobody passes it */
    bool asks;          /* is in this cycle, not looked at yet */
    uint64_t failed_at; /* the state in which gangs of these types had no chance, nor could anybody have given way for them .. */
    uint32_t failed_types;
    double failed_gpus; /* .. who had so many GPUs, or more */
    size_t target, n_targets;      /* who would give way for the first, if it hopes */
} line;

struct kueue {
    dls_ledger ledger;
    dls_kueue_fair fair;
    dls_quota_tree tree;
    int32_t *queue; /* [vcs + 1] in the tree, behind -1: jobs that name none */
    size_t n_vcs;
    dls_kueue_search search;        /* in a round, as all below */
    dls_lines lines;                /* those that wait, a group for each queue, one more for those of none */
    dls_kueue_load *load;           /* [n_load] who runs, and who has been admitted */
    size_t n_running;               /* the first of them */
    int32_t *again;                 /* [n_again] jobs that are to stand in line when somebody gave way */
    line *line;                     /* [tree.n] */
    double *reserved;               /* [tree.n] in this cycle */
    size_t *target;                 /* [n_targets] of the load, who would give way: in this cycle */
    size_t n_load, n_again, n_gave_way, n_targets;
    uint64_t state;        /* grows when somebody is admitted or gives way */
    uint64_t searched;     /* the state in which all that wait were looked at */
    bool progress, hope;   /* in this cycle; somebody fits, or would if others gave way */
    bool vain;             /* what make_room found */
    bool preempts;         /* somebody gave way in this round */
};

/* ---- set up ---------------------------------------------------------------------------------- */

static dls_status find_queues(struct kueue *s, const dls_view *view, dls_error *err)
{
    for (int32_t j = 0; view->vc && j < view->n_jobs; j++) {
        s->n_vcs = view->vc[j] >= (int32_t)s->n_vcs ? (size_t)view->vc[j] + 1 : s->n_vcs;
    }
    size_t cap = 0;
    DLS_TRY(dls_grow(&s->queue, &cap, s->n_vcs + 1, sizeof *s->queue, err));
    for (size_t i = 0; i <= s->n_vcs; i++) {
        const int32_t vc = (int32_t)i - 1;
        const int32_t at = vc < 0 ? -1 : dls_quota_find(&s->tree, dls_view_name(view, DLS_NAME_VC, vc));
        s->queue[i] = at >= 0 && s->tree.at[at].first < 0 ? at : -1;
    }
    return DLS_OK;
}

static dls_status init(void *state, const dls_view *view, const dls_option_value *values, dls_error *err)
{
    struct kueue *s = state;
    *s = (struct kueue){
        .ledger = {.interval_us = llround(values[OPT_INTERVAL].f * 1e6), .on_events = true},
        .fair = (dls_kueue_fair)values[OPT_FAIR].i};
    if (*values[OPT_COHORTS].s) {
        DLS_TRY(dls_quota_cohorts_read(&s->tree, values[OPT_COHORTS].s, err));
    }
    return find_queues(s, view, err);
}

static void fini(void *state)
{
    struct kueue *s = state;
    dls_quota_tree_fini(&s->tree);
    dls_kueue_search_fini(&s->search);
    dls_lines_fini(&s->lines);
    dls_free(s->queue);
    dls_scratch_fini(s);
}

static dls_status clone(void *state, const void *from, const dls_view *view, dls_error *err)
{
    const struct kueue *of = from;
    struct kueue *s = state;
    DLS_TRY(dls_scratch_clone(s, from, view, err));
    s->search = (dls_kueue_search){0};
    s->lines = (dls_lines){0};
    s->tree = (dls_quota_tree){0};
    DLS_TRY(dls_duplicate(&s->queue, of->queue, of->n_vcs + 1, of->n_vcs + 1, sizeof *s->queue, err));
    DLS_TRY(dls_lines_clone(&s->lines, &of->lines, view, err));
    return dls_quota_tree_clone(&s->tree, &of->tree, err);
}

/* ---- who is there ---------------------------------------------------------------------------- */

static dls_kueue_load load_of(const struct kueue *s, const dls_view *view, int32_t job)
{
    return (dls_kueue_load){.job = job,
                            .queue = s->queue[view->vc ? view->vc[job] + 1 : 0],
                            .type = view->held_type[job],
                            .gpus = view->running[job] ? view->held_gpus[job] : view->gpus[job],
                            .priority = view->priority ? view->priority[job] : 0,
                            .submit_us = view->submit_us[job],
                            .since_us = view->since_us[job]};
}

/* By priority and submission. */
static void ask(void *user, const dls_view *view, int32_t job, dls_line_ask *out)
{
    const struct kueue *s = user;
    const dls_kueue_load of = load_of(s, view, job);
    out->group = of.queue < 0 ? (int32_t)s->tree.n : of.queue;
    out->key = ~of.priority;
}

static dls_status look_again(struct kueue *s, int32_t job, dls_error *err)
{
    DLS_TRY(dls_scratch_array(&s->ledger.scratch, 2, &s->again, s->n_again + 1, sizeof *s->again, err));
    s->again[s->n_again++] = job;
    return DLS_OK;
}

/* Kueue would let it wait for ever. */
static bool can_have(void *state, const dls_view *view, int32_t job)
{
    const struct kueue *s = state;
    const dls_kueue_load of = load_of(s, view, job);
    return of.queue < 0 || of.gpus <= dls_quota_most(&s->tree, of.queue);
}

static dls_status list_jobs(struct kueue *s, const dls_view *view, dls_error *err)
{
    const size_t running = (size_t)view->running_jobs + 1;
    const size_t nodes = s->tree.n + 1;
    dls_scratch *scratch = &s->ledger.scratch;
    DLS_TRY(dls_scratch_array(scratch, 1, &s->load, running, sizeof *s->load, err));
    DLS_TRY(dls_scratch_array(scratch, 3, &s->line, nodes, sizeof *s->line, err));
    DLS_TRY(dls_scratch_array(scratch, 4, &s->reserved, nodes, sizeof *s->reserved, err));
    DLS_TRY(dls_ledger_begin(&s->ledger, view, err));
    s->n_load = s->n_running = s->n_again = s->n_gave_way = 0;
    dls_quota_clear(&s->tree);
    for (int32_t j = dls_view_first_running(view); j >= 0; j = dls_view_next_running(view, j)) {
        dls_kueue_load *of = &s->load[s->n_load++];
        *of = load_of(s, view, j);
        of->fixed = of->queue < 0;
        dls_ledger_keep(&s->ledger, view, j);
        if (!of->fixed) {
            dls_quota_use(&s->tree, of->queue, of->gpus);
        }
    }
    s->n_running = s->n_load;
    memset(s->line, 0, s->tree.n * sizeof *s->line);
    s->state++;
    s->preempts = s->lines.running = false;
    return dls_lines_begin(&s->lines, view, ask, s, err);
}

/* ---- a cycle --------------------------------------------------------------------------------- */

static bool has_quota(const struct kueue *s, const dls_kueue_load *of)
{
    return of->gpus <= dls_quota_free(&s->tree, of->queue, s->tree.steps);
}

/* The queue or lowest cohort within whose quota it is, else the top. */
static const dls_quota *lowest(const dls_quota_tree *t, const dls_kueue_load *of)
{
    const dls_quota *q = &t->at[of->queue];
    for (double rest = of->gpus; q->parent >= 0 && q->used + rest > q->all; q = &t->at[q->parent]) {
        rest -= fmin(rest, fmax(0, q->kept - q->used));
    }
    return q;
}

/* Kueue looks for jobs to preempt: who need not borrow, or not from the top, and whose queue's policies let it borrow all the
 * same. */
static bool may_preempt(const struct kueue *s, const dls_kueue_load *of)
{
    const dls_quota *q = &s->tree.at[of->queue];
    return of->gpus <= q->most &&
           (of->gpus <= q->own || lowest(&s->tree, of)->parent >= 0 || q->within != DLS_QUOTA_NEVER || q->borrows ||
            (s->fair != DLS_KUEUE_UNFAIR && q->reclaim != DLS_QUOTA_NEVER));
}

static bool earlier(const dls_kueue_load *a, const dls_kueue_load *b)
{
    return a->priority != b->priority ? a->priority > b->priority : a->job < b->job;
}

/* Gave way in this round before. */
static bool gave_way(const struct kueue *s, int32_t job)
{
    size_t i = s->preempts ? 0 : s->n_load;
    while (i < s->n_load && !(s->load[i].job == job && s->load[i].gone)) {
        i++;
    }
    return i < s->n_load;
}

/* Who is first in the open lines of a queue now; -1: nobody. */
static int32_t first_of(struct kueue *s, const dls_view *view, int32_t queue)
{
    int32_t job;
    while ((job = dls_lines_first(&s->lines, view, queue)) >= 0 && view->running[job] && !gave_way(s, job)) {
        dls_lines_take(&s->lines, job); /* started since it came into line, or as a guest */
    }
    return job;
}

/* Those that gave way have none of the GPUs any more, or again; a guest has none anyway. */
static void give_back(struct kueue *s, const dls_view *view, int sign)
{
    for (size_t i = 0; i < s->n_load; i++) {
        const dls_kueue_load *of = &s->load[i];
        if (of->gone && !of->fixed && dls_view_host(view, of->job) < 0) {
            dls_ledger_take(&s->ledger, view, of->job, of->type, -sign * (int64_t)of->gpus);
        }
    }
}

static void undo_room(struct kueue *s, const dls_view *view)
{
    give_back(s, view, -1);
    dls_kueue_restore(&s->search, &s->tree, s->load);
}

/* Others give way, if that helps. s->vain: nor could any for a larger one behind it in its queue. There may be fewer for that,
 * but not others, and they are taken in the same order: but by shares, or where the order is not that of who may be taken. */
static dls_status make_room(struct kueue *s, const dls_view *view, const dls_kueue_load *of, bool *made, dls_error *err)
{
    *made = false;
    s->vain = true;
    if (may_preempt(s, of)) {
        DLS_TRY(dls_kueue_preempt(&s->search, &s->tree, s->load, s->n_load, of, s->fair, made, err));
        s->vain = s->search.n == 0 || (!*made && s->fair == DLS_KUEUE_UNFAIR &&
                                       s->tree.at[of->queue].reclaim != DLS_QUOTA_NEWER);
    }
    if (*made) {
        give_back(s, view, 1);
        *made = dls_ledger_type(&s->ledger, view, of->job) >= 0;
        if (!*made) { /* room of other types alone */
            undo_room(s, view);
        }
    }
    return DLS_OK;
}

/* One of its queue before it, not larger, had no chance, and nothing has changed since. */
static bool is_known(const struct kueue *s, const dls_view *view, const line *l)
{
    return l->failed_at == s->state && l->failed_types == dls_view_types(view, l->first.job) &&
           l->first.gpus >= l->failed_gpus;
}

/* Who gives way now. */
static dls_status note_targets(struct kueue *s, line *l, dls_error *err)
{
    l->target = s->n_targets;
    DLS_TRY(dls_scratch_array(&s->ledger.scratch, 5, &s->target, s->n_targets + s->search.n_taken, sizeof *s->target, err));
    l->n_targets = dls_kueue_targets(&s->search, s->target + s->n_targets);
    s->n_targets += l->n_targets;
    return DLS_OK;
}

/* Whether the first of a queue can be admitted, and how far it borrows then. */
static dls_status judge(struct kueue *s, const dls_view *view, line *l, dls_error *err)
{
    l->fits = l->hopes = s->vain = false;
    if (!is_known(s, view, l)) {
        l->fits = has_quota(s, &l->first) && dls_ledger_type(&s->ledger, view, l->first.job) >= 0;
        DLS_TRY(l->fits ? DLS_OK : make_room(s, view, &l->first, &l->hopes, err));
        if (s->vain) {
            l->failed_at = s->state;
            l->failed_types = dls_view_types(view, l->first.job);
            l->failed_gpus = l->first.gpus;
        }
    }
    l->level = lowest(&s->tree, &l->first)->height;
    if (l->hopes) {
        DLS_TRY(note_targets(s, l, err));
        undo_room(s, view);
    }
    return DLS_OK;
}

/* Whether anybody has a chance: the first of a line, if any of it. Else all that there is to find out is known. */
static dls_status look_for_hope(struct kueue *s, const dls_view *view, bool *any, dls_error *err)
{
    *any = false;
    for (size_t i = 0; i < s->tree.n && !*any; i++) {
        line l = s->line[i];
        for (int32_t job; !s->tree.at[i].strict && !*any && (job = first_of(s, view, (int32_t)i)) >= 0;) {
            l.first = load_of(s, view, job);
            DLS_TRY(judge(s, view, &l, err));
            *any = l.fits || l.hopes;
            dls_lines_close(&s->lines, job);
        }
    }
    dls_lines_open(&s->lines);
    s->searched = s->state;
    return DLS_OK;
}

/* The first of every queue asks. */
static dls_status nominate(struct kueue *s, const dls_view *view, bool *any, dls_error *err)
{
    *any = s->hope = false;
    s->n_targets = 0;
    for (size_t i = 0; i < s->tree.n; i++) {
        line *l = &s->line[i];
        const int32_t job = l->done ? -1 : first_of(s, view, (int32_t)i);
        s->reserved[i] = 0;
        l->asks = job >= 0;
        l->done = !l->asks;
        if (l->asks) {
            l->stuck = l->stuck && l->first.job == job;
            l->first = load_of(s, view, job);
            DLS_TRY(judge(s, view, l, err));
            s->hope |= l->fits || l->hopes;
            *any = true;
        }
    }
    return DLS_OK;
}

static int32_t next_by_level(const struct kueue *s)
{
    int32_t best = -1;
    for (int32_t i = 0; i < (int32_t)s->tree.n; i++) {
        const line *l = &s->line[i], *b = best < 0 ? NULL : &s->line[best];
        if (l->asks && (!b || l->level < b->level ||
                        (l->level == b->level && earlier(&l->first, &b->first)))) {
            best = i;
        }
    }
    return best;
}

/* A member's share of its cohort when the first of a queue below it is admitted. */
static double share_with(struct kueue *s, int32_t member, int32_t queue)
{
    const double gpus = s->line[queue].first.gpus;
    dls_quota_use(&s->tree, queue, gpus);
    const double share = dls_kueue_share(&s->tree, member);
    dls_quota_use(&s->tree, queue, -gpus);
    return share;
}

/* Of the queues at or below a node that whose member's share is least, level by level; -1: none asks. */
static int32_t next_by_share(struct kueue *s, int32_t node)
{
    int32_t best = s->line[node].asks ? node : -1;
    double least = 0;
    for (int32_t c = s->tree.at[node].first; c >= 0; c = s->tree.at[c].next) {
        const int32_t queue = next_by_share(s, c);
        if (queue >= 0) {
            const double share = share_with(s, c, queue);
            if (best < 0 || share < least ||
                (share == least && earlier(&s->line[queue].first, &s->line[best].first))) {
                best = queue;
                least = share;
            }
        }
    }
    return best;
}

static int32_t next_queue(struct kueue *s)
{
    int32_t best = -1;
    if (s->fair == DLS_KUEUE_UNFAIR) {
        return next_by_level(s);
    }
    for (int32_t top = s->tree.first; top >= 0 && best < 0; top = s->tree.at[top].next) {
        best = next_by_share(s, top);
    }
    return best;
}

/* Those that gave way wait again; nobody makes them give way twice. */
static dls_status requeue(struct kueue *s, dls_error *err)
{
    for (size_t i = 0; i < s->n_load; i++) {
        dls_kueue_load *of = &s->load[i];
        if (of->gone && !of->fixed) {
            of->fixed = s->preempts = true;
            s->state++;
            s->n_gave_way++;
            DLS_TRY(look_again(s, of->job, err));
        }
    }
    return DLS_OK;
}

static dls_status admit(struct kueue *s, const dls_view *view, line *l, dls_error *err)
{
    dls_kueue_load of = l->first;
    of.type = dls_ledger_type(&s->ledger, view, of.job);
    of.since_us = view->now_us;
    of.fixed = gave_way(s, of.job);
    DLS_TRY(dls_scratch_array(&s->ledger.scratch, 1, &s->load, s->n_load + 1, sizeof *s->load, err));
    s->load[s->n_load++] = of;
    dls_ledger_take(&s->ledger, view, of.job, of.type, (int64_t)of.gpus);
    dls_quota_use(&s->tree, of.queue, of.gpus);
    s->state++;
    l->stuck = false;
    dls_lines_take(&s->lines, of.job);
    return DLS_OK;
}

/* What it cannot have is kept from those who could not be made to give it back later, until the cycle ends. */
static void reserve(struct kueue *s, const dls_kueue_load *of, const line *l)
{
    const dls_quota *q = &s->tree.at[of->queue];
    const double most = l->level > 0 ? q->own + q->borrow : q->own;
    const double gpus = fmin(of->gpus, most - q->used);
    if (q->reclaim != DLS_QUOTA_ANY && gpus > 0 && may_preempt(s, of)) {
        s->reserved[of->queue] = gpus;
        dls_quota_use(&s->tree, of->queue, gpus);
    }
}

static void put_targets(struct kueue *s, const line *l, bool gone)
{
    for (size_t i = 0; i < l->n_targets; i++) {
        dls_kueue_put(&s->tree, &s->load[s->target[l->target + i]], gone);
    }
}

/* Those who were found for the first of a queue when the cycle began give way, if none has done so for another since and it
 * still fits then; else it asks again in the next cycle. */
static bool take_targets(struct kueue *s, const dls_view *view, const line *l)
{
    for (size_t i = 0; i < l->n_targets; i++) {
        if (s->load[s->target[l->target + i]].gone) {
            return false;
        }
    }
    put_targets(s, l, true);
    give_back(s, view, 1);
    if (has_quota(s, &l->first) && dls_ledger_type(&s->ledger, view, l->first.job) >= 0) {
        return true;
    }
    give_back(s, view, -1);
    put_targets(s, l, false);
    return false;
}

/* The first of a queue has no chance: it keeps the queue, or lets others pass. */
static dls_status pass_over(struct kueue *s, int32_t queue, dls_error *err)
{
    line *l = &s->line[queue];
    l->asks = false;
    s->progress |= !l->stuck;
    l->stuck = s->tree.at[queue].strict;
    if (!l->stuck) {
        dls_lines_take(&s->lines, l->first.job);
    }
    return l->stuck ? DLS_OK : look_again(s, l->first.job, err);
}

static dls_status process(struct kueue *s, const dls_view *view, int32_t queue, dls_error *err)
{
    line *l = &s->line[queue];
    const dls_kueue_load *of = &l->first;
    const bool fits = has_quota(s, of) && dls_ledger_type(&s->ledger, view, of->job) >= 0;
    const bool made = !fits && l->hopes && take_targets(s, view, l);
    l->asks = false;
    DLS_TRY(made ? requeue(s, err) : DLS_OK);
    if (fits || made) {
        DLS_TRY(admit(s, view, l, err));
        s->progress = true;
    } else if (!l->fits && !l->hopes) { /* else it is looked at again */
        reserve(s, of, l);
        DLS_TRY(pass_over(s, queue, err));
    }
    return DLS_OK;
}

static dls_status cycle(struct kueue *s, const dls_view *view, dls_error *err)
{
    s->progress = false;
    for (size_t i = 0; i < s->tree.n && !s->hope; i++) { /* nothing can change, in whatever order they are looked at */
        DLS_TRY(s->line[i].asks ? pass_over(s, (int32_t)i, err) : DLS_OK);
    }
    for (int32_t queue; s->hope && (queue = next_queue(s)) >= 0;) {
        DLS_TRY(process(s, view, queue, err));
    }
    for (size_t i = 0; i < s->tree.n && s->hope; i++) {
        dls_quota_use(&s->tree, (int32_t)i, -s->reserved[i]);
    }
    return DLS_OK;
}

/* Who has been passed over stands in line, and who gave way; *more: there are such. */
static dls_status wait_again(struct kueue *s, const dls_view *view, bool *more, dls_error *err)
{
    *more = s->n_gave_way > 0;
    s->lines.running = true; /* who gave way still runs in the view */
    dls_lines_open(&s->lines);
    for (size_t i = 0; i < s->n_again && *more; i++) {
        if (!dls_lines_has(&s->lines, s->again[i])) { /* a guest has stood there since before it joined */
            DLS_TRY(dls_lines_again(&s->lines, view, ask, s, s->again[i], err));
        }
    }
    s->n_again = s->n_gave_way = 0;
    memset(s->line, 0, s->tree.n * sizeof *s->line);
    s->state++;
    return DLS_OK;
}

/* Jobs of no queue take what is left, and keep it. */
static dls_status start_others(struct kueue *s, const dls_view *view, dls_plan *plan, dls_error *err)
{
    s->lines.running = false; /* none of them gives way */
    for (int32_t job; (job = dls_lines_first(&s->lines, view, (int32_t)s->tree.n)) >= 0;) {
        const dls_want want = {.type = dls_ledger_type(&s->ledger, view, job)};
        if (want.type >= 0) {
            dls_ledger_take(&s->ledger, view, job, want.type, view->gpus[job]);
            dls_plan_set(plan, job, &want);
            dls_lines_take(&s->lines, job);
        } else {
            dls_lines_close(&s->lines, job);
        }
    }
    return DLS_OK;
}

/* Who was admitted, and who goes on. */
static void make_plan(const struct kueue *s, dls_plan *plan)
{
    for (size_t i = 0; i < s->n_load; i++) {
        const dls_want want = {.type = s->load[i].type};
        if (!s->load[i].gone && i < s->n_running) {
            dls_plan_keep(plan, s->load[i].job);
        } else if (!s->load[i].gone) {
            dls_plan_set(plan, s->load[i].job, &want);
        }
    }
}

static dls_status round_(void *state, const dls_view *view, dls_plan *plan, dls_error *err)
{
    struct kueue *s = state;
    DLS_TRY(list_jobs(s, view, err));
    for (bool more = true, any; more;) {
        DLS_TRY(nominate(s, view, &any, err));
        for (s->progress = true; s->progress && any && s->n_gave_way == 0;) {
            DLS_TRY(cycle(s, view, err));
            DLS_TRY(!s->hope && s->searched != s->state ? look_for_hope(s, view, &any, err) : DLS_OK);
            DLS_TRY(s->progress && any && s->n_gave_way == 0 ? nominate(s, view, &any, err) : DLS_OK);
        }
        DLS_TRY(wait_again(s, view, &more, err));
    }
    make_plan(s, plan);
    return start_others(s, view, plan, err);
}

const dls_sched_ops dls_sched_ops_kueue = {
    .abi = DLS_POLICY_ABI,
    .name = "kueue",
    .summary = "Kueue: queues in cohorts borrow, reclaim and preempt by policies or by fair sharing",
    .options = options,
    .state_bytes = sizeof(struct kueue),
    .init = init,
    .fini = fini,
    .clone = clone,
    .round = round_,
    .timing = dls_ledger_timing,
    .rigid = true,
    .admit = can_have,
};
