/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Time: what is due when. sim.c moves it; life.c, ask.c and round.c set what becomes due.
 */
#ifndef DLS_ENGINE_CLOCK_H
#define DLS_ENGINE_CLOCK_H

#include "base/evq.h"

typedef struct dls_clock {
    int64_t now_us;
    int64_t last_us;       /* no key can be raised beyond this time */
    int64_t pulled_us;     /* until then pull-backs are counted */
    size_t next_arrival;   /* job */
    uint64_t instants;     /* handled so far */
    dls_evq events;        /* slots: finish and wake of each job, the share's tick, the program's wake */
    dls_evq stale;         /* slots: n jobs whose priority is to be asked for at the next pass */
    dls_evq turns;         /* slots: n jobs whose turn is over once others wait */
    dls_evq retries;       /* slots: classes that the placement wants to be asked for again */
} dls_clock;

/* XX(member of the engine, slots) */
#define DLS_CLOCK_QUEUES(XX)                                                                       \
    XX(clock.events, 2 * (size_t)e->n + 2)                                                         \
    XX(clock.stale, e->n)                                                                          \
    XX(clock.turns, e->n)                                                                          \
    XX(clock.retries, e->select.n_classes)

/* A job's are side by side: whoever touches one touches the other. */
#define DLS_SLOT_FINISH(e, job) (2 * (uint32_t)(job))
#define DLS_SLOT_WAKE(e, job) (2 * (uint32_t)(job) + 1)
#define DLS_SLOT_SHARE(e) ((uint32_t)(2 * (e)->n))
#define DLS_SLOT_PROGRAM(e) ((uint32_t)(2 * (e)->n + 1))

#endif
