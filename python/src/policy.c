/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Policies in Python: a Policy holds the table that the library calls, and what that calls in
 * Python. An exception ends the run: it is kept and raised again, with its traceback, when the
 * library has returned.
 */
#include "ext.h"

#include <math.h>
#include <string.h>

typedef double (*compiled_fn)(const double *record);
enum { RECORD_MAX = 32, SLOTS = 16 };

typedef struct policy {
    PyObject_HEAD PyObject
        *what;                /* a class, to be instantiated for each simulation, or an instance */
    PyObject *name, *summary; /* bytes, which the tables borrow */
    dls_sched_ops sched;
    dls_placement_ops placement;
    bool is_placement;
    dls_round_timing timing;
    compiled_fn compiled; /* takes the numbers of a job */
    uint32_t needs;       /* which of them: bits */
} policy;

/* A policy's memory in a simulation: zeroed by the engine before init. */
struct ext_context {
    ext_simulation *sim; /* NULL in the program */
    policy *policy;
    PyObject *self, *method; /* the instance, and what is called */
    PyObject *job, *args; /* of priorities: a Job that is used again, and what is called with it */
    bool unbound;         /* method is a function that takes self first: one call less */
    bool failed;
};

PyTypeObject *ext_policy_type;
static _Thread_local ext_simulation *making;

ext_simulation *ext_making(ext_simulation *sim)
{
    ext_simulation *before = making;
    making = sim;
    return before;
}

const dls_sched_ops *ext_policy_sched(PyObject *object)
{
    const policy *p = (policy *)object;
    return p->is_placement ? NULL : &p->sched;
}

const dls_placement_ops *ext_policy_placement(PyObject *object)
{
    const policy *p = (policy *)object;
    return p->is_placement ? &p->placement : NULL;
}

/* ---- exceptions ------------------------------------------------------------------------------ */

/* What is raised, as "function: ValueError: text"; it is kept for the caller of the simulation. */
static void tell(ext_context *c, const char *function, char *text, size_t size)
{
    PyObject *type, *value, *traceback;
    PyErr_Fetch(&type, &value, &traceback);
    PyErr_NormalizeException(&type, &value, &traceback);
    PyObject *name = type ? PyObject_GetAttrString(type, "__name__") : NULL;
    PyObject *said = value ? PyObject_Str(value) : NULL;
    PyObject *whole =
        name && said ? PyUnicode_FromFormat("%s: %U: %U", function, name, said) : NULL;
    PyObject *utf8 = whole ? PyUnicode_AsEncodedString(whole, "utf-8", "replace") : NULL;
    snprintf(text, size, "%s", utf8 ? PyBytes_AsString(utf8) : function);
    Py_XDECREF(name);
    Py_XDECREF(said);
    Py_XDECREF(whole);
    Py_XDECREF(utf8);
    PyErr_Clear();
    PyErr_Restore(type, value, traceback);
    c->failed = true;
    if (c->sim) {
        ext_keep_raised(c->sim);
    } else {
        PyErr_Print();
    }
}

/* For callbacks that return no status. */
static void failed(ext_context *c, const dls_place_index *index, const char *function)
{
    char text[400];
    tell(c, function, text, sizeof text);
    dls_policy_fail(index, "%s", text);
}

static dls_status failed_with(ext_context *c, const char *function, dls_error *err)
{
    char text[400];
    tell(c, function, text, sizeof text);
    return dls_fail(err, DLS_EPOLICY, PyBytes_AsString(c->policy->name), "%s", text);
}

static PyObject *call(ext_context *c, PyObject *args)
{
    if (c->sim) {
        c->sim->calls++;
    }
    PyObject *said = args ? PyObject_Call(c->method, args, NULL) : NULL;
    Py_XDECREF(args);
    if (c->sim) {
        c->sim->calls++;
    }
    return said;
}

/* ---- life ------------------------------------------------------------------------------------ */

static const char *function_of(const policy *p)
{
    return p->is_placement  ? "place"
           : p->sched.pass  ? "pass_"
           : p->sched.round ? "round"
                            : "priority";
}

/* A Job that nobody else has. */
static int new_job(ext_context *c)
{
    Py_CLEAR(c->args);
    Py_XDECREF(c->job);
    c->job = ext_job(NULL, 0);
    if (c->job) {
        c->args = c->unbound ? PyTuple_Pack(2, c->self, c->job) : PyTuple_Pack(1, c->job);
    }
    return c->args ? 0 : -1;
}

/* The policy of the simulation that is being made, on an instance (taken). */
static int begin(ext_context *c, policy *p, PyObject *self)
{
    c->policy = (policy *)Py_NewRef((PyObject *)p);
    c->sim = making;
    if (making) {
        making->context[p->is_placement] = c;
    }
    c->self = self;
    c->method = self ? PyObject_GetAttrString(self, function_of(p)) : NULL;
    if (c->method && !p->is_placement && p->sched.priority) {
        PyObject *function = PyObject_GetAttrString(c->method, "__func__");
        PyObject *of = function ? PyObject_GetAttrString(c->method, "__self__") : NULL;
        c->unbound = of == c->self;
        if (c->unbound) {
            Py_DECREF(c->method);
            c->method = Py_NewRef(function);
        }
        Py_XDECREF(function);
        Py_XDECREF(of);
        PyErr_Clear();
        return new_job(c);
    }
    return c->method ? 0 : -1;
}

static dls_status init(ext_context *c, policy *p, dls_error *err)
{
    PyObject *self = NULL;
    if (PyType_Check(p->what)) {
        self = PyObject_CallNoArgs(p->what);
    } else {
        self = Py_NewRef(p->what);
    }
    return begin(c, p, self) < 0 ? failed_with(c, "__init__", err) : DLS_OK;
}

static policy *policy_of_making(bool is_placement)
{
    PyObject *all = ext_setup_policies(making->setup);
    for (Py_ssize_t i = 0; i < PyList_Size(all); i++) {
        policy *p = (policy *)PyList_GetItem(all, i);
        if (p->is_placement == is_placement) {
            return p;
        }
    }
    return NULL;
}

static dls_status init_sched(void *state, const dls_view *view, const dls_option_value *values,
                             dls_error *err)
{
    return init(state, policy_of_making(false), err);
}

static dls_status init_placement(void *state, const dls_place_index *index,
                                 const dls_option_value *values, dls_error *err)
{
    return init(state, policy_of_making(true), err);
}

static void fini(void *state)
{
    ext_context *c = state;
    if (c->sim && c->policy && c->sim->context[c->policy->is_placement] == c) {
        c->sim->context[c->policy->is_placement] = NULL;
    }
    ext_context_clear(c);
    Py_CLEAR(c->policy);
}

/* A deep copy of the instance: what it remembers is part of the state. */
static dls_status copy(void *state, const void *from, dls_error *err)
{
    const ext_context *other = from;
    ext_context *c = state;
    *c = (ext_context){0};
    PyObject *module = PyImport_ImportModule("copy");
    PyObject *self = module ? PyObject_CallMethod(module, "deepcopy", "O", other->self) : NULL;
    Py_XDECREF(module);
    return begin(c, other->policy, self) < 0 ? failed_with(c, "deepcopy", err) : DLS_OK;
}

static dls_status clone_sched(void *state, const void *from, const dls_view *view, dls_error *err)
{
    return copy(state, from, err);
}

static dls_status clone_placement(void *state, const void *from, const dls_place_index *index,
                                  dls_error *err)
{
    return copy(state, from, err);
}

void ext_context_visit(ext_context *c, visitproc visit, void *arg, int *stop)
{
    PyObject *const held[] = {c ? (PyObject *)c->policy : NULL, c ? c->self : NULL,
                              c ? c->method : NULL, c ? c->args : NULL};
    for (size_t i = 0; i < sizeof held / sizeof *held && !*stop; i++) {
        *stop = held[i] ? visit(held[i], arg) : 0;
    }
}

void ext_context_clear(ext_context *c)
{
    if (c) {
        c->failed = true; /* nothing more is called */
        Py_CLEAR(c->method);
        Py_CLEAR(c->args);
        Py_CLEAR(c->job);
        Py_CLEAR(c->self);
    }
}

/* ---- an order -------------------------------------------------------------------------------- */

static void priority(void *state, const dls_view *view, int32_t job, dls_job_event why,
                     dls_priority *out)
{
    ext_context *c = state;
    if (c->failed) {
        return;
    }
    ext_job_set(c->job, view, job);
    PyObject *said = call(c, Py_NewRef(c->args));
    int bad = !said || ext_read_priority(said, out) < 0;
    Py_XDECREF(said);
    const double again_s = ext_job_again(c->job);
    if (!bad && again_s >= 0) {
        out->alarm = DLS_ALARM_RESCHEDULE;
        out->alarm_us = view->now_us + llround(fmin(again_s, 1e12) * 1e6);
    }
    if (bad) {
        failed(c, dls_view_index(view), "priority");
    }
    if (Py_REFCNT(c->job) >
        2) { /* somebody has kept it: it ends, and another one is used from now on */
        ext_job_set(c->job, NULL, 0);
        if (new_job(c) < 0) {
            failed(c, dls_view_index(view), "priority");
        }
    }
}

static void compiled(void *state, const dls_view *view, int32_t job, dls_job_event why,
                     dls_priority *out)
{
    const ext_context *c = state;
    double record[RECORD_MAX];
    for (uint32_t left = c->policy->needs; left; left &= left - 1) {
        const int field = __builtin_ctz(left);
        record[field] = ext_job_number(view, job, field);
    }
    const double said = c->policy->compiled(record);
    if (!(fabs(said) <= 4e12) && !isinf(said)) {
        dls_policy_fail(dls_view_index(view), "priority: %s", isnan(said) ? "NaN" : "beyond 4e12");
        return;
    }
    out->key = isinf(said)
                   ? (said > 0 ? INT64_C(4000000000000000000) : INT64_C(-4000000000000000000))
                   : llround(said * 1e6);
}

/* ---- programs and rounds --------------------------------------------------------------------- */

/* What it says beyond actions, or NULL with an exception. */
static PyObject *ask(ext_context *c, const dls_view *view, PyObject *act)
{
    PyObject *seen = act ? ext_view(c->sim, view) : NULL;
    PyObject *args = seen ? PyTuple_Pack(2, seen, act) : NULL;
    PyObject *said = args ? call(c, args) : NULL;
    if (seen) {
        ext_view_end(seen);
        Py_DECREF(seen);
    }
    return said;
}

static dls_status pass(void *state, const dls_view *view, dls_actions *out, dls_error *err)
{
    ext_context *c = state;
    if (c->failed) {
        return dls_fail(err, DLS_EPOLICY, NULL, "has failed");
    }
    PyObject *act = ext_actions(out);
    PyObject *said = ask(c, view, act);
    if (said && said != Py_None) {
        PyErr_Format(PyExc_TypeError, "pass_ acts and returns None, not %R", said);
        Py_CLEAR(said);
    }
    if (act) {
        ext_actions_end(act);
        Py_DECREF(act);
    }
    Py_XDECREF(said);
    return said ? DLS_OK : failed_with(c, "pass_", err);
}

static int run_as_asked(void *user, int32_t job)
{
    const dls_want any = {.type = -1};
    dls_plan_set(user, job, &any);
    return 0;
}

static dls_status round_(void *state, const dls_view *view, dls_plan *plan, dls_error *err)
{
    ext_context *c = state;
    if (c->failed) {
        return dls_fail(err, DLS_EPOLICY, NULL, "has failed");
    }
    PyObject *act = ext_plan(plan, view);
    PyObject *said = ask(c, view, act);
    if (act) {
        ext_actions_end(act);
        Py_DECREF(act);
    }
    if (said && said != Py_None && ext_each(said, run_as_asked, plan) < 0) {
        Py_CLEAR(said);
    }
    Py_XDECREF(said);
    return said ? DLS_OK : failed_with(c, "round", err);
}

static void timing(const void *state, dls_round_timing *out)
{
    *out = ((const ext_context *)state)->policy->timing;
}

/* ---- placements ------------------------------------------------------------------------------ */

static bool place(void *state, const dls_place_index *index, const dls_request *r, dls_grant *grant)
{
    ext_context *c = state;
    if (c->failed) {
        return false;
    }
    PyObject *request = ext_request(r), *nodes = request ? ext_nodes(c->sim, index) : NULL;
    PyObject *said = nodes ? call(c, PyTuple_Pack(2, request, nodes)) : NULL;
    const bool granted = said && said != Py_None && said != Py_False;
    if (!said || (granted && ext_read_grant(said, grant) < 0)) {
        failed(c, index, "place");
    }
    if (request) {
        ext_request_end(request);
        Py_DECREF(request);
    }
    if (nodes) {
        ext_view_end(nodes);
        Py_DECREF(nodes);
    }
    Py_XDECREF(said);
    return granted && !c->failed;
}

/* ---- the object ------------------------------------------------------------------------------ */

static int choose(policy *p, const char *kind)
{
    p->sched = (dls_sched_ops){.abi = DLS_POLICY_ABI,
                               .name = PyBytes_AsString(p->name),
                               .summary = PyBytes_AsString(p->summary),
                               .state_bytes = sizeof(ext_context),
                               .discipline = p->sched.discipline,
                               .ageing = p->sched.ageing,
                               .joins = p->sched.joins,
                               .rigid = p->sched.rigid,
                               .init = init_sched,
                               .fini = fini,
                               .clone = clone_sched};
    p->placement = (dls_placement_ops){.abi = DLS_POLICY_ABI,
                                       .name = p->sched.name,
                                       .summary = p->sched.summary,
                                       .state_bytes = sizeof(ext_context),
                                       .init = init_placement,
                                       .fini = fini,
                                       .place = place,
                                       .clone = clone_placement};
    if (strcmp(kind, "priority") == 0) {
        p->sched.priority = p->compiled ? compiled : priority;
    } else if (strcmp(kind, "pass_") == 0) {
        p->sched.pass = pass;
    } else if (strcmp(kind, "round") == 0) {
        p->sched.round = round_;
        p->sched.timing = timing;
    } else if (strcmp(kind, "place") == 0) {
        p->is_placement = true;
    } else {
        PyErr_Format(PyExc_ValueError, "there is no kind of policy '%s'", kind);
        return -1;
    }
    return 0;
}

static PyObject *policy_new(PyTypeObject *type, PyObject *args, PyObject *kwargs)
{
    static char *words[] = {"what",     "kind",        "name",       "summary", "discipline",
                            "ageing",   "interval_us", "on_arrival", "on_end",  "joins",
                            "rigid",    "compiled",    "needs",      NULL};
    PyObject *what, *name = NULL, *summary = NULL;
    const char *kind;
    int discipline = DLS_PREEMPT, ageing = DLS_AGE_NONE, on_arrival = 0, on_end = 0, joins = 0, rigid = 0;
    long long interval_us = 60000000;
    unsigned long long address = 0;
    unsigned int needs = 0;
    if (!PyArg_ParseTupleAndKeywords(args, kwargs, "OsO!O!|iiLppppKI", words, &what, &kind,
                                     &PyBytes_Type, &name, &PyBytes_Type, &summary, &discipline,
                                     &ageing, &interval_us, &on_arrival, &on_end, &joins, &rigid,
                                     &address, &needs)) {
        return NULL;
    }
    policy *self = (policy *)PyType_GenericAlloc(type, 0);
    if (!self) {
        return NULL;
    }
    self->what = Py_NewRef(what);
    self->name = Py_NewRef(name);
    self->summary = Py_NewRef(summary);
    self->timing = (dls_round_timing){interval_us, on_arrival, on_end};
    self->sched.discipline = (dls_discipline)discipline;
    self->sched.ageing = (dls_ageing)ageing;
    self->sched.joins = joins;
    self->sched.rigid = rigid;
    self->compiled = (compiled_fn)(uintptr_t)address;
    self->needs = needs;
    if (choose(self, kind) < 0) {
        Py_CLEAR(self);
    }
    return (PyObject *)self;
}

static int policy_traverse(PyObject *object, visitproc visit, void *arg)
{
    Py_VISIT(Py_TYPE(object));
    Py_VISIT(((policy *)object)->what);
    return 0;
}

static int policy_clear(PyObject *object)
{
    policy *self = (policy *)object;
    PyObject *what = self->what;
    self->what = Py_NewRef(Py_None);
    Py_XDECREF(what);
    return 0;
}

static void policy_dealloc(PyObject *object)
{
    policy *self = (policy *)object;
    PyTypeObject *type = Py_TYPE(object);
    PyObject_GC_UnTrack(object);
    Py_XDECREF(self->what);
    Py_XDECREF(self->name);
    Py_XDECREF(self->summary);
    PyObject_GC_Del(object);
    Py_DECREF(type);
}

/* ---- as a plug-in of the program ------------------------------------------------------------- */

/* In the program nothing says which policy a state is made for but the function that is called:
 * each of the policies of a plug-in has one of its own. */
static policy *slot[SLOTS];
static PyObject *slot_files[SLOTS]; /* tuple of bytes */
static const dls_sched_ops *plugin_scheds[SLOTS + 1];
static const dls_placement_ops *plugin_placements[SLOTS + 1];

#define EACH_SLOT(XX)                                                                              \
    XX(0)                                                                                          \
    XX(1) XX(2) XX(3) XX(4) XX(5) XX(6) XX(7) XX(8) XX(9) XX(10) XX(11) XX(12) XX(13) XX(14) XX(15)
#define XX(i)                                                                                      \
    static dls_status init_sched_##i(void *state, const dls_view *view,                            \
                                     const dls_option_value *values, dls_error *err)               \
    {                                                                                              \
        (void)view, (void)values;                                                                  \
        return init(state, slot[i], err);                                                          \
    }                                                                                              \
    static dls_status init_placement_##i(void *state, const dls_place_index *index,                \
                                         const dls_option_value *values, dls_error *err)           \
    {                                                                                              \
        (void)index, (void)values;                                                                 \
        return init(state, slot[i], err);                                                          \
    }
EACH_SLOT(XX)
#undef XX

/* policies: [(Policy, (path of its file, bytes, and of what that imports from beside it))] */
PyObject *ext_plugin(PyObject *module, PyObject *policies)
{
#define XX(i) {init_sched_##i, init_placement_##i},
    static const struct {
        dls_status (*sched)(void *, const dls_view *, const dls_option_value *, dls_error *);
        dls_status (*placement)(void *, const dls_place_index *, const dls_option_value *,
                                dls_error *);
    } inits[SLOTS] = {EACH_SLOT(XX)};
#undef XX
    const Py_ssize_t n = PySequence_Size(policies);
    size_t scheds = 0, placements = 0;
    if (n < 0 || n > SLOTS) {
        return n < 0 ? NULL
                     : ext_raise_usage("at most %d policies in one plug-in, not %zd", SLOTS, n);
    }
    for (Py_ssize_t i = 0; i < n; i++) {
        PyObject *pair = PySequence_GetItem(policies, i); /* kept until the process ends */
        policy *p;
        if (!pair || !PyArg_ParseTuple(pair, "O!O!", ext_policy_type, &p, &PyTuple_Type, &slot_files[i])) {
            return NULL;
        }
        slot[i] = p;
        p->sched.init = inits[i].sched;
        p->placement.init = inits[i].placement;
        if (p->is_placement) {
            plugin_placements[placements++] = &p->placement;
        } else {
            plugin_scheds[scheds++] = &p->sched;
        }
    }
    Py_RETURN_NONE;
}

__attribute__((visibility("default"))) const dls_plugin *dls_plugin_entry(void);
const dls_plugin *dls_plugin_entry(void)
{
    static const dls_plugin plugin = {DLS_POLICY_ABI, plugin_scheds, plugin_placements};
    return &plugin;
}

/* What a sweep knows a point by: the policy's file, with which it runs it, and what that imports; not this module. */
__attribute__((visibility("default"))) const char *dls_plugin_origin(const void *ops, size_t file);
const char *dls_plugin_origin(const void *ops, size_t file)
{
    for (int i = 0; i < SLOTS && slot[i]; i++) {
        if (ops == &slot[i]->sched || ops == &slot[i]->placement) {
            const bool there = file < (size_t)PyTuple_Size(slot_files[i]);
            return there ? PyBytes_AsString(PyTuple_GetItem(slot_files[i], (Py_ssize_t)file)) : NULL;
        }
    }
    return NULL;
}

int ext_policy_types(PyObject *module)
{
    static PyType_Slot slots[] = {{Py_tp_new, policy_new},
                                  {Py_tp_dealloc, policy_dealloc},
                                  {Py_tp_traverse, policy_traverse},
                                  {Py_tp_clear, policy_clear},
                                  {Py_tp_doc, "What the library calls of a policy in Python."},
                                  {0, NULL}};
    static PyType_Spec spec = {.name = "dlsim._dlsim.Policy",
                               .basicsize = sizeof(policy),
                               .flags = Py_TPFLAGS_DEFAULT | Py_TPFLAGS_HAVE_GC,
                               .slots = slots};
    ext_policy_type = (PyTypeObject *)PyType_FromSpec(&spec);
    return ext_policy_type ? PyModule_AddObjectRef(module, "Policy", (PyObject *)ext_policy_type)
                           : -1;
}
