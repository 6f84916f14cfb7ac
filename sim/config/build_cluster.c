/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * The cluster of a configuration: groups of nodes, GPU types in use, quotas.
 */
#include "base/alloc.h"
#include "base/suggest.h"
#include "config/load.h"

#include <string.h>
#include <strings.h>

#define GIB 1073741824.0

static const dls_option_value *value(const dls_builder *b, int key, size_t idx)
{
    return &dls_settings_get(&b->config->settings, key, idx)->v;
}

/* A text value, "" when it is missing or wrong. */
static const char *text(const dls_builder *b, int key, size_t idx)
{
    const char *s = value(b, key, idx)->s;
    return s ? s : "";
}

static const char *where(const dls_builder *b, int key, size_t idx)
{
    const dls_setting *setting = dls_settings_get(&b->config->settings, key, idx);
    return setting->where
               ? setting->where
               : dls_settings_get(&b->config->settings, dls_schema_list_of(key), idx)->where;
}

static size_t count(const dls_builder *b, int list)
{
    return b->config->settings.list[list].n;
}

/* Members of what the element describes. */
static void store(const dls_builder *b, int list, size_t idx, void *element)
{
    for (int key = list + 1; key <= list + dls_schema_n_fields(list); key++) {
        dls_schema_store(key, value(b, key, idx), element);
    }
}

/* cluster.gpu_types[i] with this name, or -1. */
static int own_type(const dls_builder *b, const char *name)
{
    for (size_t i = 0; i < count(b, DLS_CFG_TYPES); i++) {
        if (strcasecmp(text(b, DLS_CFG_TYPE_NAME, i), name) == 0) {
            return (int)i;
        }
    }
    return -1;
}

static void unknown_type(const dls_builder *b, const char *name, const char *place)
{
    size_t n, k = 0;
    const dls_gpu_type *table = dls_gpu_table(&n);
    const char *candidates[DLS_TYPES_MAX + 64];
    for (size_t i = 0; i < count(b, DLS_CFG_TYPES) && k < DLS_TYPES_MAX; i++) {
        candidates[k++] = text(b, DLS_CFG_TYPE_NAME, i);
    }
    for (size_t i = 0; i < n && k < DLS_TYPES_MAX + 63; i++) {
        candidates[k++] = table[i].name;
    }
    candidates[k] = NULL;
    dls_problems_add(b->problems, place,
                     "unknown GPU type '%s'%s ('dlsim list gpus' shows all; others go into "
                     "cluster.gpu_types)",
                     name, DLS_DID_YOU_MEAN(dls_suggest(name, candidates)));
}

/* Index in the cluster's types; -1: none. */
static int32_t find_type(const dls_cluster_spec *spec, const char *name)
{
    int32_t i = spec->n_types - 1;
    while (i >= 0 && strcasecmp(spec->types[i].name, name) != 0) {
        i--;
    }
    return i;
}

/* The same, added when it is first used; -1: reported. The name is kept as written, as that is what
 * traces are compared with. */
static int32_t type_index(const dls_builder *b, const char *name, const char *place)
{
    dls_cluster_spec *spec = &b->config->cluster;
    const int own = own_type(b, name);
    const dls_gpu_type *known = dls_gpu_find(name);
    const int32_t found = find_type(spec, name);
    if (found >= 0) {
        return found;
    }
    if (own < 0 && !known) {
        unknown_type(b, name, place);
        return -1;
    }
    if (spec->n_types == DLS_TYPES_MAX) {
        dls_problems_add(b->problems, place, "GPU type '%s' is one too many: at most %d", name,
                         DLS_TYPES_MAX);
        return -1;
    }
    dls_gpu_type *type = &spec->types[spec->n_types];
    if (own >= 0) {
        type->mem_gib = value(b, DLS_CFG_TYPE_MEMORY, (size_t)own)->f / GIB;
        store(b, DLS_CFG_TYPES, (size_t)own, type);
    } else {
        *type = *known;
    }
    snprintf(type->name, sizeof type->name, "%s", name);
    return spec->n_types++;
}

static dls_status build_groups(const dls_builder *b, dls_error *err)
{
    dls_cluster_spec *spec = &b->config->cluster;
    const size_t n = count(b, DLS_CFG_NODES);
    DLS_TRY(n ? dls_alloc_array(&spec->groups, n, sizeof *spec->groups, "node groups", err)
              : DLS_OK);
    for (size_t i = 0; i < n; i++) {
        const dls_setting *nodes = dls_settings_get(&b->config->settings, DLS_CFG_NODE_COUNT, i);
        if (nodes->given && !nodes->bad && nodes->v.i == 0) {
            continue;
        }
        dls_node_group *g = &spec->groups[spec->n_groups++];
        const char *name = text(b, DLS_CFG_NODE_NAME, i), *type = text(b, DLS_CFG_NODE_GPU_TYPE, i);
        store(b, DLS_CFG_NODES, i, g);
        g->mem_gib_per_node = value(b, DLS_CFG_NODE_MEMORY, i)->f / GIB;
        if (*name) { /* bytes behind the name are written to results, too: they stay zero */
            snprintf(g->name, sizeof g->name, "%s", name);
        } else {
            snprintf(g->name, sizeof g->name, "group%zu", i);
        }
        if (*type) {
            g->type = type_index(b, type, where(b, DLS_CFG_NODE_GPU_TYPE, i));
        }
    }
    return DLS_OK;
}

/* The GPU type of a quota or a service; -1: reported. */
static int32_t type_of(const dls_builder *b, int key, size_t i)
{
    const dls_cluster_spec *spec = &b->config->cluster;
    const char *name = text(b, key, i);
    if (!*name && spec->n_types > 1) {
        dls_problems_add(b->problems, where(b, key, i),
                         "'%s[%zu].gpu_type' is missing: the cluster has %d GPU types",
                         dls_schema[dls_schema_list_of(key)].o.name, i, spec->n_types);
        return -1;
    }
    const int32_t type = *name ? find_type(spec, name) : 0;
    if (type < 0) {
        dls_problems_add(b->problems, where(b, key, i),
                         "no node of the cluster has GPUs of type '%s'", name);
    }
    return type;
}

static dls_vc_spec *find_vc(dls_cluster_spec *spec, const char *name)
{
    for (int32_t k = 0; k < spec->n_vcs; k++) {
        if (strcmp(spec->vcs[k].name, name) == 0) {
            return &spec->vcs[k];
        }
    }
    dls_vc_spec *vc = &spec->vcs[spec->n_vcs++];
    snprintf(vc->name, sizeof vc->name, "%s", name);
    return vc;
}

static dls_status build_vcs(const dls_builder *b, dls_error *err)
{
    dls_cluster_spec *spec = &b->config->cluster;
    const size_t n = count(b, DLS_CFG_VCS);
    DLS_TRY(n ? dls_alloc_array(&spec->vcs, n, sizeof *spec->vcs, "virtual clusters", err)
              : DLS_OK);
    for (size_t i = 0; i < n; i++) {
        const char *name = text(b, DLS_CFG_VC_NAME, i);
        const int32_t type = type_of(b, DLS_CFG_VC_GPU_TYPE, i);
        if (type < 0 || !*name) {
            continue;
        }
        dls_vc_spec *vc = find_vc(spec, name);
        if (vc->quota_gpus[type] > 0) {
            dls_problems_add(b->problems, where(b, DLS_CFG_VC_NAME, i),
                             "virtual cluster '%s' has a quota for this GPU type already", name);
        }
        vc->quota_gpus[type] = (int32_t)value(b, DLS_CFG_VC_GPUS, i)->i;
    }
    return DLS_OK;
}

/* No field of an element is missing or wrong. */
static bool element_whole(const dls_builder *b, int list, size_t i)
{
    bool whole = true;
    for (int key = list + 1; key <= list + dls_schema_n_fields(list); key++) {
        const dls_setting *s = dls_settings_get(&b->config->settings, key, i);
        whole = whole && !s->bad && (s->given || !dls_schema[key].required);
    }
    return whole;
}

/* What the spec then violates is news. */
static bool whole(const dls_builder *b)
{
    const int lists[] = {DLS_CFG_NODES, DLS_CFG_TYPES, DLS_CFG_VCS};
    bool whole = count(b, DLS_CFG_NODES) > 0;
    for (size_t k = 0; k < 3; k++) {
        for (size_t i = 0; i < count(b, lists[k]); i++) {
            whole = whole && element_whole(b, lists[k], i);
        }
    }
    return whole;
}

static dls_status build_services(const dls_builder *b, dls_error *err)
{
    dls_services *all = &b->config->services;
    const size_t n = count(b, DLS_CFG_SERVICES_LIST);
    DLS_TRY(n ? dls_alloc_array(&all->service, n, sizeof *all->service, "services", err) : DLS_OK);
    for (size_t i = 0; i < n; i++) {
        dls_service *s = &all->service[all->n];
        dls_error bad;
        store(b, DLS_CFG_SERVICES_LIST, i, s);
        snprintf(s->name, sizeof s->name, "%s", text(b, DLS_CFG_SERVICE_NAME, i));
        s->type = type_of(b, DLS_CFG_SERVICE_GPU_TYPE, i);
        if (s->type < 0 || !element_whole(b, DLS_CFG_SERVICES_LIST, i)) {
            continue;
        }
        if (dls_service_make(s, text(b, DLS_CFG_SERVICE_LOAD, i), b->config->cluster.gpu_parts,
                             &bad) != DLS_OK) {
            dls_problems_add(b->problems, where(b, DLS_CFG_SERVICE_LOAD, i), "service '%s': %s",
                             s->name, bad.msg);
        }
        all->n++;
    }
    return DLS_OK;
}

dls_status dls_config_build_cluster(const dls_builder *b, dls_error *err)
{
    const size_t before = b->problems->n;
    DLS_TRY(build_groups(b, err));
    DLS_TRY(build_vcs(b, err));
    DLS_TRY(build_services(b, err));
    for (size_t i = 0; i < count(b, DLS_CFG_TYPES); i++) {
        const char *name = text(b, DLS_CFG_TYPE_NAME, i);
        if (*name && own_type(b, name) != (int)i) {
            dls_problems_add(b->problems, where(b, DLS_CFG_TYPE_NAME, i),
                             "GPU type '%s' is there twice", name);
        }
    }
    dls_error bad;
    if (before == b->problems->n && whole(b) &&
        dls_cluster_spec_check(&b->config->cluster, &bad) != DLS_OK) {
        dls_problems_add(b->problems, b->file, "%s", bad.msg);
    }
    return DLS_OK;
}
