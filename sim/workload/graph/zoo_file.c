/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Models out of graph files, beside the zoo's own: opened once in a list of them and known there by
 * their path, read again for every batch.
 */
#include "workload/graph/zoo_impl.h"

#include "base/own.h"
#include "workload/graph/import.h"

#include <string.h>

#define USUAL_BATCH 32 /* of a file that leaves it open */

typedef struct dls_zoo_file {
    dls_zoo_model model; /* first; named by the path */
    struct dls_zoo_file *next;
    char dataset[DLS_OPGRAPH_TEXT_MAX];
    bool imported; /* by import.h; else ours */
    int32_t only;  /* the batch that is written into it; 0: left open */
    char path[];
} dls_zoo_file;

/* Marks a model of a file; never called. */
static void from_file(dls_net *net, const char *spec)
{
}

static const dls_zoo_file *file_of(const dls_zoo_model *model)
{
    return model->design == from_file ? (const dls_zoo_file *)model : NULL;
}

int32_t dls_zoo_only_batch(const dls_zoo_model *model)
{
    const dls_zoo_file *f = file_of(model);
    return f ? f->only : 0;
}

static dls_status read_file(const dls_zoo_file *f, int32_t batch, int32_t sequence,
                            dls_opgraph **out, dls_error *err)
{
    const dls_import_options options = {.batch = batch,
                                        .sequence = sequence,
                                        .device = DLS_IMPORT_DEVICE_AUTO,
                                        .training = true,
                                        .optimiser = DLS_OPTIMISER_MOMENTUM};
    return f->imported ? dls_graph_import(f->path, &options, out, NULL, err)
                       : dls_opgraph_load(f->path, out, err);
}

bool dls_zoo_build_file(const dls_zoo_model *model, const dls_zoo_options *options,
                        dls_opgraph **out, dls_status *status, dls_error *err)
{
    const dls_zoo_file *f = file_of(model);
    if (!f) {
        return false;
    }
    if (f->only && options->batch && options->batch != f->only) {
        *status = dls_fail(err, DLS_EINPUT, f->path, "the graph is of a batch of %d, not of %d",
                           (int)f->only, (int)options->batch);
    } else if (options->image || options->shards > 1) {
        *status =
            dls_fail(err, DLS_EINPUT, f->path, "sizes of a graph from a file stay as they are");
    } else {
        const int32_t batch = options->batch ? options->batch : model->batch;
        *status = read_file(f, batch, options->sequence, out, err);
    }
    return true;
}

/* What the file says of itself; a batch that can be had twice as large is left open. */
static dls_status learn(dls_zoo_file *f, dls_error *err)
{
    dls_opgraph *g, *twice;
    dls_error why = {0};
    DLS_TRY(read_file(f, USUAL_BATCH, 0, &g, &why) == DLS_OK
                ? DLS_OK
                : dls_fail(err, why.status, why.where[0] ? why.where : f->path, "%s", why.msg));
    const dls_opgraph_info info = g->info;
    dls_opgraph_destroy(g);
    if (info.batch < 1) {
        return dls_fail(err, DLS_EINPUT, f->path, "the graph does not say its batch");
    }
    f->model.batch = info.batch;
    f->model.optimiser = info.optimiser;
    memcpy(f->dataset, info.dataset, sizeof f->dataset);
    if (f->imported && read_file(f, 2 * USUAL_BATCH, 0, &twice, NULL) == DLS_OK) {
        f->only = twice->info.batch == 2 * USUAL_BATCH ? 0 : info.batch;
        dls_opgraph_destroy(twice);
    } else {
        f->only = info.batch;
    }
    return DLS_OK;
}

dls_status dls_zoo_open(struct dls_zoo_file **files, const char *path, const dls_zoo_model **out,
                        dls_error *err)
{
    const size_t n = strlen(path) + 1;
    for (const dls_zoo_file *f = *files; f; f = f->next) {
        if (strcmp(f->path, path) == 0) {
            *out = &f->model;
            return DLS_OK;
        }
    }
    DLS_FREED dls_zoo_file *f = NULL;
    DLS_TRY(dls_alloc_array(&f, 1, sizeof *f + n, path, err));
    memcpy(f->path, path, n);
    f->imported = dls_graph_is_imported(path);
    f->model = (dls_zoo_model){
        .name = f->path, .family = "file", .dataset = f->dataset, .design = from_file};
    DLS_TRY(learn(f, err));
    f->next = *files;
    *out = &f->model;
    *files = dls_take(&f);
    return DLS_OK;
}

void dls_zoo_files_free(struct dls_zoo_file *files)
{
    while (files) {
        dls_zoo_file *next = files->next;
        dls_free(files);
        files = next;
    }
}
