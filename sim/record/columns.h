/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * The columns of a run's record, each described once: memory, digests, files and documentation
 * follow from these tables. A column of a table is a pointer in a struct to cells in a row.
 */
#ifndef DLS_RECORD_COLUMNS_H
#define DLS_RECORD_COLUMNS_H

#include "base/mapped.h"

typedef enum dls_field_type {
    DLS_FIELD_I64,
    DLS_FIELD_U64,
    DLS_FIELD_I32,
    DLS_FIELD_U32,
    DLS_FIELD_F32,
    DLS_FIELD_F64,
    DLS_FIELD_BOOL,    /* C bool, an unsigned byte in files */
    DLS_FIELD_STATE,   /* uint8_t, dls_job_state; an enumeration in files */
    DLS_FIELD_OUTCOME, /* uint8_t, dls_outcome; an enumeration in files */
    DLS_FIELD_KIND,    /* C enum; an enumeration in files */
    DLS_FIELD_TEXT     /* bytes, padded with '\0' */
} dls_field_type;

/* Bytes of one value in memory (TEXT: 0). */
size_t dls_field_width(dls_field_type type);

/* Columns that only some runs have. */
typedef enum dls_wanted {
    DLS_WANT_ALWAYS, /* every run has it */
    DLS_WANT_TRACE,  /* the trace tells it */
    DLS_WANT_ELASTIC,
    DLS_WANT_PARTS,
    DLS_WANT_GUESTS,
    DLS_WANT_FAILURES,
    DLS_WANT_FASTEST,
    DLS_WANT_ENERGY
} dls_wanted;

typedef struct dls_record_column {
    const char *name; /* in files */
    dls_field_type type;
    size_t offset;     /* of the pointer to the cells */
    const char *units; /* "" for pure numbers */
    const char *what;  /* it is */
    bool unset;        /* cells start as -1 and not as 0 */
    dls_wanted optional; /* a column that only runs have that want it */
    bool late;         /* filled when the run is over: rows that are added have no cell of it */
} dls_record_column;

/* The rows of a table are a struct that begins with their number; one that grows goes on with how
 * many there is room for and the files of its columns. */
typedef struct dls_record_table {
    const dls_record_column *columns;
    size_t n;
    const char *group; /* in a run of a results file */
    size_t at;         /* where the rows lie in a dls_record */
    bool grows;
} dls_record_table;

/* In the order of dls_table (dlsim/run.h). */
typedef enum dls_rows_of {
    DLS_ROWS_JOBS,
    DLS_ROWS_ALLOCS,
    DLS_ROWS_SERIES,
    DLS_ROWS_STARTS,
    DLS_ROWS_WORLD,
    DLS_ROWS_TABLES
} dls_rows_of;
extern const dls_record_table dls_record_tables[DLS_ROWS_TABLES];

/* The cells of a column, NULL if the table does not have it. */
const void *dls_column_cells(const dls_record_column *column, const void *rows);
void dls_column_set(const dls_record_column *column, void *rows, void *cells);
/* The files [n] that the columns lie in, those in memory with fd -1; NULL: all are in memory. */
dls_mapped *dls_table_files(const dls_record_table *table, const void *rows);
/* Free all cells and set their pointers to NULL. */
void dls_table_free(const dls_record_table *table, void *rows);

#endif
