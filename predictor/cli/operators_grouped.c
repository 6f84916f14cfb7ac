/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Fits the constants of convolutions of groups to files of measured steps, and writes them.
 */
#include "predictor/cli/operators.h"
#include "predictor/measured/groupconv_fit.h"

dls_status dls_operators_grouped(const dls_operators *o, const dls_hardware *hw, dls_error *err)
{
    const dls_measured_defaults none = {0};
    DLS_OWN(dls_measured_steps_fini) dls_measured_steps steps = {0};
    DLS_OWN(dls_sized_table_fini) dls_sized_table table = {0};
    dls_opmodel model;
    DLS_TRY(dls_opmodel_of(o->folder, &table, &model, err));
    for (size_t i = 0; i < o->n_files; i++) {
        DLS_TRY(dls_measured_steps_read(&steps, o->file[i], hw, &none, err));
    }
    DLS_TRY(dls_groupconv_fit(&steps, hw, &model, err));
    return dls_groupconv_save(&model.groupconv, o->output, err);
}
