/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * The CUDA backend. Built as a module of its own, with the few files of sim/base
 * that it needs inside, so that dlsim itself does not depend on CUDA libraries.
 *
 * A job is cut into chunks of one graph size that fit the memory allowed. Two slots alternate: the
 * host prepares one chunk while the device computes the other. Per chunk:
 *
 *     upload | normalise | prefix layers [G] | suffix layers [R] | readout, MLP
 *
 * It computes what the shipped networks have, GCN, GRU and Set2Set; others are the CPU's. Layers and
 * Set2Set have two forms: the fused kernels where the shape allows (H = 64, layers of up to 144
 * nodes in float32, 128 in bf16), and cuBLAS with one kernel a step, their check and for every other shape.
 * DLSIM_CUDA_PATH=plain chooses the latter everywhere.
 */
#include "predictor/driple/cuda_paths.cuh"

#include <cstdlib>

/* ---- opening -------------------------------------------------------------------------------- */

static void slot_free(slot *s)
{
    cudaFree(s->dev);
    cudaFreeHost(s->host);
    s->dev = s->host = NULL;
    s->dev_bytes = s->host_bytes = 0;
}

static void backend_close(void *state)
{
    cuda_state *c = (cuda_state *)state;
    if (!c) {
        return;
    }
    for (int i = 0; i < SLOTS; i++) {
        slot_free(&c->slots[i]);
        if (c->has_event[i]) {
            cudaEventDestroy(c->slots[i].done);
        }
    }
    cudaFree(c->w);
    cudaFree(c->frag);
    dls_free(c->row_of_conv);
    if (c->blas) {
        cublasDestroy(c->blas);
    }
    if (c->stream) {
        cudaStreamDestroy(c->stream);
    }
    dls_free(c);
}

static dls_status upload_weights(cuda_state *c, dls_error *err)
{
    c->pack = pack_plan(c->insp, c->fast);
    const size_t bytes = c->pack.total * sizeof(float);
    const size_t frag_bytes = c->pack.frag_total * sizeof(uint2);
    float *floats = (float *)dls_alloc_zero(c->pack.total, sizeof(float));
    uint2 *frags = (uint2 *)dls_alloc_zero(c->pack.frag_total, sizeof(uint2));
    dls_status status = floats && frags ? DLS_OK : dls_nomem(err, "weights", bytes + frag_bytes);
    cudaError_t e = cudaSuccess;
    if (status == DLS_OK) {
        pack_fill(c->insp, &c->pack, floats, frags);
        e = cudaMalloc((void **)&c->w, bytes);
        e = e == cudaSuccess ? cudaMalloc((void **)&c->frag, frag_bytes) : e;
        e = e == cudaSuccess ? cudaMemcpy(c->w, floats, bytes, cudaMemcpyHostToDevice) : e;
        e = e == cudaSuccess ? cudaMemcpy(c->frag, frags, frag_bytes, cudaMemcpyHostToDevice) : e;
    }
    dls_free(floats);
    dls_free(frags);
    return e == cudaSuccess ? status : cuda_fail(err, e, "uploading weights");
}

template <typename K> static dls_status allow_shared(K *kernel, size_t bytes, dls_error *err)
{
    CUDA_TRY(cudaFuncSetAttribute((const void *)kernel,
                                  cudaFuncAttributeMaxDynamicSharedMemorySize, (int)bytes));
    return DLS_OK;
}

static dls_status open_device(cuda_state *c, dls_error *err)
{
    cudaDeviceProp prop;
    DLS_TRY(cuda_find_device(&prop, err));
    snprintf(c->device, sizeof c->device, "%.63s", prop.name);
    c->n_sm = prop.multiProcessorCount;
    c->chunk_limit = ROWS_PER_SM * (size_t)c->n_sm;
    c->shared_bytes = prop.sharedMemPerBlockOptin;
    if (c->shared_bytes < fused_bytes<f32_units>(F32_TILES)) {
        c->plain_only = true; /* the fused kernels are sized for 227 KB */
    } else {
        DLS_TRY(allow_shared(fused_layers<f32_units, F32_TILES - 1>,
                             fused_bytes<f32_units>(F32_TILES - 1), err));
        DLS_TRY(allow_shared(fused_layers<f32_units, F32_TILES>,
                             fused_bytes<f32_units>(F32_TILES), err));
        DLS_TRY(allow_shared(fused_layers<bf16_units, FAST_TILES>,
                             fused_bytes<bf16_units>(FAST_TILES), err));
        DLS_TRY(allow_shared(fused_set2set<true>, c->shared_bytes, err));
    }
    CUDA_TRY(cudaStreamCreate(&c->stream));
    BLAS_TRY(cublasCreate(&c->blas));
    BLAS_TRY(cublasSetStream(c->blas, c->stream));
    /* float32 means float32: TF32 only where the caller asked for the fast mode */
    BLAS_TRY(
        cublasSetMathMode(c->blas, c->fast ? CUBLAS_TF32_TENSOR_OP_MATH : CUBLAS_PEDANTIC_MATH));
    for (int i = 0; i < SLOTS; i++) {
        CUDA_TRY(cudaEventCreateWithFlags(&c->slots[i].done, cudaEventDisableTiming));
        c->has_event[i] = true;
    }
    return upload_weights(c, err);
}

static dls_status backend_open(const dls_inspector *insp, const dls_driple_config *config,
                               void **state, dls_error *err)
{
    *state = NULL;
    if (config->precision == DLS_PRECISION_F64) {
        return dls_fail(err, DLS_EPREDICTOR, "cuda", "float64 is computed by the CPU only");
    }
    const char *lacks = mlp_bytes(&insp->arch) > MLP_BYTES_MAX ? "hidden above 192"
                                                               : cuda_lacks(&insp->arch);
    if (lacks) {
        return dls_fail(err, DLS_EPREDICTOR, "cuda", "%s is computed by the CPU only", lacks);
    }
    cuda_state *c = (cuda_state *)dls_alloc_zero(1, sizeof *c);
    if (!c) {
        return dls_nomem(err, "CUDA backend", sizeof *c);
    }
    const char *path = getenv("DLSIM_CUDA_PATH");
    c->insp = insp;
    c->fast = config->precision == DLS_PRECISION_FAST;
    c->plain_only = path && strcmp(path, "plain") == 0;
    c->memory_bytes = config->memory_bytes ? config->memory_bytes : DEFAULT_BYTES;
    c->row_of_conv = (int *)dls_alloc_zero(insp->n_settings + 2, sizeof *c->row_of_conv);
    const dls_status status =
        c->row_of_conv ? open_device(c, err) : dls_nomem(err, "CUDA backend", sizeof *c);
    if (status != DLS_OK) {
        backend_close(c);
        return status;
    }
    *state = c;
    return DLS_OK;
}

/* ---- running chunks ------------------------------------------------------------------------- */

static dls_status slot_room(slot *s, size_t dev_bytes, size_t host_bytes, dls_error *err)
{
    if (s->dev_bytes < dev_bytes) {
        cudaFree(s->dev);
        s->dev = NULL;
        s->dev_bytes = 0;
        const cudaError_t e = cudaMalloc((void **)&s->dev, dev_bytes);
        if (e != cudaSuccess) {
            s->dev = NULL;
            (void)cudaGetLastError(); /* clear it */
            return cuda_fail(err, e, "device memory");
        }
        s->dev_bytes = dev_bytes;
    }
    if (s->host_bytes < host_bytes) {
        cudaFreeHost(s->host);
        s->host = NULL;
        s->host_bytes = 0;
        CUDA_TRY(cudaMallocHost((void **)&s->host, host_bytes));
        s->host_bytes = host_bytes;
    }
    return DLS_OK;
}

/* Wait for the slot's chunk, if any, and hand its answers over. */
static dls_status slot_drain(slot *s, dls_error *err)
{
    if (s->out) {
        CUDA_TRY(cudaEventSynchronize(s->done));
        for (size_t i = 0; i < s->n_out; i++) {
            s->out[i] = (double)s->host_out[i];
        }
        s->out = NULL;
    }
    return DLS_OK;
}

static dls_status run_layers(cuda_state *c, const extent *x, const device_work *w,
                             const dev_graphs *s, const upload *dev, const upload *host,
                             const float **nodes, size_t *rows, dls_error *err)
{
    const int depth = dls_arch_layers(&c->insp->arch, x->n);
    const int split = x->suffix ? dls_arch_prefix_layers(&c->insp->arch, depth) : depth;
    const bool fused = fused_layers_fit(c, x->n);
    stage prefix;
    memset(&prefix, 0, sizeof prefix);
    prefix.to = split;
    prefix.rows = x->graphs;
    prefix.out = w->state;
    stage suffix = prefix;
    suffix.from = split;
    suffix.to = depth;
    suffix.rows = x->rows;
    suffix.source = dev->source;
    suffix.graph_of = dev->graph_of;
    suffix.conv_of = dev->conv_of;
    suffix.host_conv_of = host->conv_of;
    suffix.x_in = w->state;
    suffix.out = w->state2;
    if (fused) {
        DLS_TRY(run_fused(c, x, s, dev, &prefix, err));
    } else {
        DLS_TRY(plain_layers(c, x, w, s, dev, &prefix, err));
    }
    *nodes = w->state;
    *rows = x->graphs;
    if (x->suffix) {
        if (fused) {
            DLS_TRY(run_fused(c, x, s, dev, &suffix, err));
        } else {
            DLS_TRY(plain_layers(c, x, w, s, dev, &suffix, err));
        }
        *nodes = w->state2;
        *rows = x->rows;
    }
    return DLS_OK;
}

static dls_status run_chunk(cuda_state *c, slot *s, const dls_driple_job *job, size_t first,
                            const extent *chunk, dls_error *err)
{
    DLS_TRY(slot_drain(s, err));
    const extent x = *chunk;
    bump size = {NULL, 0};
    (void)lay_upload(c, &x, &size);
    const size_t up_bytes = size.used;
    (void)lay_work(c, &x, &size);
    const size_t out_bytes = x.pairs * DLS_METRICS * sizeof(float);
    DLS_TRY(slot_room(s, size.used, up_bytes + out_bytes, err));
    bump host_bump = {s->host, 0};
    bump dev_bump = {s->dev, 0};
    const upload host = lay_upload(c, &x, &host_bump);
    const upload dev = lay_upload(c, &x, &dev_bump);
    const device_work w = lay_work(c, &x, &dev_bump);
    fill_upload(c, job, first, &x, &host);
    CUDA_TRY(cudaMemcpyAsync(s->dev, s->host, up_bytes, cudaMemcpyHostToDevice, c->stream));
    const float *weight = x.weighted ? dev.weight : NULL;
    const int node_blocks = blocks_for(x.nodes);
    DLS_LAUNCH(k_degree, node_blocks, BLOCK, 0, c->stream, dev.row_start, weight, x.n,
               (int)x.graphs, w.root, w.diag);
    DLS_LAUNCH(k_normalise, node_blocks, BLOCK, 0, c->stream, dev.row_start, dev.col, weight, x.n,
               (int)x.graphs, w.root, w.val);
    const dev_graphs graphs = {dev.row_start, dev.col, w.val, w.diag};
    const float *nodes = NULL;
    size_t rows = 0;
    DLS_TRY(run_layers(c, &x, &w, &graphs, &dev, &host, &nodes, &rows, err));
    DLS_TRY(readout(c, &x, &w, &dev, nodes, rows, err));
    float *host_out = (float *)(s->host + up_bytes);
    CUDA_TRY(cudaMemcpyAsync(host_out, w.out, out_bytes, cudaMemcpyDeviceToHost, c->stream));
    CUDA_TRY(cudaEventRecord(s->done, c->stream));
    s->out = job->out + first * DLS_METRICS;
    s->host_out = host_out;
    s->n_out = x.pairs * DLS_METRICS;
    return DLS_OK;
}

static dls_status backend_forward(void *state, const dls_driple_job *job, dls_error *err)
{
    cuda_state *c = (cuda_state *)state;
    dls_status status = DLS_OK;
    int turn = 0;
    for (size_t first = 0; status == DLS_OK && first < job->n_pairs;) {
        const extent x = next_chunk(c, job, first);
        status = run_chunk(c, &c->slots[turn], job, first, &x, err);
        if (status == DLS_ENOMEM && x.pairs > 1) {
            /* let the other slot finish and give its memory back, then try half */
            status = slot_drain(&c->slots[!turn], err);
            slot_free(&c->slots[!turn]);
            c->chunk_limit = x.pairs / 2;
            snprintf(c->note, sizeof c->note,
                     "cuda: out of device memory, batches reduced to %zu predictions",
                     c->chunk_limit);
            continue;
        }
        first += x.pairs;
        turn = !turn;
    }
    for (int i = 0; i < SLOTS; i++) {
        dls_error late;
        const dls_status s = slot_drain(&c->slots[i], status == DLS_OK ? err : &late);
        c->slots[i].out = NULL;
        status = status == DLS_OK ? s : status;
    }
    return status;
}

static void backend_describe(const void *state, char *text, size_t size)
{
    const cuda_state *c = (const cuda_state *)state;
    snprintf(text, size, "%s, %s%s", c->device,
             !c->fast                                           ? "f32"
             : c->plain_only || c->insp->arch.hidden != FUSED_H ? "tf32"
                                                                : "bf16",
             c->plain_only ? ", plain path" : "");
}

static void backend_notes(void *state, char *text, size_t size)
{
    cuda_state *c = (cuda_state *)state;
    snprintf(text, size, "%s", c->note);
    c->note[0] = '\0';
}

static const dls_driple_ops ops = {DLS_DRIPLE_ABI,  "cuda",           backend_open,  backend_close,
                                   backend_forward, backend_describe, backend_notes, nullptr};

extern "C" __attribute__((visibility("default"))) const dls_driple_ops *
dls_driple_module(uint32_t abi)
{
    return abi == DLS_DRIPLE_ABI ? &ops : NULL;
}
