/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Trace formats that are tables of text: which column fills which member of a job, and in what
 * unit. What a column alone does not tell is left to a function of the format. traces/simulators.c
 * has short examples.
 */
#ifndef DLS_TRACES_TABLE_H
#define DLS_TRACES_TABLE_H

#include "base/csv.h"
#include "dlsim/trace.h"

/* What a column holds. Numbers are decimal and read exactly. */
typedef enum dls_field_kind {
    DLS_FIELD_TEXT,         /* empty: none */
    DLS_FIELD_TIME,         /* 0 to 1000 years; required in every row */
    DLS_FIELD_OPT_TIME,     /* the same or missing (dls_csv_missing): DLS_ABSENT */
    DLS_FIELD_DURATION,     /* a required time; negative ones become 0, which the builder flags */
    DLS_FIELD_OPT_DURATION, /* the same where the cell is not empty */
    DLS_FIELD_DATE,         /* "YYYY-MM-DD HH:MM:SS" with or without offset (date.h) */
    DLS_FIELD_COUNT, /* a number from 0 on, no more decimals than the scale; may be missing */
    DLS_FIELD_GPUS,  /* thousandths of GPUs, at least 0 */
    DLS_FIELD_GPUS_OR_SKIP, /* the same; a job of none is left out: "no GPU" */
    DLS_FIELD_OUTCOME,      /* words of outcome.h */
    DLS_FIELD_OTHER         /* for the format's function */
} dls_field_kind;

typedef struct dls_field {
    dls_field_kind kind;
    bool required;     /* the file must have the column */
    int scale;         /* the member is the cell * 10^scale */
    size_t target;     /* offset in dls_job_rec */
    const char *names; /* of the column, alternatives joined by '|' */
    const char *what;  /* that was expected; NULL: by kind and scale */
} dls_field;

/* A column into a member of dls_job_rec that the file must or may have, or for the format's
 * function. */
#define DLS_MUST(kind_, names_, member, scale_)                                                    \
    DLS_COLUMN(kind_, names_, true, member, scale_, NULL)
#define DLS_MAY(kind_, names_, member, scale_)                                                     \
    DLS_COLUMN(kind_, names_, false, member, scale_, NULL)
#define DLS_COLUMN(kind_, names_, required_, member, scale_, what_)                                \
    {                                                                                              \
        DLS_FIELD_##kind_, required_, scale_, offsetof(dls_job_rec, member), names_, what_         \
    }
#define DLS_OTHER(names_, required_)                                                               \
    {                                                                                              \
        DLS_FIELD_OTHER, required_, 0, 0, names_, NULL                                             \
    }

/* Scale of a time in seconds, of one in milliseconds. */
#define DLS_SECONDS 6
#define DLS_MILLISECONDS 3

/* What else has to be done for a row, after its fields; col[i] is the column of fields[i] or -1.
 * *skip: why the job is left out. */
typedef dls_status (*dls_row_fn)(dls_csv *csv, const int *col, dls_job_rec *rec,
                                 dls_trace_builder *b, const char **skip, dls_error *err);

#define DLS_TABLE_FIELDS 24

/* dls_trace_format.table */
struct dls_trace_table {
    int score;              /* of sniffing, 0 to 100 */
    const char *header[3];  /* it is such a file if the header has all names of one ("a,b") */
    const char *not_header; /* and not this one */
    const dls_field *fields;
    size_t n_fields;
    const char
        *blank_header; /* enough if separated by blanks, as it may be; NULL: by commas only */
    bool notes_rest;   /* columns that are not read are noted */
    const char *zone;  /* not NULL: times are dates, of this zone ("" or "Z") */
    uint32_t flags;    /* of every job */
    dls_row_fn row;    /* NULL: the fields say it all */
};

/* A dls_trace_format that is a table: its name, what it is, the fields, and other members of the
 * table. */
#define DLS_TABLE_FORMAT(called, says, rows, ...)                                                  \
    {                                                                                              \
        .name = called, .summary = says, .table = &(const struct dls_trace_table){                 \
            .fields = rows,                                                                        \
            .n_fields = sizeof rows / sizeof *rows,                                                \
            __VA_ARGS__                                                                            \
        }                                                                                          \
    }

/* What dls_trace_format.sniff and read are for other formats. */
int dls_trace_table_sniff(const struct dls_trace_table *table, const dls_trace_source *src);
dls_status dls_trace_table_read(const struct dls_trace_table *table, const dls_trace_source *src,
                                dls_trace_builder *b, dls_error *err) DLS_MUST_CHECK;

/* row() for every row from here on until the builder is full. What tables without
 * header are read with. */
typedef dls_status (*dls_cells_fn)(dls_csv *csv, const void *user, dls_trace_builder *b,
                                   dls_error *err);
dls_status dls_trace_rows_read(dls_csv *csv, dls_cells_fn row, const void *user,
                               dls_trace_builder *b, dls_error *err) DLS_MUST_CHECK;
/* dls_trace_builder_add with this row as the place. */
dls_status dls_csv_add(const dls_csv *csv, dls_trace_builder *b, const dls_job_rec *rec,
                       dls_error *err) DLS_MUST_CHECK;

/* Values of cells, where a format reads its own. GPUs are in 1/1000. */
dls_status dls_csv_us(const dls_csv *csv, int col, int scale, int64_t *out,
                      dls_error *err) DLS_MUST_CHECK;
dls_status dls_csv_gpus(const dls_csv *csv, int col, int64_t *milli, dls_error *err) DLS_MUST_CHECK;
dls_status dls_csv_duration(const dls_csv *csv, int col, int scale, int64_t *out,
                            dls_error *err) DLS_MUST_CHECK;
/* DLS_ABSENT if missing. */
dls_status dls_csv_opt_us(const dls_csv *csv, int col, int scale, int64_t *out,
                          dls_error *err) DLS_MUST_CHECK;
dls_status dls_csv_opt_date(const dls_csv *csv, int col, int64_t *us,
                            dls_error *err) DLS_MUST_CHECK;

#endif
