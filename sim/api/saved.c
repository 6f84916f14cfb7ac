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
#include "base/owners.h"
#include "base/suggest.h"
#include "results/read.h"

#include <stdio.h>

/* Texts of one width. */
typedef struct texts {
    char *text; /* owned */
    size_t n, width;
} texts;

struct dls_saved {
    dls_results *file;
    dls_run *run;
    dls_trace_columns trace; /* of rec's jobs; cells owned */
    dls_record rec;
    texts id, dict[DLS_DICTS];
    char *report; /* the C library's own */
};

static dls_status read_texts(dls_saved *s, const char *group, const char *name, texts *out,
                             dls_error *err)
{
    char path[128];
    snprintf(path, sizeof path, "%s/%s", group, name);
    if (!dls_h5_has(s->run->group, path)) {
        return DLS_OK;
    }
    DLS_TRY(dls_run_count_rows(s->run, group, name, &out->n, err));
    return dls_run_read_column(s->run, path, DLS_FIELD_TEXT, out->n, &out->text, &out->width, err);
}

static dls_status read_run(dls_saved *s, const char *run, dls_error *err)
{
    DLS_TRY(dls_run_open(s->file, run, &s->run, err));
    DLS_TRY(dls_run_read_record(s->run, true, &s->rec, err));
    s->rec.allocs.has_guests = true; /* the column tells */
    s->trace.n = s->run->n_jobs;
    DLS_TRY(dls_run_read_table(s->run, &dls_trace_table, s->trace.n, true, &s->trace, err));
    for (size_t d = 0; d < DLS_DICTS; d++) {
        DLS_TRY(read_texts(s, "dicts", dls_dicts[d].name, &s->dict[d], err));
    }
    DLS_TRY(read_texts(s, "jobs", "id", &s->id, err));
    if (s->id.n != s->run->n_jobs) {
        return dls_fail(err, DLS_EINPUT, s->file->path, "column 'jobs/id' does not have %zu rows", s->run->n_jobs);
    }
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
    DLS_TRY(dls_results_open(path, &s->file, err));
    DLS_TRY(read_run(s, run ? run : dls_results_run_id(s->file, 0), err));
    *out = dls_take(&s);
    return DLS_OK;
}

/* Of the file its name and the list of its runs are left. */
static void free_run(dls_saved *s)
{
    dls_table_free(&dls_trace_table, &s->trace);
    dls_run_free_record(&s->rec);
    for (size_t d = 0; d < DLS_DICTS; d++) {
        dls_free(s->dict[d].text);
    }
    dls_free(s->id.text);
    free(s->report);
    dls_run_close(s->run);
    *s = (dls_saved){.file = s->file};
}

dls_status dls_saved_turn(dls_saved *s, const char *run, dls_error *err)
{
    DLS_ASSERT(s && s->run && run);
    DLS_IN_C_LOCALE;
    DLS_HDF5_LOCKED;
    free_run(s);
    DLS_TRY(dls_results_reopen(s->file, err));
    return read_run(s, run, err);
}

void dls_saved_close(dls_saved *s)
{
    if (!s) {
        return;
    }
    DLS_HDF5_LOCKED;
    free_run(s);
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
    return dls_record_n(&s->rec, (dls_rows_of)which);
}

bool dls_saved_column(const dls_saved *s, dls_table which, const char *name, dls_result_column *out)
{
    DLS_ASSERT(s && name && out);
    return dls_column_of(&s->trace, &s->rec, which, name, 0, out);
}

bool dls_saved_column_at(const dls_saved *s, dls_table which, size_t i, dls_result_column *out)
{
    DLS_ASSERT(s && out);
    return dls_column_of(&s->trace, &s->rec, which, NULL, i, out);
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
    const size_t d = DLS_NAMED(dls_dicts, name);
    return d < DLS_DICTS ? text_at(&s->dict[d], code) : dls_code_name(name, code);
}

bool dls_saved_number_at(const dls_saved *s, size_t i, dls_result_number *out)
{
    return dls_number_at(&s->run->summary, i, out);
}
