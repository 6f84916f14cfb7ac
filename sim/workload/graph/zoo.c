/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * The list of models in the zoo, their default options, and the call of a model's builder.
 */
#include "workload/graph/zoo_impl.h"

#include <stdio.h>
#include <string.h>

#define IMAGENET "imagenet", 64, 0, DLS_OPTIMISER_MOMENTUM, true
#define CIFAR "cifar10", 128, 0, DLS_OPTIMISER_MOMENTUM, true
#define TEXT(dataset, batch, sequence) dataset, batch, sequence, DLS_OPTIMISER_ADAM, false

static const dls_zoo_model models[] = {
    {"lenet", "lenet", "mnist", 128, 0, DLS_OPTIMISER_MOMENTUM, true, dls_zoo_lenet, 0},
    {"alexnet", "alexnet", IMAGENET, dls_zoo_alexnet, 0},
    {"vgg11", "vgg", IMAGENET, dls_zoo_vgg, 11},
    {"vgg16", "vgg", IMAGENET, dls_zoo_vgg, 16},
    {"vgg19", "vgg", IMAGENET, dls_zoo_vgg, 19},
    {"googlenet", "inception", IMAGENET, dls_zoo_googlenet, 0},
    {"inception3", "inception", IMAGENET, dls_zoo_inception3, 0},
    {"inception4", "inception", IMAGENET, dls_zoo_inception4, 0},
    {"resnet50", "resnet", IMAGENET, dls_zoo_resnet, 50},
    {"resnet101", "resnet", IMAGENET, dls_zoo_resnet, 101},
    {"resnet152", "resnet", IMAGENET, dls_zoo_resnet, 152},
    {"resnet20", "resnet_cifar", CIFAR, dls_zoo_resnet_cifar, 20},
    {"resnet32", "resnet_cifar", CIFAR, dls_zoo_resnet_cifar, 32},
    {"resnet44", "resnet_cifar", CIFAR, dls_zoo_resnet_cifar, 44},
    {"resnet56", "resnet_cifar", CIFAR, dls_zoo_resnet_cifar, 56},
    {"resnet110", "resnet_cifar", CIFAR, dls_zoo_resnet_cifar, 110},
    {"densenet40_k12", "densenet", CIFAR, dls_zoo_densenet_cifar, 40},
    {"densenet100_k12", "densenet", CIFAR, dls_zoo_densenet_cifar, 100},
    {"densenet121", "densenet", IMAGENET, dls_zoo_densenet121, 0},
    {"mobilenet", "mobilenet", IMAGENET, dls_zoo_mobilenet, 1},
    {"mobilenet_v2", "mobilenet", IMAGENET, dls_zoo_mobilenet, 2},
    {"efficientnet_b0", "efficientnet", IMAGENET, dls_zoo_efficientnet, 0},
    {"seq2seq_small", "seq2seq", TEXT("europarl", 64, 50), dls_zoo_seq2seq, 0},
    {"seq2seq_medium", "seq2seq", TEXT("europarl", 64, 50), dls_zoo_seq2seq, 1},
    {"seq2seq_large", "seq2seq", TEXT("europarl", 64, 50), dls_zoo_seq2seq, 2},
    {"transformer_base", "transformer", TEXT("wmt14_en_de", 64, 50), dls_zoo_transformer, 0},
    {"transformer_big", "transformer", TEXT("wmt14_en_de", 32, 50), dls_zoo_transformer, 1},
    {"bert_base", "bert", TEXT("squad", 32, 128), dls_zoo_bert, 0},
    {"bert_large", "bert", TEXT("squad", 16, 128), dls_zoo_bert, 1},
    {"gpt2_small", "gpt2", TEXT("openwebtext", 8, 1024), dls_zoo_gpt, 0},
    {"gpt2_medium", "gpt2", TEXT("openwebtext", 4, 1024), dls_zoo_gpt, 1},
    {"llama_7b", "llama", TEXT("c4", 1, 2048), dls_zoo_llama, 0},
    {"ncf", "ncf", "ml-20m", 16384, 0, DLS_OPTIMISER_ADAM, false, dls_zoo_ncf, 0},
    {"dlrm", "dlrm", "criteo-kaggle", 2048, 0, DLS_OPTIMISER_SGD, false, dls_zoo_dlrm, 0},
    /* From here on datasets do not draw. */
    {"resnet18_imagenet", "resnet_basic", IMAGENET, dls_zoo_resnet_basic, 18},
    {"resnet34", "resnet_basic", IMAGENET, dls_zoo_resnet_basic, 34},
    {"resnet18_cifar", "resnet_basic", CIFAR, dls_zoo_resnet18_cifar, 0},
    {"efficientnet_b1", "efficientnet", IMAGENET, dls_zoo_efficientnet, 1},
    {"efficientnet_b2", "efficientnet", IMAGENET, dls_zoo_efficientnet, 2},
    {"efficientnet_b3", "efficientnet", IMAGENET, dls_zoo_efficientnet, 3},
    {"efficientnet_b4", "efficientnet", IMAGENET, dls_zoo_efficientnet, 4},
    {"vit_tiny", "vit", IMAGENET, dls_zoo_vit, 0},
    {"vit_small", "vit", IMAGENET, dls_zoo_vit, 1},
    {"vit_base", "vit", IMAGENET, dls_zoo_vit, 2},
    {"vit_large", "vit", IMAGENET, dls_zoo_vit, 3},
    {"lstm_lm", "lstm_lm", "wikitext2", 20, 35, DLS_OPTIMISER_SGD, false, dls_zoo_lstm_lm, 0},
    {"autoencoder", "autoencoder", "ml-20m", 512, 0, DLS_OPTIMISER_ADAM, false, dls_zoo_autoencoder,
     0},
    {"gpt2_large", "gpt2", TEXT("openwebtext", 4, 1024), dls_zoo_gpt, 2},
    {"gpt2_xl", "gpt2", TEXT("openwebtext", 2, 1024), dls_zoo_gpt, 3},
    {"gpt3_13b", "gpt3", TEXT("openwebtext", 2, 2048), dls_zoo_gpt, 4},
    {"gpt3_xl", "gpt3", TEXT("openwebtext", 1, 2048), dls_zoo_gpt, 7},
    {"gpt3_27b", "gpt3", TEXT("openwebtext", 1, 2048), dls_zoo_gpt, 5},
    {"opt_13b", "opt", TEXT("openwebtext", 2, 2048), dls_zoo_gpt, 6},
    {"llama_13b", "llama", TEXT("c4", 1, 2048), dls_zoo_llama, 1},
    {"llama_33b", "llama", TEXT("c4", 1, 2048), dls_zoo_llama, 2},
    {"llama_65b", "llama", TEXT("c4", 1, 2048), dls_zoo_llama, 3},
};
#define N_MODELS (sizeof models / sizeof models[0])
#define N_DRAWN 34

size_t dls_zoo_size(void)
{
    return N_MODELS;
}

size_t dls_zoo_drawn(void)
{
    return N_DRAWN;
}

const dls_zoo_model *dls_zoo_at(size_t i)
{
    return i < N_MODELS ? &models[i] : NULL;
}

const dls_zoo_model *dls_zoo_find(const char *name)
{
    for (size_t i = 0; i < N_MODELS; i++) {
        if (strcmp(models[i].name, name) == 0) {
            return &models[i];
        }
    }
    return NULL;
}

dls_zoo_options dls_zoo_defaults(const dls_zoo_model *model)
{
    return (dls_zoo_options){.dataset = model->dataset,
                             .batch = model->batch,
                             .sequence = model->sequence,
                             .numeric = DLS_NUMERIC_FP32,
                             .optimiser = model->optimiser};
}

int32_t dls_zoo_image(const dls_zoo_model *model)
{
    static const struct {
        const char *dataset;
        int32_t image;
    } sizes[] = {{"imagenet", 224}, {"cifar10", 32}, {"mnist", 28}};
    if (model->build == dls_zoo_inception3 || model->build == dls_zoo_inception4) {
        return 299;
    }
    if (model->build == dls_zoo_efficientnet) {
        return (const int32_t[]){224, 240, 260, 300, 380}[model->variant];
    }
    for (size_t i = 0; i < sizeof sizes / sizeof sizes[0]; i++) {
        if (strcmp(model->dataset, sizes[i].dataset) == 0) {
            return sizes[i].image;
        }
    }
    return 0;
}

dls_status dls_zoo_build(const dls_zoo_model *model, const dls_zoo_options *options,
                         dls_opgraph **out, dls_error *err)
{
    dls_status of_file;
    *out = NULL;
    if (dls_zoo_build_file(model, options, out, &of_file, err)) {
        return of_file;
    }
    dls_opgraph_info info = {.batch = options->batch ? options->batch : model->batch,
                             .sequence = options->sequence ? options->sequence : model->sequence,
                             .image = options->image,
                             .numeric = options->numeric,
                             .optimiser = options->optimiser};
    snprintf(info.model, sizeof info.model, "%s", model->name);
    snprintf(info.dataset, sizeof info.dataset, "%s",
             options->dataset ? options->dataset : model->dataset);
    if (options->sequence && !model->sequence) {
        return dls_fail(err, DLS_EINPUT, model->name, "%s has no sequence length", model->name);
    }
    if (options->image && !dls_zoo_image(model)) {
        return dls_fail(err, DLS_EINPUT, model->name, "%s sees no images", model->name);
    }
    if (info.image < 0 || info.image > 1 << 14) {
        return dls_fail(err, DLS_EINPUT, model->name, "%s: images of %d pixels are not possible",
                        model->name, (int)info.image);
    }
    if (info.batch < 1 || info.sequence < 0 || info.batch > 1 << 20 || info.sequence > 1 << 20) {
        return dls_fail(err, DLS_EINPUT, model->name,
                        "%s: a batch of %d with %d tokens is not possible", model->name,
                        (int)info.batch, (int)info.sequence);
    }
    if (options->shards > 1 && model->build != dls_zoo_gpt) {
        return dls_fail(err, DLS_EINPUT, model->name, "%s: layers in %d parts are not known",
                        model->name, (int)options->shards);
    }
    dls_net *net;
    DLS_TRY(dls_net_create(&info, model->decay, &net, err));
    dls_net_set_runner(net, options->runner);
    dls_net_set_shards(net, options->shards > 1 ? options->shards : 1);
    model->build(net, model->variant);
    const dls_status status = dls_net_finish(net, out, err);
    dls_net_destroy(net);
    return status;
}
