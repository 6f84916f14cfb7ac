/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "base/suggest.h"
#include "cli/cli.h"
#include "cli/ui.h"
#include "dlsim/trace.h"
#include "predictor/sources/predictions.h"
#include "cluster/cluster.h"
#include "engine/options.h"
#include "engine/registry.h"
#include "traces/assign.h"

#include <string.h>

static const char *const help_text =
    "Usage: dlsim list schedulers|placements|predictors|formats|gpus|assignments\n"
    "           [OPTION]...\n"
    "\n"
    "What a configuration can name, with the options that it takes.\n"
    "\n"
    "      --json            for programs\n"
    "      --plugin=FILE.so  load policies of a plug-in; may be repeated\n"
    "      --color=WHEN      auto, always, never\n"
    "  -h, --help            this text\n";

static const struct option longs[] = {{"json", no_argument, NULL, 'j'},
                                      {"plugin", required_argument, NULL, 'P'},
                                      {"color", required_argument, NULL, 'C'},
                                      {"help", no_argument, NULL, 'h'},
                                      {NULL, 0, NULL, 0}};

typedef struct list {
    dls_registry *registry;
    bool json;
    bool first;
} list;

/* ---- policies ----------------------------------------------------------------------------------
 */

static const char *discipline_name(dls_discipline d)
{
    static const char *const names[] = {
        [DLS_STRICT] = "strict", [DLS_FIT] = "fit", [DLS_EASY] = "easy", [DLS_PREEMPT] = "preempt"};
    return names[d];
}

static void option_json(const dls_option *o)
{
    const bool number =
        o->type == DLS_OPT_I64 || o->type == DLS_OPT_F64 || o->type == DLS_OPT_F64_LIST;
    printf("{\"name\": \"%s\", \"type\": \"%s\", \"default\": ", o->name,
           dls_option_type_name(o->type));
    dls_ui_json_string(stdout, o->def);
    fputs(", \"unit\": ", stdout);
    dls_ui_json_string(stdout, o->unit);
    if (number) {
        printf(", \"min\": %.17g, \"max\": %.17g", o->min, o->max);
    }
    if (o->choices) {
        fputs(", \"choices\": ", stdout);
        dls_ui_json_string(stdout, o->choices);
    }
    fputs(", \"doc\": ", stdout);
    dls_ui_json_string(stdout, o->doc);
    fputs("}", stdout);
}

/* takes: how the policy takes jobs, NULL for a placement. */
static void policy(list *l, const char *name, const char *summary, const char *takes,
                   const dls_option *options, const char *origin)
{
    const size_t n = dls_options_count(options);
    if (l->json) {
        printf("%s{\"name\": \"%s\", \"summary\": ", l->first ? "" : ",\n ", name);
        dls_ui_json_string(stdout, summary);
        if (takes) {
            printf(", \"discipline\": \"%s\"", takes);
        }
        fputs(", \"plugin\": ", stdout);
        dls_ui_json_string(stdout, origin);
        fputs(", \"options\": [", stdout);
        for (size_t i = 0; i < n; i++) {
            fputs(i > 0 ? ", " : "", stdout);
            option_json(&options[i]);
        }
        fputs("]}", stdout);
    } else {
        printf("%s%s%s%s%s%s\n  %s\n", dls_ui_bold(stdout), name, dls_ui_reset(stdout),
               *origin ? "  (plug-in " : "", origin, *origin ? ")" : "", summary);
        for (size_t i = 0; i < n; i++) {
            char domain[160];
            printf("    %-18s %s\n    %-18s   %s; default %s\n", options[i].name, options[i].doc,
                   "", dls_option_domain(&options[i], domain, sizeof domain),
                   *options[i].def ? options[i].def : "(empty)");
        }
    }
    l->first = false;
}

static void schedulers(list *l)
{
    for (const dls_sched_ops *const *s = dls_registry_scheds(l->registry); *s; s++) {
        policy(l, (*s)->name, (*s)->summary, (*s)->pass ? "own" : discipline_name((*s)->discipline),
               (*s)->options, dls_registry_origin(l->registry, *s));
    }
}

static void placements(list *l)
{
    for (const dls_placement_ops *const *p = dls_registry_placements(l->registry); *p; p++) {
        policy(l, (*p)->name, (*p)->summary, NULL, (*p)->options,
               dls_registry_origin(l->registry, *p));
    }
}

/* ---- the rest ----------------------------------------------------------------------------------
 */

static void named(list *l, const char *name, const char *summary)
{
    if (l->json) {
        printf("%s{\"name\": \"%s\", \"summary\": ", l->first ? "" : ",\n ", name);
        dls_ui_json_string(stdout, summary);
        fputs("}", stdout);
    } else {
        printf("%s%-16s%s %s\n", dls_ui_bold(stdout), name, dls_ui_reset(stdout), summary);
    }
    l->first = false;
}

static void formats(list *l)
{
    for (const dls_trace_format *const *f = dls_trace_formats(); *f; f++) {
        named(l, (*f)->name, (*f)->summary);
    }
}

static void predictors(list *l)
{
    for (const dls_prediction_source *const *f = dls_prediction_sources(); *f; f++) {
        named(l, (*f)->name, (*f)->summary);
    }
}

static void gpus(list *l)
{
    size_t n;
    const dls_gpu_type *table = dls_gpu_table(&n);
    if (!l->json) {
        printf("%s%-16s %10s %12s %14s %16s %12s%s\n", dls_ui_bold(stdout), "name", "memory GiB",
               "memory GB/s", "fp32 TFLOP/s", "tensor TFLOP/s", "peer GB/s", dls_ui_reset(stdout));
    }
    for (size_t i = 0; i < n; i++) {
        const dls_gpu_type *g = &table[i];
        if (l->json) {
            printf("%s{\"name\": \"%s\", \"memory_gib\": %g, \"memory_bps\": %.6g, "
                   "\"fp32_flops\": %.6g, \"tensor_flops\": %.6g, \"peer_bps\": %.6g}",
                   l->first ? "" : ",\n ", g->name, g->mem_gib, g->mem_bps, g->fp32_flops,
                   g->tensor_flops, g->peer_bps);
        } else {
            printf("%-16s %10g %12g %14g %16g %12g\n", g->name, g->mem_gib, g->mem_bps / 1e9,
                   g->fp32_flops / 1e12, g->tensor_flops / 1e12, g->peer_bps / 1e9);
        }
        l->first = false;
    }
}

static void assignments(list *l)
{
    for (int i = 0; dls_assign_builtin_name(i); i++) {
        const char *name = dls_assign_builtin_name(i), *text = dls_assign_builtin_text(name);
        if (l->json) {
            printf("%s{\"name\": \"%s\", \"table\": ", l->first ? "" : ",\n ", name);
            dls_ui_json_string(stdout, text);
            fputs("}", stdout);
        } else {
            printf("%s%s%s\n%s", dls_ui_bold(stdout), name, dls_ui_reset(stdout), text);
        }
        l->first = false;
    }
}

static const struct {
    const char *name;
    void (*print)(list *l);
} kinds[] = {{"schedulers", schedulers},
             {"placements", placements},
             {"predictors", predictors},
             {"formats", formats},
             {"gpus", gpus},
             {"assignments", assignments}};
#define N_KINDS (sizeof kinds / sizeof kinds[0])

static int print(list *l, const char *what)
{
    const char *names[N_KINDS + 1] = {NULL};
    for (size_t i = 0; i < N_KINDS; i++) {
        names[i] = kinds[i].name;
        if (strcmp(kinds[i].name, what) == 0) {
            l->first = true;
            fputs(l->json ? "[" : "", stdout);
            kinds[i].print(l);
            fputs(l->json ? "]\n" : "", stdout);
            return 0;
        }
    }
    const char *near = dls_suggest(what, names);
    return dls_ui_usage("list", "there is no list of '%s'%s%s%s", what,
                        near ? " (did you mean '" : "", near ? near : "", near ? "'?)" : "");
}

static int run(list *l, int argc, char **argv)
{
    dls_error err;
    dls_ui_when when;
    for (;;) {
        const int c = dls_ui_getopt(argc, argv, "h", longs, "list");
        if (c == -1) {
            break;
        }
        switch (c) {
        case 'j':
            l->json = true;
            break;
        case 'P':
            if (dls_registry_load(l->registry, optarg, &err) != DLS_OK) {
                return dls_ui_fail(&err);
            }
            break;
        case 'C':
            if (!dls_ui_when_parse("list", "--color", optarg, &when)) {
                return dls_status_exit_code(DLS_EUSAGE);
            }
            dls_ui_color(when);
            break;
        case 'h':
            fputs(help_text, stdout);
            return 0;
        default:
            return dls_status_exit_code(DLS_EUSAGE);
        }
    }
    if (optind + 1 != argc) {
        return dls_ui_usage("list",
                            "%s: schedulers, placements, predictors, formats, gpus or assignments",
                            optind == argc ? "name what to list" : "name one list");
    }
    return print(l, argv[optind]);
}

int dls_cmd_list(int argc, char **argv)
{
    list l = {0};
    dls_error err;
    if (dls_registry_create(&l.registry, &err) != DLS_OK) {
        return dls_ui_fail(&err);
    }
    const int code = run(&l, argc, argv);
    dls_registry_destroy(l.registry);
    return code;
}
