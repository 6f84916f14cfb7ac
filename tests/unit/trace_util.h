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
#include <stdlib.h>
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

/* All that a trace has, in seconds: when it began, what was left out and why, then a line a job
 * with what is known of it. */
static inline void describe(const dls_trace *t, FILE *out)
{
    static const char *const outcomes[] = {
#define XX(name, text) text,
        DLS_OUTCOME_MAP(XX)
#undef XX
    };
    static const char *const flags[] = {
#define XX(name, bit, text) #name,
        DLS_JOB_FLAG_MAP(XX)
#undef XX
    };
    const dls_trace_columns *c = dls_trace_cols(t);
    const dls_trace_info *info = dls_trace_about(t);
    fprintf(out, "%s, %d rows, %d left out, %d changed\n%s", info->epoch, (int)info->rows_read,
            (int)info->rows_skipped, (int)info->rows_changed, info->notes);
    for (size_t i = 0; i < c->n; i++) {
        const struct {
            const char *name;
            const int64_t *column;
            double unit;
        } numbers[] = {{"duration", c->duration_us, 1e6},
                       {"queue", c->queue_us, 1e6},
                       {"deadline", c->deadline_us, 1e6},
                       {"limit", c->limit_us, 1e6},
                       {"estimate", c->estimate_us, 1e6},
                       {"iterations", c->iterations, 1},
                       {"batch", c->batch, 1},
                       {"milli", c->gpus_milli, 1},
                       {"cpu", c->cpu_milli, 1000},
                       {"mib", c->mem_mib, 1},
                       {"nodes", c->nodes, 1},
                       {"priority", c->priority, 1},
                       {"attempts", c->attempts, 1}};
        const char *const names[][2] = {
            {"model", dls_trace_model(t, c->model[i])},
            {"vc", dls_trace_vc(t, c->vc[i])},
            {"types", dls_trace_gpu_types(t, c->gpu_types[i])},
            {"user", c->user ? dls_trace_user(t, c->user[i]) : ""},
            {"class", c->job_class ? dls_trace_class(t, c->job_class[i]) : ""}};
        fprintf(out, "%s: %d GPUs at %.15g", dls_trace_id(t, i), (int)c->gpus[i],
                (double)c->submit_us[i] / 1e6);
        for (size_t k = 0; k < sizeof numbers / sizeof *numbers; k++) {
            if (dls_trace_i64(numbers[k].column, i) != DLS_ABSENT) {
                fprintf(out, " %s=%.15g", numbers[k].name,
                        (double)numbers[k].column[i] / numbers[k].unit);
            }
        }
        for (size_t k = 0; k < sizeof names / sizeof *names; k++) {
            if (*names[k][1]) {
                fprintf(out, " %s=%s", names[k][0], names[k][1]);
            }
        }
        for (int bit = 0; bit < DLS_JOB_FLAG_COUNT; bit++) {
            if (c->flags[i] >> bit & 1) {
                fprintf(out, " %s", flags[bit]);
            }
        }
        fprintf(out, " %s\n", outcomes[c->outcome[i]]);
    }
}

/* The text is of this format (by what is asked for, with NULL by itself), and describes so. */
static inline void reads(const char *text, const char *format, const dls_trace_options *opts,
                         const char *want)
{
    char *got;
    size_t size;
    dls_trace *t = must_parse(text, opts ? format : NULL, opts);
    FILE *out = open_memstream(&got, &size);
    if (format) {
        assert_string_equal(dls_trace_about(t)->format, format);
    }
    describe(t, out);
    fclose(out);
    assert_string_equal(got, want);
    free(got);
    dls_trace_destroy(t);
}

static inline dls_trace *parse_as(const char *text, const char *format)
{
    dls_trace *t = must_parse(text, NULL, NULL);
    assert_string_equal(dls_trace_about(t)->format, format);
    return t;
}

#endif
