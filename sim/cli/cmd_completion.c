/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * dlsim completion: what a shell asks when the Tab key is pressed.
 */
#include "cli/command.h"

#include <string.h>

/* Words come from the program itself, so a plug-in or a new command is known at once. */
static const char script[] = "_dlsim()\n"
                             "{\n"
                             "    local cur=${COMP_WORDS[COMP_CWORD]}\n"
                             "    [[ $cur == '=' ]] && cur=\n"
                             "    mapfile -t COMPREPLY < <(compgen -W \\\n"
                             "        \"$(dlsim completion words -- "
                             "\"${COMP_WORDS[@]:1:COMP_CWORD}\" 2>/dev/null)\" -- \"$cur\")\n"
                             "}\n"
                             "complete -o bashdefault -o default -F _dlsim dlsim\n";

static dls_status print_script(void *request, dls_call *call, dls_error *err)
{
    (void)request;
    (void)call;
    (void)err;
    fputs(script, stdout);
    return DLS_OK;
}

/* What an option may be set to. */
static void print_values(const dls_arg *a)
{
    for (size_t i = 0; a->names && a->names(i); i++) {
        puts(a->names(i));
    }
    if (a->names || !a->metavar || !strchr(a->metavar, '|')) {
        return;
    }
    for (const char *w = a->metavar; w; w = strchr(w, '|')) {
        w += *w == '|';
        printf("%.*s\n", (int)strcspn(w, "|"), w);
    }
}

/* The option that `word` is, NULL: none. */
static const dls_arg *find(const dls_arg_row *row, size_t n, const char *word)
{
    for (size_t i = 0; i < n; i++) {
        const dls_arg *a = row[i].arg;
        if (a->name && ((strncmp(word, "--", 2) == 0 && strcmp(word + 2, a->name) == 0) ||
                        (word[0] == '-' && word[1] && word[1] == a->letter && !word[2]))) {
            return a;
        }
    }
    return NULL;
}

/* The command of the words, or the part of it that they have chosen. *used: words that this took.
 */
static const dls_command *command_of(char **word, size_t n, size_t *used)
{
    *used = word[0][0] == '-' ? 0 : 1;
    const dls_command *c = dls_command_find(*used ? word[0] : "run");
    for (size_t k = 0; c && c->part && c->part[k]; k++) {
        const char *key = strrchr(c->part[k]->name, ' ') + 1;
        for (size_t i = 1; i + 1 < n; i++) {
            if (strcmp(word[i], key) == 0) {
                return c->part[k];
            }
        }
    }
    return c;
}

static void print_words(const dls_command *c, const char *word)
{
    dls_arg_row row[DLS_ARGS_MAX];
    const size_t n = dls_command_rows(c, row);
    for (size_t i = 0; i < n && *word == '-'; i++) {
        if (row[i].arg->name && !row[i].arg->hidden) {
            printf("--%s\n", row[i].arg->name);
        }
    }
    for (const dls_verb *v = c->verbs; *word != '-' && v && v->name; v++) {
        puts(v->name);
    }
    for (size_t i = 0; *word != '-' && c->part && c->part[i]; i++) {
        puts(strrchr(c->part[i]->name, ' ') + 1);
    }
}

/* The words that have been written, the last of them not to its end; a shell gives "--option=value"
 * as three. */
static dls_status print_candidates(void *request, dls_call *call, dls_error *err)
{
    dls_arg_row row[DLS_ARGS_MAX];
    size_t used;
    char **word = call->word;
    const size_t n = call->n_words;
    const char *last = word[n - 1];
    (void)request;
    (void)err;
    if (n == 1 && *last != '-') {
        for (const dls_command *const *c = dls_commands(); *c; c++) {
            puts((*c)->name);
        }
        puts("help");
        return DLS_OK;
    }
    const dls_command *c = command_of(word, n, &used);
    if (!c) {
        return DLS_OK;
    }
    const size_t n_rows = dls_command_rows(c, row);
    const bool equals = n >= 2 && (strcmp(last, "=") == 0 || strcmp(word[n - 2], "=") == 0);
    const size_t back = equals && strcmp(last, "=") != 0 ? 3 : 2;
    const dls_arg *a = n >= back ? find(row, n_rows, word[n - back]) : NULL;
    if (a && (equals || (a->metavar && !a->optional))) {
        print_values(a);
    } else if (n == used + 1 || *last == '-') {
        print_words(c, last);
    }
    return DLS_OK;
}

static const dls_verb verbs[] = {
    {.name = "bash",
     .summary = "the script: eval \"$(dlsim completion bash)\"",
     .run = print_script},
    {.name = "words",
     .words = "-- WORD...",
     .summary = "what could stand in place of the last word, a line each",
     .min_words = 1,
     .max_words = DLS_ANY_NUMBER,
     .run = print_candidates},
    {.name = NULL}};

const dls_command dls_command_completion = {
    .name = "completion",
    .summary = "completion of commands, options and names in a shell",
    .about = "Completion with the Tab key.",
    .verbs = verbs,
};
