/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * The steps of dls_config_build: each reads settings and fills its part of the configuration.
 */
#ifndef DLS_CONFIG_BUILD_H
#define DLS_CONFIG_BUILD_H

#include "config/load.h"

typedef struct dls_builder {
    dls_config *config;
    const dls_settings *s;
    const dls_registry *registry;
    const char *file;
    dls_problems *problems;
} dls_builder;

/* Where a key's value came from; the file as a whole for a default. */
const char *dls_build_where(const dls_builder *b, int key);
/* Takes a text that then lives as long as the configuration; NULL without memory. */
const char *dls_build_keep(dls_config *config, char *text, dls_error *err);
/* A value's text, the caller's. */
dls_status dls_build_copy(const dls_builder *b, int key, char **out, dls_error *err) DLS_MUST_CHECK;
/* The same for a path: it is relative to the folder of the file that it is written in, which may be
 * a sweep's; one from the command line to the current folder. */
dls_status dls_build_path(const dls_builder *b, int key, char **out, dls_error *err) DLS_MUST_CHECK;
/* A path written at `where`, the caller's. */
dls_status dls_build_resolve(const char *text, const char *where, char **out,
                             dls_error *err) DLS_MUST_CHECK;

/* Groups perf, predictor, and failures with checkpoint. */
dls_status dls_build_world(const dls_builder *b, dls_error *err) DLS_MUST_CHECK;
dls_status dls_build_predictions(const dls_builder *b, dls_error *err) DLS_MUST_CHECK;
dls_status dls_build_failures(const dls_builder *b, dls_error *err) DLS_MUST_CHECK;

#endif
