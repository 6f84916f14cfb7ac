/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Adds a setting, described by numbers from the hardware tables, to an inspector that was trained
 * to answer for any setting.
 */
#include "predictor/sources/settle.h"

#include "predictor/driple/model.h"

#include <stdio.h>
#include <string.h>

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
