/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Scores predictions against published measurements: which points belong to which group, and the
 * errors of the operator model and of every baseline in each group.
 */
#include "predictor/baselines/validate.h"

#include "predictor/baselines/daydream.h"
#include "predictor/baselines/habitat.h"
#include "predictor/baselines/paleo.h"
#include "workload/operator/calibrate.h"

#include <math.h>
#include <string.h>

static bool is(const char *a, const char *b)
{
    return strcmp(a, b) == 0;
}

static void add(dls_score *s, const dls_pointset *set, size_t i, double predicted_s)
{
    const double off = predicted_s / (set->point[i].step_ms / 1e3) - 1;
    s->mean = (s->mean * (double)s->n + fabs(off)) / (double)(s->n + 1);
    if (s->n == 0 || fabs(off) > fabs(s->worst)) {
        s->worst = off;
        s->worst_idx = i;
    }
    s->n++;
}

/* ---- what the rows hold ---------------------------------------------------------------------- */

/* A GPU with fitted factors for the precision of the point; K80's one point makes it none. */
static bool fitted(const dls_point *p)
{
    switch (p->numeric) {
    case DLS_NUMERIC_FP32:
        return is(p->gpu, "P100") || is(p->gpu, "V100") || is(p->gpu, "RTX2080TI");
    case DLS_NUMERIC_TF32:
        return is(p->gpu, "A100-PCIE");
    case DLS_NUMERIC_FP16:
        return is(p->gpu, "A100-PCIE") || is(p->gpu, "V100") || is(p->gpu, "RTX2080TI");
    case DLS_NUMERIC_BF16:
    case DLS_NUMERIC_COUNT:
        break;
    }
    return false;
}

static bool tuned_one(const dls_point *p)
{
    return p->n_gpus == 1 && dls_point_places[p->source].tuned;
}

#define FROM(source) (1u << DLS_POINT_##source)
#define TUNED 0
#define FP32 (1u << DLS_NUMERIC_FP32)
#define TF32 (1u << DLS_NUMERIC_TF32)
#define UNITS (~FP32) /* of matrices */

/* Points that belong together; sources 0: tuned benchmarks; numerics 0, model NULL: all. */
typedef struct group {
    unsigned sources, numerics;
    enum { ANY, ONE, SEVERAL } gpus;
    enum { EITHER, FITTED, LEFT_OUT } factors; /* of the GPU */
    const char *model;
} group;

static bool holds(const group *g, const dls_point *p)
{
    const bool from = g->sources ? g->sources >> p->source & 1u : dls_point_places[p->source].tuned;
    return from && (!g->numerics || g->numerics >> p->numeric & 1u) &&
           (g->gpus == ANY || (g->gpus == ONE) == (p->n_gpus == 1)) &&
           (g->factors == EITHER || (g->factors == FITTED) == fitted(p)) &&
           (!g->model || is(g->model, p->model));
}

typedef struct question {
    const char *name;
    group group;
    bool measured_one; /* the step of one GPU is given where it was measured */
    double target;
} question;

#define ONE_FP32 TUNED, FP32, ONE, FITTED, NULL
#define ONE_NODE FROM(TFB) | FROM(GCE) | FROM(LAM) | FROM(NVR), .gpus = SEVERAL
#define ROW(name, measured_one, target, ...)                                                       \
    {                                                                                              \
        name, {__VA_ARGS__}, measured_one, target                                                  \
    }
static const question questions[] = {
    ROW("one GPU, fp32, tuned benchmarks", false, 0.08, ONE_FP32),
    ROW("one GPU, fp16 and tf32", false, 0.15, TUNED, UNITS, ONE, FITTED, NULL),
    ROW("- tf32 alone", false, 0, TUNED, TF32, ONE, FITTED, NULL),
    ROW("one GPU, GPUs without own factors (K80: one point)", false, 0.10, TUNED, 0, ONE, LEFT_OUT,
        NULL),
    ROW("- fp32", false, 0, TUNED, FP32, ONE, LEFT_OUT, NULL),
    ROW("- fp16 and tf32", false, 0, TUNED, UNITS, ONE, LEFT_OUT, NULL),
    ROW("one node, all-reduce, step of one GPU predicted", false, 0.10, ONE_NODE),
    ROW("one node, all-reduce, step of one GPU measured", true, 0, ONE_NODE),
    ROW("parameter servers, 60-job mix, step of one GPU measured", true, 0.15, FROM(TIR),
        .gpus = SEVERAL),
    ROW("parameter servers, 60-job mix, step of one GPU predicted", false, 0, FROM(TIR),
        .gpus = SEVERAL),
    ROW("several nodes, K80 to 64 GPUs, step of one GPU measured", true, 0.15, FROM(EC2),
        .gpus = SEVERAL),
    ROW("several nodes, A100 to 64 GPUs, cluster calibrated", true, 0.15, FROM(EFL),
        .gpus = SEVERAL),
    ROW("host-bound, BERT-base, floor from the smallest batch", false, 0, FROM(SIA),
        .model = "bert_base"),
    ROW("host-bound, ResNet-18, floor from the smallest batch", false, 0, FROM(SIA),
        .model = "resnet18_cifar"),
    ROW("one GPU, PyTorch of 2017-2019, batch 16", false, 0, FROM(U39), .model = NULL),
};
static const group one_fp32 = {ONE_FP32}, one_node = {ONE_NODE};

static double predict(const dls_pointset *set, size_t i, const dls_opmodel *model,
                      bool measured_one)
{
    double one_s = measured_one && set->point[i].n_gpus > 1 ? dls_point_measured_one_s(set, i) : 0;
    if (!(one_s > 0)) {
        one_s = dls_point_one_s(set, i, model);
    }
    return dls_point_step_s(set, i, model, one_s);
}

void dls_validate_rows(const dls_pointset *set, const dls_opmodel *model,
                       dls_score_row rows[DLS_SCORE_ROWS], size_t *n)
{
    *n = sizeof questions / sizeof questions[0];
    for (size_t k = 0; k < *n; k++) {
        const question *q = &questions[k];
        rows[k] = (dls_score_row){.name = q->name, .target = q->target};
        for (size_t i = 0; i < set->n; i++) {
            if (holds(&q->group, &set->point[i])) {
                add(set->point[i].role == DLS_POINT_JUDGE ? &rows[k].judged : &rows[k].calibrated,
                    set, i, predict(set, i, model, q->measured_one));
            }
        }
    }
}

/* ---- one GPU left out at a time -------------------------------------------------------------- */

dls_status dls_validate_left_out(const dls_pointset *set, const dls_sized_table *sized,
                                 dls_score_row rows[DLS_SCORE_ROWS], size_t *n, dls_error *err)
{
    static const struct {
        const char *gpu, *name;
    } gpus[] = {{"P100", "fp32, P100 left out of the fit"},
                {"V100", "fp32, V100 left out of the fit"},
                {"RTX2080TI", "fp32, RTX2080TI left out of the fit"}};
    *n = sizeof gpus / sizeof gpus[0];
    for (size_t k = 0; k < *n; k++) {
        dls_opmodel model;
        rows[k] = (dls_score_row){.name = gpus[k].name};
        DLS_TRY(dls_calibrate(set, gpus[k].gpu, sized, &model, err));
        for (size_t i = 0; i < set->n; i++) {
            const dls_point *p = &set->point[i];
            if (holds(&one_fp32, p) && is(p->gpu, gpus[k].gpu)) {
                add(&rows[k].judged, set, i, dls_point_one_s(set, i, &model));
            }
        }
    }
    return DLS_OK;
}

/* ---- baselines ------------------------------------------------------------------------------- */

static bool compared(const dls_point *p, bool fp32)
{
    return tuned_one(p) && p->role == DLS_POINT_JUDGE && !is(p->gpu, "K80") &&
           (p->numeric == DLS_NUMERIC_FP32) == fp32;
}

static void against_paleo(const dls_pointset *set, const dls_opmodel *model, const dls_paleo *paleo,
                          bool fp32, dls_versus *row)
{
    for (size_t i = 0; i < set->n; i++) {
        const dls_point *p = &set->point[i];
        if (compared(p, fp32)) {
            add(&row->model, set, i, dls_point_one_s(set, i, model));
            add(&row->other, set, i,
                dls_paleo_step_s(paleo, set->of[i], set->gpu[i], p->numeric, p->batch));
        }
    }
}

/* Benchmarks choose the batch by the GPU's memory; per sample, steps of large batches compare. */
static void against_habitat(const dls_pointset *set, const dls_opmodel *model, bool fp32,
                            dls_versus *row)
{
    for (size_t i = 0; i < set->n; i++) {
        const dls_point *to = &set->point[i];
        if (!compared(to, fp32)) {
            continue;
        }
        for (size_t k = 0; k < set->n; k++) {
            const dls_point *from = &set->point[k];
            if (!tuned_one(from) || from->numeric != to->numeric || set->of[k] != set->of[i] ||
                is(from->gpu, to->gpu) || is(from->gpu, "K80")) {
                continue;
            }
            const double measured_s = from->step_ms / 1e3 * to->batch / from->batch;
            add(&row->model, set, i, dls_point_one_s(set, i, model));
            add(&row->other, set, i,
                dls_habitat_step_s(set->of[i], set->gpu[k], set->gpu[i], to->numeric, to->batch,
                                   measured_s));
        }
    }
}

/* Given the measured step of one GPU, that of several in its node. */
static dls_status against_daydream(const dls_pointset *set, const dls_opmodel *model,
                                   dls_versus *row, dls_error *err)
{
    for (size_t i = 0; i < set->n; i++) {
        const dls_point *p = &set->point[i];
        const double one_s = dls_point_measured_one_s(set, i);
        const dls_hw_link *link;
        dls_daydream d;
        double step_s = 0;
        if (!holds(&one_node, p) || p->role != DLS_POINT_JUDGE || !(one_s > 0)) {
            continue;
        }
        DLS_TRY(dls_hardware_link(set->hw, set->gpu[i]->link, &link, err));
        DLS_TRY(
            dls_daydream_profile(set->of[i], set->gpu[i], p->numeric, p->batch, one_s, &d, err));
        dls_daydream_distribute(&d, p->n_gpus, link);
        const dls_status status = dls_daydream_replay(&d, &step_s, err);
        dls_daydream_fini(&d);
        DLS_TRY(status);
        add(&row->model, set, i, dls_point_step_s(set, i, model, one_s));
        add(&row->other, set, i, step_s);
    }
    return DLS_OK;
}

/* Given the measured fp32 step of a GPU with matrix units, per sample, the fp16 one. */
static dls_status against_daydream_amp(const dls_pointset *set, const dls_opmodel *model,
                                       dls_versus *row, dls_error *err)
{
    for (size_t i = 0; i < set->n; i++) {
        const dls_point *to = &set->point[i];
        for (size_t k = 0; k < set->n; k++) {
            const dls_point *from = &set->point[k];
            dls_daydream d;
            double step_s = 0;
            if (!compared(to, false) || to->numeric != DLS_NUMERIC_FP16 || !tuned_one(from) ||
                from->numeric != DLS_NUMERIC_FP32 || set->of[k] != set->of[i] ||
                !is(from->gpu, to->gpu)) {
                continue;
            }
            DLS_TRY(dls_daydream_profile(set->of[i], set->gpu[i], DLS_NUMERIC_FP32, to->batch,
                                         from->step_ms / 1e3 * to->batch / from->batch, &d, err));
            dls_daydream_mixed_precision(&d);
            const dls_status status = dls_daydream_replay(&d, &step_s, err);
            dls_daydream_fini(&d);
            DLS_TRY(status);
            add(&row->model, set, i, dls_point_one_s(set, i, model));
            add(&row->other, set, i, step_s);
        }
    }
    return DLS_OK;
}

dls_status dls_validate_versus(const dls_pointset *set, const dls_opmodel *model,
                               dls_versus rows[DLS_SCORE_ROWS], size_t *n, dls_error *err)
{
    dls_paleo paleo;
    DLS_TRY(dls_paleo_calibrate(set, &paleo, err));
    rows[0] = (dls_versus){.name = "fp32", .baseline = "Paleo", .target_ratio = 0.4};
    rows[1] = (dls_versus){.name = "fp16 and tf32", .baseline = "Paleo", .target_ratio = 0.4};
    rows[2] = (dls_versus){.name = "fp32", .baseline = "Habitat's scaling"};
    rows[3] = (dls_versus){.name = "fp16 and tf32", .baseline = "Habitat's scaling"};
    for (size_t k = 0; k < 2; k++) {
        against_paleo(set, model, &paleo, k == 0, &rows[k]);
        against_habitat(set, model, k == 0, &rows[2 + k]);
    }
    rows[4] = (dls_versus){.name = "one node, step of one GPU measured", .baseline = "Daydream"};
    rows[5] = (dls_versus){.name = "fp16; Daydream from fp32, measured", .baseline = "Daydream"};
    DLS_TRY(against_daydream(set, model, &rows[4], err));
    DLS_TRY(against_daydream_amp(set, model, &rows[5], err));
    *n = 6;
    return DLS_OK;
}
