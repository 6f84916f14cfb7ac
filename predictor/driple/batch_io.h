/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Graphs in HDF5: groups that hold `adj` [B][N][N] or [N][N] and `x` [B][N][F] or [N][F]. Read in
 * slices, so that a group may hold more graphs than memory; answers go out under the same group
 * names.
 */
#ifndef DLS_DRIPLE_BATCH_IO_H
#define DLS_DRIPLE_BATCH_IO_H

#include "dlsim/predictor.h"

typedef struct dls_graph_reader dls_graph_reader;

/* EINPUT: no such file, no group with adj and x. */
dls_status dls_graph_reader_open(const char *path, dls_graph_reader **out,
                                 dls_error *err) DLS_MUST_CHECK;
void dls_graph_reader_close(dls_graph_reader *r); /* NULL-safe */
size_t dls_graph_reader_n_groups(const dls_graph_reader *r);
/* Full name of a group ("/" for the root), borrowed. */
const char *dls_graph_reader_group(const dls_graph_reader *r, size_t group);

typedef struct dls_group_shape {
    size_t n_graphs;
    int32_t n_nodes, n_features;
    bool single; /* stored without the first dimension */
} dls_group_shape;
/* EINPUT names the dataset whose shape is wrong or does not go with the other. */
dls_status dls_graph_reader_shape(dls_graph_reader *r, size_t group, dls_group_shape *shape,
                                  dls_error *err) DLS_MUST_CHECK;
/* How many graphs of this shape fit in memory_bytes, at least 1. */
size_t dls_graph_reader_fit(const dls_group_shape *shape, size_t memory_bytes);
/* Graphs first .. first + n - 1 of a group; *graphs is valid until the next read or close. */
dls_status dls_graph_reader_read(dls_graph_reader *r, size_t group, const dls_group_shape *shape,
                                 size_t first, size_t n, const dls_graph **graphs,
                                 dls_error *err) DLS_MUST_CHECK;

/* ---- answers -------------------------------------------------------------------------------- */

typedef struct dls_output_writer dls_output_writer;

/* backend and weights go to the file as attributes. */
dls_status dls_output_writer_create(const char *path, const char *weights, const char *backend,
                                    dls_output_writer **out, dls_error *err) DLS_MUST_CHECK;
/* A dataset <group>/output [n_graphs][12], or [n_graphs][n_settings][12] with n_settings > 0. */
dls_status dls_output_writer_begin(dls_output_writer *w, const char *group, size_t n_graphs,
                                   size_t n_settings, const char *setting_names,
                                   dls_error *err) DLS_MUST_CHECK;
/* The next n graphs of the group: rows [n * max(1, n_settings)][12]. */
dls_status dls_output_writer_rows(dls_output_writer *w, const double *rows, size_t n,
                                  dls_error *err) DLS_MUST_CHECK;
/* Give the file its name; on failure nothing is left under it. Destroy comes after in any case. */
dls_status dls_output_writer_finish(dls_output_writer *w, dls_error *err) DLS_MUST_CHECK;
void dls_output_writer_destroy(dls_output_writer *w); /* NULL-safe; unfinished: no file */

#endif
