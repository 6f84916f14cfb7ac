/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "workload/graph/h5.h"

#include "base/alloc.h"
#include "base/atomicfile.h"
#include "base/file.h"

#include <stdbool.h>
#include <string.h>

#define ROWS_MAX ((hsize_t)1 << 26)
#define TEXT_MAX 4096

void dls_gh5_quiet(void)
{
    H5Eset_auto2(H5E_DEFAULT, NULL, NULL);
}

dls_status dls_gh5_unwritten(dls_error *err, const char *what)
{
    return dls_fail(err, DLS_EOUTPUT, NULL, "%s could not be written (disk full?)", what);
}

dls_status dls_gh5_save(const char *path, dls_gh5_put_fn put, const void *what, dls_error *err)
{
    dls_gh5_quiet();
    dls_atomicfile out;
    DLS_TRY(dls_atomicfile_begin(&out, path, err));
    const hid_t file = H5Fcreate(out.part, H5F_ACC_TRUNC, H5P_DEFAULT, H5P_DEFAULT);
    dls_status status = file >= 0 ? put(file, what, err) : dls_gh5_unwritten(err, out.part);
    if (file >= 0 && H5Fclose(file) < 0 && status == DLS_OK) {
        status = dls_gh5_unwritten(err, path);
    }
    if (status == DLS_OK) {
        return dls_atomicfile_commit(&out, err);
    }
    dls_atomicfile_abort(&out);
    return status;
}

static hid_t text_type(size_t bytes)
{
    const hid_t type = H5Tcopy(H5T_C_S1);
    H5Tset_size(type, bytes);
    H5Tset_cset(type, H5T_CSET_UTF8);
    return type;
}

static dls_status put_attr(hid_t at, const char *name, hid_t stored, hid_t memory,
                           const void *value, dls_error *err)
{
    const hid_t space = H5Screate(H5S_SCALAR);
    const hid_t attr = H5Acreate2(at, name, stored, space, H5P_DEFAULT, H5P_DEFAULT);
    bool ok = attr >= 0 && H5Awrite(attr, memory, value) >= 0;
    ok = attr >= 0 && H5Aclose(attr) >= 0 && ok;
    H5Sclose(space);
    return ok ? DLS_OK : dls_gh5_unwritten(err, name);
}

dls_status dls_gh5_put_text(hid_t at, const char *name, const char *text, dls_error *err)
{
    const hid_t type = text_type(strlen(text) + 1);
    const dls_status status = put_attr(at, name, type, type, text, err);
    H5Tclose(type);
    return status;
}

dls_status dls_gh5_put_i32(hid_t at, const char *name, int32_t value, dls_error *err)
{
    return put_attr(at, name, H5T_STD_I32LE, H5T_NATIVE_INT32, &value, err);
}

dls_status dls_gh5_put_u64(hid_t at, const char *name, uint64_t value, dls_error *err)
{
    return put_attr(at, name, H5T_STD_U64LE, H5T_NATIVE_UINT64, &value, err);
}

dls_status dls_gh5_put_data(hid_t at, const char *name, hid_t stored, hid_t memory,
                            const void *data, size_t rows, size_t cols, dls_error *err)
{
    const hsize_t dim[2] = {rows, cols};
    const size_t width = cols > 0 ? cols : 1;
    const size_t fit = 65536 / width > 0 ? 65536 / width : 1;
    const hsize_t chunk[2] = {rows < fit ? rows : fit, cols};
    const int rank = cols > 0 ? 2 : 1;
    const hid_t space = H5Screate_simple(rank, dim, NULL);
    const hid_t props = H5Pcreate(H5P_DATASET_CREATE);
    H5Pset_obj_track_times(props, 0);
    if (rows > 0) {
        H5Pset_chunk(props, rank, chunk);
        H5Pset_shuffle(props);
        H5Pset_deflate(props, 4);
    }
    const hid_t set = H5Dcreate2(at, name, stored, space, H5P_DEFAULT, props, H5P_DEFAULT);
    bool ok =
        set >= 0 && (rows == 0 || H5Dwrite(set, memory, H5S_ALL, H5S_ALL, H5P_DEFAULT, data) >= 0);
    ok = set >= 0 && H5Dclose(set) >= 0 && ok;
    H5Pclose(props);
    H5Sclose(space);
    return ok ? DLS_OK : dls_gh5_unwritten(err, name);
}

dls_status dls_gh5_put_strings(hid_t at, const char *name, const char *text, size_t n, size_t width,
                               dls_error *err)
{
    const hid_t type = text_type(width);
    H5Tset_strpad(type, H5T_STR_NULLPAD);
    const dls_status status = dls_gh5_put_data(at, name, type, type, text, n, 0, err);
    H5Tclose(type);
    return status;
}

dls_status dls_gh5_put_dict(hid_t at, const char *name, const dls_strdict *dict, dls_error *err)
{
    size_t width = 1;
    for (size_t i = 0; i < dict->n; i++) {
        const size_t len = strlen(dls_strdict_get(dict, (int32_t)i));
        width = len > width ? len : width;
    }
    char *text = dls_alloc_zero(dict->n * width + 1, 1);
    if (!text) {
        return dls_nomem(err, name, dict->n * width);
    }
    for (size_t i = 0; i < dict->n; i++) {
        const char *s = dls_strdict_get(dict, (int32_t)i);
        memcpy(text + i * width, s, strlen(s));
    }
    const dls_status status = dls_gh5_put_strings(at, name, text, dict->n, width, err);
    dls_free(text);
    return status;
}

dls_status dls_gh5_damaged(dls_error *err, const char *what)
{
    return dls_fail(err, DLS_EINPUT, NULL, "\"%s\" is missing, of a wrong type or damaged", what);
}

dls_status dls_gh5_get_text(hid_t at, const char *name, char *text, size_t size, dls_error *err)
{
    const hid_t attr = H5Aopen(at, name, H5P_DEFAULT);
    const hid_t type = attr < 0 ? -1 : H5Aget_type(attr);
    char value[TEXT_MAX] = "";
    const bool ok = type >= 0 && H5Tget_class(type) == H5T_STRING &&
                    H5Tis_variable_str(type) == 0 && H5Tget_size(type) < sizeof value &&
                    H5Aget_storage_size(attr) == H5Tget_size(type) &&
                    H5Aread(attr, type, value) >= 0 && strlen(value) < size;
    if (ok) {
        memcpy(text, value, strlen(value) + 1);
    }
    if (type >= 0) {
        H5Tclose(type);
    }
    if (attr >= 0) {
        H5Aclose(attr);
    }
    return ok ? DLS_OK : dls_gh5_damaged(err, name);
}

static dls_status get_attr(hid_t at, const char *name, hid_t memory, void *value, dls_error *err)
{
    const hid_t attr = H5Aopen(at, name, H5P_DEFAULT);
    const hid_t space = attr < 0 ? -1 : H5Aget_space(attr);
    const bool ok =
        space >= 0 && H5Sget_simple_extent_npoints(space) == 1 && H5Aread(attr, memory, value) >= 0;
    if (space >= 0) {
        H5Sclose(space);
    }
    if (attr >= 0) {
        H5Aclose(attr);
    }
    return ok ? DLS_OK : dls_gh5_damaged(err, name);
}

dls_status dls_gh5_get_i32(hid_t at, const char *name, int32_t *value, dls_error *err)
{
    return get_attr(at, name, H5T_NATIVE_INT32, value, err);
}

dls_status dls_gh5_get_u64(hid_t at, const char *name, uint64_t *value, dls_error *err)
{
    return get_attr(at, name, H5T_NATIVE_UINT64, value, err);
}

/* Opens a one-dimensional dataset and tells its length. */
dls_status dls_gh5_open_data(hid_t file, const char *name, hid_t *set, hsize_t *n, dls_error *err)
{
    *set = H5Dopen2(file, name, H5P_DEFAULT);
    const hid_t space = *set < 0 ? -1 : H5Dget_space(*set);
    const bool ok = space >= 0 && H5Sget_simple_extent_ndims(space) == 1 &&
                    H5Sget_simple_extent_dims(space, n, NULL) >= 0 && *n <= ROWS_MAX;
    if (space >= 0) {
        H5Sclose(space);
    }
    if (!ok && *set >= 0) {
        H5Dclose(*set);
    }
    return ok ? DLS_OK : dls_gh5_damaged(err, name);
}

dls_status dls_gh5_length(hid_t at, const char *name, size_t *n, dls_error *err)
{
    hid_t set;
    hsize_t length;
    DLS_TRY(dls_gh5_open_data(at, name, &set, &length, err));
    *n = (size_t)length;
    H5Dclose(set);
    return DLS_OK;
}

dls_status dls_gh5_get_data(hid_t at, const char *name, hid_t memory, void *data, size_t rows,
                            size_t cols, dls_error *err)
{
    hsize_t dim[2] = {0, 0};
    const int rank = cols > 0 ? 2 : 1;
    const hid_t set = H5Dopen2(at, name, H5P_DEFAULT);
    const hid_t space = set < 0 ? -1 : H5Dget_space(set);
    const hid_t type = set < 0 ? -1 : H5Dget_type(set);
    const bool ok = space >= 0 && type >= 0 && H5Sget_simple_extent_ndims(space) == rank &&
                    H5Sget_simple_extent_dims(space, dim, NULL) >= 0 && dim[0] == rows &&
                    dim[1] == cols && H5Tget_class(type) == H5Tget_class(memory) &&
                    (rows == 0 || H5Dread(set, memory, H5S_ALL, H5S_ALL, H5P_DEFAULT, data) >= 0);
    if (type >= 0) {
        H5Tclose(type);
    }
    if (space >= 0) {
        H5Sclose(space);
    }
    if (set >= 0) {
        H5Dclose(set);
    }
    return ok ? DLS_OK : dls_gh5_damaged(err, name);
}

dls_status dls_gh5_get_strings(hid_t at, const char *name, char *text, size_t n, size_t width,
                               dls_error *err)
{
    hid_t set;
    hsize_t length;
    DLS_TRY(dls_gh5_open_data(at, name, &set, &length, err));
    const hid_t stored = H5Dget_type(set);
    const hid_t memory = text_type(width);
    H5Tset_strpad(memory, H5T_STR_NULLPAD);
    bool ok = stored >= 0 && H5Tget_class(stored) == H5T_STRING &&
              H5Tis_variable_str(stored) == 0 && H5Tget_size(stored) <= width && length == n &&
              (n == 0 || H5Dread(set, memory, H5S_ALL, H5S_ALL, H5P_DEFAULT, text) >= 0);
    for (size_t i = 0; i < n && ok; i++) {
        ok = strnlen(text + i * width, width) < width;
    }
    if (stored >= 0) {
        H5Tclose(stored);
    }
    H5Tclose(memory);
    H5Dclose(set);
    return ok ? DLS_OK : dls_gh5_damaged(err, name);
}

dls_status dls_gh5_get_dict(hid_t file, const char *name, dls_strdict *dict, dls_error *err)
{
    hid_t set;
    hsize_t n;
    DLS_TRY(dls_gh5_open_data(file, name, &set, &n, err));
    const hid_t type = H5Dget_type(set);
    const size_t width = type < 0 ? 0 : H5Tget_size(type);
    dls_status status = DLS_OK;
    char *text = NULL;
    if (type < 0 || H5Tget_class(type) != H5T_STRING || H5Tis_variable_str(type) != 0 ||
        width == 0 || width > TEXT_MAX) {
        status = dls_gh5_damaged(err, name);
    } else if (!(text = dls_alloc_zero((size_t)n * width + 1, 1))) {
        status = dls_nomem(err, name, (size_t)n * width);
    } else if (n > 0 && H5Dread(set, type, H5S_ALL, H5S_ALL, H5P_DEFAULT, text) < 0) {
        status = dls_gh5_damaged(err, name);
    }
    for (size_t i = 0; i < n && status == DLS_OK; i++) {
        int32_t code;
        const char *s = text + i * width;
        status = dls_strdict_put(dict, s, strnlen(s, width), &code, err);
        if (status == DLS_OK && (size_t)code != i) {
            status = dls_fail(err, DLS_EINPUT, NULL, "\"%s\" holds a text twice", name);
        }
    }
    dls_free(text);
    if (type >= 0) {
        H5Tclose(type);
    }
    H5Dclose(set);
    return status;
}

dls_status dls_gh5_open(const char *path, hid_t *file, dls_error *err)
{
    dls_gh5_quiet();
    *file = -1;
    DLS_TRY(dls_file_check_regular(path, err));
    *file = H5Fopen(path, H5F_ACC_RDONLY, H5P_DEFAULT);
    return *file >= 0 ? DLS_OK : dls_fail(err, DLS_EINPUT, path, "not an HDF5 file, or damaged");
}

void dls_gh5_hash(dls_sha256 *sha, const void *data, size_t n, size_t cell_bytes)
{
    for (size_t i = 0; i < n; i++) {
        const unsigned char *at = (const unsigned char *)data + i * cell_bytes;
        uint64_t bits = *at;
        unsigned char out[8];
        if (cell_bytes == 4) {
            uint32_t word;
            memcpy(&word, at, sizeof word);
            bits = word;
        } else if (cell_bytes == 8) {
            memcpy(&bits, at, sizeof bits);
        }
        for (size_t b = 0; b < cell_bytes; b++) {
            out[b] = (unsigned char)(bits >> (8 * b));
        }
        dls_sha256_update(sha, out, cell_bytes);
    }
}

dls_status dls_gh5_check_format(hid_t file, const char *format, int32_t version, dls_error *err)
{
    char text[64];
    int32_t stored = 0;
    DLS_TRY(dls_gh5_get_text(file, "format", text, sizeof text, err));
    if (strcmp(text, format) != 0) {
        return dls_fail(err, DLS_EINPUT, NULL, "format \"%s\" instead of \"%s\"", text, format);
    }
    DLS_TRY(dls_gh5_get_i32(file, "format_version", &stored, err));
    if (stored != version) {
        return dls_fail(err, DLS_EINPUT, NULL, "format version %d: this program reads %d", stored,
                        version);
    }
    return DLS_OK;
}
