/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * dlsim whatif: a site's history with other nodes, quotas, policies or load.
 */
#include "base/atomicfile.h"
#include "base/folder.h"
#include "base/json.h"
#include "base/own.h"
#include "base/printable.h"
#include "cli/replay.h"
#include "cli/script.h"
#include "dlsim/site.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

typedef struct request {
    dls_whatif_asked asked; /* but its lists */
    dls_words add, removed, quota, speed, set, both;
    const char *output;
    bool json;
} request;

/* ---- text ------------------------------------------------------------------------------------ */

static const char *of_time(double s, char buf[32])
{
    if (isnan(s)) {
        return "-";
    }
    if (isinf(s)) {
        return "never";
    }
    const double size = fabs(s);
    if (size < 120) {
        snprintf(buf, 32, "%.1f s", s);
    } else if (size < 7200) {
        snprintf(buf, 32, "%.1f min", s / 60);
    } else {
        snprintf(buf, 32, "%.2f h", s / 3600);
    }
    return buf;
}

static void print_number(const dls_whatif_number *x)
{
    char a[32], b[32], c[32], text[110];
    snprintf(text, sizeof text, isnan(x->low) ? "%s" : "%s [%s, %s]", of_time(x->value, a),
             of_time(x->low, b), of_time(x->high, c));
    printf(" %32s", text);
}

/* Of the column of groups' names. */
static int names_width(const dls_whatif *w)
{
    int width = 18;
    for (size_t i = 0; i < w->n_groups; i++) {
        width = dls_printable_width(w->group[i].name, width);
    }
    return width;
}

static void print_group(const dls_whatif_group *g, int width, bool p95)
{
    printf("%-10s ", g->kind);
    dls_printable_cell(stdout, g->name, width);
    printf(" %7zu %7zu", g->before.n, g->after.n);
    print_number(p95 ? &g->before.p95 : &g->before.mean);
    print_number(p95 ? &g->after.p95 : &g->after.mean);
    print_number(p95 ? &g->p95_change : &g->mean_change);
    if (g->before.waiting || g->after.waiting) {
        printf("  never started: %zu, %zu", g->before.waiting, g->after.waiting);
    }
    putchar('\n');
}

static void print_target(const dls_whatif *w, const char *target)
{
    char a[32];
    printf("\ntarget     %s, by the nodes of %s\n", target, w->vary);
    for (size_t i = 0; i < w->n_tried; i++) {
        printf("  %6lld nodes: %s%s\n", (long long)w->tried[i].nodes,
               of_time(w->tried[i].value_s, a), w->tried[i].holds ? ", holds" : "");
    }
    if (w->fewest < 0) {
        puts("no number of them holds it");
    } else {
        printf("fewest     %lld nodes:", (long long)w->fewest);
        print_number(&w->target_s);
        putchar('\n');
    }
}

static void print_energy(const dls_whatif *w)
{
    if (isnan(w->group[0].before.energy_kwh) || isnan(w->group[0].after.energy_kwh)) {
        return;
    }
    const int width = names_width(w);
    printf("\n%-*s %13s %13s %13s %13s %13s %13s\n", width + 11, "energy of jobs", "kWh before", "after",
           "cost before", "after", "kg CO2 before", "after");
    for (size_t i = 0; i < w->n_groups; i++) {
        const dls_whatif_group *g = &w->group[i];
        printf("%-10s ", g->kind);
        dls_printable_cell(stdout, g->name, width);
        printf(" %13.5g %13.5g %13.5g %13.5g %13.5g %13.5g\n", g->before.energy_kwh, g->after.energy_kwh, g->before.cost, g->after.cost,
               g->before.carbon_kg, g->after.carbon_kg);
    }
}

static void print_text(const dls_whatif *w, const request *r)
{
    char a[32], b[32];
    printf("grade      %c%s%s: how near the replay as it was comes to what is on record\n",
           w->grade, w->ungraded ? ", " : "", w->ungraded ? w->ungraded : "");
    if (w->n_blocks >= DLS_WHATIF_BLOCKS) {
        printf("intervals  95 %%, of %zu blocks of %s drawn with replacement\n", w->n_blocks,
               of_time(w->block_s, a));
    } else {
        puts("intervals  none: the history is too short");
    }
    for (size_t i = 0; i < w->n_speeds; i++) {
        const dls_whatif_speed *s = &w->speed[i];
        printf("speed      %s %.2f times %s, %s", s->type, s->speed, s->reference,
               s->given ? "as given\n" : "predicted: ");
        if (!s->given) {
            printf("%.2f to %.2f over models\n", s->least, s->most);
        }
    }
    if (r->asked.load != 1) {
        printf("load       %.3f times the GPU time, as drawn\n", w->load);
    }
    printf(
        "GPUs       %lld, then %lld\nin use     %.1f %%, then %.1f %%\ncompletion %s in the mean, "
        "then %s\n",
        (long long)w->before.gpus, (long long)w->after.gpus, 100 * w->before.utilisation,
        100 * w->after.utilisation, of_time(w->before.jct_mean_s, a),
        of_time(w->after.jct_mean_s, b));
    if (r->asked.target) {
        print_target(w, r->asked.target);
    }
    const int width = names_width(w);
    for (int p95 = 0; p95 < 2; p95++) {
        printf("\n%-*s %7s %7s %32s %32s %32s\n", width + 11, p95 ? "wait, 95th percentile" : "wait, mean",
               "jobs", "changed", "as it was", "changed", "difference");
        for (size_t i = 0; i < w->n_groups; i++) {
            print_group(&w->group[i], width, p95 == 1);
        }
    }
    print_energy(w);
}

/* ---- JSON ------------------------------------------------------------------------------------ */

static void put_number(json_object *to, const char *name, const dls_whatif_number *x)
{
    DLS_JSON(dls_json_object(to, name), "value_s", x->value, "low_s", x->low, "high_s", x->high);
}

static void put_side(json_object *to, const char *name, const dls_whatif_side *side)
{
    json_object *obj = dls_json_object(to, name);
    DLS_JSON(obj, "jobs", side->n, "never_started", side->waiting);
    if (!isnan(side->energy_kwh)) {
        DLS_JSON(obj, "energy_kwh", side->energy_kwh, "cost", side->cost, "carbon_kg",
                 side->carbon_kg);
    }
    put_number(obj, "wait_mean", &side->mean);
    put_number(obj, "wait_p95", &side->p95);
}

static void put_total(json_object *to, const char *name, const dls_whatif_total *t)
{
    DLS_JSON(dls_json_object(to, name), "gpus", t->gpus, "utilisation", t->utilisation,
             "jct_mean_s", t->jct_mean_s, "makespan_s", t->makespan_s);
}

static void put_target(json_object *top, const dls_whatif *w, const char *target)
{
    json_object *to = dls_json_object(top, "target");
    DLS_JSON(to, "text", target, "group", w->vary);
    if (w->fewest >= 0) {
        dls_json_int(to, "fewest_nodes", w->fewest);
        put_number(to, "wait", &w->target_s);
    }
    json_object *list = dls_json_list(to, "tried");
    for (size_t i = 0; i < w->n_tried; i++) {
        DLS_JSON(dls_json_next(list), "nodes", w->tried[i].nodes, "wait_s", w->tried[i].value_s,
                 "holds", w->tried[i].holds);
    }
}

/* The question: every option as given, but those of how it is answered. */
static void put_options(json_object *top, const dls_call *call)
{
    json_object *list = dls_json_list(top, "options");
    for (size_t i = 0; i < call->n_given; i++) {
        const char *name = call->given[i].arg->name;
        if (strcmp(name, "json") != 0 && strcmp(name, "output") != 0) {
            DLS_JSON(dls_json_next(list), "name", name, "value", call->given[i].value);
        }
    }
}

static json_object *answer_of(const dls_whatif *w, const request *r, const dls_call *call)
{
    json_object *top = json_object_new_object();
    put_options(top, call);
    const char letter[2] = {w->grade, '\0'};
    DLS_JSON(top, "grade", letter, "ungraded", w->ungraded, "block_s", w->block_s, "blocks",
             w->n_blocks, "load", w->load);
    put_total(top, "before", &w->before);
    put_total(top, "after", &w->after);
    json_object *list = dls_json_list(top, "speeds");
    for (size_t i = 0; i < w->n_speeds; i++) {
        DLS_JSON(dls_json_next(list), "type", w->speed[i].type, "reference", w->speed[i].reference,
                 "speed", w->speed[i].speed, "least", w->speed[i].least, "most", w->speed[i].most,
                 "given", w->speed[i].given);
    }
    if (r->asked.target) {
        put_target(top, w, r->asked.target);
    }
    list = dls_json_list(top, "groups");
    for (size_t i = 0; i < w->n_groups; i++) {
        const dls_whatif_group *g = &w->group[i];
        json_object *obj = dls_json_next(list);
        DLS_JSON(obj, "kind", g->kind, "name", g->name);
        put_side(obj, "before", &g->before);
        put_side(obj, "after", &g->after);
        put_number(obj, "wait_mean_change", &g->mean_change);
        put_number(obj, "wait_p95_change", &g->p95_change);
    }
    return top;
}

/* ---- the report ------------------------------------------------------------------------------ */

typedef struct paths {
    char before[4200], after[4200], answer[4200], page[4200];
} paths;

typedef struct answering {
    const dls_whatif *w;
    const request *r;
    const dls_call *call;
} answering;

static dls_status put_answer(FILE *to, void *what, dls_error *err)
{
    const answering *a = what;
    return dls_json_print(to, answer_of(a->w, a->r, a->call), err);
}

static dls_status write_folder(const dls_whatif *w, const request *r, const dls_call *call,
                               paths *p, dls_error *err)
{
    char command[1000];
    dls_call_text(call, command, sizeof command);
    if (strlen(r->output) > 4000) {
        return dls_fail(err, DLS_EOUTPUT, NULL, "too long a path");
    }
    const struct {
        char *path;
        const char *name;
    } file[] = {{p->before, "before.h5"}, {p->after, "after.h5"}, {p->answer, "whatif.json"}, {p->page, "report.html"}};
    for (size_t i = 0; i < sizeof file / sizeof *file; i++) {
        snprintf(file[i].path, sizeof p->before, "%s/%s", r->output, file[i].name);
        if (dls_simulation_reads(w->sim, file[i].path) || dls_simulation_reads(w->changed, file[i].path)) {
            return dls_fail(err, DLS_EOUTPUT, file[i].path, "is also an input: it would be replaced");
        }
    }
    DLS_TRY(dls_folder_make(r->output, err));
    DLS_TRY(dls_simulation_write(w->sim, p->before, command, err));
    DLS_TRY(dls_simulation_write(w->changed, p->after, command, err));
    return dls_atomicfile_write(p->answer, put_answer, &(answering){w, r, call}, err);
}

/* Replaces the process. */
static dls_status show_page(const paths *p, dls_call *call, dls_error *err)
{
    DLS_OWN(dls_words_fini) dls_words words = {0};
    DLS_TRY(dls_words_add(&words, "--answer", p->answer, err));
    DLS_TRY(dls_words_add(&words, "--output", p->page, err));
    DLS_TRY(dls_words_add(&words, p->before, p->after, err));
    call->n_words = 0;
    return dls_script_plots("dlsim whatif", "report.sh", &words, call, err);
}

/* ---- the command ----------------------------------------------------------------------------- */

static dls_status run(dls_call *call, dls_error *err)
{
    request *r = call->request;
    DLS_HOLD(dls_setup_destroy) dls_setup *before = NULL;
    DLS_HOLD(dls_setup_destroy) dls_setup *after = NULL;
    DLS_OWN(dls_whatif_fini) dls_whatif w = {0};
    paths p;
    dls_whatif_asked *asked = &r->asked;
    asked->add = r->add.at;
    asked->n_add = r->add.n;
    asked->removed = r->removed.at;
    asked->n_removed = r->removed.n;
    asked->quota = r->quota.at;
    asked->n_quota = r->quota.n;
    asked->speed = r->speed.at;
    asked->n_speed = r->speed.n;
    asked->set = r->set.at;
    asked->n_set = r->set.n;
    DLS_TRY(dls_replay_site(&before, call->word[0], &r->both, err));
    DLS_TRY(dls_replay_site(&after, call->word[0], &r->both, err));
    const dls_status status = dls_whatif_of(before, after, &r->asked, &w, err);
    DLS_TRY(dls_replay_tell(dls_setup_problem(before, 0) ? before : after, status));
    if (r->json) {
        DLS_TRY(dls_json_print(stdout, answer_of(&w, r, call), err));
    } else {
        print_text(&w, r);
    }
    if (!r->output) {
        return DLS_OK;
    }
    DLS_TRY(write_folder(&w, r, call, &p, err));
    return show_page(&p, call, err);
}

static const dls_arg args[] = {
    DLS_REPEAT(request, add, "add", 0, "NODES",
               "nodes that are added: \"h100: 16 x 8\" are 16 with 8 GPUs each; may be repeated"),
    DLS_REPEAT(request, removed, "remove", 0, "NODES",
               "nodes that go: \"v100: 4\" or \"v100: all\", by GPU type or name of their group"),
    DLS_REAL(request, asked.load, "load", 0, DLS_WHATIF_LOAD_LEAST, DLS_WHATIF_LOAD_MOST,
             "so many times the jobs, drawn from the history; 1"),
    DLS_TEXT(request, asked.scheduler, "scheduler", 's', "NAME", "another scheduler"),
    DLS_TEXT(request, asked.placement, "placement", 'p', "NAME", "another placement"),
    DLS_REPEAT(request, quota, "quota", 0, "VC=GPUS",
               "a partition's quota of GPUs; VC:TYPE=GPUS where there are several types"),
    DLS_REPEAT(request, set, "set", 0, "KEY=VALUE", "change a key"),
    DLS_REPEAT(request, both, "both", 0, "KEY=VALUE",
               "set a key on both sides: energy.account=true, results.warmup=7d"),
    DLS_REPEAT(request, speed, "speed", 0, "TYPE=X",
               "speed of GPUs of a new type against those of the site, in place of the prediction"),
    DLS_TEXT(request, asked.target, "target", 0, "TEXT",
             "find the fewest nodes that hold it: \"p95 wait of 8 GPUs < 1h\", \"mean wait < 10 "
             "min\", \"p95 wait of partition main < 2h\", \"... of account ml ...\""),
    DLS_TEXT(request, asked.vary, "vary", 0, "GROUP",
             "of which nodes; those that are added, else the largest group", .of = "--target"),
    DLS_INT(request, asked.seed, "seed", 0, 0, INT64_MAX,
            "of the jobs and weeks that are drawn; 1"),
    DLS_TEXT(request, output, "output", 'o', "FOLDER",
             "keep before.h5, after.h5 and whatif.json there, and make report.html of them"),
    DLS_SWITCH(request, json, "json", 0, "print JSON"),
    DLS_ARGS_END};

const dls_command dls_command_whatif = {
    .name = "whatif",
    .summary = "a site's history with other nodes, quotas, policies or load",
    .usage = "SITE [OPTION]...",
    .about =
        "Replay an imported site (a folder that 'dlsim import' made, or a configuration) as it "
        "was and with changes, and compare how long jobs waited: by partition, account and "
        "size, with intervals over weeks drawn with replacement (docs/whatif.md). The grade of "
        "the replay stands in every answer.",
    .args = args,
    .words = "one site",
    .size = sizeof(request),
    .initial = &(const request){.asked = {.load = 1, .seed = 1}},
    .run = run,
};
