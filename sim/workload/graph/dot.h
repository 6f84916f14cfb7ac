/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * A picture of a grouped graph in Graphviz's language: one box per group with its members, its work
 * and its commonest operations, coloured by the phase that most of them belong to.
 */
#ifndef DLS_GRAPH_DOT_H
#define DLS_GRAPH_DOT_H

#include "workload/graph/grouping.h"

/* Write under path, whole or not at all. EOUTPUT. O(nodes + edges + groups * operations). */
dls_status dls_grouping_dot(const dls_opgraph *g, const dls_grouping *grouping, const char *path,
                            dls_error *err) DLS_MUST_CHECK;

#endif
