/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "results/chunks.h"

#include "base/alloc.h"

#include <pthread.h>
#include <string.h>
#include <zlib.h>

enum {
    WORKERS_MAX = 8,
    RING = 8,                    /* chunks under way when there are workers */
    TEXT_CHUNK_BYTES = 1 << 19,  /* wide texts get fewer rows per chunk */
    PLAIN_BYTES = 1 << 16,       /* a column below is stored as it is */
    THREADS_FROM_BYTES = 1 << 18 /* below, starting threads costs more than it saves */
};

/* zlib's level and strategy. After the shuffle a chunk is planes of equal bytes and planes of
 * noise: run lengths catch the first and Huffman coding does what can be done for the second.
 * Searching for longer matches costs 1.6 times the CPU time for a tenth of the size
 * (docs/results.md). */
#define LEVEL 1
#define STRATEGY Z_RLE

typedef struct slot {
    const dls_column *column;
    const char *table;
    hid_t dataset;
    size_t first, rows; /* of the column */
    size_t chunk_rows;  /* a chunk is stored whole: rows..chunk_rows are zero */
    size_t width;
    bool last; /* of its dataset */
    unsigned char *raw, *out;
    size_t raw_cap, out_cap, out_len;
    bool ready; /* out holds the chunk */
    bool failed;
} slot;

typedef struct deflater {
    z_stream z;
    bool live;
} deflater;

struct dls_chunks {
    const dls_h5 *h5;
    slot ring[RING];
    size_t issued, taken, written; /* chunks so far; chunk i is in ring[i % RING] */
    int workers, started;
    pthread_t thread[WORKERS_MAX];
    pthread_mutex_t lock;
    pthread_cond_t work, done;
    bool stop;
    deflater own;         /* of the calling thread */
    unsigned char *plain; /* texts of a small column */
    size_t plain_cap;
};

/* ---- one chunk ---------------------------------------------------------------------------------
 */

/* HDF5's shuffle: byte b of every value, then byte b + 1 of every value. */
static void shuffle(const unsigned char *restrict src, size_t n, size_t width,
                    unsigned char *restrict dst)
{
    for (size_t b = 0; b < width; b++) {
        unsigned char *restrict plane = dst + b * n;
        for (size_t i = 0; i < n; i++) {
            plane[i] = src[i * width + b];
        }
    }
}

static void *zlib_alloc(void *opaque, unsigned n, unsigned size)
{
    (void)opaque;
    return dls_alloc_zero(n, size);
}

static void zlib_free(void *opaque, void *p)
{
    (void)opaque;
    dls_free(p);
}

static bool deflater_ready(deflater *d)
{
    if (d->live) {
        return deflateReset(&d->z) == Z_OK;
    }
    memset(&d->z, 0, sizeof d->z);
    d->z.zalloc = zlib_alloc;
    d->z.zfree = zlib_free;
    d->live = deflateInit2(&d->z, LEVEL, Z_DEFLATED, 15, 8, STRATEGY) == Z_OK;
    return d->live;
}

static void deflater_fini(deflater *d)
{
    if (d->live) {
        deflateEnd(&d->z);
        d->live = false;
    }
}

static bool compress_slot(slot *s, deflater *d)
{
    const size_t bytes = s->rows * s->width, whole = s->chunk_rows * s->width;
    const unsigned char *src;
    if (s->column->data) {
        src = (const unsigned char *)s->column->data + s->first * s->width;
    } else {
        s->column->fill(s->column->ctx, s->first, s->rows, s->width, (char *)s->out);
        src = s->out;
    }
    if (s->rows == s->chunk_rows) {
        shuffle(src, s->rows, s->width, s->raw);
    } else {
        if (src != s->out) {
            memcpy(s->out, src, bytes);
        }
        memset(s->out + bytes, 0, whole - bytes);
        shuffle(s->out, s->chunk_rows, s->width, s->raw);
    }
    if (!deflater_ready(d)) {
        return false;
    }
    d->z.next_in = s->raw;
    d->z.avail_in = (uInt)whole;
    d->z.next_out = s->out;
    d->z.avail_out = (uInt)s->out_cap;
    if (deflate(&d->z, Z_FINISH) != Z_STREAM_END) {
        return false;
    }
    s->out_len = s->out_cap - d->z.avail_out;
    return true;
}

/* ---- threads -----------------------------------------------------------------------------------
 */

static void *worker(void *user)
{
    dls_chunks *c = user;
    deflater own = {.live = false};
    pthread_mutex_lock(&c->lock);
    for (;;) {
        while (c->taken == c->issued && !c->stop) {
            pthread_cond_wait(&c->work, &c->lock);
        }
        if (c->taken == c->issued) {
            break;
        }
        slot *s = &c->ring[c->taken++ % RING];
        pthread_mutex_unlock(&c->lock);
        const bool done = compress_slot(s, &own);
        pthread_mutex_lock(&c->lock);
        s->failed = !done;
        s->ready = true;
        pthread_cond_signal(&c->done);
    }
    pthread_mutex_unlock(&c->lock);
    deflater_fini(&own);
    return NULL;
}

/* Fewer threads than asked for, or none, is only slower. */
static void start_workers(dls_chunks *c)
{
    while (c->started < c->workers &&
           pthread_create(&c->thread[c->started], NULL, worker, c) == 0) {
        c->started++;
    }
    c->workers = c->started;
}

dls_status dls_chunks_create(const dls_h5 *h5, int workers, dls_chunks **out, dls_error *err)
{
    dls_chunks *c = dls_alloc_zero(1, sizeof *c);
    if (!c) {
        return dls_nomem(err, "chunk writer", sizeof *c);
    }
    c->h5 = h5;
    c->workers = workers < WORKERS_MAX ? workers : WORKERS_MAX;
    pthread_mutex_init(&c->lock, NULL);
    pthread_cond_init(&c->work, NULL);
    pthread_cond_init(&c->done, NULL);
    *out = c;
    return DLS_OK;
}

void dls_chunks_destroy(dls_chunks *c)
{
    if (!c) {
        return;
    }
    pthread_mutex_lock(&c->lock);
    c->stop = true;
    pthread_cond_broadcast(&c->work);
    pthread_mutex_unlock(&c->lock);
    for (int i = 0; i < c->started; i++) {
        pthread_join(c->thread[i], NULL);
    }
    pthread_mutex_destroy(&c->lock);
    pthread_cond_destroy(&c->work);
    pthread_cond_destroy(&c->done);
    deflater_fini(&c->own);
    for (int i = 0; i < RING; i++) {
        dls_free(c->ring[i].raw);
        dls_free(c->ring[i].out);
    }
    dls_free(c->plain);
    dls_free(c);
}

/* ---- the pipeline ------------------------------------------------------------------------------
 */

/* Take the oldest chunk out of the ring, compressed, and write it unless `drop`. */
static dls_status retire(dls_chunks *c, bool drop, dls_error *err)
{
    slot *s = &c->ring[c->written % RING];
    pthread_mutex_lock(&c->lock);
    const bool untouched = c->taken == c->written; /* chunks are taken in order */
    if (untouched) {
        c->taken++;
    } else {
        while (!s->ready) {
            pthread_cond_wait(&c->done, &c->lock);
        }
    }
    pthread_mutex_unlock(&c->lock);
    if (untouched) { /* better than to wait for somebody else to begin */
        s->failed = !drop && !compress_slot(s, &c->own);
    }
    c->written++;
    dls_status status = DLS_OK;
    const hsize_t at = s->first;
    if (drop) {
        status = DLS_OK;
    } else if (s->failed) {
        status = dls_nomem(err, "compressing results", s->out_cap);
    } else if (H5Dwrite_chunk(s->dataset, H5P_DEFAULT, 0, &at, s->out_len, s->out) < 0 ||
               c->h5->write_errno) {
        status = dls_h5_fail(c->h5, err, "column '%s/%s'", s->table, s->column->name);
    }
    if (s->last && H5Dclose(s->dataset) < 0 && status == DLS_OK && !drop) {
        status = dls_h5_fail(c->h5, err, "column '%s/%s'", s->table, s->column->name);
    }
    return status;
}

/* chunk_rows 0: contiguous, without filters. */
static dls_status create_dataset(dls_chunks *c, hid_t at, const char *table, const dls_column *col,
                                 hid_t type, size_t n, size_t chunk_rows, hid_t *out,
                                 dls_error *err)
{
    const hsize_t dim = n, chunk = chunk_rows;
    const hid_t space = H5Screate_simple(1, &dim, NULL);
    const hid_t dcpl = H5Pcreate(H5P_DATASET_CREATE);
    H5Pset_obj_track_times(dcpl, false);
    H5Pset_fill_time(dcpl, H5D_FILL_TIME_NEVER);
    if (chunk_rows > 0) {
        H5Pset_chunk(dcpl, 1, &chunk);
        H5Pset_shuffle(dcpl);
        H5Pset_deflate(dcpl, LEVEL);
    }
    const hid_t set = H5Dcreate2(at, col->name, type, space, H5P_DEFAULT, dcpl, H5P_DEFAULT);
    dls_status status =
        set >= 0 ? DLS_OK : dls_h5_fail(c->h5, err, "column '%s/%s'", table, col->name);
    H5Pclose(dcpl);
    H5Sclose(space);
    if (status == DLS_OK) {
        status = dls_h5_describe(c->h5, set, col->units, col->description, err);
    }
    if (set >= 0 && status != DLS_OK) {
        H5Dclose(set);
    }
    *out = set;
    return status;
}

static dls_status grow_buffer(unsigned char **buffer, size_t *cap, size_t bytes, dls_error *err)
{
    if (bytes <= *cap) {
        return DLS_OK;
    }
    dls_free(*buffer);
    *cap = 0;
    *buffer = dls_alloc(bytes);
    if (!*buffer) {
        return dls_nomem(err, "compressing results", bytes);
    }
    *cap = bytes;
    return DLS_OK;
}

/* Put the chunk that starts at row `first` into the ring. */
static dls_status issue(dls_chunks *c, const slot *what, dls_error *err)
{
    if (c->issued - c->written == RING) {
        DLS_TRY(retire(c, false, err));
    }
    slot *s = &c->ring[c->issued % RING];
    const size_t whole = what->chunk_rows * what->width;
    DLS_TRY(grow_buffer(&s->raw, &s->raw_cap, whole, err));
    DLS_TRY(grow_buffer(&s->out, &s->out_cap, compressBound(whole) + 64, err));
    s->column = what->column;
    s->table = what->table;
    s->dataset = what->dataset;
    s->first = what->first;
    s->rows = what->rows;
    s->chunk_rows = what->chunk_rows;
    s->width = what->width;
    s->last = what->last;
    s->ready = s->failed = false;
    pthread_mutex_lock(&c->lock);
    c->issued++;
    pthread_cond_signal(&c->work);
    pthread_mutex_unlock(&c->lock);
    return DLS_OK;
}

static size_t width_of(const dls_column *col)
{
    return col->width ? col->width : dls_field_width(col->type);
}

/* Filters would cost more than the room that they save, and the index of a single chunk takes half
 * of that back. */
static dls_status write_plain(dls_chunks *c, hid_t at, const char *table, const dls_column *col,
                              hid_t type, size_t n, dls_error *err)
{
    const size_t bytes = n * width_of(col);
    const void *rows = col->data;
    hid_t set;
    if (!rows && n > 0) {
        DLS_TRY(grow_buffer(&c->plain, &c->plain_cap, bytes, err));
        col->fill(col->ctx, 0, n, width_of(col), (char *)c->plain);
        rows = c->plain;
    }
    DLS_TRY(create_dataset(c, at, table, col, type, n, 0, &set, err));
    const bool written =
        (n == 0 || H5Dwrite(set, type, H5S_ALL, H5S_ALL, H5P_DEFAULT, rows) >= 0) &&
        !c->h5->write_errno;
    const dls_status status =
        written ? DLS_OK : dls_h5_fail(c->h5, err, "column '%s/%s'", table, col->name);
    H5Dclose(set);
    return status;
}

static dls_status write_chunks(dls_chunks *c, hid_t at, const char *table, const dls_column *col,
                               hid_t type, size_t n, dls_error *err)
{
    const size_t width = width_of(col);
    size_t chunk_rows = DLS_CHUNK_ROWS;
    if (col->type == DLS_FIELD_TEXT && chunk_rows * width > TEXT_CHUNK_BYTES) {
        chunk_rows = width < TEXT_CHUNK_BYTES ? TEXT_CHUNK_BYTES / width : 1;
    }
    chunk_rows = n < chunk_rows ? n : chunk_rows;
    slot what = {.column = col, .table = table, .chunk_rows = chunk_rows, .width = width};
    DLS_TRY(create_dataset(c, at, table, col, type, n, chunk_rows, &what.dataset, err));
    for (size_t first = 0; first < n; first += chunk_rows) {
        what.first = first;
        what.rows = n - first < chunk_rows ? n - first : chunk_rows;
        what.last = first + what.rows == n;
        const dls_status status = issue(c, &what, err);
        if (status != DLS_OK) {
            H5Dclose(what.dataset);
            return status;
        }
    }
    return DLS_OK;
}

static dls_status write_column(dls_chunks *c, hid_t at, const char *table, const dls_column *col,
                               size_t n, dls_error *err)
{
    /* Columns lie in memory as they do in the file. */
    const hid_t type = dls_h5_type(col->type, width_of(col), true);
    const dls_status status = n * width_of(col) < PLAIN_BYTES
                                  ? write_plain(c, at, table, col, type, n, err)
                                  : write_chunks(c, at, table, col, type, n, err);
    H5Tclose(type);
    return status;
}

dls_status dls_chunks_write(dls_chunks *c, hid_t at, const char *table, const dls_column *columns,
                            size_t n_columns, size_t n, dls_error *err)
{
    const bool any = n * sizeof(int64_t) >= PLAIN_BYTES; /* to compress */
    if (any && n * n_columns * 4 >= THREADS_FROM_BYTES && c->started == 0) {
        start_workers(c);
    }
    dls_status status = DLS_OK;
    for (size_t i = 0; i < n_columns && status == DLS_OK; i++) {
        status = write_column(c, at, table, &columns[i], n, err);
    }
    while (c->written < c->issued) {
        const dls_status last = retire(c, status != DLS_OK, err);
        status = status == DLS_OK ? last : status;
    }
    return status;
}
