/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Reads libconfig text safely: prescans it, sets the folder of its includes, and reports
 * libconfig's errors with file and line.
 */
#include "config/tree.h"

#include "base/alloc.h"
#include "base/guard.h"
#include "base/units.h"
#include "config/load.h"

#include <stdio.h>
#include <string.h>

dls_status dls_config_folder(const char *path, char **out, dls_error *err)
{
    const char *slash = path ? strrchr(path, '/') : NULL;
    *out = dls_strdup(slash ? path : ".");
    if (!*out) {
        return dls_nomem(err, "configuration", slash ? strlen(path) : 2);
    }
    if (slash) {
        (*out)[slash == path ? 1 : slash - path] = '\0';
    }
    return DLS_OK;
}

/* libconfig names an included file as the directive does, and the main one not at all. */
static const char *file_line(const char *included, unsigned line, const dls_config_source *from,
                             char *buf, size_t n)
{
    if (!included) {
        snprintf(buf, n, "%s:%u", from->path, line);
    } else if (strcmp(from->folder, ".") == 0) {
        snprintf(buf, n, "%s:%u", included, line);
    } else {
        snprintf(buf, n, "%s/%s:%u", from->folder, included, line);
    }
    return buf;
}

bool dls_config_tree_read(config_t *tree, const char *text, size_t len,
                          const dls_config_source *from, dls_problems *problems)
{
    DLS_IN_C_LOCALE; /* libconfig leaves the process's own behind */
    if (!dls_config_prescan(text, len, from->path, from->folder, problems)) {
        return false;
    }
    config_set_auto_convert(tree, CONFIG_FALSE);
    config_set_include_dir(tree, from->folder);
    if (config_read_string(tree, text) == CONFIG_TRUE) {
        return true;
    }
    char where[DLS_PLACE_BYTES];
    file_line(config_error_file(tree), (unsigned)config_error_line(tree), from, where,
              sizeof where);
    dls_problems_add(problems, where, "%s", config_error_text(tree));
    return false;
}

const char *dls_config_place(const config_setting_t *setting, const dls_config_source *from,
                             char *buf, size_t n)
{
    return file_line(config_setting_source_file(setting), config_setting_source_line(setting), from,
                     buf, n);
}

const char *dls_config_type_name(const config_setting_t *setting)
{
    switch (config_setting_type(setting)) {
    case CONFIG_TYPE_GROUP:
        return "a group";
    case CONFIG_TYPE_INT:
    case CONFIG_TYPE_INT64:
        return "an integer";
    case CONFIG_TYPE_FLOAT:
        return "a number";
    case CONFIG_TYPE_STRING:
        return "text";
    case CONFIG_TYPE_BOOL:
        return "true or false";
    case CONFIG_TYPE_ARRAY:
    case CONFIG_TYPE_LIST:
        return "a list";
    default:
        return "nothing";
    }
}

const char *dls_config_scalar(const config_setting_t *setting, char *buf, size_t n)
{
    switch (config_setting_type(setting)) {
    case CONFIG_TYPE_INT:
        snprintf(buf, n, "%d", config_setting_get_int(setting));
        return buf;
    case CONFIG_TYPE_INT64:
        snprintf(buf, n, "%lld", config_setting_get_int64(setting));
        return buf;
    case CONFIG_TYPE_FLOAT:
        return dls_units_number(config_setting_get_float(setting), buf, n);
    case CONFIG_TYPE_STRING:
        return config_setting_get_string(setting);
    case CONFIG_TYPE_BOOL:
        return config_setting_get_bool(setting) ? "true" : "false";
    default:
        return NULL;
    }
}

const char *dls_config_scalars(const config_setting_t *list, char *buf, size_t n)
{
    const int type = config_setting_type(list);
    if (type != CONFIG_TYPE_ARRAY && type != CONFIG_TYPE_LIST) {
        return NULL;
    }
    size_t len = 0;
    buf[0] = '\0';
    for (int i = 0; i < config_setting_length(list); i++) {
        char number[48];
        const char *item =
            dls_config_scalar(config_setting_get_elem(list, (unsigned)i), number, sizeof number);
        if (!item || len + strlen(item) + 2 > n) {
            return NULL;
        }
        len += (size_t)snprintf(buf + len, n - len, "%s%s", i > 0 ? "," : "", item);
    }
    return buf;
}
