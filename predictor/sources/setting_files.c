/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Loads descriptions of training settings (configs/settings or the user's) and registers them with
 * inspectors that answer for any setting.
 */
#include "predictor/sources/setting_files.h"

#include "base/own.h"
#include "predictor/sources/settle.h"

#include <stdio.h>
#include <string.h>

dls_status dls_setting_files_load(const char *which, const dls_hardware *hw, dls_setting_list *list,
                                  dls_error *err)
{
    static const char *const shipped[] = {"paper", "clusters", "bench"};
    char path[4200];
    bool known = false;
    for (size_t i = 0; i < 3; i++) { /* "all" are those of GPUs */
        if (strcmp(which, shipped[i]) == 0 || (i < 2 && strcmp(which, "all") == 0)) {
            snprintf(path, sizeof path, "%s/../settings/%s.cfg", hw->folder, shipped[i]);
            DLS_TRY(dls_setting_list_load(path, hw, list, err));
            known = true;
        }
    }
    return known ? DLS_OK : dls_setting_list_load(which, hw, list, err);
}

dls_status dls_inspector_add_settings(dls_inspector *insp, const char *which, const char *hardware,
                                      const char *name, dls_error *err)
{
    DLS_OWN(dls_hardware_fini) dls_hardware hw = {0};
    DLS_OWN(dls_setting_list_fini) dls_setting_list list = {0};
    bool takes_any;
    DLS_TRY(dls_settle_check(insp, &takes_any, err));
    if (!takes_any) {
        return DLS_OK;
    }
    DLS_TRY(dls_hardware_load(hardware, &hw, err));
    DLS_TRY(dls_setting_files_load(which, &hw, &list, err));
    for (size_t i = 0; i < list.n; i++) {
        const dls_setting_spec *s = &list.spec[i];
        const dls_setting_info info = {.name = s->name,
                                       .gpu_type = s->gpu,
                                       .topology = s->exchange,
                                       .network = dls_setting_link(s),
                                       .n_ps = s->servers,
                                       .n_workers = s->workers,
                                       .n_nodes = s->nodes};
        if ((!name || strcmp(name, s->name) == 0) && dls_inspector_find(insp, s->name) == -2) {
            DLS_TRY(dls_settle(insp, &hw, &info, err));
        }
    }
    return DLS_OK;
}

dls_status dls_setting_files_settle_set(dls_inspector *insp, const dls_dataset *set,
                                        const size_t *settings, size_t n, const char *hardware,
                                        dls_error *err)
{
    DLS_OWN(dls_hardware_fini) dls_hardware hw = {0};
    bool takes_any;
    DLS_TRY(dls_settle_check(insp, &takes_any, err));
    if (!takes_any) {
        return DLS_OK;
    }
    DLS_TRY(dls_hardware_load(hardware, &hw, err));
    n = settings ? n : set->n_settings;
    for (size_t i = 0; i < n; i++) {
        const dls_setting_info info =
            dls_dataset_setting_info(&set->setting[settings ? settings[i] : i]);
        if (dls_inspector_find(insp, info.name) == -2) {
            DLS_TRY(dls_settle(insp, &hw, &info, err));
        }
    }
    return DLS_OK;
}
