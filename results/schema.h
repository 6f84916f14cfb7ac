/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * What a results file holds: the names, types, units and descriptions of its columns and fields, in
 * one place for the writer, the reader, the JSON and the tests. docs/results.md is the prose.
 */
#ifndef DLS_RESULTS_SCHEMA_H
#define DLS_RESULTS_SCHEMA_H

#include "record/columns.h"
#include "results/summary.h"
#include "results/world.h"

#define DLS_RESULTS_FORMAT "dlsim-results"
#define DLS_RESULTS_VERSION 3

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

/* Structs as a table with a member per field, in memory and in the file. */
typedef struct dls_rows {
    const dls_field *fields;
    size_t n_fields, row_bytes, n;
} dls_rows;

extern const dls_rows dls_part_rows; /* the parts of a summary */

/* What a summary tells, in the order in which its numbers are told: of the run, of all its jobs,
 * and from DLS_GROUP_WORLD on what only some runs have. */
typedef struct dls_summary_group {
    const char *name; /* in files; NULL: every run has it */
    const dls_field *fields;
    size_t n_fields, has, at; /* offsets in dls_summary */
} dls_summary_group;

enum {
    DLS_GROUP_RUN,
    DLS_GROUP_JOBS,
    DLS_GROUP_WORLD,
    DLS_GROUP_ENERGY,
    DLS_GROUP_SERVICES,
    DLS_SUMMARY_GROUPS
};
extern const dls_summary_group dls_summary_groups[DLS_SUMMARY_GROUPS];

/* The group's struct; NULL: the summary has it not. */
static inline const void *dls_summary_group_of(const dls_summary *s, int group)
{
    const dls_summary_group *g = &dls_summary_groups[group];
    return !g->name || *(const bool *)((const char *)s + g->has) ? (const char *)s + g->at : NULL;
}

/* Neither a text nor a kind. */
static inline bool dls_field_is_number(const dls_field *field)
{
    return field->type != DLS_FIELD_TEXT && field->type != DLS_FIELD_KIND;
}

/* Texts of a trace as a column: what codes of a column of jobs mean. */
typedef struct dls_names {
    const char *name; /* of the column */
    const char *what;
    size_t (*count)(const dls_trace *trace);
    const char *(*at)(const dls_trace *trace, int32_t code);
} dls_names;

enum { DLS_DICTS = 5 };
extern const dls_names dls_dicts[DLS_DICTS];

/* One column of a long table. */
typedef struct dls_column {
    const char *name;
    dls_field_type type;
    const char *units;
    const char *description;
    const void *data; /* [n] values of the C type; NULL: the names of the trace */
    size_t width;     /* bytes of a TEXT; 0: that of the type */
    const dls_names *names;
    const dls_trace *trace;
    const dls_mapped *file; /* in which data lies; NULL: in memory */
} dls_column;

#define DLS_COLUMNS_MAX 64

/* What jobs have of the trace; offsets in dls_trace_columns. */
extern const dls_record_table dls_trace_table;
/* The columns of a table that it has, with their cells; those of jobs with what the trace says of
 * them. They borrow from both. Returns how many. */
size_t dls_schema_columns(const dls_trace_columns *trace, const dls_record *rec, dls_rows_of table,
                          dls_column out[DLS_COLUMNS_MAX]);
/* Names of the jobs of a trace, and others. */
extern const dls_names dls_ids;
dls_column dls_schema_names(const dls_names *names, const dls_trace *trace);

/* "pending" and the like; NULL past the last. */
const char *dls_state_name(unsigned state);
const char *dls_outcome_name(unsigned outcome);
/* The same by the name of the column, "state" or "outcome"; NULL for others. */
const char *dls_code_name(const char *column, unsigned code);
/* The name of an enum field's value, NULL past the last or for other types. */
const char *dls_enum_name(dls_field_type type, unsigned value);

#endif
