/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Reads measured kernels: operation and sizes, the GPU, the time, the tile in the kernel's name.
 */
#include "workload/operator/kernel_rows.h"

#include "base/alloc.h"
#include "base/csv.h"
#include "workload/operator/model.h"

#include <stdio.h>
#include <string.h>

#define JUDGED_OF 5
#define MOST ((int64_t)1 << 40)
#define WORD 4
/* Vector lanes' rate of a multiprocessor where a table does not say how many there are. */
#define USUAL_SM_FLOPS 0.175e12

void dls_kernel_rows_fini(dls_kernel_rows *rows)
{
    if (rows) {
        dls_free(rows->row);
        *rows = (dls_kernel_rows){0};
    }
}

dls_sized_gpu dls_kernel_row_gpu(const dls_hw_gpu *gpu, dls_numeric numeric)
{
    const bool half = numeric == DLS_NUMERIC_FP16;
    return (dls_sized_gpu){.flops = half                          ? gpu->fp16_flops
                                    : numeric == DLS_NUMERIC_TF32 ? gpu->tf32_flops
                                                                  : gpu->fp32_flops,
                           .mem_bps = gpu->mem_bps,
                           .multiprocessors = gpu->multiprocessors > 0
                                                  ? gpu->multiprocessors
                                                  : gpu->fp32_flops / USUAL_SM_FLOPS,
                           .element_bytes = half ? WORD / 2 : WORD,
                           .alone = true};
}

typedef struct reader {
    dls_csv csv;
    int gpu, op, precision, time, name, all_names;
    int size[DLS_KERNEL_SIZES];
    const dls_hardware *hw;
} reader;

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

const dls_kernel_operation *dls_kernel_operation_find(const char *name)
{
    for (size_t i = 0; i < sizeof operations / sizeof *operations; i++) {
        if (strcmp(operations[i].name, name) == 0) {
            return &operations[i];
        }
    }
    return NULL;
}

static dls_status bind(reader *r, dls_error *err)
{
    const dls_csv_bind binds[] = {{"gpu", &r->gpu, true},
                                  {"op", &r->op, true},
                                  {"precision", &r->precision, false},
                                  {"latency_ms", &r->time, true},
                                  {"kernel", &r->name, false},
                                  {"all_kernels", &r->all_names, false},
#define XX(id, key) {#key, &r->size[DLS_KERNEL_##id], false},
                                  DLS_KERNEL_SIZE_MAP(XX)
#undef XX
    };
    DLS_TRY(dls_csv_header(&r->csv, err));
    return dls_csv_bind_all(&r->csv, binds, sizeof binds / sizeof *binds, err);
}

static uint64_t fnv1a(uint64_t h, const char *text)
{
    for (; *text; text++) {
        h = (h ^ (uint8_t)*text) * 0x100000001b3u;
    }
    return h;
}

/* Sizes of the operation, and the hash of "op,size,size". */
static dls_status read_sizes(reader *r, const dls_kernel_operation *o, int64_t *value, bool *judge,
                             dls_error *err)
{
    uint64_t h = fnv1a(0xcbf29ce484222325u, o->name);
    for (int i = 0; i < o->n_sizes; i++) {
        char text[24];
        const int col = r->size[o->size[i]];
        const int64_t least = o->size[i] == DLS_KERNEL_PADDING ? 0 : 1;
        if (col < 0) {
            return dls_csv_fail(&r->csv, r->op, err, "a %s needs its %d sizes", o->name,
                                o->n_sizes);
        }
        DLS_TRY(dls_csv_i64(&r->csv, col, "a size", 0, least, MOST, &value[o->size[i]], err));
        snprintf(text, sizeof text, ",%lld", (long long)value[o->size[i]]);
        h = fnv1a(h, text);
    }
    *judge = h % JUDGED_OF == 0;
    return DLS_OK;
}

dls_sized_kernel dls_kernel_operation_of(const dls_kernel_operation *o,
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
        k.family = (dls_sized_family)(o->sized + !dls_sized_aligned(k.m, k.n, k.k));
        break;
    case DLS_SIZED_CONV:
        k.batch = (double)v[DLS_KERNEL_BATCH];
        k.in_c = (double)v[DLS_KERNEL_IN];
        k.out_c = (double)v[DLS_KERNEL_OUT];
        k.kernel_h = k.kernel_w = (double)v[DLS_KERNEL_KERNEL];
        k.stride = (double)v[DLS_KERNEL_STRIDE];
        k.in_h = k.in_w = (double)v[DLS_KERNEL_IMAGE];
        k.out_h = k.out_w =
            (double)((v[DLS_KERNEL_IMAGE] + 2 * v[DLS_KERNEL_PADDING] - v[DLS_KERNEL_KERNEL]) /
                         v[DLS_KERNEL_STRIDE] +
                     1);
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

static bool sizes_behind(const char *name, const char *word, int *m, int *n)
{
    const char *at = strstr(name, word);
    return at && sscanf(at + strlen(word), "%dx%d", m, n) == 2;
}

/* The tile in the name of a library's kernel, and which of an algorithm's lists it belongs to. */
static void read_tile(reader *r, dls_kernel_row *row)
{
    int m = 0, n = 0;
    char name[256], all[1024];
    snprintf(name, sizeof name, "%s", dls_csv_text(&r->csv, r->name));
    snprintf(all, sizeof all, "%s", dls_csv_text(&r->csv, r->all_names));
    const char *fused = strstr(name, "winograd") ? strstr(name, "_tile") : NULL;
    row->tile_list = -1;
    if (row->k.family != DLS_SIZED_CONV) {
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
    } else if (strstr(all, "winogradforward")) {
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

static dls_status read_row(reader *r, dls_kernel_row *row, dls_error *err)
{
    int64_t value[DLS_KERNEL_SIZES] = {0}, picoseconds = 0;
    char gpu[DLS_HW_NAME], op[32];
    snprintf(gpu, sizeof gpu, "%s", dls_csv_text(&r->csv, r->gpu));
    snprintf(op, sizeof op, "%s", dls_csv_text(&r->csv, r->op));
    const dls_hw_gpu *hw = dls_hardware_gpu_variant(r->hw, gpu);
    if (!hw) {
        return dls_csv_fail(&r->csv, r->gpu, err, "unknown GPU \"%s\"", gpu);
    }
    const dls_kernel_operation *o = dls_kernel_operation_find(op);
    if (!o) {
        return dls_csv_fail(&r->csv, r->op, err, "unknown operation \"%s\"", op);
    }
    DLS_TRY(read_sizes(r, o, value, &row->judge, err));
    DLS_TRY(dls_csv_scaled(&r->csv, r->time, "a time in ms above 0", 9, true, 1, INT64_MAX / 4,
                           &picoseconds, err));
    row->k = dls_kernel_operation_of(o, value);
    if (row->k.family == DLS_SIZED_CONV && !(row->k.out_h >= 1)) {
        return dls_csv_fail(&r->csv, r->size[DLS_KERNEL_IMAGE], err,
                            "the image is smaller than the kernel");
    }
    row->gpu = (int32_t)(hw - r->hw->gpu);
    row->numeric = DLS_NUMERIC_FP32;
    const char *precision = dls_csv_text(&r->csv, r->precision);
    if (precision[0] && !dls_numeric_find(precision, &row->numeric)) {
        return dls_csv_fail(&r->csv, r->precision, err, "\"%s\" is not fp32, tf32, fp16 or bf16",
                            precision);
    }
    row->numeric = dls_gpu_multiplies_in(hw, row->numeric);
    row->seconds = 1e-12 * (double)picoseconds;
    read_tile(r, row);
    return DLS_OK;
}

static dls_status read_all(reader *r, dls_kernel_rows *rows, dls_error *err)
{
    bool more = false;
    DLS_TRY(bind(r, err));
    for (;;) {
        DLS_TRY(dls_csv_next(&r->csv, &more, err));
        if (!more) {
            return DLS_OK;
        }
        DLS_TRY(dls_grow(&rows->row, &rows->cap, rows->n + 1, sizeof *rows->row, err));
        DLS_TRY(read_row(r, &rows->row[rows->n], err));
        rows->n++;
    }
}

dls_status dls_kernel_rows_read(dls_kernel_rows *rows, const char *path, const dls_hardware *hw,
                                dls_error *err)
{
    reader r = {.hw = hw};
    DLS_TRY(dls_csv_open(&r.csv, path, err));
    const dls_status status = read_all(&r, rows, err);
    dls_csv_fini(&r.csv);
    return status;
}
