/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Opens results files and finds their runs, attributes and summaries; checks the format's version,
 * and follows the links of merged files only to regular files below their folder.
 */
#include "results/read.h"

#include "base/alloc.h"
#include "base/own.h"
#include "base/suggest.h"

#include <inttypes.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>

/* ---- files ----------------------------------------------------------------------------------- */

/* H5Aiterate carries failures out through this. */
typedef struct walk {
    dls_run *run;
    dls_status status;
    dls_error *err;
} walk;

/* The version first: texts of version 1 had another form. */
static dls_status check_format(hid_t file, dls_error *err)
{
    DLS_FREED char *format = NULL;
    uint64_t version = 0;
    if (H5Aexists(file, "format") <= 0) {
        return dls_h5_fail(err, DLS_EINPUT, "is HDF5, but not a results file of dlsim");
    }
    DLS_TRY(dls_h5_get_u64(file, "format_version", &version, err));
    if (version != DLS_RESULTS_VERSION) {
        return dls_fail(err, DLS_EINPUT, NULL, "has format version %" PRIu64 ", expected %d",
                        version, DLS_RESULTS_VERSION);
    }
    DLS_TRY(dls_h5_get_as_text(file, "format", &format, err));
    return strcmp(format, DLS_RESULTS_FORMAT) == 0
               ? DLS_OK
               : dls_fail(err, DLS_EINPUT, NULL, "holds '%s', expected '%s'", format,
                          DLS_RESULTS_FORMAT);
}

static dls_status open_runs(dls_results *f, dls_error *err)
{
    DLS_TRY(dls_h5_open(f->path, &f->file, err));
    DLS_TRY(check_format(f->file, err));
    return dls_h5_get_group(f->file, "runs", &f->runs, err);
}

static dls_status open_file(dls_results *f, const char *path, dls_error *err)
{
    f->path = dls_strdup(path);
    if (!f->path) {
        return dls_nomem(err, "file name", strlen(path));
    }
    DLS_TRY(open_runs(f, err));
    DLS_TRY(dls_h5_names(f->runs, &f->ids, err));
    return f->ids.n > 0 ? DLS_OK : dls_fail(err, DLS_EINPUT, path, "holds no run");
}

dls_status dls_results_open(const char *path, dls_results **out, dls_error *err)
{
    DLS_HOLD(dls_results_close) dls_results *f = NULL;
    DLS_TRY(dls_alloc_array(&f, 1, sizeof *f, "results file", err));
    f->file = f->runs = H5I_INVALID_HID;
    DLS_TRY(dls_h5_where(open_file(f, path, err), err, path));
    *out = dls_take(&f);
    return DLS_OK;
}

void dls_results_close(dls_results *f)
{
    if (f) {
        if (f->file >= 0) {
            H5Fclose(f->file);
        }
        dls_strdict_fini(&f->ids);
        DLS_FREE_ALL(f->path, f);
    }
}

/* ---- runs ------------------------------------------------------------------------------------ */

static herr_t visit_attr(hid_t at, const char *name, const H5A_info_t *info, void *user)
{
    walk *w = user;
    dls_run *run = w->run;
    dls_run_text a = {NULL, NULL};
    w->status = dls_grow(&run->attrs, &run->attrs_cap, run->n_attrs + 1, sizeof a, w->err);
    if (w->status == DLS_OK) {
        w->status = dls_h5_get_as_text(at, name, &a.text, w->err);
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
    DLS_H5_OWNED hid_t at = H5I_INVALID_HID;
    dls_summary *s = &run->summary;
    DLS_TRY(dls_h5_get_group(run->group, "summary", &at, err));
    DLS_TRY(dls_get_fields(at, &dls_summary_groups[DLS_GROUP_RUN], s, err));
    DLS_TRY(dls_get_rows(at, "parts", &dls_part_rows, s->part, err));
    for (int p = 0; p < DLS_SUMMARY_PARTS; p++) {
        s->part[p].name[sizeof s->part[p].name - 1] = '\0';
        if ((unsigned)s->part[p].kind > DLS_PART_OUTCOME) {
            return dls_fail(err, DLS_EINPUT, NULL, "table 'summary/parts' has a bad kind");
        }
    }
    s->digest = strtoull(dls_run_attr(run, "digest"), NULL, 16);
    s->history_digest = strtoull(dls_run_attr(run, "history_digest"), NULL, 16);
    for (int k = DLS_GROUP_WORLD; k < DLS_SUMMARY_GROUPS; k++) {
        const dls_summary_group *g = &dls_summary_groups[k];
        if (dls_h5_has(run->group, g->name)) {
            DLS_H5_OWNED hid_t group = H5I_INVALID_HID;
            *(bool *)((char *)s + g->has) = true;
            DLS_TRY(dls_h5_get_group(run->group, g->name, &group, err));
            DLS_TRY(dls_get_fields(group, g, s, err));
        }
    }
    return DLS_OK;
}

/* A merged file may name the file of a run instead of holding it: the one kind of link out of a
 * file that is followed, and only to a run of a results file, which lies as a regular file below
 * the merged file's folder or at a whole path. */
static dls_status follow_link(dls_run *run, hid_t runs, const char *id, dls_error *err)
{
    H5L_info_t info;
    char value[PATH_MAX + 512], path[2 * PATH_MAX];
    const char *file, *object;
    if (H5Lget_info(runs, id, &info, H5P_DEFAULT) < 0 || info.type != H5L_TYPE_EXTERNAL) {
        return dls_h5_get_group(runs, id, &run->group, err);
    }
    if (info.u.val_size > sizeof value ||
        H5Lget_val(runs, id, value, sizeof value, H5P_DEFAULT) < 0 ||
        H5Lunpack_elink_val(value, info.u.val_size, NULL, &file, &object) < 0 ||
        strncmp(object, "/runs/", 6) != 0 || strchr(object + 6, '/') || strlen(file) >= PATH_MAX) {
        return dls_h5_fail(err, DLS_EINPUT, "run '%s' is a link to something else", id);
    }
    const char *slash = strrchr(run->file->path, '/');
    snprintf(path, sizeof path, "%.*s%s",
             *file != '/' && slash ? (int)(slash - run->file->path) + 1 : 0, run->file->path, file);
    DLS_TRY(dls_h5_open(path, &run->linked, err));
    dls_status status = check_format(run->linked, err);
    DLS_THEN(status, dls_h5_get_group(run->linked, object, &run->group, err));
    return dls_h5_where(status, err, path);
}

static dls_status open_run(dls_run *run, const char *id, dls_error *err)
{
    run->id = dls_strdup(id);
    if (!run->id) {
        return dls_nomem(err, "run name", strlen(id));
    }
    DLS_TRY(follow_link(run, run->file->runs, id, err));
    walk w = {.run = run, .status = DLS_OK, .err = err};
    if (H5Aiterate2(run->group, H5_INDEX_NAME, H5_ITER_INC, NULL, visit_attr, &w) < 0) {
        return w.status != DLS_OK ? w.status : dls_h5_damaged(err, "attributes of the run");
    }
    DLS_TRY(read_summary(run, err));
    return dls_run_count_rows(run, "jobs", "submit_us", &run->n_jobs, err);
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
    DLS_HOLD(dls_run_close) dls_run *run = NULL;
    DLS_TRY(dls_alloc_array(&run, 1, sizeof *run, "run", err));
    run->file = file;
    run->group = run->linked = H5I_INVALID_HID;
    DLS_TRY(dls_h5_where(open_run(run, id, err), err, file->path));
    *out = dls_take(&run);
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
    if (run->linked >= 0) {
        H5Fclose(run->linked);
    }
    for (size_t i = 0; i < run->n_attrs; i++) {
        DLS_FREE_ALL(run->attrs[i].name, run->attrs[i].text);
    }
    DLS_FREE_ALL(run->attrs, run->id, run);
}

void dls_run_let_go(dls_results *f, dls_run *run)
{
    if (run->linked >= 0) {
        H5Fclose(run->linked);
    }
    H5Fclose(f->file);
    f->file = f->runs = run->group = run->linked = H5I_INVALID_HID;
}

dls_status dls_results_reopen(dls_results *f, dls_error *err)
{
    return dls_h5_where(open_runs(f, err), err, f->path);
}

const char *dls_run_attr(const dls_run *run, const char *name)
{
    const size_t i = dls_named(run->attrs, run->n_attrs, sizeof *run->attrs, name);
    return i < run->n_attrs ? run->attrs[i].text : "";
}
