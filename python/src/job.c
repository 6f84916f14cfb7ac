/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * What policies in Python see of one job: its numbers, for compiled policies a record of doubles,
 * and a Job.
 */
#include "ext.h"

#include <math.h>

/* ---- a job's numbers ------------------------------------------------------------------------- */

enum {
    JOB_INDEX,
    JOB_GPUS,
    JOB_SUBMIT,
    JOB_DURATION,
    JOB_ESTIMATE,
    JOB_REMAINING,
    JOB_EXECUTED,
    JOB_ATTAINED,
    JOB_WAITED,
    JOB_RUNNING,
    JOB_STARTS,
    JOB_PRIORITY,
    JOB_DEADLINE,
    JOB_LIMIT,
    JOB_BATCH,
    JOB_MIN_GPUS,
    JOB_MAX_GPUS,
    JOB_NOW,
    JOB_FIRST_START,
    JOB_SINCE,
    JOB_RATE,
    JOB_FIELDS
};

const char *const ext_job_fields[] = {
    "index",    "gpus",     "submit",   "duration", "estimate",    "remaining", "executed",
    "attained", "waited",   "running",  "starts",   "priority",    "deadline",  "limit",
    "batch",    "min_gpus", "max_gpus", "now",      "first_start", "since",     "rate",
    NULL};

static const char *const job_docs[JOB_FIELDS] = {
    "number in order of submission",
    "gang size that it asks for",
    "submission, s",
    "run time at the reference rate, s: known to it only if the scheduler may know",
    "estimated run time, s",
    "run time left, s",
    "time run without restoring, s",
    "GPUs x time run without restoring, GPU-s",
    "time since it came or lost its GPUs, s; 0 while it runs",
    "whether it holds GPUs",
    "times it got GPUs",
    "larger is more important; None",
    "absolute, s; None",
    "the user's run time limit, s; None",
    "global batch size; None",
    "least GPUs that it can use",
    "most GPUs that it can use",
    "simulated time, s",
    "first start, s; None",
    "when it got its present state, s",
    "work per time that it has shown since it started or its speed last changed, 1 at the reference; None"};

static double seconds(int64_t us)
{
    return us < 0 ? (double)NAN : (double)us / 1e6;
}

static double absent(const int64_t *column, int32_t job)
{
    return column && column[job] >= 0 ? (double)column[job] : (double)NAN;
}

double ext_job_number(const dls_view *v, int32_t job, int field)
{
    dls_observation seen;
    switch (field) {
    case JOB_INDEX:
        return job;
    case JOB_GPUS:
        return v->gpus[job];
    case JOB_SUBMIT:
        return (double)v->submit_us[job] / 1e6;
    case JOB_DURATION:
        return seconds(v->duration_us[job]);
    case JOB_ESTIMATE:
        return seconds(v->estimate_us[job]);
    case JOB_REMAINING:
        return (double)dls_view_remaining_us(v, job) / 1e6;
    case JOB_EXECUTED:
        return (double)dls_view_executed_us(v, job) / 1e6;
    case JOB_ATTAINED:
        return (double)dls_service_us(dls_view_executed_us(v, job), v->gpus[job]) / 1e6;
    case JOB_WAITED:
        return v->running[job] ? 0 : (double)(v->now_us - v->since_us[job]) / 1e6;
    case JOB_RUNNING:
        return v->running[job];
    case JOB_STARTS:
        return v->starts[job];
    case JOB_PRIORITY:
        return absent(v->priority, job);
    case JOB_DEADLINE:
        return absent(v->deadline_us, job) / 1e6;
    case JOB_LIMIT:
        return absent(v->limit_us, job) / 1e6;
    case JOB_BATCH:
        return absent(v->batch, job);
    case JOB_MIN_GPUS:
        return v->min_gpus[job];
    case JOB_MAX_GPUS:
        return v->max_gpus[job];
    case JOB_NOW:
        return (double)v->now_us / 1e6;
    case JOB_FIRST_START:
        return seconds(v->first_start_us[job]);
    case JOB_SINCE:
        return seconds(v->since_us[job]);
    case JOB_RATE:
        return dls_view_observed(v, job, &seen) ? seen.rate : (double)NAN;
    default:
        return (double)NAN;
    }
}

int ext_job_field(const char *name)
{
    for (int i = 0; i < JOB_FIELDS; i++) {
        if (strcmp(name, ext_job_fields[i]) == 0) {
            return i;
        }
    }
    return -1;
}

/* ---- a job ----------------------------------------------------------------------------------- */

typedef struct job {
    PyObject_HEAD const dls_view *view; /* NULL: ended */
    int32_t index;
    double again_s;
} job;

static PyTypeObject *job_type;

PyObject *ext_job(const dls_view *view, int32_t index)
{
    job *self = PyObject_New(job, job_type);
    if (self) {
        ext_job_set((PyObject *)self, view, index);
    }
    return (PyObject *)self;
}

void ext_job_set(PyObject *object, const dls_view *view, int32_t index)
{
    job *self = (job *)object;
    self->view = view;
    self->index = index;
    self->again_s = -1;
}

double ext_job_again(PyObject *object)
{
    return ((job *)object)->again_s;
}

static PyObject *job_get(PyObject *object, void *closure)
{
    const job *self = (job *)object;
    const int field = (int)(intptr_t)closure;
    if (!self->view) {
        return ext_ended("a Job");
    }
    const double number = ext_job_number(self->view, self->index, field);
    switch (field) {
    case JOB_RUNNING:
        return PyBool_FromLong(number != 0);
    case JOB_INDEX:
    case JOB_GPUS:
    case JOB_STARTS:
    case JOB_MIN_GPUS:
    case JOB_MAX_GPUS:
        return PyLong_FromLong((long)number);
    case JOB_PRIORITY:
    case JOB_BATCH:
        if (!isnan(number)) {
            return PyLong_FromDouble(number);
        }
    }
    if (isnan(number)) {
        Py_RETURN_NONE;
    }
    return PyFloat_FromDouble(number);
}

static PyObject *job_name(PyObject *object, void *closure)
{
    const job *self = (job *)object;
    const dls_name what = (dls_name)(intptr_t)closure;
    if (!self->view) {
        return ext_ended("a Job");
    }
    const dls_view *v = self->view;
    const int32_t *const columns[] = {v->user, v->vc, v->model, v->job_class};
    const int32_t code = columns[what] ? columns[what][self->index] : -1;
    if (code < 0) {
        Py_RETURN_NONE;
    }
    return PyUnicode_FromString(dls_view_name(v, what, code));
}

static PyObject *job_again(PyObject *object, PyObject *in_s)
{
    job *self = (job *)object;
    const double wait_s = PyFloat_AsDouble(in_s);
    if (PyErr_Occurred()) {
        return NULL;
    }
    if (!(wait_s > 0)) {
        PyErr_SetString(PyExc_ValueError, "again_in wants a time in the future, in seconds");
        return NULL;
    }
    self->again_s = wait_s;
    Py_RETURN_NONE;
}

int ext_job_types(PyObject *module)
{
    static PyMethodDef methods[] = {
        {"again_in", job_again, METH_O,
         "Ask again about this job in so many seconds, and hold a pass then."},
        {NULL, NULL, 0, NULL}};
    static PyGetSetDef more[JOB_FIELDS + 5];
    static const char *const names[] = {"user", "vc", "model", "job_class"};
    for (int i = 0; i < JOB_FIELDS; i++) {
        more[i] = (PyGetSetDef){ext_job_fields[i], job_get, NULL, job_docs[i], (void *)(intptr_t)i};
    }
    for (int i = 0; i < 4; i++) {
        more[JOB_FIELDS + i] =
            (PyGetSetDef){names[i], job_name, NULL, "name, or None", (void *)(intptr_t)i};
    }
    static PyType_Slot slots[] = {{Py_tp_dealloc, ext_dealloc},
                                  {Py_tp_methods, methods},
                                  {Py_tp_getset, more},
                                  {Py_tp_doc, "A job, as a policy may see it; times in seconds."},
                                  {0, NULL}};
    static PyType_Spec spec = {.name = "dlsim.Job",
                               .basicsize = sizeof(job),
                               .flags = Py_TPFLAGS_DEFAULT | Py_TPFLAGS_DISALLOW_INSTANTIATION,
                               .slots = slots};
    PyObject *fields = PyList_New(0);
    for (int i = 0; fields && i < JOB_FIELDS; i++) {
        PyObject *name = PyUnicode_FromString(ext_job_fields[i]);
        if (!name || PyList_Append(fields, name) < 0) {
            Py_CLEAR(fields);
        }
        Py_XDECREF(name);
    }
    const int failed = !fields || PyModule_AddObjectRef(module, "JOB_FIELDS", fields) < 0;
    Py_XDECREF(fields);
    job_type = (PyTypeObject *)PyType_FromSpec(&spec);
    return failed || !job_type ? -1 : PyModule_AddObjectRef(module, "Job", (PyObject *)job_type);
}
