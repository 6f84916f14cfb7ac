/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * The schema's fields and columns in HDF5.
 */
#include "results/tables.h"

#include "base/own.h"

#include <string.h>

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))

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

hid_t dls_field_h5_type(dls_field_type type, size_t width)
{
    switch (type) {
    case DLS_FIELD_I64:
        return H5Tcopy(H5T_NATIVE_INT64);
    case DLS_FIELD_U64:
        return H5Tcopy(H5T_NATIVE_UINT64);
    case DLS_FIELD_I32:
        return H5Tcopy(H5T_NATIVE_INT32);
    case DLS_FIELD_U32:
        return H5Tcopy(H5T_NATIVE_UINT32);
    case DLS_FIELD_BOOL:
        return H5Tcopy(H5T_NATIVE_UINT8);
    case DLS_FIELD_F32:
        return H5Tcopy(H5T_NATIVE_FLOAT);
    case DLS_FIELD_F64:
        return H5Tcopy(H5T_NATIVE_DOUBLE);
    case DLS_FIELD_STATE:
    case DLS_FIELD_OUTCOME:
    case DLS_FIELD_KIND:
        return enum_type(type, type == DLS_FIELD_KIND ? H5T_NATIVE_UINT : H5T_STD_U8LE);
    case DLS_FIELD_TEXT:
        return dls_h5_text_type(width);
    }
    return H5I_INVALID_HID;
}

/* As it lies in a file. */
static void stored_type(dls_field_type type, size_t width, dls_h5_type *to)
{
    static const dls_h5_cell cells[] = {
        [DLS_FIELD_I64] = DLS_H5_I64, [DLS_FIELD_U64] = DLS_H5_U64, [DLS_FIELD_I32] = DLS_H5_I32,
        [DLS_FIELD_U32] = DLS_H5_U32, [DLS_FIELD_BOOL] = DLS_H5_BOOL, [DLS_FIELD_F32] = DLS_H5_F32,
        [DLS_FIELD_F64] = DLS_H5_F64, [DLS_FIELD_TEXT] = DLS_H5_TEXT};
    const char *names[16];
    unsigned n = 0;
    while (n < COUNT(names) && (names[n] = dls_enum_name(type, n)) != NULL) {
        n++;
    }
    if (n > 0) {
        dls_h5_type_enum(to, names, n);
    } else {
        dls_h5_type_cell(to, cells[type], width);
    }
}

/* ---- structs --------------------------------------------------------------------------------- */

dls_status dls_put_fields(dls_h5_node *at, const dls_field *fields, size_t n, const void *base,
                          dls_error *err)
{
    dls_h5_type type;
    for (size_t i = 0; i < n; i++) {
        const dls_field *f = &fields[i];
        stored_type(f->type, f->width, &type);
        DLS_TRY(dls_h5_put_attr(at, f->name, &type, 0, (const char *)base + f->offset, err));
    }
    return DLS_OK;
}

dls_status dls_get_fields(hid_t at, const dls_summary_group *group, dls_summary *to, dls_error *err)
{
    for (size_t i = 0; i < group->n_fields; i++) {
        const dls_field *f = &group->fields[i];
        DLS_H5_OWNED const hid_t memory = dls_field_h5_type(f->type, f->width);
        DLS_TRY(dls_h5_get_attr(at, f->name, memory, (char *)to + group->at + f->offset, err));
    }
    return DLS_OK;
}

static hid_t field_type(const dls_field *f)
{
    const hid_t one = dls_field_h5_type(f->type, f->width / f->count);
    const hsize_t count = f->count;
    if (count == 1) {
        return one;
    }
    DLS_H5_OWNED const hid_t element = one;
    return H5Tarray_create2(element, 1, &count);
}

static hid_t row_type(const dls_rows *rows)
{
    const hid_t type = H5Tcreate(H5T_COMPOUND, rows->row_bytes);
    bool ok = type >= 0;
    for (size_t i = 0; i < rows->n_fields && ok; i++) {
        const hid_t member = field_type(&rows->fields[i]);
        ok = member >= 0 &&
             H5Tinsert(type, rows->fields[i].name, rows->fields[i].offset, member) >= 0;
        H5Tclose(member);
    }
    if (!ok) {
        H5Tclose(type);
        return H5I_INVALID_HID;
    }
    return type;
}

static void stored_field(const dls_field *f, dls_h5_type *to)
{
    stored_type(f->type, f->width / f->count, to);
    if (f->count > 1) {
        dls_h5_type_array(to, f->count);
    }
}

typedef struct packing {
    const dls_rows *rows;
    const char *data;
} packing;

/* A member that is narrower in the file is a small number, whose low bytes come first. */
static const char *pack_rows(const void *ctx, size_t first, size_t n, size_t width, char *dst)
{
    const packing *p = ctx;
    char *to = dst;
    dls_h5_type type;
    for (size_t k = 0; k < p->rows->n_fields; k++) {
        const dls_field *f = &p->rows->fields[k];
        stored_field(f, &type);
        for (size_t i = 0; i < n; i++) {
            memcpy(to + i * width, p->data + (first + i) * p->rows->row_bytes + f->offset, type.size);
        }
        to += type.size;
    }
    return dst;
}

/* The units of all members as a vector of texts. */
static dls_status put_units(dls_h5_node *set, const dls_rows *rows, dls_error *err)
{
    char units[64][16] = {{0}};
    dls_h5_type type;
    for (size_t i = 0; i < rows->n_fields && i < 64; i++) {
        snprintf(units[i], sizeof units[i], "%s", rows->fields[i].units);
    }
    dls_h5_type_cell(&type, DLS_H5_TEXT, sizeof units[0]);
    return dls_h5_put_attr(set, "units", &type, rows->n_fields, units, err);
}

dls_status dls_put_rows(dls_h5_node *at, const char *name, const char *description, const dls_rows *rows,
                        const void *data, dls_error *err)
{
    dls_h5_type type, member;
    dls_h5_node *set;
    size_t bytes = 0;
    for (size_t i = 0; i < rows->n_fields; i++) {
        stored_field(&rows->fields[i], &member);
        bytes += member.size;
    }
    dls_h5_type_row(&type, bytes);
    for (size_t i = 0; i < rows->n_fields; i++) {
        stored_field(&rows->fields[i], &member);
        dls_h5_type_member(&type, rows->fields[i].name, &member);
    }
    const dls_h5_shape shape = {.rank = 1, .dim = {rows->n}, .deflated = true};
    DLS_TRY(dls_h5_put_set(at, name, &type, shape, pack_rows, &(packing){rows, data}, &set, err));
    DLS_TRY(put_units(set, rows, err));
    return dls_h5_put_text(set, "description", description, err);
}

dls_status dls_get_rows(hid_t at, const char *name, const dls_rows *rows, void *data,
                        dls_error *err)
{
    DLS_H5_OWNED hid_t set = H5I_INVALID_HID;
    if (!dls_h5_has(at, name)) {
        return dls_fail(err, DLS_EINPUT, NULL, "no table '%s'", name);
    }
    DLS_TRY(dls_h5_get_set(at, name, &set, err));
    DLS_H5_OWNED const hid_t stored = H5Dget_type(set), memory = row_type(rows);
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
    return H5Dread(set, memory, H5S_ALL, H5S_ALL, H5P_DEFAULT, data) < 0
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

static dls_status put_column(dls_h5_node *at, const dls_column *col, size_t n, dls_error *err)
{
    dls_h5_type type;
    dls_h5_node *set;
    stored_type(col->type, col->width, &type);
    const dls_h5_shape shape = {.rank = 1, .dim = {n}, .deflated = true};
    DLS_TRY(dls_h5_put_set(at, col->name, &type, shape, fill, col, &set, err));
    DLS_TRY(dls_h5_put_text(set, "units", col->units, err));
    return dls_h5_put_text(set, "description", col->description, err);
}

dls_status dls_put_columns(dls_h5_node *at, const dls_column *columns, size_t n_columns, size_t n,
                           dls_error *err)
{
    for (size_t i = 0; i < n_columns; i++) {
        DLS_TRY(put_column(at, &columns[i], n, err));
    }
    return DLS_OK;
}
