/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Many episodes at once: each is a clone of a window's fresh simulation; one call takes an action
 * in all of them, in threads. What is decided, and what an action costs, is in docs/python.md.
 */
#include "env.h"

#include <math.h>
#include <pthread.h>
#include <stdlib.h>

typedef struct env_batch {
    PyObject_HEAD PyObject *setup;
    env_window *window;
    env_episode *episode;
    Py_ssize_t n_windows, n, visible;
    int32_t n_nodes, n_types, threads;
    size_t jobs;      /* of a window */
    bool place;       /* which environment */
    double scale;     /* reward of a job second */
    Py_buffer out[6]; /* jobs, nodes, types, mask, reward, done */
    bool busy;
} env_batch;

enum { OUT_JOBS, OUT_NODES, OUT_TYPES, OUT_MASK, OUT_REWARD, OUT_DONE, OUTS };

/* ---- one episode ----------------------------------------------------------------------------- */

static env_output output_of(const env_batch *b, Py_ssize_t i)
{
    const Py_ssize_t rows = b->place ? CANDIDATES : b->visible;
    const Py_ssize_t numbers = b->place ? CANDIDATE_NUMBERS : JOB_NUMBERS;
    return (env_output){(float *)b->out[OUT_JOBS].buf + i * rows * numbers,
                        (float *)b->out[OUT_NODES].buf + i * b->n_nodes,
                        (float *)b->out[OUT_TYPES].buf + i * b->n_types,
                        (int8_t *)b->out[OUT_MASK].buf + i * (rows + 1)};
}

static bool can_wait(const env_episode *e, const dls_view *v)
{
    const dls_counts c = dls_simulation_counts(e->sim);
    return v->running_jobs > 0 || c.submitted + c.infeasible < c.jobs;
}

static bool fits(const env_episode *e, int32_t job, const int64_t *free_gpus, int32_t gpus)
{
    for (uint32_t left = e->window->types[job]; left; left &= left - 1) {
        if (free_gpus[__builtin_ctz(left)] >= gpus) {
            return e->tried[job] != e->instant + 1;
        }
    }
    return false;
}

/* The first waiting jobs, and which of them could start; how many could. */
static int32_t show_jobs(const env_batch *b, env_episode *e, const dls_view *v,
                         const int64_t *free_gpus, const env_output *out)
{
    int32_t n = 0, can = 0;
    float *row = out->jobs;
    for (int32_t j = dls_view_first_waiting(v); j >= 0 && n < b->visible;
         j = dls_view_next_waiting(v, j)) {
        const bool fit = fits(e, j, free_gpus, v->gpus[j]);
        e->shown[n] = j;
        out->mask[n++] = fit;
        can += fit;
        row[0] = e->window->gpus[j];
        row[1] = e->window->run[j];
        row[2] = fminf((float)(v->now_us - v->since_us[j]) * (1 / 86400e6f), 1);
        row[3] = 1;
        row += JOB_NUMBERS;
    }
    const int32_t gone = e->was_shown - n;
    if (gone > 0) {
        memset(row, 0, (size_t)gone * JOB_NUMBERS * sizeof *row);
        memset(out->mask + n, 0, (size_t)gone);
    }
    e->n_shown = e->was_shown = n;
    return can;
}

/* In Place the job is the first that fits, in order of submission. */
static int32_t show_candidates(env_episode *e, const dls_view *v, const int64_t *free_gpus,
                               const env_output *out)
{
    for (int32_t j = dls_view_first_waiting(v); j >= 0; j = dls_view_next_waiting(v, j)) {
        if (fits(e, j, free_gpus, v->gpus[j]) && env_place(e, v, j, out)) {
            e->shown[0] = j;
            e->n_shown = 1;
            return e->n_candidates;
        }
    }
    return 0;
}

/* Whether something is to be decided here; if so it is shown. */
static bool show(const env_batch *b, env_episode *e, const dls_view *v, const env_output *out)
{
    int64_t free_gpus[DLS_TYPES_MAX];
    if (v->waiting_jobs == 0) {
        return false;
    }
    for (int32_t t = 0; t < b->n_types; t++) {
        free_gpus[t] = dls_view_free_gpus(v, t);
    }
    const int32_t can =
        b->place ? show_candidates(e, v, free_gpus, out) : show_jobs(b, e, v, free_gpus, out);
    if (can == 0) {
        return false;
    }
    const dls_place_index *index = dls_simulation_index(e->sim);
    for (int32_t i = 0; i < b->n_nodes; i++) {
        out->nodes[i] = (float)dls_place_free(index, i) / (float)dls_place_capacity(index, i);
    }
    for (int32_t t = 0; t < b->n_types; t++) {
        out->types[t] = (float)free_gpus[t] / (float)dls_view_total_gpus(v, t);
    }
    out->mask[b->place ? CANDIDATES : b->visible] = can_wait(e, v);
    return true;
}

/* On to the next decision; *done: there is none. */
static dls_status go_on(const env_batch *b, env_episode *e, const env_output *out, bool *done,
                        dls_error *err)
{
    const dls_view *v = dls_simulation_view(e->sim);
    *done = false;
    while (!e->act || !show(b, e, v, out)) {
        const int64_t before_us = v->now_us,
                      jobs = v->waiting_jobs + (b->place ? v->running_jobs : 0);
        if (v->waiting_jobs == 0 && !can_wait(e, v)) {
            *done = true;
            return DLS_OK;
        }
        if (!b->place && v->waiting_jobs == 0) {
            const dls_counts c = dls_simulation_counts(e->sim);
            if (c.submitted + c.infeasible ==
                c.jobs) { /* what runs is not to be decided any more */
                *done = true;
                return DLS_OK;
            }
        }
        DLS_TRY(dls_simulation_step(e->sim, DLS_NEVER, &e->act, err));
        e->instant++;
        e->cost_s += (double)(v->now_us - before_us) / 1e6 * (double)jobs;
        if (!e->act) {
            *done = true;
            return DLS_OK;
        }
    }
    return DLS_OK;
}

static uint64_t next_random(uint64_t *state)
{
    uint64_t z = (*state += UINT64_C(0x9E3779B97F4A7C15)); /* SplitMix64 */
    z = (z ^ (z >> 30)) * UINT64_C(0xBF58476D1CE4E5B9);
    z = (z ^ (z >> 27)) * UINT64_C(0x94D049BB133111EB);
    return z ^ (z >> 31);
}

/* Of an episode that has ended, or not begun, nothing is shown. */
static void clear(const env_batch *b, env_episode *e, const env_output *out)
{
    const size_t rows = b->place ? CANDIDATES : (size_t)b->visible;
    memset(out->jobs, 0, rows * (b->place ? CANDIDATE_NUMBERS : JOB_NUMBERS) * sizeof *out->jobs);
    memset(out->mask, 0, rows + 1);
    memset(out->nodes, 0, (size_t)b->n_nodes * sizeof *out->nodes);
    memset(out->types, 0, (size_t)b->n_types * sizeof *out->types);
    e->was_shown = e->n_shown = 0;
}

static dls_status begin(const env_batch *b, env_episode *e, Py_ssize_t window,
                        const env_output *out, dls_error *err)
{
    bool done;
    dls_simulation_destroy(e->sim);
    e->sim = NULL;
    e->window = &b->window[window];
    e->act = NULL;
    e->instant = 0;
    memset(e->tried, 0, b->jobs * sizeof *e->tried);
    DLS_TRY(dls_simulation_clone(e->window->fresh, &e->sim, err));
    clear(b, e, out);
    DLS_TRY(go_on(b, e, out, &done, err));
    e->cost_s = 0;
    if (done) { /* and nothing to act on */
        dls_simulation_destroy(e->sim);
        e->sim = NULL;
        return dls_fail(err, DLS_EINPUT, "window", "has nothing to decide: its jobs do not wait, or do not fit");
    }
    return DLS_OK;
}

static void take(const env_batch *b, env_episode *e, int32_t action)
{
    const dls_view *v = dls_simulation_view(e->sim);
    const int32_t none = b->place ? e->n_candidates : e->n_shown;
    int32_t job = b->place || (action >= 0 && action < none) ? e->shown[b->place ? 0 : action] : -1;
    const bool chosen = action >= 0 && action < none;
    if (!chosen && !can_wait(e, v)) {
        action = 0; /* waiting would be for ever */
        for (; !b->place && action < e->n_shown - 1 && e->tried[e->shown[action]] == e->instant + 1;
             action++) {
        }
        job = e->shown[b->place ? 0 : action];
    } else if (!chosen) {
        if (b->place) {
            e->tried[job] = e->instant + 1; /* this job waits; others are looked at */
        } else {
            e->act = NULL;
        }
        return;
    }
    bool started;
    if (b->place) {
        const env_candidate *c = &e->candidate[action];
        const dls_want want = {.type = c->type, .nodes = c->part, .n_nodes = c->n_parts};
        started = dls_act_allocate(e->act, job, &want);
    } else {
        int64_t free_gpus[DLS_TYPES_MAX];
        for (int32_t t = 0; t < b->n_types; t++) {
            free_gpus[t] = dls_view_free_gpus(v, t);
        }
        started = fits(e, job, free_gpus, v->gpus[job]) && dls_act_start(e->act, job);
    }
    if (!started) {
        e->tried[job] = e->instant + 1;
    }
}

/* ---- a step of all --------------------------------------------------------------------------- */

typedef struct work {
    env_batch *b;
    Py_ssize_t first, end;
    const int64_t *actions;
    bool renew;
    dls_status status;
    dls_error err;
} work;

static dls_status step_one(const work *w, Py_ssize_t i, dls_error *err)
{
    env_batch *b = w->b;
    env_episode *e = &b->episode[i];
    const env_output out = output_of(b, i);
    bool done = false;
    const int64_t wanted = w->actions[i];
    take(b, e, wanted < 0 || wanted > INT32_MAX ? INT32_MAX : (int32_t)wanted);
    DLS_TRY(go_on(b, e, &out, &done, err));
    ((double *)b->out[OUT_REWARD].buf)[i] = -b->scale * e->cost_s;
    ((int8_t *)b->out[OUT_DONE].buf)[i] = done;
    e->cost_s = 0;
    if (done && w->renew) {
        return begin(b, e, (Py_ssize_t)(next_random(&e->random) % (uint64_t)b->n_windows), &out,
                     err);
    }
    if (done) {
        clear(b, e, &out);
    }
    return DLS_OK;
}

static void *do_work(void *user)
{
    work *w = user;
    for (Py_ssize_t i = w->first; i < w->end && w->status == DLS_OK; i++) {
        w->status = step_one(w, i, &w->err);
    }
    return NULL;
}

enum { THREADS_MAX = 64, ENVS_A_THREAD = 16 };

static dls_status step_all(env_batch *b, const int64_t *actions, bool renew, dls_error *err)
{
    work w[THREADS_MAX];
    pthread_t thread[THREADS_MAX];
    Py_ssize_t parts = b->n / ENVS_A_THREAD < b->threads ? b->n / ENVS_A_THREAD : b->threads;
    parts = parts < 1 ? 1 : parts;
    for (Py_ssize_t k = 0; k < parts; k++) {
        w[k] = (work){.b = b,
                      .first = b->n * k / parts,
                      .end = b->n * (k + 1) / parts,
                      .actions = actions,
                      .renew = renew};
        if (k > 0 && pthread_create(&thread[k], NULL, do_work, &w[k]) != 0) {
            w[k].status = dls_fail(&w[k].err, DLS_ERUN, NULL, "no thread can be started");
            w[k].first = -1;
        }
    }
    do_work(&w[0]);
    for (Py_ssize_t k = 1; k < parts; k++) {
        if (w[k].first >= 0) {
            pthread_join(thread[k], NULL);
        }
    }
    for (Py_ssize_t k = 0; k < parts; k++) {
        if (w[k].status != DLS_OK) {
            *err = w[k].err;
            return w[k].status;
        }
    }
    return DLS_OK;
}

/* ---- the object ------------------------------------------------------------------------------ */

static bool enter(env_batch *b)
{
    if (b->busy) {
        return ext_raise_usage("the environments are in use by another thread");
    }
    b->busy = true;
    return true;
}

static PyObject *leave(env_batch *b, dls_status status, const dls_error *err)
{
    b->busy = false;
    if (status != DLS_OK) {
        return ext_raise(err, NULL);
    }
    Py_RETURN_NONE;
}

static PyObject *batch_step(PyObject *object, PyObject *args)
{
    env_batch *b = (env_batch *)object;
    Py_buffer actions;
    int renew = 0;
    dls_error err = {0};
    dls_status status = DLS_OK;
    if (!PyArg_ParseTuple(args, "y*p", &actions, &renew)) {
        return NULL;
    }
    if (actions.len != b->n * 8) {
        PyBuffer_Release(&actions);
        PyErr_Format(PyExc_ValueError, "%zd actions of 64 bits are wanted", b->n);
        return NULL;
    }
    for (Py_ssize_t i = 0; i < b->n; i++) {
        if (!b->episode[i].sim) {
            PyBuffer_Release(&actions);
            return ext_raise_usage("reset comes before step");
        }
    }
    if (!enter(b)) {
        PyBuffer_Release(&actions);
        return NULL;
    }
    if (b->n == 1) { /* not worth giving up the lock */
        status = step_all(b, actions.buf, renew, &err);
    } else {
        Py_BEGIN_ALLOW_THREADS status = step_all(b, actions.buf, renew, &err);
        Py_END_ALLOW_THREADS
    }
    PyBuffer_Release(&actions);
    return leave(b, status, &err);
}

static PyObject *batch_reset(PyObject *object, PyObject *args)
{
    env_batch *b = (env_batch *)object;
    Py_ssize_t i, window;
    unsigned long long seed = 0;
    dls_error err = {0};
    if (!PyArg_ParseTuple(args, "nn|K", &i, &window, &seed)) {
        return NULL;
    }
    if (i < 0 || i >= b->n || window < 0 || window >= b->n_windows) {
        PyErr_Format(PyExc_IndexError, "there is no environment %zd, or no window %zd of %zd", i,
                     window, b->n_windows);
        return NULL;
    }
    if (!enter(b)) {
        return NULL;
    }
    b->episode[i].random = seed;
    const env_output out = output_of(b, i);
    return leave(b, begin(b, &b->episode[i], window, &out, &err), &err);
}

static PyObject *batch_counts(PyObject *object, PyObject *args)
{
    env_batch *b = (env_batch *)object;
    Py_ssize_t i;
    if (!PyArg_ParseTuple(args, "n", &i)) {
        return NULL;
    }
    if (b->busy || i < 0 || i >= b->n || !b->episode[i].sim) {
        return ext_raise_usage("there is no such episode");
    }
    const dls_view *v = dls_simulation_view(b->episode[i].sim);
    return Py_BuildValue("{s:d,s:i,s:i}", "now", (double)v->now_us / 1e6, "waiting",
                         v->waiting_jobs, "running", v->running_jobs);
}

static void batch_dealloc(PyObject *object)
{
    env_batch *b = (env_batch *)object;
    PyTypeObject *type = Py_TYPE(object);
    for (Py_ssize_t i = 0; b->episode && i < b->n; i++) {
        dls_simulation_destroy(b->episode[i].sim);
        free(b->episode[i].shown);
        free(b->episode[i].tried);
        free(b->episode[i].candidate);
    }
    for (Py_ssize_t i = 0; b->window && i < b->n_windows; i++) {
        dls_simulation_destroy(b->window[i].fresh);
        dls_trace_destroy(b->window[i].trace);
        free(b->window[i].gpus);
        free(b->window[i].run);
        free(b->window[i].types);
    }
    free(b->episode);
    free(b->window);
    for (int k = 0; k < OUTS; k++) {
        if (b->out[k].obj) {
            PyBuffer_Release(&b->out[k]);
        }
    }
    Py_XDECREF(b->setup);
    PyObject_Free(object);
    Py_DECREF(type);
}

static dls_status fill(env_batch *b, dls_setup *setup, const dls_trace *trace, size_t first,
                       size_t stride, dls_error *err)
{
    b->window = calloc((size_t)b->n_windows, sizeof *b->window);
    b->episode = calloc((size_t)b->n, sizeof *b->episode);
    if (!b->window || !b->episode) {
        return dls_fail(err, DLS_ENOMEM, NULL, "out of memory");
    }
    for (Py_ssize_t i = 0; i < b->n_windows; i++) {
        DLS_TRY(
            env_window_make(b->jobs, setup, trace, first + (size_t)i * stride, &b->window[i], err));
    }
    for (Py_ssize_t i = 0; i < b->n; i++) {
        env_episode *e = &b->episode[i];
        e->shown = calloc((size_t)b->visible, sizeof *e->shown);
        e->tried = calloc(b->jobs, sizeof *e->tried);
        e->candidate = b->place ? calloc(CANDIDATES, sizeof *e->candidate) : NULL;
        if (!e->shown || !e->tried || (b->place && !e->candidate)) {
            return dls_fail(err, DLS_ENOMEM, NULL, "out of memory");
        }
    }
    const dls_place_index *index = dls_simulation_index(b->window[0].fresh);
    b->n_nodes = dls_place_nodes(index);
    b->n_types = dls_place_types(index);
    return DLS_OK;
}

static PyObject *batch_new(PyTypeObject *type, PyObject *args, PyObject *kwargs)
{
    static char *words[] = {"setup", "trace",   "jobs",  "first",   "stride", "windows",
                            "n",     "visible", "place", "threads", NULL};
    PyObject *setup, *trace;
    Py_ssize_t jobs, first, stride, windows, n, visible;
    int place, threads;
    dls_error err = {0};
    if (!PyArg_ParseTupleAndKeywords(args, kwargs, "OO!nnnnnnpi", words, &setup, ext_trace_type,
                                     &trace, &jobs, &first, &stride, &windows, &n, &visible, &place,
                                     &threads)) {
        return NULL;
    }
    const dls_trace *all = ((ext_trace *)trace)->trace;
    const Py_ssize_t there = (Py_ssize_t)dls_trace_cols(all)->n;
    if (n < 1 || visible < 1 || threads < 1 || threads > THREADS_MAX) {
        PyErr_Format(PyExc_ValueError, "environments, visible jobs and threads (at most %d) are 1 or more, not %zd, %zd and %d",
                     THREADS_MAX, n, visible, threads);
        return NULL;
    }
    if (jobs < 1 || first < 0 || stride < 1 || windows < 1 || first + (windows - 1) * stride + jobs > there) {
        PyErr_Format(PyExc_ValueError, "the trace has %zd jobs: no %zd windows of %zd from %zd on",
                     there, windows, jobs, first);
        return NULL;
    }
    dls_setup *of = ext_setup_of(setup);
    if (!of || PyList_Size(ext_setup_policies(setup)) > 0) {
        return of ? ext_raise_usage("environments are stepped without Python: no placement in it") : NULL;
    }
    env_batch *b = (env_batch *)PyType_GenericAlloc(type, 0);
    if (!b) {
        return NULL;
    }
    b->setup = Py_NewRef(setup);
    b->n_windows = windows;
    b->n = n;
    b->visible = visible;
    b->jobs = (size_t)jobs;
    b->place = place;
    b->threads = threads;
    b->scale = 1 / (3600.0 * (double)jobs);
    if (fill(b, of, all, (size_t)first, (size_t)stride, &err) != DLS_OK) {
        ext_raise(&err, of);
        Py_CLEAR(b);
    }
    return (PyObject *)b;
}

/* bind(jobs, nodes, types, mask, reward, done): where observations go, writable arrays. */
static PyObject *batch_bind(PyObject *object, PyObject *args)
{
    env_batch *b = (env_batch *)object;
    const Py_ssize_t rows = b->place ? CANDIDATES : b->visible;
    const Py_ssize_t numbers = b->place ? CANDIDATE_NUMBERS : JOB_NUMBERS;
    const Py_ssize_t bytes[OUTS] = {b->n * rows * numbers * 4,
                                    b->n * b->n_nodes * 4,
                                    b->n * b->n_types * 4,
                                    b->n * (rows + 1),
                                    b->n * 8,
                                    b->n};
    if (b->out[0].obj || PyTuple_Size(args) != OUTS) {
        return ext_raise_usage("bind is called once, with %d arrays", OUTS);
    }
    for (int k = 0; k < OUTS; k++) {
        if (PyObject_GetBuffer(PyTuple_GetItem(args, k), &b->out[k], PyBUF_WRITABLE) < 0) {
            return NULL;
        }
        if (b->out[k].len != bytes[k]) {
            PyErr_Format(PyExc_ValueError, "array %d has %zd bytes, not %zd", k, b->out[k].len,
                         bytes[k]);
            return NULL;
        }
    }
    Py_RETURN_NONE;
}

static PyObject *batch_shape(PyObject *object, void *unused)
{
    const env_batch *b = (env_batch *)object;
    return Py_BuildValue("(nniii)", b->place ? (Py_ssize_t)CANDIDATES : b->visible,
                         b->place ? (Py_ssize_t)CANDIDATE_NUMBERS : (Py_ssize_t)JOB_NUMBERS,
                         b->n_nodes, b->n_types, (int)b->n_windows);
}

int ext_env_types(PyObject *module)
{
    static PyMethodDef methods[] = {{"bind", batch_bind, METH_VARARGS, NULL},
                                    {"reset", batch_reset, METH_VARARGS, NULL},
                                    {"step", batch_step, METH_VARARGS, NULL},
                                    {"counts", batch_counts, METH_VARARGS, NULL},
                                    {NULL, NULL, 0, NULL}};
    static PyGetSetDef more[] = {
        {"shape", batch_shape, NULL, "rows, numbers a row, nodes, types, windows", NULL},
        {NULL, NULL, NULL, NULL, NULL}};
    static PyType_Slot slots[] = {{Py_tp_new, batch_new},
                                  {Py_tp_dealloc, batch_dealloc},
                                  {Py_tp_methods, methods},
                                  {Py_tp_getset, more},
                                  {Py_tp_doc, "Episodes that are stepped together."},
                                  {0, NULL}};
    static PyType_Spec spec = {.name = "dlsim._dlsim.Batch",
                               .basicsize = sizeof(env_batch),
                               .flags = Py_TPFLAGS_DEFAULT,
                               .slots = slots};
    PyObject *type = PyType_FromSpec(&spec);
    const int failed = !type || PyModule_AddObjectRef(module, "Batch", type) < 0;
    Py_XDECREF(type);
    return failed ? -1 : 0;
}
