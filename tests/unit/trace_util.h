/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Small helpers of the trace tests: invented files as C strings.
 */
#ifndef DLS_TESTS_TRACE_UTIL_H
#define DLS_TESTS_TRACE_UTIL_H

#include "dlsim/trace.h"
#include "support/test.h"
#include "traces/reader.h"

#include <stdio.h>
#include <string.h>

/* Parse text; fails the test with the message of the reader. format NULL: recognise. */
static inline dls_trace *must_parse(const char *text, const char *format,
                                    const dls_trace_options *opts)
{
    dls_trace *trace = NULL;
    dls_error err = {0};
    if (dls_trace_parse("t", text, strlen(text), format, opts, &trace, &err) != DLS_OK) {
        fail_msg("%s: %s: %s", dls_status_name(err.status), err.where, err.msg);
    }
    return trace;
}

/* Parse text that must be refused with DLS_EINPUT at `where`, with `part` in the message. */
static inline void must_refuse(const char *text, size_t len, const char *format, const char *where,
                               const char *part)
{
    dls_trace *trace = NULL;
    dls_error err = {0};
    const dls_status status = dls_trace_parse("t", text, len, format, NULL, &trace, &err);
    if (status != DLS_EINPUT || strcmp(err.where, where) != 0 || !strstr(err.msg, part)) {
        fail_msg("got %s at '%s': '%s'; expected EINPUT at '%s' with '%s', for: %.200s",
                 dls_status_name(status), err.where, err.msg, where, part, text);
    }
    assert_null(trace);
}

#define S(x) ((int64_t)((double)(x)*1e6 + 0.5)) /* seconds to microseconds */

static inline dls_trace *parse_as(const char *text, const char *format)
{
    dls_trace *t = must_parse(text, NULL, NULL);
    assert_string_equal(dls_trace_about(t)->format, format);
    return t;
}

#endif
