/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * For dls_alloc_set_hook: the n-th allocation from here on is refused, n counting from 0 in an int
 * that the caller keeps.
 */
#ifndef TESTS_SUPPORT_REFUSE_H
#define TESTS_SUPPORT_REFUSE_H

#include <stddef.h>

static inline int refuse(void *left, size_t bytes)
{
    int *n = left;
    (void)bytes;
    return (*n)-- != 0;
}

#endif
