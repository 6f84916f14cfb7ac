/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Registers built-in policies and loads plug-ins with dlopen; checks ABI, names, options and
 * mandatory callbacks before any is used.
 */
#include "config/registry.h"

#include "base/alloc.h"
#include "base/in_python.h"
#include "base/suggest.h"
#include "config/schema.h"

#include <ctype.h>
#include <dlfcn.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

/* A table of policies of one kind: the sched and the placement table are alike but for the type. */
typedef struct policy_list {
    const void **ops;  /* [n + 1], NULL at the end */
    const char **name; /* [n + 1] */
    int32_t *plugin;   /* [n + 1] index of the plug-in, -1 built in */
    size_t n, ops_cap, name_cap, plugin_cap;
} policy_list;

typedef const char *(*origin_fn)(const void *ops, size_t file);

typedef struct plugin {
    void *handle;
    char *path;
    origin_fn origin; /* NULL: all of its policies are in it */
} plugin;

struct dls_registry {
    policy_list scheds, placements;
    plugin *plugins;
    size_t n_plugins, plugins_cap;
    dls_policies_fn told;
    void *told_user;
};

void dls_registry_watch(dls_registry *reg, dls_policies_fn told, void *user)
{
    reg->told = told;
    reg->told_user = user;
}

dls_policies_fn dls_registry_watcher(const dls_registry *reg, void **user)
{
    *user = reg->told_user;
    return reg->told;
}

static dls_status list_add(policy_list *list, const void *ops, const char *name, int32_t plugin_idx,
                           dls_error *err)
{
    DLS_TRY(dls_grow(&list->ops, &list->ops_cap, list->n + 2, sizeof *list->ops, err));
    DLS_TRY(dls_grow(&list->name, &list->name_cap, list->n + 2, sizeof *list->name, err));
    DLS_TRY(dls_grow(&list->plugin, &list->plugin_cap, list->n + 2, sizeof *list->plugin, err));
    if (ops) {
        list->ops[list->n] = ops;
        list->name[list->n] = name;
        list->plugin[list->n++] = plugin_idx;
    }
    list->ops[list->n] = NULL;
    list->name[list->n] = NULL;
    return DLS_OK;
}

static void list_cut(policy_list *list, size_t n)
{
    list->n = n;
    list->ops[n] = NULL;
    list->name[n] = NULL;
}

static const void *list_find(const policy_list *list, const char *name)
{
    return list->ops[dls_named(list->name, list->n, sizeof *list->name, name)];
}

dls_status dls_registry_create(dls_registry **out, dls_error *err)
{
    DLS_HOLD(dls_registry_destroy) dls_registry *reg = NULL;
    DLS_TRY(dls_alloc_array(&reg, 1, sizeof *reg, "registry", err));
    DLS_TRY(list_add(&reg->scheds, NULL, NULL, -1, err));
    DLS_TRY(list_add(&reg->placements, NULL, NULL, -1, err));
    for (const dls_sched_ops *const *s = dls_scheds(); *s; s++) {
        DLS_TRY(list_add(&reg->scheds, *s, (*s)->name, -1, err));
    }
    for (const dls_placement_ops *const *p = dls_placements(); *p; p++) {
        DLS_TRY(list_add(&reg->placements, *p, (*p)->name, -1, err));
    }
    *out = dls_take(&reg);
    return DLS_OK;
}

void dls_registry_destroy(dls_registry *reg)
{
    if (!reg) {
        return;
    }
    for (size_t i = 0; i < reg->n_plugins; i++) {
        dlclose(reg->plugins[i].handle);
        dls_free(reg->plugins[i].path);
    }
    DLS_FREE_ALL(reg->scheds.ops, reg->scheds.name, reg->scheds.plugin, reg->placements.ops,
                 reg->placements.name, reg->placements.plugin, reg->plugins, reg);
}

/* The checks that both kinds of policy share. */
static dls_status check_policy(const char *path, const policy_list *list, const char *kind,
                               uint32_t abi, const char *name, const char *summary,
                               const dls_option *options, dls_error *err)
{
    if (abi != DLS_POLICY_ABI) {
        return dls_fail(err, DLS_EINPUT, path, "a %s policy is made for policy ABI %u, this is %u",
                        kind, abi, DLS_POLICY_ABI);
    }
    if (!name || !islower((unsigned char)*name) ||
        strspn(name, "abcdefghijklmnopqrstuvwxyz0123456789-_") != strlen(name) || !summary) {
        return dls_fail(err, DLS_EINPUT, path,
                        "a %s policy needs a summary and a name of small letters, digits, '-', '_'",
                        kind);
    }
    if (list_find(list, name)) {
        return dls_fail(err, DLS_EINPUT, path, "there is already a %s policy called '%s'", kind,
                        name);
    }
    dls_error bad;
    if (dls_options_check(options, &bad) != DLS_OK) {
        return dls_fail(err, DLS_EINPUT, path, "%s policy '%s': %s", kind, name, bad.msg);
    }
    for (int key = 0; key < DLS_CFG_COUNT; key++) {
        if ((dls_schema_in_group(key, DLS_CFG_SCHEDULER) ||
             dls_schema_in_group(key, DLS_CFG_PLACEMENT)) &&
            dls_options_find(options, dls_schema_leaf(key))) {
            return dls_fail(err, DLS_EINPUT, path,
                            "%s policy '%s': an option cannot be called '%s'", kind, name,
                            dls_schema_leaf(key));
        }
    }
    return DLS_OK;
}

static dls_status add_scheds(dls_registry *reg, const char *path, const dls_sched_ops *const *list,
                             int32_t plugin_idx, dls_error *err)
{
    for (; list && *list; list++) {
        const dls_sched_ops *ops = *list;
        DLS_TRY(check_policy(path, &reg->scheds, "scheduling", ops->abi, ops->name, ops->summary,
                             ops->options, err));
        const char *wrong =
            !!ops->priority + !!ops->pass + !!ops->round != 1 || !ops->round != !ops->timing
                ? " needs one of 'priority', 'pass', and 'round' with 'timing'"
            : ops->share && !ops->priority ? ": 'share' goes with 'priority' only"
            : ops->priority && (ops->joins || ops->mixes) ? ": 'joins' and 'mixes' go with 'pass' and 'round' only"
            : (unsigned)ops->discipline > DLS_PREEMPT || (unsigned)ops->ageing > DLS_AGE_SERVICE
                ? " has an unknown discipline or ageing"
                : NULL;
        if (wrong) {
            return dls_fail(err, DLS_EINPUT, path, "scheduling policy '%s'%s", ops->name, wrong);
        }
        DLS_TRY(list_add(&reg->scheds, ops, ops->name, plugin_idx, err));
    }
    return DLS_OK;
}

static dls_status add_placements(dls_registry *reg, const char *path,
                                 const dls_placement_ops *const *list, int32_t plugin_idx,
                                 dls_error *err)
{
    for (; list && *list; list++) {
        const dls_placement_ops *ops = *list;
        DLS_TRY(check_policy(path, &reg->placements, "placement", ops->abi, ops->name, ops->summary,
                             ops->options, err));
        if (!ops->place) {
            return dls_fail(err, DLS_EINPUT, path, "placement policy '%s' has no 'place'",
                            ops->name);
        }
        DLS_TRY(list_add(&reg->placements, ops, ops->name, plugin_idx, err));
    }
    return DLS_OK;
}

static dls_status add_plugin(dls_registry *reg, const char *path, void *handle, dls_error *err)
{
    /* ISO C has no conversion from an object pointer to a function; POSIX has. */
    dls_plugin_entry_fn entry;
    void *symbol = dlsym(handle, "dls_plugin_entry");
    memcpy(&entry, &symbol, sizeof entry);
    if (!symbol) {
        return dls_fail(err, DLS_EINPUT, path,
                        "is not a dlsim plug-in: it does not export dls_plugin_entry");
    }
    const dls_plugin *table = entry();
    if (!table) {
        return dls_fail(err, DLS_EINPUT, path, "dls_plugin_entry returned no table");
    }
    if (table->abi != DLS_POLICY_ABI) {
        return dls_fail(err, DLS_EINPUT, path, "is made for policy ABI %u, this is %u: rebuild it",
                        table->abi, DLS_POLICY_ABI);
    }
    if ((!table->scheds || !*table->scheds) && (!table->placements || !*table->placements)) {
        return dls_fail(err, DLS_EINPUT, path, "brings no policy");
    }
    DLS_TRY(add_scheds(reg, path, table->scheds, (int32_t)reg->n_plugins, err));
    return add_placements(reg, path, table->placements, (int32_t)reg->n_plugins, err);
}

/* Whether a file in Python is one that the process has read already: `in` has the module that stands for all of them. */
static bool is_read(const char *path, dls_in_python *in)
{
    return dls_ends_with(path, ".py") && dls_is_in_python(in);
}

static bool is_loaded(const dls_registry *reg, const void *handle)
{
    size_t i = 0;
    while (i < reg->n_plugins && reg->plugins[i].handle != handle) {
        i++;
    }
    return i < reg->n_plugins;
}

dls_status dls_registry_load(dls_registry *reg, const char *path, dls_error *err)
{
    dls_in_python in;
    const bool read = is_read(path, &in);
    DLS_TRY(
        dls_grow(&reg->plugins, &reg->plugins_cap, reg->n_plugins + 1, sizeof *reg->plugins, err));
    DLS_FREED char *copy = dls_strdup(path);
    if (!copy) {
        return dls_nomem(err, "plug-in path", strlen(path));
    }
    void *handle = dlopen(read ? in.module : path, RTLD_NOW | RTLD_LOCAL);
    if (!handle) {
        const char *why = dlerror();
        return dls_fail(err, DLS_EINPUT, path, "cannot be loaded: %s%s",
                        why ? why : "no reason given",
                        strchr(path, '/') ? "" : " (a plug-in here is ./NAME.so)");
    }
    if (read && is_loaded(reg, handle)) {
        dlclose(handle);
        return DLS_OK;
    }
    const size_t n_scheds = reg->scheds.n, n_placements = reg->placements.n;
    const dls_status status = add_plugin(reg, path, handle, err);
    if (status != DLS_OK) {
        list_cut(&reg->scheds, n_scheds);
        list_cut(&reg->placements, n_placements);
        dlclose(handle);
        return status;
    }
    plugin *p = &reg->plugins[reg->n_plugins++];
    *p = (plugin){.handle = handle, .path = dls_take(&copy)};
    void *symbol = dlsym(handle, "dls_plugin_origin");
    memcpy(&p->origin, &symbol, sizeof p->origin);
    return DLS_OK;
}

dls_status dls_registry_add(dls_registry *reg, const dls_sched_ops *sched,
                            const dls_placement_ops *placement, dls_error *err)
{
    const dls_sched_ops *const scheds[] = {sched, NULL};
    const dls_placement_ops *const placements[] = {placement, NULL};
    DLS_TRY(add_scheds(reg, NULL, scheds, -1, err));
    return add_placements(reg, NULL, placements, -1, err);
}

const dls_sched_ops *const *dls_registry_scheds(const dls_registry *reg)
{
    return (const dls_sched_ops *const *)reg->scheds.ops;
}

const dls_placement_ops *const *dls_registry_placements(const dls_registry *reg)
{
    return (const dls_placement_ops *const *)reg->placements.ops;
}

/* NULL: it is built in. */
static const plugin *plugin_of(const dls_registry *reg, const void *ops)
{
    const policy_list *lists[] = {&reg->scheds, &reg->placements};
    for (size_t k = 0; k < 2; k++) {
        for (size_t i = 0; i < lists[k]->n; i++) {
            if (lists[k]->ops[i] == ops && lists[k]->plugin[i] >= 0) {
                return &reg->plugins[lists[k]->plugin[i]];
            }
        }
    }
    return NULL;
}

const char *dls_registry_origin(const dls_registry *reg, const void *ops)
{
    const plugin *p = plugin_of(reg, ops);
    const char *file = p && p->origin ? p->origin(ops, 0) : NULL;
    return file ? file : p ? p->path : "";
}

const char *dls_registry_import(const dls_registry *reg, const void *ops, size_t i)
{
    const plugin *p = plugin_of(reg, ops);
    return p && p->origin ? p->origin(ops, i + 1) : NULL;
}

bool dls_registry_built_in(const void *ops)
{
    const void *const *const lists[] = {(const void *const *)dls_scheds(), (const void *const *)dls_placements()};
    for (int k = 0; k < 2; k++) {
        for (const void *const *own = lists[k]; *own; own++) {
            if (*own == ops) {
                return true;
            }
        }
    }
    return false;
}

/* What other simulators, schedulers and papers call a policy that is here, or NULL. */
static const char *elsewhere(const policy_list *list, const char *name)
{
    static const char *const called[] = {
        "fifo: fcfs first-come first-in-first-out",
        "easy: easy-backfill easy-backfilling easy-bf backfill backfilling",
        "srtf: srpt shortest shortest-first shortest-remaining-time-first",
        "sjf-duration: spt shortest-job-first",
        "dlas-gpu: las tiresias tiresias-l least-attained-service",
        "gittins: tiresias-g",
        "dlas: mlfq",
        "gavel-las: max-min-fairness water-filling",
        "gavel-ftf: finish-time-fairness themis",
        "gavel-makespan: min-total-duration",
        "gavel-throughput: max-sum-throughput",
        "gavel-isolated: isolated proportional",
        "pollux: adaptdl",
        "gandiva: time-slicing timeslice",
        "muri-l: muri",
        "qssf: helios",
        "consolidated: packed pack best-fit bestfit binpack mostallocated",
        "first-fit: firstfit contiguous",
        "spread: worst-fit worstfit balance leastallocated",
        "driple: inspector",
    };
    char word[66];
    const int n = snprintf(word, sizeof word, " %s", name);
    for (char *c = word; *c; c++) {
        *c = *c == '_' ? '-' : (char)tolower((unsigned char)*c);
    }
    for (size_t i = 0; n > 1 && n < (int)sizeof word && i < sizeof called / sizeof *called; i++) {
        const char *at = strstr(called[i], word), *colon = strchr(called[i], ':');
        for (size_t j = 0; at && (at[n] == ' ' || !at[n]) && j < list->n; j++) {
            if (strncmp(list->name[j], called[i], (size_t)(colon - called[i])) == 0 &&
                !list->name[j][colon - called[i]]) {
                return list->name[j];
            }
        }
    }
    return NULL;
}

static dls_status unknown(const policy_list *list, const char *kind, const char *name,
                          const char *plural, dls_error *err)
{
    const char *known = elsewhere(list, name),
               *near = known ? known : dls_suggest(name, list->name);
    return dls_fail(err, DLS_ECONFIG, NULL, "unknown %s '%s'%s ('dlsim list %s' shows all)", kind,
                    name, DLS_DID_YOU_MEAN(near), plural);
}

dls_status dls_registry_sched(const dls_registry *reg, const char *name, const dls_sched_ops **out,
                              dls_error *err)
{
    const void *ops = list_find(&reg->scheds, name);
    if (!ops) {
        return unknown(&reg->scheds, "scheduler", name, "schedulers", err);
    }
    *out = ops;
    return DLS_OK;
}

dls_status dls_registry_placement(const dls_registry *reg, const char *name,
                                  const dls_placement_ops **out, dls_error *err)
{
    const void *ops = list_find(&reg->placements, name);
    if (!ops) {
        return unknown(&reg->placements, "placement", name, "placements", err);
    }
    *out = ops;
    return DLS_OK;
}
