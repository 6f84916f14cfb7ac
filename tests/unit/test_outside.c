/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Schedulers outside the library: decisions in steps, as schedulers within it make them; illegal
 * ones.
 */
#include "run_util.h"
#include "support/must.h"

#include <stdlib.h>

/* ---- schedulers from outside ----------------------------------------------------------------- */

static void decide_fifo(dls_simulation *sim, dls_actions *act, int64_t *keys)
{
    const dls_view *view = dls_simulation_view(sim);
    for (int32_t j; (j = dls_view_first_waiting(view)) >= 0;) {
        if (view->gpus[j] > view->free_gpus || !dls_act_start(act, j)) {
            break;
        }
    }
}

typedef struct ranked {
    int64_t key;
    int32_t job;
    bool running;
} ranked;

static int by_key(const void *a, const void *b)
{
    const ranked *x = a, *y = b;
    return x->key != y->key ? (x->key < y->key ? -1 : 1) : x->job - y->job;
}

/* keys: what was left at a job's last start; a running job's place falls from there as time goes
 * on, restoring or not. */
static void decide_srtf(dls_simulation *sim, dls_actions *act, int64_t *keys)
{
    const dls_view *view = dls_simulation_view(sim);
    ranked *all = calloc((size_t)view->n_jobs + 1, sizeof *all);
    size_t n = 0;
    for (int32_t j = dls_view_first_waiting(view); j >= 0; j = dls_view_next_waiting(view, j)) {
        all[n++] = (ranked){dls_view_remaining_us(view, j), j, false};
    }
    for (int32_t j = dls_view_first_running(view); j >= 0; j = dls_view_next_running(view, j)) {
        all[n++] = (ranked){keys[j] - (view->now_us - view->since_us[j]), j, true};
    }
    qsort(all, n, sizeof *all, by_key);
    int64_t left = view->total_gpus;
    for (size_t i = 0; i < n; i++) {
        const bool chosen = view->gpus[all[i].job] <= left;
        left -= chosen ? view->gpus[all[i].job] : 0;
        if (all[i].running && !chosen) {
            dls_act_preempt(act, all[i].job);
        }
        if (all[i].running == chosen) {
            all[i].job = -1; /* settled */
        }
    }
    for (size_t i = 0; i < n; i++) {
        if (all[i].job >= 0 && !all[i].running) {
            keys[all[i].job] = all[i].key;
            assert_true(dls_act_start(act, all[i].job));
        }
    }
    free(all);
}

typedef void (*decide_fn)(dls_simulation *sim, dls_actions *act, int64_t *keys);

static void step_to_end(dls_simulation *sim, decide_fn decide, int64_t *keys)
{
    dls_actions *act;
    for (;;) {
        must(dls_simulation_step(sim, DLS_NEVER, &act, &err));
        if (!act) {
            return;
        }
        decide(sim, act, keys);
    }
}

static void check_outside(const char *scheduler, decide_fn decide, const char *restore)
{
    for (uint32_t seed = 1; seed <= 5; seed++) {
        DLS_HOLD(dls_trace_destroy) dls_trace *trace = trace_of(seed, 300);
        dls_setup *inside = setup_of(TIGHT, scheduler), *outside = setup_of(TIGHT, NULL);
        must(dls_setup_outside(outside, &err));
        must(dls_setup_set(inside, "scheduler.restore_cost", restore, &err));
        must(dls_setup_set(outside, "scheduler.restore_cost", restore, &err));
        must(dls_setup_set(outside, "run.audit", "true", &err));
        const uint64_t expected = digest_of_run(inside, trace);
        dls_simulation *sim = simulation_of(outside, trace);
        int64_t *keys = calloc(300, sizeof *keys);
        step_to_end(sim, decide, keys);
        assert_true(dls_simulation_is_finished(sim));
        assert_int_equal(dls_simulation_digest(sim), expected);
        assert_true(dls_simulation_counts(sim).complete);
        free(keys);
        dls_simulation_destroy(sim);
        dls_setup_destroy(inside);
        dls_setup_destroy(outside);
    }
}

TEST(outside_is_fifo)
{
    check_outside("fifo", decide_fifo, "0 s");
}

TEST(outside_is_srtf)
{
    check_outside("srtf", decide_srtf, "0 s");
    check_outside("srtf", decide_srtf, "30 s");
}

TEST(illegal_actions)
{
    DLS_HOLD(dls_trace_destroy) dls_trace *trace = trace_of(1, 20);
    DLS_HOLD(dls_setup_destroy) dls_setup *setup = setup_of(TIGHT, NULL);
    must(dls_setup_outside(setup, &err));
    DLS_HOLD(dls_simulation_destroy) dls_simulation *sim = simulation_of(setup, trace);
    dls_actions *act;
    must(dls_simulation_step(sim, DLS_NEVER, &act, &err));
    assert_non_null(act);
    assert_false(dls_act_start(act, 19)); /* not submitted */
    MUST_FAIL(DLS_EPOLICY, "job 19", dls_simulation_step(sim, DLS_NEVER, &act, &e));
    assert_null(act);
    assert_int_equal(dls_simulation_step(sim, DLS_NEVER, &act, &err), DLS_EUSAGE);
    dls_simulation_destroy(sim);
    sim = simulation_of(setup, trace);
    assert_int_equal(dls_simulation_run(sim, &err), DLS_EUSAGE);
    assert_int_equal(dls_simulation_write(sim, "nothing.h5", NULL, &err), DLS_EUSAGE);
    dls_simulation_destroy(sim);
    dls_setup_destroy(setup);
    setup = setup_of(TIGHT, "srtf");
    sim = simulation_of(setup, trace);
    assert_int_equal(dls_simulation_step(sim, DLS_NEVER, &act, &err), DLS_EUSAGE);
}
