/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * MUST(dls_...(..., &e)): what fails says why, and where; MUST_FAIL is what has to.
 */
#ifndef TESTS_SUPPORT_MUST_H
#define TESTS_SUPPORT_MUST_H

#include "dlsim/error.h"
#include "support/test.h"

#include <string.h>

#define MUST(call)                                                                                 \
    do {                                                                                           \
        dls_error e = {0};                                                                         \
        if ((call) != DLS_OK) {                                                                    \
            fail_msg("%s: %s: %s", #call, e.where, e.msg);                                         \
        }                                                                                          \
    } while (0)

/* It fails so and says that. */
#define MUST_FAIL(status, says, call)                                                              \
    do {                                                                                           \
        dls_error e = {0};                                                                         \
        assert_int_equal(call, status);                                                            \
        if (!strstr(e.msg, says)) {                                                                \
            fail_msg("\"%s\" does not say \"%s\"", e.msg, says);                                   \
        }                                                                                          \
    } while (0)

#endif
