/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * The matrix G of sched/interior.h in its blocks, its equilibration, and linear equations with
 * [0 G'; G -W^2]: a job touches others only through t and the types, so that there is a small dense
 * block a job and types + 1 equations in common.
 *
 * Variables: of each job x by type, then 1 / speed if it has a ratio; t last. Rows: of each job x
 * >= 0 by type, the sum of x, the need or ratio, the cone of three of a ratio; the types last.
 */
#ifndef DLS_SCHED_INTERIOR_KKT_H
#define DLS_SCHED_INTERIOR_KKT_H

#include "sched/interior.h"

/* Blocks of as many jobs in a row that are alike in shape are solved side by side, an entry of each in a
 * vector: the steps of one wait for each other. */
enum { DLS_KKT_TYPES = DLS_TYPES_MAX, DLS_KKT_BLOCK = DLS_TYPES_MAX + 6, DLS_KKT_ABREAST = 4 };
typedef double dls_kkt_two __attribute__((vector_size(16), aligned(8)));
typedef union dls_kkt_lanes {
    double of[DLS_KKT_ABREAST];
    dls_kkt_two two[DLS_KKT_ABREAST / 2];
} dls_kkt_lanes;
_Static_assert(DLS_KKT_ABREAST == 4, "equations are solved two pairs at a time");
typedef struct dls_kkt_place {
    int8_t of[DLS_KKT_ABREAST];
} dls_kkt_place;

/* A variable's coefficients in the rows of its job and its type; the third row of a cone is empty. */
typedef struct dls_kkt_column {
    double bound, fit, type, need, cone[2];
} dls_kkt_column;

typedef struct dls_kkt_job {
    size_t var, row;     /* the first of its own */
    int32_t vars, local; /* of its own; rows behind those of x >= 0 */
    int32_t lane;        /* among those that are solved side by side */
    bool cone;
    double need_t;
    dls_kkt_column of[DLS_KKT_TYPES + 1];
    dls_kkt_lanes *lu;    /* [(vars + local)^2], shared by those side by side */
    dls_kkt_place *place; /* [vars + local], likewise: the rows after pivoting */
} dls_kkt_job;

/* Scaling of a cone: W = eta [a q'; q I + q q' / (1 + a)]. */
typedef struct dls_kkt_cone {
    double eta, a, q[2];
} dls_kkt_cone;

typedef struct dls_kkt {
    size_t n, vars, rows;
    int32_t w;
    bool has_t;
    dls_kkt_job *job;                          /* [n] */
    dls_kkt_cone *cone;                        /* [n], read where a job has one */
    double *scale;                             /* [rows] s / z of the rows that are no cones */
    double *var_unit, *row_unit;               /* equilibration */
    double *left_x, *left_z, *more_x, *more_z; /* scratch [vars], [rows] */
    double common[DLS_KKT_TYPES + 1][DLS_KKT_TYPES + 1];
} dls_kkt;

/* Fill in the coefficients of a problem and equilibrate them; the arrays are there. */
void dls_kkt_fill(dls_kkt *k, const dls_interior *p);
/* out = G v, out = G' z. */
void dls_kkt_apply(const dls_kkt *k, const double *v, double *out);
void dls_kkt_transpose(const dls_kkt *k, const double *z, double *out);
/* With the scaling as it is now; dls_kkt_solve may be called any number of times after it. */
void dls_kkt_factor(dls_kkt *k);
/* Refined until what is left is rounding. False: singular. */
bool dls_kkt_solve(const dls_kkt *k, const double *bx, const double *bz, double *dx, double *dz);

#endif
