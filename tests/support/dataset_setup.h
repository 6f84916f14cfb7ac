/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * The shipped hardware, operator model and the paper's settings, as a group's set-up and tear-down.
 */
#ifndef TESTS_SUPPORT_DATASET_SETUP_H
#define TESTS_SUPPORT_DATASET_SETUP_H

#include "predictor/dataset/setting.h"
#include "support/test.h"
#include "workload/operator/model.h"

#include <stdio.h>
#include <stdlib.h>

static dls_hardware hw;
static dls_opmodel model;
static dls_setting_list paper;

static inline int begin(void **unused)
{
    char path[4096];
    dls_error err = {0};
    const char *source = getenv("DLSIM_SOURCE");
    snprintf(path, sizeof path, "%s/configs/hardware", source ? source : ".");
    assert_int_equal(dls_hardware_load(path, &hw, &err), DLS_OK);
    snprintf(path, sizeof path, "%s/configs/hardware/operator.cfg", source ? source : ".");
    assert_int_equal(dls_opmodel_load(path, &model, &err), DLS_OK);
    snprintf(path, sizeof path, "%s/configs/settings/paper.cfg", source ? source : ".");
    assert_int_equal(dls_setting_list_load(path, &hw, &paper, &err), DLS_OK);
    assert_int_equal(paper.n, 14);
    return 0;
}

static inline int end(void **unused)
{
    dls_setting_list_fini(&paper);
    dls_hardware_fini(&hw);
    return 0;
}

#endif
