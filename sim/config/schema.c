/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Finds keys of the schema by path, suggests the nearest key of the same group, and says which
 * values a key takes.
 */
#include "config/schema.h"

#include "base/suggest.h"
#include "base/units.h"
#include "config/config.h"

#include <string.h>

#define MEMBER(T, m)                                                                               \
    .at = offsetof(T, m), .as = _Generic(((T *)0)->m, bool: DLS_AS_BOOL, int32_t: DLS_AS_I32,      \
                                         int64_t: DLS_AS_I64, uint64_t: DLS_AS_I64,                \
                                         double: DLS_AS_F64, const char *: DLS_AS_TEXT)
#define TO(m) MEMBER(dls_config, m)
#define NODE(m) MEMBER(dls_node_group, m)
#define TYPE(m) MEMBER(dls_gpu_type, m)
#define SERVICE(m) MEMBER(dls_service, m)
#define SOME(m) .at = offsetof(dls_config, m), .as = DLS_AS_SOME_TEXT
#define REQUIRED .required = true
#define NONE

const dls_key dls_schema[] = {
#define XX(id, path, type, def, min, max, choices, doc, ...)                                       \
    [DLS_CFG_##id] = {.o = {path, DLS_OPT_##type, min, max, def, "", doc, choices}, __VA_ARGS__},
    DLS_KEY_MAP(XX)
#undef XX
};

void dls_schema_store(int key, const dls_option_value *value, void *base)
{
    const dls_key *k = &dls_schema[key];
    void *to = (char *)base + k->at;
    switch (k->as) {
    case DLS_AS_NOTHING:
        break;
    case DLS_AS_BOOL:
        *(bool *)to = value->b;
        break;
    case DLS_AS_I32:
        *(int32_t *)to = (int32_t)value->i;
        break;
    case DLS_AS_I64:
        *(int64_t *)to = k->o.type == DLS_OPT_TIME ? dls_units_us(value->f) : value->i;
        break;
    case DLS_AS_F64:
        *(double *)to = value->f;
        break;
    case DLS_AS_TEXT:
        *(const char **)to = value->s;
        break;
    case DLS_AS_SOME_TEXT:
        *(const char **)to = *value->s ? value->s : NULL;
        break;
    }
}

int dls_schema_find(const char *path)
{
    const size_t i = DLS_NAMED(dls_schema, path);
    return i < DLS_CFG_COUNT ? (int)i : -1;
}

int dls_schema_list_of(int key)
{
    int list = strstr(dls_schema[key].o.name, "[]") ? key : -1;
    while (list >= 0 && dls_schema[list].o.type != DLS_OPT_LIST) {
        list--;
    }
    return list;
}

int dls_schema_n_fields(int list)
{
    int n = 0;
    while (list + n + 1 < DLS_CFG_COUNT && strstr(dls_schema[list + n + 1].o.name, "[]")) {
        n++;
    }
    return n;
}

bool dls_schema_is_value(int key)
{
    return dls_schema[key].o.type != DLS_OPT_GROUP && dls_schema[key].o.type != DLS_OPT_LIST;
}

bool dls_schema_in_group(int key, int group)
{
    const size_t len = strlen(dls_schema[group].o.name);
    return strncmp(dls_schema[key].o.name, dls_schema[group].o.name, len) == 0 &&
           dls_schema[key].o.name[len] == '.';
}

const char *dls_schema_leaf(int key)
{
    const char *dot = strrchr(dls_schema[key].o.name, '.');
    return dot ? dot + 1 : dls_schema[key].o.name;
}

const char *dls_schema_suggest(const char *path)
{
    const char *candidates[DLS_CFG_COUNT + 1], *dot = strrchr(path, '.');
    const size_t parent_len = dot ? (size_t)(dot - path) + 1 : 0;
    size_t n = 0;
    bool parent_known = parent_len == 0;
    /* The nearest key of the same parent: a path of long parts hides a typing error in a short one.
     */
    for (int i = 0; i < DLS_CFG_COUNT; i++) {
        const char *p = dls_schema[i].o.name;
        const bool same = strncmp(p, path, parent_len) == 0;
        parent_known |= same;
        if (same && !strchr(p + parent_len, '.')) {
            candidates[n++] = p + parent_len;
        }
    }
    candidates[n] = NULL;
    const char *near = dls_suggest(path + parent_len, candidates);
    if (near) {
        return near - parent_len;
    }
    /* The right key in the wrong group. */
    for (int i = 0; i < DLS_CFG_COUNT; i++) {
        if (parent_known && strcmp(dls_schema_leaf(i), path + parent_len) == 0) {
            return dls_schema[i].o.name;
        }
        candidates[i] = dls_schema[i].o.name;
    }
    candidates[DLS_CFG_COUNT] = NULL;
    return dls_suggest(path, candidates);
}
