/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * The transportation problem: rows with so much to send, columns with so much room, a cost for each
 * unit from a row to a column; least cost. With one unit a row and a column it is the assignment
 * problem. Shortest augmenting paths with dual variables (Jonker and Volgenant, Computing 38,
 * 1987), over columns with capacities. Of equals the earlier row and column go first.
 */
#ifndef DLS_SCHED_TRANSPORT_H
#define DLS_SCHED_TRANSPORT_H

#include "sched/gangs.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef struct dls_transport {
    size_t rows, columns;
    double *cost;    /* [rows][columns], finite; INFINITY: not allowed */
    int64_t *supply; /* [rows] */
    int64_t *room;   /* [columns] */
    int64_t *sent;   /* [columns][rows], the answer */
    double *u, *v;   /* dual variables */
    double *least;   /* [columns] the least cost of a way there; -INFINITY: the way has been there */
    size_t *via, *from, *reached, *used;
    bool *seen;
} dls_transport;

/* Room for a problem in 12 arrays of a scratch, from `first` on; cost, supply and room are then to be
 * filled in. */
dls_status dls_transport_begin(dls_transport *t, dls_scratch *memory, int first, size_t rows,
                               size_t columns, dls_error *err) DLS_MUST_CHECK;
/* What finds no allowed room is not sent. O(augmentations x columns x (rows + columns)). */
void dls_transport_solve(dls_transport *t);

#endif
