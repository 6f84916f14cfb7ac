/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * A dictionary of strings, or of keys of any bytes: each distinct one gets a dense code 0, 1, 2,
 * ... in the order of first sight. Codes never change, so iteration order is insertion order and
 * not a hash's. The one hash table of dlsim: what belongs to a key is an array by its code. A
 * struct that is a key has no padding.
 */
#ifndef DLS_BASE_STRDICT_H
#define DLS_BASE_STRDICT_H

#include "dlsim/error.h"

#include <stddef.h>
#include <stdint.h>

typedef struct dls_strdict_slot {
    uint32_t hash; /* of the string: most lookups end without touching text */
    uint32_t next; /* to the code; 0: free */
} dls_strdict_slot;

/* Zeroed, it is empty. */
typedef struct dls_strdict {
    char *text;       /* the strings, each terminated, one behind the other */
    size_t text_len, text_cap;
    uint32_t *offset; /* [n] start of each string in text */
    size_t n, offset_cap;
    dls_strdict_slot *slot; /* [n_slots] open addressing */
    size_t n_slots;         /* a power of two */
} dls_strdict;

void dls_strdict_fini(dls_strdict *dict);
/* Code of s, added if new. O(length). */
dls_status dls_strdict_put(dls_strdict *dict, const char *s, size_t len, int32_t *code,
                           dls_error *err) DLS_MUST_CHECK;
/* No more strings will be added or looked for: give back what only that needs. */
void dls_strdict_seal(dls_strdict *dict);
/* Code of s or -1. */
int32_t dls_strdict_find(const dls_strdict *dict, const char *s, size_t len);
/* Borrowed until the next put. "" for a code out of range. */
const char *dls_strdict_get(const dls_strdict *dict, int32_t code);

#endif
