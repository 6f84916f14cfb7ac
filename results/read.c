/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "results/read_impl.h"

#include "base/alloc.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

/* ---- files -------------------------------------------------------------------------------------
 */

/* H5Literate and H5Aiterate carry failures out through this. */
typedef struct walk {
    dls_strdict *ids;
    dls_run *run;
    dls_status status;
    dls_error *err;
} walk;

static herr_t visit_run(hid_t group, const char *name, const H5L_info_t *info, void *user)
{
    (void)group;
    (void)info;
    walk *w = user;
    int32_t code;
    w->status = dls_strdict_put(w->ids, name, strlen(name), &code, w->err);
    return w->status == DLS_OK ? 0 : -1;
}

dls_status dls_read_attr(const dls_h5 *h5, hid_t at, const char *name, char **out, dls_error *err)
{
    *out = NULL;
    const hid_t id = H5Aopen(at, name, H5P_DEFAULT);
    if (id < 0) {
        return dls_h5_fail(h5, err, "no attribute '%s'", name);
    }
    const hid_t type = H5Aget_type(id), space = H5Aget_space(id);
    const H5T_class_t class = H5Tget_class(type);
    char number[64] = "";
    bool done = H5Sget_simple_extent_npoints(space) == 1;
    if (done && class == H5T_STRING && H5Tis_variable_str(type) > 0) {
        char *text = NULL;
        const hid_t mem = dls_h5_type(DLS_FIELD_TEXT, H5T_VARIABLE, false);
        done = H5Aread(id, mem, &text) >= 0;
        H5Tclose(mem);
        *out = done ? dls_strdup(text ? text : "") : NULL;
        H5free_memory(text);
    } else if (done && class == H5T_STRING && H5Tget_size(type) <= DLS_TEXT_MAX) {
        *out = dls_alloc_zero(H5Tget_size(type) + 1, 1);
        done = !*out || H5Aread(id, type, *out) >= 0;
    } else if (done && class == H5T_INTEGER && H5Tget_sign(type) == H5T_SGN_NONE) {
        uint64_t value;
        done = H5Aread(id, H5T_NATIVE_UINT64, &value) >= 0;
        snprintf(number, sizeof number, "%" PRIu64, done ? value : 0);
    } else if (done && class == H5T_INTEGER) {
        int64_t value;
        done = H5Aread(id, H5T_NATIVE_INT64, &value) >= 0;
        snprintf(number, sizeof number, "%" PRId64, done ? value : 0);
    } else if (done && class == H5T_FLOAT) {
        double value;
        done = H5Aread(id, H5T_NATIVE_DOUBLE, &value) >= 0;
        snprintf(number, sizeof number, "%.9g", done ? value : 0);
    } else {
        done = false;
    }
    if (done && class != H5T_STRING) {
        *out = dls_strdup(number);
    }
    dls_status status = DLS_OK;
    if (!done) {
        status = dls_h5_fail(h5, err, "attribute '%s' is not one text or number", name);
        dls_free(*out);
        *out = NULL;
    } else if (!*out) {
        status = dls_nomem(err, "attribute", DLS_TEXT_MAX);
    }
    H5Sclose(space);
    H5Tclose(type);
    H5Aclose(id);
    return status;
}

static dls_status check_format(const dls_h5 *h5, dls_error *err)
{
    char *format = NULL, *version = NULL;
    if (H5Aexists(h5->file, "format") <= 0) {
        return dls_h5_fail(h5, err, "is HDF5, but not a results file of dlsim");
    }
    dls_status status = dls_read_attr(h5, h5->file, "format", &format, err);
    if (status == DLS_OK && strcmp(format, DLS_RESULTS_FORMAT) != 0) {
        status = dls_fail(err, DLS_EINPUT, h5->path, "holds '%s', expected '%s'", format,
                          DLS_RESULTS_FORMAT);
    }
    if (status == DLS_OK) {
        status = dls_read_attr(h5, h5->file, "format_version", &version, err);
    }
    if (status == DLS_OK && atol(version) != DLS_RESULTS_VERSION) {
        status = dls_fail(err, DLS_EINPUT, h5->path, "has format version %s, expected %d", version,
                          DLS_RESULTS_VERSION);
    }
    dls_free(format);
    dls_free(version);
    return status;
}

static dls_status open_file(dls_results *f, const char *path, dls_error *err)
{
    f->path = dls_strdup(path);
    if (!f->path) {
        return dls_nomem(err, "file name", strlen(path));
    }
    DLS_TRY(dls_h5_open(&f->h5, f->path, err));
    DLS_TRY(check_format(&f->h5, err));
    DLS_TRY(dls_h5_group_open(&f->h5, f->h5.file, "runs", &f->runs, err));
    walk w = {.ids = &f->ids, .status = DLS_OK, .err = err};
    if (H5Literate(f->runs, H5_INDEX_NAME, H5_ITER_INC, NULL, visit_run, &w) < 0) {
        return w.status != DLS_OK ? w.status : dls_h5_fail(&f->h5, err, "group 'runs'");
    }
    return f->ids.n > 0 ? DLS_OK : dls_fail(err, DLS_EINPUT, path, "holds no run");
}

dls_status dls_results_open(const char *path, dls_results **out, dls_error *err)
{
    dls_results *f = dls_alloc_zero(1, sizeof *f);
    if (!f) {
        return dls_nomem(err, "results file", sizeof *f);
    }
    f->h5.file = f->runs = H5I_INVALID_HID;
    dls_strdict_init(&f->ids);
    const dls_status status = open_file(f, path, err);
    if (status != DLS_OK) {
        dls_results_close(f);
        return status;
    }
    *out = f;
    return DLS_OK;
}

void dls_results_close(dls_results *f)
{
    if (f) {
        const dls_status status = dls_h5_close(&f->h5, NULL);
        (void)status; /* nothing was written */
        dls_strdict_fini(&f->ids);
        dls_free(f->path);
        dls_free(f);
    }
}

size_t dls_results_n_runs(const dls_results *f)
{
    return f->ids.n;
}

const char *dls_results_run_id(const dls_results *f, size_t i)
{
    return dls_strdict_get(&f->ids, (int32_t)i);
}

/* ---- runs --------------------------------------------------------------------------------------
 */

static herr_t visit_attr(hid_t at, const char *name, const H5A_info_t *info, void *user)
{
    (void)info;
    walk *w = user;
    dls_run *run = w->run;
    dls_run_text a = {NULL, NULL};
    w->status = dls_grow(&run->attrs, &run->attrs_cap, run->n_attrs + 1, sizeof a, w->err);
    if (w->status == DLS_OK) {
        w->status = dls_read_attr(&run->file->h5, at, name, &a.text, w->err);
    }
    if (w->status == DLS_OK) {
        a.name = dls_strdup(name);
        w->status = a.name ? DLS_OK : dls_nomem(w->err, "attribute", strlen(name));
    }
    if (w->status != DLS_OK) {
        dls_free(a.text);
        return -1;
    }
    run->attrs[run->n_attrs++] = a;
    return 0;
}

static dls_status read_summary(dls_run *run, dls_error *err)
{
    const dls_h5 *h5 = &run->file->h5;
    hid_t at;
    DLS_TRY(dls_h5_group_open(h5, run->group, "summary", &at, err));
    dls_summary *s = &run->summary;
    dls_status status = dls_h5_get_fields(h5, at, dls_summary_fields, dls_summary_n_fields, s, err);
    if (status == DLS_OK) {
        status = dls_h5_get_table(h5, at, "parts", dls_part_fields, dls_part_n_fields, s->part,
                                  DLS_SUMMARY_PARTS, sizeof s->part[0], err);
    }
    H5Gclose(at);
    for (int p = 0; p < DLS_SUMMARY_PARTS && status == DLS_OK; p++) {
        s->part[p].name[sizeof s->part[p].name - 1] = '\0';
        if ((unsigned)s->part[p].kind > DLS_PART_OUTCOME) {
            status = dls_fail(err, DLS_EINPUT, h5->path, "table 'summary/parts' has a bad kind");
        }
    }
    s->digest = strtoull(dls_run_attr(run, "digest"), NULL, 16);
    s->has_world = H5Lexists(run->group, "world", H5P_DEFAULT) > 0;
    if (status == DLS_OK && s->has_world) {
        DLS_TRY(dls_h5_group_open(h5, run->group, "world", &at, err));
        status = dls_h5_get_fields(h5, at, dls_world_fields, dls_world_n_fields, &s->world, err);
        H5Gclose(at);
    }
    return status;
}

static dls_status open_run(dls_run *run, const char *id, dls_error *err)
{
    const dls_h5 *h5 = &run->file->h5;
    run->id = dls_strdup(id);
    if (!run->id) {
        return dls_nomem(err, "run name", strlen(id));
    }
    DLS_TRY(dls_h5_group_open(h5, run->file->runs, id, &run->group, err));
    walk w = {.run = run, .status = DLS_OK, .err = err};
    if (H5Aiterate2(run->group, H5_INDEX_NAME, H5_ITER_INC, NULL, visit_attr, &w) < 0) {
        return w.status != DLS_OK ? w.status : dls_h5_fail(h5, err, "attributes of run '%s'", id);
    }
    DLS_TRY(read_summary(run, err));
    DLS_TRY(dls_run_count_rows(run, "jobs", "submit_us", &run->n_jobs, err));
    DLS_TRY(dls_run_count_rows(run, "allocations", "job", &run->n_allocs, err));
    return dls_run_count_rows(run, "series/cluster", "t_us", &run->n_series, err);
}

dls_status dls_run_open(const dls_results *file, const char *id, dls_run **out, dls_error *err)
{
    if (!id) {
        if (file->ids.n > 1) {
            return dls_fail(err, DLS_EINPUT, file->path,
                            "holds %zu runs: say which ('%s' is the first)", file->ids.n,
                            dls_results_run_id(file, 0));
        }
        id = dls_results_run_id(file, 0);
    } else if (dls_strdict_find(&file->ids, id, strlen(id)) < 0) {
        return dls_fail(err, DLS_EINPUT, file->path, "holds no run '%s' ('%s' is the first of %zu)",
                        id, dls_results_run_id(file, 0), file->ids.n);
    }
    dls_run *run = dls_alloc_zero(1, sizeof *run);
    if (!run) {
        return dls_nomem(err, "run", sizeof *run);
    }
    run->file = file;
    run->group = H5I_INVALID_HID;
    const dls_status status = open_run(run, id, err);
    if (status != DLS_OK) {
        dls_run_close(run);
        return status;
    }
    *out = run;
    return DLS_OK;
}

void dls_run_close(dls_run *run)
{
    if (!run) {
        return;
    }
    if (run->group >= 0) {
        H5Gclose(run->group);
    }
    for (size_t i = 0; i < run->n_attrs; i++) {
        dls_free(run->attrs[i].name);
        dls_free(run->attrs[i].text);
    }
    dls_free(run->attrs);
    dls_free(run->id);
    dls_free(run);
}

const char *dls_run_id(const dls_run *run)
{
    return run->id;
}

const dls_summary *dls_run_summary(const dls_run *run)
{
    return &run->summary;
}

size_t dls_run_n_attrs(const dls_run *run)
{
    return run->n_attrs;
}

const char *dls_run_attr_name(const dls_run *run, size_t i)
{
    return run->attrs[i].name;
}

const char *dls_run_attr(const dls_run *run, const char *name)
{
    for (size_t i = 0; i < run->n_attrs; i++) {
        if (strcmp(run->attrs[i].name, name) == 0) {
            return run->attrs[i].text;
        }
    }
    return "";
}

size_t dls_run_n_jobs(const dls_run *run)
{
    return run->n_jobs;
}

size_t dls_run_n_allocs(const dls_run *run)
{
    return run->n_allocs;
}

size_t dls_run_n_series(const dls_run *run)
{
    return run->n_series;
}
