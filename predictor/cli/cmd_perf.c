/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * dlsim perf: sample a real job; its bursts and pauses.
 */
#include "base/alloc.h"
#include "base/units.h"
#include "cli/command.h"
#include "predictor/cli/perf_plot.h"
#include "cli/ui.h"
#include "predictor/measure/burst.h"
#include "predictor/measure/recording.h"

#include <signal.h>
#include <string.h>

static const char help[] =
    "Usage: dlsim perf record [OPTION]... -- COMMAND [ARGUMENT]...\n"
    "                              sample GPUs, network and processors while COMMAND runs\n"
    "       dlsim perf analyze R.h5 [OPTION]...\n"
    "                              bursts and pauses of each resource\n"
    "\n"
    "record leaves with the exit code of COMMAND, 127 if there is none of that name.\n"
    "\n"
    "  -o, --output=R.h5           where to write (record; default perf.h5)\n"
    "      --interval=TIME         between readings (record: 10 ms; analyze: as recorded)\n"
    "      --interface=NAME[,...]  network interfaces (record; default: all but loopback)\n"
    "      --no-gpu                do not look for GPUs (record)\n"
    "      --gpu=N                 which GPU (analyze; 0)\n"
    "      --plot=FILE.svg         picture of the series (analyze)\n"
    "      --json                  print JSON (analyze)\n"
    "  -q, --quiet                 no word about what was recorded (record)\n"
    "  -h, --help                  show this and leave\n";

typedef struct request {
    const char *output, *interfaces, *plot;
    double interval_s; /* 0: default */
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

static int record(char **argv, const request *req)
{
    const dls_record_options options = {.interval_s = req->interval_s > 0 ? req->interval_s : 0.01,
                                        .interfaces = req->interfaces,
                                        .no_gpu = req->no_gpu,
                                        .forward = &forward};
    const char *path = req->output ? req->output : "perf.h5";
    dls_recording r;
    dls_error err = {0};
    catch_signals(true);
    dls_status status = dls_record(argv, &options, &r, &err);
    catch_signals(false);
    int code = r.exit_code;
    if (status == DLS_OK) {
        status = dls_recording_save(&r, path, &err);
        code = status == DLS_OK ? code : 0;
    }
    if (status == DLS_OK && !req->quiet) {
        tell(&r, path);
    }
    dls_recording_fini(&r);
    if (status != DLS_OK) {
        const int failed = dls_ui_fail(&err);
        return code != 0 ? code : failed;
    }
    return code;
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

static void print_json(const dls_recording *r, const analysis *a, double interval_s,
                       const dls_profile *profile)
{
    fputs("{\"command\": ", stdout);
    dls_ui_json_string(stdout, r->command);
    printf(", \"exit_code\": %d, \"readings\": %zu, \"interval_s\": %.9g, \"notes\": ",
           (int)r->exit_code, r->n, interval_s);
    dls_ui_json_string(stdout, r->notes);
    fputs(",\n \"resources\": [", stdout);
    bool first = true;
    for (size_t i = 0; i < N_RESOURCES; i++) {
        const dls_burst *b = &a[i].burst;
        if (!a[i].present) {
            continue;
        }
        printf(
            "%s\n  {\"resource\": \"%s\", \"unit\": \"%s\", \"pattern\": \"%s\", \"mean\": %.9g, "
            "\"idle_s\": %.9g, \"burst_s\": %.9g, \"idle_amount\": %.9g, \"burst_amount\": %.9g, "
            "\"n_idle\": %zu, \"n_burst\": %zu, \"cut\": %s, \"threshold\": %.9g, "
            "\"cycle_s\": %.9g, \"period_s\": %.9g, \"correlation\": %.9g, "
            "\"cycle_agrees\": %s}",
            first ? "" : ",", resources[i].name, resources[i].unit, dls_pattern_name(b->pattern),
            a[i].mean, b->idle_s, b->burst_s, b->idle_amount, b->burst_amount, b->n_idle,
            b->n_burst, b->cut ? "true" : "false", b->threshold, b->cycle_s, b->period_s,
            b->correlation, b->cycle_agrees ? "true" : "false");
        first = false;
    }
    fputs("\n ]", stdout);
    if (profile) {
        fputs(",\n \"profile\": {", stdout);
        for (int k = 0; k < DLS_METRICS; k++) {
            printf("\"%s\": %.9g, ", dls_metric_name(k), profile->metric[k]);
        }
        printf("\"iteration_s\": %.9g}", profile->iteration_s);
    }
    puts("}");
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
        print_json(r, a, interval_s, whole ? &profile : NULL);
    } else {
        print_text(r, a, interval_s);
    }
    return req->plot ? plot(r, a, interval_s, req->plot, err) : DLS_OK;
}

static dls_status analyze(const char *path, const request *req, dls_error *err)
{
    dls_recording r;
    analysis a[N_RESOURCES] = {{0}};
    DLS_TRY(dls_recording_load(path, &r, err));
    const dls_status status = report(&r, req, a, err);
    for (size_t i = 0; i < N_RESOURCES; i++) {
        dls_free(a[i].x);
    }
    dls_recording_fini(&r);
    return status;
}

/* ---- options -----------------------------------------------------------------------------------
 */

enum { OPT_INTERVAL = 256, OPT_INTERFACE, OPT_NO_GPU, OPT_GPU, OPT_PLOT, OPT_JSON };

/* false: reported. */
static bool take(int opt, request *req)
{
    dls_error err;
    switch (opt) {
    case OPT_INTERVAL:
        if (dls_units_parse(optarg, DLS_QUANTITY_TIME, &req->interval_s, &err) != DLS_OK ||
            !(req->interval_s >= 0.001 && req->interval_s <= 3600)) {
            dls_ui_usage("perf", "--interval: a time between 1 ms and 1 h, not '%s'", optarg);
            return false;
        }
        return true;
    case OPT_GPU:
        return dls_ui_i64("perf", "--gpu", optarg, 0, 1023, &req->gpu);
    case OPT_INTERFACE:
        req->interfaces = optarg;
        return true;
    case OPT_NO_GPU:
        req->no_gpu = true;
        return true;
    case OPT_PLOT:
        req->plot = optarg;
        return true;
    case OPT_JSON:
        req->json = true;
        return true;
    case 'o':
        req->output = optarg;
        return true;
    case 'q':
        req->quiet = true;
        return true;
    default:
        return false;
    }
}

static int legacy(int argc, char **argv)
{
    static const struct option longs[] = {{"output", required_argument, NULL, 'o'},
                                          {"interval", required_argument, NULL, OPT_INTERVAL},
                                          {"interface", required_argument, NULL, OPT_INTERFACE},
                                          {"no-gpu", no_argument, NULL, OPT_NO_GPU},
                                          {"gpu", required_argument, NULL, OPT_GPU},
                                          {"plot", required_argument, NULL, OPT_PLOT},
                                          {"json", no_argument, NULL, OPT_JSON},
                                          {"quiet", no_argument, NULL, 'q'},
                                          {"help", no_argument, NULL, 'h'},
                                          {NULL, 0, NULL, 0}};
    request req = {0};
    /* Up to "--": what is behind it belongs to the command. */
    for (int opt; (opt = dls_ui_getopt(argc, argv, "ho:q", longs, "perf")) != -1;) {
        if (opt == 'h') {
            fputs(help, stdout);
            return 0;
        }
        if (!take(opt, &req)) {
            return dls_status_exit_code(DLS_EUSAGE);
        }
    }
    const int n = argc - optind - 1; /* words after the verb */
    const char *verb = n >= 0 ? argv[optind] : "";
    if (strcmp(verb, "record") == 0 && n >= 1) {
        return record(argv + optind + 1, &req);
    }
    if (strcmp(verb, "analyze") == 0 && n == 1) {
        dls_error err;
        const dls_status status = analyze(argv[optind + 1], &req, &err);
        return status == DLS_OK ? 0 : dls_ui_fail(&err);
    }
    return dls_ui_usage("perf", "expected 'record -- COMMAND' or 'analyze R.h5'");
}

const dls_command dls_command_perf = {
    .name = "perf", .group = DLS_LABORATORY, .summary = "sample a real job; its bursts and pauses", .legacy = legacy};
