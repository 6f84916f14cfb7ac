/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Nodes and pods of the published GPU-sharing traces.
 */
#include "fgd/fgd.h"

#include "base/alloc.h"
#include "base/csv.h"

#include <stdlib.h>
#include <string.h>

static dls_status put_word(dls_csv *csv, int col, dls_strdict *into, int32_t *code, dls_error *err)
{
    const char *text = dls_csv_text(csv, col);
    return dls_strdict_put(into, text, strlen(text), code, err);
}

static dls_status model_bit(dls_fgd_input *in, const dls_csv *csv, int col, const char *s,
                            size_t len, int32_t *bit, dls_error *err)
{
    DLS_TRY(dls_strdict_put(&in->models, s, len, bit, err));
    return *bit < DLS_FGD_MODELS
               ? DLS_OK
               : dls_csv_fail(csv, col, err, "more than %d models of GPUs", DLS_FGD_MODELS);
}

/* ---- nodes */

static dls_status read_node(dls_csv *csv, const int *col, void *user, dls_error *err)
{
    dls_fgd_input *in = user;
    dls_fgd_node n = {0};
    int64_t gpus;
    DLS_TRY(put_word(csv, col[0], &in->names, &n.name, err));
    DLS_TRY(dls_csv_i64(csv, col[1], "thousandths of a core", 0, 0, INT64_C(1) << 40, &n.cpu_milli,
                        err));
    DLS_TRY(dls_csv_i64(csv, col[2], "MiB", 0, 0, INT64_C(1) << 40, &n.mem_mib, err));
    DLS_TRY(dls_csv_i64(csv, col[3], "GPUs, at most 16", 0, 0, DLS_FGD_GPUS, &gpus, err));
    n.gpus = (int32_t)gpus;
    const char *model = dls_csv_text(csv, col[4]);
    DLS_TRY(model_bit(in, csv, col[4], model, strlen(model), &n.model, err));
    DLS_TRY(dls_grow(&in->node, &in->node_cap, in->n_nodes + 1, sizeof n, err));
    in->node[in->n_nodes++] = n;
    return DLS_OK;
}

static int by_name(const void *a, const void *b, void *names)
{
    return strcmp(dls_strdict_get(names, ((const dls_fgd_node *)a)->name),
                  dls_strdict_get(names, ((const dls_fgd_node *)b)->name));
}

/* ---- pods */

/* Allowed models, joined by '|'. */
static dls_status read_spec(dls_csv *csv, int col, dls_fgd_input *in, dls_fgd_request *r,
                            dls_error *err)
{
    const char *at = dls_csv_text(csv, col);
    DLS_TRY(dls_strdict_put(&in->specs, at, strlen(at), &r->spec, err));
    r->models = *at ? 0 : UINT64_MAX;
    while (*at) {
        const size_t len = strcspn(at, "|");
        int32_t bit;
        DLS_TRY(model_bit(in, csv, col, at, len, &bit, err));
        r->models |= UINT64_C(1) << bit;
        at += len + (at[len] == '|');
    }
    return DLS_OK;
}

static bool same(const dls_fgd_request *a, const dls_fgd_request *b)
{
    return a->cpu_milli == b->cpu_milli && a->mem_mib == b->mem_mib && a->gpus == b->gpus &&
           a->gpu_milli == b->gpu_milli && a->spec == b->spec;
}

static dls_status read_pod(dls_csv *csv, const int *col, void *user, dls_error *err)
{
    dls_fgd_input *in = user;
    dls_fgd_request r = {0};
    int32_t name;
    int64_t gpus, milli;
    DLS_TRY(put_word(csv, col[0], &in->names, &name, err));
    DLS_TRY(dls_csv_i64(csv, col[1], "thousandths of a core", 0, 0, INT64_C(1) << 40, &r.cpu_milli,
                        err));
    DLS_TRY(dls_csv_i64(csv, col[2], "MiB", 0, 0, INT64_C(1) << 40, &r.mem_mib, err));
    DLS_TRY(dls_csv_i64(csv, col[3], "GPUs, at most 16", 0, 0, DLS_FGD_GPUS, &gpus, err));
    DLS_TRY(dls_csv_i64(csv, col[4], "thousandths of a GPU, at most 1000", 0, 0, DLS_FGD_MILLI,
                        &milli, err));
    if ((gpus == 0) != (milli == 0)) {
        return dls_csv_fail(csv, col[4], err, "GPUs and parts of them must both be 0, or neither");
    }
    if (gpus > 1 && milli < DLS_FGD_MILLI) {
        return dls_csv_fail(csv, col[4], err, "several GPUs must be whole ones, 1000");
    }
    r.gpus = (int32_t)gpus;
    r.gpu_milli = (int32_t)milli;
    DLS_TRY(read_spec(csv, col[5], in, &r, err));
    size_t kind = 0;
    while (kind < in->n_kinds && !same(&in->kind[kind], &r)) {
        kind++;
    }
    if (kind == in->n_kinds) {
        DLS_TRY(dls_grow(&in->kind, &in->kind_cap, in->n_kinds + 1, sizeof r, err));
        in->kind[in->n_kinds++] = r;
    }
    size_t names_cap = in->pod_cap;
    DLS_TRY(dls_grow(&in->pod_name, &names_cap, in->n_pods + 1, sizeof *in->pod_name, err));
    DLS_TRY(dls_grow(&in->pod_kind, &in->pod_cap, in->n_pods + 1, sizeof *in->pod_kind, err));
    in->pod_name[in->n_pods] = name;
    in->pod_kind[in->n_pods++] = (int32_t)kind;
    return DLS_OK;
}

dls_status dls_fgd_load(const char *nodes, const char *pods, dls_fgd_input *out, dls_error *err)
{
    static const char *const node_columns[] = {"sn", "cpu_milli", "memory_mib", "gpu", "model"};
    static const char *const pod_columns[] = {"name",    "cpu_milli", "memory_mib",
                                              "num_gpu", "gpu_milli", "gpu_spec"};
    *out = (dls_fgd_input){0};
    DLS_TRY(dls_csv_rows(nodes, node_columns, 5, 5, read_node, out, err));
    DLS_TRY(dls_csv_rows(pods, pod_columns, 6, 5, read_pod, out, err));
    if (out->n_nodes > 1) {
        qsort_r(out->node, out->n_nodes, sizeof *out->node, by_name, &out->names);
    }
    return DLS_OK;
}

void dls_fgd_input_fini(dls_fgd_input *in)
{
    dls_strdict_fini(&in->names);
    dls_strdict_fini(&in->specs);
    dls_strdict_fini(&in->models);
    DLS_FREE_ALL(in->node, in->kind, in->pod_name, in->pod_kind);
    *in = (dls_fgd_input){0};
}
