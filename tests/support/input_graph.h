/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * The input of one graph, grouped here.
 */
#ifndef DLS_TESTS_INPUT_GRAPH_H
#define DLS_TESTS_INPUT_GRAPH_H

#include "workload/graph/input.h"

static inline dls_status input_graph(const dls_input_spec *spec, const dls_opgraph *g,
                                     dls_graph *out, int64_t *n_unknown, dls_error *err)
{
    int32_t n_groups;
    dls_grouping grouping;
    DLS_TRY(dls_input_groups(spec, g, &n_groups, err));
    DLS_TRY(dls_grouping_create(g, spec->grouping, n_groups, spec->seed, &grouping, err));
    const dls_status status = dls_input_grouped(spec, g, &grouping, out, n_unknown, err);
    dls_grouping_fini(&grouping);
    return status;
}

#endif
