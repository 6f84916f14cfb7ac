/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * What the schema says about itself: the default file, the manual's tables, one key explained.
 */
#include "base/suggest.h"
#include "config/load.h"
#include "engine/options.h"

#include <stdio.h>
#include <string.h>

/* A comment, wrapped at 96 columns. */
static void put_comment(FILE *out, const char *indent, const char *text)
{
    const size_t width = 96 - strlen(indent);
    while (*text) {
        size_t len = strlen(text);
        if (len > width) {
            for (len = width; len > 0 && text[len] != ' '; len--) {
            }
            len = len > 0 ? len : width;
        }
        fprintf(out, "%s# %.*s\n", indent, (int)len, text);
        text += len + (text[len] == ' ');
    }
}

static void put_default(FILE *out, int key)
{
    const dls_key *k = &dls_schema[key];
    const char *text = k->def ? k->def : k->example;
    const bool bare = k->type == DLS_KEY_BOOL || k->type == DLS_KEY_INT;
    if (k->type == DLS_KEY_FLOAT) {
        fprintf(out, "%s%s", text, strpbrk(text, ".e") ? "" : ".0");
    } else if (bare) {
        fputs(text, out);
    } else {
        dls_config_put_string(out, text);
    }
}

static void put_key(FILE *out, int key, const char *indent)
{
    char domain[200], line[600];
    dls_schema_domain(key, domain, sizeof domain);
    snprintf(line, sizeof line, "%s%s %s%s.", dls_schema[key].def ? "" : "Required. ",
             dls_schema[key].doc, (domain[0] == 't' && domain[1] == 'r') ? "" : "Takes ", domain);
    put_comment(out, indent, line);
    fprintf(out, "%s%s = ", indent, dls_schema_leaf(key));
    put_default(out, key);
    fputs(";\n", out);
}

/* One element of a list; the lists that may be empty are commented out. */
static void put_list(FILE *out, int key)
{
    const bool needed = key == DLS_CFG_NODES;
    const char *indent = needed ? "        " : "    #     ";
    put_comment(out, "    ", dls_schema[key].doc);
    fprintf(out, "    %s%s = (\n    %s  {\n", needed ? "" : "# ", dls_schema_leaf(key),
            needed ? "" : "# ");
    for (int field = key + 1; field <= key + dls_schema_n_fields(key); field++) {
        put_key(out, field, indent);
    }
    fprintf(out, "    %s  }\n    %s);\n", needed ? "" : "# ", needed ? "" : "# ");
}

static void put_policy_options(FILE *out, const char *policy, const dls_option *options)
{
    if (dls_options_count(options) > 0) {
        fprintf(out, "    # Options of %s:\n", policy);
    }
    for (size_t i = 0; i < dls_options_count(options); i++) {
        char line[400];
        snprintf(line, sizeof line, "%s%s%s%s", options[i].doc, *options[i].unit ? " (" : "",
                 options[i].unit, *options[i].unit ? ")" : "");
        put_comment(out, "    ", line);
        dls_option_value value;
        if (dls_option_parse(&options[i], options[i].def, &value, NULL) == DLS_OK) {
            fprintf(out, "    %s = ", options[i].name);
            dls_config_put_option(out, &options[i], &value);
            fputs(";\n", out);
        }
    }
}

static void close_group(FILE *out, int group, const dls_registry *registry)
{
    const dls_sched_ops *sched;
    const dls_placement_ops *place;
    const char *def;
    if (group == DLS_CFG_SCHEDULER) {
        def = dls_schema[DLS_CFG_SCHED_NAME].def;
        if (dls_registry_sched(registry, def, &sched, NULL) == DLS_OK) {
            put_policy_options(out, def, sched->options);
        }
    } else if (group == DLS_CFG_PLACEMENT) {
        def = dls_schema[DLS_CFG_PLACEMENT_NAME].def;
        if (dls_registry_placement(registry, def, &place, NULL) == DLS_OK) {
            put_policy_options(out, def, place->options);
        }
    }
    if (group >= 0) {
        fputs("};\n", out);
    }
}

void dls_config_print_defaults(FILE *out, const dls_registry *registry)
{
    int group = -1;
    fputs("# Every key of a dlsim configuration, at its default. Quantities carry units.\n", out);
    for (int key = 0; key < DLS_CFG_COUNT; key++) {
        if (dls_schema_list_of(key) >= 0) {
            continue;
        }
        switch (dls_schema[key].type) {
        case DLS_KEY_GROUP:
            close_group(out, group, registry);
            group = key;
            fputs("\n", out);
            put_comment(out, "", dls_schema[key].doc);
            fprintf(out, "%s:\n{\n", dls_schema[key].path);
            break;
        case DLS_KEY_LIST:
            put_list(out, key);
            break;
        default:
            put_key(out, key, group >= 0 ? "    " : "");
        }
    }
    close_group(out, group, registry);
}

/* ---- markdown ----------------------------------------------------------------------------------
 */

/* Inside a table a bar is a border. */
static void put_cell(FILE *out, const char *text)
{
    for (; *text; text++) {
        fputs(*text == '|' ? "\\" : "", out);
        fputc(*text, out);
    }
}

static void put_row(FILE *out, int key)
{
    char domain[200];
    const dls_key *k = &dls_schema[key];
    fprintf(out, "| `%s` | ", k->path);
    put_cell(out, dls_schema_domain(key, domain, sizeof domain));
    fprintf(out, " | %s%s%s | ", k->def && *k->def ? "`" : "", k->def ? k->def : "required",
            k->def && *k->def ? "`" : "");
    put_cell(out, k->doc);
    fputs(" |\n", out);
}

static void put_option_rows(FILE *out, const char *group, const char *policy, const char *summary,
                            const dls_option *options)
{
    fprintf(out, "\n### %s\n\n%s.\n", policy, summary);
    if (dls_options_count(options) == 0) {
        return;
    }
    fputs("\n| key | takes | default | meaning |\n|---|---|---|---|\n", out);
    for (size_t i = 0; i < dls_options_count(options); i++) {
        char domain[200];
        fprintf(out, "| `%s.%s` | ", group, options[i].name);
        put_cell(out, dls_option_domain(&options[i], domain, sizeof domain));
        const bool some = *options[i].def != '\0';
        fprintf(out, " | %s%s%s | ", some ? "`" : "", options[i].def, some ? "`" : "");
        put_cell(out, options[i].doc);
        fputs(" |\n", out);
    }
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
    "--explain KEY` explains one.\n"
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
    "reads a "
    "file\n"
    "of the same folder.\n"
    "\n"
    "The groups `scheduler` and `placement` also take the options of the policy that they name. "
    "When\n"
    "another policy is chosen on the command line, the file's options of the first one are left "
    "out.\n";

void dls_config_print_markdown(FILE *out, const dls_registry *registry)
{
    fputs(intro, out);
    for (int key = 0; key < DLS_CFG_COUNT; key++) {
        const dls_key_type type = dls_schema[key].type;
        if (type == DLS_KEY_GROUP) {
            fprintf(out, "\n## %s\n\n%s\n", dls_schema[key].path, dls_schema[key].doc);
        }
        if (key == 0 || type == DLS_KEY_GROUP) {
            fputs("\n| key | takes | default | meaning |\n|---|---|---|---|\n", out);
        }
        if (type != DLS_KEY_GROUP) {
            put_row(out, key);
        }
    }
    fputs("\n## Schedulers\n", out);
    for (const dls_sched_ops *const *s = dls_registry_scheds(registry); *s; s++) {
        put_option_rows(out, "scheduler", (*s)->name, (*s)->summary, (*s)->options);
    }
    fputs("\n## Placements\n", out);
    for (const dls_placement_ops *const *p = dls_registry_placements(registry); *p; p++) {
        put_option_rows(out, "placement", (*p)->name, (*p)->summary, (*p)->options);
    }
}

/* ---- one key -----------------------------------------------------------------------------------
 */

static void explain_key(FILE *out, int key)
{
    char domain[200];
    const dls_key *k = &dls_schema[key];
    fprintf(out, "%s\n  %s\n  takes:   %s\n", k->path, k->doc,
            dls_schema_domain(key, domain, sizeof domain));
    if (k->type == DLS_KEY_GROUP || k->type == DLS_KEY_LIST) {
        fputs("  keys:   ", out);
        const size_t len = strlen(k->path);
        for (int i = key + 1; i < DLS_CFG_COUNT && strncmp(dls_schema[i].path, k->path, len) == 0;
             i++) {
            if ((k->type == DLS_KEY_LIST) == (dls_schema_list_of(i) == key)) {
                fprintf(out, " %s", dls_schema_leaf(i));
            }
        }
        fputs("\n", out);
    } else if (k->def) {
        fprintf(out, "  default: %s\n", *k->def ? k->def : "(empty)");
    } else {
        fprintf(out, "  must be given, e.g. %s\n", k->example);
    }
}

static bool explain_option(FILE *out, const char *group, const char *policy,
                           const dls_option *options, const char *name)
{
    char domain[200];
    const dls_option *o = dls_options_find(options, name);
    if (o) {
        fprintf(out, "%s.%s, option of %s\n  %s\n  takes:   %s\n  default: %s\n", group, name,
                policy, o->doc, dls_option_domain(o, domain, sizeof domain),
                *o->def ? o->def : "(empty)");
    }
    return o != NULL;
}

dls_status dls_config_explain(FILE *out, const dls_registry *registry, const char *key,
                              dls_error *err)
{
    bool found = false;
    for (int i = 0; i < DLS_CFG_COUNT; i++) {
        /* "cluster.nodes.count" and "cluster.nodes[3].count" are fine for "cluster.nodes[].count"
         */
        const char *p = dls_schema[i].path, *q = key;
        while (*p && *q) {
            if (strncmp(p, "[]", 2) == 0) {
                p += 2;
                const char *close = *q == '[' ? strchr(q, ']') : NULL;
                q = close ? close + 1 : q;
            } else if (*p++ != *q++) {
                p = "no";
                break;
            }
        }
        if (!*p && !*q) {
            explain_key(out, i);
            found = true;
        }
    }
    for (const dls_sched_ops *const *s = dls_registry_scheds(registry); *s; s++) {
        found |= strncmp(key, "scheduler.", 10) == 0 &&
                 explain_option(out, "scheduler", (*s)->name, (*s)->options, key + 10);
    }
    for (const dls_placement_ops *const *p = dls_registry_placements(registry); *p; p++) {
        found |= strncmp(key, "placement.", 10) == 0 &&
                 explain_option(out, "placement", (*p)->name, (*p)->options, key + 10);
    }
    if (!found) {
        const char *near = dls_schema_suggest(key);
        return dls_fail(err, DLS_EUSAGE, NULL, "unknown key '%s'%s%s%s", key,
                        near ? " (did you mean '" : "", near ? near : "", near ? "'?)" : "");
    }
    return DLS_OK;
}
