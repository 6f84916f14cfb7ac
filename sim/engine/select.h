/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Who runs: the queues of an order policy and the selection over them.
 *
 * The selection is defined as a walk: look at the jobs in rank order, take what fits in the GPUs
 * that the jobs before it left. The walk itself is never made. Jobs lie in piles (or ordered sets):
 *
 *      pool (virtual cluster, or gang size)
 *        waiting   one per class: (GPU types allowed, gang size, CPU, memory)
 *        running   one per GPU type, weighted by GPUs (per gang size too if keys age with GPUs)
 *
 * Within a class all jobs ask the same, so only its head can be the next to start; whether it fits at
 * its place follows from the sum of the running jobs ranked behind it. The result of the walk is
 * reached from the last one by flips, in rank order: the first waiting job that fits at its place
 * starts; while too much is selected, the first running job that no longer fits stops.
 *
 * The heads of a pool lie in a tournament per GPU type, by gang size: the first of all gangs of at most
 * so many GPUs is found in O(log classes). If it does not fit, no larger gang behind it does, so the next
 * to look at is the first among the smaller ones: a pass looks at few heads, and costs O((1 + flips) x
 * heads looked at x (log classes + log jobs)) however many jobs wait or run. Keys that fall as jobs run
 * (remaining time) are stored as the key plus rate x now, which stays constant.
 */
#ifndef DLS_ENGINE_SELECT_H
#define DLS_ENGINE_SELECT_H

#include "base/bitmap.h"
#include "base/order.h"
#include "base/pile.h"
#include "dlsim/policy.h"
#include "cluster/cluster.h"
#include "engine/jobs.h"

/* Jobs in rank order: an ordered set where backfilling looks at all of them, else a pile, of which waiting jobs
 * are near from the front and running jobs from the back. */
typedef union dls_line {
    dls_order_set set;
    dls_pile pile;
} dls_line;

typedef struct dls_class {
    int32_t gpus;
    int32_t weight;         /* what it takes of a pool: GPUs, or thousandths of them (dls_select.unit) */
    uint32_t types;         /* bit t: may run on type t */
    int64_t cpu_milli, mem_mib; /* per GPU, 0 when not accounted */
    int32_t pool;
    int32_t size_idx;       /* which distinct gang size of the pool */
    dls_line waiting;
    int32_t head;           /* first of waiting, DLS_NONE */
    uint64_t refused_pass;  /* last pass in which the placement refused it */
    uint64_t refused_releases; /* how often GPUs had been given back then */
    uint32_t refused_types; /* on which types */
    uint64_t late_pass;     /* last pass in which it was refused what is not reserved for another */
    dls_order_set parked;   /* refused jobs that are out of the way of the next of the class */
    int32_t n_parked;
    bool closed;            /* in the pool's list of closed classes */
    int32_t next_closed;
    bool listed;            /* in the list of classes that GPUs given back may help */
    int32_t next_listed;
    uint64_t parked_releases;  /* how often GPUs had been given back when the first was parked */
} dls_class;

/* Refusals of one job, where they depend on the job and not only on its class. */
typedef struct dls_refusal {
    uint64_t pass, releases; /* as in dls_class */
    uint32_t types;
    bool parked;
} dls_refusal;

#define DLS_PARKED_MAX 8 /* of a class; one more, and the class is left alone */

typedef struct dls_pool {
    int32_t first_class, n_classes; /* classes of a pool are consecutive */
    int32_t n_sizes;
    int32_t n_running_sets;         /* per type: 1, or n_sizes */
    dls_line *running;              /* [type][n_running_sets] */
    int32_t *last;                  /* the last member of each of them, DLS_NONE */
    int32_t *first;                 /* [types, or 1][2 n_classes] tournaments of heads: root at 1, class k at
                                       n_classes + k; DLS_NONE */
    int32_t closed;                 /* classes whose head is refused on some type, as of .. */
    uint64_t closed_pass, closed_releases; /* .. this */
    int64_t cap[DLS_TYPES_MAX];     /* GPUs that the pool may hold, in units of the selection */
    int64_t most[DLS_TYPES_MAX];    /* the same while no GPU is down */
    int64_t used[DLS_TYPES_MAX];    /* GPUs of its selected jobs */
    int64_t waiting_gpus;           /* asked for by its waiting jobs */
    int32_t id;                     /* virtual cluster, their number: of none; or gang size */
} dls_pool;

/* A job that a pass has touched. */
typedef struct dls_touched {
    int32_t job;
    int32_t placed; /* GPUs placed in this pass, not yet started: list of dls_held, -1 */
    bool dropped;   /* it lost its selection; its GPUs are back in the index */
    bool changed;   /* it is in the list of what changed */
} dls_touched;

typedef struct dls_select {
    dls_order order;   /* a job is waiting, selected or in no set; the table of ranks, and the sets */
    dls_piles piles;   /* unless it backfills */
    dls_class *cls;
    int32_t n_classes;
    dls_pool *pool;
    int32_t n_pools, n_types;
    dls_bitmap dirty;  /* pools in which something changed since their last pass */
    int32_t listed;    /* classes with a refused head or parked jobs, where there are several pools; DLS_NONE */
    int32_t unit;      /* of weights, to a GPU: 1, or 1000 where jobs have parts of GPUs */
    dls_job *job; /* [jobs] the engine's: class, and type that a job is selected on */
    const int32_t *size; /* [jobs] GPUs that a job is selected for: its gang, unless jobs are elastic */
    dls_ageing ageing;
    bool ranked;       /* running sets are kept (preemption, backfilling) */
    bool preempts;
    bool backfills;
    bool resizes;      /* jobs may have other numbers of GPUs than their gang (programs and rounds) */
    bool by_type;      /* tournaments of the heads that may be tried on a type, else one of all heads */
    uint64_t heads_examined;
    uint64_t pass;     /* number of the pass */
    uint64_t releases;    /* how often GPUs have been given back */
    dls_touched *touched; /* jobs whose selection changed in this pass, in the order of the first change */
    int32_t *changed;  /* [n_touched at most] where those stand whose selection changed since GPUs were last placed */
    int32_t *stopped;  /* those of them that lose their GPUs, scratch */
    size_t n_touched, touched_cap, n_changed, changed_cap, stopped_cap;
    int32_t *cursor;   /* [most_sizes] scratch */
    int32_t most_sizes; /* gang sizes in a pool */
    uint8_t *guest;    /* [jobs] 1: runs on the GPUs of another, is in no set; NULL: without sharing of GPUs */
    dls_refusal *refusal; /* [jobs]; NULL: refusals hold for the class */
    /* Ask the caches for what starting or stopping a job will touch. */
    void (*fetch)(void *user, int32_t job);
    /* Which of some types (bits) to start a job on, -1: rather none now. NULL: the first. */
    int32_t (*choose)(void *user, int32_t job, uint32_t types);
    void *user;
} dls_select;

/* XX(member of the engine, elements, condition under which there is one) */
#define DLS_SELECT_ARRAYS(XX)                                                                      \
    XX(select.cls, e->select.n_classes, true)                                                      \
    XX(select.cursor, e->select.most_sizes, true)                                                  \
    XX(select.guest, e->n, e->guests.on)                                                           \
    XX(select.refusal, e->n, e->params->placement->by_job && !e->walk.on && e->select.by_type)

#define DLS_SELECT_LISTS(XX)                                                                       \
    XX(select.touched, 0, e->select.touched_cap)                                                   \
    XX(select.changed, 0, e->select.changed_cap)                                                   \
    XX(select.stopped, 0, e->select.stopped_cap)

/* The order and the pools; what is in the tables above is the engine's to free and to copy. */
void dls_select_fini(dls_select *s);
/* To be freed whether or not there was memory for all of it. */
dls_status dls_select_copy(dls_select *s, const dls_select *from, dls_error *err) DLS_MUST_CHECK;

/* By how much the key of a running job of so many GPUs falls per microsecond. */
static inline int64_t dls_select_slope(const dls_select *s, int32_t gpus)
{
    return s->ageing == DLS_AGE_NONE ? 0 : s->ageing == DLS_AGE_TIME ? 1 : gpus;
}

/* What a job of the class takes of its pool: its part of a GPU, or GPUs. */
static inline int64_t dls_select_weight(const dls_select *s, const dls_class *c, int32_t job)
{
    return !s->resizes || c->weight < s->unit ? c->weight : (int64_t)s->size[job] * s->unit;
}

/* Something has changed for a pool, whose next pass must not be left out. */
static inline void dls_select_mark(dls_select *s, int32_t pool)
{
    if (!dls_bitmap_has(&s->dirty, pool)) {
        dls_bitmap_set(&s->dirty, pool);
    }
}
/* GPUs given back may help a class: its head is refused, or it has parked jobs. */
static inline bool dls_select_has_refused(const dls_class *c)
{
    return c->n_parked > 0 || (c->head != DLS_NONE && c->refused_releases != UINT64_MAX);
}
/* Mark the pools of classes to which GPUs that were given back since may be offered. */
void dls_select_mark_refused(dls_select *s);

void dls_select_add_waiting(dls_select *s, int32_t job, dls_rank rank, int64_t estimate_us);
void dls_select_remove_waiting(dls_select *s, int32_t job);
/* Remove a waiting job from its class, or from the parked jobs if it is parked. */
void dls_select_take_waiting(dls_select *s, int32_t job);
/* Rank, as of now, of a job that has become a guest. */
void dls_select_set_guest_rank(dls_select *s, int32_t job, dls_rank rank, int64_t now_us);
/* rank as of now; used[type] grows. */
void dls_select_add_running(dls_select *s, int32_t job, int32_t type, dls_rank rank,
                            int64_t now_us);
void dls_select_remove_running(dls_select *s, int32_t job);
/* Ask the caches for what taking a selected job out of its set will touch. */
void dls_select_fetch(const dls_select *s, int32_t job);
/* A selected job is one of the waiting, at the rank that it has now. */
void dls_select_deselect(dls_select *s, int32_t job, int64_t now_us, int64_t estimate_us);
/* Give a waiting or selected job another rank, as of now. O(1) if it is the one it has. */
void dls_select_refile(dls_select *s, int32_t job, dls_rank rank, int64_t now_us);
/* The rank that a member has now. */
dls_rank dls_select_rank(const dls_select *s, int32_t job, int64_t now_us);
/* For qsort_r: numbers of waiting jobs, in the order in which they stand. */
int dls_select_by_rank(const void *a, const void *b, void *select);

/* The placement has refused a waiting job on a type. Its class is left alone on that type for the rest
 * of the pass, and until GPUs are given back; or the job alone is, where refusals depend on the job. */
void dls_select_refuse(dls_select *s, int32_t job, int32_t type, int64_t now_us);
void dls_select_refuse_class(dls_select *s, dls_class *c, int32_t type);
/* The head of a class, or what is refused to it, has changed. */
void dls_select_update_head(dls_select *s, dls_class *c);
/* The waiting job of the class behind one; DLS_NONE. */
int32_t dls_select_next_waiting(dls_select *s, dls_class *c, int32_t job);
/* Offer the class to the placement again. */
void dls_select_clear_refusal(dls_select *s, int32_t cls);
/* The types (bits) on which a waiting job fits by number at its place, preempting if that is the way. */
uint32_t dls_select_fits(dls_select *s, int32_t job, int64_t now_us);

/* park.c: where refusals depend on the job, one that is refused everywhere is parked, and the next of
 * its class is asked. Parked jobs are back in their places once GPUs have been given back. */
void dls_select_unpark(dls_select *s, int32_t pool);
void dls_select_refile_parked(dls_select *s, int32_t job, dls_rank rank);
void dls_select_clear_refusals_of_jobs(dls_select *s, dls_class *c);

/* Bring the selection of a pool to what the walk would give; the changes go to s->touched and s->changed. `sticky`
 * [jobs] is the type whose GPUs a job holds (-1: none): a job that is selected again in the pass that
 * dropped it prefers that type. */
dls_status dls_select_preemptive(dls_select *s, int32_t pool, int64_t now_us, const int8_t *sticky,
                                 dls_error *err) DLS_MUST_CHECK;

/* The first waiting job of a pool in rank order (fitting: that fits in the free count); DLS_NONE.
 * *type: where it fits first, -1: nowhere. */
int32_t dls_select_next(dls_select *s, int32_t pool, bool fitting, int64_t now_us, int32_t *type);

/* EASY: the earliest time at which the head could start, on *types (bits), if the running jobs end as ranked
 * (running sets ranked by expected end), and how many GPUs of them will then be spare. A head that fits by number
 * and was refused by the placement is tried again when the next job of its types ends, and spares none of theirs. */
int64_t dls_select_shadow(dls_select *s, int32_t head, int64_t now_us, uint32_t *types,
                          int64_t *spare);
/* EASY: the first waiting job behind `head` that fits now and either ends by shadow_us, or uses no
 * more than `spare` GPUs of the head's types, or runs on another type. *uses_spare tells. */
int32_t dls_select_backfill(dls_select *s, int32_t head, int64_t now_us, int64_t shadow_us,
                            uint32_t head_types, int64_t spare, int32_t *type, bool *uses_spare);

/* Recount the tournaments: for audits. O(classes x types). */
dls_status dls_select_check(const dls_select *s, dls_error *err) DLS_MUST_CHECK;

#endif
