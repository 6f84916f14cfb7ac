/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * The choice that `driple` and its relatives make: of the ways to place a gang now, and of the
 * better ones that are expected to open soon, the one with the least predicted completion.
 *
 *      now        consolidated; one rack; leftovers  -> shape -> prediction -> remaining time
 *      leftovers  are taken when they cost at most `relax` of the best and the network bursts
 *                 fit the links beside those that others send (traffic.h)
 *      waiting    each candidate shape of the predictor, any GPU type: expected wait + remaining
 *                 time must beat the best of now by the part `gain`, within max_wait of waiting
 *                 in all
 */
#ifndef DLS_PLACEMENT_CHOOSE_H
#define DLS_PLACEMENT_CHOOSE_H

#include "placement/traffic.h"

/* Options, and their places in the table of the policy: the first of the table. The last three
 * are for policies that take leftovers so. */
enum {
    DLS_CHOOSE_GAIN,
    DLS_CHOOSE_MAX_WAIT,
    DLS_CHOOSE_WAIT_OPTIONS,
    DLS_CHOOSE_RELAX = DLS_CHOOSE_WAIT_OPTIONS,
    DLS_CHOOSE_LINK,
    DLS_CHOOSE_ALIKE,
    DLS_CHOOSE_OPTIONS
};
/* alike is the median error of the ratio of two GPUs that the operator model and the shipped inspector predict,
 * of published steps (docs/measured.md): what is less says nothing of which is faster. */
/* clang-format off */
#define DLS_CHOOSE_WAIT_ROWS \
    {"gain", DLS_OPT_F64, 0, 1, "0.1", "", \
     "wait for a better place only if the job then ends earlier by this part of its run time", NULL}, \
    {"max_wait", DLS_OPT_TIME, 0, 1e9, "3600 s", "", "but never longer than this", NULL}
#define DLS_CHOOSE_LEFTOVER_ROWS \
    {"relax", DLS_OPT_F64, 0, 10, "0.02", "", \
     "take leftover GPUs when that costs at most this part of the best run time", NULL}, \
    {"link_part", DLS_OPT_F64, 0, 1, "0.7", "", \
     "and when mean network use stays below this part of each link", NULL}, \
    {"alike", DLS_OPT_F64, 0, 1, "0.09", "", \
     "a GPU counts as this part of the run time worse, times its peak over the fastest type's: jobs that gain less leave fast GPUs to others", NULL}
/* clang-format on */

enum { DLS_WAY_CONSOLIDATED = -1, DLS_WAY_LEFTOVERS = -2 }; /* else: in the rack of that number */

typedef struct dls_choice {
    int32_t way;
    double best_s; /* of all ways; INFINITY: none is possible, NAN: nothing is known of the job */
} dls_choice;

/* What was found out about a waiting job is kept: on a type, and on its candidates. What is
 * predicted stands still while a job waits, and no way leaves the type, so a choice holds until
 * GPUs of the type are taken or given back, or a job of the type starts or stops. */
typedef struct dls_choose_key {
    int32_t job, type; /* 1 + the job, 0: empty; -1: whatever the type is */
    int64_t since_us;  /* the job waits */
} dls_choose_key;

typedef struct dls_choice_memo {
    dls_choose_key key;
    bool chosen, has_ideal;              /* `choice`, `ideal_s` are there */
    uint64_t gpus_version, jobs_version; /* of the type when `choice` was made */
    dls_choice choice;
    double ideal_s; /* dls_fit_ideal_s */
} dls_choice_memo;

#define DLS_CHOOSE_SHAPES 16
typedef struct dls_candidates_memo {
    dls_choose_key key;
    size_t n;                              /* candidates that are kept */
    double remaining_s[DLS_CHOOSE_SHAPES]; /* predicted on each; NAN: nothing is known */
} dls_candidates_memo;

#define DLS_CHOOSE_MEMOS 256

/* The state of a policy begins with this one. */
typedef struct dls_choose {
    dls_traffic traffic; /* first: dls_traffic_stopped */
    double gain, relax, link_part, alike;
    int64_t max_wait_us;
    dls_grant *trial;
    dls_choice_memo choice[DLS_CHOOSE_MEMOS];         /* by a hash of job and type */
    dls_candidates_memo candidates[DLS_CHOOSE_MEMOS]; /* by a hash of the job */
} dls_choose;

/* Reads DLS_CHOOSE_WAIT_OPTIONS values; relax and alike are 0 and link_part is 1 then. */
dls_status dls_choose_init(dls_choose *c, const dls_place_index *index,
                           const dls_option_value *values, dls_error *err) DLS_MUST_CHECK;
/* Fill an empty grant that way; false: it does not fit. */
bool dls_choose_fill(const dls_place_index *index, const dls_request *r, int32_t way,
                     dls_grant *grant);
/* Is waiting worth more than ending in best_s from now? *retry_us of the request is then set. */
bool dls_choose_wait(dls_choose *c, const dls_place_index *index, const dls_request *r,
                     double best_s);

/* For the table of a policy: init with all DLS_CHOOSE_OPTIONS, and what follows from it. */

dls_status dls_choose_init_all(void *state, const dls_place_index *index,
                               const dls_option_value *values, dls_error *err) DLS_MUST_CHECK;
void dls_choose_fini(void *state);
dls_status dls_choose_clone(void *state, const void *from, const dls_place_index *index,
                            dls_error *err) DLS_MUST_CHECK;
/* Fill the grant, or refuse and set r->retry_us. Without a prediction for the job: as
 * `consolidated`. O(ways x (nodes given x GPUs of a node + log racks) + jobs on their links) if
 * GPUs of the type were taken or given back since the job was asked about, else O(1); candidates x
 * dls_traffic_wait_us; filling the grant. */
bool dls_choose_place(void *state, const dls_place_index *index, const dls_request *r,
                      dls_grant *grant);
/* Predicted remaining time of the best way to place the gang now, or, where it does not fit yet, on
 * the fewest nodes; 0 without a prediction. O(1) if the job was asked about since the type changed.
 */
double dls_choose_cost(void *state, const dls_place_index *index, const dls_request *r);

#endif
