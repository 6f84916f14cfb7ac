/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * The list of models in the zoo, their default options, and the call of a model's builder.
 */
#include "workload/graph/zoo_impl.h"

#include <stdio.h>
#include <string.h>

#define IMAGENET "imagenet", 64, 0, DLS_OPTIMISER_MOMENTUM, true
#define CIFAR "cifar10", 128, 0, DLS_OPTIMISER_MOMENTUM, true
/* One function for a model, or a text that says which member of a family it is. */
#define BUILD(function, variant) function, variant, NULL, NULL, 0
#define DESIGN(function, spec, image) NULL, 0, function, spec, image
#define TEXT(dataset, batch, sequence) dataset, batch, sequence, DLS_OPTIMISER_ADAM, false

static const dls_zoo_model models[] = {
    {"lenet", "lenet", "mnist", 128, 0, DLS_OPTIMISER_MOMENTUM, true, BUILD(dls_zoo_lenet, 0)},
    {"alexnet", "alexnet", IMAGENET, BUILD(dls_zoo_alexnet, 0)},
    {"vgg11", "vgg", IMAGENET, DESIGN(dls_zoo_vgg, "blocks=1,1,2,2,2", 0)},
    {"vgg16", "vgg", IMAGENET, DESIGN(dls_zoo_vgg, "blocks=2,2,3,3,3", 0)},
    {"vgg19", "vgg", IMAGENET, DESIGN(dls_zoo_vgg, "blocks=2,2,4,4,4", 0)},
    {"googlenet", "inception", IMAGENET, BUILD(dls_zoo_inception, 0)},
    {"inception3", "inception", IMAGENET, BUILD(dls_zoo_inception, 1)},
    {"inception4", "inception", IMAGENET, BUILD(dls_zoo_inception, 2)},
    {"resnet50", "resnet", IMAGENET, DESIGN(dls_zoo_residual, "blocks=3,4,6,3", 0)},
    {"resnet101", "resnet", IMAGENET, DESIGN(dls_zoo_residual, "blocks=3,4,23,3", 0)},
    {"resnet152", "resnet", IMAGENET, DESIGN(dls_zoo_residual, "blocks=3,8,36,3", 0)},
    {"resnet20", "resnet_cifar", CIFAR, BUILD(dls_zoo_resnet_cifar, 20)},
    {"resnet32", "resnet_cifar", CIFAR, BUILD(dls_zoo_resnet_cifar, 32)},
    {"resnet44", "resnet_cifar", CIFAR, BUILD(dls_zoo_resnet_cifar, 44)},
    {"resnet56", "resnet_cifar", CIFAR, BUILD(dls_zoo_resnet_cifar, 56)},
    {"resnet110", "resnet_cifar", CIFAR, BUILD(dls_zoo_resnet_cifar, 110)},
    {"densenet40_k12", "densenet", CIFAR, BUILD(dls_zoo_densenet_cifar, 40)},
    {"densenet100_k12", "densenet", CIFAR, BUILD(dls_zoo_densenet_cifar, 100)},
    {"densenet121", "densenet", IMAGENET, DESIGN(dls_zoo_densenet, "blocks=6,12,24,16", 0)},
    {"mobilenet", "mobilenet", IMAGENET, BUILD(dls_zoo_mobilenet, 0)},
    {"mobilenet_v2", "mobilenet", IMAGENET, DESIGN(dls_zoo_inverted, DLS_ZOO_MOBILENET2, 0)},
    {"efficientnet_b0", "efficientnet", IMAGENET,
     DESIGN(dls_zoo_inverted, "width=1 depth=1" DLS_ZOO_EFFICIENTNET, 0)},
    {"seq2seq_small", "seq2seq", TEXT("europarl", 64, 50), BUILD(dls_zoo_seq2seq, 0)},
    {"seq2seq_medium", "seq2seq", TEXT("europarl", 64, 50), BUILD(dls_zoo_seq2seq, 1)},
    {"seq2seq_large", "seq2seq", TEXT("europarl", 64, 50), BUILD(dls_zoo_seq2seq, 2)},
    {"transformer_base", "transformer", TEXT("wmt14_en_de", 64, 50), BUILD(dls_zoo_transformer, 0)},
    {"transformer_big", "transformer", TEXT("wmt14_en_de", 32, 50), BUILD(dls_zoo_transformer, 1)},
    {"bert_base", "bert", TEXT("squad", 32, 128), BUILD(dls_zoo_bert, 0)},
    {"bert_large", "bert", TEXT("squad", 16, 128), BUILD(dls_zoo_bert, 1)},
    {"gpt2_small", "gpt2", TEXT("openwebtext", 8, 1024), BUILD(dls_zoo_gpt, 0)},
    {"gpt2_medium", "gpt2", TEXT("openwebtext", 4, 1024), BUILD(dls_zoo_gpt, 1)},
    {"llama_7b", "llama", TEXT("c4", 1, 2048), BUILD(dls_zoo_llama, 0)},
    {"ncf", "ncf", "ml-20m", 16384, 0, DLS_OPTIMISER_ADAM, false, BUILD(dls_zoo_ncf, 0)},
    {"dlrm", "dlrm", "criteo-kaggle", 2048, 0, DLS_OPTIMISER_SGD, false, BUILD(dls_zoo_dlrm, 0)},
    /* From here on datasets do not draw. */
    {"resnet18_imagenet", "resnet_basic", IMAGENET,
     DESIGN(dls_zoo_residual, "basic blocks=2,2,2,2", 0)},
    {"resnet34", "resnet_basic", IMAGENET, DESIGN(dls_zoo_residual, "basic blocks=3,4,6,3", 0)},
    {"resnet18_cifar", "resnet_basic", CIFAR, BUILD(dls_zoo_resnet18_cifar, 0)},
    {"efficientnet_b1", "efficientnet", IMAGENET,
     DESIGN(dls_zoo_inverted, "width=1 depth=1.1" DLS_ZOO_EFFICIENTNET, 240)},
    {"efficientnet_b2", "efficientnet", IMAGENET,
     DESIGN(dls_zoo_inverted, "width=1.1 depth=1.2" DLS_ZOO_EFFICIENTNET, 260)},
    {"efficientnet_b3", "efficientnet", IMAGENET,
     DESIGN(dls_zoo_inverted, "width=1.2 depth=1.4" DLS_ZOO_EFFICIENTNET, 300)},
    {"efficientnet_b4", "efficientnet", IMAGENET,
     DESIGN(dls_zoo_inverted, "width=1.4 depth=1.8" DLS_ZOO_EFFICIENTNET, 380)},
    {"lstm_lm", "lstm_lm", "wikitext2", 20, 35, DLS_OPTIMISER_SGD, false,
     BUILD(dls_zoo_lstm_lm, 0)},
    {"autoencoder", "autoencoder", "ml-20m", 512, 0, DLS_OPTIMISER_ADAM, false,
     BUILD(dls_zoo_autoencoder, 0)},
    {"gpt2_large", "gpt2", TEXT("openwebtext", 4, 1024), BUILD(dls_zoo_gpt, 2)},
    {"gpt2_xl", "gpt2", TEXT("openwebtext", 2, 1024), BUILD(dls_zoo_gpt, 3)},
    {"gpt3_13b", "gpt3", TEXT("openwebtext", 2, 2048), BUILD(dls_zoo_gpt, 4)},
    {"gpt3_xl", "gpt3", TEXT("openwebtext", 1, 2048), BUILD(dls_zoo_gpt, 7)},
    {"gpt3_27b", "gpt3", TEXT("openwebtext", 1, 2048), BUILD(dls_zoo_gpt, 5)},
    {"opt_13b", "opt", TEXT("openwebtext", 2, 2048), BUILD(dls_zoo_gpt, 6)},
    {"inception_resnet_v2", "inception", IMAGENET, dls_zoo_inception, 3, NULL, NULL, 299},
    {"roberta_base", "bert", TEXT("squad", 32, 128), BUILD(dls_zoo_bert, 2)},
    {"roberta_large", "bert", TEXT("squad", 16, 128), BUILD(dls_zoo_bert, 3)},
    {"distilbert_base", "bert", TEXT("squad", 32, 128), BUILD(dls_zoo_bert, 4)},
    {"opt_125m", "opt", TEXT("openwebtext", 8, 2048), BUILD(dls_zoo_gpt, 8)},
    {"opt_27b", "opt", TEXT("openwebtext", 1, 2048), BUILD(dls_zoo_gpt, 9)},
    {"opt_67b", "opt", TEXT("openwebtext", 1, 2048), BUILD(dls_zoo_gpt, 10)},
    {"gpt3_67b", "gpt3", TEXT("openwebtext", 1, 2048), BUILD(dls_zoo_gpt, 11)},
    {"llama_13b", "llama", TEXT("c4", 1, 2048), BUILD(dls_zoo_llama, 1)},
    {"llama_33b", "llama", TEXT("c4", 1, 2048), BUILD(dls_zoo_llama, 2)},
    {"llama_65b", "llama", TEXT("c4", 1, 2048), BUILD(dls_zoo_llama, 3)},
    {"switch_xl4", "switch", TEXT("c4", 1, 512), BUILD(dls_zoo_switch, 0)},
};
#define N_MODELS (sizeof models / sizeof models[0])
#define N_DRAWN 34

static const dls_zoo_table *const families[] = {
    &dls_zoo_resnets,  &dls_zoo_regnets,   &dls_zoo_mobiles,  &dls_zoo_patches,
    &dls_zoo_windows,  &dls_zoo_classes,   &dls_zoo_plain,    &dls_zoo_shared,
    &dls_zoo_shuffles, &dls_zoo_normfree,  &dls_zoo_csp,      &dls_zoo_multi,
    &dls_zoo_stages,   &dls_zoo_separable, &dls_zoo_pyramids, &dls_zoo_paths};
#define N_FAMILIES (sizeof families / sizeof families[0])

size_t dls_zoo_size(void)
{
    size_t n = N_MODELS;
    for (size_t f = 0; f < N_FAMILIES; f++) {
        n += families[f]->n;
    }
    return n;
}

size_t dls_zoo_drawn(void)
{
    return N_DRAWN;
}

const dls_zoo_model *dls_zoo_at(size_t i)
{
    if (i < N_MODELS) {
        return &models[i];
    }
    i -= N_MODELS;
    for (size_t f = 0; f < N_FAMILIES; i -= families[f++]->n) {
        if (i < families[f]->n) {
            return &families[f]->row[i];
        }
    }
    return NULL;
}

const dls_zoo_model *dls_zoo_find(const char *name)
{
    const dls_zoo_model *model = models;
    for (size_t i = 0; (model = dls_zoo_at(i)) && strcmp(model->name, name) != 0; i++) {
    }
    return model;
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
    if (model->image > 0) {
        return model->image;
    }
    if (model->build == dls_zoo_inception && model->variant > 0) {
        return 299;
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
                             .image = options->image ? options->image : model->image,
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
    if (model->design) {
        model->design(net, model->spec);
    } else {
        model->build(net, model->variant);
    }
    const dls_status status = dls_net_finish(net, out, err);
    dls_net_destroy(net);
    return status;
}
