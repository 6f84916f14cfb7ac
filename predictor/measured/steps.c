/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Reads measured steps: the published points, and CSV files whose bad rows are complained of one by
 * one.
 */
#include "predictor/measured/steps.h"

#include "base/alloc.h"
#include "base/assert.h"
#include "base/csv.h"
#include "base/own.h"
#include "predictor/measured/dlperf.h"
#include "predictor/measured/groupconv_fit.h"
#include "predictor/measured/table.h"
#include "predictor/measured/words.h"
#include "predictor/sources/whatif.h"
#include "workload/kinds.h"

#include <ctype.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#define MIB 1048576.0
#define MOST_ON_A_NODE 16 /* of GPUs where nobody says how many nodes there are: a DGX-2 has so many */

void dls_measured_steps_fini(dls_measured_steps *s)
{
    if (s) {
        dls_free(s->row);
        dls_free(s->bad.at);
        dls_free(s->doubts.at);
        *s = (dls_measured_steps){0};
    }
}

static dls_status add(dls_measured_steps *s, const dls_measured_step *row, dls_error *err)
{
    DLS_TRY(dls_grow(&s->row, &s->cap, s->n + 1, sizeof *s->row, err));
    s->row[s->n++] = *row;
    return DLS_OK;
}

/* ---- the published points -------------------------------------------------------------------- */

static void of_point(const dls_point *p, dls_measured_step *row)
{
    char host[2 * DLS_HW_NAME];
    const bool alone = p->n_gpus == 1;
    const dls_point_place *place = &dls_point_places[p->source];
    const int32_t per_node = place->per_node;
    const int32_t nodes = per_node && p->n_gpus > per_node ? p->n_gpus / per_node : 1;
    *row = (dls_measured_step){.gpus = p->n_gpus,
                               .nodes = nodes,
                               .servers = !alone && place->servers ? p->n_gpus : 0,
                               .batch = p->batch,
                               .numeric = p->numeric,
                               .update = p->source != DLS_POINT_U39,
                               /* Hosts of Sia's and ElasticFlow's are fitted to layers. */
                               .pytorch = p->source == DLS_POINT_U39,
                               .fitted = p->role == DLS_POINT_CALIBRATE,
                               .step_s = p->step_ms / 1e3};
    snprintf(row->source, sizeof row->source, "%s", place->title);
    snprintf(row->model, sizeof row->model, "%s", p->model);
    snprintf(row->gpu, sizeof row->gpu, "%s", p->gpu);
    snprintf(row->host, sizeof row->host, "%.63s", dls_point_host(p, host, sizeof host));
    snprintf(row->parallelism, sizeof row->parallelism, "dp");
    snprintf(row->exchange, sizeof row->exchange, "%s",
             alone            ? "one"
             : place->servers ? "ps-sync"
                              : "allreduce");
    snprintf(row->network, sizeof row->network, "%s", nodes > 1 ? place->network : "");
    row->sequence = strcmp(p->model, "bert_base") == 0 ? 384 : 0;
}

dls_status dls_measured_steps_points(dls_measured_steps *s, dls_error *err)
{
    size_t n;
    DLS_FREED dls_point *point = NULL;
    DLS_TRY(dls_point_read_all(&point, &n, err));
    for (size_t i = 0; i < n; i++) {
        dls_measured_step row;
        of_point(&point[i], &row);
        DLS_TRY(add(s, &row, err));
    }
    return DLS_OK;
}

/* ---- files ----------------------------------------------------------------------------------- */

enum {
    MODEL,
    GPU,
    BATCH,
    BATCH_PER_GPU,
    IMAGE,
    SEQUENCE,
    DATASET,
    ACCUMULATED,
    GPUS,
    NODES,
    SERVERS,
    LINK,
    NETWORK,
    EXCHANGE,
    PARALLELISM,
    PRECISION,
    AMP,
    FRAMEWORK,
    LAYOUT,
    MODE,
    OPTIMISER,
    COMPILED,
    ATTENTION,
    SOURCE,
    FITTED,
    STEP_MS,
    COLUMNS
};

static const char *const names[COLUMNS] = {
    [MODEL] = "model|model_name",
    [GPU] = "gpu|gpu_type|gpu_name|gpu_model",
    [BATCH] = "batch|batchsize|global_batch|global_batch_size",
    [BATCH_PER_GPU] = "batch_per_gpu|per_gpu_batch|local_batch_size|per_device_batch_size|"
                      "batch_size_per_gpu|per_gpu_batch_size|per_device_train_batch_size",
    [IMAGE] = "image|image_size|img_size|resolution|input_size",
    [SEQUENCE] = "sequence|seq|seq_len|sequence_length",
    [DATASET] = "dataset",
    [ACCUMULATED] = "gradient_accumulation_steps|gradient_accumulation|grad_accum|"
                    "grad_accum_steps|accumulation_steps|accumulate_grad_batches",
    [GPUS] = "gpus|n_gpus|num_gpus|num_gpu|gpu_count|world_size",
    [NODES] = "nodes|n_nodes|num_nodes",
    [SERVERS] = "servers",
    [LINK] = "link",
    [NETWORK] = "network",
    [EXCHANGE] = "exchange",
    [PARALLELISM] = "parallelism",
    [PRECISION] = "precision|dtype",
    [AMP] = "amp",
    [FRAMEWORK] = "framework|host",
    [LAYOUT] = "layout|memory_format",
    [MODE] = "mode",
    [OPTIMISER] = "optimiser|optimizer",
    [COMPILED] = "compiled|fused|torch_compile",
    [ATTENTION] = "attention|attn|attn_implementation|attention_implementation",
    [SOURCE] = "source",
    [FITTED] = "fitted",
    [STEP_MS] = "step_ms|step_time_ms|step_s|step_time_s|step_us|step_time_us",
};

/* Sizes that go with a data set, where they are not a model's usual ones. */
static void sizes_of(const char *dataset, int64_t *image, int64_t *sequence)
{
    char key[DLS_MODEL_KEY];
    dls_model_key(dataset, key);
    *image = strncmp(key, "cifar", 5) == 0 || strcmp(key, "svhn") == 0 ? 32
             : strstr(key, "mnist")                                   ? 28
             : strcmp(key, "tinyimagenet") == 0                       ? 64
                                                                      : 0;
    *sequence = strncmp(key, "squad", 5) == 0 ? 384 : 0;
}

/* A batch of all GPUs, of each, or both; "batch_size" says neither, which several GPUs need. */
static dls_status read_batch(dls_measured_table *t, dls_measured_step *row, dls_error *err)
{
    int64_t total = 0, each = 0;
    DLS_TRY(dls_measured_count(t, BATCH, 0, 1, INT32_MAX, &total, err));
    DLS_TRY(dls_measured_count(t, BATCH_PER_GPU, 0, 1, INT32_MAX, &each, err));
    if (total == 0 && each == 0) {
        return dls_csv_fail(&t->csv, t->col[BATCH], err,
                            "no batch is given (columns 'batch', 'batch_per_gpu')");
    }
    if (each > 0 && total > 0 && each * row->gpus != total) {
        return dls_csv_fail(&t->csv, t->col[BATCH], err, "%lld on all GPUs are not %lld on each of %d",
                            (long long)total, (long long)each, (int)row->gpus);
    }
    if (each == 0 && row->gpus > 1 && t->col[BATCH] >= 0 &&
        dls_measured_column_is(t, BATCH, "batchsize")) {
        return dls_csv_fail(&t->csv, t->col[BATCH], err,
                            "of all %d GPUs (name the column 'batch') or of each "
                            "('batch_per_gpu')?",
                            (int)row->gpus);
    }
    row->batch = (int32_t)(each > 0 ? each : (total + row->gpus - 1) / row->gpus);
    return DLS_OK;
}

static dls_status read_sizes(dls_measured_table *t, dls_measured_step *row, dls_error *err)
{
    int64_t size = 0, image, sequence;
    char dataset[32];
    dls_measured_word(t, DATASET, "", dataset, sizeof dataset);
    sizes_of(dataset, &image, &sequence);
    DLS_TRY(dls_measured_count(t, ACCUMULATED, 1, 1, INT32_MAX, &size, err));
    if (size > 1) {
        return dls_csv_fail(&t->csv, t->col[ACCUMULATED], err,
                            "no source predicts steps that add up gradients of %lld batches",
                            (long long)size);
    }
    DLS_TRY(dls_measured_count(t, GPUS, 1, 1, 1 << 20, &size, err));
    row->gpus = (int32_t)size;
    DLS_TRY(dls_measured_count(t, NODES, 0, 1, size, &size, err));
    if (size == 0 && row->gpus > MOST_ON_A_NODE) {
        return dls_csv_fail(&t->csv, t->col[GPUS], err, "%d GPUs on how many nodes (column 'nodes')?",
                            (int)row->gpus);
    }
    row->nodes = size > 0 ? (int32_t)size : 1;
    DLS_TRY(dls_measured_count(t, SERVERS, 0, 0, 4096, &size, err));
    row->servers = (int32_t)size;
    DLS_TRY(dls_measured_count(t, IMAGE, image, 0, 1 << 14, &size, err));
    row->image = (int32_t)size;
    DLS_TRY(dls_measured_count(t, SEQUENCE, sequence, 0, 1 << 20, &size, err));
    row->sequence = (int32_t)size;
    if (row->gpus % row->nodes != 0) {
        return dls_csv_fail(&t->csv, t->col[GPUS], err, "%d GPUs do not divide over %d nodes",
                            (int)row->gpus, (int)row->nodes);
    }
    /* Traces mean the small one of CIFAR-10, frameworks that of ImageNet. */
    if (row->image == 0 && dls_word_is("resnet18", row->model)) {
        return dls_csv_fail(&t->csv, t->col[MODEL], err,
                            "%s of how large images (column 'image': 32 of CIFAR-10, 224 of ImageNet)?",
                            row->model);
    }
    return read_batch(t, row, err);
}

/* What a cell says, in this program's word; a missing one means `otherwise`. "expected": for who wrote
 * another word. */
static dls_status read_word(dls_measured_table *t, int column, const char *otherwise,
                            const dls_word *words, const char *expected, const char **out,
                            dls_error *err)
{
    char text[DLS_MEASURED_TEXT];
    dls_measured_word(t, column, "", text, sizeof text);
    *out = text[0] ? dls_word_find(words, text) : otherwise;
    return *out ? DLS_OK
                : dls_csv_fail(&t->csv, t->col[column], err, "\"%s\" is not %s", text, expected);
}

static dls_status read_flag(dls_measured_table *t, int column, bool *out, dls_error *err)
{
    const char *word;
    DLS_TRY(read_word(t, column, "0", dls_word_flags, "0 or 1", &word, err));
    *out = word[0] == '1';
    return DLS_OK;
}

static dls_status read_numeric(dls_measured_table *t, dls_measured_step *row, dls_error *err)
{
    const char *word;
    bool amp;
    DLS_TRY(read_flag(t, AMP, &amp, err));
    DLS_TRY(read_word(t, PRECISION, amp ? "fp16" : "fp32", dls_word_precisions,
                      "fp32, tf32, fp16, bf16 or amp", &word, err));
    const bool known = dls_numeric_find(word, &row->numeric);
    DLS_ASSERT(known);
    return DLS_OK;
}

static dls_status read_dividing(dls_measured_table *t, dls_measured_step *row, dls_error *err)
{
    char text[DLS_MEASURED_TEXT];
    const char *exchange;
    dls_measured_word(t, PARALLELISM, "dp", text, sizeof text);
    const char *plain = dls_word_find(dls_word_dividing, text);
    snprintf(row->parallelism, sizeof row->parallelism, "%.15s", plain ? plain : text);
    for (char *letter = row->parallelism; *letter; letter++) {
        *letter = (char)tolower((unsigned char)*letter);
    }
    DLS_TRY(read_word(t, EXCHANGE, row->gpus > 1 ? "allreduce" : "one", dls_word_exchanges,
                      "allreduce, ps-sync or ps-async", &exchange, err));
    snprintf(row->exchange, sizeof row->exchange, "%s", exchange);
    if (row->gpus > 1 && strcmp(exchange, "one") == 0) {
        return dls_csv_fail(&t->csv, t->col[EXCHANGE], err, "%d GPUs exchange gradients",
                            (int)row->gpus);
    }
    return strncmp(exchange, "ps-", 3) != 0 || row->servers > 0
               ? DLS_OK
               : dls_csv_fail(&t->csv, t->col[EXCHANGE], err,
                              "%s with how many servers (column 'servers')?", exchange);
}

static dls_status read_how(dls_measured_table *t, dls_measured_step *row, dls_error *err)
{
    const char *mode, *layout, *attention;
    char optimiser[DLS_MEASURED_TEXT];
    DLS_TRY(read_numeric(t, row, err));
    DLS_TRY(read_word(t, MODE, "training", dls_word_modes, "training or forward", &mode, err));
    DLS_TRY(read_word(t, LAYOUT, "", dls_word_layouts, "nchw or nhwc", &layout, err));
    DLS_TRY(read_word(t, ATTENTION, "eager", dls_word_attentions, "eager or fused", &attention, err));
    DLS_TRY(read_flag(t, COMPILED, &row->compiled, err));
    DLS_TRY(read_flag(t, FITTED, &row->fitted, err));
    DLS_TRY(read_dividing(t, row, err));
    dls_measured_word(t, OPTIMISER, "", optimiser, sizeof optimiser);
    dls_measured_word(t, FRAMEWORK, "", row->host, sizeof row->host);
    dls_measured_word(t, LINK, "", row->link, sizeof row->link);
    dls_measured_word(t, NETWORK, row->nodes > 1 ? "eth100" : "", row->network,
                      sizeof row->network);
    snprintf(row->layout, sizeof row->layout, "%s", layout);
    row->forward = strcmp(mode, "forward") == 0;
    row->fused_attention = strcmp(attention, "fused") == 0;
    row->update = !row->forward && !dls_word_find(dls_word_optimisers, optimiser);
    row->pytorch = dls_names_pytorch(row->host);
    dls_dlperf_translate(row);
    return DLS_OK;
}

static dls_status read_row(dls_measured_table *t, const dls_hardware *hw, dls_measured_step *row,
                           dls_error *err)
{
    const dls_hw_gpu *gpu;
    *row = (dls_measured_step){.line = t->csv.line};
    dls_measured_word(t, SOURCE, t->stem, row->source, sizeof row->source);
    dls_measured_word(t, MODEL, "", row->model, sizeof row->model);
    if (!row->model[0]) {
        return dls_csv_fail(&t->csv, t->col[MODEL], err, "no model is named");
    }
    DLS_TRY(dls_measured_gpu(t, GPU, hw, &gpu, err));
    snprintf(row->gpu, sizeof row->gpu, "%s", gpu->name);
    DLS_TRY(read_sizes(t, row, err));
    DLS_TRY(read_how(t, row, err));
    row->column = (size_t)(t->csv.cell[t->col[STEP_MS]].s - t->csv.line_start) + 1;
    return dls_measured_ms(t, STEP_MS, &row->step_s, err);
}

/* ---- slips of units -------------------------------------------------------------------------- */

/* A row by what its time for a sample is compared with. */
typedef struct sized_row {
    const dls_measured_step *row;
    double each_s;
} sized_row;

static int by_network(const sized_row *a, const sized_row *b)
{
    const int32_t key[][2] = {{a->row->image, b->row->image},
                              {a->row->sequence, b->row->sequence},
                              {a->row->forward, b->row->forward}};
    int order = strcmp(a->row->model, b->row->model);
    for (size_t i = 0; order == 0 && i < sizeof key / sizeof key[0]; i++) {
        order = (key[i][0] > key[i][1]) - (key[i][0] < key[i][1]);
    }
    return order;
}

static int by_network_and_time(const void *a, const void *b)
{
    const sized_row *x = a, *y = b;
    const int order = by_network(x, y);
    return order != 0 ? order : (x->each_s > y->each_s) - (x->each_s < y->each_s);
}

static bool far_off(const sized_row *a, const sized_row *b)
{
    return fabs(log(a->each_s / b->each_s)) > log(DLS_MEASURED_SLIP);
}

/* row[n]: of one network, the fastest first. Marks those that are far from more than half of the
 * others, which are some of the fastest and some of the slowest of them. */
static void mark_slips(const sized_row *row, size_t n, const dls_measured_step *first, bool *slip)
{
    size_t faster = 0, near = 0;
    for (size_t i = 0; i < n; i++) {
        while (far_off(&row[faster], &row[i])) {
            faster++;
        }
        near = near > i ? near : i;
        while (near + 1 < n && !far_off(&row[near + 1], &row[i])) {
            near++;
        }
        slip[row[i].row - first] = n > 2 && 2 * (faster + n - 1 - near) > n - 1;
    }
}

dls_status dls_measured_steps_drop(dls_measured_steps *s, size_t first, const bool *bad,
                                   const char *path, const char *why, dls_error *err)
{
    size_t kept = first;
    for (size_t i = first; i < s->n; i++) {
        if (bad[i]) {
            dls_error what = {.status = DLS_EINPUT};
            snprintf(what.where, sizeof what.where, "%.200s:%zu:%zu", path, s->row[i].line,
                     s->row[i].column);
            snprintf(what.msg, sizeof what.msg, "%g %s for %s with a batch of %d %s",
                     s->memory ? s->row[i].step_s / MIB : 1e3 * s->row[i].step_s,
                     s->memory ? "MiB" : "ms", s->row[i].model, (int)s->row[i].batch, why);
            DLS_TRY(dls_complain(&s->bad, &what, err));
        } else {
            s->row[kept++] = s->row[i];
        }
    }
    s->n = kept;
    return DLS_OK;
}

/* Rows from `first` on: one that is far from most of its like is a slip. O(n log n). */
static dls_status drop_slips(dls_measured_steps *s, size_t first, const char *path, dls_error *err)
{
    const size_t n = s->n - first;
    DLS_FREED bool *slip = NULL;
    DLS_FREED sized_row *sorted = NULL;
    DLS_TRY(dls_alloc_array(&slip, s->n + 1, sizeof *slip, "rows", err));
    DLS_TRY(dls_alloc_array(&sorted, n + 1, sizeof *sorted, "rows", err));
    for (size_t i = 0; i < n; i++) {
        const dls_measured_step *row = &s->row[first + i];
        sorted[i] = (sized_row){.row = row, .each_s = row->step_s / row->batch};
    }
    qsort(sorted, n, sizeof *sorted, by_network_and_time);
    for (size_t i = 0, end; i < n; i = end) {
        for (end = i + 1; end < n && by_network(&sorted[i], &sorted[end]) == 0; end++) {
        }
        mark_slips(sorted + i, end - i, s->row, slip);
    }
    return dls_measured_steps_drop(s, first, slip, path,
                                   s->memory ? "is far from the other rows of that model"
                                             : "is far from the other rows of that model: seconds "
                                               "or microseconds?",
                                   err);
}

static dls_status read_rows(dls_measured_table *t, dls_measured_steps *s, const dls_hardware *hw,
                            dls_error *err)
{
    for (;;) {
        dls_measured_step row;
        dls_error why = {0};
        bool more;
        DLS_TRY(dls_measured_next(t, &more, &why, err));
        if (!more) {
            return DLS_OK;
        }
        if (s->busy && why.status == DLS_OK && t->csv.cell[t->col[STEP_MS]].len == 0) {
            continue;
        }
        if (why.status == DLS_OK && read_row(t, hw, &row, &why) == DLS_OK) {
            row.fitted = !s->memory && (row.fitted || dls_groupconv_fits(&row));
            row.host[0] = s->busy ? '\0' : row.host[0]; /* what the host takes is not in it */
            row.step_s *= s->memory ? 1e3 * MIB : 1;
            DLS_TRY(add(s, &row, err));
        } else {
            DLS_TRY(dls_complain(&s->bad, &why, err));
        }
    }
}

dls_status dls_measured_steps_read(dls_measured_steps *s, const char *path, const dls_hardware *hw,
                                   const dls_measured_defaults *defaults, dls_error *err)
{
    static const int needed[] = {MODEL, GPU, STEP_MS, -1};
    const size_t first = s->n;
    const char *columns[COLUMNS];
    DLS_OWN(dls_measured_close) dls_measured_table t = {0};
    memcpy(columns, names, sizeof names);
    columns[STEP_MS] = s->memory ? "memory_mib|gmem" : s->busy ? "busy_ms" : names[STEP_MS];
    DLS_TRY(dls_measured_open(&t, path, columns, COLUMNS, needed, defaults, err));
    DLS_TRY(dls_measured_doubt_columns(&t, COLUMNS, path, &s->doubts, err));
    DLS_TRY(read_rows(&t, s, hw, err));
    return drop_slips(s, first, path, err);
}

dls_status dls_measured_step_work(const dls_measured_step *row, dls_workload *work, dls_error *err)
{
    dls_model_names model = dls_model_lookup(row->model);
    dls_model_resize(&model, row->image, row->sequence);
    dls_model_touch(&model, row->batch);
    model.layers = NULL;
    model.runner = DLS_RUN_EAGER | (strcmp(row->layout, "nchw") == 0 ? DLS_RUN_CHANNELS_FIRST : 0) |
                   (row->fused_attention ? DLS_RUN_FUSED_ATTENTION : 0);
    return dls_model_workload(&model, row->numeric, work, err);
}
