/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Words of measured files that have few meanings, as PyTorch, Lightning, benchmarks and people write them:
 * without regard to case, blanks, '_', '-' and '.'. A word that is not here is refused rather than taken
 * for what a missing cell means.
 */
#ifndef DLS_MEASURED_WORDS_H
#define DLS_MEASURED_WORDS_H

#include <stdbool.h>
#include <stddef.h>

/* One meaning of a column's words. */
typedef struct dls_word {
    const char *is;       /* what this program calls it */
    const char *spelled;  /* its spellings as keys (dls_model_key), with '|' between them */
} dls_word;

/* Each ends with an entry of NULL; the first is what a missing cell means, but for layouts, of which
 * that is unknown. */
extern const dls_word dls_word_precisions[];  /* dls_numeric_find's */
extern const dls_word dls_word_modes[];       /* training, forward */
extern const dls_word dls_word_flags[];       /* 0, 1 */
extern const dls_word dls_word_layouts[];     /* nchw, nhwc */
extern const dls_word dls_word_attentions[];  /* eager, fused */
extern const dls_word dls_word_exchanges[];   /* allreduce, one, ps-sync, ps-async */
extern const dls_word dls_word_dividing[];    /* dp; what is not here says itself how it divides */
extern const dls_word dls_word_optimisers[];  /* none; others are any optimiser's name */

/* NULL: none. */
const char *dls_word_find(const dls_word *words, const char *text);
/* Is the word, of so many bytes, in a list with '|' between? */
bool dls_word_is_one_of(const char *list, const char *word, size_t length);
/* Is the key of the text among spellings? */
bool dls_word_is(const char *spelled, const char *text);

#endif
