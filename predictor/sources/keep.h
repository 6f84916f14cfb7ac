/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Predictions in a file: the cache of a predictor's answers, and recordings of runs. A question is
 * known by a digest of a text that says everything the answer depends on, so a file may serve any
 * cluster and any trace, and an answer is either right or not found.
 *
 *      "DLSANSW1", number of entries, entries by digest, SHA-256 of all before
 *
 * Little-endian; an entry is 16 bytes of SHA-256 and a dls_kept_answer.
 */
#ifndef DLS_SOURCES_KEEP_H
#define DLS_SOURCES_KEEP_H

#include "dlsim/policy.h"

/* What is kept of a prediction. */
typedef struct dls_kept_answer {
    double iteration_s; /* 0: the predictor gave none */
    float metric[12];
    float link_bps, distance;
} dls_kept_answer;

typedef struct dls_answer_key {
    unsigned char digest[16];
} dls_answer_key;
dls_answer_key dls_answer_key_of(const char *text);

typedef struct dls_answers dls_answers;

dls_status dls_answers_create(dls_answers **out, dls_error *err) DLS_MUST_CHECK;
void dls_answers_destroy(dls_answers *a); /* NULL-safe */

/* Add what a file holds. EINPUT: missing, cut off, fails its checksum; *a is then as before. */
dls_status dls_answers_load(dls_answers *a, const char *path, dls_error *err) DLS_MUST_CHECK;
/* EOUTPUT: something else than such a file, or a beginning of one, is there, which is not written over. */
dls_status dls_answers_check_place(const char *path, dls_error *err) DLS_MUST_CHECK;
/* EOUTPUT, also as above. Written whole or not at all. */
dls_status dls_answers_save(const dls_answers *a, const char *path, dls_error *err) DLS_MUST_CHECK;

/* NULL: not there. O(1). */
const dls_kept_answer *dls_answers_find(const dls_answers *a, const dls_answer_key *key);
/* A key that is there keeps its answer. O(1) amortised. */
dls_status dls_answers_put(dls_answers *a, const dls_answer_key *key, const dls_kept_answer *answer,
                           dls_error *err) DLS_MUST_CHECK;

#endif
