/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Graphs of the zoo's networks, and their products.
 */
#ifndef TESTS_SUPPORT_ZOO_H
#define TESTS_SUPPORT_ZOO_H

#include "support/test.h"
#include "workload/graph/zoo.h"

static inline dls_opgraph *build(const char *name, int32_t batch, dls_numeric numeric,
                          dls_optimiser optimiser)
{
    const dls_zoo_model *model = dls_zoo_find(name);
    assert_non_null(model);
    dls_zoo_options o = dls_zoo_defaults(model);
    o.batch = batch;
    o.numeric = numeric;
    o.optimiser = optimiser;
    dls_opgraph *g = NULL;
    dls_error e;
    if (dls_zoo_build(model, &o, &g, &e) != DLS_OK) {
        fail_msg("%s: %s", name, e.msg);
    }
    return g;
}

static inline double matrix_flops(const dls_opgraph *g, dls_phase phase)
{
    dls_opgraph_totals totals;
    dls_opgraph_sum(g, &totals);
    return totals.matrix_flops[phase];
}

#endif
