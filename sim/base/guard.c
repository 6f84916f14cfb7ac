/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Switches the thread's locale to "C" and serialises HDF5 calls with one recursive lock, for the
 * duration of a public call.
 */
#include "base/guard.h"

#include <pthread.h>

locale_t dls_locale_enter(void)
{
    /* The C library has this one ready: nothing is allocated, nothing is to be freed. */
    return uselocale(newlocale(LC_ALL_MASK, "C", (locale_t)0));
}

void dls_locale_leave(const locale_t *old)
{
    uselocale(*old);
}

/* The one lock of the library. */
static pthread_mutex_t hdf5 = PTHREAD_RECURSIVE_MUTEX_INITIALIZER_NP;

int dls_hdf5_lock(void)
{
    return pthread_mutex_lock(&hdf5);
}

void dls_hdf5_unlock(const int *locked)
{
    if (*locked == 0) {
        pthread_mutex_unlock(&hdf5);
    }
}
