/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Stores a value for every key of the schema, parsed and checked by the key's type, with the file
 * and line or option that set it.
 */
#include "config/settings.h"

#include "base/alloc.h"
#include "base/suggest.h"
#include "traces/assign.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

static dls_status set_default(int key, dls_setting *value, dls_error *err)
{
    const dls_option *o = &dls_schema[key].o;
    return dls_schema[key].required ? DLS_OK : dls_option_parse(o, o->def, &value->v, err);
}

dls_status dls_settings_init(dls_settings *s, dls_error *err)
{
    *s = (dls_settings){0};
    for (int key = 0; key < DLS_CFG_COUNT; key++) {
        if (dls_schema_list_of(key) < 0 && dls_schema_is_value(key)) {
            DLS_TRY(set_default(key, &s->value[key], err));
        }
    }
    return DLS_OK;
}

void dls_settings_fini(dls_settings *s)
{
    for (int key = 0; key < DLS_CFG_COUNT; key++) {
        dls_free(s->list[key].field);
    }
    for (size_t i = 0; i < s->n_kept; i++) {
        dls_free(s->kept[i]);
    }
    DLS_FREE_ALL(s->kept, s->extra);
    *s = (dls_settings){0};
}

const dls_setting *dls_settings_get(const dls_settings *s, int key, size_t idx)
{
    const int list = dls_schema[key].o.type == DLS_OPT_LIST ? key : dls_schema_list_of(key);
    if (list < 0) {
        return &s->value[key];
    }
    const size_t width = 1 + (size_t)dls_schema_n_fields(list);
    return &s->list[list].field[idx * width + (size_t)(key - list)];
}

static dls_setting *slot(dls_settings *s, int key, size_t idx)
{
    return (dls_setting *)(uintptr_t)dls_settings_get(s, key, idx);
}

const char *dls_settings_name(int key, size_t idx, char *buf, size_t n)
{
    const char *path = dls_schema[key].o.name, *bracket = strstr(path, "[]");
    if (bracket) {
        snprintf(buf, n, "%.*s[%zu]%s", (int)(bracket - path), path, idx, bracket + 2);
    } else {
        snprintf(buf, n, "%s", path);
    }
    return buf;
}

bool dls_settings_plain(const char *name, char *buf, size_t n, size_t *idx)
{
    const char *open = strchr(name, '[');
    char *end = NULL;
    *idx = open ? strtoul(open + 1, &end, 10) : 0;
    if (open && (!isdigit((unsigned char)open[1]) || *end != ']' || *idx > 1000000)) {
        return false;
    }
    const int len = open ? snprintf(buf, n, "%.*s[]%s", (int)(open - name), name, end + 1)
                         : snprintf(buf, n, "%s", name);
    return (size_t)len < n;
}

/* ---- texts ----------------------------------------------------------------------------------- */

/* prefix and text, one behind the other. */
static const char *join(dls_settings *s, const char *prefix, size_t prefix_len, const char *text,
                        size_t len, dls_error *err)
{
    char *copy = dls_alloc(prefix_len + len + 1);
    if (!copy || dls_grow(&s->kept, &s->kept_cap, s->n_kept + 1, sizeof *s->kept, err) != DLS_OK) {
        dls_free(copy);
        (void)dls_nomem(err, "configuration", prefix_len + len + 1);
        return NULL;
    }
    memcpy(copy, prefix, prefix_len);
    memcpy(copy + prefix_len, text, len);
    copy[prefix_len + len] = '\0';
    return s->kept[s->n_kept++] = copy;
}

const char *dls_settings_keep(dls_settings *s, const char *text, size_t len, dls_error *err)
{
    return join(s, "", 0, text, len, err);
}

const char *dls_settings_path(dls_settings *s, const char *path, const char *where, dls_error *err)
{
    /* "a/b.cfg:12"; what stands in no file has no colon */
    const char *colon = where ? strrchr(where, ':') : NULL;
    size_t len = colon ? (size_t)(colon - where) : 0;
    while (len > 0 && where[len - 1] != '/') {
        len--;
    }
    if (*path == '/' || *path == '\0' || strcmp(path, "-") == 0) {
        len = 0;
    }
    return join(s, len > 0 ? where : "", len, path, strlen(path), err);
}

const char *dls_settings_file(int key, const char *value)
{
    if (key == DLS_CFG_PRED_REPLAY) {
        const bool known = strncmp(value, "replay:", 7) == 0 || strncmp(value, "record:", 7) == 0;
        return known && value[7] ? value + 7 : NULL;
    }
    const bool none = !*value || (key == DLS_CFG_TRACE_ASSIGN && dls_assign_builtin_text(value));
    return none ? NULL : value;
}

/* The text of a value, paths in it resolved. */
static const char *value_text(dls_settings *s, int key, const char *text, const char *where,
                              dls_error *err)
{
    const char *file = dls_schema[key].o.type == DLS_OPT_PATH ? dls_settings_file(key, text) : NULL;
    if (!file) {
        return dls_settings_keep(s, text, strlen(text), err);
    }
    const char *path = dls_settings_path(s, file, where, err);
    return path && file > text ? join(s, text, (size_t)(file - text), path, strlen(path), err)
                               : path;
}

/* ---- setting --------------------------------------------------------------------------------- */

dls_status dls_settings_append(dls_settings *s, int id, const char *where, dls_error *err)
{
    dls_setting_list *list = &s->list[id];
    const size_t width = 1 + (size_t)dls_schema_n_fields(id);
    DLS_TRY(dls_grow(&list->field, &list->cap, (list->n + 1) * width, sizeof *list->field, err));
    dls_setting *element = &list->field[list->n * width];
    memset(element, 0, width * sizeof *element);
    for (size_t k = 1; k < width; k++) {
        DLS_TRY(set_default(id + (int)k, &element[k], err));
    }
    element->where = dls_settings_keep(s, where, strlen(where), err);
    list->n += element->where != NULL;
    return element->where ? DLS_OK : DLS_ENOMEM;
}

dls_status dls_settings_put(dls_settings *s, int key, size_t idx, const char *text,
                            const char *where, dls_problems *problems, dls_error *err)
{
    dls_setting *to = slot(s, key, idx);
    const char *kept = value_text(s, key, text, where, err);
    const char *kept_where = kept ? dls_settings_keep(s, where, strlen(where), err) : NULL;
    if (!kept_where) {
        return DLS_ENOMEM;
    }
    dls_error bad = {0};
    to->given = true;
    if (dls_option_parse(&dls_schema[key].o, kept, &to->v, &bad) == DLS_OK) {
        to->bad = false;
        to->where = kept_where;
    } else {
        char name[128];
        to->bad = true;
        dls_problems_add(problems, where, "'%s' %s", dls_settings_name(key, idx, name, sizeof name),
                         bad.msg);
    }
    return DLS_OK;
}

void dls_settings_mark_bad(dls_settings *s, int key, size_t idx)
{
    if (dls_schema[key].o.type == DLS_OPT_LIST) {
        s->list[key].bad = true;
        return;
    }
    slot(s, key, idx)->given = true;
    slot(s, key, idx)->bad = true;
}

dls_status dls_settings_put_extra(dls_settings *s, int group, const char *name, const char *text,
                                  const char *where, bool override, dls_problems *problems,
                                  dls_error *err)
{
    if (s->n_extra == DLS_EXTRAS_MAX) {
        dls_problems_add(problems, where, "'%s' is one option too many", name);
        return DLS_OK;
    }
    DLS_TRY(dls_grow(&s->extra, &s->extra_cap, s->n_extra + 1, sizeof *s->extra, err));
    dls_extra *e = &s->extra[s->n_extra];
    *e = (dls_extra){.group = group, .override = override};
    e->name = dls_settings_keep(s, name, strlen(name), err);
    e->text = e->name ? dls_settings_keep(s, text, strlen(text), err) : NULL;
    e->where = e->text ? dls_settings_keep(s, where, strlen(where), err) : NULL;
    s->n_extra += e->where != NULL;
    return e->where ? DLS_OK : DLS_ENOMEM;
}

dls_status dls_settings_override(dls_settings *s, const char *path, const char *text,
                                 const char *where, dls_problems *problems, dls_error *err)
{
    char plain[256];
    size_t idx;
    if (!dls_settings_plain(path, plain, sizeof plain, &idx)) {
        dls_problems_add(problems, where, "'%.100s' is no key: an element has its number, as in '%s'", path,
                         "cluster.nodes[0].count");
        return DLS_OK;
    }
    const int key = dls_schema_find(plain);
    const char *dot = strchr(plain, '.');
    const int group = dot && strncmp(plain, "scheduler.", 10) == 0   ? DLS_CFG_SCHEDULER
                      : dot && strncmp(plain, "placement.", 10) == 0 ? DLS_CFG_PLACEMENT
                                                                     : -1;
    if (key < 0 && group >= 0 && dot[1] &&
        strspn(dot + 1, "abcdefghijklmnopqrstuvwxyz0123456789_") == strlen(dot + 1)) {
        return dls_settings_put_extra(s, group, dot + 1, text, where, true, problems, err);
    }
    if (key < 0) {
        char name[128];
        const char *near = dls_schema_suggest(plain);
        near = near ? dls_settings_name(dls_schema_find(near), idx, name, sizeof name) : NULL;
        dls_problems_add(problems, where, "unknown key '%s'%s", path, DLS_DID_YOU_MEAN(near));
        return DLS_OK;
    }
    if (!dls_schema_is_value(key)) {
        const bool list = dls_schema[key].o.type == DLS_OPT_LIST;
        dls_problems_add(problems, where, "'%s' is a %s: set one of its keys, '%s%s.KEY'", path,
                         list ? "list" : "group", path, list ? "[0]" : "");
        return DLS_OK;
    }
    const int list = dls_schema_list_of(key);
    if (list >= 0 && idx == s->list[list].n && (double)idx < dls_schema[list].o.max) {
        DLS_TRY(dls_settings_append(s, list, where, err)); /* one more */
    }
    if (list >= 0 && idx >= s->list[list].n) {
        dls_problems_add(problems, where, "'%s': the list has %zu elements", path, s->list[list].n);
        return DLS_OK;
    }
    return dls_settings_put(s, key, idx, text, where, problems, err);
}

/* ---- what must be there ---------------------------------------------------------------------- */

void dls_settings_check_required(const dls_settings *s, const char *file, dls_problems *problems)
{
    for (int key = 0; key < DLS_CFG_COUNT; key++) {
        const int list = dls_schema_list_of(key);
        const size_t n = !dls_schema[key].required ? 0 : list < 0 ? 1 : s->list[list].n;
        for (size_t i = 0; i < n; i++) {
            char name[128], domain[300];
            if (!dls_settings_get(s, key, i)->given) {
                dls_problems_add(problems, list < 0 ? file : dls_settings_get(s, list, i)->where,
                                 "'%s' is missing: %s (%s)",
                                 dls_settings_name(key, i, name, sizeof name),
                                 dls_schema[key].o.doc,
                                 dls_option_domain(&dls_schema[key].o, domain, sizeof domain));
            }
        }
    }
    if (s->list[DLS_CFG_NODES].n == 0 && !s->list[DLS_CFG_NODES].bad) {
        dls_problems_add(problems, file,
                         "'cluster.nodes' is missing or empty: a cluster needs at least one group "
                         "of nodes");
    }
}
