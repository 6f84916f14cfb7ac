/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * The event queue against an array that is searched in full: after every random set, move, cancel
 * and pop the first event, the number of events and the memberships must agree. Times come from a
 * few values, so class and slot decide most comparisons.
 */
#include "base/rng.h"
#include "base/evq.h"
#include "support/test.h"
#include <stdlib.h>
#include <string.h>

typedef struct naive_event {
    bool there;
    int64_t time_us;
    dls_event_class cls;
} naive_event;

/* Slot of the first event by (time, class, slot); -1: none. */
static int64_t naive_first(const naive_event *ev, uint32_t n)
{
    int64_t best = -1;
    for (uint32_t i = 0; i < n; i++) {
        if (!ev[i].there) {
            continue;
        }
        if (best < 0 || ev[i].time_us < ev[best].time_us ||
            (ev[i].time_us == ev[best].time_us && ev[i].cls < ev[best].cls)) {
            best = i;
        }
    }
    return best;
}

static void check_first(const dls_evq *q, const naive_event *ev, uint32_t n)
{
    const int64_t first = naive_first(ev, n);
    assert_int_equal(dls_evq_empty(q), first < 0);
    if (first >= 0) {
        const dls_event top = dls_evq_top(q);
        assert_int_equal(dls_event_slot(top), first);
        assert_int_equal(top.time_us, ev[first].time_us);
        assert_int_equal(dls_event_class_of(top), ev[first].cls);
    }
}

static void random_case(uint64_t seed)
{
    dls_rng rng = dls_rng_stream(seed, DLS_RNG_TEST, 1);
    const uint32_t n = 1 + (uint32_t)dls_rng_below(&rng, 60);
    const uint64_t times = 1 + dls_rng_below(&rng, 12);
    naive_event ev[60];
    size_t there = 0, peak = 0;
    DLS_OWN(dls_evq_fini) dls_evq q = {0};
    memset(ev, 0, sizeof ev);
    assert_int_equal(dls_evq_init(&q, n, NULL), DLS_OK);
    for (int step = 0; step < 600; step++) {
        const uint32_t slot = (uint32_t)dls_rng_below(&rng, n);
        const uint64_t what = dls_rng_below(&rng, 8);
        if (what < 5) {
            const dls_event_class cls = (dls_event_class)dls_rng_below(&rng, 4);
            const int64_t time_us = (int64_t)dls_rng_below(&rng, times) - 3;
            assert_int_equal(dls_evq_set(&q, slot, time_us, cls, NULL), DLS_OK);
            there += !ev[slot].there;
            ev[slot] = (naive_event){true, time_us, cls};
        } else if (what < 6) {
            dls_evq_cancel(&q, slot);
            there -= ev[slot].there;
            ev[slot].there = false;
        } else if (there > 0) {
            const int64_t first = naive_first(ev, n);
            const dls_event got = dls_evq_pop(&q);
            assert_int_equal(dls_event_slot(got), first);
            assert_int_equal(got.time_us, ev[first].time_us);
            ev[first].there = false;
            there--;
        }
        peak = there > peak ? there : peak;
        assert_int_equal(q.n, there);
        assert_int_equal(dls_evq_has(&q, slot), ev[slot].there);
        check_first(&q, ev, n);
    }
    assert_int_equal(q.peak, peak);
}

TEST(test_random)
{
    for (uint64_t seed = 0; seed < 200; seed++) {
        random_case(seed);
    }
}

/* As an engine uses it: time goes on, events are set ahead of it at distances from none to days, some
 * at one instant in hundreds, most are moved or cancelled before they are due, and half way the queue is
 * replaced by a copy of it. */
static void clock_case(uint64_t seed)
{
    enum { N = 700 };
    static naive_event ev[N];
    dls_rng rng = dls_rng_stream(seed, DLS_RNG_TEST, 3);
    int64_t now_us = 0;
    size_t there = 0;
    dls_evq q, other;
    memset(ev, 0, sizeof ev);
    assert_int_equal(dls_evq_init(&q, N, NULL), DLS_OK);
    for (int step = 0; step < 6000; step++) {
        const uint32_t slot = (uint32_t)dls_rng_below(&rng, N);
        const uint64_t what = dls_rng_below(&rng, 16), far = dls_rng_below(&rng, 38);
        if (what < 11) {
            const dls_event_class cls = (dls_event_class)dls_rng_below(&rng, 4);
            const uint64_t ahead = dls_rng_below(&rng, UINT64_C(1) << far);
            const int64_t time_us = what < 4 ? (now_us >> 20 << 20) + (1 << 20)
                                             : now_us + (int64_t)ahead;
            assert_int_equal(dls_evq_set(&q, slot, time_us, cls, NULL), DLS_OK);
            there += !ev[slot].there;
            ev[slot] = (naive_event){true, time_us, cls};
        } else if (what < 13) {
            dls_evq_cancel(&q, slot);
            there -= ev[slot].there;
            ev[slot].there = false;
        } else if (there > 0) {
            const int64_t first = naive_first(ev, N);
            now_us = dls_evq_pop(&q).time_us;
            assert_int_equal(now_us, ev[first].time_us);
            ev[first].there = false;
            there--;
        }
        if (step == 3000) {
            assert_int_equal(dls_evq_copy(&other, &q, NULL), DLS_OK);
            dls_evq_fini(&q);
            q = other;
        }
        assert_int_equal(q.n, there);
        check_first(&q, ev, N);
        assert_true(q.filed <= q.cap && q.cap <= 4 * N);
    }
    while (there-- > 0) {
        check_first(&q, ev, N);
        ev[dls_event_slot(dls_evq_pop(&q))].there = false;
    }
    assert_true(dls_evq_empty(&q));
    dls_evq_fini(&q);
}

/* An event that is moved to and fro leaves equal entries. */
TEST(test_to_and_fro)
{
    DLS_OWN(dls_evq_fini) dls_evq q = {0};
    assert_int_equal(dls_evq_init(&q, 3, NULL), DLS_OK);
    assert_int_equal(dls_evq_set(&q, 0, 5, DLS_EV_TICK, NULL), DLS_OK);
    for (int64_t i = 0; i < 100000; i++) {
        for (uint32_t slot = 1; slot < 3; slot++) {
            const int64_t time_us = slot * 1000000 * (1 + i % 2);
            assert_int_equal(dls_evq_set(&q, slot, time_us, DLS_EV_FINISH, NULL), DLS_OK);
        }
        assert_true(q.filed <= q.cap && q.cap <= 1024);
    }
    assert_int_equal(q.n, 3);
    for (uint32_t slot = 0; slot < 3; slot++) {
        assert_int_equal(dls_event_slot(dls_evq_pop(&q)), slot);
    }
    assert_true(dls_evq_empty(&q));
}

TEST(test_clock)
{
    for (uint64_t seed = 0; seed < 20; seed++) {
        clock_case(seed);
    }
}

static int event_cmp(const void *a, const void *b)
{
    const dls_event *x = a, *y = b;
    if (x->time_us != y->time_us) {
        return x->time_us < y->time_us ? -1 : 1;
    }
    return x->who < y->who ? -1 : x->who > y->who;
}

/* Far more events than the first heap holds come out in the order of a sort. */
TEST(test_growth)
{
    const uint32_t n = 20000;
    dls_rng rng = dls_rng_stream(7, DLS_RNG_TEST, 2);
    DLS_OWN(dls_evq_fini) dls_evq q = {0};
    dls_event *sorted = malloc(n * sizeof *sorted);
    assert_non_null(sorted);
    assert_int_equal(dls_evq_init(&q, n, NULL), DLS_OK);
    const size_t cap_before = q.cap;
    for (uint32_t slot = 0; slot < n; slot++) {
        const int64_t time_us = (int64_t)dls_rng_below(&rng, 500);
        const dls_event_class cls = (dls_event_class)dls_rng_below(&rng, 4);
        assert_int_equal(dls_evq_set(&q, slot, time_us, cls, NULL), DLS_OK);
        sorted[slot] = (dls_event){time_us, (uint64_t)cls << 56 | slot};
    }
    assert_true(cap_before < n && q.cap >= n);
    qsort(sorted, n, sizeof *sorted, event_cmp);
    for (uint32_t i = 0; i < n; i++) {
        const dls_event got = dls_evq_pop(&q);
        assert_int_equal(got.time_us, sorted[i].time_us);
        assert_true(got.who == sorted[i].who);
    }
    assert_true(dls_evq_empty(&q));
    free(sorted);
}
