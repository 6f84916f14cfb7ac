/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Normalises model names of public traces and maps them to zoo models and workloads, with a table
 * of other spellings and stand-ins; adapts a workload to a batch size.
 */
#include "workload/kinds.h"

#include "workload/graph/zoo.h"
#include "workload/operator/from_graph.h"

#include <ctype.h>
#include <math.h>
#include <string.h>

/* Other spellings, as keys. Stand-ins are chosen by parameters and operations of a sample. */
static const struct {
    const char *name, *zoo, *layers;
    bool same;
} others[] = {
    {"vgg", "vgg16", "vgg16", true},
    {"resnet", "resnet50", "resnet50", true},
    {"imagenet", "resnet50", "resnet50", true}, /* Pollux, Sia: ResNet-50 */
    {"resnet50imagenet", "resnet50", "resnet50", true},
    {"inceptionv1", "googlenet", "googlenet", true},
    {"inceptionv3", "inception3", "inception3", true},
    {"inceptionv4", "inception4", "inception4", true},
    /* The operator model's own BERT reads 384 tokens, the zoo's 128. */
    {"bert", "bert_base", "bert_base_128", true},
    {"bertbase", "bert_base", "bert_base_128", true},
    {"bertbase128", "bert_base", "bert_base_128", true},
    {"bertlarge", "bert_large", NULL, true},
    {"resnet50v15", "resnet50", "resnet50_v15", true},
    {"resnet101v15", "resnet101", "resnet101_v15", true},
    {"resnet152v15", "resnet152", "resnet152_v15", true},
    {"gpt2", "gpt2_small", NULL, true},
    {"llama", "llama_7b", NULL, true},
    {"llama27b", "llama_7b", NULL, true},
    {"transformer", "transformer_base", NULL, true},
    {"mobilenetv1", "mobilenet", NULL, true},
    {"efficientnet", "efficientnet_b0", NULL, true},
    {"densenet", "densenet121", NULL, true},
    {"seq2seq", "seq2seq_medium", NULL, true},
    {"neumf", "ncf", NULL, true},
    /* ResNet-18 on 32 x 32 images: the graph of the zoo's largest network for them. */
    {"resnet18", "resnet110", "resnet18_cifar", false},
    {"resnet18cifar", "resnet110", "resnet18_cifar", false},
    {"cifar10", "resnet110", "resnet18_cifar", false},
    {"resnet18cifar10", "resnet110", "resnet18_cifar", false},
    {"resnet50cifar10", "resnet110", "resnet18_cifar", false},
    {"resnet34", "resnet50", "resnet50", false},
    {"shufflenetv2x10", "mobilenet_v2", NULL, false},
    {"shufflenetv2", "mobilenet_v2", NULL, false},
    {"mobilenetv3", "mobilenet_v2", NULL, false},
    {"yolov3", "resnet152", "resnet152", false},
    {"cyclegan", "inception4", "inception4", false},
    {"deepspeech2", "seq2seq_medium", NULL, false},
    {"lm", "seq2seq_small", NULL, false}, /* Gavel: LSTM on WikiText-2 */
    {"lstm", "seq2seq_small", NULL, false},
    {"recommendation", "ncf", NULL, false}, /* Gavel: autoencoder on MovieLens 20M */
    {"roberta", "bert_base", "bert_base_128", false},
    {"vit", "bert_base", "bert_base_128", false},
    {"t5", "transformer_big", NULL, false},
    {"a2c", "lenet", NULL, false},
    {"a3c", "lenet", NULL, false},
    {"dqn", "lenet", NULL, false},
};

void dls_model_key(const char *name, char out[DLS_MODEL_KEY])
{
    size_t n = 0;
    for (; *name && *name != '(' && n + 1 < DLS_MODEL_KEY; name++) {
        if (isalnum((unsigned char)*name)) {
            out[n++] = (char)tolower((unsigned char)*name);
        }
    }
    out[n] = '\0';
}

static bool has_key(const char *name, const char *key)
{
    char own[DLS_MODEL_KEY];
    dls_model_key(name, own);
    return strcmp(own, key) == 0;
}

static const char *layers_named(const char *key)
{
    for (const char *const *name = dls_workload_names(); *name; name++) {
        if (has_key(*name, key)) {
            return *name;
        }
    }
    return NULL;
}

/* The one copy of each name: the zoo's and the operator model's own. */
static dls_model_names names_of(const char *zoo, const char *layers, dls_model_match match)
{
    dls_model_names names = {.zoo = dls_zoo_find(zoo)->name, .match = match};
    for (const char *const *name = dls_workload_names(); layers && *name; name++) {
        if (strcmp(*name, layers) == 0) {
            names.layers = *name;
        }
    }
    return names;
}

dls_model_names dls_model_lookup(const char *name)
{
    char key[DLS_MODEL_KEY];
    dls_model_key(name ? name : "", key);
    for (size_t i = 0; i < sizeof others / sizeof others[0]; i++) {
        if (strcmp(others[i].name, key) == 0) {
            return names_of(others[i].zoo, others[i].layers,
                            others[i].same ? DLS_MODEL_KNOWN : DLS_MODEL_STAND_IN);
        }
    }
    for (size_t i = 0; i < dls_zoo_size(); i++) {
        const char *zoo = dls_zoo_at(i)->name;
        if (has_key(zoo, key)) {
            return (dls_model_names){
                .zoo = zoo, .layers = layers_named(key), .match = DLS_MODEL_KNOWN};
        }
    }
    return names_of(DLS_KIND_FALLBACK, DLS_KIND_FALLBACK, DLS_MODEL_UNKNOWN);
}

void dls_model_resize(dls_model_names *names, int32_t image, int32_t sequence)
{
    const dls_zoo_model *model = dls_zoo_find(names->zoo);
    names->image = image == dls_zoo_image(model) ? 0 : image;
    names->sequence = sequence == model->sequence ? 0 : sequence;
    if (names->image || names->sequence) {
        const bool squad = strcmp(names->zoo, "bert_base") == 0 && sequence == 384 && !names->image;
        names->layers = squad ? layers_named("bertbase") : NULL;
    }
}

static dls_status at_batch(const dls_model_names *names, int32_t batch, dls_numeric numeric,
                           dls_workload *w, dls_error *err)
{
    const dls_zoo_model *model = dls_zoo_find(names->zoo);
    dls_zoo_options options = dls_zoo_defaults(model);
    dls_opgraph *graph;
    options.batch = batch;
    options.numeric = numeric;
    options.image = names->image;
    options.sequence = names->sequence ? names->sequence : options.sequence;
    DLS_TRY(dls_zoo_build(model, &options, &graph, err));
    const dls_status status = dls_workload_from_graph(graph, w, err);
    dls_opgraph_destroy(graph);
    return status;
}

/* A graph's kernels move a fixed number of elements, weights above all, and a number for each sample;
 * `half` is the same for half of w's batch and tells them apart. */
static void split_traffic(dls_workload *w, const dls_workload *half, double batch)
{
    for (size_t i = 0; i < w->n_kernels && w->n_kernels == half->n_kernels; i++) {
        const double each = 2 * w->kernel[i].moved - half->kernel[i].moved;
        w->kernel[i].moved_once = fmax(0, batch * (w->kernel[i].moved - each));
        w->kernel[i].moved = fmax(0, each);
    }
}

dls_status dls_model_workload(const dls_model_names *names, dls_numeric numeric, dls_workload *w,
                              dls_error *err)
{
    if (names->layers) {
        return dls_workload_build(names->layers, w, err);
    }
    const int32_t batch = dls_zoo_find(names->zoo)->batch;
    dls_workload half;
    DLS_TRY(at_batch(names, batch, numeric, &half, err));
    const dls_status status = at_batch(names, 2 * batch, numeric, w, err);
    if (status == DLS_OK) {
        split_traffic(w, &half, 2 * batch);
    }
    dls_workload_fini(&half);
    return status;
}
