/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Fits the constants of convolutions of groups to files of measured steps, and writes them.
 */
#include "predictor/cli/operators.h"
#include "predictor/measured/groupconv_fit.h"

dls_status dls_operators_grouped(const dls_operators *o, const dls_hardware *hw, dls_error *err)
{
    const dls_measured_defaults none = {0};
    dls_measured_steps steps = {0};
    dls_sized_table table = {0};
    dls_opmodel model;
    DLS_TRY(dls_opmodel_of(o->folder, &table, &model, err));
    dls_status status = DLS_OK;
    for (size_t i = 0; i < o->n_files && status == DLS_OK; i++) {
        status = dls_measured_steps_read(&steps, o->file[i], hw, &none, err);
    }
    DLS_THEN(status, dls_groupconv_fit(&steps, hw, &model, err));
    DLS_THEN(status, dls_groupconv_save(&model.groupconv, o->output, err));
    dls_measured_steps_fini(&steps);
    dls_sized_table_fini(&table);
    return status;
}
