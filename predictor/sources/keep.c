/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Store of predictions by digest of the question: a table in memory and a checksummed, sorted file,
 * for the cache of a predictor and for recordings of a run.
 */
#include "predictor/sources/keep.h"

#include "base/alloc.h"
#include "base/atomicfile.h"
#include "base/file.h"
#include "base/own.h"
#include "base/sha256.h"
#include "base/strdict.h"

#include <fcntl.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define MAGIC "DLSANSW1"
#define HEAD_BYTES 16 /* magic and number of entries */
#define SUM_BYTES 64  /* in hexadecimal */

typedef struct entry {
    dls_answer_key key;
    dls_kept_answer answer;
} entry;

struct dls_answers {
    entry *entry;
    size_t n, cap;
    dls_strdict keys; /* code: entry */
};

dls_answer_key dls_answer_key_of(const char *text)
{
    char hex[DLS_SHA256_HEX];
    dls_answer_key key;
    dls_sha256_hex(text, strlen(text), hex);
    for (size_t i = 0; i < sizeof key.digest; i++) {
        const char two[3] = {hex[2 * i], hex[2 * i + 1], '\0'};
        key.digest[i] = (unsigned char)strtoul(two, NULL, 16);
    }
    return key;
}

dls_status dls_answers_create(dls_answers **out, dls_error *err)
{
    *out = dls_alloc_zero(1, sizeof **out);
    return *out ? DLS_OK : dls_nomem(err, "answers", sizeof **out);
}

void dls_answers_destroy(dls_answers *a)
{
    if (a) {
        dls_free(a->entry);
        dls_strdict_fini(&a->keys);
        dls_free(a);
    }
}

const dls_kept_answer *dls_answers_find(const dls_answers *a, const dls_answer_key *key)
{
    const int32_t i = dls_strdict_find(&a->keys, (const char *)key->digest, sizeof key->digest);
    return i >= 0 ? &a->entry[i].answer : NULL;
}

dls_status dls_answers_put(dls_answers *a, const dls_answer_key *key, const dls_kept_answer *answer,
                           dls_error *err)
{
    int32_t code;
    DLS_TRY(dls_grow(&a->entry, &a->cap, a->n + 1, sizeof *a->entry, err));
    DLS_TRY(dls_strdict_put(&a->keys, (const char *)key->digest, sizeof key->digest, &code, err));
    if ((size_t)code == a->n) {
        a->entry[a->n++] = (entry){*key, *answer};
    }
    return DLS_OK;
}

/* ---- files ----------------------------------------------------------------------------------- */

static bool is_answer(const dls_kept_answer *answer)
{
    return answer->iteration_s >= 0 && isfinite(answer->iteration_s) && answer->distance >= 0;
}

static dls_status take_in(dls_answers *a, const char *bytes, size_t n, const char *path,
                          dls_error *err)
{
    char hex[DLS_SHA256_HEX];
    uint64_t count = 0;
    if (n < HEAD_BYTES + SUM_BYTES || memcmp(bytes, MAGIC, 8) != 0) {
        return dls_fail(err, DLS_EINPUT, path, "is no file of predictions");
    }
    memcpy(&count, bytes + 8, sizeof count);
    if (count > INT32_MAX || n != HEAD_BYTES + count * sizeof(entry) + SUM_BYTES) {
        return dls_fail(err, DLS_EINPUT, path, "is cut off");
    }
    dls_sha256_hex(bytes, n - SUM_BYTES, hex);
    if (memcmp(hex, bytes + n - SUM_BYTES, SUM_BYTES) != 0) {
        return dls_fail(err, DLS_EINPUT, path, "fails its checksum");
    }
    for (uint64_t i = 0; i < count; i++) {
        entry e;
        memcpy(&e, bytes + HEAD_BYTES + i * sizeof e, sizeof e);
        if (is_answer(&e.answer)) {
            DLS_TRY(dls_answers_put(a, &e.key, &e.answer, err));
        }
    }
    return DLS_OK;
}

dls_status dls_answers_load(dls_answers *a, const char *path, dls_error *err)
{
    DLS_FREED char *bytes = NULL;
    size_t n;
    DLS_TRY(dls_file_read(path, DLS_FILE_TABLE, &bytes, &n, err));
    return take_in(a, bytes, n, path, err);
}

DLS_BY(by_digest, entry, memcmp(x->key.digest, y->key.digest, 16));

static void put(FILE *file, dls_sha256 *sha, const void *bytes, size_t n)
{
    dls_sha256_update(sha, bytes, n);
    fwrite(bytes, 1, n, file);
}

typedef struct sorted_answers {
    const entry *entry;
    uint64_t n;
} sorted_answers;

static dls_status write_all(FILE *file, void *what, dls_error *err)
{
    const sorted_answers *a = what;
    dls_sha256 sha;
    char hex[DLS_SHA256_HEX];
    dls_sha256_init(&sha);
    put(file, &sha, MAGIC, 8);
    put(file, &sha, &a->n, sizeof a->n);
    put(file, &sha, a->entry, a->n * sizeof *a->entry);
    dls_sha256_final(&sha, hex);
    fwrite(hex, 1, SUM_BYTES, file);
    return DLS_OK;
}

dls_status dls_answers_check_place(const char *path, dls_error *err)
{
    char head[8];
    const int fd = open(path, O_RDONLY | O_NONBLOCK | O_CLOEXEC);
    const ssize_t n = fd < 0 ? 0 : read(fd, head, sizeof head);
    if (fd >= 0) {
        close(fd);
    }
    return n <= 0 || memcmp(head, MAGIC, (size_t)n) == 0
               ? DLS_OK
               : dls_fail(err, DLS_EOUTPUT, path, "is there already, and is no file of predictions");
}

dls_status dls_answers_save(const dls_answers *a, const char *path, dls_error *err)
{
    DLS_FREED entry *sorted = NULL;
    DLS_TRY(dls_answers_check_place(path, err));
    DLS_TRY(dls_alloc_array(&sorted, a->n + 1, sizeof *sorted, "answers", err));
    if (a->n > 0) {
        memcpy(sorted, a->entry, a->n * sizeof *sorted);
        qsort(sorted, a->n, sizeof *sorted, by_digest);
    }
    return dls_atomicfile_write(path, write_all, &(sorted_answers){sorted, a->n}, err);
}
