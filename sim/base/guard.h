/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * What the public functions put round what they do: numbers are read and written with a point
 * whatever the caller's locale, and HDF5, which may have been built without thread safety, has one
 * caller at a time.
 *
 *      DLS_IN_C_LOCALE;       until the block is left this thread's locale is "C"
 *      DLS_HDF5_LOCKED;       until the block is left no other thread of the library uses HDF5
 *
 * Both may be nested.
 */
#ifndef DLS_BASE_GUARD_H
#define DLS_BASE_GUARD_H

#include <locale.h>

/* The present locale, for dls_locale_leave. */
locale_t dls_locale_enter(void);
void dls_locale_leave(const locale_t *old);
int dls_hdf5_lock(void); /* 0 */
void dls_hdf5_unlock(const int *locked);

#define DLS_IN_C_LOCALE                                                                            \
    __attribute__((cleanup(dls_locale_leave), unused)) const locale_t dls_old_locale_ =            \
        dls_locale_enter()
#define DLS_HDF5_LOCKED                                                                            \
    __attribute__((cleanup(dls_hdf5_unlock), unused)) const int dls_hdf5_locked_ = dls_hdf5_lock()

#endif
