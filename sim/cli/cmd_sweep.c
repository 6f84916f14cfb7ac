/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * dlsim sweep: many simulations that differ in a few keys.
 */
#include "base/alloc.h"
#include "base/suggest.h"
#include "cli/cli.h"
#include "cli/submitting.h"
#include "sweep/merge.h"

#include <string.h>

static const char *const help_text =
    "Usage: dlsim sweep COMMAND SWEEP.cfg [OPTION]...\n"
    "\n"
    "Run a configuration with varied keys, every point in a process of its own (docs/sweeps.md).\n"
    "\n"
    "  plan                     check every point and list them as CSV; nothing runs\n"
    "  run                      run the points that are not finished\n"
    "  status                   say how far it is; exit code 1 unless every point is finished\n"
    "  submit                   print a batch script for Slurm that runs them, or submit it\n"
    "  merge                    put the finished points into one file, with a table of them\n"
    "\n"
    "  -j, --jobs=N             processes at a time; as many as there are processors\n"
    "  -o, --output=FOLDER      where points are kept; sweep.output, or NAME.sweep\n"
    "      --replicas=N         so many seeds a design, in place of the file's\n"
    "      --points=A[-B]       only these, by number\n"
    "      --count              plan: print how many points there are, and no more\n"
    "      --file=FILE.h5       merge: write this; FOLDER/NAME.h5\n"
    "      --link               merge: link the points' files and do not copy them\n"
    "      --slurm              submit: the batch system; there is one\n"
    "      --yes                submit: hand the script to sbatch and do not print it\n"
    "      --chunk=N            submit: points a task\n"
    "      --time=T, --partition=P, --extra=OPTION\n"
    "                           submit: options of sbatch; the last may be repeated\n"
    "      --trace=FILE         jobs; sets trace.path\n"
    "      --trace-format=NAME  one of 'dlsim list formats'; recognised if left out\n"
    "      --seed=N             sets run.seed, from which replicas count\n"
    "      --until=TIME         stop at this simulated time; sets run.until\n"
    "      --set KEY=VALUE      set any key of the configuration, for every point; may be "
    "repeated\n"
    "      --plugin=FILE.so     load policies of a plug-in; may be repeated\n"
    "      --json               status: as JSON\n"
    "      --force              merge: replace the file if it is there\n"
    "  -q, --quiet              no reports on stderr\n"
    "      --progress=WHEN      auto (on a terminal), always, never\n"
    "      --color=WHEN         auto, always, never\n"
    "  -h, --help               this text\n"
    "\n"
    "A finished point is never run twice: 'run' goes on where it was stopped, by Ctrl-C or worse.\n"
    "Points that failed are listed by 'status' and tried again by the next 'run'.\n";

enum {
    OPT_POINTS = 256,
    OPT_COUNT,
    OPT_FILE,
    OPT_LINK,
    OPT_SLURM,
    OPT_YES,
    OPT_CHUNK,
    OPT_TIME,
    OPT_PARTITION,
    OPT_EXTRA
};

static const struct option longs[] = {DLS_REPLAY_LONGS,
                                      DLS_SWEEPING_LONGS,
                                      {"points", required_argument, NULL, OPT_POINTS},
                                      {"count", no_argument, NULL, OPT_COUNT},
                                      {"file", required_argument, NULL, OPT_FILE},
                                      {"link", no_argument, NULL, OPT_LINK},
                                      {"slurm", no_argument, NULL, OPT_SLURM},
                                      {"yes", no_argument, NULL, OPT_YES},
                                      {"chunk", required_argument, NULL, OPT_CHUNK},
                                      {"time", required_argument, NULL, OPT_TIME},
                                      {"partition", required_argument, NULL, OPT_PARTITION},
                                      {"extra", required_argument, NULL, OPT_EXTRA},
                                      {NULL, 0, NULL, 0}};

typedef struct request {
    dls_sweeping s;
    const char *command, *path, *points, *file;
    bool count, link;
    dls_submit_options submit;
} request;

/* ---- plan --------------------------------------------------------------------------------------
 */

/* A cell of CSV. */
static void put_cell(const char *text)
{
    if (!strpbrk(text, ",\"\n")) {
        fputs(text, stdout);
        return;
    }
    putchar('"');
    for (; *text; text++) {
        fputs(*text == '"' ? "\"\"" : "", stdout);
        if (*text != '"') {
            putchar(*text);
        }
    }
    putchar('"');
}

static int cmd_plan(request *r)
{
    const dls_sweep *sweep = r->s.sweep;
    if (r->count) {
        printf("%zu\n", dls_sweep_n_points(sweep));
        return 0;
    }
    const int code = dls_sweeping_plan(&r->s);
    if (code >= 0) {
        return code;
    }
    const dls_sweep_plan *plan = r->s.plan;
    const size_t n_keys = dls_sweep_n_keys(sweep);
    fputs("point,design,replica", stdout);
    fputs(plan->seed ? ",seed" : "", stdout);
    for (size_t k = 0; k < n_keys; k++) {
        putchar(',');
        put_cell(dls_sweep_key(sweep, k));
    }
    fputs(",id\n", stdout);
    for (size_t i = 0; i < plan->n; i++) {
        const size_t point = plan->first + i, design = dls_sweep_design(plan, point);
        const size_t replica = dls_sweep_replica(plan, point);
        printf("%zu,%zu,%zu", point, design, replica);
        if (plan->seed) {
            printf(",%lld", (long long)plan->seed[replica]);
        }
        for (size_t k = 0; k < n_keys; k++) {
            putchar(',');
            put_cell(dls_sweep_value(sweep, design, k));
        }
        printf(",%s\n", plan->id[i]);
    }
    return 0;
}

/* ---- run, status, merge ------------------------------------------------------------------------
 */

static int cmd_run(request *r)
{
    int code = dls_sweeping_plan(&r->s);
    if (code < 0) {
        code = dls_sweeping_run(&r->s);
    }
    if (code < 0 && !r->s.o.quiet) {
        fprintf(stderr, "%zu of %zu points are finished in %s\n", r->s.done.finished, r->s.done.n,
                r->s.folder);
    }
    return code < 0 ? 0 : code;
}

static int cmd_status(request *r)
{
    r->s.told = true;
    const int code = dls_sweeping_plan(&r->s);
    if (code >= 0) {
        return code;
    }
    const dls_sweep_plan *plan = r->s.plan;
    size_t count[4] = {0};
    for (size_t i = 0; i < plan->n; i++) {
        const dls_sweep_state state = dls_sweep_state_of(r->s.folder, plan->id[i]);
        count[state]++;
        if (state == DLS_SWEEP_FAILED && !r->s.o.json) {
            char label[300], message[DLS_SWEEP_MESSAGE];
            const size_t point = plan->first + i;
            dls_sweep_failure_get(r->s.folder, plan->id[i], message);
            printf("point %zu (%s) failed: %s\n", point,
                   dls_sweep_label(plan, dls_sweep_design(plan, point), label, sizeof label),
                   message);
        }
    }
    static const dls_sweep_state order[] = {DLS_SWEEP_FINISHED, DLS_SWEEP_RUNNING, DLS_SWEEP_FAILED,
                                            DLS_SWEEP_MISSING};
    printf(r->s.o.json ? "{\"points\": %zu" : "%zu points", plan->n);
    for (size_t i = 0; i < 4; i++) {
        const char *name = dls_sweep_state_name(order[i]);
        if (r->s.o.json) {
            printf(", \"%s\": %zu", name, count[order[i]]);
        } else {
            printf(", %zu %s", count[order[i]], name);
        }
    }
    puts(r->s.o.json ? "}" : "");
    if (!r->s.o.json) {
        dls_submit_status(&r->s);
    }
    return count[DLS_SWEEP_FINISHED] == plan->n ? 0 : dls_status_exit_code(DLS_ERUN);
}

static int cmd_merge(request *r)
{
    r->s.told = true;
    const int code = dls_sweeping_plan(&r->s);
    return code < 0 ? dls_sweeping_merge(&r->s, r->file, r->link) : code;
}

static int cmd_submit(request *r)
{
    if (!r->submit.slurm) {
        return dls_ui_usage("sweep", "say to whom: --slurm");
    }
    if (r->points) {
        return dls_ui_usage("sweep",
                            "'submit' takes every point that is not finished: no --points");
    }
    r->s.told = true;
    const int code = dls_sweeping_plan(&r->s);
    return code < 0 ? dls_submit(&r->s, r->path, &r->submit) : code;
}

static const struct {
    const char *name;
    int (*run)(request *r);
} commands[] = {{"plan", cmd_plan},
                {"run", cmd_run},
                {"status", cmd_status},
                {"submit", cmd_submit},
                {"merge", cmd_merge}};
enum { N_COMMANDS = sizeof commands / sizeof commands[0] };

/* ---- the command line --------------------------------------------------------------------------
 */

/* "7", "7-12" */
static bool parse_points(const char *text, size_t *first, size_t *n)
{
    unsigned long long a, b;
    int used = 0;
    if (sscanf(text, "%llu%n", &a, &used) != 1 || *text == '-' || *text == '+') {
        return false;
    }
    b = a;
    if (text[used] == '-') {
        const char *rest = text + used + 1;
        if (sscanf(rest, "%llu%n", &b, &used) != 1 || *rest == '-' || rest[used] != '\0') {
            return false;
        }
    } else if (text[used] != '\0') {
        return false;
    }
    if (b < a || b > DLS_SWEEP_POINTS_MAX) {
        return false;
    }
    *first = a;
    *n = b - a + 1;
    return true;
}

/* An option of one command alone. */
static int own_option(request *r, int c, const char *value)
{
    dls_submit_options *o = &r->submit;
    switch (c) {
    case OPT_POINTS:
        r->points = value;
        return parse_points(value, &r->s.first, &r->s.n)
                   ? -1
                   : dls_ui_usage("sweep",
                                  "option '--points' is \"%s\": expected a number or a range, such "
                                  "as 0-99",
                                  value);
    case OPT_COUNT:
        r->count = true;
        return -1;
    case OPT_FILE:
        r->file = value;
        return -1;
    case OPT_LINK:
        r->link = true;
        return -1;
    case OPT_SLURM:
        o->slurm = true;
        return -1;
    case OPT_YES:
        o->yes = true;
        return -1;
    case OPT_CHUNK:
        return dls_ui_i64("sweep", "--chunk", value, 1, DLS_SWEEP_POINTS_MAX, &o->chunk)
                   ? -1
                   : dls_status_exit_code(DLS_EUSAGE);
    case OPT_TIME:
        o->time = value;
        return -1;
    case OPT_PARTITION:
        o->partition = value;
        return -1;
    default:
        if (o->n_extra == DLS_SUBMIT_EXTRA_MAX) {
            return dls_ui_usage("sweep", "option '--extra' is given too often");
        }
        o->extra[o->n_extra++] = value;
        return -1;
    }
}

static int parse(request *r, int argc, char **argv)
{
    for (;;) {
        const int c = dls_ui_getopt(argc, argv, "o:qh" DLS_SWEEPING_SHORTS, longs, "sweep");
        int code = -1;
        if (c == -1) {
            break;
        }
        switch (c) {
        case '?':
            return dls_status_exit_code(DLS_EUSAGE);
        case 'h':
            fputs(help_text, stdout);
            return 0;
        case 'c':
            return dls_ui_usage("sweep", "a sweep names its configuration itself ('base')");
        default:
            code =
                c >= OPT_POINTS ? own_option(r, c, optarg) : dls_sweeping_option(&r->s, c, optarg);
        }
        if (code >= 0) {
            return code;
        }
    }
    if (argc - optind != 2) {
        return dls_ui_usage("sweep",
                            argc - optind < 2 ? "expected a command and a file" : "too many words");
    }
    r->command = argv[optind];
    r->path = argv[optind + 1];
    return -1;
}

static int dispatch(request *r)
{
    const char *names[N_COMMANDS + 1] = {NULL};
    for (size_t i = 0; i < N_COMMANDS; i++) {
        names[i] = commands[i].name;
        if (strcmp(r->command, commands[i].name) == 0) {
            const int code = dls_sweeping_load(&r->s, r->path);
            if (code < 0 && r->points && r->s.first + r->s.n > dls_sweep_n_points(r->s.sweep)) {
                return dls_ui_usage("sweep", "option '--points' is \"%s\": there are %zu points",
                                    r->points, dls_sweep_n_points(r->s.sweep));
            }
            return code < 0 ? commands[i].run(r) : code;
        }
    }
    const char *near = dls_suggest(r->command, names);
    return dls_ui_usage("sweep", "unknown command '%s'%s%s%s", r->command,
                        near ? " (did you mean '" : "", near ? near : "", near ? "'?)" : "");
}

int dls_cmd_sweep(int argc, char **argv)
{
    request r = {0};
    dls_error err;
    int code = -1;
    if (dls_sweeping_init(&r.s, "sweep", argc, argv, &err) != DLS_OK) {
        code = dls_ui_fail(&err);
    }
    if (code < 0) {
        code = parse(&r, argc, argv);
    }
    if (code < 0) {
        code = dispatch(&r);
    }
    dls_sweeping_fini(&r.s);
    return code;
}
