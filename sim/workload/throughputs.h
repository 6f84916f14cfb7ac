/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Throughputs as ElasticFlow (ASPLOS 2023) publishes them: a folder with
 * throughputs_<GPU>/<model>.csv, each with the columns global_batch_size and a number of GPUs each;
 * iterations per second, 0 or nan where nothing was measured.
 */
#ifndef DLS_WORKLOAD_THROUGHPUTS_H
#define DLS_WORKLOAD_THROUGHPUTS_H

#include "dlsim/error.h"

#include <stdbool.h>
#include <stdint.h>

typedef struct dls_throughput {
    const char *gpu, *model; /* as the files are called; borrowed for the call */
    int64_t batch;           /* global, >= gpus */
    int32_t gpus;            /* >= 1 */
    double per_s;            /* iterations per second, > 0 */
} dls_throughput;

typedef dls_status (*dls_throughput_fn)(void *user, const dls_throughput *row, dls_error *err);

/* Every measured throughput, files in order of their names. *found becomes true if the folder has
 * such files; a path that is no folder has none. Errors: EINPUT (file:line:column), those of
 * `each`. */
dls_status dls_throughputs_read(const char *path, dls_throughput_fn each, void *user, bool *found,
                                dls_error *err) DLS_MUST_CHECK;

#endif
