/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * dlsim study: a sweep planned, run, merged and compared in one command.
 */
#include "base/alloc.h"
#include "cli/cli.h"
#include "cli/comparing.h"
#include "cli/sweeping.h"

#include <dirent.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define POLICIES_MAX 32

static const char *const help_text =
    "Usage: dlsim study STUDY.cfg [OPTION]...\n"
    "       dlsim study --config=FILE --trace=FILE --schedulers=A,B,... [OPTION]...\n"
    "\n"
    "Run every point of a sweep (docs/sweeps.md), or one trace under several policies; put the "
    "runs\n"
    "into one file and print how they compare.\n"
    "\n"
    "      --schedulers=A,B,... schedulers ('dlsim list schedulers')\n"
    "      --placements=A,B,... each with each of these; the configuration's if left out\n"
    "      --replicas=N         each with N seeds, the same for all\n"
    "      --baseline=NAME      ratios to this one, not to the first; may be repeated\n"
    "  -j, --jobs=N             processes at a time; as many as there are processors\n"
    "  -c, --config=FILE        configuration\n"
    "      --trace=FILE         jobs; sets trace.path\n"
    "      --trace-format=NAME  one of 'dlsim list formats'; recognised if left out\n"
    "      --seed=N             sets run.seed, from which replicas count\n"
    "      --until=TIME         stop at this simulated time; sets run.until\n"
    "      --set KEY=VALUE      set any key of the configuration; may be repeated\n"
    "      --plugin=FILE.so     load policies of a plug-in; may be repeated\n"
    "  -o, --output=FOLDER      keep the runs there, and all of them in FOLDER/NAME.h5. A study "
    "file\n"
    "                           has a folder in any case (sweep.output, or NAME.sweep)\n"
    "      --json               the comparison as JSON\n"
    "  -q, --quiet              no reports on stderr\n"
    "      --progress=WHEN      auto (on a terminal), always, never\n"
    "      --color=WHEN         auto, always, never\n"
    "  -h, --help               this text\n"
    "\n"
    "Runs that are finished in FOLDER are not run again: a study that was stopped goes on.\n";

enum { OPT_BASELINE = 256 };

static const struct option longs[] = {DLS_REPLAY_LONGS,
                                      DLS_SWEEPING_LONGS,
                                      {"schedulers", required_argument, NULL, 'A'},
                                      {"placements", required_argument, NULL, 'L'},
                                      {"baseline", required_argument, NULL, OPT_BASELINE},
                                      {NULL, 0, NULL, 0}};

typedef struct study {
    dls_sweeping s;
    dls_comparing c;
    const char *path;              /* of a study file; NULL: the axes are on the command line */
    char *schedulers, *placements; /* owned, cut at the commas */
    const char *sched[POLICIES_MAX], *place[POLICIES_MAX];
    size_t n_sched, n_place;
    char scratch[4096]; /* a folder that goes away again, "" if there is none */
} study;

/* "a,b" in place into words; -1 or the exit code. */
static int split(const char *option, const char *value, char **copy, const char **words, size_t *n)
{
    dls_free(*copy);
    *copy = dls_strdup(value);
    *n = 0;
    if (!*copy) {
        dls_error err;
        (void)dls_nomem(&err, "names", strlen(value));
        return dls_ui_fail(&err);
    }
    for (char *s = *copy; s;) {
        char *comma = strchr(s, ',');
        if (comma) {
            *comma = '\0';
        }
        if (*s == '\0' || *n == POLICIES_MAX) {
            return dls_ui_usage("study",
                                "option '%s' is \"%s\": expected 1..%d names, a comma "
                                "between them",
                                option, value, POLICIES_MAX);
        }
        words[(*n)++] = s;
        s = comma ? comma + 1 : NULL;
    }
    return -1;
}

static int option(study *s, int c, const char *value)
{
    switch (c) {
    case 'A':
        return split("--schedulers", value, &s->schedulers, s->sched, &s->n_sched);
    case 'L':
        return split("--placements", value, &s->placements, s->place, &s->n_place);
    case OPT_BASELINE:
        if (s->c.n_baselines == DLS_COMPARING_BASELINES) {
            return dls_ui_usage("study", "option '--baseline' is given too often");
        }
        s->c.baseline[s->c.n_baselines++] = value;
        return -1;
    default:
        return dls_sweeping_option(&s->s, c, value);
    }
}

static int parse(study *s, int argc, char **argv)
{
    for (;;) {
        const int c =
            dls_ui_getopt(argc, argv, DLS_REPLAY_SHORTS DLS_SWEEPING_SHORTS, longs, "study");
        if (c == -1) {
            break;
        }
        if (c == '?') {
            return dls_status_exit_code(DLS_EUSAGE);
        }
        if (c == 'h') {
            fputs(help_text, stdout);
            return 0;
        }
        const int code = option(s, c, optarg);
        if (code >= 0) {
            return code;
        }
    }
    s->path = optind < argc ? argv[optind++] : NULL;
    if (optind < argc) {
        return dls_ui_usage("study", "unexpected word '%s'", argv[optind]);
    }
    if (s->path && (s->s.o.config_path || s->n_sched || s->n_place)) {
        return dls_ui_usage("study", "a study file says itself what is compared: no --config, "
                                     "--schedulers or --placements");
    }
    if (!s->path && !s->s.o.config_path) {
        return dls_ui_usage("study", "no configuration: give --config=FILE, or a study file");
    }
    if (!s->path && s->n_sched == 0) {
        return dls_ui_usage("study", "no schedulers: give --schedulers=A,B,...");
    }
    return -1;
}

/* The sweep of the command line. */
static dls_status make_sweep(study *s, dls_error *err)
{
    DLS_TRY(dls_sweep_create(s->s.o.config_path, &s->s.sweep, err));
    dls_sweep *sweep = s->s.sweep;
    DLS_TRY(dls_sweep_add_list(sweep, "scheduler.name", s->sched, s->n_sched, "--schedulers", err));
    if (s->n_place) {
        DLS_TRY(
            dls_sweep_add_list(sweep, "placement.name", s->place, s->n_place, "--placements", err));
    }
    return DLS_OK;
}

/* Without -o, results on the command line's axes are for the table alone. */
static dls_status make_scratch(study *s, dls_error *err)
{
    const char *where = getenv("TMPDIR");
    where = where && *where ? where : "/tmp";
    const int len = snprintf(s->scratch, sizeof s->scratch, "%s/dlsim-XXXXXX", where);
    errno = ENAMETOOLONG;
    if (len >= (int)sizeof s->scratch || !mkdtemp(s->scratch)) {
        const int why = errno;
        s->scratch[0] = '\0';
        return dls_fail(err, DLS_EOUTPUT, where, "no folder can be made: %s", strerror(why));
    }
    s->s.output = s->scratch;
    return DLS_OK;
}

/* Two levels of folders below it are the deepest there are. */
static void remove_folder(const char *path, int depth)
{
    DIR *dir = depth > 0 ? opendir(path) : NULL;
    for (struct dirent *entry; dir && (entry = readdir(dir)) != NULL;) {
        char below[4096];
        if (strcmp(entry->d_name, ".") != 0 && strcmp(entry->d_name, "..") != 0) {
            snprintf(below, sizeof below, "%s/%s", path, entry->d_name);
            if (unlink(below) != 0) {
                remove_folder(below, depth - 1);
            }
        }
    }
    if (dir) {
        closedir(dir);
    }
    rmdir(path);
}

static int run(study *s)
{
    dls_error err;
    dls_status status = DLS_OK;
    int code = -1;
    if (s->path) {
        code = dls_sweeping_load(&s->s, s->path);
    } else {
        status = make_sweep(s, &err);
        if (status == DLS_OK && !s->s.output) {
            status = make_scratch(s, &err);
        }
    }
    if (status != DLS_OK) {
        return dls_ui_fail(&err);
    }
    if (code < 0) {
        code = dls_sweeping_plan(&s->s);
    }
    if (code < 0) {
        code = dls_sweeping_run(&s->s);
    }
    const int failed = code;
    if (code >= 0 && (s->s.done.failed == 0 || s->s.done.finished == 0)) {
        return code;
    }
    /* Those that failed have been reported; the rest is worth a look all the same. */
    char merged[4200];
    s->s.o.quiet = s->s.o.quiet || *s->scratch;
    snprintf(merged, sizeof merged, "%s/%s.h5", s->s.folder, s->s.sweep->name);
    code = dls_sweeping_merge(&s->s, NULL, false);
    if (code != 0) {
        return code;
    }
    status = dls_comparing_add(&s->c, merged, NULL, &err);
    if (status == DLS_OK) {
        status = dls_comparing_show(&s->c, s->s.o.json, &err);
    }
    if (status != DLS_OK) {
        return dls_ui_fail(&err);
    }
    return failed < 0 ? 0 : failed;
}

int dls_cmd_study(int argc, char **argv)
{
    study s = {0};
    dls_error err;
    int code = -1;
    if (dls_sweeping_init(&s.s, "study", argc, argv, &err) != DLS_OK) {
        code = dls_ui_fail(&err);
    }
    if (code < 0) {
        code = parse(&s, argc, argv);
    }
    if (code < 0) {
        code = run(&s);
    }
    if (*s.scratch) {
        remove_folder(s.scratch, 3);
    }
    dls_comparing_fini(&s.c);
    dls_free(s.schedulers);
    dls_free(s.placements);
    dls_sweeping_fini(&s.s);
    return code;
}
