/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * dlsim perf: sample a real job; its bursts and pauses.
 */
#include "base/alloc.h"
#include "base/json.h"
#include "cli/command.h"
#include "cli/ui.h"
#include "predictor/cli/perf_plot.h"
#include "predictor/measure/burst.h"
#include "predictor/measure/recording.h"

#include <signal.h>
#include <string.h>

typedef struct request {
    const char *output, *interfaces, *plot;
    double interval_s; /* 0: the usual */
    int64_t gpu;
    bool no_gpu, json, quiet;
} request;

/* ---- record ------------------------------------------------------------------------------------
 */

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
    const dls_record_options options = {.interval_s = req->interval_s > 0 ? req->interval_s : 0.01,
                                        .interfaces = req->interfaces,
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

/* ---- analyze -----------------------------------------------------------------------------------
 */

/* Something to analyse: one column, or the sum of those whose names begin and end so. */
typedef struct resource {
    const char *name, *unit;
    const char *begin, *end;
    int label; /* of the inspector's four resources; -1: another */
} resource;

static const resource resources[] = {
    {"gpu_mem", "%", "gpu", ".mem_util_percent", DLS_RES_GPU_MEM},
    {"gpu", "%", "gpu", ".util_percent", DLS_RES_GPU},
    {"net_rx", "B/s", "net.", ".rx_bytes", DLS_RES_NET_RX},
    {"net_tx", "B/s", "net.", ".tx_bytes", DLS_RES_NET_TX},
    {"cpu", "CPUs", "cpu.seconds", "", -1},
};
#define N_RESOURCES (sizeof resources / sizeof resources[0])

typedef struct analysis {
    bool present;
    double *x;
    size_t n;
    double capacity, mean;
    dls_burst burst;
} analysis;

static bool belongs(const dls_recording *r, size_t column, const resource *what, int64_t gpu)
{
    const char *name = r->columns[column].name;
    const size_t n = strlen(name);
    const size_t n_end = strlen(what->end);
    char begin[32];
    snprintf(begin, sizeof begin, "%s", what->begin);
    if (what->unit[0] == '%') {
        snprintf(begin, sizeof begin, "gpu%lld.", (long long)gpu);
    }
    return strncmp(name, begin, strlen(begin)) == 0 && n >= n_end &&
           strcmp(name + n - n_end, what->end) == 0;
}

/* Columns that belong together are added up: the interfaces of the network. */
static dls_status gather(const dls_recording *r, const resource *what, int64_t gpu,
                         double interval_s, analysis *a, dls_error *err)
{
    for (size_t i = 0; i < r->n_columns; i++) {
        double *x;
        size_t n;
        if (!belongs(r, i, what, gpu)) {
            continue;
        }
        DLS_TRY(dls_recording_series(r, i, interval_s, &x, &n, err));
        for (size_t k = 0; k < n && a->x; k++) {
            a->x[k] += x[k];
        }
        if (a->x) {
            dls_free(x);
        } else {
            a->x = x;
            a->n = n;
        }
        a->capacity += r->columns[i].capacity;
        a->present = true;
    }
    return DLS_OK;
}

static dls_status analyze_one(const dls_recording *r, const resource *what, int64_t gpu,
                              double interval_s, analysis *a, dls_error *err)
{
    DLS_TRY(gather(r, what, gpu, interval_s, a, err));
    if (!a->present) {
        return DLS_OK;
    }
    double max = 0;
    for (size_t i = 0; i < a->n; i++) {
        max = a->x[i] > max ? a->x[i] : max;
        a->mean += a->x[i] / (double)a->n;
    }
    /* Without a known capacity the greatest value is full use. */
    const dls_burst_options options = {.interval_s = interval_s,
                                       .capacity = a->capacity > 0 ? a->capacity
                                                   : max > 0       ? max
                                                                   : 1};
    return dls_burst_analyze(a->x, a->n, &options, &a->burst, err);
}

static void print_text(const dls_recording *r, const analysis *a, double interval_s)
{
    printf("command   %s\nexit code %d\nreadings  %zu in %.3f s, every %.6g s\n", r->command,
           (int)r->exit_code, r->n, r->n ? (double)r->time_ns[r->n - 1] * 1e-9 : 0, interval_s);
    if (r->notes[0]) {
        printf("notes     %s\n", r->notes);
    }
    printf("\n%-8s %-7s %10s %10s %12s %12s %6s %6s %10s %10s\n", "resource", "pattern", "idle s",
           "burst s", "idle", "burst", "idles", "bursts", "cycle s", "period s");
    for (size_t i = 0; i < N_RESOURCES; i++) {
        const dls_burst *b = &a[i].burst;
        if (a[i].present) {
            printf("%-8s %-7s %10.5g %10.5g %12.5g %12.5g %6zu %6zu %10.5g %10.5g%s\n",
                   resources[i].name, dls_pattern_name(b->pattern), b->idle_s, b->burst_s,
                   b->idle_amount, b->burst_amount, b->n_idle, b->n_burst, b->cycle_s, b->period_s,
                   b->cut ? "  cut off" : "");
        }
    }
    putchar('\n');
    for (size_t i = 0; i < N_RESOURCES; i++) {
        if (a[i].present) {
            const dls_plot_series s = {.x = a[i].x, .n = a[i].n};
            printf("%-8s ", resources[i].name);
            dls_plot_line(stdout, &s, 90);
        }
    }
}

static void resource_json(json_object *list, const resource *what, const analysis *a)
{
    const dls_burst *b = &a->burst;
    json_object *obj = dls_json_next(list);
    dls_json_text(obj, "resource", what->name);
    dls_json_text(obj, "unit", what->unit);
    dls_json_text(obj, "pattern", dls_pattern_name(b->pattern));
    dls_json_real(obj, "mean", a->mean);
    dls_json_real(obj, "idle_s", b->idle_s);
    dls_json_real(obj, "burst_s", b->burst_s);
    dls_json_real(obj, "idle_amount", b->idle_amount);
    dls_json_real(obj, "burst_amount", b->burst_amount);
    dls_json_int(obj, "n_idle", (int64_t)b->n_idle);
    dls_json_int(obj, "n_burst", (int64_t)b->n_burst);
    dls_json_bool(obj, "cut", b->cut);
    dls_json_real(obj, "threshold", b->threshold);
    dls_json_real(obj, "cycle_s", b->cycle_s);
    dls_json_real(obj, "period_s", b->period_s);
    dls_json_real(obj, "correlation", b->correlation);
    dls_json_bool(obj, "cycle_agrees", b->cycle_agrees);
}

/* profile: NULL if a resource of the inspector's is missing. */
static dls_status print_json(const dls_recording *r, const analysis *a, double interval_s,
                             const dls_profile *profile, dls_error *err)
{
    json_object *top = json_object_new_object();
    dls_json_text(top, "command", r->command);
    dls_json_int(top, "exit_code", r->exit_code);
    dls_json_int(top, "readings", (int64_t)r->n);
    dls_json_real(top, "interval_s", interval_s);
    dls_json_text(top, "notes", r->notes);
    json_object *list = dls_json_list(top, "resources");
    for (size_t i = 0; i < N_RESOURCES; i++) {
        if (a[i].present) {
            resource_json(list, &resources[i], &a[i]);
        }
    }
    if (profile) {
        json_object *obj = dls_json_object(top, "profile");
        for (int k = 0; k < DLS_METRICS; k++) {
            dls_json_real(obj, dls_metric_name(k), profile->metric[k]);
        }
        dls_json_real(obj, "iteration_s", profile->iteration_s);
    }
    return dls_json_print(stdout, top, err);
}

static dls_status plot(const dls_recording *r, const analysis *a, double interval_s,
                       const char *path, dls_error *err)
{
    dls_plot_series series[N_RESOURCES];
    size_t n = 0;
    for (size_t i = 0; i < N_RESOURCES; i++) {
        if (a[i].present) {
            series[n++] = (dls_plot_series){
                .name = resources[i].name,
                .unit = resources[i].unit,
                .x = a[i].x,
                .n = a[i].n,
                .interval_s = interval_s,
                .threshold = a[i].burst.pattern == DLS_PATTERN_BIB ? a[i].burst.threshold : -1};
        }
    }
    return dls_plot_svg(path, r->command, series, n, err);
}

static dls_status report(const dls_recording *r, const request *req, analysis *a, dls_error *err)
{
    const double interval_s = req->interval_s > 0 ? req->interval_s : r->interval_s;
    dls_burst burst[DLS_RESOURCES];
    int n_labels = 0;
    for (size_t i = 0; i < N_RESOURCES; i++) {
        DLS_TRY(analyze_one(r, &resources[i], req->gpu, interval_s, &a[i], err));
        if (a[i].present && resources[i].label >= 0) {
            burst[resources[i].label] = a[i].burst;
            n_labels++;
        }
    }
    if (req->json) { /* the 12 metrics want all four resources */
        dls_profile profile = {0};
        const bool whole = n_labels == DLS_RESOURCES;
        if (whole) {
            profile = dls_burst_profile(burst);
        }
        DLS_TRY(print_json(r, a, interval_s, whole ? &profile : NULL, err));
    } else {
        print_text(r, a, interval_s);
    }
    return req->plot ? plot(r, a, interval_s, req->plot, err) : DLS_OK;
}

static dls_status analyze(void *user, dls_call *call, dls_error *err)
{
    dls_recording r;
    analysis a[N_RESOURCES] = {{0}};
    DLS_TRY(dls_recording_load(call->word[0], &r, err));
    const dls_status status = report(&r, user, a, err);
    for (size_t i = 0; i < N_RESOURCES; i++) {
        dls_free(a[i].x);
    }
    dls_recording_fini(&r);
    return status;
}

/* ---- the command -------------------------------------------------------------------------------
 */

static const dls_verb verbs[] = {
    {"record", "-- COMMAND [ARGUMENT]...", "sample GPUs, network and processors while COMMAND runs",
     1, DLS_ANY_NUMBER, NULL, record},
    {"analyze", "R.h5", "bursts and pauses of each resource", 1, 1, NULL, analyze},
    {.name = NULL}};

static const dls_arg args[] = {
    DLS_TIME(request, interval_s, "interval", 0, 0.001, 3600,
             "between readings (record: 10 ms; analyze: as recorded)"),
    DLS_HEADING("record:"),
    DLS_TEXT(request, output, "output", 'o', "R.h5", "where to write; perf.h5 if left out"),
    DLS_TEXT(request, interfaces, "interface", 0, "NAME[,...]",
             "network interfaces; all but loopback if left out"),
    DLS_SWITCH(request, no_gpu, "no-gpu", 0, "do not look for GPUs"),
    DLS_SWITCH(request, quiet, "quiet", 'q', "no word about what was recorded"),
    DLS_HEADING("analyze:"),
    DLS_INT(request, gpu, "gpu", 0, 0, 1023, "which GPU; 0 if left out"),
    DLS_TEXT(request, plot, "plot", 0, "FILE.svg", "picture of the series"),
    DLS_SWITCH(request, json, "json", 0, "print JSON"),
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
