/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Prints what a dataset holds, its graphs by family and split and its settings with their label
 * statistics, as text or as JSON.
 */
#include "predictor/cli/dataset.h"

#include "base/json.h"
#include "predictor/dataset/summary.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

static const char *const resources[] = {"gpu_mem", "gpu", "net_rx", "net_tx"};

/* ---- text ------------------------------------------------------------------------------------ */

/* How many graphs each family has in each split. */
static void show_families(const dls_dataset *set)
{
    const dls_dataset_setting *s = &set->setting[0];
    printf("\n%-14s %5s   of the first setting in\n", "family", "");
    for (size_t i = 0; i < s->n; i++) {
        const char *family = set->origin[s->graph[i]].family;
        size_t in[DLS_SPLITS] = {0};
        bool first = true;
        for (size_t k = 0; k < s->n; k++) {
            const bool same = strcmp(set->origin[s->graph[k]].family, family) == 0;
            first = first && !(same && k < i);
            in[s->split[k]] += same;
        }
        for (int split = 0; first && split < DLS_SPLITS; split++) {
            if (in[split] > 0) {
                printf("%-14s %5zu %s\n", family, in[split], dls_split_name(split));
            }
        }
    }
}

static void show_row(const dls_dataset_setting *s, const dls_dataset_summary *m)
{
    printf("%-22s %-10s %-9s %-7s %2" PRId32 " %3" PRId32 " %2" PRId32
           " %5zu %4zu %4zu %4zu %8.3g %8.3g %8.3g %4.0f %4.0f %4.0f %4.0f %6.3f %6.3f %6.3f %6.3f "
           "%6.3f%s\n",
           s->name, s->gpu_type, s->topology, *s->network ? s->network : "-", s->n_ps, s->n_workers,
           s->n_nodes, m->n_split[DLS_SPLIT_TRAIN], m->n_split[DLS_SPLIT_VAL],
           m->n_split[DLS_SPLIT_TEST], m->n_left_out, m->least_s, m->median_s, m->most_s,
           100 * m->pattern[0].both, 100 * m->pattern[1].both, 100 * m->pattern[2].both,
           100 * m->pattern[3].both, m->floor, m->neighbour_any, m->neighbour_test, m->mean_test,
           m->model_error, s->measured ? " measured" : "");
}

static dls_status show_text(const dls_dataset *set, dls_error *err)
{
    printf("%zu graphs, %" PRId32 " features a group (%s), seed %" PRIu64 "\n%s\n\n", set->n_graphs,
           set->n_features, set->feature_version, set->seed, set->command);
    printf("%-22s %-10s %-9s %-7s %2s %3s %2s %5s %4s %4s %4s %8s %8s %8s %4s %4s %4s %4s %6s %6s "
           "%6s %6s %6s\n",
           "setting", "GPU", "exchange", "link", "ps", "w", "n", "train", "val", "test", "left",
           "least s", "median s", "most s", "mem%", "gpu%", "rx%", "tx%", "floor", "nn any", "nn",
           "mean", "model");
    for (size_t i = 0; i < set->n_settings; i++) {
        dls_dataset_summary m;
        DLS_TRY(dls_dataset_summarise(set, i, &m, err));
        show_row(&set->setting[i], &m);
    }
    if (set->n_settings > 0) {
        show_families(set);
    }
    puts("\nleft: graphs that do not fit the GPU. least, median, most: of the iteration.\n"
         "mem% gpu% rx% tx%: labels with bursts and pauses. Errors of test labels over their "
         "range,\n"
         "mean of the metrics: floor, labels without noise; nn any, the nearest other graph; nn, "
         "the\n"
         "nearest train graph; mean, the train labels' mean. model: |iteration / operator model - "
         "1|.");
    return DLS_OK;
}

/* ---- JSON ------------------------------------------------------------------------------------ */

static void put_metrics(json_object *to, const char *name, const double x[DLS_METRICS])
{
    json_object *obj = dls_json_object(to, name);
    for (int k = 0; k < DLS_METRICS; k++) {
        dls_json_real(obj, dls_metric_name(k), x[k]);
    }
}

static void put_setting(json_object *list, const dls_dataset_setting *s,
                        const dls_dataset_summary *m)
{
    const struct {
        const char *name;
        double value;
    } numbers[] = {{"n_ps", s->n_ps},
                   {"n_workers", s->n_workers},
                   {"n_nodes", s->n_nodes},
                   {"train", (double)m->n_split[DLS_SPLIT_TRAIN]},
                   {"val", (double)m->n_split[DLS_SPLIT_VAL]},
                   {"test", (double)m->n_split[DLS_SPLIT_TEST]},
                   {"left_out", (double)m->n_left_out},
                   {"iteration_least_s", m->least_s},
                   {"iteration_median_s", m->median_s},
                   {"iteration_most_s", m->most_s},
                   {"nrmse_floor", m->floor},
                   {"nrmse_neighbour_any", m->neighbour_any},
                   {"nrmse_neighbour", m->neighbour_test},
                   {"nrmse_mean", m->mean_test},
                   {"model_error", m->model_error}};
    json_object *obj = dls_json_next(list);
    dls_json_text(obj, "name", s->name);
    dls_json_text(obj, "gpu", s->gpu_type);
    dls_json_text(obj, "exchange", s->topology);
    dls_json_text(obj, "link", s->network);
    dls_json_bool(obj, "measured", s->measured);
    for (size_t i = 0; i < sizeof numbers / sizeof numbers[0]; i++) {
        dls_json_real(obj, numbers[i].name, numbers[i].value);
    }
    json_object *patterns = dls_json_object(obj, "patterns");
    for (int r = 0; r < DLS_METRICS / 3; r++) {
        json_object *p = dls_json_object(patterns, resources[r]);
        dls_json_real(p, "I", m->pattern[r].idle);
        dls_json_real(p, "B", m->pattern[r].burst);
        dls_json_real(p, "BIB", m->pattern[r].both);
    }
    put_metrics(obj, "label_least", m->least);
    put_metrics(obj, "label_most", m->most);
}

static dls_status show_json(const dls_dataset *set, dls_error *err)
{
    json_object *top = json_object_new_object();
    dls_status status = DLS_OK;
    dls_json_int(top, "graphs", (int64_t)set->n_graphs);
    dls_json_text(top, "features", set->feature_version);
    dls_json_int(top, "seed", (int64_t)set->seed);
    dls_json_text(top, "command", set->command);
    json_object *settings = dls_json_list(top, "settings");
    for (size_t i = 0; i < set->n_settings && status == DLS_OK; i++) {
        dls_dataset_summary m;
        status = dls_dataset_summarise(set, i, &m, err);
        if (status == DLS_OK) {
            put_setting(settings, &set->setting[i], &m);
        }
    }
    if (status == DLS_OK) {
        return dls_json_print(stdout, top, err);
    }
    json_object_put(top);
    return status;
}

dls_status dls_dataset_show(const char *path, const char *const *settings, size_t n_settings,
                            bool json, dls_error *err)
{
    dls_dataset *set;
    DLS_TRY(dls_dataset_load(path, n_settings ? settings : NULL, n_settings, &set, err));
    const dls_status status = json ? show_json(set, err) : show_text(set, err);
    dls_dataset_destroy(set);
    return status;
}
