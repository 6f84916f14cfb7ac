/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * The built-in assignment tables: workload mixes of published papers, as text.
 */
#include "traces/assign.h"

#include "base/suggest.h"

#define UNIFORM(model, batch) "1 " model " " batch " 1\n"
#define SEVERAL(model, batch) "2 " model " " batch " 1\n"

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
    {"gavel",
     "# The job types of Gavel (OSDI 2020) in equal shares, as its trace generator draws them: those\n"
     "# with several GPUs from four models.\n"
     UNIFORM("ResNet-18", "16") UNIFORM("ResNet-18", "32") UNIFORM("ResNet-18", "64")
     UNIFORM("ResNet-18", "128") UNIFORM("ResNet-18", "256") UNIFORM("ResNet-50", "16")
     UNIFORM("ResNet-50", "32") UNIFORM("ResNet-50", "64") UNIFORM("ResNet-50", "128")
     UNIFORM("Transformer", "16") UNIFORM("Transformer", "32") UNIFORM("Transformer", "64")
     UNIFORM("Transformer", "128") UNIFORM("Transformer", "256") UNIFORM("LM", "5")
     UNIFORM("LM", "10") UNIFORM("LM", "20") UNIFORM("LM", "40") UNIFORM("LM", "80")
     UNIFORM("Recommendation", "512") UNIFORM("Recommendation", "1024")
     UNIFORM("Recommendation", "2048") UNIFORM("Recommendation", "4096")
     UNIFORM("Recommendation", "8192") UNIFORM("CycleGAN", "1") UNIFORM("A3C", "4")
     SEVERAL("ResNet-18", "16") SEVERAL("ResNet-18", "32") SEVERAL("ResNet-18", "64")
     SEVERAL("ResNet-18", "128") SEVERAL("ResNet-18", "256") SEVERAL("ResNet-50", "16")
     SEVERAL("ResNet-50", "32") SEVERAL("ResNet-50", "64") SEVERAL("Transformer", "16")
     SEVERAL("Transformer", "32") SEVERAL("Transformer", "64") SEVERAL("Transformer", "128")
     SEVERAL("Transformer", "256") SEVERAL("LM", "5") SEVERAL("LM", "10") SEVERAL("LM", "20")
     SEVERAL("LM", "40") SEVERAL("LM", "80")},
    {"zoo",
     "# Networks of the model zoo with usual batches: half the jobs train image classifiers, the rest\n"
     "# language models and recommenders. A choice of ours, for studies of placement.\n"
     "1 alexnet 128 1\n1 vgg16 32 1\n1 vgg19 32 1\n1 googlenet 64 1\n1 inception3 64 1\n"
     "1 inception4 32 1\n1 resnet50 64 2\n1 resnet101 32 1\n1 resnet152 32 1\n"
     "1 densenet121 32 1\n1 mobilenet_v2 64 1\n1 bert_base 32 4\n1 transformer_base 64 3\n"
     "1 gpt2_small 4 2\n1 seq2seq_medium 64 2\n1 ncf 16384 1\n"},
};
/* clang-format on */

const char *dls_assign_builtin_name(int i)
{
    const int n = (int)(sizeof tables / sizeof tables[0]);
    return i >= 0 && i < n ? tables[i].name : NULL;
}

const char *dls_assign_builtin_text(const char *name)
{
    const size_t i = DLS_NAMED(tables, name);
    return i < sizeof tables / sizeof tables[0] ? tables[i].text : NULL;
}
