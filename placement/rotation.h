/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * How jobs that share links are turned against each other (CASSINI: Rajasekaran, Ghobadi, Akella,
 * NSDI 2024), without slices. A job sends in phases of one iteration, drawn on a circle whose
 * perimeter is its period; the jobs of a link lie on a circle of the least common multiple L of
 * their periods, job j L / P_j times, and
 *
 *      score = 1 - (integral of max(0, sum of the rates - 1) over the circle) / L
 *
 * with rates in parts of the link's capacity. The integral is exact: loads are whole parts of the
 * capacity and change at the ends of phases only. As a function of the shift of one job the score
 * is linear between the shifts at which two ends meet, so one of these is best: a search over one
 * job is exact, and all jobs of a link are turned one after the other until none gains.
 *
 * A shift is found for every link apart. Jobs and links make the affinity graph; where it has no
 * cycle, one shift for each job follows that is right on all its links at once:
 *
 *      t_k = (t_j - t_j,l + t_k,l) mod P_k         for jobs j, k of link l
 */
#ifndef DLS_PLACEMENT_ROTATION_H
#define DLS_PLACEMENT_ROTATION_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define DLS_ROTOR_PHASES 4
#define DLS_ROTORS 16            /* jobs of a link */
#define DLS_ROTATION_EDGES 240   /* ends of phases on a link's circle */
#define DLS_AFFINITY_VERTICES 64 /* jobs, and links, of a graph */

typedef struct dls_rotor_phase {
    double start, length; /* >= 0, in ticks; phases of a job do not overlap */
    double rate;          /* > 0, parts of the link's capacity; at most 64 */
} dls_rotor_phase;

/* A job on a link. */
typedef struct dls_rotor {
    int64_t period; /* ticks, > 0 */
    dls_rotor_phase phase[DLS_ROTOR_PHASES];
    int32_t n; /* phases */
    bool fixed;
    double shift; /* ticks; 0 <= shift < period */
} dls_rotor;

/* What the two below cost follows from this: ends of phases on the common circle, about; INT64_MAX:
 * more than DLS_ROTATION_EDGES. O(jobs). */
int64_t dls_rotation_ends(const dls_rotor *rotor, int32_t n);
/* The score of n <= DLS_ROTORS jobs as they stand; NAN if their circle has more than
 * DLS_ROTATION_EDGES ends of phases. O(ends x log ends). */
double dls_rotation_score(const dls_rotor *rotor, int32_t n);
/* Turn the jobs that are not fixed so that the score is greatest, and return it; of equally good
 * shifts the least. If none is fixed the first stands at 0. With two jobs that is the optimum, with
 * more the best of descents from several orders. NAN as above. O(descents x jobs x ends x log
 * ends). */
double dls_rotation_turn(dls_rotor *rotor, int32_t n);

typedef struct dls_affinity_edge {
    int32_t job, link; /* [0, DLS_AFFINITY_VERTICES) each */
    double shift;      /* of the job as the link would have it */
} dls_affinity_edge;

/* Do the edges make no cycle? Their shifts are not looked at. O(edges). */
bool dls_affinity_is_forest(const dls_affinity_edge *edge, size_t n);
/* One shift for every job: shift[job], modulo period[job]. The first job of each component, by
 * index, keeps the shift that it has there. False: the graph has a cycle, shift[] is as it was.
 * O(edges^2). */
bool dls_affinity_shifts(const dls_affinity_edge *edge, size_t n, const double *period,
                         int32_t n_jobs, double *shift);

#endif
