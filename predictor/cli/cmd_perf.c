/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * dlsim perf: sample a real job, or read a profiler's list of its kernels; its step, bursts and
 * pauses (perf_analyze.c).
 */
#include "base/alloc.h"
#include "base/datapath.h"
#include "cli/script.h"
#include "cli/ui.h"
#include "predictor/cli/perf_analyze.h"
#include "predictor/measure/profiler.h"

#include <signal.h>
#include <string.h>

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

static dls_status save(const request *req, const dls_recording *r, dls_error *err)
{
    DLS_TRY(dls_recording_save(r, req->output, err));
    if (req->quiet) {
        return DLS_OK;
    }
    const double length_s = r->n ? (double)r->time_ns[r->n - 1] * 1e-9 : 0;
    fprintf(stderr, "dlsim perf: %zu readings of %zu columns in %.3f s: %s\n", r->n, r->n_columns,
            length_s, req->output);
    if (r->notes[0]) {
        fprintf(stderr, "dlsim perf: %s\n", r->notes);
    }
    return DLS_OK;
}

static dls_status record(dls_call *call, dls_error *err)
{
    const request *req = call->request;
    const double interval_s = req->analysis.interval_s;
    const dls_record_options options = {.interval_s = interval_s > 0 ? interval_s : 0.01,
                                        .interfaces = req->interfaces,
                                        .processes = req->processes,
                                        .no_gpu = req->no_gpu,
                                        .forward = &forward};
    DLS_OWN(dls_recording_fini) dls_recording r = {0};
    catch_signals(true);
    const dls_status status = dls_record(call->word, &options, &r, err);
    catch_signals(false);
    call->exit_code = r.exit_code;
    if (status != DLS_OK && call->exit_code != 0) { /* its code says why it could not be run */
        (void)dls_ui_fail(err);
        return DLS_OK;
    }
    DLS_TRY(status);
    return save(req, &r, err);
}

/* ---- import and analyze ---------------------------------------------------------------------- */

static dls_status import(dls_call *call, dls_error *err)
{
    const request *req = call->request;
    const double interval_s = req->analysis.interval_s > 0 ? req->analysis.interval_s : 0.001;
    DLS_OWN(dls_recording_fini) dls_recording r = {0};
    DLS_TRY(dls_recording_of_profile(call->word[0], interval_s, &r, err));
    return save(req, &r, err);
}

static dls_status analyze(dls_call *call, dls_error *err)
{
    const request *req = call->request;
    DLS_OWN(dls_recording_fini) dls_recording r = {0};
    DLS_TRY(dls_recording_load(call->word[0], &r, err));
    return dls_perf_analyze(&r, &req->analysis, err);
}

/* ---- bench ---------------------------------------------------------------------------------- */

/* The script in place of this program: its option --key=value is the word key=value here. */
static dls_status bench(dls_call *call, dls_error *err)
{
    char folder[4096], path[4096 + 16];
    size_t room = 1;
    for (size_t i = 0; i < call->n_words; i++) {
        room += strlen(call->word[i]) + 3;
    }
    DLS_OWN(dls_words_fini) dls_words words = {.text = dls_alloc(room)};
    char *at = words.text;
    for (size_t i = 0; i < call->n_words && at; i++) {
        DLS_TRY(dls_words_add(&words, at, NULL, err));
        at += sprintf(at, "--%s", call->word[i]) + 1;
    }
    dls_data_path("predictor/measure/bench", "bench", folder, sizeof folder);
    snprintf(path, sizeof path, "%s/bench.py", folder);
    return at ? dls_script_exec("dlsim perf bench", "python3", path, &words, err)
              : dls_nomem(err, "bench", room);
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
             "between readings (record: 10 ms; import: 1 ms; analyze: as recorded)",
             .of = "record, import, analyze"),
    DLS_OF("record, import"),
    DLS_OUTPUT(request, output, "output", 'o', "R.h5", "where to write"),
    DLS_TEXT(request, interfaces, "interface", 0, "NAME[,...]",
             "network interfaces; all but loopback if left out", .of = "record"),
    DLS_TEXT(request, processes, "processes", 0, "NAME:PID[,...]",
             "these processes and the network of each one's namespace while COMMAND runs",
             .of = "record"),
    DLS_SWITCH(request, no_gpu, "no-gpu", 0, "do not look for GPUs", .of = "record"),
    DLS_SWITCH(request, quiet, "quiet", 'q', "no word about what was recorded"),
    DLS_OF("analyze"),
    DLS_INT(request, analysis.gpu, "gpu", 0, 0, 1023, "which GPU; 0 if left out"),
    DLS_TIME(request, analysis.from_s, "from", 0, 0, 1e9, "since the first reading"),
    DLS_TIME(request, analysis.to_s, "to", 0, 0, 1e9,
             "since the first reading; to the end if left out"),
    DLS_TEXT(request, analysis.process, "process", 0, "NAME",
             "which of --processes; the first if left out"),
    DLS_OUTPUT(request, analysis.plot, "plot", 0, "FILE.svg", "picture of the series"),
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
    .initial = &(const request){.output = "perf.h5"},
};
