/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * The little of HDF5 that graph files need: columns, dictionaries of strings, text and integer
 * attributes. HDF5 keeps quiet; EINPUT on reading, EOUTPUT on writing.
 */
#ifndef DLS_GRAPH_H5_H
#define DLS_GRAPH_H5_H

#include "base/sha256.h"
#include "base/strdict.h"
#include "dlsim/error.h"

#include <hdf5.h>
#include <stdint.h>

/* No messages of HDF5's own for the life of the process. */
void dls_gh5_quiet(void);
/* Open for reading. */
dls_status dls_gh5_open(const char *path, hid_t *file, dls_error *err) DLS_MUST_CHECK;

/* Write a file that appears under its name only when `put` has filled it and it is on the disk
 * (base/atomicfile.h); before that nothing of what was there is touched. Errors: EOUTPUT, ENOMEM,
 * those of put. */
typedef dls_status (*dls_gh5_put_fn)(hid_t file, const void *what, dls_error *err);
dls_status dls_gh5_save(const char *path, dls_gh5_put_fn put, const void *what,
                        dls_error *err) DLS_MUST_CHECK;

/* "<what> could not be written", "<what> is missing or damaged" */
dls_status dls_gh5_unwritten(dls_error *err, const char *what);
dls_status dls_gh5_damaged(dls_error *err, const char *what);

dls_status dls_gh5_put_text(hid_t at, const char *name, const char *text,
                            dls_error *err) DLS_MUST_CHECK;
dls_status dls_gh5_put_i32(hid_t at, const char *name, int32_t value,
                           dls_error *err) DLS_MUST_CHECK;
dls_status dls_gh5_put_u64(hid_t at, const char *name, uint64_t value,
                           dls_error *err) DLS_MUST_CHECK;
/* [rows], or [rows][cols] with cols > 0; compressed. */
dls_status dls_gh5_put_data(hid_t at, const char *name, hid_t stored, hid_t memory,
                            const void *data, size_t rows, size_t cols,
                            dls_error *err) DLS_MUST_CHECK;
/* text[n][width], each filled up with zeros, as fixed-length UTF-8. */
dls_status dls_gh5_put_strings(hid_t at, const char *name, const char *text, size_t n, size_t width,
                               dls_error *err) DLS_MUST_CHECK;
/* Fixed-length UTF-8 strings in order of their codes. */
dls_status dls_gh5_put_dict(hid_t at, const char *name, const dls_strdict *dict,
                            dls_error *err) DLS_MUST_CHECK;

/* EINPUT unless the attributes `format` and `format_version` are these. */
dls_status dls_gh5_check_format(hid_t file, const char *format, int32_t version,
                                dls_error *err) DLS_MUST_CHECK;

/* EINPUT if it does not fit in size. */
dls_status dls_gh5_get_text(hid_t at, const char *name, char *text, size_t size,
                            dls_error *err) DLS_MUST_CHECK;
dls_status dls_gh5_get_i32(hid_t at, const char *name, int32_t *value,
                           dls_error *err) DLS_MUST_CHECK;
dls_status dls_gh5_get_u64(hid_t at, const char *name, uint64_t *value,
                           dls_error *err) DLS_MUST_CHECK;
/* A one-dimensional dataset and its length; the caller closes it. */
dls_status dls_gh5_open_data(hid_t at, const char *name, hid_t *set, hsize_t *n,
                             dls_error *err) DLS_MUST_CHECK;
/* Length of a one-dimensional dataset. */
dls_status dls_gh5_length(hid_t at, const char *name, size_t *n, dls_error *err) DLS_MUST_CHECK;
/* All of a dataset of this shape, [rows] or [rows][cols] with cols > 0, whose cells are of the same
 * class (integers, floating-point numbers) as `memory`. */
dls_status dls_gh5_get_data(hid_t at, const char *name, hid_t memory, void *data, size_t rows,
                            size_t cols, dls_error *err) DLS_MUST_CHECK;
/* Into text[n][width], each terminated. */
dls_status dls_gh5_get_strings(hid_t at, const char *name, char *text, size_t n, size_t width,
                               dls_error *err) DLS_MUST_CHECK;
/* Into an empty dictionary; a string that stands there twice is EINPUT. */
dls_status dls_gh5_get_dict(hid_t at, const char *name, dls_strdict *dict,
                            dls_error *err) DLS_MUST_CHECK;

/* n cells of 1, 4 or 8 bytes as they are in a file, little-endian. */
void dls_gh5_hash(dls_sha256 *sha, const void *data, size_t n, size_t cell_bytes);

#endif
