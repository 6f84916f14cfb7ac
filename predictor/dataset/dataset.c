/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Dataset in memory: how it is freed and how its settings are found and described; dataset_h5.c is
 * its file.
 */
#include "predictor/dataset/dataset.h"

#include "base/alloc.h"
#include "workload/graph/input.h"

#include <string.h>

const char *dls_split_name(int split)
{
    static const char *const names[] = {"train", "val", "test"};
    return split >= 0 && split < DLS_SPLITS ? names[split] : NULL;
}

static void setting_fini(dls_dataset_setting *s)
{
    DLS_FREE_ALL(s->graph, s->split, s->label, s->iteration_s, s->truth, s->model_s, s->link_bytes);
}

void dls_dataset_destroy(dls_dataset *set)
{
    if (!set) {
        return;
    }
    for (size_t i = 0; set->graph && i < set->n_graphs; i++) {
        dls_input_graph_fini(&set->graph[i]);
    }
    for (size_t i = 0; set->setting && i < set->n_settings; i++) {
        setting_fini(&set->setting[i]);
    }
    DLS_FREE_ALL(set->graph, set->origin, set->setting, set->features_text, set);
}

int32_t dls_dataset_find(const dls_dataset *set, const char *setting)
{
    for (size_t i = 0; i < set->n_settings; i++) {
        if (strcmp(set->setting[i].name, setting) == 0) {
            return (int32_t)i;
        }
    }
    return -1;
}

dls_setting_info dls_dataset_setting_info(const dls_dataset_setting *s)
{
    return (dls_setting_info){.name = s->name,
                              .gpu_type = s->gpu_type,
                              .topology = s->topology,
                              .network = s->network,
                              .n_ps = s->n_ps,
                              .n_workers = s->n_workers,
                              .n_nodes = s->n_nodes};
}

bool dls_dataset_known(const dls_dataset_setting *s, size_t row, dls_known *known)
{
    if (!s->model_s || !s->link_bytes) {
        return false;
    }
    *known = (dls_known){.step_s = s->model_s[row], .link_bytes = s->link_bytes[row]};
    return true;
}
