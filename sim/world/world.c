/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Sets up the world (links, GPU types, reference times, rates of shapes) and answers questions
 * about one job alone; world_settle.c keeps the rates of running jobs.
 */
#include "world/world_impl.h"

#include "base/own.h"
#include "base/suggest.h"
#include "workload/operator/llm.h"
#include "workload/operator/residual.h"

#include <math.h>
#include <string.h>

#define TRUTHS_MAX 16

void dls_world_params_init(dls_world_params *p)
{
    *p = (dls_world_params){.model = "trace",
                            .exchange = "allreduce",
                            .allreduce = "hierarchical",
                            .numeric = "fp32",
                            .residual_sigma = DLS_RESIDUAL_NODE_SIGMA,
                            .network_residual_sigma = DLS_RESIDUAL_NETWORK_SIGMA,
                            .contention = true,
                            .stages_overlap = 0.83,
                            .pull_back = 0.05,
                            .interference_knee = 0.80,
                            .interference_slope = 0.310};
}

static dls_status find_truth(const char *name, const dls_truth_ops **out, dls_error *err)
{
    const char *names[TRUTHS_MAX] = {NULL};
    const dls_truth_ops *const *truths = dls_truths();
    for (size_t i = 0; truths[i] && i + 1 < TRUTHS_MAX; i++) {
        names[i] = truths[i]->name;
        if (strcmp(truths[i]->name, name) == 0) {
            *out = truths[i];
            return DLS_OK;
        }
    }
    return dls_fail(err, DLS_ECONFIG, "perf.model", "unknown model of the truth \"%s\"%s", name,
                    DLS_DID_YOU_MEAN(dls_suggest(name, names)));
}

/* ---- the cluster ----------------------------------------------------------------------------- */

static double goodput(double bps)
{
    return DLS_LINK_GOODPUT * bps;
}

static dls_status add_line(dls_world *w, double bps, dls_error *err)
{
    size_t at = 0;
    if (!(bps > 0) || dls_world_line_index(w, bps) >= 0) {
        return DLS_OK;
    }
    DLS_TRY(dls_grow(&w->lines, &w->lines_cap, w->n_lines + 1, sizeof *w->lines, err));
    while (at < w->n_lines && w->lines[at] < bps) {
        at++;
    }
    memmove(w->lines + at + 1, w->lines + at, (w->n_lines - at) * sizeof *w->lines);
    w->lines[at] = bps;
    w->n_lines++;
    return DLS_OK;
}

static void widen(dls_world *w, int32_t type, const dls_node_group *g)
{
    const int32_t rack = g->nodes_per_rack > 0 ? g->nodes_per_rack : g->nodes;
    const double nic = goodput(g->nic_bps);
    for (int32_t k = 0; k <= DLS_GPUS_PER_NODE_MAX; k++) {
        const double bps = dls_rails_bps(nic, k < g->gpus_per_node ? k : g->gpus_per_node,
                                         g->rails ? g->gpus_per_node : 0);
        double *best = &w->type_nic[type][k];
        *best = w->node_size[type] == 0 ? bps : bps > 0 && *best > 0 ? fmax(bps, *best) : 0;
    }
    if (g->gpus_per_node > w->node_size[type]) {
        w->node_size[type] = g->gpus_per_node;
    }
    if (rack > w->rack_size[type]) {
        w->rack_size[type] = rack;
    }
    const int32_t domain = g->domain_gpus > 0 ? g->domain_gpus : g->gpus_per_node;
    const double between = goodput(g->domain_bps), now = w->type_between[type];
    w->type_domain[type] = domain > w->type_domain[type] ? domain : w->type_domain[type];
    w->type_between[type] = now > 0 && !(between > 0 && between < now) ? now : between;
}

/* The reference GPU: one of the cluster's, or one of the table of GPUs in nodes like the cluster's.
 */
static dls_status find_reference(dls_world *w, dls_error *err)
{
    const dls_cluster_spec *c = w->p.cluster;
    const char *name = w->p.reference_gpu;
    if (!name || !*name) {
        return DLS_OK;
    }
    for (int32_t t = 0; t < c->n_types; t++) {
        if (strcmp(c->types[t].name, name) == 0) {
            w->reference_type = t;
            return DLS_OK;
        }
    }
    const dls_gpu_type *gpu = dls_gpu_find(name);
    if (!gpu) {
        return dls_fail(err, DLS_ECONFIG, "perf.reference_gpu",
                        "\"%s\" is neither a GPU type of the cluster nor one that is known", name);
    }
    w->types[w->n_types] = *gpu;
    w->reference_type = w->n_types++;
    for (int32_t g = 0; g < c->n_groups; g++) {
        widen(w, w->reference_type, &c->groups[g]);
    }
    return DLS_OK;
}

static dls_status add_types(dls_world *w, dls_error *err)
{
    const dls_cluster_spec *c = w->p.cluster;
    memcpy(w->types, c->types, (size_t)c->n_types * sizeof *c->types);
    w->n_types = c->n_types;
    w->uplink = goodput(c->rack_uplink_bps);
    w->domain = goodput(c->rack_nvlink_bps);
    w->n_paths = dls_cluster_uplinks(c);
    for (int32_t g = 0; g < c->n_groups; g++) {
        const double nic = goodput(c->groups[g].nic_bps);
        const int32_t size = c->groups[g].gpus_per_node;
        widen(w, c->groups[g].type, &c->groups[g]);
        w->nodes_of[c->groups[g].type][size] += c->groups[g].nodes;
        for (int32_t k = c->groups[g].rails ? 1 : size; k <= size; k++) {
            DLS_TRY(add_line(w, dls_rails_bps(nic, k, c->groups[g].rails ? size : 0), err));
        }
    }
    for (int32_t t = 0; t < c->n_types; t++) {
        DLS_TRY(add_line(w, w->type_between[t], err));
    }
    DLS_TRY(add_line(w, w->uplink, err));
    DLS_TRY(add_line(w, w->domain, err));
    return find_reference(w, err);
}

static void lay_out(dls_world *w)
{
    const dls_cluster_spec *c = w->p.cluster;
    int32_t node = 0, rack = 0;
    for (int32_t g = 0; g < c->n_groups; g++) {
        const dls_node_group *group = &c->groups[g];
        const int32_t per_rack = group->nodes_per_rack > 0 ? group->nodes_per_rack : group->nodes;
        for (int32_t i = 0; i < group->nodes; i++, node++) {
            w->node[node] = (dls_node_gpus){.type = group->type,
                                            .rack = rack + i / per_rack,
                                            .rails = group->rails ? group->gpus_per_node : 0,
                                            .domain_gpus = group->domain_gpus};
            w->wire[node].base = goodput(group->nic_bps);
        }
        rack += (group->nodes + per_rack - 1) / per_rack;
    }
    for (int32_t r = 0; r < w->n_racks * w->n_paths; r++) {
        w->wire[w->n_nodes + r].base = w->uplink;
    }
    w->wire[w->n_links - 1].base = goodput(c->core_bps);
    for (int32_t l = 0; l < w->n_links; l++) {
        const double base = w->wire[l].base;
        dls_shares_set_capacity(&w->shares, l, base);
        w->shares.link[l].widest = fmin(base, w->n_lines ? w->lines[w->n_lines - 1] : 0);
    }
}

static dls_status build_links(dls_world *w, dls_error *err)
{
    const dls_cluster_spec *c = w->p.cluster;
    for (int32_t g = 0; g < c->n_groups; g++) {
        const dls_node_group *group = &c->groups[g];
        const int32_t per_rack = group->nodes_per_rack > 0 ? group->nodes_per_rack : group->nodes;
        w->n_nodes += group->nodes;
        w->n_racks += (group->nodes + per_rack - 1) / per_rack;
    }
    w->n_links = w->n_nodes + w->n_racks * w->n_paths + 1;
    DLS_TRY(dls_alloc_array(&w->node, (size_t)w->n_nodes, sizeof *w->node, "links", err));
    DLS_TRY(dls_alloc_array(&w->wire, (size_t)w->n_links, sizeof *w->wire, "links", err));
    DLS_TRY(dls_shares_init(&w->shares, w->n_links, err));
    lay_out(w);
    return DLS_OK;
}

/* ---- work ------------------------------------------------------------------------------------ */

int64_t dls_world_rate(const dls_world *w, int32_t job, double iteration_s)
{
    const double rate = w->reference_s[job] / iteration_s * (double)DLS_RATE_ONE;
    return rate < 1 ? 1 : rate > 0x1p40 ? INT64_C(1) << 40 : llround(rate);
}

static dls_status reference_of(dls_world *w, int32_t job, dls_truth_note *note, dls_error *err)
{
    const int32_t gpus = dls_trace_cols(w->p.trace)->gpus[job], type = w->reference_type;
    const int32_t nodes = dls_world_fewest_nodes(w, type, gpus);
    const int32_t racks = (nodes - 1) / w->rack_size[type] + 1;
    const dls_shape_key key = {.kind = w->kinds.of[job],
                               .type = type,
                               .gpus = gpus,
                               .n_nodes = nodes,
                               .line = dls_world_line(w, type, gpus, nodes, racks),
                               .domains = dls_world_domains(w, nodes, racks),
                               .inner = dls_world_inner(w, type, gpus, nodes)};
    int32_t shape;
    DLS_TRY(dls_world_shape_of(w, &key, &shape, err));
    w->reference_s[job] = w->shapes.entry[shape].solo.iteration_s;
    *note = w->shapes.entry[shape].note;
    return DLS_OK;
}

static dls_status work_of(dls_world *w, int32_t job, dls_error *err)
{
    const dls_trace_columns *col = dls_trace_cols(w->p.trace);
    const int64_t iterations = dls_trace_i64(col->iterations, (size_t)job);
    const int64_t duration = col->duration_us[job];
    bool counted = false, each = false;
    w->reference_s[job] = 1;
    if (!w->ops->unit_rate && !w->ops->durations) {
        dls_truth_note note;
        DLS_TRY(reference_of(w, job, &note, err));
        counted = iterations > 0 && !note.unknown;
        each = note.each;
        w->notes.unknown_model_jobs += note.unknown;
        w->notes.stand_in_jobs += note.stand_in;
    }
    if (!counted && duration == DLS_ABSENT &&
        (w->ops->unit_rate || w->ops->durations || iterations < 1)) {
        return dls_trace_no_duration(w->p.trace, (size_t)job, err);
    }
    w->work_us[job] = duration;
    if (counted || duration == DLS_ABSENT) {
        const double us =
            (double)iterations * w->reference_s[job] / (each ? col->gpus[job] : 1) * 1e6;
        w->work_us[job] = us < (double)DLS_TIME_MAX_US ? llround(us) : DLS_TIME_MAX_US;
    }
    return DLS_OK;
}

bool dls_world_fits(const dls_world *w, int32_t job, int32_t type)
{
    const dls_kind *kind = &w->kinds.kind[w->kinds.of[job]];
    bool fits = w->fits_on[w->kinds.of[job]] >> type & 1;
    if (w->ops->fits && dls_llm_named(kind->model)) { /* of which GPUs hold the less the more there are */
        dls_error told_later;
        const int32_t gpus = dls_trace_cols(w->p.trace)->gpus[job];
        fits = w->ops->fits(w->truth, kind, type, gpus, &fits, &told_later) != DLS_OK || fits;
    }
    return fits;
}

static dls_status find_fits(dls_world *w, dls_error *err)
{
    DLS_TRY(dls_alloc_array(&w->fits_on, (size_t)w->kinds.n + 1, sizeof *w->fits_on, "world", err));
    for (int32_t k = 0; k < w->kinds.n; k++) {
        for (int32_t t = 0; t < w->n_types; t++) {
            bool fits = true;
            if (w->ops->fits) {
                DLS_TRY(w->ops->fits(w->truth, &w->kinds.kind[k], t, 0, &fits, err));
            }
            w->fits_on[k] |= (uint32_t)fits << t;
        }
    }
    return DLS_OK;
}

static dls_status add_jobs(dls_world *w, dls_error *err)
{
    w->n_jobs = dls_trace_cols(w->p.trace)->n;
    DLS_TRY(DLS_ALLOC_ALL("world", err, DLS_ARRAY(w->reference_s, w->n_jobs + 1),
                          DLS_ARRAY(w->work_us, w->n_jobs + 1), DLS_ARRAY(w->slot_of, w->n_jobs + 1)));
    DLS_TRY(find_fits(w, err));
    for (size_t j = 0; j < w->n_jobs; j++) {
        w->slot_of[j] = -1;
        DLS_TRY(work_of(w, (int32_t)j, err));
    }
    return DLS_OK;
}

static dls_status build_world(dls_world *w, dls_error *err)
{
    w->free_slot = -1;
    w->n_levels = 1;
    w->drift = dls_drift_of(w->p.jitter, w->p.pull_back);
    DLS_TRY(find_truth(w->p.model, &w->ops, err));
    DLS_TRY(add_types(w, err));
    DLS_TRY(build_links(w, err));
    if (w->p.kinds) {
        w->kinds = *w->p.kinds;
    } else {
        DLS_TRY(dls_kinds_of_trace(w->p.trace, w->p.stand_ins, w->p.memo, &w->kinds, err));
    }
    if (w->ops->open) {
        DLS_TRY(w->ops->open(&w->p, w->types, w->n_types, &w->truth, err));
    }
    DLS_TRY(add_jobs(w, err));
    if (w->p.variability_path) {
        DLS_TRY(dls_variability_load(&w->p, &w->kinds, &w->variability, err));
    }
    if (!w->p.stages_path) {
        return DLS_OK;
    }
    DLS_TRY(dls_stage_table_load(w->p.stages_path, w->p.trace, &w->stages, err));
    w->notes.extrapolated_shapes += w->stages.nearest;
    return DLS_OK;
}

DLS_OWNER(dls_world, dls_world_destroy)

dls_status dls_world_create(const dls_world_params *p, dls_world **out, dls_error *err)
{
    *out = NULL;
    DLS_HOLD(dls_world_destroy) dls_world *w = NULL;
    DLS_TRY(dls_alloc_array(&w, 1, sizeof *w, "world", err));
    w->p = *p;
    DLS_TRY(build_world(w, err));
    *out = dls_take(&w);
    return DLS_OK;
}

void dls_world_destroy(dls_world *w)
{
    if (!w) {
        return;
    }
    if (w->truth) {
        w->ops->close(w->truth);
    }
    if (!w->p.kinds) {
        dls_kinds_fini(&w->kinds);
    }
    dls_stage_table_fini(&w->stages);
    dls_variability_fini(&w->variability);
    dls_shapes_fini(&w->shapes);
    dls_shares_fini(&w->shares);
    dls_world_levels_fini(w);
    DLS_FREE_ALL(w->fits_on, w->lines, w->reference_s, w->work_us, w->slot_of, w->node, w->wire,
                 w->slot, w->touched, w->moved, w->changed, w->seat);
    dls_free(w);
}

/* ---- questions ------------------------------------------------------------------------------- */

const dls_kinds *dls_world_kinds(const dls_world *w)
{
    return &w->kinds;
}

int64_t dls_world_work_us(const dls_world *w, int32_t job)
{
    return w->work_us[job];
}

double dls_world_reference_s(const dls_world *w, int32_t job)
{
    return w->reference_s[job];
}

double dls_world_gpu_speed(const dls_world *w, int32_t job, int32_t node, int32_t gpu)
{
    return dls_variability_speed(&w->variability, w->kinds.of[job], node, gpu);
}

dls_status dls_world_solo(dls_world *w, int32_t job, const dls_shape *shape, dls_solo *out,
                          dls_error *err)
{
    if (w->ops->unit_rate) {
        *out = (dls_solo){.iteration_s = 1, .compute_s = 1, .gamma = 1};
        return DLS_OK;
    }
    const dls_shape_key key = {
        .kind = w->kinds.of[job],
        .type = shape->type,
        .gpus = shape->gpus,
        .n_nodes = shape->n_nodes,
        .line = dls_world_line(w, shape->type, shape->gpus, shape->n_nodes, shape->n_racks),
        .domains = dls_world_domains(w, shape->n_nodes, shape->n_racks),
        .inner = dls_world_inner(w, shape->type, shape->gpus, shape->n_nodes)};
    int32_t index;
    DLS_TRY(dls_world_shape_of(w, &key, &index, err));
    *out = w->shapes.entry[index].solo;
    return DLS_OK;
}

int64_t dls_world_solo_rate(dls_world *w, int32_t job, const dls_solo *solo)
{
    return dls_world_rate(w, job, solo->iteration_s);
}

int64_t dls_world_alone_rate(const dls_world *w, int32_t job)
{
    const int32_t shape = w->slot[w->slot_of[job]].shape;
    return shape < 0 ? DLS_RATE_ONE : dls_world_rate(w, job, w->shapes.entry[shape].solo.iteration_s);
}

dls_shape dls_world_shape(const dls_world *w, int32_t type, const dls_seat *seats, size_t n)
{
    dls_shape s = {.type = type, .n_nodes = (int32_t)n};
    for (size_t i = 0; i < n; i++) {
        bool seen = false;
        s.gpus += __builtin_popcountll(seats[i].mask);
        for (size_t k = i; k-- > 0 && !seen;) { /* neighbours mostly share a rack */
            seen = w->node[seats[k].node].rack == w->node[seats[i].node].rack;
        }
        s.n_racks += !seen;
    }
    return s;
}

bool dls_world_drifts(const dls_world *w)
{
    return w->drift.jitter > 0;
}

dls_pull_backs dls_world_pull_backs(const dls_world *w)
{
    return (dls_pull_backs){(double)w->pull_backs / DLS_PULL_ONE,
                            (double)w->pulled_gpus / DLS_PULL_ONE};
}

dls_world_notes dls_world_about(const dls_world *w)
{
    return w->notes;
}

dls_world_cost dls_world_cost_so_far(const dls_world *w)
{
    return w->cost;
}

dls_link_load dls_world_link_load(const dls_world *w)
{
    return (dls_link_load){
        .nic_mean = dls_load_gauge_mean(&w->nic_load),
        .nic_max = dls_load_gauge_max(&w->nic_load),
        .uplink_mean = dls_load_gauge_mean(&w->uplink_load),
        .uplink_max = dls_load_gauge_max(&w->uplink_load),
    };
}
