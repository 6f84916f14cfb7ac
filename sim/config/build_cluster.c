/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Builds the cluster of a configuration: groups of nodes, GPU types (of the table or the user's
 * own), links, virtual clusters.
 */
#include "base/alloc.h"
#include "base/suggest.h"
#include "config/load.h"

#include <stdio.h>
#include <string.h>
#include <strings.h>

#define GIB 1073741824.0

typedef struct builder {
    dls_cluster_spec *spec;
    const dls_settings *s;
    dls_problems *problems;
} builder;

/* A text value, "" when it is missing or wrong. */
static const char *text(const builder *b, int key, size_t idx)
{
    const dls_setting *value = dls_settings_get(b->s, key, idx);
    return value->s ? value->s : "";
}

static double number(const builder *b, int key, size_t idx)
{
    return dls_settings_get(b->s, key, idx)->f;
}

static const char *where(const builder *b, int key, size_t idx)
{
    const dls_setting *value = dls_settings_get(b->s, key, idx);
    const int list = dls_schema_list_of(key);
    return value->where ? value->where : b->s->list[list].where[idx];
}

/* cluster.gpu_types[i] with this name, or -1. */
static int own_type(const builder *b, const char *name)
{
    for (size_t i = 0; i < b->s->list[DLS_CFG_TYPES].n; i++) {
        if (strcasecmp(text(b, DLS_CFG_TYPE_NAME, i), name) == 0) {
            return (int)i;
        }
    }
    return -1;
}

static void unknown_type(const builder *b, const char *name, const char *place)
{
    size_t n;
    const dls_gpu_type *table = dls_gpu_table(&n);
    const char *candidates[DLS_TYPES_MAX + 64];
    size_t k = 0;
    for (size_t i = 0; i < b->s->list[DLS_CFG_TYPES].n && k < DLS_TYPES_MAX; i++) {
        candidates[k++] = text(b, DLS_CFG_TYPE_NAME, i);
    }
    for (size_t i = 0; i < n && k < DLS_TYPES_MAX + 63; i++) {
        candidates[k++] = table[i].name;
    }
    candidates[k] = NULL;
    const char *near = dls_suggest(name, candidates);
    dls_problems_add(b->problems, place,
                     "unknown GPU type '%s'%s%s%s ('dlsim list gpus' shows all; others go into "
                     "cluster.gpu_types)",
                     name, near ? " (did you mean '" : "", near ? near : "", near ? "'?)" : "");
}

/* Index in spec->types, added when it is first used; -1: reported. The name is kept as written, as
 * that is what traces are compared with. */
static int32_t type_index(builder *b, const char *name, const char *place)
{
    dls_cluster_spec *spec = b->spec;
    for (int32_t i = 0; i < spec->n_types; i++) {
        if (strcasecmp(spec->types[i].name, name) == 0) {
            return i;
        }
    }
    const int own = own_type(b, name);
    const dls_gpu_type *known = dls_gpu_find(name);
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
        const size_t i = (size_t)own;
        *type = (dls_gpu_type){.mem_gib = number(b, DLS_CFG_TYPE_MEMORY, i) / GIB,
                               .mem_bps = number(b, DLS_CFG_TYPE_MEMORY_RATE, i),
                               .fp32_flops = number(b, DLS_CFG_TYPE_FP32, i),
                               .tensor_flops = number(b, DLS_CFG_TYPE_TENSOR, i),
                               .peer_bps = number(b, DLS_CFG_TYPE_PEER, i)};
    } else {
        *type = *known;
    }
    snprintf(type->name, sizeof type->name, "%s", name);
    return spec->n_types++;
}

static dls_status build_groups(builder *b, dls_error *err)
{
    const size_t n = b->s->list[DLS_CFG_NODES].n;
    if (n == 0) {
        return DLS_OK; /* reported as missing */
    }
    b->spec->groups = dls_alloc_zero(n, sizeof *b->spec->groups);
    if (!b->spec->groups) {
        return dls_nomem(err, "node groups", n * sizeof *b->spec->groups);
    }
    for (size_t i = 0; i < n; i++) {
        dls_node_group *g = &b->spec->groups[i];
        const char *name = text(b, DLS_CFG_NODE_NAME, i);
        if (*name) {
            snprintf(g->name, sizeof g->name, "%s", name);
        } else {
            snprintf(g->name, sizeof g->name, "group%zu", i);
        }
        g->nodes = (int32_t)dls_settings_get(b->s, DLS_CFG_NODE_COUNT, i)->i;
        g->gpus_per_node = (int32_t)dls_settings_get(b->s, DLS_CFG_NODE_GPUS, i)->i;
        g->nodes_per_rack = (int32_t)dls_settings_get(b->s, DLS_CFG_NODE_RACK_SIZE, i)->i;
        g->cpus_per_node = number(b, DLS_CFG_NODE_CPUS, i);
        g->mem_gib_per_node = number(b, DLS_CFG_NODE_MEMORY, i) / GIB;
        g->nic_bps = number(b, DLS_CFG_NODE_NIC, i);
        const char *type = text(b, DLS_CFG_NODE_GPU_TYPE, i);
        if (*type) {
            g->type = type_index(b, type, where(b, DLS_CFG_NODE_GPU_TYPE, i));
        }
    }
    b->spec->n_groups = (int32_t)n;
    return DLS_OK;
}

static dls_vc_spec *find_vc(builder *b, const char *name)
{
    for (int32_t k = 0; k < b->spec->n_vcs; k++) {
        if (strcmp(b->spec->vcs[k].name, name) == 0) {
            return &b->spec->vcs[k];
        }
    }
    dls_vc_spec *vc = &b->spec->vcs[b->spec->n_vcs++];
    snprintf(vc->name, sizeof vc->name, "%s", name);
    return vc;
}

static dls_status build_vcs(builder *b, dls_error *err)
{
    const size_t n = b->s->list[DLS_CFG_VCS].n;
    if (n == 0) {
        return DLS_OK;
    }
    b->spec->vcs = dls_alloc_zero(n, sizeof *b->spec->vcs);
    if (!b->spec->vcs) {
        return dls_nomem(err, "virtual clusters", n * sizeof *b->spec->vcs);
    }
    for (size_t i = 0; i < n; i++) {
        const char *name = text(b, DLS_CFG_VC_NAME, i), *type = text(b, DLS_CFG_VC_GPU_TYPE, i);
        int32_t t = 0;
        if (*type) {
            for (t = b->spec->n_types - 1; t >= 0; t--) {
                if (strcasecmp(b->spec->types[t].name, type) == 0) {
                    break;
                }
            }
            if (t < 0) {
                dls_problems_add(b->problems, where(b, DLS_CFG_VC_GPU_TYPE, i),
                                 "no node of the cluster has GPUs of type '%s'", type);
            }
        } else if (b->spec->n_types > 1) {
            dls_problems_add(b->problems, b->s->list[DLS_CFG_VCS].where[i],
                             "'cluster.virtual_clusters[%zu].gpu_type' is missing: the cluster has "
                             "%d GPU types",
                             i, b->spec->n_types);
            t = -1;
        }
        if (t < 0 || !*name) {
            continue;
        }
        dls_vc_spec *vc = find_vc(b, name);
        if (vc->quota_gpus[t] > 0) {
            dls_problems_add(b->problems, b->s->list[DLS_CFG_VCS].where[i],
                             "virtual cluster '%s' has a quota for this GPU type already", name);
        }
        vc->quota_gpus[t] = (int32_t)dls_settings_get(b->s, DLS_CFG_VC_GPUS, i)->i;
    }
    return DLS_OK;
}

/* No field is missing or wrong: what the spec then violates is news. */
static bool whole(const dls_settings *s)
{
    const int lists[] = {DLS_CFG_NODES, DLS_CFG_TYPES, DLS_CFG_VCS};
    for (size_t k = 0; k < 3; k++) {
        for (size_t i = 0; i < s->list[lists[k]].n; i++) {
            for (int f = 1; f <= dls_schema_n_fields(lists[k]); f++) {
                const dls_setting *value = dls_settings_get(s, lists[k] + f, i);
                if (value->bad || (!dls_schema[lists[k] + f].def && !value->given)) {
                    return false;
                }
            }
        }
    }
    return s->list[DLS_CFG_NODES].n > 0;
}

dls_status dls_config_build_cluster(dls_cluster_spec *spec, const dls_settings *settings,
                                    const char *file, dls_problems *problems, dls_error *err)
{
    builder b = {spec, settings, problems};
    const size_t before = problems->n;
    spec->rack_uplink_bps = settings->value[DLS_CFG_RACK_UPLINK].f;
    spec->core_bps = settings->value[DLS_CFG_CORE].f;
    DLS_TRY(build_groups(&b, err));
    DLS_TRY(build_vcs(&b, err));
    for (size_t i = 0; i < settings->list[DLS_CFG_TYPES].n; i++) {
        const char *name = text(&b, DLS_CFG_TYPE_NAME, i);
        if (*name && own_type(&b, name) != (int)i) {
            dls_problems_add(problems, settings->list[DLS_CFG_TYPES].where[i],
                             "GPU type '%s' is there twice", name);
        }
    }
    dls_error bad;
    if (before == problems->n && whole(settings) && dls_cluster_spec_check(spec, &bad) != DLS_OK) {
        dls_problems_add(problems, file, "%s", bad.msg);
    }
    return DLS_OK;
}
