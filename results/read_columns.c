/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "results/read_impl.h"

#include "base/alloc.h"

#include <string.h>

dls_status dls_run_count_rows(const dls_run *run, const char *table, const char *column, size_t *n,
                              dls_error *err)
{
    *n = 0;
    for (size_t len = strcspn(table, "/");; len += 1 + strcspn(table + len + 1, "/")) {
        char group[64]; /* a link is looked up folder by folder */
        snprintf(group, sizeof group, "%.*s", (int)len, table);
        if (H5Lexists(run->group, group, H5P_DEFAULT) <= 0) {
            return DLS_OK;
        }
        if (table[len] == '\0') {
            break;
        }
    }
    char name[128];
    snprintf(name, sizeof name, "%s/%s", table, column);
    const hid_t set = H5Dopen2(run->group, name, H5P_DEFAULT);
    if (set < 0) {
        return dls_h5_fail(&run->file->h5, err, "no column '%s'", name);
    }
    const hid_t space = H5Dget_space(set);
    const int rank = H5Sget_simple_extent_ndims(space);
    const hssize_t rows = H5Sget_simple_extent_npoints(space);
    H5Sclose(space);
    H5Dclose(set);
    if (rank != 1 || rows < 0 || rows > DLS_ROWS_MAX) {
        return dls_fail(err, DLS_EINPUT, run->file->path, "column '%s' is not a list of at most %d",
                        name, DLS_ROWS_MAX);
    }
    *n = (size_t)rows;
    return DLS_OK;
}

static bool suits(H5T_class_t have, dls_field_type want)
{
    switch (want) {
    case DLS_FIELD_TEXT:
        return have == H5T_STRING;
    case DLS_FIELD_F32:
    case DLS_FIELD_F64:
        return have == H5T_FLOAT;
    case DLS_FIELD_STATE:
    case DLS_FIELD_OUTCOME:
    case DLS_FIELD_KIND:
        return have == H5T_ENUM;
    default:
        return have == H5T_INTEGER;
    }
}

dls_status dls_run_read_rows(const dls_run *run, const char *name, dls_field_type want, size_t n,
                             size_t first, size_t count, void *out, size_t *width, dls_error *err)
{
    const dls_h5 *h5 = &run->file->h5;
    const hid_t set = H5Dopen2(run->group, name, H5P_DEFAULT);
    if (set < 0) {
        return dls_h5_fail(h5, err, "no column '%s'", name);
    }
    const hid_t file_type = H5Dget_type(set), space = H5Dget_space(set);
    const size_t bytes =
        want == DLS_FIELD_TEXT ? H5Tget_size(file_type) + 1 : dls_field_width(want);
    void *data = NULL;
    dls_status status = DLS_OK;
    if (!suits(H5Tget_class(file_type), want) || bytes > DLS_TEXT_MAX ||
        (want == DLS_FIELD_TEXT && H5Tis_variable_str(file_type) > 0)) {
        status = dls_fail(err, DLS_EINPUT, h5->path, "column '%s' has an unexpected type", name);
    } else if (H5Sget_simple_extent_ndims(space) != 1 ||
               H5Sget_simple_extent_npoints(space) != (hssize_t)n) {
        status = dls_fail(err, DLS_EINPUT, h5->path, "column '%s' does not have %zu rows", name, n);
    } else if (!(data = dls_alloc_zero(count, bytes))) { /* a lost chunk leaves it as it is */
        status = dls_nomem(err, name, count * bytes);
    } else if (count > 0) {
        const hsize_t at = first, rows = count;
        H5Sselect_hyperslab(space, H5S_SELECT_SET, &at, NULL, &rows, NULL);
        const hid_t mem_space = H5Screate_simple(1, &rows, NULL);
        const hid_t mem_type = dls_h5_type(want, bytes, false);
        if (H5Dread(set, mem_type, mem_space, space, H5P_DEFAULT, data) < 0) {
            status = dls_h5_fail(h5, err, "column '%s' cannot be read", name);
        }
        H5Tclose(mem_type);
        H5Sclose(mem_space);
    }
    H5Sclose(space);
    H5Tclose(file_type);
    H5Dclose(set);
    if (status != DLS_OK) {
        dls_free(data);
        return status;
    }
    if (want == DLS_FIELD_TEXT) {
        for (size_t i = 0; i < count; i++) {
            ((char *)data)[(i + 1) * bytes - 1] = '\0';
        }
    }
    *width = bytes;
    memcpy(out, &data, sizeof data);
    return DLS_OK;
}

typedef struct want {
    const char *name;
    dls_field_type type;
    void *out; /* address of the pointer; what it held is freed */
} want;

static dls_status read_columns(const dls_run *run, const want *wants, size_t n_wants, size_t n,
                               dls_error *err)
{
    for (size_t i = 0; i < n_wants; i++) {
        void *old;
        size_t width;
        memcpy(&old, wants[i].out, sizeof old);
        DLS_TRY(dls_run_read_rows(run, wants[i].name, wants[i].type, n, 0, n, wants[i].out, &width, err));
        dls_free(old);
    }
    return DLS_OK;
}

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))

dls_status dls_run_read_jobs(const dls_run *run, dls_run_jobs *out, dls_error *err)
{
    memset(out, 0, sizeof *out);
    out->n = run->n_jobs;
    dls_status status = dls_run_read_rows(run, "jobs/id", DLS_FIELD_TEXT, out->n, 0, out->n, &out->ids,
                                  &out->id_width, err);
    const want wants[] = {
        {"jobs/submit_us", DLS_FIELD_I64, &out->submit_us},
        {"jobs/duration_us", DLS_FIELD_I64, &out->duration_us},
        {"jobs/gpus", DLS_FIELD_I32, &out->gpus},
        {"jobs/outcome", DLS_FIELD_OUTCOME, &out->outcome},
    };
    if (status == DLS_OK) {
        status = read_columns(run, wants, COUNT(wants), out->n, err);
    }
    if (status != DLS_OK) {
        dls_run_jobs_fini(out);
    }
    return status;
}

void dls_run_jobs_fini(dls_run_jobs *jobs)
{
    dls_free(jobs->ids);
    dls_free(jobs->submit_us);
    dls_free(jobs->duration_us);
    dls_free(jobs->gpus);
    dls_free(jobs->outcome);
    memset(jobs, 0, sizeof *jobs);
}

static dls_status fill_record(const dls_run *run, bool allocs, bool series, dls_record *rec,
                              dls_error *err)
{
    const want jobs[] = {
        {"jobs/state", DLS_FIELD_STATE, &rec->state},
        {"jobs/start_us", DLS_FIELD_I64, &rec->start_us},
        {"jobs/end_us", DLS_FIELD_I64, &rec->end_us},
        {"jobs/pending_us", DLS_FIELD_I64, &rec->pending_us},
        {"jobs/executed_us", DLS_FIELD_I64, &rec->executed_us},
        {"jobs/overhead_us", DLS_FIELD_I64, &rec->overhead_us},
        {"jobs/preempts", DLS_FIELD_I32, &rec->preempts},
        {"jobs/resumes", DLS_FIELD_I32, &rec->resumes},
        {"jobs/promotes", DLS_FIELD_I32, &rec->promotes},
    };
    DLS_TRY(read_columns(run, jobs, COUNT(jobs), run->n_jobs, err));
    if (dls_record_digest(rec) != run->summary.digest) {
        return dls_fail(err, DLS_EINPUT, run->file->path,
                        "the jobs of run '%s' do not have the digest that the file gives", run->id);
    }
    dls_alloc_rows *a = &rec->allocs;
    if (allocs && run->n_allocs > 0) {
        const want columns[] = {
            {"allocations/job", DLS_FIELD_I32, &a->job},
            {"allocations/node", DLS_FIELD_I32, &a->node},
            {"allocations/start_us", DLS_FIELD_I64, &a->start_us},
            {"allocations/end_us", DLS_FIELD_I64, &a->end_us},
            {"allocations/gpu_mask", DLS_FIELD_U64, &a->gpu_mask},
            {"allocations/gpus", DLS_FIELD_I32, &a->gpus},
            {"allocations/rate", DLS_FIELD_F32, &a->rate},
        };
        DLS_TRY(read_columns(run, columns, COUNT(columns), run->n_allocs, err));
        a->n = a->cap = run->n_allocs;
        for (size_t i = 0; i < a->n; i++) {
            if (a->job[i] < 0 || (size_t)a->job[i] >= run->n_jobs) {
                return dls_fail(err, DLS_EINPUT, run->file->path,
                                "row %zu of 'allocations/job' names job %d of %zu", i, a->job[i],
                                run->n_jobs);
            }
        }
    }
    dls_series_rows *s = &rec->series;
    if (series && run->n_series > 0) {
        const want columns[] = {
            {"series/cluster/t_us", DLS_FIELD_I64, &s->t_us},
            {"series/cluster/busy_gpus", DLS_FIELD_I32, &s->busy_gpus},
            {"series/cluster/running_jobs", DLS_FIELD_I32, &s->running_jobs},
            {"series/cluster/pending_jobs", DLS_FIELD_I32, &s->pending_jobs},
            {"series/cluster/finished_jobs", DLS_FIELD_I32, &s->finished_jobs},
            {"series/cluster/busy_nodes", DLS_FIELD_I32, &s->busy_nodes},
            {"series/cluster/full_nodes", DLS_FIELD_I32, &s->full_nodes},
        };
        DLS_TRY(read_columns(run, columns, COUNT(columns), run->n_series, err));
        s->n = s->cap = run->n_series;
    }
    return DLS_OK;
}

dls_status dls_run_read_record(const dls_run *run, bool allocs, bool series, dls_record **out,
                               dls_error *err)
{
    dls_record *rec = NULL;
    DLS_TRY(dls_record_create(run->n_jobs, &rec, err));
    const dls_status status = fill_record(run, allocs, series, rec, err);
    if (status != DLS_OK) {
        dls_record_destroy(rec);
        return status;
    }
    const dls_summary *s = &run->summary;
    rec->total_gpus = s->total_gpus;
    rec->complete = s->complete;
    rec->events = s->events;
    rec->passes = s->passes;
    rec->positions = s->positions;
    rec->flips = s->flips;
    rec->refusals = s->refusals;
    rec->peak_queue = s->peak_queue;
    rec->peak_pending = s->waiting_peak;
    *out = rec;
    return DLS_OK;
}

dls_status dls_run_read_name(const dls_run *run, const char *dict, size_t job, char **out,
                             dls_error *err)
{
    *out = NULL;
    char column[64], names[64];
    snprintf(column, sizeof column, "jobs/%s", dict);
    snprintf(names, sizeof names, "dicts/%s", dict);
    size_t n_names, width;
    int32_t code = -1;
    if (H5Lexists(run->group, column, H5P_DEFAULT) > 0) {
        int32_t *one = NULL;
        DLS_TRY(dls_run_read_rows(run, column, DLS_FIELD_I32, run->n_jobs, job, 1, &one, &width, err));
        code = *one;
        dls_free(one);
    }
    DLS_TRY(dls_run_count_rows(run, "dicts", dict, &n_names, err));
    if (code >= 0 && (size_t)code < n_names) {
        return dls_run_read_rows(run, names, DLS_FIELD_TEXT, n_names, (size_t)code, 1, out, &width, err);
    }
    *out = dls_strdup("");
    return *out ? DLS_OK : dls_nomem(err, "name", 1);
}
