/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * The workload of a model that is found, at one batch or adapted to any, kept for who asks again.
 */
#include "workload/graph/zoo.h"
#include "workload/kinds.h"
#include "workload/operator/from_graph.h"

#include "base/own.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

/* What a process of PyTorch holds that trains next to nothing, by nvidia-smi: the six jobs PPO and
 * TD3 of Lucid's profiles (S-Lab; 2,051 and 2,059 MiB), which judge no estimate. PyTorch 1.3 to 1.7
 * on other GPUs held 879 to 1,488 (pytorch/pytorch issues 49877, 28394, 60150); since CUDA 11.7
 * kernels are loaded when they are used, and it is 300 to 400 (107667). Convolutions have cuDNN's
 * workspace beside. */
#define PYTORCH_BYTES (2050 * 1048576.0)
#define CUDNN_BYTES (256 * 1048576.0)
#define ALIVE 3 /* results at a time where none is kept: what is read, written, and a residual */

static dls_status at_batch(const dls_model_names *names, int32_t batch, dls_numeric numeric,
                           dls_workload *w, dls_error *err)
{
    dls_zoo_options options = dls_zoo_defaults(names->zoo);
    DLS_HOLD(dls_opgraph_destroy) dls_opgraph *graph = NULL;
    options.batch = batch;
    options.numeric = numeric;
    options.image = names->image;
    options.runner = names->runner;
    options.shards = names->shards;
    options.sequence = names->sequence ? names->sequence : options.sequence;
    DLS_TRY(dls_zoo_build(names->zoo, &options, &graph, err));
    DLS_TRY(dls_workload_from_graph(graph, w, err));
    if (names->runner & DLS_RUN_EAGER) {
        w->activations = names->runner & DLS_RUN_FORWARD ? ALIVE * w->largest : w->kept;
        w->process = PYTORCH_BYTES;
        for (size_t i = 0; i < w->n_kernels && !(w->process > PYTORCH_BYTES); i++) {
            w->process += w->kernel[i].family < DLS_KERNEL_MATMUL ? CUDNN_BYTES : 0;
        }
    }
    return DLS_OK;
}

static dls_grows which_grows(const dls_product *half, const dls_product *whole)
{
    return whole->count > half->count       ? DLS_GROWS_COUNT
           : whole->rows > half->rows       ? DLS_GROWS_ROWS
           : whole->depth > half->depth     ? DLS_GROWS_DEPTH
           : whole->columns > half->columns ? DLS_GROWS_COLUMNS
                                            : DLS_GROWS_UNKNOWN;
}

/* A graph's kernels move a fixed number of elements, weights above all, and a number for each
 * sample; `half` is the same for half of w's batch and tells them apart, and which size of a
 * product grows. */
static void split_traffic(dls_workload *w, const dls_workload *half, double batch)
{
    for (size_t i = 0; i < w->n_kernels && w->n_kernels == half->n_kernels; i++) {
        const double each = 2 * w->kernel[i].moved - half->kernel[i].moved;
        w->kernel[i].moved_once = fmax(0, batch * (w->kernel[i].moved - each));
        w->kernel[i].moved = fmax(0, each);
        w->kernel[i].product.grows = which_grows(&half->kernel[i].product, &w->kernel[i].product);
    }
}

/* Tables whose rows a step changes are those of one batch, that which is asked about. */
static dls_status touch(const dls_model_names *names, dls_numeric numeric, dls_workload *w, dls_error *err)
{
    DLS_OWN(dls_workload_fini) dls_workload at = {0};
    DLS_TRY(at_batch(names, names->samples ? names->samples : names->zoo->batch, numeric, &at, err));
    const dls_workload was = *w;
    w->tensor = at.tensor;
    w->tensor_cap = at.tensor_cap;
    w->params = at.params;
    w->held = at.held;
    at.tensor = was.tensor;
    at.tensor_cap = was.tensor_cap;
    return DLS_OK;
}

static dls_status as_described(const dls_model_names *names, dls_numeric numeric, dls_workload *w,
                               dls_error *err)
{
    if (names->layers) {
        return dls_workload_build(names->layers, w, err);
    }
    const int32_t batch = names->zoo->batch;
    DLS_OWN(dls_workload_fini) dls_workload half = {0};
    if (dls_zoo_only_batch(names->zoo)) { /* all amounts then grow with the batch */
        return at_batch(names, batch, numeric, w, err);
    }
    DLS_TRY(at_batch(names, batch, numeric, &half, err));
    DLS_TRY(at_batch(names, 2 * batch, numeric, w, err));
    split_traffic(w, &half, 2 * batch);
    return dls_zoo_tables(names->zoo) ? touch(names, numeric, w, err) : DLS_OK;
}

static dls_status any_batch(const dls_model_names *names, int32_t batch, dls_numeric numeric,
                            dls_workload *w, dls_error *err)
{
    DLS_TRY(as_described(names, numeric, w, err));
    if (!(names->runner & DLS_RUN_EAGER)) {
        return DLS_OK;
    }
    /* In 32 bits nothing else was measured. */
    const bool half = dls_numeric_bytes(numeric) <= 2;
    const bool first = !half || w->by_channel || names->runner & DLS_RUN_CHANNELS_FIRST;
    const dls_status status =
        dls_workload_lay_out(w, first ? DLS_LAYOUT_FIRST : DLS_LAYOUT_LAST, half, err);
    if (status != DLS_OK) {
        dls_workload_fini(w);
    }
    return status;
}

/* ---- kept ------------------------------------------------------------------------------------ */

/* All that a workload follows from. */
typedef struct work_key {
    char zoo[64];
    int32_t batch, numeric; /* batch 0: every */
    int32_t image, sequence, samples, shards;
    uint32_t runner;
} work_key;

/* false: is not kept. A file can change; layers' own descriptions are built as fast as copied. */
static bool key_of(const dls_model_names *names, int32_t batch, dls_numeric numeric, work_key *key)
{
    if (!names->memo || (names->layers && batch == 0) ||
        dls_zoo_find(names->zoo->name) != names->zoo) {
        return false;
    }
    *key = (work_key){.batch = batch,
                      .numeric = (int32_t)numeric,
                      .image = names->image,
                      .sequence = names->sequence,
                      .samples = names->samples,
                      .shards = names->shards,
                      .runner = names->runner};
    return snprintf(key->zoo, sizeof key->zoo, "%s", names->zoo->name) < (int)sizeof key->zoo;
}

/* A workload whose arrays are the memo's. */
static dls_workload borrow_kept(const dls_workload *kept)
{
    dls_workload w = *kept;
    w.kernel = (dls_kernel *)(uintptr_t)(kept + 1);
    w.tensor = (double *)(w.kernel + w.n_kernels);
    w.kernel_cap = w.tensor_cap = 0;
    return w;
}

typedef dls_status (*maker)(const dls_model_names *names, int32_t batch, dls_numeric numeric,
                            dls_workload *w, dls_error *err);

static dls_status kept_or_made(const dls_model_names *names, int32_t batch, dls_numeric numeric,
                               maker make, dls_workload *w, dls_error *err)
{
    work_key key;
    const bool keeps = key_of(names, batch, numeric, &key);
    const dls_workload *kept = keeps ? dls_memo_find(names->memo, &key, sizeof key) : NULL;
    if (kept) {
        *w = borrow_kept(kept);
        return DLS_OK;
    }
    DLS_TRY(make(names, batch, numeric, w, err));
    dls_workload_find_repeats(w);
    if (keeps) {
        const struct iovec part[] = {{w, sizeof *w},
                                     {w->kernel, w->n_kernels * sizeof *w->kernel},
                                     {w->tensor, w->n_tensors * sizeof *w->tensor}};
        dls_memo_keep(names->memo, &key, sizeof key, part, 3);
    }
    return DLS_OK;
}

dls_status dls_model_at_batch(const dls_model_names *names, int32_t batch, dls_numeric numeric,
                              dls_workload *w, dls_error *err)
{
    return kept_or_made(names, batch, numeric, at_batch, w, err);
}

dls_status dls_model_workload(const dls_model_names *names, dls_numeric numeric, dls_workload *w,
                              dls_error *err)
{
    return kept_or_made(names, 0, numeric, any_batch, w, err);
}
