/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "results/h5.h"

#include "base/alloc.h"
#include "base/atomicfile.h"
#include "base/file.h"
#include "results/h5_driver.h"

#include <errno.h>
#include <string.h>

/* ---- errors ------------------------------------------------------------------------------------
 */

typedef struct reason {
    char text[256];
} reason;

/* The driver's entries carry errno's text; it says more than any entry above it. */
static herr_t visit(unsigned n, const H5E_error2_t *entry, void *user)
{
    (void)n;
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

dls_status dls_h5_fail(const dls_h5 *h5, dls_error *err, const char *fmt, ...)
{
    reason why = {""};
    H5Ewalk2(H5E_DEFAULT, H5E_WALK_DOWNWARD, visit, &why);
    H5Eclear2(H5E_DEFAULT);
    if (h5->write_errno) {
        snprintf(why.text, sizeof why.text, "%s", strerror(h5->write_errno));
    }
    char what[512];
    va_list ap;
    va_start(ap, fmt);
    vsnprintf(what, sizeof what, fmt, ap);
    va_end(ap);
    const dls_status status = h5->write_errno == ENOMEM ? DLS_ENOMEM : h5->status;
    return dls_fail(err, status, h5->path, "%s%s%s", what, why.text[0] ? ": " : "", why.text);
}

/* ---- files -------------------------------------------------------------------------------------
 */

static hid_t access_list(void)
{
    /* Reports go into dls_error; HDF5's own would land on stderr. */
    H5Eset_auto2(H5E_DEFAULT, NULL, NULL);
    const hid_t fapl = H5Pcreate(H5P_FILE_ACCESS);
    H5Pset_fclose_degree(fapl, H5F_CLOSE_STRONG);
    H5Pset_libver_bounds(fapl, H5F_LIBVER_V18, H5F_LIBVER_V110);
    H5Pset_file_locking(fapl, true, true); /* network file systems may have no locks */
    return fapl;
}

dls_status dls_h5_create(dls_h5 *h5, const char *path, const char *shown, dls_error *err)
{
    *h5 = (dls_h5){H5I_INVALID_HID, shown, DLS_EOUTPUT, 0};
    const hid_t fapl = access_list();
    dls_h5_driver_set(fapl, &h5->write_errno);
    const hid_t fcpl = H5Pcreate(H5P_FILE_CREATE);
    H5Pset_obj_track_times(fcpl, false); /* of the root group */
    h5->file = H5Fcreate(path, H5F_ACC_TRUNC, fcpl, fapl);
    const dls_status status = h5->file >= 0 ? DLS_OK : dls_h5_fail(h5, err, "cannot be created");
    H5Pclose(fcpl);
    H5Pclose(fapl);
    return status;
}

dls_status dls_h5_open(dls_h5 *h5, const char *path, dls_error *err)
{
    *h5 = (dls_h5){H5I_INVALID_HID, path, DLS_EINPUT, 0};
    DLS_TRY(dls_file_check_regular(path, err));
    const hid_t fapl = access_list();
    h5->file = H5Fopen(path, H5F_ACC_RDONLY, fapl);
    const dls_status status =
        h5->file >= 0 ? DLS_OK : dls_h5_fail(h5, err, "cannot be read as HDF5");
    H5Pclose(fapl);
    return status;
}

dls_status dls_h5_close(dls_h5 *h5, dls_error *err)
{
    if (h5->file < 0) {
        return DLS_OK;
    }
    const herr_t failed = H5Fclose(h5->file);
    h5->file = H5I_INVALID_HID;
    return failed < 0 || h5->write_errno ? dls_h5_fail(h5, err, "cannot be written") : DLS_OK;
}

dls_status dls_h5_save(const char *path, dls_h5_put_fn put, const void *what, dls_error *err)
{
    dls_atomicfile file;
    /* Short of memory HDF5 may crash while it sets itself up: before there is a file. */
    if (H5open() < 0) {
        return dls_nomem(err, "HDF5", 0);
    }
    DLS_TRY(dls_atomicfile_begin(&file, path, err));
    dls_h5 h5;
    dls_status status = dls_h5_create(&h5, file.part, path, err);
    if (status == DLS_OK) {
        status = put(&h5, what, err);
    }
    const dls_status closed = dls_h5_close(&h5, status == DLS_OK ? err : NULL);
    status = status == DLS_OK ? closed : status;
    if (status != DLS_OK) {
        dls_atomicfile_abort(&file);
        return status;
    }
    return dls_atomicfile_commit(&file, err);
}

/* ---- groups ------------------------------------------------------------------------------------
 */

dls_status dls_h5_group_create(const dls_h5 *h5, hid_t at, const char *name, hid_t *out,
                               dls_error *err)
{
    const hid_t gcpl = H5Pcreate(H5P_GROUP_CREATE);
    H5Pset_obj_track_times(gcpl, false);
    H5Pset_link_creation_order(gcpl, H5P_CRT_ORDER_TRACKED | H5P_CRT_ORDER_INDEXED);
    /* Attributes stay in the object's header: H5Ocopy of HDF5 1.10.8 crashes on texts of variable
     * length outside it. Their characters are elsewhere in any case, so headers stay small. */
    H5Pset_attr_phase_change(gcpl, 256, 0);
    *out = H5Gcreate2(at, name, H5P_DEFAULT, gcpl, H5P_DEFAULT);
    const dls_status status = *out >= 0 ? DLS_OK : dls_h5_fail(h5, err, "group '%s'", name);
    H5Pclose(gcpl);
    return status;
}

dls_status dls_h5_group_open(const dls_h5 *h5, hid_t at, const char *name, hid_t *out,
                             dls_error *err)
{
    *out = H5Gopen2(at, name, H5P_DEFAULT);
    return *out >= 0 ? DLS_OK : dls_h5_fail(h5, err, "no group '%s'", name);
}

/* ---- types -------------------------------------------------------------------------------------
 */

static hid_t text_type(size_t width)
{
    const hid_t type = H5Tcopy(H5T_C_S1);
    H5Tset_size(type, width);
    H5Tset_cset(type, H5T_CSET_UTF8);
    H5Tset_strpad(type, H5T_STR_NULLPAD);
    return type;
}

static hid_t enum_type(dls_field_type field, hid_t base)
{
    const hid_t type = H5Tenum_create(base);
    for (unsigned v = 0; dls_enum_name(field, v); v++) {
        /* H5Tenum_insert wants a value of the base type. */
        const uint8_t byte = (uint8_t)v;
        const unsigned word = v;
        const void *value = H5Tget_size(base) == 1 ? (const void *)&byte : (const void *)&word;
        H5Tenum_insert(type, dls_enum_name(field, v), value);
    }
    return type;
}

hid_t dls_h5_type(dls_field_type type, size_t width, bool in_file)
{
    switch (type) {
    case DLS_FIELD_I64:
        return H5Tcopy(in_file ? H5T_STD_I64LE : H5T_NATIVE_INT64);
    case DLS_FIELD_U64:
        return H5Tcopy(in_file ? H5T_STD_U64LE : H5T_NATIVE_UINT64);
    case DLS_FIELD_I32:
        return H5Tcopy(in_file ? H5T_STD_I32LE : H5T_NATIVE_INT32);
    case DLS_FIELD_U32:
        return H5Tcopy(in_file ? H5T_STD_U32LE : H5T_NATIVE_UINT32);
    case DLS_FIELD_BOOL:
        return H5Tcopy(in_file ? H5T_STD_U8LE : H5T_NATIVE_UINT8);
    case DLS_FIELD_F32:
        return H5Tcopy(in_file ? H5T_IEEE_F32LE : H5T_NATIVE_FLOAT);
    case DLS_FIELD_F64:
        return H5Tcopy(in_file ? H5T_IEEE_F64LE : H5T_NATIVE_DOUBLE);
    case DLS_FIELD_STATE:
    case DLS_FIELD_OUTCOME:
        return enum_type(type, H5T_STD_U8LE);
    case DLS_FIELD_KIND:
        return enum_type(type, in_file ? H5T_STD_U8LE : H5T_NATIVE_UINT);
    case DLS_FIELD_TEXT:
        return text_type(width);
    }
    return H5I_INVALID_HID;
}

/* ---- attributes --------------------------------------------------------------------------------
 */

/* Write one attribute of a file type from a memory type; both types are closed. */
static dls_status put_attr(const dls_h5 *h5, hid_t at, const char *name, hid_t file_type,
                           hid_t mem_type, const void *value, dls_error *err)
{
    const hid_t space = H5Screate(H5S_SCALAR);
    const hid_t attr = H5Acreate2(at, name, file_type, space, H5P_DEFAULT, H5P_DEFAULT);
    const bool done = attr >= 0 && H5Awrite(attr, mem_type, value) >= 0;
    const dls_status status = done ? DLS_OK : dls_h5_fail(h5, err, "attribute '%s'", name);
    if (attr >= 0) {
        H5Aclose(attr);
    }
    H5Sclose(space);
    H5Tclose(mem_type);
    H5Tclose(file_type);
    return status;
}

dls_status dls_h5_put_text(const dls_h5 *h5, hid_t at, const char *name, const char *text,
                           dls_error *err)
{
    const hid_t type = text_type(H5T_VARIABLE);
    H5Tset_strpad(type, H5T_STR_NULLTERM);
    const char *value = text ? text : "";
    return put_attr(h5, at, name, H5Tcopy(type), type, &value, err);
}

dls_status dls_h5_put_u64(const dls_h5 *h5, hid_t at, const char *name, uint64_t value,
                          dls_error *err)
{
    return put_attr(h5, at, name, H5Tcopy(H5T_STD_U64LE), H5Tcopy(H5T_NATIVE_UINT64), &value, err);
}

dls_status dls_h5_put_fields(const dls_h5 *h5, hid_t at, const dls_field *fields, size_t n,
                             const void *base, dls_error *err)
{
    for (size_t i = 0; i < n; i++) {
        const dls_field *f = &fields[i];
        DLS_TRY(put_attr(h5, at, f->name, dls_h5_type(f->type, f->width, true),
                         dls_h5_type(f->type, f->width, false), (const char *)base + f->offset,
                         err));
    }
    return DLS_OK;
}

dls_status dls_h5_get_fields(const dls_h5 *h5, hid_t at, const dls_field *fields, size_t n,
                             void *base, dls_error *err)
{
    for (size_t i = 0; i < n; i++) {
        const dls_field *f = &fields[i];
        const hid_t attr = H5Aopen(at, f->name, H5P_DEFAULT);
        if (attr < 0) {
            return dls_h5_fail(h5, err, "no attribute '%s'", f->name);
        }
        const hid_t type = dls_h5_type(f->type, f->width, false);
        const hid_t space = H5Aget_space(attr);
        const bool done = H5Sget_simple_extent_npoints(space) == 1 &&
                          H5Aread(attr, type, (char *)base + f->offset) >= 0;
        const dls_status status =
            done ? DLS_OK : dls_h5_fail(h5, err, "attribute '%s' is not one number", f->name);
        H5Sclose(space);
        H5Tclose(type);
        H5Aclose(attr);
        DLS_TRY(status);
    }
    return DLS_OK;
}

dls_status dls_h5_describe(const dls_h5 *h5, hid_t dataset, const char *units,
                           const char *description, dls_error *err)
{
    DLS_TRY(dls_h5_put_text(h5, dataset, "units", units, err));
    return dls_h5_put_text(h5, dataset, "description", description, err);
}

/* ---- small tables ------------------------------------------------------------------------------
 */

static hid_t field_type(const dls_field *f, bool in_file)
{
    const hid_t one = dls_h5_type(f->type, f->width / f->count, in_file);
    if (f->count == 1) {
        return one;
    }
    const hsize_t count = f->count;
    const hid_t array = H5Tarray_create2(one, 1, &count);
    H5Tclose(one);
    return array;
}

static hid_t row_type(const dls_field *fields, size_t n, size_t row_bytes, bool in_file)
{
    const hid_t type = H5Tcreate(H5T_COMPOUND, row_bytes);
    for (size_t i = 0; i < n; i++) {
        const hid_t member = field_type(&fields[i], in_file);
        H5Tinsert(type, fields[i].name, fields[i].offset, member);
        H5Tclose(member);
    }
    if (in_file) {
        H5Tpack(type);
    }
    return type;
}

/* The units of all members as a vector of strings. */
static dls_status put_units(const dls_h5 *h5, hid_t dataset, const dls_field *fields, size_t n,
                            dls_error *err)
{
    const char *units[64];
    const hsize_t count = n < 64 ? n : 64;
    for (size_t i = 0; i < count; i++) {
        units[i] = fields[i].units;
    }
    const hid_t type = text_type(H5T_VARIABLE);
    const hid_t space = H5Screate_simple(1, &count, NULL);
    const hid_t attr = H5Acreate2(dataset, "units", type, space, H5P_DEFAULT, H5P_DEFAULT);
    const bool done = attr >= 0 && H5Awrite(attr, type, units) >= 0;
    const dls_status status = done ? DLS_OK : dls_h5_fail(h5, err, "attribute 'units'");
    if (attr >= 0) {
        H5Aclose(attr);
    }
    H5Sclose(space);
    H5Tclose(type);
    return status;
}

dls_status dls_h5_put_table(const dls_h5 *h5, hid_t at, const char *name, const char *description,
                            const dls_field *fields, size_t n_fields, const void *rows,
                            size_t n_rows, size_t row_bytes, dls_error *err)
{
    const hid_t file_type = row_type(fields, n_fields, row_bytes, true);
    const hid_t mem_type = row_type(fields, n_fields, row_bytes, false);
    const hsize_t dim = n_rows;
    const hid_t space = H5Screate_simple(1, &dim, NULL);
    const hid_t dcpl = H5Pcreate(H5P_DATASET_CREATE);
    H5Pset_obj_track_times(dcpl, false);
    /* HDF5 clears its conversion buffer, 1 MiB unless told, at every write: a fifth of the time of
     * a small file. It must hold one row. */
    const hid_t dxpl = H5Pcreate(H5P_DATASET_XFER);
    H5Pset_buffer(dxpl, row_bytes < 1024 ? 8192 : 8 * row_bytes, NULL, NULL);
    const hid_t set = H5Dcreate2(at, name, file_type, space, H5P_DEFAULT, dcpl, H5P_DEFAULT);
    dls_status status = DLS_OK;
    if (set < 0 || (n_rows > 0 && H5Dwrite(set, mem_type, H5S_ALL, H5S_ALL, dxpl, rows) < 0)) {
        status = dls_h5_fail(h5, err, "table '%s'", name);
    }
    if (status == DLS_OK) {
        status = put_units(h5, set, fields, n_fields, err);
    }
    if (status == DLS_OK) {
        status = dls_h5_put_text(h5, set, "description", description, err);
    }
    if (set >= 0) {
        H5Dclose(set);
    }
    H5Pclose(dxpl);
    H5Pclose(dcpl);
    H5Sclose(space);
    H5Tclose(mem_type);
    H5Tclose(file_type);
    return status;
}

dls_status dls_h5_get_table(const dls_h5 *h5, hid_t at, const char *name, const dls_field *fields,
                            size_t n_fields, void *rows, size_t n_rows, size_t row_bytes,
                            dls_error *err)
{
    const hid_t set = H5Dopen2(at, name, H5P_DEFAULT);
    if (set < 0) {
        return dls_h5_fail(h5, err, "no table '%s'", name);
    }
    const hid_t file_type = H5Dget_type(set);
    const hid_t mem_type = row_type(fields, n_fields, row_bytes, false);
    const hid_t space = H5Dget_space(set);
    dls_status status = DLS_OK;
    if (H5Tget_class(file_type) != H5T_COMPOUND ||
        H5Sget_simple_extent_npoints(space) != (hssize_t)n_rows) {
        status = dls_fail(err, h5->status, h5->path, "table '%s' does not have %zu rows of fields",
                          name, n_rows);
    }
    for (size_t i = 0; status == DLS_OK && i < n_fields; i++) {
        if (H5Tget_member_index(file_type, fields[i].name) < 0) {
            status = dls_h5_fail(h5, err, "table '%s' has no field '%s'", name, fields[i].name);
        }
    }
    if (status == DLS_OK && H5Dread(set, mem_type, H5S_ALL, H5S_ALL, H5P_DEFAULT, rows) < 0) {
        status = dls_h5_fail(h5, err, "table '%s'", name);
    }
    H5Sclose(space);
    H5Tclose(mem_type);
    H5Tclose(file_type);
    H5Dclose(set);
    return status;
}
