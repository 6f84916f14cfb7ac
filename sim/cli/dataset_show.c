/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "cli/dataset_show.h"

#include <math.h>
#include <stdio.h>

static void show_setting(const dls_dataset_setting *s)
{
    size_t in[DLS_SPLITS] = {0};
    double least = INFINITY, most = 0;
    for (size_t i = 0; i < s->n; i++) {
        in[s->split[i]]++;
        least = fmin(least, s->iteration_s[i]);
        most = fmax(most, s->iteration_s[i]);
    }
    printf("%-24s %-12s %-9s %-8s %3d %3d %3d %4zu %4zu %4zu %9.3g %9.3g\n", s->name, s->gpu_type,
           s->topology, s->network, (int)s->n_ps, (int)s->n_workers, (int)s->n_nodes,
           in[DLS_SPLIT_TRAIN], in[DLS_SPLIT_VAL], in[DLS_SPLIT_TEST], least, most);
}

dls_status dls_dataset_show(const char *path, const char *const *settings, size_t n_settings,
                            dls_error *err)
{
    dls_dataset *set;
    DLS_TRY(dls_dataset_load(path, n_settings ? settings : NULL, n_settings, &set, err));
    printf("%zu graphs, %d features a group (%s), seed %llu\n%s\n\n", set->n_graphs,
           (int)set->n_features, set->feature_version, (unsigned long long)set->seed, set->command);
    printf("%-24s %-12s %-9s %-8s %3s %3s %3s %4s %4s %4s %9s %9s\n", "setting", "GPU", "exchange",
           "link", "ps", "w", "n", "trai", "val", "test", "least s", "most s");
    for (size_t i = 0; i < set->n_settings; i++) {
        show_setting(&set->setting[i]);
    }
    dls_dataset_destroy(set);
    return DLS_OK;
}
