/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "predictor/driple/batch_io.h"

#include "base/alloc.h"
#include "base/atomicfile.h"
#include "predictor/driple/h5io.h"

#include <stdio.h>
#include <string.h>

struct dls_output_writer {
    dls_atomicfile out;
    hid_t file, set;
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
    DLS_TRY(dls_h5io_put_text(file, "format", "dlsim-predictions", err));
    DLS_TRY(dls_h5io_put_text(file, "weights", weights, err));
    DLS_TRY(dls_h5io_put_text(file, "backend", backend, err));
    return dls_h5io_put_text(file, "metrics", names, err);
}

dls_status dls_output_writer_create(const char *path, const char *weights, const char *backend,
                                    dls_output_writer **out, dls_error *err)
{
    *out = NULL;
    dls_h5io_quiet();
    dls_output_writer *w = dls_alloc_zero(1, sizeof *w);
    if (!w) {
        return dls_nomem(err, "output", sizeof *w);
    }
    w->file = -1;
    w->set = -1;
    dls_status status = dls_atomicfile_begin(&w->out, path, err);
    if (status == DLS_OK) {
        w->file = H5Fcreate(w->out.part, H5F_ACC_TRUNC, H5P_DEFAULT, H5P_DEFAULT);
        status = w->file >= 0
                     ? describe(w->file, weights, backend, err)
                     : dls_fail(err, DLS_EOUTPUT, path, "%s cannot be written", w->out.part);
    }
    if (status != DLS_OK) {
        dls_output_writer_destroy(w);
        return status;
    }
    *out = w;
    return DLS_OK;
}

dls_status dls_output_writer_begin(dls_output_writer *w, const char *group, size_t n_graphs,
                                   size_t n_settings, const char *setting_names, dls_error *err)
{
    if (w->set >= 0) {
        H5Dclose(w->set);
    }
    char full[1100];
    snprintf(full, sizeof full, "%s/output", group[1] ? group : "");
    hsize_t dim[3] = {n_graphs, n_settings, DLS_METRICS};
    if (!n_settings) {
        dim[1] = DLS_METRICS;
    }
    const hid_t space = H5Screate_simple(n_settings ? 3 : 2, dim, NULL);
    const hid_t links = H5Pcreate(H5P_LINK_CREATE);
    const hid_t props = H5Pcreate(H5P_DATASET_CREATE);
    H5Pset_create_intermediate_group(links, 1);
    H5Pset_obj_track_times(props, 0);
    w->set = H5Dcreate2(w->file, full, H5T_IEEE_F64LE, space, links, props, H5P_DEFAULT);
    H5Pclose(props);
    H5Pclose(links);
    H5Sclose(space);
    w->next = 0;
    w->n_settings = n_settings;
    if (w->set < 0) {
        return dls_fail(err, DLS_EOUTPUT, w->out.path, "dataset %s could not be created", full);
    }
    return n_settings ? dls_h5io_put_text(w->set, "settings", setting_names, err) : DLS_OK;
}

dls_status dls_output_writer_rows(dls_output_writer *w, const double *rows, size_t n,
                                  dls_error *err)
{
    const hsize_t start[3] = {w->next, 0, 0};
    hsize_t count[3] = {n, w->n_settings, DLS_METRICS};
    if (!w->n_settings) {
        count[1] = DLS_METRICS;
    }
    const hid_t space = H5Dget_space(w->set);
    const hid_t memory = H5Screate_simple(w->n_settings ? 3 : 2, count, NULL);
    const bool ok = H5Sselect_hyperslab(space, H5S_SELECT_SET, start, NULL, count, NULL) >= 0 &&
                    H5Dwrite(w->set, H5T_NATIVE_DOUBLE, memory, space, H5P_DEFAULT, rows) >= 0;
    H5Sclose(memory);
    H5Sclose(space);
    w->next += n;
    return ok ? DLS_OK
              : dls_fail(err, DLS_EOUTPUT, w->out.path, "%s could not be written (disk full?)",
                         w->out.part);
}

dls_status dls_output_writer_finish(dls_output_writer *w, dls_error *err)
{
    bool ok = w->set < 0 || H5Dclose(w->set) >= 0;
    w->set = -1;
    ok = H5Fclose(w->file) >= 0 && ok;
    w->file = -1;
    if (!ok) {
        return dls_fail(err, DLS_EOUTPUT, w->out.path, "%s could not be completed (disk full?)",
                        w->out.path);
    }
    return dls_atomicfile_commit(&w->out, err);
}

void dls_output_writer_destroy(dls_output_writer *w)
{
    if (!w) {
        return;
    }
    if (w->set >= 0) {
        H5Dclose(w->set);
    }
    if (w->file >= 0) {
        H5Fclose(w->file);
    }
    dls_atomicfile_abort(&w->out);
    dls_free(w);
}
