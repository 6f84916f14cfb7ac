/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Columns into HDF5 datasets. Long ones: 65,536 rows per chunk, shuffled and deflated as HDF5's own
 * filters would, but by worker threads and with a strategy that fits shuffled integers; the calling
 * thread alone talks to HDF5.
 *
 *      columns --> ring of chunks --> workers: fill, shuffle, deflate --> caller: H5Dwrite_chunk
 *
 * The caller compresses, too, when the chunk that it wants next is one that no worker has begun.
 *
 * A column of less than 64 KiB is one contiguous piece without filters: a run of 60 jobs has fifty
 * of them, and each chunk would need an index of its own.
 *
 * Chunks are written in one fixed order, so the bytes do not depend on the number of threads.
 */
#ifndef DLS_RESULTS_CHUNKS_H
#define DLS_RESULTS_CHUNKS_H

#include "results/h5.h"

#define DLS_CHUNK_ROWS 65536

typedef struct dls_chunks dls_chunks;

/* Up to `workers` threads, started when the first long table comes; 0: the caller does it all. */
dls_status dls_chunks_create(const dls_h5 *h5, int workers, dls_chunks **out,
                             dls_error *err) DLS_MUST_CHECK;
/* Write each column as a dataset of n rows in group `at`. table names it in messages. */
dls_status dls_chunks_write(dls_chunks *chunks, hid_t at, const char *table,
                            const dls_column *columns, size_t n_columns, size_t n,
                            dls_error *err) DLS_MUST_CHECK;
void dls_chunks_destroy(dls_chunks *chunks); /* NULL-safe; joins the threads */

#endif
