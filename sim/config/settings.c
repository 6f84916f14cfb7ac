/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Stores a value for every key of the schema, parsed and checked by the key's type, with the file
 * and line or option that set it.
 */
#include "config/settings.h"

#include "base/alloc.h"
#include "base/units.h"

#include <ctype.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static dls_status parse(int id, const char *text, dls_setting *out, dls_error *err);

static void setting_fini(dls_setting *value)
{
    dls_free(value->s);
    dls_free(value->where);
}

static dls_status set_default(int key, dls_setting *value, dls_error *err)
{
    const char *def = dls_schema[key].def;
    return def ? parse(key, def, value, err) : DLS_OK;
}

dls_status dls_settings_init(dls_settings *s, dls_error *err)
{
    *s = (dls_settings){0};
    for (int key = 0; key < DLS_CFG_COUNT; key++) {
        const dls_key_type type = dls_schema[key].type;
        if (dls_schema_list_of(key) >= 0 || type == DLS_KEY_GROUP || type == DLS_KEY_LIST) {
            continue;
        }
        const dls_status status = set_default(key, &s->value[key], err);
        if (status != DLS_OK) {
            dls_settings_fini(s);
            return status;
        }
    }
    return DLS_OK;
}

void dls_settings_fini(dls_settings *s)
{
    for (int key = 0; key < DLS_CFG_COUNT; key++) {
        setting_fini(&s->value[key]);
        dls_setting_list *list = &s->list[key];
        const size_t n_fields = (size_t)dls_schema_n_fields(key);
        for (size_t i = 0; i < list->n; i++) {
            for (size_t k = 0; k < n_fields; k++) {
                setting_fini(&list->field[i * n_fields + k]);
            }
            dls_free(list->where[i]);
        }
        dls_free(list->field);
        dls_free(list->where);
    }
    for (size_t i = 0; i < s->n_extra; i++) {
        dls_free(s->extra[i].name);
        dls_free(s->extra[i].text);
        dls_free(s->extra[i].where);
    }
    dls_free(s->extra);
    *s = (dls_settings){0};
}

static dls_setting *slot(dls_settings *s, int key, size_t idx)
{
    const int list = dls_schema_list_of(key);
    if (list < 0) {
        return &s->value[key];
    }
    const size_t n_fields = (size_t)dls_schema_n_fields(list);
    return &s->list[list].field[idx * n_fields + (size_t)(key - list - 1)];
}

const dls_setting *dls_settings_get(const dls_settings *s, int key, size_t idx)
{
    const int list = dls_schema_list_of(key);
    if (list < 0) {
        return &s->value[key];
    }
    const size_t n_fields = (size_t)dls_schema_n_fields(list);
    return &s->list[list].field[idx * n_fields + (size_t)(key - list - 1)];
}

const char *dls_settings_path(int key, size_t idx, char *buf, size_t n)
{
    const char *path = dls_schema[key].path;
    const char *bracket = strstr(path, "[]");
    if (bracket) {
        snprintf(buf, n, "%.*s[%zu]%s", (int)(bracket - path), path, idx, bracket + 2);
    } else {
        snprintf(buf, n, "%s", path);
    }
    return buf;
}

dls_status dls_settings_append(dls_settings *s, int id, const char *where, dls_error *err)
{
    dls_setting_list *list = &s->list[id];
    const size_t n_fields = (size_t)dls_schema_n_fields(id);
    DLS_TRY(dls_grow(&list->field, &list->cap, (list->n + 1) * n_fields, sizeof *list->field, err));
    DLS_TRY(dls_grow(&list->where, &list->where_cap, list->n + 1, sizeof *list->where, err));
    dls_setting *field = &list->field[list->n * n_fields];
    memset(field, 0, n_fields * sizeof *field);
    list->where[list->n++] = NULL; /* from here on the element is released with the list */
    for (size_t k = 0; k < n_fields; k++) {
        DLS_TRY(set_default(id + 1 + (int)k, &field[k], err));
    }
    list->where[list->n - 1] = dls_strdup(where);
    return list->where[list->n - 1] ? DLS_OK : dls_nomem(err, "configuration", strlen(where));
}

/* ---- one value from text -----------------------------------------------------------------------
 */

static dls_status expected(int id, const char *text, dls_error *err)
{
    char domain[200];
    return dls_fail(err, DLS_ECONFIG, NULL, "is \"%.100s\": expected %s", text,
                    dls_schema_domain(id, domain, sizeof domain));
}

static bool is_choice(const char *choices, const char *text)
{
    const size_t len = strlen(text);
    for (const char *c = choices; c; c = strchr(c, '|')) {
        c += *c == '|';
        if (strcspn(c, "|") == len && strncmp(c, text, len) == 0) {
            return true;
        }
    }
    return false;
}

static dls_status parse_quantity(const dls_key *key, const char *text, dls_setting *out,
                                 dls_error *err)
{
    dls_quantity kind = DLS_QUANTITY_TIME;
    dls_error bad;
    (void)dls_key_quantity(key->type, &kind);
    if (dls_units_parse(text, kind, &out->f, &bad) != DLS_OK) {
        return dls_fail(err, DLS_ECONFIG, NULL, "%s", bad.msg);
    }
    const bool may_be_never = key->def && strcmp(key->def, "never") == 0;
    if (!(out->f >= key->min) || (!(out->f <= key->max) && !(may_be_never && isinf(out->f)))) {
        char low[64], high[64];
        return dls_fail(err, DLS_ECONFIG, NULL, "is \"%.100s\": expected %s to %s", text,
                        dls_units_format(key->min, kind, low, sizeof low),
                        dls_units_format(key->max, kind, high, sizeof high));
    }
    return DLS_OK;
}

/* *out is written when it works. */
static dls_status parse(int id, const char *text, dls_setting *out, dls_error *err)
{
    const dls_key *key = &dls_schema[id];
    dls_setting value = {0};
    bool good = true;
    switch (key->type) {
    case DLS_KEY_BOOL:
        value.b = strcmp(text, "true") == 0;
        good = value.b || strcmp(text, "false") == 0;
        break;
    case DLS_KEY_INT:
        good = dls_units_i64(text, &value.i) && (double)value.i >= key->min &&
               (double)value.i <= key->max;
        value.f = (double)value.i;
        break;
    case DLS_KEY_FLOAT:
        good = dls_units_f64(text, &value.f) && value.f >= key->min && value.f <= key->max;
        break;
    case DLS_KEY_STRING:
        good = (double)strlen(text) >= key->min && (double)strlen(text) <= key->max;
        break;
    case DLS_KEY_CHOICE:
        good = is_choice(key->choices, text);
        break;
    case DLS_KEY_TIME:
    case DLS_KEY_BYTES:
    case DLS_KEY_RATE:
    case DLS_KEY_FLOPS:
        DLS_TRY(parse_quantity(key, text, &value, err));
        break;
    default:
        good = false;
    }
    if (!good) {
        return expected(id, text, err);
    }
    if (key->type == DLS_KEY_STRING || key->type == DLS_KEY_CHOICE) {
        value.s = dls_strdup(text);
        if (!value.s) {
            return dls_nomem(err, "configuration", strlen(text));
        }
    }
    *out = value;
    return DLS_OK;
}

dls_status dls_settings_put(dls_settings *s, int key, size_t idx, const char *text,
                            const char *where, dls_problems *problems, dls_error *err)
{
    dls_setting value;
    dls_setting *to = slot(s, key, idx);
    dls_error bad = {0};
    const dls_status status = parse(key, text, &value, &bad);
    if (status == DLS_ENOMEM) {
        return dls_nomem(err, "configuration", strlen(text));
    }
    to->given = true;
    if (status != DLS_OK) {
        char path[128];
        to->bad = true;
        dls_problems_add(problems, where, "'%s' %s", dls_settings_path(key, idx, path, sizeof path),
                         bad.msg);
        return DLS_OK;
    }
    value.given = true;
    value.where = dls_strdup(where);
    if (!value.where) {
        dls_free(value.s);
        return dls_nomem(err, "configuration", strlen(where));
    }
    setting_fini(to);
    *to = value;
    return DLS_OK;
}

void dls_settings_mark_bad(dls_settings *s, int key, size_t idx)
{
    if (dls_schema[key].type == DLS_KEY_LIST) {
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
    dls_extra extra = {group, dls_strdup(name), dls_strdup(text), dls_strdup(where), override};
    s->extra[s->n_extra++] = extra;
    if (!extra.name || !extra.text || !extra.where) {
        return dls_nomem(err, "configuration", strlen(text));
    }
    return DLS_OK;
}

/* ---- a path from outside the file --------------------------------------------------------------
 */

/* "cluster.nodes[2].count" to "cluster.nodes[].count" and 2; false if the brackets are wrong. */
static bool split_index(const char *path, char *plain, size_t n, size_t *idx)
{
    const char *open = strchr(path, '[');
    *idx = 0;
    if (!open) {
        snprintf(plain, n, "%s", path);
        return true;
    }
    char *end;
    const unsigned long number = strtoul(open + 1, &end, 10);
    if (!isdigit((unsigned char)open[1]) || *end != ']' || number > 1000000) {
        return false;
    }
    *idx = number;
    snprintf(plain, n, "%.*s[]%s", (int)(open - path), path, end + 1);
    return true;
}

static bool is_option_name(const char *name)
{
    return *name && strspn(name, "abcdefghijklmnopqrstuvwxyz0123456789_") == strlen(name);
}

dls_status dls_settings_override(dls_settings *s, const char *path, const char *text,
                                 const char *where, dls_problems *problems, dls_error *err)
{
    char plain[256];
    size_t idx;
    if (strlen(path) >= sizeof plain - 2 || !split_index(path, plain, sizeof plain, &idx)) {
        dls_problems_add(problems, where, "'%.100s' is no key", path);
        return DLS_OK;
    }
    const int key = dls_schema_find(plain);
    const int groups[] = {DLS_CFG_SCHEDULER, DLS_CFG_PLACEMENT};
    for (size_t k = 0; key < 0 && k < 2; k++) {
        const size_t len = strlen(dls_schema[groups[k]].path);
        if (strncmp(plain, dls_schema[groups[k]].path, len) == 0 && plain[len] == '.' &&
            is_option_name(plain + len + 1)) {
            return dls_settings_put_extra(s, groups[k], plain + len + 1, text, where, true,
                                          problems, err);
        }
    }
    if (key < 0) {
        const char *near = dls_schema_suggest(plain);
        dls_problems_add(problems, where, "unknown key '%s'%s%s%s", path,
                         near ? " (did you mean '" : "", near ? near : "", near ? "'?)" : "");
        return DLS_OK;
    }
    if (dls_schema[key].type == DLS_KEY_GROUP || dls_schema[key].type == DLS_KEY_LIST) {
        dls_problems_add(problems, where, "'%s' is a %s: set one of its keys", path,
                         dls_schema[key].type == DLS_KEY_GROUP ? "group" : "list");
        return DLS_OK;
    }
    const int list = dls_schema_list_of(key);
    if (list >= 0 && idx >= s->list[list].n) {
        dls_problems_add(problems, where, "'%s': the list has %zu elements", path, s->list[list].n);
        return DLS_OK;
    }
    return dls_settings_put(s, key, idx, text, where, problems, err);
}

/* ---- what must be there ------------------------------------------------------------------------
 */

static void missing(int key, size_t idx, const char *where, dls_problems *problems)
{
    char path[128], domain[200];
    dls_problems_add(problems, where, "'%s' is missing: %s (%s)",
                     dls_settings_path(key, idx, path, sizeof path), dls_schema[key].doc,
                     dls_schema_domain(key, domain, sizeof domain));
}

void dls_settings_check_required(const dls_settings *s, const char *file, dls_problems *problems)
{
    for (int key = 0; key < DLS_CFG_COUNT; key++) {
        if (dls_schema[key].def) {
            continue;
        }
        const int list = dls_schema_list_of(key);
        if (list < 0) {
            if (!s->value[key].given) {
                missing(key, 0, file, problems);
            }
            continue;
        }
        for (size_t i = 0; i < s->list[list].n; i++) {
            if (!dls_settings_get(s, key, i)->given) {
                missing(key, i, s->list[list].where[i], problems);
            }
        }
    }
    if (s->list[DLS_CFG_NODES].n == 0 && !s->list[DLS_CFG_NODES].bad) {
        dls_problems_add(problems, file,
                         "'cluster.nodes' is missing or empty: a cluster needs at least one group "
                         "of nodes");
    }
}
