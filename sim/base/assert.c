/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * The end of a program whose caller broke a precondition.
 */
#include "base/assert.h"

#include <stdio.h>
#include <stdlib.h>

void dls_assert_failed(const char *what, const char *file, int line)
{
    fprintf(stderr, "dlsim: %s:%d: defect: %s does not hold\n", file, line, what);
    abort();
}
