/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Weights for the device: one array of floats and one of the matrix units' operands, built on the
 * host and uploaded once.
 */
#ifndef DLS_CUDA_PACK_CUH
#define DLS_CUDA_PACK_CUH

extern "C" {
#include "base/alloc.h"
}
#include "predictor/driple/cuda_fused.cuh"
#include "predictor/driple/model.h"

#include <cstdio>
#include <cstring>

/* A convolution's block of floats. Layer 0 has other widths than the rest. Matrices are [in][out].
 */
struct conv_layout {
    int in; /* width of the state it reads */
    size_t w, b, size;
};

/* Offsets in floats into the array, except the fragments'. */
struct pack_layout {
    conv_layout first, later;
    size_t conv, conv_stride; /* [n_convs + n_settings] blocks */
    size_t wi, wh, bi, bh;    /* [h][3h], [3h] */
    size_t lstm_w, lstm_b;    /* [2d][4d], [4d]: W_ih and W_hh merged for the part that is h */
    size_t mlp, mlp_stride;
    size_t total;
    bool fast;                   /* fragments of bf16, else of float32 */
    size_t frag_conv;            /* uint2 of a convolution's fragments */
    size_t frag_gru, frag_total; /* the convolutions' come first */
};

static inline size_t pack_take(size_t *at, size_t n)
{
    const size_t offset = *at;
    *at += n;
    return offset;
}

/* The same place for w and b in every layer: the fused kernels count on it. */
static inline conv_layout conv_plan(const dls_arch *a, bool first)
{
    const size_t h = (size_t)a->hidden;
    const size_t widest = a->n_features > a->hidden ? (size_t)a->n_features : h;
    size_t at = 0;
    conv_layout l;
    l.in = first ? a->n_features : a->hidden;
    l.w = pack_take(&at, widest * h);
    l.b = pack_take(&at, h);
    l.size = at;
    return l;
}

static inline pack_layout pack_plan(const dls_inspector *insp, bool fast)
{
    const dls_arch *a = &insp->arch;
    const size_t h = (size_t)a->hidden;
    const size_t d = (size_t)dls_arch_readout_width(a);
    const size_t convs = (size_t)dls_arch_n_convs(a) + insp->n_settings;
    pack_layout l;
    memset(&l, 0, sizeof l);
    size_t at = 0;
    l.first = conv_plan(a, true);
    l.later = conv_plan(a, false);
    l.conv_stride = l.first.size > l.later.size ? l.first.size : l.later.size;
    l.conv = pack_take(&at, convs * l.conv_stride);
    l.wi = pack_take(&at, h * 3 * h);
    l.wh = pack_take(&at, h * 3 * h);
    l.bi = pack_take(&at, 3 * h);
    l.bh = pack_take(&at, 3 * h);
    l.lstm_w = pack_take(&at, 2 * d * 4 * d);
    l.lstm_b = pack_take(&at, 4 * d);
    for (int i = 0; i < a->mlp_layers; i++) {
        const size_t k = i == 0 ? (size_t)dls_arch_pooled_width(a) : d;
        const size_t n = i == a->mlp_layers - 1 ? (size_t)a->n_outputs : d;
        l.mlp_stride += (k + 1) * n;
    }
    l.mlp = pack_take(&at, l.mlp_stride * (1 + insp->n_settings));
    l.total = at;
    l.frag_total = 1; /* an empty allocation is none */
    if (a->hidden == FUSED_H) {
        l.fast = fast;
        l.frag_conv =
            (fast ? (size_t)bf16_units::K_TILES : (size_t)f32_units::K_TILES) * FUSED_BLOCKS * 32;
        l.frag_gru = convs * l.frag_conv;
        l.frag_total = l.frag_gru + 6 * l.frag_conv;
    }
    return l;
}

/* to[k][n] = m[n][first + k] (torch linear layers are [out][in]). */
static inline void pack_turned(const dls_weight *m, size_t first, size_t k, size_t n, size_t ld,
                               float *to)
{
    for (size_t i = 0; i < k; i++) {
        for (size_t j = 0; j < n; j++) {
            to[i * ld + j] = (float)m->data[j * (size_t)m->spec.cols + first + i];
        }
    }
}

static inline void pack_vector(const dls_weight *v, float *to)
{
    for (int64_t i = 0; i < dls_tensor_len(&v->spec); i++) {
        to[i] = (float)v->data[i];
    }
}

static inline void pack_mlp(const dls_inspector *insp, int setting, float *to)
{
    for (int l = 0; l < insp->arch.mlp_layers; l++) {
        char name[96];
        snprintf(name, sizeof name, "graph_read_out.mlp.fully_connected.%d.linear.weight", l);
        const dls_weight *w = dls_inspector_tensor(insp, setting, true, name);
        snprintf(name, sizeof name, "graph_read_out.mlp.fully_connected.%d.linear.bias", l);
        const size_t k = (size_t)w->spec.cols;
        const size_t n = (size_t)w->spec.rows;
        pack_turned(w, 0, k, n, n, to);
        pack_vector(dls_inspector_tensor(insp, setting, true, name), to + k * n);
        to += (k + 1) * n;
    }
}

/* A convolution of the base or, suffix, of a setting's own layers. */
static inline void pack_conv(const dls_inspector *insp, int setting, int layer, bool suffix,
                             const conv_layout *l, float *to)
{
    char name[64];
    snprintf(name, sizeof name, "conv_layers.%d.W", layer);
    pack_vector(dls_inspector_tensor(insp, setting, suffix, name),
                to + l->w); /* 0 below its rows */
    snprintf(name, sizeof name, "conv_layers.%d.b", layer);
    pack_vector(dls_inspector_tensor(insp, setting, suffix, name), to + l->b);
}

static inline void pack_cells(const dls_inspector *insp, const pack_layout *l, float *to)
{
    const size_t h = (size_t)insp->arch.hidden;
    const size_t d = (size_t)dls_arch_readout_width(&insp->arch);
    const dls_tensors *base = &insp->base;
    pack_turned(dls_tensors_find(base, "gru.gru.weight_ih_l0"), 0, h, 3 * h, 3 * h, to + l->wi);
    pack_turned(dls_tensors_find(base, "gru.gru.weight_hh_l0"), 0, h, 3 * h, 3 * h, to + l->wh);
    pack_vector(dls_tensors_find(base, "gru.gru.bias_ih_l0"), to + l->bi);
    pack_vector(dls_tensors_find(base, "gru.gru.bias_hh_l0"), to + l->bh);
    const dls_weight *wi = dls_tensors_find(base, "graph_read_out.set2set.lstm.weight_ih_l0");
    const dls_weight *wh = dls_tensors_find(base, "graph_read_out.set2set.lstm.weight_hh_l0");
    const dls_weight *bi = dls_tensors_find(base, "graph_read_out.set2set.lstm.bias_ih_l0");
    const dls_weight *bh = dls_tensors_find(base, "graph_read_out.set2set.lstm.bias_hh_l0");
    for (size_t j = 0; j < 4 * d; j++) {
        for (size_t k = 0; k < 2 * d; k++) {
            const double merged = wi->data[j * 2 * d + k] + (k < d ? wh->data[j * d + k] : 0);
            to[l->lstm_w + k * 4 * d + j] = (float)merged;
        }
        to[l->lstm_b + j] = (float)(bi->data[j] + bh->data[j]);
    }
}

/* Round to nearest even; weights are finite. */
static inline unsigned bf16_bits(float v)
{
    unsigned u;
    memcpy(&u, &v, sizeof u);
    return (u + 0x7fffu + ((u >> 16) & 1u)) >> 16;
}

/* B fragments of w [64][ld], columns `column` .., k tile kt: see mma_bf16, mma_tf32. */
static inline void pack_fragment(const float *w, size_t ld, int kt, int column, bool fast,
                                 uint2 *to)
{
    for (int lane = 0; lane < 32; lane++) {
        const float *at = w + column + lane / 4;
        if (fast) {
            at += (kt * 16 + 2 * (lane % 4)) * ld;
            to[lane].x = bf16_bits(at[0]) | bf16_bits(at[ld]) << 16;
            to[lane].y = bf16_bits(at[8 * ld]) | bf16_bits(at[9 * ld]) << 16;
        } else {
            at += (kt * 8 + lane % 4) * ld;
            memcpy(&to[lane].x, at, sizeof *at);
            memcpy(&to[lane].y, at + 4 * ld, sizeof *at);
        }
    }
}

static inline void pack_fragments(const float *floats, const pack_layout *l, size_t convs,
                                  uint2 *to)
{
    const int k_tiles = (int)(l->frag_conv / (FUSED_BLOCKS * 32));
    for (int kt = 0; kt < k_tiles; kt++) {
        for (int block = 0; block < FUSED_BLOCKS; block++) {
            const size_t tile = (size_t)(kt * FUSED_BLOCKS + block) * 32;
            for (size_t c = 0; c < convs; c++) {
                pack_fragment(floats + l->conv + c * l->conv_stride, 64, kt, block * 8, l->fast,
                              to + c * l->frag_conv + tile);
            }
            for (int gate = 0; gate < 3; gate++) {
                uint2 *at = to + l->frag_gru + 3 * tile + (size_t)gate * 32;
                const int column = gate * 64 + block * 8;
                pack_fragment(floats + l->wi, 192, kt, column, l->fast, at);
                pack_fragment(floats + l->wh, 192, kt, column, l->fast, at + 3 * l->frag_conv);
            }
        }
    }
}

/* Fill both arrays (zeroed by the caller). */
static inline void pack_fill(const dls_inspector *insp, const pack_layout *l, float *floats,
                             uint2 *fragments)
{
    const int n_convs = dls_arch_n_convs(&insp->arch);
    for (int c = 0; c < n_convs; c++) {
        pack_conv(insp, DLS_SETTING_BASE, c, false, c == 0 ? &l->first : &l->later,
                  floats + l->conv + c * l->conv_stride);
    }
    for (int i = -1; i < (int)insp->n_settings; i++) {
        if (i >= 0 && insp->settings[i].has_conv) {
            pack_conv(insp, i, 1, true, &l->later,
                      floats + l->conv + (size_t)(n_convs + i) * l->conv_stride);
        }
        pack_mlp(insp, i, floats + l->mlp + (size_t)(i + 1) * l->mlp_stride);
    }
    pack_cells(insp, l, floats);
    if (insp->arch.hidden == FUSED_H) {
        pack_fragments(floats, l, (size_t)n_convs + insp->n_settings, fragments);
    }
}

#endif
