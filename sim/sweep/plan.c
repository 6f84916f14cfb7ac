/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * A sweep's points resolved: configurations, traces, ids, and what is wrong with them.
 */
#include "sweep/plan.h"

#include "base/alloc.h"
#include "base/own.h"
#include "base/shell.h"
#include "base/suggest.h"
#include "config/load.h"
#include "config/prepare.h"
#include "results/compare.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
    TRACES_KEPT = 16,    /* of more than so many, the rest is loaded where it is needed */
    BAD_POINTS_MAX = 12, /* then the list of problems says enough */
    OVERRIDES_EXTRA = 1  /* the seed */
};

void dls_sweep_plan_destroy(dls_sweep_plan *plan)
{
    if (!plan) {
        return;
    }
    for (size_t i = 0; i < plan->n_traces; i++) {
        DLS_FREE_ALL(plan->trace[i].path, plan->trace[i].format);
        dls_trace_destroy(plan->trace[i].trace);
    }
    dls_sweep_inputs_fini(&plan->inputs);
    dls_memo_destroy(plan->memo);
    DLS_FREE_ALL(plan->trace, plan->base_text, plan->id, plan->trace_of, plan->seed,
                 plan->scheduler, plan->placement, plan);
}

/* ---- one point ------------------------------------------------------------------------------- */

/* What every point is given, in out; the axes come behind. */
static size_t common_overrides(const dls_sweep_plan *plan, dls_override *out)
{
    const dls_sweep *s = plan->request.sweep;
    size_t n = 0;
    for (size_t i = 0; i < s->n_set; i++) {
        out[n++] = (dls_override){NULL, s->set[i], s->set_where[i]};
    }
    for (size_t i = 0; i < plan->request.n_overrides; i++) {
        out[n++] = plan->request.overrides[i];
    }
    return n;
}

static size_t n_overrides_max(const dls_sweep_plan *plan)
{
    return plan->request.sweep->n_set + plan->request.n_overrides +
           dls_sweep_n_keys(plan->request.sweep) + OVERRIDES_EXTRA;
}

/* All that a point is given, in out of n_overrides_max. seed: room for the text of a number. */
static size_t point_overrides(const dls_sweep_plan *plan, size_t point, dls_override *out,
                              char seed[32])
{
    const dls_sweep *s = plan->request.sweep;
    size_t n = common_overrides(plan, out);
    for (size_t k = 0; k < dls_sweep_n_keys(s); k++) {
        const char *value = dls_sweep_value(s, dls_sweep_design(plan, point), k);
        if (strcmp(value, DLS_SWEEP_UNSET) != 0) {
            out[n++] = (dls_override){dls_sweep_key(s, k), value, dls_sweep_key_where(s, k)};
        }
    }
    if (plan->seed) {
        snprintf(seed, 32, "%lld", (long long)plan->seed[dls_sweep_replica(plan, point)]);
        out[n++] = (dls_override){"run.seed", seed, "'replicas'"};
    }
    return n;
}

dls_status dls_sweep_config(const dls_sweep_plan *plan, size_t point, dls_problems *problems,
                            dls_config **out, dls_error *err)
{
    char seed[32];
    DLS_FREED dls_override *overrides = NULL;
    DLS_TRY(dls_alloc_array(&overrides, n_overrides_max(plan), sizeof *overrides, "sweep", err));
    const dls_config_request request = {.path = plan->request.sweep->base,
                                        .content = plan->base_text,
                                        .overrides = overrides,
                                        .n_overrides =
                                            point_overrides(plan, point, overrides, seed),
                                        .registry = plan->request.registry,
                                        .memo = plan->memo};
    return dls_config_load(&request, problems, out, err);
}

dls_status dls_sweep_command(const dls_sweep_plan *plan, size_t point, const dls_config *config,
                             char **out, dls_error *err)
{
    const char *plugin[] = {dls_registry_origin(plan->request.registry, config->sim.sched),
                            dls_registry_origin(plan->request.registry, config->sim.placement)};
    char seed[32];
    size_t len;
    DLS_FREED dls_override *overrides = NULL;
    DLS_TRY(dls_alloc_array(&overrides, n_overrides_max(plan), sizeof *overrides, "sweep", err));
    const size_t n = point_overrides(plan, point, overrides, seed);
    FILE *text = open_memstream(out, &len);
    if (!text) {
        return dls_nomem(err, "command line", 0);
    }
    fputs("dlsim --config=", text);
    dls_shell_word(text, plan->request.sweep->base);
    for (int i = 0; i < 2; i++) {
        if (*plugin[i] && (i == 0 || strcmp(plugin[0], plugin[1]) != 0)) {
            fputs(" --plugin=", text);
            dls_shell_word(text, plugin[i]);
        }
    }
    for (size_t i = 0; i < n; i++) {
        fputs(" --set ", text);
        if (overrides[i].key) {
            dls_shell_word(text, overrides[i].key);
            fputc('=', text);
        }
        dls_shell_word(text, overrides[i].text);
    }
    return fclose(text) == 0 ? DLS_OK : dls_nomem(err, "command line", len);
}

static bool ends_in(const char *key, const char *end)
{
    const size_t len = strlen(key), n = strlen(end);
    return len >= n && strcmp(key + len - n, end) == 0 && (len == n || key[len - n - 1] == '.');
}

/* What a key is called in labels: as many of its last names as no other axis has. */
static const char *short_key(const dls_sweep *s, size_t k)
{
    const char *key = dls_sweep_key(s, k), *name = key + strlen(key);
    bool own = false;
    while (!own && name > key) {
        do {
            name--;
        } while (name > key && name[-1] != '.');
        own = true;
        for (size_t i = 0; i < dls_sweep_n_keys(s); i++) {
            own = own && (i == k || !ends_in(dls_sweep_key(s, i), name));
        }
    }
    return name;
}

const char *dls_sweep_label(const dls_sweep_plan *plan, size_t design, char *buf, size_t n)
{
    const dls_sweep *s = plan->request.sweep;
    const char *scheduler = NULL, *placement = NULL;
    const size_t n_keys = dls_sweep_n_keys(s);
    for (size_t k = 0; k < n_keys; k++) {
        const char *key = dls_sweep_key(s, k), *value = dls_sweep_value(s, design, k);
        const bool set = strcmp(value, DLS_SWEEP_UNSET) != 0;
        if (strcmp(key, "scheduler.name") == 0) {
            scheduler = set ? value : plan->scheduler;
        } else if (strcmp(key, "placement.name") == 0) {
            placement = set ? value : plan->placement;
        }
    }
    size_t len = 0;
    buf[0] = '\0';
    if (scheduler || placement) {
        len = (size_t)snprintf(buf, n, "%s/%s", scheduler ? scheduler : plan->scheduler,
                               placement ? placement : plan->placement);
    }
    for (size_t k = 0; k < n_keys && len < n; k++) {
        const char *key = dls_sweep_key(s, k), *value = dls_sweep_value(s, design, k);
        if (strcmp(key, "scheduler.name") != 0 && strcmp(key, "placement.name") != 0 &&
            strcmp(value, DLS_SWEEP_UNSET) != 0) {
            len += (size_t)snprintf(buf + len, n - len, "%s%s=%s", len ? ", " : "", short_key(s, k), value);
        }
    }
    if (len == 0) {
        snprintf(buf, n, "%s", s->name);
    }
    return buf;
}

/* ---- traces ---------------------------------------------------------------------------------- */

static bool same_options(const dls_trace_options *a, const dls_trace_options *b)
{
    return a->keep_zero_duration == b->keep_zero_duration &&
           a->drop_zero_duration == b->drop_zero_duration &&
           a->allow_duplicate_ids == b->allow_duplicate_ids && a->philly_span == b->philly_span &&
           a->swf_processor_is_gpu == b->swf_processor_is_gpu && a->max_jobs == b->max_jobs;
}

dls_status dls_sweep_load_trace(const dls_sweep_plan *plan, const dls_config *config,
                                dls_trace **out, dls_error *err)
{
    const dls_study_watch *watch = plan->request.watch;
    DLS_TRY(dls_config_load_trace(config, out, err));
    if (watch->trace) {
        watch->trace(watch->user, *out);
    }
    return DLS_OK;
}

static dls_status add_trace(dls_sweep_plan *plan, const dls_config *config, dls_error *err)
{
    DLS_TRY(
        dls_grow(&plan->trace, &plan->traces_cap, plan->n_traces + 1, sizeof *plan->trace, err));
    dls_sweep_trace *t = &plan->trace[plan->n_traces];
    *t = (dls_sweep_trace){.options = config->trace_options};
    t->path = dls_strdup(config->trace_path);
    t->format = dls_strdup(config->trace_format);
    plan->n_traces++;
    if (!t->path || !t->format) {
        return dls_nomem(err, "sweep", strlen(config->trace_path));
    }
    DLS_TRY(dls_sweep_load_trace(plan, config, &t->trace, err));
    snprintf(t->sha256, sizeof t->sha256, "%s", dls_trace_about(t->trace)->sha256);
    if (plan->n_traces > TRACES_KEPT) {
        dls_trace_destroy(t->trace);
        t->trace = NULL;
    }
    return DLS_OK;
}

/* The trace of a configuration, loaded when it is the first to ask. */
static dls_status find_trace(dls_sweep_plan *plan, const dls_config *config, int32_t *out,
                             dls_error *err)
{
    for (size_t i = 0; i < plan->n_traces; i++) {
        const dls_sweep_trace *t = &plan->trace[i];
        if (strcmp(t->path, config->trace_path) == 0 &&
            strcmp(t->format, config->trace_format) == 0 &&
            same_options(&t->options, &config->trace_options)) {
            *out = (int32_t)i;
            return DLS_OK;
        }
    }
    DLS_TRY(add_trace(plan, config, err));
    *out = (int32_t)plan->n_traces - 1;
    return DLS_OK;
}

/* ---- all points ------------------------------------------------------------------------------ */

static bool overrides_key(const dls_override *o, const char *key)
{
    const size_t len = strlen(key);
    return o->key ? strcmp(o->key, key) == 0
                  : strncmp(o->text, key, len) == 0 && o->text[len] == '=';
}

/* What is set for every point and varied as well. */
static void check_overrides(const dls_sweep_plan *plan, const dls_override *common, size_t n,
                            dls_problems *problems)
{
    const dls_sweep *s = plan->request.sweep;
    for (size_t i = 0; i < n; i++) {
        for (size_t k = 0; k < dls_sweep_n_keys(s); k++) {
            if (overrides_key(&common[i], dls_sweep_key(s, k))) {
                dls_problems_add(problems, common[i].where, "'%s' is an axis of the sweep",
                                 dls_sweep_key(s, k));
            }
        }
        if (s->seed && overrides_key(&common[i], "run.seed")) {
            dls_problems_add(problems, common[i].where, "'run.seed' is varied by 'seeds'");
        }
    }
    for (size_t k = 0; s->n_seeds && k < dls_sweep_n_keys(s); k++) {
        if (strcmp(dls_sweep_key(s, k), "run.seed") == 0) {
            dls_problems_add(problems, dls_sweep_key_where(s, k),
                             "'run.seed' is varied twice: by this axis and by %s",
                             s->seed ? "'seeds'" : "'replicas'");
        }
    }
}

/* The seeds: those listed, or the configuration's and those that follow it. */
static dls_status make_seeds(dls_sweep_plan *plan, const dls_config *first, dls_problems *problems,
                             dls_error *err)
{
    const dls_sweep *s = plan->request.sweep;
    if (s->n_seeds == 0) {
        return DLS_OK;
    }
    if (!s->seed && first->sim.seed > INT64_MAX - (s->n_seeds - 1)) {
        dls_problems_add(problems, s->path,
                         "'replicas': %zu seeds from 'run.seed' (%llu) on exceed the largest, %lld",
                         s->n_seeds, (unsigned long long)first->sim.seed, (long long)INT64_MAX);
        return dls_fail(err, DLS_ECONFIG, s->path, "1 problem");
    }
    DLS_TRY(dls_alloc_array(&plan->seed, s->n_seeds, sizeof *plan->seed, "sweep", err));
    for (size_t i = 0; i < s->n_seeds; i++) {
        plan->seed[i] = s->seed ? s->seed[i] : (int64_t)(first->sim.seed + i);
    }
    return DLS_OK;
}

/* What the first point says about all of them. */
static dls_status look_at_first(dls_sweep_plan *plan, dls_problems *problems, dls_error *err)
{
    DLS_HOLD(dls_config_destroy) dls_config *config = NULL;
    DLS_TRY(dls_sweep_config(plan, 0, problems, &config, err));
    plan->scheduler = dls_strdup(config->scheduler);
    plan->placement = dls_strdup(config->placement);
    DLS_TRY(plan->scheduler && plan->placement ? make_seeds(plan, config, problems, err)
                                               : dls_nomem(err, "sweep", 0));
    if (!*config->results_path && *config->trace_path) {
        return DLS_OK;
    }
    dls_problems_add(problems, plan->request.sweep->base, "%s",
                     *config->results_path
                         ? "'results.path' is set: results of a sweep go to its own folder"
                         : "no trace: give 'trace.path' or --trace=FILE");
    return dls_fail(err, DLS_ECONFIG, plan->request.sweep->path, "1 problem");
}

/* Add the problems that are not there yet. */
static void merge_problems(dls_problems *to, const dls_problems *from)
{
    for (size_t i = 0; i < from->kept; i++) {
        if (dls_named(to->text, to->kept, sizeof *to->text, from->text[i]) == to->kept) {
            dls_problems_add(to, NULL, "%s", from->text[i]);
        }
    }
    to->nomem = to->nomem || from->nomem;
}

/* ids false: only look for problems. */
static dls_status resolve_point(dls_sweep_plan *plan, size_t i, bool ids, dls_problems *problems,
                                dls_error *err)
{
    DLS_HOLD(dls_config_destroy) dls_config *config = NULL;
    DLS_TRY(dls_sweep_config(plan, plan->first + i, problems, &config, err));
    if (config->predictions.record_path) {
        return dls_fail(err, DLS_ECONFIG, "predictor.predictions",
                        "points of a sweep are not recorded: each would replace the file of the others; record with "
                        "'dlsim run', then replay");
    }
    DLS_TRY(ids ? find_trace(plan, config, &plan->trace_of[i], err) : DLS_OK);
    if (ids) {
        DLS_TRY(dls_sweep_identify(&plan->inputs, config, plan->request.registry,
                                   plan->trace[plan->trace_of[i]].sha256, plan->id[i], err));
    }
    return DLS_OK;
}

static dls_status resolve(dls_sweep_plan *plan, bool ids, dls_problems *problems, dls_error *err)
{
    size_t bad = 0;
    for (size_t i = 0; i < plan->n && bad < BAD_POINTS_MAX; i++) {
        dls_problems found = {0};
        const dls_status status = resolve_point(plan, i, ids, &found, err);
        const bool listed = found.n > 0;
        merge_problems(problems, &found);
        dls_problems_fini(&found);
        bad += listed;
        if (status != DLS_OK && !listed) {
            return status;
        }
    }
    return bad ? DLS_ECONFIG : DLS_OK;
}

/* Two points with one result: an axis that changes nothing, or a value that is there twice. */
static dls_status check_distinct(const dls_sweep_plan *plan, dls_problems *problems, dls_error *err)
{
    DLS_OWN(dls_strdict_fini) dls_strdict ids = {0};
    DLS_FREED size_t *last = NULL; /* [ids.n] the last point of each */
    DLS_TRY(dls_alloc_array(&last, plan->n, sizeof *last, "sweep", err));
    for (size_t i = 0; i < plan->n; i++) {
        const size_t known = ids.n, point = plan->first + i;
        char one[160], other[160];
        int32_t code;
        DLS_TRY(dls_strdict_put(&ids, plan->id[i], strlen(plan->id[i]), &code, err));
        if (ids.n == known) {
            dls_problems_add(
                problems, plan->request.sweep->path,
                "points %zu (%s) and %zu (%s) have the same configuration: their "
                "results would clash",
                last[code],
                dls_sweep_label(plan, dls_sweep_design(plan, last[code]), one, sizeof one), point,
                dls_sweep_label(plan, dls_sweep_design(plan, point), other, sizeof other));
        }
        last[code] = point;
    }
    return DLS_OK;
}

dls_status dls_sweep_find(const dls_sweep_plan *plan, const char *name, dls_error *err)
{
    char label[300], near[300] = "";
    for (size_t d = 0; d < plan->n_designs; d++) {
        dls_sweep_label(plan, d, label, sizeof label);
        if (dls_compare_label_has(label, name)) {
            return DLS_OK;
        }
        if (!*near && dls_suggest(name, (const char *const[]){label, NULL})) {
            memcpy(near, label, sizeof near);
        }
    }
    return dls_fail(err, DLS_EUSAGE, NULL, "no run is called '%s', wholly or in part%s", name,
                    DLS_DID_YOU_MEAN(*near ? near : NULL));
}

/* What the results will be compared with is there, before they are made. */
static void check_baselines(const dls_sweep_plan *plan, dls_problems *problems)
{
    for (const char *line = plan->request.sweep->baseline; *line;) {
        char name[512];
        dls_error err;
        const size_t len = strcspn(line, "\n");
        snprintf(name, sizeof name, "%.*s", (int)len, line);
        if (dls_sweep_find(plan, name, &err) != DLS_OK) {
            dls_problems_add(problems, plan->request.sweep->path, "'baseline': %s", err.msg);
        }
        line += len + (line[len] == '\n');
    }
}

static dls_status make(dls_sweep_plan *plan, dls_problems *problems, dls_error *err)
{
    const dls_sweep_request *r = &plan->request;
    const dls_sweep *s = r->sweep;
    const size_t before = problems->n;
    size_t len;
    DLS_TRY(dls_config_read_text(s->base, &plan->base_text, &len, err));
    DLS_FREED dls_override *common = NULL;
    DLS_TRY(dls_alloc_array(&common, n_overrides_max(plan), sizeof *common, "sweep", err));
    check_overrides(plan, common, common_overrides(plan, common), problems);
    plan->n_designs = dls_sweep_n_designs(s);
    plan->n_seeds = s->n_seeds ? s->n_seeds : 1;
    plan->n_points = dls_sweep_n_points(s);
    if (plan->n_points > DLS_STUDY_POINTS_MAX) {
        dls_problems_add(problems, s->path, "has more than a million points");
    }
    plan->first = r->first < plan->n_points ? r->first : plan->n_points;
    plan->n = plan->n_points - plan->first;
    plan->n = r->n && r->n < plan->n ? r->n : plan->n;
    if (problems->n == before) {
        const dls_status status = look_at_first(plan, problems, err);
        if (status != DLS_OK && problems->n == before) {
            return status;
        }
        if (status != DLS_OK && resolve(plan, false, problems, err) == DLS_ENOMEM) {
            return DLS_ENOMEM;
        }
    }
    if (problems->n == before) {
        DLS_TRY(DLS_ALLOC_ALL("sweep", err, DLS_ARRAY(plan->id, plan->n + 1),
                              DLS_ARRAY(plan->trace_of, plan->n + 1)));
        dls_status status = resolve(plan, true, problems, err);
        if (status == DLS_OK && problems->n == before) {
            check_baselines(plan, problems);
            status = check_distinct(plan, problems, err);
        }
        if (status != DLS_OK && problems->n == before) {
            return status;
        }
    }
    return dls_problems_since(problems, before, s->path, err);
}

dls_status dls_sweep_plan_make(const dls_sweep_request *request, dls_problems *problems,
                               dls_sweep_plan **out, dls_error *err)
{
    DLS_HOLD(dls_sweep_plan_destroy) dls_sweep_plan *plan = NULL;
    DLS_TRY(dls_alloc_array(&plan, 1, sizeof *plan, "sweep", err));
    plan->request = *request;
    plan->memo = dls_memo_create();
    DLS_TRY(make(plan, problems, err));
    *out = dls_take(&plan);
    return DLS_OK;
}
