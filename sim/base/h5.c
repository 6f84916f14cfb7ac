/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * HDF5: errors, files, and writing. Every call that can fail is looked at: HDF5 goes on without a
 * member of a type or the width of a text that it could not set, and the file would be whole
 * without.
 */
#include "base/h5.h"

#include "base/assert.h"
#include "base/h5_driver.h"
#include "base/own.h"

#include <errno.h>
#include <stdbool.h>
#include <string.h>

enum {
    IN_HEADER = 64,          /* links and attributes of a group that lie there, instead of in a tree and a heap */
    CHUNK_CELLS = 16384,     /* 128 KiB stay in the cache of a core while they pass the filters */
    LEVEL = 1                /* of HDF5's deflate: more costs time and saves little */
};

/* ---- errors ---------------------------------------------------------------------------------- */

typedef struct reason {
    char text[256];
} reason;

/* The driver's entries carry errno's text; it says more than any entry above it. */
static herr_t visit(unsigned n, const H5E_error2_t *entry, void *user)
{
    reason *why = user;
    if (!entry->desc) {
        return 0;
    }
    static const char mark[] = "error message = '";
    const char *text = strstr(entry->desc, mark);
    if (text) {
        text += sizeof mark - 1;
        snprintf(why->text, sizeof why->text, "%.*s", (int)strcspn(text, "'"), text);
        return 1;
    }
    snprintf(why->text, sizeof why->text, "%s",
             entry->desc); /* the last visited is the innermost */
    return 0;
}

dls_status dls_h5_fail(dls_error *err, dls_status status, const char *fmt, ...)
{
    reason why = {""};
    H5Ewalk2(H5E_DEFAULT, H5E_WALK_DOWNWARD, visit, &why);
    H5Eclear2(H5E_DEFAULT);
    char what[512];
    va_list ap;
    va_start(ap, fmt);
    vsnprintf(what, sizeof what, fmt, ap);
    va_end(ap);
    return dls_fail(err, status, NULL, "%s%s%s", what, why.text[0] ? ": " : "", why.text);
}

dls_status dls_h5_where(dls_status status, dls_error *err, const char *path)
{
    if (status != DLS_OK && err && !*err->where) {
        snprintf(err->where, sizeof err->where, "%s", path);
    }
    return status;
}

dls_status dls_h5_unwritten(dls_error *err, const char *what)
{
    return dls_h5_fail(err, DLS_EOUTPUT, "\"%s\" could not be written", what);
}

dls_status dls_h5_damaged(dls_error *err, const char *what)
{
    return dls_h5_fail(err, DLS_EINPUT, "\"%s\" is missing, of a wrong type or damaged", what);
}

/* ---- files ----------------------------------------------------------------------------------- */

dls_status dls_h5_begin(dls_h5_new *f, const char *path, dls_error *err)
{
    *f = (dls_h5_new){.file = H5I_INVALID_HID};
    /* Short of memory HDF5 may crash while it sets itself up: before there is a file. */
    if (H5open() < 0) {
        return dls_nomem(err, "HDF5", 0);
    }
    DLS_TRY(dls_atomicfile_begin(&f->out, path, err));
    H5Eset_auto2(H5E_DEFAULT, NULL, NULL); /* reports go into dls_error, not to stderr */
    const hid_t fapl = H5Pcreate(H5P_FILE_ACCESS), fcpl = H5Pcreate(H5P_FILE_CREATE);
    /* From 1.10 on all metadata have checksums. */
    const bool ready = fapl >= 0 && fcpl >= 0 &&
                       H5Pset_fclose_degree(fapl, H5F_CLOSE_STRONG) >= 0 &&
                       H5Pset_libver_bounds(fapl, H5F_LIBVER_V110, H5F_LIBVER_V110) >= 0 &&
                       dls_h5_driver_set(fapl, &f->first_errno) >= 0 &&
                       H5Pset_obj_track_times(fcpl, false) >= 0; /* of the root group */
    f->file = ready ? H5Fcreate(f->out.part, H5F_ACC_TRUNC, fcpl, fapl) : H5I_INVALID_HID;
    dls_status status = DLS_OK;
    if (f->file < 0) {
        status = f->first_errno == ENOMEM ? dls_nomem(err, path, 0)
                                          : dls_h5_fail(err, DLS_EOUTPUT, "cannot be created");
    }
    H5Pclose(fcpl);
    H5Pclose(fapl);
    if (status != DLS_OK) {
        dls_h5_abort(f);
    }
    return dls_h5_where(status, err, path);
}

/* Whether HDF5 and the disk took everything; the disk's reason is the better one. */
static dls_status close_file(dls_h5_new *f, dls_error *err)
{
    const herr_t closed = H5Fclose(f->file);
    f->file = H5I_INVALID_HID;
    if (f->first_errno) {
        return dls_fail(err, f->first_errno == ENOMEM ? DLS_ENOMEM : DLS_EOUTPUT, f->out.path,
                        "cannot be written: %s", strerror(f->first_errno));
    }
    if (closed < 0) {
        return dls_h5_where(dls_h5_fail(err, DLS_EOUTPUT, "cannot be written"), err, f->out.path);
    }
    return DLS_OK;
}

dls_status dls_h5_commit(dls_h5_new *f, dls_error *err)
{
    DLS_ASSERT(f->file >= 0);
    const dls_status status = close_file(f, err);
    if (status != DLS_OK) {
        dls_h5_abort(f);
        return status;
    }
    return dls_atomicfile_commit(&f->out, err);
}

void dls_h5_abort(dls_h5_new *f)
{
    if (f->out.part && f->file >= 0) {
        H5Fclose(f->file);
        f->file = H5I_INVALID_HID;
    }
    dls_atomicfile_abort(&f->out);
}

dls_status dls_h5_save(const char *path, dls_h5_put_fn put, const void *what, dls_error *err)
{
    dls_h5_new f;
    DLS_TRY(dls_h5_begin(&f, path, err));
    const dls_status status = put(f.file, what, err);
    if (status == DLS_OK) {
        return dls_h5_commit(&f, err);
    }
    const dls_status why = status == DLS_EOUTPUT && f.first_errno ? close_file(&f, err)
                                                                   : dls_h5_where(status, err, path);
    dls_h5_abort(&f);
    return why;
}

/* ---- groups and attributes ------------------------------------------------------------------- */

dls_status dls_h5_put_group(hid_t at, const char *name, hid_t *out, dls_error *err)
{
    DLS_H5_OWNED const hid_t gcpl = H5Pcreate(H5P_GROUP_CREATE);
    const bool ready =
        gcpl >= 0 && H5Pset_obj_track_times(gcpl, false) >= 0 &&
        H5Pset_attr_phase_change(gcpl, IN_HEADER, IN_HEADER - 8) >= 0 &&
        H5Pset_link_phase_change(gcpl, IN_HEADER, IN_HEADER - 8) >= 0 &&
        H5Pset_link_creation_order(gcpl, H5P_CRT_ORDER_TRACKED | H5P_CRT_ORDER_INDEXED) >= 0;
    *out = ready ? H5Gcreate2(at, name, H5P_DEFAULT, gcpl, H5P_DEFAULT) : H5I_INVALID_HID;
    return *out >= 0 ? DLS_OK : dls_h5_unwritten(err, name);
}

dls_status dls_h5_put_attr(hid_t at, const char *name, hid_t stored, hid_t memory, size_t n,
                           const void *value, dls_error *err)
{
    DLS_ASSERT(value);
    const hsize_t dim = n;
    DLS_H5_OWNED const hid_t space =
        n > 0 ? H5Screate_simple(1, &dim, NULL) : H5Screate(H5S_SCALAR);
    const hid_t attr = H5Acreate2(at, name, stored, space, H5P_DEFAULT, H5P_DEFAULT);
    bool ok = attr >= 0 && H5Awrite(attr, memory, value) >= 0;
    ok = attr >= 0 && H5Aclose(attr) >= 0 && ok;
    return ok ? DLS_OK : dls_h5_unwritten(err, name);
}

hid_t dls_h5_text_type(size_t bytes)
{
    DLS_ASSERT(bytes > 0);
    const hid_t type = H5Tcopy(H5T_C_S1);
    if (type >= 0 && (H5Tset_size(type, bytes) < 0 || H5Tset_cset(type, H5T_CSET_UTF8) < 0 ||
                      H5Tset_strpad(type, H5T_STR_NULLPAD) < 0)) {
        H5Tclose(type);
        return H5I_INVALID_HID;
    }
    return type;
}

hid_t dls_h5_converting(size_t n, hid_t stored, hid_t memory)
{
    enum { USUAL = 1 << 20 };
    if (H5Tequal(stored, memory) > 0) {
        return H5P_DEFAULT;
    }
    const hid_t how = H5Pcreate(H5P_DATASET_XFER);
    const size_t a = H5Tget_size(stored), b = H5Tget_size(memory), cell = a > b ? a : b;
    if (n > 0 && cell > 0 && n < USUAL / cell) {
        H5Pset_buffer(how, n * cell, NULL, NULL);
    }
    return how;
}

dls_status dls_h5_put_text(hid_t at, const char *name, const char *text, dls_error *err)
{
    DLS_H5_OWNED const hid_t type = dls_h5_text_type(strlen(text) + 1);
    return dls_h5_put_attr(at, name, type, type, 0, text, err);
}

dls_status dls_h5_put_i32(hid_t at, const char *name, int32_t value, dls_error *err)
{
    return dls_h5_put_attr(at, name, H5T_STD_I32LE, H5T_NATIVE_INT32, 0, &value, err);
}

dls_status dls_h5_put_i64(hid_t at, const char *name, int64_t value, dls_error *err)
{
    return dls_h5_put_attr(at, name, H5T_STD_I64LE, H5T_NATIVE_INT64, 0, &value, err);
}

dls_status dls_h5_put_u64(hid_t at, const char *name, uint64_t value, dls_error *err)
{
    return dls_h5_put_attr(at, name, H5T_STD_U64LE, H5T_NATIVE_UINT64, 0, &value, err);
}

/* ---- datasets -------------------------------------------------------------------------------- */

/* Where the cells lie: none; in the header, which has a checksum; or in chunks with one each. */
static bool set_layout(hid_t dcpl, hid_t stored, int rank, const hsize_t *dim, unsigned level)
{
    const size_t cell = H5Tget_size(stored);
    hsize_t cells = 1, chunk[3];
    for (int i = 0; i < rank; i++) {
        cells *= dim[i];
    }
    if (cell == 0 || cells == 0) {
        return cell > 0;
    }
    if (cells * cell < DLS_H5_COMPACT_BYTES) {
        return H5Pset_layout(dcpl, H5D_COMPACT) >= 0;
    }
    /* Whole rows; wide texts and matrices get fewer of them. */
    const hsize_t row = cells / dim[0];
    const hsize_t most = (hsize_t)CHUNK_CELLS * 8 / cell < CHUNK_CELLS
                             ? (hsize_t)CHUNK_CELLS * 8 / cell
                             : (hsize_t)CHUNK_CELLS;
    memcpy(chunk, dim, (size_t)rank * sizeof *dim);
    chunk[0] = most / row > 0 ? most / row : 1;
    const hsize_t chunks = (dim[0] + chunk[0] - 1) / chunk[0];
    chunk[0] = (dim[0] + chunks - 1) / chunks; /* equal ones: what is empty of the last is packed, too */
    if (chunk[0] == 1 && rank > 1 && row > most) {
        chunk[1] = most / (row / dim[1]) > 0 ? most / (row / dim[1]) : 1;
    }
    return H5Pset_chunk(dcpl, rank, chunk) >= 0 &&
           H5Pset_fill_time(dcpl, H5D_FILL_TIME_NEVER) >= 0 &&
           (level == 0 || (H5Pset_shuffle(dcpl) >= 0 && H5Pset_deflate(dcpl, level) >= 0)) &&
           H5Pset_fletcher32(dcpl) >= 0;
}

dls_status dls_h5_create_data(hid_t at, const char *name, hid_t stored, int rank,
                              const hsize_t *dim, unsigned level, hid_t *set, dls_error *err)
{
    DLS_ASSERT(rank >= 1 && rank <= 3 && level <= 9);
    DLS_H5_OWNED const hid_t space = H5Screate_simple(rank, dim, NULL);
    const bool deep = strchr(name, '/') != NULL; /* groups on the way may have to be made */
    DLS_H5_OWNED const hid_t dcpl = H5Pcreate(H5P_DATASET_CREATE),
                             lcpl = deep ? H5Pcreate(H5P_LINK_CREATE) : H5I_INVALID_HID;
    const bool ready = space >= 0 && dcpl >= 0 &&
                       (!deep || H5Pset_create_intermediate_group(lcpl, 1) >= 0) &&
                       H5Pset_obj_track_times(dcpl, false) >= 0 &&
                       set_layout(dcpl, stored, rank, dim, level);
    *set = ready ? H5Dcreate2(at, name, stored, space, deep ? lcpl : H5P_DEFAULT, dcpl, H5P_DEFAULT)
                 : H5I_INVALID_HID;
    return *set >= 0 ? DLS_OK : dls_h5_unwritten(err, name);
}

dls_status dls_h5_put_data(hid_t at, const char *name, hid_t stored, hid_t memory, const void *data,
                           size_t rows, size_t cols, dls_error *err)
{
    DLS_ASSERT(data || rows == 0);
    const hsize_t dim[2] = {rows, cols};
    hid_t set;
    DLS_TRY(dls_h5_create_data(at, name, stored, cols > 0 ? 2 : 1, dim, LEVEL, &set, err));
    bool ok = rows == 0 || H5Dwrite(set, memory, H5S_ALL, H5S_ALL, H5P_DEFAULT, data) >= 0;
    ok = H5Dclose(set) >= 0 && ok;
    return ok ? DLS_OK : dls_h5_unwritten(err, name);
}

dls_status dls_h5_put_strings(hid_t at, const char *name, const char *text, size_t n, size_t width,
                              dls_error *err)
{
    DLS_H5_OWNED const hid_t type = dls_h5_text_type(width);
    return dls_h5_put_data(at, name, type, type, text, n, 0, err);
}

dls_status dls_h5_put_dict(hid_t at, const char *name, const dls_strdict *dict, dls_error *err)
{
    size_t width = 1;
    for (size_t i = 0; i < dict->n; i++) {
        const size_t len = strlen(dls_strdict_get(dict, (int32_t)i));
        width = len > width ? len : width;
    }
    DLS_FREED char *text = NULL;
    DLS_TRY(dls_alloc_array(&text, dict->n * width + 1, 1, name, err));
    for (size_t i = 0; i < dict->n; i++) {
        const char *s = dls_strdict_get(dict, (int32_t)i);
        memcpy(text + i * width, s, strlen(s));
    }
    return dls_h5_put_strings(at, name, text, dict->n, width, err);
}

void dls_h5_hash(dls_sha256 *sha, const void *data, size_t n, size_t cell_bytes)
{
    DLS_ASSERT(cell_bytes == 1 || cell_bytes == 4 || cell_bytes == 8);
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
