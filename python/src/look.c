/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * What policies in Python see: a View of all jobs, the Nodes and a Request of a placement. They
 * live for one call; kept, they raise. Arrays taken from them may be kept: they own what they show.
 */
#include "ext.h"

#include <structmember.h>

#include <math.h>
#include <stdlib.h>

static PyTypeObject *view_type, *nodes_type, *request_type;

/* ---- the view -------------------------------------------------------------------------------- */

/* Of jobs, or of nodes; view NULL: ended. */
typedef struct view {
    PyObject_HEAD PyObject *sim; /* what arrays keep; NULL in the program */
    const dls_view *view;
    const dls_place_index *index;
    bool live;
} view;

static PyObject *view_of(PyTypeObject *type, ext_simulation *sim, const dls_view *v,
                         const dls_place_index *index)
{
    view *self = PyObject_New(view, type);
    if (self) {
        self->sim = (PyObject *)sim; /* borrowed: it ends before the simulation does */
        self->view = v;
        self->index = index;
        self->live = true;
    }
    return (PyObject *)self;
}

PyObject *ext_view(ext_simulation *sim, const dls_view *v)
{
    return view_of(view_type, sim, v, dls_view_index(v));
}

PyObject *ext_nodes(ext_simulation *sim, const dls_place_index *index)
{
    return view_of(nodes_type, sim, NULL, index);
}

void ext_view_end(PyObject *object)
{
    ((view *)object)->live = false;
}

static bool is_live(const view *self)
{
    return self->live || ext_ended("a view");
}

static PyObject *int_array(const char *name, size_t n, int32_t *data)
{
    return ext_as_array(ext_own_column(name, DLS_VALUE_I32, n, data));
}

/* A walk, as an array of job numbers. */
static PyObject *walk(const view *self, const char *name, size_t n,
                      int32_t (*first)(const dls_view *),
                      int32_t (*next)(const dls_view *, int32_t))
{
    if (!is_live(self)) {
        return NULL;
    }
    int32_t *jobs = PyMem_Malloc((n + 1) * sizeof *jobs);
    size_t i = 0;
    for (int32_t j = jobs ? first(self->view) : -1; j >= 0 && i < n; j = next(self->view, j)) {
        jobs[i++] = j;
    }
    return int_array(name, i, jobs);
}

static PyObject *view_waiting(PyObject *self, void *unused)
{
    const view *v = (view *)self;
    return walk(v, "waiting", v->live ? (size_t)v->view->waiting_jobs : 0, dls_view_first_waiting,
                dls_view_next_waiting);
}

static PyObject *view_running(PyObject *self, void *unused)
{
    const view *v = (view *)self;
    return walk(v, "running", v->live ? (size_t)v->view->running_jobs : 0, dls_view_first_running,
                dls_view_next_running);
}

static int by_number(const void *a, const void *b)
{
    return (*(const int32_t *)a > *(const int32_t *)b) -
           (*(const int32_t *)a < *(const int32_t *)b);
}

/* Of two ordered walks, as running jobs are few. */
static PyObject *view_active(PyObject *self, void *unused)
{
    const view *v = (view *)self;
    if (!is_live(v)) {
        return NULL;
    }
    const dls_view *of = v->view;
    const size_t most = (size_t)of->waiting_jobs + (size_t)of->running_jobs;
    int32_t *jobs = PyMem_Malloc((2 * most + 1) * sizeof *jobs);
    if (!jobs) {
        return PyErr_NoMemory();
    }
    int32_t *running = jobs + most;
    size_t n = 0, i = 0, k = 0;
    for (int32_t j = dls_view_first_running(of); j >= 0 && n < most;
         j = dls_view_next_running(of, j)) {
        running[n++] = j;
    }
    qsort(running, n, sizeof *running, by_number);
    for (int32_t j = dls_view_first_waiting(of); j >= 0 && k < most;
         j = dls_view_next_waiting(of, j)) {
        while (i < n && running[i] < j) {
            jobs[k++] = running[i++];
        }
        jobs[k++] = j;
    }
    while (i < n) {
        jobs[k++] = running[i++];
    }
    return int_array("active", k, jobs);
}

#define COLUMNS(XX)                                                                                \
    XX(gpus, I32, 4, "gang size")                                                                  \
    XX(min_gpus, I32, 4, "least GPUs of an elastic job")                                           \
    XX(max_gpus, I32, 4, "most GPUs of an elastic job")                                            \
    XX(held_gpus, I32, 4, "GPUs held now")                                                         \
    XX(user, I32, 4, "code of the user; -1")                                                       \
    XX(vc, I32, 4, "code of the virtual cluster; -1")                                              \
    XX(model, I32, 4, "code of the model; -1")                                                     \
    XX(job_class, I32, 4, "code of the class; -1")                                                 \
    XX(batch, I64, 8, "global batch size; -1")                                                     \
    XX(priority, I64, 8, "larger is more important; -1")                                           \
    XX(deadline_us, I64, 8, "absolute, us; -1")                                                    \
    XX(limit_us, I64, 8, "the user's run time limit, us; -1")                                      \
    XX(starts, I32, 4, "times the job got GPUs")                                                   \
    XX(failures, I32, 4, "times its GPUs failed")                                                  \
    XX(submit_us, I64, 8, "submission, us")                                                        \
    XX(duration_us, I64, 8, "run time at the reference rate, us")                                  \
    XX(estimate_us, I64, 8, "estimated run time, us")                                              \
    XX(first_start_us, I64, 8, "us; -1: never")                                                    \
    XX(since_us, I64, 8, "when it got its present state, us")                                      \
    XX(progress_us, I64, 8, "from when on a running job progresses, us")

#define XX(member, kind, bytes, doc)                                                               \
    static PyObject *column_##member(PyObject *object, void *unused)                               \
    {                                                                                              \
        (void)unused;                                                                              \
        const view *self = (view *)object;                                                         \
        if (!is_live(self)) {                                                                      \
            return NULL;                                                                           \
        }                                                                                          \
        const dls_result_column c = {.name = #member,                                              \
                                     .type = DLS_VALUE_##kind,                                     \
                                     .n = (size_t)self->view->n_jobs,                              \
                                     .data = self->view->member};                                  \
        if (!c.data) {                                                                             \
            Py_RETURN_NONE;                                                                        \
        }                                                                                          \
        return ext_as_array(ext_column(self->sim ? self->sim : Py_None, &c, NULL));                \
    }
COLUMNS(XX)
#undef XX

typedef int64_t (*per_job_fn)(const dls_view *view, int32_t job);

typedef struct gather {
    const view *self;
    per_job_fn fn;
    int64_t *out;
    size_t n, cap;
} gather;

static int gather_one(void *user, int32_t index)
{
    gather *g = user;
    if (g->n == g->cap) {
        const size_t cap = 2 * g->cap + 256;
        int64_t *out = PyMem_Realloc(g->out, cap * sizeof *out);
        if (!out) {
            PyErr_NoMemory();
            return -1;
        }
        g->out = out;
        g->cap = cap;
    }
    if (!is_live(g->self)) { /* the jobs may come from Python code in which it ends */
        return -1;
    }
    if (index < 0 || index >= g->self->view->n_jobs) {
        PyErr_Format(PyExc_IndexError, "there is no job %d", index);
        return -1;
    }
    g->out[g->n++] = g->fn(g->self->view, index);
    return 0;
}

static PyObject *per_job(PyObject *object, PyObject *jobs, const char *name, per_job_fn fn)
{
    const view *self = (view *)object;
    if (!is_live(self)) {
        return NULL;
    }
    gather g = {.self = self, .fn = fn, .out = PyMem_Malloc(256 * 8), .cap = 256};
    if (!g.out || ext_each(jobs, gather_one, &g) < 0) {
        PyMem_Free(g.out);
        return NULL;
    }
    return ext_as_array(ext_own_column(name, DLS_VALUE_I64, g.n, g.out));
}

static PyObject *view_remaining(PyObject *self, PyObject *jobs)
{
    return per_job(self, jobs, "remaining_us", dls_view_remaining_us);
}

static PyObject *view_executed(PyObject *self, PyObject *jobs)
{
    return per_job(self, jobs, "executed_us", dls_view_executed_us);
}

static int64_t attained_us(const dls_view *v, int32_t index)
{
    return dls_view_service_us(v, index, -1);
}

static PyObject *view_attained(PyObject *self, PyObject *jobs)
{
    return per_job(self, jobs, "attained_us", attained_us);
}

static PyObject *view_number(PyObject *object, void *closure)
{
    const view *self = (view *)object;
    if (!is_live(self)) {
        return NULL;
    }
    const dls_view *v = self->view;
    switch ((intptr_t)closure) {
    case 0:
        return PyFloat_FromDouble((double)v->now_us / 1e6);
    case 1:
        return PyLong_FromLongLong(v->now_us);
    case 2:
        return PyLong_FromLong(v->n_jobs);
    case 3:
        return PyLong_FromLongLong(v->free_gpus);
    case 4:
        return PyLong_FromLongLong(v->total_gpus);
    case 5:
        return PyLong_FromLong(v->n_types);
    default:
        return PyLong_FromUnsignedLongLong(v->seed);
    }
}

/* The number of a job; -1 with an exception. */
static int32_t job_of(const view *self, PyObject *number)
{
    const long index = PyLong_AsLong(number);
    if (PyErr_Occurred() || !is_live(self)) {
        return -1;
    }
    if (index < 0 || index >= self->view->n_jobs) {
        PyErr_Format(PyExc_IndexError, "there is no job %ld", index);
        return -1;
    }
    return (int32_t)index;
}

static PyObject *view_job(PyObject *object, PyObject *which)
{
    const view *self = (view *)object;
    const int32_t index = job_of(self, which);
    PyObject *dict = index < 0 ? NULL : PyDict_New();
    for (int i = 0; dict && ext_job_fields[i]; i++) {
        const double number = ext_job_number(self->view, index, i);
        PyObject *value = isnan(number) ? Py_NewRef(Py_None) : PyFloat_FromDouble(number);
        if (!value || PyDict_SetItemString(dict, ext_job_fields[i], value) < 0) {
            Py_CLEAR(dict);
        }
        Py_XDECREF(value);
    }
    return dict;
}

static PyObject *view_free(PyObject *object, PyObject *number)
{
    const view *self = (view *)object;
    const long type = PyLong_AsLong(number);
    if (PyErr_Occurred() || !is_live(self)) {
        return NULL;
    }
    if (type < 0 || type >= self->view->n_types) {
        PyErr_Format(PyExc_IndexError, "there is no GPU type %ld", type);
        return NULL;
    }
    return PyLong_FromLongLong(dls_view_free_gpus(self->view, (int32_t)type));
}

static PyObject *view_room(PyObject *object, PyObject *number)
{
    const view *self = (view *)object;
    const int32_t job = job_of(self, number);
    return job < 0 ? NULL : PyLong_FromLongLong(dls_view_room(self->view, job));
}

static PyObject *view_host(PyObject *object, PyObject *number)
{
    const view *self = (view *)object;
    const int32_t job = job_of(self, number);
    return job < 0 ? NULL : PyLong_FromLong(dls_view_host(self->view, job));
}

static PyObject *view_types_of(PyObject *object, PyObject *number)
{
    const view *self = (view *)object;
    const int32_t job = job_of(self, number);
    PyObject *list = job < 0 ? NULL : PyList_New(0);
    const uint32_t types = list ? dls_view_types(self->view, job) : 0;
    for (int32_t t = 0; list && t < self->view->n_types; t++) {
        PyObject *type = types >> t & 1 ? PyLong_FromLong(t) : NULL;
        if (type && PyList_Append(list, type) < 0) {
            Py_CLEAR(list);
        }
        Py_XDECREF(type);
    }
    return list;
}

static PyObject *view_quota_gpus(PyObject *object, PyObject *args)
{
    const view *self = (view *)object;
    PyObject *number;
    int type;
    if (!PyArg_ParseTuple(args, "Oi", &number, &type)) {
        return NULL;
    }
    const int32_t job = job_of(self, number);
    if (job >= 0 && (type < 0 || type >= self->view->n_types)) {
        PyErr_Format(PyExc_IndexError, "there is no GPU type %d", type);
        return NULL;
    }
    return job < 0 ? NULL : PyLong_FromLongLong(dls_view_quota_gpus(self->view, job, type));
}

static PyObject *view_type_names(PyObject *object, void *unused)
{
    const view *self = (view *)object;
    PyObject *list = is_live(self) ? PyList_New(0) : NULL;
    for (int32_t t = 0; list && t < self->view->n_types; t++) {
        PyObject *name = PyUnicode_FromString(dls_view_type_name(self->view, t));
        if (!name || PyList_Append(list, name) < 0) {
            Py_CLEAR(list);
        }
        Py_XDECREF(name);
    }
    return list;
}

static PyObject *view_predict(PyObject *object, PyObject *args)
{
    const view *self = (view *)object;
    int index;
    dls_shape s = {.n_nodes = 1, .n_racks = 1};
    dls_prediction p;
    if (!PyArg_ParseTuple(args, "iii|ii", &index, &s.type, &s.gpus, &s.n_nodes, &s.n_racks) ||
        !is_live(self)) {
        return NULL;
    }
    if (index < 0 || index >= self->view->n_jobs || s.type < 0 || s.type >= self->view->n_types) {
        PyErr_Format(PyExc_IndexError, "there is no job %d, or no GPU type %d", index, s.type);
        return NULL;
    }
    if (!dls_view_predict(self->view, index, &s, &p)) {
        Py_RETURN_NONE;
    }
    return Py_BuildValue("{s:d,s:d,s:d,s:d}", "iteration_s", p.iteration_s, "remaining_s",
                         p.remaining_s, "mem_bytes", p.mem_bytes, "distance", p.distance);
}

/* ---- nodes ----------------------------------------------------------------------------------- */

typedef int32_t (*per_node_fn)(const dls_place_index *index, int32_t node);

static PyObject *per_node(PyObject *object, void *closure)
{
    static const struct {
        const char *name;
        per_node_fn fn;
    } what[] = {{"free", dls_place_free},
                {"gpus", dls_place_capacity},
                {"type", dls_place_type},
                {"rack", dls_place_rack}};
    const view *self = (view *)object;
    if (!is_live(self)) {
        return NULL;
    }
    const int32_t n = dls_place_nodes(self->index);
    int32_t *data = PyMem_Malloc(((size_t)n + 1) * sizeof *data);
    for (int32_t i = 0; data && i < n; i++) {
        data[i] = what[(intptr_t)closure].fn(self->index, i);
    }
    return int_array(what[(intptr_t)closure].name, (size_t)n, data);
}

static PyObject *view_nodes(PyObject *object, void *unused)
{
    const view *self = (view *)object;
    return is_live(self) ? per_node(object, (void *)0) : NULL;
}

/* ---- requests -------------------------------------------------------------------------------- */

typedef struct request {
    PyObject_HEAD int job, gpus, type, attempt;
    double now;
    const dls_request *request; /* NULL: ended */
} request;

PyObject *ext_request(const dls_request *r)
{
    request *self = PyObject_New(request, request_type);
    if (self) {
        self->job = r->job;
        self->gpus = r->gpus;
        self->type = r->type;
        self->attempt = r->attempt;
        self->now = (double)r->now_us / 1e6;
        self->request = r;
    }
    return (PyObject *)self;
}

void ext_request_end(PyObject *object)
{
    ((request *)object)->request = NULL;
}

static PyObject *request_predict(PyObject *object, PyObject *args)
{
    const request *self = (request *)object;
    dls_shape s = {.type = self->type, .gpus = self->gpus, .n_racks = 1};
    dls_prediction p;
    if (!PyArg_ParseTuple(args, "i|i", &s.n_nodes, &s.n_racks)) {
        return NULL;
    }
    if (!self->request) {
        return ext_ended("a Request");
    }
    if (!dls_place_predict(self->request, self->job, &s, &p)) {
        Py_RETURN_NONE;
    }
    return PyFloat_FromDouble(p.remaining_s);
}

/* ---- types ----------------------------------------------------------------------------------- */

static PyTypeObject *add(PyObject *module, const char *name, PyType_Spec *spec)
{
    PyObject *type = PyType_FromSpec(spec);
    return type && PyModule_AddObjectRef(module, name, type) == 0 ? (PyTypeObject *)type : NULL;
}

static int add_view(PyObject *module)
{
    static PyMethodDef methods[] = {
        {"remaining_us", view_remaining, METH_O, "Run time left of these jobs, us, an array."},
        {"executed_us", view_executed, METH_O,
         "Time run without restoring of these jobs, us, an array."},
        {"attained_us", view_attained, METH_O,
         "GPUs x time run without restoring of these jobs, GPU-us."},
        {"job", view_job, METH_O, "The numbers of one job, as a dict; times in seconds."},
        {"free", view_free, METH_O, "Free GPUs of a type."},
        {"room", view_room, METH_O,
         "GPUs of one type that a job could have now: the most of those that it may run on, within its quota."},
        {"types_of", view_types_of, METH_O, "GPU types that a job may run on, numbers."},
        {"quota_gpus", view_quota_gpus, METH_VARARGS,
         "quota_gpus(job, type): free GPUs of a type that the quota of the job's virtual cluster leaves it."},
        {"host", view_host, METH_O, "The running job whose GPUs a job has joined; -1: it has its own."},
        {"predict", view_predict, METH_VARARGS,
         "predict(job, type, gpus, nodes=1, racks=1): what the predictor says, a dict, or None."},
        {NULL, NULL, 0, NULL}};
#define XX(member, kind, bytes, doc)                                                               \
    {#member, column_##member, NULL, doc ", [jobs]; None: no job says", NULL},
    static PyGetSetDef more[] = {
        COLUMNS(XX){"waiting", view_waiting, NULL, "jobs that wait, in order of submission", NULL},
        {"running", view_running, NULL, "jobs that run, in order of their start", NULL},
        {"active", view_active, NULL, "jobs that wait or run, in order of submission", NULL},
        {"node_free", view_nodes, NULL, "free GPUs of each node", NULL},
        {"now", view_number, NULL, "simulated time, s", (void *)0},
        {"now_us", view_number, NULL, "simulated time, us", (void *)1},
        {"jobs", view_number, NULL, "jobs of the trace", (void *)2},
        {"free_gpus", view_number, NULL, "free GPUs of all types", (void *)3},
        {"total_gpus", view_number, NULL, "GPUs of all types", (void *)4},
        {"types", view_number, NULL, "GPU types", (void *)5},
        {"type_names", view_type_names, NULL, "what they are called", NULL},
        {"seed", view_number, NULL, "of the run", (void *)6},
        {NULL, NULL, NULL, NULL, NULL}};
#undef XX
    static PyType_Slot slots[] = {{Py_tp_dealloc, ext_dealloc},
                                  {Py_tp_methods, methods},
                                  {Py_tp_getset, more},
                                  {Py_tp_doc, "All jobs and GPUs, as a policy may see them: "
                                              "columns are arrays, [jobs], that show the present."},
                                  {0, NULL}};
    static PyType_Spec spec = {.name = "dlsim.View",
                               .basicsize = sizeof(view),
                               .flags = Py_TPFLAGS_DEFAULT | Py_TPFLAGS_DISALLOW_INSTANTIATION,
                               .slots = slots};
    view_type = add(module, "View", &spec);
    return view_type ? 0 : -1;
}

static int add_nodes(PyObject *module)
{
    static PyGetSetDef more[] = {{"free", per_node, NULL, "free GPUs of each node", (void *)0},
                                 {"gpus", per_node, NULL, "GPUs of each node", (void *)1},
                                 {"type", per_node, NULL, "GPU type of each node", (void *)2},
                                 {"rack", per_node, NULL, "rack of each node", (void *)3},
                                 {NULL, NULL, NULL, NULL, NULL}};
    static PyType_Slot slots[] = {
        {Py_tp_dealloc, ext_dealloc},
        {Py_tp_getset, more},
        {Py_tp_doc, "The nodes, as a placement sees them: arrays, [nodes]."},
        {0, NULL}};
    static PyType_Spec spec = {.name = "dlsim.Nodes",
                               .basicsize = sizeof(view),
                               .flags = Py_TPFLAGS_DEFAULT | Py_TPFLAGS_DISALLOW_INSTANTIATION,
                               .slots = slots};
    nodes_type = add(module, "Nodes", &spec);
    return nodes_type ? 0 : -1;
}

static int add_request(PyObject *module)
{
    static PyMethodDef methods[] = {
        {"predict", request_predict, METH_VARARGS,
         "predict(nodes, racks=1): predicted time left on so many nodes, s, or None."},
        {NULL, NULL, 0, NULL}};
    static PyMemberDef members[] = {
        {"job", T_INT, offsetof(request, job), READONLY, "its number"},
        {"gpus", T_INT, offsetof(request, gpus), READONLY, "to be granted"},
        {"type", T_INT, offsetof(request, type), READONLY, "of the GPUs"},
        {"attempt", T_INT, offsetof(request, attempt), READONLY, "starts before"},
        {"now", T_DOUBLE, offsetof(request, now), READONLY, "simulated time, s"},
        {NULL, 0, 0, 0, NULL}};
    static PyType_Slot slots[] = {{Py_tp_dealloc, ext_dealloc},
                                  {Py_tp_methods, methods},
                                  {Py_tp_members, members},
                                  {Py_tp_doc, "What a placement is asked for."},
                                  {0, NULL}};
    static PyType_Spec spec = {.name = "dlsim.Request",
                               .basicsize = sizeof(request),
                               .flags = Py_TPFLAGS_DEFAULT | Py_TPFLAGS_DISALLOW_INSTANTIATION,
                               .slots = slots};
    request_type = add(module, "Request", &spec);
    return request_type ? 0 : -1;
}

int ext_look_types(PyObject *module)
{
    return add_view(module) < 0 || add_nodes(module) < 0 || add_request(module) < 0 ? -1 : 0;
}
