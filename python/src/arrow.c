/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Columns as Arrow arrays, and several as a stream of one batch, without a copy of numbers: codes
 * are a dictionary, one outside of it is null.
 */
#include "arrow.h"
#include "column.h"

#include <stdlib.h>
#include <string.h>

/* ---- Arrow: schemas -------------------------------------------------------------------------- */

static void release_schema(struct ArrowSchema *s)
{
    for (int64_t i = 0; i < s->n_children; i++) {
        if (s->children[i]->release) {
            s->children[i]->release(s->children[i]);
        }
        free(s->children[i]);
    }
    if (s->dictionary) {
        if (s->dictionary->release) {
            s->dictionary->release(s->dictionary);
        }
        free(s->dictionary);
    }
    free(s->children);
    free(s->private_data);
    s->release = NULL;
}

/* Names are owned; formats are constants. */
static int begin_schema(struct ArrowSchema *s, const char *format, const char *name)
{
    char *mine = strdup(name);
    *s = (struct ArrowSchema){
        .format = format, .name = mine, .release = release_schema, .private_data = mine};
    return mine ? 0 : -1;
}

static const char *large(const ext_texts *t)
{
    return t->offset[t->n] > INT32_MAX ? "U" : "u";
}

static int column_schema(const column *c, struct ArrowSchema *s)
{
    PyObject *utf8 = PyUnicode_AsUTF8String(c->name);
    int failed = !utf8 || begin_schema(s, c->data ? column_kinds[c->type].arrow : large(c->texts),
                                       PyBytes_AsString(utf8));
    Py_XDECREF(utf8);
    if (!failed && c->texts && c->data) {
        s->flags = ARROW_FLAG_NULLABLE;
        s->dictionary = calloc(1, sizeof *s->dictionary);
        failed = !s->dictionary || begin_schema(s->dictionary, large(c->texts), "");
    }
    if (failed && s->release) {
        s->release(s);
    }
    return failed ? -1 : 0;
}

/* ---- Arrow: arrays --------------------------------------------------------------------------- */

/* What an exported array keeps. */
typedef struct kept {
    PyObject *column;
    ext_texts *texts;
    int32_t *offsets;
    uint8_t *valid;
    const void *buffers[3];
} kept;

static void release_array(struct ArrowArray *a)
{
    const PyGILState_STATE gil = PyGILState_Ensure();
    kept *k = a->private_data;
    for (int64_t i = 0; i < a->n_children; i++) {
        if (a->children[i]->release) {
            a->children[i]->release(a->children[i]);
        }
        free(a->children[i]);
    }
    free(a->children);
    if (a->dictionary) {
        if (a->dictionary->release) {
            a->dictionary->release(a->dictionary);
        }
        free(a->dictionary);
    }
    Py_XDECREF(k->column);
    ext_texts_release(k->texts);
    free(k->offsets);
    free(k->valid);
    free(k);
    a->release = NULL;
    PyGILState_Release(gil);
}

static kept *begin_array(struct ArrowArray *a, size_t n, int64_t n_buffers)
{
    kept *k = calloc(1, sizeof *k);
    if (k) {
        *a = (struct ArrowArray){.length = (int64_t)n,
                                 .n_buffers = n_buffers,
                                 .buffers = k->buffers,
                                 .release = release_array,
                                 .private_data = k};
    }
    return k;
}

static int text_array(ext_texts *t, struct ArrowArray *a)
{
    kept *k = begin_array(a, t->n, 3);
    if (!k) {
        return -1;
    }
    k->texts = t;
    t->users++;
    k->buffers[1] = t->offset;
    k->buffers[2] = t->bytes;
    if (*large(t) == 'u') {
        k->offsets = malloc((t->n + 1) * sizeof *k->offsets);
        for (size_t i = 0; k->offsets && i <= t->n; i++) {
            k->offsets[i] = (int32_t)t->offset[i];
        }
        k->buffers[1] = k->offsets;
    }
    return k->buffers[1] ? 0 : -1;
}

/* Codes outside of the names are null. */
static int mark_nulls(const column *c, kept *k, struct ArrowArray *a)
{
    for (Py_ssize_t i = 0; i < c->n; i++) {
        if ((uint64_t)column_code(c, i) < c->texts->n) {
            continue;
        }
        if (!k->valid) {
            k->valid = malloc((size_t)c->n / 8 + 1);
            if (!k->valid) {
                return -1;
            }
            memset(k->valid, 0xff, (size_t)c->n / 8 + 1);
            k->buffers[0] = k->valid;
        }
        k->valid[i / 8] &= (uint8_t) ~(1u << i % 8);
        a->null_count++;
    }
    return 0;
}

static int fill_array(column *c, struct ArrowArray *a)
{
    if (!c->data) {
        return text_array(c->texts, a);
    }
    kept *k = begin_array(a, (size_t)c->n, 2);
    if (!k) {
        return -1;
    }
    k->column = Py_NewRef((PyObject *)c);
    k->buffers[1] = c->data;
    if (c->texts) {
        a->dictionary = calloc(1, sizeof *a->dictionary);
        if (!a->dictionary || mark_nulls(c, k, a) || text_array(c->texts, a->dictionary)) {
            return -1;
        }
    }
    return 0;
}

static int column_array(column *c, struct ArrowArray *a)
{
    const int failed = fill_array(c, a);
    if (failed && a->release) {
        a->release(a);
    }
    return failed;
}

/* ---- Arrow: capsules ------------------------------------------------------------------------- */

static void free_schema(PyObject *capsule)
{
    struct ArrowSchema *s = PyCapsule_GetPointer(capsule, "arrow_schema");
    if (s->release) {
        s->release(s);
    }
    free(s);
}

static void free_array(PyObject *capsule)
{
    struct ArrowArray *a = PyCapsule_GetPointer(capsule, "arrow_array");
    if (a->release) {
        a->release(a);
    }
    free(a);
}

static void free_stream(PyObject *capsule)
{
    struct ArrowArrayStream *s = PyCapsule_GetPointer(capsule, "arrow_array_stream");
    if (s->release) {
        s->release(s);
    }
    free(s);
}

PyObject *column_arrow_schema(PyObject *self, PyObject *unused)
{
    struct ArrowSchema *s = calloc(1, sizeof *s);
    if (!s || column_schema((column *)self, s)) {
        free(s);
        return PyErr_NoMemory();
    }
    return PyCapsule_New(s, "arrow_schema", free_schema);
}

PyObject *column_arrow_array(PyObject *self, PyObject *args, PyObject *kwargs)
{
    static char *words[] = {"requested_schema", NULL};
    PyObject *requested = NULL; /* may be left unheeded */
    if (!PyArg_ParseTupleAndKeywords(args, kwargs, "|O", words, &requested)) {
        return NULL;
    }
    PyObject *schema = column_arrow_schema(self, NULL);
    struct ArrowArray *a = schema ? calloc(1, sizeof *a) : NULL;
    if (!a || column_array((column *)self, a)) {
        free(a);
        Py_XDECREF(schema);
        return PyErr_Occurred() ? NULL : PyErr_NoMemory();
    }
    return Py_BuildValue("(NN)", schema, PyCapsule_New(a, "arrow_array", free_array));
}

/* ---- Arrow: streams -------------------------------------------------------------------------- */

typedef struct source {
    PyObject *columns; /* a tuple */
    bool given;
} source;

static int stream_schema(struct ArrowArrayStream *stream, struct ArrowSchema *out)
{
    const PyGILState_STATE gil = PyGILState_Ensure();
    const source *from = stream->private_data;
    const Py_ssize_t n = PyTuple_Size(from->columns);
    int failed = begin_schema(out, "+s", "");
    out->children = failed ? NULL : calloc((size_t)n + 1, sizeof *out->children);
    failed = !out->children;
    for (Py_ssize_t i = 0; i < n && !failed; i++) {
        out->children[i] = calloc(1, sizeof **out->children);
        failed = !out->children[i];
        out->n_children += !failed;
        failed =
            failed || column_schema((column *)PyTuple_GetItem(from->columns, i), out->children[i]);
    }
    if (failed && out->release) {
        out->release(out);
    }
    PyGILState_Release(gil);
    return failed ? 12 : 0; /* ENOMEM */
}

static int stream_next(struct ArrowArrayStream *stream, struct ArrowArray *out)
{
    source *from = stream->private_data;
    *out = (struct ArrowArray){0};
    if (from->given) {
        return 0;
    }
    const PyGILState_STATE gil = PyGILState_Ensure();
    const Py_ssize_t n = PyTuple_Size(from->columns);
    const size_t rows = n > 0 ? (size_t)((column *)PyTuple_GetItem(from->columns, 0))->n : 0;
    int failed = !begin_array(out, rows, 1);
    out->children = failed ? NULL : calloc((size_t)n + 1, sizeof *out->children);
    failed = !out->children;
    for (Py_ssize_t i = 0; i < n && !failed; i++) {
        out->children[i] = calloc(1, sizeof **out->children);
        failed = !out->children[i];
        out->n_children += !failed;
        failed =
            failed || column_array((column *)PyTuple_GetItem(from->columns, i), out->children[i]);
    }
    if (failed && out->release) {
        out->release(out);
    }
    from->given = true;
    PyGILState_Release(gil);
    return failed ? 12 : 0;
}

static const char *stream_error(struct ArrowArrayStream *stream)
{
    return "out of memory";
}

static void stream_release(struct ArrowArrayStream *stream)
{
    const PyGILState_STATE gil = PyGILState_Ensure();
    source *from = stream->private_data;
    Py_DECREF(from->columns);
    free(from);
    stream->release = NULL;
    PyGILState_Release(gil);
}

PyObject *ext_stream(PyObject *module, PyObject *columns)
{
    PyObject *tuple = PySequence_Tuple(columns);
    for (Py_ssize_t i = 0; tuple && i < PyTuple_Size(tuple); i++) {
        column *c = (column *)PyTuple_GetItem(tuple, i),
               *first = (column *)PyTuple_GetItem(tuple, 0);
        if (Py_TYPE((PyObject *)c) != column_type || c->n != first->n) {
            PyErr_SetString(PyExc_TypeError, "columns of one length are wanted");
            Py_CLEAR(tuple);
        }
    }
    if (!tuple) {
        return NULL;
    }
    struct ArrowArrayStream *stream = calloc(1, sizeof *stream);
    source *from = calloc(1, sizeof *from);
    if (!stream || !from) {
        free(stream);
        free(from);
        Py_DECREF(tuple);
        return PyErr_NoMemory();
    }
    from->columns = tuple;
    *stream =
        (struct ArrowArrayStream){stream_schema, stream_next, stream_error, stream_release, from};
    return PyCapsule_New(stream, "arrow_array_stream", free_stream);
}
