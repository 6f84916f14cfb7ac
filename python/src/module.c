/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * The module: its exceptions and functions.
 */
#include "dlsim/program.h"
#include "ext.h"

#include <pthread.h>
#include <stdlib.h>

/* By status; the first is the base of all. */
static PyObject *errors[DLS_EINTERRUPTED + 1];

static const struct {
    dls_status status;
    const char *name, *doc;
} classes[] = {
    {DLS_ERUN, "RunError", "The run failed."},
    {DLS_EPOLICY, "PolicyError", "A policy asked for something illegal."},
    {DLS_EUSAGE, "UsageError", "A call that is not allowed now."},
    {DLS_ECONFIG, "ConfigError", "The configuration is wrong; `problems` lists all that is."},
    {DLS_EINPUT, "InputError", "A file or table that is read is wrong."},
    {DLS_EOUTPUT, "OutputError", "A file could not be written."},
    {DLS_EPREDICTOR, "PredictorError", "The predictor or its device failed."},
};

PyObject *ext_raise(const dls_error *err, const dls_setup *setup)
{
    if (PyErr_Occurred()) {
        return NULL;
    }
    if (err->status == DLS_ENOMEM) {
        PyErr_SetString(PyExc_MemoryError, err->msg);
        return NULL;
    }
    if (err->status == DLS_EINTERRUPTED) {
        PyErr_SetString(PyExc_KeyboardInterrupt, err->msg);
        return NULL;
    }
    PyObject *type = errors[err->status] ? errors[err->status] : errors[0];
    PyObject *problems = PyList_New(0), *exception = NULL, *text = NULL, *where = NULL;
    const char *problem = NULL;
    for (size_t i = 0; problems && setup && (problem = dls_setup_problem(setup, i)) != NULL; i++) {
        PyObject *one = PyUnicode_DecodeUTF8(problem, (Py_ssize_t)strlen(problem), "replace");
        if (!one || PyList_Append(problems, one) < 0) {
            Py_CLEAR(problems);
        }
        Py_XDECREF(one);
    }
    char whole[sizeof err->where + sizeof err->msg + 4];
    snprintf(whole, sizeof whole, "%s%s%s", err->where, *err->where ? ": " : "", err->msg);
    where = PyUnicode_DecodeUTF8(err->where, (Py_ssize_t)strlen(err->where), "replace");
    if (problems && PyList_Size(problems) > 0 && err->status == DLS_ECONFIG) {
        PyObject *newline = PyUnicode_FromString("\n");
        text = newline ? PyUnicode_Join(newline, problems) : NULL;
        Py_XDECREF(newline);
    } else {
        text = PyUnicode_DecodeUTF8(whole, (Py_ssize_t)strlen(whole), "replace");
    }
    exception = text ? PyObject_CallFunctionObjArgs(type, text, NULL) : NULL;
    if (exception && where && problems && PyObject_SetAttrString(exception, "where", where) == 0 &&
        PyObject_SetAttrString(exception, "problems", problems) == 0) {
        PyErr_SetObject(type, exception);
    }
    Py_XDECREF(exception);
    Py_XDECREF(text);
    Py_XDECREF(where);
    Py_XDECREF(problems);
    return NULL;
}

PyObject *ext_raise_usage(const char *fmt, ...)
{
    va_list ap;
    va_start(ap, fmt);
    PyObject *text = PyUnicode_FromFormatV(fmt, ap);
    va_end(ap);
    if (text) {
        PyErr_SetObject(errors[DLS_EUSAGE], text);
        Py_DECREF(text);
    }
    return NULL;
}

PyObject *ext_ended(const char *what)
{
    return ext_raise_usage("%s can be used only during the call that it was given to", what);
}

void ext_dealloc(PyObject *object)
{
    PyTypeObject *type = Py_TYPE(object);
    PyObject_Free(object);
    Py_DECREF(type);
}

/* Raise an exception of a class in another thread, at its next instruction in Python; None: what is
 * still to be raised there is not any more. */
static PyObject *interrupt(PyObject *module, PyObject *args)
{
    unsigned long thread;
    PyObject *what;
    if (!PyArg_ParseTuple(args, "kO", &thread, &what)) {
        return NULL;
    }
    return PyLong_FromLong(PyThreadState_SetAsyncExc(thread, what == Py_None ? NULL : what));
}

static PyObject *program(PyObject *module, PyObject *args)
{
    const Py_ssize_t n = PySequence_Size(args);
    char **argv = n > 0 ? calloc((size_t)n + 1, sizeof *argv) : NULL;
    int code = 1;
    for (Py_ssize_t i = 0; argv && i < n; i++) {
        PyObject *word = PySequence_GetItem(args, i), *bytes = NULL;
        if (word && PyUnicode_FSConverter(word, &bytes)) {
            argv[i] = strdup(PyBytes_AsString(bytes));
        }
        Py_XDECREF(bytes);
        Py_XDECREF(word);
    }
    if (argv && !PyErr_Occurred()) {
        pthread_atfork(NULL, NULL, PyOS_AfterFork_Child); /* workers call Python, too */
        code = dls_main((int)n, argv);
    }
    free(argv); /* the words are the process's until it ends, as argv is */
    return PyErr_Occurred() ? NULL : PyLong_FromLong(code);
}

static PyObject *version(PyObject *module, PyObject *unused)
{
    return PyUnicode_FromString(dls_version());
}

static int add_errors(PyObject *module)
{
    errors[0] = PyErr_NewExceptionWithDoc("dlsim.Error", "What the library reports.", NULL, NULL);
    int failed = !errors[0] || PyModule_AddObjectRef(module, "Error", errors[0]) < 0;
    for (size_t i = 0; i < sizeof classes / sizeof *classes && !failed; i++) {
        char name[64];
        snprintf(name, sizeof name, "dlsim.%s", classes[i].name);
        PyObject *type = PyErr_NewExceptionWithDoc(name, classes[i].doc, errors[0], NULL);
        errors[classes[i].status] = type;
        failed = !type || PyModule_AddObjectRef(module, classes[i].name, type) < 0;
    }
    return failed ? -1 : 0;
}

PyMODINIT_FUNC PyInit__dlsim(void); /* found by its name */
PyMODINIT_FUNC PyInit__dlsim(void)
{
    static PyMethodDef functions[] = {
        {"plugin", ext_plugin, METH_O, "Make these policies those of this module as a plug-in."},
        {"interrupt", interrupt, METH_VARARGS, NULL},
        {"program", program, METH_O, "dlsim with these arguments; its exit status."},
        {"stream", ext_stream, METH_O, "An Arrow stream of columns."},
        {"version", version, METH_NOARGS, NULL},
        {NULL, NULL, 0, NULL}};
    static PyModuleDef definition = {PyModuleDef_HEAD_INIT, .m_name = "_dlsim", .m_size = -1,
                                     .m_methods = functions};
    PyObject *module = PyModule_Create(&definition);
    if (module &&
        (add_errors(module) < 0 || ext_column_types(module) < 0 || ext_trace_types(module) < 0 ||
         ext_simulation_types(module) < 0 || ext_table_types(module) < 0 ||
         ext_policy_types(module) < 0 || ext_job_types(module) < 0 || ext_look_types(module) < 0 ||
         ext_act_types(module) < 0 || ext_env_types(module) < 0)) {
        Py_CLEAR(module);
    }
    return module;
}
