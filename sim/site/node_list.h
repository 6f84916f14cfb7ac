/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Slurm's lists of nodes: "g1,rack[1-2]n[01-16,20]".
 */
#ifndef DLS_SITE_NODE_LIST_H
#define DLS_SITE_NODE_LIST_H

#include "dlsim/error.h"

/* one() for each node, in order; at most DLS_SITE_NODE_LIST_MAX of one bracket's numbers together
 * are followed. A name longer than 255 bytes is given as "". Errors: those of one(). */
#define DLS_SITE_NODE_LIST_MAX 100000
typedef dls_status (*dls_site_node_fn)(void *user, const char *name, dls_error *err);
dls_status dls_site_node_list(const char *list, dls_site_node_fn one, void *user,
                              dls_error *err) DLS_MUST_CHECK;

#endif
