/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * What inspectors are trained on: grouped graphs, and for each setting the 12 metrics of some of
 * them. Graphs are shared by all settings, because a graph's input says nothing of the hardware;
 * whatever differs between settings is in the labels. One HDF5 file (docs/dataset-files.md).
 *
 * Labels are simulated unless the file says that they were measured. Simulated labels carry a
 * frozen seeded residual per (model, GPU, link) and measurement noise, neither of which a feature
 * shows.
 */
#ifndef DLS_DATASET_DATASET_H
#define DLS_DATASET_DATASET_H

#include "base/own.h"
#include "dlsim/predictor.h"

#define DLS_DATASET_NAME 64

typedef enum dls_split { DLS_SPLIT_TRAIN, DLS_SPLIT_VAL, DLS_SPLIT_TEST, DLS_SPLITS } dls_split;
/* "train", "val", "test" */
const char *dls_split_name(int split);

/* Where a graph comes from. */
typedef struct dls_dataset_origin {
    char model[DLS_DATASET_NAME];
    char family[DLS_DATASET_NAME]; /* splits go by family: never one model in train and test */
    char data[DLS_DATASET_NAME];   /* what it is trained on: "imagenet" */
    char numeric[16];              /* "fp32" */
    char optimiser[16];
    int32_t batch; /* per worker */
} dls_dataset_origin;

typedef struct dls_dataset_setting {
    char name[DLS_DATASET_NAME];     /* unique */
    char gpu_type[DLS_DATASET_NAME]; /* a GPU of configs/hardware/gpus.cfg */
    char topology[DLS_DATASET_NAME]; /* "ps-sync", "ps-async", "allreduce", "one" */
    char network[DLS_DATASET_NAME];  /* link between the workers: "pcie3", "nvlink2", "eth10", "" */
    int32_t n_ps, n_workers;
    int32_t n_nodes; /* machines that the workers are on */
    bool measured;

    size_t n;
    int32_t *graph;      /* [n] owned: index in graphs, ascending, none twice */
    uint8_t *split;      /* [n] owned: dls_split */
    double *label;       /* [n][DLS_METRICS] owned */
    double *iteration_s; /* [n] owned: one training step, with residual and noise */
    double *truth;       /* [n][DLS_METRICS] owned: labels before the noise, residual
                            included, for the noise floor alone; NULL if measured */
    double *model_s;     /* [n] owned: the step as the operator model has it, without
                            residual and noise; NULL: not known */
    double *link_bytes; /* [n] owned: that a worker sends in a step; NULL: not known */
} dls_dataset_setting;

typedef struct dls_dataset {
    dls_graph *graph;           /* [n_graphs] each owned by the set; features are normalised */
    dls_dataset_origin *origin; /* [n_graphs] owned */
    size_t n_graphs;
    dls_dataset_setting *setting; /* [n_settings] owned */
    size_t n_settings;
    int32_t n_features;
    char feature_version[16]; /* "driple", "work" */
    uint64_t seed;
    char *features_text; /* owned: the feature spec as JSON, copied into weights files so that
                            a graph can be given the same input later; NULL if unknown */
    char command[1024];  /* that made it */
} dls_dataset;

/* Only the settings named (NULL: all). EINPUT names the dataset that is missing, has a wrong shape,
 * is not finite or fails its checksum. O(size of the file). */
dls_status dls_dataset_load(const char *path, const char *const *settings, size_t n_settings,
                            dls_dataset **out, dls_error *err) DLS_MUST_CHECK;
/* EOUTPUT. The file gets its name when it is whole. */
dls_status dls_dataset_save(const dls_dataset *set, const char *path,
                            dls_error *err) DLS_MUST_CHECK;
void dls_dataset_destroy(dls_dataset *set); /* NULL-safe */
DLS_OWNER(dls_dataset, dls_dataset_destroy)
/* -1: none of that name. */
int32_t dls_dataset_find(const dls_dataset *set, const char *setting);

/* What is known of a row without a network; false: the dataset does not say. */
bool dls_dataset_known(const dls_dataset_setting *s, size_t row, dls_known *known);

/* What an inspector is told of a setting; texts are borrowed. */
dls_setting_info dls_dataset_setting_info(const dls_dataset_setting *s);

#endif
