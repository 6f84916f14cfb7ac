/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "traces/assign.h"

#include <string.h>

#define UNIFORM(model, batch) "1 " model " " batch " 1\n"

/* clang-format off */
static const struct {
    const char *name, *text;
} tables[] = {
    {"tiresias",
     "# Ten convolutional networks in equal shares, as in the testbed workload of Tiresias\n"
     "# (NSDI 2019); 32 samples per GPU.\n"
     UNIFORM("vgg11", "32") UNIFORM("vgg16", "32") UNIFORM("vgg19", "32") UNIFORM("alexnet", "32")
     UNIFORM("resnet50", "32") UNIFORM("resnet101", "32") UNIFORM("resnet152", "32")
     UNIFORM("inception3", "32") UNIFORM("inception4", "32") UNIFORM("googlenet", "32")},
    {"muri",
     "# Eight models in equal shares with the batch sizes of Muri's traces (SIGCOMM 2022).\n"
     UNIFORM("vgg16", "16") UNIFORM("vgg19", "16") UNIFORM("resnet18", "128")
     UNIFORM("shufflenet_v2_x1_0", "128") UNIFORM("bert", "4") UNIFORM("gpt2", "4")
     UNIFORM("a2c", "64") UNIFORM("dqn", "128")},
    {"sia",
     "# The application mix of Sia's Philly-like workloads (SOSP 2023); batch sizes are values\n"
     "# inside the ranges that Pollux (OSDI 2021) measured.\n"
     "1 cifar10 128 78.0\n"
     "1 deepspeech2 20 8.7\n"
     "1 bert 12 6.7\n"
     "1 yolov3 8 4.6\n"
     "1 imagenet 100 2.0\n"},
};
/* clang-format on */

const char *dls_assign_builtin_name(int i)
{
    const int n = (int)(sizeof tables / sizeof tables[0]);
    return i >= 0 && i < n ? tables[i].name : NULL;
}

const char *dls_assign_builtin_text(const char *name)
{
    for (int i = 0; dls_assign_builtin_name(i); i++) {
        if (strcmp(tables[i].name, name) == 0) {
            return tables[i].text;
        }
    }
    return NULL;
}
