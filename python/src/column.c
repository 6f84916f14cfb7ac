/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * A column: numbers where they lie, codes with what they mean, or texts. It has the buffer protocol
 * (numbers and codes).
 */
#include "column.h"

#include <structmember.h>

#include <stdlib.h>
#include <string.h>

/* ---- texts ----------------------------------------------------------------------------------- */

ext_texts *ext_texts_create(ext_text_fn get, const void *of, const char *name, size_t most)
{
    ext_texts *t = PyMem_Calloc(1, sizeof *t);
    size_t bytes = 0, at = 0;
    if (!t) {
        return PyErr_NoMemory(), NULL;
    }
    t->users = 1;
    for (const char *s; t->n < most && (s = get(of, name, t->n)) != NULL; t->n++) {
        bytes += strlen(s);
    }
    t->offset = PyMem_Malloc((t->n + 1) * sizeof *t->offset);
    t->bytes = PyMem_Malloc(bytes + 1);
    if (!t->offset || !t->bytes) {
        ext_texts_release(t);
        return PyErr_NoMemory(), NULL;
    }
    for (size_t i = 0; i < t->n; i++) {
        const char *s = get(of, name, i);
        const size_t len = strlen(s);
        t->offset[i] = (int64_t)at;
        memcpy(t->bytes + at, s, len);
        at += len;
    }
    t->offset[t->n] = (int64_t)at;
    return t;
}

void ext_texts_release(ext_texts *t)
{
    if (t && --t->users == 0) {
        PyMem_Free(t->offset);
        PyMem_Free(t->bytes);
        PyMem_Free(t);
    }
}

static PyObject *text_at(const ext_texts *t, int64_t i)
{
    if (i < 0 || (size_t)i >= t->n) {
        Py_RETURN_NONE;
    }
    return PyUnicode_DecodeUTF8(t->bytes + t->offset[i],
                                (Py_ssize_t)(t->offset[i + 1] - t->offset[i]), "replace");
}

/* ---- the object ------------------------------------------------------------------------------ */

PyTypeObject *column_type;
static PyObject *as_array; /* numpy.asarray or memoryview */

const column_kind column_kinds[] = {
    [DLS_VALUE_I64] = {8, "q", "l"}, [DLS_VALUE_U64] = {8, "Q", "L"},
    [DLS_VALUE_I32] = {4, "i", "i"}, [DLS_VALUE_U32] = {4, "I", "I"},
    [DLS_VALUE_F32] = {4, "f", "f"}, [DLS_VALUE_F64] = {8, "d", "g"},
    [DLS_VALUE_U8] = {1, "B", "C"},
};

size_t ext_width(dls_value_type type)
{
    return (size_t)column_kinds[type].width;
}

static PyObject *text_of(const char *s)
{
    return PyUnicode_FromString(s ? s : "");
}

static column *create(PyObject *owner, const dls_result_column *c, ext_texts *texts)
{
    column *self = PyObject_New(column, column_type);
    if (!self) {
        ext_texts_release(texts);
        return NULL;
    }
    self->owner = Py_XNewRef(owner);
    self->name = text_of(c->name);
    self->unit = text_of(c->unit);
    self->description = text_of(c->description);
    self->data = c->data;
    self->texts = texts;
    self->type = c->type;
    self->n = (Py_ssize_t)c->n;
    self->width = column_kinds[c->type].width;
    if (!self->name || !self->unit || !self->description) {
        Py_DECREF(self);
        return NULL;
    }
    return self;
}

PyObject *ext_column(PyObject *owner, const dls_result_column *c, ext_texts *names)
{
    static const char nothing[8];
    dls_result_column some = *c;
    some.data = c->data ? c->data : nothing;
    return (PyObject *)create(owner, &some, names);
}

PyObject *ext_text_column(const char *name, const char *description, ext_texts *texts)
{
    const dls_result_column c = {.name = name, .description = description, .n = texts->n};
    return (PyObject *)create(NULL, &c, texts);
}

PyObject *ext_own_column(const char *name, dls_value_type type, size_t n, void *data)
{
    const dls_result_column c = {.name = name, .type = type, .n = n, .data = data};
    if (!data) {
        return PyErr_NoMemory();
    }
    PyObject *self = (PyObject *)create(NULL, &c, NULL);
    if (!self) {
        PyMem_Free(data);
    }
    return self;
}

static void column_dealloc(PyObject *object)
{
    column *self = (column *)object;
    PyTypeObject *type = Py_TYPE(object);
    if (!self->owner) {
        PyMem_Free((void *)(uintptr_t)self->data);
    }
    Py_XDECREF(self->owner);
    Py_XDECREF(self->name);
    Py_XDECREF(self->unit);
    Py_XDECREF(self->description);
    ext_texts_release(self->texts);
    PyObject_Free(self);
    Py_DECREF(type);
}

static int column_buffer(PyObject *object, Py_buffer *view, int flags)
{
    column *self = (column *)object;
    if (!self->data || (flags & PyBUF_WRITABLE)) {
        PyErr_SetString(PyExc_BufferError,
                        self->data ? "columns are read-only" : "a column of texts has no buffer");
        return -1;
    }
    *view = (Py_buffer){
        .buf = (void *)(uintptr_t)self->data,
        .obj = Py_NewRef(object),
        .len = self->n * self->width,
        .itemsize = self->width,
        .readonly = 1,
        .ndim = 1,
        .format = flags & PyBUF_FORMAT ? (char *)(uintptr_t)column_kinds[self->type].buffer : NULL,
        .shape = flags & PyBUF_ND ? &self->n : NULL,
        .strides = (flags & PyBUF_STRIDES) == PyBUF_STRIDES ? &self->width : NULL};
    return 0;
}

static Py_ssize_t column_length(PyObject *self)
{
    return ((column *)self)->n;
}

int64_t column_code(const column *c, Py_ssize_t i)
{
    switch (c->type) {
    case DLS_VALUE_I32:
        return ((const int32_t *)c->data)[i];
    case DLS_VALUE_U32:
        return ((const uint32_t *)c->data)[i];
    case DLS_VALUE_U8:
        return ((const uint8_t *)c->data)[i];
    default:
        return ((const int64_t *)c->data)[i];
    }
}

static PyObject *column_item(PyObject *object, Py_ssize_t i)
{
    const column *c = (column *)object;
    if (i < 0 || i >= c->n) {
        PyErr_SetString(PyExc_IndexError, "past the end of the column");
        return NULL;
    }
    if (c->texts) {
        return text_at(c->texts, c->data ? column_code(c, i) : i);
    }
    switch (c->type) {
    case DLS_VALUE_F32:
        return PyFloat_FromDouble((double)((const float *)c->data)[i]);
    case DLS_VALUE_F64:
        return PyFloat_FromDouble(((const double *)c->data)[i]);
    case DLS_VALUE_U64:
        return PyLong_FromUnsignedLongLong(((const uint64_t *)c->data)[i]);
    default:
        return PyLong_FromLongLong(column_code(c, i));
    }
}

static PyObject *column_to_list(PyObject *self, PyObject *unused)
{
    return PySequence_List(self);
}

static PyObject *column_categories(PyObject *object, void *unused)
{
    const column *c = (column *)object;
    if (!c->texts || !c->data) {
        Py_RETURN_NONE;
    }
    PyObject *list = PyList_New((Py_ssize_t)c->texts->n);
    for (size_t i = 0; list && i < c->texts->n; i++) {
        PyObject *text = text_at(c->texts, (int64_t)i);
        if (!text || PyList_SetItem(list, (Py_ssize_t)i, text) < 0) {
            Py_CLEAR(list);
        }
    }
    return list;
}

static PyObject *column_repr(PyObject *object)
{
    const column *c = (column *)object;
    return PyUnicode_FromFormat("<dlsim.Column %U: %zd %s%s%U>", c->name, c->n,
                                c->texts ? "texts" : "values",
                                PyUnicode_GetLength(c->unit) > 0 ? ", " : "", c->unit);
}

PyObject *ext_as_array(PyObject *c)
{
    if (!c) {
        return NULL;
    }
    if (!as_array) {
        PyObject *numpy = PyImport_ImportModule("numpy");
        as_array = numpy ? PyObject_GetAttrString(numpy, "asarray") : NULL;
        Py_XDECREF(numpy);
        if (!as_array) {
            PyErr_Clear();
            as_array = Py_NewRef((PyObject *)&PyMemoryView_Type);
        }
    }
    PyObject *array = PyObject_CallFunctionObjArgs(as_array, c, NULL);
    Py_DECREF(c);
    return array;
}

/* ---- the type -------------------------------------------------------------------------------- */

int ext_column_types(PyObject *module)
{
    static PyMethodDef methods[] = {{"to_list", column_to_list, METH_NOARGS,
                                     "Its values; codes as the texts that they mean, or None."},
                                    {"__arrow_c_schema__", column_arrow_schema, METH_NOARGS, NULL},
                                    {"__arrow_c_array__",
                                     (PyCFunction)(void (*)(void))column_arrow_array,
                                     METH_VARARGS | METH_KEYWORDS, NULL},
                                    {NULL, NULL, 0, NULL}};
    static PyMemberDef members[] = {
        {"name", T_OBJECT_EX, offsetof(column, name), READONLY, "as in a results file"},
        {"unit", T_OBJECT_EX, offsetof(column, unit), READONLY,
         "\"us\", \"gpus\"; \"\": a pure number"},
        {"description", T_OBJECT_EX, offsetof(column, description), READONLY, "what it says"},
        {NULL, 0, 0, 0, NULL}};
    static PyGetSetDef more[] = {{"categories", column_categories, NULL,
                                  "what its codes mean, in their order; None: no codes", NULL},
                                 {NULL, NULL, NULL, NULL, NULL}};
    static PyType_Slot slots[] = {
        {Py_tp_dealloc, column_dealloc},
        {Py_bf_getbuffer, column_buffer},
        {Py_sq_length, column_length},
        {Py_sq_item, column_item},
        {Py_tp_repr, column_repr},
        {Py_tp_methods, methods},
        {Py_tp_members, members},
        {Py_tp_getset, more},
        {Py_tp_doc, "A column of a table, [n]. NumPy, Arrow and lists take it."},
        {0, NULL}};
    static PyType_Spec spec = {.name = "dlsim.Column",
                               .basicsize = sizeof(column),
                               .flags = Py_TPFLAGS_DEFAULT | Py_TPFLAGS_DISALLOW_INSTANTIATION,
                               .slots = slots};
    column_type = (PyTypeObject *)PyType_FromSpec(&spec);
    return column_type ? PyModule_AddObjectRef(module, "Column", (PyObject *)column_type) : -1;
}
