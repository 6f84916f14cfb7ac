/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * The formulas of sized.h.
 */
#include "workload/operator/sized.h"

#include "workload/graph/work.h"

#include <math.h>
#include <string.h>

#define TILES_IN_FLIGHT 2 /* on a multiprocessor: a wave is twice as many tiles */
#define JOIN_S 3e-6       /* of the partial results of a split product: one more kernel */
#define SPLIT_LEAST 64    /* terms of a sum that are worth a part of their own */
#define OUT_OF_REACH 7    /* halves the rate of a tile of which m n / (m + n) is as much */
#define USUAL_SM 0.175e12 /* rate of a multiprocessor for which depths are stated */
#define BEST_RATE 1.05    /* of the data sheet's: clocks are above the base that it states */
#define FUSED_CHANNELS 32 /* of Winograd's fused kernel, and outputs: 128 or 32 tiles of 2x2 */
#define FUSED_TILES 32
#define BLOCK 32.0        /* channels that matrix units take at a time, of a tap */
#define WINDOW_LARGE 9    /* taps, above which kernels of matrix units are older */
#define CHANNELS_MANY 256 /* of less channels than that */
#define HALF_FEW 64       /* and all of less in 16 bits */
#define TRANSFORMED 6.0   /* edge of an input tile of Winograd's products */
#define PRODUCTS (TRANSFORMED * TRANSFORMED)
#define ROW_LANES 512   /* elements that a block of a row kernel takes at a time */
#define WARP_WIDTH 1024 /* the longest row that one warp takes */
#define WORD 4.0
#define VECTOR_BYTES 16
#define NARROW_HEAD 64 /* numbers of a head for which attention has a kernel of its own */
/* Of batched products on matrix units, in a graph that is replayed: how much faster what the call
 * before has left in the cache is read, and the MB of which it leaves half. */
#define READ_AGAIN 2.0
#define LEFT_MB 20.0

#define XX(id, key, mean, sigma) {#key, mean, sigma},
static const dls_sized_constant product_constants[] = {DLS_PRODUCT_CONSTANTS(XX)};
static const dls_sized_constant conv_constants[] = {DLS_CONV_CONSTANTS(XX)};
static const dls_sized_constant rows_constants[] = {DLS_ROWS_CONSTANTS(XX)};
static const dls_sized_constant elements_constants[] = {DLS_ELEMENTS_CONSTANTS(XX)};
static const dls_sized_constant attention_constants[] = {DLS_ATTENTION_CONSTANTS(XX)};
#undef XX

bool dls_sized_has_rates(dls_sized_family family)
{
    return family <= DLS_SIZED_BMM_RAGGED;
}

const dls_sized_constant *dls_sized_constants(dls_sized_family family, size_t *n)
{
    if (dls_sized_has_rates(family)) {
        *n = DLS_PRODUCT_N;
        return product_constants;
    }
    if (family == DLS_SIZED_CONV) {
        *n = DLS_CONV_N;
        return conv_constants;
    }
    if (family == DLS_SIZED_ATTENTION) {
        *n = DLS_ATTENTION_N;
        return attention_constants;
    }
    *n = family == DLS_SIZED_ELEMENTS ? DLS_ELEMENTS_N : DLS_ROWS_N;
    return family == DLS_SIZED_ELEMENTS ? elements_constants : rows_constants;
}

const char *dls_sized_family_name(int family)
{
    static const char *const name[] = {
#define XX(id, key) #key,
        DLS_SIZED_FAMILY_MAP(XX)
#undef XX
    };
    return family >= 0 && family < DLS_SIZED_FAMILIES ? name[family] : "?";
}

dls_sized_gpu dls_sized_gpu_of(const dls_hw_gpu *gpu, dls_numeric units)
{
    const bool half = units == DLS_NUMERIC_FP16;
    /* PyTorch adds up in 32 bits: at twice tf32's rate, which GeForce's units exceed in 16 bits alone. */
    const double half_flops =
        gpu->tf32_flops > 0 ? fmin(gpu->fp16_flops, 2 * gpu->tf32_flops) : gpu->fp16_flops;
    return (dls_sized_gpu){.flops = half                        ? half_flops
                                    : units == DLS_NUMERIC_TF32 ? gpu->tf32_flops
                                                                : gpu->fp32_flops,
                           .mem_bps = gpu->mem_bps,
                           .vector_flops = gpu->fp32_flops,
                           .multiprocessors = gpu->multiprocessors > 0 ? gpu->multiprocessors
                                                                       : gpu->fp32_flops / USUAL_SM,
                           .element_bytes = half ? WORD / 2 : WORD,
                           .alone = true};
}

double dls_sized_best_rate(const dls_sized_row *row)
{
    double best = 0;
    for (int i = 0; dls_sized_has_rates(row->family) && i < row->n_tiles[0]; i++) {
        best = fmax(best, row->c[DLS_PRODUCT_N + i]);
    }
    return best;
}

double dls_sized_tile_rate(dls_tile t)
{
    const double reuse = (double)t.m * t.n / (t.m + t.n);
    return BEST_RATE * reuse / (reuse + OUT_OF_REACH);
}

/* Terms of a sum that a latency costs: as many more as the multiprocessor is faster. */
static double latency_terms(const dls_sized_gpu *gpu)
{
    return gpu->flops / gpu->multiprocessors / USUAL_SM;
}

static bool multiple(double x, double of)
{
    return fmod(x, of) == 0;
}

bool dls_sized_aligned(double m, double n, double k)
{
    return multiple(m, 4) && multiple(n, 2) && multiple(k, 2) &&
           (multiple(m, 32) || (multiple(n, 4) && multiple(k, 4)));
}

dls_sized_family dls_sized_product_family(bool batched, double m, double n, double k,
                                          dls_numeric units)
{
    const bool ragged = units == DLS_NUMERIC_FP32 && !dls_sized_aligned(m, n, k);
    return (dls_sized_family)((batched ? DLS_SIZED_BMM : DLS_SIZED_LINEAR) + ragged);
}

bool dls_sized_as_product(dls_sized_kernel *k, dls_numeric units)
{
    const double pixels = k->out_h * k->out_w;
    const bool half = units == DLS_NUMERIC_FP16;
    if (units == DLS_NUMERIC_FP32 || k->groups > 1 || k->kernel_h * k->kernel_w * k->stride > 1) {
        return false;
    }
    k->b = half ? 1 : k->batch;
    k->m = half ? k->batch * pixels : k->out_c;
    k->n = k->row_n = k->in_c;
    k->k = k->row_k = half ? k->out_c : pixels;
    k->family = dls_sized_product_family(!half, k->m, k->n, k->k, units);
    return true;
}

/* Two times that overlap, the more the larger mix is. */
static double both(double a, double b, double mix)
{
    const double more = fmax(a, b), less = fmin(a, b);
    return more > 0 ? more * pow(1 + pow(less / more, mix), 1 / mix) : 0;
}

/* The less of the best until now and two times that overlap before `after`: where the longer of
 * them is as long as the best, powers, which cost most, are left out. */
static double least(double best, double a, double b, double mix, double after)
{
    return fmax(a, b) + after >= best ? best : fmin(best, both(a, b, mix) + after);
}

/* As measured alone, or as one of the kernels of a step. */
static double finish(double s, double floor_us, double throttle, double settle_ms, double overlap,
                     bool alone)
{
    return alone
               ? both(1e-6 * floor_us, s * (1 + throttle * s / (s + 1e-3 * settle_ms)), 1 + overlap)
               : s * (1 + throttle);
}

/* How many times as fast memory is where the call before has left its data in the cache; in a step
 * other kernels ran since. */
static double again(double bytes, double cached, double cache_mb, const dls_sized_gpu *gpu)
{
    const double over = 1e-6 * bytes / cache_mb;
    return gpu->alone ? 1 + cached / (1 + over * over * over) : 1;
}

/* ---- products -------------------------------------------------------------------------------- */

/* Pages of memory that a wave of tiles spans, in MB: it runs along the rows of tiles or down their
 * columns, a library's choice that is fitted as something between the two. Never less for more
 * rows, or twice the batch could take less time. */
static double span_mb(const dls_sized_kernel *k, double tm, double tn, double in_flight,
                      double along, double element_bytes)
{
    const double across = ceil(k->k / tm), down = ceil(k->m / tn);
    const double wave = fmin(in_flight, across * down);
    const double row = fmin(across, wave) * tm + fmax(1, wave / across) * tn;
    const double column = fmin(down, wave) * tn + tm;
    return 1e-6 * element_bytes * k->n * column * pow(row / column, along / (1 + along));
}

/* Matrix units: how many times as slow a product is for rows of memory that fill no vectors. */
static double of_vectors(const dls_sized_kernel *k, const dls_sized_row *row, double element_bytes)
{
    const double whole = VECTOR_BYTES / element_bytes;
    if (row->numeric == DLS_NUMERIC_FP32 ||
        (multiple(k->row_n, whole) && multiple(k->row_k, whole))) {
        return 1;
    }
    return row
        ->c[multiple(k->row_n, 2) && multiple(k->row_k, 2) ? DLS_PRODUCT_EVEN : DLS_PRODUCT_ODD];
}

/* Parts of a sum that multiprocessors share. */
static const double splits[] = {1, 2, 3, 4, 6, 8, 12, 16};

static double product_s(const dls_sized_kernel *k, const dls_sized_row *row,
                        const dls_sized_gpu *gpu)
{
    const bool linear = row->family == DLS_SIZED_LINEAR || row->family == DLS_SIZED_LINEAR_RAGGED;
    const size_t n_splits = linear ? sizeof splits / sizeof *splits : 1;
    const double *c = row->c, *rate = row->c + DLS_PRODUCT_N;
    const double once = gpu->element_bytes * k->b * (k->m * k->n + k->n * k->k);
    const double result = gpu->element_bytes * k->b * k->m * k->k;
    const double sm = gpu->multiprocessors, bps = gpu->mem_bps * c[DLS_PRODUCT_MEMORY];
    const double depth = c[DLS_PRODUCT_DEPTH] * latency_terms(gpu);
    const double flops = gpu->flops / of_vectors(k, row, gpu->element_bytes);
    const bool matrix = row->numeric != DLS_NUMERIC_FP32;
    const double faster = matrix && !linear ? again(once + result, READ_AGAIN, LEFT_MB, gpu) : 1;
    double best = HUGE_VAL;
    for (size_t i = 0; i < row->n_tiles[0]; i++) {
        const double tm = row->tile[0][i].m, tn = row->tile[0][i].n;
        const double across = ceil(k->k / tm), down = ceil(k->m / tn);
        /* A wave runs along a row of tiles, whose strip of one operand its tiles share. */
        const double wave = fmin(sm * TILES_IN_FLIGHT, across * down);
        const double strip =
            gpu->element_bytes * k->n * (fmin(across, wave) * tm + fmax(1, wave / across) * tn);
        double paging = k->streamed ? 1 : 0; /* 0: not yet known */
        const double moved =
            fmax(once, c[DLS_PRODUCT_REUSE] * k->b * (across * down / wave) * strip) / faster +
            result;
        const double sm_rate = flops / sm * rate[i];
        for (size_t j = 0; j < n_splits; j++) {
            const double s = splits[j], tiles = k->b * across * down;
            if (s > 1 && (k->n / s < SPLIT_LEAST || tiles >= 2 * sm)) {
                break;
            }
            const double compute = (ceil(tiles * s / sm) + c[DLS_PRODUCT_FILL]) * 2 * tm * tn *
                                   (k->n / s + depth) / sm_rate;
            const double memory = (moved + (s > 1 ? 2 * s * result : 0)) / bps;
            if (fmax(compute, memory) >= best) {
                continue; /* paging and overlap make it longer still: their powers are what costs */
            }
            if (!(paging > 0)) {
                const double pages = pow(span_mb(k, tm, tn, sm * TILES_IN_FLIGHT,
                                                 c[DLS_PRODUCT_ALONG], gpu->element_bytes) /
                                             c[DLS_PRODUCT_REACH],
                                         c[DLS_PRODUCT_STEEP]);
                paging = 1 + c[DLS_PRODUCT_PAGING] * pages / (1 + pages);
            }
            best = least(best, compute * paging, memory * paging, c[DLS_PRODUCT_MIX],
                         s > 1 ? JOIN_S : 0);
        }
    }
    return finish(best, c[DLS_PRODUCT_FLOOR], c[DLS_PRODUCT_THROTTLE], c[DLS_PRODUCT_SETTLE],
                  c[DLS_PRODUCT_OVERLAP], gpu->alone);
}

/* ---- convolutions ---------------------------------------------------------------------------- */

static double tiles_s(double tiles, double fill, double flops, double rate,
                      const dls_sized_gpu *gpu)
{
    return (ceil(tiles / gpu->multiprocessors) + fill) * flops * gpu->multiprocessors /
           (gpu->flops * rate);
}

static double tile_loss(dls_tile t)
{
    return dls_sized_tile_rate(t) / BEST_RATE;
}

/* Numbers that the sum of an output runs over: matrix units take a block of channels at a time, of
 * each tap. */
static double summed(const dls_sized_kernel *k, const dls_sized_row *row)
{
    return k->kernel_h * k->kernel_w *
           (row->numeric == DLS_NUMERIC_FP32 ? k->in_c : BLOCK * ceil(k->in_c / BLOCK));
}

static double numbers_in(const dls_sized_kernel *k)
{
    return k->batch * k->in_h * k->in_w * k->in_c;
}

static double numbers_out(const dls_sized_kernel *k)
{
    return k->batch * k->out_h * k->out_w * k->out_c;
}

static double weights(const dls_sized_kernel *k)
{
    return k->kernel_h * k->kernel_w * k->in_c * k->out_c;
}

/* The implicit product at a rate, its sum in as many parts as are worth it or in one. */
static double implicit_at(const dls_sized_kernel *k, const dls_sized_row *row,
                          const dls_sized_gpu *gpu, double rate, bool parts)
{
    const double *c = row->c, depth = summed(k, row);
    const double latency =
        c[DLS_CONV_DEPTH_I] * (row->numeric == DLS_NUMERIC_FP32 ? 1 : latency_terms(gpu));
    const double taps = k->kernel_h * k->kernel_w, pixels = k->batch * k->out_h * k->out_w;
    /* An input is read for as many outputs as windows hold it. */
    const double windows = fmax(1, taps / (k->stride * k->stride));
    const double bytes = gpu->element_bytes * (numbers_in(k) * pow(windows, c[DLS_CONV_PATCH]) +
                                               numbers_out(k) + weights(k));
    const double memory = bytes / (gpu->mem_bps * c[DLS_CONV_MEMORY]);
    const size_t n_splits = parts ? sizeof splits / sizeof *splits : 1;
    double best = HUGE_VAL;
    for (size_t i = 0; i < row->n_tiles[0]; i++) {
        const dls_tile t = row->tile[0][i];
        const double tiles = ceil(pixels / t.m) * ceil(k->out_c / t.n);
        for (size_t j = 0; j < n_splits; j++) {
            const double s = splits[j];
            if (s > 1 && (depth / s < SPLIT_LEAST || tiles >= 2 * gpu->multiprocessors)) {
                break;
            }
            const double compute =
                tiles_s(tiles * s, c[DLS_CONV_FILL_I], 2.0 * t.m * t.n * (depth / s + latency),
                        rate * tile_loss(t), gpu);
            best = least(best, compute, memory, c[DLS_CONV_MIX], s > 1 ? JOIN_S : 0);
        }
    }
    return best;
}

double dls_sized_turned_s(const dls_sized_kernel *k, const dls_sized_row *row,
                          const dls_sized_gpu *gpu)
{
    const bool one_pixel = k->kernel_h * k->kernel_w * k->stride == 1; /* read as it lies */
    return row->numeric == DLS_NUMERIC_TF32 && !one_pixel
               ? 2 * gpu->element_bytes * (numbers_in(k) + numbers_out(k) + weights(k)) /
                     (gpu->mem_bps * row->c[DLS_CONV_TRANSFORM])
               : 0;
}

/* Kernels of matrix units that are left for what the new ones do not take. */
static bool runs_older(const dls_sized_kernel *k, dls_numeric numeric)
{
    return (numeric == DLS_NUMERIC_FP16 && k->in_c < HALF_FEW) ||
           (numeric != DLS_NUMERIC_FP32 && k->in_c < CHANNELS_MANY &&
            k->kernel_h * k->kernel_w > WINDOW_LARGE);
}

/* Matrix units want channels last; in tf32 they lie first, and all is transposed. */
static double implicit_s(const dls_sized_kernel *k, const dls_sized_row *row,
                         const dls_sized_gpu *gpu)
{
    const bool older = runs_older(k, row->numeric);
    return implicit_at(k, row, gpu, row->c[older ? DLS_CONV_OLDER : DLS_CONV_IMPLICIT],
                       row->numeric != DLS_NUMERIC_FP32 && !older) +
           dls_sized_turned_s(k, row, gpu);
}

/* By vector units in tf32's place, as is usual of fp32, of images as they lie. */
static double vector_s(const dls_sized_kernel *k, const dls_sized_row *row,
                       const dls_sized_gpu *gpu)
{
    dls_sized_row usual = *row;
    dls_sized_gpu vector = *gpu;
    usual.numeric = DLS_NUMERIC_FP32;
    vector.flops = gpu->vector_flops;
    for (size_t i = 0; i < DLS_CONV_N; i++) {
        usual.c[i] = conv_constants[i].mean;
    }
    return implicit_at(k, &usual, &vector, row->c[DLS_CONV_VECTOR], false);
}

static double fused_s(const dls_sized_kernel *k, const dls_sized_row *row, const dls_sized_gpu *gpu)
{
    const double *c = row->c, taps = 9;
    double tiles = HUGE_VAL;
    for (size_t i = 0; i < row->n_tiles[1]; i++) {
        const dls_tile t = row->tile[1][i];
        tiles = fmin(tiles, ceil(k->batch / t.z) * ceil(k->out_h / t.m) * ceil(k->out_w / t.n));
    }
    const double bytes = gpu->element_bytes *
                         (k->batch * k->in_h * k->in_w * k->in_c +
                          k->batch * k->out_h * k->out_w * k->out_c + taps * k->in_c * k->out_c);
    /* 16 products for four outputs and a channel. */
    const double compute =
        tiles_s(tiles * ceil(k->out_c / FUSED_CHANNELS), c[DLS_CONV_FILL_F],
                2.0 * FUSED_CHANNELS * FUSED_TILES * 16 * (k->in_c + c[DLS_CONV_DEPTH_F]),
                c[DLS_CONV_FUSED], gpu);
    return both(compute, bytes / (gpu->mem_bps * c[DLS_CONV_MEMORY]), c[DLS_CONV_MIX]);
}

static double transformed_s(const dls_sized_kernel *k, const dls_sized_row *row,
                            const dls_sized_gpu *gpu)
{
    const double *c = row->c, e = gpu->element_bytes;
    const double tiles = k->batch * ceil(k->out_h / 4) * ceil(k->out_w / 4);
    const double in = PRODUCTS * e * tiles * k->in_c, out = PRODUCTS * e * tiles * k->out_c;
    const double filter = PRODUCTS * e * k->in_c * k->out_c;
    const double outside = e * (k->batch * k->in_h * k->in_w * k->in_c +
                                k->batch * k->out_h * k->out_w * k->out_c + 9 * k->in_c * k->out_c);
    double best = HUGE_VAL;
    for (size_t i = 0; i < row->n_tiles[2]; i++) {
        const dls_tile t = row->tile[2][i];
        const double compute =
            tiles_s(PRODUCTS * ceil(tiles / t.m) * ceil(k->out_c / t.n), c[DLS_CONV_FILL_S],
                    2.0 * t.m * t.n * (k->in_c + c[DLS_CONV_DEPTH_S]),
                    c[DLS_CONV_SPLIT] * tile_loss(t), gpu);
        best = least(best, compute, (in + out + filter) / (gpu->mem_bps * c[DLS_CONV_MEMORY]),
                     c[DLS_CONV_MIX], 0);
    }
    return best + (outside + in + out + filter) / (gpu->mem_bps * c[DLS_CONV_TRANSFORM]);
}

static double conv_s(const dls_sized_kernel *k, const dls_sized_row *row, const dls_sized_gpu *gpu)
{
    typedef double algorithm(const dls_sized_kernel *, const dls_sized_row *,
                             const dls_sized_gpu *);
    /* The third is of several launches. */
    static algorithm *const vector_units[] = {implicit_s, fused_s, transformed_s};
    static algorithm *const tf32_units[] = {vector_s, NULL, implicit_s};
    const double *c = row->c;
    const bool winograd = k->stride == 1 && k->kernel_h == 3 && k->kernel_w == 3;
    const bool tf32 = row->numeric == DLS_NUMERIC_TF32;
    double best = HUGE_VAL;
    for (int how = 0; how < 3; how++) {
        algorithm *const by = tf32 ? tf32_units[how] : vector_units[how];
        if (by && (tf32 || how == 0 || winograd) && row->n_tiles[tf32 ? 0 : how] > 0) {
            const double floor_us = c[DLS_CONV_FLOOR] * (how == 2 ? c[DLS_CONV_MANY] : 1);
            best = fmin(best, finish(by(k, row, gpu), floor_us, c[DLS_CONV_THROTTLE],
                                     c[DLS_CONV_SETTLE], c[DLS_CONV_OVERLAP], gpu->alone));
        }
    }
    return best;
}

/* ---- passes over memory ---------------------------------------------------------------------- */

static double memory_s(double bytes, double share, double cached, double cache_mb,
                       const dls_sized_gpu *gpu)
{
    return bytes / (gpu->mem_bps * share * again(bytes, cached, cache_mb, gpu));
}

static double rows_s(const dls_sized_kernel *k, const dls_sized_row *row, const dls_sized_gpu *gpu)
{
    const double *c = row->c, w = k->width;
    const bool norm = row->family == DLS_SIZED_NORM, block = w > WARP_WIDTH;
    const double wide = w / c[DLS_ROWS_WIDE] * (w / c[DLS_ROWS_WIDE]);
    const double passes = 2 + c[DLS_ROWS_AGAIN] * wide / (1 + wide) +
                          c[DLS_ROWS_ODD] * !multiple(w, 4) + c[DLS_ROWS_BLOCK] * block;
    /* A warp takes the next power of two. */
    const double turns = norm || block ? ceil(w / ROW_LANES) : exp2(ceil(log2(w))) / WARP_WIDTH;
    const double bytes = gpu->element_bytes * k->rows * w;
    /* Shares of the fit may exceed 1, of passes that are read again; what is read and written once
     * does not. */
    const double memory = fmax(
        memory_s(bytes * passes, c[DLS_ROWS_MEMORY], c[DLS_ROWS_CACHED], c[DLS_ROWS_CACHE], gpu),
        memory_s(bytes * 2, 1, c[DLS_ROWS_CACHED], c[DLS_ROWS_CACHE], gpu));
    const double latency =
        1e-6 * ceil(k->rows / gpu->multiprocessors) * (c[DLS_ROWS_ROW] + c[DLS_ROWS_PASS] * turns);
    return finish(both(memory, latency, c[DLS_ROWS_MIX]), c[DLS_ROWS_FLOOR], 0, 1,
                  c[DLS_ROWS_OVERLAP], gpu->alone);
}

static double elements_s(const dls_sized_kernel *k, const dls_sized_row *row,
                         const dls_sized_gpu *gpu)
{
    const double *c = row->c, n = k->rows * k->width;
    const double memory = memory_s(gpu->element_bytes * n * k->passes, c[DLS_ELEMENTS_MEMORY],
                                   c[DLS_ELEMENTS_CACHED], c[DLS_ELEMENTS_CACHE], gpu);
    const double latency = 1e-6 * c[DLS_ELEMENTS_ROW] * ceil(n / ROW_LANES / gpu->multiprocessors);
    return finish(both(memory, latency, c[DLS_ELEMENTS_MIX]), c[DLS_ELEMENTS_FLOOR + k->op], 0, 1,
                  c[DLS_ELEMENTS_OVERLAP], gpu->alone);
}

static double attention_s(const dls_sized_kernel *k, const dls_sized_row *row,
                          const dls_sized_gpu *gpu)
{
    const int wide = k->k > NARROW_HEAD;
    const double share = row->c[(k->op ? DLS_ATTENTION_BACKWARD : DLS_ATTENTION_FORWARD) + wide];
    return 2 * (k->op ? DLS_WORK_ATTENTION_GRAD : DLS_WORK_ATTENTION) * k->b * k->m *
           (k->n + row->c[DLS_ATTENTION_BESIDE]) * k->k / (share * gpu->flops);
}

double dls_sized_s(const dls_sized_kernel *k, const dls_sized_row *row, const dls_sized_gpu *gpu)
{
    if (row->family == DLS_SIZED_ATTENTION) {
        return attention_s(k, row, gpu);
    }
    if (dls_sized_has_rates(row->family)) {
        return product_s(k, row, gpu);
    }
    if (row->family == DLS_SIZED_CONV) {
        return conv_s(k, row, gpu);
    }
    return row->family == DLS_SIZED_ELEMENTS ? elements_s(k, row, gpu) : rows_s(k, row, gpu);
}

/* Which tiles a library has for batches is a choice of its own for every GPU (A100: one, H100:
 * seven), so a GPU with the constants of another is taken to have all usual ones, as good as the
 * other's. Ragged sizes are not: there most libraries have few. */
static dls_sized_row with_usual_tiles(const dls_sized_row *row)
{
    static const dls_tile usual[DLS_SIZED_TILES] = {{1, 128, 128}, {1, 128, 64}, {1, 64, 128},
                                                    {1, 64, 64},   {1, 128, 32}, {1, 32, 128},
                                                    {1, 32, 32}};
    dls_sized_row wide = *row;
    double *rate = wide.c + DLS_PRODUCT_N;
    const double good = rate[0] / dls_sized_tile_rate(row->tile[0][0]);
    for (int i = 0; i < DLS_SIZED_TILES && wide.n_tiles[0] < DLS_SIZED_TILES; i++) {
        int k = 0;
        while (k < row->n_tiles[0] && memcmp(&row->tile[0][k], &usual[i], sizeof usual[i]) != 0) {
            k++;
        }
        if (k == row->n_tiles[0]) {
            rate[wide.n_tiles[0]] = good * dls_sized_tile_rate(usual[i]);
            wide.tile[0][wide.n_tiles[0]++] = usual[i];
        }
    }
    return wide;
}

static double by_row_s(const dls_sized_kernel *k, const dls_sized_row *row, bool lent,
                       const dls_sized_gpu *gpu)
{
    if (lent && row->family == DLS_SIZED_BMM) {
        const dls_sized_row wide = with_usual_tiles(row);
        return dls_sized_s(k, &wide, gpu);
    }
    return dls_sized_s(k, row, gpu);
}

double dls_sized_pair_s(const dls_sized_kernel *k, dls_sized_pair by, const dls_sized_gpu *gpu)
{
    dls_sized_gpu kept = *gpu;
    kept.flops *= by.clock;
    const double s = by_row_s(k, by.row, by.lent, &kept);
    return by.other ? sqrt(s * by_row_s(k, by.other, by.lent, &kept)) : s;
}
