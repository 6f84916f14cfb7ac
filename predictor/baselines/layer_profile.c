/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Reads PipeDream's graph.txt profiles (one line a layer, one line an edge), connects the layers
 * and turns each into a kernel with its measured time.
 */
#include "predictor/baselines/layer_profile.h"

#include "base/alloc.h"
#include "base/own.h"

#include <math.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define LINE_MAX_BYTES 4096
#define WORD_BYTES 4.0
#define PASSES 3 /* forward, data gradient, weight gradient */

/* A line of the file. */
typedef struct layer {
    long id;
    int line;
    char text[256]; /* what it does */
    double seconds;
    double elements; /* of its result, the whole batch */
    double in;       /* of the results that it reads */
} layer;

typedef struct reading {
    const char *path;
    layer *layer; /* owned */
    size_t n, cap;
    long (*edge)[2]; /* owned */
    size_t n_edges, edge_cap;
    double batch;
} reading;

void dls_layer_profile_fini(dls_layer_profile *p)
{
    if (p) {
        dls_workload_fini(&p->w);
        dls_free(p->seconds);
        *p = (dls_layer_profile){0};
    }
}

static dls_status wrong(const reading *r, int line, const char *what, dls_error *err)
{
    char where[256];
    snprintf(where, sizeof where, "%.240s:%d", r->path, line);
    return dls_fail(err, DLS_EINPUT, where, "%s", what);
}

/* ---- lines ----------------------------------------------------------------------------------- */

/* The number behind "key="; false: none that is finite and at least 0. */
static bool number_of(const char *line, const char *key, double *out)
{
    char *end;
    const char *at = strstr(line, key);
    if (!at) {
        return false;
    }
    at += strlen(key);
    *out = strtod(at, &end);
    return end != at && *out >= 0 && isfinite(*out);
}

static dls_status take_layer(reading *r, const char *line, int at, dls_error *err)
{
    double forward_ms, backward_ms, bytes;
    layer x = {.line = at};
    const char *first = strstr(line, " -- ");
    const char *last = first ? strstr(first + 4, " -- ") : NULL;
    if (!last || sscanf(line, "node%ld", &x.id) != 1 ||
        !number_of(last, "forward_compute_time=", &forward_ms) ||
        !number_of(last, "backward_compute_time=", &backward_ms) ||
        !number_of(last, "activation_size=", &bytes)) {
        return wrong(r, at, "not a layer with its times and its size", err);
    }
    snprintf(x.text, sizeof x.text, "%.*s", (int)(last - first - 4), first + 4);
    x.seconds = (forward_ms + backward_ms) / 1e3;
    x.elements = bytes / WORD_BYTES;
    DLS_TRY(dls_grow(&r->layer, &r->cap, r->n + 1, sizeof *r->layer, err));
    r->layer[r->n++] = x;
    return DLS_OK;
}

static dls_status take_edge(reading *r, const char *line, int at, dls_error *err)
{
    long from, to;
    if (sscanf(line, " node%ld -- node%ld", &from, &to) != 2) {
        return wrong(r, at, "not an edge", err);
    }
    DLS_TRY(dls_grow(&r->edge, &r->edge_cap, r->n_edges + 1, sizeof *r->edge, err));
    r->edge[r->n_edges][0] = from;
    r->edge[r->n_edges++][1] = to;
    return DLS_OK;
}

static dls_status read_lines(reading *r, FILE *f, dls_error *err)
{
    char line[LINE_MAX_BYTES];
    for (int at = 1; fgets(line, sizeof line, f); at++) {
        if (strlen(line) + 1 == sizeof line) {
            return wrong(r, at, "the line is too long", err);
        }
        DLS_TRY(*line == '\t' ? take_edge(r, line, at, err) : take_layer(r, line, at, err));
    }
    return ferror(f) ? wrong(r, 0, "cannot be read", err) : DLS_OK;
}

/* ---- sizes ----------------------------------------------------------------------------------- */

DLS_BY(by_id, layer, DLS_UP(id));

static layer *find(reading *r, long id)
{
    const layer key = {.id = id};
    return bsearch(&key, r->layer, r->n, sizeof key, by_id);
}

/* The layers in order of their numbers, each with what it reads. */
static dls_status connect(reading *r, dls_error *err)
{
    if (r->n == 0) {
        return wrong(r, 1, "no layer", err);
    }
    qsort(r->layer, r->n, sizeof *r->layer, by_id);
    for (size_t i = 1; i < r->n; i++) {
        if (r->layer[i].id == r->layer[i - 1].id) {
            return wrong(r, r->layer[i].line, "a layer of this number is there already", err);
        }
    }
    for (size_t i = 0; i < r->n_edges; i++) {
        const layer *from = find(r, r->edge[i][0]);
        layer *to = find(r, r->edge[i][1]);
        if (!from || !to) {
            return wrong(r, 0, "an edge names a layer that is not there", err);
        }
        to->in += from->elements;
    }
    return DLS_OK;
}

static dls_status find_batch(reading *r, dls_error *err)
{
    static const double side[] = {224, 299};
    for (size_t i = 0; i < r->n; i++) {
        for (size_t s = 0; strcmp(r->layer[i].text, "Input") == 0 && s < 2; s++) {
            const double batch = r->layer[i].elements / (3 * side[s] * side[s]);
            if (batch >= 1 && batch == floor(batch)) {
                r->batch = batch;
                return DLS_OK;
            }
        }
    }
    return wrong(r, 1, "no input of images of 224 or 299 pixels a side", err);
}

/* ---- kernels --------------------------------------------------------------------------------- */

static dls_kernel memory_kernel(const layer *x, double batch, dls_op_family family)
{
    return (dls_kernel){.family = DLS_KERNEL_MEMORY,
                        .op_family = (uint8_t)family,
                        .moved = 2 * (x->in + x->elements) / batch};
}

/* false: sizes that cannot be. */
static bool conv_kernel(const layer *x, double batch, dls_kernel *k)
{
    int in_c = 0, out_c = 0, kernel_h = 0, kernel_w = 0, stride = 0, groups = 1;
    if (sscanf(x->text, "Conv2d(%d, %d, kernel_size=(%d, %d), stride=(%d,", &in_c, &out_c,
               &kernel_h, &kernel_w, &stride) != 5 ||
        in_c < 1 || out_c < 1 || kernel_h < 1 || kernel_w < 1 || stride < 1) {
        return false;
    }
    const char *at = strstr(x->text, "groups=");
    groups = at ? atoi(at + strlen("groups=")) : 1;
    const double pixels = x->elements / batch / out_c, seen = x->in / batch / in_c;
    if (groups < 1 || pixels < 1 || seen < 1 || in_c % groups || out_c % groups) {
        return false;
    }
    const double window = (double)in_c / groups * kernel_h * kernel_w;
    *k = (dls_kernel){
        .family = DLS_KERNEL_CONV_OTHER,
        .op_family = DLS_FAMILY_CONV,
        .flops = PASSES * 2 * pixels * out_c * window,
        .moved = PASSES * (x->in + x->elements) / batch,
        .moved_once = PASSES * out_c * window,
        .count = groups,
        .m = llrint(batch * pixels),
        .n = out_c / groups,
        .k = llrint(window),
        .at_batch = batch,
        .window = {(int32_t)lrint(sqrt(seen)), in_c, out_c, kernel_h, kernel_w, stride, 0}};
    return true;
}

static bool linear_kernel(const layer *x, double batch, dls_kernel *k)
{
    int in = 0, out = 0;
    if (sscanf(x->text, "Linear(in_features=%d, out_features=%d", &in, &out) != 2 || in < 1 ||
        out < 1) {
        return false;
    }
    *k = (dls_kernel){.family = DLS_KERNEL_MATMUL,
                      .op_family = DLS_FAMILY_MATMUL,
                      .flops = PASSES * 2.0 * in * out,
                      .moved = PASSES * (in + out),
                      .moved_once = PASSES * (double)in * out,
                      .count = 1,
                      .m = llrint(batch),
                      .n = out,
                      .k = in,
                      .at_batch = batch};
    return true;
}

static bool kernel_of(const layer *x, double batch, dls_kernel *k)
{
    static const struct {
        const char *name;
        dls_op_family family;
    } moves[] = {{"BatchNorm2d(", DLS_FAMILY_NORM}, {"ReLU(", DLS_FAMILY_ELEMENTWISE},
                 {"MaxPool2d(", DLS_FAMILY_POOL},   {"AvgPool2d(", DLS_FAMILY_POOL},
                 {"Concat(", DLS_FAMILY_DATA},      {"Add(", DLS_FAMILY_ELEMENTWISE},
                 {"Dropout(", DLS_FAMILY_RANDOM}};
    for (size_t i = 0; i < sizeof moves / sizeof moves[0]; i++) {
        if (strncmp(x->text, moves[i].name, strlen(moves[i].name)) == 0) {
            *k = memory_kernel(x, batch, moves[i].family);
            return true;
        }
    }
    return conv_kernel(x, batch, k) || linear_kernel(x, batch, k);
}

static dls_status take_kernels(const reading *r, dls_layer_profile *p, dls_error *err)
{
    p->batch = r->batch;
    for (size_t i = 0; i < r->n; i++) {
        const layer *x = &r->layer[i];
        dls_workload *w = &p->w;
        dls_kernel k;
        if (x->seconds == 0 || strcmp(x->text, "Input") == 0) {
            continue;
        }
        if (!kernel_of(x, r->batch, &k)) {
            return wrong(r, x->line, "a time for a layer of unknown kind or impossible size", err);
        }
        DLS_TRY(dls_grow(&w->kernel, &w->kernel_cap, w->n_kernels + 1, sizeof k, err));
        DLS_TRY(dls_grow(&p->seconds, &p->cap, w->n_kernels + 1, sizeof *p->seconds, err));
        k.repeats = 1;
        k.tensor = -1;
        k.layer = w->n_layers++;
        p->seconds[w->n_kernels] = x->seconds;
        w->kernel[w->n_kernels++] = k;
    }
    return p->w.n_kernels ? DLS_OK : wrong(r, 1, "no layer takes any time", err);
}

static void reading_fini(reading *r)
{
    DLS_FREE_ALL(r->layer, r->edge);
}

dls_status dls_layer_profile_read(const char *path, const char *model, dls_layer_profile *p,
                                  dls_error *err)
{
    DLS_OWN(reading_fini) reading r = {.path = path};
    *p = (dls_layer_profile){0};
    snprintf(p->w.name, sizeof p->w.name, "%s", model);
    FILE *f = fopen(path, "re");
    if (!f) {
        return dls_fail(err, DLS_EINPUT, path, "cannot be opened");
    }
    dls_status status = read_lines(&r, f, err);
    fclose(f);
    DLS_THEN(status, connect(&r, err));
    DLS_THEN(status, find_batch(&r, err));
    DLS_THEN(status, take_kernels(&r, p, err));
    if (status != DLS_OK) {
        dls_layer_profile_fini(p);
    }
    return status;
}
