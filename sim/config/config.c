/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Loads a configuration in order: defaults, file, overrides, then the checks; every problem is
 * collected before it fails.
 */
#include "config/config.h"

#include "base/alloc.h"
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
    dls_free(config->name);
    dls_free(config->trace_path);
    dls_free(config->trace_format);
    dls_free(config->trace_assign);
    dls_free(config->scheduler);
    dls_free(config->placement);
    dls_free(config->sched_values);
    dls_free(config->placement_values);
    dls_free(config->results_path);
    dls_free(config->text);
    for (size_t i = 0; i < config->n_files; i++) {
        dls_free(config->file[i].path);
    }
    dls_free(config->file);
    for (size_t i = 0; i < config->n_kept; i++) {
        dls_free(config->kept[i]);
    }
    dls_free(config->kept);
    dls_free(config);
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
    char key[256];
    const size_t len = (size_t)(equals - o->text);
    if (len >= sizeof key) {
        dls_problems_add(problems, o->where, "'%.60s...' is no key", o->text);
        return DLS_OK;
    }
    memcpy(key, o->text, len);
    key[len] = '\0';
    return dls_settings_override(s, key, equals + 1, o->where, problems, err);
}

/* What the steps before dls_config_build own. */
typedef struct loading {
    dls_settings settings;
    char *text, *folder, *file_scheduler, *file_placement;
} loading;

static dls_status load(loading *l, const dls_config_request *request, dls_problems *problems,
                       dls_config *config, dls_error *err)
{
    const size_t before = problems->n;
    DLS_TRY(dls_settings_init(&l->settings, err));
    DLS_TRY(dls_config_folder(request->path, &l->folder, err));
    if (request->path || request->content) {
        const char *name = request->path ? request->path : "configuration";
        size_t len = request->content ? strlen(request->content) : 0;
        if (!request->content) {
            DLS_TRY(dls_config_read_text(request->path, &l->text, &len, err));
        }
        DLS_TRY(dls_config_parse(&l->settings, request->content ? request->content : l->text, len,
                                 name, l->folder, problems, err));
    } else {
        dls_problems_add(problems, "", "a configuration file must describe the cluster");
    }
    l->file_scheduler = dls_strdup(l->settings.value[DLS_CFG_SCHED_NAME].s);
    l->file_placement = dls_strdup(l->settings.value[DLS_CFG_PLACEMENT_NAME].s);
    if (!l->file_scheduler || !l->file_placement) {
        return dls_nomem(err, "configuration", 0);
    }
    for (size_t i = 0; i < request->n_overrides; i++) {
        DLS_TRY(apply_override(&l->settings, &request->overrides[i], problems, err));
    }
    DLS_TRY(dls_config_build(config, &l->settings, request, l->file_scheduler, l->file_placement,
                             problems, err));
    if (problems->n == before) {
        DLS_TRY(dls_config_emit(config, &l->settings, err));
    }
    return DLS_OK;
}

dls_status dls_config_load(const dls_config_request *request, dls_problems *problems,
                           dls_config **out, dls_error *err)
{
    const size_t before = problems->n;
    loading l = {0};
    dls_config *config = dls_alloc_zero(1, sizeof *config);
    if (!config) {
        return dls_nomem(err, "configuration", sizeof *config);
    }
    dls_status status = load(&l, request, problems, config, err);
    dls_settings_fini(&l.settings);
    dls_free(l.text);
    dls_free(l.folder);
    dls_free(l.file_scheduler);
    dls_free(l.file_placement);
    if (status == DLS_OK && problems->nomem) {
        status = dls_nomem(err, "list of problems", 0);
    }
    if (status == DLS_OK && problems->n > before) {
        const size_t n = problems->n - before;
        status = dls_fail(err, DLS_ECONFIG, request->path, "%zu problem%s", n, n == 1 ? "" : "s");
    }
    if (status != DLS_OK) {
        dls_config_destroy(config);
        return status;
    }
    *out = config;
    return DLS_OK;
}
