/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Policies by name: the built-in ones and those of plug-ins.
 *
 * A plug-in is a shared object that exports dls_plugin_entry (dlsim/policy.h). Its tables are
 * checked when it is loaded: ABI number, names, options and their defaults, the callbacks that must
 * be there. A name that is taken is refused, so that a run always says which policy it used. One that runs files of
 * another language exports dls_plugin_origin, too: the file (0) that a policy's table stands for, and those that it
 * imports (1, ..), NULL: none (python/src).
 */
#ifndef DLS_CONFIG_REGISTRY_H
#define DLS_CONFIG_REGISTRY_H

#include "base/own.h"
#include "dlsim/policy.h"
#include "dlsim/run.h"

#include <stdbool.h>

typedef struct dls_registry dls_registry;

/* Holds the built-in policies. */
dls_status dls_registry_create(dls_registry **out, dls_error *err) DLS_MUST_CHECK;
/* Closes the plug-ins: no policy of theirs may be in use. NULL-safe. */
void dls_registry_destroy(dls_registry *reg);
DLS_OWNER(dls_registry, dls_registry_destroy)
/* Add what the shared object exports; nothing is added on failure. Errors: EINPUT (not there, not a
 * plug-in, another ABI, a broken or repeated policy), ENOMEM. */
dls_status dls_registry_load(dls_registry *reg, const char *path, dls_error *err) DLS_MUST_CHECK;

/* Add a program's own policy, borrowed for the registry's life; either may be NULL. Errors: EINPUT
 * (a broken or repeated policy), ENOMEM. */
dls_status dls_registry_add(dls_registry *reg, const dls_sched_ops *sched,
                            const dls_placement_ops *placement, dls_error *err) DLS_MUST_CHECK;

/* Who is told when policies are set up: of configurations that are loaded from then on. */
void dls_registry_watch(dls_registry *reg, dls_policies_fn told, void *user);
dls_policies_fn dls_registry_watcher(const dls_registry *reg, void **user);

/* By name order of the build, plug-ins behind; ended by NULL. Valid until the next load. */
const dls_sched_ops *const *dls_registry_scheds(const dls_registry *reg);
const dls_placement_ops *const *dls_registry_placements(const dls_registry *reg);
/* "" for a built-in policy, else the path of its plug-in, or of the file that this runs. */
const char *dls_registry_origin(const dls_registry *reg, const void *ops);
/* The i-th file of its own folder that a policy's file in another language imports; NULL: there are not so many. */
const char *dls_registry_import(const dls_registry *reg, const void *ops, size_t i);
/* Neither a plug-in's nor a program's own. */
bool dls_registry_built_in(const void *ops);

/* Errors (ECONFIG): unknown name, with a suggestion. */
dls_status dls_registry_sched(const dls_registry *reg, const char *name, const dls_sched_ops **out,
                              dls_error *err) DLS_MUST_CHECK;
dls_status dls_registry_placement(const dls_registry *reg, const char *name,
                                  const dls_placement_ops **out, dls_error *err) DLS_MUST_CHECK;

#endif
