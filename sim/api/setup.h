/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Inside a set-up: a request for a configuration, whose texts it owns, and the configuration that
 * it was last resolved to.
 */
#ifndef DLS_API_SETUP_H
#define DLS_API_SETUP_H

#include "config/config.h"
#include "dlsim/run.h"

#include <stdatomic.h>

/* What a set-up, simulations and their clones share. */
typedef struct dls_shared_config {
    dls_config *config;
    atomic_int users;
} dls_shared_config;

struct dls_setup {
    dls_registry *registry;
    char *path, *content; /* at most one is not NULL */
    dls_override *set;    /* texts owned */
    size_t n_set, set_cap;
    dls_problems problems;     /* of the last check */
    char more[40];             /* how many were not kept; "" none */
    dls_shared_config *loaded; /* NULL: something was said since */
    char *answer;              /* to the last question; the C library's own */
};

/* The scheduler that stands for decisions from outside. */
extern const dls_sched_ops dls_sched_outside;

/* A configuration of what the set-up says now, for one more user. Its problems are then those of
 * the set-up. */
dls_status dls_setup_load(dls_setup *setup, dls_shared_config **out, dls_error *err) DLS_MUST_CHECK;
/* After problems were added: say how many are not kept. */
void dls_setup_count_problems(dls_setup *setup);
/* One user more, which is returned; one less. NULL-safe. */
dls_shared_config *dls_shared_config_join(dls_shared_config *shared);
void dls_shared_config_leave(dls_shared_config *shared);

#endif
