/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * dlsim perf: sample a real job, or read a profiler's list of its kernels; its step, bursts and
 * pauses (perf_analyze.c).
 */
#include "base/alloc.h"
#include "base/datapath.h"
#include "base/own.h"
#include "cli/command.h"
#include "cli/ui.h"
#include "predictor/cli/perf_analyze.h"
#include "predictor/measure/profiler.h"

#include <errno.h>
#include <signal.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

typedef struct request {
    const char *output, *interfaces, *processes;
    bool no_gpu, quiet;
    dls_perf_request analysis; /* its interval is that of all verbs; 0: the usual */
} request;

/* ---- record ---------------------------------------------------------------------------------- */

static volatile sig_atomic_t forward;

/* A terminal's signal reaches the command by itself; what another process sends is passed on.
 * Either way the recording goes on until the command ends. */
static void on_signal(int number, siginfo_t *info, void *context)
{
    (void)context;
    if (info->si_code <= 0) {
        forward = number;
    }
}

static void catch_signals(bool on)
{
    static const int numbers[] = {SIGINT, SIGTERM, SIGHUP, SIGQUIT};
    static struct sigaction before[4];
    struct sigaction action = {.sa_sigaction = on_signal, .sa_flags = SA_SIGINFO};
    sigemptyset(&action.sa_mask);
    for (size_t i = 0; i < 4; i++) {
        if (on) {
            sigaction(numbers[i], &action, &before[i]);
        } else {
            sigaction(numbers[i], &before[i], NULL);
        }
    }
}

static void tell(const dls_recording *r, const char *path)
{
    const double length_s = r->n ? (double)r->time_ns[r->n - 1] * 1e-9 : 0;
    fprintf(stderr, "dlsim perf: %zu readings of %zu columns in %.3f s: %s\n", r->n, r->n_columns,
            length_s, path);
    if (r->notes[0]) {
        fprintf(stderr, "dlsim perf: %s\n", r->notes);
    }
}

static dls_status record(void *user, dls_call *call, dls_error *err)
{
    const request *req = user;
    const double interval_s = req->analysis.interval_s;
    const dls_record_options options = {.interval_s = interval_s > 0 ? interval_s : 0.01,
                                        .interfaces = req->interfaces,
                                        .processes = req->processes,
                                        .no_gpu = req->no_gpu,
                                        .forward = &forward};
    const char *path = req->output ? req->output : "perf.h5";
    dls_recording r;
    catch_signals(true);
    dls_status status = dls_record(call->word, &options, &r, err);
    catch_signals(false);
    call->exit_code = r.exit_code;
    const bool ran = status == DLS_OK;
    if (ran) {
        status = dls_recording_save(&r, path, err);
    }
    if (ran && status == DLS_OK && !req->quiet) {
        tell(&r, path);
    }
    dls_recording_fini(&r);
    if (!ran && call->exit_code != 0) { /* the command's code says why it could not be run */
        (void)dls_ui_fail(err);
        return DLS_OK;
    }
    return status;
}

/* ---- import and analyze ---------------------------------------------------------------------- */

static dls_status import(void *user, dls_call *call, dls_error *err)
{
    const request *req = user;
    const char *path = req->output ? req->output : "perf.h5";
    const double interval_s = req->analysis.interval_s > 0 ? req->analysis.interval_s : 0.001;
    DLS_OWN(dls_recording_fini) dls_recording r = {0};
    DLS_TRY(dls_recording_of_profile(call->word[0], interval_s, &r, err));
    DLS_TRY(dls_recording_save(&r, path, err));
    if (!req->quiet) {
        tell(&r, path);
    }
    return DLS_OK;
}

static dls_status analyze(void *user, dls_call *call, dls_error *err)
{
    const request *req = user;
    DLS_OWN(dls_recording_fini) dls_recording r = {0};
    DLS_TRY(dls_recording_load(call->word[0], &r, err));
    return dls_perf_analyze(&r, &req->analysis, err);
}

/* ---- bench ---------------------------------------------------------------------------------- */

/* The script in place of this program: its option --key=value is the word key=value here. */
static dls_status bench(void *user, dls_call *call, dls_error *err)
{
    static const char script[] = "bench.py";
    char folder[4096], path[4096 + sizeof script], self[4096];
    (void)user;
    dls_data_path("predictor/measure/bench", "bench", folder, sizeof folder);
    snprintf(path, sizeof path, "%s/%s", folder, script);
    const ssize_t n = readlink("/proc/self/exe", self, sizeof self - 1);
    DLS_FREED const char **words = NULL;
    DLS_TRY(dls_alloc_array(&words, call->n_words + 3, sizeof *words, "bench", err));
    size_t n_words = 0;
    words[n_words++] = "python3";
    words[n_words++] = path;
    dls_status status = DLS_OK;
    for (size_t i = 0; i < call->n_words && status == DLS_OK; i++) {
        const size_t size = strlen(call->word[i]) + 3;
        char *word = dls_alloc(size);
        status = word ? DLS_OK : dls_nomem(err, "bench", size);
        if (word) {
            snprintf(word, size, "--%s", call->word[i]);
            words[n_words++] = word;
        }
    }
    if (status == DLS_OK) {
        self[n > 0 ? n : 0] = '\0';
        setenv("DLSIM", self, 1);
        execvp(words[0], (char *const *)(void *)words); /* changes no word */
        status = dls_fail(err, DLS_ERUN, words[0], "cannot be run: %s", strerror(errno));
    }
    for (size_t i = 2; i < n_words; i++) {
        dls_free((void *)(uintptr_t)words[i]);
    }
    return status;
}

/* ---- the command ---------------------------------------------------------------------------- */

static const dls_verb verbs[] = {
    {"record", "-- COMMAND [ARGUMENT]...", "sample GPUs, network and processors while COMMAND runs",
     1, DLS_ANY_NUMBER, NULL, record},
    {"import", "PROFILE", "what a profiler wrote kernel by kernel, as a recording", 1, 1, NULL,
     import},
    {"bench", "network=NAME [KEY=VALUE]...",
     "run a real training job in a setting and record it (docs/perf.md)", 0, DLS_ANY_NUMBER, NULL,
     bench},
    {"analyze", "R.h5", "the job's step; bursts and pauses of each resource", 1, 1, NULL, analyze},
    {.name = NULL}};

static const dls_arg args[] = {
    DLS_TIME(request, analysis.interval_s, "interval", 0, 0.0001, 3600,
             "between readings (record: 10 ms; import: 1 ms; analyze: as recorded)"),
    DLS_HEADING("record, import:"),
    DLS_TEXT(request, output, "output", 'o', "R.h5", "where to write; perf.h5 if left out"),
    DLS_TEXT(request, interfaces, "interface", 0, "NAME[,...]",
             "network interfaces; all but loopback if left out"),
    DLS_TEXT(request, processes, "processes", 0, "NAME:PID[,...]",
             "record: these processes and the network of each one's namespace while COMMAND runs"),
    DLS_SWITCH(request, no_gpu, "no-gpu", 0, "do not look for GPUs"),
    DLS_SWITCH(request, quiet, "quiet", 'q', "no word about what was recorded"),
    DLS_HEADING("analyze:"),
    DLS_INT(request, analysis.gpu, "gpu", 0, 0, 1023, "which GPU; 0 if left out"),
    DLS_TIME(request, analysis.from_s, "from", 0, 0, 1e9, "since the first reading"),
    DLS_TIME(request, analysis.to_s, "to", 0, 0, 1e9,
             "since the first reading; to the end if left out"),
    DLS_TEXT(request, analysis.process, "process", 0, "NAME",
             "which of --processes; the first if left out"),
    DLS_TEXT(request, analysis.plot, "plot", 0, "FILE.svg", "picture of the series"),
    DLS_SWITCH(request, analysis.json, "json", 0, "print JSON"),
    DLS_ARGS_END};

const dls_command dls_command_perf = {
    .name = "perf",
    .group = DLS_LABORATORY,
    .summary = "sample a real job; its bursts and pauses",
    .notes = "record leaves with the exit code of COMMAND, 127 if there is none of that name.",
    .args = args,
    .verbs = verbs,
    .size = sizeof(request),
};
