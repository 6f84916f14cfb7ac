/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Command line parser driven by a command's table: long and short options, abbreviations, verbs,
 * lists, suggestions for misspelt words.
 */
#include "cli/command.h"

#include "base/alloc.h"
#include "base/assert.h"
#include "base/suggest.h"
#include "base/units.h"
#include "cli/ui.h"

#include <math.h>
#include <string.h>

typedef struct parser {
    dls_call *call;
    dls_arg_row row[DLS_ARGS_MAX];
    size_t n_rows;
    bool help;
} parser;

static size_t add_rows(const dls_arg *args, size_t base, dls_arg_row *row, size_t n)
{
    const char *of = NULL;
    for (const dls_arg *a = args; a && (a->type != DLS_ARG_HEADING || a->help); a++) {
        of = a->type == DLS_ARG_HEADING ? a->of : of;
        if (a->type == DLS_ARG_INCLUDE) {
            n = add_rows(a->include, base + a->at, row, n);
        } else {
            DLS_ASSERT(n < DLS_ARGS_MAX);
            row[n++] = (dls_arg_row){a, base, a->of ? a->of : of};
        }
    }
    return n;
}

size_t dls_command_rows(const dls_command *command, dls_arg_row row[DLS_ARGS_MAX])
{
    static const dls_arg help = {
        .type = DLS_ARG_SWITCH, .name = "help", .letter = 'h', .help = "show this and leave"};
    size_t n = add_rows(command->args, 0, row, 0);
    DLS_ASSERT(n + 1 < DLS_ARGS_MAX);
    n = dls_arg_rows_force(row, n);
    row[n++] = (dls_arg_row){&help, 0, NULL};
    return n;
}

/* ---- values ---------------------------------------------------------------------------------- */

dls_status dls_arg_wrong(const dls_arg *arg, const char *value, const char *what, dls_error *err)
{
    return dls_fail(err, DLS_EUSAGE, NULL, "option '--%s' is \"%s\": expected %s", arg->name, value, what);
}

/* "a, b or c" of words that end with NULL; at most size - 1 bytes. */
static void join(const char *const *word, char *out, size_t size)
{
    size_t used = 0;
    for (size_t i = 0; word[i] && used < size; i++) {
        const char *before = i == 0 ? "" : word[i + 1] ? ", " : " or ";
        used += (size_t)snprintf(out + used, size - used, "%s%s", before, word[i]);
    }
}

dls_status dls_arg_word(const dls_arg *arg, const char *value, int *place, dls_error *err)
{
    enum { WORDS_MAX = 16 };
    char words[200], all[200], what[300];
    const char *word[WORDS_MAX + 1] = {NULL};
    size_t n = 0;
    snprintf(words, sizeof words, "%s", arg->metavar);
    for (char *rest = words, *w; (w = strsep(&rest, "|")) != NULL; n++) {
        DLS_ASSERT(n < WORDS_MAX);
        word[n] = w;
        if (strcmp(w, value) == 0) {
            *place = (int)n;
            return DLS_OK;
        }
    }
    join(word, all, sizeof all);
    snprintf(what, sizeof what, "%s%s", all, DLS_DID_YOU_MEAN(dls_suggest(value, word)));
    return dls_arg_wrong(arg, value, what, err);
}

static dls_status take_int(const dls_arg *a, void *to, const char *value, dls_error *err)
{
    int64_t n;
    char what[80];
    if (!dls_units_i64(value, &n) || n < a->least || n > a->most) {
        snprintf(what, sizeof what,
                 a->most == INT64_MAX ? "an integer of at least %lld" : "an integer %lld..%lld",
                 (long long)a->least, (long long)a->most);
        return dls_arg_wrong(a, value, what, err);
    }
    const int32_t small = (int32_t)n;
    DLS_ASSERT(a->size == sizeof n || a->size == sizeof small);
    memcpy(to, a->size == sizeof n ? (const void *)&n : (const void *)&small, a->size);
    return DLS_OK;
}

/* A number or a time. */
static dls_status take_real(const dls_arg *a, double *to, const char *value, dls_error *err)
{
    double x;
    char what[120], lo[40], hi[40];
    dls_error ignored;
    const bool time = a->type == DLS_ARG_TIME;
    const bool number = time ? dls_units_parse(value, DLS_QUANTITY_TIME, &x, &ignored) == DLS_OK
                             : dls_units_f64(value, &x);
    if (number && x >= a->min && x <= a->max) {
        *to = x;
        return DLS_OK;
    }
    if (time) {
        dls_units_format(a->min, DLS_QUANTITY_TIME, lo, sizeof lo);
        dls_units_format(a->max, DLS_QUANTITY_TIME, hi, sizeof hi);
    } else {
        snprintf(lo, sizeof lo, "%g", a->min);
        snprintf(hi, sizeof hi, "%g", a->max);
    }
    const char *kind = time ? "a time" : "a number", *example = time ? ", such as 7d" : "";
    if (a->min == DLS_ABOVE_0) {
        snprintf(what, sizeof what, isinf(a->max) ? "%s above 0%s" : "%s above 0%s, at most %s",
                 kind, example, hi);
    } else if (isinf(a->max)) {
        snprintf(what, sizeof what, "%s of at least %s%s", kind, lo, example);
    } else {
        snprintf(what, sizeof what, "%s %s..%s%s", kind, lo, hi, example);
    }
    return dls_arg_wrong(a, value, what, err);
}

static dls_status take_switch(const dls_arg *a, bool *to, const char *value, dls_error *err)
{
    static const char *const words[] = {"false", "0", "no", "true", "1", "yes"};
    for (size_t i = 0; value && i < 6; i++) {
        if (strcasecmp(value, words[i]) == 0) {
            *to = i >= 3;
            return DLS_OK;
        }
    }
    *to = true;
    return value ? dls_arg_wrong(a, value, "true or false", err) : DLS_OK;
}

static dls_status take_choice(const dls_arg *a, void *to, const char *value, dls_error *err)
{
    int place;
    DLS_TRY(dls_arg_word(a, value, &place, err));
    place += (int)a->least;
    const bool flag = place != 0;
    DLS_ASSERT(a->size == sizeof place || a->size == sizeof flag);
    memcpy(to, a->size == sizeof place ? (const void *)&place : (const void *)&flag, a->size);
    return DLS_OK;
}

dls_status dls_words_add(dls_words *w, const char *word, const char *value, dls_error *err)
{
    DLS_TRY(dls_grow(&w->at, &w->cap, w->n + 2, sizeof *w->at, err));
    w->at[w->n++] = word;
    if (value) {
        w->at[w->n++] = value;
    }
    return DLS_OK;
}

void dls_words_fini(dls_words *w)
{
    DLS_FREE_ALL(w->at, w->text);
}

static dls_status take_list(const dls_arg *a, dls_words *w, const char *value, dls_error *err)
{
    dls_free(w->text);
    w->text = dls_strdup(value);
    w->n = 0;
    if (!w->text) {
        return dls_nomem(err, "names", strlen(value));
    }
    for (char *s = w->text; s;) {
        char *comma = strchr(s, ',');
        if (comma) {
            *comma++ = '\0';
        }
        if (!*s) {
            return dls_arg_wrong(a, value, "names, a comma between them", err);
        }
        DLS_TRY(dls_words_add(w, s, NULL, err));
        s = comma;
    }
    return DLS_OK;
}

static dls_status take(parser *p, const dls_arg_row *row, const char *value, dls_error *err)
{
    const dls_arg *a = row->arg;
    void *to = (char *)p->call->request + row->base + a->at;
    int place;
    p->call->given[p->call->n_given++] = (dls_given){a, value, row->of};
    if (value && !*value && (a->type == DLS_ARG_TEXT || a->type >= DLS_ARG_REPEAT) &&
        !strchr(a->metavar, '|')) {
        return dls_arg_wrong(a, value, a->metavar, err); /* such as "$out" where out is not set */
    }
    if (!value && a->optional && a->type != DLS_ARG_SWITCH && a->type != DLS_ARG_CALL) {
        return DLS_OK; /* that it was given is all */
    }
    switch (a->type) {
    case DLS_ARG_SWITCH:
        p->help = p->help || strcmp(a->name, "help") == 0;
        return a->size > 0 ? take_switch(a, to, value, err) : DLS_OK;
    case DLS_ARG_TEXT:
        if (strchr(a->metavar, '|')) {
            DLS_TRY(dls_arg_word(a, value, &place, err));
        }
        memcpy(to, &value, sizeof value);
        return DLS_OK;
    case DLS_ARG_INT:
        return take_int(a, to, value, err);
    case DLS_ARG_REAL:
    case DLS_ARG_TIME:
        return take_real(a, to, value, err);
    case DLS_ARG_CHOICE:
        return take_choice(a, to, value, err);
    case DLS_ARG_REPEAT:
        return dls_words_add(to, value, NULL, err);
    case DLS_ARG_LIST:
        return take_list(a, to, value, err);
    default:
        return a->set(to, a, value, err);
    }
}

/* ---- the command line ------------------------------------------------------------------------ */

static dls_status unknown_option(const parser *p, const char *word, size_t len, dls_error *err)
{
    char name[64];
    const char *names[DLS_ARGS_MAX + 1];
    size_t n = 0;
    for (size_t i = 0; i < p->n_rows; i++) {
        if (p->row[i].arg->name) {
            names[n++] = p->row[i].arg->name;
        }
    }
    names[n] = NULL;
    snprintf(name, sizeof name, "%.*s", (int)len, word);
    const char *near = dls_suggest(name, names);
    return dls_fail(err, DLS_EUSAGE, NULL, "unknown option '--%s'%s%s%s", name,
                    near ? " (did you mean '--" : "", near ? near : "", near ? "'?)" : "");
}

/* The option that is called so, or the only one that begins so. */
static dls_status find_long(const parser *p, const char *word, size_t len, const dls_arg_row **out,
                            dls_error *err)
{
    int n = 0;
    for (size_t i = 0; i < p->n_rows; i++) {
        const char *name = p->row[i].arg->name;
        if (name && strncmp(name, word, len) == 0) {
            *out = n++ == 0 || name[len] == '\0' ? &p->row[i] : *out;
        }
    }
    if (n == 0) {
        return unknown_option(p, word, len, err);
    }
    return n == 1 || (*out)->arg->name[len] == '\0'
               ? DLS_OK
               : dls_fail(err, DLS_EUSAGE, NULL,
                          "option '--%.*s' is ambiguous: --%s and others begin so", (int)len, word,
                          (*out)->arg->name);
}

/* Whether it stands alone: its value, if it has one, must follow a '='. */
static bool stands_alone(const dls_arg *a)
{
    return a->type == DLS_ARG_SWITCH || a->optional;
}

/* "--name", "--name=value", "--name value"; *i: of argv. */
static dls_status take_long(parser *p, int argc, char **argv, int *i, dls_error *err)
{
    const char *word = argv[*i] + 2, *value = strchr(word, '=');
    const dls_arg_row *row = NULL;
    DLS_TRY(find_long(p, word, strcspn(word, "="), &row, err));
    const dls_arg *a = row->arg;
    if (value) {
        value++;
    }
    if (value && a->type == DLS_ARG_SWITCH && !a->optional) {
        return dls_fail(err, DLS_EUSAGE, NULL, "option '--%s' takes no value", a->name);
    }
    if (!value && !stands_alone(a)) {
        if (*i + 1 == argc) {
            return dls_fail(err, DLS_EUSAGE, NULL, "option '--%s' needs a value", a->name);
        }
        value = argv[++*i];
        p->help = strcmp(value, "--help") == 0; /* asked for where a value was due */
    }
    return p->help ? DLS_OK : take(p, row, value, err);
}

/* "-abc", "-oVALUE", "-o VALUE" */
static dls_status take_short(parser *p, int argc, char **argv, int *i, dls_error *err)
{
    for (const char *c = argv[*i] + 1; *c; c++) {
        const dls_arg_row *row = NULL;
        for (size_t k = 0; k < p->n_rows && !row; k++) {
            row = p->row[k].arg->letter == *c ? &p->row[k] : NULL;
        }
        if (!row) {
            return dls_fail(err, DLS_EUSAGE, NULL, "unknown option '-%c'", *c);
        }
        if (stands_alone(row->arg)) {
            DLS_TRY(take(p, row, NULL, err));
            continue;
        }
        if (!c[1] && *i + 1 == argc) {
            return dls_fail(err, DLS_EUSAGE, NULL, "option '-%c' needs a value", *c);
        }
        return take(p, row, c[1] ? c + 1 : argv[++*i], err);
    }
    return DLS_OK;
}

/* Options go to the request, the rest to call->word. */
static dls_status parse(parser *p, dls_error *err)
{
    dls_call *call = p->call;
    bool options = true;
    for (int i = 1; i < call->argc && !p->help; i++) {
        char *word = call->argv[i];
        if (!options || word[0] != '-' || !word[1]) {
            call->word[call->n_words++] = word;
        } else if (strcmp(word, "--") == 0) {
            options = false;
        } else if (word[1] == '-') {
            DLS_TRY(take_long(p, call->argc, call->argv, &i, err));
        } else {
            DLS_TRY(take_short(p, call->argc, call->argv, &i, err));
        }
    }
    return DLS_OK;
}

bool dls_call_gave(const dls_call *call, const char *name)
{
    for (size_t i = 0; i < call->n_given; i++) {
        if (strcmp(call->given[i].arg->name, name) == 0) {
            return true;
        }
    }
    return false;
}

void dls_call_text(const dls_call *call, char *out, size_t size)
{
    size_t used = (size_t)snprintf(out, size, "dlsim");
    for (int i = 0; i < call->argc && used < size; i++) {
        used += (size_t)snprintf(out + used, size - used, " %s", call->argv[i]);
    }
}

/* ---- what was asked for ---------------------------------------------------------------------- */

/* Every option that was given is one of the verb, or of the options that it goes with. */
static dls_status check_given(const dls_call *call, dls_error *err)
{
    for (size_t i = 0; i < call->n_given; i++) {
        const dls_given *g = &call->given[i];
        if (g->of && !dls_call_goes_with(call, g->of)) {
            return dls_fail(err, DLS_EUSAGE, NULL, "option '--%s' goes with %s%s%s%s", g->arg->name,
                            g->of, call->verb ? ", not with '" : "",
                            call->verb ? call->verb->name : "", call->verb ? "'" : "");
        }
    }
    return DLS_OK;
}

static dls_status check_words(const dls_call *call, const char *words, size_t min, size_t max,
                              const char *needs, dls_error *err)
{
    if (call->n_words > max) {
        return dls_fail(err, DLS_EUSAGE, NULL, "unexpected word '%s'", call->word[max]);
    }
    if (call->n_words < min) {
        return dls_fail(err, DLS_EUSAGE, NULL, "expected %s", words);
    }
    for (const char *n = needs; n && *n;) {
        char name[64];
        const size_t len = strcspn(n, " ");
        snprintf(name, sizeof name, "%.*s", (int)len, n);
        if (!dls_call_gave(call, name)) {
            return dls_fail(err, DLS_EUSAGE, NULL, "--%s is needed", name);
        }
        n += len + (n[len] == ' ');
    }
    return DLS_OK;
}

static dls_status do_verb(const parser *p, dls_error *err)
{
    dls_call *call = p->call;
    const dls_command *c = call->command;
    const char *names[24] = {NULL};
    char all[200];
    for (size_t i = 0; c->verbs[i].name; i++) {
        names[i] = c->verbs[i].name;
    }
    join(names, all, sizeof all);
    if (call->n_words == 0) {
        return dls_fail(err, DLS_EUSAGE, NULL, "expected one of %s", all);
    }
    const char *word = call->word[0];
    for (size_t i = 0; c->verbs[i].name; i++) {
        const dls_verb *v = &c->verbs[i];
        if (strcmp(v->name, word) == 0) {
            call->word++;
            call->n_words--;
            call->verb = v;
            DLS_TRY(check_given(call, err));
            DLS_TRY(check_words(call, v->words, v->min_words, v->max_words, v->needs, err));
            DLS_TRY(dls_call_check_outputs(call, p->row, p->n_rows, err));
            return v->run(call, err);
        }
    }
    const char *near = dls_suggest(word, names);
    return near ? dls_fail(err, DLS_EUSAGE, NULL, "unknown command '%s' (did you mean '%s'?)", word,
                           near)
                : dls_fail(err, DLS_EUSAGE, NULL, "unknown command '%s': expected %s", word, all);
}

static dls_status run(parser *p, dls_error *err)
{
    dls_call *call = p->call;
    const dls_command *c = call->command;
    if (c->init) {
        DLS_TRY(c->init(call, err));
    }
    DLS_TRY(parse(p, err));
    if (p->help) {
        dls_help_command(stdout, c);
        return DLS_OK;
    }
    if (c->verbs) {
        return do_verb(p, err);
    }
    const bool one = c->words && c->max_words == 0;
    DLS_TRY(check_given(call, err));
    DLS_TRY(check_words(call, c->words, one ? 1 : c->min_words, one ? 1 : c->max_words, c->needs, err));
    DLS_TRY(dls_call_check_outputs(call, p->row, p->n_rows, err));
    return c->run(call, err);
}

static void release_words(const parser *p)
{
    for (size_t i = 0; i < p->n_rows; i++) {
        const dls_arg *a = p->row[i].arg;
        if (a->type == DLS_ARG_REPEAT || a->type == DLS_ARG_LIST) {
            dls_words_fini((void *)((char *)p->call->request + p->row[i].base + a->at));
        }
    }
}

void *dls_command_request(const dls_command *c)
{
    void *request = dls_alloc_zero(1, c->size ? c->size : 1);
    if (request && c->initial) {
        memcpy(request, c->initial, c->size);
    }
    if (request && c->defaults) {
        c->defaults(request);
    }
    return request;
}

static int run_alone(const dls_command *c, int argc, char **argv)
{
    dls_error err = {0};
    /* A cluster of letters gives several options. */
    size_t letters = (size_t)argc + 1;
    for (int i = 0; i < argc; i++) {
        letters += strlen(argv[i]);
    }
    DLS_FREED char **words = dls_alloc_zero((size_t)argc + 1, sizeof *words);
    DLS_FREED dls_given *given = dls_alloc_zero(letters, sizeof *given);
    DLS_FREED void *request = dls_command_request(c);
    dls_call call = {.command = c,
                     .request = request,
                     .word = words,
                     .given = given,
                     .argc = argc,
                     .argv = argv};
    parser p = {.call = &call};
    dls_status status = words && given && request ? DLS_OK : dls_nomem(&err, c->name, c->size);
    if (status == DLS_OK) {
        p.n_rows = dls_command_rows(c, p.row);
        status = run(&p, &err);
        if (c->fini) {
            c->fini(request);
        }
        release_words(&p);
    }
    return status == DLS_OK ? call.exit_code : dls_ui_fail_of(c->name, &err);
}

/* ---- the commands ---------------------------------------------------------------------------- */

const dls_command *dls_command_find(const char *name)
{
    for (const dls_command *const *c = dls_commands(); *c; c++) {
        if (strcmp((*c)->name, name) == 0) {
            return *c;
        }
    }
    return NULL;
}

const char *dls_command_key(const dls_command *part)
{
    return strrchr(part->name, ' ') + 1;
}

const dls_command *dls_command_part(const dls_command *c, int argc, char **argv)
{
    for (size_t k = 0; c->part && c->part[k]; k++) {
        const char *key = dls_command_key(c->part[k]);
        const size_t len = strlen(key);
        const int last = *key == '-' ? argc - 1 : 1;
        for (int i = 1; i <= last && i < argc && strcmp(argv[i], "--") != 0; i++) {
            if (strncmp(argv[i], key, len) == 0 &&
                (!argv[i][len] || (*key == '-' && argv[i][len] == '='))) {
                return c->part[k];
            }
        }
    }
    return NULL;
}

int dls_command_main(const dls_command *c, int argc, char **argv)
{
    const dls_command *part = dls_command_part(c, argc, argv);
    if (part) {
        const int skip = *dls_command_key(part) == '-' ? 0 : 1;
        return run_alone(part, argc - skip, argv + skip);
    }
    if (c->run || c->verbs) {
        return run_alone(c, argc, argv);
    }
    if (argc < 2) {
        dls_help_command(stderr, c);
        return dls_status_exit_code(DLS_EUSAGE);
    }
    if (strcmp(argv[1], "--help") == 0 || strcmp(argv[1], "-h") == 0) {
        dls_help_command(stdout, c);
        return 0;
    }
    const char *names[16] = {NULL};
    for (size_t i = 0; c->part[i]; i++) {
        names[i] = dls_command_key(c->part[i]);
    }
    dls_error err;
    (void)dls_fail(&err, DLS_EUSAGE, NULL, "unknown command '%s'%s", argv[1],
                   DLS_DID_YOU_MEAN(dls_suggest(argv[1], names)));
    return dls_ui_fail_of(c->name, &err);
}
