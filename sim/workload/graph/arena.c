/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Bump allocator: pieces are cut from large blocks that are freed together.
 */
#include "workload/graph/arena.h"

#include "base/alloc.h"

#include <stdint.h>
#include <string.h>

#define BLOCK_BYTES ((size_t)64 << 10)
#define ALIGN (_Alignof(max_align_t))

struct dls_arena_block {
    dls_arena_block *next;
    max_align_t data[];
};

void *dls_arena_alloc(dls_arena *arena, size_t bytes)
{
    if (bytes > SIZE_MAX / 2) {
        return NULL;
    }
    bytes = (bytes + ALIGN - 1) / ALIGN * ALIGN;
    if (!arena->blocks || arena->size - arena->used < bytes) {
        const size_t size = bytes > BLOCK_BYTES ? bytes : BLOCK_BYTES;
        dls_arena_block *block = dls_alloc(sizeof *block + size);
        if (!block) {
            return NULL;
        }
        block->next = arena->blocks;
        arena->blocks = block;
        arena->size = size;
        arena->used = 0;
    }
    void *p = memset((char *)arena->blocks->data + arena->used, 0, bytes);
    arena->used += bytes;
    return p;
}

void dls_arena_fini(dls_arena *arena)
{
    while (arena->blocks) {
        dls_arena_block *next = arena->blocks->next;
        dls_free(arena->blocks);
        arena->blocks = next;
    }
    *arena = (dls_arena){0};
}
