/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * The list of models in the zoo, their default options, and the call of a model's builder.
 */
#include "workload/graph/zoo_impl.h"

#include "base/suggest.h"

#include <stdio.h>
#include <string.h>

#define IMAGENET "imagenet", 64, 0, DLS_OPTIMISER_MOMENTUM, true
#define CIFAR "cifar10", 128, 0, DLS_OPTIMISER_MOMENTUM, true
#define TEXT(dataset, batch, sequence) dataset, batch, sequence, DLS_OPTIMISER_ADAM, false

#define ROBERTA " words=50265 kinds=1 places=514"

static const dls_zoo_model models[] = {
    {"lenet", "lenet", "mnist", 128, 0, DLS_OPTIMISER_MOMENTUM, true, dls_zoo_lenet, "", 0},
    {"alexnet", "alexnet", IMAGENET, dls_zoo_alexnet, "", 0},
    {"vgg11", "vgg", IMAGENET, dls_zoo_vgg, "blocks=1,1,2,2,2", 0},
    {"vgg16", "vgg", IMAGENET, dls_zoo_vgg, "blocks=2,2,3,3,3", 0},
    {"vgg19", "vgg", IMAGENET, dls_zoo_vgg, "blocks=2,2,4,4,4", 0},
    {"googlenet", "inception", IMAGENET, dls_zoo_inception, "googlenet", 0},
    {"inception3", "inception", IMAGENET, dls_zoo_inception, "inception3", 299},
    {"inception4", "inception", IMAGENET, dls_zoo_inception, "inception4", 299},
    {"resnet50", "resnet", IMAGENET, dls_zoo_residual, "blocks=3,4,6,3", 0},
    {"resnet101", "resnet", IMAGENET, dls_zoo_residual, "blocks=3,4,23,3", 0},
    {"resnet152", "resnet", IMAGENET, dls_zoo_residual, "blocks=3,8,36,3", 0},
    {"resnet20", "resnet_cifar", CIFAR, dls_zoo_resnet_cifar, "depth=20", 0},
    {"resnet32", "resnet_cifar", CIFAR, dls_zoo_resnet_cifar, "depth=32", 0},
    {"resnet44", "resnet_cifar", CIFAR, dls_zoo_resnet_cifar, "depth=44", 0},
    {"resnet56", "resnet_cifar", CIFAR, dls_zoo_resnet_cifar, "depth=56", 0},
    {"resnet110", "resnet_cifar", CIFAR, dls_zoo_resnet_cifar, "depth=110", 0},
    {"densenet40_k12", "densenet", CIFAR, dls_zoo_densenet_cifar, "depth=40", 0},
    {"densenet100_k12", "densenet", CIFAR, dls_zoo_densenet_cifar, "depth=100", 0},
    {"densenet121", "densenet", IMAGENET, dls_zoo_densenet, "blocks=6,12,24,16", 0},
    {"mobilenet", "mobilenet", IMAGENET, dls_zoo_mobilenet, "", 0},
    {"mobilenet_v2", "mobilenet", IMAGENET, dls_zoo_inverted, DLS_ZOO_MOBILENET2, 0},
    {"efficientnet_b0", "efficientnet", IMAGENET, dls_zoo_inverted,
     "width=1 depth=1" DLS_ZOO_EFFICIENTNET, 0},
    {"seq2seq_small", "seq2seq", TEXT("europarl", 64, 50), dls_zoo_seq2seq, "layers=2 width=512",
     0},
    {"seq2seq_medium", "seq2seq", TEXT("europarl", 64, 50), dls_zoo_seq2seq, "layers=4 width=512",
     0},
    {"seq2seq_large", "seq2seq", TEXT("europarl", 64, 50), dls_zoo_seq2seq, "layers=4 width=1024",
     0},
    {"transformer_base", "transformer", TEXT("wmt14_en_de", 64, 50), dls_zoo_transformer,
     "width=512 heads=8", 0},
    {"transformer_big", "transformer", TEXT("wmt14_en_de", 32, 50), dls_zoo_transformer,
     "width=1024 heads=16", 0},
    {"bert_base", "bert", TEXT("squad", 32, 128), dls_zoo_bert, "width=768 layers=12 heads=12", 0},
    {"bert_large", "bert", TEXT("squad", 16, 128), dls_zoo_bert, "width=1024 layers=24 heads=16",
     0},
    {"gpt2_small", "gpt2", TEXT("openwebtext", 8, 1024), dls_zoo_gpt,
     "width=768 layers=12 heads=12", 0},
    {"gpt2_medium", "gpt2", TEXT("openwebtext", 4, 1024), dls_zoo_gpt,
     "width=1024 layers=24 heads=16", 0},
    {"llama_7b", "llama", TEXT("c4", 1, 2048), dls_zoo_llama,
     "width=4096 inner=11008 layers=32 heads=32", 0},
    {"ncf", "ncf", "ml-20m", 16384, 0, DLS_OPTIMISER_ADAM, false, dls_zoo_ncf, "", 0},
    {"dlrm", "dlrm", "criteo-kaggle", 2048, 0, DLS_OPTIMISER_SGD, false, dls_zoo_dlrm, "", 0},
    /* From here on datasets do not draw. */
    {"resnet18_imagenet", "resnet_basic", IMAGENET, dls_zoo_residual, "basic blocks=2,2,2,2", 0},
    {"resnet34", "resnet_basic", IMAGENET, dls_zoo_residual, "basic blocks=3,4,6,3", 0},
    {"resnet18_cifar", "resnet_basic", CIFAR, dls_zoo_residual, "basic small blocks=2,2,2,2", 0},
    {"efficientnet_b1", "efficientnet", IMAGENET, dls_zoo_inverted,
     "width=1 depth=1.1" DLS_ZOO_EFFICIENTNET, 240},
    {"efficientnet_b2", "efficientnet", IMAGENET, dls_zoo_inverted,
     "width=1.1 depth=1.2" DLS_ZOO_EFFICIENTNET, 260},
    {"efficientnet_b3", "efficientnet", IMAGENET, dls_zoo_inverted,
     "width=1.2 depth=1.4" DLS_ZOO_EFFICIENTNET, 300},
    {"efficientnet_b4", "efficientnet", IMAGENET, dls_zoo_inverted,
     "width=1.4 depth=1.8" DLS_ZOO_EFFICIENTNET, 380},
    {"lstm_lm", "lstm_lm", "wikitext2", 20, 35, DLS_OPTIMISER_SGD, false, dls_zoo_lstm_lm, "", 0},
    {"autoencoder", "autoencoder", "ml-20m", 512, 0, DLS_OPTIMISER_ADAM, false, dls_zoo_autoencoder,
     "", 0},
    {"gpt2_large", "gpt2", TEXT("openwebtext", 4, 1024), dls_zoo_gpt,
     "width=1280 layers=36 heads=20", 0},
    {"gpt2_xl", "gpt2", TEXT("openwebtext", 2, 1024), dls_zoo_gpt, "width=1600 layers=48 heads=25",
     0},
    {"gpt3_13b", "gpt3", TEXT("openwebtext", 2, 2048), dls_zoo_gpt, "width=2048 layers=24 heads=16",
     0},
    {"gpt3_xl", "gpt3", TEXT("openwebtext", 1, 2048), dls_zoo_gpt, "width=3072 layers=24 heads=24",
     0},
    {"gpt3_27b", "gpt3", TEXT("openwebtext", 1, 2048), dls_zoo_gpt, "width=2560 layers=32 heads=32",
     0},
    {"opt_13b", "opt", TEXT("openwebtext", 2, 2048), dls_zoo_gpt,
     "width=2048 layers=24 heads=32 opt", 0},
    {"inception_resnet_v2", "inception", IMAGENET, dls_zoo_inception, "inception_resnet2", 299},
    {"roberta_base", "bert", TEXT("squad", 32, 128), dls_zoo_bert,
     "width=768 layers=12 heads=12" ROBERTA, 0},
    {"roberta_large", "bert", TEXT("squad", 16, 128), dls_zoo_bert,
     "width=1024 layers=24 heads=16" ROBERTA, 0},
    {"distilbert_base", "bert", TEXT("squad", 32, 128), dls_zoo_bert,
     "width=768 layers=6 heads=12 kinds=0", 0},
    {"opt_125m", "opt", TEXT("openwebtext", 8, 2048), dls_zoo_gpt,
     "width=768 layers=12 heads=12 opt", 0},
    {"opt_27b", "opt", TEXT("openwebtext", 1, 2048), dls_zoo_gpt,
     "width=2560 layers=32 heads=32 opt", 0},
    {"opt_67b", "opt", TEXT("openwebtext", 1, 2048), dls_zoo_gpt,
     "width=4096 layers=32 heads=32 opt", 0},
    {"gpt3_67b", "gpt3", TEXT("openwebtext", 1, 2048), dls_zoo_gpt, "width=4096 layers=32 heads=32",
     0},
    {"llama_13b", "llama", TEXT("c4", 1, 2048), dls_zoo_llama,
     "width=5120 inner=13824 layers=40 heads=40", 0},
    {"llama_33b", "llama", TEXT("c4", 1, 2048), dls_zoo_llama,
     "width=6656 inner=17920 layers=60 heads=52", 0},
    {"llama_65b", "llama", TEXT("c4", 1, 2048), dls_zoo_llama,
     "width=8192 inner=22016 layers=80 heads=64", 0},
    {"switch_xl4", "switch", TEXT("c4", 1, 512), dls_zoo_switch, "", 0},
};
#define N_MODELS (sizeof models / sizeof models[0])
#define N_DRAWN 34

static const dls_zoo_table *const families[] = {
    &dls_zoo_resnets,  &dls_zoo_regnets,   &dls_zoo_mobiles,  &dls_zoo_patches,
    &dls_zoo_windows,  &dls_zoo_classes,   &dls_zoo_plain,    &dls_zoo_shared,
    &dls_zoo_shuffles, &dls_zoo_normfree,  &dls_zoo_csp,      &dls_zoo_multi,
    &dls_zoo_stages,   &dls_zoo_separable, &dls_zoo_pyramids, &dls_zoo_paths,
    &dls_zoo_seeing,   &dls_zoo_hearing,   &dls_zoo_scales,   &dls_zoo_levits,  &dls_zoo_cells,
    &dls_zoo_decoders, &dls_zoo_maxvits,  &dls_zoo_relatives, &dls_zoo_encdecs, &dls_zoo_clips,
    &dls_zoo_clicks,   &dls_zoo_boxes,    &dls_zoo_diffusions, &dls_zoo_mixtures};
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

const char *dls_zoo_near(const char *name)
{
    enum { MOST = 2048 };
    char spelled[64];
    const char *slash = strrchr(name, '/'), *names[MOST];
    size_t n = 0;
    snprintf(spelled, sizeof spelled, "%s", slash ? slash + 1 : name);
    for (char *at = spelled; (at = strpbrk(at, "- .")); at++) {
        *at = '_';
    }
    for (const dls_zoo_model *model; n + 1 < MOST && (model = dls_zoo_at(n)); n++) {
        names[n] = model->name;
    }
    names[n] = NULL;
    return dls_suggest(spelled, names);
}

dls_zoo_options dls_zoo_defaults(const dls_zoo_model *model)
{
    return (dls_zoo_options){.dataset = model->dataset,
                             .batch = model->batch,
                             .sequence = model->sequence,
                             .numeric = DLS_NUMERIC_FP32,
                             .optimiser = model->optimiser};
}

bool dls_zoo_tables(const dls_zoo_model *model)
{
    return model->design == dls_zoo_dlrm;
}

int32_t dls_zoo_image(const dls_zoo_model *model)
{
    static const struct {
        const char *dataset;
        int32_t image;
    } sizes[] = {{"imagenet", 224}, {"cifar10", 32}, {"mnist", 28}};
    const size_t i = DLS_NAMED(sizes, model->dataset);
    return model->image > 0 ? model->image : i < sizeof sizes / sizeof sizes[0] ? sizes[i].image : 0;
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
    if (options->shards > 1 && model->design != dls_zoo_gpt) {
        return dls_fail(err, DLS_EINPUT, model->name, "%s: layers in %d parts are not known",
                        model->name, (int)options->shards);
    }
    dls_net *net;
    DLS_TRY(dls_net_create(&info, model->decay, &net, err));
    dls_net_set_runner(net, options->runner);
    dls_net_set_shards(net, options->shards > 1 ? options->shards : 1);
    model->design(net, model->spec);
    const dls_status status = dls_net_finish(net, out, err);
    dls_net_destroy(net);
    return status;
}
