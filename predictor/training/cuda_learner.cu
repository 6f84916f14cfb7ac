/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Training on a CUDA device, in the module of the CUDA backend. Graphs, labels, values and moments
 * stay on the device; a step uploads the plan of its batch and launches, and the host reads nothing
 * before the end of an epoch:
 *
 *     begin | layer 0 .. L-1 | readout | MLP, loss | readout back | layer L-1 .. 0 back |
 *     weights' gradients: one product per matrix over all layers, steps and graphs | optimiser
 *
 * Every sum has one order, so a training can be repeated to the bit on the same device.
 */
#include "predictor/training/cuda_gradients.cuh"

#include <cstdio>

/* ---- opening ----------------------------------------------------------------------------------
 */

static void learner_close(void *state)
{
    cuda_learner *c = (cuda_learner *)state;
    if (!c) {
        return;
    }
    if (c->stream) {
        cudaStreamSynchronize(c->stream);
    }
    for (int i = 0; i < PLANS; i++) {
        if (c->has_event[i]) {
            cudaEventDestroy(c->uploaded[i]);
        }
    }
    cudaFree(c->memory);
    cudaFreeHost(c->pinned);
    if (c->blas) {
        cublasDestroy(c->blas);
    }
    if (c->stream) {
        cudaStreamDestroy(c->stream);
    }
    dls_free(c->lessons);
    dls_free(c->net.map);
    dls_free(c->index);
    dls_free(c->noise);
    dls_free(c->plan.active);
    dls_free(c);
}

static size_t n_lessons(const cuda_learner *c)
{
    return c->config.train.n + c->config.val.n;
}

static void list_lessons(cuda_learner *c, store_size *x)
{
    const dls_trainee *net = c->config.net;
    const size_t outputs = (size_t)net->arch.n_outputs;
    memset(x, 0, sizeof *x);
    x->graphs = n_lessons(c);
    x->features = net->arch.n_features;
    x->outputs = (int)outputs;
    x->conditions = net->arch.n_conditions;
    for (size_t i = 0; i < x->graphs; i++) {
        const bool val = i >= c->config.train.n;
        const dls_lessons *from = val ? &c->config.val : &c->config.train;
        const size_t at = val ? i - c->config.train.n : i;
        lesson *l = &c->lessons[i];
        l->graph = from->graph[at];
        const size_t first = dls_lessons_first(from, at);
        l->target = from->target + first * outputs;
        l->condition = from->condition ? from->condition + first * x->conditions : NULL;
        l->answer0 = (int)x->answers;
        l->answers = (int)(dls_lessons_first(from, at + 1) - first);
        x->answers += (size_t)l->answers;
        l->node0 = (int)x->nodes;
        describe_lesson(net, l);
        x->nodes += (size_t)l->graph->n_nodes;
        x->edges += (size_t)l->graph->row_start[l->graph->n_nodes];
    }
}

/* Host arrays, and what the device's must hold. */
static dls_status prepare(cuda_learner *c, store_size *size, dls_error *err)
{
    const size_t batch = (size_t)c->config.batch;
    c->lessons = (lesson *)dls_alloc_zero(n_lessons(c), sizeof *c->lessons);
    c->index = (size_t *)dls_alloc_zero(batch, sizeof *c->index);
    c->noise = (uint64_t *)dls_alloc_zero(batch, sizeof *c->noise);
    c->net.map = place_maps(&c->net);
    if (!c->lessons || !c->index || !c->noise || !c->net.map) {
        return dls_nomem(err, "training", n_lessons(c) * sizeof *c->lessons);
    }
    place_network(&c->net);
    list_lessons(c, size);
    if (size->nodes > INT_MAX / 2 || size->edges > INT_MAX / 2 || size->answers > INT_MAX / 2) {
        return dls_fail(err, DLS_EPREDICTOR, "cuda",
                        "more nodes or edges than CUDA training takes");
    }
    DLS_TRY(find_limits(c->lessons, n_lessons(c), batch, &c->limit, err));
    const size_t layers = c->limit.layers + 1;
    c->plan.active = (size_t *)dls_alloc_zero(3 * layers, sizeof *c->plan.active);
    if (!c->plan.active) {
        return dls_nomem(err, "layers of a batch", 3 * layers * sizeof *c->plan.active);
    }
    c->plan.active_tiles = c->plan.active + layers;
    c->plan.offset = c->plan.active_tiles + layers;
    return DLS_OK;
}

/* Shared memory that the kernels ask for: what does not fit is read from memory. */
static dls_status fit_kernels(cuda_learner *c, size_t most, dls_error *err)
{
    const dls_arch *a = &c->config.net->arch;
    c->wide = (c->net.at.ld + 3) / 4 * 4;
    int nodes = 0;
    for (size_t i = 0; i < n_lessons(c); i++) {
        const int n = c->lessons[i].graph->n_nodes;
        nodes = n > nodes ? n : nodes;
    }
    const readout_bytes r = readout_needs(a->hidden, nodes);
    c->readout_bytes = r.rest;
    if (forward_bytes(c->wide) > most || backward_bytes(c->wide, a->hidden) > most ||
        r.rest > most) {
        return dls_fail(err, DLS_EPREDICTOR, "cuda",
                        "hidden=%d and graphs of %d nodes need more shared memory than this device "
                        "has; --backend=cpu trains every network",
                        (int)a->hidden, nodes);
    }
    c->keep_weights = c->readout_bytes + r.weights <= most;
    c->readout_bytes += c->keep_weights ? r.weights : 0;
    c->keep_nodes = c->readout_bytes + r.nodes <= most;
    c->readout_bytes += c->keep_nodes ? r.nodes : 0;
    const int dynamic = cudaFuncAttributeMaxDynamicSharedMemorySize;
    CUDA_TRY(cudaFuncSetAttribute((const void *)k_layer_forward, (cudaFuncAttribute)dynamic,
                                  (int)forward_bytes(c->wide)));
    CUDA_TRY(cudaFuncSetAttribute((const void *)k_layer_backward, (cudaFuncAttribute)dynamic,
                                  (int)backward_bytes(c->wide, a->hidden)));
    CUDA_TRY(cudaFuncSetAttribute((const void *)k_set2set_forward, (cudaFuncAttribute)dynamic,
                                  (int)c->readout_bytes));
    CUDA_TRY(cudaFuncSetAttribute((const void *)k_set2set_backward, (cudaFuncAttribute)dynamic,
                                  (int)c->readout_bytes));
    return DLS_OK;
}

static dls_status upload_store(cuda_learner *c, const store_size *size, dls_error *err)
{
    bump find = {NULL, 0};
    (void)lay_store(size, &find);
    unsigned char *host = (unsigned char *)dls_alloc_zero(find.used, 1);
    if (!host) {
        return dls_nomem(err, "graphs for the device", find.used);
    }
    bump at = {host, 0};
    const store s = lay_store(size, &at);
    fill_store(c->config.net, c->lessons, size, &s);
    const cudaError_t e = cudaMemcpy(c->s.features, s.features, find.used, cudaMemcpyHostToDevice);
    dls_free(host);
    return e == cudaSuccess ? DLS_OK : cuda_fail(err, e, "uploading graphs");
}

static dls_status allocate(cuda_learner *c, const store_size *size, dls_error *err)
{
    bump find = {NULL, 0};
    lay_learner(c, size, &find);
    c->bytes = find.used;
    const cudaError_t e = cudaMalloc((void **)&c->memory, find.used);
    if (e != cudaSuccess) {
        c->memory = NULL;
        (void)cudaGetLastError(); /* clear it */
        return dls_fail(err, e == cudaErrorMemoryAllocation ? DLS_ENOMEM : DLS_EPREDICTOR, "cuda",
                        "%.0f MB on the device for batches of %d: %s; a smaller --batch takes less",
                        1e-6 * (double)find.used, (int)c->config.batch, cudaGetErrorString(e));
    }
    bump at = {c->memory, 0};
    lay_learner(c, size, &at);
    CUDA_TRY(cudaMallocHost((void **)&c->pinned, PLANS * plan_bytes(c) + sizeof(double)));
    return DLS_OK;
}

static dls_status open_all(cuda_learner *c, dls_error *err)
{
    cudaDeviceProp prop;
    store_size size;
    DLS_TRY(check_trainable(&c->config.net->arch, err));
    if (c->config.step.f64) {
        return dls_fail(err, DLS_EPREDICTOR, "cuda", "float64 is trained by the CPU only");
    }
    DLS_TRY(cuda_find_device(&prop, err));
    snprintf(c->device, sizeof c->device, "%.63s", prop.name);
    DLS_TRY(prepare(c, &size, err));
    DLS_TRY(fit_kernels(c, prop.sharedMemPerBlockOptin, err));
    CUDA_TRY(cudaStreamCreate(&c->stream));
    BLAS_TRY(cublasCreate(&c->blas));
    BLAS_TRY(cublasSetStream(c->blas, c->stream));
    BLAS_TRY(cublasSetMathMode(c->blas, CUBLAS_DEFAULT_MATH)); /* float32, not TF32 */
    for (int i = 0; i < PLANS; i++) {
        CUDA_TRY(cudaEventCreateWithFlags(&c->uploaded[i], cudaEventDisableTiming));
        c->has_event[i] = true;
    }
    DLS_TRY(allocate(c, &size, err));
    DLS_TRY(upload_store(c, &size, err));
    DLS_TRY(upload_tables(&c->net, err));
    CUDA_TRY(cudaMemsetAsync(c->loss, 0, 2 * sizeof *c->loss, c->stream));
    return network_load(&c->net, c->stream, err);
}

static dls_status learner_open(const dls_learner_config *config, void **state, dls_error *err)
{
    *state = NULL;
    cuda_learner *c = (cuda_learner *)dls_alloc_zero(1, sizeof *c);
    if (!c) {
        return dls_nomem(err, "CUDA training", sizeof *c);
    }
    c->config = *config;
    c->net.net = config->net;
    c->net.adam = config->adam;
    const dls_status status = open_all(c, err);
    if (status != DLS_OK) {
        learner_close(c);
        return status;
    }
    *state = c;
    return DLS_OK;
}

/* ---- steps ------------------------------------------------------------------------------------
 */

static dropout_args dropout_of(const cuda_learner *c)
{
    const double rate = c->config.dropout;
    dropout_args d = {0, 1.0f};
    if (rate > 0) {
        d.limit = (unsigned)(rate * 4294967296.0);
        d.scale = (float)(1 / (1 - rate));
    }
    return d;
}

static dls_status learner_step(void *state, const size_t *index, const uint64_t *noise, size_t n,
                               dls_error *err)
{
    cuda_learner *c = (cuda_learner *)state;
    memcpy(c->index, index, n * sizeof *index);
    memcpy(c->noise, noise, n * sizeof *noise);
    DLS_TRY(upload_plan(c, c->noise, n, PLAN_TRAINED, err));
    DLS_TRY(run_layers(c, dropout_of(c), err));
    DLS_TRY(run_readout(c, true, LOSS_TRAIN, err));
    DLS_TRY(run_backward(c, dropout_of(c), err));
    return network_step(&c->net, c->stream, err);
}

/* Lessons first .. first + n - 1 forward. */
static dls_status run_range(cuda_learner *c, size_t first, size_t n, plan_part part, dls_error *err)
{
    const dropout_args none = {0, 1.0f};
    for (size_t i = 0; i < n; i++) {
        c->index[i] = first + i;
    }
    DLS_TRY(upload_plan(c, NULL, n, part, err));
    return run_layers(c, none, err);
}

static size_t at_most(size_t n, size_t most)
{
    return n < most ? n : most;
}

static dls_status learner_freeze(void *state, dls_error *err)
{
    cuda_learner *c = (cuda_learner *)state;
    const size_t batch = (size_t)c->config.batch;
    const size_t all = n_lessons(c);
    bool any = false;
    for (size_t i = 0; i < all; i++) {
        any = any || c->lessons[i].frozen > 0;
    }
    for (size_t first = 0; any && first < all; first += batch) {
        DLS_TRY(run_range(c, first, at_most(all - first, batch), PLAN_FROZEN, err));
        DLS_LAUNCH(k_keep_start, (int)c->plan.tiles, LAYER_THREADS, 0, c->stream, c->sample,
                   c->tile, c->nodes, c->net.at.h, c->start);
    }
    CUDA_TRY(cudaStreamSynchronize(c->stream));
    return DLS_OK;
}

static dls_status take_loss(cuda_learner *c, int which, double *sum, dls_error *err)
{
    double *host = (double *)(c->pinned + PLANS * plan_bytes(c));
    CUDA_TRY(
        cudaMemcpyAsync(host, c->loss + which, sizeof *host, cudaMemcpyDeviceToHost, c->stream));
    CUDA_TRY(cudaMemsetAsync(c->loss + which, 0, sizeof *c->loss, c->stream));
    CUDA_TRY(cudaStreamSynchronize(c->stream));
    *sum = *host;
    return DLS_OK;
}

static dls_status learner_losses(void *state, double *sum, dls_error *err)
{
    return take_loss((cuda_learner *)state, LOSS_TRAIN, sum, err);
}

static dls_status learner_validate(void *state, double *loss, dls_error *err)
{
    cuda_learner *c = (cuda_learner *)state;
    const size_t batch = (size_t)c->config.batch;
    const size_t n = c->config.val.n;
    for (size_t first = 0; first < n; first += batch) {
        DLS_TRY(
            run_range(c, c->config.train.n + first, at_most(n - first, batch), PLAN_TRAINED, err));
        DLS_TRY(run_readout(c, false, LOSS_VAL, err));
    }
    DLS_TRY(take_loss(c, LOSS_VAL, loss, err));
    const size_t answers = dls_lessons_first(&c->config.val, n);
    *loss = answers ? *loss / (double)answers : 0;
    return DLS_OK;
}

static dls_status learner_load(void *state, dls_error *err)
{
    const cuda_learner *c = (const cuda_learner *)state;
    return network_load(&c->net, c->stream, err);
}

static dls_status learner_store(void *state, bool moments, dls_error *err)
{
    const cuda_learner *c = (const cuda_learner *)state;
    return network_store(&c->net, moments, c->stream, err);
}

static size_t learner_bytes(const void *state)
{
    return ((const cuda_learner *)state)->bytes;
}

static void learner_describe(const void *state, char *text, size_t size)
{
    snprintf(text, size, "%s, f32", ((const cuda_learner *)state)->device);
}

static const dls_learner_ops ops = {DLS_LEARNER_ABI, "cuda",         learner_open,
                                    learner_close,   learner_freeze, learner_load,
                                    learner_step,    learner_losses, learner_validate,
                                    learner_store,   learner_bytes,  learner_describe};

extern "C" __attribute__((visibility("default"))) const dls_learner_ops *
dls_learner_module(uint32_t abi)
{
    return abi == DLS_LEARNER_ABI ? &ops : NULL;
}
