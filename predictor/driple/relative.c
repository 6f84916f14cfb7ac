/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Outputs relative to what is known of a question: the step as a factor on a model's, idle shares
 * of it, and the link's peak as a multiple of the mean that its bytes make. The metrics follow from
 * these and so agree with each other, whatever the network says.
 */
#include "predictor/driple/model.h"

#include <math.h>
#include <string.h>

/* Outputs, in the order of the network; the rest of the 12 stay 0. */
enum { STEP, MEM_IDLE, MEM_PEAK, GPU_IDLE, GPU_PEAK, RX_IDLE, RX_PEAK, TX_IDLE, TX_PEAK };

#define MIDDLE                                                                                     \
    0.5 /* of a step that is the model's: outputs above 0 are what a network learns best */
#define PEAK_RANGE 4 /* an output of 1 is a peak of e^4 times the mean */

bool dls_known_ok(const dls_known *k)
{
    return isfinite(k->step_s) && k->step_s > 0 && isfinite(k->link_bytes) && k->link_bytes >= 0;
}

void dls_relative_to_outputs(const double metric[DLS_METRICS], const dls_known *k,
                             double out[DLS_METRICS])
{
    static const struct {
        int metric, idle, peak;
    } resource[] = {{DLS_GPU_MEM_IDLE, MEM_IDLE, MEM_PEAK},
                    {DLS_GPU_IDLE, GPU_IDLE, GPU_PEAK},
                    {DLS_NET_RX_IDLE, RX_IDLE, RX_PEAK},
                    {DLS_NET_TX_IDLE, TX_IDLE, TX_PEAK}};
    const double step_s = metric[DLS_GPU_IDLE] + metric[DLS_GPU_ACTIVE];
    memset(out, 0, DLS_METRICS * sizeof *out);
    out[STEP] = MIDDLE + log(step_s / k->step_s);
    for (int r = 0; r < DLS_METRICS / 3; r++) {
        const double *m = metric + resource[r].metric; /* idle, active, peak */
        const bool link = m >= metric + DLS_NET_RX_IDLE;
        const double times = link && k->link_bytes > 0 ? m[2] * step_s / k->link_bytes : 0;
        out[resource[r].idle] = m[0] + m[1] > 0 ? m[0] / (m[0] + m[1]) : 1;
        out[resource[r].peak] = !link ? m[2] : times > 1 ? log(times) / PEAK_RANGE : 0;
    }
}

static double share(double output)
{
    return fmin(1, fmax(0, output));
}

/* Bursts carry all bytes: at `times` the mean rate they take 1 / times of the step. */
static void link_from(double peak, const dls_known *k, double step_s, double m[3])
{
    const double times = exp(PEAK_RANGE * share(peak));
    m[1] = k->link_bytes > 0 ? step_s / times : 0;
    m[0] = step_s - m[1];
    m[2] = times * k->link_bytes / step_s;
}

static void gpu_from(double idle, double peak, double step_s, double m[3])
{
    m[0] = share(idle) * step_s;
    m[1] = step_s - m[0];
    m[2] = share(peak);
}

void dls_relative_from_outputs(const double out[DLS_METRICS], const dls_known *k,
                               dls_profile *profile)
{
    const double step_s = k->step_s * exp(out[STEP] - MIDDLE);
    double *m = profile->metric;
    gpu_from(out[MEM_IDLE], out[MEM_PEAK], step_s, m + DLS_GPU_MEM_IDLE);
    gpu_from(out[GPU_IDLE], out[GPU_PEAK], step_s, m + DLS_GPU_IDLE);
    link_from(out[RX_PEAK], k, step_s, m + DLS_NET_RX_IDLE);
    link_from(out[TX_PEAK], k, step_s, m + DLS_NET_TX_IDLE);
    profile->iteration_s = step_s;
}

void dls_profile_stretch(dls_profile *profile, double factor)
{
    for (int k = 0; k < DLS_METRICS; k++) {
        const bool peak = k % 3 == DLS_GPU_MEM_PEAK;
        profile->metric[k] *= !peak ? factor : k >= DLS_NET_RX_IDLE ? 1 / factor : 1;
    }
    profile->iteration_s *= factor;
}
