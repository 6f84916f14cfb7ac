/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Learned baselines: a network for each kind of kernel, trained on times of kernels
 * (kernel_data.h), that says how long a kernel runs on a GPU. Two publications use such networks in
 * different ways (justus.h, habitat_nets.h); a file holds those of one.
 */
#ifndef DLS_BASELINES_KERNEL_NETS_H
#define DLS_BASELINES_KERNEL_NETS_H

#include "predictor/baselines/kernel_data.h"
#include "predictor/baselines/mlp.h"

typedef enum dls_learned { DLS_LEARNED_JUSTUS, DLS_LEARNED_HABITAT, DLS_LEARNED_COUNT } dls_learned;
/* "justus", "habitat"; NULL-ended. */
extern const char *const dls_learned_names[DLS_LEARNED_COUNT + 1];
/* Justus: every kind. Habitat: conv, product, products (its conv2d, linear and bmm; recurrent
 * layers are products here, so its lstm has nothing to learn from). */
bool dls_learned_uses(dls_learned how, dls_kernel_net net);

/* What a network was trained on and how far it is off. */
typedef struct dls_kernel_net_report {
    uint64_t seen[DLS_SPLITS]; /* rows that there were */
    int64_t rows[DLS_SPLITS];
    double percent[DLS_SPLITS]; /* mean of |predicted / time - 1| over rows; 0 without rows */
} dls_kernel_net_report;

typedef struct dls_kernel_nets {
    dls_learned how;
    dls_mlp net[DLS_KERNEL_NETS]; /* n_values 0: there is none. Gives log seconds of one run */
    dls_kernel_net_report report[DLS_KERNEL_NETS];
    char command[1024];      /* that trained it */
    char data_command[1024]; /* that made the dataset */
    char gpus[512];          /* of the rows */
} dls_kernel_nets;

typedef struct dls_kernel_nets_options {
    dls_learned how;
    int32_t width, depth;
    dls_mlp_fit fit; /* entity is set here */
    /* Before each network; may be NULL. */
    void (*begin)(void *user, dls_kernel_net net);
} dls_kernel_nets_options;
/* 64 x 3, 40 epochs of batches of 64, Adam at 0.001 without weight decay, seed 42. */
dls_kernel_nets_options dls_kernel_nets_default(dls_learned how);

/* A kind without rows in train gets no network, one without rows in val is validated with those of
 * train. *nets is to be released in any case. Errors:
 * those of dls_mlp_train; EINPUT if no kind has rows. */
dls_status dls_kernel_nets_train(const dls_kernel_data *data, const dls_kernel_nets_options *o,
                                 dls_kernel_nets *nets, dls_error *err) DLS_MUST_CHECK;
void dls_kernel_nets_fini(dls_kernel_nets *nets); /* NULL-safe */

/* Seconds of all runs of each kernel in a step, seconds[n_kernels], and of the update; 0 where
 * there is no network. Errors: EINPUT (dls_kernel_describe; a time that is not finite; tf32 and
 * bf16, of which the networks were shown nothing), ENOMEM.
 * O(kernels * parameters). */
dls_status dls_kernel_nets_times(const dls_kernel_nets *nets, const dls_workload *w,
                                 const dls_hw_gpu *gpu, dls_numeric numeric, double batch,
                                 double *seconds, double *update_s, dls_error *err) DLS_MUST_CHECK;

/* HDF5 (docs/predictors.md). Errors: EINPUT (not such a file, damaged, a wrong checksum or shape, a
 * number that is not finite), EOUTPUT, ENOMEM. *nets needs dls_kernel_nets_fini only on success. */
dls_status dls_kernel_nets_load(const char *path, dls_kernel_nets *nets,
                                dls_error *err) DLS_MUST_CHECK;
dls_status dls_kernel_nets_save(const dls_kernel_nets *nets, const char *path,
                                dls_error *err) DLS_MUST_CHECK;

#endif
