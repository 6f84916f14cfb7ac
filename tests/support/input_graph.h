/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * The input of one graph, grouped here.
 */
#ifndef DLS_TESTS_INPUT_GRAPH_H
#define DLS_TESTS_INPUT_GRAPH_H

#include "base/own.h"
#include "workload/graph/input.h"

static inline dls_status input_graph(const dls_input_spec *spec, dls_opgraph *g, dls_graph *out,
                                     int64_t *n_unknown, dls_error *err)
{
    DLS_OWN(dls_grouping_fini) dls_grouping grouping = {0};
    const dls_grouping_how how = dls_input_how(spec);
    DLS_TRY(dls_groupings_create(&g, 1, &how, &grouping, err));
    return dls_input_grouped(spec, g, &grouping, out, n_unknown, err);
}

#endif
