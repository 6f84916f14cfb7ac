/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Runs numbered items on a few POSIX threads, which take the next number from an atomic counter.
 */
#include "base/team.h"

#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <unistd.h>

int32_t dls_team_cores(void)
{
    cpu_set_t set;
    if (sched_getaffinity(0, sizeof set, &set) == 0) {
        return CPU_COUNT(&set);
    }
    const long n = sysconf(_SC_NPROCESSORS_ONLN);
    return n > 0 ? (int32_t)n : 1;
}

typedef struct team {
    dls_team_fn fn;
    void *user;
    size_t n;
    atomic_size_t next;
    atomic_int seat;
} team;

static void *run_seat(void *arg)
{
    team *t = arg;
    const int32_t seat = atomic_fetch_add(&t->seat, 1);
    for (size_t i; (i = atomic_fetch_add(&t->next, 1)) < t->n;) {
        t->fn(t->user, seat, i);
    }
    return NULL;
}

void dls_team_run(int32_t threads, size_t n, dls_team_fn fn, void *user)
{
    team t = {.fn = fn, .user = user, .n = n};
    atomic_init(&t.next, 0);
    atomic_init(&t.seat, 0);
    threads = threads > DLS_TEAM_MAX ? DLS_TEAM_MAX : threads;
    pthread_t helper[DLS_TEAM_MAX];
    int32_t started = 0;
    while (started < threads - 1 && (size_t)started + 1 < n &&
           pthread_create(&helper[started], NULL, run_seat, &t) == 0) {
        started++;
    }
    run_seat(&t);
    for (int32_t i = 0; i < started; i++) {
        pthread_join(helper[i], NULL);
    }
}
