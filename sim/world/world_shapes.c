/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Keeps what the truth says of each (kind, shape) in a hash table, with the residual applied, so
 * that each is computed once.
 */
#include "world/world_impl.h"

#include "base/alloc.h"
#include "workload/graph/zoo.h"
#include "workload/operator/residual.h"

#include <math.h>
#include <stdio.h>

void dls_shapes_fini(dls_shapes *shapes)
{
    for (size_t i = 0; i < shapes->n; i++) {
        dls_free(shapes->entry[i].curve);
    }
    dls_free(shapes->entry);
    dls_strdict_fini(&shapes->keys);
    *shapes = (dls_shapes){0};
}

int32_t dls_world_fewest_nodes(const dls_world *w, int32_t type, int32_t gpus)
{
    return dls_fewest_nodes(w->nodes_of[type], w->node_size[type], gpus);
}

int32_t dls_world_line_index(const dls_world *w, double bps)
{
    for (size_t i = 0; i < w->n_lines; i++) {
        if (w->lines[i] == bps) {
            return (int32_t)i;
        }
    }
    return -1;
}

int32_t dls_world_domains(const dls_world *w, int32_t n_nodes, int32_t n_racks)
{
    return w->domain > 0 && n_nodes > 1 ? n_racks : 0;
}

int32_t dls_world_line(const dls_world *w, int32_t type, int32_t gpus, int32_t n_nodes, int32_t n_racks)
{
    if (n_nodes < 2) {
        return -1;
    }
    if (n_racks == 1 && w->domain > 0) {
        return dls_world_line_index(w, w->domain);
    }
    const int32_t least = gpus / n_nodes; /* GPUs of the node that has the fewest */
    double bps = w->type_nic[type][least < DLS_GPUS_PER_NODE_MAX ? least : DLS_GPUS_PER_NODE_MAX];
    if (n_racks > 1 && w->uplink > 0 && (w->uplink < bps || !(bps > 0))) {
        bps = w->uplink;
    }
    return dls_world_line_index(w, bps);
}

int32_t dls_world_inner(const dls_world *w, int32_t type, int32_t gpus, int32_t n_nodes)
{
    return (gpus + n_nodes - 1) / n_nodes > w->type_domain[type]
               ? dls_world_line_index(w, w->type_between[type])
               : -1;
}

/* ---- the residual -------------------------------------------------------------------------------- */

static double residual(const dls_world *w, const dls_shape_key *key)
{
    char link[32] = "node";
    if (!w->ops->modelled) {
        return 1;
    }
    if (key->line >= 0) {
        snprintf(link, sizeof link, "%.0f", w->lines[key->line]);
    } else if (key->n_nodes > 1) {
        snprintf(link, sizeof link, "unlimited");
    }
    const dls_kind *kind = &w->kinds.kind[key->kind];
    const dls_residual_key names = {.model = kind->model,
                                    .gpu = w->types[key->type].name,
                                    .link = link,
                                    .family = kind->names.zoo->family,
                                    .framework = w->p.host ? w->p.host : ""};
    return dls_residual_shared(w->p.seed, &names,
                               key->n_nodes > 1 ? w->p.network_residual_sigma : w->p.residual_sigma,
                               w->p.residual_shared);
}

static void multiply(dls_solo *s, double by)
{
    s->compute_s *= by;
    s->overlap_s *= by;
    s->fixed_s *= by;
    s->link_bytes *= by;
}

/* ---- the table ----------------------------------------------------------------------------------- */

static dls_status work_out(dls_world *w, dls_shape_entry *e, dls_error *err)
{
    const dls_shape_key *key = &e->key;
    dls_solo *solo = &e->solo;
    const dls_truth_ask ask = {
        .kind = &w->kinds.kind[key->kind],
        .type = key->type,
        .gpus = key->gpus,
        .n_nodes = key->n_nodes,
        .spread = key->n_nodes > dls_world_fewest_nodes(w, key->type, key->gpus),
        .line_bps = key->line < 0 ? 0 : w->lines[key->line],
        .domains = key->domains,
        .domain_bps = w->domain,
        .inner_bps = key->inner < 0 ? 0 : w->lines[key->inner]};
    DLS_TRY(w->ops->solo(w->truth, &ask, solo, &e->note, err));
    multiply(solo, residual(w, key));
    solo->line_bps = solo->link_bytes > 0 ? ask.line_bps : 0;
    if (!(solo->line_bps > 0)) {
        solo->link_bytes = 0;
    }
    solo->iteration_s = dls_solo_time(solo, solo->line_bps);
    w->notes.unmeasured_shapes += e->note.unmeasured;
    w->notes.extrapolated_shapes += e->note.extrapolated;
    w->notes.split_batch_shapes += e->note.split_batch;
    if (!(solo->iteration_s > 0) || !isfinite(solo->iteration_s)) {
        return dls_fail(err, DLS_ERUN, ask.kind->model, "no iteration time on %d x %s in %d nodes",
                        (int)key->gpus, w->types[key->type].name, (int)key->n_nodes);
    }
    return DLS_OK;
}

dls_status dls_world_shape_of(dls_world *w, const dls_shape_key *key, int32_t *index,
                              dls_error *err)
{
    dls_shapes *s = &w->shapes;
    dls_shape_entry e = {.key = *key};
    *index = dls_strdict_find(&s->keys, (const char *)key, sizeof *key);
    if (*index >= 0) {
        return DLS_OK;
    }
    DLS_TRY(dls_grow(&s->entry, &s->cap, s->n + 1, sizeof *s->entry, err));
    DLS_TRY(work_out(w, &e, err));
    DLS_TRY(dls_strdict_put(&s->keys, (const char *)key, sizeof *key, index, err));
    s->entry[s->n++] = e;
    return DLS_OK;
}
