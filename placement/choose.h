/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * The choice that `driple` and its relatives make: of the ways to place a gang now, and of the
 * better ones that are expected to open soon, the one with the least predicted completion.
 *
 *      now        consolidated; one rack; leftovers  -> shape -> forecast -> remaining time
 *      leftovers  are taken when they cost at most `relax` of the best and the network bursts fit
 * the links beside those that others send (traffic.h) waiting    each candidate shape of the
 * predictor, any GPU type: expected wait + remaining time must beat the best of now by the part
 * `gain`, within max_wait of waiting in all
 */
#ifndef DLS_PLACEMENT_CHOOSE_H
#define DLS_PLACEMENT_CHOOSE_H

#include "placement/traffic.h"

/* Options, and their places in the table of the policy: the first of the table. */
enum {
    DLS_CHOOSE_RELAX,
    DLS_CHOOSE_LINK,
    DLS_CHOOSE_GAIN,
    DLS_CHOOSE_MAX_WAIT,
    DLS_CHOOSE_OPTIONS
};
/* clang-format off */
#define DLS_CHOOSE_OPTION_ROWS \
    {"relax", DLS_OPT_F64, 0, 10, "0.02", "", \
     "take leftover GPUs when that costs at most this part of the best run time", NULL}, \
    {"link_part", DLS_OPT_F64, 0, 1, "0.7", "", \
     "and when mean network use stays below this part of each link", NULL}, \
    {"gain", DLS_OPT_F64, 0, 1, "0.1", "", \
     "wait for a better place only if the job then ends earlier by this part of its run time", NULL}, \
    {"max_wait", DLS_OPT_F64, 0, 1e9, "3600", "s", "but never longer than this", NULL}
/* clang-format on */

enum { DLS_WAY_CONSOLIDATED, DLS_WAY_ONE_RACK, DLS_WAY_LEFTOVERS };

typedef struct dls_choice {
    int way;
    double best_s; /* of all ways; INFINITY: none is possible, NAN: nothing is known of the job */
} dls_choice;

/* The last choice for a job on a type, and the state of the type that it was made in. What is predicted
 * of a job stands still while it waits, and no way leaves the type. */
typedef struct dls_choice_memo {
    int32_t job, type;
    int64_t since_us;
    uint64_t of_gpus, of_jobs;
    bool filled, knows;
    dls_choice choice;
} dls_choice_memo;
#define DLS_CHOICE_MEMOS 256

typedef struct dls_choose {
    dls_traffic traffic;
    double relax, link_part, gain;
    int64_t max_wait_us;
    dls_grant trial;
    dls_choice_memo memo[DLS_CHOICE_MEMOS]; /* by a hash of job and type */
} dls_choose;

dls_status dls_choose_init(dls_choose *c, const dls_place_index *index,
                           const dls_option_value *values, dls_error *err) DLS_MUST_CHECK;
void dls_choose_fini(dls_choose *c);
/* Answer from nothing that was found before: answers are the same. */
void dls_choose_forget(dls_choose *c);

/* Fill the grant, or refuse and set r->retry_us. Without a forecast for the job: as
 * `consolidated`. */
bool dls_choose_place(dls_choose *c, const dls_place_index *index, const dls_request *r,
                      dls_grant *grant);
/* Predicted remaining time of the best way to place the gang now, or, where it does not fit yet, on
 * the fewest nodes (dls_fit_hoped_s); 0 without a forecast. */
double dls_choose_cost(dls_choose *c, const dls_place_index *index, const dls_request *r);
/* Is waiting worth more than ending in best_s from now? *retry_us of the request is then set. */
bool dls_choose_wait(dls_choose *c, const dls_place_index *index, const dls_request *r,
                     double best_s);

#endif
