/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * The model zoo against published sizes: trained parameters, and multiply-adds of the forward pass
 * of one sample in convolutions and matrix products (FLOPs / 2). And what every training graph must
 * satisfy.
 *
 * Sources: [tv] torchvision model pages (num_params, GFLOPS, which count multiply-adds; Inception
 * v3 without the 3 326 696 parameters of its auxiliary classifier); [keras] Keras applications,
 * trained parameters; [mn1] Howard et al. 2017, 569 M; [timm] timm model table; [caffe] Caffe's
 * LeNet, 431 k, as in Han et al. 2015; [l0] Louizos et al. 2018, LeNet-5; [akamaster]
 * resnet_cifar10 with option A shortcuts; [fpgm] He et al. 2019, table of CIFAR ResNets; [dense]
 * Huang et al. 2017, 1.0 M and 7.0 M, exact count as in the Keras implementation; [slim] Liu et al.
 * 2017, 5.33e8 FLOPs; [hf] model cards (classifier of two classes); [mobilebert] Sun et al.
 * 2020, 22.5 G at 128 tokens; [electra] Clark et al. 2020, 7.9e10 at 128 tokens; [nanogpt] its
 * sizing notebook, 291 648 307 200 FLOPs at 1024 tokens; [llama] Touvron et al. 2023, 6.7 B, exact
 * count of the released weights; [sequencer] Tatsunami and Taki 2022, table 1; [palm] Chowdhery et al. 2022, appendix B: 2 N + 4 L H Q T per
 * token; [t] Vaswani et al. 2017, sections 3 and 5.1, counted in docs/graphs.md; their table 3
 * rounds to 65 M and 213 M; [mlperf] NeuMF of the MLPerf reference, [dlrm] Naumov et al. 2019, 540
 * M; [ultralytics] yolov3, 61949149 parameters with 80 classes; [darknet] yolov3.cfg at 416 pixels,
 * 65.86 billion operations; [kuangliu] pytorch-cifar, 0.56 G; [neo] EleutherAI's GPT-Neo; [neox] model card of
 * GPT-NeoX; [pythia] model cards of Pythia, total parameters; [en] Tan and Le 2019, table 2; [pt] products that
 * PyTorch's dispatcher is asked for by transformers 4.36.2, diffusers 0.25.1 and torchvision 0.15.0, and their
 * parameters; [openclip] its table of models, 14.78 G operations; [nvidia] rows of NVIDIA's and MLPerf's DLRM.
 */

#include "base/suggest.h"
#include "support/test.h"
#include "support/zoo.h"
#include "workload/graph/op_kind.h"
#include "workload/graph/zoo.h"

#include <math.h>
#include <string.h>

typedef struct published {
    const char *model;
    double params;
    double params_frac; /* 0: exact */
    double gmac;        /* 0: not published */
} published;

static const published table[] = {
    {"lenet", 431080, 0, 2.293e-3},            /* [caffe] [l0] */
    {"alexnet", 61100840, 0, 0.71},            /* [tv] */
    {"vgg11", 132863336, 0, 7.61},             /* [tv] */
    {"vgg16", 138357544, 0, 15.47},            /* [tv] */
    {"vgg19", 143667240, 0, 19.63},            /* [tv] */
    {"googlenet", 6624904, 0, 1.50},           /* [tv] */
    {"inception3", 23834568, 0, 5.71},         /* [tv] */
    {"inception4", 42679816, 0, 12.28},        /* [timm] */
    {"resnet50", 25557032, 0, 4.09},           /* [tv] */
    {"resnet101", 44549160, 0, 7.80},          /* [tv] */
    {"resnet152", 60192808, 0, 11.51},         /* [tv] */
    {"resnet20", 269722, 0, 4.06e-2},          /* [akamaster] [fpgm] */
    {"resnet32", 464154, 0, 6.89e-2},          /* [akamaster] [fpgm] */
    {"resnet44", 658586, 0, 0},                /* [akamaster] */
    {"resnet56", 853018, 0, 1.25e-1},          /* [akamaster] [fpgm] */
    {"resnet110", 1727962, 0, 2.53e-1},        /* [akamaster] [fpgm] */
    {"densenet40_k12", 1019722, 0, 0.2665},    /* [dense] [slim] */
    {"densenet100_k12", 6979642, 0, 0},        /* [dense] */
    {"densenet121", 7978856, 0, 2.83},         /* [tv] */
    {"mobilenet", 4231976, 0, 0.569},          /* [keras] [mn1] */
    {"mobilenet_v2", 3504872, 0, 0.30},        /* [tv] */
    {"efficientnet_b0", 5288548, 0, 0.39},     /* [tv] */
    {"bert_base", 109483778, 0, 11.25},        /* [hf] [mobilebert] */
    {"bert_large", 335143938, 0, 39.5},        /* [hf] [electra] */
    {"gpt2_small", 124439808, 0, 145.8241536}, /* [hf] [nanogpt] */
    {"gpt2_medium", 354823168, 0, 0},          /* [hf] */
    {"llama_7b", 6738415616, 0, 0},            /* [llama]; FLOPs: test_formulas */
    {"transformer_base", 63045632, 0, 0},      /* [t] */
    {"transformer_big", 214171648, 0, 0},      /* [t] */
    {"resnet18_imagenet", 11689512, 0, 1.81},  /* [tv] */
    {"resnet34", 21797672, 0, 3.66},           /* [tv] */
    {"resnet18_cifar", 11173962, 0, 0.5556},   /* [kuangliu] */
    {"efficientnet_b1", 7794184, 0, 0.69},     /* [tv] */
    {"efficientnet_b2", 9109994, 0, 1.0},      /* [tv] [en] */
    {"efficientnet_b3", 12233232, 0, 1.8},     /* [tv] [en] */
    {"efficientnet_b4", 19341616, 0, 4.39},    /* [tv] */
    {"vit_tiny", 5717416, 0, 1.26},            /* [timm] */
    {"vit_small", 22050664, 0, 4.61},          /* [timm] */
    {"vit_base", 86567656, 0, 17.56},          /* [tv] */
    {"vit_large", 304326632, 0, 61.55},        /* [tv] */
    {"gpt2_large", 774030080, 0, 0},           /* [hf] */
    {"gpt2_xl", 1557611200, 0, 0},             /* [hf] */
    {"gpt3_13b", 1315575808, 2e-4, 0},     /* [neo], without biases of keys, queries and values */
    {"gpt3_xl", 2879554560, 1e-4, 0},      /* 24 heads of 128 */
    {"gpt3_27b", 2651307520, 2e-4, 0},     /* [neo], the same */
    {"opt_13b", 1315758080, 1e-5, 0},      /* [hf], two positions more */
    {"roberta_base", 124647170, 0, 0},     /* [hf] */
    {"roberta_large", 355361794, 0, 0},    /* [hf] */
    {"distilbert_base", 66955010, 0, 0},   /* [hf] */
    {"opt_125m", 125239296, 2e-5, 0},      /* [hf], two positions more */
    {"opt_27b", 2651596800, 1e-5, 0},      /* the same */
    {"opt_67b", 6658473984, 1e-5, 0},      /* the same */
    {"opt_13_0b", 12853473280, 1e-5, 0},   /* [hf] opt-13b, the same */
    {"distilgpt2", 81912576, 0, 0},        /* [hf] */
    {"distilroberta_base", 82119938, 0, 0}, /* [hf] */
    {"xlm_roberta_base", 278045186, 0, 0}, /* [hf] */
    {"mobilenetv3_small_050", 1593224, 0, 0}, /* [timm], and the next seven */
    {"resnest50d_1s4x24d", 25677000, 0, 0},
    {"resnest50d_4s2x40d", 30417592, 0, 0},
    {"cspresnet50w", 28118216, 0, 0},
    {"efficientnet_b3_gn", 11733784, 0, 0},
    {"efficientnet_b3_g8_gn", 14251432, 0, 0},
    {"vit_small_resnet26d", 63608392, 0, 0},
    {"vit_small_resnet50d_s16", 57531976, 0, 0},
    {"mnasnet_130", 6282256, 0, 0},        /* [tv] */
    {"llama_13b", 13015864320, 0, 0},      /* [llama] */
    {"llama_33b", 32528943616, 0, 0},      /* [llama] */
    {"llama_65b", 65285660672, 0, 0},      /* [llama] */
    {"llama2_70b", 68976648192, 0, 0},     /* [hf], and the next sixteen */
    {"codellama_34b", 33743970304, 0, 0},
    {"llama3_8b", 8030261248, 0, 0},
    {"llama3_70b", 70553706496, 0, 0},
    {"llama3_405b", 405853388800, 0, 0},
    {"llama3_2_1b", 1235814400, 0, 0},
    {"llama3_2_3b", 3212749824, 0, 0},
    {"mistral_7b", 7241732096, 0, 0},
    {"mistral_7b_v3", 7248023552, 0, 0},
    {"tinyllama_1b", 1100048384, 0, 0},
    {"qwen2_0_5b", 494032768, 0, 0},
    {"qwen2_1_5b", 1543714304, 0, 0},
    {"qwen2_3b", 3085938688, 0, 0},
    {"qwen2_7b", 7615616512, 0, 0},
    {"qwen2_14b", 14770033664, 0, 0},
    {"qwen2_32b", 32763876352, 0, 0},
    {"qwen2_72b", 72706203648, 0, 0},
    {"codellama_7b", 6738546688, 0, 0}, /* [hf], and all to yi_34b */
    {"codellama_13b", 13016028160, 0, 0},
    {"mistral_nemo", 12247782400, 0, 0},
    {"mistral_small_24b", 23572403200, 0, 0},
    {"mixtral_8x7b", 46702792704, 0, 0},
    {"mixtral_8x22b", 140620634112, 0, 0},
    {"qwen3_0_6b", 596049920, 0, 0},
    {"qwen3_1_7b", 1720574976, 0, 0},
    {"qwen3_4b", 4022468096, 0, 0},
    {"qwen3_8b", 8190735360, 0, 0},
    {"qwen3_14b", 14768307200, 0, 0},
    {"qwen3_32b", 32762123264, 0, 0},
    {"qwen3_30b_a3b", 30532122624, 0, 0},   /* [hf] */
    {"qwen3_235b_a22b", 235093634560, 0, 0},
    {"deepseek_v2_lite", 15706484224, 0, 0},
    {"deepseek_v3", 671026419200 - 58 * 256, 0, 0}, /* [hf], less what balances the router, which has no gradient */
    {"gemma_2b", 2506172416, 0, 0},
    {"gemma_7b", 8537680896, 0, 0},
    {"gemma2_2b", 2614341888, 0, 0},
    {"gemma2_9b", 9241705984, 0, 0},
    {"gemma2_27b", 27227128320, 0, 0},
    {"phi3_mini", 3821079552, 0, 0},
    {"phi3_medium", 13960238080, 0, 0},
    {"phi4", 14659507200, 0, 0},
    {"deepseek_7b", 6910365696, 0, 0},
    {"deepseek_67b", 67.42e9, 1e-4, 0},
    {"deepseek_coder_1_3b", 1346471936, 0, 0},
    {"deepseek_coder_6_7b", 6740512768, 0, 0},
    {"deepseek_coder_33b", 33.3e9, 2e-3, 0},
    {"yi_6b", 6061035520, 0, 0},
    {"yi_34b", 34388917248, 0, 0},
    {"yi_9b", 8829407232, 0, 0}, /* [hf], and the next two */
    {"codellama_70b", 68976910336, 0, 0},
    {"open_llama_3b", 3426473600, 0, 0},
    {"gpt3_125m", 125e6, 5e-3, 0}, /* [gpt3], table 2.1, as the next two */
    {"gpt3_350m", 356e6, 5e-3, 0},
    {"gpt3_760m", 760e6, 5e-3, 0},
    {"regnetx_004_tv", 5495976, 0, 0}, /* [tv] */
    {"regnety_008_tv", 6432512, 0, 0},
    {"regnety_080_tv", 39381472, 0, 8.473070592},
    {"regnety_1280", 644812894, 0, 127.51781568},
    {"smollm2_135m", 134515008, 0, 0}, /* [hf], and the next three */
    {"smollm2_360m", 361821120, 0, 0},
    {"smollm2_1_7b", 1711376384, 0, 0},
    {"gptj_6b", 6050882784, 0, 0},
    {"gpt_neox_20b", 20554567680, 0, 0}, /* [neox] */
    {"pythia_70m", 70426624, 0, 0},      /* [pythia], and the next seven */
    {"pythia_160m", 162322944, 0, 0},
    {"pythia_410m", 405334016, 0, 0},
    {"pythia_1b", 1011781632, 0, 0},
    {"pythia_1_4b", 1414647808, 0, 0},
    {"pythia_2_8b", 2775208960, 0, 0},
    {"pythia_6_9b", 6857302016, 0, 0},
    {"pythia_12b", 11846072320, 0, 0},
    /* [hf]; the files of Falcon hold the output apart, which is the table of words */
    {"falcon_7b", 7217189760.0 - 65024 * 4544, 0, 0},
    {"falcon_40b", 41835970560.0 - 65024 * 8192, 0, 0},
    {"falcon_180b", 179522565120.0 - 65024.0 * 14848, 0, 0},
    {"phi1", 1418270720, 0, 0}, /* [hf], and all that follow of Phi and BLOOM */
    {"phi1_5", 1418270720, 0, 0},
    {"phi2", 2779683840, 0, 0},
    {"bloom_560m", 559214592, 0, 0},
    {"bloom_1b1", 1065314304, 0, 0},
    {"bloom_1b7", 1722408960, 0, 0},
    {"bloom_3b", 3002557440, 0, 0},
    {"bloom_7b1", 7069016064, 0, 0},
    {"bloom_176b", 176247271424, 0, 0},
    {"switch_xl4", 5267615744, 0, 0},      /* 72 attentions, 24 dense layers, 24 of experts */
    {"ncf", 31832577, 0, 0},               /* [mlperf] */
    {"dlrm", 540e6, 0.005, 0},             /* [dlrm] */
    {"squeezenet1_0", 1248424, 0, 0.82},   /* [tv] */
    {"squeezenet1_1", 1235496, 0, 0.35},   /* [tv] */
    {"shufflenet_v2_x0_5", 1366792, 0, 0}, /* [tv]; 0.04 is too few digits */
    {"shufflenet_v2_x1_0", 2278604, 0, 0.146}, /* [tv], Ma et al. 2018 */
    {"shufflenet_v2_x1_5", 3503624, 0, 0.299},
    {"shufflenet_v2_x2_0", 7393996, 0, 0.591},
    {"albert_base", 11683584 + 1538, 0, 0}, /* [hf], two classes more */
    {"albert_large", 17683968 + 2050, 0, 0},
    {"albert_xlarge", 58724864 + 4098, 0, 0},
    {"albert_xxlarge", 222595584 + 8194, 0, 0},
    {"t5_small", 60506624, 0, 0}, /* [hf] */
    {"t5_base", 222903552, 0, 0},
    {"t5_large", 737668096, 0, 0},
    {"t5_3b", 2851598336, 0, 0},
    {"t5_11b", 11307321344, 0, 0},
    {"t5_v1_1_small", 76961152, 0, 0}, /* [hf], Flan-T5 */
    {"t5_v1_1_base", 247577856, 0, 0},
    {"t5_v1_1_large", 783150080, 0, 0},
    {"t5_v1_1_xl", 2849757184, 0, 0},
    {"t5_v1_1_xxl", 11135332352, 0, 0},
    {"mt5_small", 300176768, 0, 0}, /* [hf], and all to bert_large_cased */
    {"mt5_base", 582401280, 0, 0},
    {"mt5_large", 1229581312, 0, 0},
    {"mt5_xl", 3742619648, 0, 0},
    {"mt5_xxl", 12921057280, 0, 0},
    {"opt_350m", 331196416 - 2 * 1024, 0, 0}, /* two positions more */
    {"electra_small", 13483008 + 256 * 257 + 514, 0, 0}, /* the encoder; two classes more */
    {"electra_base", 108891648 + 768 * 769 + 1538, 0, 0},
    {"electra_large", 334092288 + 1024 * 1025 + 2050, 0, 0},
    {"bert_base_cased", 108310272 + 1538, 0, 0}, /* the same */
    {"bert_large_cased", 333579264 + 2050, 0, 0},
    {"distilbert_base_cased", 65190912 + 768 * 769 + 1538, 0, 0},
    {"opt_175b", 175e9, 4e-3, 0}, /* Zhang et al., 2022 */
    {"sequencer2d_s", 27.65e6, 2e-4, 8.4},                    /* [sequencer] */
    {"sequencer2d_m", 38.31e6, 2e-4, 11.1},                   /* the same */
    {"sequencer2d_l", 54.30e6, 2e-4, 16.6},                   /* the same */
    {"yolov3", 61949149, 0, 32.93},                           /* [ultralytics] [darknet] */
    {"yolov3_voc", 61949149 - 180 * (1792 + 3), 0, 0},        /* 60 classes less, three heads */
    {"deberta_v3_xsmall", 70682112 + 384 * 385 + 770, 0, 0}, /* [hf], two classes more */
    {"deberta_v3_small", 141304320 + 768 * 769 + 1538, 0, 0},
    {"deberta_v3_base", 184423682, 0, 19.6299},              /* [hf] [pt] */
    {"deberta_v3_large", 435063810, 0, 68.4521},
    {"bart_base", 139420416, 0, 77.7471},                    /* [hf] [pt] */
    {"bart_large", 406291456, 0, 0},                         /* [hf] */
    {"bart_large_cnn", 406290432, 0, 0},
    /* [hf], less the encoder's positions, which are not trained; [pt] */
    {"whisper_tiny", 37760640 - 1500 * 384, 0, 35.5411},
    {"whisper_base", 72593920 - 1500 * 512, 0, 75.5259},
    {"whisper_small", 241734912 - 1500 * 768, 0, 271.6379},
    {"whisper_medium", 763857920 - 1500 * 1024, 0, 0},
    {"whisper_large", 1543304960 - 1500 * 1280, 0, 0},
    {"whisper_large_v3", 1543490560 - 1500 * 1280, 0, 0},
    {"whisper_large_v3_turbo", 808878080 - 1500 * 1280, 0, 0},
    {"whisper_tiny_en", 37760256 - 1500 * 384, 0, 0},
    {"clip_vit_base_patch32", 151277313, 0, 7.39},           /* [hf] [openclip] */
    {"clip_vit_base_patch16", 149620737, 0, 20.545},
    {"clip_vit_large_patch14", 427616513, 0, 87.665},
    {"clip_vit_large_patch14_336", 427944193, 0, 0},
    {"dlrm_mlperf", 187767399.0 * 128 + 2368897, 0, 0},      /* [nvidia]: rows, and both networks */
    /* [nvidia], the same; three crosses: products of 3456 by 512 and back, by hand */
    {"dlrm_dcnv2", 204184588.0 * 128 + 171392 + 3 * (2 * 3456 * 512 + 3456) + 5245953, 0, 0.016030464},
    {"ssd300_vgg16", 35641826, 0, 34.86},                    /* [tv] */
    /* [tv], less the stem and the first stage, which are not trained */
    {"retinanet_resnet50_fpn", 34014999 - 222400, 0, 151.54},
    {"retinanet_resnext50_fpn", 36849004, 0, 201.2084},      /* [pt] of MLPerf's parts */
    {"maskrcnn_resnet50_fpn", 44401393 - 222400, 0, 0},      /* [tv], as before; FLOPs: test_zoo_layers.c */
    {"fasterrcnn_resnet50_fpn", 41755286 - 222400, 0, 0},
    /* [hf]; less what sees, and brings it to the text's width */
    {"gemma3_270m", 268098176, 0, 0},
    {"gemma3_1b", 999885952, 0, 0},
    {"gemma3_4b", 4300079472 - 416866032 - (1152 * 2560 + 1152), 0, 0},
    {"gemma3_12b", 12187325040 - 416866032 - (1152 * 3840 + 1152), 0, 0},
    {"gemma3_27b", 27432406640 - 416866032 - (1152 * 5376 + 1152), 0, 0},
    {"stable_diffusion_1", 859520964, 0, 401.6367},           /* [hf] [pt] */
    {"stable_diffusion_2_base", 865910724, 0, 402.1287},
    {"stable_diffusion_2", 865910724, 0, 0},
};

TEST(test_published)
{
    for (size_t i = 0; i < sizeof table / sizeof table[0]; i++) {
        const published *p = &table[i];
        DLS_HOLD(dls_opgraph_destroy) dls_opgraph *g = build(p->model, 1, DLS_NUMERIC_FP32, DLS_OPTIMISER_MOMENTUM);
        dls_opgraph_totals t;
        dls_opgraph_sum(g, &t);
        if (fabs((double)t.n_params - p->params) > p->params_frac * p->params) {
            fail_msg("%s: %lld parameters, published %.0f", p->model, (long long)t.n_params,
                     p->params);
        }
        const double gmac = matrix_flops(g, DLS_PHASE_FORWARD) / 2e9;
        if (p->gmac > 0 && fabs(gmac / p->gmac - 1) > 0.02) {
            fail_msg("%s: %.4f G multiply-adds, published %.4f", p->model, gmac, p->gmac);
        }
    }
}

/* Of [timm], in 10^6, of results/results-imagenet-r-clean.csv in its repository: networks that its
 * benchmark of training steps here does not have (tests/golden/test_zoo_timm.c). */
TEST(test_timm_sizes)
{
    static const struct {
        const char *model;
        double millions;
    } rows[] = {
        {"convit_tiny", 5.71},       {"convit_base", 86.54},        {"crossvit_tiny", 7.01},
        {"crossvit_small", 26.86},   {"crossvit_base", 105.03},     {"crossvit_18", 43.27},
        {"crossvit_18_dagger", 44.27}, {"crossvit_15_dagger", 28.21}, {"nest_small", 38.35},
        {"tnt_s_patch16", 23.76},    {"coat_lite_tiny", 5.72},      {"coat_lite_small", 19.84},
        {"levit_128", 9.21},         {"levit_192", 10.95},          {"levit_256", 18.89},
        {"levit_384", 39.13},        {"visformer_tiny", 10.32},     {"sequencer2d_s", 27.65},
        {"sequencer2d_m", 38.31},    {"convmixer_768_32", 21.11},   {"convmixer_1024_20_ks9_p14", 24.38},
        {"convmixer_1536_20", 51.63}, {"botnet26t_256", 12.49},     {"eca_botnext26ts_256", 10.59},
        {"sebotnet33ts_256", 13.70}, {"lambda_resnet26t", 10.96},   {"lambda_resnet50ts", 21.54},
        {"twins_svt_small", 24.06},  {"twins_svt_base", 56.07},     {"twins_svt_large", 99.27},
        {"cspresnet50", 21.62},      {"cs3sedarknet_l", 21.91},     {"cs3sedarknet_x", 35.40},
        {"dpn107", 86.92},           {"xception71", 42.34},         {"regnetv_064", 30.58},
        {"resnet32ts", 17.96},       {"resnet51q", 35.70},          {"resnetv2_50d_gn", 25.57},
        {"res2next50", 24.67},       {"dla60_res2next", 17.03},     {"volo_d5_512", 296.09},
        {"cspresnext50", 20.57},     {"cs3se_edgenet_x", 50.72},    {"xception", 22.86},
        {"eca_halonext26ts", 10.76}, {"lambda_resnet26rpt_256", 10.99}, {"densenet121d", 8.00},
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        DLS_HOLD(dls_opgraph_destroy) dls_opgraph *g =
            build(rows[i].model, 1, DLS_NUMERIC_FP32, DLS_OPTIMISER_MOMENTUM);
        dls_opgraph_totals t;
        dls_opgraph_sum(g, &t);
        if (fabs((double)t.n_params / 1e6 - rows[i].millions) > 0.0051) {
            fail_msg("%s: %.3f million parameters, published %.2f", rows[i].model,
                     (double)t.n_params / 1e6, rows[i].millions);
        }
    }
}

/* Of timm's own models (0.6.13, ConvNeXt V2, DINOv2, CoAtNet and MaxViT of 1.0.31), but for ECA's rows of 5 and 7 weights
 * and the numbers of EdgeNeXt's heads, which PyTorch's graph alone has. */
TEST(test_timm_parameters)
{
    static const struct {
        const char *model;
        int64_t params;
    } rows[] = {
        {"efficientnet_b0_g16_evos", 8107756}, {"regnetz_b16_evos", 9736824}, {"regnetz_c16_evos", 13487816},
        {"regnetz_d8_evos", 23464296}, {"resnetv2_50d_evos", 25591368}, {"resnetv2_50d_evob", 25591368},
        {"resnetv2_50d_frn", 25591368}, {"ese_vovnet39b_evos", 24579144},
        {"gc_efficientnetv2_rw_t", 13677713}, {"semobilevit_s", 5737392}, {"ecaresnet50d_pruned", 19939713},
        {"ecaresnet101d_pruned", 24876040}, {"efficientnet_b1_pruned", 6331916},
        {"efficientnet_b2_pruned", 8309737}, {"efficientnet_b3_pruned", 9855020},
        {"efficientnet_cc_b0_4e", 13314116}, {"efficientnet_cc_b0_8e", 24013284},
        {"efficientnet_cc_b1_8e", 39715968}, {"nasnetalarge", 88753150}, {"pnasnet5large", 86057668},
        {"haloregnetz_b", 11680072}, {"bat_resnext26ts", 10731200}, {"cs3sedarknet_xdw", 21601488},
        {"edgenext_xx_small", 1327216}, {"edgenext_x_small", 2336804}, {"edgenext_small", 5586832},
        {"edgenext_small_rw", 7826512}, {"edgenext_base", 18511292}, {"pvt_v2_b0", 3666760},
        {"pvt_v2_b1", 14009000}, {"pvt_v2_b2", 25362856}, {"pvt_v2_b2_li", 22553512}, {"pvt_v2_b3", 45238696},
        {"pvt_v2_b4", 62556072}, {"pvt_v2_b5", 81956008}, {"convnextv2_atto", 3708400},
        {"convnextv2_femto", 5233240}, {"convnextv2_pico", 9066280}, {"convnextv2_nano", 15623800},
        {"convnextv2_tiny", 28635496}, {"convnextv2_small", 50318440}, {"convnextv2_base", 88717800},
        {"convnextv2_large", 197956840}, {"convnextv2_huge", 660289640},
        {"vit_small_patch14_dinov2", 22441192}, {"vit_base_patch14_dinov2", 87348712},
        {"vit_large_patch14_dinov2", 305392616}, {"convnext_nano_hnf", 15593560}, {"fbnetv3_b", 8598464},
        {"fbnetv3_d", 10306272}, {"fbnetv3_g", 16623888}, {"skresnet50", 25803160}, {"skresnet50d", 25822392},
        {"efficientformer_l1", 12289928}, {"efficientformer_l3", 31406000}, {"efficientformer_l7", 82229328},
        {"coatnet_0", 25036820}, {"coatnet_0_rw", 27435562}, {"coatnet_1", 42225776},
        {"coatnet_1_rw", 41721502}, {"coatnet_2", 74684744}, {"coatnet_2_rw", 73868400},
        {"coatnet_3", 166966264}, {"coatnet_3_rw", 165173428}, {"coatnet_4", 275425288},
        {"coatnet_5", 687472008}, {"coatnet_bn_0_rw", 27435562}, {"coatnet_nano_rw", 15141244},
        {"coatnet_pico_rw", 10851364}, {"coatnet_rmlp_0_rw", 27446074}, {"coatnet_rmlp_1_rw2", 41724622},
        {"coatnet_rmlp_1_rw", 41691982}, {"coatnet_rmlp_2_rw", 73881264}, {"coatnet_rmlp_3_rw", 165152788},
        {"coatnet_rmlp_nano_rw", 15145116}, {"maxvit_base_tf", 119467708}, {"maxvit_large_tf", 211785560},
        {"maxvit_nano_rw_256", 15451148}, {"maxvit_pico_rw_256", 7457996}, {"maxvit_rmlp_base_rw", 116135788},
        {"maxvit_rmlp_nano_rw_256", 15501452}, {"maxvit_rmlp_pico_rw_256", 7515980},
        {"maxvit_rmlp_small_rw", 64895044}, {"maxvit_rmlp_small_rw_256", 64895044},
        {"maxvit_rmlp_tiny_rw_256", 29148896}, {"maxvit_small_tf", 68927956}, {"maxvit_tiny_rw", 29057312},
        {"maxvit_tiny_rw_256", 29066720}, {"maxvit_tiny_tf", 30916528}, {"maxvit_xlarge_tf", 474951952},
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        DLS_HOLD(dls_opgraph_destroy) dls_opgraph *g =
            build(rows[i].model, 1, DLS_NUMERIC_FP32, DLS_OPTIMISER_MOMENTUM);
        dls_opgraph_totals t;
        dls_opgraph_sum(g, &t);
        const bool apart = strncmp(rows[i].model, "eca", 3) == 0 || strncmp(rows[i].model, "edge", 4) == 0;
        if (t.n_params > rows[i].params || t.n_params < rows[i].params - (apart ? 200 : 0)) {
            fail_msg("%s: %lld parameters, its own %lld", rows[i].model, (long long)t.n_params,
                     (long long)rows[i].params);
        }
    }
}

/* Models without a published count, by hand. */
TEST(test_formulas)
{
    static const struct {
        const char *model;
        int64_t layers, width;
    } seq[] = {{"seq2seq_small", 2, 512}, {"seq2seq_medium", 4, 512}, {"seq2seq_large", 4, 1024}};
    for (size_t i = 0; i < 3; i++) {
        const int64_t w = seq[i].width;
        const int64_t cell = 2 * w * 4 * w + 4 * w;
        const int64_t want =
            2 * 32000 * w + 2 * seq[i].layers * cell + w * w + 2 * w * w + w * 32000 + 32000;
        DLS_HOLD(dls_opgraph_destroy) dls_opgraph *g = build(seq[i].model, 1, DLS_NUMERIC_FP32, DLS_OPTIMISER_ADAM);
        dls_opgraph_totals t;
        dls_opgraph_sum(g, &t);
        assert_int_equal(t.n_params, want);
        /* 50 steps: cells, query, scores, context, output layer and softmax weights */
        const int64_t macs =
            50 * (2 * seq[i].layers * 8 * w * w + w * w + 50 * w + 50 * w + 2 * w * w + w * 32000);
        assert_true(fabs(matrix_flops(g, DLS_PHASE_FORWARD) - 2.0 * (double)macs) < 1);
    }
    DLS_HOLD(dls_opgraph_destroy) dls_opgraph *g = build("llama_7b", 1, DLS_NUMERIC_BF16, DLS_OPTIMISER_ADAM);
    const double n = 6738415616.0 - 32000.0 * 4096; /* the table is looked up, not multiplied */
    const double want = 2048 * (2 * n + 4.0 * 32 * 4096 * 2048);
    assert_true(fabs(matrix_flops(g, DLS_PHASE_FORWARD) / want - 1) < 0.001);
    /* Keys and values that heads share save products of weights, and none of queries with keys. */
    DLS_HOLD(dls_opgraph_destroy) dls_opgraph *shared =
        build("llama3_8b", 1, DLS_NUMERIC_BF16, DLS_OPTIMISER_ADAM);
    const double own = 8192 * (2 * (8030261248.0 - 128256.0 * 4096) + 4.0 * 32 * 4096 * 8192);
    assert_true(fabs(matrix_flops(shared, DLS_PHASE_FORWARD) / own - 1) < 0.001);
    /* A token passes two of Mixtral's eight experts, its router and what is not experts' (4096
     * tokens): 12.9 billion of its parameters, as its authors count. */
    DLS_HOLD(dls_opgraph_destroy) dls_opgraph *mixed =
        build("mixtral_8x7b", 1, DLS_NUMERIC_BF16, DLS_OPTIMISER_ADAM);
    const double met = 46702792704.0 - 6 * 32 * 3 * 4096.0 * 14336;
    assert_true(fabs(met / 12.9e9 - 1) < 0.01);
    const double mix = 4096 * (2 * (met - 32000.0 * 4096) + 4.0 * 32 * 4096 * 4096);
    assert_true(fabs(matrix_flops(mixed, DLS_PHASE_FORWARD) / mix - 1) < 0.001);
    /* Eight of 128 or 256 experts, and DeepSeek's that all tokens pass: 3.3, 22, 2.4 and 37 billion parameters with the
     * words, as their authors count. Queries and keys of DeepSeek's heads have 192 numbers, values 128. */
    static const struct {
        const char *model;
        double params, unmet, words, met, head; /* head: numbers of queries, keys and values of all heads */
        double layers;
    } many[] = {{"qwen3_30b_a3b", 30532122624, 48 * 120 * 3 * 2048. * 768, 151936 * 2048., 3.35e9, 32 * 256, 48},
                {"qwen3_235b_a22b", 235093634560, 94 * 120 * 3 * 4096. * 1536, 151936 * 4096., 22.2e9, 64 * 256, 94},
                {"deepseek_v2_lite", 15706484224, 26 * 58 * 3 * 2048. * 1408, 102400 * 2048., 2.66e9, 16 * 320, 27},
                {"deepseek_v3", 671026404352, 58 * 248 * 3 * 7168. * 2048, 129280 * 7168., 37.6e9, 128 * 320, 61}};
    for (size_t i = 0; i < sizeof many / sizeof many[0]; i++) {
        DLS_HOLD(dls_opgraph_destroy) dls_opgraph *with =
            build(many[i].model, 2, DLS_NUMERIC_BF16, DLS_OPTIMISER_ADAM);
        const double active = many[i].params - many[i].unmet;
        assert_true(fabs(active / many[i].met - 1) < 0.01);
        const double all = 2 * 4096 * (2 * (active - many[i].words) + 2 * many[i].layers * many[i].head * 4096);
        assert_true(fabs(matrix_flops(with, DLS_PHASE_FORWARD) / all - 1) < 0.001);
        assert_true(fabs(matrix_flops(with, DLS_PHASE_BACKWARD) / (2 * all) - 1) < 0.001);
    }
    /* Tokens that do not share evenly: each expert's number is rounded up. */
    dls_zoo_options odd = dls_zoo_defaults(dls_zoo_find("mixtral_8x7b"));
    odd.batch = 1;
    odd.sequence = 3;
    DLS_HOLD(dls_opgraph_destroy) dls_opgraph *few = NULL;
    assert_int_equal(dls_zoo_build(dls_zoo_find("mixtral_8x7b"), &odd, &few, NULL), DLS_OK);
    const double rest = met - 2 * 32 * 3 * 4096.0 * 14336 - 32000.0 * 4096;
    const double rows = 2 * (3 * rest + 8.0 * 32 * 3 * 4096 * 14336) + 3 * 4.0 * 32 * 4096 * 3;
    assert_true(fabs(matrix_flops(few, DLS_PHASE_FORWARD) / rows - 1) < 0.001);
    /* One head of keys and values for 71 of Falcon's, products of both parts of a layer. */
    DLS_HOLD(dls_opgraph_destroy) dls_opgraph *falcon =
        build("falcon_7b", 1, DLS_NUMERIC_BF16, DLS_OPTIMISER_ADAM);
    const double fly = 2048 * (2 * 6921720704.0 + 4.0 * 32 * 4544 * 2048); /* the table, too */
    assert_true(fabs(matrix_flops(falcon, DLS_PHASE_FORWARD) / fly - 1) < 0.001);
}

/* DeBERTa's queries and keys of 512 distances are of no sample. */
static double once_a_step(const char *model)
{
    static const struct {
        const char *model;
        double layers, width;
    } of[] = {{"deberta_v3_xsmall", 12, 384}, {"deberta_v3_small", 6, 768}, {"deberta_v3_base", 12, 768},
              {"deberta_v3_large", 24, 1024}};
    const size_t i = DLS_NAMED(of, model);
    return i < sizeof of / sizeof of[0] ? of[i].layers * 2 * 2 * 512 * of[i].width * of[i].width : 0;
}

/* Every model: valid, all variables updated, the backward pass twice the forward one, and doubling
 * the batch doubles FLOPs and changes no parameter. */
TEST(test_every_model)
{
    for (size_t i = 0; i < dls_zoo_size(); i++) {
        const dls_zoo_model *m = dls_zoo_at(i);
        assert_ptr_equal(dls_zoo_find(m->name), m);
        dls_opgraph *one = build(m->name, 1, DLS_NUMERIC_FP32, m->optimiser);
        DLS_HOLD(dls_opgraph_destroy) dls_opgraph *two = build(m->name, 2, DLS_NUMERIC_FP16, m->optimiser);
        assert_int_equal(dls_opgraph_validate(one, NULL), DLS_OK);
        dls_opgraph_totals a;
        dls_opgraph_totals b;
        dls_opgraph_sum(one, &a);
        dls_opgraph_sum(two, &b);
        assert_int_equal(a.n_params, b.n_params);
        const double forward = matrix_flops(one, DLS_PHASE_FORWARD);
        assert_true(forward > 0);
        assert_true(matrix_flops(two, DLS_PHASE_FORWARD) == 2 * forward - once_a_step(m->name));
        const double ratio = matrix_flops(one, DLS_PHASE_BACKWARD) / forward;
        /* Half of the autoencoder is its first layer, of whose data nobody wants a gradient. */
        const bool half = strcmp(m->name, "autoencoder") == 0;
        if (ratio <= (half ? 1.49 : 1.7) || ratio > 2) {
            fail_msg("%s: backward takes %g times forward", m->name, ratio);
        }
        int64_t updates = 0;
        int64_t updated_bytes = 0;
        for (int32_t v = 0; v < one->n_nodes; v++) {
            if (one->nodes[v].phase == DLS_PHASE_UPDATE && one->nodes[v].param_bytes > 0) {
                updates++;
                updated_bytes += one->nodes[v].param_bytes;
            }
        }
        assert_int_equal(updates, a.n_param_tensors);
        if (m->optimiser != DLS_OPTIMISER_SGD) {
            assert_int_equal(updated_bytes, 4 * a.n_params);
        }
        dls_opgraph_destroy(one);
    }
}

TEST(test_bad_options)
{
    const dls_zoo_model *m = dls_zoo_find("resnet50");
    dls_zoo_options o = dls_zoo_defaults(m);
    dls_opgraph *g;
    o.sequence = 10;
    assert_int_equal(dls_zoo_build(m, &o, &g, NULL), DLS_EINPUT);
    o.sequence = 0;
    o.batch = -1;
    assert_int_equal(dls_zoo_build(m, &o, &g, NULL), DLS_EINPUT);
    assert_null(g);
    assert_null(dls_zoo_find("resnet51"));
}
