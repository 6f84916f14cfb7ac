/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * HDF5 files as bytes, by the HDF5 File Format Specification, version 3.0: what base/h5.h writes with. Groups and datasets
 * are kept until the file is closed, then each becomes one object header with all that it has: links, attributes and
 * small cells. Chunks go to the file as they come.
 *
 * HDF5's own functions take 22 times the instructions for a small run (docs/performance.md): each attribute looks
 * through all the others of its header.
 */
#ifndef DLS_BASE_H5_WRITE_H
#define DLS_BASE_H5_WRITE_H

#include "base/h5.h"

/* Grows; what did not fit is remembered instead of said. */
typedef struct dls_h5_bytes {
    unsigned char *at;
    size_t n, room;
    bool failed;
} dls_h5_bytes;
void dls_h5_bytes_put(dls_h5_bytes *b, const void *data, size_t n);
void dls_h5_bytes_number(dls_h5_bytes *b, uint64_t value, size_t n); /* n bytes, the low one first */

typedef struct dls_h5_file dls_h5_file;

/* An attribute that is too long for a header. */
typedef struct dls_h5_late {
    struct dls_h5_late *next;
    const dls_h5_node *at;
    char *name, *text;
} dls_h5_late;

struct dls_h5_file {
    int fd;
    int first_errno;       /* of the disk: what comes after it is dropped */
    uint64_t flushed;      /* bytes in the file; `out` follows */
    dls_h5_bytes out;
    dls_h5_node *last;     /* each node knows the one before it */
    dls_h5_late *late;
};

struct dls_h5_node {
    dls_h5_file *file;
    dls_h5_node *before, *parent; /* parent NULL: the root */
    int32_t number; /* among the parent's */
    size_t link;    /* where the parent's messages want its address */
    bool is_group;
    dls_strdict names; /* of what is in a group */
    dls_h5_bytes messages;
};

/* The root. */
dls_status dls_h5_file_begin(dls_h5_file *file, int fd, dls_h5_node **root, dls_error *err) DLS_MUST_CHECK;
/* Returns where in the file it will be. */
uint64_t dls_h5_out(dls_h5_file *file, const void *data, size_t n);
/* All headers, and the file's own. `first_errno` and `failed` of what lies in memory say how it went. */
dls_status dls_h5_file_finish(dls_h5_file *file, dls_error *err) DLS_MUST_CHECK;
void dls_h5_file_destroy(dls_h5_file *file);

/* A dataset in chunks of so many cells. */
typedef struct dls_h5_chunks {
    size_t n, cells, width; /* cells in all and of a chunk, bytes of one */
    bool deflated;
    size_t size_bytes;  /* of a size in the index */
    dls_h5_bytes index; /* of each chunk: where it is, its size, four bytes for the filters that were left out */
} dls_h5_chunks;
/* All of them, packed. */
dls_status dls_h5_put_chunks(dls_h5_file *file, dls_h5_chunks *c, const char *name, dls_h5_fill_fn fill,
                             const void *ctx, dls_error *err) DLS_MUST_CHECK;

#endif
