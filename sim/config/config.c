/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Loads a configuration in order: defaults, file, overrides, then the checks; every problem is
 * collected before it fails.
 */
#include "config/config.h"

#include "base/file.h"
#include "base/own.h"
#include "config/load.h"
#include "config/tree.h"

#include <stdio.h>
#include <string.h>

void dls_config_destroy(dls_config *config)
{
    if (!config) {
        return;
    }
    dls_cluster_spec_fini(&config->cluster);
    dls_free(config->services.service);
    dls_settings_fini(&config->settings);
    dls_memo_destroy(config->own_memo);
    DLS_FREE_ALL(config->sched_values, config->placement_values, config->text, config->file,
                 config);
}

static dls_status apply_override(dls_settings *s, const dls_override *o, dls_problems *problems,
                                 dls_error *err)
{
    if (o->key) {
        return dls_settings_override(s, o->key, o->text, o->where, problems, err);
    }
    const char *equals = strchr(o->text, '=');
    if (!equals || equals == o->text) {
        dls_problems_add(problems, o->where, "'%s' is not key=value", o->text);
        return DLS_OK;
    }
    /* A text may stand in quotes, as in a file. */
    const char *text = equals + 1;
    const size_t len = strlen(text);
    const bool quoted = len >= 2 && text[0] == '"' && text[len - 1] == '"';
    const char *key = dls_settings_keep(s, o->text, (size_t)(equals - o->text), err);
    const char *value = dls_settings_keep(s, text + quoted, len - 2 * quoted, err);
    return key && value ? dls_settings_override(s, key, value, o->where, problems, err) : DLS_ENOMEM;
}

static dls_status read_file(const dls_config_request *request, dls_settings *s,
                            dls_problems *problems, dls_error *err)
{
    DLS_FREED char *text = NULL, *folder = NULL;
    size_t len = request->content ? strlen(request->content) : 0;
    DLS_TRY(dls_config_folder(request->path, &folder, err));
    if (!request->content) {
        DLS_TRY(dls_config_read_text(request->path, &text, &len, err));
    }
    return dls_config_parse(s, request->content ? request->content : text, len,
                            request->path ? request->path : "configuration", folder, problems, err);
}

/* "{seed}" in the trace's name is the run's seed: a study has a trace of its own for each. */
static dls_status name_trace(dls_settings *s, dls_error *err)
{
    static const char mark[] = "{seed}";
    const char **path = &s->value[DLS_CFG_TRACE_PATH].v.s, *at = strstr(*path, mark);
    char text[4096 + 32];
    if (at) {
        const int n = snprintf(text, sizeof text, "%.*s%lld%s", (int)(at - *path), *path,
                               (long long)s->value[DLS_CFG_SEED].v.i, at + sizeof mark - 1);
        *path = dls_settings_keep(s, text, (size_t)n, err);
    }
    return *path ? DLS_OK : DLS_ENOMEM;
}

bool dls_config_reads(const dls_config *config, const char *path)
{
    bool reads = dls_file_same(path, config->path);
    for (size_t i = 0; i < config->n_files; i++) {
        reads |= dls_file_same(path, config->file[i].path);
    }
    return reads;
}

/* Results are not written over what they follow from. */
static void check_results(const dls_config *config, dls_problems *problems)
{
    const char *to = config->results_path;
    if (dls_config_reads(config, to)) {
        dls_problems_add(problems, "results.path", "%s is also an input: it would be replaced", to);
    }
}

static dls_status load(const dls_config_request *request, dls_problems *problems,
                       dls_config *config, dls_error *err)
{
    const size_t before = problems->n;
    dls_settings *s = &config->settings;
    DLS_TRY(dls_settings_init(s, err));
    const char *path = request->path ? request->path : "";
    config->path = dls_settings_keep(s, path, strlen(path), err);
    if (!config->path) {
        return DLS_ENOMEM;
    }
    if (request->path || request->content) {
        DLS_TRY(read_file(request, s, problems, err));
    } else {
        dls_problems_add(problems, "", "a configuration file must describe the cluster");
    }
    const char *file_scheduler = s->value[DLS_CFG_SCHED_NAME].v.s;
    const char *file_placement = s->value[DLS_CFG_PLACEMENT_NAME].v.s;
    const bool good = problems->n == before;
    for (size_t i = 0; i < request->n_overrides; i++) {
        DLS_TRY(apply_override(s, &request->overrides[i], problems, err));
    }
    DLS_TRY(name_trace(s, err));
    if (good) { /* then what is missing is of elements that were added */
        dls_settings_check_required(s, "--set", problems);
    }
    const dls_builder b = {config, request->registry, path, problems};
    DLS_TRY(dls_config_build(&b, file_scheduler, file_placement, err));
    if (problems->n == before) {
        DLS_TRY(dls_config_emit(config, err));
        check_results(config, problems);
    }
    return DLS_OK;
}

dls_status dls_config_load(const dls_config_request *request, dls_problems *problems,
                           dls_config **out, dls_error *err)
{
    const size_t before = problems->n;
    DLS_HOLD(dls_config_destroy) dls_config *config = NULL;
    DLS_TRY(dls_alloc_array(&config, 1, sizeof *config, "configuration", err));
    DLS_TRY(load(request, problems, config, err));
    DLS_TRY(dls_problems_since(problems, before, request->path, err));
    config->own_memo = request->memo ? NULL : dls_memo_create();
    config->memo = request->memo ? request->memo : config->own_memo;
    config->sim.policies = dls_registry_watcher(request->registry, &config->sim.policies_user);
    *out = dls_take(&config);
    return DLS_OK;
}
