/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * `dlsim evaluate --nearest`: errors on settings that an inspector was not trained on, beside those
 * of the nearest trained setting and of the setting's own training.
 */
#include "predictor/cli/evaluate.h"

#include "base/own.h"
#include "predictor/sources/setting_files.h"
#include "predictor/sources/setting_map.h"
#include "predictor/training/fit.h"

#include <stdio.h>

enum { TOGETHER, NEAREST, OWN, WAYS };

typedef struct unseen {
    const dls_inspector *insp;
    const dls_dataset *set;
    const dls_evaluation *o;
    dls_inspector *own, *seen; /* all of the file; those of it that insp saw */
    dls_predictor *predictor[WAYS];
    dls_hardware hw;
    dls_setting_map map;
} unseen;

static void close_unseen(unseen *u)
{
    for (int i = 0; i < WAYS; i++) {
        dls_predictor_destroy(u->predictor[i]);
    }
    dls_setting_map_fini(&u->map);
    dls_hardware_fini(&u->hw);
    dls_inspector_destroy(u->own);
    dls_inspector_destroy(u->seen);
}

static dls_status open_unseen(unseen *u, dls_error *err)
{
    const dls_predictor_options po = {.backend = DLS_BACKEND_CPU, .threads = u->o->threads};
    DLS_TRY(dls_inspector_load(u->o->nearest, &u->own, err));
    DLS_TRY(dls_inspector_load(u->o->nearest, &u->seen, err));
    DLS_TRY(dls_fit_check(u->own, u->set, err));
    DLS_TRY(dls_setting_files_settle_set(u->own, u->set, NULL, 0, u->o->hardware, err));
    DLS_TRY(dls_setting_files_settle_set(u->seen, u->set, NULL, 0, u->o->hardware, err));
    for (int32_t i = dls_inspector_n_settings(u->seen) - 1; i >= 0; i--) {
        if (!dls_inspector_saw(u->insp, dls_inspector_setting(u->seen, i).name)) {
            dls_inspector_remove_setting(u->seen, i);
        }
    }
    DLS_TRY(dls_hardware_load(u->o->hardware, &u->hw, err));
    DLS_TRY(dls_setting_map_init(&u->map, u->seen, &u->hw, NULL, err));
    const dls_inspector *of[WAYS] = {u->insp, u->seen, u->own};
    for (int i = 0; i < WAYS; i++) {
        DLS_TRY(dls_predictor_create(of[i], &po, &u->predictor[i], err));
    }
    return DLS_OK;
}

static int32_t nearest_to(const unseen *u, const dls_dataset_setting *s, double *distance)
{
    const dls_hw_gpu *gpu = NULL;
    const dls_hw_link *link = NULL;
    (void)!dls_hardware_gpu(&u->hw, s->gpu_type, &gpu, NULL);
    (void)!dls_hardware_link(&u->hw, s->network, &link, NULL);
    const dls_whereabouts where = {.gpu = s->gpu_type,
                                   .fp32_flops = gpu ? gpu->fp32_flops : 0,
                                   .workers = s->n_workers,
                                   .nodes = s->n_nodes,
                                   .link_bps = link ? link->bps : 0,
                                   .exchange = s->topology,
                                   .servers = s->n_ps};
    return dls_setting_map_find(&u->map, &where, distance);
}

/* error[way]: NRMSE by range, of the step time, percentage error of that. */
static dls_status judge_ways(const unseen *u, size_t setting, const int32_t as[WAYS],
                             double error[WAYS][3], dls_error *err)
{
    for (int i = 0; i < WAYS; i++) {
        dls_judgement j;
        DLS_TRY(dls_judge(u->predictor[i], u->set, setting, as[i], u->o->split, &j, err));
        const dls_error_table *t = &j.table[DLS_WHO_INSPECTOR];
        error[i][0] = t->by_range;
        error[i][1] = t->iteration.by_range;
        error[i][2] = t->iteration.percent;
    }
    return DLS_OK;
}

static void print_row(const char *name, const char *nearest, const char *distance,
                      double error[WAYS][3])
{
    printf("%-22s %-22s %5s", name, nearest, distance);
    for (int i = 0; i < WAYS; i++) {
        printf("  %7.4f %7.4f %6.1f%%", error[i][0], error[i][1], error[i][2]);
    }
    putchar('\n');
}

static dls_status print_all(const unseen *u, dls_error *err)
{
    double sum[WAYS][3] = {{0}};
    size_t n = 0;
    printf("%-22s %-22s %5s  %-24s  %-24s  %-24s\n", "unseen setting", "nearest", "dist.",
           "all settings: NRMSE iter", "nearest", "own");
    for (size_t i = 0; i < u->set->n_settings; i++) {
        const dls_dataset_setting *s = &u->set->setting[i];
        char text[32];
        double distance = 0;
        double error[WAYS][3];
        const int32_t own = dls_inspector_find(u->own, s->name);
        if (own < 0 || dls_inspector_saw(u->insp, s->name)) {
            continue;
        }
        const int32_t near = nearest_to(u, s, &distance);
        const int32_t as[WAYS] = {dls_inspector_find(u->insp, s->name), near, own};
        DLS_TRY(judge_ways(u, i, as, error, err));
        snprintf(text, sizeof text, "%.1f", distance);
        print_row(s->name, dls_inspector_setting(u->seen, near).name, text, error);
        for (int k = 0; k < WAYS * 3; k++) {
            sum[k / 3][k % 3] += error[k / 3][k % 3];
        }
        n++;
    }
    for (int k = 0; k < WAYS * 3; k++) {
        sum[k / 3][k % 3] /= (double)(n ? n : 1);
    }
    if (n == 0) {
        return dls_fail(err, DLS_EINPUT, u->o->nearest,
                        "no setting of the dataset is in this file and was left out of training");
    }
    print_row("average", "", "", sum);
    return DLS_OK;
}

dls_status dls_unseen_print(const dls_inspector *insp, const dls_dataset *set,
                            const dls_evaluation *o, dls_error *err)
{
    if (insp->arch.n_conditions == 0 || !insp->condition.trained_on) {
        return dls_fail(err, DLS_EINPUT, "--nearest",
                        "only an inspector of all settings that says what it was trained on has "
                        "unseen ones");
    }
    DLS_OWN(close_unseen) unseen u = {.insp = insp, .set = set, .o = o};
    DLS_TRY(open_unseen(&u, err));
    return print_all(&u, err);
}
