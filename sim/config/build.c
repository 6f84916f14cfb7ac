/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Settings to a configuration: every member by the schema, then what is more than a value.
 */
#include "base/suggest.h"
#include "config/load.h"

#include <string.h>
#include <strings.h>

/* Where a key's value came from; the file as a whole for a default. */
static const char *where(const dls_builder *b, int key)
{
    const char *place = b->config->settings.value[key].where;
    return place ? place : b->file;
}

/* The key's text is one of the names; else that is a problem. */
static bool known(const dls_builder *b, int key, const char *what, const char *plural,
                  const char *const *names)
{
    const char *text = b->config->settings.value[key].v.s;
    if (dls_named(names, SIZE_MAX, sizeof *names, text) < SIZE_MAX) {
        return true;
    }
    dls_problems_add(b->problems, where(b, key), "unknown %s '%s'%s ('dlsim list %s' shows all)",
                     what, text, DLS_DID_YOU_MEAN(dls_suggest(text, names)), plural);
    return false;
}

/* Length of the name in an entry "NAME=VALUE" or "NAME: VALUE". */
static size_t name_len(const char *entry)
{
    size_t n = strcspn(entry, "=:;");
    while (n > 0 && entry[n - 1] == ' ') {
        n--;
    }
    return n;
}

/* In a list of entries with these marks between them every name is there once: which of two values
 * would count? O(n^2). */
static void check_names(const dls_builder *b, int key, const char *between)
{
    const char *text = b->config->settings.value[key].v.s;
    for (const char *at = text; *(at += strspn(at, "; ")); at += strcspn(at, between)) {
        for (const char *was = text; (was += strspn(was, "; ")) < at; was += strcspn(was, between)) {
            const size_t n = name_len(at);
            if (n > 0 && n == name_len(was) && strncasecmp(was, at, n) == 0) {
                dls_problems_add(b->problems, where(b, key), "'%s': %.*s is there twice",
                                 dls_schema[key].o.name, (int)(n < 80 ? n : 80), at);
                return;
            }
        }
    }
}

static void build_trace(const dls_builder *b)
{
    dls_config *c = b->config;
    const char *zero = c->settings.value[DLS_CFG_TRACE_ZERO].v.s, *names[64] = {"auto"};
    c->trace_options.keep_zero_duration = strcmp(zero, "keep") == 0;
    c->trace_options.drop_zero_duration = strcmp(zero, "drop") == 0;
    for (size_t i = 0; i < 62 && dls_trace_formats()[i]; i++) {
        names[i + 1] = dls_trace_formats()[i]->name;
    }
    (void)known(b, DLS_CFG_TRACE_FORMAT, "trace format", "formats", names);
}

static void build_world(const dls_builder *b)
{
    dls_world_params *w = &b->config->world;
    const bool table = strcmp(w->model, "table") == 0;
    w->cluster = &b->config->cluster;
    w->seed = b->config->sim.seed;
    if (w->speeds && strcmp(w->model, "speeds") != 0) {
        dls_problems_add(b->problems, where(b, DLS_CFG_PERF_SPEEDS),
                         "'perf.speeds' is only for perf.model = \"speeds\"");
    }
    if (table != (w->table_path != NULL)) {
        dls_problems_add(b->problems, where(b, table ? DLS_CFG_PERF_MODEL : DLS_CFG_PERF_TABLE),
                         table ? "perf.model = \"table\" needs 'perf.table'"
                               : "'perf.table' is only for perf.model = \"table\"");
    }
    if ((w->variability_path != NULL) != (w->variability_classes != NULL)) {
        dls_problems_add(
            b->problems,
            where(b, w->variability_path ? DLS_CFG_PERF_VARIABILITY : DLS_CFG_PERF_CLASSES),
            "'perf.variability' and 'perf.variability_classes' go together");
    }
    if (w->variability_path && w->stages_path) {
        dls_problems_add(b->problems, where(b, DLS_CFG_PERF_VARIABILITY),
                         "'perf.variability' is not for 'perf.stages': jobs that go in step");
    }
}

/* What the file does not say is the preset's. */
static void build_failures(const dls_builder *b)
{
    dls_failure_params *f = &b->config->failures;
    const dls_setting *values = b->config->settings.value;
    const dls_failure_preset *p = dls_failure_preset_of(values[DLS_CFG_FAIL_PRESET].v.s);
    const int64_t nodes = dls_cluster_nodes(&b->config->cluster);
    if (f->spares > 0 && f->spares >= nodes) {
        dls_problems_add(b->problems, where(b, DLS_CFG_FAIL_SPARES),
                         "'failures.spares' leaves no node of %lld", (long long)nodes);
    }
    if (!p) {
        return;
    }
    if (!values[DLS_CFG_FAIL_NODE].given && p->node_mtbf_s > 0) {
        f->node_mtbf_s = p->node_mtbf_s;
    }
    if (!values[DLS_CFG_FAIL_GPU].given && p->gpu_mtbf_s > 0) {
        f->gpu_mtbf_s = p->gpu_mtbf_s;
    }
    if (!values[DLS_CFG_FAIL_JOB].given && p->job_mtbf_s > 0) {
        f->job_mtbf_s = p->job_mtbf_s;
    }
    if (!values[DLS_CFG_FAIL_JOB_NODES].given && p->job_nodes > 0) {
        f->job_nodes = p->job_nodes;
    }
}

static void build_energy(const dls_builder *b)
{
    dls_config *c = b->config;
    if (c->energy.on && !c->sim.want_allocs) {
        dls_problems_add(b->problems, where(b, DLS_CFG_ENERGY_ACCOUNT),
                         "'energy.account' needs 'results.allocations'");
    }
    if (c->energy.limit_w > 0 && strcmp(c->world.model, "speeds") != 0) {
        dls_problems_add(b->problems, where(b, DLS_CFG_ENERGY_LIMIT),
                         "'energy.limit' makes jobs slower and so needs perf.model = \"speeds\"");
    }
    if (c->energy.limit_w > 0 && c->energy.profiles) { /* time would follow the one, energy the other */
        dls_problems_add(b->problems, where(b, DLS_CFG_ENERGY_LIMIT),
                         "'energy.limit' makes jobs slower by 'energy.utilisation' and so does not go with 'energy.profiles'");
    }
    for (int32_t t = 0; t < c->cluster.n_types && (c->energy.on || c->energy.limit_w > 0); t++) {
        dls_gpu_power gpu;
        dls_error bad;
        const char *type = c->cluster.types[t].name;
        if (dls_gpu_power_of(c->energy.gpus, type, &gpu, &bad) != DLS_OK) {
            dls_problems_add(b->problems, where(b, DLS_CFG_ENERGY_GPUS), "%s", bad.msg);
        } else if (c->energy.limit_w > 0 && c->energy.limit_w <= gpu.static_w) {
            dls_problems_add(b->problems, where(b, DLS_CFG_ENERGY_LIMIT),
                             "'energy.limit' is %g W: a %s draws %g W at rest", c->energy.limit_w, type,
                             gpu.static_w);
        }
    }
    c->world.power = &c->energy;
}

static void build_predictions(const dls_builder *b)
{
    dls_config *c = b->config;
    dls_prediction_params *p = &c->predictions;
    const char *estimates = c->settings.value[DLS_CFG_ESTIMATES].v.s, *names[64] = {"none"};
    c->sim.estimates_exact = strcmp(estimates, "exact") == 0;
    c->estimates_trees = strcmp(estimates, "history-trees") == 0;
    c->estimates_learned = strcmp(estimates, "history") == 0 || c->estimates_trees;
    c->sim.estimates_predicted = strcmp(estimates, "predictor") == 0 || c->estimates_learned;
    p->cluster = &c->cluster;
    p->seed = c->sim.seed;
    p->exchange = c->world.exchange;
    p->allreduce = c->world.allreduce;
    p->stand_ins = c->world.stand_ins;
    p->numeric = c->world.numeric;
    p->host = c->world.host;
    p->fabric = c->world.fabric;
    p->hardware_dir = c->world.hardware_dir;
    const char *replay = c->settings.value[DLS_CFG_PRED_REPLAY].v.s;
    const char *file = dls_settings_file(DLS_CFG_PRED_REPLAY, replay);
    if (file) {
        *(replay[2] == 'c' ? &p->record_path : &p->replay_path) = file;
    } else if (*replay) {
        dls_problems_add(b->problems, where(b, DLS_CFG_PRED_REPLAY),
                         "'predictor.predictions' is \"%.100s\": expected record:FILE or "
                         "replay:FILE",
                         replay);
    }
    for (size_t i = 0; i < 62 && dls_prediction_sources()[i]; i++) {
        names[i + 1] = dls_prediction_sources()[i]->name;
    }
    const bool none = strcmp(p->source, "none") == 0;
    if (!known(b, DLS_CFG_PRED_SOURCE, "predictor", "predictors", names) || none) {
        p->source = NULL;
    }
    if (c->history_path && !c->estimates_learned) {
        dls_problems_add(b->problems, where(b, DLS_CFG_HISTORY),
                         "'scheduler.history' is for scheduler.estimates = \"history\" "
                         "and \"history-trees\"");
    }
    if (none && c->sim.estimates_predicted && !c->estimates_learned) {
        dls_problems_add(b->problems, where(b, DLS_CFG_ESTIMATES),
                         "scheduler.estimates = \"predictor\" needs 'predictor.source'");
    }
}

/* ---- options of a policy --------------------------------------------------------------------- */

static void unknown_option(const dls_builder *b, const dls_extra *e, const char *policy,
                           const dls_option *options)
{
    const char *names[DLS_CFG_COUNT + 130];
    size_t n = 0;
    char path[128], meant[128];
    for (size_t i = 0; i < dls_options_count(options) && n < 128; i++) {
        names[n++] = options[i].name;
    }
    for (int key = 0; key < DLS_CFG_COUNT; key++) {
        if (dls_schema_in_group(key, e->group)) {
            names[n++] = dls_schema_leaf(key);
        }
    }
    names[n] = NULL;
    const char *near = dls_suggest(e->name, names), *group = dls_schema[e->group].o.name;
    snprintf(path, sizeof path, "%s.%.60s", group, e->name);
    if (near) {
        snprintf(meant, sizeof meant, "%s.%s", group, near);
    }
    dls_problems_add(b->problems, e->where, "unknown key '%s': %s has no such option%s", path,
                     policy, DLS_DID_YOU_MEAN(near ? meant : dls_schema_suggest(path)));
}

/* The table of a policy, empty if it has none; NULL and a problem: there is no such policy. */
static const dls_option *table_of(const dls_builder *b, int group, const char *name,
                                  const char *place)
{
    static const dls_option empty[] = {{0}};
    const dls_sched_ops *sched = NULL;
    const dls_placement_ops *placement = NULL;
    dls_error bad;
    const dls_status status = group == DLS_CFG_SCHEDULER
                                  ? dls_registry_sched(b->registry, name, &sched, &bad)
                                  : dls_registry_placement(b->registry, name, &placement, &bad);
    if (status != DLS_OK) {
        dls_problems_add(b->problems, place, "%s", bad.msg);
        return NULL;
    }
    const dls_option *options = sched ? sched->options : placement->options;
    return options ? options : empty;
}

/* Options that the file gives, if they are for this policy, and overrides; values NULL: only check.
 */
static dls_status take_options(const dls_builder *b, int group, const char *policy,
                               const dls_option *table, bool of_file, dls_option_value *values,
                               dls_error *err)
{
    for (size_t i = 0; i < b->config->settings.n_extra; i++) {
        const dls_extra *e = &b->config->settings.extra[i];
        if (e->group != group || !(e->override ? values != NULL : of_file)) {
            continue;
        }
        const dls_option *option = dls_options_find(table, e->name);
        if (!option) {
            unknown_option(b, e, policy, table);
            continue;
        }
        const char *text = e->text;
        if (option->type == DLS_OPT_PATH) {
            text = dls_settings_path(&b->config->settings, text, e->where, err);
            if (!text) {
                return DLS_ENOMEM;
            }
        }
        dls_option_value value;
        dls_error bad;
        if (dls_option_parse(option, text, &value, &bad) != DLS_OK) {
            dls_problems_add(b->problems, e->where, "'%s.%s' %s", dls_schema[group].o.name, e->name,
                             bad.msg);
        } else if (values) {
            values[option - table] = value;
        }
    }
    return DLS_OK;
}

/* The values of a policy's options. The file's are for the policy that the file names: if another
 * is used, they are only checked, as wrong is wrong all the same. */
static dls_status build_options(const dls_builder *b, int group, const char *file_name,
                                const char *name, int name_key, dls_option_value **values,
                                dls_error *err)
{
    const bool same = strcmp(file_name, name) == 0;
    const dls_option *table = same ? NULL : table_of(b, group, file_name, b->file);
    if (table) {
        DLS_TRY(take_options(b, group, file_name, table, true, NULL, err));
    }
    table = table_of(b, group, name, where(b, name_key));
    if (!table) {
        return DLS_OK;
    }
    DLS_TRY(dls_options_defaults(table, values, err));
    return take_options(b, group, name, table, same, *values, err);
}

static dls_status build_policies(const dls_builder *b, const char *file_scheduler,
                                 const char *file_placement, dls_error *err)
{
    dls_config *c = b->config;
    DLS_TRY(build_options(b, DLS_CFG_SCHEDULER, file_scheduler, c->scheduler, DLS_CFG_SCHED_NAME,
                          &c->sched_values, err));
    if (c->sched_values) {
        DLS_TRY(dls_registry_sched(b->registry, c->scheduler, &c->sim.sched, err));
        if (!c->sim.sched->priority && c->sim.discipline >= 0) {
            dls_problems_add(b->problems, where(b, DLS_CFG_DISCIPLINE),
                             "scheduler '%s' takes jobs in its own way: 'scheduler.discipline' "
                             "must be \"default\"",
                             c->scheduler);
        }
        const int takes = c->sim.discipline >= 0 ? c->sim.discipline : (int)c->sim.sched->discipline;
        c->sim.reserve_nodes = strcmp(c->settings.value[DLS_CFG_RESERVE].v.s, "nodes") == 0;
        if (c->sim.reserve_nodes && (!c->sim.sched->priority || takes != DLS_EASY)) {
            dls_problems_add(b->problems, where(b, DLS_CFG_RESERVE),
                             "'scheduler.reserve' must be \"gpus\": only discipline \"easy\" reserves nodes");
        } else if (c->sim.reserve_nodes && c->cluster.gpu_parts) {
            dls_problems_add(b->problems, where(b, DLS_CFG_RESERVE),
                             "'scheduler.reserve' must be \"gpus\" where jobs have parts of GPUs");
        }
    }
    DLS_TRY(build_options(b, DLS_CFG_PLACEMENT, file_placement, c->placement,
                          DLS_CFG_PLACEMENT_NAME, &c->placement_values, err));
    if (c->placement_values) {
        DLS_TRY(dls_registry_placement(b->registry, c->placement, &c->sim.placement, err));
    }
    c->sim.sched_values = c->sched_values;
    c->sim.placement_values = c->placement_values;
    return DLS_OK;
}

dls_status dls_config_build(const dls_builder *b, const char *file_scheduler,
                            const char *file_placement, dls_error *err)
{
    dls_config *c = b->config;
    dls_sim_params_init(&c->sim);
    c->sim.cluster = &c->cluster;
    for (int key = 0; key < DLS_CFG_COUNT; key++) {
        if (dls_schema_list_of(key) < 0) {
            dls_schema_store(key, &c->settings.value[key].v, c);
        }
    }
    check_names(b, DLS_CFG_TRACE_STAND_INS, ";");
    check_names(b, DLS_CFG_PERF_SPEEDS, "; ");
    check_names(b, DLS_CFG_PERF_CLASSES, ";");
    check_names(b, DLS_CFG_PRED_SOFTWARE, ";");
    check_names(b, DLS_CFG_ENERGY_GPUS, "; ");
    build_trace(b);
    DLS_TRY(dls_config_build_cluster(b, err));
    build_world(b);
    build_failures(b);
    build_energy(b);
    build_predictions(b);
    return build_policies(b, file_scheduler, file_placement, err);
}
