/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * A row per start: where, what was predicted, what came of it; and how fast a job could be at best.
 */
#include "base/assert.h"
#include "engine/engine.h"

#include <math.h>

dls_status dls_starts_open(dls_engine *e, int32_t job, dls_error *err)
{
    DLS_DEBUG_ASSERT(e->job[job].parts >= 0);
    if (!e->jobs.start_row) {
        return DLS_OK;
    }
    const dls_prediction_ops *a = e->params->predictions;
    const dls_shape shape = dls_shape_of(e, job);
    dls_prediction said = {.iteration_s = (double)NAN, .remaining_s = (double)NAN};
    dls_start_rows *s = &e->rec->starts;
    size_t row;
    if (a) {
        a->get(a->from, job, &shape, dls_work_to_us(e->job[job].work), &said);
    }
    if (e->params->history) {
        said.remaining_s = (double)dls_job_remaining_us(e, job) / 1e6;
    }
    DLS_TRY(dls_record_start_row(e->rec, job, e->clock.now_us, &row, err));
    e->jobs.start_row[job] = row;
    s->host[row] = e->guests.job ? e->guests.job[job].host : -1;
    s->type[row] = shape.type;
    s->n_nodes[row] = shape.n_nodes;
    s->n_racks[row] = shape.n_racks;
    s->left_us[row] = dls_work_to_us(e->job[job].work);
    s->work_us[row] = 0;
    s->executed_us[row] = -e->rec->executed_us[job]; /* until it is closed */
    s->iteration_s[row] = (float)said.iteration_s;
    s->remaining_s[row] = (float)said.remaining_s;
    return DLS_OK;
}

void dls_starts_close(dls_engine *e, int32_t job)
{
    if (!e->jobs.start_row) {
        return;
    }
    dls_start_rows *s = &e->rec->starts;
    const size_t row = e->jobs.start_row[job];
    s->end_us[row] = e->clock.now_us;
    s->work_us[row] = dls_work_to_us(e->jobs.work_at_start[job] - e->job[job].work);
    s->executed_us[row] += e->rec->executed_us[job];
}

dls_status dls_find_fastest(dls_engine *e, int32_t job, dls_error *err)
{
    DLS_DEBUG_ASSERT(e->rec->fastest_us && e->params->pace->solo);
    const dls_pace *pace = e->params->pace;
    const dls_class *c = &e->select.cls[e->job[job].cls];
    int64_t best = 0;
    for (int32_t t = 0; t < e->select.n_types; t++) {
        if (!(c->types >> t & 1)) {
            continue;
        }
        const dls_type_index *type = &e->index->type[t];
        const int32_t n_nodes = dls_fewest_nodes(type->sizes, type->max_gpus, c->gpus);
        const int32_t in_rack = e->hold.rack_nodes[t];
        const dls_shape shape = {t, c->gpus, n_nodes, (n_nodes + in_rack - 1) / in_rack};
        dls_solo solo;
        int64_t rate;
        DLS_TRY(pace->solo(pace->world, job, &shape, &solo, &rate, err));
        best = rate > best ? rate : best;
    }
    if (best > 0) {
        e->rec->fastest_us[job] = dls_work_time_us(e->job[job].work, best);
    }
    return DLS_OK;
}
