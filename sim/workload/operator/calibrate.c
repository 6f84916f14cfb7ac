/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Fits the constants of the operator model to the calibrating points, stage by stage: kernels, GPU
 * factors, hosts, exchange (fit.h).
 */
#include "workload/operator/calibrate.h"

#include "base/alloc.h"
#include "workload/operator/fit.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#define RESIDUAL_SCALE 0.1
#define ASSUMED_NVSWITCH_BPS 50e9 /* the points do not tell: all of it hides */
#define ASSUMED_K80_BPS 5e9

/* One fit: constants of the model as logarithms, points as residuals. */
typedef struct problem {
    const dls_pointset *set;
    dls_opmodel *model;
    size_t *row; /* owned: indices of points */
    size_t n_rows;
    double *constant[DLS_FIT_MAX];
    bool above_one[DLS_FIT_MAX]; /* the logarithm is of constant - 1 */
    bool measured_one; /* take the step of one GPU from a measurement where there is one */
    void (*derive)(struct problem *p); /* constants that follow from the others */
    dls_fit fit;
} problem;

static void add(problem *p, double *constant, double start, double sigma)
{
    const size_t k = p->fit.n++;
    p->constant[k] = constant;
    p->above_one[k] = false;
    p->fit.mean[k] = log(start);
    p->fit.sigma[k] = sigma;
}

static void add_above_one(problem *p, double *constant, double start, double sigma)
{
    add(p, constant, start - 1, sigma);
    p->above_one[p->fit.n - 1] = true;
}

static void set_constants(problem *p, const double *x)
{
    for (size_t k = 0; k < p->fit.n; k++) {
        *p->constant[k] = exp(x[k]) + (p->above_one[k] ? 1 : 0);
    }
    if (p->derive) {
        p->derive(p);
    }
}

static void residuals(void *user, const double *x, double *residual)
{
    problem *p = user;
    set_constants(p, x);
    for (size_t k = 0; k < p->n_rows; k++) {
        const size_t i = p->row[k];
        double one_s = p->measured_one && p->set->point[i].n_gpus > 1
                           ? dls_point_measured_one_s(p->set, i)
                           : 0;
        if (!(one_s > 0)) {
            one_s = dls_point_one_s(p->set, i, p->model);
        }
        const double step_s = dls_point_step_s(p->set, i, p->model, one_s);
        residual[k] = log(step_s / (p->set->point[i].step_ms / 1e3)) / RESIDUAL_SCALE;
    }
}

static dls_status begin(problem *p, const dls_pointset *set, dls_opmodel *model, dls_error *err)
{
    *p = (problem){.set = set, .model = model};
    p->row = dls_alloc(set->n * sizeof *p->row);
    return p->row ? DLS_OK : dls_nomem(err, "points of a fit", set->n * sizeof *p->row);
}

static dls_status finish(problem *p, const char *what, dls_error *err)
{
    double x[DLS_FIT_MAX];
    dls_status status = DLS_OK;
    if (p->n_rows == 0) {
        status = dls_fail(err, DLS_EINPUT, what, "no point to calibrate with");
    } else {
        p->fit.residuals = residuals;
        p->fit.user = p;
        p->fit.n_residuals = p->n_rows;
        status = dls_fit_run(&p->fit, x, err);
    }
    if (status == DLS_OK) {
        set_constants(p, x);
    }
    dls_free(p->row);
    return status;
}

static bool same(const char *a, const char *b)
{
    return strcmp(a, b) == 0;
}

/* ---- kernels and GPUs ------------------------------------------------------------------------ */

static dls_gpu_factor *factor_row(dls_opmodel *m, const char *gpu, dls_numeric numeric)
{
    for (size_t i = 0; i < m->n_factors; i++) {
        if (m->factor[i].numeric == numeric && same(m->factor[i].gpu, gpu)) {
            return &m->factor[i];
        }
    }
    dls_gpu_factor *f = &m->factor[m->n_factors++];
    *f = (dls_gpu_factor){.numeric = numeric, .compute = 1, .memory = 1};
    snprintf(f->gpu, sizeof f->gpu, "%s", gpu);
    return f;
}

static dls_status fit_kernels(const dls_pointset *set, dls_numeric numeric, const char *left_out,
                              dls_opmodel *model, dls_error *err)
{
    /* Starting points: published efficiencies of the 3x3 and 5x5 algorithms and of large products;
     * matrix units reach three quarters of their part at the benchmarks' batch sizes. */
    static const double start[DLS_OPMODEL_NUMERICS][DLS_KERNEL_FAMILIES] = {
        {1.5, 1.2, 0.7, 0.6, 0.6, 0.75, 0.8},
        {0.375, 0.3, 0.375, 0.2625, 0.2625, 0.45, 0.8},
        {0.375, 0.3, 0.375, 0.2625, 0.2625, 0.375, 0.8}};
    /* What the sized model says is right; of 5x5 it says nothing. */
    static const double sized_start[DLS_KERNEL_FAMILIES] = {1, 1.2, 1, 1, 1, 1, 0.8};
    static const double sigma[DLS_KERNEL_FAMILIES] = {0.4, 1.0, 0.4, 0.4, 0.4, 0.2, 0.15};
    problem p;
    DLS_TRY(begin(&p, set, model, err));
    for (int f = 0; f < DLS_KERNEL_FAMILIES; f++) {
        const bool sized = model->sized && numeric == DLS_NUMERIC_FP32;
        add(&p, &model->eta[numeric][f], sized ? sized_start[f] : start[numeric][f], sigma[f]);
    }
    add(&p, &model->launch_s[numeric], 5e-6, 0.4);
    for (size_t i = 0; i < set->n; i++) {
        const dls_point *q = &set->point[i];
        if (q->role != DLS_POINT_CALIBRATE || q->n_gpus > 1 || q->numeric != numeric ||
            (q->source != DLS_POINT_TFB && q->source != DLS_POINT_LAM) ||
            (left_out && numeric == DLS_NUMERIC_FP32 && same(left_out, q->gpu))) {
            continue;
        }
        p.row[p.n_rows++] = i;
        const size_t before = model->n_factors;
        dls_gpu_factor *factor = factor_row(model, q->gpu, numeric);
        if (model->n_factors > before) {
            add(&p, &factor->compute, 1, 0.2);
            add(&p, &factor->memory, 1, 0.1);
        }
    }
    return finish(&p, dls_numeric_name(numeric), err);
}

/* One point tells one constant. */
static dls_status fit_k80(const dls_pointset *set, dls_opmodel *model, dls_error *err)
{
    problem p;
    DLS_TRY(begin(&p, set, model, err));
    add(&p, &factor_row(model, "K80", DLS_NUMERIC_FP32)->compute, 0.5, 1);
    for (size_t i = 0; i < set->n; i++) {
        const dls_point *q = &set->point[i];
        if (q->role == DLS_POINT_CALIBRATE && q->source == DLS_POINT_GCE && q->n_gpus == 1) {
            p.row[p.n_rows++] = i;
        }
    }
    return finish(&p, "K80", err);
}

/* ---- hosts ----------------------------------------------------------------------------------- */

static dls_host *host_row(dls_opmodel *m, const dls_point *q)
{
    char name[2 * DLS_HW_NAME];
    dls_point_host(q, name, sizeof name);
    for (size_t i = 0; i < m->n_hosts; i++) {
        if (same(m->host[i].name, name)) {
            return &m->host[i];
        }
    }
    dls_host *h = &m->host[m->n_hosts++];
    *h = (dls_host){.slowdown = 1};
    snprintf(h->name, sizeof h->name, "%.*s", DLS_HW_NAME - 1, name);
    return h;
}

/* The floor that makes the smallest batch of a profile right. */
static void floor_from_smallest(const dls_pointset *set, dls_opmodel *m, const char *model,
                                const char *gpu)
{
    size_t least = set->n;
    for (size_t i = 0; i < set->n; i++) {
        const dls_point *q = &set->point[i];
        if (q->source == DLS_POINT_SIA && same(q->model, model) && same(q->gpu, gpu) &&
            (least == set->n || q->batch < set->point[least].batch)) {
            least = i;
        }
    }
    if (least == set->n) {
        return;
    }
    dls_host *h = host_row(m, &set->point[least]);
    h->floor_s = 0;
    const double gpu_s = dls_point_one_s(set, least, m);
    const double all_s = set->point[least].step_ms / 1e3;
    if (all_s > gpu_s) {
        h->floor_s = sqrt(sqrt(pow(all_s, 4) - pow(gpu_s, 4)));
    }
}

static void derive_floor(problem *p)
{
    const dls_point *q = &p->set->point[p->row[0]];
    floor_from_smallest(p->set, p->model, q->model, q->gpu);
}

/* The slowdown of one profile, its floor following from its smallest batch. */
static dls_status fit_profile(const dls_pointset *set, const char *net, const char *gpu,
                              dls_opmodel *model, double *slowdown, dls_error *err)
{
    problem p;
    DLS_TRY(begin(&p, set, model, err));
    for (size_t i = 0; i < set->n; i++) {
        const dls_point *q = &set->point[i];
        if (q->role == DLS_POINT_CALIBRATE && q->source == DLS_POINT_SIA && same(q->model, net) &&
            same(q->gpu, gpu)) {
            p.row[p.n_rows++] = i;
        }
    }
    dls_host *h = p.n_rows ? host_row(model, &set->point[p.row[0]]) : NULL;
    if (h) {
        add(&p, &h->slowdown, 1.2, 0.5);
    }
    p.derive = derive_floor;
    DLS_TRY(finish(&p, net, err));
    *slowdown = h->slowdown;
    return DLS_OK;
}

static dls_status fit_sia_hosts(const dls_pointset *set, dls_opmodel *model, dls_error *err)
{
    static const char *const nets[] = {"resnet18_cifar", "bert_base"};
    double slowdown[2], on_t4 = 1;
    for (size_t k = 0; k < 2; k++) {
        DLS_TRY(fit_profile(set, nets[k], "V100", model, &slowdown[k], err));
    }
    /* What T4 is slower than the model beyond the framework: its power limit. */
    DLS_TRY(fit_profile(set, nets[0], "T4", model, &on_t4, err));
    dls_gpu_derate *t4 = &model->derate[model->n_derates++];
    *t4 = (dls_gpu_derate){.gpu = "T4", .factor = on_t4 / slowdown[0]};
    for (size_t i = 0; i < set->n; i++) {
        const dls_point *q = &set->point[i];
        if (q->source == DLS_POINT_SIA && !same(q->gpu, "V100")) {
            host_row(model, q)->slowdown = slowdown[same(q->model, nets[0]) ? 0 : 1];
        }
    }
    for (size_t i = 0; i < set->n; i++) {
        const dls_point *q = &set->point[i];
        if (q->source == DLS_POINT_SIA && q->role == DLS_POINT_CALIBRATE) {
            floor_from_smallest(set, model, q->model, q->gpu);
        }
    }
    return DLS_OK;
}

/* ---- fabrics --------------------------------------------------------------------------------- */

static dls_fabric *fabric_row(dls_opmodel *m, const char *name)
{
    dls_fabric_row *row = &m->fabric[m->n_fabrics++];
    *row = (dls_fabric_row){.fabric = {.gamma = 1}};
    snprintf(row->name, sizeof row->name, "%s", name);
    return &row->fabric;
}

static void take_fabric(problem *p, const char *name)
{
    for (size_t i = 0; i < p->set->n; i++) {
        const dls_point *q = &p->set->point[i];
        if (q->role == DLS_POINT_CALIBRATE && q->n_gpus > 1 && same(dls_point_fabric(q), name)) {
            p->row[p->n_rows++] = i;
        }
    }
}

/* One-node fabrics share what the points cannot tell apart: row 0 of the model leads. */
static void derive_shared(problem *p)
{
    const dls_fabric *lead = &p->model->fabric[0].fabric;
    for (size_t i = 1; i < p->model->n_fabrics; i++) {
        dls_fabric *f = &p->model->fabric[i].fabric;
        f->per_tensor_s = lead->per_tensor_s;
        f->gamma = lead->gamma;
        f->straggle = lead->straggle;
    }
}

static dls_status fit_nodes(const dls_pointset *set, dls_opmodel *model, dls_error *err)
{
    problem p;
    DLS_TRY(begin(&p, set, model, err));
    dls_fabric *pcie = fabric_row(model, "pcie"), *dgx1 = fabric_row(model, "dgx1_p100");
    fabric_row(model, "nvswitch")->bps = ASSUMED_NVSWITCH_BPS;
    fabric_row(model, "k80_node")->bps = ASSUMED_K80_BPS;
    add(&p, &pcie->bps, 8e9, 1);
    add(&p, &dgx1->bps, 5e9, 1);
    add(&p, &pcie->per_tensor_s, 50e-6, 0.5);
    add_above_one(&p, &pcie->gamma, 4, 0.5);
    add(&p, &pcie->straggle, 0.05, 0.5);
    take_fabric(&p, "pcie");
    take_fabric(&p, "dgx1_p100");
    take_fabric(&p, "nvswitch");
    p.derive = derive_shared;
    p.measured_one = true;
    return finish(&p, "one node", err);
}

static dls_status fit_fabric(const dls_pointset *set, const char *name, double bps,
                             double per_tensor_s, double straggle, dls_opmodel *model,
                             dls_error *err)
{
    problem p;
    DLS_TRY(begin(&p, set, model, err));
    dls_fabric *f = fabric_row(model, name);
    add(&p, &f->bps, bps, 1);
    add(&p, &f->per_tensor_s, per_tensor_s, 0.7);
    add_above_one(&p, &f->gamma, 4, 1);
    if (straggle > 0) {
        add(&p, &f->straggle, straggle, 0.7);
    }
    take_fabric(&p, name);
    p.measured_one = true;
    return finish(&p, name, err);
}

/* Runs of one cluster on 1 to 64 GPUs: framework, host and fabric together. */
static void derive_elasticflow(problem *p)
{
    for (size_t i = 0; i < p->model->n_hosts; i++) {
        dls_host *h = &p->model->host[i];
        if (strncmp(h->name, "elasticflow", 11) == 0) {
            h->floor_per_op_s = *p->constant[0];
        }
    }
}

static dls_status fit_elasticflow(const dls_pointset *set, dls_opmodel *model, dls_error *err)
{
    problem p;
    DLS_TRY(begin(&p, set, model, err));
    dls_fabric *f = fabric_row(model, "a100_nodes");
    const size_t hosts = model->n_hosts;
    for (size_t i = 0; i < set->n; i++) {
        const dls_point *q = &set->point[i];
        if (q->source == DLS_POINT_EFL && q->role == DLS_POINT_CALIBRATE) {
            p.row[p.n_rows++] = i;
            host_row(model, q);
        }
    }
    if (model->n_hosts > hosts) {
        add(&p, &model->host[hosts].floor_per_op_s, 2e-4, 0.5);
    }
    for (size_t i = hosts; i < model->n_hosts; i++) {
        add(&p, &model->host[i].slowdown, 1.5, 0.5);
    }
    add(&p, &f->bps, 40e9, 0.7);
    add(&p, &f->per_doubling_s, 1e-3, 0.7);
    add_above_one(&p, &f->gamma, 3, 0.7);
    add(&p, &f->straggle, 0.1, 0.7);
    p.derive = derive_elasticflow;
    return finish(&p, "a100_nodes", err);
}

dls_status dls_calibrate(const dls_pointset *set, const char *left_out,
                         const dls_sized_table *sized, dls_opmodel *model, dls_error *err)
{
    *model = (dls_opmodel){.sized = sized};
    for (int numeric = 0; numeric < DLS_OPMODEL_NUMERICS; numeric++) {
        DLS_TRY(fit_kernels(set, (dls_numeric)numeric, left_out, model, err));
    }
    DLS_TRY(fit_k80(set, model, err));
    DLS_TRY(fit_sia_hosts(set, model, err));
    DLS_TRY(fit_nodes(set, model, err));
    DLS_TRY(fit_fabric(set, "pcie_2080ti", 8e9, 50e-6, 0.1, model, err));
    DLS_TRY(fit_fabric(set, "k80_p2_nodes", 1.25e9, 50e-6, 0.05, model, err));
    DLS_TRY(fit_fabric(set, "p100_servers", 2e9, 200e-6, 0, model, err));
    return fit_elasticflow(set, model, err);
}
