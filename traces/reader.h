/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * What a format file needs besides the public contract: reading from memory and looking at the
 * header line. The contract of builders beyond the public one is in trace_impl.h.
 */
#ifndef DLS_TRACES_READER_H
#define DLS_TRACES_READER_H

#include "dlsim/trace.h"

/* As dls_trace_load, for `len` bytes already in memory (plain or gzip); `path` only names them. */
dls_status dls_trace_parse(const char *path, const void *bytes, size_t len, const char *format,
                           const dls_trace_options *opts, dls_trace **out,
                           dls_error *err) DLS_MUST_CHECK;

/* Global batch size of a job whose file has it per GPU; DLS_ABSENT stays. */
static inline int64_t dls_batch_of_all(int64_t batch_per_gpu, int64_t gpus_milli)
{
    const int64_t gpus = (gpus_milli + 999) / 1000;
    return batch_per_gpu > 0 && gpus > 0 && batch_per_gpu <= INT32_MAX ? batch_per_gpu * gpus
                                                                     : batch_per_gpu;
}

/* What the file holds if it is a known table that is not a job trace, else NULL. */
const char *dls_trace_not_jobs(const dls_trace_source *src);

#endif
