/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Chooses the fastest compiled training step that this processor can run, or the one that is asked
 * for.
 */
#include "predictor/training/engine.h"

#include <string.h>

const dls_step_engine *dls_step_engine_find(bool f64, const char *isa)
{
    const dls_step_engine *list[3] = {0};
    size_t n = 0;
    if (f64) {
        list[n++] = &dls_step_f64_scalar;
    } else {
#if defined(__x86_64__)
        __builtin_cpu_init();
        if (__builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512dq") &&
            __builtin_cpu_supports("avx512vl") && __builtin_cpu_supports("avx512bw")) {
            list[n++] = &dls_step_f32_avx512;
        }
        if (__builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma")) {
            list[n++] = &dls_step_f32_avx2;
        }
#endif
        list[n++] = &dls_step_f32_scalar;
    }
    for (size_t i = 0; i < n; i++) {
        if (!isa || strcmp(list[i]->isa, isa) == 0) {
            return list[i];
        }
    }
    return NULL;
}
