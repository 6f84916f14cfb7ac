/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * A weights file for tests: a small network with random weights that knows some settings and the
 * features of its graphs. Include cmocka first.
 */
#ifndef DLS_TESTS_TINY_INSPECTOR_H
#define DLS_TESTS_TINY_INSPECTOR_H

/* Graphs and networks have a dls_weight each, and meet in no file but this. */
#define dls_weight dls_graph_tensor
#include "workload/graph/input.h"
#include "workload/graph/zoo.h"
#undef dls_weight

#include "base/alloc.h"
#include "predictor/driple/arch_text.h"
#include "predictor/driple/weights.h"

#include <stdio.h>

typedef struct tiny_setting {
    const char *name, *gpu, *topology, *network;
    int32_t n_ps, n_workers, n_nodes;
} tiny_setting;

#define TINY(call)                                                                                 \
    do {                                                                                           \
        dls_error tiny_err = {0};                                                                  \
        dls_error *err = &tiny_err;                                                                \
        if ((call) != DLS_OK) {                                                                    \
            fail_msg("%s: %s: %s", #call, err->where, err->msg);                                   \
        }                                                                                          \
    } while (0)

/* Frequencies and scales of two models. */
static inline void tiny_input_spec(dls_input_spec *spec, int32_t n_groups)
{
    *spec = (dls_input_spec){
        .grouping = DLS_GROUPING_UNIFORM, .n_groups = n_groups, .seed = DLS_GROUPING_SEED};
    TINY(dls_feature_spec_create(DLS_FEATURES_TOTAL, &spec->features, err));
    dls_opgraph *g[2];
    dls_grouping grouping[2];
    dls_grouped corpus[2];
    const char *const names[] = {"resnet50", "vgg16"};
    for (int i = 0; i < 2; i++) {
        const dls_zoo_model *model = dls_zoo_find(names[i]);
        const dls_zoo_options options = dls_zoo_defaults(model);
        TINY(dls_zoo_build(model, &options, &g[i], err));
        TINY(dls_grouping_create(g[i], spec->grouping, n_groups, spec->seed, &grouping[i], err));
        corpus[i] = (dls_grouped){g[i], &grouping[i]};
    }
    TINY(dls_feature_spec_fit(spec->features, corpus, 2, err));
    for (int i = 0; i < 2; i++) {
        dls_grouping_fini(&grouping[i]);
        dls_opgraph_destroy(g[i]);
    }
}

/* features: the text to store; NULL: that of tiny_input_spec. */
static inline void tiny_inspector(const char *path, const tiny_setting *settings, int32_t n,
                                  const char *arch_text, const char *features, int32_t n_groups)
{
    dls_arch arch = dls_arch_default();
    dls_inspector *insp;
    TINY(dls_arch_parse(&arch, arch_text, err));
    TINY(dls_inspector_create(&arch, &insp, err));
    TINY(dls_inspector_randomise(insp, 3, n, 8, err));
    for (int32_t i = 0; i < n; i++) {
        dls_setting *s = &insp->settings[i];
        snprintf(s->name, sizeof s->name, "%s", settings[i].name);
        snprintf(s->gpu_type, sizeof s->gpu_type, "%s", settings[i].gpu);
        snprintf(s->topology, sizeof s->topology, "%s", settings[i].topology);
        snprintf(s->network, sizeof s->network, "%s", settings[i].network);
        s->n_ps = settings[i].n_ps;
        s->n_workers = settings[i].n_workers;
        s->n_nodes = settings[i].n_nodes;
        for (int k = 0; k < DLS_METRICS; k++) {
            s->labels.scale[k] = 1 + i; /* settings differ by more than their noise */
        }
    }
    if (features) {
        insp->features_text = *features ? dls_strdup(features) : NULL;
    } else {
        dls_input_spec spec;
        tiny_input_spec(&spec, n_groups);
        TINY(dls_input_spec_text(&spec, &insp->features_text, err));
        dls_input_spec_fini(&spec);
    }
    TINY(dls_inspector_save(insp, path, err));
    dls_inspector_destroy(insp);
}

#endif
