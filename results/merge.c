/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Merges results files into one, copying or linking the runs, and writes and reads the table of
 * points beside them.
 */
#include "results/merge.h"

#include "base/own.h"

#include <limits.h>
#include <stdlib.h>
#include <string.h>

#define GROUP "points"

/* ---- writing --------------------------------------------------------------------------------- */

/* The one run of the file becomes a group of `runs`. */
static dls_status copy_run(hid_t runs, const dls_merge_run *run, dls_error *err)
{
    DLS_HOLD(dls_results_close) dls_results *file = NULL;
    DLS_TRY(dls_results_open(run->path, &file, err));
    if (file->ids.n != 1) {
        return dls_fail(err, DLS_EINPUT, run->path, "holds %zu runs: expected one", file->ids.n);
    }
    return H5Ocopy(file->runs, dls_results_run_id(file, 0), runs, run->id, H5P_DEFAULT,
                   H5P_DEFAULT) < 0
               ? dls_h5_fail(err, DLS_EOUTPUT, "copy of %s", run->path)
               : DLS_OK;
}

/* The file as the merged file names it: relative if it lies below `folder`. */
static void link_target(const char *path, const char *folder, char out[PATH_MAX])
{
    char whole[PATH_MAX], below[PATH_MAX];
    snprintf(out, PATH_MAX, "%s", path);
    if (realpath(path, whole) && realpath(folder, below)) {
        const size_t len = strlen(below);
        const bool inside = strncmp(whole, below, len) == 0 && whole[len] == '/';
        snprintf(out, PATH_MAX, "%s", inside ? whole + len + 1 : whole);
    }
}

static dls_status link_run(hid_t runs, const dls_merge_run *run, const char *folder, dls_error *err)
{
    DLS_HOLD(dls_results_close) dls_results *file = NULL;
    char target[PATH_MAX], object[300];
    if (!run->own) {
        DLS_TRY(dls_results_open(run->path, &file, err));
    }
    snprintf(object, sizeof object, "/runs/%s", run->own ? run->own : dls_results_run_id(file, 0));
    link_target(run->path, folder, target);
    return H5Lcreate_external(target, object, runs, run->id, H5P_DEFAULT, H5P_DEFAULT) >= 0
               ? DLS_OK
               : dls_h5_fail(err, DLS_EOUTPUT, "link to %s", run->path);
}

static dls_status write_points(hid_t file, const dls_merge *m, dls_error *err)
{
    DLS_H5_OWNED hid_t at = H5I_INVALID_HID;
    DLS_TRY(dls_h5_put_group(file, GROUP, &at, err));
    for (size_t i = 0; i < m->n_texts; i++) {
        DLS_TRY(dls_h5_put_text(at, m->texts[i].name, m->texts[i].text, err));
    }
    return dls_put_columns(at, m->columns, m->n_columns, m->n_points, err);
}

typedef struct merging {
    const dls_merge *merge;
    const char *path;
} merging;

static dls_status write_all(hid_t file, const void *what, dls_error *err)
{
    const dls_merge *m = ((const merging *)what)->merge;
    const char *path = ((const merging *)what)->path;
    char folder[PATH_MAX];
    const char *slash = strrchr(path, '/');
    snprintf(folder, sizeof folder, "%.*s", slash ? (int)(slash - path) : 1, slash ? path : ".");
    DLS_H5_OWNED hid_t runs = H5I_INVALID_HID;
    DLS_TRY(dls_h5_put_text(file, "format", DLS_RESULTS_FORMAT, err));
    DLS_TRY(dls_h5_put_u64(file, "format_version", DLS_RESULTS_VERSION, err));
    DLS_TRY(dls_h5_put_group(file, "runs", &runs, err));
    for (size_t i = 0; i < m->n_runs; i++) {
        DLS_TRY(m->link ? link_run(runs, &m->runs[i], *folder ? folder : "/", err)
                        : copy_run(runs, &m->runs[i], err));
    }
    return write_points(file, m, err);
}

dls_status dls_results_merge(const char *path, const dls_merge *merge, dls_error *err)
{
    return dls_h5_save(path, write_all, &(merging){merge, path}, err);
}

/* ---- reading --------------------------------------------------------------------------------- */

void dls_points_fini(dls_points *p)
{
    DLS_FREE_ALL(p->run, p->label, p->design, p->replica, p->baseline);
    *p = (dls_points){0};
}

static dls_status read_points(const dls_results *file, dls_points *p, dls_error *err)
{
    /* The columns' readers start at a run; the table hangs on the file itself. */
    const dls_run root = {.file = file, .group = file->file};
    size_t n, width;
    DLS_TRY(dls_run_count_rows(&root, GROUP, "design", &n, err));
    if (n == 0) {
        return DLS_OK;
    }
    const struct {
        const char *name;
        dls_field_type type;
        void *out;
        size_t *width;
    } columns[] = {
        {GROUP "/run", DLS_FIELD_TEXT, &p->run, &p->run_width},
        {GROUP "/label", DLS_FIELD_TEXT, &p->label, &p->label_width},
        {GROUP "/design", DLS_FIELD_I64, &p->design, &width},
        {GROUP "/replica", DLS_FIELD_I64, &p->replica, &width},
    };
    for (size_t i = 0; i < sizeof columns / sizeof columns[0]; i++) {
        DLS_TRY(dls_run_read_column(&root, columns[i].name, columns[i].type, n, columns[i].out,
                                    columns[i].width, err));
    }
    p->n = n;
    p->seeded = dls_h5_has(root.group, GROUP "/seed");
    DLS_H5_OWNED hid_t at = H5I_INVALID_HID;
    DLS_TRY(dls_h5_get_group(root.group, GROUP, &at, err));
    return dls_h5_get_as_text(at, "baseline", &p->baseline, err);
}

dls_status dls_points_read(const dls_results *file, dls_points *out, dls_error *err)
{
    *out = (dls_points){0};
    return dls_h5_where(read_points(file, out, err), err, file->path);
}
