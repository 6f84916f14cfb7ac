/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * An inspector ready to be asked about models of the zoo: weights, the features they were trained
 * on, the map of its settings, a backend.
 */
#ifndef DLS_SOURCES_INSPECTOR_H
#define DLS_SOURCES_INSPECTOR_H

#include "base/sha256.h"
#include "predictor/sources/setting_map.h"
#include "predictor/sources/zoo_inputs.h"

typedef struct dls_inspector_session {
    dls_inspector *insp;
    dls_predictor *predictor;
    dls_hardware hw;
    dls_input_spec input;
    bool has_hw, has_input;
    bool takes_any; /* an inspector of all settings */
    bool stale;     /* settings came after the predictor */
    dls_predictor_options options;
    dls_setting_map map;
    dls_zoo_inputs inputs;
    char weights_sha[DLS_SHA256_HEX];
    char hardware_sha[DLS_SHA256_HEX]; /* of the hardware numbers of its settings; "" if it takes
                                          none */
} dls_inspector_session;

typedef struct dls_inspector_session_params {
    const char
        *weights; /* NULL or "": predictor/inspectors/relative.h5 here, else where it is installed */
    const char *backend;                     /* "auto", "cpu", "cuda"; NULL: auto */
    const char *hardware_dir, *settings_map; /* may be NULL */
    int32_t threads;                         /* 0: all cores */
    dls_numeric numeric;
} dls_inspector_session_params;

/* The weights file: the one given, or (NULL or "") the shipped one. Returns given or buf. */
const char *dls_inspector_weights(const char *given, char *buf, size_t size);

/* EINPUT: a precision that the inspector does not know: none of its features and numbers tells tf32 from fp32
 * or bf16 from fp16. A relative one is told the step in any precision that its model knows. */
dls_status dls_inspector_knows(const dls_inspector *insp, dls_numeric numeric,
                               dls_error *err) DLS_MUST_CHECK;

/* EINPUT: weights that cannot be read, a precision that is not known; EPREDICTOR: that say nothing of their features, have other
 * features than they say, or no settings; ECONFIG. a must not move. It needs
 * dls_inspector_session_fini also after a failure. */
dls_status dls_inspector_session_init(dls_inspector_session *a,
                                      const dls_inspector_session_params *p,
                                      dls_error *err) DLS_MUST_CHECK;
void dls_inspector_session_fini(dls_inspector_session *a);

/* The setting that answers for a place: as setting_map.h says; but an inspector of all settings,
 * where none matches exactly, is told of the place and gets a setting for it, at distance 0: the
 * GPU as gpus.cfg has it, the bandwidth as given, the latency of the link in links.cfg that is
 * nearest to it, as many parameter servers as nodes where that is not said. Errors: EPREDICTOR (a
 * GPU that is not in gpus.cfg), ENOMEM. */
dls_status dls_inspector_session_setting(dls_inspector_session *a, const dls_whereabouts *where,
                                         int32_t *setting, double *distance,
                                         dls_error *err) DLS_MUST_CHECK;
/* Ask of settings that were found before; known as of dls_predict_known. */
dls_status dls_inspector_session_predict(dls_inspector_session *a, const dls_graph *graphs,
                                         size_t n_graphs, const dls_query *queries,
                                         const dls_known *known, size_t n, dls_profile *profiles,
                                         dls_error *err) DLS_MUST_CHECK;

#endif
