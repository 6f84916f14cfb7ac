/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * The HDF5 of all of dlsim's files: groups, attributes, columns and dictionaries of strings.
 *
 *      dls_h5_save(path, put, what)     the file appears when `put` has filled it and it is on the disk
 *      dls_h5_open(path, &file)         for reading
 *
 * What is written carries checksums everywhere: HDF5's own in the metadata, which small columns and
 * all attributes are part of, and Fletcher's in the chunks of long columns. Texts have a fixed
 * length.
 *
 * A file that is read may be anybody's: nothing outside it is opened (external links, virtual
 * datasets, raw data in other files, filters of plug-ins are refused), texts of variable length are
 * refused because HDF5 1.10 trusts what a damaged file says of them, and no dataset is larger than
 * the file can hold.
 *
 * Functions that get fail with EINPUT, functions that put with EOUTPUT, both with the object's name
 * and HDF5's reason in the message; `where` is filled by dls_h5_save and by those who open a file.
 * HDF5 is not thread safe: one thread of a process at a time.
 */
#ifndef DLS_BASE_H5_H
#define DLS_BASE_H5_H

#include "base/atomicfile.h"
#include "base/own.h"
#include "base/sha256.h"
#include "base/strdict.h"
#include "dlsim/error.h"

#include <hdf5.h>
#include <stdint.h>

/* ---- files ----------------------------------------------------------------------------------- */

/* EINPUT unless it is a regular file and HDF5. H5Fclose closes it and whatever is open in it. */
dls_status dls_h5_open(const char *path, hid_t *file, dls_error *err) DLS_MUST_CHECK;
/* EINPUT unless the attributes `format` and `format_version` are these. */
dls_status dls_h5_check_format(hid_t file, const char *format, int32_t version,
                               dls_error *err) DLS_MUST_CHECK;

/* A file that is being written. It must stay where it is from begin to commit or abort. */
typedef struct dls_h5_new {
    hid_t file;
    dls_atomicfile out;
    int first_errno; /* of the disk; HDF5 itself carries on (base/h5_driver.h) */
} dls_h5_new;

dls_status dls_h5_begin(dls_h5_new *f, const char *path, dls_error *err) DLS_MUST_CHECK;
/* Close, check that everything was written, and let the file appear. *f needs nothing after. */
dls_status dls_h5_commit(dls_h5_new *f, dls_error *err) DLS_MUST_CHECK;
void dls_h5_abort(dls_h5_new *f); /* nothing happens if *f is zero or committed */

/* Begin, put, commit; when anything fails PATH is as before. Errors: EOUTPUT, ENOMEM, those of put.
 */
typedef dls_status (*dls_h5_put_fn)(hid_t file, const void *what, dls_error *err);
dls_status dls_h5_save(const char *path, dls_h5_put_fn put, const void *what,
                       dls_error *err) DLS_MUST_CHECK;

/* "<what>: <the reason on HDF5's error stack>". Any call of HDF5 clears that stack: report first,
 * clean up then. */
dls_status dls_h5_fail(dls_error *err, dls_status status, const char *fmt, ...) DLS_PRINTF(3, 4);
/* Say in which file it failed, if that is not said yet; returns the status. err may be NULL. */
dls_status dls_h5_where(dls_status status, dls_error *err, const char *path) DLS_MUST_CHECK;
/* "<what> could not be written", "<what> is missing or damaged" */
dls_status dls_h5_unwritten(dls_error *err, const char *what);
dls_status dls_h5_damaged(dls_error *err, const char *what);

/* A local group, dataset, space, type or file that is closed with its block; H5I_INVALID_HID at
 * first. */
#define DLS_H5_OWNED DLS_OWN(dls_h5_leave)
static inline void dls_h5_leave(const hid_t *id)
{
    if (*id > 0) { /* 0 is H5P_DEFAULT */
        H5Idec_ref(*id);
    }
}

/* ---- writing --------------------------------------------------------------------------------- */

/* Links in order of creation; for H5Gclose. */
dls_status dls_h5_put_group(hid_t at, const char *name, hid_t *out, dls_error *err) DLS_MUST_CHECK;
/* Attributes: one value, or n > 0 in a row. */
dls_status dls_h5_put_attr(hid_t at, const char *name, hid_t stored, hid_t memory, size_t n,
                           const void *value, dls_error *err) DLS_MUST_CHECK;
dls_status dls_h5_put_text(hid_t at, const char *name, const char *text,
                           dls_error *err) DLS_MUST_CHECK;
dls_status dls_h5_put_i32(hid_t at, const char *name, int32_t value, dls_error *err) DLS_MUST_CHECK;
dls_status dls_h5_put_i64(hid_t at, const char *name, int64_t value, dls_error *err) DLS_MUST_CHECK;
dls_status dls_h5_put_u64(hid_t at, const char *name, uint64_t value,
                          dls_error *err) DLS_MUST_CHECK;
/* Datasets: [rows], or [rows][cols] with cols > 0; long ones in chunks, shuffled and deflated. */
dls_status dls_h5_put_data(hid_t at, const char *name, hid_t stored, hid_t memory, const void *data,
                           size_t rows, size_t cols, dls_error *err) DLS_MUST_CHECK;
/* text[n][width], each filled up with zeros, as fixed-length UTF-8. */
dls_status dls_h5_put_strings(hid_t at, const char *name, const char *text, size_t n, size_t width,
                              dls_error *err) DLS_MUST_CHECK;
/* Fixed-length UTF-8 strings in order of their codes. */
dls_status dls_h5_put_dict(hid_t at, const char *name, const dls_strdict *dict,
                           dls_error *err) DLS_MUST_CHECK;
/* An empty dataset of up to three dimensions, for H5Dwrite and H5Dclose. level 0: not compressed.
 */
dls_status dls_h5_create_data(hid_t at, const char *name, hid_t stored, int rank,
                              const hsize_t *dim, unsigned level, hid_t *set,
                              dls_error *err) DLS_MUST_CHECK;
/* A dataset below lies in its header. */
enum { DLS_H5_COMPACT_BYTES = 1 << 15 };
/* n cells of an empty column of dls_h5_create_data that has chunks, compressed, as they are in the file.
 * fill: those of rows first..first+n-1, width bytes each, in dst or where it says, from several threads at a
 * time. */
typedef const char *(*dls_h5_fill_fn)(const void *ctx, size_t first, size_t n, size_t width, char *dst);
dls_status dls_h5_put_chunks(hid_t set, const char *name, size_t n, size_t width,
                             dls_h5_fill_fn fill, const void *ctx, dls_error *err) DLS_MUST_CHECK;

/* ---- reading --------------------------------------------------------------------------------- */

bool dls_h5_has(hid_t at, const char *path); /* every link of the path is there */
dls_status dls_h5_get_group(hid_t at, const char *name, hid_t *out, dls_error *err) DLS_MUST_CHECK;
/* Names of all links in a group, sorted by bytes, into `names`, which is begun. Tables in which HDF5 1.10
 * sorts them itself are freed with what was never in them when a file is damaged. */
dls_status dls_h5_names(hid_t group, dls_strdict *names, dls_error *err) DLS_MUST_CHECK;
/* A dataset that lies in this file in one of the usual ways; for H5Dclose. */
dls_status dls_h5_get_set(hid_t at, const char *name, hid_t *out, dls_error *err) DLS_MUST_CHECK;
/* A link access list for other calls that follow names: nothing outside the file is opened. */
hid_t dls_h5_inside(void);

/* EINPUT if it does not fit in size. */
dls_status dls_h5_get_text(hid_t at, const char *name, char *text, size_t size,
                           dls_error *err) DLS_MUST_CHECK;
/* A text of any length up to 1 MiB, or a number in decimal; owned by the caller (dls_free). */
dls_status dls_h5_get_as_text(hid_t at, const char *name, char **text,
                              dls_error *err) DLS_MUST_CHECK;
dls_status dls_h5_get_attr(hid_t at, const char *name, hid_t memory, void *value,
                           dls_error *err) DLS_MUST_CHECK;
dls_status dls_h5_get_i32(hid_t at, const char *name, int32_t *value,
                          dls_error *err) DLS_MUST_CHECK;
dls_status dls_h5_get_i64(hid_t at, const char *name, int64_t *value,
                          dls_error *err) DLS_MUST_CHECK;
dls_status dls_h5_get_u64(hid_t at, const char *name, uint64_t *value,
                          dls_error *err) DLS_MUST_CHECK;
/* A one-dimensional dataset and its length; the caller closes it. */
dls_status dls_h5_open_data(hid_t at, const char *name, hid_t *set, hsize_t *n,
                            dls_error *err) DLS_MUST_CHECK;
/* Length of a one-dimensional dataset. */
dls_status dls_h5_length(hid_t at, const char *name, size_t *n, dls_error *err) DLS_MUST_CHECK;
/* All of a dataset of this shape, [rows] or [rows][cols] with cols > 0, whose cells are of the same
 * class (integers, floating-point numbers) as `memory`. */
dls_status dls_h5_get_data(hid_t at, const char *name, hid_t memory, void *data, size_t rows,
                           size_t cols, dls_error *err) DLS_MUST_CHECK;
/* Into text[n][width], each terminated. */
dls_status dls_h5_get_strings(hid_t at, const char *name, char *text, size_t n, size_t width,
                              dls_error *err) DLS_MUST_CHECK;
/* Into a dictionary that is empty or begins with the same strings; one that stands there twice is
 * EINPUT. */
dls_status dls_h5_get_dict(hid_t at, const char *name, dls_strdict *dict,
                           dls_error *err) DLS_MUST_CHECK;

/* Fixed-length UTF-8, filled up with zeros; for H5Tclose, negative on failure. */
hid_t dls_h5_text_type(size_t bytes);
/* The transfer list, for DLS_H5_OWNED, with which so many cells are read or written that are of one type in
 * the file and of another in memory. HDF5 clears the buffer in which it converts them, 1 MiB unless told,
 * at every call: more than all else that reading a small column costs. */
hid_t dls_h5_converting(size_t n, hid_t stored, hid_t memory);
/* n cells of 1, 4 or 8 bytes as they are in a file, little-endian. */
void dls_h5_hash(dls_sha256 *sha, const void *data, size_t n, size_t cell_bytes);

/* ---- structs as columns ---------------------------------------------------------------------- */

typedef enum dls_h5_cell {
    DLS_H5_I32,
    DLS_H5_I64,
    DLS_H5_F64,
    DLS_H5_BOOL, /* one byte */
    DLS_H5_TEXT  /* of so many bytes, filled up with zeros */
} dls_h5_cell;
typedef struct dls_h5_column {
    const char *name;
    dls_h5_cell cell;
    size_t offset; /* of the member */
    size_t width;  /* of a text, at most 256 */
} dls_h5_column;
typedef struct dls_h5_table {
    const char *group; /* the datasets' group, "": none */
    const dls_h5_column *column;
    size_t n_columns, row_bytes;
} dls_h5_table;

/* A dataset a column, in one order for the file and for the checksum, which may hold the names. */
dls_status dls_h5_put_rows(hid_t at, const dls_h5_table *t, const void *rows, size_t n,
                           dls_error *err) DLS_MUST_CHECK;
dls_status dls_h5_get_rows(hid_t at, const dls_h5_table *t, void *rows, size_t n,
                           dls_error *err) DLS_MUST_CHECK;
void dls_h5_hash_rows(dls_sha256 *sha, const dls_h5_table *t, const void *rows, size_t n,
                      bool names);

#endif
