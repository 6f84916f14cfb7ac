/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * The walk over what libconfig has read. Its automatic conversions stay off (1.5 turns 1.5e-3 into
 * 0 where an integer is asked for): the type of every setting is looked at, and values go to the
 * schema as text, so that a file and --set mean the same.
 */
#include "base/alloc.h"
#include "base/units.h"
#include "config/load.h"

#include <libconfig.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef struct walk {
    dls_settings *settings;
    const char *path, *folder;
    dls_problems *problems;
    dls_error *err;
} walk;

/* libconfig names an included file as the directive does, and the main one not at all. */
static const char *file_line(const char *included, unsigned line, const char *path,
                             const char *folder, char *buf, size_t n)
{
    if (!included) {
        snprintf(buf, n, "%s:%u", path, line);
    } else if (strcmp(folder, ".") == 0) {
        snprintf(buf, n, "%s:%u", included, line);
    } else {
        snprintf(buf, n, "%s/%s:%u", folder, included, line);
    }
    return buf;
}

static const char *place(const walk *w, const config_setting_t *setting, char *buf, size_t n)
{
    return file_line(config_setting_source_file(setting), config_setting_source_line(setting),
                     w->path, w->folder, buf, n);
}

static const char *type_name(const config_setting_t *setting)
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

static bool type_fits(dls_key_type key, int type)
{
    const bool whole = type == CONFIG_TYPE_INT || type == CONFIG_TYPE_INT64;
    switch (key) {
    case DLS_KEY_GROUP:
        return type == CONFIG_TYPE_GROUP;
    case DLS_KEY_LIST:
        return type == CONFIG_TYPE_LIST;
    case DLS_KEY_BOOL:
        return type == CONFIG_TYPE_BOOL;
    case DLS_KEY_INT:
        return whole;
    case DLS_KEY_FLOAT:
        return whole || type == CONFIG_TYPE_FLOAT;
    case DLS_KEY_STRING:
    case DLS_KEY_CHOICE:
        return type == CONFIG_TYPE_STRING;
    default: /* quantities */
        return whole || type == CONFIG_TYPE_FLOAT || type == CONFIG_TYPE_STRING;
    }
}

/* A scalar as text, borrowed from the setting or written into buf; NULL for other settings. */
static const char *scalar(const config_setting_t *setting, char *buf, size_t n)
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

static dls_status put_extra(walk *w, int group, const config_setting_t *setting, const char *where)
{
    char number[48], list[DLS_OPT_LIST_MAX * 40];
    const char *name = config_setting_name(setting);
    const char *text = scalar(setting, number, sizeof number);
    if (!text) {
        /* A list of numbers becomes "3250,7200". */
        size_t len = 0;
        list[0] = '\0';
        for (int i = 0; config_setting_type(setting) != CONFIG_TYPE_GROUP &&
                        i < config_setting_length(setting);
             i++) {
            const char *item =
                scalar(config_setting_get_elem(setting, (unsigned)i), number, sizeof number);
            if (!item || len + strlen(item) + 2 > sizeof list) {
                dls_problems_add(w->problems, where, "'%s.%s' is not a short list of numbers",
                                 dls_schema[group].path, name);
                return DLS_OK;
            }
            len += (size_t)snprintf(list + len, sizeof list - len, "%s%s", i > 0 ? "," : "", item);
        }
        if (config_setting_type(setting) == CONFIG_TYPE_GROUP) {
            dls_problems_add(w->problems, where, "'%s.%s' is a group: options of policies are not",
                             dls_schema[group].path, name);
            return DLS_OK;
        }
        text = list;
    }
    return dls_settings_put_extra(w->settings, group, name, text, where, false, w->problems,
                                  w->err);
}

static dls_status walk_group(walk *w, const config_setting_t *group, const char *prefix, int key,
                             size_t idx);

static dls_status walk_list(walk *w, const config_setting_t *list, int key, const char *where)
{
    const int n = config_setting_length(list);
    if (n > dls_schema[key].max) {
        dls_problems_add(w->problems, where, "'%s' has %d elements: at most %.0f",
                         dls_schema[key].path, n, dls_schema[key].max);
        return DLS_OK;
    }
    char prefix[128], here[300];
    snprintf(prefix, sizeof prefix, "%s[].", dls_schema[key].path);
    for (int i = 0; i < n; i++) {
        const config_setting_t *element = config_setting_get_elem(list, (unsigned)i);
        place(w, element, here, sizeof here);
        if (config_setting_type(element) != CONFIG_TYPE_GROUP) {
            dls_problems_add(w->problems, here, "'%s[%d]' is %s: expected a group { ... }",
                             dls_schema[key].path, i, type_name(element));
            dls_settings_mark_bad(w->settings, key, 0);
            continue;
        }
        DLS_TRY(dls_settings_append(w->settings, key, here, w->err));
        DLS_TRY(walk_group(w, element, prefix, key, w->settings->list[key].n - 1));
    }
    return DLS_OK;
}

static void unknown(walk *w, const char *where, const char *path, int parent, size_t idx)
{
    const char *near = dls_schema_suggest(path);
    const int list = parent >= 0 && dls_schema[parent].type == DLS_KEY_LIST ? parent : -1;
    char shown[300];
    if (list >= 0) {
        snprintf(shown, sizeof shown, "%s[%zu].%s", dls_schema[list].path, idx,
                 strrchr(path, '.') + 1);
        const size_t len = strlen(dls_schema[list].path);
        if (near && strncmp(near, dls_schema[list].path, len) == 0 && near[len] == '[') {
            near = strrchr(near, '.') + 1;
        }
    } else {
        snprintf(shown, sizeof shown, "%s", path);
    }
    dls_problems_add(w->problems, where, "unknown key '%s'%s%s%s", shown,
                     near ? " (did you mean '" : "", near ? near : "", near ? "'?)" : "");
}

/* The prescan has complained about this line: a number that libconfig has wrapped. */
static bool complained(const walk *w, const char *where)
{
    const size_t len = strlen(where);
    for (size_t i = 0; i < w->problems->kept; i++) {
        if (strncmp(w->problems->text[i], where, len) == 0 &&
            strncmp(w->problems->text[i] + len, ": the number ", 13) == 0) {
            return true;
        }
    }
    return false;
}

/* key: the group's or list's row, -1 for the root; prefix: its path with a point behind. */
static dls_status walk_group(walk *w, const config_setting_t *group, const char *prefix, int key,
                             size_t idx)
{
    for (int i = 0; i < config_setting_length(group); i++) {
        const config_setting_t *setting = config_setting_get_elem(group, (unsigned)i);
        char path[256], where[300], text[64], domain[200];
        place(w, setting, where, sizeof where);
        snprintf(path, sizeof path, "%s%.100s", prefix, config_setting_name(setting));
        const int found = dls_schema_find(path);
        if (found < 0 && (key == DLS_CFG_SCHEDULER || key == DLS_CFG_PLACEMENT)) {
            DLS_TRY(put_extra(w, key, setting, where));
        } else if (found < 0) {
            unknown(w, where, path, key, idx);
        } else if (!type_fits(dls_schema[found].type, config_setting_type(setting)) &&
                   !(dls_schema[found].type == DLS_KEY_LIST &&
                     config_setting_length(setting) == 0)) {
            dls_problems_add(w->problems, where, "'%s' is %s: expected %s",
                             dls_settings_path(found, idx, path, sizeof path), type_name(setting),
                             dls_schema_domain(found, domain, sizeof domain));
            if (dls_schema[found].type != DLS_KEY_GROUP) {
                dls_settings_mark_bad(w->settings, found, idx);
            }
        } else if (config_setting_is_number(setting) && complained(w, where)) {
            dls_settings_mark_bad(w->settings, found, idx);
        } else if (dls_schema[found].type == DLS_KEY_GROUP) {
            snprintf(path, sizeof path, "%s.", dls_schema[found].path);
            DLS_TRY(walk_group(w, setting, path, found, 0));
        } else if (dls_schema[found].type == DLS_KEY_LIST) {
            DLS_TRY(walk_list(w, setting, found, where));
        } else {
            DLS_TRY(dls_settings_put(w->settings, found, idx, scalar(setting, text, sizeof text),
                                     where, w->problems, w->err));
        }
    }
    return DLS_OK;
}

dls_status dls_config_parse(dls_settings *settings, const char *text, size_t len, const char *path,
                            const char *folder, dls_problems *problems, dls_error *err)
{
    if (!dls_config_prescan(text, len, path, folder, problems)) {
        return DLS_OK;
    }
    config_t config;
    config_init(&config);
    config_set_auto_convert(&config, CONFIG_FALSE);
    config_set_include_dir(&config, folder);
    dls_status status = DLS_OK;
    if (config_read_string(&config, text) == CONFIG_TRUE) {
        walk w = {settings, path, folder, problems, err};
        status = walk_group(&w, config_root_setting(&config), "", -1, 0);
    } else {
        char where[300];
        file_line(config_error_file(&config), (unsigned)config_error_line(&config), path, folder,
                  where, sizeof where);
        dls_problems_add(problems, where, "%s", config_error_text(&config));
        config_destroy(&config);
        return DLS_OK;
    }
    config_destroy(&config);
    DLS_TRY(status);
    dls_settings_check_required(settings, path, problems);
    return DLS_OK;
}
