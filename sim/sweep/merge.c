/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Builds the merged results file of a sweep: a table of its points with axes, states and summary
 * figures as columns, and the runs.
 */

#include "results/merge.h"
#include "base/own.h"
#include "sweep/read.h"
#include "sweep/store.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

/* ---- the table of points --------------------------------------------------------------------- */

enum { COLUMNS_MAX = 256 };

typedef struct table {
    const dls_sweep_plan *plan;
    const char *folder;
    size_t n;
    dls_column column[COLUMNS_MAX];
    size_t n_columns;
    void *data[COLUMNS_MAX]; /* owned, of the columns */
    dls_study_state *state;  /* [n] */
    size_t *row;             /* [n] index in runs, of a finished point */
    dls_merge_run *runs;     /* [n_finished] */
    size_t n_finished;
    char *texts; /* of runs */
} table;

static void table_destroy(table *t)
{
    for (size_t i = 0; t && i < t->n_columns; i++) {
        dls_free(t->data[i]);
    }
    if (t) {
        DLS_FREE_ALL(t->state, t->row, t->runs, t->texts);
    }
    dls_free(t);
}
DLS_OWNER(table, table_destroy)

/* A new column of zeros; width: of a text. */
static dls_status add_column(table *t, const char *name, dls_field_type type, size_t width,
                             const char *units, const char *description, void *out, dls_error *err)
{
    const size_t bytes = width ? width : dls_field_width(type);
    if (t->n_columns == COLUMNS_MAX) {
        return dls_fail(err, DLS_ERUN, NULL, "the table of points has too many columns");
    }
    void *data;
    DLS_TRY(dls_alloc_array(&data, t->n ? t->n : 1, bytes, "table of points", err));
    t->data[t->n_columns] = data;
    t->column[t->n_columns++] = (dls_column){.name = name,
                                             .type = type,
                                             .units = units,
                                             .description = description,
                                             .data = data,
                                             .width = width};
    memcpy(out, &data, sizeof data);
    return DLS_OK;
}

static dls_status add_i64(table *t, const char *name, const char *description, int64_t **out,
                          dls_error *err)
{
    *out = NULL;
    return add_column(t, name, DLS_FIELD_I64, 0, "", description, out, err);
}

static size_t design_of(const table *t, size_t i)
{
    return dls_sweep_design(t->plan, t->plan->first + i);
}

/* Texts of a point; those of its axes are counted from 0. */
enum { RUN = -5, STATE, FAILURE, LABEL, ID };

static const char *text_of(const table *t, int what, size_t i, char *buf, size_t n)
{
    switch (what) {
    case RUN:
        return t->state[i] == DLS_STUDY_FINISHED ? t->runs[t->row[i]].id : "";
    case STATE:
        return dls_study_state_name(t->state[i]);
    case FAILURE:
        buf[0] = '\0';
        if (t->state[i] == DLS_STUDY_FAILED) {
            dls_sweep_failure_get(t->folder, t->plan->id[i], buf);
        }
        return buf;
    case LABEL:
        return dls_sweep_label(t->plan, design_of(t, i), buf, n);
    case ID:
        return t->plan->id[i];
    default:
        return dls_sweep_value(t->plan->request.sweep, design_of(t, i), (size_t)what);
    }
}

/* A column of texts, as wide as the longest. */
static dls_status add_texts(table *t, const char *name, const char *description, int what,
                            dls_error *err)
{
    char buf[DLS_STUDY_FAILURE];
    size_t width = 1;
    char *data;
    for (size_t i = 0; i < t->n; i++) {
        const size_t len = strlen(text_of(t, what, i, buf, sizeof buf));
        width = len > width ? len : width;
    }
    DLS_TRY(add_column(t, name, DLS_FIELD_TEXT, width, "", description, &data, err));
    for (size_t i = 0; i < t->n; i++) {
        const char *text = text_of(t, what, i, buf, sizeof buf);
        memcpy(data + i * width, text, strlen(text));
    }
    return DLS_OK;
}

/* Numbers if all its values are, texts otherwise. */
static dls_status add_axis(table *t, size_t k, dls_error *err)
{
    static const char description[] = "axis of the sweep; quantities in s, B, B/s or 1/s";
    const dls_sweep *s = t->plan->request.sweep;
    const char *name = dls_sweep_key(s, k);
    dls_option_type type;
    double *data, value;
    for (size_t i = 0; i < t->n; i++) {
        if (!dls_sweep_number(dls_sweep_value(s, design_of(t, i), k), &value, &type)) {
            return add_texts(t, name, description, (int)k, err);
        }
    }
    DLS_TRY(add_column(t, name, DLS_FIELD_F64, 0, "", description, &data, err));
    for (size_t i = 0; i < t->n; i++) {
        (void)dls_sweep_number(dls_sweep_value(s, design_of(t, i), k), &data[i], &type);
    }
    return DLS_OK;
}

/* A column for a number of a summary: NaN or 0 until a point's is put there. */
static dls_status add_number(table *t, const dls_field *f, dls_error *err)
{
    void *data;
    DLS_TRY(add_column(t, f->name, f->type, 0, f->units, f->description, &data, err));
    for (size_t i = 0; i < t->n && f->type == DLS_FIELD_F64; i++) {
        ((double *)data)[i] = (double)NAN;
    }
    return DLS_OK;
}

/* The numbers of a summary into row i of the columns from `column` on. */
static void put_numbers(table *t, size_t column, const dls_summary *summary, size_t i)
{
    for (int k = 0; k < DLS_SUMMARY_GROUPS; k++) {
        const dls_summary_group *g = &dls_summary_groups[k];
        const char *values = dls_summary_group_of(summary, k);
        for (size_t f = 0; f < g->n_fields; f++) {
            const size_t width = dls_field_width(g->fields[f].type);
            if (dls_field_is_number(&g->fields[f]) && values) {
                memcpy((char *)t->data[column] + i * width, values + g->fields[f].offset, width);
            }
            column += dls_field_is_number(&g->fields[f]);
        }
    }
}

static dls_status read_summary(const char *path, dls_summary *out, dls_error *err)
{
    DLS_HOLD(dls_results_close) dls_results *file = NULL;
    DLS_HOLD(dls_run_close) dls_run *run = NULL;
    DLS_TRY(dls_results_open(path, &file, err));
    DLS_TRY(dls_run_open(file, NULL, &run, err));
    *out = run->summary;
    return DLS_OK;
}

static dls_status add_summaries(table *t, dls_error *err)
{
    const size_t first = t->n_columns;
    for (int k = 0; k < DLS_SUMMARY_GROUPS; k++) {
        const dls_summary_group *g = &dls_summary_groups[k];
        for (size_t f = 0; f < g->n_fields; f++) {
            DLS_TRY(dls_field_is_number(&g->fields[f]) ? add_number(t, &g->fields[f], err) : DLS_OK);
        }
    }
    for (size_t i = 0; i < t->n; i++) {
        dls_summary summary;
        if (t->state[i] == DLS_STUDY_FINISHED) {
            DLS_TRY(read_summary(t->runs[t->row[i]].path, &summary, err));
            put_numbers(t, first, &summary, i);
        }
    }
    return DLS_OK;
}

static dls_status fill_table(table *t, dls_error *err)
{
    const dls_sweep_plan *plan = t->plan;
    int64_t *point, *design, *replica, *seed;
    DLS_TRY(add_i64(t, "point", "number of the point", &point, err));
    DLS_TRY(add_texts(t, "run", "its group in /runs; empty: it has no result", RUN, err));
    DLS_TRY(add_texts(t, "state", "finished, failed, running or missing", STATE, err));
    DLS_TRY(add_texts(t, "failure", "why it failed", FAILURE, err));
    DLS_TRY(add_i64(t, "design", "number of the combination of axis values", &design, err));
    DLS_TRY(add_texts(t, "label", "what the design is called", LABEL, err));
    DLS_TRY(add_i64(t, "replica", "number of the seed", &replica, err));
    if (plan->seed) {
        DLS_TRY(add_i64(t, "seed", "run.seed", &seed, err));
    }
    for (size_t i = 0; i < t->n; i++) {
        point[i] = (int64_t)(plan->first + i);
        design[i] = (int64_t)design_of(t, i);
        replica[i] = (int64_t)dls_sweep_replica(plan, plan->first + i);
        if (plan->seed) {
            seed[i] = plan->seed[replica[i]];
        }
    }
    for (size_t k = 0; k < dls_sweep_n_keys(plan->request.sweep); k++) {
        DLS_TRY(add_axis(t, k, err));
    }
    DLS_TRY(add_summaries(t, err));
    return add_texts(t, "id", "name of its file", ID, err);
}

/* ---- the runs -------------------------------------------------------------------------------- */

/* Names of the runs: their points' numbers, of one width, so that they sort. */
static dls_status find_runs(table *t, dls_error *err)
{
    enum { PATH_BYTES = 4200, ID_BYTES = 12 };
    DLS_TRY(dls_alloc_array(&t->state, t->n + 1, sizeof *t->state, "table of points", err));
    DLS_TRY(dls_alloc_array(&t->row, t->n + 1, sizeof *t->row, "table of points", err));
    for (size_t i = 0; i < t->n; i++) {
        t->state[i] = dls_sweep_state_of(t->folder, t->plan->id[i]);
        t->row[i] = t->n_finished;
        t->n_finished += t->state[i] == DLS_STUDY_FINISHED;
    }
    if (t->n_finished == 0) {
        return dls_fail(err, DLS_ERUN, t->folder, "none of the %zu points is finished", t->n);
    }
    const size_t path_len = strlen(t->folder) + 64, each = path_len + ID_BYTES;
    DLS_TRY(dls_alloc_array(&t->runs, t->n_finished, sizeof *t->runs, "table of points", err));
    DLS_TRY(dls_alloc_array(&t->texts, t->n_finished, each, "table of points", err));
    const int digits = snprintf(NULL, 0, "%zu", t->plan->n_points - 1);
    for (size_t i = 0; i < t->n; i++) {
        if (t->state[i] == DLS_STUDY_FINISHED) {
            char *path = t->texts + t->row[i] * each, *id = path + path_len;
            dls_sweep_store_path(t->folder, t->plan->id[i], ".h5", path, path_len);
            snprintf(id, ID_BYTES, "%0*zu", digits, t->plan->first + i);
            t->runs[t->row[i]] = (dls_merge_run){path, id, t->plan->id[i]};
        }
    }
    return DLS_OK;
}

dls_status dls_sweep_merge(const dls_sweep_plan *plan, const char *folder, const char *path,
                           bool link, size_t *n_finished, dls_error *err)
{
    const dls_sweep *s = plan->request.sweep;
    DLS_HOLD(table_destroy) table *t = NULL;
    DLS_TRY(dls_alloc_array(&t, 1, sizeof *t, "table of points", err));
    t->plan = plan;
    t->folder = folder;
    t->n = plan->n;
    DLS_TRY(find_runs(t, err));
    DLS_TRY(fill_table(t, err));
    const dls_merge_text texts[] = {{"name", s->name}, {"baseline", s->baseline}};
    const dls_merge merge = {.runs = t->runs,
                             .n_runs = t->n_finished,
                             .link = link,
                             .columns = t->column,
                             .n_columns = t->n_columns,
                             .n_points = t->n,
                             .texts = texts,
                             .n_texts = sizeof texts / sizeof texts[0]};
    *n_finished = t->n_finished;
    return dls_results_merge(path, &merge, err);
}
