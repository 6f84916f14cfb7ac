/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Opens an inspector for the simulator: loads weights and hardware tables, chooses a setting for
 * each placement, and predicts batches of zoo models.
 */
#include "predictor/sources/inspector.h"

#include "base/datapath.h"
#include "base/file.h"
#include "predictor/sources/setting_files.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

const char *dls_inspector_weights(const char *given, char *buf, size_t size)
{
    return given && *given ? given
                           : dls_data_path("predictor/inspectors/relative.h5",
                                           "inspectors/relative.h5", buf, size);
}

static dls_status load_weights(dls_inspector_session *a, const dls_inspector_session_params *p,
                               dls_error *err)
{
    dls_sha256 sha;
    char buf[4096];
    const char *path = dls_inspector_weights(p->weights, buf, sizeof buf);
    DLS_TRY(dls_inspector_load(path, &a->insp, err));
    dls_sha256_init(&sha);
    DLS_TRY(dls_file_hash(path, &sha, err));
    dls_sha256_final(&sha, a->weights_sha);
    const char *features = dls_inspector_features(a->insp);
    if (!*features) {
        return dls_fail(
            err, DLS_EPREDICTOR, path,
            "do not say which features they were trained on, so no graph can be made for "
            "them");
    }
    DLS_TRY(dls_input_spec_parse(features, &a->input, err));
    a->has_input = true;
    if (a->input.features->n_features != dls_inspector_n_features(a->insp)) {
        return dls_fail(err, DLS_EPREDICTOR, path,
                        "were trained on %d features, but their description has %d",
                        (int)dls_inspector_n_features(a->insp), (int)a->input.features->n_features);
    }
    return DLS_OK;
}

/* What the model of a relative inspector goes by counts, too. */
static dls_status hash_tables(dls_inspector_session *a, const char *folder, dls_error *err)
{
    static const char *const files[] = {"operator.cfg", "operator-sized.cfg", "kernels.cfg",
                                        "grouped.cfg"};
    dls_sha256 sha;
    dls_sha256_init(&sha);
    for (size_t i = 0; dls_inspector_is_relative(a->insp) && i < sizeof files / sizeof files[0];
         i++) {
        char path[4200];
        snprintf(path, sizeof path, "%s/%s", folder, files[i]);
        DLS_TRY(dls_file_hash(path, &sha, err));
    }
    for (size_t i = 0; i < a->hw.n_gpus; i++) {
        const dls_hw_gpu *g = &a->hw.gpu[i];
        const double number[] = {g->fp32_flops, g->mem_bps, g->mem_bytes};
        dls_sha256_update(&sha, g->name, strlen(g->name) + 1);
        dls_sha256_update(&sha, g->link, strlen(g->link) + 1);
        dls_sha256_update(&sha, number, sizeof number);
    }
    for (size_t i = 0; i < a->hw.n_links; i++) {
        const dls_hw_link *l = &a->hw.link[i];
        const double number[] = {l->bps, l->latency_s};
        dls_sha256_update(&sha, l->name, strlen(l->name) + 1);
        dls_sha256_update(&sha, number, sizeof number);
    }
    dls_sha256_final(&sha, a->hardware_sha);
    return DLS_OK;
}

dls_status dls_inspector_knows(const dls_inspector *insp, dls_numeric numeric, dls_error *err)
{
    return !dls_inspector_is_relative(insp) &&
                   (numeric == DLS_NUMERIC_TF32 || numeric == DLS_NUMERIC_BF16)
               ? dls_fail(err, DLS_EINPUT, "precision", "the inspector does not know %s",
                          dls_numeric_name((int)numeric))
               : DLS_OK;
}

dls_status dls_inspector_session_init(dls_inspector_session *a,
                                      const dls_inspector_session_params *p, dls_error *err)
{
    static const char *const backends[] = {"auto", "cpu", "cuda", NULL};
    *a = (dls_inspector_session){.options = {.threads = p->threads}};
    for (int i = 0; p->backend && backends[i]; i++) {
        if (strcmp(p->backend, backends[i]) == 0) {
            a->options.backend = (dls_backend_kind)i;
        }
    }
    DLS_TRY(load_weights(a, p, err));
    DLS_TRY(dls_inspector_knows(a->insp, p->numeric, err));
    DLS_TRY(dls_hardware_load(p->hardware_dir, &a->hw, err));
    a->has_hw = true;
    DLS_TRY(dls_settle_check(a->insp, &a->takes_any, err));
    if (a->takes_any) {
        DLS_TRY(hash_tables(a, a->hw.folder, err));
    }
    DLS_TRY(dls_setting_map_init(&a->map, a->insp, &a->hw, p->settings_map, err));
    a->inputs = (dls_zoo_inputs){.spec = &a->input, .numeric = p->numeric};
    const char *features = dls_inspector_features(a->insp);
    dls_sha256_hex(features, strlen(features), a->inputs.spec_sha);
    return dls_predictor_create(a->insp, &a->options, &a->predictor, err);
}

/* ---- places ---------------------------------------------------------------------------------- */

static const dls_hw_link *nearest_link(const dls_hardware *hw, double bps)
{
    const dls_hw_link *best = NULL;
    double least = HUGE_VAL;
    for (size_t i = 0; i < hw->n_links; i++) {
        const double d = fabs(log2(hw->link[i].bps / bps));
        if (d < least) {
            least = d;
            best = &hw->link[i];
        }
    }
    return best;
}

static dls_status settle_place(dls_inspector_session *a, const char *name, const dls_whereabouts *w,
                               dls_error *err)
{
    const bool alone = w->workers == 1 && w->servers == 0;
    const bool servers = !alone && strncmp(w->exchange, "ps-", 3) == 0;
    const dls_hw_link *near = w->link_bps > 0 ? nearest_link(&a->hw, w->link_bps) : NULL;
    dls_hw_link link = near ? *near : (dls_hw_link){0};
    double number[DLS_CONDITIONS];
    link.bps = w->link_bps;
    const dls_condition_place place = {.gpu = dls_hardware_gpu_variant(&a->hw, w->gpu),
                                       .link = near && !alone ? &link : NULL,
                                       .workers = w->workers,
                                       .nodes = w->nodes,
                                       .servers = w->servers > 0 ? w->servers
                                                  : servers      ? w->nodes
                                                                 : 0,
                                       .exchange = alone ? "one" : w->exchange};
    if (!place.gpu) {
        return dls_fail(err, DLS_EPREDICTOR, w->gpu,
                        "gpus.cfg has no GPU \"%s\", whose numbers the inspector is to be told",
                        w->gpu);
    }
    DLS_TRY(dls_condition_of(&a->hw, &place, number, err));
    const dls_setting_info info = {.name = name,
                                   .gpu_type = w->gpu,
                                   .topology = place.exchange,
                                   .network = place.link ? link.name : "",
                                   .n_ps = place.servers,
                                   .n_workers = w->workers,
                                   .n_nodes = w->nodes};
    DLS_TRY(dls_settle_numbers(a->insp, &info, number, err));
    a->stale = true;
    return DLS_OK;
}

dls_status dls_inspector_session_setting(dls_inspector_session *a, const dls_whereabouts *w,
                                         int32_t *setting, double *distance, dls_error *err)
{
    char name[64];
    *setting = dls_setting_map_find(&a->map, w, distance);
    if (!a->takes_any || (*setting >= 0 && *distance <= 0)) {
        return DLS_OK;
    }
    /* Exact, because places are told apart by it. */
    snprintf(name, sizeof name, "%.16s p%dw%d n%d %.9s %.12g GBps", w->gpu, (int)w->servers,
             (int)w->workers, (int)w->nodes, w->exchange, w->link_bps * 1e-9);
    *distance = 0;
    *setting = dls_inspector_find(a->insp, name);
    if (*setting < 0) {
        DLS_TRY(settle_place(a, name, w, err));
        *setting = dls_inspector_n_settings(a->insp) - 1;
    }
    return DLS_OK;
}

dls_status dls_inspector_session_predict(dls_inspector_session *a, const dls_graph *graphs,
                                         size_t n_graphs, const dls_query *queries,
                                         const dls_known *known, size_t n, dls_profile *profiles,
                                         dls_error *err)
{
    if (a->stale) {
        DLS_TRY(dls_predictor_extend(a->predictor, err));
        a->stale = false;
    }
    return dls_predict_known(a->predictor, graphs, n_graphs, queries, known, n, profiles, err);
}

void dls_inspector_session_fini(dls_inspector_session *a)
{
    dls_predictor_destroy(a->predictor);
    dls_setting_map_fini(&a->map);
    dls_zoo_inputs_fini(&a->inputs);
    if (a->has_input) {
        dls_input_spec_fini(&a->input);
    }
    if (a->has_hw) {
        dls_hardware_fini(&a->hw);
    }
    dls_inspector_destroy(a->insp);
}
