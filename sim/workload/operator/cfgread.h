/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Reading the data files of this folder with libconfig: every mistake has its file and line.
 */
#ifndef DLS_OPERATOR_CFGREAD_H
#define DLS_OPERATOR_CFGREAD_H

#include "base/units.h"
#include "dlsim/error.h"

#include <libconfig.h>
#include <stdbool.h>
#include <stddef.h>

/* cfg is initialised whatever happens: config_destroy it. Errors: ECONFIG. */
dls_status dls_cfg_read(const char *path, config_t *cfg, dls_error *err) DLS_MUST_CHECK;
/* "file:line" error at a setting. */
dls_status dls_cfg_fail(const config_setting_t *at, const char *path, dls_error *err,
                        const char *fmt, ...) DLS_PRINTF(4, 5);
/* A list of groups by that name. */
dls_status dls_cfg_list(const config_t *cfg, const char *path, const char *name,
                        const config_setting_t **list, dls_error *err) DLS_MUST_CHECK;
/* Members of a group. A missing one is an error, unless optional: then *out stays. */
dls_status dls_cfg_name(const config_setting_t *group, const char *path, const char *key,
                        bool optional, char *out, size_t size, dls_error *err) DLS_MUST_CHECK;
dls_status dls_cfg_quantity(const config_setting_t *group, const char *path, const char *key,
                            dls_quantity kind, double *out, dls_error *err) DLS_MUST_CHECK;
/* A finite number >= least, written with or without a point. */
dls_status dls_cfg_number(const config_setting_t *group, const char *path, const char *key,
                          double least, double *out, dls_error *err) DLS_MUST_CHECK;

#endif
