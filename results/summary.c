/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Computes the summary of a run in a few passes over the columns; percentiles of all parts come
 * from one radix sort of the jobs by value.
 */
#include "results/summary.h"

#include "base/own.h"
#include "dlsim/memory.h"
#include "results/schema.h"

#include <gsl/gsl_statistics_double.h>

#include <math.h>
#include <string.h>

static const struct {
    int32_t most_gpus;
    const char *name;
} size_classes[DLS_SIZE_CLASSES] = {
    {1, "1"}, {2, "2"}, {4, "3-4"}, {8, "5-8"}, {16, "9-16"}, {32, "17-32"}, {INT32_MAX, ">32"},
};

static const char *const class_names[DLS_JOB_CLASSES] = {"small-short", "small-long", "large-short",
                                                         "large-long"};

enum {
    FIRST_SIZE = 1,
    FIRST_CLASS = FIRST_SIZE + DLS_SIZE_CLASSES,
    FIRST_OUTCOME = FIRST_CLASS + DLS_JOB_CLASSES,
    KINDS = 4
};

/* The parts that a job belongs to, one per kind. */
typedef struct part_of_job {
    uint8_t part[KINDS];
} part_of_job;

static const double unknown = (double)NAN;

typedef struct work {
    const dls_trace_columns *cols;
    const dls_record *rec;
    part_of_job *parts;       /* [n_jobs] */
    dls_keyed *pairs, *spare; /* [n_jobs] values and their jobs, for sorting; one of them is free then */
    uint32_t *counted;        /* [n_counted] jobs that the statistics are over */
    size_t n_counted;
} work;

const char *dls_part_kind_name(dls_part_kind kind)
{
    static const char *const names[KINDS] = {"all", "gpus", "class", "outcome"};
    return names[kind];
}

static void name_parts(dls_summary *s)
{
    for (int p = 0; p < DLS_SUMMARY_PARTS; p++) {
        const char *name = "all";
        s->part[p].kind = DLS_PART_ALL;
        if (p >= FIRST_OUTCOME) {
            s->part[p].kind = DLS_PART_OUTCOME;
            name = dls_outcome_name((unsigned)(p - FIRST_OUTCOME));
        } else if (p >= FIRST_CLASS) {
            s->part[p].kind = DLS_PART_CLASS;
            name = class_names[p - FIRST_CLASS];
        } else if (p >= FIRST_SIZE) {
            s->part[p].kind = DLS_PART_GPUS;
            name = size_classes[p - FIRST_SIZE].name;
        }
        snprintf(s->part[p].name, sizeof s->part[p].name, "%s", name);
    }
}

static part_of_job classify(const work *w, size_t job)
{
    const int32_t gpus = w->cols->gpus[job];
    const int64_t known_us = w->cols->duration_us[job];
    const int64_t run_us = known_us >= 0 ? known_us : w->rec->executed_us[job];
    int size = 0;
    while (gpus > size_classes[size].most_gpus) {
        size++;
    }
    const int class = 2 * (gpus > DLS_SMALL_GPUS) + (run_us >= DLS_SHORT_S * DLS_US_PER_S);
    const uint8_t outcome = w->cols->outcome[job];
    return (part_of_job){{0, (uint8_t)(FIRST_SIZE + size), (uint8_t)(FIRST_CLASS + class),
                          (uint8_t)(FIRST_OUTCOME + outcome)}};
}

/* Counts over the whole run: what a job adds to each of its parts. */
static void count_jobs(const work *w, dls_summary *s)
{
    const dls_record *rec = w->rec;
    const double second = (double)DLS_US_PER_S;
    for (size_t j = 0; j < rec->n_jobs; j++) {
        w->parts[j] = classify(w, j);
        const double gpu_s = (double)w->cols->gpus[j] / second;
        const int64_t deadline_us = dls_trace_i64(w->cols->deadline_us, j);
        const bool finished = rec->state[j] == DLS_JOB_FINISHED, due = deadline_us != DLS_ABSENT;
        const double held_gpu_s = rec->gpu_us ? (double)rec->gpu_us[j] / second
                                              : gpu_s * (double)(rec->executed_us[j] + rec->overhead_us[j]);
        const double useful_gpu_s = rec->gpu_us ? (double)(rec->gpu_us[j] - rec->gpu_restore_us[j]) / second
                                                : gpu_s * (double)rec->executed_us[j];
        for (int k = 0; k < KINDS; k++) {
            dls_summary_part *p = &s->part[w->parts[j].part[k]];
            p->jobs++;
            p->completed += finished;
            p->infeasible += rec->state[j] == DLS_JOB_INFEASIBLE;
            p->unfinished += rec->state[j] < DLS_JOB_FINISHED;
            p->declined += rec->state[j] == DLS_JOB_DECLINED;
            p->deadlines += due;
            p->deadlines_met += due && finished && rec->end_us[j] <= deadline_us;
            p->preemptions += (uint64_t)rec->preempts[j];
            p->resumes += (uint64_t)rec->resumes[j];
            p->promotions += (uint64_t)rec->promotes[j];
            p->held_gpu_s += held_gpu_s;
            p->useful_gpu_s += useful_gpu_s;
        }
    }
}

static dls_stats stats_of(const double *sorted, size_t n)
{
    if (n == 0) {
        return (dls_stats){0, unknown, unknown, unknown, unknown, unknown};
    }
    double sum = 0;
    for (size_t i = 0; i < n; i++) {
        sum += sorted[i];
    }
    const double us = (double)DLS_US_PER_S;
    return (dls_stats){.n = n,
                       .mean_s = sum / (double)n / us,
                       .median_s = gsl_stats_quantile_from_sorted_data(sorted, 1, n, 0.5) / us,
                       .p95_s = gsl_stats_quantile_from_sorted_data(sorted, 1, n, 0.95) / us,
                       .p99_s = gsl_stats_quantile_from_sorted_data(sorted, 1, n, 0.99) / us,
                       .max_s = sorted[n - 1] / us};
}

/* Statistics of column(job) for every part, which have so many jobs. All jobs are sorted once; the parts of a kind then
 * take their jobs in that order, so each part's values come out sorted. */
static dls_status part_stats(work *w, int64_t (*column)(const work *w, size_t job), const char *what,
                             const size_t size[DLS_SUMMARY_PARTS], dls_stats *const target[], dls_error *err)
{
    for (size_t i = 0; i < w->n_counted; i++) {
        const uint32_t job = w->counted[i];
        const int64_t value_us = column(w, job);
        if (value_us < 0) {
            return dls_fail(err, DLS_EINPUT, NULL, "the %s of job %u is negative", what, job);
        }
        w->pairs[i] = (dls_keyed){(uint64_t)value_us, job};
    }
    const dls_keyed *sorted = dls_radix_sort(w->pairs, w->spare, w->n_counted);
    double *values = sorted == w->pairs ? (void *)w->spare : (void *)w->pairs;
    static const int first[KINDS + 1] = {0, FIRST_SIZE, FIRST_CLASS, FIRST_OUTCOME, DLS_SUMMARY_PARTS};
    for (int k = 0; k < KINDS; k++) {
        size_t at[DLS_SUMMARY_PARTS], next = 0;
        for (int p = first[k]; p < first[k + 1]; p++) {
            at[p] = next;
            next += size[p];
        }
        for (size_t i = 0; i < w->n_counted; i++) {
            values[at[w->parts[sorted[i].value].part[k]]++] = (double)sorted[i].key;
        }
        for (int p = first[k]; p < first[k + 1]; p++) {
            if (size[p] > 0) {
                *target[p] = stats_of(values + at[p] - size[p], size[p]);
            }
        }
    }
    return DLS_OK;
}

static int64_t jct_us(const work *w, size_t job)
{
    return w->rec->end_us[job] - w->cols->submit_us[job];
}

static int64_t queue_us(const work *w, size_t job)
{
    return w->rec->pending_us[job];
}

static int64_t first_start_us(const work *w, size_t job)
{
    return w->rec->start_us[job] - w->cols->submit_us[job];
}

static dls_status all_stats(work *w, dls_summary *s, dls_error *err)
{
    dls_stats *jct[DLS_SUMMARY_PARTS], *queue[DLS_SUMMARY_PARTS], *first[DLS_SUMMARY_PARTS];
    double slowdowns[DLS_SUMMARY_PARTS] = {0};
    for (int p = 0; p < DLS_SUMMARY_PARTS; p++) {
        jct[p] = &s->part[p].jct;
        queue[p] = &s->part[p].queue;
        first[p] = &s->part[p].first_start;
        *jct[p] = *queue[p] = *first[p] = stats_of(NULL, 0);
    }
    size_t size[DLS_SUMMARY_PARTS] = {0};
    for (size_t i = 0; i < w->n_counted; i++) {
        for (int k = 0; k < KINDS; k++) {
            size[w->parts[w->counted[i]].part[k]]++;
        }
    }
    DLS_TRY(part_stats(w, jct_us, "completion time", size, jct, err));
    DLS_TRY(part_stats(w, queue_us, "waiting time", size, queue, err));
    DLS_TRY(part_stats(w, first_start_us, "time to the first start", size, first, err));
    uint64_t n[DLS_SUMMARY_PARTS] = {0};
    for (size_t i = 0; i < w->n_counted; i++) {
        const uint32_t job = w->counted[i];
        if (w->cols->duration_us[job] > 0) {
            const double slowdown = (double)jct_us(w, job) / (double)w->cols->duration_us[job];
            for (int k = 0; k < KINDS; k++) {
                slowdowns[w->parts[job].part[k]] += slowdown;
                n[w->parts[job].part[k]]++;
            }
        }
    }
    for (int p = 0; p < DLS_SUMMARY_PARTS; p++) {
        s->part[p].slowdown_mean = n[p] ? slowdowns[p] / (double)n[p] : unknown;
    }
    return DLS_OK;
}

/* Waiting jobs over [from, to), from the piecewise-constant series. */
static void waiting_jobs(const dls_record *rec, int64_t from_us, int64_t to_us, dls_summary *s)
{
    const dls_series_rows *rows = &rec->series;
    double area = 0, above_us = 0;
    s->waiting_peak = rec->peak_pending;
    for (size_t i = 0; i < rows->n; i++) {
        dls_record_pass(rec, i);
        int64_t begin = rows->t_us[i], end = i + 1 < rows->n ? rows->t_us[i + 1] : to_us;
        begin = begin < from_us ? from_us : begin;
        end = end > to_us ? to_us : end;
        const int64_t waiting = rows->pending_jobs[i];
        s->waiting_peak = waiting > s->waiting_peak ? waiting : s->waiting_peak;
        if (end > begin) {
            area += (double)waiting * (double)(end - begin);
            above_us += (uint64_t)waiting * 10 >= rec->n_jobs ? (double)(end - begin) : 0;
        }
    }
    const bool known = rows->n > 0 && to_us > from_us;
    s->waiting_mean = known ? area / (double)(to_us - from_us) : unknown;
    s->tenth_waiting_frac = known ? above_us / (double)(to_us - from_us) : unknown;
}

static void cluster_figures(const work *w, double wall_s, dls_summary *s)
{
    const dls_record *rec = w->rec;
    const size_t n = rec->n_jobs;
    const int64_t first_us = n ? w->cols->submit_us[0] : 0;
    int64_t last_end_us = -1, stop_us = -1;
    for (size_t j = 0; j < n; j++) {
        const bool ended = rec->state[j] == DLS_JOB_DECLINED && rec->start_us[j] >= 0; /* by the scheduler */
        const int64_t left_us = ended ? dls_record_left_us(rec, w->cols->submit_us[j], j) : rec->end_us[j];
        last_end_us = rec->end_us[j] > last_end_us ? rec->end_us[j] : last_end_us;
        stop_us = left_us > stop_us ? left_us : stop_us;
    }
    if (s->part[0].unfinished > 0 && rec->end_us_of_run > stop_us) {
        stop_us = rec->end_us_of_run;
    }
    const double us = (double)DLS_US_PER_S;
    s->first_submit_s = (double)first_us / us;
    s->makespan_s = last_end_us >= 0 ? (double)(last_end_us - first_us) / us : unknown;
    s->span_s = stop_us > first_us ? (double)(stop_us - first_us) / us : 0;
    s->total_gpus = rec->total_gpus;
    const double capacity = (double)rec->total_gpus * s->span_s;
    s->utilisation = capacity > 0 ? s->part[0].held_gpu_s / capacity : 0;
    s->useful_utilisation = capacity > 0 ? s->part[0].useful_gpu_s / capacity : 0;
    waiting_jobs(rec, first_us, stop_us, s);
    s->events = rec->events;
    s->passes = rec->passes;
    s->positions = rec->positions;
    s->flips = rec->flips;
    s->refusals = rec->refusals;
    s->peak_queue = rec->peak_queue;
    s->positions_per_event = rec->events ? (double)rec->positions / (double)rec->events : 0;
    s->wall_s = wall_s;
    s->unprofiled_jobs = rec->facts.unprofiled_jobs;
    s->other_batch_jobs = rec->facts.other_batch_jobs;
    s->policy_fallbacks = rec->policy_fallbacks;
    s->events_per_s = wall_s > 0 ? (double)rec->events / wall_s : 0;
    s->digest = dls_record_digest(rec);
    s->history_digest = dls_record_history_digest(rec);
    s->complete = rec->complete;
}

static void service_figures(const dls_service_sums *from, dls_summary *s)
{
    const double us = (double)DLS_US_PER_S, span_us = (double)from->span_us;
    s->has_services = from->n > 0;
    s->services = (dls_service_summary){
        .services = (uint64_t)from->n,
        .services_preemptions = from->preemptions,
        .services_shrinks = from->shrinks,
        .services_own_gpu_s = (double)from->own_gpus * span_us / us,
        .services_used_gpu_s = (double)from->used_us / us,
        .services_lent_gpu_s = (double)from->lent_us / us,
        .services_kept = span_us > 0 ? (double)from->kept_us / span_us / from->n : unknown,
        .services_least_kept = span_us > 0 ? (double)from->least_kept_us / span_us : unknown};
}

/* The completed jobs that lie within the trimmed trace. */
static void choose_counted(work *w, int64_t warmup_us, int64_t cooldown_us)
{
    const size_t n = w->rec->n_jobs;
    const int64_t from = n ? w->cols->submit_us[0] + warmup_us : 0;
    const int64_t to = n ? w->cols->submit_us[n - 1] - cooldown_us : 0;
    for (size_t j = 0; j < n; j++) {
        const int64_t submit = w->cols->submit_us[j];
        if (w->rec->state[j] == DLS_JOB_FINISHED && submit >= from && submit <= to) {
            w->counted[w->n_counted++] = (uint32_t)j;
        }
    }
}

static void work_fini(work *w)
{
    DLS_FREE_ALL(w->parts, w->pairs, w->spare, w->counted);
}

dls_status dls_summary_make(const dls_trace *trace, const dls_record *rec, int64_t warmup_us,
                            int64_t cooldown_us, double wall_s, dls_summary *out, dls_error *err)
{
    const dls_trace_columns *cols = dls_trace_cols(trace);
    const size_t n = rec->n_jobs;
    if (n != cols->n) {
        return dls_fail(err, DLS_EINPUT, NULL, "the record has %zu jobs and the trace %zu", n,
                        cols->n);
    }
    if (warmup_us < 0 || warmup_us > DLS_TIME_MAX_US || cooldown_us < 0 ||
        cooldown_us > DLS_TIME_MAX_US) {
        return dls_fail(err, DLS_EINPUT, NULL, "warm-up and cool-down lie within 0 and 1000 years");
    }
    memset(out, 0, sizeof *out);
    name_parts(out);
    out->warmup_s = (double)warmup_us / (double)DLS_US_PER_S;
    out->cooldown_s = (double)cooldown_us / (double)DLS_US_PER_S;
    DLS_OWN(work_fini)
    work w = {.cols = cols,
              .rec = rec,
              .parts = dls_alloc(n * sizeof *w.parts),
              .pairs = dls_alloc(n * sizeof *w.pairs),
              .spare = dls_alloc(n * sizeof *w.spare),
              .counted = dls_alloc(n * sizeof *w.counted)};
    if (!w.parts || !w.pairs || !w.spare || !w.counted) {
        return dls_nomem(err, "summary", n * 40);
    }
    count_jobs(&w, out);
    choose_counted(&w, warmup_us, cooldown_us);
    cluster_figures(&w, wall_s, out);
    service_figures(&rec->services, out);
    DLS_TRY(all_stats(&w, out, err));
    out->has_world = rec->want_world;
    dls_world_summarise(trace, rec, &out->world);
    return DLS_OK;
}
