/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * The steps of dls_config_load: text to settings, settings to a configuration, back to text.
 */
#ifndef DLS_CONFIG_LOAD_H
#define DLS_CONFIG_LOAD_H

#include "config/config.h"

/* Read a regular file or standard input ("-"), at most 16 MiB, terminated. Freed by dls_free. */
dls_status dls_config_read_text(const char *path, char **text, size_t *len,
                                dls_error *err) DLS_MUST_CHECK;
/* A file that a configuration names and that cannot be read, EINPUT, is an error of the
 * configuration. */
dls_status dls_config_unread(dls_status status, dls_error *err);

/* libconfig text into settings, and what the text leaves out although it must be given. */
dls_status dls_config_parse(dls_settings *settings, const char *text, size_t len, const char *path,
                            const char *folder, dls_problems *problems,
                            dls_error *err) DLS_MUST_CHECK;

typedef struct dls_builder {
    dls_config *config; /* its settings are complete */
    const dls_registry *registry;
    const char *file; /* for problems without a place */
    dls_problems *problems;
} dls_builder;

/* Settings to a configuration: names are looked up, the parts must fit each other. file_scheduler,
 * file_placement: names as the file has them, whose options are checked against their tables and
 * dropped if another policy was chosen since. */
dls_status dls_config_build(const dls_builder *b, const char *file_scheduler,
                            const char *file_placement, dls_error *err) DLS_MUST_CHECK;
/* The cluster part of it. */
dls_status dls_config_build_cluster(const dls_builder *b, dls_error *err) DLS_MUST_CHECK;

/* Make the resolved text and the list of files. Errors: ENOMEM. */
dls_status dls_config_emit(dls_config *config, dls_error *err) DLS_MUST_CHECK;

#endif
