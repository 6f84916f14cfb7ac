/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Shockwave's rules by which batch sizes change (gavel/batches.h).
 */
#include "gavel/batches.h"

#include "base/alloc.h"
#include "base/suggest.h"

#include <math.h>
#include <string.h>

enum { RESNET18, RESNET50, TRANSFORMER, LM, RECOMMENDATION, CYCLEGAN, A3C, N_MODELS };

static const struct model {
    const char *name;
    int32_t samples, smallest, largest; /* of the data set; batches, 0: does not change */
} models[N_MODELS] = {
    [RESNET18] = {"ResNet-18", 50000, 16, 256},
    [RESNET50] = {"ResNet-50", 100000, 16, 128},
    [TRANSFORMER] = {"Transformer", 10000, 16, 128},
    [LM] = {"LM", 59675, 5, 80},
    [RECOMMENDATION] = {"Recommendation", 117907, 512, 8192},
    [CYCLEGAN] = {"CycleGAN", 6287, 0, 0},
    [A3C] = {"A3C", 4, 0, 0},
};

/* Gradient noise: the epochs, counted from 0, from which on a batch is trained with. */
static const struct noise {
    int32_t model, gpus, first;
    struct {
        int32_t epoch, batch;
    } change[4];
} noises[] = {
    {RESNET18, 1, 16, {{31, 32}, {41, 64}, {51, 128}, {71, 256}}},
    {RESNET18, 1, 32, {{21, 64}, {31, 128}, {51, 256}}},
    {RESNET18, 1, 64, {{11, 128}, {31, 256}}},
    {RESNET18, 1, 128, {{11, 256}}},
    {RESNET18, 2, 16, {{21, 32}, {31, 64}, {91, 128}, {111, 256}}},
    {RESNET18, 2, 32, {{11, 64}, {21, 128}, {41, 256}}},
    {RESNET18, 2, 64, {{21, 128}, {41, 256}}},
    {RESNET18, 2, 128, {{41, 256}}},
    {RESNET18, 4, 16, {{11, 32}, {21, 64}, {81, 128}, {91, 256}}},
    {RESNET18, 4, 32, {{21, 64}, {31, 128}, {61, 256}}},
    {RESNET18, 4, 64, {{11, 128}, {61, 256}}},
    {RESNET18, 4, 128, {{11, 256}}},
    {RESNET50, 1, 64, {{101, 128}}},
    {RESNET50, 2, 32, {{101, 64}, {111, 128}}},
    {RESNET50, 2, 64, {{81, 128}}},
    {RESNET50, 4, 32, {{131, 64}, {221, 128}}},
    {RESNET50, 4, 64, {{191, 128}}},
    {LM, 1, 5, {{31, 10}, {41, 20}, {61, 40}, {71, 80}}},
    {LM, 1, 10, {{11, 20}, {21, 40}, {41, 80}}},
    {LM, 1, 20, {{11, 40}, {41, 80}}},
    {LM, 1, 40, {{11, 80}}},
    {LM, 2, 5, {{31, 10}, {51, 20}, {61, 40}, {71, 80}}},
    {LM, 2, 10, {{11, 20}, {31, 40}, {41, 80}}},
    {LM, 2, 20, {{31, 40}, {41, 80}}},
    {LM, 2, 40, {{11, 80}}},
    {LM, 4, 5, {{11, 10}, {31, 20}, {71, 40}, {91, 80}}},
    {LM, 4, 10, {{11, 20}, {31, 40}, {61, 80}}},
    {LM, 4, 20, {{11, 40}, {61, 80}}},
    {LM, 4, 40, {{61, 80}}},
    {RECOMMENDATION, 1, 512, {{21, 1024}, {41, 2048}, {71, 4096}, {91, 8192}}},
    {RECOMMENDATION, 1, 1024, {{21, 2048}, {51, 4096}, {91, 8192}}},
    {RECOMMENDATION, 1, 2048, {{21, 4096}, {41, 8192}}},
    {RECOMMENDATION, 1, 4096, {{41, 8192}}},
};

static const struct noise *noise_of(int32_t model, int32_t gpus, int32_t first)
{
    for (size_t i = 0; i < sizeof noises / sizeof *noises; i++) {
        const struct noise *n = &noises[i];
        if (n->model == model && n->gpus == gpus && n->first == first) {
            return n;
        }
    }
    return NULL;
}

static int32_t noise_batch(const struct noise *n, int32_t first, int64_t epoch)
{
    int32_t batch = first;
    for (int k = 0; n && k < 4 && n->change[k].batch && epoch >= n->change[k].epoch; k++) {
        batch = n->change[k].batch;
    }
    return batch;
}

/* The original divides in doubles. */
static int64_t up(int64_t a, int64_t b)
{
    return (int64_t)ceil((double)a / (double)b);
}

int32_t dls_gv_samples(const dls_gv_profile *p)
{
    return models[p->model].samples;
}

int64_t dls_gv_epoch_steps(const dls_gv_profile *p, int32_t batch)
{
    return up(models[p->model].samples, batch);
}

/* Accordion: in a critical regime the small batch is kept. The profile differs from what runs. */
static bool is_critical(const dls_gv_profile *p, int64_t e, bool profiled)
{
    const int32_t b = p->first;
    switch (p->model) {
    case LM:
        return e < 10;
    case RECOMMENDATION:
        return e < (b == 512 || b == 1024 ? 30
                    : b == 2048           ? 40
                                          : 10) ||
               (profiled && ((e >= 60 && e < 70) || (e >= 80 && e < 90)));
    case RESNET50:
        return e % 30 < 10 && (!profiled || e < 600);
    case RESNET18:
        return e < (b == 256 ? 20 : 10) || (e >= 150 && e < 160) || (e >= 250 && e < 260);
    default:
        return false;
    }
}

/* ---- profiles -------------------------------------------------------------------------------- */

static void fill_batches(dls_gv_profile *p, int32_t gpus)
{
    const struct noise *n = noise_of(p->model, gpus, p->first);
    const bool adapts = p->model < CYCLEGAN && p->model != TRANSFORMER;
    for (int32_t e = 0; e < p->epochs; e++) {
        p->epoch_batch[e] = p->first;
        if (adapts && p->mode == DLS_GV_ACCORDION && !is_critical(p, e, true) &&
            (double)e > (double)p->epochs * 0.3) {
            p->epoch_batch[e] = models[p->model].largest;
        } else if (adapts && p->mode == DLS_GV_NOISE) {
            p->epoch_batch[e] = noise_batch(n, p->first, e);
        }
    }
    /* As published: of a job that outlasts its second change the last epoch has the first batch. */
    if (adapts && p->mode == DLS_GV_NOISE && n && n->change[1].batch &&
        p->epochs > n->change[1].epoch) {
        p->epoch_batch[p->epochs - 1] = p->first;
    }
}

static dls_status fill_times(dls_gv *g, int32_t job, dls_error *err)
{
    dls_gv_profile *p = g->job[job].profile;
    const struct model *m = &models[p->model];
    for (int32_t e = 0; e < p->epochs; e++) {
        const int32_t batch = p->epoch_batch[e];
        const int32_t key = dls_gv_key(&g->speeds, m->name, batch, g->job[job].gpus);
        const double speed =
            key < 0 ? -1 : g->speeds.alone[2 * g->speeds.key.n + (size_t)key]; /* v100 */
        if (!(speed > 0)) {
            return dls_fail(err, DLS_EINPUT, NULL,
                            "the table has no speed of %s with a batch of %d on %d v100, which job "
                            "%d will come to",
                            m->name, (int)batch, (int)g->job[job].gpus, (int)job);
        }
        p->epoch_s[e] = (double)m->samples / batch / speed;
        p->exclusive_s += p->epoch_s[e];
    }
    return DLS_OK;
}

dls_status dls_gv_profile_create(dls_gv *g, int32_t job, const char *model, int64_t batch,
                                 const char *mode, dls_error *err)
{
    dls_gv_job *j = &g->job[job];
    const int32_t of = (int32_t)DLS_NAMED(models, model);
    if (of == N_MODELS || batch < 1 || batch > 1 << 24) {
        return dls_fail(
            err, DLS_EINPUT, NULL,
            "job %d: the fork of Shockwave has no rules for '%.60s' with a batch of %lld", (int)job,
            model, (long long)batch);
    }
    dls_gv_profile *p = j->profile = dls_alloc_zero(1, sizeof *p);
    if (!p) {
        return dls_nomem(err, "profile", sizeof *p);
    }
    p->model = of;
    p->first = p->batch = (int32_t)batch;
    p->mode = strcmp(mode, "accordion") == 0 ? DLS_GV_ACCORDION
              : strcmp(mode, "gns") == 0     ? DLS_GV_NOISE
                                             : DLS_GV_STATIC;
    const int64_t epochs = up(j->total, dls_gv_epoch_steps(p, p->first));
    if (epochs > 10000000) {
        return dls_fail(err, DLS_EINPUT, NULL, "job %d has %lld epochs", (int)job,
                        (long long)epochs);
    }
    p->epochs = (int32_t)epochs;
    DLS_TRY(DLS_ALLOC_ALL("epochs", err, DLS_ARRAY(p->epoch_batch, (size_t)epochs),
                          DLS_ARRAY(p->epoch_s, (size_t)epochs)));
    fill_batches(p, j->gpus);
    return fill_times(g, job, err);
}

void dls_gv_profile_destroy(dls_gv_profile *p)
{
    if (p) {
        DLS_FREE_ALL(p->epoch_batch, p->epoch_s, p);
    }
}

int64_t dls_gv_patience_s(const dls_gv_profile *p)
{
    return (int64_t)((double)(int64_t)p->exclusive_s * 1.5);
}

/* ---- while it runs --------------------------------------------------------------------------- */

void dls_gv_wish(dls_gv_job *j)
{
    dls_gv_profile *p = j->profile;
    const struct model *m = &models[p->model];
    const int64_t e = up(j->done, dls_gv_epoch_steps(p, p->batch));
    if (p->mode == DLS_GV_NOISE) {
        const struct noise *n = noise_of(p->model, j->gpus, p->first);
        if ((noise_batch(n, p->first, e + 1) > p->batch ||
             noise_batch(n, p->first, e) > p->batch) &&
            p->batch != m->largest) {
            p->wish = DLS_GV_BIGGER;
        }
    } else if (p->mode == DLS_GV_ACCORDION && p->model != TRANSFORMER && m->largest) {
        const bool critical = is_critical(p, e, false);
        if (p->batch == p->first && !critical) {
            p->wish = p->batch != m->largest ? DLS_GV_BIGGER : p->wish;
        } else if (p->batch != p->first && critical && p->batch != m->smallest) {
            p->wish = DLS_GV_SMALLER;
        }
    }
}

void dls_gv_rescale(dls_gv *g, int32_t job)
{
    dls_gv_job *j = &g->job[job];
    dls_gv_profile *p = j->profile;
    const struct model *m = &models[p->model];
    const dls_gv_wished wish = p->wish;
    p->wish = DLS_GV_SAME;
    if (wish == DLS_GV_SAME || (p->model != TRANSFORMER && p->first == m->largest)) {
        return;
    }
    const int32_t batch = p->mode == DLS_GV_NOISE ? 2 * p->batch
                          : wish == DLS_GV_BIGGER ? m->largest
                                                  : p->first;
    const int32_t key = dls_gv_key(&g->speeds, m->name, batch, j->gpus);
    if (key < 0) {
        return;
    }
    const double growth = (double)batch / p->batch;
    const int64_t old_steps = dls_gv_epoch_steps(p, p->batch), steps = dls_gv_epoch_steps(p, batch);
    const int64_t epochs = up(j->total, old_steps);
    int64_t total = (int64_t)ceil((double)j->total * (1 / growth));
    if (up(total, steps) != epochs) {
        total = steps * epochs;
    }
    j->total = total;
    j->done = up(j->done, old_steps) * steps;
    p->batch = batch;
    j->key = key;
}
