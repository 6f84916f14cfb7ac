/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * driple: the inspector (docs/inspector.md). A kind of job becomes the grouped graph of its model
 * in the zoo, a shape the setting that setting_map.h names, or its own (inspector.h); all questions
 * of a call go to the backend in slices of at most SLICE_KINDS graphs, so memory does not grow with
 * their number. An iteration is the burst and the pause of the GPU together.
 *
 * A relative inspector's step is the operator model's times what the network says of the graph at
 * the model's usual batch, so how the step grows with the batch is the operator model's; shares of
 * the step are what the network says of the batch itself.
 */
#include "base/alloc.h"
#include "base/own.h"
#include "dlsim/predictor.h"
#include "predictor/sources/candidates.h"
#include "predictor/sources/inspector.h"
#include "predictor/sources/predictions.h"
#include "predictor/sources/shadow.h"
#include "workload/software.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#define SLICE_KINDS 512

typedef struct driple {
    const dls_prediction_params *p;
    const dls_kinds *kinds;
    dls_inspector_session a;
    dls_candidates cluster;
    dls_world *shadow; /* what is known of a question; NULL: the inspector is not relative */
    /* a slice */
    dls_graph *graph;
    double *x; /* features of its graphs, one after the other */
    dls_query *query;
    dls_known *known;
    dls_profile *profile;
    int32_t *query_of; /* [asks of the slice] */
    size_t graph_cap, x_cap, query_cap, known_cap, profile_cap, query_of_cap;
} driple;

static void driple_close(void *state)
{
    driple *d = state;
    if (!d) {
        return;
    }
    dls_inspector_session_fini(&d->a);
    DLS_FREE_ALL(d->graph, d->x, d->query, d->known);
    dls_world_destroy(d->shadow);
    DLS_FREE_ALL(d->profile, d->query_of, d);
}

DLS_OWNER(driple, driple_close)

static dls_status driple_open(const dls_prediction_params *p, const dls_kinds *kinds, void **state,
                              dls_error *err)
{
    DLS_HOLD(driple_close) driple *d = NULL;
    DLS_TRY(dls_alloc_array(&d, 1, sizeof *d, "inspector", err));
    dls_inspector_session_params session = {.weights = p->weights,
                                            .backend = p->backend,
                                            .hardware_dir = p->hardware_dir,
                                            .settings_map = p->settings_map,
                                            .threads = p->threads};
    d->p = p;
    d->kinds = kinds;
    (void)dls_numeric_find(p->numeric, &session.numeric); /* checked before sources are opened */
    dls_candidates_init(&d->cluster, p->cluster);
    DLS_TRY(dls_inspector_session_init(&d->a, &session, err));
    d->a.inputs.memo = kinds->memo;
    if (dls_inspector_is_relative(d->a.insp)) {
        DLS_TRY(dls_shadow_create(p, kinds, &d->shadow, err));
    }
    *state = dls_take(&d);
    return DLS_OK;
}

/* ---- questions ------------------------------------------------------------------------------- */

static dls_whereabouts where_is(const driple *d, const dls_shape *s)
{
    const dls_gpu_type *gpu = &d->p->cluster->types[s->type];
    const double inner_bps = dls_candidates_inner_bps(&d->cluster, s);
    const double peer_bps =
        inner_bps > 0 && inner_bps < gpu->peer_bps ? inner_bps : gpu->peer_bps;
    return (dls_whereabouts){.gpu = gpu->name,
                             .fp32_flops = gpu->fp32_flops,
                             .workers = s->gpus,
                             .nodes = s->n_nodes,
                             .link_bps = s->n_nodes > 1 ? dls_candidates_link_bps(&d->cluster, s)
                                                        : peer_bps,
                             .exchange = d->p->exchange};
}

static dls_status input_of(driple *d, int32_t kind, const dls_zoo_input **input, dls_error *err)
{
    const dls_kind *k = &d->kinds->kind[kind];
    dls_software run;
    DLS_TRY(dls_software_of(d->p->software, k->model, &k->names, d->a.inputs.numeric, &run, err));
    const dls_zoo_options size = {.numeric = run.numeric,
                                  .image = run.names.image,
                                  .sequence = run.names.sequence};
    return dls_zoo_input_sized(&d->a.inputs, run.names.zoo, &size, input, err);
}

/* The graphs of the kinds of a slice; of a relative inspector then those at usual batches. Their
 * features lie in d->x. */
static dls_status make_graphs(driple *d, const int32_t *kind, size_t n, dls_error *err)
{
    size_t cells = 0;
    const size_t times = d->shadow ? 2 : 1;
    const dls_zoo_input *input;
    DLS_TRY(dls_grow(&d->graph, &d->graph_cap, times * n, sizeof *d->graph, err));
    for (size_t i = 0; i < n; i++) {
        DLS_TRY(input_of(d, kind[i], &input, err));
        cells += (size_t)input->graph.n_nodes * (size_t)input->graph.n_features;
    }
    DLS_TRY(dls_grow(&d->x, &d->x_cap, times * cells, sizeof *d->x, err));
    double *x = d->x;
    for (size_t i = 0; i < times * n; i++) {
        const dls_kind *of = &d->kinds->kind[kind[i % n]];
        DLS_TRY(input_of(d, kind[i % n], &input, err));
        d->graph[i] =
            dls_zoo_input_at(&d->a.inputs, input, i < n ? of->batch : input->model->batch, x);
        x += (size_t)input->graph.n_nodes * (size_t)input->graph.n_features;
    }
    return DLS_OK;
}

/* Shapes of a kind that one setting answers for share a query. */
static int32_t query_for(const driple *d, size_t first, size_t n, int32_t graph, int32_t setting)
{
    for (size_t i = first; i < n; i++) {
        if (d->query[i].graph_idx == graph && d->query[i].setting_idx == setting) {
            return (int32_t)i;
        }
    }
    return -1;
}

/* With servers what a worker sends and what it receives need not be alike. */
static bool in_a_ring(const driple *d)
{
    return strcmp(d->p->exchange, "allreduce") == 0;
}

/* In a ring one worker of a node sends over its link; with servers all do. */
static int32_t senders_of(const driple *d, const dls_shape *shape)
{
    return in_a_ring(d) ? 1 : (shape->gpus + shape->n_nodes - 1) / shape->n_nodes;
}

/* The question as it is, and at the model's usual batch, where only the step's factor counts. */
static dls_status add_pair(driple *d, const dls_predictions_ask *ask, int32_t graph,
                           int32_t n_graphs, int32_t setting, size_t *n, dls_error *err)
{
    dls_solo solo;
    DLS_TRY(dls_world_solo(d->shadow, d->kinds->kind[ask->kind].first_job, &ask->shape, &solo, err));
    d->known[*n] = (dls_known){.step_s = solo.iteration_s,
                               .link_bytes = solo.link_bytes / senders_of(d, &ask->shape)};
    d->known[*n + 1] = (dls_known){.step_s = 1};
    d->query[(*n)++] = (dls_query){.graph_idx = graph, .setting_idx = setting};
    d->query[(*n)++] = (dls_query){.graph_idx = n_graphs + graph, .setting_idx = setting};
    return DLS_OK;
}

/* An amount or a time cannot be negative, whatever a network says. */
static void take_profile(const driple *d, const dls_profile *profile, const dls_shape *shape,
                         dls_prediction *out)
{
    for (int k = 0; k < DLS_METRICS; k++) {
        out->metric[k] = fmax(0, profile->metric[k]);
    }
    out->iteration_s = profile->iteration_s;
    const double sends = out->metric[DLS_NET_TX_PEAK], receives = out->metric[DLS_NET_RX_PEAK];
    out->link_bps = shape->n_nodes > 1
                        ? senders_of(d, shape) * (in_a_ring(d) ? sends : fmax(sends, receives))
                        : 0;
}

/* Questions first .. end-1 are those of the kinds kind[n]. */
static dls_status slice(driple *d, const dls_predictions_ask *ask, size_t n_asks,
                        const int32_t *kind, size_t n_kinds, dls_prediction *out, dls_error *err)
{
    size_t n = 0, first = 0;
    int32_t graph = -1;
    DLS_TRY(make_graphs(d, kind, n_kinds, err));
    const size_t most = d->shadow ? 2 * n_asks : n_asks;
    DLS_TRY(dls_grow(&d->query, &d->query_cap, most, sizeof *d->query, err));
    DLS_TRY(dls_grow(&d->known, &d->known_cap, most, sizeof *d->known, err));
    DLS_TRY(dls_grow(&d->profile, &d->profile_cap, most, sizeof *d->profile, err));
    DLS_TRY(dls_grow(&d->query_of, &d->query_of_cap, n_asks, sizeof *d->query_of, err));
    for (size_t i = 0; i < n_asks; i++) {
        if (i == 0 || ask[i].kind != ask[i - 1].kind) {
            graph++;
            first = n;
        }
        const dls_whereabouts where = where_is(d, &ask[i].shape);
        int32_t setting;
        DLS_TRY(dls_inspector_session_setting(&d->a, &where, &setting, &out[i].distance, err));
        d->query_of[i] = d->shadow ? (int32_t)n : query_for(d, first, n, graph, setting);
        if (d->shadow) {
            DLS_TRY(add_pair(d, &ask[i], graph, (int32_t)n_kinds, setting, &n, err));
        } else if (d->query_of[i] < 0) {
            d->query_of[i] = (int32_t)n;
            d->query[n++] = (dls_query){.graph_idx = graph, .setting_idx = setting};
        }
    }
    DLS_TRY(dls_inspector_session_predict(&d->a, d->graph, d->shadow ? 2 * n_kinds : n_kinds,
                                          d->query, d->shadow ? d->known : NULL, n, d->profile,
                                          err));
    for (size_t i = 0; i < n_asks; i++) {
        dls_profile *profile = &d->profile[d->query_of[i]];
        if (d->shadow) {
            const double own = profile->iteration_s / d->known[d->query_of[i]].step_s;
            dls_profile_stretch(profile, profile[1].iteration_s / own);
        }
        take_profile(d, profile, &ask[i].shape, &out[i]);
    }
    return DLS_OK;
}

static dls_status driple_answer(void *state, const dls_predictions_ask *ask, size_t n,
                                dls_prediction *out, dls_error *err)
{
    int32_t kind[SLICE_KINDS];
    for (size_t first = 0; first < n;) {
        size_t end = first, n_kinds = 0;
        for (; end < n; end++) {
            if (end == first || ask[end].kind != ask[end - 1].kind) {
                if (n_kinds == SLICE_KINDS) {
                    break;
                }
                kind[n_kinds++] = ask[end].kind;
            }
        }
        DLS_TRY(slice(state, ask + first, end - first, kind, n_kinds, out + first, err));
        first = end;
    }
    return DLS_OK;
}

/* ---- about ----------------------------------------------------------------------------------- */

/* Threads do not change an answer; instruction sets may, in the last digit. */
static void driple_identity(const void *state, char *text, size_t size)
{
    const driple *d = state;
    const char *map = d->p->settings_map ? d->p->settings_map : "";
    const char *backend = dls_predictor_backend(d->a.predictor), *comma = strrchr(backend, ',');
    const char *software = d->p->software ? d->p->software : "";
    char map_sha[DLS_SHA256_HEX], software_sha[DLS_SHA256_HEX] = "";
    dls_sha256_hex(map, strlen(map), map_sha);
    if (*software) {
        dls_sha256_hex(software, strlen(software), software_sha);
    }
    snprintf(text, size, "%s %.16s %.*s%s%.16s%s%s%.16s", d->a.weights_sha, map_sha,
             comma ? (int)(comma - backend) : 80, backend, d->a.takes_any ? " " : "",
             d->a.hardware_sha, d->shadow && d->p->sized ? " sized" : "", *software ? " " : "",
             software_sha);
}

static dls_status driple_checksum(void *state, int32_t kind, uint64_t *sum, dls_error *err)
{
    const dls_zoo_input *input;
    DLS_TRY(input_of(state, kind, &input, err));
    *sum = input->checksum;
    return DLS_OK;
}

static void driple_about(const void *state, dls_predictions_stats *stats)
{
    const driple *d = state;
    const size_t used = strlen(stats->notes);
    snprintf(stats->backend, sizeof stats->backend, "%s", dls_predictor_backend(d->a.predictor));
    snprintf(stats->notes + used, sizeof stats->notes - used, "%s",
             dls_predictor_notes(d->a.predictor));
}

const dls_prediction_source dls_prediction_source_driple = {
    .name = "driple",
    .summary = "the inspector: a graph neural network that reads the job's computational graph",
    .keeps = true,
    .open = driple_open,
    .close = driple_close,
    .answer = driple_answer,
    .identity = driple_identity,
    .kind_checksum = driple_checksum,
    .about = driple_about,
};
