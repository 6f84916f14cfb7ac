/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Measured throughputs in our own HDF5 (docs/world.md): attribute format "dlsim-throughputs",
 * dictionaries models and gpu_types, columns of equal length.
 */
#include "world/table.h"

#include "base/own.h"
#include "base/h5.h"

#include <string.h>

enum { MODEL, GPU_TYPE, BATCH, GPUS, NODES, COLUMNS };
static const char *const column_names[COLUMNS] = {"model", "gpu_type", "batch", "gpus", "nodes"};

typedef struct columns {
    dls_strdict models, gpus;
    int32_t *column[COLUMNS];
    double *iteration_s;
    hsize_t n;
} columns;

static dls_status read_column(hid_t file, const char *name, hid_t type, size_t size, hsize_t *n,
                              void *out, dls_error *err)
{
    hid_t set;
    hsize_t rows;
    DLS_TRY(dls_h5_open_data(file, name, &set, &rows, err));
    dls_status status = DLS_OK;
    void *data = dls_alloc_zero((size_t)rows + 1, size);
    memcpy(out, &data, sizeof data);
    if (!data) {
        status = dls_nomem(err, name, (size_t)rows * size);
    } else if ((*n != HSIZE_UNDEF && rows != *n) ||
               (rows > 0 && H5Dread(set, type, H5S_ALL, H5S_ALL, H5P_DEFAULT, data) < 0)) {
        status = dls_h5_damaged(err, name);
    }
    *n = rows;
    H5Dclose(set);
    return status;
}

static dls_status read_columns(hid_t file, columns *c, dls_error *err)
{
    char format[32];
    DLS_TRY(dls_h5_get_text(file, "format", format, sizeof format, err));
    if (strcmp(format, "dlsim-throughputs") != 0) {
        return dls_fail(err, DLS_EINPUT, NULL,
                        "expected a file of throughputs, not of format \"%s\"", format);
    }
    DLS_TRY(dls_h5_get_dict(file, "models", &c->models, err));
    DLS_TRY(dls_h5_get_dict(file, "gpu_types", &c->gpus, err));
    for (int i = 0; i < COLUMNS; i++) {
        DLS_TRY(read_column(file, column_names[i], H5T_NATIVE_INT32, sizeof(int32_t), &c->n,
                            &c->column[i], err));
    }
    return read_column(file, "iteration_s", H5T_NATIVE_DOUBLE, sizeof(double), &c->n,
                       &c->iteration_s, err);
}

static dls_status add_rows(const columns *c, dls_speed_table *out, dls_error *err)
{
    for (hsize_t i = 0; i < c->n; i++) {
        const int32_t model = c->column[MODEL][i], gpu = c->column[GPU_TYPE][i];
        const dls_table_row row = {.batch = c->column[BATCH][i],
                                   .gpus = c->column[GPUS][i],
                                   .nodes = c->column[NODES][i],
                                   .iteration_s = c->iteration_s[i]};
        if (model < 0 || (size_t)model >= c->models.n || gpu < 0 || (size_t)gpu >= c->gpus.n ||
            row.batch < 0 || row.gpus < 1 || row.nodes < DLS_TABLE_SPREAD || row.nodes > row.gpus ||
            !(row.iteration_s > 0)) {
            return dls_fail(err, DLS_EINPUT, NULL, "row %llu is not a measurement",
                            (unsigned long long)i);
        }
        DLS_TRY(dls_table_add(out, dls_strdict_get(&c->models, model),
                              dls_strdict_get(&c->gpus, gpu), row, err));
    }
    return DLS_OK;
}

static void columns_fini(columns *c)
{
    dls_strdict_fini(&c->models);
    dls_strdict_fini(&c->gpus);
    for (int i = 0; i < COLUMNS; i++) {
        dls_free(c->column[i]);
    }
    dls_free(c->iteration_s);
}

dls_status dls_table_read_h5(const char *path, dls_speed_table *out, dls_error *err)
{
    DLS_OWN(columns_fini) columns c = {.n = HSIZE_UNDEF};
    DLS_H5_OWNED hid_t file = H5I_INVALID_HID;
    DLS_TRY(dls_h5_open(path, &file, err));
    DLS_TRY(dls_h5_where(read_columns(file, &c, err), err, path));
    return dls_h5_where(add_rows(&c, out, err), err, path);
}
