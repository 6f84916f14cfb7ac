/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Memory of an engine, in inference and in training: blocks that stand as long as its weights, and
 * the arrays of a workspace one behind the other, laid out by the same code once to count and once
 * to use.
 */

typedef struct block_list {
    void **at;
    size_t n, cap;
} block_list;

static void blocks_free(const block_list *b)
{
    for (size_t i = 0; i < b->n; i++) {
        dls_free(b->at[i]);
    }
    dls_free(b->at);
}

/* *(void **)out becomes a block of zeros, behind which a vector may still be read. */
static dls_status take(block_list *b, size_t bytes, void *out, dls_error *err)
{
    DLS_TRY(dls_grow(&b->at, &b->cap, b->n + 1, sizeof *b->at, err));
    void *block = dls_alloc_aligned(bytes + 64);
    if (!block) {
        return dls_nomem(err, "packed weights", bytes);
    }
    memset(block, 0, bytes + 64);
    b->at[b->n++] = block;
    memcpy(out, &block, sizeof block);
    return DLS_OK;
}

typedef struct bump {
    char *at; /* NULL: only count */
    size_t used;
} bump;

static void *bump_take(bump *b, size_t n, size_t size)
{
    void *p = b->at ? b->at + b->used : NULL;
    b->used += (n * size + 63) / 64 * 64;
    return p;
}

static int32_t larger(int32_t a, int32_t b)
{
    return a > b ? a : b;
}
