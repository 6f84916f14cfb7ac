/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Runs of results files, read whole into columns.
 */
#include "dlsim/results.h"

#include "api/answer.h"
#include "api/numbers.h"
#include "base/alloc.h"
#include "base/assert.h"
#include "base/guard.h"
#include "base/own.h"
#include "results/read.h"

#include <stdio.h>
#include <string.h>

DLS_OWNER(dls_saved, dls_saved_close)

typedef struct column {
    const dls_record_column *what;
    void *data; /* owned */
} column;

typedef struct table {
    column *column; /* owned */
    size_t n, cap, rows;
} table;

/* Texts of one width. */
typedef struct texts {
    char *text; /* owned */
    size_t n, width;
} texts;

struct dls_saved {
    dls_results *file;
    dls_run *run;
    table table[DLS_TABLE_COUNT];
    texts id, dict[DLS_DICTS];
    char *report; /* the C library's own */
};

static const struct {
    const char *group, *first; /* a column that the table always has */
    const dls_record_table *tables[2];
} layout[DLS_TABLE_COUNT] = {
    [DLS_TABLE_JOBS] = {"jobs", "id", {&dls_trace_table, &dls_job_table}},
    [DLS_TABLE_ALLOCATIONS] = {"allocations", "job", {&dls_alloc_table}},
    [DLS_TABLE_SERIES] = {"series/cluster", "t_us", {&dls_series_table}},
    [DLS_TABLE_STARTS] = {"starts", "job", {&dls_start_table}},
    [DLS_TABLE_WORLD] = {"world/series", "t_us", {&dls_world_table}},
};

static dls_status read_column(dls_saved *s, dls_table which, const dls_record_column *what,
                              dls_error *err)
{
    table *t = &s->table[which];
    char name[128];
    size_t width;
    snprintf(name, sizeof name, "%s/%s", layout[which].group, what->name);
    if (!dls_h5_has(s->run->group, name)) {
        return what->optional || which == DLS_TABLE_JOBS
                   ? DLS_OK
                   : dls_fail(err, DLS_EINPUT, s->file->path, "no column '%s'", name);
    }
    DLS_TRY(dls_grow(&t->column, &t->cap, t->n + 1, sizeof *t->column, err));
    t->column[t->n] = (column){.what = what};
    DLS_TRY(dls_run_read_rows(s->run, name, what->type, t->rows, 0, t->rows, &t->column[t->n].data,
                              &width, err));
    t->n++;
    return DLS_OK;
}

static dls_status read_table(dls_saved *s, dls_table which, dls_error *err)
{
    DLS_TRY(dls_run_count_rows(s->run, layout[which].group, layout[which].first,
                               &s->table[which].rows, err));
    for (size_t k = 0; k < 2 && s->table[which].rows > 0; k++) {
        const dls_record_table *columns = layout[which].tables[k];
        for (size_t i = 0; columns && i < columns->n; i++) {
            DLS_TRY(read_column(s, which, &columns->columns[i], err));
        }
    }
    return DLS_OK;
}

static dls_status read_texts(dls_saved *s, const char *group, const char *name, texts *out,
                             dls_error *err)
{
    char path[128];
    snprintf(path, sizeof path, "%s/%s", group, name);
    if (!dls_h5_has(s->run->group, path)) {
        return DLS_OK;
    }
    DLS_TRY(dls_run_count_rows(s->run, group, name, &out->n, err));
    return dls_run_read_rows(s->run, path, DLS_FIELD_TEXT, out->n, 0, out->n, &out->text,
                             &out->width, err);
}

/* Allocations and series are what was written, and of jobs that are there. */
static dls_status check_history(const dls_saved *s, dls_error *err)
{
    const dls_table which[] = {DLS_TABLE_ALLOCATIONS, DLS_TABLE_SERIES};
    dls_record rec = {.allocs.n = s->table[which[0]].rows, .series.n = s->table[which[1]].rows};
    void *const rows[] = {&rec.allocs, &rec.series};
    for (int k = 0; k < 2; k++) {
        const table *t = &s->table[which[k]];
        for (size_t i = 0; i < t->n; i++) {
            dls_column_set(t->column[i].what, rows[k], t->column[i].data);
        }
    }
    for (size_t i = 0; i < rec.allocs.n; i++) {
        if (rec.allocs.job[i] < 0 || (size_t)rec.allocs.job[i] >= s->run->n_jobs) {
            return dls_fail(err, DLS_EINPUT, s->file->path,
                            "row %zu of 'allocations/job' names job %d of %zu", i,
                            rec.allocs.job[i], s->run->n_jobs);
        }
    }
    return dls_record_history_digest(&rec) == s->run->summary.history_digest
               ? DLS_OK
               : dls_fail(err, DLS_EINPUT, s->file->path,
                          "allocations and series of run '%s' do not have the digest that the file "
                          "gives",
                          s->run->id);
}

static dls_status open_run(dls_saved *s, const char *path, const char *run, dls_error *err)
{
    DLS_TRY(dls_results_open(path, &s->file, err));
    DLS_TRY(dls_run_open(s->file, run ? run : dls_results_run_id(s->file, 0), &s->run, err));
    DLS_TRY(dls_run_verify(s->run, err));
    for (int t = 0; t < DLS_TABLE_COUNT; t++) {
        DLS_TRY(read_table(s, (dls_table)t, err));
    }
    DLS_TRY(check_history(s, err));
    for (size_t d = 0; d < DLS_DICTS; d++) {
        DLS_TRY(read_texts(s, "dicts", dls_dicts[d].name, &s->dict[d], err));
    }
    DLS_TRY(read_texts(s, "jobs", "id", &s->id, err));
    dls_run_let_go(s->file, s->run); /* it may be replaced while this lives */
    return DLS_OK;
}

dls_status dls_saved_open(const char *path, const char *run, dls_saved **out, dls_error *err)
{
    DLS_ASSERT(path && out);
    DLS_IN_C_LOCALE;
    DLS_HDF5_LOCKED;
    DLS_HOLD(dls_saved_close) dls_saved *s = NULL;
    DLS_TRY(dls_alloc_array(&s, 1, sizeof *s, "run", err));
    DLS_TRY(open_run(s, path, run, err));
    *out = dls_take(&s);
    return DLS_OK;
}

void dls_saved_close(dls_saved *s)
{
    if (!s) {
        return;
    }
    DLS_HDF5_LOCKED;
    for (int t = 0; t < DLS_TABLE_COUNT; t++) {
        for (size_t i = 0; i < s->table[t].n; i++) {
            dls_free(s->table[t].column[i].data);
        }
        dls_free(s->table[t].column);
    }
    for (size_t d = 0; d < DLS_DICTS; d++) {
        dls_free(s->dict[d].text);
    }
    dls_free(s->id.text);
    free(s->report);
    dls_run_close(s->run);
    dls_results_close(s->file);
    dls_free(s);
}

const char *dls_saved_run(const dls_saved *s, size_t i)
{
    return i < s->file->ids.n ? dls_results_run_id(s->file, i) : NULL;
}

const char *dls_saved_text(const dls_saved *s, const char *attribute)
{
    return dls_run_attr(s->run, attribute);
}

const char *dls_saved_attribute(const dls_saved *s, size_t i)
{
    return i < s->run->n_attrs ? s->run->attrs[i].name : NULL;
}

dls_status dls_saved_report(dls_saved *s, bool json, const char **text, dls_error *err)
{
    DLS_IN_C_LOCALE;
    dls_answer answer;
    dls_status status = DLS_OK;
    DLS_TRY(dls_answer_begin(&answer, &s->report, err));
    if (json) {
        status = dls_summary_json(answer.to, &s->run->summary, err);
    } else {
        dls_summary_print(answer.to, &s->run->summary, true);
    }
    return dls_answer_end(&answer, status, text, err);
}

size_t dls_saved_rows(const dls_saved *s, dls_table which)
{
    DLS_ASSERT(s && (unsigned)which < DLS_TABLE_COUNT);
    return s->table[which].rows;
}

bool dls_saved_column(const dls_saved *s, dls_table which, const char *name, dls_result_column *out)
{
    for (size_t i = 0; dls_saved_column_at(s, which, i, out); i++) {
        if (strcmp(out->name, name) == 0) {
            return true;
        }
    }
    return false;
}

bool dls_saved_column_at(const dls_saved *s, dls_table which, size_t i, dls_result_column *out)
{
    DLS_ASSERT(s && out);
    if ((unsigned)which >= DLS_TABLE_COUNT || i >= s->table[which].n) {
        return false;
    }
    const column *c = &s->table[which].column[i];
    *out = (dls_result_column){.name = c->what->name,
                               .unit = c->what->units,
                               .description = c->what->what,
                               .type = dls_value_of(c->what->type),
                               .n = s->table[which].rows,
                               .data = c->data};
    return true;
}

static const char *text_at(const texts *t, size_t i)
{
    return i < t->n ? t->text + i * t->width : NULL;
}

const char *dls_saved_id(const dls_saved *s, size_t job)
{
    const char *id = text_at(&s->id, job);
    return id ? id : "";
}

const char *dls_saved_name(const dls_saved *s, const char *name, uint32_t code)
{
    DLS_ASSERT(s && name);
    for (size_t d = 0; d < DLS_DICTS; d++) {
        if (strcmp(name, dls_dicts[d].name) == 0) {
            return text_at(&s->dict[d], code);
        }
    }
    return dls_code_name(name, code);
}

bool dls_saved_number_at(const dls_saved *s, size_t i, dls_result_number *out)
{
    return dls_number_at(&s->run->summary, i, out);
}
