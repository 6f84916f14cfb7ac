/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "predictor/driple/h5io.h"

#include "base/alloc.h"
#include "base/atomicfile.h"
#include "base/file.h"

#include <stdio.h>
#include <string.h>

#define ELEMENTS_MAX ((hsize_t)1 << 28)

void dls_h5io_quiet(void)
{
    H5Eset_auto2(H5E_DEFAULT, NULL, NULL);
}

dls_status dls_h5io_open(const char *path, hid_t *file, dls_error *err)
{
    dls_h5io_quiet();
    *file = -1;
    DLS_TRY(dls_file_check_regular(path, err));
    *file = H5Fopen(path, H5F_ACC_RDONLY, H5P_DEFAULT);
    if (*file < 0) {
        return dls_fail(err, DLS_EINPUT, path, "not an HDF5 file, or damaged");
    }
    return DLS_OK;
}

dls_status dls_h5io_save(const char *path, dls_h5io_put_fn put, const void *what, dls_error *err)
{
    dls_atomicfile out;
    dls_h5io_quiet();
    DLS_TRY(dls_atomicfile_begin(&out, path, err));
    const hid_t file = H5Fcreate(out.part, H5F_ACC_TRUNC, H5P_DEFAULT, H5P_DEFAULT);
    dls_status status = file >= 0
                            ? put(file, what, err)
                            : dls_fail(err, DLS_EOUTPUT, path, "%s cannot be written", out.part);
    if (file >= 0 && H5Fclose(file) < 0 && status == DLS_OK) {
        status = dls_fail(err, DLS_EOUTPUT, path, "%s could not be completed (disk full?)", path);
    }
    if (status != DLS_OK) {
        dls_atomicfile_abort(&out);
        return status;
    }
    return dls_atomicfile_commit(&out, err);
}

bool dls_h5io_exists(hid_t loc, const char *name)
{
    return H5Lexists(loc, name, H5P_DEFAULT) > 0 && H5Oexists_by_name(loc, name, H5P_DEFAULT) > 0;
}

bool dls_h5io_link_name(hid_t group, size_t i, char *name, size_t size)
{
    const ssize_t n =
        H5Lget_name_by_idx(group, ".", H5_INDEX_NAME, H5_ITER_INC, i, name, size, H5P_DEFAULT);
    return n >= 0;
}

dls_status dls_h5io_shape_of(hid_t dataset, const char *where, dls_h5io_shape *shape,
                             dls_error *err)
{
    *shape = (dls_h5io_shape){0};
    const hid_t space = H5Dget_space(dataset);
    const int rank = space < 0 ? -1 : H5Sget_simple_extent_ndims(space);
    const bool ok = rank >= 0 && rank <= 3 &&
                    (rank == 0 || H5Sget_simple_extent_dims(space, shape->dim, NULL) >= 0);
    if (space >= 0) {
        H5Sclose(space);
    }
    if (!ok) {
        return dls_fail(err, DLS_EINPUT, where, "expected an array of at most 3 dimensions");
    }
    shape->rank = rank;
    const hid_t type = H5Dget_type(dataset);
    const H5T_class_t class = type < 0 ? H5T_NO_CLASS : H5Tget_class(type);
    shape->is_number = class == H5T_FLOAT || class == H5T_INTEGER || class == H5T_ENUM;
    shape->is_f32 = class == H5T_FLOAT && H5Tget_size(type) <= 4;
    if (type >= 0) {
        H5Tclose(type);
    }
    return DLS_OK;
}

dls_status dls_h5io_text(hid_t object, const char *name, bool missing_ok, char *text, size_t size,
                         const char *where, dls_error *err)
{
    text[0] = '\0';
    if (H5Aexists(object, name) <= 0) {
        return missing_ok ? DLS_OK
                          : dls_fail(err, DLS_EINPUT, where, "attribute \"%s\" is missing", name);
    }
    const hid_t attr = H5Aopen(object, name, H5P_DEFAULT);
    const hid_t type = attr < 0 ? -1 : H5Aget_type(attr);
    const hid_t space = attr < 0 ? -1 : H5Aget_space(attr);
    bool no_memory = false;
    bool ok = type >= 0 && space >= 0 && H5Tget_class(type) == H5T_STRING &&
              H5Sget_simple_extent_npoints(space) == 1;
    if (ok && H5Tis_variable_str(type) > 0) {
        char *value = NULL;
        const hid_t memory = H5Tcopy(H5T_C_S1);
        H5Tset_size(memory, H5T_VARIABLE);
        H5Tset_cset(memory, H5Tget_cset(type));
        ok = H5Aread(attr, memory, &value) >= 0 && value;
        if (ok) {
            snprintf(text, size, "%s", value);
            H5free_memory(value);
        }
        H5Tclose(memory);
    } else if (ok) {
        const size_t len = H5Tget_size(type); /* an attribute has at most 64 KB */
        char *value = dls_alloc_zero(len + 1, 1);
        no_memory = !value;
        ok = value && H5Aread(attr, type, value) >= 0;
        if (ok) {
            snprintf(text, size, "%s", value);
        }
        dls_free(value);
    }
    if (type >= 0) {
        H5Tclose(type);
    }
    if (space >= 0) {
        H5Sclose(space);
    }
    if (attr >= 0) {
        H5Aclose(attr);
    }
    if (no_memory) {
        return dls_nomem(err, name, size);
    }
    return ok ? DLS_OK : dls_fail(err, DLS_EINPUT, where, "attribute \"%s\" is not a text", name);
}

dls_status dls_h5io_integer(hid_t object, const char *name, bool missing_ok, int64_t *value,
                            const char *where, dls_error *err)
{
    if (H5Aexists(object, name) <= 0) {
        return missing_ok ? DLS_OK
                          : dls_fail(err, DLS_EINPUT, where, "attribute \"%s\" is missing", name);
    }
    const hid_t attr = H5Aopen(object, name, H5P_DEFAULT);
    const hid_t space = attr < 0 ? -1 : H5Aget_space(attr);
    const bool ok = space >= 0 && H5Sget_simple_extent_npoints(space) == 1 &&
                    H5Aread(attr, H5T_NATIVE_INT64, value) >= 0;
    if (space >= 0) {
        H5Sclose(space);
    }
    if (attr >= 0) {
        H5Aclose(attr);
    }
    return ok ? DLS_OK
              : dls_fail(err, DLS_EINPUT, where, "attribute \"%s\" is not an integer", name);
}

static dls_status put_attr(hid_t object, const char *name, hid_t file_type, hid_t memory_type,
                           const void *value, dls_error *err)
{
    const hid_t space = H5Screate(H5S_SCALAR);
    const hid_t attr = H5Acreate2(object, name, file_type, space, H5P_DEFAULT, H5P_DEFAULT);
    bool ok = attr >= 0 && H5Awrite(attr, memory_type, value) >= 0;
    if (attr >= 0) {
        ok = H5Aclose(attr) >= 0 && ok;
    }
    H5Sclose(space);
    return ok ? DLS_OK
              : dls_fail(err, DLS_EOUTPUT, name, "attribute \"%s\" could not be written", name);
}

dls_status dls_h5io_put_text(hid_t object, const char *name, const char *text, dls_error *err)
{
    const hid_t type = H5Tcopy(H5T_C_S1);
    H5Tset_size(type, strlen(text) + 1);
    H5Tset_cset(type, H5T_CSET_UTF8);
    const dls_status status = put_attr(object, name, type, type, text, err);
    H5Tclose(type);
    return status;
}

dls_status dls_h5io_put_integer(hid_t object, const char *name, int64_t value, dls_error *err)
{
    return put_attr(object, name, H5T_STD_I64LE, H5T_NATIVE_INT64, &value, err);
}

void dls_h5io_checksum(const double *data, size_t n, bool as_f32, char hex[17])
{
    uint64_t h = UINT64_C(0xcbf29ce484222325);
    for (size_t i = 0; i < n; i++) {
        uint64_t bits = 0;
        const float f = as_f32 ? (float)data[i] : 0;
        if (as_f32) {
            uint32_t low;
            memcpy(&low, &f, sizeof low);
            bits = low;
        } else {
            memcpy(&bits, &data[i], sizeof bits);
        }
        for (int b = 0; b < (as_f32 ? 4 : 8); b++) {
            h = (h ^ ((bits >> (8 * b)) & 0xff)) * UINT64_C(0x100000001b3);
        }
    }
    snprintf(hex, 17, "%016llx", (unsigned long long)h);
}

dls_status dls_h5io_put_array(hid_t group, const char *name, const double *data, int64_t rows,
                              int64_t cols, bool as_f32, dls_error *err)
{
    const hsize_t dim[2] = {(hsize_t)rows, (hsize_t)cols};
    const hid_t space = H5Screate_simple(cols ? 2 : 1, dim, NULL);
    const hid_t props = H5Pcreate(H5P_DATASET_CREATE);
    H5Pset_obj_track_times(props, 0);
    const hid_t set = H5Dcreate2(group, name, as_f32 ? H5T_IEEE_F32LE : H5T_IEEE_F64LE, space,
                                 H5P_DEFAULT, props, H5P_DEFAULT);
    dls_status status = DLS_OK;
    if (set < 0 || H5Dwrite(set, H5T_NATIVE_DOUBLE, H5S_ALL, H5S_ALL, H5P_DEFAULT, data) < 0) {
        status = dls_fail(err, DLS_EOUTPUT, name, "\"%s\" could not be written", name);
    } else {
        char hex[17];
        dls_h5io_checksum(data, (size_t)rows * (size_t)(cols ? cols : 1), as_f32, hex);
        status = dls_h5io_put_text(set, "checksum", hex, err);
    }
    if (set >= 0 && H5Dclose(set) < 0 && status == DLS_OK) {
        status = dls_fail(err, DLS_EOUTPUT, name, "\"%s\" could not be written", name);
    }
    H5Pclose(props);
    H5Sclose(space);
    return status;
}

static dls_status read_array(hid_t set, const char *name, bool check, const char *where,
                             const dls_h5io_shape *shape, double **data, dls_error *err)
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
    *data = dls_alloc((size_t)n * sizeof **data);
    if (!*data) {
        return dls_nomem(err, name, (size_t)n * sizeof **data);
    }
    if (H5Dread(set, H5T_NATIVE_DOUBLE, H5S_ALL, H5S_ALL, H5P_DEFAULT, *data) < 0) {
        return dls_fail(err, DLS_EINPUT, where, "tensor %s cannot be read: truncated or damaged",
                        name);
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
    const hid_t set = dls_h5io_exists(group, name) ? H5Dopen2(group, name, H5P_DEFAULT) : -1;
    if (set < 0) {
        return dls_fail(err, DLS_EINPUT, where, "tensor %s is missing", name);
    }
    dls_h5io_shape shape;
    dls_status status = dls_h5io_shape_of(set, name, &shape, err);
    if (status == DLS_OK) {
        status = read_array(set, name, check, where, &shape, data, err);
    }
    H5Dclose(set);
    if (status != DLS_OK) {
        dls_free(*data);
        *data = NULL;
        return status;
    }
    *rows = (int64_t)shape.dim[0];
    *cols = shape.rank == 2 ? (int64_t)shape.dim[1] : 0;
    *is_f32 = shape.is_f32;
    return DLS_OK;
}
