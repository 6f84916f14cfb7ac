/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Loads descriptions of training settings (configs/settings or the user's) and registers them with
 * inspectors that answer for any setting.
 */
#include "predictor/sources/setting_files.h"

#include "base/guard.h"
#include "base/own.h"
#include "predictor/driple/model.h"

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

dls_status dls_settle_check(const dls_inspector *insp, bool *takes_any, dls_error *err)
{
    *takes_any = insp->arch.n_conditions > 0;
    if (*takes_any && strcmp(insp->condition.names, dls_condition_names) != 0) {
        char line[200];
        snprintf(line, sizeof line, "%s", insp->condition.names);
        for (char *c = line; (c = strchr(c, '\n'));) {
            *c = ' ';
        }
        return dls_fail(err, DLS_EINPUT, "settings",
                        "the inspector is told other numbers of settings than this program has: %s",
                        line);
    }
    return DLS_OK;
}

dls_status dls_settle_numbers(dls_inspector *insp, const dls_setting_info *setting,
                              const double number[DLS_CONDITIONS], dls_error *err)
{
    dls_setting *s;
    DLS_TRY(dls_inspector_settle(insp, setting->name, number, &s, err));
    dls_setting_describe(s, setting);
    return DLS_OK;
}

dls_status dls_settle(dls_inspector *insp, const dls_hardware *hw, const dls_setting_info *setting,
                      dls_error *err)
{
    double number[DLS_CONDITIONS];
    DLS_TRY(dls_condition_of_setting(hw, setting, number, err));
    return dls_settle_numbers(insp, setting, number, err);
}

/* The tables where the inspector is one of all settings; *takes_any: it is. */
static dls_status begin(const dls_inspector *insp, const char *hardware, dls_hardware *hw,
                        bool *takes_any, dls_error *err)
{
    DLS_TRY(dls_settle_check(insp, takes_any, err));
    return *takes_any ? dls_hardware_load(hardware, hw, err) : DLS_OK;
}

static dls_status settle_new(dls_inspector *insp, const dls_hardware *hw,
                             const dls_setting_info *setting, dls_error *err)
{
    return dls_inspector_find(insp, setting->name) == -2 ? dls_settle(insp, hw, setting, err)
                                                         : DLS_OK;
}

dls_status dls_inspector_add_settings(dls_inspector *insp, const char *which, const char *hardware,
                                      const char *name, dls_error *err)
{
    DLS_IN_C_LOCALE;
    DLS_OWN(dls_hardware_fini) dls_hardware hw = {0};
    DLS_OWN(dls_setting_list_fini) dls_setting_list list = {0};
    bool takes_any;
    DLS_TRY(begin(insp, hardware, &hw, &takes_any, err));
    if (!takes_any) {
        return DLS_OK;
    }
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
        if (!name || strcmp(name, s->name) == 0) {
            DLS_TRY(settle_new(insp, &hw, &info, err));
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
    DLS_TRY(begin(insp, hardware, &hw, &takes_any, err));
    n = settings ? n : set->n_settings;
    for (size_t i = 0; takes_any && i < n; i++) {
        const dls_setting_info info =
            dls_dataset_setting_info(&set->setting[settings ? settings[i] : i]);
        DLS_TRY(settle_new(insp, &hw, &info, err));
    }
    return DLS_OK;
}
