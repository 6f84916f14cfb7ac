/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Prints --help and `dlsim help --json`, of which docs/manual.py makes the manual page, from the
 * same tables that parse the command line.
 */
#include "base/alloc.h"
#include "base/json.h"
#include "base/units.h"
#include "cli/command.h"

#include <math.h>
#include <string.h>

enum { WIDTH = 90, INDENT = 26 };

static const char *const group_names[] = {"Simulator", "Laboratory"};

/* ---- text ------------------------------------------------------------------------------------ */

/* Words of `text` from column `at` on, lines broken before WIDTH and begun at `indent`; a line
 * break in the text stays one. */
static void put_wrapped(FILE *to, const char *text, size_t at, size_t indent)
{
    for (const char *s = text; *s;) {
        if (*s == '\n') {
            fputc('\n', to);
            at = 0;
            s++;
            continue;
        }
        const size_t blanks = strspn(s, " "), len = strcspn(s + blanks, " \n");
        if (at > indent && at + blanks + len > WIDTH) {
            fputc('\n', to);
            at = 0;
        }
        if (at == 0) {
            fprintf(to, "%*s", (int)indent, "");
            at = indent;
        } else {
            fprintf(to, "%*s", (int)blanks, "");
            at += blanks;
        }
        fprintf(to, "%.*s", (int)len, s + blanks);
        at += len;
        s += blanks + len;
    }
    fputc('\n', to);
}

/* The word of a choice at `place`, into buf. */
static void choice_at(const char *metavar, int place, char *buf, size_t size)
{
    const char *w = place >= 0 ? metavar : NULL;
    while (w && place-- > 0) {
        w = strchr(w, '|');
        w = w ? w + 1 : NULL;
    }
    snprintf(buf, size, "%.*s", w ? (int)strcspn(w, "|") : 0, w ? w : "");
}

/* The member of an option that is a whole number or a choice. */
static int64_t whole_of(const dls_arg *a, const void *member)
{
    return a->size == sizeof(int64_t)   ? *(const int64_t *)member
           : a->size == sizeof(int32_t) ? *(const int32_t *)member
                                        : *(const bool *)member;
}

/* What the option is if it is not given, "" for nothing that could be told. */
static void default_of(const dls_arg *a, const void *member, char *buf, size_t size)
{
    const bool real = a->type == DLS_ARG_REAL || a->type == DLS_ARG_TIME;
    const double x = real ? *(const double *)member : 0;
    *buf = '\0';
    if (a->type == DLS_ARG_TEXT) {
        const char *text = *(const char *const *)member;
        snprintf(buf, size, "%s", text ? text : "");
    } else if (a->type == DLS_ARG_INT && whole_of(a, member) != 0) {
        snprintf(buf, size, "%lld", (long long)whole_of(a, member));
    } else if (a->type == DLS_ARG_REAL && x > 0 && isfinite(x)) {
        snprintf(buf, size, "%g", x);
    } else if (a->type == DLS_ARG_TIME && x > 0 && isfinite(x)) {
        dls_units_format(x, DLS_QUANTITY_TIME, buf, size);
    } else if (a->type == DLS_ARG_CHOICE) {
        choice_at(a->metavar, (int)(whole_of(a, member) - a->least), buf, size);
    }
}

/* "-o, --output=FILE" */
static size_t format_name(const dls_arg *a, char *buf, size_t size)
{
    const char *between = a->optional ? "[="
                          : strchr(a->metavar ? a->metavar : "", '=') ? " "
                                                                      : "=";
    char letter[5] = "    ";
    if (a->letter) {
        snprintf(letter, sizeof letter, "-%c, ", a->letter);
    }
    return (size_t)snprintf(buf, size, "  %s--%s%s%s%s", letter, a->name, a->metavar ? between : "",
                            a->metavar ? a->metavar : "", a->metavar && a->optional ? "]" : "");
}

/* "show: print JSON", or the help alone where all is of what the heading says; its length. */
static size_t help_of(const dls_arg *a, char *buf, size_t size)
{
    return (size_t)snprintf(buf, size, "%s%s%s", a->of ? a->of : "", a->of ? ": " : "", a->help);
}

static void put_arg(FILE *to, const dls_arg_row *row, const char *request)
{
    const dls_arg *a = row->arg;
    char text[1024], value[100];
    if (!a->name) {
        fprintf(to, "%s\n", a->help);
        return;
    }
    default_of(a, request + row->base + a->at, value, sizeof value);
    const size_t used = help_of(a, text, sizeof text);
    if (*value && used < sizeof text) {
        snprintf(text + used, sizeof text - used, " (default %s)", value);
    }
    char name[200];
    size_t at = format_name(a, name, sizeof name);
    fputs(name, to);
    if (at + 2 > INDENT) {
        fputc('\n', to);
        at = 0;
    } else {
        fprintf(to, "%*s", (int)(INDENT - at), "");
        at = INDENT;
    }
    put_wrapped(to, text, at, INDENT);
}

static void put_names(FILE *to, const dls_arg *a)
{
    const char *name, *summary;
    size_t width = 0;
    for (size_t i = 0; (name = a->names(i, &summary)); i++) {
        width = strlen(name) > width ? strlen(name) : width;
    }
    fprintf(to, "\n%s:\n", a->list);
    for (size_t i = 0; (name = a->names(i, &summary)); i++) {
        fprintf(to, "  %-*s %s\n", (int)width, name, summary);
    }
}

/* "Usage: dlsim NAME ...", a line for each form. */
static void put_usage(FILE *to, const dls_command *c)
{
    const char *head = "Usage:";
    for (const char *line = c->usage; line && *line;) {
        const int len = (int)strcspn(line, "\n");
        fprintf(to, "%-6s dlsim %s%s%.*s\n", head, c->name, len ? " " : "", len, line);
        line += len + (line[len] == '\n');
        head = "";
    }
    for (const dls_verb *v = c->usage ? NULL : c->verbs; v && v->name; v++) {
        fprintf(to, "%-6s dlsim %s %s%s%s [OPTION]...\n", head, c->name, v->name,
                v->words ? " " : "", v->words ? v->words : "");
        head = "";
    }
    for (size_t i = 0; c->part && c->part[i] && c->part[i]->usage; i++) {
        const dls_command *p = c->part[i];
        fprintf(to, "%-6s dlsim %s %.*s\n", head, p->name, (int)strcspn(p->usage, "\n"), p->usage);
        head = "";
    }
}

void dls_help_command(FILE *to, const dls_command *c)
{
    dls_arg_row row[DLS_ARGS_MAX];
    const size_t n = dls_command_rows(c, row);
    DLS_FREED char *request = dls_command_request(c);
    bool headings = false;
    put_usage(to, c);
    if (c->about) {
        fputc('\n', to);
        put_wrapped(to, c->about, 0, 0);
    }
    for (const dls_verb *v = c->verbs; v && v->name; v++) {
        fprintf(to, "%s  %-10s ", v == c->verbs ? "\n" : "", v->name);
        put_wrapped(to, v->summary, 13, 13);
    }
    for (size_t i = 0; c->part && c->part[i]; i++) {
        fprintf(to, "%s  %-20s ", i ? "" : "\n", c->part[i]->name);
        put_wrapped(to, c->part[i]->summary, 23, 23);
    }
    fputc('\n', to);
    for (size_t i = 0; i < n && request; i++) {
        if (!row[i].arg->hidden) {
            const bool heading = !row[i].arg->name;
            headings = headings || heading;
            fputs(i > 0 && (heading || (headings && i + 1 == n)) ? "\n" : "", to); /* --help is of none */
            put_arg(to, &row[i], request);
        }
    }
    if (c->notes) {
        fputc('\n', to);
        put_wrapped(to, c->notes, 0, 0);
    }
    for (size_t i = 0; i < n; i++) {
        if (row[i].arg->list) {
            put_names(to, row[i].arg);
        }
    }
    if (c->more) {
        c->more(to);
    }
}

void dls_help_program(FILE *to)
{
    fputs("dlsim - discrete-event simulator of GPU clusters that train deep-learning models\n"
          "\n"
          "Usage: dlsim --config=FILE --trace=FILE [OPTION]...\n"
          "       dlsim COMMAND [OPTION]...\n",
          to);
    for (int group = DLS_SIMULATOR; group <= DLS_LABORATORY; group++) {
        fprintf(to, "\n%s:\n", group_names[group]);
        for (const dls_command *const *c = dls_commands(); *c; c++) {
            if ((int)(*c)->group == group) {
                fprintf(to, "  %-11s %s\n", (*c)->name, (*c)->summary);
            }
        }
    }
    fputs("\n'dlsim COMMAND --help' tells more. Exit codes: 0 good, 1 run failed, 2 usage,\n"
          "3 configuration, 4 input, 5 output, 6 predictor or device, 70 a policy called exit() or\n"
          "did not return (--watchdog), 130 interrupted.\n",
          to);
}

/* ---- JSON ------------------------------------------------------------------------------------ */

static json_object *arg_json(const dls_arg_row *row, const char *heading, const char *request)
{
    static const char *const types[] = {
        [DLS_ARG_SWITCH] = "switch", [DLS_ARG_TEXT] = "text", [DLS_ARG_INT] = "integer",
        [DLS_ARG_REAL] = "number",   [DLS_ARG_TIME] = "time", [DLS_ARG_CHOICE] = "choice",
        [DLS_ARG_REPEAT] = "text",   [DLS_ARG_LIST] = "list", [DLS_ARG_CALL] = "text"};
    const dls_arg *a = row->arg;
    const char letter[2] = {(char)a->letter, '\0'};
    char value[100], help[1024];
    help_of(a, help, sizeof help);
    json_object *obj = json_object_new_object();
    DLS_JSON(obj, "name", a->name, "letter", letter, "type", types[a->type], "value",
             a->metavar ? a->metavar : "", "help", help, "group", heading, "repeated",
             (bool)(a->type == DLS_ARG_REPEAT), "optional", a->optional);
    if (a->type == DLS_ARG_INT) {
        DLS_JSON(obj, "min", a->least, "max", a->most);
    } else if (a->type == DLS_ARG_REAL || a->type == DLS_ARG_TIME) {
        DLS_JSON(obj, "min", a->min, "max", a->max);
    }
    default_of(a, request + row->base + a->at, value, sizeof value);
    dls_json_text(obj, "default", value);
    return obj;
}

static json_object *command_json(const dls_command *c)
{
    dls_arg_row row[DLS_ARGS_MAX];
    const size_t n = dls_command_rows(c, row);
    const char *heading = "";
    DLS_FREED char *request = dls_command_request(c);
    json_object *obj = json_object_new_object();
    DLS_JSON(obj, "name", c->name, "group", group_names[c->group], "summary", c->summary, "about",
             c->about, "notes", c->notes);
    json_object *verbs = dls_json_list(obj, "verbs");
    for (const dls_verb *v = c->verbs; v && v->name; v++) {
        json_object *verb = json_object_new_object();
        DLS_JSON(verb, "name", v->name, "words", v->words ? v->words : "", "summary", v->summary);
        json_object_array_add(verbs, verb);
    }
    json_object *options = dls_json_list(obj, "options");
    for (size_t i = 0; i < n && request; i++) {
        if (!row[i].arg->name) {
            heading = row[i].arg->help;
        } else if (!row[i].arg->hidden) {
            json_object_array_add(options, arg_json(&row[i], heading, request));
        }
    }
    json_object *parts = dls_json_list(obj, "parts");
    for (size_t i = 0; c->part && c->part[i]; i++) {
        json_object_array_add(parts, command_json(c->part[i]));
    }
    return obj;
}

dls_status dls_help_json(FILE *to, dls_error *err)
{
    json_object *list = json_object_new_array();
    for (const dls_command *const *c = dls_commands(); *c; c++) {
        json_object_array_add(list, command_json(*c));
    }
    return dls_json_print(to, list, err);
}
