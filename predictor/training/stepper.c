/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Cuts a batch into blocks of graphs of one size, runs their forward and backward passes on
 * threads, and adds the gradients in block order, so that results do not depend on the threads.
 */
#include "predictor/training/stepper.h"

#include "base/alloc.h"
#include "base/own.h"
#include "base/team.h"
#include "predictor/driple/backend.h"

#include <stdio.h>
#include <string.h>

/* Samples first .. first + size.n - 1 of the order. */
typedef struct piece {
    size_t first, first_row, bytes;
    dls_step_size size;
} piece;

struct dls_stepper {
    const dls_trainee *net;
    const dls_step_engine *engine;
    void *state;
    int32_t threads;
    void **memory;   /* [threads] */
    size_t *bytes;   /* [threads] */
    void **gradient; /* [n_gradients] one per piece */
    size_t n_gradients, cap_gradients;
    piece *pieces;
    size_t n_pieces, cap_pieces;
    size_t *order;           /* samples by number of nodes, otherwise as given */
    dls_step_sample *sample; /* in that order */
    size_t *row;             /* [n + 1] first row of a sample as given, all rows */
    double *out;             /* of all rows, by samples in that order */
    size_t cap_order, cap_sample, cap_row, cap_out;
    char text[64];
};

dls_status dls_stepper_create(const dls_trainee *net, const dls_stepper_options *opts,
                              dls_stepper **out, dls_error *err)
{
    *out = NULL;
    const dls_step_engine *engine = dls_step_engine_find(opts->f64, opts->isa);
    if (!engine) {
        return dls_fail(err, DLS_EINPUT, NULL,
                        "no training engine \"%s\" here (scalar, avx2, avx512; float64 has scalar "
                        "only)",
                        opts->isa);
    }
    DLS_HOLD(dls_stepper_destroy) dls_stepper *s = NULL;
    DLS_TRY(dls_alloc_array(&s, 1, sizeof *s, "training step", err));
    s->net = net;
    s->engine = engine;
    s->threads = opts->threads > 0 ? opts->threads : dls_team_cores();
    s->threads = s->threads > DLS_TEAM_MAX ? DLS_TEAM_MAX : s->threads;
    s->memory = dls_alloc_zero((size_t)s->threads, sizeof *s->memory);
    s->bytes = dls_alloc_zero((size_t)s->threads, sizeof *s->bytes);
    DLS_TRY(s->memory && s->bytes ? engine->open(net, &s->state, err)
                                  : dls_nomem(err, "threads", (size_t)s->threads * sizeof(void *)));
    snprintf(s->text, sizeof s->text, "%s, %s, %d thread%s", engine->isa,
             engine->f64 ? "f64" : "f32", (int)s->threads, s->threads == 1 ? "" : "s");
    *out = dls_take(&s);
    return DLS_OK;
}

void dls_stepper_destroy(dls_stepper *s)
{
    if (!s) {
        return;
    }
    for (int32_t i = 0; s->memory && i < s->threads; i++) {
        dls_free(s->memory[i]);
    }
    for (size_t i = 0; i < s->n_gradients; i++) {
        dls_free(s->gradient[i]);
    }
    s->engine->close(s->state);
    DLS_FREE_ALL(s->memory, s->bytes, s->gradient, s->pieces, s->order, s->sample, s->row, s->out,
                 s);
}

const char *dls_stepper_describe(const dls_stepper *s)
{
    return s->text;
}

void dls_stepper_load(dls_stepper *s)
{
    s->engine->load(s->state);
}

size_t dls_stepper_bytes(const dls_stepper *s)
{
    size_t sum = s->n_gradients * s->engine->gradient_bytes(s->state);
    for (int32_t i = 0; i < s->threads; i++) {
        sum += s->bytes[i];
    }
    return sum;
}

static dls_status reserve(dls_stepper *s, int32_t thread, size_t bytes, dls_error *err)
{
    if (s->bytes[thread] < bytes) {
        dls_free(s->memory[thread]);
        s->bytes[thread] = 0;
        s->memory[thread] = dls_alloc_aligned(bytes);
        if (!s->memory[thread]) {
            return dls_nomem(err, "working memory of the training", bytes);
        }
        s->bytes[thread] = bytes;
    }
    return DLS_OK;
}

dls_status dls_stepper_start(dls_stepper *s, const dls_graph *g, void **out, dls_error *err)
{
    *out = NULL;
    const int32_t layers =
        dls_trainee_frozen_layers(s->net, dls_arch_layers(&s->net->arch, g->n_nodes));
    if (layers == 0 || s->net->arch.skip) {
        return DLS_OK;
    }
    dls_step_size size = {.n_nodes = g->n_nodes, .n = 1, .rows = 1};
    dls_graph_extent(g, &size.edges, &size.degree);
    DLS_TRY(reserve(s, 0, s->engine->work_bytes(s->state, &size), err));
    void *start = dls_alloc(s->engine->start_bytes(s->state, g->n_nodes));
    if (!start) {
        return dls_nomem(err, "state of a graph", s->engine->start_bytes(s->state, g->n_nodes));
    }
    s->engine->start(s->state, s->memory[0], g, &size, layers, start);
    *out = start;
    return DLS_OK;
}

/* ---- cutting -------------------------------------------------------------------------------- */

/* Stable, and batches are small. */
static void sort_by_size(const dls_batch *b, size_t *order)
{
    for (size_t i = 0; i < b->n; i++) {
        size_t at = i;
        const int32_t size = b->sample[i].graph->n_nodes;
        while (at > 0 && b->sample[order[at - 1]].graph->n_nodes > size) {
            order[at] = order[at - 1];
            at--;
        }
        order[at] = i;
    }
}

/* A block of n samples, and its workspace. */
static size_t block_of(const dls_stepper *s, const dls_batch *b, size_t first, size_t n,
                       dls_step_size *size)
{
    *size = (dls_step_size){.n_nodes = s->sample[first].graph->n_nodes,
                            .n = n,
                            .backward = b->gradient != NULL,
                            .keep = true,
                            .dropout = b->dropout > 0};
    for (size_t i = first; i < first + n; i++) {
        dls_graph_extent(s->sample[i].graph, &size->edges, &size->degree);
        size->rows += dls_step_rows(&s->sample[i]);
    }
    return s->engine->work_bytes(s->state, size);
}

/* The cut depends on the samples alone, so sums have one order. */
static dls_status cut(dls_stepper *s, const dls_batch *b, dls_error *err)
{
    size_t row = 0;
    s->n_pieces = 0;
    for (size_t i = 0; i < b->n;) {
        dls_step_size size;
        size_t n = 1;
        while (i + n < b->n && n < DLS_BLOCK_GRAPHS &&
               s->sample[i + n].graph->n_nodes == s->sample[i].graph->n_nodes &&
               !s->sample[i + n].start == !s->sample[i].start) {
            n++;
        }
        while (n > 1 && block_of(s, b, i, n, &size) > DLS_BLOCK_BYTES) {
            n--;
        }
        size.keep = block_of(s, b, i, n, &size) <= DLS_BLOCK_BYTES && size.backward;
        const size_t bytes = s->engine->work_bytes(s->state, &size);
        DLS_TRY(dls_grow(&s->pieces, &s->cap_pieces, s->n_pieces + 1, sizeof *s->pieces, err));
        s->pieces[s->n_pieces++] = (piece){i, row, bytes, size};
        for (const size_t end = i + n; i < end; i++) {
            row += dls_step_rows(&s->sample[i]);
        }
    }
    return DLS_OK;
}

static dls_status prepare(dls_stepper *s, const dls_batch *b, dls_error *err)
{
    const size_t outputs = (size_t)s->net->arch.n_outputs;
    DLS_TRY(dls_grow(&s->order, &s->cap_order, b->n, sizeof *s->order, err));
    DLS_TRY(dls_grow(&s->sample, &s->cap_sample, b->n, sizeof *s->sample, err));
    DLS_TRY(dls_grow(&s->row, &s->cap_row, b->n + 1, sizeof *s->row, err));
    sort_by_size(b, s->order);
    s->row[0] = 0;
    for (size_t i = 0; i < b->n; i++) {
        s->sample[i] = b->sample[s->order[i]];
        s->row[i + 1] = s->row[i] + dls_step_rows(&b->sample[i]);
    }
    DLS_TRY(dls_grow(&s->out, &s->cap_out, s->row[b->n] * outputs, sizeof *s->out, err));
    DLS_TRY(cut(s, b, err));
    size_t most = 0;
    for (size_t i = 0; i < s->n_pieces; i++) {
        most = s->pieces[i].bytes > most ? s->pieces[i].bytes : most;
    }
    for (int32_t i = 0; i < s->threads && (size_t)i < s->n_pieces; i++) {
        DLS_TRY(reserve(s, i, most, err));
    }
    DLS_TRY(dls_grow(&s->gradient, &s->cap_gradients, s->n_pieces, sizeof *s->gradient, err));
    while (b->gradient && s->n_gradients < s->n_pieces) {
        void *g = dls_alloc_aligned(s->engine->gradient_bytes(s->state));
        if (!g) {
            return dls_nomem(err, "gradient", s->engine->gradient_bytes(s->state));
        }
        s->gradient[s->n_gradients++] = g;
    }
    return DLS_OK;
}

/* ---- running -------------------------------------------------------------------------------- */

typedef struct task {
    dls_stepper *s;
    const dls_batch *batch;
} task;

static void work(void *user, int32_t seat, size_t item)
{
    const task *t = user;
    const dls_stepper *s = t->s;
    const size_t outputs = (size_t)s->net->arch.n_outputs;
    const piece *p = &s->pieces[item];
    const dls_step_block block = {.sample = s->sample + p->first,
                                  .size = p->size,
                                  .weight = 2.0 / ((double)s->row[t->batch->n] * (double)outputs),
                                  .pairs = t->batch->pairs,
                                  .dropout = t->batch->dropout,
                                  .out = s->out + p->first_row * outputs,
                                  .gradient = t->batch->gradient ? s->gradient[item] : NULL};
    s->engine->run(s->state, s->memory[seat], &block);
}

static double loss_of(const dls_stepper *s, const dls_batch *b)
{
    const size_t outputs = (size_t)s->net->arch.n_outputs;
    double sum = 0;
    size_t n = 0;
    for (size_t i = 0; i < b->n; i++) {
        const double *out = b->out + s->row[i] * outputs;
        const size_t cells = (s->row[i + 1] - s->row[i]) * outputs;
        for (size_t k = 0; b->sample[i].target && k < cells; k++) {
            const double d = out[k] - b->sample[i].target[k];
            sum += (1 + b->pairs) * d * d;
            n++;
        }
        for (size_t k = 0; b->sample[i].target && b->pairs > 0 && k < outputs; k++) {
            const double mean = dls_step_mean_error(&b->sample[i], out, outputs, k);
            sum -= b->pairs * mean * mean * (double)(s->row[i + 1] - s->row[i]);
        }
    }
    return n ? sum / (double)n : 0;
}

dls_status dls_stepper_run(dls_stepper *s, const dls_batch *b, double *loss, dls_error *err)
{
    const size_t outputs = (size_t)s->net->arch.n_outputs;
    *loss = 0;
    if (b->n == 0) {
        return DLS_OK;
    }
    DLS_TRY(prepare(s, b, err));
    task t = {.s = s, .batch = b};
    dls_team_run(s->threads, s->n_pieces, work, &t);
    const double *out = s->out;
    for (size_t i = 0; i < b->n; i++) {
        const size_t *row = &s->row[s->order[i]];
        const size_t cells = (row[1] - row[0]) * outputs;
        memcpy(b->out + row[0] * outputs, out, cells * sizeof *out);
        out += cells;
    }
    if (b->gradient) {
        for (size_t i = 1; i < s->n_pieces; i++) {
            s->engine->add(s->state, s->gradient[0], s->gradient[i]);
        }
        s->engine->scatter(s->state, s->gradient[0], b->gradient);
    }
    *loss = loss_of(s, b);
    return DLS_OK;
}
