/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Series of each resource of a recording, the step that they repeat together, their phases; as
 * table, JSON and picture.
 */
#include "predictor/cli/perf_analyze.h"

#include "base/alloc.h"
#include "base/atomicfile.h"
#include "base/json.h"
#include "base/own.h"
#include "predictor/measure/cycle.h"
#include "predictor/measure/spread.h"
#include "predictor/measure/steps.h"

#include <stdio.h>
#include <string.h>

#define SEED 1

/* Something to analyse: one column, or the sum of those whose names begin and end so. */
typedef struct resource {
    const char *name, *unit;
    const char *begin, *end; /* begin "gpu": of the GPU that was asked for */
    double scale;            /* of the column's unit */
    int label;               /* of the inspector's four resources; -1: another */
} resource;

static const resource resources[] = {
    {"gpu_mem", "%", "gpu", ".mem_util_percent", 1, DLS_RES_GPU_MEM},
    {"gpu", "%", "gpu", ".util_percent", 1, DLS_RES_GPU},
    {"gpu", "%", "gpu", ".busy_seconds", 100, DLS_RES_GPU},
    {"compute", "%", "gpu", ".compute_seconds", 100, -1},
    {"exchange", "%", "gpu", ".exchange_seconds", 100, -1},
    {"copy", "%", "gpu", ".copy_seconds", 100, -1},
    {"sent", "B/s", "gpu", ".exchange_bytes", 1, -1},
    {"net_rx", "B/s", "net.", ".rx_bytes", 1, DLS_RES_NET_RX},
    {"net_tx", "B/s", "net.", ".tx_bytes", 1, DLS_RES_NET_TX},
    {"cpu", "CPUs", "cpu.", "seconds", 1, -1},
};
#define N_RESOURCES (sizeof resources / sizeof resources[0])

typedef struct analysis {
    const resource *what;
    double *x; /* owned; NULL: not recorded */
    size_t n;
    double capacity, mean;
    double total; /* of counters: from the first reading to the last */
    dls_burst burst;
    dls_burst_spread spread;
} analysis;

/* A job: its resources and the step that they repeat. */
typedef struct job {
    analysis a[N_RESOURCES]; /* the n that were recorded */
    size_t n;
    double interval_s;
    double period_s, correlation, chance; /* period_s 0: they do not repeat */
    dls_steps steps;
    double step_s;    /* mean of the steps that were followed; of none, the period */
    char process[32]; /* "w0.", whose columns are looked at; "" if processes have no names */
    dls_burst label[DLS_RESOURCES];
    int n_labels;      /* of the inspector's resources that were recorded */
    bool on_processor; /* no GPU was: the processor stands in its place, no memory */
} job;

/* Of columns "cpu.NAME.seconds" the name that was asked for, else the first. */
static dls_status choose_process(const dls_recording *r, const char *asked, job *j, dls_error *err)
{
    for (size_t i = 0; i < r->n_columns; i++) {
        char name[24];
        int used = 0;
        if (sscanf(r->columns[i].name, "cpu.%23[^.].seconds%n", name, &used) == 1 && used > 0 &&
            (!asked || strcmp(asked, name) == 0)) {
            snprintf(j->process, sizeof j->process, "%s.", name);
            return DLS_OK;
        }
    }
    return asked ? dls_fail(err, DLS_EINPUT, r->command, "no process \"%s\" was recorded", asked)
                 : DLS_OK;
}

/* Readings from the first one at or behind from_s to the first one at or behind to_s: both late, so
 * that what ends at the one counts before it and what ends at the other counts, too. Borrows those
 * of r. */
static dls_status part_of(const dls_recording *r, double from_s, double to_s, dls_recording *part,
                          dls_error *err)
{
    size_t first = 0;
    size_t end = r->n;
    while (first < end && (double)r->time_ns[first] < from_s * 1e9) {
        first++;
    }
    while (to_s > 0 && end > first + 1 && (double)r->time_ns[end - 2] >= to_s * 1e9) {
        end--;
    }
    if (end < first + 2) {
        return dls_fail(err, DLS_EINPUT, r->command, "no two readings from %g s on", from_s);
    }
    *part = *r;
    part->n = end - first;
    part->time_ns += first;
    part->value += first * r->n_columns;
    return DLS_OK;
}

static bool belongs(const dls_recording *r, size_t column, const resource *what,
                    const char *process, int64_t gpu)
{
    const char *name = r->columns[column].name;
    const size_t n = strlen(name), n_end = strlen(what->end);
    char begin[32];
    snprintf(begin, sizeof begin, "%s", what->begin);
    if (strcmp(what->begin, "gpu") == 0) {
        snprintf(begin, sizeof begin, "gpu%lld.", (long long)gpu);
    } else {
        snprintf(begin, sizeof begin, "%s%s", what->begin, process);
    }
    return strncmp(name, begin, strlen(begin)) == 0 && n >= n_end &&
           strcmp(name + n - n_end, what->end) == 0;
}

/* Columns that belong together are added up: the interfaces of the network. */
static dls_status gather(const dls_recording *r, int64_t gpu, const job *j, analysis *a,
                         dls_error *err)
{
    for (size_t i = 0; i < r->n_columns; i++) {
        double *x;
        size_t n;
        if (!belongs(r, i, a->what, j->process, gpu)) {
            continue;
        }
        DLS_TRY(dls_recording_series(r, i, j->interval_s, &x, &n, err));
        for (size_t k = 0; k < n; k++) {
            x[k] = a->what->scale * x[k] + (a->x ? a->x[k] : 0);
        }
        a->total += a->what->scale * (r->value[(r->n - 1) * r->n_columns + i] - r->value[i]);
        dls_free(a->x);
        a->x = x;
        a->n = n;
        a->capacity += a->what->scale * r->columns[i].capacity;
    }
    return DLS_OK;
}

static dls_status phases(analysis *a, double interval_s, dls_error *err)
{
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

static dls_status find_step(job *j, dls_error *err)
{
    const double *x[N_RESOURCES];
    const size_t n = j->a[0].n;
    dls_cycle cycle;
    for (size_t i = 0; i < j->n; i++) {
        x[i] = j->a[i].x;
    }
    DLS_TRY(dls_cycle_find(x, j->n, n, &cycle, err));
    DLS_TRY(dls_steps_follow(x, j->n, n, cycle.period_samples, &j->steps, err));
    j->period_s = cycle.period_samples * j->interval_s;
    j->step_s = j->steps.n > 0 ? j->steps.mean_samples * j->interval_s : j->period_s;
    j->correlation = cycle.correlation;
    return dls_cycle_chance(x, j->n, n, SEED, &j->chance, err);
}

static dls_status study(const dls_recording *r, int64_t gpu, job *j, dls_error *err)
{
    bool on_gpu = false;
    for (size_t i = 0; i < N_RESOURCES; i++) {
        analysis *a = &j->a[j->n];
        a->what = &resources[i];
        DLS_TRY(gather(r, gpu, j, a, err));
        if (!a->x) {
            continue;
        }
        DLS_TRY(phases(a, j->interval_s, err));
        on_gpu = on_gpu || a->what->label == DLS_RES_GPU;
        if (a->what->label >= 0) {
            j->label[a->what->label] = a->burst;
            j->n_labels++;
        } else if (i == N_RESOURCES - 1 && !on_gpu) { /* the processor in its place */
            j->label[DLS_RES_GPU] = a->burst;
            j->label[DLS_RES_GPU].idle_amount *= 100;
            j->label[DLS_RES_GPU].burst_amount *= 100;
            j->label[DLS_RES_GPU_MEM] = (dls_burst){.pattern = DLS_PATTERN_I};
            j->n_labels += 2;
            j->on_processor = true;
        }
        j->n++;
    }
    DLS_TRY(find_step(j, err));
    for (size_t i = 0; i < j->n; i++) {
        analysis *a = &j->a[i];
        DLS_TRY(dls_burst_spread_find(a->x, a->n, j->interval_s, &a->burst, j->step_s, SEED,
                                      &a->spread, err));
    }
    return DLS_OK;
}

/* ---- series as a line of text, or an SVG file with a panel for each -------------------------- */

#define WIDTH 900 /* of a panel */
#define HEIGHT 110
#define GAP 50
#define LEFT 90

static double greatest(const analysis *s, size_t begin, size_t end)
{
    double max = 0;
    for (size_t i = begin; i < end; i++) {
        max = s->x[i] > max ? s->x[i] : max;
    }
    return max;
}

/* Part i of parts, at least one value. */
static double part_at(const analysis *s, size_t i, size_t parts)
{
    const size_t begin = i * s->n / parts;
    const size_t end = (i + 1) * s->n / parts;
    return greatest(s, begin, end > begin ? end : begin + 1);
}

/* The greatest value of each of 90 parts in eight steps between 0 and the greatest of all. */
static void plot_line(const analysis *s)
{
    static const char *const steps[] = {" ", "▁", "▂", "▃", "▄", "▅", "▆", "▇", "█"};
    const double top = greatest(s, 0, s->n);
    const size_t parts = s->n < 90 ? s->n : 90;
    for (size_t i = 0; i < parts; i++) {
        const double height = top > 0 ? part_at(s, i, parts) / top : 0;
        fputs(steps[height > 0 ? (int)(height * 7.999) + 1 : 0], stdout);
    }
    putchar('\n');
}

static void put_escaped(FILE *to, const char *s)
{
    for (; *s; s++) {
        const unsigned char c = (unsigned char)*s;
        if (c == '<' || c == '>' || c == '&') {
            fprintf(to, "&#%d;", c);
        } else if (c >= ' ') {
            fputc(c, to);
        }
    }
}

static void panel(FILE *to, const analysis *s, double interval_s, int top)
{
    const double max = greatest(s, 0, s->n);
    const size_t parts = s->n < WIDTH ? s->n : WIDTH;
    const double scale = max > 0 ? HEIGHT / max : 0;
    fprintf(to, "<text x=\"%d\" y=\"%d\" font-weight=\"bold\">", LEFT, top - 6);
    put_escaped(to, s->what->name);
    fprintf(to, "</text>\n<text x=\"%d\" y=\"%d\" text-anchor=\"end\">%.4g %s</text>\n", LEFT - 6,
            top + 10, max, s->what->unit);
    fprintf(to,
            "<text x=\"%d\" y=\"%d\" text-anchor=\"end\">0</text>\n"
            "<text x=\"%d\" y=\"%d\" text-anchor=\"end\">%.4g s</text>\n"
            "<rect x=\"%d\" y=\"%d\" width=\"%d\" height=\"%d\" fill=\"#f6f6f6\"/>\n"
            "<polyline fill=\"none\" stroke=\"#1f5fa8\" points=\"",
            LEFT - 6, top + HEIGHT, LEFT + WIDTH, top + HEIGHT + 14, (double)s->n * interval_s,
            LEFT, top, WIDTH, HEIGHT);
    for (size_t i = 0; i < parts; i++) { /* steps: a value holds for its interval */
        const double y = top + HEIGHT - scale * part_at(s, i, parts);
        const double x = LEFT + (double)i * WIDTH / (double)parts;
        fprintf(to, "%.1f,%.1f %.1f,%.1f ", x, y, x + WIDTH / (double)parts, y);
    }
    fputs("\"/>\n", to);
    if (s->burst.pattern == DLS_PATTERN_BIB && s->burst.threshold >= 0 && max > 0) {
        const double y = top + HEIGHT - scale * s->burst.threshold;
        fprintf(to,
                "<line x1=\"%d\" x2=\"%d\" y1=\"%.1f\" y2=\"%.1f\" stroke=\"#c0392b\" "
                "stroke-dasharray=\"4 3\"/>\n",
                LEFT, LEFT + WIDTH, y, y);
    }
}

typedef struct picture {
    const char *title;
    const job *j;
} picture;

static dls_status put_svg(FILE *to, void *what, dls_error *err)
{
    const picture *p = what;
    fprintf(to,
            "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"%d\" height=\"%d\" "
            "font-family=\"sans-serif\" font-size=\"11\">\n"
            "<rect width=\"100%%\" height=\"100%%\" fill=\"white\"/>\n<text x=\"%d\" y=\"18\">",
            LEFT + WIDTH + 20, 30 + (int)p->j->n * (HEIGHT + GAP), LEFT);
    put_escaped(to, p->title);
    fputs("</text>\n", to);
    for (size_t i = 0; i < p->j->n; i++) {
        panel(to, &p->j->a[i], p->j->interval_s, GAP + (int)i * (HEIGHT + GAP));
    }
    fputs("</svg>\n", to);
    return DLS_OK;
}

/* ---- print ----------------------------------------------------------------------------------- */

static void print_head(const dls_recording *r, const job *j)
{
    printf("command   %s\nexit code %d\nreadings  %zu in %.3f s, every %.6g s\n", r->command,
           (int)r->exit_code, r->n, (double)(r->time_ns[r->n - 1] - r->time_ns[0]) * 1e-9,
           j->interval_s);
    if (r->notes[0]) {
        printf("notes     %s\n", r->notes);
    }
    if (j->step_s > 0) {
        printf("step      %.6g s: all resources repeat it, correlation %.2f; by chance: %s %.2f\n",
               j->step_s, j->correlation, j->chance > 0.01 ? "p =" : "p <=", j->chance);
        if (j->steps.n > 0) {
            printf("          mean of %zu steps, 10 to 90 %% of them %.6g to %.6g s\n", j->steps.n,
                   j->steps.low_samples * j->interval_s, j->steps.high_samples * j->interval_s);
        }
    } else {
        printf("step      none: the series do not repeat\n");
    }
}

static void print_text(const dls_recording *r, const job *j)
{
    print_head(r, j);
    printf("\n%-8s %-7s %10s %10s %12s %12s %6s %6s %9s %10s %10s %7s\n", "resource", "pattern",
           "idle s", "burst s", "idle", "burst", "idles", "bursts", "per step", "cycle s",
           "period s", "classes");
    for (size_t i = 0; i < j->n; i++) {
        const dls_burst *b = &j->a[i].burst;
        printf("%-8s %-7s %10.5g %10.5g %12.5g %12.5g %6zu %6zu %9.3g %10.5g %10.5g %6.0f%%%s\n",
               j->a[i].what->name, dls_pattern_name(b->pattern), b->idle_s, b->burst_s,
               b->idle_amount, b->burst_amount, b->n_idle, b->n_burst,
               dls_burst_per_step(b, j->step_s), b->cycle_s, b->period_s, 100 * b->explained,
               b->cut ? "  cut off" : "");
    }
    printf("\n%-8s %27s %27s %27s  (95 %%, whole steps resampled)\n", "resource", "idle s",
           "burst s", "burst");
    for (size_t i = 0; i < j->n; i++) {
        const dls_burst_spread *s = &j->a[i].spread;
        if (s->n_steps > 2) {
            printf("%-8s %12.5g .. %11.5g %12.5g .. %11.5g %12.5g .. %11.5g\n", j->a[i].what->name,
                   s->idle_s.low, s->idle_s.high, s->burst_s.low, s->burst_s.high,
                   s->burst_amount.low, s->burst_amount.high);
        }
    }
    putchar('\n');
    for (size_t i = 0; i < j->n; i++) {
        printf("%-8s ", j->a[i].what->name);
        plot_line(&j->a[i]);
    }
}

static void range_json(json_object *to, const char *name, dls_range range)
{
    DLS_JSON(dls_json_object(to, name), "low", range.low, "high", range.high);
}

static void resource_json(json_object *list, const analysis *a, double step_s)
{
    const dls_burst *b = &a->burst;
    json_object *obj = dls_json_next(list);
    DLS_JSON(obj, "resource", a->what->name, "total", a->total, "unit", a->what->unit, "pattern",
             dls_pattern_name(b->pattern), "mean", a->mean, "idle_s", b->idle_s, "burst_s",
             b->burst_s, "idle_amount", b->idle_amount, "burst_amount", b->burst_amount, "n_idle",
             b->n_idle);
    DLS_JSON(obj, "n_burst", b->n_burst, "cut", b->cut, "threshold", b->threshold, "explained",
             b->explained, "bursts_per_step", dls_burst_per_step(b, step_s), "cycle_s", b->cycle_s,
             "period_s", b->period_s, "correlation", b->correlation, "cycle_agrees",
             b->cycle_agrees);
    json_object *ranges = dls_json_object(obj, "interval_95");
    range_json(ranges, "idle_s", a->spread.idle_s);
    range_json(ranges, "burst_s", a->spread.burst_s);
    range_json(ranges, "burst_amount", a->spread.burst_amount);
}

static dls_status print_json(const dls_recording *r, const job *j, dls_error *err)
{
    json_object *top = json_object_new_object();
    DLS_JSON(top, "command", r->command, "exit_code", r->exit_code, "readings", r->n, "interval_s",
             j->interval_s, "notes", r->notes, "began_ns", r->began_ns, "seconds",
             (double)(r->time_ns[r->n - 1] - r->time_ns[0]) * 1e-9);
    DLS_JSON(dls_json_object(top, "step"), "seconds", j->step_s, "period", j->period_s,
             "correlation", j->correlation, "chance", j->chance, "followed", j->steps.n, "low",
             j->steps.low_samples * j->interval_s, "high", j->steps.high_samples * j->interval_s);
    json_object *list = dls_json_list(top, "resources");
    for (size_t i = 0; i < j->n; i++) {
        resource_json(list, &j->a[i], j->step_s);
    }
    if (j->n_labels == DLS_RESOURCES) { /* the 12 metrics want all four resources */
        const dls_profile profile = dls_burst_profile(j->label, j->step_s);
        json_object *obj = dls_json_object(top, "profile");
        dls_json_bool(obj, "on_processor", j->on_processor);
        for (int k = 0; k < DLS_METRICS; k++) {
            dls_json_real(obj, dls_metric_name(k), profile.metric[k]);
        }
        dls_json_real(obj, "iteration_s", profile.iteration_s);
    }
    return dls_json_print(stdout, top, err);
}

static void job_fini(job *j)
{
    for (size_t i = 0; i < N_RESOURCES; i++) {
        dls_free(j->a[i].x);
    }
}

dls_status dls_perf_analyze(const dls_recording *r, const dls_perf_request *request, dls_error *err)
{
    DLS_OWN(job_fini)
    job j = {.interval_s = request->interval_s > 0 ? request->interval_s : r->interval_s};
    dls_recording part;
    DLS_TRY(choose_process(r, request->process, &j, err));
    DLS_TRY(part_of(r, request->from_s, request->to_s, &part, err));
    DLS_TRY(study(&part, request->gpu, &j, err));
    if (request->json) {
        DLS_TRY(print_json(&part, &j, err));
    } else {
        print_text(&part, &j);
    }
    return request->plot
               ? dls_atomicfile_write(request->plot, put_svg, &(picture){part.command, &j}, err)
               : DLS_OK;
}
