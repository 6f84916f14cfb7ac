/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Builds a configuration from settings: chooses trace, scheduler and placement, sets and checks the
 * policies' options.
 */
#include "config/build.h"
#include "base/alloc.h"
#include "base/suggest.h"
#include "base/units.h"
#include "engine/options.h"
#include "traces/assign.h"

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
    config->estimates_predicted = strcmp(v[DLS_CFG_ESTIMATES].s, "predictor") == 0;
    config->seed = (uint64_t)v[DLS_CFG_SEED].i;
    config->until_us = dls_units_us(v[DLS_CFG_UNTIL].f);
    config->audit = v[DLS_CFG_AUDIT].b;
    config->want_allocs = v[DLS_CFG_ALLOCATIONS].b;
    config->want_series = v[DLS_CFG_SERIES].b;
    config->warmup_us = dls_units_us(v[DLS_CFG_WARMUP].f);
    config->cooldown_us = dls_units_us(v[DLS_CFG_COOLDOWN].f);
    DLS_TRY(dls_build_world(&b, err));
    DLS_TRY(dls_build_predictions(&b, err));
    DLS_TRY(dls_build_failures(&b, err));
    DLS_TRY(build_scheduler(&b, file_scheduler, err));
    return build_placement(&b, file_placement, err);
}
