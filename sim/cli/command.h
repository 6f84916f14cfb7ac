/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * A command of the program is one constant table: what it is called, its options with where each
 * value goes, its verbs, and the function that does it. The table alone drives parsing, --help,
 * completion and `dlsim help --json`, of which docs/manual.py makes the manual page. A file of
 * sim/cli or predictor/cli that defines
 *
 *     const dls_command dls_command_<name> = {...};
 *
 * is found by the build (cmake/registry.cmake); nothing else is edited. sim/cli/cmd_export.c is a
 * short example. A command writes data to stdout and talk to stderr. Only sim/cli and predictor/cli
 * print or exit.
 */
#ifndef DLS_CLI_COMMAND_H
#define DLS_CLI_COMMAND_H

#include "base/own.h"
#include "dlsim/error.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

/* ---- options --------------------------------------------------------------------------------- */

/* Texts of an option that may be repeated, or of a list with commas. Borrowed, but `text`. */
typedef struct dls_words {
    const char **at; /* [n] owned by whoever runs the command */
    size_t n, cap;
    char *text; /* of a list: the copy that is cut at its commas */
} dls_words;

/* Add one, and another unless it is NULL. */
dls_status dls_words_add(dls_words *w, const char *word, const char *value,
                         dls_error *err) DLS_MUST_CHECK;
void dls_words_fini(dls_words *w);

typedef enum dls_arg_type {
    DLS_ARG_HEADING, /* help: of the options that follow */
    DLS_ARG_INCLUDE, /* the rows of another table, for the struct at `at` */
    DLS_ARG_SWITCH,  /* bool; with `optional`: true or false may be given */
    DLS_ARG_TEXT,    /* const char *; if `metavar` has a '|', one of these words */
    DLS_ARG_INT,     /* a whole number of 4 or 8 bytes, least..most */
    DLS_ARG_REAL,    /* double, min..max */
    DLS_ARG_TIME,    /* double, seconds min..max; written with or without a unit */
    DLS_ARG_CHOICE,  /* 1 or 4 bytes: the place of the word in `metavar`, counted from `least` */
    DLS_ARG_REPEAT,  /* dls_words, a text each time */
    DLS_ARG_LIST,    /* dls_words, texts with commas between them */
    DLS_ARG_CALL     /* `set` does it */
} dls_arg_type;

typedef struct dls_arg dls_arg;

/* Takes the value (NULL: none was given) for the member. */
typedef dls_status (*dls_arg_set)(void *member, const dls_arg *arg, const char *value,
                                  dls_error *err);

/* Built-in names of something, to complete with: the i-th, NULL behind the last; what help says of
 * it in *summary. */
typedef const char *(*dls_arg_names)(size_t i, const char **summary);

struct dls_arg {
    dls_arg_type type;
    const char *name; /* without the dashes; NULL: a heading or an included table */
    int letter;       /* 0: none */
    const char *metavar;
    const char *help;
    size_t at, size; /* the member */
    int64_t least, most;
    double min, max;
    bool optional; /* the value may be left out */
    bool hidden;   /* not told of in help */
    bool writes;   /* a file, see command_outputs.c */
    bool streams;  /* such a file may be "-", standard output, and a pipe or a device */
    const char *adds; /* with these, as `of` says, such a file that is there is gone on with; or NULL */
    dls_arg_set set;
    const char *key;        /* for `set` */
    const dls_arg *include; /* ends with DLS_ARGS_END */
    const char *of; /* it goes with these only, ", " between them: verbs, or options by "--name", of
                       which one must be given. Of a heading: what is below it. NULL: with all */
    dls_arg_names names;
    const char *list; /* title of the list of the names at the end of the help; NULL: none */
};

/* A bound of real numbers: above 0. */
#define DLS_ABOVE_0 4.9406564584124654e-324

#define DLS_MEMBER(T, m) .at = offsetof(T, m), .size = sizeof(((T *)0)->m)
/* Rows of a table of options; DLS_ARG is one by its members. */
#define DLS_ARG(...)                                                                               \
    {                                                                                              \
        __VA_ARGS__                                                                                \
    }
#define DLS_ARGS_END DLS_ARG(.type = DLS_ARG_HEADING)
#define DLS_HEADING(text) DLS_ARG(.type = DLS_ARG_HEADING, .help = text)
/* A heading of options that go with these verbs. */
#define DLS_OF(verbs) DLS_ARG(.type = DLS_ARG_HEADING, .help = verbs ":", .of = verbs)
#define DLS_INCLUDE(T, m, table)                                                                   \
    DLS_ARG(.type = DLS_ARG_INCLUDE, DLS_MEMBER(T, m), .include = table)
/* 1 if the member is of that type, else it does not compile. */
#define DLS_IS(T, m, type) _Generic(((T *)0)->m, type : 1)
#define DLS_IS_INT(T, m) _Generic(((T *)0)->m, int32_t : 1, int64_t : 1, uint64_t : 1)
/* The last argument is the help, and behind it what else the row has: .of = "show". */
#define DLS_ROW(kind, right, T, m, long_name, short_name, var, ...)                                \
    .type = (dls_arg_type)((kind) * (right)), .name = long_name, .letter = short_name,             \
    .metavar = var, DLS_MEMBER(T, m), .help = __VA_ARGS__
#define DLS_SWITCH(T, m, name, letter, ...)                                                        \
    DLS_ARG(DLS_ROW(DLS_ARG_SWITCH, DLS_IS(T, m, bool), T, m, name, letter, NULL, __VA_ARGS__))
#define DLS_TEXT(T, m, name, letter, var, ...)                                                     \
    DLS_ARG(                                                                                       \
        DLS_ROW(DLS_ARG_TEXT, DLS_IS(T, m, const char *), T, m, name, letter, var, __VA_ARGS__))
/* A file to write, which needs --force to replace one that is there: the command then has that option. */
#define DLS_OUTPUT(T, m, name, letter, var, ...)                                                   \
    DLS_ARG(                                                                                       \
        DLS_ROW(DLS_ARG_TEXT, DLS_IS(T, m, const char *), T, m, name, letter, var, __VA_ARGS__),   \
        .writes = true)
#define DLS_NAME(T, m, name, letter, called, help)                                                 \
    DLS_ARG(DLS_ROW(DLS_ARG_TEXT, DLS_IS(T, m, const char *), T, m, name, letter, "NAME", help),   \
            .names = called)
/* The same, the names listed under this title. */
#define DLS_LISTED(T, m, name, letter, called, title)                                              \
    DLS_ARG(DLS_ROW(DLS_ARG_TEXT, DLS_IS(T, m, const char *), T, m, name, letter, "NAME",          \
                    "see below"),                                                                  \
            .names = called, .list = title)
#define DLS_INT(T, m, name, letter, lo, hi, ...)                                                   \
    DLS_ARG(DLS_ROW(DLS_ARG_INT, DLS_IS_INT(T, m), T, m, name, letter, "N", __VA_ARGS__),          \
            .least = lo, .most = hi)
#define DLS_REAL(T, m, name, letter, lo, hi, help)                                                 \
    DLS_ARG(DLS_ROW(DLS_ARG_REAL, DLS_IS(T, m, double), T, m, name, letter, "X", help), .min = lo, \
            .max = hi)
#define DLS_TIME(T, m, name, letter, lo, hi, ...)                                                  \
    DLS_ARG(DLS_ROW(DLS_ARG_TIME, DLS_IS(T, m, double), T, m, name, letter, "TIME", __VA_ARGS__),  \
            .min = lo, .max = hi)
#define DLS_CHOICE_FROM(T, m, name, letter, first, words, ...)                                     \
    DLS_ARG(DLS_ROW(DLS_ARG_CHOICE, 1, T, m, name, letter, words, __VA_ARGS__),                    \
            .least = (int)(first))
#define DLS_CHOICE(T, m, name, letter, words, ...)                                                 \
    DLS_CHOICE_FROM(T, m, name, letter, 0, words, __VA_ARGS__)
#define DLS_REPEAT(T, m, name, letter, var, help)                                                  \
    DLS_ARG(DLS_ROW(DLS_ARG_REPEAT, DLS_IS(T, m, dls_words), T, m, name, letter, var, help))
#define DLS_LIST(T, m, name, letter, var, called, help)                                            \
    DLS_ARG(DLS_ROW(DLS_ARG_LIST, DLS_IS(T, m, dls_words), T, m, name, letter, var, help),         \
            .names = called)
#define DLS_CALL(T, m, name, letter, var, how, ...)                                                \
    DLS_ARG(DLS_ROW(DLS_ARG_CALL, 1, T, m, name, letter, var, __VA_ARGS__), .set = how)

/* Place of `value` among the words of arg->metavar; EUSAGE: it is none of them. */
dls_status dls_arg_word(const dls_arg *arg, const char *value, int *place,
                        dls_error *err) DLS_MUST_CHECK;
/* EUSAGE: "option '--name' is "value": expected <what>". */
dls_status dls_arg_wrong(const dls_arg *arg, const char *value, const char *what,
                         dls_error *err) DLS_MUST_CHECK;

/* ---- commands -------------------------------------------------------------------------------- */

typedef struct dls_command dls_command;
typedef struct dls_verb dls_verb;

typedef struct dls_given {
    const dls_arg *arg;
    const char *value; /* NULL: none */
    const char *of;    /* of its row */
} dls_given;

/* A command line that has been taken apart. */
typedef struct dls_call {
    const dls_command *command;
    void *request;
    const dls_verb *verb; /* NULL: the command has none */
    char **word; /* [n_words] and NULL: what is no option, without the verb */
    size_t n_words;
    dls_given *given; /* [n_given] in the order of the command line */
    size_t n_given;
    int argc; /* of the whole: argv[0] is the command's name */
    char **argv;
    int exit_code; /* when all went well; set by `run` where it is not 0 */
} dls_call;

bool dls_call_gave(const dls_call *call, const char *name);
/* Is one of the verbs and options in `of` what the call is about? */
bool dls_call_goes_with(const dls_call *call, const char *of);
/* "dlsim <command> <words>", as files keep what made them; cut where it does not fit. */
void dls_call_text(const dls_call *call, char *out, size_t size);

/* An error with status EUSAGE is followed by a pointer to the command's help. */
typedef dls_status (*dls_command_fn)(dls_call *call, dls_error *err);

/* A word that says what a command shall do. */
struct dls_verb {
    const char *name;  /* NULL: the end */
    const char *words; /* what follows it; NULL: nothing */
    const char *summary;
    size_t min_words, max_words;
    const char *needs; /* options that must be given, blanks between them; or NULL */
    dls_command_fn run;
};

#define DLS_ANY_NUMBER SIZE_MAX

typedef enum dls_command_group { DLS_SIMULATOR, DLS_LABORATORY } dls_command_group;

struct dls_command {
    const char *name; /* of a part: "trace stats", "predict --whatif" */
    dls_command_group group;
    const char *summary;    /* a line of dlsim --help */
    const char *usage;      /* lines that follow "dlsim NAME "; NULL: made of the verbs */
    const char *about;      /* paragraphs, a blank line between them; lines are broken for you */
    const char *notes;      /* the same behind the options, or NULL */
    void (*more)(FILE *to); /* lists at the end of the help, or NULL */
    const dls_arg *args;
    const dls_verb *verbs;          /* NULL: none */
    const dls_command *const *part; /* NULL-terminated: chosen by the first word, or by an option
                                       anywhere */
    const char *words; /* without verbs: what is no option; one, unless max_words says otherwise */
    size_t min_words, max_words;
    const char *needs;               /* as of a verb */
    size_t size;                     /* of the request */
    const void *initial;             /* the request to begin with, NULL: zeros */
    void (*defaults)(void *request); /* what `initial` cannot say, or NULL */
    dls_command_fn init;             /* before options are taken: what they need; or NULL */
    dls_command_fn run;              /* of a command without verbs */
    void (*fini)(void *request);     /* after a failed init, too; or NULL */
};

/* Those that the build has found, NULL at the end; and with them those of the replayers, by name. */
const dls_command *const *dls_own_commands(void);
const dls_command *const *dls_commands(void);
/* NULL: no such command. */
const dls_command *dls_command_find(const char *name);
/* The part that the words behind argv[0] choose, NULL: none; and how one is chosen: "stats" of
 * "trace stats". */
const dls_command *dls_command_part(const dls_command *command, int argc, char **argv);
const char *dls_command_key(const dls_command *part);
/* The request as it is before options are taken; owned, NULL without memory. */
void *dls_command_request(const dls_command *command);
/* Parse, do, report; the exit code of the process. argv[0] is the command's name. */
int dls_command_main(const dls_command *command, int argc, char **argv);
/* All rows, those of included tables among them; each with where its struct lies in the request. */
typedef struct dls_arg_row {
    const dls_arg *arg;
    size_t base;
    const char *of; /* its own, or its heading's */
} dls_arg_row;
enum { DLS_ARGS_MAX = 96 };
size_t dls_command_rows(const dls_command *command, dls_arg_row row[DLS_ARGS_MAX]);

/* ---- files that are written (command_outputs.c) ------------------------------------------------ */

/* Adds --force to the rows of a command that has a file to write and no option of that name; how many there are now. */
size_t dls_arg_rows_force(dls_arg_row row[DLS_ARGS_MAX], size_t n);
/* EOUTPUT, EUSAGE: a file cannot be written, is there and --force was not given, is an input or is written twice.
 * Asked before the work. */
dls_status dls_call_check_outputs(const dls_call *call, const dls_arg_row *row, size_t n,
                                  dls_error *err) DLS_MUST_CHECK;
/* The same for one file that no option with `writes` names; force: it may be there. */
dls_status dls_output_check(const char *path, bool force, dls_error *err) DLS_MUST_CHECK;

/* ---- help (command_help.c) ------------------------------------------------------------------- */

void dls_help_program(FILE *to);
void dls_help_command(FILE *to, const dls_command *command);
/* Every command with every option, as JSON. */
dls_status dls_help_json(FILE *to, dls_error *err) DLS_MUST_CHECK;

#endif
