/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Networks of convolutions as texts, read from the left to the right:
 *
 *      3:64         convolution of 3 x 3 to 64 channels; 1x7:64 of one row of 7
 *      3v/2:64      only where the window fits, every second place
 *      m3/2 a3      the greatest, the mean of a window
 *      [.. | ..]    branches that read the same and are joined; ^ in front: the first of the joined
 *      4*[..]       four times
 *
 * What joins stands before the bracket, [ or another character that the reader of a text knows.
 */
#ifndef DLS_GRAPH_LAYER_TEXT_H
#define DLS_GRAPH_LAYER_TEXT_H

#include <stdbool.h>
#include <stdint.h>

#define DLS_LAYER_BRANCHES 4

typedef struct dls_layer_word {
    char kind; /* 'c' a convolution, 'm', 'a' */
    int32_t kernel_h, kernel_w, stride, out;
    bool valid;
} dls_layer_word;

/* What is known of a tensor: a handle, a shape. */
typedef struct dls_layer_at {
    int32_t v[3];
} dls_layer_at;

typedef struct dls_layer_reader {
    void *user;
    dls_layer_at (*layer)(void *user, dls_layer_at at, const dls_layer_word *word);
    /* how: the character; in: what the n branches read. */
    dls_layer_at (*join)(void *user, char how, dls_layer_at in, const dls_layer_at *branch, int n);
} dls_layer_reader;

/* Texts are those of this program: none is checked. */
dls_layer_at dls_layer_text(const dls_layer_reader *reader, const char *text, dls_layer_at at);

#endif
