/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Trains one small network for each kind of kernel (mlp.h) and predicts with them: kernels of one
 * kind are put to their network as one batch.
 */
#include "predictor/baselines/kernel_nets.h"

#include "base/alloc.h"
#include "base/own.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

const char *const dls_learned_names[DLS_LEARNED_COUNT + 1] = {"justus", "habitat", NULL};

bool dls_learned_uses(dls_learned how, dls_kernel_net net)
{
    return how == DLS_LEARNED_JUSTUS || net == DLS_NET_CONV || net == DLS_NET_PRODUCT ||
           net == DLS_NET_PRODUCTS;
}

dls_kernel_nets_options dls_kernel_nets_default(dls_learned how)
{
    dls_kernel_nets_options o = {
        .how = how,
        .width = 64,
        .depth = 3,
        .fit = {.adam = dls_adam_default(), .epochs = 40, .batch = 64, .seed = 42}};
    o.fit.adam.lr = 0.001;
    o.fit.adam.weight_decay = 0;
    return o;
}

void dls_kernel_nets_fini(dls_kernel_nets *nets)
{
    for (int k = 0; nets && k < DLS_KERNEL_NETS; k++) {
        dls_mlp_fini(&nets->net[k]);
    }
}

/* ---- training -------------------------------------------------------------------------------- */

static dls_status judge(const dls_mlp *m, const dls_kernel_rows *r, double *percent, dls_error *err)
{
    *percent = 0;
    if (r->n == 0) {
        return DLS_OK;
    }
    DLS_FREED double *out = NULL;
    DLS_TRY(dls_alloc_array(&out, r->n, sizeof *out, "times of kernels", err));
    DLS_TRY(dls_mlp_run(m, r->x, r->n, out, err));
    for (size_t i = 0; i < r->n; i++) {
        *percent += 100 * fabs(expm1(out[i] - r->y[i])) / (double)r->n;
    }
    return DLS_OK;
}

static dls_status train_one(const dls_kernel_rows rows[DLS_SPLITS], dls_kernel_net net,
                            const dls_kernel_nets_options *o, dls_kernel_nets *nets, dls_error *err)
{
    const dls_kernel_rows *train = &rows[DLS_SPLIT_TRAIN];
    const dls_kernel_rows *val = rows[DLS_SPLIT_VAL].n ? &rows[DLS_SPLIT_VAL] : train;
    dls_kernel_net_report *report = &nets->report[net];
    dls_mlp_fit fit = o->fit;
    double best = 0;
    fit.entity = (uint64_t)net;
    const dls_mlp_shape shape = {dls_kernel_features(net), o->width, o->depth};
    DLS_TRY(dls_mlp_create(shape, &nets->net[net], err));
    dls_mlp_draw(&nets->net[net], fit.seed, fit.entity);
    DLS_TRY(dls_mlp_train(&nets->net[net], &(dls_mlp_rows){train->x, train->y, train->n},
                          &(dls_mlp_rows){val->x, val->y, val->n}, &fit, &best, err));
    for (int s = 0; s < DLS_SPLITS; s++) {
        report->seen[s] = rows[s].seen;
        report->rows[s] = (int64_t)rows[s].n;
        DLS_TRY(judge(&nets->net[net], &rows[s], &report->percent[s], err));
    }
    return DLS_OK;
}

dls_status dls_kernel_nets_train(const dls_kernel_data *data, const dls_kernel_nets_options *o,
                                 dls_kernel_nets *nets, dls_error *err)
{
    int trained = 0;
    *nets = (dls_kernel_nets){.how = o->how};
    snprintf(nets->gpus, sizeof nets->gpus, "%s", data->gpus);
    for (int k = 0; k < DLS_KERNEL_NETS; k++) {
        const dls_kernel_rows *rows = data->rows[k];
        if (dls_learned_uses(o->how, (dls_kernel_net)k) && rows[DLS_SPLIT_TRAIN].n > 0) {
            if (o->begin) {
                o->begin(o->fit.user, (dls_kernel_net)k);
            }
            DLS_TRY(train_one(rows, (dls_kernel_net)k, o, nets, err));
            trained++;
        }
    }
    return trained > 0
               ? DLS_OK
               : dls_fail(err, DLS_EINPUT, dls_learned_names[o->how], "no kernels to train on");
}

/* ---- asking ---------------------------------------------------------------------------------- */

/* Kernels of one kind, described one behind the other. */
typedef struct question {
    double *x;      /* [n][features] */
    double *answer; /* [n] */
    size_t *kernel; /* [n] */
    size_t n;
} question;

static dls_status ask(const dls_mlp *m, const question *q, dls_error *err)
{
    DLS_TRY(dls_mlp_run(m, q->x, q->n, q->answer, err));
    for (size_t i = 0; i < q->n; i++) {
        q->answer[i] = exp(q->answer[i]);
        if (!isfinite(q->answer[i])) {
            return dls_fail(err, DLS_EINPUT, "kernel", "the network's time is not finite");
        }
    }
    return DLS_OK;
}

static dls_status times_of(const dls_kernel_nets *nets, dls_kernel_net net, const dls_workload *w,
                           const dls_hw_gpu *gpu, dls_numeric numeric, double batch, question *q,
                           double *seconds, dls_error *err)
{
    const size_t width = (size_t)dls_kernel_features(net);
    q->n = 0;
    for (size_t i = 0; i < w->n_kernels; i++) {
        if (dls_kernel_net_of(&w->kernel[i]) == net) {
            DLS_TRY(
                dls_kernel_describe(&w->kernel[i], gpu, numeric, batch, q->x + q->n * width, err));
            q->kernel[q->n++] = i;
        }
    }
    DLS_TRY(ask(&nets->net[net], q, err));
    for (size_t i = 0; i < q->n; i++) {
        seconds[q->kernel[i]] = w->kernel[q->kernel[i]].repeats * q->answer[i];
    }
    return DLS_OK;
}

static dls_status update_of(const dls_kernel_nets *nets, const dls_workload *w,
                            const dls_hw_gpu *gpu, dls_numeric numeric, question *q,
                            double *update_s, dls_error *err)
{
    q->n = 1;
    DLS_TRY(dls_update_describe(w, gpu, numeric, q->x, err));
    DLS_TRY(ask(&nets->net[DLS_NET_UPDATE], q, err));
    *update_s = q->answer[0];
    return DLS_OK;
}

static void question_fini(question *q)
{
    DLS_FREE_ALL(q->x, q->answer, q->kernel);
}

dls_status dls_kernel_nets_times(const dls_kernel_nets *nets, const dls_workload *w,
                                 const dls_hw_gpu *gpu, dls_numeric numeric, double batch,
                                 double *seconds, double *update_s, dls_error *err)
{
    if (numeric == DLS_NUMERIC_TF32 || numeric == DLS_NUMERIC_BF16) {
        return dls_fail(err, DLS_EINPUT, "precision", "networks of %s were shown no %s",
                        dls_learned_names[nets->how], dls_numeric_name((int)numeric));
    }
    const size_t n = w->n_kernels + 1;
    DLS_OWN(question_fini)
    question q = {.x = dls_alloc_zero(n, DLS_KERNEL_FEATURES_MAX * sizeof *q.x),
                  .answer = dls_alloc_zero(n, sizeof *q.answer),
                  .kernel = dls_alloc_zero(n, sizeof *q.kernel)};
    if (!q.x || !q.answer || !q.kernel) {
        return dls_nomem(err, "kernels", n * sizeof *q.x);
    }
    memset(seconds, 0, w->n_kernels * sizeof *seconds);
    *update_s = 0;
    for (int k = 0; k < DLS_NET_UPDATE; k++) {
        if (nets->net[k].n_values) {
            DLS_TRY(times_of(nets, (dls_kernel_net)k, w, gpu, numeric, batch, &q, seconds, err));
        }
    }
    return nets->net[DLS_NET_UPDATE].n_values ? update_of(nets, w, gpu, numeric, &q, update_s, err)
                                              : DLS_OK;
}
