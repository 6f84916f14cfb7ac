/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * The walk over what libconfig has read. The type of every setting is looked at, and values go to
 * the schema as text, so that a file and --set mean the same.
 */
#include "base/own.h"
#include "base/suggest.h"
#include "config/load.h"
#include "config/tree.h"

#include <string.h>

typedef struct walk {
    dls_settings *settings;
    dls_config_source from;
    dls_problems *problems;
    dls_error *err;
} walk;

static const char *place(const walk *w, const config_setting_t *setting, char *buf, size_t n)
{
    return dls_config_place(setting, &w->from, buf, n);
}

static bool type_fits(dls_option_type key, int type)
{
    const bool whole = type == CONFIG_TYPE_INT || type == CONFIG_TYPE_INT64;
    switch (key) {
    case DLS_OPT_GROUP:
        return type == CONFIG_TYPE_GROUP;
    case DLS_OPT_LIST:
        return type == CONFIG_TYPE_LIST;
    case DLS_OPT_BOOL:
        return type == CONFIG_TYPE_BOOL;
    case DLS_OPT_I64:
        return whole;
    case DLS_OPT_F64:
        return whole || type == CONFIG_TYPE_FLOAT;
    case DLS_OPT_STR:
    case DLS_OPT_PATH:
        return type == CONFIG_TYPE_STRING;
    default: /* quantities */
        return whole || type == CONFIG_TYPE_FLOAT || type == CONFIG_TYPE_STRING;
    }
}

static dls_status put_extra(walk *w, int group, const config_setting_t *setting, const char *where)
{
    char number[48], list[DLS_OPT_LIST_MAX * 40];
    const char *name = config_setting_name(setting);
    if (config_setting_type(setting) == CONFIG_TYPE_GROUP) {
        dls_problems_add(w->problems, where, "'%s.%s' is a group: options of policies are not",
                         dls_schema[group].o.name, name);
        return DLS_OK;
    }
    const char *text = dls_config_scalar(setting, number, sizeof number);
    text = text ? text : dls_config_scalars(setting, list, sizeof list);
    if (!text) {
        dls_problems_add(w->problems, where, "'%s.%s' is not a list of up to 32 numbers",
                         dls_schema[group].o.name, name);
        return DLS_OK;
    }
    return dls_settings_put_extra(w->settings, group, name, text, where, false, w->problems,
                                  w->err);
}

static dls_status walk_group(walk *w, const config_setting_t *group, const char *prefix, int key,
                             size_t idx);

static dls_status walk_list(walk *w, const config_setting_t *list, int key, const char *where)
{
    const int n = config_setting_length(list);
    if (n > dls_schema[key].o.max) {
        dls_problems_add(w->problems, where, "'%s' has %d elements: at most %.0f",
                         dls_schema[key].o.name, n, dls_schema[key].o.max);
        return DLS_OK;
    }
    char prefix[128], here[DLS_PLACE_BYTES];
    snprintf(prefix, sizeof prefix, "%s[].", dls_schema[key].o.name);
    for (int i = 0; i < n; i++) {
        const config_setting_t *element = config_setting_get_elem(list, (unsigned)i);
        place(w, element, here, sizeof here);
        if (config_setting_type(element) != CONFIG_TYPE_GROUP) {
            dls_problems_add(w->problems, here, "'%s[%d]' is %s: expected a group { ... }",
                             dls_schema[key].o.name, i, dls_config_type_name(element));
            dls_settings_mark_bad(w->settings, key, 0);
            continue;
        }
        DLS_TRY(dls_settings_append(w->settings, key, here, w->err));
        DLS_TRY(walk_group(w, element, prefix, key, w->settings->list[key].n - 1));
    }
    return DLS_OK;
}

/* In a list: the element is told by its number, and a key of the same list by its name alone. */
static void unknown(walk *w, const char *where, const char *path, int parent, size_t idx)
{
    const char *near = dls_schema_suggest(path), *leaf = strrchr(path, '.');
    const bool in_list = parent >= 0 && dls_schema[parent].o.type == DLS_OPT_LIST;
    char shown[300];
    snprintf(shown, sizeof shown, "%s", path);
    if (in_list) {
        snprintf(shown, sizeof shown, "%s[%zu]%s", dls_schema[parent].o.name, idx, leaf);
        const bool beside = near && dls_schema_list_of(dls_schema_find(near)) == parent;
        near = beside ? strrchr(near, '.') + 1 : near;
    }
    dls_problems_add(w->problems, where, "unknown key '%s'%s", shown, DLS_DID_YOU_MEAN(near));
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
        char path[256], where[DLS_PLACE_BYTES], text[64], domain[300];
        place(w, setting, where, sizeof where);
        snprintf(path, sizeof path, "%s%.100s", prefix, config_setting_name(setting));
        const int found = dls_schema_find(path);
        if (found < 0 && (key == DLS_CFG_SCHEDULER || key == DLS_CFG_PLACEMENT)) {
            DLS_TRY(put_extra(w, key, setting, where));
            continue;
        }
        if (found < 0) {
            if (key >= 0 || strcmp(path, DLS_CONFIG_SWEEP) != 0) { /* which sim/sweep reads */
                unknown(w, where, path, key, idx);
            }
            continue;
        }
        const dls_option *o = &dls_schema[found].o;
        if (!type_fits(o->type, config_setting_type(setting)) &&
            !(o->type == DLS_OPT_LIST && config_setting_length(setting) == 0)) {
            dls_problems_add(w->problems, where, "'%s' is %s: expected %s",
                             dls_settings_name(found, idx, path, sizeof path),
                             dls_config_type_name(setting),
                             dls_option_domain(o, domain, sizeof domain));
            if (o->type != DLS_OPT_GROUP) {
                dls_settings_mark_bad(w->settings, found, idx);
            }
        } else if (config_setting_is_number(setting) && complained(w, where)) {
            dls_settings_mark_bad(w->settings, found, idx);
        } else if (o->type == DLS_OPT_GROUP) {
            snprintf(path, sizeof path, "%s.", o->name);
            DLS_TRY(walk_group(w, setting, path, found, 0));
        } else if (o->type == DLS_OPT_LIST) {
            DLS_TRY(walk_list(w, setting, found, where));
        } else {
            DLS_TRY(dls_settings_put(w->settings, found, idx,
                                     dls_config_scalar(setting, text, sizeof text), where,
                                     w->problems, w->err));
        }
    }
    return DLS_OK;
}

dls_status dls_config_parse(dls_settings *settings, const char *text, size_t len, const char *path,
                            const char *folder, dls_problems *problems, dls_error *err)
{
    walk w = {settings, {path, folder}, problems, err};
    DLS_OWN(config_destroy) config_t config = {0};
    config_init(&config);
    if (dls_config_tree_read(&config, text, len, &w.from, problems)) {
        DLS_TRY(walk_group(&w, config_root_setting(&config), "", -1, 0));
        dls_settings_check_required(settings, path, problems);
    }
    return DLS_OK;
}
