/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Dictionary of strings with dense codes: one buffer of text and an open-addressing table of hashes
 * with linear probing.
 */
#include "base/strdict.h"

#include "base/alloc.h"
#include "base/assert.h"

#include <string.h>

static uint32_t hash_bytes(const char *s, size_t len)
{
    uint64_t h = len, word = 0;
    for (; len > 0; s += sizeof word, len -= len < sizeof word ? len : sizeof word) {
        if (len >= sizeof word) {
            memcpy(&word, s, sizeof word);
        } else {
            word = 0;
            memcpy(&word, s, len);
        }
        h = (h ^ word) * UINT64_C(0x9E3779B97F4A7C15);
        h ^= h >> 32;
    }
    return (uint32_t)h;
}

void dls_strdict_fini(dls_strdict *dict)
{
    DLS_FREE_ALL(dict->text, dict->offset, dict->slot);
    *dict = (dls_strdict){0};
}

void dls_strdict_seal(dls_strdict *dict)
{
    dls_free(dict->slot);
    dict->slot = NULL;
    dict->n_slots = 0;
}

const char *dls_strdict_get(const dls_strdict *dict, int32_t code)
{
    return code >= 0 && (size_t)code < dict->n ? dict->text + dict->offset[code] : "";
}

/* The slot that holds s, or the empty one where it belongs. */
static size_t probe(const dls_strdict *dict, const char *s, size_t len, uint32_t hash)
{
    size_t i = hash & (dict->n_slots - 1);
    for (;; i = (i + 1) & (dict->n_slots - 1)) {
        const uint32_t next = dict->slot[i].next;
        if (next == 0) {
            return i;
        }
        if (dict->slot[i].hash != hash) {
            continue;
        }
        const size_t at = dict->offset[next - 1];
        const size_t end = next < dict->n ? dict->offset[next] : dict->text_len;
        if (end - at == len + 1 && memcmp(dict->text + at, s, len) == 0) {
            return i;
        }
    }
}

int32_t dls_strdict_find(const dls_strdict *dict, const char *s, size_t len)
{
    DLS_ASSERT(dict->slot || dict->n == 0); /* not sealed */
    return dict->n_slots ? (int32_t)dict->slot[probe(dict, s, len, hash_bytes(s, len))].next - 1 : -1;
}

static dls_status rehash(dls_strdict *dict, size_t n_slots, dls_error *err)
{
    dls_strdict_slot *slot;
    DLS_TRY(dls_alloc_array(&slot, n_slots, sizeof *slot, "string dictionary", err));
    for (size_t from = 0; from < dict->n_slots; from++) { /* all distinct: the first free slot is it */
        size_t i = dict->slot[from].hash & (n_slots - 1);
        for (; dict->slot[from].next && slot[i].next; i = (i + 1) & (n_slots - 1)) {
        }
        if (dict->slot[from].next) {
            slot[i] = dict->slot[from];
        }
    }
    dls_free(dict->slot);
    dict->slot = slot;
    dict->n_slots = n_slots;
    return DLS_OK;
}

dls_status dls_strdict_put(dls_strdict *dict, const char *s, size_t len, int32_t *code,
                           dls_error *err)
{
    DLS_ASSERT(dict->slot || dict->n == 0);
    if (dict->n * 4 >= dict->n_slots * 3) {
        DLS_TRY(rehash(dict, dict->n_slots ? dict->n_slots * 2 : 64, err));
    }
    const uint32_t hash = hash_bytes(s, len);
    const size_t at = probe(dict, s, len, hash);
    if (dict->slot[at].next == 0) {
        if (dict->n == INT32_MAX) {
            return dls_fail(err, DLS_ENOMEM, NULL, "more than 2^31-1 distinct strings");
        }
        if (len >= UINT32_MAX - dict->text_len) {
            return dls_fail(err, DLS_ENOMEM, NULL, "more than 4 GiB of distinct strings");
        }
        DLS_TRY(dls_grow(&dict->text, &dict->text_cap, dict->text_len + len + 1, 1, err));
        DLS_TRY(dls_grow(&dict->offset, &dict->offset_cap, dict->n + 1, sizeof *dict->offset, err));
        memcpy(dict->text + dict->text_len, s, len);
        dict->text[dict->text_len + len] = '\0';
        dict->offset[dict->n] = (uint32_t)dict->text_len;
        dict->text_len += len + 1;
        dict->slot[at] = (dls_strdict_slot){hash, (uint32_t)++dict->n};
    }
    *code = (int32_t)dict->slot[at].next - 1;
    return DLS_OK;
}
