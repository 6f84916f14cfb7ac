/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Memory that is given back all at once: what a file's messages are unpacked into, a hundred
 * thousand small pieces that live and die together.
 */
#ifndef DLS_GRAPH_ARENA_H
#define DLS_GRAPH_ARENA_H

#include <stddef.h>

typedef struct dls_arena_block dls_arena_block;

typedef struct dls_arena {
    dls_arena_block *blocks; /* the newest first */
    size_t used, size;       /* of the newest */
} dls_arena;

/* All zero is an empty arena. Zeroed memory aligned for any type, or NULL. O(bytes). */
void *dls_arena_alloc(dls_arena *arena, size_t bytes);
void dls_arena_fini(dls_arena *arena);

#endif
