/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * The choice that `driple` and its relatives make: of the ways to place a gang now, and of the
 * better ones that are expected to open soon, the one with the least predicted completion.
 *
 *      now        consolidated; one rack; leftovers  -> shape -> prediction -> remaining time
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

/* What was found out about a waiting job is kept: on a type, and on its candidates. What is
 * predicted stands still while a job waits, and no way leaves the type, so a choice holds until
 * GPUs of the type are taken or given back, or a job of the type starts or stops. */
typedef struct dls_asked {
    int32_t job, type; /* type -1: whatever it is */
    int64_t since_us;
    bool filled, knows;
} dls_asked;

typedef struct dls_choice_memo {
    dls_asked asked;
    bool chosen, hopes;        /* `choice`, `hoped_s` are there */
    uint64_t of_gpus, of_jobs; /* the state of the type that `choice` was made in */
    dls_choice choice;
    double hoped_s; /* dls_fit_hoped_s */
} dls_choice_memo;

#define DLS_CHOICE_SHAPES 16
typedef struct dls_prospect_memo {
    dls_asked asked;
    size_t n;                              /* candidates that are kept */
    double remaining_s[DLS_CHOICE_SHAPES]; /* on each; NAN: nothing is known */
} dls_prospect_memo;

#define DLS_CHOICE_MEMOS 256

typedef struct dls_choose {
    dls_traffic traffic;
    double relax, link_part, gain;
    int64_t max_wait_us;
    dls_grant *trial;
    dls_choice_memo choice[DLS_CHOICE_MEMOS];     /* by a hash of job and type */
    dls_prospect_memo prospect[DLS_CHOICE_MEMOS]; /* by a hash of the job */
} dls_choose;

dls_status dls_choose_init(dls_choose *c, const dls_place_index *index,
                           const dls_option_value *values, dls_error *err) DLS_MUST_CHECK;
void dls_choose_fini(dls_choose *c);
/* Answer from nothing that was found before: answers are the same. */
void dls_choose_forget(dls_choose *c);

/* Fill the grant, or refuse and set r->retry_us. Without a prediction for the job: as
 * `consolidated`. O(ways x (nodes given x GPUs of a node + log racks) + jobs on their links) if
 * GPUs of the type were taken or given back since the job was asked about, else O(1); candidates x
 * dls_traffic_wait_us; filling the grant. */
bool dls_choose_place(dls_choose *c, const dls_place_index *index, const dls_request *r,
                      dls_grant *grant);
/* Predicted remaining time of the best way to place the gang now, or, where it does not fit yet, on
 * the fewest nodes; 0 without a prediction. O(1) if the job was asked about since the type changed.
 */
double dls_choose_cost(dls_choose *c, const dls_place_index *index, const dls_request *r);
/* Is waiting worth more than ending in best_s from now? *retry_us of the request is then set. */
bool dls_choose_wait(dls_choose *c, const dls_place_index *index, const dls_request *r,
                     double best_s);

#endif
