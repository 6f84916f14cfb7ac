/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "base/alloc.h"
#include "cli/cli.h"
#include "cli/replay.h"
#include "results/compare.h"

#include <errno.h>
#include <string.h>
#include <sys/stat.h>

#define POLICIES_MAX 32

static const char *const help_text =
    "Usage: dlsim study --config=FILE --trace=FILE --schedulers=A,B,... [OPTION]...\n"
    "\n"
    "Replay one trace under several policies and print how they compare; ratios are to the first.\n"
    "\n"
    "      --schedulers=A,B,... schedulers ('dlsim list schedulers')\n"
    "      --placements=A,B,... each with each of these; the configuration's if left out\n"
    "  -c, --config=FILE        configuration\n"
    "      --trace=FILE         jobs; sets trace.path\n"
    "      --trace-format=NAME  one of 'dlsim list formats'; recognised if left out\n"
    "      --seed=N             sets run.seed, the same for all\n"
    "      --until=TIME         stop at this simulated time; sets run.until\n"
    "      --set KEY=VALUE      set any key of the configuration; may be repeated\n"
    "      --plugin=FILE.so     load policies of a plug-in; may be repeated\n"
    "  -o, --output=FOLDER      write FOLDER/SCHEDULER-PLACEMENT.h5 for each run\n"
    "      --force              replace results files that are there\n"
    "      --json               the comparison as JSON\n"
    "  -q, --quiet              no reports on stderr\n"
    "      --progress=WHEN      auto (on a terminal), always, never\n"
    "      --color=WHEN         auto, always, never\n"
    "  -h, --help               this text\n";

static const struct option longs[] = {DLS_REPLAY_LONGS,
                                      {"schedulers", required_argument, NULL, 'A'},
                                      {"placements", required_argument, NULL, 'L'},
                                      {NULL, 0, NULL, 0}};

typedef struct study {
    dls_replay_options o;
    char *schedulers, *placements; /* owned, cut at the commas */
    const char *sched[POLICIES_MAX], *place[POLICIES_MAX];
    size_t n_sched, n_place;
    const char *folder;
    dls_summary *summary; /* [n_sched * n_place] */
    dls_compare_run *runs;
    char (*label)[2 * DLS_NAME_MAX];
    size_t n;
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

static int parse(study *s, int argc, char **argv)
{
    for (;;) {
        const int c = dls_ui_getopt(argc, argv, DLS_REPLAY_SHORTS, longs, "study");
        if (c == -1) {
            break;
        }
        int code = -1;
        if (c == '?') {
            return dls_status_exit_code(DLS_EUSAGE);
        } else if (c == 'h') {
            fputs(help_text, stdout);
            return 0;
        } else if (c == 'A') {
            code = split("--schedulers", optarg, &s->schedulers, s->sched, &s->n_sched);
        } else if (c == 'L') {
            code = split("--placements", optarg, &s->placements, s->place, &s->n_place);
        } else if (c == 'o') {
            s->folder = optarg;
        } else {
            code = dls_replay_option(&s->o, c, optarg);
        }
        if (code >= 0) {
            return code;
        }
    }
    if (optind < argc) {
        return dls_ui_usage("study", "unexpected word '%s'", argv[optind]);
    }
    if (!s->o.config_path) {
        return dls_ui_usage("study", "no configuration: give --config=FILE");
    }
    if (s->n_sched == 0) {
        return dls_ui_usage("study", "no schedulers: give --schedulers=A,B,...");
    }
    if (s->n_place == 0) {
        s->place[s->n_place++] = NULL;
    }
    return -1;
}

/* One more run; the trace is loaded with the first. */
static int run_one(study *s, const char *sched, const char *place, dls_trace **trace)
{
    dls_config *config = NULL;
    dls_record *rec = NULL;
    dls_error err;
    char path[4200] = "";
    const size_t n_overrides = s->o.n_overrides;
    dls_status status = dls_replay_set(&s->o, "scheduler.name", sched, "--schedulers", &err);
    if (status == DLS_OK && place) {
        status = dls_replay_set(&s->o, "placement.name", place, "--placements", &err);
    }
    int code = status == DLS_OK ? dls_replay_config(&s->o, &config) : dls_ui_fail(&err);
    if (code < 0 && s->folder) {
        const int len = snprintf(path, sizeof path, "%s/%s-%s.h5", s->folder, config->scheduler,
                                 config->placement);
        status = len >= (int)sizeof path
                     ? dls_fail(&err, DLS_EOUTPUT, NULL, "the folder's name is too long")
                     : dls_replay_check_output(path, s->o.force, &err);
        code = status == DLS_OK ? code : dls_ui_fail(&err);
    }
    if (code < 0 && !*trace) {
        code = dls_replay_trace(&s->o, config, trace);
    }
    if (code < 0) {
        double wall_s;
        dls_summary *summary = &s->summary[s->n];
        status = dls_replay_run(&s->o, config, *trace, &rec, &wall_s, &err);
        if (status == DLS_OK) {
            status = dls_summary_make(*trace, rec, config->warmup_us, config->cooldown_us, wall_s,
                                      summary, &err);
        }
        if (status == DLS_OK && s->folder) {
            status = dls_replay_write(path, &s->o, config, *trace, rec, summary, &err);
        }
        if (status == DLS_OK && dls_replay_interrupted()) {
            status = dls_fail(&err, DLS_EINTERRUPTED, NULL, "interrupted in run '%s'", sched);
        }
        code = status == DLS_OK ? code : dls_ui_fail(&err);
        snprintf(s->label[s->n], sizeof s->label[0], "%s/%s", config->scheduler, config->placement);
        s->runs[s->n] = (dls_compare_run){s->label[s->n], dls_trace_about(*trace)->sha256, summary};
        s->n++;
    }
    dls_record_destroy(rec);
    dls_config_destroy(config);
    s->o.n_overrides = n_overrides;
    return code;
}

static int run_all(study *s)
{
    dls_trace *trace = NULL;
    dls_error err;
    const size_t n = s->n_sched * s->n_place;
    int code = -1;
    s->summary = dls_alloc_zero(n, sizeof *s->summary);
    s->runs = dls_alloc_zero(n, sizeof *s->runs);
    s->label = dls_alloc_zero(n, sizeof *s->label);
    if (!s->summary || !s->runs || !s->label) {
        (void)dls_nomem(&err, "summaries", n * sizeof *s->summary);
        return dls_ui_fail(&err);
    }
    if (s->folder && mkdir(s->folder, 0777) != 0 && errno != EEXIST) {
        (void)dls_fail(&err, DLS_EOUTPUT, s->folder, "cannot be made: %s", strerror(errno));
        return dls_ui_fail(&err);
    }
    for (size_t i = 0; i < s->n_sched && code < 0; i++) {
        for (size_t k = 0; k < s->n_place && code < 0; k++) {
            code = run_one(s, s->sched[i], s->place[k], &trace);
        }
    }
    if (code < 0) {
        code = 0;
        if (!s->o.json) {
            dls_compare_print(stdout, s->runs, s->n);
        } else if (dls_compare_json(stdout, s->runs, s->n, &err) != DLS_OK) {
            code = dls_ui_fail(&err);
        }
        if (s->folder && !s->o.quiet) {
            fprintf(stderr, "results: %s\n", s->folder);
        }
    }
    dls_trace_destroy(trace);
    return code;
}

int dls_cmd_study(int argc, char **argv)
{
    study s = {0};
    dls_error err;
    int code = -1;
    if (dls_replay_init(&s.o, "study", argc, argv, &err) != DLS_OK) {
        code = dls_ui_fail(&err);
    }
    if (code < 0) {
        code = parse(&s, argc, argv);
    }
    if (code < 0) {
        code = run_all(&s);
    }
    dls_free(s.schedulers);
    dls_free(s.placements);
    dls_free(s.summary);
    dls_free(s.runs);
    dls_free(s.label);
    dls_replay_fini(&s.o);
    return code;
}
