/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * The time of a training step on one GPU, from its kernels:
 *
 *      kernel   max(flops / (peak * c * eta), bytes / (bandwidth * m * eta_memory)) + launch
 *      gpu      sum of kernels + optimiser's bytes / (bandwidth * m * eta_memory)
 *               + 0.3 * launch * parameter tensors
 *      step     ((slowdown * gpu)^4 + floor^4)^(1/4)
 *
 * eta is a fraction of the peak per kernel family and precision (above 1 where the algorithm saves
 * multiplications, as Winograd's for 3x3), launch one time per precision: 8 constants. c and m are
 * two factors per GPU: clock and software generation. slowdown and floor belong to a host: its
 * framework, its input pipeline. dls_calibrate finds them; operator.cfg keeps them.
 */
#ifndef DLS_OPERATOR_MODEL_H
#define DLS_OPERATOR_MODEL_H

#include "workload/operator/comm.h"
#include "workload/operator/groupconv.h"
#include "workload/operator/hardware.h"
#include "workload/operator/op_times.h"
#include "workload/operator/sized.h"
#include "workload/operator/workload.h"

#define DLS_OPMODEL_ROWS 48

/* Constants are kept for fp32, tf32 and fp16; bf16 uses those of fp16. */
#define DLS_OPMODEL_NUMERICS 3

typedef struct dls_gpu_factor {
    char gpu[DLS_HW_NAME];
    dls_numeric numeric;
    double compute, memory;
} dls_gpu_factor;

/* GPUs that cannot hold their clock: all times are longer by this factor. */
typedef struct dls_gpu_derate {
    char gpu[DLS_HW_NAME];
    double factor;
} dls_gpu_derate;

typedef struct dls_host {
    char name[DLS_HW_NAME];
    double slowdown;       /* of GPU work against tuned benchmarks, >= 0 */
    double floor_s;        /* a step takes at least about this */
    double floor_per_op_s; /* more floor for each forward operation */
    double launch_s;       /* and for each kernel that it launches */
    double tensor_s;       /* and for each parameter tensor that it trains */
} dls_host;

/* What operations of a processor cost, by the family of the operation, fitted to whole steps
 * (op_rates.h): each run, each flop, each byte read or written. They add up: a core that computes
 * moves nothing else meanwhile. */
typedef struct dls_op_rates {
    char gpu[DLS_HW_NAME];
    double run_s, flop_s[DLS_FAMILY_COUNT], byte_s[DLS_FAMILY_COUNT];
} dls_op_rates;

typedef struct dls_fabric_row {
    char name[DLS_HW_NAME];
    dls_fabric fabric;
} dls_fabric_row;

typedef struct dls_opmodel {
    double eta[DLS_OPMODEL_NUMERICS][DLS_KERNEL_FAMILIES];
    double launch_s[DLS_OPMODEL_NUMERICS];
    dls_gpu_factor factor[DLS_OPMODEL_ROWS];
    dls_gpu_derate derate[DLS_OPMODEL_ROWS];
    dls_host host[DLS_OPMODEL_ROWS];
    dls_fabric_row fabric[DLS_OPMODEL_ROWS];
    dls_op_rates rates[DLS_OPMODEL_ROWS]; /* fp32; a GPU in it needs no other constants */
    size_t n_factors, n_derates, n_hosts, n_fabrics, n_rates;
    const dls_op_times *measured; /* borrowed; NULL: the formula for every kernel */
    /* Borrowed; products and convolutions in fp32 as their sizes make them (sized.h), eta then
     * being what a step makes of that; NULL: one efficiency for all sizes. */
    const dls_sized_table *sized;
    dls_groupconv groupconv; /* of what knows sizes */
} dls_opmodel;

/* operator.cfg. Errors: ECONFIG with file and line; EOUTPUT. Numbers are written with six digits,
 * the same on every machine. */
dls_status dls_opmodel_load(const char *path, dls_opmodel *model, dls_error *err) DLS_MUST_CHECK;
dls_status dls_opmodel_save(const dls_opmodel *model, const char *path,
                            dls_error *err) DLS_MUST_CHECK;

/* The model of a folder: operator.cfg; with a table the one that knows sizes, operator-sized.cfg,
 * grouped.cfg and kernels.cfg. *table is the caller's to end, after the model, and only on success.
 */
dls_status dls_opmodel_of(const char *folder, dls_sized_table *table, dls_opmodel *model,
                          dls_error *err) DLS_MUST_CHECK;

/* Drop what was fitted to a GPU or to another form of it ("V100-PCIE" of "V100"): its factors, its
 * clock, its kernels. What all GPUs share stays, and so do the hosts. */
void dls_opmodel_forget(dls_opmodel *model, dls_sized_table *table, const char *gpu);

/* NULL if there is none of that name. */
const dls_host *dls_opmodel_host(const dls_opmodel *model, const char *name);
const dls_fabric *dls_opmodel_fabric(const dls_opmodel *model, const char *name);

/* EINPUT: bf16 on a GPU without units for it (those that round to tf32 have them); nothing is known
 * of how long others take that emulate it. Without units for tf32 or fp16 a GPU computes in fp32.
 */
dls_status dls_gpu_knows(const dls_hw_gpu *gpu, dls_numeric numeric, dls_error *err) DLS_MUST_CHECK;
/* EINPUT: attention in one kernel, of which nothing is known at this precision on this GPU or without
 * sizes. */
dls_status dls_opmodel_knows(const dls_opmodel *model, const dls_hw_gpu *gpu, dls_numeric numeric,
                             const dls_workload *w, dls_error *err) DLS_MUST_CHECK;
/* The precision, of those that have constants, whose units a GPU multiplies in. */
dls_numeric dls_gpu_multiplies_in(const dls_hw_gpu *gpu, dls_numeric numeric);

/* Kernels that multiply, on one kind of a GPU's units. */
typedef struct dls_units {
    double flops[DLS_KERNEL_FAMILIES];        /* per second; 0 for DLS_KERNEL_MEMORY */
    dls_numeric numeric;                      /* what they multiply: fp32, tf32 or fp16 */
    bool launches;                            /* a sized kernel's floor is a launch's: measured one after the other */
    dls_sized_gpu gpu;                        /* for the sized model and groupconv: data sheet */
    double eta[DLS_KERNEL_FAMILIES];          /* of what the sized model says a rate is */
    double clock[DLS_SIZED_FAMILIES];         /* the same, by GPU: c, or 1 where measured */
    dls_sized_pair sized[DLS_SIZED_FAMILIES]; /* borrowed; no row: the formula */
} dls_units;

/* What one GPU makes of one precision. */
typedef struct dls_rates {
    dls_units own;
    /* Of what knows sizes, in tf32 of which no kernels were measured: vector units, which the library
     * may use as well, where they are about as fast. */
    dls_units vector;
    bool has_vector;
    double mem_bps, launch_s, derate;
    double pass_bps[DLS_PASSES]; /* mem_bps or less */
    bool bound;                  /* by multiprocessors, too */
    double element_bytes;
    bool half_units;             /* multiplies in matrix units of 16 bits */
    double fp32_flops;           /* data sheet */
    const dls_op_time *measured; /* [n_measured] borrowed */
    size_t n_measured;
    const dls_op_rates *op; /* of the model; NULL: the formula */
    dls_groupconv groupconv;
} dls_rates;

/* A GPU without own factors takes those of `like`, else 1; kernels that were measured on the GPU
 * itself need none, those of a relative its own or `like`'s,
 * and a board that has its PCIe card's those of like_fp32; on matrix units none. Without matrix
 * units for the precision it computes in fp32. */
dls_rates dls_opmodel_rates(const dls_opmodel *model, const dls_hw_gpu *gpu, dls_numeric numeric);

/* What a kernel is as measured operations name it. false: not known at this batch. */
bool dls_kernel_work(const dls_kernel *k, double element_bytes, double batch, dls_op_work *work);
/* One kernel, all its runs in a step; as measured, where it was. */
double dls_kernel_s(const dls_kernel *k, const dls_rates *rates, double batch);
/* Memory traffic of the same. */
double dls_kernel_bytes(const dls_kernel *k, const dls_rates *rates, double batch);

/* What the optimiser moves, and its launches, in a step. */
double dls_update_bytes(const dls_workload *w);
double dls_update_runs(const dls_workload *w);

typedef struct dls_step {
    double forward_s, backward_s, update_s;
    double gpu_s;        /* their sum */
    double runs;         /* kernels that the host launches, */
    double forward_runs; /* of these in the forward pass */
    double tensors;      /* parameters whose gradients it keeps and applies */
    double added_s; /* instead of the update: gradients are added to those of the steps before */
    double input_s; /* of the host meanwhile, to make the next input; 0: others do it beforehand */
} dls_step;
/* O(kernels). kernel_s: [kernels] gets what each of them takes; NULL: not asked for. */
dls_step dls_step_kernels(const dls_workload *w, const dls_rates *rates, double batch,
                          double *kernel_s);
static inline dls_step dls_step_time(const dls_workload *w, const dls_rates *rates, double batch)
{
    return dls_step_kernels(w, rates, batch, NULL);
}
/* With its host; NULL: none but for the input that it makes. */
double dls_step_host_s(const dls_step *step, const dls_workload *w, const dls_host *host);

/* Bytes on the GPU: weights, gradients, optimiser state (all 32 bits) and a 16-bit copy of the
 * weights under mixed precision, what the step holds of results, the input, and the process:
 * w->process, or 450 MiB for the context and 256 MiB of workspace. */
double dls_step_memory_bytes(const dls_workload *w, dls_numeric numeric, double batch);
/* With so many words a parameter: 1 for a forward pass, 2 with gradients, more for an optimiser. */
double dls_words_memory_bytes(const dls_workload *w, dls_numeric numeric, double batch,
                              double words);
/* The same with the rows of tables that a step does not touch, which have no gradients and no state. The two above are
 * without them, as datasets are labelled. */
double dls_whole_memory_bytes(const dls_workload *w, dls_numeric numeric, double batch,
                              double words);

#endif
