/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * dlsim list: what a configuration can name.
 */
#include "base/json.h"
#include "base/options.h"
#include "cli/replay.h"
#include "dlsim/memory.h"
#include "dlsim/traces.h"

typedef struct request {
    dls_setup *setup; /* owned */
    bool json;
} request;

#define BOLD dls_ui_style(stdout, DLS_UI_BOLD)
#define RESET dls_ui_style(stdout, DLS_UI_RESET)

/* ---- policies -------------------------------------------------------------------------------- */

static const char *const disciplines[] = {
    [DLS_STRICT] = "strict", [DLS_FIT] = "fit", [DLS_EASY] = "easy", [DLS_PREEMPT] = "preempt"};

/* takes: how the policy takes jobs, NULL for a placement. */
static void policy(json_object *all, const char *name, const char *summary, const char *takes,
                   const dls_option *options, const char *origin)
{
    const size_t n = dls_options_count(options);
    if (all) {
        json_object *obj = dls_json_next(all);
        DLS_JSON(obj, "name", name, "summary", summary);
        if (takes) {
            dls_json_text(obj, "discipline", takes);
        }
        dls_json_text(obj, "plugin", origin);
        json_object *list = dls_json_list(obj, "options");
        for (size_t i = 0; i < n; i++) {
            dls_option_json(dls_json_next(list), options[i].name, &options[i]);
        }
        return;
    }
    printf("%s%s%s%s%s%s\n  %s\n", BOLD, name, RESET, *origin ? "  (plug-in " : "", origin,
           *origin ? ")" : "", summary);
    for (size_t i = 0; i < n; i++) {
        char domain[300];
        printf("    %-18s %s\n    %-18s   %s; default %s\n", options[i].name, options[i].doc, "",
               dls_option_domain(&options[i], domain, sizeof domain),
               *options[i].def ? options[i].def : "(empty)");
    }
}

static void schedulers(const request *r, json_object *all)
{
    for (const dls_sched_ops *const *s = dls_setup_scheds(r->setup); *s; s++) {
        policy(all, (*s)->name, (*s)->summary,
               (*s)->priority ? disciplines[(*s)->discipline] : "own", (*s)->options,
               dls_setup_origin(r->setup, *s));
    }
}

static void placements(const request *r, json_object *all)
{
    for (const dls_placement_ops *const *p = dls_setup_placements(r->setup); *p; p++) {
        policy(all, (*p)->name, (*p)->summary, NULL, (*p)->options, dls_setup_origin(r->setup, *p));
    }
}

/* ---- the rest -------------------------------------------------------------------------------- */

static void known(dls_known_list of, json_object *all)
{
    const char *name, *summary;
    for (size_t i = 0; (name = dls_known_name(of, i, &summary)); i++) {
        if (all) {
            DLS_JSON(dls_json_next(all), "name", name, "summary", summary);
        } else {
            printf("%s%-16s%s %s\n", BOLD, name, RESET, summary);
        }
    }
}

static void formats(const request *r, json_object *all)
{
    known(DLS_KNOWN_FORMATS, all);
}

static void predictors(const request *r, json_object *all)
{
    known(DLS_KNOWN_PREDICTORS, all);
}

static void gpus(const request *r, json_object *all)
{
    size_t n;
    const dls_gpu_type *table = dls_gpu_table(&n);
    if (!all) {
        printf("%s%-16s %10s %12s %14s %16s %12s%s\n", BOLD, "name", "memory GiB", "memory GB/s",
               "fp32 TFLOP/s", "tensor TFLOP/s", "peer GB/s", RESET);
    }
    for (const dls_gpu_type *g = table; g < table + n; g++) {
        if (all) {
            DLS_JSON(dls_json_next(all), "name", g->name, "memory_gib", g->mem_gib, "memory_bps",
                     g->mem_bps, "fp32_flops", g->fp32_flops, "tensor_flops", g->tensor_flops,
                     "peer_bps", g->peer_bps);
        } else {
            printf("%-16s %10g %12g %14g %16g %12g\n", g->name, g->mem_gib, g->mem_bps / 1e9,
                   g->fp32_flops / 1e12, g->tensor_flops / 1e12, g->peer_bps / 1e9);
        }
    }
}

static void assignments(const request *r, json_object *all)
{
    for (int i = 0; dls_assign_builtin_name(i); i++) {
        const char *name = dls_assign_builtin_name(i), *text = dls_assign_builtin_text(name);
        if (all) {
            DLS_JSON(dls_json_next(all), "name", name, "table", text);
        } else {
            printf("%s%s%s\n%s", BOLD, name, RESET, text);
        }
    }
}

/* ---- the command ----------------------------------------------------------------------------- */

static dls_status init(dls_call *call, dls_error *err)
{
    return dls_setup_create(&((request *)call->request)->setup, err);
}

static void fini(void *user)
{
    dls_setup_destroy(((request *)user)->setup);
}

static dls_status list(dls_call *call, dls_error *err)
{
    /* In the order of the verbs. */
    static void (*const put[])(const request *r, json_object *all) = {
        schedulers, placements, predictors, formats, gpus, assignments};
    const request *r = call->request;
    json_object *all = r->json ? json_object_new_array() : NULL;
    if (r->json && !all) {
        return dls_nomem(err, "JSON", 0);
    }
    put[call->verb - call->command->verbs](r, all);
    return all ? dls_json_print(stdout, all, err) : DLS_OK;
}

static const dls_verb verbs[] = {
    {.name = "schedulers", .summary = "scheduling policies", .run = list},
    {.name = "placements", .summary = "placement policies", .run = list},
    {.name = "predictors", .summary = "what policies may ask", .run = list},
    {.name = "formats", .summary = "traces that can be read", .run = list},
    {.name = "gpus", .summary = "GPU types and what they do", .run = list},
    {.name = "assignments", .summary = "tables that give jobs models", .run = list},
    {.name = NULL}};

static const dls_arg args[] = {DLS_SWITCH(request, json, "json", 0, "for programs"),
                               DLS_PLUGIN(request, setup), DLS_COLOR, DLS_ARGS_END};

const dls_command dls_command_list = {
    .name = "list",
    .summary = "schedulers, placements, trace formats, GPUs, tables of models",
    .about = "What a configuration can name, with the options that it takes.",
    .args = args,
    .verbs = verbs,
    .size = sizeof(request),
    .init = init,
    .fini = fini,
};
