/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * The course of a step: the plan's upload, the launches forward and backward, and the products that
 * make the weights' gradients of what they left.
 */
#ifndef DLS_TRAINING_CUDA_GRADIENTS_CUH
#define DLS_TRAINING_CUDA_GRADIENTS_CUH

#include "predictor/training/cuda_head.cuh"
#include "predictor/training/cuda_layers.cuh"
#include "predictor/training/cuda_readout.cuh"

#define PLANS 4 /* batches that the host may be ahead */
#define HEAD_THREADS 128
enum { LOSS_TRAIN, LOSS_VAL };

struct cuda_learner {
    dls_learner_config config;
    network net;
    lesson *lessons; /* [train and validation] */
    batch_limits limit;
    batch_plan plan; /* of the batch under way; its samples and tiles lie in pinned memory */
    size_t *index;   /* [batch] */
    uint64_t *noise;
    int next_plan;
    cudaStream_t stream;
    cublasHandle_t blas;
    cudaEvent_t uploaded[PLANS];
    bool has_event[PLANS];
    int wide; /* see layer_args */
    bool keep_weights, keep_nodes;
    size_t readout_bytes;
    unsigned char *memory, *pinned;
    size_t bytes;
    char device[64];
    /* on the device */
    store s;
    dev_sample *sample;
    dev_tile *tile;
    dev_answer *answer;
    float *start;
    float *state, *agg, *act, *dpre, *gates;
    float *nodes, *dnodes, *dagg[2], *dpart[2];
    float *q, *cell, *lstm_gates, *dr, *attention, *dscore;
    float *pooled, *dpooled, *told, *head_first;
    float *head_act[MLP_MAX + 1], *head_delta[MLP_MAX + 1]; /* see head_args */
    int head_ld;
    double *square, *loss; /* loss [2] */
    float *partial;
};

/* Layers of the base's convolution and of a setting's own lie between each other when nothing is
 * frozen: what is behind them is kept twice, 0 where it is the other's. */
static bool two_convs(const cuda_learner *c)
{
    const dls_trainee *net = c->config.net;
    return net->own && (net->map[net->conv[0]].trained || net->map[net->gru].trained);
}

static size_t plan_bytes(const cuda_learner *c)
{
    bump b = {NULL, 0};
    (void)take<dev_sample>(&b, c->limit.graphs);
    (void)take<dev_tile>(&b, c->limit.tiles);
    (void)take<dev_answer>(&b, c->limit.answers);
    return b.used;
}

static void lay_learner(cuda_learner *c, const store_size *size, bump *b)
{
    const batch_limits *x = &c->limit;
    const dls_arch *a = &c->config.net->arch;
    const size_t h = (size_t)a->hidden;
    const size_t ld = (size_t)c->net.at.ld;
    const size_t both = two_convs(c) ? 2 : 1;
    c->s = lay_store(size, b);
    lay_network(&c->net, b);
    c->sample = take<dev_sample>(b, x->graphs); /* as plan_bytes */
    c->tile = take<dev_tile>(b, x->tiles);
    c->answer = take<dev_answer>(b, x->answers);
    c->start = take<float>(b, size->nodes * h);
    c->state = take<float>(b, x->layer_rows * ld);
    c->agg = take<float>(b, x->layer_rows * ld);
    c->act = take<float>(b, x->layer_rows * h);
    c->dpre = take<float>(b, both * x->layer_rows * h);
    c->gates = take<float>(b, x->layer_rows * 4 * h);
    c->nodes = take<float>(b, x->rows * h);
    c->dnodes = take<float>(b, x->rows * h);
    for (int i = 0; i < 2; i++) {
        c->dagg[i] = take<float>(b, x->rows * ld);
        c->dpart[i] = take<float>(b, x->rows * h);
    }
    c->q = take<float>(b, x->step_rows * 2 * h);
    c->cell = take<float>(b, x->step_rows * h);
    c->lstm_gates = take<float>(b, x->step_rows * 4 * h);
    c->dr = take<float>(b, x->step_rows * h);
    c->attention = take<float>(b, x->attentions);
    c->dscore = take<float>(b, x->attentions);
    c->head_ld = dls_arch_pooled_width(a) > a->n_outputs ? dls_arch_pooled_width(a) : a->n_outputs;
    c->pooled = take<float>(b, x->graphs * c->head_ld);
    c->dpooled = take<float>(b, x->graphs * c->head_ld);
    c->head_first = take<float>(b, x->graphs * c->head_ld);
    c->told = take<float>(b, x->answers * a->n_conditions);
    for (int i = 1; i <= a->mlp_layers; i++) {
        c->head_act[i] = take<float>(b, x->answers * c->head_ld);
        c->head_delta[i] = take<float>(b, x->answers * c->head_ld);
    }
    c->square = take<double>(b, x->answers);
    c->loss = take<double>(b, 2);
    size_t most = x->layer_rows > x->step_rows ? x->layer_rows : x->step_rows;
    most = x->answers > most ? x->answers : most;
    const size_t parts = ((most > x->rows ? most : x->rows) + SUM_ROWS - 1) / SUM_ROWS;
    size_t widest = 4 * h > (size_t)c->head_ld ? 4 * h : (size_t)c->head_ld;
    widest = widest > (size_t)c->wide ? widest : (size_t)c->wide;
    c->partial = take<float>(b, parts * widest);
}

/* ---- forward ----------------------------------------------------------------------------------
 */

/* The batch of c->index. The host waits only if it is PLANS batches ahead. */
static dls_status upload_plan(cuda_learner *c, uint64_t *noise, size_t n, plan_part part,
                              dls_error *err)
{
    const size_t bytes = plan_bytes(c);
    const int turn = c->next_plan;
    bump host = {c->pinned + turn * bytes, 0};
    CUDA_TRY(cudaEventSynchronize(c->uploaded[turn]));
    c->plan.sample = take<dev_sample>(&host, c->limit.graphs);
    c->plan.tile = take<dev_tile>(&host, c->limit.tiles);
    c->plan.answer = take<dev_answer>(&host, c->limit.answers);
    make_plan(c->lessons, c->index, noise, n, part, &c->plan);
    CUDA_TRY(cudaMemcpyAsync(c->sample, c->plan.sample, bytes, cudaMemcpyHostToDevice, c->stream));
    CUDA_TRY(cudaEventRecord(c->uploaded[turn], c->stream));
    c->next_plan = (turn + 1) % PLANS;
    return DLS_OK;
}

static layer_args layer_of(const cuda_learner *c, dropout_args dropout, int position)
{
    const size_t row = c->plan.offset[position];
    const size_t both = two_convs(c) ? c->limit.layer_rows : 0;
    const int h = c->net.at.h;
    const int ld = c->net.at.ld;
    layer_args p;
    memset(&p, 0, sizeof p);
    p.at = c->net.at;
    p.s = c->s;
    p.sample = c->sample;
    p.tile = c->tile;
    p.w = c->net.w;
    p.start = c->start;
    p.dropout = dropout;
    p.position = position;
    p.wide = c->wide;
    p.in = c->state + row * ld;
    p.next = position < c->plan.layers ? c->state + c->plan.offset[position + 1] * ld : NULL;
    p.nodes = c->nodes;
    p.agg = c->agg + row * ld;
    p.act = c->act + row * h;
    p.dpre = c->dpre + row * h;
    p.own_at = both * h;
    p.gates = c->gates + row * 4 * h;
    p.dnodes = c->dnodes;
    p.dagg_in = c->dagg[(position + 1) % 2];
    p.dpart_in = c->dpart[(position + 1) % 2];
    p.dagg = c->dagg[position % 2];
    p.dpart = c->dpart[position % 2];
    return p;
}

static dls_status run_layers(cuda_learner *c, dropout_args dropout, dls_error *err)
{
    const layer_args first = layer_of(c, dropout, 0);
    DLS_LAUNCH(k_begin, (int)c->plan.tiles, LAYER_THREADS, 0, c->stream, first);
    for (int k = 0; k < c->plan.layers; k++) {
        const layer_args p = layer_of(c, dropout, k);
        DLS_LAUNCH(k_layer_forward, (int)c->plan.active_tiles[k], LAYER_THREADS,
                   forward_bytes(c->wide), c->stream, p);
    }
    CUDA_TRY(cudaGetLastError());
    return DLS_OK;
}

static readout_args readout_of(const cuda_learner *c)
{
    readout_args p;
    memset(&p, 0, sizeof p);
    p.at = c->net.at;
    p.sample = c->sample;
    p.w = c->net.w;
    p.nodes = c->nodes;
    p.dnodes = c->dnodes;
    p.keep_weights = c->keep_weights;
    p.keep_nodes = c->keep_nodes;
    p.q = c->q;
    p.cell = c->cell;
    p.gates = c->lstm_gates;
    p.dr = c->dr;
    p.weight = c->attention;
    p.dscore = c->dscore;
    p.pooled = c->pooled;
    p.dpooled = c->dpooled;
    p.pooled_ld = c->head_ld;
    return p;
}

/* Readout, MLP and loss; with backward the gradient of the pooled vector, too. */
static dls_status run_readout(cuda_learner *c, bool backward, int loss, dls_error *err)
{
    const dls_arch *a = &c->config.net->arch;
    const int graphs = (int)c->plan.graphs;
    const int answers = (int)c->plan.answers;
    const readout_args p = readout_of(c);
    DLS_LAUNCH(k_set2set_forward, graphs, READOUT_THREADS, c->readout_bytes, c->stream, p);
    head_args head;
    memset(&head, 0, sizeof head);
    head.at = c->net.at;
    head.sample = c->sample;
    head.answer = c->answer;
    head.pooled = c->pooled;
    head.dpooled = c->dpooled;
    head.condition = c->s.condition;
    head.told = c->told;
    head.first = c->head_first;
    head.w = c->net.w;
    head.target = c->s.target;
    memcpy(head.act, c->head_act, sizeof head.act);
    memcpy(head.delta, c->head_delta, sizeof head.delta);
    head.ld = c->head_ld;
    head.weight = 2.0 / ((double)answers * (double)a->n_outputs);
    head.square = c->square;
    head.backward = backward;
    const size_t bytes = 2 * (size_t)c->head_ld * sizeof(float);
    DLS_LAUNCH(k_head, answers, HEAD_THREADS, bytes, c->stream, head);
    if (backward) {
        DLS_LAUNCH(k_head_first, graphs, HEAD_THREADS, bytes, c->stream, head);
    }
    DLS_LAUNCH(k_loss, 1, OPTIMISER_THREADS, OPTIMISER_THREADS * sizeof(double), c->stream,
               c->square, answers, (int)a->n_outputs, c->loss + loss);
    CUDA_TRY(cudaGetLastError());
    return DLS_OK;
}

/* ---- backward ---------------------------------------------------------------------------------
 */

/* gradient [k][n] = a [rows][k]^T b [rows][n]; lda, ldb: floats from row to row. Nothing if there
 * are no rows: gradients begin as zeros. */
static dls_status matrix_gradient(const cuda_learner *c, const float *a, int lda, int k,
                                  const float *b, int ldb, int n, size_t rows, size_t at,
                                  dls_error *err)
{
    const float one = 1.0f;
    const float zero = 0.0f;
    if (rows > 0) {
        BLAS_TRY(cublasSgemm(c->blas, CUBLAS_OP_N, CUBLAS_OP_T, n, k, (int)rows, &one, b, ldb, a,
                             lda, &zero, c->net.gradient + at, n));
    }
    return DLS_OK;
}

static void bias_gradient(const cuda_learner *c, const float *b, int ldb, int n, size_t rows,
                          size_t at)
{
    const int parts = (int)((rows + SUM_ROWS - 1) / SUM_ROWS);
    if (parts > 0) {
        DLS_LAUNCH(k_column_parts, parts, LAYER_THREADS, 0, c->stream, b, ldb, rows, n, c->partial);
        DLS_LAUNCH(k_column_sums, (n + LAYER_THREADS - 1) / LAYER_THREADS, LAYER_THREADS, 0,
                   c->stream, c->partial, parts, n, c->net.gradient + at);
    }
}

static dls_status dense_gradient(const cuda_learner *c, const dense_place *d, const float *a,
                                 int lda, const float *b, int ldb, size_t rows, dls_error *err)
{
    DLS_TRY(matrix_gradient(c, a, lda, d->k, b, ldb, d->n, rows, d->w, err));
    bias_gradient(c, b, ldb, d->n, rows, d->b);
    return DLS_OK;
}

static dls_status layer_gradients(const cuda_learner *c, dls_error *err)
{
    const dls_trainee *net = c->config.net;
    const net_places *at = &c->net.at;
    const batch_plan *p = &c->plan;
    if (net->map[net->gru].trained) {
        const int ld = 4 * at->h;
        DLS_TRY(dense_gradient(c, &at->x, c->state, at->ld, c->gates, ld, p->layer_rows, err));
        DLS_TRY(dense_gradient(c, &at->y, c->act, at->h, c->gates + at->h, ld, p->layer_rows, err));
    }
    const bool from_0 = p->layers > 0 && c->lessons[c->index[0]].frozen == 0;
    for (int conv = 0; conv < net->n_convs + net->own; conv++) {
        const bool own = net->own && conv == net->n_convs;
        /* rows of layers that use it: the first position's, or all from the second on */
        const int first = own ? (from_0 ? 1 : 0) : conv;
        const int end = conv > 0 || p->layers == 0 ? p->layers : 1;
        if (net->map[net->conv[conv]].trained && first < end) {
            const size_t from = p->offset[first];
            const size_t both = own && two_convs(c) ? c->limit.layer_rows : 0;
            DLS_TRY(dense_gradient(c, &at->conv[own ? CONV_OWN : conv], c->agg + from * at->ld,
                                   at->ld, c->dpre + (both + from) * at->h, at->h,
                                   p->offset[end] - from, err));
        }
    }
    return DLS_OK;
}

static dls_status readout_gradients(const cuda_learner *c, dls_error *err)
{
    const dls_trainee *net = c->config.net;
    const net_places *at = &c->net.at;
    const int h = at->h;
    for (int l = 0; l < at->mlp_layers; l++) {
        if (net->map[net->mlp + l].trained) {
            DLS_TRY(dense_gradient(c, &at->mlp[l], l ? c->head_act[l] : c->pooled, c->head_ld,
                                   l ? c->head_delta[l + 1] : c->head_first, c->head_ld,
                                   l ? c->plan.answers : c->plan.graphs, err));
        }
    }
    if (net->condition >= 0 && net->map[net->condition].trained) {
        const dense_place *d = &at->condition;
        DLS_TRY(matrix_gradient(c, c->told, d->k, d->k, c->head_delta[1], c->head_ld, d->n,
                                c->plan.answers, d->w, err));
    }
    if (net->map[net->lstm].trained) {
        dense_place both = at->from_h; /* the read vector's matrix is behind it */
        both.k = 2 * h;
        DLS_TRY(
            dense_gradient(c, &both, c->q, 2 * h, c->lstm_gates, 4 * h, c->plan.step_rows, err));
    }
    return DLS_OK;
}

/* From the gradient of the pooled vectors to that of every trained value. */
static dls_status run_backward(cuda_learner *c, dropout_args dropout, dls_error *err)
{
    const dls_trainee *net = c->config.net;
    CUDA_TRY(cudaMemsetAsync(c->net.gradient, 0, c->net.n_gradient * sizeof(float), c->stream));
    if (c->plan.layers > 0 || net->map[net->lstm].trained) {
        const readout_args p = readout_of(c);
        DLS_LAUNCH(k_set2set_backward, (int)c->plan.graphs, READOUT_THREADS, c->readout_bytes,
                   c->stream, p);
    }
    for (int k = c->plan.layers - 1; k >= 0; k--) {
        const layer_args p = layer_of(c, dropout, k);
        DLS_LAUNCH(k_layer_backward, (int)c->plan.active_tiles[k], LAYER_THREADS,
                   backward_bytes(c->wide, c->net.at.h), c->stream, p);
    }
    CUDA_TRY(cudaGetLastError());
    DLS_TRY(layer_gradients(c, err));
    return readout_gradients(c, err);
}

#endif
