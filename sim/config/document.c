/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * What the tables of keys and options say about themselves: the manual's tables,
 * one key explained, all of it for programs.
 */
#include "base/json.h"
#include "base/suggest.h"
#include "config/load.h"

#include <string.h>

/* A key of the configuration, or an option of a policy. */
typedef struct row {
    const char *name; /* "scheduler.slice" */
    const dls_option *o;
    int key;                      /* -1: an option */
    const char *policy, *summary; /* of an option */
    bool first;                   /* of a table */
} row;

typedef void (*row_fn)(void *user, const row *r);

/* The options of a policy; a row with o NULL first. */
static void each_option(int group, const char *policy, const char *summary,
                        const dls_option *options, row_fn fn, void *user)
{
    fn(user, &(row){.key = -1, .policy = policy, .summary = summary});
    for (size_t i = 0; i < dls_options_count(options); i++) {
        char name[64];
        snprintf(name, sizeof name, "%s.%s", dls_schema[group].o.name, options[i].name);
        fn(user, &(row){name, &options[i], -1, policy, summary, i == 0});
    }
}

static void each_key(row_fn fn, void *user)
{
    for (int key = 0; key < DLS_CFG_COUNT; key++) {
        const dls_option *o = &dls_schema[key].o;
        fn(user, &(row){o->name, o, key, NULL, NULL, key == 0});
    }
}

static void each_scheduler(const dls_registry *registry, row_fn fn, void *user)
{
    for (const dls_sched_ops *const *s = dls_registry_scheds(registry); *s; s++) {
        each_option(DLS_CFG_SCHEDULER, (*s)->name, (*s)->summary, (*s)->options, fn, user);
    }
}

static void each_placement(const dls_registry *registry, row_fn fn, void *user)
{
    for (const dls_placement_ops *const *p = dls_registry_placements(registry); *p; p++) {
        each_option(DLS_CFG_PLACEMENT, (*p)->name, (*p)->summary, (*p)->options, fn, user);
    }
}

static bool required(const row *r)
{
    return r->key >= 0 && dls_schema[r->key].required;
}

/* ---- markdown -------------------------------------------------------------------------------- */

/* Inside a table a bar is a border. */
static void put_cell(FILE *out, const char *text)
{
    for (; *text; text++) {
        fputs(*text == '|' ? "\\" : "", out);
        fputc(*text, out);
    }
}

static void markdown_row(void *user, const row *r)
{
    FILE *out = user;
    char domain[300];
    const bool group = r->o && r->o->type == DLS_OPT_GROUP;
    if (!r->o) {
        fprintf(out, "\n### %s\n\n%s.\n", r->policy, r->summary);
        return;
    }
    if (group) {
        fprintf(out, "\n## %s\n\n%s\n", r->name, r->o->doc);
    }
    if (group || r->first) {
        fputs("\n| key | takes | default | meaning |\n|---|---|---|---|\n", out);
    }
    if (group) {
        return;
    }
    const char *mark = required(r) || !*r->o->def ? "" : "`";
    fprintf(out, "| `%s` | ", r->name);
    put_cell(out, dls_option_domain(r->o, domain, sizeof domain));
    fprintf(out, " | %s%s%s | ", mark, required(r) ? "required" : r->o->def, mark);
    put_cell(out, r->o->doc);
    fputs(" |\n", out);
}

static const char *const intro =
    "# Configuration\n"
    "\n"
    "Written by `dlsim config --markdown`; do not edit.\n"
    "\n"
    "A configuration is a [libconfig](https://hyperrealm.github.io/libconfig/) file. Unknown "
    "keys,\n"
    "wrong types, values out of range and missing units are errors; `dlsim config --check FILE` "
    "lists\n"
    "all of them. `dlsim config --defaults` prints a file with every key, and `dlsim config\n"
    "--explain NAME` explains one.\n"
    "\n"
    "A value is taken from, the last one counts: the default, the file, `--set key=value` and "
    "named\n"
    "options such as `--seed` in the order of the command line. An element of a list is named by "
    "its\n"
    "number: `--set 'cluster.nodes[0].count=64'`.\n"
    "\n"
    "Quantities are text with a unit: `\"62 s\"`, `\"7d\"`, `\"80 GiB\"`, `\"100 Gb/s\"` (bits),\n"
    "`\"12.5 GB/s\"` (bytes), `\"15.7 TFLOP/s\"`. A bare number is a time in seconds. Whole "
    "numbers\n"
    "beyond 32 bits need an L behind them; a list in brackets `[1, 2]` is all integers or all "
    "floats,\n"
    "one in parentheses `(1, 2.5)` may mix them. `@include \"other.cfg\"` at the start of a line "
    "reads a file\n"
    "of the same folder.\n"
    "\n"
    "The groups `scheduler` and `placement` also take the options of the policy that they name. "
    "When\n"
    "another policy is chosen on the command line, the file's options of the first one are left "
    "out.\n";

void dls_config_print_markdown(FILE *out, const dls_registry *registry)
{
    fputs(intro, out);
    each_key(markdown_row, out);
    fputs("\n## Schedulers\n", out);
    each_scheduler(registry, markdown_row, out);
    fputs("\n## Placements\n", out);
    each_placement(registry, markdown_row, out);
}

/* ---- for programs ---------------------------------------------------------------------------- */

static void json_row(void *user, const row *r)
{
    if (r->o) {
        json_object *to = dls_json_next(user);
        dls_option_json(to, r->name, r->o);
        dls_json_bool(to, "required", required(r));
        if (r->policy) {
            dls_json_text(to, "policy", r->policy);
        }
    }
}

void dls_config_json(json_object *list, const dls_registry *registry)
{
    each_key(json_row, list);
    each_scheduler(registry, json_row, list);
    each_placement(registry, json_row, list);
}

/* ---- one key --------------------------------------------------------------------------------- */

typedef struct search {
    FILE *out;
    const char *key;
    bool found;
} search;

/* "cluster.nodes.count" and "cluster.nodes[3].count" are fine for "cluster.nodes[].count". */
static bool is_called(const char *name, const char *key)
{
    while (*name && *key) {
        if (strncmp(name, "[]", 2) == 0) {
            name += 2;
            const char *close = *key == '[' ? strchr(key, ']') : NULL;
            key = close ? close + 1 : key;
        } else if (*name++ != *key++) {
            return false;
        }
    }
    return !*name && !*key;
}

static void explain_row(void *user, const row *r)
{
    search *s = user;
    char domain[300];
    if (!r->o || !is_called(r->name, s->key)) {
        return;
    }
    s->found = true;
    fprintf(s->out, "%s%s%s\n  %s\n  takes:   %s\n", r->name, r->policy ? ", option of " : "",
            r->policy ? r->policy : "", r->o->doc, dls_option_domain(r->o, domain, sizeof domain));
    if (r->key < 0 || dls_schema_is_value(r->key)) {
        fprintf(s->out, "  %s %s\n", required(r) ? "must be given, e.g." : "default:",
                *r->o->def ? r->o->def : "(empty)");
        return;
    }
    const int list = r->o->type == DLS_OPT_LIST ? r->key : -1;
    fputs("  keys:   ", s->out);
    for (int i = r->key + 1; i < DLS_CFG_COUNT; i++) {
        if (dls_schema_list_of(i) == list && (list >= 0 || dls_schema_in_group(i, r->key))) {
            fprintf(s->out, " %s", dls_schema_leaf(i));
        }
    }
    fputs("\n", s->out);
}

dls_status dls_config_explain(FILE *out, const dls_registry *registry, const char *key,
                              dls_error *err)
{
    search s = {out, key, false};
    each_key(explain_row, &s);
    each_scheduler(registry, explain_row, &s);
    each_placement(registry, explain_row, &s);
    return s.found ? DLS_OK
                   : dls_fail(err, DLS_EUSAGE, NULL, "unknown key '%s'%s", key,
                              DLS_DID_YOU_MEAN(dls_schema_suggest(key)));
}
