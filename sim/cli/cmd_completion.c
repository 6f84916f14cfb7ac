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

static dls_status print_script(dls_call *call, dls_error *err)
{
    fputs(script, stdout);
    return DLS_OK;
}

/* What an option may be set to. */
static void print_values(const dls_arg *a)
{
    const char *name, *summary;
    for (size_t i = 0; a->names && (name = a->names(i, &summary)); i++) {
        puts(name);
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
        puts(dls_command_key(c->part[i]));
    }
}

/* The words that have been written, the last of them not to its end; a shell gives "--option=value"
 * as three. */
static dls_status print_candidates(dls_call *call, dls_error *err)
{
    dls_arg_row row[DLS_ARGS_MAX];
    char **word = call->word;
    const size_t n = call->n_words;
    const char *last = word[n - 1];
    if (n == 1 && *last != '-') {
        for (const dls_command *const *c = dls_commands(); *c; c++) {
            puts((*c)->name);
        }
        puts("help");
        return DLS_OK;
    }
    /* "dlsim --option" is "dlsim run --option"; the last word may not be whole yet. */
    const size_t used = *word[0] == '-' ? 0 : 1;
    const dls_command *c = dls_command_find(used ? word[0] : "run");
    const dls_command *part = c ? dls_command_part(c, (int)n - 1, word) : NULL;
    c = part ? part : c;
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
