/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * What a policy that asks the predictor remembers of the running jobs: when each is expected to
 * end, and what it sends over which links. Fed by the hooks `started` and `stopped`.
 *
 * A job on several nodes sends over their network links; a job in several racks also over the
 * racks' uplinks, as much as one of its nodes does: in a ring each rack is entered and left once.
 */
#ifndef DLS_PLACEMENT_TRAFFIC_H
#define DLS_PLACEMENT_TRAFFIC_H

#include "placement/cassini.h"
#include "placement/openings.h"

typedef struct dls_runner {
    int64_t end_us;       /* predicted */
    dls_pulse pulse;      /* period_s 0: sends nothing, or nothing is known */
    dls_place_part *part; /* [n] owned, kept for the next job of this slot */
    size_t n, cap;
    int32_t type, next, job;
    int32_t later; /* 1 + its place in the heap of its type's later ends; 0: in none */
    bool uplinks;
} dls_runner;

typedef struct dls_on_link {
    int32_t runner, next;
} dls_on_link;

typedef struct dls_traffic_job {
    int32_t slot;   /* + 1; 0: does not run */
    double shift_s; /* at its next start its bursts begin at this time; NAN: when it starts */
} dls_traffic_job;

typedef struct dls_by_end {
    int64_t end_us;
    int32_t runner;
} dls_by_end;

/* Expected ends of a GPU type's running jobs: at least the DLS_OPENINGS_ENDS soonest, in order, and
 * behind the room for DLS_ENDS_NEXT of these a binary heap of all others, none of which is sooner. */
#define DLS_ENDS_NEXT (2 * DLS_OPENINGS_ENDS)
typedef struct dls_ends {
    dls_by_end *next; /* [DLS_ENDS_NEXT + n_later], the heap at DLS_ENDS_NEXT */
    size_t n_next, n_later, cap;
} dls_ends;

typedef struct dls_traffic {
    int32_t n_nodes, n_racks;
    dls_runner *runner;
    size_t n_runners, runner_cap;
    int32_t spare;       /* 1 + a slot that is free, whose `next` is another; 0: none */
    dls_traffic_job *of; /* [n_jobs] */
    size_t n_jobs, job_cap;
    dls_ends ends[DLS_TYPES_MAX];
    int32_t *link; /* [n_nodes + n_racks] head of a list of dls_on_link, -1 */
    dls_on_link *entry;
    size_t n_entries, entry_cap;
    int32_t spare_entry;
    uint64_t changes[DLS_TYPES_MAX]; /* starts and stops of jobs of the type */
    dls_openings openings;
} dls_traffic;

dls_status dls_traffic_init(dls_traffic *t, const dls_place_index *index,
                            dls_error *err) DLS_MUST_CHECK;
void dls_traffic_fini(dls_traffic *t);
/* For `clone`: *t, a copy of the bytes of *from, gets memory of its own. */
dls_status dls_traffic_clone(dls_traffic *t, const dls_traffic *from, const dls_place_index *index,
                             dls_error *err) DLS_MUST_CHECK;

/* The pulse that a prediction describes; period_s 0 if it does not. */
dls_pulse dls_pulse_of(const dls_prediction *f);

/* The time shift that is asked for with the grant of a job; NAN: none. */
void dls_traffic_set_shift(dls_traffic *t, int32_t job, double shift_s);
/* `started` and `stopped` of placements whose state begins with their traffic. A job that memory does not
 * suffice for is not remembered. O(log of the jobs running + nodes). */
void dls_traffic_started(void *state, const dls_place_index *index, const dls_request *r,
                         const int32_t *nodes, const int32_t *gpus, size_t n);
void dls_traffic_stopped(void *state, const dls_place_index *index, int32_t job, int64_t now_us,
                         int64_t worked_us);

/* How long from now on the shape has to wait if running jobs end as predicted and nothing else
 * starts: 0 if it is free, DLS_NEVER if it opens neither within limit_us nor with the next
 * DLS_OPENINGS_ENDS ends. One node: a node with so many free GPUs; several: so many idle nodes.
 * O(1) if another question went as far since the type last changed, else O(nodes of the jobs whose
 * ends are gone through). */
int64_t dls_traffic_wait_us(dls_traffic *t, const dls_place_index *index, const dls_shape *want,
                            int64_t now_us, int64_t limit_us);

/* The k-th link of n parts: those of their nodes, then, if they span racks, those of the racks; -1:
 * no more. A rack is met once a node of it. */
int32_t dls_traffic_link_of(const dls_traffic *t, const dls_place_index *index,
                            const dls_place_part *part, size_t n, bool uplinks, size_t k);
size_t dls_traffic_link_count(const dls_place_index *index);
/* Bytes per second; 0: unknown or unlimited. */
double dls_traffic_capacity(const dls_traffic *t, const dls_place_index *index, int32_t link);

/* The links that a grant of that shape crosses and that other jobs send over, with their pulses;
 * links of unknown or unlimited capacity are left out. Returns how many. */
size_t dls_traffic_links(const dls_traffic *t, const dls_place_index *index, const dls_grant *grant,
                         const dls_shape *shape, dls_cassini_link links[DLS_CASSINI_LINKS]);
/* Does what `f` sends on average fit beside the averages of the others, on every link of the grant,
 * up to `link_part` of its capacity? true if nothing is known of f or of the links. */
bool dls_traffic_fits(const dls_traffic *t, const dls_place_index *index, const dls_grant *grant,
                      const dls_shape *shape, const dls_prediction *f, double link_part);

#endif
