/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Typed access to libconfig settings for the hardware and operator tables; errors name file and
 * line.
 */
#include "workload/operator/cfgread.h"

#include "base/alloc.h"
#include "base/file.h"
#include "base/guard.h"
#include "base/own.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

dls_status dls_cfg_read(const char *path, config_t *cfg, dls_error *err)
{
    DLS_IN_C_LOCALE; /* libconfig leaves the process's own behind */
    DLS_FREED char *text = NULL;
    char where[256];
    size_t len;
    config_init(cfg);
    /* libconfig would end the program on a read error. */
    const dls_status status = dls_file_read_text(path, DLS_FILE_CONFIG, &text, &len, err);
    if (status != DLS_OK) {
        if (status == DLS_EINPUT && err) {
            err->status = DLS_ECONFIG;
        }
        return status == DLS_EINPUT ? DLS_ECONFIG : status;
    }
    if (config_read_string(cfg, dls_past_mark(text)) == CONFIG_TRUE) {
        return DLS_OK;
    }
    snprintf(where, sizeof where, "%s:%d", path, config_error_line(cfg));
    return dls_fail(err, DLS_ECONFIG, where, "%s", config_error_text(cfg));
}

dls_status dls_cfg_fail(const config_setting_t *at, const char *path, dls_error *err,
                        const char *fmt, ...)
{
    char where[256];
    va_list ap;
    snprintf(where, sizeof where, "%s:%u", path, (unsigned)config_setting_source_line(at));
    va_start(ap, fmt);
    const dls_status status = dls_vfail(err, DLS_ECONFIG, where, fmt, ap);
    va_end(ap);
    return status;
}

dls_status dls_cfg_list(const config_t *cfg, const char *path, const char *name,
                        const config_setting_t **list, dls_error *err)
{
    *list = config_lookup(cfg, name);
    if (!*list || config_setting_type(*list) != CONFIG_TYPE_LIST ||
        config_setting_length(*list) == 0) {
        return dls_fail(err, DLS_ECONFIG, path, "no list \"%s\"", name);
    }
    for (int i = 0; i < config_setting_length(*list); i++) {
        const config_setting_t *item = config_setting_get_elem(*list, (unsigned)i);
        if (config_setting_type(item) != CONFIG_TYPE_GROUP) {
            return dls_cfg_fail(item, path, err, "\"%s\" is a list of groups", name);
        }
    }
    return DLS_OK;
}

dls_status dls_cfg_name(const config_setting_t *group, const char *path, const char *key,
                        bool optional, char *out, size_t size, dls_error *err)
{
    const char *text = NULL;
    if (config_setting_lookup_string(group, key, &text) != CONFIG_TRUE) {
        if (optional && !config_setting_get_member(group, key)) {
            return DLS_OK;
        }
        return dls_cfg_fail(group, path, err, "\"%s\" is missing or not a text", key);
    }
    if (*text == '\0' || strlen(text) >= size) {
        return dls_cfg_fail(group, path, err, "\"%s\": 1 to %zu characters", key, size - 1);
    }
    snprintf(out, size, "%s", text);
    return DLS_OK;
}

dls_status dls_cfg_quantity(const config_setting_t *group, const char *path, const char *key,
                            dls_quantity kind, double *out, dls_error *err)
{
    dls_error inner = {0};
    char text[64] = "";
    DLS_TRY(dls_cfg_name(group, path, key, false, text, sizeof text, err));
    if (dls_units_parse(text, kind, out, &inner) != DLS_OK) {
        return dls_cfg_fail(group, path, err, "%s: %s", key, inner.msg);
    }
    if (!(*out >= 0) || isinf(*out)) {
        return dls_cfg_fail(group, path, err, "%s: not a finite amount", key);
    }
    return DLS_OK;
}

dls_status dls_cfg_number(const config_setting_t *group, const char *path, const char *key,
                          double least, double *out, dls_error *err)
{
    const config_setting_t *member = config_setting_get_member(group, key);
    const int type = member ? config_setting_type(member) : CONFIG_TYPE_NONE;
    if (type == CONFIG_TYPE_INT) {
        *out = config_setting_get_int(member);
    } else if (type == CONFIG_TYPE_FLOAT) {
        *out = config_setting_get_float(member);
    } else {
        return dls_cfg_fail(group, path, err, "\"%s\" is missing or not a number", key);
    }
    if (!isfinite(*out) || *out < least) {
        return dls_cfg_fail(member, path, err, "%s = %g: at least %g", key, *out, least);
    }
    return DLS_OK;
}
