/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * What a results file holds: the names, types, units and descriptions of its columns and fields, in
 * one place for the writer, the reader, the JSON and the tests. docs/results.md is the prose.
 */
#ifndef DLS_RESULTS_SCHEMA_H
#define DLS_RESULTS_SCHEMA_H

#include "results/summary.h"
#include "results/world.h"

#define DLS_RESULTS_FORMAT "dlsim-results"
#define DLS_RESULTS_VERSION 1

typedef enum dls_field_type {
    DLS_FIELD_I64,
    DLS_FIELD_U64,
    DLS_FIELD_I32,
    DLS_FIELD_U32,
    DLS_FIELD_F32,
    DLS_FIELD_F64,
    DLS_FIELD_BOOL,    /* C bool, an unsigned byte in the file */
    DLS_FIELD_STATE,   /* uint8_t, dls_job_state; an HDF5 enum */
    DLS_FIELD_OUTCOME, /* uint8_t, dls_outcome; an HDF5 enum */
    DLS_FIELD_KIND,    /* dls_part_kind; an HDF5 enum */
    DLS_FIELD_TEXT     /* `width` bytes, padded with '\0' */
} dls_field_type;

/* One member of a C struct that is written as an attribute or as a column of a small table. */
typedef struct dls_field {
    const char *name;
    dls_field_type type;
    size_t offset;
    size_t width;      /* bytes; of a TEXT or of the C type */
    size_t count;      /* > 1: an array */
    const char *units; /* "" for pure numbers */
    const char *description;
} dls_field;

extern const dls_field dls_summary_fields[]; /* of dls_summary, without part[] and digest */
extern const size_t dls_summary_n_fields;
extern const dls_field dls_world_fields[]; /* of dls_world_summary */
extern const size_t dls_world_n_fields;
extern const dls_field dls_part_fields[]; /* of dls_summary_part */
extern const size_t dls_part_n_fields;

/* One column of a long table. */
typedef struct dls_column {
    const char *name;
    dls_field_type type;
    const char *units;
    const char *description;
    const void *data; /* [n] values of the C type; NULL: text comes from fill */
    size_t width;     /* bytes of a TEXT; 0: that of the type */
    /* Text of rows first..first+n-1, width bytes each, padded with '\0'. Called from any thread. */
    void (*fill)(const void *ctx, size_t first, size_t n, size_t width, char *dst);
    const void *ctx;
} dls_column;

#define DLS_COLUMNS_MAX 64

/* The columns of jobs, allocations and series/cluster with their data; columns that the trace does
 * not have are left out. They borrow from trace and rec; either may be empty. Return how many. */
size_t dls_schema_jobs(const dls_trace *trace, const dls_record *rec,
                       dls_column out[DLS_COLUMNS_MAX]);
size_t dls_schema_allocs(const dls_alloc_rows *rows, dls_column out[DLS_COLUMNS_MAX]);
size_t dls_schema_series(const dls_series_rows *rows, dls_column out[DLS_COLUMNS_MAX]);
size_t dls_schema_starts(const dls_start_rows *rows, dls_column out[DLS_COLUMNS_MAX]);
size_t dls_schema_world(const dls_world_rows *rows, dls_column out[DLS_COLUMNS_MAX]);

/* Bytes of one value (TEXT: 0). */
size_t dls_field_width(dls_field_type type);
/* "pending" and the like; NULL past the last. */
const char *dls_state_name(unsigned state);
const char *dls_outcome_name(unsigned outcome);
/* The name of an enum field's value, NULL past the last or for other types. */
const char *dls_enum_name(dls_field_type type, unsigned value);

#endif
