/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * The inside of a trace, shared by its builder and its accessors, and what readers may ask of a
 * builder beyond the public contract.
 */
#ifndef DLS_TRACES_TRACE_IMPL_H
#define DLS_TRACES_TRACE_IMPL_H

#include "base/strdict.h"
#include "dlsim/trace.h"

/* Every column of a trace: XX(NAME, C type, always there). */
#define DLS_TRACE_COL_MAP(XX)                                                                      \
    XX(SUBMIT_US, int64_t, true)                                                                   \
    XX(DURATION_US, int64_t, true)                                                                 \
    XX(GPUS, int32_t, true)                                                                        \
    XX(MODEL, int32_t, true)                                                                       \
    XX(VC, int32_t, true)                                                                          \
    XX(GPU_TYPES, int32_t, true)                                                                   \
    XX(OUTCOME, uint8_t, true)                                                                     \
    XX(FLAGS, uint32_t, true)                                                                      \
    XX(ROW, uint32_t, true)                                                                        \
    XX(ID, int32_t, true)                                                                          \
    XX(GPUS_MILLI, int64_t, false)                                                                 \
    XX(ITERATIONS, int64_t, false)                                                                 \
    XX(BATCH, int64_t, false)                                                                      \
    XX(QUEUE_US, int64_t, false)                                                                   \
    XX(NODES, int64_t, false)                                                                      \
    XX(CPU_MILLI, int64_t, false)                                                                  \
    XX(MEM_MIB, int64_t, false)                                                                    \
    XX(PRIORITY, int64_t, false)                                                                   \
    XX(DEADLINE_US, int64_t, false)                                                                \
    XX(LIMIT_US, int64_t, false)                                                                   \
    XX(ESTIMATE_US, int64_t, false)                                                                \
    XX(MIN_GPUS, int64_t, false)                                                                   \
    XX(MAX_GPUS, int64_t, false)                                                                   \
    XX(ATTEMPTS, int64_t, false)                                                                   \
    XX(USER, int32_t, false)                                                                       \
    XX(CLASS, int32_t, false)

typedef enum dls_trace_col {
#define XX(name, type, always) DLS_COL_##name,
    DLS_TRACE_COL_MAP(XX) DLS_COL_COUNT
#undef XX
} dls_trace_col;

struct dls_trace {
    dls_trace_columns cols; /* views into data, filled by finish */
    void *data[DLS_COL_COUNT];
    size_t n, cap;
    dls_strdict ids, models, vcs, users, classes, gpu_types;
    dls_trace_info info;
    char *assigned; /* text of the table that gave jobs their models, NULL: none */
};

/* True when options.max_jobs jobs are in: a reader stops then. */
bool dls_trace_builder_full(const dls_trace_builder *b);
/* The options that the builder was made with. */
const dls_trace_options *dls_trace_builder_options(const dls_trace_builder *b);
/* Count a remark about a row that changes nothing in it. */
void dls_trace_builder_noted(dls_trace_builder *b, const char *reason);
/* Times were added as microseconds since 1970-01-01 00:00:00 of some clock: finish moves zero to
 * the first submission and writes info.epoch as its date followed by `zone` (a literal). */
void dls_trace_builder_rebase(dls_trace_builder *b, const char *zone);

#endif
