/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * The library from two threads at once: no more of it is shared than what the threads share
 * themselves. Also built with the files in which that is decided under ThreadSanitizer
 * (tests/CMakeLists.txt).
 */
#include "dlsim/results.h"
#include "run_util.h"

#include <hdf5.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <unistd.h>

/* The linker puts these round what the library calls of HDF5, which may have been built without
 * thread safety: whoever enters while somebody is inside has found the library without its lock. */
static atomic_int inside;
static atomic_int met;
static atomic_int calls;

static void enter(void)
{
    atomic_fetch_add(&calls, 1);
    atomic_fetch_add(&met, atomic_fetch_add(&inside, 1) > 0);
    usleep(20);
}

#define WRAPPED(result, function, parameters, arguments)                                           \
    result __real_##function parameters;                                                           \
    result __wrap_##function parameters;                                                           \
    result __wrap_##function parameters                                                            \
    {                                                                                              \
        enter();                                                                                   \
        result r = __real_##function arguments;                                                    \
        atomic_fetch_sub(&inside, 1);                                                              \
        return r;                                                                                  \
    }

WRAPPED(hid_t, H5Fopen, (const char *name, unsigned flags, hid_t list), (name, flags, list))
WRAPPED(herr_t, H5Fclose, (hid_t file), (file))
WRAPPED(herr_t, H5Dread, (hid_t set, hid_t type, hid_t memory, hid_t space, hid_t list, void *out),
        (set, type, memory, space, list, out))
WRAPPED(herr_t, H5Dwrite,
        (hid_t set, hid_t type, hid_t memory, hid_t space, hid_t list, const void *data),
        (set, type, memory, space, list, data))

typedef struct working {
    dls_trace *trace;
    dls_setup *setup;
    uint64_t digest;
    char path[64];
    pthread_barrier_t *together; /* files are written at the same time */
} working;

static void *work(void *arg)
{
    working *w = arg;
    dls_error mine;
    for (int i = 0; i < 4; i++) {
        DLS_HOLD(dls_simulation_destroy) dls_simulation *sim = NULL;
        dls_status status = dls_simulation_create(w->setup, w->trace, &sim, &mine);
        pthread_barrier_wait(w->together); /* behind the locks of setting up, which order what is before them */
        status = status ? status : dls_simulation_run(sim, &mine);
        for (int k = 0; k < 20; k++) {
            pthread_barrier_wait(w->together);
            status = status ? status : dls_simulation_write(sim, w->path, "test", &mine);
        }
        for (int k = 0; k < 5; k++) {
            DLS_HOLD(dls_saved_close) dls_saved *saved = NULL;
            pthread_barrier_wait(w->together);
            status = status ? status : dls_saved_open(w->path, NULL, &saved, &mine);
        }
        w->digest = status == DLS_OK ? dls_simulation_digest(sim) : 0;
    }
    return NULL;
}

TEST(two_threads)
{
    dls_trace *trace = trace_of(4, 200);
    working w[2];
    pthread_t thread[2];
    pthread_barrier_t together;
    assert_int_equal(pthread_barrier_init(&together, NULL, 2), 0);
    for (int k = 0; k < 2; k++) {
        w[k] = (working){.trace = trace,
                         .setup = setup_of(TIGHT, k ? "dlas-gpu" : "srtf"),
                         .together = &together};
        snprintf(w[k].path, sizeof w[k].path, "test_threads.%ld.%d.h5", (long)getpid(), k);
        assert_int_equal(pthread_create(&thread[k], NULL, work, &w[k]), 0);
    }
    for (int k = 0; k < 2; k++) {
        pthread_join(thread[k], NULL);
        assert_int_equal(w[k].digest, digest_of_run(w[k].setup, trace));
        assert_int_equal(remove(w[k].path), 0);
        dls_setup_destroy(w[k].setup);
    }
    dls_trace_destroy(trace);
    assert_true(atomic_load(&calls) > 1000);
    assert_int_equal(atomic_load(&met), 0);
}
