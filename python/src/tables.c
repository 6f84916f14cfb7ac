/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Tables, names and numbers of simulations, and runs of results files, which have the same.
 */
#include "ext.h"

#include <string.h>

typedef struct saved {
    PyObject_HEAD dls_saved *run;
} saved;

/* Where a table comes from. */
typedef struct origin {
    PyObject *owner;
    const void *of;
    bool (*column)(const void *of, dls_table table, size_t i, dls_result_column *out);
    ext_text_fn name, id;
    bool moves; /* the columns may be elsewhere later: they are copied */
} origin;

static const char *sim_name(const void *of, const char *column, size_t code)
{
    return dls_simulation_name(((const ext_simulation *)of)->sim, column, (uint32_t)code);
}

static const char *sim_id(const void *of, const char *unused, size_t job)
{
    return dls_trace_id(((const ext_trace *)((const ext_simulation *)of)->trace)->trace, job);
}

static bool sim_column(const void *of, dls_table table, size_t i, dls_result_column *out)
{
    return dls_simulation_column_at(((const ext_simulation *)of)->sim, table, i, out);
}

static const char *saved_name(const void *of, const char *column, size_t code)
{
    return dls_saved_name(((const saved *)of)->run, column, (uint32_t)code);
}

static const char *saved_id(const void *of, const char *unused, size_t job)
{
    return dls_saved_id(((const saved *)of)->run, job);
}

static bool saved_column(const void *of, dls_table table, size_t i, dls_result_column *out)
{
    return dls_saved_column_at(((const saved *)of)->run, table, i, out);
}

static int append(PyObject *list, PyObject *item)
{
    const int failed = !item || PyList_Append(list, item) < 0;
    Py_XDECREF(item);
    return failed ? -1 : 0;
}

/* ---- jobs of a live simulation ----------------------------------------------------------------- */

/* What a column of times has not got yet: the library brings it up to date when a job's state changes. */
static int64_t since(const dls_view *v, int32_t job, const char *column, bool waits, int64_t executed_us)
{
    const int64_t passed_us = v->now_us - v->since_us[job];
    if (waits) {
        return strcmp(column, "pending_us") == 0 ? passed_us : 0;
    }
    const int64_t ran_us = dls_view_executed_us(v, job) - executed_us;
    const bool guest = dls_view_host(v, job) >= 0;
    const int64_t gpus = v->held_gpus ? v->held_gpus[job] : v->gpus[job], part = dls_view_part(v, job);
    const int64_t gpus_milli = part < 1000 ? part : 1000 * gpus;
    return strcmp(column, "executed_us") == 0      ? ran_us
           : strcmp(column, "overhead_us") == 0    ? passed_us - ran_us
           : strcmp(column, "guest_us") == 0       ? (guest ? passed_us : 0)
           : strcmp(column, "gpu_us") == 0         ? (guest ? 0 : passed_us * gpus_milli / 1000)
           : strcmp(column, "gpu_restore_us") == 0 ? (guest ? 0 : (passed_us - ran_us) * gpus_milli / 1000)
                                                   : 0;
}

/* As of now, what is as of the last change of a job's state. */
static void bring_up(const ext_simulation *sim, const char *column, int64_t *data, size_t n)
{
    static const char *const late[] = {"pending_us", "executed_us", "overhead_us", "guest_us", "gpu_us", "gpu_restore_us"};
    const dls_view *v = dls_simulation_view(sim->sim);
    dls_result_column state, executed;
    size_t i = 0;
    while (i < sizeof late / sizeof *late && strcmp(late[i], column) != 0) {
        i++;
    }
    if (i == sizeof late / sizeof *late || !dls_simulation_column(sim->sim, DLS_TABLE_JOBS, "state", &state) ||
        !dls_simulation_column(sim->sim, DLS_TABLE_JOBS, "executed_us", &executed)) {
        return;
    }
    for (size_t j = 0; j < n; j++) {
        const char *is = sim_name(sim, "state", ((const uint8_t *)state.data)[j]);
        const bool waits = is && strcmp(is, "pending") == 0;
        if (waits || v->running[j]) {
            data[j] += since(v, (int32_t)j, column, waits, ((const int64_t *)executed.data)[j]);
        }
    }
}

/* Codes are told from numbers by their having names. */
static int append_column(PyObject *list, const origin *o, dls_table table,
                         const dls_result_column *c)
{
    ext_texts *names = NULL;
    if (table == DLS_TABLE_JOBS && (c->type == DLS_VALUE_I32 || c->type == DLS_VALUE_U8)) {
        names = ext_texts_create(o->name, o->of, c->name, SIZE_MAX);
        const bool are_codes = c->type == DLS_VALUE_U8 || strcmp(c->name, "model") == 0 ||
                               strcmp(c->name, "vc") == 0 || strcmp(c->name, "user") == 0 ||
                               strcmp(c->name, "class") == 0 || strcmp(c->name, "gpu_types") == 0;
        if (!names) {
            return -1;
        }
        if (!are_codes) {
            ext_texts_release(names);
            names = NULL;
        }
    }
    if (!o->moves) {
        return append(list, ext_column(o->owner, c, names));
    }
    dls_result_column copy = *c;
    void *data = PyMem_Malloc(c->n * 8 + 8);
    if (!data) {
        ext_texts_release(names);
        PyErr_NoMemory();
        return -1;
    }
    memcpy(data, c->data, c->n * ext_width(c->type));
    if (table == DLS_TABLE_JOBS && c->type == DLS_VALUE_I64) {
        bring_up(o->of, c->name, data, c->n);
    }
    copy.data = data;
    return append(list, ext_column(NULL, &copy, names));
}

/* A list of columns. */
static PyObject *table_of(const origin *o, PyObject *args)
{
    int which;
    if (!PyArg_ParseTuple(args, "i", &which)) {
        return NULL;
    }
    if (which < 0 || which >= DLS_TABLE_COUNT) {
        return ext_raise_usage("there is no table %d", which);
    }
    const dls_table table = (dls_table)which;
    PyObject *list = PyList_New(0);
    dls_result_column c;
    if (list && table == DLS_TABLE_JOBS && o->column(o->of, table, 0, &c)) {
        ext_texts *ids = ext_texts_create(o->id, o->of, "id", c.n);
        if (!ids || append(list, ext_text_column("id", "the job's name in the trace", ids)) < 0) {
            Py_CLEAR(list);
        }
    }
    for (size_t i = 0; list && o->column(o->of, table, i, &c); i++) {
        if (append_column(list, o, table, &c) < 0) {
            Py_CLEAR(list);
        }
    }
    return list;
}

PyObject *ext_table(PyObject *self, PyObject *args)
{
    const ext_simulation *sim = (const ext_simulation *)self;
    if (sim->busy) {
        return ext_raise_usage("the simulation is in use");
    }
    const origin o = {self,     self,   sim_column,
                      sim_name, sim_id, !dls_simulation_is_finished(sim->sim)};
    return table_of(&o, args);
}

static PyObject *saved_table(PyObject *self, PyObject *args)
{
    const origin o = {self, self, saved_column, saved_name, saved_id, false};
    return table_of(&o, args);
}

/* ---- numbers --------------------------------------------------------------------------------- */

static int put_number(PyObject *dict, const dls_result_number *n)
{
    PyObject *value = Py_BuildValue("(dss)", n->value, n->unit, n->description);
    const int failed = !value || PyDict_SetItemString(dict, n->name, value) < 0;
    Py_XDECREF(value);
    return failed ? -1 : 0;
}

PyObject *ext_numbers(PyObject *self, PyObject *unused)
{
    dls_result_number number;
    PyObject *dict = PyDict_New();
    for (size_t i = 0; dict && dls_simulation_number_at(((ext_simulation *)self)->sim, i, &number);
         i++) {
        if (put_number(dict, &number) < 0) {
            Py_CLEAR(dict);
        }
    }
    return dict;
}

static PyObject *saved_numbers(PyObject *self, PyObject *unused)
{
    dls_result_number number;
    PyObject *dict = PyDict_New();
    for (size_t i = 0; dict && dls_saved_number_at(((saved *)self)->run, i, &number); i++) {
        if (put_number(dict, &number) < 0) {
            Py_CLEAR(dict);
        }
    }
    return dict;
}

/* ---- files ----------------------------------------------------------------------------------- */

static PyObject *saved_new(PyTypeObject *type, PyObject *args, PyObject *kwargs)
{
    static char *words[] = {"path", "run", NULL};
    PyObject *path = NULL;
    const char *run = NULL;
    if (!PyArg_ParseTupleAndKeywords(args, kwargs, "O&|z", words, PyUnicode_FSConverter, &path,
                                     &run)) {
        return NULL;
    }
    saved *self = (saved *)PyType_GenericAlloc(type, 0);
    dls_error err = {0};
    dls_status status = DLS_ENOMEM;
    if (self) {
        const char *name = PyBytes_AsString(path);
        Py_BEGIN_ALLOW_THREADS status = dls_saved_open(name, run, &self->run, &err);
        Py_END_ALLOW_THREADS
    }
    Py_DECREF(path);
    if (status != DLS_OK) {
        Py_XDECREF((PyObject *)self);
        return ext_raise(&err, NULL);
    }
    return (PyObject *)self;
}

static void saved_dealloc(PyObject *object)
{
    PyTypeObject *type = Py_TYPE(object);
    dls_saved_close(((saved *)object)->run);
    PyObject_Free(object);
    Py_DECREF(type);
}

static PyObject *saved_text(PyObject *self, PyObject *name)
{
    PyObject *utf8 = PyUnicode_AsUTF8String(name);
    if (!utf8) {
        return NULL;
    }
    const char *text = dls_saved_text(((saved *)self)->run, PyBytes_AsString(utf8));
    Py_DECREF(utf8);
    return PyUnicode_DecodeUTF8(text, (Py_ssize_t)strlen(text), "replace");
}

static PyObject *saved_runs(PyObject *self, PyObject *unused)
{
    PyObject *list = PyList_New(0);
    const char *name;
    for (size_t i = 0; list && (name = dls_saved_run(((saved *)self)->run, i)) != NULL; i++) {
        if (append(list, PyUnicode_FromString(name)) < 0) {
            Py_CLEAR(list);
        }
    }
    return list;
}

int ext_table_types(PyObject *module)
{
    static PyMethodDef methods[] = {
        {"table", saved_table, METH_VARARGS, "Columns of a table by its number."},
        {"numbers", saved_numbers, METH_NOARGS,
         "{name: (value, unit, description)} of the summary."},
        {"text", saved_text, METH_O, "An attribute of the run as text."},
        {"runs", saved_runs, METH_NOARGS, "Names of the runs in the file."},
        {NULL, NULL, 0, NULL}};
    static PyType_Slot slots[] = {{Py_tp_new, saved_new},
                                  {Py_tp_dealloc, saved_dealloc},
                                  {Py_tp_methods, methods},
                                  {Py_tp_doc, "Saved(path, run=None): a run of a results file."},
                                  {0, NULL}};
    static PyType_Spec spec = {.name = "dlsim._dlsim.Saved",
                               .basicsize = sizeof(saved),
                               .flags = Py_TPFLAGS_DEFAULT,
                               .slots = slots};
    PyObject *type = PyType_FromSpec(&spec);
    const int failed = !type || PyModule_AddObjectRef(module, "Saved", type) < 0;
    Py_XDECREF(type);
    return failed ? -1 : 0;
}
