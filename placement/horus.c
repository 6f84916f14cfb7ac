/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * horus: GPUs by what it costs to be on them (horus.h), from predicted use and memory: the GPU type
 * of least cost, nodes as `consolidated`, and who finds no free GPUs joins the job of least cost
 * whose memory leaves room. Pairs on one node only.
 */
#include "placement/horus.h"

#include "dlsim/predictor.h"
#include "placement/fit.h"

typedef struct task {
    double bytes, use, most_use; /* percent */
} task;

/* false: use or memory is not known. */
static bool task_of(const dls_request *r, int32_t job, const dls_shape *shape, task *out)
{
    dls_prediction f;
    if (!dls_place_predict(r, job, shape, &f)) {
        return false;
    }
    const double peak = f.metric[DLS_GPU_PEAK];
    *out = (task){.bytes = f.mem_bytes,
                  .use = fmin(100, 100 * peak * f.metric[DLS_GPU_ACTIVE] / f.iteration_s),
                  .most_use = 100 * peak};
    return !isnan(out->bytes) && !isnan(peak) && !isnan(f.metric[DLS_GPU_ACTIVE]);
}

static bool place(void *state, const dls_place_index *index, const dls_request *r, dls_grant *grant)
{
    return dls_fit_consolidated(index, r, grant);
}

static double cost(void *state, const dls_place_index *index, const dls_request *r)
{
    task mine;
    const int32_t nodes = dls_fit_fewest_nodes(index, r);
    const dls_shape shape = {r->type, r->gpus, nodes > 0 ? nodes : 1, 1};
    const dls_horus_gpu empty = {.total_bytes = dls_place_gpu_mem_bytes(index, r->type)};
    return empty.total_bytes > 0 && task_of(r, r->job, &shape, &mine)
               ? dls_horus_cost(&empty, mine.bytes, mine.most_use)
               : 0;
}

static double share(void *state, const dls_place_index *index, const dls_request *r, int32_t host,
                    const dls_shape *host_shape)
{
    task mine, its;
    const double total = dls_place_gpu_mem_bytes(index, host_shape->type);
    if (host_shape->n_nodes > 1 || !(total > 0) || !task_of(r, r->job, host_shape, &mine) ||
        !task_of(r, host, host_shape, &its) ||
        !(total - its.bytes - mine.bytes > DLS_HORUS_SPARE)) {
        return 0;
    }
    const dls_horus_gpu g = {total, its.bytes, its.use, 1};
    return 1 / (1 + dls_horus_cost(&g, mine.bytes, mine.most_use));
}

const dls_placement_ops dls_placement_ops_horus = {
    .abi = DLS_POLICY_ABI,
    .name = "horus",
    .summary = "GPUs, free or shared, of least cost by predicted use and memory (Horus)",
    .needs_prediction = true,
    .place = place,
    .cost = cost,
    .share = share,
};
