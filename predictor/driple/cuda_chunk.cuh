/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * A chunk of a job: how much of it fits, where its arrays lie on host and device, and its upload.
 */
#ifndef DLS_CUDA_CHUNK_CUH
#define DLS_CUDA_CHUNK_CUH

#include "predictor/driple/cuda_state.cuh"

/* How large a chunk is; rows and graphs are bounded by the pairs. */
struct extent {
    size_t pairs, graphs, rows, nodes, edges;
    int n;
    bool weighted, suffix;
};

/* Host arrays, uploaded as one block, so host and device have the same layout. */
struct upload {
    float *features;
    int *row_start, *col;
    float *weight;
    int *identity;                    /* [graphs] 0, 1, ... */
    int *source, *graph_of, *conv_of; /* [rows] */
    int *row_of, *setting;            /* [pairs] */
};

struct device_work {
    float *val, *root, *diag;
    float *state, *state2; /* prefix result [G][n][h], suffix result [R][n][h] */
    float *pooled, *out;
    /* plain path, [max(G, R)][n][...] */
    float *x, *y, *gi, *gh;          /* h, h, 3h, 3h */
    float *aggregated;               /* as wide as the widest state that a layer reads */
    float *gates, *q, *cell, *score; /* Set2Set */
};

static upload lay_upload(const cuda_state *c, const extent *x, bump *b)
{
    upload u;
    u.features = take<float>(b, x->graphs * x->n * c->insp->arch.n_features);
    u.row_start = take<int>(b, x->graphs * (x->n + 1));
    u.col = take<int>(b, x->edges);
    u.weight = take<float>(b, x->weighted ? x->edges : 0);
    u.identity = take<int>(b, x->graphs);
    u.source = take<int>(b, x->rows);
    u.graph_of = take<int>(b, x->rows);
    u.conv_of = take<int>(b, x->rows);
    u.row_of = take<int>(b, x->pairs);
    u.setting = take<int>(b, x->pairs);
    return u;
}

/* Of the largest of the fused kernels of each precision. */
#define F32_TILES 5
#define FAST_TILES 8
#define F32_NODES fused_nodes<f32_units>(F32_TILES)
#define FAST_NODES fused_nodes<bf16_units>(FAST_TILES)

static bool fused_layers_fit(const cuda_state *c, int n)
{
    return !c->plain_only && c->insp->arch.hidden == FUSED_H && n <= (c->fast ? FAST_NODES : F32_NODES);
}

static bool fused_s2s_fits(const cuda_state *c)
{
    return !c->plain_only && c->insp->arch.hidden == FUSED_H;
}

static device_work lay_work(const cuda_state *c, const extent *x, bump *b)
{
    const dls_arch *a = &c->insp->arch;
    const size_t h = (size_t)a->hidden;
    const size_t f = (size_t)a->n_features;
    const size_t d = (size_t)dls_arch_readout_width(a);
    const size_t most = x->rows > x->graphs ? x->rows : x->graphs;
    device_work w;
    memset(&w, 0, sizeof w);
    w.val = take<float>(b, x->edges);
    w.root = take<float>(b, x->nodes);
    w.diag = take<float>(b, x->nodes);
    w.state = take<float>(b, x->nodes * h);
    w.state2 = take<float>(b, x->suffix ? x->rows * x->n * h : 0);
    w.pooled = take<float>(b, most * (size_t)dls_arch_pooled_width(a));
    w.out = take<float>(b, x->pairs * DLS_METRICS);
    if (!fused_layers_fit(c, x->n)) {
        w.x = take<float>(b, most * x->n * h);
        w.y = take<float>(b, most * x->n * h);
        w.gi = take<float>(b, most * x->n * 3 * h);
        w.gh = take<float>(b, most * x->n * 3 * h);
        w.aggregated = take<float>(b, most * x->n * (h > f ? h : f));
    }
    if (!fused_s2s_fits(c)) {
        w.gates = take<float>(b, most * 4 * d);
        w.q = take<float>(b, most * 2 * d);
        w.cell = take<float>(b, most * d);
        w.score = take<float>(b, most * x->n);
    }
    return w;
}

/* Does a setting have layers of its own on graphs of n nodes? */
static bool own_layers(const cuda_state *c, int setting, int n)
{
    const int depth = dls_arch_layers(&c->insp->arch, n);
    return setting >= 0 && c->insp->settings[setting].has_conv &&
           dls_arch_prefix_layers(&c->insp->arch, depth) < depth;
}

static size_t chunk_bytes(const cuda_state *c, const extent *x)
{
    bump b = {NULL, 0};
    (void)lay_upload(c, x, &b);
    (void)lay_work(c, x, &b);
    return b.used;
}

/* The chunk that starts at `first`: pairs of one size, within the memory of a slot, at most
 * chunk_limit of them, edges that an int counts. One pair in any case. */
static extent next_chunk(const cuda_state *c, const dls_driple_job *job, size_t first)
{
    extent x;
    memset(&x, 0, sizeof x);
    x.n = job->graphs[job->pairs[first].graph].n_nodes;
    bool base_row = false;
    for (size_t i = first; i < job->n_pairs && x.pairs < c->chunk_limit; i++) {
        const dls_pair *p = &job->pairs[i];
        const dls_graph *g = &job->graphs[p->graph];
        extent longer = x;
        if (i == first || p->graph != job->pairs[i - 1].graph) {
            longer.graphs++;
            longer.nodes += (size_t)x.n;
            longer.edges += (size_t)g->row_start[g->n_nodes];
            longer.weighted = x.weighted || g->weight;
            base_row = false;
        }
        const bool own = own_layers(c, p->setting, x.n);
        longer.pairs++;
        longer.suffix = x.suffix || own;
        longer.rows += own || !base_row;
        base_row = base_row || !own;
        /* what a graph's pairs without rows of their own will take is counted at its first */
        const bool grown = longer.graphs > x.graphs || longer.rows > x.rows;
        extent most = longer;
        most.pairs += c->insp->n_settings;
        if (i > first && grown &&
            (g->n_nodes != x.n || longer.edges >= (size_t)1 << 30 ||
             chunk_bytes(c, &most) > c->memory_bytes / SLOTS)) {
            break;
        }
        x = longer;
    }
    return x;
}

/* Rows are sorted by convolution, the base's first, then by graph: products and weights that a
 * block keeps serve as many rows in turn as can be. Without a suffix row r is so graph r. */
static void fill_upload(cuda_state *c, const dls_driple_job *job, size_t first, const extent *x,
                        const upload *u)
{
    const dls_inspector *insp = c->insp;
    const int f = insp->arch.n_features;
    const int n_convs = dls_arch_n_convs(&insp->arch);
    int *next_row = c->row_of_conv; /* base, settings */
    memset(next_row, 0, (insp->n_settings + 2) * sizeof *next_row);
    int last_base = -1; /* graph that has its base row */
    for (size_t i = 0; i < x->pairs; i++) {
        const dls_pair *p = &job->pairs[first + i];
        const bool own = own_layers(c, p->setting, x->n);
        next_row[own ? p->setting + 2 : 1] += own || p->graph != last_base;
        last_base = own ? last_base : p->graph;
    }
    for (size_t k = 1; k < insp->n_settings + 2; k++) {
        next_row[k] += next_row[k - 1];
    }
    size_t edges = 0;
    int g = -1;
    int base_row = -1;
    for (size_t i = 0; i < x->pairs; i++) {
        const dls_pair *p = &job->pairs[first + i];
        if (i == 0 || p->graph != job->pairs[first + i - 1].graph) {
            const dls_graph *from = &job->graphs[p->graph];
            g++;
            u->identity[g] = g;
            base_row = -1;
            float *features = u->features + (size_t)g * x->n * f;
            for (int k = 0; k < f; k++) {
                const double shift = insp->feature_shift[k];
                const double scale = insp->feature_scale[k];
                for (int node = 0; node < x->n; node++) {
                    features[node * f + k] = (float)((from->x[node * f + k] - shift) / scale);
                }
            }
            for (int k = 0; k <= x->n; k++) {
                u->row_start[(size_t)g * (x->n + 1) + k] =
                    (int)(edges + (size_t)from->row_start[k]);
            }
            const size_t m = (size_t)from->row_start[x->n];
            memcpy(u->col + edges, from->col, m * sizeof(int));
            for (size_t e = 0; x->weighted && e < m; e++) {
                u->weight[edges + e] = from->weight ? (float)from->weight[e] : 1.0f;
            }
            edges += m;
        }
        const bool own = own_layers(c, p->setting, x->n);
        int row = base_row;
        if (own || base_row < 0) {
            row = next_row[own ? p->setting + 1 : 0]++;
            base_row = own ? base_row : row;
            u->source[row] = g;
            u->graph_of[row] = g;
            u->conv_of[row] = own ? n_convs + p->setting : 1;
        }
        u->row_of[i] = row;
        u->setting[i] = p->setting;
    }
}

#endif
