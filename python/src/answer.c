/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * What policies in Python return, read and checked: priorities, placements, numbers of jobs.
 */
#include "ext.h"

#include <math.h>

/* Seconds as a key in microseconds. */
static int key_of(double seconds, int64_t *key)
{
    const double most = 4e12;
    if (isnan(seconds)) {
        PyErr_SetString(PyExc_ValueError, "a priority is not a number (NaN)");
        return -1;
    }
    if (isinf(seconds)) {
        *key = seconds > 0 ? INT64_C(4000000000000000000) : INT64_C(-4000000000000000000);
        return 0;
    }
    if (fabs(seconds) > most) {
        PyErr_SetString(PyExc_ValueError, "a priority is beyond 4e12, and not infinite");
        return -1;
    }
    *key = llround(seconds * 1e6);
    return 0;
}

static int number_of(PyObject *said, double *number)
{
    if (PyUnicode_Check(said) || PyBytes_Check(said)) {
        PyErr_Format(PyExc_TypeError, "a priority is a number or (level, number), not %R", said);
        return -1;
    }
    *number = PyFloat_AsDouble(said);
    return PyErr_Occurred() ? -1 : 0;
}

/* A number, or (level, number). */
int ext_read_priority(PyObject *said, dls_priority *out)
{
    double number;
    if (!PyTuple_Check(said)) {
        return number_of(said, &number) < 0 ? -1 : key_of(number, &out->key);
    }
    if (PyTuple_Size(said) != 2) {
        PyErr_Format(PyExc_ValueError, "a priority is a number or (level, number), not %R", said);
        return -1;
    }
    const long level = PyLong_AsLong(PyTuple_GetItem(said, 0));
    if (PyErr_Occurred() || number_of(PyTuple_GetItem(said, 1), &number) < 0) {
        return -1;
    }
    if (level < INT32_MIN || level > INT32_MAX) {
        PyErr_SetString(PyExc_OverflowError, "a priority's level is beyond 32 bits");
        return -1;
    }
    out->level = (int32_t)level;
    return key_of(number, &out->key);
}

/* [(node, gpus)] */
int ext_read_grant(PyObject *said, dls_grant *grant)
{
    const Py_ssize_t n = PySequence_Size(said);
    for (Py_ssize_t i = 0; i < n; i++) {
        PyObject *pair = PySequence_GetItem(said, i), *tuple = pair ? PySequence_Tuple(pair) : NULL;
        long node = 0, gpus = 0;
        if (tuple && PyTuple_Size(tuple) == 2) {
            node = PyLong_AsLong(PyTuple_GetItem(tuple, 0));
            gpus = PyErr_Occurred() ? 0 : PyLong_AsLong(PyTuple_GetItem(tuple, 1));
        } else if (tuple) {
            PyErr_Format(PyExc_ValueError, "a placement is a list of (node, GPUs), not of %R",
                         pair);
        }
        Py_XDECREF(pair);
        Py_XDECREF(tuple);
        if (PyErr_Occurred()) {
            return -1;
        }
        if (node < INT32_MIN || node > INT32_MAX || gpus < INT32_MIN || gpus > INT32_MAX) {
            PyErr_Format(PyExc_ValueError, "there is no node %ld with %ld GPUs", node, gpus);
            return -1;
        }
        dls_grant_add(grant, (int32_t)node, (int32_t)gpus);
    }
    return n < 0 ? -1 : 0;
}

/* ---- job numbers ----------------------------------------------------------------------------- */

static int narrow(long long number, int32_t *out)
{
    if (number < INT32_MIN || number > INT32_MAX) {
        PyErr_Format(PyExc_OverflowError, "%lld is no job", number);
        return -1;
    }
    *out = (int32_t)number;
    return 0;
}

static int each_of_buffer(const Py_buffer *b, ext_each_fn fn, void *user)
{
    const char kind = b->format && strlen(b->format) == 1 ? *b->format : '?';
    if (b->ndim != 1 || !strchr("ilqhb", kind)) {
        PyErr_Format(PyExc_TypeError,
                     "jobs are a one-dimensional array of signed integers, not %dD of '%s'",
                     b->ndim, b->format ? b->format : "B");
        return -1;
    }
    const Py_ssize_t stride = b->strides ? b->strides[0] : b->itemsize;
    for (Py_ssize_t i = 0; i < b->shape[0]; i++) {
        const char *at = (const char *)b->buf + i * stride;
        int64_t wide = 0;
        int32_t number = 0;
        int16_t half = 0;
        if (b->itemsize == 8) {
            memcpy(&wide, at, 8);
        } else if (b->itemsize == 4) {
            memcpy(&number, at, 4);
            wide = number;
        } else if (b->itemsize == 2) {
            memcpy(&half, at, 2);
            wide = half;
        } else {
            wide = *(const signed char *)at;
        }
        if (narrow(wide, &number) < 0 || fn(user, number) < 0) {
            return -1;
        }
    }
    return 0;
}

int ext_each(PyObject *jobs, ext_each_fn fn, void *user)
{
    int32_t number;
    if (PyLong_Check(jobs) || (PyIndex_Check(jobs) && !PyObject_CheckBuffer(jobs))) {
        const long long wide = PyLong_AsLongLong(jobs);
        return PyErr_Occurred() || narrow(wide, &number) < 0 ? -1 : fn(user, number);
    }
    if (PyUnicode_Check(jobs) || PyBytes_Check(jobs)) {
        PyErr_Format(PyExc_TypeError, "jobs are numbers, not %R", jobs);
        return -1;
    }
    if (PyObject_CheckBuffer(jobs)) {
        Py_buffer buffer;
        if (PyObject_GetBuffer(jobs, &buffer, PyBUF_STRIDED_RO | PyBUF_FORMAT) < 0) {
            return -1;
        }
        const bool single = buffer.ndim == 0; /* a NumPy scalar, or an array of no dimension */
        const int done = single ? 0 : each_of_buffer(&buffer, fn, user);
        PyBuffer_Release(&buffer);
        if (!single) {
            return done;
        }
        const long long wide = PyLong_AsLongLong(jobs);
        return PyErr_Occurred() || narrow(wide, &number) < 0 ? -1 : fn(user, number);
    }
    PyObject *list = PySequence_List(jobs);
    for (Py_ssize_t i = 0; list && i < PyList_Size(list); i++) {
        const long long wide = PyLong_AsLongLong(PyList_GetItem(list, i));
        if (PyErr_Occurred() || narrow(wide, &number) < 0 || fn(user, number) < 0) {
            Py_CLEAR(list);
        }
    }
    Py_XDECREF(list);
    return list ? 0 : -1;
}
