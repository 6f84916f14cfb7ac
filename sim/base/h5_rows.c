/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Arrays of structs as datasets of HDF5, one a member, by a table of columns.
 */
#include "base/h5.h"

#include "base/own.h"

#include <stdio.h>
#include <string.h>

#define MOST_TEXT 256

static size_t bytes_of(const dls_h5_column *c)
{
    static const size_t bytes[] = {
        [DLS_H5_I32] = 4, [DLS_H5_I64] = 8, [DLS_H5_F64] = 8, [DLS_H5_BOOL] = 1};
    return c->cell == DLS_H5_TEXT ? c->width : bytes[c->cell];
}

static void types_of(dls_h5_cell cell, hid_t *stored, hid_t *memory)
{
    const hid_t types[][2] = {[DLS_H5_I32] = {H5T_STD_I32LE, H5T_NATIVE_INT32},
                              [DLS_H5_I64] = {H5T_STD_I64LE, H5T_NATIVE_INT64},
                              [DLS_H5_F64] = {H5T_IEEE_F64LE, H5T_NATIVE_DOUBLE},
                              [DLS_H5_BOOL] = {H5T_STD_U8LE, H5T_NATIVE_UINT8}};
    *stored = types[cell][0];
    *memory = types[cell][1];
}

/* The column's cells one behind the other. */
static dls_status gather(const dls_h5_table *t, const dls_h5_column *c, const void *rows, size_t n,
                         char **out, dls_error *err)
{
    const size_t width = bytes_of(c);
    DLS_TRY(dls_alloc_array(out, n * width + 1, 1, c->name, err));
    for (size_t i = 0; i < n; i++) {
        const char *from = (const char *)rows + i * t->row_bytes + c->offset;
        memcpy(*out + i * width, from, c->cell == DLS_H5_TEXT ? strlen(from) : width);
    }
    return DLS_OK;
}

dls_status dls_h5_put_rows(hid_t at, const dls_h5_table *t, const void *rows, size_t n,
                           dls_error *err)
{
    DLS_H5_OWNED hid_t group = H5I_INVALID_HID;
    DLS_TRY(*t->group ? dls_h5_put_group(at, t->group, &group, err) : DLS_OK);
    for (size_t k = 0; k < t->n_columns; k++) {
        const dls_h5_column *c = &t->column[k];
        const hid_t to = *t->group ? group : at;
        hid_t stored, memory;
        DLS_FREED char *data = NULL;
        DLS_TRY(gather(t, c, rows, n, &data, err));
        if (c->cell == DLS_H5_TEXT) {
            DLS_TRY(dls_h5_put_strings(to, c->name, data, n, c->width, err));
        } else {
            types_of(c->cell, &stored, &memory);
            DLS_TRY(dls_h5_put_data(to, c->name, stored, memory, data, n, 0, err));
        }
    }
    return DLS_OK;
}

dls_status dls_h5_get_rows(hid_t at, const dls_h5_table *t, void *rows, size_t n, dls_error *err)
{
    for (size_t k = 0; k < t->n_columns; k++) {
        const dls_h5_column *c = &t->column[k];
        const size_t width = bytes_of(c);
        char path[64];
        hid_t stored, memory;
        DLS_FREED char *data = NULL;
        snprintf(path, sizeof path, "%s%s%s", t->group, *t->group ? "/" : "", c->name);
        DLS_TRY(dls_alloc_array(&data, n * width + 1, 1, path, err));
        if (c->cell == DLS_H5_TEXT) {
            DLS_TRY(dls_h5_get_strings(at, path, data, n, c->width, err));
        } else {
            types_of(c->cell, &stored, &memory);
            DLS_TRY(dls_h5_get_data(at, path, memory, data, n, 0, err));
        }
        for (size_t i = 0; i < n; i++) {
            if (c->cell == DLS_H5_BOOL) {
                data[i] = data[i] != 0;
            }
            memcpy((char *)rows + i * t->row_bytes + c->offset, data + i * width, width);
        }
    }
    return DLS_OK;
}

void dls_h5_hash_rows(dls_sha256 *sha, const dls_h5_table *t, const void *rows, size_t n,
                      bool names)
{
    for (size_t k = 0; k < t->n_columns; k++) {
        const dls_h5_column *c = &t->column[k];
        dls_sha256_update(sha, c->name, names ? strlen(c->name) + 1 : 0);
        for (size_t i = 0; i < n; i++) {
            const char *from = (const char *)rows + i * t->row_bytes + c->offset;
            if (c->cell == DLS_H5_TEXT) {
                char text[MOST_TEXT] = {0};
                memcpy(text, from, strlen(from));
                dls_sha256_update(sha, text, c->width);
            } else {
                dls_h5_hash(sha, from, 1, bytes_of(c));
            }
        }
    }
}
