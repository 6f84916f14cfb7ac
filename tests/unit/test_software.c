/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * What is said of programs that train: the text, and what it adds to a step.
 */
#include "support/must.h"
#include "workload/graph/zoo.h"
#include "workload/software.h"

#include <math.h>
#include <string.h>

static dls_software of(const char *text, const char *model)
{
    const dls_model_names names = dls_model_lookup(model);
    dls_software s;
    MUST(dls_software_of(text, model, &names, DLS_NUMERIC_FP32, &s, &e));
    return s;
}

TEST(test_says)
{
    static const char text[] =
        "bert: pytorch sequence=384 backward=11,80 after=15,92 alone=28,200; ImageNet: fp16; "
        " yolov3: zoo=yolov3_voc image=448 after=1,2;";
    const dls_software bert = of(text, "BERT"), image = of(text, "imagenet"), yolo = of(text, "yolov3");
    assert_string_equal(bert.names.zoo->name, "bert_base");
    assert_null(bert.names.layers);
    assert_int_equal(bert.names.sequence, 384);
    assert_int_equal(bert.numeric, DLS_NUMERIC_FP32);
    assert_true(bert.backward.launches == 11 && bert.backward.bytes == 80);
    assert_true(bert.after.launches == 15 && bert.alone.bytes == 200);
    assert_int_equal(image.numeric, DLS_NUMERIC_FP16);
    assert_non_null(image.names.layers); /* as it was: nobody said whose kernels */
    assert_string_equal(yolo.names.zoo->name, "yolov3_voc");
    assert_int_equal(yolo.names.image, 448);
    assert_true(yolo.alone.launches == 1 && yolo.alone.bytes == 2); /* as on several GPUs */
    const dls_software other = of(text, "cifar10"), none = of(NULL, "bert");
    assert_string_equal(other.names.layers, "resnet18_cifar");
    assert_true(other.after.launches == 0 && none.names.sequence == 0 && none.names.layers);
}

TEST(test_refuses)
{
    static const char *const bad[] = {"bert",
                                      "bert pytorch",
                                      ": pytorch",
                                      "bert: torch",
                                      "bert: sequence=0",
                                      "bert: image=224",
                                      "imagenet: sequence=128",
                                      "bert: after=1",
                                      "bert: after=1,-2",
                                      "bert: zoo=bort",
                                      "vgg16: fp16; bert: sequence=x"};
    const dls_model_names names = dls_model_lookup("resnet50");
    dls_software s;
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        dls_error e;
        if (dls_software_of(bad[i], "resnet50", &names, DLS_NUMERIC_FP32, &s, &e) != DLS_ECONFIG) {
            fail_msg("\"%s\" is taken", bad[i]);
        }
        assert_non_null(strstr(e.where, "predictor.software"));
    }
}

/* 10 tensors of 1,000 parameters in all on 1 GB/s with launches of 1 us; a host of 3 us a launch. */
TEST(test_adds)
{
    const dls_software s = of("vgg16: backward=2,100 after=4,50 alone=8,50", "vgg16");
    const dls_workload w = {.n_tensors = 10, .params = 1000};
    const dls_rates rates = {.mem_bps = 1e9, .launch_s = 1e-6, .derate = 1};
    const dls_host host = {.launch_s = 3e-6};
    dls_step step = {.backward_s = 1, .gpu_s = 2, .runs = 5};
    dls_software_add(&s, &w, &rates, &step);
    assert_true(fabs(step.backward_s - (1 + 120e-6)) < 1e-12 && fabs(step.gpu_s - (2 + 120e-6)) < 1e-12);
    assert_true(step.runs == 25);
    assert_true(fabs(dls_software_after_s(&s, &w, &rates, NULL, false) - 90e-6) < 1e-12);
    const double both = pow(pow(90e-6, 4) + pow(120e-6, 4), 0.25);
    assert_true(fabs(dls_software_after_s(&s, &w, &rates, &host, false) - both) < 1e-12);
    assert_true(dls_software_after_s(&s, &w, &rates, &host, true) > both);
}
