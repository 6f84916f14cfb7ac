/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Reads measured kernels, checks them against the data sheet, and sums up how far models are off.
 */
#include "predictor/measured/kernels.h"

#include "base/alloc.h"
#include "predictor/baselines/roofline.h"
#include "workload/operator/kernel_rows.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

/* Winograd's and Fourier's algorithms spare up to half of the products; launches and small tensors
 * take up to 0.1 ms and reach a hundredth of the rates. */
#define FASTER 100.0
#define SLOWER 300.0
#define FLOOR_S 1e-4

static const struct {
    const char *name, *family;
    int passes;
} ops[DLS_MEASURED_OPS] = {
#define XX(id, name, family, passes) {name, family, passes},
    DLS_MEASURED_OP_MAP(XX)
#undef XX
};

const char *dls_measured_op_family(int op)
{
    return ops[op].family;
}

void dls_measured_kernels_fini(dls_measured_kernels *s)
{
    if (s) {
        dls_free(s->row);
        dls_free(s->bad.at);
        *s = (dls_measured_kernels){0};
    }
}

/* ---- reading --------------------------------------------------------------------------------- */

enum { GPU, SET, OP, PRECISION, B, M, N, K, WINDOW, STRIDE, PADDING, LATENCY_MS, COLUMNS };

static const char *const names[COLUMNS] = {
    [GPU] = "gpu",
    [SET] = "set",
    [OP] = "op",
    [PRECISION] = "precision",
    [B] = "b|batch|rows",
    [M] = "m|image|width",
    [N] = "n|channels_in",
    [K] = "k|channels_out",
    [WINDOW] = "kernel_size",
    [STRIDE] = "stride",
    [PADDING] = "padding",
    [LATENCY_MS] = "latency_ms",
};

static dls_status take_set(dls_measured_kernels *s, dls_measured_table *t, int32_t *set,
                           dls_error *err)
{
    char name[64];
    dls_measured_word(t, SET, t->stem, name, sizeof name);
    for (*set = 0; *set < s->n_sets; ++*set) {
        if (strcmp(s->set[*set], name) == 0) {
            return DLS_OK;
        }
    }
    if (s->n_sets == (int32_t)(sizeof s->set / sizeof s->set[0])) {
        return dls_csv_fail(&t->csv, t->col[SET], err, "more than %d sets", (int)s->n_sets);
    }
    snprintf(s->set[s->n_sets++], sizeof s->set[0], "%s", name);
    return DLS_OK;
}

static dls_status take_op(dls_measured_table *t, dls_measured_op *op, dls_error *err)
{
    char name[32];
    dls_measured_word(t, OP, "", name, sizeof name);
    for (int i = 0; i < DLS_MEASURED_OPS; i++) {
        if (strcmp(ops[i].name, name) == 0) {
            *op = (dls_measured_op)i;
            return DLS_OK;
        }
    }
    return dls_csv_fail(&t->csv, t->col[OP], err, "\"%s\" is no operation that is judged", name);
}

static dls_status take_sizes(dls_measured_table *t, dls_measured_kernel *row, dls_error *err)
{
    const bool vector = ops[row->op].passes > 0, conv = row->op == DLS_MEASURED_CONV;
    const int64_t most = INT64_C(1) << 40;
    int64_t window, stride, padding;
    DLS_TRY(dls_measured_count(t, B, 0, 1, most, &row->b, err));
    DLS_TRY(dls_measured_count(t, M, 0, 1, most, &row->m, err));
    DLS_TRY(dls_measured_count(t, N, vector, 1, most, &row->n, err));
    DLS_TRY(dls_measured_count(t, K, vector, 1, most, &row->k, err));
    DLS_TRY(dls_measured_count(t, WINDOW, conv ? 0 : 1, 1, 1024, &window, err));
    DLS_TRY(dls_measured_count(t, STRIDE, 1, 1, 1024, &stride, err));
    DLS_TRY(dls_measured_count(t, PADDING, window / 2, 0, 1024, &padding, err));
    row->window = (int32_t)window;
    row->stride = (int32_t)stride;
    row->padding = (int32_t)padding;
    if (row->b < 1 || row->m < 1 || row->n < 1 || row->k < 1 || window < 1 ||
        (conv && row->m + 2 * padding < window)) {
        return dls_csv_fail(&t->csv, -1, err, "sizes are missing or too small");
    }
    return DLS_OK;
}

static dls_status take_precision(dls_measured_table *t, dls_numeric *out, dls_error *err)
{
    char name[16];
    dls_measured_word(t, PRECISION, "fp32", name, sizeof name);
    return dls_numeric_find(name, out)
               ? DLS_OK
               : dls_csv_fail(&t->csv, t->col[PRECISION], err,
                              "\"%s\" is not fp32, tf32, fp16 or bf16", name);
}

static dls_status check_time(const dls_measured_table *t, const dls_measured_kernel *row,
                             dls_error *err)
{
    const double sheet_s = dls_measured_roofline_s(NULL, row);
    if (row->seconds > sheet_s / FASTER && row->seconds < SLOWER * (sheet_s + FLOOR_S)) {
        return DLS_OK;
    }
    return dls_csv_fail(&t->csv, t->col[LATENCY_MS], err,
                        "%g ms, where the data sheet needs %g: seconds or microseconds?",
                        1e3 * row->seconds, 1e3 * sheet_s);
}

static dls_status read_row(dls_measured_kernels *s, dls_measured_table *t, const dls_hardware *hw,
                           dls_measured_kernel *row, dls_error *err)
{
    char gpu[DLS_HW_NAME];
    *row = (dls_measured_kernel){0};
    DLS_TRY(dls_measured_gpu(t, GPU, hw, gpu, err));
    DLS_TRY(dls_hardware_gpu(hw, gpu, &row->gpu, err));
    DLS_TRY(take_op(t, &row->op, err));
    DLS_TRY(take_set(s, t, &row->set, err));
    DLS_TRY(take_precision(t, &row->numeric, err));
    DLS_TRY(take_sizes(t, row, err));
    DLS_TRY(dls_measured_ms(t, LATENCY_MS, &row->seconds, err));
    return check_time(t, row, err);
}

static dls_status read_rows(dls_measured_kernels *s, dls_measured_table *t, const dls_hardware *hw,
                            dls_error *err)
{
    for (;;) {
        dls_measured_kernel row;
        dls_error why = {0};
        bool more;
        DLS_TRY(dls_measured_next(t, &more, &why, err));
        if (!more) {
            return DLS_OK;
        }
        if (why.status == DLS_OK && read_row(s, t, hw, &row, &why) == DLS_OK) {
            DLS_TRY(dls_grow(&s->row, &s->cap, s->n + 1, sizeof *s->row, err));
            s->row[s->n++] = row;
        } else {
            s->n_bad++;
            DLS_TRY(dls_complain(&s->bad, &why, err));
        }
    }
}

dls_status dls_measured_kernels_read(dls_measured_kernels *s, const char *path,
                                     const dls_hardware *hw, const dls_measured_defaults *defaults,
                                     dls_error *err)
{
    static const int needed[] = {GPU, OP, B, M, LATENCY_MS, -1};
    DLS_OWN(dls_measured_close) dls_measured_table t = {0};
    DLS_TRY(dls_measured_open(&t, path, names, COLUMNS, needed, defaults, err));
    return read_rows(s, &t, hw, err);
}

dls_status dls_measured_is_kernels(const char *path, bool *kernels, dls_error *err)
{
    DLS_OWN(dls_measured_close) dls_measured_table t = {0};
    DLS_TRY(dls_measured_open(&t, path, names, COLUMNS, NULL, NULL, err));
    *kernels = t.col[LATENCY_MS] >= 0;
    return DLS_OK;
}

/* ---- models ---------------------------------------------------------------------------------- */

static dls_kernel product(const dls_measured_kernel *r)
{
    const double b = (double)r->b, m = (double)r->m, n = (double)r->n, k = (double)r->k;
    const bool shared = r->op == DLS_MEASURED_LINEAR; /* one W for all of the batch, and a bias */
    return (dls_kernel){.family = DLS_KERNEL_MATMUL,
                        .op_family = DLS_FAMILY_MATMUL,
                        .flops = 2 * b * m * n * k,
                        .moved = b * m * (n + k) + (shared ? 0 : b * n * k),
                        .moved_once = shared ? n * k + k : 0,
                        .count = shared ? 1 : r->b,
                        .m = shared ? r->b * r->m : r->m,
                        .n = r->k,
                        .k = r->n};
}

static dls_kernel convolution(const dls_measured_kernel *r)
{
    const int64_t out = (r->m + 2 * r->padding - r->window) / r->stride + 1;
    const double area = (double)out * (double)out, w2 = (double)r->window * r->window;
    const double b = (double)r->b, in = (double)r->n, to = (double)r->k;
    const bool unit = r->stride == 1;
    return (dls_kernel){.family = r->window == 1           ? DLS_KERNEL_CONV1
                                  : r->window == 3 && unit ? DLS_KERNEL_CONV3
                                  : r->window == 5 && unit ? DLS_KERNEL_CONV5
                                                           : DLS_KERNEL_CONV_OTHER,
                        .op_family = DLS_FAMILY_CONV,
                        .flops = 2 * b * area * in * to * w2,
                        .moved = b * (in * (double)r->m * (double)r->m + to * area),
                        .moved_once = in * to * w2,
                        .count = 1,
                        .m = r->b * out * out,
                        .n = r->k,
                        .k = r->n * r->window * r->window,
                        .window = {.in_h = (int32_t)r->m,
                                   .in_c = (int32_t)r->n,
                                   .out_c = (int32_t)r->k,
                                   .kernel_h = r->window,
                                   .kernel_w = r->window,
                                   .stride = r->stride}};
}

dls_kernel dls_measured_kernel_of(const dls_measured_kernel *r)
{
    dls_kernel k =
        r->op == DLS_MEASURED_CONV ? convolution(r)
        : ops[r->op].passes == 0
            ? product(r)
            : (dls_kernel){.family = DLS_KERNEL_MEMORY,
                           .op_family = r->op == DLS_MEASURED_LN        ? DLS_FAMILY_NORM
                                        : r->op == DLS_MEASURED_SOFTMAX ? DLS_FAMILY_SOFTMAX
                                                                        : DLS_FAMILY_ELEMENTWISE,
                           .moved = (double)ops[r->op].passes * (double)r->b * (double)r->m};
    k.repeats = 1;
    k.tensor = -1;
    k.at_batch = 1;
    return k;
}

/* Place of an element-wise operation among the sized model's floors. */
static int floor_of(dls_measured_op op)
{
    static const dls_measured_op order[] = {DLS_MEASURED_ADD,  DLS_MEASURED_ADDU, DLS_MEASURED_MUL,
                                            DLS_MEASURED_MULU, DLS_MEASURED_DIV,  DLS_MEASURED_DIVU,
                                            DLS_MEASURED_POW,  DLS_MEASURED_POWU, DLS_MEASURED_RELU,
                                            DLS_MEASURED_GELU, DLS_MEASURED_TANH};
    int at = 0;
    while (at + 1 < (int)(sizeof order / sizeof *order) && order[at] != op) {
        at++;
    }
    return at;
}

/* As the sized model sees it. */
static dls_sized_kernel sized_of(const dls_measured_kernel *r)
{
    const double b = (double)r->b, m = (double)r->m, n = (double)r->n, k = (double)r->k;
    if (r->op == DLS_MEASURED_CONV) {
        const double out = (double)((r->m + 2 * r->padding - r->window) / r->stride + 1);
        return (dls_sized_kernel){.family = DLS_SIZED_CONV,
                                  .batch = b,
                                  .in_c = n,
                                  .out_c = k,
                                  .in_h = m,
                                  .in_w = m,
                                  .out_h = out,
                                  .out_w = out,
                                  .kernel_h = r->window,
                                  .kernel_w = r->window,
                                  .stride = r->stride};
    }
    if (ops[r->op].passes == 0) {
        const dls_sized_family family =
            r->op == DLS_MEASURED_LINEAR ? DLS_SIZED_LINEAR : DLS_SIZED_BMM;
        return (dls_sized_kernel){.family =
                                      (dls_sized_family)(family + !dls_sized_aligned(m, n, k)),
                                  .b = b,
                                  .m = m,
                                  .n = n,
                                  .k = k};
    }
    return (dls_sized_kernel){.family = r->op == DLS_MEASURED_LN        ? DLS_SIZED_NORM
                                        : r->op == DLS_MEASURED_SOFTMAX ? DLS_SIZED_SOFTMAX
                                                                        : DLS_SIZED_ELEMENTS,
                              .op = floor_of(r->op),
                              .rows = b,
                              .width = m,
                              .passes = ops[r->op].passes};
}

double dls_measured_operator_s(const void *model, const dls_measured_kernel *row)
{
    const dls_opmodel *m = model;
    const dls_sized_kernel work = sized_of(row);
    const dls_sized_pair by = m->sized && row->numeric == DLS_NUMERIC_FP32
                                  ? dls_sized_table_for(m->sized, row->gpu, work.family)
                                  : (dls_sized_pair){0};
    if (by.row) {
        const dls_sized_gpu gpu = dls_kernel_row_gpu(row->gpu);
        return dls_sized_pair_s(&work, by, &gpu);
    }
    const dls_rates rates = dls_opmodel_rates(m, row->gpu, row->numeric);
    const dls_kernel k = dls_measured_kernel_of(row);
    return dls_kernel_s(&k, &rates, 1);
}

double dls_measured_roofline_s(const void *unused, const dls_measured_kernel *row)
{
    const dls_roofline r = dls_roofline_of(row->gpu, row->numeric);
    const dls_kernel k = dls_measured_kernel_of(row);
    return fmax(dls_roofline_compute_s(&r, &k, 1), dls_roofline_memory_s(&r, &k, 1));
}

dls_status dls_measured_kernels_judge(const dls_measured_kernels *s, const dls_kernel_choice *c,
                                      dls_kernel_model model, const void *user, dls_errors *out,
                                      dls_error *err)
{
    size_t n = 0;
    dls_judged *judged;
    DLS_TRY(dls_alloc_array(&judged, s->n, sizeof *judged, "judged kernels", err));
    for (size_t i = 0; i < s->n; i++) {
        const dls_measured_kernel *row = &s->row[i];
        if ((!c->family || strcmp(c->family, ops[row->op].family) == 0) &&
            (c->set < 0 || c->set == row->set) &&
            (!c->gpu || strcmp(c->gpu, row->gpu->name) == 0) && row->seconds >= c->least_s) {
            judged[n] = (dls_judged){.measured = row->seconds,
                                     .predicted = model(user, row),
                                     .batch = 1,
                                     .peers = (int32_t)n}; /* shapes are many: no pairs */
            n++;
        }
    }
    const dls_status status = dls_errors_of(judged, n, out, err);
    dls_free(judged);
    return status;
}
