/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Long columns of an HDF5 file: chunks pass the filters on several threads, and HDF5, which knows
 * one thread, is given what comes out, in order. Its own filters undo it (H5Zshuffle.c,
 * H5Zdeflate.c, H5Zfletcher32.c); what deflates is libdeflate, twice as fast as their zlib, and planes.c.
 */
#include "base/h5.h"
#include "base/own.h"
#include "base/planes.h"
#include "base/team.h"

#include <libdeflate.h>
#include <string.h>

enum {
    BATCH = 64,  /* chunks that are packed before they are written */
    THREADS = 8, /* more would wait for the file */
    SHARE = 2,   /* chunks that are worth a thread */
    LEVEL = 1,   /* 2 makes files of a run 5 % smaller in 1.3 times the time */
    FEW = 4,     /* chunks of numbers that repeat little: their planes are coded apart (planes.h) */
    SUM_BYTES = 4,
    NOT_DEFLATED = 1 << 1 /* the second filter */
};

typedef struct packed {
    unsigned char *bytes;
    size_t n;
    uint32_t mask; /* filters that were left out */
} packed;

typedef struct packer {
    dls_h5_fill_fn fill;
    const void *ctx;
    size_t n, width, rows; /* cells, bytes of one, cells of a chunk */
    size_t bytes;          /* of a chunk */
    bool apart;            /* planes of bytes */
    size_t first;          /* chunk of the batch */
    unsigned char *memory; /* of the threads, then of the batch */
    struct libdeflate_compressor *deflater[THREADS];
    packed out[BATCH];
} packer;

/* 0: it has no chunks. */
static size_t chunk_rows(hid_t set)
{
    const hid_t dcpl = H5Dget_create_plist(set);
    hsize_t rows = 0;
    if (H5Pget_layout(dcpl) != H5D_CHUNKED || H5Pget_chunk(dcpl, 1, &rows) < 0) {
        rows = 0;
    }
    H5Pclose(dcpl);
    return (size_t)rows;
}

/* Fletcher's, over words of two bytes with the high one first. */
static uint32_t fletcher32(const unsigned char *data, size_t n)
{
    uint32_t a = 0, b = 0;
    for (size_t at = 0; at < n; at += 720) {
        const size_t end = n - at < 720 ? n : at + 720;
        for (size_t i = at; i + 1 < end; i += 2) {
            a += (uint32_t)data[i] << 8 | data[i + 1];
            b += a;
        }
        if (end % 2) {
            a += (uint32_t)data[end - 1] << 8;
            b += a;
        }
        if (end == at + 720) { /* before a sum overflows */
            a = (a & 0xffff) + (a >> 16);
            b = (b & 0xffff) + (b >> 16);
        }
    }
    for (int k = 0; k < 2; k++) {
        a = (a & 0xffff) + (a >> 16);
        b = (b & 0xffff) + (b >> 16);
    }
    return b << 16 | a;
}

/* The first bytes of all cells, then the second, .. */
static inline void shuffle(const unsigned char *restrict cells, unsigned char *restrict to, size_t rows,
                           size_t width)
{
    for (size_t b = 0; b < width; b++) {
        for (size_t i = 0; i < rows; i++) {
            to[b * rows + i] = cells[i * width + b];
        }
    }
}

static void pack(void *user, int32_t seat, size_t item)
{
    packer *p = user;
    packed *out = &p->out[item];
    unsigned char *room = p->memory + (size_t)seat * 2 * p->bytes, *shuffled = room + p->bytes;
    const size_t at = (p->first + item) * p->rows, n = p->n - at < p->rows ? p->n - at : p->rows;
    const void *cells = p->fill(p->ctx, at, n, p->width, (char *)room);
    if (n < p->rows) {
        memmove(room, cells, n * p->width);
        memset(room + n * p->width, 0, (p->rows - n) * p->width);
        cells = room;
    }
    switch (p->width) { /* a width that the compiler knows makes several bytes an instruction */
    case 8:
        shuffle(cells, shuffled, p->rows, 8);
        break;
    case 4:
        shuffle(cells, shuffled, p->rows, 4);
        break;
    default:
        shuffle(cells, shuffled, p->rows, p->width);
    }
    size_t size = p->apart ? dls_planes_deflate(shuffled, p->width, p->rows, out->bytes, p->bytes - 1)
                           : libdeflate_zlib_compress(p->deflater[seat], shuffled, p->bytes, out->bytes, p->bytes - 1);
    out->mask = size > 0 ? 0 : NOT_DEFLATED; /* it would not be smaller */
    if (size == 0) {
        memcpy(out->bytes, shuffled, p->bytes);
        size = p->bytes;
    }
    const uint32_t sum = fletcher32(out->bytes, size);
    for (int b = 0; b < SUM_BYTES; b++) {
        out->bytes[size++] = (unsigned char)(sum >> 8 * b);
    }
    out->n = size;
}

static dls_status put_all(packer *p, hid_t set, int32_t threads, const char *name, dls_error *err)
{
    const size_t chunks = (p->n + p->rows - 1) / p->rows;
    for (p->first = 0; p->first < chunks; p->first += BATCH) {
        const size_t n = chunks - p->first < BATCH ? chunks - p->first : BATCH;
        dls_team_run(threads, n, pack, p);
        for (size_t i = 0; i < n; i++) {
            const hsize_t at = (p->first + i) * p->rows;
            if (H5Dwrite_chunk(set, H5P_DEFAULT, p->out[i].mask, &at, p->out[i].n,
                               p->out[i].bytes) < 0) {
                return dls_h5_unwritten(err, name);
            }
        }
    }
    return DLS_OK;
}

static void packer_fini(packer *p)
{
    for (int i = 0; i < THREADS; i++) {
        if (p->deflater[i]) {
            libdeflate_free_compressor(p->deflater[i]);
        }
    }
    dls_free(p->memory);
}

dls_status dls_h5_put_chunks(hid_t set, const char *name, size_t n, size_t width,
                             dls_h5_fill_fn fill, const void *ctx, dls_error *err)
{
    DLS_OWN(packer_fini)
    packer p = {.fill = fill, .ctx = ctx, .n = n, .width = width, .rows = chunk_rows(set)};
    if (p.rows == 0) {
        return dls_h5_unwritten(err, name);
    }
    const size_t chunks = (n + p.rows - 1) / p.rows, batch = chunks < BATCH ? chunks : BATCH;
    const size_t cores = (size_t)dls_team_cores(), most = cores < THREADS ? cores : THREADS;
    const size_t shares = (batch + SHARE - 1) / SHARE, threads = most < shares ? most : shares;
    p.bytes = p.rows * width;
    p.apart = chunks <= FEW && (width == 4 || width == 8) && p.rows <= DLS_PLANE_MOST;
    for (size_t i = 0; i < threads && !p.apart; i++) {
        p.deflater[i] = libdeflate_alloc_compressor(LEVEL);
        if (!p.deflater[i]) {
            return dls_nomem(err, name, 0);
        }
    }
    const size_t room = threads * 2 * p.bytes + batch * (p.bytes + SUM_BYTES);
    p.memory = dls_alloc(room);
    if (!p.memory) {
        return dls_nomem(err, name, room);
    }
    for (size_t i = 0; i < batch; i++) {
        p.out[i].bytes = p.memory + threads * 2 * p.bytes + i * (p.bytes + SUM_BYTES);
    }
    return put_all(&p, set, (int32_t)threads, name, err);
}
