/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Nodes that are reserved for some jobs for a time, which everybody knows before, and nodes that
 * are out of service (drained, down), which nobody does.
 */
#ifndef DLS_SCHED_SLURM_OUTAGE_H
#define DLS_SCHED_SLURM_OUTAGE_H

#include "dlsim/policy.h"

typedef struct dls_slurm_outage {
    int64_t begin_us, end_us; /* end DLS_NEVER: for good */
    int64_t known_us;         /* nobody goes by a reservation before */
    int32_t reservation;      /* -1: out of service */
    size_t nodes;             /* offset of a set in sets[] */
} dls_slurm_outage;

typedef struct dls_slurm_outages {
    dls_slurm_outage *at; /* [n], reservations first, n_reserved of them */
    int64_t *change_us;   /* [2 n] begins and ends in order */
    char (*name)[64];     /* [n_names] of reservations */
    uint64_t *sets;       /* the first: nodes out of service from .. to .. */
    int64_t now_us, from_us, until_us;
    size_t n, n_reserved, n_endless, cap, n_names, names_cap, n_sets, sets_cap;
    int32_t words; /* of a set of nodes */
} dls_slurm_outages;

/* Reads a table `reservation,known,start,end,first,last`: seconds, end empty for good, known
 * empty: from the first; nodes by number
 * from 0; no reservation: out of service. path "": there is none. Errors: EINPUT with file and
 * line, ENOMEM. */
dls_status dls_slurm_outages_init(dls_slurm_outages *o, const dls_view *view, const char *path,
                                  dls_error *err) DLS_MUST_CHECK;
void dls_slurm_outages_fini(dls_slurm_outages *o);
dls_status dls_slurm_outages_clone(dls_slurm_outages *o, const dls_slurm_outages *from,
                                   dls_error *err) DLS_MUST_CHECK;
/* -1: none of that name. `outages` is a dls_slurm_outages. */
int32_t dls_slurm_reservation_find(const void *outages, const char *name);

/* Time is now: before the next two. O(outages) where something has begun or ended since, else O(1).
 */
void dls_slurm_outages_look(dls_slurm_outages *o, int64_t now_us);
/* Take from `nodes` what a job of that reservation (-1: none) may not have that runs from start to
 * end: what is reserved for others then, what is out of service now, and all but its reservation's.
 * Returns when the first reservation is over that is then behind `start`: DLS_NEVER if there is
 * none. O(reservations x words). */
int64_t dls_slurm_outages_apply(const dls_slurm_outages *o, int32_t reservation, int64_t start_us,
                                int64_t end_us, uint64_t *nodes);
/* How many outages have begun that never end. O(outages) if there are such. */
size_t dls_slurm_outages_for_good(const dls_slurm_outages *o, int64_t now_us);
/* Take from `nodes` what by those a job of that reservation (-1: none) will never have again. O(outages x words). */
void dls_slurm_outages_gone(const dls_slurm_outages *o, int32_t reservation, int64_t now_us, uint64_t *nodes);
/* The first begin or end after that time; DLS_NEVER. O(log outages). */
int64_t dls_slurm_outages_next(const dls_slurm_outages *o, int64_t now_us);
/* When the reservation begins, or DLS_NEVER if it is over. */
int64_t dls_slurm_reservation_begin(const dls_slurm_outages *o, int32_t reservation,
                                    int64_t now_us);

#endif
