/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * The predictor: queries in, profiles out. Sorts and merges the queries into a backend's pairs,
 * applies the label scales, checks the answers, and falls back from CUDA to the CPU when the device
 * cannot hold a job.
 */
#include "base/alloc.h"
#include "base/own.h"
#include "base/team.h"
#include "predictor/driple/backend.h"

#include <math.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct dls_predictor {
    const dls_inspector *insp;
    const dls_driple_ops *ops;
    void *state;
    const dls_driple_ops *spare; /* the CPU beside a CUDA backend, opened when first needed */
    void *spare_state;
    dls_driple_config config;
    dls_precision precision;
    void *module;
    char isa[16];
    char text[192];
    char notes[1024];
};

static void note(dls_predictor *p, const char *text)
{
    const size_t used = strlen(p->notes);
    if (text[0] && used + 2 < sizeof p->notes) {
        snprintf(p->notes + used, sizeof p->notes - used, "%s\n", text);
    }
}

void dls_predictor_destroy(dls_predictor *p)
{
    if (!p) {
        return;
    }
    if (p->state) {
        p->ops->close(p->state);
    }
    if (p->spare_state) {
        p->spare->close(p->spare_state);
    }
    dls_driple_module_close(p->module);
    dls_free(p);
}

static dls_status open_cuda(dls_predictor *p, const char *path, dls_error *err)
{
    DLS_TRY(dls_driple_module_open(path, &p->ops, &p->module, err));
    const dls_status status = p->ops->open(p->insp, &p->config, &p->state, err);
    if (status != DLS_OK) {
        dls_driple_module_close(p->module);
        p->module = NULL;
        p->ops = NULL;
    }
    return status;
}

static dls_status open_backend(dls_predictor *p, const dls_predictor_options *o, dls_error *err)
{
    if (o->backend != DLS_BACKEND_CPU && o->precision == DLS_PRECISION_F64) {
        if (o->backend == DLS_BACKEND_CUDA) {
            return dls_fail(err, DLS_EPREDICTOR, NULL, "float64 is computed by the CPU only");
        }
        note(p, "cpu: float64 is computed by the CPU only");
    } else if (o->backend != DLS_BACKEND_CPU) {
        dls_error why = {0};
        const bool named = o->module_path || getenv("DLSIM_CUDA_MODULE");
        const dls_status status =
            o->backend == DLS_BACKEND_AUTO && !named && !dls_driple_driver_present()
                ? dls_fail(&why, DLS_EPREDICTOR, NULL, "no CUDA driver on this machine")
                : open_cuda(p, o->module_path, &why);
        if (status == DLS_OK || o->backend == DLS_BACKEND_CUDA) {
            if (err && status != DLS_OK) {
                *err = why;
            }
            return status;
        }
        char line[700];
        snprintf(line, sizeof line, "cpu: %.600s", why.msg);
        note(p, line);
    }
    p->ops = &dls_driple_cpu;
    DLS_TRY(p->ops->open(p->insp, &p->config, &p->state, err));
    char line[128];
    p->ops->notes(p->state, line, sizeof line);
    note(p, line);
    return DLS_OK;
}

dls_status dls_predictor_create(const dls_inspector *insp, const dls_predictor_options *opts,
                                dls_predictor **out, dls_error *err)
{
    *out = NULL;
    const dls_predictor_options o = opts ? *opts : (dls_predictor_options){0};
    DLS_HOLD(dls_predictor_destroy) dls_predictor *p = NULL;
    DLS_TRY(dls_alloc_array(&p, 1, sizeof *p, "predictor", err));
    p->insp = insp;
    p->config = (dls_driple_config){
        .precision = o.precision, .threads = o.threads, .memory_bytes = o.memory_bytes};
    if (o.cpu_isa) {
        snprintf(p->isa, sizeof p->isa, "%s", o.cpu_isa);
        p->config.cpu_isa = p->isa;
    }
    DLS_TRY(open_backend(p, &o, err));
    *out = dls_take(&p);
    return DLS_OK;
}

static dls_status extend(const dls_predictor *p, const dls_driple_ops *ops, void **state,
                         dls_error *err)
{
    if (!*state || ops->extend) {
        return *state ? ops->extend(*state, err) : DLS_OK;
    }
    ops->close(*state);
    *state = NULL;
    return ops->open(p->insp, &p->config, state, err);
}

dls_status dls_predictor_extend(dls_predictor *p, dls_error *err)
{
    DLS_TRY(extend(p, p->ops, &p->state, err));
    return extend(p, p->spare, &p->spare_state, err);
}

const char *dls_predictor_backend(const dls_predictor *p)
{
    dls_predictor *mine = (dls_predictor *)(uintptr_t)p; /* the text is a cache */
    char inside[128];
    p->ops->describe(p->state, inside, sizeof inside);
    snprintf(mine->text, sizeof mine->text, "%s (%s)", p->ops->name, inside);
    return p->text;
}

const char *dls_predictor_notes(const dls_predictor *p)
{
    return p->notes;
}

/* ---- a batch -------------------------------------------------------------------------------- */

typedef struct ranked {
    dls_pair pair;
    int32_t n_nodes;
    size_t query;
} ranked;

DLS_BY(by_size_graph_setting, ranked, DLS_UP(n_nodes), DLS_UP(pair.graph), DLS_UP(pair.setting),
       DLS_UP(query));

static dls_status forward(dls_predictor *p, const dls_driple_job *job, dls_error *err)
{
    dls_error first = {0};
    dls_status status = p->ops->forward(p->state, job, &first);
    if (p->ops != &dls_driple_cpu) {
        char lines[512] = "";
        p->ops->notes(p->state, lines, sizeof lines);
        note(p, lines);
    }
    if (status == DLS_ENOMEM && p->ops != &dls_driple_cpu) {
        if (!p->spare_state) {
            p->spare = &dls_driple_cpu;
            DLS_TRY(p->spare->open(p->insp, &p->config, &p->spare_state, err));
        }
        char line[700];
        snprintf(line, sizeof line, "cpu for %zu predictions: %.500s", job->n_pairs, first.msg);
        note(p, line);
        return p->spare->forward(p->spare_state, job, err);
    }
    if (status != DLS_OK && err) {
        *err = first;
    }
    return status;
}

static dls_status fill(const dls_inspector *insp, const dls_query *q, const dls_known *known,
                       const double *out, dls_profile *profile, dls_error *err)
{
    const dls_labels *labels =
        q->setting_idx < 0 ? &insp->labels : &insp->settings[q->setting_idx].labels;
    if (insp->relative) {
        dls_relative_from_outputs(out, known, profile);
    }
    for (int i = 0; i < DLS_METRICS; i++) {
        if (!insp->relative) {
            profile->metric[i] = dls_label_from_output(labels, i, out[i]);
        }
        if (!isfinite(profile->metric[i])) {
            char where[64];
            snprintf(where, sizeof where, "graph %d", (int)q->graph_idx);
            return dls_fail(err, DLS_EPREDICTOR, where,
                            "the prediction of %s is not finite; features of this size leave the "
                            "range of the precision, or the network is undefined on this graph",
                            dls_metric_name(i));
        }
    }
    if (!insp->relative) {
        profile->iteration_s = profile->metric[DLS_GPU_IDLE] + profile->metric[DLS_GPU_ACTIVE];
    }
    return DLS_OK;
}

#define CHECK_GRAPHS 256 /* a thread takes so many at a time; about 0.3 ms */

typedef struct inspection {
    const dls_graph *graphs;
    size_t n;
    int32_t n_features;
    atomic_bool bad;
} inspection;

static void check_some(void *user, int32_t seat, size_t item)
{
    inspection *c = user;
    const size_t end = (item + 1) * CHECK_GRAPHS;
    for (size_t i = item * CHECK_GRAPHS; i < end && i < c->n; i++) {
        if (dls_graph_check(&c->graphs[i], c->n_features, NULL, NULL) != DLS_OK) {
            atomic_store(&c->bad, true);
        }
    }
}

/* All threads look; which graph is named does not depend on them. */
static dls_status check_graphs(const dls_predictor *p, const dls_graph *graphs, size_t n,
                               dls_error *err)
{
    inspection c = {.graphs = graphs, .n = n, .n_features = p->insp->arch.n_features};
    atomic_init(&c.bad, false);
    const int32_t threads = p->config.threads > 0 ? p->config.threads : dls_team_cores();
    dls_team_run(threads, (n + CHECK_GRAPHS - 1) / CHECK_GRAPHS, check_some, &c);
    for (size_t i = 0; atomic_load(&c.bad) && i < n; i++) {
        char where[64];
        snprintf(where, sizeof where, "graph %zu", i);
        DLS_TRY(dls_graph_check(&graphs[i], c.n_features, where, err));
    }
    return DLS_OK;
}

static dls_status check_queries(const dls_predictor *p, const dls_graph *graphs, size_t n_graphs,
                                const dls_query *queries, const dls_known *known, size_t n,
                                dls_error *err)
{
    char where[64];
    DLS_TRY(check_graphs(p, graphs, n_graphs, err));
    for (size_t i = 0; i < n; i++) {
        if (queries[i].graph_idx < 0 || (size_t)queries[i].graph_idx >= n_graphs ||
            queries[i].setting_idx < DLS_SETTING_BASE ||
            queries[i].setting_idx >= (int32_t)p->insp->n_settings) {
            snprintf(where, sizeof where, "query %zu", i);
            return dls_fail(err, DLS_EINPUT, where, "no graph %d or no setting %d",
                            (int)queries[i].graph_idx, (int)queries[i].setting_idx);
        }
        if (queries[i].setting_idx == DLS_SETTING_BASE && p->insp->arch.n_conditions > 0) {
            snprintf(where, sizeof where, "query %zu", i);
            return dls_fail(err, DLS_EINPUT, where,
                            "the inspector answers for settings that are described to it; its base "
                            "alone for none");
        }
        if (p->insp->relative && !(known && dls_known_ok(&known[i]))) {
            snprintf(where, sizeof where, "query %zu", i);
            return dls_fail(err, DLS_EINPUT, where,
                            "the inspector's answers are relative to a step and to bytes that a "
                            "model knows, and nothing is known of this question");
        }
    }
    return DLS_OK;
}

dls_status dls_predict(dls_predictor *p, const dls_graph *graphs, size_t n_graphs,
                       const dls_query *queries, size_t n, dls_profile *profiles, dls_error *err)
{
    return dls_predict_known(p, graphs, n_graphs, queries, NULL, n, profiles, err);
}

dls_status dls_predict_known(dls_predictor *p, const dls_graph *graphs, size_t n_graphs,
                             const dls_query *queries, const dls_known *known, size_t n,
                             dls_profile *profiles, dls_error *err)
{
    DLS_TRY(check_queries(p, graphs, n_graphs, queries, known, n, err));
    if (n == 0) {
        return DLS_OK;
    }
    DLS_FREED ranked *order = dls_alloc(n * sizeof *order);
    DLS_FREED dls_pair *pairs = dls_alloc(n * sizeof *pairs);
    DLS_FREED double *out = dls_alloc(n * DLS_METRICS * sizeof *out);
    DLS_TRY(order && pairs && out ? DLS_OK
                                  : dls_nomem(err, "queries", n * (sizeof *order + sizeof *pairs)));
    size_t n_pairs = 0;
    bool sorted = true; /* mostly they come so */
    for (size_t i = 0; i < n; i++) {
        order[i] = (ranked){{queries[i].graph_idx, queries[i].setting_idx},
                            graphs[queries[i].graph_idx].n_nodes,
                            i};
        sorted = sorted && (i == 0 || by_size_graph_setting(&order[i - 1], &order[i]) <= 0);
    }
    if (!sorted) {
        qsort(order, n, sizeof *order, by_size_graph_setting);
    }
    for (size_t i = 0; i < n; i++) {
        if (i == 0 || order[i].pair.graph != order[i - 1].pair.graph ||
            order[i].pair.setting != order[i - 1].pair.setting) {
            pairs[n_pairs++] = order[i].pair;
        }
    }
    const dls_driple_job job = {graphs, pairs, n_pairs, out};
    DLS_TRY(forward(p, &job, err));
    size_t row = 0;
    for (size_t i = 0; i < n; i++) {
        if (order[i].pair.graph != pairs[row].graph ||
            order[i].pair.setting != pairs[row].setting) {
            row++;
        }
        const size_t q = order[i].query;
        DLS_TRY(fill(p->insp, &queries[q], known ? &known[q] : NULL, out + row * DLS_METRICS,
                     &profiles[q], err));
    }
    return DLS_OK;
}
