/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * The extension module _dlsim: Python objects over the public library, in the limited API. What is
 * convenient lies in python/dlsim; here is what needs C.
 *
 *      column.c       columns of numbers, codes and texts, as buffers; arrow.c: as Arrow arrays
 *      trace.c, simulation.c  traces, set-ups and simulations
 *      tables.c       their tables, names and numbers; runs of files
 *      policy.c       policies in Python: what the engine calls
 *      job.c, look.c  what such a policy sees of a job, of all jobs and of the cluster
 *      env.c          episodes of many simulations, for reinforcement learning
 *      act.c          what it does; answer.c: what it returns
 *
 * Threads: everything here runs with the interpreter lock but a simulation without policies in
 * Python, which gives it up while it runs. A simulation that is used from a second thread
 * meanwhile, or from a callback of its own, raises UsageError.
 */
#ifndef DLSIM_PYTHON_EXT_H
#define DLSIM_PYTHON_EXT_H

#define PY_SSIZE_T_CLEAN
#include <Python.h>

#include "dlsim/results.h"
#include "dlsim/run.h"

#include <stdbool.h>
#include <stdio.h>
#include <string.h>

/* Python gives every method, and the engine every callback, more than most of them look at. */
#pragma GCC diagnostic ignored "-Wunused-parameter"

/* ---- errors: module.c ---- */

/* The exception of a status, with the error's text; returns NULL. problems: a set-up's, or NULL. */
PyObject *ext_raise(const dls_error *err, const dls_setup *problems);
PyObject *ext_raise_usage(const char *fmt, ...);
PyObject *ext_ended(const char *what); /* what lives for one call is used after it; NULL */
void ext_dealloc(PyObject *object);    /* of objects that own nothing */

/* ---- columns: column.c ---- */

/* Texts one behind another, shared by columns. */
typedef struct ext_texts ext_texts;
typedef const char *(*ext_text_fn)(const void *of, const char *column,
                                   size_t i); /* NULL: past the last */
ext_texts *ext_texts_create(ext_text_fn get, const void *of, const char *column, size_t most);
void ext_texts_release(ext_texts *texts); /* NULL-safe */

size_t ext_width(dls_value_type type); /* bytes of a value */
/* A column that borrows from owner, kept alive; NULL: it takes data, memory of PyMem. names: what
 * codes mean, taken, NULL: plain numbers. */
PyObject *ext_column(PyObject *owner, const dls_result_column *c, ext_texts *names);
/* Of texts, taken. */
PyObject *ext_text_column(const char *name, const char *description, ext_texts *texts);
/* n numbers in memory of PyMem, taken also on failure. */
PyObject *ext_own_column(const char *name, dls_value_type type, size_t n, void *data);
/* As a NumPy array if there is NumPy, else a memoryview; takes the reference to the column. */
PyObject *ext_as_array(PyObject *column);
/* A stream of one batch of these columns, a PyCapsule. */
PyObject *ext_stream(PyObject *module, PyObject *columns);

/* ---- simulations: simulation.c ---- */

typedef struct ext_context ext_context;

typedef struct ext_trace {
    PyObject_HEAD dls_trace *trace;
} ext_trace;

typedef struct ext_simulation {
    PyObject_HEAD PyObject *setup, *trace; /* borrowed from by sim, so kept */
    dls_simulation *sim;
    ext_context
        *context[2]; /* of its policies in Python: scheduler, placement; in the engine's memory */
    PyObject *raised[3];      /* the exception that ended a callback: type, value, traceback */
    PyObject *progress;       /* called now and then; may be NULL */
    PyThreadState *released;  /* the lock is given up */
    PyObject *view, *act;     /* of the decision at which it stands; may be NULL */
    unsigned long long calls; /* of Python, begun and ended: odd in a call */
    bool busy;
} ext_simulation;

/* The policies in Python of a set-up, a list. */
PyObject *ext_setup_policies(PyObject *setup);
dls_setup *ext_setup_of(PyObject *setup);            /* NULL with an exception: another object */
PyObject *ext_table(PyObject *self, PyObject *args); /* Simulation.table(number) */
PyObject *ext_numbers(PyObject *self, PyObject *unused); /* {name: (value, unit, description)} */
/* Keep the exception that is set, to be raised when the library has returned. */
void ext_keep_raised(ext_simulation *sim);

/* ---- policies: policy.c ---- */

/* The tables of a Policy object; NULL: it is not of this kind. */
const dls_sched_ops *ext_policy_sched(PyObject *policy);
const dls_placement_ops *ext_policy_placement(PyObject *policy);
/* The simulation whose policies are being made by the library in this thread; returns the one
 * before. */
ext_simulation *ext_making(ext_simulation *sim);
void ext_context_visit(ext_context *context, visitproc visit, void *arg, int *stop);
void ext_context_clear(ext_context *context);

/* ---- what policies return: answer.c ---- */

/* 0, or -1 with an exception. A number of seconds, or (level, number); [(node, gpus)]. */
int ext_read_priority(PyObject *said, dls_priority *out);
int ext_read_grant(PyObject *said, dls_grant *grant);
/* Call for every job number in a number, a buffer of integers or a sequence; 0, or -1 with an
 * exception. */
typedef int (*ext_each_fn)(void *user, int32_t job);
int ext_each(PyObject *jobs, ext_each_fn fn, void *user);

/* ---- what policies see and answer: look.c, act.c ---- */

/* Numbers about a job, in the order of a compiled priority's record; times in seconds, NAN: absent.
 */
double ext_job_number(const dls_view *view, int32_t job, int field);
int ext_job_field(const char *name); /* -1: there is none */
extern const char *const ext_job_fields[];

/* They live for one call: ended, they raise. */
PyObject *ext_job(const dls_view *view, int32_t job);
void ext_job_set(PyObject *job, const dls_view *view, int32_t index);
double ext_job_again(PyObject *job); /* seconds until it is to be asked about again; < 0: not */
PyObject *ext_view(ext_simulation *sim, const dls_view *view);
PyObject *ext_nodes(ext_simulation *sim, const dls_place_index *index);
void ext_view_end(PyObject *view);
PyObject *ext_request(const dls_request *request);
void ext_request_end(PyObject *request);
PyObject *ext_actions(dls_actions *actions);
PyObject *ext_plan(dls_plan *plan, const dls_view *view);
void ext_actions_end(PyObject *actions); /* also of a plan */

extern PyTypeObject *ext_simulation_type, *ext_trace_type, *ext_policy_type;
/* Types of each file, made and put into the module; 0, or -1. */
typedef int ext_types(PyObject *module);
ext_types ext_column_types, ext_trace_types, ext_simulation_types, ext_table_types,
    ext_policy_types, ext_job_types, ext_look_types, ext_act_types, ext_env_types;
/* plugin([Policy]): what this module's dls_plugin_entry gives. */
PyObject *ext_plugin(PyObject *module, PyObject *policies);

#endif
