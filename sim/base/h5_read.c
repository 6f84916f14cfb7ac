/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * HDF5: reading files that may be damaged or hostile.
 */
#include "base/assert.h"
#include "base/h5.h"

#include "base/alloc.h"
#include "base/file.h"
#include "base/h5_driver.h"
#include "base/own.h"

#include <inttypes.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#define ROWS_MAX ((hsize_t)INT32_MAX)
#define TEXT_MAX ((size_t)1 << 20)
#define CHUNK_MAX ((hsize_t)1 << 28)
#define DEFLATE_MOST 1100 /* a byte becomes at most 1032 */

/* ---- what is inside the file ----------------------------------------------------------------- */

static herr_t refuse_link(const char *file, const char *group, const char *child_file,
                          const char *child, unsigned *flags, hid_t fapl, void *user)
{
    (void)file, (void)group, (void)child_file, (void)child, (void)flags, (void)fapl, (void)user;
    return -1;
}

hid_t dls_h5_inside(void)
{
    static hid_t inside = H5I_INVALID_HID; /* for the life of the process */
    if (inside < 0 || H5Iget_type(inside) != H5I_GENPROP_LST) {
        inside = H5Pcreate(H5P_LINK_ACCESS);
        H5Pset_elink_cb(inside, refuse_link, NULL);
    }
    return inside;
}

bool dls_h5_has(hid_t at, const char *path)
{
    char part[1024];
    for (size_t len = strcspn(path, "/");; len += 1 + strcspn(path + len + 1, "/")) {
        snprintf(part, sizeof part, "%.*s", (int)len, path);
        if (len > 0 && H5Lexists(at, part, dls_h5_inside()) <= 0) {
            return false;
        }
        if (path[len] == '\0') {
            return len < sizeof part;
        }
    }
}

dls_status dls_h5_open(const char *path, hid_t *file, dls_error *err)
{
    *file = H5I_INVALID_HID;
    DLS_TRY(dls_file_check_regular(path, err));
    H5Eset_auto2(H5E_DEFAULT, NULL, NULL);
    H5PLset_loading_state(0); /* a file names the filters that it needs: load none for it */
    int failed = 0;
    const hid_t fapl = H5Pcreate(H5P_FILE_ACCESS);
    const bool ready = fapl >= 0 && H5Pset_fclose_degree(fapl, H5F_CLOSE_STRONG) >= 0 &&
                       dls_h5_driver_set(fapl, &failed) >= 0;
    *file = ready ? H5Fopen(path, H5F_ACC_RDONLY, fapl) : H5I_INVALID_HID;
    const dls_status status = *file >= 0 ? DLS_OK
                              : failed
                                  ? dls_nomem(err, "a file", 1)
                                  : dls_h5_fail(err, DLS_EINPUT, "not an HDF5 file, or damaged");
    H5Pclose(fapl);
    return dls_h5_where(status, err, path);
}

dls_status dls_h5_get_group(hid_t at, const char *name, hid_t *out, dls_error *err)
{
    *out = H5Oopen(at, name, dls_h5_inside());
    if (*out >= 0 && H5Iget_type(*out) != H5I_GROUP) {
        H5Oclose(*out);
        *out = H5I_INVALID_HID;
    }
    return *out >= 0 ? DLS_OK : dls_h5_fail(err, DLS_EINPUT, "no group '%s'", name);
}

typedef struct naming {
    dls_strdict found;
    dls_status status;
    dls_error *err;
} naming;

static void naming_fini(naming *w)
{
    dls_strdict_fini(&w->found);
}

static herr_t note_name(hid_t group, const char *name, const H5L_info_t *info, void *user)
{
    (void)group, (void)info;
    naming *w = user;
    int32_t code;
    w->status = dls_strdict_put(&w->found, name, strlen(name), &code, w->err);
    return w->status == DLS_OK ? 0 : -1;
}

static int by_bytes(const void *a, const void *b)
{
    return strcmp(*(const char *const *)a, *(const char *const *)b);
}

dls_status dls_h5_names(hid_t group, dls_strdict *names, dls_error *err)
{
    DLS_OWN(naming_fini) naming w = {.err = err};
    DLS_FREED const char **sorted = NULL;
    int32_t code;
    if (H5Literate(group, H5_INDEX_NAME, H5_ITER_NATIVE, NULL, note_name, &w) < 0) {
        return w.status != DLS_OK ? w.status : dls_h5_damaged(err, "a group");
    }
    DLS_TRY(dls_alloc_array(&sorted, w.found.n + 1, sizeof *sorted, "names", err));
    for (size_t i = 0; i < w.found.n; i++) {
        sorted[i] = dls_strdict_get(&w.found, (int32_t)i);
    }
    qsort(sorted, w.found.n, sizeof *sorted, by_bytes);
    for (size_t i = 0; i < w.found.n; i++) {
        DLS_TRY(dls_strdict_put(names, sorted[i], strlen(sorted[i]), &code, err));
    }
    return DLS_OK;
}

/* Whether every cell has the same width: HDF5 1.10 trusts what a file says of variable ones. */
static bool fixed_width(hid_t type)
{
    const H5T_class_t class = H5Tget_class(type);
    bool fixed = class == H5T_INTEGER || class == H5T_FLOAT || class == H5T_ENUM ||
                 (class == H5T_STRING && H5Tis_variable_str(type) == 0);
    if (class == H5T_ARRAY) {
        const hid_t of = H5Tget_super(type);
        fixed = fixed_width(of);
        H5Tclose(of);
    } else if (class == H5T_COMPOUND) {
        const int n = H5Tget_nmembers(type);
        fixed = n > 0;
        for (int i = 0; i < n && fixed; i++) {
            const hid_t member = H5Tget_member_type(type, (unsigned)i);
            fixed = H5Tget_class(member) != H5T_COMPOUND && fixed_width(member);
            H5Tclose(member);
        }
    }
    return fixed;
}

/* Bytes of a chunk, which HDF5 reads whole; 0: too many. */
static hsize_t chunk_bytes(hid_t dcpl, hsize_t cell)
{
    hsize_t chunk[H5S_MAX_RANK], bytes = cell;
    const int rank = H5Pget_chunk(dcpl, H5S_MAX_RANK, chunk);
    for (int i = 0; i < rank; i++) {
        bytes = chunk[i] > 0 && bytes <= CHUNK_MAX / chunk[i] ? bytes * chunk[i] : 0;
    }
    return rank > 0 ? bytes : 0;
}

/* What is wrong with a dataset before any of it is read; NULL: nothing. */
static const char *objection(hid_t set, hid_t dcpl, hid_t type)
{
    const H5D_layout_t layout = H5Pget_layout(dcpl);
    if ((layout != H5D_COMPACT && layout != H5D_CONTIGUOUS && layout != H5D_CHUNKED) ||
        H5Pget_external_count(dcpl) != 0) {
        return "lies in another file";
    }
    if (!fixed_width(type)) {
        return "has cells of variable width";
    }
    const hsize_t cell = H5Tget_size(type), stored = H5Dget_storage_size(set);
    hsize_t file_bytes = 0;
    const hid_t file = H5Iget_file_id(set), space = H5Dget_space(set);
    const hssize_t cells = H5Sget_simple_extent_npoints(space);
    const bool fits = cells >= 0 && cell > 0 && H5Fget_filesize(file, &file_bytes) >= 0 &&
                      stored <= file_bytes && (hsize_t)cells <= stored * DEFLATE_MOST / cell &&
                      (layout != H5D_CHUNKED || chunk_bytes(dcpl, cell) > 0);
    H5Sclose(space);
    H5Fclose(file);
    return fits ? NULL : "is larger than what the file holds of it";
}

dls_status dls_h5_get_set(hid_t at, const char *name, hid_t *out, dls_error *err)
{
    *out = H5Oopen(at, name, dls_h5_inside());
    if (*out < 0 || H5Iget_type(*out) != H5I_DATASET) {
        const dls_status status = dls_h5_damaged(err, name);
        H5Oclose(*out);
        *out = H5I_INVALID_HID;
        return status;
    }
    DLS_H5_OWNED const hid_t dcpl = H5Dget_create_plist(*out), type = H5Dget_type(*out);
    const char *wrong = dcpl < 0 || type < 0 ? "is damaged" : objection(*out, dcpl, type);
    if (wrong) {
        H5Dclose(*out);
        *out = H5I_INVALID_HID;
        return dls_fail(err, DLS_EINPUT, NULL, "\"%s\" %s", name, wrong);
    }
    return DLS_OK;
}

/* ---- attributes ------------------------------------------------------------------------------ */

static void close_attr(hid_t attr, hid_t type, hid_t space)
{
    H5Sclose(space);
    H5Tclose(type);
    H5Aclose(attr);
}

dls_status dls_h5_get_as_text(hid_t at, const char *name, char **text, dls_error *err)
{
    *text = NULL;
    const hid_t attr = H5Aopen(at, name, H5P_DEFAULT);
    if (attr < 0) {
        return dls_h5_fail(err, DLS_EINPUT, "attribute \"%s\" is missing", name);
    }
    const hid_t type = H5Aget_type(attr), space = H5Aget_space(attr);
    const H5T_class_t class = H5Tget_class(type);
    const size_t bytes = H5Tget_size(type);
    char number[64] = "";
    bool ok = H5Sget_simple_extent_npoints(space) == 1;
    if (ok && class == H5T_STRING && H5Tis_variable_str(type) == 0 && bytes <= TEXT_MAX) {
        *text = dls_alloc_zero(bytes + 1, 1);
        ok = !*text || H5Aread(attr, type, *text) >= 0;
    } else if (ok && class == H5T_INTEGER && H5Tget_sign(type) == H5T_SGN_NONE) {
        uint64_t value = 0;
        ok = H5Aread(attr, H5T_NATIVE_UINT64, &value) >= 0;
        snprintf(number, sizeof number, "%" PRIu64, value);
    } else if (ok && class == H5T_INTEGER) {
        int64_t value = 0;
        ok = H5Aread(attr, H5T_NATIVE_INT64, &value) >= 0;
        snprintf(number, sizeof number, "%" PRId64, value);
    } else if (ok && class == H5T_FLOAT) {
        double value = 0;
        ok = H5Aread(attr, H5T_NATIVE_DOUBLE, &value) >= 0;
        snprintf(number, sizeof number, "%.9g", value);
    } else {
        ok = false;
    }
    if (ok && *number) {
        *text = dls_strdup(number);
    }
    dls_status status = DLS_OK;
    if (!ok) {
        status = dls_h5_fail(err, DLS_EINPUT, "attribute '%s' is not one text or number", name);
        dls_free(*text);
        *text = NULL;
    } else if (!*text) {
        status = dls_nomem(err, "attribute", bytes);
    }
    close_attr(attr, type, space);
    return status;
}

dls_status dls_h5_get_text(hid_t at, const char *name, char *text, size_t size, dls_error *err)
{
    DLS_ASSERT(size > 0);
    DLS_FREED char *value = NULL;
    DLS_TRY(dls_h5_get_as_text(at, name, &value, err));
    const bool fits = strlen(value) < size;
    if (fits) {
        memcpy(text, value, strlen(value) + 1);
    }
    return fits ? DLS_OK : dls_h5_damaged(err, name);
}

dls_status dls_h5_get_attr(hid_t at, const char *name, hid_t memory, void *value, dls_error *err)
{
    const hid_t attr = H5Aopen(at, name, H5P_DEFAULT);
    if (attr < 0) {
        return dls_h5_fail(err, DLS_EINPUT, "attribute \"%s\" is missing", name);
    }
    const hid_t type = H5Aget_type(attr), space = H5Aget_space(attr);
    const H5T_class_t class = H5Tget_class(type);
    const bool ok = H5Sget_simple_extent_npoints(space) == 1 &&
                    (class == H5T_INTEGER || class == H5T_FLOAT || class == H5T_ENUM) &&
                    H5Aread(attr, memory, value) >= 0;
    const dls_status status =
        ok ? DLS_OK : dls_h5_fail(err, DLS_EINPUT, "attribute '%s' is not one number", name);
    close_attr(attr, type, space);
    return status;
}

dls_status dls_h5_get_i32(hid_t at, const char *name, int32_t *value, dls_error *err)
{
    return dls_h5_get_attr(at, name, H5T_NATIVE_INT32, value, err);
}

dls_status dls_h5_get_i64(hid_t at, const char *name, int64_t *value, dls_error *err)
{
    return dls_h5_get_attr(at, name, H5T_NATIVE_INT64, value, err);
}

dls_status dls_h5_get_u64(hid_t at, const char *name, uint64_t *value, dls_error *err)
{
    return dls_h5_get_attr(at, name, H5T_NATIVE_UINT64, value, err);
}

dls_status dls_h5_check_format(hid_t file, const char *format, int32_t version, dls_error *err)
{
    char text[64];
    int32_t stored = 0;
    DLS_TRY(dls_h5_get_text(file, "format", text, sizeof text, err));
    if (strcmp(text, format) != 0) {
        return dls_fail(err, DLS_EINPUT, NULL, "format \"%s\" instead of \"%s\"", text, format);
    }
    DLS_TRY(dls_h5_get_i32(file, "format_version", &stored, err));
    if (stored != version) {
        return dls_fail(err, DLS_EINPUT, NULL, "format version %d: this program reads %d", stored,
                        version);
    }
    return DLS_OK;
}

/* ---- datasets -------------------------------------------------------------------------------- */

dls_status dls_h5_open_data(hid_t at, const char *name, hid_t *set, hsize_t *n, dls_error *err)
{
    DLS_TRY(dls_h5_get_set(at, name, set, err));
    DLS_H5_OWNED const hid_t space = H5Dget_space(*set);
    if (H5Sget_simple_extent_ndims(space) == 1 && H5Sget_simple_extent_dims(space, n, NULL) >= 0 &&
        *n <= ROWS_MAX) {
        return DLS_OK;
    }
    dls_h5_fail(err, DLS_EINPUT, "\"%s\" is not a list of at most %d", name, INT32_MAX);
    H5Dclose(*set);
    *set = H5I_INVALID_HID;
    return DLS_EINPUT;
}

dls_status dls_h5_length(hid_t at, const char *name, size_t *n, dls_error *err)
{
    DLS_H5_OWNED hid_t set = H5I_INVALID_HID;
    hsize_t length;
    DLS_TRY(dls_h5_open_data(at, name, &set, &length, err));
    *n = (size_t)length;
    return DLS_OK;
}

dls_status dls_h5_get_data(hid_t at, const char *name, hid_t memory, void *data, size_t rows,
                           size_t cols, dls_error *err)
{
    DLS_ASSERT(data || rows == 0);
    hsize_t dim[2] = {0, 0};
    const int rank = cols > 0 ? 2 : 1;
    DLS_H5_OWNED hid_t set = H5I_INVALID_HID;
    DLS_TRY(dls_h5_get_set(at, name, &set, err));
    DLS_H5_OWNED const hid_t space = H5Dget_space(set), type = H5Dget_type(set);
    const bool ok = H5Sget_simple_extent_ndims(space) == rank &&
                    H5Sget_simple_extent_dims(space, dim, NULL) >= 0 && dim[0] == rows &&
                    dim[1] == cols && H5Tget_class(type) == H5Tget_class(memory) &&
                    (rows == 0 || H5Dread(set, memory, H5S_ALL, H5S_ALL, H5P_DEFAULT, data) >= 0);
    return ok ? DLS_OK : dls_h5_damaged(err, name);
}

/* The width of a dataset of fixed-length texts; 0 if it is none. */
static size_t text_width(hid_t set)
{
    const hid_t type = H5Dget_type(set);
    const bool ok = H5Tget_class(type) == H5T_STRING && H5Tis_variable_str(type) == 0;
    const size_t width = ok ? H5Tget_size(type) : 0;
    H5Tclose(type);
    return width;
}

dls_status dls_h5_get_strings(hid_t at, const char *name, char *text, size_t n, size_t width,
                              dls_error *err)
{
    DLS_ASSERT(width > 1);
    DLS_H5_OWNED hid_t set = H5I_INVALID_HID;
    hsize_t length;
    DLS_TRY(dls_h5_open_data(at, name, &set, &length, err));
    const size_t stored = text_width(set);
    DLS_H5_OWNED const hid_t memory = dls_h5_text_type(width);
    bool ok = stored > 0 && stored <= width && length == n &&
              (n == 0 || H5Dread(set, memory, H5S_ALL, H5S_ALL, H5P_DEFAULT, text) >= 0);
    for (size_t i = 0; i < n && ok; i++) {
        ok = strnlen(text + i * width, width) < width;
    }
    return ok ? DLS_OK : dls_h5_damaged(err, name);
}

dls_status dls_h5_get_dict(hid_t at, const char *name, dls_strdict *dict, dls_error *err)
{
    DLS_H5_OWNED hid_t set = H5I_INVALID_HID;
    hsize_t n;
    DLS_TRY(dls_h5_open_data(at, name, &set, &n, err));
    const size_t width = text_width(set);
    DLS_H5_OWNED const hid_t type = H5Dget_type(set);
    dls_status status = DLS_OK;
    DLS_FREED char *text = NULL;
    if (width == 0 || width > TEXT_MAX) {
        status = dls_h5_damaged(err, name);
    } else if (!(text = dls_alloc_zero((size_t)n * width + 1, 1))) {
        status = dls_nomem(err, name, (size_t)n * width);
    } else if (n > 0 && H5Dread(set, type, H5S_ALL, H5S_ALL, H5P_DEFAULT, text) < 0) {
        status = dls_h5_damaged(err, name);
    }
    for (size_t i = 0; i < n && status == DLS_OK; i++) {
        int32_t code;
        const char *s = text + i * width;
        status = dls_strdict_put(dict, s, strnlen(s, width), &code, err);
        if (status == DLS_OK && (size_t)code != i) {
            status = dls_fail(err, DLS_EINPUT, NULL, "\"%s\" holds a text twice", name);
        }
    }
    return status;
}
