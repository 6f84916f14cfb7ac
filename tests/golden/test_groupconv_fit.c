/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * The shipped constants of convolutions of groups are the fit to timm's benchmark and to an H100's and
 * an H200's kernels, those of its host the fit to its steps, and no row that judges has a part in them.
 */
#include "predictor/measured/groupconv_fit.h"
#include "predictor/measured/host_fit.h"
#include "support/shared.h"
#include "support/test.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

static dls_groupconv fitted(const dls_measured_steps *steps, const dls_measured_kernels *kernels,
                            const dls_hardware *hw)
{
    dls_sized_table table = {0};
    dls_opmodel model;
    dls_error err;
    assert_int_equal(dls_opmodel_of(hw->folder, &table, &model, &err), DLS_OK);
    assert_int_equal(dls_groupconv_fit(steps, kernels, hw, &model, &err), DLS_OK);
    dls_sized_table_fini(&table);
    return model.groupconv;
}

TEST(shipped)
{
    char path[4200], folder[4096];
    const dls_measured_defaults none = {0};
    dls_measured_steps steps = {0};
    dls_measured_kernels kernels = {0};
    dls_groupconv shipped;
    DLS_OWN(dls_hardware_fini) dls_hardware hw = {0};
    dls_error err;
    SHARED_OR_SKIP("data/measured/steps/timm_rtx3090.csv", path);
    snprintf(folder, sizeof folder, "%s/configs/hardware", getenv("DLSIM_SOURCE"));
    assert_int_equal(dls_hardware_load(folder, &hw, &err), DLS_OK);
    assert_int_equal(dls_measured_steps_read(&steps, path, &hw, &none, &err), DLS_OK);
    for (int i = 1; i <= 2; i++) {
        snprintf(path, sizeof path, "%s/measured/h%d00_groupconv.csv.gz", folder, i);
        assert_int_equal(dls_measured_kernels_read(&kernels, path, &hw, NULL, &err), DLS_OK);
    }
    assert_int_equal(kernels.bad.n, 0);
    const dls_groupconv now = fitted(&steps, &kernels, &hw);
    snprintf(path, sizeof path, "%s/grouped.cfg", folder);
    assert_int_equal(dls_groupconv_load(path, &shipped, &err), DLS_OK);
    size_t n = 0;
    for (int i = 0; i < DLS_GROUPCONV_N; i++) {
        assert_true(fabs(now.c[i] / shipped.c[i] - 1) < 1e-4);
    }
    for (size_t i = 0; i < steps.n; i++) {
        n += steps.row[i].fitted;
        if (!steps.row[i].fitted) { /* a row that judges may say what it likes */
            steps.row[i].step_s *= 10;
        }
    }
    assert_int_equal(n, 54);
    for (size_t i = 0; i < kernels.n; i++) {
        kernels.row[i].seconds *= kernels.row[i].judge ? 10 : 1;
    }
    const dls_groupconv same = fitted(&steps, &kernels, &hw);
    assert_memory_equal(&same, &now, sizeof now);
    dls_measured_kernels_fini(&kernels);
    dls_measured_steps_fini(&steps);
}

TEST(host_shipped)
{
    static const char name[] = "pytorch-2.11.0-slow-vm";
    char path[4200], folder[4096];
    DLS_OWN(dls_hardware_fini) dls_hardware hw = {0};
    DLS_OWN(dls_sized_table_fini) dls_sized_table table = {0};
    dls_opmodel model;
    dls_error err;
    snprintf(folder, sizeof folder, "%s/configs/hardware", getenv("DLSIM_SOURCE"));
    snprintf(path, sizeof path, "%s/measured/h100_steps.csv.gz", folder);
    assert_int_equal(dls_hardware_load(folder, &hw, &err), DLS_OK);
    assert_int_equal(dls_opmodel_of(folder, &table, &model, &err), DLS_OK);
    DLS_OWN(dls_host_fit_fini) dls_host_fit fit = {.model = &model, .hw = &hw};
    const dls_host *shipped = dls_opmodel_host(&model, name);
    dls_host now = {.slowdown = 1};
    assert_int_equal(dls_host_fit_run(&fit, &now, &err), DLS_EINPUT);
    assert_int_equal(dls_host_fit_read(&fit, path, name, &err), DLS_OK);
    assert_int_equal(fit.n, 21);
    assert_int_equal(dls_host_fit_run(&fit, &now, &err), DLS_OK);
    assert_true(fabs(now.launch_s / shipped->launch_s - 1) < 1e-4);
    assert_true(fabs(now.tensor_s / shipped->tensor_s - 1) < 1e-4);
}
