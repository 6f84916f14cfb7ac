/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "foresight/inspector.h"

#include "base/datapath.h"

#include <stdio.h>
#include <string.h>

static dls_status file_sha(const char *path, char hex[DLS_SHA256_HEX], dls_error *err)
{
    unsigned char buf[65536];
    dls_sha256 sha;
    FILE *file = fopen(path, "rb");
    if (!file) {
        return dls_fail(err, DLS_EINPUT, path, "cannot be read");
    }
    dls_sha256_init(&sha);
    for (size_t n; (n = fread(buf, 1, sizeof buf, file)) > 0;) {
        dls_sha256_update(&sha, buf, n);
    }
    fclose(file);
    dls_sha256_final(&sha, hex);
    return DLS_OK;
}

static dls_status load_weights(dls_asker *a, const dls_asker_params *p, dls_error *err)
{
    char buf[4096];
    const char *path = p->weights && *p->weights
                           ? p->weights
                           : dls_data_path("predictor/inspectors/dlsim.h5", "inspectors/dlsim.h5",
                                           buf, sizeof buf);
    DLS_TRY(dls_inspector_load(path, &a->insp, err));
    DLS_TRY(file_sha(path, a->weights_sha, err));
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

dls_status dls_asker_init(dls_asker *a, const dls_asker_params *p, dls_error *err)
{
    static const char *const backends[] = {"auto", "cpu", "cuda", NULL};
    char folder[4096];
    dls_predictor_options options = {.threads = p->threads};
    *a = (dls_asker){0};
    for (int i = 0; p->backend && backends[i]; i++) {
        if (strcmp(p->backend, backends[i]) == 0) {
            options.backend = (dls_backend_kind)i;
        }
    }
    DLS_TRY(load_weights(a, p, err));
    DLS_TRY(dls_hardware_load(dls_hardware_folder(p->hardware_dir, folder, sizeof folder), &a->hw,
                              err));
    a->has_hw = true;
    DLS_TRY(dls_setting_map_init(&a->map, a->insp, &a->hw, p->settings_map, err));
    a->inputs = (dls_zoo_inputs){.spec = &a->input, .numeric = p->numeric};
    return dls_predictor_create(a->insp, &options, &a->predictor, err);
}

void dls_asker_fini(dls_asker *a)
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
