/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Loads the configuration and trace that a run's options name, runs the simulation with progress
 * and interruption, and writes its results.
 */
#include "base/printable.h"
#include "cli/replay.h"

#include "base/alloc.h"
#include "base/clock.h"
#include "base/shell.h"
#include "cli/signals.h"
#include "cli/trace_print.h"
#include "config/prepare.h"
#include "predictor/sources/predictions.h"

#include <errno.h>
#include <math.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/time.h>
#include <sysexits.h>
#include <unistd.h>

/* ---- options -----------------------------------------------------------------------------------
 */

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

dls_status dls_replay_init(void *options, dls_call *call, dls_error *err)
{
    dls_replay_options *o = options;
    DLS_TRY(join(call, &o->own_cmdline, err));
    o->cmdline = o->own_cmdline;
    return dls_registry_create(&o->registry, err);
}

void dls_replay_fini(void *options)
{
    dls_replay_options *o = options;
    dls_free(o->overrides);
    free(o->own_cmdline); /* the C library's own */
    dls_registry_destroy(o->registry);
}

dls_status dls_replay_take(void *options, const dls_arg *arg, const char *value, dls_error *err)
{
    dls_replay_options *o = options;
    DLS_TRY(
        dls_grow(&o->overrides, &o->overrides_cap, o->n_overrides + 1, sizeof *o->overrides, err));
    o->overrides[o->n_overrides++] = (dls_override){arg->key, value, arg->name - 2};
    return DLS_OK;
}

dls_status dls_replay_take_plugin(void *registry, const dls_arg *arg, const char *value,
                                  dls_error *err)
{
    (void)arg;
    return dls_registry_load(*(dls_registry **)registry, value, err);
}

const char *dls_names_scheduler(size_t i)
{
    const dls_sched_ops *s = dls_scheds()[i];
    return s ? s->name : NULL;
}

const char *dls_names_placement(size_t i)
{
    const dls_placement_ops *p = dls_placements()[i];
    return p ? p->name : NULL;
}

const char *dls_names_predictor(size_t i)
{
    const dls_prediction_source *s = dls_prediction_sources()[i];
    return s ? s->name : NULL;
}

const char *dls_names_format(size_t i)
{
    const dls_trace_format *f = dls_trace_formats()[i];
    return f ? f->name : NULL;
}

const char *dls_names_key(size_t i)
{
    for (int key = 0; key < DLS_CFG_COUNT; key++) {
        if (dls_schema_list_of(key) < 0 && dls_schema_is_value(key) && i-- == 0) {
            return dls_schema[key].o.name;
        }
    }
    return NULL;
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
    DLS_PLUGIN(dls_replay_options, registry),
    DLS_TIME(dls_replay_options, watchdog_s, "watchdog", 0, 0.001, 1e9,
             "end with 70 when 1,024 instants take longer than this of processor time: a policy "
             "that does not return"),
    DLS_ARGS_END};

const dls_arg dls_replay_talk_args[] = {
    DLS_SWITCH(dls_replay_options, quiet, "quiet", 'q',
               "no reports on stderr, no summary on stdout unless --json"),
    DLS_PROGRESS(dls_replay_options, progress), DLS_COLOR, DLS_ARGS_END};

/* ---- the parts ---------------------------------------------------------------------------------
 */

void dls_replay_problems(dls_problems *problems)
{
    for (size_t i = 0; i < problems->kept; i++) {
        fprintf(stderr, "%s\n", problems->text[i]);
    }
    if (problems->n > problems->kept) {
        fprintf(stderr, "... and %zu more\n", problems->n - problems->kept);
    }
    dls_problems_fini(problems);
}

dls_status dls_replay_config(const dls_replay_options *o, dls_config **out, dls_error *err)
{
    dls_problems problems = {0};
    const dls_config_request request = {.path = o->config_path,
                                        .overrides = o->overrides,
                                        .n_overrides = o->n_overrides,
                                        .registry = o->registry};
    const dls_status status = dls_config_load(&request, &problems, out, err);
    dls_replay_problems(&problems);
    return status;
}

dls_status dls_replay_trace(dls_replay_options *o, const dls_config *config, dls_trace **out,
                            dls_error *err)
{
    if (*config->trace_path == '\0') {
        return dls_fail(err, DLS_EUSAGE, NULL,
                        "no trace: give --trace=FILE or trace.path in the configuration");
    }
    DLS_TRY(dls_config_make_trace(config, out, err));
    if (!o->quiet) {
        dls_trace_print_notes(stderr, *out, true);
    }
    return DLS_OK;
}

/* ---- running -----------------------------------------------------------------------------------
 */

/* What the callbacks of a run know. */
typedef struct running {
    dls_progress *bar;
    const dls_trace *trace;
    bool quiet;
    double watchdog_s;
} running;

/* ---- a policy that does not return: nothing but a signal gets past it ---------------------------- */

static char stuck[512]; /* what is said then; made before, as a handler may not */

static void end_stuck(int signal)
{
    (void)signal;
    (void)!write(STDERR_FILENO, stuck, strlen(stuck));
    _exit(EX_SOFTWARE);
}

/* Seconds of processor time from now on; 0: no more. */
static void set_watchdog(double s)
{
    const struct itimerval at = {.it_value = {.tv_sec = (time_t)s,
                                              .tv_usec = (suseconds_t)((s - floor(s)) * 1e6)}};
    setitimer(ITIMER_VIRTUAL, &at, NULL);
}

static void start_watchdog(double s, const dls_config *config)
{
    const struct sigaction act = {.sa_handler = end_stuck};
    snprintf(stuck, sizeof stuck,
             "dlsim: scheduler '%.80s' or placement '%.80s' does not return: 1,024 instants took more "
             "than %g s of processor time\n", config->scheduler, config->placement, s);
    sigaction(SIGVTALRM, &act, NULL);
    set_watchdog(s);
}

static void report_infeasible(void *user, size_t n_infeasible, int32_t first_job)
{
    const running *r = user;
    if (!r->quiet) {
        const size_t job = (size_t)first_job;
        char id[DLS_PRINTABLE_BYTES];
        fprintf(stderr,
                "%zu of %zu jobs can never run on this cluster and are left out; the first is "
                "%s (%d GPUs)\n",
                n_infeasible, dls_trace_cols(r->trace)->n,
                dls_printable(dls_trace_id(r->trace, job), id),
                dls_trace_cols(r->trace)->gpus[job]);
    }
}

static bool interrupted(void *user)
{
    (void)user;
    return dls_signals_noted();
}

static void progress(void *user, int64_t now_us, size_t done, size_t n_jobs)
{
    const running *r = user;
    dls_progress *bar = r->bar;
    if (r->watchdog_s > 0) {
        set_watchdog(r->watchdog_s);
    }
    if (bar->on) {
        char detail[80], time[32];
        snprintf(detail, sizeof detail, "%zu of %zu jobs, %s", done, n_jobs,
                 dls_ui_duration((double)now_us / 1e6, time, sizeof time));
        dls_progress_draw(bar, n_jobs ? (double)done / (double)n_jobs : 0, detail);
    }
}

static dls_status run_sim(const dls_config *config, const dls_trace *trace, running *r,
                          dls_record **out, dls_error *err)
{
    dls_prepared p;
    DLS_TRY(dls_prepare(config, trace, &p, err));
    p.params.interrupted = interrupted;
    p.params.progress = progress;
    p.params.infeasible = report_infeasible;
    p.params.user = r;
    dls_status status = dls_sim_run(&p.params, out, err);
    if (status == DLS_OK) {
        dls_error unkept = {0};
        status = dls_prepared_finish(&p, &(*out)->facts, &unkept, err);
        if (unkept.status != DLS_OK) {
            fprintf(stderr, "dlsim: warning: %s: %s\n", unkept.where, unkept.msg);
        }
    }
    if (status != DLS_OK) {
        dls_record_destroy(*out);
        *out = NULL;
    }
    dls_prepared_fini(&p);
    return status;
}

/* The scheduler of the run that is going on; NULL. */
static const char *running_scheduler;

/* A plug-in that calls exit() must not look like a run that has ended well. */
static void refuse_exit(void)
{
    if (running_scheduler) {
        fprintf(stderr, "dlsim: a policy has called exit() during the run of '%s'\n",
                running_scheduler);
        _exit(EX_SOFTWARE);
    }
}

dls_status dls_replay_run(const dls_replay_options *o, const dls_config *config,
                          const dls_trace *trace, dls_record **out, double *wall_s, dls_error *err)
{
    dls_progress bar;
    dls_progress_start(&bar, o->progress, o->quiet, config->scheduler);
    const double start_s = dls_clock_s();
    running r = {&bar, trace, o->quiet, o->watchdog_s};
    static bool refusing; /* once a process */
    if (!refusing && atexit(refuse_exit) != 0) {
        return dls_nomem(err, "exit handler", 0);
    }
    refusing = true;
    running_scheduler = config->scheduler;
    if (o->watchdog_s > 0) {
        start_watchdog(o->watchdog_s, config);
    }
    const dls_status status = run_sim(config, trace, &r, out, err);
    running_scheduler = NULL;
    if (o->watchdog_s > 0) {
        set_watchdog(0);
    }
    *wall_s = dls_clock_s() - start_s;
    dls_progress_stop(&bar);
    return status;
}

/* ---- results -----------------------------------------------------------------------------------
 */

dls_status dls_replay_check_output(const char *path, bool force, dls_error *err)
{
    struct stat info;
    char folder[4096];
    if (strlen(path) >= sizeof folder) {
        return dls_fail(err, DLS_EOUTPUT, NULL, "the name of the results file is too long");
    }
    if (stat(path, &info) == 0) {
        if (!S_ISREG(info.st_mode)) {
            return dls_fail(err, DLS_EOUTPUT, path, "is there and not a file");
        }
        if (!force) {
            return dls_fail(err, DLS_EOUTPUT, path, "is there already (--force replaces it)");
        }
    }
    memcpy(folder, path, strlen(path) + 1);
    char *slash = strrchr(folder, '/');
    if (slash) {
        slash[slash == folder] = '\0';
    } else {
        memcpy(folder, ".", 2);
    }
    if (access(folder, W_OK | X_OK) != 0) {
        return dls_fail(err, DLS_EOUTPUT, path, "cannot be written: folder %s: %s", folder,
                        strerror(errno));
    }
    return DLS_OK;
}

static bool is_stdout(const char *path)
{
    return !path || strcmp(path, "-") == 0;
}

dls_status dls_replay_check_table(const char *path, bool force, dls_error *err)
{
    return is_stdout(path) ? DLS_OK : dls_replay_check_output(path, force, err);
}

dls_status dls_replay_put_table(const char *path, dls_atomicfile_put_fn put, void *what,
                                dls_error *err)
{
    return is_stdout(path) ? put(stdout, what, err) : dls_atomicfile_write(path, put, what, err);
}
