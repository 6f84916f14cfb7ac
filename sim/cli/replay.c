/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * The options of a run as a set-up of the library, and its run with progress, interruption and a
 * watchdog.
 */
#include "cli/replay.h"

#include "base/shell.h"
#include "cli/signals.h"

#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/time.h>
#include <sysexits.h>
#include <unistd.h>

/* ---- options --------------------------------------------------------------------------------- */

/* The command line, quoted as a shell wants it; the C library's. */
static dls_status join(const dls_call *call, char **out, dls_error *err)
{
    size_t len;
    FILE *text = open_memstream(out, &len);
    if (text) {
        fputs("dlsim", text);
    }
    for (int i = 1; text && i < call->argc; i++) {
        fputc(' ', text);
        dls_shell_word(text, call->argv[i]);
    }
    return text && fclose(text) == 0 ? DLS_OK : dls_nomem(err, "command line", 0);
}

dls_status dls_replay_init(dls_call *call, dls_error *err)
{
    dls_replay_options *o = call->request;
    DLS_TRY(join(call, &o->cmdline, err));
    return dls_setup_create(&o->setup, err);
}

void dls_replay_fini(void *options)
{
    dls_replay_options *o = options;
    free(o->cmdline); /* the C library's own */
    dls_setup_destroy(o->setup);
}

dls_status dls_replay_take(void *options, const dls_arg *arg, const char *value, dls_error *err)
{
    const dls_replay_options *o = options;
    return dls_setup_set_from(o->setup, arg->key, value, arg->name - 2, err);
}

dls_status dls_replay_take_plugin(void *setup, const dls_arg *arg, const char *value,
                                  dls_error *err)
{
    return dls_setup_plugin(*(dls_setup **)setup, value, err);
}

const char *dls_names_scheduler(size_t i, const char **summary)
{
    const dls_sched_ops *s = dls_scheds()[i];
    *summary = s ? s->summary : NULL;
    return s ? s->name : NULL;
}

const char *dls_names_placement(size_t i, const char **summary)
{
    const dls_placement_ops *p = dls_placements()[i];
    *summary = p ? p->summary : NULL;
    return p ? p->name : NULL;
}

const char *dls_names_predictor(size_t i, const char **summary)
{
    return dls_known_name(DLS_KNOWN_PREDICTORS, i, summary);
}

const char *dls_names_format(size_t i, const char **summary)
{
    return dls_known_name(DLS_KNOWN_FORMATS, i, summary);
}

const char *dls_names_key(size_t i, const char **summary)
{
    return dls_known_name(DLS_KNOWN_KEYS, i, summary);
}

const dls_arg dls_replay_args[] = {
    DLS_OVERRIDE(0, "trace", 0, "FILE", "trace.path", NULL,
                 "jobs, plain or gzip, '-' standard input; sets trace.path"),
    DLS_OVERRIDE(0, "trace-format", 0, "NAME", "trace.format", dls_names_format,
                 "one of 'dlsim list formats'; recognised if left out"),
    DLS_OVERRIDE(0, "seed", 0, "N", "run.seed", NULL,
                 "sets run.seed, from which replicas of a sweep count"),
    DLS_OVERRIDE(0, "until", 0, "TIME", "run.until", NULL,
                 "stop at this simulated time, e.g. 7d; sets run.until"),
    DLS_OVERRIDE(0, "set", 0, "KEY=VALUE", NULL, dls_names_key,
                 "set any key of the configuration; may be repeated, the last setting counts"),
    DLS_PLUGIN(dls_replay_options, setup),
    DLS_TIME(dls_replay_options, watchdog_s, "watchdog", 0, 0.001, 1e9,
             "end with 70 when 1,024 instants, or the set-up of policies, take longer than this of "
             "processor time: a policy that does not return"),
    DLS_ARGS_END};

const dls_arg dls_replay_talk_args[] = {
    DLS_SWITCH(dls_replay_options, quiet, "quiet", 'q',
               "no reports on stderr, no summary of a run on stdout unless --json"),
    DLS_PROGRESS(dls_replay_options, progress), DLS_COLOR, DLS_ARGS_END};

/* ---- the parts ------------------------------------------------------------------------------- */

dls_status dls_replay_site(dls_setup **out, const char *site, const dls_words *set, dls_error *err)
{
    char path[4096];
    struct stat info;
    const bool folder = stat(site, &info) == 0 && S_ISDIR(info.st_mode);
    const int n = snprintf(path, sizeof path, folder ? "%s/cluster.cfg" : "%s", site);
    if (n < 0 || (size_t)n >= sizeof path) {
        return dls_fail(err, DLS_EINPUT, site, "too long a path");
    }
    DLS_TRY(dls_setup_create(out, err));
    DLS_TRY(dls_setup_file(*out, path, err));
    for (size_t i = 0; i < set->n; i++) {
        DLS_TRY(dls_setup_set_from(*out, NULL, set->at[i], set->at[i], err));
    }
    return DLS_OK;
}

dls_status dls_replay_tell(const dls_setup *setup, dls_status status)
{
    const char *text;
    for (size_t i = 0; status == DLS_ECONFIG && (text = dls_setup_problem(setup, i)); i++) {
        fprintf(stderr, "%s\n", text);
    }
    return status;
}

/* ---- what the reader of a trace saw ---------------------------------------------------------- */

static const char *const flag_texts[] = {
#define XX(name, bit, text) text,
    DLS_JOB_FLAG_MAP(XX)
#undef XX
};

void dls_trace_print_notes(FILE *to, const dls_trace *trace, bool always)
{
    const dls_trace_info *info = dls_trace_about(trace);
    always = always || *info->notes;
    for (int bit = 0; bit < DLS_JOB_FLAG_COUNT; bit++) {
        always = always || info->flag_count[bit] > 0;
    }
    if (!always) {
        return;
    }
    fprintf(to, "%s: %zu jobs (%s)\n", info->path, dls_trace_cols(trace)->n, info->format);
    for (const char *line = info->notes; *line;) {
        const int len = (int)strcspn(line, "\n");
        fprintf(to, "  %.*s\n", len, line);
        line += len + (line[len] == '\n');
    }
    for (int bit = 0; bit < DLS_JOB_FLAG_COUNT; bit++) {
        if (info->flag_count[bit] > 0) {
            fprintf(to, "  %" PRIu64 " jobs: %s\n", info->flag_count[bit], flag_texts[bit]);
        }
    }
}

/* ---- a policy that does not return: nothing but a signal gets past it ------------------------ */

static char stuck[512]; /* what is said then; made before, as a handler may not */

static void end_stuck(int signal)
{
    (void)!write(STDERR_FILENO, stuck, strlen(stuck));
    _exit(EX_SOFTWARE);
}

/* Seconds of processor time from now on; 0: no more. */
static void set_watchdog(double s)
{
    const struct itimerval at = {
        .it_value = {.tv_sec = (time_t)s, .tv_usec = (suseconds_t)((s - floor(s)) * 1e6)}};
    setitimer(ITIMER_VIRTUAL, &at, NULL);
}

/* what: took longer than that. */
static void start_watchdog(double s, const char *sched, const char *placement, const char *what)
{
    const struct sigaction act = {.sa_handler = end_stuck};
    snprintf(stuck, sizeof stuck,
             "dlsim: scheduler '%.80s' or placement '%.80s' does not return: %s took more than %g s of processor time\n",
             sched, placement, what, s);
    sigaction(SIGVTALRM, &act, NULL);
    set_watchdog(s);
}

static void watch_set_up(void *user, const char *sched, const char *placement, bool begins)
{
    const double *limit_s = user;
    if (begins) {
        start_watchdog(*limit_s, sched, placement, "the set-up");
    } else {
        set_watchdog(0);
    }
}

void dls_replay_watch(dls_replay_options *o)
{
    if (o->watchdog_s > 0) {
        dls_setup_watch(o->setup, watch_set_up, &o->watchdog_s);
    }
}

/* ---- a policy that ends the process ---------------------------------------------------------- */

/* Of the run that is going on or made; NULL. */
static dls_setup *running_setup;

/* A plug-in that calls exit() must not look like a run that has ended well. */
static void refuse_exit(void)
{
    const char *name;
    if (running_setup) {
        const bool known = dls_setup_get(running_setup, "scheduler.name", &name, NULL) == DLS_OK;
        fprintf(stderr, "dlsim: a policy has called exit() during the run of '%s'\n", known ? name : "a scheduler");
        _exit(EX_SOFTWARE);
    }
}

/* From now on an exit() is that of a policy. */
static dls_status begin_refusing(dls_setup *setup, dls_error *err)
{
    static bool refusing; /* once a process */
    if (!refusing && atexit(refuse_exit) != 0) {
        return dls_nomem(err, "exit handler", 0);
    }
    refusing = true;
    running_setup = setup;
    return DLS_OK;
}

dls_status dls_replay_create(const dls_replay_options *o, const dls_trace *trace, dls_simulation **out,
                             dls_error *err)
{
    DLS_TRY(begin_refusing(o->setup, err));
    const dls_status status = dls_simulation_create(o->setup, trace, out, err);
    running_setup = NULL;
    return status;
}

/* ---- the run --------------------------------------------------------------------------------- */

/* What is drawn while it runs, and when it has taken too long. */
typedef struct running {
    dls_progress bar;
    double watchdog_s;
} running;

static bool watch(void *user, int64_t now_us, size_t done, size_t n_jobs)
{
    running *r = user;
    if (r->watchdog_s > 0) {
        set_watchdog(r->watchdog_s);
    }
    if (r->bar.on) {
        char detail[80], time[32];
        snprintf(detail, sizeof detail, "%zu of %zu jobs, %s", done, n_jobs,
                 dls_ui_duration((double)now_us / 1e6, time, sizeof time));
        dls_progress_draw(&r->bar, n_jobs ? (double)done / (double)n_jobs : 0, detail);
    }
    return !dls_signals_noted();
}

dls_status dls_replay_run(const dls_replay_options *o, bool quiet, dls_simulation *sim,
                          dls_error *err)
{
    running r = {.watchdog_s = o->watchdog_s};
    DLS_TRY(begin_refusing(o->setup, err));
    dls_progress_start(&r.bar, quiet ? DLS_UI_NEVER : o->progress, quiet || o->quiet,
                       dls_simulation_scheduler(sim));
    if (o->watchdog_s > 0) {
        start_watchdog(o->watchdog_s, dls_simulation_scheduler(sim), dls_simulation_placement(sim), "1,024 instants");
    }
    dls_simulation_watch(sim, watch, &r);
    const dls_status status = dls_simulation_run(sim, err);
    dls_simulation_watch(sim, NULL, NULL);
    running_setup = NULL;
    if (o->watchdog_s > 0) {
        set_watchdog(0);
    }
    dls_progress_stop(&r.bar);
    if (dls_simulation_warning(sim)) {
        fprintf(stderr, "dlsim: warning: %s\n", dls_simulation_warning(sim));
    }
    return status;
}

/* ---- results --------------------------------------------------------------------------------- */

const dls_arg dls_table_args[] = {
    DLS_OUTPUT(dls_table_options, output, "output", 'o', "FILE",
             "write there; standard output if left out", .streams = true),
    DLS_SWITCH(dls_table_options, quiet, "quiet", 'q', "no report on stderr"), DLS_ARGS_END};

dls_status dls_table_put(const dls_table_options *o, dls_atomicfile_put_fn put, void *what,
                         dls_error *err)
{
    return dls_atomicfile_stream(o->output ? o->output : "-", put, what, err);
}

dls_status dls_replay_compare(dls_comparison *c, const dls_words *baselines, bool json,
                              dls_error *err)
{
    const char *text;
    for (size_t i = 0; i < baselines->n; i++) {
        DLS_TRY(dls_comparison_baseline(c, baselines->at[i], err));
    }
    const dls_status status = dls_comparison_print(c, stdout, json, err);
    for (size_t i = 0; (text = dls_comparison_warning(c, i)); i++) {
        fprintf(stderr, "dlsim: warning: %s\n", text);
    }
    return status;
}
