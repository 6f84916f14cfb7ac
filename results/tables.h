/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * The schema's fields and columns in HDF5 (base/h5.h): structs as attributes, small tables as
 * compound datasets, long tables as a dataset per column. Every dataset says its units and what it
 * is.
 */
#ifndef DLS_RESULTS_TABLES_H
#define DLS_RESULTS_TABLES_H

#include "base/h5.h"
#include "results/schema.h"

/* The fields of a struct, one attribute each. */
dls_status dls_put_fields(hid_t at, const dls_field *fields, size_t n, const void *base,
                          dls_error *err) DLS_MUST_CHECK;
/* Those of a group into its place in a summary. */
dls_status dls_get_fields(hid_t at, const dls_summary_group *group, dls_summary *to,
                          dls_error *err) DLS_MUST_CHECK;

dls_status dls_put_rows(hid_t at, const char *name, const char *description, const dls_rows *rows,
                        const void *data, dls_error *err) DLS_MUST_CHECK;
/* Exactly rows->n of them; every field must be there. */
dls_status dls_get_rows(hid_t at, const char *name, const dls_rows *rows, void *data,
                        dls_error *err) DLS_MUST_CHECK;

/* Each column as a dataset of n cells; long ones are compressed on several threads. */
dls_status dls_put_columns(hid_t at, const dls_column *columns, size_t n_columns, size_t n,
                           dls_error *err) DLS_MUST_CHECK;

/* The HDF5 type of a value, for H5Tclose; negative on failure. width: of a TEXT. In memory or, with
 * a fixed byte order and width, in the file. */
hid_t dls_field_h5_type(dls_field_type type, size_t width, bool in_file);

#endif
