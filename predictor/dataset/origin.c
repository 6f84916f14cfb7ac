/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Rebuilds the kernels of a dataset's graph from its recorded origin: the zoo model or random
 * model, batch, precision and optimiser.
 */
#include "predictor/dataset/origin.h"

#include "base/own.h"
#include "workload/graph/random_model.h"
#include "workload/graph/zoo.h"
#include "workload/operator/from_graph.h"

static dls_status build_zoo(const dls_zoo_model *model, const dls_dataset_origin *o,
                            dls_numeric numeric, const dls_optimiser *optimiser,
                            dls_opgraph **graph, dls_error *err)
{
    dls_zoo_options options = dls_zoo_defaults(model);
    options.batch = o->batch;
    options.numeric = numeric;
    options.optimiser = optimiser ? *optimiser : options.optimiser;
    return dls_zoo_build(model, &options, graph, err);
}

static dls_status build(const dls_dataset_origin *o, uint64_t seed, dls_numeric numeric,
                        const dls_optimiser *optimiser, dls_opgraph **graph, dls_error *err)
{
    const dls_zoo_model *model = dls_zoo_find(o->model);
    dls_random_model random;
    if (model) {
        return build_zoo(model, o, numeric, optimiser, graph, err);
    }
    if (!dls_random_model_named(seed, o->model, &random)) {
        return dls_fail(err, DLS_EINPUT, o->model,
                        "model \"%s\" is not in the model zoo and no random model", o->model);
    }
    random.batch = o->batch;
    random.numeric = numeric;
    random.optimiser = optimiser ? *optimiser : random.optimiser;
    return dls_random_model_build(&random, graph, err);
}

dls_status dls_dataset_workload(const dls_dataset_origin *o, uint64_t seed, dls_workload *w,
                                dls_numeric *numeric, dls_error *err)
{
    DLS_HOLD(dls_opgraph_destroy) dls_opgraph *graph = NULL;
    dls_optimiser optimiser;
    if (!dls_numeric_find(o->numeric, numeric) ||
        (*o->optimiser && !dls_optimiser_find(o->optimiser, &optimiser))) {
        return dls_fail(err, DLS_EINPUT, o->model, "no precision \"%s\" or no optimiser \"%s\"",
                        o->numeric, o->optimiser);
    }
    DLS_TRY(build(o, seed, *numeric, *o->optimiser ? &optimiser : NULL, &graph, err));
    return dls_workload_from_graph(graph, w, err);
}
