/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * What policies in Python answer: the actions of a pass or of a decision from outside, the plan of
 * a round.
 */
#include "ext.h"

/* One of both; neither: ended. */
typedef struct actions {
    PyObject_HEAD dls_actions *act;
    dls_plan *plan;
    const dls_view *view; /* of a plan */
    int64_t left;         /* GPUs that fill() has not given away; -1: not counted yet */
} actions;

static PyTypeObject *actions_type, *plan_type;

static actions *create(PyTypeObject *type)
{
    actions *self = PyObject_New(actions, type);
    if (self) {
        self->act = NULL;
        self->plan = NULL;
    }
    return self;
}

PyObject *ext_actions(dls_actions *act)
{
    actions *self = create(actions_type);
    if (self) {
        self->act = act;
    }
    return (PyObject *)self;
}

/* GPUs that jobs have or could have: others are down, or services have them. */
static int64_t usable_gpus(const dls_view *view)
{
    int64_t gpus = view->free_gpus;
    for (int32_t j = dls_view_first_running(view); j >= 0; j = dls_view_next_running(view, j)) {
        gpus += dls_view_host(view, j) < 0 ? view->held_gpus[j] : 0;
    }
    return gpus;
}

PyObject *ext_plan(dls_plan *plan, const dls_view *view)
{
    actions *self = create(plan_type);
    if (self) {
        self->plan = plan;
        self->view = view;
        self->left = -1;
    }
    return (PyObject *)self;
}

void ext_actions_end(PyObject *object)
{
    ((actions *)object)->act = NULL;
    ((actions *)object)->plan = NULL;
}

static bool is_live(const actions *self)
{
    return self->act || self->plan || ext_ended("actions and plans");
}

typedef int (*one_fn)(actions *self, int32_t job);

typedef struct walk {
    actions *self;
    one_fn one;
    Py_ssize_t sum;
} walk;

static int live_one(void *user, int32_t job)
{
    walk *w = user;
    const int said = is_live(w->self) ? w->one(w->self, job) : -1;
    w->sum += said;
    return said < 0 ? -1 : 0;
}

/* one() of each of them, a number or several; the sum of what it says, -1 with an exception. The jobs may come from
 * Python code in which the decision ends. */
static Py_ssize_t each(PyObject *object, PyObject *jobs, one_fn one)
{
    walk w = {(actions *)object, one, 0};
    return is_live(w.self) && ext_each(jobs, live_one, &w) == 0 ? w.sum : -1;
}

static PyObject *none_if(bool good)
{
    return good ? Py_NewRef(Py_None) : NULL;
}

/* ---- actions --------------------------------------------------------------------------------- */

static int start_one(actions *self, int32_t job)
{
    return dls_act_start(self->act, job);
}

static PyObject *act_start(PyObject *self, PyObject *jobs)
{
    const Py_ssize_t started = each(self, jobs, start_one);
    return started < 0 ? NULL : PyLong_FromSsize_t(started);
}

static int preempt_one(actions *self, int32_t job)
{
    dls_act_preempt(self->act, job);
    return 0;
}

static PyObject *act_preempt(PyObject *self, PyObject *jobs)
{
    return none_if(each(self, jobs, preempt_one) == 0);
}

static int decline_one(actions *self, int32_t job)
{
    if (self->act) {
        dls_act_decline(self->act, job);
    } else {
        dls_plan_decline(self->plan, job);
    }
    return 0;
}

static PyObject *decline(PyObject *self, PyObject *jobs)
{
    return none_if(each(self, jobs, decline_one) == 0);
}

enum { NODES_MAX = 4096 };

/* nodes: [(node, gpus)] into parts; -1 with an exception. */
static int read_nodes(PyObject *nodes, dls_place_part *part, dls_want *want)
{
    const Py_ssize_t n = PySequence_Size(nodes);
    if (n > NODES_MAX) {
        PyErr_Format(PyExc_ValueError, "more than %d nodes", NODES_MAX);
        return -1;
    }
    for (Py_ssize_t i = 0; i < n; i++) {
        PyObject *pair = PySequence_GetItem(nodes, i),
                 *tuple = pair ? PySequence_Tuple(pair) : NULL;
        const int good = tuple && PyArg_ParseTuple(tuple, "ii", &part[i].node, &part[i].gpus);
        Py_XDECREF(pair);
        Py_XDECREF(tuple);
        if (!good) {
            return -1;
        }
    }
    want->nodes = part;
    want->n_nodes = (int32_t)n;
    return n < 0 ? -1 : 0;
}

static PyObject *allocate(PyObject *object, PyObject *args, PyObject *kwargs)
{
    static char *words[] = {"job", "gpus", "type", "nodes", "batch", NULL};
    static _Thread_local dls_place_part part[NODES_MAX];
    actions *self = (actions *)object;
    PyObject *nodes = NULL;
    int job;
    long long batch = 0;
    dls_want want = {.type = -1};
    if (!PyArg_ParseTupleAndKeywords(args, kwargs, "i|iiOL", words, &job, &want.gpus, &want.type,
                                     &nodes, &batch) ||
        (nodes && nodes != Py_None && read_nodes(nodes, part, &want) < 0) || !is_live(self)) {
        return NULL;
    }
    want.batch = batch;
    if (self->act) {
        return PyBool_FromLong(dls_act_allocate(self->act, job, &want));
    }
    dls_plan_set(self->plan, job, &want);
    Py_RETURN_NONE;
}

static PyObject *join(PyObject *object, PyObject *args)
{
    actions *self = (actions *)object;
    int job, host;
    if (!PyArg_ParseTuple(args, "ii", &job, &host) || !is_live(self)) {
        return NULL;
    }
    if (self->act) {
        return PyBool_FromLong(dls_act_join(self->act, job, host));
    }
    dls_plan_join(self->plan, job, host);
    Py_RETURN_NONE;
}

static PyObject *act_wake(PyObject *object, PyObject *at)
{
    const actions *self = (actions *)object;
    const double at_s = PyFloat_AsDouble(at);
    if (PyErr_Occurred() || !is_live(self)) {
        return NULL;
    }
    if (!(at_s >= 0 && at_s < 4e12)) {
        PyErr_SetString(PyExc_ValueError, "wake wants a simulated time, in seconds");
        return NULL;
    }
    dls_act_wake(self->act, (int64_t)(at_s * 1e6 + 0.5));
    Py_RETURN_NONE;
}

/* ---- plans ----------------------------------------------------------------------------------- */

static int keep_one(actions *self, int32_t job)
{
    dls_plan_keep(self->plan, job);
    return 0;
}

static PyObject *plan_keep(PyObject *self, PyObject *jobs)
{
    return none_if(each(self, jobs, keep_one) == 0);
}

static int run_one(actions *self, int32_t job)
{
    const dls_want any = {.type = -1};
    dls_plan_set(self->plan, job, &any);
    return 0;
}

static PyObject *plan_run(PyObject *self, PyObject *jobs)
{
    return none_if(each(self, jobs, run_one) == 0);
}

static int fill_one(actions *self, int32_t job)
{
    if (job < 0 || job >= self->view->n_jobs) {
        PyErr_Format(PyExc_IndexError, "there is no job %d", job);
        return -1;
    }
    if (self->view->gpus[job] <= self->left) {
        self->left -= self->view->gpus[job];
        run_one(self, job);
    }
    return 0;
}

static PyObject *plan_fill(PyObject *self, PyObject *jobs)
{
    actions *plan = (actions *)self;
    if (is_live(plan) && plan->left < 0) {
        plan->left = usable_gpus(plan->view);
    }
    return each(self, jobs, fill_one) < 0 ? NULL : PyLong_FromLongLong(plan->left);
}

static PyObject *plan_keep_all(PyObject *self, PyObject *unused)
{
    if (!is_live((actions *)self)) {
        return NULL;
    }
    dls_plan_keep_all(((actions *)self)->plan);
    Py_RETURN_NONE;
}

/* ---- types ----------------------------------------------------------------------------------- */

int ext_act_types(PyObject *module)
{
    static PyMethodDef act_methods[] = {
        {"start", act_start, METH_O,
         "Start waiting jobs, a number or several, in this order; how many started."},
        {"preempt", act_preempt, METH_O, "Take their GPUs from running jobs."},
        {"allocate", (PyCFunction)(void (*)(void))allocate, METH_VARARGS | METH_KEYWORDS,
         "allocate(job, gpus=0, type=-1, nodes=None, batch=0) -> bool; nodes: [(node, gpus)]."},
        {"join", join, METH_VARARGS, "join(job, host) -> bool: run on the GPUs of a running job."},
        {"decline", decline, METH_O, "Turn waiting jobs away for good."},
        {"wake", act_wake, METH_O, "Another pass at this simulated time, s."},
        {NULL, NULL, 0, NULL}};
    static PyMethodDef plan_methods[] = {
        {"run", plan_run, METH_O, "These jobs, a number or several, have what they ask for."},
        {"fill", plan_fill, METH_O,
         "In this order, those that ask for no more GPUs than are left of all that are up, whatever "
         "their type, have what they ask for; how many are left."},
        {"set", (PyCFunction)(void (*)(void))allocate, METH_VARARGS | METH_KEYWORDS,
         "set(job, gpus=0, type=-1, nodes=None, batch=0): it has this; nodes: [(node, gpus)]."},
        {"keep", plan_keep, METH_O, "These running jobs are as they are."},
        {"keep_all", plan_keep_all, METH_NOARGS,
         "Running jobs that are not named are as they are."},
        {"join", join, METH_VARARGS, "join(job, host): on the GPUs of another job."},
        {"decline", decline, METH_O, "Turn waiting jobs away for good."},
        {NULL, NULL, 0, NULL}};
    static PyType_Slot act_slots[] = {
        {Py_tp_dealloc, ext_dealloc},
        {Py_tp_methods, act_methods},
        {Py_tp_doc, "What a pass does, applied in the order of the calls."},
        {0, NULL}};
    static PyType_Slot plan_slots[] = {
        {Py_tp_dealloc, ext_dealloc},
        {Py_tp_methods, plan_methods},
        {Py_tp_doc, "What there is to be after a round; others have no GPUs."},
        {0, NULL}};
    static PyType_Spec specs[] = {
        {"dlsim.Actions", sizeof(actions), 0,
         Py_TPFLAGS_DEFAULT | Py_TPFLAGS_DISALLOW_INSTANTIATION, act_slots},
        {"dlsim.Plan", sizeof(actions), 0, Py_TPFLAGS_DEFAULT | Py_TPFLAGS_DISALLOW_INSTANTIATION,
         plan_slots}};
    actions_type = (PyTypeObject *)PyType_FromSpec(&specs[0]);
    plan_type = (PyTypeObject *)PyType_FromSpec(&specs[1]);
    return actions_type && plan_type &&
                   PyModule_AddObjectRef(module, "Actions", (PyObject *)actions_type) == 0 &&
                   PyModule_AddObjectRef(module, "Plan", (PyObject *)plan_type) == 0
               ? 0
               : -1;
}
