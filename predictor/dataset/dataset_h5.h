/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * What writing and reading of dataset files share: docs/dataset-files.md describes the layout. Real
 * numbers are kept as float32; graphs and every setting have a checksum of their own, so that one
 * setting can be read alone.
 */
#ifndef DLS_DATASET_DATASET_H5_H
#define DLS_DATASET_DATASET_H5_H

#include "predictor/dataset/dataset.h"
#include "base/h5.h"

#define DLS_SET_FORMAT "dlsim-dataset"
#define DLS_SET_FORMAT_VERSION 1
#define DLS_SET_GRAPHS "/graphs"
#define DLS_SET_FEATURES "/features"
#define DLS_SET_NAMES "/setting_names"

/* The group that is being written or read, and the checksum of what passed so far. */
typedef struct dls_set_channel {
    hid_t at;
    dls_sha256 sha;
    dls_error *err;
} dls_set_channel;

static inline void dls_set_leave(const dls_set_channel *c)
{
    dls_h5_leave(&c->at);
}

void dls_set_hash_text(dls_set_channel *c, const char *text);

/* All graphs one behind the other. */
typedef struct dls_set_pack {
    int32_t *batch, *n_nodes; /* [graphs] */
    int32_t *degree;          /* [nodes] */
    int32_t *col;             /* [edges] */
    double *x, *weight;       /* [nodes][features], [edges] */
    size_t graphs, nodes, edges, features;
    bool weighted;
} dls_set_pack;

/* Arrays of zeros for the sizes in *p, which needs dls_set_pack_fini whatever is returned. ENOMEM.
 */
dls_status dls_set_pack_alloc(dls_set_pack *p, dls_error *err) DLS_MUST_CHECK;
void dls_set_pack_fini(dls_set_pack *p);

#endif
