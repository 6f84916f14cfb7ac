/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Describes a training setting (GPU, links, workers, exchange) as the vector of numbers that an
 * inspector of all settings reads.
 */
#include "predictor/dataset/condition.h"

#include <math.h>
#include <string.h>

const char dls_condition_names[] = "gpu_fp32\ngpu_bandwidth\ngpu_memory\ngpu_link\nlink\n"
                                   "link_latency\nworkers\nnodes\nservers\nallreduce\n"
                                   "parameter_servers\nasynchronous";

/* Memory of the first card of the same chip and rates: how much a card holds takes no part of a
 * step, and an inspector was shown one of them. O(rows). */
static double memory_of(const dls_hardware *hw, const dls_hw_gpu *gpu)
{
    for (size_t i = 0; i < hw->n_gpus; i++) {
        const dls_hw_gpu *row = &hw->gpu[i];
        if (!(row->fp32_flops < gpu->fp32_flops || row->fp32_flops > gpu->fp32_flops ||
              row->mem_bps < gpu->mem_bps || row->mem_bps > gpu->mem_bps) &&
            strcmp(row->link, gpu->link) == 0 && dls_hardware_same_chip(row->name, gpu->name)) {
            return row->mem_bytes;
        }
    }
    return gpu->mem_bytes;
}

dls_status dls_condition_of(const dls_hardware *hw, const dls_condition_place *p,
                            double number[DLS_CONDITIONS], dls_error *err)
{
    const dls_hw_link *own;
    DLS_TRY(dls_hardware_link(hw, p->gpu->link, &own, err));
    const dls_hw_link *link = p->link ? p->link : own;
    if (p->workers < 1 || p->nodes < 1 || p->servers < 0) {
        return dls_fail(err, DLS_EINPUT, p->gpu->name,
                        "%d workers on %d nodes with %d servers are no setting", (int)p->workers,
                        (int)p->nodes, (int)p->servers);
    }
    const double all[DLS_CONDITIONS] = {log2(p->gpu->fp32_flops),
                                        log2(p->gpu->mem_bps),
                                        log2(memory_of(hw, p->gpu)),
                                        log2(own->bps),
                                        log2(link->bps),
                                        log2(link->latency_s),
                                        log2(p->workers),
                                        log2(p->nodes),
                                        log2(1.0 + p->servers),
                                        p->workers > 1 && strcmp(p->exchange, "allreduce") == 0,
                                        p->servers > 0,
                                        strcmp(p->exchange, "ps-async") == 0};
    memcpy(number, all, sizeof all);
    return DLS_OK;
}

dls_status dls_condition_of_setting(const dls_hardware *hw, const dls_setting_info *s,
                                    double number[DLS_CONDITIONS], dls_error *err)
{
    dls_condition_place p = {
        .workers = s->n_workers, .nodes = s->n_nodes, .servers = s->n_ps, .exchange = s->topology};
    DLS_TRY(dls_hardware_gpu(hw, s->gpu_type, &p.gpu, err));
    if (s->network[0] != '\0') {
        DLS_TRY(dls_hardware_link(hw, s->network, &p.link, err));
    }
    return dls_condition_of(hw, &p, number, err);
}
