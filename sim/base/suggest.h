/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Names: how one ends, the row of a table that has one, and "Did you mean ...?", the name nearest to a mistyped
 * word.
 */
#ifndef DLS_BASE_SUGGEST_H
#define DLS_BASE_SUGGEST_H

#include <stdbool.h>
#include <stddef.h>
#include <string.h>

static inline bool dls_ends_with(const char *text, const char *end)
{
    const size_t n = strlen(text), m = strlen(end);
    return n >= m && strcmp(text + n - m, end) == 0;
}

/* The row that is called so, of n rows of `size` bytes that begin with their names; n if there is
 * none. A row whose name is NULL ends them. */
size_t dls_named(const void *rows, size_t n, size_t size, const char *name);
/* The same of an array, of structs or of names alone. */
#define DLS_NAMED(rows, name)                                                                      \
    dls_named((rows), sizeof(rows) / sizeof *(rows), sizeof *(rows), (name))

/* Edits (insert, delete, replace, swap of neighbours) that turn a into b, letter case ignored:
 * the optimal string alignment form of the Damerau-Levenshtein distance. Words of more than 63
 * bytes are as far apart as their longer length. More than `most`, where it is more: given up as
 * soon as that is known. O(|a| |b|), no allocation. */
size_t dls_edit_distance(const char *a, const char *b, size_t most);

/* The candidate (list ended by NULL) nearest to word, the first of equals; NULL when none is within
 * a third of the word's length (at least one edit). One that begins with the word, if that has four
 * letters, is near enough. An exact match is returned too. */
const char *dls_suggest(const char *word, const char *const *candidates);

/* " (did you mean 'near'?)"; "" for NULL. Returns buf. */
const char *dls_did_you_mean(const char *near, char *buf, size_t n);
/* The same as text that lives as long as the block it stands in. */
#define DLS_DID_YOU_MEAN(near) dls_did_you_mean((near), (char[160]){0}, 160)

#endif
