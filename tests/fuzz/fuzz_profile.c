/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Any bytes as what a profiler wrote: an error, or a recording in the order of time that can be
 * analysed.
 */
#include "base/alloc.h"
#include "memory_file.h"
#include "predictor/measure/profiler.h"

#include <stdlib.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    memory_file_put(0, data, size);
    dls_recording r = {0};
    dls_error err = {0};
    const dls_status status = dls_recording_of_profile(memory_file_path[0], 0.01, &r, &err);
    if (status != DLS_OK && !err.msg[0]) {
        abort();
    }
    for (size_t i = 1; i < r.n && status == DLS_OK; i++) {
        if (r.time_ns[i] < r.time_ns[i - 1]) {
            abort();
        }
    }
    for (size_t i = 0; i < r.n_columns && status == DLS_OK && r.n > 1; i++) {
        double *x = NULL;
        size_t n = 0;
        if (r.time_ns[r.n - 1] - r.time_ns[0] < INT64_C(1000000000) &&
            dls_recording_series(&r, i, 0.01, &x, &n, NULL) == DLS_OK) {
            dls_free(x);
        }
    }
    dls_recording_fini(&r);
    return 0;
}
