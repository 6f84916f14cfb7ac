/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * The inside of a trace, shared by its builder and its accessors, and what readers may ask of a
 * builder beyond the public contract.
 */
#ifndef DLS_TRACES_TRACE_IMPL_H
#define DLS_TRACES_TRACE_IMPL_H

#include "base/strdict.h"
#include "dlsim/trace.h"

/* A batch, thousandths of a core, MiB: more is a mistake in the file; times GPUs it would overflow. */
#define DLS_AMOUNT_MAX (INT64_MAX / DLS_GPUS_MAX)

/* The optional numbers of a job: XX(COLUMN, member of dls_job_rec and dls_trace_columns, TIME,
 * COUNT or AMOUNT, what it is). */
#define DLS_TRACE_NUMBER_MAP(XX)                                                                   \
    XX(ITERATIONS, iterations, COUNT, "the number of iterations")                                  \
    XX(BATCH, batch, AMOUNT, "the batch size")                                                     \
    XX(QUEUE_US, queue_us, TIME, "the recorded wait")                                              \
    XX(NODES, nodes, COUNT, "the number of nodes")                                                 \
    XX(CPU_MILLI, cpu_milli, AMOUNT, "the CPU request")                                            \
    XX(MEM_MIB, mem_mib, AMOUNT, "the memory request")                                             \
    XX(PRIORITY, priority, COUNT, "the priority")                                                  \
    XX(DEADLINE_US, deadline_us, TIME, "the deadline")                                             \
    XX(LIMIT_US, limit_us, TIME, "the run time limit")                                             \
    XX(ESTIMATE_US, estimate_us, TIME, "the estimate")                                             \
    XX(MIN_GPUS, min_gpus, COUNT, "the least number of GPUs")                                      \
    XX(MAX_GPUS, max_gpus, COUNT, "the greatest number of GPUs")                                   \
    XX(ATTEMPTS, attempts, COUNT, "the number of attempts")

/* Its texts: XX(COLUMN, member of both, dictionary, how dls_trace_<one> is called). */
#define DLS_TRACE_TEXT_MAP(XX)                                                                     \
    XX(MODEL, model, models, model)                                                                \
    XX(VC, vc, vcs, vc)                                                                            \
    XX(GPU_TYPES, gpu_types, gpu_types, gpu_types)                                                 \
    XX(USER, user, users, user)                                                                    \
    XX(CLASS, job_class, classes, class)

/* Every column of a trace that readers see: XX(COLUMN, C type, always there, member of
 * dls_trace_columns); and with the ids, of jobs and of what they are copies of, all. */
#define DLS_TRACE_VIEW_MAP(XX)                                                                     \
    XX(SUBMIT_US, int64_t, true, submit_us)                                                        \
    XX(DURATION_US, int64_t, true, duration_us)                                                    \
    XX(GPUS, int32_t, true, gpus)                                                                  \
    XX(MODEL, int32_t, true, model)                                                                \
    XX(VC, int32_t, true, vc)                                                                      \
    XX(GPU_TYPES, int32_t, true, gpu_types)                                                        \
    XX(OUTCOME, uint8_t, true, outcome)                                                            \
    XX(FLAGS, uint32_t, true, flags)                                                               \
    XX(ROW, uint32_t, true, row)                                                                   \
    XX(GPUS_MILLI, int64_t, false, gpus_milli)                                                     \
    XX(ITERATIONS, int64_t, false, iterations)                                                     \
    XX(BATCH, int64_t, false, batch)                                                               \
    XX(QUEUE_US, int64_t, false, queue_us)                                                         \
    XX(NODES, int64_t, false, nodes)                                                               \
    XX(CPU_MILLI, int64_t, false, cpu_milli)                                                       \
    XX(MEM_MIB, int64_t, false, mem_mib)                                                           \
    XX(PRIORITY, int64_t, false, priority)                                                         \
    XX(DEADLINE_US, int64_t, false, deadline_us)                                                   \
    XX(LIMIT_US, int64_t, false, limit_us)                                                         \
    XX(ESTIMATE_US, int64_t, false, estimate_us)                                                   \
    XX(MIN_GPUS, int64_t, false, min_gpus)                                                         \
    XX(MAX_GPUS, int64_t, false, max_gpus)                                                         \
    XX(ATTEMPTS, int64_t, false, attempts)                                                         \
    XX(USER, int32_t, false, user)                                                                 \
    XX(CLASS, int32_t, false, job_class)
#define DLS_TRACE_COL_MAP(XX) DLS_TRACE_VIEW_MAP(XX) XX(ID, int32_t, true, id) XX(ORIGIN, int32_t, false, origin)

typedef enum dls_trace_col {
#define XX(name, type, always, member) DLS_COL_##name,
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

/* A job as it was added, but for what the builder mended; strings are the trace's. */
void dls_trace_job(const dls_trace *trace, size_t job, dls_job_rec *rec);

/* True when options.max_jobs jobs are in: a reader stops then. */
bool dls_trace_builder_full(const dls_trace_builder *b);
/* The options that the builder was made with. */
const dls_trace_options *dls_trace_builder_options(const dls_trace_builder *b);
/* The end of a builder in any case: finished if status is OK, else destroyed. Returns status, or
 * what finish returns. */
dls_status dls_trace_builder_end(dls_trace_builder *b, dls_status status, dls_trace **out,
                                 dls_error *err) DLS_MUST_CHECK;
/* The line that is read from now on: notes tell the first that they count. */
void dls_trace_builder_line(dls_trace_builder *b, size_t line);
/* id, or "ID:ROW" if a job has it already: another run of it; out is where that is made. */
const char *dls_trace_builder_new_id(const dls_trace_builder *b, const char *id, char *out,
                                     size_t size);
/* The job that was added last is a copy of that of this id, which was added before. */
dls_status dls_trace_builder_copied(dls_trace_builder *b, const char *id, dls_error *err) DLS_MUST_CHECK;
/* Count a remark about a row that changes nothing in it. */
void dls_trace_builder_noted(dls_trace_builder *b, const char *reason);
/* Times were added as microseconds since 1970-01-01 00:00:00 of some clock: finish moves zero to
 * the first submission and writes info.epoch as its date followed by `zone` (a literal). */
void dls_trace_builder_rebase(dls_trace_builder *b, const char *zone);

#endif
