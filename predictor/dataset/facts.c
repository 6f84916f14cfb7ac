/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Asks simulated jobs for the facts that Driple's authors report of real ones: shares of burst
 * patterns, burst to idle ratios, and what varies with workload or setting.
 */
#include "predictor/dataset/facts.h"

#include "base/alloc.h"
#include "base/own.h"
#include "workload/graph/zoo.h"
#include "workload/operator/from_graph.h"

#include <gsl/gsl_sort.h>
#include <math.h>
#include <string.h>

/* The analysed series of every graph in every setting; n 0 where it does not fit. */
typedef struct table {
    dls_burst *burst; /* [settings][graphs][DLS_RESOURCES] */
    bool *fits;       /* [settings][graphs] */
    size_t n_settings, n_graphs;
} table;

static const dls_burst *at(const table *t, size_t setting, size_t graph)
{
    return t->burst + (setting * t->n_graphs + graph) * DLS_RESOURCES;
}

static double value(const dls_burst *b, int kind)
{
    switch (kind) {
    case DLS_FACT_BURST_AMOUNT:
        return b->burst_amount;
    case DLS_FACT_BURST_S:
        return b->burst_s;
    case DLS_FACT_IDLE_S:
        return b->idle_s;
    default:
        return b->idle_amount;
    }
}

/* ---- patterns and lengths -------------------------------------------------------------------- */

/* ratio: room for one number of every cell. */
static void count_patterns(const table *t, double *ratio, dls_facts *out)
{
    for (int r = 0; r < DLS_RESOURCES; r++) {
        size_t n = 0, both = 0;
        for (size_t i = 0; i < t->n_settings * t->n_graphs; i++) {
            const dls_burst *b = &t->burst[i * DLS_RESOURCES + (size_t)r];
            if (t->fits[i]) {
                out->pattern[r][b->pattern] += 1;
                n++;
            }
            if (t->fits[i] && b->pattern == DLS_PATTERN_BIB) {
                ratio[both++] = b->burst_s / b->idle_s;
            }
        }
        for (int p = 0; p < 3; p++) {
            out->pattern[r][p] /= (double)n;
        }
        gsl_sort(ratio, 1, both);
        out->shorter[r] = both > 0 ? 1 - (ratio[(both - 1) / 2] + ratio[both / 2]) / 2 : 0;
        out->n = n;
    }
}

/* ---- what depends on what -------------------------------------------------------------------- */

typedef struct spread {
    double sum, square;
    size_t n;
} spread;

static void add(spread *s, double x)
{
    s->sum += x;
    s->square += x * x;
    s->n++;
}

/* Below 0: too few. */
static double relative(const spread *s)
{
    const double mean = s->n ? s->sum / (double)s->n : 0;
    return s->n >= 2 && mean > 0 ? sqrt(fmax(0, s->square / (double)s->n - mean * mean)) / mean
                                 : -1;
}

/* Mean of the relative spreads over the `outer` things and the resources; `inner` are the ones that
 * vary. by_setting: settings vary for a graph, else graphs in a setting. */
static double dependence(const table *t, int kind, bool by_setting)
{
    const size_t outer = by_setting ? t->n_graphs : t->n_settings;
    const size_t inner = by_setting ? t->n_settings : t->n_graphs;
    double sum = 0;
    size_t n = 0;
    for (size_t o = 0; o < outer; o++) {
        for (int r = 0; r < DLS_RESOURCES; r++) {
            spread s = {0};
            for (size_t i = 0; i < inner; i++) {
                const size_t setting = by_setting ? i : o, graph = by_setting ? o : i;
                const dls_burst *b = &at(t, setting, graph)[r];
                if (t->fits[setting * t->n_graphs + graph] && b->pattern == DLS_PATTERN_BIB) {
                    add(&s, value(b, kind));
                }
            }
            const double x = relative(&s);
            if (x >= 0) {
                sum += x;
                n++;
            }
        }
    }
    return n > 0 ? sum / (double)n : 0;
}

/* ---- the workloads of the paper -------------------------------------------------------------- */

/* In the first setting whose GPU it fits. */
static dls_status show_workload(const dls_build_options *o, const dls_workload *w, double batch,
                                bool async, uint64_t entity, dls_label *label, dls_error *err)
{
    for (size_t k = 0; k < o->n_settings; k++) {
        dls_fabric fabric;
        dls_work_setting work;
        bool fits;
        DLS_TRY(dls_setting_work(&o->setting[k], o->model, o->hw, w, batch, DLS_NUMERIC_FP32,
                                 &fabric, &work, err));
        work.async = async && work.n_servers > 0;
        DLS_TRY(dls_label_make(&o->label, o->model, &o->setting[k], &work, w, entity, label, &fits,
                               err));
        if (fits) {
            return DLS_OK;
        }
    }
    return dls_fail(err, DLS_EINPUT, w->name, "does not fit any GPU of the settings");
}

static dls_status zoo_workload(const char *name, int32_t batch, dls_workload *w, dls_error *err)
{
    DLS_HOLD(dls_opgraph_destroy) dls_opgraph *g = NULL;
    const dls_zoo_model *model = dls_zoo_find(name);
    dls_zoo_options options = dls_zoo_defaults(model);
    options.batch = batch;
    DLS_TRY(dls_zoo_build(model, &options, &g, err));
    return dls_workload_from_graph(g, w, err);
}

static dls_status show_workloads(const dls_build_options *o, dls_facts *out, dls_error *err)
{
    static const struct {
        const char *name, *model;
        int32_t batch;
        bool async;
        int resource;
    } shown[DLS_FACT_WORKLOADS] = {
        {"NMT medium, Europarl, batch 32, asynchronous", "seq2seq_medium", 32, true,
         DLS_RES_NET_RX},
        {"DenseNet-40 k12, CIFAR-10, batch 512, synchronous", "densenet40_k12", 512, false,
         DLS_RES_GPU},
        {"Inception v3, ImageNet, batch 128, asynchronous", "inception3", 128, true,
         DLS_RES_GPU_MEM},
    };
    for (int i = 0; i < DLS_FACT_WORKLOADS; i++) {
        dls_label label;
        dls_workload w;
        DLS_TRY(zoo_workload(shown[i].model, shown[i].batch, &w, err));
        const dls_status status =
            show_workload(o, &w, shown[i].batch, shown[i].async, (uint64_t)i, &label, err);
        dls_workload_fini(&w);
        DLS_TRY(status);
        out->workload[i] = (dls_fact_workload){.name = shown[i].name,
                                               .resource = shown[i].resource,
                                               .burst = label.burst[shown[i].resource]};
    }
    return DLS_OK;
}

/* ---- all ------------------------------------------------------------------------------------- */

static dls_status fill(const dls_build_options *o, const dls_corpus *c, table *t, dls_error *err)
{
    for (size_t k = 0; k < t->n_settings; k++) {
        for (size_t i = 0; i < t->n_graphs; i++) {
            dls_label label;
            DLS_TRY(dls_corpus_label(o, c, i, &o->setting[k], &label, &t->fits[k * t->n_graphs + i],
                                     err));
            if (t->fits[k * t->n_graphs + i]) {
                memcpy(t->burst + (k * t->n_graphs + i) * DLS_RESOURCES, label.burst,
                       sizeof label.burst);
            }
        }
    }
    return DLS_OK;
}

static dls_status find(const dls_build_options *o, const dls_corpus *c, dls_facts *out,
                       dls_error *err)
{
    const size_t cells = o->n_settings * c->n;
    DLS_FREED dls_burst *burst = NULL;
    DLS_FREED bool *fits = NULL;
    DLS_FREED double *ratio = NULL;
    DLS_TRY(DLS_ALLOC_ALL("facts", err, DLS_ARRAY(burst, cells * DLS_RESOURCES),
                          DLS_ARRAY(fits, cells), DLS_ARRAY(ratio, cells + 1)));
    table t = {.burst = burst, .fits = fits, .n_settings = o->n_settings, .n_graphs = c->n};
    DLS_TRY(fill(o, c, &t, err));
    count_patterns(&t, ratio, out);
    for (int kind = 0; kind < DLS_FACT_KINDS; kind++) {
        out->by_workload[kind] = dependence(&t, kind, false);
        out->by_setting[kind] = dependence(&t, kind, true);
    }
    return show_workloads(o, out, err);
}

dls_status dls_facts_find(const dls_build_options *o, dls_facts *out, dls_error *err)
{
    DLS_OWN(dls_corpus_fini) dls_corpus c = {0};
    *out = (dls_facts){0};
    DLS_TRY(dls_corpus_create(&o->corpus, &c, err));
    return find(o, &c, out, err);
}
