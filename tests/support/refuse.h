/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Memory that runs out: the n-th allocation of a call is refused, n counting from 0.
 */
#ifndef TESTS_SUPPORT_REFUSE_H
#define TESTS_SUPPORT_REFUSE_H

#include "base/alloc.h"
#include "support/test.h"

/* For dls_alloc_set_hook; `left` is an int that the caller keeps. */
static inline int refuse(void *left, size_t bytes)
{
    int *n = left;
    return (*n)-- != 0;
}

#define REFUSED(result, n, call)                                                                   \
    do {                                                                                           \
        int left_ = (n);                                                                           \
        dls_alloc_set_hook(refuse, &left_);                                                        \
        (result) = (call);                                                                         \
        dls_alloc_set_hook(NULL, NULL);                                                            \
    } while (0)

/* Whichever allocation is refused the call ends with ENOMEM and `then` holds or is done; with none
 * refused it is good. There are so many allocations at least. */
#define EACH_REFUSED_THEN(least, call, then)                                                       \
    do {                                                                                           \
        dls_status status_ = DLS_ENOMEM;                                                           \
        int n_ = -1;                                                                               \
        while (status_ == DLS_ENOMEM) {                                                            \
            REFUSED(status_, ++n_, call);                                                          \
            if (status_ == DLS_ENOMEM) {                                                           \
                then;                                                                              \
            }                                                                                      \
        }                                                                                          \
        assert_int_equal(status_, DLS_OK);                                                         \
        assert_in_range(n_, least, 100000);                                                        \
    } while (0)
#define EACH_REFUSED(least, call) EACH_REFUSED_THEN(least, call, (void)0)

#endif
