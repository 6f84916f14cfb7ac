/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Chooses the settings of a dataset to train on, and trains one inspector on all of them together,
 * which is told of each setting in numbers (dataset/condition.h).
 */
#include "predictor/cli/together.h"

#include "base/alloc.h"
#include "base/own.h"
#include "predictor/sources/settle.h"

#include <string.h>

static bool is_called(const dls_dataset_setting *s, const char *name)
{
    return strcmp(s->name, name) == 0 || strcmp(s->gpu_type, name) == 0;
}

static bool is_left_out(const dls_together_choice *c, const dls_dataset *set, size_t setting)
{
    const dls_dataset_setting *s = &set->setting[setting];
    if (c->leave_out > 0 && setting % (uint64_t)c->leave_out == c->from % (uint64_t)c->leave_out) {
        return true;
    }
    for (size_t k = 0; k < c->without.n; k++) {
        if (is_called(s, c->without.at[k])) {
            return true;
        }
    }
    return false;
}

/* Every name that is left out must be there. */
static dls_status check_left_out(const dls_dataset *set, const dls_together_choice *c,
                                 dls_error *err)
{
    for (size_t k = 0; k < c->without.n; k++) {
        bool found = false;
        for (size_t i = 0; i < set->n_settings; i++) {
            found |= is_called(&set->setting[i], c->without.at[k]);
        }
        if (!found) {
            return dls_fail(err, DLS_EINPUT, "--without", "no setting and no GPU \"%s\"",
                            c->without.at[k]);
        }
    }
    return DLS_OK;
}

dls_status dls_together_choose(const dls_dataset *set, const dls_inspector *insp,
                               const dls_together_choice *c, size_t *chosen, size_t *n,
                               dls_error *err)
{
    *n = 0;
    DLS_TRY(check_left_out(set, c, err));
    for (size_t i = 0; c->all && i < set->n_settings && i < DLS_TOGETHER_MAX; i++) {
        if (dls_inspector_find(insp, set->setting[i].name) == -2 && !is_left_out(c, set, i)) {
            chosen[(*n)++] = i;
        }
    }
    for (size_t i = 0; i < c->setting.n && *n < DLS_TOGETHER_MAX; i++) {
        const int32_t idx = dls_dataset_find(set, c->setting.at[i]);
        if (idx < 0) {
            return dls_fail(err, DLS_EINPUT, c->setting.at[i], "no setting \"%s\"",
                            c->setting.at[i]);
        }
        chosen[(*n)++] = (size_t)idx;
    }
    return DLS_OK;
}

/* ---- together -------------------------------------------------------------------------------- */

static dls_status numbers_of(const dls_dataset *set, const size_t *settings, size_t n,
                             const char *hardware, double *number, dls_error *err)
{
    DLS_OWN(dls_hardware_fini) dls_hardware hw = {0};
    DLS_TRY(dls_hardware_load(hardware, &hw, err));
    for (size_t i = 0; i < n; i++) {
        const dls_setting_info info = dls_dataset_setting_info(&set->setting[settings[i]]);
        DLS_TRY(dls_condition_of_setting(&hw, &info, number + i * DLS_CONDITIONS, err));
    }
    return DLS_OK;
}

dls_status dls_together_fit(dls_inspector *insp, const dls_dataset *set, const size_t *settings,
                            size_t n, const char *hardware, const dls_data_options *data,
                            const dls_train_options *train, dls_train_course *course,
                            dls_error *err)
{
    DLS_FREED double *number = dls_alloc((n ? n : 1) * DLS_CONDITIONS * sizeof *number);
    *course = (dls_train_course){0};
    DLS_TRY(number ? numbers_of(set, settings, n, hardware, number, err)
                   : dls_nomem(err, "numbers of settings", n * DLS_CONDITIONS * sizeof *number));
    DLS_TRY(dls_inspector_condition(insp, dls_condition_names, DLS_CONDITIONS, err));
    const dls_fit_settings which = {settings, number, n};
    return dls_fit_all(insp, set, &which, data, train, course, err);
}

dls_status dls_together_settle(dls_inspector *insp, const dls_dataset *set, const size_t *settings,
                               size_t n, const char *hardware, dls_error *err)
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
