/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Reads measured kernels, checks them against the data sheet, and sums up how far models are off.
 */
#include "predictor/measured/kernels.h"

#include "base/alloc.h"
#include "base/fnv.h"
#include "predictor/baselines/roofline.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

/* Winograd's and Fourier's algorithms spare up to half of the products; launches and small tensors
 * take up to 0.1 ms and reach a hundredth of the rates. */
#define FASTER 100.0
#define SLOWER 300.0
#define FLOOR_S 1e-4
#define JUDGED_OF 5

void dls_measured_kernels_fini(dls_measured_kernels *s)
{
    if (s) {
        dls_free(s->row);
        dls_free(s->bad.at);
        *s = (dls_measured_kernels){0};
    }
}

/* ---- operations ---------------------------------------------------------------------------------
 */

#define PRODUCT                                                                                    \
    4,                                                                                             \
    {                                                                                              \
        DLS_KERNEL_B, DLS_KERNEL_M, DLS_KERNEL_N, DLS_KERNEL_K                                     \
    }
#define VECTOR                                                                                     \
    2,                                                                                             \
    {                                                                                              \
        DLS_KERNEL_ROWS, DLS_KERNEL_WIDTH                                                          \
    }
#define ELEMENTS(name, op)                                                                         \
    {                                                                                              \
        name, "elementwise", DLS_SIZED_ELEMENTS, op, VECTOR                                        \
    }
static const dls_kernel_operation operations[] = {
    {"linear", "linear", DLS_SIZED_LINEAR, 0, PRODUCT},
    {"bmm", "bmm", DLS_SIZED_BMM, 0, PRODUCT},
    {"conv",
     "conv",
     DLS_SIZED_CONV,
     0,
     7,
     {DLS_KERNEL_BATCH, DLS_KERNEL_IN, DLS_KERNEL_OUT, DLS_KERNEL_KERNEL, DLS_KERNEL_IMAGE,
      DLS_KERNEL_STRIDE, DLS_KERNEL_PADDING}},
    {"ln", "ln", DLS_SIZED_NORM, 0, VECTOR},
    {"softmax", "softmax", DLS_SIZED_SOFTMAX, 0, VECTOR},
    ELEMENTS("add", 0),
    ELEMENTS("addu", 1),
    ELEMENTS("mul", 2),
    ELEMENTS("mulu", 3),
    ELEMENTS("div", 4),
    ELEMENTS("divu", 5),
    ELEMENTS("pow", 6),
    ELEMENTS("powu", 7),
    ELEMENTS("relu", 8),
    ELEMENTS("gelu", 9),
    ELEMENTS("tanh", 10)};

const dls_kernel_operation *dls_kernel_operations(size_t *n)
{
    *n = sizeof operations / sizeof *operations;
    return operations;
}

/* As the sized model sees it. */
static dls_sized_kernel work_of(const dls_kernel_operation *o, dls_numeric units,
                                const int64_t v[DLS_KERNEL_SIZES])
{
    dls_sized_kernel k = {.family = o->sized, .op = o->op};
    switch (o->sized) {
    case DLS_SIZED_LINEAR:
    case DLS_SIZED_BMM:
        k.b = (double)v[DLS_KERNEL_B];
        k.m = (double)v[DLS_KERNEL_M];
        k.n = (double)v[DLS_KERNEL_N];
        k.k = (double)v[DLS_KERNEL_K];
        k.row_n = k.n;
        k.row_k = k.k;
        k.family = dls_sized_product_family(o->sized == DLS_SIZED_BMM, k.m, k.n, k.k, units);
        break;
    case DLS_SIZED_CONV:
        k.batch = (double)v[DLS_KERNEL_BATCH];
        k.in_c = (double)v[DLS_KERNEL_IN];
        k.out_c = (double)v[DLS_KERNEL_OUT];
        k.kernel_h = k.kernel_w = (double)v[DLS_KERNEL_KERNEL];
        k.stride = (double)v[DLS_KERNEL_STRIDE];
        k.groups = (double)v[DLS_KERNEL_GROUPS];
        k.in_h = k.in_w = (double)v[DLS_KERNEL_IMAGE];
        k.out_h = k.out_w =
            (double)((v[DLS_KERNEL_IMAGE] + 2 * v[DLS_KERNEL_PADDING] - v[DLS_KERNEL_KERNEL]) /
                         v[DLS_KERNEL_STRIDE] +
                     1);
        (void)dls_sized_as_product(&k, units);
        break;
    default:
        k.rows = (double)v[DLS_KERNEL_ROWS];
        k.width = (double)v[DLS_KERNEL_WIDTH];
        k.passes = o->sized == DLS_SIZED_ELEMENTS && o->op < 8 && o->op % 2 == 0
                       ? 3
                       : 2; /* the even ones read two tensors */
        break;
    }
    return k;
}

/* ---- reading --------------------------------------------------------------------------------- */

enum {
    GPU,
    SET,
    OP,
    PRECISION,
    KERNEL,
    ALL_KERNELS,
    LAYOUT,
    BACKWARD_MS,
    SIZE,
    LATENCY_MS = SIZE + DLS_KERNEL_SIZES,
    COLUMNS
};

static const char *const names[COLUMNS] = {
    [GPU] = "gpu",
    [SET] = "set",
    [OP] = "op",
    [PRECISION] = "precision",
    [KERNEL] = "kernel",
    [ALL_KERNELS] = "all_kernels",
    [LAYOUT] = "layout",
    [BACKWARD_MS] = "backward_ms",
#define XX(id, key) [SIZE + DLS_KERNEL_##id] = #key,
    DLS_KERNEL_SIZE_MAP(XX)
#undef XX
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

static dls_status take_op(dls_measured_table *t, const dls_kernel_operation **op, dls_error *err)
{
    char name[32];
    dls_measured_word(t, OP, "", name, sizeof name);
    for (size_t i = 0; i < sizeof operations / sizeof *operations; i++) {
        if (strcmp(operations[i].name, name) == 0) {
            *op = &operations[i];
            return DLS_OK;
        }
    }
    return dls_csv_fail(&t->csv, t->col[OP], err, "\"%s\" is no operation that is judged", name);
}

/* Sizes of the operation, and by the hash of "op,size,size" whether it judges. */
static dls_status take_sizes(dls_measured_table *t, dls_measured_kernel *row, dls_error *err)
{
    int64_t size[DLS_KERNEL_SIZES] = {[DLS_KERNEL_STRIDE] = 1};
    uint64_t h = dls_fnv_text(DLS_FNV_START, row->op->name);
    bool known = true;
    for (int i = 0; i < row->op->n_sizes; i++) {
        const dls_kernel_size at = row->op->size[i];
        const bool padding = at == DLS_KERNEL_PADDING;
        DLS_TRY(dls_measured_count(t, SIZE + (int)at,
                                   padding ? size[DLS_KERNEL_KERNEL] / 2 : size[at], !padding,
                                   INT64_C(1) << 40, &size[at], err));
        known = known && size[at] >= !padding;
        char text[24];
        snprintf(text, sizeof text, ",%lld", (long long)size[at]);
        h = dls_fnv_text(h, text);
    }
    if (!known || size[DLS_KERNEL_IMAGE] + 2 * size[DLS_KERNEL_PADDING] < size[DLS_KERNEL_KERNEL]) {
        return dls_csv_fail(&t->csv, -1, err, "sizes are missing or too small");
    }
    DLS_TRY(dls_measured_count(t, SIZE + DLS_KERNEL_GROUPS, 1, 1, INT64_C(1) << 40,
                               &size[DLS_KERNEL_GROUPS], err));
    row->judge = h % JUDGED_OF == 0;
    row->work = work_of(row->op, row->units, size);
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

static bool sizes_behind(const char *name, const char *word, int *m, int *n)
{
    const char *at = strstr(name, word);
    return at && sscanf(at + strlen(word), "%dx%d", m, n) == 2;
}

/* The tile in the name of a library's kernel, and which of an algorithm's lists it belongs to. */
static void take_tile(dls_measured_table *t, dls_measured_kernel *row)
{
    int m = 0, n = 0;
    char name[256];
    snprintf(name, sizeof name, "%s", dls_csv_text(&t->csv, t->col[KERNEL]));
    const char *fused = strstr(name, "winograd") ? strstr(name, "_tile") : NULL;
    row->tile_list = -1;
    if (row->work.family != DLS_SIZED_CONV) {
        if (sizes_behind(name, "sgemm_", &m, &n) || sizes_behind(name, "tilesize", &m, &n) ||
            sizes_behind(name, "gemm_", &m, &n) || sizes_behind(name, "nvjet_sm90_tst_", &m, &n) ||
            sizes_behind(name, "nvjet_sm90_hsh_", &m, &n)) {
            row->tile_list = 0;
        }
    } else if (fused && strlen(fused) > 8) {
        /* "tile148": 1 image, 8 rows, twice 8 columns; 128 outputs in all. */
        const int z = fused[5] - '0';
        m = 2 * (fused[6] - '0');
        if (z >= 1 && m >= 2) {
            n = 128 / z / m;
            row->tile_list = 1;
            row->tile.z = (int16_t)z;
        }
    } else if (strstr(dls_csv_text(&t->csv, t->col[ALL_KERNELS]), "winogradforward")) {
        row->tile_list = sizes_behind(name, "sgemm_", &m, &n) ? 2 : -1;
    } else if (sizes_behind(name, "scudnn_", &m, &n)) {
        row->tile_list = 0;
    }
    if (m < 1 || n < 1 || m > 1024 || n > 1024) {
        row->tile_list = -1;
        return;
    }
    row->tile = (dls_tile){row->tile_list == 1 ? row->tile.z : 1, (int16_t)m, (int16_t)n};
}

static dls_status take_backward(dls_measured_table *t, dls_measured_kernel *row, dls_error *err)
{
    char layout[16], backward[32];
    dls_measured_word(t, LAYOUT, row->units == DLS_NUMERIC_FP16 ? "nhwc" : "nchw", layout,
                      sizeof layout);
    row->layout = strcmp(layout, "nhwc") == 0 ? DLS_LAYOUT_LAST : DLS_LAYOUT_FIRST;
    dls_measured_word(t, BACKWARD_MS, "", backward, sizeof backward);
    return backward[0] ? dls_measured_ms(t, BACKWARD_MS, &row->backward_s, err) : DLS_OK;
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
    *row = (dls_measured_kernel){0};
    DLS_TRY(dls_measured_gpu(t, GPU, hw, &row->gpu, err));
    DLS_TRY(take_op(t, &row->op, err));
    DLS_TRY(take_set(s, t, &row->set, err));
    DLS_TRY(take_precision(t, &row->numeric, err));
    row->units = dls_gpu_multiplies_in(row->gpu, row->numeric);
    DLS_TRY(take_sizes(t, row, err));
    take_tile(t, row);
    DLS_TRY(take_backward(t, row, err));
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
            DLS_TRY(dls_complain(&s->bad, &why, err));
        }
    }
}

dls_status dls_measured_kernels_read(dls_measured_kernels *s, const char *path,
                                     const dls_hardware *hw, const dls_measured_defaults *defaults,
                                     dls_error *err)
{
    static const int needed[] = {GPU, OP, LATENCY_MS, -1};
    DLS_OWN(dls_measured_close) dls_measured_table t = {0};
    DLS_TRY(dls_measured_open(&t, path, names, COLUMNS, needed, defaults, err));
    return read_rows(s, &t, hw, err);
}

dls_status dls_measured_is_kernels(const char *path, bool *kernels, dls_error *err)
{
    DLS_OWN(dls_measured_close) dls_measured_table t = {0};
    DLS_TRY(dls_measured_open(&t, path, names, COLUMNS, NULL, NULL, err));
    *kernels = t.col[LATENCY_MS] >= 0 && t.col[OP] >= 0;
    return DLS_OK;
}

/* ---- models ---------------------------------------------------------------------------------- */

static dls_kernel product(const dls_sized_kernel *r, bool shared)
{
    return (dls_kernel){.family = DLS_KERNEL_MATMUL,
                        .op_family = DLS_FAMILY_MATMUL,
                        .flops = 2 * r->b * r->m * r->n * r->k,
                        .moved = r->b * r->m * (r->n + r->k) + (shared ? 0 : r->b * r->n * r->k),
                        .moved_once = shared ? r->n * r->k + r->k : 0,
                        .count = shared ? 1 : (int64_t)r->b,
                        .m = (int64_t)(shared ? r->b * r->m : r->m),
                        .n = (int64_t)r->k,
                        .k = (int64_t)r->n};
}

static dls_kernel convolution(const dls_sized_kernel *r)
{
    const double area = r->out_h * r->out_w, taps = r->kernel_h * r->kernel_w;
    const bool unit = r->stride < 2;
    return (dls_kernel){.family = r->groups > 1              ? DLS_KERNEL_CONV_OTHER
                                  : taps < 2                 ? DLS_KERNEL_CONV1
                                  : r->kernel_h == 3 && unit ? DLS_KERNEL_CONV3
                                  : r->kernel_h == 5 && unit ? DLS_KERNEL_CONV5
                                                             : DLS_KERNEL_CONV_OTHER,
                        .op_family = DLS_FAMILY_CONV,
                        .flops = 2 * r->batch * area * r->in_c * r->out_c * taps / r->groups,
                        .moved = r->batch * (r->in_c * r->in_h * r->in_w + r->out_c * area),
                        .moved_once = r->in_c * r->out_c * taps / r->groups,
                        .count = (int64_t)r->groups,
                        .m = (int64_t)(r->batch * area),
                        .n = (int64_t)(r->out_c / r->groups),
                        .k = (int64_t)(r->in_c / r->groups * taps),
                        .window = {.in_h = (int32_t)r->in_h,
                                   .in_c = (int32_t)r->in_c,
                                   .out_c = (int32_t)r->out_c,
                                   .kernel_h = (int32_t)r->kernel_h,
                                   .kernel_w = (int32_t)r->kernel_w,
                                   .stride = (int32_t)r->stride}};
}

dls_kernel dls_measured_kernel_of(const dls_measured_kernel *r)
{
    const dls_sized_family family = r->op->sized;
    dls_kernel k =
        family == DLS_SIZED_CONV ? convolution(&r->work)
        : dls_sized_has_rates(family)
            ? product(&r->work, family == DLS_SIZED_LINEAR) /* one W for the batch, and a bias */
            : (dls_kernel){.family = DLS_KERNEL_MEMORY,
                           .op_family = family == DLS_SIZED_NORM      ? DLS_FAMILY_NORM
                                        : family == DLS_SIZED_SOFTMAX ? DLS_FAMILY_SOFTMAX
                                                                      : DLS_FAMILY_ELEMENTWISE,
                           .moved = r->work.passes * r->work.rows * r->work.width};
    k.repeats = 1;
    k.tensor = -1;
    k.at_batch = 1;
    k.layout = (uint8_t)r->layout;
    return k;
}

double dls_measured_sized_s(const void *table, const dls_measured_kernel *row)
{
    const dls_sized_pair by = dls_sized_table_for(table, row->gpu, row->work.family, row->units);
    const dls_sized_gpu gpu = dls_sized_gpu_of(row->gpu, row->units);
    return by.row && !(row->work.groups > 1) ? dls_sized_pair_s(&row->work, by, &gpu) : (double)NAN;
}

double dls_measured_operator_s(const void *model, const dls_measured_kernel *row)
{
    const dls_opmodel *m = model;
    const double sized_s = m->sized ? dls_measured_sized_s(m->sized, row) : (double)NAN;
    if (!isnan(sized_s)) {
        return sized_s;
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
    size_t n = 0, cap = 0;
    DLS_FREED dls_judged *judged = NULL;
    for (size_t i = 0; i < s->n; i++) {
        const dls_measured_kernel *row = &s->row[i];
        if (c->family == row->op->sized && (c->set < 0 || c->set == row->set) &&
            (!c->gpu || c->gpu == row->gpu) && row->seconds >= c->least_s &&
            (!c->apart || (row->judge && row->units == c->units))) {
            DLS_TRY(dls_grow(&judged, &cap, n + 1, sizeof *judged, err));
            judged[n] = (dls_judged){.measured = row->seconds,
                                     .predicted = model(user, row),
                                     .batch = 1,
                                     .peers = (int32_t)n}; /* shapes are many: no pairs */
            n++;
        }
    }
    return dls_errors_of(judged, n, out, err);
}
