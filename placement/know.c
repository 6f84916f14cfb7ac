/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "placement/know.h"

#include <math.h>

bool dls_place_forecast(const dls_request *r, int32_t job, const dls_shape *shape,
                        dls_forecast *out)
{
    if (r->know && r->know->forecast(r->know->user, job, shape, out)) {
        return true;
    }
    out->iteration_s = out->remaining_s = out->link_bps = out->mem_bytes = out->distance = (double)NAN;
    for (size_t i = 0; i < sizeof out->metric / sizeof out->metric[0]; i++) {
        out->metric[i] = (double)NAN;
    }
    return false;
}

const dls_shape *dls_place_candidates(const dls_request *r, size_t *n)
{
    *n = 0;
    return r->know ? r->know->candidates(r->know->user, r->job, n) : NULL;
}
