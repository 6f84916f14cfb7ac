/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * A network in training on the device. Values and moments are doubles as on the host, so that
 * checkpoints do not depend on where they were written; the kernels compute with floats that are
 * packed from them after every step:
 *
 *     w of every map [k][n] | b of every map [n] | w turned [n][k]
 *     '------ the gradient has the same layout ------'
 *
 * Two tables say which one or two values make a float, and where the gradient of a value is.
 */
#ifndef DLS_TRAINING_CUDA_NETWORK_CUH
#define DLS_TRAINING_CUDA_NETWORK_CUH

#include "predictor/driple/cuda_device.cuh"
#include "predictor/training/learner.h"

extern "C" {
#include "base/alloc.h"
}

#include <cmath>
#include <cstring>

#define MLP_MAX 16
#define OPTIMISER_THREADS 256

/* ---- places -----------------------------------------------------------------------------------
 */

/* A dense layer y[n] = x[k] w + b. */
struct dense_place {
    int k, n;
    size_t w, b, back;
};

/* The convolutions: of layer 0, of those behind it, of a setting's own layers. */
enum { CONV_FIRST, CONV_LATER, CONV_OWN, CONVS };

/* Where the kernels find everything. */
struct net_places {
    dense_place conv[CONVS];
    int features, h, ld;        /* ld: floats from node to node of a state */
    dense_place x, y;           /* the GRU's */
    dense_place from_h, from_r; /* Set2Set's, one behind the other: [2 h][4 h] */
    dense_place mlp[MLP_MAX];
    dense_place condition; /* numbers of a setting into the first of these; k 0: none */
    int mlp_layers;
};

static __device__ __forceinline__ int conv_of(int layer, int split)
{
    return layer == 0 ? CONV_FIRST : layer >= split ? CONV_OWN : CONV_LATER;
}

struct network {
    dls_trainee *net;
    dls_adam *adam;
    net_places at;
    dense_place *map; /* [n_maps] */
    size_t n_floats, n_gradient;
    /* on the device */
    float *w, *gradient;
    double *value, *m, *v; /* [n_values] */
    double *scale;         /* of a gradient that is clipped */
    int2 *source;          /* [n_floats] values that add up to a float; -1: none */
    int *slot;             /* [n_values] where the gradient is; -1: not trained */
};

static dense_place *place_maps(network *n)
{
    const dls_trainee *net = n->net;
    dense_place *map = (dense_place *)dls_alloc_zero(net->n_maps, sizeof *map);
    if (!map) {
        return NULL;
    }
    size_t at = 0;
    for (size_t i = 0; i < net->n_maps; i++) {
        map[i].k = net->map[i].k;
        map[i].n = net->map[i].width * net->map[i].chunks;
        map[i].w = at;
        at += (size_t)map[i].k * map[i].n;
    }
    const size_t matrices = at;
    for (size_t i = 0; i < net->n_maps; i++) {
        map[i].b = at;
        at += map[i].n;
        map[i].back = map[i].w;
    }
    n->n_gradient = at;
    for (size_t i = 0; i < net->n_maps; i++) {
        map[i].back += at;
    }
    n->n_floats = at + matrices;
    return map;
}

/* EPREDICTOR: what this device code does not train. */
static dls_status check_trainable(const dls_arch *a, dls_error *err)
{
    const char *what = a->mlp_layers > MLP_MAX ? "this many layers of the MLP" : cuda_lacks(a);
    return what ? dls_fail(err, DLS_EPREDICTOR, "cuda",
                           "%s is not trained on CUDA; --backend=cpu trains every network", what)
                : DLS_OK;
}

static void place_network(network *n)
{
    const dls_trainee *net = n->net;
    const dls_arch *a = &net->arch;
    net_places *p = &n->at;
    memset(p, 0, sizeof *p);
    p->features = a->n_features;
    p->h = a->hidden;
    p->ld = a->n_features > a->hidden ? a->n_features : a->hidden;
    for (int conv = 0; conv < net->n_convs + net->own; conv++) {
        p->conv[conv < net->n_convs ? conv : CONV_OWN] = n->map[net->conv[conv]];
    }
    p->x = n->map[net->gru];
    p->y = n->map[net->gru + 1];
    p->from_h = n->map[net->lstm];
    p->from_r = n->map[net->lstm + 1];
    if (net->condition >= 0) {
        p->condition = n->map[net->condition];
    }
    p->mlp_layers = a->mlp_layers;
    memcpy(p->mlp, n->map + net->mlp, (size_t)a->mlp_layers * sizeof *p->mlp);
}

/* ---- tables -----------------------------------------------------------------------------------
 */

static void fill_map(const dls_map *m, const dense_place *at, int2 *source, int *slot)
{
    for (int j = 0; j < at->n; j++) {
        const size_t row = (size_t)m->chunk[j / m->width] * m->width + j % m->width;
        for (int i = 0; i < m->k; i++) {
            const size_t w = at->w + (size_t)i * at->n + j;
            const size_t from = m->w + (size_t)i * m->in_step + row * m->out_step;
            source[w].x = (int)from;
            source[w].y = -1;
            slot[from] = m->trained ? (int)w : -1;
            if (m->w2 != DLS_NOWHERE) {
                const size_t too = m->w2 + (size_t)i * m->in_step + row * m->out_step2;
                source[w].y = (int)too;
                slot[too] = slot[from];
            }
            source[at->back + (size_t)j * m->k + i] = source[w];
        }
        const size_t b = at->b + j;
        source[b].x = m->b == DLS_NOWHERE ? -1 : (int)(m->b + row);
        source[b].y = m->b2 == DLS_NOWHERE ? -1 : (int)(m->b2 + row);
        if (m->b != DLS_NOWHERE) {
            slot[m->b + row] = m->trained ? (int)b : -1;
        }
        if (m->b2 != DLS_NOWHERE) {
            slot[m->b2 + row] = slot[m->b + row];
        }
    }
}

static dls_status upload_tables(const network *n, dls_error *err)
{
    const dls_trainee *net = n->net;
    int2 *source = (int2 *)dls_alloc_zero(n->n_floats, sizeof *source);
    int *slot = (int *)dls_alloc_zero(net->n_values, sizeof *slot);
    cudaError_t e = cudaSuccess;
    const dls_status status =
        source && slot ? DLS_OK : dls_nomem(err, "maps", n->n_floats * sizeof *source);
    if (status == DLS_OK) {
        memset(slot, 0xff, net->n_values * sizeof *slot);
        for (size_t i = 0; i < net->n_maps; i++) {
            fill_map(&net->map[i], &n->map[i], source, slot);
        }
        e = cudaMemcpy(n->source, source, n->n_floats * sizeof *source, cudaMemcpyHostToDevice);
        e = e == cudaSuccess
                ? cudaMemcpy(n->slot, slot, net->n_values * sizeof *slot, cudaMemcpyHostToDevice)
                : e;
    }
    dls_free(source);
    dls_free(slot);
    return e == cudaSuccess ? status : cuda_fail(err, e, "uploading the network");
}

static void lay_network(network *n, bump *b)
{
    const size_t values = n->net->n_values;
    n->value = take<double>(b, values);
    n->m = take<double>(b, values);
    n->v = take<double>(b, values);
    n->scale = take<double>(b, 1);
    n->w = take<float>(b, n->n_floats);
    n->gradient = take<float>(b, n->n_gradient);
    n->source = take<int2>(b, n->n_floats);
    n->slot = take<int>(b, values);
}

/* ---- the optimiser ----------------------------------------------------------------------------
 */

static __global__ void k_pack(const double *value, const int2 *source, size_t n, float *w)
{
    const size_t i = (size_t)blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) {
        const int2 s = source[i];
        const double v = (s.x < 0 ? 0.0 : value[s.x]) + (s.y < 0 ? 0.0 : value[s.y]);
        w[i] = (float)v;
    }
}

/* One block. The order of the sum is fixed. */
static __global__ void k_clip(const float *gradient, const int *slot, size_t n, double most,
                              double *scale)
{
    DLS_SHARED(raw);
    double *part = (double *)raw;
    double sum = 0.0;
    for (size_t i = threadIdx.x; i < n; i += blockDim.x) {
        const double g = slot[i] < 0 ? 0.0 : (double)gradient[slot[i]];
        sum += g * g;
    }
    part[threadIdx.x] = sum;
    for (unsigned half = blockDim.x / 2; half; half /= 2) {
        __syncthreads();
        if (threadIdx.x < half) {
            part[threadIdx.x] += part[threadIdx.x + half];
        }
    }
    if (threadIdx.x == 0) {
        const double norm = sqrt(part[0]);
        *scale = norm > most ? most / norm : 1.0;
    }
}

struct adam_args {
    const float *gradient;
    const double *scale; /* NULL: 1 */
    const int *slot;
    double *value, *m, *v;
    size_t n;
    double beta1, beta2, epsilon;
    double step, root;  /* lr / (1 - beta1^t), (1 - beta2^t)^1/2 */
    double keep, decay; /* AdamW: 1 - lr decay, 0; else 1, decay */
};

static __global__ void k_adam(adam_args p)
{
    const size_t i = (size_t)blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= p.n || p.slot[i] < 0) {
        return;
    }
    const double value = p.value[i] * p.keep;
    const double g = (double)p.gradient[p.slot[i]] * (p.scale ? *p.scale : 1.0) + p.decay * value;
    const double m = p.beta1 * p.m[i] + (1.0 - p.beta1) * g;
    const double v = p.beta2 * p.v[i] + (1.0 - p.beta2) * g * g;
    p.m[i] = m;
    p.v[i] = v;
    p.value[i] = value - p.step * m / (sqrt(v) / p.root + p.epsilon);
}

static int optimiser_blocks(size_t n)
{
    return (int)((n + OPTIMISER_THREADS - 1) / OPTIMISER_THREADS);
}

static dls_status network_pack(const network *n, cudaStream_t stream, dls_error *err)
{
    DLS_LAUNCH(k_pack, optimiser_blocks(n->n_floats), OPTIMISER_THREADS, 0, stream, n->value,
               n->source, n->n_floats, n->w);
    CUDA_TRY(cudaGetLastError());
    return DLS_OK;
}

/* One step of the optimiser from the gradient, and the new floats. */
static dls_status network_step(const network *n, cudaStream_t stream, dls_error *err)
{
    const dls_adam_options *o = &n->adam->options;
    const size_t values = n->net->n_values;
    const double t = (double)++n->adam->t;
    adam_args p;
    p.gradient = n->gradient;
    p.scale = o->clip_norm > 0 ? n->scale : NULL;
    p.slot = n->slot;
    p.value = n->value;
    p.m = n->m;
    p.v = n->v;
    p.n = values;
    p.beta1 = o->beta1;
    p.beta2 = o->beta2;
    p.epsilon = o->epsilon;
    p.step = o->lr / (1 - pow(o->beta1, t));
    p.root = sqrt(1 - pow(o->beta2, t));
    p.keep = o->decoupled ? 1 - o->lr * o->weight_decay : 1;
    p.decay = o->decoupled ? 0 : o->weight_decay;
    if (p.scale) {
        DLS_LAUNCH(k_clip, 1, OPTIMISER_THREADS, OPTIMISER_THREADS * sizeof(double), stream,
                   n->gradient, n->slot, values, o->clip_norm, n->scale);
    }
    DLS_LAUNCH(k_adam, optimiser_blocks(values), OPTIMISER_THREADS, 0, stream, p);
    return network_pack(n, stream, err);
}

static dls_status network_load(const network *n, cudaStream_t stream, dls_error *err)
{
    const size_t bytes = n->net->n_values * sizeof(double);
    CUDA_TRY(cudaMemcpy(n->value, n->net->value, bytes, cudaMemcpyHostToDevice));
    CUDA_TRY(cudaMemcpy(n->m, n->adam->m, bytes, cudaMemcpyHostToDevice));
    CUDA_TRY(cudaMemcpy(n->v, n->adam->v, bytes, cudaMemcpyHostToDevice));
    return network_pack(n, stream, err);
}

static dls_status network_store(const network *n, bool moments, cudaStream_t stream, dls_error *err)
{
    const size_t bytes = n->net->n_values * sizeof(double);
    CUDA_TRY(cudaStreamSynchronize(stream));
    CUDA_TRY(cudaMemcpy(n->net->value, n->value, bytes, cudaMemcpyDeviceToHost));
    if (moments) {
        CUDA_TRY(cudaMemcpy(n->adam->m, n->m, bytes, cudaMemcpyDeviceToHost));
        CUDA_TRY(cudaMemcpy(n->adam->v, n->v, bytes, cudaMemcpyDeviceToHost));
    }
    return DLS_OK;
}

#endif
