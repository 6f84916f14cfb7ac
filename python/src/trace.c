/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Traces.
 */
#include "ext.h"

PyTypeObject *ext_trace_type;

static PyObject *trace_new(PyTypeObject *type, PyObject *args, PyObject *kwargs)
{
    static char *words[] = {"path", "format", "max_jobs", "text", NULL};
    PyObject *path = NULL;
    const char *format = NULL, *text = NULL;
    Py_ssize_t len = 0;
    long long most = 0;
    if (!PyArg_ParseTupleAndKeywords(args, kwargs, "O&|zLz#", words, PyUnicode_FSConverter, &path,
                                     &format, &most, &text, &len)) {
        return NULL;
    }
    ext_trace *self = (ext_trace *)PyType_GenericAlloc(type, 0);
    const dls_trace_options opts = {.max_jobs = most};
    dls_error err = {.status = DLS_ENOMEM};
    dls_status status = DLS_ENOMEM;
    if (self) {
        const char *name = PyBytes_AsString(path);
        const dls_trace_source source = {name, text, (size_t)len, &opts};
        Py_BEGIN_ALLOW_THREADS status =
            text ? dls_trace_of_text(&source, format, &self->trace, &err)
                 : dls_trace_load(name, format, &opts, &self->trace, &err);
        Py_END_ALLOW_THREADS
    }
    Py_DECREF(path);
    if (status != DLS_OK) {
        Py_XDECREF((PyObject *)self);
        return ext_raise(&err, NULL);
    }
    return (PyObject *)self;
}

static void trace_dealloc(PyObject *object)
{
    PyTypeObject *type = Py_TYPE(object);
    dls_trace_destroy(((ext_trace *)object)->trace);
    PyObject_Free(object);
    Py_DECREF(type);
}

static Py_ssize_t trace_length(PyObject *self)
{
    return (Py_ssize_t)dls_trace_cols(((ext_trace *)self)->trace)->n;
}

static PyObject *trace_save(PyObject *self, PyObject *path)
{
    PyObject *bytes;
    dls_error err = {0};
    if (!PyUnicode_FSConverter(path, &bytes)) {
        return NULL;
    }
    const dls_status status =
        dls_trace_save_csv(((ext_trace *)self)->trace, PyBytes_AsString(bytes), &err);
    Py_DECREF(bytes);
    if (status != DLS_OK) {
        return ext_raise(&err, NULL);
    }
    Py_RETURN_NONE;
}

static PyObject *trace_notes(PyObject *self, void *unused)
{
    const char *notes = dls_trace_about(((ext_trace *)self)->trace)->notes;
    return PyUnicode_DecodeUTF8(notes, (Py_ssize_t)strlen(notes), "replace");
}

int ext_trace_types(PyObject *module)
{
    static PyMethodDef trace_methods[] = {{"save", trace_save, METH_O, "Write the native CSV."},
                                          {NULL, NULL, 0, NULL}};
    static PyGetSetDef trace_more[] = {
        {"notes", trace_notes, NULL, "what a reader left out or mended", NULL},
        {NULL, NULL, NULL, NULL, NULL}};
    static PyType_Slot trace_slots[] = {
        {Py_tp_new, trace_new},
        {Py_tp_dealloc, trace_dealloc},
        {Py_sq_length, trace_length},
        {Py_tp_methods, trace_methods},
        {Py_tp_getset, trace_more},
        {Py_tp_doc, "Trace(path, format=None, max_jobs=0, text=None): the jobs of a file, or of a "
                    "text that is called `path`."},
        {0, NULL}};
    static PyType_Spec spec = {.name = "dlsim.Trace",
                               .basicsize = sizeof(ext_trace),
                               .flags = Py_TPFLAGS_DEFAULT,
                               .slots = trace_slots};
    ext_trace_type = (PyTypeObject *)PyType_FromSpec(&spec);
    return ext_trace_type ? PyModule_AddObjectRef(module, "Trace", (PyObject *)ext_trace_type) : -1;
}
