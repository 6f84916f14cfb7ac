/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Leave-one-family-out study of layer time predictions: for each family of models, trains on the
 * profiles of the others and reports the errors on its own.
 */
#include "predictor/baselines/layer_study.h"

#include "base/alloc.h"
#include "base/own.h"
#include "predictor/baselines/justus.h"
#include "predictor/baselines/roofline.h"

#include <math.h>
#include <string.h>

#define FAMILY_LETTERS 5

static bool same_family(const dls_layer_profile *a, const dls_layer_profile *b)
{
    return strncmp(a->w.name, b->w.name, FAMILY_LETTERS) == 0;
}

/* The first profile of another family behind profile i, around the end. */
static size_t next_family(const dls_layer_study_options *o, size_t i)
{
    size_t next = i;
    do {
        next = (next + 1) % o->n;
    } while (next != i && same_family(&o->profile[i], &o->profile[next]));
    return next;
}

static double layer_peak_s(const dls_layer_study_options *o, const dls_layer_profile *p, size_t k)
{
    const dls_roofline r = dls_roofline_of(o->gpu, DLS_NUMERIC_FP32);
    return dls_roofline_compute_s(&r, &p->w.kernel[k], p->batch) +
           dls_roofline_memory_s(&r, &p->w.kernel[k], p->batch);
}

static double sum_peak_s(const dls_layer_study_options *o, const dls_layer_profile *p)
{
    double sum = 0;
    for (size_t k = 0; k < p->w.n_kernels; k++) {
        sum += layer_peak_s(o, p, k);
    }
    return sum;
}

static double measured_s(const dls_layer_profile *p)
{
    double sum = 0;
    for (size_t k = 0; k < p->w.n_kernels; k++) {
        sum += p->seconds[k];
    }
    return sum;
}

/* A family left out: which split each profile is in. */
static dls_split split_of(const dls_layer_study_options *o, size_t out, size_t i)
{
    if (same_family(&o->profile[out], &o->profile[i])) {
        return DLS_SPLIT_TEST;
    }
    return same_family(&o->profile[next_family(o, out)], &o->profile[i]) ? DLS_SPLIT_VAL
                                                                         : DLS_SPLIT_TRAIN;
}

static dls_status collect(const dls_layer_study_options *o, size_t out, dls_kernel_data *data,
                          dls_error *err)
{
    double x[DLS_KERNEL_FEATURES_MAX];
    dls_rng rng = dls_rng_stream(0, DLS_RNG_TRAIN, 0); /* nothing is drawn: all rows are kept */
    for (size_t i = 0; i < o->n; i++) {
        const dls_layer_profile *p = &o->profile[i];
        const dls_split split = split_of(o, out, i);
        for (size_t k = 0; k < p->w.n_kernels; k++) {
            const dls_kernel_net net = dls_kernel_net_of(&p->w.kernel[k]);
            DLS_TRY(
                dls_kernel_describe(&p->w.kernel[k], o->gpu, DLS_NUMERIC_FP32, p->batch, x, err));
            DLS_TRY(dls_kernel_rows_keep(&data->rows[net][split], net, x, p->seconds[k], SIZE_MAX,
                                         &rng, err));
        }
    }
    return DLS_OK;
}

/* The mean logarithm of measured over peak in the profiles that were learned from. */
static double log_fraction(const dls_layer_study_options *o, size_t out)
{
    double sum = 0;
    size_t n = 0;
    for (size_t i = 0; i < o->n; i++) {
        if (split_of(o, out, i) != DLS_SPLIT_TEST) {
            sum += log(measured_s(&o->profile[i]) / sum_peak_s(o, &o->profile[i]));
            n++;
        }
    }
    return sum / (double)n;
}

static dls_status judge(const dls_layer_study_options *o, const dls_kernel_nets *nets,
                        double slower, const dls_layer_profile *p, dls_layer_verdict *v,
                        dls_error *err)
{
    double update_s;
    DLS_FREED double *seconds = NULL;
    DLS_TRY(dls_alloc_array(&seconds, p->w.n_kernels + 1, sizeof *seconds, "layers", err));
    *v = (dls_layer_verdict){.model = p->w.name, .measured_s = measured_s(p)};
    DLS_TRY(dls_justus_step_s(nets, &p->w, o->gpu, DLS_NUMERIC_FP32, p->batch, &v->justus_s, err));
    DLS_TRY(dls_kernel_nets_times(nets, &p->w, o->gpu, DLS_NUMERIC_FP32, p->batch, seconds,
                                  &update_s, err));
    for (size_t k = 0; k < p->w.n_kernels; k++) {
        const double peak_s = slower * layer_peak_s(o, p, k), n = (double)p->w.n_kernels;
        v->roofline_s += peak_s;
        v->justus_layer += fabs(seconds[k] / p->seconds[k] - 1) / n;
        v->roofline_layer += fabs(peak_s / p->seconds[k] - 1) / n;
    }
    return DLS_OK;
}

static dls_status leave_out(const dls_layer_study_options *o, size_t out,
                            dls_layer_verdict *verdict, dls_error *err)
{
    DLS_OWN(dls_kernel_data_fini) dls_kernel_data data = {0};
    DLS_OWN(dls_kernel_nets_fini) dls_kernel_nets nets = {0};
    DLS_TRY(collect(o, out, &data, err));
    DLS_TRY(dls_kernel_nets_train(&data, &o->nets, &nets, err));
    for (size_t i = 0; i < o->n; i++) {
        if (same_family(&o->profile[out], &o->profile[i])) {
            DLS_TRY(judge(o, &nets, exp(log_fraction(o, out)), &o->profile[i], &verdict[i], err));
        }
    }
    return DLS_OK;
}

dls_status dls_layer_study_run(const dls_layer_study_options *o, dls_layer_verdict *verdict,
                               dls_error *err)
{
    const size_t second = o->n ? next_family(o, 0) : 0;
    if (o->n < 3 || second == 0 || next_family(o, second) == 0) {
        return dls_fail(err, DLS_EINPUT, "profiles",
                        "%zu profiles: at least three families of "
                        "models are needed",
                        o->n);
    }
    for (size_t i = 0; i < o->n; i++) {
        if (i > 0 && same_family(&o->profile[i - 1], &o->profile[i])) {
            continue;
        }
        if (o->begin) {
            o->begin(o->user, o->profile[i].w.name);
        }
        DLS_TRY(leave_out(o, i, verdict, err));
    }
    return DLS_OK;
}
