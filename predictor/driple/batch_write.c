/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Predictions, written when those of a group are there.
 */
#include "dlsim/predictor.h"

#include "base/alloc.h"
#include "base/h5.h"

#include <stdio.h>
#include <string.h>

DLS_OWNER(dls_output_writer, dls_output_writer_destroy)

struct dls_output_writer {
    dls_h5_new out;
    char name[1100];           /* of the group's dataset; "": none is open */
    dls_h5_shape shape;
    char *setting_names; /* NULL: no such dimension */
    double *rows;
    size_t n, n_rows; /* numbers of the group, and those that are there */
};

static dls_status describe(dls_h5_node *file, const char *weights, const char *backend, dls_error *err)
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
    DLS_TRY(dls_h5_begin(&w->out, path, err));
    DLS_TRY(dls_h5_where(describe(w->out.root, weights, backend, err), err, path));
    *out = dls_take(&w);
    return DLS_OK;
}

static dls_status close_set(dls_output_writer *w, dls_error *err)
{
    DLS_FREED double *rows = dls_take(&w->rows);
    dls_h5_type type;
    dls_h5_node *set;
    if (!rows) {
        return DLS_OK;
    }
    dls_h5_type_cell(&type, DLS_H5_F64, 0);
    DLS_TRY(dls_h5_put_set(w->out.root, w->name, &type, w->shape, dls_h5_lies, rows, &set, err));
    return w->setting_names ? dls_h5_put_text(set, "settings", w->setting_names, err) : DLS_OK;
}

dls_status dls_output_writer_begin(dls_output_writer *w, const char *group, size_t n_graphs,
                                   size_t n_settings, const char *setting_names, dls_error *err)
{
    DLS_TRY(close_set(w, err));
    snprintf(w->name, sizeof w->name, "%s/output", group[1] ? group : "");
    w->shape = n_settings ? (dls_h5_shape){3, {n_graphs, n_settings, DLS_METRICS}, false}
                          : (dls_h5_shape){2, {n_graphs, DLS_METRICS}, false};
    dls_free(dls_take(&w->setting_names));
    if (n_settings && !(w->setting_names = dls_strdup(setting_names))) {
        return dls_nomem(err, "settings", strlen(setting_names));
    }
    w->n_rows = 0;
    w->n = n_graphs * (n_settings ? n_settings : 1) * DLS_METRICS;
    return dls_alloc_array(&w->rows, w->n, sizeof *w->rows, "output", err);
}

dls_status dls_output_writer_rows(dls_output_writer *w, const double *rows, size_t n,
                                  dls_error *err)
{
    const size_t more = n * (w->shape.rank == 3 ? w->shape.dim[1] : 1) * DLS_METRICS;
    if (more > w->n - w->n_rows) {
        return dls_h5_unwritten(err, w->name);
    }
    memcpy(w->rows + w->n_rows, rows, more * sizeof *rows);
    w->n_rows += more;
    return DLS_OK;
}

dls_status dls_output_writer_finish(dls_output_writer *w, dls_error *err)
{
    DLS_TRY(close_set(w, err));
    return dls_h5_commit(&w->out, NULL, NULL, err);
}

void dls_output_writer_destroy(dls_output_writer *w)
{
    if (w) {
        dls_h5_abort(&w->out);
        DLS_FREE_ALL(w->setting_names, w->rows, w);
    }
}
