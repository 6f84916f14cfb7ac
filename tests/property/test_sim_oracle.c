/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * The engine against a naive simulator that walks every job at every event, on thousands of small
 * random traces full of ties: every job's start, end, waiting time and preemptions must be equal.
 * Every run is audited after every event.
 */
#include "support/sim_case.h"
#include "support/test.h"

#include "base/rng.h"

#define MAX_JOBS 40

enum rule { FIFO, FJF, SJF, SRTF, SRSF, DLAS_GPU, SJF_DURATION, EASY };
static const char *const rule_name[] = {"fifo",     "fjf",          "sjf", "srtf", "srsf",
                                        "dlas-gpu", "sjf-duration", "easy"};

typedef struct naive_job {
    int64_t submit, duration, left, start, end, pending, executed, since, anchor, base;
    int gpus, level, preempts, promotes;
    enum { NEW, WAITING, RUNNING, DONE } state;
} naive_job;

typedef struct naive {
    naive_job job[MAX_JOBS];
    int n, total;
    enum rule rule;
    int64_t now, restore, limit[2];
    double knob;
    int queue[3][MAX_JOBS], n_queue[3]; /* dlas-gpu: the queues as lists */
} naive;

static int64_t executed(const naive *s, const naive_job *j)
{
    return j->executed + (j->state == RUNNING && s->now > j->anchor ? s->now - j->anchor : 0);
}

/* While a job restores, its key ages as if it ran. */
static int64_t aged(const naive *s, const naive_job *j)
{
    return j->left - (j->state == RUNNING ? s->now - j->since : 0);
}

/* Take a job out of its queue (level -1: it is in none) and put it at the end of another. */
static void move_to(naive *s, int i, int level)
{
    for (int q = 0; q < 3; q++) {
        int n = 0;
        for (int k = 0; k < s->n_queue[q]; k++) {
            if (s->queue[q][k] != i) {
                s->queue[q][n++] = s->queue[q][k];
            }
        }
        s->n_queue[q] = n;
    }
    if (level >= 0) {
        s->queue[level][s->n_queue[level]++] = i;
        s->job[i].level = level;
    }
}

/* Running jobs to the front of every queue, keeping the order otherwise. */
static void partition(naive *s)
{
    for (int q = 0; q < 3; q++) {
        int sorted[MAX_JOBS], n = 0;
        for (int part = 0; part < 2; part++) {
            for (int k = 0; k < s->n_queue[q]; k++) {
                if ((s->job[s->queue[q][k]].state == RUNNING) == (part == 0)) {
                    sorted[n++] = s->queue[q][k];
                }
            }
        }
        memcpy(s->queue[q], sorted, sizeof sorted);
    }
}

static void key(const naive *s, int i, int64_t out[4])
{
    const naive_job *j = &s->job[i];
    out[0] = 0;
    out[2] = 0;
    out[3] = i;
    switch (s->rule) {
    case SJF:
        out[1] = j->gpus;
        break;
    case SRTF:
        out[1] = aged(s, j);
        break;
    case SRSF:
        out[1] = aged(s, j) * j->gpus;
        break;
    case SJF_DURATION:
        out[1] = j->duration;
        break;
    default:
        out[1] = j->submit;
    }
}

static bool before(const naive *s, int a, int b)
{
    int64_t ka[4], kb[4];
    key(s, a, ka);
    key(s, b, kb);
    for (int k = 0; k < 4; k++) {
        if (ka[k] != kb[k]) {
            return ka[k] < kb[k];
        }
    }
    return false;
}

static void start(naive *s, naive_job *j)
{
    j->pending += s->now - j->since;
    j->anchor = s->now + (j->start >= 0 ? s->restore : 0);
    j->since = s->now;
    j->start = j->start < 0 ? s->now : j->start;
    j->state = RUNNING;
}

static void stop(naive *s, naive_job *j)
{
    j->executed = executed(s, j);
    j->left = j->duration - j->executed;
    j->state = WAITING;
    j->since = s->now;
    j->preempts++;
}

static void pass(naive *s)
{
    int order[MAX_JOBS], n = 0, used = 0;
    for (int i = 0; i < s->n; i++) {
        if (s->job[i].state == WAITING || s->job[i].state == RUNNING) {
            int at = n++;
            for (; at > 0 && before(s, i, order[at - 1]); at--) {
                order[at] = order[at - 1];
            }
            order[at] = i;
            used += s->job[i].state == RUNNING ? s->job[i].gpus : 0;
        }
    }
    for (int q = 0, k = 0; q < 3 && s->rule == DLAS_GPU; q++) {
        for (int i = 0; i < s->n_queue[q]; i++) {
            order[k++] = s->queue[q][i];
        }
    }
    int free_gpus = s->total;
    bool keep[MAX_JOBS] = {false}, taken[MAX_JOBS] = {false};
    int head = -1, spare = 0;
    int64_t shadow = 0;
    for (int k = 0; k < n; k++) {
        naive_job *j = &s->job[order[k]];
        const bool idle_fits = j->gpus <= s->total - used;
        switch (s->rule) {
        case FIFO:
        case EASY:
        case FJF:
        case SJF_DURATION:
            if (j->state == RUNNING) {
                break;
            }
            if (head >= 0) { /* backfill */
                if (idle_fits && (j->gpus <= spare || s->now + j->duration <= shadow)) {
                    spare -= s->now + j->duration <= shadow ? 0 : j->gpus;
                    start(s, j);
                    used += j->gpus;
                }
            } else if (idle_fits) {
                start(s, j);
                used += j->gpus;
            } else if (s->rule == FIFO) {
                return;
            } else if (s->rule == EASY) {
                head = order[k];
                int avail = s->total - used;
                shadow = s->now;
                while (avail < j->gpus) { /* next end */
                    int64_t next = INT64_MAX;
                    for (int i = 0; i < s->n; i++) {
                        if (s->job[i].state == RUNNING && !keep[i]) {
                            const int64_t end = s->job[i].anchor + s->job[i].left;
                            next = end < next ? end : next;
                        }
                    }
                    for (int i = 0; i < s->n; i++) {
                        if (s->job[i].state == RUNNING && !keep[i] &&
                            s->job[i].anchor + s->job[i].left == next) {
                            keep[i] = true;
                            avail += s->job[i].gpus;
                        }
                    }
                    shadow = next;
                }
                spare = avail - j->gpus;
            }
            break;
        default:
            taken[order[k]] = j->gpus <= free_gpus;
            free_gpus -= taken[order[k]] ? j->gpus : 0;
        }
    }
    if (s->rule == SJF || s->rule == SRTF || s->rule == SRSF || s->rule == DLAS_GPU) {
        for (int k = 0; k < n; k++) {
            naive_job *j = &s->job[order[k]];
            if (j->state == RUNNING && !taken[order[k]]) {
                stop(s, j);
            }
        }
        for (int k = 0; k < n; k++) {
            naive_job *j = &s->job[order[k]];
            if (j->state == WAITING && taken[order[k]]) {
                start(s, j);
            }
        }
        partition(s);
    }
}

/* Demotions and promotions that are due; *next: when the next one is. */
static void requeue(naive *s, int64_t *next)
{
    for (int i = 0; i < s->n && s->rule == DLAS_GPU; i++) {
        naive_job *j = &s->job[i];
        if (j->state != RUNNING && j->state != WAITING) {
            continue;
        }
        const int64_t ran = executed(s, j) - j->base;
        int level = j->level;
        while (level < 2 && ran * j->gpus >= s->limit[level]) {
            level++;
        }
        if (level != j->level) {
            move_to(s, i, level);
        }
        if (j->state == RUNNING && j->level < 2) {
            int64_t from = s->now > j->anchor ? s->now : j->anchor;
            from += (s->limit[j->level] - ran * j->gpus + j->gpus - 1) / j->gpus;
            *next = from < *next ? from : *next;
        }
        if (j->state == WAITING && s->knob > 0 && j->level > 0 && ran > 0) {
            const int64_t due = j->since + (int64_t)(s->knob * (double)ran + 0.999999);
            if (s->now >= due) {
                j->base = j->executed;
                move_to(s, i, 0);
                j->promotes++;
            } else {
                *next = due < *next ? due : *next;
            }
        }
    }
}

static void run_naive(naive *s)
{
    s->now = 0;
    for (;;) {
        int64_t next = INT64_MAX;
        for (int i = 0; i < s->n; i++) {
            const naive_job *j = &s->job[i];
            const int64_t t = j->state == NEW       ? j->submit
                              : j->state == RUNNING ? j->anchor + j->left
                                                    : INT64_MAX;
            next = t < next ? t : next;
        }
        int64_t due = INT64_MAX;
        requeue(s, &due);
        next = due < next ? due : next;
        if (next == INT64_MAX) {
            return;
        }
        s->now = next;
        for (int i = 0; i < s->n; i++) {
            naive_job *j = &s->job[i];
            if (j->state == RUNNING && j->anchor + j->left <= s->now) {
                j->executed = j->duration;
                j->state = DONE;
                j->end = s->now;
                move_to(s, i, -1);
            }
        }
        for (int i = 0; i < s->n; i++) {
            naive_job *j = &s->job[i];
            if (j->state == NEW && j->submit == s->now) {
                j->state = WAITING;
                j->since = s->now;
                move_to(s, i, 0);
            }
        }
        requeue(s, &due);
        pass(s);
    }
}

static void draw(naive *s, case_job *jobs, dls_rng *rng)
{
    static const int sizes[] = {1, 1, 1, 2, 2, 3, 4, 5, 8};
    s->n = 2 + (int)dls_rng_below(rng, MAX_JOBS - 1);
    s->total = 8;
    const uint64_t span = 1 + dls_rng_below(rng, 200);
    int64_t t = 0;
    for (int i = 0; i < s->n; i++) {
        t += (int64_t)dls_rng_below(rng, 1 + span / 10);
        jobs[i] = (case_job){.submit_s = (double)t,
                             .duration_s = (double)(dls_rng_below(rng, 10) == 0
                                                        ? 0
                                                        : 1 + dls_rng_below(rng, 60)),
                             .gpus = sizes[dls_rng_below(rng, sizeof sizes / sizeof *sizes)]};
        s->job[i] = (naive_job){.submit = t * DLS_US_PER_S,
                                .duration = (int64_t)jobs[i].duration_s * DLS_US_PER_S,
                                .left = (int64_t)jobs[i].duration_s * DLS_US_PER_S,
                                .start = -1,
                                .end = -1,
                                .gpus = jobs[i].gpus};
    }
}

static void one_case(uint64_t seed)
{
    naive s;
    case_job jobs[MAX_JOBS];
    dls_rng rng = dls_rng_stream(seed, DLS_RNG_TEST, 0);
    memset(&s, 0, sizeof s);
    s.rule = (enum rule)(seed % (sizeof rule_name / sizeof *rule_name));
    draw(&s, jobs, &rng);
    s.restore = dls_rng_below(&rng, 2) ? (int64_t)dls_rng_below(&rng, 9) * DLS_US_PER_S : 0;
    s.limit[0] = (int64_t)(5 + dls_rng_below(&rng, 50)) * DLS_US_PER_S;
    s.limit[1] = s.limit[0] + (int64_t)(5 + dls_rng_below(&rng, 90)) * DLS_US_PER_S;
    s.knob = dls_rng_below(&rng, 2) ? 0 : 0.5 * (double)(1 + dls_rng_below(&rng, 4));

    dls_trace *trace = case_trace(jobs, (size_t)s.n);
    dls_cluster_spec cluster = case_cluster(2, 4, 0);
    dls_sim_params p;
    dls_sim_params_init(&p);
    p.cluster = &cluster;
    p.trace = trace;
    p.sched = case_sched(rule_name[s.rule]);
    p.placement = case_placement("count");
    dls_option_value *values = case_defaults(p.sched->options);
    if (s.rule == DLAS_GPU) {
        values[0].n_list = 2;
        values[0].list[0] = (double)s.limit[0] / 1e6;
        values[0].list[1] = (double)s.limit[1] / 1e6;
        values[1].f = s.knob;
    }
    p.sched_values = values;
    p.restore_us = s.restore;
    p.audit = true;
    dls_record *rec = case_run(&p);
    run_naive(&s);
    for (int i = 0; i < s.n; i++) {
        const naive_job *j = &s.job[i];
        if (rec->start_us[i] != j->start || rec->end_us[i] != j->end ||
            rec->pending_us[i] != j->pending || rec->preempts[i] != j->preempts ||
            rec->promotes[i] != j->promotes) {
            fail_msg("seed %llu %s job %d: start %lld/%lld end %lld/%lld pending %lld/%lld "
                     "preempts %d/%d promotes %d/%d (engine/naive)",
                     (unsigned long long)seed, rule_name[s.rule], i, (long long)rec->start_us[i],
                     (long long)j->start, (long long)rec->end_us[i], (long long)j->end,
                     (long long)rec->pending_us[i], (long long)j->pending, rec->preempts[i],
                     j->preempts, rec->promotes[i], j->promotes);
        }
    }
    dls_record_destroy(rec);
    dls_trace_destroy(trace);
    dls_free(values);
    free(cluster.groups);
}

TEST(test_random_cases)
{
    for (uint64_t seed = 0; seed < FEWER(2000); seed++) {
        one_case(seed);
    }
}
