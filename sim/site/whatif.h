/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * What would be if a site had other nodes, quotas, policies or more load: its history is replayed
 * as it was and with the changes, and the waits are compared.
 *
 *      DLS_TRY(dls_whatif_of(before, after, &asked, &w, err));
 *      printf("grade %c, mean wait %.0f s\n", w.grade, w.group[0].after.mean.value);
 *      dls_whatif_fini(&w);
 *
 * Intervals (95 %) are of weeks drawn with replacement: the same weeks for both sides, so that a
 * change is compared under the same demand. Shorter histories have shorter blocks, and fewer than
 * DLS_WHATIF_BLOCKS blocks no intervals.
 */
#ifndef DLS_SITE_WHATIF_H
#define DLS_SITE_WHATIF_H

#include "dlsim/run.h"

#define DLS_WHATIF_BLOCKS 4 /* fewer blocks: no intervals */

/* What is changed. Texts are borrowed; numbers of zero change nothing. */
typedef struct dls_whatif_asked {
    const char *const *add;     /* "TYPE: N x G": N nodes with G GPUs each */
    const char *const *removed; /* "NAME: N" or "NAME: all": of a group or a GPU type */
    const char *const *quota;   /* "VC=GPUS" or "VC:TYPE=GPUS" */
    const char *const *speed;   /* "TYPE=SPEED" in place of what the predictor says */
    const char *const *set;     /* "KEY=VALUE" */
    size_t n_add, n_removed, n_quota, n_speed, n_set;
    const char *scheduler, *placement; /* NULL: as it is */
    double load;                       /* 1.2: a fifth more jobs; 1 as it is */
    const char *target;                /* "p95 wait of 8 GPUs < 1h"; NULL: none */
    const char *vary; /* group of nodes whose number the target varies; NULL: the one that is
                         added, else the largest */
    uint64_t seed;
} dls_whatif_asked;

typedef struct dls_whatif_number {
    double value, low, high; /* NAN: nothing to take it of; no interval */
} dls_whatif_number;

typedef struct dls_whatif_side {
    size_t n, waiting;                  /* jobs; of them, never started: in no number below */
    dls_whatif_number mean, p95;        /* of the wait until the first start, seconds */
    double energy_kwh, cost, carbon_kg; /* of its jobs; NAN: not accounted for */
} dls_whatif_side;

typedef struct dls_whatif_group {
    const char *kind; /* "all", "partition", "account", "GPUs" */
    char name[64];
    dls_whatif_side before, after;
    dls_whatif_number mean_change, p95_change; /* after - before */
} dls_whatif_group;

/* The speed of a GPU type that the history does not know, against the one it does: over models. */
typedef struct dls_whatif_speed {
    char type[48], reference[48];
    double speed, least, most;
    bool given; /* by the caller */
} dls_whatif_speed;

typedef struct dls_whatif_try {
    int64_t nodes;
    double value_s; /* infinite: a job that it is of cannot start */
    bool holds;
} dls_whatif_try;

typedef struct dls_whatif_total {
    int64_t gpus;
    double utilisation, jct_mean_s, makespan_s;
} dls_whatif_total;

typedef struct dls_whatif {
    char grade;              /* of the replay as it was (site/fidelity.h); '-': none can be given */
    const char *ungraded;    /* why */
    dls_whatif_group *group; /* [n_groups], the first is that of all jobs */
    size_t n_groups, group_cap;
    dls_whatif_total before, after;
    double block_s; /* of the intervals */
    size_t n_blocks;
    dls_whatif_speed speed[8];
    size_t n_speeds;
    double load;           /* GPU time of the jobs as drawn, against the history's */
    char vary[64];         /* what the target varies; "" without a target */
    dls_whatif_try *tried; /* [n_tried] by nodes */
    size_t n_tried, tried_cap;
    int64_t fewest;                /* nodes that hold the target; -1: none do */
    dls_whatif_number target_s;    /* the target's number with them */
    dls_trace *trace, *loaded;     /* the history; with the load, NULL if that is as it was */
    dls_simulation *sim, *changed; /* of before and after; finished */
} dls_whatif;

/* before: the site as it is. after: a set-up with the same configuration, to which the changes are
 * made. Both must outlive *out, which is to be released in any case. Errors: EUSAGE (an option that
 * says nothing), ECONFIG (dls_setup_problem of either says why), those of a simulation. Two runs,
 * those of the grade (site/fidelity.h), and some ten for a target. */
dls_status dls_whatif_of(dls_setup *before, dls_setup *after, const dls_whatif_asked *asked,
                         dls_whatif *out, dls_error *err) DLS_MUST_CHECK;
void dls_whatif_fini(dls_whatif *w);

#endif
