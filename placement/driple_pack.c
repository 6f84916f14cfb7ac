/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * driple-pack: as `driple`, and a waiting job may share the GPUs of a running one when the two fit
 * beside each other: their memory together in the GPU's, and their bursts of GPU use so that the
 * predicted slow-down stays below a limit.
 *
 *      U         sum over both of the part of an iteration in which the GPU is used, times how much
 *      M         the same of the bandwidth of the GPU's memory
 *      speed     min(1 - slope * max(0, U - knee), 1 / M)      of each of the two
 *      worth     2 * speed - 1                         throughput won over running one
 *
 * slope and knee: a fit to 1,388 pairs measured on one GPU model (Hu et al., "Lucid", ASPLOS 2023);
 * memory use adds nothing to the fit once U is in, but no two have more of it than there is. Jobs on several nodes are not packed: their
 * bursts wait for each other. A job whose memory or GPU use is unknown is never packed.
 */
#include "dlsim/predictor.h"
#include "placement/choose.h"

#include <math.h>

enum { OPT_SLOWDOWN = DLS_CHOOSE_OPTIONS, OPT_KNEE, OPT_SLOPE, OPT_MEMORY };

static const dls_option options[] = {
    DLS_CHOOSE_WAIT_ROWS,
    DLS_CHOOSE_LEFTOVER_ROWS,
    {"max_slowdown", DLS_OPT_F64, 1, 10, "1.15", "",
     "do not share GPUs when that is predicted to make either job slower by this factor", NULL},
    {"knee", DLS_OPT_F64, 0, 2, "0.8", "", "joint GPU use from which jobs slow each other down",
     NULL},
    {"slope", DLS_OPT_F64, 0, 1, "0.31", "", "speed lost per unit of joint GPU use above the knee",
     NULL},
    {"memory_part", DLS_OPT_F64, 0, 1, "0.95", "", "of the GPU's memory that two jobs may fill",
     NULL},
    {0},
};

typedef struct pack {
    dls_choose choose;
    double max_slowdown, knee, slope, memory_part;
} pack;

static dls_status init(void *state, const dls_place_index *index, const dls_option_value *values,
                       dls_error *err)
{
    pack *p = state;
    p->max_slowdown = values[OPT_SLOWDOWN].f;
    p->knee = values[OPT_KNEE].f;
    p->slope = values[OPT_SLOPE].f;
    p->memory_part = values[OPT_MEMORY].f;
    return dls_choose_init_all(state, index, values, err);
}

/* Mean GPU use over an iteration; NAN: unknown. */
static double gpu_use(const dls_prediction *f)
{
    return f->metric[DLS_GPU_ACTIVE] * f->metric[DLS_GPU_PEAK] / f->iteration_s;
}

/* Mean use of the memory's bandwidth; 0: unknown. */
static double memory_use(const dls_prediction *f)
{
    const double busy_s = f->metric[DLS_GPU_MEM_ACTIVE];
    const double use =
        busy_s * f->metric[DLS_GPU_MEM_PEAK] / (busy_s + f->metric[DLS_GPU_MEM_IDLE]);
    return use > 0 ? use : 0;
}

static double share(void *state, const dls_place_index *index, const dls_request *r, int32_t host,
                    const dls_shape *host_shape)
{
    const pack *p = state;
    dls_prediction mine, its;
    if (host_shape->n_nodes > 1 || !dls_place_predict(r, r->job, host_shape, &mine) ||
        !dls_place_predict(r, host, host_shape, &its)) {
        return 0;
    }
    const double room = p->memory_part * dls_place_gpu_mem_bytes(index, host_shape->type);
    const double use = gpu_use(&mine) + gpu_use(&its);
    if (!(mine.mem_bytes + its.mem_bytes <= room) || isnan(use)) {
        return 0;
    }
    const double memory = memory_use(&mine) + memory_use(&its);
    const double speed = fmin(1 - p->slope * fmax(0, use - p->knee), 1 / fmax(1, memory));
    return speed * p->max_slowdown >= 1 ? 2 * speed - 1 : 0;
}

const dls_placement_ops dls_placement_ops_driple_pack = {
    .abi = DLS_POLICY_ABI,
    .name = "driple-pack",
    .summary = "driple, and two jobs on the same GPUs where their bursts and memory fit",
    .options = options,
    .needs_prediction = true,
    .state_bytes = sizeof(pack),
    .init = init,
    .fini = dls_choose_fini,
    .clone = dls_choose_clone,
    .place = dls_choose_place,
    .cost = dls_choose_cost,
    .share = share,
    .started = dls_traffic_started,
    .stopped = dls_traffic_stopped,
};
