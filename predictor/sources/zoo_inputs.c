/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Inspector inputs of zoo models at any batch, interpolated from two built graphs of each model,
 * since amounts are linear in the batch; grouped once a model.
 */
#include "predictor/sources/zoo_inputs.h"

#include "base/alloc.h"
#include "base/fnv.h"
#include "base/own.h"

#include <stdio.h>
#include <string.h>

static void input_destroy(dls_zoo_input *input)
{
    if (input) {
        dls_input_graph_fini(&input->graph);
        DLS_FREE_ALL(input->per_batch, input);
    }
}
DLS_OWNER(dls_zoo_input, input_destroy)

void dls_zoo_inputs_fini(dls_zoo_inputs *z)
{
    for (size_t i = 0; i < z->n; i++) {
        input_destroy(z->input[i]);
    }
    dls_free(z->input);
    z->input = NULL;
    z->n = z->cap = 0;
}

static dls_status graph_of(const dls_zoo_input *input, int32_t batch, dls_opgraph **out,
                           dls_error *err)
{
    const dls_zoo_model *model = input->model;
    dls_zoo_options options = dls_zoo_defaults(model);
    const int32_t only = dls_zoo_only_batch(model); /* what it is of then answers for every batch */
    options.batch = only ? only : batch;
    options.numeric = input->size.numeric;
    options.image = input->size.image;
    options.sequence = input->size.sequence ? input->size.sequence : options.sequence;
    return dls_zoo_build(model, &options, out, err);
}

static uint64_t checksum(const dls_zoo_input *input)
{
    const dls_graph *g = &input->graph;
    const size_t n = (size_t)g->n_nodes, cells = n * (size_t)g->n_features;
    uint64_t h = dls_fnv(DLS_FNV_START, g->x, cells * sizeof *g->x);
    h = dls_fnv(h, input->per_batch, cells * sizeof *input->per_batch);
    h = dls_fnv(h, g->row_start, (n + 1) * sizeof *g->row_start);
    h = dls_fnv(h, g->col, (size_t)g->row_start[n] * sizeof *g->col);
    return h ? h : 1;
}

/* Both graphs have the same operations and edges, so one grouping serves both. */
static dls_status fill(const dls_zoo_inputs *z, dls_zoo_input *input, dls_opgraph *one,
                       const dls_opgraph *two, dls_error *err)
{
    DLS_OWN(dls_grouping_fini) dls_grouping grouping = {0};
    const dls_grouping_how how = dls_input_how(z->spec);
    DLS_TRY(dls_groupings_create(&one, 1, &how, &grouping, err));
    DLS_TRY(dls_input_grouped(z->spec, one, &grouping, &input->graph, NULL, err));
    const dls_graph *g = &input->graph;
    const size_t cells = (size_t)g->n_nodes * (size_t)g->n_features;
    double *x = (double *)(uintptr_t)g->x; /* owned by the graph, which is ours */
    DLS_TRY(dls_alloc_array(&input->per_batch, cells + 1, sizeof *x, "features", err));
    DLS_TRY(dls_features_raw(z->spec->features, one, &grouping, x, NULL, err));
    DLS_TRY(dls_features_raw(z->spec->features, two, &grouping, input->per_batch, NULL, err));
    for (size_t i = 0; i < cells; i++) {
        input->per_batch[i] -= x[i];
    }
    return DLS_OK;
}

static dls_status build(const dls_zoo_inputs *z, dls_zoo_input *input, dls_error *err)
{
    DLS_HOLD(dls_opgraph_destroy) dls_opgraph *one = NULL, *two = NULL;
    DLS_TRY(graph_of(input, 1, &one, err));
    DLS_TRY(graph_of(input, 2, &two, err));
    DLS_TRY(fill(z, input, one, two, err));
    input->checksum = checksum(input);
    return DLS_OK;
}

/* ---- kept ------------------------------------------------------------------------------------ */

/* All that an input follows from. */
typedef struct input_key {
    char spec[DLS_SHA256_HEX], zoo[63];
    int32_t numeric, image, sequence;
} input_key;

/* In a memo, before x, row_start, per_batch and col. */
typedef struct input_head {
    int32_t n_nodes, n_features;
    uint64_t checksum;
} input_head;

/* false: is not kept. A file can change. */
static bool key_of(const dls_zoo_inputs *z, const dls_zoo_input *input, input_key *key)
{
    const char *name = input->model->name;
    if (!z->memo || dls_zoo_find(name) != input->model) {
        return false;
    }
    *key = (input_key){.numeric = (int32_t)input->size.numeric,
                       .image = input->size.image,
                       .sequence = input->size.sequence};
    memcpy(key->spec, z->spec_sha, sizeof key->spec);
    return snprintf(key->zoo, sizeof key->zoo, "%s", name) < (int)sizeof key->zoo;
}

static dls_status copy_kept(const input_head *kept, dls_zoo_input *input, dls_error *err)
{
    dls_graph *g = &input->graph;
    const size_t n = (size_t)kept->n_nodes, cells = n * (size_t)kept->n_features;
    const double *x = (const void *)(kept + 1);
    const int64_t *row_start = (const void *)(x + cells);
    const double *per_batch = (const void *)(row_start + n + 1);
    const int32_t *col = (const void *)(per_batch + cells);
    const size_t n_edges = (size_t)row_start[n];
    g->n_nodes = kept->n_nodes;
    g->n_features = kept->n_features;
    input->checksum = kept->checksum;
    DLS_TRY(dls_duplicate(&g->x, x, cells, cells, sizeof *x, err));
    DLS_TRY(dls_duplicate(&g->row_start, row_start, n + 1, n + 1, sizeof *row_start, err));
    DLS_TRY(dls_duplicate(&g->col, col, n_edges, n_edges, sizeof *col, err));
    return dls_duplicate(&input->per_batch, per_batch, cells, cells + 1, sizeof *per_batch, err);
}

static void keep(dls_memo *memo, const input_key *key, const dls_zoo_input *input)
{
    const dls_graph *g = &input->graph;
    const size_t n = (size_t)g->n_nodes, cells = n * (size_t)g->n_features;
    input_head head = {g->n_nodes, g->n_features, input->checksum};
    const struct iovec part[] = {
        {&head, sizeof head},
        {(void *)(uintptr_t)g->x, cells * sizeof *g->x},
        {(void *)(uintptr_t)g->row_start, (n + 1) * sizeof *g->row_start},
        {input->per_batch, cells * sizeof *input->per_batch},
        {(void *)(uintptr_t)g->col, (size_t)g->row_start[n] * sizeof *g->col}};
    dls_memo_keep(memo, key, sizeof *key, part, sizeof part / sizeof part[0]);
}

static dls_status make(const dls_zoo_inputs *z, dls_zoo_input *input, dls_error *err)
{
    input_key key;
    const bool keeps = key_of(z, input, &key);
    const input_head *kept = keeps ? dls_memo_find(z->memo, &key, sizeof key) : NULL;
    if (kept) {
        return copy_kept(kept, input, err);
    }
    DLS_TRY(build(z, input, err));
    if (keeps) {
        keep(z->memo, &key, input);
    }
    return DLS_OK;
}

/* ---- by model -------------------------------------------------------------------------------- */

dls_status dls_zoo_input_sized(dls_zoo_inputs *z, const dls_zoo_model *model,
                               const dls_zoo_options *size, const dls_zoo_input **out,
                               dls_error *err)
{
    for (size_t i = 0; i < z->n; i++) {
        const dls_zoo_options *own = &z->input[i]->size;
        if (z->input[i]->model == model && own->numeric == size->numeric &&
            own->image == size->image && own->sequence == size->sequence) {
            *out = z->input[i];
            return DLS_OK;
        }
    }
    DLS_TRY(dls_grow(&z->input, &z->cap, z->n + 1, sizeof *z->input, err));
    DLS_HOLD(input_destroy) dls_zoo_input *input = NULL;
    DLS_TRY(dls_alloc_array(&input, 1, sizeof *input, "graph", err));
    input->model = model;
    input->size = *size;
    DLS_TRY(make(z, input, err));
    z->input[z->n++] = input;
    *out = dls_take(&input);
    return DLS_OK;
}

dls_graph dls_zoo_input_at(const dls_zoo_inputs *z, const dls_zoo_input *input, int64_t batch,
                           double *x)
{
    dls_graph g = input->graph;
    const size_t cells = (size_t)g.n_nodes * (size_t)g.n_features;
    for (size_t i = 0; i < cells; i++) {
        x[i] = g.x[i] + (double)(batch - 1) * input->per_batch[i];
    }
    dls_features_normalise(z->spec->features, x, g.n_nodes);
    g.x = x;
    return g;
}
