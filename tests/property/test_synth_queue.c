/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * The count replay against a replay second by second that looks at every job every time.
 */

#include "base/alloc.h"
#include "base/rng.h"
#include "support/refuse.h"
#include "traces/synth_queue.h"

#include <math.h>
#include <stdbool.h>

enum { JOBS_MAX = 40, CASES = 400 };

typedef struct world {
    size_t n;
    int64_t submit_us[JOBS_MAX], duration_us[JOBS_MAX];
    int32_t gpus[JOBS_MAX];
    int64_t cluster_gpus, waiting_jobs;
} world;

static void random_world(dls_rng *rng, world *w)
{
    w->n = 1 + (size_t)dls_rng_below(rng, JOBS_MAX);
    w->cluster_gpus = 1 + (int64_t)dls_rng_below(rng, 8);
    w->waiting_jobs = 1 + (int64_t)dls_rng_below(rng, 5);
    int64_t now_s = (int64_t)dls_rng_below(rng, 3);
    for (size_t i = 0; i < w->n; i++) {
        now_s += (int64_t)dls_rng_below(rng, 4);
        w->submit_us[i] = now_s * DLS_US_PER_S;
        w->duration_us[i] = (int64_t)dls_rng_below(rng, 20) * DLS_US_PER_S;
        w->gpus[i] = 1 + (int32_t)dls_rng_below(rng, (uint64_t)w->cluster_gpus);
    }
}

/* Which waiting job starts now; JOBS_MAX: none fits. */
static size_t choose(const world *w, const bool *waiting, int64_t free_gpus, dls_queue_order order)
{
    size_t best = JOBS_MAX;
    for (size_t i = 0; i < w->n; i++) {
        if (!waiting[i] || w->gpus[i] > free_gpus) {
            continue;
        }
        const bool less = best < JOBS_MAX && order == DLS_QUEUE_LEAST &&
                          w->gpus[i] * w->duration_us[i] < w->gpus[best] * w->duration_us[best];
        if (best == JOBS_MAX || less) {
            best = i;
        }
    }
    return best;
}

static dls_synth_queueing brute_force(const world *w, dls_queue_order order)
{
    bool waiting[JOBS_MAX] = {false}, running[JOBS_MAX] = {false};
    int64_t end_us[JOBS_MAX] = {0}, free_gpus = w->cluster_gpus, over = 0, over_span = 0;
    dls_synth_queueing q = {0};
    size_t done = 0;
    const int64_t first_us = w->submit_us[0], last_us = w->submit_us[w->n - 1];
    int64_t now_us = first_us;
    for (;; now_us += DLS_US_PER_S) {
        for (bool again = true; again;) { /* jobs of no duration end in the second they start */
            again = false;
            for (size_t i = 0; i < w->n; i++) {
                if (running[i] && end_us[i] <= now_us) {
                    running[i] = false;
                    free_gpus += w->gpus[i];
                    done++;
                }
                waiting[i] = waiting[i] || (w->submit_us[i] == now_us && end_us[i] == 0);
            }
            for (size_t i; (i = choose(w, waiting, free_gpus, order)) < JOBS_MAX;) {
                waiting[i] = false;
                running[i] = true;
                end_us[i] = now_us + w->duration_us[i] > 0 ? now_us + w->duration_us[i] : -1;
                free_gpus -= w->gpus[i];
                again = again || w->duration_us[i] == 0;
            }
        }
        if (done == w->n) {
            break;
        }
        int64_t count = 0;
        for (size_t i = 0; i < w->n; i++) {
            count += waiting[i];
        }
        over += count >= w->waiting_jobs;
        over_span += count >= w->waiting_jobs && now_us < last_us;
    }
    q.makespan_s = (now_us - first_us) / DLS_US_PER_S;
    q.time_frac = q.makespan_s > 0 ? (double)over / (double)q.makespan_s : 0;
    q.span_frac =
        last_us > first_us ? (double)over_span / ((double)(last_us - first_us) / DLS_US_PER_S) : 0;
    return q;
}

TEST(equals_brute_force)
{
    dls_rng rng = dls_rng_stream(5, DLS_RNG_TEST, 0);
    int queued = 0;
    for (int k = 0; k < CASES; k++) {
        world w;
        random_world(&rng, &w);
        const dls_queue_jobs jobs = {w.n, w.submit_us, w.duration_us, w.gpus};
        for (int order = DLS_QUEUE_OLDEST; order <= DLS_QUEUE_LEAST; order++) {
            const dls_synth_queueing slow = brute_force(&w, (dls_queue_order)order);
            dls_synth_queueing fast;
            assert_int_equal(dls_queue_replay(&jobs, w.cluster_gpus, (dls_queue_order)order,
                                              w.waiting_jobs, &fast, NULL),
                             DLS_OK);
            assert_int_equal(fast.makespan_s, slow.makespan_s);
            assert_true(fabs(fast.time_frac - slow.time_frac) < 1e-12);
            assert_true(fabs(fast.span_frac - slow.span_frac) < 1e-12);
            queued += fast.time_frac > 0;
        }
    }
    assert_in_range(queued, CASES / 2, 2 * CASES);
}

TEST(failed_allocations)
{
    dls_rng rng = dls_rng_stream(6, DLS_RNG_TEST, 0);
    world w;
    random_world(&rng, &w);
    const dls_queue_jobs jobs = {w.n, w.submit_us, w.duration_us, w.gpus}, none = {0};
    dls_synth_queueing q;
    assert_int_equal(dls_queue_replay(&none, 1, DLS_QUEUE_OLDEST, 1, &q, NULL), DLS_OK);
    assert_int_equal(q.makespan_s, 0);
    EACH_REFUSED(5, dls_queue_replay(&jobs, w.cluster_gpus, DLS_QUEUE_OLDEST, 1, &q, NULL));
}
