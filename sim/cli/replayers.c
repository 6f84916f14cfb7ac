/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * The commands of the published simulators, one for each table of dlsim/replayer.h, and all
 * commands.
 */
#include "base/assert.h"
#include "cli/replay.h"
#include "cli/signals.h"
#include "dlsim/replayer.h"

#include <stdlib.h>
#include <string.h>

enum { OPTIONS_MAX = 24, REPLAYERS_MAX = 16, COMMANDS_MAX = 64 };

/* What the parser has checked: the replayer takes the texts. */
typedef union slot {
    bool b;
    int64_t i;
    double f;
    const char *s;
    dls_words words;
} slot;

typedef struct request {
    slot slot[OPTIONS_MAX];
    dls_table_options out;
} request;

typedef struct replaying {
    dls_command command; /* the first member: a call leads to the rest */
    const dls_replayer *replayer;
    dls_arg arg[OPTIONS_MAX + 2];
    request initial;
    char usage[200];
} replaying;

/* Of the table above: an option of the replayer, or NULL. */
static const slot *slot_of(const replaying *of, const request *r, const dls_arg *a)
{
    for (size_t k = 0; of->replayer->options[k].name; k++) {
        if (a == &of->arg[k]) {
            return &r->slot[k];
        }
    }
    return NULL;
}

/* ---- the run --------------------------------------------------------------------------------- */

typedef struct work {
    const dls_call *call;
    const dls_setting *settings;
    size_t n;
    bool quiet;
} work;

static dls_status put(FILE *to, void *what, dls_error *err)
{
    const work *w = what;
    const dls_replayer_output out = {to, w->quiet ? NULL : stderr, dls_signals_interrupted, NULL};
    return dls_replayer_run(w->call->command->name, w->settings, w->n,
                            w->call->n_words ? w->call->word[0] : NULL, &out, err);
}

static dls_status run(dls_call *call, dls_error *err)
{
    const request *r = call->request;
    const replaying *of = (const replaying *)(const void *)call->command;
    DLS_FREED dls_setting *settings = NULL;
    work w = {.call = call, .quiet = r->out.quiet};
    DLS_TRY(dls_alloc_array(&settings, call->n_given + 1, sizeof *settings, "settings", err));
    for (size_t i = 0; i < call->n_given; i++) {
        const dls_arg *a = call->given[i].arg;
        const slot *to = slot_of(of, r, a);
        const char *value = call->given[i].value;
        if (to) {
            value = a->type != DLS_ARG_SWITCH ? value : to->b ? "true" : "false";
            settings[w.n++] = (dls_setting){a->name, value};
        }
    }
    w.settings = settings;
    if (!of->replayer->input) { /* it looks whether it is interrupted */
        dls_signals_catch();
    }
    const dls_status status = dls_table_put(&r->out, put, &w, err);
    if (!of->replayer->input) {
        dls_signals_release();
    }
    return status;
}

/* ---- from table to command ------------------------------------------------------------------- */

/* Options of a replayer have all but lists. */
static const struct {
    dls_arg_type type;
    const char *called;
    size_t size;
} kinds[] = {[DLS_OPT_BOOL] = {DLS_ARG_SWITCH, NULL, sizeof(bool)},
             [DLS_OPT_I64] = {DLS_ARG_INT, "N", sizeof(int64_t)},
             [DLS_OPT_F64] = {DLS_ARG_REAL, "X", sizeof(double)},
             [DLS_OPT_STR] = {DLS_ARG_TEXT, "TEXT", sizeof(char *)},
             [DLS_OPT_PATH] = {DLS_ARG_TEXT, "FILE", sizeof(char *)},
             [DLS_OPT_TIME] = {DLS_ARG_TIME, "TIME", sizeof(double)}};

static void add_option(replaying *of, size_t k, const dls_option *o)
{
    const bool repeats = of->replayer->repeats && strcmp(o->name, of->replayer->repeats) == 0;
    const bool chosen = strcmp(o->name, of->replayer->chosen) == 0;
    of->arg[k] = (dls_arg){.type = repeats ? DLS_ARG_REPEAT : kinds[o->type].type,
                           .name = o->name,
                           .metavar = o->choices ? o->choices
                                      : *o->unit ? o->unit
                                                 : kinds[o->type].called,
                           .help = o->doc,
                           .at = k * sizeof(slot),
                           .size = kinds[o->type].size,
                           .least = (int64_t)o->min,
                           .most = o->max < 9e18 ? (int64_t)o->max : INT64_MAX,
                           .min = o->min,
                           .max = o->max,
                           .optional = o->type == DLS_OPT_BOOL && *o->unit,
                           .names = chosen ? of->replayer->choice : NULL,
                           .list = !chosen                     ? NULL
                                   : strcmp(o->name, "policy") ? "Schedules"
                                                               : "Policies"};
    slot *def = &of->initial.slot[k];
    if (o->type == DLS_OPT_I64) {
        def->i = strtoll(o->def, NULL, 10);
    } else if (o->type == DLS_OPT_F64 || o->type == DLS_OPT_TIME) {
        def->f = strtod(o->def, NULL);
    } else if (kinds[o->type].type == DLS_ARG_TEXT && !repeats) {
        def->s = o->def;
    }
}

static void make(replaying *of, const dls_replayer *r)
{
    size_t n = 0;
    of->replayer = r;
    size_t used = (size_t)snprintf(of->usage, sizeof of->usage, "[--%s=NAME] ", r->chosen);
    for (const dls_option *o = r->options; o->name; o++, n++) {
        DLS_ASSERT(n < OPTIONS_MAX && (size_t)o->type < sizeof kinds / sizeof *kinds);
        add_option(of, n, o);
        if (r->needs && strcmp(r->needs, o->name) == 0) {
            used += (size_t)snprintf(of->usage + used, sizeof of->usage - used, "--%s=%s ", o->name,
                                     o->unit);
        }
    }
    if (r->input) {
        of->arg[n++] = (dls_arg)DLS_INCLUDE(request, out, dls_table_args);
    }
    of->arg[n] = (dls_arg)DLS_ARGS_END;
    snprintf(of->usage + used, sizeof of->usage - used, "%s%s[OPTION]...", r->input ? r->input : "",
             r->input ? " " : "");
    of->command = (dls_command){.name = r->name,
                                .summary = r->summary,
                                .usage = of->usage,
                                .about = r->about,
                                .args = of->arg,
                                .words = r->input,
                                .needs = r->needs,
                                .size = sizeof(request),
                                .initial = &of->initial,
                                .run = run};
}

static int by_name(const void *a, const void *b)
{
    return strcmp((*(const dls_command *const *)a)->name, (*(const dls_command *const *)b)->name);
}

const dls_command *const *dls_commands(void)
{
    static const dls_command *all[COMMANDS_MAX];
    static replaying made[REPLAYERS_MAX];
    if (!all[0]) {
        const dls_replayer *const *r = dls_replayers();
        size_t n = 0;
        for (size_t i = 0; r[i]; i++) {
            DLS_ASSERT(i < REPLAYERS_MAX);
            make(&made[i], r[i]);
            all[n++] = &made[i].command;
        }
        for (const dls_command *const *c = dls_own_commands(); *c; c++) {
            DLS_ASSERT(n + 1 < COMMANDS_MAX);
            all[n++] = *c;
        }
        qsort(all, n, sizeof *all, by_name);
    }
    return all;
}
