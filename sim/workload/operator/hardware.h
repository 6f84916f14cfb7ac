/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Tables of GPUs and links, read from gpus.cfg and links.cfg of a folder (configs/hardware).
 */
#ifndef DLS_OPERATOR_HARDWARE_H
#define DLS_OPERATOR_HARDWARE_H

#include "dlsim/error.h"

#include <stdbool.h>
#include <stddef.h>

#define DLS_HW_NAME 48

typedef struct dls_hw_gpu {
    char name[DLS_HW_NAME];
    char also[2 * DLS_HW_NAME];                /* other names, blanks between, '*' for anything */
    double fp32_flops;                         /* per second, vector units */
    double tf32_flops, fp16_flops, bf16_flops; /* per second, matrix units; 0: has none */
    double mem_bps, mem_bytes;
    double multiprocessors;      /* 0: not known */
    char link[DLS_HW_NAME];      /* to its neighbours in a node */
    char like[DLS_HW_NAME];      /* whose fitted factors stand in; "": nobody's */
    char like_fp32[DLS_HW_NAME]; /* the same for fp32, "": as like */
    /* GPUs, blanks between, whose kernels' constants (sized.h) stand in: the first that has them.
     */
    char kernels_like[2 * DLS_HW_NAME];
    char matrix_like[DLS_HW_NAME]; /* of its generation, whose kernels of matrix units do; "":
                                      nobody's */
    double kernels_clock; /* of its clock at fp32_flops, kept where theirs keep all; 0: all */
} dls_hw_gpu;

typedef struct dls_hw_link {
    char name[DLS_HW_NAME];
    double bps;         /* bytes per second and direction, as specified */
    double goodput_bps; /* what programs see of it */
    double latency_s;
} dls_hw_link;

typedef struct dls_hardware {
    dls_hw_gpu *gpu; /* owned */
    dls_hw_link *link;
    size_t n_gpus, n_links;
    char folder[4096]; /* where the tables are */
} dls_hardware;

/* Where the tables are: `given` unless it is NULL or empty, else what came with the program
 * (base/datapath.h). The answer may stand in buf. */
const char *dls_hardware_folder(const char *given, char *buf, size_t size);

/* given: as above, hw->folder says which. Errors: ECONFIG with file and line (missing or unreadable
 * file, missing or wrong setting, a name twice, a name that `like` or `link` does not find),
 * ENOMEM. *hw needs dls_hardware_fini only on success. */
dls_status dls_hardware_load(const char *given, dls_hardware *hw, dls_error *err) DLS_MUST_CHECK;
void dls_hardware_fini(dls_hardware *hw); /* NULL-safe */

/* A row's own name, ignoring case, else as dls_hardware_gpu_variant. Errors: EINPUT with the
 * nearest name. */
dls_status dls_hardware_gpu(const dls_hardware *hw, const char *name, const dls_hw_gpu **out,
                            dls_error *err) DLS_MUST_CHECK;
/* The row of a name as tools and clouds print it ("Tesla V100-SXM2-32GB", "NVIDIA GeForce RTX
 * 3090", "GV100GL [Tesla V100 PCIe 16GB]", "2080Ti", "p3.2xlarge"): makers and series are passed
 * over. Memory, board and socket that the name says must be the row's; of rows that fit, the one
 * whose name says least beyond it, then the one of the nearest memory. NULL if there is none.
 * O(rows). */
const dls_hw_gpu *dls_hardware_gpu_variant(const dls_hardware *hw, const char *name);
/* Do two rows' names differ in memory, board, socket and NVLink alone ("A100", "A800-80GB-PCIE")? */
bool dls_hardware_same_chip(const char *a, const char *b);
dls_status dls_hardware_link(const dls_hardware *hw, const char *name, const dls_hw_link **out,
                             dls_error *err) DLS_MUST_CHECK;

#endif
