/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Normalises model names of public traces and maps them to zoo models and workloads, with a table
 * of other spellings.
 */
#include "workload/kinds.h"

#include "base/own.h"
#include "base/suggest.h"
#include "workload/graph/zoo.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

/* Other spellings, as keys. */
static const struct {
    const char *name, *zoo, *layers;
} others[] = {
    {"vgg", "vgg16", "vgg16"},
    {"resnet", "resnet50", "resnet50"},
    {"imagenet", "resnet50", "resnet50"}, /* Pollux, Sia: ResNet-50 */
    {"resnet50imagenet", "resnet50", "resnet50"},
    {"inceptionv1", "googlenet", "googlenet"},
    {"inceptionv3", "inception3", "inception3"},
    {"inceptionv4", "inception4", "inception4"},
    /* The operator model's own BERT reads 384 tokens, the zoo's 128. */
    {"bert", "bert_base", "bert_base_128"},
    {"bertbase", "bert_base", "bert_base_128"},
    {"bertbase128", "bert_base", "bert_base_128"},
    {"bertlarge", "bert_large", NULL},
    {"resnet50v15", "resnet50", "resnet50_v15"},
    {"resnet101v15", "resnet101", "resnet101_v15"},
    {"resnet152v15", "resnet152", "resnet152_v15"},
    {"gpt2", "gpt2_small", NULL},
    {"llama", "llama_7b", NULL},
    {"llama27b", "llama_7b", NULL},
    {"transformer", "transformer_base", NULL},
    {"mobilenetv1", "mobilenet", NULL},
    {"efficientnet", "efficientnet_b0", NULL},
    {"densenet", "densenet121", NULL},
    {"seq2seq", "seq2seq_medium", NULL},
    {"neumf", "ncf", NULL},
    /* On 32 x 32 images, as Gavel, Pollux and Sia train it. */
    {"resnet18", "resnet18_cifar", "resnet18_cifar"},
    {"cifar10", "resnet18_cifar", "resnet18_cifar"},
    {"resnet18cifar10", "resnet18_cifar", "resnet18_cifar"},
    {"lm", "lstm_lm", NULL}, /* Gavel: LSTM on WikiText-2 */
    {"lstm", "lstm_lm", NULL},
    {"recommendation", "autoencoder", NULL}, /* Gavel: autoencoder on MovieLens 20M */
    {"vit", "vit_base", NULL},
    {"vittinypatch16", "vit_tiny", NULL},
    {"vitsmallpatch16", "vit_small", NULL},
    {"vitbasepatch16", "vit_base", NULL},
    {"vitlargepatch16", "vit_large", NULL},
    {"vitb16", "vit_base", NULL}, /* torchvision */
    {"vitb32", "vit_base_patch32", NULL},
    {"vitl16", "vit_large", NULL},
    {"vitl32", "vit_large_patch32", NULL},
    {"vith14", "vit_huge_patch14", NULL},
    {"deittinypatch16", "vit_tiny", NULL},
    {"deitsmallpatch16", "vit_small", NULL},
    {"deitbasepatch16", "vit_base", NULL},
    {"swint", "swin_tiny_patch4_window7", NULL},
    {"swins", "swin_small_patch4_window7", NULL},
    {"swinb", "swin_base_patch4_window7", NULL},
    /* Spellings of timm: weights of the same network. */
    {"efficientnetelpruned", "efficientnet_el", NULL},
    {"efficientnetespruned", "efficientnet_es", NULL},
    {"efficientnetb2a", "efficientnet_b2", NULL},
    {"efficientnetb3a", "efficientnet_b3", NULL},
    {"densenetblur121d", "densenet121d", NULL}, /* its blurs are pools here, as in ResNets */
    {"maxvittiny", "maxvit_tiny_tf", NULL},
    {"maxvitt", "maxvit_tiny_tf", NULL}, /* torchvision's has 0.01 % more parameters */
    {"maxvitsmall", "maxvit_small_tf", NULL},
    {"maxvitbase", "maxvit_base_tf", NULL},
    {"maxvitlarge", "maxvit_large_tf", NULL},
    {"maxvitxlarge", "maxvit_xlarge_tf", NULL},
    {"convnexttinyhnfd", "convnext_tiny_hnf", NULL},
    {"seresnext26tn32x4d", "seresnext26t_32x4d", NULL},
    {"beitv2basepatch16", "beit_base_patch16", NULL},
    {"beitv2largepatch16", "beit_large_patch16", NULL},
    {"vitbaseresnet50", "vit_base_r50_s16", NULL},
    {"mobilenetv3large", "mobilenetv3_large_100", NULL},
    {"mobilenetv3small", "mobilenetv3_small_100", NULL},
    {"mnasnet10", "mnasnet_100", NULL},
    {"mnasneta1", "semnasnet_100", NULL},
    {"mnasnetb1", "mnasnet_100", NULL},
    {"mobilenetv2100", "mobilenet_v2", NULL},
    {"tvresnet50", "resnet50", "resnet50_v15"},
    {"tvresnet101", "resnet101", "resnet101_v15"},
    {"tvresnet152", "resnet152", "resnet152_v15"},
    {"gpt327", "gpt3_27b", NULL},
    {"opt13", "opt_13b", NULL},
    {"roberta", "roberta_base", NULL},
    {"distilbert", "distilbert_base", NULL},
    {"llama213b", "llama_13b", NULL},
    {"llama30b", "llama_33b", NULL},
    {"albert", "albert_base", NULL},
    {"albertbasev2", "albert_base", NULL},
    {"albertlargev2", "albert_large", NULL},
    {"albertxlargev2", "albert_xlarge", NULL},
    {"albertxxlargev2", "albert_xxlarge", NULL},
    {"flant5small", "t5_v1_1_small", NULL},
    {"flant5base", "t5_v1_1_base", NULL},
    {"flant5large", "t5_v1_1_large", NULL},
    {"flant5xl", "t5_v1_1_xl", NULL},
    {"flant5xxl", "t5_v1_1_xxl", NULL},
    {"squeezenet", "squeezenet1_0", NULL},
    /* Torchvision's; 'p' for the point of a size (lookup_key). */
    {"regnetx400mf", "regnetx_004_tv", NULL},
    {"regnetx800mf", "regnetx_008", NULL},
    {"regnetx1p6gf", "regnetx_016", NULL},
    {"regnetx3p2gf", "regnetx_032", NULL},
    {"regnetx8gf", "regnetx_080", NULL},
    {"regnetx16gf", "regnetx_160", NULL},
    {"regnetx32gf", "regnetx_320", NULL},
    {"regnety400mf", "regnety_004", NULL},
    {"regnety800mf", "regnety_008_tv", NULL},
    {"regnety1p6gf", "regnety_016", NULL},
    {"regnety3p2gf", "regnety_032", NULL},
    {"regnety8gf", "regnety_080_tv", NULL},
    {"regnety16gf", "regnety_160", NULL},
    {"regnety32gf", "regnety_320", NULL},
    {"regnety128gf", "regnety_1280", NULL},
    {"mnasnet05", "mnasnet_050", NULL},
    {"mnasnet13", "mnasnet_130", NULL},
    {"swinv2t", "swinv2_tiny_window8", NULL},
    {"swinv2s", "swinv2_small_window8", NULL},
    {"swinv2b", "swinv2_base_window8", NULL},
    {"resnext50", "resnext50_32x4d", NULL},
    {"resnext101", "resnext101_32x8d", NULL},
    {"vitb", "vit_base", NULL},
    {"vitl", "vit_large", NULL},
    /* Billions with a point; the zoo's own names are older and have none. */
    {"opt1p3b", "opt_13b", NULL},
    {"opt2p7b", "opt_27b", NULL},
    {"opt6p7b", "opt_67b", NULL},
    {"opt13b", "opt_13_0b", NULL},
    {"gpt31p3b", "gpt3_13b", NULL},
    {"gpt32p7b", "gpt3_27b", NULL},
    {"gpt36p7b", "gpt3_67b", NULL},
    {"gpt313b", "gpt3_13_0b", NULL},
    {"gpt3", "gpt3_175b", NULL}, /* MLPerf */
    {"gpt21p5b", "gpt2_xl", NULL},
    {"gptneo1p3b", "gpt3_13b", NULL},
    {"gptneo2p7b", "gpt3_27b", NULL},
    {"metallama38b", "llama3_8b", NULL},
    {"metallama370b", "llama3_70b", NULL},
    {"llama318b", "llama3_8b", NULL}, /* 3.1 and 3.3 have 3's networks */
    {"llama3170b", "llama3_70b", NULL},
    {"llama3370b", "llama3_70b", NULL},
    {"llama31405b", "llama3_405b", NULL},
    {"metallama318b", "llama3_8b", NULL},
    {"metallama3170b", "llama3_70b", NULL},
    {"metallama31405b", "llama3_405b", NULL},
    {"mistral", "mistral_7b", NULL},
    {"mistral7bv01", "mistral_7b", NULL},
    {"mistral7binstructv01", "mistral_7b", NULL},
    {"mistral7binstructv02", "mistral_7b", NULL},
    {"mistral7bv03", "mistral_7b_v3", NULL},
    {"mistral7binstructv03", "mistral_7b_v3", NULL},
    {"mistralnemobase2407", "mistral_nemo", NULL},
    {"mistralnemoinstruct2407", "mistral_nemo", NULL},
    {"mistralsmall24bbase2501", "mistral_small_24b", NULL},
    {"mistralsmall24binstruct2501", "mistral_small_24b", NULL},
    {"mixtral8x7bv01", "mixtral_8x7b", NULL},
    {"mixtral8x7binstructv01", "mixtral_8x7b", NULL},
    {"mixtral8x22bv01", "mixtral_8x22b", NULL},
    {"vicuna7bv15", "llama_7b", NULL}, /* weights of LLaMA's networks */
    {"vicuna13bv15", "llama_13b", NULL},
    {"openllama7b", "llama_7b", NULL},
    {"zephyr7bbeta", "mistral_7b", NULL},
    {"deepseekr1distillllama8b", "llama3_8b", NULL},
    {"deepseekr1distillllama70b", "llama3_70b", NULL},
    {"deepseekr1distillqwen7b", "qwen2_7b", NULL},
    {"deepseekr1distillqwen14b", "qwen2_14b", NULL},
    {"deepseekr1distillqwen32b", "qwen2_32b", NULL},
    {"deepseekr1", "deepseek_v3", NULL},
    {"deepseekv31", "deepseek_v3", NULL},
    {"qwen330ba3binstruct2507", "qwen3_30b_a3b", NULL},
    {"qwen330ba3bthinking2507", "qwen3_30b_a3b", NULL},
    {"qwen3coder30ba3binstruct", "qwen3_30b_a3b", NULL},
    {"qwq32b", "qwen2_32b", NULL},
    {"yi156b", "yi_6b", NULL}, /* 1.5 has the first ones' networks */
    {"yi159b", "yi_9b", NULL},
    {"yi1534b", "yi_34b", NULL},
    {"smollm135m", "smollm2_135m", NULL},
    {"smollm360m", "smollm2_360m", NULL},
    {"smollm1p7b", "smollm2_1_7b", NULL},
    {"albertbasev1", "albert_base", NULL},
    {"albertlargev1", "albert_large", NULL},
    {"gptneo125m", "gpt3_125m", NULL},
    {"openllama13b", "llama_13b", NULL},
    {"gemma112b", "gemma_2b", NULL},
    {"gemma117b", "gemma_7b", NULL},
    {"phi3mini4k", "phi3_mini", NULL},
    {"phi3mini128k", "phi3_mini", NULL},
    {"phi35mini", "phi3_mini", NULL},
    {"phi3medium4k", "phi3_medium", NULL},
    {"phi3medium128k", "phi3_medium", NULL},
    {"deepseekllm7b", "deepseek_7b", NULL},
    {"deepseekllm67b", "deepseek_67b", NULL},
    {"gptj", "gptj_6b", NULL},
    {"gptneox", "gpt_neox_20b", NULL},
    {"bloom", "bloom_176b", NULL},
    {"bloomz", "bloom_176b", NULL},
    {"bloomz560m", "bloom_560m", NULL},
    {"bloomz1b1", "bloom_1b1", NULL},
    {"bloomz1b7", "bloom_1b7", NULL},
    {"bloomz3b", "bloom_3b", NULL},
    {"bloomz7b1", "bloom_7b1", NULL},
    {"tinyllama1p1b", "tinyllama_1b", NULL},
    {"tinyllama1p1bchatv10", "tinyllama_1b", NULL},
    {"qwen250p5b", "qwen2_0_5b", NULL}, /* 2.5 has 2's networks, and three more */
    {"qwen251p5b", "qwen2_1_5b", NULL},
    {"qwen253b", "qwen2_3b", NULL},
    {"qwen257b", "qwen2_7b", NULL},
    {"qwen2514b", "qwen2_14b", NULL},
    {"qwen2532b", "qwen2_32b", NULL},
    {"qwen2572b", "qwen2_72b", NULL},
    {"qwen25coder0p5b", "qwen2_0_5b", NULL}, /* other texts */
    {"qwen25coder1p5b", "qwen2_1_5b", NULL},
    {"qwen25coder3b", "qwen2_3b", NULL},
    {"qwen25coder7b", "qwen2_7b", NULL},
    {"qwen25coder14b", "qwen2_14b", NULL},
    {"qwen25coder32b", "qwen2_32b", NULL},
    {"electrasmalldiscriminator", "electra_small", NULL},
    {"electrabasediscriminator", "electra_base", NULL},
    {"electralargediscriminator", "electra_large", NULL},
    {"codebertbase", "roberta_base", NULL},
    {"xlmrobertabase", "xlm_roberta_base", NULL},
    {"bertbasemultilingual", "bert_base_multilingual", NULL},
    {"minilml6v2", "minilm_l6", NULL},
    {"allminilml6v2", "minilm_l6", NULL},
    {"allminilml12v2", "minilm_l12", NULL},
    {"shufflenetv2", "shufflenet_v2_x1_0", NULL},
    {"bart", "bart_base", NULL},
    {"bartlargexsum", "bart_large_cnn", NULL},
    {"whisperlargev2", "whisper_large", NULL},
    {"whisperturbo", "whisper_large_v3_turbo", NULL},
    {"clip", "clip_vit_base_patch32", NULL},
    {"clipvitb32", "clip_vit_base_patch32", NULL},
    {"clipvitb16", "clip_vit_base_patch16", NULL},
    {"clipvitl14", "clip_vit_large_patch14", NULL},
    {"clipvitl14336px", "clip_vit_large_patch14_336", NULL},
    {"ssd300", "ssd300_vgg16", NULL}, /* torchvision */
    {"ssdvgg16", "ssd300_vgg16", NULL},
    {"ssd300v11", "ssd300_resnet50", NULL}, /* NVIDIA */
    {"ssdresnet50", "ssd300_resnet50", NULL},
    {"ssdresnet34", "ssd300_resnet34", NULL}, /* MLPerf */
    {"retinanet", "retinanet_resnet50_fpn", NULL},
    {"retinanetresnet50", "retinanet_resnet50_fpn", NULL},
    {"retinanetr50fpn", "retinanet_resnet50_fpn", NULL},
    {"retinanetresnext50", "retinanet_resnext50_fpn", NULL}, /* MLPerf */
    {"retinanetresnext5032x4dfpn", "retinanet_resnext50_fpn", NULL},
    {"fasterrcnn", "fasterrcnn_resnet50_fpn", NULL},
    {"fasterrcnnr50fpn", "fasterrcnn_resnet50_fpn", NULL},
    {"fasterrcnnresnet50", "fasterrcnn_resnet50_fpn", NULL},
    {"maskrcnn", "maskrcnn_resnet50_fpn", NULL},
    {"maskrcnnr50fpn", "maskrcnn_resnet50_fpn", NULL},
    {"maskrcnnresnet50", "maskrcnn_resnet50_fpn", NULL},
    {"stablediffusionv14", "stable_diffusion_1", NULL},
    {"stablediffusionv15", "stable_diffusion_1", NULL},
    {"sd14", "stable_diffusion_1", NULL},
    {"sd15", "stable_diffusion_1", NULL},
    {"sdv14", "stable_diffusion_1", NULL},
    {"sdv15", "stable_diffusion_1", NULL},
    {"stablediffusion21", "stable_diffusion_2", NULL},
    {"stablediffusion21base", "stable_diffusion_2_base", NULL},
    {"sd21", "stable_diffusion_2", NULL},
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

/* Is dls_model_key of the name this one? The point of a size may be a '_' of the name: "qwen2_0_5b"
 * has "qwen20p5b", too. Keys of hundreds are asked for, and most differ at once. */
static bool has_key(const char *name, const char *key)
{
    for (; *name && *name != '('; name++) {
        if (isalnum((unsigned char)*name) && tolower((unsigned char)*name) != *key++) {
            return false;
        }
        key += *name == '_' && *key == 'p' && isdigit((unsigned char)key[1]) &&
               isdigit((unsigned char)name[1]);
    }
    return *key == '\0';
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
    dls_model_names names = {.zoo = dls_zoo_find(zoo), .match = match};
    for (const char *const *name = dls_workload_names(); layers && *name; name++) {
        if (strcmp(*name, layers) == 0) {
            names.layers = *name;
        }
    }
    return names;
}

/* The key of a name, with 'p' for the point of a size: "opt-1.3b" is another network than
 * "opt-13b", "regnet_x_1_6gf" than "regnet_x_16gf". */
static void key_of_name(const char *name, char key[DLS_MODEL_KEY])
{
    char spelled[256];
    snprintf(spelled, sizeof spelled, "%s", name);
    for (char *at = spelled; (at = strpbrk(at, "._")); at++) {
        const char *unit = at + 1 + strspn(at + 1, "0123456789");
        const bool size =
            (*at == '.' && tolower((unsigned char)*unit) == 'b') || strncasecmp(unit, "gf", 2) == 0;
        if (size && unit > at + 1 && at > spelled && isdigit((unsigned char)at[-1])) {
            *at = 'p';
        }
    }
    dls_model_key(spelled, key);
}

static dls_model_names lookup_key(const char *name)
{
    char key[DLS_MODEL_KEY];
    key_of_name(name ? name : "", key);
    const size_t other = DLS_NAMED(others, key);
    const dls_zoo_model *own = name ? dls_zoo_find(name) : NULL;
    if (other < sizeof others / sizeof others[0] && own && !others[other].layers) {
        return (dls_model_names){.zoo = own, .match = DLS_MODEL_KNOWN}; /* the zoo's "opt_13b" */
    }
    if (other < sizeof others / sizeof others[0]) {
        return names_of(others[other].zoo, others[other].layers, DLS_MODEL_KNOWN);
    }
    for (size_t i = 0; i < dls_zoo_size(); i++) {
        const dls_zoo_model *zoo = dls_zoo_at(i);
        if (has_key(zoo->name, key)) {
            return (dls_model_names){
                .zoo = zoo, .layers = layers_named(key), .match = DLS_MODEL_KNOWN};
        }
    }
    return names_of(DLS_KIND_FALLBACK, DLS_KIND_FALLBACK, DLS_MODEL_UNKNOWN);
}

/* What stands in front of or behind the name of a network and says only who trained it, and on
 * what: spellings of timm and Hugging Face. */
static const char *const before[] = {"tf", "tv",     "gluon", "ssl", "swsl", "ig",
                                     "dm", "legacy", "jx",    "ens", "adv"};
static const char *const behind[] = {
    "in22ft1k", "in21ft1k", "in22k",     "in21k",   "in1k",    "22k",     "22kft1k", "1k",  "ap",
    "ns",       "miil",     "dino",      "sam",     "v1b",     "475",     "dist",    "bit", "bitm",
    "iabn",     "clip",     "distilled", "laion2b", "teacher", "uncased", "cased",   "hf",
    "instruct", "chat"};

/* The same behind a number of parameters alone: elsewhere they are a size. */
static const char *const behind_size[] = {"base", "it", "pt", "deduped"};

/* Is the word before this '_' a number of parameters, "6.9b"? */
static bool behind_number(const char *name, const char *at)
{
    return at - name >= 2 && strchr("bBmM", at[-1]) && isdigit((unsigned char)at[-2]);
}

static bool among(const char *const *words, size_t n, const char *word, size_t length)
{
    for (size_t i = 0; i < n; i++) {
        if (strlen(words[i]) == length && strncasecmp(words[i], word, length) == 0) {
            return true;
        }
    }
    return false;
}

/* Pixels of an edge of images. 256 and 512 may be a batch, but not behind patches and windows. */
static bool is_edge(const char *name, long n)
{
    const bool batch = (n & (n - 1)) == 0 && !strstr(name, "patch") && !strstr(name, "window");
    return n >= 160 && n <= 999 && n % 8 == 0 && !batch;
}

/* Where weights begin that are named behind a network, "resnet50.a1_in1k"; a dot between digits is a
 * number's. NULL: nowhere. */
static char *weights_of(char *name)
{
    char *dot = strchr(name, '.');
    while (dot && dot > name && isdigit((unsigned char)dot[-1]) && isdigit((unsigned char)dot[1])) {
        dot = strchr(dot + 1, '.');
    }
    return dot;
}

/* Pixels of an edge that weights were trained for, "fb_in22k_ft_in1k_384"; 0: they do not say. */
static int32_t edge_of_weights(const char *weights)
{
    const char *last = strrchr(weights, '_');
    const bool number = last && strlen(last) == 4 && strspn(last + 1, "0123456789") == 3;
    const long n = number ? strtol(last + 1, NULL, 10) : 0;
    return n >= 160 && n % 8 == 0 ? (int32_t)n : 0;
}

/* The name without its first or last word, if that says nothing of the network or only the edge of
 * its images, which then is *image. false: there is no such word. */
static bool shorten(char *name, int32_t *image)
{
    char *last = strrchr(name, '_'), *dot = weights_of(name);
    const size_t first = strcspn(name, "_");
    if (dot) {
        *image = edge_of_weights(dot);
        *dot = '\0';
    } else if (!last) {
        return false;
    } else if (among(before, sizeof before / sizeof before[0], name, first)) {
        memmove(name, name + first + 1, strlen(name + first + 1) + 1);
    } else if (among(behind, sizeof behind / sizeof behind[0], last + 1, strlen(last + 1)) ||
               (behind_number(name, last) &&
                among(behind_size, sizeof behind_size / sizeof behind_size[0], last + 1,
                      strlen(last + 1)))) {
        *last = '\0';
    } else if (strlen(last) == 4 && is_edge(name, strtol(last + 1, NULL, 10))) {
        *image = (int32_t)strtol(last + 1, NULL, 10);
        *last = '\0';
    } else if (strlen(last) == 4 && strncmp(last, "_v1", 3) == 0) { /* resnet50_v1d: resnet50d */
        memmove(last, last + 3, 2);
    } else {
        return false;
    }
    return true;
}

dls_model_names dls_model_lookup(const char *name)
{
    char part[256];
    int32_t image = 0;
    dls_model_names names = lookup_key(name);
    const char *owner = name ? strrchr(name, '/') : NULL; /* facebook/opt-1.3b */
    snprintf(part, sizeof part, "%s", owner ? owner + 1 : name ? name : "");
    for (char *dash = part; (dash = strchr(dash, '-'));) {
        *dash = '_';
    }
    names = owner && names.match == DLS_MODEL_UNKNOWN ? lookup_key(owner + 1) : names; /* no "ViT-B/16" */
    bool shared = owner;
    while (names.match == DLS_MODEL_UNKNOWN && shorten(part, &image)) {
        names = lookup_key(part);
        shared = true;
    }
    if (shared && strcmp(names.zoo->name, "resnet18_cifar") == 0) {
        names = lookup_key("resnet18_imagenet"); /* weights that are passed on are of that */
    }
    if (names.match == DLS_MODEL_KNOWN && image > 0) {
        if (!dls_zoo_image(names.zoo)) { /* the number was no image's */
            return names_of(DLS_KIND_FALLBACK, DLS_KIND_FALLBACK, DLS_MODEL_UNKNOWN);
        }
        dls_model_resize(&names, image, 0);
    }
    return names;
}

/* Cut [text, end) to a key. */
static void key_between(const char *text, const char *end, char key[DLS_MODEL_KEY])
{
    char name[256];
    const size_t n = (size_t)(end - text) < sizeof name ? (size_t)(end - text) : sizeof name - 1;
    memcpy(name, text, n);
    name[n] = '\0';
    dls_model_key(name, key);
}

/* The value of an entry without the blanks around it, where it is no model that is known, and has a
 * '.' or a '/', as names of files do. */
static bool names_file(const char *text, const char *end, char path[DLS_MODEL_PATH])
{
    char key[DLS_MODEL_KEY];
    text += strspn(text, " ");
    while (end > text && end[-1] == ' ') {
        end--;
    }
    const size_t n = (size_t)(end - text);
    if (n == 0 || n >= DLS_MODEL_PATH) {
        return false;
    }
    memcpy(path, text, n);
    path[n] = '\0';
    key_between(text, end, key);
    return strpbrk(path, "./") && dls_model_lookup(key).match != DLS_MODEL_KNOWN;
}

const char *dls_model_next_file(const char *stand_ins, char path[DLS_MODEL_PATH])
{
    for (const char *p = stand_ins; p && *p;) {
        const char *end = p + strcspn(p, ";"), *equals = memchr(p, '=', (size_t)(end - p));
        p = end + (*end == ';');
        if (equals && names_file(equals + 1, end, path)) {
            return p;
        }
    }
    return NULL;
}

/* *out stays where no file is named. */
static dls_status model_of_file(const char *text, const char *end, struct dls_zoo_file **files,
                                dls_model_names *out, bool *file, dls_error *err)
{
    char path[DLS_MODEL_PATH];
    *file = names_file(text, end, path);
    if (*file) {
        *out = (dls_model_names){.match = DLS_MODEL_KNOWN};
        return dls_zoo_open(files, path, &out->zoo, err);
    }
    return DLS_OK;
}

dls_status dls_model_lookup_among(const char *name, const char *stand_ins,
                                  struct dls_zoo_file **files, dls_model_names *out, dls_error *err)
{
    char wanted[DLS_MODEL_KEY], key[DLS_MODEL_KEY], other[DLS_MODEL_KEY];
    dls_model_key(name ? name : "", wanted);
    *out = dls_model_lookup(name);
    for (const char *p = stand_ins ? stand_ins : ""; p[strspn(p, "; ")] != '\0';) {
        const char *end = p + strcspn(p, ";"), *equals = memchr(p, '=', (size_t)(end - p));
        key_between(p, equals ? equals : end, key);
        key_between(equals ? equals + 1 : end, end, other);
        char spelled[256];
        snprintf(spelled, sizeof spelled, "%.*s", equals ? (int)(end - equals - 1) : 0,
                 equals ? equals + 1 : "");
        dls_model_names names = dls_model_lookup(equals ? spelled + strspn(spelled, " ") : other);
        bool file = false;
        if (equals && *key) {
            DLS_TRY(model_of_file(equals + 1, end, files, &names, &file, err));
        }
        if (!equals || !*key || names.match != DLS_MODEL_KNOWN) {
            return dls_fail(
                err, DLS_ECONFIG, "trace.stand_ins",
                "\"%.*s\" is not NAME=MODEL with a model of 'dlsim graph zoo' or a graph's file",
                (int)(end - p < 80 ? end - p : 80), p);
        }
        if (out->match == DLS_MODEL_UNKNOWN && *wanted && strcmp(key, wanted) == 0) {
            *out = names;
            out->match = file ? DLS_MODEL_KNOWN : DLS_MODEL_STAND_IN;
        }
        p = end + (*end == ';');
    }
    return DLS_OK;
}

void dls_model_touch(dls_model_names *names, int64_t batch)
{
    names->samples = dls_zoo_tables(names->zoo) && batch != names->zoo->batch && batch <= INT32_MAX ? (int32_t)batch : 0;
}

void dls_model_resize(dls_model_names *names, int32_t image, int32_t sequence)
{
    if (image > 64 && strcmp(names->zoo->name, "resnet18_cifar") == 0) {
        *names = dls_model_lookup("resnet18_imagenet");
    }
    if (image > 0) {
        names->image = image == dls_zoo_image(names->zoo) ? 0 : image;
    }
    names->sequence = sequence == names->zoo->sequence ? 0 : sequence;
    if (names->image || names->sequence) {
        const bool squad =
            strcmp(names->zoo->name, "bert_base") == 0 && sequence == 384 && !names->image;
        names->layers = squad ? layers_named("bertbase") : NULL;
    }
}
