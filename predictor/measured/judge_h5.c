/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Writes verdicts to HDF5: every measured step with every answer, and the errors of every group.
 */
#include "base/alloc.h"
#include "base/h5.h"
#include "predictor/measured/judge.h"

#include <stdio.h>
#include <string.h>

#define FORMAT "dlsim-measured"
#define FORMAT_VERSION 1
#define WIDTH 160 /* of a text */

typedef struct saved {
    const dls_verdicts *v;
    const char *command;
} saved;

enum text { MODEL, GPU, PRECISION, GROUP, NAME, REASON, LEFT_OUT };

static const char *text_of(const dls_verdicts *v, enum text which, size_t i)
{
    switch (which) {
    case MODEL:
        return v->steps->row[i].model;
    case GPU:
        return v->steps->row[i].gpu;
    case PRECISION:
        return dls_numeric_name((int)v->steps->row[i].numeric);
    case GROUP:
        return dls_strdict_get(&v->groups, v->group_of[i]);
    case NAME:
        return dls_verdicts_group_name(v, i);
    case REASON:
        return dls_strdict_get(&v->reasons, (int32_t)i);
    default:
        return v->steps->bad.at[i].text;
    }
}

static dls_status put_texts(hid_t at, const char *name, const dls_verdicts *v, enum text which,
                            size_t n, dls_error *err)
{
    DLS_FREED char *all = NULL;
    DLS_TRY(dls_alloc_array(&all, n + 1, WIDTH, name, err));
    for (size_t i = 0; i < n; i++) {
        snprintf(all + i * WIDTH, WIDTH, "%.*s", WIDTH - 1, text_of(v, which, i));
    }
    return dls_h5_put_strings(at, name, all, n, WIDTH, err);
}

/* Numbers of rows: those of the question, and what was measured. */
static dls_status put_numbers(hid_t at, const dls_verdicts *v, double *column, dls_error *err)
{
    static const char *const names[] = {"gpus",     "nodes",  "batch_per_gpu", "image",
                                        "sequence", "fitted", "measured_s"};
    const size_t n = v->steps->n;
    for (size_t k = 0; k < sizeof names / sizeof names[0]; k++) {
        for (size_t i = 0; i < n; i++) {
            const dls_measured_step *row = &v->steps->row[i];
            const double number[] = {row->gpus,     row->nodes,  row->batch, row->image,
                                     row->sequence, row->fitted, row->step_s};
            column[i] = number[k];
        }
        DLS_TRY(
            dls_h5_put_data(at, names[k], H5T_IEEE_F64LE, H5T_NATIVE_DOUBLE, column, n, 0, err));
    }
    DLS_TRY(dls_h5_put_data(at, "predicted_s", H5T_IEEE_F64LE, H5T_NATIVE_DOUBLE, v->predicted, n,
                            v->n_sources, err));
    return dls_h5_put_data(at, "why", H5T_STD_I32LE, H5T_NATIVE_INT32, v->why, n, v->n_sources,
                           err);
}

static dls_status put_errors(hid_t at, const dls_verdicts *v, double *cell, dls_error *err)
{
    const size_t n = v->n_groups;
    for (size_t k = 0; k < dls_error_figures_n; k++) {
        const dls_error_figure *f = &dls_error_figures[k];
        for (size_t i = 0; i < n * v->n_sources; i++) {
            cell[i] = dls_error_figure_of(f, &v->errors[i / v->n_sources][i % v->n_sources]);
        }
        DLS_TRY(f->files & DLS_ERROR_IN_H5
                    ? dls_h5_put_data(at, f->name, H5T_IEEE_F64LE, H5T_NATIVE_DOUBLE, cell, n,
                                      v->n_sources, err)
                    : DLS_OK);
    }
    return DLS_OK;
}

static dls_status put_group(hid_t file, const char *name, const dls_verdicts *v, bool rows,
                            dls_error *err)
{
    DLS_H5_OWNED hid_t at = H5I_INVALID_HID;
    DLS_FREED double *numbers = NULL;
    const size_t n = v->steps->n;
    DLS_TRY(dls_alloc_array(&numbers, (rows ? n : v->n_groups * v->n_sources) + 1, sizeof *numbers,
                            name, err));
    DLS_TRY(dls_h5_put_group(file, name, &at, err));
    if (!rows) {
        DLS_TRY(put_errors(at, v, numbers, err));
        return put_texts(at, "name", v, NAME, v->n_groups, err);
    }
    DLS_TRY(put_numbers(at, v, numbers, err));
    DLS_TRY(put_texts(at, "model", v, MODEL, n, err));
    DLS_TRY(put_texts(at, "gpu", v, GPU, n, err));
    DLS_TRY(put_texts(at, "precision", v, PRECISION, n, err));
    return put_texts(at, "group", v, GROUP, n, err);
}

static dls_status put(hid_t file, const void *what, dls_error *err)
{
    const saved *s = what;
    const dls_verdicts *v = s->v;
    char sources[256] = "";
    for (size_t i = 0; i < v->n_sources; i++) {
        strcat(strcat(sources, i ? "," : ""), v->source[i]);
    }
    DLS_TRY(dls_h5_put_text(file, "format", FORMAT, err));
    DLS_TRY(dls_h5_put_i32(file, "format_version", FORMAT_VERSION, err));
    DLS_TRY(dls_h5_put_text(file, "command", s->command, err));
    DLS_TRY(dls_h5_put_text(file, "sources", sources, err));
    DLS_TRY(put_group(file, "steps", v, true, err));
    DLS_TRY(put_group(file, "groups", v, false, err));
    DLS_TRY(put_texts(file, "reasons", v, REASON, v->reasons.n, err));
    return put_texts(file, "left_out", v, LEFT_OUT, v->steps->bad.n, err);
}

dls_status dls_verdicts_save(const dls_verdicts *v, const char *path, const char *command,
                             dls_error *err)
{
    const saved s = {v, command};
    return dls_h5_save(path, put, &s, err);
}
