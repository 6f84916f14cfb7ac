/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * The little of HDF5 that results need, with dls_error for its error stack. HDF5 is not thread
 * safe: one thread of a process at a time.
 *
 * Functions take the status to report because the same call fails as EOUTPUT when writing and as
 * EINPUT when reading; `h5` carries it with the name of the file.
 */
#ifndef DLS_RESULTS_H5_H
#define DLS_RESULTS_H5_H

#include "results/schema.h"

#include <hdf5.h>

typedef struct dls_h5 {
    hid_t file;
    const char *path;  /* for messages, borrowed */
    dls_status status; /* EOUTPUT or EINPUT */
    int write_errno;   /* first error of the disk while writing; HDF5 itself carries on */
} dls_h5;

/* Create (truncate) or open read-only; `shown` is the name for messages. Strict about closing:
 * dls_h5_close closes whatever is still open in the file. */
dls_status dls_h5_create(dls_h5 *h5, const char *path, const char *shown,
                         dls_error *err) DLS_MUST_CHECK;
dls_status dls_h5_open(dls_h5 *h5, const char *path, dls_error *err) DLS_MUST_CHECK;
/* Flush and close; fails if any write failed. Safe on a handle that is not open. The handle must
 * stay where it is from create to close. */
dls_status dls_h5_close(dls_h5 *h5, dls_error *err) DLS_MUST_CHECK;

/* Write a file that appears under its name only when `put` has filled it, closed and on the disk
 * (base/atomicfile.h). Errors: EOUTPUT, ENOMEM, those of put. */
typedef dls_status (*dls_h5_put_fn)(const dls_h5 *h5, const void *what, dls_error *err);
dls_status dls_h5_save(const char *path, dls_h5_put_fn put, const void *what,
                       dls_error *err) DLS_MUST_CHECK;

/* Report "<what>: <the reason on HDF5's error stack>" with h5->status. Any call of HDF5 clears that
 * stack: report first, clean up then. */
dls_status dls_h5_fail(const dls_h5 *h5, dls_error *err, const char *fmt, ...) DLS_PRINTF(3, 4);

/* A group, created with dense links in order of creation, or opened. */
dls_status dls_h5_group_create(const dls_h5 *h5, hid_t at, const char *name, hid_t *out,
                               dls_error *err) DLS_MUST_CHECK;
dls_status dls_h5_group_open(const dls_h5 *h5, hid_t at, const char *name, hid_t *out,
                             dls_error *err) DLS_MUST_CHECK;

/* Attributes. Text is a variable-length UTF-8 string. */
dls_status dls_h5_put_text(const dls_h5 *h5, hid_t at, const char *name, const char *text,
                           dls_error *err) DLS_MUST_CHECK;
dls_status dls_h5_put_u64(const dls_h5 *h5, hid_t at, const char *name, uint64_t value,
                          dls_error *err) DLS_MUST_CHECK;
/* The fields of a struct, one attribute each, out of or into `base`. */
dls_status dls_h5_put_fields(const dls_h5 *h5, hid_t at, const dls_field *fields, size_t n,
                             const void *base, dls_error *err) DLS_MUST_CHECK;
dls_status dls_h5_get_fields(const dls_h5 *h5, hid_t at, const dls_field *fields, size_t n,
                             void *base, dls_error *err) DLS_MUST_CHECK;

/* A small table: a compound dataset with a member per field, `units` parallel to them. */
dls_status dls_h5_put_table(const dls_h5 *h5, hid_t at, const char *name, const char *description,
                            const dls_field *fields, size_t n_fields, const void *rows,
                            size_t n_rows, size_t row_bytes, dls_error *err) DLS_MUST_CHECK;
/* Read exactly n_rows rows; every field must be there. */
dls_status dls_h5_get_table(const dls_h5 *h5, hid_t at, const char *name, const dls_field *fields,
                            size_t n_fields, void *rows, size_t n_rows, size_t row_bytes,
                            dls_error *err) DLS_MUST_CHECK;

/* Units and description of a dataset. */
dls_status dls_h5_describe(const dls_h5 *h5, hid_t dataset, const char *units,
                           const char *description, dls_error *err) DLS_MUST_CHECK;

/* The HDF5 type of a value, owned by the caller (H5Tclose). width: of a TEXT. In memory or, with a
 * fixed byte order and width, in the file. Negative on failure. */
hid_t dls_h5_type(dls_field_type type, size_t width, bool in_file);

#endif
