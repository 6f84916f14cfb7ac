/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "config/build.h"
#include "base/alloc.h"
#include "base/suggest.h"
#include "base/units.h"
#include "engine/options.h"
#include "traces/assign.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

static dls_status build_trace(const dls_builder *b, dls_error *err)
{
    dls_config *c = b->config;
    const dls_setting *v = b->s->value;
    DLS_TRY(dls_build_path(b, DLS_CFG_TRACE_PATH, &c->trace_path, err));
    DLS_TRY(dls_build_path(b, DLS_CFG_TRACE_ASSIGN, &c->trace_assign, err));
    DLS_TRY(dls_build_copy(b, DLS_CFG_TRACE_FORMAT, &c->trace_format, err));
    c->trace_options = (dls_trace_options){
        .keep_zero_duration = strcmp(v[DLS_CFG_TRACE_ZERO].s, "keep") == 0,
        .drop_zero_duration = strcmp(v[DLS_CFG_TRACE_ZERO].s, "drop") == 0,
        .allow_duplicate_ids = v[DLS_CFG_TRACE_DUPLICATES].b,
        .philly_span = v[DLS_CFG_TRACE_SPAN].b,
        .swf_processor_is_gpu = v[DLS_CFG_TRACE_SWF].b,
        .max_jobs = v[DLS_CFG_TRACE_MAX_JOBS].i,
    };
    const char *names[64] = {"auto"};
    size_t n = 1;
    for (const dls_trace_format *const *f = dls_trace_formats(); *f && n < 63; f++) {
        names[n++] = (*f)->name;
    }
    for (size_t i = 0; i < n; i++) {
        if (strcmp(names[i], c->trace_format) == 0) {
            return DLS_OK;
        }
    }
    const char *near = dls_suggest(c->trace_format, names);
    dls_problems_add(b->problems, dls_build_where(b, DLS_CFG_TRACE_FORMAT),
                     "unknown trace format '%s'%s%s%s ('dlsim list formats' shows all)",
                     c->trace_format, near ? " (did you mean '" : "", near ? near : "",
                     near ? "'?)" : "");
    return DLS_OK;
}

/* ---- options of a policy -----------------------------------------------------------------------
 */

static void unknown_option(const dls_builder *b, const dls_extra *e, const char *policy,
                           const dls_option *options)
{
    const char *names[DLS_CFG_COUNT + 130];
    size_t n = 0;
    char path[128];
    for (size_t i = 0; i < dls_options_count(options) && n < 128; i++) {
        names[n++] = options[i].name;
    }
    for (int key = e->group + 1; key < DLS_CFG_COUNT; key++) {
        if (strncmp(dls_schema[key].path, dls_schema[e->group].path,
                    strlen(dls_schema[e->group].path)) == 0) {
            names[n++] = dls_schema_leaf(key);
        }
    }
    names[n] = NULL;
    const char *near = dls_suggest(e->name, names);
    snprintf(path, sizeof path, "%s.%.60s", dls_schema[e->group].path, e->name);
    const char *elsewhere = near ? NULL : dls_schema_suggest(path);
    dls_problems_add(b->problems, e->where, "unknown key '%s': %s has no such option%s%s%s", path,
                     policy, near || elsewhere ? " (did you mean '" : "",
                     near        ? near
                     : elsewhere ? elsewhere
                                 : "",
                     near || elsewhere ? "'?)" : "");
}

/* Set the values that the file or an override gives; file_too: the file's are for this policy. */
static dls_status set_options(const dls_builder *b, int group, const char *policy,
                              const dls_option *options, bool file_too, dls_option_value *values,
                              dls_error *err)
{
    for (size_t i = 0; i < b->s->n_extra; i++) {
        const dls_extra *e = &b->s->extra[i];
        if (e->group != group || (!e->override && !file_too)) {
            continue;
        }
        const dls_option *option = dls_options_find(options, e->name);
        if (!option) {
            unknown_option(b, e, policy, options);
            continue;
        }
        char *copy;
        if (option->type == DLS_OPT_PATH && *e->text) {
            DLS_TRY(dls_build_resolve(e->text, e->where, &copy, err));
        } else {
            copy = dls_strdup(e->text);
        }
        const char *text = dls_build_keep(b->config, copy, err);
        if (!text) {
            return DLS_ENOMEM;
        }
        dls_error bad;
        if (dls_option_parse(option, text, &values[option - options], &bad) != DLS_OK) {
            dls_problems_add(b->problems, e->where, "%s", bad.msg);
        }
    }
    return DLS_OK;
}

/* Options that the file gives to a policy which is not used: wrong is wrong all the same. */
static dls_status check_unused(const dls_builder *b, int group, const char *policy,
                               const dls_option *options)
{
    for (size_t i = 0; i < b->s->n_extra; i++) {
        const dls_extra *e = &b->s->extra[i];
        if (e->group != group || e->override) {
            continue;
        }
        const dls_option *option = dls_options_find(options, e->name);
        dls_option_value value;
        dls_error bad;
        if (!option) {
            unknown_option(b, e, policy, options);
        } else if (dls_option_parse(option, e->text, &value, &bad) != DLS_OK) {
            dls_problems_add(b->problems, e->where, "%s", bad.msg);
        }
    }
    return DLS_OK;
}

static dls_status build_scheduler(const dls_builder *b, const char *file_name, dls_error *err)
{
    dls_config *c = b->config;
    dls_error bad;
    if (strcmp(file_name, c->scheduler) != 0) {
        const dls_sched_ops *other;
        if (dls_registry_sched(b->registry, file_name, &other, &bad) != DLS_OK) {
            dls_problems_add(b->problems, b->file, "%s", bad.msg);
        } else {
            DLS_TRY(check_unused(b, DLS_CFG_SCHEDULER, file_name, other->options));
        }
    }
    if (dls_registry_sched(b->registry, c->scheduler, &c->sched, &bad) != DLS_OK) {
        dls_problems_add(b->problems, dls_build_where(b, DLS_CFG_SCHED_NAME), "%s", bad.msg);
        return DLS_OK;
    }
    DLS_TRY(dls_options_defaults(c->sched->options, &c->sched_values, err));
    DLS_TRY(set_options(b, DLS_CFG_SCHEDULER, c->scheduler, c->sched->options,
                        strcmp(file_name, c->scheduler) == 0, c->sched_values, err));
    if (c->sched->pass && c->discipline >= 0) {
        dls_problems_add(b->problems, dls_build_where(b, DLS_CFG_DISCIPLINE),
                         "scheduler '%s' takes jobs in its own way: 'scheduler.discipline' must be "
                         "\"default\"",
                         c->scheduler);
    }
    return DLS_OK;
}

static dls_status build_placement(const dls_builder *b, const char *file_name, dls_error *err)
{
    dls_config *c = b->config;
    dls_error bad;
    if (strcmp(file_name, c->placement) != 0) {
        const dls_placement_ops *other;
        if (dls_registry_placement(b->registry, file_name, &other, &bad) != DLS_OK) {
            dls_problems_add(b->problems, b->file, "%s", bad.msg);
        } else {
            DLS_TRY(check_unused(b, DLS_CFG_PLACEMENT, file_name, other->options));
        }
    }
    if (dls_registry_placement(b->registry, c->placement, &c->place, &bad) != DLS_OK) {
        dls_problems_add(b->problems, dls_build_where(b, DLS_CFG_PLACEMENT_NAME), "%s", bad.msg);
        return DLS_OK;
    }
    DLS_TRY(dls_options_defaults(c->place->options, &c->placement_values, err));
    return set_options(b, DLS_CFG_PLACEMENT, c->placement, c->place->options,
                       strcmp(file_name, c->placement) == 0, c->placement_values, err);
}

/* ---- the imitated simulator --------------------------------------------------------------------
 */

/* It knows switches x nodes x GPUs, all alike. */
static bool uniform_cluster(const dls_builder *b, dls_tiresias_cluster *out)
{
    const dls_cluster_spec *spec = &b->config->cluster;
    const dls_node_group *g = spec->groups;
    if (spec->n_groups == 0) {
        return false;
    }
    const int32_t per_switch = g->nodes_per_rack > 0 ? g->nodes_per_rack : g->nodes;
    const bool whole = fabs(g->cpus_per_node - floor(g->cpus_per_node)) <= 0 &&
                       fabs(g->mem_gib_per_node - floor(g->mem_gib_per_node)) <= 0;
    if (spec->n_groups != 1 || spec->n_vcs > 0 || per_switch < 1 || g->nodes % per_switch != 0 ||
        !whole) {
        dls_problems_add(b->problems, b->s->list[DLS_CFG_NODES].where[0],
                         "run.compat = \"tiresias\" needs one group of equal nodes, racks that are "
                         "all full, whole CPUs and GiB, and no virtual clusters");
        return false;
    }
    const dls_tiresias_cluster def = DLS_TIRESIAS_CLUSTER_DEFAULT;
    *out = (dls_tiresias_cluster){
        .switches = g->nodes / per_switch,
        .nodes_per_switch = per_switch,
        .gpus_per_node = g->gpus_per_node,
        .cpus_per_node = g->cpus_per_node > 0 ? (int32_t)g->cpus_per_node : def.cpus_per_node,
        .mem_gb_per_node =
            g->mem_gib_per_node > 0 ? (int32_t)g->mem_gib_per_node : def.mem_gb_per_node,
    };
    return true;
}

/* Keys that mean nothing there and would be ignored. */
static void refuse_in_compat(const dls_builder *b)
{
    const dls_setting *v = b->s->value;
    if (v[DLS_CFG_RESTORE].given && v[DLS_CFG_RESTORE].f > 0) {
        dls_problems_add(b->problems, dls_build_where(b, DLS_CFG_RESTORE),
                         "run.compat = \"tiresias\" knows no restore cost: leave "
                         "'scheduler.restore_cost' out or set it to 0");
    }
    if (b->config->discipline >= 0) {
        dls_problems_add(b->problems, dls_build_where(b, DLS_CFG_DISCIPLINE),
                         "run.compat = \"tiresias\" knows no 'scheduler.discipline'");
    }
    if (strcmp(v[DLS_CFG_PERF_MODEL].s, "trace") != 0 || b->config->predictions.source ||
        isfinite(b->config->failures.node_mtbf_s) || isfinite(b->config->failures.gpu_mtbf_s) ||
        b->config->failure_trace) {
        dls_problems_add(b->problems, b->file,
                         "run.compat = \"tiresias\" knows no performance model but the trace's, no "
                         "predictor and no failures");
    }
    if (b->config->until_us != DLS_NEVER) {
        dls_problems_add(b->problems, dls_build_where(b, DLS_CFG_UNTIL),
                         "run.compat = \"tiresias\" always runs to the end: no 'run.until'");
    }
    for (size_t i = 0; i < b->s->n_extra; i++) {
        dls_problems_add(b->problems, b->s->extra[i].where,
                         "run.compat = \"tiresias\" has no options of policies: '%s.%s'",
                         dls_schema[b->s->extra[i].group].path, b->s->extra[i].name);
    }
}

static dls_status build_compat(const dls_builder *b, dls_error *err)
{
    dls_config *c = b->config;
    dls_tiresias_params *p = &c->compat_params;
    char *samples;
    c->restore_us = 0;
    dls_tiresias_params_init(p);
    p->schedule = c->scheduler;
    p->scheme = c->placement;
    p->python3 = strcmp(b->s->value[DLS_CFG_ARITHMETIC].s, "python3") == 0;
    DLS_TRY(dls_build_path(b, DLS_CFG_SAMPLES, &samples, err));
    const char *path = dls_build_keep(c, samples, err);
    if (!path) {
        return DLS_ENOMEM;
    }
    if (*path) {
        p->samples_path = path;
    }
    refuse_in_compat(b);
    dls_error bad;
    if (b->problems->n == 0 && uniform_cluster(b, &p->cluster) &&
        dls_tiresias_check(p, &bad) != DLS_OK) {
        dls_problems_add(b->problems, b->file, "%s", bad.msg);
    }
    return DLS_OK;
}

static int discipline(const char *name)
{
    static const char *const names[] = {
        [DLS_STRICT] = "strict", [DLS_FIT] = "fit", [DLS_EASY] = "easy", [DLS_PREEMPT] = "preempt"};
    for (int i = 0; i < 4; i++) {
        if (strcmp(names[i], name) == 0) {
            return i;
        }
    }
    return -1;
}

dls_status dls_config_build(dls_config *config, const dls_settings *settings,
                            const dls_config_request *request, const char *file_scheduler,
                            const char *file_placement, dls_problems *problems, dls_error *err)
{
    const dls_setting *v = settings->value;
    const char *file = request->path ? request->path : "";
    const dls_builder b = {config, settings, request->registry, file, problems};
    DLS_TRY(dls_build_copy(&b, DLS_CFG_NAME, &config->name, err));
    DLS_TRY(dls_build_copy(&b, DLS_CFG_SCHED_NAME, &config->scheduler, err));
    DLS_TRY(dls_build_copy(&b, DLS_CFG_PLACEMENT_NAME, &config->placement, err));
    DLS_TRY(dls_build_copy(&b, DLS_CFG_RESULTS_PATH, &config->results_path, err));
    DLS_TRY(build_trace(&b, err));
    DLS_TRY(dls_config_build_cluster(&config->cluster, settings, file, problems, err));
    config->discipline = discipline(v[DLS_CFG_DISCIPLINE].s);
    config->restore_us = dls_units_us(v[DLS_CFG_RESTORE].f);
    config->estimates_exact = strcmp(v[DLS_CFG_ESTIMATES].s, "exact") == 0;
    config->estimates_advised = strcmp(v[DLS_CFG_ESTIMATES].s, "predictor") == 0;
    config->seed = (uint64_t)v[DLS_CFG_SEED].i;
    config->until_us = dls_units_us(v[DLS_CFG_UNTIL].f);
    config->audit = v[DLS_CFG_AUDIT].b;
    config->compat = strcmp(v[DLS_CFG_COMPAT].s, "tiresias") == 0;
    config->want_allocs = v[DLS_CFG_ALLOCATIONS].b;
    config->want_series = v[DLS_CFG_SERIES].b;
    config->warmup_us = dls_units_us(v[DLS_CFG_WARMUP].f);
    config->cooldown_us = dls_units_us(v[DLS_CFG_COOLDOWN].f);
    DLS_TRY(dls_build_world(&b, err));
    DLS_TRY(dls_build_predictions(&b, err));
    DLS_TRY(dls_build_failures(&b, err));
    if (config->compat) {
        return build_compat(&b, err);
    }
    DLS_TRY(build_scheduler(&b, file_scheduler, err));
    return build_placement(&b, file_placement, err);
}
