/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Finds keys of the schema by path, suggests the nearest key of the same group, and says which
 * values a key takes.
 */
#include "config/schema.h"

#include "base/suggest.h"
#include "base/units.h"

#include <stdio.h>
#include <string.h>

const dls_key dls_schema[] = {
#define XX(id, path, type, def, min, max, choices, example, doc)                                   \
    [DLS_CFG_##id] = {path, DLS_KEY_##type, def, min, max, choices, example, doc},
    DLS_KEY_MAP(XX)
#undef XX
};

int dls_schema_find(const char *path)
{
    for (int i = 0; i < DLS_CFG_COUNT; i++) {
        if (strcmp(dls_schema[i].path, path) == 0) {
            return i;
        }
    }
    return -1;
}

int dls_schema_list_of(int key)
{
    const char *bracket = strstr(dls_schema[key].path, "[]");
    if (!bracket) {
        return -1;
    }
    int list = key;
    while (dls_schema[list].type != DLS_KEY_LIST) {
        list--;
    }
    return list;
}

int dls_schema_n_fields(int list)
{
    int n = 0;
    while (list + n + 1 < DLS_CFG_COUNT && strstr(dls_schema[list + n + 1].path, "[]")) {
        n++;
    }
    return n;
}

bool dls_key_quantity(dls_key_type type, dls_quantity *out)
{
    static const struct {
        dls_key_type type;
        dls_quantity quantity;
    } all[] = {{DLS_KEY_TIME, DLS_QUANTITY_TIME},
               {DLS_KEY_BYTES, DLS_QUANTITY_BYTES},
               {DLS_KEY_RATE, DLS_QUANTITY_RATE},
               {DLS_KEY_FLOPS, DLS_QUANTITY_FLOPS}};
    for (size_t i = 0; i < sizeof all / sizeof all[0]; i++) {
        if (all[i].type == type) {
            *out = all[i].quantity;
            return true;
        }
    }
    return false;
}

const char *dls_schema_leaf(int key)
{
    const char *dot = strrchr(dls_schema[key].path, '.');
    return dot ? dot + 1 : dls_schema[key].path;
}

/* The nearest key of the same parent: a path of long parts hides a typing error in a short one. */
static const char *near_sibling(const char *path, size_t parent_len)
{
    const char *candidates[DLS_CFG_COUNT + 1];
    size_t n = 0;
    for (int i = 0; i < DLS_CFG_COUNT; i++) {
        const char *p = dls_schema[i].path;
        if (strncmp(p, path, parent_len) == 0 && !strchr(p + parent_len, '.')) {
            candidates[n++] = p + parent_len;
        }
    }
    candidates[n] = NULL;
    const char *near = dls_suggest(path + parent_len, candidates);
    return near ? near - parent_len : NULL;
}

const char *dls_schema_suggest(const char *path)
{
    const char *dot = strrchr(path, '.');
    const size_t parent_len = dot ? (size_t)(dot - path) + 1 : 0;
    const char *near = near_sibling(path, parent_len);
    if (near) {
        return near;
    }
    const char *candidates[DLS_CFG_COUNT + 1];
    bool parent_known = parent_len == 0;
    for (int i = 0; i < DLS_CFG_COUNT; i++) {
        candidates[i] = dls_schema[i].path;
        parent_known = parent_known || strncmp(dls_schema[i].path, path, parent_len) == 0;
    }
    candidates[DLS_CFG_COUNT] = NULL;
    /* The right key in the wrong group. */
    for (int i = 0; parent_known && i < DLS_CFG_COUNT; i++) {
        if (strcmp(dls_schema_leaf(i), path + parent_len) == 0) {
            return dls_schema[i].path;
        }
    }
    return dls_suggest(path, candidates);
}

static void range(const dls_key *key, const char *what, char *buf, size_t n)
{
    char low[40], high[40];
    dls_units_number(key->min, low, sizeof low);
    dls_units_number(key->max, high, sizeof high);
    if (key->max >= 1e15) {
        snprintf(buf, n, "%s, at least %s", what, low);
    } else {
        snprintf(buf, n, "%s %s..%.0f", what, low, key->max);
    }
}

const char *dls_schema_domain(int id, char *buf, size_t n)
{
    const dls_key *key = &dls_schema[id];
    switch (key->type) {
    case DLS_KEY_GROUP:
        snprintf(buf, n, "group { ... }");
        break;
    case DLS_KEY_LIST:
        snprintf(buf, n, "list of groups ( { ... }, ... ), at most %.0f", key->max);
        break;
    case DLS_KEY_BOOL:
        snprintf(buf, n, "true or false");
        break;
    case DLS_KEY_INT:
        range(key, "integer", buf, n);
        break;
    case DLS_KEY_FLOAT:
        range(key, "number", buf, n);
        break;
    case DLS_KEY_STRING:
        snprintf(buf, n, "text in quotes%s, at most %.0f bytes", key->min > 0 ? ", not empty" : "",
                 key->max);
        break;
    case DLS_KEY_CHOICE:
        snprintf(buf, n, "one of %s", key->choices);
        break;
    case DLS_KEY_TIME:
        snprintf(buf, n, "time such as \"62 s\", \"1.5h\", \"7d\"%s; a bare number is in seconds",
                 key->def && strcmp(key->def, "never") == 0 ? ", \"never\"" : "");
        break;
    case DLS_KEY_BYTES:
        snprintf(buf, n, "size such as \"80 GiB\"");
        break;
    case DLS_KEY_RATE:
        snprintf(buf, n, "rate such as \"100 Gb/s\" (bits) or \"12.5 GB/s\" (bytes)");
        break;
    case DLS_KEY_FLOPS:
        snprintf(buf, n, "speed such as \"15.7 TFLOP/s\"");
        break;
    }
    return buf;
}
