/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Set-ups and simulations.
 */
#include "ext.h"

#include <dlfcn.h>
#include <structmember.h>

PyTypeObject *ext_simulation_type;
static PyTypeObject *setup_type;

typedef struct setup {
    PyObject_HEAD dls_setup *setup;
    PyObject *policies; /* borrowed from by the set-up */
} setup;

/* ---- set-ups --------------------------------------------------------------------------------- */

/* [(key, value)] over it. */
static int set_all(dls_setup *s, PyObject *pairs, dls_error *err)
{
    const Py_ssize_t n = pairs ? PySequence_Size(pairs) : 0;
    for (Py_ssize_t i = 0; i < n; i++) {
        PyObject *pair = PySequence_GetItem(pairs, i),
                 *tuple = pair ? PySequence_Tuple(pair) : NULL;
        const char *key, *value;
        const int failed = !tuple || !PyArg_ParseTuple(tuple, "ss", &key, &value) ||
                           dls_setup_set(s, key, value, err) != DLS_OK;
        Py_XDECREF(pair);
        Py_XDECREF(tuple);
        if (failed) {
            return -1;
        }
    }
    return n < 0 ? -1 : 0;
}

static int load_all(dls_setup *s, PyObject *paths, dls_error *err)
{
    const Py_ssize_t n = paths ? PySequence_Size(paths) : 0;
    Dl_info library;
    /* Plug-ins look for the library's functions in what is open to all; modules of Python are not.
     */
    if (n > 0 && dladdr((const void *)(uintptr_t)dls_version, &library) != 0) {
        dlopen(library.dli_fname, RTLD_LAZY | RTLD_NOLOAD | RTLD_GLOBAL);
    }
    for (Py_ssize_t i = 0; i < n; i++) {
        PyObject *path = PySequence_GetItem(paths, i), *bytes = NULL;
        const int failed = !path || !PyUnicode_FSConverter(path, &bytes) ||
                           dls_setup_plugin(s, PyBytes_AsString(bytes), err) != DLS_OK;
        Py_XDECREF(path);
        Py_XDECREF(bytes);
        if (failed) {
            return -1;
        }
    }
    return n < 0 ? -1 : 0;
}

static int add_policies(setup *self, dls_error *err)
{
    for (Py_ssize_t i = 0; i < PySequence_Size(self->policies); i++) {
        PyObject *policy = PySequence_GetItem(self->policies, i);
        Py_XDECREF(policy); /* the list has it */
        if (!policy || Py_TYPE(policy) != ext_policy_type) {
            PyErr_SetString(PyExc_TypeError, "a Policy is wanted");
            return -1;
        }
        const dls_sched_ops *sched = ext_policy_sched(policy);
        const dls_placement_ops *place = ext_policy_placement(policy);
        if ((sched && dls_setup_sched(self->setup, sched, err) != DLS_OK) ||
            (place && dls_setup_placement(self->setup, place, err) != DLS_OK)) {
            return -1;
        }
    }
    return 0;
}

static PyObject *setup_new(PyTypeObject *type, PyObject *args, PyObject *kwargs)
{
    static char *words[] = {"file", "text", "set", "plugins", "policies", "outside", NULL};
    const char *file = NULL, *text = NULL;
    PyObject *pairs = NULL, *plugins = NULL, *policies = NULL;
    int outside = 0;
    if (!PyArg_ParseTupleAndKeywords(args, kwargs, "|zzOOOp", words, &file, &text, &pairs, &plugins,
                                     &policies, &outside)) {
        return NULL;
    }
    setup *self = (setup *)PyType_GenericAlloc(type, 0);
    dls_error err = {0};
    if (!self) {
        return NULL;
    }
    self->policies = policies ? PySequence_List(policies) : PyList_New(0);
    if (!self->policies || dls_setup_create(&self->setup, &err) != DLS_OK ||
        (file && dls_setup_file(self->setup, file, &err) != DLS_OK) ||
        (text && dls_setup_text(self->setup, text, &err) != DLS_OK) ||
        load_all(self->setup, plugins, &err) < 0 || set_all(self->setup, pairs, &err) < 0 ||
        (outside && dls_setup_outside(self->setup, &err) != DLS_OK) ||
        add_policies(self, &err) < 0) {
        ext_raise(&err, self->setup);
        Py_CLEAR(self);
    }
    return (PyObject *)self;
}

static int setup_traverse(PyObject *object, visitproc visit, void *arg)
{
    Py_VISIT(Py_TYPE(object));
    Py_VISIT(((setup *)object)->policies);
    return 0;
}

static void setup_dealloc(PyObject *object)
{
    setup *self = (setup *)object;
    PyTypeObject *type = Py_TYPE(object);
    PyObject_GC_UnTrack(object);
    dls_setup_destroy(self->setup);
    Py_XDECREF(self->policies);
    PyObject_GC_Del(object);
    Py_DECREF(type);
}

dls_setup *ext_setup_of(PyObject *self)
{
    if (Py_TYPE(self) != setup_type) {
        PyErr_SetString(PyExc_TypeError, "a Setup is wanted");
        return NULL;
    }
    return ((setup *)self)->setup;
}

PyObject *ext_setup_policies(PyObject *self)
{
    return ((setup *)self)->policies;
}

static PyObject *setup_trace(PyObject *object, PyObject *args)
{
    setup *self = (setup *)object;
    const char *name = NULL, *text = NULL;
    Py_ssize_t len = 0;
    if (!PyArg_ParseTuple(args, "|sy#", &name, &text, &len)) {
        return NULL;
    }
    dls_error err = {0};
    ext_trace *trace = (ext_trace *)PyType_GenericAlloc(ext_trace_type, 0);
    if (trace && (text ? dls_setup_trace_of_text(self->setup, name, text, (size_t)len, &trace->trace, &err)
                       : dls_setup_trace(self->setup, &trace->trace, &err)) != DLS_OK) {
        Py_CLEAR(trace);
        return ext_raise(&err, self->setup);
    }
    return (PyObject *)trace;
}

/* ---- simulations ----------------------------------------------------------------------------- */

/* What the last decision showed is no longer looked at. */
static void end_views(ext_simulation *self)
{
    if (self->view) {
        ext_view_end(self->view);
        Py_CLEAR(self->view);
    }
    if (self->act) {
        ext_actions_end(self->act);
        Py_CLEAR(self->act);
    }
}

/* What one call of the library needs: nobody else in the simulation, and the lock given up unless
 * there are policies in Python. */
static bool enter(ext_simulation *self)
{
    if (self->busy) {
        ext_raise_usage("the simulation is in use: by another thread, or it has called this code");
        return false;
    }
    if (!self->sim) {
        ext_raise_usage("the simulation has been closed");
        return false;
    }
    self->busy = true;
    end_views(self);
    if (!self->context[0] && !self->context[1]) {
        self->released = PyEval_SaveThread();
    }
    return true;
}

/* Returns false with an exception set if there was one, or if the status is an error. */
static bool leave(ext_simulation *self, dls_status status, const dls_error *err)
{
    if (self->released) {
        PyEval_RestoreThread(self->released);
        self->released = NULL;
    }
    self->busy = false;
    if (self->raised[0]) {
        PyErr_Restore(self->raised[0], self->raised[1], self->raised[2]);
        self->raised[0] = self->raised[1] = self->raised[2] = NULL;
        return false;
    }
    if (status != DLS_OK) {
        ext_raise(err, NULL);
        return false;
    }
    return true;
}

void ext_keep_raised(ext_simulation *sim)
{
    if (sim->raised[0]) {
        PyErr_Clear(); /* the first counts */
    } else {
        PyErr_Fetch(&sim->raised[0], &sim->raised[1], &sim->raised[2]);
    }
}

static bool watch(void *user, int64_t now_us, size_t done, size_t n_jobs)
{
    ext_simulation *self = user;
    if (self->released) {
        PyEval_RestoreThread(self->released);
    }
    bool failed = self->raised[0] || PyErr_CheckSignals() < 0;
    if (!failed && self->progress && self->progress != Py_None) {
        PyObject *said = PyObject_CallFunction(self->progress, "dnn", (double)now_us / 1e6,
                                               (Py_ssize_t)done, (Py_ssize_t)n_jobs);
        failed = !said;
        Py_XDECREF(said);
    }
    if (failed && PyErr_Occurred()) {
        ext_keep_raised(self);
    }
    if (self->released) {
        self->released = PyEval_SaveThread();
    }
    return !failed;
}

static ext_simulation *simulation_of(PyObject *of_setup, PyObject *trace)
{
    ext_simulation *self = (ext_simulation *)PyType_GenericAlloc(ext_simulation_type, 0);
    if (self) {
        self->setup = Py_NewRef(of_setup);
        self->trace = Py_NewRef(trace);
    }
    return self;
}

static PyObject *simulation_new(PyTypeObject *type, PyObject *args, PyObject *kwargs)
{
    static char *words[] = {"setup", "trace", NULL};
    PyObject *of_setup, *trace;
    if (!PyArg_ParseTupleAndKeywords(args, kwargs, "O!O!", words, setup_type, &of_setup,
                                     ext_trace_type, &trace)) {
        return NULL;
    }
    ext_simulation *self = simulation_of(of_setup, trace), *before = ext_making(self);
    dls_error err = {0};
    dls_status status = DLS_ENOMEM;
    if (self) {
        self->busy = true;
        status = dls_simulation_create(((setup *)of_setup)->setup, ((ext_trace *)trace)->trace,
                                       &self->sim, &err);
        self->busy = false;
    }
    ext_making(before);
    if (self && self->raised[0]) {
        leave(self, status, &err);
    } else if (self && status != DLS_OK) {
        ext_raise(&err, ((setup *)of_setup)->setup);
    }
    if (PyErr_Occurred()) {
        Py_XDECREF((PyObject *)self);
        return NULL;
    }
    dls_simulation_watch(self->sim, watch, self);
    return (PyObject *)self;
}

static PyObject *simulation_clone(PyObject *object, PyObject *unused)
{
    ext_simulation *self = (ext_simulation *)object;
    dls_error err = {0};
    if (self->busy || !self->sim) {
        return ext_raise_usage("the simulation is in use, or closed");
    }
    ext_simulation *copy = simulation_of(self->setup, self->trace), *before = ext_making(copy);
    const dls_status status = copy ? dls_simulation_clone(self->sim, &copy->sim, &err) : DLS_ENOMEM;
    ext_making(before);
    if (copy && !leave(copy, status, &err)) {
        Py_CLEAR(copy);
    }
    if (copy) {
        dls_simulation_watch(copy->sim, watch, copy);
    }
    return (PyObject *)copy;
}

static int simulation_traverse(PyObject *object, visitproc visit, void *arg)
{
    ext_simulation *self = (ext_simulation *)object;
    int stop = 0;
    Py_VISIT(Py_TYPE(object));
    Py_VISIT(self->setup);
    Py_VISIT(self->progress);
    Py_VISIT(self->raised[1]);
    Py_VISIT(self->raised[2]);
    for (int k = 0; k < 2 && !stop; k++) {
        ext_context_visit(self->context[k], visit, arg, &stop);
    }
    return stop;
}

static int simulation_clear(PyObject *object)
{
    ext_simulation *self = (ext_simulation *)object;
    Py_CLEAR(self->progress);
    for (int k = 0; k < 3; k++) {
        Py_CLEAR(self->raised[k]);
    }
    for (int k = 0; k < 2; k++) {
        ext_context_clear(self->context[k]);
    }
    return 0;
}

static void simulation_dealloc(PyObject *object)
{
    ext_simulation *self = (ext_simulation *)object;
    PyTypeObject *type = Py_TYPE(object);
    PyObject_GC_UnTrack(object);
    end_views(self);
    dls_simulation_destroy(self->sim);
    self->sim = NULL;
    simulation_clear(object);
    Py_XDECREF(self->setup);
    Py_XDECREF(self->trace);
    PyObject_GC_Del(object);
    Py_DECREF(type);
}

/* ---- going on -------------------------------------------------------------------------------- */

static PyObject *simulation_run(PyObject *object, PyObject *args)
{
    ext_simulation *self = (ext_simulation *)object;
    long long until_us = DLS_NEVER;
    dls_error err = {0};
    if (!PyArg_ParseTuple(args, "|L", &until_us) || !enter(self)) {
        return NULL;
    }
    const dls_status status = dls_simulation_run_until(self->sim, until_us, &err);
    if (!leave(self, status, &err)) {
        return NULL;
    }
    Py_RETURN_NONE;
}

static PyObject *simulation_step(PyObject *object, PyObject *args)
{
    ext_simulation *self = (ext_simulation *)object;
    long long until_us = DLS_NEVER;
    dls_actions *act = NULL;
    dls_error err = {0};
    if (!PyArg_ParseTuple(args, "|L", &until_us) || !enter(self)) {
        return NULL;
    }
    const dls_status status = dls_simulation_step(self->sim, until_us, &act, &err);
    return leave(self, status, &err) ? PyBool_FromLong(act != NULL) : NULL;
}

static PyObject *simulation_finish(PyObject *object, PyObject *unused)
{
    ext_simulation *self = (ext_simulation *)object;
    dls_error err = {0};
    if (!enter(self)) {
        return NULL;
    }
    const dls_status status = dls_simulation_finish(self->sim, &err);
    if (!leave(self, status, &err)) {
        return NULL;
    }
    Py_RETURN_NONE;
}

static PyObject *simulation_write(PyObject *object, PyObject *args)
{
    ext_simulation *self = (ext_simulation *)object;
    PyObject *path = NULL;
    const char *command = NULL;
    dls_error err = {0};
    if (!PyArg_ParseTuple(args, "O&|z", PyUnicode_FSConverter, &path, &command)) {
        return NULL;
    }
    if (!enter(self)) {
        Py_DECREF(path);
        return NULL;
    }
    const dls_status status =
        dls_simulation_write(self->sim, PyBytes_AsString(path), command, &err);
    const bool done = leave(self, status, &err);
    Py_DECREF(path);
    if (!done) {
        return NULL;
    }
    Py_RETURN_NONE;
}

static PyObject *simulation_counts(PyObject *object, PyObject *unused)
{
    const ext_simulation *self = (ext_simulation *)object;
    const dls_counts c = dls_simulation_counts(self->sim);
    return Py_BuildValue("{s:n,s:n,s:n,s:n,s:n,s:n,s:n,s:K,s:K,s:O}", "jobs", (Py_ssize_t)c.jobs,
                         "submitted", (Py_ssize_t)c.submitted, "waiting", (Py_ssize_t)c.waiting,
                         "running", (Py_ssize_t)c.running, "finished", (Py_ssize_t)c.finished,
                         "declined", (Py_ssize_t)c.declined, "infeasible", (Py_ssize_t)c.infeasible,
                         "events", (unsigned long long)c.events, "passes",
                         (unsigned long long)c.passes, "complete", c.complete ? Py_True : Py_False);
}

static int add_text(PyObject *list, PyObject *text)
{
    const int failed = !text || PyList_Append(list, text) < 0;
    Py_XDECREF(text);
    return failed ? -1 : 0;
}

/* As dlsim run says it (sim/cli/cmd_run.c). */
static int add_warnings(const ext_simulation *self, PyObject *list)
{
    const dls_simulation *sim = self->sim;
    const dls_trace *trace = ((const ext_trace *)self->trace)->trace;
    const dls_counts n = dls_simulation_counts(sim);
    const dls_view *view = dls_simulation_view(sim);
    const int32_t waits = n.complete && n.waiting > 0 ? dls_view_first_waiting(view) : -1;
    const char *why = dls_simulation_warning(sim);
    size_t jobs, first;
    int failed = why ? add_text(list, PyUnicode_FromString(why)) : 0;
    for (size_t i = 0; !failed && (why = dls_simulation_infeasible(sim, i, &jobs, &first)); i++) {
        PyObject *text = PyUnicode_FromFormat("%zu of %zu jobs can never run on this cluster and are left out: %s; "
                                              "the first is %s of %d GPUs",
                                              jobs, n.jobs, why, dls_trace_id(trace, first),
                                              (int)dls_trace_cols(trace)->gpus[first]);
        failed = add_text(list, text);
    }
    if (!failed && waits >= 0) {
        PyObject *text = PyUnicode_FromFormat("%zu of %zu jobs still wait when nothing is left to happen; the first is "
                                              "%s of %d GPUs, with %lld of %lld free",
                                              n.waiting, n.jobs, dls_trace_id(trace, (size_t)waits),
                                              (int)view->gpus[waits], (long long)view->free_gpus,
                                              (long long)view->total_gpus);
        failed = add_text(list, text);
    }
    return failed;
}

static PyObject *simulation_warnings(PyObject *self, PyObject *unused)
{
    PyObject *list = PyList_New(0);
    if (list && add_warnings((const ext_simulation *)self, list) < 0) {
        Py_CLEAR(list);
    }
    return list;
}

static PyObject *get_digest(PyObject *self, void *unused)
{
    return PyLong_FromUnsignedLongLong(dls_simulation_digest(((ext_simulation *)self)->sim));
}

static PyObject *get_finished(PyObject *self, void *unused)
{
    return PyBool_FromLong(dls_simulation_is_finished(((ext_simulation *)self)->sim));
}

static PyObject *get_now(PyObject *self, void *unused)
{
    return PyFloat_FromDouble((double)dls_simulation_view(((ext_simulation *)self)->sim)->now_us /
                              1e6);
}

static PyObject *get_view(PyObject *object, void *unused)
{
    ext_simulation *self = (ext_simulation *)object;
    if (self->busy) {
        return ext_raise_usage("the simulation is in use");
    }
    if (!self->view) {
        self->view = ext_view(self, dls_simulation_view(self->sim));
    }
    return Py_XNewRef(self->view);
}

static PyObject *get_act(PyObject *object, void *unused)
{
    ext_simulation *self = (ext_simulation *)object;
    dls_actions *act = self->busy ? NULL : dls_simulation_actions(self->sim);
    if (!act) {
        return ext_raise_usage("the simulation stands at no decision");
    }
    if (!self->act) {
        self->act = ext_actions(act);
    }
    return Py_XNewRef(self->act);
}

static PyObject *get_calls(PyObject *self, void *unused)
{
    return PyLong_FromUnsignedLongLong(((ext_simulation *)self)->calls);
}

/* ---- types ----------------------------------------------------------------------------------- */

static PyMethodDef simulation_methods[] = {
    {"run", simulation_run, METH_VARARGS,
     "run(until_us): to the end, or up to and including a time."},
    {"step", simulation_step, METH_VARARGS,
     "step(until_us) -> bool: to the next decision, if there is one."},
    {"finish", simulation_finish, METH_NOARGS,
     "Close the accounts now; results are marked incomplete."},
    {"clone", simulation_clone, METH_NOARGS, "Another simulation in the same state."},
    {"write", simulation_write, METH_VARARGS, "write(path, command=None): the results file."},
    {"table", ext_table, METH_VARARGS, "Columns of a table by its number."},
    {"numbers", ext_numbers, METH_NOARGS, "{name: (value, unit, description)} of the summary."},
    {"counts", simulation_counts, METH_NOARGS, "How many jobs are in which state, as a dict."},
    {"warnings", simulation_warnings, METH_NOARGS,
     "What a user may have overlooked, a list of texts: jobs that can never run, or still wait at the end, and why."},
    {NULL, NULL, 0, NULL}};
static PyMemberDef simulation_members[] = {
    {"progress", T_OBJECT, offsetof(ext_simulation, progress), 0,
     "called (now_s, done, jobs) now and then"},
    {"trace", T_OBJECT_EX, offsetof(ext_simulation, trace), READONLY, "its jobs"},
    {NULL, 0, 0, 0, NULL}};
static PyGetSetDef simulation_more[] = {
    {"digest", get_digest, NULL, "of the jobs; 0 unless finished", NULL},
    {"finished", get_finished, NULL, "whether results can be had", NULL},
    {"now", get_now, NULL, "simulated time, s", NULL},
    {"view", get_view, NULL, "what a policy would see now, until it goes on", NULL},
    {"act", get_act, NULL, "the actions of the decision at which it stands", NULL},
    {"calls", get_calls, NULL, "calls of Python begun and ended", NULL},
    {NULL, NULL, NULL, NULL, NULL}};

static PyTypeObject *add(PyObject *module, const char *name, PyType_Spec *spec)
{
    PyObject *type = PyType_FromSpec(spec);
    return type && PyModule_AddObjectRef(module, name, type) == 0 ? (PyTypeObject *)type : NULL;
}

int ext_simulation_types(PyObject *module)
{
    static PyMethodDef setup_methods[] = {
        {"trace", setup_trace, METH_VARARGS,
         "The trace that it names, or that of a name and a text."},
        {NULL, NULL, 0, NULL}};
    static PyType_Slot setup_slots[] = {{Py_tp_new, setup_new},
                                        {Py_tp_dealloc, setup_dealloc},
                                        {Py_tp_traverse, setup_traverse},
                                        {Py_tp_methods, setup_methods},
                                        {Py_tp_doc, "Cluster and policies."},
                                        {0, NULL}};
    static PyType_Slot slots[] = {{Py_tp_new, simulation_new},
                                  {Py_tp_dealloc, simulation_dealloc},
                                  {Py_tp_traverse, simulation_traverse},
                                  {Py_tp_clear, simulation_clear},
                                  {Py_tp_methods, simulation_methods},
                                  {Py_tp_members, simulation_members},
                                  {Py_tp_getset, simulation_more},
                                  {Py_tp_doc, "Simulation(setup, trace)"},
                                  {0, NULL}};
    static PyType_Spec specs[] = {{"dlsim._dlsim.Setup", sizeof(setup), 0,
                                   Py_TPFLAGS_DEFAULT | Py_TPFLAGS_HAVE_GC, setup_slots},
                                  {"dlsim._dlsim.Simulation", sizeof(ext_simulation), 0,
                                   Py_TPFLAGS_DEFAULT | Py_TPFLAGS_HAVE_GC, slots}};
    setup_type = add(module, "Setup", &specs[0]);
    ext_simulation_type = add(module, "Simulation", &specs[1]);
    return setup_type && ext_simulation_type ? 0 : -1;
}
