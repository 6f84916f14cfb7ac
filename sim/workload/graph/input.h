/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * From a training graph to the inspector's input, as a whole: how operations are grouped, and the
 * features of the groups. Written into datasets and weights files as JSON, so that a graph that is
 * met later gets the input that the inspector was trained on.
 */
#ifndef DLS_GRAPH_INPUT_H
#define DLS_GRAPH_INPUT_H

#include "workload/graph/features.h"

typedef struct dls_input_spec {
    dls_grouping_kind grouping;
    int32_t n_groups;           /* uniform: of every graph */
    uint64_t seed;              /* of the grouping */
    dls_feature_spec *features; /* owned */
} dls_input_spec;

void dls_input_spec_fini(dls_input_spec *spec); /* NULL-safe */

/* One line of JSON, the caller's (dls_free); numbers with 17 digits. ENOMEM. */
dls_status dls_input_spec_text(const dls_input_spec *spec, char **text,
                               dls_error *err) DLS_MUST_CHECK;
/* *spec needs dls_input_spec_fini only on success. EINPUT: not such a text; names the member. */
dls_status dls_input_spec_parse(const char *text, dls_input_spec *spec,
                                dls_error *err) DLS_MUST_CHECK;

/* How its graphs are grouped. Uniform: n_groups, but at most one for each kept operation;
 * proportional: each graph as a batch alone. */
static inline dls_grouping_how dls_input_how(const dls_input_spec *spec)
{
    return (dls_grouping_how){spec->grouping, spec->n_groups, true, 1, spec->seed};
}

/* The input of one graph; all arrays of *out are owned by it and end with dls_input_graph_fini.
 * *n_unknown (may be NULL): operations that the frequency table does not have. EINPUT, ENOMEM. */
dls_status dls_input_grouped(const dls_input_spec *spec, const dls_opgraph *g,
                             const dls_grouping *grouping, dls_graph *out, int64_t *n_unknown,
                             dls_error *err) DLS_MUST_CHECK;
void dls_input_graph_fini(dls_graph *g); /* NULL-safe */

#endif
