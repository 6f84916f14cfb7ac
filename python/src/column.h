/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Inside columns: what column.c makes and arrow.c exports.
 */
#ifndef DLSIM_PYTHON_COLUMN_H
#define DLSIM_PYTHON_COLUMN_H

#include "ext.h"

struct ext_texts {
    Py_ssize_t users;
    size_t n;
    int64_t *offset; /* [n + 1] */
    char *bytes;
};

typedef struct column {
    PyObject_HEAD PyObject *owner, *name, *unit,
        *description; /* owner: of data, NULL: the column */
    const void *data; /* NULL: texts */
    ext_texts *texts; /* values, or what codes mean; or NULL */
    dls_value_type type;
    Py_ssize_t n, width;
} column;

typedef struct column_kind {
    Py_ssize_t width;
    const char *buffer, *arrow;
} column_kind;

extern PyTypeObject *column_type;
extern const column_kind column_kinds[];

int64_t column_code(const column *c, Py_ssize_t i);
PyObject *column_arrow_schema(PyObject *self, PyObject *unused);
PyObject *column_arrow_array(PyObject *self, PyObject *args, PyObject *kwargs);

#endif
