/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "predictor/dataset/origin.h"

#include "predictor/graph/zoo.h"
#include "predictor/operator/from_graph.h"

dls_status dls_dataset_workload(const dls_dataset_origin *o, dls_workload *w, dls_numeric *numeric,
                                dls_error *err)
{
    const dls_zoo_model *model = dls_zoo_find(o->model);
    dls_opgraph *graph = NULL;
    if (!model) {
        return dls_fail(err, DLS_EINPUT, o->model, "model \"%s\" is not in the model zoo",
                        o->model);
    }
    dls_zoo_options options = dls_zoo_defaults(model);
    options.batch = o->batch;
    if (!dls_numeric_find(o->numeric, &options.numeric) ||
        (*o->optimiser && !dls_optimiser_find(o->optimiser, &options.optimiser))) {
        return dls_fail(err, DLS_EINPUT, o->model, "no precision \"%s\" or no optimiser \"%s\"",
                        o->numeric, o->optimiser);
    }
    *numeric = options.numeric;
    DLS_TRY(dls_zoo_build(model, &options, &graph, err));
    const dls_status status = dls_workload_from_graph(graph, w, err);
    dls_opgraph_destroy(graph);
    return status;
}
