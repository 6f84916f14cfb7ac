/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * One simulation, as the files of sim/engine see it: a part each, and what a few of them share.
 *
 *   part            state                       functions
 *   jobs.h          a job's times, work, rate   life.c arrive, start, lose the GPUs, finish; progress.c
 *                                               rates, checkpoints, accounts; starts.c a row per start
 *   clock.h         time, what is due           sim.c the event loop; fetch.c what events will touch
 *   select.h        who is to run               select.c, backfill.c, park.c; classes.c what jobs ask for
 *   hold.h          who has which GPUs          hold.c
 *   ask.h           policies' state, requests   ask.c, prediction.c; view.c what policies see
 *   groups.h        shares of gang sizes        groups.c
 *   walk.h          programs and rounds         walk.c allocate, preempt, join, decline
 *   round.h         plans                       round.c
 *   guests.h        GPUs that are shared        guests.c
 *   failures.h      what is down                failures.c
 *   services.h      GPUs that serve             services.c
 *   watch.h         audit, stall, blame         audit.c, blame.c
 *
 * pass.c makes one scheduling pass of them; setup.c builds an engine that is ready to run, clone.c a second one in
 * the same state. Every array is in a table of its part (DLS_ENGINE_ARRAYS), from which it is allocated, copied and
 * freed.
 */
#ifndef DLS_ENGINE_ENGINE_H
#define DLS_ENGINE_ENGINE_H

#include "engine/ask.h"
#include "engine/clock.h"
#include "engine/failures.h"
#include "engine/groups.h"
#include "engine/guests.h"
#include "engine/hold.h"
#include "engine/jobs.h"
#include "engine/reserve.h"
#include "engine/round.h"
#include "engine/select.h"
#include "engine/services.h"
#include "engine/walk.h"
#include "engine/watch.h"

struct dls_engine {
    const dls_sim_params *params;
    const dls_trace_columns *col;
    int32_t n; /* jobs */
    dls_discipline discipline;
    dls_job *job; /* [n] */
    dls_view view;
    dls_record *rec;
    bool closed; /* then the record is the caller's, and the view goes on showing it */
    dls_place_index *index;
    dls_select select;
    dls_jobs jobs;
    dls_clock clock;
    dls_holding hold;
    dls_asking ask;
    dls_group_shares groups;
    dls_walk walk;
    dls_rounds rounds;
    dls_decision decision;
    dls_guests guests;
    dls_reservation reserve;
    dls_failure_state failures;
    dls_serving serving;
    dls_stall stall;
    dls_audit audit;
};

/* XX(member, elements, condition): zeroed by setup.c. An array that a part has made before stays. */
#define DLS_ENGINE_ARRAYS(XX)                                                                      \
    DLS_SELECT_ARRAYS(XX)                                                                          \
    DLS_JOBS_ARRAYS(XX)                                                                            \
    DLS_HOLD_ARRAYS(XX)                                                                            \
    DLS_ASK_ARRAYS(XX)                                                                             \
    DLS_GROUPS_ARRAYS(XX)                                                                          \
    DLS_WALK_ARRAYS(XX)                                                                            \
    DLS_ROUND_ARRAYS(XX)                                                                           \
    DLS_GUEST_ARRAYS(XX)                                                                           \
    DLS_RESERVE_ARRAYS(XX)                                                                         \
    DLS_FAILURE_ARRAYS(XX)                                                                         \
    DLS_SERVING_ARRAYS(XX)                                                                         \
    DLS_AUDIT_ARRAYS(XX)

/* XX(member, elements in use, elements that there is room for): grow by dls_grow */
#define DLS_ENGINE_LISTS(XX)                                                                       \
    DLS_SELECT_LISTS(XX)                                                                           \
    DLS_HOLD_LISTS(XX)                                                                             \
    DLS_ASK_LISTS(XX)                                                                              \
    DLS_ROUND_LISTS(XX)                                                                            \
    DLS_RESERVE_LISTS(XX)                                                                          \
    DLS_FAILURE_LISTS(XX)

/* XX(member, slots): event queues */
#define DLS_ENGINE_QUEUES(XX)                                                                      \
    DLS_CLOCK_QUEUES(XX)                                                                           \
    DLS_FAILURE_QUEUES(XX)

/* setup.c */
dls_status dls_engine_create(const dls_sim_params *p, dls_engine **out, dls_error *err) DLS_MUST_CHECK;
void dls_engine_destroy(dls_engine *e);
/* Let the view show the engine's columns. */
void dls_view_bind(dls_engine *e);

/* classes.c: for set-up, the index being there */
dls_status dls_classes_make(dls_engine *e, dls_error *err) DLS_MUST_CHECK;
dls_status dls_pools_make(dls_engine *e, dls_error *err) DLS_MUST_CHECK;
/* Shares of the pools when so many GPUs of the type are down: they are missing first in what the quotas
 * leave, then in the quotas in their order. */
void dls_pools_divide(dls_engine *e, int32_t type, int64_t down);

/* fetch.c: ask the caches for what starting or stopping a job will touch (`engine` is one); for what the next
 * events of a queue will, which has so many slots a job. */
void dls_fetch_job(void *engine, int32_t job);
void dls_fetch_soon(dls_engine *e, const dls_evq *q, uint32_t slots);

/* pass.c */
dls_status dls_pass(dls_engine *e, dls_error *err) DLS_MUST_CHECK;

/* The class of a job, and something that has changed for the jobs of its pool, whose next pass must not be
 * left out. */
static inline const dls_class *dls_class_of(const dls_engine *e, int32_t job)
{
    return &e->select.cls[e->job[job].cls];
}

static inline void dls_mark_dirty(dls_engine *e, int32_t job)
{
    dls_select_mark(&e->select, dls_class_of(e, job)->pool);
}

/* CPU and memory that go with some GPUs of a job. */
static inline void dls_side_resources(const dls_engine *e, int32_t job, int32_t gpus,
                                      int64_t *cpu_milli, int64_t *mem_mib)
{
    const dls_class *c = dls_class_of(e, job);
    *cpu_milli = c->cpu_milli * gpus;
    *mem_mib = c->mem_mib * gpus;
}

/* The fewest GPUs that a job may get: of an elastic one its least, under a policy that resizes jobs. */
static inline int32_t dls_least_gpus(const dls_engine *e, int32_t job)
{
    const dls_elastic *elastic = e->walk.on && !e->params->sched->rigid ? e->params->elastic : NULL;
    return elastic ? elastic->min_gpus[job] : e->col->gpus[job];
}

/* The most of a type of which the empty cluster would give a job all at once. */
static inline int32_t dls_most_gpus(const dls_engine *e, int32_t job, int32_t type)
{
    const int32_t cls = e->walk.most ? e->select.job[job].cls : DLS_NONE;
    return cls >= 0 ? e->walk.most[cls * e->select.n_types + type] : INT32_MAX;
}

/* The same as far as is known now: less than the placement refused while nobody ran, since GPUs last came back. */
static inline int32_t dls_most_gpus_now(const dls_engine *e, int32_t job, int32_t type)
{
    const int32_t most = dls_most_gpus(e, job, type), cls = e->walk.refused ? e->select.job[job].cls : DLS_NONE;
    const int32_t refused = cls >= 0 ? e->walk.refused[cls * e->select.n_types + type] : 0;
    return refused > 0 && refused <= most ? refused - 1 : most;
}

/* Thousandths of a GPU that a job has, or would have; 0: it has whole ones. */
static inline int32_t dls_part_of(const dls_engine *e, int32_t job)
{
    const dls_class *c = dls_class_of(e, job);
    return c->weight < e->select.unit ? c->weight : 0;
}

/* GPUs of a job x time. */
static inline int64_t dls_gpu_time_us(const dls_engine *e, int32_t job, int64_t us)
{
    const int32_t milli = dls_part_of(e, job);
    return milli > 0 ? us * milli / DLS_GPU_MILLI : us * e->select.size[job];
}

static inline bool dls_is_guest(const dls_engine *e, int32_t job)
{
    return e->select.guest && e->select.guest[job];
}

/* Speed of an elastic job on what it holds; 1 for all others. */
static inline int64_t dls_scaled_rate(const dls_engine *e, int32_t job, int64_t rate)
{
    return e->walk.speed && e->walk.speed[job] != 1 ? (int64_t)((double)rate * e->walk.speed[job] + 0.5)
                                                    : rate;
}

static inline void dls_view_update(dls_engine *e)
{
    e->view.now_us = e->clock.now_us;
    e->view.free_gpus = e->index->free_gpus;
    e->view.pass = e->select.pass;
}

/* dls_policy_returned for callbacks that return no status. */
static inline dls_status dls_policy_check(const dls_engine *e, const char *who, int32_t job,
                                          dls_error *err)
{
    return e->index->first_fault.query || e->ask.predicting.status != DLS_OK
               ? dls_policy_asked_wrong(e, who, job, err)
               : DLS_OK;
}

static inline void dls_seal(dls_engine *e)
{
    if (e->params->audit) {
        dls_seal_set(e);
    }
}

static inline dls_status dls_seal_check(const dls_engine *e, dls_error *err)
{
    return e->audit.sealed ? dls_seal_compare(e, err) : DLS_OK;
}

#endif
