/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * dlsim evaluate --measured: every source of predictions asked about every measured training step.
 */
#include "cli/command.h"

#include "base/json.h"
#include "base/own.h"
#include "predictor/measured/judge.h"
#include "predictor/measured/kernels.h"
#include "predictor/measured/possible.h"
#include "predictor/sources/whatif.h"
#include "workload/graph/zoo.h"

#include <math.h>
#include <string.h>

typedef struct request {
    bool measured, json, no_points, details, by_gpu, markdown, left_out, doublings, memory, busy,
        groups;
    double least_ms;
    const char *hardware, *weights, *networks, *output;
    dls_words sources, defaults;
} request;

#define UNKNOWN "unknown model "
#define NAMED 6       /* models of which nothing is known, in the text; all are in the JSON */
#define COMPLAINTS 20 /* rows left out that are told of on stderr; likewise */

/* ---- why sources did not answer -------------------------------------------------------------- */

/* Rows of a group which a source refused for this reason. */
static size_t refused(const dls_verdicts *v, size_t group, size_t source, size_t reason)
{
    size_t n = 0;
    for (size_t i = 0; i < v->steps->n; i++) {
        n += dls_verdicts_in(v, i, group) && v->why[i * v->n_sources + source] == (int32_t)reason;
    }
    return n;
}

/* ---- text ------------------------------------------------------------------------------------ */

/* The rest of a row, in columns or of a page's table; of NULL the heads. */
static void print_figures(const dls_errors *e, bool page)
{
    for (size_t i = 0; i < dls_error_figures_n; i++) {
        const dls_error_figure *f = &dls_error_figures[i];
        const char *head = page ? f->page : f->head;
        const int width = page ? 0 : f->width;
        const double x = e ? f->scale * dls_error_figure_of(f, e) : (double)NAN;
        if (head && isfinite(x)) {
            printf(" %*.*f", width, f->digits, x);
        } else if (head) {
            printf(" %*s", width, e ? "-" : head);
        }
        fputs(head && page ? " |" : "", stdout);
    }
    putchar('\n');
}

/* Unknown models stand in one line, the first of them by name. */
static void print_reasons(const dls_verdicts *v, size_t source)
{
    size_t unknown = 0, models = 0;
    char named[200] = "";
    for (size_t r = 0; r < v->reasons.n; r++) {
        const char *why = dls_strdict_get(&v->reasons, (int32_t)r);
        const size_t n = refused(v, v->groups.n, source, r), used = strlen(named);
        if (n > 0 && strncmp(why, UNKNOWN, strlen(UNKNOWN)) == 0) {
            unknown += n;
            if (models++ < NAMED && used < sizeof named) {
                snprintf(named + used, sizeof named - used, " %s", why + strlen(UNKNOWN));
            }
        } else if (n > 0) {
            printf("  %zu not answered: %s\n", n, why);
        }
    }
    if (unknown > 0) {
        printf("  %zu not answered: %zu unknown models:%s%s\n", unknown, models, named,
               models > NAMED ? " ..." : "");
    }
}

static void print_source(const dls_verdicts *v, size_t source)
{
    size_t silent = 0;
    printf("%-46s %5s %5s", v->source[source], "rows", "none");
    print_figures(NULL, false);
    for (size_t g = 0; g < v->n_groups; g++) {
        const dls_errors *e = &v->errors[g][source];
        if (e->answered == 0) {
            silent += g < v->groups.n;
            continue;
        }
        printf("%-46s %5zu %5zu", dls_verdicts_group_name(v, g), e->rows, e->rows - e->answered);
        print_figures(e, false);
    }
    if (silent > 0) {
        printf("  %zu groups without any answer are not shown\n", silent);
    }
    if (v->errors[v->groups.n][source].unfit > 0) {
        printf("  %zu of the answered are said not to fit the GPU's memory\n",
               v->errors[v->groups.n][source].unfit);
    }
    print_reasons(v, source);
    putchar('\n');
}

/* ---- for documents --------------------------------------------------------------------------- */

/* The sums, or the groups, as a table of a page. */
static void print_markdown(const dls_verdicts *v, bool groups)
{
    fputs("| source | rows | not answered |", stdout);
    print_figures(NULL, true);
    puts("|---|---|---|---|---|---|---|---|---|---|");
    for (size_t s = 0; s < v->n_sources; s++) {
        const size_t from = groups ? 0 : v->groups.n, to = groups ? v->groups.n : v->n_groups;
        for (size_t g = from; g < to; g++) {
            const dls_errors *e = &v->errors[g][s];
            const size_t all = v->errors[v->groups.n][s].rows;
            if (g != v->groups.n && (e->answered == 0 || e->rows == all)) {
                continue; /* nothing to tell, or told already */
            }
            printf("| %s | %zu | %zu |",
                   g == v->groups.n ? v->source[s] : dls_verdicts_group_name(v, g), e->rows,
                   e->rows - e->answered);
            print_figures(e, true);
        }
    }
}

/* ---- JSON ------------------------------------------------------------------------------------ */

static void json_errors(json_object *list, const dls_verdicts *v, size_t group, size_t source)
{
    const dls_errors *e = &v->errors[group][source];
    json_object *obj = dls_json_next(list);
    DLS_JSON(obj, "source", v->source[source], "group", dls_verdicts_group_name(v, group));
    for (size_t i = 0; i < dls_error_figures_n; i++) {
        const dls_error_figure *f = &dls_error_figures[i];
        const double x = dls_error_figure_of(f, e);
        if (f->files & DLS_ERROR_IN_JSON && f->count) {
            dls_json_int(obj, f->name, (int64_t)x);
        } else if (f->files & DLS_ERROR_IN_JSON) {
            dls_json_real(obj, f->name, x);
        }
    }
    json_object *why = dls_json_list(obj, "unanswered");
    for (size_t r = 0; r < v->reasons.n; r++) {
        const size_t n = refused(v, group, source, r);
        if (n > 0) {
            DLS_JSON(dls_json_next(why), "why", dls_strdict_get(&v->reasons, (int32_t)r), "rows",
                     n);
        }
    }
}

static void json_rows(json_object *top, const dls_verdicts *v)
{
    json_object *list = dls_json_list(top, "steps");
    for (size_t i = 0; i < v->steps->n; i++) {
        const dls_measured_step *row = &v->steps->row[i];
        json_object *obj = dls_json_next(list);
        DLS_JSON(obj, "group", dls_strdict_get(&v->groups, v->group_of[i]), "model", row->model,
                 "gpu", row->gpu, "gpus", row->gpus, "batch_per_gpu", row->batch, "precision",
                 dls_numeric_name((int)row->numeric),
                 v->steps->memory ? "measured_bytes" : "measured_s", row->step_s);
        for (size_t s = 0; s < v->n_sources; s++) {
            dls_json_real(obj, v->source[s], v->predicted[i * v->n_sources + s]);
        }
    }
}

static void json_steps(const request *a, json_object *top, const dls_verdicts *v)
{
    dls_json_int(top, "rows", (int64_t)v->steps->n);
    json_object *list = dls_json_list(top, "groups");
    for (size_t s = 0; s < v->n_sources; s++) {
        for (size_t g = 0; g < v->n_groups; g++) {
            json_errors(list, v, g, s);
        }
    }
    if (a->details) {
        json_rows(top, v);
    }
}

/* ---- kernels --------------------------------------------------------------------------------- */

#define MODELS 2

typedef struct model {
    const char *name;
    dls_kernel_model ask;
    const void *user;
} model;

static void print_line(const char *name, const dls_errors e[MODELS], bool markdown)
{
    printf(markdown ? "| %s | %zu |" : "%-40s %6zu", name, e[0].rows);
    for (int k = 0; k < MODELS; k++) {
        printf(markdown ? " %.1f | %.1f | %.1f | %.2f |" : "   %7.1f %7.1f %7.1f %5.2f",
               100 * e[k].median, 100 * e[k].mean, 100 * e[k].p90, e[k].bias);
    }
    putchar('\n');
}

static void add_line(json_object *list, const char *name, const model *models,
                     const dls_errors e[MODELS])
{
    json_object *obj = dls_json_next(list);
    DLS_JSON(obj, "kernels", name, "rows", e[0].rows);
    for (int k = 0; k < MODELS; k++) {
        DLS_JSON(dls_json_object(obj, models[k].name), "median", e[k].median, "mean", e[k].mean,
                 "p90", e[k].p90, "bias", e[k].bias);
    }
}

/* Nothing for a choice without rows. */
static dls_status line(const dls_measured_kernels *s, const dls_kernel_choice *c,
                       const char *family, const model *models, const request *a, json_object *list,
                       dls_error *err)
{
    dls_errors e[MODELS];
    char name[128];
    for (int k = 0; k < MODELS; k++) {
        DLS_TRY(dls_measured_kernels_judge(s, c, models[k].ask, models[k].user, &e[k], err));
    }
    snprintf(name, sizeof name, "%s%s, %s%s%s", c->gpu ? "- " : "", family, s->set[c->set],
             c->gpu ? ", " : "", c->gpu ? c->gpu->name : "");
    if (e[0].rows > 0 && list) {
        add_line(list, name, models, e);
    } else if (e[0].rows > 0) {
        print_line(name, e, a->markdown);
    }
    return DLS_OK;
}

static dls_status lines(const dls_measured_kernels *s, const request *a, const dls_hardware *hw,
                        const model *models, json_object *list, dls_error *err)
{
    size_t n;
    const dls_kernel_operation *op = dls_kernel_operations(&n);
    for (size_t i = 0; i < n; i++) {
        dls_kernel_choice c = {.family = op[i].sized, .least_s = a->least_ms / 1e3};
        for (c.set = 0; (i == 0 || op[i - 1].sized != c.family) && c.set < s->n_sets; c.set++) {
            DLS_TRY(line(s, &c, op[i].family, models, a, list, err));
            for (size_t g = 0; a->by_gpu && g < hw->n_gpus; g++) {
                c.gpu = &hw->gpu[g];
                DLS_TRY(line(s, &c, op[i].family, models, a, list, err));
            }
            c.gpu = NULL;
        }
    }
    return DLS_OK;
}

/* A line for each family and set, by the operator model and by the data sheet, to stdout or into
 * `top`. */
static dls_status kernels_report(const request *a, const dls_measured_kernels *s,
                                 const dls_hardware *hw, json_object *top, dls_error *err)
{
    dls_opmodel constants;
    DLS_OWN(dls_sized_table_fini) dls_sized_table sizes = {0};
    DLS_TRY(dls_opmodel_of(hw->folder, &sizes, &constants, err));
    const model models[MODELS] = {{"operator", dls_measured_operator_s, &constants},
                                  {"roofline", dls_measured_roofline_s, NULL}};
    if (a->markdown && !top) {
        puts("| kernels | rows | operator: median % | mean % | p90 % | bias | roofline: median % | "
             "mean % | "
             "p90 % | bias |\n|---|---|---|---|---|---|---|---|---|---|");
    } else if (!top) {
        printf("%zu measured kernels, %zu rows left out\n\n", s->n, s->bad.n);
        printf("%-40s %6s   %-29s   %-29s\n", "", "", "operator", "roofline");
        printf("%-40s %6s   %7s %7s %7s %5s   %7s %7s %7s %5s\n", "kernels", "rows", "median%",
               "mean%", "p90%", "bias", "median%", "mean%", "p90%", "bias");
    }
    return lines(s, a, hw, models, top ? dls_json_list(top, "kernels") : NULL, err);
}

/* ---- doublings of the batch ------------------------------------------------------------------ */

/* Twice the samples should take neither less time nor much more than twice as long: no measurement
 * is needed to see where a source contradicts itself. */

#define LARGEST_BATCH 512
#define MUCH 2.1 /* times as long */

typedef struct tally {
    int64_t n, longer, shorter;
    double most; /* times as long */
} tally;

static dls_status count_one(dls_whatif *w, const char *network, const dls_hw_gpu *gpu, tally *t,
                            dls_error *err)
{
    double last_s = (double)NAN;
    for (int32_t batch = 1; batch <= LARGEST_BATCH; batch *= 2) {
        dls_whatif_question q = {.model = network,
                                 .setting = {.workers = 1, .nodes = 1},
                                 .batch = batch,
                                 .step_only = true};
        dls_whatif_answer a;
        snprintf(q.setting.gpu, sizeof q.setting.gpu, "%s", gpu->name);
        snprintf(q.setting.link, sizeof q.setting.link, "%s", gpu->link);
        snprintf(q.setting.exchange, sizeof q.setting.exchange, "one");
        DLS_TRY(dls_whatif_ask(w, &q, &a, err));
        if (a.refused[0] || !a.fits) {
            return DLS_OK;
        }
        const double ratio = a.prediction.iteration_s / last_s;
        if (!isnan(ratio)) {
            t->n++;
            t->longer += ratio > MUCH;
            t->shorter += ratio < 1;
            t->most = fmax(t->most, ratio);
        }
        last_s = a.prediction.iteration_s;
    }
    return DLS_OK;
}

static bool first_of_family(size_t m)
{
    size_t i = 0;
    while (strcmp(dls_zoo_at(i)->family, dls_zoo_at(m)->family) != 0) {
        i++;
    }
    return i == m;
}

static dls_status count(dls_whatif *w, tally *t, dls_error *err)
{
    const dls_hardware *hw = dls_whatif_hardware(w);
    for (size_t m = 0; m < dls_zoo_size(); m++) {
        for (size_t g = 0; g < hw->n_gpus && first_of_family(m); g++) {
            DLS_TRY(count_one(w, dls_zoo_at(m)->name, &hw->gpu[g], t, err));
        }
    }
    return DLS_OK;
}

/* One line for a source: over all networks of the zoo and all GPUs of the table, how many doublings
 * of the batch on one GPU in fp32, from 1 sample to 512, it answers; of how many it says that they
 * take more than 2.1 times as long, and of how many less time. Batches that do not fit the GPU are
 * not asked about. `list`: an object goes there; NULL: to stdout. Errors: those of dls_whatif. */
static dls_status doublings_report(const dls_whatif_params *p, json_object *list, dls_error *err)
{
    DLS_HOLD(dls_whatif_destroy) dls_whatif *w = NULL;
    tally t = {0};
    DLS_TRY(dls_whatif_create(p, &w, err));
    DLS_TRY(count(w, &t, err));
    if (!list) {
        printf("| %s | %lld | %lld | %lld | %.2f |\n", p->source, (long long)t.n,
               (long long)t.longer, (long long)t.shorter, t.most);
        return DLS_OK;
    }
    DLS_JSON(dls_json_next(list), "source", p->source, "doublings", t.n, "much_longer", t.longer,
             "less_time", t.shorter, "longest", t.most);
    return DLS_OK;
}

/* ---- the command ----------------------------------------------------------------------------- */

typedef struct session {
    dls_hardware hw;
    dls_memo *memo;    /* of all sources */
    dls_whatif *model; /* operator's, once there are files of steps */
    dls_measured_defaults defaults;
    dls_measured_steps steps;
    dls_measured_kernels kernels;
    dls_verdicts v;
} session;

static dls_status read_steps(const request *a, const char *path, session *s, dls_error *err)
{
    const dls_whatif_params by = {
        .source = "operator", .hardware_dir = a->hardware, .memo = s->memo};
    const size_t first = s->steps.n;
    DLS_TRY(dls_measured_steps_read(&s->steps, path, &s->hw, &s->defaults, err));
    DLS_TRY(s->model ? DLS_OK : dls_whatif_create(&by, &s->model, err));
    return dls_measured_steps_check(&s->steps, first, path, s->model, err);
}

static dls_status read_files(const request *a, const dls_call *call, session *s, dls_error *err)
{
    s->defaults = (dls_measured_defaults){.text = a->defaults.at, .n = a->defaults.n};
    DLS_TRY(dls_alloc_array(&s->defaults.known, a->defaults.n, sizeof(bool), "defaults", err));
    s->steps.memory = a->memory;
    s->steps.busy = a->busy;
    DLS_TRY(dls_hardware_load(a->hardware, &s->hw, err));
    for (size_t i = 0; i < call->n_words; i++) {
        const char *path = call->word[i];
        bool kernels;
        DLS_TRY(dls_measured_is_kernels(path, &kernels, err));
        DLS_TRY(kernels ? dls_measured_kernels_read(&s->kernels, path, &s->hw, &s->defaults, err)
                        : read_steps(a, path, s, err));
    }
    for (size_t i = 0; i < a->defaults.n; i++) {
        if (!s->defaults.known[i]) {
            return dls_fail(err, DLS_EUSAGE, NULL,
                            "option '--default' is \"%s\": expected COLUMN=VALUE, of a column that "
                            "the files may have",
                            a->defaults.at[i]);
        }
    }
    return DLS_OK;
}

static void complain(const char *how, const dls_complaints *bad)
{
    for (size_t i = 0; i < bad->n && i < COMPLAINTS; i++) {
        fprintf(stderr, "%s: %s\n", how, bad->at[i].text);
    }
    if (bad->n > COMPLAINTS) {
        fprintf(stderr, "%s: %zu more\n", how, bad->n - COMPLAINTS);
    }
}

static void json_complaints(json_object *list, const dls_complaints *bad)
{
    for (size_t i = 0; i < bad->n; i++) {
        dls_json_text(dls_json_next(list), "why", bad->at[i].text);
    }
}

static dls_status report(const request *a, const session *s, dls_error *err)
{
    DLS_HOLD(json_object_put) json_object *top = a->json ? json_object_new_object() : NULL;
    if (top) {
        json_object *list = dls_json_list(top, "left_out");
        json_complaints(list, &s->steps.bad);
        json_complaints(list, &s->kernels.bad);
        json_complaints(dls_json_list(top, "doubtful"), &s->steps.doubts);
        json_steps(a, top, &s->v);
    } else if (a->markdown && s->steps.n > 0) {
        print_markdown(&s->v, a->left_out || a->groups);
    } else if (!a->markdown && (s->steps.n > 0 || s->steps.bad.n > 0)) {
        printf("%zu measured %s, %zu rows left out\n\n", s->steps.n,
               s->steps.memory ? "footprints" : "steps", s->steps.bad.n);
        for (size_t i = 0; i < s->v.n_sources; i++) {
            print_source(&s->v, i);
        }
    }
    if (s->kernels.n > 0 || s->kernels.bad.n > 0) {
        DLS_TRY(kernels_report(a, &s->kernels, &s->hw, top, err));
    }
    return top ? dls_json_print(stdout, dls_take(&top), err) : DLS_OK;
}

static dls_status judge(const request *a, const dls_call *call, session *s, dls_error *err)
{
    dls_verdict_options o = {.sources = a->sources.n ? a->sources.at : NULL,
                             .n_sources = a->sources.n,
                             .hardware_dir = a->hardware,
                             .weights = a->weights,
                             .networks = a->networks,
                             .memo = s->memo,
                             .left_out = a->left_out};
    DLS_TRY(read_files(a, call, s, err));
    if (!a->no_points && !a->memory && !a->busy && (s->steps.n > 0 || call->n_words == 0)) {
        DLS_TRY(dls_measured_steps_points(&s->steps, err));
    }
    complain("left out", &s->steps.bad);
    complain("left out", &s->kernels.bad);
    complain("doubtful", &s->steps.doubts);
    o.known = s->model;
    DLS_TRY(dls_verdicts_ask(&s->steps, &o, &s->v, err));
    if (a->output) {
        char command[1024];
        dls_call_text(call, command, sizeof command);
        DLS_TRY(dls_verdicts_save(&s->v, a->output, command, err));
    }
    return report(a, s, err);
}

/* Of the named sources, else of those that need no file of networks. */
static dls_status double_batches(const request *a, dls_error *err)
{
    DLS_HOLD(dls_memo_destroy) dls_memo *memo = dls_memo_create();
    DLS_HOLD(json_object_put) json_object *top = a->json ? json_object_new_object() : NULL;
    json_object *list = dls_json_list(top, "doublings");
    const char *const *source = a->sources.n ? a->sources.at : dls_whatif_sources();
    if (!top) {
        printf("| source | doublings | more than %g times as long | less time | longest, times |\n"
               "|---|---|---|---|---|\n",
               MUCH);
    }
    for (size_t i = 0; a->sources.n ? i < a->sources.n : source[i] != NULL; i++) {
        const bool justus = strcmp(source[i], "justus") == 0;
        const dls_whatif_params p = {.source = source[i],
                                     .hardware_dir = a->hardware,
                                     .memo = memo,
                                     .weights = justus ? a->networks : a->weights};
        if (a->sources.n || !justus || a->networks) {
            DLS_TRY(doublings_report(&p, list, err));
        }
    }
    return top ? dls_json_print(stdout, dls_take(&top), err) : DLS_OK;
}

static void session_fini(session *s)
{
    dls_verdicts_fini(&s->v);
    dls_free(s->defaults.known);
    dls_whatif_destroy(s->model);
    dls_measured_steps_fini(&s->steps);
    dls_measured_kernels_fini(&s->kernels);
    dls_hardware_fini(&s->hw);
    dls_memo_destroy(s->memo);
}

static dls_status run(dls_call *call, dls_error *err)
{
    DLS_OWN(session_fini) session s = {.memo = dls_memo_create()};
    return ((const request *)call->request)->doublings ? double_batches(call->request, err)
                                                       : judge(call->request, call, &s, err);
}

static const dls_arg args[] = {
    DLS_ARG(DLS_ROW(DLS_ARG_SWITCH, 1, request, measured, "measured", 0, NULL, "this"),
            .hidden = true),
    DLS_LIST(request, sources, "sources", 0, "A,B,...", NULL,
             "of driple, operator, paleo, habitat, justus; all if left out; again: what others "
             "measured of the same job"),
    DLS_SWITCH(request, no_points, "no-points", 0, "the files alone, without the published points"),
    DLS_REPEAT(request, defaults, "default", 0, "COLUMN=VALUE",
               "what a column holds where a file lacks it; may be repeated"),
    DLS_TEXT(request, weights, "weights", 0, "W.h5",
             "driple: inspector file; the one that comes with dlsim if left out"),
    DLS_TEXT(request, networks, "learned", 0, "J.h5",
             "justus: its networks (dlsim train --baseline=justus)"),
    DLS_TEXT(request, hardware, "hardware", 0, "DIR",
             "folder of gpus.cfg, links.cfg and operator.cfg"),
    DLS_REAL(request, least_ms, "least-ms", 0, 0, 1e9,
             "kernels that took less are left out: the launch is most of their time"),
    DLS_SWITCH(request, by_gpu, "by-gpu", 0, "kernels of every GPU by themselves, too"),
    DLS_SWITCH(request, memory, "memory", 0,
               "GPU memory in place of the time: files with a column memory_mib"),
    DLS_SWITCH(request, busy, "busy", 0,
               "the time in which kernels run in place of the step: files with a column busy_ms"),
    DLS_SWITCH(request, left_out, "left-out", 0,
               "each GPU in turn as if nothing had been fitted to it (operator); by GPU"),
    DLS_SWITCH(
        request, doublings, "doublings", 0,
        "no measured steps: doublings of the batch that take less time or much more, of sources"),
    DLS_OUTPUT(request, output, "output", 'o', "OUT.h5", "steps, answers and errors as HDF5"),
    DLS_SWITCH(request, markdown, "markdown", 0, "the sums as a table of a document"),
    DLS_SWITCH(request, groups, "groups", 0, "its groups in place of the sums", .of = "--markdown"),
    DLS_SWITCH(request, json, "json", 0, "all numbers as JSON"),
    DLS_SWITCH(request, details, "details", 0, "every row with every answer", .of = "--json"),
    DLS_ARGS_END};

const dls_command dls_evaluate_measured = {
    .name = "evaluate --measured",
    .group = DLS_LABORATORY,
    .summary = "how far predictors are from measured training steps",
    .usage = "[OPTION]... [FILE]...",
    .about =
        "Every source of predictions is asked about every measured step: the published points "
        "that come with dlsim, and files (docs/measured.md). For each group of rows: how many "
        "are not answered; median, mean and 90th percentile of |predicted / measured - 1|; the "
        "geometric mean of predicted / measured; Kendall's tau over networks on one GPU; of "
        "pairs of GPUs, how many, the share in the measured order and the median error of "
        "their ratio.",
    .args = args,
    .words = "FILE...",
    .max_words = DLS_ANY_NUMBER,
    .size = sizeof(request),
    .run = run,
};
