/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * An inspector ready to be asked about models of the zoo: weights, the features they were trained
 * on, the map of its settings, a backend.
 */
#ifndef DLS_FORESIGHT_INSPECTOR_H
#define DLS_FORESIGHT_INSPECTOR_H

#include "base/sha256.h"
#include "foresight/setting_map.h"
#include "foresight/zoo_inputs.h"

typedef struct dls_asker {
    dls_inspector *insp;
    dls_predictor *predictor;
    dls_hardware hw;
    dls_input_spec input;
    bool has_hw, has_input;
    dls_setting_map map;
    dls_zoo_inputs inputs;
    char weights_sha[DLS_SHA256_HEX];
} dls_asker;

typedef struct dls_asker_params {
    const char
        *weights; /* NULL or "": predictor/inspectors/dlsim.h5 here, else where it is installed */
    const char *backend;                     /* "auto", "cpu", "cuda"; NULL: auto */
    const char *hardware_dir, *settings_map; /* may be NULL */
    int32_t threads;                         /* 0: all cores */
    dls_numeric numeric;
} dls_asker_params;

/* EINPUT: weights that cannot be read; EPREDICTOR: that say nothing of their features, have other
 * features than they say, or no settings; ECONFIG. a must not move. It needs dls_asker_fini also
 * after a failure. */
dls_status dls_asker_init(dls_asker *a, const dls_asker_params *p, dls_error *err) DLS_MUST_CHECK;
void dls_asker_fini(dls_asker *a);

#endif
