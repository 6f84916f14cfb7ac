/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * The schema's fields and columns in HDF5.
 */
#include "results/tables.h"

#include "base/own.h"

#include <string.h>

/* ---- types ----------------------------------------------------------------------------------- */

static hid_t enum_type(dls_field_type field, hid_t base)
{
    const hid_t type = H5Tenum_create(base);
    for (unsigned v = 0; type >= 0 && dls_enum_name(field, v); v++) {
        /* H5Tenum_insert wants a value of the base type. */
        const uint8_t byte = (uint8_t)v;
        const void *value = H5Tget_size(base) == 1 ? (const void *)&byte : (const void *)&v;
        if (H5Tenum_insert(type, dls_enum_name(field, v), value) < 0) {
            H5Tclose(type);
            return H5I_INVALID_HID;
        }
    }
    return type;
}

hid_t dls_field_h5_type(dls_field_type type, size_t width, bool in_file)
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
        return dls_h5_text_type(width);
    }
    return H5I_INVALID_HID;
}

/* ---- structs --------------------------------------------------------------------------------- */

dls_status dls_put_fields(hid_t at, const dls_field *fields, size_t n, const void *base,
                          dls_error *err)
{
    for (size_t i = 0; i < n; i++) {
        const dls_field *f = &fields[i];
        DLS_H5_OWNED const hid_t stored = dls_field_h5_type(f->type, f->width, true),
                                 memory = dls_field_h5_type(f->type, f->width, false);
        DLS_TRY(
            dls_h5_put_attr(at, f->name, stored, memory, 0, (const char *)base + f->offset, err));
    }
    return DLS_OK;
}

dls_status dls_get_fields(hid_t at, const dls_summary_group *group, dls_summary *to, dls_error *err)
{
    for (size_t i = 0; i < group->n_fields; i++) {
        const dls_field *f = &group->fields[i];
        DLS_H5_OWNED const hid_t memory = dls_field_h5_type(f->type, f->width, false);
        DLS_TRY(dls_h5_get_attr(at, f->name, memory, (char *)to + group->at + f->offset, err));
    }
    return DLS_OK;
}

static hid_t field_type(const dls_field *f, bool in_file)
{
    const hid_t one = dls_field_h5_type(f->type, f->width / f->count, in_file);
    const hsize_t count = f->count;
    if (count == 1) {
        return one;
    }
    DLS_H5_OWNED const hid_t element = one;
    return H5Tarray_create2(element, 1, &count);
}

static hid_t row_type(const dls_rows *rows, bool in_file)
{
    const hid_t type = H5Tcreate(H5T_COMPOUND, rows->row_bytes);
    bool ok = type >= 0;
    for (size_t i = 0; i < rows->n_fields && ok; i++) {
        const hid_t member = field_type(&rows->fields[i], in_file);
        ok = member >= 0 &&
             H5Tinsert(type, rows->fields[i].name, rows->fields[i].offset, member) >= 0;
        H5Tclose(member);
    }
    if (!ok || (in_file && H5Tpack(type) < 0)) {
        H5Tclose(type);
        return H5I_INVALID_HID;
    }
    return type;
}

/* The units of all members as a vector of texts. */
static dls_status put_units(hid_t set, const dls_rows *rows, dls_error *err)
{
    char units[64][16] = {{0}};
    for (size_t i = 0; i < rows->n_fields && i < 64; i++) {
        snprintf(units[i], sizeof units[i], "%s", rows->fields[i].units);
    }
    DLS_H5_OWNED const hid_t type = dls_h5_text_type(sizeof units[0]);
    return dls_h5_put_attr(set, "units", type, type, rows->n_fields, units, err);
}

dls_status dls_put_rows(hid_t at, const char *name, const char *description, const dls_rows *rows,
                        const void *data, dls_error *err)
{
    DLS_H5_OWNED const hid_t stored = row_type(rows, true), memory = row_type(rows, false);
    const hsize_t dim = rows->n;
    DLS_H5_OWNED const hid_t converting = dls_h5_converting(rows->n, stored, memory);
    hid_t set;
    dls_status status = dls_h5_create_data(at, name, stored, 1, &dim, 1, &set, err);
    if (status == DLS_OK) {
        const bool ok =
            rows->n == 0 || H5Dwrite(set, memory, H5S_ALL, H5S_ALL, converting, data) >= 0;
        status = ok ? put_units(set, rows, err) : dls_h5_unwritten(err, name);
        DLS_THEN(status, dls_h5_put_text(set, "description", description, err));
        if (H5Dclose(set) < 0 && status == DLS_OK) {
            status = dls_h5_unwritten(err, name);
        }
    }
    return status;
}

dls_status dls_get_rows(hid_t at, const char *name, const dls_rows *rows, void *data,
                        dls_error *err)
{
    DLS_H5_OWNED hid_t set = H5I_INVALID_HID;
    if (!dls_h5_has(at, name)) {
        return dls_fail(err, DLS_EINPUT, NULL, "no table '%s'", name);
    }
    DLS_TRY(dls_h5_get_set(at, name, &set, err));
    DLS_H5_OWNED const hid_t stored = H5Dget_type(set), memory = row_type(rows, false);
    DLS_H5_OWNED const hid_t space = H5Dget_space(set);
    if (H5Tget_class(stored) != H5T_COMPOUND ||
        H5Sget_simple_extent_npoints(space) != (hssize_t)rows->n) {
        return dls_fail(err, DLS_EINPUT, NULL, "table '%s' does not have %zu rows of fields", name,
                        rows->n);
    }
    for (size_t i = 0; i < rows->n_fields; i++) {
        if (H5Tget_member_index(stored, rows->fields[i].name) < 0) {
            return dls_h5_fail(err, DLS_EINPUT, "table '%s' has no field '%s'", name,
                               rows->fields[i].name);
        }
    }
    DLS_H5_OWNED const hid_t converting = dls_h5_converting(rows->n, stored, memory);
    return H5Dread(set, memory, H5S_ALL, H5S_ALL, converting, data) < 0
               ? dls_h5_fail(err, DLS_EINPUT, "table '%s'", name)
               : DLS_OK;
}

/* ---- columns --------------------------------------------------------------------------------- */

/* Cells of rows first..first+n-1, in dst or where they lie; texts are padded with '\0'. */
static const char *fill(const void *column, size_t first, size_t n, size_t width, char *dst)
{
    const dls_column *col = column;
    if (col->data) {
        if (col->file && first % DLS_ROWS_IN_MEMORY < n) {
            dls_mapped_rest(col->file);
        }
        return (const char *)col->data + first * width;
    }
    memset(dst, 0, n * width);
    for (size_t i = 0; i < n; i++) {
        const char *text = col->names->at(col->trace, (int32_t)(first + i));
        const size_t len = strlen(text);
        memcpy(dst + i * width, text, len < width ? len : width);
    }
    return dst;
}

static dls_status write_cells(hid_t set, const dls_column *col, hid_t stored, hid_t memory,
                              size_t n, dls_error *err)
{
    const size_t width = H5Tget_size(stored);
    DLS_FREED char *block = NULL;
    if (n == 0) {
        return DLS_OK;
    }
    if (n * width >= DLS_H5_COMPACT_BYTES && H5Tequal(stored, memory) > 0) {
        return dls_h5_put_chunks(set, col->name, n, width, fill, col, err);
    }
    if (!col->data) {
        DLS_TRY(dls_alloc_array(&block, n, width, col->name, err));
        fill(col, 0, n, width, block);
    }
    const bool ok =
        H5Dwrite(set, memory, H5S_ALL, H5S_ALL, H5P_DEFAULT, block ? block : col->data) >= 0;
    return ok ? DLS_OK : dls_h5_unwritten(err, col->name);
}

static dls_status put_column(hid_t at, const dls_column *col, size_t n, dls_error *err)
{
    DLS_H5_OWNED const hid_t stored = dls_field_h5_type(col->type, col->width, true);
    DLS_H5_OWNED const hid_t memory = dls_field_h5_type(col->type, col->width, false);
    const hsize_t dim = n;
    hid_t set;
    dls_status status = dls_h5_create_data(at, col->name, stored, 1, &dim, 1, &set, err);
    if (status == DLS_OK) {
        status = dls_h5_put_text(set, "units", col->units, err);
        DLS_THEN(status, dls_h5_put_text(set, "description", col->description, err));
        DLS_THEN(status, write_cells(set, col, stored, memory, n, err));
        if (H5Dclose(set) < 0 && status == DLS_OK) {
            status = dls_h5_unwritten(err, col->name);
        }
    }
    return status;
}

dls_status dls_put_columns(hid_t at, const dls_column *columns, size_t n_columns, size_t n,
                           dls_error *err)
{
    for (size_t i = 0; i < n_columns; i++) {
        DLS_TRY(put_column(at, &columns[i], n, err));
    }
    return DLS_OK;
}
