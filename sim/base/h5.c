/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * HDF5: errors, files, and writing. Every call that can fail is looked at: HDF5 goes on without a
 * member of a type or the width of a text that it could not set, and the file would be whole
 * without.
 */
#include "base/h5.h"

#include "base/alloc.h"
#include "base/assert.h"
#include "base/h5_driver.h"
#include "base/h5_write.h"
#include "base/own.h"

#include <errno.h>
#include <stdbool.h>
#include <string.h>

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
    *f = (dls_h5_new){0};
    DLS_TRY(dls_alloc_array(&f->file, 1, sizeof *f->file, path, err));
    dls_status status = dls_atomicfile_begin(&f->out, path, err);
    DLS_THEN(status, dls_h5_file_begin(f->file, f->out.fd, &f->root, err));
    if (status != DLS_OK) {
        dls_h5_abort(f);
    }
    return dls_h5_where(status, err, path);
}

void dls_h5_abort(dls_h5_new *f)
{
    if (f->file) {
        dls_h5_file_destroy(f->file);
        dls_free(f->file);
        f->file = NULL;
    }
    dls_atomicfile_abort(&f->out);
}

static dls_status unwritable(int why, dls_error *err)
{
    return dls_fail(err, why == ENOMEM ? DLS_ENOMEM : DLS_EOUTPUT, NULL, "cannot be written: %s", strerror(why));
}

dls_status dls_h5_add_text(hid_t at, const char *name, const char *text, dls_error *err)
{
    DLS_H5_OWNED const hid_t type = dls_h5_text_type(strlen(text) + 1), space = H5Screate(H5S_SCALAR);
    const hid_t attr = H5Acreate2(at, name, type, space, H5P_DEFAULT, H5P_DEFAULT);
    bool ok = attr >= 0 && H5Awrite(attr, type, text) >= 0;
    ok = attr >= 0 && H5Aclose(attr) >= 0 && ok;
    return ok ? DLS_OK : dls_h5_unwritten(err, name);
}

static hid_t open_node(hid_t file, const dls_h5_node *node)
{
    if (!node->parent) {
        return H5Oopen(file, "/", H5P_DEFAULT);
    }
    DLS_H5_OWNED const hid_t parent = open_node(file, node->parent);
    return H5Oopen(parent, dls_strdict_get(&node->parent->names, node->number), H5P_DEFAULT);
}

static dls_status add_all(hid_t file, const dls_h5_late *late, dls_h5_add_fn add, const void *what, dls_error *err)
{
    for (; late; late = late->next) {
        DLS_H5_OWNED const hid_t at = open_node(file, late->at);
        DLS_TRY(dls_h5_add_text(at, late->name, late->text, err));
    }
    return add ? add(file, what, err) : DLS_OK;
}

/* What is left to HDF5. */
static dls_status amend(const dls_h5_new *f, dls_h5_add_fn add, const void *what, dls_error *err)
{
    int first_errno = 0; /* HDF5 itself carries on (base/h5_driver.h) */
    H5Eset_auto2(H5E_DEFAULT, NULL, NULL); /* reports go into dls_error, not to stderr */
    const hid_t fapl = H5Pcreate(H5P_FILE_ACCESS);
    /* From 1.10 on all metadata have checksums. */
    const bool ready = fapl >= 0 && H5Pset_fclose_degree(fapl, H5F_CLOSE_STRONG) >= 0 &&
                       H5Pset_libver_bounds(fapl, H5F_LIBVER_V110, H5F_LIBVER_V110) >= 0 &&
                       dls_h5_driver_set(fapl, &first_errno) >= 0;
    const hid_t file = ready ? H5Fopen(f->out.part, H5F_ACC_RDWR, fapl) : H5I_INVALID_HID;
    dls_status status = file >= 0 ? add_all(file, f->file->late, add, what, err)
                                  : dls_h5_fail(err, DLS_EOUTPUT, "cannot be created");
    H5Pclose(fapl);
    if (file >= 0 && H5Fclose(file) < 0 && status == DLS_OK) {
        status = dls_h5_fail(err, DLS_EOUTPUT, "cannot be written");
    }
    return first_errno && (status == DLS_OK || status == DLS_EOUTPUT) ? unwritable(first_errno, err) : status;
}

dls_status dls_h5_commit(dls_h5_new *f, dls_h5_add_fn add, const void *what, dls_error *err)
{
    dls_status status = dls_h5_file_finish(f->file, err);
    if (f->file->first_errno) {
        status = unwritable(f->file->first_errno, err);
    }
    if (status == DLS_OK && (add || f->file->late)) {
        status = amend(f, add, what, err);
    }
    status = dls_h5_where(status, err, f->out.path);
    DLS_THEN(status, dls_atomicfile_commit(&f->out, err));
    dls_h5_abort(f);
    return status;
}

dls_status dls_h5_save(const char *path, dls_h5_put_fn put, const void *what, dls_error *err)
{
    DLS_OWN(dls_h5_abort) dls_h5_new f = {0};
    DLS_TRY(dls_h5_begin(&f, path, err));
    DLS_TRY(dls_h5_where(put(f.root, what, err), err, path));
    return dls_h5_commit(&f, NULL, NULL, err);
}

/* ---- what lies in it ------------------------------------------------------------------------- */

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

static dls_status put_one(dls_h5_node *at, const char *name, dls_h5_cell cell, size_t width, const void *value, dls_error *err)
{
    dls_h5_type type;
    dls_h5_type_cell(&type, cell, width);
    return dls_h5_put_attr(at, name, &type, 0, value, err);
}

dls_status dls_h5_put_text(dls_h5_node *at, const char *name, const char *text, dls_error *err)
{
    return put_one(at, name, DLS_H5_TEXT, strlen(text) + 1, text, err);
}

dls_status dls_h5_put_i32(dls_h5_node *at, const char *name, int32_t value, dls_error *err)
{
    return put_one(at, name, DLS_H5_I32, 0, &value, err);
}

dls_status dls_h5_put_i64(dls_h5_node *at, const char *name, int64_t value, dls_error *err)
{
    return put_one(at, name, DLS_H5_I64, 0, &value, err);
}

dls_status dls_h5_put_u64(dls_h5_node *at, const char *name, uint64_t value, dls_error *err)
{
    return put_one(at, name, DLS_H5_U64, 0, &value, err);
}

static dls_status put_cells(dls_h5_node *at, const char *name, dls_h5_cell cell, size_t width, const void *data, size_t rows,
                            size_t cols, dls_error *err)
{
    DLS_ASSERT(data || rows == 0);
    dls_h5_type type;
    dls_h5_node *set;
    dls_h5_type_cell(&type, cell, width);
    const dls_h5_shape shape = {.rank = cols > 0 ? 2 : 1, .dim = {rows, cols}, .deflated = true};
    return dls_h5_put_set(at, name, &type, shape, dls_h5_lies, data, &set, err);
}

dls_status dls_h5_put_data(dls_h5_node *at, const char *name, dls_h5_cell cell, const void *data, size_t rows, size_t cols,
                           dls_error *err)
{
    return put_cells(at, name, cell, 0, data, rows, cols, err);
}

dls_status dls_h5_put_strings(dls_h5_node *at, const char *name, const char *text, size_t n, size_t width, dls_error *err)
{
    return put_cells(at, name, DLS_H5_TEXT, width, text, n, 0, err);
}

dls_status dls_h5_put_dict(dls_h5_node *at, const char *name, const dls_strdict *dict, dls_error *err)
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
    dls_sha256_update(sha, data, n * cell_bytes);
}
