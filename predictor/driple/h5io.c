/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Arrays of inspector files, over base/h5.h.
 */
#include "predictor/driple/h5io.h"

#include "base/alloc.h"
#include "base/fnv.h"
#include "base/own.h"

#include <float.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#define ELEMENTS_MAX ((hsize_t)1 << 28)

dls_status dls_h5io_shape_of(hid_t dataset, const char *where, dls_h5io_shape *shape,
                             dls_error *err)
{
    *shape = (dls_h5io_shape){0};
    DLS_H5_OWNED const hid_t space = H5Dget_space(dataset), type = H5Dget_type(dataset);
    const int rank = H5Sget_simple_extent_ndims(space);
    const bool ok = rank >= 0 && rank <= 3 &&
                    (rank == 0 || H5Sget_simple_extent_dims(space, shape->dim, NULL) >= 0);
    const H5T_class_t class = H5Tget_class(type);
    shape->rank = rank;
    shape->is_number = class == H5T_FLOAT || class == H5T_INTEGER || class == H5T_ENUM;
    shape->is_f32 = class == H5T_FLOAT && H5Tget_size(type) <= 4;
    return ok ? DLS_OK
              : dls_fail(err, DLS_EINPUT, where, "expected an array of at most 3 dimensions");
}

dls_status dls_h5io_text(hid_t object, const char *name, bool missing_ok, char *text, size_t size,
                         const char *where, dls_error *err)
{
    text[0] = '\0';
    if (missing_ok && H5Aexists(object, name) <= 0) {
        return DLS_OK;
    }
    DLS_FREED char *value = NULL;
    DLS_TRY(dls_h5_where(dls_h5_get_as_text(object, name, &value, err), err, where));
    snprintf(text, size, "%s", value);
    return DLS_OK;
}

dls_status dls_h5io_integer(hid_t object, const char *name, bool missing_ok, int64_t *value,
                            const char *where, dls_error *err)
{
    if (missing_ok && H5Aexists(object, name) <= 0) {
        return DLS_OK;
    }
    return dls_h5_where(dls_h5_get_i64(object, name, value, err), err, where);
}

void dls_h5io_checksum(const double *data, size_t n, bool as_f32, char hex[17])
{
    uint64_t h = DLS_FNV_START;
    for (size_t i = 0; i < n; i++) {
        const float f = (float)data[i];
        h = as_f32 ? dls_fnv(h, &f, sizeof f) : dls_fnv(h, &data[i], sizeof *data);
    }
    snprintf(hex, 17, "%016llx", (unsigned long long)h);
}

dls_status dls_h5io_put_array(hid_t group, const char *name, const double *data, int64_t rows,
                              int64_t cols, bool as_f32, dls_error *err)
{
    const hsize_t dim[2] = {(hsize_t)rows, (hsize_t)cols};
    char hex[17];
    hid_t set;
    dls_h5io_checksum(data, (size_t)rows * (size_t)(cols ? cols : 1), as_f32, hex);
    DLS_TRY(dls_h5_create_data(group, name, as_f32 ? H5T_IEEE_F32LE : H5T_IEEE_F64LE, cols ? 2 : 1,
                               dim, 0, &set, err));
    DLS_TRY(dls_h5_put_text(set, "checksum", hex, err));
    bool ok = H5Dwrite(set, H5T_NATIVE_DOUBLE, H5S_ALL, H5S_ALL, H5P_DEFAULT, data) >= 0;
    ok = H5Dclose(set) >= 0 && ok;
    return ok ? DLS_OK : dls_h5_unwritten(err, name);
}

static dls_status read_array(hid_t set, const char *name, bool check, const char *where,
                             dls_h5io_shape *shape, double **data, dls_error *err)
{
    hsize_t n = 1;
    for (int i = 0; i < shape->rank; i++) {
        n = shape->dim[i] != 0 && n <= ELEMENTS_MAX / shape->dim[i] ? n * shape->dim[i] : 0;
    }
    if (!shape->is_number || shape->rank < 1 || shape->rank > 2 || n == 0) {
        return dls_fail(err, DLS_EINPUT, where,
                        "tensor %s: expected numbers of one or two dimensions, none of them 0",
                        name);
    }
    DLS_TRY(dls_alloc_array(data, (size_t)n, sizeof **data, name, err));
    if (H5Dread(set, H5T_NATIVE_DOUBLE, H5S_ALL, H5S_ALL, H5P_DEFAULT, *data) < 0) {
        return dls_fail(err, DLS_EINPUT, where, "tensor %s cannot be read: truncated or damaged",
                        name);
    }
    for (hsize_t i = 0; i < n && !check; i++) { /* a type of its own, with a wider exponent */
        shape->is_f32 &= !isfinite((*data)[i]) || fabs((*data)[i]) <= (double)FLT_MAX;
    }
    if (check) {
        char stored[24];
        char hex[17];
        DLS_TRY(dls_h5io_text(set, "checksum", true, stored, sizeof stored, where, err));
        dls_h5io_checksum(*data, (size_t)n, shape->is_f32, hex);
        if (strcmp(stored, hex) != 0) {
            return dls_fail(err, DLS_EINPUT, where,
                            "tensor %s: checksum %s stored, %s computed: the file is damaged", name,
                            stored[0] ? stored : "(none)", hex);
        }
    }
    return DLS_OK;
}

dls_status dls_h5io_get_array(hid_t group, const char *name, bool check, const char *where,
                              double **data, int64_t *rows, int64_t *cols, bool *is_f32,
                              dls_error *err)
{
    *data = NULL;
    if (!dls_h5_has(group, name)) {
        return dls_fail(err, DLS_EINPUT, where, "tensor %s is missing", name);
    }
    DLS_H5_OWNED hid_t set = H5I_INVALID_HID;
    DLS_FREED double *own = NULL;
    dls_h5io_shape shape;
    if (dls_h5_get_set(group, name, &set, NULL) != DLS_OK) {
        return dls_fail(err, DLS_EINPUT, where, "tensor %s is no dataset, or damaged", name);
    }
    DLS_TRY(dls_h5io_shape_of(set, name, &shape, err));
    DLS_TRY(dls_h5_where(read_array(set, name, check, where, &shape, &own, err), err, where));
    *data = dls_take(&own);
    *rows = (int64_t)shape.dim[0];
    *cols = shape.rank == 2 ? (int64_t)shape.dim[1] : 0;
    *is_f32 = shape.is_f32;
    return DLS_OK;
}

dls_status dls_h5io_get_vector(hid_t group, const char *name, const char *where, size_t n,
                               double *out, dls_error *err)
{
    DLS_FREED double *data = NULL;
    int64_t rows = 0, cols = 0;
    bool is_f32 = false;
    DLS_TRY(dls_h5io_get_array(group, name, true, where, &data, &rows, &cols, &is_f32, err));
    if (rows != (int64_t)n || cols != 0) {
        return dls_fail(err, DLS_EINPUT, where, "%s has shape (%lld, %lld), expected (%zu)", name,
                        (long long)rows, (long long)cols, n);
    }
    memcpy(out, data, n * sizeof *out);
    return DLS_OK;
}

static dls_status get_tensor(hid_t group, const char *name, bool check, const char *where,
                             dls_tensors *set, dls_error *err)
{
    dls_tensor_spec spec = {0};
    DLS_FREED double *data = NULL;
    bool is_f32 = false;
    if (strlen(name) >= sizeof spec.name) {
        return dls_fail(err, DLS_EINPUT, where, "a name of more than %zu bytes",
                        sizeof spec.name - 1);
    }
    memcpy(spec.name, name, strlen(name));
    DLS_TRY(
        dls_h5io_get_array(group, name, check, where, &data, &spec.rows, &spec.cols, &is_f32, err));
    dls_weight *t = NULL;
    DLS_TRY(dls_tensors_add(set, &spec, &t, err));
    dls_free(t->data);
    t->data = dls_take(&data);
    t->is_f32 = is_f32;
    return DLS_OK;
}

dls_status dls_h5io_get_tensors(hid_t group, bool check, const char *where, dls_tensors *set,
                                dls_error *err)
{
    DLS_OWN(dls_strdict_fini) dls_strdict names = {0};
    DLS_TRY(dls_h5_names(group, &names, err));
    for (size_t i = 0; i < names.n; i++) {
        DLS_TRY(get_tensor(group, dls_strdict_get(&names, (int32_t)i), check, where, set, err));
    }
    return DLS_OK;
}
