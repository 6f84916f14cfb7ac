/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Inside a set-up: a request for a configuration, whose texts it owns.
 */
#ifndef DLS_API_SETUP_H
#define DLS_API_SETUP_H

#include "config/config.h"
#include "dlsim/run.h"

struct dls_setup {
    dls_registry *registry;
    char *path, *content; /* at most one is not NULL */
    dls_override *set;    /* texts owned */
    size_t n_set, set_cap;
    dls_problems problems; /* of the last check */
};

/* The scheduler that stands for decisions from outside. */
extern const dls_sched_ops dls_sched_outside;

/* A configuration of what the set-up says now. Its problems are then those of the set-up. */
dls_status dls_setup_load(dls_setup *setup, dls_config **out, dls_error *err) DLS_MUST_CHECK;

#endif
