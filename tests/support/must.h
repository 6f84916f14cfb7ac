/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * MUST(dls_...(..., &e)): what fails says why, and where.
 */
#ifndef TESTS_SUPPORT_MUST_H
#define TESTS_SUPPORT_MUST_H

#include "dlsim/error.h"
#include "support/test.h"

#define MUST(call)                                                                                 \
    do {                                                                                           \
        dls_error e = {0};                                                                         \
        if ((call) != DLS_OK) {                                                                    \
            fail_msg("%s: %s: %s", #call, e.where, e.msg);                                         \
        }                                                                                          \
    } while (0)

#endif
