/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Entries one behind the other in an anonymous shared mapping, published by the count of its bytes.
 */
#include "base/memo.h"

#include <stdatomic.h>
#include <stdint.h>
#include <string.h>
#include <sys/mman.h>

#define HEAD 65536                   /* of the mapping: a multiple of every page size */
#define ROOM ((size_t)256 << 20)     /* for entries; takes memory when it is used */
#define ALIGNED(n) (((n) + 15) & ~(size_t)15)

struct dls_memo {
    atomic_flag busy;   /* somebody adds an entry */
    atomic_size_t used; /* bytes of entries that are whole */
};

typedef struct entry {
    size_t n_key, bytes; /* bytes: of all of it */
} entry;

static unsigned char *room_of(const dls_memo *m)
{
    return (unsigned char *)(uintptr_t)m + HEAD;
}

dls_memo *dls_memo_create(void)
{
    void *at = mmap(NULL, HEAD + ROOM, PROT_READ, MAP_SHARED | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (at == MAP_FAILED) {
        return NULL;
    }
    dls_memo *m = at;
    if (mprotect(m, HEAD, PROT_READ | PROT_WRITE) != 0) {
        munmap(m, HEAD + ROOM);
        return NULL;
    }
    atomic_flag_clear(&m->busy);
    atomic_init(&m->used, 0);
    return m;
}

void dls_memo_destroy(dls_memo *m)
{
    if (m) {
        munmap(m, HEAD + ROOM);
    }
}

const void *dls_memo_find(const dls_memo *m, const void *key, size_t n_key)
{
    const unsigned char *at = m ? room_of(m) : NULL;
    const unsigned char *end = m ? at + atomic_load_explicit(&m->used, memory_order_acquire) : NULL;
    for (; at < end; at += ((const entry *)(const void *)at)->bytes) {
        const entry *e = (const entry *)(const void *)at;
        if (e->n_key == n_key && memcmp(e + 1, key, n_key) == 0) {
            return at + sizeof *e + ALIGNED(n_key);
        }
    }
    return NULL;
}

static void add(dls_memo *m, const void *key, size_t n_key, const struct iovec *part, size_t n_parts)
{
    const size_t used = atomic_load_explicit(&m->used, memory_order_relaxed);
    entry e = {.n_key = n_key, .bytes = sizeof e + ALIGNED(n_key)};
    for (size_t i = 0; i < n_parts; i++) {
        e.bytes += part[i].iov_len;
    }
    e.bytes = ALIGNED(e.bytes);
    unsigned char *at = room_of(m) + used, *page = room_of(m) + used / HEAD * HEAD;
    if (e.bytes > ROOM - used || mprotect(page, (size_t)(at - page) + e.bytes, PROT_READ | PROT_WRITE) != 0) {
        return;
    }
    memcpy(at, &e, sizeof e);
    memcpy(at + sizeof e, key, n_key);
    at += sizeof e + ALIGNED(n_key);
    for (size_t i = 0; i < n_parts; i++) {
        if (part[i].iov_len > 0) {
            memcpy(at, part[i].iov_base, part[i].iov_len);
        }
        at += part[i].iov_len;
    }
    (void)mprotect(page, (size_t)(at - page), PROT_READ);
    atomic_store_explicit(&m->used, used + e.bytes, memory_order_release);
}

void dls_memo_keep(dls_memo *m, const void *key, size_t n_key, const struct iovec *part,
                   size_t n_parts)
{
    if (!m || atomic_flag_test_and_set_explicit(&m->busy, memory_order_acquire)) {
        return;
    }
    if (!dls_memo_find(m, key, n_key)) {
        add(m, key, n_key, part, n_parts);
    }
    atomic_flag_clear_explicit(&m->busy, memory_order_release);
}
