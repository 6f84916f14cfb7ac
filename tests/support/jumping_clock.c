/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * To be preloaded: clocks that jump. That of the day goes somewhere within sixty years whenever it
 * is read, forwards and back; that which only counts, forwards alone, by up to a minute a reading:
 * as after a machine was asleep or moved. A wait until a point of that clock is as long as it would
 * have been.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <stdint.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <time.h>
#include <unistd.h>

static uint64_t state = 88172645463325252u;
static int64_t ahead_ns; /* of the clock that counts */

/* xorshift64 (Marsaglia, Journal of Statistical Software 8(14), 2003) */
static uint64_t draw(void)
{
    uint64_t x = __atomic_load_n(&state, __ATOMIC_RELAXED);
    x ^= x << 13;
    x ^= x >> 7;
    x ^= x << 17;
    __atomic_store_n(&state, x, __ATOMIC_RELAXED);
    return x;
}

static void add(struct timespec *t, int64_t ns)
{
    const int64_t all = t->tv_nsec + ns % 1000000000;
    t->tv_sec += ns / 1000000000 + (all >= 1000000000) - (all < 0);
    t->tv_nsec = all - 1000000000 * ((all >= 1000000000) - (all < 0));
}

int clock_gettime(clockid_t which, struct timespec *t)
{
    const int status = (int)syscall(SYS_clock_gettime, which, t);
    if (status == 0 && which == CLOCK_REALTIME) {
        t->tv_sec = (time_t)(draw() % 1893456000); /* 1970 to 2030 */
    } else if (status == 0 && which == CLOCK_MONOTONIC) {
        const int64_t jump = draw() % 4 == 0 ? (int64_t)(draw() % 60000000000u) : 0;
        add(t, __atomic_add_fetch(&ahead_ns, jump, __ATOMIC_RELAXED));
    }
    return status;
}

time_t time(time_t *out)
{
    struct timespec t;
    clock_gettime(CLOCK_REALTIME, &t);
    if (out) {
        *out = t.tv_sec;
    }
    return t.tv_sec;
}

int gettimeofday(struct timeval *out, void *zone)
{
    struct timespec t;
    clock_gettime(CLOCK_REALTIME, &t);
    *out = (struct timeval){t.tv_sec, t.tv_nsec / 1000};
    return 0;
}

int clock_nanosleep(clockid_t which, int flags, const struct timespec *until, struct timespec *left)
{
    struct timespec t = *until;
    if (which == CLOCK_MONOTONIC && flags & TIMER_ABSTIME) {
        add(&t, -__atomic_load_n(&ahead_ns, __ATOMIC_RELAXED));
    }
    return syscall(SYS_clock_nanosleep, which, flags, &t, left) == 0 ? 0 : errno;
}
