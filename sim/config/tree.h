/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * libconfig text as a tree of settings, for the readers of configurations and of sweeps: its
 * defects kept away, its errors as problems with their line.
 */
#ifndef DLS_CONFIG_TREE_H
#define DLS_CONFIG_TREE_H

#include "config/problems.h"

#include <libconfig.h>
#include <stdbool.h>

/* The group of a configuration that describes a sweep over it (sim/sweep). A single run leaves it
 * alone. */
#define DLS_CONFIG_SWEEP "sweep"

/* Where text comes from: path names it, includes are looked for in folder. Both borrowed. */
typedef struct dls_config_source {
    const char *path, *folder;
} dls_config_source;

/* The folder of a path: "a/b.cfg" -> "a", "b.cfg" -> "."; NULL: ".". Owned (dls_free). */
dls_status dls_config_folder(const char *path, char **out, dls_error *err) DLS_MUST_CHECK;
/* Whether the text is libconfig; if not, why is among the problems. tree must have been initialised
 * and is the caller's to destroy. Automatic conversions are off: 1.5 turns 1.5e-3 into 0 where an
 * integer is asked for. */
bool dls_config_tree_read(config_t *tree, const char *text, size_t len,
                          const dls_config_source *from, dls_problems *problems);
/* "file:line" of a setting, in full in DLS_PLACE_BYTES. Returns buf. */
#define DLS_PLACE_BYTES 4300
const char *dls_config_place(const config_setting_t *setting, const dls_config_source *from,
                             char *buf, size_t n);
/* "a group", "an integer", ... */
const char *dls_config_type_name(const config_setting_t *setting);
/* A scalar as text, as --set takes it: borrowed from the setting or written into buf; NULL for
 * other settings. */
const char *dls_config_scalar(const config_setting_t *setting, char *buf, size_t n);
/* A list of scalars as "3250,7200", written into buf; NULL if it is none or too long. */
const char *dls_config_scalars(const config_setting_t *list, char *buf, size_t n);

#endif
