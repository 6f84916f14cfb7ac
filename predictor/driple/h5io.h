/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * What inspector files need beyond base/h5.h: arrays of doubles with a checksum, attributes that
 * may be missing. Errors name file or object: EINPUT on reading, EOUTPUT on writing.
 */
#ifndef DLS_DRIPLE_H5IO_H
#define DLS_DRIPLE_H5IO_H

#include "base/h5.h"
#include "predictor/driple/model.h"

#include <stdbool.h>

typedef struct dls_h5io_shape {
    int rank; /* 0..3 */
    hsize_t dim[3];
    bool is_f32, is_number;
} dls_h5io_shape;
dls_status dls_h5io_shape_of(hid_t dataset, const char *where, dls_h5io_shape *shape,
                             dls_error *err) DLS_MUST_CHECK;

/* Text attribute; cut to size. missing_ok: "" when absent. */
dls_status dls_h5io_text(hid_t object, const char *name, bool missing_ok, char *text, size_t size,
                         const char *where, dls_error *err) DLS_MUST_CHECK;
dls_status dls_h5io_integer(hid_t object, const char *name, bool missing_ok, int64_t *value,
                            const char *where, dls_error *err) DLS_MUST_CHECK;

/* FNV-1a of the elements as they are stored (little-endian float32 or float64), as 16 hex digits.
 */
void dls_h5io_checksum(const double *data, size_t n, bool as_f32, char hex[17]);
/* Write with its checksum in attribute "checksum"; rank 1 if cols is 0. */
dls_status dls_h5io_put_array(hid_t group, const char *name, const double *data, int64_t rows,
                              int64_t cols, bool as_f32, dls_error *err) DLS_MUST_CHECK;
/* Read rank 1 or 2 (cols 0: rank 1), at most 2^28 elements. *data is owned by the caller
 * (dls_free). With check the attribute "checksum" must be there and right. */
dls_status dls_h5io_get_array(hid_t group, const char *name, bool check, const char *where,
                              double **data, int64_t *rows, int64_t *cols, bool *is_f32,
                              dls_error *err) DLS_MUST_CHECK;
/* A vector of exactly n numbers, with its checksum, into out. */
dls_status dls_h5io_get_vector(hid_t group, const char *name, const char *where, size_t n,
                               double *out, dls_error *err) DLS_MUST_CHECK;
/* All arrays of a group, in the order of their names, behind those of the set. */
dls_status dls_h5io_get_tensors(hid_t group, bool check, const char *where, dls_tensors *set,
                                dls_error *err) DLS_MUST_CHECK;

#endif
