/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Predictions, written as they come.
 */
#include "dlsim/predictor.h"

#include "base/alloc.h"
#include "base/h5.h"

#include <stdio.h>
#include <string.h>

DLS_OWNER(dls_output_writer, dls_output_writer_destroy)

struct dls_output_writer {
    dls_h5_new out;
    hid_t set;
    size_t next;       /* graphs written of the group */
    size_t n_settings; /* 0: no such dimension */
};

static dls_status describe(hid_t file, const char *weights, const char *backend, dls_error *err)
{
    char names[256] = "";
    for (int i = 0; i < DLS_METRICS; i++) {
        const size_t used = strlen(names);
        snprintf(names + used, sizeof names - used, "%s%s", i ? "\n" : "", dls_metric_name(i));
    }
    DLS_TRY(dls_h5_put_text(file, "format", "dlsim-predictions", err));
    DLS_TRY(dls_h5_put_text(file, "weights", weights, err));
    DLS_TRY(dls_h5_put_text(file, "backend", backend, err));
    return dls_h5_put_text(file, "metrics", names, err);
}

dls_status dls_output_writer_create(const char *path, const char *weights, const char *backend,
                                    dls_output_writer **out, dls_error *err)
{
    *out = NULL;
    DLS_HOLD(dls_output_writer_destroy) dls_output_writer *w = NULL;
    DLS_TRY(dls_alloc_array(&w, 1, sizeof *w, "output", err));
    w->set = H5I_INVALID_HID;
    DLS_TRY(dls_h5_begin(&w->out, path, err));
    DLS_TRY(dls_h5_where(describe(w->out.file, weights, backend, err), err, path));
    *out = dls_take(&w);
    return DLS_OK;
}

static dls_status close_set(dls_output_writer *w, dls_error *err)
{
    const bool ok = w->set < 0 || H5Dclose(w->set) >= 0;
    w->set = H5I_INVALID_HID;
    return ok ? DLS_OK : dls_h5_unwritten(err, "output");
}

dls_status dls_output_writer_begin(dls_output_writer *w, const char *group, size_t n_graphs,
                                   size_t n_settings, const char *setting_names, dls_error *err)
{
    char full[1100];
    snprintf(full, sizeof full, "%s/output", group[1] ? group : "");
    hsize_t dim[3] = {n_graphs, n_settings, DLS_METRICS};
    if (!n_settings) {
        dim[1] = DLS_METRICS;
    }
    w->next = 0;
    w->n_settings = n_settings;
    DLS_TRY(close_set(w, err));
    DLS_TRY(dls_h5_create_data(w->out.file, full, H5T_IEEE_F64LE, n_settings ? 3 : 2, dim, 0,
                               &w->set, err));
    return n_settings ? dls_h5_put_text(w->set, "settings", setting_names, err) : DLS_OK;
}

dls_status dls_output_writer_rows(dls_output_writer *w, const double *rows, size_t n,
                                  dls_error *err)
{
    const hsize_t start[3] = {w->next, 0, 0};
    hsize_t count[3] = {n, w->n_settings, DLS_METRICS};
    if (!w->n_settings) {
        count[1] = DLS_METRICS;
    }
    DLS_H5_OWNED const hid_t space = H5Dget_space(w->set),
                             memory = H5Screate_simple(w->n_settings ? 3 : 2, count, NULL);
    const bool ok = H5Sselect_hyperslab(space, H5S_SELECT_SET, start, NULL, count, NULL) >= 0 &&
                    H5Dwrite(w->set, H5T_NATIVE_DOUBLE, memory, space, H5P_DEFAULT, rows) >= 0;
    w->next += n;
    return ok ? DLS_OK : dls_h5_unwritten(err, "output");
}

dls_status dls_output_writer_finish(dls_output_writer *w, dls_error *err)
{
    DLS_TRY(close_set(w, err));
    return dls_h5_commit(&w->out, err);
}

void dls_output_writer_destroy(dls_output_writer *w)
{
    if (w) {
        dls_h5_abort(&w->out);
        dls_free(w);
    }
}
