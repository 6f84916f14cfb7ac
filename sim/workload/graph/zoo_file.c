/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Models out of graph files, beside the zoo's own: opened once in a process and known by their path
 * from then on, read again for every batch.
 */
#include "workload/graph/zoo_impl.h"

#include "base/alloc.h"
#include "workload/graph/import.h"

#include <pthread.h>
#include <stdatomic.h>
#include <string.h>

#define USUAL_BATCH 32 /* of a file that leaves it open */

typedef struct file_model {
    dls_zoo_model model; /* first; named by the path */
    struct file_model *next;
    char dataset[DLS_OPGRAPH_TEXT_MAX];
    bool imported; /* by import.h; else ours */
    int32_t only;  /* the batch that is written into it; 0: left open */
    char path[];
} file_model;

/* Only added to, by one at a time; never freed, so that names stay what they are. */
static _Atomic(file_model *) files;
static pthread_mutex_t adding = PTHREAD_MUTEX_INITIALIZER;

/* Marks a model of a file; never called. */
static void from_file(dls_net *net, int32_t variant)
{
    (void)net;
    (void)variant;
}

static const file_model *file_of(const dls_zoo_model *model)
{
    return model->build == from_file ? (const file_model *)model : NULL;
}

const dls_zoo_model *dls_zoo_find_file(const char *path)
{
    for (const file_model *f = atomic_load(&files); f; f = f->next) {
        if (strcmp(f->path, path) == 0) {
            return &f->model;
        }
    }
    return NULL;
}

int32_t dls_zoo_only_batch(const dls_zoo_model *model)
{
    const file_model *f = file_of(model);
    return f ? f->only : 0;
}

static dls_status read_file(const file_model *f, int32_t batch, int32_t sequence, dls_opgraph **out,
                            dls_error *err)
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
    const file_model *f = file_of(model);
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

static bool ends_with(const char *text, const char *with)
{
    const size_t n = strlen(text), m = strlen(with);
    return n >= m && strcmp(text + n - m, with) == 0;
}

/* What the file says of itself; a batch that can be had twice as large is left open. */
static dls_status learn(file_model *f, dls_error *err)
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

dls_status dls_zoo_open(const char *path, const dls_zoo_model **out, dls_error *err)
{
    dls_status status = DLS_OK;
    pthread_mutex_lock(&adding);
    *out = dls_zoo_find_file(path);
    if (!*out) {
        const size_t n = strlen(path) + 1;
        file_model *f = dls_alloc_zero(1, sizeof *f + n);
        if (!f) {
            pthread_mutex_unlock(&adding);
            return dls_nomem(err, path, sizeof *f + n);
        }
        memcpy(f->path, path, n);
        f->imported =
            ends_with(path, ".pb") || ends_with(path, ".pbtxt") || ends_with(path, ".onnx");
        f->model = (dls_zoo_model){
            .name = f->path, .family = "file", .dataset = f->dataset, .build = from_file};
        status = learn(f, err);
        if (status == DLS_OK) {
            f->next = atomic_load(&files);
            atomic_store(&files, f);
            *out = &f->model;
        } else {
            dls_free(f);
        }
    }
    pthread_mutex_unlock(&adding);
    return status;
}
